"""A fit leaves the process as it was, also in threads: filters of warnings, errors of NumPy, threads of BLAS, data."""

import sys
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from threadpoolctl import threadpool_info, threadpool_limits

from skfairtest import (
    AdjustedFairnessTest,
    AuditedClassifier,
    CorrelationFairnessTest,
    CountTable,
    FairnessAudit,
    FairnessTest,
    PairedFairnessTest,
    ScoreMetric,
    SequentialFairnessTest,
    SignificanceFrame,
    SubgroupScan,
    make_fairness_scorer,
)
from skfairtest._utils.errors import SmallGroupWarning, held_back, warn
from skfairtest._utils.parallel import one_thread

RNG = np.random.default_rng(0)
N = 120
X = pd.DataFrame({"a": RNG.normal(size=N), "b": RNG.normal(size=N)})
Y = (X["a"] + RNG.normal(size=N) > 0).astype(int)
MALE = RNG.integers(0, 2, N)
SEX = pd.Series(np.where(MALE, "m", "f"), name="sex")
MODEL = LogisticRegression().fit(X, Y)
HIRED = MODEL.predict(X)


def uneasy(y_true, y_pred):
    """A metric that warns of everybody."""
    warnings.warn("uneasy", RuntimeWarning, stacklevel=1)
    return np.mean(y_true == y_pred)


def search():
    """Candidates in threads."""
    scorer = make_fairness_scorer(uneasy, sensitive_features="male", n_resamples=19, random_state=0)
    with parallel_config("threading", n_jobs=4):
        return GridSearchCV(LogisticRegression(), {"C": [0.1, 1]}, scoring=scorer, cv=2).fit(X.assign(male=MALE), Y)


def labels(cls, **params):
    """A fit of a test of predictions."""
    return lambda: cls(**params).fit(HIRED, Y, sensitive_features=SEX)


FITS = {
    "callable": labels(FairnessTest, metric=uneasy, n_resamples=99),
    "bootstrap": labels(FairnessTest, metric=uneasy, method="bootstrap", n_resamples=99),
    "audit": labels(FairnessAudit, metrics=[uneasy], n_resamples=99),
    "paired": lambda: PairedFairnessTest.from_predictions(
        Y, HIRED, 1 - HIRED, sensitive_features=SEX, metric=uneasy, n_resamples=99
    ),
    "frame": lambda: SignificanceFrame(
        metrics=uneasy, y_true=Y, y_pred=HIRED, sensitive_features=SEX, test_params={"n_resamples": 19}
    ).p_values(),
    "adjusted": lambda: AdjustedFairnessTest(n_folds=2).fit(HIRED, sensitive_features=SEX, covariates=X[["a"]]),
    "correlation": lambda: CorrelationFairnessTest(n_resamples=99).fit(X["a"], X["b"], sensitive_features=X[["b"]]),
    "scan": lambda: SubgroupScan(MODEL, metric="selection_rate").fit(X, Y, sensitive_features=SEX),
    "stream": lambda: SequentialFairnessTest().fit(y_pred=HIRED, sensitive_features=SEX),
    "table": lambda: CountTable.from_frame(pd.DataFrame({"s": SEX, "y": HIRED}), y_pred="y", sensitive_features="s"),
    "audited": lambda: AuditedClassifier(LogisticRegression(), metric="accuracy", cv=2, on_rejection="ignore").fit(
        X, Y, sensitive_features=SEX
    ),
    "search": search,
}


def state():
    return list(warnings.filters), warnings.showwarning, np.geterr(), sys.getrecursionlimit()


