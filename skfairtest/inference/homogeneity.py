"""Tests that a disparity is the same in every stratum: the same odds ratio, difference or ratio.

Zelen's (1971, section 3) p-value is the probability, given every margin and the sum of group 1's events, of tables at
most as probable as the observed one: valid in strata of any size. In large strata Breslow and Day's (1980, equation
4.32) statistic with Tarone's (1985) correction is chi-square; in small ones it is not (Liang and Self 1985). For
differences and ratios: Cochran's (1954) Q with score variances, at the shared disparity for which Q is smallest (Gart
and Nam 1990, section 4).
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.stats import chi2

from skfairtest._utils.batches import batches
from skfairtest._utils.typing import Booleans, Floats, Integers
from skfairtest.inference.conditional import NARROW, TIE, Strata, stratum_distribution
from skfairtest.inference.odds_ratio import expected_events, mantel_haenszel_odds_ratio
from skfairtest.inference.score import score_at

#: From how many expected people in each of its four cells on a stratum is large.
LARGE = 50
#: Tables that are sampled: of strata with at most this many outcomes together, and of strata with more.
N_SAMPLED, MOST_OUTCOMES, N_OF_MANY = 9_999, 1_000, 999
#: Weights that are held at a time.
_WEIGHTS = 2_000_000
#: Standard deviations around the centre beyond which a stratum's outcomes are left out.
_WINDOW = 9.0


@dataclass(frozen=True)
class Homogeneity:
    """A test that all strata share one disparity, `common`, with each stratum's distance from it in standard errors.

    `distances` are NaN if a stratum's totals leave one outcome; `method` is "sampled conditional" or "asymptotic".
    """

    statistic: float
    df: int
    p_value: float
    method: str
    distances: Floats
    common: float


def breslow_day(x1: Integers, d1: Integers, x2: Integers, d2: Integers) -> Homogeneity:
    """Test that all strata have the same odds ratio: Breslow and Day's statistic at the Mantel-Haenszel odds ratio.

    The p-value is chi-square with Tarone's correction if all strata are large, otherwise Zelen's.

    Examples
    --------
    >>> import numpy as np
    >>> smokers, cases = (
    ...     np.array([647, 41]),
    ...     np.array([649, 60]),
    ... )  # men and women: Doll and Hill (1950)
    >>> others, controls = np.array([622, 28]), np.array([649, 60])
    >>> found = breslow_day(smokers, cases, others, controls)
    >>> round(found.common, 4), round(found.statistic, 3), round(found.p_value, 4)
    (4.5239, 5.175, 0.0306)
    """
    m = x1 + x2
    common = mantel_haenszel_odds_ratio(x1, d1, x2, d2, 0.0)[0]
    used = (m > 0) & (m < d1 + d2) & (d1 > 0) & (d2 > 0)
    distances = np.full(len(x1), np.nan)
    statistic, smallest = float("nan"), 0.0
    if used.any() and not np.isnan(common):
        expected = expected_events(d1[used], d2[used], m[used], common)
        with np.errstate(divide="ignore", invalid="ignore"):
            cells = (expected, m[used] - expected, d1[used] - expected, d2[used] - m[used] + expected)
            variance, smallest = 1 / np.sum([1 / cell for cell in cells], axis=0), float(np.min(cells))
            excess = x1[used] - expected
            distances[used] = np.where(variance > 0, excess / np.sqrt(variance), 0.0)
        total = float(variance.sum())
        correction = float(excess.sum()) ** 2 / total if total > 0 else 0.0
        statistic = max(0.0, float((distances[used] ** 2).sum()) - correction)
    found = _tested(statistic, used, distances, common)
    if not found.df or smallest >= LARGE:
        return found
    return replace(found, p_value=zelen(x1, d1, x2, d2), method="sampled conditional")


def _tested(statistic: float, used: Booleans, distances: Floats, common: float) -> Homogeneity:
    df = max(0, int(used.sum()) - 1)
    p = float(chi2.sf(statistic, df)) if df else float("nan")
    return Homogeneity(statistic, df, p, "asymptotic", distances, common)


def zelen(x1: Integers, d1: Integers, x2: Integers, d2: Integers) -> float:
    """P-value of the hypothesis that all strata have the same odds ratio, given every margin (Zelen 1971); sampled.

    Examples
    --------
    >>> import numpy as np
    >>> round(zelen(*np.array([[12, 96], [33, 244], [25, 92], [143, 242]])), 2)
    0.05
    """
    strata, observed = Strata.of(x1, d1, x2, d2), int(x1.sum())
    if observed in strata.bounds:  # no other table has this sum
        return 1.0
    tilt = strata.tilt_of(observed)
    windows = {stratum: _window(stratum, tilt) for stratum in set(strata.each)}
    # Per stratum the log probabilities of its outcomes, and the place of the observed one among them.
    each = [(windows[stratum][1], x - windows[stratum][0]) for stratum, x in zip(strata.each, x1.tolist(), strict=True)]
    n = N_SAMPLED if sum(len(logs) for logs, _ in each) <= MOST_OUTCOMES else N_OF_MANY
    if any(not 0 <= x < len(logs) for logs, x in each):
        return 1 / (1 + n)
    each = sorted((one for one in each if len(one[0]) > 1), key=lambda one: -len(one[0]))
    if len(each) < 2:  # the sum decides
        return 1.0
    drawn = _sampled([logs for logs, _ in each], sum(x for _, x in each), n)
    return (1 + int((drawn <= sum(float(logs[x]) for logs, x in each) + TIE).sum())) / (1 + n)


def _window(stratum: tuple[int, int, int], tilt: float) -> tuple[int, Floats]:
    """A stratum's first outcome and tilted log probabilities, without negligible ones."""
    first, masses, _ = stratum_distribution(*stratum, tilt, NARROW)
    kept = _kept(masses)
    return first + kept.start, np.log(masses[kept])


