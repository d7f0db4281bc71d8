"""Omitted-variable bias: published figures, least squares with the confounder put back, and verdicts."""

import pickle

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from statsmodels.regression.linear_model import OLS
from statsmodels.tools import add_constant

from skfairtest import AdjustedFairnessTest
from skfairtest.adjusted.statistics import Residuals, Strength, strongest


def test_published_bounds_of_darfur():
    """Cinelli and Hazlett (2020), section 5, as their package sensemakr prints it.

    The estimate .0973 has the standard error .02326 with 783 degrees of freedom, a robustness value of 13.88%, and,
    with confounders 1, 2 and 3 times as strong as being female, becomes .0752, .0529 and .0304. The shares that such
    confounders explain of the group follow from the first, .009164, and those of the outcome from .124641.
    """
    female = Strength("female", 0.1090340, 0.00908106)
    group, left = np.array([1.0, 1.0, -1.0, -1.0]), 0.02325654 * np.sqrt(783) * np.array([1.0, -1.0, 1.0, -1.0])
    residuals = Residuals(0.09731582 * group + left, group)
    assert residuals.robustness == pytest.approx(0.138776, abs=2e-6)
    for k, of_outcome, of_group, disparity in [
        (1, 0.124641, 0.009164, 0.07522),
        (2, 0.249324, 0.018329, 0.052915),
        (3, 0.374050, 0.027493, 0.030396),
    ]:
        confounder = strongest([female], k)
        assert (confounder.outcome, confounder.group) == pytest.approx((of_outcome, of_group), abs=2e-6)
        assert residuals.confounded(confounder.factor, "two-sided")[1][0] == pytest.approx(disparity, abs=2e-6)


def people(n=400, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 2))
    z = 0.5 * x[:, 0] + rng.normal(size=n)
    group = rng.random(n) < 1 / (1 + np.exp(-x[:, 0] - z))
    outcome = x @ [1.0, 0.5] + 0.8 * z + 0.3 * group + rng.normal(size=n)
    return x, z, group, outcome


def shares(outcome, given, added):
    """The share of what some columns leave that one more explains, by least squares."""
    short, full = (OLS(outcome, add_constant(np.column_stack(columns))).fit() for columns in (given, [*given, added]))
    return 1 - full.ssr / short.ssr


@pytest.mark.parametrize("seed", range(3))
def test_the_bias_is_the_change_when_the_confounder_is_put_back(seed):
    x, z, group, outcome = people(seed=seed)
    member = group.astype(float)
    left = [OLS(of, add_constant(x)).fit().resid for of in (outcome, member)]
    long = OLS(outcome, add_constant(np.column_stack([member, x, z]))).fit().params[1]
    known = Strength("z", shares(outcome, [member, x], z), shares(member, [x], z))
    short = Residuals(*left)
    assert abs(short.coefficient - long) == pytest.approx(short.spread * known.factor)


@pytest.mark.filterwarnings("ignore:Caution. the models may have missed:UserWarning")  # straight lines of a logit
def test_covariates_explain_out_of_fold_what_least_squares_says_of_many_people():
    x, z, group, outcome = people(20_000)
    kind = np.arange(len(z)) % 3
    columns = {"x": x[:, 0], "other": x[:, 1], "z": z, "kind": np.array(["a", "b", "c"])[kind]}
    numbers = {**columns, "kind": np.stack([kind == 0, kind == 1], axis=1).astype(float)}
    test = AdjustedFairnessTest.from_predictions(
        None, outcome, sensitive_features={"g": group}, covariates=columns, random_state=0,
        outcome_model=LinearRegression(), group_model=LinearRegression(),
    )  # fmt: skip
    member = group.astype(float)
    ((_, covariates),) = test._biases
    assert [one.name for one in covariates] == list(columns)
    for one in covariates:
        others = [matrix for name, matrix in numbers.items() if name != one.name]
        assert one.outcome == pytest.approx(shares(outcome, [member, *others], numbers[one.name]), abs=5e-3)
        assert one.group == pytest.approx(shares(member, others, numbers[one.name]), abs=5e-3)


