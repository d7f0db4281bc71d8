"""A test is a good scikit-learn citizen: cloned, pickled, shown and routed like any other estimator."""

import re

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import KFold, cross_validate
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import get_routing_for_object
from sklearn.utils.validation import check_is_fitted

from skfairtest import CorrelationFairnessTest, FairnessTest, Rate
from skfairtest._utils.base import Later

rng = np.random.default_rng(0)
X = rng.normal(size=(120, 2))
GROUP = np.where(rng.random(120) < 0.5, "f", "m")
Y = (X[:, 0] + (GROUP == "m") + rng.normal(size=120) > 0.5).astype(int)
MODEL = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, Y)
CLASSES = {
    FairnessTest: {"metric": "selection_rate"},
    CorrelationFairnessTest: {"n_resamples": 19, "random_state": 0},
}
FEATURES = {FairnessTest: GROUP, CorrelationFairnessTest: X[:, 1]}
every_class = pytest.mark.parametrize("cls", list(CLASSES))


class Rule:
    """A model that only predicts."""

    def predict(self, X):
        return np.arange(len(X)) % 2


def fitted(cls, model=MODEL, rows=slice(None)):
    """A fitted test of a model."""
    return cls(model, **CLASSES[cls]).fit(X[rows], Y[rows], sensitive_features=FEATURES[cls][rows])


# Parameters, clones and pickles ---------------------------------------------------------------------------------------


@every_class
def test_the_parameters_of_the_model_are_not_those_of_the_test(cls):
    test = cls(MODEL)
    assert not any("__" in name for name in test.get_params(deep=True))
    with pytest.raises(ValueError, match=r"^estimator__logisticregression__C cannot be set: .*never fits.*Fit a model"):
        test.set_params(n_resamples=99, estimator__logisticregression__C=3.0)
    assert (MODEL[-1].C, test.n_resamples) == (1.0, 9999)
    assert test.set_params(n_resamples=99) is test
    assert test.n_resamples == 99


def test_a_clone_of_a_subclass_is_of_the_subclass():
    class Stricter(FairnessTest):
        """A test with a parameter of its own."""

        def __init__(self, estimator=None, *, metric="accuracy", level=0.01):
            super().__init__(estimator, metric=metric)
            self.level = level

    copied = clone(Stricter(MODEL, level=0.001))
    assert (type(copied), copied.level, copied.estimator) == (Stricter, 0.001, MODEL)


# HTML -----------------------------------------------------------------------------------------------------------------


@every_class
@pytest.mark.parametrize("model", [MODEL, Rule()], ids=["pipeline", "not of scikit-learn"])
def test_a_fitted_test_shows_its_result_which_is_computed_when_fitting_and_no_diagram(cls, model):
    test = fitted(cls, model)
    shown = {name for name in vars(test) if name.endswith("_")}
    html = test._repr_html_()
    assert str(test).splitlines()[0].split(":")[0] in re.sub(
        "<[^>]+>", "", html
    )  # where no styles are loaded, as on GitHub
    assert "sk-estimator" not in html
    lazy = {name for name in dir(cls) if name.endswith("_") and not name.startswith("_")}
    frames = {name for name in lazy if isinstance(getattr(cls, name), Later)}  # put together from what is computed
    assert frames <= shown
    # The model's, and what is searched for when it is asked for.
    assert lazy - frames - {"breaking_point_"} == {"n_features_in_", "feature_names_in_"}
    assert not hasattr(cls(), "n_features_in_")


# Tags -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("test", "required"),
    [
        (FairnessTest(), True),
        (FairnessTest(metric="selection_rate"), False),
        (FairnessTest(metric="mean_prediction"), False),
        (FairnessTest(metric=["selection_rate", "accuracy"]), True),
        (FairnessTest(metric="selection_rate", within="y_true"), True),
        (FairnessTest(metric=Rate("yes", event="y_pred")), False),
        (CorrelationFairnessTest(), True),
        (CorrelationFairnessTest(of="prediction"), False),
    ],
)
def test_labels_are_required_where_the_metric_reads_them(test, required):
    assert get_tags(test).target_tags.required is required
    predictions = (Y + 0.5 * X[:, 1] if isinstance(test, CorrelationFairnessTest) else Y).tolist()
    test, given = clone(test).set_params(n_resamples=19), {"sensitive_features": FEATURES[type(test)]}
    if required:
        with pytest.raises(ValueError, match="y is missing"):
            test.fit(predictions, **given)
    else:
        assert test.fit(predictions, **given).p_value_ <= 1


