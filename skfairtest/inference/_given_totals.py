"""Fisher's and Boschloo's (1970) tests for all outcomes of two groups at once, given every total of events."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Self, overload

import numpy as np
from numpy.typing import NDArray

from skfairtest._utils.batches import parts, places, starts
from skfairtest._utils.typing import Floats, Integers
from skfairtest.inference._discrete import log_choose, log_factorials
from skfairtest.inference._tails import Tails
from skfairtest.inference.conditional import TIE, first_above, mode_of
from skfairtest.inference.unconditional import largest_probabilities

#: Null outcomes less probable than exp(-30) times the level are counted as rejected without being looked at.
_NEGLIGIBLE = 30.0
#: Outcomes held at the same time, of many pairs.
_AT_ONCE = 50_000


@dataclass(frozen=True)
class GivenTotals:
    """Null probabilities of the outcomes near the middle of every total's support, and conditional p-values."""

    left: Integers  # (totals,) first outcome held
    probabilities: Floats  # (totals, width); 0 beyond the last outcome held
    climbing: Floats  # the same in the order in which outcomes are rejected
    p_values: Floats  # in that order
    two_sided: bool

    def kept(self, level: float | Floats) -> tuple[Integers, Integers]:
        """First and last outcome with a p-value above a level, per total."""
        rejected = (self.p_values <= np.reshape(level, (-1, 1)) * (1 + 1e-9)).sum(axis=1)
        if not self.two_sided:
            return self.left, self.left + self.p_values.shape[1] - 1 - rejected
        padded = np.column_stack([np.zeros(len(self.left)), self.climbing])
        kept = self.probabilities > np.take_along_axis(padded, rejected[:, None], axis=1)
        return self.left + kept.argmax(axis=1), self.left + kept.shape[1] - 1 - kept[:, ::-1].argmax(axis=1)

    def masses(self, level: float) -> Floats:
        """Null mass of the outcomes with a p-value of at most `level`, per total, also of those not held."""
        kept = np.where(self.p_values > level, self.climbing, 0.0).sum(axis=1)
        return np.asarray(np.clip(1 - kept, 0.0, 1.0))


@overload
def width_held(d1: int, d2: int) -> float: ...
@overload
def width_held(d1: Integers, d2: Integers) -> Floats: ...
def width_held(d1, d2):  # type: ignore[no-untyped-def]
    """About how many outcomes of one total are held."""
    return np.minimum(np.minimum(d1, d2), 8 * np.sqrt(d1 / (d1 + d2) * d2) + 10) + 1


@dataclass(frozen=True)
class _Totals:
    """Totals m of pairs of groups, with the first and last outcome that is not negligible."""

    d1: Integers
    d2: Integers
    m: Integers
    log: Floats  # logarithms of factorials
    left: Integers
    right: Integers

    @classmethod
    def of(cls, d1: Integers | int, d2: Integers | int, m: Integers, alpha: float) -> Self:
        d1, d2, m = (np.asarray(a, np.int64) for a in np.broadcast_arrays(d1, d2, m))
        log = log_factorials(int((d1 + d2).max()))
        floor = np.log(alpha) - _NEGLIGIBLE if alpha > 0 else -np.inf
        mode, totals = mode_of(d1, d2, m), cls(d1, d2, m, log, m, m)
        constant = totals.constants()
        low, high = np.maximum(0, m - d2), np.minimum(d1, m)

        left, right = (
            first_above(floor - constant, end, mode, lambda x: -totals.denominators(x)) for end in (low, high)
        )
        return replace(totals, left=left, right=right)

    def constants(self) -> Floats:
        """Logarithms of what all outcomes of a total have in common."""
        log, people = self.log, self.d1 + self.d2
        return np.asarray(log[self.d1] + log[self.d2] - log[people] + log[self.m] + log[people - self.m])

    def denominators(self, x: Integers) -> Floats:
        """Log divisors of outcomes' probabilities; x is (totals,) or (totals, k)."""
        d1, d2, m = (a.reshape(-1, *[1] * (x.ndim - 1)) for a in (self.d1, self.d2, self.m))
        log = self.log
        found = log[x]
        found += log[d1 - x]
        rest = m - x
        found += log[rest]
        found += log[np.subtract(d2, rest, out=rest)]
        return np.asarray(found)

    def take(self, rows: Integers) -> Self:
        """Some of the totals."""
        return replace(self, **{name: value[rows] for name, value in vars(self).items() if name != "log"})

    def given(self, alternative: str) -> GivenTotals:
        """The null distribution given each of these totals."""
        x = self.left[:, None] + np.arange(int((self.right - self.left).max()) + 1)
        held = x <= self.right[:, None]
        np.minimum(x, self.right[:, None], out=x)
        probability = self.constants()[:, None] - self.denominators(x)
        np.exp(probability, out=probability)
        probability *= held
        two_sided = alternative == "two-sided"
        climbing = np.sort(probability, axis=1) if two_sided else probability[:, ::-1]
        p = np.cumsum(climbing, axis=1)
        if two_sided:  # given a total no more than two outcomes are equally probable
            tied = climbing[:, 1:] <= climbing[:, :-1] * (1 + TIE)
            np.copyto(p[:, :-1], p[:, 1:], where=tied)
        return GivenTotals(self.left, probability, climbing, p, two_sided)


