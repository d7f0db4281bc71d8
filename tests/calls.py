"""Hypothesis draws of calls for tests/test_fuzz.py: every public name with valid people, of which things are changed.

A call knows its people twice: in the containers that are passed, and as plain Python values read out of these with
their own libraries, from which groups and rates are counted by hand.
"""

import datetime
import re
from collections import UserList, deque
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import accuracy_score

import skfairtest

#: Stands for every kind of missing value.
MISSING = "<missing>"
NOON = datetime.datetime(2026, 1, 2, 12)
LABELS = {
    "words": ["Female", "Male", "Ünïcödé", "日本", "", " ", "a\nb", "\x1b[31m", "NA", "nan", "None", "overall"],
    "whole numbers": [0, 1, 2, -3],
    "floats": [0.0, -0.0, 0.5, 1.0, -2.5],
    "NUL": ["a\x00", "a", "\x00", np.str_("b\x00")],
    "surrogates": ["\ud800", "a", "b", "\udcff"],
    "large numbers": [2**63, 2**64 + 1, -(2**63), 10**30],
    "extreme floats": [1e160, 1e-300, -1e308, 5e-324],
    "numpy scalars": [np.int8(1), np.float32(0.5), np.bool_(True), np.str_("a"), np.uint64(2**63)],
    "equal numbers": [1, 1.0, True, 2, 2.0, np.int64(2)],
    "text of numbers": ["1", "2", 1, 2, b"1"],
    "bytes": [b"a", b"b", b"a\x00", b"\xff"],
    "tuples": [("a", 1), ("a", 2), ("b",), ()],
    "tuples and text": [("a", 1), "ab", "b", 3],
    "times": [NOON, NOON.date(), datetime.datetime(1, 1, 1), pd.Timestamp("2026-01-02", tz="UTC")],
    "datetime64": [np.datetime64("2026-01-02"), np.datetime64("2026-01-02T03", "h"), np.datetime64("1969", "Y")],
    "durations": [datetime.timedelta(1), pd.Timedelta("2D"), np.timedelta64(3, "h")],
    "decimals": [Decimal("1"), Decimal("2.50"), Fraction(1, 3), 2.5],
    "complex": [1j, 2 + 1j, 1.0],
    "mixed": ["a", 1, 2.5, None, True, ("a",), b"a"],
    "periods": [pd.Period("2026", "Y"), pd.Period("2026-01", "M"), pd.Interval(0, 1)],
    "missing": ["a", "b", None, np.nan, pd.NaT, pd.NA, Decimal("NaN")],
    "unhashable": ["a", ["a"], {"b": 1}],
}
#: Arguments, of which a parameter can be none.
STRANGE = (
    *(None, "x", -1, 0, 2.5, float("nan"), [], {}, "auto", b"2", 2 + 1j, "", "\ud800", 1, True, 0.5, 1e300, 5e-324),
    *(float("inf"), 10**400, Decimal("0.5"), pd.NA, ["x"], {1}, np.array([1, 2]), pd.DataFrame(), object, len),
)
#: Of parameters that make a call long, the first of these.
COSTLY, CHEAP = ("n_resamples", "steps", "n_folds", "n_splits", "cv", "thresholds", "max_depth", "ax"), STRANGE[:11]


def as_objects(values):
    return np.fromiter(values, dtype=object, count=len(values))


def polars_series(values, dtype=None):
    """A polars series, which panics with decimals that are not numbers."""
    if any(isinstance(value, Decimal) and value.is_nan() for value in values):
        raise ValueError
    return pl.Series("x", values, dtype=dtype, strict=dtype is None)


