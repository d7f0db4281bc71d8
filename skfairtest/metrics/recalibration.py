"""Cox's recalibration: the logistic regression of the truth on the log-odds of the score, as a function of counts."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy.special import expit

from skfairtest._utils.batches import batches
from skfairtest._utils.typing import Booleans, Floats
from skfairtest.metrics.functionals import Functional, ratio_of

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
