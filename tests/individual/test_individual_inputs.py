"""Bad input: each its own error or warning, which names the parameter, what was found and what to do."""

import numpy as np
import pandas as pd
import pytest
from fairlearn.postprocessing import ThresholdOptimizer
from fairlearn.reductions import DemographicParity, ExponentiatedGradient
from sklearn.decomposition import PCA
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, QuantileTransformer, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from skfairtest import IndividualFairnessTest, Mahalanobis, Projection, SensitiveSubspace

INCOME = Projection([[1, 0, 0]])
#: Of pandas 3, about what fairlearn does.
fairlearn_warns = pytest.mark.filterwarnings("ignore:Setting a(n item| value) ")


@pytest.fixture
def fit(classifier, people):
    """Fit a test of good input, but for what the case says."""

    def run(*, model=classifier, X=None, y=None, groups=None, **params):
        X = people[0] if X is None else X
        y = people[1] if y is None else y
        params = {"fair_metric": INCOME, "n_steps": 10, **params}
        return IndividualFairnessTest(model, **params).fit(X, y, sensitive_features=groups)

    return run


# Parameters ----------------------------------------------------------------------------------------------------------

BAD = [
    ("statistic", ["mean", None, 1, ["loss_ratio"]]),
    ("tolerance", [0, -1.25, np.nan, np.inf, "1.25", None, True]),
    ("regularization", [-1, np.nan, np.inf, "50", None]),
    ("n_steps", [0, -5, 2.5, "many", None, True]),
    ("step_size", [0, -0.1, np.nan, np.inf, None, "0.1"]),
    ("step_decay", [-0.1, np.nan, None, "1"]),
    ("solver", ["search", "rk45", None, 4]),
    ("gradient", ["exact", None, 4]),
    ("loss", ["hinge", None, 4, ("squared_error",), ("log_loss", 1.0), ("hinge", 1.0), ("squared_error", 0)]),
    ("cross_fit", [1, 0.5, "yes", None, -2]),
    ("confidence_level", [0, 1, 95, np.nan, None, "0.95", True]),
    ("random_state", ["a", 0.5, -1]),
    ("n_jobs", [0, 1.5, "all", True]),
    ("verbose", [-1, "yes", None]),
    ("fair_metric", ["euclid", None, 4, Projection, np.eye(3)]),
    ("feature_ranges", [4, "frozen", [(0, 1)]]),
    ("feature_scale", ["sd", 2.0, [1, 2], [1, 2, 0], [1, 2, np.nan], -1, object(), {"debts": "a"}, {"debts": 0}]),
]


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in BAD for value in values])
def test_a_parameter_that_is_none_is_named_with_what_was_found(name, value, fit):
    with pytest.raises(ValueError, match=name) as error:
        fit(**{name: value})
    if name != "random_state":
        assert "found" in str(error.value)


@pytest.mark.parametrize(
    ("ranges", "message"),
    [
        ({"age": (0, 1)}, r"feature_ranges: X has no feature 'age'; its features are 'income', 'savings'"),
        ({3: (0, 1)}, r"feature_ranges: X has no feature 3"),
        ({True: (-9, 9)}, r"X has no feature True"),
        ({"debts": (1, 0)}, r"the lower limit 1 is not below the upper limit 0"),
        ({"debts": (1, 1)}, r"is not below"),
        ({"debts": (np.nan, 1)}, r"the lower limit nan is not below"),
        ({"debts": 1}, r"must be \(low, high\), 'frozen'.*found 1"),
        ({"debts": (0, 1, 2)}, r"must be \(low, high\)"),
        ({"debts": "fixed"}, r"must be \(low, high\), 'frozen'.*found 'fixed'"),
        ({"debts": "one_hot"}, r"'one_hot'"),
        ({("income", "debts"): "frozen"}, r"several features in a tuple are the indicators of one category"),
        ({"debts": (-0.5, 0.5)}, r"people start outside, for instance at .*: widen the range"),
        (
            {"income": "frozen", 0: (-9, 9)},
            r"feature_ranges: 'income' is named twice, as 'income' and 0",
        ),
        ({("income",): "one_hot"}, r"at least two columns"),
        ({("income", "income"): "one_hot"}, r"'income' is named twice"),
        ({("income", "debts"): "one_hot"}, r"shares that sum to 1, which is not so for 80 of 80 people"),
    ],
)
def test_mistakes_in_feature_ranges(ranges, message, fit):
    with pytest.raises(ValueError, match=message):
        fit(feature_ranges=ranges)


