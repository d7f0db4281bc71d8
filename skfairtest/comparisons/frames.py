"""Frames (values by group, comparisons, exclusions) and warnings that users see."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from functools import partial
from itertools import product
from operator import attrgetter, itemgetter
from typing import Any

import numpy as np
import pandas as pd
from sklearn.exceptions import UndefinedMetricWarning

from skfairtest._utils.errors import SmallGroupWarning, warn
from skfairtest._utils.text import label, pluralize
from skfairtest._utils.typing import Integers
from skfairtest.comparisons.contrasts import SMALL
from skfairtest.comparisons.core import RESAMPLED, Comparison, Exclusion, GroupValues, Result
from skfairtest.comparisons.family import p_of, p_values_of
from skfairtest.comparisons.settings import Settings
from skfairtest.comparisons.unknown import UnknownNull
from skfairtest.inference.multiplicity import holm
from skfairtest.inference.standardized import standardized_difference, standardized_limits
from skfairtest.metrics import Rate
from skfairtest.readers import sort_levels
from skfairtest.tables.count_table import key_labels
from skfairtest.tables.rows import Key


def warn_about_people(result: Result) -> None:
    """Warn of undefined values, small groups, and doubtful standard errors."""
    for undefined in _undefined(result):
        warn(undefined, UndefinedMetricWarning)
    for caution in cautions(result) if result.sample is not None else ():
        warn(caution, SmallGroupWarning)


def _undefined(result: Result) -> Iterator[str]:
    left_out = [e for e in result.excluded if e.metric is not None and e.n and e.comparisons]
    so = "these comparisons are left out, see excluded_"
    disparity = result.settings.question.disparity.replace("_", " ")
    kept = f"their {disparity} is undefined, and each counts as a hypothesis with p = 1"
    for undefined, then in ((left_out, so), (result.undefined, kept)):
        if not undefined:
            continue
        first = undefined[0]
        of = "" if first.group is None else f" of {label(first.group)}"
        where = of + (f" ({label(first.stratum)})" if first.stratum is not None else "")
        more = f", and {len(undefined) - 1} more" if len(undefined) > 1 else ""
        says = f" against {label(first.other)}:" if first.other is not None else " is" if of else ":"
        yield f"{first.metric}{where}{says} {first.reason}{more}: {then}"


def cautions(result: Result) -> list[str]:
    """Reasons to doubt the results, other than exclusions."""
    found = []
    assert result.sample is not None
    levels = getattr(result.sample.columns.get("y_score"), "levels", ())
    if levels and set(levels) <= {0, 1}:
        scored = ", ".join(metric.name for metric in result.metrics if "y_score" in metric.reads)
        found.append(
            f"{scored}: y_score holds only 0 and 1, which look like predicted labels; pass probabilities or decision "
            "values, or use a metric of labels"
        )
    doubtful = [(name, *one) for name, of_metric in result.by_metric.items() for one in of_metric.doubtful]
    if doubtful:
        others = len({(metric, group) for metric, group, _ in doubtful}) - 1
        metric, group, why = doubtful[0]
        more = f" (and {pluralize(others, 'other value')})" if others else ""
        found.append(
            f"{metric} of {label(group)} {why}{more}: p-values and intervals of its comparisons are approximate, "
            f"and may be too small; {_remedy(result, metric)}"
        )
    small = [e for e in result.excluded if e.metric is None and e.n and e.comparisons]
    if small:
        groups = dict.fromkeys(e.group if e.other is None else e.other for e in small)
        names = ", ".join(f"({label(group)})" if isinstance(group, tuple) else label(group) for group in groups)
        found.append(f"sensitive_features: {names} left out of comparisons, having fewer than 2 people; see excluded_")
    return found


def _remedy(result: Result, name: str) -> str:
    sample = result.sample
    assert sample is not None
    given = {"sample_weight": sample.weight, "clusters": sample.clusters}
    inexact = " and ".join(parameter for parameter, column in given.items() if column is not None)
    if result.settings.question.margin_bounds and sample.control_names:
        return "only more people in each stratum help"
    if inexact:
        return f"no test with {inexact} is exact; only more people help"
    if hasattr(sample, "labelled"):
        return "more labels help, of people who are chosen with known probabilities"
    if any(metric.name == name and isinstance(metric, Rate) for metric in result.metrics):
        return "with variance='auto' this rate has an exact test for any number of people"
    return "a rate, such as 'true_positive_rate', has an exact test for any number of people"


def warn_about_resamples(results: Sequence[Result], settings: Settings) -> None:
    """Warn if this many adjusted comparisons cannot reach the level with this many resamples."""
    verdict = results[0].verdict
    n_resamples, n_hypotheses = verdict.n_resamples, verdict.n_hypotheses
    smallest = n_hypotheses / (1 + n_resamples)
    if n_resamples and not settings.adaptive and smallest > settings.alpha:
        warn(
            f"n_resamples={n_resamples} cannot reject at {settings.alpha:.3g}: the smallest adjusted p-value that "
            f"{pluralize(n_hypotheses, 'comparison')} can reach is {min(1.0, smallest):.3g}; "
            f"use more than {int(np.ceil(n_hypotheses / settings.alpha))}",
        )


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
VALUE_COLUMNS = ["n_effective", "value", "standard_error", "ci_low", "ci_high"]
#: Columns of labels.
LABELS = frozenset(
    {"metric", "group", "other", "stratum", "reason", "method", "feature", "among", "among_label", "tied"}
)


def frame_of(columns: Mapping[str, Any]) -> pd.DataFrame:
    """A frame that keeps labels as they are: tuples stay tuples, None stays None."""
    # Columns that share one index need not be aligned.
    index = pd.RangeIndex(len(next(iter(columns.values()))))
    arrays = {name: _objects(values, index) if name in LABELS else values for name, values in columns.items()}
    return pd.DataFrame(arrays, index=index)


def frame_by(columns: Mapping[str, Any] | Callable[[], Mapping[str, Any]]) -> pd.DataFrame:
    """The frame of columns, or of those that a call makes."""
    return frame_of(columns() if callable(columns) else columns)


def _objects(values: Sequence[Any], index: pd.Index) -> pd.Series:
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return pd.Series(column, index=index, dtype=object)


def comparisons_columns(
    rows: Sequence[Comparison], columns: Mapping[str, str] | Sequence[str] = COMPARISON_COLUMNS
) -> dict[str, list[Any]]:
    """One row per comparison; a mapping renames the columns of `COMPARISON_COLUMNS`."""
    named = columns if isinstance(columns, Mapping) else dict(zip(columns, columns, strict=True))
    if any(not np.isnan(one.at) for one in rows):  # of distributions
        named = {**named, "at": "at"}
    sources = {"p_value": "log_p", "p_value_adjusted": "log_p_adjusted", "ci_low": "interval", "ci_high": "interval"}
    out = {name: list(map(attrgetter(sources.get(source, source)), rows)) for name, source in named.items()}
    for name, source in named.items():
        if sources.get(source) == "interval":
            out[name] = list(map(itemgetter(source == "ci_high"), out[name]))
        elif source in sources:
            out[name] = p_values_of(out[name])
    return out


def _columns(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> dict[str, list[Any]]:
    return dict(zip(names, map(list, zip(*rows, strict=True)), strict=False)) or {name: [] for name in names}


def homogeneity_columns(rows: Iterable[Comparison]) -> dict[str, list[Any]]:
    """One row per comparison over several strata: the test that its disparity is the same in all."""
    pooled = [one for one in rows if one.is_pooled and len(one.strata) > 1]
    tested = [(one, found) for one in pooled if (found := one.null.homogeneity()) is not None]
    # Where too few strata say anything the hypothesis stays in the family, and is not evidence.
    p_values = np.array([found.p_value if found.df else 1.0 for _, found in tested])
    with np.errstate(divide="ignore"):
        adjusted = np.exp(holm(np.log(p_values)))
    shown = []
    for (one, found), p in zip(tested, adjusted, strict=True):
        if found.df:
            farthest = int(np.nanargmax(np.abs(found.distances)))
            shown.append((
                one.metric, one.group, one.other, len(one.strata), found.statistic, found.df, found.p_value, float(p),
                found.common, one.strata[farthest], float(found.distances[farthest]), found.method,
            ))  # fmt: skip
    return _columns(HOMOGENEITY_COLUMNS, shown)


def standardized_columns(rows: Iterable[Comparison]) -> dict[str, list[Any]]:
    """One row per comparison of two means within a stratum: the difference in standard deviations."""
    found = []
    for one in rows:
        moments = one.null.standardized()
        if moments is not None and not np.isnan((value := standardized_difference(moments))[0]):
            low, high = standardized_limits(moments, one.critical)
            # Equality is inside if it is inside the interval of the disparity.
            equality = one.null.question.null
            low = max(low, 0.0) if one.interval[0] >= equality else min(low, 0.0)
            high = min(high, 0.0) if one.interval[1] <= equality else max(high, 0.0)
            labels, p_values = (
                (one.metric, one.group, one.other, one.stratum),
                p_values_of([one.log_p, one.log_p_adjusted]),
            )
            found.append((*labels, *value, low, high, *p_values))
    return _columns(STANDARDIZED_COLUMNS, found)


def bounds_frame(rows: Iterable[Comparison]) -> pd.DataFrame:
    """One row per comparison with bounds over all possible groups of people."""
    bounded = [
        (
            one.metric, one.group, one.other, null.unknown.events.both[1] + null.unknown.others.both[1],
            null.unknown.events.both[1], *null.disparities(), p_of(null.found.low), p_of(null.found.high),
            null.found.attained,
        )
        for one, null in ((one, one.null) for one in rows)
        if isinstance(null, UnknownNull)
    ]  # fmt: skip
    return frame_of(_columns(BOUNDS_COLUMNS, bounded))


def written_labels(frame: pd.DataFrame) -> pd.DataFrame:
    """A copy with the labels of several features joined into one text, for any file format."""
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


#: The values of metrics, the people of each stratum and group, and names and keys of strata and of groups.
ByGroup = tuple[dict[str, GroupValues], Integers, tuple[tuple[Sequence[str], Sequence[Key]], ...]]


def by_group(result: Result) -> tuple[partial[pd.DataFrame | None], partial[pd.DataFrame]]:
    """The calls that make frames of values by group, indexed and flat, without people."""
    sample = result.sample
    assert sample is not None
    values = {m.name: result.by_metric[m.name] for m in result.metrics if m.name in result.by_metric}
    axes = (sample.control_names, sample.strata), (sample.sensitive_names, sample.groups)
    shown = values, sample.sizes, axes
    return partial(by_group_frame, shown, several=len(result.metrics) != 1), partial(values_frame, shown)


def by_group_frame(values: ByGroup, *, several: bool) -> pd.DataFrame | None:
    """A frame that is indexed like fairlearn's ``MetricFrame.by_group``; None if no metric has values."""
    by_metric, sizes, axes = values
    names = [name for of_axis, _ in axes for name in of_axis]
    levels = [sort_levels(dict.fromkeys(level)) for _, keys in axes for level in zip(*keys, strict=True)]
    keys = list(product(*levels))
    if len(names) == 1:
        index = pd.Index([key[0] for key in keys], name=names[0], tupleize_cols=False)
    else:
        index = pd.MultiIndex.from_tuples(keys, names=names)
    known = {(*stratum, *group): (s, g) for s, stratum in enumerate(axes[0][1]) for g, group in enumerate(axes[1][1])}
    # An empty combination of features is a row without people, as in fairlearn.
    places = [known.get(key) for key in keys]
    frames = {name: pd.DataFrame(_values(each, sizes, places), index=index) for name, each in by_metric.items()}
    if not several:
        return next(iter(frames.values()), None)
    return pd.concat(frames, names=["metric"]) if frames else None


