"""How often each method rejects a fair model, and an unfair one: ``python -m benchmarks.validity [--quick]``.

The metric is the false negative rate. Group sizes, base rates and the rate itself run over a grid on which the
textbook methods are known to fail. For the two exact tests nothing is simulated but the denominators: given how many
people of each group are truly positive, size and power are sums over all outcomes. The two permutation methods without
an exact law are simulated on the same grid with the package's own code.

Without ``--quick`` the figures are written to benchmarks/results/validity_rates.json with the seed and the versions.
"""

import argparse
import json
import platform
import sys
import time
from itertools import product
from pathlib import Path

import numpy as np
import scipy

import skfairtest
from skfairtest.inference.rate_draws import Contrast, RateTable, joint_permutations, observed_statistics
from skfairtest.inference.rates import Scale
from skfairtest.inference.regions import conditional_region, probability_of, unconditional_region
from skfairtest.inference.resampling import monte_carlo_p
from skfairtest.inference.unconditional import unconditional_log_p

SEED = 20201120
ALPHA = 0.05
SIZES = [(30, 1000), (50, 500), (200, 200), (400, 100)]
BASE_RATES = [(0.8, 0.2), (0.2, 0.8), (0.1, 0.1), (0.5, 0.1)]
RATES = [0.02, 0.1, 0.4]
#: The second group's rate when power is measured: this much higher.
EFFECT = 0.2
RESULTS = Path(__file__).parent / "results" / "validity_rates.json"


def exact_cells(n_denominators, rng):
    """Size and power of Boschloo's and Fisher's test in every cell, averaged over drawn denominators."""
    cells = {}
    for sizes, bases in product(SIZES, BASE_RATES):
        drawn = [
            tuple(int(rng.binomial(n, base)) for n, base in zip(sizes, bases, strict=True))
            for _ in range(n_denominators)
        ]
        regions = {}
        for d1, d2 in set(drawn):
            if min(d1, d2) > 0:
                regions[d1, d2] = (unconditional_region(d1, d2, ALPHA), conditional_region(d1, d2, ALPHA))
        check_region(regions, rng)
        for rate in RATES:
            figures = []
            for pair in drawn:
                if pair not in regions:  # nobody is truly positive in a group: no test, no rejection
                    figures.append((0.0, 0.0, 0.0, 0.0))
                    continue
                boschloo, fisher = regions[pair]
                figures.append(
                    (
                        probability_of(boschloo, rate, rate),
                        probability_of(fisher, rate, rate),
                        probability_of(boschloo, rate, rate + EFFECT),
                        probability_of(fisher, rate, rate + EFFECT),
                    )
                )
            means = np.mean(figures, axis=0)
            errors = np.std(figures, axis=0) / np.sqrt(len(figures))
            cells[sizes, bases, rate] = {
                "exact_size": means[0],
                "exact_size_error": errors[0],
                "exact_largest_size": float(np.max(figures, axis=0)[0]),
                "fisher_size": means[1],
                "exact_power": means[2],
                "fisher_power": means[3],
            }
    return cells


def check_region(regions, rng):
    """The regions are those of the test that users run: compare outcomes on both sides of the border."""
    (d1, d2), (region, _) = next(iter(regions.items()))
    for _ in range(10):
        x1, x2 = int(rng.integers(d1 + 1)), int(rng.integers(d2 + 1))
        rejected = unconditional_log_p(x1, d1, x2, d2) <= np.log(ALPHA)
        if rejected != region[x1, x2]:
            raise SystemExit(f"region and test disagree at {x1}/{d1} against {x2}/{d2}")


