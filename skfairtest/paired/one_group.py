"""Two models and one group: McNemar's exact test that a rate is the same under both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from skfairtest._utils.errors import GroupsMissing
from skfairtest.comparisons.core import (
    Comparison,
    Estimate,
    Evidence,
    GroupValues,
    Measured,
    Measurement,
    Models,
    NullDistribution,
    Result,
)
from skfairtest.comparisons.engine import judge
from skfairtest.comparisons.evidence import orient
from skfairtest.comparisons.measure import COLUMNS, positive_label
from skfairtest.comparisons.settings import Settings
from skfairtest.inference.conditional import mcnemar
from skfairtest.inference.rate_draws import Contrast
from skfairtest.paired.measure import change_values, changes_of
from skfairtest.paired.metric import Paired
from skfairtest.paired.statistics import limits_of_mean
from skfairtest.tables import Sample


@dataclass(frozen=True)
class OneGroupNull(NullDistribution):
    """What chance does to the change of a rate in one group: counts of who has the event under B alone, A alone."""

    counts: np.ndarray

    def limits(self, critical: tuple[float, float], bounds: tuple[float, float]) -> tuple[float, float]:
        """Return Tango's score limits."""
        (low, _), (_, high) = (limits_of_mean(self.counts, z) if np.isfinite(z) else bounds for z in critical)
        return low, high

    def error(self, estimate: Estimate) -> float:
        """Return the standard error of the change."""
        plus, minus, rest = self.counts.tolist()
        n = plus + minus + rest
        return float(np.sqrt((plus + minus) / n - ((plus - minus) / n) ** 2) / np.sqrt(n))


def compare_in_one_group(
    sample: Sample,
    metrics: Sequence[Paired],
    settings: Settings,
    *,
    pos_label: Any = None,
    classes: tuple[Any, ...] | None = None,
) -> Result:
    """Compare a rate under model B (`group`) and under model A (`other`), of all samples together.

    Raises
    ------
    GroupsMissing
        If a metric has no such test, or samples have weights or come in clusters.
    """
    others = [metric.name for metric in metrics if not metric.is_change]
    simple = sample.weight is None and sample.clusters is None and settings.question.alternative != "equivalence"
    if others or not simple:
        why = f"{others[0]} has none" if others else "these have weights, clusters or a margin"
        names = " x ".join(sample.sensitive_names)
        raise GroupsMissing(
            f"sensitive_features ({names}) holds one group only (n_samples={sample.n_samples}): two models are then "
            "compared by McNemar's test, of rates whose condition no model decides and people who count alike; " + why
        )
    positive = positive_label(sample, metrics, pos_label, classes)
    alternative, shape = settings.question.alternative, sample.sizes.shape
    comparisons, by_metric = [], {}
    for metric in metrics:
        kinds = sample.kinds([name for name in COLUMNS if name in metric.reads])
        changes, sums = (changes_of(metric, kinds, positive, shape, together=both) for both in (False, True))
        counts = changes.sum(axis=(0, 1))
        n, both = int(counts.sum()), int(sums[..., 0].sum())
        if not n:
            among = metric.of.among or "who meet the condition"
            raise GroupsMissing(f"{metric.name} is undefined: nobody meets the condition ({among})")
        plus, minus = int(counts[0]), int(counts[1])
        rates = (plus + both) / n, (minus + both) / n
        null = OneGroupNull(settings.question, counts)
        estimate = Estimate(
            metric.name, "model B", "model A", None, Contrast(0, 1), sample.n_samples, sample.n_samples, *rates,
            rates[0] - rates[1], (-1.0, 1.0),
        )  # fmt: skip
        z = (plus - minus) / np.sqrt(plus + minus) if plus + minus else 0.0
        evidence = Evidence(
            mcnemar(plus, minus, alternative), "exact conditional", float(z), null.error(estimate),
            orient(float(z), alternative),
        )  # fmt: skip
        comparisons.append(Comparison(estimate, null, evidence))
        by_metric[metric.name] = _measurement(changes, sums, settings.alpha, comparisons[-1])
    blocks = {metric.name: place for place, metric in enumerate(metrics)}
    rates_shown = tuple(metric.of for metric in metrics)
    measured = Measured(settings, tuple(comparisons), (), blocks, sample, rates_shown, positive, by_metric)
    return judge([measured], settings)[0]


def _measurement(changes: np.ndarray, sums: np.ndarray, alpha: float, comparison: Comparison) -> Measurement:
    values: GroupValues = change_values(changes, alpha)
    n = changes.sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        of_models = np.stack([(changes[..., 1] + sums[..., 0]) / n, (changes[..., 0] + sums[..., 0]) / n])
    return Measurement((comparison,), (), values, "score", models=Models(of_models, np.zeros((0, 2))))
