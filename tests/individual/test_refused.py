"""People, parameters, models and functions that cannot be used: each its own error, which says what to do."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.decomposition import PCA
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.preprocessing import FunctionTransformer, QuantileTransformer
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from skfairtest import IndividualFairnessTest, Mahalanobis, Projection, SensitiveSubspace

NAMES = {0: "a", 1: "b"}


class Says:
    """A model of two classes whose probabilities are a function of the table."""

    classes_ = np.array([0, 1])

    def __init__(self, positive):
        self.positive = positive

    def predict_proba(self, X):
        p = self.positive(X)
        return np.stack([1 - p, p], axis=1)


class Three:
    """A model that does not say what its columns mean."""

    def predict_proba(self, X):
        return np.full((len(X), 3), 1 / 3)


@pytest.fixture
def has(people, training, regressor):
    """What the table of mistakes is written with: people, and models of others."""
    X, y, sex, score = people
    seen, paid, *_ = training
    return SimpleNamespace(X=X, y=y, sex=sex, score=score, regressor=regressor, svc=SVC().fit(seen, paid),
                           by_heart=KNeighborsRegressor(1).fit(X, score),
                           one_class=DecisionTreeClassifier().fit(seen, np.zeros(len(seen), dtype=int)))  # fmt: skip


ONE = {"statistic": "error_rate_ratio"}
#: What is given in place of good input, and what the error says.
REFUSED = [
    # Features.
    *((lambda has, X=X: {"X": X, "y": has.y.to_numpy()}, match) for X, match in [
        (pd.DataFrame({"a": [3 + 1j] * 80, "b": 0.0, "c": 1.0}), "Complex data not supported: X .* in column 'a'"),
        (pd.DataFrame({"a": [f"x{i}" for i in range(80)] * 5, "b": 0.0}), "different lengths, 400 and 80"),
        (pd.DataFrame({"a": pd.date_range("2020", periods=80), "b": 0.0}), "X has a column that is not numbers, 'a'"),
        (np.zeros(80), "X must be a table .* which has no columns. Reshape your data"),
        (np.zeros(80, dtype=[("a", int)]), "X must be a table"),
        (csr_array(np.eye(80, 3)), r"X is a sparse matrix .*pass X.toarray"),
        (pd.DataFrame({"a": np.full(80, np.inf), "b": 0.0, "c": -np.inf}),
         r"infinite \(inf\) values in columns 'a', 'c'"),
        (np.full((80, 3), np.nan), "X has a missing value in every row.*Impute"),
        (np.zeros((79, 3)), "different lengths, 79 and 80"),
        (np.zeros((0, 3)), r"0 sample\(s\) \(shape=\(0, 3\)\) while a minimum of 1 is required"),
        (np.zeros((80, 0)), r"0 feature\(s\) \(shape=\(80, 0\)\) while a minimum of 1 is required"),
    ]),
    # Fair metrics, and what they are learned from.
    *((lambda has, metric=metric: {"fair_metric": metric}, match) for metric, match in [
        (Projection([[1, 0]]), "fair_metric=Projection cannot be fitted.*rows of 3 finite numbers"),
        (Mahalanobis(np.eye(2)), r"fair_metric=Mahalanobis cannot be fitted.*shape \(3, 3\)"),
        (Mahalanobis(-np.eye(3)), "fair_metric=Mahalanobis cannot be fitted.*semi-definite"),
        (PCA(7), "fair_metric=PCA cannot be fitted"),
        (QuantileTransformer(n_quantiles=5), "fair_metric=QuantileTransformer is not linear on these people"),
        (FunctionTransformer(np.exp), "fair_metric=FunctionTransformer is not linear on these people"),
        (Projection([[1, 0]]).fit(np.eye(2)), "fair_metric=Projection was fitted on 2 features, and X has 3"),
        (type("Thing", (), {"transform": lambda self, X: X})(),
         "fair_metric must be .* a transformer that is fitted or can be cloned.*Thing"),
    ]),
    (lambda has: {"fair_metric": SensitiveSubspace(level=None), "groups": np.where(np.arange(80) == 3, "other", "all")},
     r"fair_metric=SensitiveSubspace cannot be fitted on \d+ of 80 people.*'all' for all people"),
    *((lambda has, groups=groups: {"fair_metric": "sensitive_subspace", "groups": groups}, match)
      for groups, match in [
        (["f", "m"] * 20, "different lengths, 80 and 40"),
        ("sex", "sensitive_features='sex': X has no column 'sex' here"),
        ([None, "m"] * 40, "sensitive_features .* missing values"),
        (["f"] * 80, "'f' for all people"),
    ]),
    # Labels, and the order of people.
    (lambda has: {"y": has.y.where(has.y == 0)}, r"y has \d+ missing values"),
    (lambda has: {"y": np.zeros((80, 2))}, "one dimension"),
    (lambda has: {"y": has.y.iloc[::-1]}, "order|align"),
    (lambda has: {"groups": has.sex.iloc[::-1], "fair_metric": "sensitive_subspace"}, "order|align"),
    (lambda has: {"X": has.X[:1], "y": has.y[:1]}, "X has 1 sample: a standard error needs at least 2"),
    (lambda has: {"model": has.regressor, "y": has.y.map(NAMES)},
     r"y must hold numbers for estimator=LinearRegression\(\)"),
    (lambda has: {"y": has.y.replace(1, 7)},
     r"y has labels that estimator=LogisticRegression\(\) does not know, 7: .* 0, 1"),
    (lambda has: {"model": has.one_class}, "y has labels that .* does not know, 1: it knows 0"),
    (lambda has: {"model": Three(), "y": has.y + 4},
     r"y has labels up to 5, and estimator=Three\(\) has 3 outputs.*0 to 2: give"),
    (lambda has: {"model": Three(), "y": has.y.map(NAMES)},
     r"positions of outputs, from 0, for estimator=Three\(\).*'a', 'b'"),
    # Models.
    (lambda has: {"model": None}, r"estimator is missing: IndividualFairnessTest\(model\)"),
    (lambda has: {"model": LogisticRegression}, "estimator=LogisticRegression is a class: pass a fitted instance"),
    (lambda has: {"model": LogisticRegression()},
     r"estimator=LogisticRegression\(\) is not fitted, and a test never fits"),
    (lambda has: {"model": HistGradientBoostingClassifier()}, r"HistGradientBoostingClassifier\(\) is not fitted"),
    (lambda has: {"model": has.regressor, "y": has.score, "loss": "log_loss"},
     "loss must be 'auto', 'squared_error'.*LinearRegression.*found 'log_loss'"),
    *((lambda has, loss=loss: {"loss": loss}, f"loss must be 'auto', 'log_loss'.*LogisticRegression.*found '{loss}'")
      for loss in ("squared_error", "absolute_error")),
    *((lambda has, loss=loss: {"model": has.regressor, "y": has.score, "loss": loss, **ONE},
       "error_rate_ratio.*counts wrong labels.*predicts numbers.*'loss_ratio'")
      for loss in ("auto", lambda y_true, y_pred: np.abs(y_true - y_pred))),
    (lambda has: {"model": has.svc}, r"SVC\(\) has no predict_proba.*CalibratedClassifierCV.*loss=function"),
    (lambda has: {"model": Says(lambda X: np.random.default_rng().random(len(X)))},
     "predict_proba is randomised, .*called again on fewer people.*predict_proba"),
    (lambda has: {"model": Says(lambda X: (np.arange(len(X)) + 1.0) / (len(X) + 1))},
     "a person other outputs when it is called again on fewer people"),
    (lambda has: {"model": Says(lambda X: np.where(X["income"] > 0, np.nan, 0.5))},
     r"Says\(\) has no finite log_loss for \d+ of 80 people: .* nan or infinite"),
    # Losses that define no statistic.
    *((lambda has, statistic=statistic: {"model": has.by_heart, "y": has.score, "statistic": statistic},
       "has a loss of 0.*test people it was not fitted") for statistic in ("auto", "ratio_of_means")),
    (lambda has: {"model": has.one_class, "y": 0 * has.y, **ONE}, "the model makes no errors on the people tested"),
    *((lambda has, given=given: {"model": has.regressor, "y": has.score, "statistic": "loss_ratio", **given},
       "statistic='loss_ratio' is not defined: .*no finite mean.*'ratio_of_means'")
      for given in ({"loss": "absolute_error"}, {"gradient": "search"})),
    # Steps.
    (lambda has: {"steps": (500, 1.5)},
     r"steps of up to 1.5 diverge: \d+ unfair examples ran away. Use smaller or fewer steps"),
    (lambda has: {"model": has.regressor, "y": has.score, "regularization": 0, "steps": (2000, 0.1)},
     "steps of up to 0.1 diverge"),
    # Gradients.
    *((lambda has, gradient=gradient: {"gradient": gradient}, match) for gradient, match in [
        (lambda X, y: np.zeros(3), r"gradient=<lambda> must return .* shape \(80, 3\); it returned shape \(3,\)"),
        (lambda X, y: np.zeros((len(X), 2)), r"it returned shape \(80, 2\)"),
        (lambda X, y: np.full(X.shape, np.nan), r"gradient=<lambda> must return .* shape \(80, 3\); .* or nan"),
    ]),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore:steps of 1.5 are too long:UserWarning")
@pytest.mark.parametrize(("given", "match"), REFUSED)
def test_a_mistake_is_named_with_what_to_do(given, match, has, fit):
    with pytest.raises((ValueError, NotFittedError), match=match):
        fit(**given(has))


def test_labels_are_needed(has):
    with pytest.raises(ValueError, match="y is missing"):
        IndividualFairnessTest.as_published(has.regressor).fit(has.X, None)


@pytest.mark.parametrize("model", ["three outputs", "one class"])
def test_a_model_that_says_the_same_of_everybody_moves_nobody(model, has, fit):
    given = {"model": Three(), "y": has.y + 1} if model == "three outputs" else {"model": has.one_class, "y": 0 * has.y}
    with pytest.warns(UserWarning, match="no person's loss changed"):
        assert fit(**given).statistic_ == 1


def test_few_people_are_warned_of(fit, people):
    with pytest.warns(UserWarning, match=r"X has 8 people: the normal approximation of this test needs at least 30"):
        assert fit(X=people[0][:8], y=people[1][:8]).n_samples_ == 8


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


@pytest.mark.parametrize(
    "model", [DummyClassifier(), DummyRegressor(), LogisticRegression(C=1e-12)], ids=["classes", "numbers", "nearly"]
)
def test_a_model_whose_loss_does_not_move(model, fit, training, people):
    target = 3 if isinstance(model, DummyRegressor) else 1
    model = model.fit(training[0], training[target])
    if isinstance(model, LogisticRegression):
        model.coef_ = np.zeros_like(model.coef_)
    with pytest.warns(
        UserWarning, match=r"no person's loss changed: the model predicts the same wherever people are moved"
    ):
        test = fit(model=model, y=people[target], statistic="auto")
    assert test.statistic_ == 1
    assert not test.rejected_
    assert 0 < test.lower_bound_ <= 1
    np.testing.assert_array_equal(test.unfair_examples_, people[0])
    assert test.most_unfair().empty
    assert "No violation" in str(test)


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


@pytest.mark.parametrize(
    ("loss", "message"),
    [
        (
            lambda y_true, y_pred: 1.0,
            r"loss=<lambda> must return one number .*, shape \(80,\).*returned shape \(\)",
        ),
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
