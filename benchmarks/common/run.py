"""One cell from its seed to its figures: size, power, power at equal size, coverage, each with its error."""

import time
import zlib

import numpy as np

from benchmarks.common.cells import ALPHA, SEED
from benchmarks.common.design import Design
from benchmarks.common.families import judge_family, judge_highest, true_nulls
from benchmarks.common.methods import JUDGES, counted_events, draw_tables, masks, true_values
from skfairtest.inference.conditional import conditional_log_p
from skfairtest.inference.power import comparison_power
from skfairtest.inference.rates import Question
from skfairtest.inference.regions import is_rejected
from skfairtest.inference.unconditional import unconditional_log_p


def seeds_of(cell):
    """Seeds of the equal and of the different populations: they depend on the cell's name alone."""
    return np.random.SeedSequence([SEED, zlib.crc32(cell.name.encode())]).spawn(3)


def run(cell):
    """Return the cell's figures, by method, and what else is known of it."""
    started = time.process_time()
    if isinstance(cell, Design):
        figures = cell.methods()
        return {"seconds": round(time.process_time() - started, 1), "methods": figures}
    first, second, third = (np.random.default_rng(seed) for seed in seeds_of(cell))
    if cell.kind == "family":
        figures = _familywise(cell, first)
    elif cell.kind == "highest":
        figures = {
            method: {"size": _share(rejected.sum(), cell.data_sets)}
            for method, rejected in judge_highest(cell, cell.data_sets, first).items()
        }
    else:
        judge = JUDGES[cell.kind]
        null = judge(cell, cell.null, cell.data_sets, first)
        # The power of the grid's simulated methods is not asked for.
        asked = cell.effect is not None and cell.kind != "grid"
        effect = judge(cell, cell.effect, cell.data_sets, second) if asked else None
        truth = None if effect is None else float(np.subtract(*true_values(cell, cell.effect)))
        figures = {
            method: _figures(rows, None if effect is None else effect[method], truth, cell, method)
            for method, rows in null.items()
        }
    if cell.kind == "grid":
        figures = _enumerated(cell, third) | figures
    return {"seconds": round(time.process_time() - started, 1), "methods": figures}


def _share(hits, total):
    return round(float(hits / total), 5)


def _figures(null, effect, truth, cell, method):
    """Figures of one method from rows (p, low, high); data sets without a test are no rejections."""
    out = {}
    p = null[:, 0]
    out["size"] = _share((p <= ALPHA * (1 + 1e-9)).sum(), cell.data_sets)
    _cover(out, "coverage", null, 0.0)
    if effect is not None:
        rejected = effect[:, 0] <= ALPHA * (1 + 1e-9)
        out["power"] = _share(rejected.sum(), cell.data_sets)
        threshold = threshold_at(p, cell.data_sets)
        if threshold is not None:
            hits = (effect[:, 0] <= threshold * (1 + 1e-9)).sum()
            out["power_at_equal_size"] = _share(hits, cell.data_sets)
        # fairlearn's difference has no sign.
        _cover(out, "coverage_effect", effect, abs(truth) if method == "fairlearn" else truth)
    return out


def _cover(out, name, rows, truth):
    low, high = rows[:, 1], rows[:, 2]
    defined = ~np.isnan(low) & ~np.isnan(high)
    if defined.any():
        slack = 1e-12
        inside = (low[defined] <= truth + slack) & (truth - slack <= high[defined])
        out[name] = _share(inside.sum(), defined.sum())


def threshold_at(p, data_sets):
    """Largest p-value up to which at most 5% of the fair data sets are rejected; None where there is none."""
    values, counts = np.unique(p[~np.isnan(p)], return_counts=True)
    below = np.flatnonzero(np.cumsum(counts) <= ALPHA * data_sets)
    return float(values[below[-1]]) if len(below) else None


def _familywise(cell, rng):
    """How often a comparison of equal groups is rejected, and how many of the different ones are."""
    equal = true_nulls(cell)
    out = {}
    for method, rejected in judge_family(cell, cell.data_sets, rng).items():
        out[method] = {"size": _share(rejected[:, equal].any(axis=1).sum(), cell.data_sets)}
        if not equal.all():
            out[method]["power"] = round(float(rejected[:, ~equal].mean()), 5)
    return out


# The enumerated tests ---------------------------------------------------------------------------------------


def _enumerated(cell, rng):
    """Size and power of Boschloo's and Fisher's test: sums over all outcomes, averaged over drawn denominators."""
    drawn = counted_events(draw_tables(cell.people, cell.null, cell.denominators, rng), cell.metric)[1]
    questions, sizes, powers = [Question(method=method) for method in ("exact", "permutation")], [], []
    for d1, d2 in drawn.tolist():
        if min(d1, d2) == 0:  # nobody meets the condition in a group: no test, no rejection
            sizes.append((0.0, 0.0))
            powers.append((0.0, 0.0))
            continue
        _check(d1, d2, questions, rng)
        p1, p2 = (_rate_of(cell, q) for q in cell.effect)
        sizes.append([comparison_power(d1, d2, p1, p1, question, ALPHA)[0] for question in questions])
        powers.append([comparison_power(d1, d2, p1, p2, question, ALPHA)[0] for question in questions])
    out = {}
    for place, method in enumerate(("exact", "fisher")):
        size, power = np.array(sizes)[:, place], np.array(powers)[:, place]
        out[method] = {
            "size": round(float(size.mean()), 5),
            "size_error": round(float(size.std() / np.sqrt(len(size))), 5),
            "largest_size": round(float(size.max()), 6),
            "power": round(float(power.mean()), 5),
        }
    return out


def _rate_of(cell, q):
    event, given = masks(cell.metric)
    q = np.asarray(q)
    return float(q[event].sum() / q[given].sum())


def _check(d1, d2, questions, rng):
    """The regions are those of the tests that users run."""
    x1, x2 = int(rng.integers(d1 + 1)), int(rng.integers(d2 + 1))
    outcome = np.array([x1]), d1, np.array([x2]), d2
    for question, log_p in zip(questions, (unconditional_log_p, conditional_log_p), strict=True):
        if (log_p(x1, d1, x2, d2) <= np.log(ALPHA) + 1e-12) != is_rejected(*outcome, question, ALPHA)[0]:
            raise SystemExit(f"region and test disagree at {x1}/{d1} against {x2}/{d2}")
