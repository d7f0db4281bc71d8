"""Designs whose power is computed, their denominators, and power by normal and noncentral t approximations.

References
----------
C. P. Farrington and G. Manning (1990). Statistics in Medicine 9, 1447-1454.
J. A. Hanley and B. J. McNeil (1982). Radiology 143, 29-36.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri
from scipy.stats import binom, nct
from scipy.stats import t as student

from skfairtest._utils.typing import Booleans, Floats, Integers
from skfairtest.inference._discrete import binomial_log_pmf
from skfairtest.inference.rates import Question
from skfairtest.inference.score import score_at

#: Data sets drawn where several comparisons share groups; the standard error is at most .5 / sqrt of this.
DRAWS = 20_000
#: Seed of those draws, so that the same question has the same answer.
SEED = 19700120
#: Denominators further than this many standard deviations from their mean are left out.
_REACH = 4.5


@dataclass(frozen=True)
class Computed:
    """A power, how it was computed, and its Monte-Carlo standard error.

    "exact": enumerated; "averaged": enumerated at nodes of the random denominators; "normal"; "simulated".
    """

    value: float
    method: str
    error: float = 0.0


def simulated(rejected: Booleans) -> Computed:
    """The share of data sets drawn in which the global test rejects."""
    value = float(rejected.mean())
    return Computed(value, "simulated", float(np.sqrt(value * (1 - value) / len(rejected))))


@dataclass(frozen=True)
class Design:
    """The people, the shares who meet the conditions, the true values, and the question.

    `people` and `shares` have one number per group. `values` holds, per rate, the event probability in every group (a
    second rate is conditional on the opposite of the first); for means, rows of means and standard deviations; for
    areas one row. `contrasts` are the groups compared; None: everyone else. `discrete`: adjusted by discrete Holm.
    """

    people: tuple[int, ...]
    shares: tuple[float, ...]
    values: tuple[tuple[Any, ...], ...]
    question: Question
    contrasts: tuple[tuple[int, int | None], ...]
    overall: bool
    alpha: float
    discrete: bool = False

    @property
    def both(self) -> bool:
        """Whether every comparison has to reject, rather than one."""
        return self.question.alternative == "equivalence"

    def level(self, n_rates: int = 1) -> float:
        """Level of one comparison: Holm's smallest adjusted p-value is at most alpha when one is below alpha / k."""
        return self.alpha if self.both else self.alpha / (len(self.contrasts) * max(n_rates, 1))


def turned_over(question: Question) -> Question:
    """The same question with the groups swapped."""
    turned = {"greater": "less", "less": "greater"}.get(question.alternative, question.alternative)
    bounds = question.margin_bounds
    if bounds is not None:
        ratio = question.disparity == "ratio"
        low, high = (1 / end if ratio and np.isfinite(end) else -end for end in reversed(bounds))
        bounds = low, high
    return replace(question, alternative=turned, margin_bounds=bounds)


def denominators(n: int, share: float, spacing: float) -> tuple[Integers, Floats]:
    """Nodes and weights (sum 1) that average a smooth function of a binomial denominator.

    Nodes are multiples of a step of about `spacing` standard deviations, so that neighbouring designs share them; a
    step of 1 is the whole distribution.

    Examples
    --------
    >>> nodes, weights = denominators(1000, 0.3, 1.0)
    >>> (
    ...     len(nodes),
    ...     round(float(weights @ nodes), 3),
    ...     round(float(weights @ (nodes - 300.0) ** 2), 1),
    ... )
    (14, 300.0, 210.0)
    """
    if share >= 1:
        return np.array([n]), np.ones(1)
    spread = float(np.sqrt(n * share * (1 - share)))
    step = max(1, int(spread * spacing))
    low, high = max(0, int(n * share - _REACH * spread) - 2), min(n, int(n * share + _REACH * spread) + 2)
    d = np.arange(low, high + 1)
    probability = np.exp(binomial_log_pmf(d, n, share))
    probability /= probability.sum()
    if step == 1:
        return d, probability
    offset, place = np.divmod(d, step)
    t = place / step
    basis = (
        -t * (t - 1) * (t - 2) / 6,
        (t + 1) * (t - 1) * (t - 2) / 2,
        -(t + 1) * t * (t - 2) / 2,
        (t + 1) * t * (t - 1) / 6,
    )
    nodes = np.arange(int(offset[0]) - 1, int(offset[-1]) + 3)
    weights = np.zeros(len(nodes))
    for shift, values in zip((-1, 0, 1, 2), basis, strict=True):
        np.add.at(weights, offset + shift - nodes[0], probability * values)
    used = weights != 0
    # Nodes beyond the ends stand for the ends.
    return np.clip(nodes[used] * step, 0, n), weights[used]


