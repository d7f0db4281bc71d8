"""The metrics of scores and numbers, each with its standard error. A new one is one declaration."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from skfairtest._utils.errors import ParameterError
from skfairtest._utils.typing import Floats
from skfairtest.metrics.functionals import (
    Auc,
    BalancedAccuracy,
    Functional,
    Matthews,
    Mean,
)
from skfairtest.metrics.score_metric import Context, ScoreMetric, shared_codes

UNIT, SIGNED, LOSS, ANY = (0.0, 1.0), (-1.0, 1.0), (0.0, np.inf), (-np.inf, np.inf)
EITHER = ("decision_function", "predict_proba")
PROBABILITY = "predict_proba"


@dataclass(frozen=True)
class BuiltIn(ScoreMetric):
    """A metric whose standard error is known.

    Parameters
    ----------
    build : callable
        The functional of a context.
    columns : tuple of str
        What it reads.
    positive : {"never", "always", "if labels", "if two labels"}
        Whether it asks who is positive. "if labels": numbers are taken as they are, labels are not.
    undefined : str
        Who is missing in a group where it is undefined.
    power : int
        By which power of the numbers that it reads it grows.
    """

    build: Callable[[Context], Functional] = field(default=lambda context: Functional(), repr=False)
    columns: tuple[str, ...] = ("y_true", "y_pred")
    positive: str = "if labels"
    undefined: str = ""
    power: int = 1

    @property
    def reads(self) -> frozenset[str]:
        """Which columns it needs."""
        return frozenset(self.columns)

    @property
    def needs_pos_label(self) -> bool:
        """Whether it always asks who is positive."""
        return self.positive == "always"

    @property
    def scores(self) -> str:
        """The column that is predicted."""
        return "y_score" if "y_score" in self.columns else "y_pred"

    @property
    def slow(self) -> bool:
        """Whether it is evaluated one table at a time."""
        return False

    @property
    def takes_weights(self) -> bool:
        """Whether people may count more or less than one."""
        return True

    @property
    def sort_by(self) -> tuple[str, ...]:
        """Columns by which people are sorted for its evaluation."""
        return tuple(name for name in ("y_true", "y_score") if name in self.columns)

    def check(self, context: Context, masses: Floats) -> None:
        """Accept any people: a group in which a built-in metric is undefined is left out."""

    def functional(self, context: Context) -> Functional:
        """Return the metric of these kinds of people as a function of their counts."""
        return self.build(context)


def numbers(context: Context, name: str) -> Floats:
    """Return a column as numbers; labels become 1 for the positive one and 0 for others.

    Raises
    ------
    ValueError
        If labels are not numbers and nothing says which is positive.
    """
    cells = context.columns[name]
    if context.pos_label is not None:
        return cells.is_label(context.pos_label).astype(float)
    if cells.numbers is None:
        seen = ", ".join(map(repr, cells.levels[:5]))
        raise ParameterError(f"{name} must hold numbers, or two labels one of which is pos_label; found {seen}")
    return cells.numbers


def probabilities(context: Context) -> Floats:
    """Return the scores, which have to be probabilities.

    Raises
    ------
    ValueError
        If they are not.
    """
    score = context.columns["y_score"].numbers
    if score is None:
        seen = ", ".join(map(repr, context.columns["y_score"].levels[:5]))
        raise ParameterError(f"y_score must hold numbers; found {seen}")
    if len(score) and (score.min() < 0 or score.max() > 1):
        raise ParameterError(
            f"y_score must hold probabilities of the positive label, between 0 and 1; found {score.min():g} to "
            f"{score.max():g}"
        )
    return score


def _truth(context: Context) -> Floats:
    return context.columns["y_true"].is_label(context.pos_label).astype(float)


def _codes(context: Context) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    true, predicted = (context.columns[name] for name in ("y_true", "y_pred"))
    if not true.levels or not predicted.levels:
        raise ParameterError("y_true and y_pred must hold class labels; found numbers of many different values")
    codes = shared_codes({"y_true": true, "y_pred": predicted})
    return codes["y_true"], codes["y_pred"]


def mean_of(z: Callable[[Context], Floats], bounds: tuple[float, float]) -> Callable[[Context], Functional]:
    """Declare the mean of a value of each person."""
    return lambda context: Mean(z(context), bounds)


def _cross_entropy(context: Context) -> Floats:
    truth, score = _truth(context), probabilities(context)
    smallest = float(np.finfo(score.dtype).eps)
    return np.asarray(-np.log(np.clip(np.where(truth > 0, score, 1 - score), smallest, 1.0)))


def _auc(context: Context) -> Functional:
    score = context.columns["y_score"].numbers
    if score is None:
        seen = ", ".join(map(repr, context.columns["y_score"].levels[:5]))
        raise ParameterError(f"y_score must hold numbers; found {seen}")
    return Auc(_truth(context) > 0, score)


def _balanced_accuracy(context: Context) -> Functional:
    true, predicted = _codes(context)
    # A class that nobody of a group is in has no recall there.
    return BalancedAccuracy(true, true == predicted, len(context.columns["y_true"].levels))


def _mean(
    name: str, z: Callable[[Context], Floats], columns: tuple[str, ...], describes: str, bounds: tuple[float, float],
    power: int = 1,
) -> BuiltIn:  # fmt: skip
    build = mean_of(z, bounds)
    return BuiltIn(name, build, bounds=bounds, describes=describes, columns=columns, build=build, power=power)


def _scored(name: str, z: Callable[[Context], Floats], describes: str, bounds: tuple[float, float]) -> BuiltIn:
    build = mean_of(z, bounds)
    return BuiltIn(
        name, build, None, PROBABILITY, None, bounds, describes, build=build, columns=("y_true", "y_score"),
        positive="always",
    )  # fmt: skip


_ONE_CLASS = "nobody is truly positive, or nobody truly negative"

SCORES: dict[str, BuiltIn] = {
    metric.name: metric
    for metric in (
        _mean("mean_prediction", lambda c: numbers(c, "y_pred"), ("y_pred",), "the mean prediction", ANY),
        _mean(
            "mean_residual", lambda c: numbers(c, "y_true") - numbers(c, "y_pred"), ("y_true", "y_pred"),
            "the mean of true value minus prediction", ANY,
        ),
        _mean(
            "mean_squared_error", lambda c: (numbers(c, "y_true") - numbers(c, "y_pred")) ** 2, ("y_true", "y_pred"),
            "the mean squared error", LOSS, 2,
        ),
        _mean(
            "mean_absolute_error", lambda c: np.abs(numbers(c, "y_true") - numbers(c, "y_pred")),
            ("y_true", "y_pred"), "the mean absolute error", LOSS,
        ),
        _scored("log_loss", _cross_entropy, "the mean negative log-probability of the true label", LOSS),
        _scored("brier_score", lambda c: (_truth(c) - probabilities(c)) ** 2, "the mean squared error of scores", UNIT),
        _scored(
            "calibration", lambda c: _truth(c) - probabilities(c),
            "the share of truly positive people minus the mean score", SIGNED,
        ),
        BuiltIn(
            "roc_auc", _auc, None, EITHER, "y_true", UNIT,
            "the probability that a truly positive person scores above a truly negative one (AUC)",
            build=_auc, columns=("y_true", "y_score"), positive="always", undefined=_ONE_CLASS,
        ),
        BuiltIn(
            "balanced_accuracy", _balanced_accuracy, None, "predict", "y_true", UNIT,
            "the average over true labels of the share predicted correctly", build=_balanced_accuracy,
            positive="never", undefined="nobody has one of the true labels",
        ),
        BuiltIn(
            "matthews_corrcoef", lambda c: Matthews(*_codes(c)), None, "predict", None, SIGNED,
            "the correlation of true and predicted label (Matthews)", build=lambda c: Matthews(*_codes(c)),
            positive="never", undefined="all people have one true, or one predicted, label",
        ),
    )
}  # fmt: skip


def _renamed(name: str, metric: str, describes: str, z: Callable[[Context], Floats] | None = None) -> BuiltIn:
    base = SCORES[metric]
    build = base.build if z is None else mean_of(z, base.bounds)
    return BuiltIn(
        name,
        build,
        bounds=base.bounds,
        describes=describes,
        columns=base.columns,
        build=build,
        positive="if two labels",
    )


#: Hinnefeld et al. 2018, equations 1 and 2, under their own names (a residual is prediction minus truth there).
HINNEFELD_MEANS: dict[str, BuiltIn] = {
    metric.name: metric
    for metric in (
        _renamed("difference_in_means", "mean_prediction", "the mean prediction"),
        _renamed(
            "difference_in_residuals", "mean_residual", "the mean of prediction minus true value",
            lambda c: numbers(c, "y_pred") - numbers(c, "y_true"),
        ),
    )
}  # fmt: skip
