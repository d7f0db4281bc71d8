"""Numbers that a change of the code behind them must not change, to nine digits.

``python -m tests.frozen_results --write`` computes every case, or those named, and writes tests/golden/frozen.json.
``--compare`` prints what differs from the file, for all cases or for those named. Texts are not stored:
tests/report/golden has a page of each kind.

Every case asks the public interface only. Its people are drawn as integers and uniform numbers from a seeded generator.
"""

import argparse
import functools
import json
import math
import sys
import warnings
from dataclasses import fields, is_dataclass
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from fairlearn import metrics as fair
from sklearn import metrics as sk
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV

import skfairtest as sf
from skfairtest.datasets import load_berkeley, load_compas

mpl.use("Agg")

PATH = Path(__file__).parent / "golden" / "frozen.json"
#: Columns and attributes that follow from the others.
DERIVED = {"n_effective", "standard_error", "standard_error_adjusted", "value_group", "value_other"}
OF_COMPARISONS = {"statistic_", "disparity_", "confidence_interval_"}
#: Longer arrays are written as their shape and moments.
LONGEST = 40

# What is written down -----------------------------------------------------------------------


def numbers(value):
    """Return the numbers of a result as JSON has them: ten digits of each, moments of long arrays, None for text."""
    if isinstance(value, bool | np.bool_ | int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating):
        return float(f"{value:.10g}") if math.isfinite(value) else str(float(value))
    if isinstance(value, pd.DataFrame):
        return numbers(
            {str(name): each for name, each in value.items() if each.dtype.kind == "f" and name not in DERIVED}
        )
    if isinstance(value, pd.Series):
        return numbers(value.to_numpy())
    if isinstance(value, np.ndarray) and value.size > LONGEST and value.dtype.kind == "f":
        known = value[np.isfinite(value)]
        return numbers([*value.shape, known.size, known.min(), known.max(), known.mean(), known.std()])
    if isinstance(value, list | tuple | np.ndarray):
        return [each for each in map(numbers, value) if each is not None]
    if isinstance(value, sf.CountTable):
        return numbers([value.counts, value.strata, value.groups, value.cells])
    if isinstance(value, BaseEstimator):
        return attributes(value)
    if hasattr(value, "to_dict"):
        value = value.to_dict()
    elif is_dataclass(value):
        value = {each.name: getattr(value, each.name) for each in fields(value)}
    if isinstance(value, dict):
        return {str(name): each for name, item in value.items() if (each := numbers(item)) not in (None, [], {})}
    return None


def attributes(fitted):
    """Return the numbers of fitted attributes."""
    names = {name for name in vars(fitted) if name.endswith("_") and not name.startswith("_")} - {"record_"}
    values = {name: getattr(fitted, name) for name in sorted(names)}
    if "comparisons_" in names:
        values = {name: value for name, value in values.items() if name not in OF_COMPARISONS}
    if isinstance(values.get("by_group_"), pd.DataFrame):
        values["by_group_"] = values["by_group_"][["value"]]
    return numbers(values)


def of_audit(audit):
    """Return the numbers of an audit, and of what is read from its JSON."""
    again = sf.FairnessAudit.from_json(audit.to_json())
    return {**attributes(audit), "read_again": numbers([again.p_value_, again.concern_, len(again.comparisons_)])}


def of_display(display):
    """Return the numbers that a display draws."""
    plt.close(display.figure_)
    drawn = {name: item for name, item in vars(display).items() if not name.startswith("_") and not name.endswith("_")}
    return numbers({name: item for name, item in drawn.items() if name not in ("xlabel", "comparison")})


