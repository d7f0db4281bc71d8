"""The model as an unfair map sees it: its outputs for any numbers, its loss, and the direction in which the loss grows.

However the direction is found, the map that follows it is a function of one person alone, and the test is valid. The
method affects how much unfairness is found: torch differentiates its modules; of other models the outputs are compared
on both sides (central differences) or, if small steps change nothing, candidates are tried. Functions here work on
units of the audit, `features` times one over `scale`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, issparse
from sklearn.base import is_classifier, is_regressor

from skfairtest._utils.errors import ParameterError
from skfairtest._utils.text import name_of
from skfairtest._utils.typing import Floats
from skfairtest.individual.autograd import Network, module_of, network
from skfairtest.individual.features import Features, derives
from skfairtest.individual.flow import ROWS, along, central_differences, differentiable
from skfairtest.readers import Column, Numbers, as_numbers, ask, classes_of
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
    """A loss per person.

    Parameters
    ----------
    name : str
        Its name.
    kind : {"classifier", "regressor", None}
        Which models it judges; None: both, by a function from the caller.
    value : callable
        ``value(truth, outputs, xp)`` of shapes (n,) and (n, k), to (n,), in NumPy or torch: truth is the position of
        the label, or the number; outputs are log-probabilities, or predictions. A function from the caller gets the
        true labels and the model's outputs unchanged.
    power : int
        The power of the truth's unit that the loss is proportional to; 0: none.
    unit : float or None
        The unit of errors.
    """

    name: str
    kind: str | None
    value: Callable[[Any, Any, Any], Any]
    power: int = 0
    unit: float | None = None

    @property
    def rounding(self) -> float:
        """The largest loss that is only the rounding error of one, in standard deviations of the truth."""
        return float(1e-10**self.power) if self.power else 0.0

    def of(self, truth: Any, outputs: Any, xp: Any = np) -> Any:
        """The loss of each person."""
        loss = self.value(truth, outputs, xp)
        return loss if self.unit is None else loss * self.unit**-self.power


def _log_loss(truth: Any, outputs: Any, xp: Any) -> Any:
    return xp.clip(-outputs[xp.arange(len(outputs)), truth], -math.log1p(-CLIP), -math.log(CLIP))


def _zero_one_loss(truth: Any, outputs: Any, xp: Any) -> Any:
    return abs(xp.expm1(outputs[xp.arange(len(outputs)), truth]))


def _error(power: int, truth: Any, outputs: Any, xp: Any) -> Any:
    return abs(truth - outputs[:, 0]) ** power


LOSSES = {
    loss.name: loss
    for loss in (
        Loss("log_loss", "classifier", _log_loss),
        Loss("zero_one_loss", "classifier", _zero_one_loss),
        Loss("squared_error", "regressor", partial(_error, 2), 2),
        Loss("absolute_error", "regressor", partial(_error, 1), 1),
    )
}
#: The loss of each kind of model by default.
DEFAULT = {"classifier": "log_loss", "regressor": "squared_error"}


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
    if isinstance(loss, str) and loss == "auto":
        return LOSSES[DEFAULT[kind or "classifier"]]
    if not (isinstance(loss, str) and loss in LOSSES):
        raise ParameterError(
            f"loss must be 'auto', {', '.join(map(repr, LOSSES))}, or a function loss(y_true, y_pred) that returns one "
            f"number per person; found {loss!r}"
        )
    if kind is not None and LOSSES[loss].kind != kind:
        predicts = "predicts numbers" if kind == "regressor" else "predicts classes"
        raise ParameterError(
            f"loss={loss!r} judges {LOSSES[loss].kind}s, and estimator={estimator}() {predicts}: use "
            f"loss={DEFAULT[kind]!r}, or 'auto'"
        )
    return LOSSES[loss]


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
    numbers = as_numbers(y_true)
    if numbers is None:
        assert isinstance(y_true, Column)
        raise ParameterError(f"y must hold numbers for estimator={name}(); found {listed(y_true.levels, 3)}")
    spread = float(numbers.std())
    return replace(known, unit=spread if spread > 0 else None), Truth(numbers, labels), None


def _classes(estimator: Any, y_true: Column) -> tuple[Any, ...]:
    """The classes of the model; if it has none, whole numbers from 0, or the labels in the data."""
    module = module_of(estimator)  # a net of skorch numbers its outputs, whichever labels it has seen
    known = classes_of(estimator if module is None else module)
    if known is not None:
        return known
    if module is not None and not all(isinstance(level, int) for level in y_true.levels):
        raise ParameterError(
            f"y must hold the positions of outputs, from 0, for estimator={type(estimator).__name__}(), a torch module "
            f"without classes_; found {listed(y_true.levels, 5)}. If the module predicts numbers, pass "
            "loss='squared_error'"
        )
    if all(isinstance(level, int) and 0 <= level <= MAX_LABELS for level in y_true.levels):
        return tuple(range(max(1, *y_true.levels) + 1))
    return y_true.levels


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
        for step in self.steps:
            X = step.transform(X)
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
        raise ParameterError(
            f"estimator={estimator.__name__} is a class: fit an instance on people other than those tested, and pass "
            "the instance"
        )
    path = path_of(estimator)
    if derives(path[-1], "fairlearn", "ExponentiatedGradient") and hasattr(path[-1], "predictors_"):
        return Mixture(transformers_of(path), path[-1])
    return estimator


#: How far, relative to the largest output, the formula of an affine function may be off.
_TOLERANCE = 1e-8


def affine(transform: Callable[[Any], Any], features: Features) -> tuple[Floats, Floats] | None:
    """The matrix and offset of a function that is affine in numbers and in shares of categories; None if it is not.

    It is called on one person with one number or one category changed, and the formula has to reproduce it for some of
    the people, and for others who are twice as far from the mean. A flow passes through shares that do not sum to 1;
    their sum has no meaning, so the function is made constant along the mean shares of a category.

    Examples
    --------
    >>> from skfairtest.individual.features import read_features
    >>> matrix, offset = affine(lambda X: 2 * X + 1, read_features([[0.0, 1.0], [4.0, 3.0]]))
    >>> matrix.tolist(), offset.tolist()
    ([[2.0, 0.0], [0.0, 2.0]], [1.0, 1.0])
    """

    def called(rows: Floats) -> Floats:
        outputs = transform(features.as_input(rows))
        return np.asarray(outputs.toarray() if hasattr(outputs, "toarray") else outputs, dtype=float)

    values = features.values
    # Unit vectors as long as the longest feature: differences lose no digits to large offsets.
    length = math.ldexp(1.0, math.frexp(float(np.abs(values).max()))[1])
    probes = np.repeat(values[:1], 1 + values.shape[1], axis=0)
    for _, columns in features.groups:
        for column in columns:
            if len(columns) > 1:
                probes[1 + column, list(columns)] = 0.0
            probes[1 + column, column] += 1.0 if len(columns) > 1 else length
    rows = values[np.linspace(0, len(values) - 1, min(len(values), 300)).astype(np.intp)]
    far = 2 * rows - rows.mean(axis=0)
    for block in features.blocks:
        far[:, block] = rows[:, block]
    rows = np.concatenate([rows, far])
    try:
        outputs, expected = called(probes), called(rows)
    except (TypeError, ValueError):  # text passes through, for a model that knows categories itself
        return None
    matrix = outputs[1:] - outputs[0]
    for _, columns in features.groups:
        some = list(columns)
        matrix[some] -= values[:, some].mean(axis=0) @ matrix[some] if len(some) > 1 else 0.0
        matrix[some] /= 1.0 if len(some) > 1 else length
    offset = outputs[0] - values[0] @ matrix
    errors = np.abs(rows @ matrix + offset - expected).max(axis=0)
    # Not "any error is larger": a comparison with NaN is false.
    return (matrix, offset) if (errors <= _TOLERANCE * np.abs(expected).max(axis=0)).all() else None


@dataclass(frozen=True)
class Encoded:
    """The model behind encoders that are affine, which can be called on shares of categories.

    Parameters
    ----------
    matrix, offset : ndarray of shapes (d, m) and (m,)
        The encoders.
    model : object
        The model behind them.
    names : list of str or None
        The columns of the frame that it takes.
    sparse : bool
        Whether it takes a sparse matrix.
    """

    matrix: Floats
    offset: Floats
    model: Any
    names: list[str] | None = None
    sparse: bool = False

    def ask(self, response: str, x: Floats) -> NDArray[Any]:
        """Call the model on rows of numbers and shares."""
        encoded: Any = x @ self.matrix + self.offset
        if self.names is not None:
            encoded = pd.DataFrame(encoded, columns=self.names)
        return ask(self.model, response, csr_matrix(encoded) if self.sparse else encoded)


def encoded_model(estimator: Any, features: Features, response: str | None = None) -> Encoded | None:
    """The two parts of a pipeline; None if the encoders are not affine, or the parts do not reproduce its outputs."""
    path = path_of(estimator)
    steps = transformers_of(path)

    def transform(X: Any) -> Any:
        for step in steps:
            X = step.transform(X)
        return X

    found = affine(transform, features) if steps else None
    if found is None or response is None:
        return None if found is None else Encoded(*found, path[-1])
    rows = features.as_input(features.values[:PROBED])
    shown, whole = transform(rows), np.asarray(ask(estimator, response, rows), dtype=float)
    names = list(shown.columns) if isinstance(shown, pd.DataFrame) else None
    for sparse in (False, True)[: 1 + issparse(shown)]:  # most models take either, and shares are not sparse
        parts = Encoded(*found, path[-1], names, sparse)
        try:
            outputs = parts.ask(response, features.values[:PROBED])
        except (TypeError, ValueError):
            continue
        if np.isclose(outputs, whole, rtol=1e-6, atol=1e-9).mean() > 0.99:  # rounding may pass a threshold
            return parts
    return None


@dataclass(frozen=True)
class Model:
    """A fitted model, its loss, and the way in which unfair examples are found.

    Parameters
    ----------
    estimator : object
        The fitted model.
    inputs : Features
        Turns numbers into what the model predicts from.
    loss : Loss
        Its loss.
    scale : ndarray of shape (n_features,) or None
        Units of the features.
    movable : ndarray of bool, shape (n_features,)
        Features that are not frozen.
    response : str
        The name of the model's method that is called.
    way, why : str
        How the direction is found, and the reason in words.
    network : Network or None
        A torch module as a differentiable function.
    encoded : Encoded or None
        The model behind its encoders, where it can be called on shares of categories.
    slopes : callable or None
        The caller's gradient.
    step : float
        Width of differences, at features of size 1.
    """

    estimator: Any
    inputs: Features
    loss: Loss
    scale: Floats | None
    movable: NDArray[np.bool_]
    response: str = ""
    way: str = "search"
    why: str = ""
    network: Network | None = None
    encoded: Encoded | None = None
    slopes: Callable[[Any, Any], Any] | None = None
    step: float = 0.0

    def outputs(self, z: Floats) -> Floats:
        """Log-probabilities, predictions of shape (n, 1) or, for the caller's loss, the raw outputs."""
        x = self.in_units_of_X(z)
        if self.network is not None:
            return self.network.outputs(x)
        responses = self.asked(x, self.response)
        if self.loss.kind is None:
            return responses
        responses = responses.astype(float).reshape(len(x), -1)
        with np.errstate(divide="ignore"):
            return np.log(responses) if self.response == "predict_proba" else responses

    def asked(self, x: Floats, response: str) -> NDArray[Any]:
        """The outputs of one of the model's methods, for rows in the units of X."""
        pieces = [x[start : start + ROWS] for start in range(0, len(x), ROWS)]
        if self.encoded is not None and response == self.response:
            return np.concatenate([self.encoded.ask(response, piece) for piece in pieces])
        return np.concatenate([ask(self.estimator, response, self.inputs.as_input(piece)) for piece in pieces])

    def losses(self, z: Floats, truth: Truth) -> Floats:
        """The loss per person."""
        return np.asarray(self.loss.of(truth.values, self.outputs(z)), dtype=float)

    def wrong(self, z: Floats, truth: Truth) -> Floats:
        """1 for everybody whose predicted label is wrong."""
        true = truth.values if self._by_position else truth.labels
        return np.asarray(self.predicted(z) != true, dtype=float)

    def predicted(self, z: Floats) -> NDArray[Any]:
        """The predicted numbers or labels, or positions among the classes if the model predicts none."""
        if self.loss.kind == "regressor":
            return self.outputs(z)[:, 0]
        if self._by_position:
            return np.asarray(self.outputs(z).argmax(axis=1))
        return self.asked(self.in_units_of_X(z), "predict").reshape(-1)

    @property
    def _by_position(self) -> bool:
        return self.network is not None or not (hasattr(self.estimator, "predict") or self.loss.kind is None)

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
        return central_differences(
            lambda x, rows: self.losses(x, those.take(rows)), z, width=self.step, columns=np.flatnonzero(self.movable)
        )

    def gradient_along(self, truth: Truth, directions: Floats) -> Callable[[Floats, Any], Floats]:
        """The derivative along some directions, by central differences, ``f(z, people)``.

        People hardly move in the directions that a fair metric restricts, and the cost grows with the number of
        directions.
        """

        def gradient(z: Floats, people: Any) -> Floats:
            those = truth.take(people)

            def losses(u: Floats, rows: NDArray[np.intp]) -> Floats:  # of everybody, once or several times
                moved = z + along(directions, u.reshape(-1, len(z), u.shape[1]))
                return self.losses(moved.reshape(-1, z.shape[1]), those.take(rows))

            return along(directions, central_differences(losses, np.zeros((len(z), len(directions))), width=self.step))

        return gradient

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
    """Look at a model's outputs, and choose how unfair examples are found.

    Parameters
    ----------
    model : Model
        The model, with everybody's features.
    gradient : {"auto", "finite_differences", "search"} or callable
        As the caller gave it.
    truth : Truth
        What is true of everybody.
    kind : {"classifier", "regressor", None}
        What the model is.
    classes : tuple or None
        The classes that its columns of probabilities stand for, where the loss takes classes.

    Raises
    ------
    ValueError
        If the model lacks what the loss needs, its outputs are random, or the gradient is not possible for it.
    """
    estimator, features, loss = model.estimator, model.inputs, model.loss
    name = type(estimator).__name__
    if not callable(gradient) and not (isinstance(gradient, str) and gradient in WAYS):
        raise ParameterError(
            f"gradient must be one of {', '.join(map(repr, WAYS))}, or a function gradient(X, y) that returns an array "
            f"of the shape of X; found {gradient!r}"
        )
    model = replace(model, inputs=replace(features, values=features.values[:1], index=None))
    module, steps = module_of(estimator), transformers_of(path_of(estimator))
    parts = None if module is None or not steps else encoded_model(estimator, features)
    if module is not None and (parts is not None or not steps):
        if loss.kind is None or gradient != "auto":
            raise ParameterError(
                f"estimator={name}() is a torch module, whose derivatives torch knows for the losses that have a name: "
                "use loss='auto' and gradient='auto', or wrap it in an object with classes_ and predict_proba"
            )
        moved = network(module, parts, features.values, kind)
        if classes is not None and truth.values.max() >= moved.n_classes:
            raise ParameterError(
                f"y has labels up to {classes[truth.values.max()]!r}, and estimator={name}() has {moved.n_classes} "
                f"outputs, whose labels are 0 to {moved.n_classes - 1}"
            )
        return replace(model, way="autograd", why=f"automatic differentiation of {name} by torch", network=moved)
    wanted = RESPONSES[loss.kind]
    response = next((method for method in wanted if callable(getattr(estimator, method, None))), None)
    if response is None:
        raise ParameterError(
            f"estimator={name}() has no {wanted[0]}, and loss={loss.name!r} needs it: calibrate it "
            "(sklearn.calibration.CalibratedClassifierCV), wrap it in an object with classes_ and predict_proba, or "
            "pass loss=function(y_true, y_pred), which gets its decision_function or its predictions. If it is a "
            "regressor that is not declared as one, pass loss='squared_error'"
        )
    model = replace(model, response=response)
    precision = _check_deterministic(model, features)
    if classes is not None and classes_of(estimator) is None:
        _check_width(model, features, classes)
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
        f"small steps do not change the predictions of {name} (as with trees, forests and boosted trees), so "
        "candidates are tried in the directions that the fair metric leaves free"
    )
    return replace(model, way="search", why=why)


