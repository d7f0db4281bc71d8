"""Published or stored counts -> rows: frames with a count column, and mappings of keys."""

import math
import numbers
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from skfairtest._utils.errors import ParameterError
from skfairtest._utils.typing import Integers
from skfairtest.readers.columns import Column, read_column
from skfairtest.readers.containers import is_table, split_table
from skfairtest.readers.levels import listed


def name_list(names: str | Iterable[str] | None, parameter: str) -> tuple[str, ...]:
    """Return column names as a tuple: one name, several, or none.

    Raises
    ------
    ValueError
        If a name is not a string, or is listed twice.
    """
    if names is None:
        return ()
    several = tuple(names) if isinstance(names, Iterable) and not isinstance(names, str) else (names,)
    for name in several:
        if not isinstance(name, str):
            raise ParameterError(f"{parameter} takes names of columns (strings), found {name!r}.")
        if several.count(name) > 1:
            raise ParameterError(f"{parameter} lists {name!r} twice.")
    return several


def read_counted(
    data: Any, count: str, names: Sequence[str] | None, wanted: Sequence[tuple[str, str]]
) -> tuple[list[Column], Integers]:
    """Read columns and their counts from a long-form table or from a mapping of keys to counts.

    Parameters
    ----------
    data : frame, mapping of names to columns, or mapping of key tuples to counts
        One row (or key) per combination; repeated rows are allowed.
    count : str
        The column that holds the counts; not used for a mapping of keys.
    names : sequence of str or None
        The name of each position of a key, if `data` is a mapping of keys.
    wanted : sequence of (str, str)
        The parameter and the column that it names, for every column to be read.

    Returns
    -------
    columns : list of Column
        As `wanted`.
    counts : ndarray of shape (n_rows,), dtype int64
        How many people each row stands for.

    Raises
    ------
    ValueError
        If a column is not there, a key has the wrong length, a value is missing, or a count
        is not a whole number of people.
    """
    if names is None and isinstance(data, Mapping) and any(isinstance(key, tuple) for key in data):
        raise ParameterError(
            "data is a mapping of keys to counts: name each position of a key, for example names=('sex', 'y_pred')."
        )
    if names is not None:
        table = _split_mapping(data, name_list(names, "names"), count)
    elif data is None or isinstance(data, (str, bytes)) or not is_table(data):
        raise ParameterError(
            f"data must be a frame, a mapping of names to columns or a mapping of keys to "
            f"counts, found type {type(data).__name__}."
        )
    else:
        table = {str(name): values for name, values in split_table(data, "data")}
    for parameter, name in (("count", count), *wanted):
        if not isinstance(name, str) or name not in table:
            raise ParameterError(f"{parameter}={name!r} is not a column of data, which has {listed(table)}.")
    columns = [read_column(table[name], parameter, name=name) for parameter, name in wanted]
    counted = read_column(table[count], "count", name=count)
    if len({len(counted), *map(len, columns)}) > 1:
        lengths = {column.name: len(column) for column in (counted, *columns)}
        raise ParameterError(f"data has columns of different lengths {lengths}.")
    counts = as_counts(counted.levels, f"count (column {count!r})")
    return columns, counts[counted.codes]


def _split_mapping(data: Any, names: tuple[str, ...], count: str) -> dict[str, Any]:
    if not isinstance(data, Mapping) or not data:
        raise ParameterError(
            "names is only for a mapping of keys to counts, such as {('f', 1): 12, ('m', 1): 20}; "
            f"found {'an empty mapping' if isinstance(data, Mapping) else type(data).__name__}."
        )
    keys = [key if isinstance(key, tuple) else (key,) for key in data]
    for key in keys:
        if len(key) != len(names):
            raise ParameterError(
                f"data has the key {key!r} of {len(key)} values, but names has {len(names)}: {listed(names)}."
            )
    if count in names:
        raise ParameterError(f"names contains {count!r}, which stands for the counts: rename it.")
    table: dict[str, Any] = {name: list(values) for name, values in zip(names, zip(*keys, strict=True), strict=True)}
    return {**table, count: list(data.values())}


def as_counts(values: Iterable[Any], parameter: str) -> Integers:
    """Return numbers of people as int64.

    Raises
    ------
    ValueError
        If one is negative, fractional, not finite or not a number.
    """
    values = list(values)
    for value in values:
        if not _is_number_of_people(value):
            raise ParameterError(f"{parameter} must hold numbers of people, whole and not negative; found {value!r}.")
    return np.array([int(value) for value in values], dtype=np.int64)


def _is_number_of_people(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        return False
    number = float(value)
    return math.isfinite(number) and number.is_integer() and 0 <= number < 2.0**62
