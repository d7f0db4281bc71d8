"""Any call of a public name ends in a result that agrees with counting by hand, or in an error of the package.

The calls are those of tests/calls.py. Longer runs: ``pytest tests/test_fuzz.py --hypothesis-profile=search`` draws new
ones each time, ``--hypothesis-profile=long`` two thousand of each name.
"""

import linecache
import math
import re
import traceback
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, assume, given, note, settings
from hypothesis import strategies as st
from matplotlib import pyplot as plt
from sklearn.exceptions import NotFittedError

import skfairtest
from skfairtest._utils.errors import ParameterError
from tests.calls import CALLS, LABELS, MISSING, calls, contained, plain

HERE = Path(skfairtest.__file__).parent
#: What an error may be about that is not a parameter of the call.
GENERAL = ("metric", "estimator", "frame", "no comparison is defined", "people are too few", "no stratum of", "hold")
#: Rates: event and condition of true and predicted labels (1 for positive).
RATES = {
    "selection_rate": (lambda t, p: p, lambda t, p: True),
    "true_positive_rate": (lambda t, p: p, lambda t, p: t),
    "false_positive_rate": (lambda t, p: p, lambda t, p: not t),
    "precision": (lambda t, p: t, lambda t, p: p),
    "negative_predictive_value": (lambda t, p: not t, lambda t, p: not p),
}
WITHOUT_LIMITS = settings(deadline=None, suppress_health_check=list(HealthCheck))


def rate_by_hand(metric, people, positive):
    """Return a rate of (true, predicted, weight) of some people; None for other metrics."""
    if metric == "accuracy":
        counted = [(t == p, w) for t, p, w in people]
    elif metric in RATES:
        event, condition = RATES[metric]
        labels = [(t == positive, p == positive, w) for t, p, w in people]
        counted = [(event(t, p), w) for t, p, w in labels if condition(t, p)]
    else:
        return None
    total = math.fsum(w for _, w in counted)
    return math.fsum(w for event, w in counted if event) / total if total else math.nan


def check_comparisons(result, known):
    """P-values, limits, sizes and rates of the compared groups."""
    rows = result.comparisons_
    p, adjusted = (rows[name].to_numpy(float) for name in ("p_value", "p_value_adjusted"))
    assert ((p > 0) & (p <= 1) | np.isnan(p)).all()
    assert not (adjusted < p * (1 - 1e-9)).any()
    assert not (rows["ci_low"].to_numpy(float) > rows["ci_high"].to_numpy(float)).any()
    features = known.get("sensitive_features")
    if "value_group" not in rows or features is None or known.get("control_features", ()) is None:
        return
    if {"control_features", "y_pred_a"} & set(known) or getattr(result, "missing", None) == "bounds":
        return
    features = features if isinstance(features, dict) else {"sensitive_feature_0": features}
    labels = [known.get("y_true"), known.get("y_pred"), known.get("sample_weight", [1.0] * 99)]
    for row in rows.to_dict("records"):
        column = features.get(row.get("feature", next(iter(features))), [])
        for side, size, value in (("group", "n_group", "value_group"), ("other", "n_other", "value_other")):
            inside = [i for i, group in enumerate(column) if group == plain(row[side])]
            if inside:  # otherwise everyone else, or a label that files hold as text
                assert row[size] == len(inside)
            if inside and all(column is not None for column in labels) and not hasattr(result, "outcome_model"):
                people = [(labels[0][i], labels[1][i], float(labels[2][i])) for i in inside]
                by_hand = rate_by_hand(row["metric"], people, getattr(result, "pos_label_", 1))
                assert by_hand is None or np.isclose(row[value], by_hand, rtol=1e-7, equal_nan=True)


def check_correlation(test, known):
    """Pearson's correlation of a feature and predictions or errors."""
    if None in known.values() or test.correlation != "pearson" or "of" not in test.get_params():
        return
    ((_, x),) = known["sensitive_features"].items()
    outcome = {"prediction": lambda t, p: p, "residual": lambda t, p: t - p, "absolute_error": lambda t, p: abs(t - p)}
    t, p = known["y_true"], known["y_pred"]
    if all(isinstance(value, int | float) and abs(value) < 1e100 for value in (*t, *p, *x)):
        errors = [outcome[test.of](float(a), float(b)) for a, b in zip(t, p, strict=True)]
        with np.errstate(all="ignore"):
            by_hand = np.corrcoef(np.array(x, dtype=float), errors)[0, 1]
        assert math.isnan(by_hand) or abs(test.comparisons_["correlation"].iloc[0] - by_hand) < 1e-6


def check_counts(table, known):
    """The number of people of each group and cell."""
    group, cells = known.get("sensitive_features", known.get("g")), [known.get("y_true", known.get("y"))]
    cells.append(known.get("y_pred", known.get("p")))
    if group is None or isinstance(group, dict) or None in cells:
        return
    assert table.n_samples == len(group)
    counted = Counter(zip(group, *cells, strict=True))
    for place, name in enumerate(table.groups):
        for cell, number in zip(table.cells, table.counts[0][place], strict=True):
            if len(cell) == len(cells):
                assert counted[(plain(name[0]), *map(plain, cell))] == number


