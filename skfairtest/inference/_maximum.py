"""A certified maximum: no grid, but branch and bound on a function whose speed is bounded.

For a region R of outcomes of independent binomials, ``f(u) = P(R)`` along a curve of parameters satisfies
``|d arcsin sqrt f| <= d s``, where s is the curve's length in the Fisher metric divided by two (Cauchy-Schwarz: the
covariance of the region's indicator, or of any function with values in [0, 1], with the score). Between two points the
function can therefore not climb above ``(g(a) + g(b) + s(b) - s(a)) / 2`` with ``g = arcsin sqrt f``.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from skfairtest.inference._discrete import Floats


def certified_maximum(
    probability: Callable[[Floats], Floats],
    length: Callable[[Floats], Floats],
    start: float,
    stop: float,
    *,
    relative: float = 1e-6,
    max_evaluations: int = 60_000,
) -> float:
    """Return an upper bound of the maximum of `probability`, at most a factor ``1 + relative`` above it.

    Parameters
    ----------
    probability : callable
        Vectorized, (k,) -> (k,), with values in [0, 1].
    length : callable
        Vectorized and increasing; ``arcsin sqrt probability`` changes by no more than it does.
    start, stop : float
        Ends of the interval.
    relative : float
        How far above the true maximum the bound may lie.
    max_evaluations : int
        When it is reached the bound is wider than `relative`, and still a bound.

    Returns
    -------
    float
        The certified bound, at most 1.
    """

    def angle(u: Floats) -> Floats:
        return np.arcsin(np.sqrt(np.clip(probability(u), 0.0, 1.0)))

    span = float(length(np.asarray([stop]))[0] - length(np.asarray([start]))[0])
    points = np.linspace(start, stop, int(np.clip(2 * span, 8, 256)) + 1)
    angles, lengths = angle(points), length(points)
    best, evaluations = float(angles.max()), len(points)
    left, right = points[:-1], points[1:]
    g_left, g_right = angles[:-1], angles[1:]
    s_left, s_right = lengths[:-1], lengths[1:]
    while True:
        ceiling = np.arcsin(min(1.0, np.sin(best) * np.sqrt(1 + relative)))
        bounds = np.minimum((g_left + g_right + s_right - s_left) / 2, np.pi / 2)
        open_ = (bounds > ceiling) & (right > left)
        if not open_.any():
            return float(np.sin(ceiling) ** 2)
        if evaluations > max_evaluations:
            return float(np.sin(bounds[open_].max()) ** 2)
        left, right = left[open_], right[open_]
        g_left, g_right = g_left[open_], g_right[open_]
        s_left, s_right = s_left[open_], s_right[open_]
        middle = (left + right) / 2
        g_middle, s_middle = angle(middle), length(middle)
        evaluations += len(middle)
        best = max(best, float(g_middle.max()))
        left, right = np.concatenate([left, middle]), np.concatenate([middle, right])
        g_left, g_right = np.concatenate([g_left, g_middle]), np.concatenate([g_middle, g_right])
        s_left, s_right = np.concatenate([s_left, s_middle]), np.concatenate([s_middle, s_right])
