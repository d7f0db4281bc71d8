"""Containers and estimators -> plain arrays: codes, levels, labels, predictions."""

from skfairtest.readers.affine import affine
from skfairtest.readers.autograd import autograd, is_torch
from skfairtest.readers.columns import (
    MAX_GROUPS,
    WARN_GROUPS,
    Column,
    Numbers,
    check_same_people,
    read_column,
    read_columns,
)
from skfairtest.readers.features import Features, read_features
from skfairtest.readers.labels import check_labels, resolve_pos_label
from skfairtest.readers.levels import is_label, sort_levels
from skfairtest.readers.numbers import as_floats, as_numbers, check_magnitude, read_values, read_weights
from skfairtest.readers.predictions import (
    as_model_input,
    ask,
    check_rows,
    classes_of,
    predict,
    predictions_from_X,
    scores,
)
from skfairtest.readers.smooth import Smooth, closed_form

__all__ = [
    "MAX_GROUPS",
    "WARN_GROUPS",
    "Column",
    "Features",
    "Numbers",
    "Smooth",
    "affine",
    "as_floats",
    "as_model_input",
    "as_numbers",
    "ask",
    "autograd",
    "check_labels",
    "check_magnitude",
    "check_rows",
    "check_same_people",
    "classes_of",
    "closed_form",
    "is_label",
    "is_torch",
    "predict",
    "predictions_from_X",
    "read_column",
    "read_columns",
    "read_features",
    "read_values",
    "read_weights",
    "resolve_pos_label",
    "scores",
    "sort_levels",
]
