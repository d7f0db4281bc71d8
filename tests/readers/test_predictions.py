"""A test predicts with any fitted model and never fits it."""

from unittest.mock import Mock

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from skfairtest import FairnessTest
from skfairtest.readers import check_rows, classes_of, predict, predictions_from_X, scores

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


@pytest.mark.parametrize(
    "model",
    [
        LogisticRegression(),
        make_pipeline(StandardScaler(), LogisticRegression()),
        make_pipeline(StandardScaler(), LogisticRegression().fit(X, Y)),  # the step that is asked last is fitted
        FrozenEstimator(LogisticRegression()),
        GridSearchCV(LogisticRegression(), {"C": [1.0]}),
    ],
    ids=["model", "pipeline", "first step", "frozen", "search"],
)
def test_an_unfitted_scikit_learn_estimator_is_scikit_learns_error_with_what_to_do(model):
    name = type(model).__name__
    with pytest.raises(
        NotFittedError, match=rf"^estimator={name}\(\) is not fitted, and a test never fits .*fit it first"
    ):
        predict(model, X)


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


def test_a_compiled_predict_without_a_signature_gets_nothing_extra():
    class Compiled:
        predict = staticmethod(max)

    assert predict(Compiled(), [[1, 0], [1, 1]], sensitive_features=GROUP).tolist() == [1, 1]


class Asking:
    """A model that needs two arguments."""

    def predict(self, X, sensitive_features, cutoff, *more, note=None, **others):
        return [cutoff for _ in X]


def test_arguments_that_are_missing_are_named_with_where_to_pass_them():
    with pytest.raises(ValueError, match=r"Asking.predict needs sensitive_features and cutoff: pass predict_params"):
        predict(Asking(), [1])
    with pytest.raises(ValueError, match=r"needs cutoff: pass predict_params=\{'cutoff': \.\.\.\}"):
        predict(Asking(), [1], sensitive_features=["f"])
    with pytest.raises(ValueError, match=r"needs sensitive_features: pass sensitive_features\.$"):
        predict(Asking(), [1], predict_params={"cutoff": 1})
    assert predict(Asking(), [1], sensitive_features=["f"], predict_params={"cutoff": 3}).tolist() == [3]


class Inside(BaseEstimator):
    """A model that remembers what it was asked, for pipelines and searches."""

    def fit(self, X, y):
        self.fitted_ = True
        return self

    def predict(self, X, *, sensitive_features=None, random_state=None, cutoff=0.0):
        self.asked_ = (np.asarray(X), sensitive_features, random_state, cutoff)
        return (np.asarray(X)[:, 0] > cutoff).astype(int)


class Search(BaseEstimator):
    """What any library's search looks like: it only hands on X."""

    def __init__(self, best_estimator_):
        self.best_estimator_ = best_estimator_

    def fit(self, X, y):
        raise AssertionError("a test never fits")

    def predict(self, X):
        return self.best_estimator_.predict(X)


@pytest.mark.parametrize("routing", [False, True])
@pytest.mark.parametrize(
    "wrap",
    [
        lambda pipeline: pipeline,
        FrozenEstimator,
        Search,
        lambda pipeline: FrozenEstimator(Search(FrozenEstimator(pipeline))),
        lambda pipeline: make_pipeline("passthrough", None, Search(pipeline)),
    ],
    ids=["pipeline", "frozen", "search", "frozen search of frozen", "pipeline of search"],
)
def test_arguments_reach_the_model_inside_with_rows_as_it_knows_them(wrap, routing):
    inside, scaler = Inside().fit(X, Y), StandardScaler().fit(X)
    model = wrap(Pipeline([("scale", scaler), ("model", inside)]))
    with sklearn.config_context(enable_metadata_routing=routing):
        predictions = predict(model, X, sensitive_features=GROUP, random_state=4, predict_params={"cutoff": 0.5})
    rows, groups, seed, cutoff = inside.asked_
    np.testing.assert_array_equal(rows, scaler.transform(X))
    assert groups is GROUP
    assert (seed, cutoff) == (4, 0.5)
    np.testing.assert_array_equal(predictions, rows[:, 0] > 0.5)


def test_a_wrapper_that_takes_the_arguments_itself_is_asked_itself():
    class Own(Search):
        """A search that knows what to do with groups."""

        def predict(self, X, *, sensitive_features):
            return np.asarray(sensitive_features)

    assert np.array_equal(predict(Own(Inside().fit(X, Y)), X, sensitive_features=GROUP), GROUP)


def test_parameters_that_nobody_takes_are_refused_by_the_model():
    with pytest.raises(TypeError, match="nonsense"):
        predict(make_pipeline(StandardScaler(), LogisticRegression()).fit(X, Y), X, predict_params={"nonsense": 1})


def test_what_has_every_attribute_is_asked_itself():
    model = Mock()
    model.predict = lambda X: [1 for _ in X]
    assert predict(model, [1, 2], sensitive_features=GROUP).tolist() == [1, 1]


def test_a_dict_of_groups_reaches_a_model_as_a_frame():
    model = Recorder()
    predict(model, [1, 2], sensitive_features={"sex": ["f", "m"], "old": pd.Series([1, 0], index=[5, 3])})
    pd.testing.assert_frame_equal(model.asked[0], pd.DataFrame({"sex": ["f", "m"], "old": [1, 0]}))


