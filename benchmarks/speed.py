"""How fast the package is against what one would otherwise call: ``python -m benchmarks.speed [ROW ...]``.

A row is a table of calls that take turns in a process of its own; printed are the median CPU time of each, its ratio
to the first, and the megabytes that its first run added to the peak. ``--save`` stores them in
benchmarks/results/speed.json, and what engines count (``engines``: against their own GROUP BY of the same Parquet file)
in scale.json with the error of scores in bins. Nothing here is a test: machines differ, ratios less.
"""

import argparse
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

import numpy as np
import pandas as pd
import pyarrow
import pyarrow.parquet
import scipy.stats
from fairlearn.metrics import MetricFrame, false_negative_rate, selection_rate
from scipy.special import expit
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, f1_score, precision_score, roc_auc_score
from sklearn.model_selection import GridSearchCV
from sklearn.neural_network import MLPClassifier
from threadpoolctl import threadpool_limits

from benchmarks.common.results import write
from skfairtest import (
    CountTable,
    FairnessAudit,
    FairnessTest,
    IndividualFairnessTest,
    PairedFairnessTest,
    ScoreMetric,
    SignificanceFrame,
    make_fairness_scorer,
)

SEED, RESAMPLES = 16, 199
RESULTS = Path(__file__).parent / "results"
ENGINES = ("polars", "duckdb")
RACES = ("Asian", "Black", "Hispanic", "Native", "Other", "Pacific", "Two or more", "White")
COLUMNS = {"y_true": "qualified", "y_pred": "approved", "sensitive_features": "race"}
tested = partial(FairnessTest.from_predictions, random_state=SEED)


def people(n, n_groups=2, *, spread=1.0):
    """Groups, truth, decisions and scores of n people, drawn alike for all groups."""
    rng = np.random.default_rng(SEED)
    names = np.array([f"group {i:03}" for i in range(n_groups)], dtype=object)
    y_true = rng.integers(0, 2, n)
    score = expit(spread * rng.normal(size=n) + 2 * y_true - 1)
    return names[rng.integers(0, n_groups, n)], y_true, (score > 0.5).astype(int), score


# Rows: of a number of people, the calls by what they do ------------------------------------------------------


def rates(n):
    group, y_true, y_pred, _ = people(n)
    asked = {"y_true": y_true, "y_pred": y_pred, "sensitive_features": group}

    def counted():
        return np.bincount(4 * pd.factorize(group)[0] + 2 * y_true + y_pred, minlength=8)

    return {
        "factorize and bincount": counted,
        "FairnessTest": partial(tested, **asked, metric="false_negative_rate"),
        "FairnessTest, 9,999 permutations": partial(
            tested, **asked, metric="false_negative_rate", method="permutation"
        ),
        "MetricFrame, one number": lambda: MetricFrame(metrics=false_negative_rate, **asked).difference(),
    }


def resamples(n):
    """Mean losses of two groups; SciPy permutes the same numbers with the same statistic."""
    group, y_true, _, score = people(n)
    loss, first = (y_true - score) ** 2, group == "group 000"

    def welch(a, b, axis):
        spread = a.var(axis=axis, ddof=1) / a.shape[axis] + b.var(axis=axis, ddof=1) / b.shape[axis]
        return (a.mean(axis=axis) - b.mean(axis=axis)) / np.sqrt(spread)

    def scipys():
        scipy.stats.permutation_test(
            (loss[first], loss[~first]), welch, vectorized=True, n_resamples=RESAMPLES, batch=4, random_state=SEED
        )

    given = {"y_true": y_true.astype(float), "y_pred": score, "sensitive_features": group}
    return {
        "FairnessTest": partial(tested, **given, metric="mean_squared_error", n_resamples=RESAMPLES),
        "scipy.stats.permutation_test": scipys,
    }


def areas(n):
    group, y_true, _, score = people(n)
    known = {"sensitive_features": group, "metric": "roc_auc", "n_resamples": RESAMPLES}

    def every_resample():
        for _ in range(RESAMPLES):
            for name in ("group 000", "group 001"):
                roc_auc_score(y_true[group == name], score[group == name])

    return {
        "FairnessTest": partial(tested, y_true, score, method="permutation", **known),
        "PairedFairnessTest": lambda: PairedFairnessTest.from_predictions(
            y_true, y_score_a=score, y_score_b=np.roll(score, 1), random_state=SEED, **known
        ),
        "roc_auc_score of both groups": every_resample,
    }


