"""What every public class keeps, whatever it tests: the same people give the same answer.

However they are written down, in whatever order they come, whatever their groups are called, and however many processes
work. A new public class gets a `Kind`, which says how it is asked about people and what it answers, and its `Case`s; it
is then held to everything in this file. A test of one class is here only where it needs the cases.
"""

import inspect
import itertools
import json
import pickle
import re
from dataclasses import dataclass
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from fairlearn.metrics import false_positive_rate, selection_rate
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier, RandomForestRegressor
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import skfairtest
from skfairtest import (
    AdjustedFairnessTest,
    AuditedClassifier,
    AuditedRegressor,
    CorrelationFairnessTest,
    CountTable,
    FairnessAudit,
    FairnessTest,
    IndividualFairnessTest,
    LabelledFairnessTest,
    Mahalanobis,
    PairedFairnessTest,
    Projection,
    SensitiveStratifiedKFold,
    SequentialFairnessTest,
    SignificanceFrame,
    SubgroupScan,
    UncertainGroupsTest,
    compare_models,
    fairness_p_value,
    impact_table,
    inequality_decomposition,
    make_fairness_scorer,
    select_fair,
)

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*are approximate:UserWarning"),
    pytest.mark.filterwarnings("ignore:.*cannot reject at:UserWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning"),
    pytest.mark.filterwarnings("ignore:sensitive_features. .* left out of comparisons:UserWarning"),
]


# People, and how they are written down --------------------------------------------------------------------------------


