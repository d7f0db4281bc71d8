"""Random signs of clusters' parts: against data made anew with the signs, and what is degenerate."""

from itertools import product

import numpy as np
import pytest

from skfairtest.inference.draws import Side, flipped, random_signs

RNG = np.random.default_rng(7)
CLUSTER = np.repeat(np.arange(6), [2, 5, 3, 4, 1, 6])
FIRST = np.array([1, 0, 1, 1, 0, 0, 1, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 0, 0, 1, 1], dtype=bool)
WEIGHT = RNG.integers(1, 4, len(CLUSTER)).astype(float)
Z = RNG.normal(size=len(CLUSTER))


def weighted_mean(z, place):
    return float((WEIGHT * z)[place].sum() / WEIGHT[place].sum())


def side(z, place):
    """Return a weighted mean by cluster."""
    total = WEIGHT[place].sum()
    parts = np.bincount(CLUSTER, np.where(place, WEIGHT * (z - weighted_mean(z, place)), 0) / total)
    return Side(weighted_mean(z, place), parts, np.bincount(CLUSTER, np.where(place, WEIGHT, 0)))


ALL_SIGNS = np.array(list(product([1.0, -1.0], repeat=6)))


def test_flipped_means_are_those_of_people_whose_residuals_are_flipped_by_cluster():
    found = flipped(side(Z, FIRST), side(Z, ~FIRST), ALL_SIGNS)
    pooled = weighted_mean(Z, np.ones(len(Z), dtype=bool))
    for number, signs in enumerate(ALL_SIGNS):
        made = pooled + signs[CLUSTER] * (Z - pooled)
        inflated = []
        for place, value, variance in ((FIRST, found[0], found[1]), (~FIRST, found[2], found[3])):
            mean, share = weighted_mean(made, place), np.bincount(CLUSTER, np.where(place, WEIGHT, 0))
            share = share / share.sum()
            sums = np.bincount(CLUSTER, np.where(place, WEIGHT * (made - mean), 0)) / WEIGHT[place].sum()
            inflated.append(sums / (1 - share))
            assert value[number] == pytest.approx(mean, abs=1e-12)
            assert variance[number] == pytest.approx((inflated[-1] ** 2).sum(), abs=1e-12)
        assert found[4][number] == pytest.approx(float(inflated[0] @ inflated[1]), abs=1e-12)


def test_all_signs_alike_give_the_data_and_their_mirror_image():
    first, second = side(Z, FIRST), side(Z, ~FIRST)
    a, q1, b, q2, covariance = flipped(first, second, np.array([[1.0] * 6, [-1.0] * 6]))
    assert (a[0], b[0]) == pytest.approx((first.value, second.value))
    assert a[0] - b[0] == pytest.approx(b[1] - a[1])
    for moment in (q1, q2, covariance):
        assert moment[0] == pytest.approx(moment[1])


def test_a_side_in_one_cluster_is_hardly_ever_found_to_differ():
    # One cluster says nothing about how clusters differ, however far from the others it is.
    rng = np.random.default_rng(0)
    rejected = 0
    for _ in range(200):
        means = rng.normal(size=20)
        alone = np.arange(20) == 0
        sides = [
            Side(means[place].mean(), np.where(place, means - means[place].mean(), 0) / place.sum(), place * 1.0)
            for place in (alone, ~alone)
        ]
        a, q1, b, q2, covariance = flipped(*sides, np.vstack([np.ones(20), random_signs(99, 20, rng)]))
        assert (q1 == 0).all()
        statistic = np.abs(a - b) / np.sqrt(q1 + q2 - 2 * covariance)
        rejected += (1 + (statistic[1:] >= statistic[0] - 1e-9).sum()) / 100 <= 0.05
    assert rejected <= 10


def test_pairs_that_all_differ_alike_have_no_spread_and_no_rounding_error_of_one():
    cluster = np.arange(5)
    pair = [Side(2.1, np.zeros(5), np.ones(5)), Side(1.7, np.zeros(5), np.ones(5))]
    a, q1, b, q2, covariance = flipped(*pair, np.ones((1, len(cluster))))
    assert a - b == pytest.approx(0.4)
    assert q1 + q2 - 2 * covariance == 0


def test_signs_are_fair_and_independent():
    signs = random_signs(20_000, 3, np.random.default_rng(1))
    assert set(np.unique(signs)) == {-1.0, 1.0}
    np.testing.assert_allclose(signs.T @ signs / len(signs), np.eye(3), atol=0.03)
    np.testing.assert_allclose(signs.mean(axis=0), 0, atol=0.03)
