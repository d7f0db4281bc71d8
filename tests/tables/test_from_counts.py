"""Counts that somebody else made: frames with a count column, mappings of keys."""

from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest

from skfairtest.tables import CountTable

DATA = {
    "dept": ["A", "A", "B", "B", "B"],
    "gender": ["f", "m", "f", "m", "m"],
    "admit": [1, 1, 0, 0, 1],
    "n": [89, 512, 8, 207, 353],
}
ROLES = {"y_pred": "admit", "sensitive_features": "gender", "control_features": "dept"}


def test_one_column_may_be_both_y_true_and_y_pred():
    table = CountTable.from_counts(DATA, count="n", y_true="admit", **ROLES)
    assert table.cells == ((0, 0), (1, 1))


def test_a_mapping_of_keys_needs_the_names_of_its_positions():
    counts = {("f", 0): 3, ("m", 1): 4, ("f", 1): 2}
    names = ("sex", "hired")
    table = CountTable.from_counts(counts, names=names, y_pred="hired", sensitive_features="sex")
    assert table.counts.tolist() == [[[3, 2], [0, 4]]]
    with pytest.raises(ValueError, match=r"mapping of keys to counts.*names=\("):
        CountTable.from_counts(counts, y_pred="hired", sensitive_features="sex")


def test_keys_of_one_position_need_no_tuple():
    table = CountTable.from_counts(pd.Series({"f": 3, "m": 4}).to_dict(), names="g", y_pred="g", sensitive_features="g")
    assert table.counts.tolist() == [[[3, 0], [0, 4]]]


@pytest.mark.parametrize(
    ("data", "names", "message"),
    [
        ({("f", 0): 3, ("m",): 4}, ("sex", "y"), r"data has the key \('m',\) of 1 values, but names"),
        ({}, ("sex", "y"), "found an empty mapping"),
        (pd.DataFrame(DATA), ("sex", "y"), "names is only for a mapping.*found DataFrame"),
        ({("f", 0): 3}, ("sex", "count"), "names contains 'count'"),
        ({("f", 0): 3}, ("y", "y"), "names lists 'y' twice"),
        ({("f", 0): -3}, ("sex", "y"), "found -3"),
        ({(None, 0): 3}, ("sex", "y"), r"\(column 'sex'\) has 1 missing value"),
    ],
)
def test_a_mapping_of_other_keys_is_an_error(data, names, message):
    with pytest.raises(ValueError, match=message):
        CountTable.from_counts(data, names=names, y_pred="y", sensitive_features="sex")


def test_equal_rows_add_up_and_empty_ones_leave_no_trace():
    data = {"sex": ["f", "f", "m", "x"], "y": [1, 1, 0, 1], "count": [2, 3, 4, 0]}
    table = CountTable.from_counts(data, y_pred="y", sensitive_features="sex")
    assert table.groups == (("f",), ("m",))
    assert table.counts.tolist() == [[[0, 5], [4, 0]]]


@pytest.mark.parametrize("counts", [[2.0, 3.0], [Fraction(2), 3], np.array([2, 3], dtype="u1")])
def test_whole_numbers_of_any_type_are_counts(counts):
    data = {"sex": ["f", "m"], "y": [1, 1], "count": counts}
    assert CountTable.from_counts(data, y_pred="y", sensitive_features="sex").n_samples == 5


@pytest.mark.parametrize("bad", [-1, 0.5, float("inf"), "3", True, 1j])
def test_what_is_no_number_of_people_is_an_error(bad):
    data = {"sex": ["f", "m"], "y": [1, 1], "count": [3 if bad is not True else bad, bad]}
    with pytest.raises(ValueError, match=r"count \(column 'count'\) must hold numbers of people"):
        CountTable.from_counts(data, y_pred="y", sensitive_features="sex")


def test_missing_counts_and_values_are_errors_that_name_the_column():
    data = {"sex": ["f", None], "y": [1, 1], "count": [3, float("nan")]}
    with pytest.raises(ValueError, match=r"sensitive_features \(column 'sex'\) has 1 missing"):
        CountTable.from_counts(data, y_pred="y", sensitive_features="sex")
    with pytest.raises(ValueError, match="count has 1 missing value"):
        CountTable.from_counts(data, y_pred="y", sensitive_features="y")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"y_pred": "hired"}, "y_pred='hired' is not a column of data, which has 'dept', "),
        ({"count": "count"}, "count='count' is not a column of data"),
        ({"y_pred": {"hired": 1}}, "y_pred={'hired': 1} is not a column of data"),
        ({"sensitive_features": ["gender", "race"]}, "sensitive_features='race' is not a column"),
        ({"control_features": "race"}, "control_features='race' is not a column"),
        ({"sensitive_features": "dept"}, "named 'dept': give each feature its own name"),
        ({"sensitive_features": []}, "sensitive_features has no columns"),
        ({"y_pred": None}, "y_score are all missing"),
        ({"y_score": "gender"}, "y_score must hold numbers, found 'f', 'm'"),
        ({"data": None}, "data must be a frame.*found type NoneType"),
        ({"data": "x.csv"}, "data must be a frame.*found type str"),
        ({"data": [1, 2]}, "data must be a frame.*found type list"),
        ({"data": {**DATA, "n": [1]}}, "data has columns of different lengths"),
        ({"data": pl.LazyFrame(DATA)}, r"data is a lazy frame.*collect"),
    ],
)
def test_bad_input_is_an_error_that_names_it(changes, message):
    with pytest.raises(ValueError, match=message):
        CountTable.from_counts(**{"data": DATA, "count": "n", **ROLES, **changes})


def test_too_many_groups_are_refused_and_many_warned_about():
    data = {"g": np.arange(201).astype(str), "count": np.ones(201)}
    with pytest.raises(ValueError, match="201 distinct values"):
        CountTable.from_counts(data, y_pred="count", sensitive_features="g")
    data = {"g": np.arange(21).astype(str), "count": np.ones(21)}
    with pytest.warns(UserWarning, match="21 distinct values"):
        CountTable.from_counts(data, y_pred="count", sensitive_features="g")