def test_blocks_of_categories_keep_their_units_and_their_columns(people):
    X = pd.DataFrame(np.eye(3)[np.arange(60) % 3], columns=["a", "b", "c"]).assign(d=np.linspace(-1, 1, 60))
    y = np.arange(60) % 2
    model = LogisticRegression().fit(X, y)
    params = {"fair_metric": Projection([[0, 0, 0, 1]]), "n_steps": 5}
    block = {("a", "b", "c"): "one_hot"}
    with pytest.raises(ValueError, match=r"feature_scale must be 1 for columns of a one_hot block"):
        IndividualFairnessTest(model, feature_ranges=block, feature_scale=[1, 2, 1, 1], **params).fit(X, y)
    ranges = {("a", "b", "c"): "one_hot", ("c", "a", "b"): "one_hot"}
    with pytest.raises(ValueError, match="feature_ranges: 'c' is named twice, as 'c' and 'c'"):
        IndividualFairnessTest(model, feature_ranges=ranges, **params).fit(X, y)
    scaled = IndividualFairnessTest(model, feature_ranges=block, feature_scale="std", **params).fit(X, y)
    np.testing.assert_allclose(scaled.unfair_examples_[["a", "b", "c"]].sum(axis=1), 1.0, atol=1e-12)


# Models --------------------------------------------------------------------------------------------------------------


def test_no_model(people):
    with pytest.raises(ValueError, match=r"estimator is missing: IndividualFairnessTest\(model\)"):
        IndividualFairnessTest().fit(people[0], people[1])


def test_a_class_instead_of_a_model(fit):
    with pytest.raises(ValueError, match=r"estimator=LogisticRegression is a class: fit a model of it") as error:
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


@fairlearn_warns
def test_a_randomised_model_is_no_function_of_a_person(fit, training, people):
    X, y, sex, _ = training
    model = ExponentiatedGradient(LogisticRegression(), DemographicParity(), max_iter=5)
    model.fit(X.to_numpy(), y.to_numpy(), sensitive_features=sex.to_numpy())
    with pytest.raises(ValueError, match=r"ExponentiatedGradient\(\) has no predict_proba.*wrap it"):
        fit(model=model)

    class Random:
        classes_ = np.array([0, 1])

        def predict_proba(self, X):
            p = np.random.default_rng().random(len(X))
            return np.stack([1 - p, p], axis=1)

    def wrong(y_true, y_pred):
        return (y_true != y_pred).astype(float) + 0.1

    for params in ({"model": Random()}, {"model": model, "loss": wrong}):
        with pytest.raises(ValueError, match=r"says something else when it is asked again.*predict_proba"):
            fit(X=people[0].to_numpy(), **params)


def test_a_model_that_looks_at_everybody_at_once_is_no_function_of_a_person(fit):
    class Ranking:
        classes_ = np.array([0, 1])

        def predict_proba(self, X):
            p = (np.arange(len(X)) + 1.0) / (len(X) + 1)
            return np.stack([1 - p, p], axis=1)

    with pytest.raises(ValueError, match=r"in another order: it is randomised, or looks at all of them at once"):
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


def test_a_model_that_decides_by_group(fit, training, people):
    X, y, sex, _ = training
    model = ThresholdOptimizer(estimator=LogisticRegression(), predict_method="predict_proba")
    model.fit(X, y, sensitive_features=sex)

    def wrong(y_true, y_pred):
        return (y_true != y_pred).astype(float) + 0.1

    with pytest.raises(ValueError, match=r"ThresholdOptimizer\(\).predict asks for sensitive_features.*Wrap it"):
        fit(model=model, loss=wrong, groups=people[2])


