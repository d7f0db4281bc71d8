"""Estimates of rates from probabilities of groups, beside their definitions."""

import numpy as np
import pytest
from scipy.optimize import minimize

from skfairtest.inference.linear_form import Scale
from skfairtest.inference.score import score_at
from skfairtest.uncertain_groups.statistics import expected_table, rows_of, uncertain_rates

RNG = np.random.default_rng(3)
P = RNG.dirichlet([0.6, 0.5, 0.4], 30)[RNG.integers(0, 30, 400)]
GROUP = (P.cumsum(axis=1) > RNG.random(400)[:, None]).argmax(axis=1)
ROLE = np.where(RNG.random(400) < 0.3, 2, (RNG.random(400) > np.array([0.2, 0.5, 0.7])[GROUP]).astype(int))


def test_the_weighted_table_is_a_sum_of_probabilities():
    table = expected_table(rows_of(ROLE, P), "weighted")
    for role in range(3):
        assert table[:, role] == pytest.approx(P[role == ROLE].sum(axis=0))


@pytest.mark.parametrize("roles", [3, 2])
def test_the_likelihood_is_largest_at_the_shares_of_its_table(roles):
    role = ROLE if roles == 3 else ROLE % 2
    table = expected_table(rows_of(role, P), "likelihood")
    shares = table / table.sum(axis=1, keepdims=True)

    def loss(free):
        logits = np.concatenate([free.reshape(3, roles - 1), np.zeros((3, 1))], axis=1)
        theta = np.exp(logits - logits.max(axis=1, keepdims=True))
        theta /= theta.sum(axis=1, keepdims=True)
        return -np.log((P * theta.T[role]).sum(axis=1)).sum()

    best = minimize(loss, np.zeros(3 * (roles - 1)), tol=1e-10)
    mine = -np.log((P * shares.T[role]).sum(axis=1)).sum()
    assert mine <= best.fun + 1e-6
    assert table.sum() == pytest.approx(len(role))


ESTIMATES = ["weighted", "likelihood"]
SIDES = np.array([[True, False, False], [False, True, False]])


def compared(role, p, estimate, disparity="difference", **more):
    rows = rows_of(role, p)
    return uncertain_rates(
        rows, expected_table(rows, estimate), SIDES, estimate=estimate, scale=Scale(), disparity=disparity, **more
    )


@pytest.mark.parametrize("estimate", ESTIMATES)
def test_certain_groups_are_counted(estimate):
    table = expected_table(rows_of(ROLE, np.eye(3)[GROUP]), estimate)
    expected = [[((group == GROUP) & (role == ROLE)).sum() for role in range(3)] for group in range(3)]
    assert table == pytest.approx(np.array(expected))


@pytest.mark.parametrize("disparity", ["difference", "ratio"])
@pytest.mark.parametrize("estimate", ESTIMATES)
def test_certain_groups_have_the_score_of_miettinen_and_nurminen_without_its_factor(estimate, disparity):
    x, d = (np.bincount(GROUP[mask], minlength=3) for mask in (ROLE == 0, ROLE < 2))
    rates = compared(ROLE, np.eye(3)[GROUP], estimate, disparity)
    for edge in (0.5, 1.0, 1.3) if disparity == "ratio" else (-0.2, 0.0, 0.3):
        expected = score_at(x[0], d[0], x[1], d[1], edge, disparity)[0]
        factor = 1.0 if edge == float(disparity == "ratio") or estimate == "likelihood" else None
        statistic = rates.statistic(edge) * np.sqrt((d[0] + d[1] - 1) / (d[0] + d[1]))
        # Where rates may differ within groups, the linearized error counts if it is larger.
        assert abs(statistic) <= abs(expected) * (1 + 1e-9)
        if factor is not None:
            assert statistic == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("estimate", ESTIMATES)
def test_probabilities_that_were_estimated_from_few_people_have_a_larger_error(estimate):
    errors = [
        float(compared(ROLE, P, estimate, n_reference=n_reference).at(0.0)[1]) for n_reference in (None, 1000.0, 5.0)
    ]
    assert errors == sorted(errors)
    assert errors[1] == pytest.approx(errors[0], rel=0.05)
    assert errors[2] > 1.1 * errors[0]


@pytest.mark.parametrize("estimate", ESTIMATES)
def test_draws_have_the_rates_of_the_null_hypothesis(estimate):
    """Scores of outcomes that are drawn at an edge have mean 0 and variance 1 there, where few are not rare."""
    rates = compared(ROLE, P, estimate)
    drawn = rates.draws(0.1, 4000, np.random.default_rng(5))
    assert abs(drawn.mean()) <= 4 / np.sqrt(4000)
    assert 0.7 <= drawn.std() <= 1 + 4 / np.sqrt(8000)