def test_a_confounder_like_a_curved_covariate_turns_the_verdict():
    """Pay is age^2 + twin^2 + noise, and the group depends on both: given both there is no disparity.

    The twin is as strong as age, whose slope is 0: least squares takes that for nothing, and anything for stronger.
    """
    rng = np.random.default_rng(0)
    age, twin, noise = rng.normal(size=(3, 2000))
    group = rng.random(2000) < 1 / (1 + np.exp(2 - age**2 - twin**2))
    given_age, given_both = (
        AdjustedFairnessTest.from_predictions(
            None, age**2 + twin**2 + noise, sensitive_features={"g": group}, covariates=covariates, random_state=0
        )
        for covariates in ({"age": age}, {"age": age, "twin": twin})
    )
    assert given_age.concern_
    assert abs(given_age.disparity_) > 1
    assert abs(given_both.disparity_) < 0.15
    found = given_age.sensitivity(at=[1, 1.2])
    assert 0.8 < found.survives < 1.2
    assert found.frame["turns"].tolist()[1]
    assert found.frame["outcome_explained"][0] > 0.3


def test_a_covariate_that_determines_the_outcome_bounds_nothing():
    assert Strength("same", 1.0, 0.2).times(1.0).outcome == 1.0
    assert np.isinf(Strength("same", 0.5, 0.9).times(1.0).factor)


def fitted(**params):
    x, _, group, outcome = people(800, 1)
    return AdjustedFairnessTest.from_predictions(
        None,
        outcome + group,
        sensitive_features={"g": np.where(group, "a", "b")},
        covariates={"first": x[:, 0], "second": x[:, 1]},
        random_state=0,
        outcome_model=LinearRegression(),
        group_model=LinearRegression(),
        **params,
    )


def test_a_verdict_survives_confounders_up_to_a_strength():
    test = fitted()
    found = test.sensitivity(at=[0, 1, 20])
    row, frame = test.comparisons_.iloc[0], found.frame
    assert frame["p_value_low"][0] == frame["p_value_high"][0] == row["p_value"]
    assert frame["turns"].tolist() == [False, False, True]
    limit = found.survives
    assert 1 <= limit < 20
    around = test.sensitivity(at=[limit, limit + 0.01]).frame
    assert around["turns"].tolist() == [False, True]
    # Where the bias is as large as the distance of an interval's end from 0, the p-value is about the level.
    assert around["p_value_high"][0] <= 0.05 < around["p_value_high"][1] < 0.055
    assert "times as strong as the strongest covariate" in found.sentence
    assert pickle.loads(pickle.dumps(test)).sensitivity(at=1).frame.equals(test.sensitivity(at=1).frame)


def test_several_groups_are_adjusted_together():
    rng = np.random.default_rng(3)
    group, age = rng.choice(["a", "b", "c"], 600), rng.normal(size=600)
    outcome = age + (group == "a") + rng.normal(size=600)
    test = AdjustedFairnessTest.from_predictions(
        None, outcome, sensitive_features={"g": group}, covariates={"age": age}, random_state=0,
        outcome_model=LinearRegression(), group_model=LinearRegression(),
    )  # fmt: skip
    frame = test.sensitivity(at=[0, 0.1]).frame
    np.testing.assert_allclose(frame["p_value_adjusted_high"][:3], test.comparisons_["p_value_adjusted"])
    assert (frame["p_value_adjusted_high"] >= frame["p_value_high"]).all()
    assert (frame["disparity_low"][3:].to_numpy() <= frame["disparity_low"][:3].to_numpy()).all()


@pytest.mark.parametrize(
    ("params", "at", "says"),
    [
        ({}, -1, "at must be one or several numbers from 0 on"),
    ],
)
def test_what_has_no_such_analysis_is_refused(params, at, says):
    with pytest.raises(ValueError, match=says):
        fitted(**params).sensitivity("confounding", at=at)


def test_other_assumptions_are_not_asked():
    test = fitted()
    with pytest.raises(ValueError, match="to must be one of 'confounding'"):
        test.sensitivity("missing_groups")
    with pytest.raises(ValueError, match="read from JSON"):
        AdjustedFairnessTest.from_json(test.to_json()).sensitivity()
