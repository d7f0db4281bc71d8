"""The model: its outputs for any numbers, its loss, and the direction in which the loss grows."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import is_classifier, is_regressor
from sklearn.utils.validation import check_is_fitted

from skfairtest._utils.errors import ParameterError
from skfairtest._utils.text import name_of
from skfairtest._utils.typing import Floats
from skfairtest.individual.autograd import Network, module_of, network
from skfairtest.individual.features import Features, derives
from skfairtest.individual.flow import ROWS, central_differences, differentiable, steps_of
from skfairtest.readers import Column, Numbers, ask, classes_of
from skfairtest.readers.columns import MAX_LABELS
from skfairtest.readers.levels import listed
from skfairtest.readers.predictions import parameters_of, path_of, transformers_of

#: People whose outputs are compared when the model is called again, and who show whether small steps change them.
PROBED = 200
#: The methods of each kind of model, the first that it has.
RESPONSES = {
    "classifier": ("predict_proba",),
    "regressor": ("predict",),
    None: ("predict_proba", "decision_function", "predict"),
}
WAYS = ("auto", "finite_differences", "search")
#: Probabilities are no closer to 0 and 1 than this, as in ``sklearn.metrics.log_loss``.
CLIP = float(np.finfo(float).eps)


@dataclass(frozen=True)
class Loss:
    """A loss per person."""

    name: str
    kind: str | None
    value: Callable[[Any, Any, Any], Any]
    power: int = 0
    unit: float | None = None

    def of(self, truth: Any, outputs: Any, xp: Any = np) -> Any:
        """The loss of each person."""
        loss = self.value(truth, outputs, xp)
        return loss if self.unit is None else loss * self.unit**-self.power


def _log_loss(truth: Any, outputs: Any, xp: Any) -> Any:
    return xp.clip(-outputs[xp.arange(len(outputs)), truth], -math.log1p(-CLIP), -math.log(CLIP))


def _error(power: int, truth: Any, outputs: Any, xp: Any) -> Any:
    return abs(truth - outputs[:, 0]) ** power


LOSSES = {
    loss.name: loss
    for loss in (
        Loss("log_loss", "classifier", _log_loss),
        Loss("squared_error", "regressor", partial(_error, 2), 2),
        Loss("absolute_error", "regressor", partial(_error, 1), 1),
    )
}


def _checked(function: Callable[[Any, Any], Any], truth: Any, outputs: Any, xp: Any) -> Floats:
    """The values of the caller's loss: finite numbers of at least 0, one per person."""
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


def loss_of(loss: Any, kind: str | None, estimator: str) -> Loss:
    """The loss that a name or a function stands for, for a model of a kind."""
    if callable(loss):
        return Loss(name_of(loss), None, partial(_checked, loss))
    known = [name for name, each in LOSSES.items() if kind in (None, each.kind)]  # the default first
    if not (isinstance(loss, str) and loss in ("auto", *known)):
        raise ParameterError(
            f"loss must be 'auto', {', '.join(map(repr, known))}, or a function loss(y_true, y_pred) that returns one "
            f"number per person, for estimator={estimator}(); found {loss!r}"
        )
    return LOSSES[known[0] if loss == "auto" else loss]


@dataclass(frozen=True)
class Truth:
    """The truth about the people."""

    values: NDArray[Any]
    labels: NDArray[Any]

    def take(self, people: Any) -> Truth:
        """The truth about some people."""
        return Truth(self.values[people], self.labels[people])


def kind_of(estimator: Any, loss: Any) -> str | None:
    """The kind of a model, "classifier" or "regressor", as it declares or as its loss implies; None: unknown."""
    judged = LOSSES[loss].kind if isinstance(loss, str) and loss in LOSSES else None
    if hasattr(estimator, "__sklearn_tags__"):
        return "classifier" if is_classifier(estimator) else "regressor" if is_regressor(estimator) else judged
    return "classifier" if hasattr(estimator, "predict_proba") else judged


