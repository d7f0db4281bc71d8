"""How fast the package is against what one would otherwise call: ``python -m benchmarks.speed [WHAT]``.

Every figure is a ratio of medians taken in one run on the same arrays. Nothing here is a test: machines differ, ratios
less. With ``--store before`` and ``--store after`` what is printed goes to benchmarks/results/speed.json as well: two
versions of the package, measured in one sitting, stand beside each other there.
"""

import argparse
import contextlib
import io
import itertools
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from functools import partial
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import scipy.optimize
import scipy.special
import scipy.stats
from fairlearn.metrics import (
    MetricFrame,
    false_negative_rate,
    false_positive_rate,
    selection_rate,
    true_positive_rate,
)
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, f1_score, precision_score, roc_auc_score
from sklearn.model_selection import GridSearchCV
from sklearn.neural_network import MLPClassifier
from threadpoolctl import threadpool_limits

from benchmarks.common.adult_compas import People, load, split
from benchmarks.common.gradients import log_loss_gradient
from benchmarks.common.logistic_population import logistic
from benchmarks.common.results import write
from benchmarks.make_compas_counts import data_folder
from skfairtest import (
    FairnessAudit,
    FairnessTest,
    IndividualFairnessTest,
    PairedFairnessTest,
    Projection,
    ScoreMetric,
    SignificanceFrame,
    make_fairness_scorer,
)
from skfairtest.metrics import Context
from skfairtest.tables import Sample

SEED = 1
RESULTS = Path(__file__).parent / "results" / "speed.json"


def median_seconds(call, repetitions, clock=time.perf_counter):
    """Median time of a call, after one call that is not counted; wall time by default."""
    call()
    times = []
    for _ in range(repetitions):
        start = clock()
        call()
        times.append(clock() - start)
    return statistics.median(times)


