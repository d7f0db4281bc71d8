"""The model as an unfair map sees it: what it says of any numbers, how much it loses, and which way the loss grows.

However the direction is found, the map that follows it is a function of one person alone, and the test keeps its level.
What differs is what it finds: exact derivatives where the model has a closed form or is a torch module, a function of
the caller's, central differences of what the model says, or, where small steps change nothing, a search without
derivatives. Every function here works on units of the audit, `features` times one over `scale`.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skfairtest._utils.errors import ParameterError
from skfairtest._utils.typing import Floats
from skfairtest.individual._folds import ranks
from skfairtest.individual._losses import Loss, name_of
from skfairtest.individual.flow.differences import ROWS, central_differences, differentiable
from skfairtest.individual.models.autograd import autograd
from skfairtest.individual.models.features import Features
from skfairtest.individual.models.smooth import Smooth, closed_form
from skfairtest.readers import ask
from skfairtest.readers.levels import listed

#: People of whom it is asked whether small steps change what the model says.
PROBED = 200
#: Answers that are timed together.
ASKED = 1000
#: What a model of each kind is asked for.
RESPONSES = {
    "classifier": ("predict_proba",),
    "regressor": ("predict",),
    None: ("predict_proba", "decision_function", "predict"),
}
WAYS = ("auto", "analytic", "autograd", "finite_differences", "search")


@dataclass(frozen=True)
class Audited:
    """A fitted model, its loss, and the way in which unfair examples are found.

    Parameters
    ----------
    estimator : object
        The fitted model.
    inputs : Features
        Turns numbers into what the model is asked with; holds no more people than it needs for that.
    loss : Loss
        What it is judged by.
    scale : ndarray of shape (n_features,) or None
        Units of the features.
    movable : ndarray of bool, shape (n_features,)
        Features that are not frozen.
    response : str
        The method that is asked.
    way, why : str
        How the direction is found, and the statement of why so.
    smooth : Smooth or None
        The model as a differentiable function.
    own : callable or None
        The caller's gradient.
    step : float
        Width of differences, at features of size 1.
    cost : float
        Seconds that an answer about one person takes; 0 where the model itself is not asked.
    """

    estimator: Any
    inputs: Features
    loss: Loss
    scale: Floats | None
    movable: NDArray[np.bool_]
    response: str
    way: str = "search"
    why: str = ""
    smooth: Smooth | None = None
    own: Callable[[Any, Any], Any] | None = None
    step: float = 0.0
    cost: float = 0.0

    def outputs(self, z: Floats) -> Floats:
        """Return log-probabilities, predictions of shape (n, 1), or for a loss of the caller's what the model says."""
        x = self.in_units(z)
        return self.smooth.outputs(x) if self.smooth is not None else self._asked(x)

    def losses(self, z: Floats, truth: Any) -> Floats:
        """Return the loss per person."""
        return self.loss.value(truth, self.outputs(z))

    def wrong(self, z: Floats, truth: Any, labels: Any) -> Floats:
        """Return 1 for everybody whose predicted label is wrong."""
        # A torch module has no predict, and skorch's asks for the module's own precision.
        if self.way == "autograd" or not (hasattr(self.estimator, "predict") or self.loss.own):
            return np.asarray(self.outputs(z).argmax(axis=1) != truth, dtype=float)
        predicted = ask(self.estimator, "predict", self.inputs.as_input(self.in_units(z)))
        return np.asarray(predicted.reshape(-1) != labels, dtype=float)

    def gradient(self, truth: Any, labels: Any) -> Callable[[Floats, Any], Floats]:
        """Return the derivative of each person's loss with respect to their own features, ``f(z, people)``."""
        smooth, loss = self.smooth, self.loss
        if self.own is not None:
            return lambda z, people: self._own_gradient(z, labels[people])
        if smooth is None:
            return partial(self._differences, np.asarray(truth))
        assert loss.slope is not None
        slope = loss.slope  # the name alone would be that of an attribute which may be None again
        if loss.linear and smooth.classes is not None:
            always = slope(truth, np.zeros((1, len(smooth.classes))))
            return self._in_units_of_audit(lambda x, people: smooth.gradient(x, always[people]))
        return self._in_units_of_audit(lambda x, people: smooth.gradient(x, partial(slope, truth[people])))

    def _differences(self, truth: Any, z: Floats, people: Any) -> Floats:
        those = truth[people]
        columns = np.flatnonzero(self.movable)
        return central_differences(lambda x, rows: self.losses(x, those[rows]), z, width=self.step, columns=columns)

    def _in_units_of_audit(self, gradient: Callable[[Floats, Any], Floats]) -> Callable[[Floats, Any], Floats]:
        scale = self.scale
        return gradient if scale is None else lambda z, people: gradient(z * scale, people) * scale

    def in_units(self, z: Floats) -> Floats:
        """Return features in the units of X."""
        return z if self.scale is None else z * self.scale

    def _asked(self, x: Floats) -> Floats:
        parts = [
            ask(self.estimator, self.response, self.inputs.as_input(x[start : start + ROWS]))
            for start in range(0, len(x), ROWS)
        ]
        said = np.concatenate(parts)
        if self.loss.own:
            return said
        said = said.astype(float).reshape(len(x), -1)
        if self.response == "predict_proba":
            with np.errstate(divide="ignore"):
                said = np.log(said)
        return said

    def _own_gradient(self, z: Floats, labels: Any) -> Floats:
        assert self.own is not None
        found = np.asarray(self.own(self.inputs.as_input(self.in_units(z)), labels), dtype=float)
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

    def differentiable(self, z: Floats, truth: Any) -> bool:
        """Tell whether what the model says has derivatives where these people are."""
        columns = np.flatnonzero(self.movable)
        return differentiable(lambda x, people: self.losses(x, truth[people]), z, width=self.step, columns=columns)


