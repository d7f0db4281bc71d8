"""The same people give the same answer, however they are written down and in whatever company; and good manners."""

import inspect
import pickle
import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn import config_context, get_config
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skfairtest import IndividualFairnessTest, Mahalanobis, Projection, SensitiveSubspace
from skfairtest.individual._folds import content_folds

FIXED = Mahalanobis(np.diag([0.0, 0.5, 0.9]))


def log_loss(y_true, y_pred):
    """A loss of one's own; at module level, so that it can be pickled."""
    return -np.log(y_pred[np.arange(len(y_true)), np.asarray(y_true).astype(int)])


def absolute_error(y_true, y_pred):
    """A loss in units of its own."""
    return np.abs(y_true - y_pred)


class GradientOf:
    """The derivative of the log loss of a logistic model."""

    def __init__(self, model):
        self.model = model

    def __repr__(self):
        return "GradientOf(model)"

    def __call__(self, X, y):
        return (self.model.predict_proba(X)[:, 1] - y)[:, None] * self.model.coef_


#: Name: (model, parameters, how far last digits may matter: a matrix product rounds by the number of its rows).
CASES = {
    "analytic": (LogisticRegression(), {}, 1e-9),
    "perceptron": (MLPClassifier((5,), random_state=0, max_iter=100, tol=1e-2), {}, 1e-9),
    "differences": (GaussianNB(), {}, 1e-6),
    "own loss": (LogisticRegression(), {"loss": log_loss}, 1e-6),
    "search": (RandomForestClassifier(8, max_depth=3, random_state=0), {}, 1e-12),
    "histograms": (
        HistGradientBoostingClassifier(max_iter=8),
        {"fair_metric": Projection([[1, 0, 0], [0, 1, 1]])},
        1e-12,
    ),
    "callable": (LogisticRegression(), {"gradient": GradientOf}, 1e-9),
    "adaptive": (LogisticRegression(), {"solver": "RK45", "n_steps": 4, "step_size": 0.04}, 1e-9),
    "error rates": (LogisticRegression(), {"statistic": "error_rate_ratio", "n_steps": 60}, 1e-9),
    "regressor": (LinearRegression(), {"loss": absolute_error, "step_size": 0.005}, 1e-6),
}
LEARNED = {
    "learned": (LogisticRegression(), {"fair_metric": "sensitive_subspace", "n_steps": 40}, 1e-8),
    "learned on all": (LogisticRegression(), {"fair_metric": "sensitive_subspace", "cross_fit": False}, 1e-8),
    "learned on three": (
        LogisticRegression(),
        {"fair_metric": SensitiveSubspace(), "cross_fit": 3, "n_steps": 40},
        1e-8,
    ),
    "standardised": (
        make_pipeline(StandardScaler(), LogisticRegression()),
        {"fair_metric": "sensitive_subspace", "feature_scale": "std", "n_steps": 40},
        1e-8,
    ),
    "squares": (LinearRegression(), {"fair_metric": "sensitive_subspace", "n_steps": 40}, 1e-8),
}
ALL = CASES | LEARNED
every_case = pytest.mark.parametrize("name", ALL)
every_way = pytest.mark.parametrize("name", CASES)
learned_case = pytest.mark.parametrize("name", LEARNED)


def made(name, training, container=lambda X: X):
    """A model of a case, fitted on features in some container."""
    model, params, tolerance = ALL[name]
    target = training[3] if isinstance(model, LinearRegression) else training[1]
    model = clone(model).fit(container(training[0]), target)
    params = {"fair_metric": FIXED, "statistic": "ratio_of_means", "n_steps": 24, **params}
    if params.get("gradient") is GradientOf:
        params["gradient"] = GradientOf(model)
    return model, params, tolerance


def run(name, training, people, container=lambda X: X, **more):
    model, params, _ = made(name, training, container)
    X, y, sex, score = people
    y = score if isinstance(ALL[name][0], LinearRegression) else y
    test = IndividualFairnessTest(model, **{**params, **more})
    return test.fit(container(X), y, sensitive_features=sex)


@pytest.fixture
def people(request, people):
    """Everybody; of a solver that goes person by person, fewer."""
    callspec = getattr(request.node, "callspec", None)
    adaptive = callspec is not None and callspec.params.get("name") == "adaptive"
    return tuple(data[:30] for data in people) if adaptive else people


@pytest.fixture(scope="module")
def fitted():
    """Cases that were fitted before."""
    return {}


