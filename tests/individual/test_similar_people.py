"""The folds of people and the fair metrics that are learned from them: what must not matter, and what is refused."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import config_context
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skfairtest import IndividualFairnessTest, Mahalanobis, Projection, SensitiveSubspace
from skfairtest.individual.people import people_of, ranks
from skfairtest.individual.statistics import AuditValue, widened

FIXED = Mahalanobis(np.diag([0.0, 0.5, 0.9]))
LEARNED = {"statistic": "ratio_of_means", "steps": (40, 0.01)}


@pytest.fixture(scope="module")
def learned(classifier, people):
    """A test with a metric that is learned from these people."""
    X, y, sex, _ = people
    return IndividualFairnessTest.as_published(classifier, **LEARNED).fit(X, y, sensitive_features=sex)


def assert_same(one, two, rtol=0.0):
    """Compare what two tests say of everybody."""
    for name in ("statistic_", "standard_error_", "lower_bound_", "loss_ratios_"):
        np.testing.assert_allclose(getattr(one, name), getattr(two, name), rtol=rtol)
    assert one.p_value_ == pytest.approx(two.p_value_, rel=100 * rtol, abs=1e-12 if rtol else 0)
    moved = [np.asarray(test.unfair_examples_) for test in (one, two)]
    np.testing.assert_allclose(*moved, rtol=rtol, atol=10 * rtol)
    np.testing.assert_allclose(one.path_.to_numpy(), two.path_.to_numpy(), rtol=rtol)
    assert (one.rejected_, one.n_samples_) == (two.rejected_, two.n_samples_)


@pytest.mark.parametrize(
    ("model", "params"),
    [
        (LogisticRegression(), {"fair_metric": FIXED, "steps": (24, 0.01)}),
        (RandomForestClassifier(8, max_depth=3, random_state=0), {"fair_metric": FIXED, "steps": (24, 0.01)}),
        pytest.param(LogisticRegression(), {"steps": (40, 0.01)}, marks=pytest.mark.slow),
    ],
    ids=["differences", "search", "learned"],
)
def test_blocks_change_nothing(model, params, training, people, monkeypatch):
    X, y, sex, _ = people
    model.fit(*training[:2])
    whole = IndividualFairnessTest.as_published(model, **params).fit(X, y, sensitive_features=sex)
    monkeypatch.setattr("skfairtest.individual.unfair.BLOCK", 16)
    blocks = IndividualFairnessTest.as_published(model, **params).fit(X, y, sensitive_features=sex)
    assert_same(blocks, whole, 1e-8)


def test_everybody_is_judged_by_a_metric_learned_on_others(classifier, people, learned):
    X, y, sex, _ = people
    test = learned
    tested = people_of(X, y, None, numbers=False)
    folds = tested.folds(5)[np.argsort(tested.order)]
    for fold, metric in enumerate(test.fair_metrics_):
        others = SensitiveSubspace().fit(X[folds != fold], sensitive_features=sex[folds != fold])
        np.testing.assert_allclose(metric.matrix_, others.matrix_, atol=1e-12)
        mine = folds == fold
        found = test.to_frame()["distance"].to_numpy()[mine]
        moves = others.transform(X[mine]) - others.transform(test.unfair_examples_[mine])
        np.testing.assert_allclose(found, np.linalg.norm(moves, axis=1), atol=1e-12)


def test_a_metric_that_is_fitted_is_used_as_it_is(training, people):
    X, y, sex, _ = training
    metric = SensitiveSubspace().fit(X, sensitive_features=sex)
    matrix = metric.matrix_.copy()
    model = LogisticRegression().fit(X, y)
    test = IndividualFairnessTest.as_published(model, fair_metric=metric, steps=(20, 0.01)).fit(people[0], people[1])
    assert test.fair_metrics_[0] is metric
    np.testing.assert_array_equal(metric.matrix_, matrix)
    given = IndividualFairnessTest.as_published(model, fair_metric=Mahalanobis(matrix), steps=(20, 0.01)).fit(
        people[0], people[1]
    )
    np.testing.assert_allclose(test.loss_ratios_, given.loss_ratios_, rtol=1e-9)


def test_a_metric_in_the_units_of_X_is_the_same_whatever_the_units_of_the_audit(training, people):
    """A fitted metric knows the units of X; the audit's own only say how long steps are."""
    X, y, sex, _ = training
    scale = np.array([2.0, 3.0, 0.5])
    there = SensitiveSubspace().fit(X, sensitive_features=sex)
    model = LogisticRegression().fit(X, y)
    test = IndividualFairnessTest.as_published(
        model, fair_metric=there, feature_scale=scale, regularization=5.0, steps=(20, 0.005)
    ).fit(people[0], people[1])
    frame = test.to_frame()
    distance = np.linalg.norm(there.transform(people[0]) - there.transform(test.unfair_examples_), axis=1)
    np.testing.assert_allclose(frame["distance"], distance, atol=1e-12)
    moved = (test.unfair_examples_ - people[0]) / scale
    np.testing.assert_allclose(frame["displacement"], np.linalg.norm(moved, axis=1), rtol=1e-9)


