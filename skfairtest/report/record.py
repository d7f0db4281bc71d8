"""One record for every test and audit: settings, report, frames and facts as JSON, and a checksum of all of it.

The keys are "schema" (2), "test" (the class), "versions", "parameters", "report", "tables" (the frames by name:
columns, types, index), "facts" (other attributes) and "checksum" (SHA-256 of the canonical text of the rest). Tuples
are lists; values unknown to JSON are objects with their kind as the only key, such as ``{"number": "inf"}``.
"""

import json
import math
import os
import re
from collections.abc import Mapping
from dataclasses import MISSING, fields
from functools import cache
from numbers import Integral, Real
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from skfairtest._utils.base import FRAME, TYPES, PlainState, frame_of, parts_of, tagged, untagged
from skfairtest._utils.checks import is_integer
from skfairtest._utils.errors import ParameterError, brief
from skfairtest._utils.files import checksum
from skfairtest._utils.text import name_of

SCHEMA = 2
KEYS = {"schema", "test", "versions", "parameters", "report", "tables", "facts", "checksum"}


class Recorded(PlainState):
    """A dataclass that a record can hold: of numbers, texts, tuples, mappings, arrays, frames and others like it."""

    kinds: ClassVar[dict[str, type[Any]]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Note what a record calls the class."""
        super().__init_subclass__(**kwargs)
        Recorded.kinds[cls.__name__] = cls


@cache
def _defaults(name: str) -> Mapping[str, Any]:
    """The fields of a class that a record holds, and what is written of the default value of each."""
    held = [each for each in fields(Recorded.kinds[name]) if each.compare]
    return {each.name: MISSING if each.default is MISSING else encoded(each.default) for each in held}


def encoded(value: Any) -> Any:
    """Write a value as JSON has it; labels of types that it has no form for as text.

    Examples
    --------
    >>> encoded((1, float("inf"), {"a": [None]}))
    [1, {'number': 'inf'}, {'dict': [['a', {'list': [None]}]]}]
    """
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or type(value) in (bool, int, str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"number": repr(value)}
    if isinstance(value, tuple):
        return [encoded(each) for each in value]
    if isinstance(value, list | frozenset):
        return {"list" if isinstance(value, list) else "set": [encoded(each) for each in value]}
    if isinstance(value, Mapping):
        return {"dict": [[encoded(key), encoded(each)] for key, each in value.items()]}
    if isinstance(value, np.ndarray):
        return {"array": [value.dtype.str, list(value.shape), [encoded(each) for each in value.ravel().tolist()]]}
    if isinstance(value, pd.DataFrame):
        return {"frame": table_of(value)}
    name = type(value).__name__
    if Recorded.kinds.get(name) is type(value):
        held = {field: (encoded(getattr(value, field)), default) for field, default in _defaults(name).items()}
        return {name: {field: each for field, (each, default) in held.items() if each != default}}
    try:
        return {"label": tagged(value)}
    except ValueError:
        return plain_label(value)


def is_recorded(value: Any) -> bool:
    """Whether a record holds a parameter as it is: a label, or a list, a tuple or a mapping of such."""
    if isinstance(value, Mapping):
        return all(map(is_recorded, (*value, *value.values())))
    if isinstance(value, list | tuple):
        return all(map(is_recorded, value))
    return value is None or isinstance(value, tuple(kind for kind, *_ in TYPES.values()))


def decoded(value: Any) -> Any:
    """What `encoded` has written.

    Examples
    --------
    >>> decoded(encoded({"a": (1, float("inf"))}))
    {'a': (1, inf)}
    """
    if isinstance(value, list):
        return tuple([decoded(each) if type(each) in (list, dict) else each for each in value])
    if not isinstance(value, dict):
        return value
    ((kind, held),) = value.items()
    if kind in _READERS:
        return _READERS[kind](held)
    if kind not in Recorded.kinds:
        raise ParameterError(f"source holds {kind!r}, which this version does not know: fit again")
    return Recorded.kinds[kind](**{name: decoded(each) for name, each in held.items()})


def table_of(frame: pd.DataFrame) -> dict[str, Any]:
    """Write a frame: values by the name of the column, and types; undefined numbers are null."""
    parts = parts_of(frame)
    columns = dict(zip(parts["columns"], (_column(*part) for part in parts[FRAME]), strict=True))
    found = {"columns": columns, "types": [dtype for _, dtype in parts[FRAME]]}
    if parts["index"] is not None:
        found |= {"index": [[_column(*part), part[1]] for part in parts["index"]], "names": list(parts["names"])}
    return found


def _column(values: Any, dtype: str) -> list[Any]:
    plain = values.tolist() if isinstance(values, np.ndarray) else values
    return [None if dtype[0] == "f" and each != each else encoded(each) for each in plain]


def frame_from(table: Mapping[str, Any]) -> pd.DataFrame:
    """The frame that `table_of` has written."""

    def read(values: list[Any], dtype: str) -> tuple[list[Any], str]:
        return [decoded(each) if type(each) in (list, dict) else each for each in values], dtype

    columns, index = table["columns"], table.get("index")
    return frame_of({
        FRAME: [read(*both) for both in zip(columns.values(), table["types"], strict=True)], "columns": list(columns),
        "index": None if index is None else [read(*each) for each in index], "names": table.get("names"),
    })  # fmt: skip


_READERS: dict[str, Any] = {
    "number": float,
    "list": lambda held: [decoded(each) for each in held],
    "set": lambda held: frozenset(map(decoded, held)),
    "dict": lambda held: {decoded(key): decoded(each) for key, each in held},
    "array": lambda held: np.array([decoded(each) for each in held[2]], dtype=held[0]).reshape(held[1]),
    "frame": frame_from,
    "label": untagged,
}


def write_record(document: Mapping[str, Any]) -> str:
    """Write a record, with the schema and a checksum, as ASCII text."""
    whole = {"schema": SCHEMA, **document}
    return json.dumps({**whole, "checksum": checksum(whole)}, allow_nan=False) + "\n"


def read_record(text: str | bytes | os.PathLike[str], name: str | None = None) -> dict[str, Any]:
    """Read what `write_record` has written, of a class if that is named; a path is that of its file."""
    what = f"what {name or 'a test'}.to_json writes"
    text = Path(text).read_bytes() if isinstance(text, os.PathLike) else text
    try:
        text = text.decode() if isinstance(text, bytes | bytearray) else text
        document = json.loads(text)
    except (TypeError, ValueError, RecursionError) as error:
        raise ParameterError(
            f"source must be {what}, or a pathlib.Path of its file; found {brief(text)}, which is not JSON: {error}"
        ) from None
    if not isinstance(document, dict) or "checksum" not in document:
        raise ParameterError(f"source must be {what}")
    if document.get("schema") != SCHEMA:
        raise ParameterError(
            f"source has schema {document.get('schema')!r:.60}, and this version reads {SCHEMA}: records from before "
            "are not read; fit again, or read it with the version that wrote it"
        )
    rest = {key: value for key, value in document.items() if key != "checksum"}
    # The text is compared too: another last digit can be the same number.
    if set(document) != KEYS or checksum(rest) != document["checksum"] or _bare(json.dumps(document)) != _bare(text):
        raise ParameterError("source was damaged or edited: its checksum does not match what it holds")
    if name not in (None, document["test"]):
        raise ParameterError(f"source is the record of a {document['test']}, and no {name}")
    return rest


def _bare(text: str) -> str:
    return re.sub(r"\s", "", text)


def plain_label(value: Any) -> Any:
    """Return a label that JSON has, with tuples kept: text, numbers and truth values; anything else as text.

    Examples
    --------
    >>> import numpy as np
    >>> plain_label((np.int64(3), None, np.datetime64("2020-01-01")))
    (3, None, '2020-01-01')
    """
    if isinstance(value, str):  # a subclass of it (an enumeration, NumPy's text) is written as its text
        return str(value)
    if isinstance(value, bool | np.bool_ | None):
        return value if value is None else bool(value)
    if isinstance(value, tuple | list):
        return tuple(plain_label(part) for part in value)
    if is_integer(value):  # larger ones have no place in an index
        return int(value) if -(2**63) <= int(value) < 2**64 else str(int(value))
    is_number = isinstance(value, Real) and not isinstance(value, Integral) and math.isfinite(float(value))
    return float(value) if is_number else str(value)


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
