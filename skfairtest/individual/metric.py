"""The fair metric of every fold, as a matrix: given, or learned on other people than those it is used on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import get_routing_for_object
from sklearn.utils.validation import check_is_fitted

from skfairtest._utils.errors import ParameterError, held_back
from skfairtest._utils.typing import Floats
from skfairtest.individual.fair_metrics import (
    MISSING,
    FairMetric,
    Mahalanobis,
    SensitiveSubspace,
    numbers_of,
    out_of_fold,
    responses_of,
)
from skfairtest.individual.features import Features
from skfairtest.individual.flow import Quadratic
from skfairtest.individual.model import affine
from skfairtest.individual.people import People, ranks
from skfairtest.readers import Column
from skfairtest.readers.predictions import parameters_of

#: Folds on whose complements a metric is learned.
FOLDS = 5
#: Groups that are left out in turn, and people who are moved for each.
GROUPS, MOVED = 10, 250


def polarized(distance: Callable[[Any, Any], Any], values: Floats) -> Floats:
    """The matrix of a quadratic distance that is called, checked by the distances of people.

    Examples
    --------
    >>> polarized(
    ...     lambda x, other: 2 * np.abs(x - other)[:, 0], np.array([[1.0, 0.0], [4.0, 1.0]])
    ... )
    array([[4., 0.],
           [0., 0.]])
    """
    d = values.shape[1]
    first, second = np.triu_indices(d)
    ends, moves, squares = np.eye(d)[first] + np.eye(d)[second], values - values[::-1], np.zeros((d, d))
    try:
        squares[first, second] = squares[second, first] = np.square(distance(ends, np.zeros_like(ends)))
        alone = np.diagonal(squares) / 4  # of 2 e_i
        matrix: Floats = (squares - np.add.outer(alone, alone)) / 2
        expected = np.sqrt(np.maximum(((moves @ matrix) * moves).sum(axis=1), 0.0))
        distances = np.asarray(distance(values, values[::-1]), dtype=float)
        exact = np.allclose(distances, expected, rtol=1e-6, atol=1e-6 * expected.max())
    except ValueError:  # another shape
        exact = False
    if not exact or distances.shape != expected.shape:
        raise ParameterError(
            "fair_metric is a function that is not a distance of the form sqrt((x - x') A (x - x')'), one number per "
            "person, which the flow needs: pass the matrix A, a transformer, or a function whose square is quadratic "
            "in x - x'"
        )
    return matrix


def resolve(fair_metric: Any, features: Features) -> Any:
    """The transformer that a name, an object, or a matrix or function in the units of X stands for."""
    if isinstance(fair_metric, str) and fair_metric == "sensitive_subspace":
        return SensitiveSubspace()
    if callable(fair_metric) and not isinstance(fair_metric, type) and not hasattr(fair_metric, "transform"):
        fair_metric = polarized(fair_metric, features.values)
    if isinstance(fair_metric, np.ndarray | list | pd.DataFrame):
        return Mahalanobis(fair_metric).fit(features.as_input(features.values))
    learnable = hasattr(fair_metric, "fit") and hasattr(fair_metric, "get_params")
    known = hasattr(fair_metric, "transform") and not isinstance(fair_metric, type)
    if not known or not (learnable or is_fitted(fair_metric)):
        raise ParameterError(
            "fair_metric must be 'sensitive_subspace', a matrix, a function distance(X, X_other), or a transformer "
            "that is fitted or can be cloned and fitted, such as SensitiveSubspace() or Projection(directions); found "
            f"{fair_metric!r}"
        )
    return fair_metric


def is_fitted(transformer: Any) -> bool:
    """Whether a transformer is fitted already, and used as it is."""
    try:
        check_is_fitted(transformer)
    except (NotFittedError, TypeError):
        return False
    return True


@dataclass(frozen=True)
class Similarity:
    """The fair distance of every fold."""

    metric: Any
    sensitive: tuple[Column, ...]
    traces: pd.DataFrame
    metrics: list[Any]
    matrices: list[Quadratic]
    folds: NDArray[np.intp]
    uncertain: bool = False


def similarity(fair_metric: Any, people: People, scale: Floats | None, level: float) -> Similarity:
    """Learn the fair distance from the sensitive features of which X holds a trace."""
    features, sensitive = people.features, people.sensitive
    metric = resolve(fair_metric, features.plain())
    rows, last, fold_of = [], _last(metric), np.zeros(len(features))
    learned = isinstance(last, SensitiveSubspace) and not is_fitted(metric)
    if learned and not sensitive and last.sensitive_columns is None:
        raise ParameterError(MISSING)
    if learned and sensitive and last.level is not None:
        named, kept = [], []  # behind other steps of a pipeline the columns are not known
        if isinstance(metric, SensitiveSubspace):
            named = _of_categories(metric, features)._sensitive_positions(features.plain())
        values = np.delete(features.values, named, axis=1)
        places, varies = ranks(values, fold_of), values.size and (np.ptp(values, axis=0) > 0).any()
        for column in sensitive:
            responses, found = responses_of(column), not varies  # what is wrong with X is said where it is used
            if varies:
                order = np.lexsort((column.codes, places))  # not the order in which people came
                labels = numbers_of(column) is None
                value, p = out_of_fold(values[order], responses[order], places[order] % FOLDS, labels=labels)
                found = p <= level / len(sensitive)
                rows.append((column.name, "AUC" if labels else "correlation", value, p, found))
            kept += [column] * found
        sensitive, metric = tuple(kept), clone(metric)
        _last(metric).set_params(level=level if last.level == "auto" else last.level)
    traces = pd.DataFrame(rows, columns=["feature", "measure", "value", "p_value", "found"])
    if learned and not sensitive and last.sensitive_columns is None:
        identity = [Quadratic(np.eye(features.values.shape[1]))]
        return Similarity(None, (), traces, [], identity, fold_of.astype(np.intp))
    fitted = learn(metric, features, people.codes, sensitive, scale, people.folds)
    supports = [kept for each in fitted[0] for kept in getattr(_last(each), "_supports", ())]
    return Similarity(metric, sensitive, traces, *fitted, learned and any(kept is not None for kept in supports))


def variance_of_learning(
    similar: Similarity,
    people: People,
    scale_of: Callable[[Features], Floats | None],
    statistic: Callable[[NDArray[np.intp], list[Quadratic], NDArray[np.intp]], list[float]],
) -> float:
    """The variance of the logarithm of the statistic that is due to the metric and its units."""
    codes = np.unique(people.codes, return_inverse=True)[1].astype(float)
    features, groups = people.features, people.folds(GROUPS)
    some = np.unique(np.linspace(0, len(codes) - 1, MOVED).astype(int))
    matrices, scale = [], scale_of(features)
    try:
        for group in range(groups.max() + 1):
            rest = groups != group
            teaching = tuple(column.take(rest) for column in similar.sensitive)
            others = features.take(rest)
            units = scale_of(others)
            with held_back():  # warned about already, for all people
                _, (learned,), _ = learn(similar.metric, others, codes[rest], teaching, units)
            matrices.append(learned if scale is None or units is None else Quadratic(learned.matrix, units / scale))
        folds = np.repeat(np.arange(len(matrices)), len(some))
        values = statistic(np.tile(some, len(matrices)), matrices, folds)
    except ValueError:
        return 0.0
    return (len(values) - 1) * float(np.var(np.log(values))) if min(values) > 0 else 0.0


def _last(transformer: Any) -> Any:
    """Return the last step of a pipeline, or the transformer."""
    return transformer.steps[-1][1] if isinstance(transformer, Pipeline) else transformer


def learn(
    fair_metric: Any,
    features: Features,
    truth: Floats,
    sensitive: tuple[Column, ...],
    scale: Floats | None,
    folds_of: Callable[[int], NDArray[np.intp]] | None = None,
) -> tuple[list[Any], list[Quadratic], NDArray[np.intp]]:
    """Learn the fair metric on the other folds, for every fold."""
    fold_of = np.zeros(len(features.values), dtype=np.intp)
    fair_metric = _of_categories(fair_metric, features)
    features = features.plain()
    if is_fitted(fair_metric):
        units = 1.0 if scale is None else np.multiply.outer(scale, scale)
        return [fair_metric], [Quadratic(_matrix(fair_metric, features) * units)], fold_of
    scaled = features if scale is None else replace(features, values=features.values / scale)
    with config_context(enable_metadata_routing=True):  # it knows which steps of a pipeline take them
        takes = "sensitive_features" in parameters_of(fair_metric.fit) or get_routing_for_object(fair_metric).consumes(
            "fit", ["sensitive_features"]
        )
    supports: Any = None

    def fitted(rows: NDArray[np.bool_]) -> Any:
        fresh = clone(fair_metric)
        # The coefficients that are kept are selected once, from all people: folds that select
        # for themselves agree less, and one in five that is wrong is enough for a wrong verdict.
        if supports:
            _last(fresh)._given_supports = supports
        try:
            params = {"sensitive_features": _groups(fair_metric, sensitive, rows)} if takes and sensitive else {}
            with config_context(enable_metadata_routing=True):
                return fresh.fit(scaled.as_input(scaled.values[rows]), truth[rows], **params)
        except ValueError as error:
            raise ParameterError(
                f"fair_metric={type(fair_metric).__name__} cannot be fitted on {int(rows.sum()):,} of {len(truth):,} "
                f"people: {error} Fitted on other people, it is used as it is."
            ) from error

    transformers, folds = [fitted(fold_of == 0)], fold_of
    if folds_of is not None:
        folds = folds_of(FOLDS)
        supports = getattr(_last(transformers[0]), "_supports", None)
        with held_back():  # warned about already, for all people
            transformers = [fitted(folds != fold) for fold in range(int(folds.max()) + 1)]
    matrices = [_matrix(metric, scaled) for metric in transformers]
    rounding = 1e-12 * np.abs(matrices[0]).max()
    if all(np.allclose(matrix, matrices[0], rtol=0.0, atol=rounding) for matrix in matrices):  # nothing to learn
        return transformers[:1], [Quadratic(matrices[0])], fold_of
    return transformers, [Quadratic(matrix) for matrix in matrices], folds


def _of_categories(fair_metric: Any, features: Features) -> Any:
    """Return a metric whose sensitive columns are those of the numbers, where a column of categories is named."""
    whole = {name: [features.names[i] for i in columns] for name, columns in features.groups if len(columns) > 1}
    named = getattr(fair_metric, "sensitive_columns", None)
    if named is None or not whole or is_fitted(fair_metric):
        return fair_metric
    names: list[Any] = [named] if isinstance(named, str | int) else list(named)
    return clone(fair_metric).set_params(sensitive_columns=[one for name in names for one in whole.get(name, [name])])


def _groups(transformer: Any, sensitive: tuple[Column, ...], rows: NDArray[np.bool_]) -> Any:
    """Return sensitive features of some people, with the levels of all people, or as a frame."""
    last = _last(transformer)
    some = [replace(column.take(rows), index=None) for column in sensitive]
    if isinstance(last, FairMetric):
        return tuple(some)
    return pd.DataFrame({one.name: pd.Categorical(one.values) if one.categorical else one.values for one in some})


def _matrix(fitted: Any, features: Features) -> Floats:
    """Return Sigma of d^2(x, x') = (x - x') Sigma (x - x')'."""
    name, width = type(fitted).__name__, getattr(fitted, "n_features_in_", len(features.names))
    if width != len(features.names):
        raise ParameterError(
            f"fair_metric={name} was fitted on {width} features, and X has {len(features.names)}: fit it on the "
            "columns that the model predicts from"
        )
    found = affine(fitted.transform, features)
    if found is None:
        raise ParameterError(
            f"fair_metric={name} is not linear on these people: its distance has to be that of x @ A, as of "
            "SensitiveSubspace, Projection, PCA or scalers"
        )
    return np.asarray(found[0] @ found[0].T)
