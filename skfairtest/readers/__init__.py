"""Containers and estimators -> plain arrays: codes, levels, labels, predictions."""

from skfairtest.readers.columns import (
    LABELS,
    MAX_GROUPS,
    WARN_GROUPS,
    Column,
    Numbers,
    check_classes,
    check_labels,
    check_same_people,
    check_vocabularies,
    is_fraction,
    read_column,
    read_columns,
    resolve_pos_label,
)
from skfairtest.readers.containers import check_names_of_columns, given_to_fit, in_memory, named_columns, one_column
from skfairtest.readers.levels import as_floats, distinct, is_label, other_labels, sort_levels
from skfairtest.readers.numbers import (
    check_magnitude,
    in_intervals,
    read_probabilities,
    read_values,
    read_weights,
)
from skfairtest.readers.predictions import (
    as_model_input,
    ask,
    check_model,
    check_rows,
    classes_of,
    decisions,
    positive_scores,
    predict,
    predictions_from_X,
    scores,
    unknown_groups,
)
