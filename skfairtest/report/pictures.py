"""The drawings of an audit's report: disparities, values by group, and what chance alone would show.

Everything has its place in inches beforehand: no layout has to be found, which would take longer than all else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from skfairtest._utils.text import display_width, label, pluralize, shorten
from skfairtest.report.cells import by_p_value, comparison_pieces, disparity_axis, records, value_axis, values_of
from skfairtest.report.document import Figure
from skfairtest.report.drawings import (
    draw_disparities,
    draw_groups,
    draw_null_histogram,
    joined,
    row_size,
)
from skfairtest.report.null_histogram import NullHistogram
from skfairtest.report.record import AuditPart
from skfairtest.report.sentences import Setup
from skfairtest.report.svg import WIDEST, drawn

__all__ = ["MOST_GROUPS", "disparities_figure", "null_figure", "subgroups_figure", "values_figure"]

#: Rows in a drawing of comparisons; in one of values, groups of one metric and rows of all. The tables have all.
MOST_COMPARISONS, MOST_GROUPS, MOST_ROWS = 30, 20, 40
#: Values by group are drawn side by side.
COLUMNS = 2
#: Inches: the width of a drawing, a row, the name above an axis, numbers and words below it, a letter, what separates.
WIDTH, ROW, HEAD, TICKS, LETTER, GAP = 6.4, 0.26, 0.3, 0.5, 0.088, 0.3


def disparities_figure(part: AuditPart) -> Figure | None:
    """Draw the disparities with the strongest evidence, those of one metric together; None if there are none.

    Parameters
    ----------
    part : AuditPart
        The grouping.

    Returns
    -------
    Figure or None
        The forest plot.
    """
    setup = part.setup
    drawable = part.comparisons[part.comparisons["group"].notna() & part.comparisons["disparity"].notna()]
    ordered = by_p_value(part.setup, drawable)
    strongest = ordered.head(MOST_COMPARISONS)
    metrics = [metric for metric in dict.fromkeys(drawable["metric"]) if (strongest["metric"] == metric).any()]
    if not metrics:
        return None
    panels = [strongest[strongest["metric"] == metric] for metric in metrics]
    names = [joined(*comparison_pieces(setup, row), WIDEST) for panel in panels for row in records(panel)]
    shared = _share_a_scale(setup, metrics, strongest)
    left, size = _margin(names), row_size(names)
    below = [0.0 if shared and place < len(panels) - 1 else TICKS for place in range(len(panels))]
    said = [disparity_axis(setup, metric) if below[place] else "" for place, metric in enumerate(metrics)]
    heights = [ROW * (len(panel) + 0.2) for panel in panels]
    total_height = sum(heights) + sum(below) + HEAD * len(panels)

    def paint(figure: Any, stands: list[str]) -> None:
        titles, rows = stands[: len(metrics)], stands[len(metrics) :]
        axes, top = [], total_height
        for place, (metric, panel) in enumerate(zip(metrics, panels, strict=True)):
            top -= HEAD + heights[place]
            ax = _axes(figure, left, top, WIDTH - left - GAP, heights[place])
            top -= below[place]
            own, rows = rows[: len(panel)], rows[len(panel) :]
            ratio = setup.disparity_of(metric) == "ratio"
            columns = (panel[name].to_numpy() for name in ("disparity", "ci_low", "ci_high", "concern"))
            draw_disparities(
                ax, own, *columns, null=1.0 if ratio else 0.0, margin_bounds=setup.margin_bounds, log=ratio,
                xlabel=said[place], size=size, legend=False,
            )  # fmt: skip
            ax.tick_params(labelbottom=bool(below[place]))
            _head(ax, titles[place], wide=True)
            axes.append(ax)
        if shared:
            limits = np.array([ax.get_xlim() for ax in axes])
            for ax in axes:
                ax.set_xlim(limits[:, 0].min(), limits[:, 1].max())

    shown, total, found = len(strongest), len(ordered), int(ordered["concern"].sum())
    what = f"Disparities by {label(part.feature)}"
    tolerated = ", the pale band what is tolerated" if setup.margin_bounds is not None else ""
    draw = partial(
        drawn,
        paint,
        [*(_title(metric, WIDTH - left) for metric in metrics), *names],
        inches=(WIDTH, total_height),
        title=what,
        description=f"A forest plot: {pluralize(shown, 'row')}, one for each comparison, with its disparity and "
        f"interval. {found:,} of {pluralize(total, 'comparison')} {'is' if found == 1 else 'are'} significant. "
        "The tables of all comparisons hold the same numbers.",
    )
    return Figure(
        draw,
        f"{what}. {_as_many(shown, total)} Orange diamonds are significant disparities, blue circles are not. "
        f"Lines are intervals; arrows mark intervals that extend beyond the plot. The grey line "
        f"is equality{tolerated}.",
    )


def subgroups_figure(setup: Setup, results: pd.DataFrame) -> Figure:
    """Draw the subgroups that a scan reports, the strongest evidence first.

    Parameters
    ----------
    setup : Setup
        How the scan was set up.
    results : DataFrame
        Its results: ``metric``, ``subgroup``, ``compared_with``, ``disparity``, ``ci_low`` and ``ci_high``.

    Returns
    -------
    Figure
        The forest plot, of the metrics that have the first one's unit.
    """
    share = setup.is_share(results["metric"].iloc[0])
    alike = results[[setup.is_share(metric) == share for metric in results["metric"]]].head(MOST_COMPARISONS)
    several = alike["metric"].nunique() > 1
    rows = records(alike)
    names = [joined([label(row["metric"])] * several + [row["subgroup"]], [": "] * several, WIDEST) for row in rows]
    left, height = _margin(names), ROW * (len(rows) + 0.2)

    def paint(figure: Any, stands: list[str]) -> None:
        ax = _axes(figure, left, TICKS, WIDTH - left - GAP, height)
        value, low, high = (alike[name].to_numpy() for name in ("disparity", "ci_low", "ci_high"))
        said = disparity_axis(setup, alike["metric"].iloc[0], alone=True)
        draw_disparities(
            ax, stands, value, low, high, np.ones(len(rows), dtype=bool), null=0.0, xlabel=said, size=row_size(names),
            legend=False,
        )  # fmt: skip
        ax.xaxis.label.set(x=1, horizontalalignment="right", fontsize="small")

    draw = partial(
        drawn, paint, names, inches=(WIDTH, height + TICKS + GAP / 2), title="Subgroups that differ",
        description=f"A forest plot: {pluralize(len(rows), 'row')}, one for each subgroup reported, with its "
        "disparity and interval. The table holds the same numbers.",
    )  # fmt: skip
    return Figure(
        draw,
        "The subgroups reported, the strongest evidence first, each minus those it is compared with. Lines are "
        "intervals that hold for all subgroups tested; arrows mark intervals that extend beyond the plot. The grey "
        "line is equality.",
    )


def _as_many(shown: int, total: int) -> str:
    if shown == total:
        return f"All {total:,} comparisons." if total > 1 else "One comparison."
    return f"The {shown:,} comparisons with the smallest p-values of {total:,}; the tables have all of them."


def _share_a_scale(setup: Setup, metrics: Sequence[str], rows: pd.DataFrame) -> bool:
    """Whether all are shares, so that eyes may compare them; what goes beyond an axis is drawn at its end."""
    ends = rows[["disparity", "ci_low", "ci_high"]].to_numpy()
    kinds = {setup.disparity_of(metric) for metric in metrics}
    finite = bool(np.isfinite(ends).all()) and (kinds != {"ratio"} or bool((ends > 0).all()))
    return finite and len(kinds) == 1 and all(setup.is_share(metric) for metric in metrics)


def values_figure(part: AuditPart) -> Figure | None:
    """Draw every metric by group, side by side; None if there is no value.

    Parameters
    ----------
    part : AuditPart
        The grouping.

    Returns
    -------
    Figure or None
        The plots.
    """
    metrics = list(dict.fromkeys(part.by_group["metric"]))
    rows = list(values_of(part.by_group))
    if not metrics:
        return None
    sizes = [max(value["n"] for value in values.values()) for _, _, values in rows]
    columns, lines = min(COLUMNS, len(metrics)), -(-len(metrics) // COLUMNS)
    most = min(MOST_GROUPS, max(MOST_ROWS // lines, 6))
    largest = sorted(range(len(rows)), key=lambda place: -sizes[place])[:most]
    shown = [rows[place] for place in sorted(largest)]
    names = [
        shorten(label(group) if stratum is None else f"{label(group)}, {label(stratum)}", 30)
        for group, stratum, _ in shown
    ]
    left, height, size = _margin(names), ROW * (len(shown) + 0.2), row_size(names)
    width = (WIDTH - left - GAP * columns) / columns
    line_height = height + HEAD + TICKS

    def paint(figure: Any, stands: list[str]) -> None:
        titles, own = stands[: len(metrics)], stands[len(metrics) :]
        for place, metric in enumerate(metrics):
            line, column = divmod(place, columns)
            bottom = line_height * (lines - line) - HEAD - height
            ax = _axes(figure, left + column * (width + GAP), bottom, width, height)
            found = [values.get(metric, {}) for _, _, values in shown]
            value, low, high = ([f.get(name, np.nan) for f in found] for name in ("value", "ci_low", "ci_high"))
            small = [bool(f.get("small", False)) for f in found]
            draw_groups(
                ax, own, value, low, high, small, xlabel=value_axis(part.setup, metric), size=size, legend=False
            )
            ax.tick_params(labelleft=not column)
            _head(ax, titles[place], wide=False)

    what = f"Values by {label(part.feature)}"
    some = f" The {len(shown)} largest groups of {len(rows):,}; the table has all." if len(shown) < len(rows) else ""
    few = any(value["small"] for _, _, values in shown for value in values.values())
    draw = partial(
        drawn,
        paint,
        [*(_title(metric, width + GAP) for metric in metrics), *names],
        inches=(WIDTH, line_height * lines),
        title=what,
        description=f"{pluralize(len(metrics), 'plot')}, one for each metric, of {pluralize(len(shown), 'group')} with "
        "intervals. The table of values holds the same numbers.",
    )
    hollow = " Hollow circles rest on fewer than 10 people." if few else ""
    return Figure(draw, f"{what}, with intervals. Each metric has a scale of its own.{some}{hollow}")


def null_figure(histogram: NullHistogram) -> Figure:
    """Draw the null distribution of the comparison with the strongest evidence."""
    said = replace(histogram, statistic=shorten(histogram.statistic, 60))
    draw = partial(
        drawn,
        lambda figure, _: draw_null_histogram(_axes(figure, 0.75, 0.8, WIDTH - 0.75 - GAP, 2.2), said),
        [],
        inches=(WIDTH, 3.1),
        title="What chance alone would show",
        description=f"Bars: how probable each {said.statistic} is if the null hypothesis holds. A dashed line marks "
        "the data; what is at least as extreme is hatched.",
    )
    return Figure(draw, label(histogram.note), told=True)


def _margin(names: Sequence[str]) -> float:
    letter = LETTER * (0.8 if row_size(names) == "small" else 1)
    return GAP + letter * max(display_width(name) for name in names)


def _title(metric: str, room: float) -> str:
    """Name a metric in bold letters on an axis that is so wide."""
    return shorten(metric, max(8, int(room / (1.15 * LETTER))))


def _axes(figure: Any, left: float, bottom: float, width: float, height: float) -> Any:
    """Return new axes at a place given in inches."""
    across, up = figure.get_size_inches()
    return figure.add_axes((left / across, bottom / up, width / across, height / up))


def _head(ax: Any, title: str, *, wide: bool) -> None:
    """Name axes after their metric, and place what is said below them, which may be `wide`."""
    ax.set_title(title, loc="left", fontsize=10, fontweight="bold")
    label_below = ax.xaxis.label
    label_below.set_fontsize("small")
    if wide:
        # From the right end it may run on below the names of rows, and never beyond the drawing.
        label_below.set(x=1, horizontalalignment="right")
