"""The coefficient of determination, R squared, as a function of counts."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from skfairtest._utils.typing import Floats, Moments
from skfairtest.metrics.functionals import ROUNDING, Functional, Members, ratio_of


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
