"""Differences of two means in standard deviations: Cohen's d, with limits that agree with Welch's test.

A standardized difference of `edge` means first - second - edge * s = 0, where s is the pooled standard deviation of the
two groups. This form over its standard error is the statistic of a test of that edge, and the edges that the test does
not reject are the interval (Fieller 1954). At 0 it is Welch's statistic, so that the interval contains 0 exactly where
the test of equal means does not reject. Neither normal values nor equal variances are assumed.

References
----------
J. Cohen (1988). Statistical Power Analysis for the Behavioral Sciences. 2nd edition. Section 2.2.
E. C. Fieller (1954). Some problems in interval estimation. Journal of the Royal Statistical Society B 16, 175-185.
"""

from __future__ import annotations

import numpy as np

from skfairtest._utils.typing import Floats, Moments

#: A variance below this share of the largest square is a rounding error of 0.
ROUNDING = 1e-24


def standardized_moments(values: Floats, counts: Floats) -> Moments:
    """Return the difference of two means, the pooled standard deviation, and their variances and covariance.

    Parameters
    ----------
    values : ndarray of shape (K,)
        A number for each kind of people.
    counts : ndarray of shape (2, K)
        How many people of either group are of that kind.

    Returns
    -------
    Moments
        ``first`` is the difference, ``second`` the pooled standard deviation (ddof 2), both in units of the largest
        value. The variance of the difference is Welch's; the others are those of the delta method.
    """
    counts = np.asarray(counts, dtype=float)
    n = counts.sum(axis=1)
    unit = float(np.abs(values).max()) or 1.0
    values = values / unit
    mean = counts @ values / n
    deviation = values - mean[:, None]
    second, third, fourth = ((counts * deviation**power).sum(axis=1) / n for power in (2, 3, 4))
    share = (n - 1) / (n.sum() - 2)
    each = second * n / (n - 1)
    pooled = share @ each
    pooled *= pooled > ROUNDING
    with np.errstate(divide="ignore", invalid="ignore"):
        of_variance = float((share**2 * (fourth - second**2) / n).sum())
        covariance = float(share[0] * third[0] / n[0] - share[1] * third[1] / n[1])
        spread = np.sqrt(pooled)
        return Moments(
            np.asarray(mean[0] - mean[1]),
            np.asarray((each / n).sum()),
            np.asarray(spread),
            np.asarray(of_variance / (4 * pooled)),
            np.asarray(covariance / (2 * spread)),
        )


def standardized_difference(moments: Moments) -> tuple[float, float]:
    """Return the standardized difference and its standard error; NaN where all people of both groups are alike.

    Examples
    --------
    Borenstein et al. (2009), Introduction to Meta-Analysis, chapter 4: means 103 and 100, standard deviations 5.5 and
    4.5, 50 people in each group.

    >>> import numpy as np
    >>> moments = Moments(*map(np.array, (3.0, 1.01, 5.0249, 0.1262, 0.0)))
    >>> d, error = standardized_difference(moments)
    >>> print(f"{d:.4f} {error:.4f}")
    0.5970 0.2044
    """
    difference, welch, spread, of_spread, covariance = (float(part) for part in moments)
    if not spread > 0:
        return np.nan, np.nan
    d = difference / spread
    return d, float(np.sqrt(max(0.0, welch + d**2 * of_spread - 2 * d * covariance))) / spread


def standardized_limits(moments: Moments, critical: tuple[float, float]) -> tuple[float, float]:
    """Return the standardized differences that are not rejected at critical values below and above the estimate.

    Infinite limits are those of an infinite critical value, or of so few people that even the pooled standard deviation
    may be 0.
    """
    return -_upper(moments._replace(first=-moments.first, covariance=-moments.covariance), critical[0]), _upper(
        moments, critical[1]
    )


def _upper(moments: Moments, critical: float) -> float:
    """Return the larger of the edges at which the statistic is the critical value."""
    difference, welch, spread, of_spread, covariance = (float(part) for part in moments)
    if not spread > 0:
        return np.nan
    # (difference - edge * spread)**2 = critical**2 * (welch + edge**2 * of_spread - 2 * edge * covariance)
    square = spread**2 - critical**2 * of_spread
    if not (np.isfinite(critical) and square > 0):
        return np.inf
    linear = difference * spread - critical**2 * covariance
    root = linear**2 - square * (difference**2 - critical**2 * welch)
    return float((linear + np.sqrt(max(root, 0.0))) / square)
