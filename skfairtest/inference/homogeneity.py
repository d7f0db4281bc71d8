"""Tests that a disparity is the same in every stratum: the same odds ratio, difference or ratio.

Odds ratios are compared exactly where the tables can be enumerated (Zelen 1971): given every margin and the sum of
group 1's events, tables have a distribution without unknown parameters whenever all strata share one odds ratio.
Otherwise, and for differences and ratios, each stratum's distance from the shared value is divided by its standard
error there, and the squares are summed: Breslow and Day's statistic with Tarone's correction for odds ratios, and for
differences and ratios Cochran's Q with score variances, at the shared disparity for which Q is smallest.

References
----------
M. Zelen (1971). The analysis of several 2 x 2 contingency tables. Biometrika 58, 129-137. Section 3.
W. G. Cochran (1954). The combination of estimates from different experiments. Biometrics 10, 101-129.
N. E. Breslow and N. E. Day (1980). Statistical Methods in Cancer Research 1, equation 4.32.
R. E. Tarone (1985). On heterogeneity tests based on efficient scores. Biometrika 72, 91-95.
J. J. Gart and J. Nam (1990). Approximate interval estimation of the difference in binomial parameters: correction for
skewness and extension to multiple tables. Biometrics 46, 637-643. Section 4.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.stats import chi2

from skfairtest._utils.typing import Booleans, Floats, Integers
from skfairtest.inference._discrete import hypergeometric_log_pmf
from skfairtest.inference.conditional import TIE, Strata, support
from skfairtest.inference.odds_ratio import expected_events, mantel_haenszel_odds_ratio
from skfairtest.inference.score import score_at

__all__ = ["Homogeneity", "breslow_day", "cochran_q", "score_homogeneity", "zelen_p"]

#: Tables that are held of either half of the strata, and pairs of sums of both halves.
ZELEN_CAP = 3_000_000
#: Standard deviations around the centre within which a stratum's tables are enumerated, and a bound on the probability
#: of all others, which every p-value is rounded up by.
_WINDOW, _NEGLIGIBLE = 9.0, 1e-12


@dataclass(frozen=True)
class Homogeneity:
    """A test that all strata share one disparity.

    Parameters
    ----------
    statistic : float
        Sum of the squares of the strata's distances from what they share, in standard errors.
    df : int
        Degrees of freedom: strata that have a distance, less one.
    p_value : float
        NaN with fewer than two such strata.
    method : str
        "exact conditional" or "asymptotic".
    distances : ndarray of shape (n_strata,)
        How far each stratum lies from what all share, in standard errors; NaN where its totals leave no choice.
    common : float
        The disparity that the strata share.
    """

    statistic: float
    df: int
    p_value: float
    method: str
    distances: Floats
    common: float


def breslow_day(x1: Integers, d1: Integers, x2: Integers, d2: Integers, *, exact: bool = True) -> Homogeneity:
    """Test that all strata have the same odds ratio.

    Parameters
    ----------
    x1, d1, x2, d2 : ndarray of int, shape (n_strata,)
        Events and people who meet the condition, per stratum, of group 1 and group 2.
    exact : bool
        Whether to enumerate the p-value where that is possible (Zelen 1971).

    Returns
    -------
    Homogeneity
        The statistic is Breslow and Day's with Tarone's correction, at the Mantel-Haenszel odds ratio.

    Examples
    --------
    >>> import numpy as np
    >>> smokers, cases = (
    ...     np.array([647, 41]),
    ...     np.array([649, 60]),
    ... )  # men and women: Doll and Hill (1950)
    >>> others, controls = np.array([622, 28]), np.array([649, 60])
    >>> found = breslow_day(smokers, cases, others, controls, exact=False)
    >>> round(found.common, 4), round(found.statistic, 3), round(found.p_value, 6)
    (4.5239, 5.175, 0.022919)
    >>> round(breslow_day(smokers, cases, others, controls).p_value, 4)
    0.0322
    """
    m = x1 + x2
    common = mantel_haenszel_odds_ratio(x1, d1, x2, d2, 0.0)[0]
    used = (m > 0) & (m < d1 + d2) & (d1 > 0) & (d2 > 0)
    distances = np.full(len(x1), np.nan)
    statistic = float("nan")
    if used.any() and not np.isnan(common):
        expected = expected_events(d1[used], d2[used], m[used], common)
        with np.errstate(divide="ignore", invalid="ignore"):
            cells = (expected, m[used] - expected, d1[used] - expected, d2[used] - m[used] + expected)
            variance = 1 / np.sum([1 / cell for cell in cells], axis=0)
            excess = x1[used] - expected
            distances[used] = np.where(variance > 0, excess / np.sqrt(variance), 0.0)
        total = float(variance.sum())
        correction = float(excess.sum()) ** 2 / total if total > 0 else 0.0
        statistic = max(0.0, float((distances[used] ** 2).sum()) - correction)
    found = _tested(statistic, used, distances, common)
    p = zelen_p(x1, d1, x2, d2) if exact and found.df > 0 else None
    if p is None:
        return found
    return Homogeneity(found.statistic, found.df, p, "exact conditional", found.distances, found.common)


def _tested(statistic: float, used: Booleans, distances: Floats, common: float) -> Homogeneity:
    df = max(0, int(used.sum()) - 1)
    p = float(chi2.sf(statistic, df)) if df else float("nan")
    return Homogeneity(statistic, df, p, "asymptotic", distances, common)


def zelen_p(x1: Integers, d1: Integers, x2: Integers, d2: Integers) -> float | None:
    """Return Zelen's exact p-value for equal odds ratios in all strata; None if there are too many tables.

    Given every margin and the sum of group 1's events, it is the probability of the tables that are at most as probable
    as the observed one. The strata are divided into two halves, whose tables are matched by their sums.

    Examples
    --------
    >>> import numpy as np
    >>> round(zelen_p(*np.array([[12, 96], [33, 244], [25, 92], [143, 242]])), 4)
    0.0496
    """
    strata, observed = Strata.of(x1, d1, x2, d2), int(x1.sum())
    low, high = strata.bounds
    if observed in (low, high):  # no other table has this sum
        return 1.0
    tilt = strata.tilt_of(observed)
    each = [(*_window(stratum, tilt), int(x)) for stratum, x in zip(strata.each, x1.tolist(), strict=True)]
    if any(not 0 <= x - first < len(logs) for first, logs, x in each):
        return _NEGLIGIBLE
    each.sort(key=lambda one: -len(one[1]))
    halves: tuple[list[tuple[int, Floats, int]], list[tuple[int, Floats, int]]] = ([], [])
    sizes = [1, 1]
    for one in each:  # the larger strata first, each to the half that has fewer tables
        half = int(sizes[1] < sizes[0])
        halves[half].append(one)
        sizes[half] *= len(one[1])
    if max(sizes) > ZELEN_CAP:
        return None
    level = sum(float(logs[x - first]) for first, logs, x in each)
    (sums, logs), (others, other_logs) = (_tables(half) for half in halves)
    return min(1.0, _tail(sums, logs, observed - others, other_logs, level + TIE) + _NEGLIGIBLE)


def _window(stratum: tuple[int, int, int], tilt: float) -> tuple[int, Floats]:
    """Return a stratum's first outcome and the logarithms of the tilted probabilities, without the negligible ones."""
    d1, d2, m = stratum
    low, high = support(d1, d2, m)
    x = np.arange(low, high + 1)
    logs = hypergeometric_log_pmf(x, d1, d2, m) + tilt * x
    logs = logs - np.logaddexp.reduce(logs)
    kept = np.flatnonzero(logs > logs.max() - _WINDOW**2 / 2)
    return low + int(kept[0]), np.asarray(logs[kept[0] : kept[-1] + 1])