def test_labels_that_the_model_does_not_know(fit, people):
    with pytest.raises(
        ValueError, match=r"y has labels that estimator=LogisticRegression\(\) does not know, 7: .* 0, 1"
    ):
        fit(y=people[1].replace(1, 7))


def test_a_model_that_does_not_say_what_its_columns_mean(fit, people):
    class Three:
        def predict_proba(self, X):
            return np.full((len(X), 3), 1 / 3)

    for labels in (people[1] + 4, people[1].map({0: "no", 1: "yes"})):
        with pytest.raises(ValueError, match=r"Three\(\) has no classes_, and its predict_proba returns 3 numbers"):
            fit(model=Three(), y=labels)
    with pytest.warns(UserWarning, match="nobody's loss moved"):
        fit(model=Three(), y=people[1] + 1)  # the second and the third


def test_a_model_that_says_nothing_of_somebody(fit):
    class Holes:
        classes_ = np.array([0, 1])

        def predict_proba(self, X):
            p = np.where(X["income"] > 0, np.nan, 0.5)
            return np.stack([1 - p, p], axis=1)

    with pytest.raises(
        ValueError, match=r"Holes\(\) has no finite log_loss about \d+ of 80 people: .* nan or infinite"
    ):
        fit(model=Holes())


@pytest.mark.parametrize(
    "model", [DummyClassifier(), DummyRegressor(), LogisticRegression(C=1e-12)], ids=["classes", "numbers", "nearly"]
)
def test_a_model_whose_loss_does_not_move(model, fit, training, people):
    target = 3 if isinstance(model, DummyRegressor) else 1
    model = model.fit(training[0], training[target])
    if isinstance(model, LogisticRegression):
        model.coef_ = np.zeros_like(model.coef_)
    with pytest.warns(UserWarning, match=r"nobody's loss moved: the model says the same wherever the map leads"):
        test = fit(model=model, y=people[target])
    assert test.statistic_ == 1
    assert not test.rejected_
    assert 0 < test.lower_bound_ <= 1
    np.testing.assert_array_equal(test.unfair_examples_, people[0])
    assert test.most_unfair().empty
    assert "No violation" in str(test)


def test_a_model_of_one_class(fit, training, people):
    model = DecisionTreeClassifier().fit(training[0], np.zeros(len(training[0]), dtype=int))
    with pytest.warns(UserWarning, match="nobody's loss moved"):
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
    for labels, found in ((y + 1, "1, 2"), (3 * y, "0, 3")):
        with pytest.raises(
            ValueError, match=rf"y has labels beyond those of .*Linear.* has 2 outputs, .* 0 to 1: found {found}"
        ):
            fit(model=layer(2), X=X.to_numpy(), y=labels.to_numpy())
    for labels in (score, y.map({0: "no", 1: "yes"})):
        with pytest.raises(ValueError, match=r"y must hold the positions of outputs, from 0, for estimator=Linear\(\)"):
            fit(model=layer(2), X=X.to_numpy(), y=labels.to_numpy())


@pytest.mark.torch
def test_a_torch_module_of_one_output_is_a_classifier_or_a_regressor(fit, layer, people):
    X, y, _, score = people
    with pytest.raises(ValueError, match=r"one number per person.* say which by loss='log_loss' or loss='squared_e"):
        fit(model=layer(1), X=X.to_numpy(), y=y.to_numpy())
    with pytest.raises(ValueError, match=r"y must hold the positions of outputs.* say loss='squared_error'"):
        fit(model=layer(1), X=X.to_numpy(), y=score.to_numpy())
    regression = fit(model=layer(1), X=X.to_numpy(), y=score.to_numpy(), loss="squared_error")
    assert regression.solver_report_["loss"] == "squared_error"
    assert fit(model=layer(1), X=X.to_numpy(), loss="log_loss").solver_report_["loss"] == "log_loss"
    with pytest.raises(ValueError, match="returns 2 numbers per person: a regressor returns one"):
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


