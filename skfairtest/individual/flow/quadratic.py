"""The space in which people are moved: subspaces, squared distances, and who is possible.

Subspaces of features, from the directions that span them.

Directions may be many, collinear or zero: only the space they span counts, and its dimension is found, not assumed.

Squared distances d^2(x, x') = (x - x') Sigma (x - x')', with Sigma symmetric and positive semi-definite.

What Sigma does not see is free: moving along a vector of its null space costs nothing, and two people who differ by
such a vector are the same person as far as fairness goes.

Who is possible: boxes, features that stay, levels, and blocks of columns that are one choice.

A flow moves people through all real numbers, for which distances are defined. The result is the nearest possible
person: nobody has half a category, or is beyond the limits of a feature.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skfairtest._utils.errors import ParameterError
from skfairtest._utils.typing import Floats

#: Directions of unit length that lie closer together than this are one. Coefficients of solvers are this accurate.
SAME_DIRECTION = 1e-8


def span(rows: ArrayLike) -> Floats:
    """Return an orthonormal basis of what directions span.

    Parameters
    ----------
    rows : array-like of shape (m, d)
        Directions of any length; the length does not matter. Zero vectors are ignored.

    Returns
    -------
    ndarray of shape (k, d)
        Orthonormal rows, k the rank: the same for any directions that span the same space.

    Examples
    --------
    >>> span([[0.0, 2.0, 0.0], [0.0, -3.0, 0.0], [0.0, 0.0, 0.0]])
    array([[0., 1., 0.]])
    """
    given = np.asarray(rows, dtype=float)
    # Scaled twice, as squares of the largest and smallest floats are no floats.
    largest = np.abs(given).max(axis=1, initial=0.0)
    scaled = given[largest > 0] / largest[largest > 0, None]
    if not len(scaled):
        return np.empty((0, given.shape[1]))
    units = scaled / np.linalg.norm(scaled, axis=1, keepdims=True)
    _, lengths, vectors = np.linalg.svd(units, full_matrices=False)
    return basis(vectors[lengths > SAME_DIRECTION * lengths[0]])


def basis(rows: ArrayLike) -> Floats:
    """Return an orthonormal basis (k, d) of what k orthonormal rows span, the same for any rows of the same space.

    The columns of the projection on the space are orthonormalised, the longest remaining one first (the first of
    equally long ones), so that each basis vector leans as far as it can towards one axis, positively.
    """
    rows = np.asarray(rows, dtype=float)
    left = rows.T @ rows
    found = np.empty_like(rows)
    for place in range(len(rows)):
        lengths = np.diagonal(left)  # squared, of a projection's columns
        axis = int(np.argmax(lengths > lengths.max() * (1 - 1e-9)))
        vector = left[axis] - found[:place].T @ (found[:place] @ left[axis])  # once more: rounding is not orthogonal
        found[place] = vector / np.linalg.norm(vector)
        left = left - np.outer(found[place], found[place])
    found[np.abs(found) < 1e-14] = 0.0
    return found


def complement(directions: Floats) -> Floats:
    """Return the projection I - Π, of shape (d, d), which takes away what lies along orthonormal rows (k, d)."""
    matrix: Floats = np.eye(directions.shape[1]) - directions.T @ directions
    # A column that is free altogether is exactly 0, and not what is left of 1 - 1.
    matrix[np.abs(matrix) < 1e-15] = 0.0
    return (matrix + matrix.T) / 2


#: Eigenvalues within this share of the largest are one eigenvalue, and 0 if they are within it of 0.
RELATIVE_TOLERANCE = 1e-10


class Quadratic:
    """The quadratic form of a symmetric positive semi-definite matrix.

    Parameters
    ----------
    matrix : array-like, shape (d, d)
        Sigma.

    Attributes
    ----------
    matrix : ndarray, shape (d, d)
        Sigma, exactly symmetric.
    largest : float
        The largest eigenvalue.
    free_directions : ndarray, shape (k, d)
        Orthonormal rows: a basis of the null space; k is 0 where there is none.

    Raises
    ------
    ValueError
        If the matrix is not square, finite, symmetric and positive semi-definite.

    Examples
    --------
    >>> free_first = Quadratic([[0.0, 0.0], [0.0, 4.0]])
    >>> print(free_first.free_directions, free_first.largest)
    [[1. 0.]] 4.0
    >>> print(free_first.squared_distance([[3.0, 0.5]]))
    [1.]
    """

    def __init__(self, matrix: ArrayLike) -> None:
        sigma = np.asarray(matrix, dtype=float)
        if sigma.ndim != 2 or sigma.shape[0] != sigma.shape[1] or len(sigma) == 0:
            raise ParameterError(f"matrix must be square, found an array of shape {sigma.shape}")
        if not np.isfinite(sigma).all():
            raise ParameterError(
                f"matrix must be finite, found {int((~np.isfinite(sigma)).sum())} entries that are not"
            )
        scale = float(np.abs(sigma).max())
        if np.abs(sigma - sigma.T).max() > 1e-8 * scale:
            raise ParameterError(
                "matrix must be symmetric, found an entry that differs from the one across the diagonal"
            )
        self.matrix: Floats = np.ascontiguousarray((sigma + sigma.T) / 2)
        self._values, self._vectors = np.linalg.eigh(self.matrix)
        if self._values[0] < -1e-8 * scale:
            raise ParameterError(f"matrix must be positive semi-definite, found the eigenvalue {self._values[0]:.3g}")
        self.largest = max(float(self._values[-1]), 0.0)
        self._shrinking: tuple[float, Floats] = (np.nan, self.matrix)
        self.free_directions = basis(self._vectors.T[self._values <= RELATIVE_TOLERANCE * self.largest])

    def directions(self) -> Floats:
        """Return eigenvectors by increasing eigenvalue, of shape (d, d).

        They depend on the eigenspaces that Sigma has and on nothing else: not on which basis of an eigenspace the
        linear-algebra library prefers. A space spanned by axes has those axes as its basis.
        """
        starts = np.flatnonzero(np.diff(self._values, prepend=-np.inf) > RELATIVE_TOLERANCE * self.largest)
        return np.concatenate([basis(part) for part in np.split(self._vectors.T, starts[1:])])

    def square_root(self) -> Floats:
        """Return the symmetric R of shape (d, d), positive semi-definite, with R R = Sigma.

        Examples
        --------
        >>> Quadratic([[4.0, 0.0], [0.0, 0.0]]).square_root()
        array([[2., 0.],
               [0., 0.]])
        """
        # What is free must not cost the root of a rounding error.
        values = np.where(self._values <= RELATIVE_TOLERANCE * self.largest, 0.0, self._values)
        root: Floats = (self._vectors * np.sqrt(values)) @ self._vectors.T
        return (root + root.T) / 2

    def among(self, movable: NDArray[np.bool_]) -> Quadratic:
        """Return the form of the columns that may move, of which there is at least one."""
        return self if movable.all() else Quadratic(self.matrix[np.ix_(movable, movable)])

    def reachable(self, movable: NDArray[np.bool_], regularization: float) -> tuple[Floats, Floats]:
        """Return the directions to search, free ones when only some columns move, and the largest distance along each.

        Parameters
        ----------
        movable : ndarray of bool, shape (d,)
            Columns that may move.
        regularization : float
            lambda.

        Returns
        -------
        directions : ndarray of shape (k, d)
            Orthonormal rows, 0 in columns that stay. If no direction is free, all directions, smallest eigenvalues
            first.
        limits : ndarray of shape (k,)
            Infinite for a free direction, otherwise the distance that costs a loss of 1: 1 / sqrt(lambda eigenvalue).

        Examples
        --------
        >>> rows, limits = Quadratic(np.diag([0.0, 4.0, 1.0])).reachable(
        ...     np.array([False, True, True]), 25.0
        ... )
        >>> print(rows, limits)
        [[0. 0. 1.]
         [0. 1. 0.]] [0.2 0.1]
        """
        if not movable.any():
            return np.zeros((0, len(self.matrix))), np.zeros(0)
        part = self.among(movable)
        free = part.free_directions
        rows = free if len(free) else part.directions()
        directions = np.zeros((len(rows), len(self.matrix)))
        directions[:, movable] = rows
        if len(free):
            return directions, np.full(len(free), np.inf)
        with np.errstate(divide="ignore"):
            return directions, 1 / np.sqrt(regularization * part.squared_distance(rows))

    def pull(self, v: Floats) -> Floats:
        """Return half the gradient of the squared length: v Sigma, for rows v of shape (n, d)."""
        pulled: Floats = v.dot(self.matrix)
        return pulled

    def shrink(self, v: Floats, t: float) -> Floats:
        """Return v (I + t Sigma)^-1, for rows v of shape (n, d): what is free stays, the rest shrinks.

        Examples
        --------
        >>> Quadratic([[0.0, 0.0], [0.0, 4.0]]).shrink(np.array([[3.0, 1.0]]), 1.0)
        array([[3. , 0.2]])
        """
        if t != self._shrinking[0]:  # steps are mostly of one size
            inverse = (self._vectors / (1.0 + t * np.maximum(self._values, 0.0))) @ self._vectors.T
            self._shrinking = t, inverse
        shrunk: Floats = v.dot(self._shrinking[1])
        return shrunk

    def squared_distance(self, v: ArrayLike) -> Floats:
        """Return v Sigma v' of each row of v (..., d), of shape (...); never below 0."""
        v = np.asarray(v, dtype=float)
        rows = v.reshape(-1, v.shape[-1])
        squares: Floats = (rows * self.pull(rows)).sum(axis=1).reshape(v.shape[:-1])
        return np.maximum(squares, 0.0)