@pytest.fixture
def reference(training, people, fitted):
    """Each case, fitted when it is first asked for."""

    class Fitted:
        def __getitem__(self, name):
            if name not in fitted:
                fitted[name] = run(name, training, people)
            return fitted[name]

    return Fitted()


def rows_of(X):
    """A table's numbers."""
    if isinstance(X, dict):
        return np.column_stack(list(X.values()))
    return np.asarray(X.to_pandas() if hasattr(X, "to_pandas") else X, dtype=float)


def assert_same(one, two, rtol=0.0, *, people=slice(None)):
    """Compare what two tests say."""
    equal = np.testing.assert_array_equal if rtol == 0 else lambda a, b: np.testing.assert_allclose(a, b, rtol=rtol)
    for name in ("statistic_", "standard_error_", "lower_bound_", "p_value_", "confidence_interval_"):
        if rtol and name == "p_value_":
            assert getattr(one, name) == pytest.approx(getattr(two, name), rel=100 * rtol, abs=1e-12)
        else:
            equal(getattr(one, name), getattr(two, name))
    equal(one.loss_ratios_, two.loss_ratios_[people])
    np.testing.assert_allclose(
        rows_of(one.unfair_examples_), rows_of(two.unfair_examples_)[people], rtol=rtol, atol=10 * rtol
    )
    equal(one.path_.to_numpy(), two.path_.to_numpy())
    assert one.rejected_ == two.rejected_
    assert one.n_samples_ == two.n_samples_
    assert one.solver_report_["gradient"] == two.solver_report_["gradient"]


# The same people ----------------------------------------------------------------------------------------------------


@every_case
def test_fitting_again_gives_the_same_to_the_last_digit(name, training, people, reference):
    assert_same(run(name, training, people), reference[name])


@pytest.mark.parametrize("name", ["analytic", "search", "learned"])
def test_n_jobs_changes_no_digit(name, training, people, reference, monkeypatch):
    monkeypatch.setattr("skfairtest.individual._unfair.BLOCK", 16)
    one, two = (run(name, training, people, n_jobs=n_jobs) for n_jobs in (1, 2))
    assert_same(two, one)
    assert_same(one, reference[name], ALL[name][2])


def test_other_processes_have_the_settings_of_this_one(training, people, monkeypatch):
    monkeypatch.setattr("skfairtest.individual._unfair.BLOCK", 16)
    inner = GaussianNB().fit(*training[:2])

    class Settings:
        classes_ = np.array([0, 1])

        def predict_proba(self, X):
            if not get_config()["assume_finite"]:
                raise RuntimeError("asked in a process that does not know the settings")
            return inner.predict_proba(X)

    params = {"fair_metric": FIXED, "n_steps": 4, "statistic": "ratio_of_means"}
    with config_context(assume_finite=True):
        one, two = (IndividualFairnessTest(Settings(), n_jobs=n_jobs, **params).fit(*people[:2]) for n_jobs in (1, 2))
    assert_same(one, two)
    with pytest.raises(RuntimeError, match="does not know the settings"):
        IndividualFairnessTest(Settings(), n_jobs=2, **params).fit(*people[:2])


@every_case
def test_everybody_twice_is_as_unfair_and_surer_of_it(name, training, people, reference):
    twice = tuple(pd.concat([data, data]) for data in people)
    test, once, tolerance = run(name, training, twice), reference[name], ALL[name][2]
    assert test.statistic_ == pytest.approx(once.statistic_, rel=tolerance)
    assert test.standard_error_ == pytest.approx(once.standard_error_ / np.sqrt(2), rel=max(tolerance, 1e-12) * 100)
    np.testing.assert_allclose(test.loss_ratios_, np.tile(once.loss_ratios_, 2), rtol=tolerance)
    assert test.n_samples_ == 2 * once.n_samples_
    assert once.statistic_ > 1


@every_case
def test_the_order_of_rows_changes_nothing(name, training, people, reference):
    order = np.random.default_rng(0).permutation(len(people[0]))
    shuffled = tuple(data.iloc[order] for data in people)
    assert_same_in_another_order(run(name, training, shuffled), reference[name], order, ALL[name][2])


def assert_same_in_another_order(test, before, order, rtol):
    rtol = max(rtol, 1e-12)  # of sums
    np.testing.assert_allclose(test.loss_ratios_, before.loss_ratios_[order], rtol=rtol)
    np.testing.assert_allclose(test.path_.to_numpy(), before.path_.to_numpy(), rtol=100 * rtol)
    assert list(test.unfair_examples_.index) == list(before.unfair_examples_.index[order])
    assert list(test.to_frame()["person"]) == list(before.to_frame()["person"].iloc[order])