def compute(name):
    """Compute the numbers of a case."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            values = CASES[name]()
        except ValueError as error:
            values = {"raises": type(error).__name__}
    return json.loads(json.dumps(values))


# How it is compared -------------------------------------------------------------------------


def changes(name, values):
    """List where a case differs from what is stored."""
    return differences(values, stored()[name], rtol=1e-6 if name in ITERATIVE else 2e-9)


def differences(values, was, *, rtol, where=""):
    """List where numbers differ from stored ones; an attribute that is new is not a difference."""
    if isinstance(was, dict) and isinstance(values, dict):
        missing = [f"{where}/{key}: is gone" for key in was if key not in values]
        parts = [differences(values[key], was[key], where=f"{where}/{key}", rtol=rtol) for key in was if key in values]
        return missing + [line for part in parts for line in part]
    if isinstance(was, list) and isinstance(values, list) and len(was) == len(values):
        pairs = enumerate(zip(values, was, strict=True))
        return [line for i, pair in pairs for line in differences(*pair, where=f"{where}/{i}", rtol=rtol)]
    if isinstance(was, int | float) and isinstance(values, int | float):
        same = math.isclose(values, was, rel_tol=rtol, abs_tol=1e-12)
    else:
        same = values == was
    return [] if same else [f"{where}: {values!r}, was {was!r}"]


# People -------------------------------------------------------------------------------------

LETTERS = np.array(list("abcde"), dtype=object)


@functools.cache
def people(n=400, n_groups=3, seed=0):
    """Draw people whose groups, labels, scores and numbers hang together a little."""
    rng = np.random.default_rng([seed, n, n_groups])
    code = np.minimum(rng.integers(0, n_groups, n), rng.integers(0, n_groups + 1, n))
    sex, region = rng.integers(0, 2, n), rng.integers(0, 3, n)
    tenth = rng.integers(0, 10, n)
    y_true = (tenth + code + region // 2 > 5).astype(int)
    decile = np.clip(tenth + rng.integers(-3, 4, n) + sex, 0, 9)
    score = (decile + rng.random(n)) / 10
    group = LETTERS[code]
    place = np.arange(n)
    within = np.zeros(n, dtype=int)
    for one in range(n_groups):
        within[code == one] = np.arange((code == one).sum())
    return {
        "group": group,
        "sex": np.array(["f", "m"], dtype=object)[sex],
        "region": np.array(["north", "south", "west"], dtype=object)[region],
        "y_true": y_true,
        "y_pred": (decile >= 5).astype(int),
        "y_score": score,
        "decile": decile / 10,
        "target": (3 * tenth + 2 * code + rng.integers(0, 8, n)) / 8,
        "guess": (3 * decile + rng.integers(0, 4, n)) / 8,
        "grade": np.array(["A", "B", "C"], dtype=object)[np.minimum(tenth // 4, 2)],
        "guessed_grade": np.array(["A", "B", "C"], dtype=object)[np.minimum(decile // 4, 2)],
        "weight": rng.integers(1, 6, n) / 2,
        "mixed": place // 3,
        "household": np.array([f"{one}{number // 6}" for one, number in zip(sex, place, strict=True)], dtype=object),
        "nested": np.array(
            [f"{letter}{number // 3}" for letter, number in zip(group, within, strict=True)], dtype=object
        ),
        "age": 18.0 + rng.integers(0, 60, n) + 2 * code,
        "income": rng.random(n) * 4 + tenth / 5,
    }


class Threshold(ClassifierMixin, BaseEstimator):
    """A classifier without training: positive is who reaches a limit in one column."""

    def __init__(self, limit=0.5, column=0):
        self.limit = limit
        self.column = column

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.n_features_in_ = np.shape(X)[1]
        return self

    def predict_proba(self, X):
        score = np.asarray(pd.DataFrame(X).iloc[:, self.column], dtype=float)
        return np.column_stack([1 - score, score])

    def predict(self, X):
        return self.classes_[(self.predict_proba(X)[:, 1] >= self.limit).astype(int)]


class Line(RegressorMixin, BaseEstimator):
    """A regressor without training: a column times a factor."""

    def __init__(self, factor=1.0, column=0):
        self.factor = factor
        self.column = column

    def fit(self, X, y):
        self.n_features_in_ = np.shape(X)[1]
        return self

    def predict(self, X):
        return self.factor * np.asarray(pd.DataFrame(X).iloc[:, self.column], dtype=float)


def benefit(y_true, y_pred, sample_weight=None):
    """A metric that a user writes, with weights."""
    return np.average(y_pred * (2.0 * y_true - 1), weights=sample_weight)


def largest_gap(y_true, y_pred):
    """A metric that a user writes, without weights."""
    return abs(np.mean(y_pred) - np.mean(y_true))


def spread(y_true, y_pred, *, sensitive_features):
    """A metric of all groups at once."""
    means = pd.Series(np.asarray(y_pred, dtype=float)).groupby(np.asarray(sensitive_features)).mean()
    return float(means.max() - means.min())


# Cases: tests of groups ---------------------------------------------------------------------

NUMERIC = {"mean_prediction", "mean_residual", "mean_squared_error", "mean_absolute_error"}
SCORED = {"roc_auc", "log_loss", "brier_score", "calibration"}
RATES = (
    "selection_rate", "true_positive_rate", "recall", "false_positive_rate", "true_negative_rate",
    "false_negative_rate", "precision", "negative_predictive_value", "false_discovery_rate", "false_omission_rate",
    "accuracy", "zero_one_loss", "jaccard", "f1",
)  # fmt: skip
CRITERIA = (
    "demographic_parity", "equal_opportunity", "predictive_equality", "equalized_odds", "predictive_parity",
    "conditional_use_accuracy", "overall_accuracy_equality",
)  # fmt: skip
SCORES = (
    "balanced_accuracy", "matthews_corrcoef", "roc_auc", "log_loss", "brier_score", "calibration", "mean_prediction",
    "mean_residual", "mean_squared_error", "mean_absolute_error", "normalized_mutual_info", "hinnefeld",
)  # fmt: skip
#: Of `FairnessTest`'s resamples, unless a case says otherwise.
DRAWS = 199


def group_test(crowd=(400, 3, 0), groups="group", **given):
    """Test people by columns named; what is not a name of people's is a parameter of the test."""
    who = people(*crowd)
    metric = given.get("metric", "equalized_odds")
    columns = {name: given.pop(name, None) for name in ("control_features", "sample_weight", "clusters")}
    columns = {name: who[column] for name, column in columns.items() if column is not None}
    true, predicted = ("target", "guess") if isinstance(metric, str) and metric in NUMERIC else ("y_true", "y_pred")
    true, predicted = given.pop("y_true", true), given.pop("y_pred", predicted)
    score = given.pop("y_score", None)
    if isinstance(metric, str) and metric in SCORED:
        score = score or "y_score"
    test = sf.FairnessTest.from_predictions(
        None if true is None else who[true],
        None if predicted is None else who[predicted],
        y_score=None if score is None else who[score],
        sensitive_features=who[groups] if isinstance(groups, str) else {name: who[name] for name in groups},
        **columns,
        **{"random_state": 0, "n_resamples": DRAWS, **given},
    )
    return attributes(test)


def add(name, function, *args, **kwargs):
    assert name not in CASES, name
    CASES[name] = functools.partial(function, *args, **kwargs)


def add_each(prefix, cases, function, *args, **common):
    """Add a case for each name, whose parameters are what all have in common, and its own."""
    for name, given in cases.items():
        add(f"{prefix} {name}".strip(), function, *args, **common, **given)


def label_of(metric):
    return metric if isinstance(metric, str) else "benefit"


def add_metrics():
    for rate in RATES:
        add(f"rate {rate}", group_test, metric=rate)
        add(f"rate {rate} few", group_test, (36, 2, 1), metric=rate, disparity="ratio", compare="to_rest")
    for criterion in CRITERIA:
        add(f"criterion {criterion}", group_test, (150, 2, 0), metric=criterion)
    for score in SCORES:
        add(f"score {score}", group_test, metric=score)
        if score not in ("normalized_mutual_info", "hinnefeld"):
            add(f"score {score} rest", group_test, (90, 2, 2), metric=score, compare="to_rest", random_state=1)
    add("score area given twice", group_test, metric="roc_auc", y_pred="y_score", y_score="y_score")
    add("score ties", group_test, metric=["roc_auc", "brier_score"], y_score="decile")
    grades = {"y_true": "grade", "y_pred": "guessed_grade"}
    add("score grades", group_test, metric=["balanced_accuracy", "matthews_corrcoef", "accuracy"], **grades)
    mean = {"evaluate": lambda y_true, y_score: float(np.mean(y_score)), "response": "predict_proba"}
    own = {
        "rate": sf.Rate("hit or miss", event="y_pred", given="y_true | y_pred"),
        "rate without condition": sf.Rate("wrongly accused", event="y_pred & ~y_true"),
        "benefit": benefit,
        "gap": largest_gap,
        "score metric": sf.ScoreMetric("cost", lambda y, p: float(np.mean(3 * y * (1 - p) + p))),
        "score metric within": sf.ScoreMetric("benefit of it", benefit, within="y_true"),
        "score of scores": sf.ScoreMetric("mean score", **mean),
        "spread": spread,
        "named": {"chosen": "selection_rate", "odds": "equalized_odds", "mine": benefit},
        "several": ["selection_rate", "roc_auc", "calibration", "f1"],
    }
    for name, metric in own.items():
        score = "y_score" if name in ("score of scores", "several") else None
        add(f"own {name}", group_test, (160, 3, 0), metric=metric, y_score=score, n_resamples=99)
    theirs = [
        fair.selection_rate, fair.true_positive_rate, fair.false_negative_rate, fair.mean_prediction, sk.recall_score,
        sk.precision_score, sk.f1_score, sk.jaccard_score, sk.zero_one_loss, sk.balanced_accuracy_score,
        sk.matthews_corrcoef, sk.cohen_kappa_score, fair.equalized_odds_difference,
        fair.demographic_parity_difference, fair.selection_rate_difference,
    ]  # fmt: skip
    for metric in theirs:
        name = getattr(metric, "__name__", None) or "selection_rate_difference"
        add(f"theirs {name}", group_test, (130, 2, 0), metric=metric, n_resamples=99)
    add("theirs ratio", group_test, (130, 2, 0), metric=fair.demographic_parity_ratio, disparity="ratio")
    add("theirs roc_auc_score", group_test, (130, 2, 0), metric=sk.roc_auc_score, y_pred="y_score")


