"""Breaking points by counts that are known. Against every change: tests/benchmarks/test_designs.py."""

import numpy as np
import pandas as pd
import pytest

from skfairtest import CountTable, FairnessTest
from skfairtest.datasets import load_compas
from skfairtest.inference import breaking

COMPAS = load_compas()
WOMEN = (COMPAS.sensitive_features["sex"] == "Female") & (COMPAS.y_true == 0)
#: Women who did not reoffend: those rated high-risk, and those who may be.
AMONG = (WOMEN & (COMPAS.y_pred == 1)).sum(), (WOMEN & (COMPAS.y_pred == 0)).sum()


def hired_of_ten(n: int) -> FairnessTest:
    """So many of ten are hired in group a, and 8 of ten in group b."""
    hired = [1] * n + [0] * (10 - n) + [1] * 8 + [0] * 2
    return FairnessTest.from_predictions(
        None, hired, sensitive_features=list("a" * 10 + "b" * 10), metric="selection_rate"
    )


def test_the_frame_and_the_report_name_the_groups_and_the_direction():
    assert [hired_of_ten(n).concern_ for n in (2, 3, 4)] == [True, True, False]
    test = hired_of_ten(2)
    (one,) = test.breaking_point_.to_dict("records")
    known = {"changed": "decisions", "n_changed": 2, "n_among": 8, "among": "a", "to_positive": 2, "to_negative": 0}
    assert one["among_label"] is None  # nobody has a true label
    assert {name: one[name] for name in known} == known
    assert one["tied"] == ("b",)  # 6 of ten in b: the same table with events and groups exchanged
    turn = "2 of the 8 people of group a who were predicted negative had been predicted positive"
    assert f"The verdict would be reversed if {turn} (or as many decisions about people of group b)." in str(test)


def test_changes_along_paths_turn_the_verdict_and_one_less_does_not(monkeypatch):
    """Of one rate all that matters is one number, so that paths find what looking at every change does."""
    given = {"sensitive_features": COMPAS.sensitive_features["sex"], "metric": "false_positive_rate"}
    every = FairnessTest.from_predictions(COMPAS.y_true, COMPAS.y_pred, **given).breaking_point_.query(
        "changed == 'decisions'"
    )
    monkeypatch.setattr(breaking, "_LOOKED_AT", 0)
    found = FairnessTest.from_predictions(COMPAS.y_true, COMPAS.y_pred, **given).breaking_point_.query(
        "changed == 'decisions'"
    )
    assert (every["search"] == "every change").all()
    assert (every["among_label"] == "negative").all()
    assert (every["n_among"] == AMONG[int(every["to_positive"].iloc[0] > 0)]).all()
    assert (found["search"] == "paths").all()
    columns = ["n_changed", "among", "among_label", "n_among", "to_positive", "to_negative"]
    pd.testing.assert_frame_equal(found[columns], every[columns])


def counted(events, people, **params):
    """A test of selection rates, by group."""
    counts = {}
    for group, happened, n in zip("abcd", events, people, strict=False):
        counts |= {(group, 1): int(happened), (group, 0): int(n - happened)}
    table = CountTable.from_counts(counts, names=("g", "p"), y_pred="p", sensitive_features="g")
    return FairnessTest.from_table(table, metric="selection_rate", method="asymptotic", **params)


def test_a_verdict_that_turns_within_few_people_and_back_is_found_among_many(monkeypatch):
    # A disparity of 60 points is significant, and so is the opposite one: no verdict turns but near equality.
    monkeypatch.setattr(breaking, "_LOOKED_AT", 0)
    verdict = counted((10_000, 40_000), (50_000, 50_000)).breaking_point_.iloc[-1]
    n = verdict["n_changed"]
    assert verdict["search"] == "paths"
    found = [counted((10_000 + more, 40_000), (50_000, 50_000)).concern_ for more in (n - 1, n)]
    assert found == [True, False]


