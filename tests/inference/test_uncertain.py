"""Estimates of rates from probabilities of groups, beside their definitions."""

import numpy as np
import pytest
from scipy.optimize import minimize

from skfairtest.inference.uncertain import ESTIMATES, bootstrap_tables, expected_table, kinds_of

RNG = np.random.default_rng(3)
P = RNG.dirichlet([0.6, 0.5, 0.4], 30)[RNG.integers(0, 30, 400)]
GROUP = (P.cumsum(axis=1) > RNG.random(400)[:, None]).argmax(axis=1)
ROLE = np.where(RNG.random(400) < 0.3, 2, (RNG.random(400) > np.array([0.2, 0.5, 0.7])[GROUP]).astype(int))


def test_the_weighted_table_is_a_sum_of_probabilities():
    table = expected_table(kinds_of(ROLE, P), "weighted")
    for role in range(3):
        assert table[:, role] == pytest.approx(P[role == ROLE].sum(axis=0))


def test_the_thresholded_table_counts_the_most_probable_groups():
    table = expected_table(kinds_of(ROLE, P), "thresholded")
    expected = [[((P.argmax(axis=1) == group) & (role == ROLE)).sum() for role in range(3)] for group in range(3)]
    assert np.array_equal(table, expected)


@pytest.mark.parametrize("roles", [3, 2])
def test_the_likelihood_is_largest_at_the_shares_of_its_table(roles):
    role = ROLE if roles == 3 else ROLE % 2
    table = expected_table(kinds_of(role, P), "likelihood")
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


@pytest.mark.parametrize("estimate", ESTIMATES)
def test_certain_groups_are_counted(estimate):
    table = expected_table(kinds_of(ROLE, np.eye(3)[GROUP]), estimate)
    expected = [[((group == GROUP) & (role == ROLE)).sum() for role in range(3)] for group in range(3)]
    assert table == pytest.approx(np.array(expected))


@pytest.mark.parametrize("n_reference", [None, 50.0])
@pytest.mark.parametrize("estimate", ESTIMATES)
def test_samples_are_estimated_as_the_data_are(estimate, n_reference):
    # What Newton's method begins is the same as what single steps from scratch end at.
    kinds = kinds_of(ROLE, P)
    drawn = bootstrap_tables(kinds, estimate, 5, n_reference, np.random.default_rng(1))
    assert drawn.sum(axis=(1, 2)) == pytest.approx(np.full(5, 400.0), rel=1e-6)
    if n_reference is None:
        rng = np.random.default_rng(1)
        weights = rng.multinomial(400, kinds.counts / 400, size=5)
        for table, own in zip(drawn, weights, strict=True):
            again = kinds_of(np.repeat(kinds.role, own), np.repeat(kinds.p, own, axis=0))
            assert table == pytest.approx(expected_table(again, estimate), abs=0.05)


def test_probabilities_that_were_estimated_from_few_people_spread_more():
    kinds = kinds_of(ROLE, P)
    spreads = []
    for n_reference in (None, 1000.0, 5.0):
        tables = bootstrap_tables(kinds, "weighted", 400, n_reference, np.random.default_rng(2))
        spreads.append(float((tables[..., 0].sum(axis=1) / 400).std() + tables[:, 0, 0].std()))
    assert spreads[0] < spreads[2]
    assert spreads[1] == pytest.approx(spreads[0], rel=0.15)


def test_certain_probabilities_stay_certain_however_few_people_they_rest_on():
    kinds = kinds_of(ROLE, np.eye(3)[GROUP])
    with_error = bootstrap_tables(kinds, "weighted", 20, 3.0, np.random.default_rng(0))
    assert np.array_equal(with_error, np.rint(with_error))
