"""A closed form says what the model says, and its gradient is that of the model."""

import inspect
import pickle
import warnings
from functools import partial
from itertools import pairwise
from unittest.mock import Mock

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import TransformedTargetRegressor, make_column_transformer
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import VotingClassifier, VotingRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectKBest
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.linear_model import (
    GammaRegressor,
    HuberRegressor,
    Lasso,
    LinearRegression,
    LogisticRegression,
    LogisticRegressionCV,
    PoissonRegressor,
    Ridge,
    RidgeClassifier,
    SGDClassifier,
    SGDRegressor,
    TweedieRegressor,
)
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, Normalizer, PolynomialFeatures, StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from skfairtest.individual.models.features import read_features
from skfairtest.individual.models.smooth import closed_form
from skfairtest.readers import ask

ACTIVATIONS = ["identity", "relu", "tanh", "logistic"]
rng = np.random.default_rng(0)
UNITS = np.array([1.0, 20.0, 0.1])
X = pd.DataFrame(rng.normal(size=(150, 3)) * UNITS + [0, 100, -0.3], columns=["age", "income", "rate"])
SCORE = X["age"] + 0.05 * (X["income"] - 100) + 5 * X["rate"] + rng.normal(size=150)
TWO = np.where(SCORE > -1.5, "yes", "no")
THREE = np.array(["mild", "severe", "none"])[np.digitize(SCORE, [-2.5, -0.5])]
COUNT = rng.poisson(np.exp(0.3 * (SCORE - SCORE.min())))
FEATURES = read_features(X)
FRESH = X.to_numpy()[:40] + rng.normal(size=(40, 3)) * UNITS

mlp = partial(MLPClassifier, (6,), max_iter=40, random_state=0)
mlp_regressor = partial(MLPRegressor, hidden_layer_sizes=(6,), max_iter=40, random_state=0)


def scaled(model):
    return make_pipeline(StandardScaler(), model)


def fitted(model, y, data=X):
    with warnings.catch_warnings():
        # How well it fits does not matter here, nor which of its options will change.
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", FutureWarning)
        return model.fit(data, y)


def differences(function, x):
    """Central differences of one number per row."""
    steps = 1e-5 * np.diag(UNITS)
    return np.stack([(function(x + step) - function(x - step)) / (2 * step.sum()) for step in steps], axis=1)


def assert_is_the_model(model, features=FEATURES):
    smooth = closed_form(model, features)
    response = "predict" if smooth.classes is None else "predict_proba"

    def said(x):
        return ask(model, response, features.as_input(x)).reshape(len(x), -1)

    # A weighted sum of the probabilities, or of the one prediction.
    weights = np.arange(1.0, 1 + said(FRESH[:1]).size) ** 2
    outputs = smooth.outputs(FRESH)
    if smooth.classes is None:
        np.testing.assert_allclose(outputs, said(FRESH), rtol=1e-10)
        gradient = smooth.gradient(FRESH, lambda outputs: np.full(outputs.shape, weights))
    else:
        np.testing.assert_allclose(np.exp(outputs), said(FRESH), rtol=1e-8, atol=1e-14)
        gradient = smooth.gradient(FRESH, lambda outputs: weights * np.exp(outputs))
    expected = differences(lambda x: said(x) @ weights, FRESH) * UNITS
    scale = np.abs(expected).max()
    assert scale > 1e-3
    assert gradient.shape == FRESH.shape
    np.testing.assert_allclose(gradient * UNITS, expected, rtol=1e-6, atol=1e-6 * scale)
    return smooth


