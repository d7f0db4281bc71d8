"""Affine transformers, and pipelines that begin with them.

Classes of other packages, recognised by their names: importing every package that a model may use takes time.

An object of a class that was never imported does not exist.

Affine transformers: what they do to a row, as a matrix and an offset.

Which classes are affine is declared; the matrix is not computed class by class, but by calling the fitted transformer.

A pipeline in two parts: encoders that are affine in numbers and shares of categories, and the model behind them.

The model can then be called on shares, without building a table of text for every call.
"""

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, issparse
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import FunctionTransformer

from skfairtest._utils.typing import Floats
from skfairtest.individual.models.features import Features
from skfairtest.readers.predictions import ask, path_of, transformers_of


def is_of(kind: type, package: str, *names: str) -> bool:
    """Whether a class is one of those that a package has under these names; derived classes are not.

    Examples
    --------
    >>> from sklearn.decomposition import PCA
    >>> is_of(PCA, "sklearn", "PCA", "FastICA"), is_of(PCA, "sklearn", "BaseEstimator")
    (True, False)
    """
    return kind.__name__ in names and kind.__module__.split(".")[0] == package


def derives(model: Any, package: str, *names: str) -> bool:
    """Whether an object is an instance of a class of a package, or of a class derived from it.

    Examples
    --------
    >>> from sklearn.decomposition import PCA
    >>> derives(PCA(), "sklearn", "BaseEstimator"), derives(PCA(), "torch", "Module")
    (True, False)
    """
    return any(is_of(base, package, *names) for base in type(model).__mro__)


def path_of_probabilities(estimator: Any) -> list[Any]:
    """Return an estimator, the model whose probabilities or numbers it passes on, and so on inwards.

    A classifier that only sets a threshold has the probabilities of the model that it wraps.
    """
    path = path_of(estimator)
    while (inner := _wrapped(path[-1])) is not None:
        path += path_of(inner)
    return path


def _wrapped(model: Any) -> Any:
    if derives(model, "sklearn", "FixedThresholdClassifier", "TunedThresholdClassifierCV"):
        return getattr(model, "estimator_", None)
    return getattr(model, "regressor_", None) if derives(model, "sklearn", "TransformedTargetRegressor") else None


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


#: Rounding may put somebody on the other side of a threshold.
_MOSTLY = 0.99


@dataclass(frozen=True, eq=False)
class Split:
    """The two parts.

    Parameters
    ----------
    matrix, offset : ndarray of shapes (d, m) and (m,)
        The encoders.
    model : object
        The model behind them.
    names : list of str or None
        What its columns are called, where it is given a frame.
    sparse : bool
        Whether it is given a sparse matrix.
    """

    matrix: Floats
    offset: Floats
    model: Any
    names: list[str] | None
    sparse: bool

    def ask(self, response: str, x: Floats) -> NDArray[Any]:
        """Call the model on rows of numbers and shares."""
        encoded: Any = x @ self.matrix + self.offset
        if self.names is not None:
            encoded = pd.DataFrame(encoded, columns=self.names)
        return ask(self.model, response, csr_matrix(encoded) if self.sparse else encoded)


def split(estimator: Any, response: str, features: Features) -> Split | None:
    """Split a model whose outputs are those of the last step of its pipeline.

    Parameters
    ----------
    estimator : object
        The fitted model.
    response : str
        The name of the method that is called.
    features : Features
        The people.

    Returns
    -------
    Split or None
        None if the steps before the last are not known to be affine, or the parts do not reproduce the model's outputs.
    """
    path = path_of_probabilities(estimator)
    steps = transformers_of(path)
    if not steps or not callable(getattr(path[-1], response, None)) or (found := affine_steps(steps, features)) is None:
        return None
    rows = some_rows(features)
    shown = features.as_input(rows)
    for step in steps:
        shown = step.transform(shown)
    names = list(shown.columns) if isinstance(shown, pd.DataFrame) else None
    whole = np.asarray(ask(estimator, response, features.as_input(rows)), dtype=float)
    for sparse in (False, True)[: 1 + issparse(shown)]:  # most models take either, and shares are not sparse
        parts = Split(*found, path[-1], names, sparse)
        try:
            said = parts.ask(response, rows)
        except (TypeError, ValueError):
            continue
        if np.isclose(said, whole, rtol=1e-6, atol=1e-9).mean() > _MOSTLY:
            return parts
    return None
