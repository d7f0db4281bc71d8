"""One-dimensional values -> levels and codes, at about the cost of one hash table."""

from numbers import Number
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from skfairtest.readers.levels import plain_scalar, sort_levels, unify_numbers

__all__ = ["encode"]

#: Whether pandas tells texts apart that differ after a NUL.
READS_WHOLE_TEXT = len(pd.factorize(np.array(["a", "a\x00"], dtype=object))[1]) == 2
# Integers that span no more than this are counted instead of hashed.
SMALL_RANGE = 1 << 12
# Odd multipliers for the string fingerprint; any odd numbers do, fingerprints are verified.
_MULTIPLIER = 0x9E3779B97F4A7C15
_CHUNK = 1 << 14


def encode(values: Any) -> tuple[tuple[Any, ...], NDArray[np.intp], int]:
    """Find the distinct values and where each of them occurs.

    Parameters
    ----------
    values : ndarray of shape (n,), pandas Series or Index
        The values; missing ones are None, nan, NaT, ``pandas.NA`` or masked.

    Returns
    -------
    levels : tuple
        The distinct values as plain Python scalars, sorted.
    codes : ndarray of shape (n,), dtype intp
        The position of each value in `levels`; -1 where it is missing.
    n_missing : int
        How many are missing.

    Raises
    ------
    TypeError
        If a value cannot be hashed (a list, an array).
    """
    if isinstance(values, np.ma.MaskedArray):
        # Without this the numbers under the mask would count as values.
        values, masked = values.astype(object).data, np.ma.getmaskarray(values)
        values[masked] = None
    array = _as_numpy(values)
    if array is not None and array.dtype.kind == "T":  # NumPy's strings of variable width
        array = array.astype(object)
    if array is not None and array.dtype.kind in "bui" and array.size:
        coded = _encode_small_range(array)
        if coded is not None:
            return *coded, 0
    if array is not None and array.dtype.kind in "US" and array.size:
        coded = _encode_fixed_width(array)
        if coded is not None:
            return *coded, 0
    return _encode_by_hash(values if array is None else array)


def _as_numpy(values: Any) -> NDArray[Any] | None:
    """Return the NumPy array that holds the values already, or None: nothing is converted."""
    if isinstance(values, np.ndarray):
        return values
    dtype = getattr(values, "dtype", None)
    if isinstance(dtype, np.dtype) and hasattr(values, "to_numpy"):
        array: NDArray[Any] = values.to_numpy()
        return array
    return None


def _factorize(values: Any) -> tuple[NDArray[Any], Any]:
    """Number the distinct values, as pandas does, also where it compares text only up to the first NUL (2.1)."""
    if getattr(values, "dtype", None) == np.dtype(object) and not READS_WHOLE_TEXT:
        objects = np.asarray(values, dtype=object)
        if any(isinstance(value, str) and "\x00" in value for value in objects):
            # With anything else among the texts, objects are compared.
            codes, uniques = pd.factorize(np.append(objects, np.array([object()])))
            return codes[:-1], uniques[:-1]
    with np.errstate(over="ignore"):  # of numbers wider than floats
        return pd.factorize(values)


def _encode_by_hash(values: Any) -> tuple[tuple[Any, ...], NDArray[np.intp], int]:
    codes, uniques = _factorize(values)
    codes = codes.astype(np.intp, copy=False)
    n_missing = int(np.count_nonzero(codes < 0)) if codes.size and codes.min() < 0 else 0
    if isinstance(uniques, np.ndarray) and uniques.dtype.kind in "biuf":
        with np.errstate(over="ignore"):
            numbers = uniques.astype(float) if uniques.dtype.kind == "f" else uniques
        distinct, place = np.unique(numbers, return_inverse=True)
        levels = [plain_scalar(value) for value in distinct.tolist()]
    else:
        # A list of nanosecond dates would be a list of integers.
        dates = isinstance(uniques, np.ndarray) and uniques.dtype.kind in "mM"
        listed = (pd.Index(uniques) if dates else uniques).tolist()
        found = _unify_objects(values, [plain_scalar(value) for value in listed])
        # Values that pandas tells apart may be one plain scalar.
        levels = sort_levels(dict.fromkeys(found))
        position = {value: number for number, value in enumerate(levels)}
        place = np.array([position[value] for value in found], dtype=np.intp)
    return tuple(levels), _recode(codes, place, n_missing), n_missing


def _unify_objects(values: Any, found: list[Any]) -> list[Any]:
    if getattr(values, "dtype", None) != np.dtype(object):
        return found
    if not any(isinstance(value, Number) for value in found):
        return found
    if not pd.api.types.infer_dtype(values, skipna=True).startswith("mixed"):
        return found
    return unify_numbers(found, set(map(type, values)))


def _recode(codes: NDArray[np.intp], place: NDArray[np.intp], n_missing: int) -> NDArray[np.intp]:
    """Renumber codes so that ``i`` becomes ``place[i]``; -1 stays -1."""
    if not n_missing and np.array_equal(place, np.arange(place.size)):
        return codes
    return np.append(place, -1)[codes]


def _encode_small_range(
    array: NDArray[Any],
) -> tuple[tuple[Any, ...], NDArray[np.intp]] | None:
    """Count integers or booleans that lie close together; None when they do not."""
    as_bool = array.dtype.kind == "b"
    if as_bool:
        array = array.view(np.uint8)
    low, high = int(array.min()), int(array.max())
    if high - low >= SMALL_RANGE:
        return None
    if array.dtype.itemsize < np.dtype(np.intp).itemsize:
        array = array.astype(np.intp)
    codes = (array - array.dtype.type(low)).astype(np.intp, copy=False)
    present = np.bincount(codes, minlength=high - low + 1) > 0
    found = np.flatnonzero(present)
    if found.size <= high - low:
        codes = (np.cumsum(present) - 1)[codes]
    levels = [low + offset for offset in found.tolist()]
    return tuple(bool(level) for level in levels) if as_bool else tuple(levels), codes


def _encode_fixed_width(
    array: NDArray[Any],
) -> tuple[tuple[Any, ...], NDArray[np.intp]] | None:
    """Encode fixed-width strings by a 64-bit fingerprint of each, verified on every row.

    Turning a million of them into Python strings costs more than everything else together.
    None when two different strings share a fingerprint.
    """
    width = array.dtype.itemsize
    if width % 4 or not width or not array.dtype.isnative:
        return None
    words = np.ascontiguousarray(array).view(np.uint32 if width % 8 else np.uint64)
    words = words.reshape(array.size, -1)
    multipliers = np.array(
        [pow(_MULTIPLIER, power, 1 << 64) for power in range(1, words.shape[1] + 1)],
        dtype=np.uint64,
    )
    prints = np.empty(array.size, dtype=np.uint64)
    for start in range(0, array.size, _CHUNK):
        chunk = words[start : start + _CHUNK].astype(np.uint64, copy=False)
        prints[start : start + _CHUNK] = chunk @ multipliers
    codes, uniques = pd.factorize(prints)
    first = np.empty(uniques.size, dtype=np.intp)
    first[codes[::-1]] = np.arange(array.size - 1, -1, -1)
    examples = words[first]
    for start in range(0, array.size, _CHUNK):
        stop = start + _CHUNK
        if not np.array_equal(words[start:stop], examples[codes[start:stop]]):
            return None
    distinct, place = np.unique(array[first], return_inverse=True)
    return tuple(distinct.tolist()), _recode(codes, place, 0)
