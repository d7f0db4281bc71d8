"""Distinct values as plain Python scalars, in an order that depends only on the values, and their codes."""

import math
import numbers
from collections.abc import Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from numbers import Number
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from skfairtest._utils.errors import brief
from skfairtest._utils.typing import Positions


def plain_scalar(value: Any) -> Any:
    """A NumPy scalar as the Python scalar it stands for; anything else as it is.

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


def is_label(label: Any, wanted: Any) -> bool:
    """Whether two labels are equal; labels that cannot be compared differ.

    Examples
    --------
    >>> is_label(1, 1.0), is_label(1, pd.NA)
    (True, False)
    """
    try:
        return bool(label == plain_scalar(wanted))
    except (TypeError, ValueError):
        return False


def other_labels(labels: Iterable[Any], pos_label: Any) -> list[Any]:
    """The labels that count as negative; none if there is no positive one.

    Examples
    --------
    >>> other_labels(["deny", "grant", "refer"], "grant")
    ['deny', 'refer']
    """
    return [] if pos_label is None else [label for label in labels if not is_label(label, pos_label)]


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


def number_kind(kind: type) -> type | None:
    """The kind of number that a type is, or None for other types."""
    if issubclass(kind, np.timedelta64):  # to NumPy an integer
        return None
    if issubclass(kind, (bool, np.bool_)):
        return bool
    if issubclass(kind, numbers.Integral):
        return int
    if issubclass(kind, (float, np.floating)):
        return float
    return next((other for other in (Decimal, Fraction, complex) if issubclass(kind, other)), None)


def unify_numbers(values: Iterable[Any], types: Iterable[type]) -> list[Any]:
    """Represent equal numbers of several types (``True``, ``1``, ``1.0``) by one, whatever their order."""
    kinds = {number_kind(kind) for kind in set(types)} - {None}
    return list(values) if len(kinds) < 2 else [_plainest(value) for value in values]


def _plainest(value: Any) -> Any:
    if number_kind(type(value)) is None:
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
    return ("number" if number_kind(type(value)) else type(value).__name__, value)


def sort_levels(values: Iterable[Any]) -> list[Any]:
    """Sort distinct values; those of mixed types by type name, then value.

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
    text = ", ".join(map(brief, values[:limit]))
    return text if len(values) <= limit else f"{text}, ... ({len(values):,} in all)"


#: Whether pandas tells texts apart that differ after a NUL.
READS_WHOLE_TEXT = len(pd.factorize(np.array(["a", "a\x00"], dtype=object))[1]) == 2
# Integers that span no more than this are counted instead of hashed.
SMALL_RANGE = 1 << 12


def encode(values: Any) -> tuple[tuple[Any, ...], Positions, int]:
    """Find the distinct values and where each of them occurs."""
    if isinstance(values, np.ma.MaskedArray):
        # Without this the numbers under the mask would count as values.
        values, masked = values.astype(object).data, np.ma.getmaskarray(values)
        values[masked] = None
    kind = values.dtype.kind if isinstance(values, np.ndarray) and values.size else ""
    if kind and kind in "bui" and int(values.max()) - int(values.min()) < SMALL_RANGE:
        low = values.min()
        offsets = values.astype(np.intp)
        offsets -= low.astype(np.intp)
        found = np.flatnonzero(np.bincount(offsets))
        place = np.zeros(found[-1] + 1, dtype=np.min_scalar_type(len(found) - 1))
        place[found] = np.arange(len(found))
        plain = bool if kind == "b" else int
        return tuple(plain(int(low) + offset) for offset in found.tolist()), place[offsets], 0
    codes, uniques = _factorize(values.astype(object) if kind and kind in "UST" else values)
    if uniques.dtype.kind == "f":
        # Arrow's floats have NaN beside null, and pandas takes it for a value.
        uniques = np.asarray(uniques, dtype=None if isinstance(uniques, np.ndarray) else float)
        missing = np.append(np.isnan(uniques), True)
        codes, uniques = np.where(missing, -1, np.cumsum(~missing) - 1)[codes], uniques[~missing[:-1]]
    if isinstance(uniques, np.ndarray) and uniques.dtype.kind in "biufUS":
        with np.errstate(over="ignore"):
            distinct, place = np.unique(
                uniques.astype(float) if uniques.dtype.kind == "f" else uniques, return_inverse=True
            )
        levels = [plain_scalar(value) for value in distinct.tolist()]
    else:
        # A list of nanosecond dates would be a list of integers.
        dates = isinstance(uniques, np.ndarray) and uniques.dtype.kind in "mM"
        plainest = [plain_scalar(value) for value in (pd.Index(uniques) if dates else uniques).tolist()]
        numeric = uniques.dtype == np.dtype(object) and any(isinstance(value, Number) for value in plainest)
        if numeric and pd.api.types.infer_dtype(values, skipna=True).startswith("mixed"):
            plainest = unify_numbers(plainest, set(map(type, values)))
        # Values that pandas tells apart may be one plain scalar.
        levels = sort_levels(dict.fromkeys(plainest))
        position = {value: number for number, value in enumerate(levels)}
        place = np.array([position[value] for value in plainest], dtype=np.intp)
    n_missing = int(np.count_nonzero(codes < 0))
    codes = np.append(place, -1)[codes] if n_missing else small(place, len(levels))[codes]
    return tuple(levels), codes, n_missing


def small(codes: Positions, n: int) -> Positions:
    """Codes 0..n - 1 in the smallest integer type."""
    return codes.astype(np.min_scalar_type(max(n - 1, 0)), copy=False)


def _factorize(values: Any) -> tuple[NDArray[Any], Any]:
    """Number the distinct values, even if pandas compares text only up to the first NUL (2.1)."""
    if values.dtype == np.dtype(object) and not READS_WHOLE_TEXT:
        # With anything else among the texts, objects are compared.
        codes, uniques = pd.factorize(np.append(np.asarray(values), np.array([object()])))
        return codes[:-1], uniques[:-1]
    try:
        with np.errstate(over="ignore"):  # of numbers wider than floats
            return pd.factorize(values)
    except NotImplementedError:  # Arrow's lists, structs and narrow decimals: values say whether they can be compared
        return pd.factorize(np.asarray(values, dtype=object))


def distinct(codes: Sequence[Positions], sizes: Sequence[int]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Number the combinations of several codes that occur, in their order; return also a row of each.

    Examples
    --------
    >>> place, first = distinct([np.array([1, 0, 1]), np.array([2, 0, 2])], [2, 3])
    >>> place.tolist(), first.tolist()
    ([1, 0, 1], [1, 0])
    """
    number, size = codes[0].astype(np.intp), sizes[0]
    for further, n in zip(codes[1:], sizes[1:], strict=True):
        if size * n > 1 << 62:
            number, seen = pd.factorize(number, sort=True)
            size = len(seen)
        np.multiply(number, n, out=number)
        np.add(number, further, out=number)
        size *= n
    if size <= 4 * number.size + (1 << 16):  # cheaper than a hash table
        there = np.bincount(number, minlength=size) > 0
        size, number = int(there.sum()), (np.cumsum(there) - 1)[number]
    else:
        number, seen = pd.factorize(number, sort=True)
        size = len(seen)
    first = np.empty(size, dtype=np.intp)
    first[number[::-1]] = np.arange(len(number) - 1, -1, -1)
    return number, first
