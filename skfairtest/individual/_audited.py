"""The model as an unfair map sees it: its outputs for any numbers, its loss, and the direction in which the loss grows.

However the direction is found, the map that follows it is a function of one person alone, and the test is valid. The
method affects how much unfairness is found: exact derivatives where the model has a closed form or is a torch module, a
function from the caller, central differences of the outputs, or, where small steps change nothing, a search without
derivatives. Every function here works on units of the audit, `features` times one over `scale`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skfairtest._utils.errors import ParameterError
from skfairtest._utils.text import name_of
from skfairtest._utils.typing import Floats
from skfairtest.individual._folds import ranks
from skfairtest.individual._losses import Loss, Truth
from skfairtest.individual.flow.unfair_search import ROWS, along, central_differences, differentiable
from skfairtest.individual.models.affine import Split, split
from skfairtest.individual.models.autograd import autograd, is_torch
from skfairtest.individual.models.features import Features
from skfairtest.individual.models.smooth import Smooth, closed_form
from skfairtest.readers import ask, classes_of, sort_levels
from skfairtest.readers.levels import listed
from skfairtest.readers.predictions import parameters_of

#: People of whom it is asked whether small steps change what the model says.
PROBED = 200
#: What a model of each kind is asked for.
RESPONSES = {
    "classifier": ("predict_proba",),
    "regressor": ("predict",),
    None: ("predict_proba", "decision_function", "predict"),
}
WAYS = ("auto", "analytic", "autograd", "finite_differences", "search")
#: The models that each way of exact derivatives is for.
KNOWN = {
    "analytic": "linear models and multi-layer perceptrons of scikit-learn, soft votes of these, and pipelines of "
    "affine transformers that end in one",
    "autograd": "torch modules and skorch's estimators, also at the end of a pipeline of affine transformers",
}


@dataclass(frozen=True)
class Audited:
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
    smooth : Smooth or None
        The model as a differentiable function.
    parts : Split or None
        The model behind its encoders, where it can be called on shares of categories.
    own : callable or None
        The caller's gradient.
    step : float
        Width of differences, at features of size 1.
    derived : mapping of int to callable
        Columns that are functions of the others: of a table as the model takes it.
    """

    estimator: Any
    inputs: Features
    loss: Loss
    scale: Floats | None
    movable: NDArray[np.bool_]
    response: str = ""
    way: str = "search"
    why: str = ""
    smooth: Smooth | None = None
    parts: Split | None = None
    own: Callable[[Any, Any], Any] | None = None
    step: float = 0.0
    derived: Mapping[int, Callable[[Any], Any]] = field(default_factory=dict)

    def outputs(self, z: Floats, truth: Truth) -> Floats:
        """Return log-probabilities, predictions of shape (n, 1) or, for the caller's loss, the raw outputs."""
        x = self.in_units_of_X(z)
        return self.smooth.outputs(x) if self.smooth is not None else self._responses(x)

    def losses(self, z: Floats, truth: Truth) -> Floats:
        """Return the loss per person."""
        return self.loss.value(truth.values, self.outputs(z, truth))

    def wrong(self, z: Floats, truth: Truth) -> Floats:
        """Return 1 for everybody whose predicted label is wrong."""
        true = truth.values if self._by_position else truth.labels
        return np.asarray(self.predicted(z, truth) != true, dtype=float)

    def predicted(self, z: Floats, truth: Truth) -> NDArray[Any]:
        """Return everybody's predicted label, or its position among the classes where the model predicts none."""
        if self._by_position:
            return np.asarray(self.outputs(z, truth).argmax(axis=1))
        x = self.inputs.as_input(self.in_units_of_X(z))
        return ask(self.estimator, "predict", x).reshape(-1)

    @property
    def _by_position(self) -> bool:
        # A torch module has no predict, and skorch's asks for the module's own precision.
        return self.way == "autograd" or not (hasattr(self.estimator, "predict") or self.loss.own)

    def along_path(self, ask: Callable[[Floats, Truth], Floats], places: Sequence[Floats], truth: Truth) -> Floats:
        """Return `losses` or `wrong` of the same people at several places, of shape (n, n_places).

        The model is called once for all of them: a call costs as much as many rows.
        """
        if self.smooth is not None:
            return np.stack([ask(z, truth) for z in places], axis=1)
        people = np.tile(np.arange(len(places[0])), len(places))
        return ask(np.concatenate(places), truth.take(people)).reshape(len(places), -1).T

    def gradient(self, truth: Truth) -> Callable[[Floats, Any], Floats]:
        """Return the derivative of each person's loss with respect to their own features, ``f(z, people)``."""
        smooth, slope, scale = self.smooth, self.loss.slope, self.scale
        if self.own is not None:
            return lambda z, people: self._own_gradient(z, truth.labels[people])
        if smooth is None:
            return partial(self._differences, truth)
        assert slope is not None
        always = None
        if self.loss.linear and smooth.classes is not None:
            always = slope(truth.values, np.zeros((1, len(smooth.classes))))

        def gradient(x: Floats, people: Any) -> Floats:
            return smooth.gradient(x, partial(slope, truth.values[people]) if always is None else always[people])

        return gradient if scale is None else lambda z, people: gradient(z * scale, people) * scale

    def gradient_along(self, truth: Truth, directions: Floats) -> Callable[[Floats, Any], Floats]:
        """Return the derivative of everybody's loss along some directions, by central differences, ``f(z, people)``.

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

    def _differences(self, truth: Truth, z: Floats, people: Any) -> Floats:
        those = truth.take(people)
        return central_differences(
            lambda x, rows: self.losses(x, those.take(rows)), z, width=self.step, columns=np.flatnonzero(self.movable)
        )

    def in_units_of_X(self, z: Floats) -> Floats:
        """Return features in the units of X."""
        return self.followed(z if self.scale is None else z * self.scale)

    def followed(self, x: Floats) -> Floats:
        """Return people whose derived columns follow the others."""
        if not self.derived:
            return x
        table, x = self.inputs.as_input(x), x.copy()
        for column, function in self.derived.items():
            x[:, column] = derived_values(self.inputs.names[column], function, table, len(x))
        return x

    def in_units_of_audit(self, x: Floats) -> Floats:
        """Return features in the units of the audit."""
        return x if self.scale is None else x / self.scale

    def _responses(self, x: Floats) -> Floats:
        pieces = [slice(start, start + ROWS) for start in range(0, len(x), ROWS)]
        responses = np.concatenate([self.asked(x[piece]) for piece in pieces])
        if self.loss.own:
            return responses
        responses = responses.astype(float).reshape(len(x), -1)
        if self.response == "predict_proba":
            with np.errstate(divide="ignore"):
                responses = np.log(responses)
        return responses

    def asked(self, x: Floats) -> NDArray[Any]:
        """Return the model's outputs for rows in the units of X."""
        if self.parts is not None:
            return self.parts.ask(self.response, x)
        return ask(self.estimator, self.response, self.inputs.as_input(x))

    def _own_gradient(self, z: Floats, labels: Any) -> Floats:
        assert self.own is not None
        found = np.asarray(self.own(self.inputs.as_input(self.in_units_of_X(z)), labels), dtype=float)
        if found.shape != z.shape:
            raise ParameterError(
                f"gradient={name_of(self.own)} must return the derivative of every person's loss with respect to every "
                f"feature, shape {z.shape}; it returned shape {found.shape}"
            )
        unknown = np.isnan(found).any(axis=1)
        if unknown.any() and np.isfinite(z[unknown]).all():
            raise ParameterError(
                f"gradient={name_of(self.own)} must return numbers; it returned nan for {int(unknown.sum()):,} of "
                f"{len(z):,} people"
            )
        return found if self.scale is None else found * self.scale

    def differentiable(self, z: Floats, truth: Truth) -> bool:
        """Whether the model's outputs have derivatives where these people are."""
        columns = np.flatnonzero(self.movable)
        return differentiable(lambda x, rows: self.losses(x, truth.take(rows)), z, width=self.step, columns=columns)


