"""Binomial and hypergeometric probabilities in log space, accurate at any size.

Loader's saddle-point form: the binomial probability of x in n is written with Stirling errors and deviances, so that no
two large log-gamma values are subtracted. The relative error stays near 1e-13 for a billion people, where a plain
difference of log-gammas keeps five digits. The hypergeometric probability is a product of three binomial ones.

References
----------
C. Loader (2000). Fast and accurate computation of binomial probabilities. Equations 1 and 2, section 3.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln

from skfairtest._utils.typing import Floats

_HALF_LOG_2PI = 0.5 * np.log(2 * np.pi)
#: log n! - log(Stirling's formula), for n = 0..15, where the series is not accurate enough.
_small = np.arange(1, 16)
_SMALL_STIRLING_ERRORS = np.concatenate(
    [[0.0], gammaln(_small + 1.0) - (_small + 0.5) * np.log(_small) + _small - _HALF_LOG_2PI]
)


def stirling_error(n: ArrayLike) -> Floats:
    """Log n! minus the logarithm of Stirling's formula, for integers n >= 0 (0 at n = 0)."""
    n = np.asarray(n, dtype=float)
    large = np.maximum(n, 16.0)
    inverse_square = 1.0 / (large * large)
    series = (
        1 / 12
        - (1 / 360 - (1 / 1260 - (1 / 1680 - inverse_square / 1188) * inverse_square) * inverse_square) * inverse_square
    ) / large
    small = _SMALL_STIRLING_ERRORS[np.minimum(n, 15).astype(np.intp)]
    return np.asarray(np.where(n <= 15, small, series))


def _deviance(x: Floats, mean: Floats) -> Floats:
    """Return x log(x / mean) + mean - x for x >= 0 and mean > 0, without cancellation near x = mean."""
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        relative = (x - mean) / mean
        value = mean * ((1 + relative) * np.log1p(relative) - relative)
        if not np.isfinite(value).all():  # x is farther from the mean than the ratio of two numbers can say
            value = np.where(np.isinf(relative), x * (np.log(x) - np.log(mean)) + mean - x, value)
    return np.where(x == 0, mean, value)


def binomial_log_pmf(x: ArrayLike, n: ArrayLike, p: ArrayLike) -> Floats:
    """Logarithm of the binomial probability of x events in n trials; all arguments broadcast, 0 <= x <= n."""
    x, n, p = np.broadcast_arrays(np.asarray(x, dtype=float), np.asarray(n, dtype=float), np.asarray(p, dtype=float))
    value = _saddle_point(x, n, p)
    value = np.where(p <= 0, np.where(x == 0, 0.0, -np.inf), value)
    return np.where(p >= 1, np.where(x == n, 0.0, -np.inf), value)


def _saddle_point(x: Floats, n: Floats, p: Floats) -> Floats:
    """Return the logarithm of the binomial probability for 0 < p < 1; p may broadcast."""
    q = 1 - p
    with np.errstate(divide="ignore", invalid="ignore"):
        of_all, of_events, of_others = stirling_error(np.stack([n, x, n - x]))
        deviance, other_deviance = _deviance(np.stack([x, n - x]), np.stack([n * p, n * q]))
        inner = (
            of_all - of_events - of_others - deviance - other_deviance + 0.5 * np.log(n / x / (n - x)) - _HALF_LOG_2PI
        )
        return np.where(x == 0, n * np.log1p(-p), np.where(x == n, n * np.log(p), inner))


def hypergeometric_log_pmf(x: ArrayLike, d1: ArrayLike, d2: ArrayLike, m: ArrayLike) -> Floats:
    """Logarithm of the probability that x of m events fall on the first d1 of d1 + d2 people.

    Arguments broadcast; x must lie in the support max(0, m - d2) <= x <= min(d1, m).
    """
    x, d1, d2, m = (np.asarray(a, dtype=float) for a in (x, d1, d2, m))
    x, d1, d2, m = np.broadcast_arrays(x, d1, d2, m)
    p = m / (d1 + d2)
    first, second, both = _saddle_point(np.stack([x, m - x, m]), np.stack([d1, d2, d1 + d2]), p)
    return np.where((p <= 0) | (p >= 1), 0.0, first + second - both)


@lru_cache(maxsize=2)
def _log_factorials(n: int) -> Floats:
    return np.asarray(gammaln(np.arange(n + 1) + 1.0))


def log_factorials(n: int) -> Floats:
    """Logarithms of 0!, 1!, ... up to n! at least."""
    return _log_factorials(2 ** max(12, n.bit_length()))


def log_choose(n: int) -> Floats:
    """Logarithms of the binomial coefficients of n."""
    log = log_factorials(n)
    return np.asarray(log[n] - log[: n + 1] - log[n::-1])
