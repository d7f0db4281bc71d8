"""Random tables: what stays fixed, and the distribution of what does not."""

from math import comb

import numpy as np
import pytest
from scipy.stats import binom, chisquare, hypergeom

from skfairtest.inference import draws
from skfairtest.inference.draws import bootstrapped, chunks, permuted

# Two strata, three groups, four cells.
TABLE = np.array([[[5, 3, 9, 2], [1, 7, 0, 4], [6, 2, 3, 8]], [[0, 4, 4, 1], [2, 2, 5, 0], [0, 0, 0, 0]]])


def rng(seed=0):
    return np.random.default_rng(seed)


def together(iterator):
    return np.concatenate(list(iterator))


def test_permuting_labels_keeps_the_margins_of_every_block():
    drawn = together(permuted(TABLE, [[0, 1], [2, 3]], 500, rng()))
    assert drawn.shape == (500, *TABLE.shape)
    assert drawn.dtype == np.int64
    assert (drawn >= 0).all()
    for block in ([0, 1], [2, 3]):
        np.testing.assert_array_equal(
            drawn[..., block].sum(axis=-1), np.broadcast_to(TABLE[..., block].sum(axis=-1), (500, 2, 3))
        )
    np.testing.assert_array_equal(drawn.sum(axis=2), np.broadcast_to(TABLE.sum(axis=1), (500, 2, 4)))
    assert len(np.unique(drawn.reshape(500, -1), axis=0)) > 400


def test_cells_in_no_block_keep_their_counts():
    drawn = together(permuted(TABLE, [[0, 1]], 50, rng()))
    np.testing.assert_array_equal(drawn[..., 2:], np.broadcast_to(TABLE[..., 2:], (50, 2, 3, 2)))


def test_with_nothing_to_exchange_the_table_stays():
    one_cell = np.array([[[4, 0], [7, 0]]])
    one_group = np.array([[[4, 2], [0, 0]]])
    for table in (one_cell, one_group):
        assert (together(permuted(table, [[0, 1]], 20, rng())) == table).all()


def test_two_groups_are_hypergeometric():
    table = np.array([[[3, 6], [5, 4]]])
    drawn = together(permuted(table, [[0, 1]], 20_000, rng(1)))[:, 0, 0, 0]
    expected = hypergeom.pmf(np.arange(9), 18, 8, 9)
    assert chisquare(np.bincount(drawn, minlength=9), expected / expected.sum() * len(drawn)).pvalue > 1e-3


@pytest.mark.parametrize("cells", [3, 4])
def test_two_groups_of_several_cells_are_multivariate_hypergeometric(cells):
    table = np.array([[[1, 2, 1, 1][:cells], [2, 0, 1, 2][:cells]]])
    drawn = together(permuted(table, [list(range(cells))], 30_000, rng(2)))[:, 0, 0]
    columns, people = table[0].sum(axis=0), table[0, 0].sum()
    seen, counts = np.unique(drawn, axis=0, return_counts=True)
    law = np.array([np.prod([comb(int(c), int(x)) for c, x in zip(columns, row, strict=True)]) for row in seen])
    assert law.sum() == comb(int(columns.sum()), int(people))  # every possible table was seen
    assert chisquare(counts, law / law.sum() * len(drawn)).pvalue > 1e-3


def test_three_groups_have_the_law_of_permuted_labels():
    table = np.array([[[1, 1], [1, 1], [0, 2]]])
    drawn = together(permuted(table, [[0, 1]], 30_000, rng(3)))[:, 0, :, 0]
    seen, counts = np.unique(drawn, axis=0, return_counts=True)
    # Two events among six people, two in each group: C(2, a) C(2, b) C(2, c) of C(6, 2) = 15.
    law = np.array([np.prod([comb(2, int(x)) for x in row]) for row in seen])
    assert law.sum() == 15
    assert chisquare(counts, law / 15 * len(drawn)).pvalue > 1e-3


def test_strata_are_permuted_independently():
    table = np.array([[[50, 50], [50, 50]], [[50, 50], [50, 50]]])
    drawn = together(permuted(table, [[0, 1]], 20_000, rng(4)))[:, :, 0, 0].astype(float)
    assert abs(np.corrcoef(drawn.T)[0, 1]) < 4 / np.sqrt(20_000)


def test_resampling_people_keeps_the_people_of_every_group():
    for table in TABLE:
        drawn = bootstrapped(table, 300, rng(5)).swapaxes(0, 1)
        np.testing.assert_array_equal(drawn.sum(axis=-1), np.broadcast_to(table.sum(axis=-1), (300, 3)))
        assert (drawn[:, table == 0] == 0).all()  # nobody of a kind that was not seen


def test_resampled_counts_are_binomial():
    drawn = bootstrapped(np.array([[3, 7], [0, 0]]), 20_000, rng(6))[0, :, 0]
    counts = np.bincount(drawn, minlength=11)
    kept = np.arange(8)
    expected = np.append(binom.pmf(kept, 10, 0.3), binom.sf(7, 10, 0.3)) * len(drawn)
    assert chisquare(np.append(counts[:8], counts[8:].sum()), expected).pvalue > 1e-3


def test_chunks_add_up_and_stay_small():
    for shape, number in [((2, 3, 4), 9999), ((100, 20, 50), 999), ((10**4, 10, 100), 3), ((1, 2, 2), 1)]:
        sizes = list(chunks(shape, number))
        assert sum(sizes) == number
        assert max(sizes) <= max(1, draws.CHUNK // np.prod(shape))


def test_more_people_than_can_be_drawn_is_an_error_that_says_what_to_do():
    table = np.array([[[400_000_000, 300_000_000], [200_000_000, 100_000_000]]])
    with pytest.raises(ValueError, match=r"1,000,000,000 people.*method='exact'"):
        next(iter(permuted(table, [[0, 1]], 10, rng())))
