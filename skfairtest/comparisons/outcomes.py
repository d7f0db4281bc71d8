"""Outcomes that are numbers: a column of them, or what a user's function makes of labels and predictions."""

from __future__ import annotations

from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skfairtest._utils.errors import ParameterError
from skfairtest._utils.text import name_of
from skfairtest._utils.typing import Floats
from skfairtest.readers import Column, as_floats

#: Numbers of this size and above count as infinite.
LARGEST = 1e307


def numbers(column: Column, where: str, instead: str = "pass numbers") -> Floats:
    """Return a column's values as floats.

    Raises
    ------
    ValueError
        If one of them is not a number, or too large for a float.
    """
    strange = next((level for level in column.levels if not isinstance(level, Real | Decimal)), None)
    if strange is not None:
        raise ParameterError(f"{where} holds {strange!r}, which is not a number: {instead}")
    levels = as_floats(column.levels)
    # Differences and sums of two must be finite as well.
    if not np.abs(levels).max() < LARGEST:
        raise ParameterError(
            f"{where} holds infinite values: replace them, or leave these people out of every argument"
        )
    return np.asarray(levels[column.codes])


def own_outcome(function: Any, y_true: NDArray[Any], y_pred: NDArray[Any]) -> Floats:
    """Return the value of a user's function of true and predicted values, one finite number per person."""
    name = name_of(function)
    try:
        e = np.asarray(function(y_true.copy(), y_pred.copy()))
    except Exception as error:
        raise ParameterError(f"of={name} raised {type(error).__name__}: {error}") from error
    if e.shape != y_pred.shape or e.dtype.kind not in "biuf":
        raise ParameterError(
            f"of={name} must return one number per person, of shape {y_pred.shape}; found {e.dtype} of shape {e.shape}"
        )
    e = e.astype(float)
    bad = int((~(np.abs(e) < LARGEST)).sum())
    if bad:
        raise ParameterError(f"of={name} returned {bad:,} values among {len(e):,} that are NaN or infinite")
    return e
