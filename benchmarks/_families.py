"""Several comparisons at once: familywise error of pairs of groups, and people with weights or in clusters."""

import warnings
from itertools import combinations

import numpy as np

from benchmarks._cells import ALPHA
from benchmarks._methods import (
    Outcomes,
    counted_events,
    draw_tables,
    exact_p,
    masks,
    rate_value,
    scale_of,
    studentized,
    table_functional,
)
from skfairtest import FairnessTest
from skfairtest.inference.max_t import max_t_p
from skfairtest.inference.multiplicity import holm
from skfairtest.inference.rate_draws import Contrast, RateTable, joint_permutations, observed_statistics
from skfairtest.inference.two_sides import Stratum
from skfairtest.metrics.rates import CRITERIA


def rates_of(metric):
    return CRITERIA[metric].rates if metric in CRITERIA else (metric,)


def true_nulls(cell):
    """Which comparisons (rate by rate, pair by pair) are equal in the population."""
    values = _values(cell)
    pairs = list(combinations(range(len(cell.people)), 2))
    return np.array([abs(v[a] - v[b]) < 1e-12 for v in values for a, b in pairs])


def _values(cell):
    if cell.metric == "balanced_accuracy":
        return [table_functional(cell.metric)[0].values(np.array(cell.null))]
    return [rate_value(rate)(np.array(cell.null)) for rate in rates_of(cell.metric)]


def judge_family(cell, size, rng):
    """Per method, whether each comparison is rejected: arrays (data sets, comparisons)."""
    out = {}
    for counts in draw_tables(cell.people, cell.null, size, rng):
        found = _studentized_pairs(cell, counts, rng) if cell.metric == "balanced_accuracy" else None
        for method, adjusted in (found or _exact_pairs(cell, counts, rng)).items():
            out.setdefault(method, []).append(adjusted <= ALPHA * (1 + 1e-9))
    return {method: np.array(rows) for method, rows in out.items()}


def _exact_pairs(cell, counts, rng):
    pairs = list(combinations(range(len(counts)), 2))
    p, drawn, observed = [], [], []
    for rate in rates_of(cell.metric):
        x, d = (v.tolist() for v in counted_events(counts, rate))
        p += [exact_p(x[a], d[a], x[b], d[b]) if d[a] and d[b] else np.nan for a, b in pairs]
        statistics, draws = _score_draws(rate, counts, pairs, cell, rng)
        observed.append(statistics)
        drawn.append(draws)
    p = np.array(p)
    defined = ~np.isnan(p)
    max_t = np.ones(len(p))
    if defined.any():
        joint = max_t_p(np.hstack(drawn)[:, defined], np.concatenate(observed)[defined], "two-sided")
        max_t[defined] = np.maximum(joint, p[defined])
    return {"holm": _holm(p), "max_t": max_t, "unadjusted": np.where(defined, p, 1.0)}


def _holm(p):
    """Adjust the comparisons that are defined; the others are never rejected."""
    adjusted = np.ones(len(p))
    defined = ~np.isnan(p)
    adjusted[defined] = np.exp(holm(np.log(np.maximum(p[defined], 1e-300))))
    return adjusted


def _score_draws(rate, counts, pairs, cell, rng):
    """Score statistics of all pairs, and the same of tables with labels permuted among all groups."""
    event, given = masks(rate)
    table = RateTable(counts[None], event, given, (tuple(np.flatnonzero(given).tolist()),))
    arguments = ([Contrast(a, b) for a, b in pairs], scale_of(rate), "difference", "score")
    return observed_statistics(table, *arguments)[0], joint_permutations(table, *arguments, cell.resamples, rng)


def _studentized_pairs(cell, counts, rng):
    functional, block = table_functional(cell.metric)
    p, raw = [], []
    for a, b in combinations(range(len(counts)), 2):
        default, _ = studentized(Stratum(functional, counts[[a, b]], block), cell.resamples, rng)
        everywhere = Stratum(functional, counts[[a, b]], np.zeros(4, dtype=int))
        p.append(default[0])
        raw.append(studentized(everywhere, cell.resamples, rng)[1])
    return {"holm": _holm(np.array(p)), "raw_holm": _holm(np.array(raw)), "unadjusted": np.nan_to_num(p, nan=1.0)}


# People one by one ------------------------------------------------------------------------------------------


def draw_rows(cell, rng):
    """Group, prediction, weight and cluster of every person."""
    group, event, weight, cluster = [], [], [], []
    for g, population in enumerate(cell.null):
        if population[0] == "clusters":
            _, units, sizes, rate = population
            people = _cluster_sizes(units, sizes, rng)
            own = np.repeat(rng.beta(2.0, 2.0 * (1 - rate) / rate, units), people)  # correlation about .13
            cluster.append(np.repeat(np.arange(units), people) + 10_000 * g)
            event.append(rng.random(len(own)) < own)
            weight.append(np.ones(len(own)))
        else:
            _, sigma, rate, factor = population
            n = cell.people[g]
            plain = rate / (factor - rate * (factor - 1))  # weighted, it is `rate`
            shown = rng.random(n) < plain
            event.append(shown)
            weight.append(rng.lognormal(0.0, sigma, n) * np.where(shown, factor, 1.0))
            cluster.append(np.zeros(n, dtype=int))
        group.append(np.full(len(event[-1]), g))
    return tuple(np.concatenate(parts) for parts in (group, event, weight, cluster))


def _cluster_sizes(units, sizes, rng):
    if "heavy" in sizes:
        return np.ceil(rng.lognormal(1.0, 1.0 if sizes == "heavy" else 1.8, units)).astype(int)
    return np.full(units, 5) if sizes == "five" else rng.integers(5, 16, units)


def judge_rows(cell, _population, size, rng):
    """The whole of FairnessTest: studentized, raw, and as if there were neither weights nor clusters."""
    out = Outcomes()
    for _ in range(size):
        group, event, weight, cluster = draw_rows(cell, rng)
        if len(np.unique(event)) < 2:
            continue
        known = {"clusters": cluster} if cell.null[0][0] == "clusters" else {"sample_weight": weight}
        common = {"sensitive_features": group, "metric": cell.metric, "n_resamples": cell.resamples}
        for method, extra in (
            ("permutation", known),
            ("raw", {**known, "variance": None}),
            ("ignored", {}),
        ):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                test = FairnessTest.from_predictions(
                    None, event.astype(int), random_state=int(rng.integers(2**31)), **common, **extra
                )
            interval = test.confidence_interval_ if method != "raw" else (np.nan, np.nan)
            out.add(method, test.p_value_, *interval)
    return out.arrays()
