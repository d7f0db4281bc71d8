"""The pictures of the page of DiCiccio et al. (2020), from stored figures."""

import numpy as np
from scipy.stats import norm

from benchmarks.common.svg import literal
from benchmarks.reproduce._diciccio_limits import BARS, REACH
from skfairtest.report.draw import BLUE, GREY, ORANGE, PALE

FONT, SMALL = 11, 10
WIDTH = 5.6


def panel(figure, column, row, size, *, bottom=0.05):
    """Return axes of a grid of panels, each with room for its title above and its labels below."""
    columns, rows = size
    left, right, between = 0.1, 0.03, 0.11
    width, height = (1 - left - right - between * (columns - 1)) / columns, (1 - bottom) / rows
    low = bottom + (rows - 1 - row) * height
    ax = figure.add_axes((left + column * (width + between), low + 0.14 * height, width, 0.72 * height))
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    for side in ("bottom", "left"):
        ax.spines[side].set_color(GREY)
    ax.tick_params(labelsize=SMALL, colors=GREY)
    return ax


def titled(ax, title):
    literal(ax.set_title(title, fontsize=FONT, loc="left", weight="bold"))


def named(ax, x, y, text, colour, **where):
    literal(ax.text(x, y, text, transform=ax.transAxes, fontsize=SMALL, color=colour, **where))


def below(figure, text):
    literal(figure.text(0.985, 0.012, text, fontsize=SMALL, color=GREY, ha="right", va="bottom"))


def p_values(figure, figures):
    """Draw histograms of p-values, of which the height of uniform ones is 1."""
    for place, (name, heights) in enumerate(figures["heights"].items()):
        ax = panel(figure, place % 2, place // 2, (2, 2))
        width = 1 / len(heights)
        edges = np.arange(len(heights)) * width
        colours = [ORANGE if edge + width <= 0.05 + 1e-9 else BLUE for edge in edges]
        ax.bar(edges, heights, width=0.92 * width, align="edge", color=colours, linewidth=0)
        ax.axhline(1, color=GREY, linewidth=1)
        ax.set_xlim(0, 1)
        ax.set_ylim(0, figures["highest"])
        ax.set_xticks([0, 0.5, 1], ["0", ".5", "1"])
        titled(ax, name)
    below(figure, "p-value")


NAMES = {"compas": "COMPAS", "adult": "Adult"}
RATES = {"false_positive_rate": "false positive rate", "true_positive_rate": "recall"}


def odds(figure, figures):
    """Draw each difference and what is significant against the threshold."""
    for row, (name, found) in enumerate(figures.items()):
        thresholds = np.array(found["thresholds"])
        for column, metric in enumerate(RATES):
            ax = panel(figure, column, row, (2, 2))
            distance, percentile = (np.array(found[metric][key]) for key in ("distance", "percentile"))
            chosen = np.array(found[metric]["exact"], dtype=bool)
            ax.plot(thresholds, percentile, color=ORANGE, linewidth=1.5, linestyle="--")
            ax.plot(thresholds, distance, color=BLUE, linewidth=1.5)
            ax.plot(thresholds[chosen], distance[chosen], "o", color=BLUE, markersize=3.5, markeredgewidth=0)
            ax.set_xlim(0, 1)
            ax.set_ylim(0, None)
            ax.set_xticks([0, 0.5, 1], ["0", ".5", "1"])
            titled(ax, f"{NAMES[name]}: {RATES[metric]}")
    below(figure, "threshold")


def smallest(figure, figures):
    """Draw the smallest detected difference against the number of people."""
    for column, (name, found) in enumerate(figures.items()):
        ax = panel(figure, column, 0, (2, 1))
        for metric, colour, line in zip(RATES, (BLUE, ORANGE), ("-", "--"), strict=True):
            ax.fill_between(found["people"], found[metric]["low"], found[metric]["high"], color=colour, alpha=0.2,
                            linewidth=0)  # fmt: skip
            ax.plot(found["people"], found[metric]["median"], color=colour, linewidth=1.6, linestyle=line, marker="o",
                    markersize=3)  # fmt: skip
        ax.set_ylim(0, None)
        ax.set_xticks([1000, 2500, 4000], ["1,000", "2,500", "4,000"])
        titled(ax, NAMES[name])
    below(figure, "people")


def distributions(figure, figures):
    """Draw histograms of a statistic in the data and under permutation, with their limits as lines."""
    panels = (
        ("the difference", figures["scale"], ("sampling distribution", "permutation distribution"), figures["limits"]),
        ("studentized", 1.0, ("sampling, studentized", "permutation, studentized"), (1.0, 1.0)),
    )
    for column, (title, scale, names, variances) in enumerate(panels):
        ax = panel(figure, column, 0, (2, 1))
        edges = scale * np.linspace(-REACH, REACH, BARS + 1)
        x = np.linspace(edges[0], edges[-1], 161)
        looks = ((BLUE, "-"), (ORANGE, "--"))
        for name, variance, (colour, line) in zip(names, variances, looks, strict=True):
            ax.stairs(figures["bars"][name], edges, color=colour, linewidth=0.8, fill=True, alpha=0.25)
            ax.plot(x, norm.pdf(x, scale=np.sqrt(variance)), color=colour, linewidth=1.6, linestyle=line)
        ax.set_ylim(0, None)
        ax.set_xlim(edges[0], edges[-1])
        ax.set_yticks([])
        ax.spines["left"].set_color(PALE)
        titled(ax, title)
