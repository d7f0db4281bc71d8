"""The simulations of DiCiccio et al. (2020) of means (section 2.2) and of false negative rates (4.2)."""

from dataclasses import dataclass
from functools import cache, partial

import numpy as np
from scipy.stats import binom, norm

from skfairtest.comparisons.sides import Stratum, draw_permutations
from skfairtest.inference import two_sides
from skfairtest.inference.resampling import monte_carlo_p
from skfairtest.inference.unconditional import unconditional_log_p
from skfairtest.metrics.functionals import Mean

ALPHA = 0.05


def error_of(share, n):
    """Return the Monte-Carlo error of a share of n data sets; never 0, as the true share is not 0 or 1."""
    share = np.clip(share, 1 / n, 1 - 1 / n)
    return float(np.sqrt(share * (1 - share) / n))


# Section 2.2 ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Means:
    """Two normal groups with equal means: people and standard deviations of X and Y."""

    people: tuple[int, int]
    deviations: tuple[float, float]

    @property
    def sampling_variance(self):
        """Variance of the statistic sqrt(n_X) (mean of X - mean of Y)."""
        (n_x, n_y), (s_x, s_y) = self.people, self.deviations
        return s_x**2 + n_x / n_y * s_y**2

    @property
    def permutation_variance(self):
        """The limit of the variance of its permutation distribution."""
        (n_x, n_y), (s_x, s_y) = self.people, self.deviations
        p = n_x / (n_x + n_y)
        return (p * s_x**2 + (1 - p) * s_y**2) * (1 + n_x / n_y)

    @property
    def limit(self):
        """The limit of the un-studentized test's rejection rate at the level."""
        ratio = self.permutation_variance / self.sampling_variance
        return 2 * float(norm.sf(norm.isf(ALPHA / 2) * np.sqrt(ratio)))


def means(design, data_sets, n_resamples, sequence):
    """Return variances of the statistic and of its permutations, and the rejection rates of both tests.

    With ", higher": rejections in one direction, which is wrong if the means differ by very little in the other one.
    """
    counts = np.stack([np.repeat([side, 1 - side], design.people) for side in (1, 0)])
    block, weights = np.zeros(counts.shape[1], dtype=int), np.ones(1)
    studentized = partial(two_sides.statistic, weights=weights)
    raw = partial(studentized, studentized=False)
    observed, variances, rejected = [], [], {"un-studentized": 0, "studentized": 0}
    higher = dict(rejected)
    for child in sequence.spawn(data_sets):
        own, theirs = child.spawn(2)
        z = np.random.default_rng(own).normal(0.0, np.repeat(design.deviations, design.people))
        stratum = Stratum(Mean(z), counts, block, rows=True)
        moments, drawn = two_sides.columns([stratum.observed()]), draw_permutations([stratum], n_resamples, theirs)
        observed.append(float(raw(moments)))
        variances.append(float(np.var(raw(drawn))))
        for name, statistic in (("un-studentized", raw), ("studentized", studentized)):
            p = monte_carlo_p(statistic(drawn), float(statistic(moments)), "two-sided")[0]
            rejected[name] += p <= ALPHA
            higher[name] += p <= ALPHA and float(raw(moments)) > 0
    n_x = design.people[0]
    return {
        "sampling": (n_x * float(np.var(observed)), n_x * float(np.var(observed)) * np.sqrt(2 / data_sets)),
        "permutation": (n_x * float(np.mean(variances)), n_x * float(np.std(variances)) / np.sqrt(data_sets)),
        **{name: times / data_sets for name, times in rejected.items()},
        **{f"{name}, higher": times / data_sets for name, times in higher.items()},
    }


# Section 4.2 ------------------------------------------------------------------------------------------------

SIZE, BASES, FNR = 200, (0.8, 0.2), 0.1
#: Ways to estimate the standard error of the difference of two false negative rates, from misses and positives.
ERRORS = {
    "none: the difference itself": lambda *_: 1.0,
    "plug-in, as in the paper's formula": lambda *sides: _plug_in(*sides),
    "bootstrap of each permuted data set, as in Algorithm 1": lambda *sides: _bootstrapped(*sides),
    "pooled, of two equal rates": lambda *sides: _pooled(*sides),
}
RAW, PLUG_IN, *_, POOLED = ERRORS
BOOTSTRAP = "basic bootstrap"
SIDES = ("both sides", "twice the smaller side", "A higher", "B higher")
#: Differences closer than this are equal: fractions of small numbers differ by more.
TIE = 1e-9


