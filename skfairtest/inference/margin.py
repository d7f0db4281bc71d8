"""Exact unconditional tests of a margin: that one rate exceeds the other by more than a tolerance (Chan 1998).

Outcomes are ordered by the Miettinen-Nurminen score at the margin's edge. The p-value is the largest probability, over
the nuisance rate, of an outcome at least as extreme, within a 1 - 1e-6 confidence region of both rates (Berger and Boos
1994), plus that 1e-6.

References
----------
I. S. F. Chan (1998), Statistics in Medicine 17, 1403-1413. R. L. Berger and D. D. Boos (1994), Journal of the American
Statistical Association 89, 1012-1016.
"""

import numpy as np
from scipy.special import bdtr, betaincinv, ndtri

from skfairtest._utils.batches import batches
from skfairtest._utils.typing import Booleans, Floats, Integers
from skfairtest.inference._discrete import binomial_log_pmf, certified_maxima
from skfairtest.inference.score import of_score, score_at

#: Error probability of the confidence region in which the nuisance rate is looked for, added to the p-value.
BERGER_BOOS = 1e-6
#: The reported maximum lies above the true one by no more than this, relatively.
RELATIVE = 1e-3
#: Scores that differ by less than this, relatively where they are above 1, are equal: they have at least ten digits.
TIE = 1e-10
#: Probabilities of outcomes that are held at the same time.
_AT_ONCE = 2_000_000


def _clopper_pearson(x: Integers, d: int, error: float) -> tuple[Floats, Floats]:
    low = np.where(x == 0, 0.0, betaincinv(np.maximum(x, 1), d - x + 1, error / 2))
    return low, np.where(x == d, 1.0, betaincinv(x + 1, np.maximum(d - x, 1), 1 - error / 2))


