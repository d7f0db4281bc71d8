"""The paper's numbers, its statistics by hand, and what is said of answers that are doubtful or not defined."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit
from scipy.stats import norm
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skfairtest import IndividualFairnessTest, Mahalanobis, Projection
from skfairtest.individual.statistics import lower_bound

#: The published code's; the product of step and regularization is above 1 in the first two steps.
PAPER = {"regularization": 100, "steps": 0.02 / np.arange(1, 401) ** (2 / 3)}
unstable = pytest.mark.filterwarnings("ignore:steps of 0.02 are too long:UserWarning")
INCOME = Projection([[1, 0, 0]])  # people who differ in the first feature only are the same


def predict_loss(model, X, y):
    """Log losses, from what the model says."""
    position = np.searchsorted(model.classes_, y)
    return -np.log(model.predict_proba(X)[np.arange(len(y)), position])


def by_hand(coefficients, intercept, X, y, matrix, steps, regularization):
    """The unfair map of a logistic model, person by person and step by step, as the paper has it."""
    found = []
    for x0, label in zip(X, y, strict=True):
        x = x0.copy()
        for step in steps:
            p = expit(coefficients @ x + intercept)
            x = x + step * ((p - label) * coefficients - 2 * regularization * matrix @ (x - x0))
        found.append(x)
    return np.array(found)


# The paper's numbers ------------------------------------------------------------------------------------------------


@unstable
@pytest.mark.parametrize("flow", ["fitted", "doubled", "none"])
@pytest.mark.parametrize("metric", ["projection", "mahalanobis", "fitted"])
def test_the_simulation_of_the_paper(flow, metric, golden, simulated, logistic):
    X, y = simulated
    expected = golden["flows"][flow]
    metrics = {
        "projection": Projection([[1, 0]]),
        "mahalanobis": Mahalanobis(np.diag([0.0, 1.0])),
        "fitted": Projection([[1, 0]]).fit(X),
    }
    model = logistic(golden["theta"], expected["intercept"])
    test = IndividualFairnessTest.as_published(model, fair_metric=metrics[metric], **PAPER).fit(X, y)
    assert test.statistic_ == pytest.approx(expected["mean"], abs=1e-7)
    assert test.loss_ratios_.std() == pytest.approx(expected["standard_deviation"], abs=1e-7)
    assert test.standard_error_ == pytest.approx(expected["standard_deviation"] / 20, abs=1e-8)
    # The published z is 1.645, the estimator's is exact.
    assert test.lower_bound_ == pytest.approx(expected["lower_bound"], abs=2e-6)
    sd = test.standard_error_ * np.sqrt(test.n_samples_)
    assert lower_bound(test.statistic_, sd, test.n_samples_, golden["z"]) == pytest.approx(
        expected["lower_bound"], abs=1e-7
    )
    assert test.rejected_ == (expected["lower_bound"] > 1.25)


def test_the_map_is_the_papers_step_by_step(simulated, logistic):
    X, y = simulated[0][:25], simulated[1][:25]
    direction = np.array([0.6, 0.8])
    matrix = np.eye(2) - np.outer(direction, direction)
    steps = 0.02 / np.arange(1, 31) ** 0.5
    model = logistic([1.5, -1.0], 0.3)

    def gradient(X, y):
        return (model.predict_proba(X)[:, 1] - y)[:, None] * model.coef_

    params = {"fair_metric": Projection([direction]), "steps": steps, "regularization": 20.0, "gradient": gradient}
    with pytest.warns(UserWarning, match="25 people"):
        test = IndividualFairnessTest.as_published(model, **params).fit(X, y)
    expected = by_hand(model.coef_[0], 0.3, X, y, matrix, steps, 20.0)
    np.testing.assert_allclose(test.unfair_examples_, expected, rtol=0, atol=1e-12)
    ratios = predict_loss(model, expected, y) / predict_loss(model, X, y)
    np.testing.assert_allclose(test.loss_ratios_, ratios, rtol=1e-10)
    assert test.solver_report_["time"] == pytest.approx(steps.sum())


# Statistics by hand -------------------------------------------------------------------------------------------------


def delta_method(before, after):
    """Section 4.6 of the design: S = A/B with sqrt(A^2 V_22 + B^2 V_11 - 2AB V_12) / (B^2 sqrt n)."""
    A, B = after.mean(), before.mean()
    (v11, v12), (_, v22) = np.cov(after, before, ddof=0)
    return A / B, np.sqrt(A**2 * v22 + B**2 * v11 - 2 * A * B * v12) / (B**2 * np.sqrt(len(before)))


@pytest.mark.parametrize("statistic", ["ratio_of_means", "error_rate_ratio"])
def test_ratios_of_means_by_the_delta_method(statistic, classifier, people):
    X, y, _, _ = people
    test = IndividualFairnessTest.as_published(classifier, fair_metric=INCOME, statistic=statistic).fit(X, y)
    if statistic == "error_rate_ratio":
        values = [(classifier.predict(x) != y).astype(float) for x in (X, test.unfair_examples_)]
        assert 0 < values[0].mean() < values[1].mean() < 1
    else:
        values = [predict_loss(classifier, x, y) for x in (X, test.unfair_examples_)]
    estimate, error = delta_method(*(np.asarray(value) for value in values))
    assert test.statistic_ == pytest.approx(estimate, rel=1e-9)
    assert test.standard_error_ == pytest.approx(error, rel=1e-9)
    assert test.lower_bound_ == pytest.approx(estimate - norm.ppf(0.95) * error, rel=1e-9)


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error"])
def test_a_regressors_statistic_does_not_depend_on_units(loss, people, training):
    X, _, _, score = people
    params = {"fair_metric": INCOME, "loss": loss, "steps": (20, 0.01), "statistic": "ratio_of_means"}
    found = []
    for factor in (1.0, 1000.0):
        model = LinearRegression().fit(training[0], factor * training[3])
        found.append(IndividualFairnessTest.as_published(model, **params).fit(X, factor * score))
    assert found[0].statistic_ == pytest.approx(found[1].statistic_, rel=1e-9)
    np.testing.assert_allclose(found[0].unfair_examples_, found[1].unfair_examples_, atol=1e-9)
    assert found[0].statistic_ > 1


def test_squared_errors_by_hand(regressor, people):
    X, _, _, score = people
    test = IndividualFairnessTest.as_published(
        regressor, fair_metric=INCOME, steps=(10, 0.05), regularization=5.0, statistic="ratio_of_means"
    ).fit(X, score)
    x0, w, b, matrix = X.to_numpy(), regressor.coef_, regressor.intercept_, np.diag([0.0, 1.0, 1.0])
    x, y, scale = x0.copy(), score.to_numpy(), score.to_numpy().var()
    for _ in range(10):
        x = x + 0.05 * (2 * (x @ w + b - y)[:, None] * w / scale - 10.0 * (x - x0) @ matrix)
    np.testing.assert_allclose(test.unfair_examples_, x, atol=1e-12)
    before, after = ((z @ w + b - y) ** 2 for z in (x0, x))
    assert test.statistic_ == pytest.approx(after.mean() / before.mean(), rel=1e-10)


def test_several_classes(training, people):
    X, _, _, score = people
    names = np.array(["low", "middle", "top"])
    model = LogisticRegression().fit(training[0], names[np.digitize(training[3], [-1, 1])])
    y = names[np.digitize(score, [-1, 1])]
    test = IndividualFairnessTest.as_published(model, fair_metric=INCOME).fit(X, y)
    assert test.solver_report_["gradient"] == "finite_differences"
    ratios = predict_loss(model, test.unfair_examples_, y) / predict_loss(model, X, y)
    np.testing.assert_allclose(test.loss_ratios_, ratios, rtol=1e-9)
    assert (test.loss_ratios_ > 1).mean() > 0.9
    assert set(test.to_frame()["label"]) == set(names)


def test_a_model_that_ignores_what_is_free_is_fair(logistic, people):
    X, y, _, _ = people
    model = logistic([0.0, 1.0, -1.0])
    test = IndividualFairnessTest.as_published(model, fair_metric=INCOME, regularization=1e3, steps=(500, 9e-4))
    test.fit(X.to_numpy(), y)
    assert test.statistic_ == pytest.approx(1.0, abs=0.01)
    assert not test.rejected_


# Where people go ----------------------------------------------------------------------------------------------------


def test_stopping_earlier_is_another_test_on_the_path(classifier, people):
    X, y, _, _ = people
    params = {"fair_metric": INCOME}
    test = IndividualFairnessTest.as_published(classifier, steps=(60, 0.01), **params).fit(X, y)
    path = test.path_
    assert path["n_steps"].is_monotonic_increasing
    assert list(path.columns) == ["n_steps", "time", "statistic", "standard_error", "lower_bound"]
    last = path.iloc[-1]
    assert (last["n_steps"], last["statistic"], last["lower_bound"]) == (60, test.statistic_, test.lower_bound_)
    assert last["time"] == pytest.approx(0.6)
    for _, row in path.iloc[[0, 5, 12]].iterrows():
        earlier = IndividualFairnessTest.as_published(classifier, steps=(int(row["n_steps"]), 0.01), **params).fit(X, y)
        assert (earlier.statistic_, earlier.standard_error_) == (row["statistic"], row["standard_error"])
        assert earlier.lower_bound_ == row["lower_bound"]


def test_the_worst_people_and_what_changed_about_them(classifier, people):
    X, y, _, _ = people
    factors = pd.Series({"income": 1000.0, "savings": 1.0, "debts": 0.01})
    model = make_pipeline(StandardScaler().fit(X * factors).set_output(transform="pandas"), classifier)
    test = IndividualFairnessTest.as_published(
        model, fair_metric=INCOME, feature_scale="std", steps=(50, 0.01), feature_ranges={"debts": "frozen"}
    ).fit(X * factors, y)
    worst = test.most_unfair(4)
    frame = test.to_frame()
    expected = frame.sort_values("loss_ratio", ascending=False)["person"].head(4)
    assert list(worst["person"].unique()) == list(expected)
    assert list(worst.columns) == ["person", "loss_ratio", "feature", "before", "after", "change", "loss_increase"]
    assert set(worst["feature"]) == {"income", "savings"}
    assert list(test.most_unfair(2, n_features=1)["feature"]) == ["income", "income"]
    for row in worst.itertuples():
        assert row.before == (X * factors).loc[row.person, row.feature]  # in the units of X
        assert row.after == test.unfair_examples_.loc[row.person, row.feature]
        assert row.change == row.after - row.before
        back = test.unfair_examples_.loc[[row.person]].copy()
        there = predict_loss(model, back, y[[row.person]])
        back[row.feature] = row.before
        fallen = predict_loss(model, back, y[[row.person]])
        assert row.loss_increase == pytest.approx((there - fallen)[0], rel=1e-6, abs=1e-9)
    for _, rows in worst.groupby("person"):
        assert rows["loss_increase"].is_monotonic_decreasing
    assert len(test.most_unfair(10_000)["person"].unique()) == len(X)


@pytest.mark.parametrize("statistic", ["ratio_of_means", "error_rate_ratio"])
def test_of_means_the_worst_people_are_whose_loss_grows_most(statistic, classifier, people):
    X, y, _, _ = people
    test = IndividualFairnessTest.as_published(
        classifier, fair_metric=INCOME, statistic=statistic, steps=(50, 0.01)
    ).fit(X, y)
    frame = test.to_frame()
    growth = (frame["loss_after"] - frame["loss_before"]).sort_values(ascending=False)
    assert list(test.most_unfair(5)["person"].unique()) == list(frame["person"][growth.index[:5]])
    assert list(frame.nlargest(5, "loss_ratio").index) != list(growth.index[:5])


def test_one_row_per_person(classifier, people):
    X, y, _, _ = people
    metric = Mahalanobis(np.diag([0.0, 4.0, 1.0]))
    test = IndividualFairnessTest.as_published(classifier, fair_metric=metric, steps=(500, 0.002)).fit(X, y)
    frame = test.to_frame()
    assert list(frame["person"]) == list(X.index)
    assert list(frame["label"]) == list(y)
    np.testing.assert_array_equal(frame["loss_ratio"], test.loss_ratios_)
    away = (test.unfair_examples_ - X).to_numpy()
    np.testing.assert_allclose(frame["displacement"], np.linalg.norm(away, axis=1), rtol=1e-9)
    np.testing.assert_allclose(frame["distance"], np.linalg.norm(away * [0.0, 2.0, 1.0], axis=1), rtol=1e-9)
    frame["loss_ratio"] = 0.0
    assert test.to_frame()["loss_ratio"].min() > 0


@pytest.mark.filterwarnings("ignore:no person's loss changed:UserWarning")
@given(
    seed=st.integers(0, 2**20),
    scale=st.sampled_from([None, "std", "numbers"]),
    way=st.sampled_from(["finite_differences", "search"]),
    steps=st.integers(1, 30),
)
def test_features_stay_where_they_may_be(seed, scale, way, steps):
    rng = np.random.default_rng(seed)
    n = 30
    category = np.eye(3)[rng.integers(0, 3, n)]
    X = np.column_stack([rng.normal(size=n) * 7 + 0.1, rng.uniform(-1 / 3, 0.7, n), category, rng.normal(size=n) / 3])
    y = rng.integers(0, 2, n)
    model = LogisticRegression()
    model.coef_, model.intercept_ = rng.normal(size=(1, 6)) * 5, rng.normal(size=1)
    model.classes_, model.n_features_in_ = np.array([0, 1]), 6
    direction = rng.normal(size=(2, 6))  # frozen features would be drawn along by the others
    units = {None: None, "std": "std", "numbers": [3.0, 0.7, 1.0, 1.0, 1.0, 1 / 3]}[scale]
    test = IndividualFairnessTest.as_published(
        model,
        fair_metric=Projection(direction),
        feature_ranges={0: "frozen", 1: (-1 / 3, 0.7), 5: "free"},
        feature_scale=units,
        gradient=way,
        steps=(steps, 0.015),
        statistic="ratio_of_means",
    ).fit(X, y)
    moved = test.unfair_examples_
    np.testing.assert_array_equal(moved[:, 0], X[:, 0])
    assert moved[:, 1].min() >= -1 / 3
    assert moved[:, 1].max() <= 0.7
    assert moved[:, 2:5].min() >= 0
    np.testing.assert_allclose(moved[:, 2:5].sum(axis=1), 1.0, rtol=0, atol=1e-12)
    if steps > 20:
        assert np.abs(moved - X).max() > 1e-3


@pytest.mark.parametrize("solver", ["euler", "implicit"])
def test_a_frozen_feature_is_not_drawn_along_by_the_others(solver, classifier, people):
    X, y, _, _ = people
    skew = Projection([[1.0, 1.0, 0.0]])  # who has less debts and more income is pulled back in both
    test = IndividualFairnessTest.as_published(
        classifier,
        fair_metric=skew,
        solver=solver,
        steps=(20, 0.01),
        feature_ranges={"savings": "frozen", "income": "free", "debts": "free"},
    ).fit(X[:30], y[:30])
    np.testing.assert_array_equal(test.unfair_examples_["savings"], X["savings"][:30])
    assert (test.unfair_examples_["income"] != X["income"][:30]).all()


def test_frozen_features_leave_a_search_what_is_left_of_the_free_directions(training, people):
    X, y, _, _ = training
    forest = RandomForestClassifier(n_estimators=5, min_samples_leaf=10, random_state=0).fit(X, y)
    params = {"statistic": "ratio_of_means", "steps": (50, 0.01)}
    stays = {"savings": "frozen", "income": "free", "debts": "free"}
    both = Projection([[1, 1, 0], [0, 1, 1]])
    frozen = IndividualFairnessTest.as_published(forest, fair_metric=both, feature_ranges=stays, **params).fit(
        people[0], people[1]
    )
    told = IndividualFairnessTest.as_published(
        forest, fair_metric=Projection([[1, 0, -1]]), feature_ranges=stays, **params
    ).fit(people[0], people[1])
    np.testing.assert_allclose(frozen.loss_ratios_, told.loss_ratios_, rtol=1e-9)
    assert frozen.statistic_ > 1.2
    assert frozen.to_frame()["distance"].max() < 1e-6


def test_the_path_of_a_search_is_over_candidates_at_the_same_distances(training, people):
    X, y, _, _ = training
    forest = RandomForestClassifier(n_estimators=10, random_state=0, min_samples_leaf=10).fit(X, y)
    test = IndividualFairnessTest.as_published(forest, fair_metric=Projection([[1, 0, 0]]), steps=(50, 0.01)).fit(
        people[0], people[1]
    )
    assert set(test.path_["time"]) == {test.solver_report_["time"]}
    assert test.path_["statistic"].is_monotonic_increasing


def test_numbers_are_numbers_in_every_fold(classifier, people):
    """Of 21 ages one is that of a single person, without whom a fold has 20: ages are numbers all the same."""
    X = people[0]
    age = np.r_[np.arange(len(X) - 1) % 20, 99]
    test = IndividualFairnessTest.as_published(classifier, steps=(5, 0.01)).fit(
        X, people[1], sensitive_features={"age": age}
    )
    assert [len(metric.directions_) for metric in test.fair_metrics_] == [1] * 5


def test_unfair_examples_far_from_everybody(fit, people):
    def gradient(X, y):  # away, as fast as they say
        return np.full(X.shape, [speed, 0.0, 0.0])

    income = people[0]["income"]
    beyond = {"loss": lambda y_true, y_pred: 1.0 + 0.1 * y_pred[:, 1], "gradient": gradient, "steps": (10, 0.01)}
    speed = 20 * np.ptp(income) / 0.1  # for a time of 0.1
    with pytest.warns(
        UserWarning,
        match=r"unfair examples lie outside the observed range of a feature, by up to 20 times .* feature_ranges",
    ):
        test = fit(**beyond)
    assert test.solver_report_["n_people_outside"] > 0
    assert "Doubtful: unfair examples lie outside the observed range of a feature, by up to 20 times" in str(test)
    held = fit(**beyond, feature_ranges={"income": (income.min(), income.max())})
    assert held.solver_report_["n_people_outside"] == 0
    assert "Doubtful" not in str(held)


def test_a_mean_of_ratios_that_rests_on_few_people(fit, people):
    X, y, _, _ = people

    def loss(y_true, y_pred):
        return np.abs(y_true - y_pred[:, 1])

    def gradient(X, y):  # one person is sent far away
        away = np.zeros(X.shape)
        away[np.asarray(X["debts"] == people[0]["debts"].iloc[5]), 0] = 300.0 * (1 - 2 * people[1].iloc[5])
        return away

    with pytest.warns(UserWarning, match="the mean of loss ratios depends on few people"):
        fit(
            X=X.assign(income=X["income"].where(X.index != "p005", 8.0 * (2 * y.iloc[5] - 1))),
            loss=loss,
            gradient=gradient,
        )


def test_some_losses_of_zero(fit, people):
    X, _, _, score = people
    half = score.where(np.arange(80) % 2 == 0, score + 1.0)
    model = KNeighborsRegressor(1).fit(X, score)
    with pytest.raises(ValueError, match=r"statistic='loss_ratio' is not defined: errors near 0 .*'ratio_of_means'"):
        fit(model=model, y=half, steps=(60, 0.01))
    test = fit(model=model, y=half, steps=(60, 0.01), statistic="ratio_of_means")
    assert np.isinf(test.loss_ratios_).any()
    assert np.isfinite(test.statistic_)
    assert "inf" in str(test)


def test_every_warning_points_at_the_callers_line(fit, classifier, people):
    with pytest.warns(UserWarning) as caught:  # noqa: PT030 - two of them, of which the place is looked at
        IndividualFairnessTest.as_published(classifier, fair_metric=INCOME, steps=(2, 0.03)).fit(
            people[0][:9], people[1][:9]
        )
    assert {warning.filename for warning in caught} == {__file__}
    said = [str(warning.message) for warning in caught]
    assert [message.partition(":")[0] for message in said] == [
        "steps of 0.03 are too long for regularization=50",
        "X has 9 people",
    ]


def test_a_p_value_near_the_level_is_doubtful_where_a_few_are_harmed_much_less():
    n = 60
    rng = np.random.default_rng(0)
    X = np.column_stack([np.zeros(n), rng.random(n) < 0.1]).astype(float)
    y = np.zeros(n)
    # Who has a 1 in the second feature does not lose; everybody else loses in proportion to how far they are moved.
    model, metric = _Lines(), Projection([[1.0, 0.0]])
    loss = {"loss": _distance_from_one, "gradient": "finite_differences", "regularization": 0.0}
    common = {"fair_metric": metric, **loss}
    test = IndividualFairnessTest.as_published(model, steps=(1, 1.0), **common).fit(X, y)
    near = test.statistic_ - 2.0 * test.standard_error_
    message = r"p_value_=0.02\d* is too close to the level of 0.05 .* with 60 people .*% of models at the tolerance"
    with pytest.warns(UserWarning, match=message):
        IndividualFairnessTest.as_published(model, steps=(1, 1.0), tolerance=near, **common).fit(X, y)


def test_a_test_that_was_read_holds_no_model_and_says_to_fit_again(classifier, people):
    X, y = people[0][:60], people[1][:60]
    test = IndividualFairnessTest(classifier, fair_metric=INCOME).fit(X, y)
    text = test.to_json()
    assert " at 0x" not in text
    again = IndividualFairnessTest.from_json(text)
    assert (str(again), again.sentences()) == (str(test), test.sentences())
    np.testing.assert_array_equal(again.plot().loss_ratios, test.loss_ratios_)
    for use in (again.most_unfair, again.changed_features):
        with pytest.raises(AttributeError, match="fit again"):
            use()


class _Lines:
    """Says twice the first feature of people whose second is 0, and 0 of the others."""

    def predict(self, X):
        X = np.asarray(X)
        return 2 * X[:, 0] * (1 - X[:, 1])


def _distance_from_one(y_true, y_pred):
    return np.abs(1 + y_pred - y_true)


# The statistic that is defined --------------------------------------------------------------------------------------


def test_auto_is_the_mean_of_ratios_where_that_exists(fit, training, people, regressor):
    score = people[3]
    forest = RandomForestClassifier(20, random_state=0).fit(*training[:2])  # sure of many people
    cases = [
        ({}, "loss_ratio", "the paper's"),
        ({"model": regressor, "y": score}, "loss_ratio", "the paper's"),
        ({"model": regressor, "y": score, "loss": "absolute_error"}, "ratio_of_means", "no finite mean"),
        ({"model": regressor, "y": score, "gradient": "search"}, "ratio_of_means", "no finite mean"),
        ({"model": forest}, "ratio_of_means", r"less than a millionth of the mean loss"),
        ({"loss": lambda y_true, y_pred: (y_true - y_pred[:, 1]) ** 2}, "ratio_of_means", "it is not known"),
    ]
    for params, statistic, because in cases:
        test = fit(statistic="auto", **params)
        report = test.solver_report_
        assert (report["statistic"], because in report["statistic_because"]) == (statistic, True)
        assert report["statistic_because"] in str(test)
        named = fit(statistic=statistic, **params)
        assert (named.statistic_, named.p_value_) == (test.statistic_, test.p_value_)
