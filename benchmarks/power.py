"""Computed against simulated power: ``python -m benchmarks.power [--quick]``.

In every cell data are drawn, each comparison is tested with the function that FairnessTest calls, and the rejections of
the global test are counted. Means of normal values are tested with Welch's t test, areas under the ROC curve of
exponential scores by `FairnessTest`. A cell fails where the two differ by more than four Monte-Carlo standard errors
plus .003, which is what averaging over denominators at nodes, and interpolated critical scores, may cost.

Without ``--quick`` the figures are written to benchmarks/results/power.json with the seed and the versions.
"""

import argparse
import sys
import time
from functools import lru_cache
from itertools import combinations
from pathlib import Path

import numpy as np
from scipy.stats import ttest_ind

from benchmarks.common.results import write
from skfairtest import FairnessTest
from skfairtest.inference.linear_form import Scale
from skfairtest.inference.rates import Pair, Question, answer
from skfairtest.planning.power import power

SEED = 19700121
ALPHA = 0.05
#: What averaging at nodes and interpolating may cost.
TOLERANCE = 0.003
#: ``--quick`` has the cells with at least so many data sets, which are the cheap ones, and this part of their data.
QUICK_CELLS, QUICK_PART = 4000, 100
RESULTS = Path(__file__).parent / "results" / "power.json"
TPR, FPR = "true_positive_rate", "false_positive_rate"

#: (data sets, what `power` is asked).
CELLS = [
    (20000, {"metric": "selection_rate", "rates": (0.3, 0.5), "n_per_group": (93, 93)}),
    (20000, {"metric": "selection_rate", "rates": (0.3, 0.5), "n_per_group": (93, 93), "method": "asymptotic"}),
    (20000, {"metric": "selection_rate", "rates": (0.1, 0.35), "n_per_group": (300, 30)}),
    (20000, {"metric": "selection_rate", "rates": (0.02, 0.1), "n_per_group": (150, 100), "alternative": "less"}),
    (1500, {"metric": "selection_rate", "rates": (0.3, 0.36), "n_per_group": (1000, 1000)}),
    (1500, {"metric": "selection_rate", "rates": (0.3, 0.325), "n_per_group": (6000, 6000)}),
    (1000, {"metric": "selection_rate", "rates": (0.3, 0.4), "n_per_group": (200, 8000)}),
    (4000, {"metric": TPR, "rates": (0.6, 0.9), "n_per_group": (200, 200), "base_rates": (0.3, 0.1)}),
    (4000, {"metric": TPR, "rates": (0.5, 0.8), "n_per_group": (80, 80), "base_rates": (0.5, 0.3)}),
    (2000, {"metric": "precision", "rates": (0.7, 0.6), "n_per_group": (1500, 800), "base_rates": 0.4}),
    (3000, {"metric": "f1", "rates": (0.5, 0.65), "n_per_group": (300, 400), "base_rates": 0.4}),
    (1500, {"metric": "selection_rate", "rates": (0.3, 0.55), "n_per_group": (100, 80), "margin": 0.05}),
    (
        1500,
        {
            "metric": "selection_rate",
            "rates": (0.6, 0.4),
            "n_per_group": (120, 90),
            "margin": 0.05,
            "alternative": "greater",
        },
    ),
    (
        500,
        {
            "metric": "selection_rate",
            "rates": (0.3, 0.5),
            "n_per_group": (200, 150),
            "margin": 0.9,
            "disparity": "ratio",
        },
    ),
    (
        1200,
        {
            "metric": "selection_rate",
            "rates": (0.3, 0.3),
            "n_per_group": (150, 150),
            "margin": 0.15,
            "alternative": "equivalence",
        },
    ),
    (
        500,
        {
            "metric": "selection_rate",
            "rates": (0.3, 0.3),
            "n_per_group": (300, 300),
            "margin": 0.1,
            "alternative": "equivalence",
        },
    ),
    (
        120,
        {
            "metric": "selection_rate",
            "rates": (0.4, 0.42),
            "n_per_group": (700, 500),
            "margin": 0.1,
            "alternative": "equivalence",
        },
    ),
    (
        600,
        {
            "metric": TPR,
            "rates": (0.5, 0.5),
            "n_per_group": (250, 250),
            "base_rates": (0.5, 0.4),
            "margin": 0.2,
            "alternative": "equivalence",
        },
    ),
    (
        1000,
        {
            "metric": "selection_rate",
            "rates": (0.3, 0.55),
            "n_per_group": (100, 80),
            "margin": 0.05,
            "compare": "to_overall",
        },
    ),
    (4000, {"metric": "selection_rate", "rates": (0.3, 0.5, 0.4), "n_per_group": (93, 93, 60)}),
    (4000, {"metric": "selection_rate", "rates": (0.3, 0.5, 0.4), "n_per_group": (93, 93, 60), "compare": "to_rest"}),
    (
        4000,
        {
            "metric": "selection_rate",
            "rates": (0.4, 0.3, 0.2),
            "n_per_group": (90, 70, 80),
            "compare": "to_reference",
            "alternative": "greater",
        },
    ),
    (1000, {"metric": TPR, "rates": (0.6, 0.8, 0.7), "n_per_group": (250, 200, 150), "base_rates": (0.3, 0.4, 0.5)}),
    (
        2000,
        {
            "metric": "equalized_odds",
            "rates": {TPR: (0.6, 0.8), FPR: (0.1, 0.2)},
            "n_per_group": (200, 150),
            "base_rates": (0.3, 0.4),
        },
    ),
    (
        600,
        {
            "metric": "equalized_odds",
            "rates": {TPR: (0.6, 0.8, 0.7), FPR: (0.1, 0.2, 0.1)},
            "n_per_group": (200, 150, 100),
            "base_rates": (0.3, 0.4, 0.4),
        },
    ),
    (20000, {"metric": "mean_prediction", "rates": ((0.5, 0.2), (0.6, 0.3)), "n_per_group": (60, 90)}),
    (
        20000,
        {
            "metric": "mean_prediction",
            "rates": ((0.5, 0.2), (0.52, 0.3)),
            "n_per_group": (200, 150),
            "margin": 0.1,
            "alternative": "equivalence",
        },
    ),
    (1000, {"metric": "roc_auc", "rates": (0.7, 0.8), "n_per_group": (300, 400), "base_rates": 0.4}),
    (1000, {"metric": "roc_auc", "rates": (0.99, 0.95), "n_per_group": (100, 1000), "base_rates": 0.5}),
]