@cache
def people(n, *, small=False, seed=0):
    """Three unequal groups in two strata, what a model says of them, and what it knows.

    With `small`, two more groups: one without positives of any kind, and one of a single person.
    """
    rng = np.random.default_rng(seed)
    tree = rng.choice(["ash", "birch", "cedar"], n, p=[0.5, 0.3, 0.2])
    y_true = rng.random(n) < 0.5
    y_pred = rng.random(n) < np.where(y_true, 0.7, 0.3) + 0.2 * (tree == "cedar")
    soil = rng.choice(["clay", "sand"], n)
    data = pd.DataFrame({"y_true": y_true.astype(int), "y_pred": y_pred.astype(int), "tree": tree, "soil": soil})
    if small:
        soils = ["clay", "sand", "sand", "sand", "clay"]
        added = pd.DataFrame({"y_true": 0, "y_pred": 0, "tree": ["dogwood"] * 4 + ["elm"], "soil": soils})
        data = pd.concat([data, added], ignore_index=True)
    data["weight"] = rng.integers(1, 5, len(data)) / 4
    data["household"] = data["tree"] + (data.groupby("tree").cumcount() // 3).map("{:03d}".format)
    # Queries of several trees; those who are left over are alone in theirs.
    data["query"] = [f"q{number // 7:02d}" if number < 98 else f"r{number:03d}" for number in data.index]
    # What follows is of people whose income and savings say who they are, and whose errors grow with age.
    n, rng = len(data), np.random.default_rng([seed, 1])
    sex = rng.choice(["f", "m"], n)
    for name, shift in [("income", 1.0), ("savings", 0.5), ("debts", 0.0)]:
        data[name] = rng.normal(size=n) + shift * (sex == "m")
    data["wealth"] = data["income"] + data["savings"] - data["debts"] + rng.normal(size=n)
    data["paid"] = (data["wealth"] > 0.5).astype(int)
    data["sex"] = sex
    data["moss"] = rng.choice(["no", "yes"], n)
    data["score"] = (data["y_pred"] / 2 + rng.random(n) / 2).round(2)
    data["age"] = rng.integers(20, 70, n)
    data["forecast"] = rng.normal(size=n).round(2)
    data["outcome"] = (data["forecast"] + rng.normal(size=n) * data["age"] / 40).round(2)
    data["site"] = np.where(np.arange(n) < 2, "c", rng.choice(["a", "b"], n))
    # What another model says of them.
    data["y_pred_b"] = np.where(rng.random(n) < 0.7, data["y_pred"], data["y_true"])
    return data


X_COLUMNS = ["income", "savings", "debts"]


@dataclass(frozen=True)
class Container:
    """What a column with a name or without one is put into, and whether its name survives."""

    column: Any
    named: bool = True
    #: Several columns; by default a dict of such columns.
    frame: Any = None

    def columns(self, data):
        return {name: self.column(data[name], None) for name in data} if self.frame is None else self.frame(data)


def table_of(make_column, make_frame):
    """Put columns with a name into a frame, and those without one into a column."""
    return lambda values, name: make_frame({name: values.tolist()}) if name else make_column(values.tolist())


CONTAINERS = {
    "list": Container(lambda values, name: values.tolist(), named=False),
    "tuple": Container(lambda values, name: tuple(values), named=False),
    "numpy": Container(lambda values, name: values.to_numpy(), named=False),
    "numpy strings or numbers": Container(lambda values, name: np.array(values.tolist()), named=False),
    "numpy objects": Container(lambda values, name: values.astype(object).to_numpy(), named=False),
    "2-D array": Container(lambda values, name: values.to_numpy()[:, None] if name else values.to_numpy(), named=False),
    "pandas": Container(lambda values, name: values.rename(name), frame=lambda data: data),
    "pandas nullable": Container(lambda values, name: values.convert_dtypes().rename(name)),
    "pandas category": Container(lambda values, name: values.astype("category").rename(name)),
    "pandas frame": Container(lambda values, name: values.rename(name).to_frame() if name else values),
    "polars": Container(lambda values, name: pl.Series(name or "", values.to_numpy())),
    "polars frame": Container(table_of(pl.Series, pl.DataFrame), frame=pl.from_pandas),
    "pyarrow": Container(table_of(pa.array, pa.table), frame=lambda data: pa.table(data.to_dict("list"))),
    "dict": Container(lambda values, name: {name: values.tolist()} if name else values.tolist()),
}
PANDAS = CONTAINERS["pandas"]


# Classes --------------------------------------------------------------------------------------------------------------


class Kind:
    """How a public class is asked about people, and what it says of them: here a test that is fitted.

    Columns `labels` are of two classes, 0 and 1, and `groups` is one of names. Of what a test says, `fixed` depends on
    no random number, `drawn` does where numbers are drawn, and `loose` may differ by so many times a case's tolerance.
    """

    cls: type
    everybody: pd.DataFrame
    labels: tuple[str, ...] = ()
    groups: str = "tree"
    frames: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    loose: dict[str, float] = {}
    #: Methods that need a fit, what is requested in pipelines, and parameters that fit would refuse.
    written: tuple[str, ...] = ("to_frame", "to_dict", "to_json", "to_text", "to_html", "to_markdown", "plot")
    requests: tuple[str, ...] = ("sensitive_features",)
    nonsense: dict[str, Any] = {}
    parallel = True
    #: The parameters that hold models.
    models: tuple[str, ...] = ("estimator",)
    #: Of the frames, the one whose rows are comparisons.
    compared = "comparisons_"

    def made(self, case, *, labels=None, **params):
        """Make a test that is not fitted; its model, if it has one, has seen labels that are written so."""
        return self.cls(**{"random_state": 7, **case.params, **params})

    def ask(self, case, data, *, labels=None, put=PANDAS, **params):
        """Fit a test of this case to people."""
        if labels is not None:
            data = data.assign(**{name: data[name].map(labels) for name in self.labels})
        return self.fit(self.made(case, labels=labels, **params), case, data, put)

    def fit(self, test, case, data, put=PANDAS):
        X, y, more = self.arguments(case, data, put)
        return test.fit(X, y, **more)

    def says(self, test):
        """Return everything that a test says."""
        return {name: getattr(test, name) for name in (*self.frames, *self.values)}

    def check_labels(self, test, data, mapping):
        """Check that a test knows how labels are written."""


class Groups(Kind):
    """Tests of groups; their people leave something out of comparisons."""

    cls = FairnessTest
    everybody = people(100, small=True)
    labels = ("y_true", "y_pred")
    frames = ("by_group_", "comparisons_", "excluded_")
    values = (
        "p_value_", "statistic_", "disparity_", "confidence_interval_", "p_value_interval_", "rejected_", "concern_",
        "method_", "variance_", "within_", "adjust_", "n_resamples_", "groups_", "n_samples_", "null_distribution_",
    )  # fmt: skip
    requests = ("sensitive_features", "control_features", "sample_weight", "clusters")
    nonsense = {"metric": "nonsense", "margin": "wide"}
    passed = {"weight": "sample_weight", "household": "clusters", "query": "clusters"}

    def arguments(self, case, data, put):
        more = {"sensitive_features": put.column(data["tree"], "tree")}
        if case.control:
            more["control_features"] = put.column(data["soil"], "soil")
        more |= {self.passed[name]: put.column(data[name], None) for name in case.more}
        return put.column(data["y_pred"], None), put.column(data["y_true"], None), more

    def fixed(self, test):
        return [test.comparisons_["disparity"]]

    def drawn(self, test):
        return test.null_distribution_

    def sentence(self, test):
        return "" if test.alternative == "equivalence" else "tree"

    def check_labels(self, test, data, mapping):
        assert test.pos_label_ == mapping[1]
        assert type(test.pos_label_) is type(mapping[1])


class Uncertain(Groups):
    """Tests of groups that are known by probabilities, which follow from people's scores."""

    cls = UncertainGroupsTest
    everybody = people(100)
    #: They are names of columns, which are text in every container.
    groups = None
    requests = ("sensitive_features",)
    #: It has no n_jobs.
    parallel = False

    def arguments(self, case, data, put):
        names = sorted(data["tree"].unique(), key=str)
        others = ((1 - data["score"]) / 2 + 0.05).clip(upper=0.3)
        likely = pd.DataFrame(
            {name: np.where(data["tree"] == name, 1 - others * (len(names) - 1), others) for name in names},
            index=data.index,
        )
        return (
            put.column(data["y_pred"], None),
            put.column(data["y_true"], None),
            {"sensitive_features": put.columns(likely)},
        )

    def sentence(self, test):
        return "" if test.alternative == "equivalence" else "group"


class FewLabels(Groups):
    """Tests of people of whom those of even age have a true label, and a judge guesses."""

    cls = LabelledFairnessTest
    labels = ("y_true", "y_pred", "y_pred_b")
    frames = (*Groups.frames, "labels_", "judge_")
    requests = ("sensitive_features", "y_judge", "label_probability")
    parallel = False

    def arguments(self, case, data, put):
        data = data.assign(half=0.5)
        # Every container says in its own way that a value is missing; the one that all have is None in a list.
        known = data["age"] % 2 == 0
        y_true = [value if here else None for value, here in zip(data["y_true"].tolist(), known, strict=True)]
        more = {
            "sensitive_features": put.column(data["tree"], "tree"),
            "y_judge": put.column(data["y_pred_b"], None),
            "label_probability": put.column(data["half"], None),
        }
        return put.column(data["y_pred"], None), y_true, more


class Pairs(Groups):
    """Tests of two models."""

    cls = PairedFairnessTest
    labels = ("y_true", "y_pred", "y_pred_b")
    frames = (*Groups.frames, "disparities_", "by_model_")
    nonsense = {"metric": "nonsense", "alternative": "wide"}
    models = ("estimator_a", "estimator_b")

    def arguments(self, case, data, put):
        _, y_true, more = super().arguments(case, data, put)
        return put.columns(data[["y_pred", "y_pred_b"]]), y_true, more

    def sentence(self, test):
        return "tree"


class Audits(Kind):
    """Audits of two features and their intersections."""

    cls = FairnessAudit
    everybody = people(160)
    labels = ("y_true", "y_pred")
    frames = ("comparisons_", "by_group_", "excluded_")
    values = ("p_value_", "rejected_", "concern_", "n_samples_")
    requests = (*Groups.requests, "y_judge", "label_probability")
    nonsense = {"metrics": "nonsense", "margin": "wide"}

    def arguments(self, case, data, put):
        more = {"sensitive_features": put.columns(data[["tree", "moss"]])}
        if case.control:
            more["control_features"] = put.columns(data[["soil"]])
        return put.column(data["y_pred"], None), put.column(data["y_true"], None), more

    def fit(self, test, case, data, put=PANDAS):
        """Fit, or give the predictions with their scores, which `fit` does not take."""
        y_pred, y_true, more = self.arguments(case, data, put)
        if "score" not in case.more:
            return test.fit(y_pred, y_true, **more)
        params = {name: value for name, value in test.get_params().items() if name != "estimator"}
        return self.cls.from_predictions(y_true, y_pred, y_score=put.column(data["score"], None), **more, **params)

    def says(self, test):
        """Return everything an audit says: the tables of its record as well."""
        return super().says(test) | {"record": json.loads(test.to_json())["tables"]}

    def fixed(self, test):
        return [test.comparisons_["disparity"]]

    def drawn(self, test):
        return test.comparisons_["p_value"]

    def sentence(self, test):
        return "^Fairness audit"


class Scans(Kind):
    """Scans of two features, one of which may be the context."""

    cls = SubgroupScan
    everybody = people(300, small=True)
    labels = ("y_true", "y_pred")
    frames = ("comparisons_", "subgroups_", "not_searched_")
    compared = "subgroups_"
    values = (
        "p_value_", "rejected_", "concern_", "statistic_", "disparity_", "confidence_interval_", "remaining_p_value_",
        "n_searched_", "n_tested_", "edges_", "n_samples_",
    )  # fmt: skip
    requests = ("sensitive_features", "control_features")
    nonsense = {"metric": "nonsense", "compare": "wide"}
    #: It has no n_jobs.
    parallel = False

    def arguments(self, case, data, put):
        more = {"sensitive_features": put.columns(data[["tree", "moss"]])}
        if case.control:
            more["control_features"] = put.columns(data[["soil"]])
        return put.column(data["y_pred"], None), put.column(data["y_true"], None), more

    def fixed(self, test):
        return [test.not_searched_]

    def drawn(self, test):
        return test.subgroups_[["subgroup", "p_value_adjusted"]]

    def sentence(self, test):
        return "^(Significant|No significant) disparity"


class Correlations(Kind):
    """Tests of two numbers, which people of a site are compared by."""

    cls = CorrelationFairnessTest
    everybody = people(90, seed=4)
    frames = ("comparisons_", "excluded_")
    values = (
        "p_value_", "statistic_", "disparity_", "confidence_interval_", "p_value_interval_", "rejected_", "concern_",
        "method_", "adjust_", "n_resamples_", "n_samples_", "pos_label_", "null_distribution_",
    )  # fmt: skip
    groups = None
    requests = ("sensitive_features", "control_features")
    nonsense = {"correlation": "nonsense", "of": 3}

    def arguments(self, case, data, put):
        several = put.columns(data[["age", "income"]]) if case.several else put.column(data["age"], "age")
        more = {"sensitive_features": several}
        if case.control:
            more["control_features"] = put.column(data["site"], "site")
        return put.column(data["forecast"], None), put.column(data["outcome"], None), more

    def made(self, case, *, labels=None, **params):
        return super().made(case, **{"n_resamples": 299, **case.params, **params})

    def fixed(self, test):
        return [test.comparisons_[name] for name in ("correlation", "standard_error", "statistic")]

    def drawn(self, test):
        return test.null_distribution_

    def sentence(self, test):
        return "age|income"


class Adjusted(Kind):
    """Tests of groups given covariates, numbers and names, which people are folded by."""

    cls = AdjustedFairnessTest
    everybody = people(160, seed=5)
    labels = ("y_true", "y_pred")
    frames = ("comparisons_", "excluded_")
    values = (
        "p_value_", "statistic_", "disparity_", "confidence_interval_", "rejected_", "concern_", "method_", "adjust_",
        "n_resamples_", "groups_", "n_samples_",
    )  # fmt: skip
    requests = ("sensitive_features", "covariates", "clusters")
    nonsense = {"alternative": "nonsense", "of": 3}

    def arguments(self, case, data, put):
        more = {"sensitive_features": put.column(data["tree"], "tree")}
        more["covariates"] = put.columns(data[["income", "site"]])
        if "household" in case.more:
            more["clusters"] = put.column(data["household"], None)
        return put.column(data["y_pred"], None), put.column(data["y_true"], None), more

    def fixed(self, test):
        return [test.comparisons_[name] for name in ("value_group", "value_other", "unadjusted")]

    def drawn(self, test):
        return test.comparisons_["p_value"]

    def sentence(self, test):
        return "^(Significant|No significant) disparity"


class Individuals(Kind):
    """Tests of models that have seen other people; a matrix product rounds by the number of its rows."""

    cls = IndividualFairnessTest
    parallel = False
    everybody = people(80, seed=2)
    training = people(300, seed=1)
    labels = ("paid",)
    groups = "sex"
    frames = ("path_",)
    values = (
        "statistic_", "standard_error_", "lower_bound_", "p_value_", "confidence_interval_", "rejected_", "concern_",
        "n_samples_",
    )  # fmt: skip
    loose = {"p_value_": 100}
    written = (*Kind.written, "most_unfair")
    nonsense = {"loss": 3, "steps": "many"}

    def target(self, case):
        return "wealth" if isinstance(case.model, LinearRegression) else "paid"

    def model(self, case, *, labels=None, put=lambda X: X):
        X, y = self.training[X_COLUMNS], self.training[self.target(case)]
        return clone(case.model).fit(put(X), y if labels is None else y.map(labels))

    def made(self, case, *, labels=None, model=None, **params):
        model = self.model(case, labels=labels) if model is None else model
        params = {"fair_metric": FIXED, "statistic": "ratio_of_means", "steps": (24, 0.2), **case.params, **params}
        if params.get("gradient") is GradientOf:
            params["gradient"] = GradientOf(model)
        return self.cls(model, **params)

    def arguments(self, case, data, put):
        return (
            data[X_COLUMNS],
            put.column(data[self.target(case)], None),
            {"sensitive_features": put.column(data["sex"], "sex")},
        )

    def says(self, test):
        examples = pd.DataFrame(matrix(test.unfair_examples_), columns=X_COLUMNS)
        return super().says(test) | {
            "people": examples.set_index(test.to_frame()["person"].to_numpy()),
            "loss_ratios_": pd.DataFrame({"ratio": test.loss_ratios_}, index=test.to_frame()["person"].to_numpy()),
            "gradient": test.solver_report_["gradient"],
        }

    def sentence(self, test):
        assert test.solver_report_["because"] in str(test)
        return "^Similar people are treated differently" if test.concern_ else "^No violation of individual fairness"

    def check_labels(self, test, data, mapping):
        assert list(test.to_frame()["label"]) == list(data["paid"].map(mapping))


class Tools(Kind):
    """What tests inside scikit-learn's and fairlearn's tools: numbers that it answers with."""

    cls = None
    everybody = people(240, seed=7)
    X = ["income", "savings"]

    def ask(self, case, data, *, put=PANDAS, n_jobs=None):
        X, y = data[self.X].to_numpy(), data["paid"].to_numpy()
        given = SimpleNamespace(X=X, y=y, target=data["wealth"].to_numpy(), groups=put.column(data["tree"], "tree"))
        return case.params["answer"](given, n_jobs)

    def says(self, answer):
        return {"numbers": np.asarray(answer)}


def matrix(X):
    """A table's numbers."""
    if isinstance(X, dict):
        return np.column_stack(list(X.values()))
    return np.asarray(X.to_pandas() if hasattr(X, "to_pandas") else X, dtype=float)


# Your own functions; at module level, so that they can be pickled -------------------------------------------------


def gain(y_true, y_pred, sample_weight=None):
    """What a right decision earns, less what a decision costs."""
    positive = np.max([y_true.max(), y_pred.max()])
    return np.average((y_pred == positive) * (2.0 * (y_true == positive) - 1), weights=sample_weight)


def earned(y_true, y_pred):
    """The same without weights."""
    positive = max(y_true.max(), y_pred.max())
    return ((y_pred == positive) * (2.0 * (y_true == positive) - 1)).mean()


def squared(y_true, y_pred):
    """An outcome."""
    return (y_true - y_pred) ** 2


def log_loss(y_true, y_pred):
    """A loss of classifiers."""
    return -np.log(y_pred[np.arange(len(y_true)), np.asarray(y_true).astype(int)])


def absolute_error(y_true, y_pred):
    """A loss in units of its own."""
    return np.abs(y_true - y_pred)


class GradientOf:
    """The derivative of the log loss of a logistic model."""

    def __init__(self, model):
        self.model = model

    def __repr__(self):
        return "GradientOf(model)"

    def __call__(self, X, y):
        return (self.model.predict_proba(X)[:, 1] - y)[:, None] * self.model.coef_


def f2(y_true, y_pred):
    hits, misses, alarms = (np.sum((y_true == t) & (y_pred == p)) for t, p in ((1, 1), (1, 0), (0, 1)))
    return 5 * hits / (5 * hits + 4 * misses + alarms)


@cache
def logistic():
    """A model of those whom tools are asked about."""
    return LogisticRegression().fit(Tools.everybody[Tools.X].to_numpy(), Tools.everybody["paid"])


def of_frame(people, n_jobs):
    given = {
        "y_true": people.y,
        "y_pred": logistic().predict(people.X),
        "sensitive_features": people.groups,
    }
    metrics = {"selection": selection_rate, "fpr": false_positive_rate}
    frame = SignificanceFrame(metrics=metrics, **given, test_params={"n_jobs": n_jobs})
    low, high = frame.ratio_interval()
    drawn = {"n_jobs": n_jobs, "n_resamples": 19}
    own = SignificanceFrame(metrics=f2, **given, random_state=3, test_params=drawn)
    return [*frame.p_values(), *frame.difference_test("to_overall")["ci_high"], *low, *high, own.p_values()]


def of_scorers(people, n_jobs):
    outputs = {"equalized_odds": "upper_bound", "accuracy": "p_value", "roc_auc": "upper_bound", "log_loss": "p_value"}
    outputs = [*outputs.items(), ("equalized_odds", "disparity")]
    made = [make_fairness_scorer(name, output=output, n_jobs=n_jobs, n_resamples=99) for name, output in outputs]
    return [scorer(logistic(), people.X, people.y, sensitive_features=people.groups) for scorer in made]


def of_p_value(people, n_jobs):
    y_pred = logistic().predict(people.X)
    more = {"sensitive_features": people.groups, "n_jobs": n_jobs}
    exact = fairness_p_value(people.y, y_pred, **more)
    return [exact, fairness_p_value(people.y, y_pred, metric=f2, n_resamples=19, **more)]


def of_models(people, n_jobs):
    models = [logistic(), *(LogisticRegression(C=C).fit(people.X, people.y) for C in (0.01, 1e-4))]
    found = compare_models(
        models, people.X, people.y, sensitive_features=people.groups, metric=["accuracy", "precision"], n_jobs=n_jobs,
        random_state=0, n_resamples=99,
    )  # fmt: skip
    names = ["disparity_a", "disparity_b", "ci_low", "ci_high", "p_value", "p_value_adjusted"]
    return found.results[names].to_numpy(dtype=float).ravel()


def of_inequality(people, n_jobs):
    y_pred = logistic().predict(people.X)
    found = inequality_decomposition(people.y, y_pred, sensitive_features=people.groups, n_resamples=99, random_state=0)
    return [*found.parts["value"], *found.by_group["contribution"], found.p_value]


def of_spread(people, n_jobs):
    y_pred, given = logistic().predict(people.X), {"sensitive_features": people.groups, "random_state": 0}
    found = skfairtest.between_group_spread(people.y, y_pred, metric="accuracy", n_resamples=99, **given)
    return [found.standard_deviation, found.ci_low, found.ci_high, found.p_value, found.range_limit]


def of_sequential(people, n_jobs):
    """Two batches, the state written and read after each."""
    y_pred, score = logistic().predict(people.X), logistic().predict_proba(people.X)[:, 1]
    columns, answers = ["disparity", "ci_low", "ci_high", "e_value_adjusted", "p_value", "n_group", "value_group"], []
    for metric, batches in (
        (["selection_rate", "accuracy"], (y_pred, 1 - people.y)),
        ("brier_score", (score, 1 - score)),
    ):
        test = SequentialFairnessTest(metric)
        for predicted in batches:
            test.partial_fit(y_pred=predicted, y_true=people.y, sensitive_features=people.groups)
            test = SequentialFairnessTest.from_json(test.to_json())
        answers += test.comparisons_[columns].to_numpy(dtype=float).ravel().tolist()
    return answers


def of_impact(people, n_jobs):
    table = impact_table(logistic().predict(people.X), sensitive_features=people.groups)
    numbers = ["n", "selected", "ratio", "ci_low", "ci_high", "p_value_adjusted", "shortfall_pool", "flips_test"]
    return [value for _, row in table[numbers].astype(float).fillna(-1).iterrows() for value in row]


def of_audited(people, n_jobs):
    tests = [FairnessTest(n_jobs=n_jobs), FairnessTest(metric="roc_auc", n_resamples=99, random_state=1, n_jobs=n_jobs)]
    audited = AuditedClassifier(LogisticRegression(), tests=tests, on_rejection="ignore")
    return audited.fit(people.X, people.y, sensitive_features=people.groups).p_values_


def of_audited_numbers(people, n_jobs):
    test = FairnessTest(metric="mean_residual", n_resamples=99, random_state=1, n_jobs=n_jobs)
    audited = AuditedRegressor(LinearRegression(), tests=test, on_rejection="ignore")
    return audited.fit(people.X, people.target, sensitive_features=people.groups).p_values_


def of_folds(people, n_jobs):
    folds = SensitiveStratifiedKFold(4, shuffle=True, random_state=2)
    return np.concatenate([test for _, test in folds.split(people.y, people.y, sensitive_features=people.groups)])


def of_selection(people, n_jobs):
    results = {}
    for place, C in enumerate([0.001, 1.0]):
        scoring = {"accuracy": "accuracy", "fair": make_fairness_scorer("demographic_parity")}
        with sklearn.config_context(enable_metadata_routing=True):
            found = cross_validate(
                LogisticRegression(C=C), people.X, people.y, scoring=scoring, cv=SensitiveStratifiedKFold(3),
                n_jobs=n_jobs, params={"sensitive_features": people.groups},
            )  # fmt: skip
        for name in scoring:
            for fold, value in enumerate(found[f"test_{name}"]):
                results.setdefault(f"split{fold}_test_{name}", np.empty(2))[place] = value
    return [select_fair("accuracy", "fair", tolerance=0.5)(results), *np.concatenate(list(results.values()))]


# Cases ----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Case:
    """One way to set up a class."""

    kind: Kind
    name: str
    params: dict[str, Any]
    #: Whether people are in strata, and columns of theirs that are passed, too.
    control: bool = False
    more: tuple[str, ...] = ()
    #: Whether no random number is drawn.
    exact: bool = True
    #: How far last digits may differ where people come in another order or container.
    tolerance: float = 0.0
    model: Any = None
    #: Whether it takes so long that it is run with the slow tests alone.
    slow: bool = False
    #: Whether the order of people is nothing that the answer is about, as it is about that of folds.
    ordered: bool = True

    @property
    def several(self):
        """Whether several sensitive features are passed in one container, which always has names."""
        return self.kind in (AUDITS, SCANS, UNCERTAIN) or (self.kind is CORRELATIONS and not self.more)

    @property
    def data(self):
        """People; of a solver that goes person by person, fewer."""
        return self.kind.everybody[:30] if "solver" in self.params else self.kind.everybody


GROUPS, AUDITS, CORRELATIONS, INDIVIDUALS, TOOLS = Groups(), Audits(), Correlations(), Individuals(), Tools()
SCANS, UNCERTAIN, PAIRS, ADJUSTED, FEW_LABELS = Scans(), Uncertain(), Pairs(), Adjusted(), FewLabels()
FEW, SOME = {"n_resamples": 99}, {"n_resamples": 299}
FIXED = Mahalanobis(np.diag([0.0, 0.5, 0.9]))
LEARNED = {"fair_metric": "sensitive_subspace"}
FOREST = RandomForestRegressor(8)
STRAIGHT = {"outcome_model": Ridge(), "group_model": Ridge()}
EXACT_TESTS = {
    "defaults": ({}, False),
    "every rate": ({"metric": ["selection_rate", "conditional_use_accuracy", "accuracy", "f1"]}, False),
    "ratio to the rest": ({"metric": "precision", "disparity": "ratio", "compare": "to_rest"}, False),
    "to overall": ({"metric": "jaccard", "compare": "to_overall", "adjust": "fdr_bh"}, False),
    "margin": ({"metric": "selection_rate", "margin": 0.1, "adjust": "bonferroni"}, False),
    "equivalence": ({"metric": "accuracy", "margin": 0.2, "alternative": "equivalence"}, False),
    "strata": ({"metric": "demographic_parity", "adjust": None}, True),
    "asymptotic": ({"metric": "f1", "method": "asymptotic"}, True),
}
DRAWN_TESTS = {
    "permutation": ({"method": "permutation", **SOME}, False),
    "raw permutation": ({"variance": None, "within": None, **SOME}, True),
    "bootstrap": ({"metric": "accuracy", "method": "bootstrap", **SOME}, False),
    "balanced accuracy": ({"metric": "balanced_accuracy", "compare": "to_overall", **SOME}, False),
    "correlation": ({"metric": "matthews_corrcoef", "disparity": "ratio", "adjust": None, **SOME}, True),
    "residual": ({"metric": "mean_residual", "compare": "to_rest", "variance": "jackknife", **SOME}, True),
    "function": ({"metric": gain, "variance": "jackknife", "n_resamples": 149}, False),
    "function bootstrap": (
        {"metric": earned, "variance": "bootstrap", "compare": "to_rest", "n_resamples": 39},
        False,
    ),
    "metric bootstrap": ({"metric": "mean_residual", "method": "bootstrap", **SOME}, True),
    "adaptive": ({"metric": "balanced_accuracy", "n_resamples": "adaptive"}, False),
}
TESTS_OF_MORE = {
    "weights": ({"metric": "true_positive_rate", **SOME}, False, ("weight",), False),
    "clusters": ({"metric": "accuracy", **SOME}, False, ("household",), False),
    "weighted residual": ({"metric": "mean_residual", **SOME}, True, ("weight",), False),
    "clusters and weights": ({"metric": "balanced_accuracy", **SOME}, False, ("weight", "household"), False),
    "clusters bootstrap": ({"metric": "f1", "method": "bootstrap", **SOME}, False, ("household",), False),
    "clusters inside": ({"metric": "mean_residual", **SOME}, False, ("query",), False),
    "clusters asymptotic": ({"metric": "f1", "method": "asymptotic"}, False, ("query",), True),
}
#: Tools whose answer does not depend on the order of people.
ORDERED = (of_frame, of_scorers, of_p_value, of_models, of_inequality, of_sequential)
#: The first case of each class is that which is asked everything: a cheap one.
CASES = [
    *(Case(GROUPS, name, params, control) for name, (params, control) in EXACT_TESTS.items()),
    *(Case(GROUPS, name, params, control, exact=False) for name, (params, control) in DRAWN_TESTS.items()),
    *(Case(GROUPS, name, *rest) for name, rest in TESTS_OF_MORE.items()),
    Case(UNCERTAIN, "weighted", {"n_resamples": 99}, exact=False),
    Case(UNCERTAIN, "likelihood", {"metric": "accuracy", "estimate": "likelihood", **FEW}, exact=False),
    Case(UNCERTAIN, "equivalence", {"margin": 0.2, "alternative": "equivalence", **FEW}, exact=False),
    Case(FEW_LABELS, "accuracy", {"metric": "accuracy"}),
    Case(FEW_LABELS, "ratio to the rest", {"metric": "precision", "disparity": "ratio", "compare": "to_rest"}),
    Case(FEW_LABELS, "equivalence", {"margin": 0.5, "alternative": "equivalence", "metric": "accuracy"}),
    Case(PAIRS, "precision to the rest", {"metric": "precision", "compare": "to_rest", **FEW}, exact=False),
    Case(PAIRS, "to the rest", {"metric": "accuracy", "compare": "to_rest", "adjust": "bonferroni"}),
    Case(PAIRS, "defaults", {}, slow=True),
    Case(PAIRS, "strata", {"metric": "selection_rate", "compare": "to_rest", **SOME}, True, exact=False, slow=True),
    Case(PAIRS, "precision", {"metric": "precision", "compare": "to_overall", **SOME}, True, exact=False),
    Case(PAIRS, "clusters", {"metric": "accuracy", **SOME}, more=("household",), exact=False),
    Case(AUDITS, "one metric", {"metrics": "selection_rate", "method": "asymptotic", "adjust": "fdr_bh"}),
    Case(AUDITS, "margin", {"metrics": "selection_rate", "margin": 0.05, "adjust": "fdr_bh"}, slow=True),
    Case(AUDITS, "drawn", {"metrics": ["roc_auc", "mean_residual"], "n_resamples": 599}, more=("score",), exact=False),
    Case(AUDITS, "standard", {}, slow=True),
    Case(
        AUDITS, "scanned", {"metrics": "accuracy", "scan": SubgroupScan(metric="accuracy", min_group_size=9)}, slow=True
    ),
    Case(AUDITS, "standard with scores", {"n_resamples": 299}, more=("score",), exact=False, slow=True),
    Case(
        AUDITS, "ratios", {"metrics": ["precision", "f1"], "disparity": "ratio", "compare": "to_overall"}, control=True
    ),
    Case(SCANS, "defaults", {"min_group_size": 20}),
    Case(SCANS, "in context", {"metric": "accuracy", "features": "moss", "compare": "in_context", "min_group_size": 9}),
    Case(SCANS, "strata", {"metric": "accuracy", "max_depth": 1}, control=True),
    Case(SCANS, "halves", {"metric": "selection_rate", "guarantee": "split"}, exact=False),
    Case(SCANS, "residual", {"metric": "mean_residual", "alternative": "less", "n_resamples": 19}, True, exact=False),
    Case(CORRELATIONS, "one feature", {}, more=("age",), exact=False),
    Case(CORRELATIONS, "defaults", {}, exact=False),
    Case(
        CORRELATIONS, "rank correlation in strata", {"correlation": "spearman", "of": "residual", "adjust": None},
        control=True, more=("age",), exact=False,
    ),
    Case(CORRELATIONS, "functions", {"of": squared, **FEW}, True, ("age",), exact=False),
    Case(CORRELATIONS, "one-sided", {"alternative": "greater", "of": "prediction", "adjust": "fdr_bh"}, exact=False),
    Case(CORRELATIONS, "strata", {"adjust": "bonferroni"}, control=True, exact=False),
    Case(CORRELATIONS, "adaptive", {"n_resamples": "adaptive", "of": "residual"}, more=("age",), exact=False),
    Case(CORRELATIONS, "several chunks", {"n_resamples": 999}, exact=False),
    Case(ADJUSTED, "straight lines", {"n_folds": 2, **STRAIGHT}, exact=False),
    Case(ADJUSTED, "defaults", {}, exact=False, slow=True),
    Case(ADJUSTED, "to the rest", {"compare": "to_rest", **STRAIGHT}, exact=False),
    Case(ADJUSTED, "accuracy", {"of": "absolute_error", "n_folds": 2, **STRAIGHT}, more=("household",), exact=False),
    Case(ADJUSTED, "functions", {"of": squared, "outcome_model": FOREST, "adjust": None}, exact=False, slow=True),
    *(
        Case(INDIVIDUALS, name, params, model=model, tolerance=tolerance)
        for name, (model, params, tolerance) in {
            "logistic": (LogisticRegression(), {}, 1e-9),
            "perceptron": (MLPClassifier((5,), random_state=0, max_iter=100, tol=1e-2), {}, 1e-9),
            "differences": (GaussianNB(), {}, 1e-6),
            "own loss": (LogisticRegression(), {"loss": log_loss}, 1e-6),
            "search": (RandomForestClassifier(8, max_depth=3, random_state=0), {}, 1e-12),
            "histograms": (
                HistGradientBoostingClassifier(max_iter=8),
                {"fair_metric": Projection([[1, 0, 0], [0, 1, 1]])},
                1e-12,
            ),
            "callable": (LogisticRegression(), {"gradient": GradientOf}, 1e-9),
            "error rates": (LogisticRegression(), {"statistic": "error_rate_ratio", "steps": (60, 0.2)}, 1e-9),
            "regressor": (LinearRegression(), {"loss": absolute_error, "steps": (24, 0.005)}, 1e-6),
            "learned": (LogisticRegression(), {**LEARNED, "steps": (40, 0.2)}, 1e-8),
            "standardised": (
                make_pipeline(StandardScaler(), LogisticRegression()),
                {**LEARNED, "feature_scale": "std", "steps": (40, 0.2)},
                1e-8,
            ),
            "squares": (LinearRegression(), {**LEARNED, "steps": (40, 0.2)}, 1e-8),
        }.items()
    ),
    *(
        Case(TOOLS, name, {"answer": answer}, ordered=answer in ORDERED)
        for name, answer in {
            "SignificanceFrame": of_frame,
            "make_fairness_scorer": of_scorers,
            "fairness_p_value": of_p_value,
            "impact_table": of_impact,
            "SequentialFairnessTest": of_sequential,
            "inequality_decomposition": of_inequality,
            "between_group_spread": of_spread,
            "compare_models": of_models,
            "AuditedClassifier": of_audited,
            "AuditedRegressor": of_audited_numbers,
            "SensitiveStratifiedKFold": of_folds,
            "select_fair": of_selection,
        }.items()
    ),
]  # fmt: skip
KINDS = (GROUPS, UNCERTAIN, PAIRS, FEW_LABELS, AUDITS, SCANS, CORRELATIONS, ADJUSTED, INDIVIDUALS)


def parametrized(cases, name=None, values=(None,), *, unless=lambda case, value: False, every=False):
    """Each case, or each with each of the values; by default the first case of each class.

    It has all values where it is of the first of these classes, and every sixth where it is of another, which read
    people as that one does; the rest are slow. Other cases are exhaustive, and so are tools, unless `every` case is
    asked for: one test asks all of them everything at once,
    `test_however_people_are_written_down_the_answer_is_the_same`, every third of other classes at every change.
    """
    firsts = [next(case for case in cases if case.kind is kind) for kind in KINDS if kind in {c.kind for c in cases}]
    given = []
    for (place, case), (turn, value) in itertools.product(enumerate(cases), enumerate(values)):
        if not unless(case, value):
            label = f"{type(case.kind).__name__}-{case.name}"
            marks = () if every or case in firsts else pytest.mark.exhaustive
            if every:
                later = case.slow or (case not in firsts and case.kind is not GROUPS and place % 3)
            else:
                later = case in firsts[1:] and len(values) > 2 and (firsts.index(case) + turn) % 6
            marks = pytest.mark.slow if later else marks
            row = (case,) if name is None else (case, value)
            given.append(pytest.param(*row, id=label if name is None else f"{value}-{label}", marks=marks))
    return pytest.mark.parametrize("case" if name is None else ("case", name), given)


TESTED = [case for case in CASES if case.kind is not TOOLS]
#: Functions that users write read labels as they are, and residuals are of numbers.
LABELLED = [
    case
    for case in TESTED
    if case.kind.labels
    and case.name not in ("drawn", "standard with scores", "own loss", "callable", "regressor", "squares")
    and "residual" not in str(case.params)
    and not callable(case.params.get("metric"))
]
NAMED = [case for case in CASES if case.kind.groups]
every_test = parametrized(TESTED)
every_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.cls.__name__)


