"""Disparity against the threshold: at each threshold it is what FairnessTest says."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from skfairtest import FairnessTest, Rate, ThresholdDisplay


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(0)
    n = 160
    group = rng.choice(["a", "b"], n, p=[0.35, 0.65])
    y = rng.integers(0, 2, n)
    score = np.round(rng.normal(size=n) + 0.5 * y + 0.6 * (group == "a"), 1)
    return y, score, group


def draw(people, **params):
    y, score, group = people
    return ThresholdDisplay.from_predictions(y, score, sensitive_features=group, **params)


@pytest.mark.parametrize(
    "method", ["auto", *(pytest.param(name, marks=pytest.mark.slow) for name in ("exact", "asymptotic"))]
)
@pytest.mark.parametrize("metric", ["selection_rate", "false_positive_rate", "precision", "accuracy", "f1"])
def test_every_threshold_agrees_with_the_test_there(people, metric, method, thorough):
    y, score, group = people
    display = draw(people, metric=metric, method=method, thresholds=25 if thorough else 10)
    seen = set()
    for i, threshold in enumerate(display.thresholds):
        if np.isnan(display.disparity[i]):
            continue
        test = FairnessTest.from_predictions(
            y, (score >= threshold).astype(int), sensitive_features=group, metric=metric, method=method
        )
        assert display.disparity[i] == pytest.approx(test.disparity_, abs=1e-12)
        assert display.rejected[i] == test.rejected_
        np.testing.assert_allclose([display.ci_low[i], display.ci_high[i]], test.confidence_interval_, atol=1e-9)
        seen.add(bool(test.rejected_))
    assert seen == {True, False}
    assert display.method == ("asymptotic" if method == "asymptotic" else "exact")


def test_what_leaves_the_band_is_rejected(people):
    display = draw(people, metric="false_positive_rate")
    beyond = (display.disparity < display.kept_low - 1e-12) | (display.disparity > display.kept_high + 1e-12)
    np.testing.assert_array_equal(beyond, display.rejected)
    assert beyond.any()
    assert (display.kept_low <= 0).all()
    assert (display.kept_high >= 0).all()


@pytest.mark.slow
def test_the_band_is_what_would_be_rejected_whatever_was_seen(people):
    """Move one event between the groups until the test rejects: that is where the band ends."""
    _, score, group = people
    threshold = np.median(score)
    display = draw(people, thresholds=[threshold])
    d1, d2 = (group == "a").sum(), (group == "b").sum()
    m = int((score >= threshold).sum())
    kept = []
    for x1 in range(max(0, m - d2), min(d1, m) + 1):
        pred = np.r_[np.arange(d1) < x1, np.arange(d2) < m - x1].astype(int)
        test = FairnessTest.from_predictions(
            None, pred, sensitive_features=["a"] * d1 + ["b"] * d2, metric="selection_rate"
        )
        if not test.rejected_:
            kept.append(test.disparity_)
    assert (display.kept_low[0], display.kept_high[0]) == pytest.approx((min(kept), max(kept)))


def test_a_group_is_compared_with_another_or_with_the_rest():
    rng = np.random.default_rng(0)
    group, score = rng.choice(["a", "b", "c"], 90), rng.random(90)
    pred = (score >= 0.5).astype(int)
    pair = ThresholdDisplay.from_predictions(
        None, score, sensitive_features=group, group="a", other="c", thresholds=[0.5]
    )
    assert pair.disparity[0] == pytest.approx(pred[group == "a"].mean() - pred[group == "c"].mean())
    assert pair.comparison == "a against c"
    rest = ThresholdDisplay.from_predictions(None, score, sensitive_features=group, group="a", thresholds=[0.5])
    assert rest.disparity[0] == pytest.approx(pred[group == "a"].mean() - pred[group != "a"].mean())
    assert rest.comparison == "a against rest"
    frame = pd.DataFrame({"g": group, "h": 1})
    both = ThresholdDisplay.from_predictions(None, score, sensitive_features=frame, group=("a", 1), other=["c", 1])
    assert both.comparison == "a, 1 against c, 1"


def test_a_model_is_asked_for_its_scores(people):
    y, score, group = people
    X = np.c_[score, np.random.default_rng(1).normal(size=len(y))]
    labels = np.where(y == 1, "yes", "no")
    model = LogisticRegression().fit(X, labels)
    asked = {"sensitive_features": group, "metric": "recall", "pos_label": "yes"}
    drawn = ThresholdDisplay.from_estimator(model, X, labels, **asked)
    by_hand = ThresholdDisplay.from_predictions(labels, model.predict_proba(X)[:, 1], **asked)
    np.testing.assert_array_equal(drawn.disparity, by_hand.disparity)
    assert [text.get_text() for text in drawn.ax_.get_legend().get_texts()][1] == "LogisticRegression"
    svc = LinearSVC().fit(X, labels)
    margins = ThresholdDisplay.from_estimator(svc, X, labels, **asked, name="svc")
    assert margins.thresholds.min() < 0 < margins.thresholds.max()


def test_undefined_thresholds_are_a_gap_and_told(people):
    display = draw(people, metric="precision", thresholds=[0.0, 99.0])
    assert np.isnan(display.disparity).tolist() == [False, True]
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert "disparity (undefined at 1 threshold)" in texts
    assert "not significant (exact test, 5%)" in texts
    assert "each by itself" in display.ax_.get_xlabel()


def test_own_rates_and_line_styles(people):
    rate = Rate("miss_rate", event="~y_pred", given="y_true")
    display = draw(people, metric=rate, color="black", linestyle=":", confidence_level=0.9)
    assert (display.line_.get_color(), display.line_.get_linestyle()) == ("black", ":")
    assert display.ax_.get_ylabel() == "difference in percentage points\na against b"
    assert display.ax_.get_title() == "Miss rate"
    mirrored = draw(people, metric="recall", confidence_level=0.9)
    np.testing.assert_allclose(display.disparity, -mirrored.disparity, atol=1e-12)
    assert display.kept_.get_hatch()
    again = display.plot(name="again")
    assert again is display


@pytest.mark.parametrize(("params", "message"), [
    ({"metric": "equalized_odds"}, "metric must be one rate, .* found 'true_positive_rate', 'false_positive_rate'"),
    ({"metric": "roc_auc"}, "metric must be one rate, .* found 'roc_auc'"),
    ({"method": "bootstrap"}, "method must be one of 'auto', 'exact', 'asymptotic'; found 'bootstrap'"),
    ({"confidence_level": 1}, "confidence_level must be a number between 0 and 1; found 1"),
    ({"thresholds": 0}, "thresholds must be finite numbers, or how many; found 0"),
    ({"thresholds": True}, "thresholds must be finite numbers, or how many; found True"),
    ({"thresholds": ["high"]}, "thresholds must be finite numbers"),
    ({"thresholds": []}, "thresholds must be finite numbers"),
    ({"thresholds": [np.nan]}, "thresholds must be finite numbers"),
    ({"group": "c"}, "group='c' is not a group; the groups are 'a', 'b'"),
    ({"other": "b"}, "group=None is not a group"),
    ({"group": "a", "other": "z"}, "other='z' is not a group"),
    ({"group": "a", "other": "a"}, "group and other are both 'a'"),
])  # fmt: skip
def test_bad_arguments_are_named(people, params, message):
    with pytest.raises(ValueError, match=message):
        draw(people, **params)


def test_of_several_groups_the_largest_is_compared_with_everyone_else(people):
    y, score, group = people
    third = np.where(np.arange(len(group)) < 3, "c", group)
    largest = max("ab", key=list(third).count)
    display = ThresholdDisplay.from_predictions(y, score, sensitive_features=third)
    named = ThresholdDisplay.from_predictions(y, score, sensitive_features=third, group=largest)
    assert display.comparison == named.comparison == f"{largest} against rest"
    np.testing.assert_array_equal(display.disparity, named.disparity)


def test_bad_people_are_named(people):
    y, score, group = people
    draw_ = ThresholdDisplay.from_predictions
    with pytest.raises(ValueError, match="sensitive_features is missing"):
        draw_(y, score)
    with pytest.raises(ValueError, match="y_score is missing"):
        draw_(y, None, sensitive_features=group)
    with pytest.raises(ValueError, match="y_true is missing: true_positive_rate needs"):
        draw_(None, score, sensitive_features=group, metric="recall")
    with pytest.raises(ValueError, match="y_score must hold numbers"):
        draw_(y, group, sensitive_features=group)
    with pytest.raises(ValueError, match="one group only"):
        draw_(None, score[:3], sensitive_features=list("aaa"), group="a")
    with pytest.raises(ValueError, match="missing value"):
        draw_(None, [np.nan, 1.0], sensitive_features=["a", "b"])


def test_thousands_of_scores_are_drawn_at_a_hundred_thresholds():
    rng = np.random.default_rng(0)
    n = 20_000
    display = ThresholdDisplay.from_predictions(
        rng.integers(0, 2, n), rng.random(n), sensitive_features=rng.integers(0, 2, n), metric="precision"
    )
    assert len(display.thresholds) == 100