def add_parameters():
    rate, area, mean = "false_positive_rate", "roc_auc", "mean_residual"
    for metric in (rate, area, mean, "equalized_odds"):
        for compare in ("between_groups", "to_overall", "to_rest", "to_reference"):
            given = {"metric": metric, "compare": compare, "n_resamples": 99}
            given |= {"reference_group": "b"} if compare == "to_reference" else {}
            for disparity in ("difference", "ratio")[: 1 if metric in (area, mean) else 2]:
                name = f"compare {metric} {compare} {disparity}"
                add(name, group_test, (200, 4, 1), disparity=disparity, **given)
    tails = {
        "less": {"alternative": "less"},
        "greater": {"alternative": "greater"},
        "margin": {"margin": 0.05},
        "margin less": {"margin": 0.05, "alternative": "less"},
        "margin greater": {"margin": 0.05, "alternative": "greater"},
        "equivalence": {"margin": 0.2, "alternative": "equivalence"},
        "ratio less": {"alternative": "less", "disparity": "ratio"},
        "ratio margin": {"margin": 0.8, "disparity": "ratio"},
        "ratio equivalence": {"margin": 0.6, "disparity": "ratio", "alternative": "equivalence"},
    }
    for metric in ("true_positive_rate", "selection_rate", area, "mean_absolute_error"):
        add_each(f"tail {metric}", tails, group_test, (140, 2, 0), metric=metric)
    add("tail rest greater", group_test, metric=rate, compare="to_rest", alternative="greater")
    add("tail pairs equivalence", group_test, (600, 3, 0), metric="accuracy", margin=0.15, alternative="equivalence")
    for adjust in ("auto", "holm", "bonferroni", "fdr_bh", None):
        add(f"adjust {adjust} rates", group_test, (300, 5, 0), metric=["selection_rate", "accuracy"], adjust=adjust)
        add(f"adjust {adjust} areas", group_test, (150, 4, 0), metric=area, adjust=adjust)
    for method in ("exact", "asymptotic", "permutation", "bootstrap"):
        for metric in ("precision", "equalized_odds", area, mean):
            add(f"method {method} {metric}", group_test, (180, 3, 2), metric=metric, method=method)
        add(f"method {method} ratio", group_test, (180, 3, 2), metric="precision", method=method, disparity="ratio")
        add(f"method {method} margin", group_test, (180, 2, 2), metric="precision", method=method, margin=0.1)
        strata = {"metric": "selection_rate", "control_features": "region"}
        add(f"method {method} strata", group_test, (240, 2, 2), method=method, **strata)
    for variance in ("score", "delta", "jackknife", "bootstrap", None):
        for metric in ("recall", area, "balanced_accuracy", benefit):
            given = {"metric": metric, "variance": variance, "n_resamples": 39}
            add(f"variance {variance} {label_of(metric)}", group_test, (80, 2, 0), **given)
    for within in (None, "y_true", "y_pred"):
        for metric in ("recall", "selection_rate", area, mean, benefit):
            given = {"metric": metric, "within": within, "n_resamples": 99}
            add(f"within {within} {label_of(metric)}", group_test, (120, 3, 0), **given)
    add("level .9", group_test, metric=["recall", "precision"], confidence_level=0.9)
    certified = {"metric": "accuracy", "margin": 0.3, "alternative": "equivalence"}
    add("level .99 equivalence", group_test, (300, 2, 0), confidence_level=0.99, **certified)
    add("labels by name", group_test, metric="recall", y_true="sex", y_pred="sex", pos_label="f")
    add("without truth", group_test, metric="selection_rate", y_true=None)
    for seed in (0, 1):
        for metric in (area, "balanced_accuracy", "normalized_mutual_info"):
            add(f"seed {seed} {metric}", group_test, (200, 3, 0), metric=metric, random_state=seed, n_resamples=499)
    for jobs in (1, 2):
        add(f"jobs {jobs} area", group_test, (300, 3, 0), metric=area, n_jobs=jobs, n_resamples=499)
        add(f"jobs {jobs} bootstrap", group_test, (300, 3, 0), metric="recall", method="bootstrap", n_jobs=jobs)
        add(f"jobs {jobs} benefit", group_test, (100, 2, 0), metric=benefit, n_jobs=jobs, n_resamples=99)
        add(f"jobs {jobs} weights", group_test, (200, 3, 0), metric=rate, sample_weight="weight", n_jobs=jobs)
    for metric in (area, "mean_squared_error", "normalized_mutual_info", benefit):
        add(f"adaptive {label_of(metric)}", group_test, (120, 2, 3), metric=metric, n_resamples="adaptive")
    add("adaptive areas", group_test, (150, 4, 0), metric=area, n_resamples="adaptive")
    add("adaptive weights", group_test, (150, 3, 0), metric=rate, n_resamples="adaptive", sample_weight="weight")
    add("adaptive permutation", group_test, (150, 3, 0), metric=rate, n_resamples="adaptive", method="permutation")
    add("adaptive clusters", group_test, (150, 2, 0), metric=area, n_resamples="adaptive", clusters="mixed")


def add_structures():
    structures = {
        "strata": {"control_features": "region"},
        "weights": {"sample_weight": "weight"},
        "mixed": {"clusters": "mixed"},
        "nested": {"clusters": "nested"},
        "strata weights": {"control_features": "region", "sample_weight": "weight"},
        "strata mixed": {"control_features": "sex", "clusters": "household"},
        "nested weights": {"clusters": "nested", "sample_weight": "weight"},
    }
    for name, columns in structures.items():
        for metric in ("selection_rate", "roc_auc", "mean_residual", benefit, "equalized_odds"):
            given = {"metric": metric, "n_resamples": 99}
            add(f"{name} {label_of(metric)}", group_test, (210, 3, 1), **given, **columns)
        three = {
            "ratio to rest": {"metric": "accuracy", "disparity": "ratio", "compare": "to_rest"},
            "bootstrap": {"metric": "accuracy", "method": "bootstrap", "n_resamples": 99},
            "information": {"metric": "normalized_mutual_info", "n_resamples": 99},
        }
        if "clusters" in columns:
            del three["information"]
        add_each(name, three, group_test, (210, 3, 1), **columns)
        two = {
            "margin": {"metric": "accuracy", "margin": 0.1},
            "equivalence": {"metric": "selection_rate", "margin": 0.2, "alternative": "equivalence"},
            "less": {"metric": "log_loss", "alternative": "less", "n_resamples": 99},
        }
        add_each(name, two, group_test, (210, 2, 1), **columns)
    add("crossed", group_test, (300, 3, 0), ("group", "sex"), metric="false_positive_rate")
    add("crossed rest", group_test, (300, 2, 0), ("region", "group", "sex"), metric="accuracy", compare="to_rest")
    reference = {"metric": "roc_auc", "compare": "to_reference", "reference_group": ("a", "m")}
    add("crossed reference", group_test, (300, 2, 0), ("group", "sex"), **reference)
    add("crossed strata", group_test, (300, 2, 0), ("group", "sex"), metric="recall", control_features="region")
    for n in (2, 3, 4, 5):
        metrics, scores = ["selection_rate", "recall", "roc_auc"], ["roc_auc", "balanced_accuracy", "brier_score"]
        add(f"many {n}", group_test, (2000, n, 0), metric=metrics, y_score="y_score", n_resamples=99)
        add(f"few {n}", group_test, (24, n, 0), metric=["selection_rate", "equalized_odds", "f1"])
        add(f"few {n} scores", group_test, (30, n, 0), metric=scores, y_score="y_score")
    add("many strata", group_test, (2000, 3, 0), control_features="region", compare="to_rest")


