"""Metrics as functions of counts: their value, and each cell's part of its linearized error.

The sum of squared parts per person is the variance; parts summed by cluster first give the cluster-robust one.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from skfairtest._utils.batches import batches
from skfairtest._utils.checks import origin
from skfairtest._utils.typing import Booleans, Floats, Moments
from skfairtest.metrics.auc import CHUNK, both_sides, center, shares_below

Members = NDArray[Any]

#: Columns of a membership matrix that are turned into floats at a time: they stay in the cache.
COLUMNS = 1 << 13
#: Units of the pooled spread that a share's variance is averaged with under the null hypothesis.
PRIOR = 10.0
#: Kinds of people that are many.
MANY = 100_000
#: A variance below this share of the largest square is a rounding error of 0.
ROUNDING = 1e-24
#: Shares below this are a rounding error of 0.
ALIKE = 1e-12
#: The area of scores that say nothing.
HALF = 0.5


def per_person(parts: Floats, counts: Floats) -> Floats:
    """Return each person's part of a cell's; 0 for empty cells."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(counts > 0, parts / counts, 0.0)


def kish(masses: Floats, counts: Floats) -> Floats:
    """The number of people of one weight that masses (..., K) of people are worth (Kish 1965); 0 for an empty group."""
    squares = (masses * per_person(masses, counts)).sum(axis=-1)
    return np.where(squares > 0, ratio_of(masses.sum(axis=-1) ** 2, squares), 0.0)