def given_totals(d1: int, d2: int, m: Integers, alpha: float, alternative: str) -> GivenTotals:
    """Null distribution given each total in m, for a test at a level; level 0 keeps every outcome."""
    return _Totals.of(d1, d2, m, alpha).given(alternative)


def given_totals_in_parts(
    d1: Integers, d2: Integers, m: Integers, alpha: float, alternative: str
) -> Iterator[tuple[Integers, GivenTotals]]:
    """Yield the null distributions given totals of many pairs, and their totals."""
    totals = _Totals.of(d1, d2, m, alpha)
    rows = np.argsort(totals.right - totals.left, kind="stable")
    for part in parts((totals.right - totals.left)[rows] + 1, _AT_ONCE):
        yield rows[part], totals.take(rows[part]).given(alternative)


def _last(fits: Callable[[int], bool], inside: int, outside: int) -> int:
    """The last index that fits, by bisection."""
    while outside - inside > 1:
        middle = (inside + outside) // 2
        inside, outside = (middle, outside) if fits(middle) else (inside, middle)
    return inside


def raised_level(given: GivenTotals, alpha: float, alternative: str) -> float:
    """The largest conditional p-value whose rejection region has the level (Boschloo 1970)."""
    two_sided = alternative == "two-sided"
    stop = np.pi / 4 if two_sided else np.pi / 2
    people = len(given.left) - 1
    p = given.p_values
    candidates = np.unique(p[(p > alpha * 0.999) & (p <= min(1.0, 20 * alpha))])  # to which the level may be raised
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


def nearly_raised_levels(d1: Integers, d2: Integers, alpha: float, alternative: str) -> Floats:
    """Boschloo's raised levels within about a tenth, which moves a test's power by less than .01.

    Large designs are scaled down; the raise shrinks with the square root of the smaller group.
    """
    smaller = np.array([_smaller(*sorted(pair)) for pair in zip(d1.tolist(), d2.tolist(), strict=True)])
    either = smaller if alternative == "two-sided" else np.concatenate([smaller, smaller[:, ::-1]])
    designs, design = np.unique(either, axis=0, return_inverse=True)
    looked_at = [_totals_looked_at(*pair) for pair in designs.tolist()]
    sizes = np.array([len(m) for m in looked_at])
    least, rows, values = np.empty(int(sizes.sum())), [], []
    first_group, second_group = np.repeat(designs, sizes, axis=0).T
    for own, given in given_totals_in_parts(first_group, second_group, np.concatenate(looked_at), alpha, alternative):
        low, high = ((given.p_values <= p).sum(axis=1) for p in (alpha * 0.999, min(1.0, 20 * alpha)))
        least[own] = given.p_values[np.arange(len(own)), low - 1] * (low > 0)
        between = np.repeat(np.arange(len(own)), high - low)
        rows.append(own[between])
        values.append(given.p_values[between, low[between] + places(high - low)])
    row, value = np.concatenate(rows), np.concatenate(values)
    owner = np.repeat(np.arange(len(sizes)), sizes)
    order = np.lexsort((value, owner[row]))
    row, value = row[order], value[order]
    first, bounds = starts(sizes), np.searchsorted(owner[row], np.arange(len(sizes) + 1))
    found = np.array(
        [
            _nearly_raised(sum(pair), m, least[start : start + len(m)], row[low:high] - start, value[low:high], alpha)
            for pair, m, start, low, high in zip(
                designs.tolist(), looked_at, first.tolist(), bounds[:-1].tolist(), bounds[1:].tolist(), strict=True
            )
        ]
    )[design.reshape(-1)]
    levels, beyond = found.reshape(-1, len(d1), 2).transpose(2, 1, 0)
    # Of two designs both limit the level: it lies just below the first p-value that would be too large in either.
    level = levels[:, 0] if alternative == "two-sided" else np.maximum(beyond.min(axis=1) * (1 - 1e-6), alpha)
    return np.asarray(alpha + (level - alpha) * np.sqrt(smaller[:, 0] / np.minimum(d1, d2)))


