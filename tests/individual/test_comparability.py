"""The likeliest distance behind judgements: derivatives, optimality, recovery, and what does not matter."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.special import expit, logit

from skfairtest.individual.explore import fit_comparability, negative_log_likelihood, objective


def judgements(sigma, n_pairs, seed=0):
    """Differences of pairs of normal people, and what judges who know Sigma say."""
    rng = np.random.default_rng(seed)
    differences = rng.normal(size=(n_pairs, len(sigma))) * np.sqrt(2)
    squares = np.einsum("ij,jk,ik->i", differences, sigma, differences)
    return differences, rng.uniform(size=n_pairs) < 2 * expit(-squares)


def mean_log_likelihood(sigma, differences, comparable):
    squares = np.einsum("ij,jk,ik->i", differences, sigma, differences)
    values, _ = negative_log_likelihood(squares, comparable)
    return -values.mean()


SIGMA = np.array([[0.5, 0.2, 0.0], [0.2, 0.3, 0.0], [0.0, 0.0, 0.0]])


def test_judgements_are_as_surprising_as_the_model_says():
    squares = np.array([1e-8, 0.3, 1.0, 4.0, 30.0])
    near, _ = negative_log_likelihood(squares, np.ones(5, dtype=bool))
    far, _ = negative_log_likelihood(squares, np.zeros(5, dtype=bool))
    np.testing.assert_allclose(np.exp(-near), 2 * expit(-squares), rtol=1e-12)
    np.testing.assert_allclose(np.exp(-far), np.tanh(squares / 2), rtol=1e-12)  # 1 - 2 / (1 + e^s)
    np.testing.assert_allclose(logit(np.exp(-near) / 2), -squares, rtol=1e-6, atol=1e-15)


def test_a_pair_at_distance_0_is_comparable_for_sure():
    near, _ = negative_log_likelihood(np.zeros(1), np.ones(1, dtype=bool))
    assert near == 0
    far, slope = negative_log_likelihood(np.zeros(1), np.zeros(1, dtype=bool))
    assert far == np.inf
    assert slope == -np.inf


def test_very_distant_pairs_have_finite_surprise_and_slope():
    for comparable in (True, False):
        values, slopes = negative_log_likelihood(np.array([800.0, 1e6]), np.full(2, comparable))
        np.testing.assert_allclose(values, [800 - np.log(2), 1e6 - np.log(2)] if comparable else 0)
        np.testing.assert_allclose(slopes, 1.0 if comparable else 0.0)


@pytest.mark.parametrize("comparable", [True, False])
def test_the_slope_is_the_derivative_and_grows(comparable):
    squares = np.array([0.01, 0.3, 1.0, 4.0, 12.0])
    which = np.full(5, comparable)
    _, slopes = negative_log_likelihood(squares, which)
    up, down = (negative_log_likelihood(squares * (1 + step), which)[0] for step in (1e-6, -1e-6))
    np.testing.assert_allclose(slopes, (up - down) / (2e-6 * squares), rtol=1e-6, atol=1e-9)
    assert (np.diff(slopes) > 0).all()  # the log-likelihood is concave in the squared distance


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_the_gradient_by_the_factor_is_that_of_finite_differences(rank):
    differences, comparable = judgements(SIGMA, 60)
    factor = np.random.default_rng(1).normal(size=(3, rank))

    def value(flat):
        return objective(flat.reshape(3, rank), differences, comparable, 0.1)[0]

    expected = approx_fprime(factor.ravel(), value, 1e-7)
    np.testing.assert_allclose(objective(factor, differences, comparable, 0.1)[1].ravel(), expected, atol=1e-6)


@pytest.mark.parametrize("rank", [None, 2])
def test_the_matrix_is_recovered_the_better_the_more_judgements(rank):
    errors = []
    for n_pairs in (300, 3_000, 30_000):
        found = fit_comparability(*judgements(SIGMA, n_pairs), ridge=1e-4, rank=rank)
        errors.append(np.linalg.norm(found.matrix - SIGMA))
    assert errors[2] < errors[1] < errors[0]
    assert errors[2] < 0.03


def test_no_matrix_is_likelier():
    differences, comparable = judgements(SIGMA, 400)
    found = fit_comparability(differences, comparable, ridge=1e-9)
    assert found.slope < 1e-7
    best = mean_log_likelihood(found.matrix, differences, comparable)
    assert found.log_likelihood == pytest.approx(best, abs=1e-12)
    assert best >= mean_log_likelihood(SIGMA, differences, comparable)
    rng = np.random.default_rng(2)
    for _ in range(100):
        step = rng.normal(size=(3, 3)) * rng.choice([1e-1, 1e-2, 1e-3])
        other = step @ step.T + found.matrix * rng.uniform(0.9, 1.1)
        assert mean_log_likelihood(other, differences, comparable) <= best + 1e-9


def test_of_one_feature_it_is_the_root_of_the_score():
    differences, comparable = judgements(np.array([[0.7]]), 500)
    squares, ridge = differences[:, 0] ** 2, 0.01

    def score(sigma):
        _, slopes = negative_log_likelihood(sigma * squares, comparable)
        return (slopes * squares).mean() + ridge * sigma * squares.mean() ** 2

    found = fit_comparability(differences, comparable, ridge=ridge)
    assert score(found.matrix[0, 0]) == pytest.approx(0, abs=1e-8)
    assert score(found.matrix[0, 0] * 1.001) > 0 > score(found.matrix[0, 0] * 0.999)


@pytest.mark.parametrize("rank", [None, 1, 2])
def test_order_repetition_and_direction_of_pairs_do_not_matter(rank):
    differences, comparable = judgements(SIGMA, 300)
    found = fit_comparability(differences, comparable, ridge=1e-3, rank=rank)
    assert np.linalg.matrix_rank(found.matrix, tol=1e-8) <= (rank or 3)
    assert np.linalg.eigvalsh(found.matrix)[0] > -1e-12
    order = np.random.default_rng(1).permutation(300)
    signs = np.where(np.arange(300) % 3, 1, -1)[:, None]
    for others in (
        (differences[order], comparable[order]),
        (np.vstack([differences] * 2), np.tile(comparable, 2)),
        (differences * signs, comparable),
    ):
        again = fit_comparability(*others, ridge=1e-3, rank=rank)
        np.testing.assert_allclose(again.matrix, found.matrix, atol=1e-6)


def test_units_of_features_do_not_matter():
    differences, comparable = judgements(SIGMA, 300)
    units = np.array([1e3, 1e-4, 1.0])
    found = fit_comparability(differences, comparable, ridge=1e-2)
    again = fit_comparability(differences * units, comparable, ridge=1e-2)
    np.testing.assert_allclose(again.matrix * np.outer(units, units), found.matrix, atol=1e-6)


def test_judgements_without_a_mistake_give_a_finite_matrix_that_grows_as_the_ridge_shrinks():
    rng = np.random.default_rng(0)
    differences = rng.normal(size=(200, 2))
    comparable = np.arange(200) % 2 == 0
    differences[comparable, 0] = 0.0  # comparable are those, and only those, who are alike in the first feature
    sizes = [fit_comparability(differences, comparable, ridge=ridge).matrix[0, 0] for ridge in (1e-1, 1e-3, 1e-5)]
    assert sizes[0] < sizes[1] < sizes[2] < np.inf
    assert sizes[2] > 5 * sizes[0]


def test_what_no_pair_differs_in_counts_for_nothing():
    differences, comparable = judgements(SIGMA[:2, :2], 300)
    whole = fit_comparability(differences, comparable, ridge=1e-3)
    for rotation in (np.eye(3), np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]):
        wider = np.column_stack([differences, np.zeros(300)]) @ rotation
        found = fit_comparability(wider, comparable, ridge=1e-3)
        np.testing.assert_allclose((rotation @ found.matrix @ rotation.T)[:2, :2], whole.matrix, atol=1e-7)
        np.testing.assert_allclose(found.matrix @ rotation[2], 0, atol=1e-12)


def test_a_rank_that_cannot_tell_a_pair_apart_at_first_is_no_obstacle():
    # The leading direction does not see the second feature, in which the only other pairs differ.
    differences = np.array([[3.0, 0.0], [1.0, 0.0]] * 30 + [[0.0, 1.0]] * 4)
    comparable = np.array([False, True] * 30 + [False] * 4)
    found = fit_comparability(differences, comparable, ridge=1e-3, rank=1)
    assert np.isfinite(found.matrix).all()
    assert np.isfinite(found.log_likelihood)


def test_pairs_of_the_same_people_say_nothing():
    with pytest.raises(ValueError, match="no two people of a pair differ in anything"):
        fit_comparability(np.zeros((3, 2)), np.array([True] * 3), ridge=1e-3)
