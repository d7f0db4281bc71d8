"""Squared distances d^2(x, x') = (x - x') Sigma (x - x')', with Sigma symmetric and positive semi-definite.

What Sigma does not see is free: moving along a vector of its null space costs nothing, and two people who differ by
such a vector are the same person as far as fairness goes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skfairtest._utils.errors import ParameterError
from skfairtest._utils.typing import Floats

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
        Orthonormal rows: a basis of the null space, or all eigenvectors by increasing eigenvalue where there is none.
        They depend on the spaces that Sigma has and on nothing else: not on which basis of a null space the
        linear-algebra library prefers. A space spanned by axes has those axes as its basis.
    has_free_directions : bool
        Whether there is a null space.

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
        values, vectors = np.linalg.eigh(self.matrix)
        if values[0] < -1e-8 * scale:
            raise ParameterError(f"matrix must be positive semi-definite, found the eigenvalue {values[0]:.3g}")
        self.largest = max(float(values[-1]), 0.0)
        self.has_free_directions = bool(values[0] <= RELATIVE_TOLERANCE * self.largest)
        self.free_directions: Floats = self._directions(values, vectors.T)

    def _directions(self, values: Floats, vectors: Floats) -> Floats:
        """Bases of the null space, or of every eigenspace in turn."""
        near = RELATIVE_TOLERANCE * self.largest
        if self.has_free_directions:
            return basis(vectors[values <= near])
        starts = np.flatnonzero(np.diff(values, prepend=-np.inf) > near)
        return np.concatenate([basis(part) for part in np.split(vectors, starts[1:])])

    def among(self, movable: NDArray[np.bool_]) -> Quadratic:
        """Return the form of the columns that may move, of which there is at least one."""
        return self if movable.all() else Quadratic(self.matrix[np.ix_(movable, movable)])

    def reachable(self, movable: NDArray[np.bool_], radius: float, regularization: float) -> tuple[Floats, Floats]:
        """Return directions to search, and how far: those that are free where only some columns move.

        Parameters
        ----------
        movable : ndarray of bool, shape (d,)
            Columns that may move.
        radius : float
            How far at most.
        regularization : float
            lambda.

        Returns
        -------
        directions : ndarray of shape (k, d)
            Orthonormal rows, 0 where columns stay. Where none of them is free, all that there are, shortest eigenvalues
            first.
        radii : ndarray of shape (k,)
            `radius`; where nothing is free and it is less, as far as costs a loss of 1: 1 / sqrt(lambda eigenvalue).

        Examples
        --------
        >>> rows, radii = Quadratic(np.diag([0.0, 4.0, 1.0])).reachable(
        ...     np.array([False, True, True]), 5.0, 25.0
        ... )
        >>> print(rows, radii)
        [[0. 0. 1.]
         [0. 1. 0.]] [0.2 0.1]
        """
        if not movable.any():
            return np.zeros((0, len(self.matrix))), np.zeros(0)
        part = self.among(movable)
        directions = np.zeros((len(part.free_directions), len(self.matrix)))
        directions[:, movable] = part.free_directions
        costs = regularization * part.squared_distance(part.free_directions)
        if part.has_free_directions:
            costs = np.zeros(len(costs))
        with np.errstate(divide="ignore"):
            return directions, np.minimum(radius, 1 / np.sqrt(costs))

    def pull(self, v: Floats) -> Floats:
        """Half the gradient of the squared length: v Sigma, for rows v of shape (n, d)."""
        pulled: Floats = v.dot(self.matrix)
        return pulled

    def squared_distance(self, v: ArrayLike) -> Floats:
        """Return v Sigma v' of each row of v, of shape (n,); never below 0."""
        v = np.asarray(v, dtype=float)
        squares: Floats = (v * self.pull(v)).sum(axis=1)
        return np.maximum(squares, 0.0)


def basis(rows: ArrayLike) -> Floats:
    """Orthonormal basis (k, d) of what k orthonormal rows span; the same for any such rows of the same space.

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
