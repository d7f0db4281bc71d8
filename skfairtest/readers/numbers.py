"""Columns of numbers (scores, targets, weights), their intervals, and probabilities of groups."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from skfairtest._utils.errors import ParameterError
from skfairtest._utils.typing import Floats, Integers
from skfairtest.readers.columns import LEAVE_OUT, MAX_LABELS, Column, Numbers, check_present, column_of, read_columns
from skfairtest.readers.containers import is_table, one_dimensional
from skfairtest.readers.levels import as_floats, listed, sort_levels

#: Among this many values of a column this many different ones are labels, whole numbers more.
LOOKED_AT, FEW, FEW_WHOLE = 10_000, 100, MAX_LABELS
#: What to do about missing true labels.
LABELS_MISSING = (
    "if a random sample, or people drawn with known probabilities, have labels, use LabelledFairnessTest, which also "
    "takes a guess for each person (y_judge); otherwise leave these people out of every argument"
)
#: Values whose third powers are floats, as are those of one over it.
LARGEST_NUMBER = 1e102
#: How many times as large as the smallest positive weight the largest may be.
LARGEST_WEIGHT = 1e50


def read_values(data: Any, parameter: str) -> Column | Numbers:
    """Read one value per person: labels as levels and codes, numbers with many distinct values as they are.

    Examples
    --------
    >>> read_values([0, 1, 1], "y_pred").levels
    (0, 1)
    >>> import numpy as np
    >>> read_values(np.linspace(0, 1, 500), "y_score").values[:3].round(3).tolist()
    [0.0, 0.002, 0.004]
    """
    if isinstance(data, Column | Numbers):
        return data
    instead = LABELS_MISSING if parameter == "y_true" else LEAVE_OUT
    values = one_dimensional(data, parameter)
    kind = values.dtype.kind if type(values) is np.ndarray else ""
    few = FEW if kind == "f" else FEW_WHOLE
    if kind in ("f", "i", "u") and values.size > FEW and len(np.unique(values[:LOOKED_AT])) > few:
        check_present(int(np.isnan(values).sum()), values.size, parameter, instead)
        column, numbers = None, np.asarray(values, dtype=float)
    else:
        column = column_of(data, values, parameter, parameter, instead=instead)
        types = set(map(type, column.levels))
        few = FEW if float in types else FEW_WHOLE
        if not types <= {bool, int, float}:
            return column
        if len(column.levels) <= few and np.isfinite(as_floats(column.levels)).all():
            return column
        numbers = as_floats(column.levels)[column.codes]
    finite = np.isfinite(numbers)
    if not finite.all():
        shown = numbers if column is None else column.values
        raise ParameterError(
            f"{parameter} must hold finite numbers; found {listed(dict.fromkeys(shown[~finite].tolist()), 3)}."
        )
    return Numbers(parameter, numbers, data.index if isinstance(data, pd.Series) else None)


def check_magnitude(columns: Mapping[str, Column | Numbers], power: int = 1) -> None:
    """Check that squares of the columns of a numeric metric can be computed."""
    values = {name: column.numbers for name, column in columns.items()}
    largest = {name: float(np.abs(found).max(initial=0.0)) for name, found in values.items() if found is not None}
    name = max(largest, key=lambda name: largest[name], default="")
    most = LARGEST_NUMBER ** (1 / power)
    if name and largest[name] and not 1 / most <= largest[name] <= most:
        raise ParameterError(
            f"{name} holds numbers of up to {largest[name]:g} in magnitude, too large or too small to compute squares "
            f"and standard errors: rescale {' and '.join(largest)}, so that the largest lies between {1 / most:g} and "
            f"{most:g}."
        )


def read_weights(data: Any, parameter: str = "sample_weight") -> Numbers:
    """Read one weight per person, divided by a power of two if squares would overflow or underflow."""
    column = read_values(data, parameter)
    values = column.numbers
    if values is None:
        assert isinstance(column, Column)
        raise ParameterError(f"{parameter} must hold numbers, found {listed(column.levels, 3)}.")
    negative = int((values < 0).sum())
    if negative:
        raise ParameterError(
            f"{parameter} has {negative:,} negative weight{'s' if negative > 1 else ''}, the smallest "
            f"{values.min():g}: a weight is the number of people that a person stands for, at least 0."
        )
    if not (values > 0).any():
        raise ParameterError(f"{parameter} is 0 for every person: all weights are 0.")
    smallest, largest = float(values[values > 0].min()), float(values.max())
    if smallest < largest / LARGEST_WEIGHT:
        raise ParameterError(
            f"{parameter} holds positive weights from {smallest:g} to {largest:g}: those below "
            f"{largest / LARGEST_WEIGHT:g} are negligible beside the largest. Set them to 0, or leave these people out "
            "of every argument."
        )
    if not 1 / LARGEST_WEIGHT <= smallest <= largest <= LARGEST_WEIGHT:
        values = np.ldexp(values, -int(np.frexp(largest)[1]))
    return Numbers(parameter, values, column.index)


def in_intervals(column: Column, n_bins: int, counts: Integers | None = None) -> tuple[Column, tuple[float, ...]]:
    """Put the numbers of a column into intervals that hold about as many people each.

    Examples
    --------
    >>> from skfairtest.readers.columns import read_column
    >>> age, edges = in_intervals(read_column([17, 20, 25, 31, 34, 60], "age"), 3)
    >>> age.levels, edges
    (('17 to 20', '25 to 31', '34 to 60'), (17.0, 25.0, 34.0, 60.0))
    """
    levels = np.array([*column.levels, None], dtype=object)[:-1]
    is_number = np.array([type(level) in (int, float) for level in levels], dtype=bool)
    if column.categorical or is_number.sum() <= n_bins:
        return column, ()
    # Numbers in their order, then names.
    order = np.concatenate([np.flatnonzero(is_number)[np.argsort(as_floats(levels[is_number]), kind="stable")],
                            np.flatnonzero(~is_number)])  # fmt: skip
    numbers = as_floats(levels[order[: is_number.sum()]])
    codes = np.argsort(order)[column.codes]
    # How many people are below each number: an interval begins where that is nearest to its share of everyone.
    people = np.bincount(codes, counts, minlength=len(levels))[: len(numbers)]
    below = people.cumsum() - people / 2
    starts = np.unique(np.searchsorted(below, people.sum() * np.arange(n_bins) / n_bins))
    starts = starts[starts < len(numbers)]
    place = np.searchsorted(starts, np.arange(len(numbers)), side="right") - 1
    place = np.concatenate([place, len(starts) + np.arange(len(levels) - len(numbers))])
    labels = (*_labels(tuple(levels[order[: len(numbers)]]), numbers, starts), *levels[~is_number])
    edges = (*numbers[starts].tolist(), float(numbers[-1]))
    return replace(column, levels=labels, codes=place[codes], categorical=True), edges


def _labels(levels: tuple[Any, ...], numbers: Floats, starts: Integers) -> tuple[str, ...]:
    ends = [*(starts[1:] - 1).tolist(), len(numbers) - 1]
    if all(type(level) is int for level in levels):
        pairs = [(levels[start], levels[end]) for start, end in zip(starts.tolist(), ends, strict=True)]
        return tuple(f"{low}" if low == high else f"{low} to {high}" for low, high in pairs)
    digits = _digits(np.append(numbers[starts], numbers[-1]))
    shown = [f"{edge:.{digits}g}" for edge in (*numbers[starts], numbers[-1])]
    last = len(starts) - 1
    return tuple(f"{shown[i]} to {'' if i == last else 'below '}{shown[i + 1]}" for i in range(len(starts)))


def _digits(edges: Floats) -> int:
    """The number of digits that distinguish the edges."""
    return next((n for n in range(3, 17) if len({f"{edge:.{n}g}" for edge in edges}) == len(set(edges.tolist()))), 17)


#: How far from one the probabilities of a person may add up: those of files are rounded.
ROUNDED = 0.01


@dataclass(frozen=True, eq=False)
class Probabilities:
    """The probability of each (sorted) group for each person, shape (n, n_groups), with rows that sum to 1."""

    groups: tuple[str, ...]
    values: Floats = field(repr=False)
    index: Any = field(default=None, repr=False)

    def __len__(self) -> int:
        """The number of people."""
        return len(self.values)

    @property
    def are_labels(self) -> bool:
        """Whether everyone's group is certain."""
        return bool(((self.values == 0) | (self.values == 1)).all())