@cache
def fitted(case):
    """Ask each case once."""
    return case.kind.ask(case, case.data)


@cache
def text_of(case):
    """Write the answer of each case once."""
    return undated(fitted(case))


def first(kind):
    """The case of a class that is asked everything, and its fitted test."""
    case = next(case for case in CASES if case.kind is kind)
    return case, fitted(case)


def assert_same(case, one, two, rtol=0.0, *, named=True, anyhow=False, told=True):
    """Compare everything that two answers say: to the last digit, or so far.

    Not `named`, but for names of features; `anyhow`, in whatever order people come; not `told`, but for texts, which
    say where the numbers come from.
    """
    ours, theirs = case.kind.says(one), case.kind.says(two)
    for name, value in ours.items():
        if name == "record" and not told:
            continue
        other, tolerance = theirs[name], rtol * case.kind.loose.get(name, 1)
        if isinstance(value, pd.DataFrame):
            if not named:
                value, other = (
                    frame.rename_axis(index=[None] * frame.index.nlevels).drop(columns="feature", errors="ignore")
                    for frame in (value, other)
                )
            if anyhow and name in ("people", "loss_ratios_"):
                value, other = value.sort_index(), other.sort_index()
            pd.testing.assert_frame_equal(
                value, other, check_exact=not rtol, rtol=tolerance, atol=10 * tolerance, obj=name
            )
        elif rtol and isinstance(value, float | tuple | np.ndarray):
            np.testing.assert_allclose(value, other, rtol=tolerance, atol=1e-12, err_msg=name)
        else:
            np.testing.assert_equal(value, other, err_msg=name)
    if named and told and not rtol:
        assert undated(one) == (text_of(case) if two is fitted(case) else undated(two))


