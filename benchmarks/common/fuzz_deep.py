"""Calls that begin valid: one of every public class and function, of which one or two things are then changed.

What is changed is a column (its container, its labels, one person's value), a whole argument, or a parameter, which
gets another of the values that its docstring lists, or something that it cannot be. An oracle counts people by hand.
"""

import functools
import math
import re
import signal
import traceback
import warnings
from collections import Counter
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge

import skfairtest
from benchmarks.common.fuzz_calls import LABELS, MISSING, ORDINARY, Call, chance, contained, plain, reraise_others
from benchmarks.common.fuzz_oracle import BY_HAND, GENERAL, HERE, SAME, Outcome, Wrong, expect, value_by_hand
from skfairtest._utils.errors import ParameterError

#: How often what is changed stays valid, as far as that can be known.
VALID = 0.8
#: CPU seconds after which a call is taken to hang.
PATIENCE = 60
#: Numbers that calls are made with, instead of which large ones would only take long.
COSTLY = (
    "n_resamples",
    "steps",
    "n_folds",
    "n_splits",
    "cv",
    "thresholds",
    "max_depth",
    "max_subgroups",
    "n_jobs",
    "verbose",
    "ax",
    "rank",
)
SMALL = (None, "x", -1, 0, 2.5, float("nan"), [], {}, "auto", b"2", 2 + 1j)
STRANGE = (
    *SMALL,
    "",
    "\ud800",
    1,
    True,
    0.5,
    1e300,
    5e-324,
    float("inf"),
    10**20,
    10**400,
    -(10**400),
    Decimal("0.5"),
    pd.NA,
    [1],
    ["x"],
    {"x": 1},
    {1},
    (),
    np.array([1, 2]),
    np.zeros((2, 2)),
    pd.DataFrame(),
    object,
    object(),
    len,
    range(3),
    np.float32(0.5),
    np.datetime64("2026-01-01"),
    slice(3),
)
RATES = (*BY_HAND, *SAME)[:-2]


@dataclass
class Subject:
    """A valid call: what is called, its arguments, and which of these have one value per person."""

    function: object
    arguments: dict
    columns: tuple = ("y_true", "y_pred", "sensitive_features")
    #: The rest is about people, too, and is changed as a whole alone.
    check: object = lambda result, given: None
    doc: object = None
    #: Packages whose errors are passed on: those of the models and the functions that a call holds.
    models: tuple = ()
    plain: dict = field(default_factory=dict)
    changed: list = field(default_factory=list)

    def __post_init__(self):
        self.plain = {name: self.arguments.get(name) for name in self.columns}

    def __str__(self):
        """Return the changed arguments, and how they were changed."""
        return "\n".join(f"  {how}: {name}={self.arguments.get(name)!r:.300}" for name, how in self.changed)


# People -----------------------------------------------------------------------------------------


def people(random):
    """Return columns of some dozen people, as lists."""
    rng = np.random.default_rng(random.randrange(2**32))
    n = random.choice((24, 30, 40, 60))
    y = rng.integers(0, 2, n)
    X = rng.normal(size=(n, 3))
    return {
        "y": y.tolist(),
        "p": np.where(rng.random(n) < 0.7, y, 1 - y).tolist(),
        "q": rng.integers(0, 2, n).tolist(),
        "s": rng.random(n).round(2).tolist(),
        "sex": rng.choice(["f", "m"], n).tolist(),
        "race": rng.choice(["a", "b", "c"], n, p=[0.5, 0.3, 0.2]).tolist(),
        "soil": rng.choice(["clay", "sand"], n).tolist(),
        "weight": (rng.integers(1, 5, n) / 4).tolist(),
        "age": rng.normal(size=n).round(3).tolist(),
        "X": X,
        "paid": (X[:, 0] + rng.normal(size=n) > 0).astype(int).tolist(),
    }


@functools.cache
def model(kind=LogisticRegression):
    """A model that has seen other people."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 3))
    return kind().fit(X, (X[:, 0] + rng.normal(size=200) > 0).astype(int))


# What is true of results ------------------------------------------------------------------------


def known(given, *names):
    """Whether columns are known, and nobody misses a value in them."""
    return all(given.get(name) is not None for name in names)


def columns_of(given, name):
    """Return a feature's columns by name; a bare column is called as the package calls it."""
    values = given[name]
    default = {"sensitive_features": "sensitive_feature_0", "control_features": "control_feature_0"}[name]
    return values if isinstance(values, dict) else {default: values}


