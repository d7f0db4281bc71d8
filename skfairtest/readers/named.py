"""Columns of X by their names, which need no routing."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from skfairtest._utils.checks import is_integer
from skfairtest._utils.errors import ParameterError
from skfairtest.readers.containers import in_memory, is_table, one_dimensional, split_table
from skfairtest.readers.levels import listed


def given_to_fit(X: Any, y: Any, columns: Mapping[str, Any]) -> tuple[Any, Any, dict[str, Any]]:
    """The arguments of a ``fit``, in memory, with the columns of `X` in the place of their names.

    Parameters
    ----------
    X : object
        What the model predicts from; names are those of its columns.
    y : object
        True labels.
    columns : mapping
        The other arguments by their names: columns, containers of columns, a name of a column of `X`, a list of names,
        or None.

    Returns
    -------
    X, y, columns : object, object, dict
        Collections of Dask are computed.

    Raises
    ------
    ValueError
        If a text is no name of a column.

    Examples
    --------
    >>> people = pd.DataFrame({"sex": ["f", "m"], "age": [31, 27]})
    >>> given_to_fit(people, None, {"sensitive_features": "sex", "clusters": None})[2][
    ...     "sensitive_features"
    ... ].tolist()
    ['f', 'm']
    """
    X, y = in_memory(X), in_memory(y)
    return X, y, {name: _looked_up(X, in_memory(values), name) for name, values in columns.items()}


def _looked_up(X: Any, values: Any, parameter: str) -> Any:
    known = X.columns if isinstance(X, pd.DataFrame) else getattr(X, "column_names", getattr(X, "columns", ()))
    if isinstance(values, str):
        if len(known) and values not in known:
            raise ParameterError(
                f"{parameter}={values!r}: X has no column of this name; its columns are {listed(list(known))}. Pass "
                f"one of these, or the column itself, for example df[{values!r}]."
            )
        if not len(known):
            one_dimensional(values, parameter)  # which refuses it
        return named_columns(X, [values], parameter)[values]
    if is_integer(values) and values in known:
        return named_columns(X, [str(values)], parameter)[str(values)]
    # Groups may be a long list: names are few, and at least one of them is a column.
    is_list = isinstance(values, list | tuple | np.ndarray | pd.Index) and 0 < len(values) < max(len(known), 2) + 1
    if not is_list or not len(known) or len(values) == len(X) or not all(isinstance(name, str) for name in values):
        return values
    return named_columns(X, list(values), parameter) if any(name in known for name in values) else values


def check_names_of_columns(names: Any, parameter: str) -> tuple[str, ...] | None:
    """Return the names of columns that a parameter holds; None where it holds none.

    Parameters
    ----------
    names : str, int, sequence of these, or None
        The argument that the caller got; numbers are names of columns as they are in frames that were arrays.
    parameter : str
        The caller's name of it, for error messages.

    Returns
    -------
    tuple of str or None
        The names.

    Raises
    ------
    ValueError
        If it is anything else, such as the groups themselves.

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


def named_columns(X: Any, names: Sequence[str], parameter: str) -> Any:
    """Look columns of `X` up by their names.

    Parameters
    ----------
    X : frame or mapping
        pandas, polars, pyarrow or anything that narwhals knows.
    names : sequence of str
        Which columns, in this order.
    parameter : str
        The caller's parameter that names them, for error messages.

    Returns
    -------
    DataFrame or dict
        The columns with their names; for pandas a frame, so that its index can still be checked.

    Raises
    ------
    ValueError
        If `X` has no column names, lacks one of these, or has several columns of one name.

    Examples
    --------
    >>> named_columns({"sex": ["f", "m"], "age": [1, 2]}, ["sex"], "sensitive_features")
    {'sex': ['f', 'm']}
    """
    instead = (
        "keep the column in X (a ColumnTransformer inside the model can drop it), or leave "
        f"{parameter}=None and pass the groups by metadata routing."
    )
    given = f"{parameter}={names[0]!r}" if len(names) == 1 else f"{parameter}={list(names)!r}"
    if isinstance(X, pd.DataFrame):  # columns that nobody names need not be cut out
        known = [str(name) for name in X.columns]
        found: dict[str | None, Any] = {name: place for place, name in enumerate(known) if name in names}
    else:
        table = split_table(X, "X") if is_table(X) else []
        found, known = dict(table), [name for name, _ in table if name is not None]
    twice = [name for name in names if known.count(name) > 1]
    if twice:
        raise ParameterError(f"{given}: X has several columns named {listed(twice)}: give each its own name.")
    if not known:
        raise ParameterError(
            f"{given} names a column, but X ({type(X).__name__}) has no column names here: pass a DataFrame; {instead}"
        )
    missing = [name for name in names if name not in found]
    if missing:
        raise ParameterError(
            f"{given}: X has no column {listed(missing)} here; its columns are {listed(known)}. "
            f"{instead[0].upper()}{instead[1:]}"
        )
    if isinstance(X, pd.DataFrame):
        return X.iloc[:, [found[name] for name in names]].set_axis(list(names), axis=1)
    return {name: found[name] for name in names}
