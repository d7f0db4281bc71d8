"""The pictures of the sources, drawn from their stored figures.

A module has them in `PICTURES`, by name, and its run returns the figures of each in `Found.data` under that name.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from benchmarks.common.svg import BLUE, GREY, ORANGE, svg
from benchmarks.reproduce._maity_theory import TOLERANCE


@dataclass(frozen=True)
class Picture:
    """A picture of a page.

    `section` is the title of the table below which it stands. `description` says in words what there is to see, and may
    hold facts in braces, as the page's text does. `paint` takes a new matplotlib figure and the stored figures, and
    puts axes where they belong; it draws lines, marks and polygons (of a heat map: pcolormesh), not images.
    """

    section: str
    title: str
    description: str
    inches: tuple[float, float]
    paint: Callable[[object, object], None]


def file_name(source, name):
    return f"{source}_{name}.svg"


def pictures_of(module):
    return getattr(module, "PICTURES", {})


def described(picture, document):
    return picture.description.format_map(document["facts"])


def drawings(module, source, document):
    """Return the text of each of a source's SVG files by its name: always the same for the same figures."""
    return {
        file_name(source, name): svg(
            lambda figure, picture=picture, name=name: picture.paint(figure, document["data"][name]),
            inches=picture.inches, title=picture.title, description=described(picture, document),
        )
        for name, picture in pictures_of(module).items()
    }  # fmt: skip


#: How axes look.
FONT, SMALL = 11, 10
WIDTH = 5.6


def panel(figure, column, row, size, title):
    """Return axes of a grid of panels, each with room for its title above and its labels below."""
    columns, rows = size
    left, right, bottom, between = 0.1, 0.03, 0.05, 0.11
    width, height = (1 - left - right - between * (columns - 1)) / columns, (1 - bottom) / rows
    low = bottom + (rows - 1 - row) * height
    ax = axes(figure, (left + column * (width + between), low + 0.14 * height, width, 0.72 * height))
    ax.set_title(title, fontsize=FONT, loc="left", weight="bold")
    return ax


def axes(figure, place):
    ax = figure.add_axes(place)
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["bottom", "left"]].set_color(GREY)
    ax.tick_params(labelsize=SMALL, colors=GREY)
    return ax


def below(figure, text):
    figure.text(0.985, 0.012, text, fontsize=SMALL, color=GREY, ha="right", va="bottom")