def undated(test):
    """Return the text of a test, of an audit without the second in which it was made and the seed."""
    text = str(test).replace(getattr(getattr(test, "record_", None), "created", "no date"), "")
    text = re.sub(r"\bseed \d+", "seed", text)  # how to reproduce it, which another seed changes
    return re.sub(r"random_state=\d+", "", text)


# The same people ------------------------------------------------------------------------------------------------------


def test_every_public_class_is_here():
    """Displays draw what others found, and fair metrics are checked as transformers."""
    described = {case.name for case in CASES if case.kind is TOOLS} | {kind.cls.__name__ for kind in KINDS}
    answers = {name for name in skfairtest.__all__ if "__" not in name and not name.endswith("Display")}
    described |= {"CountTable", "MeanOf", "Rate", "RatioOfSums", "ScoreMetric", "Mahalanobis", "Projection"}
    described |= {"SensitiveSubspace", "FairnessRejectedError", "FairnessRejectedWarning", "SmallGroupWarning"}
    described |= {"assert_fair", "FairnessAssertionError"}
    described |= {"power", "required_sample_size", "minimum_detectable_disparity", "label_plan"}
    assert answers == described


@parametrized([case for case in CASES if case.kind is GROUPS], every=True)
def test_the_people_of_this_file_leave_something_out(case):
    excluded = fitted(case).excluded_
    assert "elm" in list(excluded["group"])
    rates = {row.metric for row in fitted(case).comparisons_.itertuples()}
    everywhere = {"selection_rate", "accuracy", "negative_predictive_value", "false_positive_rate", "mean_residual"}
    left_out = list(excluded.loc[excluded["stratum"].isna(), "group"])
    assert bool(rates - everywhere - {"gain", "earned"}) == ("dogwood" in left_out)


