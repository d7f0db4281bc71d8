"""Features: a model's inputs as a matrix of floats, and back in the container they came in.

A category has a column for every level; the model is called with the level of the largest share.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property
from numbers import Real
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import infer_dtype
from scipy.sparse import issparse

from skfairtest._utils.checks import is_integer
from skfairtest._utils.errors import ParameterError
from skfairtest._utils.typing import Floats
from skfairtest.readers.containers import (
    check_lengths,
    check_names,
    is_categorical,
    is_table,
    one_dimensional,
    split_table,
)
from skfairtest.readers.levels import listed, plain_scalar, sort_levels
from skfairtest.readers.predictions import path_of, transformers_of

#: A column of more categories is none: names, numbers of accounts, dates.
MOST_CATEGORIES = 200
#: What these transformers are given is categories, whatever it looks like.
ENCODERS = ("OneHotEncoder", "OrdinalEncoder", "TargetEncoder")


def derives(model: Any, package: str, *names: str) -> bool:
    """Whether an object is an instance of a class of a package, which need not be imported, or of a derived class.

    Examples
    --------
    >>> from sklearn.decomposition import PCA
    >>> derives(PCA(), "sklearn", "BaseEstimator"), derives(PCA(), "torch", "Module")
    (True, False)
    """
    return any(base.__name__ in names and base.__module__.split(".")[0] == package for base in type(model).__mro__)


@dataclass(frozen=True, eq=False)
class Features:
    """All people's features as numbers."""

    names: tuple[str, ...]
    values: Floats = field(repr=False)
    groups: list[tuple[str, tuple[int, ...]]]
    levels: dict[str, Any] = field(default_factory=dict, repr=False)
    index: pd.Index[Any] | None = field(default=None, repr=False)
    container: Any = field(default=None, repr=False)
    kind: type = object

    def __len__(self) -> int:
        """The number of people."""
        return len(self.values)

    def take(self, rows: NDArray[Any]) -> Features:
        """The features of some people: a mask, or positions in any order."""
        return replace(self, values=self.values[rows], index=None if self.index is None else self.index[rows])

    @cached_property
    def blocks(self) -> tuple[tuple[int, ...], ...]:
        """Columns that are one choice."""
        return tuple(columns for name, columns in self.groups if name in self.levels)

    def plain(self) -> Features:
        """The numbers alone."""
        if not self.levels:
            return self
        empty = None if self.names_in is None else pd.DataFrame(columns=list(self.names))
        groups: list[tuple[str, tuple[int, ...]]] = [(name, (place,)) for place, name in enumerate(self.names)]
        return Features(self.names, self.values, groups, index=self.index, container=empty)

    @property
    def names_in(self) -> tuple[str, ...] | None:
        """scikit-learn's ``feature_names_in_``; None without names, or if not all are strings."""
        named = self.container is not None and all(isinstance(label, str) for label in self._labels())
        return tuple(name for name, _ in self.groups) if named else None

    def columns_of(self, name: Any, where: str) -> tuple[int, ...]:
        """The positions of the numbers of a column as it was passed, or of one level of a category.

        Examples
        --------
        >>> features = read_features(pd.DataFrame([[23, 5.0, 1.0]], columns=["age", "wage", 0]))
        >>> [features.columns_of(name, "features") for name in ("wage", 1, -2, 0, "0")]
        [(1,), (1,), (1,), (2,), (2,)]
        """
        columns, n = [columns for _, columns in self.groups], len(self.groups)
        known: dict[Any, tuple[int, ...]] = {label: (place,) for place, label in enumerate(self.names)}
        known |= dict(self.groups) | {place: columns[place] for place in range(-n, n)}
        known |= dict(zip(self._labels(), columns, strict=True))
        key = int(name) if is_integer(name) else name
        if isinstance(key, Hashable) and not isinstance(key, float | bool | np.bool_) and key in known:
            return known[key]
        raise ParameterError(
            f"{where}: X has no feature {name!r}; its features are {listed(self.names)}, or their positions"
        )

    def positions(self, names: Iterable[Any], where: str) -> list[int]:
        """The positions of several columns of numbers, all of them different."""
        known: dict[int, Any] = {}
        for name in names:
            for position in self.columns_of(name, where):
                if position in known:
                    raise ParameterError(
                        f"{where}: {self.names[position]!r} is named twice, as {known[position]!r} and {name!r}."
                    )
                known[position] = name
        return list(known)

    def _labels(self) -> list[Any]:
        """The names of the columns in their container."""
        return list(self.container if isinstance(self.container, pd.DataFrame) else dict(self.groups))

    def rebuild(self, values: Floats) -> Any:
        """Other values of the same people as the table they came in, which shares no memory with `values`."""
        table = self.as_input(values, self.index)
        if issubclass(self.kind, Mapping):
            return {name: table[name].to_numpy() for name in table}
        return table.tolist() if issubclass(self.kind, list | tuple) else table

    def as_input(self, values: Floats, index: pd.Index[Any] | None = None) -> Any:
        """Rows in the container that the model takes: a frame like the one that was read, or an array."""
        empty = self.container
        if not self.levels and (empty is None or isinstance(empty, pd.DataFrame)):
            values = values.copy()
            return values if empty is None else pd.DataFrame(values, index, empty.columns)
        columns = {
            name: self.levels[name].take(values[:, where].argmax(axis=1))
            if name in self.levels
            else values[:, where[0]]
            for name, where in self.groups
        }
        if empty is None:
            return np.column_stack([np.asarray(column) for column in columns.values()])
        if isinstance(empty, pd.DataFrame):
            return pd.DataFrame(columns, index=index).set_axis(empty.columns, axis=1)
        lists = {name: column.tolist() for name, column in columns.items()}
        return nw.from_dict(lists, backend=nw.get_native_namespace(nw.from_native(empty))).to_native()


