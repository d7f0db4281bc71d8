"""Classes of other packages, recognised by their names: importing every package that a model may use takes time.

An object of a class that was never imported does not exist.
"""

from typing import Any

from skfairtest.readers.predictions import path_of


def is_of(kind: type, package: str, *names: str) -> bool:
    """Return whether a class is one of those that a package has under these names; derived classes are not.

    Examples
    --------
    >>> from sklearn.decomposition import PCA
    >>> is_of(PCA, "sklearn", "PCA", "FastICA"), is_of(PCA, "sklearn", "BaseEstimator")
    (True, False)
    """
    return kind.__name__ in names and kind.__module__.split(".")[0] == package


def derives(model: Any, package: str, *names: str) -> bool:
    """Return whether an object is an instance of a class of a package, or of a class derived from it.

    Examples
    --------
    >>> from sklearn.decomposition import PCA
    >>> derives(PCA(), "sklearn", "BaseEstimator"), derives(PCA(), "torch", "Module")
    (True, False)
    """
    return any(is_of(base, package, *names) for base in type(model).__mro__)


def path_of_probabilities(estimator: Any) -> list[Any]:
    """Return an estimator, the model whose probabilities or numbers it passes on, and so on inwards.

    A classifier that only sets a threshold has the probabilities of the model that it wraps.
    """
    path = path_of(estimator)
    while (inner := _wrapped(path[-1])) is not None:
        path += path_of(inner)
    return path


def _wrapped(model: Any) -> Any:
    if derives(model, "sklearn", "FixedThresholdClassifier", "TunedThresholdClassifierCV"):
        return getattr(model, "estimator_", None)
    return getattr(model, "regressor_", None) if derives(model, "sklearn", "TransformedTargetRegressor") else None
