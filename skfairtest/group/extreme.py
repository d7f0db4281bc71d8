"""The largest disparity among all comparisons of a test, with its interval.

fairlearn's ``difference()`` is the largest absolute difference of any two groups, which is hardly ever 0 whatever the
groups are: unless people are few, a percentile interval of it does not contain 0. The comparisons of a test have
simultaneous intervals; where all of them hold, the largest absolute disparity lies between the largest of their least
and the largest of their greatest absolute values. That interval contains equality where no comparison is told from it.
(An exact test of few people can reject a comparison whose score interval contains equality; the p-value decides.)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from skfairtest._utils.typing import Floats

__all__ = ["Extreme", "extreme_disparity"]


class Extreme(NamedTuple):
    """The disparity furthest from equality: absolute differences, or ratios below one.

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


def extreme_disparity(comparisons: pd.DataFrame, disparity: str) -> Extreme:
    """Return the disparity furthest from equality among comparisons with simultaneous two-sided intervals.

    Parameters
    ----------
    comparisons : DataFrame
        Rows of `FairnessTest.comparisons_`.
    disparity : {"difference", "ratio"}
        What they compare.

    Returns
    -------
    Extreme
        NaN where there is no comparison.

    Examples
    --------
    >>> rows = pd.DataFrame(
    ...     {"disparity": [-0.2, 0.1], "ci_low": [-0.3, -0.1], "ci_high": [-0.05, 0.2]}
    ... )
    >>> extreme_disparity(rows, "difference")
    Extreme(value=0.2, low=0.05, high=0.3)
    """
    if not len(comparisons):
        return Extreme(np.nan, np.nan, np.nan)
    value, low, high = (comparisons[name].to_numpy(dtype=float) for name in ("disparity", "ci_low", "ci_high"))
    if disparity == "ratio":
        with np.errstate(divide="ignore"):
            nearest = np.where((low <= 1) & (high >= 1), 1.0, np.maximum(_below_one(low), _below_one(high)))
            ends = _below_one(value), np.minimum(_below_one(low), _below_one(high)), nearest
        return Extreme(*(float(end.min()) for end in ends))
    nearest = np.where((low <= 0) & (high >= 0), 0.0, np.minimum(np.abs(low), np.abs(high)))
    ends = np.abs(value), nearest, np.maximum(np.abs(low), np.abs(high))
    return Extreme(*(float(end.max()) for end in ends))


def _below_one(ratio: Floats) -> Floats:
    return np.asarray(np.minimum(ratio, 1 / ratio))
