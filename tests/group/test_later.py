"""What later versions add is refused by name, and never half done."""

import numpy as np
import pytest
import sklearn.metrics as sk
from fairlearn import metrics as fair

from skfairtest import FairnessTest
from skfairtest.metrics.rates import ALIASES, CRITERIA, PLANNED, RATES

#: Section 2 of the design.
CONTRACT = {
    # rates
    "selection_rate", "true_positive_rate", "recall", "false_positive_rate", "true_negative_rate",
    "false_negative_rate", "precision", "negative_predictive_value", "false_discovery_rate", "false_omission_rate",
    "accuracy", "zero_one_loss", "jaccard", "f1",
    # criteria
    "demographic_parity", "equal_opportunity", "predictive_equality", "equalized_odds", "predictive_parity",
    "conditional_use_accuracy", "overall_accuracy_equality",
    # others
    "balanced_accuracy", "matthews_corrcoef", "roc_auc", "log_loss", "brier_score", "mean_prediction", "mean_residual",
    "mean_squared_error", "mean_absolute_error", "calibration", "normalized_mutual_info", "hinnefeld",
}  # fmt: skip
PEOPLE = {"sensitive_features": list("aabbabab")}
Y = [0, 1, 0, 1, 1, 0, 0, 1]


@pytest.mark.parametrize("metric", sorted(PLANNED))
def test_a_metric_of_the_contract_that_is_not_built(metric):
    with pytest.raises(NotImplementedError, match=f"'{metric}'"):
        FairnessTest.from_predictions(Y, Y, metric=metric, **PEOPLE)


def test_every_metric_of_the_contract_is_either_built_or_planned():
    built = {*RATES, *CRITERIA, *ALIASES}
    assert built | PLANNED == CONTRACT
    assert not built & PLANNED
    for metric in built:
        test = FairnessTest.from_predictions(Y, [1, 1, 0, 1, 0, 0, 1, 0], metric=metric, **PEOPLE)
        assert 0 < test.p_value_ <= 1


def own(y_true, y_pred):
    """A metric of one's own."""
    return float(np.mean(y_pred))


@pytest.mark.parametrize(
    ("metric", "named"),
    [
        (own, "own"),
        (lambda t, p: 0.0, "lambda"),
        (sk.roc_auc_score, "roc_auc_score"),
        (sk.balanced_accuracy_score, "balanced_accuracy_score"),
        (fair.mean_prediction, "mean_prediction"),
        ({"mine": own}, "own"),
        (["selection_rate", own], "own"),
    ],
)
def test_a_callable_without_a_twin(metric, named):
    with pytest.raises(NotImplementedError, match=named):
        FairnessTest.from_predictions(Y, Y, metric=metric, **PEOPLE)


@pytest.mark.parametrize(
    ("params", "named"),
    [
        ({"variance": "jackknife"}, "variance='jackknife'"),
        ({"variance": "bootstrap"}, "variance='bootstrap'"),
        ({"n_resamples": "adaptive"}, "n_resamples='adaptive'"),
    ],
)
def test_a_parameter_value(params, named):
    with pytest.raises(NotImplementedError, match=named):
        FairnessTest.from_predictions(Y, Y, **params, **PEOPLE)


@pytest.mark.parametrize("argument", ["sample_weight", "clusters", "y_score"])
def test_an_argument(argument):
    with pytest.raises(NotImplementedError, match=argument):
        FairnessTest.from_predictions(Y, Y, **{argument: [1] * 8}, **PEOPLE)
    if argument != "y_score":
        with pytest.raises(NotImplementedError, match=argument):
            FairnessTest().fit(Y, Y, **{argument: [1] * 8}, **PEOPLE)
