"""Torch modules as differentiable functions of their features.

Torch differentiates up to the scores of a module. From there on, logarithms of probabilities are computed as for any
other model with scores, accurate even for probabilities near 0 and 1. What the scores mean is inferred from the
module's outputs: torch has no convention.
"""

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_regressor

from skfairtest._utils.errors import ParameterError
from skfairtest._utils.typing import Floats
from skfairtest.individual.models.affine import affine_steps, derives, some_rows
from skfairtest.individual.models.features import Features
from skfairtest.individual.models.smooth import Identity, Link, Probabilities, Probability, Sigmoid, Smooth, Softmax
from skfairtest.readers.predictions import classes_of, path_of, transformers_of

#: How far rows of probabilities may be from 1 in all, and what is said again from what was said, in float32.
_TOLERANCE = 1e-4
#: Modes belong to the module: while it is asked, no other thread may find it in the wrong one.
_MODES = threading.RLock()


@dataclass(frozen=True, eq=False)
class _TorchModel:
    """Affine transformers, a torch module, and a link.

    Parameters
    ----------
    classes : tuple or None
        As in `Smooth`.
    module : torch.nn.Module
        The module whose mode, precision and device count.
    forward : callable
        From a tensor to the module's scores.
    before : tuple of ndarrays, or None
        Matrix and offset of what is done to features first.
    link : Link
        What is made of the scores.
    """

    classes: tuple[Any, ...] | None
    module: Any
    forward: Callable[[Any], Any]
    before: tuple[Floats, Floats] | None
    link: Link

    def outputs(self, x: Floats) -> Floats:
        """The outputs of the model, as in `Smooth`."""
        with sys.modules["torch"].no_grad(), _evaluation_mode(self.module):
            return self.link.outputs(self._ask(x)[1].T)

    def gradient(self, x: Floats, slope: Callable[[Floats], Floats] | Floats) -> Floats:
        """The gradient of a function of the outputs, as in `Smooth`."""
        torch = sys.modules["torch"]
        with torch.inference_mode(False), torch.enable_grad(), _evaluation_mode(self.module):
            entered, scores, tensor = self._ask(x)
            outputs = self.link.outputs(scores.T)
            slopes = self.link.back(scores.T, outputs, slope(outputs) if callable(slope) else slope)
            if self.link.n_signs == 2:
                slopes = slopes[:, 1:] - slopes[:, :1]
            weights = torch.tensor(slopes, dtype=tensor.dtype, device=tensor.device)
            # People do not depend on each other: the derivative of the sum is everybody's own.
            (found,) = torch.autograd.grad(tensor, entered, weights.reshape(tensor.shape))
        gradient = _numbers(found)
        return gradient if self.before is None else gradient @ self.before[0].T

    def enter(self, x: Floats) -> Any:
        """Return the module's input, a tensor that records what is computed from it."""
        return _tensor(x if self.before is None else x @ self.before[0] + self.before[1], self.module)

    def _ask(self, x: Floats) -> tuple[Any, Floats, Any]:
        """Return the module's input, its scores, and these as a tensor."""
        entered = self.enter(x)
        tensor = self.forward(entered)
        return entered, _numbers(tensor).reshape(len(x), -1), tensor


@dataclass(frozen=True, eq=False)
class _Infer:
    """How a skorch net calls its module; if there are several outputs, the first counts."""

    net: Any

    def __call__(self, x: Any) -> Any:
        """Return the scores."""
        outputs = self.net.infer(x)
        return outputs[0] if isinstance(outputs, tuple) else outputs


def is_torch(estimator: Any) -> bool:
    """Whether a model is torch's, without importing torch.

    Parameters
    ----------
    estimator : object
        Torch's are a ``torch.nn.Module`` and an estimator of skorch, fitted or not, alone, at the end of pipelines, or
        inside searches and other wrappers.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> is_torch(LogisticRegression())
    False
    """
    model = path_of(estimator)[-1]
    return _is_module(model) or _is_net(model)


def _is_module(model: Any) -> bool:
    return derives(model, "torch", "Module")


def _is_net(model: Any) -> bool:
    return derives(model, "skorch", "NeuralNet")


