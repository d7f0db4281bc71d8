"""An estimator's predictions, its classes, and predictions passed in place of an estimator."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_array, check_is_fitted

from skfairtest._utils.checks import is_number
from skfairtest._utils.errors import ParameterError, brief, warn
from skfairtest.readers.columns import Column, Numbers, check_same_people, read_column, resolve_pos_label
from skfairtest.readers.containers import is_table, one_dimensional
from skfairtest.readers.levels import listed, plain_scalar, sort_levels
from skfairtest.readers.numbers import read_values

#: Kinds of parameters that can be passed by their names.
NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def check_rows(X: Any, by_position: bool = False, /, **given: Any) -> None:
    """Check that a model's rows are the same people as in all other arguments.

    Examples
    --------
    >>> check_rows([[1], [2], [3]], sensitive_features={"sex": ["f", "m"]})
    Traceback (most recent call last):
    ...
    skfairtest._utils.errors.ParameterError: X and sensitive_features['sex'] have different lengths, 3 ...
    """
    people = {"X": X}
    for name, data in given.items():
        people |= {f"{name}[{key!r}]": data[key] for key in data} if isinstance(data, Mapping) else {name: data}
    check_same_people({name: data for name, data in people.items() if _has_rows(data)}, by_position=by_position)


def _has_rows(data: Any) -> bool:
    if isinstance(data, list | tuple):  # some models take a list of their inputs, each an array
        return not (data and getattr(data[0], "shape", ()))
    return bool(getattr(data, "shape", ())) or isinstance(data, Column)


def predict(estimator: Any, X: Any, **given: Any) -> NDArray[Any]:
    """The predictions of a fitted estimator.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> model = DummyClassifier().fit([[1], [2]], ["no", "no"])
    >>> predict(model, [[3]]).tolist()
    ['no']
    """
    array = ask(estimator, "predict", X, **given)
    return array[:, 0] if array.ndim == 2 and array.shape[1] == 1 else array


def ask(
    estimator: Any,
    response: str,
    X: Any,
    *,
    sensitive_features: Any = None,
    predict_params: Mapping[str, Any] | None = None,
    random_state: int | np.random.RandomState | np.random.Generator | None = None,
    call: Callable[[Any, str, Any], Any] | None = None,
) -> NDArray[Any]:
    """Call one of an estimator's methods with the arguments that it takes."""
    check_model(estimator, response)
    path = path_of(estimator)
    offered = {"sensitive_features", "random_state", *(predict_params or {})}
    # Wrappers hide the arguments of what they wrap, or demand that metadata routing is set up for them.
    depth = next((i for i, model in enumerate(path) if offered & set(parameters_of(getattr(model, response, None)))), 0)
    method: Any = getattr(path[depth], response, None)
    accepted = parameters_of(method)
    params = dict(predict_params or {})
    if "sensitive_features" in accepted and sensitive_features is not None:
        params.setdefault("sensitive_features", sensitive_features)
    elif accepted and not any(p.kind is p.VAR_KEYWORD or p.name == "sensitive_features" for p in accepted.values()):
        params.pop("sensitive_features", None)  # of two models, one may predict from groups
    if "sensitive_features" in params:
        check_rows(X, predict_params={"sensitive_features": params["sensitive_features"]})
        params["sensitive_features"] = as_model_input(params["sensitive_features"])
    if "random_state" in accepted and "random_state" not in params:
        params["random_state"] = _as_seed(random_state)
    name = type(estimator).__name__
    required = [p.name for p in list(accepted.values())[1:] if p.default is p.empty and p.kind in NAMED]
    lacking = [parameter for parameter in required if parameter not in params]
    if lacking:
        where = lacking[0] if lacking == ["sensitive_features"] else f"predict_params={{{lacking[0]!r}: ...}}"
        asking = f"{type(path[depth]).__name__}.{response}"
        raise ParameterError(f"estimator={name}(): {asking} needs {' and '.join(lacking)}: pass {where}.")
    try:
        if hasattr(path[-1], "__sklearn_is_fitted__"):
            check_is_fitted(path[-1])  # it says itself whether it is
        if (caution := unknown_groups(estimator, sensitive_features, predict_params)) is not None:
            warn(caution)
        X = copied(X)
        if call is not None and not depth and not params and hasattr(estimator, "classes_"):
            predictions = call(estimator, response, X)
        else:
            for step in transformers_of(path[: depth + 1]):
                X = step.transform(X)
            predictions = method(X, **params)
    except Exception as error:
        lacks = isinstance(error, AttributeError) and str(error.name).endswith("_") and _is_unfitted(estimator)
        if isinstance(error, NotFittedError) or lacks:
            raise NotFittedError(
                f"estimator={name}() is not fitted, and a test never fits its model: fit it first, on people other "
                f"than those tested. ({error})"
            ) from error
        asks = isinstance(error, TypeError) and "sensitive_features" in str(error)
        if not asks or "sensitive_features" in params:
            raise
        raise ParameterError(
            f"estimator={name}(): a model inside needs sensitive_features, but {name}.{response} does not pass them on "
            f"({error}). Predict yourself, and pass the predictions as X with estimator=None."
        ) from error
    # Predictions belong to the rows of X by position: an index of their own says nothing.
    dtype = object if isinstance(predictions, (list, tuple)) else None
    if isinstance(predictions, np.ma.MaskedArray):  # what is masked is missing
        return predictions
    array: NDArray[Any] = np.asarray(predictions, dtype=dtype)
    return array


