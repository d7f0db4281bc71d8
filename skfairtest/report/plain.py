"""Plain data: labels, numbers and frames as JSON has them."""

import math
from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np
import pandas as pd

from skfairtest._utils.checks import is_integer
from skfairtest._utils.text import name_of


def plain_label(value: Any) -> Any:
    """Return a label that JSON has, with tuples kept: text, numbers and truth values; anything else as text.

    Examples
    --------
    >>> import numpy as np
    >>> plain_label((np.int64(3), None, np.datetime64("2020-01-01")))
    (3, None, '2020-01-01')
    """
    if value is None or isinstance(value, str | bool):
        # A subclass of str (an enumeration, NumPy's text) is written as its text.
        return str(value) if isinstance(value, str) and type(value) is not str else value
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, tuple | list):
        return tuple(plain_label(part) for part in value)
    if is_integer(value):
        # Larger ones have no place in an index.
        whole = int(value)
        return whole if -(2**63) <= whole < 2**64 else str(whole)
    if isinstance(value, Real) and not isinstance(value, Integral) and math.isfinite(float(value)):
        return float(value)
    return str(value)


def plain_value(value: Any) -> Any:
    """Return a number, or anything made of plain values, as JSON has it: nan is null, infinities "inf" and "-inf"."""
    kind = type(value)
    if value is None or kind is str or kind is bool:
        return value
    if kind is float:
        return value if math.isfinite(value) else None if math.isnan(value) else str(value)
    if isinstance(value, Mapping):
        return {str(key): plain_value(part) for key, part in value.items()}
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, tuple | list | frozenset | set):
        # Sets have no order of their own.
        return [plain_value(part) for part in (sorted(value, key=str) if isinstance(value, frozenset | set) else value)]
    if isinstance(value, pd.DataFrame):
        return plain_rows(value)
    if callable(value):
        return name_of(value)
    if isinstance(value, Real) and not isinstance(value, Integral | np.bool_):
        return plain_value(float(value))
    return plain_label(value)


def plain_rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a frame as JSON has them."""
    columns = {str(name): [plain_value(value) for value in column.tolist()] for name, column in frame.items()}
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
