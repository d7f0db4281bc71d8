"""Rates in groups that are known by their probabilities, with bootstrap samples of people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from skfairtest._utils.errors import ParameterError
from skfairtest._utils.seeds import seed_sequence
from skfairtest._utils.typing import Floats, Integers, Moments
from skfairtest.comparisons.contrasts import Design, contrasts_of, disparity_bounds, kept_groups, numbers_of
from skfairtest.comparisons.core import (
    Comparison,
    Estimate,
    Exclusion,
    GroupValues,
    Measured,
    Measurement,
    NullDistribution,
)
from skfairtest.comparisons.evidence import evidence_of_samples
from skfairtest.comparisons.measure import positive_label
from skfairtest.comparisons.rates import scale_of
from skfairtest.comparisons.settings import Settings
from skfairtest.inference.linear_form import resampled
from skfairtest.inference.rate_draws import Contrast, pair_of
from skfairtest.inference.rates import Scale, disparity_of, values
from skfairtest.inference.uncertain import (
    Kinds,
    bootstrap_tables,
    events_and_denominators,
    expected_table,
    kinds_of,
    thresholded,
)
from skfairtest.metrics import Metric, Rate
from skfairtest.tables import UncertainSample

#: What each estimate assumes beside probabilities that are right on average, for results and reports.
ASSUMPTIONS = {
    "weighted": "among people with the same probabilities, outcome and group are independent",
    "thresholded": "everyone belongs to the group with the largest probability",
    "likelihood": "within each group, the outcome is independent of what the probabilities were made from",
}


@dataclass(frozen=True)
class UncertainNull(NullDistribution):
    """Bootstrap samples of a disparity whose groups are known by their probabilities."""

    spread: float
    effective: int

    def error(self, estimate: Estimate) -> float:
        """Return the standard deviation of the disparity in bootstrap samples."""
        return self.spread

    def n_effective(self, estimate: Estimate) -> int:
        """Return the effective number of people of the group who meet the condition."""
        return self.effective


def measure_uncertain(
    sample: UncertainSample,
    metrics: Sequence[Metric],
    settings: Settings,
    estimate: str,
    n_reference: float | None,
    pos_label: Any,
    classes: tuple[Any, ...] | None,
    random_state: Any,
) -> Measured:
    """Estimate rates and compare them, each with bootstrap samples of its own.

    Parameters
    ----------
    sample : UncertainSample
        People, with the columns that the metrics read.
    metrics : sequence of Rate
        What is compared.
    settings : Settings
        How; the method is the bootstrap.
    estimate, n_reference
        As in `bootstrap_tables`.
    pos_label, classes, random_state
        As in `measure`.

    Raises
    ------
    ParameterError
        If a metric is no rate.
    """
    rates = [metric for metric in metrics if isinstance(metric, Rate)]
    for metric in metrics:
        if not isinstance(metric, Rate):
            raise ParameterError(
                f"metric={metric.name!r} is no rate, and groups with probabilities have tests of rates"
            )
    excluded: list[Exclusion] = []
    positive = positive_label(sample, metrics, pos_label, classes)
    kept = kept_groups(sample, excluded, settings, len(rates))
    contrasts = tuple(contrasts_of(sample, kept, settings, excluded, len(rates)))
    design = Design(
        sample, settings, tuple(kept), contrasts, positive, pos_label, tuple(numbers_of(len(sample.groups)))
    )
    by_metric = {}
    # Samples of the same people for every rate, so that those of different rates are joint.
    seed = seed_sequence(random_state)
    for rate in rates:
        kinds = _kinds(sample, rate, positive)
        tables = (
            expected_table(kinds, estimate),
            bootstrap_tables(kinds, estimate, settings.n_resamples, n_reference, np.random.default_rng(seed)),
        )
        by_metric[rate.name] = _measured(design, rate, kinds, *tables, estimate)
    comparisons = tuple(comparison for rate in rates for comparison in by_metric[rate.name].comparisons)
    excluded += [exclusion for measurement in by_metric.values() for exclusion in measurement.excluded]
    blocks = {rate.name: number for number, rate in enumerate(rates)}
    return Measured(settings, comparisons, tuple(excluded), blocks, sample, tuple(metrics), positive, by_metric)


def _kinds(sample: UncertainSample, rate: Rate, positive: Any) -> Kinds:
    """Return people by what they have to do with a rate, and by their probabilities."""
    assert sample.probabilities is not None
    labels = {name: sample.labels_of(name) for name in sorted(rate.reads)}
    numbers = {label: place for place, label in enumerate(sample.labels)}
    codes = {
        name: np.array([numbers[level] for level in column.levels], dtype=np.intp)[column.codes]
        for name, column in labels.items()
    }
    cells = {
        name: np.array([level == positive for level in column.levels], dtype=bool)[column.codes]
        for name, column in labels.items()
    }
    event, given = rate.masks(cells, codes)
    return kinds_of(np.where(event, 0, np.where(given, 1, 2)), sample.probabilities.values)


def _measured(design: Design, rate: Rate, kinds: Kinds, table: Floats, drawn: Floats, estimate: str) -> Measurement:
    scale, question, sizes = scale_of(rate), design.question(rate), design.sample.sizes[0]
    effective = _effective(kinds, estimate)
    everyone = np.arange(len(sizes))
    comparisons, excluded = [], []
    for contrast, other in design.contrasts:
        observed, samples = (_values_of(tables, contrast, scale) for tables in (table, drawn))
        disparity = float(disparity_of(*observed, question.disparity))
        group, n, n_effective = design.group(contrast), int(sizes[contrast.first]), int(effective[contrast.first])
        if np.isnan(disparity):
            reason = "undefined: nobody is expected to meet the condition, or both values are 0"
            excluded.append(Exclusion(rate.name, group, other, None, reason, n, n_effective, 1))
            continue
        none = np.zeros(())
        seen, of_samples = (Moments(first, none, second, none, none) for first, second in (observed, samples))
        kept = resampled(seen, of_samples, question.disparity, studentized=False)
        null = UncertainNull(
            question, _spread(samples, question.disparity), n_effective, studentized=False, samples=kept
        )
        others = contrast.others(len(sizes)) | (contrast.overall & (everyone == contrast.first))
        what = design.what_is_equal(rate, question, scored=False)
        compared = Estimate(
            rate.name, group, other, None, contrast, n, int(sizes[others].sum()), float(observed[0]),
            float(observed[1]), disparity, disparity_bounds((0.0, 1.0), question.disparity),
            *design.hypothesis(question, contrast, what, []),
        )  # fmt: skip
        comparisons.append(Comparison(compared, null, evidence_of_samples(null, null.spread)))
    shown = _group_values(table, drawn, scale, effective, design.settings.alpha)
    return Measurement(tuple(comparisons), tuple(excluded), shown, "bootstrap")


def _values_of(tables: Floats, contrast: Contrast, scale: Scale) -> tuple[Floats, Floats]:
    """Return the metric on both sides of a comparison, (...,) each, of tables (..., G, 3)."""
    events, denominators = events_and_denominators(tables)
    return values(pair_of(events, denominators, contrast), scale)  # type: ignore[arg-type]  # no whole numbers


def _spread(samples: tuple[Floats, Floats], disparity: str) -> float:
    """Return the standard deviation of a difference, or of the logarithm of a ratio; NaN where that is infinite."""
    with np.errstate(divide="ignore", invalid="ignore"):
        found = disparity_of(*samples, disparity)
        found = np.log(found) if disparity == "ratio" else found
    found = found[~np.isnan(found)]
    return float(found.std()) if len(found) and np.isfinite(found).all() else np.nan


def _effective(kinds: Kinds, estimate: str) -> Integers:
    """Return Kish's effective numbers of people of each group who meet the condition, rounded."""
    inside = kinds.role < 2
    counts, p = kinds.counts[inside, None], kinds.p[inside]
    p = thresholded(p) if estimate == "thresholded" else p
    total, squares = (counts * p).sum(axis=0), (counts * p**2).sum(axis=0)
    found = np.divide(total**2, squares, out=np.zeros_like(total), where=squares > 0)
    return np.asarray(np.rint(found), dtype=np.int64)


def _group_values(table: Floats, drawn: Floats, scale: Scale, effective: Integers, alpha: float) -> GroupValues:
    """Return each group's metric, with the standard deviation and the basic bootstrap's interval."""
    with np.errstate(divide="ignore", invalid="ignore"):
        value, samples = (
            scale.value(np.divide(*events_and_denominators(tables)))[..., 0, :] for tables in (table, drawn)
        )
    defined = ~np.isnan(samples).all(axis=0) & ~np.isnan(value)
    spread, low, high = np.full((3, len(value)), np.nan)
    spread[defined] = np.nanstd(samples[:, defined], axis=0)
    reach = np.nanquantile(np.abs(samples[:, defined] - value[defined]), 1 - alpha, axis=0)
    low[defined], high[defined] = np.maximum(value[defined] - reach, 0.0), np.minimum(value[defined] + reach, 1.0)
    return GroupValues(*(array[None] for array in (effective, value, spread, low, high)))
