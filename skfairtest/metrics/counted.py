"""Single metrics as functions of counts.

Average precision as a function of counts: the mean, over the truly positive, of the precision at their score.

The coefficient of determination, R squared, as a function of counts.
"""

from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

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
