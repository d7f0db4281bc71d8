"""Rejection regions of the exact tests of two rates: which outcomes are rejected, and how often that happens.

A region is a boolean array (d1 + 1, d2 + 1) over the events of both groups. From it size and power are sums, not
simulations.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from skfairtest.inference._discrete import Floats, hypergeometric_log_pmf
from skfairtest.inference.conditional import TIE, support
from skfairtest.inference.unconditional import TotalTail, largest_probability

Region = NDArray[np.bool_]


def conditional_p_values(d1: int, d2: int) -> Floats:
    """Two-sided Fisher p-values of every outcome, (d1 + 1, d2 + 1)."""
    out = np.empty((d1 + 1, d2 + 1))
    for m in range(d1 + d2 + 1):
        low, high = support(d1, d2, m)
        x = np.arange(low, high + 1)
        probability = np.exp(hypergeometric_log_pmf(x, d1, d2, m))
        order = np.argsort(probability)
        climbing = probability[order]
        # An outcome's p-value holds every outcome that is not more probable, ties included.
        last = np.searchsorted(climbing, climbing * (1 + TIE), side="right") - 1
        out[x[order], m - x[order]] = np.minimum(np.cumsum(climbing)[last], 1.0)
    return out


def conditional_region(d1: int, d2: int, alpha: float = 0.05) -> Region:
    """Outcomes that Fisher's two-sided exact test rejects at `alpha`."""
    return np.asarray(conditional_p_values(d1, d2) <= alpha * (1 + 1e-12))


def unconditional_region(d1: int, d2: int, alpha: float = 0.05) -> Region:
    """Outcomes that Boschloo's two-sided test rejects at `alpha`.

    The test orders outcomes by Fisher's p-value, so its region is the largest set ``{Fisher's p <= t}`` whose
    probability stays at or below `alpha` for every common event probability.
    """
    fisher = conditional_p_values(d1, d2)
    people = d1 + d2
    events = np.add.outer(np.arange(d1 + 1), np.arange(d2 + 1))
    probability = np.empty_like(fisher)
    for m in range(people + 1):
        low, high = support(d1, d2, m)
        x = np.arange(low, high + 1)
        probability[x, m - x] = np.exp(hypergeometric_log_pmf(x, d1, d2, m))
    candidates = np.unique(fisher[(fisher > alpha * 0.999) & (fisher <= min(1.0, 20 * alpha))])
    # Fisher's own region never exceeds the level; look for the last candidate that does not either.
    inside, outside = -1, len(candidates)
    while outside - inside > 1:
        middle = (inside + outside) // 2
        chosen = fisher <= candidates[middle] * (1 + 1e-9)
        masses = np.minimum(np.bincount(events[chosen], weights=probability[chosen], minlength=people + 1), 1.0)
        if largest_probability(TotalTail(masses), 0.0, np.pi / 4, relative=1e-4) <= alpha:
            inside = middle
        else:
            outside = middle
    threshold = alpha if inside < 0 else candidates[inside]
    return np.asarray(fisher <= threshold * (1 + 1e-9))


def probability_of(region: Region, p1: float, p2: float) -> float:
    """How often a region is hit when the groups' event probabilities are p1 and p2.

    Examples
    --------
    >>> round(probability_of(conditional_region(93, 93), 0.3, 0.5), 4)
    0.7511
    >>> round(probability_of(unconditional_region(93, 93), 0.3, 0.5), 4)
    0.7906
    """
    d1, d2 = region.shape[0] - 1, region.shape[1] - 1
    first = binom.pmf(np.arange(d1 + 1), d1, p1)
    second = binom.pmf(np.arange(d2 + 1), d2, p2)
    return float(first @ region @ second)
