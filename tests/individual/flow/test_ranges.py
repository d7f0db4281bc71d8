"""Who is possible, and who of them is nearest."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from skfairtest.individual.flow import Ranges, on_simplex

POINTS = hnp.arrays(float, st.tuples(st.integers(1, 4), st.integers(1, 6)), elements=st.floats(-100, 100))


def ranges(d, low=(), high=(), frozen=(), blocks=(), levels=None):
    """Ranges of d features; limits of the first ones."""
    least, most = np.full(d, -np.inf), np.full(d, np.inf)
    least[: len(low)], most[: len(high)] = low, high
    return Ranges(least, most, np.isin(np.arange(d), frozen), blocks, levels or {})


def test_where_nothing_is_limited_nothing_is_moved_back():
    anywhere, x = ranges(2), np.array([[9.0, -9.0]])
    assert anywhere.free
    np.testing.assert_array_equal(anywhere.nearest(x.copy(), np.zeros((1, 2))), x)


def test_boxes_clip_and_frozen_features_stay():
    box = ranges(3, low=[0, -np.inf, 0], high=[1, 5, np.inf], frozen=[2])
    x0 = np.array([[0.5, 0.0, 7.0], [0.0, 0.0, 8.0]])
    x = np.array([[2.0, 9.0, -3.0], [-1.0, -9.0, 1.0]])
    np.testing.assert_array_equal(box.nearest(x, x0), [[1.0, 5.0, 7.0], [0.0, -9.0, 8.0]])
    np.testing.assert_array_equal(x0, [[0.5, 0.0, 7.0], [0.0, 0.0, 8.0]])


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


def test_the_nearest_person_has_one_category_and_a_level():
    possible = ranges(5, low=[-0.2], high=[0.3], blocks=((1, 2, 3),), levels={4: np.array([0.0, 1.0, 5.0])})
    assert not possible.free
    x0 = np.array([[0.0, 0.0, 1.0, 0.0, 5.0]] * 4)
    x = np.array(
        [
            [0.9, 0.3, 0.4, 0.3, 3.1],
            [-0.9, 0.5, 0.5, 0.0, 2.9],  # as near to the category of the start, which stays
            [0.1, -3.0, -2.0, -1.0, 0.4],
            [0.1, 2.0, 1.0, -2.0, 99.0],
        ]
    )
    expected = [[0.3, 0, 1, 0, 5], [-0.2, 0, 1, 0, 1], [0.1, 0, 0, 1, 0], [0.1, 1, 0, 0, 5]]
    np.testing.assert_array_equal(possible.nearest(x, x0), expected)
    np.testing.assert_array_equal(possible.nearest(x0, x0), x0)


def test_who_starts_as_a_mixture_may_end_as_one():
    shares = ranges(3, blocks=((0, 1, 2),))
    found = shares.nearest(np.array([[0.9, 0.5, -4.0], [0.9, 0.5, -4.0]]), np.array([[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]]))
    np.testing.assert_allclose(found, [[0.7, 0.3, 0.0], [1.0, 0.0, 0.0]])
