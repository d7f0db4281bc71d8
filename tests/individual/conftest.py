"""People and models that several files of this folder share."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression

from skfairtest import IndividualFairnessTest, Projection
from skfairtest.individual import metric


@pytest.fixture(scope="module", autouse=True)
def few_are_moved_to_learn_how_much_a_direction_varies(request):
    """Moving as many as by default takes longer than all else of most tests: among the slow ones they are moved."""
    with pytest.MonkeyPatch.context() as patch:
        if "not slow" in request.config.getoption("markexpr"):
            patch.setattr(metric, "MOVED", 25)
        yield


@pytest.fixture(scope="session")
def logistic():
    """Make a logistic regression of given coefficients."""

    def make(coefficients, intercept=0.0, classes=(0, 1)):
        model = LogisticRegression()
        model.coef_ = np.atleast_2d(np.asarray(coefficients, dtype=float))
        model.intercept_ = np.atleast_1d(np.asarray(intercept, dtype=float))
        model.classes_ = np.array(classes)
        model.n_features_in_ = model.coef_.shape[1]
        return model

    return make


def draw(n, seed):
    """Some people: what they earn and save says who they are, and both say what happens to them."""
    rng = np.random.default_rng(seed)
    sex = np.where(rng.random(n) < 0.5, "f", "m")
    columns = {
        "income": rng.normal(size=n) + (sex == "m"),
        "savings": rng.normal(size=n) + 0.5 * (sex == "m"),
        "debts": rng.normal(size=n),
    }
    X = pd.DataFrame(columns, index=pd.Index([f"p{i:03d}" for i in range(n)], name="id"))
    score = X["income"] + X["savings"] - X["debts"] + rng.normal(size=n)
    y = pd.Series((score > 0.5).astype(int), index=X.index, name="paid")
    return X, y, pd.Series(sex, index=X.index, name="sex"), pd.Series(score, index=X.index, name="score")


@pytest.fixture(scope="session")
def training():
    """Features, labels, sensitive features and targets of the people whom models are fitted on."""
    return draw(300, seed=1)


@pytest.fixture(scope="session")
def people():
    """The same of other people, whom they are tested on."""
    return draw(80, seed=2)


@pytest.fixture(scope="session")
def classifier(training):
    """A classifier of these people."""
    X, y, _, _ = training
    return LogisticRegression().fit(X, y)


@pytest.fixture(scope="session")
def regressor(training):
    """A regressor of these people."""
    X, _, _, score = training
    return LinearRegression().fit(X, score)


@pytest.fixture
def fit(classifier, people):
    """Fit a test of good input, but for what the case says."""

    def run(*, model=classifier, X=None, y=None, groups=None, **params):
        X = people[0] if X is None else X
        y = people[1] if y is None else y
        params = {"fair_metric": Projection([[1, 0, 0]]), "steps": (10, 0.01), **params}
        return IndividualFairnessTest.as_published(model, **params).fit(X, y, sensitive_features=groups)

    return run