# People --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (pd.DataFrame({"a": ["x"] * 80, "b": 0.0, "c": 1.0}), r"X has columns that are no numbers: 'a'.*Encode them"),
        (pd.DataFrame({"a": pd.date_range("2020", periods=80), "b": 0.0}), r"X has columns that are no numbers: 'a'"),
        (pd.DataFrame({"a": pd.Categorical([1] * 80), "b": 0.0}), r"X has columns that are no numbers: 'a'"),
        (np.zeros(80), r"X must be a table"),
        (np.full((80, 3), np.inf), r"infinite"),
        (np.full((80, 3), np.nan), r"X has a missing value in every row.*Impute"),
        (np.zeros((79, 3)), r"different lengths, 79 and 80"),
        (np.zeros((0, 3)), r"0 sample"),
        (np.zeros((80, 0)), r"0 feature"),
    ],
    ids=["strings", "dates", "categories", "one column", "infinite", "missing", "shorter", "nobody", "nothing"],
)
def test_features_that_cannot_be_moved(X, message, fit, people):
    with pytest.raises(ValueError, match=message):
        fit(X=X, y=people[1].to_numpy())


def test_labels_that_are_none(fit, people, regressor):
    with pytest.raises(ValueError, match="y is missing"):
        IndividualFairnessTest(regressor).fit(people[0], None)
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
    with pytest.warns(UserWarning, match=r"X has 8 people: the normal approximation of this test is for 30 and more"):
        test = fit(X=X, y=y)
    assert test.n_samples_ == 8
    with pytest.raises(ValueError, match=r"X has 1 sample, and a standard error needs at least 2"):
        fit(X=X[:1], y=y[:1])


def test_units_that_have_nothing_to_do_with_each_other(fit, people, training):
    factors = [1.0, 1.0, 1e4]
    model = LogisticRegression(max_iter=1000).fit(StandardScaler().fit_transform(training[0]), training[1])
    model = make_pipeline(StandardScaler().fit(people[0].to_numpy() * factors), model)
    X = people[0].to_numpy() * factors
    with pytest.warns(UserWarning, match=r"very different units: .*'x2' is .*'x[01]'.*feature_scale='std'"):
        fit(model=model, X=X)
    fit(model=model, X=X, feature_scale="std")
    fit(model=model, X=X, feature_ranges={2: "frozen"})


@pytest.mark.parametrize("unit", [0, -1.0, np.nan, np.inf, "1", None, True])
def test_a_unit_of_errors_that_is_none(unit, fit, regressor, people):
    with pytest.raises(
        ValueError, match=r"loss=\('squared_error', .*the unit of errors must be a finite number above 0"
    ):
        fit(model=regressor, y=people[3], loss=("squared_error", unit))


def test_a_constant_feature_has_no_unit(fit, people, training):
    """The standard deviation of many 0.1 is the rounding error of their mean."""
    X = people[0].assign(debts=0.1)
    assert 0 < X["debts"].to_numpy().std() < 1e-15
    model = LogisticRegression().fit(training[0], training[1])  # which uses the debts
    free = {"fair_metric": Projection([[1, 0, 0], [0, 0, 1]]), "step_size": 0.005}
    assert fit(model=model, X=X, **free).statistic_ > 1  # nothing is said of units
    scale = X.std(ddof=0).to_numpy()
    scaled = fit(model=model, X=X, feature_scale="std", **free)
    given = fit(model=model, X=X, feature_scale=[scale[0], scale[1], 1.0], **free)
    np.testing.assert_allclose(scaled.loss_ratios_, given.loss_ratios_, rtol=1e-12)
    moved = np.abs(scaled.unfair_examples_["debts"] - 0.1)
    assert 1e-4 < moved.min() < moved.max() < 1