def simulated_size(sizes, bases, rate, variance, n_repetitions, n_resamples, rng):
    """Rejections of a permutation of all labels ("delta": the KDD'20 statistic, None: the raw difference)."""
    rejections = 0
    # Cells: truly negative; found; missed. The metric is missed / (found + missed).
    event, given = np.array([False, False, True]), np.array([False, True, True])
    for _ in range(n_repetitions):
        counts = np.array(
            [
                rng.multinomial(n, [1 - base, base * (1 - rate), base * rate])
                for n, base in zip(sizes, bases, strict=True)
            ]
        )[None]
        table = RateTable(counts, event, given, ((0, 1, 2),))
        arguments = ([Contrast(0, 1)], Scale(), "difference", variance)
        observed = observed_statistics(table, *arguments)[0][0]
        if np.isnan(observed):
            continue
        drawn = joint_permutations(table, *arguments, n_resamples, rng)[:, 0]
        rejections += monte_carlo_p(drawn, float(observed), "two-sided")[0] <= ALPHA
    return rejections / n_repetitions


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.validity", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer repetitions, nothing written: under two minutes")
    options = parser.parse_args(argv)
    n_denominators, n_repetitions, n_resamples = (6, 200, 199) if options.quick else (60, 2000, 999)
    started = time.perf_counter()
    exact_rng, simulation_rng = (np.random.default_rng(s) for s in np.random.SeedSequence(SEED).spawn(2))
    cells = exact_cells(n_denominators, exact_rng)
    failures = []
    print(f"False negative rate equal in both groups (size) or {EFFECT:g} apart (power), level {ALPHA:g}.")
    print(f"Exact and Fisher: enumerated given the denominators, {n_denominators} of which are drawn per cell.")
    error = np.sqrt(ALPHA * (1 - ALPHA) / n_repetitions)
    print(f"KDD'20 and raw: {n_repetitions} data sets of {n_resamples} permutations; error {error:.3f} at .05.")
    print()
    print("  people      base rates  FNR   | size:  exact  fisher  KDD'20    raw | power:  exact  fisher")
    for (sizes, bases, rate), cell in cells.items():
        arguments = (sizes, bases, rate)
        cell["kdd20_size"] = simulated_size(*arguments, "delta", n_repetitions, n_resamples, simulation_rng)
        cell["raw_size"] = simulated_size(*arguments, None, n_repetitions, n_resamples, simulation_rng)
        print(
            f"  {sizes[0]:>3}, {sizes[1]:>4}   {bases[0]:.1f}, {bases[1]:.1f}    {rate:.2f}  |"
            f"        {cell['exact_size']:.3f}   {cell['fisher_size']:.3f}"
            f"   {cell['kdd20_size']:.3f}   {cell['raw_size']:.3f} |"
            f"         {cell['exact_power']:.3f}   {cell['fisher_power']:.3f}"
        )
        if cell["exact_size"] > ALPHA + 3 * cell["exact_size_error"] or cell["exact_largest_size"] > ALPHA + 1e-9:
            failures.append(f"{arguments}: the exact test rejects a fair model {cell['exact_size']:.4f} of the time")
        if cell["exact_power"] < cell["fisher_power"] - 1e-12:
            failures.append(f"{arguments}: the exact test has less power than Fisher's")
    worst = {name: max(cell[name] for cell in cells.values()) for name in ("exact_size", "kdd20_size", "raw_size")}
    print()
    print(
        f"Largest size: exact {worst['exact_size']:.3f}, KDD'20 statistic {worst['kdd20_size']:.3f}, "
        f"raw difference {worst['raw_size']:.3f}. {time.perf_counter() - started:.0f} s."
    )
    if not options.quick:
        write(cells, n_denominators, n_repetitions, n_resamples)
    for failure in failures:
        print(f"FAILED {failure}", file=sys.stderr)
    return 1 if failures else 0


def write(cells, n_denominators, n_repetitions, n_resamples):
    RESULTS.parent.mkdir(exist_ok=True)
    document = {
        "what": "size and power of tests of equal false negative rates; see benchmarks/validity.py",
        "seed": SEED,
        "versions": {
            "skfairtest": skfairtest.__version__,
            "numpy": np.__version__,
            "scipy": scipy.__version__,
            "python": platform.python_version(),
        },
        "level": ALPHA,
        "effect": EFFECT,
        "denominators_per_cell": n_denominators,
        "data_sets_per_cell": n_repetitions,
        "permutations": n_resamples,
        "cells": [
            {"people": sizes, "base_rates": bases, "false_negative_rate": rate}
            | {name: round(float(value), 6) for name, value in cell.items()}
            for (sizes, bases, rate), cell in cells.items()
        ],
    }
    RESULTS.write_text(json.dumps(document, indent=1) + "\n")
    print(f"Written to {RESULTS.relative_to(Path.cwd()) if RESULTS.is_relative_to(Path.cwd()) else RESULTS.name}.")


if __name__ == "__main__":
    sys.exit(main())
