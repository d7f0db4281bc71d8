"""The smallest disparity that given people could have shown, for many comparisons at once.

Sizes are distances: of a difference its absolute value, of a ratio the larger value over the smaller one. Where a
disparity can go both ways, the farther of the two is meant, so that one of that size is found whichever way it goes;
where only one way has room, that one. Infinity: no disparity there can be is found with that power. NaN: a ratio to a
rate of 0, of which none can be named.

Of rates it is the power of the test that is run; it rises without jumps with the distance of two rates, however few
people there are, so that there is one distance at which it is the power wanted. The normal approximation is what the
search begins with, and what is taken where it is as good.

References
----------
J. L. Fleiss, B. Levin and M. C. Paik (2003). Statistical Methods for Rates and Proportions, section 4.2.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri
from scipy.stats import norm

from skfairtest._utils.typing import Booleans, Floats
from skfairtest.inference.power_curve import PowerCurve
from skfairtest.inference.regions import reference_of

#: Halvings of an interval of probabilities.
HALVINGS = 50
#: Standard deviation of the group's events, given everyone's, from which the normal approximation is taken: its power
#: is within .01 there.
NORMAL_EVENTS = 100.0
#: How near to the power wanted a search ends, on the scale of normal quantiles (.002 at .8), and what it may take.
_NEAR, _TRIES = 0.007, 25
#: Where the normal approximation of one direction is this far below the other's, the other is the farther one.
_NEARER = 0.6


def detectable_rates(
    other: ArrayLike,
    d1: ArrayLike,
    d2: ArrayLike,
    *,
    alpha: float,
    power: float,
    disparity: str = "difference",
    share: ArrayLike = 0.0,
    direction: str = "farther",
    method: str | None = None,
) -> Floats:
    """Smallest disparity of two rates that the two-sided test of equality finds.

    Parameters
    ----------
    other : array-like of shape (k,)
        Rate of the others.
    d1, d2 : array-like of shape (k,)
        People who meet the condition, in the group and among the others; whole numbers if there is a `method`.
    alpha, power : float
        Level of the test, and probability of finding the disparity.
    disparity : {"difference", "ratio"}
        What is asked for.
    share : array-like of shape (k,), default=0
        Share of the group in everyone, where the disparity to everyone is shown and the others are the rest.
    direction : {"farther", "up", "down"}
        Whether the group's rate lies above or below; "farther": whichever is harder to find, where both have room.
    method : {"auto", "exact", "asymptotic", "permutation", "bootstrap"}, optional
        What is run, whose power is meant; None: the score test by normal approximation.

    Returns
    -------
    ndarray of shape (k,)
        Absolute differences; or ratios above 1, the larger rate over the smaller. Infinity where there is none.

    Examples
    --------
    >>> detectable_rates(0.3, 93, 93, alpha=0.05, power=0.8).round(3)
    array([0.2])
    >>> detectable_rates(0.3, 93, 93, alpha=0.05, power=0.8, method="exact").round(3)
    array([0.202])
    """
    p2, n1, n2, part = np.broadcast_arrays(*(np.atleast_1d(np.asarray(v, float)) for v in (other, d1, d2, share)))
    z, beyond = float(norm.isf(alpha / 2)), float(norm.isf(1 - power))
    signs = {"farther": (1, -1), "up": (1,), "down": (-1,)}[direction]
    with np.errstate(divide="ignore", invalid="ignore"):
        gaps = [_normal_gap(p2, n1, n2, sign, z, beyond) for sign in signs]
        sizes = np.array([_size(p2, gap, part, sign, disparity) for gap, sign in zip(gaps, signs, strict=True)])
        if method is not None:
            for i in np.flatnonzero(_few(p2, n1, n2, np.fmin(gaps[0], gaps[-1]))):
                curve = PowerCurve(int(n1[i]), int(n2[i]), float(p2[i]), alpha, reference_of(method, n1[i], n2[i]))
                distances = np.log(sizes[:, i]) if disparity == "ratio" else sizes[:, i].copy()
                sizes[:, i] = np.nan
                for way in np.argsort(-np.nan_to_num(distances, nan=np.inf)):
                    if not np.isnan(sizes[:, i]).all() and distances[way] < _NEARER * np.fmax.reduce(distances):
                        continue  # clearly the nearer one
                    gap = _searched_gap(curve, signs[way], float(gaps[way][i]), z, power)
                    sizes[way, i] = _size(p2[i], np.asarray(gap), part[i], signs[way], disparity)
    found = np.fmax(sizes[0], sizes[-1])
    found = np.where(np.isnan(found), np.inf, found)
    return np.where(p2 == 0, np.nan, found) if disparity == "ratio" else found


def _normal_gap(p2: Floats, n1: Floats, n2: Floats, sign: int, z: float, beyond: float) -> Floats:
    """Find the distance of a group's rate above (sign 1) or below (-1) the others'; NaN if there is none."""
    room = 1 - p2 if sign > 0 else p2

    def found(gap: Floats) -> Booleans:
        p1 = np.clip(p2 + sign * gap, 0.0, 1.0)
        pooled = (n1 * p1 + n2 * p2) / (n1 + n2)
        null = np.sqrt(pooled * (1 - pooled) * (1 / n1 + 1 / n2))
        own = np.sqrt(p1 * (1 - p1) / n1 + p2 * (1 - p2) / n2)
        return np.asarray(gap - z * null - beyond * own >= 0)

    low, high = np.zeros_like(p2), room.copy()
    possible = found(high) & (room > 0)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        enough = found(middle)
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return np.where(possible, high, np.nan)


def _few(p2: Floats, n1: Floats, n2: Floats, gap: Floats) -> Booleans:
    """Whether the normal approximation is not good enough: also where it finds no disparity at all."""
    pooled = (n1 * np.clip(p2 - np.abs(gap), 0, 1) + n2 * p2) / (n1 + n2)
    above = (n1 * np.clip(p2 + np.abs(gap), 0, 1) + n2 * p2) / (n1 + n2)
    spread = np.minimum(pooled * (1 - pooled), above * (1 - above)) * n1 * n2 / (n1 + n2)
    return ~(spread >= NORMAL_EVENTS**2)


def _searched_gap(curve: PowerCurve, sign: int, start: float, z: float, power: float) -> float:
    """Find the distance at which a curve has the power wanted, by false position on the scale of normal quantiles."""
    p2 = curve.p2
    room = 1 - p2 if sign > 0 else p2
    wanted = float(ndtri(power))

    def excess(gap: float) -> float:
        p1 = min(1.0, max(0.0, p2 + sign * gap))
        return float(ndtri(min(1 - 1e-12, max(1e-12, curve.at(p1))))) - wanted

    # At equality the test rejects with the probability of its level at the most.
    low, below = 0.0, -z - wanted
    high, above = room, np.nan
    gap = start if np.isfinite(start) else room
    for attempt in range(_TRIES):
        if room <= 0:
            break
        found = excess(gap)
        if abs(found) <= _NEAR:
            return gap
        if found > 0:
            high, above = gap, found
        elif gap >= room:
            break
        else:
            low, below = gap, found
        if np.isnan(above):
            # On to where a straight line from equality has the power, or to the end.
            gap = min(room, max(gap * (z + wanted) / max(z + wanted + found, 1e-9), 1.05 * gap))
        elif attempt > 6:
            gap = (low + high) / 2
        else:
            gap = low + (high - low) * below / (below - above)
    else:
        return high
    return float("nan")


def _size(p2: Floats, gap: Floats, part: Floats, sign: int, disparity: str) -> Floats:
    """Size of the disparity of two rates at a distance; NaN where there is none, or no ratio can be named."""
    if disparity == "difference":
        return np.asarray(gap * (1 - part))
    p1 = p2 + sign * gap
    shown = part * p1 + (1 - part) * p2
    # No ratio to a rate of 0 can be named, and none of a rate of 0.
    return np.where((shown > 0) & (p1 > 0), p1 / shown if sign > 0 else shown / p1, np.nan)


def detectable_estimates(
    error: ArrayLike, *, alpha: float, power: float, disparity: str = "difference", edge: float = 0.0
) -> Floats:
    """Smallest disparity that a studentized two-sided test finds.

    Parameters
    ----------
    error : array-like of shape (k,)
        Standard errors of the differences, or of the logarithms of the ratios.
    alpha, power : float
        Level of the test, and probability of finding the disparity.
    disparity : {"difference", "ratio"}
        What is asked for.
    edge : float, default=0
        The largest disparity that is tolerated: a difference, or the logarithm of a ratio.

    Returns
    -------
    ndarray of shape (k,)
        Absolute differences, or ratios above 1; NaN where the error is 0 or unknown.

    Examples
    --------
    >>> detectable_estimates(0.1, alpha=0.05, power=0.8).round(3)
    array([0.28])
    """
    errors = np.atleast_1d(np.asarray(error, float))
    size = edge + (float(norm.isf(alpha / 2)) + float(norm.isf(1 - power))) * np.where(errors > 0, errors, np.nan)
    return np.asarray(np.exp(size) if disparity == "ratio" else size)
