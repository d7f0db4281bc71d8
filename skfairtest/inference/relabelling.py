"""Rates of two sides when some true labels are wrong or not known: bounds over all labels that people may have.

Of the people with one prediction, d more may be truly positive than the data say. Each of them changes from one cell of
the confusion matrix to another: from the event to the others who meet the condition, into the condition or out of it.
Both numbers of a side, d1 for the people predicted positive and d0 for those predicted negative, have limits, and the
smallest number of labels that have to be otherwise is the sum of their sizes, which may not exceed a budget.

A rate x / (x + o) grows with its events x and falls with the others o, and so do the score statistic z of a comparison
with the group's x and the others' o, and its opposite with the group's o and the others' x. Of counts (a, b) and
(c, e) the square of z is N (ae - bc)^2 / ((a + b)(c + e)(a + c)(b + e)), of which the logarithm's derivative by b is
1/N - 2c/(ae - bc) - 1/(a + b) - 1/(b + e), below 0 where ae > bc because N exceeds a + b; by a it is
1/N + 2e/(ae - bc) - 1/(a + b) - 1/(a + c), above 0 because 2e/(ae - bc) is at least 2/a. So z is largest where no other
labels give the first side more events and no more others, and the second one fewer events and no fewer others: there is
one such point where labels only move people between the event and the others, and else a front of as many points as
labels may be otherwise. The score statistics of margins were found to have the same property by trying all tables of up
to 8 people a side, which does not prove it.

Where few labels may be otherwise in few people, every completed table is tested with the exact test; with more of them
the p-values are those of the score test at the ends of z.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from skfairtest._utils.batches import places
from skfairtest._utils.errors import ParameterError
from skfairtest._utils.typing import Booleans, Floats, Integers
from skfairtest.inference.margin import normal_log_p
from skfairtest.inference.rates import Pair, Question, Scale, disparity_of, statistic
from skfairtest.inference.unknown import PValueBounds, search

#: Completed tables that are all tested, and the work of all their exact tests together (people times people of the
#: smaller side) up to which they are.
MOST_TABLES, MOST_TOGETHER = 5_000, 100_000
#: Counts of a side that are all looked at; of more, those at the ends.
MOST_OF_SIDE = 1_000
#: Points of a front that are looked at; of longer fronts corners that lie beyond them.
MOST_OF_FRONT = 300


@dataclass(frozen=True)
class Side:
    """What the counts of one side may be: events and others who meet the condition, arrays of shape (n,).

    Parameters
    ----------
    events, others : ndarray of int, shape (n,)
        Counts of people in whom the rate is defined.
    complete : bool
        Whether these are all possible counts, or those at the ends only.
    attained : bool
        Whether all of them are possible, or some lie beyond.
    may_be_empty : bool
        Whether it is possible that nobody meets the condition.
    """

    events: Integers
    others: Integers
    complete: bool = True
    attained: bool = True
    may_be_empty: bool = False

    @property
    def rates(self) -> Floats:
        """The possible rates."""
        return np.asarray(self.events / (self.events + self.others))

    def front(self, *, largest: bool) -> Side:
        """The counts to which no others have both more events and fewer others; or fewer events and more others."""
        up, down = (self.events, self.others) if largest else (self.others, self.events)
        order = np.lexsort((down, -up))
        least = np.minimum.accumulate(down[order])
        kept = order[np.r_[True, least[1:] < least[:-1]]]
        up, down = up[kept], down[kept]
        thinned = len(kept) > MOST_OF_FRONT
        if thinned:  # between two points of the front, no point is beyond the corner of the better ends
            cuts = np.linspace(0, len(kept) - 1, MOST_OF_FRONT).astype(int)
            up, down = up[cuts[:-1]], down[cuts[1:]]
        return Side(*((up, down) if largest else (down, up)), attained=self.attained and not thinned)


def relabelled(
    cells: Integers, event: Booleans, given: Booleans, limits: Sequence[tuple[int, int]], budget: int | None = None
) -> Side:
    """Counts of a side whose true labels may be otherwise.

    Parameters
    ----------
    cells : ndarray of int, shape (4,)
        People who are truly and predicted positive; truly positive alone; predicted positive alone; neither.
    event, given : ndarray of bool, shape (4,)
        Which of these show the rate's event, and who meets its condition.
    limits : two of (int, int)
        The fewest and the most more people who may be truly positive, of those predicted positive and of the others.
    budget : int, optional
        The most labels that may be otherwise in both together.

    Returns
    -------
    Side
        With people in the condition.

    Examples
    --------
    One of three positive labels may be wrong, of precision:

    >>> import numpy as np
    >>> event, given = (
    ...     np.array([True, False, False, False]),
    ...     np.array([True, False, True, False]),
    ... )
    >>> side = relabelled(np.array([2, 1, 4, 3]), event, given, [(-2, 4), (-1, 3)], budget=1)
    >>> side.events.tolist(), side.others.tolist()
    ([1, 2, 3], [5, 4, 3])
    """
    (low, high), (other_low, other_high) = limits
    first = np.arange(low, high + 1)
    if budget is not None:
        first = first[np.abs(first) <= budget]
    left = np.full(len(first), max(abs(other_low), abs(other_high))) if budget is None else budget - np.abs(first)
    start, stop = np.maximum(other_low, -left), np.minimum(other_high, left)
    first, start, stop = (ends[start <= stop] for ends in (first, start, stop))
    lengths = stop - start + 1
    complete = int(lengths.sum()) <= MOST_OF_SIDE
    if complete:
        more = np.stack([np.repeat(first, lengths), np.repeat(start, lengths) + places(lengths)])
    else:  # of people with one prediction, a rate has its ends at those of the others; beside an end without people
        ends = np.concatenate([start, np.minimum(start + 1, stop), np.maximum(stop - 1, start), stop])
        more = np.stack([np.tile(first, 4), ends])
    change = np.concatenate([more, -more])
    events, others = (int(cells[of].sum()) + change[of].sum(axis=0) for of in (event, given & ~event))
    people = int(cells.sum()) + 1
    found = np.stack(np.divmod(np.unique(events * people + others), people))
    defined = found.sum(axis=0) > 0
    return Side(found[0, defined], found[1, defined], complete, may_be_empty=not bool(defined.all()))


def disparity_ends(first: Side, second: Side, scale: Scale, disparity: str) -> tuple[float, float]:
    """Return the smallest and the largest difference, or ratio, of both sides; NaN where there is none."""
    if not (len(first.events) and len(second.events)):
        return np.nan, np.nan
    own, other = (np.asarray(scale.value(side.rates)) for side in (first, second))
    low, high = disparity_of(np.array([own.min(), own.max()]), np.array([other.max(), other.min()]), disparity)
    return float(low), float(high)


def completed_p_values(first: Side, second: Side, scale: Scale, question: Question) -> PValueBounds:
    """Return the smallest and the largest p-value of a comparison over what both sides may be.

    Parameters
    ----------
    first, second : Side
        What the counts of the group, and of those it is compared with, may be.
    scale, question : Scale, Question
        What is tested, and how; not by resampling.

    Returns
    -------
    PValueBounds
        A table in which nobody of a side meets the condition has the p-value 1.

    Raises
    ------
    ValueError
        If a margin's test would have to be tried on too many tables.

    Examples
    --------
    >>> import numpy as np
    >>> first, second = (
    ...     Side(np.array([7, 8]), np.array([3, 2])),
    ...     Side(np.array([1]), np.array([9])),
    ... )
    >>> found = completed_p_values(first, second, Scale(), Question())
    >>> round(float(np.exp(found.low)), 4), round(float(np.exp(found.high)), 4), found.attained
    (0.0026, 0.008, True)
    """
    if not (len(first.events) and len(second.events)):
        return PValueBounds(0.0, 0.0, "undefined", None, attained=True)
    n, other, tables = len(first.events), len(second.events), None
    if first.complete and second.complete and n * other <= MOST_TABLES:
        x1, o1 = (np.repeat(one, other) for one in (first.events, first.others))
        x2, o2 = (np.tile(one, n) for one in (second.events, second.others))
        tables = Pair(x1, x1 + o1, x2, x2 + o2)

    def ends() -> tuple[Pair, Pair, bool]:
        least, most = ((first.front(largest=largest), second.front(largest=not largest)) for largest in (False, True))
        return _all_pairs(*least), _all_pairs(*most), all(side.attained for side in (*least, *most))

    found = _p_values(tables, ends, scale, question)
    attained = found.attained and first.attained and second.attained
    high = 0.0 if first.may_be_empty or second.may_be_empty else found.high
    return replace(found, high=high, attained=attained)


def _all_pairs(first: Side, second: Side) -> Pair:
    """Return every count of one side beside every count of the other, with a stratum as the last axis."""
    x1, d1, x2, d2 = np.broadcast_arrays(
        first.events[:, None, None], (first.events + first.others)[:, None, None],
        second.events[None, :, None], (second.events + second.others)[None, :, None],
    )  # fmt: skip
    return Pair(x1, d1, x2, d2)


def _p_values(
    tables: Pair | None, ends: Callable[[], tuple[Pair, Pair, bool]], scale: Scale, question: Question
) -> PValueBounds:
    """Test all tables, if these are known and that does not take too long.

    Otherwise the p-values are those of the score test at tables with the smallest and the largest statistic, `ends`,
    which are attained or not.
    """
    if tables is not None:
        work = (tables.d1 + tables.d2) * np.minimum(tables.d1, tables.d2)
        if len(work) == 1 or question.method == "asymptotic" or work.sum() <= MOST_TOGETHER:
            return search(tables, scale, question)
    if question.margin_bounds is not None:
        raise ParameterError(
            f"margin: the test of {question.margin_bounds} is tried on every completed table, of which there are too "
            "many here, or too large ones: use margin=None"
        )
    low, high, attained = ends()
    z = float(np.nanmin(statistic(low, Scale(), "score")[0])), float(np.nanmax(statistic(high, Scale(), "score")[0]))
    sides = ("greater", "less") if question.alternative == "two-sided" else (question.alternative,)
    # The smallest and the largest p-value of each direction; a two-sided one is twice the smaller of both directions.
    lows, highs = zip(*(sorted(normal_log_p(one, side) for one in z) for side in sides), strict=True)
    least, most = (min(0.0, min(found) + float(np.log(len(sides)))) for found in (lows, highs))
    return PValueBounds(least, most, "asymptotic", None, attained=attained)
