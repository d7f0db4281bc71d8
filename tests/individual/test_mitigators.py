"""fairlearn's mitigators are tested as they are."""

import numpy as np
import pandas as pd
import pytest
from fairlearn.postprocessing import ThresholdOptimizer
from fairlearn.reductions import DemographicParity, ExponentiatedGradient, GridSearch
from sklearn.compose import ColumnTransformer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC

from skfairtest import IndividualFairnessTest, SensitiveSubspace


def draw(n, seed):
    rng = np.random.default_rng(seed)
    sex = rng.integers(0, 2, n)
    job = np.where(rng.random(n) < 0.1 + 0.8 * sex, "smith", "nurse")
    X = pd.DataFrame({"skill": rng.normal(size=n), "job": job})
    y = (X["skill"] + 1.5 * (job == "smith") + rng.normal(size=n) > 0.7).astype(int)
    return X, y.to_numpy(), np.where(sex, "m", "f")


#: fairlearn's own, about pandas.
pytestmark = pytest.mark.filterwarnings("ignore:Setting a value on a Series", "ignore:Setting an item of incompatible")
TRAINING, PEOPLE = draw(400, 0), draw(100, 1)


def pipeline():
    first = ColumnTransformer([("n", StandardScaler(), ["skill"]), ("c", OneHotEncoder(), ["job"])])
    return make_pipeline(first, LogisticRegression())


def audit(model, **params):
    X, y, sex = PEOPLE
    params = {"fair_metric": SensitiveSubspace(sensitive_columns="job"), "steps": (10, 0.2)} | params
    return IndividualFairnessTest(model, **params).fit(X, y, sensitive_features=sex)


@pytest.fixture(scope="module")
def mixture():
    X, y, sex = TRAINING
    model = ExponentiatedGradient(
        pipeline(), DemographicParity(), sample_weight_name="logisticregression__sample_weight", eps=0.1, max_iter=5
    )
    return model.fit(X, y, sensitive_features=sex)


def test_a_mixture_is_what_its_predictors_say_on_average(mixture):
    test = audit(mixture)
    assert test.solver_report_["gradient"] == "search"  # behind the mixture categories are no shares
    weights = np.asarray(mixture.weights_)
    assert (weights > 0).sum() > 1
    for x, column in ((PEOPLE[0], "loss_before"), (test.unfair_examples_, "loss_after")):
        p = sum(w * h.predict_proba(x)[:, 1] for w, h in zip(weights, mixture.predictors_, strict=True) if w > 0)
        expected = -np.log(np.where(PEOPLE[1] == 1, p, 1 - p))
        np.testing.assert_allclose(test.to_frame()[column], expected, rtol=1e-9)
    assert audit(mixture, statistic="error_rate_ratio").statistic_ > 0


def test_a_mixture_without_probabilities_is_refused():
    X, y, sex = TRAINING
    model = ExponentiatedGradient(LinearSVC(), DemographicParity(), max_iter=3)
    model.fit(X[["skill"]], y, sensitive_features=sex)
    with pytest.raises(ValueError, match=r"predictors without predict_proba \('LinearSVC'\)"):
        IndividualFairnessTest(model).fit(PEOPLE[0][["skill"]], PEOPLE[1], sensitive_features=PEOPLE[2])


@pytest.mark.slow
def test_mitigators_at_the_end_of_a_pipeline_are_tested_behind_it(mixture):
    X, y, sex = TRAINING
    front = ColumnTransformer([("n", StandardScaler(), ["skill"]), ("c", OneHotEncoder(), ["job"])]).fit(X)
    encoded = front.transform(X)
    inside = ExponentiatedGradient(LogisticRegression(), DemographicParity(), eps=0.1)
    inside.fit(encoded, y, sensitive_features=sex)
    test = audit(make_pipeline(FrozenEstimator(front), inside))
    members = [
        w * h.predict_proba(front.transform(PEOPLE[0]))[np.arange(100), PEOPLE[1]]
        for w, h in zip(inside.weights_, inside.predictors_, strict=True)
        if w > 0
    ]
    np.testing.assert_allclose(test.to_frame()["loss_before"], -np.log(sum(members)), rtol=1e-9)


def test_a_grid_answers_with_its_best(mixture):
    X, y, sex = TRAINING
    grid = GridSearch(
        pipeline(), DemographicParity(), grid_size=3, sample_weight_name="logisticregression__sample_weight"
    ).fit(X, y, sensitive_features=sex)
    test = audit(grid)
    assert test.solver_report_["gradient"] == "finite_differences"
    best = audit(grid.predictors_[grid.best_idx_])
    assert test.statistic_ == pytest.approx(best.statistic_, rel=1e-12)


def test_models_whose_predictions_are_random_are_refused():
    X, y, sex = TRAINING
    model = ThresholdOptimizer(estimator=pipeline().fit(X, y), prefit=True, predict_method="predict_proba")
    model.fit(X, y, sensitive_features=sex)
    loss = {"loss": lambda y_true, y_pred: (y_true != y_pred).astype(float)}
    for params in ({}, loss):
        with pytest.raises(
            ValueError,
            match=r"ThresholdOptimizer\(\)( has no predict_proba|\.predict is randomised, needs sensitive_f)",
        ):
            IndividualFairnessTest(model, **params).fit(*PEOPLE[:2], sensitive_features=PEOPLE[2])
    for predict in (_tossed, _seeded):
        estimator = type("Tossing", (LogisticRegression,), {"predict": predict})().fit(X[["skill"]], y)
        with pytest.raises(ValueError, match=r"estimator=Tossing\(\)\.predict is randomised"):
            IndividualFairnessTest(estimator).fit(PEOPLE[0][["skill"]], PEOPLE[1], sensitive_features=PEOPLE[2])


def _tossed(self, X):
    return np.random.default_rng().integers(0, 2, len(X))


def _seeded(self, X, random_state=0):
    return np.random.default_rng(random_state).integers(0, 2) + np.zeros(len(X), dtype=int)
