"""Confidence intervals of rates and of their disparities. Every function broadcasts; NaN where a rate is undefined.

``z`` is the normal quantile of the confidence level: 1.96 for a two-sided 95% interval, 1.645 for a one-sided limit.

References
----------
Wilson (1927); Miettinen and Nurminen (1985), equations 2, 8 and 9; Zou and Donner (2008), the method of variance
estimates recovery (MOVER).
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from skfairtest._utils.typing import Booleans, Floats, Integers
from skfairtest.inference.score import difference_of_rates, score_at

#: A ratio that no test rejects where the second group shows no event, nor covers where it does.
_LARGEST_RATIO = 1e100
#: How near a limit is guessed: in units of its last place, above rounding errors of the score; and in shares of its
#: distance from the estimate, where the guess is not so good.
_ROUNDINGS, _NEAR = 64, (1e-11, 1e-7)
#: Parts into which what is left is divided at each step, as far as that is about so many floats.
_SECTIONS, _AT_ONCE = 32, 1024


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


def _ordinal(value: Floats) -> Integers:
    """The index of every float among all floats, 0 at 0.0, negative below."""
    return np.where(value < 0, -1, 1) * np.abs(value).view(np.int64)


def _float(ordinal: Integers) -> Floats:
    return np.where(ordinal < 0, -1.0, 1.0) * np.abs(ordinal).view(np.float64)


def farthest_covered(
    inside: Floats, outside: Floats, covered: Callable[[Floats], Booleans], about: Sequence[Floats] = ()
) -> Floats:
    """The last float that is covered between a covered one and the end; vectorized.

    Bisection over floats, not values, finds a limit of 1e-9 with as many digits as one of .5. Floats `about` the limit
    save steps; `covered` takes arrays with one more leading axis.
    """
    start, stop = _ordinal(inside), _ordinal(outside)
    way, near, far = np.sign(stop - start), np.zeros_like(start), np.abs(stop - start)
    guess = np.stack([np.broadcast_to(outside, near.shape), *about])
    points = np.clip(way * (_ordinal(np.where(np.isnan(guess), inside, guess)) - start), near, far)
    sections = min(max(_AT_ONCE // max(near.size, 1), 2), _SECTIONS) if about else 2
    steps = np.arange(1, sections).reshape(-1, *[1] * near.ndim)
    while True:
        within = (points <= near) | covered(_float(start + way * points))
        near, far = np.where(within, points, near).max(axis=0), np.where(within, far, points).min(axis=0)
        between = np.maximum(far - near, 0)
        if not (between > 1).any():
            return _float(start + way * near)
        points = near + between // sections * steps + between % sections * steps // sections


def miettinen_nurminen(
    x1: ArrayLike, d1: ArrayLike, x2: ArrayLike, d2: ArrayLike, z: ArrayLike, disparity: str = "difference"
) -> tuple[Floats, Floats]:
    """Score limits of r1 - r2 or r1 / r2: the disparities that the score test does not reject, in full precision.

    Examples
    --------
    >>> low, high = miettinen_nurminen(56, 70, 48, 80, 1.959964)
    >>> round(float(low), 4), round(float(high), 4)
    (0.0528, 0.3382)
    >>> low, high = miettinen_nurminen(10**8, 10**8, 10**8 - 7, 10**8, 1.959964)
    >>> f"{low:.4e}"
    '3.1585e-08'
    """
    x1, d1, x2, d2, z = np.broadcast_arrays(*(np.asarray(a, dtype=float) for a in (x1, d1, x2, d2, z)))
    undefined = (d1 == 0) | (d2 == 0)
    d1, d2 = np.where(undefined, 1.0, d1), np.where(undefined, 1.0, d2)

    def covered(edge: Floats) -> Booleans:
        return np.asarray(np.abs(score_at(x1, d1, x2, d2, edge, disparity)[0]) <= z)

    if disparity == "ratio":
        null, ends = 1.0, (0.0, _LARGEST_RATIO)
        with np.errstate(invalid="ignore", divide="ignore"):
            estimate = np.fmin(x1 * d2 / (x2 * d1), _LARGEST_RATIO)
        estimate = np.where((x1 == 0) & (x2 == 0), null, estimate)
    else:
        null, ends = 0.0, (-1.0, 1.0)
        estimate = difference_of_rates(x1, d1, x2, d2)
    # Equality is covered, and a place to start from, or is not, and is where the limit on its side has to end.
    equal = covered(np.full_like(estimate, null))
    sides = np.stack([estimate > null, estimate < null])
    inside = np.where(sides & equal, null, estimate)
    outside = np.where(sides & ~equal, null, np.stack([np.full_like(estimate, end) for end in ends]))
    guess = _guessed(x1, d1, x2, d2, z, estimate, disparity)
    low, high = farthest_covered(inside, outside, covered, around(guess, estimate))
    if disparity == "ratio":
        high = np.where(x2 == 0, np.inf, high)
    return np.where(undefined, np.nan, low), np.where(undefined, np.nan, high)


def _guessed(x1: Floats, d1: Floats, x2: Floats, d2: Floats, z: Floats, estimate: Floats, disparity: str) -> Floats:
    """Approximate limits, (2, ...): MOVER of Wilson limits, and the secant method."""
    (l1, u1), (l2, u2) = wilson(x1, d1, z), wilson(x2, d2, z)
    rates = x1 / d1, x2 / d2
    if disparity == "ratio":
        start = mover_ratio(rates, (l1, l2), (u1, u2))
    else:
        start = mover(np.subtract, rates, (l1, l2), (u1, u2))
    bounds = (1e-300, _LARGEST_RATIO) if disparity == "ratio" else (-1.0, 1.0)
    return secants(
        lambda edge: score_at(x1, d1, x2, d2, edge, disparity)[0],
        np.stack([z, -z]),
        np.stack([estimate, estimate]),
        np.stack(start),
        bounds,
        steps=4,
    )


def secants(
    value: Callable[[Floats], Floats],
    aim: Floats,
    root: Floats,
    start: Floats,
    bounds: tuple[float, float],
    *,
    steps: int,
) -> Floats:
    """Approximate solutions of value = `aim`, by the secant method from `root` and another start."""
    with np.errstate(invalid="ignore", divide="ignore", over="ignore", under="ignore"):
        old, before, new = root, np.zeros_like(aim), np.clip(start, *bounds)
        for _ in range(steps):
            here = value(new)
            step = (aim - here) * (new - old) / (here - before)
            old, before, new = new, here, np.clip(np.where(np.isfinite(step), new + step, new), *bounds)
    return new


def around(guess: Floats, estimate: Floats) -> list[Floats]:
    """Floats on both sides of guessed limits."""
    with np.errstate(invalid="ignore", over="ignore"):
        last_place = np.spacing(np.maximum(np.abs(guess), np.abs(estimate)))
        steps = [_ROUNDINGS * last_place, *(near * (guess - estimate) for near in _NEAR)]
        return [guess + sign * step for step in steps for sign in (-1, 1)]


def mover(
    value: Callable[[Floats, Floats], Floats],
    rates: tuple[ArrayLike, ArrayLike],
    low: tuple[ArrayLike, ArrayLike],
    high: tuple[ArrayLike, ArrayLike],
) -> tuple[Floats, Floats]:
    """MOVER limits of ``value(r1, r2)``, increasing in r1 and decreasing in r2, from separate limits of r1 and r2.

    Each limit lies as far from the estimate as the root of the summed squares of the distances reached by moving one
    rate at a time to its limit. For ``value = r1 - r2`` this is Zou and Donner's interval.
    """
    r1, r2, l1, l2, u1, u2 = (np.asarray(v, dtype=float) for v in (*rates, *low, *high))
    estimate = value(r1, r2)
    below = np.hypot(estimate - value(l1, r2), estimate - value(r1, u2))
    above = np.hypot(estimate - value(u1, r2), estimate - value(r1, l2))
    return estimate - below, estimate + above


def mover_ratio(
    rates: tuple[ArrayLike, ArrayLike], low: tuple[ArrayLike, ArrayLike], high: tuple[ArrayLike, ArrayLike]
) -> tuple[Floats, Floats]:
    """Limits of a ratio of two non-negative quantities from their separate limits (Donner and Zou 2012, equation 9)."""
    a, b, l1, l2, u1, u2 = (np.asarray(v, dtype=float) for v in (*rates, *low, *high))
    with np.errstate(invalid="ignore", divide="ignore"):
        under = (a * b) ** 2 - l1 * u2 * (2 * a - l1) * (2 * b - u2)
        lower = l1 * (2 * a - l1) / (a * b + np.sqrt(np.maximum(under, 0.0)))  # their form without cancellation
        above = l2 * (2 * b - l2)
        over = (a * b) ** 2 - u1 * l2 * (2 * a - u1) * (2 * b - l2)
        upper = (a * b + np.sqrt(np.maximum(over, 0.0))) / above
    lower = np.where(l1 <= 0, 0.0, np.maximum(lower, 0.0))
    return lower, np.where(l2 <= 0, np.inf, upper)
