"""Who is possible: boxes, features that stay, levels, and blocks of columns that are one choice.

A flow moves people through all real numbers, for which distances are defined. The result is the nearest possible
person: nobody has half a category, or is beyond the limits of a feature.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skfairtest._utils.typing import Floats

#: Shares that differ by no more than this are one: nobody changes a category by rounding.
_SAME = 1e-9


@dataclass(frozen=True)
class Ranges:
    """Who is possible, in the units of X.

    Each kind of limit has its own columns, so their order does not matter.

    Parameters
    ----------
    low, high : ndarray of shape (d,)
        Limits; infinite where there are none, and for columns of blocks.
    frozen : ndarray of bool, shape (d,)
        Features that do not move.
    blocks : tuple of tuple of int
        Columns that are the indicators of one choice.
    levels : mapping of int to ndarray
        Columns that have these values only, in increasing order.
    derived : tuple of int
        Columns that follow the others, which have no limits of their own.

    Examples
    --------
    >>> low, high = np.array([0.0, -np.inf, -np.inf]), np.full(3, np.inf)
    >>> ranges = Ranges(low, high, np.zeros(3, dtype=bool), ((1, 2),))
    >>> print(ranges.nearest(np.array([[-3.0, 0.9, 0.5]]), np.array([[1.0, 0.0, 1.0]])))
    [[0. 1. 0.]]
    """

    low: Floats
    high: Floats
    frozen: NDArray[np.bool_]
    blocks: tuple[tuple[int, ...], ...] = ()
    levels: dict[int, Floats] = field(default_factory=dict)
    derived: tuple[int, ...] = ()

    @cached_property
    def free(self) -> bool:
        """Whether every point that a flow can reach is possible."""
        limited = np.isfinite(self.low).any() or np.isfinite(self.high).any()
        return not (limited or self.blocks or self.levels or self.derived)

    @cached_property
    def bounded(self) -> bool:
        """Whether all possible people are within bounds, wherever a flow leads."""
        held = self.frozen | (np.isfinite(self.low) & np.isfinite(self.high))
        held[[*self.derived, *self.levels, *(column for block in self.blocks for column in block)]] = True
        return bool(held.all())

    def nearest(self, x: Floats, x0: Floats) -> Floats:
        """Return the nearest possible people, of shape (n, d).

        Parameters
        ----------
        x : ndarray of shape (n, d)
            Points.
        x0 : ndarray of shape (n, d)
            Where they started, which is possible: a choice or a level changes only where another is nearer. People
            who started as a mixture of categories, with shares that sum to 1, may end as one.
        """
        x = np.clip(x, self.low, self.high)
        for column, values in self.levels.items():
            x[:, column] = values[np.searchsorted((values[1:] + values[:-1]) / 2, x[:, column])]
        for block in self.blocks:
            x[:, block] = _chosen(x[:, block], x0[:, block])
        return np.where(self.frozen, x0, x)


def _chosen(v: Floats, v0: Floats) -> Floats:
    """Return the category with the largest share, in a tie the one of the start; mixtures stay mixtures."""
    kept = np.where(v0 == 1, v + _SAME, v)
    found = np.zeros_like(v)
    found[np.arange(len(v)), kept.argmax(axis=1)] = 1.0
    mixed = ~np.isin(v0, (0.0, 1.0)).all(axis=1)
    found[mixed] = on_simplex(v[mixed]) if mixed.any() else found[mixed]
    return found


def on_simplex(v: ArrayLike) -> Floats:
    """Return the nearest points with non-negative coordinates that sum to 1: Euclidean projection of each row.

    Parameters
    ----------
    v : array-like, shape (n, k)
        Points.

    Returns
    -------
    ndarray, shape (n, k)
        ``max(v - t, 0)`` with the t of each row that gives its sum. A point that is already there stays.

    References
    ----------
    J. Duchi et al. (2008). Efficient projections onto the l1-ball for learning in high dimensions. Figure 1.
    """
    points = np.asarray(v, dtype=float)
    points = points - points.max(axis=1, keepdims=True)  # no other answer, and points from afar keep their digits
    ordered = -np.sort(-points, axis=1)
    thresholds = (np.cumsum(ordered, axis=1) - 1.0) / np.arange(1, points.shape[1] + 1)
    positive = np.maximum((ordered > thresholds).sum(axis=1), 1)
    shift: Floats = thresholds[np.arange(len(points)), positive - 1]
    inside: Floats = np.maximum(points - shift[:, None], 0.0)
    return inside
