"""Drawings on matplotlib's axes, from numbers and labels: disparities, values by group, and null distributions.

What differs by colour differs by shape or hatching too. The text of data is text: it is never read as mathematics. A
drawing sets the scale of its axes and touches nothing else of the figure, so that several can share one.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skfairtest._utils.text import display_width, label, shorten
from skfairtest._utils.typing import Floats
from skfairtest.report.null_histogram import NullHistogram
from skfairtest.report.sentences import number

#: Colours of Okabe and Ito, which colour-blind readers tell apart; their greys differ as well.
BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#595959"
#: What is tolerated, or likely, behind other things.
PALE = "#D9D9D9"

#: A mark of no width.
LEFT_TO_RIGHT = "\N{LEFT-TO-RIGHT MARK}"
#: Columns that a row's label has at the most, and from which on it is written small.
WIDEST, WIDE = 56, 28


def height_of(n_rows: int) -> float:
    """Return the inches that a plot of so many rows needs, with its axis and its legend."""
    return 1.3 + 0.27 * max(n_rows, 2)


def width_of(labels: Sequence[Any]) -> float:
    """Return the inches that a plot of rows with such labels needs."""
    longest = max((min(display_width(label(name)), WIDEST) for name in labels), default=0)
    return 5.0 + 0.07 * max(longest, 20)


def joined(pieces: Sequence[str], joints: Sequence[str], width: int = WIDEST) -> str:
    """Join the pieces of a name, `joints` between them: long ones are cut so far that short ones need not be.

    Examples
    --------
    >>> joined(["African-American", "Asian"], [" against "], 24)
    'Afric…ican against Asian'
    """
    room, left = width - sum(map(display_width, joints)), len(pieces)
    cut: dict[int, str] = {}
    for place in sorted(range(len(pieces)), key=lambda i: display_width(pieces[i])):
        cut[place] = shorten(pieces[place], max(room // left, 6))
        room, left = room - display_width(cut[place]), left - 1
    return cut[0] + "".join(joint + cut[place] for place, joint in enumerate(joints, 1))


def row_size(labels: Sequence[Any]) -> str:
    """Return how large rows with such labels are written, in one plot or in all of a figure."""
    return "small" if any(display_width(label(name)) > WIDE for name in labels) else "medium"


def draw_disparities(
    ax: Any,
    labels: Sequence[Any],
    disparity: ArrayLike,
    low: ArrayLike,
    high: ArrayLike,
    found: ArrayLike,
    *,
    null: float,
    margin_bounds: tuple[float, float] | None = None,
    log: bool = False,
    xlabel: str = "",
    size: str | None = None,
    legend: bool = True,
) -> None:
    """Draw a forest: one row per comparison, from top to bottom, with its interval; findings stand out.

    Parameters
    ----------
    ax : matplotlib Axes
        What is drawn on.
    labels : sequence of str
        What each row is called.
    disparity, low, high : array-like of shape (n_rows,)
        Estimates and limits. An arrow says that one lies beyond the axis, a cross that there is no estimate.
    found : array-like of bool, shape (n_rows,)
        Which rows are significant.
    null : float
        The disparity of equal groups.
    margin_bounds : (float, float), optional
        Tolerated disparities.
    log : bool
        Whether the axis is logarithmic, as it is for ratios.
    xlabel : str
        What is on the axis.
    size : str, optional
        How large the labels are written; by default as `row_size` finds.
    legend : bool
        Whether the meaning of the marks stands below the axis.
    """
    values = [np.atleast_1d(np.asarray(v, dtype=float)) for v in (disparity, low, high)]
    is_found = np.atleast_1d(np.asarray(found, dtype=bool))
    _rows(ax, labels, size)
    _horizontal(ax, values, (null, *(margin_bounds or ())), log=log)
    if margin_bounds is not None:
        ax.axvspan(*margin_bounds, color=PALE, linewidth=0, zorder=0, label="tolerated")
    ax.axvline(null, color=GREY, linewidth=1, zorder=1)
    _intervals(ax, values, is_found, colour=ORANGE, marker="D", name="significant")
    _intervals(ax, values, ~is_found, colour=BLUE, marker="o", name="not significant")
    _xlabel(ax, xlabel)
    if legend:
        legend_below(ax)


def draw_groups(
    ax: Any,
    labels: Sequence[Any],
    value: ArrayLike,
    low: ArrayLike,
    high: ArrayLike,
    small: ArrayLike,
    *,
    xlabel: str = "",
    reference: float | None = None,
    size: str | None = None,
    legend: bool = True,
) -> None:
    """Draw the value of each group with its interval; what rests on few people is hollow.

    Parameters
    ----------
    ax : matplotlib Axes
        What is drawn on.
    labels : sequence of str
        What each row is called.
    value, low, high : array-like of shape (n_rows,)
        Values and limits.
    small : array-like of bool, shape (n_rows,)
        Which values rest on few people.
    xlabel : str
        What is on the axis.
    reference : float, optional
        Everybody's value, a dashed line.
    size : str, optional
        How large the labels are written; by default as `row_size` finds.
    legend : bool
        Whether the meaning of the marks stands below the axis.
    """
    values = [np.atleast_1d(np.asarray(v, dtype=float)) for v in (value, low, high)]
    is_small = np.atleast_1d(np.asarray(small, dtype=bool))
    known = reference is not None and np.isfinite(reference)
    _rows(ax, labels, size)
    _horizontal(ax, values, (float(reference),) if known and reference is not None else (), log=False)
    if known:
        ax.axvline(reference, color=GREY, linewidth=1, linestyle="--", zorder=1, label="everybody")
    _intervals(ax, values, ~is_small, colour=BLUE, marker="o", name="")
    _intervals(ax, values, is_small, colour=BLUE, marker="o", name="few people", hollow=True)
    _xlabel(ax, xlabel)
    if legend:
        legend_below(ax)


def draw_null_histogram(ax: Any, histogram: NullHistogram, *, xlabel: str | None = None) -> None:
    """Draw what chance alone would do, the part of it that is at least as extreme as the data, and the data.

    Parameters
    ----------
    ax : matplotlib Axes
        What is drawn on.
    histogram : NullHistogram
        The histogram.
    xlabel : str, optional
        What is on the axis; by default the statistic and its unit.
    """
    low, high, mass, extreme = (
        np.asarray(v, dtype=float) for v in (histogram.low, histogram.high, histogram.mass, histogram.extreme)
    )
    single = low == high
    gaps = np.diff(np.unique(low))
    atom = 0.8 * float(gaps.min()) if single.any() and len(gaps) else 1.0 if not len(gaps) else 0.0
    left = np.where(single, low - atom / 2, low)
    width = np.where(single, atom, high - low)
    common = {"width": width, "align": "edge", "linewidth": 0.0}
    ax.bar(left, mass - extreme, bottom=extreme, color="#9A9A9A", label="chance alone", **common)
    if extreme.any():
        common["linewidth"] = 0.3
        shown = {"color": ORANGE, "hatch": "////", "edgecolor": "white", "label": "at least as extreme"}
        ax.bar(left, extreme, **common, **shown)
    likely = mass > 1e-3 * mass.max() if len(mass) else np.zeros(0, dtype=bool)
    ends = [*left[likely], *(left + width)[likely]]
    if np.isfinite(histogram.observed):
        ax.axvline(
            histogram.observed, color="black", linewidth=1.4, linestyle="--", label=f"data {number(histogram.observed)}"
        )
        ends.append(histogram.observed)
    if ends:
        margin = 0.04 * (max(ends) - min(ends)) or 1.0
        ax.set_xlim(min(ends) - margin, max(ends) + margin)
    ax.set_ylim(0, 1.05 * float(mass.max()) if len(mass) and mass.max() > 0 else 1.0)
    _few_ticks(ax)
    _xlabel(ax, statistic_axis(histogram) if xlabel is None else xlabel)
    ax.set_ylabel("probability")
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    legend_below(ax)


def _rows(ax: Any, labels: Sequence[Any], size: str | None) -> None:
    """Give each label a row, the first on top."""
    n = len(labels)
    names = [shorten(name, WIDEST) for name in labels]
    ax.set_yticks(np.arange(n), [_left_to_right(name) for name in names], fontsize=size or row_size(names))
    for text in ax.get_yticklabels():
        literal(text)
    ax.set_ylim(n - 0.4, -0.6)
    ax.tick_params(axis="y", length=0, pad=8)  # room for an arrow at the edge
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)
    if n > 1:
        ax.hlines(np.arange(n), 0, 1, transform=ax.get_yaxis_transform(), color="#EEEEEE", linewidth=0.8, zorder=-1)


def _left_to_right(name: str) -> str:
    """Let a name that starts from the right not turn round what is written after it: "A − B" is not "B − A"."""
    if any(unicodedata.bidirectional(character) in ("R", "AL") for character in name):
        return f"{LEFT_TO_RIGHT}{name}"
    return name


def _horizontal(ax: Any, values: Sequence[Floats], also: Sequence[float], *, log: bool) -> None:
    """Set the scale of the axis so that everything finite is on it."""
    ends = np.concatenate([*values, np.asarray(also, dtype=float)])
    ends = ends[np.isfinite(ends) & (ends > 0)] if log else ends[np.isfinite(ends)]
    if log:
        ends = np.log(ends)
    low, high = (float(ends.min()), float(ends.max())) if len(ends) else (0.0, 1.0)
    margin = 0.06 * (high - low) or 0.5 * (abs(high) or 1.0)
    low, high = low - margin, high + margin
    if log:
        ax.set_xscale("log")
        ax.set_xlim(float(np.exp(low)), float(np.exp(high)))
        plain_log(ax.xaxis)
    else:
        ax.set_xlim(low, high)
        _few_ticks(ax)


def _few_ticks(ax: Any) -> None:
    """So few ticks that their labels do not touch in a narrow one of several axes."""
    from matplotlib.ticker import MaxNLocator

    inches = ax.bbox.width / ax.figure.dpi
    ax.xaxis.set_major_locator(MaxNLocator(int(np.clip(2 * inches, 3, 5))))
    ax.xaxis.set_major_formatter(_plain_formatter()())


@cache
def _plain_formatter() -> type:
    """Return the formatter of `tick_text`: a class, because only its `format_ticks` is told of all ticks."""
    from matplotlib.ticker import Formatter

    class PlainFormatter(Formatter):
        def __call__(self, x: float, pos: int | None = None) -> str:
            return tick_text(x, [x])

        def format_ticks(self, values: Sequence[float]) -> list[str]:
            return [tick_text(value, values) for value in values]

    return PlainFormatter


def tick_text(value: float, ticks: ArrayLike) -> str:
    """Write a tick so that it is told from the others, and needs no factor or offset beside the axis.

    Examples
    --------
    >>> [tick_text(tick, [0, 0.25, 0.5]) for tick in (0, 0.25, 0.5)]
    ['0.00', '0.25', '0.50']
    >>> [tick_text(tick, [-1e7, 0, 1e7]) for tick in (-1e7, 0, 1e7)]
    ['−1e7', '0', '1e7']
    """
    places = np.unique(np.append(np.asarray(ticks, dtype=float), value))
    largest = float(np.abs(places).max())
    step = float(np.diff(places).min()) if len(places) > 1 else largest
    if value == 0 and not 1e-3 <= largest < 1e5:
        return "0"
    fixed = largest == 0 or 1e-3 <= largest < 1e5
    scale = 1.0 if fixed else 10.0 ** np.floor(np.log10(abs(value)))
    digits = next((d for d in range(13) if abs(round(step / scale, d) * scale - step) <= 1e-6 * step), 13)
    if fixed:
        text = f"{value + 0.0:.{digits}f}"
    else:
        mantissa, exponent = f"{value:.{digits}e}".split("e")
        mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
        text = f"{mantissa}e{int(exponent)}"
    return text.replace("-", "\N{MINUS SIGN}")


def statistic_axis(histogram: NullHistogram) -> str:
    """Say what is on the axis of a null distribution, with its unit where that is not the statistic's own."""
    if histogram.statistic.startswith("studentized "):
        return f"{histogram.statistic} (in standard errors)"
    # Only counts of people are enumerated.
    shares = histogram.kind == "enumerated" and histogram.statistic.startswith("difference")
    return f"{histogram.statistic} (0.1 is 10 points)" if shares else histogram.statistic