#: Median CPU time of a call.
cpu_seconds = partial(median_seconds, clock=time.process_time)


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
        ("FairnessTest, exact distribution (the default)", exact, f"{exact / bare:.2f} x the bare count"),
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
        return quiet(
            y_true=y_true, y_pred=score, sensitive_features=groups, metric="roc_auc", method="permutation",
            n_resamples=n_resamples,
        )  # fmt: skip

    def two_areas():
        for group in (0, 1):
            roc_auc_score(y_true[groups == group], score[groups == group])

    def of_two_models(n_resamples):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return PairedFairnessTest.from_predictions(
                y_true, y_score_a=score, y_score_b=np.roll(score, 1), sensitive_features=groups, metric="roc_auc",
                n_resamples=n_resamples, random_state=SEED,
            )  # fmt: skip

    each = seconds_per_resample(ours, 50, 50 + options.resamples)
    theirs, paired = median_seconds(two_areas, 5), seconds_per_resample(of_two_models, 50, 50 + options.resamples)
    print(f"{n:,} people, AUC of both groups with DeLong's variances, labels permuted within y_true.")
    print(f"  FairnessTest, one resample                 {1000 * each:>12,.3f} ms   {1e9 * each / n:.1f} ns a person")
    print(
        f"  two calls of roc_auc_score                 {1000 * theirs:>12,.3f} ms   {theirs / each:,.1f} x slower, "
        "without variances (goal: at least 10, stretch 15)"
    )
    print(f"  PairedFairnessTest, two models             {1000 * paired:>12,.3f} ms   {paired / each:.1f} x (goal: 5)")


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
            return metric.functional(Context(values, None)).values(counts)[0]

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
            f"speed.quiet(y_true=a, y_pred=b, sensitive_features=groups, metric={name!r}, method='permutation',"
            f" n_resamples={n_resamples})\n"
            "print(peak() - before)\n"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        print(f"  {name:<20} {float(done.stdout):>6.0f} MB (goal: below 150)")
    n = 10_000_000
    code = (
        "from benchmarks import speed\n"
        f"names, y_true, y_pred = speed.many_people({n}, 10)\n"
        "speed.quiet(y_true=y_true[:999], y_pred=y_pred[:999], sensitive_features=names[:999], metric='recall')\n"
        "before = speed.peak_megabytes()\n"
        "speed.quiet(y_true=y_true, y_pred=y_pred, sensitive_features=names, metric='equalized_odds')\n"
        "print(speed.peak_megabytes() - before)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    print(f"  {n:,} people, rates {1e6 * float(done.stdout) / n:>5.1f} bytes a person (goal: 15)")


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


def many_people(n, n_groups):
    """Groups, truth and decisions of n people, drawn alike for all."""
    rng = np.random.default_rng(SEED)
    names = np.array([f"group {i:03}" for i in range(n_groups)])
    y_true = rng.integers(0, 2, n)
    y_pred = np.where(rng.random(n) < 0.2, 1 - y_true, y_true)
    return names[rng.integers(0, n_groups, n)], y_true, y_pred


def fit(options):
    """One fit of few groups against MetricFrame's point estimates, and of a million people against counting them."""
    rates_of_odds = {"tpr": true_positive_rate, "fpr": false_positive_rate}
    print("One fit, every pair of groups; medians of CPU time (goal: at most MetricFrame's).")
    asked = {"equalized_odds": rates_of_odds, "selection_rate": selection_rate}
    for (metric, theirs_of), n, n_groups in itertools.product(
        asked.items(), (1_000, 10_000, 100_000, 1_000_000), (2, 5, 10)
    ):
        names, y_true, y_pred = many_people(n, n_groups)
        shared = {"y_true": y_true, "y_pred": y_pred, "sensitive_features": names}
        ours = cpu_seconds(partial(quiet, metric=metric, **shared), 7)
        theirs = cpu_seconds(
            lambda shared=shared, metrics=theirs_of: MetricFrame(metrics=metrics, **shared).difference(), 3
        )
        print(
            f"  {metric}, {n:>9,} people, {n_groups:>2} groups {1000 * ours:>8.0f} ms   MetricFrame "
            f"{1000 * theirs:>8.0f} ms   {ours / theirs:.2f} x"
        )
    arrays = people(1_000_000)
    bare, ours = cpu_seconds(lambda: bare_count(*arrays), 7), cpu_seconds(lambda: fairness_test(*arrays), 7)
    print(
        f"  1,000,000 people,  2 groups {1000 * ours:>8.0f} ms   factorize and bincount {1000 * bare:.0f} ms   "
        f"{ours / bare:.2f} x (goal: at most 1.5)"
    )


def many(options):
    """One fit of many groups, which grows with their pairs; more than 100 are two features crossed."""
    print("One fit of equalized odds with many groups, CPU seconds of one call.")
    for n_groups, goal in ((50, ""), (100, ""), (200, " (goal: 5 s)")):
        names, y_true, y_pred = many_people(100_000, n_groups)
        numbers = np.unique(names, return_inverse=True)[1]
        features = pd.DataFrame({"first": numbers // 10, "second": numbers % 10})
        start = time.process_time()
        test = quiet(y_true=y_true, y_pred=y_pred, sensitive_features=features, metric="equalized_odds")
        spent = time.process_time() - start
        rows = len(test.comparisons_)
        print(
            f"  100,000 people, {n_groups:>3} groups, {rows:>6,} comparisons {spent:>8.2f} s   "
            f"{1e6 * spent / rows:.0f} us each{goal}"
        )


def search(options):
    """A grid search of 10 x 5 logistic regressions, scored by accuracy alone and by fairness as well."""
    rng = np.random.default_rng(SEED)
    X = pd.DataFrame(rng.normal(size=(5_000, 10)), columns=[f"x{i}" for i in range(10)])
    X["female"] = rng.integers(0, 2, len(X))
    y = (X["x0"] + 0.3 * X["female"] + rng.normal(size=len(X)) > 0).astype(int)

    def searched(**more):
        scoring = {"accuracy": "accuracy", **more}
        GridSearchCV(LogisticRegression(), {"C": np.logspace(-3, 2, 10)}, scoring=scoring, refit=False).fit(X, y)

    alone = cpu_seconds(searched, 3)
    print(f"{len(X):,} people, 50 fits of a logistic regression by accuracy alone: {alone:.2f} s of CPU.")
    for output in ("upper_bound", "disparity"):
        fair = make_fairness_scorer("equalized_odds", sensitive_features="female", output=output)
        ours = cpu_seconds(partial(searched, fair=fair), 3)
        print(
            f"  with the {output.replace('_', ' ')} of equalized odds {ours:>8.2f} s   {ours / alone:.2f} x (goal: 1.5)"
        )


def adults(n):
    """Sex, race and age band, label, decision and score of n people of Adult where its file is; else of random ones."""
    path = data_folder() / "adult.csv.gz"
    if path.exists():
        frame = pd.read_csv(path).head(n)
        numbers, y = frame.select_dtypes("number").drop(columns="income", errors="ignore"), frame["income"]
        y = (y.astype(str).str.contains(">50K") | (y.astype(str) == "1")).astype(int)
        model = LogisticRegression(max_iter=1000).fit((numbers - numbers.mean()) / numbers.std(), y)
        score = model.predict_proba((numbers - numbers.mean()) / numbers.std())[:, 1]
        source = "Adult"
    else:
        rng = np.random.default_rng(SEED)
        y = (rng.random(n) < 0.24).astype(int)
        score = scipy.special.expit(rng.normal(size=n) + y - 1)
        frame = pd.DataFrame({"age": rng.integers(17, 90, n), "sex": rng.choice(["Female", "Male"], n)})
        frame["race"] = rng.choice([f"race {i}" for i in range(5)], n, p=[0.85, 0.1, 0.03, 0.01, 0.01])
        source = "simulated"
    bands = pd.cut(frame["age"], [0, 25, 40, 60, 120], labels=["to 25", "26-40", "41-60", "over 60"])
    groups = pd.DataFrame({"sex": frame["sex"], "race": frame["race"], "age": bands.astype(str)})
    return source, groups, np.asarray(y), (score > 0.5).astype(int), score


def audit(options):
    """An audit by the standard metrics against MetricFrame alone, over the same groups and their crossings."""
    source, groups, y_true, y_pred, _ = adults(options.people)
    precision = partial(precision_score, zero_division=0)
    metrics = {
        "selection_rate": selection_rate,
        "true_positive_rate": true_positive_rate,
        "false_positive_rate": false_positive_rate,
        "precision": precision,
        "accuracy": accuracy_score,
    }
    names = [list(some) for size in (1, 2, 3) for some in itertools.combinations(groups.columns, size)]

    def frames():
        return [
            MetricFrame(metrics=metrics, y_true=y_true, y_pred=y_pred, sensitive_features=groups[some]).by_group
            for some in names
        ]

    def ours(**more):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of groups of one person, and of undefined rates
            params = {"sensitive_features": groups, "random_state": 0, **more}
            return FairnessAudit.from_predictions(y_true, y_pred, **params)

    started = time.process_time()
    found = ours()
    first = time.process_time() - started
    tables = median_seconds(frames, 3)
    print(f"{len(y_true):,} people ({source}), {', '.join(groups)} and all their crossings.")
    print(f"  MetricFrame, five metrics, {sum(map(len, frames()))} groups, no test {tables:>8.2f} s")
    print(
        f"  FairnessAudit, {len(found.comparisons_)} comparisons, the first call {first:>8.2f} s (CPU time; goal: 2 s)"
    )
    for what, more in (("", {}), (", two processes", {"n_jobs": 2})):
        seconds = median_seconds(partial(ours, **more), 3)
        rows = len(ours(**more).comparisons_)
        print(f"  FairnessAudit{what}, {rows} comparisons {seconds:>8.2f} s    {seconds / tables:.2f} x MetricFrame")
    page = found.to_html()
    print(f"  to_html                         {median_seconds(found.to_html, 3):>8.2f} s    {len(page) / 1e6:.1f} MB")


def audit_of_scores(n, n_jobs):
    """Audit n people by the metrics of labels and of scores; print how many, comparisons, and wall seconds."""
    source, groups, y_true, y_pred, score = adults(n)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of groups of one person, and of undefined values
        start = time.perf_counter()
        found = FairnessAudit.from_predictions(
            y_true, y_pred, y_score=score, sensitive_features=groups, random_state=0, n_jobs=n_jobs
        )
    seconds = time.perf_counter() - start
    print(seconds, len(found.comparisons_), f"{len(y_true):,} people ({source})", peak_megabytes(), sep="\t")


def scores(options):
    """An audit of scores, whose AUC and calibration are resampled, with one and with two processes."""
    for n_jobs in range(1, options.jobs + 1):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        code = f"from benchmarks import speed; speed.audit_of_scores({options.people}, {n_jobs})"
        done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        wall, comparisons, people, megabytes = done.stdout.strip().split("\t")
        print(
            f"  {people}, {comparisons} comparisons, n_jobs={n_jobs}: {float(wall):>8.1f} s, and {spent:.1f} s of CPU "
            f"with imports (goal: at most 20 s on a quiet core), {float(megabytes):.0f} MB with data and imports "
            "(goal: 400)"
        )


def simulated(n=400):
    """Two groups beside each other, and labels that depend on what tells people of a group apart."""
    random = np.random.RandomState(SEED)
    X = random.normal(0, 0.25, (n, 2))
    group = random.choice([False, True], p=[0.1, 0.9], size=n)
    centre = np.where(group[:, None], [-1.5, 0.0], [1.5, 0.0])
    X += centre
    weights = np.where(group[:, None], [-0.2, -0.01], [0.2, -0.01])
    score = ((X - centre) * weights).sum(axis=1) + 0.01 * random.normal(size=n)
    return X, (score > 0).astype(int)


def with_fitted_intercept(X, y, weights):
    """Return the logistic regression with these weights, and the intercept that fits."""
    away = X @ weights
    intercept = scipy.optimize.brentq(lambda bias: (scipy.special.expit(away + bias) - y).sum(), -40, 40, xtol=1e-12)
    return logistic(intercept, weights)


def grid(options):
    """The grid of models of the paper's simulation."""
    X, y = simulated()
    axis = np.linspace(-4, 4, options.grid)
    models = [with_fitted_intercept(X, y, np.array([a, b])) for a in axis for b in axis]
    steps = 0.02 / np.arange(1, 401) ** (2 / 3)
    params = {"regularization": 100.0, "steps": steps}
    similar = Projection([[1, 0]]).fit(X)

    def tested(model):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the first steps are long; the weights 0 move nobody; few people
            given = {"fair_metric": similar, "gradient": log_loss_gradient(model), **params}
            return IndividualFairnessTest.as_published(model, **given).fit(X, y)

    start = time.perf_counter()
    for model in models:
        tested(model)
    whole = time.perf_counter() - start
    print(f"{len(X)} people, {len(steps)} steps, logistic models on a grid of {options.grid} x {options.grid}.")
    print(
        f"  IndividualFairnessTest                     {whole:>12,.1f} s    {1000 * whole / len(models):.1f} ms a model"
    )


def census(n):
    """Return people for training and n people of Adult where its file is; else as many numbers, simulated."""
    if (data_folder() / "adult.csv.gz").exists():
        everybody, names = load("adult")
        train, test = split("adult", everybody, names, SEED)
        return "Adult", train.take(slice(2 * n)), test.take(slice(n))
    rng = np.random.default_rng(SEED)
    X = rng.normal(size=(3 * n, 40))
    y = (X[:, :5].sum(axis=1) + rng.normal(size=3 * n) > 0).astype(int)
    groups = X[:, :2] + rng.normal(size=(3 * n, 2)) > 0
    everybody = People(X, y, pd.DataFrame(groups, columns=["sex", "race"]))
    return "simulated", everybody.take(slice(n, None)), everybody.take(slice(n))


def audit_report(path, n_steps):
    """Test a trained model; print how, what came out, seconds and megabytes."""
    model, people = joblib.load(path)
    test = IndividualFairnessTest(model, statistic="ratio_of_means", steps=(n_steps, 5 / n_steps))
    few = people.take(slice(200))
    test.fit(few.X, few.y, sensitive_features=few.groups)  # imports
    before, start = peak_megabytes(), time.perf_counter()
    test.fit(people.X, people.y, sensitive_features=people.groups)
    seconds = time.perf_counter() - start
    print(test.solver_report_["gradient"], test.statistic_, seconds, peak_megabytes() - before)


CENSUS_MODELS = {
    "MLPClassifier": partial(MLPClassifier, (50,), max_iter=30, early_stopping=True, random_state=0),
    "GradientBoostingClassifier": partial(GradientBoostingClassifier, n_estimators=100, random_state=0),
    "HistGradientBoostingClassifier": partial(HistGradientBoostingClassifier, random_state=0),
}


def individual(options):
    """The test of individual fairness: a grid of small models, and large models of many people."""
    grid(options)
    source, train, people = census(options.people)
    print(
        f"{len(people.X):,} people ({source}), {people.X.shape[1]} features, {options.steps} steps or candidates; "
        "each model in a new process, memory above that of imports, model and people."
    )
    for name, make in CENSUS_MODELS.items():
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of training that is not finished
            path = str(Path(folder) / "model")
            joblib.dump((make().fit(train.X, train.y), people), path)
            code = f"from benchmarks import speed; speed.audit_report({path!r}, {options.steps})"
            done = subprocess.run(
                [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True
            )
        way, statistic, seconds, megabytes = done.stdout.split()
        goal = "   (goal: minutes on two cores)" if way == "search" else ""
        print(
            f"  {name:<31} {way:<9} {float(seconds):>8,.1f} s   "
            f"{float(megabytes):,.0f} MB   ratio of means {float(statistic):.3f}{goal}"
        )


def child_seconds(*arguments):
    """CPU seconds of a Python process of its own."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def imports(options):
    """What imports and the command's shortest answers cost, in processes that take turns."""
    pairs = {
        "import skfairtest": "import fairlearn",
        "from skfairtest import FairnessTest": "from fairlearn.metrics import MetricFrame",
        "from skfairtest import SignificanceFrame": "from fairlearn.metrics import MetricFrame",
        "from skfairtest import FairnessAudit": "from fairlearn.metrics import MetricFrame",
    }
    calls = {code: ("-c", code) for pair in pairs.items() for code in pair} | {
        "skfairtest --version": ("-m", "skfairtest", "--version")
    }
    seconds = {what: [] for what in calls}
    for turn in range(options.processes + 1):
        for what, arguments in calls.items():
            spent = child_seconds(*arguments)
            if turn:  # the first one may compile, and reads files that nobody has read
                seconds[what].append(spent)
    median = {what: statistics.median(found) for what, found in seconds.items()}
    print(f"CPU seconds of a process, medians of {options.processes} each, which took turns.")
    for ours, theirs in pairs.items():
        print(
            f"  {ours:<42} {median[ours]:>6.3f} s   {theirs:<41} {median[theirs]:>6.3f} s   "
            f"{median[ours] / median[theirs]:.2f} x (goal: at most 1.15)"
        )
    print(f"  {'skfairtest --version':<42} {median['skfairtest --version']:>6.3f} s")


COMMANDS = {
    "rates": rates,
    "fit": fit,
    "many": many,
    "search": search,
    "auc": auc,
    "mean": mean,
    "callables": callables,
    "frame": frame,
    "memory": memory,
    "audit": audit,
    "scores": scores,
    "individual": individual,
    "import": imports,
}
#: People, where nobody asks for a number.
PEOPLE = {"rates": 1_000_000, "audit": 48_842, "scores": 48_842, "individual": 9_000}


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed", description=__doc__.splitlines()[0])
    parser.add_argument("what", nargs="?", choices=[*COMMANDS, "all"], default="all")
    parser.add_argument(
        "--people",
        type=int,
        help="default: a million for rates, Adult for audit and scores, 9,000 for individual, else 100,000",
    )
    parser.add_argument("--resamples", type=int, default=400, help="resamples that are timed")
    parser.add_argument("--processes", type=int, default=15, help="processes that are timed of each import")
    parser.add_argument("--jobs", type=int, choices=(1, 2), default=2, help="processes up to which scores are audited")
    parser.add_argument("--store", choices=("before", "after"), help="store what is printed under this name")
    parser.add_argument("--steps", type=int, default=500, help="steps or candidates of individual")
    parser.add_argument("--grid", type=int, default=21, help="models along each side of individual's grid")
    options = parser.parse_args(argv)
    asked = options.people
    for what in COMMANDS if options.what == "all" else [options.what]:
        options.people = asked or PEOPLE.get(what, 100_000)
        printed = io.StringIO()
        # Threads that wait for each other would be counted as the work of one process or the other.
        with contextlib.redirect_stdout(printed) if options.store else contextlib.nullcontext(), threadpool_limits(1):
            COMMANDS[what](options)
        if options.store:
            print(printed.getvalue(), end="")
            stored = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
            found = {name: stored.get(name, {}) for name in ("before", "after")}
            found[options.store][what] = printed.getvalue().splitlines()
            write(RESULTS, "times of one sitting; see benchmarks/speed.py", SEED, **found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