def present(given):
    """No result where somebody's value is missing."""
    for name, values in given.items():
        for part in values.values() if isinstance(values, dict) else [values]:
            expect(not isinstance(part, list) or MISSING not in part, f"{name} has missing values that were no error")


def people_of(given, feature, group):
    """Return the places of the people of a group."""
    values = columns_of(given, "sensitive_features")[feature]
    # An audit has what JSON has: a decimal is text.
    return [
        place
        for place, value in enumerate(values)
        if value == plain(group) or (isinstance(value, Decimal) and str(value) == group)
    ]


def same(found, by_hand, what):
    found = math.nan if found is None or found is pd.NA else float(found)
    alike = math.isnan(found) if math.isnan(by_hand) else math.isclose(found, by_hand, rel_tol=1e-7, abs_tol=1e-12)
    expect(alike, f"{what} is {found}, by hand {by_hand}")


def rate(metric, given, places, positive, predicted="y_pred"):
    """Return a rate of some people by hand; None where it is not one."""
    if metric not in RATES or not known(given, "y_true", predicted):
        return None
    weights = given.get("sample_weight") or [1.0] * len(given["y_true"])
    rows = [({"y_true": given["y_true"][i], "y_pred": given[predicted][i]}, float(weights[i])) for i in places]
    return value_by_hand(metric, rows, positive, Call("deep"))


def check_rows(rows, given, positive=None, *, feature=None, values=True):
    """Check the numbers of people and the rates of each row of comparisons."""
    p = rows[[name for name in rows if name.startswith("p_value")]].to_numpy(dtype=float)
    expect(((p > 0) & (p <= 1) | np.isnan(p)).all(), f"p-values are {p}")
    present(given)
    if not known(given, "sensitive_features") or "control_features" in given or known(given, "missing"):
        return
    features = columns_of(given, "sensitive_features")
    for row in rows.to_dict("records"):
        name = row.get("feature", feature) or next(iter(features))
        if name not in features or (feature is None and len(features) > 1 and "feature" not in row):
            continue
        for group, size, value in (("group", "n_group", "value_group"), ("other", "n_other", "value_other")):
            places = people_of(given, name, row[group])
            if group == "other" and not places:
                continue  # everyone else
            same(row[size], len(places), f"{size} of {row[group]!r}")
            by_hand = rate(row.get("metric"), given, places, positive) if values else None
            if by_hand is not None:
                same(row[value], by_hand, f"{row['metric']} of {row[group]!r}")


def check_test(test, given):
    check_rows(test.comparisons_, given, getattr(test, "pos_label_", None))
    str(test).encode()


def check_audit(audit, given):
    if audit.missing == "bounds":  # all ways to divide people whose group is missing
        given = {name: values for name, values in given.items() if name != "sensitive_features"}
    check_rows(
        audit.comparisons_, given, audit.report_pos_label if hasattr(audit, "report_pos_label") else 1, values=False
    )
    audit.to_json()


def check_pair(test, given):
    present(given)
    for row in test.by_model_.to_dict("records"):
        if known(given, "sensitive_features", "y_true", "y_pred_a", "y_pred_b") and "control_features" not in given:
            places = people_of(given, next(iter(columns_of(given, "sensitive_features"))), row["group"])
            same(row["n"], len(places), f"n of {row['group']!r}")
            for name in ("a", "b"):
                by_hand = rate(row["metric"], given, places, test.pos_label_, f"y_pred_{name}")
                if by_hand is not None:
                    same(row[f"value_{name}"], by_hand, f"{row['metric']} of model {name}")


def check_scan(scan, given):
    present(given)
    if scan.guarantee == "split":  # tested are other people than those who were searched
        return
    for row in scan.subgroups_.to_dict("records"):
        if not known(given, "sensitive_features"):
            return
        features = columns_of(given, "sensitive_features")
        texts = {name: list(map(str, values)) for name, values in features.items()}
        if not all(re.fullmatch(r"[a-z]\w*", text) for values in texts.values() for text in {*values}):
            return
        wanted = dict(part.split(" = ") for part in row["subgroup"].split(", "))
        inside = [all(texts[name][i] == text for name, text in wanted.items()) for i in range(scan.n_samples_)]
        same(row["n_group"], sum(inside), f"n_group of {row['subgroup']}")


