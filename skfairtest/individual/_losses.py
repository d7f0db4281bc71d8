"""The losses, person by person: one declaration per loss.

A loss is one number per person, computed from the model's outputs; its slope is the derivative with respect to the
outputs. The outputs of a classifier are the logarithms of its probabilities, those of a regressor its predictions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial
from numbers import Real
from typing import Any

import numpy as np

from skfairtest._utils.errors import ParameterError
from skfairtest._utils.text import name_of
from skfairtest._utils.typing import Floats

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
