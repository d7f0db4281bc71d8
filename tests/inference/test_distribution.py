"""Anderson and Darling's statistic, Kolmogorov's distance and Smirnov's band, against SciPy and enumeration."""

import warnings
from itertools import combinations

import numpy as np
import pytest
from scipy.stats import anderson_ksamp, ks_2samp

from skfairtest.inference.distribution import POINTS, Distributions, band, farthest

RNG = np.random.default_rng(3)


def _of(first, second, cluster=None):
    values = np.concatenate([first, second])
    side = np.arange(len(values)) < len(first)
    return Distributions.of([(values, np.stack([side, ~side]).astype(np.int64), cluster)])


def _statistic(made, first):
    (stratum,) = made.strata
    return float(made.statistic(stratum.excess(np.asarray(first))))


@pytest.mark.parametrize("decimals", [0, 1, 9])
def test_the_statistic_is_scipys_but_for_its_scale(decimals):
    first, second = RNG.normal(size=(40, 15)).round(decimals), RNG.normal(0.3, 2, size=(40, 27)).round(decimals)
    pooled = np.concatenate([first, second], axis=1)
    rows = np.array([RNG.permutation(row) for row in np.tile(pooled[:1], (40, 1))])
    ours, theirs = [], []
    for row in rows:
        each = _of(row[:15], row[15:])  # of all its values, which are the same
        ours.append(each.observed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of p-values beyond its table
            theirs.append(anderson_ksamp([row[:15], row[15:]], variant="midrank").statistic)
    slope, at = np.polyfit(ours, theirs, 1)
    # SciPy subtracts k - 1 and divides by a number that only the sizes decide.
    np.testing.assert_allclose(slope * np.array(ours) + at, theirs, atol=1e-9)
    assert at / slope == pytest.approx(-1.0)


@pytest.mark.parametrize("values", [[1.0, 2, 3, 4, 5, 6, 7, 8], [0.0, 0, 0, 1, 1, 2, 3, 3]])
def test_random_people_are_all_subsets_alike(values):
    values = np.array(values)
    made = _of(values[:3], values[3:])

    def statistic(chosen):
        _, place = np.unique(values, return_inverse=True)
        return _statistic(made, np.bincount(place, np.isin(np.arange(8), chosen)))

    of_subsets = [statistic([*chosen]) for chosen in combinations(range(8), 3)]
    drawn = made.draw(20_000, np.random.default_rng(0))
    for limit in np.unique(np.round(of_subsets, 9)):
        expected = np.mean(np.array(of_subsets) >= limit - 1e-9)
        assert np.mean(drawn >= limit - 1e-9) == pytest.approx(expected, abs=4 * np.sqrt(0.25 / 20_000))


def test_people_of_few_values_are_drawn_by_value():
    values = np.repeat([0.0, 1.0, 2.0], 200)
    made, again = _of(values[::2], values[1::2]), RNG.normal(size=(2, 50))
    assert made.strata[0].people.sum() > 20 * made.strata[0].people.shape[1]
    several = _of(*again)
    assert several.strata[0].people.shape == (2, 100)
    for each in (made, several):
        drawn = each.draw(3000, np.random.default_rng(1))
        assert drawn.mean() == pytest.approx(1.0, abs=0.08)  # k - 1, whatever the values


def test_clusters_move_whole():
    cluster = np.repeat(np.arange(6), 3)
    values = np.repeat([0.0, 1, 2, 3, 4, 5], 3)
    made = _of(values[:6], values[6:], cluster)
    drawn = np.unique(np.round(made.draw(2000, np.random.default_rng(0)), 9))
    expected = []
    for chosen in combinations(range(6), 2):
        first = np.isin(cluster, chosen)
        expected.append(_statistic(made, np.bincount(values.astype(int), first)))
    np.testing.assert_allclose(drawn, np.unique(np.round(expected, 9)))


def test_many_values_are_put_into_intervals():
    first, second = RNG.normal(size=3000), RNG.normal(0.1, 1, 4000)
    made = _of(first, second)
    assert made.strata[0].people.shape[1] == POINTS
    assert made.strata[0].people.sum() == 7000
    n, m = 3000, 4000
    everyone = np.sort(np.concatenate([first, second]))
    inside = np.searchsorted(np.sort(first), everyone[:-1], side="right")
    i = np.arange(1, n + m)
    exact = np.sum(((n + m) * inside - n * i) ** 2 / (i * (n + m - i))) / (n * m)
    assert made.observed == pytest.approx(exact, rel=0.01)


def test_the_distance_and_its_band_are_kolmogorovs_and_smirnovs():
    first, second = RNG.normal(size=80).round(1), RNG.normal(0.5, 1, 70).round(1)
    values = np.concatenate([first, second])
    side = np.arange(150) < 80
    at, shares = farthest(values, np.stack([side, ~side]))
    scipys = ks_2samp(first, second)
    assert abs(shares[0] - shares[1]) == pytest.approx(scipys.statistic)
    assert at == scipys.statistic_location
    assert shares == pytest.approx((np.mean(first <= at), np.mean(second <= at)))
    distances = [ks_2samp(*RNG.random((2, 60))).statistic for _ in range(2000)]
    assert np.mean(np.array(distances) > band((60, 60), 0.05)) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 2000)


def test_matched_pairs_say_in_which_direction_they_differ():
    base = RNG.normal(size=40)
    pairs = [(np.array([x + 0.3, x]), np.eye(2, dtype=np.int64), None) for x in base]
    made = Distributions.of(pairs)
    drawn = made.draw(2000, np.random.default_rng(0))
    assert np.mean(drawn >= made.observed) < 0.01
    turned = [(values, counts if k % 2 else counts[::-1], None) for k, (values, counts, _) in enumerate(pairs)]
    assert np.mean(drawn >= Distributions.of(turned).observed) > 0.1


@pytest.mark.parametrize("n", [(2, 2), (3, 3), (2, 5), (3, 4), (9, 300), (10, 10)])
def test_the_band_holds_for_few_people_too(n):
    distances = [ks_2samp(RNG.random(n[0]), RNG.random(n[1])).statistic for _ in range(1000)]
    assert np.mean(np.array(distances) > band(n, 0.05)) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 1000)