@pytest.mark.parametrize("name", [name for name in ALL if name not in ("perceptron", "search", "histograms")])
@pytest.mark.parametrize("named", [True, False])
def test_the_order_of_columns_changes_nothing(name, named, training, people, reference):
    """But for models that draw columns or weights by their places: they are others."""
    order = [2, 0, 1]
    turned = {"fair_metric": Mahalanobis(np.diag([0.9, 0.0, 0.5])) if name in CASES else ALL[name][1]["fair_metric"]}
    put = (lambda X: X.iloc[:, order]) if named else (lambda X: X.to_numpy()[:, order])
    test, before = run(name, training, people, put, **turned), reference[name]
    np.testing.assert_allclose(test.loss_ratios_, before.loss_ratios_, rtol=max(ALL[name][2], 1e-8))
    moved = rows_of(test.unfair_examples_)
    np.testing.assert_allclose(moved, before.unfair_examples_.to_numpy()[:, order], rtol=1e-6, atol=1e-7)
    if named:
        assert list(test.unfair_examples_.columns) == ["debts", "income", "savings"]


CONTAINERS = {
    "numpy": lambda X: X.to_numpy(),
    "fortran": lambda X: np.asfortranarray(X.to_numpy()),
    "list": lambda X: X.to_numpy().tolist(),
    "pandas": lambda X: X,
    "pandas without names": lambda X: pd.DataFrame(X.to_numpy(), index=X.index),
    "polars": lambda X: pl.DataFrame({name: X[name].to_numpy() for name in X}),
    "pyarrow": lambda X: pa.table({name: X[name].to_numpy() for name in X}),
    "dict": lambda X: {name: X[name].to_numpy() for name in X},
}


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("name", ["analytic", "differences", "search", "learned", "callable"])
def test_the_container_changes_nothing(name, container, training, people, reference):
    put = CONTAINERS[container]
    X = put(people[0])

    def of_training(X):  # what the model takes: a dict of columns is ours only
        return pd.DataFrame(put(X)) if container == "dict" else put(X)

    model, params, tolerance = made(name, training, of_training)
    X_before = pickle.dumps(X)
    test = IndividualFairnessTest(model, **params)
    test.fit(X, people[1].to_numpy(), sensitive_features=people[2].to_numpy())
    assert_same(test, reference[name], max(tolerance, 1e-12))
    assert type(test.unfair_examples_) is type(X)
    assert pickle.dumps(X) == X_before
    if container in ("pandas", "polars", "dict", "pyarrow"):
        moved = test.unfair_examples_
        names = {"pyarrow": "column_names", "polars": "columns"}.get(container)
        names = list(moved) if names is None else getattr(moved, names)
        assert list(names) == ["income", "savings", "debts"]
        assert list(test.feature_names_in_) == ["income", "savings", "debts"]
    else:
        assert not hasattr(test, "feature_names_in_")
    if container.startswith("pandas"):
        assert test.unfair_examples_.index.equals(X.index)
        assert test.unfair_examples_.index.name == X.index.name
    people_named = list(people[0].index) if container.startswith("pandas") else list(range(80))
    assert list(test.to_frame()["person"]) == people_named


@pytest.mark.parametrize("labels", [("no", "yes"), (False, True), (-1, 1), (0.0, 1.0), (3, 7)])
@pytest.mark.parametrize("name", ["analytic", "differences", "search", "learned", "error rates"])
def test_how_labels_are_written_changes_nothing(name, labels, training, people, reference):
    written = {0: labels[0], 1: labels[1]}
    X, y, sex, score = training
    there = (people[0], people[1].map(written), *people[2:])
    test = run(name, (X, y.map(written), sex, score), there)
    assert_same(test, reference[name], max(ALL[name][2], 1e-12))
    assert list(test.to_frame()["label"]) == list(there[1])


@learned_case
def test_names_of_groups_change_nothing(name, training, people, reference):
    X, y, sex, score = people
    for names in (("women", "men"), ("a", "b"), (0, 1), (True, False)):
        test = run(name, training, (X, y, sex.map({"f": names[0], "m": names[1]}), score))
        np.testing.assert_allclose(test.loss_ratios_, reference[name].loss_ratios_, rtol=1e-8)