def check_model(estimator: Any, response: str = "predict") -> None:
    """Refuse a class, labels, or anything else without a method as a model."""
    if isinstance(estimator, type) or not callable(getattr(estimator, response, None)):
        found = estimator.__name__ if isinstance(estimator, type) else brief(estimator)
        what = "is a class" if isinstance(estimator, type) else f"has no {response} method"
        raise ParameterError(
            f"estimator={found} {what}: the first argument is a fitted model, or None with the predictions as X: "
            "(None, y_pred, y_true)."
        )


def copied(X: Any) -> Any:
    """A copy of a model's input; an object that cannot be copied cannot be modified either."""
    if isinstance(X, list | tuple):
        return deepcopy(X)
    copy = getattr(X, "copy", getattr(X, "clone", None))
    return copy() if callable(copy) else X


def _is_unfitted(estimator: Any) -> bool:
    """Whether a model has nothing that fits leave behind: rules and wrappers predict without."""
    if not isinstance(estimator, BaseEstimator) or not hasattr(estimator, "fit"):
        return False
    try:
        check_is_fitted(estimator)
    except NotFittedError:
        return True
    return False


def unknown_groups(
    estimator: Any, sensitive_features: Any, predict_params: Mapping[str, Any] | None = None
) -> str | None:
    """The number of people with groups that a model which predicts from groups was not fitted on."""
    known = next(filter(None, map(_groups_of, path_of(estimator))), None)
    own = "sensitive_features" in (predict_params or {})
    groups = (predict_params or {})["sensitive_features"] if own else sensitive_features
    if known is None or groups is None:
        return None
    # As fairlearn reads them: several columns become one text.
    rows = check_array(as_model_input(groups), ensure_2d=False, dtype=None, ensure_all_finite=False)
    if rows.ndim == 2 and rows.shape[1] > 1:
        texts = ([text.replace("\\", "\\\\").replace(",", "\\,") for text in row] for row in rows.astype(str).tolist())
        rows = np.array([",".join(row) for row in texts], dtype=object)
    counts = pd.Series(rows.reshape(-1)).value_counts(dropna=False)
    strange = {group: n for group, n in counts.items() if group not in known}
    if not strange:
        return None
    name = type(path_of(estimator)[-1]).__name__
    asks = f"{name} predicts from the groups that it was fitted on, {listed(known, 5)}"
    found = listed(sort_levels(map(plain_scalar, strange)), 5)
    if len(strange) == len(counts):
        given = "predict_params['sensitive_features']" if own else "sensitive_features"
        raise ParameterError(
            f"{given} holds {found}, none of which the model knows: {asks}, and predicts 0 for everyone else. Pass "
            "each person's group among these as predict_params={'sensitive_features': ...}; sensitive_features are the "
            "groups that are compared."
        )
    return (
        f"{asks}, and does not know the groups of {sum(strange.values()):,} of {counts.sum():,} people ({found}): it "
        "predicts 0 for them, whatever else is known of them. If it was fitted on another feature, pass that as "
        "predict_params={'sensitive_features': ...}."
    )


def _groups_of(model: Any) -> Mapping[Any, Any] | None:
    """The groups that fairlearn's ``ThresholdOptimizer`` was fitted on; None for other models."""
    own = getattr(model, "__dict__", {})
    return getattr(own.get("interpolated_thresholder_", model), "__dict__", {}).get("interpolation_dict")


def path_of(estimator: Any) -> list[Any]:
    """An estimator, the model whose responses it passes on, and so on inwards.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> path_of(FrozenEstimator(DummyClassifier()))
    [FrozenEstimator(estimator=DummyClassifier()), DummyClassifier()]
    """
    path = [estimator]
    while (inner := _inner(path[-1])) is not None:
        path.append(inner)
    return path


