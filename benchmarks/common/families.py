"""Several comparisons at once: familywise error of pairs of groups."""

from fractions import Fraction
from functools import cache
from itertools import combinations

import numpy as np

from benchmarks.common.cells import ALPHA
from benchmarks.common.methods import (
    counted_events,
    draw_tables,
    exact_p,
    rate_value,
)
from skfairtest.inference.conditional import attainable, conditional_log_p
from skfairtest.inference.multiplicity import Equality, discrete_holm, holm, shaffer
from skfairtest.metrics.rates import CRITERIA


def rates_of(metric):
    return CRITERIA.get(metric, (metric,))


def true_nulls(cell):
    """Which comparisons (rate by rate, pair by pair) are equal in the population."""
    values = [rate_value(rate)(np.array(cell.null)) for rate in rates_of(cell.metric)]
    pairs = list(combinations(range(len(cell.people)), 2))
    return np.array([abs(v[a] - v[b]) < 1e-12 for v in values for a, b in pairs])


def judge_family(cell, size, rng):
    """Per method, whether each comparison is rejected: arrays (data sets, comparisons)."""
    out = {}
    found = (_exact_pairs(cell, counts) for counts in draw_tables(cell.people, cell.null, size, rng))
    for methods in found:
        for method, adjusted in methods.items():
            out.setdefault(method, []).append(adjusted <= ALPHA * (1 + 1e-9))
    return {method: np.array(rows) for method, rows in out.items()}


def _exact_pairs(cell, counts):
    tables = []
    for rate in rates_of(cell.metric):
        x, d = (v.tolist() for v in counted_events(counts, rate))
        tables += [(x[a], d[a], x[b], d[b]) for a, b in combinations(range(len(counts)), 2)]
    p = np.array([exact_p(*table) if table[1] and table[3] else np.nan for table in tables])
    return {**_adjusted(p, tables, cell, len(counts)), "unadjusted": np.where(np.isnan(p), 1.0, p)}


def _adjusted(p, tables, cell, groups):
    """Adjust the comparisons that are defined, rate by rate and pair by pair; the others are never rejected."""
    pairs, defined = list(combinations(range(groups), 2)), np.flatnonzero(~np.isnan(p))
    hypotheses = [Equality(i // len(pairs), frozenset(pairs[i % len(pairs)])) for i in defined]
    log_p = np.log(np.maximum(p[defined], 1e-300))
    found = {"holm": holm(log_p)}
    if cell.default in ("discrete_holm", "to_highest"):
        fisher = np.array([conditional_log_p(*tables[i]) for i in defined])
        values = [attainable(d1, d2, x1 + x2) for x1, d1, x2, d2 in (tables[i] for i in defined)]
        found = {"discrete_holm": discrete_holm(fisher, values, hypotheses)} | found
    else:
        found = {"shaffer": shaffer(log_p, hypotheses)} | found
    out = {method: np.ones(len(p)) for method in found}
    for method, adjusted in found.items():
        out[method][defined] = np.exp(adjusted)
    return out


def judge_highest(cell, size, rng):
    """Per method, whether any group differs significantly from the one whose rate is the highest in the data.

    The default adjusts for all pairs. The naive analyst takes that group for a reference chosen in advance.
    """
    known = cache(exact_p)
    out = {"to_highest": np.zeros(size, dtype=bool), "chosen_reference": np.zeros(size, dtype=bool)}
    for place, counts in enumerate(draw_tables(cell.people, cell.null, size, rng)):
        x, d = counted_events(counts, cell.metric)
        pairs = list(combinations(range(len(d)), 2))
        tables = [tuple(map(int, (x[a], d[a], x[b], d[b]))) for a, b in pairs]
        p = np.array([known(*table) for table in tables])
        best = max(range(len(d)), key=lambda g: (Fraction(int(x[g]), int(d[g])), int(d[g]), -g))
        beside = np.array([best in pair for pair in pairs])
        adjusted = {
            "to_highest": _adjusted(p, tables, cell, len(d))["discrete_holm"][beside],
            "chosen_reference": np.exp(holm(np.log(np.maximum(p[beside], 1e-300)))),
        }
        for method, found in adjusted.items():
            out[method][place] = (found <= ALPHA * (1 + 1e-9)).any()
    return out
