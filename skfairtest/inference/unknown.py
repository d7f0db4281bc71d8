"""Rates of two sides when the group of some people is not known: bounds over all ways to assign them.

Of the people whose group is unknown, an assignment gives ``a`` of the events and ``b`` of the non-events to group 1,
and ``c`` and ``e`` to group 2. The rate (x1 + a) / (d1 + a + b) grows with a and falls with b, the other grows with c
and falls with e. The largest a, smallest b and c, and largest e are possible at once, so that no assignment has a
larger difference or ratio, conditional odds ratio, exact limit or one-sided p-value of Fisher's.

Two-sided p-values, and all of Boschloo's, are not monotone, so assignments are tested in the order of their bounds
until the next cannot be better than the best p-value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass
from itertools import product
from typing import Any, Self

import numpy as np
from scipy.special import gammaln, xlogy

from skfairtest._utils.batches import batches, places
from skfairtest._utils.typing import Floats, Integers
from skfairtest.inference import margin
from skfairtest.inference.conditional import conditional_log_p
from skfairtest.inference.linear_form import Scale
from skfairtest.inference.rates import Pair, Question, answer, equalities, statistic
from skfairtest.inference.unconditional import within_cap

#: Assignments whose p-values are computed; of more, bounds are given that are not attained.
MOST_ASSIGNMENTS = 1_000_000
#: Assignments of which those with the same totals are all tested; of more, the ends.
MOST_ALIKE = 5_000
#: Work for p-values that are searched one after the other: people times people of the smaller side, and a constant for
#: each test; the same of tests against a margin, and how many of these there are.
MOST_WORK, EACH, MOST_MARGIN_WORK, MOST_MARGINS = 200_000_000, 1_000_000, 40_000_000, 2_000
#: P-values of tests that are found together.
_TOGETHER = 16


@dataclass(frozen=True)
class Reach:
    """The fewest and the most people of unknown group on side 1 of a comparison, on side 2, and on both together."""

    first: tuple[int, int]
    second: tuple[int, int]
    both: tuple[int, int]

    @classmethod
    def of(cls, n: int, *, first: bool = True, second: bool = True, elsewhere: bool = False) -> Self:
        """The reach of people who may be on side 1, on side 2, and on neither."""
        must = (not (second or elsewhere), not (first or elsewhere), not elsewhere)
        return cls(*((n * fewest, n * may) for fewest, may in zip(must, (first, second, first or second), strict=True)))

    def __add__(self, other: Reach) -> Reach:
        pairs = zip(astuple(self), astuple(other), strict=True)
        return Reach(*((fewest + low, most + high) for (fewest, most), (low, high) in pairs))

    def some(self, n: int, fewest: int, most: int) -> Self:
        """The reach if only this many of all `n` people count, and the rest are left out."""
        low = [max(0, least - (n - fewest)) for least, _ in astuple(self)]
        high = [min(some, most) for _, some in astuple(self)]
        first, second = min(high[0], most - low[1]), min(high[1], most - low[0])
        return type(self)((low[0], first), (low[1], second), (low[2], high[2]))

    def corners(self) -> list[tuple[int, int]]:
        """The numbers on both sides between which all others lie."""
        found = {(a, int(c)) for a in self.first for c in self._beside(a, self.second)}
        return sorted(found | {(int(a), c) for c in self.second for a in self._beside(c, self.first)})

    def everything(self) -> tuple[Integers, Integers]:
        """All numbers on side 1 and on side 2."""
        first = np.arange(self.first[0], self.first[1] + 1)
        low, high = self._beside(first, self.second)
        return np.repeat(first, high - low + 1), places(high - low + 1) + np.repeat(low, high - low + 1)

    def __len__(self) -> int:
        low, high = self._beside(np.arange(self.first[0], self.first[1] + 1), self.second)
        return int((high - low + 1).sum())

    def _beside(self, n: Integers | int, side: tuple[int, int]) -> tuple[Integers, Integers]:
        """The fewest and the most people on one side with n on the other."""
        return np.maximum(side[0], self.both[0] - n), np.minimum(side[1], self.both[1] - n)


@dataclass(frozen=True)
class Unknown:
    """People of unknown group: those who show the event, and the others who meet its condition."""

    events: Reach
    others: Reach

    def subsets(self, n_events: int, n_others: int, n_rest: int, size: int) -> list[Unknown]:
        """The union over all subsets of this many events, non-events and people who do not meet the condition."""
        out = []
        for events in range(max(0, size - n_others - n_rest), min(n_events, size) + 1):
            fewest, most = max(0, size - events - n_rest), min(n_others, size - events)
            out.append(Unknown(self.events.some(n_events, events, events), self.others.some(n_others, fewest, most)))
        return out


@dataclass(frozen=True)
class PValueBounds:
    """The smallest and the largest log p-value, and the assignment with the largest, if known."""

    low: float
    high: float
    method: str
    worst: Pair | None
    attained: bool


def extreme_pairs(pair: Pair, unknown: Unknown) -> tuple[Pair, Pair]:
    """The assignments with the smallest and with the largest disparity."""
    events, others = (
        list(zip(reach.first, reversed(reach.second), strict=True)) for reach in (unknown.events, unknown.others)
    )
    return _with(pair, events[0], others[1]), _with(pair, events[1], others[0])


def _with(pair: Pair, events: tuple[Any, Any], others: tuple[Any, Any]) -> Pair:
    (a, c), (b, e) = events, others
    return Pair(pair.x1 + a, pair.d1 + a + b, pair.x2 + c, pair.d2 + c + e, pair.overall)


def corner_pairs(pair: Pair, unknown: Unknown) -> list[Pair]:
    """The assignments with as many events, and as many non-events, as possible on one side or on neither.

    Limits of a disparity are smallest and largest at one of them; of score limits this was tried, not proven.
    """
    return [_with(pair, *both) for both in product(unknown.events.corners(), unknown.others.corners())]


def n_assignments(unknown: Sequence[Unknown]) -> int:
    """The number of assignments with different counts."""
    return sum(len(each.events) * len(each.others) for each in unknown)


def assigned(pair: Pair, unknown: Sequence[Unknown]) -> Pair:
    """All assignments, as counts of shape (n_assignments,) of a single stratum."""
    each = []
    for one in unknown:
        events, others = one.events.everything(), one.others.everything()
        i, j = (part.ravel() for part in np.indices((len(events[0]), len(others[0]))))
        each.append((events[0][i], events[1][i], others[0][j], others[1][j]))
    a, c, b, e = (np.concatenate(part) for part in zip(*each, strict=True))
    return _with(pair, (a, c), (b, e))


def p_value_bounds(pair: Pair, unknown: Sequence[Unknown], scale: Scale, question: Question) -> PValueBounds:
    """The smallest and largest p-value over all assignments of one comparison in one stratum, not by resampling.

    Examples
    --------
    >>> pair = Pair(*(np.array([n]) for n in (2, 10, 15, 25)))
    >>> found = p_value_bounds(pair, [Unknown(Reach.of(1), Reach.of(2))], Scale(), Question())
    >>> round(float(np.exp(found.low)), 4), round(float(np.exp(found.high)), 4), found.attained
    (0.0109, 0.1268, True)
    """
    many = n_assignments(unknown)
    if question.margin_bounds is not None and many > MOST_MARGINS:
        return _without_search("asymptotic" if question.method == "asymptotic" else "exact unconditional")
    if many > MOST_ASSIGNMENTS:
        return _of_many(pair, unknown, question)
    tables = assigned(pair, unknown)
    enumerated = question.margin_bounds is None and question.method != "asymptotic"
    return search(_ends_given_totals(tables) if enumerated and many > MOST_ALIKE else tables, scale, question)


def _ends_given_totals(tables: Pair) -> Pair:
    """The tables among which the smallest and the largest p-value are: first and last on either side of the mode."""
    totals = tables.x1 + tables.x2
    above = tables.x1 >= (totals + 1) * (tables.d1 + 1) // (tables.d1 + tables.d2 + 2)
    return _only(tables, _first_and_last(tables.x1, tables.d1, tables.d2, totals, above.astype(int)))


def _first_and_last(values: Floats | Integers, *keys: Integers) -> Integers:
    """The indices of the smallest and the largest values among equal keys."""
    order = np.lexsort((values, *keys))
    new = np.any(np.diff(np.stack(keys)[:, order], axis=1) != 0, axis=0)
    return np.asarray(order[np.r_[True, new] | np.r_[new, True]])


def search(all_of_them: Pair, scale: Scale, question: Question) -> PValueBounds:
    """The smallest and largest p-value of completed tables, counts of shape (n_tables,)."""
    if question.margin_bounds is not None:
        return _of_margin(all_of_them, scale, question)
    if question.method == "asymptotic":
        z = statistic(_strata_last(all_of_them), scale, "score")[0]
        log_p = np.array([margin.normal_log_p(float(one), question.alternative) for one in z])
        log_p[all_of_them.undefined(question.disparity)] = 0.0
        return _of_all(all_of_them, log_p, "asymptotic")
    x1, d1, x2, d2 = all_of_them.x1, all_of_them.d1, all_of_them.x2, all_of_them.d2
    fisher = np.minimum(conditional_log_p(x1, d1, x2, d2, question.alternative), 0.0)
    tested = within_cap(d1, d2) if question.disparity != "odds_ratio" else np.zeros(len(d1), dtype=bool)
    if not tested.any():
        return _of_all(all_of_them, fisher, "exact conditional")

    def test(chosen: Integers) -> Floats:
        some = [_only(all_of_them, [place]) for place in chosen.tolist()]
        return np.array([log_p for log_p, _ in equalities(some, question.alternative)])

    kept = _first_and_last(fisher, d1, d2)  # Boschloo's p-value grows with Fisher's
    all_of_them, fisher, tested = _only(all_of_them, kept), fisher[kept], tested[kept]
    x1, d1, x2, d2 = all_of_them.x1, all_of_them.d1, all_of_them.x2, all_of_them.d2
    # Boschloo's p-value is at least a share of Fisher's.
    share = np.maximum(_most_probable_total(x1 + x2, d1 + d2), _near_totals(x1 + x2, d1, d2, fisher))
    least = fisher + np.where(tested, share, 0.0)
    work = np.where(tested, (d1 + d2) * np.minimum(d1, d2) + EACH, 0)
    low, _, first = _search(-fisher, -least, test, work, sign=-1)
    high, worst, second = _search(least, fisher, test, work, sign=1)
    label = "exact unconditional" if tested[worst] else "exact conditional"
    return PValueBounds(-low, high, label, _only(all_of_them, [worst]) if second else None, first and second)


def _strata_last(pair: Pair) -> Pair:
    return Pair(pair.x1[:, None], pair.d1[:, None], pair.x2[:, None], pair.d2[:, None], pair.overall)


def _only(pair: Pair, places: Sequence[int] | Integers) -> Pair:
    return Pair(pair.x1[places], pair.d1[places], pair.x2[places], pair.d2[places], pair.overall)


def _of_all(all_of_them: Pair, log_p: Floats, method: str) -> PValueBounds:
    worst = int(np.argmax(log_p))
    return PValueBounds(float(log_p.min()), float(log_p[worst]), method, _only(all_of_them, [worst]), attained=True)


def _most_probable_total(m: Integers, n: Integers) -> Floats:
    """Log of the largest binomial probability of m events among n, at p = m / n."""
    found = gammaln(n + 1) - gammaln(m + 1) - gammaln(n - m + 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(found + xlogy(m, m / n) + xlogy(n - m, (n - m) / n))


def _near_totals(totals: Integers, d1: Integers, d2: Integers, log_p: Floats) -> Floats:
    """Log of a share of Fisher's p-value that Boschloo's is never below.

    Given a total, the least probable outcome not as extreme as p has a probability of at least p / (k + 1), k the
    smallest margin, and lies (Hoeffding 1963) within sqrt(k log((k + 1) / p) / 2) of the mean.
    """
    n = d1 + d2
    within = np.ceil(np.sqrt(n * np.log(200) / 2))
    most = np.zeros(len(n))
    for step in np.linspace(-1, 1, 2 * int(within.max()) + 1):
        m = totals + step * within
        k = np.minimum.reduce([d1, d2, m, n - m])
        reach = np.sqrt(np.maximum(k, 0.0) * (np.log(np.maximum(k, 0.0) + 1) - log_p) / 2)
        for own, other in ((d1, d2), (d2, d1)):
            y = own * m / n + reach
            fits = (k > 0) & (y < np.minimum(own, m))
            with np.errstate(divide="ignore", invalid="ignore"):
                ratio = (y + 1) * (other - m + y + 1) / ((own - y) * (m - y))
            most = np.where(fits, np.maximum(most, ratio), np.inf)
    return np.asarray(np.log(0.99) - np.log1p(most))


def _search(
    least: Floats, most: Floats, test: Callable[[Integers], Floats], work: Integers, *, sign: int
) -> tuple[float, int, bool]:
    """The largest value between bounds, its index, and whether it is attained; `sign` multiplies log p-values."""
    # What cannot be the largest is left out; where bounds are equal the cheaper ones come first.
    kept = np.flatnonzero(most >= least.max())
    order = kept[np.lexsort((work[kept], -most[kept]))]
    best, where, done = -np.inf, int(order[0]), 0
    for some in batches(len(order), _TOGETHER):
        if best >= most[order[some.start]]:
            break
        if done > MOST_WORK:
            return float(most[order[some.start]]), where, False
        values = sign * test(order[some])
        done += int(work[order[some]].sum())
        if values.max() > best:
            best, where = float(values.max()), int(order[some][np.argmax(values)])
    return best, where, True


def _of_margin(all_of_them: Pair, scale: Scale, question: Question) -> PValueBounds:
    """Test every assignment against a margin, if that does not take too long."""
    d1, d2 = all_of_them.d1, all_of_them.d2
    exact = question.method != "asymptotic" and (scale.is_identity or question.disparity == "odds_ratio")
    if exact and ((d1 + d2) * np.minimum(d1, d2)).sum() > MOST_MARGIN_WORK:
        return _without_search("exact unconditional")
    found = [answer(_only(all_of_them, [place]), scale, question) for place in range(len(d1))]
    return _of_all(all_of_them, np.array([one.log_p for one in found]), found[0].method)


def _without_search(method: str) -> PValueBounds:
    return PValueBounds(-np.inf, 0.0, method, None, attained=False)


def _of_many(pair: Pair, unknown: Sequence[Unknown], question: Question) -> PValueBounds:
    """Bounds for so many assignments that not all of them are tested.

    Fisher's two-sided p-value is at least the smaller one-sided one, and at most that times the number of tables with
    these totals; Boschloo's is at most Fisher's, and at least that times the probability of the total, which is above 1
    / sqrt(2 n).
    """
    pairs = [end for each in unknown for end in extreme_pairs(pair, each)]
    x1, d1, x2, d2 = (np.concatenate(n) for n in zip(*((p.x1, p.d1, p.x2, p.d2) for p in pairs), strict=True))
    ends = Pair(x1, d1, x2, d2)
    sides = {"greater": ("greater",), "less": ("less",)}.get(question.alternative, ("greater", "less"))
    if question.method == "asymptotic":
        z = np.nan_to_num(statistic(_strata_last(ends), Scale(), "score")[0])
        both = [[margin.normal_log_p(float(end), side) for end in (z.min(), z.max())] for side in sides]
        low, method = float(np.min(both)), "asymptotic"
        high = float(np.max(both)) if len(sides) == 1 else 0.0
        if len(sides) == 2 and z.min() * z.max() > 0:
            high = margin.normal_log_p(float(np.abs(z).min()), "two-sided")
        if ends.undefined(question.disparity).any():
            high = 0.0
    else:
        fisher = [conditional_log_p(ends.x1, ends.d1, ends.x2, ends.d2, side) for side in sides]
        people = int(pair.d1[0] + pair.d2[0]) + max(each.events.both[1] + each.others.both[1] for each in unknown)
        low, method = float(np.min(fisher)) - 0.5 * float(np.log(2 * people)), "exact unconditional"
        tables = 1 if len(sides) == 1 else people // 2 + 1
        high = float(np.min(np.max(fisher, axis=1))) + float(np.log(tables))
    return PValueBounds(low, min(high, 0.0), method, None, attained=False)
