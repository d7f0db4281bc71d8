"""What is true of every call: a result that agrees with counting by hand, or an error that is the package's own."""

import linecache
import math
import re
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import tee
from pathlib import Path

import numpy as np
import pandas as pd
from fairlearn.metrics import MetricFrame
from sklearn.exceptions import NotFittedError, UndefinedMetricWarning

import skfairtest
from benchmarks.common.fuzz_calls import FUNCTIONS, MISSING, Call, plain, reraise_others

HERE = Path(skfairtest.__file__).parent
#: What an error may be about.
PARAMETERS = (
    "sensitive_features", "control_features", "sample_weight", "clusters", "y_score", "y_pred", "y_true",
    "reference_group", "pos_label", "metrics", "metric", "compare", "disparity", "alternative", "margin", "method",
    "variance", "within", "adjust", "confidence_level", "n_resamples", "random_state", "correlation", "of", "estimator",
    "labels", "features", "y", "X",
)  # fmt: skip
#: Errors about the data as a whole.
GENERAL = ("no comparison is defined", "people are too few", "no stratum of", "which files cannot hold")
#: Adjustments of which intervals are simultaneous, and those of one comparison.
SIMULTANEOUS = ("auto", "holm", "bonferroni")
#: Older versions of pandas end a string at its first NUL in an index of several levels, where two groups are then one.
PANDAS_KEEPS_NUL = len(pd.factorize(np.array(["a", "a\0"], dtype=object))[1]) == 2


@dataclass
class Outcome:
    """What became of a call: "result", or an error of the package by what it is about; and what is wrong with it."""

    kind: str
    violations: list


class Wrong(AssertionError):
    """A result that is not what counting by hand gives."""


def expect(holds, message):
    """Raise if something does not hold."""
    if not holds:
        raise Wrong(message)