def autograd(estimator: Any, features: Features, *, kind: str | None = None) -> Smooth | None:
    """Return a torch model as a differentiable function of its features.

    Parameters
    ----------
    estimator : object
        A ``torch.nn.Module``, or a fitted estimator of skorch, alone or behind affine transformers in pipelines, also
        inside searches and other wrappers. Torch is not imported for anything else.
    features : Features
        Its inputs. What its outputs mean is inferred from some of the rows.
    kind : {"classifier", "regressor"}, optional
        What a bare module is. None: a classifier, if it has at least two outputs.

    Returns
    -------
    Smooth or None
        None if there is no torch in the model, or if the derivatives do not belong to a skorch estimator's outputs. The
        classes of a bare module are 0, 1, ... in the order of its outputs.

    Raises
    ------
    ValueError
        If the meaning of a bare module's outputs is not clear, or its output for a person depends on others.
    """
    path = path_of(estimator)
    model, steps = path[-1], transformers_of(path)
    if not (_is_module(model) or _is_net(model)):
        return None
    rows = some_rows(features)
    before, entering = None, rows
    if steps:
        entering, moving = _transformed(steps, features, rows)
        if moving:
            before = affine_steps(moving, features)
            if before is None:
                return None
    if _is_module(model):
        return _read_module(model, before, rows, kind)
    return _read_net(model, before, rows, entering, kind)


def _read_module(module: Any, before: Any, rows: Floats, kind: str | None) -> _TorchModel:
    """Look at the outputs of a bare module, and infer what they mean."""
    name = type(module).__name__
    plain = _TorchModel(None, module, module, before, Identity())
    _check_shape(plain, rows, name)
    scores = _check_deterministic(plain, rows, name)
    n_outputs = scores.shape[1]
    _check_derivative(plain, rows, name)
    if kind == "regressor":
        if n_outputs != 1:
            raise ParameterError(f"estimator={name}() returns {n_outputs} numbers per person: a regressor returns one.")
        return plain
    if kind is None and n_outputs == 1:
        raise ParameterError(
            f"estimator={name}() returns one number per person, which may be the logit of a classifier or the "
            "prediction of a regressor: say which by loss='log_loss' or loss='squared_error'."
        )
    classes = tuple(range(max(n_outputs, 2)))
    return _TorchModel(classes, module, module, before, _link_of(scores, name))


def _check_shape(model: _TorchModel, rows: Floats, name: str) -> None:
    with sys.modules["torch"].no_grad(), _evaluation_mode(model.module):
        outputs = model.forward(model.enter(rows))
    if not hasattr(outputs, "detach") or outputs.ndim not in (1, 2) or len(outputs) != len(rows):
        found = f"a tensor of shape {tuple(outputs.shape)}" if hasattr(outputs, "detach") else type(outputs).__name__
        raise ParameterError(
            f"estimator={name}() must return a tensor of shape (n,) or (n, n_outputs) when it is called on n people; "
            f"it returned {found} for {len(rows)}. Wrap it in a module that does."
        )


def _link_of(scores: Floats, name: str) -> Link:
    """Return the link of a classifier's outputs."""
    shares = bool(((scores >= 0) & (scores <= 1)).all())
    if not shares:
        # Logarithms of probabilities are scores like others: their exponentials add up to 1.
        return Softmax() if scores.shape[1] > 1 else Sigmoid()
    if scores.shape[1] == 1:
        raise ParameterError(
            f"estimator={name}() returns one number per person, between 0 and 1 for everybody: it could be a "
            "probability or a logit. Return the logit (leave the last Sigmoid out), or the probabilities of both "
            "classes, torch.cat([1 - p, p], dim=1)."
        )
    if (np.abs(scores.sum(axis=1) - 1.0) > _TOLERANCE).any():
        raise ParameterError(
            f"estimator={name}() returns {scores.shape[1]} numbers per person, all between 0 and 1, which do not add "
            "up to 1: they may be logits, or probabilities of something other than classes. Return logits (leave the "
            "last Sigmoid out), or probabilities that add up to 1."
        )
    return Probabilities()


def _check_deterministic(model: _TorchModel, rows: Floats, name: str) -> Floats:
    """Call a module on people, and again on some of them, together with different others."""
    scores, again = model.outputs(rows), model.outputs(rows[::-2])
    if not np.isfinite(scores).all():
        raise ParameterError(f"estimator={name}() returns NaN or infinite numbers for people in X.")
    scale = np.abs(scores).max()
    if np.abs(scores[::-2] - again).max() > _TOLERANCE * scale:
        raise ParameterError(
            f"estimator={name}() gives different outputs for people when it is called on fewer of them: it is "
            "randomised even in evaluation mode, or a person's output depends on the other rows. Test a module whose "
            "output for a person does not depend on who else is there."
        )
    return scores


