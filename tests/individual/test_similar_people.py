"""What only tests of individual fairness promise: settings of other processes, units, and metrics that are learned."""

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skfairtest import IndividualFairnessTest, Mahalanobis, Projection, SensitiveSubspace
from skfairtest.individual.flow import Quadratic, Ranges
from skfairtest.individual.people import people_of
from skfairtest.individual.statistics import AuditValue, widened
from skfairtest.individual.unfair import Flow, move

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


@pytest.mark.filterwarnings("ignore:(X has 2 people|unfair examples lie):UserWarning")
@pytest.mark.parametrize("loss", ["squared_error", "absolute_error"])
def test_company_matters_by_the_units_that_are_taken_from_it_and_by_nothing_else(loss, training, people):
    """Errors of regressors are in standard deviations of y, and ``feature_scale="std"`` in those of X."""
    X, _, _, score = people
    model = LinearRegression().fit(training[0], training[3])
    params = {"fair_metric": FIXED, "steps": (24, 0.01), "statistic": "ratio_of_means"}
    everybody = IndividualFairnessTest.as_published(model, loss=loss, feature_scale="std", **params).fit(X, score)
    unit, scale = everybody.solver_report_["loss_unit"], everybody.feature_scale_
    assert unit == pytest.approx(score.std(ddof=0), rel=1e-12)
    np.testing.assert_allclose(scale, X.std(ddof=0), rtol=1e-12)
    power = 2 if loss == "squared_error" else 1

    def in_units(y_true, y_pred):
        return np.abs((y_true - y_pred) / unit) ** power

    for pair in ([0, 1], [40, 7], [79, 13]):
        expected = everybody.loss_ratios_[pair]

        def ratios(loss, feature_scale, pair=pair):
            test = IndividualFairnessTest.as_published(model, loss=loss, feature_scale=feature_scale, **params)
            return test.fit(X.iloc[pair], score.iloc[pair]).loss_ratios_

        np.testing.assert_allclose(ratios(in_units, scale), expected, rtol=1e-9)
        for other in (ratios(loss, scale), ratios(in_units, "std")):
            assert np.abs(other / expected - 1).max() > 1e-3


def test_copies_do_not_learn_the_metric_of_their_person(classifier, people, learned):
    X, y, sex, _ = (pd.concat([data, data]) for data in people)
    test, once = IndividualFairnessTest.as_published(classifier, **LEARNED).fit(X, y, sensitive_features=sex), learned
    assert len(test.fair_metrics_) == len(once.fair_metrics_) == 5
    for one, other in zip(test.fair_metrics_, once.fair_metrics_, strict=True):
        np.testing.assert_allclose(one.matrix_, other.matrix_, atol=1e-9)
    matrices = [metric.matrix_ for metric in once.fair_metrics_]
    assert all(not np.allclose(matrices[0], matrix, atol=1e-6) for matrix in matrices[1:])


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


def test_a_second_fit_leaves_nothing_of_the_first(training, people):
    model = HistGradientBoostingClassifier(max_iter=5).fit(training[0].to_numpy(), training[1])
    X, y, sex, _ = people
    holes = X.to_numpy().copy()
    holes[2, 1] = np.nan
    test = IndividualFairnessTest.as_published(model, steps=(10, 0.01))
    with pytest.warns(UserWarning, match="missing"):
        test.fit(holes, y.to_numpy(), sensitive_features=sex.to_numpy())
    test.set_params(estimator=LogisticRegression().fit(*training[:2]), fair_metric=FIXED, statistic="ratio_of_means")
    test.fit(X, y)
    assert hasattr(test, "feature_names_in_")
    unnamed = LogisticRegression().fit(training[0].to_numpy()[:, :2], training[1])
    test.set_params(estimator=unnamed, fair_metric=Projection([[1, 0]])).fit(X.to_numpy()[:, :2], y)
    fresh = IndividualFairnessTest.as_published(
        unnamed, fair_metric=Projection([[1, 0]]), steps=(10, 0.01), statistic="ratio_of_means"
    )
    fresh.fit(X.to_numpy()[:, :2], y)
    assert_same(test, fresh)
    assert set(vars(test)) == set(vars(fresh))
    assert str(test) == str(fresh)
    assert len(test.excluded_) == 0
    assert test.n_features_in_ == 2


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


def test_frames_can_be_written_to_any_file(learned, tmp_path):
    for frame in (learned.most_unfair(), learned.path_, learned.excluded_):
        frame.to_parquet(tmp_path / "frame.parquet")
        pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "frame.parquet"), frame)


ORDERED = {
    "logistic": LogisticRegression(),
    "boosting": HistGradientBoostingClassifier(max_iter=8),
    "pipeline": make_pipeline(StandardScaler(), LogisticRegression()),
}


@pytest.mark.parametrize("scale", ["std", None])
@pytest.mark.parametrize("statistic", ["loss_ratio", "ratio_of_means"])
@pytest.mark.parametrize("name", ORDERED)
def test_another_order_of_rows_changes_no_digit(name, statistic, scale, training, people):
    model = ORDERED[name].fit(*training[:2])
    test = IndividualFairnessTest(model, statistic=statistic, feature_scale=scale)
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


@pytest.mark.parametrize("matrix", [np.diag([0.0, 1.0, 1.0]), np.diag([0.5, 1.0, 2.0])])
@pytest.mark.parametrize(
    ("solver", "gradient"),
    [("implicit", "auto"), ("euler", "auto"), ("implicit", "search")],
    ids=["implicit", "euler", "search"],
)
def test_people_are_moved_by_a_metric_in_other_units_as_in_those_units(solver, gradient, matrix, classifier, people):
    """The jackknife of a learned metric moves people by the units of each group, all at once."""
    X, y, _, _ = people
    units, everybody = np.array([2.0, 0.5, 3.0]), np.zeros(len(X), dtype=int)
    free = Ranges(np.full(3, -np.inf), np.full(3, np.inf), np.zeros(3, dtype=bool))
    steps = np.full(20, 0.01)
    n = 64 if gradient == "search" else 20
    flow = Flow("search" if gradient == "search" else solver, steps, 5.0, free, np.array([n]))
    ends = []
    for scale, form in ((units, Quadratic(matrix)), (None, Quadratic(matrix, units))):
        test = IndividualFairnessTest(classifier, fair_metric=FIXED, gradient=gradient, feature_scale=scale).fit(X, y)
        values, truth = X.to_numpy(), test._truth
        moved = move(test._model, [form], everybody, flow, values, values, truth, errors=False)
        ends.append(moved.x)
        assert np.abs(ends[-1] - values).max() > 0.05
    np.testing.assert_allclose(*ends, rtol=0, atol=1e-6)


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
