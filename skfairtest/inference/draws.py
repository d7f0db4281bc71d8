"""Random tables: label permutations and bootstrap samples of counts, at a cost that does not depend on the people.

Permuting n labels and counting again is one draw of a table with the same margins (multivariate hypergeometric);
resampling n people with replacement and counting is one multinomial draw. Tables have shape (strata, groups, cells).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.stats import random_table

from skfairtest._utils.errors import ParameterError

Counts = NDArray[np.int64]

#: Counts held at once; draws come in chunks of this size.
CHUNK = 4_000_000
#: The random-number library draws hypergeometric numbers only below this many people.
MOST_PEOPLE = 1_000_000_000


def chunks(shape: tuple[int, ...], n_resamples: int) -> Iterator[int]:
    """Sizes of the chunks in which `n_resamples` tables of this shape are drawn; they depend on nothing else."""
    size = max(1, CHUNK // max(1, int(np.prod(shape))))
    for start in range(0, n_resamples, size):
        yield min(size, n_resamples - start)


def permuted(
    counts: Counts, blocks: Sequence[Sequence[int]], n_resamples: int, rng: np.random.Generator
) -> Iterator[Counts]:
    """Yield chunks (b, strata, groups, cells) of tables with labels permuted within each stratum and block of cells.

    Parameters
    ----------
    counts : ndarray of int, shape (strata, groups, cells)
        The observed table.
    blocks : sequence of sequences of int
        Cells among which labels are exchanged; cells in no block keep their counts.
    n_resamples : int
        How many tables.
    rng : numpy.random.Generator
        Source of randomness.

    Raises
    ------
    ValueError
        If a block holds a billion people or more.
    """
    for size in chunks(counts.shape, n_resamples):
        out = np.broadcast_to(counts, (size, *counts.shape)).copy()
        for stratum, table in enumerate(counts):
            for block in blocks:
                cells = list(block)
                part = table[:, cells]
                kept_groups = np.flatnonzero(part.sum(axis=1))
                kept_cells = np.array(cells, dtype=np.intp)[part.sum(axis=0) > 0]
                if len(kept_groups) > 1 and len(kept_cells) > 1:
                    drawn = _tables(table[np.ix_(kept_groups, kept_cells)], size, rng)
                    out[:, stratum, kept_groups[:, None], kept_cells] = drawn
        yield out


def _tables(table: Counts, size: int, rng: np.random.Generator) -> Counts:
    """Draw `size` tables with the margins of this one (groups x cells, no empty row or column)."""
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    if rows.sum() >= MOST_PEOPLE:
        raise ParameterError(
            f"method='permutation' can draw tables of fewer than {MOST_PEOPLE:,} people, found {rows.sum():,}: "
            "use method='exact'"
        )
    if len(rows) > 2:
        return np.asarray(random_table(rows, columns).rvs(size=size, random_state=rng), dtype=np.int64)
    return draw_first_rows(table, size, rng)


def draw_first_rows(table: Counts, size: int, rng: np.random.Generator) -> Counts:
    """Draw tables (size, 2, cells) with the margins of one of two rows, neither of them empty."""
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    if len(columns) == 2:
        first = rng.hypergeometric(columns[0], columns[1], rows[0], size=size)
        top = np.stack([first, rows[0] - first], axis=-1)
    else:
        top = rng.multivariate_hypergeometric(columns, rows[0], size=size, method="marginals")
    return np.stack([top, columns - top], axis=1)


def bootstrapped(counts: Counts, n_resamples: int, rng: np.random.Generator) -> Iterator[Counts]:
    """Yield chunks (b, strata, groups, cells) of tables whose people were resampled within each stratum and group."""
    totals = counts.sum(axis=-1)
    for size in chunks(counts.shape, n_resamples):
        out = np.zeros((size, *counts.shape), dtype=np.int64)
        for stratum, group in zip(*np.nonzero(totals), strict=True):
            n = int(totals[stratum, group])
            out[:, stratum, group] = rng.multinomial(n, counts[stratum, group] / n, size=size)
        yield out