def read_features(X: Any, estimator: Any = None, *, categories: bool = False) -> Features:
    """Read a table of numbers and, for a model, of categories.

    Examples
    --------
    >>> features = read_features({"age": [23, 61], "job": ["cook", None]}, categories=True)
    >>> features.names, features.values.tolist()
    (('age', 'job=cook'), [[23.0, 1.0], [61.0, nan]])
    """
    # All it knows is how to become an array; older record batches know that as well, and have no shape.
    if hasattr(X, "__array__") and not hasattr(X, "shape") and not is_table(X):
        X = np.asarray(X)
    if issparse(X):
        raise ParameterError(
            f"X is a sparse matrix ({type(X).__name__}), but its features must be moved one by one: pass X.toarray()."
        )
    structured = getattr(getattr(X, "dtype", None), "names", None) is not None
    if X is None or isinstance(X, str | bytes) or structured or not is_table(X):
        raise ParameterError(
            f"X must be a table with one row per person and one column per feature; found "
            f"{type(X).__name__}, which has no columns. Reshape your data either using array.reshape(-1, 1) (or "
            ".to_frame()) if it is a single feature, or array.reshape(1, -1) if it is a single person."
        )
    table = [(f"x{i}" if name is None else name, column) for i, (name, column) in enumerate(split_table(X, "X"))]
    check_names([name for name, _ in table], "X")
    table = [(name, one_dimensional(column, f"X (column {name!r})")) for name, column in table]
    check_lengths({name: len(column) for name, column in table}, "X")
    coded = _encoded_by(estimator, len(table)) if categories else set()
    groups: list[tuple[str, tuple[int, ...]]] = []
    names: list[str] = []
    parts, levels = [np.empty((len(X) if hasattr(X, "__len__") else 0, 0))] if not table else [], {}
    for place, (name, column) in enumerate(table):
        new = [name]
        if place in coded or (categories and (is_categorical(column) or infer_dtype(pd.Series(column)) == "string")):
            levels[name], part = _shares(column, name)
            new = [f"{name}={level}" for level in levels[name]]
        else:
            part = _as_floats(column, name)[:, None]
        groups.append((name, tuple(range(len(names), len(names) + len(new)))))
        names += new
        parts.append(part)
    values = np.ascontiguousarray(np.hstack(parts))
    for size, what in zip(values.shape[::-1], ("feature", "sample"), strict=True):
        if size == 0:
            raise ParameterError(
                f"X has 0 {what}(s) (shape={values.shape}) while a minimum of 1 is required: pass one row per person "
                "and one column per feature."
            )
    if infinite := [names[i] for i in np.flatnonzero(np.isinf(values).any(axis=0))]:
        raise ParameterError(
            f"X has infinite (inf) values in column{'s' if len(infinite) > 1 else ''} {listed(infinite)}: replace them "
            "by finite numbers, or leave these people or columns out."
        )
    index = X.index if isinstance(X, pd.DataFrame) else None
    frame = nw.from_native(pd.DataFrame(columns=list(X)) if isinstance(X, Mapping) else X, pass_through=True)
    empty = frame.head(0).to_native() if isinstance(frame, nw.DataFrame) else None
    return Features(tuple(names), values, groups, levels, index, empty, type(X))