def read_truth(
    estimator: Any, loss: Any, statistic: str, kind: str | None, y_true: Column | Numbers
) -> tuple[Loss, Truth, tuple[Any, ...] | None]:
    """The loss in units of the spread of numbers, the truth, and the classes that positions refer to."""
    name = type(estimator).__name__
    known = loss_of(loss, kind, name)
    if statistic == "error_rate_ratio" and (kind or known.kind) == "regressor":
        raise ParameterError(
            f"statistic='error_rate_ratio' counts wrong labels, and estimator={name}() predicts numbers: use "
            "'loss_ratio' or 'ratio_of_means'"
        )
    labels = y_true.values
    if known.kind is None:
        return known, Truth(labels, labels), None
    if known.kind == "classifier":
        assert isinstance(y_true, Column)
        classes = _classes(estimator, y_true)
        unknown = [level for level in y_true.levels if level not in classes]
        if unknown:
            raise ParameterError(
                f"y has labels that estimator={name}() does not know, {listed(unknown)}: it knows {listed(classes)}"
            )
        positions = np.array([classes.index(level) for level in y_true.levels], dtype=np.intp)
        return known, Truth(positions[y_true.codes], labels), classes
    numbers = y_true.numbers
    if numbers is None:
        assert isinstance(y_true, Column)
        raise ParameterError(f"y must hold numbers for estimator={name}(); found {listed(y_true.levels, 3)}")
    spread = float(numbers.std())
    return replace(known, unit=spread if spread > 0 else None), Truth(numbers, labels), None


def _classes(estimator: Any, y_true: Column) -> tuple[Any, ...]:
    """The classes of the model; if it has none, whole numbers from 0."""
    module = module_of(estimator)  # a net of skorch numbers its outputs, whichever labels it has seen
    known = classes_of(estimator if module is None else module)
    if known is not None:
        return known
    if not all(isinstance(level, int) and 0 <= level <= MAX_LABELS for level in y_true.levels):
        if hasattr(estimator, "__sklearn_tags__"):
            message = "estimator=%(name)s() is not fitted: fit it first, or give it classes_, the labels in their order"
            check_is_fitted(estimator, msg=message)
        raise ParameterError(
            f"y must hold the positions of outputs, from 0, for estimator={type(estimator).__name__}(), which has no "
            f"classes_; found {listed(y_true.levels, 5)}. Give it classes_, the labels in their order, or, if it "
            "predicts numbers, pass loss='squared_error'"
        )
    return tuple(range(max(1, *y_true.levels) + 1))


def transformed(steps: Sequence[Any], X: Any) -> Any:
    """The input of the last step of a pipeline."""
    for step in steps:
        X = step.transform(X)
    return X


class Mixture:
    """An ``ExponentiatedGradient``, which samples a predictor for each prediction, as their weighted mean."""

    def __init__(self, steps: Sequence[Any], model: Any) -> None:
        self.steps = steps
        members = [
            (weight, model.predictors_[place]) for place, weight in enumerate(np.asarray(model.weights_)) if weight > 0
        ]
        lacking = sorted({type(member).__name__ for _, member in members if not hasattr(member, "predict_proba")})
        if lacking:
            raise ParameterError(
                f"estimator=ExponentiatedGradient() has predictors without predict_proba ({listed(lacking)}): mitigate "
                "a model that has it"
            )
        self.members, self.classes_ = members, np.unique(np.concatenate([member.classes_ for _, member in members]))

    def predict_proba(self, X: Any) -> Floats:
        """The probabilities of all labels."""
        X = transformed(self.steps, X)
        mean = np.zeros((X.shape[0], len(self.classes_)))
        for weight, member in self.members:
            mean[:, np.searchsorted(self.classes_, member.classes_)] += weight * member.predict_proba(X)
        shares: Floats = mean / mean.sum(axis=1, keepdims=True)
        return shares


def checked_model(estimator: Any) -> Any:
    """The model that is tested: fitted, and the mean of a mixture."""
    if estimator is None:
        raise ParameterError("estimator is missing: IndividualFairnessTest(model).fit(X, y, ...)")
    if isinstance(estimator, type):
        raise ParameterError(f"estimator={estimator.__name__} is a class: pass a fitted instance")
    path = path_of(estimator)
    if derives(path[-1], "fairlearn", "ExponentiatedGradient") and hasattr(path[-1], "predictors_"):
        return Mixture(transformers_of(path), path[-1])
    return estimator


#: How far, relative to the largest output, the formula of an affine function may be off.
_TOLERANCE = 1e-8