def _check_deterministic(model: Model, features: Features) -> float:
    """The precision of a model whose outputs for a person depend on that person alone; otherwise an error."""
    name, rows = type(model.estimator).__name__, features.values[:PROBED]
    precision = 0.0
    for response in {model.response: 0, "predict": 0}:
        if not callable(method := getattr(model.estimator, response, None)):
            continue
        same = not {"sensitive_features", "random_state"} & set(parameters_of(method))
        if same:
            responses, again = model.asked(rows, response), model.asked(rows[::-1], response)[::-1]
            number, same = responses.dtype.kind == "f", responses.shape == again.shape
            precision = precision or float(np.finfo(responses.dtype if number else float).eps)
            same = same and (np.allclose(responses, again, 1e-4, 1e-6, True) if number else (responses == again).all())
        if not same:
            raise ParameterError(
                f"estimator={name}().{response} is randomised, needs sensitive_features, or gives a person other "
                "outputs when it is called again on the same people in another order. Test its average instead: an "
                "object with classes_ and a predict_proba that returns the probability of each label"
            )
    return precision


def _check_width(model: Model, features: Features, classes: tuple[Any, ...]) -> None:
    """Check whether a model without classes_ can have these classes."""
    responses = model.asked(features.values[:1], model.response)
    width = responses.shape[1] if responses.ndim == 2 else 1
    from_zero = all(isinstance(label, int) for label in classes)  # from 0, and some may be missing in y
    if width < max(2, len(classes)) or (width > len(classes) and not from_zero):
        raise ParameterError(
            f"estimator={type(model.estimator).__name__}() has no classes_, and its {model.response} returns {width} "
            f"numbers per person, which does not match the labels of y ({listed(classes)}): give it classes_, the "
            "labels in the order of the columns"
        )


def check_losses(model: Model, z: Floats, truth: Truth) -> Floats:
    """The losses before anybody is moved, which are finite."""
    losses = model.losses(z, truth)
    unknown = int((~np.isfinite(losses)).sum())
    if unknown:
        raise ParameterError(
            f"estimator={type(model.estimator).__name__}() has no finite {model.loss.name} for {unknown:,} of "
            f"{len(z):,} people: its outputs for them are nan or infinite"
        )
    return losses
