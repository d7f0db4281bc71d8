"""The smallest disparity that given people could have shown, by normal approximation, for many comparisons at once.

Sizes are distances: of a difference its absolute value, of a ratio the larger value over the smaller one. Where a
disparity can go both ways, the farther of the two is meant, so that one of that size is found whichever way it goes;
where only one way has room, that one. Infinity: no disparity there can be is found with that power. NaN: a ratio to a
rate of 0, of which none can be named.

References
----------
J. L. Fleiss, B. Levin and M. C. Paik (2003). Statistical Methods for Rates and Proportions, section 4.2.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import norm

from skfairtest.inference._discrete import Floats

#: Halvings of an interval of probabilities.
HALVINGS = 50


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
) -> Floats:
    """Smallest disparity of two rates that the two-sided score test of equality finds.

    Parameters
    ----------
    other : array-like of shape (k,)
        Rate of the others.
    d1, d2 : array-like of shape (k,)
        People who meet the condition, in the group and among the others.
    alpha, power : float
        Level of the test, and probability of finding the disparity.
    disparity : {"difference", "ratio"}
        What is asked for.
    share : array-like of shape (k,), default=0
        Share of the group in everyone, where the disparity to everyone is shown and the others are the rest.
    direction : {"farther", "up", "down"}
        Whether the group's rate lies above or below; "farther": whichever is harder to find, where both have room.

    Returns
    -------
    ndarray of shape (k,)
        Absolute differences; or ratios above 1, the larger rate over the smaller. Infinity where there is none.

    Examples
    --------
    >>> detectable_rates(0.3, 93, 93, alpha=0.05, power=0.8).round(3)
    array([0.2])
    """
    p2, n1, n2, part = np.broadcast_arrays(*(np.atleast_1d(np.asarray(v, float)) for v in (other, d1, d2, share)))
    z, beyond = float(norm.isf(alpha / 2)), float(norm.isf(1 - power))
    with np.errstate(divide="ignore", invalid="ignore"):
        sizes = [_one_way(p2, n1, n2, part, sign, z, beyond, disparity) for sign in (1.0, -1.0)]
    up, down = sizes if direction == "farther" else [sizes[direction == "down"]] * 2
    found = _farther(up, down)
    return np.where(p2 == 0, np.nan, found) if disparity == "ratio" else found


def _one_way(
    p2: Floats, n1: Floats, n2: Floats, part: Floats, sign: float, z: float, beyond: float, disparity: str
) -> Floats:
    """Find the disparity with the group's rate above (sign 1) or below (-1) the others'; NaN if there is none."""
    room = 1 - p2 if sign > 0 else p2

    def found(gap: Floats) -> NDArray[np.bool_]:
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
    if disparity == "ratio":
        p1 = p2 + sign * high
        shown = part * p1 + (1 - part) * p2
        # No ratio to a rate of 0 can be named, and none of a rate of 0.
        size = np.where((shown > 0) & (p1 > 0), p1 / shown if sign > 0 else shown / p1, np.nan)
    else:
        size = high * (1 - part)
    return np.asarray(np.where(possible, size, np.nan))


def _farther(up: Floats, down: Floats) -> Floats:
    size = np.fmax(up, down)
    return np.asarray(np.where(np.isnan(size), np.inf, size))


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