#: Resamples of a FairnessTest, and of another test of fewer.
DRAWN, FEWER = {"random_state": 0, "n_resamples": DRAWS}, {"random_state": 0, "n_resamples": 99}


def columns_of(who, metric, **columns):
    """Return what `from_predictions` takes of people: groups, scores if a metric needs them, and columns by name."""
    given = {name: who[column] for name, column in columns.items() if column is not None}
    return {"sensitive_features": who["group"], **given, **({"y_score": who["y_score"]} if metric in SCORED else {})}


def with_undefined(metric, control=None, **params):
    """Test people of whom group c has nobody truly positive, and group d nobody predicted positive."""
    who = people(200, 4, 0)
    y_true = np.where(who["group"] == "c", 0, who["y_true"])
    y_pred = np.where(who["group"] == "d", 0, who["y_pred"])
    columns = columns_of(who, metric, control_features=control)
    return attributes(sf.FairnessTest.from_predictions(y_true, y_pred, metric=metric, **columns, **DRAWN, **params))


def zeros(events, **params):
    """Test a table of two or more groups, of which some have no event, or nothing else."""
    counts = {}
    for group, (event, total) in events.items():
        counts |= {(group, 1): event, (group, 0): total - event}
    table = sf.CountTable.from_counts(counts, names=("g", "y"), y_pred="y", sensitive_features="g")
    return attributes(sf.FairnessTest.from_table(table, metric="selection_rate", **params))


def bundled(metric, feature, **params):
    """Test COMPAS."""
    compas = load_compas()
    columns = {"sensitive_features": compas.sensitive_features[feature]}
    columns |= {"y_score": compas.decile_score / 10} if metric in SCORED else {}
    people = compas.y_true, compas.y_pred
    return attributes(sf.FairnessTest.from_predictions(*people, metric=metric, **columns, **DRAWN, **params))


def berkeley(**params):
    return attributes(sf.FairnessTest.from_table(load_berkeley(as_table=True), metric="selection_rate", **params))


def admitted(**params):
    data = load_berkeley()
    groups = {"sensitive_features": data.sensitive_features}
    return attributes(sf.FairnessTest.from_predictions(None, data.y_pred, metric="selection_rate", **groups, **params))


def from_table(metric, **params):
    who = people(400, 3, 0)
    features = {name: who[name] for name in ("group", "sex")}
    columns = {"sensitive_features": features, "control_features": who["region"]}
    table = sf.CountTable.from_predictions(who["y_true"], who["y_pred"], **columns)
    values = attributes(sf.FairnessTest.from_table(table, metric=metric, **DRAWN, **params))
    values["table"] = numbers([table.to_frame().describe(), table.marginal("y_pred"), table.labels, table.n_samples])
    return values


def asked(model, n=300):
    """Return a model that is fitted, and the people that it is asked about: their features, labels and columns."""
    who = people(n, 3 if n != 200 else 2, 0)
    X = np.column_stack([who["y_score"], who["income"]])
    y = who["target"] if isinstance(model, Line) else who["y_true"]
    return model.fit(X, y), X, y, who


def of_model(model, metric):
    model, X, y, who = asked(model)
    test = sf.FairnessTest(model, metric=metric, **DRAWN)
    return attributes(test.fit(X, y, sensitive_features=who["group"]))


def add_tables():
    for metric in ("true_positive_rate", "precision", "f1", "equalized_odds", "roc_auc", "matthews_corrcoef"):
        add(f"undefined {metric}", with_undefined, metric)
        add(f"undefined {metric} rest", with_undefined, metric, compare="to_rest", disparity="ratio")
    add("undefined strata", with_undefined, "recall", "region")
    add("undefined balanced_accuracy", with_undefined, "balanced_accuracy", "sex")
    events = {
        "none": {"a": (0, 20), "b": (5, 20)},
        "all": {"a": (20, 20), "b": (15, 20)},
        "both none": {"a": (0, 20), "b": (0, 30)},
        "opposite": {"a": (0, 12), "b": (15, 15)},
        "three": {"a": (0, 12), "b": (5, 15), "c": (9, 9)},
        "tiny": {"a": (1, 2), "b": (1, 3)},
        "one": {"a": (1, 1), "b": (40, 100)},
        "large": {"a": (3000, 10000), "b": (600000, 2000000)},
        "uneven": {"a": (2, 5), "b": (300, 900), "c": (10, 40), "d": (0, 3), "e": (7, 7)},
    }
    for name, table in events.items():
        add(f"zeros {name}", zeros, table)
        add(f"zeros {name} ratio", zeros, table, disparity="ratio", margin=0.8)
        if len(table) == 2:
            add(f"zeros {name} margin", zeros, table, margin=0.1, alternative="greater")
            add(f"zeros {name} equivalence", zeros, table, margin=0.3, alternative="equivalence")
    for metric in ("false_positive_rate", "equalized_odds", "roc_auc", "calibration", "matthews_corrcoef"):
        add(f"compas {metric} race", bundled, metric, "race")
        disparity = "ratio" if metric != "calibration" else "difference"
        add(f"compas {metric} sex", bundled, metric, "sex", disparity=disparity)
    add("compas margin", bundled, "false_negative_rate", "sex", margin=0.03)
    add("compas crossed", bundled, "precision", ["sex", "age_cat"], compare="to_rest")
    add("berkeley", berkeley)
    add("berkeley equivalence", berkeley, margin=0.05, alternative="equivalence")
    add("berkeley ratio", berkeley, disparity="ratio", alternative="less")
    add("berkeley asymptotic", berkeley, method="asymptotic")
    add("berkeley without departments", admitted)
    add("table rates", from_table, "equalized_odds")
    add("table correlation", from_table, "matthews_corrcoef")
    add("model rates", of_model, Threshold(0.6), "equalized_odds")
    add("model scores", of_model, Threshold(0.6), ["roc_auc", "log_loss", "selection_rate"])
    add("model numbers", of_model, Line(3.0), ["mean_residual", "mean_squared_error"])
    mean = {"evaluate": lambda y_true, y_score: float(np.mean(y_score)), "response": "predict_proba"}
    add("model response", of_model, Threshold(), sf.ScoreMetric("mean score", **mean))