def read_probabilities(data: Any, parameter: str) -> Probabilities:
    """Read a table with a column of probabilities for each group.

    Examples
    --------
    >>> read_probabilities({"m": [0.2, 1.0], "f": [0.8, 0.0]}, "sensitive_features").values
    array([[0.8, 0.2],
           [0. , 1. ]])
    """
    if not is_table(data):
        raise ParameterError(
            f"{parameter} must have a column of probabilities for each group: a frame, a mapping of groups to columns, "
            "or a two-dimensional array; of labels use FairnessTest"
        )
    instead = "leave these people out of every argument, or give them the shares of groups among all people"
    read = read_columns(data, parameter, default_name="group", instead=instead)
    columns = {column.name: column for column in read}
    if len(columns) < 2:
        raise ParameterError(f"{parameter} needs a column of probabilities for each of two or more groups")
    groups = sort_levels(columns)
    values = []
    for name in groups:
        found = columns[name].numbers
        if found is None or found.min(initial=0.0) < 0 or found.max(initial=1.0) > 1:
            raise ParameterError(f"{parameter} (column {name!r}) must hold probabilities between 0 and 1")
        values.append(np.asarray(found, dtype=float))
    together = np.stack(values, axis=1)
    sums = together.sum(axis=1)
    wrong = int((np.abs(sums - 1) > ROUNDED).sum())
    if wrong:
        raise ParameterError(
            f"{parameter}: the probabilities of {wrong:,} of {len(sums):,} people do not add up to 1, the first to "
            f"{sums[np.abs(sums - 1) > ROUNDED][0]:.4g}: pass a column for every group that there is"
        )
    index = next((column.index for column in columns.values() if column.index is not None), None)
    return Probabilities(tuple(groups), together / sums[:, None], index)