def _intervals(
    ax: Any, values: Sequence[Floats], which: NDArray[np.bool_], *, colour: str, marker: str, name: str,
    hollow: bool = False,
) -> None:  # fmt: skip
    if not which.any():
        return
    row = np.flatnonzero(which)
    value, low, high = (v[row] for v in values)
    left, right = ax.get_xlim()
    known = ~np.isnan(low) & ~np.isnan(high)
    ax.hlines(row[known], np.clip(low, left, right)[known], np.clip(high, left, right)[known], color=colour, zorder=2)
    fill = {"markerfacecolor": "white"} if hollow else {}
    for at, size in ((low, 5), (high, 5), (value, 9)):
        for beyond, end, arrow in ((at < left, left, "<"), (at > right, right, ">")):
            # Nothing at all where nothing lies beyond: an empty line that is not clipped has a place all the same.
            if beyond.any():
                style = {"color": colour, "markersize": size, "clip_on": False, **fill}
                ax.plot(np.full(int(beyond.sum()), end), row[beyond], arrow, **style)
    inside = (value >= left) & (value <= right)
    ax.plot(value[inside], row[inside], marker, color=colour, markersize=6, label=name or None, **fill)
    for place in row[np.isnan(value)]:
        ax.text(0.5, place, "undefined", transform=ax.get_yaxis_transform(), color=GREY, ha="center", va="center")


