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
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone, is_classifier, is_regressor
from sklearn.exceptions import FitFailedWarning, NotFittedError, UnsetMetadataPassedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    LeaveOneOut,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
    cross_val_predict,
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
    SensitiveStratifiedKFold,
)

#: Two groups, of which one has higher scores; the label depends on the scores only.
N, RNG = 240, np.random.default_rng(0)
SEX = pd.Series(np.where(RNG.random(N) < 0.5, "f", "m"), name="sex")
X = pd.DataFrame(RNG.normal(size=(N, 3)) + (SEX == "m").to_numpy()[:, None], columns=["a", "b", "c"])
Y = pd.Series((X["a"] + RNG.normal(size=N) > 0.5).astype(int))
WEIGHT = np.where(SEX == "f", 3.0, 1.0)
ALTERNATING = np.tile(["f", "m"], N // 2)  # which has nothing to do with anything
GROUPS = {"sensitive_features": SEX}
SELECTION, ACCURACY = FairnessTest(metric="selection_rate"), FairnessTest(metric="accuracy")
SPLITS = list(SensitiveStratifiedKFold(3).split(X, Y, sensitive_features=SEX))
few_clusters = pytest.mark.filterwarnings("ignore:.*rests on few people:UserWarning")
fairlearn_uses_old_pandas = pytest.mark.filterwarnings(
    "ignore:Setting a(n item| value) :DeprecationWarning", "ignore:Setting a(n item| value) :FutureWarning"
)
either_way = pytest.mark.parametrize("routed", [False, True])


def audited(estimator=None, **params):
    """Return a quiet audited classifier."""
    params = {"tests": SELECTION, "on_rejection": "ignore", "cv": 3, **params}
    return AuditedClassifier(LogisticRegression() if estimator is None else estimator, **params)


# What is tested -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("metric", "method", "model"),
    [
        ("equalized_odds", "predict", LogisticRegression()),
        ("roc_auc", "predict_proba", LogisticRegression()),
        ("roc_auc", "decision_function", LinearSVC(random_state=0)),
        ("brier_score", "predict_proba", make_pipeline(StandardScaler(), LogisticRegression())),
    ],
)
def test_the_predictions_tested_are_those_of_cross_validation(metric, method, model):
    test = FairnessTest(metric=metric, n_resamples=99, random_state=0)
    found = audited(model, tests=test).fit(X, Y, **GROUPS)
    predicted = cross_val_predict(model, X, Y, cv=SPLITS, method=method)
    if method == "predict_proba":
        predicted = predicted[:, 1]
    expected = clone(test).fit(predicted, Y.to_numpy(), **GROUPS)
    pd.testing.assert_frame_equal(found.fairness_tests_[0].comparisons_, expected.comparisons_)
    assert found.p_values_ == pytest.approx([expected.p_value_], rel=1e-12)


def test_a_regressor_is_tested_out_of_the_folds_of_KFold():
    target = X["a"] + (SEX == "m") + Y
    test = FairnessTest(metric="mean_residual", n_resamples=199, random_state=0)
    model = AuditedRegressor(Ridge(), tests=test, cv=4, on_rejection="ignore").fit(X, target, **GROUPS)
    expected = clone(test).fit(cross_val_predict(Ridge(), X, target, cv=KFold(4)), target, **GROUPS)
    assert model.p_values_ == [expected.p_value_]
    assert model.fairness_tests_[0].disparity_ == pytest.approx(expected.disparity_, rel=1e-12)


def test_a_continuous_feature_is_tested_by_correlation_with_folds_stratified_on_the_label():
    age = pd.Series(np.random.default_rng(1).uniform(20, 70, N), name="age")
    test = CorrelationFairnessTest(n_resamples=99, random_state=0)
    model = audited(tests=test).fit(X, Y, sensitive_features=age)
    predicted = cross_val_predict(LogisticRegression(), X, Y, cv=StratifiedKFold(3), method="predict_proba")[:, 1]
    expected = clone(test).fit(predicted, Y, sensitive_features=age)
    assert model.fairness_tests_[0].disparity_ == pytest.approx(expected.disparity_, rel=1e-12)
    assert model.p_values_ == [expected.p_value_]


