"""Cox's calibration slope and intercept, against statsmodels and scikit-learn."""

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import stats
from scipy.optimize import brentq
from scipy.special import expit, logit
from sklearn.linear_model import LogisticRegression

from skfairtest import FairnessTest
from skfairtest.metrics.counted import Recalibration

METRICS = {"calibration_slope": 1, "calibration_intercept": 0}


def people(n, seed, *, slope=0.7, intercept=0.3):
    rng = np.random.default_rng(seed)
    score = rng.uniform(0.02, 0.98, n)
    return score, (rng.random(n) < expit(intercept + slope * logit(score))).astype(int)


def by_statsmodels(metric, score, y, **fitted):
    """The coefficient and its robust standard error."""
    x, place = logit(score), METRICS[metric]
    given = {"offset": None, "exog": sm.add_constant(x)} if place else {"offset": x, "exog": np.ones(len(x))}
    weights = fitted.pop("var_weights", None)
    model = sm.GLM(y.astype(float), family=sm.families.Binomial(), var_weights=weights, **given)
    found = model.fit(**fitted)
    return found.params[place], found.bse[place]


@pytest.mark.parametrize("metric", METRICS)
def test_values_and_errors_are_those_of_a_logistic_regression_with_robust_errors(metric):
    score, y = people(301, 0)
    group = np.repeat(["a", "b"], [100, 201])
    test = FairnessTest.from_predictions(y, score, sensitive_features=group, metric=metric, method="asymptotic")
    found = test.by_group_
    for place, (name, n) in enumerate({"a": 100, "b": 201}.items()):
        own = group == name
        value, error = by_statsmodels(metric, score[own], y[own], cov_type="HC0")
        assert found["value"].iloc[place] == pytest.approx(value, rel=1e-8)
        assert found["standard_error"].iloc[place] == pytest.approx(error * np.sqrt(n / (n - 1)), rel=1e-6)
        if metric == "calibration_slope":
            model = LogisticRegression(C=np.inf, tol=1e-12, max_iter=1000).fit(logit(score[own])[:, None], y[own])
            assert value == pytest.approx(model.coef_[0, 0], rel=1e-5)
    z = found["value"].diff().iloc[1] / np.hypot(*found["standard_error"])
    assert test.p_value_ == pytest.approx(2 * stats.norm.sf(abs(z)), rel=1e-6)


@pytest.mark.parametrize("metric", METRICS)
def test_weights_and_clusters_have_the_errors_of_statsmodels(metric):
    score, y = people(240, 1)
    rng = np.random.default_rng(2)
    weight, cluster = rng.lognormal(size=240), np.arange(240) // 4
    group = np.where(cluster % 2, "a", "b")
    who = {"sensitive_features": group, "metric": metric, "n_resamples": 19, "random_state": 0}
    own = group == "a"
    weighted = FairnessTest.from_predictions(y, score, sample_weight=weight, method="asymptotic", **who).by_group_
    value, error = by_statsmodels(metric, score[own], y[own], var_weights=weight[own], cov_type="HC0")
    assert weighted["value"].iloc[0] == pytest.approx(value, rel=1e-8)
    assert weighted["standard_error"].iloc[0] == pytest.approx(error * np.sqrt(own.sum() / (own.sum() - 1)), rel=1e-6)
    clustered = FairnessTest.from_predictions(y, score, clusters=cluster, method="asymptotic", **who).by_group_
    groups = {"groups": cluster[own], "use_correction": False}
    value, error = by_statsmodels(metric, score[own], y[own], cov_type="cluster", cov_kwds=groups)
    assert clustered["value"].iloc[0] == pytest.approx(value, rel=1e-8)
    assert clustered["standard_error"].iloc[0] == pytest.approx(error * np.sqrt(30 / 29), rel=1e-6)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("how", [{}, {"method": "bootstrap"}, {"compare": "to_rest"}, {"alternative": "greater"}])
def test_equal_people_are_merged(metric, how):
    rng = np.random.default_rng(3)
    score = rng.choice([0.2, 0.4, 0.6, 0.8], 300)
    y, group, place = (rng.random(300) < score).astype(int), rng.choice(["a", "b"], 300), rng.choice(["x", "y"], 300)
    order = rng.permutation(300)
    tests = [
        FairnessTest.from_predictions(
            y[rows], score[rows], sensitive_features=group[rows], control_features=place[rows], metric=metric,
            n_resamples=99, random_state=0, **how,
        )
        for rows in (slice(None), order)
    ]  # fmt: skip
    assert tests[0].p_value_ == tests[1].p_value_
    own = (group == "a") & (place == "x")
    value, _ = by_statsmodels(metric, score[own], y[own])
    assert tests[0].by_group_["value"].loc[("x", "a")] == pytest.approx(value, rel=1e-8)