def test_how_rare_a_mark_is_says_nothing_of_its_unit(fit):
    mark = (np.arange(3000) == 17).astype(float)
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"income": 3 * rng.normal(size=3000), "mark": mark, "debts": rng.normal(size=3000)})
    assert X["income"].std() > 100 * X["mark"].std()
    y = (X["income"] + 3 * rng.normal(size=3000) > 0).astype(int)
    model = LogisticRegression().fit(X, y)
    fit(model=model, X=X, y=y, n_steps=2)  # without a warning, which would be an error
    with pytest.warns(UserWarning, match="very different units"):
        fit(model=model, X=X.assign(mark=0.5 * X["mark"]), y=y, n_steps=2, statistic="ratio_of_means")


# The fair metric -----------------------------------------------------------------------------------------------------


def test_sensitive_features_that_a_metric_has_to_learn_from(classifier, people):
    for metric in ("sensitive_subspace", SensitiveSubspace(), make_pipeline(StandardScaler(), SensitiveSubspace())):
        with pytest.raises(ValueError, match=r"^sensitive_features is missing") as error:
            IndividualFairnessTest(classifier, fair_metric=metric).fit(people[0], people[1])
        assert "fit(X, y, sensitive_features=df['sex'])" in str(error.value)
        assert "individualfairnesstest__sensitive_features" in str(error.value)


def test_a_pipeline_is_a_fair_metric_that_can_be_learned(classifier, people):
    metric = make_pipeline(StandardScaler(), SensitiveSubspace())
    test = IndividualFairnessTest(classifier, fair_metric=metric, n_steps=20, step_size=0.002)
    test.fit(people[0], people[1], sensitive_features=people[2])
    assert test.solver_report_["n_folds"] == 5
    learned = metric.fit(people[0], sensitivesubspace__sensitive_features=people[2])
    given = IndividualFairnessTest(classifier, fair_metric=learned, n_steps=20, step_size=0.002)
    given.fit(people[0], people[1])
    everybody = IndividualFairnessTest(
        classifier, fair_metric=make_pipeline(StandardScaler(), SensitiveSubspace()), n_steps=20, step_size=0.002
    ).set_params(cross_fit=False)
    everybody.fit(people[0], people[1], sensitive_features=people[2])
    assert everybody.statistic_ == pytest.approx(given.statistic_, rel=1e-9)


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        (Projection([[1, 0]]), r"fair_metric=Projection cannot be fitted.*3 features"),
        (Mahalanobis(np.eye(2)), r"fair_metric=Mahalanobis cannot be fitted.*3 features"),
        (Mahalanobis(-np.eye(3)), r"fair_metric=Mahalanobis cannot be fitted.*semi-definite"),
        (PCA(7), r"fair_metric=PCA cannot be fitted"),
        (QuantileTransformer(n_quantiles=5), r"fair_metric=QuantileTransformer is not known to be linear"),
        (FunctionTransformer(np.exp), r"fair_metric=FunctionTransformer is not known to be linear"),
    ],
    ids=["projection", "mahalanobis", "negative", "components", "quantiles", "exponential"],
)
def test_metrics_of_the_wrong_dimension_or_kind(metric, message, fit):
    with pytest.raises(ValueError, match=message):
        fit(fair_metric=metric)


def test_a_fitted_metric_of_the_wrong_dimension(fit, people):
    metric = Projection([[1, 0]]).fit(people[0].iloc[:, :2])
    with pytest.raises(ValueError, match=r"fair_metric=Projection was fitted on 2 features, and X has 3"):
        fit(fair_metric=metric)


def test_a_metric_that_lets_everything_differ_says_so_once(fit):
    with pytest.warns(UserWarning, match="lets people differ in every direction") as caught:
        fit(fair_metric=Projection(np.eye(3)), n_steps=2)
    assert [warning.filename for warning in caught] == [__file__]


def test_something_that_transforms_and_is_no_transformer(fit):
    class Thing:
        def transform(self, X):
            return X

    with pytest.raises(ValueError, match=r"fair_metric=Thing\(\) is neither fitted nor a scikit-learn transformer"):
        fit(fair_metric=Thing())