def check_correlation(test, given):
    present(given)
    if not known(given, "y_true", "y_pred", "sensitive_features") or test.get_params()["correlation"] != "pearson":
        return
    outcome = {
        "prediction": lambda t, p: p,
        "residual": lambda t, p: t - p,
        "absolute_error": lambda t, p: abs(t - p),
    }.get(test.get_params()["of"])
    (x,) = columns_of(given, "sensitive_features").values()
    pairs = list(zip(given["y_true"], given["y_pred"], strict=True))
    if outcome is None or not all(isinstance(value, int | float) for pair in [*pairs, x] for value in np.ravel(pair)):
        return
    if max(abs(float(value)) for pair in pairs for value in pair) > 1e100:
        return  # whose squares are no numbers, by hand
    with np.errstate(all="ignore"):
        by_hand = np.corrcoef([float(value) for value in x], [outcome(float(t), float(p)) for t, p in pairs])[0, 1]
    expect(
        abs(test.comparisons_["correlation"].iloc[0] - by_hand) < 1e-6 or math.isnan(by_hand),
        f"the correlation is {test.comparisons_['correlation'].iloc[0]}, by hand {by_hand}",
    )


def check_adjusted(test, given):
    check_rows(test.comparisons_, given, values=False)


def check_uncertain(test, given):
    present(given)
    if known(given, "sensitive_features", "y_pred") and set(given["y_pred"]) == {0, 1} and len(given) == 3:
        for group, row in test.by_group_.iterrows():
            likely = [float(value) for value in given["sensitive_features"][str(group)]]
            decided = zip(likely, given["y_pred"], strict=True)
            chosen = [share for share, decision in decided if decision == test.pos_label_]
            if test.get_params()["metric"] == "selection_rate" and test.get_params()["estimate"] == "weighted":
                same(row["value"], math.fsum(chosen) / math.fsum(likely), f"selection rate of {group}")


def check_table(table, given):
    present(given)
    if not known(given, *given):
        return
    names = [name for name in ("y_true", "y_pred") if name in given]
    (groups,) = columns_of(given, "sensitive_features").values()
    counted = Counter(zip(groups, *(given[name] for name in names), strict=True))
    for place, group in enumerate(table.groups):
        for cell, number in zip(table.cells, table.counts[0][place], strict=True):
            expect(counted[(plain(group[0]), *map(plain, cell))] == number, f"{group}, {cell}: {number} people")
    expect(table.n_samples == len(groups), f"{table.n_samples} people, there are {len(groups)}")


def check_frame(frame, given):
    present(given)
    # Whether a number equals a duration is scikit-learn's business.
    kinds = {all(isinstance(value, int | float) for value in given[name] or ()) for name in ("y_true", "y_pred")}
    if known(given, *given) and len(kinds) == 1:
        for group, value in frame.by_group.items():
            places = people_of(given, next(iter(columns_of(given, "sensitive_features"))), group)
            same(value, rate("accuracy", given, places, None), f"accuracy of {group!r}")


def check_impact(table, given):
    """Those whose group is not known are a category of their own."""
    if known(given, *given):
        for row in table.to_dict("records"):
            if row["feature"] in columns_of(given, "sensitive_features"):
                same(row["n"], len(people_of(given, row["feature"], row["category"])), f"n of {row['category']!r}")


def check_inequality(found, given):
    present(given)
    if known(given, *given):
        positive = found.pos_label
        for group, row in found.by_group.iterrows():
            places = people_of(given, next(iter(columns_of(given, "sensitive_features"))), group)
            same(row["n"], len(places), f"n of {group!r}")
            benefits = [1 + (given["y_pred"][i] == positive) - (given["y_true"][i] == positive) for i in places]
            same(row["mean_benefit"], sum(benefits) / len(places), f"mean benefit of {group!r}")


def check_folds(folds, given):
    tested = sorted(place for _, test in folds for place in test)
    expect(known(given, "sensitive_features") is False or tested == list(range(len(tested))), f"folds hold {tested}")


def check_p(value, given):
    present(given)
    expect(0 < value <= 1, f"p = {value}")


def check_share(value, given):
    expect(0 <= float(value) <= 1, f"{value} is no share")


def check_sizes(sizes, given):
    expect(all(isinstance(size, int) and size >= 2 for size in sizes), f"sizes are {sizes}")


def check_score(value, given):
    expect(isinstance(value, float), f"a score is {value!r}")


def check_place(value, given):
    expect(value in (0, 1, 2), f"candidate {value}")


def check_predictions(found, given):
    model, X = found
    expect(len(model.predict(X)) == len(X), "not one prediction per person")