def affine(transform: Callable[[Any], Any], features: Features) -> tuple[Floats, Floats] | None:
    """The matrix and offset of a function that is affine in numbers and in shares of categories; None if it is not.

    Examples
    --------
    >>> from skfairtest.individual.features import read_features
    >>> matrix, offset = affine(lambda X: 2 * X + 1, read_features([[0.0, 1.0], [4.0, 3.0]]))
    >>> matrix.tolist(), offset.tolist()
    ([[2.0, 0.0], [0.0, 2.0]], [1.0, 1.0])
    """
    values, (n, d) = features.values, features.values.shape
    # Unit vectors as long as the longest feature: differences lose no digits to large offsets.
    length = math.ldexp(1.0, math.frexp(float(np.abs(values).max()))[1])
    rows = values[np.linspace(0, n - 1, min(n, 300)).astype(np.intp)]
    probes, far = np.concatenate([values[:1], values[:1] + length * np.eye(d)]), 2 * rows - rows.mean(axis=0)
    for block in map(np.array, features.blocks):
        probes[np.ix_(block + 1, block)], far[:, block] = np.eye(len(block)), rows[:, block]
    try:
        outputs = transform(features.as_input(np.concatenate([probes, rows, far])))
        outputs = np.asarray(outputs.toarray() if hasattr(outputs, "toarray") else outputs, dtype=float)
    except (TypeError, ValueError):  # text passes through, for a model that knows categories itself
        return None
    matrix, expected = outputs[1 : d + 1] - outputs[0], outputs[d + 1 :]
    numbers = np.setdiff1d(np.arange(d), np.concatenate([*features.blocks, ()]))
    matrix[numbers] /= length
    for block in map(np.array, features.blocks):
        matrix[block] -= values[:, block].mean(axis=0) @ matrix[block]
    offset = outputs[0] - values[0] @ matrix
    errors = np.abs(np.concatenate([rows, far]) @ matrix + offset - expected).max(axis=0)
    # Not "any error is larger": a comparison with NaN is false.
    return (matrix, offset) if (errors <= _TOLERANCE * np.abs(expected).max(axis=0)).all() else None


def _outputs_of_encoded(model: Any, response: str, matrix: Floats, offset: Floats, columns: Any, x: Floats) -> Any:
    encoded: Any = x @ matrix + offset
    return ask(model, response, encoded if columns is None else pd.DataFrame(encoded, columns=columns))


def encoded_model(estimator: Any, features: Features, response: str) -> Callable[[Floats], NDArray[Any]] | None:
    """The outputs of a model behind encoders that are affine, for rows of numbers and shares of categories."""
    path, some = path_of(estimator), features.values[:PROBED]
    steps, rows = transformers_of(path), features.as_input(some)
    found = affine(partial(transformed, steps), features) if steps else None
    if found is None:
        return None
    columns = getattr(transformed(steps, rows), "columns", None)
    called = partial(_outputs_of_encoded, path[-1], response, *found, columns)
    try:
        same = np.isclose(called(some), np.asarray(ask(estimator, response, rows), dtype=float), rtol=1e-6, atol=1e-9)
    except (TypeError, ValueError):
        return None
    return called if same.mean() > 0.99 else None  # rounding may pass a threshold