def test_a_sensitive_feature_of_one_level_in_some_fold(fit, people):
    alone = np.where(np.arange(80) == 3, "other", "all")
    with pytest.raises(ValueError, match=r"fair_metric=SensitiveSubspace.*all folds but one.*'all' for everybody"):
        fit(fair_metric="sensitive_subspace", groups=alone)
    fit(fair_metric="sensitive_subspace", groups=alone, cross_fit=False)


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (["f", "m"] * 20, r"different lengths, 80 and 40"),
        ("sex", r"sensitive_features is the string 'sex'"),
        ([None, "m"] * 40, r"sensitive_features .* missing values"),
        (["f"] * 80, r"'f' for everybody"),
    ],
)
def test_sensitive_features_that_are_none(groups, message, fit):
    with pytest.raises(ValueError, match=message):
        fit(fair_metric="sensitive_subspace", groups=groups)


# Steps ---------------------------------------------------------------------------------------------------------------


def test_steps_that_are_unstable(fit):
    message = (
        r"step_size=0.03 is too long for regularization=50: .* is 1.5, .* in 4 of 4 steps. Use a step_size below 0.02"
    )
    with pytest.warns(UserWarning, match=message):
        test = fit(step_size=0.03, n_steps=4)
    assert test.solver_report_["n_unstable_steps"] == 4
    assert "4 unstable steps: step_size is too long" in str(test)
    with pytest.warns(UserWarning, match=r"largest eigenvalue of the fair metric, 4\) is 1.2, .* below 0.005"):
        fit(step_size=0.006, n_steps=4, fair_metric=Mahalanobis(np.diag([0.0, 4.0, 1.0])))
    # No step is too long for a solver that chooses its own, nor for a search.
    fit(step_size=0.03, n_steps=4, solver="LSODA")
    fit(step_size=0.03, n_steps=4, gradient="search")
    frozen = {"feature_ranges": {"savings": "frozen"}, "fair_metric": Mahalanobis(np.diag([0.0, 4.0, 1.0]))}
    assert fit(step_size=0.0199, n_steps=4, **frozen).solver_report_["n_unstable_steps"] == 0
    with pytest.warns(UserWarning, match=r"in 2 of 9 steps"):
        fit(step_size=0.05, step_decay=1.0, n_steps=9)


@pytest.mark.filterwarnings("ignore:step_size=1 is too long:UserWarning")
def test_steps_that_diverge(fit, people, regressor):
    message = r"step_size=1 with regularization=50 diverges: \d+ unfair examples ran away.*Use a smaller step_size"
    with pytest.raises(ValueError, match=message):
        fit(step_size=1, n_steps=500)
    with pytest.raises(ValueError, match=r"step_size=0.01 with regularization=0 diverges"):
        fit(model=regressor, y=people[3], regularization=0, n_steps=20_000)


def test_limits_that_a_solver_cannot_hold(fit):
    with pytest.raises(
        ValueError, match=r"solver='RK45' cannot hold features inside feature_ranges: use solver='euler'"
    ):
        fit(solver="RK45", feature_ranges={"debts": (-9, 9)})
    with pytest.raises(ValueError, match=r"solver='RK45' follows derivatives, and this model has none.*'euler'"):
        fit(solver="RK45", gradient="search")


def test_derivatives_that_there_are_none(fit, training):
    forest = RandomForestClassifier(5, random_state=0).fit(*training[:2])
    with pytest.raises(ValueError, match=r"gradient='analytic' is not possible: estimator=RandomForestClassifier\(\)"):
        fit(model=forest, gradient="analytic")
    with pytest.raises(ValueError, match=r"gradient='autograd' is not possible.*torch"):
        fit(gradient="autograd")
    with pytest.raises(ValueError, match=r"gradient='analytic' is not possible: a loss of your own has no derivative"):
        fit(gradient="analytic", loss=lambda y_true, y_pred: y_pred[:, 0])


# Functions of the caller's -------------------------------------------------------------------------------------------


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
        (lambda X, y: np.full(X.shape, np.nan), r"gradient=<lambda> must return numbers; it returned nan for 80 of 80"),
    ],
    ids=["vector", "columns", "nan"],
)
def test_gradients_that_are_none(gradient, message, fit):
    with pytest.raises(ValueError, match=message):
        fit(gradient=gradient)


