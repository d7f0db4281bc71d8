"""The designs whose power is computed, the denominators that they lead to, and the result."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import binom

from skfairtest._utils.typing import Booleans, Floats, Integers
from skfairtest.inference._discrete import binomial_log_pmf
from skfairtest.inference.rates import Question

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
    """The people, the shares who meet the conditions, the true rates, and the question.

    Parameters
    ----------
    people : tuple of int
        People per group.
    shares : tuple of float
        Share of each group who meet the condition of the first rate.
    rates : tuple of tuple of float
        Per rate, the event probability in every group.
    complement : tuple of bool
        Per rate, whether its condition is met by those who do not meet the first rate's.
    question : Question
        Disparity, alternative, margin and method of every comparison.
    contrasts : tuple of (int, int or None)
        Groups compared; None: everyone else.
    overall : bool
        The disparity is to everyone, the group included.
    alpha : float
        Level of the whole test.
    """

    people: tuple[int, ...]
    shares: tuple[float, ...]
    rates: tuple[tuple[float, ...], ...]
    complement: tuple[bool, ...]
    question: Question
    contrasts: tuple[tuple[int, int | None], ...]
    overall: bool
    alpha: float

    @property
    def both(self) -> bool:
        """Whether every comparison has to reject, rather than one."""
        return self.question.alternative == "equivalence"

    def level(self, n_rates: int) -> float:
        """Level of one comparison: Holm's smallest adjusted p-value is at most alpha when one is below alpha / k."""
        return self.alpha if self.both else self.alpha / (len(self.contrasts) * max(n_rates, 1))


@dataclass(frozen=True)
class Estimates:
    """A design whose values are means or areas under the ROC curve, tested with a studentized statistic.

    Parameters
    ----------
    people : tuple of int
        People per group.
    values : tuple of float
        True value in every group.
    spreads : tuple of float or None
        Standard deviation of one person's value in every group; None: areas under the ROC curve.
    shares : tuple of float
        Share of positives in every group, for areas.
    question, contrasts, alpha
        As in `Design`.
    """

    people: tuple[int, ...]
    values: tuple[float, ...]
    spreads: tuple[float, ...] | None
    shares: tuple[float, ...]
    question: Question
    contrasts: tuple[tuple[int, int | None], ...]
    alpha: float

    @property
    def level(self) -> float:
        """Level of one comparison."""
        return self.alpha if self.question.alternative == "equivalence" else self.alpha / len(self.contrasts)


def mirrored(question: Question) -> Question:
    """The same question with the groups swapped."""
    turned = {"greater": "less", "less": "greater"}.get(question.alternative, question.alternative)
    return replace(question, alternative=turned)


def turned_over(question: Question) -> Question:
    """One-sided question about group 2 against group 1, asked of group 1 against group 2."""
    bounds = question.margin_bounds
    if bounds is not None:
        bounds = (1 / bounds[1], 1 / bounds[0]) if question.disparity == "ratio" else (-bounds[1], -bounds[0])
    return replace(mirrored(question), margin_bounds=bounds)


def denominators(n: int, share: float, spacing: float) -> tuple[Integers, Floats]:
    """Nodes and weights that average a smooth function of a binomial denominator.

    Nodes are multiples of a step of about `spacing` standard deviations, so that neighbouring designs share them.
    Between nodes the function is assumed to be cubic; a step of 1 is the whole distribution.

    Parameters
    ----------
    n : int
        People.
    share : float
        Probability of meeting the condition.
    spacing : float
        Standard deviations between nodes.

    Returns
    -------
    nodes : ndarray of int
        Denominators, from 0 to `n`.
    weights : ndarray of float
        Their weights, whose sum is 1; some may be slightly negative.

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
    """Nodes of two independent denominators with their weights, the negligible ones left out."""
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