@pytest.mark.filterwarnings("ignore:uneasy")
@pytest.mark.filterwarnings("ignore::skfairtest._utils.errors.SmallGroupWarning")
@pytest.mark.parametrize("name", FITS)
def test_fits_in_threads_leave_the_process_as_it_was_and_never_change_its_filters(name, monkeypatch):
    changed = []
    entered = warnings.catch_warnings.__enter__

    def enter(self):
        caller = sys._getframe(1).f_globals["__name__"]
        if caller.startswith("skfairtest"):
            changed.append(caller)
        return entered(self)

    before = state()
    monkeypatch.setattr(warnings.catch_warnings, "__enter__", enter)
    with ThreadPoolExecutor(4) as pool:
        results = [each.result() for each in [pool.submit(FITS[name]) for _ in range(4)]]
    assert len(results) == 4
    assert changed == []
    monkeypatch.undo()
    if name not in ("adjusted", "audited", "search"):  # models of scikit-learn, which exchanges filters itself
        assert state() == before


def test_warnings_of_a_callable_pass_through_once():
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("default")
        test = FairnessTest(metric=uneasy, n_resamples=999, random_state=0).fit(HIRED, Y, sensitive_features=SEX)
    assert [str(each.message) for each in shown if each.category is RuntimeWarning] == ["uneasy"]
    assert test.n_resamples_ == 999


def right_of_rows(y_true, y_pred):
    return np.mean(y_true == y_pred)


def right_of_tables(y_true, y_pred, counts):
    return counts @ (y_true == y_pred) / counts.sum(axis=-1)


@pytest.mark.parametrize("right", [right_of_rows, right_of_tables])
def test_a_warning_that_is_raised_makes_its_resample_undefined(right):
    def warns(values):
        if np.min(values) < 0.7:
            warnings.warn("few", RuntimeWarning, stacklevel=1)
        return values

    def undefined(values):
        return np.where(values < 0.7, np.nan, values) if np.ndim(values) else values if values >= 0.7 else np.nan

    metrics = [
        (lambda y_true, y_pred, then=then: then(right(y_true, y_pred)))
        if right is right_of_rows
        else (lambda y_true, y_pred, counts, then=then: then(right(y_true, y_pred, counts)))
        for then in (warns, undefined)
    ]
    y_true, y_pred = np.array([1, 0] * 20), np.array([1, 0] * 12 + [1, 1] * 8)
    groups = ["a", "b", "b", "a", "b"] * 8
    params = {"n_resamples": 199, "random_state": 0, "variance": None}
    first, second = (
        FairnessTest(metric=ScoreMetric("right", metric), **params).fit(y_pred, y_true, sensitive_features=groups)
        for metric in metrics
    )
    assert np.isnan(second.null_distribution_).any()
    np.testing.assert_array_equal(first.null_distribution_, second.null_distribution_)
    assert first.p_value_ == second.p_value_


def test_warnings_of_the_package_are_held_back_in_one_thread_alone():
    with held_back(SmallGroupWarning) as messages:
        warn("few", SmallGroupWarning)
        with pytest.warns(UserWarning, match="other"):
            warn("other")
        with ThreadPoolExecutor(1) as pool, pytest.warns(SmallGroupWarning, match="elsewhere"):
            pool.submit(warn, "elsewhere", SmallGroupWarning).result()
    assert messages == [("few", SmallGroupWarning)]


def threads(api):
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == api]


def test_threads_of_libraries_are_as_many_as_before_when_threads_have_overlapped():
    def overlap(number):
        of_openmp = threads("openmp")
        barrier.wait()
        for _ in range(20):
            with one_thread():
                threading.Event().wait(0.001 * number)
                assert set(threads("openmp")) <= {1}
        assert threads("openmp") == of_openmp

    barrier = threading.Barrier(4)
    limits = threadpool_limits(2)
    before = threads("blas")
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(overlap, range(4)))
    after = threads("blas")
    limits.restore_original_limits()
    assert after == before


