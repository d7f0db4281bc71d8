"""Models and functions of the caller's that cannot be tested: each its own error, which says what to do."""

import numpy as np
import pytest
from fairlearn.reductions import DemographicParity, ExponentiatedGradient
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from skfairtest import IndividualFairnessTest

#: Of pandas 3, about what fairlearn does.
fairlearn_warns = pytest.mark.filterwarnings("ignore:Setting a(n item| value) ")


# Models -------------------------------------------------------------------------------------------------------------


def test_no_model(people):
    with pytest.raises(ValueError, match=r"estimator is missing: IndividualFairnessTest\(model\)"):
        IndividualFairnessTest().fit(people[0], people[1])


def test_a_class_instead_of_a_model(fit):
    with pytest.raises(ValueError, match=r"estimator=LogisticRegression is a class: pass a fitted instance") as error:
        fit(model=LogisticRegression)
    assert "estimator=None" not in str(error.value)


def test_a_model_that_is_not_fitted(fit):
    with pytest.raises(NotFittedError, match=r"estimator=LogisticRegression\(\) is not fitted, and a test never fits"):
        fit(model=LogisticRegression())


def test_a_regression_model_with_a_classification_loss_and_the_reverse(fit, regressor, people):
    with pytest.raises(ValueError, match=r"loss='log_loss' judges classifiers.*LinearRegression.*'squared_error'"):
        fit(model=regressor, y=people[3], loss="log_loss")
    for loss in ("squared_error", "absolute_error"):
        with pytest.raises(ValueError, match=r"judges regressors.*LogisticRegression.*loss='log_loss'"):
            fit(loss=loss)


def test_error_rates_of_a_regressor(fit, regressor, people):
    for loss in ("auto", lambda y_true, y_pred: np.abs(y_true - y_pred)):
        with pytest.raises(ValueError, match=r"error_rate_ratio.*counts wrong labels.*predicts numbers.*'loss_ratio'"):
            fit(model=regressor, y=people[3], statistic="error_rate_ratio", loss=loss)


def test_a_model_without_probabilities(fit, training):
    with pytest.raises(ValueError, match=r"SVC\(\) has no predict_proba.*CalibratedClassifierCV.*loss=function"):
        fit(model=SVC().fit(*training[:2]))


def test_a_randomised_model_is_no_function_of_a_person(fit):
    class Random:
        classes_ = np.array([0, 1])

        def predict_proba(self, X):
            p = np.random.default_rng().random(len(X))
            return np.stack([1 - p, p], axis=1)

    with pytest.raises(ValueError, match=r"predict_proba is randomised, .*called again on fewer people.*predict_proba"):
        fit(model=Random())


def test_a_model_that_looks_at_everybody_at_once_is_no_function_of_a_person(fit):
    class Ranking:
        classes_ = np.array([0, 1])

        def predict_proba(self, X):
            p = (np.arange(len(X)) + 1.0) / (len(X) + 1)
            return np.stack([1 - p, p], axis=1)

    with pytest.raises(ValueError, match=r"a person other outputs when it is called again on fewer people"):
        fit(model=Ranking())


@fairlearn_warns
def test_the_average_of_a_randomised_model_can_be_tested(fit, training, people):
    X, y, sex, _ = training
    randomised = ExponentiatedGradient(LogisticRegression(), DemographicParity(), max_iter=5)
    randomised.fit(X.to_numpy(), y.to_numpy(), sensitive_features=sex.to_numpy())

    class Average:
        classes_ = np.array([0, 1])

        def predict_proba(self, X):
            weights = np.asarray(randomised.weights_)
            p = sum(w * m.predict_proba(X)[:, 1] for w, m in zip(weights, randomised.predictors_, strict=True) if w > 0)
            return np.stack([1 - p, p], axis=1)

    assert fit(model=Average(), X=people[0].to_numpy(), statistic="ratio_of_means").statistic_ > 1


def test_labels_that_the_model_does_not_know(fit, people):
    with pytest.raises(
        ValueError, match=r"y has labels that estimator=LogisticRegression\(\) does not know, 7: .* 0, 1"
    ):
        fit(y=people[1].replace(1, 7))


def test_a_model_that_does_not_say_what_its_columns_mean(fit, people):
    class Three:
        def predict_proba(self, X):
            return np.full((len(X), 3), 1 / 3)

    with pytest.raises(ValueError, match=r"y has labels up to 5, and estimator=Three\(\) has 3 outputs.*0 to 2: give"):
        fit(model=Three(), y=people[1] + 4)
    with pytest.raises(ValueError, match=r"positions of outputs, from 0, for estimator=Three\(\).*'no', 'yes'"):
        fit(model=Three(), y=people[1].map({0: "no", 1: "yes"}))
    with pytest.warns(UserWarning, match="nobody's loss changed"):
        fit(model=Three(), y=people[1] + 1)  # the second and the third


def test_a_model_that_says_nothing_of_somebody(fit):
    class Holes:
        classes_ = np.array([0, 1])

        def predict_proba(self, X):
            p = np.where(X["income"] > 0, np.nan, 0.5)
            return np.stack([1 - p, p], axis=1)

    with pytest.raises(ValueError, match=r"Holes\(\) has no finite log_loss for \d+ of 80 people: .* nan or infinite"):
        fit(model=Holes())


