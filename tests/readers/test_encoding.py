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


VALUES = {
    np.int64: st.integers(-(2**63), 2**63 - 1),
    np.int8: st.integers(-128, 127),
    np.uint64: st.integers(2**63, 2**64 - 1),
    bool: st.booleans(),
    float: st.floats(allow_nan=False),
    str: st.text(st.characters(exclude_characters="\0", codec="utf-8")),
}


@given(st.sampled_from(list(VALUES)), st.data())
def test_values_of_any_range(kind, data):
    values = data.draw(st.lists(VALUES[kind], min_size=1))
    assert_encodes(np.array(values, dtype=kind), values)


WIDTHS = ["S1", "S4", ">U4", "<U3", *([np.dtypes.StringDType()] if hasattr(np.dtypes, "StringDType") else [])]


@pytest.mark.parametrize("dtype", WIDTHS)
def test_text_of_any_width(dtype):
    values = np.array([["b", "x"], ["a", "x"], ["b", "x"]]).astype(dtype)[:, 0]
    assert_encodes(values, values.tolist())


@given(st.lists(st.text(st.characters(exclude_characters="\0", codec="utf-8")), min_size=1))
def test_string_objects(values):
    assert_encodes(np.array(values, dtype=object), values)
    assert_encodes(pd.Series(values, dtype="string"), values)


def test_combinations_of_more_levels_than_whole_numbers_are_told_apart():
    rng = np.random.default_rng(0)
    codes = [rng.integers(0, 3, 50) for _ in range(5)]
    expected, places = np.unique(np.stack(codes), axis=1, return_inverse=True)
    for sizes in ([3] * 5, [10**6] * 5, [2**40] * 5):
        place, first = distinct(codes, sizes)
        np.testing.assert_array_equal(place, places.reshape(-1))
        np.testing.assert_array_equal(np.stack(codes)[:, first], expected)
