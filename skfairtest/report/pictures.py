"""The drawings of an audit's report: disparities, values by group, and what chance alone would show."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from skfairtest._utils.text import label, pluralize, shorten
from skfairtest.report.cells import (
    axis_factor,
    by_p_value,
    comparison_pieces,
    disparity_axis,
    records,
    value_axis,
    value_factor,
    values_of,
)
from skfairtest.report.document import Figure
from skfairtest.report.null_histogram import LOWEST, NullHistogram
from skfairtest.report.plots import Bar, Bars, Forest, Mark, Panel, Rows, Tick
from skfairtest.report.record import AuditPart
from skfairtest.report.scales import Scale, joined
from skfairtest.report.sentences import Setup, metric_title

__all__ = [
    "MOST_GROUPS", "disparities_figure", "models_figure", "null_figure", "sequences_figure", "subgroups_figure",
    "values_figure",
]  # fmt: skip

#: Rows in a drawing of comparisons; in one of values, groups of one metric and rows of all. The tables have all.
MOST_COMPARISONS, MOST_GROUPS, MOST_ROWS = 30, 20, 40
#: Values by group are drawn side by side; so many ticks an axis has, and so many one of several in a row.
COLUMNS, TICKS, FEW_TICKS = 2, 5, 4
#: Columns that a name has at the most, in a drawing of comparisons and in one of values.
WIDEST, WIDEST_GROUP = 56, 40


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
    frames = [strongest[strongest["metric"] == metric] for metric in metrics]
    scales = [_scale(setup, strongest if shared else frame) for frame in frames]
    rows = tuple(
        Rows(
            tuple(joined(*comparison_pieces(setup, row), WIDEST) for row in records(frame)),
            (_disparities(setup, metric, frame, scale, labelled=not shared or metric == metrics[-1]),),
        )
        for metric, frame, scale in zip(metrics, frames, scales, strict=True)
    )
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


def _scale(setup: Setup, frame: pd.DataFrame) -> Scale:
    """Return the scale of disparities of one kind."""
    metric = frame["metric"].iloc[0]
    is_ratio = setup.is_ratio(metric)
    ends = [frame[name].to_numpy(dtype=float) for name in ("disparity", "ci_low", "ci_high")]
    also = (1.0 if is_ratio else 0.0, *(setup.margin_bounds or ()))
    return Scale.around(ends, also, log=is_ratio, factor=axis_factor(setup, metric))


def _disparities(setup: Setup, metric: str, frame: pd.DataFrame, scale: Scale, *, labelled: bool) -> Panel:
    """Return the panel of one metric; that of the last one says what is on an axis that all share."""
    ends = setup.margin_bounds
    return Panel(
        *_titles(metric),
        tuple(_mark(scale, row, "disparity", "significant" if row["concern"] else "other") for row in records(frame)),
        _placed(scale.ticks(TICKS)) if labelled else (),
        disparity_axis(setup, metric) if labelled else "",
        equality=round(scale.place(1.0 if scale.log else 0.0), 2),
        tolerated=(round(scale.place(ends[0]), 2), round(scale.place(ends[1]), 2)) if ends is not None else None,
    )


def _mark(scale: Scale, row: Mapping[str, Any], name: str, kind: str) -> Mark:
    """Return an estimate and its interval on a scale.

    Examples
    --------
    >>> _mark(
    ...     Scale(0, 1),
    ...     {"value": 0.5, "ci_low": 0.25, "ci_high": float("inf")},
    ...     "value",
    ...     "other",
    ... )
    Mark(kind='other', line=(25.0, 100.0), at=50.0, beyond=('right',))
    """
    at, *ends = places = [scale.place(float(row[column])) for column in (name, "ci_low", "ci_high")]
    if np.isnan(at):
        return Mark("undefined")
    known = not np.isnan(ends).any()
    first, last = np.clip(ends, 0, 100).tolist() if known else (0.0, 0.0)
    sides = {"left": any(place < -1e-9 for place in places), "right": any(place > 100 + 1e-9 for place in places)}
    return Mark(
        kind,
        (_short(first), _short(last)) if known else None,
        _short(at) if 0 <= at <= 100 else None,
        tuple(side for side, is_beyond in sides.items() if is_beyond),
    )


def _placed(ticks: Sequence[Tick]) -> tuple[Tick, ...]:
    """Return ticks with places as short as they can be written."""
    return tuple((_short(place), text) for place, text in ticks)


def _short(place: float) -> float:
    """Return a place in hundredths of a percent, finer than any screen, and alike on all machines."""
    return round(place, 2) + 0.0


def _titles(metric: str) -> tuple[str, str]:
    """Return what a metric is called, and its name in code where that is something else."""
    name, title = label(metric), metric_title(metric)
    return title, "" if title.lower() == name else name


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
    alike = _of_one_unit(setup, results)
    described = (
        f"A forest plot: {pluralize(len(alike), 'row')}, one for each subgroup reported, with its disparity and "
        "interval. The table holds the same numbers."
    )
    rows = _forest(setup, alike.assign(concern=True), lambda row: [row["subgroup"]])
    return Figure(
        Forest("Subgroups that differ", described, rows),
        "The subgroups reported, the strongest evidence first, each minus those it is compared with. Lines are "
        "intervals that hold for all subgroups tested; arrows mark intervals that extend beyond the plot. The grey "
        "line is equality.",
    )


def sequences_figure(setup: Setup, comparisons: pd.DataFrame) -> Figure:
    """Draw the confidence sequences of a stream's pairs as they are now.

    Parameters
    ----------
    setup : Setup
        How the test was set up.
    comparisons : DataFrame
        ``metric``, ``group``, ``other``, ``disparity``, ``ci_low``, ``ci_high`` and ``concern``.

    Returns
    -------
    Figure
        The forest plot, of the metrics that have the first one's unit.
    """
    alike = _of_one_unit(setup, comparisons)
    described = (
        f"A forest plot: {pluralize(len(alike), 'row')}, one for each pair of groups, with its disparity and "
        "confidence sequence. The table holds the same numbers."
    )
    rows = _forest(setup, alike, lambda row: [f"{label(row['group'])} minus {label(row['other'])}"])
    tolerated = ", the pale band what is tolerated" if setup.margin_bounds is not None else ""
    return Figure(
        Forest("Disparities so far", described, rows),
        "Mean differences within batches, with the confidence sequence as it is now. Orange diamonds are significant "
        f"disparities, blue circles are not. The grey line is equality{tolerated}.",
    )


def models_figure(
    setup: Setup, frame: pd.DataFrame, names: tuple[str, str], shares: Sequence[str], kind: str
) -> Figure:
    """Draw the disparities under two models and, with its interval, their difference.

    Parameters
    ----------
    setup : Setup
        How the test was set up.
    frame : DataFrame
        ``metric``, ``group``, ``other``, ``stratum``, ``value_a``, ``value_b``, ``difference``, ``ci_low``,
        ``ci_high`` and ``concern``, the strongest evidence first.
    names : (str, str)
        What models are called.
    shares : sequence of str
        Metrics whose values are shares.
    kind : {"change", "sizes"}
        Whether values are disparities or their sizes, of whose differences only the upper limit is drawn.

    Returns
    -------
    Figure
        The forest plot: three rows for each comparison.
    """
    shown = frame.head(MOST_COMPARISONS // 3)
    if kind == "sizes":
        shown = shown.assign(ci_low=-np.inf, concern=~shown["concern"])
    drawn = []
    for metric in dict.fromkeys(shown["metric"]):
        rows = shown[shown["metric"] == metric]
        factor = 100.0 if metric in shares else 1.0
        ends = [rows[name].to_numpy(dtype=float) for name in ("value_a", "value_b", "difference", "ci_low", "ci_high")]
        also = (0.0, *(setup.margin_bounds or ()))
        scale = Scale.around(ends, also, factor=factor)
        titles, marks = [], []
        for row in records(rows):
            first = [f"{label(row['group'])} minus {label(row['other'])}"]
            first += [label(row["stratum"])] if row["stratum"] else []
            for value, name, what in [("value_a", names[0], "few"), ("value_b", names[1], "other")]:
                titles.append(joined([*first, label(name)], [", "] * len(first), WIDEST))
                nothing = {"ci_low": np.nan, "ci_high": np.nan}
                marks.append(_mark(scale, {"value": row[value], **nothing}, "value", what))
            titles.append(joined([f"difference: {label(names[1])} minus {label(names[0])}"], [], WIDEST))
            marks.append(_mark(scale, row, "difference", "significant" if row["concern"] else "other"))
        unit = "percentage points" if metric in shares else "the metric's unit"
        axis = f"{'size of the disparity' if kind == 'sizes' else 'disparity'}, in {unit}"
        panel = Panel(
            *_titles(metric), tuple(marks), _placed(scale.ticks(TICKS)), axis, equality=round(scale.place(0.0), 2)
        )
        drawn.append(Rows(tuple(titles), (panel,)))
    total = len(frame)
    described = (
        f"A forest plot: three rows for each of {pluralize(len(shown), 'comparison')}, the disparity under either "
        "model and their difference with its interval. The table holds the same numbers."
    )
    some = "" if len(shown) == total else f" The {len(shown)} comparisons with the strongest evidence of {total:,}."
    found = "certified" if kind == "sizes" else "significant"
    return Figure(
        Forest("Disparities under both models", described, tuple(drawn)),
        f"Disparities under both models, and their difference.{some} Hollow circles are {label(names[0])}, full ones "
        f"{label(names[1])}; the line is the interval of the difference, and orange diamonds are {found} differences. "
        "The models' own disparities have no lines: whether two intervals overlap does not show whether they differ.",
    )


def _of_one_unit(setup: Setup, rows: pd.DataFrame) -> pd.DataFrame:
    """Return the first rows whose metric has the first one's unit."""
    share = setup.is_share(rows["metric"].iloc[0])
    return rows[[setup.is_share(metric) == share for metric in rows["metric"]]].head(MOST_COMPARISONS)