@learned_case
def test_containers_of_groups_change_nothing(name, training, people, reference):
    model, params, tolerance = made(name, training)
    X, y, sex, score = people
    target = score if isinstance(model, LinearRegression) else y
    for groups in (
        sex.tolist(),
        sex.to_numpy(),
        sex.astype("category"),
        sex.to_frame(),
        {"sex": sex.tolist()},
        pl.Series("sex", sex.to_list()),
        pa.table({"sex": sex.tolist()}),
    ):
        test = IndividualFairnessTest(model, **params).fit(X, target, sensitive_features=groups)
        assert_same(test, reference[name], tolerance)


@every_way
@pytest.mark.filterwarnings("ignore:(nobody's loss moved|unfair examples lie):UserWarning")
def test_company_changes_nothing_about_a_person(name, training, people, reference):
    """Two people alone, and each of them among all the others."""
    for pair in ([0, 1], [20, 7], [29, 13]):
        two = tuple(data.iloc[pair] for data in people)
        with pytest.warns(UserWarning, match="X has 2 people"):
            test = run(name, training, two, statistic="loss_ratio")
        np.testing.assert_allclose(test.loss_ratios_, reference[name].loss_ratios_[pair], rtol=max(ALL[name][2], 1e-12))


@pytest.mark.filterwarnings("ignore:(X has 2 people|unfair examples lie):UserWarning")
@pytest.mark.parametrize("loss", ["squared_error", "absolute_error"])
def test_company_matters_by_the_units_that_are_taken_from_it_and_by_nothing_else(loss, training, people):
    """Errors of regressors are in standard deviations of y, and ``feature_scale="std"`` in those of X."""
    X, _, _, score = people
    model = LinearRegression().fit(training[0], training[3])
    params = {"fair_metric": FIXED, "n_steps": 24, "statistic": "ratio_of_means"}
    everybody = IndividualFairnessTest(model, loss=loss, feature_scale="std", **params).fit(X, score)
    unit, scale = everybody.solver_report_["loss_unit"], everybody.feature_scale_
    assert unit == pytest.approx(score.std(ddof=0), rel=1e-12)
    np.testing.assert_allclose(scale, X.std(ddof=0), rtol=1e-12)
    for pair in ([0, 1], [40, 7], [79, 13]):
        expected = everybody.loss_ratios_[pair]

        def ratios(loss, feature_scale, pair=pair):
            test = IndividualFairnessTest(model, loss=loss, feature_scale=feature_scale, **params)
            return test.fit(X.iloc[pair], score.iloc[pair]).loss_ratios_

        np.testing.assert_allclose(ratios((loss, unit), scale), expected, rtol=1e-9)
        for other in (ratios(loss, scale), ratios((loss, unit), "std")):
            assert np.abs(other / expected - 1).max() > 1e-3


def test_copies_do_not_learn_the_metric_of_their_person(training, people):
    test = run("learned", training, tuple(pd.concat([data, data]) for data in people))
    once = run("learned", training, people)
    assert len(test.fair_metrics_) == len(once.fair_metrics_) == 5
    for one, other in zip(test.fair_metrics_, once.fair_metrics_, strict=True):
        np.testing.assert_allclose(one.matrix_, other.matrix_, atol=1e-9)
    matrices = [metric.matrix_ for metric in once.fair_metrics_]
    assert all(not np.allclose(matrices[0], matrix, atol=1e-6) for matrix in matrices[1:])


def test_everybody_is_judged_by_a_metric_learned_on_others(people, reference):
    X, y, sex, _ = people
    test = reference["learned"]
    folds = content_folds(X.to_numpy(), y.to_numpy(dtype=float), 5)
    for fold, metric in enumerate(test.fair_metrics_):
        others = SensitiveSubspace().fit(X[folds != fold], sensitive_features=sex[folds != fold])
        np.testing.assert_allclose(metric.matrix_, others.matrix_, atol=1e-12)
        mine = folds == fold
        found = test.to_frame()["distance"].to_numpy()[mine]
        np.testing.assert_allclose(found, others.distance(X[mine], test.unfair_examples_[mine]), atol=1e-12)
    learned = SensitiveSubspace().fit(X, sensitive_features=sex)
    (together,) = reference["learned on all"].fair_metrics_
    np.testing.assert_allclose(together.matrix_, learned.matrix_, atol=1e-12)