class NeverSeen(ClassifierMixin, BaseEstimator):
    """A model that refuses to be asked about whom it knows, by their number in the first column."""

    def fit(self, X, y):
        self.known_, self.classes_ = set(np.asarray(X)[:, 0]), np.unique(y)
        return self

    def predict(self, X):
        numbers = np.asarray(X)[:, 0]
        assert not set(numbers) & self.known_
        return (numbers % 2).astype(int)


@pytest.mark.parametrize("cv", [3, KFold(4, shuffle=True, random_state=0), StratifiedKFold(2), LeaveOneOut()])
def test_no_model_is_asked_about_people_it_was_trained_on(cv):
    numbers, y, sex = np.arange(40.0)[:, None], np.tile([0, 0, 1, 1], 10), np.repeat(["f", "m"], 20)
    model = audited(NeverSeen(), cv=cv, tests=ACCURACY).fit(numbers, y, sensitive_features=sex)
    # The parity of people's numbers is their prediction: in the order of the people again, half of them are right.
    assert model.fairness_tests_[0].by_group_["value"].tolist() == [0.5, 0.5]
    assert model.estimator_.known_ == set(range(40))
    with pytest.raises(AssertionError):
        model.predict(numbers)


def test_the_model_kept_is_trained_on_everyone_and_the_one_given_is_left_alone():
    given = LogisticRegression(C=0.3)
    model, alone = audited(given).fit(X, Y, **GROUPS), LogisticRegression(C=0.3).fit(X, Y)
    for method in ("predict", "predict_proba", "predict_log_proba", "decision_function"):
        np.testing.assert_array_equal(getattr(model, method)(X), getattr(alone, method)(X))
    assert model.score(X, Y) == alone.score(X, Y)
    assert not hasattr(given, "classes_")
    assert not hasattr(model.tests, "p_value_")


def test_defaults_are_equalized_odds_and_the_mean_residual_and_a_regressor_takes_metrics_of_numbers():
    def tested(model, y):
        return set(model.fit(X, y, **GROUPS).fairness_tests_[0].comparisons_["metric"])

    regressor = partial(AuditedRegressor, Ridge(), on_rejection="ignore")
    assert tested(audited(tests=None), Y) == {"true_positive_rate", "false_positive_rate"}
    assert tested(regressor(), X["a"] + Y) == {"mean_residual"}
    assert tested(regressor(metric="r2"), X["a"] + X["b"]) == {"r2"}
    with pytest.raises(ValueError, match="Metrics of numbers are"):
        tested(regressor(metric="equalized_odds"), X["a"] + X["b"])


