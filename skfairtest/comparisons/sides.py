"""Two sides of a contrast, evaluated in every stratum, with their errors."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self, cast

import numpy as np

from skfairtest._utils.typing import Floats, Moments
from skfairtest.comparisons.core import Design, groups_of
from skfairtest.comparisons.evaluation import Evaluation
from skfairtest.inference import two_sides
from skfairtest.inference.homogeneity import Homogeneity, cochran_q
from skfairtest.inference.linear_form import EffectiveRates, Form, Linearized, effective_people, linear_form
from skfairtest.inference.rate_draws import Contrast
from skfairtest.inference.two_sides import Statistic, Stratum
from skfairtest.metrics import Mean, Rate, Robust

#: A variance below this share of the largest square is a rounding error of 0.
ROUNDING = 1e-30


@dataclass(frozen=True)
class TwoSides:
    """A contrast over the strata (`places`) in which both sides are defined.

    Moments, shape (S,): `shown`, the second side perhaps everyone; `tested`, never everyone, with the errors of
    resamples; `unpooled`, with errors of values that differ. Arrays of shape (S, 2): the `mass` by which values are
    averaged, the effective people, the people and the third moments of both sides. `n_equivalent`: effective people of
    values tested as rates, of both sides and everyone.
    """

    evaluation: Evaluation
    overall: bool
    places: list[int]
    strata: list[Stratum]
    shown: Moments
    tested: Moments
    unpooled: Moments
    mass: Floats
    n_effective: Floats
    n_people: Floats
    third_moments: Floats
    n_equivalent: Floats

    def within(self, place: int | None) -> Self:
        """The sides in one stratum; None: in all of them."""
        if place is None:
            return self
        at = [number for number, own in enumerate(self.places) if own == place]
        moments = ("shown", "tested", "unpooled")
        arrays = ("mass", "n_effective", "n_people", "third_moments", "n_equivalent")
        kept: dict[str, Any] = {name: Moments(*(column[at] for column in getattr(self, name))) for name in moments}
        kept |= {name: getattr(self, name)[at] for name in arrays}
        return replace(self, places=[place] * len(at), strata=[self.strata[number] for number in at], **kept)

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
        return all(stratum.clusters_nested for stratum in self.strata)

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
        counts = [(cast(Mean, stratum.functional), stratum.counts.astype(float)) for stratum in self.strata]
        informative = np.sum([functional.informative(of_both) for functional, of_both in counts], axis=0)
        shape = way * third / spread**1.5 * np.sqrt(people)
        assumed = np.where(people < people[::-1], [shape.max(), shape.min()], shape)
        first, second = assumed * (spread / spread.sum()) ** 1.5 / np.sqrt(people)
        return float(first - second), float((informative / people).min() * people.min())

    @cached_property
    def freedom(self) -> float:
        """Degrees of freedom of a difference of means (Welch and Satterthwaite); infinite where no mean is measured."""
        if not all(stratum.functional.is_mean for stratum in self.strata):
            return np.inf
        share = self.balanced / self.balanced.sum()
        variances = np.stack([self.tested.first_variance, self.tested.second_variance], axis=1) * share[:, None] ** 2
        return two_sides.welch_freedom(variances, self.n_effective)

    def form(self, disparity: str, *, tested: bool = False) -> Form:
        """The disparity at any size, `tested` or as shown; tested against the rest if shown against everyone."""
        weights, own = self.weights, self.unpooled
        low, high = self.evaluation.bounds
        # Between -1 and 1 a ratio is none of rates.
        if self.evaluation.is_scored and (disparity == "difference" or low == 0):
            shown = self.shown if not tested else own
            if tested:
                weights = self.balanced
            n1, n2 = (self.n_equivalent[:, at] for at in (0, 1 if tested else -1))
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
            if self.strata[0].cluster is not None:  # by chance few clusters look more alike than single people
                n1, n2 = np.minimum(n1, self.n_people[:, 0]), np.minimum(n2, self.n_people[:, 1])
            correlation = np.clip(own.covariance / np.sqrt(own.first_variance * own.second_variance), -0.999, 0.999)
            part = self.mass[:, 0] / self.mass.sum(axis=1) * self.overall
            share = weights / weights.sum()
            return EffectiveRates(own.first, own.second, n1, n2, share, part, correlation, disparity)
        pooled = Statistic(disparity, weights).pooled(self.spread_out(self.shown))
        if self.evaluation.variance is None:  # what is not studentized has one error everywhere
            half = np.asarray(0.5)
            pooled = Moments(pooled.first, half, pooled.second, half, np.asarray(0.0))
        return Linearized(pooled, disparity)

    def _most_people(self) -> Floats:
        """The most effective people of both sides by stratum; at a margin no resamples say how uncertain rates are."""
        whole, at_margin = self.strata[0].functional, self.evaluation.question.margin_bounds is not None
        if not (at_margin and isinstance(whole, Robust) and whole.weight is not None and whole.cluster is None):
            return np.full((len(self.strata), 2), np.inf)
        return np.array([cast(Robust, s.functional).most_people(s.counts.astype(float)) for s in self.strata])

    def homogeneity(self, disparity: str) -> Homogeneity | None:
        """Test that the disparity to the rest is the same in every stratum."""
        if len(self.strata) < 2 or self.evaluation.variance is None:
            return None
        own, one = self.spread_out(self.unpooled), Statistic(disparity, np.ones(1))
        found = [one.distance(two_sides.only(own, slice(place, place + 1))) for place in range(len(self.strata))]
        values, errors = np.array(found, dtype=float).T
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
        pooled = Statistic("difference", self.weights).pooled(self.unpooled if self.nested else self.tested)
        alike = self.nested and float(pooled.first_variance) == 0 and float(pooled.second_variance) == 0
        return not alike and float(linear_form(pooled, "difference", 0.0)[1]) == 0

    def is_alike(self) -> bool:
        """Whether all people of a side are alike in every stratum, or the difference has no error."""
        if self.evaluation.variance is None:
            kinds = np.array([(stratum.counts > 0).sum(axis=1) for stratum in self.strata])
            return bool((kinds < 2).all(axis=0).any())
        if self.has_no_spread:
            return True
        own = self.unpooled
        if self.evaluation.has_effective_people or isinstance(self.evaluation.metric, Rate):
            return any(np.isin(value, (0.0, 1.0)).all() for value in (own.first, own.second))
        spread = self.spread_out(own)
        changed = ((own.first_variance, spread.first_variance), (own.second_variance, spread.second_variance))
        return any((before != after).all() for before, after in changed)


def evaluate_sides(
    design: Design, evaluation: Evaluation, contrast: Contrast, other: object
) -> tuple[TwoSides, dict[int, tuple[bool, bool]]]:
    """Evaluate both sides of a contrast; return also the strata in which a side is undefined, and which side."""
    sizes = design.sample.sizes
    first, second = groups_of(sizes.shape[1], contrast)
    parts: list[tuple[Any, ...]] = []
    undefined: dict[int, tuple[bool, bool]] = {}
    for place in range(sizes.shape[0]):
        if not (sizes[place][first].sum() and sizes[place][second].sum()):
            continue
        kinds, counts = evaluation.kinds.within(place, [first, second])
        if contrast.second is None:
            rest = "rest" if contrast.overall else other
            whose = f"the {rest}, everybody but {design.group(contrast)!r}"
            evaluation.check(design.sample, kinds, counts[1], whose, place)
        functional = evaluation.functional(kinds)
        plain = Stratum(functional, counts, evaluation.block(kinds), kinds.rows, kinds.cluster)
        nested = plain.clusters_nested
        if not nested and evaluation.variance is None:  # signs are given to parts, which raw values have not
            plain = replace(plain, functional=replace(evaluation, variance="auto").functional(kinds))
        tested = plain.observed(np.random.default_rng(0))
        # Elsewhere what is shown is what is tested.
        differs = evaluation.has_effective_people or not nested
        own = plain.observed(np.random.default_rng(0), null=False) if differs else tested
        known = tested if nested else own
        present = (functional.base(counts.astype(float)) > 0) & (counts > 0)
        # The signs of one cluster's parts say nothing about how clusters differ.
        alone = [not nested and plain.n_clusters(side) < 2 for side in present]
        with np.errstate(invalid="ignore"):
            lacking = (
                bool(alone[0] or np.isnan(tested.first + tested.first_variance + known.first_variance)),
                bool(alone[1] or np.isnan(tested.second + tested.second_variance + known.second_variance)),
            )
        if any(lacking):
            undefined[place] = lacking
            continue
        shown = own
        if contrast.overall:
            shown = replace(plain, overall=True).observed(np.random.default_rng(0), null=False)
        worth = np.zeros(0)
        if evaluation.is_scored:
            everybody = [counts.sum(axis=0)] if contrast.overall else []
            worth = functional.worth(np.vstack([counts, *everybody]).astype(float))
        parts.append((
            place, plain, shown, tested, own, functional.denominator(counts),
            functional.effective(counts.astype(float)),
            (counts * present).sum(axis=1), functional.third_moment(counts), worth,
        ))  # fmt: skip
    places, strata, *of_each = map(list, zip(*parts, strict=True)) if parts else [[] for _ in range(10)]
    shown, tested, own = (two_sides.columns(each) if each else Moments(*np.zeros((5, 0))) for each in of_each[:3])
    arrays = map(np.array, of_each[3:])
    return TwoSides(evaluation, contrast.overall, places, strata, shown, tested, own, *arrays), undefined
