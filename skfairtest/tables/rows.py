"""Rows with counts: the sparse form in which tables are read, checked, added up and rearranged."""

import math
import numbers
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from skfairtest._utils.errors import ParameterError, brief
from skfairtest._utils.typing import Booleans, Floats, Integers, Positions
from skfairtest.readers.columns import Column, check_labels, check_vocabularies, read_column
from skfairtest.readers.containers import is_table, split_table
from skfairtest.readers.levels import distinct, listed, small, sort_levels, unify_numbers

CELL_NAMES = ("y_true", "y_pred", "y_score")
#: What two models say of the same people.
PAIRED_NAMES = ("y_pred_a", "y_pred_b", "y_score_a", "y_score_b")
ALL_NAMES = (*CELL_NAMES, *PAIRED_NAMES)
MAX_SCORES = 1000
Key = tuple[Any, ...]


def check_names(
    control_names: Sequence[str], sensitive_names: Sequence[str], cell_names: Sequence[str], sums: Sequence[str] = ()
) -> None:
    """Check that there are groups and labels, and that no name is used twice; `sums` are those of weights."""
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


def check_cells(columns: Sequence[Column], binned: bool) -> None:
    """Check that y_true and y_pred share one vocabulary, and that y_score has few numbers unless in bins."""
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
    check_vocabularies({column.name: column.levels for column in columns if not column.name.startswith("y_score")})


def key_columns(keys: Sequence[Key], names: Sequence[str], place: Positions) -> list[Column]:
    """The keys of an axis as columns; `place` is the key of each row."""
    columns = []
    for position, name in enumerate(names):
        values = [key[position] for key in keys]
        levels = {level: code for code, level in enumerate(distinct_levels(values))}
        codes = np.array([levels[value] for value in values], dtype=np.intp)[place]
        columns.append(Column(name, tuple(levels), codes, categorical=all(isinstance(each, str) for each in levels)))
    return columns


def column_values(column: Column) -> "pd.Index[Any]":
    """Values by row as a frame holds them: dates stay dates, which `Column.values` has no dtype for."""
    values: pd.Index[Any] = pd.Index(column.levels, tupleize_cols=False)
    return values.take(column.codes)


# Where a table would no longer be small.
TABLE_LIMIT = 50_000_000


#: The most people whom a table is written out as, one row for each; the most whom it counts.
MOST_ROWS, MOST_COUNTED = 100_000_000, 2**62


def check_total(n_people: float) -> None:
    """Refuse more people than sums of whole numbers can hold."""
    if n_people > MOST_COUNTED:
        raise ParameterError(
            f"table counts {n_people:.4g} people, and at most {MOST_COUNTED:.4g} (2**62) can be tested"
        )


def check_rows_of(n_people: int) -> None:
    """Refuse to write out too many people."""
    if n_people > MOST_ROWS:
        raise ParameterError(
            f"table counts {n_people:,} people, and what needs a row for each takes at most {MOST_ROWS:,}: use a rate, "
            "whose test needs counts alone, or a random sample"
        )


@dataclass(frozen=True, eq=False)
class Rows:
    """Columns of equal length, and the number of people of each row.

    With weights, `weights` (n, 2) holds their sums and sums of squares.
    """

    columns: tuple[Column, ...]
    counts: Integers
    weights: Floats | None = None


def distinct_levels(values: Sequence[Any]) -> list[Any]:
    """Distinct values in order; True, 1 and 1.0 are one level."""
    return sort_levels(unify_numbers(dict.fromkeys(values), map(type, values)))


def tally(columns: Sequence[Column]) -> Rows:
    """Count the people who share a row."""
    place, first = distinct([column.codes for column in columns], [len(column.levels) for column in columns])
    counted = tuple(replace(column, codes=column.codes[first].astype(np.intp), index=None) for column in columns)
    return Rows(counted, np.bincount(place).astype(np.int64, copy=False))


def join_rows(parts: Sequence[Rows]) -> Rows:
    """Concatenate rows of the same columns; equal values become one level."""
    return Rows(
        tuple(map(_join_columns, zip(*(part.columns for part in parts), strict=True))),
        np.concatenate([part.counts for part in parts]),
        None if parts[0].weights is None else np.concatenate([p.weights for p in parts if p.weights is not None]),
    )


def _join_columns(columns: Sequence[Column]) -> Column:
    levels = distinct_levels([value for column in columns for value in column.levels])
    codes = np.concatenate([column.among(levels).codes for column in columns])
    return Column(columns[0].name, tuple(levels), codes)


