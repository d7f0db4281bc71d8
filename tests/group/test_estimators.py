"""Predictions of fitted models: scikit-learn's, fairlearn's, anything with ``predict``, and none at all."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from fairlearn.postprocessing import ThresholdOptimizer
from fairlearn.reductions import DemographicParity, ExponentiatedGradient
from scipy.sparse import csr_matrix
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
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


def test_polars_frames_reach_the_model(cancer, model):
    _, _, X, y, clinic = cancer
    frame = pl.DataFrame({name: X[name].to_numpy() for name in X.columns})
    test = FairnessTest(model).fit(
        frame, pl.Series(y.to_numpy()), sensitive_features=pl.DataFrame({"clinic": clinic.tolist()})
    )
    same_verdict(test, y, model.predict(X), clinic)
    assert test.by_group_.index.names == ["metric", "clinic"]


def test_the_second_class_of_a_classifier_with_string_labels_is_positive(cancer):
    X_train, y_train, X, y, clinic = cancer
    words = np.array(["malignant", "benign"])  # sorted, "malignant" comes second
    model = DecisionTreeClassifier(random_state=0, max_depth=3).fit(X_train, words[y_train])
    test = FairnessTest(model, metric="true_positive_rate").fit(X, words[y], sensitive_features=clinic)
    assert test.pos_label_ == "malignant"
    named = FairnessTest(model, metric="true_positive_rate", pos_label="benign")
    named.fit(X, words[y], sensitive_features=clinic)
    assert named.pos_label_ == "benign"
    negative = FairnessTest(model, metric="true_negative_rate").fit(X, words[y], sensitive_features=clinic)
    assert named.p_value_ == pytest.approx(negative.p_value_, rel=1e-9)
    assert named.disparity_ == negative.disparity_


def test_classes_1_and_2_are_told_apart_by_the_classifier():
    model = DecisionTreeClassifier(random_state=0).fit([[0], [1]], [1, 2])
    test = FairnessTest(model, metric="selection_rate")
    test.fit([[0], [1], [1], [1]], sensitive_features=["a", "a", "b", "b"])
    assert test.pos_label_ == 2
    assert test.by_group_["value"].tolist() == [0.5, 1.0]


@pytest.mark.parametrize("model", [LogisticRegression(), make_pipeline(StandardScaler(), LogisticRegression())])
def test_an_unfitted_model_is_never_fitted(model):
    test = FairnessTest(model)
    with pytest.raises(NotFittedError):
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
    with pytest.raises(ValueError, match=r"estimator=.*pass a fitted model"):
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


@pytest.fixture(scope="module")
def hired():
    """Synthetic applicants of two groups with unequal scores."""
    rng = np.random.default_rng(5)
    group = np.where(rng.random(400) < 0.5, "f", "m")
    X = rng.normal(size=(400, 2)) + (group == "m")[:, None] * 0.7
    return X, (X.sum(axis=1) + rng.normal(size=400) > 0.7).astype(int), group


def test_threshold_optimizer_is_given_the_groups_it_asks_for(hired):
    X, y, group = hired
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fairlearn's own
        optimizer = ThresholdOptimizer(
            estimator=LogisticRegression().fit(X, y), constraints="demographic_parity", prefit=True,
            predict_method="predict_proba",
        ).fit(X, y, sensitive_features=group)  # fmt: skip
    test = FairnessTest(optimizer, metric="demographic_parity", random_state=0).fit(X, y, sensitive_features=group)
    expected = optimizer.predict(X, sensitive_features=group, random_state=0)
    same_verdict(test, y, expected, group, metric="demographic_parity")
    again = FairnessTest(optimizer, metric="demographic_parity", random_state=0).fit(X, y, sensitive_features=group)
    assert again.p_value_ == test.p_value_
    raw = FairnessTest(optimizer.estimator_, metric="demographic_parity").fit(X, y, sensitive_features=group)
    assert raw.concern_
    assert abs(test.disparity_) < abs(raw.disparity_)


def test_exponentiated_gradient_is_repeatable_with_a_seed(hired):
    X, y, group = hired
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fairlearn's own
        mitigated = ExponentiatedGradient(
            DecisionTreeClassifier(max_depth=2, random_state=0), DemographicParity(), max_iter=5
        ).fit(X, y, sensitive_features=group)

    def run(seed):
        return FairnessTest(mitigated, random_state=seed).fit(X, y, sensitive_features=group)

    pd.testing.assert_frame_equal(run(1).by_group_, run(1).by_group_)
    same_verdict(run(1), y, mitigated.predict(X, random_state=1), group)
    generators = [run(np.random.default_rng(2)), run(np.random.default_rng(2))]
    pd.testing.assert_frame_equal(generators[0].by_group_, generators[1].by_group_)


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
    with pytest.raises(ValueError, match=r"predictions, not an estimator.*fit\(X, y"):
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
