"""Whether scores, selection and audited models do what they say: ``python -m benchmarks.model_selection [--quick]``.

Intervals: how often the interval of the largest disparity between any two groups holds the true one, by the package and
by MetricFrame's percentile bootstrap of the same people. Out of fold: how often equalized odds of one model, tested on
predictions of its own training people and on predictions of people left out, is rejected where the features are the
same for both groups given the label (fair), and where they are noisier in one group (unfair); and where each model sees
a group that means nothing, so that models are fair on average over all that could be trained, while no single one is
(fair on average: the test is about the models at hand, and no bound is set). Selection: how often the
candidate that a search takes has a true disparity above the tolerance, by `select_fair` and by the scores of the folds
as they are.

Without ``--quick`` the figures are written to benchmarks/results/model_selection.json with the seed and versions.
"""

import argparse
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from fairlearn.metrics import MetricFrame, selection_rate
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier

from benchmarks.common.results import write
from skfairtest import AuditedClassifier, CountTable, FairnessTest, make_fairness_scorer, select_fair
from skfairtest.inference.multiplicity import extreme_disparity

SEED = 20261121
ALPHA = 0.05
RESULTS = Path(__file__).parent / "results" / "model_selection.json"

#: Rates of the groups and people in each; the truth is the largest difference, and the smallest ratio.
INTERVALS = [
    ((0.3, 0.3), (200, 200)),
    ((0.3, 0.3, 0.3), (500, 100, 50)),
    ((0.3, 0.3, 0.3, 0.3, 0.3, 0.3), (300, 300, 100, 100, 50, 50)),
    ((0.2, 0.3), (200, 200)),
    ((0.2, 0.3, 0.3), (500, 100, 50)),
    ((0.05, 0.1, 0.3), (500, 200, 100)),
    ((0.2, 0.25, 0.3, 0.35, 0.4, 0.45), (300, 300, 100, 100, 50, 50)),
]
#: Resamples of MetricFrame's bootstrap.
N_BOOT = 200
#: People of a training run; base rates of the two groups; standard deviations of their features.
OUT_OF_FOLD = [
    ("fair", 600, (0.5, 0.3), (1.0, 1.0)),
    ("fair", 300, (0.5, 0.2), (1.0, 1.0)),
    ("unfair", 600, (0.5, 0.3), (0.7, 2.0)),
    ("fair on average", 300, (0.5, 0.5), (1.0, 1.0)),
]
#: True disparities of the candidates; the accuracy of each grows with its disparity.
CANDIDATES = (0.0, 0.02, 0.04, 0.06, 0.08, 0.12, 0.16, 0.2)
TOLERANCE = 0.1
PEOPLE = (1000, 4000)


def share(found):
    """A share of data sets and its Monte-Carlo error."""
    value = float(np.mean(found))
    error = float(np.sqrt(value * (1 - value) / len(found)))
    return {"share": round(value, 4), "error": round(error, 4), "data_sets": len(found)}


def table_of(events, people):
    counts = {}
    for group, (x, n) in enumerate(zip(events, people, strict=True)):
        counts |= {(group, 1): int(x), (group, 0): int(n - x)}
    return CountTable.from_counts(counts, names=("group", "y_pred"), y_pred="y_pred", sensitive_features="group")


def percentile_intervals(events, people, seed):
    """MetricFrame's bootstrap of the largest difference and of the smallest ratio."""
    groups = np.repeat(np.arange(len(people)), people)
    y_pred = np.concatenate([np.arange(n) < x for x, n in zip(events, people, strict=True)]).astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        frame = MetricFrame(
            metrics=selection_rate, y_true=y_pred, y_pred=y_pred, sensitive_features=groups, n_boot=N_BOOT,
            ci_quantiles=[ALPHA / 2, 1 - ALPHA / 2], random_state=seed,
        )  # fmt: skip
    return {"difference": frame.difference_ci(), "ratio": frame.ratio_ci()}


