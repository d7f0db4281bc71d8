"""Several comparisons at once: familywise error of pairs of groups."""

import warnings
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import combinations

import numpy as np

from benchmarks.common.cells import ALPHA
from benchmarks.common.methods import (
    counted_events,
    draw_losses,
    draw_scores,
    draw_tables,
    exact_p,
    rate_value,
    scored,
    studentized,
    table_functional,
    true_values,
)
from skfairtest import FairnessTest
from skfairtest.comparisons.sides import Stratum
from skfairtest.inference.multiplicity import Equality, holm, shaffer
from skfairtest.metrics.rates import CRITERIA

#: Metrics of people one by one, and the kind of cell that describes their populations alike.
ROWS = {"roc_auc": "area", "mean_squared_error": "loss"}


def rates_of(metric):
    return CRITERIA.get(metric, (metric,))


def true_nulls(cell):
    """Which comparisons (rate by rate, pair by pair) are equal in the population."""
    values = _values(cell)
    pairs = list(combinations(range(len(cell.people)), 2))
    return np.array([abs(v[a] - v[b]) < 1e-12 for v in values for a, b in pairs])


def _values(cell):
    if cell.metric in ROWS:
        return [true_values(replace(cell, kind=ROWS[cell.metric]), cell.null)]
    if cell.metric == "balanced_accuracy":
        return [table_functional(cell.metric)[0].values(np.array(cell.null))]
    return [rate_value(rate)(np.array(cell.null)) for rate in rates_of(cell.metric)]


def judge_family(cell, size, rng):
    """Per method, whether each comparison is rejected: arrays (data sets, comparisons)."""
    out = {}
    if cell.metric in ROWS:
        found = (_pairs_of_rows(cell, rng) for _ in range(size))
    else:
        judge = _pairs_of_tables if cell.metric == "balanced_accuracy" else _exact_pairs
        found = (judge(cell, counts, rng) for counts in draw_tables(cell.people, cell.null, size, rng))
    for methods in found:
        for method, adjusted in methods.items():
            out.setdefault(method, []).append(adjusted <= ALPHA * (1 + 1e-9))
    return {method: np.array(rows) for method, rows in out.items()}


def _exact_pairs(cell, counts, _rng):
    pairs = list(combinations(range(len(counts)), 2))
    p = []
    for rate in rates_of(cell.metric):
        x, d = (v.tolist() for v in counted_events(counts, rate))
        p += [exact_p(x[a], d[a], x[b], d[b]) if d[a] and d[b] else np.nan for a, b in pairs]
    p = np.array(p)
    return {**_adjusted(p, len(counts)), "unadjusted": np.where(np.isnan(p), 1.0, p)}


def _adjusted(p, groups):
    """Adjust the comparisons that are defined, rate by rate and pair by pair; the others are never rejected."""
    pairs = list(combinations(range(groups), 2))
    hypotheses = [Equality(i // len(pairs), frozenset(pairs[i % len(pairs)])) for i in range(len(p))]
    out = {"shaffer": np.ones(len(p)), "holm": np.ones(len(p))}
    defined = ~np.isnan(p)
    log_p = np.log(np.maximum(p[defined], 1e-300))
    out["holm"][defined] = np.exp(holm(log_p))
    out["shaffer"][defined] = np.exp(shaffer(log_p, [hypotheses[i] for i in np.flatnonzero(defined)]))
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
        p = np.array([known(*map(int, (x[a], d[a], x[b], d[b]))) for a, b in pairs])
        best = max(range(len(d)), key=lambda g: (Fraction(int(x[g]), int(d[g])), int(d[g]), -g))
        beside = np.array([best in pair for pair in pairs])
        adjusted = {
            "to_highest": _adjusted(p, len(d))["shaffer"][beside],
            "chosen_reference": np.exp(holm(np.log(np.maximum(p[beside], 1e-300)))),
        }
        for method, found in adjusted.items():
            out[method][place] = (found <= ALPHA * (1 + 1e-9)).any()
    return out


def _pairs_of_tables(cell, counts, rng):
    functional, _ = table_functional(cell.metric)
    p, raw = [], []
    for a, b in combinations(range(len(counts)), 2):
        everywhere = Stratum(functional, counts[[a, b]], np.zeros(4, dtype=int))
        p.append(scored(functional, counts[[a, b]], 0.0)[0])
        raw.append(studentized(everywhere, cell.resamples, rng)[1])
    return {
        **_adjusted(np.array(p), len(counts)),
        "raw_holm": _adjusted(np.array(raw), len(counts))["holm"],
        "unadjusted": np.nan_to_num(p, nan=1.0),
    }


def _pairs_of_rows(cell, rng):
    """The whole of FairnessTest on people one by one: by default, and un-studentized."""
    if cell.metric == "roc_auc":
        group, truth, score = draw_scores(cell.people, cell.null, rng)
        columns = {"y_true": truth.astype(int), "y_pred": None, "y_score": score}
    else:
        group = np.repeat(np.arange(len(cell.people)), cell.people)
        loss = np.concatenate(draw_losses(cell.people, cell.null, rng))
        columns = {"y_true": np.zeros(len(loss)), "y_pred": np.sqrt(loss)}
    common = {"sensitive_features": group, "metric": cell.metric, "n_resamples": cell.resamples, **columns}
    common["random_state"] = int(rng.integers(2**31))
    out = {}
    for method, asked in (
        ("shaffer", {}),
        ("raw_holm", {"variance": None, "within": None, "adjust": "holm"}),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = FairnessTest.from_predictions(**common, **asked).comparisons_
        out[method] = found["p_value_adjusted"].to_numpy()
        if method == "shaffer":
            out["unadjusted"] = found["p_value"].to_numpy()
            out["holm"] = _adjusted(out["unadjusted"], len(cell.people))["holm"]
    return out
