"""Rejection regions of the tests of two rates with a margin: a border found outcome by outcome, or interpolated.

References
----------
C. P. Farrington and G. Manning (1990). Test statistics and sample size formulae for comparative binomial trials with
null hypothesis of non-zero risk difference or non-unity relative risk. Statistics in Medicine 9, 1447-1454.
"""

from dataclasses import replace
from functools import cache, lru_cache

import numpy as np
from scipy.special import ndtri

from skfairtest._utils.typing import Floats, Integers
from skfairtest.inference.margin import last_reaching, margin_log_p
from skfairtest.inference.rates import Question
from skfairtest.inference.regions import FirstRegion
from skfairtest.inference.score import score_at
from skfairtest.inference.unconditional import within_cap

#: Largest d1 + d2 for which a margin's region is found.
MARGIN_REGION_PEOPLE = 200_000
#: Largest d1 + d2 for which a margin's critical scores are those of the exact test; beyond, they are extrapolated.
MARGIN_PEOPLE = 400


@lru_cache(maxsize=512)
def _critical_scores(d1: int, d2: int, edge: float, disparity: str, alpha: float) -> tuple[Floats, Floats, Integers]:
    """Per node x1: the share x1 / d1, the score from which "greater" is rejected there, and the last such x2."""
    standard, level = -float(ndtri(alpha)), float(np.log(alpha))
    nodes = np.arange(d1 + 1) if d1 <= 60 else np.unique(np.linspace(0, d1, 25).astype(np.int64))
    scores, borders = np.full(len(nodes), standard), np.empty(len(nodes), dtype=np.int64)
    others = np.arange(d2 + 1)
    for i, x1 in enumerate(nodes.tolist()):
        score = np.minimum.accumulate(score_at(x1, d1, others, d2, edge, disparity)[0])

        @cache
        def log_p(x2: int, x1: int = x1) -> float:
            return margin_log_p(x1, d1, x2, d2, edge, "greater", disparity)

        last = guess = int((score >= standard).sum()) - 1
        while last < d2 and log_p(last + 1) <= level:
            last += 1
        if last == guess:
            while last >= 0 and log_p(last) > level:
                last -= 1
        borders[i] = last
        if -1 < last < d2 and np.isfinite(score[last : last + 2]).all():
            # Between the last outcome that is rejected and the first that is not, log p is taken for linear.
            below, above = log_p(last), log_p(last + 1)
            scores[i] = score[last] + (level - below) / (above - below) * (score[last + 1] - score[last])
    return nodes / d1, scores, borders


@lru_cache(maxsize=2048)
def _margin_border(
    d1: int, d2: int, edge: float, disparity: str, alpha: float, method: str, means: tuple[int, int] | None
) -> Integers:
    """For every x1, the last x2 at which "greater than the edge" is rejected (-1: none)."""
    standard = -float(ndtri(alpha))
    critical = np.full(d1 + 1, standard)
    if method != "asymptotic" and within_cap(d1, d2):
        m1, m2 = means or (d1, d2)
        scale = min(1.0, MARGIN_PEOPLE / (m1 + m2))
        m1, m2 = max(1, round(m1 * scale)), max(1, round(m2 * scale))
        shares, scores, borders = _critical_scores(m1, m2, edge, disparity, alpha)
        if (m1, m2) == (d1, d2) and len(borders) == d1 + 1:
            return np.maximum.accumulate(borders)
        # What exactness adds to the critical score shrinks with the square root of the people.
        shrink = np.sqrt(min(1.0, (m1 + m2) / (d1 + d2)))
        critical = standard + shrink * np.interp(np.arange(d1 + 1) / d1, shares, scores - standard)
    return last_reaching(critical, d1, d2, edge, disparity)


def _edge_to_rest(edge: float, share: float, disparity: str) -> float:
    """Edge against everyone else that says the same as `edge` against everyone, of whom the group is `share`."""
    if disparity == "difference" or np.isinf(edge):
        return edge / (1 - share)
    return edge * (1 - share) / (1 - edge * share) if edge * share < 1 else np.inf


def to_rest(question: Question, share: float) -> Question:
    """The question about a group and everyone else, where a margin is one to everyone."""
    if question.margin_bounds is None or not share:
        return question
    low, high = (_edge_to_rest(edge, share, question.disparity) for edge in question.margin_bounds)
    return replace(question, margin_bounds=(low, high))


def margin_region(
    d1: int, d2: int, question: Question, alpha: float, *, share: float = 0.0, means: tuple[int, int] | None = None
) -> FirstRegion:
    """Region of a test with a margin.

    Up to 60 people in group 1 and 400 in all it is the exact test's, found outcome by outcome. Beyond, the exact test's
    critical score is found at 25 values of x1 and interpolated; for more than 400 people it is that of a design of 400
    with the same proportions, its distance from the normal quantile shrunk by the square root of the ratio.

    Parameters
    ----------
    d1, d2 : int
        People of each group who meet the condition.
    question : Question
        With margin bounds.
    alpha : float
        Level of the comparison.
    share : float
        Share that group 1 has of everyone, where the disparity is one to everyone; else 0.
    means : (int, int), optional
        Denominators whose critical scores are used instead of this design's own: one search for many designs alike.

    Returns
    -------
    FirstRegion
        The outcomes that are rejected.
    """
    both = question.alternative == "equivalence"
    # A side that is not tested rejects nothing; of a margin that is open there, everything.
    below, above = np.full(d1 + 1, d2 if both else -1), np.full(d1 + 1, 0 if both else d2 + 1)
    level = alpha / 2 if question.alternative == "two-sided" else alpha
    for given, side in question.tests:
        edge = _edge_to_rest(given, share, question.disparity)
        if not (0 < edge < np.inf if question.disparity == "ratio" else -1 < edge < 1):
            # No disparity lies beyond the edge, or every one does.
            if (edge > 0) == (side == "less"):
                below, above = (below, np.zeros_like(above)) if side == "less" else (np.full(d1 + 1, d2), above)
            continue
        arguments = (question.disparity, level, question.method)
        if side == "greater":
            below = _margin_border(d1, d2, edge, *arguments, means)
        else:  # swap the groups
            back = 1 / edge if question.disparity == "ratio" else -edge
            swapped = _margin_border(d2, d1, back, *arguments, None if means is None else means[::-1])
            above = np.searchsorted(swapped, np.arange(d1 + 1), side="left")
    return FirstRegion(d1, d2, below, above, both)