def intervals(designs, n_data_sets, n_compared, sequence):
    """Coverage of the largest disparity, for each design and disparity."""
    for (rates, people), child in zip(designs, sequence.spawn(len(designs)), strict=True):
        rng = np.random.default_rng(child)
        truth = {"difference": max(rates) - min(rates), "ratio": min(rates) / max(rates)}
        found = {disparity: {"coverage": [], "worst_end": [], "percentile_bootstrap": []} for disparity in truth}
        for position in range(n_data_sets):
            events = rng.binomial(people, rates)
            table = table_of(events, people)
            percentile = percentile_intervals(events, people, position) if position < n_compared else {}
            for disparity, true in truth.items():
                test = FairnessTest.from_table(table, metric="selection_rate", disparity=disparity)
                rows = test.comparisons_
                _, low, high = extreme_disparity(rows["disparity"], rows["ci_low"], rows["ci_high"], disparity)
                inside = low - 1e-9 <= true, true <= high + 1e-9
                found[disparity]["coverage"].append(all(inside))
                found[disparity]["worst_end"].append(inside[disparity == "difference"])
                if percentile:
                    low, high = percentile[disparity]
                    found[disparity]["percentile_bootstrap"].append(low <= true <= high)
        for disparity, figures in found.items():
            kept = {name: share(values) for name, values in figures.items()}
            yield {"rates": rates, "people": people, "disparity": disparity, **kept}


def training_people(rng, n, base_rates, spreads):
    """Features whose distribution given the label is the same in both groups, or noisier in the second."""
    group = rng.integers(2, size=n)
    y = (rng.random(n) < np.array(base_rates)[group]).astype(int)
    X = y[:, None] * 0.8 + rng.normal(size=(n, 4)) * np.array(spreads)[group][:, None]
    return X, y, np.array(["a", "b"])[group]


def out_of_fold(n_data_sets, sequence):
    """How often equalized odds is rejected, on people left out and on the training people."""
    for (kind, n, base_rates, spreads), child in zip(OUT_OF_FOLD, sequence.spawn(len(OUT_OF_FOLD)), strict=True):
        rng = np.random.default_rng(child)
        left_out, in_sample = [], []
        for _ in range(n_data_sets):
            X, y, group = training_people(rng, n, base_rates, spreads)
            if kind == "fair on average":
                X = np.column_stack([X, group == "a"])
            audited = AuditedClassifier(DecisionTreeClassifier(random_state=0), on_rejection="ignore")
            audited.fit(X, y, sensitive_features=group)
            left_out.append(audited.fairness_tests_[0].rejected_)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                test = FairnessTest(audited.estimator_).fit(X, y, sensitive_features=group)
            in_sample.append(test.rejected_)
        yield {
            "model": kind, "people": n, "base_rates": base_rates, "spreads": spreads,
            "out_of_fold": share(left_out), "in_sample": share(in_sample),
        }  # fmt: skip


class Column(ClassifierMixin, BaseEstimator):
    """A model that was made beforehand: its predictions are a column of X."""

    def __init__(self, candidate=0):
        self.candidate = candidate

    def fit(self, X, y):
        """Learn the labels."""
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        """Return the column."""
        return X[str(self.candidate)].to_numpy()


def candidates(rng, n):
    """Predictions of models whose accuracy is .6 plus half of how far apart their rates of selection are."""
    group = rng.integers(2, size=n)
    y = rng.integers(2, size=n)
    columns = {"sex": np.array(["f", "m"])[group]}
    for position, disparity in enumerate(CANDIDATES):
        rate = 0.4 + disparity * (group - 0.5) + (0.1 + disparity / 2) * (2 * y - 1)
        columns[str(position)] = (rng.random(n) < rate).astype(int)
    return pd.DataFrame(columns), y


def naive(results):
    """Take the most accurate candidate whose mean disparity over folds is within the tolerance."""
    fair = results["mean_test_disparity"] >= -TOLERANCE
    score = np.where(fair, results["mean_test_accuracy"], -np.inf)
    return int(np.argmax(score if fair.any() else results["mean_test_disparity"]))