TWO_CLASSES = [
    LogisticRegression(solver="newton-cholesky"),
    LogisticRegression(fit_intercept=False, solver="newton-cholesky"),
    LogisticRegression(solver="liblinear"),
    scaled(LogisticRegressionCV(Cs=2, cv=2)),
    scaled(SGDClassifier(loss="log_loss", random_state=0)),
    LinearDiscriminantAnalysis(),
    *(scaled(mlp(activation=activation)) for activation in ACTIVATIONS),
    scaled(MLPClassifier((5, 4, 3), activation="tanh", max_iter=40, random_state=0)),
    make_pipeline(StandardScaler(), PCA(), "passthrough", SelectKBest(k=2), mlp()),
    make_pipeline(SimpleImputer(), make_pipeline(StandardScaler(), FrozenEstimator(LogisticRegression()))),
    GridSearchCV(scaled(LogisticRegression()), {"logisticregression__C": [0.1, 1]}, cv=2),
    scaled(GridSearchCV(LogisticRegression(), {"C": [1.0]}, cv=2)),
]


@pytest.mark.parametrize("model", TWO_CLASSES, ids=repr)
def test_a_classifier_of_two_classes_is_what_it_says(model):
    if "FrozenEstimator" in repr(model):
        model[-1][-1].estimator.fit(StandardScaler().fit_transform(X), TWO)
    assert assert_is_the_model(fitted(model, TWO)).classes == ("no", "yes")


MORE_CLASSES = [
    LogisticRegression(solver="newton-cholesky"),
    scaled(SGDClassifier(loss="log_loss", random_state=0)),  # one against the rest
    LinearDiscriminantAnalysis(),
    *(scaled(mlp(activation=activation)) for activation in ACTIVATIONS),
]


@pytest.mark.parametrize("model", MORE_CLASSES, ids=repr)
def test_a_classifier_of_more_classes_is_what_it_says(model):
    assert assert_is_the_model(fitted(model, THREE)).classes == ("mild", "none", "severe")


NUMBERS = [
    LinearRegression(),
    LinearRegression(fit_intercept=False),
    Ridge(),
    Lasso(0.01),
    HuberRegressor(max_iter=1000),
    scaled(SGDRegressor(random_state=0)),
    scaled(SVR(kernel="linear")),
    scaled(PoissonRegressor()),
    scaled(TweedieRegressor(power=1.5)),
    scaled(TweedieRegressor(power=0)),
    *(scaled(mlp_regressor(activation=activation)) for activation in ACTIVATIONS),
    TransformedTargetRegressor(Ridge()),
    scaled(TransformedTargetRegressor(scaled(mlp_regressor()))),
    TransformedTargetRegressor(Ridge(), func=np.log1p, inverse_func=np.exp, check_inverse=False),
]


@pytest.mark.parametrize("model", NUMBERS, ids=repr)
def test_a_regressor_is_what_it_says(model):
    assert assert_is_the_model(fitted(model, COUNT)).classes is None


def test_positive_targets_have_their_regressor():
    assert_is_the_model(fitted(scaled(GammaRegressor()), COUNT + 0.5))


@pytest.mark.skipif("loss" not in inspect.signature(MLPRegressor).parameters, reason="squared errors only")
def test_a_network_of_counts_is_what_it_says():
    assert_is_the_model(fitted(scaled(mlp_regressor(loss="poisson")), COUNT))


def test_a_model_may_keep_its_coefficients_sparse():
    model = scaled(SGDClassifier(loss="log_loss", penalty="l1", random_state=0))
    fitted(model, TWO)[-1].sparsify()
    assert_is_the_model(model)


def test_a_target_with_a_column_of_its_own_changes_nothing():
    assert_is_the_model(fitted(LinearRegression(), COUNT[:, None]))


def voters():
    return [
        ("plain", LogisticRegression(solver="newton-cholesky")),
        ("mlp", scaled(mlp())),
        ("lda", LinearDiscriminantAnalysis()),
    ]


@pytest.mark.parametrize("y", [TWO, THREE], ids=["two classes", "three classes"])
@pytest.mark.parametrize("weights", [None, [3, 1, 0.5], [2, 0, 1]], ids=str)
def test_a_soft_vote_is_what_it_says(y, weights):
    assert_is_the_model(fitted(VotingClassifier(voters(), voting="soft", weights=weights), y))


