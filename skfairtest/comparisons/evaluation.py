"""Metrics that are not counts, evaluated in any group, and the effect of binned scores on them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from skfairtest import metrics
from skfairtest._utils.checks import origin
from skfairtest._utils.errors import ParameterError
from skfairtest.inference.rates import Question
from skfairtest.readers import Column, Numbers
from skfairtest.tables import Kinds, Sample

#: Kinds of people that are left out one by one at the most.
MOST_LEFT_OUT = 64


@dataclass(frozen=True)
class Evaluation:
    """A metric of one sample's kinds of people, ready to be evaluated in any group.

    Rates are evaluated this way if people have weights or clusters. `variance`: the requested standard error; `within`:
    a column within which labels are permuted, "condition", or None for everywhere.
    """

    metric: metrics.ScoreMetric | metrics.Rate
    kinds: Kinds
    pos_label: Any
    question: Question
    variance: str | None
    within: str | None

    @property
    def name(self) -> str:
        """The metric's name."""
        return self.metric.name

    @property
    def is_own(self) -> bool:
        """Whether it is a function that a user wrote."""
        return isinstance(self.metric, metrics.ScoreMetric) and not isinstance(self.metric, metrics.BuiltIn)

    @property
    def has_effective_people(self) -> bool:
        """Whether it is a rate whose variance says how many people it rests on."""
        return (
            isinstance(self.metric, metrics.Rate)
            and self.metric.value is None
            and self.variance in ("auto", "delta", "score")
        )

    @property
    def is_scored(self) -> bool:
        """Whether it is tested as a rate of an effective number of people: a value that is not a rate, by default."""
        return self.question.method == "auto" and self.variance == "auto" and self._of_all.is_rate_like

    @property
    def is_plain_mean(self) -> bool:
        """Whether it is an unweighted mean with a standard error, tested at equality by default."""
        question, tested = self.question, self.variance is not None and type(self._of_all) is metrics.Mean
        return tested and question.method in ("auto", "permutation") and question.margin_bounds is None

    @property
    def bounds(self) -> tuple[float, float]:
        """The smallest and largest possible value."""
        return (0.0, 1.0) if isinstance(self.metric, metrics.Rate) else self.metric.bounds

    def functional(self, kinds: Kinds) -> metrics.Functional:
        """The metric of some kinds of people, with its standard error."""
        return self._of_all if kinds is self.kinds else self._functional(kinds)

    @cached_property
    def origin(self) -> float:
        """The number subtracted from all values, on which differences of means do not depend."""
        mean = getattr(self.metric, "evaluate", None)
        if not isinstance(mean, metrics.OfMean) or self.question.disparity != "difference":
            return 0.0
        return origin(mean.z(metrics.Context(self.kinds.values, self.pos_label)))

    @cached_property
    def _of_all(self) -> metrics.Functional:
        """The metric of all people, shared by comparisons with the rest so that scores are sorted once."""
        return self._functional(self.kinds)

    def _functional(self, kinds: Kinds) -> metrics.Functional:
        k = kinds.size
        bare = self._bare(kinds)
        weight, cluster = kinds.weight, kinds.cluster
        few = k <= MOST_LEFT_OUT
        evaluated = type(bare) is metrics.Evaluated
        if weight is not None or cluster is not None:
            if self.variance in ("auto", "delta", "score") and not evaluated:
                return metrics.Robust(bare, weight, cluster)
            if self.variance is None:
                return metrics.Evaluated(metrics.Robust(bare, weight).values, None, self.bounds)
            by_cell = self._by_cell(kinds) if self.variance in ("auto", "delta") else None
            if by_cell is not None:
                return metrics.Robust(by_cell, weight, cluster)
            if few and cluster is None and self.variance != "bootstrap":
                return metrics.Robust(metrics.Jackknife(bare, weight), weight)
            self._refuse_jackknife(k)
            return metrics.Bootstrap(metrics.Robust(bare, weight), cluster=cluster)
        if self.variance is None:
            return metrics.Evaluated(bare.values, None, self.bounds)
        if self.variance == "jackknife" or (self.variance == "auto" and evaluated and bare.error == "none" and few):
            if not few:
                self._refuse_jackknife(k)
            return metrics.Jackknife(bare)
        if self.variance == "bootstrap" or (evaluated and bare.error == "none"):
            return metrics.Bootstrap(bare)
        return bare

    def _by_cell(self, kinds: Kinds) -> metrics.Functional | None:
        """A user's function of a few distinct cells, if it accepts weights."""
        if not isinstance(self.metric, metrics.ScoreMetric) or not self.metric.takes_weights:
            return None
        found = kinds.without_weights(MOST_LEFT_OUT)
        if found is None:
            return None
        cells, cell = found
        return metrics.ByCell(self._bare(cells), cell)

    def check(self, sample: Sample, kinds: Kinds, masses: np.ndarray, whose: str, stratum: int) -> None:
        """Refuse a user's function that cannot be computed, and name the group."""
        if (
            isinstance(self.metric, metrics.Rate) or type(self.metric).check is metrics.BuiltIn.check
        ):  # accepts any people
            return
        weighted = masses if kinds.weight is None else masses * kinds.weight
        try:
            self.metric.check(metrics.Context(kinds.values, self.pos_label), weighted)
        except metrics.MetricError as problem:
            if sample.control_names:
                whose += f" of stratum {sample.stratum_labels[stratum]!r}"
            raise ParameterError(f"metric cannot be computed in {whose}: {problem}") from problem

    def _refuse_jackknife(self, k: int) -> None:
        if self.variance == "jackknife":
            if k <= MOST_LEFT_OUT:
                raise ParameterError(
                    "variance='jackknife' leaves out single people, but people in clusters are resampled by cluster: "
                    "use variance='auto' or 'bootstrap'"
                )
            raise ParameterError(
                f"variance='jackknife' is limited to {MOST_LEFT_OUT} kinds of people, but {self.name} distinguishes "
                f"{k:,}: use variance='bootstrap'"
            )

    def _bare(self, kinds: Kinds) -> metrics.Functional:
        if isinstance(self.metric, metrics.Rate):
            event, given = masks_of(self.metric, kinds.values, self.pos_label)
            return metrics.Share(event, given, self.metric.value, self.metric.slope)
        bare = self.metric.functional(metrics.Context(kinds.values, self.pos_label))
        return bare.less(self.origin) if type(bare) is metrics.Mean else bare

    def block(self, kinds: Kinds) -> np.ndarray:
        """Number the kinds among which labels are exchanged; -1 where they stay."""
        if self.within == "condition":
            counted = self._bare(kinds).base(np.ones(kinds.size)) > 0
            return np.where(counted, 0, -1).astype(np.int8)
        return kinds.blocks(self.within)


