"""Prediction sets and intervals -> whether each contains the true value."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from skfairtest._utils.errors import ParameterError, brief, warn
from skfairtest.readers.columns import Column, check_vocabularies, read_column
from skfairtest.readers.levels import listed, plain_scalar
from skfairtest.readers.numbers import read_values

#: The labels of people who are covered, and of others.
WORDS = ("covered", "missed")
#: Dimensions of sets and intervals; MAPIE adds one for confidence levels.
PLAIN, OF_LEVELS = 2, 3


def covered(asked: Sequence[bool], y_true: Any, y_pred: Any) -> tuple[Any, Any]:
    """Return sets and intervals as labels that agree if the set or interval contains the true value.

    A predicted label is a set of one.

    Examples
    --------
    >>> true, contains = covered([True], [1.0, 5.0], np.array([[0.0, 2.0], [0.0, 2.0]]))
    >>> contains.values.tolist()
    ['covered', 'missed']
    """
    regions: Any = np.asarray(y_pred) if len(getattr(y_pred, "shape", ())) >= PLAIN else np.zeros(0)
    if regions.ndim < PLAIN or not any(asked):
        return y_true, y_pred
    if len(asked) > 1:
        raise ParameterError(
            "metric='coverage' with prediction sets or intervals as y_pred is tested by itself: other metrics need "
            "predicted labels; leave them out"
        )
    if y_true is None:
        raise ParameterError("y_true is missing: coverage says how often a set or interval contains the true value")
    if regions.ndim == OF_LEVELS and regions.shape[2] == 1:
        regions = regions[:, :, 0]
    if regions.ndim != PLAIN:
        raise ParameterError(
            "y_pred must hold one set or interval per person, of shape (n_samples, n_classes) or (n_samples, 2); found "
            f"shape {regions.shape}: choose one confidence level, as in y_pred[:, :, 0]"
        )
    sets = regions.dtype == bool
    truth: Any = (read_column if sets else read_values)(y_true, "y_true")
    if len(truth) != len(regions):
        raise ParameterError(
            f"y_true and y_pred have different lengths, {len(truth):,} and {len(regions):,}: pass one set or interval "
            "per person"
        )
    inside = (_in_sets if sets else _in_intervals)(truth, regions, getattr(y_pred, "columns", None))
    words, index = np.where(inside, *WORDS), getattr(y_pred, "index", None)
    contains = pd.Series(words, index=index) if isinstance(index, pd.Index) else words
    return Column("y_true", WORDS[:1], np.zeros(len(truth), dtype=np.intp), truth.index), read_column(
        contains, "y_pred"
    )


def _in_sets(truth: Any, sets: Any, names: Any) -> Any:
    labels = truth.levels if names is None or isinstance(names, pd.RangeIndex) else tuple(map(plain_scalar, names))
    check_vocabularies({"y_true": truth.levels, "y_pred": labels})
    if len(labels) != sets.shape[1] or not set(truth.levels) <= set(labels):
        raise ParameterError(
            f"y_pred holds sets of {sets.shape[1]} labels, and y_true has {listed(truth.levels)}: name the columns by "
            "their labels, as in pd.DataFrame(sets, columns=model.classes_)"
        )
    place = np.array([labels.index(level) for level in truth.levels], dtype=np.intp)
    return sets[np.arange(len(sets)), place[truth.codes]]


def _in_intervals(truth: Any, ends: Any, names: Any) -> Any:
    if ends.shape[1] != PLAIN or ends.dtype.kind not in "iuf" or np.isnan(ends).any():
        raise ParameterError(
            "y_pred must hold intervals, two columns of numbers without missing ones, or sets, a column of booleans "
            f"for each label; found shape {ends.shape} of {ends.dtype}"
        )
    if isinstance(truth, Column) and len(truth.levels) <= PLAIN and np.isin(ends, [0, 1]).all():
        raise ParameterError(
            "y_pred has two columns that hold only 0 and 1, and y_true at most two labels: if these are sets, pass "
            "them as booleans, y_pred.astype(bool); if they are intervals, widen them to (lower - 0.5, upper + 0.5)"
        )
    if truth.numbers is None:
        raise ParameterError(f"y_true must hold numbers, as the intervals do; found {brief(truth.levels[0])}")
    if crossed := int((ends[:, 0] > ends[:, 1]).sum()):
        found = f"y_pred: the lower end lies above the upper one in {crossed:,} of {len(ends):,} intervals"
        if 2 * crossed > len(ends):
            raise ParameterError(f"{found}: the columns are (lower, upper)")
        warn(f"{found}, which are empty and contain no value: sort the ends if quantiles cross")
    return (ends[:, 0] <= truth.numbers) & (truth.numbers <= ends[:, 1])
