"""The loss, and the true labels or numbers that it compares the model's outputs with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier, is_regressor

from skfairtest._utils.errors import ParameterError
from skfairtest.individual._losses import LOSSES, Loss, loss_and_unit, loss_of
from skfairtest.individual.models.autograd import is_torch
from skfairtest.readers import Column, Numbers, as_numbers, classes_of
from skfairtest.readers.labels import MAX_LABELS
from skfairtest.readers.levels import listed


@dataclass(frozen=True)
class Truth:
    """The truth about the people.

    Parameters
    ----------
    values : ndarray of shape (n,)
        What losses compare with: positions of labels among the classes, numbers, or for a loss of the caller's labels.
    labels : ndarray of shape (n,)
        Labels or numbers as the caller writes them.
    groups : ndarray of shape (n,) or None
        Groups, where the model needs them; an unfair example is in the same group as the person.
    """

    values: NDArray[Any]
    labels: NDArray[Any]
    groups: NDArray[Any] | None = None

    def take(self, people: Any) -> Truth:
        """Return the truth about some people."""
        groups = None if self.groups is None else self.groups[people]
        return Truth(self.values[people], self.labels[people], groups)


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
    default = getattr(estimator, "default_loss", "auto") if isinstance(loss, str) and loss == "auto" else loss
    found = loss_of(default, kind, name)
    if statistic == "error_rate_ratio" and (kind or found.kind) == "regressor":
        raise ParameterError(
            f"statistic='error_rate_ratio' counts wrong labels, and estimator={name}() predicts numbers: use "
            "'loss_ratio', 'ratio_of_means' or 'log_ratio'"
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
