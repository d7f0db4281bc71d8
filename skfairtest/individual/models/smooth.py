"""Models as differentiable functions of their features.

A formula is never trusted because of a class's name: of the few that a model's coefficients allow, the one that
reproduces the model's own outputs is used.

From a model's scores to its outputs, and slopes the way back, accurate even for probabilities near 0 and 1.
"""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, csr_matrix
from scipy.special import expit, log_expit

from skfairtest._utils.typing import Floats
from skfairtest.individual.models.affine import affine_steps, derives, path_of_probabilities, some_rows
from skfairtest.individual.models.features import Features
from skfairtest.readers.predictions import ask, classes_of, path_of, transformers_of

#: Probabilities that are 0 to torch have a slope as if they were this.
_SMALLEST = float(np.finfo(np.float32).tiny)


class Link(Protocol):
    """From scores, a row per unit and a column per person, to outputs, a row per person; and slopes the way back."""

    n_signs: int  # of what comes back: 2 for the one score of two classes, whose slope is the difference of two
    by_scores: bool  # whether the way back needs no outputs, only scores

    def outputs(self, scores: Floats) -> Floats:
        """The outputs of the model, of shape (n, k), given scores of shape (units, n)."""

    def back(self, scores: Floats, outputs: Any, slopes: Floats) -> Floats:
        """Return slopes of the scores, of shape (n, units times n_signs), given those of what the model says."""


class Identity:
    """A prediction that is the score."""

    n_signs = 1
    by_scores = True

    def outputs(self, scores: Floats) -> Floats:
        """The outputs of the model, as in `Link`."""
        return scores.T

    def back(self, scores: Floats, outputs: Floats, slopes: Floats) -> Floats:
        """Return slopes of the scores, as in `Link`."""
        return slopes


class Exponential(Identity):
    """A prediction whose logarithm is the score."""

    by_scores = False

    def outputs(self, scores: Floats) -> Floats:
        """The outputs of the model, as in `Link`."""
        return np.exp(scores.T)

    def back(self, scores: Floats, outputs: Floats, slopes: Floats) -> Floats:
        """Return slopes of the scores, as in `Link`."""
        return slopes * outputs


class Sigmoid:
    """Two classes, with one score for the second of them."""

    n_signs = 2
    by_scores = True

    def outputs(self, scores: Floats) -> Floats:
        """The outputs of the model, as in `Link`."""
        # log p and log(1 - p) without a difference that cancels, whichever is near 1.
        score = scores[0]
        outputs = np.empty((2, len(score)))
        np.negative(score, out=outputs[0])
        outputs[1] = score
        np.minimum(outputs, 0.0, out=outputs)
        outputs -= np.log1p(np.exp(-np.abs(score)))
        return outputs.T

    def back(self, scores: Floats, outputs: Floats | None, slopes: Floats) -> Floats:
        """Return slopes of the scores, as in `Link`."""
        # The probability of the other class, in which nothing cancels.
        others = np.empty((2, scores.shape[1]))
        others[0] = scores[0]
        np.negative(scores[0], out=others[1])
        expit(others, out=others)
        others *= slopes.T
        return others.T


class Softmax:
    """A score for every class; probabilities are proportional to the exponentials."""

    n_signs = 1
    by_scores = False

    def outputs(self, scores: Floats) -> Floats:
        """The outputs of the model, as in `Link`."""
        largest = scores.argmax(axis=0)
        people = np.arange(scores.shape[1])
        outputs: Floats = scores - scores[largest, people]
        others = np.exp(outputs)
        # 1 + the others, not the sum: the others may be less than the last digit of 1.
        others[largest, people] = 0.0
        outputs -= np.log1p(others.sum(axis=0))
        return outputs.T

    def back(self, scores: Floats, outputs: Floats, slopes: Floats) -> Floats:
        """Return slopes of the scores, as in `Link`."""
        # slopes - p * total, written so that nothing cancels where p is nearly 1
        others: Floats = slopes.sum(axis=1, keepdims=True) - slopes
        return -slopes * np.expm1(outputs) - np.exp(outputs) * others


