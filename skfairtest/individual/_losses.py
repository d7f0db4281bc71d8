"""Losses, and what they compare outputs with.

The losses, person by person: one declaration per loss.

A loss is one number per person, computed from the model's outputs; its slope is the derivative with respect to the
outputs. The outputs of a classifier are the logarithms of its probabilities, those of a regressor its predictions.

The loss, and the true labels or numbers that it compares the model's outputs with.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier, is_regressor

from skfairtest._utils.errors import ParameterError
from skfairtest._utils.text import name_of
from skfairtest._utils.typing import Floats
from skfairtest.individual.models.autograd import is_torch
from skfairtest.readers import Column, Numbers, as_numbers, classes_of
from skfairtest.readers.columns import MAX_LABELS
from skfairtest.readers.levels import listed

#: Probabilities are read no closer to 0 and 1 than this, as by ``sklearn.metrics.log_loss``.
CLIP = float(np.finfo(float).eps)
_SMALLEST, _LARGEST = -float(np.log1p(-CLIP)), -float(np.log(CLIP))


@dataclass(frozen=True)
class Loss:
    """A loss per person.

    Parameters
    ----------
    name : str
        What the caller calls it.
    kind : {"classifier", "regressor", None}
        Which models it judges; None: both.
    value : callable
        ``value(truth, outputs)`` of shapes (n,) and (n, k), to (n,): truth is the position of the label among the
        classes, or the true number; outputs are log-probabilities, or predictions of shape (n, 1). A function from the
        caller gets the true labels and the model's outputs unchanged.
    slope : callable or None
        Its derivative with respect to the outputs, of their shape; None where it is not known.
    power : int
        The power of the truth's unit that the loss is proportional to; 0: it has no unit.
    linear : bool
        Whether the slope is the same for all outputs, and depends on their number alone.
    unit : float or None
        What one unit of error is, in units of the truth; None: it has none.
    """

    name: str
    kind: str | None
    value: Callable[[Any, Any], Floats]
    slope: Callable[[Any, Floats], Floats] | None
    power: int = 0
    linear: bool = False
    unit: float | None = None

    @property
    def own(self) -> bool:
        """Whether it is a function from the caller."""
        return self.slope is None

    @property
    def rounding(self) -> float:
        """The largest loss that is only the rounding error of one, in standard deviations of the truth."""
        return float(1e-10**self.power) if self.power else 0.0

    def in_units_of(self, spread: float) -> Loss:
        """Return the loss of errors that are measured in multiples of `spread`."""
        if self.power == 0 or self.slope is None or spread == 0:
            return self
        factor = spread**-self.power
        value, slope = partial(_times, factor, self.value), partial(_times, factor, self.slope)
        return replace(self, value=value, slope=slope, unit=spread)


def _times(factor: float, function: Callable[[Any, Any], Floats], truth: Any, outputs: Any) -> Floats:
    return np.asarray(factor * function(truth, outputs))


def _log_loss(truth: Any, outputs: Floats) -> Floats:
    chosen = outputs[np.arange(len(outputs)), truth]
    return np.asarray(np.clip(-chosen, _SMALLEST, _LARGEST))


def _log_loss_slope(truth: Any, outputs: Floats) -> Floats:
    return np.asarray(_slopes(outputs.shape[1]).take(truth, axis=0))


@cache
def _slopes(n_classes: int) -> Floats:
    """Of each label, a row per class: -1 for its own logarithm, and 0."""
    return -np.eye(n_classes)


def _squared_error(truth: Any, outputs: Floats) -> Floats:
    return np.asarray((truth - outputs[:, 0]) ** 2)


def _squared_error_slope(truth: Any, outputs: Floats) -> Floats:
    return np.asarray(2 * (outputs - truth[:, None]))


def _absolute_error(truth: Any, outputs: Floats) -> Floats:
    return np.asarray(np.abs(truth - outputs[:, 0]))


def _absolute_error_slope(truth: Any, outputs: Floats) -> Floats:
    return np.asarray(np.sign(outputs - truth[:, None]))


def _zero_one_loss(truth: Any, outputs: Floats) -> Floats:
    return np.asarray(np.maximum(-np.expm1(outputs[np.arange(len(outputs)), truth]), 0.0) + 0.0)  # never -0.0


def _zero_one_loss_slope(truth: Any, outputs: Floats) -> Floats:
    return np.asarray(_slopes(outputs.shape[1]).take(truth, axis=0) * np.exp(outputs))


LOSSES = {
    loss.name: loss
    for loss in (
        Loss("log_loss", "classifier", _log_loss, _log_loss_slope, linear=True),
        Loss("zero_one_loss", "classifier", _zero_one_loss, _zero_one_loss_slope),
        Loss("squared_error", "regressor", _squared_error, _squared_error_slope, 2),
        Loss("absolute_error", "regressor", _absolute_error, _absolute_error_slope, 1),
    )
}
#: What "auto" is, for each kind of model.
DEFAULT = {"classifier": "log_loss", "regressor": "squared_error"}


def _own_loss(function: Callable[[Any, Any], Any], truth: Any, outputs: Any) -> Floats:
    """Call the caller's function, and check that it returns one number per person, none of them NaN or negative."""
    values = np.asarray(function(truth, outputs), dtype=float)
    if values.shape != (len(outputs),):
        raise ParameterError(
            f"loss={name_of(function)} must return one number per person, shape ({len(outputs)},); it returned shape "
            f"{values.shape}"
        )
    wrong = ~(values >= 0) | np.isinf(values)
    if wrong.any():
        raise ParameterError(
            f"loss={name_of(function)} must return finite numbers of at least 0; it returned {values[wrong][0]} for "
            f"{int(wrong.sum()):,} of {len(values):,} people"
        )
    return values