def transformers_of(path: Sequence[Any]) -> list[Any]:
    """The transformers that rows go through, in this order, before the last model of a path.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> from sklearn.preprocessing import StandardScaler
    >>> pipeline = Pipeline([("scale", StandardScaler()), ("ask", DummyClassifier())])
    >>> transformers_of(path_of(pipeline)), transformers_of([pipeline])
    ([StandardScaler()], [])
    """
    steps = [step for wrapper in path[:-1] if isinstance(wrapper, Pipeline) for _, step in wrapper.steps[:-1]]
    return [step for step in steps if hasattr(step, "transform")]  # not "passthrough", nor samplers, for training only


def _inner(estimator: Any) -> Any:
    """The model whose responses an estimator passes on; pipelines transform its rows."""
    if isinstance(estimator, FrozenEstimator):
        return estimator.estimator
    if isinstance(estimator, Pipeline):
        return estimator.steps[-1][1]
    # What an object has of its own: some have every attribute that one asks for.
    own = getattr(estimator, "__dict__", {})
    if "predictors_" in own and "best_idx_" in own:  # fairlearn's search
        return own["predictors_"][own["best_idx_"]]
    # By default scikit-learn's searches, and others'; our own wrappers say what they answer with.
    return own.get(getattr(type(estimator), "_answers_with", "best_estimator_"))


def as_model_input(sensitive_features: Any) -> Any:
    """Return groups in a container that models accept: they do not know a dict of columns.

    Examples
    --------
    >>> as_model_input({"sex": ["f", "m"]}).shape
    (2, 1)
    """
    if isinstance(sensitive_features, Mapping):
        return pd.DataFrame({name: np.asarray(column) for name, column in sensitive_features.items()})
    return sensitive_features


def scores(
    estimator: Any,
    X: Any,
    responses: Sequence[str],
    *,
    metric: str,
    pos_label: Any = None,
    y_true: Any = None,
    probabilities: bool = False,
    **given: Any,
) -> NDArray[np.float64]:
    """A fitted estimator's scores of the positive label."""
    found = [response for response in responses if callable(getattr(estimator, response, None))]
    if not found:
        of_numbers = isinstance(estimator, BaseEstimator) and is_regressor(estimator)
        predicts = "numbers, such as 'mean_squared_error'" if of_numbers else "labels, such as 'equalized_odds'"
        raise ParameterError(
            f"estimator={type(estimator).__name__}() has no {' and no '.join(responses)}, but {metric} needs scores: "
            f"use a model that has one of them, response='predict' if its predict returns them, or a metric of "
            f"predicted {predicts}; or pass your own scores as X, with estimator=None."
        )
    array = ask(estimator, found[0], X, **given)
    if found[0] == "predict" and not probabilities:
        return array.reshape(-1).astype(float)
    if found[0] == "predict" and array.dtype.kind in "USO" and isinstance(array.reshape(-1)[0], str):
        raise ParameterError(
            f"response='predict': {type(estimator).__name__}.predict gives labels such as {array.reshape(-1)[0]!r}, "
            "and no probabilities: use response='auto'"
        )
    width = array.shape[1] if array.ndim > 1 else 1
    classes, n_classes = classes_of(estimator), max(width, 2)
    if classes is not None and len(classes) == width == 1:  # trained on people of one label, of whom it is sure
        sure = array.reshape(-1).astype(float)
        return sure if classes[0] == resolve_pos_label([*classes, *_labels(y_true)], pos_label) else 1.0 - sure
    if classes is None or len(classes) != n_classes:
        seen = _labels(y_true)
        classes = seen if len(seen) == n_classes else tuple(range(n_classes))
    column = classes.index(resolve_pos_label(classes, pos_label))
    if width > 1:
        return array[:, column].astype(float)
    # One column is the second of two classes.
    array = array.reshape(-1).astype(float)
    if column == 1:
        return array
    return -array if found[0] == "decision_function" else 1.0 - array


def decisions(
    y_score: Any, threshold: float, *, classes: Sequence[Any] | None = None, y_true: Any = None, pos_label: Any = None
) -> Column:
    """Decide by a threshold: the positive label where a score is at least as large.

    Examples
    --------
    >>> decisions([0.2, 0.7], 0.5).values.tolist()
    [0, 1]
    """
    if not is_number(threshold) or threshold != threshold:
        raise ParameterError(f"prediction_threshold must be a number; found {brief(threshold)}")
    read = read_values(y_score, "y_score")
    numbers = read.numbers
    if numbers is None:
        raise ParameterError("prediction_threshold makes predictions from numbers, and y_score holds text: pass scores")
    known = [labels for labels in (classes or (), _labels(y_true)) if len(labels) == 2]
    if not known and not {0, 1}.issuperset(_labels(y_true)):
        raise ParameterError(
            f"prediction_threshold decides between two labels, and y_true holds {listed(_labels(y_true))}: pass y_pred"
        )
    labels = sort_levels(known[0]) if known else [0, 1]
    positive = labels.index(resolve_pos_label(labels, pos_label))
    return Column("y_pred", tuple(labels), np.where(numbers >= threshold, positive, 1 - positive), read.index)


