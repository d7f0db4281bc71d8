"""The frames that a person sees: rates by group, comparisons, and what was left out."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from skfairtest.group._judge import p_of
from skfairtest.group._rows import SMALL, Exclusion, Measured, Row
from skfairtest.inference.intervals import wilson
from skfairtest.inference.rates import quantiles
from skfairtest.metrics import Rate
from skfairtest.readers import sort_levels
from skfairtest.tables import CountTable

COMPARISON_COLUMNS = [
    "metric", "group", "other", "stratum", "n_group", "n_other", "value_group", "value_other", "disparity",
    "standard_error", "statistic", "p_value", "p_value_adjusted", "ci_low", "ci_high", "concern", "method",
]  # fmt: skip
EXCLUDED_COLUMNS = ["metric", "group", "other", "stratum", "reason", "n", "n_effective", "comparisons"]


def _objects(values: Iterable[Any]) -> pd.Series:
    """Return a column that keeps labels as they are: tuples stay tuples, None stays None."""
    kept = list(values)
    column = np.empty(len(kept), dtype=object)
    column[:] = kept
    return pd.Series(column, dtype=object)


def comparisons_frame(rows: list[Row]) -> pd.DataFrame:
    """One row per comparison, in the contract's columns."""
    frame = pd.DataFrame(
        {
            "metric": _objects(row.metric for row in rows),
            "group": _objects(row.group for row in rows),
            "other": _objects(row.other for row in rows),
            "stratum": _objects(row.stratum for row in rows),
            "n_group": [row.n_group for row in rows],
            "n_other": [row.n_other for row in rows],
            "value_group": [row.value_group for row in rows],
            "value_other": [row.value_other for row in rows],
            "disparity": [row.disparity for row in rows],
            "standard_error": [row.standard_error for row in rows],
            "statistic": [row.statistic for row in rows],
            "p_value": [p_of(row.log_p) for row in rows],
            "p_value_adjusted": [p_of(row.log_p_adjusted) for row in rows],
            "ci_low": [row.interval[0] for row in rows],
            "ci_high": [row.interval[1] for row in rows],
            "concern": [row.concern for row in rows],
            "method": _objects(row.method for row in rows),
        }
    )
    return frame[COMPARISON_COLUMNS]


def excluded_frame(excluded: list[Exclusion]) -> pd.DataFrame:
    """What was left out, with the reason and the counts; empty when nothing was."""
    frame = pd.DataFrame({name: _objects(getattr(e, name) for e in excluded) for name in EXCLUDED_COLUMNS})
    return frame.astype({"n": int, "n_effective": int, "comparisons": int})


def by_group_frame(measured: Measured, confidence_level: float) -> pd.DataFrame:
    """Each rate in each group (and stratum), indexed like fairlearn's ``MetricFrame.by_group``."""
    frames = {
        rate.name: _one_rate(
            measured.table, rate, measured.events[rate.name], measured.denominators[rate.name], confidence_level
        )
        for rate in measured.rates
    }
    if len(frames) == 1:
        return next(iter(frames.values()))
    return pd.concat(frames, names=["metric"])


def _one_rate(
    table: CountTable, rate: Rate, events: np.ndarray, denominators: np.ndarray, confidence_level: float
) -> pd.DataFrame:
    sizes = table.counts.sum(axis=2)
    place = {
        (*stratum, *group): (s, g) for s, stratum in enumerate(table.strata) for g, group in enumerate(table.groups)
    }
    keys, index = _index(table)
    # A combination of features that nobody has is a row without people, as in fairlearn.
    n, x, d = (
        np.array([int(counts[place[key]]) if key in place else 0 for key in keys])
        for counts in (sizes, events, denominators)
    )
    z, _ = quantiles("two-sided", 1 - confidence_level)
    low, high = wilson(x, d, z)
    with np.errstate(invalid="ignore", divide="ignore"):
        value = x / d
        error = np.sqrt(value * (1 - value) / d)
    if rate.value is not None and rate.slope is not None:
        error = error * rate.slope(value)
        value, low, high = rate.value(value), rate.value(low), rate.value(high)
    return pd.DataFrame(
        {
            "n": n,
            "n_effective": d,
            "value": value,
            "standard_error": error,
            "ci_low": low,
            "ci_high": high,
            "small": d < SMALL,
        },
        index=index,
    )


def _index(table: CountTable) -> tuple[list[tuple[Any, ...]], pd.Index]:
    names = [*table.control_names, *table.sensitive_names]
    n_control = len(table.control_names)
    levels = [sort_levels(dict.fromkeys(key[i] for key in table.strata)) for i in range(n_control)]
    levels += [sort_levels(dict.fromkeys(key[i] for key in table.groups)) for i in range(len(table.sensitive_names))]
    keys = list(product(*levels))
    if len(names) == 1:
        return keys, pd.Index([key[0] for key in keys], name=names[0])
    return keys, pd.MultiIndex.from_tuples(keys, names=names)