def check(result, known):
    """Check what is known by hand of a result."""
    for column in known.values():
        for values in column.values() if isinstance(column, dict) else [column]:
            assert values is None or MISSING not in values, "a missing value was no error"
    if isinstance(result, skfairtest.CountTable):
        check_counts(result, known)
    elif isinstance(result, skfairtest.CorrelationFairnessTest):
        check_correlation(result, known)
    elif isinstance(getattr(result, "comparisons_", None), pd.DataFrame) and "p_value" in result.comparisons_:
        check_comparisons(result, known)
    if isinstance(result, float):
        assert not result > 1
    if hasattr(result, "to_json"):
        str(result).encode()
        result.to_json()


def missing_is_allowed(call):
    """Whether a call treats people whose group is missing."""
    return call.arguments.get("missing", "error") != "error" or "impact_table" in repr(call.function)


def complaint(error, call):
    """Return what is wrong with an error; None if it is the package's own and names what it is about."""
    frames = traceback.extract_tb(error.__traceback__)
    inside = [frame for frame in frames if Path(frame.filename).is_relative_to(HERE)]
    others = [name for name in call.models if any(name in frame.filename for frame in frames)]
    callables = [name for name in ("evaluate", "outcome_model", "group_model", "engine") if name in call.arguments]
    if isinstance(error, skfairtest.FairnessRejectedError) or others or not inside:
        return None
    last = frames[-1]
    if Path(last.filename).is_relative_to(HERE.parent / "tests") and callables:
        return None
    raised = linecache.getline(last.filename, last.lineno).strip().startswith("raise")
    if not (isinstance(error, ValueError | TypeError | NotFittedError) and last == inside[-1] and raised):
        return f"a foreign error: {error!r}"
    names = [*call.arguments, *call.plain, *GENERAL, "y_true", "y_pred", "sensitive_features", "X"]
    # Errors of our own begin with a parameter; in others a name as short as "y" is in nearly every word.
    patterns = names if isinstance(error, ParameterError) else [rf"\b{re.escape(name)}\b" for name in names]
    return None if any(re.search(each, str(error)) for each in patterns) else f"no parameter is named: {error!r}"


@pytest.mark.parametrize("name", CALLS)
@WITHOUT_LIMITS
@given(st.data())
def test_calls_that_begin_valid_end_in_a_right_result_or_an_error_of_our_own(name, data):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        call = data.draw(calls(name))
        note(str(call.arguments))
    wrong = None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = call.function(**call.arguments)
        except BaseException as error:
            if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
                raise
            wrong = complaint(error, call)
        else:
            check(result, {} if missing_is_allowed(call) else call.plain)
        finally:
            plt.close("all")
    assert wrong is None
    foreign = [w for w in caught if w.category is RuntimeWarning and not any(m in w.filename for m in call.models)]
    assert not foreign, foreign


@WITHOUT_LIMITS
@given(st.data())
def test_other_containers_order_and_names_of_groups_and_scaled_weights_do_not_change_a_p_value(data):
    n = data.draw(st.integers(8, 60))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**20)))
    metric = data.draw(st.sampled_from(["selection_rate", "equalized_odds", "f1", "mean_prediction", "precision"]))
    method = data.draw(st.sampled_from(["auto", "permutation", "bootstrap", "asymptotic"]))
    pool = data.draw(st.sampled_from([LABELS["whole numbers"], LABELS["floats"][2:], ["a", "b", "c"], [False, True]]))
    columns = {
        "y_true": rng.integers(0, 2, n).tolist(),
        "y_pred": rng.integers(0, 2, n).tolist(),
        "sensitive_features": [pool[i] for i in rng.integers(0, len(pool), n)],
        "sample_weight": (rng.integers(1, 40, n) / 8).tolist() if data.draw(st.booleans()) else None,
    }
    params = {"metric": metric, "method": method, "n_resamples": 39, "random_state": 0}

    def answer(columns):
        return skfairtest.FairnessTest.from_predictions(**columns, **params).p_value_

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            p_value = answer(columns)
        except ValueError:
            assume(False)
        order = data.draw(st.permutations(range(n)))
        names = {group: f"group {place:03d}" for place, group in enumerate(sorted(set(columns["sensitive_features"])))}
        columns["sensitive_features"] = [names[group] for group in columns["sensitive_features"]]
        if columns["sample_weight"] is not None:
            scale = 2.0 ** data.draw(st.sampled_from([-200, -3, 5, 200]))
            columns["sample_weight"] = [weight * scale for weight in columns["sample_weight"]]
        again = {}
        for name, values in columns.items():
            container, read = (None, []) if values is None else data.draw(contained([values[i] for i in order]))
            exact = values is not None and read == [values[i] for i in order]
            again[name] = container if exact else values and [values[i] for i in order]
        assert math.isclose(answer(again), p_value, rel_tol=1e-9)