@parametrized([case for case in CASES if case.ordered])
def test_the_order_of_rows_changes_nothing(case):
    shuffled = case.data.sample(frac=1, random_state=3)
    individual = case.kind is INDIVIDUALS  # whose numbers are sums over people
    rtol = max(case.tolerance, 1e-12) if individual else 1e-7 if case.kind is TOOLS else 0.0
    assert_same(case, case.kind.ask(case, shuffled), fitted(case), rtol, anyhow=individual)


@parametrized([case for case in CASES if case.kind.parallel], "n_jobs", [2, -1])
def test_n_jobs_changes_nothing(case, n_jobs):
    assert_same(case, case.kind.ask(case, case.data, n_jobs=n_jobs), fitted(case))


def refused(case, container):
    """Numbers are not categories; scikit-learn hands dicts on unsliced, and 1.6 takes no rows of pyarrow tables."""
    if case.name == "select_fair":
        return container == "dict" or (container == "pyarrow" and sklearn.__version__.startswith("1.6."))
    return case.kind in (CORRELATIONS, ADJUSTED) and container == "pandas category"


@parametrized(CASES, "container", list(CONTAINERS), unless=refused)
def test_the_container_changes_nothing(case, container):
    put = CONTAINERS[container]
    named = put.named or case.several or case.kind not in (GROUPS, PAIRS, CORRELATIONS, FEW_LABELS)
    test = case.kind.ask(case, case.data, put=put)
    assert_same(case, test, fitted(case), case.tolerance, named=named, told=put.named or case.kind is AUDITS)
    if not named:
        names = test.by_group_.index.names[-1:] if isinstance(case.kind, Groups) else set(test.comparisons_["feature"])
        assert list(names) == ["sensitive_feature_0"]


