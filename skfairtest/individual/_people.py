"""Who is tested: the same people in every argument, and who of them has to be left out."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from skfairtest._utils.errors import ParameterError
from skfairtest._utils.stacklevel import find_stack_level
from skfairtest._utils.text import pluralize
from skfairtest.individual._check import spread_of
from skfairtest.individual.models.features import Features, read_features
from skfairtest.readers import (
    Column,
    Numbers,
    check_rows,
    read_column,
    read_columns,
    read_values,
)

#: What to do about a model whose first step encodes.
ENCODED = (
    "Of a Pipeline whose first step does so, test the rest: IndividualFairnessTest(pipeline[1:]).fit(encoded, y, "
    "sensitive_features=...), with encoded = pipeline[:1].transform(X), as an array (.toarray() if it is sparse) or, "
    "for names, pd.DataFrame(..., columns=pipeline[:1].get_feature_names_out())."
)
#: Columns whose standard deviations differ by more than this factor have other units.
SPREAD = 100


@dataclass(frozen=True)
class People:
    """The people of a test.

    Parameters
    ----------
    features : Features
        Their features, none of them missing.
    y_true : Column or Numbers
        Their true labels or targets.
    sensitive : tuple of Column or None
        Their sensitive features.
    names : ndarray of shape (n_samples,)
        The labels of their rows, or their positions, in what the caller passed.
    excluded : DataFrame
        Who was left out, and why.
    """

    features: Features
    y_true: Column | Numbers
    sensitive: tuple[Column, ...] | None
    names: NDArray[Any]
    excluded: pd.DataFrame


def people_of(X: Any, y: Any, sensitive_features: Any, *, numbers: bool) -> People:
    """Read the people, as many in every argument, and leave out, saying so, who has a missing feature.

    Parameters
    ----------
    X, y, sensitive_features : object
        As the caller passed them.
    numbers : bool
        Whether y holds numbers; otherwise labels.

    Raises
    ------
    ValueError
        If something is not usable, lengths differ, or fewer than two people are left.
    """
    if y is None:
        raise ParameterError("y is missing: an unfair example is where the model errs more about the true label")
    features = read_features(X, advice=ENCODED)
    y_true: Column | Numbers = read_values(y, "y") if numbers else read_column(y, "y", name="y")
    sensitive = None
    if sensitive_features is not None:
        sensitive = read_columns(sensitive_features, "sensitive_features", default_name="sensitive_feature")
    check_rows(X, y=y_true, sensitive_features=sensitive)
    names = np.asarray(features.index if features.index is not None else np.arange(len(features)))
    people = _complete(People(features, y_true, sensitive, names, pd.DataFrame({"person": names[:0], "reason": []})))
    if len(people.names) < 2:
        raise ParameterError(
            f"X has {pluralize(len(people.names), 'sample')}, and a standard error needs at least 2 people"
        )
    return people


def _complete(people: People) -> People:
    """Leave out who has a missing feature: nobody knows where people similar to them are."""
    features = people.features
    missing = np.asarray(np.isnan(features.values).any(axis=1))
    if not missing.any():
        return people
    if missing.all():
        raise ParameterError("X has a missing value in every row: nobody is left to be moved. Impute before the test.")
    warnings.warn(
        f"X has missing values: {pluralize(int(missing.sum()), 'person', 'people')} left out, see excluded_; nobody "
        "knows where people similar to them are. Impute before the test to keep them.",
        UserWarning,
        stacklevel=find_stack_level(),
    )
    lacking = [
        ", ".join(name for name, none in zip(features.names, row, strict=True) if none)
        for row in np.isnan(features.values[missing])
    ]
    index = None if features.index is None else features.index[~missing]
    return People(
        replace(features, values=features.values[~missing], index=index),
        people.y_true.take(~missing),
        None if people.sensitive is None else tuple(column.take(~missing) for column in people.sensitive),
        people.names[~missing],
        pd.DataFrame({"person": people.names[missing], "reason": [f"missing: {columns}" for columns in lacking]}),
    )


def gone_outside(values: NDArray[np.float64], ends: NDArray[np.float64]) -> tuple[int, float]:
    """Return how many features somebody took beyond where anybody was, and how far, in lengths of that range.

    Examples
    --------
    >>> gone_outside(np.array([[0.0, 0.0], [1.0, 2.0]]), np.array([[0.5, 0.0], [1.0, 8.0]]))
    (1, 3.0)
    """
    low, high = values.min(axis=0), values.max(axis=0)
    length = np.where(high > low, high - low, 1.0)
    beyond = np.maximum(ends - high, low - ends).max(axis=0) / length
    return int((beyond > 1e-9).sum()), float(max(beyond.max(), 0.0))


def warn_of_units(features: Features, frozen: NDArray[np.bool_]) -> None:
    """Say that distances add up what has different units."""
    spread = spread_of(features.values)
    # Of 0 and 1 the spread says how rare they are, and nothing of their unit.
    marks = np.isin(features.values, (0.0, 1.0)).all(axis=0)
    counted = np.flatnonzero((spread > 0) & ~frozen & ~marks)
    if len(counted) < 2:
        return
    small, large = counted[np.argmin(spread[counted])], counted[np.argmax(spread[counted])]
    if spread[large] > SPREAD * spread[small]:
        warnings.warn(
            f"X has features of very different units: the standard deviation of {features.names[large]!r} is "
            f"{spread[large]:.3g}, of {features.names[small]!r} {spread[small]:.3g}, and distances and steps add them "
            "up. Use feature_scale='std', or scale before the test",
            UserWarning,
            stacklevel=find_stack_level(),
        )