def run(call):
    """Make a call, and say what became of it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = made(call)
        except BaseException as error:
            reraise_others(error)
            kind, violations = judged(error)
        else:
            kind, violations = "result", []
            try:
                check(result, call)
            except Wrong as error:
                violations = [str(error)]
            except Exception as error:
                violations = [f"the result cannot be read: {_where(error)}"]
    violations += [
        f"{warning.category.__name__} from {Path(warning.filename).name}:{warning.lineno}: {warning.message}"
        for warning in caught
        if warning.category not in (UserWarning, skfairtest.SmallGroupWarning, UndefinedMetricWarning)
    ]
    return Outcome(kind, list(dict.fromkeys(violations)))


def made(call):
    """Return the fitted test of a call."""
    arguments = dict(call.arguments)
    if call.test == "SignificanceFrame":
        return _frame(call, arguments)
    kind = {"fit": "FairnessTest"}.get(call.test, call.test)
    made_of = getattr(skfairtest, kind)
    if call.test == "fit":
        X, y = arguments.pop("y_pred"), arguments.pop("y_true")
        arguments.pop("y_score", None)
        return made_of(**call.params).fit(X, y, **arguments)
    return made_of.from_predictions(arguments.pop("y_true"), arguments.pop("y_pred"), **arguments, **call.params)


def _frame(call, arguments):
    function = call.params.get("metric")
    function = function if callable(function) else FUNCTIONS["accuracy_score"]
    arguments.pop("y_score", None)
    arguments, once_more = _two_of(arguments)
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            MetricFrame(metrics=function, **once_more)
    except Exception as error:  # what MetricFrame cannot do, neither can a frame that is one
        raise ValueError("features that MetricFrame refuses") from error
    frame = skfairtest.SignificanceFrame(metrics=function, **arguments, test_params={"n_resamples": 19}, random_state=0)
    frame.p_values()
    frame.difference_test()
    return frame


def _two_of(arguments):
    """Return arguments twice: a generator in a dict can be read once."""
    one, other = dict(arguments), dict(arguments)
    for name, features in arguments.items():
        if isinstance(features, dict):
            pairs = {
                key: tee(column) if isinstance(column, Iterator) else (column,) * 2 for key, column in features.items()
            }
            one[name], other[name] = ({key: pair[place] for key, pair in pairs.items()} for place in (0, 1))
    return one, other


# Errors -----------------------------------------------------------------------------------------


def _where(error):
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__} in {Path(last.filename).name}:{last.lineno}: {error}"


def judged(error):
    """Return what an error is about, and what is wrong with it."""
    frames = traceback.extract_tb(error.__traceback__)
    last = frames[-1]
    ours = Path(last.filename).is_relative_to(HERE) and linecache.getline(
        last.filename, last.lineno
    ).strip().startswith("raise ")
    if Path(last.filename) == Path(__file__) or isinstance(error, NotFittedError):
        return "MetricFrame", []
    message = str(error)
    about = next((name for name in PARAMETERS if re.search(rf"(?<![\w']){name}\b", message)), None)
    if about is None:
        about = next((words for words in GENERAL if words in message), None)
    if not (ours and isinstance(error, ValueError | TypeError)):
        return "foreign", [f"a foreign error: {_where(error)}"]
    if about is None:
        return "unnamed", [f"an error that names no parameter: {message}"]
    message.encode()  # can be shown
    return about, []


# Results ----------------------------------------------------------------------------------------


def check(result, call):
    """Check what is true of every result.

    Raises
    ------
    Wrong
        If something is not.
    """
    if call.test in ("FairnessTest", "fit"):
        check_test(result, call)
        check_counts(result, call)
    elif call.test == "CorrelationFairnessTest":
        check_correlation(result, call)
    elif call.test == "FairnessAudit":
        check_p(result.comparisons_)
        results = result.comparisons_
        if len(results):
            expect(0 < result.p_value_ <= 1, f"p_value_ is {result.p_value_}")
        result.to_json()
    elif call.test == "SignificanceFrame":
        p = np.atleast_1d(np.asarray(result.p_values(), dtype=float))
        expect(((p > 0) & (p <= 1) | np.isnan(p)).all(), f"p_values() are {p}")
        return
    str(result).encode()
    if hasattr(result, "to_frame"):
        result.to_frame().to_csv(index=False).encode()


def check_p(rows):
    """P-values lie above 0 and at most at 1, and adjustment does not make them smaller."""
    p, adjusted = rows["p_value"].to_numpy(float), rows["p_value_adjusted"].to_numpy(float)
    expect(((p > 0) & (p <= 1)).all(), f"p-values are {p}")
    expect(((adjusted > 0) & (adjusted <= 1)).all(), f"adjusted p-values are {adjusted}")
    expect((adjusted >= p * (1 - 1e-9)).all(), f"adjusted p-values {adjusted} are below {p}")
    low, high = rows["ci_low"].to_numpy(float), rows["ci_high"].to_numpy(float)
    expect(not (low > high).any(), f"intervals from {low} to {high}")


def check_test(test, call):
    """P-values, intervals and their bounds."""
    rows = test.comparisons_
    check_p(rows)
    expect(0 < test.p_value_ <= 1, f"p_value_ is {test.p_value_}")
    low, high = test.p_value_interval_
    expect(0 <= low <= high <= 1, f"p_value_interval_ is {low, high}")
    ratio = call.params.get("disparity") == "ratio"
    if ratio:
        expect(not (rows["ci_low"].to_numpy(float) < 0).any(), f"ratios have limits {rows['ci_low'].tolist()}")
    question = {**skfairtest.FairnessTest().get_params(), **call.params}
    known = question["adjust"] in SIMULTANEOUS or (question["adjust"] is None)
    equality = question["margin"] is None and question["alternative"] != "equivalence"
    if equality and known and question["method"] != "bootstrap":
        for row in rows[~rows["concern"].astype(bool)].itertuples():
            null = 1.0 if ratio or row.metric == "disparate_impact" else 0.0
            inside = math.isnan(row.ci_low) or row.ci_low - 1e-9 <= null <= row.ci_high + 1e-9
            expect(inside, f"{row.metric} of {row.group!r}: p = {row.p_value_adjusted}, {row.ci_low} to {row.ci_high}")


def _columns(call, name):
    return call.plain.get(name) or {}


def _people(call):
    """Return the plain columns of the features, and one key per person."""
    control = list(_columns(call, "control_features").values())
    sensitive = list(_columns(call, "sensitive_features").values())
    expect(all(values is not None for values in (*control, *sensitive)), "what no column can be read from was read")
    return len(control), list(zip(*control, *sensitive, strict=True))


def flat(key):
    """Write the values of tuples beside each other."""
    return tuple(inner for value in key for inner in (flat(value) if isinstance(value, tuple) else (value,)))


def check_counts(test, call):
    """Groups, their sizes and the values of metrics are those counted by hand; nobody with a missing value is there."""
    n_control, keys = _people(call)
    given = {
        name: call.plain[name]
        for name in ("y_true", "y_pred", "y_score", "sample_weight", "clusters")
        if call.plain.get(name) is not None and not (name == "y_score" and call.test == "fit")
    }
    expect(test.n_samples_ == len(keys), f"n_samples_ is {test.n_samples_}, there are {len(keys)}")
    for name, values in (*given.items(), *((str(i), [key[i] for key in keys]) for i in range(len(keys[0])))):
        expect(len(values) == len(keys), f"{name} has {len(values)} values")
        expect(MISSING not in values, f"{name} has missing values that were no error")
    groups = Counter(key[n_control:] for key in keys)
    found = [plain(group) if isinstance(group, tuple) and len(keys[0]) - n_control > 1 else (plain(group),)
             for group in test.groups_]  # fmt: skip
    expect(set(found) == set(groups) and len(found) == len(groups), f"groups_ are {test.groups_}, not {list(groups)}")
    if test.by_group_ is None or not (PANDAS_KEEPS_NUL or r"\x00" not in repr(keys)):
        return
    several = len(test.comparisons_["metric"].unique()) > 1 or "metric" in test.by_group_.index.names[:1]
    # A list of tuples is read as rows of several features, whose values are levels of the index each.
    if test.by_group_.index.nlevels - several > len(keys[0]):
        keys = list(map(flat, keys))
    counted = Counter(keys)
    weight = [float(w) for w in given.get("sample_weight", [1.0] * len(keys))]
    scale = max(weight)
    people = [
        (key, {name: values[i] for name, values in given.items()}, weight[i] / scale) for i, key in enumerate(keys)
    ]
    metrics = [] if several else [str(test.comparisons_["metric"].iloc[0])]
    for label, row in test.by_group_.iterrows():
        key = tuple(map(plain, label)) if isinstance(test.by_group_.index, pd.MultiIndex) else (plain(label),)
        name, key = (str(label[0]), key[1:]) if several else (metrics[0], key)
        expect(row["n"] == counted[key], f"{key!r} has {row['n']} people, counted are {counted[key]}")
        mine = [(person, w) for other, person, w in people if other == key]
        by_hand = value_by_hand(name, mine, test.pos_label_, call)
        if by_hand is None:
            continue
        same = math.isnan(by_hand) if math.isnan(row["value"]) else math.isclose(row["value"], by_hand, rel_tol=1e-7,
                                                                                   abs_tol=1e-12)  # fmt: skip
        expect(same, f"{name} of {key!r} is {row['value']}, by hand {by_hand}")


#: Rates: event and condition of true and predicted (1 for positive).
BY_HAND = {
    "selection_rate": (lambda t, p: p, lambda t, p: True),
    "true_positive_rate": (lambda t, p: p, lambda t, p: t),
    "false_positive_rate": (lambda t, p: p, lambda t, p: not t),
    "true_negative_rate": (lambda t, p: not p, lambda t, p: not t),
    "false_negative_rate": (lambda t, p: not p, lambda t, p: t),
    "precision": (lambda t, p: t, lambda t, p: p),
    "negative_predictive_value": (lambda t, p: not t, lambda t, p: not p),
    "false_discovery_rate": (lambda t, p: not t, lambda t, p: p),
    "false_omission_rate": (lambda t, p: t, lambda t, p: not p),
    "jaccard": (lambda t, p: t and p, lambda t, p: t or p),
    "f1": (lambda t, p: t and p, lambda t, p: t or p),
}
SAME = {"accuracy": True, "zero_one_loss": False, "share right": True, "weighted share right": True}


def value_by_hand(metric, people, positive, call):
    """Return a metric of some people, each with a weight; None of metrics that are not computed by hand."""

    def share(pairs):
        total = math.fsum(w for _, w in pairs)
        return math.fsum(w for event, w in pairs if event) / total if total else math.nan

    if metric in SAME or metric in BY_HAND:
        reads = [[person.get(name) for person, _ in people] for name in ("y_true", "y_pred")]
        if metric in SAME:
            return share([((t == p) is SAME[metric], w) for t, p, (_, w) in zip(*reads, people, strict=True)])
        event, condition = BY_HAND[metric]
        pairs = [(t == positive, p == positive, w) for t, p, (_, w) in zip(*reads, people, strict=True)]
        value = share([(event(t, p), w) for t, p, w in pairs if condition(t, p)])
        return 2 * value / (1 + value) if metric == "f1" else value
    if metric not in MEANS or positive is not None:
        return None
    if not all(isinstance(person[name], int | float) for person, _ in people for name in MEANS[metric][0]):
        return None
    total = math.fsum(w for _, w in people)
    values = [float(MEANS[metric][1](*(person[name] for name in MEANS[metric][0]))) * w for person, w in people]
    if not total:
        return math.nan
    # Sums that cancel are as exact as their largest part.
    value = math.fsum(values) / total
    return None if abs(value) < 1e-7 * max(map(abs, values)) / total else value


MEANS = {
    "mean_prediction": (("y_pred",), lambda p: p),
    "mean_residual": (("y_true", "y_pred"), lambda t, p: t - p),
    "mean_squared_error": (("y_true", "y_pred"), lambda t, p: (t - p) ** 2),
    "mean_absolute_error": (("y_true", "y_pred"), lambda t, p: abs(t - p)),
}


def check_correlation(test, call):
    """P-values, intervals and, of Pearson's correlation, the values."""
    rows = test.comparisons_
    check_p(rows)
    expect(0 < test.p_value_ <= 1, f"p_value_ is {test.p_value_}")
    limits = rows[["ci_low", "ci_high"]].to_numpy(float)
    expect(not (np.abs(limits) > 1).any(), f"correlations have limits {limits}")
    if call.params["correlation"] != "pearson" or "control_features" in call.plain:
        return
    e = {"prediction": lambda t, p: p, "residual": lambda t, p: t - p, "absolute_error": lambda t, p: abs(t - p)}
    people = zip(call.plain["y_true"], call.plain["y_pred"], strict=True)
    outcome = [e[call.params["of"]](float(t), float(p)) for t, p in people]
    for row in rows.itertuples():
        x = [float(value) for value in call.plain["sensitive_features"][row.feature]]
        a, b = (np.array(values) / max(map(abs, values)) for values in (x, outcome))
        with np.errstate(all="ignore"):
            by_hand = np.corrcoef(a, b)[0, 1]
        same = math.isnan(by_hand) or math.isclose(row.correlation, by_hand, abs_tol=1e-6)
        expect(same, f"the correlation with {row.feature!r} is {row.correlation}, by hand {by_hand}")


