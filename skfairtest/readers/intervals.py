"""Numbers as intervals: a column is cut at its quantiles into a few intervals, which are named by what they hold."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from skfairtest._utils.typing import Booleans, Floats, Integers
from skfairtest.readers.columns import Column
from skfairtest.readers.numbers import as_floats


def in_intervals(column: Column, n_bins: int, counts: Integers | None = None) -> tuple[Column, tuple[float, ...]]:
    """Put the numbers of a column into intervals that hold about as many people each.

    Parameters
    ----------
    column : Column
        Numbers, with at least `n_bins` + 1 distinct values; other columns are returned unchanged, with no edges. Names
        among the numbers, such as the name for missing values, stay as they are.
    n_bins : int
        How many intervals; fewer where many people share a number.
    counts : ndarray of shape (n,), optional
        How many people each row stands for.

    Returns
    -------
    column : Column
        Labels in the order of the numbers: "25 to 34" holds both ends, "0.5 to below 1.2" all but the second.
    edges : tuple of float
        The smallest number of each interval, then the largest of all.

    Examples
    --------
    >>> from skfairtest.readers.columns import read_column
    >>> age, edges = in_intervals(read_column([17, 20, 25, 31, 34, 60], "age"), 3)
    >>> age.levels, edges
    (('17 to 20', '25 to 31', '34 to 60'), (17.0, 25.0, 34.0, 60.0))
    """
    is_number = np.array([type(level) in (int, float) for level in column.levels], dtype=bool)
    if column.categorical or is_number.sum() <= n_bins:
        return column, ()
    numbers = as_floats(np.array(column.levels, dtype=object)[is_number])
    if len(numbers) < len(column.levels) or (np.diff(numbers) < 0).any():
        return _beside_names(column, is_number, n_bins, counts)
    # How many people are below each number: an interval begins where that is nearest to its share of everyone.
    below = np.concatenate([[0.0], np.bincount(column.codes, counts, minlength=len(numbers)).cumsum()])
    middles = (below[1:] + below[:-1]) / 2
    starts = np.unique(np.searchsorted(middles, below[-1] * np.arange(n_bins) / n_bins))
    starts = starts[starts < len(numbers)]
    place = np.searchsorted(starts, np.arange(len(numbers)), side="right") - 1
    labels = _labels(column.levels, numbers, starts)
    edges = (*numbers[starts].tolist(), float(numbers[-1]))
    return replace(column, levels=labels, codes=place[column.codes], categorical=True), edges


def _beside_names(
    column: Column, is_number: Booleans, n_bins: int, counts: Integers | None
) -> tuple[Column, tuple[float, ...]]:
    """Cut the numbers of a column whose levels are not sorted numbers, and put its names after the intervals."""
    levels = np.array(column.levels, dtype=object)
    numbers = np.flatnonzero(is_number)[np.argsort(as_floats(levels[is_number]), kind="stable")]
    order = np.concatenate([numbers, np.flatnonzero(~is_number)])
    place = np.argsort(order)[column.codes]
    numeric = place < len(numbers)
    chosen = None if counts is None else counts[numeric]
    part = replace(column, levels=tuple(levels[numbers]), codes=place[numeric])
    cut, edges = in_intervals(part, n_bins, chosen)
    codes = place - len(numbers) + len(cut.levels)
    codes[numeric] = cut.codes
    return replace(cut, levels=(*cut.levels, *levels[~is_number]), codes=codes), edges


def _labels(levels: tuple[Any, ...], numbers: Floats, starts: Integers) -> tuple[str, ...]:
    ends = [*(starts[1:] - 1).tolist(), len(numbers) - 1]
    if all(type(level) is int for level in levels):
        pairs = [(levels[start], levels[end]) for start, end in zip(starts.tolist(), ends, strict=True)]
        return tuple(f"{low}" if low == high else f"{low} to {high}" for low, high in pairs)
    digits = _digits(np.append(numbers[starts], numbers[-1]))
    shown = [f"{edge:.{digits}g}" for edge in (*numbers[starts], numbers[-1])]
    last = len(starts) - 1
    return tuple(f"{shown[i]} to {'' if i == last else 'below '}{shown[i + 1]}" for i in range(len(starts)))


def _digits(edges: Floats) -> int:
    """The number of digits that distinguish the edges."""
    return next((n for n in range(3, 17) if len({f"{edge:.{n}g}" for edge in edges}) == len(set(edges.tolist()))), 17)
