"""Discrete probabilities accurate at any size, and certified maxima of functions of bounded slope.

Binomial probabilities take Loader's (2000, equations 1 and 2) saddle-point form; hypergeometric ones are a product of
three binomial ones.

For a region R of outcomes of independent binomials, ``f(u) = P(R)`` along a curve of parameters satisfies ``|d arcsin
sqrt f| <= d s``, with s half the curve's length in the Fisher metric (Cauchy-Schwarz). Between two points f therefore
cannot exceed ``(g(a) + g(b) + s(b) - s(a)) / 2`` with ``g = arcsin sqrt f``; nor the chord by more than an eighth of
the squared distance times a bound of ``|f''| <= E|s^2 + s'| / 2`` with the score s.
"""

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln

from skfairtest._utils.batches import places
from skfairtest._utils.typing import Floats, Integers

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
    """The deviance x log(x / mean) + mean - x, without cancellation near x = mean."""
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        relative = (x - mean) / mean
        value = mean * ((1 + relative) * np.log1p(relative) - relative)
        if not np.isfinite(value).all():  # x is farther from the mean than the ratio of two numbers can say
            value = np.where(np.isinf(relative), x * (np.log(x) - np.log(mean)) + mean - x, value)
    return np.where(x == 0, mean, value)


def binomial_log_pmf(x: ArrayLike, n: ArrayLike, p: ArrayLike) -> Floats:
    """Logarithm of the binomial probability of x events in n trials; all arguments broadcast, 0 <= x <= n."""
    x, n, p = np.broadcast_arrays(np.asarray(x, dtype=float), np.asarray(n, dtype=float), np.asarray(p, dtype=float))
    value = _saddle_point(x, n - x, p, 1 - p)
    value = np.where(p <= 0, np.where(x == 0, 0.0, -np.inf), value)
    return np.where(p >= 1, np.where(x == n, 0.0, -np.inf), value)


def _saddle_point(x: Floats, y: Floats, p: Floats, q: Floats) -> Floats:
    """Log binomial probability of x events and y non-events for 0 < p < 1, q = 1 - p."""
    n = x + y
    with np.errstate(divide="ignore", invalid="ignore"):
        of_all, of_events, of_others = stirling_error(np.stack([n, x, y]))
        deviance, other_deviance = _deviance(np.stack([x, y]), np.stack([n * p, n * q]))
        inner = of_all - of_events - of_others - deviance - other_deviance + 0.5 * np.log(n / x / y) - _HALF_LOG_2PI
        never = np.where(p < 0.5, np.log1p(-p), np.log(q))
        always = np.where(q < 0.5, np.log1p(-q), np.log(p))
        return np.where(x == 0, n * never, np.where(y == 0, n * always, inner))


def hypergeometric_log_pmf(x: ArrayLike, d1: ArrayLike, d2: ArrayLike, m: ArrayLike) -> Floats:
    """Logarithm of the hypergeometric probability that x of m events fall on the first d1 of d1 + d2 people."""
    x, d1, d2, m = map(np.asarray, (x, d1, d2, m))
    cells = np.broadcast_arrays(x, d1 - x, m - x, d2 - m + x, m, d1 + d2 - m)
    a, b, c, d, events, others = np.asarray(cells, dtype=float)
    p, q = events / (events + others), others / (events + others)
    first, second, both = _saddle_point(np.stack([a, c, events]), np.stack([b, d, others]), p, q)
    return np.where((p <= 0) | (q <= 0), 0.0, first + second - both)


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


def certified_maxima(
    probability: Callable[[Integers, Floats], Floats],
    length: Callable[[Integers, Floats], Floats],
    start: Floats,
    stop: Floats,
    *,
    curvature: Callable[[Integers, Floats, Floats], Floats] | None = None,
    relative: float | Floats = 1e-6,
    absolute: float = 0.0,
    max_evaluations: int = 60_000,
) -> Floats:
    """Upper bounds of the maxima of k functions on [start, stop], at most `relative` and `absolute` above them.

    ``arcsin sqrt probability`` changes by at most as much as `length`; `curvature` bounds the second derivative. After
    `max_evaluations` the result is a looser bound.
    """

    # Ends of intervals are columns: where they are, the probability there, its arcsine, and how far along the curve.
    def at(which: Integers, points: Floats) -> Floats:
        value = np.clip(probability(which, points), 0.0, 1.0)
        return np.stack([points, value, np.arcsin(np.sqrt(value)), length(which, points)])

    def highest(which: Integers, left: Floats, right: Floats) -> Floats:
        (start, value, angle, begun), (stop, other, beside, ended) = left, right
        top = np.sin(np.minimum((angle + beside + ended - begun) / 2, np.pi / 2)) ** 2
        if curvature is None:
            return np.asarray(top)
        sagitta = curvature(which, start, stop) * (stop - start) ** 2 / 8
        return np.asarray(np.minimum(top, np.maximum(value, other) + sagitta))

    every = np.arange(len(start))
    pieces = np.clip(2 * (length(every, stop) - length(every, start)), 8, 256).astype(np.int64)
    which = np.repeat(every, pieces + 1)
    step = places(pieces + 1)
    points = np.where(step == pieces[which], stop[which], start[which] + step * ((stop - start) / pieces)[which])
    ends = at(which, points)
    best, evaluations, out = np.zeros(len(start)), pieces + 1, np.empty(len(start))
    np.maximum.at(best, which, ends[1])
    inner = step < pieces[which]
    which, left, right = which[inner], ends[:, inner], ends[:, np.roll(inner, 1)]
    while True:
        ceiling = np.minimum(1.0, best * (1 + relative) + absolute)
        bounds = highest(which, left, right)
        open_ = (bounds > ceiling[which]) & (right[0] > left[0])
        searched = np.zeros(len(start), dtype=bool)
        searched[which[open_]] = True
        out[every] = ceiling[every]
        capped = searched & (evaluations > max_evaluations)
        if capped.any():
            stopped = open_ & capped[which]
            np.maximum.at(out, which[stopped], bounds[stopped])
            open_ &= ~stopped
        every = np.flatnonzero(searched & ~capped)
        if not len(every):
            return out
        which, left, right = which[open_], left[:, open_], right[:, open_]
        middle = at(which, (left[0] + right[0]) / 2)
        evaluations += np.bincount(which, minlength=len(start))
        np.maximum.at(best, which, middle[1])
        which, left, right = np.tile(which, 2), np.hstack([left, middle]), np.hstack([middle, right])