def p_values(figure, figures):
    """Draw histograms of p-values, of which the height of uniform ones is 1."""
    for place, (name, heights) in enumerate(figures["heights"].items()):
        ax = panel(figure, place % 2, place // 2, (2, 2), name)
        width = 1 / len(heights)
        edges = np.arange(len(heights)) * width
        colours = [ORANGE if edge + width <= 0.05 + 1e-9 else BLUE for edge in edges]
        ax.bar(edges, heights, width=0.92 * width, align="edge", color=colours, linewidth=0)
        ax.axhline(1, color=GREY, linewidth=1)
        ax.set_xlim(0, 1)
        ax.set_ylim(0, figures["highest"])
        ax.set_xticks([0, 0.5, 1], ["0", ".5", "1"])
    below(figure, "p-value")


#: Ends of the colours of Figure 1 of Maity et al. (2021), and their models.
LOW, HIGH = 0.9, 2.2
LABELS = {"baseline": "Baseline", "project": "Project", "reductions": "Reductions", "sensr": "SenSR"}
NAMES = {"compas": "COMPAS", "adult": "Adult"}
RATES = {"false_positive_rate": "false positive rate", "true_positive_rate": "recall"}


def odds(figure, figures):
    """Draw each difference and what is significant against the threshold."""
    for row, (name, found) in enumerate(figures.items()):
        thresholds = np.array(found["thresholds"])
        for column, metric in enumerate(RATES):
            ax = panel(figure, column, row, (2, 2), f"{NAMES[name]}: {RATES[metric]}")
            distance, percentile = (np.array(found[metric][key]) for key in ("distance", "percentile"))
            chosen = np.array(found[metric]["exact"], dtype=bool)
            ax.plot(thresholds, percentile, color=ORANGE, linewidth=1.5, linestyle="--")
            ax.plot(thresholds, distance, color=BLUE, linewidth=1.5)
            ax.plot(thresholds[chosen], distance[chosen], "o", color=BLUE, markersize=3.5, markeredgewidth=0)
            ax.set_xlim(0, 1)
            ax.set_ylim(0, None)
            ax.set_xticks([0, 0.5, 1], ["0", ".5", "1"])
    below(figure, "threshold")


def smallest(figure, figures):
    """Draw the smallest detected difference against the number of people."""
    for column, (name, found) in enumerate(figures.items()):
        ax = panel(figure, column, 0, (2, 1), NAMES[name])
        for metric, colour, line in zip(RATES, (BLUE, ORANGE), ("-", "--"), strict=True):
            ax.fill_between(found["people"], found[metric]["low"], found[metric]["high"], color=colour, alpha=0.2,
                            linewidth=0)  # fmt: skip
            ax.plot(found["people"], found[metric]["median"], color=colour, linewidth=1.6, linestyle=line, marker="o",
                    markersize=3)  # fmt: skip
        ax.set_ylim(0, None)
        ax.set_xticks([1000, 2500, 4000], ["1,000", "2,500", "4,000"])
    below(figure, "people")


def maps(figure, stored):
    """Draw a heat map for each rotation: blue below the tolerance, red above it, a line where T_n is the tolerance."""
    from matplotlib.colors import LinearSegmentedColormap, TwoSlopeNorm

    colours = LinearSegmentedColormap.from_list("fair", ["#2166ac", "#f7f7f7", "#b2182b"])
    norm = TwoSlopeNorm(TOLERANCE, LOW, HIGH)
    grid = np.array(stored["grid"])
    edges = np.append(grid, grid[-1] + np.diff(grid)[-1]) - np.diff(grid)[0] / 2
    for place, (angle, values) in enumerate(stored["maps"].items()):
        ax = figure.add_axes((0.075 + 0.315 * place, 0.17, 0.285, 0.7))
        ax.pcolormesh(edges, edges, np.array(values), cmap=colours, norm=norm, linewidth=0.2, edgecolors="face")
        ax.contour(grid, grid, np.array(values), levels=[TOLERANCE], colors="#000000", linewidths=1.2)
        ax.set_title(f"{angle} degrees", fontsize=FONT)
        ax.set_xlabel("theta_1", fontsize=FONT)
        if place == 0:
            ax.set_ylabel("theta_2", fontsize=FONT, labelpad=0)
        ax.set_xticks([-4, -2, 0, 2, 4], ["\N{MINUS SIGN}4", "\N{MINUS SIGN}2", "0", "2", "4"])
        ax.set_yticks([-4, -2, 0, 2, 4], ["\N{MINUS SIGN}4", "\N{MINUS SIGN}2", "0", "2", "4"] if place == 0 else [])
        ax.tick_params(labelsize=FONT, colors=GREY, length=3)


def stopping(figure, data):
    """Draw T_n against the number of steps, both on logarithmic axes: each split, the median, and the tolerance."""
    ax = axes(figure, (0.13, 0.16, 0.66, 0.8))
    ax.set_xscale("log", base=2)
    ax.set_yscale("log")
    styles = {"reductions": (ORANGE, "-"), "baseline": (BLUE, "-"), "project": (GREY, "--"), "sensr": (GREY, "-")}
    steps = np.array(data["steps"])
    shown, ends = steps >= 10, []
    for kind, (colour, line) in styles.items():
        values = np.array(data["curves"][kind])
        middle = np.median(values, axis=0)
        ax.plot(steps[shown], values[:, shown].T, line, color=colour, linewidth=0.5, alpha=0.45)
        ax.plot(steps[shown], middle[shown], line, color=colour, linewidth=2.2)
        ends.append((np.log(middle[-1]), kind, colour))
    ax.axhline(TOLERANCE, color="#000000", linewidth=1, linestyle=":")
    ticks, levels = [10, 40, 160, 640, 2560], [1, TOLERANCE, 4, 16, 64, 256]
    ax.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
    ax.set_yticks(levels, [f"{level:g}" for level in levels])
    ax.minorticks_off()
    ax.set_xlim(ticks[0], ticks[-1])
    below, apart = -1.0, 0.4
    for value, kind, colour in sorted(ends):
        below = max(value, below + apart)
        ax.text(1.08 * ticks[-1], np.exp(below), LABELS[kind], color=colour, fontsize=FONT, va="center")
    ax.set_xlabel("steps", fontsize=FONT)
    ax.set_ylabel("T_n", fontsize=FONT)