@dataclass(frozen=True)
class Model:
    """A fitted model, its loss, and the way in which unfair examples are found."""

    estimator: Any
    inputs: Features
    loss: Loss
    scale: Floats | None
    movable: NDArray[np.bool_]
    response: str = ""
    way: str = "search"
    why: str = ""
    network: Network | None = None
    encoded: Callable[[Floats], NDArray[Any]] | None = None
    slopes: Callable[[Any, Any], Any] | None = None
    step: float = 0.0

    def outputs(self, z: Floats) -> Floats:
        """Log-probabilities, predictions of shape (n, 1) or, for the caller's loss, the raw outputs."""
        responses = self.asked(self.in_units_of_X(z), self.response)
        if self.network is not None or self.loss.kind is None:
            return responses
        responses = responses.astype(float).reshape(len(z), -1)
        with np.errstate(divide="ignore"):
            return np.log(responses) if self.response == "predict_proba" else responses

    def asked(self, x: Floats, response: str) -> NDArray[Any]:
        """The outputs of one of the model's methods, for rows in the units of X."""
        pieces = [x[start : start + ROWS] for start in range(0, len(x), ROWS)]
        if self.network is not None:
            return np.concatenate(list(map(self.network.outputs, pieces)))
        if self.encoded is not None and response == self.response:
            return np.concatenate(list(map(self.encoded, pieces)))
        return np.concatenate([ask(self.estimator, response, self.inputs.as_input(piece)) for piece in pieces])

    def losses(self, z: Floats, truth: Truth) -> Floats:
        """The loss per person."""
        return np.asarray(self.loss.of(truth.values, self.outputs(z)), dtype=float)

    def wrong(self, z: Floats, truth: Truth) -> Floats:
        """1 for each person whose predicted label is wrong."""
        if self.network is not None or not (hasattr(self.estimator, "predict") or self.loss.kind is None):
            return np.asarray(self.outputs(z).argmax(axis=1) != truth.values, dtype=float)
        return np.asarray(self.asked(self.in_units_of_X(z), "predict").reshape(-1) != truth.labels, dtype=float)

    def along_path(self, judge: Callable[[Floats, Truth], Floats], places: Sequence[Floats], truth: Truth) -> Floats:
        """`losses` or `wrong` of the same people at several places, of shape (n, n_places), by one call."""
        people = np.tile(np.arange(len(places[0])), len(places))
        return judge(np.concatenate(places), truth.take(people)).reshape(len(places), -1).T

    def gradient(self, truth: Truth) -> Callable[[Any, Any], Any]:
        """The derivative of each person's loss with respect to their own features, ``f(z, people)``."""
        if self.network is not None:
            return self.network.gradient(self.loss.of, truth.values, self.scale)
        return partial(self._differences if self.slopes is None else self._given_slopes, truth)

    def _differences(self, truth: Truth, z: Floats, people: Any) -> Floats:
        those = truth.take(people)
        columns = np.flatnonzero(self.movable)
        return central_differences(
            lambda x, rows: self.losses(x, those.take(rows)), z, steps_of(z, self.step), columns=columns
        )

    def in_units_of_X(self, z: Floats) -> Floats:
        """Features in the units of X."""
        return z if self.scale is None else z * self.scale

    def in_units_of_audit(self, x: Floats) -> Floats:
        """Features in the units of the audit."""
        return x if self.scale is None else x / self.scale

    def _given_slopes(self, truth: Truth, z: Floats, people: Any) -> Floats:
        assert self.slopes is not None
        x, labels = self.inputs.as_input(self.in_units_of_X(z)), truth.labels[people]
        slopes = np.asarray(self.slopes(x, labels), dtype=float)
        if slopes.shape != z.shape or (np.isnan(slopes).any(axis=1) & np.isfinite(z).all(axis=1)).any():
            raise ParameterError(
                f"gradient={name_of(self.slopes)} must return the derivative of every person's loss with respect to "
                f"every feature, numbers of shape {z.shape}; it returned shape {slopes.shape}, or nan"
            )
        return slopes if self.scale is None else slopes * self.scale


