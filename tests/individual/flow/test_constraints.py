"""Where unfair examples may go: together the constraints are the Euclidean projection on what is allowed."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.optimize import minimize

from skfairtest.individual.flow.constraints import constraint, on_simplex

POINTS = hnp.arrays(float, st.tuples(st.integers(1, 4), st.integers(1, 6)), elements=st.floats(-100, 100))


def test_nothing_to_keep_is_no_function():
    assert constraint() is None
    assert constraint(low=[-np.inf, -np.inf], high=[np.inf, np.inf], frozen=[], blocks=[]) is None
    assert constraint(frozen=[False, False]) is None


def test_boxes_clip_and_frozen_features_stay():
    constrain = constraint(low=[0, -np.inf, 0], high=[1, 5, np.inf], frozen=[2])
    x0 = np.array([[0.5, 0.0, 7.0], [0.0, 0.0, 8.0]])
    x = np.array([[2.0, 9.0, -3.0], [-1.0, -9.0, 1.0]])
    np.testing.assert_array_equal(constrain(x, x0), [[1.0, 5.0, 7.0], [0.0, -9.0, 8.0]])
    np.testing.assert_array_equal(x0, [[0.5, 0.0, 7.0], [0.0, 0.0, 8.0]])


def test_frozen_features_may_be_a_mask():
    x0 = np.zeros((1, 3))
    masked, numbered = constraint(frozen=[False, True, True]), constraint(frozen=[1, 2])
    np.testing.assert_array_equal(masked(np.ones((1, 3)), x0), [[1.0, 0.0, 0.0]])
    np.testing.assert_array_equal(numbered(np.ones((1, 3)), x0), [[1.0, 0.0, 0.0]])


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
@given(v=POINTS, total=st.floats(0, 3))
def test_the_projection_on_the_simplex_meets_its_optimality_conditions(v, total):
    """p is nearest to v exactly if p is allowed and (v - p)'(q - p) <= 0 for all corners q of the simplex."""
    p = on_simplex(v, total)
    scale = max(1.0, np.abs(v).max())
    assert (p >= 0).all()
    np.testing.assert_allclose(p.sum(axis=1), total, atol=1e-13 * scale)
    for corner in total * np.eye(v.shape[1]):
        assert (((v - p) * (corner - p)).sum(axis=1) <= 1e-12 * scale * max(total, 1.0)).all()


@settings(deadline=None)
@given(v=POINTS)
def test_projecting_twice_is_projecting_once_and_rows_do_not_mix(v):
    once = on_simplex(v)
    np.testing.assert_allclose(on_simplex(once), once, atol=1e-15)
    np.testing.assert_array_equal(np.concatenate([on_simplex(row[None]) for row in v]), once)


def test_all_constraints_together_are_the_nearest_allowed_point():
    """Against a general solver: a box, a frozen feature, a block, and a block with a frozen column."""
    rng = np.random.default_rng(0)
    low, high = np.full(8, -np.inf), np.full(8, np.inf)
    low[0], high[0], low[2:5], high[2:5] = -0.2, 0.3, 0.0, 1.0
    constrain = constraint(low, high, frozen=[1, 7], blocks=[[2, 3, 4], [5, 6, 7]])
    x0 = np.array([[0.0, 0.4, 0.0, 1.0, 0.0, 0.5, 0.2, 0.3]])
    equalities = [
        {"type": "eq", "fun": lambda x: x[2:5].sum() - 1},
        {"type": "eq", "fun": lambda x: x[5:].sum() - 1},
    ]
    bounds = [(-0.2, 0.3), (0.4, 0.4), *[(0, None)] * 5, (0.3, 0.3)]
    for v in rng.normal(size=(10, 8)):
        exact = minimize(
            lambda x, v=v: ((x - v) ** 2).sum(), x0[0], jac=lambda x, v=v: 2 * (x - v), method="SLSQP",
            bounds=bounds, constraints=equalities, options={"ftol": 1e-14},
        )  # fmt: skip
        np.testing.assert_allclose(constrain(v[None].copy(), x0)[0], exact.x, atol=1e-6)


def test_a_block_of_frozen_columns_stays_and_what_is_left_of_it_is_shared():
    constrain = constraint(frozen=[0, 1], blocks=[[0, 1]])
    np.testing.assert_array_equal(constrain(np.array([[5.0, 6.0]]), np.array([[1.0, 0.0]])), [[1.0, 0.0]])
    constrain = constraint(frozen=[0], blocks=[[0, 1, 2]])
    np.testing.assert_allclose(constrain(np.array([[5.0, 6.0, 1.0]]), np.array([[0.6, 0.4, 0.0]])), [[0.6, 0.4, 0.0]])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"low": [1.0, 2.0], "high": [1.0, 0.0]}, r"low must not be above high, found so in columns \[1\]"),
        ({"blocks": [[0, 1], [1, 2]]}, r"blocks must not overlap, found columns \[1\]"),
        ({"low": [0.1, 0.0], "blocks": [[0, 1]]}, r"columns \[0\] of a block have limits inside 0 to 1"),
        ({"high": [1.0, 0.5], "blocks": [[0, 1]]}, r"columns \[1\] of a block have limits inside 0 to 1"),
    ],
)
def test_constraints_that_exclude_each_other_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        constraint(**arguments)
