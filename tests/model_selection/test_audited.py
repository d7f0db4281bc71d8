"""Models that are tested while they are trained: what is tested, what is handed on, and what is said about it."""

import pickle
import warnings
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from fairlearn.postprocessing import ThresholdOptimizer
from fairlearn.reductions import DemographicParity, ExponentiatedGradient, GridSearch
from scipy.sparse import coo_matrix, csr_matrix
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone, is_classifier, is_regressor
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import StackingClassifier, VotingClassifier
from sklearn.exceptions import FitFailedWarning, NotFittedError, UnsetMetadataPassedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, fbeta_score, make_scorer
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    LeaveOneOut,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
    cross_val_predict,
    cross_validate,
)
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import get_tags

from skfairtest import (
    AuditedClassifier,
    AuditedRegressor,
    CorrelationFairnessTest,
    FairnessRejectedError,
    FairnessRejectedWarning,
    FairnessTest,
    Rate,
    SensitiveStratifiedKFold,
)

N = 240
SELECTION = FairnessTest(metric="selection_rate")


@pytest.fixture(scope="module")
def people():
    """Two groups, of which one has higher scores; the label depends on the scores only."""
    rng = np.random.default_rng(0)
    sex = np.where(rng.random(N) < 0.5, "f", "m")
    X = pd.DataFrame(rng.normal(size=(N, 3)) + (sex == "m")[:, None], columns=["a", "b", "c"])
    y = pd.Series((X["a"] + rng.normal(size=N) > 0.5).astype(int))
    return X, y, pd.Series(sex, name="sex")


def audited(estimator=None, **params):
    """Return a quiet audited classifier."""
    params = {"tests": SELECTION, "on_rejection": "ignore", "cv": 3, **params}
    return AuditedClassifier(LogisticRegression() if estimator is None else estimator, **params)


# What is tested -------------------------------------------------------------------------------------------------------


def splits_of(people, n_splits=3):
    X, y, sex = people
    return list(SensitiveStratifiedKFold(n_splits).split(X, y, sensitive_features=sex))


@pytest.mark.parametrize(
    ("metric", "method", "model"),
    [
        ("equalized_odds", "predict", LogisticRegression()),
        ("roc_auc", "predict_proba", LogisticRegression()),
        ("roc_auc", "decision_function", LinearSVC(random_state=0)),
        ("brier_score", "predict_proba", make_pipeline(StandardScaler(), LogisticRegression())),
    ],
)
def test_the_predictions_tested_are_those_of_cross_validation(metric, method, model, people):
    X, y, sex = people
    test = FairnessTest(metric=metric, n_resamples=99, random_state=0)
    found = audited(model, tests=test).fit(X, y, sensitive_features=sex)
    predicted = cross_val_predict(model, X, y, cv=splits_of(people), method=method)
    if method == "predict_proba":
        predicted = predicted[:, 1]
    expected = clone(test).fit(predicted, y.to_numpy(), sensitive_features=sex)
    pd.testing.assert_frame_equal(found.fairness_tests_[0].comparisons_, expected.comparisons_)
    assert found.p_values_ == pytest.approx([expected.p_value_], rel=1e-12)


class NeverSeen(ClassifierMixin, BaseEstimator):
    """A model that refuses to be asked about whom it knows, by their number in the first column."""

    def fit(self, X, y):
        """Remember everybody."""
        self.known_, self.classes_ = set(np.asarray(X)[:, 0]), np.unique(y)
        return self

    def predict(self, X):
        """Predict for strangers only."""
        asked = set(np.asarray(X)[:, 0])
        assert not asked & self.known_
        return np.array([int(number) % 2 for number in np.asarray(X)[:, 0]])


@pytest.mark.parametrize("cv", [3, KFold(4, shuffle=True, random_state=0), StratifiedKFold(2), LeaveOneOut()])
def test_no_model_is_asked_about_people_it_was_trained_on(cv):
    X = np.arange(40.0)[:, None]
    y = np.tile([0, 0, 1, 1], 10)
    sex = np.repeat(["f", "m"], 20)
    model = audited(NeverSeen(), cv=cv, tests=FairnessTest(metric="accuracy")).fit(X, y, sensitive_features=sex)
    # The parity of people's numbers is their prediction: in the order of the people again, half of them are right.
    assert model.fairness_tests_[0].by_group_["value"].tolist() == [0.5, 0.5]
    assert model.estimator_.known_ == set(range(40))
    with pytest.raises(AssertionError):
        model.predict(X)


def test_a_model_that_learns_by_heart_is_found_out_although_it_errs_on_nobody_it_knows(people):
    X, y, sex = people
    model = audited(KNeighborsClassifier(1), tests=None).fit(X, y, sensitive_features=sex)
    assert model.score(X, y) == 1
    in_sample = FairnessTest(model.estimator_).fit(X, y, sensitive_features=sex)
    assert in_sample.p_value_ == 1
    assert model.p_values_[0] < 0.05


def test_the_model_kept_is_trained_on_everybody_and_the_one_given_is_left_alone(people):
    X, y, sex = people
    given = LogisticRegression(C=0.3)
    model = audited(given).fit(X, y, sensitive_features=sex)
    alone = LogisticRegression(C=0.3).fit(X, y)
    for method in ("predict", "predict_proba", "predict_log_proba", "decision_function"):
        np.testing.assert_array_equal(getattr(model, method)(X), getattr(alone, method)(X))
    assert model.score(X, y) == alone.score(X, y)
    assert not hasattr(given, "classes_")
    assert not hasattr(model.tests, "p_value_")


def test_the_default_of_a_classifier_is_equalized_odds_and_that_of_a_regressor_the_mean_residual(people):
    X, y, sex = people
    classifier = audited(tests=None).fit(X, y, sensitive_features=sex)
    assert set(classifier.fairness_tests_[0].comparisons_["metric"]) == {"true_positive_rate", "false_positive_rate"}
    regressor = AuditedRegressor(LinearRegression(), on_rejection="ignore").fit(X, X["a"] + y, sensitive_features=sex)
    assert set(regressor.fairness_tests_[0].comparisons_["metric"]) == {"mean_residual"}


