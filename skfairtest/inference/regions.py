"""Rejection regions of the tests of two rates (Boschloo 1970): which of all outcomes are rejected."""

from bisect import bisect_left
from dataclasses import replace
from functools import lru_cache

import numpy as np
from scipy.special import ndtri

from skfairtest._utils.typing import Booleans, Floats, Integers
from skfairtest.inference._discrete import log_choose, log_factorials
from skfairtest.inference._tails import EQUAL, Tails, outside_tail
from skfairtest.inference.conditional import TIE, mode_of
from skfairtest.inference.margin import margin_rejected
from skfairtest.inference.rates import Question
from skfairtest.inference.score import score_at
from skfairtest.inference.unconditional import largest_probabilities, within_cap


def reference_of(question: Question, d1: int, d2: int) -> str:
    """Name the reference distribution by which `FairnessTest` tests equality of two rates."""
    if question.method in ("asymptotic", "bootstrap"):
        return "asymptotic"
    given = question.method == "permutation" or question.disparity == "odds_ratio" or not within_cap(d1, d2)
    return "conditional" if given else "unconditional"


def to_rest(question: Question, share: float) -> Question:
    """The question against everyone else, if a margin is to everyone, with the group's `share` of them."""
    if question.margin_bounds is None or not share:
        return question

    def edge_to_rest(edge: float) -> float:
        if question.disparity == "difference" or np.isinf(edge):
            return edge / (1 - share)
        return edge * (1 - share) / (1 - edge * share) if edge * share < 1 else np.inf

    low, high = map(edge_to_rest, question.margin_bounds)
    return replace(question, margin_bounds=(low, high))


def kept_outcomes(
    d1: int, d2: int, m: Integers, alpha: float, reference: str, alternative: str = "two-sided"
) -> tuple[Integers, Integers]:
    """First and last outcome of group 1, given each total in `m`, that a test of equality does not reject.

    `reference` is "unconditional" (Boschloo), "conditional" (Fisher) or "asymptotic" (score test).

    Examples
    --------
    >>> kept_outcomes(10, 10, np.array([0, 10]), 0.05, "conditional")
    (array([0, 3]), array([0, 7]))
    """
    if reference == "asymptotic":
        lower, upper = score_limits(d1, d2, m, alpha if alternative == "two-sided" else 2 * alpha)
    else:
        level = alpha if reference == "conditional" else boschloos_level(d1, d2, alpha, alternative)
        lower, upper, _ = outside_tail(d1, d2, m, np.log(level), alternative)
    return (lower if alternative == "two-sided" else np.maximum(0, m - d2)), upper


def score_limits(d1: Integers | int, d2: Integers | int, m: Integers, alpha: float) -> tuple[Integers, Integers]:
    """First and last outcome, per total, that the two-sided score test does not reject."""
    low, high = np.maximum(0, m - d2), np.minimum(d1, m)
    z = -float(ndtri(alpha / 2))
    people = d1 + d2
    centre = m * (d1 / people)
    reach = z * np.sqrt(m * ((people - m) / people) * (d1 / people) * (d2 / people))
    # Outcomes at a limit are rejected; without events, or with nothing else, the statistic is 0.
    lower = np.maximum(low, np.floor(centre - reach + 1e-9).astype(np.int64) + 1)
    upper = np.minimum(high, np.ceil(centre + reach - 1e-9).astype(np.int64) - 1)
    certain = (m == 0) | (m == people)
    return np.where(certain, low, lower), np.where(certain, high, upper)


def _fishers_p_values(d1: int, d2: int, totals: Integers, alternative: str) -> Floats:
    """Fisher's p-values given totals of events, (totals, outcomes), in increasing order; far outcomes left out."""
    people, m = d1 + d2, totals[:, None]
    mode, reach, log = mode_of(d1, d2, m), int(4.5 * np.sqrt(d1 / people * d2)) + 20, log_factorials(people)
    last = np.minimum(np.minimum(d1, m), mode + reach)
    x = np.maximum(np.maximum(0, m - d2), mode - reach) + np.arange(min(d1, d2, 2 * reach) + 1)
    inside, x = x <= last, np.minimum(x, last)
    common = log[d1] + log[d2] - log[people] + log[m] + log[people - m]
    probability = inside * np.exp(common - (log[x] + log[d1 - x] + log[m - x] + log[d2 - m + x]))
    if alternative != "two-sided":
        return np.asarray(np.cumsum(probability[:, ::-1], axis=1))
    probability.sort(axis=1)
    p = np.cumsum(probability, axis=1)
    # Given a total, no more than two outcomes are equally probable.
    np.copyto(p[:, :-1], p[:, 1:], where=probability[:, 1:] <= probability[:, :-1] * (1 + TIE))
    return p