def add_drawn(n=60):
    """Add tests whose parameters are drawn, because what goes wrong is often a pair of them."""
    rng = np.random.default_rng(14)

    def pick(*options):
        return options[rng.integers(len(options))]

    for number in range(n):
        metric = pick(
            "selection_rate", "recall", "precision", "f1", "equalized_odds", "roc_auc", "brier_score",
            "mean_residual", "balanced_accuracy", "accuracy",
        )  # fmt: skip
        n_groups = pick(2, 2, 3, 4)
        params = {
            "compare": pick("between_groups", "to_overall", "to_rest", "to_reference"),
            "disparity": pick("difference", "difference", "ratio") if metric != "mean_residual" else "difference",
            "method": pick("auto", "auto", "asymptotic", "permutation", "bootstrap"),
            "adjust": pick("auto", "holm", "bonferroni", "fdr_bh", "gone", None),
            "confidence_level": pick(0.95, 0.9),
            "random_state": pick(0, 1),
        }
        if params["compare"] == "to_reference":
            params["reference_group"] = "b"
        if n_groups == 2 or params["compare"] != "between_groups":
            params["alternative"] = pick("two-sided", "two-sided", "less", "greater", "equivalence")
        if params.get("alternative") == "equivalence" or (params["method"] != "permutation" and pick(0, 0, 1)):
            params["margin"] = 0.7 if params["disparity"] == "ratio" else 0.12
            params["method"] = "auto" if params["method"] == "permutation" else params["method"]
            params["adjust"] = "holm" if params["adjust"] == "gone" else params["adjust"]
        structures = {"control_features": "region"}, {"sample_weight": "weight"}, {"clusters": "mixed"}
        structure = pick({}, *structures, {"clusters": "nested"})
        crowd = (pick(60, 150, 500), n_groups, pick(0, 1, 2))
        if params["adjust"] == "gone":  # which would move all later draws, if it were no option
            continue
        add(f"drawn {number:02d} {metric}", group_test, crowd, metric=metric, n_resamples=99, **params, **structure)


# Cases: everything else ---------------------------------------------------------------------


def correlated(of="absolute_error", features=("age",), control=None, crowd=(150, 3, 0), model=None, **params):
    who = people(*crowd)
    common = {
        "sensitive_features": {name: who[name] for name in features},
        "control_features": None if control is None else who[control],
    }
    params = {"of": of, **DRAWN, **params}
    if model is None:
        y_true = None if of == "prediction" else who["target"]
        return attributes(sf.CorrelationFairnessTest.from_predictions(y_true, who["guess"], **common, **params))
    model, X, y, _ = asked(model, len(who["age"]))
    return attributes(sf.CorrelationFairnessTest(model, **params).fit(X, y, **common))


def add_correlations():
    add("correlation", correlated)
    for of in ("residual", "prediction"):
        for kind in ("pearson", "spearman"):
            for alternative in ("two-sided", "greater", "less"):
                add(f"correlation {of} {kind} {alternative}", correlated, of, correlation=kind, alternative=alternative)
    both = ("income", "age")
    for adjust in ("auto", "holm", "bonferroni", "fdr_bh", None):
        add(f"correlation adjust {adjust}", correlated, features=both, adjust=adjust)
    add("correlation strata", correlated, features=both, control="region")
    add("correlation strata spearman", correlated, control="group", correlation="spearman", random_state=1)
    add("correlation of function", correlated, of=lambda y_true, y_pred: (y_true - y_pred) ** 2)
    add("correlation adaptive", correlated, n_resamples="adaptive", features=both)
    add("correlation jobs 1", correlated, n_resamples=999, n_jobs=1)
    add("correlation jobs 2", correlated, n_resamples=999, n_jobs=2)
    add("correlation few", correlated, crowd=(9, 2, 0))
    add("correlation many", correlated, crowd=(2000, 3, 0), confidence_level=0.9)
    add("correlation classifier", correlated, model=Threshold())
    add("correlation regressor", correlated, model=Line(2.0), of="residual")


def logistic(coefficients=(1.2, -0.4, 0.7), intercept=-0.3):
    model = LogisticRegression()
    model.coef_, model.intercept_ = np.atleast_2d(coefficients), np.atleast_1d(intercept)
    model.classes_, model.n_features_in_ = np.array([0, 1]), len(coefficients)
    return model


def linear(coefficients=(0.8, 0.3, -0.5), intercept=0.2):
    model = LinearRegression()
    model.coef_, model.intercept_, model.n_features_in_ = np.array(coefficients), intercept, len(coefficients)
    return model


def features(n=60, seed=0):
    who = people(n, 2, seed)
    return np.column_stack([who["income"] - 2, who["decile"] * 2 - 1, who["target"] - 2]), who


def treated(model=None, fair_metric=None, y="y_true", sensitive=None, n=20, **params):
    X, who = features(n)
    X = params.pop("X", X)
    test = sf.IndividualFairnessTest.as_published(
        logistic() if model is None else model,
        fair_metric=sf.Projection([[1, 0, 0]]) if fair_metric is None else fair_metric,
        **{"steps": (40, 0.02), **params},
    )
    test.fit(X, who[y], sensitive_features=None if sensitive is None else who[sensitive])
    values = attributes(test)
    values |= {
        "path_": numbers(test.path_),
        "most_unfair": numbers(test.most_unfair(4)),
        "moved": numbers(test.unfair_examples_),
    }
    values["solver_report_"].pop("because", None)
    return {name: item for name, item in values.items() if name != "unfair_examples_"}


def learned(metric, **given):
    X, who = features(80)
    fit = {name: who[column] for name, column in given.items()}
    fitted = metric.fit(X, **fit)
    return {"attributes": attributes(fitted), "moved": numbers(fitted.transform(X[:5]))}


