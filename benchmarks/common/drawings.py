"""The drawings of doc/validity.md: every mark is a stored figure, in the colours of the reports.

One shape for all three: a row per method, a mark per design. A round mark is as good as it should be, a diamond is not.
"""

from dataclasses import dataclass

import numpy as np
from matplotlib.transforms import blended_transform_factory

from benchmarks.common.cells import ALPHA
from benchmarks.common.svg import drawn, file_of, literal
from benchmarks.common.words import DRAWN, METHODS
from skfairtest.report.draw import BLUE, GREY, ORANGE, PALE

#: What is shown together: title, sections of designs, the default method, the others.
PANELS = (
    (
        "Rates and F1, two groups", ("paper", "rates", "grid"), "exact",
        ("fisher", "boschloo_scipy", "score", "score_normal", "asymptotic", "bootstrap_t", "welch", "kdd", "raw",
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
        "Several groups or rates: any false positive", ("families",), "shaffer",
        ("holm", "raw_holm", "unadjusted"),
    ),
    ("Clusters and weights", ("clusters", "weights"), "permutation", ("raw", "ignored")),
)  # fmt: skip
#: What is often used instead of the default for rates, and its name in README.
INSTEAD = {
    "welch": "Welch's t test", "basic_bootstrap": "the basic bootstrap", "raw": "permuting all labels (un-studentized)",
    "lift": "LiFT",
}  # fmt: skip
#: Shares below the first are drawn there.
SHARES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
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
        return METHODS[self.method].strip("*")


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
    if method in methods:
        size, data_sets = methods[method]["size"], methods[method].get("data_sets", cell.data_sets)
        yield size, size > ALPHA + 3 * np.sqrt(ALPHA * (1 - ALPHA) / data_sets) + 1e-9


def misses(methods, method, _default, _cell):
    """Yield how often a method's intervals miss the true value, and whether that is too often."""
    for key in ("coverage", "coverage_effect"):
        if key in methods.get(method, {}):
            # The error of a share of 1 is not 0.
            error = max(methods[method][key + "_error"], 0.001)
            yield 1 - methods[method][key], methods[method][key] < 1 - ALPHA - 3 * error


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


def draw_panels(figure, names, found, kind):
    """Draw all panels below each other; `names` stand for the rows' labels."""
    heights = [len(rows) + 1.1 for _, rows in found]
    room = figure.get_figheight()
    inch = (room - 0.62) / sum(heights)
    top, place = room - 0.08, 0
    for at, ((title, rows), height) in enumerate(zip(found, heights, strict=True)):
        low = top - height * inch
        ax = figure.add_axes((LEFT, low / room, RIGHT - LEFT, (height - 1.1) * inch / room))
        _draw_rows(ax, rows, names[place : place + len(rows)], kind)
        literal(figure.text(0.015, (top - 0.65 * inch) / room, title, fontsize=FONT, weight="bold", va="center"))
        if at == 0:
            literal(figure.text(0.985, (top - 0.65 * inch) / room, DRAWN[kind]["column"], fontsize=FONT, color=GREY,
                                va="center", ha="right"))  # fmt: skip
        last = at == len(found) - 1
        ax.tick_params(axis="x", labelsize=FONT, labelbottom=last, length=3 if last else 0, colors=GREY)
        top, place = low, place + len(rows)
    literal(figure.text(0.985, 0.06 / room, DRAWN[kind]["axis"], fontsize=FONT, color=GREY, ha="right", va="bottom"))


def _draw_rows(ax, rows, names, kind):
    reference = KINDS[kind][1]
    _scale(ax, kind)
    ax.set_ylim(len(rows) - 0.5, -0.5)
    ax.set_yticks([])
    for place, (name, row) in enumerate(zip(names, rows, strict=True)):
        literal(ax.figure.text(0.015, place, name, transform=_beside_axes(ax), fontsize=FONT, va="center",
                               weight="bold" if row.is_default else "normal"))  # fmt: skip
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)
    ax.spines["bottom"].set_color(PALE)
    left, right = ax.get_xlim()
    if kind != "power":
        ax.axvspan(reference, right, color="#EEEEEE", linewidth=0, zorder=-2)
    ax.axvline(reference, color=GREY, linewidth=1, zorder=0)
    for place, row in enumerate(rows):
        # Spread over the height of the row, by the golden ratio: no two neighbours at one height, and no chance in it.
        height = place + 0.6 * (np.arange(len(row.values)) * 0.618034 % 1 - 0.5)
        x = np.clip(row.values, left, right)
        for which, marker, colour, size in ((~row.is_bad, "o", BLUE, 3.2), (row.is_bad, "D", ORANGE, 3.6)):
            if which.any():
                ax.plot(x[which], height[which], marker, color=colour, markersize=size, markeredgewidth=0,
                        alpha=0.75, clip_on=False, zorder=2)  # fmt: skip
        literal(ax.figure.text(0.985, place, _beside(row, kind), transform=_beside_axes(ax), fontsize=FONT, ha="right",
                               va="center", color=GREY))  # fmt: skip


def _beside_axes(ax):
    """Across as the figure, down as the rows."""
    return blended_transform_factory(ax.figure.transFigure, ax.transData)


def _beside(row, kind):
    if kind == "power":
        points = round(100 * float(np.median(row.values)))
        return f"{points:+d}".replace("-", "\N{MINUS SIGN}") if points else "0"
    return f"{row.is_bad.sum()}/{len(row.values)}"


def _scale(ax, kind):
    if kind == "power":
        ax.set_xlim(-0.6, 0.3)
        ax.set_xticks([-0.6, -0.3, 0, 0.3], ["\N{MINUS SIGN}60", "\N{MINUS SIGN}30", "0", "+30"])
        return
    ax.set_xscale("log")
    ax.set_xlim(SHARES[0], SHARES[-1])
    shown = (0.01, 0.05, 0.2, 1.0)
    ax.set_xticks(shown, [f"{share:.0%}" for share in shown])
    ax.set_xticks([], minor=True)


def drawings(cells, records):
    """Return the text of each SVG file by its name."""
    found = {file_name(kind): drawing(kind, panels(cells, records, KINDS[kind][0])) for kind in KINDS}
    return found | {file_name("why"): drawing("size", compared(cells, records))}


def drawing(kind, found):
    """Return one drawing as a file of its own, which follows a dark page."""
    labels = [row.label for _, rows in found for row in rows]
    height = 0.7 + 0.285 * sum(len(rows) + 1.1 for _, rows in found)
    element = drawn(
        lambda figure, names: draw_panels(figure, names, found, kind), labels, kind, inches=(INCHES, height),
        title=DRAWN[kind]["title"], description=DRAWN[kind]["description"],
    )  # fmt: skip
    return file_of(element)
