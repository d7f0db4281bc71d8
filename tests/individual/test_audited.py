"""How unfair examples are found: which way is chosen, what is said of it, and fairlearn's mitigators."""

import numpy as np
import pandas as pd
import pytest
from fairlearn.postprocessing import ThresholdOptimizer
from fairlearn.reductions import DemographicParity, ExponentiatedGradient, GridSearch
from sklearn.base import is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.ensemble import (
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    VotingRegressor,
)
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import (
    LinearRegression,
    LogisticRegression,
    PoissonRegressor,
    Ridge,
)
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder, StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from skfairtest import IndividualFairnessTest, Projection, SensitiveSubspace

INCOME = Projection([[1, 0, 0]])

SMALL = {"random_state": 0, "max_iter": 200, "tol": 1e-2}
SMOOTH = [
    LogisticRegression(),
    MLPClassifier((6, 4), **SMALL),
    GridSearchCV(make_pipeline(StandardScaler(), LogisticRegression()), {"logisticregression__C": [0.1, 1.0]}, cv=2),
    FrozenEstimator(LogisticRegression()),
    QuadraticDiscriminantAnalysis(),
    CalibratedClassifierCV(SVC(), cv=2),
    PoissonRegressor(),
    MLPRegressor(hidden_layer_sizes=(6,), **SMALL),
    VotingRegressor([("a", LinearRegression()), ("b", Ridge(10.0))]),
    SVR(),
]
STEPS = [
    RandomForestClassifier(20, max_depth=4, random_state=0),
    GradientBoostingClassifier(n_estimators=10),
    KNeighborsClassifier(15),
    make_pipeline(KBinsDiscretizer(4), LogisticRegression()),
    ExtraTreesRegressor(10, max_depth=4, random_state=0),
    KNeighborsRegressor(15),
]


# Which way is chosen ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", [*SMOOTH, *STEPS], ids=lambda model: type(model).__name__)
def test_the_way_of_a_model_and_its_statement(model, training, people):
    y, tested = ((data[1] if is_classifier(model) else np.exp(data[3] / 3)) for data in (training, people))
    if isinstance(model, FrozenEstimator):
        model.estimator.fit(training[0], y)
    params = {"fair_metric": INCOME, "steps": (8, 0.01), "statistic": "ratio_of_means"}
    test = IndividualFairnessTest.as_published(model.fit(training[0], y), **params).fit(people[0], tested)
    way, because = ("finite_differences", "central differences"), ("search", "candidates are tried in the directions")
    way, because = way if model in SMOOTH else because
    report = test.solver_report_
    assert report["gradient"] == way
    assert type(model).__name__ in report["because"]
    assert because in report["because"]
    assert report["because"] in str(test)


def test_a_large_forest_is_searched_though_some_people_stand_next_to_a_threshold():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 4))
    y = (X.sum(axis=1) + rng.normal(size=2000) > 0).astype(int)
    model = RandomForestClassifier(15, random_state=0, min_samples_leaf=2).fit(X, y)
    # Everybody stands on a threshold, in the first feature.
    thresholds = np.concatenate([t.tree_.threshold[t.tree_.feature == 0] for t in model.estimators_])
    people = rng.normal(size=(60, 4))
    people[:, 0] = thresholds[:60] + 1e-6
    test = IndividualFairnessTest.as_published(
        model, fair_metric=Projection([[1, 0, 0, 0]]), steps=(4, 0.01), statistic="ratio_of_means"
    )
    test.fit(people, (people.sum(axis=1) > 0).astype(int))
    assert test.solver_report_["gradient"] == "search"


def test_one_person_whom_the_model_is_sure_of_does_not_make_it_a_step_function(training):
    X, y, _, _ = training
    model = GaussianNB().fit(X, y)
    far = X[:40].to_numpy() * 30  # a probability of 1 has no differences
    test = IndividualFairnessTest.as_published(model, fair_metric=INCOME, steps=(2, 0.01), statistic="ratio_of_means")
    test.fit(pd.DataFrame(np.concatenate([far, X[40:50]]), columns=X.columns), y[:50].to_numpy())
    assert test.solver_report_["gradient"] == "finite_differences"


# Derivatives --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [None, [2.0, 0.5, 3.0]])
def test_a_gradient_of_ones_own_leads_where_differences_do(scale, classifier, people):
    X, y, _, _ = people
    params = {"fair_metric": INCOME, "feature_scale": scale, "steps": (30, 0.01)}
    asked = []

    def gradient(X, y):
        asked.append((type(X), *X.columns, len(X) == len(y)))
        return (classifier.predict_proba(X)[:, 1] - y)[:, None] * classifier.coef_

    own = IndividualFairnessTest.as_published(classifier, gradient=gradient, **params).fit(X, y)
    exact = IndividualFairnessTest.as_published(classifier, **params).fit(X, y)
    np.testing.assert_allclose(own.unfair_examples_, exact.unfair_examples_, atol=1e-9)
    assert own.solver_report_["because"] == "gradient=gradient was given"
    assert set(asked) == {(pd.DataFrame, *X.columns, True)}


