"""From a question and people to a result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_is_fitted

from skfairtest._utils.base import check_seed
from skfairtest._utils.text import rounded_up
from skfairtest.comparisons.contrasts import BEST
from skfairtest.comparisons.core import Comparison, Result
from skfairtest.comparisons.family import decide, p_of
from skfairtest.comparisons.frames import warn_about_people, warn_about_resamples, written_labels
from skfairtest.comparisons.settings import Settings, check_settings
from skfairtest.comparisons.unknown import unknown_sentence
from skfairtest.inference.multiplicity import FAMILYWISE, Extreme, extreme_disparity
from skfairtest.metrics import Metric, Omnibus, Rate, disparity_of, resolve_metrics, summarized_compare
from skfairtest.report.sentences import Setup, are_words_unique
from skfairtest.tables import Sample


class Compared:
    """What tests of comparisons have in common once they are fitted."""

    comparisons_: Any

    def to_frame(self) -> pd.DataFrame:
        """The comparisons as a flat frame.

        Returns
        -------
        DataFrame
            A copy of `comparisons_` in which the labels of several features are joined into one text ("Asian, Female"),
            so that it can be written to any file.
        """
        check_is_fitted(self)
        return written_labels(self.comparisons_)

    def _set_verdict(self, result: Result) -> None:
        verdict, leading = result.verdict, result.leading
        self.p_value_, self.p_value_interval_ = p_of(verdict.log_p), verdict.limits
        self.rejected_, self.concern_ = verdict.rejected, verdict.concern
        summary = summarized(result)
        self.statistic_, self._leading = float(leading.statistic), verdict.leading[1]
        self.disparity_ = float(leading.disparity) if summary is None else summary.value
        self.confidence_interval_ = leading.interval if summary is None else (summary.low, summary.high)
        self.adjust_, self.n_resamples_ = verdict.adjust, verdict.n_resamples


def settings_of(metrics: Sequence[Metric] | None, params: Mapping[str, Any]) -> Settings:
    """Check how metrics are compared; unknown metrics (None) may have any unit."""
    unit = metrics is not None and all(
        isinstance(metric, Rate) or getattr(metric, "bounds", None) == (0.0, 1.0) for metric in metrics
    )
    disparity = disparity_of(metrics or (), params.get("disparity", "difference"), params.get("margin"))
    compare = summarized_compare(metrics or (), params.get("compare", "between_groups"))
    return check_settings(**{**params, "disparity": disparity, "compare": compare}, shares=unit)


def check_question(metric: Any, params: Mapping[str, Any]) -> tuple[Settings, list[Metric]]:
    """Check what is tested and how, which needs no data."""
    check_seed(params.get("random_state"))
    metrics = resolve_metrics(metric, params.get("disparity", "difference"))
    return settings_of(metrics, params), metrics


def judge(results: Sequence[Result], settings: Settings, *, together: bool = False) -> list[Result]:
    """`decide`, with warnings about doubtful verdicts; the only way to a verdict."""
    results = decide(results, settings, together=together)
    for result in results:
        warn_about_people(result)
    warn_about_resamples(results, settings)
    return results


def extreme_of(comparisons: Sequence[Comparison], disparity: str, metrics: Sequence[Metric] = ()) -> Extreme:
    """The largest disparity among comparisons, with limits (see `extreme_disparity`), averaged over metrics if given.

    Without intervals the limits are the disparity itself.
    """
    mean = any(metric.summary is not None and metric.summary.agg == "mean" for metric in metrics)
    by_metric: dict[str, list[tuple[float, float, float]]] = {}
    for one in comparisons:
        value, adjusted = one.disparity, not np.isnan(one.log_p_adjusted)
        limits = one.interval if adjusted else (value, value)
        by_metric.setdefault(one.metric if mean else "", []).append((value, *limits))
    if not by_metric:
        return Extreme(np.nan, np.nan, np.nan)
    each = (zip(*rows, strict=True) for rows in by_metric.values())
    found = [extreme_disparity(list(value), list(low), list(high), disparity) for value, low, high in each]
    return Extreme(*np.mean(found, axis=0).tolist())


def simultaneous(result: Result) -> Result:
    """A result whose intervals hold together: by Holm's method if its own adjustment is not familywise."""
    if result.settings.adjust in FAMILYWISE:
        return result
    return decide([result], replace(result.settings, adjust="holm"))[0]


