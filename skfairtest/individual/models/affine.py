"""Affine transformers: what they do to a row, as a matrix and an offset.

Which classes are affine is declared; the matrix is not computed class by class, but by calling the fitted transformer.
"""

import math
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import FunctionTransformer

from skfairtest.individual.models.classes import derives, is_of
from skfairtest.individual.models.features import Features

#: What these classes do to rows is affine, imputers' part where nothing is missing, encoders' in shares of categories;
#: and so for classes that inherit it.
_AFFINE = {
    "sklearn": (
        "CCA",
        "FactorAnalysis",
        "FastICA",
        "GaussianRandomProjection",
        "IncrementalPCA",
        "KNNImputer",
        "LinearDiscriminantAnalysis",
        "MaxAbsScaler",
        "MinMaxScaler",
        "NeighborhoodComponentsAnalysis",
        "OneHotEncoder",
        "OrdinalEncoder",
        "PCA",
        "PLSCanonical",
        "PLSRegression",
        "PLSSVD",
        "RobustScaler",
        "SelectorMixin",
        "SimpleImputer",
        "SparsePCA",
        "SparseRandomProjection",
        "StandardScaler",
        "TargetEncoder",
        "TruncatedSVD",
    ),
    "fairlearn": ("CorrelationRemover",),
}

#: So many people are enough to see whether a formula is what the object does.
_LOOKED_AT = 300

#: How far, relative to the largest output, the formula may be off.
_TOLERANCE = 1e-8


def affine(transformer: Any, features: Features) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Return the matrix and the offset of an affine transformer.

    Parameters
    ----------
    transformer : scikit-learn transformer
        A fitted one. Affine are scalers, projections, selectors, imputers where nothing is missing, pipelines and
        unions of such, and classes that say so by the class attribute ``is_affine =
        True``, as long as none overrides what was declared.
    features : Features
        The rows it is for: it is called on rows like these, and the formula is checked on some of them.

    Returns
    -------
    tuple of ndarrays of shapes (d, m) and (m,), or None
        A and b of ``transform(x) == x @ A + b``; None if it is not known to be affine, or is not on these rows.

    Examples
    --------
    >>> from sklearn.preprocessing import StandardScaler
    >>> from skfairtest.individual.models.features import read_features
    >>> features = read_features([[0.0, 1.0], [4.0, 3.0]])
    >>> matrix, offset = affine(StandardScaler().fit(features.values), features)
    >>> matrix.tolist(), offset.tolist()
    ([[0.5, 0.0], [0.0, 1.0]], [-1.0, -2.0])
    """
    if not _is_affine(transformer) or np.isnan(features.values).any():
        return None
    rows = some_rows(features)
    # Unit vectors as long as the longest feature: differences from the origin lose no digits to large offsets.
    length = math.ldexp(1.0, math.frexp(float(np.abs(features.values).max()))[1])

    def transform(inputs: NDArray[np.float64]) -> NDArray[np.float64]:
        outputs = transformer.transform(features.as_input(inputs))
        return np.asarray(outputs.toarray() if hasattr(outputs, "toarray") else outputs, dtype=np.float64)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a caller who asks about all people is warned
        try:
            matrix, offset = features.linear_parts(transform, length)
            expected = transform(rows)
        except (TypeError, ValueError):  # text passes through, for a model that knows categories itself
            if features.blocks:
                return None
            raise
    errors = np.abs(rows @ matrix + offset - expected).max(axis=0)
    # Not "any error is larger": a comparison with NaN is false.
    return (matrix, offset) if (errors <= _TOLERANCE * np.abs(expected).max(axis=0)).all() else None


def affine_steps(steps: Sequence[Any], features: Features) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Return the matrix and the offset of transformers one after the other, or of none; None as for `affine`."""
    return affine(Pipeline([(str(i), step) for i, step in enumerate(steps or [FunctionTransformer()])]), features)


def some_rows(features: Features) -> NDArray[np.float64]:
    """Return the values of some people, from the first to the last.

    Examples
    --------
    >>> from skfairtest.individual.models.features import read_features
    >>> some_rows(read_features([[1], [2]])).tolist()
    [[1.0], [2.0]]
    """
    n_people = len(features)
    return features.values[np.linspace(0, n_people - 1, min(n_people, _LOOKED_AT)).astype(np.intp)]


def _is_affine(transformer: Any) -> bool:
    """Tell whether a fitted transformer is declared to be affine, and all its members are."""
    if transformer is None or isinstance(transformer, str):  # "passthrough", "drop"
        return True
    members = _members(transformer)
    if members is not None:
        return all(map(_is_affine, members))
    if derives(transformer, "sklearn", "FunctionTransformer"):
        return transformer.func is None
    # Scalers may clip, and to imputers any number may mean that one is missing.
    if getattr(transformer, "clip", False) or not pd.isna(getattr(transformer, "missing_values", None)):
        return False
    kind = type(transformer)
    transform = getattr(kind, "transform", None)
    declared = [getattr(base, "transform", None) for base in kind.__mro__ if _declares(base)]
    return transform is not None and transform in declared


def _declares(kind: type) -> bool:
    return vars(kind).get("is_affine") is True or any(is_of(kind, package, *_AFFINE[package]) for package in _AFFINE)


def _members(transformer: Any) -> list[Any] | None:
    """The transformers that a transformer is made of; None of one that is not made of others."""
    if isinstance(transformer, FrozenEstimator):
        return [transformer.estimator]
    if isinstance(transformer, Pipeline):
        return [step for _, step in transformer.steps]
    if isinstance(transformer, FeatureUnion):
        return [member for _, member in transformer.transformer_list]
    if derives(transformer, "sklearn", "ColumnTransformer"):
        return [member for _, member, _ in transformer.transformers_]
    return None
