"""The conditional mass of the tail of two groups' outcomes, given every total of events, for many pairs at once.

From one total m to the next the tail's ends move by an outcome or two, and its mass changes by two terms,

``P(X <= a | m + 1) = P(X <= a | m) - P(X = a | m) (d1 - a) / (N - m)``

and the same for group 2, so that a pair of N people needs about N steps.
"""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from skfairtest._utils.batches import places, starts
from skfairtest._utils.typing import Floats, Integers
from skfairtest.inference._discrete import hypergeometric_log_pmf, log_factorials
from skfairtest.inference.conditional import TIE, first_above, mode_of

#: Fisher p-values that differ by less than this, relatively, are equal; rounding only ever enlarges the tail.
EQUAL = 1e-9
#: Outcomes less probable than exp(-40) times the observed p-value are left out of the sums.
_NEGLIGIBLE = 40.0
#: What a call of NumPy costs against one of its elements, times the calls of a walk over those of a step.
_CALLS = 300.0


@dataclass(frozen=True)
class Tails:
    """Per total of events 0..N of some pairs, the tail's mass divided by the observed Fisher p-value."""

    people: Integers  # (pairs,) N
    masses: Floats  # N + 1 of each pair, one pair after the other, in [0, 1]


def tails_given_totals(d1: Integers, d2: Integers, log_p: Floats, alternative: str) -> Tails:
    """The tails of pairs with d1 <= d2 and Fisher p-values below 1; totals above N / 2 follow by symmetry."""
    people, half = d1 + d2, (d1 + d2) // 2
    below = _lower_half(d1, d2, log_p, alternative)
    above = below if alternative == "two-sided" else _lower_half(d1, d2, log_p, _OTHER[alternative])
    halves = []
    for start, n, last in zip(starts(half + 1).tolist(), people.tolist(), half.tolist(), strict=True):
        halves += [below[start : start + last + 1], above[start : start + n - last][::-1]]
    return Tails(people, np.minimum(np.concatenate(halves), 1.0))


_OTHER = {"less": "greater", "greater": "less"}


