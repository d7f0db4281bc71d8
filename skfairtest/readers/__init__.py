"""Containers and estimators -> plain arrays: codes, levels, labels, predictions."""

from skfairtest.readers.columns import (
    MAX_GROUPS,
    WARN_GROUPS,
    Column,
    check_same_people,
    read_column,
    read_columns,
)
from skfairtest.readers.labels import check_labels, resolve_pos_label
from skfairtest.readers.levels import sort_levels
from skfairtest.readers.predictions import classes_of, predict, predictions_from_X

__all__ = [
    "MAX_GROUPS",
    "WARN_GROUPS",
    "Column",
    "check_labels",
    "check_same_people",
    "classes_of",
    "predict",
    "predictions_from_X",
    "read_column",
    "read_columns",
    "resolve_pos_label",
    "sort_levels",
]
