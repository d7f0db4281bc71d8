"""One comparison of any metric: both sides' values in the data, under permuted labels, and in bootstrap samples.

A permutation is one draw of a table if many people share a cell; otherwise a random set of members, or of whole
clusters that lie in one side. If clusters reach over both sides, signs of their parts are flipped instead. Each
resample gives both values *and* their variances, so that every statistic has its own standard error (DiCiccio et al.
2020, sections 2 and 3).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any, Protocol

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from skfairtest._utils.batches import batches
from skfairtest._utils.errors import ParameterError
from skfairtest._utils.typing import Booleans, Floats, Moments, Positions
from skfairtest.inference import draws
from skfairtest.inference.resampling import critical_value, reference_quantiles
from skfairtest.inference.score import studentize, without_rounding

#: Members held at once, a byte each; functions of masses hold several floats for each.
MEMBERS = 4_000_000
MASSES = 500_000
#: So many draws have to lie beyond a critical value.
FEW_BEYOND = 5
#: More blocks than this are permuted by sorting random numbers, not one by one.
FEW_BLOCKS = 16


class Measure(Protocol):
    """The interface of a metric of K cells; counts have shape (..., K). Of values alone the `error` is "none"."""

    error: str

    @property
    def is_mean(self) -> bool:
        """Whether it is the mean of a value per person."""

    def pair(
        self, first: Floats, second: Floats, *, shared: bool = False, null: bool = True, rng: Generator | None = None
    ) -> Moments:
        """Moments of two sides; `shared`: the first is part of the second; `null`: errors may assume equal values."""

    def values(self, masses: Floats) -> Floats:
        """Values without their errors."""

    def split(self, members: NDArray[Any]) -> Moments | None:
        """Moments of both sides from memberships (b, K) in the first, if there is a fast way."""

    def units(self, counts: Floats) -> tuple[Floats, Floats, Floats]:
        """The value, and each cluster's part of its error and of its denominator."""