@pytest.mark.parametrize(
    "metric",
    ["f1_macro", "neg_brier_score", partial(fbeta_score, beta=2), Rate("called", "y_pred"), {"mine": accuracy_score},
     ["selection_rate", "roc_auc"], lambda y, p: float(np.mean(y == p))],
)  # fmt: skip
def test_a_metric_is_what_a_test_takes(metric, people):
    X, y, sex = people
    model = clone(AuditedClassifier(LogisticRegression(), metric=metric, cv=3, on_rejection="ignore"))
    (test,) = model.fit(X, y, sensitive_features=sex).fairness_tests_
    expected = audited(tests=FairnessTest(metric=metric)).fit(X, y, sensitive_features=sex).fairness_tests_[0]
    assert test.disparity_ == expected.disparity_
    assert test.comparisons_["metric"].tolist() == expected.comparisons_["metric"].tolist()
    assert model.p_values_[0] <= 1


def test_a_metric_beside_tests_is_refused_and_a_regressor_takes_one_of_numbers(people):
    X, y, sex = people
    with pytest.raises(ValueError, match=r"^metric and tests are both given"):
        audited(metric="accuracy").fit(X, y, sensitive_features=sex)
    model = AuditedRegressor(Ridge(), metric="r2", on_rejection="ignore").fit(
        X, X["a"] + X["b"], sensitive_features=sex
    )
    assert model.fairness_tests_[0].comparisons_["metric"].tolist() == ["r2"]
    with pytest.raises(ValueError, match="Metrics of numbers are"):
        AuditedRegressor(Ridge(), metric="equalized_odds").fit(X, X["a"] + X["b"], sensitive_features=sex)


@pytest.mark.usefixtures("routing")
def test_a_stack_hands_the_groups_to_its_final_estimator_and_other_ways_of_stacking_work(people):
    X, y, sex = people
    first = [("audited", audited()), ("tree", DecisionTreeClassifier(max_depth=2))]
    with pytest.raises(TypeError, match="unexpected keyword argument 'sensitive_features'"):  # scikit-learn's
        StackingClassifier(first, LogisticRegression(), cv=3).fit(X, y, sensitive_features=sex)
    both = StackingClassifier(first, audited(), cv=3).fit(X, y, sensitive_features=sex)
    assert both.predict(X).shape == (N,)
    trained = [(name, model.fit(X, y, **({"sensitive_features": sex} if name == "audited" else {})))
               for name, model in first]  # fmt: skip
    assert StackingClassifier(trained, LogisticRegression(), cv="prefit").fit(X, y).predict(X).shape == (N,)
    whole = audited(StackingClassifier([("tree", first[1][1])], LogisticRegression(), cv=3))
    assert len(whole.fit(X, y, sensitive_features=sex).fairness_tests_) == 1


def test_a_regressor_is_tested_out_of_the_folds_of_KFold(people):
    X, y, sex = people
    target = X["a"] + (sex == "m") + y
    test = FairnessTest(metric="mean_residual", n_resamples=199, random_state=0)
    model = AuditedRegressor(Ridge(), tests=test, cv=4, on_rejection="ignore").fit(X, target, sensitive_features=sex)
    expected = clone(test).fit(cross_val_predict(Ridge(), X, target, cv=KFold(4)), target, sensitive_features=sex)
    assert model.p_values_ == [expected.p_value_]
    assert model.fairness_tests_[0].disparity_ == expected.disparity_


def test_several_tests_are_fitted_in_their_order_and_hold_neither_models_nor_data(people):
    X, y, sex = people
    tests = [SELECTION, FairnessTest(metric="accuracy"), FairnessTest(metric=["recall", "precision"])]
    model = audited(tests=tests).fit(X, y, sensitive_features=sex)
    assert model.p_values_ == [test.p_value_ for test in model.fairness_tests_]
    assert [list(dict.fromkeys(test.comparisons_["metric"])) for test in model.fairness_tests_] == [
        ["selection_rate"],
        ["accuracy"],
        ["true_positive_rate", "precision"],
    ]
    assert all(test.estimator is None for test in model.fairness_tests_)
    larger = audited(tests=tests, cv=8).fit(
        pd.concat([X] * 4), pd.concat([y] * 4), sensitive_features=pd.concat([sex] * 4)
    )

    def size(model):  # but for the distributions, of about a hundred bins at the most, of which few people fill fewer
        return len(pickle.dumps(model)) - sum(len(pickle.dumps(test._null_histogram)) for test in model.fairness_tests_)

    assert size(larger) < 1.2 * size(model)


def test_a_continuous_feature_is_tested_by_correlation_with_folds_stratified_on_the_label(people):
    X, y, _ = people
    age = pd.Series(np.random.default_rng(1).uniform(20, 70, N), name="age")
    test = CorrelationFairnessTest(n_resamples=99, random_state=0)
    model = audited(tests=test).fit(X, y, sensitive_features=age)
    predicted = cross_val_predict(LogisticRegression(), X, y, cv=StratifiedKFold(3), method="predict_proba")[:, 1]
    expected = clone(test).fit(predicted, y, sensitive_features=age)
    assert model.fairness_tests_[0].disparity_ == pytest.approx(expected.disparity_, rel=1e-12)
    assert model.p_values_ == [expected.p_value_]