def _as_floats(column: Any, name: str) -> Floats:
    """The numbers of a column."""
    series = pd.Series(column)
    if pd.api.types.is_numeric_dtype(series.dtype) and series.dtype.kind != "c":
        return series.to_numpy(dtype=np.float64, na_value=np.nan)
    objects = series.astype(object).to_numpy()
    missing = pd.isna(objects)
    others = [value for value in objects[~missing] if not isinstance(value, Real | Decimal | np.bool_)]
    if not others and not is_categorical(series):
        return np.where(missing, np.nan, objects).astype(np.float64)
    example = (others or list(objects[~missing]))[0]
    if isinstance(example, complex | np.complexfloating):
        raise ValueError(f"Complex data not supported: X has complex numbers in column {name!r}.")
    message = (
        f"X has a column that is not numbers, {name!r} ({getattr(column, 'dtype', 'object')}, for example "
        f"{example!r}). Encode it first (for example with OneHotEncoder in a ColumnTransformer)."
    )
    if series.dtype == object and not isinstance(example, str | bytes):
        raise TypeError(f"{message} (argument must be a string or a real number)")  # as scikit-learn says it
    raise ParameterError(message)


def _shares(column: Any, name: str) -> tuple[Any, Floats]:
    """Return the categories, and which person has which; NaN where it is missing."""
    series = pd.Series(column)
    codes, found = pd.factorize(series.astype(object))
    plain = [plain_scalar(level) for level in found]
    if not plain:
        raise ParameterError(
            f"X (column {name!r}) is missing for every person: leave it out, or impute before the test"
        )
    if len(plain) > MOST_CATEGORIES:
        raise ParameterError(
            f"X (column {name!r}) has {len(plain):,} different values of {len(series):,}, more than {MOST_CATEGORIES}: "
            "that is too many for a category. Leave it out of the model, or group its values"
        )
    order = np.array([plain.index(level) for level in sort_levels(plain)])
    shares = (codes[:, None] == order).astype(float)
    shares[codes < 0] = np.nan
    return series.array.take((codes[:, None] == order).argmax(axis=0)), shares  # levels of the column's type


def _encoded_by(estimator: Any, n_columns: int) -> set[int]:
    """The columns of X that the first transformer of a model encodes."""
    first: Any = next(iter(transformers_of(path_of(estimator))), None)
    if derives(first, "sklearn", *ENCODERS):
        return set(range(n_columns))
    columns: set[int] = set()
    if derives(first, "sklearn", "ColumnTransformer"):
        for name, member, _ in getattr(first, "transformers_", ()):
            steps = [step for _, step in getattr(member, "steps", [(name, member)])]
            if any(derives(step, "sklearn", *ENCODERS) for step in steps):
                columns |= set(first._transformer_to_input_indices[name])
    return columns