class OneVersusRest(Softmax):
    """A score for every class; probabilities are proportional to their sigmoids."""

    def outputs(self, scores: Floats) -> Floats:
        """The outputs of the model, as in `Link`."""
        sigmoids: Floats = log_expit(scores)
        return super().outputs(sigmoids)

    def back(self, scores: Floats, outputs: Floats, slopes: Floats) -> Floats:
        """Return slopes of the scores, as in `Link`."""
        others: Floats = expit(-scores).T
        return super().back(scores, outputs, slopes) * others


class Probabilities:
    """A probability for every class."""

    n_signs = 1
    by_scores = True

    def outputs(self, scores: Floats) -> Floats:
        """The outputs of the model, as in `Link`."""
        largest, people, others = _largest_and_others(scores)
        with np.errstate(divide="ignore"):
            outputs: Floats = np.log(scores)
        # Of a probability near 1 the others know more digits, and so do their slopes.
        outputs[largest, people] = np.log1p(-others.sum(axis=0))
        return outputs.T

    def back(self, scores: Floats, outputs: Floats, slopes: Floats) -> Floats:
        """Return slopes of the scores, as in `Link`."""
        largest, people, _ = _largest_and_others(scores)
        found = slopes / np.maximum(scores, _SMALLEST).T
        found -= found[people, largest][:, None]
        return found


class Probability(Probabilities):
    """Two classes, with one probability, of the second of them."""

    n_signs = 2

    def outputs(self, scores: Floats) -> Floats:
        """The outputs of the model, as in `Link`."""
        with np.errstate(divide="ignore"):
            outputs: Floats = np.concatenate([np.log1p(-scores), np.log(scores)])
        return outputs.T

    def back(self, scores: Floats, outputs: Floats, slopes: Floats) -> Floats:
        """Return slopes of the scores, as in `Link`."""
        both: Floats = np.concatenate([1.0 - scores, scores]).T
        return slopes / np.maximum(both, _SMALLEST)


def _largest_and_others(scores: Floats) -> tuple[NDArray[np.intp], NDArray[np.intp], Floats]:
    """Return where the largest probability of each person is, and the probabilities with a 0 there."""
    largest, people = scores.argmax(axis=0), np.arange(scores.shape[1])
    others = scores.copy()
    others[largest, people] = 0.0
    return largest, people, others


class Smooth(Protocol):
    """A model as a differentiable function of its features.

    Rows are people, whose results do not depend on each other. Nothing is checked: where rows grow beyond what floats
    hold, NumPy warns unless the caller has told it not to.
    """

    @property
    def classes(self) -> tuple[Any, ...] | None:
        """Labels of a classifier, in the order of the outputs; None for a regressor."""

    def outputs(self, x: Floats) -> Floats:
        """The outputs of the model.

        Parameters
        ----------
        x : ndarray of shape (n, d)
            Features of n people.

        Returns
        -------
        ndarray of shape (n, k)
            The logarithms of the probabilities of the k classes, accurate also where a probability is nearly 1; of a
            regressor its predictions, of shape (n, 1).
        """

    def gradient(self, x: Floats, slope: Callable[[Floats], Floats] | Floats) -> Floats:
        """The gradient of a function of the outputs with respect to the features.

        Parameters
        ----------
        x : ndarray of shape (n, d)
            Features of n people.
        slope : callable, or ndarray of shape (n, k)
            The derivative of the function: from outputs of shape (n, k) to an array of their shape; or that array,
            where it is the same for all outputs.

        Returns
        -------
        ndarray of shape (n, d)
            Its derivative with respect to `x`.
        """


def _logistic(units: Floats) -> None:
    # NumPy's tanh is several times as fast as an exponential.
    units *= 0.5
    np.tanh(units, out=units)
    units += 1.0
    units *= 0.5


#: What hidden units do, in place, and the slope of it, given the units; None: nothing.
_ACTIVATIONS: dict[str, Any] = {
    "identity": None,
    "relu": (lambda units: np.maximum(units, 0.0, out=units), lambda units: units > 0),
    "tanh": (lambda units: np.tanh(units, out=units), lambda units: 1.0 - units * units),
    "logistic": (_logistic, lambda units: units * (1.0 - units)),
}