def loss_and_unit(loss: Any) -> tuple[Any, float | None]:
    """Return the name of a loss, and the unit of errors that came with it.

    Raises
    ------
    ValueError
        If the unit is not a finite number above 0.
    """
    if not (isinstance(loss, tuple) and len(loss) == 2):
        return loss, None
    name, unit = loss
    if not isinstance(unit, Real) or isinstance(unit, bool) or not 0 < float(unit) < np.inf:
        raise ParameterError(f"loss={loss!r}: the unit of errors must be a finite number above 0; found {unit!r}")
    return name, float(unit)


def loss_of(loss: Any, kind: str | None, estimator: str) -> Loss:
    """Return the loss that a name or a function stands for.

    Parameters
    ----------
    loss : {"auto", "log_loss", "zero_one_loss", "squared_error", "absolute_error"} or callable
        As the caller gave it.
    kind : {"classifier", "regressor", None}
        What the model is; None: unknown.
    estimator : str
        Its class, for error messages.

    Raises
    ------
    ValueError
        If there is no such loss, or it is for another kind of model.
    """
    if callable(loss):
        return Loss(name_of(loss), None, partial(_own_loss, loss), None)
    if isinstance(loss, str) and loss == "auto":
        return LOSSES[DEFAULT[kind or "classifier"]]
    loss, unit = loss_and_unit(loss)
    if not (isinstance(loss, str) and loss in LOSSES) or (unit is not None and LOSSES[loss].power == 0):
        with_unit = ", ".join(f"({name!r}, unit of y)" for name, known in LOSSES.items() if known.power)
        raise ParameterError(
            f"loss must be 'auto', {', '.join(map(repr, LOSSES))}, {with_unit}, or a function loss(y_true, y_pred) "
            f"that returns one number per person; found {loss if unit is None else (loss, unit)!r}"
        )
    found = LOSSES[loss]
    if kind is not None and found.kind != kind:
        predicts = "predicts numbers" if kind == "regressor" else "predicts classes"
        raise ParameterError(
            f"loss={loss!r} judges {found.kind}s, and estimator={estimator}() {predicts}: use "
            f"loss={DEFAULT[kind]!r}, or 'auto'"
        )
    return found


