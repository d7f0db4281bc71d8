"""Subspaces of features, from the directions that span them.

Directions may be many, collinear or zero: only the space they span counts, and its dimension is found, not assumed.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

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
