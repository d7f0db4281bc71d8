"""How often tests of correlation reject uncorrelated data: ``python -m benchmarks.correlation [--quick]``.

Feature and outcome are uncorrelated but dependent: the outcome varies more where the feature is small. First the
simulation of DiCiccio et al. (2020, section 4.1; n = 2,000, about 1,000 permutations), in which the outcome is normal
noise over x^2 or |x|, by three tests: the package's, the ordinary permutation of the outcome, and FairTest's, which
shuffles feature and outcome into each other. Then Spearman's rank correlation at n = 500. Last, size, coverage of the
intervals with few people and heavy tails.

Without ``--quick`` the figures are written to benchmarks/results/validity_correlation.json with the seed and versions;
``--only intervals`` measures one of the two parts (10 minutes; sizes 11) and keeps the other.
"""

import argparse
import json
import sys
import time
from pathlib import Path

import numpy as np

from benchmarks.common import correlation_intervals as intervals
from benchmarks.common.results import write
from skfairtest.correlation.statistics import arrange, estimate, permuted
from skfairtest.inference.resampling import monte_carlo_p

SEED = 20201120
ALPHA = 0.05
#: A size above this is a failure: the tests hold their level in large samples, not exactly.
HIGHEST = 0.075
N_PEARSON, N_SPEARMAN = 2000, 500
#: FairTest counts 1,000 shuffles without the data themselves.
FAIRTEST_RESAMPLES = 1000
N_RESAMPLES = 999
QUICK_DATA_SETS = 10
RESULTS = Path(__file__).parent / "results" / "validity_correlation.json"

FEATURES = {
    "U(0.00001, 1)": lambda rng, n: rng.uniform(1e-5, 1, n),
    "Exp(1) + 1": lambda rng, n: rng.exponential(size=n) + 1,
}
NOISES = {
    "z / x^2": lambda rng, x: rng.normal(size=len(x)) / x**2,
    "z / |x|": lambda rng, x: rng.normal(size=len(x)) / x,
}
RANKED = {
    "z x^2": lambda rng, x: rng.normal(size=len(x)) * x**2,
    "x^2 + z": lambda rng, x: x**2 + rng.normal(size=len(x)),
}


def rejects(x, e, correlation, n_resamples, seed):
    """Whether the package's test rejects at the level."""
    pairs = arrange(x, e)
    observed = float(estimate(pairs, correlation).statistic[0, 0])
    drawn = permuted(pairs, correlation, n_resamples, seed)[:, 0, 0]
    return monte_carlo_p(drawn, observed, "two-sided")[0] <= ALPHA


def ordinary_rejects(x, e, n_resamples, rng):
    """Whether an ordinary permutation test of r rejects."""
    centred = x - x.mean()
    drawn = rng.permuted(np.tile(e - e.mean(), (n_resamples, 1)), axis=1) @ centred
    return monte_carlo_p(drawn, float((e - e.mean()) @ centred), "two-sided")[0] <= ALPHA


def fairtest_rejects(x, e, rng):
    """Whether FairTest's test rejects: values of both are shuffled together and split anew; its own p-value."""
    n = len(x)
    drawn = rng.permuted(np.tile(np.concatenate([x, e]), (FAIRTEST_RESAMPLES, 1)), axis=1)
    left, right = (part - part.mean(axis=1, keepdims=True) for part in (drawn[:, :n], drawn[:, n:]))
    top = np.einsum("ij,ij->i", left, right)
    r = top / np.sqrt(np.einsum("ij,ij->i", left, left) * np.einsum("ij,ij->i", right, right))
    beyond = int((np.abs(r) > abs(np.corrcoef(x, e)[0, 1])).sum())
    return max(beyond, 1) / FAIRTEST_RESAMPLES < ALPHA


def figure(rejections):
    """A share of rejections and its Monte-Carlo error."""
    size = float(np.mean(rejections))
    return {
        "size": round(size, 5),
        "error": round(float(np.sqrt(size * (1 - size) / len(rejections))), 5),
        "data_sets": len(rejections),
    }


