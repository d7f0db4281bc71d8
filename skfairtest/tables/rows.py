"""Rows with counts: the sparse form in which tables are built, added up and rearranged."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from skfairtest._utils.typing import Booleans, Floats, Integers, Positions
from skfairtest.readers.columns import Column
from skfairtest.readers.encoding import small
from skfairtest.readers.levels import sort_levels, unify_numbers

# Up to here a dense array of every combination of levels is cheaper than a hash table.
DENSE_LIMIT = 4_000_000
# Where a table would no longer be small.
TABLE_LIMIT = 50_000_000
_INT_LIMIT = 1 << 62


@dataclass(frozen=True, eq=False)
class Rows:
    """Columns of equal length, and how many people each row stands for.

    Where people have weights, `weights` (n, 2) holds the sums of these and of their squares.
    """

    columns: tuple[Column, ...]
    counts: Integers
    weights: Floats | None = None

    def select(self, names: Sequence[str]) -> "Rows":
        """Keep the columns of these names, in this order; rows may then repeat."""
        by_name = {column.name: column for column in self.columns}
        return Rows(tuple(by_name[name] for name in names), self.counts, self.weights)

    def take(self, rows: Booleans | Positions) -> "Rows":
        """Return some of the rows, with the levels that occur in them."""
        columns = tuple(used(column, rows) for column in self.columns)
        return Rows(columns, self.counts[rows], None if self.weights is None else self.weights[rows])

    def negated(self) -> "Rows":
        """Return the rows whose addition subtracts these."""
        return Rows(self.columns, -self.counts, None if self.weights is None else -self.weights)


def distinct_levels(values: Sequence[Any]) -> list[Any]:
    """Return different values in order; True, 1 and 1.0 are one level, as they are within a column."""
    return sort_levels(unify_numbers(dict.fromkeys(values), map(type, values)))


def combine(codes: Sequence[Positions], sizes: Sequence[int]) -> NDArray[np.intp] | None:
    """Number the combinations of several codes, the last varying fastest.

    Parameters
    ----------
    codes : sequence of ndarray of shape (n,)
        At least one.
    sizes : sequence of int
        How many levels each has.

    Returns
    -------
    ndarray of shape (n,) or None
        One number per row, below the product of `sizes`; None if that does not fit an int64.
    """
    if math.prod(sizes) > _INT_LIMIT:
        return None
    combined = codes[0].astype(np.intp)
    for further, size in zip(codes[1:], sizes[1:], strict=True):
        np.multiply(combined, size, out=combined)
        np.add(combined, further, out=combined)
    return combined


def tally(columns: Sequence[Column]) -> Rows:
    """Count the people who share a row.

    Parameters
    ----------
    columns : sequence of Column
        One value per person each, all of the same length.

    Returns
    -------
    Rows
        The distinct rows that occur, in no particular order.
    """
    codes = [column.codes for column in columns]
    sizes = [len(column.levels) for column in columns]
    n_rows, n_combinations = codes[0].size, math.prod(sizes)
    combined = combine(codes, sizes)
    positions: Iterable[Positions]
    if combined is None:
        positions, counts = np.unique(np.stack(codes), axis=1, return_counts=True)
    else:
        if n_combinations <= min(DENSE_LIMIT, 4 * n_rows + (1 << 16)):
            counts = np.bincount(combined, minlength=n_combinations)
            found = np.flatnonzero(counts)
            counts = counts[found]
        else:
            combined, found = pd.factorize(combined)
            counts = np.bincount(combined)
        positions = np.unravel_index(found, sizes)
    return Rows(
        tuple(
            replace(column, codes=np.asarray(place, dtype=np.intp), index=None)
            for column, place in zip(columns, positions, strict=True)
        ),
        counts.astype(np.int64, copy=False),
    )


def join_rows(parts: Sequence[Rows]) -> Rows:
    """Concatenate rows of the same columns; equal values become one level."""
    return Rows(
        tuple(map(_join_columns, zip(*(part.columns for part in parts), strict=True))),
        np.concatenate([part.counts for part in parts]),
        None if parts[0].weights is None else np.concatenate([p.weights for p in parts if p.weights is not None]),
    )


def _join_columns(columns: Sequence[Column]) -> Column:
    everything = [value for column in columns for value in column.levels]
    levels = distinct_levels(everything)
    place = {value: position for position, value in enumerate(levels)}
    codes = [np.array([place[value] for value in column.levels], dtype=np.intp)[column.codes] for column in columns]
    return Column(columns[0].name, tuple(levels), np.concatenate(codes))


def arrange(
    rows: Rows, n_control: int, n_sensitive: int
) -> tuple[Integers, Floats | None, list[tuple[tuple[Any, ...], ...]]]:
    """Spread rows over a dense array of strata x groups x cells, everything sorted.

    Parameters
    ----------
    rows : Rows
        Its columns are the control features, the sensitive features, then the cells'.
    n_control, n_sensitive : int
        How many columns the first two are.

    Returns
    -------
    counts : ndarray of shape (S, G, K), dtype int64
        The sums; combinations that nobody has in any row are left out.
    weights : ndarray of shape (S, G, K, 2) or None
        The sums of weights and of their squares, where people have weights.
    axes : list of three tuples of tuples
        The keys of the strata, groups and cells.

    Raises
    ------
    ValueError
        If there is nobody, or the array would be too large.
    """
    occupied = rows.counts != 0
    counts = rows.counts[occupied]
    if not counts.size:
        raise ValueError("the table holds no people: all counts are zero.")
    columns = [used(column, occupied) for column in rows.columns]
    ends = [0, n_control, n_control + n_sensitive, len(columns)]
    axes, places = [], []
    for start, stop in pairwise(ends):
        keys, place = distinct_keys(columns[start:stop], counts.size)
        axes.append(keys)
        places.append(place)
    shape = tuple(len(keys) for keys in axes)
    if math.prod(shape) > TABLE_LIMIT:
        raise ValueError(
            f"{shape[0]:,} strata x {shape[1]:,} groups x {shape[2]:,} cells are too many to "
            "count: group the values of the features, or round the scores."
        )
    dense = np.zeros(shape, dtype=np.int64)
    np.add.at(dense, tuple(places), counts)
    if rows.weights is None:
        return dense, None, axes
    weights = np.zeros((*shape, 2))
    np.add.at(weights, tuple(places), rows.weights[occupied])
    return dense, weights, axes


def used(column: Column, rows: Booleans | Positions) -> Column:
    """Return some rows of a column, with the levels that occur in them."""
    codes = column.codes[rows]
    found = np.flatnonzero(np.bincount(codes, minlength=len(column.levels)))
    if found.size < len(column.levels):
        renumber = np.zeros(len(column.levels), dtype=np.intp)
        renumber[found] = np.arange(found.size)
        codes = renumber[codes]
    return Column(column.name, tuple(column.levels[i] for i in found.tolist()), codes, categorical=column.categorical)


def distinct_keys(columns: Sequence[Column], n_rows: int) -> tuple[tuple[tuple[Any, ...], ...], Positions]:
    """Return the distinct combinations in sorted order, and which of them each row has."""
    if not columns:
        return ((),), np.zeros(n_rows, dtype=np.uint8)
    if len(columns) == 1:  # every level of a column occurs
        return tuple((level,) for level in columns[0].levels), columns[0].codes
    codes = [column.codes for column in columns]
    sizes = [len(column.levels) for column in columns]
    combined = combine(codes, sizes)
    positions: Iterable[Positions]
    if combined is None:
        positions, place = np.unique(np.stack(codes), axis=1, return_inverse=True)
    else:
        found, place = np.unique(combined, return_inverse=True)
        positions = np.unravel_index(found, sizes)
    values = [
        [column.levels[i] for i in position.tolist()] for column, position in zip(columns, positions, strict=True)
    ]
    return tuple(zip(*values, strict=True)), small(place.reshape(-1), len(values[0]))