def add_individuals():
    add("individual", treated)
    for statistic in ("error_rate_ratio", "ratio_of_means"):
        add(f"individual {statistic}", treated, statistic=statistic)
    add("individual search", treated, gradient="search")
    step = {"X": features(20)[0] * 0.1 + 0.4, "feature_ranges": {0: (0.0, 1.0)}, "regularization": 5.0}
    add("individual threshold", treated, Threshold().fit([[0], [1]], [0, 1]), **step)
    add("individual mahalanobis", treated, fair_metric=sf.Mahalanobis(np.diag([0.01, 2.0, 1.0])))
    add("individual subspace", treated, fair_metric=sf.SensitiveSubspace(level=None), sensitive="sex", n=60)
    add("individual regressor", treated, linear(), y="target")
    add("individual absolute", treated, linear(), y="target", loss="absolute_error", statistic="ratio_of_means")
    ranges = {0: (-3.0, 4.0), 2: "frozen"}
    add("individual ranges", treated, feature_ranges=ranges, fair_metric=sf.Projection([[1, 1, 0]]))
    add("individual scale", treated, feature_scale="std", tolerance=1.05, confidence_level=0.9)
    add("individual decay", treated, steps=0.02 / np.arange(1, 41) ** 0.5, regularization=5.0)
    add("metric projection", learned, sf.Projection([[1, 0.5, 0], [0, 1, 1]]))
    add("metric mahalanobis", learned, sf.Mahalanobis([[2.0, 0.3, 0], [0.3, 1.0, 0], [0, 0, 1.0]]))
    add("metric subspace", learned, sf.SensitiveSubspace(), sensitive_features="sex")
    add("metric subspace number", learned, sf.SensitiveSubspace(), sensitive_features="age")


def audited(features=("group", "sex"), crowd=(260, 3, 0), score=None, true="y_true", pred="y_pred", **params):
    who = people(*crowd)
    names = ("control_features", "sample_weight", "clusters")
    columns = {name: who[params.pop(name)] for name in names if name in params}
    columns |= {} if score is None else {"y_score": who[score]}
    columns["sensitive_features"] = {name: who[name] for name in features}
    y_true = None if true is None else who[true]
    return of_audit(sf.FairnessAudit.from_predictions(y_true, who[pred], **columns, **{**FEWER, **params}))


def audited_compas():
    compas = load_compas()
    params = {"metrics": ["selection_rate", "false_positive_rate"], "random_state": 0}
    features = compas.sensitive_features[["sex", "age_cat"]]
    return of_audit(
        sf.FairnessAudit.from_predictions(compas.y_true, compas.y_pred, sensitive_features=features, **params)
    )


def audited_table():
    table = load_berkeley(as_table=True)
    return of_audit(sf.FairnessAudit.from_table(table, metrics="selection_rate", random_state=0))


def audited_model(model):
    model, X, y, who = asked(model, 200)
    return of_audit(sf.FairnessAudit(model, **FEWER).fit(X, y, sensitive_features={"group": who["group"]}))


def add_audits():
    rates = ["selection_rate", "true_positive_rate"]
    add("audit", audited, metrics=rates)
    add("audit standard", audited, ("group",), score="y_score")
    add("audit numbers", audited, ("sex",), true="target", pred="guess")
    add("audit grades", audited, ("sex",), true="grade", pred="guessed_grade")
    add("audit without truth", audited, ("group", "sex"), true=None, metrics="selection_rate")
    for compare in ("between_groups", "to_overall", "to_rest"):
        add(f"audit compare {compare}", audited, compare=compare, metrics=["accuracy"])
    for compare in ("to_rest", "between_groups", "to_parents"):
        crossed = {"compare_intersections": compare, "metrics": "precision"}
        add(f"audit intersections {compare}", audited, crowd=(400, 2, 0), **crossed)
    for adjust in ("auto", "holm", "bonferroni", "fdr_bh", None):
        add(f"audit adjust {adjust}", audited, ("sex", "region"), intersections=False, metrics=rates, adjust=adjust)
    for method in ("exact", "asymptotic", "permutation", "bootstrap"):
        add(f"audit method {method}", audited, ("sex", "region"), intersections=False, metrics=rates, method=method)
    add("audit ratio", audited, ("sex",), metrics=rates, disparity="ratio")
    add("audit margin", audited, ("sex",), metrics=rates, margin=0.1)
    add("audit strata", audited, ("sex",), metrics=rates, control_features="region")
    add("audit weights", audited, ("sex",), metrics=["accuracy", "roc_auc"], score="y_score", sample_weight="weight")
    add("audit clusters", audited, ("group",), metrics=rates, clusters="mixed")
    add("audit three features", audited, ("group", "sex", "region"), (400, 2, 0), metrics="selection_rate")
    adaptive = {"metrics": ["roc_auc", "calibration"], "n_resamples": "adaptive"}
    add("audit adaptive", audited, ("sex",), score="y_score", **adaptive)
    add("audit scores", audited, ("group", "sex"), (150, 2, 0), metrics=["roc_auc", benefit], score="y_score")
    add("audit jobs", audited, metrics=["accuracy", "balanced_accuracy"], n_jobs=2, random_state=1)
    add("audit mutual information", audited, ("group",), metrics=["normalized_mutual_info", "selection_rate"])
    add("audit compas", audited_compas)
    add("audit berkeley", audited_table)
    add("audit classifier", audited_model, Threshold())
    add("audit regressor", audited_model, Line(3.0))


def shown(
    metrics, control=None, crowd=(240, 3, 0), pred="y_pred", disparities=("difference", "ratio"), weights=None, **params
):
    who = people(*crowd)
    frame_ = sf.SignificanceFrame(
        metrics=metrics,
        y_true=who["y_true"],
        y_pred=who[pred],
        sensitive_features=pd.Series(who["group"], name="group"),
        control_features=None if control is None else pd.Series(who[control], name=control),
        sample_params=None if weights is None else {name: {"sample_weight": who[weights]} for name in metrics},
        random_state=0,
        test_params={"n_resamples": 99, **params},
    )
    values = {"by_group": numbers(frame_.by_group), "overall": numbers(frame_.overall)}
    for disparity in disparities:
        for method in ("between_groups", "to_overall"):
            values[f"{disparity} {method}"] = {
                "shown": numbers(getattr(frame_, disparity)(method=method)),
                "p_values": numbers(frame_.p_values(method, disparity)),
                "interval": numbers(getattr(frame_, f"{disparity}_interval")(method)),
                "test": numbers(getattr(frame_, f"{disparity}_test")(method)),
                "comparisons": numbers(frame_.comparisons(method, disparity)),
            }
    return values


def add_frames():
    add("frame rates", shown, {"selection": fair.selection_rate, "misses": fair.false_negative_rate})
    add("frame one", shown, fair.selection_rate, crowd=(60, 2, 0))
    once = {"disparities": ("difference",)}
    add("frame strata", shown, {"accuracy": sk.accuracy_score, "recall": sk.recall_score}, "sex", **once)
    add("frame scores", shown, {"auc": sk.roc_auc_score}, pred="y_score", crowd=(120, 3, 0))
    add("frame function", shown, {"benefit": benefit, "count": fair.count}, crowd=(90, 2, 0))
    add("frame weights", shown, {"selection": fair.selection_rate, "f1": sk.f1_score}, weights="weight")
    add("frame margin", shown, {"selection": fair.selection_rate}, margin=0.1, **once)
    add("frame level", shown, {"precision": sk.precision_score}, confidence_level=0.9, adjust="bonferroni")