class Scored:
    """A model of scores that knows its classes, or does not."""

    def __init__(self, scores, classes=None, response="predict_proba"):
        setattr(self, response, lambda X: np.asarray(scores))
        if classes is not None:
            self.classes_ = classes


TWO = [[0.9, 0.1], [0.2, 0.8]]
EITHER = ["decision_function", "predict_proba"]


@pytest.mark.parametrize(
    ("model", "asked", "expected"),
    [
        (Scored(TWO, ["n", "y"]), {"pos_label": "y"}, [0.1, 0.8]),
        (Scored(TWO, ["n", "y"]), {"pos_label": "n"}, [0.9, 0.2]),
        (Scored(TWO, [1, 0]), {}, [0.9, 0.2]),  # 1 is positive wherever it stands
        (Scored([[0.1], [0.8]], ["n", "y"]), {"pos_label": "n"}, [0.9, 0.2]),
        (Scored([-1.0, 2.0], ["n", "y"], "decision_function"), {"pos_label": "n"}, [1.0, -2.0]),
        (Scored([-1.0, 2.0], ["n", "y"], "decision_function"), {"pos_label": "y"}, [-1.0, 2.0]),
        (Scored([[0.2, 0.3, 0.5]] * 2, ["a", "b", "c"]), {"pos_label": "b"}, [0.3, 0.3]),
        # Without classes, those of the true labels: 1 is the first of 1 and 2.
        (Scored(TWO), {"y_true": [1, 2], "pos_label": 1}, [0.9, 0.2]),
        (Scored(TWO), {"y_true": ["n", "y"], "pos_label": "y"}, [0.1, 0.8]),
        (Scored([-1.0, 2.0], None, "decision_function"), {"y_true": [1, -1], "pos_label": -1}, [1.0, -2.0]),
        # Trained on people of one label only.
        (Scored([[1.0], [1.0]], [0]), {"y_true": [0, 1]}, [0.0, 0.0]),
        (Scored([[1.0], [1.0]], [1]), {"y_true": [0, 1]}, [1.0, 1.0]),
        (Scored([[1.0], [1.0]], ["n"]), {"y_true": ["n", "y"], "pos_label": "y"}, [0.0, 0.0]),
    ],
)
def test_scores_are_those_of_the_positive_label(model, asked, expected):
    found = scores(model, [[0], [1]], EITHER, metric="roc_auc", **asked)
    assert found.tolist() == pytest.approx(expected)


@pytest.mark.parametrize(
    ("model", "asked", "message"),
    [
        (Scored(TWO, ["n", "y"]), {"pos_label": 1}, "pos_label=1 is not among the labels, which are 'n', 'y'"),
        (Scored([[0.2, 0.3, 0.5]] * 2, ["a", "b", "c"]), {}, "pos_label is needed: there are 3 labels, 'a', 'b', 'c'"),
        (Scored([[1.0], [1.0]], ["n"]), {"y_true": ["n", "y"]}, "pos_label is needed"),
        (Scored(TWO, ["n", "y"]), {}, "pos_label is needed: .* 'n', 'y', and nothing says which"),
        (
            Recorder(),
            {},
            "no predict_proba, but roc_auc needs scores: .*response='predict' if .* estimator=None",
        ),
    ],
)
def test_scores_of_an_unknown_label_are_an_error(model, asked, message):
    with pytest.raises(ValueError, match=message):
        scores(model, [[0], [1]], EITHER, metric="roc_auc", **asked)


def test_the_classes_of_a_model_inside_are_those_of_the_search():
    class Constant(Search):
        """It says nothing of classes."""

    assert classes_of(Constant(LogisticRegression().fit(X, Y))) == (0, 1)


def test_numbers_that_a_regressor_was_trained_on_are_no_classes():
    model = LinearRegression().fit(X, Y)
    model.classes_ = np.unique(X[:, 0])
    assert classes_of(model) is None


@pytest.mark.parametrize(
    "rows",
    [
        np.zeros((3, 2)),
        csr_matrix(np.zeros((3, 2))),
        pd.DataFrame({"a": [1, 2, 3]}),
        pl.DataFrame({"a": [1, 2, 3]}),
        pa.table({"a": [1, 2, 3]}),
        [[1], [2], [3]],
    ],
    ids=lambda rows: type(rows).__name__,
)
def test_rows_are_counted(rows):
    check_rows(rows, y=[1, 0, 1], sensitive_features=pl.Series(["f", "m", "m"]), control_features=None)
    with pytest.raises(ValueError, match="X and y have different lengths, 3 and 2"):
        check_rows(rows, y=np.array([1, 0]))
    with pytest.raises(ValueError, match=r"X and sensitive_features\['sex'\] have different lengths, 3 and 2"):
        check_rows(rows, y=None, sensitive_features={"sex": ["f", "m"]})


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


def test_a_tuple_of_rows_is_copied_before_a_model_writes_into_it():
    class Writes:
        def predict(self, X):
            for row in X:
                row[0] = 9
            return [0] * len(X)

    rows = ([1.0], [2.0])
    predict(Writes(), rows)
    assert rows == ([1.0], [2.0])


def test_masked_predictions_are_missing():
    class Masks:
        def predict(self, X):
            return np.ma.masked_array([0, 1, 1], mask=[True, False, False])

    with pytest.raises(ValueError, match="y_pred has 1 missing value among 3"):
        FairnessTest(Masks(), metric="selection_rate").fit([[1], [2], [3]], sensitive_features=["f", "m", "f"])
