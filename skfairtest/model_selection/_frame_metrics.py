"""How a metric passed to a MetricFrame is tested: as a built-in metric, or as a function."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np
import pandas as pd
from fairlearn.metrics import count
from numpy.typing import NDArray

from skfairtest._utils.errors import ParameterError
from skfairtest.metrics import BuiltIn, Rate, resolve_metrics
from skfairtest.metrics.score_metric import parameters_of


@dataclass(frozen=True)
class KnownMetric:
    """A function that computes a built-in metric.

    Parameters
    ----------
    function : callable
        The function, without its arguments about labels. The metric itself holds functions, which do not pickle.
    reads : frozenset of str
        Columns that it needs.
    asks : bool
        Whether it needs the positive label.
    pos_label : object
        The label that the function treats as positive; None where the function infers it from the labels.
    """

    function: Callable[..., Any]
    reads: frozenset[str]
    asks: bool
    pos_label: Any


@dataclass(frozen=True)
class MetricOf:
    """One metric of a frame.

    Parameters
    ----------
    name : object
        What the frame calls it.
    function : callable or None
        What computes it; None if everything was computed before it was dropped.
    params : mapping of str to ndarray
        Its sample parameters.
    """

    name: Any
    function: Callable[..., Any] | None = field(repr=False)
    params: Mapping[str, NDArray[Any]] = field(default_factory=dict, repr=False)

    @cached_property
    def known(self) -> KnownMetric | None:
        """The equivalent built-in metric, if any; weights are the only sample parameter it may have."""
        return _known_metric(self.function) if set(self.params) <= {"sample_weight"} else None

    @property
    def counts_people(self) -> bool:
        """Whether it is the size of a group."""
        return self.function is count


def _known_metric(function: Callable[..., Any] | None) -> KnownMetric | None:
    if function is None:
        return None
    known, positive = function, None
    if isinstance(function, partial):
        others = dict(function.keywords)
        positive = others.pop("pos_label", None)
        known = partial(function.func, *function.args, **others) if others or function.args else function.func
    try:
        found = resolve_metrics(known)
    except ValueError:  # it needs another argument
        return None
    metric = found[0]
    if len(found) > 1 or not isinstance(metric, Rate | BuiltIn) or metric.disparity is not None:
        return None  # a ratio of groups is no metric of one group
    if positive is None:
        signature = inspect.signature(function).parameters
        positive = signature["pos_label"].default if "pos_label" in signature else None
    return KnownMetric(known, metric.reads, metric.needs_pos_label, positive)


def check_of_counts(functions: Mapping[Any, Callable[..., Any]]) -> None:
    """Refuse functions that cannot be computed from counts of people.

    Raises
    ------
    ValueError
        If one takes no weights.
    """
    for name, function in functions.items():
        if function is not count and "sample_weight" not in parameters_of(function):
            called = "" if name is None else f" {name!r}"
            raise ParameterError(
                f"metrics: the function{called} takes no sample_weight, but a table holds people only as counts"
            )


def sum_of_weights(y_true: Any, y_pred: Any, sample_weight: Any) -> Any:
    """Return the number of people who were counted: ``fairlearn.metrics.count`` of a table."""
    return np.sum(sample_weight)


# Functions as a test calls them ----------------------------------------------------------------


def _quietly(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call a function without warnings: any warning in a resample was shown for the people themselves."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*args, **kwargs)


@dataclass(frozen=True)
class _OfWeightedKinds:
    function: Callable[..., Any]

    def __call__(
        self, y_true: NDArray[Any], y_pred: NDArray[Any], sample_weight: NDArray[np.float64] | None = None
    ) -> Any:
        return _quietly(self.function, y_true, y_pred, sample_weight=sample_weight)


def of_kinds(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of labels and predictions whose signature shows only whether it takes weights."""
    return _OfWeightedKinds(function) if "sample_weight" in parameters_of(function) else partial(_quietly, function)


@dataclass(frozen=True)
class OfRows:
    """A function of people as a function of their row numbers.

    In this way, whatever a MetricFrame can evaluate, with any sample parameters and predictions of any shape, becomes a
    metric of one number per person, the row number. Rows that occur twice in a resample are passed twice.

    Parameters
    ----------
    function : callable
        ``function(y_true, y_pred, **params)``.
    y_true, y_pred : ndarray of shape (n, ...)
        Of everybody.
    params : mapping of str to ndarray of shape (n,)
        Of everybody.
    """

    function: Callable[..., Any]
    y_true: NDArray[Any] = field(repr=False)
    y_pred: NDArray[Any] = field(repr=False)
    params: Mapping[str, NDArray[Any]] = field(default_factory=dict, repr=False)

    def __call__(self, y_true: NDArray[Any], y_pred: NDArray[Any]) -> Any:
        """Evaluate the function for the rows whose numbers are passed as predictions."""
        rows = np.asarray(y_pred).astype(np.intp)
        params = {name: values[rows] for name, values in self.params.items()}
        return _quietly(self.function, self.y_true[rows], self.y_pred[rows], **params)


def as_evaluated(values: Any) -> NDArray[Any]:
    """Return the values of everybody as MetricFrame reads them, a copy: superfluous dimensions are dropped."""
    array = np.array(values)
    return np.squeeze(array) if array.size > 1 else array.reshape(array.size)


def stacked(values: NDArray[Any]) -> NDArray[Any]:
    """Return the values of everybody as MetricFrame passes them to a function: objects in the dtype that fits all."""
    return values if values.dtype.kind in "biufc" else np.stack(list(pd.Series(list(values))))
