"""What other packages compute, each as a few lines, and how often it finds a difference where there is none.

Each scheme is written from its package's source or documentation; none of the package's code is here. A study draws
data sets of a design, and returns the decisions of the scheme and of this package's test on the same data.
"""

import numpy as np
from scipy.stats import beta, binomtest, norm

from benchmarks.common import competitors
from benchmarks.common.methods import exact_p, rate_value
from benchmarks.reproduce._peers import ALPHA, PREDICTED, TRUE
from skfairtest.inference.resampling import monte_carlo_p

FALSE_POSITIVE_RATE = 0.2
POSITIVE, HIT = TRUE == 1, (TRUE == 1) & (PREDICTED == 1)


def counts_of(people, base, rate, size, rng):
    """Draw counts (size, 2, 4) of groups with such base rates and true positive rates."""
    cells = [
        [(1 - b) * (1 - FALSE_POSITIVE_RATE), (1 - b) * FALSE_POSITIVE_RATE, b * (1 - r), b * r]
        for b, r in zip(base, rate, strict=True)
    ]
    return np.stack([rng.multinomial(n, q, size) for n, q in zip(people, cells, strict=True)], axis=1)


def ours(events, people):
    """Whether the package's test of two rates rejects."""
    (x1, x2), (d1, d2) = events, people
    return exact_p(int(x1), int(d1), int(x2), int(d2)) <= ALPHA


def share(decisions):
    """Return a share and its Monte-Carlo error."""
    decisions = np.asarray(decisions, dtype=float)
    mean = float(decisions.mean())
    return mean, float(np.sqrt(mean * (1 - mean) / len(decisions)))


# Permutations of the labels of everybody --------------------------------------------------------------------


def standard_errors(hits, positives):
    """Standard errors of a difference of two rates: plug-in, with added events and non-events, pooled."""
    first = {
        name: _plug_in((hits + extra) / (positives + 2 * extra), positives + 2 * extra)
        for name, extra in (("plug-in", 0.0), ("plug-in, 1/2 added", 0.5), ("plug-in, 1 added", 1.0))
    }
    pooled = hits.sum(axis=-1) / positives.sum(axis=-1)
    spread = np.sqrt(pooled * (1 - pooled) * (1 / positives).sum(axis=-1))
    return {"raw": np.ones(hits.shape[:-1]), **first, "pooled": spread}


def _plug_in(rate, n):
    return np.sqrt((rate * (1 - rate) / n).sum(axis=-1))


def studentized(counts):
    """Return every statistic of counts (..., 2, 4); 0 where the rates are equal, whatever the standard error."""
    hits, positives = counts[..., HIT].sum(axis=-1), counts[..., POSITIVE].sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        difference = np.diff(hits / positives, axis=-1)[..., 0]
        return {
            name: np.where(difference == 0, 0.0, difference / error)
            for name, error in standard_errors(hits, positives).items()
        }


def permuted_everywhere(counts, size, rng):
    """Decisions by every standard error, labels permuted among everybody (1 added to both counts)."""
    drawn = studentized(competitors.Table(counts).shuffled(size, rng))
    observed = studentized(counts)
    return {
        name: bool(monte_carlo_p(np.nan_to_num(drawn[name]), float(t), "two-sided")[0] <= ALPHA)
        for name, t in observed.items()
    }


def permuted_within(counts, size, rng):
    """The difference itself, labels permuted among the positives."""
    hits, positives = counts[:, HIT].sum(axis=-1), counts[:, POSITIVE].sum(axis=-1)
    first = rng.hypergeometric(hits.sum(), positives.sum() - hits.sum(), positives[0], size)
    drawn = first / positives[0] - (hits.sum() - first) / positives[1]
    return bool(monte_carlo_p(drawn, float(-np.diff(hits / positives)[0]), "two-sided")[0] <= ALPHA)


def permutation_sizes(design, size, resamples, lift_resamples, rng):
    """Decisions of all statistics, of LiFT's scheme and of ours on the same data sets."""
    out, value = {}, rate_value("true_positive_rate")
    for counts in counts_of(*design, size, rng):
        hits, positives = counts[:, HIT].sum(axis=-1), counts[:, POSITIVE].sum(axis=-1)
        if not positives.all():
            continue
        found = permuted_everywhere(counts, resamples, rng)
        found["within"] = permuted_within(counts, resamples, rng)
        found["LiFT"] = competitors.lift(competitors.Table(counts), value, lift_resamples, rng)[0] <= ALPHA
        found["ours"] = ours(hits, positives)
        for name, decision in found.items():
            out.setdefault(name, []).append(decision)
    return out


# Others ------------------------------------------------------------------------------------------------------


def events_of(rate, people, size, rng):
    """Draw events (size, groups) of people with such rates."""
    return np.stack([rng.binomial(n, r, size) for n, r in zip(people, rate, strict=True)], axis=1)


def fairlens_bootstrap(first, second, resamples, rng):
    """FairLens' default: the share of differences of resampled groups that are as large as the one observed."""
    drawn = [
        sample[rng.integers(len(sample), size=(resamples, len(sample)))].mean(axis=1) for sample in (first, second)
    ]
    return float((np.abs(drawn[0] - drawn[1]) >= abs(first.mean() - second.mean())).mean())


def fairlens_binomial(events, people):
    """FairLens' BinomialDistance: the second group's rate is assumed known."""
    return binomtest(int(events[0]), int(people[0]), events[1] / people[1]).pvalue


def holisticai_z(first, second):
    """HolisticAI's zscore_diff, which its documentation calls significant beyond 2: a difference in deviations."""
    return (first.mean() - second.mean()) / np.sqrt((first.var() + second.var()) / 2)


def jfa_excludes(events, people):
    """jfa's interval of a parity ratio: the first group's Clopper-Pearson limits over the second's estimate."""
    (x, other), (n, m) = events, people
    low = beta.ppf(ALPHA / 2, x, n - x + 1) if x else 0.0
    high = beta.isf(ALPHA / 2, x + 1, n - x) if x < n else 1.0
    return not low <= other / m <= high


def best_against_worst(events, people):
    """audit-AI: the z test of the group with the highest rate against that with the lowest, chosen on the same data."""
    rates = events / people
    pair = [rates.argmax(), rates.argmin()]
    return z_of_two(events[pair], people[pair])


def z_of_two(events, people):
    pooled = events.sum() / people.sum()
    spread = np.sqrt(pooled * (1 - pooled) * (1 / people).sum())
    return 2 * norm.sf(abs(np.diff(events / people)[0]) / spread) if spread else 1.0


def all_pairs(events, people):
    """Smallest p-value of all pairs of groups, by Holm's first step."""
    k = len(events)
    p = [
        exact_p(int(events[i]), int(people[i]), int(events[j]), int(people[j]))
        for i in range(k)
        for j in range(i + 1, k)
    ]
    return min(1.0, min(p) * len(p))


def fairaudit_interval(events, people):
    """fairaudit's p-value of type "interval" of each group against everybody, 1 - 2 Phi(|z|): never above 0."""
    overall = events.sum() / people.sum()
    z = (events / people - overall) / np.sqrt(overall * (1 - overall) / people)
    return 1 - 2 * norm.cdf(np.abs(z))