def test_a_loss_of_ones_own_is_judged_by_differences(training, people):
    X, y, _, _ = people
    model = SVC().fit(*training[:2])

    def hinge(y_true, y_pred):
        return np.logaddexp(0.0, -(2 * y_true - 1) * y_pred)

    test = IndividualFairnessTest.as_published(model, fair_metric=INCOME, loss=hinge, steps=(20, 0.01)).fit(X, y)
    assert test.solver_report_["gradient"] == "finite_differences"
    assert "decision_function" in test.solver_report_["because"]
    assert test.solver_report_["loss"] == "hinge"
    before, after = (hinge(y, model.decision_function(x)) for x in (X, test.unfair_examples_))
    np.testing.assert_allclose(test.loss_ratios_, after / before, rtol=1e-9)
    assert (test.loss_ratios_ > 1).mean() > 0.9


# The search ---------------------------------------------------------------------------------------------------------


def test_the_search_finds_the_worst_of_all_incomes_within_reach_and_moves_nobody_else(training, people):
    """By brute force: both sides of every threshold, as far as the flow of differences of the loss goes by hand."""
    X, y, _, _ = people
    model = DecisionTreeClassifier(max_depth=8, min_samples_leaf=3, random_state=0)
    model.fit(training[0].to_numpy(), training[1])
    params = {"fair_metric": INCOME, "steps": (200, 0.01), "statistic": "ratio_of_means"}
    test = IndividualFairnessTest.as_published(model, **params).fit(X.to_numpy(), y)

    def losses(income):
        p = model.predict_proba(X.assign(income=income).to_numpy())[np.arange(len(y)), y]
        return -np.log(np.clip(p, np.finfo(float).eps, 1))

    income, move, moving = X["income"].to_numpy(), np.zeros(len(y)), np.ones(len(y), dtype=bool)
    for _ in range(25):
        slope = np.zeros(len(y))
        for width in (0.25, 0.5, 1.0):
            wider = (losses(income + move + width) - losses(income + move - width)) / (2 * width)
            slope = np.where(moving & (slope == 0), wider, slope)
        moving &= slope != 0
        move += 2 / 25 * slope
    best, thresholds = losses(income), model.tree_.threshold[model.tree_.feature == 0]
    for level in np.concatenate([thresholds - 1e-6, thresholds + 1e-6]):
        best = np.where(np.abs(level - income) < np.abs(move), np.maximum(best, losses(level)), best)
    found = test.to_frame()
    assert (found["displacement"] <= np.abs(move) + 1e-9).all()
    assert (best > losses(income)).mean() > 0.2
    np.testing.assert_allclose(found["loss_after"], best, rtol=1e-12, atol=1e-12)
    changed, worse = test.unfair_examples_ != X.to_numpy(), found["loss_ratio"] > 1
    np.testing.assert_array_equal(changed, np.outer(worse, [True, False, False]))


@pytest.mark.parametrize("weights", [(1.0, 0.5, -0.8), (2.0, 0.2, 0.0), (-0.4, 2.0, 1.0)])
def test_a_search_goes_as_far_as_the_flow(weights, logistic, people):
    X, y, _, _ = people
    model = logistic(weights)
    params = {"fair_metric": INCOME, "regularization": 1e4}  # what is held back does not move, as in a search
    flow = IndividualFairnessTest(model, **params).fit(X.to_numpy(), y)
    tried = IndividualFairnessTest(model, gradient="search", **params).fit(X.to_numpy(), y)
    assert flow.statistic_ > 1.1
    assert tried.statistic_ == pytest.approx(flow.statistic_, rel=0.05)
    moved = [test.to_frame()["displacement"] for test in (flow, tried)]
    np.testing.assert_allclose(*moved, atol=0.05 * max(moved[0].max(), 1))


# Other models -------------------------------------------------------------------------------------------------------


def test_a_model_without_predict_errs_where_another_label_is_likelier(training, people):
    X, y, _, _ = people
    model = GaussianNB().fit(*training[:2])

    class Duck:
        def predict_proba(self, X):
            return model.predict_proba(X)

    class Named(Duck):
        classes_ = np.array(["no", "yes"])

    params = {"fair_metric": INCOME, "steps": (20, 0.01), "statistic": "error_rate_ratio"}
    exact = IndividualFairnessTest.as_published(model, **params).fit(X, y)
    assert exact.statistic_ > 1
    for duck, labels in ((Duck(), y), (Named(), y.map({0: "no", 1: "yes"}))):
        test = IndividualFairnessTest.as_published(duck, **params).fit(X, labels)
        assert (test.statistic_, test.lower_bound_) == (exact.statistic_, exact.lower_bound_)
        np.testing.assert_array_equal(test.path_.to_numpy(), exact.path_.to_numpy())


