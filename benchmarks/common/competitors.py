"""What other tools and textbooks do, on the same data: resampling schemes for any metric, and classical tests.

Resampling schemes see two groups as counts (2, K) of K kinds of people, a kind being a cell of a table or one person,
and the metric as a function of counts (..., K). Each returns (p-value, lower limit, upper limit); NaN where a method
has none.
"""

import numpy as np
from scipy.stats import norm, t

from benchmarks.common.cells import ALPHA
from skfairtest.inference.draws import draw_first_rows, memberships
from skfairtest.inference.score import studentize

NONE = float("nan")


class Table:
    """Resamples of a table of counts (2, K)."""

    def __init__(self, counts):
        self.counts = counts

    def pooled(self, size, rng):
        """People drawn with replacement from both groups together."""
        people = self.counts.sum()
        drawn = rng.multinomial(people, self.counts.ravel() / people, size=size)
        return drawn.reshape(size, *self.counts.shape).astype(float)

    def within(self, size, rng):
        """People drawn with replacement within each group."""
        return np.stack([rng.multinomial(g.sum(), g / g.sum(), size=size) for g in self.counts], axis=1).astype(float)

    def shuffled(self, size, rng):
        """Labels permuted among all people."""
        return draw_first_rows(self.counts, size, rng).astype(float)


class People:
    """Resamples of people one by one; `member` says who is in the first group."""

    def __init__(self, member):
        self.member = member.astype(float)
        self.counts = np.stack([self.member, 1 - self.member])

    def _times(self, n, size, rng):
        chosen = rng.integers(n, size=(size, n)) + n * np.arange(size)[:, None]
        return np.bincount(chosen.ravel(), minlength=n * size).reshape(size, n).astype(float)

    def pooled(self, size, rng):
        return self._times(len(self.member), size, rng)[:, None] * self.counts

    def within(self, size, rng):
        out = np.zeros((size, *self.counts.shape))
        for g, counts in enumerate(self.counts):
            place = np.flatnonzero(counts)
            out[:, g, place] = self._times(len(place), size, rng)
        return out

    def shuffled(self, size, rng):
        first = memberships(len(self.member), int(self.member.sum()), size, rng).astype(float)
        return np.stack([first, 1 - first], axis=1)


def _differences(value, drawn):
    found = value(drawn)
    return found[..., 0] - found[..., 1]


def _or_zero(value):
    """LiFT and fairlearn give 0 for a rate that nobody can have."""
    return lambda counts: np.nan_to_num(value(counts), nan=0.0)


def lift(sample, value, size, rng):
    """LinkedIn's LiFT: the observed difference over its bootstrap deviation against permuted ones over theirs.

    The p-value is a share of strictly larger ones, without the observed one; differences that are all alike divide
    by 0 and are never larger.
    """
    value = _or_zero(value)
    observed = _differences(value, sample.counts[None].astype(float))[0]
    with np.errstate(invalid="ignore", divide="ignore"):
        bootstrapped = abs(observed) / _differences(value, sample.pooled(size, rng)).std(ddof=1)
        permuted = _differences(value, sample.shuffled(size, rng))
        permuted = np.abs(permuted) / permuted.std(ddof=1)
    return float((permuted > bootstrapped).sum() / size), NONE, NONE


def fairlearn(sample, value, size, rng):
    """Percentile interval of fairlearn's ``MetricFrame.difference()``, which is the absolute difference.

    Read as a test: 0 outside the interval. The p-value is twice the share of resamples without any difference.
    """
    drawn = np.abs(_differences(_or_zero(value), sample.pooled(size, rng)))
    low, high = np.quantile(drawn, [ALPHA / 2, 1 - ALPHA / 2])
    return min(1.0, 2 * float((drawn <= 0).mean())), float(low), float(high)


def basic_bootstrap(sample, value, size, rng):
    """Basic bootstrap interval: twice the estimate minus the quantiles of people resampled within groups."""
    observed = _differences(value, sample.counts[None].astype(float))[0]
    drawn = _differences(value, sample.within(size, rng))
    drawn = drawn[~np.isnan(drawn)]
    if np.isnan(observed) or not len(drawn):
        return NONE, NONE, NONE
    moved = drawn - observed
    p = 2 * (1 + min((moved >= observed).sum(), (moved <= observed).sum())) / (1 + len(moved))
    low, high = 2 * observed - np.quantile(drawn, [1 - ALPHA / 2, ALPHA / 2])
    return min(1.0, float(p)), float(low), float(high)


def welch(mean1, variance1, n1, mean2, variance2, n2):
    """Welch's t test, arrays of any shape; variances with ddof=1. Equal means without any spread are never rejected."""
    with np.errstate(invalid="ignore", divide="ignore"):
        a, b = variance1 / n1, variance2 / n2
        error = np.sqrt(a + b)
        freedom = (a + b) ** 2 / (a**2 / (n1 - 1) + b**2 / (n2 - 1))
        freedom = np.where(np.isfinite(freedom), freedom, 1.0)
        difference = mean1 - mean2
        p = np.where((difference == 0) & (error == 0), 1.0, 2 * t.sf(np.abs(difference / error), freedom))
        reach = t.isf(ALPHA / 2, freedom) * error
    return p, difference - reach, difference + reach


def z_test(difference, error):
    """Normal test and interval from a standard error, DeLong's for example."""
    with np.errstate(invalid="ignore", divide="ignore"):
        p = 2 * norm.sf(np.abs(studentize(difference, error)))
    reach = norm.isf(ALPHA / 2) * error
    return float(p), float(difference - reach), float(difference + reach)


SCHEMES = {"lift": lift, "fairlearn": fairlearn, "basic_bootstrap": basic_bootstrap}
