"""Checks of the axes of a table: distinct names, and labels that are labels."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from skfairtest._utils.errors import ParameterError
from skfairtest._utils.typing import Positions
from skfairtest.readers.columns import Column, read_column
from skfairtest.readers.labels import check_labels
from skfairtest.readers.levels import listed

CELL_NAMES = ("y_true", "y_pred", "y_score")
#: What two models say of the same people.
PAIRED_NAMES = ("y_pred_a", "y_pred_b", "y_score_a", "y_score_b")
ALL_NAMES = (*CELL_NAMES, *PAIRED_NAMES)
MAX_SCORES = 1000
Key = tuple[Any, ...]


def check_names(
    control_names: Sequence[str], sensitive_names: Sequence[str], cell_names: Sequence[str], sums: Sequence[str] = ()
) -> None:
    """Check that there are groups and labels, and that no name is used twice; `sums` are those of weights.

    Raises
    ------
    ValueError
        If not.
    """
    if not cell_names:
        raise ParameterError("y_true, y_pred and y_score are all missing: pass one of them, or several.")
    if tuple(cell_names) != tuple(name for name in ALL_NAMES if name in cell_names):
        known = ALL_NAMES if set(cell_names) & set(PAIRED_NAMES) else CELL_NAMES
        raise ParameterError(f"cell_names must be of {known}, in this order; found {cell_names}.")
    if not sensitive_names:
        raise ParameterError("sensitive_features has no columns: pass at least one.")
    names = [*control_names, *sensitive_names]
    for name in names:
        if names.count(name) > 1:
            raise ParameterError(
                f"sensitive_features and control_features hold several columns named {name!r}: give each "
                "feature its own name and one role."
            )
        if name in (*ALL_NAMES, "count", *sums):
            parameter = "control_features" if name in control_names else "sensitive_features"
            raise ParameterError(
                f"{parameter}: a feature is named {name!r}, which stands for something else in the table: rename it."
            )


def check_cells(columns: Sequence[Column], *, binned: bool = False) -> None:
    """Check that y_true and y_pred are labels, and that y_score has few distinct numbers unless they are in bins.

    Raises
    ------
    ValueError
        If not.
    """
    for column in columns:
        if not column.name.startswith("y_score"):
            check_labels(column, column.name)
        elif not all(isinstance(level, (int, float)) for level in column.levels):
            raise ParameterError(f"{column.name} must hold numbers, found {listed(column.levels, 3)}.")
        elif len(column.levels) > MAX_SCORES and not binned:
            raise ParameterError(
                f"{column.name} has {len(column.levels):,} distinct values; a table of counts takes at "
                f"most {MAX_SCORES}. Put them into bins (CountTable.from_frame with score_bins=1024), or test them row "
                "by row."
            )


def key_columns(keys: Sequence[Any], names: Sequence[str], axis: str, place: Positions) -> list[Column]:
    """Read the keys of an axis as columns.

    Parameters
    ----------
    keys : sequence of tuple
        One value per name each.
    names : sequence of str
        The names of the columns.
    axis : str
        What the keys are, for error messages.
    place : ndarray of shape (n_rows,)
        Which key each row has.

    Returns
    -------
    list of Column
        One column of length n_rows per name.

    Raises
    ------
    ValueError
        If a key is not a tuple of the right length, or a value is missing.
    """
    for key in keys:
        if not isinstance(key, tuple) or len(key) != len(names):
            raise ParameterError(f"{axis} must hold tuples with one value for each of {tuple(names)}; found {key!r}.")
    columns = []
    for position, name in enumerate(names):
        column = read_column([key[position] for key in keys], axis, name=name)
        columns.append(column.take(place))
    return columns


def column_values(column: Column) -> "pd.Index[Any]":
    """Return the value in every row as a frame holds it: dates stay dates, for which `Column.values` has no dtype."""
    values: pd.Index[Any] = pd.Index(column.levels, tupleize_cols=False)
    return values.take(column.codes)
