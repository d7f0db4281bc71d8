r"""Permutation tests of correlation that stay valid where the two are dependent but not correlated.

Permuting e against x makes them independent, which is more than uncorrelated. The ordinary permutation test of
Pearson's r rejects uncorrelated but dependent data far too often, or hardly ever. Divided by its own standard error on
the data and on every permutation, the statistic has the same limiting distribution in both cases.

Pearson's r, with x and e centred (DiCiccio and Romano 2017; DiCiccio et al. 2020, section 4.1)::

    S = sqrt(n) r / tau,    tau^2 = mean(x^2 e^2) / (mean(x^2) mean(e^2)),    so that S = sum(x e) / sqrt(sum(x^2 e^2)).

tau is the standard error where r = 0 only. Elsewhere it is that of the influence function, of standardized x and e::

    IF_i(rho) = x_i e_i - rho (x_i^2 + e_i^2) / 2,    variance of r = sum(IF(r)^2) / (n (n - n_strata - 1)).

The mean of IF(rho) is r - rho, and IF(0) makes S. An interval is therefore made of all rho that are not rejected by

    S(rho) = sum IF_i(rho) / sqrt(sum IF_i(rho)^2)

at the critical value of the permutations of S = S(0): the solutions around r of a quadratic inequality, among which 0
is only if S does not reject it. With heavy tails the variance estimated at r is small just where r is far from the
truth; the variance estimated at the truth is not, and such an interval covers it where the estimate plus and minus its
standard error does not.

Spearman's rho is the correlation of midranks. With a = F(x) - 1/2 and b = G(e) - 1/2 (F and G count ties as one half),
C = mean(a b), V = mean(a^2), W = mean(b^2), rho = C / sqrt(V W), everybody's rank depends on everybody else::

    h_i = mean_j [1{x_j > x_i} + 1{x_j = x_i} / 2] b_j,    k_i = mean_j [1{e_j > e_i} + 1{e_j = e_i} / 2] a_j,
    IF of C = a b + h + k - 3 C,    IF of V = (mean(p^2) - p_i^2) / 4,  p_i the share of people tied with i in x,
    IF of rho = IF of C / sqrt(V W) - rho / 2 (IF of V / V + IF of W / W),    variance of rho = mean(IF^2) / n.

Sorted once, h and k are cumulative sums. tau on ranks leaves h and k out, and rejects more than a tenth of true null
hypotheses at a nominal 5%. Ranks have no heavy tails: an interval is rho plus and minus the critical value times the
standard error.

With strata, x and e are centred (or ranked) and e is permuted within each; the pooled correlation is of all people's
centred values. Influence functions then have the stratum's C where C_s stands: a b + h + k - 2 C_s - C.

References
----------
C. J. DiCiccio and J. P. Romano (2017), Robust permutation tests for correlation and regression coefficients, Journal of
the American Statistical Association 112, 1211-1220. C. DiCiccio et al. (2020), Evaluating Fairness Using Permutation
Tests, KDD.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

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

    Parameters
    ----------
    x : ndarray, shape (n_features, n)
        Features.
    e : ndarray, shape (n,)
        Outcome, ascending within each stratum.
    starts : ndarray, shape (n_strata,)
        Where each stratum's people start.
    left_out : ndarray, shape (n_features, n_strata)
        Code of why a stratum does not count for a feature; `KEPT` where it does.
    stratified : bool
        Whether statistics of single strata are wanted beside the pooled one.
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
        """Where each stratum's people are."""
        return [slice(*ends) for ends in pairwise([*self.starts.tolist(), len(self.e)])]

    def counted(self) -> Floats:
        """Return 1 for each person whose stratum counts for a feature and else 0, of shape (n_features, n)."""
        return np.repeat((self.left_out == KEPT).astype(float), self.sizes, axis=1)

    def only(self, features: Any) -> Pairs:
        """Return the pairs of some features."""
        return Pairs(self.x[features], self.e, self.starts, self.left_out[features], self.stratified)


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


