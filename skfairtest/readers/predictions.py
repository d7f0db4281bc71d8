"""What an estimator says: its predictions, its classes, and what stands in for it."""

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from skfairtest.readers.containers import is_table, one_dimensional
from skfairtest.readers.levels import listed, plain_scalar

__all__ = ["classes_of", "predict", "predictions_from_X", "scores"]


def predict(
    estimator: Any,
    X: Any,
    *,
    sensitive_features: Any = None,
    predict_params: Mapping[str, Any] | None = None,
    random_state: int | np.random.RandomState | np.random.Generator | None = None,
) -> NDArray[Any]:
    """Ask a fitted estimator for its predictions.

    Parameters
    ----------
    estimator : object with ``predict``
        A fitted scikit-learn estimator, or anything else that predicts. It is never fitted.
    X : object
        Handed to ``predict`` as it is.
    sensitive_features : object, optional
        Handed on when ``predict`` takes it (fairlearn's ``ThresholdOptimizer``).
    predict_params : mapping, optional
        Further keyword arguments of ``predict``; these take precedence.
    random_state : int, RandomState, Generator or None
        Handed on when ``predict`` takes it (randomised predictors), as an int or None.

    Returns
    -------
    ndarray of shape (n,)
        One prediction per person, in the order of `X`.

    Raises
    ------
    ValueError
        If `estimator` has no ``predict`` or `estimator` is a class.
    sklearn.exceptions.NotFittedError
        If a scikit-learn estimator is not fitted.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> model = DummyClassifier().fit([[1], [2]], ["no", "no"])
    >>> predict(model, [[3]]).tolist()
    ['no']
    """
    array = _ask(estimator, "predict", X, sensitive_features, predict_params, random_state)
    return array[:, 0] if array.ndim == 2 and array.shape[1] == 1 else array


def _ask(
    estimator: Any,
    response: str,
    X: Any,
    sensitive_features: Any,
    predict_params: Mapping[str, Any] | None,
    random_state: int | np.random.RandomState | np.random.Generator | None,
) -> NDArray[Any]:
    """Call one of an estimator's methods with what it takes."""
    if isinstance(estimator, type) or not callable(getattr(estimator, "predict", None)):
        found = estimator.__name__ if isinstance(estimator, type) else repr(estimator)
        what = "is a class" if isinstance(estimator, type) else "has no predict method"
        raise ValueError(f"estimator={found} {what}: pass a fitted model, or estimator=None with the predictions as X.")
    if isinstance(estimator, BaseEstimator) and hasattr(estimator, "fit"):
        check_is_fitted(estimator)
    method = getattr(estimator, response)
    params = dict(predict_params or {})
    accepted = _parameters(method)
    if "sensitive_features" in accepted and sensitive_features is not None:
        params.setdefault("sensitive_features", sensitive_features)
    if "random_state" in accepted and "random_state" not in params:
        params["random_state"] = _as_seed(random_state)
    predictions = method(X, **params)
    # Predictions belong to the rows of X by position: an index of their own says nothing.
    dtype = object if isinstance(predictions, (list, tuple)) else None
    array: NDArray[Any] = np.asarray(predictions, dtype=dtype)
    return array


def scores(
    estimator: Any,
    X: Any,
    responses: Sequence[str],
    *,
    metric: str,
    pos_label: Any = None,
    sensitive_features: Any = None,
    predict_params: Mapping[str, Any] | None = None,
    random_state: int | np.random.RandomState | np.random.Generator | None = None,
) -> NDArray[np.float64]:
    """Ask a fitted estimator for its scores of the positive label.

    Parameters
    ----------
    estimator : object
        A fitted estimator.
    X : object
        Handed on as it is.
    responses : sequence of {"predict", "predict_proba", "decision_function"}
        What to ask for: the first that the estimator has.
    metric : str
        Who wants them, for error messages.
    pos_label : object, optional
        The label whose scores are wanted; None: the second of two classes.
    sensitive_features, predict_params, random_state : object
        As in `predict`.

    Returns
    -------
    ndarray of shape (n,)
        One score per person.

    Raises
    ------
    ValueError
        If the estimator has none of the responses, or several classes and no label says which is meant.
    """
    found = [response for response in responses if callable(getattr(estimator, response, None))]
    if not found:
        raise ValueError(
            f"estimator={type(estimator).__name__}() has no {' and no '.join(responses)}, and {metric} needs scores: "
            "use a model that has, or a metric of predicted labels, such as 'equalized_odds'."
        )
    array = _ask(estimator, found[0], X, sensitive_features, predict_params, random_state)
    classes = classes_of(estimator)
    if array.ndim == 1 or array.shape[1] == 1:
        array = array.reshape(-1)
        # One column speaks for the second of two classes.
        if found[0] == "decision_function" and classes and len(classes) == 2 and pos_label == classes[0]:
            array = -array
        return array.astype(float)
    if classes is None or len(classes) != array.shape[1]:
        classes = tuple(range(array.shape[1]))
    if pos_label is None and len(classes) != 2:
        raise ValueError(
            f"pos_label is needed: {metric} is about one label, and the estimator knows {len(classes)}, "
            f"{listed(classes)}. Pass for example pos_label={classes[-1]!r}."
        )
    if pos_label is not None and pos_label not in classes:
        raise ValueError(f"pos_label={pos_label!r} is not among the estimator's classes: {listed(classes)}.")
    column = classes.index(pos_label) if pos_label is not None else 1
    return array[:, column].astype(float)


def _parameters(function: Any) -> frozenset[str]:
    try:
        return frozenset(inspect.signature(function).parameters)
    except (TypeError, ValueError):  # compiled code may have no signature
        return frozenset()


def _as_seed(
    random_state: int | np.random.RandomState | np.random.Generator | None,
) -> int | None:
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31 - 1))
    return None if random_state is None else int(random_state)


def classes_of(estimator: Any) -> tuple[Any, ...] | None:
    """Return the classes an estimator knows, as plain Python scalars.

    Parameters
    ----------
    estimator : object
        Fitted or not, a classifier or not.

    Returns
    -------
    tuple or None
        ``classes_`` in its own order; None where there is none (also for several outputs).

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> classes_of(DummyClassifier().fit([[1], [2]], ["yes", "no"]))
    ('no', 'yes')
    """
    classes = getattr(estimator, "classes_", None)
    if classes is None or isinstance(classes, (str, bytes)) or is_table(classes):
        return None
    return tuple(plain_scalar(label) for label in classes)


def predictions_from_X(X: Any, parameter: str = "X") -> Any:
    """Return `X` as predictions, which is what it is when there is no estimator.

    Parameters
    ----------
    X : list, array or series of length n
        One prediction per person.
    parameter : str
        What the caller calls them.

    Returns
    -------
    object
        `X` itself, so that a pandas index is still there to be checked.

    Raises
    ------
    ValueError
        If `X` is a table, even of one column: that could be anything.

    Examples
    --------
    >>> predictions_from_X([[23], [61]])
    Traceback (most recent call last):
    ...
    ValueError: X is a table, and a table is not predictions: pass estimator=... to predict ...
    """
    if X is not None and not isinstance(X, (str, bytes)) and is_table(X):
        instead = "pass estimator=... to predict from it, or a 1-D array of predictions" if parameter == "X" else ""
        raise ValueError(
            f"{parameter} is a table, and a table is not predictions: "
            f"{instead or 'pass one column of it, or a model as FairnessTest(estimator).fit(X, y, ...)'}."
        )
    one_dimensional(X, parameter)
    return X
