"""Predictions of fitted models: scikit-learn's, anything with ``predict``, and none at all."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from scipy.sparse import csr_matrix
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor, make_column_transformer
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV, TunedThresholdClassifierCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from skfairtest import FairnessTest


@pytest.fixture(scope="module")
def cancer():
    """Breast-cancer data split in two; the "clinic" is the size of the first feature, so that it matters."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    clinic = pd.Series(np.where(X["mean radius"] > 13, "large", "small"), name="clinic")
    half = np.arange(len(X)) % 2 == 0
    return X[half], y[half], X[~half], y[~half], clinic[~half]


@pytest.fixture(scope="module")
def model(cancer):
    """A fitted pipeline."""
    return make_pipeline(StandardScaler(), LogisticRegression()).fit(cancer[0], cancer[1])


def same_verdict(test, y_true, y_pred, groups, **params):
    """Compare a test of a model with one of its predictions."""
    expected = FairnessTest.from_predictions(y_true, y_pred, sensitive_features=np.asarray(groups), **params)
    pd.testing.assert_frame_equal(test.comparisons_, expected.comparisons_)
    assert test.p_value_ == expected.p_value_


def test_a_pipeline_is_asked_for_its_predictions(cancer, model):
    _, _, X, y, clinic = cancer
    test = FairnessTest(model).fit(X, y, sensitive_features=clinic)
    same_verdict(test, y, model.predict(X), clinic)
    assert test.n_samples_ == len(X)
    assert test.by_group_.index.names == ["metric", "clinic"]


def test_a_logistic_regression_on_arrays_and_on_a_sparse_matrix(cancer):
    X, y, clinic = cancer[2].to_numpy(), cancer[3].to_numpy(), cancer[4].to_numpy()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it does not converge on unscaled data
        model = LogisticRegression(max_iter=50).fit(X, y)
    dense = FairnessTest(model, metric="accuracy").fit(X, y, sensitive_features=clinic)
    sparse = FairnessTest(model, metric="accuracy").fit(csr_matrix(X), y, sensitive_features=clinic)
    same_verdict(dense, y, model.predict(X), clinic, metric="accuracy")
    assert sparse.p_value_ == dense.p_value_


def test_a_search_that_was_fitted_is_a_model(cancer):
    X_train, y_train, X, y, clinic = cancer
    search = GridSearchCV(DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2]}, cv=2).fit(X_train, y_train)
    test = FairnessTest(search, metric="accuracy").fit(X, y, sensitive_features=clinic)
    same_verdict(test, y, search.predict(X), clinic, metric="accuracy")


def test_polars_frames_reach_the_model(cancer):
    _, _, X, y, clinic = cancer
    frame = pl.DataFrame({name: X[name].to_numpy() for name in X.columns})
    # Fitted on polars, because scikit-learn 1.6 sees no names of columns in recent versions of it.
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(frame, y)
    test = FairnessTest(model).fit(
        frame, pl.Series(y.to_numpy()), sensitive_features=pl.DataFrame({"clinic": clinic.tolist()})
    )
    same_verdict(test, y, model.predict(frame), clinic)
    assert test.by_group_.index.names == ["metric", "clinic"]


def test_string_labels_need_a_positive_one_also_of_a_classifier(cancer):
    X_train, y_train, X, y, clinic = cancer
    words = np.array(["malignant", "benign"])  # sorted, "malignant" comes second
    model = DecisionTreeClassifier(random_state=0, max_depth=3).fit(X_train, words[y_train])
    for metric in ("true_positive_rate", "log_loss"):
        with pytest.raises(ValueError, match=r"pos_label is needed: .* are 'benign', 'malignant', and nothing says"):
            FairnessTest(model, metric=metric).fit(X, words[y], sensitive_features=clinic)
    assert FairnessTest(model, metric="accuracy").fit(X, words[y], sensitive_features=clinic).pos_label_ is None
    named = FairnessTest(model, metric="true_positive_rate", pos_label="benign")
    named.fit(X, words[y], sensitive_features=clinic)
    assert named.pos_label_ == "benign"
    assert str(named).splitlines()[1] == "The positive label is benign."
    negative = FairnessTest(model, metric="true_negative_rate", pos_label="malignant")
    negative.fit(X, words[y], sensitive_features=clinic)
    assert named.p_value_ == pytest.approx(negative.p_value_, rel=1e-9)
    assert named.disparity_ == negative.disparity_