def masks_of(
    rate: metrics.Rate, columns: Mapping[str, Column | Numbers], pos_label: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Masks of the rows of columns that are counted in a rate's numerator and denominator."""
    named = {name: column for name, column in columns.items() if name in ("y_true", "y_pred")}
    positive = pos_label if rate.label is None else rate.label
    # By codes, too: which labels are equal does not depend on whether one of them is known to be positive.
    return rate.masks({name: c.is_label(positive) for name, c in named.items()}, metrics.shared_codes(named))


def binning_error(made: Evaluation, sample: Sample) -> float:
    """The most by which a group's value can differ from its value with the original scores.

    The built-in metrics are monotone in every score given the true label, or in its distance from the true number, so a
    few placements of the scores in their bins give the extremes.
    """
    kinds, bins = made.kinds, sample.score_bins
    name = "y_score" if "y_score" in sample.columns else "y_pred"  # scores are predictions where there are no others
    if bins is None or bins.exact or name not in kinds.values:
        return 0.0
    scores = kinds.values[name]
    place = np.searchsorted(bins.values, np.asarray(scores.values, dtype=float))
    counts = _counts(kinds, sample)
    shown = _values(made, kinds, counts)
    error = 0.0
    for placed in _placements(made, bins.low[place], bins.high[place]):
        moved = replace(kinds, values={**kinds.values, name: Numbers(name, placed)})
        error = max(error, float(np.nanmax(np.abs(_values(made, moved, counts) - shown), initial=0.0)))
    return error


def _placements(made: Evaluation, low: np.ndarray, high: np.ndarray) -> Iterator[np.ndarray]:
    yield low
    yield high
    truth = made.kinds.values.get("y_true")
    if truth is None:
        return
    if made.pos_label is not None or len(truth.levels) == 2:
        positive = truth.is_label(truth.levels[-1] if made.pos_label is None else made.pos_label)
        yield np.where(positive, high, low)
        yield np.where(positive, low, high)
    if truth.numbers is not None:
        yield np.clip(truth.numbers, low, high)
        yield np.where(truth.numbers - low > high - truth.numbers, low, high)


def _counts(kinds: Kinds, sample: Sample) -> np.ndarray:
    """Counts by stratum (the last: all together), group and kind, shape (S + 1, G, K)."""
    if kinds.counts is not None:
        counts = kinds.counts.astype(float)
    else:
        counts = np.zeros((len(sample.strata), len(sample.groups), kinds.size))
        counts[0 if kinds.stratum is None else kinds.stratum, kinds.group, np.arange(kinds.size)] = 1.0
    return np.concatenate([counts, counts.sum(axis=0, keepdims=True)])


def _values(made: Evaluation, kinds: Kinds, counts: np.ndarray) -> np.ndarray:
    functional = made.functional(kinds)
    return functional.values(functional.masses(counts))
