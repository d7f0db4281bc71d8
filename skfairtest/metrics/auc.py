"""Area under the ROC curve, ties included, and each person's part of its error, for many weightings of the same people.

AUC = P(score of a positive > score of a negative) + P(equal) / 2, the mean of either side's placements; DeLong's
variance is s10^2 / n_pos + s01^2 / n_neg, with the sample variances (ddof = 1) of the placements, taken as 0 for a
class of one person. Without one of the classes both are NaN.

References
----------
E. R. DeLong, D. M. DeLong and D. L. Clarke-Pearson (1988), Biometrics 44, 837-845. X. Sun and W. Xu (2014), IEEE Signal
Processing Letters 21, 1389-1393.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from skfairtest._utils.typing import Floats, Positions

#: Entries of a float array held at once.
CHUNK = 500_000


def both_sides(others: NDArray[Any], scores: NDArray[Any]) -> tuple[Positions, Positions]:
    """For each score, how many others (sorted) are below, and how many are below or equal."""
    return np.searchsorted(others, scores, side="left"), np.searchsorted(others, scores, side="right")


def shares_below(weights: Floats, low: Positions, high: Positions) -> Floats:
    """Return the share of the weights (b, n) that is below each position, half of the tied included."""
    below = np.zeros((len(weights), weights.shape[1] + 1))
    np.cumsum(weights, axis=1, out=below[:, 1:])
    with np.errstate(invalid="ignore"):
        below /= below[:, -1:].copy()  # exactly 1 at the end
    return np.asarray((below.take(low, axis=1) + below.take(high, axis=1)) / 2)


def center(placements: Floats, weights: Floats) -> Floats:
    """Weighted means (b,); placements become weight times distance from the mean, over all weight."""
    if placements.shape[1] == 0:
        return np.full(len(placements), np.nan)
    start = np.take_along_axis(placements, weights.argmax(axis=1)[:, None], axis=1)
    total = weights.sum(axis=1, keepdims=True)
    placements -= start
    with np.errstate(divide="ignore", invalid="ignore"):
        distance = np.einsum("ij,ij->i", placements, weights)[:, None] / total
        placements -= distance
        placements *= weights
        placements /= total
    return np.asarray((start + distance)[:, 0])