CONTAINERS = {
    "list": list,
    "array": np.array,
    "Series": pd.Series,
    "polars": polars_series,
    "pyarrow": pa.array,
    "object array": as_objects,
    "tuple": tuple,
    "deque": deque,
    "UserList": UserList,
    "array of another byte order": lambda values: np.array(values).astype(np.array(values).dtype.newbyteorder(">")),
    "array of small numbers": lambda values: np.array(values).astype("i1"),
    "array of short text": lambda values: np.array(values).astype("S5"),
    "array of days": lambda values: np.array(values).astype("M8[D]"),
    "array of strings": lambda values: np.array(values, dtype=np.dtypes.StringDType()),
    "masked array": lambda values: np.ma.array(np.array(values), mask=[True] + [False] * (len(values) - 1)),
    "read-only array": lambda values: np.broadcast_to(np.array(values)[:, None], (len(values), 2))[:, 0],
    "shifted Series": lambda values: pd.Series(values, index=range(1, len(values) + 1), name=("a", "b")),
    "object Series": lambda values: pd.Series(values, dtype=object),
    "nullable Series": lambda values: pd.Series(values).convert_dtypes(),
    "arrow Series": lambda values: pd.Series(pa.array(values).to_pandas(types_mapper=pd.ArrowDtype)),
    "categorical Series": lambda values: pd.Series(pd.Categorical(values)),
    "sparse Series": lambda values: pd.Series(pd.arrays.SparseArray(np.array(values))),
    "Index": lambda values: pd.Index(values, tupleize_cols=False),
    "polars Categorical": lambda values: polars_series(values, pl.Categorical),
    "polars Object": lambda values: pl.Series("x", values, dtype=pl.Object),
    "dictionary of arrow": lambda values: pa.array(values).dictionary_encode(),
    "chunks of arrow": lambda values: pa.chunked_array([pa.array(values)[:1], pa.array(values)[1:]]),
    "frame of equal names": lambda values: pd.DataFrame([[value, value] for value in values], columns=["x", "x"]),
    "generator": iter,
    "set": set,
    "text": lambda values: "".join(map(str, values)),
}
#: Of these no column can be read.
REFUSED = ("frame of equal names", "generator", "set", "text")


def plain(value):
    """Return a value as plain Python: two that libraries take for one label are equal."""
    if value is None or value is pd.NaT or value is pd.NA or value is np.ma.masked:
        return MISSING
    for kind, python in ((np.datetime64, pd.Timestamp), (np.timedelta64, pd.Timedelta), (np.str_, str)):
        value = python(value) if isinstance(value, kind) else value
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, datetime.date) and not isinstance(value, datetime.datetime):
        value = datetime.datetime(value.year, value.month, value.day)
    if value is pd.NaT or (isinstance(value, float | Decimal | complex) and value != value):
        return MISSING
    return tuple(map(plain, value)) if isinstance(value, tuple) else value


@st.composite
def contained(draw, values):
    """Draw a container of values and what is read out of it; values that it cannot hold come in a list."""
    how = draw(st.sampled_from(list(CONTAINERS)))
    try:
        container = CONTAINERS[how](values)
        if how in REFUSED:
            return container, None
        read = container.to_pylist() if isinstance(container, pa.Array | pa.ChunkedArray) else list(container)
        return container, list(map(plain, read))
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        return list(values), list(map(plain, values))


@dataclass
class Call:
    """A function, its arguments, and the columns of people among them as plain values (None: not readable)."""

    function: object
    arguments: dict
    plain: dict
    #: Packages whose errors are passed on, because they fit a model of the call.
    models: tuple = ()

    def __repr__(self):
        """Return the call, with columns as plain values."""
        shown = {name: self.plain.get(name) or value for name, value in self.arguments.items()}
        return f"{getattr(self.function, '__qualname__', self.function)}({shown})"


def people(seed):
    """Columns of some dozen people, as lists."""
    rng = np.random.default_rng(seed)
    n = int(rng.choice([24, 30, 40, 60]))
    y, X = rng.integers(0, 2, n), rng.normal(size=(n, 3))
    return {
        "y": y.tolist(),
        "p": np.where(rng.random(n) < 0.7, y, 1 - y).tolist(),
        "q": rng.integers(0, 2, n).tolist(),
        "s": rng.random(n).round(2).tolist(),
        "sex": rng.choice(["f", "m"], n).tolist(),
        "both": {"sex": rng.choice(["f", "m"], n).tolist(), "race": rng.choice(["a", "b", "c"], n).tolist()},
        "soil": rng.choice(["clay", "sand"], n).tolist(),
        "weight": (rng.integers(1, 5, n) / 4).tolist(),
        "age": {"age": rng.normal(size=n).round(3).tolist()},
        "X": X,
        "paid": (X[:, 0] + rng.normal(size=n) > 0).astype(int).tolist(),
    }


#: A model that has seen other people.
MODEL = LogisticRegression().fit(np.array([[-1.0, 0, 0], [1, 1, 0], [0, -1, 1], [2, 0, -1]]), [0, 1, 0, 1])
FEW = {"n_resamples": 39, "random_state": 0}
AUDITED = {"metric": "selection_rate", "on_rejection": "ignore", "cv": 2}
PEOPLE = {"y_true": "y", "y_pred": "p", "sensitive_features": "sex"}
OF_MODEL = {"X": "X", "y": "paid", "sensitive_features": "sex"}