def simulate(n_data_sets, n_compared, n_resamples, sequence):
    """One entry for each design: its size by each test."""
    designs = [
        (name, noise, N_PEARSON, "pearson", draw, spoil)
        for name, draw in FEATURES.items()
        for noise, spoil in NOISES.items()
    ]
    designs += [
        ("N(0, 1)", noise, N_SPEARMAN, "spearman", lambda rng, n: rng.normal(size=n), spoil)
        for noise, spoil in RANKED.items()
    ]
    for (name, noise, n, correlation, draw, spoil), child in zip(designs, sequence.spawn(len(designs)), strict=True):
        found = {"studentized": [], "ordinary": [], "fairtest": []}
        for position, seed in enumerate(child.spawn(n_data_sets)):
            own, theirs = seed.spawn(2)
            rng = np.random.default_rng(own)
            x = draw(rng, n)
            e = spoil(rng, x)
            found["studentized"].append(rejects(x, e, correlation, n_resamples, theirs))
            if correlation == "pearson" and position < n_compared:
                found["ordinary"].append(ordinary_rejects(x, e, n_resamples, rng))
                found["fairtest"].append(fairtest_rejects(x, e, rng))
        yield {
            "feature": name,
            "outcome": noise,
            "people": n,
            "correlation": correlation,
            **{test: figure(rejections) for test, rejections in found.items() if rejections},
        }


def measure_sizes(*, quick):
    """Print and return the cells of the sizes, and which are too large."""
    n_data_sets, n_compared, n_resamples = (40, 5, 199) if quick else (2000, 600, N_RESAMPLES)
    print(f"Uncorrelated but dependent data rejected at level {ALPHA:g}, with the Monte-Carlo error;")
    print(f"{n_data_sets} data sets of {n_resamples} permutations ({n_compared} data sets for the other tests).")
    print()
    print("  feature        outcome   people  correlation  studentized    ordinary       FairTest")
    cells = []
    for cell in simulate(n_data_sets, n_compared, n_resamples, np.random.SeedSequence(SEED)):
        cells.append(cell)
        figures = "   ".join(
            f"{cell[test]['size']:.3f} ({cell[test]['error']:.3f})"
            for test in ("studentized", "ordinary", "fairtest")
            if test in cell
        )
        print(
            f"  {cell['feature']:<14} {cell['outcome']:<9} {cell['people']:>6}  {cell['correlation']:<11}  {figures}",
            flush=True,
        )
    return cells, [
        f"{cell['feature']}, {cell['outcome']}: rejected {cell['studentized']['size']}"
        for cell in cells
        if cell["studentized"]["size"] > HIGHEST + 3 * cell["studentized"]["error"]
    ]


def measure_intervals(*, quick):
    """Print and return the cells of the intervals, and what they break of the promises."""
    chosen = [design for design in intervals.designs() if design.people == 40 or not quick]
    n_resamples = 199 if quick else 499
    print("Correlation with heavy tails: rejected, coverage of 95% intervals (of all features together);")
    print(f"{n_resamples} permutations.")
    print()
    cells, failures = [], []
    for design, child in zip(chosen, np.random.SeedSequence([SEED, 1]).spawn(len(chosen)), strict=True):
        n_data_sets = 2000 if design.people <= 40 else 1000
        cell = intervals.simulate(design, QUICK_DATA_SETS if quick else n_data_sets, n_resamples, child)
        cells.append(cell)
        what = f"{cell['design']}, r = {cell['true_correlation']:g}, {cell['people']:,} people"
        test = f"{cell['correlation']} {cell['alternative']} x {cell['features']} {cell['adjust']}"
        shares = "  ".join(f"{cell[key]['share']:.3f} ({cell[key]['error']:.3f})" for key in intervals.SHARES)
        print(f"  {what:<46} {test:<32} {shares}", flush=True)
        # With the few data sets of a quick run chance alone breaks a coverage of .93.
        failures += [f"{what}, {test}: {why}" for why in intervals.broken(cell, slack=4.0 if quick else 0.0)]
    return cells, failures


#: The parts of the results, and what measures them.
PARTS = {"cells": measure_sizes, "intervals": measure_intervals}


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.correlation", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer data sets, nothing written: a few seconds")
    parser.add_argument("--only", choices=PARTS, help="measure one part, and keep the other as it is stored")
    options = parser.parse_args(argv)
    started = time.perf_counter()
    stored = json.loads(RESULTS.read_text()) if options.only and not options.quick else {}
    found, failures = {name: stored[name] for name in PARTS if name in stored}, []
    for name in [options.only] if options.only else PARTS:
        found[name], broken = PARTS[name](quick=options.quick)
        failures += broken
        print(f"\n{time.perf_counter() - started:.0f} s.\n")
    for failure in failures:
        print(f"FAILED {failure}", file=sys.stderr)
    if not options.quick:
        write(
            RESULTS,
            "size of tests of correlation on uncorrelated but dependent data, and their intervals; see "
            "benchmarks/correlation.py",
            SEED,
            level=ALPHA,
            permutations=N_RESAMPLES,
            **{name: found[name] for name in PARTS if name in found},
        )
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
