"""How fast the package is against what one would otherwise call: ``python -m benchmarks.speed rates``.

Every figure is a ratio of medians taken in one run on the same arrays. Nothing here is a test: machines differ, ratios
less.
"""

import argparse
import statistics
import sys
import time

import numpy as np
import pandas as pd
import scipy.stats
from fairlearn.metrics import MetricFrame, false_negative_rate

from skfairtest import FairnessTest

SEED = 1


def median_seconds(call, repetitions):
    """Median wall time of a call, after one call that is not counted."""
    call()
    times = []
    for _ in range(repetitions):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def people(n):
    """Two groups with string labels, a truth and predictions that miss a tenth of the positives."""
    rng = np.random.default_rng(SEED)
    groups = np.array(["group A", "group B"], dtype=object)[(rng.random(n) < 0.3).astype(int)]
    y_true = (rng.random(n) < 0.5).astype(int)
    y_pred = np.where(rng.random(n) < 0.1, 1 - y_true, y_true)
    return groups, y_true, y_pred


def bare_count(groups, y_true, y_pred):
    """Factorize the groups and count the eight cells: what any method has to do first."""
    codes, _ = pd.factorize(groups)
    return np.bincount(4 * codes + 2 * y_true + y_pred, minlength=8)


def fairness_test(groups, y_true, y_pred, **params):
    return FairnessTest.from_predictions(
        y_true, y_pred, sensitive_features=groups, metric="false_negative_rate", **params
    )


def scipy_resample_seconds(groups, y_true, y_pred, resamples):
    """Seconds of scipy.stats.permutation_test per resample, vectorized, on the misses of the truly positive people."""
    positive = y_true == 1
    missed = (y_pred[positive] == 0).astype(float)
    first = groups[positive] == "group A"

    def difference(a, b, axis):
        return a.mean(axis=axis) - b.mean(axis=axis)

    def call(n_resamples):
        start = time.perf_counter()
        scipy.stats.permutation_test(
            (missed[first], missed[~first]),
            difference,
            vectorized=True,
            n_resamples=n_resamples,
            batch=4,
            random_state=SEED,
        )
        return time.perf_counter() - start

    call(1)
    return (call(resamples + 4) - call(4)) / resamples


def rates(options):
    n = options.people
    groups, y_true, y_pred = arrays = people(n)
    permutation = {"method": "permutation", "n_resamples": 9999, "random_state": SEED}
    bare = median_seconds(lambda: bare_count(*arrays), 7)
    ours = median_seconds(lambda: fairness_test(*arrays, **permutation), 7)
    exact = median_seconds(lambda: fairness_test(*arrays), 7)
    frame = median_seconds(
        lambda: MetricFrame(
            metrics=false_negative_rate, y_true=y_true, y_pred=y_pred, sensitive_features=groups
        ).difference(),
        2,
    )
    resample = scipy_resample_seconds(groups, y_true, y_pred, 20)
    larger = people(10 * n)
    ten = median_seconds(lambda: fairness_test(*larger, **permutation), 3)
    print(f"{n:,} people, two groups with string labels, false negative rate; medians of one run.")
    rows = [
        ("factorize and count, nothing else", bare, ""),
        ("FairnessTest, 9,999 permutations", ours, f"{ours / bare:.2f} x the bare count (goal: at most 3)"),
        ("FairnessTest, exact law (the default)", exact, f"{exact / bare:.2f} x the bare count"),
        ("fairlearn MetricFrame, one number", frame, f"{frame / ours:,.0f} x slower (goal: at least 50)"),
        (
            "scipy permutation_test, 9,999 resamples",
            9999 * resample,
            f"{9999 * resample / ours:,.0f} x slower (goal: at least 1,000); "
            f"scaled up from {1000 * resample:.1f} ms a resample",
        ),
        (f"FairnessTest, {10 * n:,} people", ten, f"{ten / ours:.1f} x the time (goal: at most 12)"),
    ]
    for what, seconds, remark in rows:
        print(f"  {what:<42} {1000 * seconds:>12,.1f} ms   {remark}".rstrip())


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed", description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["rates"])
    parser.add_argument("--people", type=int, default=1_000_000)
    rates(parser.parse_args(argv))
    return 0


if __name__ == "__main__":
    sys.exit(main())
