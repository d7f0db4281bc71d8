"""Power by normal and noncentral t approximations: of two rates' score test, and of studentized estimates.

References
----------
C. P. Farrington and G. Manning (1990). Test statistics and sample size formulae for comparative binomial trials with
null hypothesis of non-zero risk difference or non-unity relative risk. Statistics in Medicine 9, 1447-1454.
J. A. Hanley and B. J. McNeil (1982). The meaning and use of the area under a receiver operating characteristic (ROC)
curve. Radiology 143, 29-36.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri
from scipy.stats import nct
from scipy.stats import t as student

from skfairtest._utils.typing import Floats
from skfairtest.inference.rates import Question
from skfairtest.inference.score import score_at


def normal_power(
    p1: float, d1: float, p2: float, d2: float, question: Question, alpha: float, *, corrected: bool = False
) -> float:
    """Power of the score test of two rates by the normal approximation (Farrington and Manning 1990).

    The statistic's standard error is that at the restricted maximum of the expected counts; with no margin and groups
    of one size this is R's ``power.prop.test(strict = TRUE)``. `corrected`: for Fisher's test, which is the score test
    with Yates's correction.

    Examples
    --------
    >>> round(normal_power(0.5, 50, 0.75, 50, Question(), 0.05), 3)
    0.74
    """
    own = float(np.sqrt(p1 * (1 - p1) / d1 + p2 * (1 - p2) / d2))
    if question.margin_bounds is None:
        pooled = (d1 * p1 + d2 * p2) / (d1 + d2)
        null = float(np.sqrt(pooled * (1 - pooled) * (1 / d1 + 1 / d2)))
        parts = [(p1 - p2, null, side) for side in ("greater", "less") if question.alternative in (side, "two-sided")]
    else:
        parts = []
        for edge, side in question.tests:
            null = float(score_at(d1 * p1, d1, d2 * p2, d2, edge, question.disparity)[1])
            distance = p1 - edge * p2 if question.disparity == "ratio" else p1 - p2 - edge
            parts.append((distance, null, side))
        if question.disparity == "ratio":
            weight = sum(edge for edge, _ in question.tests) / len(parts)
            own = float(np.sqrt(p1 * (1 - p1) / d1 + weight**2 * p2 * (1 - p2) / d2))
    z = -float(ndtri(alpha / 2 if question.alternative == "two-sided" else alpha))
    found = []
    for distance, error, side in parts:
        beyond = (distance if side == "greater" else -distance) - z * error
        beyond -= (1 / d1 + 1 / d2) / 2 if corrected else 0.0
        found.append(float(ndtr(beyond / own)) if own > 0 else float(beyond >= 0))
    return max(0.0, sum(found) - 1) if question.alternative == "equivalence" else min(1.0, sum(found))


def hanley_mcneil(auc: ArrayLike, positives: ArrayLike, negatives: ArrayLike) -> Floats:
    """Standard error of an area under the ROC curve, for exponential scores (Hanley and McNeil 1982).

    Examples
    --------
    >>> round(float(hanley_mcneil(0.8, 50, 50)), 4)
    0.0445
    """
    a, n1, n0 = (np.asarray(v, dtype=float) for v in (auc, positives, negatives))
    q1, q2 = a / (2 - a), 2 * a * a / (1 + a)
    variance = (a * (1 - a) + (n1 - 1) * (q1 - a * a) + (n0 - 1) * (q2 - a * a)) / (n1 * n0)
    return np.asarray(np.sqrt(np.maximum(variance, 0.0)))


def estimate_power(
    distances: list[tuple[float, str]], error: float, alpha: float, alternative: str, freedom: float = np.inf
) -> float:
    """Power of studentized one-sided tests, by the noncentral t distribution (the normal one without freedom given).

    Parameters
    ----------
    distances : list of (float, {"greater", "less"})
        How far the true disparity lies above each tested value.
    error : float
        Standard error of the estimated disparity.
    alpha : float
        Level.
    alternative : str
        "two-sided": the tests have half the level each. "equivalence": both must reject.
    freedom : float
        Degrees of freedom of the standard error.

    Returns
    -------
    float
        Power.

    Examples
    --------
    >>> two_sided = [(1.0, "greater"), (1.0, "less")]
    >>> round(
    ...     estimate_power(two_sided, (2 / 20) ** 0.5, 0.05, "two-sided", 38), 6
    ... )  # R: power.t.test
    0.868953
    """
    level = alpha / 2 if alternative == "two-sided" else alpha
    found = []
    for distance, side in distances:
        shift = distance if side == "greater" else -distance
        if error == 0:
            found.append(float(shift > 0))
        elif np.isinf(freedom):
            found.append(float(ndtr(shift / error + ndtri(level))))
        else:
            critical = float(student.isf(level, freedom))
            value = float(nct.sf(critical, freedom, shift / error))
            # Far out the noncentral t distribution cannot be computed, nor does it matter.
            found.append(float(ndtr(shift / error - critical)) if np.isnan(value) else value)
    return max(0.0, sum(found) - 1) if alternative == "equivalence" else min(1.0, sum(found))


def values_tested(question: Question) -> list[tuple[float, str]]:
    """Values that one-sided tests compare with, on the scale of the estimate (the logarithm of a ratio)."""
    if question.margin_bounds is None:
        sides = ("greater", "less") if question.alternative == "two-sided" else (question.alternative,)
        return [(0.0, side) for side in sides]
    return [(float(np.log(edge)) if question.disparity == "ratio" else edge, side) for edge, side in question.tests]
