"""A proof that no permutation will be as extreme as the data, without drawing any: means far beyond chance.

Labels that are permuted give one side a random subset of people's values. Sums over subsets drawn without replacement
have moment-generating functions no larger than those with replacement (Hoeffding 1963, theorem 4), and so Chernoff's
bound holds for them with the mean of exp(slope * value) over these very people, at any slope.

References
----------
W. Hoeffding (1963). Probability inequalities for sums of bounded random variables. Journal of the American Statistical
Association 58, 13-30.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from skfairtest._utils.typing import Floats

#: Slopes tried, as multiples of that of a normal distribution: the bound holds at each of them.
SLOPES = (0.7, 0.85, 1.0, 1.2)
#: What rounding may take from a statistic, and how far from the mean, in standard deviations, values are for that.
ROUNDING, FARTHEST = 1e-3, 1000.0


def is_rarer(values: Floats, people: NDArray[np.integer], size: int, statistic: float, log_p: float) -> bool:
    """Return whether a permuted Welch statistic is provably as large, in absolute value, with less than a probability.

    Parameters
    ----------
    values : ndarray of float, shape (K,)
        Values of which both sides' means are compared.
    people : ndarray of int, shape (K,)
        How many people have each.
    size : int
        How many people the first side has.
    statistic : float
        The difference of the means over the root of the sum of both s^2 / n.
    log_p : float
        Logarithm of the probability.

    Returns
    -------
    bool
        False where it is not so, and where the bound is too wide to tell.

    Examples
    --------
    >>> values = np.tile(np.linspace(0, 1, 11), 50)
    >>> [is_rarer(values, np.ones(550, dtype=int), 200, z, np.log(1e-12)) for z in (6.0, 16.0)]
    [False, True]
    """
    n = int(people.sum())
    k, z = min(size, n - size), abs(statistic) * (1 - ROUNDING)
    each = log_p - np.log(3)  # the squares of the smaller side are too few, or its sum is too large, or too small
    if k < 2 or not np.isfinite(z) or z**2 < -2 * each:
        return False
    share = people / n
    centred = values - share @ values
    squares = centred**2
    variance = float(share @ squares)
    if not np.abs(centred[people > 0]).max() ** 2 < FARTHEST**2 * variance:
        return False
    spread = float(share @ squares**2) - variance**2
    least = max(0.0, k * variance - 1.2 * np.sqrt(-2 * each * k * max(0.0, spread)))
    if least and not spread > 0:
        return False
    if least and _log_tail(-squares, share, k, -least, (variance - least / k) / spread) > each:
        return False
    # x is the sum of the centred values of the smaller side, y >= least that of their squares. The statistic is large
    # if x^2 (n / (k (n - k)))^2 >= z^2 (y a + (n variance - y) b - x^2 (a / k + b / (n - k))), and a >= b.
    a, b = 1 / (k * (k - 1)), 1 / ((n - k) * (n - k - 1))
    at_least = z**2 * (b * n * variance + (a - b) * least)
    edge = np.sqrt(at_least / ((n / (k * (n - k))) ** 2 + z**2 * (a / k + b / (n - k))))
    return all(_log_tail(sign * centred, share, k, edge, edge / (k * variance)) <= each for sign in (1, -1))


def _log_tail(values: Floats, share: Floats, size: int, edge: float, slope: float) -> float:
    """Return a bound on the log-probability that so many values, drawn without replacement, add up to `edge`."""
    with np.errstate(over="ignore"):
        return min(float(-t * edge + size * np.log(share @ np.exp(t * values))) for t in slope * np.array(SLOPES))
