"""Features: a model's inputs as a matrix of floats, and back in the container they came in.

In between, people can be moved: values change; names, order and container do not. A category counts as one choice,
however the model encodes it: it has a column of shares for every level, and the model is called on a person with the
level of the largest share.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property
from numbers import Real
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
import pandas as pd
from numpy.typing import NDArray
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
class Source:
    """A column as it was passed.

    Parameters
    ----------
    name : str
        Its name.
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

    def decoded(self, values: Floats) -> Any:
        """Return the column of rows of numbers."""
        if self.levels is None:
            return values[:, self.columns[0]].copy()
        return self.levels[values[:, self.columns].argmax(axis=1)]


@dataclass(frozen=True, eq=False)
class Features:
    """What is known about every person, as numbers.

    Parameters
    ----------
    names : tuple of str
        The names of the numbers; "x0", "x1", ... where their container has none, "job=cook" of a category's shares.
    values : ndarray of shape (n, d)
        The numbers, row by row in memory; missing ones are NaN.
    index : pandas Index or None
        The index the rows came with.
    container : object
        The container they came in, without its rows; None for arrays and what becomes one.
    sources : tuple of Source
        The columns as they were passed, in their order.
    numeric : bool
        Whether they came in an array of numbers.
    """

    names: tuple[str, ...]
    values: Floats = field(repr=False)
    index: pd.Index[Any] | None = field(default=None, repr=False)
    container: Any = field(default=None, repr=False)
    sources: tuple[Source, ...] = field(default=(), repr=False)
    numeric: bool = True

    def __len__(self) -> int:
        """The number of people."""
        return len(self.values)

    def take(self, rows: NDArray[Any]) -> Features:
        """The features of some people: a mask, or positions in any order."""
        return replace(self, values=self.values[rows], index=None if self.index is None else self.index[rows])

    @cached_property
    def blocks(self) -> tuple[tuple[int, ...], ...]:
        """Columns that are one choice."""
        return tuple(source.columns for source in self.sources if source.levels is not None)

    @cached_property
    def groups(self) -> list[tuple[str, tuple[int, ...]]]:
        """The columns as they were passed: names, and where their numbers are."""
        return [(source.name, source.columns) for source in self.sources]

    def plain(self) -> Features:
        """The numbers alone."""
        if not self.blocks:
            return self
        empty = None if self.names_in is None else pd.DataFrame(columns=list(self.names))
        return Features(self.names, self.values, self.index, empty, _numbers(self.names))

    @property
    def names_in(self) -> tuple[str, ...] | None:
        """What scikit-learn calls ``feature_names_in_``; None where there are no names, or not all are strings."""
        if self.container is None or isinstance(self.container, list):
            return None
        strings = all(isinstance(label, str) for label in self._labels())
        return tuple(source.name for source in self.sources) if strings else None

    def columns_of(self, name: Any, where: str) -> tuple[int, ...]:
        """The positions of the numbers of a column as it was passed, or of one level of a category.

        Parameters
        ----------
        name : object
            The column's label in its own container, which need not be a string; that label as a string; or the column's
            position, possibly negative. A number that is the label of a column is never a position.
        where : str
            The parameter that names the column, for the error message.

        Examples
        --------
        >>> features = read_features(pd.DataFrame([[23, 5.0, 1.0]], columns=["age", "wage", 0]))
        >>> [features.columns_of(name, "features") for name in ("wage", 1, -2, 0, "0")]
        [(1,), (1,), (1,), (2,), (2,)]
        """
        for labels in (self._labels(), [source.name for source in self.sources]):
            for label, source in zip(labels, self.sources, strict=True):
                if type(label) is type(name) and label == name:
                    return source.columns
        if isinstance(name, str) and name in self.names:
            return (self.names.index(name),)
        known = is_integer(name) and not isinstance(name, bool)
        for label, source in zip(self._labels(), self.sources, strict=True):
            if known and is_integer(label) and label == name:
                return source.columns
        if known and -len(self.sources) <= int(name) < len(self.sources):
            return self.sources[int(name)].columns
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

    def _labels(self) -> tuple[Any, ...]:
        """The names of the columns in their container."""
        if isinstance(self.container, pd.DataFrame):
            return tuple(self.container.columns)
        return tuple(self.container) if isinstance(self.container, dict) else tuple(s.name for s in self.sources)

    def rebuild(self, values: Floats) -> Any:
        """Other values of the same people as the table they came in, which shares no memory with `values`."""
        table = self._table(values, self.index)
        if isinstance(self.container, dict):
            return {name: table[name].to_numpy() for name in table}
        return table.tolist() if isinstance(self.container, list) else table

    def as_input(self, values: Floats) -> Any:
        """Rows in the form in which a model takes them: a frame with the columns of the one that was read, or an array.

        It shares no memory with `values`: some transformers overwrite their input.
        """
        return self._table(values, None)

    def _table(self, values: Floats, index: pd.Index[Any] | None) -> Any:
        empty, plain = self.container, not self.blocks
        array = empty is None or isinstance(empty, list)
        if plain and (array or isinstance(empty, dict | pd.DataFrame)):
            values = values.copy()
            return values if array else pd.DataFrame(values, index, getattr(empty, "columns", self._labels()))
        columns = {source.name: source.decoded(values) for source in self.sources}
        if array:
            objects = np.column_stack([np.asarray(column, dtype=object) for column in columns.values()])
            return objects.astype(float) if self.numeric else objects
        if isinstance(empty, dict | pd.DataFrame):
            frame = pd.DataFrame(
                {s.name: pd.Series(columns[s.name], dtype=s.dtype if s.levels is not None else None, index=index)
                 for s in self.sources}, index=index,
            )  # fmt: skip
            frame.columns = empty.columns if isinstance(empty, pd.DataFrame) else list(empty)
            return frame
        if hasattr(empty, "from_pydict"):  # pyarrow's record batches are tables that narwhals does not know
            return type(empty).from_pydict(columns)
        lists = {name: column.tolist() if plain is False else column for name, column in columns.items()}
        return nw.from_dict(lists, backend=nw.get_native_namespace(nw.from_native(empty))).to_native()


