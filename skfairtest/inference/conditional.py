"""The conditional law of two groups' events: hypergeometric given the total (Fisher 1935), one stratum or several.

Group 1 has ``d1`` people who meet a rate's condition, ``x1`` of them show its event; group 2 likewise. When both show
it with the same probability, ``x1`` given the total ``m = x1 + x2`` is hypergeometric, whatever that probability is.
With several strata the sum of the ``x1`` given every stratum's total is the convolution of their hypergeometric laws,
which is the exact form of the Mantel-Haenszel test: ``sum w (r1 - r2) = sum (x1 - d1 m / N)`` is that sum but for a
constant.

Two-sided p-values order outcomes by their conditional probability, as ``scipy.stats.fisher_exact`` does, with a
relative tolerance of 1e-7. P-values are returned as natural logarithms, so that one of 1e-5000 is still a number.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from skfairtest.inference._discrete import Floats, hypergeometric_log_pmf

#: Two outcomes whose probabilities differ by less than this, relatively, are equally probable.
TIE = 1e-7
#: Strata are convolved while the sum of products of their supports stays below this.
STRATA_WORK = 2_000_000_000
#: Beyond this many standard deviations a linear-space convolution could underflow.
_FAR = 30.0


def support(d1: int, d2: int, m: int) -> tuple[int, int]:
    """Smallest and largest number of the m events that can fall on group 1."""
    return max(0, m - d2), min(d1, m)


def _mode(d1: int, d2: int, m: int) -> int:
    return int((m + 1) * (d1 + 1) // (d1 + d2 + 2))


def _log_outward(x: int, d1: int, d2: int, m: int) -> float:
    """Log P(X >= x) for x at or beyond the mode, as pmf(x) times the sum of the ratios of what follows."""
    high = support(d1, d2, m)[1]
    total, term, start, size = 1.0, 1.0, x, 256
    while start < high:
        k = np.arange(start, min(start + size, high), dtype=float)
        terms = term * np.cumprod((m - k) / (k + 1) * ((d1 - k) / (d2 - m + k + 1)))
        total += float(terms.sum())
        term, start, size = float(terms[-1]), start + len(k), min(2 * size, 1 << 18)
        if term * len(k) < 1e-18 * total:
            break
    return float(hypergeometric_log_pmf(x, d1, d2, m)) + float(np.log(total))


def _log_upper_tail(x: int, d1: int, d2: int, m: int) -> float:
    """Log P(X >= x); a tail that holds the mode is the complement of the other one."""
    low, high = support(d1, d2, m)
    if x <= low:
        return 0.0
    if x > high:
        return -np.inf
    if x > _mode(d1, d2, m):
        return _log_outward(x, d1, d2, m)
    return float(np.log1p(-np.exp(_log_outward(m - x + 1, d2, d1, m))))


def _log_lower_tail(x: int, d1: int, d2: int, m: int) -> float:
    """Log P(X <= x): the events of group 2 are m - X, so this is an upper tail with the groups swapped."""
    return _log_upper_tail(m - x, d2, d1, m)


def _first_below(level: float, inside: int, outside: int, d1: int, d2: int, m: int) -> int:
    """The outcome nearest to `inside` (the mode) with log probability <= `level`; `outside` is one past the end."""
    step = 1 if outside > inside else -1
    near, far = inside, outside
    while abs(far - near) > 1:
        middle = near + step * (abs(far - near) // 2)
        if float(hypergeometric_log_pmf(middle, d1, d2, m)) <= level:
            far = middle
        else:
            near = middle
    return far


def conditional_log_p(x1: int, d1: int, x2: int, d2: int, alternative: str = "two-sided") -> float:
    """Log p-value of Fisher's exact test that two groups share one event probability.

    Parameters
    ----------
    x1, x2 : int
        People of each group who show the event.
    d1, d2 : int
        People of each group who meet the condition.
    alternative : {"two-sided", "greater", "less"}
        "greater": group 1's probability is greater.

    Returns
    -------
    float
        Natural logarithm of the p-value, at most 0.

    Examples
    --------
    >>> from math import exp
    >>> from scipy.stats import fisher_exact
    >>> round(exp(conditional_log_p(8, 10, 1, 6)), 12) == round(
    ...     fisher_exact([[8, 2], [1, 5]]).pvalue, 12
    ... )
    True
    """
    x1, d1, x2, d2 = int(x1), int(d1), int(x2), int(d2)
    m = x1 + x2
    if alternative == "greater":
        return _log_upper_tail(x1, d1, d2, m)
    if alternative == "less":
        return _log_lower_tail(x1, d1, d2, m)
    low, high = support(d1, d2, m)
    mode = _mode(d1, d2, m)
    level = float(hypergeometric_log_pmf(x1, d1, d2, m)) + TIE
    if float(hypergeometric_log_pmf(mode, d1, d2, m)) <= level:
        return 0.0
    lower = x1 if x1 < mode else _first_below(level, mode, low - 1, d1, d2, m)
    upper = x1 if x1 > mode else _first_below(level, mode, high + 1, d1, d2, m)
    below = -np.inf if lower < low else _log_lower_tail(lower, d1, d2, m)
    above = -np.inf if upper > high else _log_upper_tail(upper, d1, d2, m)
    return min(0.0, float(np.logaddexp(below, above)))


def conditional_score_log_p(x1: int, d1: int, x2: int, d2: int) -> float:
    """Log probability, given the total, of a difference of rates at least as large as the observed one.

    Distances are compared as the integers ``|x1 d2 - x2 d1|``, which have no rounding. This is P(|S| >= |s|) for the
    score statistic S, whose standard error is a constant given the total.
    """
    x1, d1, x2, d2 = int(x1), int(d1), int(x2), int(d2)
    m, people = x1 + x2, d1 + d2
    distance = abs(x1 * d2 - x2 * d1)
    if distance == 0:
        return 0.0
    # |x N - m d1| >= distance, in Python's unbounded integers.
    upper = -((-(m * d1 + distance)) // people)
    lower = (m * d1 - distance) // people
    low, high = support(d1, d2, m)
    below = -np.inf if lower < low else _log_lower_tail(lower, d1, d2, m)
    above = -np.inf if upper > high else _log_upper_tail(upper, d1, d2, m)
    return min(0.0, float(np.logaddexp(below, above)))


def _stratum_law(d1: int, d2: int, m: int, tilt: float) -> tuple[int, Floats, float]:
    """First outcome, probabilities proportional to pmf * exp(tilt x), and the log of what they were divided by."""
    low, high = support(d1, d2, m)
    people = d1 + d2
    spread = np.sqrt(max(m * (people - m) / people * d1 / people * d2 / people, 0.0))
    if tilt == 0.0:
        centre, reach = m * d1 / people, 45 * spread + 60
        low, high = max(low, int(centre - reach)), min(high, int(centre + reach) + 1)
    x = np.arange(low, high + 1, dtype=float)
    log_weights = hypergeometric_log_pmf(x, d1, d2, m) + tilt * x
    largest = float(log_weights.max())
    weights = np.exp(log_weights - largest)
    total = float(weights.sum())
    return low, weights / total, largest + float(np.log(total))


def _sum_law(
    d1: NDArray[np.int64], d2: NDArray[np.int64], m: NDArray[np.int64], tilt: float
) -> tuple[int, Floats, float]:
    first, law, log_total = 0, np.ones(1), 0.0
    for a, b, c in zip(d1.tolist(), d2.tolist(), m.tolist(), strict=True):
        low, probabilities, log_constant = _stratum_law(a, b, c, tilt)
        # Positive terms only: a direct convolution keeps the relative accuracy of the smallest ones, an FFT would not.
        law = np.convolve(law, probabilities)
        first, log_total = first + low, log_total + log_constant
    return first, law, log_total


def strata_work(d1: Sequence[int], d2: Sequence[int], m: Sequence[int]) -> float:
    """Multiplications that the convolution of these strata needs."""
    work, length = 0.0, 1.0
    for a, b, c in zip(d1, d2, m, strict=True):
        people = a + b
        spread = np.sqrt(c * (people - c) / people * a / people * b / people) if people else 0.0
        low, high = support(a, b, c)
        size = min(high - low + 1.0, 90 * spread + 121)
        work += length * size
        length += size - 1
    return work


def stratified_log_p(
    x1: NDArray[np.int64],
    d1: NDArray[np.int64],
    x2: NDArray[np.int64],
    d2: NDArray[np.int64],
    alternative: str = "two-sided",
) -> float:
    """Log p-value that two groups share one event probability in every stratum, given all the strata's totals.

    The law of ``sum x1`` is enumerated. Two-sided, outcomes are ordered by its probability, as R's
    ``mantelhaen.test(exact = TRUE)`` does; more than 30 standard deviations out, where ordinary numbers would
    underflow, it is twice the smaller one-sided p-value, which is valid too.

    Parameters
    ----------
    x1, d1, x2, d2 : ndarray of int, shape (n_strata,)
        Events and people who meet the condition, per stratum, of group 1 and group 2.
    alternative : {"two-sided", "greater", "less"}
        "greater": group 1's probability is greater.

    Returns
    -------
    float
        Natural logarithm of the p-value, at most 0.
    """
    m = x1 + x2
    people = (d1 + d2).astype(float)
    mean = float((m * (d1 / people)).sum())
    variance = float((m * (people - m) / people * (d1 / people) * (d2 / np.maximum(people - 1, 1))).sum())
    observed = int(x1.sum())
    if variance == 0:
        return 0.0
    z = (observed - mean) / np.sqrt(variance)
    if abs(z) > _FAR:
        upper = _tilted_log_tail(observed, d1, d2, m, upper=z > 0)
        if alternative == "two-sided":
            return min(0.0, upper + float(np.log(2)))
        return upper if (alternative == "greater") == (z > 0) else 0.0
    first, law, _ = _sum_law(d1, d2, m, 0.0)
    position = observed - first
    if alternative == "greater":
        tail = law[position:].sum()
    elif alternative == "less":
        tail = law[: position + 1].sum()
    else:
        tail = law[law <= law[position] * (1 + TIE)].sum()
    return min(0.0, float(np.log(tail)))


def _tilted_log_tail(
    observed: int, d1: NDArray[np.int64], d2: NDArray[np.int64], m: NDArray[np.int64], *, upper: bool
) -> float:
    """Log tail probability far out, by exponential tilting: the law is re-centred at the observed sum."""
    low, high = -1.0, 1.0
    edge = sum(
        support(a, b, c)[1 if upper else 0] for a, b, c in zip(d1.tolist(), d2.tolist(), m.tolist(), strict=True)
    )
    if observed == edge:
        return float(
            sum(
                float(hypergeometric_log_pmf(support(a, b, c)[1 if upper else 0], a, b, c))
                for a, b, c in zip(d1.tolist(), d2.tolist(), m.tolist(), strict=True)
            )
        )

    def tilted_mean(tilt: float) -> float:
        total = 0.0
        for a, b, c in zip(d1.tolist(), d2.tolist(), m.tolist(), strict=True):
            first, law, _ = _stratum_law(a, b, c, tilt)
            total += float((law * (first + np.arange(len(law)))).sum())
        return total

    while tilted_mean(low) > observed:
        low *= 2
    while tilted_mean(high) < observed:
        high *= 2
    for _ in range(60):
        tilt = (low + high) / 2
        if tilted_mean(tilt) < observed:
            low = tilt
        else:
            high = tilt
        if high - low < 1e-9 * max(1.0, abs(tilt)):
            break
    tilt = (low + high) / 2
    first, law, log_constant = _sum_law(d1, d2, m, tilt)
    x = first + np.arange(len(law))
    chosen = x >= observed if upper else x <= observed
    away = np.abs(x[chosen] - observed)
    tail = float((law[chosen] * np.exp(-abs(tilt) * away)).sum())
    return log_constant - tilt * observed + float(np.log(tail))
