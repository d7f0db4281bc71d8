"""Columns of numbers: scores, targets of a regression, weights. A column with few distinct values is read as labels."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from skfairtest._utils.errors import ParameterError
from skfairtest.readers.columns import Column, Numbers, column_of
from skfairtest.readers.containers import one_dimensional
from skfairtest.readers.labels import MAX_LABELS
from skfairtest.readers.levels import listed

#: Among this many values of a column so many different ones are labels, whole numbers more.
LOOKED_AT, FEW, FEW_WHOLE = 10_000, 100, MAX_LABELS
#: Values whose third powers are floats, as are those of one over it.
LARGEST_NUMBER = 1e102
#: How many times as large as the smallest positive weight the largest may be.
LARGEST_WEIGHT = 1e50


def read_values(data: Any, parameter: str) -> Column | Numbers:
    """Read one value per person: labels as levels and codes, numbers with many distinct values as they are.

    Parameters
    ----------
    data : list, tuple, array or series of length n
        The values.
    parameter : str
        The caller's name of `data`.

    Returns
    -------
    Column or Numbers
        Which of the two depends on the values alone, and not on their container.

    Raises
    ------
    ValueError
        As `read_column`; also if a number is infinite.

    Examples
    --------
    >>> read_values([0, 1, 1], "y_pred").levels
    (0, 1)
    >>> import numpy as np
    >>> read_values(np.linspace(0, 1, 500), "y_score").values[:3].round(3).tolist()
    [0.0, 0.002, 0.004]
    """
    if isinstance(data, Column | Numbers):
        return data
    values = one_dimensional(data, parameter)
    array = values.to_numpy() if isinstance(values, pd.Series) and isinstance(values.dtype, np.dtype) else values
    continuous = (
        type(array) is np.ndarray
        and array.dtype.kind in "fiu"
        and array.size > FEW
        and len(np.unique(array[:LOOKED_AT])) > (FEW if array.dtype.kind == "f" else FEW_WHOLE)
    )
    if not continuous:
        column = column_of(data, values, parameter, parameter)
        numeric = all(isinstance(level, int | float) for level in column.levels)
        if numeric and not np.isfinite(as_floats(column.levels)).all():
            raise ParameterError(_infinite(parameter, column.levels))
        integers = all(isinstance(level, int) for level in column.levels)
        if not numeric or len(column.levels) <= (FEW_WHOLE if integers else FEW):
            return column
        return Numbers(parameter, as_floats(column.levels)[column.codes], column.index)
    index = values.index if isinstance(values, pd.Series) else None
    missing = int(np.isnan(array).sum()) if array.dtype.kind == "f" else 0
    if missing:
        raise ParameterError(
            f"{parameter} has {missing:,} missing value{'s' if missing > 1 else ''} among {array.size:,}: "
            "leave these people out of every argument."
        )
    numbers = np.asarray(array, dtype=float)
    if not np.isfinite(numbers).all():
        raise ParameterError(_infinite(parameter, numbers[~np.isfinite(numbers)].tolist()))
    return Numbers(parameter, numbers, index)


def _infinite(parameter: str, values: Any) -> str:
    found = [value for value, number in zip(values, as_floats(values), strict=True) if not np.isfinite(number)]
    return f"{parameter} must hold finite numbers; found {listed(found, 3)}."


def as_floats(values: Iterable[Any]) -> NDArray[np.float64]:
    """Return numbers of any kind as floats; those too large for a float are infinite.

    Examples
    --------
    >>> as_floats([1, True, 10**400])
    array([ 1.,  1., inf])
    """
    return np.array([_float(value) for value in values], dtype=float)


def _float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf


def as_numbers(column: Column | Numbers) -> NDArray[np.float64] | None:
    """Return one number per person; None if the values are not numbers."""
    if isinstance(column, Numbers):
        return column.values
    if not all(isinstance(level, int | float) for level in column.levels):
        return None
    return as_floats(column.levels)[column.codes]


def check_magnitude(columns: Mapping[str, Column | Numbers], power: int = 1) -> None:
    """Check that the squares of a metric of numbers can be computed, if the columns that it reads are numbers.

    Parameters
    ----------
    columns : mapping of str to Column or Numbers
        What it reads.
    power : int, default=1
        The power of the numbers that the metric is proportional to.

    Raises
    ------
    ValueError
        If the largest number is so large, or so small, that its square is not a float.
    """
    values = {name: as_numbers(column) for name, column in columns.items()}
    largest = {name: float(np.abs(found).max(initial=0.0)) for name, found in values.items() if found is not None}
    name = max(largest, key=lambda name: largest[name], default="")
    most = LARGEST_NUMBER ** (1 / power)
    if name and largest[name] and not 1 / most <= largest[name] <= most:
        raise ParameterError(
            f"{name} holds numbers of up to {largest[name]:g} in magnitude, too large or too small to compute squares "
            f"and standard errors: rescale {' and '.join(largest)}, so that the largest lies between {1 / most:g} and "
            f"{most:g}."
        )


def read_weights(data: Any, parameter: str = "sample_weight") -> Numbers:
    """Read one weight per person.

    Only ratios of weights matter: where squares of weights could not be computed, all are divided by a power of two.

    Raises
    ------
    ValueError
        If a weight is missing, negative or not a number, all are 0, or they are too different from each other.
    """
    column = read_values(data, parameter)
    values = as_numbers(column)
    if values is None:
        assert isinstance(column, Column)
        raise ParameterError(f"{parameter} must hold numbers, found {listed(column.levels, 3)}.")
    negative = int((values < 0).sum())
    if negative:
        raise ParameterError(
            f"{parameter} has {negative:,} negative weight{'s' if negative > 1 else ''}, the smallest "
            f"{values.min():g}: a weight is the number of people that a person stands for, at least 0."
        )
    if not (values > 0).any():
        raise ParameterError(f"{parameter} is 0 for everybody: nobody would be counted.")
    smallest, largest = float(values[values > 0].min()), float(values.max())
    if smallest < largest / LARGEST_WEIGHT:
        raise ParameterError(
            f"{parameter} holds positive weights from {smallest:g} to {largest:g}: those below "
            f"{largest / LARGEST_WEIGHT:g} are negligible beside the largest. Set them to 0, or leave these people out "
            "of every argument."
        )
    if not 1 / LARGEST_WEIGHT <= smallest <= largest <= LARGEST_WEIGHT:
        values = np.ldexp(values, -int(np.frexp(largest)[1]))
    return Numbers(parameter, values, column.index)