# Invariance -------------------------------------------------------------------------------------


def changed(call, random, first):
    """Return a call that has to give the p-value of `first`; None where that cannot be told.

    People come in lists and in another order, groups have other names in the same order, weights and numbers of which
    means are compared are multiplied by powers of two.
    """
    groups = _columns(call, "sensitive_features")
    if "reference_group" in call.params:
        return None
    order = list(range(first.n_samples_))
    random.shuffle(order)

    def listed(values):
        return None if values is None else [values[i] for i in order]

    arguments = {
        name: {k: listed(v) for k, v in values.items()} if isinstance(values, dict) else listed(values)
        for name, values in call.plain.items()
    }
    columns = [c for values in arguments.values() for c in (values.values() if isinstance(values, dict) else [values])]
    if any(isinstance(value, tuple) for column in columns for value in column or ()):
        return None  # a list of these would be a table
    for name, values in groups.items():
        kinds = {type(value) for value in values}
        if len(kinds) > 1 or not kinds <= {int, str, float, bool}:
            return None
        places = {value: f"group {place:03d}" for place, value in enumerate(sorted(set(values)))}
        arguments["sensitive_features"][name] = listed([places[value] for value in values])
    scales = {"sample_weight": 2.0 ** random.choice((-200, -3, 5, 200))}
    if str(call.params.get("metric")) in MEANS and first.pos_label_ is None and "margin" not in call.params:
        scales |= dict.fromkeys(("y_true", "y_pred"), 2.0 ** random.choice((-30, 3, 30)))
    for name, scale in scales.items():
        values = arguments.get(name)
        sizes = [abs(value) for value in values or () if type(value) is float and value]
        if sizes and max(sizes) < 1e200 and min(sizes) > 1e-200 and all(type(value) is float for value in values):
            arguments[name] = [value * scale for value in values]
    return Call(call.test, arguments, call.params, arguments)


def invariant(call, random):
    """Return what is wrong with the p-value of a call whose people come in another form."""
    if call.test != "FairnessTest":
        return []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            first = made(call)
            other = changed(call, random, first)
            second = first if other is None else made(other)
        except ValueError as error:
            return [f"in another form an error: {error}"]
    if math.isclose(first.p_value_, second.p_value_, rel_tol=1e-9):
        return []
    return [f"p = {first.p_value_}; in another form, p = {second.p_value_}:\n{other}"]
