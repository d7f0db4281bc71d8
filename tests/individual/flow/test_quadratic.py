"""The fair distance as a quadratic form: distances, null spaces and bases that depend on nothing but the form."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from skfairtest.individual.flow import Quadratic


def projection(rows):
    """Projection on the orthogonal complement of orthonormal rows."""
    return np.eye(rows.shape[1]) - rows.T @ rows


def random_rows(seed, k, d):
    """Orthonormal rows."""
    return np.linalg.qr(np.random.default_rng(seed).normal(size=(d, k)))[0].T


def test_distances_are_those_of_the_matrix():
    metric = Quadratic([[2.0, 1.0], [1.0, 3.0]])
    v = np.array([[1.0, 0.0], [1.0, -1.0]])
    np.testing.assert_allclose(metric.squared_distance(v), [2.0, 3.0])
    assert metric.largest == pytest.approx((5 + np.sqrt(5)) / 2)
    assert metric.free_directions.shape == (0, 2)


@settings(deadline=None)
@given(seed=st.integers(0, 10_000), d=st.integers(2, 6), data=st.data())
def test_the_null_space_is_found(seed, d, data):
    k = data.draw(st.integers(1, d - 1))
    rows = random_rows(seed, k, d)
    metric = Quadratic(projection(rows) * data.draw(st.sampled_from([1e-6, 1.0, 1e6])))
    free = metric.free_directions
    np.testing.assert_allclose(free @ free.T, np.eye(k), atol=1e-12)
    np.testing.assert_allclose(free.T @ free, rows.T @ rows, atol=1e-9)
    np.testing.assert_allclose(metric.squared_distance(free), 0, atol=1e-12 * metric.largest)


def test_axes_are_their_own_basis():
    np.testing.assert_array_equal(Quadratic(np.diag([0.0, 2.0, 0.0, 1.0])).free_directions, np.eye(4)[[0, 2]])
    np.testing.assert_array_equal(Quadratic(np.zeros((2, 2))).free_directions, np.eye(2))


def test_without_a_null_space_the_cheapest_directions_come_first():
    rows = random_rows(3, 3, 3)
    metric = Quadratic(rows.T @ np.diag([5.0, 0.1, 2.0]) @ rows)
    directions = metric.directions()
    assert metric.free_directions.shape == (0, 3)
    np.testing.assert_allclose(metric.squared_distance(directions), [0.1, 2.0, 5.0], rtol=1e-9)
    assert (np.abs(directions).max(axis=1) == directions.max(axis=1)).all()  # leaning towards an axis, positively
    np.testing.assert_array_equal(Quadratic(np.eye(3)).directions(), np.eye(3))


def test_a_direction_that_costs_a_billionth_is_free_and_one_that_costs_a_millionth_is_not():
    assert len(Quadratic(np.diag([1e-11, 1.0])).free_directions) == 1
    assert len(Quadratic(np.diag([1e-6, 1.0])).free_directions) == 0


@settings(deadline=None)
@given(v=hnp.arrays(float, (5, 3), elements=st.floats(-1e3, 1e3)))
def test_distances_are_never_negative(v):
    assert (Quadratic(projection(random_rows(0, 2, 3))).squared_distance(v) >= 0).all()


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.ones((2, 3)), "must be square, finite and symmetric"),
        ([[1.0, np.nan], [np.nan, 1.0]], "must be square, finite and symmetric"),
        ([[1.0, 0.5], [0.2, 1.0]], "must be square, finite and symmetric"),
        ([[1.0, 2.0], [2.0, 1.0]], "must be positive semi-definite, found the eigenvalue -1"),
    ],
)
def test_what_is_not_a_fair_distance_is_refused(matrix, message):
    with pytest.raises(ValueError, match=message):
        Quadratic(matrix)


def test_where_columns_stay_what_is_left_free_is_searched():
    rows = random_rows(5, 3, 6)
    metric = Quadratic(projection(rows))
    frozen = np.arange(6) == 4
    directions, costs = metric.holding(frozen).reachable(frozen)
    assert directions.shape == (2, 6)  # three directions, of which one equation is left to hold
    np.testing.assert_array_equal(costs, 0.0)
    np.testing.assert_array_equal(directions[:, 4], 0.0)
    np.testing.assert_allclose(directions @ directions.T, np.eye(2), atol=1e-12)
    np.testing.assert_allclose(metric.squared_distance(directions), 0.0, atol=1e-12)


def test_where_nothing_is_left_free_every_direction_has_its_cost():
    metric = Quadratic(np.diag([0.0, 4.0, 1.0, 1e-4]))
    frozen = np.arange(4) == 0
    directions, costs = metric.holding(frozen).reachable(frozen)
    np.testing.assert_array_equal(directions, np.eye(4)[[3, 2, 1]])
    np.testing.assert_allclose(costs, [1e-4, 1.0, 4.0])


def test_where_everything_stays_there_is_no_direction():
    everything = np.ones(2, dtype=bool)
    directions, costs = FREE.holding(everything).reachable(everything)
    assert directions.shape == (0, 2)
    assert costs.shape == (0,)


FREE = Quadratic(np.diag([0.0, 1.0]))


def test_a_form_in_other_units_has_directions_and_distances_of_those():
    units, moves = np.array([2.0, 0.5, 3.0]), np.random.default_rng(0).normal(size=(4, 3))
    rows = random_rows(1, 1, 3)
    there, here = Quadratic(projection(rows)), Quadratic(projection(rows), units)
    np.testing.assert_allclose(here.squared_distance(moves * units), there.squared_distance(moves), atol=1e-12)
    np.testing.assert_allclose(moves * units @ here.shrinking(3.0), moves @ there.shrinking(3.0) * units, atol=1e-12)
    for frozen in (np.zeros(3, dtype=bool), np.array([False, False, True])):
        (ours, costs), (theirs, others) = (form.holding(frozen).reachable(frozen) for form in (here, there))
        np.testing.assert_allclose(ours, theirs * units, atol=1e-12)
        np.testing.assert_allclose(costs, others, rtol=1e-9)
