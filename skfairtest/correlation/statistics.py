r"""Permutation tests of correlation that stay valid where the two are dependent but not correlated.

Permuting e against x makes them independent, which is more than uncorrelated. Divided by its own standard error on the
data and on every permutation, the statistic has the same limiting distribution in both cases.

Pearson's r, with x and e centred (DiCiccio and Romano 2017; DiCiccio et al. 2020, section 4.1)::

    S = sqrt(n) r / tau,    tau^2 = mean(x^2 e^2) / (mean(x^2) mean(e^2)),    so that S = sum(x e) / sqrt(sum(x^2 e^2)).

tau is the standard error at r = 0 only; otherwise it is that of the influence function, of standardized x and e::

    IF_i(rho) = x_i e_i - rho (x_i^2 + e_i^2) / 2,    variance of r = sum(IF(r)^2) / (n (n - n_strata - 1)).

The mean of IF(rho) is r - rho, and IF(0) gives S. An interval holds all rho that are not rejected by

    S(rho) = sum IF_i(rho) / sqrt(sum IF_i(rho)^2)

at the critical value of the permutations of S = S(0): the solutions around r of a quadratic inequality.

Spearman's rho is the correlation of midranks. With a = F(x) - 1/2 and b = G(e) - 1/2 (F and G count ties as one half),
C = mean(a b), V = mean(a^2), W = mean(b^2), rho = C / sqrt(V W), each rank depends on all people::

    h_i = mean_j [1{x_j > x_i} + 1{x_j = x_i} / 2] b_j,    k_i = mean_j [1{e_j > e_i} + 1{e_j = e_i} / 2] a_j,
    IF of C = a b + h + k - 3 C,    IF of V = (mean(p^2) - p_i^2) / 4,  p_i the share of people tied with i in x,
    IF of rho = IF of C / sqrt(V W) - rho / 2 (IF of V / V + IF of W / W),    variance of rho = mean(IF^2) / n.

tau on ranks leaves h and k out, and rejects more than a tenth of true null hypotheses at a nominal 5%. An interval is
rho plus and minus the critical value times the standard error.

With strata, x and e are centred (or ranked) and e is permuted within each. Influence functions then have the stratum's
C_s: a b + h + k - 2 C_s - C.

References
----------
C. J. DiCiccio and J. P. Romano (2017), JASA 112, 1211-1220. C. DiCiccio et al. (2020), KDD.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skfairtest._utils.batches import batches
from skfairtest._utils.checks import origin
from skfairtest._utils.typing import Booleans, Floats, Positions
from skfairtest.inference.score import studentize

#: Strata of fewer people say nothing about a correlation.
SMALLEST_STRATUM = 3
#: Why a stratum is left out, as codes of `Pairs.left_out`.
KEPT, TOO_FEW, X_CONSTANT, E_CONSTANT = range(4)

_BLOCK_BYTES = 2**24
#: Correlations and squared standard errors below these are rounding errors of 0.
_ZERO_CORRELATION, _ZERO_VARIANCE = 1e-12, 1e-22


@dataclass(frozen=True)
class Pairs:
    """The pairs to correlate, in an order that depends only on the values.

    `e` ascends within each stratum, `starts` is where strata start, and `left_out` (n_features, n_strata) says why a
    stratum does not count.
    """

    x: Floats
    e: Floats
    starts: Positions
    left_out: NDArray[np.int8]
    stratified: bool

    @property
    def sizes(self) -> Positions:
        """People per stratum."""
        return np.diff(self.starts, append=len(self.e))

    @property
    def places(self) -> list[slice]:
        """The people of each stratum."""
        return [slice(*ends) for ends in pairwise([*self.starts.tolist(), len(self.e)])]

    @property
    def levels(self) -> list[Positions]:
        """Starts of the people of each result: everyone's, and those of strata."""
        return [np.zeros(1, dtype=np.intp), *([self.starts] if self.stratified else [])]

    @property
    def missing(self) -> Booleans:
        """The results that a feature does not have, (n_features, n_results)."""
        missing = self.left_out != KEPT
        return np.concatenate([missing.all(axis=1, keepdims=True), missing], axis=1)[
            :, : 1 + missing.shape[1] * self.stratified
        ]

    def sums(self, values: Floats) -> Floats:
        """Sums over everyone, and over each stratum, of values of shape (..., n)."""
        return np.concatenate([np.add.reduceat(values, starts, axis=-1) for starts in self.levels], axis=-1)

    def counted(self) -> Floats:
        """Return 1 for each person whose stratum counts for a feature and else 0, of shape (n_features, n)."""
        return np.repeat((self.left_out == KEPT).astype(float), self.sizes, axis=1)