class _Formula(ABC):
    """Formulas that go forward to the outputs, and back with slopes of them."""

    @abstractmethod
    def forward(self, x: Floats) -> tuple[Floats, Any]:
        """Return the outputs, and what the way back needs."""

    @abstractmethod
    def back(self, outputs: Floats, state: Any, slopes: Floats) -> Floats:
        """Take slopes of the outputs back to the features."""

    def outputs(self, x: Floats) -> Floats:
        """The outputs of the model, as in `Smooth`."""
        return self.forward(x)[0]

    def gradient(self, x: Floats, slope: Callable[[Floats], Floats] | Floats) -> Floats:
        """The gradient of a function of the outputs, as in `Smooth`."""
        outputs, state = self.forward(x)
        return self.back(outputs, state, slope(outputs) if callable(slope) else slope)


@dataclass(frozen=True, eq=False)
class _Network(_Formula):
    """Layers of weights and one link; a linear model has one layer.

    Parameters
    ----------
    classes : tuple or None
        As in `Smooth`.
    weights : tuple of ndarrays of shape (units before, units)
        One per layer.
    biases : tuple of ndarrays of shape (units,)
        One per layer.
    activation : str
        What hidden units do.
    link : Link
        What is made of the last scores.
    """

    classes: tuple[Any, ...] | None
    weights: tuple[Floats, ...]
    biases: tuple[Floats, ...]
    activation: str
    link: Link

    @cached_property
    def _transposed(self) -> list[Floats]:
        """The weights as the last layer, whose scores have a column per person, and the way back use them."""
        return [np.ascontiguousarray(weights.T) for weights in self.weights]

    @cached_property
    def _signed(self) -> Floats:
        last = self._transposed[-1]
        return np.concatenate([-last, last]) if self.link.n_signs == 2 else last

    def gradient(self, x: Floats, slope: Callable[[Floats], Floats] | Floats) -> Floats:
        """The gradient of a function of the outputs, as in `Smooth`."""
        if not callable(slope) and self.link.by_scores:
            return self.back(None, self.scores(x), slope)
        return super().gradient(x, slope)

    def forward(self, x: Floats) -> tuple[Floats, Any]:
        """Return the outputs, and what the way back needs."""
        state = self.scores(x)
        return self.link.outputs(state[1]), state

    def scores(self, x: Floats) -> tuple[list[Floats], Floats]:
        """Return the units of hidden layers, and the scores."""
        activation = _ACTIVATIONS[self.activation]
        hidden = []
        for weights, bias in zip(self.weights[:-1], self.biases[:-1], strict=True):
            x = x.dot(weights)
            x += bias
            if activation is not None:
                activation[0](x)
            hidden.append(x)
        scores = self._transposed[-1].dot(x.T)
        scores += self.biases[-1][:, None]
        return hidden, scores

    def back(self, outputs: Floats | None, state: Any, slopes: Floats) -> Floats:
        """Take slopes of the outputs back to the features."""
        activation = _ACTIVATIONS[self.activation]
        hidden, scores = state
        slopes = self.link.back(scores, outputs, slopes).dot(self._signed)
        for units, weights in zip(hidden[::-1], self._transposed[-2::-1], strict=True):
            if activation is not None:
                slopes *= activation[1](units)
            slopes = slopes.dot(weights)
        return slopes


@dataclass(frozen=True, eq=False)
class _Mixture(_Formula):
    """A weighted mean of what several models say: of predictions, or of probabilities.

    Parameters
    ----------
    classes : tuple or None
        As in `Smooth`.
    members : sequence of _Network or _Mixture
        The models.
    weights : ndarray of shape (n_members,)
        Their weights, positive and 1 together.
    """

    classes: tuple[Any, ...] | None
    members: "Sequence[_Network | _Mixture]"
    weights: Floats

    def forward(self, x: Floats) -> tuple[Floats, Any]:
        """Return the outputs, and what the way back needs."""
        responses = [member.forward(x) for member in self.members]
        if self.classes is None:
            return np.tensordot(self.weights, [outputs for outputs, _ in responses], axes=1), responses
        return _log_of_mean(np.stack([outputs for outputs, _ in responses]), self.weights), responses

    def back(self, outputs: Floats, state: Any, slopes: Floats) -> Floats:
        """Take slopes of the outputs back to the features."""
        found = np.zeros(())
        for weight, member, (own, inner) in zip(self.weights, self.members, state, strict=True):
            # The share of the member in a probability is never more than 1.
            share = weight if self.classes is None else np.exp(np.log(weight) + own - outputs)
            found = found + member.back(own, inner, share * slopes)
        return found


