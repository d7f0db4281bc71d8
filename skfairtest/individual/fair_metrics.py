"""Fair distances, and those that somebody names.

Fair distances: transformers after which the squared Euclidean distance is the fair one.

Two similar people may differ in whatever a fair metric does not see. Everything else is linear algebra that any affine
transformer shares, so a fair metric can be a step of a pipeline, and a pipeline can be a fair metric.

Fair metrics that somebody names: directions that do not count, or a matrix.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from skfairtest._utils.errors import ParameterError, warn
from skfairtest._utils.typing import Floats
from skfairtest.individual.flow.quadratic import Quadratic, complement, span
from skfairtest.individual.models.features import Features, read_features
from skfairtest.readers import check_rows
from skfairtest.readers.levels import listed


class FairMetric(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """What fair metrics have in common, once their matrix is known.

    A class that you write is a fair metric as well if its `transform` is linear and it declares so by the class
    attribute ``is_affine = True``: the audit gets its matrix from every transformer that is declared affine.
    """

    #: What `transform` does to a person is x @ A + b.
    is_affine = True

    directions_: Floats
    matrix_: Floats
    #: What `transform` multiplies by; None: `matrix_`, which is its own root where it is a projection.
    _root: Floats | None = None

    def transform(self, X: Any) -> Any:
        """Map people to points whose squared Euclidean distance is the squared fair distance.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            People.

        Returns
        -------
        ndarray or frame of shape (n_samples, n_features)
            One point per person; the container is that of `set_output`.
        """
        check_is_fitted(self)
        _, values = self._read(X)
        return self._moved(values)

    def distance(self, X: Any, X_other: Any) -> Floats:
        """Return the fair distance between people.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            People.
        X_other : array-like of shape (n_samples, n_features)
            The people to compare with, in the same order; a single row is compared with everybody.

        Returns
        -------
        ndarray of shape (n_samples,)
            The fair distance d, not squared.

        Raises
        ------
        ValueError
            If lengths differ, or pandas indexes hold the same labels in another order.
        """
        check_is_fitted(self)
        _, people = self._read(X)
        _, others = self._read(X_other)
        if 1 not in (len(people), len(others)):
            check_rows(X, X_other=X_other)
        distances: Floats = np.linalg.norm(self._moved(people - others), axis=1)
        return distances

    def _moved(self, values: Floats) -> Floats:
        return values @ (self.matrix_ if self._root is None else self._root)

    def _read(self, X: Any, *, reset: bool = False) -> tuple[Features, Floats]:
        features = read_features(X)
        values = validate_data(self, features.as_input(features.values), reset=reset, dtype=np.float64)
        return features, values

    def _set_free(self, directions: Floats) -> Self:
        """Measure everything except what lies along orthonormal directions."""
        self.directions_ = directions
        self.matrix_ = complement(directions)
        return self._warn_of_nothing()

    def _set_matrix(self, quadratic: Quadratic) -> Self:
        """Measure with a matrix, whose null space is free."""
        self.directions_ = quadratic.free_directions
        self.matrix_, self._root = quadratic.matrix, quadratic.square_root()
        return self._warn_of_nothing()

    def _warn_of_nothing(self) -> Self:
        if len(self.directions_) == self.n_features_in_:
            what = "every direction" if self.n_features_in_ > 1 else "the only column"
            warn(
                f"{type(self).__name__} lets people differ in {what} of X (n_features={self.n_features_in_}): the "
                "fair distance between any two people is 0, and a fair model predicts the same for everybody."
            )
        return self


class Projection(FairMetric):
    """Let similar people differ along given directions.

    d²(x, x') = ‖(I - Π)(x - x')‖², with Π the orthogonal projection on the span of the directions.

    Parameters
    ----------
    directions : array-like of shape (k, n_features) or (n_features,), mapping, str, or list of the latter two
        Directions of any length, which need not be orthogonal. By name: ``{"income": 1, "rent": -0.3}``, where features
        that are not named weigh 0; ``"age"`` is ``{"age": 1}``. The columns of a DataFrame are names. A number in place
        of a name is a position, unless a column of `X` is labelled by it.

    Attributes
    ----------
    directions_ : ndarray of shape (k, n_features)
        Orthonormal rows that span the same space. Collinear directions count once.
    matrix_ : ndarray of shape (n_features, n_features)
        I - Π, so that d²(x, x') = (x - x') ``matrix_`` (x - x')'.
    n_features_in_ : int
        Columns of `X`.
    feature_names_in_ : ndarray of str
        Names of the columns, where `X` has names.

    See Also
    --------
    SensitiveSubspace : Directions that predict sensitive features.
    Mahalanobis : Any matrix.

    Notes
    -----
    `transform` takes the directions out of `X`: predictions of ``make_pipeline(Projection("age"), LinearSVC())`` are
    the same for people at distance 0.

    References
    ----------
    M. Yurochkin, A. Bower and Y. Sun (2020), Training individually fair ML models with sensitive subspace robustness,
    ICLR, section 4. S. Maity, S. Xue, M. Yurochkin and Y. Sun (2021), Statistical inference for individual fairness,
    ICLR, section 4.1.

    Examples
    --------
    >>> from skfairtest import Projection
    >>> metric = Projection([1.0, 0.0]).fit([[0.0, 0.0], [1.0, 2.0]])
    >>> metric.distance([[0.0, 0.0]], [[5.0, 2.0]])
    array([2.])
    >>> metric.transform([[5.0, 2.0]])
    array([[0., 2.]])
    """

    def __init__(self, directions: Any = None) -> None:
        self.directions = directions

    def fit(self, X: Any, y: Any = None) -> Self:
        """Check that the directions are of the features of `X`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            People. Only what columns there are matters.
        y : object, optional
            Ignored.

        Returns
        -------
        Projection
            The fitted metric.

        Raises
        ------
        ValueError
            If the directions are not of as many dimensions as `X`, name other columns, or are all 0.

        Warns
        -----
        UserWarning
            If the directions span everything.
        """
        features, _ = self._read(X, reset=True)
        rows = _rows(self.directions, features)
        basis = span(rows)
        if len(rows) and not len(basis):
            raise ParameterError("directions are all 0: a direction says which features change together, and how much.")
        return self._set_free(basis)


def _rows(directions: Any, features: Features) -> Floats:
    """Return directions as rows of shape (k, n_features)."""
    if directions is None:
        raise ParameterError(
            "directions is missing: pass the directions along which similar people may differ, as rows of numbers, or "
            "by name, such as {'income': 1, 'rent': -0.3}."
        )
    if isinstance(directions, pd.DataFrame):
        directions = [dict(zip(directions.columns, row, strict=True)) for row in directions.to_numpy()]
    named = [directions] if isinstance(directions, Mapping | str) else directions
    if isinstance(named, Sequence) and any(isinstance(direction, Mapping | str) for direction in named):
        return np.stack([_named_row(direction, features) for direction in named])
    try:
        rows = np.array(directions, dtype=float)
    except (TypeError, ValueError) as error:
        raise ParameterError(f"directions must be rows of numbers, all of one length; found {directions!r}.") from error
    rows = rows[None, :] if rows.ndim == 1 and rows.size else rows
    n_features = len(features.names)
    if not rows.size:
        return np.empty((0, n_features))
    if rows.ndim != 2 or rows.shape[1] != n_features:
        raise ParameterError(
            f"directions are of the wrong dimension: shape {np.shape(directions)}, and X has {n_features} features. "
            f"Pass one row of {n_features} numbers per direction: {listed(features.names)}."
        )
    if not np.isfinite(rows).all():
        raise ParameterError("directions must be finite numbers; found NaN or inf.")
    return rows


def _named_row(direction: Any, features: Features) -> Floats:
    weights = {direction: 1.0} if isinstance(direction, str) else direction
    if not isinstance(weights, Mapping):
        raise ParameterError(
            f"directions must be all by name, or all rows of numbers; found {direction!r} among names."
        )
    row = np.zeros(len(features.names))
    positions = features.positions(weights, "directions")
    for position, (name, weight) in zip(positions, weights.items(), strict=True):
        if not isinstance(weight, Real) or not np.isfinite(float(weight)):
            raise ParameterError(f"directions: the weight of {name!r} must be a finite number; found {weight!r}.")
        row[position] = float(weight)
    return row


class Mahalanobis(FairMetric):
    """Measure differences between people by a given matrix.

    d²(x, x') = (x - x') Σ (x - x')'. People may differ in the null space of Σ and still be similar.

    Parameters
    ----------
    matrix : array-like of shape (n_features, n_features)
        Σ, symmetric and positive semi-definite. Rows and columns of a DataFrame are names of features.

    Attributes
    ----------
    directions_ : ndarray of shape (k, n_features)
        Orthonormal rows: a basis of the null space; k = 0 where every difference counts.
    matrix_ : ndarray of shape (n_features, n_features)
        Σ.
    n_features_in_ : int
        Columns of `X`.
    feature_names_in_ : ndarray of str
        Names of the columns, where `X` has names.

    See Also
    --------
    Projection : Directions that do not count, and nothing else.

    Notes
    -----
    `transform` multiplies by the symmetric square root of Σ, so that features keep their names.

    References
    ----------
    D. Mukherjee, M. Yurochkin, M. Banerjee and Y. Sun (2020), Two simple ways to learn individual fairness metrics from
    data, ICML, equation 2.1.

    Examples
    --------
    >>> from skfairtest import Mahalanobis
    >>> metric = Mahalanobis([[0.0, 0.0], [0.0, 4.0]]).fit([[0.0, 0.0], [1.0, 2.0]])
    >>> metric.distance([[0.0, 0.0]], [[5.0, 1.0]])
    array([2.])
    >>> metric.directions_
    array([[1., 0.]])
    """

    def __init__(self, matrix: Any = None) -> None:
        self.matrix = matrix

    def fit(self, X: Any, y: Any = None) -> Self:
        """Check that the matrix is one of the features of `X`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            People. Only what columns there are matters.
        y : object, optional
            Ignored.

        Returns
        -------
        Mahalanobis
            The fitted metric.

        Raises
        ------
        ValueError
            If the matrix is not symmetric or not positive semi-definite, or not of as many dimensions as `X`.
        """
        features, _ = self._read(X, reset=True)
        return self._set_matrix(Quadratic(_square(self.matrix, features)))


def _square(matrix: Any, features: Features) -> Floats:
    """Return a matrix in the order of the features."""
    if matrix is None:
        raise ParameterError(
            "matrix is missing: pass the matrix of squared distances, of shape (n_features, n_features)."
        )
    if isinstance(matrix, pd.DataFrame):
        rows, columns = [str(name) for name in matrix.index], [str(name) for name in matrix.columns]
        wanted = sorted(features.names)
        if sorted(rows) != wanted or sorted(columns) != wanted:
            raise ParameterError(
                f"matrix has rows {listed(rows)} and columns {listed(columns)}, and X has the columns "
                f"{listed(features.names)}: name them alike, or pass matrix.to_numpy() in the order of X."
            )
        order = [rows.index(name) for name in features.names], [columns.index(name) for name in features.names]
        matrix = matrix.to_numpy()[np.ix_(*order)]
    try:
        square = np.array(matrix, dtype=float)
    except (TypeError, ValueError) as error:
        raise ParameterError(f"matrix must be a square of numbers; found {matrix!r}.") from error
    n_features = len(features.names)
    if square.ndim == 2 and square.shape[0] == square.shape[1] != n_features:
        raise ParameterError(
            f"matrix is of the wrong dimension: shape {square.shape}, and X has {n_features} features: "
            f"{listed(features.names)}."
        )
    return square