def p_value(metric, **params):
    who = people(200, 3, 0)
    names = ("control_features", "sample_weight", "clusters")
    columns = columns_of(who, metric, **{name: params.pop(name) for name in names if name in params})
    return {"p": sf.fairness_p_value(who["y_true"], who["y_pred"], metric=metric, **columns, **params)}


def scored(metric, output, **params):
    who = people(200, 3, 0)
    X = pd.DataFrame({"score": who["y_score"], "income": who["income"], "group": who["group"]})
    scorer = sf.make_fairness_scorer(metric, output=output, sensitive_features="group", **{"n_resamples": 99, **params})
    return {"score": scorer(Threshold(0.6).fit(X, who["y_true"]), X, who["y_true"])}


def searched(output, choice, **params):
    who = people(300, 2, 0)
    X = pd.DataFrame({"score": who["y_score"], "sex": who["sex"]})
    scoring = {
        "accuracy": "accuracy",
        "fair": sf.make_fairness_scorer("demographic_parity", output=output, sensitive_features="sex", **params),
    }
    search = GridSearchCV(
        Threshold(),
        {"limit": [0.2, 0.4, 0.6, 0.8]},
        scoring=scoring,
        refit=sf.select_fair("accuracy", "fair", **choice),
        cv=sf.SensitiveStratifiedKFold(3, sensitive_features="sex"),
    ).fit(X, who["y_true"])
    kept = {key: item for key, item in search.cv_results_.items() if "_test_" in key}
    return numbers({"chosen": search.best_params_, **kept})


def trained(model, tests=None, **given):
    who = people(240, 3, 0)
    X = np.column_stack([who["y_score"], who["income"]])
    given = {name: who[column] for name, column in given.items()}
    classifies = isinstance(model, ClassifierMixin)
    cls = sf.AuditedClassifier if classifies else sf.AuditedRegressor
    y = who["y_true"] if classifies else who["target"]
    groups = {"sensitive_features": given.pop("groups", who["group"])}
    audited_ = cls(model, tests=tests, cv=3).fit(X, y, **groups, **given)
    return {"p_values_": numbers(audited_.p_values_), "tests": [attributes(test) for test in audited_.fairness_tests_]}


def folds(n, n_splits, several=False, **params):
    who = people(n, 3, 0)
    sensitive = {"group": who["group"], "sex": who["sex"]} if several else who["group"]
    made = sf.SensitiveStratifiedKFold(n_splits, **params)
    splits = made.split(np.zeros((n, 1)), who["y_true"], sensitive_features=sensitive)
    fold = np.zeros(n, dtype=int)
    for number, (_, test) in enumerate(splits):
        fold[test] = number
    return {"fold": "".join(map(str, fold))}


def add_selection():
    for metric in ("equalized_odds", "selection_rate", "roc_auc", "normalized_mutual_info"):
        add(f"p value {metric}", p_value, metric, n_resamples=99)
    add("p value strata", p_value, "recall", control_features="region")
    add("p value weights", p_value, "recall", sample_weight="weight", clusters="mixed", n_resamples=99)
    for output in ("upper_bound", "disparity", "p_value"):
        for metric in ("equalized_odds", "selection_rate", "roc_auc"):
            add(f"scorer {metric} {output}", scored, metric, output)
        add(f"scorer ratio {output}", scored, "precision", output, disparity="ratio")
    add("scorer equivalence", scored, "accuracy", "p_value", margin=0.2, alternative="equivalence")
    add("search upper bound", searched, "upper_bound", {"tolerance": 0.3})
    add("search ratio", searched, "upper_bound", {"tolerance": 0.4}, disparity="ratio")
    add("search p value", searched, "p_value", {"alpha": 0.1})
    add("search nobody", searched, "upper_bound", {"tolerance": 0.0})
    add("audited classifier", trained, Threshold(0.6))
    several = [sf.FairnessTest(metric="accuracy", compare="to_rest"), sf.FairnessTest(metric="roc_auc", **FEWER)]
    add("audited tests", trained, Threshold(0.4), several, control_features="region")
    recall, residual = (sf.FairnessTest(metric=metric, **FEWER) for metric in ("recall", "mean_residual"))
    add("audited clusters", trained, Threshold(0.6), recall, clusters="mixed")
    add("audited weights", trained, Threshold(0.6), recall, test_weight="weight")
    add("audited regressor", trained, Line(3.0), residual)
    add("audited correlation", trained, Line(3.0), sf.CorrelationFairnessTest(**FEWER), groups="age")
    for n, n_splits in ((40, 2), (100, 5), (101, 3)):
        add(f"folds {n} {n_splits}", folds, n, n_splits)
        add(f"folds {n} {n_splits} shuffled", folds, n, n_splits, shuffle=True, random_state=0)
    add("folds several", folds, 120, 4, several=True)


def number(function, *args, **kwargs):
    return {"value": numbers(function(*args, **kwargs))}


def detected(**params):
    who = people(200, 2, 0)
    columns = columns_of(who, params["metric"])
    test = sf.FairnessTest.from_predictions(who["y_true"], who["y_pred"], **columns, **FEWER, **params)
    ways = [{"power": power, "direction": way} for power in (0.5, 0.8) for way in ("up", "down")]
    values = [sf.minimum_detectable_disparity(test, **way) for way in ways]
    return {"value": numbers(values)}


def add_power():
    plans = {
        "rate": {"metric": "selection_rate", "rates": (0.3, 0.5)},
        "ratio": {"metric": "selection_rate", "rates": (0.3, 0.5), "disparity": "ratio", "margin": 0.8},
        "less": {"metric": "selection_rate", "rates": (0.3, 0.5), "alternative": "less"},
        "margin": {"metric": "accuracy", "rates": (0.7, 0.95), "margin": 0.05},
        "equivalence": {"metric": "accuracy", "rates": (0.8, 0.8), "margin": 0.2, "alternative": "equivalence"},
        "asymptotic": {"metric": "precision", "rates": (0.3, 0.5), "method": "asymptotic"},
        "base rates": {"metric": "true_positive_rate", "rates": (0.3, 0.6), "base_rates": (0.5, 0.8)},
        "criterion": {
            "metric": "equalized_odds",
            "rates": {"true_positive_rate": (0.4, 0.7), "false_positive_rate": (0.2, 0.3)},
            "base_rates": 0.5,
        },
        "mean": {"metric": "mean_prediction", "rates": ((1.0, 1.0), (1.5, 2.0))},
        "area": {"metric": "roc_auc", "rates": (0.7, 0.9), "base_rates": 0.4},
        "alpha": {"metric": "selection_rate", "rates": (0.1, 0.4), "alpha": 0.01},
    }
    for name, plan in plans.items():
        add(f"power {name}", number, sf.power, n_per_group=(60, 80), **plan)
        if name in ("rate", "less", "asymptotic", "mean", "alpha"):
            add(f"size {name}", number, sf.required_sample_size, shares=(1, 2), power=0.7, **plan)
    three = {"metric": "selection_rate", "rates": (0.3, 0.5, 0.4)}
    for compare in ("between_groups", "to_rest", "to_reference"):
        add(f"power three {compare}", number, sf.power, n_per_group=(50, 70, 60), compare=compare, **three)
    add("power bonferroni", number, sf.power, n_per_group=(50, 70, 60), adjust="bonferroni", **three)
    rate = {"metric": "selection_rate", "baseline": 0.3}
    found = {direction: {**rate, "direction": direction} for direction in ("auto", "up", "down")}
    found["ratio"] = {"metric": "recall", "baseline": 0.3, "disparity": "ratio"}
    found["mean"] = {"metric": "mean_prediction", "baseline": (1.0, 2.0)}
    add_each("detectable", found, number, sf.minimum_detectable_disparity, n_per_group=(60, 80))
    area = {"metric": "roc_auc", "baseline": 0.7, "n_per_group": (10, 12), "base_rates": 0.5}
    add("detectable area", number, sf.minimum_detectable_disparity, **area)
    for metric in ("selection_rate", "equalized_odds", "roc_auc"):
        add(f"detectable fitted {metric}", detected, metric=metric)


