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

from benchmarks.common.bounds import Promise
from benchmarks.common.cells import ALPHA
from benchmarks.common.inequality_cells import inequality_cells
from benchmarks.common.run import run
from benchmarks.common.storage import complete, load, store

RESULTS = Path(__file__).parents[1] / "benchmarks" / "results" / "inequality.json"
WHAT = "size, power and coverage of indices of inequality; see benchmarks/inequality.py"
#: Largest size and smallest coverage with at least so many people in each group.
LARGEST_SIZE, SMALLEST_COVERAGE, PEOPLE = 0.065, 0.93, 200
QUICK = 200  # data sets in benchmarks.validity --quick


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