def summarized(result: Result) -> Extreme | None:
    """The number that fairlearn reports for the metric with the strongest evidence, with limits; None without one.

    Over strata it is that of averaged disparities. Limits need simultaneous intervals of all disparities to one value;
    comparisons with the rest give none.
    """
    settings = result.settings
    summary = next((m.summary for m in result.metrics if m.name == result.leading.metric), None)
    if summary is None:
        return None
    result = simultaneous(result)
    metrics = {metric.name: metric for metric in result.metrics if metric.summary == summary}
    rows = [one for one in result.comparisons if one.metric in metrics and one.is_pooled]
    disparity = result.leading.null.question.disparity
    if settings.compare == summary.method or settings.compare in BEST:
        return extreme_of(rows, disparity, list(metrics.values()))
    each = [[one for one in rows if one.metric == name] for name in metrics]
    found = [_between(own, disparity, settings.compare) for own in each if own]
    if summary.agg == "mean":
        return Extreme(*np.mean(found, axis=0).tolist())
    return Extreme(*getattr(np, "max" if disparity == "difference" else "min")(found, axis=0).tolist())


def _between(rows: Sequence[Comparison], disparity: str, compare: str) -> Extreme:
    """The largest disparity between groups, from each group's disparity to a common value or to the reference group."""
    values = [one.value_group for one in rows]
    limits = [one.interval for one in rows]
    if compare == "to_reference":
        values.append(rows[0].value_other)
        limits.append((rows[0].null.question.null,) * 2)
    low, high = np.transpose(limits)
    if disparity == "difference":
        found = Extreme(max(values) - min(values), max(0.0, max(low) - min(high)), max(high) - min(low))
    else:
        with np.errstate(divide="ignore", invalid="ignore"):
            ends = np.divide([min(values), min(low), min(high)], [max(values), max(high), max(low)])
        found = Extreme(float(ends[0]), float(ends[1]), min(1.0, float(ends[2])))
    return found if compare in ("to_reference", "to_overall") else found._replace(low=np.nan, high=np.nan)


#: What each method does to clusters.
CLUSTERS = {
    "permutation": "whole clusters were permuted",
    "sign flipping": "the signs of the clusters' parts of the difference were flipped at random",
}


def setup_of(result: Result) -> Setup:
    """Collect what sentences say about how a test was set up."""
    settings, sample, metrics = result.settings, result.sample, result.metrics
    question = settings.question
    assert sample is not None
    return Setup(
        compare=settings.compare,
        disparity=question.disparity,
        alternative=question.alternative,
        margin_bounds=question.margin_bounds,
        alpha=settings.alpha,
        features=" x ".join(sample.sensitive_names),
        controls=" x ".join(sample.control_names),
        **words_of(metrics),
        people=_people(result, sample),
        unknown=unknown_sentence(result),
        adjust=result.verdict.adjust,
        names=sample.sensitive_names,
        unique=are_words_unique(sample.sensitive_names, sample.group_labels),
        within=settings.within if any(one.method == "permutation" for one in result.tested) else "auto",
    )


def words_of(metrics: Sequence[Metric]) -> dict[str, Any]:
    """What `Setup` says of metrics, by their names."""
    rates = [metric for metric in metrics if isinstance(metric, Rate)]
    return {
        "sentences": {rate.name: (rate.happens, rate.among) for rate in rates},
        "functions": frozenset(rate.name for rate in rates if rate.value is not None),
        "descriptions": {metric.name: metric.describes for metric in metrics if not isinstance(metric, Rate)},
        "omnibus": {metric.name: metric.null for metric in metrics if isinstance(metric, Omnibus)},
        "disparities": {metric.name: metric.disparity for metric in metrics if metric.disparity},
    }


def _people(result: Result, sample: Sample) -> str:
    told = []
    if sample.weight is not None:
        told.append("Values are weighted by sample_weight, and standard errors allow for it.")
    if sample.summed:
        told.append("Of weights only sums are known: tests and intervals are asymptotic.")
    error = max((one.binning_error for one in result.by_metric.values()), default=0.0)
    if error and sample.score_bins is not None:
        told.append(
            f"Scores are in {len(sample.score_bins):,} bins, which moves no group's value by more than "
            f"{rounded_up(error)}."
        )
    if sample.clusters is not None:
        methods = {one.method for one in result.tested}
        how = [what for method, what in CLUSTERS.items() if method in methods]
        told.append(
            f"People come in {len(sample.clusters.levels):,} clusters: "
            + "".join(f"{what}, " for what in how)
            + ("and " if how else "")
            + "standard errors are cluster-robust."
        )
    return " ".join(told)