def _xlabel(ax: Any, text: str) -> None:
    literal(ax.set_xlabel(text))


def legend_below(ax: Any, columns: int = 3) -> None:
    """Put what the marks mean below the axis, in which rows and bars leave no corner free."""
    from matplotlib.transforms import ScaledTranslation

    handles, names = ax.get_legend_handles_labels()
    if not handles:
        return
    lines = 1 + (ax.get_xlabel().count("\n") + 1 if ax.get_xlabel() else 0)
    down = ScaledTranslation(0, -(8 + 15 * lines) / 72, ax.figure.dpi_scale_trans)
    legend = ax.legend(
        handles, names, loc="upper center", bbox_to_anchor=(0.5, 0), bbox_transform=ax.transAxes + down,
        ncols=columns, fontsize="small", frameon=False, borderaxespad=0, handlelength=1.6, columnspacing=1.2,
    )  # fmt: skip
    for text in legend.get_texts():
        literal(text)


def literal(text: Any) -> Any:
    """Let a text of matplotlib's be what it says: neither mathematics nor TeX."""
    text.set_parse_math(False)
    text.set_usetex(False)
    return text


def plain_log(axis: Any) -> None:
    """Put round numbers, written as such, on a logarithmic axis that may span less than a power of ten."""
    from matplotlib.ticker import LogLocator, NullFormatter, NullLocator, StrMethodFormatter

    low, high = sorted(axis.get_view_interval())
    spans = ((10, (1.0, 1.2, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0)), (100, (1.0, 2.0, 5.0)), (1000, (1.0, 3.0)))
    subs = next((subs for span, subs in spans if high < span * low), (1.0,))
    axis.set_major_locator(LogLocator(subs=subs))
    axis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axis.set_minor_locator(NullLocator())
    axis.set_minor_formatter(NullFormatter())
