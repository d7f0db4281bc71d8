"""The frames that a person sees: values by group, comparisons, and what was left out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from skfairtest._utils.text import label
from skfairtest.comparisons.contrasts import SMALL
from skfairtest.comparisons.core import RESAMPLED, Comparison, Exclusion, Finding, GroupValues, Measured, Result
from skfairtest.comparisons.family import p_of
from skfairtest.comparisons.unknown import UnknownNull
from skfairtest.inference.multiplicity import holm
from skfairtest.inference.standardized import standardized_difference, standardized_limits
from skfairtest.readers import sort_levels
from skfairtest.tables import Sample

#: What matters stands at both ends, which pandas shows in a narrow terminal.
COMPARISON_COLUMNS = [
    "metric", "group", "other", "disparity", "ci_low", "ci_high", "stratum", "n_group", "n_other", "value_group",
    "value_other", "standard_error", "statistic", "method", "p_value", "p_value_adjusted", "concern",
]  # fmt: skip
HOMOGENEITY_COLUMNS = [
    "metric", "group", "other", "n_strata", "statistic", "df", "p_value", "p_value_adjusted", "common", "stratum",
    "distance", "method",
]  # fmt: skip
BOUNDS_COLUMNS = [
    "metric", "group", "other", "n_unknown", "n_unknown_event", "disparity_low", "disparity_high", "p_value_low",
    "p_value_high", "attained",
]  # fmt: skip
STANDARDIZED_COLUMNS = [
    "metric", "group", "other", "stratum", "standardized_difference", "standard_error", "ci_low", "ci_high", "p_value",
    "p_value_adjusted",
]  # fmt: skip
EXCLUDED_COLUMNS = [field.name for field in fields(Exclusion)]
VALUE_COLUMNS = [field.name for field in fields(GroupValues)]
#: Columns of labels.
LABELS = frozenset({"metric", "group", "other", "stratum", "reason", "method", "feature"})


def frame_of(columns: Mapping[str, Any]) -> pd.DataFrame:
    """Return a frame that keeps labels as they are: tuples stay tuples, None stays None."""
    # Columns that share one index need not be aligned.
    index = pd.RangeIndex(len(next(iter(columns.values()))))
    arrays = {name: _objects(values, index) if name in LABELS else values for name, values in columns.items()}
    return pd.DataFrame(arrays, index=index)


def _objects(values: Sequence[Any], index: pd.Index) -> pd.Series:
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return pd.Series(column, index=index, dtype=object)


def comparisons_frame(
    findings: Sequence[Finding], columns: Mapping[str, str] | Sequence[str] = COMPARISON_COLUMNS
) -> pd.DataFrame:
    """One row per comparison; `columns` are those of the contract, or say which of them others are."""
    named = columns if isinstance(columns, Mapping) else dict(zip(columns, columns, strict=True))
    rows = [_row(finding) for finding in findings]
    return frame_of({name: [row[source] for row in rows] for name, source in named.items()})


def _row(finding: Finding) -> dict[str, Any]:
    estimate, evidence = finding.estimate, finding.evidence
    return vars(estimate) | {
        "standard_error": evidence.standard_error,
        "statistic": evidence.statistic,
        "p_value": p_of(evidence.log_p),
        "p_value_adjusted": p_of(finding.log_p_adjusted),
        "ci_low": finding.interval[0],
        "ci_high": finding.interval[1],
        "concern": finding.concern,
        "method": evidence.method,
    }


def homogeneity_frame(findings: Iterable[Finding]) -> pd.DataFrame:
    """One row per comparison over several strata: is the disparity the same in all of them."""
    pooled = [one for one in findings if one.estimate.is_pooled and len(one.estimate.strata) > 1]
    tested = [(one.estimate, found) for one in pooled if (found := one.null.homogeneity()) is not None]
    # Where too few strata say anything the hypothesis stays in the family, and is no evidence.
    p_values = np.array([found.p_value if found.df else 1.0 for _, found in tested])
    with np.errstate(divide="ignore"):
        adjusted = np.exp(holm(np.log(p_values)))
    columns: dict[str, list[Any]] = {name: [] for name in HOMOGENEITY_COLUMNS}
    for (estimate, found), p in zip(tested, adjusted, strict=True):
        if not found.df:
            continue
        farthest = int(np.nanargmax(np.abs(found.distances)))
        row = (
            estimate.metric, estimate.group, estimate.other, len(estimate.strata), found.statistic, found.df,
            found.p_value, float(p), found.common, estimate.strata[farthest], float(found.distances[farthest]),
            found.method,
        )  # fmt: skip
        for name, value in zip(HOMOGENEITY_COLUMNS, row, strict=True):
            columns[name].append(value)
    return frame_of(columns)


def standardized_frame(findings: Iterable[Finding]) -> pd.DataFrame:
    """One row per comparison of two means within one stratum: their difference in standard deviations."""
    rows = []
    for one in findings:
        moments = one.null.standardized()
        if moments is not None and not np.isnan((found := standardized_difference(moments))[0]):
            estimate, p_values = one.estimate, (p_of(one.evidence.log_p), p_of(one.log_p_adjusted))
            labels = (estimate.metric, estimate.group, estimate.other, estimate.stratum)
            rows.append((*labels, *found, *standardized_limits(moments, one.critical), *p_values))
    return frame_of({name: [row[place] for row in rows] for place, name in enumerate(STANDARDIZED_COLUMNS)})


def bounds_frame(findings: Iterable[Finding]) -> pd.DataFrame:
    """One row per comparison that has bounds over all groups that people may belong to."""
    found = [(one.estimate, one.null) for one in findings if isinstance(one.null, UnknownNull)]
    rows = [
        (
            estimate.metric, estimate.group, estimate.other, null.unknown.events.both[1] + null.unknown.others.both[1],
            null.unknown.events.both[1], *null.disparities(), p_of(null.found.low), p_of(null.found.high),
            null.found.attained,
        )
        for estimate, null in found
    ]  # fmt: skip
    return frame_of({name: [row[place] for row in rows] for place, name in enumerate(BOUNDS_COLUMNS)})


def written_labels(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a copy in which labels of several features are one text each, so that any file can hold them."""
    places = [name for name in ("group", "other", "stratum") if name in frame]
    return frame.assign(**{name: [label(value) for value in frame[name]] for name in places})