def _log_of_mean(logs: Floats, weights: Floats) -> Floats:
    """Return the logarithms of the weighted means of probabilities, given theirs, the models along the first axis."""
    small: Floats = np.logaddexp.reduce(np.log(weights)[:, None, None] + logs)
    # Near 1, from the mean of what lacks to 1: the sum of the parts has lost it.
    lacking = -np.tensordot(weights, np.expm1(logs), axes=1)
    return np.where(lacking < 0.5, np.log1p(-np.minimum(lacking, 0.5)), small)


def closed_form(estimator: Any, features: Features) -> Smooth | None:
    """Return a fitted model as a differentiable function of its features, if that can be read from it.

    Parameters
    ----------
    estimator : object
        A fitted classifier with ``predict_proba``, or a regressor with ``predict``: one with ``coef_`` and
        ``intercept_`` (logistic and linear regressions, discriminant analysis, generalised linear models), a
        multi-layer perceptron, or a soft vote of such; alone, or behind affine transformers in pipelines, also inside
        searches and other wrappers.
    features : Features
        Its inputs. The formula is compared with the model on some of the rows.

    Returns
    -------
    Smooth or None
        None if the model is of another kind, or its outputs differ from the formula.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from skfairtest.individual.models.features import read_features
    >>> features = read_features([[0.0], [1.0], [2.0], [3.0]])
    >>> model = LogisticRegression().fit(features.values, [0, 0, 1, 1])
    >>> smooth = closed_form(model, features)
    >>> np.allclose(
    ...     np.exp(smooth.outputs(features.values)), model.predict_proba(features.values)
    ... )
    True
    """
    if np.isnan(features.values).any():
        return None
    rows = some_rows(features)
    # Where a model is sure of everybody all links agree: between people and their mean it is less so.
    rows = np.concatenate([rows, features.between(rows)])
    return _read(estimator, [], features, rows)


def _read(estimator: Any, before: list[Any], features: Features, rows: Floats) -> "_Network | _Mixture | None":
    """Read a model that stands behind transformers; the result is a function of the features in front of them."""
    path = path_of_probabilities(estimator)
    model, inside = path[-1], before + transformers_of(path)
    candidates: Iterator[_Network | _Mixture]
    if derives(model, "sklearn", "VotingClassifier", "VotingRegressor"):
        candidates = _mixtures(model, inside, features, rows)
    elif derives(model, "sklearn", "CalibratedClassifierCV"):
        candidates = _calibrated(model, inside, features)
    else:
        candidates = _networks(model, classes_of(estimator), inside, features)
    responses = None
    for candidate in candidates:
        if responses is None and (responses := _ask(estimator, candidate.classes, before, features, rows)) is None:
            return None
        if _agree(candidate, rows, responses):
            return candidate
    return None


def _networks(model: Any, classes: tuple[Any, ...] | None, before: list[Any], features: Features) -> Iterator[_Network]:
    """Yield what a model with coefficients may be, the likeliest first."""
    layers = _layers(model)
    if layers is None:
        return
    weights, biases, activation = layers
    if before or features.blocks:  # numbers may be categories for another model
        found = affine_steps(before, features)
        if found is None or found[0].shape[1] != len(weights[0]):
            return
        biases[0] = found[1] @ weights[0] + biases[0]
        weights[0] = found[0] @ weights[0]
    if len(weights[0]) != len(features.names):
        return
    n_units = len(biases[-1])
    if classes is None:
        links: list[Link] = [Identity(), Exponential()] if n_units == 1 else []
    elif n_units == len(classes):
        links = [Softmax(), OneVersusRest()]
    else:
        links = [Sigmoid()] if n_units == 1 and len(classes) == 2 else []
    for link in links:
        yield _Network(classes, tuple(weights), tuple(biases), activation, link)