# Subjects ---------------------------------------------------------------------------------------


def predicted(name, check=check_test, **more):
    """A subject: a class that is asked about predictions."""

    def make(random, given):
        cls = getattr(skfairtest, name)
        arguments = {"y_true": given["y"], "y_pred": given["p"], "sensitive_features": given["sex"]}
        for key, value in more.items():
            arguments[key] = value(random, given) if callable(value) else value
        columns = tuple(
            key
            for key in (
                "y_true",
                "y_pred",
                "y_pred_a",
                "y_pred_b",
                "sensitive_features",
                "sample_weight",
                "control_features",
            )
            if key in arguments
        )
        arguments = {key: value for key, value in arguments.items() if value is not None}
        return Subject(cls.from_predictions, arguments, tuple(key for key in columns if key in arguments), check, cls)

    return make


def one_of(*values):
    return lambda random, given: random.choice(values)


def column(*names):
    """One of some columns."""
    return lambda random, given: given[names[0]] if len(names) == 1 else {name: given[name] for name in names}


def maybe(name, share=0.15):
    return lambda random, given: given[name] if chance(random, share) else None


FEW = {"n_resamples": 39, "random_state": 0}


def paired(random, given):
    made = predicted(
        "PairedFairnessTest",
        check_pair,
        y_pred_a=column("p"),
        y_pred_b=column("q"),
        y_pred=None,
        metric=one_of(*RATES),
        **FEW,
    )(random, given)
    return made


def uncertain(random, given):
    likely = given["s"]
    groups = {"a": likely, "b": [1 - value for value in likely]}
    return predicted(
        "UncertainGroupsTest",
        check_uncertain,
        sensitive_features=lambda r, g: groups,
        metric=one_of("selection_rate", "accuracy"),
        **FEW,
    )(random, given)


def few_labels(random, given):
    """A test of people of whom two thirds have a label, and all a judge's guess or score."""

    def test(y_pred, sensitive_features, y_judge, **params):
        labels = [label if place % 3 else None for place, label in enumerate(given["y"])]
        return skfairtest.LabelledFairnessTest.from_predictions(
            labels, y_pred, sensitive_features=sensitive_features, y_judge=y_judge, **params
        )

    def check(test, known):
        check_rows(test.comparisons_, {**known, "y_true": None}, values=False)
        low, high = test.confidence_interval_
        expect(not low > high, f"the interval is {low} to {high}")
        n_labels = test.labels_["labels"].sum()
        expect(n_labels <= len(given["y"]), f"there are {n_labels} labels")
        str(test).encode()

    arguments = {
        "y_pred": given["p"],
        "sensitive_features": given["sex"],
        "y_judge": given[random.choice("qs")],
        "labelled": "at_random",
        "metric": random.choice(("true_positive_rate", "false_positive_rate", "accuracy", "precision")),
    }
    return Subject(test, arguments, tuple(arguments)[:3], check, skfairtest.LabelledFairnessTest)


def sensitivity(random, given):
    """What a verdict may be with ever stronger confounders."""

    def ask(y_true, y_pred, sensitive_features, to, at, **params):
        test = skfairtest.FairnessTest.from_predictions(y_true, y_pred, sensitive_features=sensitive_features, **params)
        return test.sensitivity(to, at=at)

    def check(answer, known):
        present(known)
        for _, rows in answer.frame.sort_values("gamma").groupby(["metric", "group", "other"], dropna=False):
            for what in ("p_value", "p_value_adjusted"):
                low, high = (rows[f"{what}_{end}"].to_numpy(float) for end in ("low", "high"))
                wider = (np.diff(low) < 1e-9).all() and (np.diff(high) > -1e-9).all()
                expect((low <= high + 1e-12).all() and wider, f"{what} is {low} to {high} by confounder")
        str(answer).encode()

    arguments = {
        "y_true": given["y"],
        "y_pred": given["p"],
        "sensitive_features": given[random.choice(("sex", "race"))],
        "metric": random.choice((*RATES, "equalized_odds")),
        "to": "confounding",
        "at": random.choice((1.1, [1.0, 1.5, 3.0])),
    }
    return Subject(ask, arguments, check=check, doc=skfairtest.FairnessTest)


