"""Features: a model's inputs as a matrix of floats, and back in the container they came in.

In between, people can be moved: values change; names, order and container do not.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from numbers import Real
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import issparse

from skfairtest._utils.checks import is_integer
from skfairtest._utils.errors import ParameterError
from skfairtest.readers.containers import check_lengths, check_names, is_table, one_dimensional, split_table
from skfairtest.readers.levels import listed


@dataclass(frozen=True, eq=False)
class Features:
    """What is known about every person, as numbers.

    Parameters
    ----------
    names : tuple of str
        What the columns are called; "x0", "x1", ... where their container has no names.
    values : ndarray of shape (n, d)
        The numbers, row by row in memory; missing ones are NaN.
    index : pandas Index or None
        The index the rows came with.
    container : object
        The container they came in, without its rows; None for arrays and what becomes one.
    """

    names: tuple[str, ...]
    values: NDArray[np.float64] = field(repr=False)
    index: "pd.Index[Any] | None" = field(default=None, repr=False)
    container: Any = field(default=None, repr=False)

    def __len__(self) -> int:
        """Return the number of people."""
        return len(self.values)

    def take(self, rows: NDArray[Any]) -> "Features":
        """Return the features of some people: a mask, or positions in any order."""
        return replace(self, values=self.values[rows], index=None if self.index is None else self.index[rows])

    @property
    def blocks(self) -> tuple[tuple[int, ...], ...]:
        """Columns that are known to be one choice: none."""
        return ()

    @property
    def groups(self) -> "list[tuple[str, tuple[int, ...]]]":
        """The columns as people have them: names, and where their numbers are."""
        return [(name, (column,)) for column, name in enumerate(self.names)]

    def columns_of(self, name: Any, where: str) -> tuple[int, ...]:
        """Return the positions of a column, as `position` does."""
        return (self.position(name, where),)

    def plain(self) -> "Features":
        """Return the numbers alone."""
        return self

    def between(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return rows moved halfway to their mean."""
        found: NDArray[np.float64] = (rows + rows.mean(axis=0)) / 2
        return found

    def linear_parts(
        self, transform: Callable[[NDArray[np.float64]], NDArray[np.float64]], length: float
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the matrix and the offset of an affine function, from its values at the origin and unit vectors."""
        width = self.values.shape[1]
        outputs = transform(np.concatenate([np.zeros((1, width)), length * np.eye(width)]))
        return (outputs[1:] - outputs[0]) / length, outputs[0]

    @property
    def names_in(self) -> tuple[str, ...] | None:
        """What scikit-learn calls ``feature_names_in_``; None where there are no names, or not all are strings."""
        if self.container is None or isinstance(self.container, list):
            return None
        return self.names if all(isinstance(label, str) for label in self._labels()) else None

    def position(self, name: Any, where: str) -> int:
        """Return the position of a column.

        Parameters
        ----------
        name : object
            The column's label in its own container, which need not be a string; that label as a string; or the column's
            position, possibly negative. A number that is the label of a column is never a position.
        where : str
            The parameter that names the column, for the error message.

        Returns
        -------
        int
            From 0.

        Raises
        ------
        ValueError
            If there is no such column.

        Examples
        --------
        >>> features = read_features(pd.DataFrame([[23, 5.0, 1.0]], columns=["age", "wage", 0]))
        >>> [features.position(name, "features") for name in ("wage", 1, -2, 0, "0")]
        [1, 1, 1, 2, 2]
        """
        for labels in (self._labels(), self.names):
            position = _places(labels).get(_key(name))
            if position is not None:
                return position
        width = len(self.names)
        if is_integer(name) and -width <= int(name) < width:
            return int(name) % width
        raise ParameterError(
            f"{where}: X has no feature {name!r}; its features are {listed(self.names)}, or their positions"
        )

    def positions(self, names: Iterable[Any], where: str) -> list[int]:
        """Return the positions of several columns, as `position` does.

        Raises
        ------
        ValueError
            If there is no such column, or one is named twice.
        """
        found: dict[int, Any] = {}
        for name in names:
            position = self.position(name, where)
            if position in found:
                raise ParameterError(
                    f"{where}: {self.names[position]!r} is named twice, as {found[position]!r} and {name!r}."
                )
            found[position] = name
        return list(found)

    def _labels(self) -> tuple[Any, ...]:
        """The names of the columns in their container."""
        if isinstance(self.container, pd.DataFrame):
            return tuple(self.container.columns)
        return tuple(self.container) if isinstance(self.container, dict) else self.names

    def rebuild(self, values: NDArray[np.float64]) -> Any:
        """Return other values of the same people as the table they came in, with its columns and index.

        Parameters
        ----------
        values : ndarray of shape (n, d)
            The values.

        Returns
        -------
        DataFrame, Table, ndarray, dict or list
            A table of floats that shares no memory with `values`.
        """
        if isinstance(self.container, list):
            return values.tolist()
        if isinstance(self.container, dict):
            return {name: values[:, i].copy() for i, name in enumerate(self.container)}
        return self._table(values, self.index)

    def as_input(self, values: NDArray[np.float64]) -> Any:
        """Return rows in the form in which a model takes them.

        Parameters
        ----------
        values : ndarray of shape (any number, d)
            The values of anybody.

        Returns
        -------
        DataFrame, Table or ndarray
            A frame with the columns of the one that was read, and no index of its own; an array for arrays and lists.
            It shares no memory with `values`: some transformers overwrite their input.
        """
        return self._table(values, None)

    def _table(self, values: NDArray[np.float64], index: "pd.Index[Any] | None") -> Any:
        values, empty = values.copy(), self.container
        if empty is None or isinstance(empty, list):
            return values
        if isinstance(empty, dict):
            return pd.DataFrame(values, columns=list(empty))
        if isinstance(empty, pd.DataFrame):
            return pd.DataFrame(values, columns=empty.columns, index=index)
        columns = {name: np.ascontiguousarray(values[:, i]) for i, name in enumerate(self.names)}
        if hasattr(empty, "from_pydict"):  # pyarrow's record batches are tables that narwhals does not know
            return type(empty).from_pydict(columns)
        return nw.from_dict(columns, backend=nw.get_native_namespace(nw.from_native(empty))).to_native()


def _places(labels: tuple[Any, ...]) -> dict[Any, int]:
    return {_key(label): position for position, label in enumerate(labels)}


def _key(label: Any) -> Any:
    try:
        hash(label)
    except TypeError:  # the name of nothing
        return None
    return isinstance(label, bool | np.bool_), label  # True is equal to the label 1


def read_features(X: Any, parameter: str = "X", advice: str = "") -> Features:
    """Read a table of numbers.

    Parameters
    ----------
    X : frame, mapping, two-dimensional array or list of rows
        NumPy, pandas, polars, pyarrow or whatever narwhals knows. Whole numbers and booleans become floats, missing
        values (None, nan, ``pandas.NA``, masked) NaN.
    parameter : str
        The caller's name of `X`, for error messages.
    advice : str
        A further sentence about what to do where columns are not numbers.

    Returns
    -------
    Features
        The numbers, with what is needed to rebuild the table.

    Raises
    ------
    ValueError
        If `X` is no table of numbers: a sparse matrix, one-dimensional, without rows or columns, columns of strings,
        dates, categories or complex numbers, infinite values, several columns of one name, a lazy frame.
    TypeError
        If it holds objects that are neither numbers nor strings.

    Examples
    --------
    >>> features = read_features({"age": [23, 61], "member": [True, None]})
    >>> features.names, features.values.tolist()
    (('age', 'member'), [[23.0, 1.0], [61.0, nan]])
    """
    # All it knows is how to become an array; older record batches know that as well, and have no shape.
    if hasattr(X, "__array__") and not hasattr(X, "shape") and not is_table(X):
        X = np.asarray(X)
    _check_table(X, parameter)
    table = split_table(X, parameter)
    names = tuple(f"x{i}" if name is None else name for i, (name, _) in enumerate(table))
    check_names(names, parameter)
    values = _plain_array(X) if isinstance(X, np.ndarray) else None
    if values is None:
        values = _read_columns(
            {name: column for name, (_, column) in zip(names, table, strict=True)}, len(X), parameter, advice
        )
    for size, what in zip(values.shape[::-1], ("feature", "sample"), strict=True):
        if size == 0:
            raise ParameterError(
                f"{parameter} has 0 {what}(s) (shape={values.shape}) while a minimum of 1 is required: pass one "
                "row per person and one column per feature."
            )
    infinite = [names[i] for i in np.flatnonzero(np.isinf(values).any(axis=0))]
    if infinite:
        raise ParameterError(
            f"{parameter} has infinite (inf) values in {_columns(infinite)}: replace them by finite numbers, or leave "
            "these people or columns out."
        )
    index = X.index if isinstance(X, pd.DataFrame) else None
    return Features(names, values, index, _without_rows(X))


def _check_table(X: Any, parameter: str) -> None:
    if issparse(X):
        raise ParameterError(
            f"{parameter} is a sparse matrix ({type(X).__name__}), but its features must be moved one by one: pass "
            f"{parameter}.toarray()."
        )
    if X is None or isinstance(X, str | bytes) or not is_table(X):
        raise ParameterError(
            f"{parameter} must be a table with one row per person and one column per feature; found "
            f"{type(X).__name__}, which has no columns. Reshape your data either using array.reshape(-1, 1) (or "
            ".to_frame()) if it is a single feature, or array.reshape(1, -1) if it is a single person."
        )
    if isinstance(X, np.ndarray) and X.dtype.names is not None:
        raise ParameterError(
            f"{parameter} is a structured array, which no model takes: pass pandas.DataFrame({parameter})."
        )


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


def _plain_array(X: NDArray[Any]) -> NDArray[np.float64] | None:
    """Return an array of plain numbers at once; None where columns have to be examined."""
    if X.dtype.kind not in "biuf" or isinstance(X, np.ma.MaskedArray):
        return None
    return np.array(X, dtype=np.float64, order="C", subok=False)


def _read_columns(columns: Mapping[str, Any], n_people: int, parameter: str, advice: str) -> NDArray[np.float64]:
    read, refused = {}, {}
    for name, column in columns.items():
        values = one_dimensional(column, f"{parameter} (column {name!r})")
        numbers = _as_floats(values)
        if numbers is None:
            refused[name] = values
        else:
            read[name] = numbers
    if refused:
        raise _refusal(refused, parameter, advice)
    check_lengths({name: len(numbers) for name, numbers in read.items()}, parameter)
    return np.stack(list(read.values()), axis=1) if read else np.empty((n_people, 0))


def _as_floats(values: Any) -> NDArray[np.float64] | None:
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


def _refusal(refused: Mapping[str, Any], parameter: str, advice: str) -> Exception:
    """Return the error that says which columns are not numbers."""
    found = {name: _what_is_no_number(values) for name, values in refused.items()}
    examples = [example for _, example in found.values()]
    if any(isinstance(example, complex | np.complexfloating) for example in examples):
        return ValueError(f"Complex data not supported: {parameter} has complex numbers in {_columns(list(refused))}.")
    described = [f"{name!r} ({dtype}, for example {example!r})" for name, (dtype, example) in list(found.items())[:3]]
    more = f" and {len(found) - 3:,} more" if len(found) > 3 else ""
    message = (
        f"{parameter} has columns that are not numbers: {', '.join(described)}{more}. Encode them first (for example "
        "with OneHotEncoder in a ColumnTransformer)."
    )
    if advice:
        message += f" {advice}"
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