def _numbers(names: Iterable[str]) -> tuple[Source, ...]:
    return tuple(Source(name, (place,)) for place, name in enumerate(names))


def read_features(X: Any, estimator: Any = None, *, categories: bool = False) -> Features:
    """Read a table of numbers and, for a model, of categories.

    Parameters
    ----------
    X : frame, mapping, two-dimensional array or list of rows
        NumPy, pandas, polars, pyarrow or whatever narwhals knows. Whole numbers and booleans become floats, missing
        values (None, nan, ``pandas.NA``, masked) NaN.
    estimator : object
        The fitted model.
    categories : bool
        Whether columns of text, pandas categories, and columns that an encoder of the model takes are categories;
        otherwise all columns have to be numbers.

    Raises
    ------
    ValueError
        If `X` is no table of numbers or text: a sparse matrix, one-dimensional, without rows or columns, columns of
        dates or complex numbers, infinite values, several columns of one name, a lazy frame, too many categories.
    TypeError
        If it holds objects that are neither numbers nor strings.

    Examples
    --------
    >>> features = read_features({"age": [23, 61], "job": ["cook", None]}, categories=True)
    >>> features.names, features.values.tolist()
    (('age', 'job=cook'), [[23.0, 1.0], [61.0, nan]])
    """
    # All it knows is how to become an array; older record batches know that as well, and have no shape.
    if hasattr(X, "__array__") and not hasattr(X, "shape") and not is_table(X):
        X = np.asarray(X)
    _check_table(X)
    table = split_table(X, "X")
    names = [f"x{i}" if name is None else name for i, (name, _) in enumerate(table)]
    check_names(tuple(names), "X")
    index, container = X.index if isinstance(X, pd.DataFrame) else None, _without_rows(X)
    coded = _encoded_by(estimator, [str(name) for name in names]) if categories else set()
    coded |= {
        i for i, (name, column) in enumerate(table)
        if categories and _is_text(one_dimensional(column, f"X (column {name!r})"))
    }  # fmt: skip
    if not coded:
        values = _plain_array(X) if isinstance(X, np.ndarray) else None
        if values is None:
            values = _read_columns(dict(zip(names, (column for _, column in table), strict=True)), len(X))
        _check_values(values, names)
        return Features(tuple(names), values, index, container, _numbers(map(str, names)))
    kept = {names[i]: column for i, (_, column) in enumerate(table) if i not in coded}
    numbers = _read_columns(kept, len(table[0][1])) if kept else np.empty((len(table[0][1]), 0))
    _check_values(numbers, list(kept), empty=True)
    sources: list[Source] = []
    labels: list[str] = []
    parts: list[Floats] = []
    for i, name in enumerate(map(str, names)):
        levels, dtype = None, X.dtypes.iloc[i] if isinstance(X, pd.DataFrame) else None
        if i in coded:
            levels, shares = _shares(table[i][1], name)
            parts.append(shares)
        else:
            parts.append(numbers[:, list(kept).index(names[i])][:, None])
        new = [name] if levels is None else [f"{name}={level}" for level in levels]
        sources.append(Source(name, tuple(range(len(labels), len(labels) + len(new))), levels, dtype))
        labels += new
    numeric = isinstance(X, np.ndarray) and X.dtype.kind in "biuf"
    values = np.ascontiguousarray(np.hstack(parts))
    return Features(tuple(labels), values, index, container, tuple(sources), numeric)


def _check_values(values: Floats, names: list[Any], empty: bool = False) -> None:
    for size, what in zip(values.shape[::-1], ("feature", "sample"), strict=True):
        if size == 0 and not (empty and what == "feature"):
            raise ParameterError(
                f"X has 0 {what}(s) (shape={values.shape}) while a minimum of 1 is required: pass one row per person "
                "and one column per feature."
            )
    infinite = [names[i] for i in np.flatnonzero(np.isinf(values).any(axis=0))]
    if infinite:
        raise ParameterError(
            f"X has infinite (inf) values in {_columns(infinite)}: replace them by finite numbers, or leave these "
            "people or columns out."
        )