@lru_cache(maxsize=200_000)
def log_p(x1, d1, x2, d2, overall, question, scale):
    pair = Pair(*(np.array([v]) for v in (x1, d1, x2, d2)), overall)
    return answer(pair, scale, question).log_p


def bounds_of(cell):
    margin = cell.get("margin")
    if margin is None:
        return None
    return (margin, 1 / margin) if cell.get("disparity") == "ratio" else (-margin, margin)


def contrasts_of(cell, groups):
    compare = cell.get("compare", "between_groups")
    if compare == "between_groups":
        return list(combinations(range(groups), 2))
    if compare == "to_reference":
        return [(g, groups - 1) for g in range(groups - 1)]
    return [(g, None) for g in range(groups)]


def global_rejection(p_values, alternative):
    """Holm's global test, or all comparisons for equivalence."""
    if not p_values:
        return False
    return max(p_values) <= ALPHA if alternative == "equivalence" else min(p_values) * len(p_values) <= ALPHA


def simulated_rates(cell, n_data_sets, rng):
    """Draw counts of every group, test every comparison."""
    n = cell["n_per_group"]
    bases = np.broadcast_to(cell.get("base_rates", 1.0), len(n))
    rates = cell["rates"]
    rows = list(rates.values()) if isinstance(rates, dict) else [rates]
    alternative = cell.get("alternative", "two-sided")
    question = Question(cell.get("disparity", "difference"), alternative, bounds_of(cell), cell.get("method", "auto"))
    scale = Scale()
    if cell["metric"] == "f1":
        scale = Scale(f1_of_jaccard, f1_slope)
        rows = [[f / (2 - f) for f in rows[0]]]
    overall = cell.get("compare") == "to_overall"
    rejections = 0
    for _ in range(n_data_sets):
        met = rng.binomial(n, bases)
        p_values = []
        for place, row in enumerate(rows):
            d = np.asarray(n) - met if place else met
            x = rng.binomial(d, row)
            for first, second in contrasts_of(cell, len(n)):
                if second is None:
                    x2, d2 = x.sum() - x[first], d.sum() - d[first]
                else:
                    x2, d2 = x[second], d[second]
                if d[first] and d2:
                    counts = (int(x[first]), int(d[first]), int(x2), int(d2))
                    p_values.append(np.exp(log_p(*counts, overall, question, scale)))
        rejections += global_rejection(p_values, alternative)
    return rejections / n_data_sets