def _layers(model: Any) -> tuple[list[Floats], list[Floats], str] | None:
    """Return the weights, the biases and the hidden units' activation of a model that has some."""
    # Arrays and numbers they must be: some objects have every attribute that one asks for.
    layers, activation = getattr(model, "coefs_", None), getattr(model, "activation", None)
    if isinstance(layers, list) and activation in _ACTIVATIONS:
        weights = [np.array(layer, dtype=np.float64) for layer in layers]
        return weights, [np.array(layer, dtype=np.float64) for layer in model.intercepts_], activation
    coefficients, intercept = getattr(model, "coef_", None), getattr(model, "intercept_", None)
    if isinstance(coefficients, csr_matrix | csr_array):  # after .sparsify()
        coefficients = coefficients.toarray()
    if not isinstance(coefficients, np.ndarray) or not isinstance(intercept, np.ndarray | float | int):
        return None
    weight = np.atleast_2d(coefficients.astype(np.float64)).T
    if weight.ndim != 2 or np.size(intercept) not in (1, weight.shape[1]):
        return None
    bias = np.broadcast_to(np.asarray(intercept, dtype=np.float64).ravel(), weight.shape[1])
    return [weight], [bias.copy()], "identity"


def _mixtures(model: Any, before: list[Any], features: Features, rows: Floats) -> Iterator[_Mixture]:
    """Yield the mixture that a vote is, if all its members can be read."""
    if not hasattr(model, "estimators_"):
        return
    weights = np.ones(len(model.estimators_))
    if model.weights is not None:
        kept = [member != "drop" for _, member in model.estimators]
        weights = np.asarray(model.weights, dtype=np.float64)[kept]
    if (weights < 0).any() or not (weights > 0).any():
        return
    members = []
    for i in np.flatnonzero(weights):
        member = _read(model.estimators_[i], before, features, rows)
        if member is None:
            return
        members.append(member)
    yield _Mixture(classes_of(model), members, weights[weights > 0] / weights.sum())


def _calibrated(model: Any, before: list[Any], features: Features) -> Iterator[_Mixture]:
    """Yield the mixture that calibration by sigmoids is, if the scores of all its members are linear."""
    members = []
    for one in getattr(model, "calibrated_classifiers_", ()):
        path = path_of(one.estimator)
        inner = _networks(path[-1], (0, 1), before + transformers_of(path), features)
        linear = next((network for network in inner if isinstance(network.link, Sigmoid)), None)
        sigmoid: Any = one.calibrators[0] if len(one.calibrators) == 1 else None
        if linear is None or len(linear.weights) > 1 or not (hasattr(sigmoid, "a_") and hasattr(sigmoid, "b_")):
            return
        weights, bias = -sigmoid.a_ * linear.weights[0], -sigmoid.a_ * linear.biases[0] - sigmoid.b_
        members.append(_Network(classes_of(model), (weights,), (bias,), "identity", Sigmoid()))
    if members:
        yield _Mixture(classes_of(model), members, np.full(len(members), 1 / len(members)))


def _ask(
    estimator: Any, classes: tuple[Any, ...] | None, before: list[Any], features: Features, rows: Floats
) -> NDArray[Any] | None:
    """Ask the model itself."""
    response = "predict" if classes is None else "predict_proba"
    if not callable(getattr(estimator, response, None)):
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a caller who asks about all people is warned
        X = features.as_input(rows)
        for step in before:
            X = step.transform(X)
        responses = ask(estimator, response, X)
    if classes is None and responses.size == len(rows):
        responses = responses.reshape(-1, 1)
    return responses if responses.dtype.kind in "biuf" else None


def _agree(candidate: "_Network | _Mixture", rows: Floats, responses: NDArray[Any]) -> bool:
    """Whether a formula reproduces the model's outputs."""
    with np.errstate(all="ignore"):  # the wrong link may overflow
        outputs = candidate.outputs(rows)
    if candidate.classes is not None:
        # Small probabilities too: of one that is 1 minus another only the first digits are known.
        return outputs.shape == responses.shape and np.allclose(np.exp(outputs), responses, rtol=1e-6, atol=1e-12)
    scale = np.abs(responses).max()
    return outputs.shape == responses.shape and np.allclose(outputs, responses, rtol=1e-6, atol=1e-9 * scale)