# Where nobody is --------------------------------------------------------------------------------------------------


def test_unfair_examples_far_from_everybody(fit, people):
    def gradient(X, y):  # away, as fast as they say
        return np.full(X.shape, [speed, 0.0, 0.0])

    income = people[0]["income"]
    beyond = {"loss": lambda y_true, y_pred: 1.0 + 0.1 * y_pred[:, 1], "gradient": gradient, "n_steps": 10}
    speed = 20 * np.ptp(income) / 0.1  # for a time of 0.1
    with pytest.warns(
        UserWarning, match=r"unfair examples lie up to 20 times the range of a feature .* feature_ranges"
    ):
        test = fit(**beyond)
    assert test.solver_report_["n_features_outside"] == 1
    assert "1 feature went beyond where anybody is" in str(test)
    assert "Doubtful: unfair examples lie up to 20 times" in str(test)
    held = fit(**beyond, feature_ranges={"income": (income.min(), income.max())})
    assert held.solver_report_["n_features_outside"] == 0
    assert "Doubtful" not in str(held)


# Losses next to nothing ----------------------------------------------------------------------------------------------


def test_a_mean_of_ratios_that_rests_on_tiny_losses(fit, training, people):
    forest = RandomForestClassifier(20, random_state=0).fit(*training[:2])  # sure of many people
    with pytest.warns(UserWarning, match=r"rests on .*next to nothing: \d+ of 80 .*'ratio_of_means' or 'log_ratio'"):
        test = fit(model=forest, n_steps=100)
    assert test.statistic_ > 1e6
    robust = [
        fit(model=forest, n_steps=100, statistic=name).statistic_ for name in ("ratio_of_means", "error_rate_ratio")
    ]
    assert max(robust) < 10


def test_a_mean_of_ratios_that_rests_on_few_people(fit, people):
    X, y, _, _ = people

    def loss(y_true, y_pred):
        return np.abs(y_true - y_pred[:, 1])

    def gradient(X, y):  # one person is sent far away
        away = np.zeros(X.shape)
        away[np.asarray(X["debts"] == people[0]["debts"].iloc[5]), 0] = 300.0 * (1 - 2 * y[5])
        return away

    with pytest.warns(UserWarning, match=r"the mean of loss ratios rests on few people: 1 of 80 have \d+ %"):
        fit(
            X=X.assign(income=X["income"].where(X.index != "p005", 8.0 * (2 * y.iloc[5] - 1))),
            loss=loss,
            gradient=gradient,
        )


