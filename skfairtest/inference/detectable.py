"""Power as a curve, and the smallest disparity that could have been shown.

Power of two-sided tests that two rates are equal as curves over one of the rates, to two digits, many at once.

The outcomes that a test keeps are found for some totals of events only, and Boschloo's raised level is the one of
`nearly_raised_levels`. `power` of the package takes neither short cut.

The smallest disparity that given people could have shown, for many comparisons at once.

Sizes are distances: of a difference its absolute value, of a ratio the larger value over the smaller one. If a
disparity can go in both directions, the size is the larger of the two, so that a disparity of that size is detected in
either direction; if only one direction is possible, it is the size in that one. Infinity: no possible disparity is
detected with that power. NaN: a ratio to a rate of 0, which has no size.

For rates, the power is that of the test that is run; it rises without jumps with the distance of two rates, however few
people there are, so there is one distance at which it reaches the given power. The search begins with the normal
approximation, and uses it where it is equally good.

References
----------
J. L. Fleiss, B. Levin and M. C. Paik (2003). Statistical Methods for Rates and Proportions, section 4.2.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from skfairtest._utils.batches import batches, parts, places, starts
from skfairtest._utils.typing import Booleans, Floats, Integers
from skfairtest.inference._discrete import log_factorials
from skfairtest.inference._given_totals import given_totals_in_parts, nearly_raised_levels, width_held
from skfairtest.inference.linear_form import identity
from skfairtest.inference.margin_regions import to_rest
from skfairtest.inference.power import NEAR, comparison_power, smallest_distance, smallest_distances
from skfairtest.inference.power_designs import estimate_power, normal_power, values_tested
from skfairtest.inference.rates import Question
from skfairtest.inference.regions import reference_of, score_limits

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
    reference : sequence of {"unconditional", "conditional", "asymptotic"}, length k
        Boschloo's test, Fisher's, or the score test.

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
                    for part, given in given_totals_in_parts(d1, d2, total, self.alpha)
                )
            for part, (lower, upper) in kept:
                self._lower[place[part]], self._end[place[part]] = lower, upper + 1


#: Halvings of an interval of probabilities.
HALVINGS = 50
#: Standard deviation of the group's events, given everyone's, from which the normal approximation is taken: its power
#: is within .01 there.
NORMAL_EVENTS = 100.0
#: How near to the power wanted a quick search ends, on the scale of normal quantiles (.002 at .8).
QUICK = 0.007
#: Where the normal approximation of one direction is this far below the other's, the other is the farther one.
NEARER = 0.6
#: People of the comparisons that are searched at the same time.
_PEOPLE = 1_000_000


@dataclass(frozen=True)
class TwoRates:
    """Everything that determines the power of a comparison of rates, except the group's own rate.

    Parameters
    ----------
    other : float
        Rate of the others.
    d_group, d_other : float
        People who meet the condition; whole numbers where the power is that of the test that is run.
    share : float
        Share of the group in everyone, where the disparity to everyone is shown and the others are the rest.
    value : callable
        How the metric that is shown follows from the rate.
    """

    other: float
    d_group: float
    d_other: float
    share: float = 0.0
    value: Callable[[Any], Any] = identity

    def size(self, gap: float, sign: int, disparity: str) -> float:
        """Return the size of the disparity at a distance of the rates; NaN where there is none, or no ratio."""
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

    Parameters
    ----------
    tables : sequence of TwoRates, length k
        The others' rates, and the people.
    question : Question
        What is tested, and how; a margin is one of the rates.
    alpha, power : float
        Level of the test, and probability of finding the disparity.
    direction : {"farther", "up", "down"}
        Whether the group's rate lies above or below; "farther": whichever is harder to find, where both have room.
    accuracy : {"normal", "quick", "exact"}
        The power of the score test by normal approximation; that of the test of equality that is run, within .01, in
        milliseconds; or what `comparison_power` says. With a margin the first two are the same.

    Returns
    -------
    ndarray of shape (k,)
        Absolute differences; or ratios above 1, the larger value over the smaller. Infinity where there is none.

    Examples
    --------
    >>> asked = {"question": Question(), "alpha": 0.05, "power": 0.8}
    >>> detectable_rates([TwoRates(0.3, 93, 93)], accuracy="normal", **asked).round(3)
    array([0.2])
    >>> detectable_rates([TwoRates(0.3, 93, 93)], **asked).round(3)
    array([0.202])
    """
    p2, n1, n2 = (np.array([getattr(t, name) for t in tables], float) for name in ("other", "d_group", "d_other"))
    signs = {"farther": (1, -1), "up": (1,), "down": (-1,)}[direction]
    ratio, equality = question.disparity != "difference", question.margin_bounds is None
    tail = alpha if question.alternative in ("greater", "less") else alpha / 2
    gaps = np.array([_normal_gap(p2, n1, n2, sign, -float(ndtri(tail)), -float(ndtri(1 - power))) for sign in signs])
    sizes = np.array(
        [
            [table.size(gap, sign, question.disparity) for table, gap in zip(tables, row, strict=True)]
            for row, sign in zip(gaps.tolist(), signs, strict=True)
        ]
    )
    few = _few(p2, n1, n2, np.fmin(gaps[0], gaps[-1])) & (accuracy == "quick")
    searched = np.flatnonzero(few | (accuracy == "exact") | (not equality))
    searched = searched[np.argsort((n1 + n2)[searched], kind="stable")]
    for part in parts((n1 + n2)[searched].astype(np.int64) + 1, _PEOPLE):
        own = searched[part]
        some = [tables[i] for i in own.tolist()]
        powers_at = _powers_of(some, question, alpha, tail, accuracy)
        near = QUICK if equality and accuracy == "quick" else NEAR
        sizes[:, own] = _searched_sizes(
            powers_at, some, question, signs, sizes[:, own], gaps[:, own], power, tail, near
        )
    found = np.fmax(sizes[0], sizes[-1])
    found = np.where(np.isnan(found), np.inf, found)
    return np.where(p2 == 0, np.nan, found) if ratio else found


