"""Subspaces of features, by what spans them, and square roots of what measures the rest.

Directions may be many, collinear or zero: what counts is the space they span, and its dimension is found, not assumed.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from skfairtest._utils.typing import Floats
from skfairtest.individual.flow.quadratic import RELATIVE_TOLERANCE, Quadratic, basis

__all__ = ["complement", "span", "square_root"]

#: Directions of unit length that lie closer together than this are one. Coefficients of solvers are this accurate.
SAME_DIRECTION = 1e-8


def span(rows: ArrayLike) -> Floats:
    """Return an orthonormal basis of what directions span.

    Parameters
    ----------
    rows : array-like of shape (m, d)
        Directions of any lengths: each counts alike. Zero ones count for nothing.

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


def complement(directions: Floats) -> Floats:
    """Return the projection I - Π, of shape (d, d), which takes away what lies along orthonormal rows (k, d)."""
    matrix: Floats = np.eye(directions.shape[1]) - directions.T @ directions
    # A column that is free altogether is exactly 0, and not what is left of 1 - 1.
    matrix[np.abs(matrix) < 1e-15] = 0.0
    return (matrix + matrix.T) / 2


def square_root(quadratic: Quadratic) -> Floats:
    """Return the symmetric R of shape (d, d), positive semi-definite, with R R = Sigma.

    Examples
    --------
    >>> square_root(Quadratic([[4.0, 0.0], [0.0, 0.0]]))
    array([[2., 0.],
           [0., 0.]])
    """
    values, vectors = np.linalg.eigh(quadratic.matrix)
    # What the quadratic form calls free must not cost the root of a rounding error.
    values[values <= RELATIVE_TOLERANCE * quadratic.largest] = 0.0
    root: Floats = (vectors * np.sqrt(values)) @ vectors.T
    return (root + root.T) / 2
