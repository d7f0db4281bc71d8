"""What Fisher's and Boschloo's tests say about all outcomes of two groups at once, given every total of events.

References
----------
R. D. Boschloo (1970). Raised conditional level of significance for the 2 x 2-table when testing the equality of two
probabilities. Statistica Neerlandica 24, 1-35.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from skfairtest._utils.typing import Floats, Integers
from skfairtest.inference._discrete import log_choose
from skfairtest.inference._tails import Tails
from skfairtest.inference.conditional import TIE, mode_of
from skfairtest.inference.unconditional import largest_probabilities

#: Null outcomes less probable than exp(-30) times the level are counted as rejected without being looked at.
_NEGLIGIBLE = 30.0


@dataclass(frozen=True)
class GivenTotals:
    """Null probabilities and conditional p-values of the outcomes near the middle of every total's support."""

    left: Integers  # (totals,) first outcome held
    p_values: Floats  # (totals, width); infinite beyond the last outcome held
    probabilities: Floats

    def kept(self, level: float) -> tuple[Integers, Integers]:
        """First and last outcome with a p-value above `level`, per total."""
        kept = (self.p_values > level * (1 + 1e-9)) & np.isfinite(self.p_values)
        return self.left + kept.argmax(axis=1), self.left + kept.shape[1] - 1 - kept[:, ::-1].argmax(axis=1)

    def masses(self, level: float) -> Floats:
        """Null mass of the outcomes with a p-value of at most `level`, per total; what is not held counts too."""
        kept = np.where(self.p_values > level, self.probabilities, 0.0).sum(axis=1)
        return np.asarray(np.clip(1 - kept, 0.0, 1.0))


def width_held(d1: int, d2: int) -> float:
    """About how many outcomes of one total are held."""
    return float(min(d1, d2, 8 * np.sqrt(d1 / (d1 + d2) * d2) + 10) + 1)


def given_totals(d1: int, d2: int, m: Integers, alpha: float, alternative: str) -> GivenTotals:
    """Null distribution given each total in m, for a test at a level; at level 0 no outcome is left out."""
    low, high = np.maximum(0, m - d2), np.minimum(d1, m)
    mode = mode_of(d1, d2, m)
    choose1, choose2, choose = log_choose(d1), log_choose(d2), log_choose(d1 + d2)[m]
    floor = float(np.log(alpha)) - _NEGLIGIBLE if alpha > 0 else -np.inf

    def first_likely(end: Integers) -> Integers:
        """Per total, the outcome nearest to an end of the support that is not negligible."""
        outer, inner = end, mode
        while True:
            middle = (inner + outer) // 2
            above = choose1[middle] + choose2[m - middle] - choose > floor
            stay = (middle == inner) | (middle == outer)
            if stay.all():
                return np.where(choose1[outer] + choose2[m - outer] - choose > floor, outer, inner)
            inner, outer = np.where(above & ~stay, middle, inner), np.where(above | stay, outer, middle)

    left, right = first_likely(low), first_likely(high)
    x = left[:, None] + np.arange(int((right - left).max()) + 1)
    held = x <= right[:, None]
    x = np.minimum(x, right[:, None])
    probability = np.exp(choose1[x] + choose2[m[:, None] - x] - choose[:, None])
    probability = np.where(held, probability, 0.0)
    if alternative == "greater":
        p = np.cumsum(probability[:, ::-1], axis=1)[:, ::-1]
    else:
        order = np.argsort(np.where(held, probability, np.inf), axis=1, kind="stable")
        climbing = np.take_along_axis(probability, order, axis=1)
        p = np.cumsum(climbing, axis=1)
        # Given a total no more than two outcomes are equally probable.
        tied = (climbing[:, 1:] <= climbing[:, :-1] * (1 + TIE)) & (climbing[:, 1:] > 0)
        p[:, :-1] = np.where(tied, p[:, 1:], p[:, :-1])
        sorted_p = p
        p = np.empty_like(sorted_p)
        np.put_along_axis(p, order, sorted_p, axis=1)
    return GivenTotals(left, np.where(held, p, np.inf), probability)


def _last(fits: Callable[[int], bool], inside: int, outside: int) -> int:
    """Return the last place that fits, from one that does (or -1) up to one that does not."""
    while outside - inside > 1:
        middle = (inside + outside) // 2
        inside, outside = (middle, outside) if fits(middle) else (inside, middle)
    return inside


