"""Two sides whose people come in clusters: each cluster's part of the difference gets a random sign.

Under the null hypothesis that both sides have the same value, each cluster's sum of linearized parts at the pooled
value has expectation 0, whichever people of either side the cluster holds. Flipping the signs of these sums at random
therefore keeps the null hypothesis of the marginal values, which permuting labels inside clusters does not: that
conditions on each cluster's composition, and tests the disparity within clusters. The flipped difference is divided by
its own cluster-robust standard error, in which each cluster's sum is inflated by its share of its side (the correction
HC3).

References
----------
J. Hemerik, J. J. Goeman and L. Finos (2020). Robust testing in generalized linear models by sign flipping score
contributions. Journal of the Royal Statistical Society B 82, 841-864. Section 3.
A. C. Cameron, J. B. Gelbach and D. L. Miller (2008). Bootstrap-based improvements for inference with clustered errors.
Review of Economics and Statistics 90, 414-427. Section III.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from skfairtest._utils.typing import Floats, Moments

#: A variance below this share of the clusters' squared parts is a rounding error of 0.
ROUNDING = 1e-12


class Side(NamedTuple):
    """One side by cluster.

    Parameters
    ----------
    value : float
        The metric.
    parts : ndarray of shape (U,)
        Each cluster's part of the value's linearized error; they sum to 0.
    base : ndarray of shape (U,)
        How much of what the value is divided by each cluster has.
    """

    value: float
    parts: Floats
    base: Floats


def random_signs(size: int, n_clusters: int, rng: np.random.Generator) -> Floats:
    """Draw signs of -1 and 1, an array (size, n_clusters)."""
    return np.where(rng.integers(0, 2, (size, n_clusters), dtype=np.int8), 1.0, -1.0)


def flipped(first: Side, second: Side, signs: Floats) -> Moments:
    """Return both values, their variances and their covariance when clusters' parts at the pooled value have signs.

    Parameters
    ----------
    first, second : Side
        Both sides, by the same clusters; a cluster without people of a side has parts and base 0 there.
    signs : ndarray of shape (B, U)
        Signs of each resample; all 1 gives the data's own values.

    Returns
    -------
    Moments
        Arrays of shape (B,).

    Examples
    --------
    A cluster's people on both sides differ by 2, 1 and 3; with all signs alike the difference of means is 2.

    >>> mean = np.ones(3)
    >>> first = Side(4.0, np.array([1.0, -1.0, 0.0]) / 3, mean)
    >>> second = Side(2.0, np.array([1.0, 0.0, -1.0]) / 3, mean)
    >>> v1, _, v2, _, _ = flipped(
    ...     first, second, np.array([[1.0, 1, 1], [1, -1, 1], [-1, -1, -1]])
    ... )
    >>> (v1 - v2).round(3).tolist()
    [2.0, 1.333, -2.0]
    """
    totals = [float(side.base.sum()) for side in (first, second)]
    if not all(totals):  # the metric is undefined on a side
        nothing = np.full(len(signs), np.nan)
        return Moments(nothing, nothing, nothing, nothing, nothing)
    pooled = (totals[0] * first.value + totals[1] * second.value) / sum(totals)
    shares = [side.base / total for side, total in zip((first, second), totals, strict=True)]
    # At the pooled value the parts of a side sum to its distance from it, in proportion to what clusters count.
    parts = [side.parts + share * (side.value - pooled) for side, share in zip((first, second), shares, strict=True)]
    # A side that is all in one cluster says nothing about how clusters differ.
    inflated = [np.where(share < 1 - 1e-12, 1 / np.maximum(1 - share, 1e-12), 0.0) for share in shares]
    (p1, p2), (a1, a2), (h1, h2) = parts, shares, inflated
    columns = np.stack([p1, p2, p1 * a1 * h1**2, p2 * a2 * h2**2, p1 * a2 * h1 * h2, p2 * a1 * h1 * h2], axis=1)
    r1, r2, b1, b2, c1, c2 = (signs @ columns).T
    squares = [float((h * p) @ (h * p)) for h, p in zip(inflated, parts, strict=True)]
    q1 = squares[0] - 2 * r1 * b1 + r1**2 * float((a1 * h1) @ (a1 * h1))
    q2 = squares[1] - 2 * r2 * b2 + r2**2 * float((a2 * h2) @ (a2 * h2))
    covariance = float((h1 * p1) @ (h2 * p2)) - r2 * c1 - r1 * c2 + r1 * r2 * float((a1 * h1) @ (a2 * h2))
    # What ought to be 0 is not left as a rounding error.
    q1, q2 = (np.where(q <= ROUNDING * square, 0.0, q) for q, square in zip((q1, q2), squares, strict=True))
    alike = q1 + q2 - 2 * covariance <= ROUNDING * sum(squares)
    return Moments(pooled + r1, q1, pooled + r2, q2, np.where(alike, (q1 + q2) / 2, covariance))
