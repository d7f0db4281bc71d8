"""The inputs of a test of correlation: features as numbers, strata as codes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from skfairtest._utils.errors import ParameterError
from skfairtest._utils.typing import Floats
from skfairtest.comparisons.outcomes import numbers
from skfairtest.correlation.statistics import KEPT, SMALLEST_STRATUM, Pairs
from skfairtest.readers import Column, predict, scores

#: More single strata than this, over all features, are refused.
MOST_STRATA = 1000


def feature_values(columns: tuple[Column, ...], data: Any) -> list[Floats]:
    """Return the sensitive features as numbers; raise an error if one is not numeric, is categorical or constant."""
    out = []
    for column in columns:
        where = f"sensitive_features (column {column.name!r})"
        out.append(numbers(column, where, "use FairnessTest for groups; dates can become numbers, such as years"))
        if len(column.levels) == 1:
            everybody = f"everybody (n_samples={len(column)})"
            raise ParameterError(f"{where} is {column.levels[0]!r} for {everybody}: nothing can be correlated with it")
    for name, values in data.items() if isinstance(data, dict | pd.DataFrame) else [(columns[0].name, data)]:
        if isinstance(getattr(values, "dtype", None), pd.CategoricalDtype):
            raise ParameterError(
                f"sensitive_features (column {str(name)!r}) is categorical: use FairnessTest for groups"
            )
    return out


def zero_one(column: Column, classes: tuple[Any, ...], pos_label: Any) -> Floats:
    """Return 1 for the positive class and 0 for the other."""
    strange = next((level for level in column.levels if level not in classes), None)
    if strange is not None:
        raise ParameterError(
            f"{column.name} holds {strange!r}, which is neither of the estimator's classes {classes[0]!r} and "
            f"{classes[1]!r}"
        )
    return np.array([float(level == pos_label) for level in column.levels])[column.codes]


def response(
    estimator: Any, X: Any, sensitive_features: Any, predict_params: Any, random_state: Any, pos_label: Any
) -> Any:
    """Return probabilities of the positive one of two classes where there are any, else predictions."""
    common = {
        "sensitive_features": sensitive_features,
        "predict_params": predict_params,
        "random_state": random_state,
    }
    if pos_label is not None and hasattr(estimator, "predict_proba"):
        return scores(estimator, X, ["predict_proba"], metric="of", pos_label=pos_label, **common)
    return predict(estimator, X, **common)


def crossed(controls: tuple[Column, ...]) -> tuple[NDArray[np.intp], list[Any]]:
    """Return codes of the crossed control features and their labels: values, or tuples of several."""
    if not controls:
        return np.zeros(0, dtype=np.intp), []
    codes = np.stack([column.codes for column in controls], axis=1)
    found, inverse = np.unique(codes, axis=0, return_inverse=True)
    keys = [tuple(c.levels[code] for c, code in zip(controls, row, strict=True)) for row in found.tolist()]
    return inverse.reshape(-1), [key[0] if len(key) == 1 else key for key in keys]


def usable(pairs: Pairs, controls: str, of: str) -> list[int]:
    """Return the features that have at least one usable stratum.

    Raises
    ------
    ValueError
        If no feature has one, or there are too many strata.
    """
    kept = pairs.left_out == KEPT
    if pairs.stratified and kept.sum() > MOST_STRATA:
        raise ParameterError(
            f"control_features ({controls}) makes {int(kept.sum()):,} comparisons within strata, more than "
            f"{MOST_STRATA:,}: use fewer values, for instance with pandas.cut"
        )
    if kept.any():
        return np.flatnonzero(kept.any(axis=1)).tolist()
    n = len(pairs.e)
    if pairs.stratified:
        raise ValueError(
            f"no stratum of {controls} has {SMALLEST_STRATUM} or more people among whom both the sensitive feature and "
            "the outcome vary: use fewer strata"
        )
    if n < SMALLEST_STRATUM:
        raise ValueError(f"{n} people are too few: a correlation needs at least {SMALLEST_STRATUM}")
    raise ParameterError(f"of={of} is {pairs.e[0]:g} for all {n:,} people: a constant has no correlation")
