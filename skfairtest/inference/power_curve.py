"""Power of two-sided tests that two rates are equal as curves over one of the rates, to two digits, many at once.

The outcomes that a test keeps are found for some totals of events only, and Boschloo's raised level is the one of
`nearly_raised_levels`. `power` of the package takes neither short cut.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from skfairtest._utils.batches import batches, places, starts
from skfairtest._utils.typing import Floats, Integers
from skfairtest.inference._discrete import log_factorials
from skfairtest.inference._given_totals import given_totals_in_parts, nearly_raised_levels, width_held
from skfairtest.inference.regions import score_limits

#: Totals looked at, where they are many: at least so many, and more the fewer outcomes a total has.
_TOTALS, _CELLS = 24, 8_000
GOLDEN = (1 + 5**0.5) / 2
#: Standard deviations of totals and of events beyond which there is next to no probability.
_REACH = 6.0
#: Totals whose outcomes are summed at the same time.
_AT_ONCE = 4_000


class _Likely:
    """Probabilities of the numbers of events that are likely, of several groups, one after the other."""

    def __init__(self, d: Integers, p: Floats) -> None:
        reach = _REACH * np.sqrt(d * p * (1 - p)) + 15
        self.first = np.maximum(0, (d * p - reach).astype(np.int64))
        self.last = np.minimum(d, (d * p + reach).astype(np.int64) + 1)
        sizes = self.last - self.first + 1
        self.origin = starts(sizes) - self.first
        x, n, p = places(sizes) + np.repeat(self.first, sizes), np.repeat(d, sizes), np.repeat(p, sizes)
        log, tiny = log_factorials(int(d.max())), 1e-300
        logs = (
            log[n] - log[x] - log[n - x] + x * np.log(np.maximum(p, tiny)) + (n - x) * np.log(np.maximum(1 - p, tiny))
        )
        self.probability = np.exp(logs)


class PowerCurves:
    """Power against group 1's rate, for a fixed rate of group 2, of several pairs of groups.

    Parameters
    ----------
    d1, d2 : ndarray of int, shape (k,)
        People of each group who meet the condition.
    p2 : ndarray, shape (k,)
        Event probability in group 2.
    alpha : float
        Level of the two-sided test.
    reference : sequence of {"unconditional", "conditional", "mid-p", "asymptotic"}, length k
        Boschloo's test, Fisher's, that with mid-p-values (of all pairs or none), or the score test.

    Examples
    --------
    >>> curves = PowerCurves(
    ...     np.array([93]), np.array([93]), np.array([0.3]), 0.05, ["unconditional"]
    ... )
    >>> curves.at(np.array([0]), np.array([0.5])).round(2)  # by power(): 0.7906
    array([0.79])
    """

    def __init__(self, d1: Integers, d2: Integers, p2: Floats, alpha: float, reference: Sequence[str]) -> None:
        self.d1, self.d2, self.p2, self.alpha = d1, d2, p2, alpha
        self._mid = set(reference) == {"mid-p"}
        self._scored = np.array([name == "asymptotic" for name in reference])
        raised = np.array([name == "unconditional" for name in reference])
        self.level = np.full(len(d1), alpha)
        if raised.any():
            self.level[raised] = nearly_raised_levels(d1[raised], d2[raised], alpha)
        people = d1 + d2
        self._first = starts(people + 1)
        # First outcome kept of every total, and one more than the last; 0: not found yet.
        self._lower, self._end = (np.zeros(int((people + 1).sum()), np.int32) for _ in range(2))

    def at(self, pair: Integers, p1: Floats) -> Floats:
        """Return the power of pairs at rates of their group 1.

        Parameters
        ----------
        pair : ndarray of int, shape (n,)
            Which pairs, each once.
        p1 : ndarray, shape (n,)
            Event probability in group 1.

        Returns
        -------
        ndarray, shape (n,)
            Power, within about .01.
        """
        d1, d2, p2 = self.d1[pair], self.d2[pair], self.p2[pair]
        mean = d1 * p1 + d2 * p2
        reach = _REACH * np.sqrt(d1 * p1 * (1 - p1) + d2 * p2 * (1 - p2)) + 5
        first, last = np.maximum(0, (mean - reach).astype(int)), np.minimum(d1 + d2, (mean + reach).astype(int) + 1)
        most = np.maximum(_TOTALS, (_CELLS / width_held(d1, d2)).astype(int))
        # Multiples of an irrational step: limits go up and down regularly with the total. Other rates look at them too.
        step = GOLDEN ** np.maximum(0, (np.log((last - first + 1) / most) / np.log(GOLDEN)).astype(int))
        begin, end = np.ceil(first / step).astype(int), np.floor(last / step).astype(int)
        sizes = end - begin + 1
        row = np.repeat(np.arange(len(pair)), sizes)
        m = np.floor((places(sizes) + begin[row]) * step[row]).astype(np.int64)
        self._find(pair[row], m)
        kept = step * np.bincount(row, self._kept(pair, p1, row, m), len(pair))
        return np.asarray(np.clip(1 - kept, 0.0, 1.0))

    def _kept(self, pair: Integers, p1: Floats, row: Integers, m: Integers) -> Floats:
        """Return the probability of each total together with an outcome that is kept."""
        first, second = _Likely(self.d1[pair], p1), _Likely(self.d2[pair], self.p2[pair])
        place = self._first[pair[row]] + m
        lower = np.maximum(self._lower[place], np.maximum(first.first[row], m - second.last[row]))
        upper = np.minimum(self._end[place] - 1, np.minimum(first.last[row], m - second.first[row]))
        sizes = np.maximum(upper - lower + 1, 0)
        origin, other = first.origin[row] + lower, second.origin[row] + m - lower
        out = np.zeros(len(m))
        for part in batches(len(m), _AT_ONCE):
            step = places(sizes[part])
            terms = first.probability[np.repeat(origin[part], sizes[part]) + step]
            terms *= second.probability[np.repeat(other[part], sizes[part]) - step]
            some = np.flatnonzero(sizes[part])
            if len(some):
                out[part.start + some] = np.add.reduceat(terms, starts(sizes[part])[some])
        return out

    def _find(self, pair: Integers, m: Integers) -> None:
        """Find the outcomes kept given totals."""
        new = self._end[self._first[pair] + m] == 0
        for scored in (True, False):
            rows = np.flatnonzero(new & (self._scored[pair] == scored))
            if not len(rows):
                continue
            own, total = pair[rows], m[rows]
            d1, d2, place = self.d1[own], self.d2[own], self._first[own] + total
            kept: Iterable[tuple[Any, tuple[Integers, Integers]]]
            if scored:
                kept = [(slice(None), score_limits(d1, d2, total, self.alpha, "two-sided"))]
            else:
                kept = (
                    (part, given.kept(self.level[own[part]]))
                    for part, given in given_totals_in_parts(d1, d2, total, self.alpha, mid=self._mid)
                )
            for part, (lower, upper) in kept:
                self._lower[place[part]], self._end[place[part]] = lower, upper + 1
