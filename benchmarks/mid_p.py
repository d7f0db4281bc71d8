"""Level and coverage of exact and of mid-p inference for the odds ratio: ``python -m benchmarks.mid_p``.

Two groups of independent people; every outcome is enumerated, so that the figures have no Monte-Carlo error. Stored in
benchmarks/results/mid_p.json: over rates of the second group and odds ratios, the mean and the extreme level of the
two-sided test and coverage of the 95% limits. ``--quick`` looks at the smallest groups and stores nothing.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
from scipy.stats import binom

from benchmarks.common.cells import ALPHA
from benchmarks.common.results import write
from skfairtest.inference.conditional import conditional_log_p
from skfairtest.inference.odds_ratio import conditional_limits, mid_log_p

RESULTS = Path(__file__).parent / "results" / "mid_p.json"
WHAT = "level and coverage of exact and mid-p inference for the odds ratio, enumerated; see benchmarks/mid_p.py"
SIZES = ((10, 10), (20, 20), (10, 40), (50, 50))
RATES = np.linspace(0.05, 0.95, 19)
#: What is said of mid-p inference: that its level and coverage are about right.
LARGEST, SMALLEST = 0.055, 0.94
ODDS_RATIOS = (1.0, 1.5, 2.0, 3.0, 5.0, 10.0)


def enumerated(d1, d2):
    """Return, by method, log p-values of equality (d1 + 1, d2 + 1) and limits (2, d1 + 1, d2 + 1)."""
    shape = (d1 + 1, d2 + 1)
    p = {name: np.empty(shape) for name in ("exact", "mid-p")}
    limits = {name: np.empty((2, *shape)) for name in p}
    for x1, x2 in np.ndindex(shape):
        counts = tuple(np.array([n]) for n in (x1, d1, x2, d2))
        p["exact"][x1, x2] = conditional_log_p(x1, d1, x2, d2)
        p["mid-p"][x1, x2] = mid_log_p(*counts, p["exact"][x1, x2])
        for name in p:
            limits[name][:, x1, x2] = conditional_limits(*counts, ALPHA / 2, ALPHA / 2, mid=name == "mid-p")
    return p, limits


def figures(d1, d2):
    """Return one cell for each method."""
    p, limits = enumerated(d1, d2)
    x1, x2 = np.arange(d1 + 1), np.arange(d2 + 1)
    cells = []
    for name in p:
        level, coverage = [], []
        for rate in RATES:
            second = binom.pmf(x2, d2, rate)
            rejected = p[name] <= np.log(ALPHA) + 1e-12
            level.append(float(binom.pmf(x1, d1, rate) @ rejected @ second))
            for odds_ratio in ODDS_RATIOS:
                odds = odds_ratio * rate / (1 - rate)
                low, high = limits[name]
                inside = (low <= odds_ratio * (1 + 1e-9)) & (odds_ratio <= high * (1 + 1e-9))
                coverage.append(float(binom.pmf(x1, d1, odds / (1 + odds)) @ inside @ second))
        cells.append(
            {
                "people": [d1, d2], "method": name,
                "level": round(float(np.mean(level)), 5), "level_largest": round(max(level), 5),
                "coverage": round(float(np.mean(coverage)), 5), "coverage_smallest": round(min(coverage), 5),
            }
        )  # fmt: skip
    return cells


def broken(cells):
    """Say where exact figures are worse than is promised, or mid-p ones worse than is said of them."""
    for cell in cells:
        where = f"{cell['people']}, {cell['method']}"
        exact = cell["method"] == "exact"
        if cell["level_largest"] > (ALPHA + 1e-5 if exact else LARGEST):
            yield f"{where}: level {cell['level_largest']}"
        if cell["coverage_smallest"] < (1 - ALPHA - 1e-5 if exact else SMALLEST):
            yield f"{where}: coverage {cell['coverage_smallest']}"


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mid_p", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="the smallest groups, nothing stored")
    options = parser.parse_args(argv)
    cells = []
    for people in SIZES[:1] if options.quick else SIZES:
        cells += figures(*people)
        for cell in cells[-2:]:
            print(*cell.values(), sep=", ", flush=True)
    if not options.quick:
        write(RESULTS, WHAT, None, cells=cells)
    found = list(broken(cells))
    for where in found:
        print(f"FAILED {where}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
