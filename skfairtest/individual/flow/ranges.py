"""Where an unfair example may go: boxes, features that stay, and blocks of columns that are one category."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skfairtest._utils.typing import Floats


@dataclass(frozen=True)
class Ranges:
    """Where features may go.

    Each kind of limit concerns columns of its own, so that their order does not matter and together they are the
    Euclidean projection on the allowed points.

    Parameters
    ----------
    low, high : ndarray of shape (d,)
        Limits; infinite where there are none, and for columns of blocks.
    frozen : ndarray of bool, shape (d,)
        Features that do not move.
    blocks : tuple of tuple of int
        Columns that are the indicators of one category: they stay non-negative, with sum 1.

    Examples
    --------
    >>> low, high = np.array([0.0, -np.inf, -np.inf]), np.full(3, np.inf)
    >>> ranges = Ranges(low, high, np.zeros(3, dtype=bool), ((1, 2),))
    >>> print(ranges.nearest(np.array([[-3.0, 0.9, 0.5]]), np.array([[1.0, 0.0, 1.0]])))
    [[0.  0.7 0.3]]
    """

    low: Floats
    high: Floats
    frozen: NDArray[np.bool_]
    blocks: tuple[tuple[int, ...], ...] = ()

    @cached_property
    def bounded(self) -> bool:
        """Whether any feature has a limit."""
        return bool(np.isfinite(self.low).any() or np.isfinite(self.high).any())

    @cached_property
    def _still(self) -> NDArray[np.intp]:
        return np.flatnonzero(self.frozen)

    def in_units_of(self, scale: Floats | None) -> Ranges:
        """Return the ranges of features divided by `scale`; None: as they are."""
        return self if scale is None else replace(self, low=self.low / scale, high=self.high / scale)

    def nearest(self, x: Floats, x0: Floats) -> Floats:
        """Return the nearest allowed points of shape (n, d); it may overwrite `x`.

        Parameters
        ----------
        x : ndarray of shape (n, d)
            Points.
        x0 : ndarray of shape (n, d)
            Where they started, inside of their ranges.
        """
        if self.bounded:
            np.clip(x, self.low, self.high, out=x)
        for block in self.blocks:
            x[:, block] = on_simplex(x[:, block])
        if len(self._still):
            x[:, self._still] = x0[:, self._still]
        return x


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
