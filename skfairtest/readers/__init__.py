"""Containers and estimators -> plain arrays: codes, levels, labels, predictions."""

from skfairtest.readers.columns import (
    MAX_GROUPS,
    WARN_GROUPS,
    Column,
    Numbers,
    check_same_people,
    read_column,
    read_columns,
)
from skfairtest.readers.containers import check_names_of_columns, given_to_fit, in_memory, named_columns, one_column
from skfairtest.readers.labels import check_labels, resolve_pos_label
from skfairtest.readers.levels import is_label, sort_levels
from skfairtest.readers.numbers import (
    Probabilities,
    as_floats,
    as_numbers,
    check_magnitude,
    in_intervals,
    read_probabilities,
    read_values,
    read_weights,
)
from skfairtest.readers.predictions import (
    as_model_input,
    ask,
    check_rows,
    classes_of,
    decisions,
    positive_scores,
    predict,
    predictions_from_X,
    scores,
    unknown_groups,
)
from skfairtest.readers.score_bins import ScoreBins

__all__ = [
    "MAX_GROUPS", "WARN_GROUPS", "Column", "Numbers", "Probabilities", "ScoreBins", "as_floats", "as_model_input",
    "as_numbers", "ask", "check_labels", "check_magnitude", "check_names_of_columns", "check_rows", "check_same_people",
    "classes_of", "decisions", "given_to_fit", "in_intervals", "in_memory", "is_label", "named_columns", "one_column",
    "positive_scores", "predict", "predictions_from_X", "read_column", "read_columns", "read_probabilities",
    "read_values", "read_weights", "resolve_pos_label", "scores", "sort_levels", "unknown_groups",
]  # fmt: skip
