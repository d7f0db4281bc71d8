"""By default unfair examples are people: possible ones, in units and encodings that do not matter."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skfairtest import IndividualFairnessTest, Projection
from skfairtest.individual import people as people_
from skfairtest.individual.features import read_features
from skfairtest.individual.people import ranges_of, scale_of


def draw(n, seed):
    """People whose job and income tell women from men."""
    rng = np.random.default_rng(seed)
    sex = rng.integers(0, 2, n)
    job = np.where(rng.random(n) < 0.15, 2, np.where(rng.random(n) < 0.3 + 0.4 * sex, 1, 0))
    X = pd.DataFrame(np.eye(3)[job], columns=["cook", "smith", "clerk"])
    X["income"] = rng.normal(size=n) + sex
    X["children"] = rng.integers(0, 4, n).astype(float)
    X["owns"] = (rng.random(n) < 0.3 + 0.2 * sex).astype(float)
    score = X["income"] + 1.5 * X["smith"] + X["owns"] + 0.2 * X["children"] + 2 * rng.normal(size=n)
    return X, (score > 1.5).astype(int), sex


@pytest.fixture(scope="module")
def training():
    return draw(1000, 0)


@pytest.fixture(scope="module")
def people():
    return draw(400, 1)


@pytest.fixture(scope="module")
def fit(training, people):
    """Test a model of these columns, changed alike for both."""

    def run(change=lambda X: X, **params):
        X, y, _ = training
        model = make_pipeline(StandardScaler(), LogisticRegression(C=1e6)).fit(change(X), y)
        X, y, sex = people
        return IndividualFairnessTest(model, **params).fit(change(X), y, sensitive_features=sex)

    return run


def test_what_is_observed(people):
    features = read_features(people[0])
    ranges = ranges_of("observed", features)
    assert ranges.blocks == ((0, 1, 2),)
    assert {column: values.tolist() for column, values in ranges.levels.items()} == {4: [0, 1, 2, 3], 5: [0, 1]}
    income = people[0]["income"]
    assert (ranges.low[3], ranges.high[3]) == (income.min(), income.max())
    scale = scale_of("std", features, ranges)
    np.testing.assert_allclose(scale[:3] ** 2, people[0].iloc[:, :3].mean())
    np.testing.assert_allclose(scale[3:], people[0].iloc[:, 3:].std(ddof=0))


def test_named_features_are_as_said_and_the_others_as_observed(people):
    features = read_features(people[0])
    ranges = ranges_of({"income": (-9, 9), "owns": "free", "smith": "frozen"}, features)
    assert ranges.blocks == ()
    assert set(ranges.levels) == {0, 2, 4}
    assert (ranges.low[3], ranges.high[3]) == (-9, 9)
    assert np.isinf(ranges.low[5])
    assert ranges.frozen.tolist() == [False, True, False, False, False, False]


def test_every_unfair_example_is_a_possible_person(fit, people):
    test = fit()
    moved, X = test.unfair_examples_, people[0]
    assert test.statistic_ > 1.2
    assert set(moved["children"]) <= {0, 1, 2, 3}
    assert set(moved["owns"]) <= {0, 1}
    assert set(moved[["cook", "smith", "clerk"]].to_numpy().ravel()) == {0, 1}
    assert (moved[["cook", "smith", "clerk"]].sum(axis=1) == 1).all()
    assert moved["income"].between(X["income"].min(), X["income"].max()).all()
    assert (moved != X).any(axis=None)
    assert test.solver_report_["n_people_outside"] == 0
    # Those who are moved are asked about as they are shown.
    p = test.estimator.predict_proba(moved)[np.arange(400), people[1]]
    np.testing.assert_allclose(test.to_frame()["loss_after"], -np.log(p), rtol=1e-9)
    jobs = (moved[["cook", "smith", "clerk"]] != X[["cook", "smith", "clerk"]]).any(axis=1)
    assert 0 < jobs.mean() < 1
    changed = test.most_unfair(20)
    assert set(changed.loc[changed["feature"] == "smith", "change"]) <= {-1.0, 1.0}


def test_units_do_not_matter(fit):
    factors, shift = np.array([1, 1, 1, -250.0, 12.0, 7.0]), np.array([0, 0, 0, 3.0, -40.0, 5.0])
    here, there = fit(), fit(lambda X: X * factors + shift)
    assert there.statistic_ == pytest.approx(here.statistic_, rel=1e-5)  # the models are fitted with a tolerance
    np.testing.assert_allclose(there.unfair_examples_ / factors, here.unfair_examples_ + shift / factors, atol=1e-4)


def test_few_implicit_steps_do_what_many_of_euler_do(fit):
    few, many = fit(), fit(solver="euler")
    assert few.solver_report_["n_steps"] == 25
    assert many.solver_report_["n_steps"] == 500
    assert few.statistic_ == pytest.approx(many.statistic_, rel=0.05)


def test_as_published_is_the_setting_of_the_paper(training):
    test = IndividualFairnessTest.as_published("model", steps=(200, 0.01))
    settings = {"solver": "euler", "steps": (200, 0.01), "feature_ranges": "free", "feature_scale": None}
    assert settings.items() <= test.get_params(deep=False).items()
    assert test.regularization == 50
    assert test.statistic == "loss_ratio"


@pytest.mark.filterwarnings("ignore:unfair examples lie outside")
@pytest.mark.parametrize("tolerance", [1.25, 100.0])
def test_a_verdict_that_rests_on_nobody_says_so_first(tolerance, training, people):
    """Beyond the incomes of everybody the model says something else altogether."""

    class Cliff:
        classes_ = (0, 1)

        def predict_proba(self, X):
            income = np.asarray(X)[:, 0]
            p = 1 / (1 + np.exp(-0.3 * income - 3.0 * np.maximum(income - 4.2, 0)))
            return np.column_stack([1 - p, p])

    income = people[0][["income"]].clip(upper=4.2).assign(other=np.linspace(-1, 1, 400))
    test = IndividualFairnessTest(
        Cliff(), tolerance=tolerance, feature_ranges="free", fair_metric=Projection([[1.0, 0.0]]),
        statistic="ratio_of_means",
        steps=(25, 1.0),
    )  # fmt: skip
    test.fit(income, np.zeros(400, dtype=int))
    report = test.solver_report_
    assert report["n_people_outside"] > 100
    assert test.concern_ == (tolerance < 2)
    beyond = f"({report['n_people_outside']} of 400 unfair examples lie beyond the range of the people tested)"
    assert beyond in str(test).splitlines()[0]


def test_unfair_examples_get_no_more_unusual_than_people_are(monkeypatch):
    """With real people on a thin ring, the middle is unusual: who would end there stops before it."""
    rng = np.random.default_rng(3)
    angle = rng.uniform(0, 2 * np.pi, 600)
    X = np.column_stack([np.cos(angle), np.sin(angle)]) + 0.02 * rng.normal(size=(600, 2))
    y = (X[:, 0] + 0.3 * rng.normal(size=600) > 0).astype(int)
    model = LogisticRegression().fit(X[:200], y[:200])
    tests = []
    for least in (-1.0, 0.05):
        monkeypatch.setattr(people_, "UNUSUAL", least)
        tests += [IndividualFairnessTest(model, fair_metric=Projection([[1, 0]])).fit(X[200:], y[200:])]
    start = IndividualFairnessTest(model, fair_metric=Projection([[1, 0]]), steps=(1, 1e-9))
    own = start.fit(X[200:], y[200:]).to_frame()["plausibility"]
    free, held = tests
    ends, plausible = (test.to_frame()["plausibility"] for test in tests)
    assert free.solver_report_["n_held_back"] == 0
    assert (ends <= 0.05).mean() > 0.5
    assert ((plausible > 0.05) | (plausible >= own - 0.01)).all()
    assert held.solver_report_["n_held_back"] > 100
    assert held.statistic_ < free.statistic_