def answer_of_few_labels(people, y_pred, sensitive_features, y_judge, **params):
    labels = [label if place % 3 else None for place, label in enumerate(people["y"])]
    return skfairtest.LabelledFairnessTest.from_predictions(
        labels, y_pred, sensitive_features=sensitive_features, y_judge=y_judge, **params
    )


def stream(people, y_true, y_pred, sensitive_features, **params):
    test = skfairtest.SequentialFairnessTest(**params)
    test.partial_fit(y_true=y_true, y_pred=y_pred, sensitive_features=sensitive_features)
    return skfairtest.SequentialFairnessTest.from_json(test.to_json())


def individual(people, X, y, sensitive_features, **params):
    return skfairtest.IndividualFairnessTest(MODEL, **params).fit(X, y, sensitive_features=sensitive_features)


def uncertain(people, y_true, y_pred, a, **params):
    groups = {"a": a, "b": [1 - value for value in people["s"]]}
    return skfairtest.UncertainGroupsTest.from_predictions(y_true, y_pred, sensitive_features=groups, **params)


def sensitivity(people, y_true, y_pred, sensitive_features, at, **params):
    test = skfairtest.FairnessTest.from_predictions(y_true, y_pred, sensitive_features=sensitive_features, **params)
    return test.sensitivity("confounding", at=at)


def frame(people, **arguments):
    made = skfairtest.SignificanceFrame(metrics=accuracy_score, **arguments, test_params={"n_resamples": 19})
    made.p_values()
    return made


def counts_of_a_frame(people, y, p, g, engine, **params):
    return skfairtest.CountTable.from_frame(engine({"y": y, "p": p, "g": g}), **params)


def score(people, X, y, sensitive_features, metric, **params):
    return skfairtest.make_fairness_scorer(metric, **params)(MODEL, X, y, sensitive_features=sensitive_features)


def selection(people, results, **params):
    return skfairtest.select_fair("accuracy", "fair", **params)(results)


def decisions(kind, model):
    def fit(people, X, y, sensitive_features, **params):
        return kind(model, **params).fit(X, y, sensitive_features=sensitive_features).predict(X)

    return fit


def folds(people, y, sensitive_features, **params):
    made = skfairtest.SensitiveStratifiedKFold(**params)
    return list(made.split(y, y, sensitive_features=sensitive_features))


def rate(people, name, event, given, **arguments):
    return skfairtest.FairnessTest.from_predictions(metric=skfairtest.Rate(name, event, given), **arguments)


def share(y_true, y_pred, sample_weight=None):
    return np.average(y_true == y_pred, weights=sample_weight)


def function_metric(people, name, evaluate, **arguments):
    metric = skfairtest.ScoreMetric(name, evaluate)
    return skfairtest.FairnessTest.from_predictions(metric=metric, **arguments, **FEW)


