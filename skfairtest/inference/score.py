"""Score statistics of two binomial rates: at equality, and at a difference or a ratio other than none.

The standard error of a score statistic is taken where the null hypothesis holds, never at the observed rates: it does
not vanish when a group shows no event, which is what breaks the plug-in ("Wald") one.

References
----------
O. Miettinen and M. Nurminen (1985). Comparative analysis of two rates. Statistics in Medicine 4, 213-226. Appendix I.
C. P. Farrington and G. Manning (1990). Test statistics and sample size formulae for comparative binomial trials.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from skfairtest.inference._discrete import Floats


def studentize(estimate: ArrayLike, standard_error: ArrayLike) -> Floats:
    """Estimate over its standard error: 0 where both are 0, infinite where only the error is, NaN where undefined."""
    estimate = np.asarray(estimate, dtype=float)
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = estimate / np.asarray(standard_error, dtype=float)
    return np.where((estimate == 0) & (np.asarray(standard_error) == 0), 0.0, ratio)


def restricted_rates(
    x1: ArrayLike, d1: ArrayLike, x2: ArrayLike, d2: ArrayLike, edge: ArrayLike, disparity: str = "difference"
) -> tuple[Floats, Floats]:
    """Maximum-likelihood rates (p1, p2) under p1 - p2 = edge, or p1 / p2 = edge. Arguments broadcast.

    For a difference it is the root of Miettinen and Nurminen's cubic, for a ratio of their quadratic.
    """
    x1, d1, x2, d2, edge = np.broadcast_arrays(*(np.asarray(a, dtype=float) for a in (x1, d1, x2, d2, edge)))
    people, events = d1 + d2, x1 + x2
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        if disparity == "ratio":
            b = d1 * edge + x1 + d2 + x2 * edge
            root = np.sqrt(np.maximum(b * b - 4 * people * edge * events, 0.0))
            p2 = 2 * events / (b + root)  # the stable form of (b - root) / (2 people edge)
            p2 = np.clip(np.where(events == 0, 0.0, p2), 0.0, np.minimum(1.0, 1.0 / edge))
            return np.clip(p2 * edge, 0.0, 1.0), p2
        l2 = ((d1 + 2 * d2) * edge - people - events) / people
        l1 = ((d2 * edge - people - 2 * x2) * edge + events) / people
        l0 = x2 * edge * (1 - edge) / people
        q = (l2 / 3) ** 3 - l1 * l2 / 6 + l0 / 2
        size = np.sqrt(np.maximum((l2 / 3) ** 2 - l1 / 3, 0.0))
        p = np.where(q < 0, -size, size)
        angle = (np.pi + np.arccos(np.clip(np.where(p == 0, 0.0, q / p**3), -1.0, 1.0))) / 3
        p2 = 2 * p * np.cos(angle) - l2 / 3
    p2 = np.clip(p2, np.maximum(0.0, -edge), np.minimum(1.0, 1.0 - edge))
    return np.clip(p2 + edge, 0.0, 1.0), p2


def score_at(
    x1: ArrayLike, d1: ArrayLike, x2: ArrayLike, d2: ArrayLike, edge: ArrayLike, disparity: str = "difference"
) -> tuple[Floats, Floats]:
    """Miettinen-Nurminen score statistic of p1 - p2 = edge (or p1 / p2 = edge), and its standard error.

    The standard error is that of r1 - r2, or of r1 - edge r2, at the restricted maximum, with the factor N / (N - 1).
    """
    x1, d1, x2, d2, edge = np.broadcast_arrays(*(np.asarray(a, dtype=float) for a in (x1, d1, x2, d2, edge)))
    p1, p2 = restricted_rates(x1, d1, x2, d2, edge, disparity)
    factor = (d1 + d2) / np.maximum(d1 + d2 - 1, 1)
    if disparity == "ratio":
        distance = x1 / d1 - edge * x2 / d2
        variance = p1 * (1 - p1) / d1 + edge**2 * p2 * (1 - p2) / d2
    else:
        distance = x1 / d1 - x2 / d2 - edge
        variance = p1 * (1 - p1) / d1 + p2 * (1 - p2) / d2
    distance = np.where(np.abs(distance) < 1e-14, 0.0, distance)
    error = np.sqrt(np.maximum(variance, 0.0) * factor)
    return studentize(distance, error), error