def test_a_slope_is_defined_where_scores_of_both_classes_overlap_on_both_sides():
    # The maximum of the likelihood is finite then, and only then (Albert and Anderson 1984).
    cells = [(1, 0.2), (1, 0.5), (1, 0.8), (0, 0.2), (0, 0.5), (0, 0.8)]
    true, score = (np.array(column) for column in zip(*cells, strict=True))
    counts = np.array(np.meshgrid(*[[0, 1]] * 6)).reshape(6, -1).T.astype(float)
    x = np.array([-1, 0, 1] * 2)
    value, _ = Recalibration(true > 0, score, slope=True).moments(counts)
    for row, found in zip(counts > 0, value, strict=True):
        positive, negative = x[row & (true == 1)], x[row & (true == 0)]
        some = len(positive) and len(negative)
        assert np.isfinite(found) == bool(some and positive.min() < negative.max() and negative.min() < positive.max())
    intercept, _ = Recalibration(true > 0, score, slope=False).moments(counts)
    assert (np.isfinite(intercept) == ((counts[:, :3].any(axis=1)) & counts[:, 3:].any(axis=1))).all()


def score_equation(found, masses, true, odds, *, slope):
    """The derivative of the likelihood, which is 0 at its maximum; of the slope, at the best intercept."""

    def left(a, b):
        return masses * (true - expit(a + b * odds))

    if not slope:
        return left(found, 1.0).sum()
    return left(brentq(lambda a: left(a, found).sum(), -200, 200), found) @ odds


@pytest.mark.parametrize("slope", [True, False])
def test_a_fit_arrives_from_extreme_scores(slope):
    # All but sure scores, most of them wrong, and two people who keep the classes from being divided.
    odds = np.array([-30.0, -25, -20, 20, 25, 30, 0.1, -0.1])
    true = np.array([1, 1, 1, 0, 0, 0, 1, 0]) > 0
    rows = np.stack([np.ones(8), [0, 0, 1, 1, 0, 0, 5, 3], [900, 1, 0, 0, 1, 2, 0, 0]])
    functional = Recalibration(true, expit(odds), slope=slope)
    value, _ = functional.moments(rows)
    assert np.isfinite(value).tolist() == [True, True, not slope]  # the last has no slope: scores divide its classes
    for found, masses in zip(value, rows[: 3 - slope], strict=False):
        assert score_equation(found, masses, true, odds, slope=slope) == pytest.approx(0, abs=1e-6)


def test_a_group_that_scores_divide_is_left_out_and_listed():
    score, y = people(400, 4)
    group = np.repeat(["a", "b", "c"], [190, 190, 20])
    y[380:] = score[380:] > np.median(score[380:])
    with pytest.warns(UserWarning, match="calibration_slope of c is undefined: a score divides truly positive from"):
        test = FairnessTest.from_predictions(
            y, score, sensitive_features=group, metric="calibration_slope", method="asymptotic"
        )
    assert test.comparisons_[["group", "other"]].to_numpy().tolist() == [["a", "b"]]


def test_few_events_come_with_a_caution():
    score, y = people(400, 5)
    group = np.repeat(["a", "b"], [20, 380])
    with pytest.warns(UserWarning, match="calibration_intercept of a rests on few people"):
        FairnessTest.from_predictions(
            y, score, sensitive_features=group, metric="calibration_intercept", method="asymptotic"
        )


@pytest.mark.parametrize("bad", [0.0, 1.0])
def test_scores_of_0_and_1_are_refused(bad):
    score, y = people(50, 6)
    score[7] = bad
    with pytest.raises(ValueError, match=r"y_score holds 0 or 1, whose log-odds are infinite: .* numpy\.clip"):
        FairnessTest.from_predictions(
            y, score, sensitive_features=np.arange(50) % 2, metric="calibration_slope", n_resamples=19
        )


@pytest.mark.slow  # a simulation: 300 data sets
@pytest.mark.parametrize("metric", METRICS)
def test_size_where_only_the_coefficient_is_equal(metric):
    rng, rejected = np.random.default_rng(7), 0
    for _ in range(300):
        score = np.r_[rng.beta(2, 5, 100), rng.beta(5, 2, 400)]
        group = np.repeat(["a", "b"], [100, 400])
        odds = 0.5 * logit(score) + np.where(group == "a", 1, -0.5)  # equal slopes, and other base rates
        y = rng.random(500) < (expit(odds) if metric == "calibration_slope" else score)
        test = FairnessTest.from_predictions(
            y.astype(int), score, sensitive_features=group, metric=metric, n_resamples=99, random_state=0
        )
        rejected += test.rejected_
    assert rejected <= stats.binom.ppf(0.999, 300, 0.05)
