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
from dataclasses import dataclass
from typing import Any

import numpy as np

from skfairtest._utils.typing import Floats


@dataclass(frozen=True)
class Ends:
    """Ends of intervals: where they are, the probability there, and how far along the curve."""

    point: Floats
    value: Floats
    length: Floats

    def only(self, chosen: Any) -> Ends:
        """Return some of them."""
        return Ends(self.point[chosen], self.value[chosen], self.length[chosen])

    def joined(self, other: Ends) -> Ends:
        """Return these, then others."""
        return Ends(*(np.concatenate(pair) for pair in zip(vars(self).values(), vars(other).values(), strict=True)))


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

    def highest(left: Ends, right: Ends) -> Floats:
        angles = np.arcsin(np.sqrt(left.value)) + np.arcsin(np.sqrt(right.value))
        top = np.sin(np.minimum((angles + right.length - left.length) / 2, np.pi / 2)) ** 2
        if curvature is None:
            return np.asarray(top)
        sagitta = curvature(left.point, right.point) * (right.point - left.point) ** 2 / 8
        return np.asarray(np.minimum(top, np.maximum(left.value, right.value) + sagitta))

    def at(points: Floats) -> Ends:
        return Ends(points, np.clip(probability(points), 0.0, 1.0), length(points))

    span = float(length(np.asarray([stop]))[0] - length(np.asarray([start]))[0])
    ends = at(np.linspace(start, stop, int(np.clip(2 * span, 8, 256)) + 1))
    best, evaluations = float(ends.value.max()), len(ends.point)
    left, right = ends.only(slice(None, -1)), ends.only(slice(1, None))
    while True:
        ceiling = min(1.0, best * (1 + relative) + absolute)
        bounds = highest(left, right)
        open_ = (bounds > ceiling) & (right.point > left.point)
        if not open_.any():
            return ceiling
        if evaluations > max_evaluations:
            return float(bounds[open_].max())
        left, right = left.only(open_), right.only(open_)
        middle = at((left.point + right.point) / 2)
        evaluations += len(middle.point)
        best = max(best, float(middle.value.max()))
        left, right = left.joined(middle), middle.joined(right)
