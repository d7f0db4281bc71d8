"""People, parameters, models and functions that cannot be used: each its own error, which says what to do."""

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from skfairtest import IndividualFairnessTest, Mahalanobis, Projection


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
    message = r"steps of up to 1 diverge: \d+ unfair examples ran away. Use smaller or fewer steps"
    with pytest.raises(ValueError, match=message):
        fit(steps=(500, 1))
    with pytest.raises(ValueError, match=r"steps of up to 0.1 diverge"):
        fit(model=regressor, y=people[3], regularization=0, steps=(2000, 0.1))


#: Of pandas 3, about what fairlearn does.


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
    with pytest.raises(ValueError, match=r"loss must be 'auto', 'squared_error'.*LinearRegression.*found 'log_loss'"):
        fit(model=regressor, y=people[3], loss="log_loss")
    for loss in ("squared_error", "absolute_error"):
        with pytest.raises(ValueError, match=rf"loss must be 'auto', 'log_loss'.*LogisticRegression.*found '{loss}'"):
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
