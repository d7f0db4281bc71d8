"""The people of a frame, in the form that a test takes: counts where labels suffice, otherwise one by one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from skfairtest.readers import Column, check_labels, read_column, read_values, resolve_pos_label, sort_levels
from skfairtest.tables import Sample
from skfairtest.tables.axes import CELL_NAMES
from skfairtest.tables.rows import tally

#: Names that a table of counts has a use for; MetricFrame lets features have them.
TAKEN = (*CELL_NAMES, "count")


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
    told_apart = [f"feature {name}" if name in TAKEN else name for name in names]
    return tuple(read_column(column, parameter, name=name) for column, name in zip(bare, told_apart, strict=True))


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
    """Return the label that scikit-learn's and fairlearn's functions treat as positive.

    Raises
    ------
    ValueError
        If it is not known.
    """
    if asked is not None:
        return asked
    labels = sort_levels(dict.fromkeys(level for column in columns for level in column.levels))
    return resolve_pos_label(labels, labels[1] if len(labels) == 2 else None)


def count_people(people: Sample, labels: Mapping[str, Column]) -> Sample:
    """Return people by their labels: a few rows, and how many people each stands for."""
    rows = tally([*people.control, *people.sensitive, *labels.values()])
    n_control, n_features = len(people.control), len(people.control) + len(people.sensitive)
    cells = dict(zip(labels, rows.columns[n_features:], strict=True))
    return Sample(cells, rows.columns[n_control:n_features], rows.columns[:n_control], rows.counts)


@dataclass(frozen=True)
class Listed:
    """People one by one: their groups and strata, and labels or targets and predictions of any kind and shape."""

    people: Sample
    y_true: NDArray[Any]
    y_pred: NDArray[Any]