def audited(model: Model, gradient: Any, truth: Truth, kind: str | None, classes: tuple[Any, ...] | None) -> Model:
    """Look at a model's outputs, and choose how unfair examples are found."""
    estimator, features, loss = model.estimator, model.inputs, model.loss
    name = type(estimator).__name__
    if not callable(gradient) and not (isinstance(gradient, str) and gradient in WAYS):
        raise ParameterError(
            f"gradient must be one of {', '.join(map(repr, WAYS))}, or a function gradient(X, y) that returns an array "
            f"of the shape of X; found {gradient!r}"
        )
    model = replace(model, inputs=replace(features, values=features.values[:1], index=None))
    module = module_of(estimator)
    if module is not None:
        if loss.kind is None or gradient != "auto":
            raise ParameterError(
                f"estimator={name}() is a torch module, whose derivatives torch knows for the losses that have a name: "
                "use loss='auto' and gradient='auto', or wrap it in an object with classes_ and predict_proba"
            )
        moved = network(module, features.values[:PROBED], kind)
        model = replace(model, way="autograd", why=f"automatic differentiation of {name} by torch", network=moved)
    wanted = RESPONSES[loss.kind]
    response = next((method for method in wanted if callable(getattr(estimator, method, None))), "")
    if not response and module is None:
        raise ParameterError(
            f"estimator={name}() has no {wanted[0]}, and loss={loss.name!r} needs it: calibrate it "
            "(sklearn.calibration.CalibratedClassifierCV), wrap it in an object with classes_ and predict_proba, or "
            "pass loss=function(y_true, y_pred), which gets its decision_function or its predictions. If it is a "
            "regressor that is not declared as one, pass loss='squared_error'"
        )
    model = replace(model, response=response)
    precision = _check_deterministic(model, features)
    width = model.outputs(model.in_units_of_audit(features.values[:1])).shape[-1]
    if classes is not None and truth.values.max() >= width:
        raise ParameterError(
            f"y has labels up to {classes[truth.values.max()]!r}, and estimator={name}() has {width} outputs, whose "
            f"labels are 0 to {width - 1}: give it classes_, the labels in their order"
        )
    if module is not None:
        return model
    if callable(gradient):
        if features.blocks:
            raise ParameterError(
                "gradient is a function of numbers, and X has columns of categories: test the last step of the "
                "pipeline on encoded numbers, or use gradient='auto'"
            )
        return replace(model, way="callable", why=f"gradient={name_of(gradient)} was given", slopes=gradient)
    if features.blocks and loss.kind is not None:
        model = replace(model, encoded=encoded_model(estimator, features, response))
    # The step that balances rounding and curvature, for numbers of the model's precision.
    model = replace(model, step=float(np.cbrt(precision)))
    if gradient != "auto":
        return replace(model, way=gradient, why=f"gradient={gradient!r} was asked for")
    if not features.blocks or model.encoded is not None:
        some = np.arange(0, len(features), max(1, len(features) // PROBED))[:PROBED]
        those, columns = truth.take(some), np.flatnonzero(model.movable)
        z = model.in_units_of_audit(features.values[some])
        if differentiable(lambda x, rows: model.losses(x, those.take(rows)), z, width=model.step, columns=columns):
            return replace(model, way="finite_differences", why=f"central differences of {response} of {name}")
    why = (
        f"small steps do not change the predictions of {name} (as with trees, forests and boosted trees), so that "
        "candidates are tried in the directions that the fair metric leaves free"
    )
    return replace(model, way="search", why=why)


def _check_deterministic(model: Model, features: Features) -> float:
    """The precision of a model whose outputs for a person depend on that person alone; otherwise an error."""
    name, rows, precision = type(model.estimator).__name__, features.values[:PROBED], 0.0
    for response in dict.fromkeys((model.response, model.response if model.network else "predict")):
        method = getattr(model.estimator, response, None)
        if model.network is None and not callable(method):
            continue
        randomised = {"sensitive_features", "random_state"} & set(parameters_of(method))
        if not randomised:
            responses, again = (model.asked(some, response) for some in (rows, rows[::-2]))
            expected, number = responses[::-2], responses.dtype.kind == "f"
            precision = precision or float(np.finfo(responses.dtype if number else float).eps)
            same = np.allclose(expected, again, 1e-4, 1e-6, True) if number else (expected == again).all()
        if randomised or not same:
            raise ParameterError(
                f"estimator={name}().{response} is randomised, needs sensitive_features, or gives a person other "
                "outputs when it is called again on fewer people. Test its average instead: an object with classes_ "
                "and a predict_proba that returns the probability of each label"
            )
    return precision


def check_losses(model: Model, z: Floats, truth: Truth) -> Floats:
    """The losses before anyone is moved, which are finite."""
    losses = model.losses(z, truth)
    if not np.isfinite(losses).all():
        raise ParameterError(
            f"estimator={type(model.estimator).__name__}() has no finite {model.loss.name} for "
            f"{int((~np.isfinite(losses)).sum()):,} of {len(z):,} people: its outputs for them are nan or infinite"
        )
    # What is left of errors in standard deviations of the truth is rounding.
    if losses.max() <= (1e-10**model.loss.power if model.loss.power else 0.0):
        raise ParameterError(
            f"estimator={type(model.estimator).__name__}() has a loss of 0 for every person, as on memorized "
            "training data: test people it was not fitted on"
        )
    return losses
