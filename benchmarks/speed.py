"""How fast the package is against what one would otherwise call: ``python -m benchmarks.speed [WHAT]``.

Every figure is a ratio of medians taken in one run on the same arrays. Nothing here is a test: machines differ, ratios
less.
"""

import argparse
import resource
import statistics
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import scipy.stats
from fairlearn.metrics import MetricFrame, false_negative_rate, selection_rate
from sklearn.metrics import accuracy_score, f1_score, roc_auc_score

from skfairtest import FairnessTest, ScoreMetric, SignificanceFrame
from skfairtest.metrics import Context
from skfairtest.tables import Sample

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


def scored_people(n):
    """Two groups, a truth and scores without ties; a target and its predictions."""
    rng = np.random.default_rng(SEED)
    groups = (rng.random(n) < 0.5).astype(int)
    y_true = (rng.random(n) < 0.5).astype(int)
    score = rng.random(n) + 0.3 * y_true
    target = rng.normal(size=n)
    return groups, y_true, score, target, target + rng.normal(size=n)


def seconds_per_resample(call, few, many):
    """Seconds of one more resample: what does not depend on their number is left out."""
    call(few)
    starts = []
    for n_resamples in (few, many):
        start = time.perf_counter()
        call(n_resamples)
        starts.append(time.perf_counter() - start)
    return (starts[1] - starts[0]) / (many - few)