def test_a_vote_is_read_wherever_it_stands():
    vote = VotingClassifier(voters(), voting="soft", weights=[3, 1, 0.5]).set_params(mlp="drop")
    around = VotingClassifier([("vote", vote), ("other", LogisticRegression())], voting="soft")
    assert_is_the_model(fitted(scaled(around), THREE))


@pytest.mark.parametrize("weights", [None, [2, 1]], ids=str)
def test_a_mean_of_regressors_is_what_it_says(weights):
    members = [("poisson", scaled(PoissonRegressor())), ("mlp", scaled(mlp_regressor()))]
    assert_is_the_model(fitted(VotingRegressor(members, weights=weights), COUNT))


def test_columns_of_a_frame_go_where_the_model_sends_them():
    columns = make_column_transformer(
        (StandardScaler(), ["rate", "income"]),
        (MinMaxScaler(), ["age"]),
        ("passthrough", ["income"]),
        ("drop", ["rate"]),
    )
    for convert in (lambda frame: frame, pl.from_pandas):
        data = convert(X)
        model = fitted(make_pipeline(columns, StandardScaler(), mlp()), TWO, data)
        assert_is_the_model(model, read_features(data))


def test_names_that_do_not_fit_are_no_warning_of_this():
    assert closed_form(fitted(scaled(LogisticRegression()), TWO), read_features(X.to_numpy())) is not None
    assert closed_form(fitted(scaled(LogisticRegression()), TWO, X.to_numpy()), FEATURES) is not None


@pytest.mark.parametrize("labels", [["b", "c", "a"], [7, 3, 5], [True, False]], ids=str)
def test_outputs_stand_in_the_order_of_the_models_classes(labels):
    y = np.array(labels)[np.arange(150) % len(labels)]
    y[np.argsort(SCORE)[:40]] = labels[0]
    model = fitted(scaled(LogisticRegression()), y)
    smooth = closed_form(model, FEATURES)
    assert smooth.classes == tuple(sorted(labels))
    for column, label in enumerate(smooth.classes):
        probability = model.predict_proba(X)[:, model.classes_.tolist().index(label)]
        np.testing.assert_allclose(np.exp(smooth.outputs(X.to_numpy())[:, column]), probability, rtol=1e-10)


def with_coefficients(model, coef, intercept):
    """Give a linear classifier of the classes 0, 1, ... its coefficients."""
    model.coef_, model.intercept_ = np.array(coef), np.array(intercept)
    model.classes_, model.n_features_in_ = np.arange(max(2, len(intercept))), model.coef_.shape[1]
    return model


def test_of_two_classes_a_model_may_be_surer_than_floats_near_one_can_tell():
    smooth = closed_form(with_coefficients(LogisticRegression(), [[100.0]], [0.0]), read_features([[-0.01], [0.02]]))
    x = np.array([[0.7], [-0.7], [3.0], [-3.0], [1e6], [-1e6]])
    # log p = -log(1 + exp(-|z|)) = -exp(-|z|) (1 + O(exp(-|z|))), and log(1 - p) = log p - |z|.
    z, side = np.array([-70, -70, -300, -300, -1e8, -1e8]), np.array([1, 0] * 3)
    outputs = smooth.outputs(x)
    np.testing.assert_allclose(outputs[range(6), side], -np.exp(z), rtol=1e-13)
    np.testing.assert_allclose(outputs[range(6), 1 - side], z, rtol=1e-15)
    # The slope of -log p is -100 (1 - p) for the side to which x goes, and 100 p for the other.
    gradient = smooth.gradient(x, lambda outputs: -np.eye(2)[side])[:, 0]
    np.testing.assert_allclose(gradient, -100 * np.sign(x[:, 0]) * np.exp(z), rtol=1e-13)
    gradient = smooth.gradient(x, lambda outputs: -np.eye(2)[1 - side])[:, 0]
    np.testing.assert_allclose(gradient, 100 * np.sign(x[:, 0]), rtol=1e-15)


