"""How much of a difference of two values is composition, and how much is different treatment at equal conditions.

Each group's value is the sum over strata of its share there times its value there. With standard shares w_s, the
difference is sum w_s (r_1s - r_2s), different treatment, plus what the groups' own shares add: composition (Kitagawa
1955; Oaxaca 1973 and Blinder 1973 take one group's shares as the standard). People in strata without anybody from the
other group have no counterpart; their contribution is a separate part (Nopo 2008).

References
----------
E. M. Kitagawa (1955). Components of a difference between two rates. Journal of the American Statistical Association 50,
1168-1194. R. Oaxaca (1973). International Economic Review 14, 693-709. A. S. Blinder (1973). Journal of Human Resources
8, 436-455. H. Nopo (2008). Review of Economics and Statistics 90, 290-299.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skfairtest._utils.typing import Floats

#: Which shares are the standard: both groups' average, everybody's, or those of one group.
STANDARDS = ("average", "pooled", "group", "other")
#: Step of derivatives, which the imaginary part of an analytic function gives without a rounding error.
STEP = 1e-30


def _parts(share: NDArray[Any], value: NDArray[Any], people: Floats, standard: str) -> NDArray[Any]:
    """Return difference, composition, treatment and what has no counterpart; then the second and third by stratum."""
    both = ((people > 0).all(axis=0)).astype(float)
    own = share * both / (share * both).sum(axis=1, keepdims=True)
    total = people.sum(axis=1)
    pooled = (total[:, None] * share * both).sum(axis=0)
    weight = {"average": own.mean(axis=0), "pooled": pooled / pooled.sum(), "group": own[0], "other": own[1]}[standard]
    treatment = weight * (value[0] - value[1])
    # Shares add up to 1, so that any level may be taken from the values: their average shows who gains by composition.
    level = (weight * value.mean(axis=0)).sum()
    composition = (own[0] - weight) * (value[0] - level) + (weight - own[1]) * (value[1] - level)
    difference = (share * value).sum(axis=1)
    matched = composition.sum() + treatment.sum()
    whole = difference[0] - difference[1]
    return np.concatenate([[whole, composition.sum(), treatment.sum(), whole - matched], composition, treatment])


def decompose(people: Floats, value: Floats, variance: Floats, standard: str) -> tuple[Floats, Floats]:
    """Decompose a difference of two groups, and give standard errors by the delta method.

    Parameters
    ----------
    people : ndarray of shape (2, S)
        Denominators in each stratum, of which one at least is not 0 on both sides.
    value, variance : ndarray of shape (2, S)
        Rates or means in each stratum and their variances; anything where nobody is.
    standard : {"average", "pooled", "group", "other"}
        Which shares are the standard.

    Returns
    -------
    parts : ndarray of shape (4 + 2 * S,)
        Difference, composition, treatment, and what has no counterpart; composition and treatment by stratum.
    error : ndarray of shape (4 + 2 * S,)
        Standard errors, shares of people being random too.
    """
    occupied = people > 0
    total = people.sum(axis=1)
    share, value = people / total[:, None], np.where(occupied, value, 0.0)
    evaluate = partial(_parts, people=people, standard=standard)
    slopes = []
    for place in np.ndindex(people.shape):
        moved = np.zeros(people.shape, dtype=complex)
        moved[place] = STEP * 1j
        slopes.append([evaluate(share + moved, value).imag, evaluate(share, value + moved).imag])
    by_share, by_value = np.array(slopes).reshape(*people.shape, 2, -1).transpose(2, 0, 1, 3) / STEP
    mean = (share[..., None] * by_share).sum(axis=1)
    squares = ((share[..., None] * by_share**2).sum(axis=1) - mean**2) / total[:, None]
    squares += (np.where(occupied, variance, 0.0)[..., None] * by_value**2).sum(axis=1)
    return evaluate(share, value), np.sqrt(np.maximum(squares.sum(axis=0), 0.0))
