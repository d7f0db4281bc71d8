"""The people of a frame, as a test takes them: counted where labels suffice, else one by one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from skfairtest.group import FairnessTest
from skfairtest.readers import Column, check_labels, read_column, read_values, resolve_pos_label, sort_levels
from skfairtest.tables import CountTable
from skfairtest.tables.axes import CELL_NAMES, column_values
from skfairtest.tables.rows import tally

__all__ = ["Counted", "Features", "Listed", "positive_of", "read_features_of", "read_labels"]

#: Names that a table of counts has a use for; MetricFrame lets features have them.
TAKEN = (*CELL_NAMES, "count")
#: Turns labels into what is tested: the positive one into 1, where the metric asks.
Recode = Callable[[Any], Any]
Key = tuple[Any, ...]


@dataclass(frozen=True)
class Features:
    """Groups and strata of rows, however many people a row stands for."""

    sensitive: tuple[Column, ...]
    control: tuple[Column, ...]

    def place(self, level: Key) -> NDArray[np.intp]:
        """Return the rows of one combination of control features.

        Raises
        ------
        ValueError
            If there are none.
        """
        chosen = np.ones(len(self.sensitive[0]), dtype=bool)
        for column, value in zip(self.control, level, strict=True):
            chosen &= column.codes == next((i for i, known in enumerate(column.levels) if known == value), -1)
        place = np.flatnonzero(chosen)
        if not len(place):
            raise ValueError("no people")
        return place

    def of_groups(self, place: NDArray[np.intp]) -> dict[str, pd.Index[Any]]:
        """Return the sensitive features of some rows, by names that a table of counts can have."""
        return {
            f"feature {column.name}" if column.name in TAKEN else column.name: _values_of(column, place)
            for column in self.sensitive
        }


def _values_of(column: Column, place: NDArray[np.intp]) -> pd.Index[Any]:
    return column_values(column.take(place))


def read_features_of(features: Any, names: Sequence[str] | None, parameter: str) -> tuple[Column, ...]:
    """Read features from every container that MetricFrame takes, row by row as it does.

    Parameters
    ----------
    features : Series, DataFrame, dict, list or array; None
        As MetricFrame was given them. A frame of another library has no names there.
    names : sequence of str or None
        What MetricFrame calls them.
    parameter : str
        The caller's name of `features`, for error messages.

    Returns
    -------
    tuple of Column
        One per name.

    Raises
    ------
    ValueError
        If values are missing.
    """
    if not names:
        return ()
    columns: list[Any]
    if isinstance(features, dict):
        features = pd.DataFrame.from_dict(features)
    if isinstance(features, pd.DataFrame):
        columns = [features.iloc[:, place] for place in range(features.shape[1])]
    elif isinstance(features, pd.Series):
        columns = [features]
    else:
        array = features if isinstance(features, np.ndarray) else np.asarray(features, dtype=object)
        array = np.squeeze(array) if array.size > 1 else array.reshape(-1)
        columns = [array] if array.ndim == 1 else list(array.T)
    # People are paired by their places: an index, which may order them otherwise, says nothing here.
    bare = [column.reset_index(drop=True) if isinstance(column, pd.Series) else column for column in columns]
    return tuple(read_column(column, parameter, name=name) for column, name in zip(bare, names, strict=True))


def read_labels(values: NDArray[Any], name: str) -> Column | None:
    """Return labels that can be counted; None for scores, numbers of many values, and several values per person."""
    if values.ndim != 1:
        return None
    try:
        column = read_values(values, name)
        if not isinstance(column, Column):
            return None
        check_labels(column, name)
    except ValueError:
        return None
    return replace(column, index=None)


def positive_of(columns: Sequence[Column], asked: Any) -> Any:
    """Return the label that scikit-learn's and fairlearn's functions take for positive.

    Raises
    ------
    ValueError
        If that is not settled.
    """
    if asked is not None:
        return asked
    labels = sort_levels(dict.fromkeys(level for column in columns for level in column.levels))
    return resolve_pos_label(labels, classes=labels)


@dataclass(frozen=True)
class Counted:
    """People by the labels that they have: a few rows, and how many people each stands for.

    Parameters
    ----------
    features : Features
        Of the rows.
    cells : mapping of str to Column
        ``y_true`` and ``y_pred``, as far as they are labels.
    counts : ndarray of int
        People.
    """

    features: Features
    cells: Mapping[str, Column]
    counts: NDArray[np.int64]

    @classmethod
    def from_people(cls, features: Features, cells: Mapping[str, Column]) -> Counted:
        """Count people."""
        rows = tally([*features.control, *features.sensitive, *cells.values()])
        n_control, n_cells = len(features.control), len(cells)
        control, sensitive = rows.columns[:n_control], rows.columns[n_control : len(rows.columns) - n_cells]
        labels = dict(zip(cells, rows.columns[len(rows.columns) - n_cells :], strict=True))
        return cls(Features(sensitive, control), labels, rows.counts)

    def fit(self, level: Key, recode: Recode | None = None, **params: Any) -> FairnessTest:
        """Test the people of one combination of control features."""
        place = self.features.place(level)
        groups = self.features.of_groups(place)
        cells = {name: _values_of(_recoded(column, recode), place) for name, column in self.cells.items()}
        data = {**groups, **cells, "count": self.counts[place]}
        table = CountTable.from_counts(data, sensitive_features=list(groups), **{name: name for name in cells})
        return FairnessTest.from_table(table, **params)


def _recoded(column: Column, recode: Recode | None) -> Column:
    if recode is None:
        return column
    new = [recode(level) for level in column.levels]
    return Column(column.name, (0, 1), np.array(new, dtype=np.intp)[column.codes])


@dataclass(frozen=True)
class Listed:
    """People one by one.

    Parameters
    ----------
    features : Features
        Of the people.
    y_true, y_pred : ndarray of shape (n, ...)
        Labels or targets, and predictions of any kind.
    """

    features: Features
    y_true: NDArray[Any]
    y_pred: NDArray[Any]

    def fit(
        self, level: Key, y_true: NDArray[Any], y_pred: NDArray[Any], weight: NDArray[Any] | None = None, **params: Any
    ) -> FairnessTest:
        """Test the people of one combination of control features; labels and predictions are handed over as arrays."""
        place = self.features.place(level)
        return FairnessTest.from_predictions(
            y_true[place],
            y_pred[place],
            sensitive_features=dict(self.features.of_groups(place)),
            sample_weight=None if weight is None else weight[place],
            **params,
        )
