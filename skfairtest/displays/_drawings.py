"""Drawings on matplotlib's axes, from numbers and labels: disparities, values by group, and null distributions.

The style applies to displays only, whatever matplotlib's settings are, but for fonts, which are the user's; its colours
are those of reports. Whatever differs in colour also differs in shape or hatching. Names from the data are never read
as mathematics. A drawing sets the scale of its axes and changes nothing else in the figure, so that several can share
one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial, wraps
from typing import Any, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from skfairtest._utils.text import display_width, label, shorten
from skfairtest._utils.typing import Floats
from skfairtest.report import draw
from skfairtest.report.draw import (
    BLUE,
    GREY,
    ORANGE,
    PALE,
    ROUND,
    STYLE,
    NullHistogram,
    log_subs,
    scale_ends,
)

P = ParamSpec("P")
R = TypeVar("R")


def styled(plot: Callable[P, R]) -> Callable[P, R]:
    """Draw in this style; afterwards all settings are restored."""

    @wraps(plot)
    def drawn(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            from matplotlib import pyplot, style
        except ImportError:  # said in more words by the one who needs it
            return plot(*args, **kwargs)
        # A backend that turns interactive mode on, when it is loaded, does so for good.
        pyplot.draw_if_interactive()  # type: ignore[no-untyped-call]
        fonts: Any = pyplot.rcParams.find_all(r"^font\.(family|sans|serif)")
        with style.context(["default", STYLE, dict(fonts)]):
            return plot(*args, **kwargs)

    return drawn


def dress(ax: Any) -> None:
    """Give axes that the user made the fonts and the frame of this style."""
    ax.spines[["top", "right"]].set_visible(False)
    for axis in (ax.xaxis, ax.yaxis):
        axis.label.set_size(STYLE["axes.labelsize"])
        axis.set_tick_params(labelsize=STYLE["xtick.labelsize"])
    ax.title.set_size(STYLE["axes.titlesize"])


def ink_of(ax: Any) -> Any:
    """Return the colour of text on axes, which may be the user's, and dark."""
    return ax.xaxis.label.get_color()


def axes(ax: Any, who: str, size: tuple[float, float] | None = None) -> tuple[Any, Any]:
    """Return the figure and the axes; if there are none yet, new ones of a size in inches.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    """
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(f'{who} draws with matplotlib: python -m pip install "skfairtest[report]"') from error
    if ax is None:
        _, ax = plt.subplots(layout="constrained", figsize=size)
    return ax.figure, ax


#: Columns that a row's label has at the most.
WIDEST = 56


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


@dataclass(frozen=True, kw_only=True)
class Panel:
    """Marks on one scale, a row for each.

    Parameters
    ----------
    columns : sequence of array-like
        Estimates, which may be undefined, lower and upper limits, and where estimates moved from.
    kinds : sequence of str
        What each looks like: "significant" a diamond, "other" a circle, "few" a hollow circle.
    log : bool
        Whether equal distances are equal ratios.
    factor : float
        What ticks are multiplied by: 100 if shares are written as percentages.
    axis : str
        What the axis says.
    equality : float, optional
        The disparity of equal groups.
    everyone : float, optional
        The value of everyone.
    tolerated : (float, float), optional
        The ends of a band.
    meanings : (str, str)
        What diamonds and circles are, where there is a line of equality.
    """

    columns: Sequence[Any]
    kinds: Any
    log: bool = False
    factor: float = 1.0
    axis: str = ""
    equality: float | None = None
    everyone: float | None = None
    tolerated: tuple[float, float] | None = None
    meanings: tuple[str, str] = ("significant", "not significant")

    @property
    def values(self) -> Floats:
        """The columns; those that are not given are undefined."""
        found = np.full((4, len(self.kinds)), np.nan)
        found[: len(self.columns)] = self.columns
        return found

    @property
    def ends(self) -> tuple[float, float]:
        """The ends of a scale with room for everything."""
        also = [line for line in (self.equality, self.everyone, *(self.tolerated or ())) if line is not None]
        return scale_ends([*self.columns, also], log=self.log)


