"""Coverage of prediction sets and intervals, as counted by hand."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from skfairtest import FairnessAudit, FairnessTest
from skfairtest.metrics import RATES

RNG = np.random.default_rng(0)
GROUP = np.repeat(["a", "b"], [60, 40])
LABEL = RNG.choice(["x", "y", "z"], 100)
SETS = RNG.random((100, 3)) < 0.7
INSIDE = SETS[np.arange(100), [["x", "y", "z"].index(label) for label in LABEL]]
NUMBER = RNG.normal(size=100)
ENDS = np.column_stack([NUMBER - RNG.random(100) + 0.3, NUMBER + 1])
CAUGHT = (ENDS[:, 0] <= NUMBER) & (ENDS[:, 1] >= NUMBER)


def fit(y_true, y_pred, **params):
    return FairnessTest.from_predictions(y_true, y_pred, sensitive_features=GROUP, **{"metric": "coverage"} | params)


@pytest.mark.parametrize(
    ("y_true", "y_pred", "inside"),
    [
        (LABEL, SETS, INSIDE),
        (LABEL, SETS[:, :, None], INSIDE),
        (list(LABEL), pd.DataFrame(SETS[:, [2, 0, 1]], columns=["z", "x", "y"]), INSIDE),
        (NUMBER, ENDS, CAUGHT),
        (pd.Series(NUMBER), ENDS[:, :, None], CAUGHT),
        (NUMBER, np.tile([0, 1], (100, 1)), (NUMBER >= 0) & (NUMBER <= 1)),
        (np.round(NUMBER).astype(int), np.column_stack([np.round(NUMBER)] * 2), np.ones(100, dtype=bool)),
    ],
)
def test_coverage_is_the_rate_of_sets_that_contain_the_truth(y_true, y_pred, inside):
    by_hand = fit(None, inside, metric="selection_rate")
    found = fit(y_true, y_pred)
    assert found.by_group_["value"].tolist() == by_hand.by_group_["value"].tolist()
    assert found.p_value_ == by_hand.p_value_
    assert "predicted positive" not in str(found)


def test_intervals_whose_ends_cross_are_empty_and_counted_in_a_warning():
    ends = ENDS.copy()
    ends[:4] = np.column_stack([NUMBER[:4] + 1, NUMBER[:4] - 1])
    with pytest.warns(UserWarning, match=r"y_pred: the lower end lies above the upper one in 4 of 100 intervals"):
        found = fit(NUMBER, ends)
    inside = CAUGHT & (np.arange(100) >= 4)
    assert found.by_group_["value"].tolist() == [inside[name == GROUP].mean() for name in "ab"]


@pytest.mark.parametrize("metric", [RATES["coverage"], {"mine": "coverage"}, [replace(RATES["coverage"], name="mine")]])
def test_coverage_is_known_under_any_name(metric):
    assert fit(NUMBER, ENDS, metric=metric).p_value_ == fit(NUMBER, ENDS).p_value_


def test_a_label_is_a_set_of_one():
    assert fit([0, 1] * 50, RNG.integers(0, 2, 100)).metric == "coverage"
    y = RNG.integers(0, 2, 100)
    assert fit([0, 1] * 50, y).p_value_ == fit([0, 1] * 50, y, metric="accuracy").p_value_


def test_audits_take_sets():
    audit = FairnessAudit.from_predictions(LABEL, SETS, sensitive_features=GROUP, metrics="coverage")
    assert audit.by_group_["value"].tolist() == [INSIDE[name == GROUP].mean() for name in "ab"]


@pytest.mark.parametrize(
    ("y_true", "y_pred", "params", "said"),
    [
        (LABEL, SETS, {"metric": ["coverage", "accuracy"]}, "tested by itself"),
        (None, SETS, {}, "y_true is missing"),
        (LABEL, SETS[:, :2], {}, "sets of 2 labels, and y_true has .*name the columns"),
        (LABEL, np.repeat(SETS[:, :, None], 2, axis=2), {}, r"found shape \(100, 3, 2\): choose one confidence level"),
        (LABEL, SETS[:60], {}, "different lengths, 100 and 60"),
        (LABEL, SETS.astype(int), {}, "y_pred must hold intervals"),
        (NUMBER, np.where(ENDS > 1, np.nan, ENDS), {}, "without missing ones"),
        ([0, 1] * 50, SETS[:, :2].astype(int), {}, r"only 0 and 1.*pass them as booleans"),
        (["no", "yes"] * 50, SETS[:, :2].astype(float), {}, r"only 0 and 1.*pass them as booleans"),
        (NUMBER, np.column_stack([NUMBER + 1, NUMBER]), {}, r"in 100 of 100 intervals: the columns are \(lower, upper"),
        (LABEL, ENDS, {}, "y_true must hold numbers"),
        (NUMBER, ENDS, {"metric": "selection_rate"}, "y_pred is a table"),
    ],
)
def test_what_is_no_set_or_interval_is_said(y_true, y_pred, params, said):
    with pytest.raises(ValueError, match=said):
        fit(y_true, y_pred, **params)