@pytest.mark.parametrize("link", ["softmax", "one against the rest"])
def test_of_more_classes_a_model_may_be_surer_than_floats_near_one_can_tell(link):
    if link == "softmax":
        model, intercept = LogisticRegression(), [0.0, 0.0, 0.0]
        # log p = -log(1 + exp(-z) + exp(-2 z)), z = 100 x
        lacking = np.exp(-70)
    else:
        model, intercept = SGDClassifier(loss="log_loss"), [0.0, -100.0, 0.0]
        # log p = -log(1 + (sigmoid(-100) + sigmoid(-z)) / sigmoid(z)), where only sigmoid(-z) moves with x
        lacking = np.exp(-70) + np.exp(-100)
    with_coefficients(model, [[100.0], [0.0], [-100.0]], intercept)
    smooth = closed_form(model, read_features([[-0.01], [0.0], [0.02]]))
    x = np.array([[0.7], [3.0], [-1e6]])
    outputs = smooth.outputs(x)
    assert (outputs <= 0).all()
    np.testing.assert_allclose(outputs[0, 0], -lacking, rtol=1e-12)
    gradient = smooth.gradient(x, lambda outputs: -np.eye(3)[[0, 0, 0]])
    assert np.isfinite(gradient).all()
    np.testing.assert_allclose(gradient[0, 0], -100 * np.exp(-70), rtol=1e-12)


def test_a_vote_of_sure_models_is_sure():
    members = [(name, LogisticRegression(solver="newton-cholesky")) for name in "ab"]
    model = fitted(VotingClassifier(members, voting="soft", weights=[3, 1]), TWO)
    for member in model.estimators_:
        with_coefficients(member, [[100.0, 0.0, 0.0]], [0.0])
    smooth = closed_form(model, FEATURES)
    x = np.array([[0.7, 0, 0], [-0.7, 0, 0], [1e6, 0, 0]])
    np.testing.assert_allclose(smooth.outputs(x)[:2], [[-70, -np.exp(-70)], [-np.exp(-70), -70]], rtol=1e-13)
    gradient = smooth.gradient(x, lambda outputs: -np.eye(2)[[1, 1, 1]])
    np.testing.assert_allclose(gradient[:, 0], [-100 * np.exp(-70), -100, 0], rtol=1e-12)


@pytest.mark.parametrize("model", [scaled(LogisticRegression()), scaled(mlp())], ids=["linear", "network"])
def test_nobody_depends_on_the_others(model):
    smooth = closed_form(fitted(model, THREE), FEATURES)

    def slope(outputs):
        return np.exp(outputs) * [1, 2, 4]

    alone = np.concatenate([smooth.gradient(row[None], slope) for row in FRESH])
    np.testing.assert_allclose(smooth.gradient(FRESH, slope), alone, rtol=1e-12)
    np.testing.assert_allclose(smooth.gradient(FRESH[::-1], slope), alone[::-1], rtol=1e-12)
    np.testing.assert_allclose(smooth.gradient(np.asfortranarray(FRESH), slope), alone, rtol=1e-12)


@pytest.mark.parametrize("y", [TWO, THREE], ids=["two classes", "three classes"])
@pytest.mark.parametrize("model", [LogisticRegression(), mlp()], ids=["linear", "network"])
def test_nothing_that_is_handed_in_is_changed(model, y):
    smooth = closed_form(fitted(scaled(model), y), FEATURES)
    x, slopes = FRESH.copy(), []

    def slope(outputs):
        before = outputs.copy()
        slopes.extend([np.exp(outputs), np.exp(outputs)])
        assert np.array_equal(outputs, before)
        return slopes[0]

    smooth.gradient(x, slope)
    assert np.array_equal(x, FRESH)
    assert np.array_equal(*slopes)


