"""The largest disparity among all comparisons of a test, with its interval.

fairlearn's ``difference()`` is the largest absolute difference of any two groups, which is hardly ever 0 whatever the
groups are: a percentile interval of it does not contain 0 unless there are few people. The comparisons of a test have
simultaneous intervals; if all of them cover, the largest absolute disparity lies between the largest of their smallest
and the largest of their greatest absolute values. That interval contains equality if no comparison's interval excludes
it. (An exact test of few people can reject a comparison whose score interval contains equality; we follow the test.)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from skfairtest._utils.typing import Floats


class Extreme(NamedTuple):
    """The disparity farthest from equality: absolute differences, or ratios below one.

    Parameters
    ----------
    value : float
        The largest absolute difference, or the smallest ratio (of the lesser to the greater value).
    low, high : float
        Limits of it. For differences `high` is the worst end, for ratios `low`.
    """

    value: float
    low: float
    high: float


def extreme_disparity(value: ArrayLike, low: ArrayLike, high: ArrayLike, disparity: str) -> Extreme:
    """Return the disparity farthest from equality among comparisons with simultaneous two-sided intervals.

    Parameters
    ----------
    value, low, high : array-like of shape (k,)
        Disparities of the comparisons, and the limits of their intervals.
    disparity : {"difference", "ratio"}
        What they compare.

    Returns
    -------
    Extreme
        NaN where there is no comparison.

    Examples
    --------
    >>> extreme_disparity([-0.2, 0.1], [-0.3, -0.1], [-0.05, 0.2], "difference")
    Extreme(value=0.2, low=0.05, high=0.3)
    """
    value, low, high = (np.asarray(numbers, dtype=float) for numbers in (value, low, high))
    if not len(value):
        return Extreme(np.nan, np.nan, np.nan)
    if disparity != "difference":
        with np.errstate(divide="ignore"):
            nearest = np.where((low <= 1) & (high >= 1), 1.0, np.maximum(_below_one(low), _below_one(high)))
            ends = _below_one(value), np.minimum(_below_one(low), _below_one(high)), nearest
        return Extreme(*(float(np.fmin.reduce(end)) for end in ends))  # without ratios that are undefined
    nearest = np.where((low <= 0) & (high >= 0), 0.0, np.minimum(np.abs(low), np.abs(high)))
    ends = np.abs(value), nearest, np.maximum(np.abs(low), np.abs(high))
    return Extreme(*(float(end.max()) for end in ends))


def _below_one(ratio: Floats) -> Floats:
    return np.asarray(np.minimum(ratio, 1 / ratio))