def arrange(x: ArrayLike, e: ArrayLike, strata: ArrayLike | None = None, *, order: ArrayLike | None = None) -> Pairs:
    """Sort people by stratum, outcome and features, and find the strata without information."""
    x, e = np.atleast_2d(np.asarray(x, dtype=float)), np.asarray(e, dtype=float)
    codes = np.zeros(len(e), dtype=np.intp) if strata is None else np.asarray(strata, dtype=np.intp)
    features = range(len(x)) if order is None else np.asarray(order).tolist()
    people = np.lexsort((*(x[feature] for feature in reversed(features)), e, codes))
    x, e, codes = x[:, people], e[people], codes[people]
    starts = np.flatnonzero(np.diff(codes, prepend=-1))
    left_out = np.full((len(x), len(starts)), KEPT, dtype=np.int8)
    left_out[:, np.maximum.reduceat(e, starts) == np.minimum.reduceat(e, starts)] = E_CONSTANT
    left_out[np.maximum.reduceat(x, starts, axis=1) == np.minimum.reduceat(x, starts, axis=1)] = X_CONSTANT
    left_out[:, np.diff(starts, append=len(e)) < SMALLEST_STRATUM] = TOO_FEW
    return Pairs(x, e, starts, left_out, strata is not None)


class Estimates(NamedTuple):
    """Estimates from the data, each of shape (n_features, n_results): pooled first, then each stratum; nan if left out.

    `variance` holds the coefficients (v, w, k) of the variance v - 2 w d + k d^2 of a correlation that is larger by d.
    """

    correlation: Floats
    standard_error: Floats
    variance: Floats
    skewness: Floats
    statistic: Floats


def estimate(pairs: Pairs, correlation: str) -> Estimates:
    """Estimate correlations, their standard errors and the statistics that are compared with permuted ones.

    Examples
    --------
    >>> found = estimate(arrange([[1, 2, 3, 4, 5]], [2, 1, 4, 3, 5]), "spearman")
    >>> round(float(found.correlation[0, 0]), 3)
    0.8
    """
    method, missing = METHODS[correlation](pairs), pairs.missing
    found = (*method.estimate(), method.statistics(method.outcome[None])[0])
    return Estimates(*(np.where(missing if each.ndim == 2 else missing[..., None], np.nan, each) for each in found))


