"""Two sides of a contrast in every stratum: in the data, under permuted labels, and in bootstrap samples.

A permutation is one draw of a table if many people share a cell; otherwise a random set of members, or of whole
clusters that lie in one side. If clusters reach over both sides, signs of their parts are flipped instead. Each
resample gives both values *and* their variances, so that every statistic has its own standard error (DiCiccio et al.
2020, sections 2 and 3).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import Any, Self, cast

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from skfairtest._utils.batches import batches
from skfairtest._utils.typing import Booleans, Floats, Moments, Positions
from skfairtest.comparisons.core import Design, groups_of
from skfairtest.comparisons.evaluation import Evaluation
from skfairtest.inference import draws, two_sides
from skfairtest.inference.homogeneity import Homogeneity, cochran_q
from skfairtest.inference.linear_form import EffectiveRates, Form, Linearized, effective_people, linear_form
from skfairtest.inference.rate_draws import Contrast
from skfairtest.metrics import Functional, Rate, Robust

#: Members held at once, a byte each; functions of masses hold several floats for each.
MEMBERS = 4_000_000
MASSES = 500_000
#: More blocks than this are permuted by sorting random numbers, not one by one.
FEW_BLOCKS = 16
#: A variance below this share of the largest square is a rounding error of 0.
ROUNDING = 1e-30


@dataclass(frozen=True)
class Stratum:
    """People of one stratum: `counts` (2, K) of each cell in two sides, or for bootstrap samples (G, K) in groups.

    Labels are permuted among cells of the same `block`; negative: not permuted. `rows`: each cell is one person.
    Clusters are resampled whole if each lies in one side or group, otherwise given random signs, or all together.
    """

    functional: Functional
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
            return _joined([self._flipped(draws.random_signs(piece, n, rng)) for piece in sizes])
        if self.rows:
            return _joined([self._evaluate(members, rng) for members in self._members(size, rng)])
        tables = (drawn[:, 0].astype(float) for drawn in draws.permuted(self.counts[None], self._blocks, size, rng))
        return _joined([self.functional.pair(drawn[:, 0], drawn[:, 1], rng=rng) for drawn in tables])

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
        return _joined(out)

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
        return [_joined(of_pair) for of_pair in zip(*parts, strict=True)]

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


def _joined(parts: Sequence[Moments]) -> Moments:
    return Moments(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def draw_permutations(strata: Sequence[Stratum], size: int, seed: np.random.SeedSequence) -> Moments:
    """Return moments (size, S) of permuted labels, all from one seed."""
    rng = np.random.default_rng(seed)
    return two_sides.columns([stratum.permuted(size, rng) for stratum in strata])


def draw_statistics(
    strata: Sequence[Stratum], averages: Sequence[tuple[Sequence[int], Floats, bool]], size: int,
    seed: np.random.SeedSequence,
) -> Floats:  # fmt: skip
    """Statistics (size, M) of permuted labels, from one seed; each of some strata, with weights, studentized or not."""
    moments = draw_permutations(strata, size, seed)
    found = [
        two_sides.statistic(two_sides.only(moments, where), weights, studentized=by) for where, weights, by in averages
    ]
    return np.stack(found, axis=-1)


def draw_bootstrap(
    strata: Sequence[Stratum], sets: Booleans, pairs: Sequence[tuple[int, int, bool]], size: int,
    seed: np.random.SeedSequence,
) -> list[Moments]:  # fmt: skip
    """Return moments (size, S) of each pair of sets of groups, all from one seed."""
    rng = np.random.default_rng(seed)
    found = [stratum.bootstrapped(sets, pairs, size, rng) for stratum in strata]
    return [two_sides.columns(of_pair) for of_pair in zip(*found, strict=True)]


@dataclass(frozen=True)
class TwoSides:
    """A contrast over the strata in which both sides are defined; arrays of both sides have shape (S, 2)."""

    evaluation: Evaluation
    overall: bool
    strata: dict[int, Stratum]

    def within(self, place: int | None) -> Self:
        """The sides in one stratum; None: in all of them."""
        return self if place is None else replace(self, strata={s: v for s, v in self.strata.items() if s == place})

    @cached_property
    def tested(self) -> Moments:
        """Moments (S,) of both sides, the second never everyone, with the errors of resamples."""
        return two_sides.columns([stratum.tested for stratum in self.strata.values()])

    @cached_property
    def unpooled(self) -> Moments:
        """The same with errors of values that differ."""
        return two_sides.columns([own_moments(self.evaluation, stratum) for stratum in self.strata.values()])

    @cached_property
    def shown(self) -> Moments:
        """The same with everyone as the second side if `overall`."""
        if not self.overall:
            return self.unpooled
        return two_sides.columns([stratum.observed(overall=True, null=False) for stratum in self.strata.values()])

    def _by_side(self, name: str) -> Floats:
        """A number of each stratum's functional, for both sides."""
        each = self.strata.values()
        return np.array([getattr(stratum.functional, name)(stratum.counts.astype(float)) for stratum in each])

    @cached_property
    def mass(self) -> Floats:
        """The people, or their weights, by whom values are averaged over strata."""
        return self._by_side("denominator")

    @cached_property
    def n_effective(self) -> Floats:
        """The effective people."""
        return self._by_side("effective")

    @cached_property
    def third_moments(self) -> Floats:
        """The third moments of the values' errors."""
        return self._by_side("third_moment")

    @cached_property
    def balanced(self) -> Floats:
        """Weights of the statistic: Mantel and Haenszel's."""
        return np.asarray(self.mass.prod(axis=1) / self.mass.sum(axis=1))

    @cached_property
    def weights(self) -> Floats:
        """Weights of the values shown: against everyone those of the group's own people."""
        return np.asarray(self.mass[:, 0]) if self.overall else self.balanced

    @property
    def nested(self) -> bool:
        """Whether each cluster lies in one side."""
        return all(stratum.clusters_nested for stratum in self.strata.values())

    @property
    def resampling(self) -> str:
        """What a resample does."""
        return "permutation" if self.nested else "sign flipping"

    def skewness(self) -> float:
        """The skewness of the difference's error over all strata; 0 for the normal distribution."""
        share = self.balanced / self.balanced.sum()
        spread = float((share**2 * (self.tested.first_variance + self.tested.second_variance)).sum())
        third = float((share**3 * (self.third_moments[:, 0] - self.third_moments[:, 1])).sum())
        return third / spread**1.5 if spread > 0 else 0.0

    def unseen(self, way: float) -> tuple[float, float]:
        """The skewness of the difference's error towards `way`, and the number of people behind it.

        The smaller side counts as at least as skewed as the larger one, because it may lack extreme values. Zeros if
        all people of a side are alike.
        """
        share = (self.balanced / self.balanced.sum())[:, None]
        variances = np.stack([self.tested.first_variance, self.tested.second_variance], axis=1)
        spread, third = (share**2 * variances).sum(axis=0), (share**3 * self.third_moments).sum(axis=0)
        if not spread.all():
            return 0.0, 0.0
        people = self.n_effective.sum(axis=0)
        counts = [(stratum.functional, stratum.counts.astype(float)) for stratum in self.strata.values()]
        informative = np.sum([functional.informative(of_both) for functional, of_both in counts], axis=0)
        shape = way * third / spread**1.5 * np.sqrt(people)
        assumed = np.where(people < people[::-1], [shape.max(), shape.min()], shape)
        first, second = assumed * (spread / spread.sum()) ** 1.5 / np.sqrt(people)
        return float(first - second), float((informative / people).min() * people.min())

    @cached_property
    def freedom(self) -> float:
        """Degrees of freedom of a difference of means (Welch and Satterthwaite); infinite where no mean is measured."""
        if not all(stratum.functional.is_mean for stratum in self.strata.values()):
            return np.inf
        share = self.balanced / self.balanced.sum()
        variances = np.stack([self.tested.first_variance, self.tested.second_variance], axis=1) * share[:, None] ** 2
        return two_sides.welch_freedom(variances, self.n_effective)

    def form(self, disparity: str, *, tested: bool = False) -> Form:
        """The linear form of the disparity: `tested` compares with the rest if the one shown compares with everyone."""
        weights, own = self.weights, self.unpooled
        low, high = self.evaluation.bounds
        # Between -1 and 1 a ratio is none of rates.
        if self.evaluation.is_scored and (disparity == "difference" or low == 0):
            shown = self.shown if not tested else own
            if tested:
                weights = self.balanced
            of_second = 0 if tested or not self.overall else 1  # everyone has the group's people beside their own
            people = [(s.functional, s.counts[0], s.counts[1] + of_second * s.counts[0]) for s in self.strata.values()]
            n1, n2 = np.array([f.worth(np.stack(both).astype(float)) for f, *both in people]).T
            with np.errstate(invalid="ignore"):
                alike = shown.covariance / np.sqrt(shown.first_variance * shown.second_variance)
            correlation = np.clip(np.nan_to_num(alike), -0.999, 0.999)
            none, share = np.zeros(len(n1)), weights / weights.sum()
            first, second = ((value - low) / (high - low) for value in (shown.first, shown.second))
            return EffectiveRates(
                first, second, n1, n2, share, none, correlation, disparity, skewed=True, width=high - low
            )
        if self.evaluation.has_effective_people:
            most1, most2 = self._most_people().T
            n1 = np.minimum(effective_people(own.first, own.first_variance), most1)
            n2 = np.minimum(effective_people(own.second, own.second_variance), most2)
            if self.evaluation.kinds.cluster is not None:  # by chance few clusters look more alike than single people
                counted = [(s.counts * in_base(s)).sum(axis=1) for s in self.strata.values()]
                n1, n2 = np.minimum((n1, n2), np.transpose(counted))
            correlation = np.clip(own.covariance / np.sqrt(own.first_variance * own.second_variance), -0.999, 0.999)
            part = self.mass[:, 0] / self.mass.sum(axis=1) * self.overall
            share = weights / weights.sum()
            return EffectiveRates(own.first, own.second, n1, n2, share, part, correlation, disparity)
        pooled = two_sides.pooled(self.spread_out(self.shown), weights)
        if self.evaluation.variance is None:  # what is not studentized has one error everywhere
            half = np.asarray(0.5)
            pooled = Moments(pooled.first, half, pooled.second, half, np.asarray(0.0))
        return Linearized(pooled, disparity)

    def _most_people(self) -> Floats:
        """The most effective people of both sides by stratum; at a margin no resamples say how uncertain rates are."""
        strata = list(self.strata.values())
        whole, at_margin = strata[0].functional, self.evaluation.question.margin_bounds is not None
        if not (at_margin and isinstance(whole, Robust) and whole.weight is not None and whole.cluster is None):
            return np.full((len(strata), 2), np.inf)
        return np.array([cast(Robust, s.functional).most_people(s.counts.astype(float)) for s in strata])

    def homogeneity(self, disparity: str) -> Homogeneity | None:
        """Test that the disparity to the rest is the same in every stratum."""
        if len(self.strata) < 2 or self.evaluation.variance is None:
            return None
        values, errors = two_sides.distance(self.spread_out(self.unpooled), disparity)
        return cochran_q(values, errors**2, disparity)

    def spread_out(self, moments: Moments) -> Moments:
        """Moments with an error for sides whose people are all alike, which does not mean certainty.

        They get the other side's spread; if both sides are alike, one person is added at the opposite end of the scale.
        A stratum of people all alike has no error if there are others.
        """
        v1, v2 = moments.first_variance, moments.second_variance
        n1, n2 = np.maximum(self.n_effective, 1.0).T
        noise = ROUNDING * np.maximum.reduce([v1, v2, moments.first**2, moments.second**2])
        alike1, alike2 = v1 <= noise, v2 <= noise
        low, high = self.evaluation.bounds
        width = high - low if (alike1 & alike2).all() else 0.0
        return moments._replace(
            first_variance=np.where(alike1, np.where(alike2, (width / (n1 + 1)) ** 2, v2 * n2 / n1), v1),
            second_variance=np.where(alike2, np.where(alike1, (width / (n2 + 1)) ** 2, v1 * n1 / n2), v2),
        )

    @cached_property
    def has_no_spread(self) -> bool:
        """Whether the difference has no error: all clusters show the same one."""
        pooled = two_sides.pooled(self.unpooled if self.nested else self.tested, self.weights)
        alike = self.nested and float(pooled.first_variance) == 0 and float(pooled.second_variance) == 0
        return not alike and float(linear_form(pooled, "difference", 0.0)[1]) == 0

    def is_alike(self) -> bool:
        """Whether all people of a side are alike in every stratum, or the difference has no error."""
        if self.evaluation.variance is None:
            kinds = np.array([(stratum.counts > 0).sum(axis=1) for stratum in self.strata.values()])
            return bool((kinds < 2).all(axis=0).any())
        if self.has_no_spread:
            return True
        own = self.unpooled
        if self.evaluation.has_effective_people or isinstance(self.evaluation.metric, Rate):
            return any(np.isin(value, (0.0, 1.0)).all() for value in (own.first, own.second))
        spread = self.spread_out(own)
        changed = ((own.first_variance, spread.first_variance), (own.second_variance, spread.second_variance))
        return any((before != after).all() for before, after in changed)