def values_frame(values: ByGroup) -> pd.DataFrame:
    """A flat frame of the strata and groups that have people; without rows if no metric has values."""
    by_metric, sizes, ((controls, strata), (_, groups)) = values
    labels = key_labels(strata) if controls else [None] * len(strata), key_labels(groups)
    places = [(s, g) for s, g in np.argwhere(sizes > 0).tolist()]
    found = [
        {"metric": [name] * len(places), "stratum": [labels[0][s] for s, _ in places],
         "group": [labels[1][g] for _, g in places], **_values(each, sizes, places)}
        for name, each in by_metric.items()
    ]  # fmt: skip
    names = ["metric", "stratum", "group", "n", *VALUE_COLUMNS, "small"]
    return frame_of({name: [value for columns in found for value in columns[name]] for name in names})


def _values(values: GroupValues, sizes: Integers, places: Sequence[tuple[int, int] | None]) -> dict[str, Any]:
    columns: dict[str, Any] = {"n": np.array([0 if at is None else int(sizes[at]) for at in places])}
    for name in VALUE_COLUMNS:
        array, whole = getattr(values, name), name == "n_effective"
        found = [array[at] if at is not None else 0 if whole else np.nan for at in places]
        columns[name] = np.array(found, dtype=int if whole else float)
    return columns | {"small": columns["n_effective"] < SMALL}


def null_distribution(comparisons: Iterable[Comparison], n_resamples: int) -> Any:
    """Resampled statistics, one column per comparison; NaN if enumerated, or after drawing stopped."""
    drawn = [one.draws for one in comparisons]
    if not n_resamples or all(column is None for column in drawn):
        return None
    out = np.full((n_resamples, len(drawn)), np.nan)
    for place, column in enumerate(drawn):
        if column is not None:
            kept = column[:n_resamples]
            out[: len(kept), place] = kept
    return out


def method_of(result: Result) -> str:
    """Name what gave the p-values."""
    found = {
        one.method if one.method in RESAMPLED else one.method.split()[0]
        for one in result.comparisons
        if not one.undefined
    } or {"undefined"}
    return "+".join(sorted(found))
