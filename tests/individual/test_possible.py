"""By default unfair examples are people: possible ones, in units and encodings that do not matter."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skfairtest import IndividualFairnessTest, Projection
from skfairtest.individual.people import ranges_of, scale_of
from skfairtest.individual.features import read_features


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


def test_a_yes_or_no_in_two_columns_is_the_same(fit):
    one, two = (
        fit(cross_fit=False),
        fit(lambda X: X.assign(rents=1 - X["owns"]), cross_fit=False),
    )  # folds are of columns
    assert two.statistic_ == pytest.approx(one.statistic_, rel=1e-4)
    np.testing.assert_array_equal(two.unfair_examples_["owns"], one.unfair_examples_["owns"])


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
        steps=(500, 1.0),
    )  # fmt: skip
    test.fit(income, np.zeros(400, dtype=int))
    report = test.solver_report_
    assert report["n_people_outside"] > 100
    assert test.concern_ == (tolerance < 2)
    inside = test.unfair_examples_.clip(income.min(), income.max(), axis=1)
    before, after = (-np.log(Cliff().predict_proba(x)[:, 0]) for x in (income, inside))
    assert after.mean() / before.mean() < 100
    said = "where the model is asked about what nobody is" in str(test).splitlines()[0]
    assert said == (report["rejected_inside"] != test.concern_)


def test_unfair_examples_get_no_more_unusual_than_people_are():
    """With real people on a thin ring, the middle is unusual: who would end there stops before it."""
    rng = np.random.default_rng(3)
    angle = rng.uniform(0, 2 * np.pi, 600)
    X = np.column_stack([np.cos(angle), np.sin(angle)]) + 0.02 * rng.normal(size=(600, 2))
    y = (X[:, 0] + 0.3 * rng.normal(size=600) > 0).astype(int)
    model = LogisticRegression().fit(X[:200], y[:200])
    tests = {
        least: IndividualFairnessTest(model, fair_metric=Projection([[1, 0]]), min_plausibility=least).fit(
            X[200:], y[200:]
        )
        for least in (0.0, 0.05)
    }
    free, held = (tests[least].to_frame()["plausibility"] for least in tests)
    start = IndividualFairnessTest(model, fair_metric=Projection([[1, 0]]), steps=(1, 1)e-9)
    own = start.fit(X[200:], y[200:]).to_frame()["plausibility"]
    assert (free <= 0.05).mean() > 0.5
    assert ((held > 0.05) | (held >= own - 0.01)).all()
    assert tests[0.0].solver_report_["n_held_back"] == 0
    assert tests[0.05].solver_report_["n_held_back"] > 100
    assert tests[0.05].statistic_ < tests[0.0].statistic_
    assert "held back from more" in str(tests[0.05])


def test_nobody_is_held_back_where_nobody_has_to_be_possible(fit):
    free = [fit(feature_ranges="free", min_plausibility=least) for least in (0.0, 0.5)]
    np.testing.assert_array_equal(*(test.loss_ratios_ for test in free))


def loans(n, seed):
    rng = np.random.default_rng(seed)
    sex = rng.integers(0, 2, n)
    X = pd.DataFrame({"price": np.exp(rng.normal(5, 0.4, n) + 0.4 * sex), "age": rng.normal(40, 10, n)})
    X["loan"] = X["price"] * rng.uniform(0.3, 0.95, n)
    X["loan_to_price"] = X["loan"] / X["price"]
    odds = 8 * (0.7 - X["loan_to_price"]) + X["price"] / 100 - 2
    return X, (rng.random(n) < 1 / (1 + np.exp(-odds))).astype(int), sex


RATE = {"loan_to_price": lambda X: X["loan"] / X["price"]}


@pytest.mark.parametrize("gradient", ["auto", "search"])
def test_derived_columns_follow_the_others(gradient):
    X, y, _ = loans(600, 0)
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    X, y, sex = loans(100, 1)
    params = {"gradient": gradient, "steps": (20, 0.01)}
    test = IndividualFairnessTest(model, derived=RATE, **params).fit(X, y, sensitive_features=sex)
    moved = test.unfair_examples_
    assert (moved["price"] != X["price"]).mean() > 0.5
    np.testing.assert_allclose(moved["loan_to_price"], moved["loan"] / moved["price"], rtol=1e-9)
    # The losses are those of the people who are shown.
    log_odds = model.decision_function(moved)
    after = np.logaddexp(0, np.where(y == 1, -log_odds, log_odds))
    np.testing.assert_allclose(test.to_frame()["loss_after"], after, rtol=1e-9)
    assert test.solver_report_["functions"] == []
    left = IndividualFairnessTest(model, steps=(20, 0.01)).fit(X, y, sensitive_features=sex)
    assert left.solver_report_["functions"] == ["price", "loan", "loan_to_price"]
    assert "not moved along: price, loan and loan_to_price" in str(left)
    assert not np.allclose(
        left.unfair_examples_["loan_to_price"], left.unfair_examples_["loan"] / left.unfair_examples_["price"]
    )


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"derived": {"loan_to_price": 1}}, "derived must map columns of X to functions"),
        ({"derived": {"loan_to_price": lambda X: X["loan"]}}, "does not return this column of X: for 300 of 300"),
        ({"derived": {"loan_to_price": lambda X: 0.5}}, "one finite number for each row of X"),
        ({"derived": {"rate": lambda X: X["loan"]}}, "X has no feature 'rate'"),
        ({"derived": RATE, "feature_ranges": {"loan_to_price": "frozen"}}, "'loan_to_price' follows other columns"),
        ({"derived": RATE, "gradient": "analytic"}, "the derivatives of derived columns are not known"),
        ({"derived": RATE, "gradient": lambda X, y: X}, "derived columns follow no gradient of your own"),
        ({"min_plausibility": 1.0}, "min_plausibility must be a number from 0"),
    ],
)
def test_wrong_functions_and_limits_are_refused(params, message):
    X, y, sex = loans(300, 1)
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    with pytest.raises(ValueError, match=message):
        IndividualFairnessTest(model, **params).fit(X, y, sensitive_features=sex)