def _candidates(given: GivenTotals, alpha: float) -> Floats:
    """Return the conditional p-values to which a level may be raised."""
    return np.unique(given.p_values[(given.p_values > alpha * 0.999) & (given.p_values <= min(1.0, 20 * alpha))])


def raised_level(given: GivenTotals, alpha: float, alternative: str) -> float:
    """Return the largest conditional p-value up to which rejecting keeps the level (Boschloo 1970)."""
    two_sided = alternative == "two-sided"
    stop = np.pi / 4 if two_sided else np.pi / 2
    people = len(given.left) - 1
    candidates = _candidates(given, alpha)
    grid = np.sin(np.linspace(0, stop, 129)[1:-1]) ** 2
    m = np.arange(people + 1)
    weights = np.exp(log_choose(people) + m * np.log(grid)[:, None] + (people - m) * np.log1p(-grid)[:, None])

    def masses_of(i: int) -> Floats:
        return given.masses(float(candidates[i]) * (1 + 1e-9))

    def fits_on_grid(masses: Floats) -> bool:
        return float((weights @ masses).max()) <= alpha

    def fits(i: int) -> bool:
        masses = masses_of(i)
        tails = Tails(np.array([people]), masses)
        return fits_on_grid(masses) and bool(
            largest_probabilities(tails, two_sided=two_sided, relative=1e-5)[0] <= alpha
        )

    found = _last(lambda i: fits_on_grid(masses_of(i)), -1, len(candidates))
    step = 1  # the certified maximum lies a little above the grid's: go down until it fits
    while found >= 0 and not fits(found):
        lower = max(-1, found - step)
        if lower < 0 or fits(lower):
            found = _last(fits, lower, found)
            break
        found, step = lower, 2 * step
    return alpha if found < 0 else float(candidates[found])


#: Outcomes and totals looked at where a raised level is wanted to about a tenth.
_OUTCOMES, _TOTALS = 40_000, 700


@lru_cache(maxsize=4096)
def nearly_raised_level(d1: int, d2: int, alpha: float) -> float:
    """Boschloo's raised level of a two-sided test within about a tenth, which moves its power by less than .01.

    The largest probability of the tail is looked for at event probabilities a third of a standard deviation apart, and
    again around the largest. It is summed over all totals of events where they are few, else over some no more than a
    third of a standard deviation apart. Designs with very many outcomes are made smaller first, and what the level is
    raised by is shrunk with the square root of the smaller group.
    """
    small, large = sorted((d1, d2))
    while 12 * np.sqrt(small + large) * width_held(small, large) > _OUTCOMES:
        # On the size of a far larger group the level hardly depends.
        small, large = (small if large > 8 * small else small // 2), large // 2
    people = small + large
    most = float(np.sqrt(min(people, people / 2 + 5 * np.sqrt(people))))
    fine = max(6.0, min(_TOTALS, _OUTCOMES / width_held(small, large)) / most)
    m = np.unique((np.arange(int(fine * most) + 2) / fine) ** 2 // 1).astype(np.int64)
    m = m[m <= people]
    given = given_totals(small, large, m, alpha, "two-sided")
    steps = np.diff(np.r_[m[0], (m[1:] + m[:-1]) / 2, m[-1]])
    angles = np.linspace(0, np.pi / 4, int(5 * np.sqrt(people)) + 10)[1:]

    def weights(angles: Floats) -> Floats:
        p = np.sin(angles)[:, None] ** 2
        logs = log_choose(people)[m] + m * np.log(p) + (people - m) * np.log1p(-p)
        return np.asarray(np.exp(logs) * steps)

    everywhere = weights(angles)

    def fits(level: float) -> bool:
        masses = given.masses(level * (1 + 1e-9))
        found = everywhere @ masses
        place = int(found.argmax())
        if not 0.99 * alpha < found[place] <= alpha:
            return bool(found[place] <= alpha)
        around = np.linspace(angles[max(0, place - 1)], angles[min(len(angles) - 1, place + 1)], 17)
        return bool((weights(around) @ masses).max() <= alpha)

    candidates = _candidates(given, alpha)
    last = _last(lambda i: fits(float(candidates[i])), -1, len(candidates))
    found = alpha if last < 0 else float(candidates[last])
    return alpha + (found - alpha) * float(np.sqrt(small / min(d1, d2)))
