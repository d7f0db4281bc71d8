"""Size, power and coverage of the tests of inequality: ``python -m benchmarks.inequality``.

Two groups in which an index of inequality (or average odds) is equal and base rates and kinds of errors differ, with
ordinary and with few errors. Run and stored as the cells of `validity` are, in benchmarks/results/inequality.json.
"""

import argparse
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
from scipy.optimize import brentq

from benchmarks._bounds import Promise
from benchmarks._cells import ALPHA, Cell, by_truth
from benchmarks._run import run
from benchmarks.validity import complete, load, store

RESULTS = Path(__file__).parents[1] / "benchmarks" / "results" / "inequality.json"
WHAT = "size, power and coverage of indices of inequality; see benchmarks/inequality.py"
#: Largest size and smallest coverage with at least so many people in each group.
LARGEST_SIZE, SMALLEST_COVERAGE, PEOPLE = 0.065, 0.93, 200
QUICK = 200  # data sets in benchmarks.validity --quick
TRUE, PREDICTED = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])


def _of_benefits(index):
    """An index of benefits that are 0, 1 and 2, of classes 0 and 1 with weights."""

    def value(y_true, y_pred, sample_weight):
        return float(index(np.asarray(y_pred) - y_true + 1.0, np.asarray(sample_weight) / np.sum(sample_weight)))

    return value


INDICES = {
    "generalized_entropy": _of_benefits(lambda b, w: (w @ (b / (w @ b)) ** 2 - 1) / 2),
    "generalized_entropy_0.5": _of_benefits(lambda b, w: 4 * (1 - w @ np.sqrt(b / (w @ b)))),
    "theil_index": _of_benefits(lambda b, w: w @ (b / (w @ b) * np.log(np.where(b > 0, b, 1.0) / (w @ b)))),
    "atkinson_index": _of_benefits(lambda b, w: 1 - (w @ np.sqrt(b)) ** 2 / (w @ b)),
    "gini_index": _of_benefits(lambda b, w: w @ np.abs(b[:, None] - b) @ w / (2 * (w @ b))),
    "average_odds": lambda y_true, y_pred, sample_weight: float(
        np.mean([np.average(y_pred[y_true == c], weights=sample_weight[y_true == c]) for c in (0, 1)])
    ),
}


def with_index(base, fpr, metric, value):
    """Choose the true positive rate that gives this index."""

    def distance(tpr):
        return INDICES[metric](TRUE, PREDICTED, np.array(by_truth(base, tpr, fpr))) - value

    return by_truth(base, float(brentq(distance, 0.01, 1.0)), fpr)


def inequality_cells():
    """Indices of inequality, and average odds, of groups in which everything else differs: ordinary and few errors."""
    designs = (
        ("ordinary", by_truth(0.6, 0.75, 0.2), (0.3, 0.16), by_truth(0.5, 0.5, 0.3)),
        ("few errors", by_truth(0.5, 0.95, 0.04), (0.25, 0.02), by_truth(0.25, 0.8, 0.1)),
    )
    for metric, index in INDICES.items():
        for label, first, same, effect in designs:
            value = index(TRUE, PREDICTED, np.array(first))
            null = (first, with_index(*same, metric, value))
            for people in [(60, 1000), (200, 200), (1000, 1000)]:
                yield Cell(
                    f"inequality/{metric}/{label}/{people[0]}-{people[1]}", "table", metric, people, null,
                    (first, effect) if people == (200, 200) else None, 2000, 199,
                    competitors=False,
                )  # fmt: skip


def broken(cells, records):
    """Say where a figure is worse than is promised."""
    for cell in cells:
        figures = records[cell.name]["methods"]["permutation"]
        coverage = min(figures["coverage"], figures.get("coverage_effect", 1.0))
        if min(cell.people) >= PEOPLE and (figures["size"] > LARGEST_SIZE or coverage < SMALLEST_COVERAGE):
            yield f"{cell.name}: size {figures['size']:.4f}, coverage {coverage:.4f}"


def quick():
    """Check a few data sets of the indices whose tests have 200 people a group, within three Monte-Carlo errors."""
    says = f"inequality: size at most {LARGEST_SIZE} and coverage of at least {SMALLEST_COVERAGE}, {QUICK} data sets"
    promise = Promise(says)
    for cell in inequality_cells():
        if cell.name.endswith("ordinary/200-200"):
            figures = run(replace(cell, data_sets=QUICK, effect=None))["methods"]["permutation"]
            size, coverage = figures["size"], figures["coverage"]
            error = 3 * np.sqrt(ALPHA * (1 - ALPHA) / QUICK)
            held = size <= LARGEST_SIZE + error and coverage >= SMALLEST_COVERAGE - error
            promise.look(held, f"{cell.name}: size {size:.3f}, coverage {coverage:.3f}")
    return promise


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.inequality", description=__doc__.splitlines()[0])
    parser.add_argument("--processes", type=int, default=1, metavar="N")
    options = parser.parse_args(argv)
    cells, records = list(inequality_cells()), load(RESULTS)
    complete(cells, records, partial(store, RESULTS, records, cells, WHAT), options.processes)
    found = list(broken(cells, records))
    for where in found:
        print(f"FAILED {where}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
