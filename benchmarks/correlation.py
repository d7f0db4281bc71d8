"""How often tests of correlation reject uncorrelated data: ``python -m benchmarks.correlation [--quick]``.

Feature and outcome are uncorrelated but dependent: the outcome varies more where the feature is small. First the
simulation of DiCiccio et al. (2020, section 4.1; n = 2,000, about 1,000 permutations), in which the outcome is normal
noise over x^2 or |x|, by three tests: the package's, the ordinary permutation of the outcome, and FairTest's, which
shuffles feature and outcome into each other. Then Spearman's rank correlation at n = 500.

Without ``--quick`` the figures are written to benchmarks/results/validity_correlation.json with the seed and versions.
"""

import argparse
import sys
import time
from pathlib import Path

import numpy as np

from benchmarks._results import write
from skfairtest.inference.correlation import arrange, estimate, permuted
from skfairtest.inference.resampling import monte_carlo_p

SEED = 20201120
ALPHA = 0.05
#: A size above this is a failure: the tests hold their level in large samples, not exactly.
HIGHEST = 0.075
N_PEARSON, N_SPEARMAN = 2000, 500
#: FairTest counts 1,000 shuffles without the data themselves.
FAIRTEST_RESAMPLES = 1000
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


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.correlation", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer data sets, nothing written: a few seconds")
    options = parser.parse_args(argv)
    n_data_sets, n_compared, n_resamples = (40, 5, 199) if options.quick else (2000, 600, 999)
    started = time.perf_counter()
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
    print(f"\n{time.perf_counter() - started:.0f} s.")
    failures = [cell for cell in cells if cell["studentized"]["size"] > HIGHEST + 3 * cell["studentized"]["error"]]
    for cell in failures:
        print(f"FAILED {cell['feature']}, {cell['outcome']}: rejected {cell['studentized']['size']}", file=sys.stderr)
    if not options.quick:
        write(
            RESULTS,
            "size of tests of correlation on uncorrelated but dependent data; see benchmarks/correlation.py",
            SEED,
            level=ALPHA,
            permutations=n_resamples,
            cells=cells,
        )
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
