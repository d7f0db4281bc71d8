"""Errors about a parameter know its name."""

import pickle

import pytest

from skfairtest import CorrelationFairnessTest, FairnessTest, minimum_detectable_disparity, power
from skfairtest._utils.errors import GroupsMissing, ParameterError


@pytest.mark.parametrize("kind", [ParameterError, GroupsMissing])
def test_an_error_comes_back_from_another_process_with_its_parameter(kind):
    copied = pickle.loads(pickle.dumps(kind("margin must be a number; found 'wide'")))
    assert type(copied) is kind
    assert str(copied) == "margin must be a number; found 'wide'"
    assert copied.parameter == "margin"


def test_only_the_first_name_is_another_one_for_others():
    error = ParameterError("metric names two different metrics 'a': give one another name")
    assert error.renamed("metrics") == "metrics names two different metrics 'a': give one another name"


SEX, DECISIONS = list("ffmm") * 5, [0, 1, 1, 1] * 5


@pytest.mark.parametrize(
    ("parameter", "work"),
    [
        (
            "y_score",
            lambda: FairnessTest.from_predictions(
                DECISIONS, DECISIONS, sensitive_features=SEX, metric=["roc_auc", "accuracy"]
            ),
        ),
        (
            "estimator",
            lambda: CorrelationFairnessTest.from_predictions(
                DECISIONS, DECISIONS, sensitive_features=range(20), estimator=len
            ),
        ),
        ("n_resamples", lambda: power(metric="accuracy", rates=(0.3, 0.5), n_per_group=(9, 9), n_resamples=9)),
        (
            "metric",
            lambda: minimum_detectable_disparity(
                FairnessTest.from_predictions(None, DECISIONS, sensitive_features=SEX, metric="selection_rate"),
                metric="accuracy",
            ),
        ),
    ],
)
def test_errors_that_name_a_parameter_know_it(parameter, work):
    with pytest.raises(ParameterError) as error:
        work()
    assert error.value.parameter == parameter
