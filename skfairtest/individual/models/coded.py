"""Tables with categories as numbers: a column of shares for every category, and back to the original columns.

A category counts as one choice, however the model encodes it: shares are moved, and the model is called on a person in
the category with the largest share.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from skfairtest._utils.errors import ParameterError
from skfairtest.individual.models.affine import derives, path_of_probabilities
from skfairtest.individual.models.features import Features, read_features
from skfairtest.readers.containers import is_categorical, is_table, one_dimensional, split_table
from skfairtest.readers.levels import plain_scalar, sort_levels
from skfairtest.readers.predictions import transformers_of

#: A column of more categories is none: names, numbers of accounts, dates.
MOST_CATEGORIES = 200
#: What these transformers are given is categories, whatever it looks like.
ENCODERS = ("OneHotEncoder", "OrdinalEncoder", "TargetEncoder")


@dataclass(frozen=True, eq=False)
class Source:
    """A column as it was passed.

    Parameters
    ----------
    name : str
        What it is called.
    columns : tuple of int
        Where its numbers are: one, or one for each category.
    levels : ndarray of object or None
        Its categories; None of numbers.
    dtype : object
        Of a pandas column; None elsewhere.
    """

    name: str
    columns: tuple[int, ...]
    levels: NDArray[Any] | None = None
    dtype: Any = None

    def decoded(self, values: NDArray[np.float64]) -> Any:
        """Return the column of rows of numbers."""
        if self.levels is None:
            return values[:, self.columns[0]].copy()
        return self.levels[values[:, self.columns].argmax(axis=1)]


@dataclass(frozen=True, eq=False)
class Coded(Features):
    """What is known about every person, some of it categories.

    Parameters
    ----------
    sources : tuple of Source
        The columns as they were passed, in their order.
    numeric : bool
        Whether they came in an array of numbers, which some of its categories are.
    """

    sources: tuple[Source, ...] = field(default=(), repr=False)
    numeric: bool = False

    @property
    def blocks(self) -> tuple[tuple[int, ...], ...]:
        """Columns that are one choice."""
        return tuple(source.columns for source in self.sources if source.levels is not None)

    @property
    def groups(self) -> list[tuple[str, tuple[int, ...]]]:
        """The columns as they were passed: names, and where their numbers are."""
        return [(source.name, source.columns) for source in self.sources]

    @property
    def names_in(self) -> tuple[str, ...] | None:
        """What scikit-learn calls ``feature_names_in_``."""
        if self.container is None or isinstance(self.container, list):
            return None
        return tuple(source.name for source in self.sources)

    def columns_of(self, name: Any, where: str) -> tuple[int, ...]:
        """Return the positions of a column as it was passed, several for a category, or of one category alone."""
        for source in self.sources:
            if isinstance(name, str) and source.name == name:
                return source.columns
        return super().columns_of(name, where)

    def plain(self) -> Features:
        """Return the numbers alone."""
        frame = self.names_in is not None
        return Features(self.names, self.values, self.index, pd.DataFrame(columns=list(self.names)) if frame else None)

    def between(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return people moved halfway to the mean of the rows in their numbers, with the same categories."""
        found = super().between(rows)
        for block in self.blocks:
            found[:, block] = rows[:, block]
        return found

    def linear_parts(
        self, transform: Callable[[NDArray[np.float64]], NDArray[np.float64]], length: float
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the matrix and the offset of a function that is affine in numbers and in shares of categories.

        It is called on one person with one number or one category changed. A flow passes through shares that do not sum
        to 1; their sum has no meaning, so the function is made constant along the mean shares of a choice, and it does
        not matter which person is used.
        """
        base = self.values[:1].copy()
        probes = np.repeat(base, 1 + base.shape[1], axis=0)
        for source in self.sources:
            for column in source.columns:
                if source.levels is None:
                    probes[1 + column, column] += length
                else:
                    probes[1 + column, source.columns] = 0.0
                    probes[1 + column, column] = 1.0
        outputs = transform(probes)
        matrix = outputs[1:] - outputs[0]
        for source in self.sources:
            columns = list(source.columns)
            if source.levels is None:
                matrix[columns] /= length
            else:
                matrix[columns] -= self.values[:, columns].mean(axis=0) @ matrix[columns]
        return matrix, outputs[0] - base[0] @ matrix

    def _table(self, values: NDArray[np.float64], index: pd.Index[Any] | None) -> Any:
        empty = self.container
        columns = {source.name: source.decoded(values) for source in self.sources}
        if empty is None or isinstance(empty, list):
            objects = np.column_stack([np.asarray(column, dtype=object) for column in columns.values()])
            return objects.astype(float) if self.numeric else objects
        if isinstance(empty, dict | pd.DataFrame):
            series = {
                source.name: pd.Series(columns[source.name], dtype=source.dtype, index=index) for source in self.sources
            }
            frame = pd.DataFrame(series, index=index)
            if isinstance(empty, pd.DataFrame):
                frame.columns = empty.columns
            return frame
        lists = {name: column.tolist() for name, column in columns.items()}
        return nw.from_dict(lists, backend=nw.get_native_namespace(nw.from_native(empty))).to_native()


def read_coded(X: Any, estimator: Any = None) -> Features:
    """Read a table for models: numbers, and categories as shares.

    Parameters
    ----------
    X : frame, mapping, two-dimensional array or list of rows
        Columns of text, pandas categories, and columns that an encoder of the model takes are categories.
    estimator : object
        The fitted model.

    Raises
    ------
    ValueError
        As `read_features` does, or if a column of text has too many different values.

    Examples
    --------
    >>> features = read_coded({"age": [23, 61], "job": ["cook", "clerk"]})
    >>> features.names, features.values.tolist()
    (('age', 'job=clerk', 'job=cook'), [[23.0, 0.0, 1.0], [61.0, 1.0, 0.0]])
    """
    if not is_table(X) or hasattr(X, "toarray") or (isinstance(X, np.ndarray) and X.dtype.names is not None):
        return read_features(X)
    table = split_table(X, "X")
    names = [f"x{i}" if name is None else str(name) for i, (name, _) in enumerate(table)]
    encoded = _encoded_by(estimator, names)
    categories = {
        i: column
        for i, (_, column) in enumerate(table)
        if i in encoded or _is_text(one_dimensional(column, f"X (column {names[i]!r})"))
    }
    if not categories or len(set(names)) < len(names) or not len(table[0][1]):
        return read_features(X)
    kept = {names[i]: column for i, (_, column) in enumerate(table) if i not in categories}
    numbers = read_features(kept).values if kept else np.empty((len(table[0][1]), 0))
    sources: list[Source] = []
    labels: list[str] = []
    parts: list[NDArray[np.float64]] = []
    done = 0
    for i, name in enumerate(names):
        start = len(labels)
        dtype = X.dtypes.iloc[i] if isinstance(X, pd.DataFrame) else None
        if i in categories:
            levels, shares = _shares(categories[i], name)
            labels += [f"{name}={level}" for level in levels]
            parts.append(shares)
            sources.append(Source(name, tuple(range(start, len(labels))), levels, dtype))
        else:
            labels.append(name)
            parts.append(numbers[:, done : done + 1])
            sources.append(Source(name, (start,)))
            done += 1
    empty: Any = None
    if not isinstance(X, np.ndarray):
        empty = [] if isinstance(X, list | tuple) else dict.fromkeys(names) if isinstance(X, dict) else X[:0]
    index = X.index if isinstance(X, pd.DataFrame) else None
    numeric = isinstance(X, np.ndarray) and X.dtype.kind in "biuf"
    return Coded(tuple(labels), np.ascontiguousarray(np.hstack(parts)), index, empty, tuple(sources), numeric)


def _is_text(column: Any) -> bool:
    if is_categorical(column):
        return True
    objects = pd.Series(column)
    if pd.api.types.is_numeric_dtype(objects.dtype) or pd.api.types.is_datetime64_any_dtype(objects.dtype):
        return False
    present = objects.dropna()
    return bool(len(present)) and all(isinstance(value, str) for value in present)


def _shares(column: Any, name: str) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Return the categories, and which person has which; NaN where it is missing."""
    values = pd.Series(one_dimensional(column, f"X (column {name!r})")).astype(object)
    missing = values.isna().to_numpy()
    codes, found = pd.factorize(values)
    plain = [plain_scalar(level) for level in found]
    if not plain:
        raise ParameterError(f"X (column {name!r}) is missing for everybody: leave it out, or impute before the test")
    if len(plain) > MOST_CATEGORIES:
        raise ParameterError(
            f"X (column {name!r}) has {len(plain):,} different values of {len(values):,}, more than {MOST_CATEGORIES}: "
            "that is too many for a category. Leave it out of the model, or group its values"
        )
    order = [plain.index(level) for level in sort_levels(plain)]
    levels = np.empty(len(order), dtype=object)
    levels[:] = [found[place] for place in order]
    shares = (codes[:, None] == np.array(order)).astype(float)
    shares[missing] = np.nan
    return levels, shares


def _encoded_by(estimator: Any, names: list[str]) -> set[int]:
    """The columns of X that the model's own encoders treat as categories."""
    found: set[int] = set()
    path = path_of_probabilities(estimator)
    steps = transformers_of(path)
    if steps:
        return _encoded_columns(steps[0], np.arange(len(names)), names)
    if (native := _native_categories(path[-1])) is not None:
        return native
    if derives(path[-1], "sklearn", "CalibratedClassifierCV"):
        members = [one.estimator for one in getattr(path[-1], "calibrated_classifiers_", ())]
    else:
        members = list(path[-1].estimators_) if derives(path[-1], "sklearn", "VotingClassifier") else []
    for member in members:
        found |= _encoded_by(member, names)
    return found


def _native_categories(model: Any) -> set[int] | None:
    """The columns of X that a boosted model treats as categories; None for another model, or if not fitted."""
    if derives(model, "catboost", "CatBoost") and model.is_fitted():
        return {int(place) for place in model.get_cat_feature_indices()}
    if derives(model, "lightgbm", "LGBMModel") and hasattr(model, "fitted_"):
        places = model.booster_.params.get("categorical_column", [])
        return {int(place) for place in places} if isinstance(places, list) else None
    if derives(model, "sklearn", "BaseHistGradientBoosting"):
        known = getattr(model, "is_categorical_", None)
        return None if known is None else set(np.flatnonzero(known).tolist())
    return None


def _encoded_columns(transformer: Any, columns: NDArray[np.intp], names: list[str]) -> set[int]:
    if derives(transformer, "sklearn", *ENCODERS):
        return set(columns.tolist())
    if derives(transformer, "sklearn", "ColumnTransformer") and hasattr(transformer, "transformers_"):
        found: set[int] = set()
        for _, member, spec in transformer.transformers_:
            steps = [step for _, step in member.steps] if hasattr(member, "steps") else [member]
            if any(derives(step, "sklearn", *ENCODERS) for step in steps):
                found |= set(_positions(spec, names))
        return found
    return set()


def _positions(spec: Any, names: list[str]) -> list[int]:
    """The columns that a ColumnTransformer selects."""
    if isinstance(spec, str):
        return [names.index(spec)] if spec in names else []
    if isinstance(spec, slice):
        if isinstance(spec.start, str) or isinstance(spec.stop, str):
            return list(range(len(names)))[names.index(spec.start) : names.index(spec.stop) + 1]
        return list(range(len(names)))[spec]
    items: Any = np.atleast_1d(np.asarray(spec))
    if items.dtype.kind == "b":
        return [int(place) for place in np.flatnonzero(items)]
    if items.dtype.kind in "iu":
        return [int(place) % len(names) for place in items]
    return [names.index(name) for name in items.tolist() if name in names]
