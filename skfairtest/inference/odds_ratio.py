"""Odds ratios of two groups given their totals, in one stratum or several: estimates, exact limits, exact tests.

Given every total, the sum s of group 1's events has probabilities proportional to ``c(s) * psi**s``, where ``c`` is the
convolution of the strata's hypergeometric distributions and ``psi`` the shared odds ratio (Fisher 1935):
`conditional.Strata` tilted by ``log(psi)``.

References
----------
J. Cornfield (1956). Third Berkeley Symposium 4, 135-148.
J. Robins, N. Breslow and S. Greenland (1986). Biometrics 42, 311-323. Equation 3.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq

from skfairtest._utils.typing import Floats, Integers
from skfairtest.inference.conditional import Strata
from skfairtest.inference.linear_form import without_skewness
from skfairtest.inference.score import CONTINUITY

#: Digits of a logarithm of an odds ratio.
_TOLERANCE = 1e-10
#: The largest logarithm of an odds ratio that is a limit.
_FARTHEST = 100.0


def conditional_estimate(x1: Integers, d1: Integers, x2: Integers, d2: Integers) -> float:
    """Conditional maximum-likelihood estimate of the odds ratio that all strata share; NaN if one outcome is possible.

    Examples
    --------
    >>> import numpy as np
    >>> tea = (np.array([3]), np.array([4]), np.array([1]), np.array([4]))
    >>> round(
    ...     conditional_estimate(*tea), 4
    ... )  # R: fisher.test(matrix(c(3, 1, 1, 3), 2))$estimate
    6.4083
    """
    strata, observed = Strata.of(x1, d1, x2, d2), int(x1.sum())
    low, high = strata.bounds
    if low == high:
        return float("nan")
    if observed in (low, high):
        return 0.0 if observed == low else float("inf")
    return float(np.exp(strata.tilt_of(observed)))


def conditional_limits(
    x1: Integers, d1: Integers, x2: Integers, d2: Integers, error_low: float, error_high: float
) -> tuple[float, float]:
    """Exact limits of the shared odds ratio (Cornfield 1956), with the given tail errors; 0: no limit.

    Examples
    --------
    >>> import numpy as np
    >>> tea = (np.array([3]), np.array([4]), np.array([1]), np.array([4]))
    >>> low, high = conditional_limits(*tea, 0.025, 0.025)
    >>> round(low, 4), round(high, 2)
    (0.2117, 626.24)
    """
    strata, observed = Strata.of(x1, d1, x2, d2), int(x1.sum())
    low, high = strata.bounds
    if low == high:
        return 0.0, float("inf")
    lower, upper = 0.0, float("inf")
    if error_low > 0 and observed > low:
        lower = _limit(strata, observed, error_low, upper=True)
    if error_high > 0 and observed < high:
        upper = _limit(strata, observed, error_high, upper=False)
    return lower, upper


def _limit(strata: Strata, observed: int, error: float, *, upper: bool) -> float:
    """The odds ratio at which a tail of the observed sum has the probability `error`."""
    direct = len(strata.each) > 1 and strata.is_direct()  # one stratum needs no convolution, and a narrow window

    def excess(tilt: float) -> float:
        first, masses, _ = strata.distribution(tilt, direct=direct)
        place = observed - first
        if not 0 <= place < len(masses):  # the data lie far from what the tilted distribution holds
            tail = float((place < 0) == upper)
        else:
            tail = float(masses[place:].sum() if upper else masses[: place + 1].sum())
        return (tail - error) if upper else (error - tail)

    return float(np.exp(brentq(excess, -_FARTHEST, _FARTHEST, xtol=_TOLERANCE)))


def edge_log_p(x1: Integers, d1: Integers, x2: Integers, d2: Integers, edge: float, side: str) -> float:
    """Log p-value of the exact test that the shared odds ratio lies beyond an edge; 0 if one outcome is possible."""
    strata, observed = Strata.of(x1, d1, x2, d2), int(x1.sum())
    low, high = strata.bounds
    at, upper = float(np.log(edge)), side == "greater"
    if observed == (low if upper else high):
        return 0.0
    if (observed > strata.tilted_moments(at)[0]) == upper:
        return min(0.0, strata.log_tail(observed, at, upper=upper))
    # A tail that holds the centre is the complement of the other one.
    other = strata.log_tail(observed - 1 if upper else observed + 1, at, upper=not upper)
    return float(np.log1p(-np.exp(min(other, -1e-16))))


def score_statistic(x1: Integers, d1: Integers, x2: Integers, d2: Integers, odds_ratio: float) -> float:
    """Score statistic of the hypothesis that all strata have this odds ratio, given their events (Cornfield 1956).

    It is corrected for skewness and by a third of a person. Moments are exact in strata that can be enumerated,
    elsewhere those of Cornfield's expected counts.

    Examples
    --------
    >>> import numpy as np
    >>> tea = (np.array([3]), np.array([4]), np.array([1]), np.array([4]))
    >>> round(score_statistic(*tea, 1.0), 4)  # (1 - 1 / 3) / sqrt(4 / 7)
    0.8819
    """
    strata, at = Strata.of(x1, d1, x2, d2).each, float(np.log(odds_ratio))
    small = {each: Strata((each,)).within_cap(tilted=True) for each in set(strata)}
    few = np.array([small[each] for each in strata])
    seen = int(x1[few].sum())
    mean, variance, third = Strata(tuple(each for each in strata if small[each])).tilted_moments(at)
    x1, d1, m, d2 = x1[~few], d1[~few], (x1 + x2)[~few], d2[~few]
    a = expected_events(d1, d2, m, odds_ratio)
    with np.errstate(divide="ignore"):
        cells = 1 / np.maximum([a, d1 - a, m - a, d2 - (m - a)], 0.0)
    variance += float((1 / cells.sum(axis=0)).sum())
    excess = seen - mean + float((x1 - a).sum())
    step = min(abs(excess), CONTINUITY)
    excess -= float(np.sign(excess)) * step
    if variance > 0:
        return float(without_skewness(np.asarray(excess / variance**0.5), third / variance**1.5))
    return float(np.sign(excess) * np.inf) if abs(excess) > _TOLERANCE else 0.0


def score_limits(
    x1: Integers, d1: Integers, x2: Integers, d2: Integers, z_low: float, z_high: float
) -> tuple[float, float]:
    """Limits of the odds ratio that all strata share: where `score_statistic` is `z_low` and ``-z_high``.

    Examples
    --------
    >>> import numpy as np
    >>> low, high = score_limits(
    ...     np.array([15]), np.array([20]), np.array([5]), np.array([20]), 1.96, 1.96
    ... )
    >>> round(low, 2), round(high, 2)
    (1.88, 45.53)
    """

    def limit(aim: float) -> float:
        def excess(at: float) -> float:
            return float(np.clip(score_statistic(x1, d1, x2, d2, float(np.exp(at))) - aim, -1e9, 1e9))

        if excess(-_FARTHEST) < 0 or excess(_FARTHEST) > 0:
            return 0.0 if aim > 0 else float("inf")
        return float(np.exp(brentq(excess, -_FARTHEST, _FARTHEST, xtol=_TOLERANCE)))

    least, most = np.maximum(0, x1 + x2 - d2).sum(), np.minimum(d1, x1 + x2).sum()
    return (
        limit(z_low) if np.isfinite(z_low) and x1.sum() > least else 0.0,
        limit(-z_high) if np.isfinite(z_high) and x1.sum() < most else float("inf"),
    )


def mantel_haenszel_odds_ratio(
    x1: ArrayLike, d1: ArrayLike, x2: ArrayLike, d2: ArrayLike, z: float
) -> tuple[float, float, float, float]:
    """Mantel-Haenszel odds ratio over strata, the Robins-Breslow-Greenland error of its logarithm, and limits."""
    a, c, first, second = (np.asarray(v, dtype=float) for v in (x1, x2, d1, d2))
    b, d, people = first - a, second - c, first + second
    concordant, discordant = a * d / people, b * c / people
    top, bottom = float(concordant.sum()), float(discordant.sum())
    if top == 0 or bottom == 0:
        return (np.nan if top == bottom else 0.0 if top == 0 else np.inf), np.nan, 0.0, np.inf
    p, q = (a + d) / people, (b + c) / people
    variance = (
        float((p * concordant).sum()) / (2 * top**2)
        + float((p * discordant + q * concordant).sum()) / (2 * top * bottom)
        + float((q * discordant).sum()) / (2 * bottom**2)
    )
    estimate, error = top / bottom, float(np.sqrt(variance))
    return estimate, error, float(estimate * np.exp(-z * error)), float(estimate * np.exp(z * error))


def expected_events(d1: Integers, d2: Integers, m: Integers, odds_ratio: float) -> Floats:
    """Events of group 1 that give each stratum this odds ratio (Breslow and Day 1980, equation 4.30)."""
    first, second, events = (np.asarray(v, dtype=float) for v in (d1, d2, m))
    low, high = np.maximum(0.0, events - second), np.minimum(first, events)
    if odds_ratio == 0 or np.isinf(odds_ratio):
        return np.asarray(low if odds_ratio == 0 else high)
    # (1 - w) E**2 + (second - events + w (first + events)) E - w first events = 0, the root without cancellation.
    w, r = (odds_ratio, 1.0) if odds_ratio < 1 else (1.0, 1 / odds_ratio)
    linear = r * (second - events) + w * (first + events)
    root = np.sqrt(np.maximum(linear**2 + 4 * (r - w) * w * first * events, 0.0))
    with np.errstate(invalid="ignore", divide="ignore"):
        stable = 2 * w * first * events / (linear + root)
        plain = (root - linear) / (2 * (r - w))
    found = np.where(linear > 0, stable, plain)
    return np.asarray(np.clip(found, low, high), dtype=float)