def _kept(masses: Floats) -> slice:
    places = np.flatnonzero(masses > masses.max() * np.exp(-(_WINDOW**2) / 2))
    return slice(int(places[0]), int(places[-1]) + 1)


def _sampled(strata: list[Floats], total: int, n: int) -> Floats:
    """Log probabilities of tables sampled given the sum of their strata, the largest stratum first."""
    rng = np.random.default_rng(0)
    rests = [(0, np.ones(1))]  # smallest sum of the strata that follow, and the probabilities of it and of larger ones
    for logs in strata[:0:-1]:
        first, masses = rests[-1]
        masses = np.convolve(masses, np.exp(logs))
        kept = _kept(masses)
        rests.append((first + kept.start, masses[kept]))
    left, drawn = np.full(n, total), np.zeros(n)
    for logs, (first, masses) in zip(strata, rests[::-1], strict=True):
        sums, rows = np.unique(left, return_inverse=True)
        own = (0, np.exp(logs)), (first, masses)
        (start, shorter), (other_start, longer) = own if len(logs) <= len(masses) else own[::-1]
        outcomes = np.empty_like(left)
        for part in batches(len(sums), max(1, _WEIGHTS // len(shorter))):
            rest = sums[part, None] - start - np.arange(len(shorter)) - other_start
            weights = shorter * np.where(
                (rest >= 0) & (rest < len(longer)), longer[np.clip(rest, 0, len(longer) - 1)], 0.0
            )
            below = np.cumsum(weights, axis=1)
            below = below / below[:, -1:] + np.arange(len(below))[:, None]
            here = np.flatnonzero((rows >= part.start) & (rows < part.stop))
            row = rows[here] - part.start
            place = np.searchsorted(below.ravel(), row + rng.random(len(here)) * (1 - 1e-9), "right")
            outcomes[here] = place - row * len(shorter) + start
        x = outcomes if len(logs) <= len(masses) else left - outcomes
        drawn, left = drawn + logs[x], left - x
    return drawn


def score_homogeneity(x1: Integers, d1: Integers, x2: Integers, d2: Integers, disparity: str) -> Homogeneity:
    """Test that all strata have the same difference, or ratio, of rates.

    The statistic is the smallest sum of squared Miettinen-Nurminen statistics over the shared disparity.
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
    """Test that a disparity (the logarithm of a ratio) has the same value in all strata (Cochran 1954).

    Strata without a finite, positive variance have no weight.

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
