"""P-values, intervals and Monte Carlo errors from resampled statistics, and sequential stopping.

Besag and Clifford (1991) stop at the h-th resample at least as extreme as the data. If only significance at a level
matters, drawing also stops when no resample was as extreme by the time the p-value is below it. Both together are
valid.

References
----------
J. Besag and P. Clifford (1991). Sequential Monte Carlo p-values. Biometrika 78, 301-304.
"""

import numpy as np
from scipy.special import log_ndtr, ndtri
from scipy.stats import beta
from scipy.stats import t as student

from skfairtest._utils.batches import batches
from skfairtest._utils.typing import Booleans, Floats

#: Resampled statistics this close to the observed one, relatively, count as equal to it.
TOLERANCE = 1e-10
#: Less skewness than this is none.
SYMMETRIC = 1e-6


def oriented(statistics: Floats, alternative: str) -> Floats:
    """Statistics, the larger the more extreme."""
    if alternative == "greater":
        return statistics
    return -statistics if alternative == "less" else np.abs(statistics)


def at_least_as_extreme(drawn: Floats, observed: Floats | float, alternative: str) -> Booleans:
    """Statistics at least as extreme as the observed one; ties count, with a relative tolerance."""
    drawn, observed = oriented(drawn, alternative), oriented(np.asarray(observed, dtype=float), alternative)
    slack = np.where(np.isfinite(observed), TOLERANCE * np.abs(observed), 0.0)
    with np.errstate(invalid="ignore"):
        return np.asarray(drawn >= observed - slack)


def monte_carlo_p(drawn: Floats, observed: float, alternative: str) -> tuple[float, int, int]:
    """P-value (1 + extreme) / (1 + defined), the number of extreme and the number of defined resamples."""
    defined = drawn[~np.isnan(drawn)]
    extreme = int(at_least_as_extreme(defined, observed, alternative).sum())
    return (1 + extreme) / (1 + len(defined)), extreme, len(defined)


def reference_log_p(statistic: float, alternative: str, freedom: float = np.inf, skewness: float = 0.0) -> float:
    """Log p-value of a studentized statistic by the t distribution (normal with infinite freedom).

    With a `skewness` it is the larger of that of the statistic and of its transformation by `hall`.

    Examples
    --------
    >>> [round(float(np.exp(reference_log_p(2.0, "two-sided", n))), 4) for n in (10, np.inf)]
    [0.0734, 0.0455]
    >>> [round(float(np.exp(reference_log_p(s, "two-sided", 10, 1.0))), 4) for s in (2.0, -2.0)]
    [0.0734, 0.4444]
    """
    way = -1.0 if alternative == "less" or (alternative == "two-sided" and statistic < 0) else 1.0
    size = min(way * statistic, way * hall(statistic, skewness))
    log_p = float(log_ndtr(-size))
    # SciPy has no logarithm of a tail of t that is too small for a float.
    if np.isfinite(freedom) and (tail := float(student.sf(size, freedom))) > 0:
        log_p = float(np.log(tail))
    return min(0.0, log_p + np.log(2)) if alternative == "two-sided" else log_p


def hall(statistic: float, skewness: float) -> float:
    """A studentized statistic without most of its skewness (Hall 1992, J. R. Stat. Soc. B 54, 221-228); increasing.

    Examples
    --------
    >>> [round(hall(s, 0.5), 4) for s in (-2.0, 0.0, 2.0)]
    [-1.3241, 0.0833, 2.8241]
    """
    third = skewness / 3
    return statistic + third * (0.5 + statistic**2 + third * statistic**3 / 3) if np.isfinite(statistic) else statistic


def reference_quantiles(error: float, freedom: float = np.inf, skewness: float = 0.0) -> tuple[float, float]:
    """Sizes beyond which positive and negative statistics have a one-sided `reference_log_p` of the error."""
    found = -float(ndtri(error)) if np.isinf(freedom) else float(student.isf(error, freedom))
    # Older versions of SciPy find eight digits: a step of Newton's method doubles their number.
    if np.isfinite(freedom) and np.isfinite(found):
        found += float((student.sf(found, freedom) - error) / student.pdf(found, freedom))
    if not np.isfinite(found) or abs(skewness) < SYMMETRIC:
        return found, found
    # Hall's transformation is ((1 + skewness statistic / 3)^3 - 1) / skewness + skewness / 6.
    above, below = (float((np.cbrt(1 + skewness * (end - skewness / 6)) - 1) * 3 / skewness) for end in (found, -found))
    return max(found, above), max(found, -below)


