"""The smallest disparity that a comparison could have detected with a given power.

Sizes are absolute differences, or the larger value over the smaller; infinite if no possible disparity is detected. For
rates the power is that of the test that is run. The search begins with the normal approximation (Fleiss, Levin and Paik
2003, section 4.2), and uses it if it is equally good.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri

from skfairtest._utils.batches import batches, parts, places, starts
from skfairtest._utils.typing import Floats, Integers
from skfairtest.inference._discrete import log_factorials
from skfairtest.inference._tails import outside_tail
from skfairtest.inference.linear_form import identity
from skfairtest.inference.power import comparison_power, smallest_distances
from skfairtest.inference.power_designs import normal_power, values_tested
from skfairtest.inference.rates import Question
from skfairtest.inference.regions import boschloos_level, reference_of, score_limits, to_rest

#: Totals looked at, where they are many: at least this many, and more the fewer outcomes a total has.
_TOTALS, _CELLS = 24, 8_000
GOLDEN = (1 + 5**0.5) / 2
#: Standard deviations of totals and of events beyond which there is next to no probability.
_REACH = 6.0
#: Totals whose outcomes are summed at the same time.
_AT_ONCE = 4_000
#: Outcomes of designs with a certified level; twice as many, of some totals, stand for larger ones.
_OUTCOMES = 20_000


def nearly_boschloos_level(d1: int, d2: int, alpha: float, alternative: str) -> float:
    """Boschloo's level within about a tenth, which moves a test's power by .003, and seldom by more than .01.

    Large designs are scaled down; the raise shrinks with the square root of the smaller group.
    """

    def outcomes(totals: float) -> float:
        return float(totals * min(small, large, np.sqrt(small + large)))

    small, large = d1, d2
    certified = outcomes(d1 + d2) <= _OUTCOMES
    while not certified and outcomes(4 * np.pi * np.sqrt(small + large)) > 2 * _OUTCOMES:
        # On the size of a far larger group the level hardly depends.
        small, large = (small if large > 8 * small else small // 2, large if small > 8 * large else large // 2)
    raised = boschloos_level(small, large, alpha, alternative, certified=certified) - alpha
    return float(alpha + raised * np.sqrt(min(small, large) / min(d1, d2)))


class _Likely:
    """Likely numbers of events and their probabilities, of several groups, concatenated."""

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
    """Power of tests against group 1's rate, for a fixed rate `p2` of group 2, of k pairs of groups.

    Examples
    --------
    >>> curves = PowerCurves(
    ...     np.array([93]),
    ...     np.array([93]),
    ...     np.array([0.3]),
    ...     0.05,
    ...     ["unconditional"],
    ...     "two-sided",
    ... )
    >>> curves.at(np.array([0]), np.array([0.5])).round(2)  # by power(): 0.7906
    array([0.79])
    """

    def __init__(
        self, d1: Integers, d2: Integers, p2: Floats, alpha: float, reference: Sequence[str], alternative: str
    ) -> None:
        self.d1, self.d2, self.p2, self.alpha, self.alternative = d1, d2, p2, alpha, alternative
        self._scored = np.array([name == "asymptotic" for name in reference])
        self.log_level = np.full(len(d1), np.log(alpha))
        for pair, name in enumerate(reference):
            if name == "unconditional":
                self.log_level[pair] = np.log(nearly_boschloos_level(int(d1[pair]), int(d2[pair]), alpha, alternative))
        people = d1 + d2
        self._first = starts(people + 1)
        # First outcome kept of every total, and one more than the last; 0: not found yet.
        self._lower, self._end = (np.zeros(int((people + 1).sum()), np.int32) for _ in range(2))

    def at(self, pair: Integers, p1: Floats) -> Floats:
        """Power, within about .01, of distinct pairs at rates `p1` of their group 1."""
        d1, d2, p2 = self.d1[pair], self.d2[pair], self.p2[pair]
        mean = d1 * p1 + d2 * p2
        reach = _REACH * np.sqrt(d1 * p1 * (1 - p1) + d2 * p2 * (1 - p2)) + 5
        first, last = np.maximum(0, (mean - reach).astype(int)), np.minimum(d1 + d2, (mean + reach).astype(int) + 1)
        width = np.minimum(np.minimum(d1, d2), 8 * np.sqrt(d1 / (d1 + d2) * d2) + 10) + 1
        most = np.maximum(_TOTALS, (_CELLS / width).astype(int))
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
        new = np.flatnonzero(self._end[self._first[pair] + m] == 0)
        for rows in (new[part] for part in batches(len(new), _AT_ONCE)):
            own, total = pair[rows], m[rows]
            d1, d2, place, scored = self.d1[own], self.d2[own], self._first[own] + total, self._scored[own]
            lower, upper, _ = outside_tail(d1, d2, total, self.log_level[own], self.alternative)
            if scored.any():
                level = self.alpha if self.alternative == "two-sided" else 2 * self.alpha
                limits = score_limits(d1[scored], d2[scored], total[scored], level)
                lower[scored], upper[scored] = limits
            self._lower[place] = lower if self.alternative == "two-sided" else 0
            self._end[place] = upper + 1


#: Standard deviation of the group's events, given everyone's, from which the normal approximation is taken: its power
#: is within .01 there.
NORMAL_EVENTS = 100.0
#: Steps towards a distance.
_STEPS = 16
#: People of the comparisons that are searched at the same time.
_PEOPLE = 1_000_000
_FIELDS = ("other", "d_group", "d_other", "share")


@dataclass(frozen=True)
class TwoRates:
    """Everything that determines the power of a comparison of rates, except the group's own rate.

    `share` is the group's share of everyone, for a disparity to everyone; `value` is the metric as a function of the
    rate.
    """

    other: float
    d_group: float
    d_other: float
    share: float = 0.0
    value: Callable[[Any], Any] = identity

    def size(self, gap: float, sign: int, disparity: str) -> float:
        """The size of the disparity at a distance of the rates; NaN if undefined."""
        own = self.other + sign * gap
        if disparity == "difference" and self.value is identity:
            return gap * (1 - self.share)
        shown = float(self.value(self.share * own + (1 - self.share) * self.other))
        own = float(self.value(own))
        if disparity == "difference":
            return abs(own - shown)
        if disparity == "odds_ratio":
            own, shown = (rate / (1 - rate) if rate < 1 else np.inf for rate in (own, shown))
        # No ratio to a value of 0 can be named, and none of a value of 0.
        return (own / shown if sign > 0 else shown / own) if min(shown, own) > 0 and shown < np.inf else np.nan


def detectable_rates(
    tables: Sequence[TwoRates],
    question: Question,
    *,
    alpha: float,
    power: float,
    direction: str = "farther",
    accuracy: str = "quick",
) -> Floats:
    """Smallest disparity of two rates that a test detects; for equivalence, the largest for which it is still shown.

    `direction` "farther" takes whichever is harder to detect. `accuracy` is "normal" (approximation), "quick" (the
    test's power within .01) or "exact" (`comparison_power`).

    Examples
    --------
    >>> asked = {"question": Question(), "alpha": 0.05, "power": 0.8}
    >>> detectable_rates([TwoRates(0.3, 93, 93)], accuracy="normal", **asked).round(3)
    array([0.2])
    >>> detectable_rates([TwoRates(0.3, 93, 93)], **asked).round(3)
    array([0.202])
    """
    p2, d1, d2, share = (np.array([getattr(t, name) for t in tables], float) for name in _FIELDS)
    signs = {"farther": (1, -1), "up": (1,), "down": (-1,)}[direction]
    equality, inwards = question.margin_bounds is None, question.alternative == "equivalence"
    exact, sides, gaps = accuracy == "exact", [], []
    for sign in signs:
        null = p2
        if not equality:
            low, high = np.array([to_rest(question, each).margin_bounds for each in share], float).T
            edge = high if sign > 0 else low
            null = np.clip(edge * p2 if question.disparity == "ratio" else p2 + edge, 0.0, 1.0)
        room, way = (np.abs(null - p2), -sign) if inwards else (1 - null if sign > 0 else null, sign)
        sides.append((null, way, room))

        def power_at(gap: Floats, null: Floats = null, way: int = way) -> Floats:
            p1 = np.clip(null + way * gap, 0.0, 1.0)
            if not exact:
                return _normal_powers(p1, d1, p2, d2, np.zeros_like(share) if equality else share, question, alpha)
            people = zip(d1.astype(int).tolist(), d2.astype(int).tolist(), p1, p2, share, strict=True)
            return np.array(
                [comparison_power(n1, n2, own, other, question, alpha, part)[0] for n1, n2, own, other, part in people]
            )

        gaps.append(smallest_distances(power_at, power, room))
    if equality and accuracy == "quick":
        _refine(gaps, sides, p2, d1.astype(int), d2.astype(int), question, alpha, power)
    sizes = [
        [
            table.size(gap, sign, question.disparity)
            for table, gap in zip(tables, np.abs(null - p2) + (-own if inwards else own), strict=True)
        ]
        for sign, (null, _, _), own in zip(signs, sides, gaps, strict=True)
    ]
    found = np.fmax.reduce(np.array(sizes))
    found = np.where(np.isnan(found), np.inf, found)
    return found if question.disparity == "difference" else np.where(p2 == 0, np.nan, found)


def _normal_powers(
    p1: Floats, d1: Floats, p2: Floats, d2: Floats, share: Floats, question: Question, alpha: float
) -> Floats:
    """Powers by normal approximation, with margins to everyone converted to the rest."""
    out = np.empty_like(p1)
    for each in np.unique(share):
        some = share == each
        out[some] = normal_power(p1[some], d1[some], p2[some], d2[some], to_rest(question, float(each)), alpha)
    return out


def _refine(
    gaps: list[Floats],
    sides: Sequence[Any],
    p2: Floats,
    d1: Integers,
    d2: Integers,
    question: Question,
    alpha: float,
    power: float,
) -> None:
    """Distances by the power of the test that is run, unless the normal approximation is good enough."""
    alternative = question.alternative
    if alternative == "less":  # "greater" for the complement of the event
        p2, sides, alternative = 1 - p2, [(1 - null, -way, room) for null, way, room in sides], "greater"
    nearest = np.fmin.reduce(gaps)
    spread = np.inf
    for sign in (-1, 1):
        pooled = (d1 * np.clip(p2 + sign * nearest, 0, 1) + d2 * p2) / (d1 + d2)
        spread = np.minimum(spread, pooled * (1 - pooled) * d1 * d2 / (d1 + d2))
    few = np.flatnonzero(~(spread >= NORMAL_EVENTS**2))
    few = few[np.argsort((d1 + d2)[few], kind="stable")]
    for part in parts((d1 + d2)[few] + 1, _PEOPLE):
        own = few[part]
        reference = [reference_of(question, *pair) for pair in zip(d1[own].tolist(), d2[own].tolist(), strict=True)]
        curves, every = PowerCurves(d1[own], d2[own], p2[own], alpha, reference, alternative), np.arange(len(own))
        for gap, (null, way, room) in zip(gaps, sides, strict=True):

            def power_at(at: Floats, null: Floats = null[own], way: int = way) -> Floats:
                return curves.at(every, np.clip(null + way * at, 0.0, 1.0))  # noqa: B023

            gap[own] = smallest_distances(power_at, power, room[own], _STEPS)


def detectable_estimates(error: ArrayLike, question: Question, *, alpha: float, power: float) -> Floats:
    """Smallest disparity that a studentized test detects; for equivalence, the largest for which it is still shown.

    `error` holds standard errors of differences, or of log ratios.

    Examples
    --------
    >>> detectable_estimates(0.1, Question(), alpha=0.05, power=0.8).round(3)
    array([0.28])
    """
    errors = np.atleast_1d(np.asarray(error, float))
    errors = np.where(errors > 0, errors, np.nan)
    ratio, alternative = question.disparity != "difference", question.alternative
    upper = question.null if question.margin_bounds is None else question.margin_bounds[1]
    edge = float(np.log(upper) if ratio else upper)
    if alternative == "equivalence":
        tested = values_tested(question)

        def power_at(gap: Floats) -> Floats:
            shifts = [(edge - gap - value) * (1 if side == "greater" else -1) for value, side in tested]
            return np.asarray(sum(ndtr(shift / errors + ndtri(alpha)) for shift in shifts) - len(shifts) + 1)

        size = edge - smallest_distances(power_at, power, np.full_like(errors, edge))
        size = np.where(np.isnan(size) & ~np.isnan(errors), np.inf, size)
    else:
        level = alpha / 2 if alternative == "two-sided" else alpha
        size = edge + max(0.0, -float(ndtri(level)) - float(ndtri(1 - power))) * errors
    return np.asarray(np.exp(size) if ratio else size)
