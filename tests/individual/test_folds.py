"""Folds that depend on what people are: every claim of `skfairtest.individual.people`."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skfairtest.individual.people import people_of, ranks


def draw(seed, n=60, d=3, levels=None):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(n, d)) if levels is None else rng.integers(0, levels, (n, d)).astype(float)
    return values, rng.integers(0, 2, n).astype(float), rng


def content_folds(values, truth, n_folds):
    people = people_of(values, truth, None, numbers=True)
    return people.folds(n_folds)[np.argsort(people.order)]


@settings(deadline=None)
@given(
    seed=st.integers(0, 2**20),
    n=st.integers(20, 60),
    d=st.integers(1, 5),
    levels=st.sampled_from([None, 2, 3, 10]),
)
def test_the_order_of_rows_and_columns_and_copies_of_everybody_change_nothing(seed, n, d, levels):
    values, truth, rng = draw(seed, n, d, levels)
    expected = ranks(values, truth)
    rows, columns = rng.permutation(n), rng.permutation(d)
    np.testing.assert_array_equal(ranks(values[rows], truth[rows]), expected[rows])
    np.testing.assert_array_equal(ranks(values[:, columns], truth), expected)
    twice = ranks(np.repeat(values, 2, axis=0), np.repeat(truth, 2))
    np.testing.assert_array_equal(twice, np.repeat(expected, 2))
    np.testing.assert_array_equal(ranks(np.tile(values, (2, 1)), np.tile(truth, 2)), np.tile(expected, 2))


def test_indicators_with_the_same_counts_may_change_places():
    rng = np.random.default_rng(0)
    sex = rng.permutation(np.repeat([0.0, 1.0], 30))
    values = np.column_stack([sex, 1 - sex, rng.normal(size=60)])
    truth = rng.integers(0, 2, 60)
    for order in ([1, 0, 2], [2, 0, 1], [2, 1, 0]):
        np.testing.assert_array_equal(content_folds(values[:, order], truth, 5), content_folds(values, truth, 5))


def test_zero_has_no_sign():
    values = np.array([[0.0], [1.0], [-0.0], [2.0]])
    places = ranks(values, np.zeros(4))
    assert places[0] == places[2]


def test_people_who_are_the_same_share_a_fold_and_people_who_are_not_need_not():
    values, truth, _ = draw(1, n=50)
    folds = content_folds(np.concatenate([values, values]), np.concatenate([truth, truth]), 5)
    np.testing.assert_array_equal(folds[:50], folds[50:])
    assert sorted(np.unique(folds)) == [0, 1, 2, 3, 4]
    assert content_folds(np.zeros((10, 1)), np.arange(10) % 2, 2).tolist() == [0, 1] * 5


def test_folds_are_equally_large():
    values, truth, _ = draw(2, n=103)
    assert np.bincount(content_folds(values, truth, 5)).tolist() == [21, 21, 21, 20, 20]


def test_other_units_change_nothing():
    values, truth, _ = draw(3)
    other = values * [4.0, 0.001, 1e6] + [0.0, 1.0, -5.0]
    np.testing.assert_array_equal(content_folds(other, 100 * truth, 5), content_folds(values, truth, 5))


def test_there_are_no_more_folds_than_different_people():
    values, truth = np.repeat([[0.0], [1.0], [2.0]], 10, axis=0), np.zeros(30)
    assert np.bincount(content_folds(values, truth, 5)).tolist() == [10, 10, 10]
    with pytest.raises(ValueError, match=r"X and y are the same for all 30 people.*fitted on other people"):
        content_folds(np.ones((30, 2)), truth, 5)