def _powers_of(
    tables: Sequence[TwoRates], question: Question, alpha: float, tail: float, accuracy: str
) -> Callable[[Integers, Floats], Floats]:
    """Return the powers of some of the tables at rates of their groups."""
    d1, d2 = (np.array([int(getattr(table, name)) for table in tables]) for name in ("d_group", "d_other"))
    p2 = np.array([table.other for table in tables])
    if accuracy != "exact" and question.margin_bounds is None:
        reference = [reference_of(question, *pair) for pair in zip(d1.tolist(), d2.tolist(), strict=True)]
        return PowerCurves(d1, d2, p2, 2 * tail, reference).at

    def power_at(table: TwoRates, p1: float) -> float:
        if accuracy == "exact":
            people = int(table.d_group), int(table.d_other)
            return comparison_power(*people, p1, table.other, question, alpha, table.share)[0]
        rest = to_rest(question, table.share)
        return normal_power(p1, table.d_group, table.other, table.d_other, rest, alpha)

    return lambda which, p1: np.array(
        [power_at(tables[i], own) for i, own in zip(which.tolist(), p1.tolist(), strict=True)]
    )


def _searched_sizes(
    powers_at: Callable[[Integers, Floats], Floats],
    tables: Sequence[TwoRates],
    question: Question,
    signs: tuple[int, ...],
    sizes: Floats,
    gaps: Floats,
    power: float,
    tail: float,
    near: float,
) -> Floats:
    """Find the sizes of disparities both ways, from those by normal approximation; NaN if there is none."""
    equality, out = question.margin_bounds is None, np.full_like(sizes, np.nan)
    distances = sizes if question.disparity == "difference" else np.log(sizes)
    farthest = np.fmax.reduce(distances)
    for way in np.argsort(-np.nan_to_num(distances, nan=np.inf), axis=0, kind="stable"):
        nearer = distances[way, np.arange(len(tables))] < NEARER * farthest  # clearly
        own = np.flatnonzero(~(nearer & ~np.isnan(out).all(axis=0) & equality))
        some, sign = [tables[i] for i in own.tolist()], np.array(signs)[way[own]]
        start = gaps[way[own], own] if equality else np.full(len(own), np.nan)
        found = _searched_gaps(
            lambda which, p1, own=own: powers_at(own[which], p1),  # type: ignore[misc]
            some, question, sign, power, start, tail, near,
        )  # fmt: skip
        out[way[own], own] = [
            table.size(gap, up, question.disparity)
            for table, gap, up in zip(some, found.tolist(), sign.tolist(), strict=True)
        ]
    return out


