"""Data sets of each design, and every method's p-value and interval on them, with the package's own functions.

A judge is called with (cell, population, number of data sets, rng) and returns, per method, arrays (data sets,) of
p-values and limits. NaN: no test is possible, which is no rejection.
"""

from functools import cache, lru_cache, partial

import numpy as np
from scipy.stats import norm

from benchmarks.common import competitors
from benchmarks.common.cells import ALPHA, LAWS, SHAPES, average_precision_of
from skfairtest._utils.typing import Moments
from skfairtest.comparisons.sides import Stratum, draw_bootstrap, draw_permutations
from skfairtest.inference import two_sides
from skfairtest.inference._discrete import binomial_log_pmf, hypergeometric_log_pmf
from skfairtest.inference.conditional import conditional_log_p
from skfairtest.inference.linear_form import EffectiveRates, Scale, resampled
from skfairtest.inference.margin import normal_log_p
from skfairtest.inference.rate_draws import (
    Contrast,
    RateTable,
    bootstrap_moments,
    observed_statistics,
    pairwise_permutations,
)
from skfairtest.inference.rates import Pair, limits_of_all
from skfairtest.inference.resampling import monte_carlo_p, reference_log_p
from skfairtest.inference.score import studentize
from skfairtest.inference.unconditional import unconditional_log_p
from skfairtest.metrics import Context, resolve_metrics
from skfairtest.metrics.counted import AveragePrecision, Determination
from skfairtest.metrics.functionals import Auc, Functional, Mean
from skfairtest.metrics.rates import RATES
from skfairtest.readers import read_values

Z = float(norm.isf(ALPHA / 2))
NONE = (np.nan, np.nan)
#: The cells of a table: true negative, false positive, false negative, true positive.
TRUE, PREDICTED = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
EVERYBODY = ((0, 1, 2, 3),)
PAIR = [Contrast(0, 1)]
#: Exact p-values outside of these cannot change a verdict; Fisher's, which is never smaller, stands for them.
SURELY, NEVER = 1e-3, 0.2


class Outcomes(dict):
    """Rows (p, low, high) by method, one per data set."""

    def add(self, method, p, low=np.nan, high=np.nan):
        self.setdefault(method, []).append((p, low, high))

    def arrays(self):
        return {method: np.asarray(rows, dtype=float) for method, rows in self.items()}


def draw_tables(people, population, size, rng):
    """Counts (size, G, cells)."""
    cells = [rng.multinomial(n, _normed(q), size=size) for n, q in zip(people, population, strict=True)]
    return np.stack(cells, axis=1)


def _normed(q):
    q = np.asarray(q, dtype=float)
    return q / q.sum()


# Rates ------------------------------------------------------------------------------------------------------


def masks(metric):
    """Which cells show a rate's event, and which meet its condition."""
    return RATES[metric].masks({"y_true": TRUE > 0, "y_pred": PREDICTED > 0})


def scale_of(metric):
    rate = RATES[metric]
    return Scale() if rate.value is None else Scale(rate.value, rate.slope)


@lru_cache(maxsize=100_000)
def fisher_p(x1, d1, x2, d2):
    return float(np.exp(conditional_log_p(x1, d1, x2, d2)))


@lru_cache(maxsize=100_000)
def exact_p(x1, d1, x2, d2):
    """P-value of the default test; where Fisher's or a lower bound already decides, Fisher's."""
    fisher = fisher_p(x1, d1, x2, d2)
    if fisher <= SURELY or _at_least(fisher, x1 + x2, d1, d2) > NEVER:
        return fisher
    return float(np.exp(unconditional_log_p(x1, d1, x2, d2)))


