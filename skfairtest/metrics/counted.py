"""Single metrics as functions of counts: average precision, and the coefficient of determination."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from skfairtest._utils.typing import Booleans, Floats
from skfairtest.metrics.functionals import ROUNDING, Functional, ratio_of


class AveragePrecision(Functional):
    """Area under the steps of precision over recall, people of one score being called together; delta method."""

    # As a rate of the people that it is worth it would reject .13 one-sided in favour of 100 people beside 3,000 who
    # are alike, and hardly ever in the other direction: labels are permuted.

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
        value, up, down = _slopes(right, wrong)
        up, down = (np.concatenate([each, np.zeros((*each.shape[:-1], 1))], axis=-1) for each in (up, down))
        one = np.where(self.positive > 0, up[..., self._level], down[..., self._level])
        total = (masses @ self.positive)[..., None]
        with np.errstate(invalid="ignore"):
            return value, masses * ratio_of(one, total)

    def effective(self, counts: Floats) -> Floats:
        """Return the size of the smaller class."""
        positive = counts @ self.positive
        return np.asarray(np.minimum(positive, counts.sum(axis=-1) - positive), dtype=float)

    def informative(self, counts: Floats) -> Floats:
        """Return the size of the smaller class, or of it twice the part that is not precise, where that is less."""
        lacking = np.minimum(1.0, 2 * (1 - self.moments(np.asarray(counts, dtype=float))[0]))
        return np.asarray(self.effective(counts) * lacking)


def _slopes(right: Floats, wrong: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the average precision, and by score what one positive or negative person more adds to it."""
    there = np.diff(right, axis=-1, prepend=0.0)
    one = ratio_of(np.ones_like(right), right + wrong)
    np.copyto(one, 0.0, where=np.isinf(one))  # no one scores as high
    precision = right * one
    moved = there * precision
    value = ratio_of(moved.sum(axis=-1), right.max(axis=-1, initial=0.0))
    # One person more changes the precision at all lower scores: what is called, and if positive what is right.
    down = -_from_here(moved * one)
    up = _from_here(there * one) + down + precision - value[..., None]
    return value, up, down


def _from_here(values: Floats) -> Floats:
    """Return the sum of each value and all that follow."""
    return np.asarray(np.cumsum(values[..., ::-1], axis=-1)[..., ::-1])


class Determination(Functional):
    """One minus the squared errors over the squared deviations of the truth from its mean; delta method."""

    bounds = (-np.inf, 1.0)

    def __init__(self, true: Floats, predicted: Floats) -> None:
        middle = float(true.mean()) if len(true) else 0.0
        unit = float(np.abs(true - middle).max(initial=0.0)) or 1.0
        y, e = (true - middle) / unit, ((true - predicted) / unit) ** 2
        self.columns = np.stack([np.ones_like(y), y, y**2, e], axis=1)

    def parts(self, masses: Floats, pooled: Floats | None = None) -> tuple[Floats, Floats]:
        """Return R squared and each cell's part of its error; NaN if all true values are equal."""
        masses = np.asarray(masses, dtype=float)
        n, sums, squares, errors = np.moveaxis(masses @ self.columns, -1, 0)
        mean = ratio_of(sums, n)
        around = squares - sums * mean
        around = np.where(around > ROUNDING**0.5 * np.maximum(squares, 0.0), around, np.nan)
        lost = ratio_of(errors, around)
        y, e = self.columns[:, 1], self.columns[:, 3]
        with np.errstate(invalid="ignore"):
            deviation = lost[..., None] * (y - mean[..., None]) ** 2
            part = np.where(np.abs(deviation - e) <= ROUNDING**0.5 * (deviation + e), 0.0, deviation - e)
            return 1 - lost, np.where(masses > 0, masses * part / around[..., None], 0.0)
