"""The unconditional exact test of two groups' rates (Boschloo 1970), with a certified maximum, for many pairs at once.

The p-value is the largest probability, over the common event probability p, of an outcome whose Fisher p-value is at
most the observed one. The size never exceeds the level, and the p-value never exceeds Fisher's.

The tail's probability is ``P_p(tail) = sum_m Bin(m; N, p) H_m`` over the total of events m, with H_m the conditional
mass of the tail given m, which does not depend on p (`_tails`).
"""

from collections.abc import Callable
from typing import overload

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy.special import factorial

from skfairtest._utils.batches import parts, starts
from skfairtest._utils.typing import Booleans, Floats, Integers
from skfairtest.inference._discrete import certified_maxima
from skfairtest.inference._tails import EQUAL, Tails, tails_given_totals
from skfairtest.inference.conditional import conditional_log_p

#: Largest (d1 + d2) * min(d1, d2) for which the unconditional null distribution is enumerated.
CAP = 10_000_000
#: Beyond this many people the maximum is certified to 1e-6, else to 1e-9.
MANY = 100_000
#: People of the pairs whose tails are held in memory at the same time; elements of the terms of their sums.
_PEOPLE, _TERMS = 1_000_000, 100_000
#: Cells next to an event probability of 0 that have no power series; terms of those of the others.
_NEAR, _ORDER = 4, 28
#: Totals looked at beyond nine and a half standard deviations.
_BEYOND = 30
_FACTORIALS = factorial(np.arange(_ORDER))


@overload
def within_cap(d1: int, d2: int) -> bool: ...
@overload
def within_cap(d1: Integers, d2: Integers) -> Booleans: ...
def within_cap(d1, d2):  # type: ignore[no-untyped-def]
    """Whether the unconditional null distribution of these two denominators is enumerated."""
    return (d1 + d2) * (1.0 * np.minimum(d1, d2)) <= CAP


class TailProbability:
    """Probability of some pairs' tails as a function of the common event probability sin(angle)**2.

    In a cell of one standard deviation of the total, the probability of a total is that near its centre times an
    exponential, so that the sum is a power series. Near 0 and 1 the sum itself is taken.
    """

    def __init__(self, tails: Tails) -> None:
        self.people, self._root = tails.people, np.sqrt(tails.people)
        # The rarer of the event and its absence is counted: the masses are read from their end beyond 45 degrees.
        around = np.zeros(int(tails.people.max()) + 2 * _BEYOND)
        self._masses = np.concatenate([around, tails.masses, tails.masses[::-1], around])
        first = starts(tails.people + 1)
        self._first = len(around) + np.stack([first, 2 * len(tails.masses) - first - tails.people - 1])
        cells = (self._root * np.pi / 4).astype(np.int64) + 1
        self._cell = np.stack([starts(cells), starts(cells) + cells.sum()])
        self._known = np.zeros(2 * int(cells.sum()), dtype=bool)
        self._series = np.empty((_ORDER, len(self._known)))

    def __call__(self, pair: Integers, angle: Floats) -> Floats:
        """Probabilities of the tails of pairs at angles, both of shape (n,)."""
        mirrored = (angle > np.pi / 4).astype(np.int64)
        angle = np.where(mirrored, np.pi / 2 - angle, angle)
        out, cell = np.empty(len(angle)), (self._root[pair] * angle).astype(np.int64)
        near = (cell < _NEAR) | (self.people[pair] > MANY)
        if near.any():
            out[near] = self._moments(pair[near], mirrored[near], np.sin(angle[near]) ** 2, 1)[:, 0]
        far = ~near
        if far.any():
            out[far] = self._expanded(pair[far], mirrored[far], angle[far], cell[far])
        return out

    def _expanded(self, pair: Integers, mirrored: Integers, angle: Floats, cell: Integers) -> Floats:
        place, people = self._cell[mirrored, pair] + cell, self.people[pair]
        p = np.rint(people * np.sin((cell + 0.5) / self._root[pair]) ** 2) / people
        if (unknown := ~self._known[place]).any():
            where = np.flatnonzero(unknown)
            where = where[np.unique(place[where], return_index=True)[1]]
            self._series[:, place[where]] = self._moments(pair[where], mirrored[where], p[where], _ORDER).T
            self._known[place[where]] = True
        tilt = 2 * np.log(np.tan(angle)) - np.log(p / (1 - p))
        step = np.sqrt(people * p * (1 - p)) * tilt
        value = self._series[-1].take(place)
        for coefficients in self._series[-2::-1]:
            value *= step
            value += coefficients.take(place)
        return np.asarray(value * np.exp(people * (p * tilt - np.log1p(p * np.expm1(tilt)))))

    def _moments(self, pair: Integers, mirrored: Integers, p: Floats, order: int) -> Floats:
        """E[H Z^k] / k! for k < order, shape (n, order), with Z the standardized total."""
        people, odds = self.people[pair], p / (1 - p)
        absent = np.divide(1.0, odds, out=np.zeros_like(p), where=p > 0)
        spread = np.sqrt(people * p * (1 - p))
        centre, reach = np.rint(people * p).astype(np.int64), (9.5 * spread).astype(np.int64) + _BEYOND
        origin, most = self._first[mirrored, pair] + centre, int(reach.max(initial=0))
        out, rows = np.empty((len(pair), order)), np.argsort(reach, kind="stable")
        reciprocals = 1.0 / np.arange(1, int(people.max(initial=0)) + most + 2)

        def outwards(start: Integers, n: Integers, odds: Floats, out: Floats) -> None:
            # Bin(m + 1) / Bin(m) = (N - m) / (m + 1) odds; no total lies beyond N, where that would be negative.
            ratios = sliding_window_view(reciprocals, out.shape[1])[start]
            ratios *= ((n + 1) * odds)[:, None]
            ratios -= odds[:, None]
            np.maximum(ratios, 0.0, out=ratios)
            np.cumprod(ratios, axis=1, out=out)

        powers = np.vander(np.arange(-most, most + 1.0), order, increasing=True)
        for part in parts(2 * reach[rows] + 1, _TERMS):
            own, far = rows[part], int(reach[rows[part][-1]])
            # Pairs of as many people share the probabilities of their totals.
            _, chosen, same = np.unique(people[own] + 1j * p[own], return_index=True, return_inverse=True)
            one = own[chosen]
            n, weights = people[one], np.ones((len(one), 2 * far + 1))
            outwards(centre[one], n, odds[one], weights[:, far + 1 :])
            outwards(n - centre[one], n, absent[one], weights[:, far - 1 :: -1])
            weights[np.arange(2 * far + 1) < (far - centre[one])[:, None]] = 0.0
            total = weights.sum(axis=1)[same]
            terms = sliding_window_view(self._masses, 2 * far + 1)[origin[own] - far]
            terms *= weights[same]
            if order == 1:
                out[own, 0] = terms.sum(axis=1) / total
                continue
            out[own] = terms @ powers[most - far : most + far + 1] / total[:, None]
        if order > 1:
            out *= np.vander(1 / spread, order, increasing=True) / _FACTORIALS
        return out