def test_changed_labels_that_turn_two_rates_at_once_are_found_among_many():
    """Between 48 numbers of people a path, the few with which neither rate differs were passed over."""
    counts = np.array([[29_961, 8_897, 9_124, 12_018], [143_966, 50_868, 44_950, 60_216]])

    def test(counts):
        groups, cells = [("a",), ("b",)], [(0, 0), (0, 1), (1, 0), (1, 1)]
        table = CountTable(
            counts[None], groups=groups, cells=cells, cell_names=["y_true", "y_pred"], sensitive_names=["g"]
        )
        return FairnessTest.from_table(table, metric="equalized_odds")

    labels = test(counts).breaking_point_.iloc[-1]
    assert labels["search"] == "paths"
    n = labels["n_changed"]
    assert (labels["to_positive"], labels["among"]) == (n, "b")
    verdicts = []
    for share in (0.25, 0.5, 0.75):
        own = round(share * n)  # of people predicted positive, and the others of those predicted negative
        moved = np.array([[0] * 4, [own - n, -own, n - own, own]])
        verdicts.append(test(counts + moved).concern_)
    assert not all(verdicts)
    assert test(counts).concern_


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"compare": "to_rest"},
        {"margin": 0.05},
        {"disparity": "ratio", "margin": 0.8},
        {"disparity": "odds_ratio", "margin": 0.8},
        {"disparity": "ratio", "alternative": "greater", "compare": "to_reference", "reference_group": "a"},
    ],
)  # fmt: skip
def test_paths_turn_the_verdicts_that_some_change_turns(params, monkeypatch):
    rng = np.random.default_rng(5)
    for _ in range(3):
        people = rng.integers(20, 300, rng.integers(2, 5))
        events = rng.binomial(people, 0.05 + 0.9 * rng.random(len(people)))
        every = counted(events, people, **params).breaking_point_["n_changed"]
        with monkeypatch.context() as patch:
            patch.setattr(breaking, "_FIRST", 0)
            patch.setattr(breaking, "_LOOKED_AT", 0)
            found = counted(events, people, **params).breaking_point_["n_changed"]
        assert (found.isna() == every.isna()).all()
        more = (found / every).dropna()
        assert more.between(1, 1.1).all()


@pytest.mark.parametrize(
    ("params", "reason"),
    [
        ({"metric": "coverage"}, "a prediction set is not a decision"),
        ({"metric": {"mine": "coverage"}}, "a prediction set is not a decision"),
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


@pytest.mark.parametrize("metric", ["selection_rate", "accuracy"])
def test_a_rate_that_is_named_coverage_keeps_its_breaking_point(metric):
    people = [0, 1] * 10, [0, 1, 1, 0] * 5
    named, plain = (
        FairnessTest.from_predictions(*people, sensitive_features=list("aabb" * 5), metric=asked).breaking_point_
        for asked in ({"coverage": metric}, metric)
    )
    pd.testing.assert_frame_equal(named, plain)


def test_a_test_that_was_read_has_the_same_breaking_points():
    table = CountTable(
        np.array([[[5, 1, 2, 4], [1, 3, 3, 2]]]), groups=[("a",), ("b",)], cells=[(0, 0), (0, 1), (1, 0), (1, 1)],
        cell_names=["y_true", "y_pred"], sensitive_names=["group"],
    )  # fmt: skip
    test = FairnessTest.from_table(table, metric=["precision", "f1"])
    known = test.breaking_point_
    read = FairnessTest.from_json(test.to_json())
    assert known is not None
    pd.testing.assert_frame_equal(read.breaking_point_, test.breaking_point_)


def test_labels_are_not_changed_where_other_metrics_read_them():
    """The area under the ROC curve does not depend on decisions, and its p-value stays; with other labels it would."""
    test = FairnessTest.from_predictions(
        COMPAS.y_true, COMPAS.y_pred, y_score=COMPAS.decile_score, sensitive_features=COMPAS.sensitive_features["sex"],
        metric=["selection_rate", "roc_auc"], method="asymptotic",
    )  # fmt: skip
    assert set(test.breaking_point_["changed"]) == {"decisions"}
