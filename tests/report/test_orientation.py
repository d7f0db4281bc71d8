"""Pairs are shown one way, and what is shown is what was tested."""

import numpy as np
import pandas as pd
import pytest

from skfairtest import FairnessAudit, FairnessTest
from skfairtest.audit.report import audit_report
from skfairtest.comparisons.orientation import oriented

CHANGED = ["disparity", "ci_low", "ci_high"]
PAIR = [["group", "other"], ["n_group", "n_other"], ["value_group", "value_other"]]


def fitted(seed=0, **params):
    rng = np.random.default_rng(seed)
    groups, strata = rng.choice(["a", "b", "c", "d"], 400), rng.choice(["u", "v"], 400)
    y = (rng.random(400) < 0.3 + 0.1 * np.char.equal(groups, "a") + 0.2 * np.char.equal(groups, "c")).astype(int)
    given = {"sensitive_features": groups, "metric": "selection_rate"} | params
    if given.pop("controlled", False):
        given["control_features"] = strata
    return FairnessTest.from_predictions(None, y, **given)


@pytest.mark.parametrize("disparity", ["difference", "ratio"])
def test_the_smaller_value_is_first_and_everything_else_follows_it(disparity):
    test = fitted(disparity=disparity)
    before, after = test.comparisons_, oriented(test._setup, test.comparisons_)
    null = 1 if disparity == "ratio" else 0
    turned = (before["disparity"] > null).to_numpy()
    assert turned.any()
    assert not turned.all()
    assert (after["disparity"] <= null).all()
    assert (after["value_group"] <= after["value_other"]).all()
    for first, second in PAIR:
        assert after.loc[turned, first].tolist() == before.loc[turned, second].tolist()
        assert after.loc[turned, second].tolist() == before.loc[turned, first].tolist()
    for name, source in (("disparity", "disparity"), ("ci_low", "ci_high"), ("ci_high", "ci_low")):
        opposite = 1 / before[source] if null else -before[source]
        np.testing.assert_allclose(after[name], np.where(turned, opposite, before[name]))
    same = [name for name in before if name not in {*CHANGED, *(column for sides in PAIR for column in sides)}]
    pd.testing.assert_frame_equal(after[same], before[same])
    pd.testing.assert_frame_equal(oriented(test._setup, after), after)


@pytest.mark.parametrize(
    "params",
    [
        {"compare": "to_rest"},
        {"compare": "to_reference", "reference_group": "a"},
        {"sensitive_features": list("ba") * 200, "alternative": "greater"},
    ],
)
def test_a_group_that_is_compared_with_others_or_one_way_stays_first(params):
    test = fitted(**params)
    assert (test.comparisons_["disparity"] > 0).any()
    assert oriented(test._setup, test.comparisons_) is test.comparisons_


def test_a_pair_has_one_order_in_all_strata():
    test = fitted(controlled=True, seed=3)
    shown = oriented(test._setup, test.comparisons_)
    pooled = shown[shown["stratum"].isna()]
    assert (pooled["disparity"] <= 0).all()
    assert set(zip(shown["group"], shown["other"], strict=True)) == set(
        zip(pooled["group"], pooled["other"], strict=True)
    )
    assert (shown["disparity"] > 0).any()


def test_an_infinite_ratio_and_an_undefined_disparity_can_be_turned():
    frame = fitted(disparity="ratio").comparisons_.assign(disparity=[np.inf, np.nan, 1, 0, 2, 0.5], ci_high=np.inf)
    shown = oriented(fitted(disparity="ratio")._setup, frame)
    assert shown["disparity"].tolist()[0] == 0
    assert np.isnan(shown["disparity"].tolist()[1])
    assert shown["ci_low"].tolist()[0] == 0


def test_tables_and_sentences_name_a_pair_in_one_order(compas_record):
    shown = compas_record.oriented()
    part = next(part for part in shown.parts if part.feature == "race")
    pairs = {f"{row.group} against {row.other}" for row in part.comparisons.itertuples()}
    grouping = next(one for one in audit_report(compas_record).parts if one.title == "By race")
    table = next(table for table in grouping.tables if " by race: " in table.caption)
    assert {f"{row[0]} against {row[1]}" for row in table.rows} <= pairs


def test_a_report_is_the_same_when_two_groups_change_their_names():
    """The order of labels decides which group a test takes first; a report shows the smaller value first either way."""
    y, groups = [0] * 30 + [1] * 10 + [0] * 15 + [1] * 35, np.repeat(["x", "y"], [40, 50])
    shown = []
    for names in ({"x": "first", "y": "second"}, {"x": "second", "y": "first"}):
        audit = FairnessAudit.from_predictions(
            None, y, sensitive_features={"g": [names[group] for group in groups]}, random_state=0
        )
        record = audit.record_.oriented()
        row = record.parts[0].comparisons.iloc[0]
        assert [row["group"], row["other"]] == [names["x"], names["y"]]
        shown.append((row[CHANGED].tolist(), record.null_distribution))
    assert shown[0][0] == pytest.approx(shown[1][0])
    for name in ("low", "high", "mass", "extreme", "observed"):
        np.testing.assert_allclose(*(getattr(found, name) for _, found in shown), atol=1e-12)
    assert shown[0][1].observed < 0


def test_a_forty_group_audit_without_a_finding_is_ordered_by_p_value():
    rng = np.random.default_rng(0)
    groups = np.repeat([f"group {i}" for i in range(40)], 30)
    with pytest.warns(UserWarning, match="40 distinct values"):
        audit = FairnessAudit.from_predictions(
            None,
            rng.integers(0, 2, 1200),
            sensitive_features={"g": groups},
            metrics="selection_rate",
            method="asymptotic",
        )
    (grouping,) = (part for part in audit_report(audit.record_).parts if part.title == "By g")
    assert (audit.comparisons_["p_value_adjusted"] == 1).sum() > 700
    smallest = audit.comparisons_.nsmallest(30, "p_value")
    shown = [set(row[:2]) for row in grouping.tables[-1].rows[:30]]
    assert {frozenset(pair) for pair in shown} == {frozenset((row.group, row.other)) for row in smallest.itertuples()}
    assert shown[0] == {smallest.iloc[0]["group"], smallest.iloc[0]["other"]}


def test_a_metric_of_each_group_has_no_pair_to_be_turned():
    rng = np.random.default_rng(0)
    sex, score = rng.choice(["f", "m"], 3000), rng.random(3000)
    y = (rng.random(3000) < np.clip(score + np.where(sex == "m", 0.1, -0.1), 0, 1)).astype(int)
    audit = FairnessAudit.from_predictions(
        y, (score > 0.5).astype(int), y_score=score, sensitive_features={"sex": sex},
        metrics=["calibration_within_groups", "true_positive_rate"], n_resamples=999, random_state=0,
    )  # fmt: skip
    part = audit.record_.parts[0]
    shown = oriented(part.setup, part.comparisons)
    own = shown["metric"] == "calibration_within_groups"
    assert shown.loc[own, "group"].tolist() == ["f", "m"]
    assert [other is None for other in shown.loc[own, "other"]] == [True, True]
    assert (shown.loc[own, "disparity"] == part.comparisons.loc[own, "disparity"]).all()
    said = audit.comparisons_.loc[audit.comparisons_["metric"] == "calibration_within_groups", "sentence"]
    assert [sentence.split(") ")[1].split(" is -")[0].split(" is 0")[0] for sentence in said] == [
        f"among people whose sex is {group}" for group in "fm"
    ]