def functions(n):
    """A function that the user writes, of rows with counts as weights."""
    group, y_true, y_pred, _ = people(n)
    asked = {"y_true": y_true, "y_pred": y_pred, "sensitive_features": group}
    return {
        "FairnessTest of f1_score": partial(tested, **asked, metric=ScoreMetric("f1", f1_score), n_resamples=RESAMPLES),
        "f1_score, once": partial(f1_score, y_true, y_pred),
    }


def frames(n):
    group, y_true, y_pred, _ = people(n)
    metrics = {"selection": selection_rate, "misses": false_negative_rate, "accuracy": accuracy_score}
    asked = {"metrics": metrics, "y_true": y_true, "y_pred": y_pred, "sensitive_features": group}
    return {
        "MetricFrame": lambda: MetricFrame(**asked),
        "SignificanceFrame and its tests": lambda: SignificanceFrame(**asked).difference_test(),
        "MetricFrame, 20 bootstrap samples": lambda: MetricFrame(**asked, n_boot=20, ci_quantiles=[0.5]),
    }


def groups(n):
    """One fit of several groups; more than 100 are two features crossed."""
    out = {}
    for n_groups in (2, 10, 50, 200):
        group, y_true, y_pred, _ = people(n, n_groups)
        number = np.unique(group, return_inverse=True)[1]
        features = pd.DataFrame({"first": number // 10, "second": number % 10})
        asked = {"y_true": y_true, "y_pred": y_pred, "sensitive_features": features}
        out[f"MetricFrame, {n_groups} groups"] = lambda asked=asked: MetricFrame(metrics=selection_rate, **asked)
        out[f"FairnessTest, {n_groups} groups"] = partial(tested, **asked, metric="equalized_odds")
    return out


def search(n):
    """A grid search of 50 logistic regressions, scored by accuracy alone and by fairness as well."""
    rng = np.random.default_rng(SEED)
    X = pd.DataFrame(rng.normal(size=(n, 10)), columns=[f"x{i}" for i in range(10)])
    X["female"] = rng.integers(0, 2, n)
    y = (X["x0"] + 0.3 * X["female"] + rng.normal(size=n) > 0).astype(int)

    def searched(**more):
        scoring = {"accuracy": "accuracy", **more}
        GridSearchCV(LogisticRegression(), {"C": np.logspace(-3, 2, 10)}, scoring=scoring, refit=False).fit(X, y)

    fair = partial(make_fairness_scorer, "equalized_odds", sensitive_features="female")
    return {"by accuracy": searched} | {
        f"and by the {output} of equalized odds": partial(searched, fair=fair(output=output))
        for output in ("upper_bound", "disparity")
    }


def audits(n):
    """As many people as Adult has, their sex, race and age band, and all crossings."""
    rng = np.random.default_rng(SEED)
    _, y_true, y_pred, score = people(n)
    features = pd.DataFrame({
        "sex": rng.choice(["Female", "Male"], n),
        "race": rng.choice(list("abcde"), n, p=[0.85, 0.1, 0.03, 0.01, 0.01]),
        "age": rng.choice(["to 25", "26-40", "41-60", "over 60"], n),
    })  # fmt: skip
    metrics = {
        "selected": selection_rate, "accuracy": accuracy_score, "precision": partial(precision_score, zero_division=0),
        "misses": false_negative_rate,
    }  # fmt: skip
    crossed = [list(some) for size in (1, 2, 3) for some in itertools.combinations(features, size)]
    audit = partial(FairnessAudit.from_predictions, y_true, y_pred, sensitive_features=features, random_state=0)

    def metric_frames():
        for some in crossed:
            MetricFrame(metrics=metrics, y_true=y_true, y_pred=y_pred, sensitive_features=features[some])

    return {
        "MetricFrame, four metrics": metric_frames,
        "FairnessAudit": audit,
        "FairnessAudit with scores": partial(audit, y_score=score),
        "to_html": audit().to_html,
    }


def individuals(n):
    """The test of individual fairness by gradients and by search."""
    rng = np.random.default_rng(SEED)
    X = rng.normal(size=(2 * n, 40))
    y = (X[:, :5].sum(axis=1) + rng.normal(size=2 * n) > 0).astype(int)
    group = pd.DataFrame(X[:, :2] + rng.normal(size=(2 * n, 2)) > 0, columns=["sex", "race"])
    models = (
        LogisticRegression(), MLPClassifier((50,), max_iter=30, early_stopping=True, random_state=0),
        GradientBoostingClassifier(random_state=0), HistGradientBoostingClassifier(random_state=0),
    )  # fmt: skip
    return {
        type(model).__name__: partial(
            IndividualFairnessTest(model.fit(X[n:], y[n:]), statistic="ratio_of_means", steps=(500, 0.01)).fit,
            X[:n], y[:n], sensitive_features=group[:n],
        )
        for model in models
    }  # fmt: skip


def imports(_):
    asked = (
        "import fairlearn", "import skfairtest", "from fairlearn.metrics import MetricFrame",
        "from skfairtest import FairnessTest", "from skfairtest import FairnessAudit",
    )  # fmt: skip
    calls = {code: ("-c", code) for code in asked} | {"skfairtest --version": ("-m", "skfairtest", "--version")}
    return {
        what: partial(subprocess.run, [sys.executable, *code], stdout=subprocess.DEVNULL, check=True)
        for what, code in calls.items()
    }


#: Rows, their numbers of people and how often their calls are repeated.
ROWS = {
    rates: (1_000_000, 7), resamples: (100_000, 3), areas: (100_000, 3), functions: (1_000_000, 3),
    frames: (100_000, 3), groups: (100_000, 1), search: (5_000, 3), audits: (48_842, 1), individuals: (9_000, 1),
    imports: (0, 15),
}  # fmt: skip


# Measurements -----------------------------------------------------------------------------------------------


def peak():
    """Return the megabytes that this process has had at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def cpu_time():
    """Return the CPU seconds of this process and of those that it has waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def measured(calls, repetitions, clock=cpu_time):
    """Median seconds of each call, which take turns after one run that is not counted, and megabytes of that run."""
    seconds, megabytes = {what: [] for what in calls}, {}
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of few resamples and of few people
        for turn, (what, call) in itertools.product(range(repetitions + 1), calls.items()):
            before, start = peak(), clock()
            call()
            if turn:
                seconds[what].append(clock() - start)
            else:
                megabytes[what] = round(peak() - before)
    return {what: [round(statistics.median(seconds[what]), 4), megabytes[what]] for what in calls}


def write_people(path, n, chunk=1_000_000):
    """Write people to a Parquet file, never more than a chunk of them in memory."""
    rng, writer = np.random.default_rng(SEED), None
    for start in range(0, n, chunk):
        table = scored_people(min(chunk, n - start), rng)
        writer = writer or pyarrow.parquet.ParquetWriter(path, table.schema)
        writer.write_table(table)
    writer.close()


def scored_people(n, rng, power=1):
    """Labels, decisions, groups and scores of n people; the scores of one group rank a little worse."""
    qualified, group = rng.integers(0, 2, n, dtype=np.int8), rng.integers(0, len(RACES), n)
    score = expit(rng.normal(size=n) + qualified * (1 - 0.02 * (group == 1)))
    approved = (score > 0.6).astype(np.int8)
    race = pyarrow.array(RACES).take(pyarrow.array(group))
    return pyarrow.table({"race": race, "qualified": qualified, "approved": approved, "score": score**power})


def counted_by(engine, path):
    """Seconds of counting a file by an engine, of its bare GROUP BY and of the test, and megabytes."""
    columns = list(COLUMNS.values())
    if engine == "polars":
        import polars

        frame = polars.scan_parquet(path)
        query = frame.group_by(columns).agg(polars.len())
        bare = partial(query.collect, engine="streaming")
    else:
        import duckdb

        query = f"SELECT {', '.join(columns)}, count(*) FROM '{path}' GROUP BY {', '.join(columns)}"
        frame, bare = duckdb.sql(f"SELECT * FROM '{path}'"), lambda: duckdb.sql(query).fetchall()
    count = partial(CountTable.from_frame, frame, **COLUMNS)
    table = count()
    calls = {"group_by": bare, "from_frame": count, "test": partial(FairnessTest.from_table, table, random_state=0)}
    found = {f"{what}_seconds": each[0] for what, each in measured(calls, 5, time.perf_counter).items()}
    found |= {"ratio": round(found["from_frame_seconds"] / found["group_by_seconds"], 3)}
    found |= {"peak_megabytes": round(peak())}
    scores = measured({"scores": partial(count, y_score="score", score_bins=1024)}, 1, time.perf_counter)
    return found | {"scores_seconds": scores["scores"][0], "scores_peak_megabytes": round(peak())}


def binned(n):
    """Compare AUC, its disparity and its statistic of 1,024 bins with those of the scores themselves."""
    asked = {"metric": "roc_auc", "method": "asymptotic", "compare": "to_reference", "reference_group": "White"}
    out = {}
    for power in (1, 40):
        frame = scored_people(n, np.random.default_rng(SEED), power)
        known = {"y_true": "qualified", "y_score": "score", "sensitive_features": "race"}
        exact = FairnessTest.from_predictions(
            y_pred=None, **{role: frame[column] for role, column in known.items()}, **asked
        )
        test = FairnessTest.from_table(CountTable.from_frame(frame, score_bins=1024, **known), **asked)
        shown = ["disparity", "statistic"]
        apart = (test.comparisons_[shown] - exact.comparisons_[shown]).abs().max()
        out[f"power {power}"] = {
            "largest_change_of_disparity": float(apart["disparity"]), "binning_error": float(test.binning_error_),
            "statistic_of_largest": float(exact.statistic_),
            "relative_change_of_it": float(abs(test.statistic_ / exact.statistic_ - 1)),
            "largest_change_of_a_statistic": float(apart["statistic"]),
        }  # fmt: skip
    return out


def in_its_own_process(call):
    """Evaluate a call of this module elsewhere, so that memory is that of this call."""
    code = f"import json; from benchmarks import speed; print(json.dumps(speed.{call}))"
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout)


def engines(rows, folder, save):
    figures = {}
    with tempfile.TemporaryDirectory(dir=folder) as place:
        for n in [10**k for k in (6, 7, 8, 9) if 10**k <= rows] or [rows]:
            path = f"{place}/people_{n}.parquet"
            write_people(path, n)
            for engine in ENGINES:
                found = in_its_own_process(f"counted_by({engine!r}, {path!r})")
                figures.setdefault(engine, {})[f"{n:.0e}"] = found
                print(f"{n:>13,} people, {engine}: {found}", flush=True)
            Path(path).unlink()
    bins = binned(min(rows, 10**6))
    print("AUC of 1,024 bins against that of scores:", json.dumps(bins, indent=1))
    if save:
        what = "counting by engines, and scores in bins; see benchmarks/speed.py"
        write(RESULTS / "scale.json", what, SEED, ENGINES, counting=figures, bins=bins)


def main(argv=None):
    rows = {row.__name__: known for row, known in ROWS.items()}
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed", description=__doc__.splitlines()[0])
    parser.add_argument("rows", nargs="*", metavar="ROW", help=f"{', '.join(rows)}, engines; by default all of them")
    parser.add_argument("--people", type=float, help="of each row, or of the largest file of engines")
    parser.add_argument("--folder", help="where files of people are written; a temporary folder by default")
    parser.add_argument("--save", action="store_true", help="store the figures")
    options = parser.parse_args(argv)
    asked = options.rows or [*rows, "engines"]
    if unknown := set(asked) - {*rows, "engines"}:
        parser.error(f"no row is called {', '.join(sorted(unknown))}")
    figures = {}
    for name in asked:
        if name == "engines":
            engines(int(options.people or 1e8), options.folder, options.save)
            continue
        n, repetitions = rows[name]
        n = int(options.people or n)
        figures[name] = found = in_its_own_process(f"measured(speed.{name}({n}), {repetitions})")
        first = next(iter(found.values()))[0]
        print(f"{name}, {n:,} people")
        for what, (seconds, megabytes) in found.items():
            print(
                f"  {what:<45} {1000 * seconds:>10,.1f} ms {seconds / first:>10,.2f} x {megabytes:>8,} MB", flush=True
            )
    if options.save and figures:
        path = RESULTS / "speed.json"
        before = json.loads(path.read_text())["rows"] if path.exists() else {}
        write(path, "CPU seconds and megabytes of calls; see benchmarks/speed.py", SEED, rows=before | figures)
    return 0


if __name__ == "__main__":
    sys.exit(main())
