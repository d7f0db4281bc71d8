"""Where unfair examples may go: together the constraints are the Euclidean projection on what is allowed."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.optimize import minimize

from skfairtest.individual.flow.ranges import Ranges, on_simplex

POINTS = hnp.arrays(float, st.tuples(st.integers(1, 4), st.integers(1, 6)), elements=st.floats(-100, 100))


def ranges(d, low=(), high=(), frozen=(), blocks=()):
    """Ranges of d features; limits of the first ones."""
    least, most = np.full(d, -np.inf), np.full(d, np.inf)
    least[: len(low)], most[: len(high)] = low, high
    return Ranges(least, most, np.isin(np.arange(d), frozen), blocks)


def test_where_nothing_is_limited_nothing_is_moved_back():
    anywhere, x = ranges(2), np.array([[9.0, -9.0]])
    assert not anywhere.bounded
    np.testing.assert_array_equal(anywhere.nearest(x.copy(), np.zeros((1, 2))), x)


def test_boxes_clip_and_frozen_features_stay():
    box = ranges(3, low=[0, -np.inf, 0], high=[1, 5, np.inf], frozen=[2])
    x0 = np.array([[0.5, 0.0, 7.0], [0.0, 0.0, 8.0]])
    x = np.array([[2.0, 9.0, -3.0], [-1.0, -9.0, 1.0]])
    np.testing.assert_array_equal(box.nearest(x, x0), [[1.0, 5.0, 7.0], [0.0, -9.0, 8.0]])
    np.testing.assert_array_equal(x0, [[0.5, 0.0, 7.0], [0.0, 0.0, 8.0]])


def test_limits_are_in_the_units_of_features():
    box = ranges(2, low=[-4.0], high=[4.0], frozen=[1])
    assert box.in_units_of(None) is box
    scaled = box.in_units_of(np.array([2.0, 8.0]))
    np.testing.assert_array_equal(scaled.nearest(np.array([[3.0, 3.0]]), np.zeros((1, 2))), [[2.0, 0.0]])


@pytest.mark.parametrize(
    ("point", "nearest"),
    [
        ([0.0, 1.0, 0.0], [0.0, 1.0, 0.0]),
        ([0.2, 0.3, 0.5], [0.2, 0.3, 0.5]),
        ([1.0, 1.0, 1.0], [1 / 3, 1 / 3, 1 / 3]),
        ([3.0, 0.5, 0.0], [1.0, 0.0, 0.0]),
        ([0.9, 0.5, -4.0], [0.7, 0.3, 0.0]),
        ([-5.0, -5.0, -6.0], [0.5, 0.5, 0.0]),
        ([1e20, 1e20, 0.0], [0.5, 0.5, 0.0]),
    ],
)
def test_known_projections_on_the_simplex(point, nearest):
    np.testing.assert_allclose(on_simplex([point])[0], nearest, rtol=0, atol=1e-15)


@settings(max_examples=2 * settings.default.max_examples, deadline=None)
@given(v=POINTS)
def test_the_projection_on_the_simplex_meets_its_optimality_conditions(v):
    """p is nearest to v exactly if p is allowed and (v - p)'(q - p) <= 0 for all corners q of the simplex."""
    p = on_simplex(v)
    scale = max(1.0, np.abs(v).max())
    assert (p >= 0).all()
    np.testing.assert_allclose(p.sum(axis=1), 1.0, atol=1e-13 * scale)
    for corner in np.eye(v.shape[1]):
        assert (((v - p) * (corner - p)).sum(axis=1) <= 1e-12 * scale).all()


@settings(deadline=None)
@given(v=POINTS)
def test_projecting_twice_is_projecting_once_and_rows_do_not_mix(v):
    once = on_simplex(v)
    np.testing.assert_allclose(on_simplex(once), once, atol=1e-15)
    np.testing.assert_array_equal(np.concatenate([on_simplex(row[None]) for row in v]), once)


def test_all_ranges_together_are_the_nearest_allowed_point():
    """Against a general solver: a box, a frozen feature, and two blocks."""
    rng = np.random.default_rng(0)
    allowed = ranges(8, low=[-0.2], high=[0.3], frozen=[1], blocks=((2, 3, 4), (5, 6, 7)))
    x0 = np.array([[0.0, 0.4, 0.0, 1.0, 0.0, 0.5, 0.2, 0.3]])
    equalities = [
        {"type": "eq", "fun": lambda x: x[2:5].sum() - 1},
        {"type": "eq", "fun": lambda x: x[5:].sum() - 1},
    ]
    bounds = [(-0.2, 0.3), (0.4, 0.4), *[(0, None)] * 6]
    for v in rng.normal(size=(10, 8)):
        exact = minimize(
            lambda x, v=v: ((x - v) ** 2).sum(), x0[0], jac=lambda x, v=v: 2 * (x - v), method="SLSQP",
            bounds=bounds, constraints=equalities, options={"ftol": 1e-14},
        )  # fmt: skip
        np.testing.assert_allclose(allowed.nearest(v[None].copy(), x0)[0], exact.x, atol=1e-6)