def test_strata_reach_the_tests(people):
    X, y, sex = people
    control = pd.Series(np.tile(["north", "south"], N // 2), name="place")
    model = audited().fit(X, y, sensitive_features=sex, control_features=control)
    assert set(model.fairness_tests_[0].comparisons_["stratum"].dropna()) == {"north", "south"}


def test_string_labels_need_a_test_that_names_the_positive_one(people):
    X, y, sex = people
    words = np.array(["yes", "no"])[y]  # sorted, "yes" comes second
    with pytest.raises(ValueError, match=r"^pos_label is needed: .* 'no', 'yes'"):
        AuditedClassifier(LogisticRegression(), metric="brier_score").fit(X, words, sensitive_features=sex)
    model = audited(tests=FairnessTest(metric="brier_score", n_resamples=19, pos_label="yes"))
    model.fit(X, words, sensitive_features=sex)
    assert model.fairness_tests_[0].pos_label_ == "yes"
    assert model.classes_.tolist() == ["no", "yes"]


# Containers -----------------------------------------------------------------------------------------------------------

GROUPS = {
    "series": lambda sex: sex,
    "frame": lambda sex: sex.to_frame(),
    "list": lambda sex: sex.tolist(),
    "array": lambda sex: sex.to_numpy(),
    "column": lambda sex: sex.to_numpy()[:, None],
    "categorical": lambda sex: sex.astype("category"),
    "dict": lambda sex: {"sex": sex.tolist()},
    "polars": lambda sex: pl.Series("sex", sex.tolist()),
    "polars frame": lambda sex: pl.DataFrame({"sex": sex.tolist()}),
    "arrow": lambda sex: pa.table({"sex": sex.tolist()}),
}


@pytest.fixture(scope="module")
def by_series(people):
    """A model that predicts from the groups, and one that does not, each with its fit."""
    X, y, sex = people
    test = FairnessTest(metric="selection_rate", random_state=0)
    optimizer = ThresholdOptimizer(estimator=LogisticRegression(), predict_method="predict_proba")
    models = [audited(estimator, tests=test) for estimator in (optimizer, LogisticRegression())]
    return [(model, clone(model).fit(X, y, sensitive_features=sex)) for model in models]


@pytest.mark.in_turn(2)
@pytest.mark.parametrize("container", list(GROUPS))
def test_groups_come_in_any_container_and_reach_models_that_predict_from_them(container, people, by_series):
    X, y, sex = people
    # Fairlearn does not read Arrow's tables, and no group reaches a logistic regression.
    model, fitted = by_series[container == "arrow"]
    assert clone(model).fit(X, y, sensitive_features=GROUPS[container](sex)).p_values_ == fitted.p_values_


FEATURES = {
    "frame": lambda X: X,
    "array": lambda X: X.to_numpy(),
    "list": lambda X: X.to_numpy().tolist(),
    "sparse": lambda X: csr_matrix(X.to_numpy()),
    "sparse without rows": lambda X: coo_matrix(X.to_numpy()),
    "polars": lambda X: pl.DataFrame({name: X[name].to_numpy() for name in X}),
}


@pytest.mark.parametrize("container", list(FEATURES))
def test_features_come_in_any_container(container, people):
    X, y, sex = people
    expected = audited().fit(X, y, sensitive_features=sex)
    found = audited().fit(FEATURES[container](X), y.tolist(), sensitive_features=sex.tolist())
    assert found.p_values_ == expected.p_values_
    assert found.n_features_in_ == 3
    alone = LogisticRegression().fit(FEATURES[container](X), y)  # scikit-learn 1.6 does not read polars' names
    assert list(getattr(found, "feature_names_in_", [])) == list(getattr(alone, "feature_names_in_", []))
    assert found.predict(FEATURES[container](X)).tolist() == expected.predict(X).tolist()


def test_a_precomputed_kernel_is_divided_by_rows_and_columns(people):
    X, y, sex = people
    kernel = X.to_numpy() @ X.to_numpy().T
    expected = audited(SVC(kernel="linear")).fit(X, y, sensitive_features=sex)
    assert audited(SVC(kernel="precomputed")).fit(kernel, y, sensitive_features=sex).p_values_ == expected.p_values_


@pytest.mark.filterwarnings("error:.*n_splits:UserWarning")
def test_folds_are_silent_about_small_cells_which_the_tests_show(people):
    X, y, _ = people
    assert audited().fit(X, y, sensitive_features=np.repeat(["few", "many"], [4, N - 4])).p_values_


def test_rows_of_a_shuffled_frame_are_not_paired_with_other_people(people):
    X, y, sex = people
    with pytest.raises(
        ValueError, match=r"X and y have pandas indexes that hold the same labels in another order: align"
    ):
        audited().fit(X, y.sample(frac=1, random_state=0), sensitive_features=sex)
    with pytest.raises(ValueError, match=r"another order: align"):
        audited().fit(X, y, sensitive_features=sex.sample(frac=1, random_state=0))


# Folds ----------------------------------------------------------------------------------------------------------------


class Recorder(ClassifierMixin, BaseEstimator):
    """A model that tells a list whom it was trained on, by the first column."""

    def __init__(self, heard=None):
        self.heard = heard

    def fit(self, X, y, sample_weight=None, note=None, table=None):
        """Tell."""
        HEARD.append((X[:, 0].astype(int), sample_weight, note, table))
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        """Predict something."""
        return (X[:, 0] % 2).astype(int)


HEARD = []


@pytest.fixture
def heard():
    """What `Recorder` was trained on: once on everybody, then in every fold."""
    HEARD.clear()
    return HEARD


def clustered():
    """Sixty people in twenty clusters, in each of which all belong to one group."""
    cluster = np.repeat(np.arange(20), 3)
    return np.arange(60.0)[:, None], np.tile([0, 1, 1], 20), np.where(cluster % 2, "f", "m"), cluster


few_clusters = pytest.mark.filterwarnings("ignore:.*rests on few people:UserWarning")


@few_clusters
@pytest.mark.parametrize("cv", [4, GroupKFold(4)])
@pytest.mark.parametrize("cls", [AuditedClassifier, AuditedRegressor])
def test_clusters_are_not_divided_between_training_and_test(cls, cv, heard):
    X, y, sex, cluster = clustered()
    recorder = Recorder() if cls is AuditedClassifier else NumberRecorder()
    test = FairnessTest(metric="mean_prediction", n_resamples=199, random_state=0)
    model = cls(recorder, cv=cv, tests=test, on_rejection="ignore")
    model.fit(X, y, sensitive_features=sex, clusters=cluster)
    assert len(heard) == 5
    for trained, *_ in heard[1:]:
        assert not set(cluster[trained]) & set(np.delete(cluster, trained))
    assert "clusters" in str(model.fairness_tests_[0])


class NumberRecorder(RegressorMixin, BaseEstimator):
    """The same for numbers."""

    fit, predict = Recorder.fit, Recorder.predict


@few_clusters
def test_folds_of_clusters_are_stratified_on_label_and_group(heard):
    X, _, sex, cluster = clustered()
    y = (cluster % 4 < 2).astype(int)  # ten clusters of each label, five of each label and group
    audited(Recorder(), cv=5).fit(X, y, sensitive_features=sex, clusters=cluster)
    for trained, *_ in heard[1:]:
        tested = np.setdiff1d(np.arange(60), trained)
        cells = {(label, group): 0 for label in (0, 1) for group in "fm"}
        for person in tested:
            cells[y[person], sex[person]] += 1
        assert set(cells.values()) == {3}


def test_a_splitter_that_asks_for_groups_of_people_is_given_them(people, heard):
    _, y, sex = people
    numbers = np.arange(float(N))[:, None]
    audited(Recorder(), cv=SensitiveStratifiedKFold(3)).fit(numbers, y, sensitive_features=sex)
    for (trained, *_), (train, _) in zip(heard[1:], splits_of(people), strict=True):
        np.testing.assert_array_equal(trained, train)


class ByPlace:
    """A splitter that a user writes, which knows nothing of routing."""

    def split(self, X, y, groups):
        """Test one place after the other."""
        for place in np.unique(groups):
            yield np.flatnonzero(groups != place), np.flatnonzero(groups == place)

    def get_n_splits(self, X, y, groups):
        """Count places."""
        return len(np.unique(groups))


@few_clusters
def test_a_splitter_of_ones_own_is_given_the_clusters_by_the_name_of_its_parameter(heard):
    X, y, sex, cluster = clustered()
    audited(Recorder(), cv=ByPlace()).fit(X, y, sensitive_features=sex, clusters=cluster)
    assert [len(trained) for trained, *_ in heard] == [60] + [57] * 20


def test_columns_that_a_splitter_looks_up_itself_are_not_handed_over(people):
    X, y, sex = people
    coded = X.assign(female=(sex == "f").astype(int))
    folds = SensitiveStratifiedKFold(3, sensitive_features="female")
    expected = audited().fit(coded, y, sensitive_features=sex)
    assert audited(cv=folds).fit(coded, y, sensitive_features=sex).p_values_ == expected.p_values_


@pytest.mark.parametrize(
    ("cv", "message"),
    [
        (ShuffleSplit(3, random_state=0), r"cv=ShuffleSplit\(.*does not test each of 240 people exactly once.*KFold"),
        (TimeSeriesSplit(3), "does not test each of 240 people exactly once"),
        ([(np.arange(120), np.arange(120, 240))], r"cv=list\(...\) does not test each"),
        ([], r"cv=\[\] does not test each"),
        ([([], list(range(N)))], "fold 0 trains on nobody"),
        ([*KFold(2).split(np.zeros(N)), (np.arange(N), [])], "fold 2 tests nobody"),
        ([(np.arange(N), np.arange(N))], r"fold 0 tests 240 of the people it trains on"),
        ([(np.arange(-N, 0), np.arange(N))], r"fold 0 tests 240 of the people it trains on"),
        (1, "n_splits=2 or more"),
        (300, "n_splits=300 is more than the number of people, n_samples=240"),
        ("five", "Expected .?cv.? as an integer"),
    ],
)
def test_folds_that_do_not_test_everybody_once_are_refused_before_anything_is_trained(cv, message, people, heard):
    X, y, sex = people
    with pytest.raises(ValueError, match=message):
        audited(Recorder(), cv=cv).fit(X.to_numpy(), y, sensitive_features=sex)
    assert not heard


def test_masks_and_places_from_the_end_are_folds_like_any_other(people):
    X, y, sex = people
    first = np.arange(N) < N // 2
    expected = audited(cv=KFold(2)).fit(X, y, sensitive_features=sex).p_values_
    places = np.arange(-N, 0)
    for cv in ([(~first, first), (first, ~first)], [(places[~first], places[first]), (places[first], places[~first])]):
        assert audited(cv=cv).fit(X, y, sensitive_features=sex).p_values_ == expected


def test_a_splitter_that_divides_clusters_is_refused(people):
    X, y, sex = people
    with pytest.raises(ValueError, match=r"cv=KFold\(.*fold 0 divides 120 clusters.*GroupKFold"):
        audited(cv=KFold(2)).fit(X, y, sensitive_features=sex, clusters=np.arange(N) % 120)
    with pytest.raises(ValueError, match=r"cv=5 folds of 4 clusters"):
        audited(cv=5).fit(X, y, sensitive_features=sex, clusters=np.arange(N) % 4)


def test_a_dict_of_columns_in_a_search_is_said_to_be_handed_over_whole(people):
    X, y, sex = people
    search = GridSearchCV(audited(), {"estimator__C": [0.1, 1]}, cv=2, error_score="raise")
    with pytest.raises(
        ValueError, match=r"sensitive_features has 240 values for 120 people\. .*pass a DataFrame, as in"
    ):
        search.fit(X, y, sensitive_features={"sex": sex})


def three_labels():
    """Thirty people, the last two of whom have a label that nobody else has."""
    y = np.array([0, 1] * 14 + [2, 2])
    X = y[:, None] + np.random.default_rng(0).normal(size=(30, 2))
    return X, y, np.tile(["f", "f", "m"], 10)


@pytest.mark.parametrize("metric", ["predict_proba", "decision_function"])
def test_a_fold_that_misses_a_label_has_no_score_for_it(metric):
    X, y, sex = three_labels()
    test = FairnessTest(metric="roc_auc", pos_label=1, n_resamples=19)
    model = LogisticRegression() if metric == "predict_proba" else SVC()
    with pytest.raises(ValueError, match=r"fold 2 was trained on nobody with label \[2\].*no score.*stratified"):
        audited(model, cv=KFold(3), tests=test).fit(X, y, sensitive_features=sex)


class Unlabelled(ClassifierMixin, BaseEstimator):
    """A model with a score for every label it was trained on, which it does not name."""

    def fit(self, X, y):
        """Count labels."""
        self.n_labels_ = len(np.unique(y))
        return self

    def predict(self, X):
        """Predict nothing of interest."""
        return np.zeros(len(X), dtype=int)

    def predict_proba(self, X):
        """Be sure of nothing."""
        return np.full((len(X), self.n_labels_), 1 / self.n_labels_)


def test_scores_of_different_numbers_of_labels_are_not_put_together():
    X, y, sex = three_labels()
    test = FairnessTest(metric="roc_auc", pos_label=1, n_resamples=19)
    with pytest.raises(ValueError, match=r"predict_proba has different numbers of columns .*\(2, 3\).*stratified"):
        audited(Unlabelled(), cv=KFold(3), tests=test).fit(X, y, sensitive_features=sex)


def test_a_fold_that_misses_a_label_still_predicts_the_others():
    X, y, sex = three_labels()
    model = audited(cv=KFold(3), tests=FairnessTest(metric="accuracy")).fit(X, y, sensitive_features=sex)
    expected = cross_val_predict(LogisticRegression(), X, y, cv=KFold(3))
    np.testing.assert_allclose(
        model.fairness_tests_[0].by_group_["value"], pd.Series(expected == y).groupby(sex).mean().to_numpy()
    )


class Careless(ClassifierMixin, BaseEstimator):
    """A model that loses a person."""

    def fit(self, X, y):
        """Learn nothing."""
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        """Predict for all but the last."""
        return np.zeros(len(X) - 1, dtype=int)


def test_a_model_that_loses_people_is_found_out(people):
    X, y, sex = people
    with pytest.raises(ValueError, match=r"Careless\.predict returned 79 values for 80 people"):
        audited(Careless()).fit(X, y, sensitive_features=sex)


# What is said ---------------------------------------------------------------------------------------------------------


def test_a_concern_is_a_warning_that_quotes_the_test(people):
    X, y, sex = people
    model = audited(tests=[SELECTION, FairnessTest(metric="accuracy")], on_rejection="warn")
    with pytest.warns(FairnessRejectedWarning) as caught:
        model.fit(X, y, sensitive_features=sex)
    (warning,) = (entry for entry in caught if entry.category is FairnessRejectedWarning)
    verdict, positive, finding = str(model.fairness_tests_[0]).splitlines()[:3]
    assert str(warning.message).startswith("LogisticRegression: 1 of 2 fairness tests found a significant disparity")
    assert "people it was not trained on (3 folds)" in str(warning.message)
    assert f"{verdict} {positive} {finding} The model is trained" in str(warning.message)
    assert warning.filename == __file__
    assert model.predict(X).shape == (N,)


def test_a_correlation_is_quoted_too(people):
    X, y, _ = people
    test = CorrelationFairnessTest(of="prediction", n_resamples=99, random_state=0)
    with pytest.warns(FairnessRejectedWarning, match=r"1 of 1 .* Predictions grow with a: correlation"):
        audited(tests=test, on_rejection="warn").fit(X, y, sensitive_features=X["a"])


def test_without_a_concern_nothing_is_said(people):
    X, y, _ = people
    nonsense = np.tile(["f", "m"], N // 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = audited(on_rejection="warn").fit(X, y, sensitive_features=nonsense)
        audited(on_rejection="raise").fit(X, y, sensitive_features=nonsense)
    assert not model.fairness_tests_[0].concern_


def test_a_model_not_certified_as_fair_is_a_concern_although_no_p_value_is_small(people):
    X, y, _ = people
    test = FairnessTest(metric="selection_rate", alternative="equivalence", margin=0.001)
    with pytest.warns(FairnessRejectedWarning, match="Not certified"):
        model = audited(tests=test, on_rejection="warn").fit(X, y, sensitive_features=np.tile(["f", "m"], N // 2))
    assert model.p_values_[0] > 0.05


def test_an_error_carries_the_tests_and_leaves_nothing_of_an_earlier_model(people):
    X, y, sex = people
    model = audited(tests=[SELECTION, FairnessTest(metric="accuracy")], on_rejection="raise")
    with pytest.raises(FairnessRejectedError, match=r"predicted positive.*The model is not kept") as caught:
        model.fit(X, y, sensitive_features=sex)
    assert [test.concern_ for test in caught.value.fairness_tests] == [True, False]
    copy = pickle.loads(pickle.dumps(caught.value))
    assert str(copy) == str(caught.value)
    assert copy.fairness_tests[0].p_value_ == caught.value.fairness_tests[0].p_value_
    with pytest.raises(NotFittedError):
        model.predict(X)
    model.fit(X, y, sensitive_features=np.repeat(["f", "m"], N // 2))
    assert len(model.p_values_) == 2
    with pytest.raises(FairnessRejectedError):
        model.fit(X[::-1], y[::-1], sensitive_features=sex[::-1])
    assert not hasattr(model, "p_values_")
    with pytest.raises(NotFittedError):
        model.predict(X)


def test_a_search_takes_a_rejection_as_a_failed_fit(people):
    X, _, sex = people
    y = (X["a"] + np.random.default_rng(3).normal(size=N) > -0.5).astype(int)
    grid = {"estimator__C": [1.0, 1e-6]}  # the second selects everybody
    search = GridSearchCV(audited(on_rejection="raise"), grid, cv=2, refit=False)
    found = pytest.warns(FitFailedWarning, match=r"(?s)2 fits failed out of a total of 4.*FairnessRejectedError")
    with found, pytest.warns(UserWarning, match="non-finite"):
        search.fit(X, y, sensitive_features=sex)
    scores = search.cv_results_["mean_test_score"]
    assert np.isnan(scores[0])
    assert scores[1] == pytest.approx(y.mean(), abs=0.01)


# What is wrong --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"on_rejection": "shout"}, r"on_rejection must be one of 'warn', 'raise', 'ignore'; found 'shout'"),
        ({"tests": []}, r"tests is empty: pass None for equalized_odds"),
        ({"tests": "accuracy"}, r"tests must be FairnessTest .* as in\s*tests=.*found 'accuracy'"),
        ({"tests": [SELECTION, "accuracy"]}, "found 'accuracy'"),
        (
            {"tests": FairnessTest(LogisticRegression())},
            "with estimator=None because the model tested here is the one to be trained",
        ),
        ({"estimator": LinearRegression()}, "is a regressor: use AuditedRegressor"),
        ({"estimator": FrozenEstimator(LogisticRegression())}, "never retrained.*FairnessTest"),
    ],
)
def test_a_wrong_parameter_is_named(params, message, people):
    X, y, sex = people
    with pytest.raises(ValueError, match=message):
        audited(**params).fit(X, y, sensitive_features=sex)


def test_a_classifier_is_no_regressor(people):
    X, y, sex = people
    with pytest.raises(ValueError, match="is a classifier: use AuditedClassifier"):
        AuditedRegressor(LogisticRegression()).fit(X, y, sensitive_features=sex)


def test_groups_that_were_forgotten_are_asked_for_with_the_lines_to_type(people):
    X, y, _ = people
    with pytest.raises(ValueError, match=r"(?s)sensitive_features is missing.*fit\(X, y, sens.*"
                       r"auditedclassifier__sens.*set_config\(enable_metadata_routing=True\).*params="):  # fmt: skip
        audited().fit(X, y)
    with pytest.raises(ValueError, match="set_config"):
        GridSearchCV(audited(), {"estimator__C": [1]}, cv=2, error_score="raise").fit(X, y)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"sensitive_features": "sex"}, r"is the string 'sex'"),
        ({"sensitive_features": ["f", "m"] * 100}, r"different lengths, 240 and 200"),
        ({"sensitive_features": ["f", None] * 120}, r"120 missing values"),
        ({"control_features": ["f", "m"]}, r"control_features have different lengths, 240 and 2"),
        ({"clusters": [1, 2]}, r"clusters have different lengths, 240 and 2"),
        ({"test_weight": [1, 2]}, r"test_weight have different lengths, 240 and 2"),
    ],
)
def test_a_wrong_input_is_named_before_anything_is_trained(given, message, people, heard):
    X, y, sex = people
    with pytest.raises(ValueError, match=message):
        audited(Recorder()).fit(X.to_numpy(), y, **{"sensitive_features": sex, **given})
    assert not heard


def test_what_a_test_cannot_take_is_refused_by_name(people):
    X, y, _ = people
    with pytest.raises(ValueError, match="CorrelationFairnessTest takes no clusters and no test_weight"):
        audited(tests=CorrelationFairnessTest()).fit(
            X, y, sensitive_features=X["a"], clusters=np.arange(N), test_weight=np.ones(N)
        )


# What training is given -----------------------------------------------------------------------------------------------


def test_arguments_with_a_value_per_person_are_divided_among_the_folds(heard):
    X, y, sex, _ = clustered()
    weight = np.arange(60.0)
    table = {"first": weight.tolist(), "second": list("abc" * 20)}
    audited(Recorder(), cv=3, tests=FairnessTest(metric="accuracy")).fit(
        X, y, sensitive_features=sex, sample_weight=weight, note="as it is", table=table
    )
    assert len(heard) == 4
    for trained, weights, note, part in heard:
        np.testing.assert_array_equal(weights, trained)
        assert note == "as it is"
        assert part["first"] == trained.tolist()
        assert part["second"] == ["abc"[person % 3] for person in trained]


@pytest.mark.parametrize("routed", [False, True])
def test_weights_of_training_do_not_weight_the_tests(routed, people):
    X, y, sex = people
    weight = np.where(sex == "f", 3.0, 1.0)
    with sklearn.config_context(enable_metadata_routing=routed):
        estimator = LogisticRegression().set_fit_request(sample_weight=True) if routed else LogisticRegression()
        model = audited(estimator).fit(X, y, sensitive_features=sex, sample_weight=weight)
    np.testing.assert_array_equal(model.estimator_.coef_, LogisticRegression().fit(X, y, weight).coef_)
    predicted = [
        LogisticRegression().fit(X.iloc[train], y.iloc[train], weight[train]).predict(X.iloc[test])
        for train, test in splits_of(people)
    ]
    tested = np.concatenate([test for _, test in splits_of(people)])
    expected = clone(SELECTION).fit(np.concatenate(predicted), sensitive_features=sex.to_numpy()[tested])
    assert model.p_values_ == [expected.p_value_]
    assert model.fairness_tests_[0].method_ == "exact"  # there is no exact distribution of people with weights


@pytest.mark.parametrize("routed", [False, True])
def test_weights_of_tests_do_not_weight_training(routed, people):
    X, y, sex = people
    weight = np.random.default_rng(2).uniform(1, 2, N)
    test = FairnessTest(metric="selection_rate", n_resamples=199, random_state=0)
    with sklearn.config_context(enable_metadata_routing=routed):
        model = audited(tests=test).fit(X, y, sensitive_features=sex, test_weight=weight)
    np.testing.assert_array_equal(model.estimator_.coef_, LogisticRegression().fit(X, y).coef_)
    predicted = cross_val_predict(LogisticRegression(), X, y, cv=splits_of(people))
    expected = clone(test).fit(predicted, sensitive_features=sex, sample_weight=weight)
    assert model.fairness_tests_[0].disparity_ == expected.disparity_
    assert model.p_values_ == [expected.p_value_]


def test_weights_that_training_cannot_use_are_refused(people):
    X, y, sex = people
    with pytest.raises(ValueError, match=r"sample_weight: KNeighborsClassifier.fit takes none.*test_weight"):
        audited(KNeighborsClassifier()).fit(X, y, sensitive_features=sex, sample_weight=np.ones(N))
    pipeline = make_pipeline(StandardScaler(), LogisticRegression())
    with pytest.raises(ValueError, match="logisticregression__sample_weight"):  # in scikit-learn's words
        audited(pipeline).fit(X, y, sensitive_features=sex, sample_weight=np.ones(N))


def test_a_step_of_a_pipeline_is_given_its_weights(people):
    X, y, sex = people
    pipeline, weight = make_pipeline(StandardScaler(), LogisticRegression()), np.where(sex == "f", 3.0, 1.0)
    model = audited(pipeline).fit(X, y, sensitive_features=sex, logisticregression__sample_weight=weight)
    alone = clone(pipeline).fit(X, y, logisticregression__sample_weight=weight)
    np.testing.assert_array_equal(model.decision_function(X), alone.decision_function(X))


def test_with_routing_weights_follow_the_request_of_the_estimator(routing, people):
    X, y, sex = people
    given = {"sensitive_features": sex, "sample_weight": np.ones(N)}
    with pytest.raises(UnsetMetadataPassedError, match=r"(?s)sample_weight.*LogisticRegression\.fit"):
        audited().fit(X, y, **given)
    refused = audited(LogisticRegression().set_fit_request(sample_weight=False))
    with pytest.raises(TypeError, match="sample_weight"):
        refused.fit(X, y, **given)
    step = make_pipeline(StandardScaler(), LogisticRegression().set_fit_request(sample_weight="survey"))
    step.named_steps["standardscaler"].set_fit_request(sample_weight=False)
    weight = np.where(sex == "f", 3.0, 1.0)
    model = audited(step).fit(X, y, sensitive_features=sex, survey=weight)
    np.testing.assert_array_equal(model.decision_function(X), clone(step).fit(X, y, survey=weight).decision_function(X))


MITIGATORS = {
    "ExponentiatedGradient": ExponentiatedGradient(LogisticRegression(), DemographicParity(), max_iter=2),
    "GridSearch": GridSearch(LogisticRegression(), DemographicParity(), grid_size=4),
    "ThresholdOptimizer": ThresholdOptimizer(estimator=LogisticRegression(), predict_method="predict_proba"),
}


@pytest.mark.parametrize("routed", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", list(MITIGATORS))
@pytest.mark.filterwarnings("ignore:Setting a(n item| value) :DeprecationWarning")  # fairlearn's own
@pytest.mark.filterwarnings("ignore:Setting a(n item| value) :FutureWarning")
def test_fairlearns_mitigators_are_given_the_groups_without_any_request(name, routed, people):
    X, y, sex = people
    model = audited(MITIGATORS[name], tests=FairnessTest(metric="selection_rate", random_state=0))
    with sklearn.config_context(enable_metadata_routing=routed):
        model.fit(X, y, sensitive_features=sex)
        params = {"sensitive_features": sex} if name == "ThresholdOptimizer" else {}
        assert set(model.predict(X, **params)) <= {0, 1}
        again = clone(model).fit(X, y, sensitive_features=sex)
    assert model.p_values_ == again.p_values_  # the test's seed is that of randomised predictions
    assert model.classes_.tolist() == [0, 1]
    raw = audited().fit(X, y, sensitive_features=sex)
    assert abs(model.fairness_tests_[0].disparity_) < abs(raw.fairness_tests_[0].disparity_)


@pytest.mark.parametrize("name", ["ExponentiatedGradient", "ThresholdOptimizer"])
@pytest.mark.filterwarnings("ignore:Setting a(n item| value) :DeprecationWarning")  # fairlearn's own
@pytest.mark.filterwarnings("ignore:Setting a(n item| value) :FutureWarning")
def test_a_test_of_an_audited_mitigator_hands_over_groups_and_seeds(name, people):
    X, y, sex = people
    model = audited(MITIGATORS[name]).fit(X, y, sensitive_features=sex)
    test = FairnessTest(model, metric="selection_rate", random_state=3).fit(X, y, sensitive_features=sex)
    inner = FairnessTest(model.estimator_, metric="selection_rate", random_state=3).fit(X, y, sensitive_features=sex)
    pd.testing.assert_frame_equal(test.by_group_, inner.by_group_)


@pytest.mark.filterwarnings("ignore:Setting a(n item| value) :DeprecationWarning")  # fairlearn's own
@pytest.mark.filterwarnings("ignore:Setting a(n item| value) :FutureWarning")
def test_a_mitigator_in_a_pipeline_is_given_the_groups_without_routing_and_a_sentence_with_it(people):
    X, y, sex = people
    reduction = ExponentiatedGradient(LogisticRegression(), DemographicParity(), max_iter=2)
    test = FairnessTest(metric="selection_rate", random_state=0)
    model = audited(make_pipeline(StandardScaler(), reduction), tests=test)
    by_hand = clone(model).fit(X, y, sensitive_features=sex, exponentiatedgradient__sensitive_features=sex)
    assert model.fit(X, y, sensitive_features=sex).p_values_ == by_hand.p_values_
    with (
        sklearn.config_context(enable_metadata_routing=True),
        pytest.raises(ValueError, match=r"(?s)estimator=Pipeline.*needs sensitive_features.*set_fit_request"),
    ):
        clone(model).fit(X, y, sensitive_features=sex)


@pytest.mark.parametrize(
    ("changes", "message"), [({"X": None}, "X must have a row"), ({"y": [0.5, (1, 2)] * 3}, "y must have one value")]
)
def test_columns_that_are_no_columns_are_refused_by_name(changes, message):
    given = {"X": np.ones((6, 1)), "y": [0.5, 1.0] * 3, **changes}
    with pytest.raises(ValueError, match=message):
        AuditedRegressor(LinearRegression(), cv=2).fit(**given, sensitive_features=["a", "b"] * 3)


@pytest.mark.parametrize("estimator", [LogisticRegression, "logistic", None])
def test_what_cannot_be_trained_is_refused_by_name(estimator, people):
    X, y, sex = people
    with pytest.raises(ValueError, match="estimator must be a model that can be fitted"):
        AuditedClassifier(estimator).fit(X, y, sensitive_features=sex)


@pytest.mark.parametrize(
    ("cv", "message"),
    [*((cv, "cv must be a number of folds") for cv in (True, b"2")), (GroupKFold(3), "pass clusters")],
)
def test_a_cv_that_cannot_be_meant_is_refused(cv, message, people):
    X, y, sex = people
    with pytest.raises(ValueError, match=message):
        audited(cv=cv).fit(X, y, sensitive_features=sex)


class Lucky(ClassifierMixin, BaseEstimator):
    """A model that tosses a coin."""

    def fit(self, X, y, *, sensitive_features=None):
        """Count who came with a group."""
        self.classes_, self.groups_ = np.unique(y), sensitive_features
        return self

    def predict(self, X, random_state=None):
        """Toss it."""
        return np.random.default_rng(random_state).integers(0, 2, len(X))


def test_people_at_the_same_place_of_different_folds_have_luck_of_their_own():
    n, k = 60, 3
    test = FairnessTest(metric="selection_rate", random_state=0)
    # The first half of each fold is one group: were all folds to toss alike, counts would be multiples of three.
    sex = np.tile(np.repeat(["f", "m"], n // k // 2), k)
    model = audited(Lucky(), cv=KFold(k), tests=test)
    model.fit(np.zeros((n, 1)), np.tile([0, 1], n // 2), sensitive_features=sex)
    selected = (model.fairness_tests_[0].by_group_["value"] * n / 2).round().astype(int)
    assert any(selected % 3)


@pytest.mark.parametrize("put", [pa.array, lambda values: pa.table({"s": values}), pl.Series, tuple])
def test_arguments_of_any_container_are_divided(put, heard):
    X, y, sex, _ = clustered()
    audited(Recorder(), cv=3).fit(X, y, sensitive_features=sex, note=put(list(range(60))))
    for trained, _, note, _ in heard:
        values = note["s"] if isinstance(note, pa.Table) else note
        assert [int(str(value)) for value in values] == trained.tolist()


def test_with_routing_a_request_decides_about_groups(routing, people):
    X, y, sex = people
    assert audited(Lucky()).fit(X, y, sensitive_features=sex).estimator_.groups_ is sex
    unwanted = audited(Lucky().set_fit_request(sensitive_features=False))
    assert unwanted.fit(X, y, sensitive_features=sex).estimator_.groups_ is None
    other = pd.Series(np.tile(["old", "young"], N // 2), name="age")
    aliased = audited(Lucky().set_fit_request(sensitive_features="age")).fit(X, y, sensitive_features=sex, age=other)
    assert aliased.estimator_.groups_ is other
    assert aliased.fairness_tests_[0].groups_ == ["f", "m"]


# Like the estimator ---------------------------------------------------------------------------------------------------


def test_it_has_the_methods_of_its_estimator_and_no_others(people):
    X, y, sex = people
    svc = audited(LinearSVC(random_state=0))
    assert hasattr(svc, "decision_function")
    assert not hasattr(svc, "predict_proba")
    assert not hasattr(svc.fit(X, y, sensitive_features=sex), "predict_log_proba")
    assert not hasattr(audited(MITIGATORS["ThresholdOptimizer"]), "score")
    with pytest.raises(NotFittedError):
        audited().predict(X)


def test_it_is_what_its_estimator_is():
    assert is_classifier(audited(MITIGATORS["GridSearch"]))  # which says nothing of itself
    assert is_regressor(AuditedRegressor(Ridge()))
    for estimator in (LogisticRegression(), DecisionTreeClassifier(), SVC(kernel="precomputed"), LinearSVC()):
        assert get_tags(audited(estimator)).input_tags == get_tags(estimator).input_tags
        assert get_tags(audited(estimator)).classifier_tags.multi_class
    assert not get_tags(audited(DecisionTreeClassifier())).classifier_tags.multi_label


def test_parameters_of_the_estimator_and_of_the_test_can_be_set(people):
    model = clone(audited()).set_params(estimator__C=0.1, tests__metric="accuracy")
    assert model.get_params()["estimator__C"] == 0.1
    assert model.tests.metric == "accuracy"
    assert SELECTION.metric == "selection_rate"


def test_it_survives_pickling_and_is_shown_as_a_diagram(people):
    X, y, sex = people
    model = audited().fit(X, y, sensitive_features=sex)
    copy = pickle.loads(pickle.dumps(model))
    assert copy.predict(X).tolist() == model.predict(X).tolist()
    assert copy.p_values_ == model.p_values_
    assert "LogisticRegression" in model._repr_html_()


def test_a_second_fit_overwrites_all_of_the_first(people):
    X, y, sex = people
    model = audited(tests=[SELECTION, FairnessTest()]).fit(X, y, sensitive_features=sex)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    model.set_params(tests=SELECTION).fit(X.to_numpy()[:, :2], y, sensitive_features=sex)
    assert not hasattr(model, "feature_names_in_")
    assert (model.n_features_in_, len(model.fairness_tests_), len(model.p_values_)) == (2, 1, 1)


@pytest.mark.parametrize("routed", [False, True])
def test_a_search_over_its_estimator_hands_over_the_groups_of_every_fold(routed, people):
    X, y, sex = people
    with sklearn.config_context(enable_metadata_routing=routed):
        search = GridSearchCV(audited(), {"estimator__C": [0.01, 1.0]}, cv=2, error_score="raise", n_jobs=2)
        search.fit(X, y, sensitive_features=sex)
    best = search.best_estimator_
    assert best.fairness_tests_[0].n_samples_ == N
    assert best.fairness_tests_[0].by_group_.index.names == ["sex"]
    plain = GridSearchCV(LogisticRegression(), {"C": [0.01, 1.0]}, cv=2).fit(X, y)
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"])


@pytest.mark.parametrize("routed", [False, True])
def test_a_pipeline_hands_over_the_groups(routed, people):
    X, y, sex = people
    name = "sensitive_features" if routed else "auditedclassifier__sensitive_features"
    with sklearn.config_context(enable_metadata_routing=routed):
        pipeline = make_pipeline(StandardScaler(), audited()).fit(X, y, **{name: sex})
    expected = audited().fit(StandardScaler().fit_transform(X), y, sensitive_features=sex.to_numpy())
    assert pipeline[-1].p_values_ == expected.p_values_
    assert pipeline.predict_proba(X).shape == (N, 2)


def test_cross_validation_hands_over_the_groups_and_the_models_can_be_looked_at(routing, people):
    X, y, sex = people
    found = cross_validate(
        audited(), X, y, cv=3, params={"sensitive_features": sex}, return_estimator=True, error_score="raise"
    )
    assert [model.fairness_tests_[0].n_samples_ for model in found["estimator"]] == [160, 160, 160]


def test_votes_and_calibration_take_it_for_a_classifier(routing, people):
    X, y, sex = people
    vote = VotingClassifier([("one", audited()), ("two", audited(DecisionTreeClassifier(max_depth=2)))], voting="soft")
    vote.fit(X, y, sensitive_features=sex)
    plain = VotingClassifier(
        [("one", LogisticRegression()), ("two", DecisionTreeClassifier(max_depth=2))], voting="soft"
    ).fit(X, y)
    np.testing.assert_array_equal(vote.predict_proba(X), plain.predict_proba(X))
    calibrated = CalibratedClassifierCV(audited(), cv=2).fit(X, y, sensitive_features=sex)
    np.testing.assert_allclose(
        calibrated.predict_proba(X), CalibratedClassifierCV(LogisticRegression(), cv=2).fit(X, y).predict_proba(X)
    )


def test_with_routing_the_weights_of_a_search_reach_the_estimator_and_its_scorer(routing, people):
    X, y, sex = people
    weight = np.where(sex == "f", 3.0, 1.0)
    inner = LogisticRegression().set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
    # Named, because searches of scikit-learn 1.6 ask no estimator that routes what its own score requests.
    settings = {"cv": 2, "scoring": make_scorer(accuracy_score).set_score_request(sample_weight=True)}
    search = GridSearchCV(audited(inner), {"estimator__C": [0.01, 1.0]}, error_score="raise", **settings)
    search.fit(X, y, sensitive_features=sex, sample_weight=weight)
    plain = GridSearchCV(inner, {"C": [0.01, 1.0]}, **settings).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"])
    best = search.best_estimator_
    np.testing.assert_array_equal(best.estimator_.coef_, plain.best_estimator_.coef_)
    assert best.score(X, y, sample_weight=weight) == plain.best_estimator_.score(X, y, sample_weight=weight)
    assert best.score(X, y, sample_weight=weight) != best.score(X, y)


def test_a_score_of_fairness_works_on_it(routing, people):
    X, y, sex = people

    def disparity(y_true, y_pred, sensitive_features):
        return -abs(FairnessTest.from_predictions(
            y_true, y_pred, sensitive_features=sensitive_features, metric="selection_rate").disparity_)  # fmt: skip

    scorer = make_scorer(disparity).set_score_request(sensitive_features=True)
    found = cross_validate(
        audited(), X, y, cv=2, scoring=scorer, params={"sensitive_features": sex}, error_score="raise"
    )
    assert (found["test_score"] < 0).all()
