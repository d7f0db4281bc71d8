"""From a model's scores to its outputs, and slopes the way back, accurate even for probabilities near 0 and 1."""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit

from skfairtest._utils.typing import Floats

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