def sequential(random, given):
    def feed(y_true, y_pred, sensitive_features, **params):
        test = skfairtest.SequentialFairnessTest(**params)
        test.partial_fit(y_true=y_true, y_pred=y_pred, sensitive_features=sensitive_features)
        return skfairtest.SequentialFairnessTest.from_json(test.to_json())

    arguments = {"y_true": given["y"], "y_pred": given["p"], "sensitive_features": given["sex"]}
    params = {
        "metric": random.choice(("selection_rate", "accuracy")),
        "margin": random.choice((0.0, 0.1)),
        "alpha": 0.05,
    }
    return Subject(feed, arguments | params, check=check_test, doc=skfairtest.SequentialFairnessTest)


def individual(random, given):
    def fit(X, y, sensitive_features, **params):
        return skfairtest.IndividualFairnessTest(model(), **params).fit(X, y, sensitive_features=sensitive_features)

    metrics = (skfairtest.Mahalanobis(np.diag([0.0, 0.5, 0.9])), skfairtest.Projection([[1.0, 0.0, 0.0]]))
    arguments = {
        "X": given["X"],
        "y": given["paid"],
        "sensitive_features": given["sex"],
        "steps": (4, 0.2),
        "fair_metric": random.choice((*metrics, "sensitive_subspace")),
    }

    def check(test, known):
        expect(test.n_samples_ == len(given["y"]), f"n_samples_ is {test.n_samples_}")
        check_p(1.0 if math.isnan(test.p_value_) else test.p_value_, known)

    return Subject(fit, arguments, ("y", "sensitive_features"), check, skfairtest.IndividualFairnessTest)


def from_frame(random, given):
    data = {"y": given["y"], "p": given["p"], "g": given["sex"]}

    counted = {}

    def count(y, p, g, engine, **asked):
        counted.update(asked)
        return skfairtest.CountTable.from_frame(engine({"y": y, "p": p, "g": g}), **asked)

    asked = {
        "y_true": "y",
        "y_pred": "p",
        "sensitive_features": "g",
        "engine": random.choice((pd.DataFrame, pl.DataFrame)),
    }

    def check(table, known):
        names = {"y": "y_true", "p": "y_pred", "g": "sensitive_features"}
        check_table(table, {names[key]: known[key] for key in names if counted[names[key]] is not None})

    return Subject(count, data | asked, ("y", "p", "g"), check, skfairtest.CountTable.from_frame)


def from_counts(random, given):
    counted = Counter(zip(given["sex"], given["p"], strict=True))
    data = {"sex": [key[0] for key in counted], "p": [key[1] for key in counted], "count": list(counted.values())}

    def check(table, known):
        if known["data"] is data:
            check_table(table, {"y_pred": given["p"], "sensitive_features": {"sex": given["sex"]}})

    return Subject(
        skfairtest.CountTable.from_counts, {"data": data, "y_pred": "p", "sensitive_features": "sex"}, ("data",), check
    )


def significance(random, given):
    from sklearn.metrics import accuracy_score

    def frame(**arguments):
        made = skfairtest.SignificanceFrame(metrics=accuracy_score, **arguments, test_params={"n_resamples": 19})
        made.p_values()
        return made

    arguments = {"y_true": given["y"], "y_pred": given["p"], "sensitive_features": given["sex"], "random_state": 0}
    return Subject(
        frame, arguments, check=check_frame, doc=skfairtest.SignificanceFrame, models=("fairlearn", "sklearn")
    )


def function(name, check, **more):
    def make(random, given):
        arguments = {"y_true": given["y"], "y_pred": given["p"], "sensitive_features": given["sex"]}
        for key, value in more.items():
            arguments[key] = value(random, given) if callable(value) else value
        arguments = {key: value for key, value in arguments.items() if value is not None}
        columns = tuple(key for key in ("y_true", "y_pred", "sensitive_features") if key in arguments)
        return Subject(getattr(skfairtest, name), arguments, columns, check)

    return make


def models(random, given):
    candidates = {"old": given["p"], "new": given["q"], "flat": given["paid"]}

    def check(found, known):
        expect(len(found.results) == 2, f"{len(found.results)} candidates")
        check_p(found.results["p_value_adjusted"].iloc[0], known)

    arguments = {"models": candidates, "y": given["y"], "sensitive_features": given["sex"], "metric": "accuracy", **FEW}
    return Subject(skfairtest.compare_models, arguments, ("models", "y", "sensitive_features"), check)


def powers(name, check, **arguments):
    def make(random, given):
        rates = [random.choice((0.2, 0.3)), random.choice((0.5, 0.6))]
        common = {"rates": rates} if "baseline" not in arguments else {}
        metric = random.choice(("selection_rate", "true_positive_rate", "accuracy"))
        return Subject(getattr(skfairtest, name), {"metric": metric, **common, **arguments}, (), check)

    return make


