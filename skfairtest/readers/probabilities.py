"""Probabilities of groups, one column for each group, in place of labels."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from skfairtest._utils.errors import ParameterError
from skfairtest._utils.typing import Floats
from skfairtest.readers.columns import read_column
from skfairtest.readers.containers import check_lengths, check_names, is_table, split_table
from skfairtest.readers.levels import sort_levels
from skfairtest.readers.numbers import as_numbers

#: How far from one the probabilities of a person may add up: those of files are rounded.
ROUNDED = 0.01


@dataclass(frozen=True, eq=False)
class Probabilities:
    """The probability of each group for each person.

    Parameters
    ----------
    groups : tuple of str
        The groups, sorted.
    values : ndarray of shape (n, n_groups)
        Probabilities, which add up to one for each person.
    index : pandas Index or None
        The index they came with.
    """

    groups: tuple[str, ...]
    values: Floats = field(repr=False)
    index: Any = field(default=None, repr=False)

    def __len__(self) -> int:
        """Return the number of people."""
        return len(self.values)

    @property
    def are_labels(self) -> bool:
        """Whether everyone's group is certain."""
        return bool(((self.values == 0) | (self.values == 1)).all())


def read_probabilities(data: Any, parameter: str) -> Probabilities:
    """Read a table with a column of probabilities for each group.

    Parameters
    ----------
    data : frame, mapping of names to columns, or array of shape (n, n_groups)
        Rows add up to one, within rounding, and are divided by their sums.
    parameter : str
        The caller's name of `data`, for error messages.

    Raises
    ------
    ValueError
        If there are fewer than two columns, or values are missing, are no probabilities or do not add up to one.

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
    read = [(name or f"group_{place}", values) for place, (name, values) in enumerate(split_table(data, parameter))]
    instead = "leave these people out of every argument, or give them the shares of groups among all people"
    columns = {name: read_column(values, parameter, name=name, instead=instead) for name, values in read}
    if len(columns) < 2:
        raise ParameterError(f"{parameter} needs a column of probabilities for each of two or more groups")
    check_names([name for name, _ in read], parameter)
    check_lengths({name: len(column) for name, column in columns.items()}, parameter)
    groups = sort_levels(columns)
    values = []
    for name in groups:
        found = as_numbers(columns[name])
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