LABELS = {
    "strings": ({0: "no", 1: "yes"}, "yes"),
    "strings in reverse": ({0: "refused", 1: "granted"}, "granted"),
    "booleans": ({0: False, 1: True}, None),
    "floats": ({0: 0.0, 1: 1.0}, None),
    "-1 and 1": ({0: -1, 1: 1}, None),
    "1 and 2": ({0: 1, 1: 2}, 2),
    "0 is positive": ({0: 1, 1: 0}, 0),
}


def another_model(case, labels):
    """A model whose classes come in reverse is another one."""
    return case.kind is INDIVIDUALS and LABELS[labels][0][1] < LABELS[labels][0][0]


@parametrized(LABELLED, "labels", list(LABELS), unless=another_model)
def test_how_labels_are_written_changes_nothing(case, labels):
    mapping, pos_label = LABELS[labels]
    reverse = mapping[1] < mapping[0]
    params = {} if case.kind is INDIVIDUALS else {"pos_label": pos_label}
    test, before = case.kind.ask(case, case.data, labels=mapping, **params), fitted(case)
    if case.exact or not reverse:
        assert_same(case, test, before, case.tolerance, told=False)
    else:  # the tables are drawn cell by cell, in the order of the labels: p-values keep a Monte-Carlo error
        rows, rows_before = getattr(test, case.kind.compared), getattr(before, case.kind.compared)
        pd.testing.assert_series_equal(rows["disparity"], rows_before["disparity"])
        np.testing.assert_allclose(rows["p_value"], rows_before["p_value"], atol=0.15)
    case.kind.check_labels(test, case.data, mapping)


COUNTED = [case for case in TESTED if case.kind in (GROUPS, AUDITS, SCANS) and not case.more]


def features_of(case, people):
    """The features of people as tables and as predictions take them."""
    columns = ["tree"] if case.kind is GROUPS else ["tree", "moss"]
    return {"sensitive_features": people[columns], "control_features": people[["soil"]] if case.control else None}


def table_of_people(case, people):
    return CountTable.from_predictions(people["y_true"], people["y_pred"], **features_of(case, people))


def in_two_pieces(case):
    """A table of one that lacks groups and of one that has people of all."""
    part = case.data[case.data["tree"].isin(["ash", "birch"]) & (case.data.index < 75)]
    return table_of_people(case, part).merge(table_of_people(case, case.data.drop(part.index)))


@parametrized(COUNTED)
def test_predictions_and_a_table_of_them_in_one_piece_or_in_two_give_the_same(case):
    for counted in (table_of_people(case, case.data), in_two_pieces(case)):
        assert_same(case, case.kind.cls.from_table(counted, random_state=7, **case.params), fitted(case), told=False)
    data, params = case.data, {"random_state": 7, **case.params}
    test = case.kind.cls.from_predictions(data["y_true"], data["y_pred"], **features_of(case, data), **params)
    assert_same(case, test, fitted(case), told=False)


#: For each place in the list of cases, a container: those of several columns have names.
TURNS = list(itertools.islice(itertools.cycle(CONTAINERS), len(CASES)))


@parametrized(CASES, every=True)
def test_however_people_are_written_down_the_answer_is_the_same(case):
    """In another order and container, with labels that are texts, in two processes, as a table, and pickled."""
    container = TURNS[CASES.index(case)]
    put = PANDAS if refused(case, container) else CONTAINERS[container]
    data = case.data.sample(frac=1, random_state=3) if case.ordered else case.data
    more = {"n_jobs": 2} if case.kind.parallel else {}
    written = case in LABELLED
    if written:
        mapping, pos_label = LABELS["strings"]
        more |= {"labels": mapping} | ({} if case.kind is INDIVIDUALS else {"pos_label": pos_label})
    test = pickle.loads(pickle.dumps(case.kind.ask(case, data, put=put, **more)))
    individual = case.kind is INDIVIDUALS  # whose numbers are sums over people
    rtol = max(case.tolerance, 1e-12) if individual else 1e-7 if case.kind is TOOLS else 0.0
    named = put.named or case.several or case.kind not in (GROUPS, PAIRS, CORRELATIONS, FEW_LABELS)
    assert_same(case, test, fitted(case), rtol, named=named, anyhow=individual, told=False)
    if written:
        case.kind.check_labels(test, data, mapping)
    if case in COUNTED:
        counted = case.kind.cls.from_table(in_two_pieces(case), random_state=7, **case.params)
        assert_same(case, counted, fitted(case), told=False)


# Random numbers -------------------------------------------------------------------------------------------------------


SEEDED = [case for case in TESTED if case.kind is not INDIVIDUALS]


