"""Many subgroups at once, each against the others: p-values from sums over both sides, arrays (n, strata, K).

The test of a rate is exact given each stratum's events (see `conditional`); that of a mean is Welch's over strata,
valid in large samples.
"""

import numpy as np
from scipy.stats import t as student

from skfairtest._utils.typing import Floats, Integers
from skfairtest.inference._discrete import hypergeometric_log_pmf
from skfairtest.inference.conditional import conditional_log_p, stratified_log_p
from skfairtest.inference.linear_form import Scale
from skfairtest.inference.rates import Pair, limits_of_all, quantiles, values
from skfairtest.inference.score import of_score

#: So many stratified tests are enumerated whatever their scores; of more only those whose score is beyond `LARGE`, and
#: the normal approximation gives the others' p-values, none of which can be small enough to be significant.
MANY, LARGE = 2000, 3.0


class RateSums:
    """Events and people who meet the condition; the value is a function of their ratio."""

    #: What values are less than those of people.
    centre = 0.0

    def __init__(self, scale: Scale) -> None:
        self.scale = scale

    def scores(self, own: Floats, rest: Floats) -> Floats:
        """The Mantel-Haenszel score: the sum of x1 - E(x1), over its exact standard error."""
        (x1, d1), (x2, d2) = np.moveaxis(own, -1, 0), np.moveaxis(rest, -1, 0)
        n, m = d1 + d2, x1 + x2
        some = (d1 > 0) & (d2 > 0)
        with np.errstate(invalid="ignore", divide="ignore"):
            excess = np.where(some, x1 - d1 * m / n, 0.0).sum(axis=1)
            variance = np.where(some, m * (n - m) * d1 * d2 / (n * n * (n - 1)), 0.0).sum(axis=1)
            return np.where(variance > 0, excess / np.sqrt(variance), 0.0)

    def log_p(self, own: Floats, rest: Floats, alternative: str) -> tuple[Floats, Floats]:
        """Exact conditional log p-values, and the smallest possible ones given the totals."""
        pair = _pair(own, rest)
        x1, d1, x2, d2 = pair.x1, pair.d1, pair.x2, pair.d2
        some = pair.defined()
        smallest = _smallest(x1 + x2, d1, d2, alternative)
        if own.shape[1] == 1:
            log_p = np.zeros(len(own))
            kept = np.flatnonzero(some[:, 0])
            log_p[kept] = conditional_log_p(x1[kept, 0], d1[kept, 0], x2[kept, 0], d2[kept, 0], alternative)
            return log_p, smallest
        z = self.scores(own, rest)
        log_p = of_score(z, alternative)
        for row in np.flatnonzero(np.abs(z) > LARGE) if len(own) > MANY else range(len(own)):
            own_pair = Pair(x1[row], d1[row], x2[row], d2[row]).only(some[row])
            log_p[row] = 0.0
            if some[row].any():
                log_p[row] = stratified_log_p(own_pair.x1, own_pair.d1, own_pair.x2, own_pair.d2, alternative)
        return log_p, smallest

    def counted(self, own: Floats) -> Floats:
        """The number of people who meet the condition."""
        return np.asarray(own[..., 1].sum(axis=1))

    def values(self, own: Floats, rest: Floats) -> tuple[Floats, Floats]:
        """Return rates averaged over strata with Mantel-Haenszel weights."""
        return values(_pair(own, rest), self.scale)

    def limits(self, own: Floats, rest: Floats, alternative: str, error: float) -> tuple[float, float]:
        """Score limits; NaN if a side's denominator is 0."""
        pair = _pair(own, rest)
        pair = pair.only(pair.defined())
        if not len(pair.d1):
            return np.nan, np.nan
        return limits_of_all([pair], [self.scale], "difference", *quantiles(alternative, error))[0]

    def difference(self, own: Floats, rest: Floats) -> tuple[Floats, Floats]:
        """Differences of rates, and standard errors at counts plus one half."""
        sides = [(side + np.array([0.5, 1.0])) * (side[..., 1:] > 0) for side in (own, rest)]
        return _welch(*(np.stack([side[..., 1], side[..., 0], side[..., 0]], axis=-1) for side in sides))[1:3]


