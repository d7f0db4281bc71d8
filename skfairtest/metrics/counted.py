"""Single metrics as functions of counts.

Average precision as a function of counts: the mean, over the truly positive, of the precision at their score.

The coefficient of determination, R squared, as a function of counts.

A quantile of numbers as a function of counts, by the mid-distribution, with a standard error that ties do not break.

The mid-distribution of a value is the share of people below it and half the share of those who have it. Between the
values that somebody has it is interpolated linearly, and the quantile is its inverse: without ties Hazen's sample
quantile (`numpy.quantile` with ``method="hazen"``), and with ties a number that still moves with every person, so that
it is normal in the limit where values are discrete as well. Its slope is measured over two standard errors of the share
to both sides.

References
----------
Y. Ma, M. G. Genton and E. Parzen (2011). Asymptotic properties of sample quantiles of discrete distributions. Annals of
the Institute of Statistical Mathematics 63, 227-243.
R. S. Woodruff (1952). Confidence intervals for medians and other position measures. Journal of the American Statistical
Association 47, 635-646.
E. Chung and J. P. Romano (2013). Exact and asymptotically robust permutation tests. Annals of Statistics 41, 484-507:
studentized permutation tests of medians.

Cox's recalibration: the logistic regression of the truth on the log-odds of the score, as a function of counts.
"""

from functools import cached_property
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.special import expit

from skfairtest._utils.batches import batches
from skfairtest._utils.typing import Booleans, Floats, Moments
from skfairtest.metrics.functionals import ROUNDING, Functional, Members, ratio_of

#: Numbers in one array at a time: they stay in the cache.
BLOCK = 1 << 15


