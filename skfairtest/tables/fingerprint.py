"""A hash of the people tested, which identifies a data set and reveals nothing else about it.

The data are a multiset of rows. Distinct rows are sorted and counted, and one SHA-256 hash is taken of all of them: the
order of rows, the container and whether people came as rows or in a table of counts make no difference. No hash is
taken of a single row or value, which somebody who knows the possible values could look up.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skfairtest._utils.typing import Positions
from skfairtest.readers.columns import Column, Numbers
from skfairtest.tables.sample import Sample

#: Written first; changes whenever the same data have another hash.
_VERSION = b"skfairtest.data 1"
_LIMIT = 2**62


def data_hash(sample: Sample) -> str:
    """Hash the people of a sample: labels, predictions, scores, groups, strata, weights and clusters.

    Equal numbers are the same value: 1, 1.0 and True. The text "1" is a different value.

    Parameters
    ----------
    sample : Sample
        People as rows, or counted.

    Returns
    -------
    str
        "sha256:" and 64 hexadecimal digits: the same for the same rows in any order, different if any value, any number
        of people or the name of any feature differs.

    Examples
    --------
    >>> people = {"sensitive_features": {"sex": ["f", "m", "m"]}}
    >>> one = data_hash(Sample.from_predictions(None, [1, 0, 1], **people))
    >>> one == data_hash(Sample.from_predictions(None, [1, 1, 0], **people))
    True
    >>> one == data_hash(Sample.from_predictions(None, [0, 0, 1], **people))
    False
    """
    # Names are sorted: which feature is named first makes no difference.
    ranked = {name: _ranked(column) for name, column in sorted(_columns(sample))}
    found = hashlib.sha256(_VERSION)
    example, counts = _distinct([(codes, n) for _, codes, n in ranked.values()], sample.counts)
    for name, (levels, codes, _) in ranked.items():
        for part in (name.encode("utf-8", "surrogatepass"), levels, codes[example].astype("<i8").tobytes()):
            found.update(len(part).to_bytes(8, "little"))
            found.update(part)
    found.update(counts.astype("<i8").tobytes())
    return f"sha256:{found.hexdigest()}"


def _columns(sample: Sample) -> Iterator[tuple[str, Column | Numbers]]:
    """Yield each column with its part in the test, and its name where that is the user's."""
    yield from sample.columns.items()
    for column in sample.sensitive:
        yield f"sensitive {column.name}", column
    for column in sample.control:
        yield f"control {column.name}", column
    if sample.weight is not None:
        yield "weight", sample.weight
    if sample.clusters is not None:
        yield "clusters", sample.clusters


def _ranked(column: Column | Numbers) -> tuple[bytes, Positions, int]:
    """Return the values that occur as bytes, in an order of their own, the place of each row's, and how many."""
    if isinstance(column, Numbers):
        levels, codes = np.unique(column.values + 0.0, return_inverse=True)
        return _as_bytes(levels), codes.reshape(-1), len(levels)
    present = np.flatnonzero(np.bincount(column.codes, minlength=len(column.levels)))
    values = [column.levels[place] for place in present.tolist()]
    numbers = _exact_numbers(values)
    written: NDArray[Any] = np.array([_token(value) for value in values], dtype=object) if numbers is None else numbers
    sorted_, place = np.unique(written, return_inverse=True)
    places = np.zeros(len(column.levels), dtype=np.intp)
    places[present] = place.reshape(-1)
    return _as_bytes(sorted_), places[column.codes], len(sorted_)


def _exact_numbers(values: list[Any]) -> NDArray[np.float64] | None:
    """Return values as floats; None if any is no number, or a whole number that no float equals."""
    if not all(isinstance(value, bool | int | float) for value in values):
        return None
    try:
        numbers = np.array([float(value) for value in values])
    except OverflowError:
        return None
    return numbers + 0.0 if numbers.tolist() == values else None  # + 0.0: no minus sign before 0


def _token(value: Any) -> str:
    """Write a value with its type; numbers that are equal alike."""
    if isinstance(value, str):
        return f"text {value}"
    if isinstance(value, bool | int) or (isinstance(value, float) and value.is_integer()):
        return f"number {int(value)}"
    return f"number {value.hex()}" if isinstance(value, float) else f"{type(value).__name__} {value}"


def _as_bytes(levels: NDArray[Any]) -> bytes:
    if levels.dtype == object:
        texts = [text.encode("utf-8", "surrogatepass") for text in levels.tolist()]
        return b"texts" + b"".join(len(text).to_bytes(8, "little") + text for text in texts)
    return b"numbers" + levels.astype("<f8").tobytes()


def _distinct(columns: list[tuple[Positions, int]], counts: Any) -> tuple[Positions, NDArray[np.int64]]:
    """Return a row of each kind, sorted by the columns, and how many people are of that kind."""
    key: NDArray[Any] = np.zeros(len(columns[0][0]), dtype=np.int64)
    size = 1
    for codes, n in columns:
        if size * n > _LIMIT:  # only the order of what came before matters
            found, key = np.unique(key, return_inverse=True)
            key, size = key.reshape(-1).astype(np.int64), len(found)
        key, size = key * n + codes, size * n
    order = np.argsort(key, kind="stable")
    first = np.flatnonzero(np.diff(key[order], prepend=-1))
    people = np.ones(len(order), dtype=np.int64) if counts is None else np.asarray(counts, dtype=np.int64)[order]
    return order[first], np.add.reduceat(people, first)
