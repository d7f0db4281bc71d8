"""Where an unfair example may go: boxes, features that stay, and blocks of columns that are one category."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skfairtest._utils.errors import ParameterError
from skfairtest._utils.typing import Floats

#: (x, x0) -> the nearest allowed points; x may be overwritten.
Constraint = Callable[[Floats, Floats], Floats]


def constraint(
    low: ArrayLike | None = None,
    high: ArrayLike | None = None,
    frozen: ArrayLike | None = None,
    blocks: Sequence[Sequence[int]] = (),
) -> Constraint | None:
    """Build the function that brings points back to where they may be; None where they may be anywhere.

    Each kind concerns columns of its own, so that their order does not matter and together they are the Euclidean
    projection on the allowed points.

    Parameters
    ----------
    low, high : array-like, shape (d,), optional
        Limits of each feature; infinite where there is none.
    frozen : array-like of int, or of bool with shape (d,), optional
        Columns that keep the values of the starting point.
    blocks : sequence of sequences of int
        Columns that are the indicators of one category: they stay non-negative, with sum 1. Columns of a block that are
        frozen keep their values, and the others share what is left of 1.

    Returns
    -------
    callable or None
        ``constrain(x, x0)`` of arrays (n, d); it may overwrite `x`. Starting points `x0` must satisfy the constraints.

    Raises
    ------
    ValueError
        If limits cross, a column is in two blocks, or a column of a block has limits inside 0 to 1.

    Examples
    --------
    >>> constrain = constraint(low=[0.0, -np.inf, -np.inf], blocks=[[1, 2]])
    >>> print(constrain(np.array([[-3.0, 0.9, 0.5]]), np.array([[1.0, 0.0, 1.0]])))
    [[0.  0.7 0.3]]
    """
    still = np.asarray([] if frozen is None else frozen)
    still = np.flatnonzero(still) if still.dtype == bool else still.astype(np.intp)
    parts = [np.array(block, dtype=np.intp) for block in blocks]
    _check_blocks(parts)
    columns = np.concatenate([*parts, np.array([], dtype=np.intp)])
    least, most = _outside(low, columns, -np.inf), _outside(high, columns, np.inf)
    if least is not None and most is not None and (least > most).any():
        raise ValueError(f"low must not be above high, found so in columns {np.flatnonzero(least > most).tolist()}")
    boxed = least is not None or most is not None
    moving = [(np.setdiff1d(block, still), np.intersect1d(block, still)) for block in parts]
    if not boxed and len(still) == 0 and len(parts) == 0:
        return None

    def constrain(x: Floats, x0: Floats) -> Floats:
        if boxed:
            np.clip(x, least, most, out=x)
        for free, kept in moving:
            if len(free):
                x[:, free] = on_simplex(x[:, free], 1.0 - x0[:, kept].sum(axis=1))
        if len(still):
            x[:, still] = x0[:, still]
        return x

    return constrain


def _check_blocks(blocks: Sequence[NDArray[np.intp]]) -> None:
    columns, times = np.unique(np.concatenate([*blocks, np.array([], dtype=np.intp)]), return_counts=True)
    if (times > 1).any():
        raise ValueError(f"blocks must not overlap, found columns {columns[times > 1].tolist()} more than once")


def _outside(limits: ArrayLike | None, columns: NDArray[np.intp], none: float) -> Floats | None:
    """Return limits of the columns outside blocks; those of a block's columns are 0 and 1 already."""
    if limits is None:
        return None
    limits = np.array(limits, dtype=float)
    inside = limits[columns] > 0 if none < 0 else limits[columns] < 1
    if inside.any():
        raise ParameterError(
            f"columns {columns[inside].tolist()} of a block have limits inside 0 to 1: leave them out of low and high, "
            "or out of the block"
        )
    limits[columns] = none
    return limits if np.isfinite(limits).any() else None


def on_simplex(v: ArrayLike, total: ArrayLike = 1.0) -> Floats:
    """Nearest points with non-negative coordinates of a given sum: Euclidean projection of each row.

    Parameters
    ----------
    v : array-like, shape (n, k)
        Points.
    total : array-like, broadcast to (n,)
        The sums, not below 0.

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
    mass = np.broadcast_to(np.maximum(np.asarray(total, dtype=float), 0.0), points.shape[:1])
    ordered = -np.sort(-points, axis=1)
    thresholds = (np.cumsum(ordered, axis=1) - mass[:, None]) / np.arange(1, points.shape[1] + 1)
    positive = np.maximum((ordered > thresholds).sum(axis=1), 1)
    shift: Floats = thresholds[np.arange(len(points)), positive - 1]
    inside: Floats = np.maximum(points - shift[:, None], 0.0)
    return inside
