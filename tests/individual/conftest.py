"""People and models that several files of this folder share."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression

GOLDEN = Path(__file__).parents[1] / "inference" / "golden" / "maity.json"


@pytest.fixture(scope="session")
def golden():
    """Numbers of the simulation of Maity et al. (2021), section 4.1, with their origin inside."""
    return json.loads(GOLDEN.read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def simulated():
    """The data of that simulation: features and labels of 400 people (the published generator)."""
    random = np.random.RandomState(1)
    X = random.normal(0, 0.25, (400, 2))
    majority = random.choice([False, True], p=[0.1, 0.9], size=400)
    centre = np.where(majority[:, None], [-1.5, 0.0], [1.5, 0.0])
    X = X + centre
    noise = 0.01 * random.normal(size=400)
    weights = np.where(majority[:, None], [-0.2, -0.01], [0.2, -0.01])
    y = np.sign((X * weights).sum(axis=1) - (weights * centre).sum(axis=1) + noise)
    return X, ((y + 1) / 2).astype(int)


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