def audited(model: Audited, gradient: Any, features: Features, truth: Any, labels: Any, *, kind: str | None) -> Audited:
    """Choose how unfair examples are found.

    Parameters
    ----------
    model : Audited
        The model, its loss and units.
    gradient : {"auto", "analytic", "autograd", "finite_differences", "search"} or callable
        As the caller gave it.
    features : Features
        The people.
    truth, labels : array of shape (n_samples,)
        What the loss compares with, and the labels as the caller writes them.
    kind : {"classifier", "regressor", None}
        What the model is.

    Raises
    ------
    ValueError
        If what was asked for is not possible for this model.
    """
    name = type(model.estimator).__name__
    if callable(gradient):
        _always_the_same(model, features)
        return replace(model, way="callable", why=f"gradient={name_of(gradient)} was given", own=gradient)
    if not (isinstance(gradient, str) and gradient in WAYS):
        raise ParameterError(
            f"gradient must be one of {', '.join(map(repr, WAYS))}, or a function gradient(X, y) that returns an array "
            f"of the shape of X; found {gradient!r}"
        )
    for way, reader, what in (
        ("analytic", closed_form, "the closed form of {}, which reproduces what it says"),
        ("autograd", lambda *given: autograd(*given, kind=kind), "automatic differentiation of {} by torch"),
    ):
        if gradient not in ("auto", way):
            continue
        smooth = None if model.loss.own else reader(model.estimator, features)
        if smooth is not None:
            return replace(model, way=way, why=what.format(name), smooth=smooth)
        if gradient == way:
            known = (
                "linear models and multi-layer perceptrons of scikit-learn, soft votes of these, and pipelines of "
                "affine transformers that end in one"
                if way == "analytic"
                else "torch modules and skorch's estimators, also at the end of a pipeline of affine transformers"
            )
            because = (
                "a loss of your own has no derivative here"
                if model.loss.own
                else f"estimator={name}() is none that is known ({known})"
            )
            raise ParameterError(
                f"gradient={way!r} is not possible: {because}. Use gradient='auto', or pass a function."
            )
    said = _always_the_same(model, features)
    # The step that balances rounding and curvature, for numbers of the model's precision.
    precision = np.finfo(said.dtype if said.dtype.kind == "f" else float).eps
    model = replace(model, step=float(np.cbrt(precision)), cost=_seconds(model, features))
    if gradient != "auto":
        return replace(model, way=gradient, why=f"gradient={gradient!r} was asked for")
    places = ranks(features.values, np.unique(labels, return_inverse=True)[1].astype(float))
    some = np.argsort(places, kind="stable")[:: max(1, len(places) // PROBED)][:PROBED]
    z = features.values[some] if model.scale is None else features.values[some] / model.scale
    if model.differentiable(z, np.asarray(truth)[some]):
        why = f"{name} has no closed form here; central differences of {model.response}"
        return replace(model, way="finite_differences", why=why)
    why = (
        f"small steps change nothing that {name} says (as of trees, forests and boosted trees), so that places are "
        "tried in the directions that the fair metric leaves free"
    )
    return replace(model, way="search", why=why)


def _seconds(model: Audited, features: Features) -> float:
    """Measure how long an answer takes, of many at once."""
    rows = features.values[np.arange(ASKED) % len(features)]
    begin = time.perf_counter()
    ask(model.estimator, model.response, features.as_input(rows))
    return (time.perf_counter() - begin) / ASKED


def _always_the_same(model: Audited, features: Features) -> NDArray[Any]:
    """Ask about some people, and again in another order: what is said of a person is to depend on nobody else."""
    rows = features.values[:PROBED]
    said, again = (ask(model.estimator, model.response, features.as_input(x)) for x in (rows, rows[::-1]))
    same = said.shape == again.shape and (
        np.allclose(said, again[::-1], rtol=1e-4, atol=1e-6, equal_nan=True)
        if said.dtype.kind == "f"
        else bool((said == again[::-1]).all())
    )
    if not same:
        raise ParameterError(
            f"estimator={type(model.estimator).__name__}() says something else when it is asked again about the same "
            "people in another order: it is randomised, or looks at all of them at once. Test what it says on "
            "average: an object with classes_ and a predict_proba that returns the probability of each label"
        )
    return said


def asks_for_groups(method: Any) -> bool:
    """Tell whether a method of a model takes sensitive features."""
    try:
        return "sensitive_features" in inspect.signature(method).parameters
    except (TypeError, ValueError):  # compiled code may have no signature
        return False


def check_width(model: Audited, features: Features, classes: tuple[Any, ...]) -> None:
    """Look whether a model that does not say what its classes are can mean these.

    Parameters
    ----------
    model : Audited
        The model.
    features : Features
        The people, of whom it is asked about one.
    classes : tuple
        What its columns are taken for.

    Raises
    ------
    ValueError
        If it has fewer columns, or more than labels that are not whole numbers from 0.
    """
    said = ask(model.estimator, model.response, features.as_input(features.values[:1]))
    width = said.shape[1] if said.ndim == 2 else 1
    counted = all(isinstance(label, int) for label in classes)  # from 0, and some may be missing in y
    if width < max(2, len(classes)) or (width > len(classes) and not counted):
        raise ParameterError(
            f"estimator={type(model.estimator).__name__}() has no classes_, and its {model.response} returns {width} "
            f"numbers per person, which cannot be labelled {listed(classes)} as y has it: give it classes_, the labels "
            "in the order of the columns"
        )


def check_losses(model: Audited, z: Floats, truth: Any) -> None:
    """Look at what everybody loses before anybody is moved.

    Parameters
    ----------
    model : Audited
        The model.
    z : ndarray of shape (n, n_features)
        Where people start.
    truth : ndarray of shape (n,)
        What losses compare with.

    Raises
    ------
    ValueError
        If a loss is not finite.
    """
    unknown = int((~np.isfinite(model.losses(z, truth))).sum())
    if unknown:
        raise ParameterError(
            f"estimator={type(model.estimator).__name__}() has no finite {model.loss.name} about {unknown:,} of "
            f"{len(z):,} people: what it says about them is nan or infinite"
        )