def arrange(
    rows: Rows, n_control: int, n_sensitive: int
) -> tuple[Integers, Floats | None, list[tuple[tuple[Any, ...], ...]]]:
    """Spread rows over a dense array of strata x groups x cells, everything sorted."""
    occupied = rows.counts != 0
    counts = rows.counts[occupied]
    if not counts.size:
        raise ValueError("the table holds no people: all counts are zero.")
    columns = [used(column, occupied) for column in rows.columns]
    ends = [0, n_control, n_control + n_sensitive, len(columns)]
    axes, places = [], []
    for start, stop in pairwise(ends):
        keys, place = distinct_keys(columns[start:stop], counts.size)
        axes.append(keys)
        places.append(place)
    shape = tuple(len(keys) for keys in axes)
    if math.prod(shape) > TABLE_LIMIT:
        raise ValueError(
            f"{shape[0]:,} strata x {shape[1]:,} groups x {shape[2]:,} cells are too many to "
            "count: group the values of the features, or round the scores."
        )
    dense = np.zeros(shape, dtype=np.int64)
    np.add.at(dense, tuple(places), counts)
    if rows.weights is None:
        return dense, None, axes
    weights = np.zeros((*shape, 2))
    np.add.at(weights, tuple(places), rows.weights[occupied])
    return dense, weights, axes


def used(column: Column, rows: Booleans | Positions) -> Column:
    """Some rows of a column, with the levels that occur in them."""
    place, first = distinct([column.codes[rows]], [len(column.levels)])
    levels = tuple(column.levels[i] for i in column.codes[rows][first].tolist())
    return Column(column.name, levels, place, categorical=column.categorical)


def distinct_keys(columns: Sequence[Column], n_rows: int) -> tuple[tuple[Key, ...], Positions]:
    """The distinct combinations in sorted order, and which of them each row has."""
    if not columns:
        return ((),), np.zeros(n_rows, dtype=np.uint8)
    if len(columns) == 1:  # every level of a column occurs
        return tuple((level,) for level in columns[0].levels), columns[0].codes
    place, first = distinct([column.codes for column in columns], [len(column.levels) for column in columns])
    values = [[column.levels[i] for i in column.codes[first].tolist()] for column in columns]
    return tuple(zip(*values, strict=True)), small(place, len(first))


def name_list(names: str | Iterable[str] | None, parameter: str) -> tuple[str, ...]:
    """Return column names as a tuple: one name, several, or none."""
    if names is None:
        return ()
    several = tuple(names) if isinstance(names, Iterable) and not isinstance(names, str) else (names,)
    for name in several:
        if not isinstance(name, str):
            raise ParameterError(f"{parameter} takes names of columns (strings), found {name!r}.")
        if several.count(name) > 1:
            raise ParameterError(f"{parameter} lists {name!r} twice.")
    return several


def read_counted(
    data: Any, count: str, names: Sequence[str] | None, wanted: Sequence[tuple[str, str]]
) -> tuple[list[Column], Integers]:
    """Read columns and their counts from a long-form table or from a mapping of keys to counts."""
    if names is None and isinstance(data, Mapping) and any(isinstance(key, tuple) for key in data):
        raise ParameterError(
            "data is a mapping of keys to counts: name each position of a key, for example names=('sex', 'y_pred')."
        )
    if names is not None:
        table = _split_mapping(data, name_list(names, "names"), count)
    elif data is None or isinstance(data, (str, bytes)) or not is_table(data):
        raise ParameterError(
            f"data must be a frame, a mapping of names to columns or a mapping of keys to "
            f"counts, found type {type(data).__name__}."
        )
    else:
        table = {str(name): values for name, values in split_table(data, "data")}
    for parameter, name in (("count", count), *wanted):
        if not isinstance(name, str) or name not in table:
            raise ParameterError(f"{parameter}={name!r} is not a column of data, which has {listed(table)}.")
    columns = [read_column(table[name], parameter, name=name) for parameter, name in wanted]
    counted = read_column(table[count], "count", name=count)
    if len({len(counted), *map(len, columns)}) > 1:
        lengths = {column.name: len(column) for column in (counted, *columns)}
        raise ParameterError(f"data has columns of different lengths {lengths}.")
    counts = as_counts(counted.levels, f"count (column {count!r})")
    return columns, counts[counted.codes]


def _split_mapping(data: Any, names: tuple[str, ...], count: str) -> dict[str, Any]:
    if not isinstance(data, Mapping) or not data:
        raise ParameterError(
            "names is only for a mapping of keys to counts, such as {('f', 1): 12, ('m', 1): 20}; "
            f"found {'an empty mapping' if isinstance(data, Mapping) else type(data).__name__}."
        )
    keys = [key if isinstance(key, tuple) else (key,) for key in data]
    for key in keys:
        if len(key) != len(names):
            raise ParameterError(
                f"data has the key {key!r} of {len(key)} values, but names has {len(names)}: {listed(names)}."
            )
    if count in names:
        raise ParameterError(f"names contains {count!r}, which stands for the counts: rename it.")
    table: dict[str, Any] = {name: list(values) for name, values in zip(names, zip(*keys, strict=True), strict=True)}
    return {**table, count: list(data.values())}


def as_counts(values: Iterable[Any], parameter: str) -> Integers:
    """Return numbers of people as int64."""
    values = list(values)
    for value in values:
        is_real = isinstance(value, numbers.Real) and not isinstance(value, bool)
        if not is_real or value < 0 or not float(value).is_integer():
            raise ParameterError(
                f"{parameter} must hold numbers of people, whole and not negative; found {brief(value)}."
            )
    whole = [int(value) for value in values]
    check_total(max(whole, default=0))
    return np.array(whole, dtype=np.int64)
