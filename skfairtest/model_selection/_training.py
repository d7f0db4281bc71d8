"""How a model that needs the groups in training gets them, with or without scikit-learn's metadata routing."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from sklearn.pipeline import Pipeline

from skfairtest._utils.errors import ParameterError


def takes_groups(estimator: Any, function: Any) -> bool:
    """Whether a method has the parameter sensitive_features, which fairlearn's reductions hide in ``**kwargs``."""
    if "sensitive_features" in inspect.signature(function).parameters:
        return True
    from fairlearn.reductions import ExponentiatedGradient, GridSearch

    return isinstance(estimator, ExponentiatedGradient | GridSearch) and function.__name__ == "fit"


def groups_of_fit(estimator: Any) -> str | None:
    """Return the name under which `fit` takes the groups, also in a pipeline's last step; None if it takes none."""
    if isinstance(estimator, Pipeline):
        name, last = estimator.steps[-1]
        inner = groups_of_fit(last)
        return None if inner is None else f"{name}__{inner}"
    return "sensitive_features" if takes_groups(estimator, estimator.fit) else None


def fitted(model: Any, X: Any, y: Any, params: Mapping[str, Any]) -> Any:
    """Fit a model; if a model inside it lacks the groups, raise an error that says how to pass them."""
    try:
        return model.fit(X, y, **params)
    except TypeError as error:
        if "sensitive_features" not in str(error):
            raise
        name = type(model).__name__
        raise ParameterError(
            f"estimator={name}(): a model inside needs sensitive_features in training, but {name}.fit does not pass "
            f"them on ({error}). Without routing, pass them to its step, as in fit(..., "
            "step__sensitive_features=groups). With routing enabled, it needs "
            "set_fit_request(sensitive_features=True) and a signature that names them: class "
            "Reduction(ExponentiatedGradient) with def fit(self, X, y, *, sensitive_features)."
        ) from error


def has_keywords(parameters: Any) -> bool:
    return any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters.values())