@dataclass(frozen=True)
class Stratum:
    """People of one stratum: `counts` (2, K) of each cell in two sides, or for bootstrap samples (G, K) in groups.

    Labels are permuted among cells of the same `block`; negative: not permuted. `rows`: each cell is one person.
    Clusters are resampled whole if each lies in one side or group, otherwise given random signs, or all together.
    """

    functional: Measure
    counts: NDArray[Any]
    block: Positions | None = None
    rows: bool = False
    cluster: Positions | None = None

    @cached_property
    def clusters_nested(self) -> bool:
        """Whether each cluster has people in one side or group only."""
        if self.cluster is None:
            return True
        present = [np.unique(self.cluster[side > 0]) for side in self.counts]
        return len(np.unique(np.concatenate(present))) == sum(map(len, present))

    def n_clusters(self, people: Booleans) -> int:
        """The number of clusters; people count if there are none."""
        return len(np.unique(np.flatnonzero(people) if self.cluster is None else self.cluster[people]))

    @cached_property
    def tested(self) -> Moments:
        """Both sides in the data, with errors that may assume equal values."""
        return self.observed()

    @cached_property
    def own(self) -> Moments:
        """Both sides in the data, with errors of values that differ."""
        return self.observed(null=False)

    def observed(self, *, overall: bool = False, null: bool = True) -> Moments:
        """Both sides in the data, the second being everyone if `overall`; if `null`, errors may assume equal values."""
        if null and not overall and not self.clusters_nested:
            return Moments(*(array[0] for array in self._flipped(np.ones((1, self._n_clusters)))))
        if self.rows and not overall:
            fast = self.functional.split(self.counts[:1].astype(np.uint8, copy=False))
            if fast is not None:
                return Moments(*(array[0] for array in fast))
        first, second = self.counts.astype(float)
        shown = first + second if overall else second
        return self.functional.pair(first, shown, shared=overall, null=null, rng=np.random.default_rng(0))

    def permuted(self, size: int, rng: Generator) -> Moments:
        """Both sides, shape (size,), under permuted labels, or random signs; the second side is never everyone."""
        if not self.clusters_nested:
            n = self._n_clusters
            sizes = (rows.stop - rows.start for rows in batches(size, MASSES // n))
            return _stack([self._flipped(draws.random_signs(piece, n, rng)) for piece in sizes])
        if self.rows:
            return _stack([self._evaluate(members, rng) for members in self._members(size, rng)])
        tables = (drawn[:, 0].astype(float) for drawn in draws.permuted(self.counts[None], self._blocks, size, rng))
        return _stack([self.functional.pair(drawn[:, 0], drawn[:, 1], rng=rng) for drawn in tables])

    @cached_property
    def _by_cluster(self) -> tuple[draws.Side, draws.Side]:
        """Both sides by cluster, evaluated once."""
        first, second = (self.functional.units(side) for side in self.counts.astype(float))
        return draws.Side(float(first[0]), *first[1:]), draws.Side(float(second[0]), *second[1:])

    @property
    def _n_clusters(self) -> int:
        return len(self._by_cluster[0].parts)

    def _flipped(self, signs: Floats) -> Moments:
        """Both sides when clusters' parts at the pooled value have these signs, (B, clusters)."""
        return draws.flipped(*self._by_cluster, signs)

    def _evaluate(self, members: NDArray[Any], rng: Generator) -> Moments:
        fast = self.functional.split(members)
        if fast is not None:
            return fast
        out = []
        for rows in batches(len(members), MASSES // max(1, members.shape[1])):
            part = members[rows].astype(float)
            out.append(self.functional.pair(part, 1.0 - part, rng=rng))
        return _stack(out)

    def _members(self, size: int, rng: Generator) -> Iterable[NDArray[np.uint8]]:
        n = self.counts.shape[1]
        observed = (self.counts[0] > 0).astype(np.uint8)
        for rows in batches(size, MEMBERS // max(1, n)):
            count = rows.stop - rows.start
            if self.cluster is not None:
                units = np.unique(self.cluster)
                in_first = np.zeros(int(self.cluster.max()) + 1, dtype=np.uint8)
                in_first[self.cluster] = observed
                drawn = np.zeros((count, len(in_first)), dtype=np.uint8)
                drawn[:, units] = draws.memberships(len(units), int(in_first[units].sum()), count, rng)
                yield drawn[:, self.cluster]
            else:
                yield _permuted_within(observed, self._blocks, count, rng)

    @cached_property
    def _blocks(self) -> list[Positions]:
        """The places of each block's people."""
        assert self.block is not None
        return [np.flatnonzero(self.block == number) for number in np.unique(self.block[self.block >= 0])]

    def bootstrapped(
        self, sets: Booleans, pairs: Sequence[tuple[int, int, bool]], size: int, rng: Generator
    ) -> list[Moments]:
        """Moments (size,) of pairs of `sets` (M, G) of groups in bootstrap samples within groups.

        A pair is the places of two sets, and whether the first is in the second.
        """
        parts: list[list[Moments]] = []
        n = self.counts.shape[1]
        for rows in batches(size, MASSES // max(1, n * (1 if self.rows else len(self.counts)))):
            drawn = self._resampled(rows.stop - rows.start, rng)
            counted = [np.asarray(reduce(np.add, drawn[side]), dtype=float) for side in sets]
            if self.functional.error == "none":  # each side is evaluated once
                values, none = [self.functional.values(side) for side in counted], np.zeros(len(counted[0]))
                parts.append([Moments(values[a], none, values[b], none, none) for a, b, _ in pairs])
                continue
            parts.append(
                [
                    self.functional.pair(counted[a], counted[b], shared=shared, null=False, rng=rng)
                    for a, b, shared in pairs
                ]
            )
        return [_stack(of_pair) for of_pair in zip(*parts, strict=True)]

    def _resampled(self, size: int, rng: Generator) -> NDArray[Any]:
        """Return counts (G, size, K)."""
        if self.cluster is None and not self.rows:
            return draws.bootstrapped(self.counts, size, rng)
        out = np.zeros((len(self.counts), size, self.counts.shape[1]), dtype=np.int64)
        if self.cluster is not None and not self.clusters_nested:
            units = np.unique(self.cluster)
            times = np.zeros((size, int(self.cluster.max()) + 1), dtype=np.int64)
            times[:, units] = draws.resampled_counts(len(units), size, rng)
            out[:] = times[:, self.cluster] * self.counts[:, None, :]
            return out
        for group, counts in enumerate(self.counts):
            place = np.flatnonzero(counts)
            alone = np.arange(len(place)) if self.cluster is None else self.cluster[place]
            units, of = np.unique(alone, return_inverse=True)
            out[group][:, place] = draws.resampled_counts(len(units), size, rng)[:, of.reshape(-1)]
        return out


def _permuted_within(
    observed: NDArray[np.uint8], blocks: Sequence[Positions], count: int, rng: Generator
) -> NDArray[np.uint8]:
    """Permute memberships within blocks of people."""
    if len(blocks) == 1 and len(blocks[0]) == len(observed):
        return draws.memberships(len(observed), int(observed.sum()), count, rng)
    out = np.tile(observed, (count, 1))
    if len(blocks) <= FEW_BLOCKS:
        for place in blocks:
            members = observed[place]
            out[:, place] = draws.memberships(len(members), int(members.sum()), count, rng)
        return out
    # Random numbers sorted within blocks put people in a random order there.
    moving, ranks = np.concatenate(blocks), np.repeat(np.arange(len(blocks)), [len(place) for place in blocks])
    for rows in batches(count, MASSES // len(observed)):
        keys = rng.random((rows.stop - rows.start, len(moving))) + ranks
        out[rows, moving] = observed[moving][np.argsort(keys, axis=1)]
    return out


def _stack(parts: Sequence[Moments]) -> Moments:
    return Moments(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def pooled(moments: Moments, weights: Floats) -> Moments:
    """Both sides' averages over the strata in which both are defined, with their variances; (..., S) -> (...,)."""
    with np.errstate(invalid="ignore", divide="ignore"):
        defined = ~np.isnan(moments.first + moments.second + moments.first_variance + moments.second_variance)
        share = np.where(defined, weights, 0.0)
        share = share / share.sum(axis=-1, keepdims=True)
        first, v1, second, v2, covariance = (
            np.where(share > 0, share**power * np.where(share > 0, part, 0.0), 0.0).sum(axis=-1)
            for part, power in zip(moments, (1, 2, 1, 2, 2), strict=True)
        )
    none = ~defined.any(axis=-1)
    return Moments(np.where(none, np.nan, first), v1, np.where(none, np.nan, second), v2, covariance)


def distance(moments: Moments, disparity: str) -> tuple[Floats, Floats]:
    """The difference, or the log ratio, and its standard error."""
    first, v1, second, v2, covariance = moments
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        if disparity == "ratio":
            negative = (first < 0) | (second < 0)
            found = np.where(negative, np.nan, np.log(np.abs(first)) - np.log(np.abs(second)))
            variance = v1 / first**2 + v2 / second**2 - 2 * covariance / (first * second)
        else:
            variance = v1 + v2 - 2 * covariance
            found = without_rounding(first - second, np.maximum(np.abs(first), np.abs(second)), variance)
        error = np.sqrt(np.maximum(variance, 0.0))
    # An infinite logarithm has no error: tests and intervals of ratios are those of `linear_form`.
    return found, np.where(np.isfinite(found), error, np.nan)


def statistic(moments: Moments, weights: Floats, *, studentized: bool = True) -> Floats:
    """The difference of strata's averages, over its standard error if `studentized`."""
    found, error = distance(pooled(moments, weights), "difference")
    return studentize(found, error) if studentized else found


def columns(moments: Sequence[Moments]) -> Moments:
    """Put strata beside each other: arrays (B,) become (B, S)."""
    return Moments(*(np.stack(arrays, axis=-1) for arrays in zip(*moments, strict=True)))


def only(moments: Moments, strata: Sequence[int]) -> Moments:
    """The moments of some strata."""
    return Moments(*(array[..., list(strata)] for array in moments))


def draw_permutations(strata: Sequence[Stratum], size: int, seed: np.random.SeedSequence) -> Moments:
    """Return moments (size, S) of permuted labels, all from one seed."""
    rng = np.random.default_rng(seed)
    return columns([stratum.permuted(size, rng) for stratum in strata])


def draw_statistics(
    strata: Sequence[Stratum], averages: Sequence[tuple[Sequence[int], Floats, bool]], size: int,
    seed: np.random.SeedSequence,
) -> Floats:  # fmt: skip
    """Statistics (size, M) of permuted labels, from one seed; each of some strata, with weights, studentized or not."""
    moments = draw_permutations(strata, size, seed)
    found = [statistic(only(moments, where), weights, studentized=by) for where, weights, by in averages]
    return np.stack(found, axis=-1)


def draw_bootstrap(
    strata: Sequence[Stratum], sets: Booleans, pairs: Sequence[tuple[int, int, bool]], size: int,
    seed: np.random.SeedSequence,
) -> list[Moments]:  # fmt: skip
    """Return moments (size, S) of each pair of sets of groups, all from one seed."""
    rng = np.random.default_rng(seed)
    found = [stratum.bootstrapped(sets, pairs, size, rng) for stratum in strata]
    return [columns(of_pair) for of_pair in zip(*found, strict=True)]


def check_size(people: int) -> None:
    """Raise ValueError for a billion people or more, whose tables the random-number library cannot draw."""
    if people >= draws.MOST_PEOPLE:
        raise ParameterError(
            f"method='permutation' can draw tables of fewer than {draws.MOST_PEOPLE:,} people, found {people:,}: "
            "use method='asymptotic'"
        )


def welch_freedom(variances: Floats, people: Floats) -> float:
    """Satterthwaite's degrees of freedom of a sum of variances; infinite if it is 0.

    Examples
    --------
    >>> round(welch_freedom(np.array([1.0, 1.0]), np.array([11.0, 11.0])), 6)
    20.0
    """
    total = float(variances.sum())
    if not 0 < total < np.inf:
        return np.inf
    return float(1 / ((variances / total) ** 2 / np.maximum(people - 1, 1.0)).sum())


def limits(
    estimate: float, error: float, ends: tuple[float, float], critical: tuple[float, float]
) -> tuple[float, float]:
    """Studentized limits; the bounds without a standard error."""
    low, high = critical
    if not np.isfinite(estimate) or not error > 0:
        return ends
    below = -np.inf if np.isinf(low) else estimate - low * error
    above = np.inf if np.isinf(high) else estimate + high * error
    return max(ends[0], float(below)), min(ends[1], float(above))


def critical_values(
    drawn: Floats | None,
    alternative: str,
    error: float,
    *,
    studentized: bool = True,
    freedom: float = np.inf,
    skewness: float = 0.0,
) -> tuple[float, float]:
    """The critical values below and above an estimate, at least the quantiles of t and of Hall's transformation."""
    each = error if alternative in ("greater", "less") else error / 2
    ends = reference_quantiles(each, freedom, skewness) if studentized else (np.inf, np.inf)
    drawn_z = None if drawn is None else critical_value(drawn, alternative, error, FEW_BEYOND)
    if drawn_z is not None:
        ends = (max(ends[0], drawn_z), max(ends[1], drawn_z)) if studentized else (drawn_z, drawn_z)
    return (np.inf if alternative == "less" else ends[0]), (np.inf if alternative == "greater" else ends[1])
