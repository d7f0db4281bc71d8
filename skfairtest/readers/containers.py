"""Containers of data as one-dimensional named arrays, without needless copies, and columns of X by name."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.exceptions import DataConversionWarning

from skfairtest._utils.checks import is_integer
from skfairtest._utils.errors import ParameterError, warn
from skfairtest.readers.levels import listed

#: What pandas, polars and pyarrow call types of categories.
_CATEGORIES = {"CategoricalDtype", "Categorical", "Enum", "DictionaryType"}


def is_categorical(data: Any) -> bool:
    """Whether a container declares its values categories, whatever they are.

    Examples
    --------
    >>> is_categorical(pd.Categorical([1, 2])), is_categorical(pd.Series([1, 2]))
    (True, False)
    """
    # Recognised by name: importing other libraries to ask would make them dependencies.
    dtype = data.dtype if hasattr(data, "dtype") else getattr(data, "type", None)
    return type(getattr(dtype, "pyarrow_dtype", dtype)).__name__ in _CATEGORIES


def is_table(data: Any) -> bool:
    """Whether `data` has columns (even one), as opposed to being one sequence of values."""
    if isinstance(data, np.ndarray):
        return data.ndim != 1 or data.dtype.names is not None
    if isinstance(data, (list, tuple)):
        first = data[0] if data else None
        return isinstance(first, pd.Series) or _is_row(first)
    if isinstance(data, (pd.Series, pd.Index)):
        return False
    return isinstance(data, Mapping) or hasattr(type(data), "columns") or getattr(data, "ndim", 1) != 1


def in_memory(data: Any) -> Any:
    """Dask's collections, or a mapping of them, as values; anything else unchanged."""
    if type(data) is dict:  # a sparse matrix may be one as well
        return {name: in_memory(values) for name, values in data.items()}
    # Recognised by its protocol: importing Dask to ask would make it a dependency.
    return data.compute() if hasattr(data, "__dask_graph__") else data


def one_column(data: Any, *, warned: bool = False) -> Any:
    """The values of an array or a frame of one column, as scikit-learn's metrics read them; others unchanged.

    Examples
    --------
    >>> import numpy as np
    >>> one_column(np.array([[0], [1]]))
    array([0, 1])
    """
    if tuple(getattr(data, "shape", ()))[1:] != (1,):
        return data
    column = data
    if isinstance(data, np.ndarray):
        column = data[:, 0]
    elif isinstance(frame := nw.from_native(data, eager_only=True, pass_through=True), nw.DataFrame):
        column = frame.get_column(frame.columns[0]).to_native()
    if warned and column is not data:
        warn(
            "A column-vector y was passed when a 1d array was expected. Please change the shape of y to (n_samples,), "
            "for example using ravel().",
            DataConversionWarning,
        )
    return column


def series_name(data: Any) -> str | None:
    """The name of a series; None for anything without a name."""
    name = None if is_table(data) else getattr(data, "name", None)
    return None if name is None or name == "" else str(name)