def test_a_metric_that_is_fitted_is_used_as_it_is(training, people):
    X, y, sex, _ = training
    metric = SensitiveSubspace().fit(X, sensitive_features=sex)
    matrix = metric.matrix_.copy()
    model = LogisticRegression().fit(X, y)
    test = IndividualFairnessTest(model, fair_metric=metric, n_steps=20).fit(people[0], people[1])
    assert test.fair_metrics_[0] is metric
    np.testing.assert_array_equal(metric.matrix_, matrix)
    given = IndividualFairnessTest(model, fair_metric=Mahalanobis(matrix), n_steps=20).fit(people[0], people[1])
    np.testing.assert_allclose(test.loss_ratios_, given.loss_ratios_, rtol=1e-9)


def test_a_metric_in_the_units_of_X_is_the_same_whatever_the_units_of_the_audit(training, people):
    """A fitted metric knows the units of X; the audit's own only say how long steps are."""
    X, y, sex, _ = training
    scale = np.array([2.0, 3.0, 0.5])
    there = SensitiveSubspace().fit(X, sensitive_features=sex)
    model = LogisticRegression().fit(X, y)
    test = IndividualFairnessTest(
        model, fair_metric=there, feature_scale=scale, regularization=5.0, n_steps=20, step_size=0.005
    ).fit(people[0], people[1])
    frame = test.to_frame()
    np.testing.assert_allclose(frame["distance"], there.distance(people[0], test.unfair_examples_), atol=1e-12)
    moved = (test.unfair_examples_ - people[0]) / scale
    np.testing.assert_allclose(frame["displacement"], np.linalg.norm(moved, axis=1), rtol=1e-9)


# Manners ------------------------------------------------------------------------------------------------------------


@every_case
def test_fit_returns_the_test_and_leaves_its_parameters_the_model_and_the_data_alone(name, training, people):
    model, params, _ = made(name, training)
    before, state = [data.copy() for data in people], pickle.dumps(model)
    test = IndividualFairnessTest(model, **params)
    given = test.get_params()
    target = people[3] if isinstance(model, LinearRegression) else people[1]
    assert test.fit(people[0], target, sensitive_features=people[2]) is test
    assert all(test.get_params()[key] is value for key, value in given.items())
    assert pickle.dumps(model) == state
    pd.testing.assert_frame_equal(people[0], before[0])
    for data, copy in zip(people[1:], before[1:], strict=True):
        pd.testing.assert_series_equal(data, copy)
    if not isinstance(params["fair_metric"], str):
        assert not hasattr(params["fair_metric"], "matrix_")


@every_case
def test_a_pickled_test_says_the_same(name, training, people, reference):
    before = reference[name]
    after = pickle.loads(pickle.dumps(before))
    assert_same(after, before)
    assert str(after) == str(before)
    assert repr(after) == repr(before)
    pd.testing.assert_frame_equal(after.most_unfair(3), before.most_unfair(3))
    pd.testing.assert_frame_equal(after.to_frame(), before.to_frame())


def test_cloning_keeps_the_fitted_estimator_and_drops_the_fit(training, people, reference):
    test = reference["learned"]
    copy = clone(test)
    assert copy.estimator is test.estimator
    assert not hasattr(copy, "p_value_")
    assert copy.get_params() == test.get_params()
    copy.fit(people[0], people[1], sensitive_features=people[2])
    assert_same(copy, test)


def test_parameters_are_set_and_read_back(classifier):
    test = IndividualFairnessTest(classifier)
    assert test.get_params()["estimator"] is classifier
    assert test.get_params() == test.get_params(deep=False)
    assert test.get_params()["tolerance"] == 1.25
    test.set_params(n_steps=7, statistic="log_ratio")
    assert (test.n_steps, test.statistic) == (7, "log_ratio")
    with pytest.raises(ValueError, match="nonsense"):
        test.set_params(nonsense=1)
    with pytest.raises(ValueError, match="never fits its estimator"):
        test.set_params(estimator__C=2.0)


def test_creating_a_test_checks_nothing():
    assert IndividualFairnessTest(loss=3, n_steps="many").get_params()["n_steps"] == "many"


def test_an_unfitted_test_shows_its_parameters_and_nothing_else(people):
    test = IndividualFairnessTest(n_steps=7)
    assert repr(test) == str(test) == "IndividualFairnessTest(n_steps=7)"
    for method in (test.to_frame, test.most_unfair):
        with pytest.raises(NotFittedError):
            method()


@every_case
def test_a_fitted_test_prints_a_sentence_and_its_repr_stays_short(name, reference):
    test = reference[name]
    text = str(test)
    assert text.splitlines()[0].startswith(
        "Similar people are treated differently" if test.concern_ else "No violation of individual fairness"
    )
    assert test.solver_report_["because"] in text
    assert repr(test).startswith("IndividualFairnessTest(")
    assert test._repr_html_()