def derived_values(name: str, function: Callable[[Any], Any], table: Any, n: int) -> Floats:
    """Return the values of a derived column.

    Raises
    ------
    ValueError
        If these are not numbers, one for each row.
    """
    found = np.asarray(function(table), dtype=float)
    if found.shape != (n,) or not np.isfinite(found).all():
        raise ParameterError(
            f"derived[{name!r}] must return one finite number for each row of X; for {n:,} rows it returned shape "
            f"{found.shape}" + (f", {int((~np.isfinite(found)).sum()):,} not finite" if found.shape == (n,) else "")
        )
    return found


def audited(
    model: Audited, gradient: Any, truth: Truth, *, kind: str | None, classes: tuple[Any, ...] | None
) -> Audited:
    """Look at a model's outputs, and choose how unfair examples are found.

    Parameters
    ----------
    model : Audited
        The model, with everybody's features.
    gradient : {"auto", "analytic", "autograd", "finite_differences", "search"} or callable
        As the caller gave it.
    truth : Truth
        What is true of everybody.
    kind : {"classifier", "regressor", None}
        What the model is.
    classes : tuple or None
        The classes that its columns of probabilities stand for, where the loss takes classes.

    Returns
    -------
    Audited
        The model, with the features of one person only.

    Raises
    ------
    ValueError
        If the model lacks what the loss needs, or the gradient is not possible for it.
    """
    estimator, features, loss = model.estimator, model.inputs, model.loss
    name = type(estimator).__name__
    wanted = RESPONSES[loss.kind]
    response = next((method for method in wanted if callable(getattr(estimator, method, None))), wanted[0])
    torch = is_torch(estimator)
    if torch and not hasattr(estimator, "fit") and (loss.own or gradient not in ("auto", "autograd")):
        raise ParameterError(
            f"estimator={name}() is a torch module, whose derivatives torch knows for the losses that have a name: "
            "use loss='auto' and gradient='auto', or wrap it in an object with classes_ and predict_proba"
        )
    if not callable(getattr(estimator, response, None)) and not torch:
        raise ParameterError(
            f"estimator={name}() has no {response}, and loss={loss.name!r} needs it: calibrate it "
            "(sklearn.calibration.CalibratedClassifierCV), wrap it in an object with classes_ and predict_proba, or "
            "pass loss=function(y_true, y_pred), which gets its decision_function or its predictions. If it is a "
            "regressor that is not declared as one, pass loss='squared_error'"
        )
    if not torch and "sensitive_features" in parameters_of(getattr(estimator, response)):
        raise ParameterError(
            f"estimator={name}().{response} needs sensitive_features, which an unfair example cannot change because "
            f"they are not columns of X. Wrap it in an object whose {response} reads the group from a column of X"
        )
    model = replace(model, inputs=replace(features, values=features.values[:1], index=None), response=response)
    if classes is not None and not torch and classes_of(estimator) is None:
        _check_width(model, features, classes)
    if not torch:
        _check_deterministic(model, features)
    model = _with_gradient(model, gradient, features, truth, kind)
    known = None if model.smooth is None else model.smooth.classes
    if known is not None and classes is not None and truth.values.max() >= len(known):
        raise ParameterError(
            f"y has labels beyond those of estimator={name}(), which has {len(known)} outputs, for the labels 0 to "
            f"{len(known) - 1}: found {listed(sort_levels(set(truth.labels.tolist())), 5)}. If the module predicts "
            "numbers, pass loss='squared_error'"
        )
    return model


