"""The unconditional exact test of two groups' rates (Boschloo 1970), with a certified maximum.

All outcomes are ordered by Fisher's p-value; the p-value is the largest probability, over the common event probability
p, of an outcome whose Fisher p-value is at most the observed one. It never exceeds the level, nor Fisher's p-value.

The tail's probability is summed through the total of events m:
``P_p(tail) = sum_m Bin(m; N, p) H_m``, with H_m the conditional mass of the outcomes in the tail given m. H does not
depend on p and is found once, walking inwards from both ends of every total's support at the same time.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from skfairtest._utils.batches import batches
from skfairtest._utils.typing import Floats, Integers
from skfairtest.inference._discrete import hypergeometric_log_pmf, log_choose
from skfairtest.inference._maximum import certified_maximum
from skfairtest.inference.conditional import TIE, conditional_log_p

#: Largest (d1 + d2) * min(d1, d2) for which the unconditional law is enumerated.
CAP = 10_000_000
#: Beyond this many people the maximum is certified to 1e-6, else to 1e-9.
MANY = 100_000
#: Fisher p-values that differ by less than this, relatively, are equal; rounding only ever enlarges the tail.
_EQUAL = 1e-9
#: Outcomes less probable than exp(-40) times the observed p-value are left out of the sums.
_NEGLIGIBLE = 40.0


def within_cap(d1: int, d2: int) -> bool:
    """Whether the unconditional law of these two denominators is enumerated."""
    return (int(d1) + int(d2)) * min(int(d1), int(d2)) <= CAP


def _start(level: float, end: Integers, mode: Integers, d1: int, d2: int, m: Integers) -> Integers:
    """Per total, the outcome nearest to `end` whose log probability exceeds `level` (the mode if none does)."""
    outer, inner = end, np.where(hypergeometric_log_pmf(end, d1, d2, m) > level, end, mode)
    while True:
        gap = np.abs(inner - outer)
        if gap.max() <= 1:
            return inner
        middle = np.where(gap > 1, (inner + outer) // 2, inner)
        above = hypergeometric_log_pmf(middle, d1, d2, m) > level
        inner = np.where((gap > 1) & above, middle, inner)
        outer = np.where((gap > 1) & ~above, middle, outer)


def tail_given_total(d1: int, d2: int, log_p: float, alternative: str) -> Floats:
    """For every total m = 0..N, the mass of outcomes with Fisher p-value <= exp(log_p), divided by exp(log_p)."""
    people = d1 + d2
    last = people // 2 if alternative == "two-sided" else people
    m = np.arange(last + 1, dtype=np.int64)
    low, high = np.maximum(0, m - d2), np.minimum(d1, m)
    mode = (m + 1) * (d1 + 1) // (people + 2)
    left = low if alternative == "greater" else _start(log_p - _NEGLIGIBLE, low, mode, d1, d2, m)
    right = high if alternative == "less" else _start(log_p - _NEGLIGIBLE, high, mode, d1, d2, m)
    with np.errstate(over="ignore"):
        from_left = np.exp(np.minimum(hypergeometric_log_pmf(left, d1, d2, m) - log_p, 700.0))
        from_right = np.exp(np.minimum(hypergeometric_log_pmf(right, d1, d2, m) - log_p, 700.0))
    if alternative == "greater":
        from_left[:] = np.inf
    if alternative == "less":
        from_right[:] = np.inf
    masses = np.zeros(len(m))
    rows, mass, total = np.arange(len(m)), np.zeros(len(m)), m.astype(float)
    lefts, rights = left.astype(float), right.astype(float)
    while len(rows):
        meet = lefts >= rights
        take_left = from_left <= from_right * (1 + TIE)
        take_right = from_right <= from_left * (1 + TIE)
        both = take_left & take_right
        step = np.where(take_left, from_left, from_right) + np.where(both & ~meet, from_right, 0.0)
        grown = mass + step
        fits = (grown <= 1 + _EQUAL) & (lefts <= rights)
        mass = np.where(fits, np.minimum(grown, 1.0), mass)
        keep = np.flatnonzero(fits)
        if len(keep) < len(rows):
            masses[rows] = mass
            rows, mass, total = rows[keep], mass[keep], total[keep]
            lefts, rights = lefts[keep], rights[keep]
            from_left, from_right = from_left[keep], from_right[keep]
            take_left, take_right = take_left[keep], take_right[keep]
        with np.errstate(invalid="ignore", divide="ignore"):
            up = (total - lefts) / (lefts + 1) * ((d1 - lefts) / (d2 - total + lefts + 1))
            down = rights / (total - rights + 1) * ((d2 - total + rights) / (d1 - rights + 1))
            from_left = np.where(take_left, from_left * up, from_left)
            from_right = np.where(take_right, from_right * down, from_right)
        lefts += take_left
        rights -= take_right
    if alternative == "two-sided":
        return np.concatenate([masses, masses[: people - last][::-1]])
    return masses


@dataclass(frozen=True)
class TotalTail:
    """Probability of a tail as a function of the common event probability, through the total of events."""

    masses: Floats  # (N + 1,) conditional mass of the tail given each total, in [0, 1]

    def __call__(self, angle: Floats) -> Floats:
        """Return the tail's probability at p = sin(angle)**2, (k,) -> (k,)."""
        people = len(self.masses) - 1
        half = int(4.75 * np.sqrt(people)) + 20
        p = np.clip(np.sin(angle) ** 2, 1e-300, 1.0)
        q = np.clip(np.cos(angle) ** 2, 1e-300, 1.0)
        width = min(2 * half + 1, people + 1)
        first = np.clip((people * p).astype(np.int64) - half, 0, people + 1 - width)
        out = np.empty(len(p))
        for part in batches(len(p), 2_000_000 // width):
            m = first[part, None] + np.arange(width)
            log_weights = self._log_choose[m] + m * np.log(p[part] / q[part])[:, None]
            weights = np.exp(log_weights - log_weights.max(axis=1, keepdims=True))
            out[part] = (weights * self.masses[m]).sum(axis=1) / weights.sum(axis=1)
        return out

    @cached_property
    def _log_choose(self) -> Floats:
        return log_choose(len(self.masses) - 1)


def largest_probability(tail: TotalTail, start: float, stop: float, *, relative: float) -> float:
    """Return the certified maximum of a tail's probability over common event probabilities sin(angle)**2."""
    people = len(tail.masses) - 1

    def curvature(left: Floats, right: Floats) -> Floats:
        # With Z the standardized total, s^2 + s' = 4 N (Z^2 - 1) - 2 sqrt(N) Z (q - p) / sqrt(p q).
        spread = np.minimum(np.sin(2 * left) ** 2, np.sin(2 * right) ** 2) / 4  # p q, smallest at an end
        with np.errstate(divide="ignore", invalid="ignore"):
            kurtosis = np.sqrt(2 + np.maximum(1 - 6 * spread, 0) / (people * spread))
            bound = 2 * people * kurtosis + np.sqrt(people * (1 - 4 * spread).clip(0) / spread)
        return np.where(spread > 0, bound, np.inf)

    return certified_maximum(
        tail, lambda angle: np.sqrt(people) * angle, start, stop, curvature=curvature, relative=relative
    )


def unconditional_log_p(x1: int, d1: int, x2: int, d2: int, alternative: str = "two-sided") -> float:
    """Log p-value of Boschloo's test that two groups share one event probability.

    Parameters
    ----------
    x1, x2 : int
        People of each group who show the event.
    d1, d2 : int
        People of each group who meet the condition.
    alternative : {"two-sided", "greater", "less"}
        "greater": group 1's probability is greater.

    Returns
    -------
    float
        Natural logarithm of a bound of the p-value that lies above it by about 1e-9, relatively (1e-6 for more than
        100,000 people).

    References
    ----------
    R. D. Boschloo (1970). Raised conditional level of significance for the 2 x 2-table when testing the equality of two
    probabilities. Statistica Neerlandica 24, 1-35.

    Examples
    --------
    >>> from math import exp
    >>> round(exp(unconditional_log_p(2, 15, 12, 600)), 4)
    0.0352
    """
    x1, d1, x2, d2 = int(x1), int(d1), int(x2), int(d2)
    fisher = conditional_log_p(x1, d1, x2, d2, alternative)
    if fisher > -1e-12:
        return 0.0
    if d1 > d2:  # the walk is over the smaller group; for it "greater" is "less" of the other
        d1, d2 = d2, d1
        alternative = {"greater": "less", "less": "greater"}.get(alternative, alternative)
    people = d1 + d2
    tail = TotalTail(tail_given_total(d1, d2, fisher, alternative))
    stop = np.pi / 4 if alternative == "two-sided" else np.pi / 2  # two-sided, p and 1 - p are alike
    bound = largest_probability(tail, 0.0, stop, relative=1e-9 if people <= MANY else 1e-6)
    return min(fisher, fisher + float(np.log(bound)))