def own_moments(evaluation: Evaluation, stratum: Stratum) -> Moments:
    """Both sides of a stratum with errors of values that differ, if these are not the errors tested."""
    return stratum.own if evaluation.has_effective_people or not stratum.clusters_nested else stratum.tested


def in_base(stratum: Stratum) -> Booleans:
    """The cells (2, K) of people who are in the denominator."""
    return (stratum.functional.base(stratum.counts.astype(float)) > 0) & (stratum.counts > 0)


def evaluate_sides(
    design: Design, evaluation: Evaluation, contrast: Contrast, other: object
) -> tuple[TwoSides, dict[int, tuple[bool, bool]]]:
    """Evaluate both sides of a contrast; return also the strata in which a side is undefined, and which side."""
    sizes = design.sample.sizes
    sides = list(groups_of(sizes.shape[1], contrast))
    strata: dict[int, Stratum] = {}
    undefined: dict[int, tuple[bool, bool]] = {}
    for place in range(sizes.shape[0]):
        if not all(sizes[place][side].sum() for side in sides):
            continue
        kinds, counts = evaluation.kinds.within(place, sides)
        if contrast.second is None:
            rest = "rest" if contrast.overall else other
            whose = f"the {rest}, everyone but {design.group(contrast)!r}"
            evaluation.check(design.sample, kinds, counts[1], whose, place)
        stratum = Stratum(evaluation.functional(kinds), counts, evaluation.block(kinds), kinds.rows, kinds.cluster)
        nested, tested = stratum.clusters_nested, stratum.tested
        if not nested and evaluation.variance is None:  # signs are given to parts, which raw values have not
            stratum = replace(stratum, functional=replace(evaluation, variance="auto").functional(kinds))
            tested = stratum.tested
        known = tested if nested else stratum.own
        # The signs of one cluster's parts say nothing about how clusters differ.
        alone = [not nested and stratum.n_clusters(side) < 2 for side in in_base(stratum)]
        with np.errstate(invalid="ignore"):
            lacking = (
                bool(alone[0] or np.isnan(tested.first + tested.first_variance + known.first_variance)),
                bool(alone[1] or np.isnan(tested.second + tested.second_variance + known.second_variance)),
            )
        if any(lacking):
            undefined[place] = lacking
        else:
            strata[place] = stratum
    return TwoSides(evaluation, contrast.overall, strata), undefined