def pairs_of(n1: int, n2: int, share1: float, share2: float, spacing: float) -> Iterator[tuple[int, int, float]]:
    """Nodes of two independent denominators with their weights, without negligible ones."""
    nodes1, weights1 = denominators(n1, share1, spacing)
    nodes2, weights2 = denominators(n2, share2, spacing)
    weights = np.outer(weights1, weights2)
    kept = np.abs(weights) > 1e-5 * np.abs(weights).max()
    weights = np.where(kept, weights, 0.0) / weights[kept].sum()
    for i, j in zip(*np.nonzero(kept), strict=True):
        yield int(nodes1[i]), int(nodes2[j]), float(weights[i, j])


def binomial_draws(n: int, p: float, uniform: Floats) -> Integers:
    """Binomial numbers that change little when n or p do: the quantiles of fixed uniform numbers."""
    spread = float(np.sqrt(n * p * (1 - p)))
    low, high = max(0, int(n * p - 9 * spread) - 9), min(n, int(n * p + 9 * spread) + 9)
    return np.asarray(low + np.searchsorted(binom.cdf(np.arange(low, high), n, p), uniform))


def normal_power(
    p1: ArrayLike,
    d1: ArrayLike,
    p2: ArrayLike,
    d2: ArrayLike,
    question: Question,
    alpha: float,
    corrected: bool = False,
) -> Floats:
    """Power of the score test of two rates by the normal approximation (Farrington and Manning 1990); broadcasts.

    With no margin and equal groups this is R's ``power.prop.test(strict = TRUE)``.

    Examples
    --------
    >>> float(normal_power(0.5, 50, 0.75, 50, Question(), 0.05).round(3))
    0.74
    """
    p1, d1, p2, d2 = (np.asarray(each, dtype=float) for each in (p1, d1, p2, d2))
    v1, v2, parts = p1 * (1 - p1) / d1, p2 * (1 - p2) / d2, []
    own, ratio = np.sqrt(v1 + v2), question.disparity == "ratio"
    if question.margin_bounds is None:
        pooled = (d1 * p1 + d2 * p2) / (d1 + d2)
        null = np.sqrt(pooled * (1 - pooled) * (1 / d1 + 1 / d2))
        parts = [(p1 - p2, null, side) for side in ("greater", "less") if question.alternative in (side, "two-sided")]
    else:
        for edge, side in question.tests:
            null = score_at(d1 * p1, d1, d2 * p2, d2, edge, question.disparity)[1]
            parts.append((p1 - edge * p2 if ratio else p1 - p2 - edge, null, side))
        if ratio:
            own = np.sqrt(v1 + (sum(edge for edge, _ in question.tests) / len(parts)) ** 2 * v2)
    z = -float(ndtri(alpha / 2 if question.alternative == "two-sided" else alpha))
    step, found = (1 / d1 + 1 / d2) / 2 if corrected else 0.0, np.zeros(())
    for distance, error, side in parts:
        beyond = (distance if side == "greater" else -distance) - z * error - step
        found = found + np.where(own > 0, ndtr(beyond / np.where(own > 0, own, 1.0)), beyond >= 0)
    every = len(parts) - 1 if question.alternative == "equivalence" else 0
    return np.asarray(np.clip(found - every, 0.0, 1.0))


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

    `distances` holds how far the true disparity lies above each tested value.

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
    return max(0.0, sum(found) - len(found) + 1) if alternative == "equivalence" else min(1.0, sum(found))


def values_tested(question: Question) -> list[tuple[float, str]]:
    """Values of the one-sided tests, on the scale of the estimate (the logarithm of a ratio)."""
    if question.margin_bounds is None:
        sides = ("greater", "less") if question.alternative == "two-sided" else (question.alternative,)
        return [(0.0, side) for side in sides]
    return [(float(np.log(edge)) if question.disparity == "ratio" else edge, side) for edge, side in question.tests]