def scorer(random, given):
    def score(X, y, sensitive_features, metric, **params):
        made = skfairtest.make_fairness_scorer(metric, **params)
        return made(model(), X, y, sensitive_features=sensitive_features)

    arguments = {
        "X": given["X"],
        "y": given["paid"],
        "sensitive_features": given["sex"],
        "metric": random.choice(RATES),
        "output": random.choice(("upper_bound", "disparity", "statistic", "p_value")),
    }
    doc = skfairtest.make_fairness_scorer
    return Subject(score, arguments, ("y", "sensitive_features"), check_score, doc, ("sklearn",))


def selection(random, given):
    def select(results, **params):
        return skfairtest.select_fair("accuracy", "fair", **params)(results)

    rng = np.random.default_rng(random.randrange(2**32))
    results = {
        f"split{k}_test_{name}": rng.random(3) * sign
        for k in range(3)
        for name, sign in (("accuracy", 1), ("fair", -1))
    }
    return Subject(select, {"results": results, "tolerance": 2.0}, (), check_place, skfairtest.select_fair)


def audited(name, kind, target, metric):
    def make(random, given):
        def fit(X, y, sensitive_features, **params):
            made = getattr(skfairtest, name)(kind(), **params)
            return made.fit(X, y, sensitive_features=sensitive_features), X

        arguments = {
            "X": given["X"],
            "y": given[target],
            "sensitive_features": given["sex"],
            "metric": metric,
            "on_rejection": "ignore",
            "cv": 2,
        }
        return Subject(
            fit, arguments, ("y", "sensitive_features"), check_predictions, getattr(skfairtest, name), ("sklearn",)
        )

    return make


def folds(random, given):
    def split(y, sensitive_features, **params):
        made = skfairtest.SensitiveStratifiedKFold(**params)
        return list(made.split(y, y, sensitive_features=sensitive_features))

    arguments = {"y": given["y"], "sensitive_features": given["sex"], "n_splits": 2, "shuffle": chance(random, 0.5)}
    return Subject(
        split, arguments, ("y", "sensitive_features"), check_folds, skfairtest.SensitiveStratifiedKFold, ("sklearn",)
    )


def own_rate(random, given):
    def test(name, event, given, **arguments):
        metric = skfairtest.Rate(name, event, given)
        return skfairtest.FairnessTest.from_predictions(metric=metric, **arguments)

    arguments = {
        "y_true": given["y"],
        "y_pred": given["p"],
        "sensitive_features": given["sex"],
        "name": "own",
        "event": random.choice(("y_pred", "~y_pred")),
        "given": random.choice((None, "y_true")),
    }
    return Subject(test, arguments, check=check_test, doc=skfairtest.Rate)


def own_score(random, given):
    def test(name, evaluate, **arguments):
        metric = skfairtest.ScoreMetric(name, evaluate)
        return skfairtest.FairnessTest.from_predictions(metric=metric, **arguments, **FEW)

    def share(y_true, y_pred, sample_weight=None):
        return np.average(y_true == y_pred, weights=sample_weight)

    arguments = {"y_true": given["y"], "y_pred": given["p"], "sensitive_features": given["sex"]}
    return Subject(test, arguments | {"name": "own", "evaluate": share}, check=check_test, doc=skfairtest.ScoreMetric)


def drawing(name, **more):
    """A display, which is drawn and closed."""

    def make(random, given):
        import matplotlib as mpl
        from matplotlib import pyplot as plt

        mpl.use("Agg")

        def draw(**arguments):
            try:
                return getattr(skfairtest, name).from_predictions(**arguments)
            finally:
                plt.close("all")

        made = function("impact_table", lambda display, known: present(known), **more)(random, given)
        return Subject(draw, made.arguments, made.columns, made.check, getattr(skfairtest, name).from_predictions)

    return make