#: Every public name: a function (those of this module get the people first), its columns, its other arguments.
CALLS = {
    "FairnessTest": (
        skfairtest.FairnessTest.from_predictions,
        PEOPLE,
        {"metric": ["selection_rate", "true_positive_rate", "precision", "accuracy", "equalized_odds"], **FEW},
    ),
    "FairnessTest, weights and strata": (
        skfairtest.FairnessTest.from_predictions,
        {**PEOPLE, "sample_weight": "weight", "control_features": "soil"},
        {"metric": ["selection_rate", "accuracy"], **FEW},
    ),
    "PairedFairnessTest": (
        skfairtest.PairedFairnessTest.from_predictions,
        {"y_true": "y", "y_pred_a": "p", "y_pred_b": "q", "sensitive_features": "sex"},
        {"metric": ["selection_rate", "accuracy", "precision"], **FEW},
    ),
    "FairnessAudit": (
        skfairtest.FairnessAudit.from_predictions,
        {**PEOPLE, "sensitive_features": "both"},
        {"metrics": ["selection_rate", "accuracy"], **FEW},
    ),
    "SubgroupScan": (
        skfairtest.SubgroupScan.from_predictions,
        {**PEOPLE, "sensitive_features": "both"},
        {"metric": ["selection_rate", "accuracy"], "min_group_size": 4, "n_resamples": 19, "random_state": 0},
    ),
    "CorrelationFairnessTest": (
        skfairtest.CorrelationFairnessTest.from_predictions,
        {"y_true": "y", "y_pred": "s", "sensitive_features": "age"},
        {"of": ["residual", "absolute_error", "prediction"], **FEW},
    ),
    "AdjustedFairnessTest": (
        skfairtest.AdjustedFairnessTest.from_predictions,
        {**PEOPLE, "covariates": "X"},
        {"outcome_model": Ridge(), "group_model": Ridge(), "n_folds": 2, "random_state": 0},
    ),
    "UncertainGroupsTest": (uncertain, {"y_true": "y", "y_pred": "p", "a": "s"}, {"metric": "selection_rate", **FEW}),
    "LabelledFairnessTest": (
        answer_of_few_labels,
        {"y_pred": "p", "sensitive_features": "sex", "y_judge": "q"},
        {"labelled": "at_random", "metric": ["true_positive_rate", "accuracy", "precision"]},
    ),
    "FairnessTest.sensitivity": (sensitivity, PEOPLE, {"metric": "selection_rate", "at": [[1.0, 1.5, 3.0], 1.1]}),
    "SequentialFairnessTest": (stream, PEOPLE, {"metric": ["selection_rate", "accuracy"], "margin": [0.0, 0.1]}),
    "IndividualFairnessTest": (
        individual,
        OF_MODEL,
        {"steps": (4, 0.2), "fair_metric": [skfairtest.Projection([[1.0, 0, 0]]), "sensitive_subspace"]},
    ),
    "CountTable.from_predictions": (skfairtest.CountTable.from_predictions, PEOPLE, {}),
    "CountTable.from_frame": (
        counts_of_a_frame,
        {"y": "y", "p": "p", "g": "sex"},
        {"y_true": "y", "y_pred": "p", "sensitive_features": "g", "engine": [pd.DataFrame, pl.DataFrame]},
    ),
    "SignificanceFrame": (frame, PEOPLE, {"random_state": 0}),
    "fairness_p_value": (skfairtest.fairness_p_value, PEOPLE, {"metric": ["selection_rate", "precision"], **FEW}),
    "impact_table": (
        skfairtest.impact_table,
        {"y_pred": "p", "sensitive_features": "both"},
        {"intersections": False},
    ),
    "inequality_decomposition": (skfairtest.inequality_decomposition, PEOPLE, {"alpha": 2.0, **FEW}),
    "between_group_spread": (
        skfairtest.between_group_spread,
        PEOPLE,
        {"metric": ["selection_rate", "accuracy"], "weighting": ["groups", "people"], **FEW},
    ),
    "power": (skfairtest.power, {}, {"metric": "accuracy", "rates": [[0.2, 0.5], [0.3, 0.6]], "n_per_group": (40, 60)}),
    "required_sample_size": (
        skfairtest.required_sample_size,
        {},
        {"metric": "selection_rate", "rates": [[0.2, 0.5], [0.3, 0.6]], "power": 0.7},
    ),
    "minimum_detectable_disparity": (
        skfairtest.minimum_detectable_disparity,
        {},
        {"metric": "accuracy", "baseline": 0.4, "n_per_group": (80, 90)},
    ),
    "make_fairness_scorer": (
        score,
        OF_MODEL,
        {"metric": ["selection_rate", "accuracy"], "output": ["upper_bound", "disparity", "statistic", "p_value"]},
    ),
    "select_fair": (
        selection,
        {},
        {
            "results": {
                f"split{k}_test_{name}": np.array([0.1, 0.5, 0.3]) * sign
                for k in range(3)
                for name, sign in (("accuracy", 1), ("fair", -1))
            },
            "tolerance": 2.0,
        },
    ),
    "AuditedClassifier": (decisions(skfairtest.AuditedClassifier, LogisticRegression()), OF_MODEL, AUDITED),
    "AuditedRegressor": (
        decisions(skfairtest.AuditedRegressor, LinearRegression()),
        {**OF_MODEL, "y": "s"},
        {**AUDITED, "metric": "mean_residual"},
    ),
    "SensitiveStratifiedKFold": (folds, {"y": "y", "sensitive_features": "sex"}, {"n_splits": 2, "shuffle": False}),
    "Rate": (rate, PEOPLE, {"name": "own", "event": ["y_pred", "~y_pred"], "given": [None, "y_true"]}),
    "ScoreMetric": (function_metric, PEOPLE, {"name": "own", "evaluate": share}),
    **{
        name: (getattr(skfairtest, name).from_predictions, PEOPLE, {"metric": "accuracy", **FEW})
        for name in ("DisparityDisplay", "GroupMetricDisplay", "NullDistributionDisplay")
    },
    "ThresholdDisplay": (
        skfairtest.ThresholdDisplay.from_predictions,
        {"y_true": "y", "y_score": "s", "sensitive_features": "sex"},
        {"thresholds": 5},
    ),
}
#: Their errors may be those of a model, or of the class that they extend.
FITTING = (
    *("AuditedClassifier", "AuditedRegressor", "SensitiveStratifiedKFold", "SignificanceFrame", "make_fairness_scorer"),
)


