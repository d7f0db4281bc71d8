"""Breaking points by counts that are known. Against every change: tests/benchmarks/test_breaking_points.py."""

import numpy as np
import pandas as pd
import pytest

from skfairtest import CountTable, FairnessTest
from skfairtest.datasets import load_compas
from skfairtest.inference import breaking

COMPAS = load_compas()


def hired_of_ten(n: int) -> FairnessTest:
    """So many of ten are hired in group a, and 8 of ten in group b."""
    hired = [1] * n + [0] * (10 - n) + [1] * 8 + [0] * 2
    return FairnessTest.from_predictions(
        None, hired, sensitive_features=list("a" * 10 + "b" * 10), metric="selection_rate"
    )


def test_the_frame_and_the_report_name_the_groups_and_the_direction():
    assert [hired_of_ten(n).concern_ for n in (2, 3, 4)] == [True, True, False]
    test = hired_of_ten(2)
    one, verdict = test.breaking_point_.to_dict("records")
    known = {"changed": "decisions", "n_changed": 2, "n_among": 10, "among": "a", "to_positive": 2, "to_negative": 0}
    assert {name: one[name] for name in known} == known
    assert one["tied"] == ("b",)  # 6 of ten in b: the same table with events and groups exchanged
    assert (verdict["metric"], verdict["n_changed"]) == (None, 2)
    turn = "2 of 10 decisions about group a were positive in place of negative (or as many of group b)."
    assert f"The verdict would turn if {turn}" in str(test)


def test_changes_along_paths_turn_the_verdict_and_one_less_does_not(monkeypatch):
    """Of one rate all that matters is one number, so that bisection finds what looking at every change does."""
    given = {"sensitive_features": COMPAS.sensitive_features["sex"], "metric": "false_positive_rate"}
    every = FairnessTest.from_predictions(COMPAS.y_true, COMPAS.y_pred, **given).breaking_point_.query(
        "changed == 'decisions'"
    )
    monkeypatch.setattr(breaking, "_LOOKED_AT", 0)
    found = FairnessTest.from_predictions(COMPAS.y_true, COMPAS.y_pred, **given).breaking_point_.query(
        "changed == 'decisions'"
    )
    assert (every["search"] == "every change").all()
    assert (found["search"] == "bisection").all()
    columns = ["n_changed", "among", "n_among", "to_positive", "to_negative"]
    pd.testing.assert_frame_equal(found[columns], every[columns])


@pytest.mark.parametrize(
    ("params", "reason"),
    [
        ({"metric": "roc_auc"}, "no metric is a rate"),
        ({"metric": "selection_rate", "method": "permutation", "n_resamples": 19}, "resamples"),
        ({"metric": "selection_rate", "compare": "to_highest"}, "to_highest"),
        ({"metric": "selection_rate", "sample_weight": np.ones(20)}, "weights"),
        ({"metric": "selection_rate", "control_features": list("xy" * 10)}, "stratum"),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore")
def test_where_there_is_no_breaking_point_the_error_says_why(params, reason):
    y = [0, 1] * 10
    test = FairnessTest.from_predictions(y, [0, 1, 1, 0] * 5, sensitive_features=list("aabb" * 5), **params)
    with pytest.raises(AttributeError, match=reason):
        test.breaking_point_  # noqa: B018
    assert not hasattr(test, "breaking_point_")
    assert "would turn" not in str(test)


def test_a_test_that_was_read_has_the_same_breaking_points():
    table = CountTable(
        np.array([[[5, 1, 2, 4], [1, 3, 3, 2]]]), groups=[("a",), ("b",)], cells=[(0, 0), (0, 1), (1, 0), (1, 1)],
        cell_names=["y_true", "y_pred"], sensitive_names=["group"],
    )  # fmt: skip
    test = FairnessTest.from_table(table, metric=["precision", "f1"])
    read = FairnessTest.from_json(test.to_json())
    pd.testing.assert_frame_equal(read.breaking_point_, test.breaking_point_)


def test_labels_are_not_changed_where_other_metrics_read_them():
    """The area under the ROC curve does not depend on decisions, and its p-value stays; with other labels it would."""
    test = FairnessTest.from_predictions(
        COMPAS.y_true, COMPAS.y_pred, y_score=COMPAS.decile_score, sensitive_features=COMPAS.sensitive_features["sex"],
        metric=["selection_rate", "roc_auc"], method="asymptotic",
    )  # fmt: skip
    assert set(test.breaking_point_["changed"]) == {"decisions"}
