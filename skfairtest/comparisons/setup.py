"""What sentences need to know about a test: the same for one test and for an audit of several groupings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from skfairtest._utils.text import rounded_up
from skfairtest.comparisons.core import Measured
from skfairtest.comparisons.unknown import unknown_sentence
from skfairtest.metrics import Metric, Omnibus, Rate
from skfairtest.report.sentences import Setup
from skfairtest.tables import Sample

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