def moved(start: Any, value: Any) -> list[Floats]:
    """Return the columns of dumbbells: lines from `start` to `value`.

    Examples
    --------
    >>> [column.tolist() for column in moved([1.0], [0.0])]
    [[0.0], [0.0], [1.0], [1.0]]
    """
    both = np.asarray([start, value], dtype=float)
    return [both[1], both.min(axis=0), both.max(axis=0), both[0]]


#: Columns from which on a row's label is written small.
WIDE = 28


def height_of(n_rows: int) -> float:
    """Return the inches that a plot of so many rows needs, with its axis and its legend."""
    return 1.3 + 0.27 * max(n_rows, 2)


def width_of(labels: Sequence[Any], widest: int = WIDEST) -> float:
    """Return the inches that a plot of rows needs whose labels are cut to so many columns."""
    longest = max((min(display_width(label(name)), widest) for name in labels), default=0)
    return 5.0 + 0.07 * max(longest, 20)


def row_size(labels: Sequence[Any]) -> str:
    """Return the font size of rows with such labels."""
    return "small" if any(display_width(label(name)) > WIDE for name in labels) else "medium"


def draw_panel(ax: Any, names: Sequence[Any], panel: Panel, *, widest: int = WIDEST, legend: bool = True) -> None:
    """Draw marks with their intervals, a row for each, from top to bottom; significant ones stand out.

    Parameters
    ----------
    ax : matplotlib Axes
        What is drawn on.
    names : sequence of str
        What each row is called.
    panel : Panel
        What is drawn. An arrow marks what lies beyond the axis, a word a missing estimate.
    widest : int
        Columns that a name has at the most.
    legend : bool
        Whether the meaning of the marks stands below the axis.
    """
    values, starts = panel.values[:3], panel.values[3]
    kinds = np.array(panel.kinds)
    _rows(ax, names, widest)
    _horizontal(ax, panel)
    if panel.tolerated is not None:
        low, high = np.clip(panel.tolerated, *panel.ends)
        ax.axvspan(low, high, color=PALE, linewidth=0, zorder=0, label="tolerated")
    if panel.equality is not None:
        ax.axvline(panel.equality, color=GREY, linewidth=1, zorder=1)
    if panel.everyone is not None and np.isfinite(panel.everyone):
        ax.axvline(panel.everyone, color=GREY, linewidth=1, linestyle="--", zorder=1, label="everybody")
    diamond, circle = panel.meanings if panel.equality is not None else (panel.meanings[0], "")
    _intervals(ax, values, kinds == "significant", colour=ORANGE, marker="D", name=diamond)
    _intervals(ax, values, kinds == "other", colour=BLUE, marker="o", name=circle)
    _intervals(ax, values, kinds == "few", colour=BLUE, marker="o", name="few people", hollow=True)
    if np.isfinite(starts).any():
        edges = np.where(kinds == "significant", ORANGE, BLUE)
        shown = {"facecolors": ax.get_facecolor(), "edgecolors": edges, "s": 30, "zorder": 2.5}
        ax.scatter(starts, np.arange(len(starts)), **shown)
    _xlabel(ax, panel.axis)
    if legend:
        legend_below(ax)


def draw_null_histogram(ax: Any, histogram: NullHistogram, *, xlabel: str | None = None) -> None:
    """Draw the null distribution, the part of it that is at least as extreme as the data, and the data.

    Parameters
    ----------
    ax : matplotlib Axes
        What is drawn on.
    histogram : NullHistogram
        The histogram.
    xlabel : str, optional
        What is on the axis; by default the statistic and its unit.
    """
    draw.histogram(ax, **histogram.columns, seen=f"data: {histogram.observed_text}")
    plain_ticks(ax, ax.xaxis)
    _xlabel(ax, histogram.axis if xlabel is None else xlabel)
    ax.set_ylabel("probability")
    legend_below(ax)


