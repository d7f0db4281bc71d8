"""Distinct values in an order that depends on nothing but the values."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skfairtest.readers.levels import listed, plain_scalar, sort_levels, unify_numbers

values = st.one_of(st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(), st.binary(), st.dates())


@given(st.lists(values, unique=True).flatmap(lambda v: st.tuples(st.just(v), st.permutations(v))))
def test_order_does_not_depend_on_the_order_of_arrival(pair):
    first, second = pair
    assert sort_levels(first) == sort_levels(second)


def test_mixed_types_are_sorted_by_type_name_then_value():
    assert sort_levels(["b", 10, b"z", "a", 9.5]) == [b"z", 9.5, 10, "a", "b"]


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (np.int8(3), 3),
        (np.float32(0.5), 0.5),
        (np.longdouble(2), 2.0),
        (np.bool_(True), True),
        (np.str_("é"), "é"),
        (np.datetime64("2020-01-01", "ns"), pd.Timestamp("2020-01-01")),
        (np.timedelta64(1, "D"), pd.Timedelta(days=1)),
        ("nan", "nan"),
    ],
)
def test_numpy_scalars_become_python_scalars(value, plain):
    assert plain_scalar(value) == plain
    assert type(plain_scalar(value)) is type(plain)


def test_negative_zero_is_zero():
    assert math.copysign(1, plain_scalar(-0.0)) == 1


def test_whole_numbers_are_ints_where_kinds_of_number_meet():
    unified = unify_numbers([True, 2.0, 2.5, math.inf, "a"], [bool, float, str])
    assert list(map(repr, unified)) == ["1", "2", "2.5", "inf", "'a'"]


def test_long_lists_are_cut_and_counted():
    assert listed(range(12)) == "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, ... (12 in all)"
