"""Certified maxima: not on a grid, but by branch and bound, for functions of bounded slope, many at the same time.

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

from skfairtest._utils.batches import places
from skfairtest._utils.typing import Floats, Integers


def certified_maxima(
    probability: Callable[[Integers, Floats], Floats],
    length: Callable[[Integers, Floats], Floats],
    start: Floats,
    stop: Floats,
    *,
    curvature: Callable[[Integers, Floats, Floats], Floats] | None = None,
    relative: float | Floats = 1e-6,
    absolute: float = 0.0,
    max_evaluations: int = 60_000,
) -> Floats:
    """Return an upper bound of the maximum of each of k functions on its interval [start, stop].

    Parameters
    ----------
    probability : callable
        (which functions, at which points) -> values in [0, 1], all of shape (n,).
    length : callable
        (which, points) -> (n,), increasing; ``arcsin sqrt probability`` changes by no more than it does.
    start, stop : ndarray, shape (k,)
        Ends of the intervals.
    curvature : callable, optional
        (which, left, right) -> bound of the probability's second derivative between them; infinity where there is none.
        Close to the maximum it leaves a handful of intervals open where the length alone leaves thousands.
    relative, absolute : float
        How far above the true maximum the result may lie: by the factor ``1 + relative`` plus `absolute`.
    max_evaluations : int
        When a function has had so many, its result lies further above, and is still a bound.

    Returns
    -------
    ndarray, shape (k,)
        The certified bounds, at most 1.
    """

    # Ends of intervals are columns: where they are, the probability there, its arcsine, and how far along the curve.
    def at(which: Integers, points: Floats) -> Floats:
        value = np.clip(probability(which, points), 0.0, 1.0)
        return np.stack([points, value, np.arcsin(np.sqrt(value)), length(which, points)])

    def highest(which: Integers, left: Floats, right: Floats) -> Floats:
        (start, value, angle, begun), (stop, other, beside, ended) = left, right
        top = np.sin(np.minimum((angle + beside + ended - begun) / 2, np.pi / 2)) ** 2
        if curvature is None:
            return np.asarray(top)
        sagitta = curvature(which, start, stop) * (stop - start) ** 2 / 8
        return np.asarray(np.minimum(top, np.maximum(value, other) + sagitta))

    every = np.arange(len(start))
    pieces = np.clip(2 * (length(every, stop) - length(every, start)), 8, 256).astype(np.int64)
    which = np.repeat(every, pieces + 1)
    step = places(pieces + 1)
    points = np.where(step == pieces[which], stop[which], start[which] + step * ((stop - start) / pieces)[which])
    ends = at(which, points)
    best, evaluations, out = np.zeros(len(start)), pieces + 1, np.empty(len(start))
    np.maximum.at(best, which, ends[1])
    inner = step < pieces[which]
    which, left, right = which[inner], ends[:, inner], ends[:, np.roll(inner, 1)]
    while True:
        ceiling = np.minimum(1.0, best * (1 + relative) + absolute)
        bounds = highest(which, left, right)
        open_ = (bounds > ceiling[which]) & (right[0] > left[0])
        searched = np.zeros(len(start), dtype=bool)
        searched[which[open_]] = True
        out[every] = ceiling[every]
        capped = searched & (evaluations > max_evaluations)
        if capped.any():
            stopped = open_ & capped[which]
            np.maximum.at(out, which[stopped], bounds[stopped])
            open_ &= ~stopped
        every = np.flatnonzero(searched & ~capped)
        if not len(every):
            return out
        which, left, right = which[open_], left[:, open_], right[:, open_]
        middle = at(which, (left[0] + right[0]) / 2)
        evaluations += np.bincount(which, minlength=len(start))
        np.maximum.at(best, which, middle[1])
        which, left, right = np.tile(which, 2), np.hstack([left, middle]), np.hstack([middle, right])
