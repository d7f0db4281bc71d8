"""A certified maximum: no grid, but branch and bound on a function whose speed is bounded.

For a region R of outcomes of independent binomials, ``f(u) = P(R)`` along a curve of parameters satisfies
``|d arcsin sqrt f| <= d s``, where s is the curve's length in the Fisher metric divided by two (Cauchy-Schwarz: the
covariance of the region's indicator, or of any function with values in [0, 1], with the score). Between two points the
function can therefore not climb above ``(g(a) + g(b) + s(b) - s(a)) / 2`` with ``g = arcsin sqrt f``.

Nor can it climb above the chord by more than an eighth of the squared distance times a bound of its second derivative,
which is ``E[1_R (s^2 + s')]`` with the score s, hence at most ``E|s^2 + s'| / 2`` (the expectation of s^2 + s' is 0).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from skfairtest._utils.typing import Floats


def certified_maximum(
    probability: Callable[[Floats], Floats],
    length: Callable[[Floats], Floats],
    start: float,
    stop: float,
    *,
    curvature: Callable[[Floats, Floats], Floats] | None = None,
    relative: float = 1e-6,
    absolute: float = 0.0,
    max_evaluations: int = 60_000,
) -> float:
    """Return an upper bound of the maximum of `probability` on [start, stop].

    Parameters
    ----------
    probability : callable
        Vectorized, (k,) -> (k,), with values in [0, 1].
    length : callable
        Vectorized and increasing; ``arcsin sqrt probability`` changes by no more than it does.
    start, stop : float
        Ends of the interval.
    curvature : callable, optional
        Vectorized, (left, right) -> bound of the probability's second derivative between them; infinity where there is
        none. Close to the maximum it leaves a handful of intervals open where the length alone leaves thousands.
    relative, absolute : float
        How far above the true maximum the result may lie: by the factor ``1 + relative`` plus `absolute`.
    max_evaluations : int
        When it is reached the result lies further above, and is still a bound.

    Returns
    -------
    float
        The certified bound, at most 1.
    """

    # Ends of intervals are columns: where they are, the probability there, and how far along the curve.
    def at(points: Floats) -> Floats:
        return np.stack([points, np.clip(probability(points), 0.0, 1.0), length(points)])

    def highest(left: Floats, right: Floats) -> Floats:
        (start, value, begun), (stop, other, ended) = left, right
        angles = np.arcsin(np.sqrt(value)) + np.arcsin(np.sqrt(other))
        top = np.sin(np.minimum((angles + ended - begun) / 2, np.pi / 2)) ** 2
        if curvature is None:
            return np.asarray(top)
        sagitta = curvature(start, stop) * (stop - start) ** 2 / 8
        return np.asarray(np.minimum(top, np.maximum(value, other) + sagitta))

    span = float(length(np.asarray([stop]))[0] - length(np.asarray([start]))[0])
    ends = at(np.linspace(start, stop, int(np.clip(2 * span, 8, 256)) + 1))
    best, evaluations = float(ends[1].max()), ends.shape[1]
    left, right = ends[:, :-1], ends[:, 1:]
    while True:
        ceiling = min(1.0, best * (1 + relative) + absolute)
        bounds = highest(left, right)
        open_ = (bounds > ceiling) & (right[0] > left[0])
        if not open_.any():
            return ceiling
        if evaluations > max_evaluations:
            return float(bounds[open_].max())
        left, right = left.compress(open_, axis=1), right.compress(open_, axis=1)
        middle = at((left[0] + right[0]) / 2)
        evaluations += middle.shape[1]
        best = max(best, float(middle[1].max()))
        left, right = np.hstack([left, middle]), np.hstack([middle, right])
