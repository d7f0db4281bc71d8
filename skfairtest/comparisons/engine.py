"""From a question and people to a result, and to what sentences need to know of it: what tests and frames run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_is_fitted

from skfairtest._utils.base import check_seed
from skfairtest._utils.text import rounded_up
from skfairtest.comparisons.core import Finding, Measured, Result
from skfairtest.comparisons.family import decide, p_of
from skfairtest.comparisons.frames import warn_about_people, warn_about_resamples, written_labels
from skfairtest.comparisons.measure import measure
from skfairtest.comparisons.settings import Settings, check_settings
from skfairtest.comparisons.unknown import unknown_sentence, with_unknown
from skfairtest.inference.multiplicity import Extreme, extreme_disparity
from skfairtest.metrics import Metric, Omnibus, Rate, disparity_of, resolve_metrics
from skfairtest.report.sentences import Setup
from skfairtest.tables import Sample


class Compared:
    """What tests of comparisons have in common once they are fitted."""

    comparisons_: Any

    def to_frame(self) -> pd.DataFrame:
        """Return the comparisons as a flat frame.

        Returns
        -------
        DataFrame
            A copy of `comparisons_` in which the labels of several features are joined into one text ("Asian, Female"),
            so that it can be written to any file.
        """
        check_is_fitted(self)
        return written_labels(self.comparisons_)

    def _set_verdict(self, result: Result) -> None:
        """Set what was found, and the comparison that it rests on."""
        verdict, leading = result.verdict, result.leading
        self.p_value_, self.p_value_interval_ = p_of(verdict.log_p), verdict.limits
        self.rejected_, self.concern_ = verdict.rejected, verdict.concern
        self.statistic_, self.disparity_ = float(leading.evidence.statistic), float(leading.estimate.disparity)
        self.confidence_interval_, self._leading = leading.interval, verdict.leading[1]
        self.adjust_, self.n_resamples_ = verdict.adjust, verdict.n_resamples


def settings_of(metrics: Sequence[Metric] | None, params: Mapping[str, Any]) -> Settings:
    """Check how metrics are compared; those that are not known yet (None) may have any unit.

    Raises
    ------
    ValueError
        If a parameter is not usable, or a margin is of another disparity than a metric is always compared by.
    """
    unit = metrics is not None and all(
        isinstance(metric, Rate) or getattr(metric, "bounds", None) == (0.0, 1.0) for metric in metrics
    )
    disparity = disparity_of(metrics or (), params.get("disparity", "difference"), params.get("margin"))
    return check_settings(**{**params, "disparity": disparity}, unit=unit)


def check_question(metric: Any, params: Mapping[str, Any]) -> tuple[Settings, list[Metric]]:
    """Check what is tested and how, which needs no data."""
    check_seed(params.get("random_state"))
    metrics = resolve_metrics(metric, params.get("disparity", "difference"))
    return settings_of(metrics, params), metrics


def compare(
    sample: Sample,
    metrics: Sequence[Metric],
    settings: Settings,
    *,
    pos_label: Any = None,
    classes: tuple[Any, ...] | None = None,
    random_state: Any = None,
) -> Result:
    """Make and judge the comparisons of one grouping of people."""
    (result,) = judge([with_unknown(measure(sample, metrics, settings, pos_label, classes, random_state))], settings)
    return result


def judge(measured: Sequence[Measured], settings: Settings, *, together: bool = False) -> list[Result]:
    """Decide what `decide` decides, and warn of what makes it doubtful: every test comes to its verdict here."""
    results = decide(measured, settings, together=together)
    for part in measured:
        warn_about_people(part)
    warn_about_resamples(results, settings)
    return results


def extreme_of(findings: Sequence[Finding], disparity: str) -> Extreme:
    """Return the largest disparity among findings, with its limits."""
    low, high = np.reshape([finding.interval for finding in findings], (-1, 2)).T
    return extreme_disparity([finding.estimate.disparity for finding in findings], low, high, disparity)


#: What each method does to clusters.
CLUSTERS = {
    "permutation": "whole clusters were permuted",
    "sign flipping": "the signs of the clusters' parts of the difference were flipped at random",
}


def setup_of(measured: Measured, adjust: str | None) -> Setup:
    """Collect what sentences say about how a test was set up."""
    settings, sample, metrics = measured.settings, measured.sample, measured.metrics
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
        people=_people(measured, sample),
        unknown=unknown_sentence(measured),
        adjust=adjust,
        names=sample.sensitive_names,
        within=settings.within if any(one.evidence.method == "permutation" for one in measured.comparisons) else "auto",
    )


def words_of(metrics: Sequence[Metric]) -> dict[str, Any]:
    """What `Setup` says of metrics, by their names."""
    rates = [metric for metric in metrics if isinstance(metric, Rate)]
    return {
        "sentences": {rate.name: (rate.happens, rate.among) for rate in rates},
        "functions": frozenset(rate.name for rate in rates if rate.value is not None),
        "descriptions": {metric.name: metric.describes for metric in metrics if not isinstance(metric, Rate)},
        "everybody": frozenset(metric.name for metric in metrics if isinstance(metric, Omnibus)),
        "disparities": {metric.name: metric.disparity for metric in metrics if metric.disparity},
    }


def _people(measured: Measured, sample: Sample) -> str:
    """Say what weights and clusters have done."""
    told = []
    if sample.weight is not None:
        told.append("Values are weighted by sample_weight, and standard errors allow for it.")
    if sample.summed:
        told.append("Of weights only sums are known: tests and intervals are asymptotic.")
    error = max((one.binning_error for one in measured.by_metric.values()), default=0.0)
    if error and sample.score_bins is not None:
        told.append(
            f"Scores are in {len(sample.score_bins):,} bins, which moves no group's value by more than "
            f"{rounded_up(error)}."
        )
    if sample.clusters is not None:
        methods = {one.evidence.method for one in measured.comparisons}
        how = [what for method, what in CLUSTERS.items() if method in methods]
        told.append(
            f"People come in {len(sample.clusters.levels):,} clusters: "
            + "".join(f"{what}, " for what in how)
            + ("and " if how else "")
            + "standard errors are cluster-robust."
        )
    return " ".join(told)
