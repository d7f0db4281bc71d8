"""The drawings of doc/validity.md: every mark is a stored figure, in the colours of the reports.

One shape for all three: a row per method, a mark per design. A round mark is as good as it should be, a diamond is not.
"""

from dataclasses import dataclass

import numpy as np
from matplotlib.transforms import blended_transform_factory

from benchmarks.common.cells import ALPHA
from benchmarks.common.svg import BLUE, GREY, ORANGE, PALE, svg

#: Names of methods; bold is what the package runs by default.
METHODS = {
    "exact": "**exact**",
    "permutation": "**studentized permutation**",
    "permuted": "permutations alone",
    "discrete_holm": "**discrete Holm**",
    "shaffer": "**Holm, Shaffer's factors**",
    "holm": "Holm",
    "fisher": "Fisher",
    "score": "score, permuted",
    "score_normal": "score, normal",
    "asymptotic": "normal",
    "bootstrap_t": "studentized bootstrap",
    "unadjusted": "not adjusted",
    "welch": "Welch",
    "delong": "DeLong",
    "areas": "**as rates**",
    "kdd": "KDD'20 plug-in",
    "raw": "un-studentized",
    "basic_bootstrap": "basic bootstrap",
    "lift": "LiFT",
    "fairlearn": "fairlearn",
    "to_highest": "**to the highest**",
    "chosen_reference": "a reference chosen",
    "ignored": "ignored",
}
#: Titles of the drawings, axes, what stands above the numbers at the right, and descriptions for screen readers.
DRAWN = {
    "size": {
        "title": "How often a fair model is called unfair",
        "axis": "fair models rejected (log scale)",
        "column": "too often",
        "description": "A row for each method and a mark for each design, at the share of fair models that the "
        "method rejects. The grey area is above the nominal 5%.",
    },
    "power": {
        "title": "How often an unfair model is noticed, compared with the default",
        "axis": "percentage points of power",
        "column": "median",
        "description": "A row for each method and a mark for each design, at the power of the method minus the power"
        " of the default. Marks left of the line are designs in which the method detects less.",
    },
    "coverage": {
        "title": "How often a 95% interval misses the true difference",
        "axis": "intervals that miss the truth (log scale)",
        "column": "too often",
        "description": "A row for each method and a mark for each design, at the share of 95% intervals that do not "
        "contain the true difference. The grey area is above the nominal 5%.",
    },
}
#: What is shown together: title, sections of designs, the default method, the others.
PANELS = (
    (
        "Rates and F1, two groups", ("paper", "rates", "grid"), "exact",
        ("fisher", "score", "score_normal", "asymptotic", "bootstrap_t", "welch", "kdd", "raw",
         "basic_bootstrap", "lift"),
    ),
    (
        "Losses and R squared", ("r2", "mean_squared_error", "log_loss"), "permutation",
        ("bootstrap_t", "welch", "kdd", "raw", "basic_bootstrap", "lift"),
    ),
    (
        "AUC, average precision, metrics of classes",
        ("auc", "average_precision", "balanced_accuracy", "mcc", "classes"), "areas",
        ("permutation", "delong", "bootstrap_t", "kdd", "raw", "basic_bootstrap", "lift"),
    ),
    (
        "Several groups or rates: any false positive", ("families",), "discrete_holm",
        ("shaffer", "holm", "unadjusted"),
    ),
    (
        "Against the highest of five equal groups", ("highest",), "to_highest", ("chosen_reference",),
    ),
)  # fmt: skip
#: What is often used instead of the default for rates, and its name in README.
INSTEAD = {
    "welch": "Welch's t test", "basic_bootstrap": "the basic bootstrap", "raw": "permuting all labels (un-studentized)",
    "lift": "LiFT",
}  # fmt: skip
#: The ends of the axis; smaller shares are drawn at its beginning.
SHARES = (0.01, 1.0)
#: So large that a phone's screen, as wide as the drawing in points, shows 11 pixels.
FONT, INCHES = 12.5, 5.6
#: Where the axes begin and end, between the names of the methods and the numbers.
LEFT, RIGHT = 0.47, 0.845