def _searched_gaps(
    powers_at: Callable[[Integers, Floats], Floats],
    tables: Sequence[TwoRates],
    question: Question,
    sign: Integers,
    power: float,
    start: Floats,
    tail: float,
    near: float,
) -> Floats:
    """Find distances of the groups' rates above (sign 1) or below (-1) the others'; NaN if there is none."""
    p2 = np.array([table.other for table in tables])
    null = p2.copy()
    if question.margin_bounds is not None:
        low, high = np.array([to_rest(question, table.share).margin_bounds for table in tables], float).T
        edge = np.where(sign > 0, high, low)
        null = np.clip(edge * p2 if question.disparity == "ratio" else p2 + edge, 0.0, 1.0)
    inwards = question.alternative == "equivalence"
    room, way = (np.abs(null - p2), -sign) if inwards else (np.where(sign > 0, 1 - null, null), sign)
    found = smallest_distances(
        lambda which, gap: powers_at(which, np.clip(null[which] + way[which] * gap, 0.0, 1.0)),
        power,
        room,
        start=start,
        at_null=np.where(null == p2, tail, np.nan),
        near=near,
    )
    return np.asarray(np.abs(null - p2) + (-found if inwards else found))


def _normal_gap(p2: Floats, n1: Floats, n2: Floats, sign: int, z: float, beyond: float) -> Floats:
    """Find the distance of a group's rate above (sign 1) or below (-1) the others'; NaN if there is none."""
    room = 1 - p2 if sign > 0 else p2

    def found(gap: Floats) -> Booleans:
        p1 = np.clip(p2 + sign * gap, 0.0, 1.0)
        pooled = (n1 * p1 + n2 * p2) / (n1 + n2)
        null = np.sqrt(pooled * (1 - pooled) * (1 / n1 + 1 / n2))
        own = np.sqrt(p1 * (1 - p1) / n1 + p2 * (1 - p2) / n2)
        return np.asarray(gap - z * null - beyond * own >= 0)

    low, high = np.zeros_like(p2), room.copy()
    possible = found(high) & (room > 0)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        enough = found(middle)
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return np.where(possible, high, np.nan)


def _few(p2: Floats, n1: Floats, n2: Floats, gap: Floats) -> Booleans:
    """Whether the normal approximation is not good enough, including where it finds no disparity at all."""
    pooled = (n1 * np.clip(p2 - np.abs(gap), 0, 1) + n2 * p2) / (n1 + n2)
    above = (n1 * np.clip(p2 + np.abs(gap), 0, 1) + n2 * p2) / (n1 + n2)
    spread = np.minimum(pooled * (1 - pooled), above * (1 - above)) * n1 * n2 / (n1 + n2)
    return ~(spread >= NORMAL_EVENTS**2)


def detectable_estimates(error: ArrayLike, question: Question, *, alpha: float, power: float) -> Floats:
    """Smallest disparity that a studentized test detects; for equivalence, the largest for which it is still shown.

    Parameters
    ----------
    error : array-like of shape (k,)
        Standard errors of the differences, or of the logarithms of the ratios.
    question : Question
        What is tested.
    alpha, power : float
        Level of the test, and probability of finding the disparity.

    Returns
    -------
    ndarray of shape (k,)
        Absolute differences, or ratios above 1; NaN where the error is 0 or unknown, infinity where there is none.

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

        def certified(error: float) -> float:
            def power_at(gap: float) -> float:
                return estimate_power([(edge - gap - value, side) for value, side in tested], error, alpha, alternative)

            return edge - smallest_distance(power_at, power, edge)

        size = np.array(
            [np.nan if np.isnan(error) else np.nan_to_num(certified(error), nan=np.inf) for error in errors]
        )
    else:
        level = alpha / 2 if alternative == "two-sided" else alpha
        size = edge + max(0.0, -float(ndtri(level)) - float(ndtri(1 - power))) * errors
    return np.asarray(np.exp(size) if ratio else size)