@pytest.mark.parametrize(
    ("model", "y"),
    [
        (scaled(LogisticRegression()), TWO),
        (scaled(mlp()), THREE),
        (scaled(SGDClassifier(loss="log_loss", random_state=0)), THREE),
        (VotingClassifier(voters(), voting="soft"), TWO),
        (scaled(PoissonRegressor()), COUNT),
    ],
    ids=["logistic", "network", "one against the rest", "vote", "counts"],
)
def test_a_closed_form_goes_to_other_processes(model, y):
    smooth = closed_form(fitted(model, y), FEATURES)
    again = pickle.loads(pickle.dumps(smooth))
    assert again.classes == smooth.classes
    assert np.array_equal(again.outputs(FRESH), smooth.outputs(FRESH))
    assert np.array_equal(again.gradient(FRESH, np.ones_like), smooth.gradient(FRESH, np.ones_like))


class Sharpened(LogisticRegression):
    def predict_proba(self, X):
        squared = super().predict_proba(X) ** 2
        return squared / squared.sum(axis=1, keepdims=True)


class Rounded(LinearRegression):
    def predict(self, X):
        return np.round(super().predict(X))


class OwnModel(ClassifierMixin, BaseEstimator):
    """Has coefficients of its own, which mean something else."""

    def fit(self, X, y):
        self.classes_, self.coef_, self.intercept_ = np.unique(y), np.ones((1, 3)), np.zeros(1)
        return self

    def predict_proba(self, X):
        p = 1 / (1 + np.asarray(X)[:, :1] ** 2)
        return np.hstack([p, 1 - p])


@pytest.mark.parametrize(
    "model",
    [
        DecisionTreeClassifier(max_depth=2),
        KNeighborsClassifier(),
        GaussianNB(),
        DummyClassifier(),
        SVC(),
        LinearSVC(),
        RidgeClassifier(),
        Sharpened(solver="newton-cholesky"),
        OwnModel(),
        scaled(SGDClassifier(loss="modified_huber", random_state=0)),
        make_pipeline(StandardScaler(), PolynomialFeatures(2), LogisticRegression()),
        make_pipeline(StandardScaler(), Normalizer(), mlp()),
        make_pipeline(MinMaxScaler(clip=True), LogisticRegression()),
        VotingClassifier(voters()),
        VotingClassifier([*voters(), ("tree", DecisionTreeClassifier())], voting="soft"),
        VotingClassifier(voters(), voting="soft", weights=[2, 1, -0.5]),
    ],
    ids=repr,
)
def test_other_classifiers_have_no_closed_form(model):
    assert closed_form(fitted(model, TWO), FEATURES) is None


@pytest.mark.parametrize(
    "model",
    [
        DecisionTreeRegressor(max_depth=2),
        SVR(),
        Rounded(),
        TransformedTargetRegressor(LinearRegression(), func=np.sqrt, inverse_func=np.square),
        VotingRegressor([("ridge", Ridge()), ("tree", DecisionTreeRegressor())]),
    ],
    ids=repr,
)
def test_other_regressors_have_no_closed_form(model):
    assert closed_form(fitted(model, COUNT), FEATURES) is None


@pytest.mark.parametrize(
    ("model", "y"),
    [
        (LinearRegression(), np.stack([COUNT, COUNT**2], axis=1)),
        (mlp_regressor(), np.stack([COUNT, COUNT**2], axis=1)),
        (mlp(), np.stack([TWO == "yes", THREE == "mild", THREE == "none"], axis=1)),
        (mlp(), np.stack([TWO == "yes", THREE == "mild"], axis=1)),
    ],
    ids=["linear", "network", "three labels at once", "two labels at once"],
)
def test_models_of_several_answers_have_no_closed_form(model, y):
    assert closed_form(fitted(model, y), FEATURES) is None


@pytest.mark.parametrize(
    "model",
    [
        LogisticRegression(),
        mlp(),
        scaled(LogisticRegression()),
        VotingClassifier(voters(), voting="soft"),
        TransformedTargetRegressor(Ridge()),
        GridSearchCV(LogisticRegression(), {"C": [1.0]}),
        LogisticRegression,
        object(),
        Mock(),
        None,
    ],
    ids=lambda model: type(model).__name__,
)
def test_what_is_not_fitted_has_no_closed_form(model):
    assert closed_form(model, FEATURES) is None