def _plug_in(x1, d1, x2, d2):
    return np.sqrt(sum(x / d * (1 - x / d) / d for x, d in ((x1, d1), (x2, d2))))


def _pooled(x1, d1, x2, d2):
    rate = (x1 + x2) / (d1 + d2)
    return np.sqrt(rate * (1 - rate) * (1 / d1 + 1 / d2))


@cache
def _mean_reciprocals():
    """Return E(1 / D) of binomial numbers of positives D > 0 among resampled people, by the share of positives."""
    d = np.arange(1, SIZE + 1)
    shares = np.arange(SIZE + 1) / SIZE
    probabilities = binom.pmf(d, SIZE, shares[:, None])
    with np.errstate(invalid="ignore"):
        return (probabilities / d).sum(axis=1) / probabilities.sum(axis=1)


def _bootstrapped(x1, d1, x2, d2):
    """The limit of the bootstrap's variance for ever more bootstrap samples."""
    reciprocal = _mean_reciprocals()
    return np.sqrt(sum((x / d) * (1 - x / d) * reciprocal[d] for x, d in ((x1, d1), (x2, d2))))


def statistic(error, x1, d1, x2, d2):
    """Return the difference of two rates over a standard error; no difference is 0."""
    difference = x1 / d1 - x2 / d2
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(np.abs(difference) < TIE, 0.0, difference / ERRORS[error](x1, d1, x2, d2))


class Tails:
    """Counts of resampled statistics on either side of the observed ones, those at the same distance included."""

    def __init__(self, observed):
        self.observed, self.slack = observed, TIE * np.maximum(1.0, np.abs(observed))
        self.higher, self.lower, self.farther, self.total = (np.zeros(len(observed)) for _ in range(4))

    def add(self, drawn):
        defined = ~np.isnan(drawn)
        self.higher += defined & (drawn >= self.observed - self.slack)
        self.lower += defined & (drawn <= self.observed + self.slack)
        self.farther += defined & (np.abs(drawn) >= np.abs(self.observed) - self.slack)
        self.total += defined

    def p_values(self):
        """P-values by side: shares of the resamples."""
        higher, lower, farther = (times / self.total for times in (self.higher, self.lower, self.farther))
        values = (farther, np.minimum(1.0, 2 * np.minimum(higher, lower)), higher, lower)
        return dict(zip(SIDES, values, strict=True))


def false_negative_rates(data_sets, n_resamples, rng):
    """Return misses and positives of groups A and B in many data sets, and p-values (data_sets,) by method and side."""
    d1, d2 = (rng.binomial(SIZE, base, data_sets) for base in BASES)
    x1, x2 = (rng.binomial(d, FNR) for d in (d1, d2))
    groups = x1, d1, x2, d2
    tails = {error: Tails(statistic(error, *groups)) for error in ERRORS}
    misses, hits = x1 + x2, d1 + d2 - x1 - x2
    for _ in range(n_resamples):
        x = rng.hypergeometric(misses, 2 * SIZE - misses, SIZE)
        d = x + rng.hypergeometric(hits, 2 * SIZE - misses - hits, SIZE - x)
        sides = x, d, misses - x, misses + hits - d
        for error, counted in tails.items():
            counted.add(statistic(error, *sides))
    observed = x1 / d1 - x2 / d2
    moved = Tails(observed)
    for _ in range(n_resamples):
        times = [rng.binomial(SIZE, d / SIZE) for d in (d1, d2)]
        with np.errstate(invalid="ignore", divide="ignore"):
            rates = [rng.binomial(n, x / d) / n for n, x, d in zip(times, (x1, x2), (d1, d2), strict=True)]
        moved.add(rates[0] - rates[1] - observed)
    found = {error: counted.p_values() for error, counted in tails.items()}
    return groups, found | {BOOTSTRAP: moved.p_values()}


def exact_p_values(groups):
    """Return the p-values of the package's default test of each data set."""
    pairs, where = np.unique(np.stack(groups, axis=1), axis=0, return_inverse=True)
    found = np.array([np.exp(unconditional_log_p(*map(int, pair))) for pair in pairs])
    return found[where.reshape(-1)]