def permuted(pairs: Pairs, correlation: str, n_resamples: int, seed: np.random.SeedSequence | int) -> Floats:
    """Draw the statistics of permutations of the outcome within strata, the same permutation for every feature."""
    method, missing = METHODS[correlation](pairs), pairs.missing
    rng = np.random.default_rng(seed)
    out = []
    for rows in batches(n_resamples, _BLOCK_BYTES // (8 * len(pairs.e) * method.copies)):
        drawn = np.tile(method.outcome, (rows.stop - rows.start, 1))
        for place in pairs.places:
            rng.permuted(drawn[:, place], axis=1, out=drawn[:, place])
        out.append(method.statistics(drawn))
    return np.where(missing, np.nan, np.concatenate(out))


def correlation_limits(
    correlation: float, variance: ArrayLike, critical_low: float, critical_high: float
) -> tuple[float, float]:
    """Limits of the correlations that are not rejected: (estimate - rho)^2 <= critical^2 times the variance at rho.

    Examples
    --------
    >>> [round(limit, 3) for limit in correlation_limits(0.5, [0.01, 0.0, 0.0], 1.96, 1.96)]
    [0.304, 0.696]
    >>> [round(limit, 3) for limit in correlation_limits(0.5, [0.01, 0.005, 0.02], 1.96, 1.96)]
    [0.274, 0.684]
    >>> correlation_limits(0.5, [0.01, 0.0, 0.0], 1.645, float("inf"))[1]
    1.0
    """
    if np.isnan(correlation):
        return np.nan, np.nan
    v, w, k = np.asarray(variance, dtype=float).tolist()
    below, above = _distance(v, -w, k, critical_low), _distance(v, w, k, critical_high)
    return max(-1.0, correlation - below), min(1.0, correlation + above)


def _distance(v: float, w: float, k: float, critical: float) -> float:
    """Smallest d > 0 beyond which d^2 <= critical^2 (v - 2 w d + k d^2) does not hold; infinity where there is none."""
    if critical == np.inf:
        return np.inf
    v, w, k = critical**2 * v, critical**2 * w, critical**2 * k
    if v == 0:  # then w is 0 too
        return 0.0 if k < 1 else np.inf
    # The root of (1 - k) d^2 + 2 w d - v = 0 that comes first, in the form in which nothing cancels.
    square = w * w + (1 - k) * v
    bottom = w + float(np.sqrt(square)) if square >= 0 else 0.0
    return v / bottom if bottom > 0 else np.inf


class _Pearson:
    """Pearson's correlation, prepared for many permutations of `outcome`."""

    copies = 4

    def __init__(self, pairs: Pairs) -> None:
        self.pairs = pairs
        counted = pairs.counted()
        self.outcome = _centred(pairs.e, pairs)
        # A stratum that does not count has x = 0, and so adds nothing to any sum.
        self.x = _centred(pairs.x, pairs) * counted
        self.scale = np.sqrt(pairs.sums(self.x**2) * pairs.sums(self.outcome**2 * counted))

    def estimate(self) -> tuple[Floats, Floats, Floats, Floats]:
        """Correlations, their standard errors, the coefficients of their variances, and skewness."""
        found = []
        for x, inside, left_out in zip(self.x, self.pairs.counted() > 0, self.pairs.left_out, strict=True):
            rows = [(inside, int((left_out == KEPT).sum())), *((place, 1) for place in self.pairs.places)]
            found.append([_pearson(x[row], self.outcome[row], n_means) for row, n_means in rows])
        values = np.array(found)[:, : self.scale.shape[1]]
        return values[..., 0], values[..., 1], values[..., 2:5], values[..., 5]

    def statistics(self, drawn: NDArray[Any]) -> Floats:
        """Studentized correlations of drawn outcomes (k, n), of shape (k, n_features, n_results)."""
        out = []
        for x, scale in zip(self.x, self.scale, strict=True):
            products = drawn * x
            top, bottom = self.pairs.sums(products), self.pairs.sums(products * products)
            out.append(studentize(np.where(np.abs(top) <= _ZERO_CORRELATION * scale, 0.0, top), np.sqrt(bottom)))
        return np.stack(out, axis=1)


def _centred(values: Floats, pairs: Pairs) -> Floats:
    """Deviations from the stratum's mean, scaled to a maximum of 1."""
    values = values - np.apply_along_axis(origin, -1, values)[..., None]
    scale = np.abs(values).max(axis=-1, keepdims=True)
    values = values / np.where(scale > 0, scale, 1.0)
    centred = values - np.repeat(np.add.reduceat(values, pairs.starts, axis=-1) / pairs.sizes, pairs.sizes, axis=-1)
    scale = np.abs(centred).max(axis=-1, keepdims=True)
    return np.asarray(centred / np.where(scale > 0, scale, 1.0))


def _pearson(x: Floats, e: Floats, n_means: int) -> tuple[float, ...]:
    """Correlation of values centred at this many means, standard error, coefficients of its variance, skewness."""
    if not (x.any() and e.any()):
        return (np.nan,) * 6
    n = len(x)
    x, e = x / np.sqrt(np.mean(x * x)), e / np.sqrt(np.mean(e * e))
    r = float(np.clip(np.mean(x * e), -1.0, 1.0))
    slope = (x * x + e * e) / 2
    influence = x * e - r * slope
    variance = float(_zero_rounded(np.mean(influence**2)))
    moments = (variance, np.mean(influence * slope) if variance > 0 else 0.0, np.mean(slope**2))
    # The correction of order 1 / n makes it the jackknife's; variances studentize as permutations are studentized.
    skewness = float(np.mean(x**3) * np.mean(e**3)) / np.sqrt(n)
    return _rounded(r), np.sqrt(variance / (n - n_means - 1)), *(float(moment) / n for moment in moments), skewness


def _rounded(r: Any) -> Any:
    """Correlations with rounding errors of 0 and of 1 removed."""
    r = np.where(np.abs(r) <= _ZERO_CORRELATION, 0.0, r)
    return np.where(np.abs(r) >= 1 - _ZERO_CORRELATION, np.sign(r), r)[()]


def _zero_rounded(variance: Any) -> Any:
    """Squared standard errors with rounding errors of 0 removed."""
    return np.where(variance <= _ZERO_VARIANCE, 0.0, variance)


class _Ranks:
    """Ranks of one variable within strata, sorted by stratum and value; `score` is F - 1/2, `half` is 1 / (2 n)."""

    def __init__(self, values: Floats, pairs: Pairs) -> None:
        opens = np.append(True, values[1:] != values[:-1])
        opens[pairs.starts] = True
        begins = np.flatnonzero(opens)
        lengths = np.diff(begins, append=len(values))
        self.first, self.last = np.repeat(begins, lengths), np.repeat(begins + lengths, lengths)
        start, size = np.repeat(pairs.starts, pairs.sizes), np.repeat(pairs.sizes, pairs.sizes)
        self.half = 1 / (2 * size)
        self.score = (self.first + self.last - 2 * start) * self.half - 0.5
        squares = ((self.last - self.first) / size) ** 2
        self.influence = (np.repeat(np.add.reduceat(squares, pairs.starts) / pairs.sizes, pairs.sizes) - squares) / 4

    def shares_above(self, weights: Floats) -> Floats:
        """Mean over the stratum of the weights at larger values, plus half of those at equal ones; they sum to 0."""
        running = np.zeros((len(weights), weights.shape[1] + 1))
        np.cumsum(weights, axis=1, out=running[:, 1:])
        above = running.take(self.first, axis=1)
        above += running.take(self.last, axis=1)
        above *= -self.half
        return above


class _Spearman:
    """Spearman's correlation, prepared likewise."""

    copies = 8

    def __init__(self, pairs: Pairs) -> None:
        self.pairs = pairs
        #: What is permuted is the place of each person's outcome in its sorted order.
        self.outcome = np.arange(len(pairs.e))
        codes = np.repeat(np.arange(len(pairs.starts)), pairs.sizes)
        self.order = [np.lexsort((x, codes)) for x in pairs.x]
        self.ranks = [_Ranks(x[order], pairs) for x, order in zip(pairs.x, self.order, strict=True)]
        self.outcome_ranks = _Ranks(pairs.e, pairs)

    def estimate(self) -> tuple[Floats, Floats, Floats, Floats]:
        values, errors = np.moveaxis(self._values(self.outcome[None])[..., 0, :], 1, 0)
        return values, errors, errors[..., None] ** 2 * [1.0, 0.0, 0.0], np.zeros_like(errors)

    def statistics(self, drawn: NDArray[Any]) -> Floats:
        return np.stack([studentize(*found) for found in self._values(drawn)], axis=1)

    def _values(self, drawn: Positions) -> Floats:
        """Correlations and standard errors, of shape (n_features, 2, k, n_results)."""
        pairs, others = self.pairs, self.outcome_ranks
        out = []
        for counted, ranks, order in zip(pairs.counted(), self.ranks, self.order, strict=True):
            a, b = ranks.score * counted, others.score * counted
            places = drawn.take(order, axis=1)
            received = b.take(places)
            weights = np.empty_like(received)
            np.put_along_axis(weights, places, np.broadcast_to(a, places.shape), axis=1)
            products = a * received
            influence = ranks.shares_above(received)
            influence += np.take_along_axis(others.shares_above(weights), places, axis=1)
            influence += products
            ties = (ranks.influence, others.influence.take(places))
            out.append(_rank_correlations(pairs, counted, (products, a * a, b * b), influence, ties))
        return np.array(out)


def _rank_correlations(
    pairs: Pairs, counted: Floats, parts: tuple[Floats, ...], influence: Floats, ties: tuple[Floats, Floats]
) -> Floats:
    """Correlations and standard errors from a b, a^2, b^2 and a b + h + k, pooled and by stratum, (2, k, n_results)."""
    within = [
        np.repeat(np.add.reduceat(part, pairs.starts, axis=-1) / pairs.sizes, pairs.sizes, axis=-1) for part in parts
    ]
    out = []
    for starts in pairs.levels:
        people, n = np.diff(starts, append=len(counted)), np.add.reduceat(counted, starts)
        with np.errstate(invalid="ignore", divide="ignore"):  # of strata that do not count
            covariance, *variances = (np.add.reduceat(part, starts, axis=-1) / n for part in parts)
            scale = np.sqrt(variances[0] * variances[1])
            r = covariance / scale
            found = influence - 2 * within[0] - np.repeat(covariance, people, axis=-1)
            found /= np.repeat(scale, people)
            for tie, stratum, variance in zip(ties, within[1:], variances, strict=True):
                change = tie + stratum - np.repeat(variance, people)
                found -= np.repeat(r / 2 / variance, people, axis=-1) * change
            found *= counted
            squares = np.add.reduceat(found * found, starts, axis=-1)
            out.append((_rounded(r), np.sqrt(_zero_rounded(squares / n) / n)))
    return np.concatenate(out, axis=-1)


METHODS: dict[str, type[_Pearson | _Spearman]] = {"pearson": _Pearson, "spearman": _Spearman}