def test_classes_1_and_2_are_told_apart_by_the_classifier():
    model = DecisionTreeClassifier(random_state=0).fit([[0], [1]], [1, 2])
    with pytest.raises(ValueError, match="pos_label is needed: the labels are 1, 2"):
        FairnessTest(model, metric="selection_rate").fit([[0]] * 4, sensitive_features=["a", "a", "b", "b"])
    test = FairnessTest(model, metric="selection_rate", pos_label=2)
    test.fit([[0], [1], [1], [1]], sensitive_features=["a", "a", "b", "b"])
    assert test.pos_label_ == 2
    assert test.by_group_["value"].tolist() == [0.5, 1.0]


@pytest.mark.parametrize("model", [LogisticRegression(), make_pipeline(StandardScaler(), LogisticRegression())])
def test_an_unfitted_model_is_never_fitted(model):
    test = FairnessTest(model)
    with pytest.raises(NotFittedError, match=r"^estimator=\w+\(\) is not fitted, and a test never fits its model"):
        test.fit([[0.0], [1.0]] * 4, [0, 1] * 4, sensitive_features=[0, 0, 1, 1] * 2)
    assert not hasattr(model, "classes_")
    assert not hasattr(test, "p_value_")


class Rule:
    """An object that only predicts."""

    def predict(self, X):
        """Select who has a positive first value."""
        return [int(row[0] > 0) for row in X]


def test_anything_that_predicts_is_a_model():
    X = [[1], [-1], [1], [1], [-1], [-1]]
    test = FairnessTest(Rule(), metric="selection_rate").fit(X, sensitive_features=list("aaabbb"))
    assert test.by_group_["value"].tolist() == pytest.approx([2 / 3, 1 / 3])


@pytest.mark.parametrize("model", [object(), LogisticRegression, "model", lambda X: X])
def test_what_does_not_predict_is_refused_by_name(model):
    with pytest.raises(ValueError, match=r"estimator=.*the first argument is a fitted model"):
        FairnessTest(model).fit([[0]] * 4, [0, 1] * 2, sensitive_features=[0, 0, 1, 1])


class Absent:
    """A model that loses people."""

    def predict(self, X):
        """Predict for all but the last."""
        return np.ones(len(X) - 1, dtype=int)


def test_a_model_that_loses_people_is_found_out():
    with pytest.raises(ValueError, match=r"(?s)different lengths.*5.*4|4.*5"):
        FairnessTest(Absent()).fit(np.zeros((5, 1)), [0, 1, 0, 1, 1], sensitive_features=list("aabbb"))


class Scores:
    """A regressor."""

    def predict(self, X):
        """Predict fractions."""
        return np.linspace(0.05, 0.95, len(X))


def test_a_model_that_predicts_scores_is_told_so():
    with pytest.raises(ValueError, match="looks like scores"):
        FairnessTest(Scores()).fit(np.zeros((6, 1)), [0, 1] * 3, sensitive_features=list("aabbab"))


@pytest.mark.parametrize("predictions", [[0, 1, 1, 0], np.array([0, 1, 1, 0]), pd.Series([False, True, True, False])])
def test_without_a_model_X_is_the_predictions(predictions):
    test = FairnessTest(metric="accuracy").fit(predictions, [0, 1, 0, 0], sensitive_features=["a", "a", "b", "b"])
    assert test.by_group_["value"].tolist() == [1.0, 0.5]