def critical_value(drawn: Floats, alternative: str, error: float, fewest: int = 1) -> float | None:
    """The size beyond which a statistic has a `monte_carlo_p` of at most `error`; None with too few resamples.

    Examples
    --------
    >>> critical_value(np.arange(-49.0, 50.0), "greater", 0.1)
    40.0
    >>> critical_value(np.arange(-4.0, 4.0), "greater", 0.1) is None
    True
    """
    defined = drawn[~np.isnan(drawn)]
    # Of B resamples the k-th largest gives a p-value of k / (B + 1).
    k = int(np.floor(error * (len(defined) + 1) * (1 + 1e-12)))
    if k < fewest:
        return None
    return float(np.partition(oriented(defined, alternative), len(defined) - k)[len(defined) - k])


def p_value_limits(extreme: int, defined: int, confidence_level: float = 0.95) -> tuple[float, float]:
    """Clopper-Pearson (1934) limits of the p-value that infinitely many resamples would have given."""
    error = (1 - confidence_level) / 2
    low = 0.0 if extreme == 0 else float(beta.ppf(error, extreme, defined - extreme + 1))
    high = 1.0 if extreme == defined else float(beta.isf(error, extreme + 1, defined - extreme))
    return low, high


def upper_quantile(drawn: Floats, alternative: str, level: float) -> float:
    """The largest statistic whose Monte Carlo p-value exceeds a level; infinity if none is at most the level."""
    found = critical_value(drawn, alternative, level)
    return np.inf if found is None else found


#: Resamples that are drawn with one seed: a division of the work that is the same for any number of processes.
CHUNK = 200
#: A sequential p-value stops at this many resamples at least as extreme as the data.
EXTREME_ENOUGH = 20
#: A sequential rule looks for the first time after so many resamples, in so many chunks, and then each time that there
#: are half as many more.
FIRST_LOOK, CHUNKS_OF_LOOK = 100, 4


def looks(n_resamples: int, *, adaptive: bool = False, n_decisive: int | None = None) -> list[list[int]]:
    """The numbers of resamples drawn between looks of a stopping rule; without a rule one look, at the end.

    Examples
    --------
    >>> looks(450)
    [[200, 200, 50]]
    >>> looks(300, adaptive=True, n_decisive=180)
    [[25, 25, 25, 25], [20, 20, 20, 20], [25, 25, 25, 25], [5, 5, 5, 5]]
    """
    if not adaptive:
        return [[rows.stop - rows.start for rows in batches(n_resamples, CHUNK)]]
    found: list[list[int]] = []
    drawn = 0
    while drawn < n_resamples:
        end = min(n_resamples, drawn + max(FIRST_LOOK, drawn // 2))
        if n_decisive is not None and drawn < n_decisive:
            end = min(end, n_decisive)
        cuts = np.linspace(drawn, end, CHUNKS_OF_LOOK + 1).astype(int)
        found.append([size for size in np.diff(cuts).tolist() if size])
        drawn = end
    return found


def sequential_p(
    drawn: Floats, observed: float, alternative: str, n_decisive: int | None = None
) -> tuple[float, int, int] | None:
    """The p-value, the extreme and the defined resamples at which drawing stops; None if it goes on."""
    defined = ~np.isnan(drawn)
    extreme = at_least_as_extreme(drawn[defined], observed, alternative)
    places = np.flatnonzero(extreme)
    if n_decisive is not None and len(extreme) >= n_decisive and not (places < n_decisive).any():
        return 1 / (1 + n_decisive), 0, n_decisive
    if len(places) < EXTREME_ENOUGH:
        return None
    used = int(places[EXTREME_ENOUGH - 1]) + 1
    # The h-th extreme resample came no sooner: fewer than h before it.
    return stopped_p(EXTREME_ENOUGH - 1, used - 1, n_decisive), EXTREME_ENOUGH, used


def stopped_p(n_extreme: int, n_defined: int, n_decisive: int | None = None) -> float:
    """The probability of at most this many extreme resamples, or of none at the first stop.

    Examples
    --------
    >>> stopped_p(1, 99), stopped_p(0, 99, 99)
    (0.02, 0.01)
    >>> round(99 * stopped_p(1, 98, 49), 9)  # 2 + 1 / 2, or a little less
    2.48
    """
    p = (1 + n_extreme) / (1 + n_defined)
    if n_decisive is None or n_defined <= n_decisive:
        return p
    # Of none among the first, and more than that in all: if j are extreme, all of them have to come later.
    later, share = n_defined - n_decisive, 1.0
    counted = 1 / (1 + n_decisive)
    for j in range(n_extreme + 1):
        counted -= share / (1 + n_defined)
        share *= max(0, later - j) / (n_defined - j) if j < n_defined else 0.0
    return p + max(0.0, counted)
