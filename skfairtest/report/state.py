"""The state of a fitted test as JSON has it, from which the test is put together again."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from importlib import import_module
from types import FunctionType
from typing import Any

import numpy as np
import pandas as pd

from skfairtest._utils.base import frame_of, parts_of
from skfairtest._utils.labels import tagged, untagged


def written(value: Any) -> Any:
    """A value as JSON has it: what JSON has no form for as an object with its kind as the only key.

    Raises
    ------
    ValueError
        If it holds an object that is not of this package.

    Examples
    --------
    >>> written((1, float("inf"), {"a": None}))
    {'tuple': [1, {'number': 'inf'}, {'dict': [['a', None]]}]}
    """
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"number": repr(value)}
    if isinstance(value, list):
        return [written(each) for each in value]
    if isinstance(value, tuple | frozenset):
        return {"tuple" if isinstance(value, tuple) else "set": [written(each) for each in value]}
    if isinstance(value, Mapping):
        return {"dict": [[written(key), written(each)] for key, each in value.items()]}
    if isinstance(value, np.ndarray):
        return {"array": [value.dtype.str, list(value.shape), written(value.ravel().tolist())]}
    if isinstance(value, pd.DataFrame):
        return {"frame": written(parts_of(value))}
    if isinstance(value, FunctionType):
        return {"function": _place(value)}
    if is_dataclass(value):
        return {
            "object": [_place(type(value)), written({each.name: getattr(value, each.name) for each in fields(value)})]
        }
    return {"label": tagged(value)}


def read(value: Any) -> Any:
    """What `written` has written.

    Examples
    --------
    >>> read(written({"a": (1, float("inf"))}))
    {'a': (1, inf)}
    """
    if isinstance(value, list):
        return [read(each) for each in value]
    if not isinstance(value, dict):
        return value
    ((kind, held),) = value.items()
    if kind == "object":
        return _found(held[0], type)(**read(held[1]))
    if kind == "array":
        return np.array(read(held[2]), dtype=held[0]).reshape(held[1])
    readers: dict[str, Any] = {
        "number": float,
        "tuple": lambda each: tuple(read(each)),
        "set": lambda each: frozenset(read(each)),
        "dict": lambda each: {read(key): read(one) for key, one in each},
        "frame": lambda each: frame_of(read(each)),
        "function": lambda each: _found(each, FunctionType),
        "label": untagged,
    }
    return readers[kind](held)


def _place(thing: Any) -> str:
    """Where a function or a class of this package is found."""
    place = f"{thing.__module__}:{thing.__qualname__}"
    if not place.startswith("skfairtest.") or "<" in place:
        raise ValueError(f"{thing.__qualname__} is not of this package")
    return place


def _found(place: str, kind: type) -> Any:
    """The function, or the class of plain fields, at a place of this package; nothing else is made."""
    module, _, name = place.partition(":")
    found = getattr(import_module(module), name) if module.startswith("skfairtest.") else None
    if not isinstance(found, kind) or found.__module__ != module or (kind is type and not is_dataclass(found)):
        raise ValueError(f"{place!r} is no {kind.__name__} of a state")
    return found
