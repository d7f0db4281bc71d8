"""Metrics of calibration curves in a test, an audit and a report."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression

from skfairtest import CountTable, FairnessAudit, FairnessTest

BETWEEN, WITHIN = "kuiper_calibration", "calibration_within_groups"
CURVES = [BETWEEN, "kolmogorov_smirnov_calibration", WITHIN]


def people(n=1500, seed=0, slope=0.5):
    """Group "b" has the right mean and a curve of this slope."""
    rng = np.random.default_rng(seed)
    group = rng.choice(["a", "b"], n)
    score = np.where(group == "a", rng.beta(2, 5, n), rng.beta(4, 2.5, n))
    middle = score[group == "b"].mean()
    probability = np.where(group == "b", middle + slope * (score - middle), score)
    return (rng.random(n) < probability).astype(int), score, group


def run(y_true, y_score, group, metric=BETWEEN, **params):
    params = {"n_resamples": 999, "random_state": 0} | params
    return FairnessTest.from_predictions(
        y_true, None, y_score=y_score, sensitive_features=group, metric=metric, **params
    )


def test_half_the_slope_with_the_right_mean_is_found_by_the_curve_and_not_by_the_mean():
    y_true, score, group = people(6000)
    assert run(y_true, score, group, "calibration").p_value_ > 0.05
    found = run(y_true, score, group, WITHIN)
    assert found.comparisons_.set_index("group")["concern"].to_dict() == {"a": False, "b": True}
    assert run(y_true, score, group, BETWEEN).p_value_ < 0.05
    assert found.method_ == "simulation"


@pytest.mark.parametrize("metric", CURVES)
def test_calibrated_groups_show_nothing(metric):
    assert run(*people(slope=1.0, seed=3), metric).p_value_ > 0.05


@pytest.mark.parametrize("metric", CURVES)
def test_neither_the_order_of_rows_nor_their_container_matters(metric):
    y_true, score, group = people(300)
    first = run(y_true, score, group, metric)
    order = np.random.default_rng(0).permutation(300)
    frame = pd.DataFrame({"y": y_true, "s": score, "g": group}).iloc[order]
    second = run(frame["y"], frame["s"], frame["g"], metric)
    pd.testing.assert_frame_equal(first.comparisons_, second.comparisons_)


@pytest.mark.parametrize("metric", CURVES)
def test_a_table_of_scores_says_what_its_people_say(metric):
    y_true, score, group = people(800)
    score = score.round(1)
    table = CountTable.from_predictions(y_true, y_score=score, sensitive_features=group)
    found = FairnessTest.from_table(table, metric=metric, n_resamples=999, random_state=0)
    pd.testing.assert_frame_equal(found.comparisons_, run(y_true, score, group, metric).comparisons_)


def test_other_labels_name_the_same_people_and_turn_the_sign():
    y_true, score, group = people(600)
    first = run(y_true, score, group)
    turned = run(np.where(y_true, "yes", "no"), score, np.where(group == "a", "z", "b"), pos_label="yes")
    assert turned.disparity_ == pytest.approx(-first.disparity_)
    assert turned.p_value_ == pytest.approx(first.p_value_, abs=0.06)


@pytest.mark.parametrize("metric", CURVES)
def test_values_are_the_largest_moves_of_the_groups(metric):
    y_true, score, group = people(400)
    found = run(y_true, score, group, metric)
    for name, value in found.by_group_["value"].items():
        mine = np.argsort(score[group == name])
        path = np.concatenate([[0.0], (y_true - score)[group == name][mine].cumsum()]) / len(mine)
        kuiper = path.max() - path.min()
        assert value == pytest.approx(np.abs(path).max() if "smirnov" in metric else kuiper)


def test_scores_that_only_one_group_has_are_listed():
    y_true, score = np.array([0, 1] * 50), np.repeat([0.2, 0.8], 50)
    with pytest.raises(ValueError, match="no scores that both sides have"):
        run(y_true, score, np.repeat(["a", "b"], 50))


def test_strata_are_pooled_and_tested_one_by_one():
    y_true, score, group = people(1200)
    site = np.tile(["x", "y"], 600)
    for metric in CURVES:
        found = FairnessTest.from_predictions(
            y_true, score, sensitive_features=group, control_features=site, metric=metric, n_resamples=499,
            random_state=0,
        )  # fmt: skip
        rows = found.comparisons_
        assert set(rows["stratum"].dropna()) == {"x", "y"}
        pooled = rows[rows["stratum"].isna()]
        assert len(pooled) == (2 if metric == WITHIN else 1)


def test_each_group_is_compared_with_the_rest_or_a_reference():
    y_true, score, _ = people(900)
    group = np.tile(list("abc"), 300)
    rest = run(y_true, score, group, compare="to_rest").comparisons_
    assert rest["other"].tolist() == ["rest"] * 3
    to_c = run(y_true, score, group, compare="to_reference", reference_group="c").comparisons_
    assert to_c[["group", "other"]].to_numpy().tolist() == [["a", "c"], ["b", "c"]]


def test_an_estimator_is_asked_for_probabilities():
    X, y = make_classification(600, random_state=0)
    model, group = LogisticRegression().fit(X[:300], y[:300]), np.tile(["a", "b"], 150)
    asked = FairnessTest(model, metric=WITHIN, n_resamples=199, random_state=0)
    found = asked.fit(X[300:], y[300:], sensitive_features=group)
    assert found.p_value_ == run(y[300:], model.predict_proba(X[300:])[:, 1], group, WITHIN, n_resamples=199).p_value_


def test_an_audit_reports_curves_beside_other_metrics():
    y_true, score, group = people(6000)
    audit = FairnessAudit.from_predictions(
        y_true, None, y_score=score, sensitive_features={"g": group},
        metrics=[*CURVES, "calibration"], n_resamples=499, random_state=0,
    )  # fmt: skip
    text = audit.to_markdown()
    assert "Tygert" in text
    assert "at every score the same share of any two groups of g is truly positive" in text
    assert "at every score that share of each group of g is truly positive" in text
    assert re.search(r"outcomes from scores \(Kuiper\) among people with g = b is -?0\.\d+, adjusted p = 0\.\d+", text)
    assert set(audit.comparisons_["metric"]) == {*CURVES, "calibration"}


@pytest.mark.parametrize(
    ("params", "says"),
    [
        ({"alternative": "greater"}, "no direction and no margin"),
        ({"margin": 0.1}, "no direction and no margin"),
        ({"method": "bootstrap"}, "method='auto'"),
        ({"within": "y_true"}, "within='auto'"),
        ({"compare": "to_rest", "metric": WITHIN}, "compares each group with its own scores"),
    ],
)
def test_what_curves_have_not_is_refused(params, says):
    with pytest.raises(ValueError, match=says):
        run(*people(100), **params)


@pytest.mark.parametrize("given", ["sample_weight", "clusters"])
def test_people_who_do_not_count_alike_are_refused(given):
    y_true, score, group = people(100)
    columns = {given: np.arange(100) + 1}
    with pytest.raises(ValueError, match=f"{given} was given"):
        FairnessTest.from_predictions(y_true, score, sensitive_features=group, metric=BETWEEN, **columns)


def test_scores_must_be_probabilities():
    y_true, score, group = people(100)
    with pytest.raises(ValueError, match="probabilities of the positive label"):
        run(y_true, 10 * score, group)
