"""Rates as declarations: conditions as text and as functions, and what they count."""

import pickle

import numpy as np
import pytest

from skfairtest import CountTable, FairnessTest, Rate
from skfairtest.metrics import RATES
from skfairtest.metrics.rates import evaluate

CELLS = {
    "y_true": np.array([False, False, True, True]),
    "y_pred": np.array([False, True, False, True]),
}  # TN, FP, FN, TP

#: Which of TN, FP, FN, TP are counted in numerator and denominator (Wikipedia, "Confusion matrix").
CONFUSION = {
    "selection_rate": ("FP TP", "TN FP FN TP"),
    "true_positive_rate": ("TP", "FN TP"),
    "false_positive_rate": ("FP", "TN FP"),
    "true_negative_rate": ("TN", "TN FP"),
    "false_negative_rate": ("FN", "FN TP"),
    "precision": ("TP", "FP TP"),
    "negative_predictive_value": ("TN", "TN FN"),
    "false_discovery_rate": ("FP", "FP TP"),
    "false_omission_rate": ("FN", "TN FN"),
    "accuracy": ("TN TP", "TN FP FN TP"),
    "coverage": ("TN TP", "TN FP FN TP"),
    "zero_one_loss": ("FP FN", "TN FP FN TP"),
    "jaccard": ("TP", "FP FN TP"),
    "false_negative_share": ("FN", "FP FN"),
    "f1": ("TP", "FP FN TP"),
}


def cells(mask):
    """Names of the cells in a mask."""
    return " ".join(name for name, chosen in zip(["TN", "FP", "FN", "TP"], mask, strict=True) if chosen)


def run(rate):
    """Test a rate on a table with people in every cell."""
    table = CountTable(
        np.array([[[9, 4, 3, 8], [6, 7, 2, 5]]]),
        groups=[("a",), ("b",)],
        cells=[(0, 0), (0, 1), (1, 0), (1, 1)],
        sensitive_names=["g"],
    )
    return FairnessTest.from_table(table, metric=rate)


@pytest.mark.parametrize("name", list(CONFUSION))
def test_a_rate_counts_its_cells(name):
    event, given = RATES[name].masks(CELLS)
    assert (cells(event), cells(given)) == CONFUSION[name]


def test_every_rate_is_checked_here():
    assert set(CONFUSION) == set(RATES)


def test_f1_is_an_increasing_function_of_jaccard():
    f1, jaccard = RATES["f1"], np.linspace(0, 1, 101)
    np.testing.assert_allclose(f1.value(jaccard), 2 * jaccard / (1 + jaccard))
    np.testing.assert_allclose(f1.slope(jaccard), np.gradient(f1.value(jaccard), jaccard), atol=0.02)
    # 2 TP / (2 TP + FP + FN).
    tp, fp, fn = 7, 3, 5
    assert f1.value(np.array(tp / (tp + fp + fn))) == pytest.approx(2 * tp / (2 * tp + fp + fn))


def test_what_a_rate_reads_is_what_its_conditions_name():
    assert RATES["selection_rate"].reads == {"y_pred"}
    assert RATES["selection_rate"].condition_reads == set()
    assert RATES["precision"].reads == {"y_true", "y_pred"}
    assert RATES["precision"].condition_reads == {"y_pred"}
    assert Rate("base_rate", event="y_true").reads == {"y_true"}


# Conditions as text ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("y_true", "FN TP"),
        ("~y_true", "TN FP"),
        ("y_true & y_pred", "TP"),
        ("y_true | y_pred", "FP FN TP"),
        ("y_true ^ y_pred", "FP FN"),
        ("y_true == y_pred", "TN TP"),
        ("y_true != y_pred", "FP FN"),
        ("~(y_true | y_pred)", "TN"),
        ("y_true & ~y_pred | ~y_true & y_pred", "FP FN"),
        ("( y_pred )", "FP TP"),
    ],
)
def test_a_condition_is_evaluated_as_numpy_does(text, expected):
    found = evaluate(text, CELLS)
    assert cells(found) == expected
    assert found.tolist() == eval(text, {}, CELLS).tolist()