class Quadratics:
    """The quadratic forms of people who have different ones.

    Parameters
    ----------
    parts : list of (Quadratic, slice)
        A form and the people it is for; everybody is in exactly one part.

    Examples
    --------
    >>> two = Quadratics([(Quadratic([[1.0]]), slice(0, 2)), (Quadratic([[4.0]]), slice(2, 3))])
    >>> print(two.squared_distance(np.ones((3, 1))))
    [1. 1. 4.]
    """

    def __init__(self, parts: list[tuple[Quadratic, slice]]) -> None:
        self.parts = parts

    def among(self, movable: NDArray[np.bool_]) -> Quadratics:
        """Return the forms of the columns that may move, of which there is at least one."""
        return Quadratics([(metric.among(movable), people) for metric, people in self.parts])

    def reachable(self, movable: NDArray[np.bool_], regularization: float) -> tuple[Floats, Floats]:
        """Return everybody's directions (k, n, d) and limits (n, k), as of `Quadratic`; there are as many of each."""
        found = [metric.reachable(movable, regularization) for metric, _ in self.parts]
        sizes = [people.stop - people.start for _, people in self.parts]
        directions = np.repeat(np.stack([rows for rows, _ in found], axis=1), sizes, axis=1)
        return directions, np.repeat(np.stack([limits for _, limits in found]), sizes, axis=0)

    def pull(self, v: Floats) -> Floats:
        """Return v Sigma of everybody's row (n, d)."""
        return np.concatenate([metric.pull(v[people]) for metric, people in self.parts])

    def shrink(self, v: Floats, t: float) -> Floats:
        """Return v (I + t Sigma)^-1 of everybody's row (n, d)."""
        return np.concatenate([metric.shrink(v[people], t) for metric, people in self.parts])

    def squared_distance(self, v: ArrayLike) -> Floats:
        """Return v Sigma v' of rows (..., n, d), of shape (..., n); never below 0."""
        v = np.asarray(v, dtype=float)
        return np.concatenate([metric.squared_distance(v[..., people, :]) for metric, people in self.parts], axis=-1)


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