@dataclass(frozen=True)
class Row:
    """The figures of one method in all designs of a panel, and which of them are not as they should be."""

    method: str
    is_default: bool
    values: np.ndarray
    is_bad: np.ndarray

    @property
    def label(self):
        return METHODS.get(self.method, self.method).strip("*")


def exceeds(share, n):
    """Whether a share of n data sets is more than three Monte-Carlo errors above the level."""
    return share > ALPHA + 3 * np.sqrt(ALPHA * (1 - ALPHA) / n) + 1e-9


def panels(cells, records, figures_of, shown=PANELS):
    """Return (title, rows) of each panel that has figures; `figures_of` yields (value, is it bad) of a method."""
    out = []
    for title, sections, default, others in shown:
        chosen = [cell for cell in cells if cell.section in sections and cell.name in records]
        rows = []
        for method in (default, *others):
            found = [
                pair for cell in chosen for pair in figures_of(records[cell.name]["methods"], method, default, cell)
            ]
            if found:
                values, bad = zip(*found, strict=True)
                rows.append(Row(method, method == default, np.array(values, dtype=float), np.array(bad, dtype=bool)))
        if rows:
            out.append((title, rows))
    return out


def compared(cells, records):
    """Return the panel of README: how often methods reject, in the designs that all of them were run in."""
    title, sections, default, _ = PANELS[0]
    chosen = [
        cell for cell in cells if cell.name in records and {default, *INSTEAD} <= set(records[cell.name]["methods"])
    ]
    return panels(chosen, records, sizes, [(title, sections, default, tuple(INSTEAD))])


def sizes(methods, method, _default, cell):
    """Yield a method's size, and whether it is more than three Monte-Carlo errors above the level."""
    if "size" in methods.get(method, ()):
        size, data_sets = methods[method]["size"], methods[method].get("data_sets", cell.data_sets)
        yield size, exceeds(size, data_sets)


def misses(methods, method, _default, cell):
    """Yield how often a method's intervals miss the true value, and whether that is too often."""
    for key in ("coverage", "coverage_effect"):
        if key in methods.get(method, {}):
            miss = 1 - methods[method][key]
            yield miss, exceeds(miss, methods[method].get("data_sets", cell.data_sets))


def gains(methods, method, default, cell):
    """Yield the power that a method has more than the default, and whether it is five points less.

    Power is compared at equal size, or at .05 in designs that have only that, where the method's size is right.
    """
    if method == default or not {method, default} <= set(methods):
        return
    key = "power_at_equal_size"
    if key not in methods[default]:
        ((_, is_bad),) = sizes(methods, method, default, cell)
        key = "power" if not is_bad else key
    if {key} <= set(methods[default]) & set(methods[method]):
        gain = methods[method][key] - methods[default][key]
        yield gain, gain < -0.05


#: The figures of each drawing, and where its line is.
KINDS = {"size": (sizes, ALPHA), "power": (gains, 0.0), "coverage": (misses, ALPHA)}


def file_name(kind):
    return f"validity_{kind}.svg"


def counts(found):
    """Return {method: (bad figures, figures)} of the first panel that has the method."""
    out = {}
    for _, rows in found:
        for row in rows:
            out.setdefault(row.method, (int(row.is_bad.sum()), len(row.values)))
    return out