def test_a_model_of_other_features_has_no_closed_form():
    assert closed_form(fitted(LogisticRegression(), TWO, X[["age"]]), FEATURES) is None


def test_where_features_are_missing_there_is_no_closed_form():
    holes = X.copy()
    holes.iloc[100, 1] = np.nan
    model = fitted(make_pipeline(SimpleImputer(), StandardScaler(), LogisticRegression()), TWO, holes)
    assert closed_form(model, read_features(holes)) is None


def test_a_model_that_is_sure_of_everybody_is_still_told_from_others():
    # All probabilities are 0 or 1 to the last digit, so that both links for three classes say the same of the rows.
    rows = np.array([[-50.0, 0.0], [50.0, 0.0], [0.0, 50.0]]).repeat(5, axis=0)
    model = SGDClassifier(loss="log_loss")
    with_coefficients(model, [[-9.0, -9.0], [9.0, -9.0], [-9.0, 9.0]], [0.0, 0.0, 0.0])
    smooth = closed_form(model, read_features(rows))
    between = np.array([[0.1, 0.05], [0.0, 0.2]])
    np.testing.assert_allclose(np.exp(smooth.outputs(between)), model.predict_proba(between), rtol=1e-10)


floats = st.floats(-4, 4, width=32)


@st.composite
def networks(draw):
    """A network with any weights, and people."""
    sizes = [draw(st.integers(1, 4)) for _ in range(draw(st.integers(1, 3)) + 1)]
    n_classes = draw(st.integers(2, 4))
    sizes.append(1 if n_classes == 2 else n_classes)

    def array(*shape):
        size = int(np.prod(shape))
        return np.array(draw(st.lists(floats, min_size=size, max_size=size))).reshape(shape)

    model = MLPClassifier(activation=draw(st.sampled_from(ACTIVATIONS)))
    model.coefs_ = [array(before, after) for before, after in pairwise(sizes)]
    model.intercepts_ = [array(after) for after in sizes[1:]]
    model.n_layers_, model.n_outputs_, model.n_features_in_ = len(sizes), sizes[-1], sizes[0]
    model.out_activation_ = "logistic" if n_classes == 2 else "softmax"
    model.classes_ = np.arange(n_classes)
    model._label_binarizer = None
    return model, array(5, sizes[0]), array(5, n_classes)


def complex_scores(model, x):
    """The last scores of a network by its definition, which also holds for complex features."""
    function = {
        "identity": lambda z: z,
        "relu": lambda z: np.where(z.real > 0, z, 0),
        "tanh": np.tanh,
        "logistic": lambda z: 1 / (1 + np.exp(-z)),
    }[model.activation]
    for coef, intercept in zip(model.coefs_[:-1], model.intercepts_[:-1], strict=True):
        x = function(x @ coef + intercept)
    scores = x @ model.coefs_[-1] + model.intercepts_[-1]
    return scores if scores.shape[1] > 1 else np.hstack([0 * scores, scores])


@settings(deadline=None)
@given(networks())
def test_any_network_is_what_it_says_and_its_gradient_is_exact(drawn):
    model, x, slopes = drawn
    smooth = closed_form(model, read_features(x))
    np.testing.assert_allclose(np.exp(smooth.outputs(x)), model.predict_proba(x), rtol=1e-9, atol=1e-14)
    gradient = smooth.gradient(x, lambda outputs: slopes)
    # Complex steps: the derivative of an analytic function is the imaginary part, without any difference.
    for feature in range(x.shape[1]):
        moved = x.astype(complex)
        moved[:, feature] += 1e-30j
        scores = complex_scores(model, moved)
        logs = scores - scores.real.max(axis=1, keepdims=True)
        logs = logs - np.log(np.exp(logs).sum(axis=1, keepdims=True))
        expected = (slopes * logs).sum(axis=1).imag / 1e-30
        largest = np.abs(slopes[:, :, None] * scores.imag[:, :, None] / 1e-30).sum(axis=(1, 2))
        assert (np.abs(gradient[:, feature] - expected) <= 1e-9 * (1 + largest)).all()
