"""Squared distances d^2(x, x') = (x - x') Sigma (x - x')', with Sigma symmetric and positive semi-definite.

What Sigma does not see is free: moving along a vector of its null space costs nothing, and two people who differ by
such a vector are the same person as far as fairness goes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skfairtest._utils.errors import ParameterError
from skfairtest._utils.typing import Floats
from skfairtest.individual.flow.subspaces import basis

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