def test_a_model_that_does_not_say_what_it_is_is_judged_by_the_loss(people):
    X, _, _, score = people

    class Duck:
        def predict(self, X):
            return np.tanh(X["income"].to_numpy())

    test = IndividualFairnessTest.as_published(Duck(), fair_metric=INCOME, loss="squared_error", steps=(5, 0.01)).fit(
        X, score
    )
    expected = (np.tanh(X["income"]) - score) ** 2 / np.var(score)
    np.testing.assert_allclose(test.to_frame()["loss_before"], expected, rtol=1e-12)
    assert test.statistic_ > 1


def test_a_model_in_single_precision(training, people):
    class Single:
        classes_ = np.array([0, 1])

        def __init__(self, model):
            self.model = model

        def predict_proba(self, X):
            score = np.asarray(X, dtype=np.float32) @ self.model.coef_[0].astype(np.float32)
            p = 1 / (1 + np.exp(-score - np.float32(self.model.intercept_[0])))
            return np.stack([1 - p, p], axis=1)

    X, y, _, _ = people
    exact = LogisticRegression().fit(*training[:2])
    double = IndividualFairnessTest.as_published(exact, fair_metric=INCOME, steps=(30, 0.01)).fit(X, y)
    single = IndividualFairnessTest.as_published(Single(exact), fair_metric=INCOME, steps=(30, 0.01)).fit(X, y)
    assert single.solver_report_["gradient"] == "finite_differences"
    assert single.statistic_ == pytest.approx(double.statistic_, rel=1e-3)


def test_a_model_that_takes_missing_features(training, people):
    X, y, _, _ = training
    holes = X.mask(np.random.default_rng(0).random(X.shape) < 0.1)
    model = HistGradientBoostingClassifier(max_iter=10).fit(holes, y)
    tested = people[0].copy()
    tested.iloc[[3, 7], 1] = np.nan
    tested.iloc[7, 2] = np.nan
    test = IndividualFairnessTest.as_published(model, fair_metric=INCOME, steps=(20, 0.01))
    with pytest.warns(UserWarning, match=r"X has missing values: 2 people left out"):
        test.fit(tested, people[1])
    assert test.n_samples_ == len(tested) - 2
    assert list(test.excluded_["person"]) == ["p003", "p007"]
    assert list(test.excluded_["reason"]) == ["missing: savings", "missing: savings, debts"]
    assert list(test.unfair_examples_.index) == list(tested.index.drop(["p003", "p007"]))
    assert "2 people left out" in str(test)
    model.fit(holes.to_numpy(), y)
    with pytest.warns(UserWarning, match="missing values"):
        test.fit(tested.to_numpy(), people[1].to_numpy())
    assert list(test.excluded_["person"]) == [3, 7]
    assert list(test.to_frame()["person"]) == [i for i in range(len(tested)) if i not in (3, 7)]
    complete = tested.drop(["p003", "p007"])
    fewer = IndividualFairnessTest.as_published(model, fair_metric=INCOME, steps=(20, 0.01))
    fewer.fit(complete.to_numpy(), people[1][complete.index])
    assert fewer.statistic_ == test.statistic_


@pytest.mark.torch
@pytest.mark.parametrize("statistic", ["loss_ratio", "error_rate_ratio"])
def test_a_torch_module_is_the_scikit_learn_model_with_its_weights(statistic, training, people):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    X, y, _, _ = people
    model = LogisticRegression().fit(training[0].to_numpy(), training[1])
    layer = torch.nn.Linear(3, 2).double()
    with torch.no_grad():  # two scores, of which one is 0
        layer.weight.copy_(torch.tensor(np.concatenate([np.zeros((1, 3)), model.coef_])))
        layer.bias.copy_(torch.tensor(np.concatenate([[0.0], model.intercept_])))
    params = {"fair_metric": INCOME, "steps": (30, 0.01), "statistic": statistic}
    module = IndividualFairnessTest.as_published(layer, **params).fit(X.to_numpy(), y)
    exact = IndividualFairnessTest.as_published(model, **params).fit(X.to_numpy(), y)
    assert module.solver_report_["gradient"] == "autograd"
    assert module.statistic_ == pytest.approx(exact.statistic_, rel=1e-9)
    np.testing.assert_allclose(module.unfair_examples_, exact.unfair_examples_, atol=1e-9)


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
    assert test.solver_report_["gradient"] == "search"  # behind the mixture categories are not shares
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
