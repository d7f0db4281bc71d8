"""Torch modules as differentiable functions of their features, where the module is.

People, metric and steps are tensors of the module's device and precision; only checkpoints come back. What the outputs
mean is inferred from them, because torch has no convention: predictions of a regressor, probabilities that add up to 1,
or logits.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from skfairtest._utils.errors import ParameterError
from skfairtest._utils.typing import Floats
from skfairtest.individual.features import derives
from skfairtest.readers.predictions import path_of

#: How far rows of probabilities may be from 1 in all, and outputs from those of another call, in float32.
_TOLERANCE = 1e-4
#: Modes belong to the module: while it is called, no other thread may find it in the wrong one.
_MODES = threading.RLock()


def module_of(estimator: Any) -> Any:
    """The torch module of a model, alone, in a net of skorch or at the end of a pipeline; None: it has none.

    Torch is not imported. A net of skorch whose outputs pass a function of the caller is a model like others.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> module_of(LogisticRegression()) is None
    True
    """
    last = path_of(estimator)[-1]
    if derives(last, "skorch", "NeuralNet") and last.predict_nonlinearity == "auto":
        return getattr(last, "module_", None)
    return last if derives(last, "torch", "Module") else None


@dataclass(frozen=True, eq=False)
class Network:
    """A torch module, behind an affine function of features.

    Parameters
    ----------
    module : torch.nn.Module
        The module.
    like : torch.Tensor
        A tensor of its precision and device.
    before : tuple of ndarray, or None
        Matrix and offset of the affine function.
    link : callable
        From the module's outputs to log-probabilities, or predictions of shape (n, 1).
    n_classes : int
        The classes that it has outputs for; 0 for a regressor.
    """

    module: Any
    like: Any
    before: tuple[Any, Any] | None
    link: Callable[[Any], Any]
    n_classes: int

    def tensor(self, x: Any, integers: bool = False) -> Any:
        """Numbers as a tensor of the module's precision and device."""
        torch = sys.modules["torch"]
        values = np.ascontiguousarray(x)
        return torch.as_tensor(values, dtype=torch.long if integers else self.like.dtype, device=self.like.device)

    def __call__(self, x: Any) -> Any:
        """The outputs for a tensor of features."""
        return self.link(self.module(x if self.before is None else x @ self.before[0] + self.before[1]))

    def outputs(self, x: Floats) -> Floats:
        """Log-probabilities of shape (n, n_classes), or predictions of shape (n, 1)."""
        with sys.modules["torch"].no_grad(), evaluating(self.module):
            values: Floats = self(self.tensor(x)).cpu().double().numpy()
        return values

    def gradient(self, loss: Callable[[Any, Any, Any], Any], truth: Any, scale: Any) -> Callable[[Any, Any], Any]:
        """The derivative of each person's loss by their features in units of the audit, from tensors to tensors."""
        torch = sys.modules["torch"]
        truth = self.tensor(truth, integers=self.n_classes > 0)
        units = None if scale is None else self.tensor(scale)

        def gradient(z: Any, people: Any) -> Any:
            with torch.inference_mode(False), torch.enable_grad(), evaluating(self.module):
                entered = z.clone().requires_grad_(True)
                total = loss(truth[people], self(entered if units is None else entered * units), torch).sum()
                # People do not depend on each other: the derivative of the sum is everybody's own.
                return torch.autograd.grad(total, entered)[0]

        return gradient


