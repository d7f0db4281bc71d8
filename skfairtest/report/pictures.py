"""Drawings of estimates with their intervals, from frames: rows on one scale, those of a metric together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from skfairtest._utils.text import label, pluralize
from skfairtest.report.cells import axis_factor, disparity_axis, records
from skfairtest.report.document import Figure
from skfairtest.report.plots import Forest, Panel, Rows
from skfairtest.report.scales import Scale, joined
from skfairtest.report.sentences import Setup, metric_title

#: Rows in a drawing of comparisons; the tables have all. Ticks of an axis.
MOST_COMPARISONS, TICKS = 30, 5


def forest_figure(
    setup: Setup, comparisons: pd.DataFrame, named: Callable[[Mapping[str, Any]], str], title: str,
    each: str, caption: str,
) -> list[Figure]:  # fmt: skip
    """Draw comparisons in the order given.

    Parameters
    ----------
    setup : Setup
        How the test was set up.
    comparisons : DataFrame
        ``metric``, ``disparity``, ``ci_low``, ``ci_high`` and ``concern``.
    named : callable
        What a row is called.
    title, caption : str
        What it is called, and what stands below it.
    each : str
        What has a row, for somebody who does not see it.

    Returns
    -------
    list of Figure
        The forest plot, of the metrics that have the first one's unit; nothing of no comparisons.
    """
    if not len(comparisons):
        return []
    share = setup.is_share(comparisons["metric"].iloc[0])
    alike = comparisons[[setup.is_share(metric) == share for metric in comparisons["metric"]]].head(MOST_COMPARISONS)
    rows = forest_rows(setup, alike, lambda row: joined([named(row)], []), list(dict.fromkeys(alike["metric"])))
    described = f"A forest plot: {pluralize(len(alike), 'row')}, one for each {each}. The table holds the same numbers."
    return [Figure(Forest(title, described, rows), caption)]


def forest_rows(
    setup: Setup, frame: pd.DataFrame, named: Callable[[Mapping[str, Any]], str], metrics: Sequence[str], *,
    shared: bool = True, axis: Callable[[Setup, str], str] = disparity_axis,
    factor: Callable[[Setup, str], float] = axis_factor,
) -> tuple[Rows, ...]:  # fmt: skip
    """Return a panel for each metric; the last one says what is on an axis that all share."""
    drawn, columns = [], ["disparity", "ci_low", "ci_high", *(["start"] if "start" in frame else [])]
    for metric in metrics:
        own, log = frame[frame["metric"] == metric], setup.is_ratio(metric)
        labelled, null = not shared or metric == metrics[-1], 1.0 if log else 0.0
        values = [(frame if shared else own)[name].to_numpy(dtype=float) for name in columns]
        also = (null, *(setup.margin_bounds or ()))
        panel = Panel.of(
            [own[name] for name in columns],
            own["kind"] if "kind" in own else np.where(own["concern"], "significant", "other"),
            scale=Scale.around(values, also, log=log, factor=factor(setup, metric)),
            **titles(metric),
            axis=axis(setup, metric) if labelled else "",
            most=TICKS if labelled else 0,
            equality=null,
            tolerated=setup.margin_bounds,
        )
        drawn.append(Rows(tuple(map(named, records(own))), (panel,)))
    return tuple(drawn)


def titles(metric: str) -> dict[str, Any]:
    """The title of a metric, and its name in code where that is something else."""
    name, title = label(metric), metric_title(metric)
    return {"title": title, "name": "" if title.lower() == name else name}