def _tables(strata: list[tuple[int, Floats, int]]) -> tuple[Integers, Floats]:
    """Return the sums and log probabilities of all tables of some strata."""
    sums, logs = np.zeros(1, dtype=np.int64), np.zeros(1)
    for first, log_masses, _ in strata:
        x = first + np.arange(len(log_masses))
        sums, logs = (sums[:, None] + x).ravel(), (logs[:, None] + log_masses).ravel()
    return sums, logs


def _tail(sums: Integers, logs: Floats, wanted: Integers, other_logs: Floats, level: float) -> float:
    """Return the probability, among tables of both halves that match, of those with a log probability up to `level`."""
    order = np.lexsort((logs, sums))
    sums, logs = sums[order], logs[order]
    starts, stops = np.searchsorted(sums, wanted, "left"), np.searchsorted(sums, wanted, "right")
    matched = np.flatnonzero(stops > starts)
    starts, stops, others = starts[matched], stops[matched], other_logs[matched]
    below = np.r_[0.0, np.cumsum(np.exp(logs))]
    # Within one sum the tables climb, so that places are found by halving all ranges at once.
    low, high = starts.copy(), stops.copy()
    while (low < high).any():
        middle = (low + high) // 2
        fits = (low < high) & (logs[np.minimum(middle, len(logs) - 1)] + others <= level)
        low, high = np.where(fits, middle + 1, low), np.where(fits | (low >= high), high, middle)
    weight = np.exp(others)
    total = float(weight @ (below[stops] - below[starts]))
    return float(weight @ (below[low] - below[starts])) / total