class Writes(ClassifierMixin, BaseEstimator):
    """A model that writes into what it predicts from."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        if isinstance(X, list):
            X[0][0] = 1e6
            return np.array([1, 0] * (len(X) // 2))
        first = X.iloc if hasattr(X, "iloc") else X
        first[0, 0] = 1e6
        return np.array([1, 0] * (X.shape[0] // 2))

    def predict_proba(self, X):
        ones = self.predict(X)
        return np.stack([0.75 - ones / 2, 0.25 + ones / 2], axis=1)


@pytest.mark.parametrize("put", [np.array, pd.DataFrame, csr_array, lambda values: values.tolist()])
@pytest.mark.parametrize(
    "made",
    [
        lambda model: FairnessTest(model, metric="selection_rate"),
        lambda model: FairnessTest(model, metric="roc_auc", n_resamples=19),
        lambda model: FairnessAudit(model),
        lambda model: PairedFairnessTest(model, model, metric="selection_rate"),
        lambda model: AdjustedFairnessTest(model, n_folds=2),
        lambda model: CorrelationFairnessTest(model, of="prediction", n_resamples=19),
    ],
)
def test_a_model_that_writes_into_its_input_leaves_the_callers_alone(made, put):
    values = X.to_numpy().copy()
    data, test = put(values), made(Writes().fit(values, Y))
    more = {"covariates": X[["b"]]} if isinstance(test, AdjustedFairnessTest) else {}
    groups = X["b"] if isinstance(test, CorrelationFairnessTest) else SEX
    test.fit(data, Y, sensitive_features=groups, **more)
    left = data.toarray() if hasattr(data, "toarray") else np.asarray(data)
    np.testing.assert_array_equal(left, X.to_numpy())


def masked(y_true, y_pred):
    return np.ma.masked


def masked_of_tables(y_true, y_pred, counts):
    return np.ma.masked_array(counts.sum(axis=-1), mask=True)


@pytest.mark.parametrize(
    "fit",
    [
        lambda: FairnessTest(metric=masked).fit(HIRED, Y, sensitive_features=SEX),
        lambda: FairnessTest(metric=ScoreMetric("m", masked_of_tables)).fit(HIRED, Y, sensitive_features=SEX),
        lambda: FairnessAudit(metrics=[masked]).fit(HIRED, Y, sensitive_features=SEX),
        lambda: PairedFairnessTest.from_predictions(Y, HIRED, 1 - HIRED, sensitive_features=SEX, metric=masked),
        lambda: AdjustedFairnessTest(of=lambda y_true, y_pred: np.ma.masked_equal(y_pred, 1)).fit(
            HIRED, Y, sensitive_features=SEX, covariates=X
        ),
        lambda: FairnessTest(metric=lambda y_true, y_pred, sensitive_features: np.ma.masked).fit(
            HIRED, Y, sensitive_features=SEX
        ),
    ],
)
def test_a_masked_value_of_a_metric_is_an_error(fit):
    with pytest.raises(ValueError, match=r"returns (a )?masked|returned \d+ values among 120 that are NaN"):
        fit()


@pytest.mark.parametrize("cls", [FairnessTest, FairnessAudit, SubgroupScan, PairedFairnessTest])
def test_resamples_are_at_most_ten_million(cls):
    given = {"y_pred_a": HIRED, "y_pred_b": HIRED} if cls is PairedFairnessTest else {"y_pred": HIRED}
    for number in (10_000_001, 10**30):
        with pytest.raises(ValueError, match=r"n_resamples must be .*at most 10,000,000"):
            cls.from_predictions(Y, **given, sensitive_features=SEX, n_resamples=number)


def test_comparisons_are_at_most_a_hundred_thousand():
    strata = np.arange(N * 500) // 2
    groups = np.tile(["a", "b", "c", "d"], N * 125)
    with pytest.raises(ValueError, match=r"4 groups; in 30,000 strata and all together.* 120,004 comparisons; at most"):
        FairnessTest(metric="selection_rate", compare="to_rest").fit(
            groups == "a", sensitive_features=groups, control_features=strata
        )
