"""Theorems 1 to 3 of DiCiccio et al. (2020): sampling and permutation distributions against their limits.

Both designs have two groups in which the metric is equal and base rates differ. A theorem's statistic is the difference
of two areas under the ROC curve, or of two false negative rates, times the square root of the number of people.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.integrate import quad
from scipy.special import ndtr
from scipy.stats import norm

from skfairtest.comparisons.sides import Stratum, draw_permutations
from skfairtest.inference import two_sides
from skfairtest.metrics.functionals import Auc

#: Share of people in group A, base rates, and the area under either group's curve.
SHARE, BASES, AREA = 0.25, (0.8, 0.2), 0.8
#: Standard deviations of positives' scores; negatives are standard normal in both groups.
SPREADS = (1.0, 3.0)
FNR = 0.1


def density(score):
    """The standard normal density, of one number in a tenth of SciPy's time."""
    return np.exp(-score * score / 2) / np.sqrt(2 * np.pi)


@dataclass(frozen=True)
class Law:
    """A mixture of groups: their shares, base rates and normal scores of their positives (mean, deviation)."""

    shares: tuple
    bases: tuple
    positives: tuple

    @property
    def base(self):
        return sum(share * base for share, base in zip(self.shares, self.bases, strict=True))

    def mixed(self, function):
        """Mean, over the groups of positive people, of a function of mean and deviation of their scores."""
        parts = zip(self.shares, self.bases, self.positives, strict=True)
        return sum(share * base / self.base * function(m, s) for share, base, (m, s) in parts)

    def positive(self, function):
        """Mean of a function of the score of a positive person."""
        return self.mixed(lambda m, s: quad(lambda t: function(m + s * t) * density(t), -9, 9, limit=200)[0])

    def above(self, score):
        """Probability that a positive person's score is above one."""
        return self.mixed(lambda m, s: ndtr((m - score) / s))

    @cached_property
    def _moments(self):
        """The area, the probability that a positive exceeds two negatives, and that two positives exceed a negative."""
        return (
            self.positive(ndtr),
            self.positive(lambda score: ndtr(score) ** 2),
            quad(lambda t: self.above(t) ** 2 * density(t), -9, 9, limit=200)[0],
        )

    def variance(self, *, exchanged=False):
        """n times the variance of the area of n people; with `exchanged` as section 3.2.1 prints it.

        There the two base rates below the probabilities have changed places.
        """
        area, one_positive, two_positives = self._moments
        below = (1 - self.base, self.base) if exchanged else (self.base, 1 - self.base)
        return one_positive / below[0] + two_positives / below[1] - area**2 * sum(1 / b for b in below)


def area_laws():
    """Return the distributions of group A, group B and of people whose labels are permuted."""
    positives = tuple((float(norm.ppf(AREA) * np.hypot(1, s)), s) for s in SPREADS)
    own = [Law((1.0,), (base,), (positive,)) for base, positive in zip(BASES, positives, strict=True)]
    return *own, Law((SHARE, 1 - SHARE), BASES, positives)


def area_variances(*, exchanged=False):
    """Return v of the sampling distribution and w of the permutation distribution (theorem 1)."""
    a, b, mixed = (law.variance(exchanged=exchanged) for law in area_laws())
    return a / SHARE + b / (1 - SHARE), mixed / SHARE + mixed / (1 - SHARE)


def rate_variances(*, bases=BASES, printed=False):
    """Return the variances of the sampling and of the permutation distribution (section 3.3).

    With `printed` the second is as the proof of theorem 3 prints it, with a minus between its parts.
    """
    base = SHARE * bases[0] + (1 - SHARE) * bases[1]
    spread = FNR * (1 - FNR)
    sampling = spread / (SHARE * bases[0]) + spread / ((1 - SHARE) * bases[1])
    return sampling, spread / (SHARE * base) + (-1 if printed else 1) * spread / ((1 - SHARE) * base)


# Both statistics on drawn data ------------------------------------------------------------------------------


def sizes(people):
    first = round(SHARE * people)
    return first, people - first


def _both(moments, people):
    """The difference times the root of the people, and over its own standard error."""
    weights = np.ones(1)
    raw = two_sides.statistic(moments, weights, studentized=False)
    return np.sqrt(people) * raw, two_sides.statistic(moments, weights)


