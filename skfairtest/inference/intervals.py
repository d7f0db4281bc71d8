"""Confidence intervals of rates and of their disparities. Every function broadcasts; NaN where a rate is undefined.

``z`` is the normal quantile of the confidence level: 1.96 for a two-sided 95% interval, 1.645 for a one-sided limit.

References
----------
Wilson (1927); Miettinen and Nurminen (1985), equations 2, 8 and 9; Zou and Donner (2008), the method of variance
estimates recovery (MOVER). T. R. Chandrupatla (1997), Advances in Engineering Software 28, 145-149.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from skfairtest._utils.typing import Floats
from skfairtest.inference.score import difference_of_rates, score_at

#: A ratio that no test rejects where the second group shows no event, nor covers where it does.
_LARGEST_RATIO = 1e100
#: Relative precision of a limit; most steps towards it, of which a dozen are the rule.
PRECISION, STEPS = 2.0**-51, 100


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


def crossings(
    excess: Callable[[Floats], Floats], inside: Floats, outside: Floats, steps: int = STEPS, *, unit: float = 0.0
) -> tuple[Floats, Floats]:
    """The last points without and the first with an `excess` above 0, towards `outside` (Chandrupatla 1997)."""
    with np.errstate(all="ignore"):
        new, at_new, old, at_old = outside, excess(outside), inside, excess(inside)
        never, share = ~(at_new > 0), np.full(new.shape, 0.5)
        done = never
        for _ in range(steps):
            point = np.where(done, new, new + share * (old - new))
            at = excess(point)
            same = ((at > 0) == (at_new > 0)) | done
            third, at_third = np.where(same, new, old), np.where(same, at_new, at_old)
            old, at_old = np.where(same, old, new), np.where(same, at_old, at_new)
            new, at_new = point, np.where(done, at_new, at)
            finest = PRECISION * np.maximum(np.maximum(np.abs(new), np.abs(old)), unit) / np.abs(old - new)
            done = done | ~(finest < 1)  # 0 of 0 at a point without any room
            if done.all():
                break
            along, across = (new - old) / (third - old), (at_new - at_old) / (at_third - at_old)
            inverse = at_new / (at_old - at_new) * at_third / (at_old - at_third)
            inverse += (third - new) / (old - new) * at_new / (at_third - at_new) * at_old / (at_third - at_old)
            smooth = (across**2 < along) & ((1 - across) ** 2 < 1 - along) & np.isfinite(inverse)
            finest = np.minimum(finest / 2, 0.5)
            share = np.clip(np.where(smooth, inverse, 0.5), finest, 1 - finest)
    without = np.where(at_new > 0, old, new)
    return np.where(never, outside, without), np.where(never, outside, np.where(at_new > 0, new, old))


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

    ratio = disparity == "ratio"
    null, ends = (1.0, (0.0, _LARGEST_RATIO)) if ratio else (0.0, (-1.0, 1.0))
    estimate = difference_of_rates(x1, d1, x2, d2)
    if ratio:
        with np.errstate(invalid="ignore", divide="ignore"):
            estimate = np.fmin(x1 * d2 / (x2 * d1), _LARGEST_RATIO)
        estimate = np.where((x1 == 0) & (x2 == 0), null, estimate)

    def place(edge: Floats) -> Floats:
        return np.log(np.maximum(edge, 1 / _LARGEST_RATIO)) if ratio else edge

    def excess(at: Floats) -> Floats:
        return np.asarray(np.abs(score_at(x1, d1, x2, d2, np.exp(at) if ratio else at, disparity)[0]) - z)

    # Equality is covered, and a place to start from, or is not, and is where the limit on its side has to end.
    equal = excess(place(np.full_like(estimate, null))) <= 0
    sides = np.stack([estimate > null, estimate < null])
    inside = np.where(sides & equal, null, estimate)
    outside = np.where(sides & ~equal, null, np.stack([np.full_like(estimate, end) for end in ends]))
    limit, _ = crossings(excess, place(inside), place(outside), unit=float(ratio))
    low, high = np.where(limit == place(outside), outside, np.exp(limit)) if ratio else limit
    if ratio:
        high = np.where(x2 == 0, np.inf, high)
    return np.where(undefined, np.nan, low), np.where(undefined, np.nan, high)


def mover(
    value: Callable[[Floats, Floats], Floats],
    rates: tuple[ArrayLike, ArrayLike],
    low: tuple[ArrayLike, ArrayLike],
    high: tuple[ArrayLike, ArrayLike],
) -> tuple[Floats, Floats]:
    """MOVER limits of ``value(r1, r2)``, increasing in r1 and decreasing in r2, from separate limits of r1 and r2.

    For ``value = r1 - r2`` this is Zou and Donner's interval.
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