def test_several_tests_are_fitted_in_their_order_and_hold_no_model():
    tests = [SELECTION, ACCURACY, FairnessTest(metric=["recall", "precision"])]
    strata = pd.Series(np.tile(["north", "south"], N // 2), name="place")
    model = audited(tests=tests).fit(X, Y, **GROUPS, control_features=strata)
    assert model.p_values_ == [test.p_value_ for test in model.fairness_tests_]
    assert [list(dict.fromkeys(test.comparisons_["metric"])) for test in model.fairness_tests_] == [
        ["selection_rate"],
        ["accuracy"],
        ["true_positive_rate", "precision"],
    ]
    assert set(model.fairness_tests_[0].comparisons_["stratum"].dropna()) == {"north", "south"}
    assert all(test.estimator is None for test in model.fairness_tests_)


# Containers -----------------------------------------------------------------------------------------------------------

#: A model that predicts from the groups, and one that does not.
TEST_OF_LUCK = FairnessTest(metric="selection_rate", random_state=0)
OPTIMIZER = ThresholdOptimizer(estimator=LogisticRegression(), predict_method="predict_proba")


def test_a_precomputed_kernel_is_divided_by_rows_and_columns():
    kernel = X.to_numpy() @ X.to_numpy().T
    expected = audited(SVC(kernel="linear")).fit(X, Y, **GROUPS)
    assert audited(SVC(kernel="precomputed")).fit(kernel, Y, **GROUPS).p_values_ == expected.p_values_


# Folds ----------------------------------------------------------------------------------------------------------------


class Recorder(ClassifierMixin, BaseEstimator):
    """A model that tells a list whom it was trained on, by the first column."""

    def fit(self, X, y, sample_weight=None, note=None, table=None):
        HEARD.append((X[:, 0].astype(int), sample_weight, note, table))
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return (X[:, 0] % 2).astype(int)


class NumberRecorder(RegressorMixin, BaseEstimator):
    """The same for numbers."""

    fit, predict = Recorder.fit, Recorder.predict


HEARD = []


@pytest.fixture
def heard():
    """What `Recorder` was trained on: once on everyone, then in every fold."""
    HEARD.clear()
    return HEARD


#: Sixty people in twenty clusters, in each of which all belong to one group.
CLUSTER = np.repeat(np.arange(20), 3)
SIXTY = np.arange(60.0)[:, None], np.tile([0, 1, 1], 20)
OF_CLUSTERS = {"sensitive_features": np.where(CLUSTER % 2, "f", "m")}


@few_clusters
@pytest.mark.parametrize("cv", [4, GroupKFold(4)])
@pytest.mark.parametrize(("cls", "model"), [(AuditedClassifier, Recorder()), (AuditedRegressor, NumberRecorder())])
def test_clusters_are_not_divided_between_training_and_test(cls, model, cv, heard):
    test = FairnessTest(metric="mean_prediction", n_resamples=199, random_state=0)
    model = cls(model, cv=cv, tests=test, on_rejection="ignore").fit(*SIXTY, **OF_CLUSTERS, clusters=CLUSTER)
    assert len(heard) == 5
    for trained, *_ in heard[1:]:
        assert not set(CLUSTER[trained]) & set(np.delete(CLUSTER, trained))
    assert "clusters" in str(model.fairness_tests_[0])


@few_clusters
def test_folds_of_clusters_are_stratified_on_label_and_group(heard):
    y = (CLUSTER % 4 < 2).astype(int)  # ten clusters of each label, five of each label and group
    audited(Recorder(), cv=5).fit(SIXTY[0], y, **OF_CLUSTERS, clusters=CLUSTER)
    for trained, *_ in heard[1:]:
        tested = np.setdiff1d(np.arange(60), trained)
        cells = pd.DataFrame({"y": y[tested], "group": OF_CLUSTERS["sensitive_features"][tested]}).value_counts()
        assert cells.tolist() == [3] * 4


class ByPlace:
    """A splitter that a user writes, which knows nothing of routing."""

    def split(self, X, y, groups):
        for place in np.unique(groups):
            yield np.flatnonzero(groups != place), np.flatnonzero(groups == place)

    def get_n_splits(self, X, y, groups):
        return len(np.unique(groups))


@few_clusters
def test_a_splitter_is_given_the_groups_and_the_clusters_that_it_asks_for(heard):
    audited(Recorder(), cv=SensitiveStratifiedKFold(3)).fit(np.arange(float(N))[:, None], Y, **GROUPS)
    for (trained, *_), (train, _) in zip(heard[1:], SPLITS, strict=True):
        np.testing.assert_array_equal(trained, train)
    heard.clear()
    audited(Recorder(), cv=ByPlace()).fit(*SIXTY, **OF_CLUSTERS, clusters=CLUSTER)
    assert [len(trained) for trained, *_ in heard] == [60] + [57] * 20
    coded = X.assign(female=(SEX == "f").astype(int))  # columns that a splitter looks up itself are not passed
    folds = SensitiveStratifiedKFold(3, sensitive_features="female")
    expected = audited().fit(coded, Y, **GROUPS).p_values_
    assert audited(cv=folds).fit(coded, Y, **GROUPS).p_values_ == expected


def test_masks_and_places_from_the_end_are_folds_like_any_other():
    first, places = np.arange(N) < N // 2, np.arange(-N, 0)
    expected = audited(cv=KFold(2)).fit(X, Y, **GROUPS).p_values_
    for cv in ([(~first, first), (first, ~first)], [(places[~first], places[first]), (places[first], places[~first])]):
        assert audited(cv=cv).fit(X, Y, **GROUPS).p_values_ == expected


class Unlabelled(ClassifierMixin, BaseEstimator):
    """A model with a score for every label it was trained on, which it does not name; it may lose a person."""

    def __init__(self, lost=0):
        self.lost = lost

    def fit(self, X, y):
        self.n_labels_ = len(np.unique(y))
        return self

    def predict(self, X):
        return np.zeros(len(X) - self.lost, dtype=int)

    def predict_proba(self, X):
        return np.full((len(X), self.n_labels_), 1 / self.n_labels_)


def test_a_fold_that_misses_a_label_predicts_the_others_and_has_no_score_for_it():
    y = np.array([0, 1] * 14 + [2, 2])  # the last two people have a label that no one else has
    X, sex = y[:, None] + np.random.default_rng(0).normal(size=(30, 2)), np.tile(["f", "f", "m"], 10)
    model = audited(cv=KFold(3), tests=ACCURACY).fit(X, y, sensitive_features=sex)
    expected = cross_val_predict(LogisticRegression(), X, y, cv=KFold(3))
    shares = pd.Series(expected == y).groupby(sex).mean()
    np.testing.assert_allclose(model.fairness_tests_[0].by_group_["value"], shares)
    test = FairnessTest(metric="roc_auc", pos_label=1, n_resamples=19)
    for model in (LogisticRegression(), SVC()):
        with pytest.raises(ValueError, match=r"fold 2 was trained on no one with label \[2\].*no score.*stratified"):
            audited(model, cv=KFold(3), tests=test).fit(X, y, sensitive_features=sex)


# What is said ---------------------------------------------------------------------------------------------------------


def test_a_concern_is_a_warning_that_quotes_the_test():
    model = audited(tests=[SELECTION, ACCURACY], on_rejection="warn")
    with pytest.warns(FairnessRejectedWarning) as caught:
        model.fit(X, Y, **GROUPS)
    (warning,) = (entry for entry in caught if entry.category is FairnessRejectedWarning)
    verdict, positive, finding = str(model.fairness_tests_[0]).splitlines()[:3]
    assert str(warning.message).startswith("LogisticRegression: 1 of 2 fairness tests found a significant disparity")
    assert "people it was not trained on (3 folds)" in str(warning.message)
    assert f"{verdict} {positive} {finding} The model is trained" in str(warning.message)
    assert warning.filename == __file__
    assert model.predict(X).shape == (N,)


def test_correlations_and_what_is_not_certified_are_concerns_too_and_nothing_else_is():
    test = CorrelationFairnessTest(of="prediction", n_resamples=99, random_state=0)
    with pytest.warns(FairnessRejectedWarning, match=r"1 of 1 .* Predictions grow with a: correlation"):
        audited(tests=test, on_rejection="warn").fit(X, Y, sensitive_features=X["a"])
    test = FairnessTest(metric="selection_rate", alternative="equivalence", margin=0.001)
    with pytest.warns(FairnessRejectedWarning, match="Not certified"):
        model = audited(tests=test, on_rejection="warn").fit(X, Y, sensitive_features=ALTERNATING)
    assert model.p_values_[0] > 0.05
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for on_rejection in ("warn", "raise"):
            model = audited(on_rejection=on_rejection).fit(X, Y, sensitive_features=ALTERNATING)
    assert not model.fairness_tests_[0].concern_


def test_an_error_carries_the_tests_and_leaves_nothing_of_an_earlier_model():
    model = audited(tests=[SELECTION, ACCURACY], on_rejection="raise")
    with pytest.raises(FairnessRejectedError, match=r"predicted positive.*The model is not kept") as caught:
        model.fit(X, Y, **GROUPS)
    assert [test.concern_ for test in caught.value.fairness_tests] == [True, False]
    copy = pickle.loads(pickle.dumps(caught.value))
    assert str(copy) == str(caught.value)
    assert copy.fairness_tests[0].p_value_ == caught.value.fairness_tests[0].p_value_
    with pytest.raises(NotFittedError):
        model.predict(X)
    model.fit(X, Y, sensitive_features=np.repeat(["f", "m"], N // 2))
    assert len(model.p_values_) == 2
    with pytest.raises(FairnessRejectedError):
        model.fit(X[::-1], Y[::-1], sensitive_features=SEX[::-1])
    assert not hasattr(model, "p_values_")
    with pytest.raises(NotFittedError):
        model.predict(X)


def test_a_search_takes_a_rejection_as_a_failed_fit():
    y = (X["a"] + np.random.default_rng(3).normal(size=N) > -0.5).astype(int)
    grid = {"estimator__C": [1.0, 1e-6]}  # the second selects everyone
    search = GridSearchCV(audited(on_rejection="raise"), grid, cv=2, refit=False)
    found = pytest.warns(FitFailedWarning, match=r"(?s)2 fits failed out of a total of 4.*FairnessRejectedError")
    with found, pytest.warns(UserWarning, match="non-finite"):
        search.fit(X, y, **GROUPS)
    scores = search.cv_results_["mean_test_score"]
    assert np.isnan(scores[0])
    assert scores[1] == pytest.approx(y.mean(), abs=0.01)


# What is wrong --------------------------------------------------------------------------------------------------------

EVERYONE = np.arange(N)
FORGOTTEN = (
    r"(?s)sensitive_features is missing.*fit\(X, y, sens.*auditedclassifier__sens.*"
    r"set_config\(enable_metadata_routing=True\).*params="
)


@pytest.mark.parametrize(
    ("params", "given", "message"),
    [
        ({"on_rejection": "shout"}, {}, r"on_rejection must be one of 'warn', 'raise', 'ignore'; found 'shout'"),
        ({"tests": []}, {}, r"tests is empty: pass None for equalized_odds"),
        ({"tests": "accuracy"}, {}, r"tests must be FairnessTest .* as in\s*tests=.*found 'accuracy'"),
        ({"tests": [SELECTION, "accuracy"]}, {}, "found 'accuracy'"),
        ({"tests": FairnessTest(LogisticRegression())}, {}, "with estimator=None because the model tested here is the"),
        ({"metric": "accuracy"}, {}, r"^metric and tests are both given"),
        ({"estimator": LinearRegression()}, {}, "is a regressor: use AuditedRegressor"),
        ({"estimator": FrozenEstimator(LogisticRegression())}, {}, "never retrained.*FairnessTest"),
        ({"estimator": LogisticRegression}, {}, "estimator must be a model that can be fitted"),
        ({"estimator": "logistic"}, {}, "estimator must be a model that can be fitted"),
        ({"cv": ShuffleSplit(3, random_state=0)}, {}, r"cv=ShuffleSplit\(.*does not test each of 240 .*once.*KFold"),
        ({"cv": TimeSeriesSplit(3)}, {}, "does not test each of 240 people exactly once"),
        ({"cv": [(np.arange(120), np.arange(120, 240))]}, {}, r"cv=list\(...\) does not test each"),
        ({"cv": []}, {}, r"cv=\[\] does not test each"),
        ({"cv": [([], list(range(N)))]}, {}, "fold 0 trains on no one"),
        ({"cv": [*KFold(2).split(X), (EVERYONE, [])]}, {}, "fold 2 tests no one"),
        ({"cv": [(EVERYONE, EVERYONE)]}, {}, r"fold 0 tests 240 of the people it trains on"),
        ({"cv": [(np.arange(-N, 0), EVERYONE)]}, {}, r"fold 0 tests 240 of the people it trains on"),
        ({"cv": 1}, {}, "n_splits=2 or more"),
        ({"cv": 300}, {}, "n_splits=300 is more than the number of people, n_samples=240"),
        ({"cv": "five"}, {}, "Expected .?cv.? as an integer"),
        ({"cv": GroupKFold(3)}, {}, "pass clusters"),
        ({"cv": KFold(2)}, {"clusters": EVERYONE % 120}, r"cv=KFold\(.*fold 0 divides 120 clusters.*GroupKFold"),
        ({"cv": 5}, {"clusters": EVERYONE % 4}, r"cv=5 folds of 4 clusters"),
        ({}, {"sensitive_features": None}, FORGOTTEN),
        ({}, {"sensitive_features": "sex"}, r"is the string 'sex'"),
        ({}, {"sensitive_features": ["f", "m"] * 100}, r"different lengths, 240 and 200"),
        ({}, {"sensitive_features": ["f", None] * 120}, r"120 missing values"),
        ({}, {"control_features": ["f", "m"]}, r"control_features have different lengths, 240 and 2"),
        ({}, {"clusters": [1, 2]}, r"clusters have different lengths, 240 and 2"),
        ({}, {"test_weight": [1, 2]}, r"test_weight have different lengths, 240 and 2"),
        (
            {},
            {"X": X, "y": Y.sample(frac=1, random_state=0)},
            "X and y have pandas indexes that hold .* in another order: al",
        ),
        ({}, {"X": X, "sensitive_features": SEX.sample(frac=1, random_state=0)}, "another order: align"),
        ({}, {"X": None}, "X must have a row"),
        ({}, {"y": None}, "requires y to be passed, but the target y is None"),
        ({}, {"y": [0.5, (1, 2)] * (N // 2)}, "y must have one value"),
        (
            {"tests": CorrelationFairnessTest()},
            {"sensitive_features": X["a"], "clusters": EVERYONE, "test_weight": np.ones(N)},
            "CorrelationFairnessTest takes no clusters and no test_weight",
        ),
    ],
)
def test_what_is_wrong_is_refused_by_name_before_anything_is_trained(params, given, message, heard):
    people = {"X": X.to_numpy(), "y": Y, **GROUPS, **given}
    with pytest.raises(ValueError, match=message):
        audited(**{"estimator": Recorder()} | params).fit(**people)
    assert not heard


def test_what_training_shows_is_an_error_too():
    with pytest.raises(ValueError, match="is a classifier: use AuditedClassifier"):
        AuditedRegressor(LogisticRegression()).fit(X, Y, **GROUPS)
    with pytest.raises(ValueError, match=r"Unlabelled\.predict returned 79 values for 80 people"):
        audited(Unlabelled(lost=1)).fit(X, Y, **GROUPS)
    search = GridSearchCV(audited(), {"estimator__C": [0.1]}, cv=2, error_score="raise")
    with pytest.raises(ValueError, match=r"sensitive_features has 240 values for 120 people\. .*pass a DataFrame, as"):
        search.fit(X, Y, sensitive_features={"sex": SEX})
    with pytest.raises(ValueError, match="set_config"):
        search.fit(X, Y)
    with pytest.raises(ValueError, match=r"sample_weight: KNeighborsClassifier.fit takes none.*test_weight"):
        audited(KNeighborsClassifier()).fit(X, Y, **GROUPS, sample_weight=np.ones(N))
    pipeline = make_pipeline(StandardScaler(), LogisticRegression())
    with pytest.raises(ValueError, match="logisticregression__sample_weight"):  # in scikit-learn's words
        audited(pipeline).fit(X, Y, **GROUPS, sample_weight=np.ones(N))


# What training is given -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("put", [np.array, pa.array, lambda values: pa.table({"s": values}), pl.Series, tuple])
def test_arguments_with_a_value_per_person_are_divided_among_the_folds(put, heard):
    numbers = list(range(60))
    table = {"first": numbers, "second": list("abc" * 20)}
    given = {"sample_weight": np.array(numbers), "note": put(numbers), "table": table}
    audited(Recorder(), cv=3, tests=ACCURACY).fit(*SIXTY, **OF_CLUSTERS, **given)
    audited(Recorder(), cv=3, tests=ACCURACY).fit(*SIXTY, **OF_CLUSTERS, note="as it is")
    assert len(heard) == 8
    for trained, weights, note, part in heard[:4]:
        np.testing.assert_array_equal(weights, trained)
        values = note["s"] if isinstance(note, pa.Table) else note
        assert [int(str(value)) for value in values] == part["first"] == trained.tolist()
        assert part["second"] == ["abc"[person % 3] for person in trained]
    assert {note for *_, note, _ in heard[4:]} == {"as it is"}


@either_way
def test_weights_of_training_do_not_weight_the_tests(routed):
    with sklearn.config_context(enable_metadata_routing=routed):
        estimator = LogisticRegression().set_fit_request(sample_weight=True) if routed else LogisticRegression()
        model = audited(estimator).fit(X, Y, **GROUPS, sample_weight=WEIGHT)
    np.testing.assert_array_equal(model.estimator_.coef_, LogisticRegression().fit(X, Y, WEIGHT).coef_)
    predicted = [
        LogisticRegression().fit(X.iloc[train], Y.iloc[train], WEIGHT[train]).predict(X.iloc[test])
        for train, test in SPLITS
    ]
    tested = np.concatenate([test for _, test in SPLITS])
    expected = clone(SELECTION).fit(np.concatenate(predicted), sensitive_features=SEX.to_numpy()[tested])
    assert model.p_values_ == [expected.p_value_]
    assert model.fairness_tests_[0].method_ == "exact"  # there is no exact distribution of people with weights


def test_with_routing_weights_follow_the_request_of_the_estimator(routing):
    given = {**GROUPS, "sample_weight": np.ones(N)}
    with pytest.raises(UnsetMetadataPassedError, match=r"(?s)sample_weight.*LogisticRegression\.fit"):
        audited().fit(X, Y, **given)
    with pytest.raises(TypeError, match="sample_weight"):
        audited(LogisticRegression().set_fit_request(sample_weight=False)).fit(X, Y, **given)
    step = make_pipeline(StandardScaler(), LogisticRegression().set_fit_request(sample_weight="survey"))
    step.named_steps["standardscaler"].set_fit_request(sample_weight=False)
    model, alone = audited(step).fit(X, Y, **GROUPS, survey=WEIGHT), clone(step).fit(X, Y, survey=WEIGHT)
    np.testing.assert_array_equal(model.decision_function(X), alone.decision_function(X))


REDUCTION = ExponentiatedGradient(LogisticRegression(), DemographicParity(), max_iter=2)
MITIGATORS = {
    "ExponentiatedGradient": REDUCTION,
    "GridSearch": GridSearch(LogisticRegression(), DemographicParity(), grid_size=4),
    "ThresholdOptimizer": OPTIMIZER,
}


@fairlearn_uses_old_pandas
@pytest.mark.parametrize("routed", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", MITIGATORS)
def test_fairlearns_mitigators_are_given_groups_and_seeds_without_any_request(name, routed):
    model = audited(MITIGATORS[name], tests=TEST_OF_LUCK)
    with sklearn.config_context(enable_metadata_routing=routed):
        model.fit(X, Y, **GROUPS)
        assert set(model.predict(X, **(GROUPS if name == "ThresholdOptimizer" else {}))) <= {0, 1}
        again = clone(model).fit(X, Y, **GROUPS)
    assert model.p_values_ == again.p_values_  # the test's seed is that of randomised predictions
    assert model.classes_.tolist() == [0, 1]
    raw = audited().fit(X, Y, **GROUPS)
    assert abs(model.fairness_tests_[0].disparity_) < abs(raw.fairness_tests_[0].disparity_)
    # A test of the audited model hands them on too.
    tests = [FairnessTest(m, metric="selection_rate", random_state=3) for m in (model, model.estimator_)]
    pd.testing.assert_frame_equal(*(test.fit(X, Y, **GROUPS).by_group_ for test in tests))


@fairlearn_uses_old_pandas
def test_a_mitigator_in_a_pipeline_is_given_the_groups_without_routing_and_a_sentence_with_it():
    model = audited(make_pipeline(StandardScaler(), REDUCTION), tests=TEST_OF_LUCK)
    by_hand = clone(model).fit(X, Y, **GROUPS, exponentiatedgradient__sensitive_features=SEX)
    assert model.fit(X, Y, **GROUPS).p_values_ == by_hand.p_values_
    with (
        sklearn.config_context(enable_metadata_routing=True),
        pytest.raises(ValueError, match=r"(?s)estimator=Pipeline.*needs sensitive_features.*set_fit_request"),
    ):
        clone(model).fit(X, Y, **GROUPS)


class Lucky(ClassifierMixin, BaseEstimator):
    """A model that tosses a coin."""

    def fit(self, X, y, *, sensitive_features=None):
        self.classes_, self.groups_ = np.unique(y), sensitive_features
        return self

    def predict(self, X, random_state=None):
        return np.random.default_rng(random_state).integers(0, 2, len(X))


def test_people_at_the_same_place_of_different_folds_have_luck_of_their_own():
    # The first half of each fold is one group: were all folds to toss alike, counts would be multiples of three.
    sex = np.tile(np.repeat(["f", "m"], 10), 3)
    model = audited(Lucky(), cv=KFold(3), tests=TEST_OF_LUCK).fit(*SIXTY, sensitive_features=sex)
    selected = (model.fairness_tests_[0].by_group_["value"] * 30).round().astype(int)
    assert any(selected % 3)


# Like the estimator ---------------------------------------------------------------------------------------------------


def test_it_has_the_methods_and_the_tags_of_its_estimator():
    svc = audited(LinearSVC(random_state=0))
    assert hasattr(svc, "decision_function")
    assert not hasattr(svc, "predict_proba")
    assert not hasattr(svc.fit(X, Y, **GROUPS), "predict_log_proba")
    assert not hasattr(audited(OPTIMIZER), "score")
    with pytest.raises(NotFittedError):
        audited().predict(X)
    assert is_classifier(audited(MITIGATORS["GridSearch"]))  # which says nothing of itself
    assert is_regressor(AuditedRegressor(Ridge()))
    for estimator in (LogisticRegression(), DecisionTreeClassifier(), SVC(kernel="precomputed"), LinearSVC()):
        assert get_tags(audited(estimator)).input_tags == get_tags(estimator).input_tags
        assert get_tags(audited(estimator)).classifier_tags.multi_class
    assert not get_tags(audited(DecisionTreeClassifier())).classifier_tags.multi_label


@either_way
def test_searches_and_pipelines_hand_over_the_groups(routed):
    name = "sensitive_features" if routed else "auditedclassifier__sensitive_features"
    with sklearn.config_context(enable_metadata_routing=routed):
        search = GridSearchCV(audited(), {"estimator__C": [0.01, 1.0]}, cv=2, error_score="raise")
        best = search.fit(X, Y, **GROUPS).best_estimator_
        pipeline = make_pipeline(StandardScaler(), audited()).fit(X, Y, **{name: SEX})
    assert best.fairness_tests_[0].n_samples_ == N
    assert best.fairness_tests_[0].by_group_.index.names == ["sex"]
    plain = GridSearchCV(LogisticRegression(), {"C": [0.01, 1.0]}, cv=2).fit(X, Y)
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"])
    expected = audited().fit(StandardScaler().fit_transform(X), Y, sensitive_features=SEX.to_numpy())
    assert pipeline[-1].p_values_ == expected.p_values_
    assert pipeline.predict_proba(X).shape == (N, 2)
