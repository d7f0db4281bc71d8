"""The largest of several disparities lies between the limits that follow from limits of each."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skfairtest.inference.multiplicity import extreme_disparity


def extreme_of(triples, disparity):
    low, value, high = np.reshape(triples, (-1, 3)).T
    return extreme_disparity(value, low, high, disparity)


def largest(values, disparity):
    """By definition, one value after the other."""
    if disparity == "difference":
        return max(abs(value) for value in values)
    return min(0.0 if value in (0, np.inf) else min(value, 1 / value) for value in values)


def three(numbers):
    return st.lists(st.tuples(numbers, numbers, numbers).map(sorted), min_size=1, max_size=5)


CASES = [("difference", three(st.floats(-1, 1))), ("ratio", three(st.floats(0.01, 100)))]


@pytest.mark.parametrize(("disparity", "triples"), CASES, ids=[case[0] for case in CASES])
def test_whatever_lies_inside_all_intervals_has_its_largest_inside_the_limits(disparity, triples):
    @given(triples)
    def check(found):
        extreme = extreme_of(found, disparity)
        true = largest([middle for _, middle, _ in found], disparity)
        assert extreme.value == pytest.approx(true, rel=1e-12)
        assert extreme.low <= true * (1 + 1e-12) + 1e-300
        assert true <= extreme.high * (1 + 1e-12) + 1e-300

    check()


@pytest.mark.parametrize(("disparity", "triples"), CASES, ids=[case[0] for case in CASES])
def test_the_limits_are_reached_by_something_inside_the_intervals(disparity, triples):
    @given(triples)
    def check(found):
        extreme = extreme_of(found, disparity)
        equal = 0.0 if disparity == "difference" else 1.0
        # Of each interval the point nearest to equality, and that furthest from it.
        nearest = [min(max(low, equal), high) for low, _, high in found]
        furthest = [max((low, high), key=lambda v: abs(v) if equal == 0 else abs(np.log(v))) for low, _, high in found]
        reached = sorted([largest(nearest, disparity), largest(furthest, disparity)])
        assert [extreme.low, extreme.high] == pytest.approx(reached, rel=1e-12)

    check()


@pytest.mark.parametrize("disparity", ["difference", "ratio"])
def test_who_comes_first_and_in_which_order_changes_nothing(disparity):
    found = [(-0.3, -0.2, -0.05), (-0.1, 0.1, 0.2)]
    turned = [(-high, -value, -low) for low, value, high in found][::-1]
    if disparity == "ratio":
        found, turned = ([tuple(np.exp(row)) for row in rows] for rows in (found, turned))
    assert extreme_of(turned, disparity) == pytest.approx(extreme_of(found, disparity))


def test_a_ratio_that_may_be_anything_has_limits_of_0_and_1():
    assert extreme_of([(0.0, 1.0, np.inf)], "ratio") == (1.0, 0.0, 1.0)
    assert extreme_of([(0.0, 0.0, 0.5)], "ratio") == (0.0, 0.0, 0.5)


@pytest.mark.parametrize("disparity", ["difference", "ratio"])
def test_nothing_compared_is_nothing_known(disparity):
    assert np.isnan(extreme_of([], disparity)).all()
