"""Distinct values: as plain Python scalars, in an order that depends only on the values."""

import numbers
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd


def plain_scalar(value: Any) -> Any:
    """Return a NumPy scalar as the Python scalar it stands for; anything else as it is.

    Negative zero becomes zero: the two are one level.
    """
    if isinstance(value, np.str_):  # .item() of text drops NULs at its end
        return str.__str__(value)
    if isinstance(value, np.bytes_):
        return bytes(value)
    if isinstance(value, np.datetime64):
        # .item() of a nanosecond date is a bare integer.
        return pd.Timestamp(value)
    if isinstance(value, np.timedelta64):
        return pd.Timedelta(value)
    if isinstance(value, np.floating):
        value = float(value)
    elif isinstance(value, np.generic):
        value = value.item()
    return value + 0.0 if isinstance(value, float) else value


def is_label(label: Any, wanted: Any) -> bool:
    """Return whether a label is the one asked for; a label that cannot be compared with it is a different one.

    Examples
    --------
    >>> is_label(1, 1.0), is_label(1, pd.NA)
    (True, False)
    """
    try:
        return bool(label == wanted)
    except (TypeError, ValueError):
        return False


def is_unicode(value: Any) -> bool:
    r"""Return whether text, also inside a tuple, is free of lone surrogates; True for anything else.

    Examples
    --------
    >>> is_unicode("日本"), is_unicode("\ud800"), is_unicode(3)
    (True, False, True)
    """
    if isinstance(value, str):
        return value.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in value)
    return not isinstance(value, tuple) or all(map(is_unicode, value))


def _number_kind(kind: type) -> type | None:
    """The kind of number that a type is, or None for other types."""
    if issubclass(kind, (bool, np.bool_)):
        return bool
    if issubclass(kind, numbers.Integral):
        return int
    if issubclass(kind, (float, np.floating)):
        return float
    return next((other for other in (Decimal, Fraction, complex) if issubclass(kind, other)), None)


def unify_numbers(values: Iterable[Any], types: Iterable[type]) -> list[Any]:
    """Write equal numbers in one way when several kinds of number meet in a column.

    ``True``, ``1``, ``1.0`` and ``Decimal(1)`` are equal, so they are one level; which of them represents it must not
    depend on which came first.

    Parameters
    ----------
    values : iterable
        The distinct values.
    types : iterable of type
        Every type that occurs in the column, also among values that are equal to another.

    Returns
    -------
    list
        The values; where several kinds of number occur, whole numbers are ints and others floats, if equal to one.
    """
    kinds = {_number_kind(kind) for kind in types} - {None}
    return list(values) if len(kinds) < 2 else [_plainest(value) for value in values]


def _plainest(value: Any) -> Any:
    if _number_kind(type(value)) is None:
        return value
    number = value.real if isinstance(value, complex) and not value.imag else value
    for kind in (int, float):
        try:
            if kind(number) == number:
                return kind(number)
        except (OverflowError, TypeError, ValueError):  # infinite, too large, or complex
            continue
    return value


def _sort_key(value: Any) -> tuple[str, Any]:
    # Numbers are one type: 1, 1.0 and True are equal and must sort alike.
    return ("number" if _number_kind(type(value)) else type(value).__name__, value)


def sort_levels(values: Iterable[Any]) -> list[Any]:
    """Sort distinct values; those of mixed types by type name, then value.

    Parameters
    ----------
    values : iterable
        Distinct hashable values.

    Returns
    -------
    list
        The values in an order that does not depend on the order they came in.

    Examples
    --------
    >>> sort_levels(["b", 2, "a", 1])
    [1, 2, 'a', 'b']
    """
    values = list(values)
    try:
        return sorted(values)
    except TypeError:
        pass
    try:
        return sorted(values, key=_sort_key)
    except TypeError:
        return sorted(values, key=lambda value: (_sort_key(value)[0], repr(value)))


def listed(values: Iterable[Any], limit: int = 10) -> str:
    """Write values for an error message, the first `limit` of them.

    Examples
    --------
    >>> listed(["no", "yes"])
    "'no', 'yes'"
    >>> listed(range(100), limit=3)
    '0, 1, 2, ... (100 in all)'
    """
    values = list(values)
    text = ", ".join(repr(value) for value in values[:limit])
    return text if len(values) <= limit else f"{text}, ... ({len(values):,} in all)"