@pytest.mark.parametrize(
    "model", [DummyClassifier(), DummyRegressor(), LogisticRegression(C=1e-12)], ids=["classes", "numbers", "nearly"]
)
def test_a_model_whose_loss_does_not_move(model, fit, training, people):
    target = 3 if isinstance(model, DummyRegressor) else 1
    model = model.fit(training[0], training[target])
    if isinstance(model, LogisticRegression):
        model.coef_ = np.zeros_like(model.coef_)
    with pytest.warns(
        UserWarning, match=r"nobody's loss changed: the model predicts the same wherever people are moved"
    ):
        test = fit(model=model, y=people[target], statistic="auto")
    assert test.statistic_ == 1
    assert not test.rejected_
    assert 0 < test.lower_bound_ <= 1
    np.testing.assert_array_equal(test.unfair_examples_, people[0])
    assert test.most_unfair().empty
    assert "No violation" in str(test)


def test_a_model_of_one_class(fit, training, people):
    model = DecisionTreeClassifier().fit(training[0], np.zeros(len(training[0]), dtype=int))
    with pytest.warns(UserWarning, match="nobody's loss changed"):
        test = fit(model=model, y=np.zeros(80, dtype=int))
    assert test.statistic_ == 1
    with pytest.raises(ValueError, match=r"y has labels that .* does not know, 1: it knows 0"):
        fit(model=model)


@pytest.fixture
def layer():
    """Make a torch module of one layer."""
    torch = pytest.importorskip("torch", reason="torch is not installed")
    torch.manual_seed(0)
    return lambda n_outputs: torch.nn.Linear(3, n_outputs).double()


@pytest.mark.torch
def test_labels_beyond_the_outputs_of_a_torch_module(fit, layer, people):
    X, y, _, score = people
    assert fit(model=layer(2), X=X.to_numpy()).n_samples_ == 80
    for labels, found in ((y + 1, 2), (3 * y, 3)):
        with pytest.raises(
            ValueError,
            match=rf"y has labels up to {found}, and estimator=Linear\(\) has 2 outputs, whose labels are 0 to 1",
        ):
            fit(model=layer(2), X=X.to_numpy(), y=labels.to_numpy())
    for labels in (score, y.map({0: "no", 1: "yes"})):
        with pytest.raises(ValueError, match=r"y must hold the positions of outputs, from 0, for estimator=Linear\(\)"):
            fit(model=layer(2), X=X.to_numpy(), y=labels.to_numpy())


@pytest.mark.torch
def test_a_torch_module_of_one_output_is_a_classifier_or_a_regressor(fit, layer, people):
    X, y, _, score = people
    with pytest.raises(ValueError, match=r"returns 1 number\(s\) per person.*loss='log_loss' or loss='squared_e"):
        fit(model=layer(1), X=X.to_numpy(), y=y.to_numpy())
    with pytest.raises(ValueError, match=r"y must hold the positions of outputs.* pass loss='squared_error'"):
        fit(model=layer(1), X=X.to_numpy(), y=score.to_numpy())
    regression = fit(model=layer(1), X=X.to_numpy(), y=score.to_numpy(), loss="squared_error")
    assert regression.solver_report_["loss"] == "squared_error"
    assert fit(model=layer(1), X=X.to_numpy(), loss="log_loss").solver_report_["loss"] == "log_loss"
    with pytest.raises(ValueError, match=r"returns 2 number\(s\) per person: a regressor returns one"):
        fit(model=layer(2), X=X.to_numpy(), loss="squared_error")


@pytest.mark.torch
@pytest.mark.parametrize(
    "params",
    [{"loss": lambda y_true, y_pred: y_pred[:, 0]}, {"gradient": "finite_differences"}, {"gradient": "search"}],
    ids=["loss", "differences", "search"],
)
def test_a_torch_module_is_asked_by_torch_only(params, fit, layer, people):
    with pytest.raises(
        ValueError, match=r"torch module.*use loss='auto' and gradient='auto', or wrap it.*predict_proba"
    ):
        fit(model=layer(2), X=people[0].to_numpy(), **params)


# Functions of the caller's ------------------------------------------------------------------------------------------


def shapeless(y_true, y_pred):
    """A mean."""
    return 1.0


@pytest.mark.parametrize(
    ("loss", "message"),
    [
        (shapeless, r"loss=shapeless must return one number per person, shape \(80,\).*returned shape \(\)"),
        (lambda y_true, y_pred: y_pred, r"must return one number per person.*\(80, 2\)"),
        (lambda y_true, y_pred: np.full(len(y_true), np.nan), r"finite numbers of at least 0; it returned nan"),
        (lambda y_true, y_pred: np.full(len(y_true), np.inf), r"finite numbers of at least 0; it returned inf"),
        (lambda y_true, y_pred: y_pred[:, 1] - 0.5, r"finite numbers of at least 0; it returned -0\.\d+ for \d+ of 80"),
    ],
    ids=["shape", "table", "nan", "infinite", "negative"],
)
@pytest.mark.parametrize("gradient", ["finite_differences", "search"])
def test_losses_that_are_none(loss, message, gradient, fit):
    with pytest.raises(ValueError, match=message):
        fit(loss=loss, gradient=gradient)


@pytest.mark.parametrize(
    ("gradient", "message"),
    [
        (lambda X, y: np.zeros(3), r"gradient=<lambda> must return .* shape \(80, 3\); it returned shape \(3,\)"),
        (lambda X, y: np.zeros((len(X), 2)), r"it returned shape \(80, 2\)"),
        (
            lambda X, y: np.full(X.shape, np.nan),
            r"gradient=<lambda> must return .* numbers of shape \(80, 3\); .* or nan",
        ),
    ],
    ids=["vector", "columns", "nan"],
)
def test_gradients_that_are_none(gradient, message, fit):
    with pytest.raises(ValueError, match=message):
        fit(gradient=gradient)
