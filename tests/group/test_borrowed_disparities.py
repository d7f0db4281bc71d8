"""The number of a borrowed disparity function is the number of that function."""

from functools import partial

import pytest
from fairlearn import metrics as fair

from skfairtest import FairnessTest
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