def selection(numbers_of_people, n_data_sets, sequence):
    """How often the candidate taken is further apart than the tolerance, and what it costs in accuracy."""
    made = {
        output: make_fairness_scorer("selection_rate", output=output, sensitive_features="sex")
        for output in ("disparity", "upper_bound", "p_value")
    }
    choices = {
        "mean disparity": naive,
        "select_fair, tolerance": select_fair("accuracy", "upper_bound", tolerance=TOLERANCE),
        "select_fair, alpha": select_fair("accuracy", "p_value", alpha=ALPHA),
    }
    for n, child in zip(numbers_of_people, sequence.spawn(len(numbers_of_people)), strict=True):
        rng = np.random.default_rng(child)
        taken = {name: [] for name in choices}
        rejected = []
        for _ in range(n_data_sets):
            X, y = candidates(rng, n)
            search = GridSearchCV(
                Column(), {"candidate": range(len(CANDIDATES))}, scoring={"accuracy": "accuracy", **made}, refit=False,
                error_score="raise",
            ).fit(X, y)  # fmt: skip
            folds = [search.cv_results_[f"split{fold}_test_p_value"][0] for fold in range(5)]
            rejected.append(2 * np.mean(folds) <= ALPHA)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # none qualifies
                for name, choose in choices.items():
                    taken[name].append(CANDIDATES[choose(search.cv_results_)])
        yield {
            "people": n,
            "fair_candidate_rejected": share(rejected),
            "beyond_tolerance": {name: share(np.array(found) > TOLERANCE) for name, found in taken.items()},
            "mean_disparity": {name: round(float(np.mean(found)), 4) for name, found in taken.items()},
        }


def text(found):
    return f"{found['share']:.3f} ({found['error']:.3f})"


def failures_of(results):
    """What a promise of the package does not keep, beyond three Monte-Carlo errors."""
    for cell in results["intervals"]:
        for key in ("coverage", "worst_end"):
            if cell[key]["share"] + 3 * max(cell[key]["error"], 0.002) < 1 - ALPHA:
                yield f"{key} of the {cell['disparity']} of {cell['rates']} is {text(cell[key])}"
    for cell in results["out_of_fold"]:
        found = cell["out_of_fold"]
        if cell["model"] == "fair" and found["share"] > ALPHA + 3 * found["error"]:
            yield f"a fair model of {cell['people']} people is rejected out of fold in {text(found)}"
    for cell in results["selection"]:
        found = cell["beyond_tolerance"]["select_fair, tolerance"]
        if found["share"] > ALPHA + 3 * found["error"]:
            yield f"select_fair takes a candidate beyond the tolerance in {text(found)} of {cell['people']} people"
        found = cell["fair_candidate_rejected"]
        if found["share"] > ALPHA + 3 * found["error"]:
            yield f"twice the mean of p-values rejects a fair candidate in {text(found)} of {cell['people']} people"


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.model_selection", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few data sets, nothing written: a few seconds")
    options = parser.parse_args(argv)
    n_intervals, n_compared, n_models, n_searches = (5, 1, 5, 1) if options.quick else (500, 60, 1000, 200)
    designs, people = (INTERVALS[:2], PEOPLE[:1]) if options.quick else (INTERVALS, PEOPLE)
    started = time.perf_counter()
    sequences = np.random.SeedSequence(SEED).spawn(3)
    results = {"intervals": [], "out_of_fold": [], "selection": []}
    print("Coverage of the largest disparity between groups (its worst end alone; percentile bootstrap)")
    for cell in intervals(designs, n_intervals, n_compared, sequences[0]):
        results["intervals"].append(cell)
        rates = ", ".join(f"{rate:g}" for rate in cell["rates"])
        figures = "   ".join(text(cell[key]) for key in ("coverage", "worst_end", "percentile_bootstrap"))
        print(f"  {cell['disparity']:<10} {figures}   {rates}", flush=True)
    print("Equalized odds of a tree rejected, out of fold and in sample")
    for cell in out_of_fold(n_models, sequences[1]):
        results["out_of_fold"].append(cell)
        print(
            f"  {cell['model']:<15} {cell['people']} people   {text(cell['out_of_fold'])}   {text(cell['in_sample'])}"
        )
    print(f"A search takes a candidate beyond the tolerance {TOLERANCE:g}")
    for cell in selection(people, n_searches, sequences[2]):
        results["selection"].append(cell)
        for name, found in cell["beyond_tolerance"].items():
            print(f"  {cell['people']:>5} people   {name:<23} {text(found)}   mean {cell['mean_disparity'][name]:.3f}")
        print(f"  {cell['people']:>5} people   a fair candidate rejected {text(cell['fair_candidate_rejected'])}")
    print(f"\n{time.perf_counter() - started:.0f} s.")
    failures = list(failures_of(results))
    for failure in failures:
        print(f"FAILED {failure}", file=sys.stderr)
    if not options.quick:
        write(
            RESULTS,
            "coverage of the largest disparity, size out of fold, selection; see benchmarks/model_selection.py",
            SEED, level=ALPHA, tolerance=TOLERANCE, bootstrap_resamples=N_BOOT, **results,
        )  # fmt: skip
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