def drawn(cls, crowd=(160, 3, 0), score=None, **params):
    who = people(*crowd)
    columns = {} if score is None else {"y_score": who[score]}
    columns["sensitive_features"] = who["group"]
    return of_display(cls.from_predictions(who["y_true"], who["y_pred"], **columns, **FEWER, **params))


def drawn_thresholds(**params):
    who = people(120, 2, 0)
    given = {"sensitive_features": who["group"], "thresholds": 15, **params}
    return of_display(sf.ThresholdDisplay.from_predictions(who["y_true"], who["y_score"], **given))


def drawn_power(**params):
    return of_display(sf.PowerDisplay.from_rates(0.3, n_samples=[100, 300, 1000], **params))


def drawn_power_of_test():
    who = people(160, 2, 0)
    columns = columns_of(who, "selection_rate")
    test = sf.FairnessTest.from_predictions(None, who["y_pred"], metric="selection_rate", **columns)
    return of_display(sf.PowerDisplay.from_test(test, n_samples=[100, 300, 1000]))


def drawn_individual(cls):
    X, who = features(50)
    params = {"fair_metric": sf.Projection([[1, 0, 0]]), "steps": (20, 0.01)}
    test = sf.IndividualFairnessTest.as_published(logistic(), **params).fit(X, who["y_true"])
    return of_display(cls.from_test(test))


def add_displays():
    for cls in (sf.DisparityDisplay, sf.GroupMetricDisplay, sf.NullDistributionDisplay):
        name = cls.__name__
        add(f"{name} rate", drawn, cls, metric="recall")
        add(f"{name} area", drawn, cls, metric="roc_auc", score="y_score")
        add(f"{name} odds", drawn, cls)
        add(f"{name} margin", drawn, cls, (160, 2, 0), metric="accuracy", margin=0.1)
    add("DisparityDisplay ratio", drawn, sf.DisparityDisplay, metric="recall", disparity="ratio", compare="to_rest")
    for method in ("permutation", "bootstrap", "asymptotic"):
        name = f"NullDistributionDisplay {method}"
        add(name, drawn, sf.NullDistributionDisplay, metric="recall", method=method)
    greater = {"metric": "recall", "alternative": "greater"}
    add("NullDistributionDisplay greater", drawn, sf.NullDistributionDisplay, (160, 2, 0), **greater)
    add("ThresholdDisplay", drawn_thresholds)
    add("ThresholdDisplay recall", drawn_thresholds, metric="recall", method="asymptotic", confidence_level=0.9)
    add("PowerDisplay", drawn_power)
    add("PowerDisplay ratio", drawn_power, disparity="ratio", shares=(0.2, 0.8), base_rates=0.5)
    add("PowerDisplay of a test", drawn_power_of_test)
    add("LossRatioDisplay", drawn_individual, sf.LossRatioDisplay)


#: Cases that iterate to a limit of their own, or follow differences, which other versions reach in other steps.
ITERATIVE = {"individual LSODA", "individual finite_differences", "individual scale"}
CASES = {}
for add_cases in (
    add_metrics,
    add_parameters,
    add_structures,
    add_tables,
    add_drawn,
    add_correlations,
    add_individuals,
    add_audits,
    add_frames,
    add_selection,
    add_power,
    add_displays,
):
    add_cases()


# Reading and writing ------------------------------------------------------------------------


def layout(values):
    """Return the names of a case's numbers, nested as they are."""
    return {name: layout(each) for name, each in values.items()} if isinstance(values, dict) else 0


def flat(values):
    """Yield what a case has below its names, in their order."""
    if isinstance(values, dict):
        for each in values.values():
            yield from flat(each)
    else:
        yield values


def filled(names, values):
    """Return a layout with the next of some values below each name."""
    return {name: filled(each, values) for name, each in names.items()} if isinstance(names, dict) else next(values)


@functools.cache
def stored():
    """Read what is stored."""
    document = json.loads(PATH.read_text(encoding="utf-8"))
    return {
        name: filled(document["layouts"][number], iter(values)) for name, (number, *values) in document["cases"].items()
    }


def store(cases):
    """Write cases, a line each: the number of its layout, which many share, and what stands below its names."""
    compact = functools.partial(json.dumps, separators=(",", ":"))
    layouts, lines = {}, []
    for name, values in cases.items():
        number = layouts.setdefault(compact(layout(values)), len(layouts))
        lines.append(f"{json.dumps(name)}: {compact([number, *flat(values)])}")
    text = ["{", '"layouts": [', ",\n".join(layouts), "],", '"cases": {', ",\n".join(lines), "}", "}", ""]
    PATH.write_text("\n".join(text), encoding="utf-8")


def main(arguments=None):
    """Write the cases that are named, or all; or print what differs."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    task = parser.add_mutually_exclusive_group(required=True)
    task.add_argument("--write", nargs="*", metavar="CASE", help="write tests/golden/frozen.json")
    task.add_argument("--compare", nargs="*", metavar="CASE", help="print what differs from it")
    given = parser.parse_args(arguments)
    computed = {name: compute(name) for name in given.compare or given.write or CASES}
    if given.write is not None:
        cases = {name: computed[name] if name in computed else stored()[name] for name in CASES}
        store(cases)
        return 0
    lines = [f"{name}: {line}" for name, values in computed.items() for line in changes(name, values)]
    print(*lines, f"{len(lines)} differences in {len(computed)} cases", sep="\n")
    return int(bool(lines))


if __name__ == "__main__":
    sys.exit(main())