@pytest.mark.parametrize(
    "X",
    [
        [[0], [1], [1], [0]],
        np.zeros((4, 1)),
        np.zeros((4, 3)),
        pd.DataFrame({"age": [31, 44, 18, 70]}),
        pl.DataFrame({"age": [31, 44, 18, 70]}),
    ],
)
def test_without_a_model_a_table_is_not_predictions(X):
    with pytest.raises(ValueError, match="estimator"):
        FairnessTest().fit(X, [0, 1, 1, 0], sensitive_features=["a", "a", "b", "b"])


def test_predict_params_reach_predict():
    class Cutoff:
        """A model with an argument."""

        def predict(self, X, *, cutoff):
            """Select who is above the cutoff."""
            return (np.asarray(X)[:, 0] > cutoff).astype(int)

    X = [[1], [2], [3], [4]]
    test = FairnessTest(Cutoff(), metric="selection_rate")
    test.fit(X, sensitive_features=["a", "a", "b", "b"], predict_params={"cutoff": 3})
    assert test.by_group_["value"].tolist() == [0.0, 0.5]


def test_from_predictions_takes_no_model(model):
    with pytest.raises(ValueError, match=r"is not for from_predictions, which takes predictions: .*fit\(X, y"):
        FairnessTest.from_predictions([0, 1], [0, 1], sensitive_features=["a", "b"], estimator=model)


@pytest.mark.parametrize("as_given", ["series", "frame", "dict"])
def test_the_rows_of_a_shuffled_frame_are_not_paired_with_other_people(cancer, model, as_given):
    # Design, section 5: positional pairing would silently erase a disparity.
    _, _, X, y, clinic = cancer
    groups = {"series": clinic, "frame": clinic.to_frame(), "dict": {"clinic": clinic}}[as_given]
    with pytest.raises(ValueError, match=r"index.*align"):
        FairnessTest(model).fit(X.sample(frac=1, random_state=0), y.to_numpy(), sensitive_features=groups)


def test_the_rows_of_a_shuffled_frame_are_not_paired_with_other_labels(cancer, model):
    _, _, X, y, clinic = cancer
    with pytest.raises(ValueError, match=r"index.*align"):
        FairnessTest(model).fit(X.sample(frac=1, random_state=0), y, sensitive_features=clinic.to_numpy())


# Meta-estimators ------------------------------------------------------------------------------------------------------

METAS = {
    "frozen": lambda model, X, y: FrozenEstimator(model),
    "calibrated": lambda model, X, y: CalibratedClassifierCV(LogisticRegression(max_iter=500), cv=2).fit(X, y),
    "frozen and calibrated": lambda model, X, y: CalibratedClassifierCV(FrozenEstimator(model)).fit(X, y),
    "tuned threshold": lambda model, X, y: TunedThresholdClassifierCV(
        FrozenEstimator(model), scoring="balanced_accuracy", cv="prefit", refit=False
    ).fit(X, y),
    "fixed threshold": lambda model, X, y: FixedThresholdClassifier(model, threshold=0.8).fit(X, y),
    "search of a pipeline": lambda model, X, y: GridSearchCV(model, {"logisticregression__C": [0.1, 1]}, cv=2).fit(
        X, y
    ),
}


# Tumours are told apart almost without an error, so that the AUC of some rests on few people.
@pytest.mark.filterwarnings("ignore:.*are approximate:UserWarning")
@pytest.mark.parametrize("routing", [False, True], ids=["routing off", "routing on"])
@pytest.mark.parametrize("meta", list(METAS))
def test_meta_estimators_are_models(meta, routing, cancer, model):
    X_train, y_train, X, y, clinic = cancer
    X_train, X = X_train.iloc[:, :5], X.iloc[:, :5]
    with sklearn.config_context(enable_metadata_routing=routing):
        inner = make_pipeline(StandardScaler(), LogisticRegression()).fit(X_train, y_train)
        wrapped = METAS[meta](inner, X_train, y_train)
        test = FairnessTest(wrapped).fit(X, y, sensitive_features=clinic)
        same_verdict(test, y, wrapped.predict(X), clinic)
        scores = wrapped.predict_proba(X)[:, 1]
        half = np.arange(len(X)) % 2
        drawn = {"metric": "roc_auc", "n_resamples": 19, "random_state": 0}
        test = FairnessTest(wrapped, **drawn).fit(X, y, sensitive_features=half)
        same_verdict(test, y, scores, half, **drawn)