def _at_least(fisher, events, d1, d2):
    """Lower bound of Boschloo's p-value: given any total, the tail lacks less than two outcomes of Fisher's p-value."""
    people = d1 + d2
    if fisher <= NEVER:
        return 0.0
    half = int(4 * np.sqrt(events * (people - events) / people)) + 2
    m = np.arange(max(0, events - half), min(people, events + half) + 1)
    mode = np.clip((m + 1) * (d1 + 1) // (people + 2), np.maximum(0, m - d2), np.minimum(d1, m))
    missing = np.minimum(fisher, 2 * np.exp(hypergeometric_log_pmf(mode, d1, d2, m)))
    return float((np.exp(binomial_log_pmf(m, people, events / people)) * (fisher - missing)).sum())


def counted_events(counts, metric):
    """Events and denominators (size, G) of one rate."""
    event, given = masks(metric)
    return counts[..., event].sum(axis=-1), counts[..., given].sum(axis=-1)


def exact_interval(x, d, p, metric):
    """Default interval of many data sets (size, 2): the package's limits, extended where p does not reject."""
    pairs = [Pair(*(np.array([v]) for v in (x1, d1, x2, d2))) for (x1, x2), (d1, d2) in zip(x, d, strict=True)]
    scale = scale_of(metric)
    low, high = np.array(limits_of_all(pairs, [scale] * len(pairs), "difference", Z, Z)).T
    kept = ~(p <= ALPHA)
    return np.where(kept, np.minimum(low, 0), low), np.where(kept, np.maximum(high, 0), high)


def rate_value(metric):
    """The metric as a function of counts (..., 4)."""
    event, given = masks(metric)
    scale = scale_of(metric)

    def value(counts):
        with np.errstate(invalid="ignore", divide="ignore"):
            return scale.value((counts @ event) / (counts @ given))

    return value


def permuted_p(table, scale, variance, size, rng):
    """Permutation of all labels: the score, plug-in ("delta") or raw (None) statistic."""
    arguments = (PAIR, scale, variance)
    observed = float(observed_statistics(table, *arguments)[0][0])
    drawn = pairwise_permutations(table, *arguments, size, [rng])[:, 0]
    return monte_carlo_p(drawn, observed, "two-sided")[0]


def studentized_bootstrap(table, scale, size, rng):
    """P-value and interval of ``method="bootstrap"``."""
    (found,) = bootstrap_moments(table, PAIR, scale, "difference", "delta", size, rng)
    sides = (("two-sided", ALPHA), ("two-sided", ALPHA))
    return found.test(0.0, "two-sided")[0], *found.limits(sides, (-np.inf, np.inf))


def judge_rates(cell, population, size, rng):
    """One rate, two groups, all methods."""
    counts = draw_tables(cell.people, population, size, rng)
    x, d = counted_events(counts, cell.metric)
    event, given = masks(cell.metric)
    scale, value, out = scale_of(cell.metric), rate_value(cell.metric), Outcomes()
    defined = (d > 0).all(axis=1)
    counts, x, d = counts[defined], x[defined], d[defined]
    for table, (x1, x2), (d1, d2) in zip(counts, x.tolist(), d.tolist(), strict=True):
        pair = (x1, d1, x2, d2)
        out.add("exact", exact_p(*pair))
        out.add("fisher", fisher_p(*pair))
        _permuted_rates(out, RateTable(table[None], event, given, EVERYBODY), scale, cell, rng)
        for name, scheme in competitors.SCHEMES.items():
            out.add(name, *scheme(competitors.Table(table), value, cell.resamples, rng))
    found = out.arrays()
    found["exact"][:, 1:] = np.stack(exact_interval(x, d, found["exact"][:, 0], cell.metric), axis=1)
    found["welch"] = np.stack(_welch_of_rates(x, d, cell.metric), axis=1)
    return found


def _permuted_rates(out, table, scale, cell, rng):
    out.add("score", permuted_p(table, scale, "score", cell.resamples, rng))
    z = float(observed_statistics(table, PAIR, scale, "score")[0][0])
    out.add("score_normal", float(np.exp(normal_log_p(z, "two-sided"))))
    out.add("kdd", permuted_p(table, scale, "delta", cell.resamples, rng))
    out.add("raw", permuted_p(table, scale, None, cell.resamples, rng))
    if cell.kind != "grid":
        out.add("bootstrap_t", *studentized_bootstrap(table, scale, cell.resamples, rng))


def _welch_of_rates(x, d, metric):
    """Welch's test of the indicators of the event; F1 has none of its own, its Jaccard index is tested."""
    with np.errstate(invalid="ignore", divide="ignore"):
        rate = x / d
        spread = rate * (1 - rate) * d / (d - 1)
    p, low, high = competitors.welch(rate[:, 0], spread[:, 0], d[:, 0], rate[:, 1], spread[:, 1], d[:, 1])
    if not scale_of(metric).is_identity:
        low = high = np.full_like(p, np.nan)
    return p, low, high


def judge_grid(cell, population, size, rng):
    """The methods whose size is simulated in the grid; the exact ones are enumerated there."""
    counts = draw_tables(cell.people, population, size, rng)
    counts = counts[(counted_events(counts, cell.metric)[1] > 0).all(axis=1)]
    out = Outcomes()
    for table in counts:
        rates = RateTable(table[None], *masks(cell.metric), EVERYBODY)
        _permuted_rates(out, rates, Scale(), cell, rng)
    return out.arrays()


# Other metrics ----------------------------------------------------------------------------------------------


class PlugIn(Functional):
    """A metric with its plug-in standard error, whatever it does itself."""

    def __init__(self, functional):
        self.parts, self.bounds = functional.parts, functional.bounds


def studentized(stratum, size, rng, published=False):
    """Default p-value and interval of a studentized permutation; on the same draws the raw difference's p-value.

    Last is the p-value of the permutations alone, which is the first one's where it is asked for as `published`.
    """
    weights, seed = np.ones(1), np.random.SeedSequence(int(rng.integers(2**63)))
    observed = two_sides.columns([stratum.observed()])
    drawn = draw_permutations([stratum], size, seed)
    statistic, raw = (partial(two_sides.statistic, weights=weights, studentized=by) for by in (True, False))
    s, estimate = float(statistic(observed)), float(raw(observed))
    if np.isnan(s):
        return (np.nan, *NONE), np.nan, np.nan
    statistics = statistic(drawn)
    error = float(two_sides.distance(stratum.tested, "difference")[1])
    bounds, people = stratum.functional.bounds, stratum.counts.sum(axis=1)
    if not error > 0:  # all alike: as if one person more were at the other end
        error = (bounds[1] - bounds[0]) / (min(people) + 1) if np.isfinite(bounds[1]) else 0.0
    variances = np.concatenate([observed.first_variance, observed.second_variance])
    is_mean = stratum.functional.is_mean
    freedom = two_sides.welch_freedom(variances, people) if is_mean else np.inf
    skewness = 0.0
    if is_mean and not published and variances.sum() > 0:
        skewness = float(np.subtract(*stratum.functional.third_moment(stratum.counts)) / variances.sum() ** 1.5)
    critical = two_sides.critical_values(statistics, "two-sided", ALPHA, freedom=freedom, skewness=skewness)
    ends = (bounds[0] - bounds[1], bounds[1] - bounds[0])
    interval = two_sides.limits(estimate, error, ends, critical)
    alone = monte_carlo_p(statistics, s, "two-sided")[0]
    p = alone if published else max(alone, float(np.exp(reference_log_p(s, "two-sided", freedom, skewness))))
    return (p, *interval), monte_carlo_p(raw(drawn), estimate, "two-sided")[0], alone


@cache
def table_functional(metric, n_cells=4):
    """The metric of the cells of true and predicted classes, and where labels are permuted."""
    true, predicted = np.indices((int(np.sqrt(n_cells)),) * 2).reshape(2, -1)
    (declared,) = resolve_metrics(metric)
    kinds = {name: read_values(codes, name) for name, codes in (("y_true", true), ("y_pred", predicted))}
    functional = declared.functional(Context(kinds, 1 if declared.needs_pos_label else None))
    if declared.within == "condition":
        return functional, np.where(functional.given > 0, 0, -1)
    return functional, {"y_true": true, "y_pred": predicted}.get(declared.within, np.zeros(n_cells, dtype=int))


def judge_tables(cell, population, size, rng):
    """Metrics of true and predicted classes."""
    functional, block = table_functional(cell.metric, len(population[0]))
    everywhere, out = np.zeros(len(block), dtype=int), Outcomes()
    difference = float(np.subtract(*true_values(cell, population)))
    for counts in draw_tables(cell.people, population, size, rng):
        if np.isnan(functional.values(counts.astype(float))).any():
            continue
        if functional.is_rate_like:
            out.add("areas", *scored(functional, counts, difference))
        default, *_ = studentized(Stratum(functional, counts, block), cell.resamples, rng)
        out.add("permutation", *default)
        plain, raw, _ = studentized(
            Stratum(PlugIn(functional), counts, everywhere), cell.resamples, rng, published=True
        )
        out.add("kdd", plain[0])
        out.add("raw", raw)
        if cell.competitors:
            for name, scheme in competitors.SCHEMES.items():
                out.add(name, *scheme(competitors.Table(counts), functional.values, cell.resamples, rng))
    return out.arrays()


def draw_scores(people, population, rng):
    """Group membership, truth and scores, sorted by truth and score as the package sorts them."""
    truth, score = [], []
    for n, (base, *law) in zip(people, population, strict=True):
        y = rng.random(n) < base
        truth.append(y)
        if law[-1] in SHAPES:
            (area, shape), of_class = law, np.empty(n)
            positives, negatives = SHAPES[shape]
            of_class[y], of_class[~y] = positives(rng, y.sum(), area), negatives(rng, (~y).sum())
            score.append(of_class)
            continue
        mean, spread, shift = law
        score.append(np.where(y, mean + spread * rng.normal(size=n), rng.normal(size=n)) + shift)
    group = np.repeat(np.arange(len(people)), people)
    truth, score = np.concatenate(truth), np.concatenate(score)
    order = np.lexsort((score, truth))
    return group[order], truth[order], score[order]


def judge_areas(cell, population, size, rng):
    """AUC of two groups, labels permuted within the true label; average precision, labels permuted everywhere."""
    out, difference = Outcomes(), float(np.subtract(*true_values(cell, population)))
    (beside,) = rng.spawn(1)
    for _ in range(size):
        group, truth, score = draw_scores(cell.people, population, rng)
        if any(len(np.unique(truth[group == g])) < 2 for g in (0, 1)):
            continue
        counts = np.stack([group == 0, group == 1]).astype(np.int64)
        if cell.metric == "average_precision":
            functional, block = AveragePrecision(truth, score), np.zeros(len(truth), dtype=int)
            default, raw, _ = studentized(Stratum(functional, counts, block, rows=True), cell.resamples, rng)
            out.add("areas", *default)  # the default
            out.add("permutation", *default)
            out.add("raw", raw)
            continue
        functional = Auc(truth, score)
        out.add("areas", *scored(functional, counts, difference))
        stratum = Stratum(functional, counts, truth.astype(int), rows=True)
        default, *_ = studentized(stratum, cell.resamples, rng)
        out.add("permutation", *default)
        out.add("delong", *competitors.z_test(*map(float, two_sides.distance(stratum.tested, "difference"))))
        if cell.effect is not None and cell.effect[1] == cell.null[1]:  # once where either group is the worse one
            out.add("bootstrap_t", *bootstrapped(functional, counts, cell.resamples, beside))
        if cell.effect is not None and not cell.competitors:  # many designs, for the default and its rivals
            continue
        everywhere = Stratum(functional, counts, np.zeros(len(truth), dtype=int), rows=True)
        plain, raw, _ = studentized(everywhere, cell.resamples, rng, published=True)
        out.add("kdd", plain[0])
        out.add("raw", raw)
        if cell.competitors:
            _add_schemes(out, area_of_counts(truth, score), group, cell, rng)
    return out.arrays()


def scored(functional, counts, truth):
    """Default p-value of two values, as rates of the people that they are worth, and limits.

    All that is asked of limits is whether the true difference is between them, which is whether the statistic rejects
    it: both are that difference, or infinite.
    """
    counts, (low, high) = counts.astype(float), functional.bounds
    rate, people = (functional.values(counts) - low) / (high - low), functional.worth(counts)
    one, none = np.ones(1), np.zeros(1)
    form = EffectiveRates(
        rate[:1], rate[1:], people[:1], people[1:], one, none, none, "difference", skewed=True, width=high - low
    )
    distance, error = form.at(np.array([0.0, truth]))
    z = studentize(distance, error)
    end = truth if abs(z[1]) <= Z else np.inf
    return float(np.exp(reference_log_p(float(z[0]), "two-sided"))), end, end


def bootstrapped(functional, counts, size, rng):
    """P-value and interval of ``method="bootstrap"``: people resampled within groups, studentized."""
    seed = np.random.SeedSequence(int(rng.integers(2**63)))
    stratum = Stratum(functional, counts, rows=True)
    (drawn,) = draw_bootstrap([stratum], np.eye(2, dtype=bool), [(0, 1, False)], size, seed)
    observed = functional.pair(*counts.astype(float), null=False)
    found = resampled(observed, Moments(*(v.ravel() for v in drawn)), "difference", studentized=True)
    sides = (("two-sided", ALPHA), ("two-sided", ALPHA))
    return found.test(0.0, "two-sided")[0], *found.limits(sides, (-1.0, 1.0))


def area_of_counts(truth, score):
    """The AUC as a function of how often each person occurs (..., n)."""
    return Auc(truth, score).values


def _add_schemes(out, value, group, cell, rng):
    for name, scheme in competitors.SCHEMES.items():
        out.add(name, *scheme(competitors.People(group == 0), value, cell.resamples, rng))


def draw_losses(people, population, rng):
    """One array of losses per group."""
    return [LAWS[law][0](rng, n) * factor for n, (law, factor) in zip(people, population, strict=True)]


def judge_losses(cell, population, size, rng):
    """Means of losses: the permutation Welch test."""
    out = Outcomes()
    group = np.repeat(np.arange(2), cell.people)
    counts = np.stack([group == 0, group == 1]).astype(np.int64)
    for _ in range(size):
        first, second = draw_losses(cell.people, population, rng)
        mean = Mean(np.concatenate([first, second]), (0.0, np.inf))
        default, raw, alone = studentized(
            Stratum(mean, counts, np.zeros(len(group), dtype=int), rows=True), cell.resamples, rng
        )
        out.add("permutation", *default)
        out.add("permuted", alone)
        moments = [f(loss) for loss in (first, second) for f in (np.mean, partial(np.var, ddof=1), len)]
        out.add("welch", *(float(v) for v in competitors.welch(*moments)))
        out.add("raw", raw)
        if cell.competitors:
            _add_schemes(out, mean.values, group, cell, rng)
    return out.arrays()


def judge_explained(cell, population, size, rng):
    """R squared: errors are normal and independent of the numbers."""
    out, group = Outcomes(), np.repeat(np.arange(2), cell.people)
    counts = np.stack([group == 0, group == 1]).astype(np.int64)
    for _ in range(size):
        y, error = np.empty(len(group)), rng.normal(size=len(group))
        for g, (law, spread, share) in enumerate(population):
            own = group == g
            y[own] = spread * (
                rng.exponential(size=own.sum()) - 1 if law == "exponential" else rng.normal(size=own.sum())
            )
            error[own] *= spread * np.sqrt(1 - share)
        stratum = Stratum(Determination(y, y - error), counts, np.zeros(len(y), dtype=int), rows=True)
        default, raw, _ = studentized(stratum, cell.resamples, rng)
        out.add("permutation", *default)
        out.add("raw", raw)
    return out.arrays()


JUDGES = {
    "explained": judge_explained,
    "rate": judge_rates,
    "grid": judge_grid,
    "table": judge_tables,
    "area": judge_areas,
    "loss": judge_losses,
}


# Values in the population -----------------------------------------------------------------------------------


def true_values(cell, population):
    """The metric in every group's population."""
    if cell.kind in ("rate", "grid"):
        return [float(rate_value(cell.metric)(_normed(q))) for q in population]
    if cell.kind == "table":
        return [float(table_functional(cell.metric, len(q))[0].values(_normed(q))) for q in population]
    if cell.kind == "explained":
        return [share for _, _, share in population]
    if cell.metric == "average_precision":
        return [average_precision_of(base, mean) for base, mean, _, _ in population]
    if cell.kind == "area":
        return [
            law[0] if law[-1] in SHAPES else float(norm.cdf(law[0] / np.hypot(1, law[1]))) for _, *law in population
        ]
    return [LAWS[law][1] * factor for law, factor in population]


def expects_five(cell, population):
    """Whether every group expects at least five events and five non-events of its rate."""
    event, given = masks(cell.metric)
    expected = [
        n * min(_normed(q)[event].sum(), _normed(q)[given & ~event].sum())
        for n, q in zip(cell.people, population, strict=True)
    ]
    return bool(min(expected) >= 5)