@pytest.mark.parametrize("routing", [False, True])
def test_the_last_step_of_a_pipeline(routing, training, people):
    """Of a pipeline that encodes, what stands behind the encoder is tested, on what comes out of it."""
    scaler = StandardScaler().fit(training[0])
    model = LogisticRegression().fit(scaler.transform(training[0]), training[1])
    X, y, sex, _ = people
    pipeline = make_pipeline(scaler, IndividualFairnessTest.as_published(model, steps=(10, 0.01)))
    with config_context(enable_metadata_routing=routing):
        name = "sensitive_features" if routing else "individualfairnesstest__sensitive_features"
        pipeline.fit(X, y, **{name: sex})
    alone = IndividualFairnessTest.as_published(model, steps=(10, 0.01))
    alone.fit(StandardScaler().fit_transform(X), y, sensitive_features=sex.to_numpy())
    assert_same(pipeline[-1], alone, 1e-9)


@pytest.mark.parametrize(
    ("model", "scale"), [(LogisticRegression(), "std"), (HistGradientBoostingClassifier(max_iter=8), None)]
)
def test_another_order_of_rows_changes_no_digit(model, scale, training, people):
    model.fit(*training[:2])
    test = IndividualFairnessTest(model, feature_scale=scale)
    X, y, sex, _ = people
    X = X.assign(savings=X["savings"].round(1))
    found = test.fit(X, y, sensitive_features=sex)
    said = {key: getattr(found, key) for key in ("statistic_", "confidence_interval_", "p_value_", "solver_report_")}
    frame, moved = found.to_frame().set_index("person"), found.unfair_examples_
    for seed in range(2):
        order = np.random.default_rng(seed).permutation(len(X))
        again = test.fit(X.iloc[order], y.iloc[order], sensitive_features=sex.iloc[order])
        assert {key: getattr(again, key) for key in said} == said
        pd.testing.assert_frame_equal(again.to_frame().set_index("person"), frame.iloc[order], check_exact=True)
        pd.testing.assert_frame_equal(again.unfair_examples_, moved.iloc[order], check_exact=True)


def test_an_interval_is_continuous_in_the_variance_of_learning():
    found = AuditValue(2.0, 0.1, 1.84, (1.8, 2.2), 1e-14)
    for variance, tolerance in ((0.0, 0.0), (1e-31, 1e-15), (1e-12, 1e-10)):
        assert widened(found, variance, 9, 0.95).interval == pytest.approx(found.interval, rel=tolerance)
    limits = [widened(found, variance, 9, 0.95).interval for variance in (0.0, 1e-6, 1e-4, 1e-2)]
    assert (np.diff(limits, axis=0) * [-1, 1] > 0).all()
    assert widened(AuditValue(2.0, 1.1, 0.2, (0.0, 4.2), 0.2), 0.01, 9, 0.95).interval[0] == 0


@pytest.mark.filterwarnings("ignore:.*depends on few people:UserWarning")
def test_an_interval_knows_that_units_were_estimated(logistic):
    """The same column is the direction of every group: what varies is its standard deviation."""
    rng = np.random.default_rng(0)
    sex = rng.integers(0, 2, 500)
    X = rng.normal(size=(500, 3)) + np.outer(sex, [2.0, 0.0, 0.0])
    y = (rng.random(500) < 1 / (1 + np.exp(-X.sum(axis=1)))).astype(int)
    params = {"statistic": "loss_ratio", "feature_ranges": "free"}
    widths = {}
    for scale in ("std", X.std(axis=0)):
        test = IndividualFairnessTest(logistic([1.0, 1.0, 1.0]), feature_scale=scale, **params)
        test.fit(X, y, sensitive_features={"sex": sex})
        assert all((metric.directions_ == np.eye(3)[:1]).all() for metric in test.fair_metrics_)
        sd = test.solver_report_["sd_of_learning"]
        widths[isinstance(scale, str)] = sd, np.log(test.confidence_interval_[1] / test.statistic_)
    assert widths[False][0] < 1e-8
    assert widths[True][0] > 0.02
    assert widths[True][1] > 2 * widths[True][0]


def draw(seed, n=60, d=3, levels=None):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(n, d)) if levels is None else rng.integers(0, levels, (n, d)).astype(float)
    return values, rng.integers(0, 2, n).astype(float), rng


def content_folds(values, truth, n_folds):
    people = people_of(values, truth, None, numbers=True)
    return people.folds(n_folds)[np.argsort(people.order)]