SUBJECTS = {
    "FairnessTest": predicted(
        "FairnessTest",
        metric=one_of(*RATES, "equalized_odds"),
        sample_weight=maybe("weight"),
        control_features=maybe("soil"),
        **FEW,
    ),
    "PairedFairnessTest": paired,
    "FairnessAudit": predicted(
        "FairnessAudit",
        check_audit,
        sensitive_features=column("sex", "race"),
        metrics=one_of("selection_rate", "accuracy"),
        **FEW,
    ),
    "SubgroupScan": predicted(
        "SubgroupScan",
        check_scan,
        sensitive_features=column("sex", "race"),
        min_group_size=4,
        metric=one_of("selection_rate", "accuracy"),
        max_depth=2,
        n_resamples=19,
        random_state=0,
    ),
    "CorrelationFairnessTest": predicted(
        "CorrelationFairnessTest",
        check_correlation,
        sensitive_features=column("age"),
        y_pred=column("s"),
        of=one_of("residual", "absolute_error", "prediction"),
        **FEW,
    ),
    "AdjustedFairnessTest": predicted(
        "AdjustedFairnessTest",
        check_adjusted,
        covariates=lambda r, g: g["X"],
        outcome_model=lambda r, g: Ridge(),
        group_model=lambda r, g: Ridge(),
        n_folds=2,
        **FEW,
    ),
    "UncertainGroupsTest": uncertain,
    "LabelledFairnessTest": few_labels,
    "FairnessTest.sensitivity": sensitivity,
    "SequentialFairnessTest": sequential,
    "IndividualFairnessTest": individual,
    "CountTable.from_predictions": predicted("CountTable", check_table),
    "CountTable.from_frame": from_frame,
    "CountTable.from_counts": from_counts,
    "SignificanceFrame": significance,
    "fairness_p_value": function("fairness_p_value", check_p, metric=one_of(*RATES), **FEW),
    "impact_table": function(
        "impact_table", check_impact, y_true=None, sensitive_features=column("sex", "race"), intersections=False
    ),
    "inequality_decomposition": function(
        "inequality_decomposition", check_inequality, alpha=2.0, confidence_level=0.9, **FEW
    ),
    "compare_models": models,
    "power": powers("power", check_share, n_per_group=[40, 60]),
    "required_sample_size": powers("required_sample_size", check_sizes, power=0.7),
    "minimum_detectable_disparity": powers(
        "minimum_detectable_disparity", lambda found, given: None, baseline=0.4, n_per_group=[80, 90]
    ),
    "make_fairness_scorer": scorer,
    "select_fair": selection,
    "AuditedClassifier": audited("AuditedClassifier", LogisticRegression, "paid", "selection_rate"),
    "AuditedRegressor": audited("AuditedRegressor", LinearRegression, "age", "mean_residual"),
    "SensitiveStratifiedKFold": folds,
    "Rate": own_rate,
    "ScoreMetric": own_score,
    "DisparityDisplay": drawing("DisparityDisplay", metric="selection_rate"),
    "GroupMetricDisplay": drawing("GroupMetricDisplay", metric="selection_rate"),
    "NullDistributionDisplay": drawing("NullDistributionDisplay", metric="accuracy", method="permutation", **FEW),
    "ThresholdDisplay": drawing("ThresholdDisplay", y_pred=None, y_score=column("s"), thresholds=5),
}


# Changes ----------------------------------------------------------------------------------------


@functools.cache
def choices(doc):
    """Return the values that a docstring lists for each parameter."""
    found = {}
    for line in (doc.__doc__ or "").splitlines():
        match = re.match(r"\s+(\w+) : .*\{(.+?)\}", line)
        if match:
            found[match[1]] = re.findall(r'"([^"]+)"', match[2])
    return {name: values for name, values in found.items() if values}


def change(subject, random):
    """Change one thing."""
    valid = chance(random, VALID)
    listed = choices(subject.doc or subject.function)
    names = list(subject.arguments) + [name for name in listed if name not in subject.arguments and chance(random, 0.3)]
    name = random.choice(names)
    number = isinstance(subject.arguments.get(name), float) and name not in subject.columns
    if valid and name not in listed and not number and subject.columns:
        name = random.choice(subject.columns)
    if name in subject.columns and (valid or chance(random, 0.6)):
        return change_column(subject, name, random, valid)
    if valid and number:
        subject.arguments[name], how = subject.arguments[name] * random.choice((0.9, 0.95, 1.05)), "a bit more or less"
    elif valid:
        subject.arguments[name], how = random.choice(listed.get(name, [subject.arguments.get(name)])), "another choice"
    else:
        subject.arguments[name] = random.choice(SMALL if name in COSTLY else STRANGE)
        how = "strange"
    if name in subject.columns:
        subject.plain[name] = None
    subject.changed.append((name, how))