def many_areas(people, data_sets, n_permutations, n_permuted, rng):
    """Return the statistics of many data sets, and of the permutations of the first `n_permuted` of them."""
    observed, permuted = [], []
    group, block = np.repeat([0, 1], sizes(people)), np.zeros(people, dtype=int)
    for place in range(data_sets):
        truth, score = [], []
        for n, base, spread in zip(sizes(people), BASES, SPREADS, strict=True):
            y = rng.random(n) < base
            z = rng.normal(size=n)
            truth.append(y)
            score.append(np.where(y, norm.ppf(AREA) * np.hypot(1, spread) + spread * z, z))
        truth, score = np.concatenate(truth), np.concatenate(score)
        order = np.lexsort((score, truth))
        counts = np.stack([group[order] == 0, group[order] == 1]).astype(np.int64)
        stratum = Stratum(Auc(truth[order], score[order]), counts, block, rows=True)
        observed.append([float(each) for each in _both(two_sides.columns([stratum.observed()]), people)])
        if place < n_permuted:
            seed = np.random.SeedSequence(int(rng.integers(2**63)))
            permuted.append(np.array(_both(draw_permutations([stratum], n_permutations, seed), people)))
    return np.array(observed).T, permuted


def many_rates(people, data_sets, n_permutations, n_permuted, rng):
    """Return the same of false negative rates."""
    positives = [rng.binomial(n, base, data_sets) for n, base in zip(sizes(people), BASES, strict=True)]
    misses = [rng.binomial(d, FNR) for d in positives]
    observed = _both_rates(misses[0], positives[0], misses[1], positives[1], people)
    permuted = []
    first = sizes(people)[0]
    for x, d in zip((misses[0] + misses[1])[:n_permuted], (positives[0] + positives[1])[:n_permuted], strict=True):
        own = rng.hypergeometric(x, people - x, first, n_permutations)
        both = own + rng.hypergeometric(d - x, people - d, first - own)
        permuted.append(np.array(_both_rates(own, both, x - own, d - both, people)))
    return np.array(observed), permuted


def _both_rates(x1, d1, x2, d2, people):
    """The paper's statistic, which has no value where a group has no positives, or neither has misses."""
    with np.errstate(invalid="ignore", divide="ignore"):
        p1, p2 = x1 / d1, x2 / d2
        error = np.sqrt(p1 * (1 - p1) / d1 + p2 * (1 - p2) / d2)
        return np.sqrt(people) * (p1 - p2), np.where(p1 == p2, 0.0, (p1 - p2) / error)


# Distances from the limits ----------------------------------------------------------------------------------


def distance(values, variance):
    """Largest distance of the distribution of values from a normal one: Kolmogorov's, attained at a step."""
    values, times = np.unique(np.round(values[~np.isnan(values)], 10), return_counts=True)
    up = np.cumsum(times) / times.sum()
    limit = norm.cdf(values, scale=np.sqrt(variance))
    return float(max(np.abs(up - limit).max(), np.abs(up - times / times.sum() - limit).max()))


DRAWS = {"areas": many_areas, "rates": many_rates}
#: A table's columns: the distribution, which statistic, whether permuted, and whose limit.
LIMITS = (
    ("sampling distribution", 0, False, "sampling"),
    ("permutation distribution", 0, True, "permutation"),
    ("sampling, studentized", 1, False, "one"),
    ("permutation, studentized", 1, True, "one"),
)


def measured(kind, people, data_sets, n_permutations, n_permuted, rng):
    """Return variances with their errors, and distances from the limits."""
    sampling, permutation = {"areas": area_variances, "rates": rate_variances}[kind]()
    variances = {"sampling": sampling, "permutation": permutation, "one": 1.0}
    observed, permuted = DRAWS[kind](people, data_sets, n_permutations, n_permuted, rng)
    spread = [float(np.nanvar(drawn[0])) for drawn in permuted]
    found = {
        "sampling": float(np.nanvar(observed[0])),
        "sampling_error": float(np.nanvar(observed[0])) * float(np.sqrt(2 / data_sets)),
        "permutation": float(np.mean(spread)),
        "permutation_error": float(np.std(spread, ddof=1) / np.sqrt(len(spread))),
        "distances": [],
    }
    for _, statistic, is_permuted, limit in LIMITS:
        chosen = [drawn[statistic] for drawn in permuted] if is_permuted else [observed[statistic]]
        found["distances"].append(float(np.mean([distance(values, variances[limit]) for values in chosen])))
    return found