def _with_gradient(model: Audited, gradient: Any, features: Features, truth: Truth, kind: str | None) -> Audited:
    """Choose how the direction is found: the first method that is possible, unless the caller names one."""
    name = type(model.estimator).__name__
    if callable(gradient):
        if model.derived:
            raise ParameterError("derived columns follow no gradient of your own: use gradient='auto'")
        _check_deterministic(model, features)
        if features.blocks:
            raise ParameterError(
                "gradient is a function of numbers, and X has columns of categories: test the last step of the "
                "pipeline on encoded numbers, or use gradient='auto'"
            )
        return replace(model, way="callable", why=f"gradient={name_of(gradient)} was given", own=gradient)
    if not (isinstance(gradient, str) and gradient in WAYS):
        raise ParameterError(
            f"gradient must be one of {', '.join(map(repr, WAYS))}, or a function gradient(X, y) that returns an array "
            f"of the shape of X; found {gradient!r}"
        )
    smooth = None
    known = not (model.loss.own or model.derived)
    if gradient in ("auto", "analytic") and known:
        smooth = closed_form(model.estimator, features)
        if smooth is not None:
            why = f"the closed form of {name}, which reproduces its predictions"
            return replace(model, way="analytic", why=why, smooth=smooth)
    if gradient in ("auto", "autograd") and known:
        smooth = autograd(model.estimator, features, kind=kind)
        if smooth is not None:
            why = f"automatic differentiation of {name} by torch"
            return replace(model, way="autograd", why=why, smooth=smooth)
    if gradient in KNOWN:
        because = (
            "the derivative of a user-defined loss is not known"
            if model.loss.own
            else "the derivatives of derived columns are not known"
            if model.derived
            else f"estimator={name}() is not a supported kind of model ({KNOWN[gradient]})"
        )
        raise ParameterError(
            f"gradient={gradient!r} is not possible: {because}. Use gradient='auto', or pass a function."
        )
    responses = _check_deterministic(model, features)
    if features.blocks and not model.loss.own:
        model = replace(model, parts=split(model.estimator, model.response, features))
    # The step that balances rounding and curvature, for numbers of the model's precision.
    precision = np.finfo(responses.dtype if responses.dtype.kind == "f" else float).eps
    model = replace(model, step=float(np.cbrt(precision)))
    if gradient != "auto":
        return replace(model, way=gradient, why=f"gradient={gradient!r} was asked for")
    places = ranks(features.values, np.unique(truth.labels, return_inverse=True)[1].astype(float))
    some = np.argsort(places, kind="stable")[:: max(1, len(places) // PROBED)][:PROBED]
    if model.differentiable(model.in_units_of_audit(features.values[some]), truth.take(some)):
        why = f"{name} has no closed form here; central differences of {model.response}"
        return replace(model, way="finite_differences", why=why)
    why = (
        f"small steps do not change the predictions of {name} (as with trees, forests and boosted trees), so "
        "candidates are tried in the directions that the fair metric leaves free"
    )
    return replace(model, way="search", why=why)


def _check_deterministic(model: Audited, features: Features) -> NDArray[Any]:
    """Check, with the people in another order, that what the model predicts for a person depends on that person alone.

    Labels are checked as well, which a model may draw although its probabilities are fixed.
    """
    rows = features.values[:PROBED]
    outputs = [(model.asked(rows), model.asked(rows[::-1]))]
    predict = getattr(model.estimator, "predict", None)
    if model.response != "predict" and callable(predict) and "sensitive_features" not in parameters_of(predict):
        labels, reversed_labels = (
            ask(model.estimator, "predict", model.inputs.as_input(each)) for each in (rows, rows[::-1])
        )
        outputs.append((labels, reversed_labels))
    same = "random_state" not in (parameters_of(predict) if callable(predict) else ())
    for responses, again in outputs:
        same &= responses.shape == again.shape and (
            np.allclose(responses, again[::-1], rtol=1e-4, atol=1e-6, equal_nan=True)
            if responses.dtype.kind == "f"
            else bool((responses == again[::-1]).all())
        )
    responses = outputs[0][0]
    if not same:
        raise ParameterError(
            f"estimator={type(model.estimator).__name__}() gives different outputs when it is called again on the same "
            "people in another order: it is randomised, or a person's output depends on the other rows. Test its "
            "average instead: an object with classes_ and a predict_proba that returns the probability of each label"
        )
    return responses


def _check_width(model: Audited, features: Features, classes: tuple[Any, ...]) -> None:
    """Check whether a model without classes_ can have these classes."""
    responses = ask(model.estimator, model.response, features.as_input(features.values[:1]))
    width = responses.shape[1] if responses.ndim == 2 else 1
    from_zero = all(isinstance(label, int) for label in classes)  # from 0, and some may be missing in y
    if width < max(2, len(classes)) or (width > len(classes) and not from_zero):
        raise ParameterError(
            f"estimator={type(model.estimator).__name__}() has no classes_, and its {model.response} returns {width} "
            f"numbers per person, which does not match the labels of y ({listed(classes)}): give it classes_, the "
            "labels in the order of the columns"
        )


def check_losses(model: Audited, z: Floats, truth: Truth) -> Floats:
    """Return the losses before anybody is moved, and check that they are finite.

    Raises
    ------
    ValueError
        If a loss is not finite.
    """
    losses = model.losses(z, truth)
    unknown = int((~np.isfinite(losses)).sum())
    if unknown:
        raise ParameterError(
            f"estimator={type(model.estimator).__name__}() has no finite {model.loss.name} for {unknown:,} of "
            f"{len(z):,} people: its outputs for them are nan or infinite"
        )
    return losses