def ratio_of(above: Floats, below: Floats) -> Floats:
    """Divide; by 0 without a warning."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(above / below)


def over_kurtosis(people: Floats, second: Floats, fourth: Floats) -> Floats:
    """The number of people over their kurtosis less one, from sums of powers."""
    excess = people * fourth - second**2
    some = second > people * ROUNDING
    return np.where(some, ratio_of(people * second**2, np.maximum(excess, 1e-300)), 0.0).clip(0.0, people)


def worth(value: Floats, variance: Floats, misplaced: Floats, least: Floats) -> Floats:
    """The number of people that a value between 0 and 1 is worth, as if it were a rate.

    Examples
    --------
    >>> [
    ...     round(float(worth(0.9, v, k, 50.0)), 1)
    ...     for v, k in ((0.001, 20.0), (0.001, 1.0), (0.0, 0.0))
    ... ]
    [86.7, 64.3, 50.0]
    """
    # The n at which value (1 - value) / n is the variance, were one more person misplaced as badly as possible: with
    # few misplaced people the variance may be far too small, and is 0 with none.
    value, variance = np.asarray(value, dtype=float), np.asarray(variance, dtype=float)
    spread = value * (1 - value)
    each = np.where(spread > 0, variance, 0.0) / np.where(spread > 0, spread, 1.0)
    return np.asarray((misplaced + 1) / (misplaced * each + 1 / np.maximum(least, 1.0)))


class Functional:
    """A metric on a fixed list of cells. Counts and masses have shape (..., K), values and variances (...,)."""

    #: The smallest and largest value there can be.
    bounds: tuple[float, float] = (-np.inf, np.inf)
    #: What its standard error is called.
    error = "delta"
    #: Whether people come in clusters, which may lie on both sides.
    clustered = False
    #: Whether it is the mean of a value per person, whose studentized difference has about a t distribution.
    is_mean = False
    #: Whether it is tested as a rate of the people that it is worth; its bounds are then finite.
    is_rate_like = False
    #: Whether it says how many people are misplaced.
    counts_misplaced = False

    def masses(self, counts: Floats) -> Floats:
        """The weights of the counts of people."""
        return counts

    def values(self, masses: Floats) -> Floats:
        """Return the metric; NaN where it is undefined."""
        return self.parts(masses)[0]

    def parts(self, masses: Floats, pooled: Floats | None = None) -> tuple[Floats, Floats]:
        """Return the metric and each cell's part of its linearized error, mass times derivative by mass."""
        raise NotImplementedError

    def sampled(self, parts: Floats, counts: Floats) -> tuple[Floats, Floats]:
        """Return the part of each sampled unit, a person or a cluster, and how often it is there; arrays (..., U)."""
        return per_person(parts, counts), counts

    def moments(self, counts: Floats, rng: Generator | None = None) -> tuple[Floats, Floats]:
        """Return the metric and the variance of independent people."""
        value, parts = self.parts(counts)
        return value, (parts * per_person(parts, counts)).sum(axis=-1) * correction(counts)

    def pair(
        self, first: Floats, second: Floats, *, shared: bool = False, null: bool = True, rng: Generator | None = None
    ) -> Moments:
        """Return both sides of a comparison; with `shared` the first side's people are part of the second."""
        v1, q1 = self.moments(first, rng)
        v2, q2 = self.moments(second, rng)
        covariance = np.zeros_like(v1)
        if shared:
            u1 = per_person(self.parts(first)[1], first)
            u2 = per_person(self.parts(second)[1], second)
            covariance = covariance_of(u1, first, u2, second)
        return Moments(v1, q1, v2, q2, covariance)

    def third_moment(self, counts: Floats) -> Floats:
        """Return the third moment of the value's linearized error: how far its distribution is from the normal one."""
        if counts.shape[-1] > MANY:
            return np.zeros(counts.shape[:-1])
        each, times = self.sampled(self.parts(counts)[1], counts)
        return np.asarray((times * each**3).sum(axis=-1))

    def split(self, members: Members) -> Moments | None:
        """Return both sides from memberships (b, K) of 0 and 1 in the first, where there is a fast way."""
        return None

    def effective(self, counts: Floats) -> Floats:
        """The number of people on whom the value rests: the smallest of its denominators."""
        return np.asarray(counts.sum(axis=-1), dtype=float)

    def base(self, masses: Floats) -> Floats:
        """Return each cell's part of the denominator."""
        return np.asarray(masses, dtype=float)

    def denominator(self, masses: Floats) -> Floats:
        """Return the denominator of the value: its weight among strata."""
        return np.asarray(self.base(masses).sum(axis=-1))

    def units(self, counts: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the metric, and each sampled unit's (person's or cluster's) part of its error and of its base."""
        counts = np.asarray(counts, dtype=float)
        value, parts = self.parts(counts)
        (each, times), (base, _) = self.sampled(parts, counts), self.sampled(self.base(counts), counts)
        return value, each * times, base * times

    def informative(self, counts: Floats) -> Floats:
        """The number of people who carry information about the uncertainty; fewer than about ten are too few."""
        return self.effective(counts) / 3

    def worth(self, counts: Floats, weight: Floats | None = None) -> Floats:
        """Return the number of people that values are worth, tested as rates; people (..., K) may have weights (K,)."""
        raise NotImplementedError

    def misplaced(self, masses: Floats, counts: Floats) -> tuple[Floats, Floats]:
        """Return the effective number of people on the wrong side, and the people whose rate the value is at worst."""
        raise NotImplementedError


class Mean(Functional):
    """Mean of a value per cell, with the variance s^2 / n (ddof 1): its permutation test is Welch's."""

    error = "welch"
    is_mean = True

    def __init__(self, z: Floats, bounds: tuple[float, float] = (-np.inf, np.inf)) -> None:
        self.origin = self.shift = origin(z)
        z = np.asarray(z, dtype=float) - self.origin
        self.centre = float(z.mean()) if len(z) else 0.0
        self.z = z - self.centre
        self.bounds = bounds
        self._squares = self.z**2
        self._unit = float(np.abs(self.z).max(initial=0.0)) or 1.0
        self._noise = ROUNDING * float(self._squares.max(initial=0.0))

    def less(self, amount: float) -> Self:
        """Return the mean less an amount, which is subtracted before digits are lost."""
        self.shift = self.origin - amount
        return self

    def parts(self, masses: Floats, pooled: Floats | None = None) -> tuple[Floats, Floats]:
        """Return the mean and each cell's deviation from it, over the total."""
        total = masses.sum(axis=-1)
        mean = ratio_of(masses @ self.z, total)
        with np.errstate(invalid="ignore"):
            return mean + self.centre + self.shift, masses * ratio_of(self.z - mean[..., None], total[..., None])

    def _finish(self, sums: Floats, people: Floats) -> tuple[Floats, Floats]:
        mean = ratio_of(sums[..., 0], people)
        spread = sums[..., 1] - sums[..., 0] * np.where(people > 0, mean, 0.0)
        spread = np.where(spread <= self._noise * np.maximum(people, 1.0), 0.0, spread)
        variance = ratio_of(spread, people * np.maximum(people - 1.0, 1.0))
        return mean + self.centre + self.shift, np.where(people == 1, np.nan, variance)

    def moments(self, counts: Floats, rng: Generator | None = None) -> tuple[Floats, Floats]:
        """Return the mean and s^2 / n."""
        return self._finish(self._sums(counts), counts.sum(axis=-1, dtype=float))

    def third_moment(self, counts: Floats) -> Floats:
        """Return the third central moment over the square of the number of people."""
        people = counts.sum(axis=-1, dtype=float)
        with np.errstate(over="ignore", invalid="ignore"):
            return np.asarray(ratio_of(self._central(counts, 3), people**3) * self._unit**3)

    def informative(self, counts: Floats) -> Floats:
        """Return the people over kurtosis less one: the relative variance of s^2 is one over it."""
        people = counts.sum(axis=-1, dtype=float)
        return over_kurtosis(people, self._central(counts, 2), self._central(counts, 4))

    def _central(self, counts: Floats, power: int) -> Floats:
        """Return the sum of a power of the deviations from the mean, in units of the largest value."""
        people = counts.sum(axis=-1, dtype=float)
        mean = ratio_of(self._sums(counts)[..., 0], people)[..., None]
        total = np.zeros(counts.shape[:-1])
        for cells in batches(counts.shape[-1], COLUMNS):
            deviation = ((self.z[cells] - mean) / self._unit) ** power
            total += (counts[..., cells] * np.where(np.isnan(mean), 0.0, deviation)).sum(axis=-1)
        return total

    def _sums(self, counts: Members) -> Floats:
        out = np.zeros((*counts.shape[:-1], 2))
        for cells in batches(counts.shape[-1], COLUMNS):
            block = counts[..., cells].astype(float)
            out[..., 0] += block @ self.z[cells]
            out[..., 1] += block @ self._squares[cells]
        return out

    def split(self, members: Members) -> Moments:
        """Return both means from one pass: what is not in the first side is in the second."""
        sums = self._sums(members)
        people = np.array([np.count_nonzero(row) for row in members.view(bool)], dtype=float)
        v1, q1 = self._finish(sums, people)
        v2, q2 = self._finish(np.array([self.z.sum(), self._squares.sum()]) - sums, members.shape[-1] - people)
        return Moments(v1, q1, v2, q2, np.zeros_like(v1))


class Share(Functional):
    """A rate (or an increasing function of one) of people who may be weighted or clustered."""

    def __init__(
        self,
        event: Booleans | Floats,
        given: Booleans | Floats,
        value: Callable[[Floats], Floats] | None = None,
        slope: Callable[[Floats], Floats] | None = None,
    ) -> None:
        self.event, self.given = event.astype(float), given.astype(float)
        self.value, self.slope = value, slope
        self.bounds = (0.0, 1.0)

    def parts(self, masses: Floats, pooled: Floats | None = None) -> tuple[Floats, Floats]:
        """Return the rate and each cell's deviation from it, or from the pooled one."""
        total = masses @ self.given
        rate = ratio_of(masses @ self.event, total)
        centre = rate if pooled is None else ratio_of(pooled @ self.event, pooled @ self.given)
        with np.errstate(invalid="ignore"):  # undefined if no one meets the condition
            parts = masses * ratio_of(self.event - centre[..., None] * self.given, total[..., None])
            if self.value is None or self.slope is None:
                return rate, parts
            return self.value(rate), parts * self.slope(centre)[..., None]

    def effective(self, counts: Floats) -> Floats:
        """The number of people who meet the condition."""
        return np.asarray(counts @ (self.given > 0).astype(float))

    def base(self, masses: Floats) -> Floats:
        """Return the mass of those who meet the condition."""
        return np.asarray(masses * self.given)

    def informative(self, counts: Floats) -> Floats:
        """The number of people who meet the condition: the error is taken around the pooled rate."""
        return self.effective(counts)

    def pair(
        self, first: Floats, second: Floats, *, shared: bool = False, null: bool = True, rng: Generator | None = None
    ) -> Moments:
        """Return both rates, with errors around the pooled one under the null hypothesis."""
        return share_pair(self, self, first, second, shared=shared, null=null)


class Auc(Functional):
    """Area under the ROC curve with DeLong's variance; ties count one half. It is tested as a rate."""

    error = "delong"
    bounds = (0.0, 1.0)
    is_rate_like = counts_misplaced = True

    def __init__(self, positive: Booleans, score: Floats) -> None:
        by_score = (
            cells[np.argsort(score[cells], kind="stable")] for cells in map(np.flatnonzero, (positive, ~positive))
        )
        self.positive, self.negative = by_score
        above, below = score[self.positive], score[self.negative]
        self._below, self._above = both_sides(below, above), both_sides(above, below)

    def parts(self, masses: Floats, pooled: Floats | None = None) -> tuple[Floats, Floats]:
        """Return the area and, for each person, how far the share of the other class on the right side is from it."""
        *shape, n = masses.shape
        flat = np.asarray(masses, dtype=float).reshape(int(np.prod(shape)), n)
        value, out = np.empty(len(flat)), np.empty_like(flat)
        for rows in batches(len(flat), CHUNK // max(1, n)):
            up, down = (flat[rows].take(cells, axis=1) for cells in (self.positive, self.negative))
            below, above = shares_below(down, *self._below), 1 - shares_below(up, *self._above)
            value[rows] = center(below, up)
            center(above, down)
            out[rows, self.positive], out[rows, self.negative] = below, above
        return value.reshape(shape), out.reshape(masses.shape)

    def moments(self, counts: Floats, rng: Generator | None = None) -> tuple[Floats, Floats]:
        """Return the area and DeLong's variance."""
        value, parts = self.parts(counts)
        return value, self.variance(parts, counts)

    def variance(self, parts: Floats, counts: Floats) -> Floats:
        """Return DeLong's variance: each class is corrected for its size, and one person adds nothing."""
        squares, total = parts * per_person(parts, counts), np.zeros(counts.shape[:-1])
        for cells in (self.positive, self.negative):
            people = counts[..., cells].sum(axis=-1, dtype=float)
            each = np.where(people == 1, 0.0, squares[..., cells].sum(axis=-1) * correction(counts[..., cells]))
            total = total + each
        return total

    def effective(self, counts: Floats) -> Floats:
        """Return the size of the smaller class."""
        classes = (counts[..., cells].sum(axis=-1) for cells in (self.positive, self.negative))
        return np.asarray(np.minimum(*classes), dtype=float)

    def informative(self, counts: Floats) -> Floats:
        """Return twice the people of the smaller class who would be on the wrong side of a random one of the other."""
        area = self.moments(counts)[0]
        return np.asarray(2 * self.effective(counts) * np.minimum(area, 1 - area))

    def worth(self, counts: Floats, weight: Floats | None = None) -> Floats:
        """Return the effective number of people, if one more person is misclassified."""
        masses = counts if weight is None else counts * weight
        if weight is None:
            value, variance = self.moments(counts)
        else:
            value, parts = self.parts(masses)
            variance = (parts * per_person(parts, counts)).sum(axis=-1) * correction(counts)
        return worth(value, variance, *self.misplaced(masses, counts))

    def misplaced(self, masses: Floats, counts: Floats) -> tuple[Floats, Floats]:
        """Return the effective number of misranked people, and the smaller class's effective number."""
        area, parts = self.parts(masses)
        wrong, many = np.minimum(area, 1 - area), []
        for cells in (self.positive, self.negative):
            mass, people = masses[..., cells], counts[..., cells]
            share = ratio_of(mass, mass.sum(axis=-1, keepdims=True))
            # Below an area of one half those who are ranked rightly are the few.
            each = share * wrong[..., None] + np.where(area < HALF, 1.0, -1.0)[..., None] * parts[..., cells]
            each = np.where(each > ALIKE * share, each, 0.0)
            squares = (share * per_person(share, people)).sum(axis=-1)
            many.append((kish(each, people), ratio_of(np.ones_like(area), squares)))
        return np.minimum(many[0][0], many[1][0]), np.minimum(many[0][1], many[1][1])


class Undifferentiated(Functional):
    """A metric with values and a variance, but no parts."""

    def parts(self, masses: Floats, pooled: Floats | None = None) -> tuple[Floats, Floats]:
        """Return parts of nothing."""
        return self.values(masses), np.zeros(masses.shape)

    def pair(
        self, first: Floats, second: Floats, *, shared: bool = False, null: bool = True, rng: Generator | None = None
    ) -> Moments:
        """Return both sides."""
        (v1, q1), (v2, q2) = self.moments(first, rng), self.moments(second, rng)
        # With everyone, as if everyone's value were an average over groups.
        covariance = ratio_of(first.sum(axis=-1), second.sum(axis=-1)) * q1 if shared else np.zeros_like(v1)
        return Moments(v1, q1, v2, q2, covariance)


class Evaluated(Undifferentiated):
    """A metric written by a user: any function of masses, one table at a time or many."""

    error = "none"

    def __init__(
        self,
        evaluate: Callable[[Floats], Floats],
        variance: Callable[[Floats], Floats] | None = None,
        bounds: tuple[float, float] = (-np.inf, np.inf),
    ) -> None:
        self.evaluate, self.variance, self.bounds = evaluate, variance, bounds
        if variance is not None:
            self.error = "own"

    def values(self, masses: Floats) -> Floats:
        """Return the function's values."""
        return self.evaluate(masses)

    def moments(self, counts: Floats, rng: Generator | None = None) -> tuple[Floats, Floats]:
        """Return the function's values and variances; 0 where no variance was given (the raw statistic)."""
        value = self.evaluate(counts)
        return value, np.zeros_like(value) if self.variance is None else self.variance(counts)


def correction(times: Floats) -> Floats:
    """Return n / (n - 1) of the sampled units; NaN of one, who says nothing about how units differ."""
    units = times.sum(axis=-1)
    return np.where(units > 1, ratio_of(units, units - 1.0), np.nan)


def share_pair(
    functional: Functional, rate: Share, first: Floats, second: Floats, *, shared: bool, null: bool
) -> Moments:
    """Return two shares of people who may be weighted or clustered, with errors that do not vanish without events."""
    together = (second if shared else first + second) if null else None
    sides = [_share_of(functional, rate, counts, together) for counts in (first, second)]
    if null:
        squares = sum((side.squares * side.total**2 for side in sides), np.zeros(()))
        spread = ratio_of(squares, sides[0].units_squared + sides[1].units_squared)  # per squared mass
        variances = []
        for side in sides:
            share = ratio_of(side.units, side.units + PRIOR)
            pooled = spread * ratio_of(side.units_squared, side.total**2)
            variances.append(share * side.squares + (1 - share) * pooled)
    else:
        variances = [
            _with_two_more(functional, rate, counts, side) for counts, side in zip((first, second), sides, strict=True)
        ]
    covariance = np.zeros_like(sides[0].value)
    if shared or functional.clustered:
        covariance = covariance_of(sides[0].each, sides[0].times, sides[1].each, sides[1].times)
    return Moments(sides[0].value, variances[0], sides[1].value, variances[1], covariance)


class _ShareOf(NamedTuple):
    """A share of one side: arrays (..., U) of sampled units, which are people or clusters, and sums over them."""

    value: Floats
    each: Floats  # a unit's part of the value's error
    times: Floats
    masses: Floats
    total: Floats
    units: Floats  # those who have any mass
    squares: Floats  # of the parts
    units_squared: Floats  # masses


def _share_of(functional: Functional, rate: Share, counts: Floats, together: Floats | None) -> _ShareOf:
    value, parts = functional.parts(counts, together)
    each, times = functional.sampled(parts, counts)
    masses, _ = functional.sampled(functional.masses(counts) * rate.given, counts)
    total, units = (times * masses).sum(axis=-1), (times * (masses > 0)).sum(axis=-1)
    return _ShareOf(
        value, each, times, masses, total, units, (times * each**2).sum(axis=-1), (times * masses**2).sum(axis=-1)
    )


def _with_two_more(functional: Functional, rate: Share, counts: Floats, side: _ShareOf) -> Floats:
    """Return the variance with one event and one other more, of the usual weight."""
    weighed = functional.masses(counts) * rate.given
    with np.errstate(invalid="ignore", divide="ignore"):
        total = side.total
        own = functional.masses(counts) @ rate.event / total
        slope = np.ones_like(own) if rate.slope is None else rate.slope(own)
        usual = (weighed * per_person(weighed, counts)).sum(axis=-1) / total
        if functional.clustered:  # of as many people as the clusters are worth, into however many rows they are split
            usual = total * side.squares / slope**2 / (own * (1 - own))
        centre = (own * total + usual) / (total + 2 * usual)
        moved = own - centre
        across = (side.times * side.each * side.masses).sum(axis=-1)
        squares = side.squares * total**2 / slope**2
        squares = squares + 2 * moved * total * across / slope + moved**2 * side.units_squared
        if functional.clustered:
            squares = squares * np.where(side.units > 1, side.units / (side.units - 1), 1.0)
        more = usual**2 * ((1 - centre) ** 2 + centre**2)
        variance = (squares + more) / (total + 2 * usual) ** 2
        if functional.clustered:
            # How alike people of a cluster are, only clusters can tell: where all are alike, each counts as one person.
            n = total**2 / side.units_squared
            least = (own * n + 1) / (n + 2)
            alike = (own <= 0) | (own >= 1) | (side.units <= 1) | (usual <= ROUNDING * total)
            variance = np.where(alike, least * (1 - least) / (n + 2), variance)
        return np.asarray(variance if rate.slope is None else variance * rate.slope(centre) ** 2)


def covariance_of(u1: Floats, n1: Floats, u2: Floats, n2: Floats) -> Floats:
    """Return the covariance of two sides from the parts of the units that both have."""
    common = (np.minimum(n1, n2) * u1 * u2).sum(axis=-1)
    # One unit alone says nothing about how units differ: nothing is corrected.
    factors = (np.where(n.sum(axis=-1) > 1, correction(n), 1.0) for n in (n1, n2))
    return np.asarray(common * np.sqrt(next(factors) * next(factors)))