@pytest.fixture(scope="module")
def sizes(cancer):
    """Three sizes of tumours, by name, as what is predicted."""
    return pd.qcut(cancer[2]["mean area"], 3, labels=["small", "medium", "large"]).astype(str).to_numpy()


# Tumours are told apart almost without an error, so that the AUC of some rests on few people.
@pytest.mark.filterwarnings("ignore:.*are approximate:UserWarning")
@pytest.mark.parametrize("label", ["small", "medium", "large"])
def test_one_class_of_several_against_the_others(label, cancer, sizes):
    X = cancer[2][["mean texture", "mean smoothness", "mean perimeter"]]
    clinic = np.where(np.arange(len(X)) % 2, "even", "odd")
    model = make_pipeline(StandardScaler(), OneVsRestClassifier(LogisticRegression())).fit(X, sizes)
    test = FairnessTest(model, metric="selection_rate", pos_label=label).fit(X, sizes, sensitive_features=clinic)
    one = model.predict(X) == label
    same_verdict(test, None, one, clinic, metric="selection_rate")
    drawn = {"metric": "roc_auc", "n_resamples": 99, "random_state": 0}
    scored = FairnessTest(model, pos_label=label, **drawn).fit(X, sizes, sensitive_features=clinic)
    column = list(model.classes_).index(label)
    expected = FairnessTest.from_predictions(
        sizes == label, model.decision_function(X)[:, column], sensitive_features=clinic, **drawn
    )
    numbers = ["value_group", "value_other", "standard_error"]
    pd.testing.assert_frame_equal(scored.comparisons_[numbers], expected.comparisons_[numbers])


def test_several_classes_need_a_label(cancer, sizes):
    X = cancer[2][["mean texture"]]
    model = OneVsRestClassifier(DecisionTreeClassifier(max_depth=2)).fit(X, sizes)
    with pytest.raises(ValueError, match=r"pos_label.*small"):
        FairnessTest(model, metric="roc_auc").fit(X, sizes, sensitive_features=cancer[4])
    with pytest.raises(ValueError, match=r"pos_label is needed: labels are not binary"):
        FairnessTest(model).fit(X, sizes, sensitive_features=cancer[4])


# Two errors are so large that they decide.
@pytest.mark.filterwarnings("ignore:.*are approximate:UserWarning")
def test_a_regressor_of_transformed_numbers(cancer):
    X, y = cancer[2][["mean texture", "mean smoothness"]], np.log(cancer[2]["mean radius"])
    clinic = np.where(np.arange(len(X)) % 2, "even", "odd")
    model = TransformedTargetRegressor(LinearRegression(), func=np.exp, inverse_func=np.log).fit(X, y)
    drawn = {"metric": "mean_squared_error", "n_resamples": 99, "random_state": 0}
    test = FairnessTest(model, **drawn).fit(X, y, sensitive_features=clinic)
    same_verdict(test, y.to_numpy(), model.predict(X), clinic, **drawn)


# Columns by their names -----------------------------------------------------------------------------------------------

CONTAINERS = {
    "pandas": lambda frame: frame,
    "polars": lambda frame: pl.DataFrame({name: frame[name].to_list() for name in frame}),
}


@pytest.fixture(scope="module")
def people(cancer):
    """A frame with numbers, a word and the group, and what is to be predicted."""
    _, _, X, y, clinic = cancer
    frame = X[["mean radius", "mean texture"]].reset_index(drop=True)
    frame["site"] = np.where(np.arange(len(X)) % 3, "a", "b")
    frame["clinic"] = clinic.to_numpy()
    return frame, y.to_numpy()