def largest_probabilities(tails: Tails, *, two_sided: bool, relative: float | Floats) -> Floats:
    """The certified maximum of each pair's tail over all p; two-sided, p and 1 - p are equivalent."""

    def curvature(pair: Integers, left: Floats, right: Floats) -> Floats:
        # With Z the standardized total, s^2 + s' = 4 N (Z^2 - 1) - 2 sqrt(N) Z (q - p) / sqrt(p q).
        people = tails.people[pair]
        spread = np.minimum(np.sin(2 * left) ** 2, np.sin(2 * right) ** 2) / 4  # p q, smallest at an end
        with np.errstate(divide="ignore", invalid="ignore"):
            kurtosis = np.sqrt(2 + np.maximum(1 - 6 * spread, 0) / (people * spread))
            bound = 2 * people * kurtosis + np.sqrt(people * (1 - 4 * spread).clip(0) / spread)
        return np.where(spread > 0, bound, np.inf)

    return certified_maxima(
        TailProbability(tails),
        lambda pair, angle: np.sqrt(tails.people[pair]) * angle,
        np.zeros(len(tails.people)),
        np.full(len(tails.people), np.pi / 4 if two_sided else np.pi / 2),
        curvature=curvature,
        relative=relative,
    )


@overload
def unconditional_log_p(x1: int, d1: int, x2: int, d2: int, alternative: str = "two-sided") -> float: ...
@overload
def unconditional_log_p(
    x1: Integers,
    d1: Integers,
    x2: Integers,
    d2: Integers,
    alternative: str = "two-sided",
    advance: Callable[[], None] = ...,
) -> Floats: ...
def unconditional_log_p(  # type: ignore[no-untyped-def]
    x1, d1, x2, d2, alternative="two-sided", advance=lambda: None
):
    """Log p-value of Boschloo's (1970) test that two groups have the same event probability; vectorized.

    It is a bound about 1e-9 (relatively) above the p-value, 1e-6 for more than 100,000 people.

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
    if np.ndim(x1) == 0:
        x1, d1, x2, d2 = np.array([[x1], [d1], [x2], [d2]], dtype=np.int64)
        return float(unconditional_log_p(x1, d1, x2, d2, alternative)[0])
    fisher = conditional_log_p(x1, d1, x2, d2, alternative)
    few, many = np.minimum(d1, d2), np.maximum(d1, d2)
    out = np.minimum(fisher, 0.0)
    tested = fisher < -1.001 * EQUAL  # else no outcome lies outside the tail, whose largest probability is 1
    for _ in range(int((~tested).sum())):
        advance()
    for side in ("two-sided",) if alternative == "two-sided" else ("less", "greater"):
        # One-sided, "greater" is "less" of the other group.
        own = tested if side == "two-sided" else tested & ((d1 <= d2) == (side == alternative))
        rows = np.flatnonzero(own)
        # The same order whatever the groups are called: the last digits of sums depend on what is summed beside them.
        rows = rows[np.lexsort((fisher[rows], few[rows], (few + many)[rows]))]
        for part in parts((few + many)[rows] + 1, _PEOPLE):
            some = rows[part]
            tails = tails_given_totals(few[some], many[some], fisher[some], side)
            relative = np.where(tails.people <= MANY, 1e-9, 1e-6)
            bound = largest_probabilities(tails, two_sided=side == "two-sided", relative=relative)
            out[some] = np.minimum(fisher[some], fisher[some] + np.log(bound))
            for _ in some:
                advance()
    return out
