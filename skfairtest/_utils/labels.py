"""Labels of any type as files hold them."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pandas as pd

#: What a label of each type is in a file, and how it is read again.
TYPES: dict[str, tuple[type, Callable[[Any], Any], Callable[[Any], Any]]] = {
    "bool": (bool, bool, bool),
    "int": (int, str, int),
    "float": (float, float.hex, float.fromhex),
    "str": (str, str, str),
    "timestamp": (pd.Timestamp, lambda value: value.isoformat(), pd.Timestamp),
    "timedelta": (pd.Timedelta, lambda value: value.isoformat(), pd.Timedelta),
    "datetime": (datetime.datetime, datetime.datetime.isoformat, datetime.datetime.fromisoformat),
    "date": (datetime.date, datetime.date.isoformat, datetime.date.fromisoformat),
    "decimal": (Decimal, str, Decimal),
}


def tagged(value: Any) -> Any:
    """Return a label as its type and how it is written; a tuple as a list of these."""
    if value is None:
        return None
    if isinstance(value, tuple):
        return ["tuple", [tagged(each) for each in value]]
    for name, (kind, write, _) in TYPES.items():
        if isinstance(value, kind):
            return [name, write(value)]
    raise ValueError(
        f"the label {value!r} is of type {type(value).__name__}, which files cannot hold: replace it by text."
    )


def untagged(written: Any) -> Any:
    """Read what `tagged` returned."""
    if written is None:
        return None
    name, value = written
    return tuple(map(untagged, value)) if name == "tuple" else TYPES[name][2](value)
