"""Numbers as intervals: every number is in one, the edges are numbers of the data, and the label says what it holds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skfairtest.readers import in_intervals, read_column


def test_whole_numbers_are_in_intervals_that_hold_both_ends():
    column, edges = in_intervals(read_column(list(range(10, 20)), "age"), 5)
    assert column.levels == ("10 to 11", "12 to 13", "14 to 15", "16 to 17", "18 to 19")
    assert np.bincount(column.codes).tolist() == [2] * 5
    assert edges == (10.0, 12.0, 14.0, 16.0, 18.0, 19.0)


def test_other_numbers_are_in_intervals_without_their_second_end():
    column, _ = in_intervals(read_column([0.5, 0.75, 1.25, 1.5, 2.0, 2.5], "x"), 3)
    assert column.levels == ("0.5 to below 1.25", "1.25 to below 2", "2 to 2.5")


def test_a_number_that_many_people_share_is_an_interval_of_its_own():
    column, _ = in_intervals(read_column([40] * 50 + list(range(30)), "hours"), 4)
    assert "40" in column.levels
    assert len(column.levels) < 4


@pytest.mark.parametrize("values", [["a", "b", "c", "d"], [True, False, True, False], [1, 2, 1, 2]])
def test_names_and_few_numbers_stay_as_they_are(values):
    column = read_column(values, "x")
    assert in_intervals(column, 2) == (column, ())


def test_counts_weigh_as_much_as_rows():
    values = [1, 2, 3, 4, 5, 6, 7]
    counts = np.array([9, 1, 1, 1, 1, 1, 9])
    counted, edges = in_intervals(read_column(values, "x"), 3, counts)
    by_row, same = in_intervals(read_column(np.repeat(values, counts).tolist(), "x"), 3)
    assert (counted.levels, edges) == (by_row.levels, same)


@given(st.lists(st.integers(-30, 30), min_size=1, max_size=30), st.integers(2, 6), st.sampled_from([1, 0.125]))
def test_every_number_lies_in_its_interval(values, n_bins, unit):
    values = [value * unit for value in values]
    column, edges = in_intervals(read_column(values, "x"), n_bins)
    if edges:
        assert len(column.levels) <= n_bins
        assert len(set(column.levels)) == len(column.levels) == len(edges) - 1
        numbers = np.array(values, dtype=float)
        assert (numbers >= np.array(edges)[column.codes]).all()
        last = column.codes == len(edges) - 2
        assert (numbers[~last] < np.array(edges)[column.codes + 1][~last]).all()
        assert numbers[last].max() == edges[-1]


def test_names_among_numbers_stay_as_they_are():
    ages = [40, 17, 25, 60, 33, 21]
    alone, edges = in_intervals(read_column(ages, "age"), 3)
    counts = np.array([3, 1, 2, 1, 1, 1, 4, 2])
    mixed = np.array([*ages[:3], "unknown", *ages[3:], "refused"], dtype=object)
    column, same = in_intervals(read_column(mixed, "age"), 3)
    assert same == edges
    assert column.levels == (*alone.levels, "refused", "unknown")
    assert column.values[[0, 1, 2, 4, 5, 6]].tolist() == alone.values.tolist()
    assert column.values[[3, 7]].tolist() == ["unknown", "refused"]
    counted, edges = in_intervals(read_column(mixed, "age"), 3, counts)
    by_row, same = in_intervals(read_column(np.repeat(mixed, counts), "age"), 3)
    assert (counted.levels, edges) == (by_row.levels, same)