def documented_attributes(cls):
    """Names in the section "Attributes" of a numpydoc docstring."""
    _, _, after = inspect.getdoc(cls).partition("\nAttributes\n----------\n")
    section, _, _ = after.partition("\n\n")
    return [name for names in re.findall(r"^(\w.*?) : ", section, re.MULTILINE) for name in names.split(", ")]


def test_only_fitting_sets_attributes_and_their_names_end_in_an_underscore(classifier, people):
    test = IndividualFairnessTest(classifier, fair_metric=FIXED)
    before = set(vars(test))
    assert before == set(test.get_params())
    test.fit(people[0], people[1])
    public = {name for name in set(vars(test)) - before if not name.startswith("_")}
    public |= {
        name
        for name, value in inspect.getmembers(type(test))
        if isinstance(value, property) and not name.startswith("_")
    }
    documented = documented_attributes(type(test))
    assert public == set(documented)
    assert len(documented) == len(set(documented))
    assert all(hasattr(test, name) for name in documented)
    assert all(name.endswith("_") and not hasattr(clone(test), name) for name in documented)
    assert type(test.p_value_) is type(test.statistic_) is type(test.lower_bound_) is float
    assert type(test.rejected_) is type(test.concern_) is bool


def test_a_second_fit_leaves_nothing_of_the_first(training, people):
    model = HistGradientBoostingClassifier(max_iter=5).fit(training[0].to_numpy(), training[1])
    X, y, sex, _ = people
    holes = X.to_numpy().copy()
    holes[2, 1] = np.nan
    test = IndividualFairnessTest(model, n_steps=10)
    with pytest.warns(UserWarning, match="missing"):
        test.fit(holes, y.to_numpy(), sensitive_features=sex.to_numpy())
    test.set_params(estimator=LogisticRegression().fit(*training[:2]), fair_metric=FIXED, statistic="log_ratio")
    test.fit(X, y)
    assert hasattr(test, "feature_names_in_")
    unnamed = LogisticRegression().fit(training[0].to_numpy()[:, :2], training[1])
    test.set_params(estimator=unnamed, fair_metric=Projection([[1, 0]])).fit(X.to_numpy()[:, :2], y)
    fresh = IndividualFairnessTest(unnamed, fair_metric=Projection([[1, 0]]), n_steps=10, statistic="log_ratio")
    fresh.fit(X.to_numpy()[:, :2], y)
    assert_same(test, fresh)
    assert set(vars(test)) == set(vars(fresh))
    assert str(test) == str(fresh)
    assert len(test.excluded_) == 0
    assert test.n_features_in_ == 2


def test_a_fit_that_fails_leaves_the_first(classifier, people):
    test = IndividualFairnessTest(classifier, fair_metric=FIXED).fit(people[0], people[1])
    before = pickle.dumps(test)
    with pytest.raises(ValueError, match="lengths"):
        test.fit(people[0], people[1][:10].to_numpy())
    assert pickle.dumps(test) == before


def test_the_groups_are_requested_without_ceremony(classifier, people):
    assert IndividualFairnessTest().get_metadata_routing().fit.requests == {"sensitive_features": True}


@pytest.mark.parametrize("routing", [False, True])
def test_the_last_step_of_a_pipeline(routing, training, people):
    """Of a pipeline that encodes, what stands behind the encoder is tested, on what comes out of it."""
    scaler = StandardScaler().fit(training[0])
    model = LogisticRegression().fit(scaler.transform(training[0]), training[1])
    X, y, sex, _ = people
    pipeline = make_pipeline(scaler, IndividualFairnessTest(model, n_steps=10))
    with config_context(enable_metadata_routing=routing):
        name = "sensitive_features" if routing else "individualfairnesstest__sensitive_features"
        pipeline.fit(X, y, **{name: sex})
    alone = IndividualFairnessTest(model, n_steps=10)
    alone.fit(StandardScaler().fit_transform(X), y, sensitive_features=sex.to_numpy())
    assert_same(pipeline[-1], alone, 1e-9)


def test_frames_can_be_written_to_any_file(reference, tmp_path):
    test = reference["learned"]
    for frame in (test.to_frame(), test.most_unfair(), test.path_, test.excluded_):
        frame.to_parquet(tmp_path / "frame.parquet")
        pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "frame.parquet"), frame)
