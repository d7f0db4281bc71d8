"""Areas of subsets and of the others: bit for bit those of everybody's walk, and those of all pairs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skfairtest.metrics import auc_subsets
from skfairtest.metrics.auc import RankedScores
from skfairtest.metrics.auc_subsets import SubsetAreas


def rows_of(n, k, size, rng):
    """Random subsets, as places in increasing order and as zeros and ones."""
    places = np.sort(np.argsort(rng.random((size, n)), axis=1)[:, :k], axis=1)
    members = np.zeros((size, n), dtype=np.uint8)
    np.put_along_axis(members, places, 1, axis=1)
    return places, members


def check(positives, negatives, sizes, rng, rows=4):
    positives, negatives = np.sort(positives), np.sort(negatives)
    (pos, pos_members), (neg, neg_members) = (
        rows_of(len(s), k, rows, rng) for s, k in zip((positives, negatives), sizes, strict=True)
    )
    found = SubsetAreas(positives, negatives).split(pos, neg)
    wanted = RankedScores(positives, negatives).split(pos_members, neg_members)
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(one, other)


@settings(max_examples=3 * settings.default.max_examples, deadline=None)
@given(st.integers(0, 2), st.integers(1, 14), st.integers(1, 14), st.integers(0, 2**32))
def test_subsets_and_others_have_the_areas_of_the_walk(decimals, n_pos, n_neg, seed):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(0, n_pos + 1), rng.integers(0, n_neg + 1)
    check(rng.random(n_pos).round(decimals), rng.random(n_neg).round(decimals), sizes, rng)


@pytest.mark.parametrize("decimals", [1, 2, 3, 17])
def test_many_people_with_few_and_with_many_ties(monkeypatch, decimals):
    monkeypatch.setattr(auc_subsets, "TILE", 1000)  # rows in several tiles
    rng = np.random.default_rng(decimals)
    scores = [(rng.normal(size=n) + shift).round(decimals) for n, shift in ((700, 0.5), (2000, 0))]
    for sizes in ((30, 150), (1, 1), (0, 40), (350, 1000), (699, 1999)):
        check(*scores, sizes, rng, rows=9)


def test_one_score_for_everybody():
    check(np.zeros(20), np.zeros(30), (4, 7), np.random.default_rng(0))


def test_areas_by_all_pairs():
    positives, negatives = np.array([1.0, 2, 2, 5]), np.array([0.0, 2, 3])
    inside, outside = SubsetAreas(positives, negatives).split(np.array([[1, 3]]), np.array([[1, 2]]))[::2]
    assert inside[0] == (0.5 + 0 + 1 + 1) / 4  # 2 and 5 against 2 and 3
    assert outside[0] == 1.0  # 1 and 2 against 0


def test_more_people_than_sums_are_exact_for_are_refused():
    assert SubsetAreas(np.arange(100.0), np.arange(100.0)).is_exact
    areas = SubsetAreas(np.arange(3.0), np.arange(3.0))
    areas.n_positives = areas.n_negatives = 104_000  # 8 x 104,000^3 is just below 2^53
    assert areas.is_exact
    areas.n_positives = 105_000
    assert not areas.is_exact
    assert not SubsetAreas(np.zeros(0), np.zeros(3)).is_exact
