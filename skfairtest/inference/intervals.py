"""Confidence intervals of rates and of their disparities. Every function broadcasts; NaN where a rate is undefined.

``z`` is the normal quantile of the level wanted: 1.96 for a two-sided 95 % interval, 1.645 for a one-sided limit.

References
----------
Wilson (1927); Miettinen and Nurminen (1985), equations 2, 8 and 9; Zou and Donner (2008), the method of variance
estimates recovery (MOVER); Sato (1989) for the Mantel-Haenszel risk difference; Greenland and Robins (1985) for the
risk ratio.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skfairtest.inference._discrete import Floats
from skfairtest.inference.score import score_at

_HALVINGS = 60


def wilson(x: ArrayLike, d: ArrayLike, z: ArrayLike) -> tuple[Floats, Floats]:
    """Wilson limits of one rate.

    Examples
    --------
    >>> low, high = wilson(0, 10, 1.959964)
    >>> round(float(low), 4), round(float(high), 4)
    (0.0, 0.2775)
    """
    x, d, z = (np.asarray(a, dtype=float) for a in (x, d, z))
    with np.errstate(invalid="ignore", divide="ignore"):
        rate = x / d
        square = z * z / d
        middle = (rate + square / 2) / (1 + square)
        reach = z / (1 + square) * np.sqrt(rate * (1 - rate) / d + square / (4 * d))
        low, high = middle - reach, middle + reach
    return np.where(x == 0, np.where(d > 0, 0.0, np.nan), low), np.where(x == d, np.where(d > 0, 1.0, np.nan), high)


def farthest_covered(inside: Floats, outside: Floats, covered: Callable[[Floats], NDArray[np.bool_]]) -> Floats:
    """Bisect from a value that the interval covers towards one that it may not; vectorized."""
    near, far = inside.copy(), outside.copy()
    near = np.where(covered(far), far, near)
    for _ in range(_HALVINGS):
        middle = (near + far) / 2
        inside_ = covered(middle)
        near, far = np.where(inside_, middle, near), np.where(inside_, far, middle)
    return near


def miettinen_nurminen(
    x1: ArrayLike, d1: ArrayLike, x2: ArrayLike, d2: ArrayLike, z: ArrayLike, disparity: str = "difference"
) -> tuple[Floats, Floats]:
    """Score limits of r1 - r2 or r1 / r2: the disparities that the score test does not reject.

    Examples
    --------
    >>> low, high = miettinen_nurminen(56, 70, 48, 80, 1.959964)
    >>> round(float(low), 4), round(float(high), 4)
    (0.0528, 0.3382)
    """
    x1, d1, x2, d2, z = np.broadcast_arrays(*(np.asarray(a, dtype=float) for a in (x1, d1, x2, d2, z)))
    with np.errstate(invalid="ignore", divide="ignore"):
        r1, r2 = x1 / d1, x2 / d2
        undefined = np.isnan(r1) | np.isnan(r2)
        safe1, safe2 = np.where(d1 > 0, d1, 1.0), np.where(d2 > 0, d2, 1.0)
        if disparity == "ratio":
            # On the scale atan(r1 / r2) a ratio of infinity is an ordinary end point.
            estimate = np.where((x1 == 0) & (x2 == 0), np.pi / 4, np.arctan2(r1, r2))
            ends = (np.zeros_like(estimate), np.full_like(estimate, np.pi / 2))

            def covered(angle: Floats) -> NDArray[np.bool_]:
                edge = np.tan(np.clip(angle, 1e-15, np.pi / 2 - 1e-15))
                return np.asarray(np.abs(score_at(x1, safe1, x2, safe2, edge, "ratio")[0]) <= z)

            low = np.tan(np.where(x1 == 0, 0.0, farthest_covered(estimate, ends[0], covered)))
            high = np.where(x2 == 0, np.inf, np.tan(farthest_covered(estimate, ends[1], covered)))
        else:
            estimate = np.where(undefined, 0.0, r1 - r2)

            def covered(angle: Floats) -> NDArray[np.bool_]:
                return np.asarray(np.abs(score_at(x1, safe1, x2, safe2, angle)[0]) <= z)

            low = farthest_covered(estimate, np.full_like(estimate, -1.0), covered)
            high = farthest_covered(estimate, np.full_like(estimate, 1.0), covered)
    return np.where(undefined, np.nan, low), np.where(undefined, np.nan, high)


def mover(
    value: Callable[[Floats, Floats], Floats],
    rates: tuple[ArrayLike, ArrayLike],
    low: tuple[ArrayLike, ArrayLike],
    high: tuple[ArrayLike, ArrayLike],
) -> tuple[Floats, Floats]:
    """Limits of ``value(r1, r2)``, increasing in r1 and decreasing in r2, from separate limits of r1 and r2.

    Each limit's distance from the estimate is the root of the sum of the squares of the distances reached by moving
    one rate at a time to its own limit. For ``value = r1 - r2`` this is Zou and Donner's interval.
    """
    r1, r2 = (np.asarray(a, dtype=float) for a in rates)
    (l1, l2), (u1, u2) = (
        tuple(np.asarray(a, dtype=float) for a in low),
        tuple(np.asarray(a, dtype=float) for a in high),
    )
    estimate = value(r1, r2)
    below = np.hypot(estimate - value(l1, r2), estimate - value(r1, u2))
    above = np.hypot(estimate - value(u1, r2), estimate - value(r1, l2))
    return estimate - below, estimate + above


def mover_ratio(
    rates: tuple[ArrayLike, ArrayLike], low: tuple[ArrayLike, ArrayLike], high: tuple[ArrayLike, ArrayLike]
) -> tuple[Floats, Floats]:
    """Limits of a ratio of two non-negative quantities from their separate limits (Donner and Zou 2012, equation 9)."""
    a, b = (np.asarray(v, dtype=float) for v in rates)
    (l1, l2), (u1, u2) = (
        tuple(np.asarray(v, dtype=float) for v in low),
        tuple(np.asarray(v, dtype=float) for v in high),
    )
    with np.errstate(invalid="ignore", divide="ignore"):
        under = (a * b) ** 2 - l1 * u2 * (2 * a - l1) * (2 * b - u2)
        lower = l1 * (2 * a - l1) / (a * b + np.sqrt(np.maximum(under, 0.0)))  # their form without cancellation
        above = l2 * (2 * b - l2)
        over = (a * b) ** 2 - u1 * l2 * (2 * a - u1) * (2 * b - l2)
        upper = (a * b + np.sqrt(np.maximum(over, 0.0))) / above
    lower = np.where(l1 <= 0, 0.0, np.maximum(lower, 0.0))
    return lower, np.where(l2 <= 0, np.inf, upper)


def sato(x1: ArrayLike, d1: ArrayLike, x2: ArrayLike, d2: ArrayLike, z: ArrayLike) -> tuple[float, float, float, float]:
    """Mantel-Haenszel risk difference over strata: estimate, Sato's standard error, and limits.

    Arguments have shape (n_strata,); strata where either group is empty must have been left out. The variance is
    consistent both for many small strata and for few large ones.
    """
    x1, d1, x2, d2 = (np.asarray(a, dtype=float) for a in (x1, d1, x2, d2))
    people = d1 + d2
    weight = float((d1 * d2 / people).sum())
    estimate = float((x1 * d2 / people - x2 * d1 / people).sum()) / weight
    p = (d1**2 * x2 - d2**2 * x1 + d1 * d2 * (d2 - d1) / 2) / people**2
    q = (x1 * (d2 - x2) + x2 * (d1 - x1)) / (2 * people)
    error = float(np.sqrt(max(estimate * p.sum() + q.sum(), 0.0))) / weight
    reach = float(np.asarray(z)) * error
    return estimate, error, max(-1.0, estimate - reach), min(1.0, estimate + reach)


def mantel_haenszel_ratio(
    x1: ArrayLike, d1: ArrayLike, x2: ArrayLike, d2: ArrayLike, z: ArrayLike
) -> tuple[float, float, float, float]:
    """Mantel-Haenszel risk ratio over strata: estimate, Greenland and Robins's error of its logarithm, limits."""
    x1, d1, x2, d2 = (np.asarray(a, dtype=float) for a in (x1, d1, x2, d2))
    people = d1 + d2
    top, bottom = float((x1 * d2 / people).sum()), float((x2 * d1 / people).sum())
    if top == 0 and bottom == 0:
        return np.nan, np.nan, 0.0, np.inf
    if top == 0 or bottom == 0:
        return (0.0 if top == 0 else np.inf), np.nan, 0.0, np.inf
    spread = (d1 * d2 * (x1 + x2) / people**2 - x1 * x2 / people).sum()
    error = float(np.sqrt(max(spread / (top * bottom), 0.0)))
    estimate, reach = top / bottom, float(np.asarray(z)) * error
    return estimate, error, float(estimate * np.exp(-reach)), float(estimate * np.exp(reach))
