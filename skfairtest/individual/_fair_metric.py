"""Fair distances: transformers after which the squared Euclidean distance is the fair one.

Two similar people may differ in whatever a fair metric does not see. Everything else is linear algebra that any affine
transformer shares, so a fair metric can be a step of a pipeline, and a pipeline can be a fair metric.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from skfairtest._utils.stacklevel import warn
from skfairtest._utils.typing import Floats
from skfairtest.individual.flow.quadratic import Quadratic
from skfairtest.individual.flow.subspaces import complement
from skfairtest.individual.models.features import Features, read_features
from skfairtest.readers import check_rows


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
