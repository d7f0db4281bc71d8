"""Parameters of the test: each mistake is its own error, which names the parameter, what was found and what to do."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from skfairtest import IndividualFairnessTest, Mahalanobis, Projection

# Parameters ---------------------------------------------------------------------------------------------------------

BAD = [
    ("statistic", ["mean", None, 1, ["loss_ratio"]]),
    ("tolerance", [0, -1.25, np.nan, np.inf, "1.25", None, True]),
    ("regularization", [-1, np.nan, np.inf, "50", None]),
    (
        "steps",
        [0, 5, "many", (0, 0.1), (2.5, 0.1), (5, 0), (5, np.nan), (5, "0.1"), (True, 0.1), [], [0.1, -0.1], [[1]]],
    ),
    ("solver", ["search", "RK45", None, 4]),
    ("gradient", ["exact", None, 4]),
    ("loss", ["hinge", None, 4, ("squared_error",), ("log_loss", 1.0), ("hinge", 1.0), ("squared_error", 0)]),
    ("confidence_level", [0, 1, 95, np.nan, None, "0.95", True]),
    ("fair_metric", ["euclid", None, 4, Projection]),
    ("feature_ranges", [4, None, "frozen", [(0, 1)]]),
    ("feature_scale", ["sd", 2.0, [1, 2], [1, 2, 0], [1, 2, np.nan], -1, object(), {"debts": "a"}, {"debts": 0}]),
]


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in BAD for value in values])
def test_a_parameter_that_is_none_is_named_with_what_was_found(name, value, fit):
    with pytest.raises(ValueError, match=rf"{name}(?s:.)*found"):
        fit(**{name: value})


@pytest.mark.parametrize(
    ("ranges", "message"),
    [
        ({"age": (0, 1)}, r"feature_ranges: X has no feature 'age'; its features are 'income', 'savings'"),
        ({3: (0, 1)}, r"feature_ranges: X has no feature 3"),
        ({True: (-9, 9)}, r"X has no feature True"),
        ({"debts": (1, 0)}, r"the lower limit 1 is not below the upper limit 0"),
        ({"debts": (1, 1)}, r"is not below"),
        ({"debts": (np.nan, 1)}, r"the lower limit nan is not below"),
        ({"debts": 1}, r"must be \(low, high\), 'free' or 'frozen'.*found 1"),
        ({"debts": (0, 1, 2)}, r"must be \(low, high\)"),
        ({"debts": "fixed"}, r"must be \(low, high\), 'free' or 'frozen'.*found 'fixed'"),
        ({"debts": (-0.5, 0.5)}, r"people start outside, for instance at .*: widen the range"),
        (
            {"income": "frozen", 0: (-9, 9)},
            r"feature_ranges: 'income' is named twice, as 'income' and 0",
        ),
        ({("income", "debts"): "frozen"}, r"X has no feature \('income', 'debts'\)"),
    ],
)
def test_mistakes_in_feature_ranges(ranges, message, fit):
    with pytest.raises(ValueError, match=message):
        fit(feature_ranges=ranges)


def test_a_block_keeps_its_columns_and_is_measured_by_its_shares(people):
    X = pd.DataFrame(np.eye(3)[np.arange(60) % 3], columns=["a", "b", "c"]).assign(d=np.linspace(-1, 1, 60))
    y = np.arange(60) % 2
    model = LogisticRegression().fit(X, y)
    params = {"fair_metric": Projection([[0, 0, 0, 1]]), "steps": (5, 0.01)}
    ranges = {"d": (-9, 9)}
    scaled = IndividualFairnessTest.as_published(model, feature_ranges=ranges, feature_scale="std", **params).fit(X, y)
    np.testing.assert_array_equal(scaled.unfair_examples_[["a", "b", "c"]].sum(axis=1), 1.0)
    np.testing.assert_allclose(scaled.feature_scale_[:3], np.sqrt(1 / 3))


# Steps --------------------------------------------------------------------------------------------------------------


def test_steps_that_are_unstable(fit):
    message = r"steps of 0.03 are too long for regularization=50: .* is 1.5, .*'implicit'.* below 0.02"
    with pytest.warns(UserWarning, match=message):
        fit(steps=(4, 0.03))
    with pytest.warns(UserWarning, match=r"largest eigenvalue of the fair metric\) is 1.2, .* below 0.005"):
        fit(steps=(4, 0.006), fair_metric=Mahalanobis(np.diag([0.0, 4.0, 1.0])))
    # No step is too long for a search.
    fit(steps=(4, 0.03), gradient="search")
    frozen = {"feature_ranges": {"savings": "frozen"}, "fair_metric": Mahalanobis(np.diag([0.0, 4.0, 1.0]))}
    fit(steps=(4, 0.0199), **frozen)


@pytest.mark.filterwarnings("ignore:steps of 1 are too long:UserWarning")
def test_steps_that_diverge(fit, people, regressor):
    message = r"steps of up to 1 diverge: \d+ unfair examples ran away within \d+ of them. Use smaller or fewer steps"
    with pytest.raises(ValueError, match=message):
        fit(steps=(500, 1))
    with pytest.raises(ValueError, match=r"steps of up to 0.01 diverge"):
        fit(model=regressor, y=people[3], regularization=0, steps=(20_000, 0.01))
