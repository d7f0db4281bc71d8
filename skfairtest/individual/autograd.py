"""Torch modules as differentiable functions of their features, on the module's device and in its precision.

Torch has no convention for outputs: whether they are predictions, probabilities or logits is inferred from their
values.
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
from skfairtest.readers.predictions import path_of, transformers_of

#: How far rows of probabilities may be from 1 in all, in float32.
_TOLERANCE = 1e-4
#: Modes belong to the module: while it is called, no other thread may find it in the wrong one.
_MODES = threading.RLock()


def module_of(estimator: Any) -> Any:
    """The torch module of a model, alone or in a net of skorch; None: it has none.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> module_of(LogisticRegression()) is None
    True
    """
    path = path_of(estimator)
    last: Any = None if transformers_of(path) else path[-1]
    if derives(last, "skorch", "NeuralNet") and last.predict_nonlinearity == "auto":
        return getattr(last, "module_", None)
    return last if derives(last, "torch", "Module") else None


@dataclass(frozen=True, eq=False)
class Network:
    """A torch module."""

    module: Any
    like: Any
    link: Callable[[Any], Any]
    n_classes: int

    def tensor(self, x: Any, integers: bool = False) -> Any:
        """Numbers as a tensor of the module's precision and device."""
        torch = sys.modules["torch"]
        values = np.ascontiguousarray(x)
        return torch.as_tensor(values, dtype=torch.long if integers else self.like.dtype, device=self.like.device)

    def __call__(self, x: Any) -> Any:
        """The outputs for a tensor of features."""
        return self.link(self.module(x))

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
                # People do not depend on each other: the derivative of the sum holds each person's derivative.
                return torch.autograd.grad(total, entered)[0]

        return gradient


def network(module: Any, rows: Floats, kind: str | None) -> Network:
    """Look at a module's outputs for some people, and infer what they mean."""
    torch, name = sys.modules["torch"], type(module).__name__
    weights = [each for each in (*module.parameters(), *module.buffers()) if each.is_floating_point()]
    like = weights[0] if weights else torch.empty(0)
    devices = sorted({str(each.device) for each in weights})
    if len(devices) > 1 or like.device.type == "meta":
        raise ParameterError(
            f"estimator={name}() is on {' and '.join(devices)}: put the whole module on one device that holds its "
            "numbers, such as module.to('cpu')"
        )
    plain = Network(module, like, _column, 0)
    with torch.no_grad(), evaluating(module):
        first = module(plain.tensor(rows))
    shape = tuple(getattr(first, "shape", ()))
    if not hasattr(first, "detach") or len(shape) not in (1, 2) or len(first) != len(rows):
        raise ParameterError(
            f"estimator={name}() must return a tensor of shape (n,) or (n, n_outputs) when it is called on n people; "
            f"it returned {type(first).__name__} of shape {shape} for {len(rows)}. Wrap it in a module that does"
        )
    n_outputs = shape[1] if len(shape) > 1 else 1
    if kind == "regressor" and n_outputs == 1:
        return plain
    if kind == "regressor" or (kind is None and n_outputs == 1):
        raise ParameterError(
            f"estimator={name}() returns {n_outputs} number(s) per person: a regressor returns one, and "
            "loss='log_loss' or loss='squared_error' says whether one is the logit of a classifier or a prediction"
        )
    scores = first.detach().cpu().double().numpy().reshape(len(rows), -1)
    return Network(module, like, _link(scores, name), max(n_outputs, 2))


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
    if not ((scores >= 0) & (scores <= 1)).all():
        return _logits
    if (np.abs(scores.sum(axis=1) - 1.0) > _TOLERANCE).any():
        raise ParameterError(
            f"estimator={name}() returns {scores.shape[1]} number(s) per person, all between 0 and 1, which do not add "
            "up to 1: they may be probabilities or logits. Return logits (leave the last Sigmoid out), or the "
            "probabilities of all classes, torch.cat([1 - p, p], dim=1)"
        )
    return _logarithms


@contextmanager
def evaluating(module: Any) -> Iterator[None]:
    """Put a module into evaluation mode, and each of its parts back into its own."""
    with _MODES:
        modes = [(part, part.training) for part in module.modules()]
        module.eval()
        try:
            yield
        finally:
            for part, training in modes:
                part.training = training
