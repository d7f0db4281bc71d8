"""The drawings of an audit's report: disparities, values by group, and what chance alone would show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from skfairtest._utils.text import label, pluralize, shorten
from skfairtest.audit.record import AuditPart
from skfairtest.report.cells import by_p_value, comparison_pieces, records, value_axis, value_factor, values_of
from skfairtest.report.document import Figure
from skfairtest.report.null_histogram import LOWEST, NullHistogram
from skfairtest.report.pictures import MOST_COMPARISONS, TICKS, forest_rows, titles
from skfairtest.report.plots import Bar, Bars, Forest, Panel, Rows, Tick
from skfairtest.report.scales import Scale, joined
from skfairtest.report.sentences import Setup

#: In a drawing of values, groups of one metric and rows of all. The tables have all.
MOST_GROUPS, MOST_ROWS = 20, 40
#: Values by group are drawn side by side; so many ticks an axis of several in a row has.
COLUMNS, FEW_TICKS = 2, 4
#: Columns that a name has at the most in a drawing of values.
WIDEST_GROUP = 40


def disparities_figure(part: AuditPart, most: int = MOST_COMPARISONS) -> Figure | None:
    """Draw the disparities with the strongest evidence, those of one metric together; None if there are none.

    Parameters
    ----------
    part : AuditPart
        The grouping, its pairs oriented.
    most : int
        How many comparisons are drawn.

    Returns
    -------
    Figure or None
        The forest plot.
    """
    setup = part.setup
    drawable = part.comparisons[part.comparisons["group"].notna() & part.comparisons["disparity"].notna()]
    ordered = by_p_value(setup, drawable)
    strongest = ordered.head(most)
    metrics = [metric for metric in dict.fromkeys(drawable["metric"]) if (strongest["metric"] == metric).any()]
    if not metrics:
        return None
    shared = _share_a_scale(setup, metrics, strongest)
    rows = forest_rows(setup, strongest, lambda row: joined(*comparison_pieces(setup, row)), metrics, shared=shared)
    shown, total, found = len(strongest), len(ordered), int(ordered["concern"].sum())
    what = f"Disparities by {label(part.feature)}"
    tolerated = ", the pale band what is tolerated" if setup.margin_bounds is not None else ""
    are = f"{'is' if found == 1 else 'are'} significant"
    described = (
        f"A forest plot: {pluralize(shown, 'row')}, one for each comparison, with its disparity and interval. "
        f"{found:,} of {pluralize(total, 'comparison')} {are}. The tables of all comparisons hold the same numbers."
    )
    return Figure(
        Forest(what, described, rows),
        f"{what}. {_as_many(shown, total)} Orange diamonds are significant disparities, blue circles are not. "
        f"Lines are intervals; arrows mark intervals that extend beyond the plot. The grey line "
        f"is equality{tolerated}.",
    )


def _as_many(shown: int, total: int) -> str:
    order = "Smaller p-values come first, of equal ones larger disparities."
    if shown == total:
        return f"All {total:,} comparisons. {order}" if total > 1 else "One comparison."
    return f"The {shown:,} comparisons with the smallest p-values of {total:,}; the tables have all of them. {order}"


def _share_a_scale(setup: Setup, metrics: Sequence[str], rows: pd.DataFrame) -> bool:
    """Whether all are shares, so that eyes may compare them; what goes beyond an axis is drawn at its end."""
    ends = rows[["disparity", "ci_low", "ci_high"]].to_numpy()
    kinds = {setup.disparity_of(metric) for metric in metrics}
    finite = bool(np.isfinite(ends).all()) and ("difference" in kinds or bool((ends > 0).all()))
    return finite and len(kinds) == 1 and all(setup.is_share(metric) for metric in metrics)


def values_figure(part: AuditPart) -> Figure | None:
    """Draw every metric by group, side by side; None if there is no value.

    The largest groups are drawn, and all that a significant comparison names.

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
    lines = [metrics[first : first + COLUMNS] for first in range(0, len(metrics), COLUMNS)]
    sizes = [max(value["n"] for value in values.values()) for _, _, values in rows]
    most = min(MOST_GROUPS, max(MOST_ROWS // len(lines), 6))
    named = _named(part.comparisons)
    largest = set(sorted(range(len(rows)), key=lambda place: -sizes[place])[:most])
    shown = [row for place, row in enumerate(rows) if place in largest or row[:2] in named or (row[0], None) in named]
    names = tuple(
        shorten(label(group) if stratum is None else f"{label(group)}, {label(stratum)}", WIDEST_GROUP)
        for group, stratum, _ in shown
    )
    drawn = tuple(
        Rows(names, tuple(_values(part.setup, metric, [values for _, _, values in shown]) for metric in line))
        for line in lines
    )
    what = f"Values by {label(part.feature)}"
    others = " and those that significant comparisons name" if len(shown) > len(largest) else ""
    some = f" The {len(largest)} largest groups of {len(rows):,}{others}; the table has all."
    few = any(value["small"] for _, _, values in shown for value in values.values())
    described = (
        f"{pluralize(len(metrics), 'plot')}, one for each metric, of {pluralize(len(shown), 'group')} with intervals. "
        "The table of values holds the same numbers."
    )
    hollow = " Hollow circles rest on fewer than 10 people." if few else ""
    return Figure(
        Forest(what, described, drawn),
        f"{what}, with intervals. Each metric has a scale of its own.{some if len(shown) < len(rows) else ''}{hollow}",
    )


def _named(comparisons: pd.DataFrame) -> set[tuple[Any, Any]]:
    """Return the groups that significant comparisons name, each with its stratum, or None for all strata."""
    found = comparisons[comparisons["concern"]]
    return {(row[side], row["stratum"]) for row in records(found) for side in ("group", "other")}


def _values(setup: Setup, metric: str, rows: Sequence[Mapping[str, Any]]) -> Panel:
    """Return the panel of one metric."""
    nothing = dict.fromkeys(("value", "ci_low", "ci_high"), np.nan)
    found = [values.get(metric, nothing) for values in rows]
    kinds = ["few" if each.get("small", False) else "other" for each in found]
    columns, axis = [[each[end] for each in found] for end in nothing], value_axis(setup, metric)
    return Panel.of(columns, kinds, factor=value_factor(setup, metric), axis=axis, most=FEW_TICKS, **titles(metric))


def null_figure(histogram: NullHistogram) -> Figure:
    """Draw the null distribution of the comparison with the strongest evidence."""
    left, width = histogram.bars
    highest, scale = max(histogram.mass, default=0.0) or 1.0, histogram.scale
    levels = Scale(0.0, 1.05 * highest)
    drawn = Bars(
        "What chance alone would show",
        f"Bars: how probable each {shorten(histogram.statistic, 60)} is if the null hypothesis holds. A dashed line "
        "marks the data; what is at least as extreme is hatched.",
        tuple(
            _bar(scale, levels, *bar)
            for bar in zip(left, width, histogram.mass, histogram.extreme, strict=True)
            if bar[2] > LOWEST * highest
        ),
        round(scale.place(histogram.observed), 2) if np.isfinite(histogram.observed) else None,
        _placed(scale.ticks(TICKS)),
        _placed(levels.ticks(FEW_TICKS)),
        shorten(histogram.axis, 60),
    )
    extreme = " Hatched: at least as extreme." if any(bar.extreme for bar in drawn.bars) else ""
    seen = f" Dashed: the data, {histogram.observed_text}." if np.isfinite(histogram.observed) else ""
    return Figure(drawn, f"{label(histogram.note)}{extreme}{seen}", told=True)


def _placed(ticks: Sequence[Tick]) -> tuple[Tick, ...]:
    return tuple((round(place, 2) + 0.0, text) for place, text in ticks)


def _bar(scale: Scale, levels: Scale, left: float, width: float, mass: float, extreme: float) -> Bar:
    places = (scale.place(left), 100 * width / (scale.high - scale.low), levels.place(mass), levels.place(extreme))
    first, across, up, hatched = (round(place, 2) for place in places)
    return Bar(first, max(across, 0.05), up, hatched)