def _smaller(small: int, large: int) -> tuple[int, int]:
    while 12 * np.sqrt(small + large) * width_held(small, large) > _OUTCOMES:
        # On the size of a far larger group the level hardly depends.
        small, large = (small if large > 8 * small else small // 2), large // 2
    return small, large


def _totals_looked_at(small: int, large: int) -> Integers:
    """All totals if there are few, otherwise some at most a third of a standard deviation apart."""
    people = small + large
    most = float(np.sqrt(min(people, people / 2 + 5 * np.sqrt(people))))
    fine = max(6.0, min(_TOTALS, _OUTCOMES / width_held(small, large)) / most)
    m = np.unique((np.arange(int(fine * most) + 2) / fine) ** 2 // 1).astype(np.int64)
    return m[m <= people]


def _nearly_raised(
    people: int, m: Integers, least: Floats, row: Integers, value: Floats, alpha: float
) -> tuple[float, float]:
    """Raise a level to the largest p-value whose tail has at most the level, and give the next p-value too.

    `least`: tail masses without the p-values, which increase; `row`: the index in `m` of each p-value's total.
    """
    root = float(np.sqrt(people))
    choose, steps = log_choose(people)[m], np.diff(np.r_[m[0], (m[1:] + m[:-1]) / 2, m[-1]])

    def weights(angles: NDArray[Any]) -> tuple[Integers, Floats]:
        """The totals that are likely at event probabilities, and their probabilities."""
        first, last = (
            np.searchsorted(m, people * np.sin(np.clip(angles + way * 3 / root, 0, np.pi / 2)) ** 2) for way in (-1, 1)
        )
        width = min(len(m), int((last - first).max()) + 1)
        place = np.minimum(first, len(m) - width)[:, None] + np.arange(width)
        p = np.sin(angles)[:, None] ** 2
        some = m[place]
        return place, np.exp(choose[place] + some * np.log(p) + (people - some) * np.log1p(-p)) * steps[place]

    step = float(np.pi / 4 / (int(2.5 * root) + 9))
    angles = step * np.arange(1, int(2.5 * root) + 10)
    places, likely = weights(angles)

    def fits(i: int) -> bool:
        nonlocal angles, places, likely
        masses, stop = least.copy(), int(np.searchsorted(value, value[i] * (1 + 1e-9), "right"))
        masses[row[:stop]] = value[:stop]  # of several p-values of one total the last one stays
        found = np.einsum("ij,ij->i", likely, masses[places])
        largest = int(found.argmax())
        if 0.95 * alpha < found[largest] <= alpha:
            around, likely_around = weights(angles[largest] + np.linspace(-step, step, 17)[1:-1])
            return bool(np.einsum("ij,ij->i", likely_around, masses[around]).max() <= alpha)
        if found[largest] > alpha:  # at lower levels what is less stays less
            kept = found > 0.9 * alpha
            angles, places, likely = angles[kept], places[kept], likely[kept]
        return bool(found[largest] <= alpha)

    last = _last(fits, -1, len(value))
    return alpha if last < 0 else float(value[last]), float(value[last + 1]) if last + 1 < len(value) else 20 * alpha
