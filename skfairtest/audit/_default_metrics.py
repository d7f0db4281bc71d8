"""The default metrics of an audit, which depend on what is predicted."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import get_tags

from skfairtest._utils.errors import ParameterError
from skfairtest.metrics import SCORES, Metric, resolve_metrics
from skfairtest.metrics.standard import STANDARD
from skfairtest.readers import as_numbers, classes_of, read_values
from skfairtest.tables import Sample


def asked_of(estimator: Any, y: Any, response: str = "auto") -> tuple[list[Metric], set[str]]:
    """Return the metrics of scores that a fitted model allows, and the columns that they need."""
    classes = classes_of(estimator)
    if classes is None and y is not None:  # of a model that does not know its classes
        classes = tuple(getattr(read_values(y, "y"), "levels", ()))
    if _type_of(estimator) == "regressor" or (classes is not None and len(classes) > 2):
        return [], {"y_pred"}
    known = {"predict_proba": ("roc_auc", "calibration"), "decision_function": ("roc_auc",)}
    if response != "auto":  # probabilities, unless they go beyond 0 and 1
        known = {response: ("roc_auc", "calibration")}
    for method, names in known.items():
        if callable(getattr(estimator, method, None)):
            return [SCORES[name] for name in names], {"y_pred", "y_score"}
    return [], {"y_pred"}


def kinds_of(sample: Sample, estimator: Any) -> tuple[set[str], list[tuple[str, str]]]:
    """The kind of prediction, and the standard metrics that have no meaning for it, with the reason.

    As in `sklearn.utils.multiclass.type_of_target`, numbers that are not whole are continuous.

    Raises
    ------
    ValueError
        If predictions are scores of two labels.
    """
    kind = _kind(sample, estimator)
    kinds, without = {kind}, []
    if "y_score" in sample.columns and kind in ("multiclass", "continuous"):
        without = [(name, f"scores of one label say nothing of {kind} predictions") for name in STANDARD["scores"]]
    elif "y_score" in sample.columns:
        kinds.add("scores")
        numbers = as_numbers(sample.columns["y_score"])
        if numbers is not None and len(numbers) and not (numbers.min() >= 0 and numbers.max() <= 1):
            without.append(("calibration", "scores go beyond 0 and 1, so they are no probabilities"))
    return kinds, without


def _kind(sample: Sample, estimator: Any) -> str:
    if "y_pred" not in sample.columns:
        return "scores"
    if _type_of(estimator) == "regressor":
        return "continuous"
    continuous = {name: _is_continuous(sample, name) for name in ("y_true", "y_pred") if name in sample.columns}
    if continuous["y_pred"] and not continuous.get("y_true", True) and len(_levels(sample, "y_true")) <= 2:
        raise ParameterError(
            "y_pred looks like scores, but y_true has two labels: pass the scores as y_score, and the decisions made "
            "from them as y_pred (for example scores >= 0.5, or prediction_threshold=0.5)"
        )
    if continuous.get("y_true") and as_numbers(sample.columns["y_pred"]) is None:
        raise ParameterError("y_true holds numbers but y_pred text: pass predicted numbers, or true labels")
    if any(continuous.values()) and _type_of(estimator) != "classifier":
        return "continuous"
    return "binary" if len(sample.labels) <= 2 else "multiclass"


def _type_of(estimator: Any) -> str | None:
    """Return scikit-learn's type of a model; None for objects that do not declare one."""
    if isinstance(estimator, type) or not hasattr(estimator, "__sklearn_tags__"):
        return None
    found: str | None = get_tags(estimator).estimator_type
    return found


def _levels(sample: Sample, name: str) -> tuple[Any, ...]:
    return tuple(getattr(sample.columns[name], "levels", ()))


def _is_continuous(sample: Sample, name: str) -> bool:
    numbers = as_numbers(sample.columns[name])
    return numbers is not None and bool(np.any(numbers != np.floor(numbers)))


def built_in(name: str) -> Metric | None:
    """The built-in metric of a name, which one says that it is compared by its ratio."""
    try:
        return next((metric for metric in resolve_metrics(name) if metric.name == name.removesuffix("_ratio")), None)
    except ParameterError:
        return None