def score_homogeneity(x1: Integers, d1: Integers, x2: Integers, d2: Integers, disparity: str) -> Homogeneity:
    """Test that all strata have the same difference, or the same ratio, of rates.

    Parameters
    ----------
    x1, d1, x2, d2 : ndarray of int, shape (n_strata,)
        Events and people who meet the condition, per stratum, of group 1 and group 2.
    disparity : {"difference", "ratio"}
        How rates are compared.

    Returns
    -------
    Homogeneity
        The statistic is the sum of the squared score statistics (Miettinen and Nurminen's) at the disparity for which
        it is smallest.
    """
    ratio = disparity == "ratio"
    used = (d1 > 0) & (d2 > 0) & ((x1 + x2 > 0) | (not ratio))
    a, first, b, second = (np.asarray(v, dtype=float)[used] for v in (x1, d1, x2, d2))
    distances = np.full(len(x1), np.nan)
    if not used.any():
        return _tested(float("nan"), used, distances, float("nan"))

    def at(shared: float | Floats) -> Floats:
        z = score_at(a, first, b, second, np.exp(shared) if ratio else shared, disparity)[0]
        return np.asarray(np.clip(z, -1e8, 1e8))

    span = np.linspace(-12, 12, 97) if ratio else np.sin(np.linspace(-1, 1, 97) * np.pi / 2) * (1 - 1e-9)
    start = int(np.argmin((at(span[:, None]) ** 2).sum(axis=1)))
    bounds = float(span[max(start - 1, 0)]), float(span[min(start + 1, len(span) - 1)])
    best = minimize_scalar(
        lambda v: float((at(v) ** 2).sum()), bounds=bounds, method="bounded", options={"xatol": 1e-10}
    )
    distances[used] = at(float(best.x))
    common = float(np.exp(best.x)) if ratio else float(best.x)
    return _tested(float((distances[used] ** 2).sum()), used, distances, common)


def cochran_q(values: Floats, variances: Floats, disparity: str = "difference") -> Homogeneity:
    """Test that any disparity with a standard error has the same value in all strata (Cochran 1954).

    Parameters
    ----------
    values, variances : ndarray of shape (n_strata,)
        Each stratum's disparity (the logarithm of a ratio) and its variance; strata without a finite, positive variance
        have no weight.
    disparity : {"difference", "ratio"}
        What they are.

    Returns
    -------
    Homogeneity
        `common` is the average weighted by the reciprocals of the variances, of ratios the geometric one.

    Examples
    --------
    >>> import numpy as np
    >>> found = cochran_q(np.array([0.1, 0.2, 0.6]), np.array([0.01, 0.01, 0.04]))
    >>> round(found.statistic, 3), found.df
    (5.0, 2)
    """
    used = np.isfinite(values) & np.isfinite(variances) & (variances > 0)
    distances = np.full(len(values), np.nan)
    if not used.any():
        return _tested(float("nan"), used, distances, float("nan"))
    weights = 1 / variances[used]
    common = float(weights @ values[used] / weights.sum())
    distances[used] = (values[used] - common) * np.sqrt(weights)
    shown = float(np.exp(common)) if disparity == "ratio" else common
    return _tested(float((distances[used] ** 2).sum()), used, distances, shown)
