"""Rates of two sides when the group of some people is not known: bounds over all ways to assign them.

Of the people whose group is unknown, ``events`` show the event and ``others`` meet the condition without it. An
assignment gives ``a`` of the events and ``b`` of the others to group 1, and ``c`` and ``e`` to group 2. What is known
of a person leaves some of three places: group 1, group 2 and elsewhere. Of people with the same places, a, c and a + c
have limits; of all of them, (a, c) are all whole numbers within the sums of these limits (the sets are generalized
polymatroids), which `Reach` holds.

Disparities are largest and smallest at two of the assignments. The rate (x1 + a) / (d1 + a + b) grows with a and falls
with b, the other one grows with c and falls with e, and a difference or a ratio grows with the first and falls with the
second. As many events as possible in group 1 and as many others as possible in group 2 are the largest value of a, the
smallest of b and c, and the largest of e at once, so that no assignment has a larger disparity; the opposite one has
the smallest. The same holds for the conditional estimate of the odds ratio, for its exact limits and for one-sided
p-values of Fisher's test: with one more in a cell, the probability of every table with the same margins is divided by a
number that grows with that cell, which moves the whole conditional distribution to one side.

Two-sided p-values, and all of Boschloo's, are not monotone; every assignment is looked at. Boschloo's p-value is never
above Fisher's, and never below it times the probability of the total at the most favourable event probability. So the
assignments are tested in the order of these bounds until the next bound cannot be better than the best p-value.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import astuple, dataclass
from itertools import product
from typing import Any, Self

import numpy as np
from scipy.special import gammaln, xlogy

from skfairtest._utils.batches import batches, places
from skfairtest._utils.typing import Floats, Integers
from skfairtest.inference import margin
from skfairtest.inference.conditional import conditional_log_p
from skfairtest.inference.rates import Pair, Question, Scale, answer, equalities, statistic
from skfairtest.inference.unconditional import within_cap

#: Assignments whose p-values are computed; of more, bounds are given that are not attained.
MOST_ASSIGNMENTS = 200_000
#: Work for p-values that are searched one after the other: people times people of the smaller side; the same of
#: tests against a margin, and how many of these there are.
MOST_WORK, MOST_MARGIN_WORK, MOST_MARGINS = 4_000_000_000, 40_000_000, 2_000
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
        """Return the reach of people who may be on side 1, on side 2, and on neither."""
        must = (not (second or elsewhere), not (first or elsewhere), not elsewhere)
        return cls(*((n * fewest, n * may) for fewest, may in zip(must, (first, second, first or second), strict=True)))

    def __add__(self, other: Reach) -> Reach:
        pairs = zip(astuple(self), astuple(other), strict=True)
        return Reach(*((fewest + low, most + high) for (fewest, most), (low, high) in pairs))

    def corners(self) -> list[tuple[int, int]]:
        """Return the numbers on both sides between which all others lie."""
        found = {(a, int(c)) for a in self.first for c in self._beside(a, self.second)}
        return sorted(found | {(int(a), c) for c in self.second for a in self._beside(c, self.first)})

    def everything(self) -> tuple[Integers, Integers]:
        """Return all numbers on side 1 and on side 2."""
        first = np.arange(self.first[0], self.first[1] + 1)
        low, high = self._beside(first, self.second)
        return np.repeat(first, high - low + 1), places(high - low + 1) + np.repeat(low, high - low + 1)

    def __len__(self) -> int:
        low, high = self._beside(np.arange(self.first[0], self.first[1] + 1), self.second)
        return int((high - low + 1).sum())

    def _beside(self, n: Integers | int, side: tuple[int, int]) -> tuple[Integers, Integers]:
        """Return the fewest and the most people on one side when there are n on the other."""
        return np.maximum(side[0], self.both[0] - n), np.minimum(side[1], self.both[1] - n)


@dataclass(frozen=True)
class Unknown:
    """People of unknown group: those who show the event, and the others who meet its condition."""

    events: Reach
    others: Reach


@dataclass(frozen=True)
class PValueBounds:
    """The smallest and the largest log p-value, and the assignment with the largest.

    `attained` says that both are p-values of assignments; else they lie outside of all, and there may be no `worst`.
    """

    low: float
    high: float
    method: str
    worst: Pair | None
    attained: bool


def extreme_pairs(pair: Pair, unknown: Unknown) -> tuple[Pair, Pair]:
    """Return the assignments with the smallest and with the largest disparity."""
    events, others = (
        list(zip(reach.first, reversed(reach.second), strict=True)) for reach in (unknown.events, unknown.others)
    )
    return _with(pair, events[0], others[1]), _with(pair, events[1], others[0])


def _with(pair: Pair, events: tuple[Any, Any], others: tuple[Any, Any]) -> Pair:
    """Return a pair with more events, and more others, on either side."""
    (a, c), (b, e) = events, others
    return Pair(pair.x1 + a, pair.d1 + a + b, pair.x2 + c, pair.d2 + c + e, pair.overall)


def corner_pairs(pair: Pair, unknown: Unknown) -> list[Pair]:
    """Return the assignments with as many events on one side, or on neither, as possible, and so for the others.

    Limits of a disparity are smallest and largest at one of them: an odds ratio's at the two extreme ones, while score
    limits, which fewer people make wider, also where people are on neither side. Of score limits this was found by
    trying all assignments of 1,500 tables, not proved.
    """
    return [_with(pair, *both) for both in product(unknown.events.corners(), unknown.others.corners())]


def n_assignments(unknown: Unknown) -> int:
    """Count the assignments that differ in a count."""
    return len(unknown.events) * len(unknown.others)


def assigned(pair: Pair, unknown: Unknown) -> Pair:
    """Return all assignments, as counts of shape (n_assignments,) of a single stratum."""
    events, others = unknown.events.everything(), unknown.others.everything()
    i, j = (part.ravel() for part in np.indices((len(events[0]), len(others[0]))))
    return _with(pair, (events[0][i], events[1][i]), (others[0][j], others[1][j]))


def p_value_bounds(pair: Pair, unknown: Unknown, scale: Scale, question: Question) -> PValueBounds:
    """Return the smallest and largest p-value over all assignments of one comparison in one stratum.

    Parameters
    ----------
    pair : Pair
        The people whose group is known.
    unknown : Unknown
        Those whose group is not.
    scale, question : Scale, Question
        What is tested, and how; not by resampling.

    Returns
    -------
    PValueBounds
        Where there are more than `MOST_ASSIGNMENTS`, or testing them takes too long, bounds outside of all p-values.

    Examples
    --------
    >>> pair = Pair(*(np.array([n]) for n in (2, 10, 15, 25)))
    >>> found = p_value_bounds(pair, Unknown(Reach.of(1), Reach.of(2)), Scale(), Question())
    >>> round(float(np.exp(found.low)), 4), round(float(np.exp(found.high)), 4), found.attained
    (0.0109, 0.1268, True)
    """
    many = n_assignments(unknown)
    if question.margin_bounds is not None and many > MOST_MARGINS:
        return _without_search("asymptotic" if question.method == "asymptotic" else "exact unconditional")
    if many > MOST_ASSIGNMENTS:
        return _of_many(pair, unknown, question)
    return search(assigned(pair, unknown), scale, question)


def search(all_of_them: Pair, scale: Scale, question: Question) -> PValueBounds:
    """Return the smallest and largest p-value of completed tables, counts of shape (n_tables,) of a single stratum."""
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
        some = [_only(all_of_them, place) for place in chosen.tolist()]
        return np.array([log_p for log_p, _ in equalities(some, question.alternative)])

    least = fisher + np.where(tested, _most_probable_total(x1 + x2, d1 + d2), 0.0)
    work = np.where(tested, (d1 + d2) * np.minimum(d1, d2), 0)
    low, _, first = _search(-fisher, -least, test, work, sign=-1)
    high, worst, second = _search(least, fisher, test, work, sign=1)
    label = "exact unconditional" if tested[worst] else "exact conditional"
    return PValueBounds(-low, high, label, _only(all_of_them, worst) if second else None, first and second)


def _strata_last(pair: Pair) -> Pair:
    return Pair(pair.x1[:, None], pair.d1[:, None], pair.x2[:, None], pair.d2[:, None], pair.overall)


def _only(pair: Pair, place: int) -> Pair:
    return Pair(pair.x1[[place]], pair.d1[[place]], pair.x2[[place]], pair.d2[[place]], pair.overall)


def _of_all(all_of_them: Pair, log_p: Floats, method: str) -> PValueBounds:
    worst = int(np.argmax(log_p))
    return PValueBounds(float(log_p.min()), float(log_p[worst]), method, _only(all_of_them, worst), attained=True)


def _most_probable_total(m: Integers, n: Integers) -> Floats:
    """Log of the largest binomial probability of m events among n, which is that at an event probability of m / n."""
    found = gammaln(n + 1) - gammaln(m + 1) - gammaln(n - m + 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(found + xlogy(m, m / n) + xlogy(n - m, (n - m) / n))


def _search(
    least: Floats, most: Floats, test: Callable[[Integers], Floats], work: Integers, *, sign: int
) -> tuple[float, int, bool]:
    """Return the largest of the values between bounds, where it is, and whether it is one of them.

    `sign` is what log p-values are multiplied by; short of the end, the largest bound that is left is returned.
    """
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
    found = [answer(_only(all_of_them, place), scale, question) for place in range(len(d1))]
    return _of_all(all_of_them, np.array([one.log_p for one in found]), found[0].method)


def _without_search(method: str) -> PValueBounds:
    return PValueBounds(-np.inf, 0.0, method, None, attained=False)


def _of_many(pair: Pair, unknown: Unknown, question: Question) -> PValueBounds:
    """Return bounds for so many assignments that not all of them are tested.

    Fisher's one-sided p-values are smallest and largest at the ends. A two-sided one is at least the smaller of both,
    and 1 where the rates can be equal; Boschloo's is at most Fisher's, and at least that times the probability of the
    total, which is above 1 / sqrt(2 n) for n people.
    """
    ends = extreme_pairs(pair, unknown)
    sides = {"greater": ("greater",), "less": ("less",)}.get(question.alternative, ("greater", "less"))
    at_ends = np.array([[_fisher(end, side) for end in ends] for side in sides])
    people = float(sum(int(n[0]) for n in (pair.d1, pair.d2))) + unknown.events.both[1] + unknown.others.both[1]
    if question.method == "asymptotic":
        z = [float(statistic(end, Scale(), "score")[0]) for end in ends]
        both = [[margin.normal_log_p(one, side) for one in z] for side in sides]
        low, loss, method = float(np.min(both)), 0.0, "asymptotic"
    else:
        low, loss, method = float(at_ends.min()), -0.5 * float(np.log(2 * people)), "exact unconditional"
    high = float(at_ends.max()) if len(sides) == 1 and question.method != "asymptotic" else 0.0
    return PValueBounds(low + loss, min(high, 0.0), method, None, attained=False)


def _fisher(pair: Pair, side: str) -> float:
    return float(conditional_log_p(int(pair.x1[0]), int(pair.d1[0]), int(pair.x2[0]), int(pair.d2[0]), side))