def valid(name):
    """Return a function, its arguments about people, and all others."""
    function, columns, options = CALLS[name]
    given = people(0)
    others = {key: values[0] if isinstance(values, list) else values for key, values in options.items()}
    if function.__module__ == __name__:
        others["people"] = given
    return function, {key: given[column] for key, column in columns.items()}, others


def choices_of(function):
    """The values that a docstring lists for each parameter."""
    text = function.__doc__ or getattr(getattr(function, "__self__", None), "__doc__", None) or ""
    listed = re.findall(r"^ +(\w+) : .*\{(.+?)\}", text, flags=re.MULTILINE)
    return {name: values for name, texts in listed if (values := re.findall(r'"([^"]+)"', texts))}


@st.composite
def calls(draw, name):
    """Draw a valid call of a public name, of which one or two things are then changed."""
    function, columns, options = CALLS[name]
    given = people(draw(st.integers(0, 2**20)))
    arguments = {key: given[column] for key, column in columns.items()}
    arguments |= {key: draw(st.sampled_from(v)) if isinstance(v, list) else v for key, v in options.items()}
    if function.__module__ == __name__:
        arguments["people"] = given
    call = Call(
        function,
        arguments,
        {key: given[column] for key, column in columns.items() if column != "X"},
        ("sklearn", "fairlearn") if name in FITTING else (),
    )
    for _ in range(draw(st.integers(0, 2))):
        draw(change(call))
    return call


@st.composite
def change(draw, call):
    """Change one thing: a column's container, labels or a value of it; or a parameter."""
    known = [name for name, values in call.plain.items() if values is not None]
    if known and draw(st.integers(0, 9)) < 7:
        draw(change_of_column(call, draw(st.sampled_from(known))))
        return
    choices = choices_of(call.function)
    name = draw(st.sampled_from([name for name in {**call.arguments, **choices} if name != "people"]))
    if name in choices and draw(st.booleans()):
        call.arguments[name] = draw(st.sampled_from(choices[name]))
    else:
        call.arguments[name] = draw(st.sampled_from(CHEAP if name in COSTLY else STRANGE))
    if name in call.plain:
        call.plain[name] = None


@st.composite
def change_of_column(draw, call, name):
    """Change a column, or one of several, and what is known of its values."""
    values = call.plain[name]
    key = draw(st.sampled_from(list(values))) if isinstance(values, dict) else None
    column = values if key is None else values[key]
    if column is None or not len(column) or MISSING in column:
        return
    how = draw(st.sampled_from(("container", "container", "labels", "missing", "odd one", "shorter")))
    new = list(column)
    if how == "labels" and all(isinstance(value, str) for value in new):
        pool = LABELS[draw(st.sampled_from(list(LABELS)))]
        seen = dict.fromkeys(new)
        if len(seen) <= len(pool):
            renamed = dict(zip(seen, draw(st.permutations(pool)), strict=False))
            new = [renamed[value] for value in new]
    elif how == "missing":
        new[draw(st.integers(0, len(new) - 1))] = draw(st.sampled_from((None, float("nan"), pd.NA, pd.NaT)))
    elif how == "odd one":
        new[draw(st.integers(0, len(new) - 1))] = draw(
            st.sampled_from([value for pool in LABELS.values() for value in pool])
        )
    elif how == "shorter":
        new = new[:-1]
    container, read = draw(contained(new))
    if key is None:
        call.arguments[name], call.plain[name] = container, read
    else:
        call.arguments[name] = {**call.arguments[name], key: container}
        call.plain[name] = {**values, key: read} if read is not None else None