def excluded_frame(
    excluded: Iterable[Exclusion], columns: Mapping[str, str] | Sequence[str] = EXCLUDED_COLUMNS
) -> pd.DataFrame:
    """What was left out, with the reason and the counts; empty when nothing was."""
    named = columns if isinstance(columns, Mapping) else dict(zip(columns, columns, strict=True))
    rows = list(excluded)
    cells = {name: [getattr(row, source) for row in rows] for name, source in named.items()}
    return frame_of({name: col if name in LABELS else np.array(col, dtype=int) for name, col in cells.items()})


def by_group_frame(measured: Measured) -> pd.DataFrame | None:
    """Each metric in each group (and stratum), indexed like fairlearn's ``MetricFrame.by_group``; None if none has."""
    assert measured.sample is not None
    keys, index = _index(measured.sample)
    frames = {name: _one_metric(measured.sample, values, keys, index) for name, values in _values(measured).items()}
    if len(measured.metrics) == 1:
        return next(iter(frames.values()), None)
    return pd.concat(frames, names=["metric"]) if frames else None


def _values(measured: Measured) -> dict[str, GroupValues]:
    found = ((metric.name, measured.by_metric[metric.name].values) for metric in measured.metrics)
    return {name: values for name, values in found if values is not None}


def values_frame(measured: Measured) -> pd.DataFrame:
    """Each metric in each stratum and group that has people, as a flat frame; without rows if no metric has values."""
    sample = measured.sample
    assert sample is not None
    strata = sample.stratum_labels if sample.control_names else [None] * len(sample.strata)
    places = np.argwhere(sample.sizes > 0).tolist()
    rows = [(name, values, s, g) for name, values in _values(measured).items() for s, g in places]
    columns: dict[str, list[Any]] = {
        "metric": [name for name, *_ in rows],
        "stratum": [strata[s] for *_, s, _ in rows],
        "group": [sample.group_labels[g] for *_, g in rows],
        "n": [int(sample.sizes[s, g]) for *_, s, g in rows],
    }
    columns |= {name: [getattr(values, name)[s, g].item() for _, values, s, g in rows] for name in VALUE_COLUMNS}
    return frame_of(columns | {"small": [effective < SMALL for effective in columns["n_effective"]]})


def _one_metric(sample: Sample, values: GroupValues, keys: list[tuple[Any, ...]], index: pd.Index) -> pd.DataFrame:
    place = {
        (*stratum, *group): (s, g) for s, stratum in enumerate(sample.strata) for g, group in enumerate(sample.groups)
    }
    # A combination of features that nobody has is a row without people, as in fairlearn.
    columns: dict[str, Any] = {"n": np.array([int(sample.sizes[place[key]]) if key in place else 0 for key in keys])}
    for name in VALUE_COLUMNS:
        array, whole = getattr(values, name), name == "n_effective"
        found = [array[place[key]] if key in place else 0 if whole else np.nan for key in keys]
        columns[name] = np.array(found, dtype=int if whole else float)
    return pd.DataFrame(columns | {"small": columns["n_effective"] < SMALL}, index=index)


def _index(table: Sample) -> tuple[list[tuple[Any, ...]], pd.Index]:
    names = [*table.control_names, *table.sensitive_names]
    n_control = len(table.control_names)
    levels = [sort_levels(dict.fromkeys(key[i] for key in table.strata)) for i in range(n_control)]
    levels += [sort_levels(dict.fromkeys(key[i] for key in table.groups)) for i in range(len(table.sensitive_names))]
    keys = list(product(*levels))
    if len(names) == 1:
        return keys, pd.Index([key[0] for key in keys], name=names[0], tupleize_cols=False)
    return keys, pd.MultiIndex.from_tuples(keys, names=names)


def null_distribution(comparisons: Iterable[Comparison], n_resamples: int) -> Any:
    """Return resampled statistics, a column for each comparison; NaN where they were enumerated or drawing stopped."""
    found = [one.evidence for one in comparisons]
    drawn = [one.draws if one.draws is not None else one.joint_draws for one in found]
    if not n_resamples or all(column is None for column in drawn):
        return None
    out = np.full((n_resamples, len(drawn)), np.nan)
    for place, column in enumerate(drawn):
        if column is not None:
            kept = column[:n_resamples]
            out[: len(kept), place] = kept
    return out


def method_of(result: Result) -> str:
    """Name what gave the p-values, and what was drawn for their adjustment."""
    found = {
        one.evidence.method if one.evidence.method in RESAMPLED else one.evidence.method.split()[0]
        for one in result.findings
        if not one.estimate.undefined
    } or {"undefined"}
    found |= {"bootstrap"} if any(one.evidence.joint_draws is not None for one in result.findings) else set()
    return "+".join(sorted(found | ({"permutation"} if result.verdict.drawn else set())))