def _lower_half(d1: Integers, d2: Integers, log_p: Floats, alternative: str) -> Floats:
    totals = (d1 + d2) // 2 + 1
    width = 10 * np.sqrt(d1 / (d1 + d2) * d2) / 2
    block = max(1, int(np.sqrt((width * totals).sum() / _CALLS)))
    blocks = -(-totals // block)
    pair = np.repeat(np.arange(len(d1)), blocks)
    m = block * places(blocks)
    length = np.minimum(block, totals[pair] - m)
    order = np.argsort(-length, kind="stable")
    pair, m, length = pair[order], m[order], length[order]
    place = starts(totals)[pair] + m
    blocks_of = d1[pair], d2[pair], m, log_p[pair], alternative
    left, right, mass = outside_tail(*blocks_of)
    out = np.empty(int(totals.sum()))
    out[place] = mass
    if block == 1:
        return out
    ends = _Ends.of(*blocks_of, left, right, mass)
    for step in range(1, int(length[0])):
        ends = ends.first(int(np.searchsorted(-length, -step)))
        ends.advance()
        ends.release()
        ends.take()
        out[place[: len(ends.mass)] + step] = ends.mass
    return out


@dataclass
class _Ends:
    """Outermost outcomes outside the tail (`left`, `right`) and, as `outer_*`, their neighbours inside it.

    Log probabilities are divided by the observed p-value; the log probability of an unused side is infinite.
    """

    d1: Integers
    d2: Integers
    m: Integers
    left: Integers
    right: Integers
    log_left: Floats
    log_right: Floats
    outer_left: Floats
    outer_right: Floats
    mass: Floats
    log: Floats  # logarithms of 0, 1, 2...

    @classmethod
    def of(
        cls,
        d1: Integers,
        d2: Integers,
        m: Integers,
        log_p: Floats,
        alternative: str,
        left: Integers,
        right: Integers,
        mass: Floats,
    ) -> Self:
        """The ends that a walk has found."""

        def log_of(x: Integers, known: float) -> Floats:
            inside = (x >= 0) & (x <= np.minimum(d1, m))
            found = hypergeometric_log_pmf(np.where(inside, x, 0), d1, d2, m) - log_p
            return np.where(inside, found, known)

        log_left, outer_left = log_of(left, np.inf), log_of(left - 1, -np.inf)
        log_right, outer_right = log_of(right, np.inf), log_of(right + 1, -np.inf)
        if alternative == "greater":
            log_left[:], outer_left[:] = np.inf, -np.inf
        if alternative == "less":
            log_right[:], outer_right[:] = np.inf, -np.inf
        with np.errstate(divide="ignore"):
            log = np.log(np.arange(int((d1 + d2).max()) + 3))
        return cls(d1, d2, m.copy(), left, right, log_left, log_right, outer_left, outer_right, mass, log)

    def first(self, n: int) -> Self:
        """The first n, sharing their memory."""
        if n == len(self.mass):
            return self
        return replace(self, **{name: value[:n] for name, value in vars(self).items() if name != "log"})

    def advance(self) -> None:
        """Go to the next total with the same numbers of group 1 on the left and of group 2 on the right."""
        log, d1, d2, m, left, right = self.log, self.d1, self.d2, self.m, self.left, self.right
        lost = np.exp(self.outer_left) * (d1 - left + 1) + np.exp(self.outer_right) * (d2 - m + right + 1)
        np.maximum(self.mass - lost / (d1 + d2 - m), 0.0, out=self.mass)
        both = log[m + 1] - log[d1 + d2 - m]
        others = d2 - m + left
        self.log_left += both + log[others] - log[m + 1 - left]
        self.outer_left += both + log[others - 1] - log[m + 2 - left]
        full = right == d1  # all of group 1 show the event: there is no outcome further to the right
        self.log_right += both + log[np.where(full, d2 - m + right, d1 - right)]
        self.log_right -= log[np.where(full, m + 1 - right, right + 1)]
        self.outer_right += both + log[d1 - right - 1] - log[right + 2]
        self.right += ~full
        self.m += 1

    def release(self) -> None:
        """Leave out outcomes at least as probable as one on the other side outside the tail."""
        rows: Integers | slice = slice(None)
        while True:
            from_left = self.outer_left[rows] >= self.log_right[rows] - TIE
            from_right = self.outer_right[rows] >= self.log_left[rows] - TIE
            left, right = np.flatnonzero(from_left), np.flatnonzero(from_right & ~from_left)
            if not isinstance(rows, slice):
                left, right = rows[left], rows[right]
            if not len(left) + len(right):
                return
            self._leave(left, left=True)
            self._leave(right, left=False)
            rows = np.concatenate([left, right])

    def _leave(self, rows: Integers, *, left: bool) -> None:
        if left:
            self.left[rows] -= 1
            self.log_left[rows] = own = self.outer_left[rows]
            self.outer_left[rows] = self._below(rows, self.left[rows], own)
        else:
            self.right[rows] += 1
            self.log_right[rows] = own = self.outer_right[rows]
            self.outer_right[rows] = self._above(rows, self.right[rows], own)
        self.mass[rows] = np.maximum(self.mass[rows] - np.exp(own), 0.0)

    def take(self) -> None:
        """Take outcomes into the tail (see `_fitting`)."""
        rows: Integers | slice = slice(None)
        while True:
            log_left, log_right = self.log_left[rows], self.log_right[rows]
            from_left, from_right = log_left <= log_right + TIE, log_right <= log_left + TIE
            once = from_right & ~(from_left & (self.left[rows] == self.right[rows]))
            with np.errstate(over="ignore"):
                grown = self.mass[rows] + np.where(from_left, np.exp(log_left), 0.0)
                grown += np.where(once, np.exp(log_right), 0.0)
            fits = grown <= 1 + EQUAL
            kept = np.flatnonzero(fits) if isinstance(rows, slice) else rows[fits]
            if not len(kept):
                return
            self.mass[kept] = grown[fits]
            self._enter(kept[from_left[fits]], left=True)
            self._enter(kept[from_right[fits]], left=False)
            rows = kept

    def _enter(self, rows: Integers, *, left: bool) -> None:
        if left:
            self.outer_left[rows] = own = self.log_left[rows]
            self.log_left[rows] = self._above(rows, self.left[rows], own)
            self.left[rows] += 1
        else:
            self.outer_right[rows] = own = self.log_right[rows]
            self.log_right[rows] = self._below(rows, self.right[rows], own)
            self.right[rows] -= 1

    def _above(self, rows: Integers, x: Integers, log_x: Floats) -> Floats:
        log, d1, m = self.log, self.d1[rows], self.m[rows]
        return np.asarray(log_x + log[m - x] + log[d1 - x] - log[x + 1] - log[self.d2[rows] - m + x + 1])

    def _below(self, rows: Integers, x: Integers, log_x: Floats) -> Floats:
        log, d1, m = self.log, self.d1[rows], self.m[rows]
        return np.asarray(log_x + log[x] + log[self.d2[rows] - m + x] - log[m - x + 1] - log[d1 - x + 1])


def outside_tail(
    d1: Integers | int, d2: Integers | int, m: Integers, log_p: Floats | float, alternative: str
) -> tuple[Integers, Integers, Floats]:
    """First and last outcome whose Fisher p-value exceeds p, given each total, and the mass of the others over p."""
    d1, d2, m, log_p = np.broadcast_arrays(d1, d2, m, log_p)
    low, high = np.maximum(0, m - d2), np.minimum(d1, m)
    mode = mode_of(d1, d2, m)
    # Where what is negligible ends need not be known to the last digit.
    log = log_factorials(int((d1 + d2).max(initial=0)))
    floor = log_p - _NEGLIGIBLE - (log[d1] + log[d2] + log[m] + log[d1 + d2 - m] - log[d1 + d2])

    def log_probability(x: Integers) -> Floats:
        return np.asarray(-(log[x] + log[d1 - x] + log[m - x] + log[d2 - m + x]))

    # One that is e times as probable as the observed p-value ends the walk; both sides are looked at in one call.
    levels = np.stack([floor, floor, floor + _NEGLIGIBLE + 1.0, floor + _NEGLIGIBLE + 1.0])
    ends = np.stack([low, high, low, high])
    left, right, *last = first_above(levels, ends, np.broadcast_to(mode, ends.shape), log_probability)
    two_sided = alternative == "two-sided"
    last = [
        np.where(end == mode, far, end)
        for end, far in zip(last, (mode - 1, mode) if two_sided else (high, low), strict=True)
    ]
    left, right = low if alternative == "greater" else left, high if alternative == "less" else right
    counts = (d1, d2, m)
    taken, mass = _fitting(
        _inwards(left, (last[0] - left + 1) * (alternative != "greater"), 1, *counts, log_p),
        _inwards(right, (right - last[1] + 1) * (alternative != "less"), -1, *counts, log_p),
    )
    return left + taken[0], right - taken[1], mass


def _inwards(start: Integers, n: Integers, step: int, d1: Integers, d2: Integers, m: Integers, log_p: Floats) -> Floats:
    """Probabilities of n outcomes from `start` on over the observed p-value, then infinity."""
    if not n.any():
        return np.empty((len(n), 0))
    total, one, two, x = (a[:, None].astype(float) for a in (m, d1, d2, start))
    x = x + step * np.arange(int(n.max()) - 1)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        if step > 0:
            ratios = (total - x) / (x + 1) * ((one - x) / (two - total + x + 1))
        else:
            ratios = x / (total - x + 1) * ((two - total + x) / (one - x + 1))
        first = np.exp(np.minimum(hypergeometric_log_pmf(start, d1, d2, m) - log_p, 700.0))
        values = np.cumprod(np.hstack([first[:, None], ratios]), axis=1)
    values[np.arange(values.shape[1]) >= n[:, None]] = np.inf
    return values


def _fitting(left: Floats, right: Floats) -> tuple[Integers, Floats]:
    """The number of outcomes of both sides, the least probable first, whose sum is at most 1, and that sum."""
    both = np.hstack([left, right, np.full((len(left), 1), np.inf)])
    values = np.sort(both, axis=1) if left.size and right.size else both
    grown = np.cumsum(values, axis=1)
    if values is not both:  # of two outcomes that are equally probable both are taken, or neither
        np.copyto(grown[:, :-1], grown[:, 1:], where=values[:, 1:] <= values[:, :-1] * (1 + TIE))
    n, row = (grown > 1 + EQUAL).argmax(axis=1), np.arange(len(grown))
    mass = np.where(n > 0, grown[row, n - 1], 0.0)
    if values is both:
        return np.stack([n if left.size else 0 * n, n if right.size else 0 * n]), mass
    last = np.where(n > 0, values[row, n - 1], -1.0)[:, None]
    return np.stack([(left <= last).sum(axis=1), (right <= last).sum(axis=1)]), mass