class AveragePrecision(Functional):
    """Area under the steps of precision over recall, people of one score being called together; delta method.

    As a rate of the people that it is worth it would reject .13 one-sided in favour of 100 people beside 3,000 who are
    alike, and hardly ever in the other direction: labels are permuted.

    Parameters
    ----------
    positive : ndarray of bool, shape (K,)
        Who is truly positive.
    score : ndarray of float, shape (K,)
        The scores.
    """

    bounds = (0.0, 1.0)

    def __init__(self, positive: Booleans, score: Floats) -> None:
        self._positive, self._negative = (
            which[np.argsort(-score[which], kind="stable")] for which in map(np.flatnonzero, (positive, ~positive))
        )
        falling = score[self._positive]
        #: Where the positive people of each distinct score end, from the highest; how many negative ones score as high.
        self._end = np.flatnonzero(np.diff(falling, append=-np.inf))
        self._above = np.searchsorted(-score[self._negative], -falling[self._end], side="right")
        #: Which of these scores each person has, or else the next lower one; after the last of them there is none.
        self._level = np.searchsorted(-falling[self._end], -score, side="left")
        self.positive = positive.astype(float)

    def _by_level(self, counts: NDArray[Any]) -> tuple[Floats, Floats]:
        """The numbers of positive and negative people with each positive person's score or a higher one."""
        right = np.cumsum(counts[..., self._positive], axis=-1, dtype=float)
        wrong = np.zeros((*counts.shape[:-1], len(self._negative) + 1))
        np.cumsum(counts[..., self._negative], axis=-1, out=wrong[..., 1:])
        return right[..., self._end], wrong[..., self._above]

    def parts(self, masses: Floats, pooled: Floats | None = None) -> tuple[Floats, Floats]:
        """Return the average precision and each cell's part of its error."""
        masses = np.asarray(masses, dtype=float)
        right, wrong = self._by_level(masses)
        value, up, down, _ = _slopes(right, wrong)
        up, down = (np.concatenate([each, np.zeros((*each.shape[:-1], 1))], axis=-1) for each in (up, down))
        one = np.where(self.positive > 0, up[..., self._level], down[..., self._level])
        total = (masses @ self.positive)[..., None]
        with np.errstate(invalid="ignore"):
            return value, masses * ratio_of(one, total)

    def moments(self, counts: Floats, rng: Generator | None = None) -> tuple[Floats, Floats]:
        """Return the average precision and its variance."""
        flat = counts.reshape(-1, counts.shape[-1])
        value, variance = np.empty(len(flat)), np.empty(len(flat))
        for rows in batches(len(flat), BLOCK // max(1, flat.shape[1])):
            some = flat[rows]
            value[rows], variance[rows] = _moments(*self._by_level(some), some.sum(axis=1, dtype=float))
        return value.reshape(counts.shape[:-1]), variance.reshape(counts.shape[:-1])

    def split(self, members: Members) -> Moments:
        """Return both sides from one walk along the sorted people."""
        n = members.shape[1]
        v1, q1, v2, q2 = np.empty((4, len(members)))
        all_right, all_wrong = self._by_level(np.ones(n))
        for rows in batches(len(members), BLOCK // max(1, n)):
            right, wrong = self._by_level(members[rows])
            people = members[rows].sum(axis=1, dtype=float)
            v1[rows], q1[rows] = _moments(right, wrong, people)
            v2[rows], q2[rows] = _moments(all_right - right, all_wrong - wrong, n - people)
        return Moments(v1, q1, v2, q2, np.zeros_like(v1))

    def effective(self, counts: Floats) -> Floats:
        """Return the size of the smaller class."""
        positive = counts @ self.positive
        return np.asarray(np.minimum(positive, counts.sum(axis=-1) - positive), dtype=float)

    def informative(self, counts: Floats) -> Floats:
        """Return the size of the smaller class, or of it twice the part that is not precise, where that is less."""
        lacking = np.minimum(1.0, 2 * (1 - self.moments(np.asarray(counts, dtype=float))[0]))
        return np.asarray(self.effective(counts) * lacking)


def _slopes(right: Floats, wrong: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Return the average precision, and by score what one positive or negative person more adds to it.

    What they add is times the number of the truly positive; the last array is how many of these have each score.
    """
    there = np.diff(right, axis=-1, prepend=0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        one = 1 / (right + wrong)
        np.copyto(one, 0.0, where=np.isinf(one))  # nobody scores as high
        precision = right * one
        moved = there * precision
        value = moved.sum(axis=-1) / _total(right)
    # One person more changes the precision at all lower scores: what is called, and if positive what is right.
    moved *= one
    down = -_from_here(moved)
    up = _from_here(there * one)
    up += down
    up += precision
    up -= value[..., None]
    return value, up, down, there


def _moments(right: Floats, wrong: Floats, people: Floats) -> tuple[Floats, Floats]:
    value, up, down, there = _slopes(right, wrong)
    others = np.diff(wrong, axis=-1, prepend=0.0)
    squares = np.einsum("...i,...i,...i->...", there, up, up) + np.einsum("...i,...i,...i->...", others, down, down)
    return value, ratio_of(squares * people, _total(right) ** 2 * np.where(people > 1, people - 1, np.nan))


def _total(right: Floats) -> Floats:
    return np.asarray(right.max(axis=-1, initial=0.0))


def _from_here(values: Floats) -> Floats:
    """Return the sum of each value and all that follow."""
    return np.asarray(np.cumsum(values[..., ::-1], axis=-1)[..., ::-1])


class Determination(Functional):
    """One minus the squared errors over the squared deviations of the truth from its mean; delta method.

    Value and variance follow from sums of powers of a person's truth and error, so that many resamples are one product
    of matrices.

    Parameters
    ----------
    true, predicted : ndarray of float, shape (K,)
        Numbers.
    """

    bounds = (-np.inf, 1.0)

    def __init__(self, true: Floats, predicted: Floats) -> None:
        middle = float(true.mean()) if len(true) else 0.0
        unit = float(np.abs(true - middle).max(initial=0.0)) or 1.0
        y, e = (true - middle) / unit, ((true - predicted) / unit) ** 2
        self.columns = np.stack([np.ones_like(y), y, y**2, e], axis=1)
        self._moments = np.concatenate([self.columns, np.stack([y**3, y**4, e * y, e * y**2, e**2], axis=1)], axis=1)

    def parts(self, masses: Floats, pooled: Floats | None = None) -> tuple[Floats, Floats]:
        """Return R squared and each cell's part of its error."""
        masses = np.asarray(masses, dtype=float)
        n, sums, squares, errors = np.moveaxis(masses @ self.columns, -1, 0)
        mean, around, lost = _lost(n, sums, squares, errors)
        y, e = self.columns[:, 1], self.columns[:, 3]
        with np.errstate(invalid="ignore"):
            deviation = lost[..., None] * (y - mean[..., None]) ** 2
            return 1 - lost, np.where(masses > 0, masses * (deviation - e) / around[..., None], 0.0)

    def moments(self, counts: Floats, rng: Generator | None = None) -> tuple[Floats, Floats]:
        """Return R squared and its variance."""
        return _of_sums(np.asarray(counts, dtype=float) @ self._moments)

    def split(self, members: Members) -> Moments:
        """Return both sides from one product: what is not in the first side is in the second."""
        first = members.astype(float) @ self._moments
        v1, q1 = _of_sums(first)
        v2, q2 = _of_sums(self._moments.sum(axis=0) - first)
        return Moments(v1, q1, v2, q2, np.zeros_like(v1))


def _lost(n: Floats, sums: Floats, squares: Floats, errors: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the mean, the squares around it, and the errors' share of these; NaN where there are none."""
    mean = ratio_of(sums, n)
    around = squares - sums * mean
    around = np.where(around > ROUNDING**0.5 * np.maximum(squares, 0.0), around, np.nan)
    return mean, around, ratio_of(errors, around)


def _of_sums(found: Floats) -> tuple[Floats, Floats]:
    """Return R squared and its variance from sums of 1, y, y2, e2, y3, y4, e2 y, e2 y2 and e4."""
    n, y, y2, e, y3, y4, ey, ey2, ee = np.moveaxis(found, -1, 0)
    mean, around, lost = _lost(n, y, y2, e)
    with np.errstate(invalid="ignore"):
        fourth = y4 - 4 * mean * y3 + 6 * mean**2 * y2 - 4 * mean**3 * y + n * mean**4
        across = ey2 - 2 * mean * ey + mean**2 * e
        squares = ee - 2 * lost * across + lost**2 * fourth
        squares = np.where(squares > ROUNDING**0.5 * (ee + lost**2 * fourth), squares, 0.0)
        return 1 - lost, squares / around**2 * ratio_of(n, np.where(n > 1, n - 1, np.nan))


#: Standard errors of the share over which the slope is measured.
WIDTH = 2.0


class Quantile(Functional):
    """The number below which a share of people lies; delta method.

    Parameters
    ----------
    z : ndarray of float, shape (K,)
        A number for each kind of people.
    share : float
        Between 0 and 1; one half is the median.
    """

    def __init__(self, z: Floats, share: float) -> None:
        self.levels, self._level = np.unique(np.asarray(z, dtype=float), return_inverse=True)
        self._order = np.argsort(self._level, kind="stable")
        self._starts = np.searchsorted(self._level[self._order], np.arange(len(self.levels)))
        self.share = share

    def _by_level(self, masses: Floats) -> tuple[Floats, Floats]:
        """The mass of each distinct number, and the mid-distribution there."""
        own = masses[..., self._order]
        if len(self.levels) < own.shape[-1]:
            own = np.add.reduceat(own, self._starts, axis=-1)
        upto = np.cumsum(own, axis=-1)
        return own, ratio_of(upto - own / 2, upto[..., -1:])

    def _at(self, own: Floats, middle: Floats, share: Floats) -> Floats:
        """Return the quantile of each table, where its share is within what the table reaches, and else its end."""
        share = share[..., None]
        above, below = (own > 0) & (middle >= share), (own > 0) & (middle <= share)
        last = own.shape[-1] - 1
        high, low = above.argmax(axis=-1), last - below[..., ::-1].argmax(axis=-1)
        high = np.where(above.any(axis=-1), high, low)
        low = np.where(below.any(axis=-1), low, high)
        ends = [np.take_along_axis(middle, place[..., None], axis=-1) for place in (low, high)]
        way = np.where(high > low, ratio_of(share - ends[0], ends[1] - ends[0])[..., 0], 0.0)
        return np.asarray(self.levels[low] + way * (self.levels[high] - self.levels[low]))

    def values(self, masses: Floats) -> Floats:
        """Return the quantile; NaN of nobody."""
        masses = np.asarray(masses, dtype=float)
        own, middle = self._by_level(masses)
        share = np.full(masses.shape[:-1], self.share)
        return np.where(masses.sum(axis=-1) > 0, self._at(own, middle, share), np.nan)

    def parts(self, masses: Floats, pooled: Floats | None = None) -> tuple[Floats, Floats]:
        """Return the quantile and each cell's part of its error: its distance from the share, times the slope."""
        masses = np.asarray(masses, dtype=float)
        own, middle = self._by_level(masses)
        total = masses.sum(axis=-1)
        value = self._at(own, middle, np.full(total.shape, self.share))
        whole = (masses == np.floor(masses)).all()
        people = total if whole else ratio_of(total**2, (masses**2).sum(axis=-1))
        with np.errstate(divide="ignore", invalid="ignore"):
            reach = WIDTH * np.sqrt(self.share * (1 - self.share) / people)
            ends = (np.maximum(self.share - reach, 0.5 / people), np.minimum(self.share + reach, 1 - 0.5 / people))
            low, high = (self._at(own, middle, np.nan_to_num(end, nan=0.5)) for end in ends)
            slope = np.where(ends[1] > ends[0], (high - low) / (ends[1] - ends[0]), np.nan)
            below = self.levels < value[..., None]
            there = np.where(self.levels == value[..., None], 0.5, 0.0) + below
            each = (self.share - there[..., self._level]) * ratio_of(slope, total)[..., None]
            return np.where(total > 0, value, np.nan), np.where(masses > 0, masses * each, 0.0)


#: Masses that are fitted at a time: a few arrays of them stay in the cache.
AT_A_TIME = 1 << 16
#: Steps at most, and the step, in log-odds, after which a fit is exact to rounding.
STEPS, EXACT = 100, 1e-9


class Recalibration(Functional):
    """The slope of the regression; or its intercept, with the slope fixed at 1. Sandwich variance.

    Parameters
    ----------
    true : ndarray of bool, shape (K,)
        Who is truly positive.
    score : ndarray of float, shape (K,)
        Probabilities between 0 and 1, both excluded.
    slope : bool
        Whether it is the slope.
    """

    error = "sandwich"

    def __init__(self, true: Booleans, score: Floats, *, slope: bool) -> None:
        self.true, self.slope = true.astype(float), slope
        odds = np.log(score) - np.log1p(-score)
        # In units in which the regression is well conditioned; the slope of a fixed one is not estimated.
        self._centre = float(odds.mean()) if slope and len(odds) else 0.0
        self._unit = (float(np.abs(odds - self._centre).max(initial=0.0)) or 1.0) if slope else 1.0
        self.x = (odds - self._centre) / self._unit
        self._powers = np.stack([np.ones_like(self.x), self.x, self.x**2], axis=1)

    @cached_property
    def _start(self) -> tuple[float, float]:
        """The fit of all cells, each counted once."""
        if not self._is_defined(np.ones((1, len(self.x))))[0]:
            return 0.0, float(not self.slope)
        a, b = self._iterated(np.ones((1, len(self.x))), np.zeros(1), np.full(1, float(not self.slope)))
        return (float(a[0]), float(b[0])) if np.isfinite(a[0] + b[0]) else (0.0, float(not self.slope))

    def _is_defined(self, masses: Floats) -> Booleans:
        """Whether there is a finite fit: both classes, and for a slope scores that overlap."""
        there = masses > 0
        positive, negative = there & (self.true > 0), there & (self.true == 0)
        if not self.slope:
            return np.asarray(positive.any(axis=-1) & negative.any(axis=-1))
        (low1, high1), (low0, high0) = (
            (np.where(own, self.x, np.inf).min(axis=-1), np.where(own, self.x, -np.inf).max(axis=-1))
            for own in (positive, negative)
        )
        return np.asarray((low1 < high0) & (low0 < high1))

    def _iterated(self, masses: Floats, a: Floats, b: Floats) -> tuple[Floats, Floats]:
        """Take damped Newton steps, which decrease the deviance from anywhere; NaN where they do not arrive."""
        active = np.arange(len(masses))
        farthest = float(np.abs(self.x).max(initial=0.0))
        for _ in range(STEPS):
            rows = masses if len(active) == len(masses) else masses[active]
            _, residual, sums = self._at(rows, a[active], b[active])
            g0, g1 = residual.sum(axis=1), residual @ self.x
            step_a, step_b = ratio_of(g0, sums[:, 0]), np.zeros_like(g0)
            if self.slope:
                s0, s1, s2 = sums.T
                determinant = s0 * s2 - s1**2
                step_a = ratio_of(s2 * g0 - s1 * g1, determinant)
                step_b = ratio_of(s0 * g1 - s1 * g0, determinant)
            reach = np.abs(step_a) + np.abs(step_b) * farthest
            damping = np.where(reach > EXACT, np.log1p(reach) / np.where(reach > 0, reach, 1.0), 1.0)
            a[active] += damping * step_a
            b[active] += damping * step_b
            active = active[reach > EXACT]
            if not len(active):
                break
        a[active] = np.nan
        return a, b

    def _at(self, masses: Floats, a: Floats, b: Floats) -> tuple[Floats, Floats, Floats]:
        """Return fitted probabilities, what remains of each cell's mass, and the information's sums."""
        fitted = expit(a[:, None] + b[:, None] * self.x)
        return fitted, masses * (self.true - fitted), (masses * fitted * (1 - fitted)) @ self._powers

    def _fitted(self, masses: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the value, each cell's part of its error, and how much outcomes vary; masses of shape (b, K)."""
        start = self._start
        a, b = (np.where(self._is_defined(masses), one, np.nan) for one in start)
        place = np.flatnonzero(np.isfinite(a))
        a[place], b[place] = self._iterated(masses[place], a[place], b[place])
        _, residual, sums = self._at(masses, a, b)
        with np.errstate(invalid="ignore"):
            if not self.slope:
                return a, residual * ratio_of(np.ones_like(a), sums[:, 0])[:, None], sums[:, 0]
            s0, s1, s2 = sums.T
            per_unit = ratio_of(np.ones_like(a), (s0 * s2 - s1**2) * self._unit)[:, None]
            return (b + 0 * a) / self._unit, residual * (s0[:, None] * self.x - s1[:, None]) * per_unit, s0

    def parts(self, masses: Floats, pooled: Floats | None = None) -> tuple[Floats, Floats]:
        """Return the coefficient and each cell's part of its error, by which it would move without the cell."""
        flat = np.asarray(masses, dtype=float).reshape(-1, masses.shape[-1])
        value, parts = np.empty(len(flat)), np.empty_like(flat)
        for rows in batches(len(flat), AT_A_TIME // max(flat.shape[1], 1)):
            value[rows], parts[rows], _ = self._fitted(flat[rows])
        return value.reshape(masses.shape[:-1]), parts.reshape(masses.shape)

    def effective(self, counts: Floats) -> Floats:
        """Return the size of the smaller class."""
        return np.asarray(np.minimum(counts @ self.true, counts @ (1 - self.true)))

    def informative(self, counts: Floats) -> Floats:
        """The variation of outcomes around the fit: the people of the rarer class, fewer where scores divide them.

        A person whose outcome is sure says nothing of the coefficients.
        """
        flat = np.asarray(counts, dtype=float).reshape(-1, counts.shape[-1])
        return np.nan_to_num(self._fitted(flat)[2]).reshape(counts.shape[:-1])