def split_table(data: Any, parameter: str) -> list[tuple[str | None, Any]]:
    """Split a table into its columns."""
    if isinstance(data, (list, tuple)):
        return _split_rows(data, parameter)
    if isinstance(data, Mapping):
        return [(str(name), values) for name, values in data.items()]
    if isinstance(data, pd.DataFrame):
        return [(str(name), data.iloc[:, i]) for i, name in enumerate(data.columns)]
    if hasattr(data, "itercolumns"):  # of pyarrow, where columns may share a name
        return list(zip(data.schema.names, data.itercolumns(), strict=True))
    frame = nw.from_native(data, pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        raise ParameterError(f"{parameter} is a lazy frame, which has no values yet: call .collect() first.")
    if isinstance(frame, nw.DataFrame):
        return [(name, frame[name].to_native()) for name in frame.columns]
    array = np.asanyarray(data)  # which keeps masks
    if array.dtype.names is not None:
        return [(name, array[name]) for name in array.dtype.names]
    if array.ndim != 2:
        raise ParameterError(
            f"{parameter} has shape {array.shape}: pass one column of shape (n,) or a table of shape (n, n_columns)."
        )
    return [(None, array[:, i]) for i in range(array.shape[1])]


def check_names(names: Sequence[str], parameter: str) -> None:
    """Check that no two columns share a name."""
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise ParameterError(f"{parameter} has several columns named {listed(repeated)}: give each its own name.")


def check_lengths(lengths: Mapping[str, int], parameter: str) -> None:
    """Check that all columns have one value per person."""
    if len(set(lengths.values())) > 1:
        raise ParameterError(
            f"{parameter} has columns of different lengths {dict(lengths)}: every column needs one value per person."
        )


def _is_row(value: Any) -> bool:
    return isinstance(value, (list, tuple)) or (isinstance(value, np.ndarray) and value.ndim > 0)


def _split_rows(data: Any, parameter: str) -> list[tuple[str | None, Any]]:
    if any(isinstance(row, pd.Series) for row in data):
        raise ParameterError(
            f"{parameter} is a list of Series, which could be rows or columns: pass a DataFrame or a dict of columns."
        )
    # A value among rows is a row of no columns.
    widths = {len(row) if _is_row(row) else 0 for row in data}
    if len(widths) > 1:
        raise ParameterError(
            f"{parameter} is a list of rows of different lengths {sorted(widths)}: every row "
            "needs one value per column."
        )
    return [(None, _objects(column)) for column in zip(*data, strict=True)] if widths != {0} else []


def one_dimensional(data: Any, parameter: str) -> Any:
    """The values as something that pandas and NumPy read without changing them."""
    if data is None:
        raise ParameterError(f"{parameter} is None: pass one value per person.")
    if isinstance(data, (str, bytes)):
        raise ParameterError(
            f"{parameter} is the string {data!r}: columns cannot be looked up here, pass the "
            f"column itself, for example df[{data!r}]."
        )
    if isinstance(data, pd.api.extensions.ExtensionArray):
        return pd.Series(data)
    if isinstance(data, (pd.Series, pd.Index)):
        if isinstance(data, pd.MultiIndex):
            raise ParameterError(
                f"{parameter} is a MultiIndex: pass one of its levels, or all as a DataFrame (.to_frame())."
            )
        return _native(data)
    if isinstance(data, Sequence) and not is_table(data):
        return _objects(data)
    if is_table(data):
        raise ParameterError(
            f"{parameter} must have one dimension, one value per person; found "
            f"{_description(data)}. Pass a single column."
        )
    values = _from_other_library(data)
    if not isinstance(values, np.ndarray) or values.ndim == 1:
        return values
    raise ParameterError(
        f"{parameter} must hold one value per person; found {_description(data)}. Pass a list, an array or a series."
    )


def _native(values: Any) -> Any:
    """NumPy arrays in native byte order, which pandas needs."""
    if not isinstance(values.dtype, np.dtype):
        return values
    array = values if isinstance(values, np.ndarray) else values.to_numpy()
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def _objects(values: Sequence[Any]) -> NDArray[Any]:
    return np.fromiter(values, dtype=object, count=len(values))


def _from_other_library(data: Any) -> Any:
    if isinstance(data, np.ndarray):
        return _native(data)
    if type(data).__module__.startswith("pyarrow") and not hasattr(data, "chunks"):
        return _objects(data.to_pylist())
    series = nw.from_native(data, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        kind = series.dtype
        naive = isinstance(kind, nw.Datetime | nw.Duration) and getattr(kind, "time_zone", None) is None
        wide = isinstance(kind, nw.Int128 | nw.UInt128)
        plain = (kind.is_integer() or kind.is_float() or naive) and not wide and not series.null_count()
        return series.to_numpy() if plain else _objects(series.to_list())
    if isinstance(data, Iterator) or not hasattr(data, "__len__"):
        return np.array(0)
    return _native(np.asarray(data))


def _description(data: Any) -> str:
    shape = getattr(data, "shape", None)
    kind = type(data).__name__
    if isinstance(data, (list, tuple)):
        kind = f"{kind} of {type(data[0]).__name__}" if data else f"empty {kind}"
    return f"{kind} of shape {tuple(shape)}" if isinstance(shape, tuple) else f"type {kind}"


def given_to_fit(X: Any, y: Any, columns: Mapping[str, Any]) -> tuple[Any, Any, dict[str, Any]]:
    """The arguments of a ``fit``, in memory, with the columns of `X` in the place of their names.

    Examples
    --------
    >>> people = pd.DataFrame({"sex": ["f", "m"], "age": [31, 27]})
    >>> given_to_fit(people, None, {"sensitive_features": "sex", "clusters": None})[2][
    ...     "sensitive_features"
    ... ].tolist()
    ['f', 'm']
    """
    X, y = in_memory(X), in_memory(y)
    given = {name: in_memory(values) for name, values in columns.items() if values is not None}
    return X, y, dict.fromkeys(columns) | {name: _looked_up(X, values, name) for name, values in given.items()}


def _looked_up(X: Any, values: Any, parameter: str) -> Any:
    known = X.columns if isinstance(X, pd.DataFrame) else getattr(X, "column_names", getattr(X, "columns", ()))
    if len(known) and (isinstance(values, str) or (is_integer(values) and values in known)):
        return named_columns(X, [str(values)], parameter)[str(values)]
    # Groups may be a long list: names are few, and not one for each person.
    is_list = isinstance(values, list | tuple | np.ndarray | pd.Index) and 0 < len(values) < max(len(known), 2) + 1
    if not is_list or not len(known) or len(values) == len(X) or not all(isinstance(name, str) for name in values):
        return values
    return named_columns(X, list(values), parameter)


def check_names_of_columns(names: Any, parameter: str) -> tuple[str, ...] | None:
    """The names of columns that a parameter holds; None where it holds none.

    Examples
    --------
    >>> check_names_of_columns("sex", "sensitive_features")
    ('sex',)
    """
    if names is None:
        return None
    if isinstance(names, str) or is_integer(names):
        return (str(names),)
    found = list(names) if isinstance(names, list | tuple) else []
    if not found or not all(isinstance(name, str) or is_integer(name) for name in found):
        shown = f"[{listed(found, 3)}]" if isinstance(names, list | tuple) else type(names).__name__
        raise ParameterError(
            f"{parameter} must be the name of a column of X, or a list of names, as in {parameter}='sex'; found "
            f"{shown}. The groups themselves are passed at run time, by metadata routing."
        )
    if len(set(found)) < len(found):
        raise ParameterError(f"{parameter} names a column twice: {listed(found)}")
    return tuple(map(str, found))


def named_columns(X: Any, names: Sequence[str], parameter: str) -> dict[str, Any]:
    """Look columns of `X` up by their names.

    Examples
    --------
    >>> named_columns({"sex": ["f", "m"], "age": [1, 2]}, ["sex"], "sensitive_features")
    {'sex': ['f', 'm']}
    """
    table = split_table(X, "X") if is_table(X) else []
    known = [name for name, _ in table if name is not None]
    problem = ""
    if not known:
        problem = f"X ({type(X).__name__}) has no column names here: pass a DataFrame"
    elif twice := [name for name in names if known.count(name) > 1]:
        problem = f"X has several columns named {listed(twice)}: give each its own name"
    elif missing := [name for name in names if name not in known]:
        problem = f"X has no column {listed(missing)} here; its columns are {listed(known)}"
    if problem:
        given = names[0] if len(names) == 1 else list(names)
        raise ParameterError(
            f"{parameter}={given!r}: {problem}. Keep the column in X (a ColumnTransformer inside the model can drop "
            "it), or pass the groups themselves, by metadata routing if no argument takes them."
        )
    columns = dict(table)
    return {name: columns[name] for name in names}