@given(
    seed=st.integers(0, 2**20),
    n=st.integers(20, 60),
    d=st.integers(1, 5),
    levels=st.sampled_from([None, 2, 3, 10]),
)
def test_the_order_of_rows_and_columns_and_copies_of_everybody_change_nothing(seed, n, d, levels):
    values, truth, rng = draw(seed, n, d, levels)
    expected = ranks(values, truth)
    rows, columns = rng.permutation(n), rng.permutation(d)
    np.testing.assert_array_equal(ranks(values[rows], truth[rows]), expected[rows])
    np.testing.assert_array_equal(ranks(values[:, columns], truth), expected)
    twice = ranks(np.repeat(values, 2, axis=0), np.repeat(truth, 2))
    np.testing.assert_array_equal(twice, np.repeat(expected, 2))
    np.testing.assert_array_equal(ranks(np.tile(values, (2, 1)), np.tile(truth, 2)), np.tile(expected, 2))


def test_indicators_with_the_same_counts_may_change_places():
    rng = np.random.default_rng(0)
    sex = rng.permutation(np.repeat([0.0, 1.0], 30))
    values = np.column_stack([sex, 1 - sex, rng.normal(size=60)])
    truth = rng.integers(0, 2, 60)
    for order in ([1, 0, 2], [2, 0, 1], [2, 1, 0]):
        np.testing.assert_array_equal(content_folds(values[:, order], truth, 5), content_folds(values, truth, 5))


def test_zero_has_no_sign():
    values = np.array([[0.0], [1.0], [-0.0], [2.0]])
    places = ranks(values, np.zeros(4))
    assert places[0] == places[2]


def test_people_who_are_the_same_share_a_fold_and_people_who_are_not_need_not():
    values, truth, _ = draw(1, n=50)
    folds = content_folds(np.concatenate([values, values]), np.concatenate([truth, truth]), 5)
    np.testing.assert_array_equal(folds[:50], folds[50:])
    assert sorted(np.unique(folds)) == [0, 1, 2, 3, 4]
    assert content_folds(np.zeros((10, 1)), np.arange(10) % 2, 2).tolist() == [0, 1] * 5


def test_folds_are_equally_large():
    values, truth, _ = draw(2, n=103)
    assert np.bincount(content_folds(values, truth, 5)).tolist() == [21, 21, 21, 20, 20]


def test_other_units_change_nothing():
    values, truth, _ = draw(3)
    other = values * [4.0, 0.001, 1e6] + [0.0, 1.0, -5.0]
    np.testing.assert_array_equal(content_folds(other, 100 * truth, 5), content_folds(values, truth, 5))


def test_there_are_no_more_folds_than_different_people():
    values, truth = np.repeat([[0.0], [1.0], [2.0]], 10, axis=0), np.zeros(30)
    assert np.bincount(content_folds(values, truth, 5)).tolist() == [10, 10, 10]
    with pytest.raises(ValueError, match=r"X and y are the same for all 30 people.*fitted on other people"):
        content_folds(np.ones((30, 2)), truth, 5)


def test_sensitive_features_that_a_metric_has_to_learn_from(classifier, people):
    for metric in ("sensitive_subspace", SensitiveSubspace(), make_pipeline(StandardScaler(), SensitiveSubspace())):
        with pytest.raises(ValueError, match=r"^sensitive_features is missing") as error:
            IndividualFairnessTest.as_published(classifier, fair_metric=metric).fit(people[0], people[1])
        assert "fit(X, sensitive_features=df['sex'])" in str(error.value)


def test_a_pipeline_is_a_fair_metric_that_can_be_learned(classifier, people):
    metric = make_pipeline(StandardScaler(), SensitiveSubspace())
    test = IndividualFairnessTest.as_published(classifier, fair_metric=metric, steps=(20, 0.002))
    test.fit(people[0], people[1], sensitive_features=people[2])
    assert test.solver_report_["n_folds"] == 5


def test_a_metric_that_lets_everything_differ_says_so_once(classifier, people):
    test = IndividualFairnessTest.as_published(classifier, fair_metric=Projection(np.eye(3)), steps=(2, 0.01))
    with pytest.warns(UserWarning, match="lets people differ in every direction") as caught:
        test.fit(people[0], people[1])
    assert [warning.filename for warning in caught] == [__file__]


def test_a_matrix_and_a_distance_are_fair_metrics(classifier, people):
    X, y, _, _ = people
    matrix = np.diag([0.0, 0.5, 0.9])

    def distance(x, other):
        return np.sqrt((np.square(np.asarray(x) - np.asarray(other)) @ matrix).sum(axis=1))

    given = [
        IndividualFairnessTest.as_published(classifier, fair_metric=metric, steps=(10, 0.01)).fit(X, y).loss_ratios_
        for metric in (FIXED, matrix, matrix.tolist(), distance)
    ]
    for ratios in given[1:]:
        np.testing.assert_allclose(ratios, given[0], rtol=1e-9)
    for wrong in (lambda x, other: np.abs(x - other).sum(axis=1), lambda x, other: 1.0):
        with pytest.raises(ValueError, match="fair_metric is a function that is not a distance of the form"):
            IndividualFairnessTest(classifier, fair_metric=wrong).fit(X, y)
