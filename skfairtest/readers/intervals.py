"""Numbers as intervals: the quantiles of a column cut it into a few, which are named by what they hold."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from skfairtest._utils.typing import Floats, Integers
from skfairtest.readers.columns import Column
from skfairtest.readers.numbers import as_floats

__all__ = ["in_intervals", "is_quantity"]


def is_quantity(column: Column) -> bool:
    """Whether the values of a column are numbers, and no names or truth values."""
    return not column.categorical and all(type(level) in (int, float) for level in column.levels)


def in_intervals(column: Column, n_bins: int, counts: Integers | None = None) -> tuple[Column, tuple[float, ...]]:
    """Put the numbers of a column into intervals that hold about as many people each.

    Parameters
    ----------
    column : Column
        Numbers, at least `n_bins` + 1 different ones; others come back as they are, with no edges.
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
    if not is_quantity(column) or len(column.levels) <= n_bins:
        return column, ()
    numbers = as_floats(column.levels)
    # How many people are below each number: an interval begins where that is nearest to its share of everyone.
    below = np.concatenate([[0.0], np.bincount(column.codes, counts, minlength=len(numbers)).cumsum()])
    middles = (below[1:] + below[:-1]) / 2
    starts = np.unique(np.searchsorted(middles, below[-1] * np.arange(n_bins) / n_bins))
    starts = starts[starts < len(numbers)]
    place = np.searchsorted(starts, np.arange(len(numbers)), side="right") - 1
    labels = _labels(column.levels, numbers, starts)
    edges = (*numbers[starts].tolist(), float(numbers[-1]))
    return replace(column, levels=labels, codes=place[column.codes], categorical=True), edges


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
    """Return how many digits tell the edges apart."""
    return next((n for n in range(3, 17) if len({f"{edge:.{n}g}" for edge in edges}) == len(set(edges.tolist()))), 17)
