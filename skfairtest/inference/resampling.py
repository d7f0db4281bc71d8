"""P-values and intervals from resampled statistics, and the Monte-Carlo error that they carry."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from skfairtest.inference._discrete import Floats
from skfairtest.inference.intervals import wilson

#: Resampled statistics this close to the observed one, relatively, count as equal to it.
TOLERANCE = 1e-10


def at_least_as_extreme(drawn: Floats, observed: Floats | float, alternative: str) -> NDArray[np.bool_]:
    """Which drawn statistics are at least as extreme as the observed one; ties count, with a relative tolerance."""
    if alternative == "two-sided":
        drawn, observed = np.abs(drawn), np.abs(np.asarray(observed, dtype=float))
    elif alternative == "less":
        drawn, observed = -drawn, -np.asarray(observed, dtype=float)
    observed = np.asarray(observed, dtype=float)
    slack = np.where(np.isfinite(observed), TOLERANCE * np.abs(observed), 0.0)
    with np.errstate(invalid="ignore"):
        return np.asarray(drawn >= observed - slack)


def monte_carlo_p(drawn: Floats, observed: float, alternative: str) -> tuple[float, int, int]:
    """P-value (1 + extreme) / (1 + defined), the number of extreme and the number of defined resamples.

    A resample in which the statistic is undefined (NaN) leaves both numerator and denominator: the observed labelling
    is then one of the defined ones, all equally likely.
    """
    defined = drawn[~np.isnan(drawn)]
    extreme = int(at_least_as_extreme(defined, observed, alternative).sum())
    return (1 + extreme) / (1 + len(defined)), extreme, len(defined)


def critical_value(drawn: Floats, alternative: str, error: float, fewest: int = 1) -> float | None:
    """Return the size beyond which a statistic has a `monte_carlo_p` of at most `error`.

    Parameters
    ----------
    drawn : ndarray, shape (n_resamples,)
        Resampled statistics; NaN where undefined.
    alternative : {"two-sided", "greater", "less"}
        Which direction is extreme, and so the sign of the statistic whose size is meant.
    error : float
        Level of the test.
    fewest : int
        Resamples that must lie at or beyond it.

    Returns
    -------
    float or None
        None where there are too few resamples.

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
    sizes = {"greater": defined, "less": -defined}.get(alternative, np.abs(defined))
    return float(np.partition(sizes, len(sizes) - k)[len(sizes) - k])


def p_value_limits(extreme: int, defined: int, confidence_level: float = 0.95) -> tuple[float, float]:
    """Wilson limits of the p-value that infinitely many resamples would have given."""
    z = float(norm.isf((1 - confidence_level) / 2))
    low, high = wilson(extreme, defined, z)
    return float(low), float(high)


def studentized_limits(
    estimate: float, standard_error: float, drawn: Floats, error_low: float, error_high: float
) -> tuple[float, float]:
    """Bootstrap-t limits: estimate minus the drawn statistics' quantiles times the standard error.

    `error_low` and `error_high` are the probabilities left out below and above (0: no limit on that side).
    """
    defined = drawn[~np.isnan(drawn)]
    if len(defined) == 0:
        return -np.inf, np.inf
    high_quantile, low_quantile = np.quantile(defined, [1 - error_low, error_high], method="inverted_cdf")
    with np.errstate(invalid="ignore"):
        low = -np.inf if error_low == 0 else estimate - high_quantile * standard_error
        high = np.inf if error_high == 0 else estimate - low_quantile * standard_error
    return (-np.inf if np.isnan(low) else float(low)), (np.inf if np.isnan(high) else float(high))