@lru_cache(maxsize=4096)
def boschloos_level(d1: int, d2: int, alpha: float, alternative: str, *, certified: bool = True) -> float:
    """The largest of Fisher's p-values whose region has the level (Boschloo 1970).

    Nearly, if not certified: from totals of events that are a quarter of a standard deviation apart.
    """
    people, two_sided = d1 + d2, alternative == "two-sided"
    m = np.arange(people + 1)
    if not certified:
        m = np.unique(np.rint(people * np.sin(np.linspace(0, np.pi / 2, int(4 * np.pi * people**0.5) + 1)) ** 2))
        m = m.astype(np.int64)
    p = _fishers_p_values(d1, d2, m, alternative)
    steps = np.diff((m[1:] + m[:-1]) / 2, prepend=-0.5, append=people + 0.5)
    levels = np.unique(p[(p > alpha) & (p <= min(1.0, 20 * alpha))])
    rates = np.sin(np.linspace(0, np.pi / 4 if two_sided else np.pi / 2, 129)[1:-1]) ** 2
    weights = np.exp(log_choose(people)[m] + m * np.log(rates)[:, None] + (people - m) * np.log1p(-rates)[:, None])
    weights *= steps

    def masses(place: int) -> Floats:
        return np.asarray(np.where(p <= levels[place] * (1 + EQUAL), p, 0.0).max(axis=1))

    def is_beyond(place: int) -> bool:
        return bool((weights @ masses(place)).max() > alpha)

    def is_certified_beyond(place: int) -> bool:
        tails = Tails(np.array([people]), np.minimum(masses(place), 1.0))
        return bool(largest_probabilities(tails, two_sided=two_sided, relative=1e-5)[0] > alpha)

    n = bisect_left(range(len(levels)), True, key=is_beyond)
    if certified and n and is_certified_beyond(n - 1):
        n = bisect_left(range(n - 1), True, key=is_certified_beyond)
    return float(levels[n - 1]) if n else alpha


def is_rejected(x1: Integers, d1: int, x2: Integers, d2: int, question: Question, alpha: float) -> Booleans:
    """Mask of the outcomes, of events that broadcast, that the test of two rates rejects.

    Examples
    --------
    >>> int(is_rejected(np.arange(5)[:, None], 4, np.arange(4), 3, Question(), 0.05).sum())
    2
    """
    if question.margin_bounds is not None:
        return np.asarray(_margin_region(d1, d2, question, alpha)[x1, x2])
    if question.alternative == "less":
        return is_rejected(x2, d2, x1, d1, replace(question, alternative="greater"), alpha)
    m = x1 + x2
    least = int(m.min())
    totals, reference = np.arange(least, int(m.max()) + 1), reference_of(question, d1, d2)
    lower, upper = kept_outcomes(d1, d2, totals, alpha, reference, question.alternative)
    return np.asarray((x1 < lower[m - least]) | (x1 > upper[m - least]))


@lru_cache(maxsize=256)
def _margin_region(d1: int, d2: int, question: Question, alpha: float) -> Booleans:
    """The mask (d1 + 1, d2 + 1) of the outcomes that a test of a margin rejects."""
    x1, x2 = np.ogrid[: d1 + 1, : d2 + 1]
    regions, level = [], alpha / 2 if question.alternative == "two-sided" else alpha
    ends = (0.0, np.inf) if question.disparity == "ratio" else (-1.0, 1.0)
    for edge, side in question.tests:
        if not ends[0] < edge < ends[1]:  # every disparity lies beyond the edge, or none does
            regions.append(np.full((d1 + 1, d2 + 1), (edge <= ends[0]) == (side == "greater")))
        elif question.method == "asymptotic":
            z = score_at(x1, d1, x2, d2, edge, question.disparity)[0]
            regions.append((z if side == "greater" else -z) >= -float(ndtri(level)))
        elif side == "greater":
            regions.append(margin_rejected(d1, d2, edge, question.disparity, level))
        else:
            turned = 1 / edge if question.disparity == "ratio" else -edge
            regions.append(margin_rejected(d2, d1, turned, question.disparity, level).T)
    return np.asarray((np.all if question.alternative == "equivalence" else np.any)(regions, axis=0))