def _check_derivative(model: _TorchModel, rows: Floats, name: str) -> None:
    try:
        model.gradient(rows[:1], np.ones_like)
    except RuntimeError as error:
        raise ParameterError(
            f"estimator={name}() returns a tensor that has no derivative with respect to its input ({error}): leave "
            "out what detaches it, such as .detach(), .numpy() or torch.no_grad()."
        ) from error


def _read_net(net: Any, before: Any, rows: Floats, entering: Floats, kind: str | None) -> _TorchModel | None:
    """Find the link that skorch applies to the module's outputs: the one that reproduces its predictions."""
    module = getattr(net, "module_", None)
    if module is None:
        return None
    regressor = is_regressor(net) or (kind == "regressor" and not is_classifier(net))
    try:
        with _evaluation_mode(module):
            inputs = _tensor(entering, module).detach().cpu().numpy()
            responses = np.asarray(net.predict(inputs) if regressor else net.predict_proba(inputs), dtype=np.float64)
    except (AttributeError, RuntimeError, TypeError, ValueError):
        return None  # it takes something else than one array; the caller is told so
    responses = responses.reshape(len(rows), -1)
    links: tuple[Any, ...] = (Identity,) if regressor else (Softmax, Sigmoid, Probabilities, Probability)
    classes = None
    if not regressor:
        # Classes are what it was trained on; its predictions are positions of columns.
        known, n_columns = classes_of(net), responses.shape[1]
        classes = known if known is not None and len(known) == n_columns else tuple(range(n_columns))
    for link in links:
        candidate = _TorchModel(classes, module, _Infer(net), before, link())
        if _agrees(candidate, rows, responses):
            return candidate
    return None


def _agrees(candidate: _TorchModel, rows: Floats, responses: Floats) -> bool:
    """Whether a link reproduces the model's outputs, and lets torch differentiate."""
    with np.errstate(all="ignore"):  # the wrong link may take logarithms of anything
        outputs = candidate.outputs(rows)
        expected = outputs if candidate.classes is None else np.exp(outputs)
        if expected.shape != responses.shape:
            return False
        scale = np.abs(responses).max() if candidate.classes is None else 1.0
        if not np.allclose(expected, responses, rtol=_TOLERANCE, atol=1e-6 * scale):
            return False
    try:
        candidate.gradient(rows[:1], np.ones_like)
    except RuntimeError:  # something in between forgets where its numbers came from
        return False
    return True


def _transformed(steps: list[Any], features: Features, rows: Floats) -> tuple[Floats, list[Any]]:
    """Return rows behind transformers, and the transformers without those that only change the type of numbers."""
    X: Any = features.as_input(rows)
    moving = []
    for step in steps:
        before, X = X, step.transform(X)
        if not (derives(step, "sklearn", "FunctionTransformer") and _same_numbers(before, X)):
            moving.append(step)
    return np.asarray(X, dtype=np.float64), moving


def _same_numbers(before: Any, after: Any) -> bool:
    old, new = np.asarray(before), np.asarray(after)
    return new.dtype.kind == "f" and new.shape == old.shape and bool((old.astype(new.dtype) == new).all())


def _tensor(x: Floats, module: Any) -> Any:
    """Return numbers as a tensor of the module's precision and device, which records what is computed from it."""
    torch = sys.modules["torch"]
    of = next((p for p in (*module.parameters(), *module.buffers()) if p.is_floating_point()), torch.empty(0))
    return torch.tensor(np.ascontiguousarray(x), dtype=of.dtype, device=of.device, requires_grad=True)


def _numbers(tensor: Any) -> Floats:
    found: Floats = tensor.detach().cpu().double().numpy()
    return found


@contextmanager
def _evaluation_mode(module: Any) -> Iterator[None]:
    """Put a module into evaluation mode, and each of its parts back into its own."""
    with _MODES:
        modes = [(part, part.training) for part in module.modules()]
        if any(training for _, training in modes):
            module.eval()
        try:
            yield
        finally:
            if any(training for _, training in modes):
                module.train(modes[0][1])
                for part, training in modes:
                    part.training = training