@dataclass(frozen=True)
class Estimates:
    """Estimates from the data, each of shape (n_features, n_places): pooled first, then each stratum if there are any.

    `standard_error` is of the correlation wherever it lies; `statistic` is studentized as in the permutations.
    `variance`, with a last axis of 3, holds the coefficients (v, w, k) of the variance v - 2 w d + k d^2 that the
    correlation has if the true one is larger by d. NaN where a stratum does not count.
    `skewness` is that of the mean product of independent values as skewed as these, for Pearson's correlation.
    """

    correlation: Floats
    standard_error: Floats
    statistic: Floats
    variance: Floats
    skewness: Floats


def estimate(pairs: Pairs, correlation: str) -> Estimates:
    """Estimate correlations, their standard errors and the statistics that are compared with permuted ones.

    Examples
    --------
    >>> found = estimate(arrange([[1, 2, 3, 4, 5]], [2, 1, 4, 3, 5]), "spearman")
    >>> round(float(found.correlation[0, 0]), 3)
    0.8
    """
    method = METHODS[correlation](pairs)
    value, error, variance, skewness = method.estimate()
    statistic = method.statistics(method.outcome[None])[0]
    missing = _missing(pairs)
    value, error, statistic = (np.where(missing, np.nan, found) for found in (value, error, statistic))
    return Estimates(value, error, statistic, np.where(missing[..., None], np.nan, variance), skewness)


