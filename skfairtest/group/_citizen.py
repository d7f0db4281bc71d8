"""What makes a test a scikit-learn estimator that never fits, and never copies, the model it is about."""

from __future__ import annotations

import copy
from typing import Any, Self

from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.utils import Tags


class ModelTest(MetaEstimatorMixin, BaseEstimator):
    """A test with a parameter ``estimator``, which is fitted already."""

    estimator: Any

    def __sklearn_clone__(self) -> Self:
        """Copy the parameters and hand on the fitted estimator itself, which a test never fits."""
        bare = copy.copy(self)
        bare.estimator = None
        new = BaseEstimator.__sklearn_clone__(bare)
        new.estimator = self.estimator
        return new  # type: ignore[no-any-return]

    def __sklearn_tags__(self) -> Tags:
        """Say that X is only handed to the estimator, which may take anything."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.allow_nan = True
        tags.input_tags.string = tags.input_tags.categorical = True
        tags.no_validation = True
        return tags