def _check_table(X: Any) -> None:
    if issparse(X):
        raise ParameterError(
            f"X is a sparse matrix ({type(X).__name__}), but its features must be moved one by one: pass X.toarray()."
        )
    if X is None or isinstance(X, str | bytes) or not is_table(X):
        raise ParameterError(
            f"X must be a table with one row per person and one column per feature; found "
            f"{type(X).__name__}, which has no columns. Reshape your data either using array.reshape(-1, 1) (or "
            ".to_frame()) if it is a single feature, or array.reshape(1, -1) if it is a single person."
        )
    if isinstance(X, np.ndarray) and X.dtype.names is not None:
        raise ParameterError("X is a structured array, which no model takes: pass pandas.DataFrame(X).")


def _without_rows(X: Any) -> Any:
    if isinstance(X, Mapping):
        return dict.fromkeys(X)
    if isinstance(X, pd.DataFrame):
        return X.iloc[:0]
    if isinstance(X, list | tuple):
        return []
    if hasattr(X, "from_pydict"):
        return X.slice(0, 0)
    frame = nw.from_native(X, pass_through=True)
    return frame.head(0).to_native() if isinstance(frame, nw.DataFrame) else None


def _plain_array(X: NDArray[Any]) -> Floats | None:
    """Return an array of plain numbers at once; None where columns have to be examined."""
    if X.dtype.kind not in "biuf" or isinstance(X, np.ma.MaskedArray):
        return None
    return np.array(X, dtype=np.float64, order="C", subok=False)


def _read_columns(columns: Mapping[str, Any], n_people: int) -> Floats:
    read, refused = {}, {}
    for name, column in columns.items():
        values = one_dimensional(column, f"X (column {name!r})")
        numbers = _as_floats(values)
        if numbers is None:
            refused[name] = values
        else:
            read[name] = numbers
    if refused:
        raise _refusal(refused)
    check_lengths({name: len(numbers) for name, numbers in read.items()}, "X")
    return np.stack(list(read.values()), axis=1) if read else np.empty((n_people, 0))


def _as_floats(values: Any) -> Floats | None:
    """Return the numbers of a column; None if there is anything else in it."""
    if isinstance(values, pd.Index):
        values = pd.Series(values)
    if isinstance(values, pd.Series) and not pd.api.types.is_object_dtype(values.dtype):
        if not pd.api.types.is_numeric_dtype(values.dtype) or pd.api.types.is_complex_dtype(values.dtype):
            return None
        return values.to_numpy(dtype=np.float64, na_value=np.nan)
    array = values.to_numpy() if isinstance(values, pd.Series) else values
    if isinstance(array, np.ma.MaskedArray):
        array = np.ma.filled(array.astype(object), np.nan)
    if array.dtype.kind in "biuf":
        return array.astype(np.float64)
    if array.dtype.kind != "O":
        return None
    missing = pd.isna(array)
    if not all(_is_number(value) for value in array[~missing]):
        return None
    return np.where(missing, np.nan, array).astype(np.float64)


def _is_number(value: Any) -> bool:
    return isinstance(value, Real | Decimal | np.bool_)


def _refusal(refused: Mapping[str, Any]) -> Exception:
    """Return the error that says which columns are not numbers."""
    found = {name: _what_is_no_number(values) for name, values in refused.items()}
    examples = [example for _, example in found.values()]
    if any(isinstance(example, complex | np.complexfloating) for example in examples):
        return ValueError(f"Complex data not supported: X has complex numbers in {_columns(list(refused))}.")
    described = [f"{name!r} ({dtype}, for example {example!r})" for name, (dtype, example) in list(found.items())[:3]]
    more = f" and {len(found) - 3:,} more" if len(found) > 3 else ""
    message = (
        f"X has columns that are not numbers: {', '.join(described)}{more}. Encode them first (for example "
        "with OneHotEncoder in a ColumnTransformer)."
    )
    for example in examples:
        # Objects that Python itself cannot read as a number are the wrong type altogether, as for scikit-learn.
        if not isinstance(example, str | bytes | np.generic | pd.Timestamp | pd.Timedelta):
            try:
                float(example)
            except TypeError as error:
                return TypeError(f"{message} ({error})")
    return ParameterError(message)


def _what_is_no_number(values: Any) -> tuple[str, Any]:
    """Return the dtype of a column and the first of its values that is no number."""
    dtype = str(values.dtype)
    objects = pd.Series(values).astype(object).to_numpy()
    objects = objects[~pd.isna(objects)]
    first = next((value for value in objects if not _is_number(value)), objects[0] if objects.size else None)
    return dtype, first


def _columns(names: list[str]) -> str:
    return f"column{'s' if len(names) > 1 else ''} {listed(names)}"


def _is_text(column: Any) -> bool:
    if is_categorical(column):
        return True
    objects = pd.Series(column)
    if pd.api.types.is_numeric_dtype(objects.dtype) or pd.api.types.is_datetime64_any_dtype(objects.dtype):
        return False
    present = objects.dropna()
    return bool(len(present)) and all(isinstance(value, str) for value in present)


def _shares(column: Any, name: str) -> tuple[NDArray[Any], Floats]:
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
    path = path_of(estimator)
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
