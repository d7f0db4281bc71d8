"""Levels and codes agree with a plain Python reading, on every path."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skfairtest.readers.levels import distinct, encode


def assert_encodes(values, expected):
    levels, codes, n_missing = encode(values)
    assert n_missing == 0
    assert [levels[code] for code in codes] == expected
    assert list(levels) == sorted(set(expected))
    assert codes.dtype == np.min_scalar_type(len(levels) - 1)


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1))
def test_integers_of_any_range(values):
    assert_encodes(np.array(values), values)


@given(st.lists(st.integers(-128, 127), min_size=1))
def test_small_integers_do_not_overflow(values):
    assert_encodes(np.array(values, dtype=np.int8), values)


@pytest.mark.parametrize("low", [0, 2**63, 2**64 - 2])
def test_large_unsigned_integers(low):
    assert_encodes(np.array([low + 1, low, low], dtype=np.uint64), [low + 1, low, low])


@given(st.lists(st.booleans(), min_size=1))
def test_booleans_stay_booleans(values):
    assert_encodes(np.array(values), values)
    assert all(type(level) is bool for level in encode(np.array(values))[0])


@given(st.lists(st.floats(allow_nan=False), min_size=1))
def test_floats(values):
    assert_encodes(np.array(values), values)


@given(st.lists(st.text(st.characters(exclude_characters="\0", codec="utf-8")), min_size=1))
def test_strings_of_fixed_width(values):
    assert_encodes(np.array(values), values)


@given(st.lists(st.text(st.characters(exclude_characters="\0", codec="utf-8")), min_size=1))
def test_string_objects(values):
    assert_encodes(np.array(values, dtype=object), values)
    assert_encodes(pd.Series(values, dtype="string"), values)


@pytest.mark.parametrize("dtype", ["S1", "S4", "S8", "S12", ">U4", "<U3", "<U4"])
def test_bytes_and_foreign_byte_orders(dtype):
    values = np.array(["b", "a", "b", "b"]).astype(dtype)
    assert_encodes(values, values.tolist())


def test_strided_strings():
    values = np.array([["b", "x"], ["a", "x"], ["b", "x"]])[:, 0]
    assert_encodes(values, ["b", "a", "b"])


def test_combinations_of_more_levels_than_whole_numbers_are_told_apart():
    rng = np.random.default_rng(0)
    codes = [rng.integers(0, 3, 50) for _ in range(5)]
    expected, places = np.unique(np.stack(codes), axis=1, return_inverse=True)
    for sizes in ([3] * 5, [10**6] * 5, [2**40] * 5):
        place, first = distinct(codes, sizes)
        np.testing.assert_array_equal(place, places.reshape(-1))
        np.testing.assert_array_equal(np.stack(codes)[:, first], expected)


def test_codes_are_not_the_array_of_the_caller():
    values = np.array([0, 1, 1])
    codes = encode(values)[1]
    values[:] = 0
    assert codes.tolist() == [0, 1, 1]


@pytest.mark.skipif(not hasattr(np, "dtypes") or not hasattr(np.dtypes, "StringDType"), reason="NumPy 2")
def test_numpy_strings_of_variable_width():
    assert_encodes(np.array(["b", "a"], dtype=np.dtypes.StringDType()), ["b", "a"])
