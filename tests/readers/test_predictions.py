"""A test predicts with any fitted model and never fits it."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from fairlearn.postprocessing import ThresholdOptimizer
from fairlearn.reductions import DemographicParity, ExponentiatedGradient
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from skfairtest.readers import classes_of, predict, predictions_from_X

rng = np.random.default_rng(0)
X = rng.normal(size=(200, 2))
GROUP = rng.integers(0, 2, 200)
Y = (X[:, 0] + GROUP + rng.normal(size=200) > 0.5).astype(int)


class Recorder:
    """Not a scikit-learn estimator; remembers what it was asked."""

    def __init__(self, result=None):
        self.result = result

    def predict(self, X, *, sensitive_features=None, random_state="unset", extra=None):
        self.asked = (sensitive_features, random_state, extra)
        return [0] * len(X) if self.result is None else self.result


def test_a_fitted_pipeline_predicts():
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, Y)
    assert np.array_equal(predict(model, X, sensitive_features=GROUP), model.predict(X))


@pytest.mark.parametrize("model", [LogisticRegression(), make_pipeline(StandardScaler(), LogisticRegression())])
def test_an_unfitted_scikit_learn_estimator_is_scikit_learns_error(model):
    with pytest.raises(NotFittedError):
        predict(model, X)


@pytest.mark.parametrize("model", [None, object(), FunctionTransformer(), 3])
def test_an_object_that_does_not_predict_is_an_error(model):
    with pytest.raises(ValueError, match=r"estimator=.*has no predict method"):
        predict(model, X)


def test_a_class_instead_of_a_model_is_an_error():
    with pytest.raises(ValueError, match="estimator=LogisticRegression is a class"):
        predict(LogisticRegression, X)


def test_other_objects_need_only_predict():
    model = Recorder()
    groups = ["f", "m"]
    predictions = predict(model, [1, 2], sensitive_features=groups, random_state=3)
    assert predictions.tolist() == [0, 0]
    assert model.asked == (groups, 3, None)


def test_predict_params_take_precedence():
    model = Recorder()
    params = {"sensitive_features": "mine", "random_state": None, "extra": 1}
    predict(model, [1], sensitive_features="ours", random_state=3, predict_params=params)
    assert model.asked == ("mine", None, 1)
    assert len(params) == 3


def test_random_states_are_handed_on_as_ints():
    model = Recorder()
    for make in (np.random.RandomState, np.random.default_rng, int):
        seeds = []
        for _ in range(2):
            predict(model, [1], random_state=make(5))
            seeds.append(model.asked[1])
        assert type(seeds[0]) is int
        assert seeds[0] == seeds[1]
    predict(model, [1], random_state=None)
    assert model.asked[1] is None


def test_a_shared_generator_moves_on():
    model, generator = Recorder(), np.random.default_rng(0)
    seeds = set()
    for _ in range(3):
        predict(model, [1], random_state=generator)
        seeds.add(model.asked[1])
    assert len(seeds) == 3


@pytest.mark.parametrize(
    "result",
    [
        ["a", 1],
        np.array([["a"], [1]], dtype=object),
        pd.Series(["a", 1], index=[5, 3]),
        pd.DataFrame({"p": ["a", 1]}),
    ],
    ids=lambda result: type(result).__name__,
)
def test_predictions_are_one_array_in_the_order_of_X(result):
    predictions = predict(Recorder(result), [1, 2])
    assert isinstance(predictions, np.ndarray)
    assert predictions.tolist() == ["a", 1]


def test_polars_predictions_are_an_array():
    assert predict(Recorder(pl.Series([1, 0])), [1, 2]).tolist() == [1, 0]


def test_a_compiled_predict_without_a_signature_gets_nothing_extra():
    class Compiled:
        predict = staticmethod(max)

    assert predict(Compiled(), [[1, 0], [1, 1]], sensitive_features=GROUP).tolist() == [1, 1]


def test_fairlearns_threshold_optimizer_gets_the_groups_and_the_seed():
    model = ThresholdOptimizer(
        estimator=LogisticRegression(), constraints="demographic_parity", predict_method="auto"
    ).fit(X, Y, sensitive_features=GROUP)
    first = predict(model, X, sensitive_features=GROUP, random_state=np.random.default_rng(1))
    second = predict(model, X, sensitive_features=GROUP, random_state=np.random.default_rng(1))
    assert np.array_equal(first, second)


def test_fairlearns_exponentiated_gradient_gets_the_seed():
    model = ExponentiatedGradient(LogisticRegression(), DemographicParity(), max_iter=3)
    with warnings.catch_warnings():
        # fairlearn 0.15 fills a Series in a way that pandas 3.1 deprecates.
        warnings.simplefilter("ignore")
        model.fit(X, Y, sensitive_features=GROUP)
    first = predict(model, X, sensitive_features=GROUP, random_state=1)
    assert np.array_equal(first, predict(model, X, random_state=1))


def test_classes_are_python_scalars():
    classes = classes_of(LogisticRegression().fit(X, Y))
    assert classes == (0, 1)
    assert [type(label) for label in classes] == [int, int]


@pytest.mark.parametrize("model", [LogisticRegression(), None, Recorder()])
def test_what_knows_no_classes_has_none(model):
    assert classes_of(model) is None


def test_several_outputs_have_no_classes():
    model = Recorder()
    model.classes_ = [np.array([0, 1]), np.array([0, 1])]
    assert classes_of(model) is None


@pytest.mark.parametrize("X", [[1, 0], np.array([1, 0]), pd.Series([1, 0]), pl.Series([1, 0])])
def test_one_dimension_is_predictions(X):
    assert predictions_from_X(X) is X


@pytest.mark.parametrize(
    "X",
    [
        [[1], [0]],
        np.zeros((2, 1)),
        np.zeros((2, 3)),
        pd.DataFrame({"age": [1, 2]}),
        pl.DataFrame({"age": [1, 2]}),
        {"age": [1, 2]},
    ],
    ids=lambda X: type(X).__name__,
)
def test_a_table_is_not_predictions(X):
    with pytest.raises(ValueError, match="a table is not predictions: pass estimator="):
        predictions_from_X(X)


@pytest.mark.parametrize("X", [None, "y_pred"])
def test_nothing_and_names_are_not_predictions(X):
    with pytest.raises(ValueError, match=r"^X is"):
        predictions_from_X(X)
