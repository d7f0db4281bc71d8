"""A p-value in the shape of a metric: by itself, in ``make_scorer``, and in a MetricFrame over strata."""

import functools

import numpy as np
import pandas as pd
import pytest
from fairlearn.metrics import MetricFrame
from scipy.stats import boschloo_exact
from sklearn import config_context
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, cross_validate

from skfairtest import FairnessTest, fairness_p_value


def test_it_is_boschloos_p_value():
    group = np.repeat(["a", "b"], [40, 30])
    said = np.concatenate([np.repeat([1, 0], [25, 15]), np.repeat([1, 0], [8, 22])])
    expected = boschloo_exact([[25, 8], [15, 22]], alternative="greater", n=128).pvalue
    found = fairness_p_value(None, said, sensitive_features=group, metric="selection_rate", alternative="greater")
    assert found == pytest.approx(expected, rel=1e-4)
    assert type(found) is float


def test_everything_that_a_test_of_predictions_takes_is_handed_on(compas):
    features = compas.sensitive_features.iloc[::9]
    y_true, y_pred = compas.y_true[::9], compas.y_pred[::9]
    n = len(y_true)
    people = {
        "sensitive_features": features["sex"],
        "control_features": features["age_cat"],
        "sample_weight": np.arange(n) % 3 + 1.0,
        "clusters": np.arange(n),
    }
    params = {"metric": "false_positive_rate", "n_resamples": 99, "random_state": 3}
    test = FairnessTest.from_predictions(y_true, y_pred, **people, **params)
    assert fairness_p_value(y_true, y_pred, **people, **params) == test.p_value_
    scores = compas.decile_score[::9]
    both = {"metric": ["roc_auc", "accuracy"], "n_resamples": 99, "random_state": 3}
    sex = {"sensitive_features": features["sex"], "y_score": scores}
    expected = FairnessTest.from_predictions(y_true, y_pred, **sex, **both).p_value_
    assert fairness_p_value(y_true, y_pred, **sex, **both) == expected


def test_the_same_predictions_have_the_same_p_value(compas):
    features = compas.sensitive_features.iloc[::20]
    call = functools.partial(
        fairness_p_value, compas.y_true[::20], compas.decile_score[::20], sensitive_features=features["sex"],
        metric="roc_auc", n_resamples=49,
    )  # fmt: skip
    assert call() == call() == call(random_state=0)


def test_a_metric_frame_over_strata_has_a_p_value_for_each(compas):
    features = compas.sensitive_features
    metric = functools.partial(fairness_p_value, metric="selection_rate")
    frame = MetricFrame(
        metrics=functools.update_wrapper(metric, fairness_p_value),  # fairlearn warns of functions without a name
        y_true=compas.y_true,
        y_pred=compas.y_pred,
        sensitive_features=features["age_cat"],
        sample_params={"sensitive_features": features["sex"]},
    )
    for stratum, p in frame.by_group.items():
        inside = (features["age_cat"] == stratum).to_numpy()
        test = FairnessTest.from_predictions(
            None,
            np.asarray(compas.y_pred)[inside],
            sensitive_features=features["sex"][inside],
            metric="selection_rate",
        )
        assert p == test.p_value_
    everybody = fairness_p_value(None, compas.y_pred, sensitive_features=features["sex"], metric="selection_rate")
    assert frame.overall == everybody


def test_a_metric_frame_takes_it_beside_other_metrics(compas):
    features = compas.sensitive_features
    frame = MetricFrame(
        metrics={"p": fairness_p_value, "n": lambda y_true, y_pred: len(y_true)},
        y_true=compas.y_true,
        y_pred=compas.y_pred,
        sensitive_features=features["age_cat"],
        sample_params={"p": {"sensitive_features": features["sex"]}},
    )
    assert ((frame.by_group["p"] > 0) & (frame.by_group["p"] <= 1)).all()


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_make_scorer_takes_it_with_a_request(n_jobs):
    rng = np.random.default_rng(0)
    group = rng.choice(["a", "b"], 200)
    X = pd.DataFrame({"x": rng.normal(size=200) + (group == "b")})
    y = (X["x"] + rng.normal(size=200) > 0).astype(int)
    with config_context(enable_metadata_routing=True):
        scorer = make_scorer(fairness_p_value, metric="demographic_parity").set_score_request(sensitive_features=True)
        search = GridSearchCV(LogisticRegression(), {"C": [0.1, 1]}, scoring=scorer, cv=3, n_jobs=n_jobs)
        search.fit(X, y, sensitive_features=group)
        found = cross_validate(
            LogisticRegression(C=search.best_params_["C"]), X, y, scoring=scorer, cv=3, return_estimator=True,
            return_indices=True, params={"sensitive_features": group},
        )  # fmt: skip
    assert search.best_score_ == found["test_score"].mean()
    for score, model, rows in zip(found["test_score"], found["estimator"], found["indices"]["test"], strict=True):
        test = FairnessTest(model, metric="demographic_parity").fit(
            X.iloc[rows], y.iloc[rows], sensitive_features=group[rows]
        )
        assert score == test.p_value_


def test_without_groups_it_says_what_to_type():
    with pytest.raises(ValueError, match=r"set_score_request\(sensitive_features=True\).*sample_params=\{'sensitive_f"):
        fairness_p_value([0, 1], [0, 1])


def test_lengths_and_single_groups_are_refused():
    with pytest.raises(ValueError, match="sensitive_features has 3 values for 4 people"):
        fairness_p_value([0, 1, 0, 1], [0, 1, 1, 1], sensitive_features=["a", "b", "a"])
    with pytest.raises(ValueError, match="holds one group only, 'a'"):
        fairness_p_value([0, 1, 0, 1], [0, 1, 1, 1], sensitive_features=list("aaaa"))