def _labels(y_true: Any) -> tuple[Any, ...]:
    return () if y_true is None else read_column(y_true, "y_true").levels


def parameters_of(function: Any) -> Mapping[str, inspect.Parameter]:
    """The parameters of a function by name; empty if unknown."""
    try:
        return inspect.signature(function).parameters
    except (TypeError, ValueError):  # compiled code may have no signature, and what is missing has none
        return {}


def _as_seed(random_state: int | np.random.RandomState | np.random.Generator | None) -> int | None:
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31 - 1))
    return None if random_state is None else int(random_state)


def classes_of(estimator: Any) -> tuple[Any, ...] | None:
    """The classes of an estimator, as plain Python scalars.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> classes_of(DummyClassifier().fit([[1], [2]], ["yes", "no"]))
    ('no', 'yes')
    """
    if isinstance(estimator, BaseEstimator) and is_regressor(estimator):
        return None
    known = (getattr(model, "classes_", None) for model in path_of(estimator))
    classes = next((classes for classes in known if classes is not None), None)
    if classes is None or isinstance(classes, (str, bytes)) or is_table(classes):
        return None
    return tuple(plain_scalar(label) for label in classes)


def positive_scores(y_score: Any, y_true: Any = None, pos_label: Any = None) -> Any:
    """The scores of the positive label, of what ``predict_proba`` returns for two classes; others unchanged.

    Examples
    --------
    >>> positive_scores(np.array([[0.9, 0.1], [0.4, 0.6]])).tolist()
    [0.1, 0.6]
    """
    pairs = isinstance(y_score, list) and y_score and isinstance(y_score[0], list | tuple) and len(y_score[0]) == 2
    if not pairs and tuple(getattr(y_score, "shape", ()))[1:] != (2,):
        return y_score
    array = np.asarray(y_score)
    if array.dtype.kind != "f" or not (np.isnan(array).any(axis=1) | np.isclose(array.sum(axis=1), 1.0)).all():
        return y_score
    column = _column_of(pos_label, getattr(y_score, "columns", ()), _labels(y_true))
    return y_score.iloc[:, column] if isinstance(y_score, pd.DataFrame) else array[:, column]


def _column_of(pos_label: Any, names: Sequence[Any], seen: Sequence[Any]) -> int:
    """The index of the positive label among two columns of probabilities, named or in sorted order."""
    asked = [] if pos_label is None else [pos_label]
    named = [plain_scalar(name) for name in names]
    for labels in (named, list(seen), [0, 1], [-1, 1]) if seen or asked else ():
        if len(labels) == 2 and all(label in labels for label in (*seen, *asked)):
            return labels.index(resolve_pos_label(labels, pos_label)) if asked or labels is named else 1
    if not asked:
        return 1
    raise ParameterError(
        f"pos_label={brief(pos_label)} says which of two columns of probabilities is meant, and the labels that they "
        f"are of are not known ({listed(seen) or 'no true labels'}): pass the column of {brief(pos_label)} alone"
    )


def predictions_from_X(X: Any, parameter: str = "X") -> Any:
    """Return `X` as predictions: without an estimator, `X` holds predictions.

    Examples
    --------
    >>> predictions_from_X([[23], [61]])
    Traceback (most recent call last):
    ...
    skfairtest._utils.errors.ParameterError: X is a table, and a table is not predictions: pass estimator=... to ...
    """
    if X is not None and not isinstance(X, str | bytes | Column | Numbers) and is_table(X):
        instead = "pass estimator=... to predict from it, or a 1-D array of predictions" if parameter == "X" else ""
        raise ParameterError(
            f"{parameter} is a table, and a table is not predictions: "
            f"{instead or 'pass one column of it, or a model as FairnessTest(estimator).fit(X, y, ...)'}."
        )
    if isinstance(X, str | bytes) or not isinstance(X, Column | Numbers | np.ndarray | Sequence | pd.Series):
        # What is read as it is need not be unwrapped here; others may have to be refused.
        one_dimensional(X, parameter)
    return X
