"""Step-down max-T adjustment (Westfall and Young 1993) from a joint distribution of the statistics.

From permuted tables it is exact for the joint null hypothesis only (every group alike): with groups A = B but C
different it can reject A against B up to 12% of the time at a nominal 5%. Holm's adjustment has no such weakness.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from skfairtest._utils.typing import Floats
from skfairtest.inference.conditional import conditional_score_log_p, log_both_tails
from skfairtest.inference.resampling import at_least_as_extreme, oriented


def _defined(drawn: Floats) -> Floats:
    """Draws in which a statistic is defined; one that is not leaves the maximum to the others."""
    kept = drawn[~np.isnan(drawn).all(axis=1)]
    return np.where(np.isnan(kept), -np.inf, kept)


def max_t_p(drawn: Floats, observed: Floats, alternative: str = "greater") -> Floats:
    """Adjusted p-values of a family from joint draws.

    Parameters
    ----------
    drawn : ndarray, shape (n_resamples, n_comparisons)
        Statistics under the null hypothesis, drawn together; NaN where undefined, which leaves only that comparison out
        of the maximum.
    observed : ndarray, shape (n_comparisons,)
        The observed statistics.
    alternative : {"two-sided", "greater", "less"}
        Which direction is extreme.

    Returns
    -------
    ndarray, shape (n_comparisons,)
        Step-down adjusted p-values, never 0.
    """
    draws, observed = _defined(oriented(drawn, alternative)), oriented(observed, alternative)
    order = np.argsort(-observed, kind="stable")
    # Column j of `tops` is the largest drawn statistic among the comparisons not more extreme than the j-th.
    tops = np.maximum.accumulate(draws[:, order[::-1]], axis=1)[:, ::-1]
    counts = at_least_as_extreme(tops, observed[order], "greater").sum(axis=0)
    return np.maximum.accumulate((1 + counts) / (1 + len(draws)))[np.argsort(order)]


def max_t_quantile(drawn: Floats, alternative: str, level: float) -> float:
    """The `level` quantile of the largest drawn statistic: the critical value of simultaneous intervals."""
    defined = _defined(oriented(drawn, alternative))
    if not len(defined):  # nothing says how large the largest can be
        return np.inf
    return float(np.quantile(defined.max(axis=1), level, method="inverted_cdf"))


def max_t_extreme(drawn: Floats, observed: float) -> tuple[int, int]:
    """How many oriented joint draws have a largest statistic at least as extreme as one observed, of how many."""
    tops = _defined(drawn).max(axis=1)
    return int(at_least_as_extreme(tops, observed, "greater").sum()), len(tops)


def product_log_p(pairs: Sequence[tuple[int, int, int, int]], statistics: Floats) -> Floats:
    """Adjusted log p-values of one pair of groups' rates on disjoint conditions, enumerated.

    Given the margins the rates are independent, hence P(max |S| >= s) = 1 - prod(1 - P(|S_j| >= s)), stepped down.

    Parameters
    ----------
    pairs : sequence of (x1, d1, x2, d2)
        Events and denominators of each rate in the two groups.
    statistics : ndarray, shape (n_rates,)
        Observed score statistics.
    """
    sizes = np.abs(statistics)
    order = np.argsort(-sizes, kind="stable")
    adjusted = np.empty(len(sizes))
    for place, index in enumerate(order):
        own = conditional_score_log_p(*pairs[index])  # by the observed distance, which is exact
        others = [_tail_beyond(pairs[j], sizes[index]) for j in order[place + 1 :]]
        survive = sum(_log_complement(p) for p in (own, *others))
        total = float(np.log(-np.expm1(survive))) if survive < -1e-12 else float(np.logaddexp.reduce([own, *others]))
        adjusted[place] = min(0.0, total)
    return np.maximum.accumulate(adjusted)[np.argsort(order)]


def _log_complement(log_p: float) -> float:
    """Log(1 - exp(log_p)) for log_p <= 0."""
    if log_p >= 0:
        return -np.inf
    return float(np.log(-np.expm1(log_p)) if log_p > -0.5 else np.log1p(-np.exp(log_p)))


def _tail_beyond(pair: tuple[int, int, int, int], size: float) -> float:
    """Log P(|S| >= size) given the margins."""
    x1, d1, x2, d2 = (int(v) for v in pair)
    m, people = x1 + x2, d1 + d2
    if size <= 0:
        return 0.0
    if m in (0, people):
        return -np.inf
    # S = (x1 N - m d1) / sqrt(m (N - m) d1 d2 / N): the smallest reachable |S| that is not below `size`.
    unit = float(np.sqrt(m * (people - m) / people * d1 * d2))
    reach = size * unit * (1 - 1e-12)
    lower, upper = int(np.floor((m * d1 - reach) / people)), int(np.ceil((m * d1 + reach) / people))
    return float(log_both_tails(lower, upper, d1, d2, m)[0])