@parametrized(SEEDED)
def test_another_seed_changes_only_what_is_drawn(case):
    test, before = case.kind.ask(case, case.data, random_state=8), fitted(case)
    if case.exact:
        assert_same(case, test, before)
    else:
        assert not np.array_equal(case.kind.drawn(test), case.kind.drawn(before))
    for ours, theirs in zip(case.kind.fixed(test), case.kind.fixed(before), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    if isinstance(case.kind, Groups):
        assert (before.null_distribution_ is None) is case.exact


def test_what_is_enumerated_draws_no_random_number():
    generator, state = np.random.RandomState(5), np.random.RandomState(5).random_sample()
    np.random.seed(5)
    case, _ = first(GROUPS)
    for random_state in (None, generator):
        GROUPS.ask(case, case.data, random_state=random_state)
    assert np.random.random_sample() == generator.random_sample() == state


@pytest.mark.parametrize("generator", [np.random.RandomState, np.random.default_rng])
@parametrized(
    [
        case
        for case in SEEDED
        if case.kind in (CORRELATIONS, ADJUSTED) or case.name in ("permutation", "precision", "drawn", "adaptive")
    ]
)
def test_a_generator_is_as_good_as_an_integer(case, generator):
    one, two = (case.kind.ask(case, case.data, random_state=generator(3)) for _ in range(2))
    assert_same(case, one, two)


# Names of groups ------------------------------------------------------------------------------------------------------

#: New names in the same order, and in the reverse order; of two groups, the first two.
SAME_ORDER = {
    "strings": ["A", "B", "C", "D", "E"],
    "integers": [3, 20, 100, 101, 1000],
    "floats": [-0.5, 0.0, 2.25, 1e3, 1e300],
    "unicode": ["", "Ä", "Ω", "日本", "😀"],
    "booleans": [False, True],
    "mixed types": [False, 2.5, 10, "", "1"],
}
REVERSED = dict(zip(["ash", "birch", "cedar", "dogwood", "elm"], "zyxwv", strict=True))


def groups(case):
    """Names of groups in their order."""
    return sorted(case.data[case.kind.groups].unique())


@parametrized(NAMED, "names", list(SAME_ORDER), unless=lambda case, names: len(groups(case)) > len(SAME_ORDER[names]))
def test_renaming_groups_in_the_same_order_changes_their_names_only(case, names):
    mapping = dict(zip(groups(case), SAME_ORDER[names], strict=False))
    renamed = case.data.assign(
        **{case.kind.groups: pd.Series([mapping[name] for name in case.data[case.kind.groups]], dtype=object)}
    )
    test, before = case.kind.ask(case, renamed, put=CONTAINERS["list"] if case.kind is TOOLS else PANDAS), fitted(case)
    if case.kind in (INDIVIDUALS, TOOLS):
        assert_same(case, test, before, case.tolerance)
        return
    ours, theirs = (case.kind.says(said) for said in (test, before))
    for name in case.kind.frames:
        left, right = (
            frame[name].drop(columns=["group", "other", "subgroup", "sentence"], errors="ignore")
            for frame in (ours, theirs)
        )
        if left.index.nlevels > 1 or left.index.name is not None:  # of names
            left, right = left.reset_index(drop=True), right.reset_index(drop=True)
        pd.testing.assert_frame_equal(left, right, check_exact=True)
    for name in set(case.kind.values) - {"groups_"}:
        np.testing.assert_equal(ours[name], theirs[name])
    if isinstance(case.kind, Groups):
        assert test.groups_ == list(mapping.values())
        assert list(test.comparisons_["group"]) == [mapping[name] for name in before.comparisons_["group"]]


@parametrized([case for case in CASES if case.kind in (GROUPS, PAIRS)])
def test_renaming_groups_in_reverse_order_changes_signs_and_p_values_by_their_monte_carlo_error_only(case):
    back = {new: old for old, new in REVERSED.items()}
    test, before = case.kind.ask(case, case.data.assign(tree=case.data["tree"].map(REVERSED))), fitted(case)
    ours, theirs = test.comparisons_, before.comparisons_
    assert len(ours) == len(theirs)
    assert len(test.excluded_) == len(before.excluded_)
    turned = case.params.get("compare", "between_groups") == "between_groups"
    # Where the null distribution is sampled, another order of groups gives other tables: a Monte-Carlo error.
    tolerance = {"rel": 1e-9} if case.exact else {"abs": 0.15}
    for row in theirs.itertuples():
        key = (row.metric, row.stratum)
        pair = (row.group, row.other)
        (match,) = [
            other
            for other in ours.itertuples()
            if (other.metric, other.stratum) == key
            and {back.get(other.group), back.get(other.other, other.other)} == set(pair)
        ]
        assert match.p_value == pytest.approx(row.p_value, **tolerance)
        if case.exact:
            assert match.p_value_adjusted == pytest.approx(row.p_value_adjusted, rel=1e-9)
        if not turned:
            assert match.disparity == pytest.approx(row.disparity, rel=1e-12)
        elif case.params.get("disparity") == "ratio":
            assert match.disparity == pytest.approx(1 / row.disparity, rel=1e-12, nan_ok=True)
        else:
            assert match.disparity == pytest.approx(-row.disparity, rel=1e-12)
            if case.params.get("variance") != "bootstrap":  # drawn, too
                assert match.statistic == pytest.approx(-row.statistic, rel=1e-9)
            if case.exact:
                assert (match.ci_low, match.ci_high) == pytest.approx((-row.ci_high, -row.ci_low), abs=1e-9)
    if case.exact:
        assert test.p_value_ == pytest.approx(before.p_value_, rel=1e-9)
        assert test.concern_ == before.concern_


# scikit-learn's manners -----------------------------------------------------------------------------------------------


@every_test
def test_fit_returns_the_test_and_leaves_its_parameters_its_model_and_the_data_alone(case):
    test = case.kind.made(case)
    params, data = test.get_params(), case.data.copy()
    X, y, more = case.kind.arguments(case, data, PANDAS)
    given = [X, y, *more.values()]
    before, state = [column.copy() for column in given], pickle.dumps(params)
    assert test.fit(X, y, **more) is test if "score" not in case.more else case.kind.fit(test, case, data)
    assert all(test.get_params()[name] is value for name, value in params.items())
    assert pickle.dumps(params) == state
    pd.testing.assert_frame_equal(data, case.data)
    for column, copy in zip(given, before, strict=True):
        assert column == copy if isinstance(column, list) else column.equals(copy)


@every_test
def test_a_clone_has_the_parameters_and_not_the_fit_and_fitted_again_says_the_same(case):
    test = fitted(case)
    copy = clone(test)
    params, again = test.get_params(deep=False), copy.get_params(deep=False)
    assert params.keys() == again.keys()
    assert all(getattr(copy, name) is getattr(test, name) for name in case.kind.models)
    assert repr(copy) == repr(test)
    for name in case.kind.written:
        with pytest.raises(NotFittedError):
            getattr(copy, name)()
    assert not hasattr(copy, "p_value_")
    assert_same(case, case.kind.fit(copy, case, case.data), test)


@every_test
def test_a_pickled_test_says_the_same(case):
    before = fitted(case)
    after = pickle.loads(pickle.dumps(before))
    assert_same(case, after, before)
    assert repr(after) == repr(before)


@every_kind
def test_what_a_pickled_test_writes_is_the_same(kind):
    _, before = first(kind)
    after = pickle.loads(pickle.dumps(before))
    for name in (name for name in kind.written if name != "plot"):
        one, two = getattr(after, name)(), getattr(before, name)()
        assert one.equals(two) if isinstance(one, pd.DataFrame) else one == two


@pytest.mark.parametrize(
    "made",
    [
        make_fairness_scorer("equalized_odds", sensitive_features="tree"),
        select_fair("accuracy", "fair", alpha=0.05),
        SensitiveStratifiedKFold(sensitive_features="tree"),
        AuditedClassifier(LogisticRegression()),
        AuditedRegressor(LinearRegression()),
    ],
    ids=lambda made: type(made).__name__,
)
def test_what_goes_into_a_search_is_pickled_whole(made):
    assert repr(pickle.loads(pickle.dumps(made))) == repr(made)


@every_kind
def test_cloning_copies_no_model(kind):
    class Unique:
        """A model that cannot be copied: it holds a connection, say."""

        def __deepcopy__(self, memo):
            raise TypeError("this model cannot be copied")

        def predict(self, X):
            return [1 for _ in X]

    model = Unique()
    copy = clone(kind.cls(*[model for _ in kind.models]))
    assert all(getattr(copy, name) is model for name in kind.models)


@pytest.mark.parametrize("kind", [GROUPS, AUDITS, CORRELATIONS, ADJUSTED], ids=lambda kind: kind.cls.__name__)
def test_a_clone_tests_the_same_fitted_model(kind):
    """As all cases of individual fairness do."""
    case, _ = first(kind)
    X, y = case.data[X_COLUMNS], case.data["wealth" if kind is CORRELATIONS else "y_true"]
    model = (LinearRegression() if kind is CORRELATIONS else LogisticRegression()).fit(X, y)
    *_, more = kind.arguments(case, case.data, PANDAS)
    test = kind.made(case).set_params(estimator=model).fit(X, y, **more)
    copy = clone(test)
    assert copy.estimator is model
    assert not hasattr(copy, "p_value_")
    assert_same(case, copy.fit(X, y, **more), test)


@every_kind
def test_parameters_are_set_and_read_back(kind):
    model = LogisticRegression(C=2.0)
    test = kind.cls(model)
    assert test.get_params() == test.get_params(deep=False)
    assert test.get_params()[kind.models[0]] is model
    assert test.set_params(**kind.nonsense) is test
    assert {name: getattr(test, name) for name in kind.nonsense} == kind.nonsense
    with pytest.raises(ValueError, match="unheard_of"):
        test.set_params(unheard_of=1)
    with pytest.raises(ValueError, match="never fits its estimator"):
        test.set_params(**{f"{kind.models[0]}__C": 2.0})


@every_kind
def test_creating_a_test_checks_nothing(kind):
    params = kind.cls(**kind.nonsense).get_params()
    assert {name: params[name] for name in kind.nonsense} == kind.nonsense


@every_kind
def test_an_unfitted_test_shows_its_parameters_and_nothing_else(kind):
    test = kind.cls(confidence_level=0.9)
    assert repr(test) == str(test) == f"{kind.cls.__name__}(confidence_level=0.9)"
    for name in kind.written:
        with pytest.raises(NotFittedError):
            getattr(test, name)()


@parametrized(TESTED, every=True)
def test_a_fitted_test_prints_a_sentence_and_its_repr_stays_short(case):
    test = fitted(case)
    assert repr(test) == repr(clone(test))
    assert re.search(case.kind.sentence(test), str(test).splitlines()[0])


@every_kind
def test_a_fitted_test_is_shown_in_a_notebook(kind):
    _, test = first(kind)
    assert test._repr_html_()


@every_kind
def test_a_second_fit_leaves_nothing_of_the_first(kind):
    cases = [case for case in CASES if case.kind is kind]
    # From a margin, functions that users write or what is learned, to what has none of it.
    names = {
        GROUPS: "equivalence",
        AUDITS: "margin",
        CORRELATIONS: "functions",
        INDIVIDUALS: "learned",
        SCANS: "in context",
        UNCERTAIN: "equivalence",
        PAIRS: "strata",
        ADJUSTED: "to the rest",
        FEW_LABELS: "equivalence",
    }
    before = next(case for case in cases if case.name == names[kind])
    case, once = first(kind)
    test = kind.made(before)
    kind.fit(test, before, before.data)
    test.set_params(**once.get_params())
    kind.fit(test, case, case.data)
    assert_same(case, test, once)
    assert set(vars(test)) == set(vars(once))


@every_kind
def test_a_fit_that_fails_leaves_nothing_of_an_earlier_one(kind):
    case, _ = first(kind)
    X, y, more = case.kind.arguments(case, case.data, PANDAS)
    test = case.kind.ask(case, case.data)
    with sklearn.config_context(enable_metadata_routing=True):
        test.set_fit_request(**dict.fromkeys(kind.requests, False))
    after = {"length": {"y": y[:10], **more}, "sensitive_features": {"y": y}, "metrik": {"metrik": 1}}
    if kind is INDIVIDUALS:
        after["sensitive_features"]["y"] = y[:10]  # which may be missing, unless a metric is learned
    for match, given in after.items():
        with pytest.raises((ValueError, TypeError), match="length|" + match):
            test.fit(X, **given)
        assert {name for name in vars(test) if not name.startswith("_")} == set(test.get_params(deep=False))
        with pytest.raises(NotFittedError):
            test.to_dict()
        test.set_params(**kind.made(case).get_params())
        kind.fit(test, case, case.data)
    assert not any(test.get_metadata_routing().fit.requests[name] for name in kind.requests)
    assert_same(case, test, fitted(case))


def documented_attributes(cls):
    """Names in the section "Attributes" of a numpydoc docstring."""
    _, _, after = inspect.getdoc(cls).partition("\nAttributes\n----------\n")
    section, _, _ = after.partition("\n\n")
    return [name for names in re.findall(r"^(\w.*?) : ", section, re.MULTILINE) for name in names.split(", ")]


@every_kind
def test_only_fitting_sets_attributes_which_are_documented_and_end_in_an_underscore(kind):
    _, test = first(kind)
    bare = clone(test)
    assert set(vars(bare)) == set(bare.get_params(deep=False))
    public = {name for name in set(vars(test)) - set(vars(bare)) if not name.startswith("_")}
    public |= {
        name for name, value in inspect.getmembers(kind.cls) if isinstance(value, property) and not name.startswith("_")
    }
    documented = documented_attributes(kind.cls)
    public -= {"n_features_in_", "feature_names_in_"} - set(documented)  # those of the model, known before the fit
    assert len(documented) == len(set(documented))
    asked_for = {GROUPS: {"equivalence_interval_", "disparity_bounds_", "p_value_bounds_", "bounds_"}}
    asked_for[UNCERTAIN] = asked_for[FEW_LABELS] = {"equivalence_interval_"}
    assert set(documented) - public == asked_for.get(kind, set())
    assert public <= set(documented)
    assert all(name.endswith("_") and name not in vars(bare) for name in public)
    assert type(test.p_value_) is float
    assert type(test.rejected_) is type(test.concern_) is bool


@every_kind
def test_what_goes_with_people_is_requested_without_ceremony(kind):
    requests = kind.cls().get_metadata_routing().fit.requests
    assert {name for name, asked in requests.items() if asked is True} - {"predict_params"} == set(kind.requests)


@every_kind
def test_frames_can_be_written_to_any_file_and_changed(kind, tmp_path):
    _, test = first(kind)
    frame = test.to_frame()
    frame.to_parquet(tmp_path / "frame.parquet")
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "frame.parquet"), frame, check_dtype=False)
    frame.to_csv(tmp_path / "frame.csv", index=False)
    back = pd.read_csv(tmp_path / "frame.csv", keep_default_na=False)
    name = "p_value" if "p_value" in frame else "loss_ratio"
    np.testing.assert_allclose(back[name], frame[name], rtol=1e-12)
    frame[name] = 2.0
    assert not (test.to_frame()[name] == 2).any()
    if "group" in frame:
        assert frame["group"].map(type).eq(str).all()
    if "concern" in frame:  # a narrow terminal shows both ends
        assert list(frame)[-2:] == ["p_value_adjusted", "concern"]