def _draw(figure, shown, kind, font):
    """Draw all panels below each other: the names of the methods, the marks, and a number for each method."""
    heights = [len(rows) + 1.1 for _, rows in shown]
    room = figure.get_figheight()
    inch = (room - 0.62) / sum(heights)
    top = room - 0.08
    for (title, rows), height in zip(shown, heights, strict=True):
        low = top - height * inch
        ax = figure.add_axes((LEFT, low / room, RIGHT - LEFT, (height - 1.1) * inch / room))
        _draw_rows(ax, rows, kind, font)
        middle, last = (top - 0.65 * inch) / room, rows is shown[-1][1]
        figure.text(0.015, middle, title, fontsize=font, weight="bold", va="center")
        if rows is shown[0][1]:
            figure.text(0.985, middle, DRAWN[kind]["column"], fontsize=font, color=GREY, va="center", ha="right")
        ax.tick_params(axis="x", labelsize=font, labelbottom=last, length=3 if last else 0, colors=GREY)
        top = low
    figure.text(0.985, 0.06 / room, DRAWN[kind]["axis"], fontsize=font, color=GREY, ha="right", va="bottom")


def _draw_rows(ax, rows, kind, font):
    reference = KINDS[kind][1]
    if kind == "power":
        ax.set_xlim(-0.6, 0.3)
        ax.set_xticks([-0.6, -0.3, 0, 0.3], ["\N{MINUS SIGN}60", "\N{MINUS SIGN}30", "0", "+30"])
    else:
        ax.set_xscale("log")
        ax.set_xlim(*SHARES)
        ax.set_xticks((0.01, 0.05, 0.2, 1.0), ["1%", "5%", "20%", "100%"])
        ax.set_xticks([], minor=True)
        ax.axvspan(reference, 1.0, color="#EEEEEE", linewidth=0, zorder=-2)
    ax.set_ylim(len(rows) - 0.5, -0.5)
    ax.set_yticks([])
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)
    ax.spines["bottom"].set_color(PALE)
    ax.axvline(reference, color=GREY, linewidth=1, zorder=0)
    beside = blended_transform_factory(ax.figure.transFigure, ax.transData)
    for place, row in enumerate(rows):
        # Spread over the height of the row, by the golden ratio: no two neighbours at one height, and no chance in it.
        height = place + 0.6 * (np.arange(len(row.values)) * 0.618034 % 1 - 0.5)
        x = np.clip(row.values, *ax.get_xlim())
        for which, marker, colour, size in ((~row.is_bad, "o", BLUE, 3.2), (row.is_bad, "D", ORANGE, 3.6)):
            if which.any():
                ax.plot(x[which], height[which], marker, color=colour, markersize=size, markeredgewidth=0,
                        alpha=0.75, clip_on=False, zorder=2)  # fmt: skip
        weight = "bold" if row.is_default else "normal"
        ax.text(
            0.015,
            place,
            row.label,
            transform=beside,
            fontsize=font,
            va="center",
            weight=weight,
        )
        number = f"{row.is_bad.sum()}/{len(row.values)}"
        if kind == "power":
            points = round(100 * float(np.median(row.values)))
            number = f"{points:+d}".replace("-", "\N{MINUS SIGN}") if points else "0"
        ax.text(0.985, place, number, transform=beside, fontsize=font, ha="right", va="center", color=GREY)


def drawing(kind, shown, *, font=FONT):
    """Return the SVG of panels: (title, rows) pairs."""
    height = 0.7 + 0.0228 * font * sum(len(rows) + 1.1 for _, rows in shown)
    words = {key: DRAWN[kind][key] for key in ("title", "description")}
    return svg(lambda figure: _draw(figure, shown, kind, font), inches=(INCHES, height), **words)


def drawings(cells, records, sizes_of_kinds, misses_of_kinds, gauntlet):
    """Return the text of each SVG file by its name."""
    return {
        **{file_name(kind): drawing(kind, panels(cells, records, KINDS[kind][0])) for kind in KINDS},
        file_name("why"): drawing("size", compared(cells, records)),
        file_name("kinds"): drawing("size", sizes_of_kinds),
        file_name("kinds_coverage"): drawing("coverage", misses_of_kinds),
        file_name("gauntlet"): drawing("size", gauntlet, font=10),
    }