def network(module: Any, parts: Any, rows: Floats, kind: str | None) -> Network:
    """Look at a module's outputs for some people, and infer what they mean.

    Parameters
    ----------
    module : torch.nn.Module
        The module.
    parts : object or None
        With the ``matrix`` and the ``offset`` of what is done to features before.
    rows : ndarray of shape (n, d)
        People.
    kind : {"classifier", "regressor", None}
        What the module is. None: a classifier, if it has at least two outputs.

    Raises
    ------
    ValueError
        If the meaning of the outputs is not clear, or an output depends on other people, or the module is not on one
        device.
    """
    torch, name = sys.modules["torch"], type(module).__name__
    weights = [each for each in (*module.parameters(), *module.buffers()) if each.is_floating_point()]
    like = weights[0] if weights else torch.empty(0)
    devices = sorted({str(each.device) for each in weights})
    if len(devices) > 1 or like.device.type == "meta":
        raise ParameterError(
            f"estimator={name}() is on {' and '.join(devices)}: put the whole module on one device that holds its "
            "numbers, such as module.to('cpu')"
        )
    plain = Network(module, like, None, _same, 0)
    before = None if parts is None else (plain.tensor(parts.matrix), plain.tensor(parts.offset))
    plain = Network(module, like, before, _same, 0)
    some = rows[np.linspace(0, len(rows) - 1, min(len(rows), 300)).astype(int)]
    with torch.no_grad(), evaluating(module):
        first = plain(plain.tensor(some))
    if not hasattr(first, "detach") or first.ndim not in (1, 2) or len(first) != len(some):
        shown = f"a tensor of shape {tuple(first.shape)}" if hasattr(first, "detach") else type(first).__name__
        raise ParameterError(
            f"estimator={name}() must return a tensor of shape (n,) or (n, n_outputs) when it is called on n people; "
            f"it returned {shown} for {len(some)}. Wrap it in a module that does"
        )
    scores, again = (plain.outputs(part).reshape(len(part), -1) for part in (some, some[::-2]))
    if not np.isfinite(scores).all():
        raise ParameterError(f"estimator={name}() returns NaN or infinite numbers for people in X")
    if np.abs(scores[::-2] - again).max() > _TOLERANCE * np.abs(scores).max():
        raise ParameterError(
            f"estimator={name}() gives different outputs for people when it is called on fewer of them: it is "
            "randomised even in evaluation mode, or a person's output depends on the other rows. Test a module whose "
            "output for a person does not depend on who else is there"
        )
    n_outputs = scores.shape[1]
    if kind == "regressor":
        if n_outputs != 1:
            raise ParameterError(f"estimator={name}() returns {n_outputs} numbers per person: a regressor returns one")
        found = Network(module, like, before, _column, 0)
    else:
        if kind is None and n_outputs == 1:
            raise ParameterError(
                f"estimator={name}() returns one number per person, which may be the logit of a classifier or the "
                "prediction of a regressor: say which by loss='log_loss' or loss='squared_error'"
            )
        found = Network(module, like, before, _link(scores, name), max(n_outputs, 2))
    try:
        found.gradient(lambda truth, outputs, xp: outputs, np.zeros(1), None)(found.tensor(some[:1]), slice(None))
    except RuntimeError as error:
        raise ParameterError(
            f"estimator={name}() returns a tensor that has no derivative with respect to its input ({error}): leave "
            "out what detaches it, such as .detach(), .numpy() or torch.no_grad()"
        ) from error
    return found


def _same(outputs: Any) -> Any:
    return outputs


def _column(outputs: Any) -> Any:
    return outputs.reshape(len(outputs), 1)


def _logits(outputs: Any) -> Any:
    """Log-probabilities, exact near 0, of logits, or of themselves; one logit is that of the second class."""
    torch = sys.modules["torch"]
    if outputs.ndim == 1 or outputs.shape[1] == 1:
        outputs = torch.nn.functional.pad(_column(outputs), (1, 0))
    top = outputs.argmax(1, keepdim=True)
    others = outputs.scatter(1, top, -np.inf).logsumexp(1, keepdim=True)
    return torch.log_softmax(outputs, 1).scatter(1, top, -torch.nn.functional.softplus(others - outputs.gather(1, top)))


def _logarithms(shares: Any) -> Any:
    """Logarithms of probabilities, exact near 0; a probability of 0 has a slope as if it were the smallest number."""
    torch = sys.modules["torch"]
    top = shares.argmax(1, keepdim=True)
    others = shares.scatter(1, top, 0.0).sum(1, keepdim=True)
    return torch.log(shares.clip(torch.finfo(shares.dtype).tiny)).scatter(1, top, torch.log1p(-others))


def _link(scores: Floats, name: str) -> Callable[[Any], Any]:
    """From a classifier's outputs to log-probabilities."""
    shares = bool(((scores >= 0) & (scores <= 1)).all())
    if not shares:
        return _logits
    if scores.shape[1] == 1:
        raise ParameterError(
            f"estimator={name}() returns one number per person, between 0 and 1 for everybody: it could be a "
            "probability or a logit. Return the logit (leave the last Sigmoid out), or the probabilities of both "
            "classes, torch.cat([1 - p, p], dim=1)"
        )
    if (np.abs(scores.sum(axis=1) - 1.0) > _TOLERANCE).any():
        raise ParameterError(
            f"estimator={name}() returns {scores.shape[1]} numbers per person, all between 0 and 1, which do not add "
            "up to 1: they may be logits, or probabilities of something other than classes. Return logits (leave the "
            "last Sigmoid out), or probabilities that add up to 1"
        )
    return _logarithms


@contextmanager
def evaluating(module: Any) -> Iterator[None]:
    """Put a module into evaluation mode, and each of its parts back into its own."""
    with _MODES:
        modes = [(part, part.training) for part in module.modules()]
        if any(training for _, training in modes):
            module.eval()
        try:
            yield
        finally:
            for part, training in modes:
                part.training = training
