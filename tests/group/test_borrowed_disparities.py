"""The number of a borrowed disparity function is the number of that function."""

from functools import partial

import numpy as np
import pytest
from fairlearn import metrics as fair
from sklearn.base import BaseEstimator, ClassifierMixin

from skfairtest import (
    AuditedClassifier,
    FairnessAudit,
    FairnessTest,
    assert_fair,
    make_fairness_scorer,
    select_fair,
)
from skfairtest.datasets import load_compas


@pytest.mark.parametrize(
    "function",
    [
        fair.demographic_parity_ratio,
        fair.demographic_parity_difference,
        fair.equalized_odds_difference,
        fair.equalized_odds_ratio,
        fair.equal_opportunity_difference,
        fair.true_positive_rate_ratio,
        partial(fair.equalized_odds_difference, agg="mean"),
        partial(fair.equalized_odds_ratio, agg="mean"),
        partial(fair.demographic_parity_difference, method="to_overall"),
    ],
    ids=lambda function: getattr(function, "__name__", None),
)
def test_disparity_is_that_of_fairlearn_and_lies_in_its_interval(function):
    data = load_compas()
    people = {"sensitive_features": data.sensitive_features["race"]}
    test = FairnessTest.from_predictions(data.y_true, data.y_pred, metric=function, **people)
    low, high = test.confidence_interval_
    assert test.disparity_ == pytest.approx(function(data.y_true, data.y_pred, **people), rel=1e-9)
    assert low <= test.disparity_ <= high


class Given(ClassifierMixin, BaseEstimator):
    """Predicts the first column, whatever it is fitted to."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return X[:, 0].astype(int)


RNG = np.random.default_rng(0)
N = 240
GROUP, Y = RNG.choice(["a", "b", "c"], N), RNG.integers(0, 2, N)
X, WEIGHT = RNG.integers(0, 2, (N, 2)).astype(float), RNG.uniform(0.5, 1.5, N)
MODEL, GROUPS = Given().fit(X, Y), {"sensitive_features": GROUP}


def of_audit(function):
    """The most extreme disparity of all that the audit lists."""
    found = FairnessAudit(MODEL, metrics=[function]).fit(X, Y, **GROUPS).comparisons_["disparity"]
    return np.minimum(found, 1 / found).min() if "ratio" in function.__name__ else np.abs(found).max()


def of_scorer(function):
    score = make_fairness_scorer(function, output="disparity")(MODEL, X, Y, **GROUPS)
    return score if "ratio" in function.__name__ else -score


def of_selection(function):
    """The tolerance up to which the only candidate is fair enough, which is its own."""
    score = make_fairness_scorer(function, output="disparity")(MODEL, X, Y, **GROUPS)
    results = {"split0_test_gain": np.array([0.5]), "split0_test_fair": np.array([score]), "params": [{}]}
    assert select_fair("gain", "fair", tolerance=abs(score))(results) == 0  # without a warning that none qualifies
    return abs(score)


DOORS = {
    "predictions": lambda f: FairnessTest.from_predictions(Y, X[:, 0].astype(int), metric=f, **GROUPS).disparity_,
    "model": lambda f: FairnessTest(MODEL, metric=f).fit(X, Y, **GROUPS).disparity_,
    "assert_fair": lambda f: (
        assert_fair(MODEL, X, Y, metric=f, require="not_rejected", confidence_level=0.999, **GROUPS).disparity_
    ),
    "AuditedClassifier": lambda f: (
        AuditedClassifier(Given(), metric=f).fit(X, Y, **GROUPS).fairness_tests_[0].disparity_
    ),
    "FairnessAudit": of_audit,
    "scorer": of_scorer,
    "select_fair": of_selection,
}


@pytest.mark.parametrize("function", [fair.equalized_odds_difference, fair.demographic_parity_ratio])
@pytest.mark.parametrize("door", DOORS)
def test_every_door_has_the_number_of_fairlearn(door, function):
    assert DOORS[door](function) == pytest.approx(function(Y, X[:, 0], **GROUPS), rel=1e-9)


@pytest.mark.parametrize("weight", [None, WEIGHT])
@pytest.mark.parametrize(
    "function",
    [
        fair.make_derived_metric(metric=fair.selection_rate, transform="difference"),
        fair.make_derived_metric(metric=fair.true_positive_rate, transform="ratio"),
        fair.equalized_odds_difference,
        fair.demographic_parity_ratio,
    ],
)
def test_derived_metrics_and_weights_keep_the_number_of_fairlearn(function, weight):
    weights = {} if weight is None else {"sample_weight": weight}
    test = FairnessTest.from_predictions(
        Y, X[:, 0].astype(int), metric=function, random_state=0, n_resamples=99, **GROUPS, **weights
    )
    assert test.disparity_ == pytest.approx(function(Y, X[:, 0].astype(int), **GROUPS, **weights), rel=1e-9)


def truth_of(rates, function):
    """The number of a function in a population of groups of equal size with these selection rates."""
    groups = np.repeat(np.arange(len(rates)), 100)
    decisions = np.concatenate([np.arange(100) < round(100 * rate) for rate in rates]).astype(int)
    return function(decisions, decisions, sensitive_features=groups)


@pytest.mark.slow
@pytest.mark.parametrize("function", [fair.demographic_parity_difference, fair.demographic_parity_ratio])
@pytest.mark.parametrize(
    ("sizes", "rates"),
    [
        ((60, 60), (0.4, 0.4)),
        ((20, 400), (0.6, 0.3)),
        ((50, 50, 50, 50), (0.4, 0.4, 0.4, 0.4)),
        ((50, 50, 50, 50), (0.2, 0.3, 0.3, 0.6)),
    ],
)
def test_the_interval_covers_the_number_of_the_population(function, sizes, rates):
    """Of 200 samples at least 181 of intervals at 95%: fewer have a probability of .003."""
    rng, groups, truth, covered = (
        np.random.default_rng(1),
        np.repeat(np.arange(len(sizes)), sizes),
        truth_of(rates, function),
        0,
    )
    for _ in range(200):
        decisions = (rng.random(len(groups)) < np.repeat(rates, sizes)).astype(int)
        test = FairnessTest.from_predictions(decisions, decisions, metric=function, sensitive_features=groups)
        low, high = test.confidence_interval_
        covered += low - 1e-9 <= truth <= high + 1e-9
    assert covered >= 181