def f1_of_jaccard(rate):
    return 2 * rate / (1 + rate)


def f1_slope(rate):
    return 2 / (1 + rate) ** 2


def simulated_means(cell, n_data_sets, rng):
    (m1, s1), (m2, s2) = cell["rates"]
    n1, n2 = cell["n_per_group"]
    first, second = rng.normal(m1, s1, (n_data_sets, n1)), rng.normal(m2, s2, (n_data_sets, n2))
    if "margin" not in cell:
        return float((ttest_ind(first, second, axis=1, equal_var=False).pvalue <= ALPHA).mean())
    low, high = bounds_of(cell)
    above = ttest_ind(first - low, second, axis=1, equal_var=False, alternative="greater").pvalue
    below = ttest_ind(first - high, second, axis=1, equal_var=False, alternative="less").pvalue
    return float((np.maximum(above, below) <= ALPHA).mean())


def simulated_areas(cell, n_data_sets, rng):
    """Exponential scores, for which Hanley and McNeil's formula holds: the area is ratio / (1 + ratio)."""
    rejections, groups = 0, np.repeat([0, 1], cell["n_per_group"])
    odds = np.repeat([area / (1 - area) for area in cell["rates"]], cell["n_per_group"])
    for _ in range(n_data_sets):
        y_true = rng.random(len(groups)) < cell["base_rates"]
        y_score = rng.exponential(np.where(y_true, odds, 1.0))
        test = FairnessTest.from_predictions(
            y_true, None, y_score=y_score, sensitive_features=groups, metric="roc_auc", random_state=0
        )
        rejections += test.p_value_ <= ALPHA
    return rejections / n_data_sets


def simulated(cell, n_data_sets, rng):
    if cell["metric"] == "mean_prediction":
        return simulated_means(cell, n_data_sets, rng)
    if cell["metric"] == "roc_auc":
        return simulated_areas(cell, n_data_sets, rng)
    return simulated_rates(cell, n_data_sets, rng)


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.power", description=__doc__.splitlines()[0])
    parser.add_argument(
        "--quick", action="store_true", help="the cheap cells, fewer data sets, nothing written: seconds"
    )
    options = parser.parse_args(argv)
    started, rows, failures = time.perf_counter(), [], []
    print("  computed  simulated  (error)    z   seconds  cell")
    for (n_data_sets, cell), seed in zip(CELLS, np.random.SeedSequence(SEED).spawn(len(CELLS)), strict=True):
        if options.quick and n_data_sets < QUICK_CELLS:
            continue
        n = n_data_sets // QUICK_PART if options.quick else n_data_sets
        begun = time.perf_counter()
        computed = power(**cell, alpha=ALPHA)
        seconds = time.perf_counter() - begun
        found = simulated(cell, n, np.random.default_rng(seed))
        log_p.cache_clear()
        # Several groups: the computed power is itself simulated, with 20,000 data sets.
        error = float(
            np.sqrt(computed * (1 - computed) * (1 / n + (1 / 20_000 if len(cell["n_per_group"]) > 2 else 0)))
        )
        words = ", ".join(f"{key}={value}" for key, value in cell.items())
        z = (found - computed) / error
        print(f"    {computed:.4f}     {found:.4f}  ({error:.4f})  {z:+.1f}   {seconds:5.1f}    {words}", flush=True)
        rows.append({**cell, "data_sets": n, "computed": round(computed, 5), "simulated": round(found, 5),
                     "monte_carlo_error": round(error, 5)})  # fmt: skip
        if abs(found - computed) > 4 * error + TOLERANCE:
            failures.append(f"{words}: computed {computed:.4f}, simulated {found:.4f}")
    print(f"{time.perf_counter() - started:.0f} s.")
    if not options.quick:
        write(
            RESULTS,
            "computed and simulated power of the global test; see benchmarks/power.py",
            SEED,
            level=ALPHA,
            cells=rows,
        )
    for failure in failures:
        print(f"FAILED {failure}", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