def quiet(**arguments):
    """Run a test without the warning that so few resamples cannot reject, or that it takes long."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return FairnessTest.from_predictions(random_state=SEED, **arguments)


def auc(options):
    n = options.people
    groups, y_true, score, *_ = scored_people(n)

    def ours(n_resamples):
        return quiet(y_true=y_true, y_pred=score, sensitive_features=groups, metric="roc_auc", n_resamples=n_resamples)

    def two_areas():
        for group in (0, 1):
            roc_auc_score(y_true[groups == group], score[groups == group])

    each = seconds_per_resample(ours, 50, 50 + options.resamples)
    theirs = median_seconds(two_areas, 5)
    print(f"{n:,} people, AUC of both groups with DeLong's variances, labels permuted within y_true.")
    print(f"  FairnessTest, one resample                 {1000 * each:>12,.3f} ms   {1e9 * each / n:.1f} ns a person")
    print(
        f"  two calls of roc_auc_score                 {1000 * theirs:>12,.3f} ms   {theirs / each:,.1f} x slower, "
        "without variances (goal: at least 10, stretch 15)"
    )


def mean(options):
    n = options.people
    groups, _, _, target, predicted = scored_people(n)
    squared = (target - predicted) ** 2
    sides = (squared[groups == 0], squared[groups == 1])

    def ours(n_resamples):
        return quiet(
            y_true=target, y_pred=predicted, sensitive_features=groups, metric="mean_squared_error",
            n_resamples=n_resamples,
        )  # fmt: skip

    def welch(a, b, axis):
        spread = a.var(axis=axis, ddof=1) / a.shape[axis] + b.var(axis=axis, ddof=1) / b.shape[axis]
        return (a.mean(axis=axis) - b.mean(axis=axis)) / np.sqrt(spread)

    def theirs(n_resamples):
        scipy.stats.permutation_test(sides, welch, vectorized=True, n_resamples=n_resamples, batch=4, random_state=SEED)

    each = seconds_per_resample(ours, 50, 50 + options.resamples)
    other = seconds_per_resample(theirs, 4, 4 + max(8, options.resamples // 20))
    print(f"{n:,} people, mean squared error with Welch's statistic.")
    print(f"  FairnessTest, one resample                 {1000 * each:>12,.3f} ms   {1e9 * each / n:.1f} ns a person")
    print(
        f"  scipy permutation_test, one resample       {1000 * other:>12,.3f} ms   {other / each:,.1f} x slower "
        "(goal: at least 5)"
    )


def callables(options):
    print("sklearn.metrics.f1_score of one group: its different rows with counts as weights, against all its rows.")
    metric = ScoreMetric("f1", f1_score)
    for n in (100_000, 1_000_000):
        _, y_true, _, *_ = scored_people(n)
        rng = np.random.default_rng(SEED)
        y_pred = np.where(rng.random(n) < 0.2, 1 - y_true, y_true)
        sample = Sample.from_predictions(y_true, y_pred, sensitive_features=np.zeros(n, dtype=int))
        kinds = sample.kinds(["y_true", "y_pred"])
        counts = kinds.counts[0].astype(float)
        values = kinds.values

        def evaluated(counts=counts, values=values):
            # A new functional each time: nothing is remembered from the call before.
            return metric.functional(Context(values, None, counts.shape[1])).values(counts)[0]

        if abs(evaluated() - f1_score(y_true, y_pred)) > 1e-12:
            raise SystemExit("the two values differ")
        ours = median_seconds(evaluated, 15)
        rows = median_seconds(lambda y_true=y_true, y_pred=y_pred: f1_score(y_true, y_pred), 5)
        goal = 4 if n == 100_000 else 30
        print(
            f"  {n:>9,} people: {1000 * ours:.2f} ms against {1000 * rows:,.1f} ms, {rows / ours:,.1f} x "
            f"(goal: at least {goal})"
        )


def peak_megabytes():
    """Return the largest memory of this process so far."""
    status = Path("/proc/self/status")
    if status.exists():  # getrusage would count what the parent process had when it started this one
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def memory(options):
    n, n_resamples = 1_000_000, 999
    print(f"Peak memory above imports and input, {n:,} people, {n_resamples} resamples (each in a new process).")
    for name in ("roc_auc", "mean_squared_error"):
        code = (
            "from benchmarks import speed\n"
            f"groups, y_true, score, target, predicted = speed.scored_people({n})\n"
            f"a, b = (y_true, score) if {name!r} == 'roc_auc' else (target, predicted)\n"
            "speed.quiet(y_true=y_true[:100], y_pred=score[:100], sensitive_features=groups[:100], metric='roc_auc',"
            " n_resamples=9)\n"
            "peak = speed.peak_megabytes\n"
            "before = peak()\n"
            f"speed.quiet(y_true=a, y_pred=b, sensitive_features=groups, metric={name!r}, n_resamples={n_resamples})\n"
            "print(peak() - before)\n"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        print(f"  {name:<20} {float(done.stdout):>6.0f} MB (goal: below 150)")


def frame(options):
    """A frame with tests against the frame without, and against its bootstrap."""
    n = options.people
    groups, y_true, y_pred = people(n)
    arguments = {
        "metrics": {"selection": selection_rate, "misses": false_negative_rate, "accuracy": accuracy_score},
        "y_true": y_true,
        "y_pred": y_pred,
        "sensitive_features": groups,
    }
    boot = {"n_boot": 4, "ci_quantiles": [0.025, 0.975], "random_state": SEED}
    plain = median_seconds(lambda: MetricFrame(**arguments), 3)
    tested = median_seconds(lambda: SignificanceFrame(**arguments).difference_test(), 3)
    sample = (median_seconds(lambda: MetricFrame(**arguments, **boot), 1) - plain) / boot["n_boot"]
    print(f"{n:,} people, three rates by two groups; medians of one run.")
    rows = [
        ("MetricFrame", plain, ""),
        ("SignificanceFrame and its tests", tested, f"{tested / plain:.2f} x MetricFrame"),
        (
            "MetricFrame, 1,000 bootstrap samples",
            plain + 1000 * sample,
            f"{(plain + 1000 * sample) / tested:,.0f} x slower; scaled up from {1000 * sample:,.0f} ms a sample",
        ),
    ]
    for what, seconds, remark in rows:
        print(f"  {what:<38} {1000 * seconds:>12,.0f} ms   {remark}".rstrip())


COMMANDS = {"rates": rates, "auc": auc, "mean": mean, "callables": callables, "frame": frame, "memory": memory}


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed", description=__doc__.splitlines()[0])
    parser.add_argument("what", nargs="?", choices=[*COMMANDS, "all"], default="all")
    parser.add_argument("--people", type=int, help="default: a million for rates, else 100,000")
    parser.add_argument("--resamples", type=int, default=400, help="resamples that are timed")
    options = parser.parse_args(argv)
    asked = options.people
    for what in COMMANDS if options.what == "all" else [options.what]:
        options.people = asked or (1_000_000 if what == "rates" else 100_000)
        COMMANDS[what](options)
    return 0


if __name__ == "__main__":
    sys.exit(main())