def _forest(setup: Setup, alike: pd.DataFrame, named: Callable[[Mapping[str, Any]], list[str]]) -> tuple[Rows, ...]:
    """Return rows on one scale, those of a metric together."""
    scale, metrics = _scale(setup, alike), list(dict.fromkeys(alike["metric"]))
    frames = [alike[alike["metric"] == metric] for metric in metrics]
    return tuple(
        Rows(
            tuple(joined(named(row), [], WIDEST) for row in records(frame)),
            (_disparities(setup, metric, frame, scale, labelled=metric == metrics[-1]),),
        )
        for metric, frame in zip(metrics, frames, strict=True)
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
    scale = Scale.around([[each[end] for each in found] for end in nothing], factor=value_factor(setup, metric))
    marks = (_mark(scale, each, "value", "few" if each.get("small", False) else "other") for each in found)
    return Panel(*_titles(metric), tuple(marks), _placed(scale.ticks(FEW_TICKS)), value_axis(setup, metric))


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


def _bar(scale: Scale, levels: Scale, left: float, width: float, mass: float, extreme: float) -> Bar:
    places = (scale.place(left), 100 * width / (scale.high - scale.low), levels.place(mass), levels.place(extreme))
    first, across, up, hatched = (round(place, 2) for place in places)
    return Bar(first, max(across, 0.05), up, hatched)
