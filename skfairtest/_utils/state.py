"""State that any format can keep: frames in plain parts, as persistence without pickle asks (skops)."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pandas as pd

#: The key of a frame's parts, which no attribute holds otherwise.
FRAME = "frame of skfairtest"


class Later:
    """An attribute that may be set to a partial call, which is made when somebody asks for the value."""

    def __set_name__(self, owner: type, name: str) -> None:
        """Take the name of the attribute."""
        self._name = name

    def __get__(self, owned: Any, owner: type | None = None) -> Any:
        """Return the value, which is made once."""
        if owned is None:
            return self
        if self._name not in vars(owned):
            raise AttributeError(f"{type(owned).__name__!r} object has no attribute {self._name!r}", name=self._name)
        value = vars(owned)[self._name]
        if isinstance(value, partial):
            value = vars(owned)[self._name] = value()
        return value

    def __set__(self, owned: Any, value: Any) -> None:
        """Keep a value, or the call that makes it."""
        vars(owned)[self._name] = value

    def __delete__(self, owned: Any) -> None:
        """Forget it."""
        del vars(owned)[self._name]


class PlainState:
    """An object whose state has the frames among its attributes as lists and arrays."""

    def __getstate__(self) -> dict[str, Any]:
        """Take frames apart; what may be made later is made."""
        state = {
            name: getattr(self, name) if isinstance(value, partial) else value for name, value in vars(self).items()
        }
        return {name: _parts(value) if isinstance(value, pd.DataFrame) else value for name, value in state.items()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Put frames together."""
        for name, value in state.items():
            self.__dict__[name] = _frame(value) if isinstance(value, dict) and FRAME in value else value


def _parts(frame: pd.DataFrame) -> dict[str, Any]:
    """The columns of a frame, and its index unless that only counts rows."""
    index = frame.index
    counted = isinstance(index, pd.RangeIndex) and index.equals(pd.RangeIndex(len(index)))
    return {
        FRAME: [_column(frame.iloc[:, place]) for place in range(frame.shape[1])],
        "columns": list(frame.columns),
        "index": None if counted else [_column(index.get_level_values(level)) for level in range(index.nlevels)],
        "names": list(index.names),
    }


def _column(values: Any) -> tuple[Any, str]:
    """The values of a column, and their type; what NumPy has no type for as a list."""
    dtype = values.dtype
    if isinstance(dtype, np.dtype) and dtype.kind in "biuf":
        return values.to_numpy(), str(dtype)
    return [None if value is pd.NA else value for value in values], str(dtype)


def _frame(parts: dict[str, Any]) -> pd.DataFrame:
    index = None
    if parts["index"] is not None:
        levels = [pd.Index(values, dtype=dtype) for values, dtype in parts["index"]]
        index = levels[0] if len(levels) == 1 else pd.MultiIndex.from_arrays(levels)
        index.names = parts["names"]
    columns = [pd.Series(values, dtype=dtype, index=index) for values, dtype in parts[FRAME]]
    frame = pd.concat(columns, axis=1) if columns else pd.DataFrame(index=index)
    frame.columns = pd.Index(parts["columns"])
    return frame