@pytest.mark.parametrize("output", ["default", "pandas", "polars"])
@pytest.mark.parametrize("container", list(CONTAINERS))
def test_a_column_transformer_takes_columns_by_name(container, output, people):
    frame, y = people
    X = CONTAINERS[container](frame)
    columns = make_column_transformer(
        (StandardScaler(), ["mean radius", "mean texture"]), (OneHotEncoder(sparse_output=False), ["site"])
    ).set_output(transform=output)
    model = make_pipeline(columns, DecisionTreeClassifier(max_depth=2, random_state=0))
    try:
        model.fit(X, y)
    except (AttributeError, ValueError):  # measured: scikit-learn 1.6.1 with polars 2.1
        if "polars" not in (container, output):
            raise
        pytest.skip("the ColumnTransformer of this scikit-learn does not know the frames of this polars")
    test = FairnessTest(model).fit(X, y, sensitive_features=X["clinic"])
    same_verdict(test, y, model.predict(X), frame["clinic"])
    assert test.by_group_.index.names == ["metric", "clinic"]
    test = FairnessTest(model).fit(X, y, sensitive_features=X[["clinic", "site"]])
    assert test.by_group_.index.names == ["metric", "clinic", "site"]


ROWS = {
    "numpy": lambda X: X.to_numpy(),
    "sparse": lambda X: csr_matrix(X),
    "pandas": lambda X: X,
    "polars": lambda X: pl.DataFrame({name: X[name].to_numpy() for name in X}),
    "pyarrow": lambda X: pa.table({name: X[name].to_numpy() for name in X}),
    "list": lambda X: X.to_numpy().tolist(),
}


@pytest.mark.parametrize("container", list(ROWS))
def test_rows_are_counted_before_the_model_is_asked(container, cancer):
    X, y, clinic = cancer[2].iloc[:, :2], cancer[3].to_numpy(), cancer[4].to_numpy()

    class Silent:
        """A model that would be content with any number of people."""

        def predict(self, X, sensitive_features):
            """Fail: this is too late."""
            raise AssertionError("asked")

    rows = ROWS[container](X)
    n = len(X)
    message = rf"X and {{}} have different lengths, {n} and {n - 1}"
    with pytest.raises(ValueError, match=message.format("sensitive_features")):
        FairnessTest(Silent()).fit(rows, y, sensitive_features=clinic[1:])
    with pytest.raises(ValueError, match=message.format(r"sensitive_features\['clinic'\]")):
        FairnessTest(Silent()).fit(rows, y, sensitive_features={"clinic": clinic[1:]})
    with pytest.raises(ValueError, match=message.format("y")):
        FairnessTest(Silent()).fit(rows, y[1:], sensitive_features=clinic)
    with pytest.raises(ValueError, match=message.format("control_features")):
        FairnessTest(Silent()).fit(rows, y, sensitive_features=clinic, control_features=clinic[1:])


def test_what_a_model_predicts_from_need_not_have_rows():
    class TwoInputs:
        """A network, say, that takes a list of two arrays."""

        def predict(self, X):
            """Compare them."""
            return (X[0] > X[1]).astype(int)

    X = [np.array([1, 2, 3, 4]), np.array([0, 3, 0, 0])]
    test = FairnessTest(TwoInputs(), metric="selection_rate").fit(X, sensitive_features=list("aabb"))
    assert test.by_group_["value"].tolist() == [0.5, 1.0]


@pytest.mark.parametrize("container", ["numpy", "polars", "pyarrow", "list"])
def test_any_container_of_rows_that_the_model_takes(container, cancer):
    X, y, clinic = cancer[2].iloc[:, :2], cancer[3].to_numpy(), cancer[4].to_numpy()
    rows = ROWS[container](X)
    model = DecisionTreeClassifier(max_depth=2, random_state=0).fit(rows, y)
    test = FairnessTest(model, metric="accuracy").fit(rows, y, sensitive_features=clinic)
    same_verdict(test, y, model.predict(rows), clinic, metric="accuracy")
