"""The frames that a person sees: rates by group, comparisons, and what was left out."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from skfairtest.comparisons.family import p_of
from skfairtest.comparisons.rows import SMALL, Exclusion, GroupValues, Measured, Row
from skfairtest.readers import sort_levels
from skfairtest.tables import Sample

COMPARISON_COLUMNS = [
    "metric", "group", "other", "stratum", "n_group", "n_other", "value_group", "value_other", "disparity",
    "standard_error", "statistic", "p_value", "p_value_adjusted", "ci_low", "ci_high", "concern", "method",
]  # fmt: skip
EXCLUDED_COLUMNS = ["metric", "group", "other", "stratum", "reason", "n", "n_effective", "comparisons"]


def objects(values: Iterable[Any]) -> pd.Series:
    """Return a column that keeps labels as they are: tuples stay tuples, None stays None."""
    kept = list(values)
    column = np.empty(len(kept), dtype=object)
    column[:] = kept
    return pd.Series(column, dtype=object)


def comparisons_frame(rows: list[Row]) -> pd.DataFrame:
    """One row per comparison, in the contract's columns."""
    frame = pd.DataFrame(
        {
            "metric": objects(row.metric for row in rows),
            "group": objects(row.group for row in rows),
            "other": objects(row.other for row in rows),
            "stratum": objects(row.stratum for row in rows),
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
            "method": objects(row.method for row in rows),
        }
    )
    return frame[COMPARISON_COLUMNS]


def excluded_frame(excluded: list[Exclusion]) -> pd.DataFrame:
    """What was left out, with the reason and the counts; empty when nothing was."""
    frame = pd.DataFrame({name: objects(getattr(e, name) for e in excluded) for name in EXCLUDED_COLUMNS})
    return frame.astype({"n": int, "n_effective": int, "comparisons": int})


def by_group_frame(measured: Measured) -> pd.DataFrame | None:
    """Each metric in each group (and stratum), indexed like fairlearn's ``MetricFrame.by_group``; None if none has."""
    frames = {
        metric.name: _one_metric(measured.sample, measured.values[metric.name])
        for metric in measured.metrics
        if metric.name in measured.values
    }
    if len(measured.metrics) == 1:
        return next(iter(frames.values()), None)
    return pd.concat(frames, names=["metric"]) if frames else None


def values_frame(measured: Measured) -> pd.DataFrame:
    """Each metric in each stratum and group that has people, as a flat frame; without rows if no metric has values."""
    sample, places = measured.sample, []
    for metric in measured.metrics:
        if metric.name in measured.values:
            places += [(metric.name, s, g) for s, g in np.argwhere(sample.sizes > 0).tolist()]
    columns: dict[str, Any] = {"metric": objects(name for name, _, _ in places)}
    strata = sample.stratum_labels if sample.control_names else [None] * len(sample.strata)
    columns["stratum"] = objects(strata[s] for _, s, _ in places)
    columns["group"] = objects(sample.group_labels[g] for _, _, g in places)
    columns["n"] = [int(sample.sizes[s, g]) for _, s, g in places]
    fields = {
        "n_effective": "n_effective",
        "value": "value",
        "standard_error": "error",
        "ci_low": "low",
        "ci_high": "high",
    }
    for name, field in fields.items():
        columns[name] = [getattr(measured.values[metric], field)[s, g].item() for metric, s, g in places]
    columns["small"] = [effective < SMALL for effective in columns["n_effective"]]
    return pd.DataFrame(columns)


def _one_metric(sample: Sample, values: GroupValues) -> pd.DataFrame:
    place = {
        (*stratum, *group): (s, g) for s, stratum in enumerate(sample.strata) for g, group in enumerate(sample.groups)
    }
    keys, index = _index(sample)
    # A combination of features that nobody has is a row without people, as in fairlearn.
    n, d = (
        np.array([int(counts[place[key]]) if key in place else 0 for key in keys])
        for counts in (sample.sizes, values.n_effective)
    )
    value, error, low, high = (
        np.array([float(array[place[key]]) if key in place else np.nan for key in keys])
        for array in (values.value, values.error, values.low, values.high)
    )
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


def _index(table: Sample) -> tuple[list[tuple[Any, ...]], pd.Index]:
    names = [*table.control_names, *table.sensitive_names]
    n_control = len(table.control_names)
    levels = [sort_levels(dict.fromkeys(key[i] for key in table.strata)) for i in range(n_control)]
    levels += [sort_levels(dict.fromkeys(key[i] for key in table.groups)) for i in range(len(table.sensitive_names))]
    keys = list(product(*levels))
    if len(names) == 1:
        return keys, pd.Index([key[0] for key in keys], name=names[0], tupleize_cols=False)
    return keys, pd.MultiIndex.from_tuples(keys, names=names)


def null_distribution(measured: Measured, n_resamples: int) -> Any:
    """Return resampled statistics, a column for each comparison; NaN where a law was enumerated or drawing stopped."""
    drawn = [row.drawn if row.drawn is not None else row.joint for row in measured.rows]
    if not n_resamples or all(column is None for column in drawn):
        return None
    out = np.full((n_resamples, len(drawn)), np.nan)
    for place, column in enumerate(drawn):
        if column is not None:
            kept = column[:n_resamples]
            out[: len(kept), place] = kept
    return out