def test_a_model_that_knows_the_people_by_heart(fit, people):
    X, _, _, score = people
    model = KNeighborsRegressor(1).fit(X, score)
    for statistic in ("loss_ratio", "ratio_of_means", "log_ratio"):
        with pytest.raises(
            ValueError, match=r"the model has no loss about anybody.*Test people whom it was not fitted"
        ):
            fit(model=model, y=score, statistic=statistic)
    line = LinearRegression().fit(X, X @ [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match=r"is not defined"):
        fit(model=line, y=pd.Series(line.predict(X), index=X.index), statistic="ratio_of_means")


def test_some_losses_of_zero(fit, people):
    X, _, _, score = people
    half = score.where(np.arange(80) % 2 == 0, score + 1.0)
    model = KNeighborsRegressor(1).fit(X, score)
    with pytest.raises(ValueError, match=r"statistic='loss_ratio' is not defined: \d+ of 80 people .*'ratio_of_means'"):
        fit(model=model, y=half, n_steps=200)
    test = fit(model=model, y=half, n_steps=200, statistic="ratio_of_means")
    assert np.isinf(test.loss_ratios_).any()
    assert np.isfinite(test.statistic_)
    assert "inf" in str(test)


def test_nobody_is_wrong_to_begin_with(fit, classifier, people):
    with pytest.raises(ValueError, match=r"the model errs about nobody to begin with"):
        fit(y=pd.Series(classifier.predict(people[0]), index=people[0].index), statistic="error_rate_ratio")


def test_logarithms_of_losses_that_vanish(fit, people):
    def loss(y_true, y_pred):
        return np.abs(np.where(y_pred[:, 1] > 0.5, 1, 0) - y_true) + 0.5 * (y_pred[:, 1] < 0.5)

    def gradient(X, y):  # to where everybody is given credit, rightly or not
        return np.full(X.shape, [100.0, 0.0, 0.0])

    with pytest.raises(ValueError, match=r"statistic='log_ratio' is not defined: \d+ of 80 people have no loss left"):
        fit(
            loss=loss, statistic="log_ratio", gradient=gradient, y=np.ones(80, dtype=int), X=people[0] - [3.0, 0.0, 0.0]
        )


def test_every_warning_points_at_the_callers_line(fit, classifier, people):
    with pytest.warns(UserWarning) as caught:  # noqa: PT030 - two of them, of which the place is looked at
        IndividualFairnessTest(classifier, fair_metric=INCOME, step_size=0.03, n_steps=2).fit(
            people[0][:9], people[1][:9]
        )
    assert {warning.filename for warning in caught} == {__file__}
    said = [str(warning.message) for warning in caught]
    assert [message.partition(":")[0] for message in said] == [
        "step_size=0.03 is too long for regularization=50",
        "X has 9 people",
    ]


def test_a_p_value_near_the_level_is_doubtful_where_a_few_are_harmed_much_less():
    n = 60
    rng = np.random.default_rng(0)
    X = np.column_stack([np.zeros(n), rng.random(n) < 0.1]).astype(float)
    y = np.zeros(n)
    # Who has a 1 in the second feature does not lose; everybody else loses in proportion to how far they are moved.
    model, metric = _Lines(), Projection([[1.0, 0.0]])
    loss = {"loss": _distance_from_one, "gradient": "finite_differences", "regularization": 0.0, "n_steps": 1}
    common = {"fair_metric": metric, **loss}
    test = IndividualFairnessTest(model, step_size=1.0, **common).fit(X, y)
    assert test.attained_level_ > 0.065
    near = test.statistic_ - 2.0 * test.standard_error_
    message = r"p_value_=0.02\d* is too near the level of 0.05 .* with 60 people .* \(attained_level_\). Test more"
    with pytest.warns(UserWarning, match=message):
        IndividualFairnessTest(model, step_size=1.0, tolerance=near, **common).fit(X, y)


class _Lines:
    """Says twice the first feature of people whose second is 0, and 0 of the others."""

    def predict(self, X):
        X = np.asarray(X)
        return 2 * X[:, 0] * (1 - X[:, 1])


def _distance_from_one(y_true, y_pred):
    return np.abs(1 + y_pred - y_true)


# Time -----------------------------------------------------------------------------------------------------------------


class Slow:
    """A model that thinks for a while about every question, and a hundred microseconds about every person."""

    classes_ = (0, 1)

    def __init__(self, clock):
        self.clock = clock

    def predict_proba(self, X):
        self.clock.sleep(1e-4 * len(X))
        p = 1 / (1 + np.exp(-np.asarray(X)[:, 0]))
        return np.column_stack([1 - p, p])


class AnnouncedError(Exception):
    """Nobody is moved: the announcement is what is tested."""


def test_a_test_that_takes_more_than_a_minute_is_announced(monkeypatch, clock):
    def move(*given, **named):
        raise AnnouncedError

    monkeypatch.setattr("skfairtest.individual.fairness.move", move)
    monkeypatch.setattr("skfairtest.individual._audited.time", clock)
    X = np.random.default_rng(0).normal(size=(40, 3))
    test = IndividualFairnessTest(Slow(clock), fair_metric=INCOME, n_steps=100_000)
    # 40 people, 100,000 steps, 6 answers each: 2,400 seconds.
    message = r"unfair examples of 40 people are going to take about 40 minutes \(100,000 steps, with two .* n_jobs"
    with pytest.warns(UserWarning, match=message), pytest.raises(AnnouncedError):
        test.fit(X, (X[:, 0] > 0).astype(int))
