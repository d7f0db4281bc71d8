"""Who is tested: what is wrong with people is said by its name, with what was found and what to do."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from skfairtest import IndividualFairnessTest, Projection


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (pd.DataFrame({"a": [3 + 1j] * 80, "b": 0.0, "c": 1.0}), r"Complex data not supported"),
        (pd.DataFrame({"a": [f"x{i}" for i in range(80)] * 5, "b": 0.0}), r"different lengths, 400 and 80"),
        (pd.DataFrame({"a": pd.date_range("2020", periods=80), "b": 0.0}), r"X has a column that is not numbers, 'a'"),
        (np.zeros(80), r"X must be a table"),
        (np.full((80, 3), np.inf), r"infinite"),
        (np.full((80, 3), np.nan), r"X has a missing value in every row.*Impute"),
        (np.zeros((79, 3)), r"different lengths, 79 and 80"),
        (np.zeros((0, 3)), r"0 sample"),
        (np.zeros((80, 0)), r"0 feature"),
    ],
    ids=["complex", "text", "dates", "one column", "infinite", "missing", "shorter", "nobody", "nothing"],
)
def test_features_that_cannot_be_moved(X, message, fit, people):
    with pytest.raises(ValueError, match=message):
        fit(X=X, y=people[1].to_numpy())


def test_labels_that_are_none(fit, people, regressor):
    with pytest.raises(ValueError, match="y is missing"):
        IndividualFairnessTest.as_published(regressor).fit(people[0], None)
    with pytest.raises(ValueError, match=r"y has \d+ missing values"):
        fit(y=people[1].where(people[1] == 0))
    with pytest.raises(ValueError, match=r"y must hold numbers for estimator=LinearRegression\(\)"):
        fit(model=regressor, y=people[1].map({0: "a", 1: "b"}))
    with pytest.raises(ValueError, match=r"one dimension"):
        fit(y=np.zeros((80, 2)))


def test_people_in_another_order(fit, people):
    with pytest.raises(ValueError, match=r"order|align"):
        fit(y=people[1].iloc[::-1])
    with pytest.raises(ValueError, match=r"order|align"):
        fit(groups=people[2].iloc[::-1], fair_metric="sensitive_subspace")


def test_few_people(fit, people):
    X, y = people[0][:8], people[1][:8]
    with pytest.warns(UserWarning, match=r"X has 8 people: the normal approximation of this test needs at least 30"):
        test = fit(X=X, y=y)
    assert test.n_samples_ == 8
    with pytest.raises(ValueError, match=r"X has 1 sample: a standard error needs at least 2"):
        fit(X=X[:1], y=y[:1])


def test_a_constant_feature_has_no_unit(fit, people, training):
    """The standard deviation of many 0.1 is the rounding error of their mean."""
    X = people[0].assign(debts=0.1)
    assert 0 < X["debts"].to_numpy().std() < 1e-15
    model = LogisticRegression().fit(training[0], training[1])  # which uses the debts
    free = {"fair_metric": Projection([[1, 0, 0], [0, 0, 1]]), "steps": (10, 0.005)}
    assert fit(model=model, X=X, **free).statistic_ > 1  # nothing is said of units
    scale = X.std(ddof=0).to_numpy()
    scaled = fit(model=model, X=X, feature_scale="std", **free)
    given = fit(model=model, X=X, feature_scale=[scale[0], scale[1], 1.0], **free)
    np.testing.assert_allclose(scaled.loss_ratios_, given.loss_ratios_, rtol=1e-8)
    moved = np.abs(scaled.unfair_examples_["debts"] - 0.1)
    assert 1e-4 < moved.min() < moved.max() < 1