def change_column(subject, name, random, valid):
    """Change a column, or one of several, and what is known of its values."""
    values = subject.plain[name]
    if values is None or not len(values):
        return
    key = None
    if isinstance(values, dict):
        key = random.choice(list(values))
        if values[key] is None:
            return
    old = list(values if key is None else values[key])
    if MISSING in old:
        return
    how = random.choice(("container", "container", "labels") if valid else ("missing", "odd one", "shorter"))
    new = old
    labels = how == "labels" and ("features" in name or name == "g") and all(isinstance(value, str) for value in old)
    if labels:
        pool = list(LABELS[random.choice([kind for kind in ORDINARY if kind != "booleans"])])
        seen = dict.fromkeys(old)
        if len(pool) >= len(seen):
            renamed = dict(zip(seen, random.sample(pool, len(seen)), strict=True))
            new = [renamed[value] for value in old]
    elif how == "missing":
        new = [*old]
        new[random.randrange(len(new))] = random.choice((None, float("nan"), pd.NA, pd.NaT, np.datetime64("NaT")))
    elif how == "odd one":
        new = [*old]
        new[random.randrange(len(new))] = random.choice(LABELS[random.choice(list(LABELS))])
    elif how == "shorter":
        new = old[:-1]
    given = contained(random, new)
    if key is None:
        subject.arguments[name], subject.plain[name] = given.container, given.values
    else:
        subject.arguments[name] = {**subject.arguments[name], key: given.container}
        subject.plain[name] = {**values, key: given.values}
    if given.values is None or (isinstance(values, dict) and given.values is None):
        subject.plain[name] = None
    subject.changed.append((name, f"{how}, {given.how}"))


def subject_of(kind, random):
    """Return a valid call of which one or two things are changed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = SUBJECTS[kind](random, people(random))
        for _ in range(random.choice((1, 1, 2))):
            change(made, random)
    return made


# Outcomes ---------------------------------------------------------------------------------------


class Hangs(BaseException):
    """A call that takes too long."""


def _hangs(*_):
    raise Hangs


def judged(error, subject):
    """Return what an error is about, and what is wrong with it."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f"{type(error).__name__} in {Path(frames[-1].filename).name}:{frames[-1].lineno}: {str(error)[:300]!a}"
    if isinstance(error, Hangs):
        return "hangs", [f"more than {PATIENCE} s in {Path(frames[-1].filename).name}"]
    if isinstance(error, skfairtest.FairnessRejectedError):  # what on_rejection="raise" asks for
        return "result", []
    inside = [frame for frame in frames if Path(frame.filename).is_relative_to(HERE)]
    if not inside:
        return "no call", []  # a frame that cannot hold such columns
    if any(name in frame.filename for name in subject.models for frame in frames):
        return "a model's", []
    if any(name in ("loss", "gradient") and callable(subject.arguments[name]) for name, _ in subject.changed):
        return "a model's", []  # the caller's own function
    ours = isinstance(error, ValueError | TypeError | NotFittedError) and frames[-1] == inside[-1]
    if not ours:
        return "foreign", [f"a foreign error: {place}"]
    names = [
        *subject.arguments,
        "metric",
        "metrics",
        "y_true",
        "y_pred",
        "sensitive_features",
        "X",
        "frame",
        "estimator",
    ]
    message = str(error)
    if isinstance(error, ParameterError) or any(re.search(rf"(?<!\w){name}\b", message) for name in names):
        return "named", []
    if any(words in message for words in GENERAL):
        return "general", []
    return "unnamed", [f"an error that names no parameter: {place}"]


def run(subject):
    """Make a call, and say what became of it."""
    signal.signal(signal.SIGVTALRM, _hangs)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        signal.setitimer(signal.ITIMER_VIRTUAL, PATIENCE)
        try:
            result = subject.function(**subject.arguments)
        except BaseException as error:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
            if not isinstance(error, Hangs):
                reraise_others(error)
            kind, violations = judged(error, subject)
        else:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
            kind, violations = "result", []
            try:
                subject.check(result, subject.plain)
            except Wrong as error:
                violations = [str(error)]
            except Exception as error:
                last = traceback.extract_tb(error.__traceback__)[-1]
                violations = [f"cannot be checked: {error!r:.200} in {Path(last.filename).name}:{last.lineno}"]
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    violations += [
        f"{warning.category.__name__} from {Path(warning.filename).name}:{warning.lineno}: {warning.message}"
        for warning in caught
        if issubclass(warning.category, RuntimeWarning) and not any(name in warning.filename for name in subject.models)
    ]
    return Outcome(kind, list(dict.fromkeys(violations)))