@every_class
def test_a_test_takes_what_its_model_takes_and_is_neither_classifier_nor_regressor(cls):
    for model in (MODEL, LinearRegression()):
        assert not is_classifier(cls(model))
        assert not is_regressor(cls(model))
        assert get_tags(cls(model)).estimator_type is None
    alone = get_tags(cls()).input_tags
    assert (alone.one_d_array, alone.two_d_array) == (True, False)
    assert get_tags(cls(MODEL)).input_tags.two_d_array
    assert not get_tags(cls(LinearRegression())).input_tags.allow_nan
    assert get_tags(cls(Rule())).input_tags.allow_nan
    assert get_tags(cls(LogisticRegression)).input_tags.two_d_array


# Pipelines, routing and cross-validation ------------------------------------------------------------------------------


def p_value(test, X, y):
    return test.p_value_


@pytest.fixture(params=[False, True], ids=["routing off", "routing on"])
def routing(request):
    """Metadata routing, as scikit-learn has it by default and switched on."""
    with sklearn.config_context(enable_metadata_routing=request.param):
        yield request.param


def scaled(cls):
    """A pipeline that ends in a test of a model of scaled people."""
    model = LogisticRegression().fit(StandardScaler().fit_transform(X), Y)
    return Pipeline([("scale", StandardScaler()), ("test", cls(model, **CLASSES[cls]))])


@every_class
def test_a_test_is_the_last_step_of_a_pipeline(cls, routing):
    pipeline = scaled(cls)
    step = cls.__name__.lower()
    with pytest.raises(ValueError, match=rf"pipeline.fit\(X, y, {step}__sensitive_features=.*enable_metadata_routing"):
        pipeline.fit(X, Y)
    with pytest.raises(NotFittedError):
        check_is_fitted(pipeline)
    name = "sensitive_features" if routing else "test__sensitive_features"
    check_is_fitted(pipeline.fit(X, Y, **{name: FEATURES[cls]}))
    assert pipeline[-1].p_value_ == fitted(cls).p_value_
    if not routing:
        with pytest.raises(ValueError, match=r"Pipeline.fit does not accept the sensitive_.*stepname__parameter"):
            pipeline.fit(X, Y, sensitive_features=FEATURES[cls])


@every_class
def test_requests_can_be_read_with_any_model_inside_and_change_nothing_in_a_direct_fit(cls, routing):
    for model in (None, MODEL, Rule(), LogisticRegression(), FrozenEstimator(MODEL)):
        requests = get_routing_for_object(cls(model)).fit.requests
        assert requests["sensitive_features"] is True
        assert requests["predict_params"] is True
    scaled(cls).get_metadata_routing()
    frame = pd.DataFrame(X, columns=["u", "v"])
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(frame, Y)
    assert fitted(cls, FrozenEstimator(MODEL)).p_value_ == fitted(cls).p_value_
    test = cls(model, **CLASSES[cls]).fit(frame, Y, sensitive_features=FEATURES[cls])
    # This model was fitted on a frame, whose sums may be rounded otherwise than those of the array.
    assert test.p_value_ == pytest.approx(fitted(cls).p_value_, rel=1e-12)
    assert test.feature_names_in_.tolist() == ["u", "v"]


@every_class
def test_cross_validate_tests_one_model_on_the_training_part_of_each_fold(cls, routing):
    groups = {"sensitive_features": FEATURES[cls]}
    with pytest.raises(TypeError, match="'score' method"):  # a test has no score that a search could maximise
        cross_validate(cls(MODEL), X, Y, params=groups)
    found = cross_validate(
        cls(MODEL, **CLASSES[cls]), X, Y, params=groups, scoring=p_value, cv=KFold(3), return_indices=True,
        return_estimator=True, error_score="raise",
    )  # fmt: skip
    assert all(test.estimator is MODEL for test in found["estimator"])
    for part, p in zip(found["indices"]["train"], found["test_score"], strict=True):
        assert p == fitted(cls, rows=part).p_value_