# Similar people -------------------------------------------------------------------------------------------------------

INDIVIDUAL = [case for case in CASES if case.kind is INDIVIDUALS]


@parametrized(INDIVIDUAL)
def test_everybody_twice_is_as_unfair_and_surer_of_it(case):
    test, once = INDIVIDUALS.ask(case, pd.concat([case.data, case.data])), fitted(case)
    assert test.statistic_ == pytest.approx(once.statistic_, rel=case.tolerance)
    assert test.standard_error_ == pytest.approx(
        once.standard_error_ / np.sqrt(2), rel=max(case.tolerance, 1e-12) * 100
    )
    np.testing.assert_allclose(test.loss_ratios_, np.tile(once.loss_ratios_, 2), rtol=case.tolerance)
    assert test.n_samples_ == 2 * once.n_samples_
    assert once.statistic_ > 1


@pytest.mark.parametrize("named", [True, False])
@parametrized([case for case in INDIVIDUAL if case.name not in ("perceptron", "search", "histograms")])
def test_the_order_of_columns_changes_nothing(case, named):
    """But for models that draw columns or weights by their places: they are others."""
    order = [2, 0, 1]

    def put(X):
        return X.iloc[:, order] if named else X.to_numpy()[:, order]

    fair_metric = case.params.get("fair_metric", Mahalanobis(np.diag([0.9, 0.0, 0.5])))
    model = INDIVIDUALS.model(case, put=put)
    X, y, more = INDIVIDUALS.arguments(case, case.data, PANDAS)
    test = INDIVIDUALS.made(case, model=model, fair_metric=fair_metric).fit(put(X), y, **more)
    before = fitted(case)
    np.testing.assert_allclose(test.loss_ratios_, before.loss_ratios_, rtol=max(case.tolerance, 1e-8))
    moved = before.unfair_examples_.to_numpy()[:, order]
    np.testing.assert_allclose(matrix(test.unfair_examples_), moved, rtol=1e-6, atol=1e-7)
    if named:
        assert list(test.unfair_examples_.columns) == ["debts", "income", "savings"]


X_CONTAINERS = {
    "numpy": lambda X: X.to_numpy(),
    "fortran": lambda X: np.asfortranarray(X.to_numpy()),
    "list": lambda X: X.to_numpy().tolist(),
    "pandas": lambda X: X,
    "pandas without names": lambda X: pd.DataFrame(X.to_numpy(), index=X.index),
    "polars": lambda X: pl.DataFrame({name: X[name].to_numpy() for name in X}),
    "pyarrow": lambda X: pa.table({name: X[name].to_numpy() for name in X}),
    "dict": lambda X: {name: X[name].to_numpy() for name in X},
}


@parametrized(
    [case for case in INDIVIDUAL if case.name in ("logistic", "differences", "search", "learned", "callable")],
    "container",
    list(X_CONTAINERS),
)
def test_features_come_back_in_the_container_in_which_they_came(case, container):
    put = X_CONTAINERS[container]
    # What the model takes: a dict of columns is ours only.
    model = INDIVIDUALS.model(case, put=(lambda X: pd.DataFrame(put(X))) if container == "dict" else put)
    ids = pd.Index([f"p{i:03d}" for i in range(len(case.data))], name="id")
    there = case.data[X_COLUMNS].set_axis(ids)
    X = put(there)
    before = pickle.dumps(X)
    test = INDIVIDUALS.made(case, model=model)
    test.fit(X, case.data["paid"].to_numpy(), sensitive_features=case.data["sex"].to_numpy())
    np.testing.assert_allclose(test.loss_ratios_, fitted(case).loss_ratios_, rtol=max(case.tolerance, 1e-12))
    assert test.p_value_ == pytest.approx(fitted(case).p_value_, rel=100 * case.tolerance, abs=1e-12)
    moved = matrix(fitted(case).unfair_examples_)
    np.testing.assert_allclose(matrix(test.unfair_examples_), moved, rtol=case.tolerance, atol=10 * case.tolerance)
    assert type(test.unfair_examples_) is type(X)
    assert pickle.dumps(X) == before
    names = {"pandas": list, "polars": lambda X: X.columns, "pyarrow": lambda X: X.column_names, "dict": list}
    if container in names:
        assert list(names[container](test.unfair_examples_)) == list(test.feature_names_in_) == X_COLUMNS
    else:
        assert not hasattr(test, "feature_names_in_")
    if container.startswith("pandas"):
        assert test.unfair_examples_.index.equals(ids)
        assert test.unfair_examples_.index.name == "id"
    assert list(test.to_frame()["person"]) == list(ids if container.startswith("pandas") else range(len(ids)))


@parametrized([case for case in INDIVIDUAL if "sensitive" not in str(case.params)])
@pytest.mark.filterwarnings("ignore:(no person's loss changed|unfair examples lie):UserWarning")
def test_company_changes_nothing_about_a_person(case):
    """Two people alone, and each of them among all the others, in units and ranges that others do not change."""
    fixed = {"feature_ranges": "free", "feature_scale": None}
    everybody = INDIVIDUALS.ask(case, case.data, **fixed).loss_ratios_
    for pair in ([0, 1], [20, 7], [29, 13]):
        with pytest.warns(UserWarning, match="X has 2 people"):
            test = INDIVIDUALS.ask(case, case.data.iloc[pair], statistic="ratio_of_means", **fixed)
        np.testing.assert_allclose(test.loss_ratios_, everybody[pair], rtol=max(case.tolerance, 1e-12))
