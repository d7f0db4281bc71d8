"""Random subsets: exactly uniform, with exact sizes, the same for the same seed."""

from itertools import combinations
from math import comb

import numpy as np
import pytest
from scipy.stats import chi2, chisquare, multinomial

from skfairtest.inference.draws import memberships, resampled_counts


def codes(rows):
    """One number per row of zeros and ones."""
    return rows.astype(np.int64) @ (1 << np.arange(rows.shape[1]))


@pytest.mark.parametrize(("n", "n_first"), [(2, 1), (5, 1), (5, 2), (6, 3), (7, 5), (8, 4), (9, 2), (10, 5)])
def test_all_subsets_are_equally_likely(n, n_first):
    draws = 400 * comb(n, n_first)
    found, counts = np.unique(codes(memberships(n, n_first, draws, np.random.default_rng(1))), return_counts=True)
    wanted = sorted(sum(1 << i for i in subset) for subset in combinations(range(n), n_first))
    assert found.tolist() == wanted
    assert chisquare(counts).pvalue > 1e-3


@pytest.mark.parametrize(("n", "n_first"), [(40, 20), (40, 5), (300, 90), (300, 299), (300, 2), (1500, 700)])
def test_people_and_pairs_are_included_as_often_as_they_should(n, n_first):
    draws = 20_000
    rows = memberships(n, n_first, draws, np.random.default_rng(2))
    share = n_first / n
    # The statistic's components sum to 0: n - 1 degrees of freedom.
    persons = ((rows.sum(axis=0, dtype=float) - draws * share) ** 2).sum() / (draws * share * (1 - share)) * (n - 1) / n
    assert 1e-3 < chi2.sf(persons, n - 1) < 1 - 1e-3
    rng = np.random.default_rng(3)
    one, other = rng.integers(0, n, 200), rng.integers(0, n, 200)
    one, other = one[one != other], other[one != other]
    together = (rows[:, one] & rows[:, other]).sum(axis=0, dtype=float)
    both = share * (n_first - 1) / (n - 1)
    z = (together - draws * both) / (draws * both * (1 - both)) ** 0.5 if both * draws > 5 else np.zeros(1)
    assert np.abs(z).max() < 4.5
    assert 0.5 < z.std() < 1.5 or not z.any()


def test_draws_are_independent_of_each_other():
    rows = memberships(200, 100, 2000, np.random.default_rng(4)).astype(int)
    shared = (rows[1:] & rows[:-1]).sum(axis=1)  # hypergeometric: mean 50, variance 12.56
    assert abs(shared.mean() - 50) < 4 * (12.56 / 1999) ** 0.5
    assert shared.var(ddof=1) == pytest.approx(12.56, rel=0.15)


@pytest.mark.parametrize("n", [1, 2, 3, 10, 255, 256, 257, 999, 1001, 5000, 300_000])
def test_sizes_are_exact(n):
    rng = np.random.default_rng(5)
    for n_first in {0, 1, n // 300, n // 100, n // 7, n // 2, n - n // 3, n - 1, n}:
        rows = memberships(n, n_first, 7, rng)
        assert rows.shape == (7, n)
        assert rows.dtype == np.uint8
        assert rows.max() <= 1
        assert (rows.sum(axis=1, dtype=int) == n_first).all()


def test_nobody_and_no_draws():
    rng = np.random.default_rng(6)
    assert memberships(0, 0, 3, rng).shape == (3, 0)
    assert memberships(5, 2, 0, rng).shape == (0, 5)
    assert resampled_counts(0, 3, rng).shape == (3, 0)
    assert resampled_counts(5, 0, rng).shape == (0, 5)


@pytest.mark.parametrize("n_first", [-1, 6])
def test_a_subset_larger_than_everyone_is_an_error(n_first):
    with pytest.raises(ValueError, match="n_first must be between 0 and n=5"):
        memberships(5, n_first, 1, np.random.default_rng())


def test_bootstrap_counts_are_multinomial():
    n, draws = 4, 40_000
    rows = resampled_counts(n, draws, np.random.default_rng(9))
    found, counts = np.unique(rows, axis=0, return_counts=True)
    assert len(found) == comb(2 * n - 1, n)
    expected = draws * multinomial.pmf(found.astype(int), n, [1 / n] * n)
    assert chisquare(counts, expected).pvalue > 1e-3


@pytest.mark.parametrize("n", [1, 17, 1000, 300_000])
def test_bootstrap_counts_sum_to_everyone(n):
    rows = resampled_counts(n, 5, np.random.default_rng(10))
    assert rows.dtype == np.uint8
    assert (rows.sum(axis=1, dtype=int) == n).all()