@pytest.mark.parametrize(
    "text",
    [
        "y_true and y_pred",
        "not y_true",
        "y_true < y_pred",
        "y_true == y_pred == y_true",
        "y_true + y_pred",
        "-y_true",
        "y_true.any()",
        "y_true[0]",
        "True",
        "1",
        "y_true & 1",
        "y_true if y_pred else y_true",
        "[y_true]",
        "lambda: y_true",
        "(x := y_true)",
    ],
)
def test_anything_else_is_no_condition(text):
    with pytest.raises(ValueError, match="condition"):
        evaluate(text, CELLS)
    with pytest.raises(ValueError, match=r"condition"):
        run(Rate("mine", event=text))
    with pytest.raises(ValueError, match=r"condition"):
        run(Rate("mine", event="y_pred", given=text))


@pytest.mark.parametrize(
    "text", ["y_true &", "", "y_true y_pred", "(y_true", "y_true;", "import os", "\ud800", "\0", "~" * 10**5]
)
def test_text_that_cannot_be_read_is_a_value_error_when_the_rate_is_made(text):
    with pytest.raises(ValueError, match="cannot be read as a condition") as error:
        Rate("mine", event=text)
    assert not isinstance(error.value, SyntaxError)
    with pytest.raises(ValueError, match="cannot be read as a condition"):
        Rate("mine", event="y_pred", given=text)


@pytest.mark.parametrize("text", ["y_score", "y_true & group", "os.system('true')", "__import__('os')"])
def test_other_names_are_refused_when_the_rate_is_made(text):
    with pytest.raises(ValueError, match=r"event of rate 'mine' reads .*: conditions can only read y_true and y_pred"):
        Rate("mine", event=text)


@pytest.mark.parametrize("condition", [3, True, ["y_true"], object()])
def test_a_condition_is_text_or_a_function(condition):
    with pytest.raises(ValueError, match="'mine'"):
        Rate("mine", event=condition)


# Conditions as functions ----------------------------------------------------------------------------------------------


def missed(y_true, y_pred):
    """Positive people predicted negative."""
    return y_true & ~y_pred


def test_a_function_is_as_good_as_text():
    text = run(Rate("miss", event="~y_pred", given="y_true"))
    function = run(Rate("miss", event=lambda y_pred: ~y_pred, given=lambda y_true: y_true))
    named = run(Rate("miss", event=missed, given="y_true"))
    assert text.p_value_ == function.p_value_ == named.p_value_ == run("false_negative_rate").p_value_
    assert text.by_group_["value"].tolist() == [3 / 11, 2 / 7]
    assert "miss" in str(text)
    assert str(Rate("miss", event=missed, given="y_true")) == "miss = P(missed given y_true)"
    assert pickle.loads(pickle.dumps(Rate("miss", event=missed))).event is missed


def test_a_function_reads_the_labels_that_its_parameters_name():
    assert Rate("mine", event=lambda y_pred: y_pred).reads == {"y_pred"}
    with pytest.raises(ValueError, match="event of rate 'mine' reads score"):
        Rate("mine", event=lambda score: score)


@pytest.mark.parametrize(
    "function",
    [
        lambda y_pred: None,
        lambda y_pred: "abc",
        lambda y_pred: 1,
        lambda y_pred: y_pred[:1],
        lambda y_pred: np.ones(99, dtype=bool),
        lambda y_pred: np.where(y_pred, 1.0, np.nan),
    ],
)
def test_a_function_that_returns_no_boolean_per_person_is_named(function):
    with pytest.raises(ValueError, match="'mine'"):
        run(Rate("mine", event=function))
    with pytest.raises(ValueError, match="'mine'"):
        run(Rate("mine", event="y_true", given=function))


def test_a_condition_that_nobody_meets_leaves_nothing_to_compare():
    with pytest.raises(ValueError, match="no comparison is defined"):
        run(Rate("mine", event="y_true", given="y_pred & ~y_pred"))