def _rows(ax: Any, labels: Sequence[Any], widest: int) -> None:
    """Give each label a row, the first on top."""
    n = len(labels)
    names = [shorten(name, widest) for name in labels]
    ax.set_yticks(np.arange(n), names, fontsize=row_size(names))
    for text in ax.get_yticklabels():
        literal(text)
    ax.set_ylim(n - 0.4, -0.6)
    ax.tick_params(axis="y", length=0, pad=8)  # room for an arrow at the edge
    ax.spines["left"].set_visible(False)
    if n > 1:
        ax.hlines(
            np.arange(n), 0, 1, transform=ax.get_yaxis_transform(), color=GREY, alpha=0.2, linewidth=0.8, zorder=-1
        )


def _horizontal(ax: Any, panel: Panel) -> None:
    """Set the ends of the axis, and its ticks."""
    ax.set_xscale("log" if panel.log else "linear")
    ax.set_xlim(*panel.ends)
    if panel.log:
        plain_log(ax.xaxis)
    else:
        plain_ticks(ax, ax.xaxis, panel.factor)


def plain_ticks(ax: Any, axis: Any, factor: float = 1.0) -> None:
    """Put round numbers, times a power of ten, on an axis: few enough not to touch even on a narrow axis."""
    from matplotlib.ticker import MaxNLocator

    inches = (ax.bbox.width if axis is ax.xaxis else ax.bbox.height) / ax.figure.dpi
    axis.set_major_locator(MaxNLocator(int(np.clip(2 * inches, 3, 5)), steps=ROUND))
    axis.set_major_formatter(partial(_number, factor))


def _number(factor: float, value: float, position: int | None = None) -> str:
    """Write a tick, which needs no factor or offset beside the axis."""
    return f"{round(factor * value, 12):.10g}".replace("-", "\N{MINUS SIGN}")


def _intervals(
    ax: Any,
    values: Floats,
    which: NDArray[np.bool_],
    *,
    colour: str,
    marker: str,
    name: str,
    hollow: bool = False,
) -> None:
    if not which.any():
        return
    row = np.flatnonzero(which)
    value, low, high = (v[row] for v in values)
    left, right = ax.get_xlim()
    known = ~np.isnan(low) & ~np.isnan(high)
    ax.hlines(row[known], np.clip(low, left, right)[known], np.clip(high, left, right)[known], color=colour, zorder=2)
    fill = {"markerfacecolor": ax.get_facecolor()} if hollow else {}
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


def legend_below(ax: Any, columns: int = 3, *, also: Any = None) -> None:
    """Put the legend below the axes, where it does not hide rows or bars, with what `also` (other axes above) shows.

    It has at most so many columns, and fewer below narrow axes.
    """
    from matplotlib.transforms import ScaledTranslation

    handles, names = (
        [*above, *own]
        for above, own in zip(
            ([], []) if also is None else also.get_legend_handles_labels(), ax.get_legend_handles_labels(), strict=True
        )
    )
    if not handles:
        return
    dress(ax)
    columns = int(np.clip(ax.bbox.width / ax.figure.dpi // 1.9, 1, columns))
    lines = 1 + (ax.get_xlabel().count("\n") + 1 if ax.get_xlabel() else 0)
    down = ScaledTranslation(0, -(8 + 15 * lines) / 72, ax.figure.dpi_scale_trans)
    legend = ax.legend(
        handles,
        names,
        loc="upper center",
        bbox_to_anchor=(0.5, 0),
        bbox_transform=ax.transAxes + down,
        ncols=columns,
        labelcolor=ink_of(ax),
        borderaxespad=0,
        handlelength=1.6,
        columnspacing=1.2,
    )
    for text in legend.get_texts():
        literal(text)


def literal(text: Any) -> Any:
    """Let matplotlib draw a text literally: neither as mathematics nor as TeX."""
    text.set_parse_math(False)
    text.set_usetex(False)
    return text


def plain_log(axis: Any, factor: float = 1.0) -> None:
    """Put round numbers, times a factor, on a logarithmic axis that may span less than a power of ten."""
    from matplotlib.ticker import LogLocator, NullFormatter, NullLocator

    axis.set_major_locator(LogLocator(subs=log_subs(*sorted(axis.get_view_interval()))))
    axis.set_major_formatter(partial(_number, factor))
    axis.set_minor_locator(NullLocator())
    axis.set_minor_formatter(NullFormatter())