def last_reaching(level: float | Floats, d1: int, d2: int, edge: float, disparity: str) -> Integers:
    """For x1 = 0..d1, the largest x2 whose score is at least the level (-1 if none)."""
    first = np.arange(d1 + 1)
    inside, outside = np.full(d1 + 1, -1), np.full(d1 + 1, d2 + 1)
    while (outside - inside).max() > 1:
        middle = np.clip((inside + outside) // 2, 0, d2)
        reaches = score_at(first, d1, middle, d2, edge, disparity)[0] >= level
        inside, outside = np.where(reaches, middle, inside), np.where(reaches, outside, middle)
        outside = np.where(outside - inside <= 1, inside + 1, outside)
    # The score falls with x2 and rises with x1; rounding must not undo that.
    return np.maximum.accumulate(inside)


def margin_log_p(
    x1: int, d1: int, x2: int, d2: int, edge: float, alternative: str, disparity: str = "difference"
) -> float:
    """Log p-value of the exact test that a difference or ratio of two rates lies beyond an edge.

    "greater": the null hypothesis is a disparity of at most `edge`. The result bounds the p-value, at most a thousandth
    and 1e-7 above it, and is never below log(1e-6).
    """
    if alternative == "less":  # swap the groups: r1 - r2 >= e is r2 - r1 <= -e, and r1 / r2 >= e is r2 / r1 <= 1 / e
        edge = 1 / edge if disparity == "ratio" else -edge
        x1, d1, x2, d2 = x2, d2, x1, d1
    observed = float(score_at(x1, d1, x2, d2, edge, disparity)[0])
    level = observed - TIE * max(1.0, abs(observed))
    region = last_reaching(level, d1, d2, edge, disparity).astype(float)

    def partner(p2: Floats) -> Floats:
        return np.clip(edge * p2 if disparity == "ratio" else p2 + edge, 0.0, 1.0)

    half = int(4.75 * np.sqrt(d1)) + 20
    width = min(2 * half + 1, d1 + 1)

    def tail(p1: Floats, p2: Floats) -> Floats:
        first = np.clip((d1 * p1).astype(np.int64) - half, 0, d1 + 1 - width)
        x = first[:, None] + np.arange(width)
        last = region[x]
        weights = np.exp(binomial_log_pmf(x, d1, p1[:, None]))
        below = np.where(last < 0, 0.0, bdtr(np.maximum(last, 0), d2, p2[:, None]))
        return np.asarray((weights * np.where(last >= d2, 1.0, below)).sum(axis=1))

    (low1, high1), (low2, high2) = (
        (float(end) for end in _clopper_pearson(np.asarray(x), d, BERGER_BOOS / 2)) for x, d in ((x1, d1), (x2, d2))
    )
    if (edge * low2 if disparity == "ratio" else low2 + edge) >= high1:
        # The whole region lies in the null hypothesis, on whose far corner the tail is likeliest.
        largest = float(tail(np.asarray([high1]), np.asarray([low2]))[0])
        return min(0.0, float(np.log(largest + BERGER_BOOS)))
    if disparity == "ratio":
        start, stop = max(low2, low1 / edge), min(high2, high1 / edge, 1 / edge)
    else:
        start, stop = max(low2, low1 - edge, -edge), min(high2, high1 - edge, 1 - edge)
    if start > stop:
        return float(np.log(BERGER_BOOS))

    slope = edge if disparity == "ratio" else 1.0

    def length(p2: Floats) -> Floats:
        return np.asarray(
            np.sqrt(d1) * np.arcsin(np.sqrt(partner(np.asarray(p2)))) + np.sqrt(d2) * np.arcsin(np.sqrt(p2))
        )

    def curvature(left: Floats, right: Floats) -> Floats:
        # E|s^2 + s'| / 2 with s the sum of both scores along the edge; p (1 - p) is smallest at an end.
        total = np.zeros_like(left)
        for d, weight, low, high in ((d1, slope, partner(left), partner(right)), (d2, 1.0, left, right)):
            spread = np.minimum(low * (1 - low), high * (1 - high))
            with np.errstate(divide="ignore", over="ignore"):
                total = total + weight**2 * (d / spread + np.sqrt(d) / spread**1.5 / 2)
        return total

    bounds = certified_maxima(
        lambda _, p2: tail(partner(p2), p2),
        lambda _, p2: length(p2),
        np.array([start]),
        np.array([stop]),
        curvature=lambda _, left, right: curvature(left, right),
        relative=RELATIVE,
        absolute=BERGER_BOOS / 10,
        max_evaluations=20_000,
    )
    return min(0.0, float(np.log(bounds[0] + BERGER_BOOS)))


def margin_rejected(d1: int, d2: int, edge: float, disparity: str, alpha: float) -> Booleans:
    """Outcomes, shape (d1 + 1, d2 + 1), that the test of `margin_log_p` rejects for "greater"."""
    slope, step = (edge, 0.0) if disparity == "ratio" else (1.0, edge)
    x1, x2 = np.arange(d1 + 1), np.arange(d2 + 1)
    (low1, high1), (low2, high2) = (_clopper_pearson(x, x[-1], BERGER_BOOS / 2) for x in (x1, x2))
    first, second = (np.sin(np.linspace(0, np.pi / 2, int(16 * np.sqrt(d)) + 9)) ** 2 for d in (d1, d2))
    p2 = np.unique(np.r_[(np.r_[first, low1, high1] - step) / slope, second, low2, high2])
    p2 = p2[(p2 >= 0) & (p2 <= 1) & (slope * p2 + step >= 0) & (slope * p2 + step <= 1)]
    p1 = slope * p2 + step
    score, z = score_at(x1[:, None], d1, x2, d2, edge, disparity)[0], -float(ndtri(alpha))
    out = score > 2 * abs(z) + 1  # beyond doubt
    i, j = np.nonzero((score >= z - 1 - abs(z) / 4) & ~out)
    order = np.argsort(-score[i, j], kind="stable")
    i, j = i[order], j[order]
    near = score[i, j]
    last = np.searchsorted(-near, TIE * np.maximum(1.0, np.abs(near)) - near, "right") - 1
    p_values = np.full(len(near), BERGER_BOOS)
    for part in batches(len(p2), _AT_ONCE // (len(near) + 1)):
        one, two = p1[part, None], p2[part, None]
        mass1, mass2 = np.exp(binomial_log_pmf(x1, d1, one)), np.exp(binomial_log_pmf(x2, d2, two))
        tails = np.cumsum(mass1[:, i] * mass2[:, j], axis=1)[:, last] + ((mass1 @ out) * mass2).sum(axis=1)[:, None]
        tails *= ((low1 <= one) & (one <= high1))[:, i] & ((low2 <= two) & (two <= high2))[:, j]
        np.maximum(p_values, tails.max(axis=0) + BERGER_BOOS, out=p_values)
    out[i, j] = (p_values <= alpha) & (slope * low2[j] + step < high1[i])
    return np.asarray(out)


def normal_log_p(z: float, alternative: str) -> float:
    """Log p-value of a statistic that is standard normal under the null hypothesis."""
    return float(of_score(np.asarray(z), alternative))
