"""Who is possible, and who of them is nearest."""

import numpy as np

from skfairtest.individual.flow import Ranges


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