class MeanSums:
    """People, and sums of their values and squares, centred at `centre`."""

    def __init__(self, centre: float) -> None:
        self.centre = centre

    def scores(self, own: Floats, rest: Floats) -> Floats:
        """The difference of means over its standard error."""
        return _welch(own, rest)[0]

    def log_p(self, own: Floats, rest: Floats, alternative: str) -> tuple[Floats, Floats]:
        """Log p-values of Welch's test, which have no smallest value."""
        statistic, _, _, freedom = _welch(own, rest)
        sign = {"two-sided": -np.abs(statistic), "greater": -statistic, "less": statistic}[alternative]
        log_p = student.logcdf(sign, freedom) + (np.log(2) if alternative == "two-sided" else 0.0)
        return np.minimum(log_p, 0.0), np.full(len(own), -np.inf)

    def counted(self, own: Floats) -> Floats:
        """The number of people."""
        return np.asarray(own[..., 0].sum(axis=1))

    def values(self, own: Floats, rest: Floats) -> tuple[Floats, Floats]:
        """Return means averaged over strata with the weights of their differences."""
        weight = _weights(own, rest)
        with np.errstate(invalid="ignore", divide="ignore"):
            first, second = ((weight * _mean(side)).sum(axis=1) / weight.sum(axis=1) for side in (own, rest))
        return first, second

    def limits(self, own: Floats, rest: Floats, alternative: str, error: float) -> tuple[float, float]:
        """Limits from Welch's t; NaN if no stratum has two people on both sides."""
        if not _weights(own, rest).any():
            return np.nan, np.nan
        _, difference, spread, freedom = (float(part[0]) for part in _welch(own[None], rest[None]))
        reach = spread * float(student.isf(error if alternative in ("greater", "less") else error / 2, freedom))
        low, high = difference - reach, difference + reach
        return (-np.inf if alternative == "less" else low), (np.inf if alternative == "greater" else high)

    def difference(self, own: Floats, rest: Floats) -> tuple[Floats, Floats]:
        """Return differences of means, and Welch's standard errors."""
        return _welch(own, rest)[1:3]


#: A kind of sums, and how a subgroup is tested with them.
Sums = RateSums | MeanSums


def _pair(own: Floats, rest: Floats) -> Pair:
    x1, d1, x2, d2 = (np.rint(side[..., k]).astype(np.int64) for side in (own, rest) for k in (0, 1))
    return Pair(x1, d1, x2, d2)


def _smallest(m: Integers, d1: Integers, d2: Integers, alternative: str) -> Floats:
    """Log probability of the least probable end of the distribution on the sides that reject."""
    some = (d1 > 0) & (d2 > 0)
    ends = {"less": [np.maximum(0, m - d2)], "greater": [np.minimum(d1, m)]}
    chosen = ends.get(alternative, [*ends["less"], *ends["greater"]])
    with np.errstate(invalid="ignore"):
        found = [np.where(some, hypergeometric_log_pmf(x, d1, d2, m), 0.0).sum(axis=1) for x in chosen]
    return np.asarray(np.minimum.reduce(found))


def _mean(side: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(side[..., 0] > 0, side[..., 1] / side[..., 0], 0.0)


def _variance(side: Floats) -> Floats:
    """The variance of values of a stratum's people."""
    n, total, squares = np.moveaxis(side, -1, 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        spread = squares - total * total / n
        return np.where(spread > 1e-12 * squares, spread / (n - 1), 0.0)


def _weights(own: Floats, rest: Floats) -> Floats:
    n1, n2 = own[..., 0], rest[..., 0]
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where((n1 > 1) & (n2 > 1), n1 * n2 / (n1 + n2), 0.0)


def _welch(own: Floats, rest: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Statistic, difference of means, its standard error, and Satterthwaite's degrees of freedom."""
    weight = _weights(own, rest)
    total = weight.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        share = np.where(total[:, None] > 0, weight / total[:, None], 0.0)
        difference = (share * (_mean(own) - _mean(rest))).sum(axis=1)
        parts = [np.where(share > 0, share**2 * _variance(side) / side[..., 0], 0.0) for side in (own, rest)]
        variance = sum(part.sum(axis=1) for part in parts)
        squares = [np.where(share > 0, a**2 / (n[..., 0] - 1), 0.0) for a, n in zip(parts, (own, rest), strict=True)]
        freedom = variance**2 / sum(part.sum(axis=1) for part in squares)
        statistic = np.where(variance > 0, difference / np.sqrt(variance), 0.0)
    return statistic, difference, np.sqrt(variance), np.where(variance > 0, freedom, 1.0)