def permuted(pairs: Pairs, correlation: str, n_resamples: int, seed: np.random.SeedSequence | int) -> Floats:
    """Draw the statistics of permutations of the outcome within strata, the same permutation for every feature."""
    method = METHODS[correlation](pairs)
    rng = np.random.default_rng(seed)
    n = len(pairs.e)
    out = []
    for rows in batches(n_resamples, _BLOCK_BYTES // (8 * n * method.copies)):
        drawn = np.tile(method.outcome, (rows.stop - rows.start, 1))
        for place in pairs.places:
            rng.permuted(drawn[:, place], axis=1, out=drawn[:, place])
        out.append(method.statistics(drawn))
    statistics = np.concatenate(out) if out else np.empty((0, len(pairs.x), _missing(pairs).shape[1]))
    return np.where(_missing(pairs), np.nan, statistics)


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


def _missing(pairs: Pairs) -> Booleans:
    """Which features' places have no statistic, pooled ones first."""
    missing = pairs.left_out != KEPT
    pooled = missing.all(axis=1, keepdims=True)
    return np.concatenate([pooled, missing], axis=1) if pairs.stratified else pooled


def _sums(values: Floats, starts: Positions) -> Floats:
    """Sums over each stratum of values of shape (..., n)."""
    return np.asarray(np.add.reduceat(values, starts, axis=-1))


def _per_place(pooled: Floats, strata: Floats, pairs: Pairs) -> Floats:
    """Put a pooled result of shape (k,) before those of strata, of shape (k, n_strata)."""
    return np.concatenate([pooled[:, None], strata], axis=1) if pairs.stratified else pooled[:, None]


class _Pearson:
    """Pearson's correlation, prepared for many permutations of `outcome`.

    `copies` is how many arrays of the size of the drawn outcomes its statistics need at once.
    """

    copies = 4

    def __init__(self, pairs: Pairs) -> None:
        self.pairs = pairs
        counted = pairs.counted()
        self.outcome = _centred(pairs.e, pairs)
        # A stratum that does not count has x = 0, and so adds nothing to any sum.
        self.x = _centred(pairs.x, pairs) * counted
        within_x, within_e = _sums(self.x**2, pairs.starts), _sums(self.outcome**2 * counted, pairs.starts)
        self.scale = np.sqrt(within_x * within_e)
        self.pooled_scale = np.sqrt(within_x.sum(axis=1) * within_e.sum(axis=1))

    def estimate(self) -> tuple[Floats, Floats, Floats, Floats]:
        strata = self.pairs.places if self.pairs.stratified else []
        out = []
        for x, inside, left_out in zip(self.x, self.pairs.counted() > 0, self.pairs.left_out, strict=True):
            pooled = _pearson(x[inside], self.outcome[inside], int((left_out == KEPT).sum()))
            out.append([pooled, *(_pearson(x[place], self.outcome[place], 1) for place in strata)])
        found = np.array(out)
        return found[..., 0], found[..., 1], found[..., 2:5], found[..., 5]

    def statistics(self, drawn: NDArray[Any]) -> Floats:
        out = []
        for x, scale, pooled_scale in zip(self.x, self.scale, self.pooled_scale, strict=True):
            if len(self.pairs.starts) == 1:
                top = np.einsum("ij,j->i", drawn, x)[:, None]
                bottom = np.einsum("ij,ij,j->i", drawn, drawn, x * x)[:, None]
            else:
                products = drawn * x
                top = _sums(products, self.pairs.starts)
                bottom = _sums(products * products, self.pairs.starts)
            pooled = _studentized(top.sum(axis=1), bottom.sum(axis=1), pooled_scale)
            out.append(_per_place(pooled, _studentized(top, bottom, scale), self.pairs))
        return np.stack(out, axis=1)


def _studentized(top: Floats, bottom: Floats, scale: Floats | float) -> Floats:
    return studentize(np.where(np.abs(top) <= _ZERO_CORRELATION * scale, 0.0, top), np.sqrt(bottom))


def _centred(values: Floats, pairs: Pairs) -> Floats:
    """Deviations from the stratum's mean, the largest of which is 1."""
    values = values - np.apply_along_axis(origin, -1, values)[..., None]
    scale = np.abs(values).max(axis=-1, keepdims=True)
    values = values / np.where(scale > 0, scale, 1.0)
    centred = values - np.repeat(_sums(values, pairs.starts) / pairs.sizes, pairs.sizes, axis=-1)
    scale = np.abs(centred).max(axis=-1, keepdims=True)
    return np.asarray(centred / np.where(scale > 0, scale, 1.0))


def _pearson(x: Floats, e: Floats, n_means: int) -> tuple[float, ...]:
    """Correlation of values centred at so many means, standard error, coefficients of its variance, skewness."""
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


def _standard_error(variance: Any, n: Any) -> Any:
    return np.sqrt(_zero_rounded(variance) / n)


@dataclass(frozen=True)
class _Ranks:
    """Ranks of one variable within strata, at places sorted by stratum and value.

    `score` is F - 1/2; `first` and `last` are the ends of each place's ties, `half` is 1 / (2 n) of its stratum.
    `influence` is that of the variance of scores, without the differences between strata; None where nothing is tied.
    """

    score: Floats
    first: Positions
    last: Positions
    half: Floats
    influence: Floats | None

    def shares_above(self, weights: Floats) -> Floats:
        """Mean over the stratum of the weights at larger values, plus half of those at equal ones; they sum to 0."""
        running = np.zeros((len(weights), weights.shape[1] + 1))
        np.cumsum(weights, axis=1, out=running[:, 1:])
        above = running.take(self.first, axis=1)
        above += running.take(self.last, axis=1)
        above *= -self.half
        return above


def _ranked(values: Floats, pairs: Pairs) -> _Ranks:
    """Rank values that are sorted within strata."""
    n = len(values)
    opens = np.ones(n, dtype=bool)
    opens[1:] = values[1:] != values[:-1]
    opens[pairs.starts] = True
    begins = np.flatnonzero(opens)
    lengths = np.diff(begins, append=n)
    first, last = np.repeat(begins, lengths), np.repeat(begins + lengths, lengths)
    start, size = np.repeat(pairs.starts, pairs.sizes), np.repeat(pairs.sizes, pairs.sizes)
    score = (first + last - 2 * start) / (2 * size) - 0.5
    if len(begins) == n:
        return _Ranks(score, first, last, 1 / (2 * size), None)
    squares = ((last - first) / size) ** 2
    mean = np.repeat(_sums(squares, pairs.starts) / pairs.sizes, pairs.sizes)
    return _Ranks(score, first, last, 1 / (2 * size), (mean - squares) / 4)


class _Spearman:
    """Spearman's correlation, prepared likewise."""

    copies = 8

    def __init__(self, pairs: Pairs) -> None:
        self.pairs = pairs
        #: What is permuted is the place of each person's outcome in its sorted order.
        self.outcome = np.arange(len(pairs.e))
        codes = np.repeat(np.arange(len(pairs.starts)), pairs.sizes)
        self.order = [np.lexsort((x, codes)) for x in pairs.x]
        self.ranks = [_ranked(x[order], pairs) for x, order in zip(pairs.x, self.order, strict=True)]
        self.outcome_ranks = _ranked(pairs.e, pairs)

    def estimate(self) -> tuple[Floats, Floats, Floats, Floats]:
        found = [self._values(self.outcome[None], feature) for feature in range(len(self.order))]
        values, errors = (np.stack([pair[i][0] for pair in found]) for i in range(2))
        return np.asarray(_rounded(values)), errors, errors[..., None] ** 2 * [1.0, 0.0, 0.0], np.zeros_like(errors)

    def statistics(self, drawn: NDArray[Any]) -> Floats:
        found = [self._values(drawn, feature) for feature in range(len(self.order))]
        return np.stack([studentize(value, error) for value, error in found], axis=1)

    def _values(self, drawn: Positions, feature: int) -> tuple[Floats, Floats]:
        """Correlations and standard errors of one feature, each of shape (k, n_places)."""
        pairs, ranks, others = self.pairs, self.ranks[feature], self.outcome_ranks
        counted = pairs.counted()[feature]
        a, b = ranks.score * counted, others.score * counted
        places = drawn.take(self.order[feature], axis=1)
        received = b.take(places)
        weights = np.empty_like(received)
        np.put_along_axis(weights, places, np.broadcast_to(a, places.shape), axis=1)
        products = a * received
        influence = ranks.shares_above(received)
        influence += np.take_along_axis(others.shares_above(weights), places, axis=1)
        influence += products
        tied = None if others.influence is None else others.influence.take(places)
        return self._studentize(products, influence, (a, b), (ranks.influence, tied), counted)

    def _studentize(
        self,
        products: Floats,
        influence: Floats,
        scores: tuple[Floats, Floats],
        ties: tuple[Floats | None, Floats | None],
        counted: Floats,
    ) -> tuple[Floats, Floats]:
        """Correlations and standard errors from a b and a b + h + k, pooled and by stratum."""
        pairs = self.pairs
        starts, sizes = pairs.starts, pairs.sizes
        n = counted.sum()
        within = _sums(products, starts)
        squares = [_sums(score**2, starts) for score in scores]
        variances = [np.where(total > 0, total, 1.0) / sizes for total in squares]
        pooled = [float(total.sum()) / n for total in squares]
        covariance = within.sum(axis=1) / n
        r = covariance / np.sqrt(pooled[0] * pooled[1])
        found = influence - covariance[:, None]
        found -= np.repeat(2 * within / sizes, sizes, axis=1)
        found /= np.sqrt(pooled[0] * pooled[1])
        for tie, variance, total in zip(ties, variances, pooled, strict=True):
            if tie is not None or pairs.stratified:
                change = np.repeat(variance - total, sizes) + (0.0 if tie is None else tie)
                found -= (r / 2 / total)[:, None] * change
        found *= counted
        error = _standard_error(np.einsum("ij,ij->i", found, found) / n, n)
        if not pairs.stratified:
            return _rounded(r)[:, None], error[:, None]
        scale = np.sqrt(variances[0] * variances[1])
        each = within / sizes / scale
        found = influence / np.repeat(scale, sizes) - np.repeat(3 * each, sizes, axis=1)
        for tie, variance in zip(ties, variances, strict=True):
            if tie is not None:
                found -= np.repeat(each / 2 / variance, sizes, axis=1) * tie
        errors = _standard_error(_sums(found * found, starts) / sizes, sizes)
        return _per_place(_rounded(r), _rounded(each), pairs), _per_place(error, errors, pairs)


METHODS: dict[str, type[_Pearson | _Spearman]] = {"pearson": _Pearson, "spearman": _Spearman}