@dataclass(frozen=True)
class Truth:
    """The truth about the people.

    Parameters
    ----------
    values : ndarray of shape (n,)
        What losses compare with: positions of labels among the classes, numbers, or for a loss of the caller's labels.
    labels : ndarray of shape (n,)
        Labels or numbers as the caller writes them.
    """

    values: NDArray[Any]
    labels: NDArray[Any]

    def take(self, people: Any) -> Truth:
        """Return the truth about some people."""
        return Truth(self.values[people], self.labels[people])


def kind_of(estimator: Any, loss: Any) -> str | None:
    """Return "classifier" or "regressor", as the model declares or as its loss implies; None: unknown."""
    name = loss_and_unit(loss)[0]
    judged = LOSSES[name].kind if isinstance(name, str) and name in LOSSES else None
    if hasattr(estimator, "__sklearn_tags__"):
        return "classifier" if is_classifier(estimator) else "regressor" if is_regressor(estimator) else judged
    return "classifier" if hasattr(estimator, "predict_proba") else judged


def read_truth(
    estimator: Any, loss: Any, statistic: str, kind: str | None, y_true: Column | Numbers
) -> tuple[Loss, Truth, tuple[Any, ...] | None]:
    """Find the loss, and what it compares the outputs with.

    Parameters
    ----------
    estimator, loss, statistic : object
        As the caller gave them.
    kind : {"classifier", "regressor", None}
        What the estimator is.
    y_true : Column or Numbers
        True labels or targets.

    Returns
    -------
    loss : Loss
        In units of the spread of numbers, or in those that came with it.
    truth : Truth
        Of everybody.
    classes : tuple or None
        The classes that positions refer to; None where the loss takes no classes.

    Raises
    ------
    ValueError
        If there is no such loss, it is for another kind of model, or it does not fit the labels.
    """
    name = type(estimator).__name__
    found = loss_of(loss, kind, name)
    if statistic == "error_rate_ratio" and (kind or found.kind) == "regressor":
        raise ParameterError(
            f"statistic='error_rate_ratio' counts wrong labels, and estimator={name}() predicts numbers: use "
            "'loss_ratio' or 'ratio_of_means'"
        )
    labels = y_true.values
    if found.own:
        return found, Truth(labels, labels), None
    if found.kind == "classifier":
        assert isinstance(y_true, Column)
        classes = _classes(estimator, y_true)
        unknown = [level for level in y_true.levels if level not in classes]
        if unknown:
            raise ParameterError(
                f"y has labels that estimator={name}() does not know, {listed(unknown)}: it knows {listed(classes)}"
            )
        positions = np.array([classes.index(level) for level in y_true.levels], dtype=np.intp)
        return found, Truth(positions[y_true.codes], labels), classes
    numbers = as_numbers(y_true)
    if numbers is None:
        assert isinstance(y_true, Column)
        raise ParameterError(f"y must hold numbers for estimator={name}(); found {listed(y_true.levels, 3)}")
    unit = loss_and_unit(loss)[1]
    return found.in_units_of(float(numbers.std()) if unit is None else unit), Truth(numbers, labels), None


def _classes(estimator: Any, y_true: Column) -> tuple[Any, ...]:
    """Return the classes of the model; if it has none, whole numbers from 0, or the labels in the data."""
    known = classes_of(estimator)
    if known is not None:
        return known
    if is_torch(estimator) and not all(isinstance(level, int) for level in y_true.levels):
        raise ParameterError(
            f"y must hold the positions of outputs, from 0, for estimator={type(estimator).__name__}(), a torch module "
            f"without classes_; found {listed(y_true.levels, 5)}. If the module predicts numbers, pass "
            "loss='squared_error'"
        )
    if all(isinstance(level, int) and 0 <= level <= MAX_LABELS for level in y_true.levels):
        return tuple(range(max(1, *y_true.levels) + 1))
    return y_true.levels
