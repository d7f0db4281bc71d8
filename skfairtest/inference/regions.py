"""Rejection regions of the tests that two rates are equal: which outcomes are rejected, and how often that happens.

A region holds its borders and answers `rejects(x1, x2)` for arrays of events and `probability(p1, p2)`, a sum and not a
simulation.

References
----------
R. D. Boschloo (1970). Raised conditional level of significance for the 2 x 2-table when testing the equality of two
probabilities. Statistica Neerlandica 24, 1-35.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import bdtr, ndtri

from skfairtest._utils.batches import places
from skfairtest._utils.typing import Booleans, Floats, Integers
from skfairtest.inference._discrete import binomial_log_pmf
from skfairtest.inference._given_totals import given_totals, raised_level, width_held
from skfairtest.inference.rates import Question
from skfairtest.inference.unconditional import within_cap

#: Largest d1 + d2 for which a whole region is kept; beyond, only the totals that can be seen are enumerated.
EXACT_PEOPLE = 4_000
#: Outcomes enumerated at the most; beyond, the normal approximation.
OUTCOMES = 4_000_000


def _binomial(d: int, p: float) -> Floats:
    """Probability of every number of events."""
    return np.exp(binomial_log_pmf(np.arange(d + 1), d, p))


def _likely_totals(d1: int, p1: float, d2: int, p2: float) -> range:
    """Return the totals of events that have nearly all of the probability."""
    mean, spread = d1 * p1 + d2 * p2, float(np.sqrt(d1 * p1 * (1 - p1) + d2 * p2 * (1 - p2)))
    return range(max(0, int(mean - 8 * spread) - 20), min(d1 + d2, int(mean + 8 * spread) + 20) + 1)


def one_minus_kept(first: Floats, second: Floats, m: Integers, lower: Integers, upper: Integers) -> float:
    """Return 1 - P(lower <= x1 <= upper), summed over totals m, for two vectors of probabilities."""
    seen = np.flatnonzero(first > 1e-20)
    lower, upper = np.maximum(lower, seen[0]), np.minimum(upper, seen[-1])
    sizes = np.maximum(upper - lower + 1, 0)
    x1 = places(sizes) + np.repeat(lower, sizes)
    kept = float(first[x1] @ second[np.repeat(m, sizes) - x1])
    return min(1.0, max(0.0, 1 - kept))


@dataclass(frozen=True)
class TotalRegion:
    """Region of a test of equality: given the total m, group 1's events in [lower[m], upper[m]] are not rejected."""

    d1: int
    d2: int
    lower: Integers
    upper: Integers

    def rejects(self, x1: Integers, x2: Integers) -> Booleans:
        """A mask of the outcomes that are rejected."""
        m = x1 + x2
        return np.asarray((x1 < self.lower[m]) | (x1 > self.upper[m]))

    def probability(self, p1: float, p2: float) -> float:
        """How often the region is hit at these event probabilities."""
        first = _binomial(self.d1, p1)
        second = _binomial(self.d2, p2)
        m = np.asarray(_likely_totals(self.d1, p1, self.d2, p2))
        return one_minus_kept(first, second, m, self.lower[m], self.upper[m])


@dataclass(frozen=True)
class FirstRegion:
    """Region by group 1's events: rejected where x2 <= `below[x1]` or x2 >= `above[x1]`, or where both hold."""

    d1: int
    d2: int
    below: Integers
    above: Integers
    both: bool = False

    def rejects(self, x1: Integers, x2: Integers) -> Booleans:
        """A mask of the outcomes that are rejected."""
        left, right = x2 <= self.below[x1], x2 >= self.above[x1]
        return np.asarray(left & right if self.both else left | right)

    def probability(self, p1: float, p2: float) -> float:
        """How often the region is hit at these event probabilities."""
        first = _binomial(self.d1, p1)

        def up_to(last: Integers) -> Floats:
            inside = bdtr(np.clip(last, 0, self.d2).astype(float), self.d2, p2)
            return np.where(last < 0, 0.0, np.where(last >= self.d2, 1.0, inside))

        left, right = up_to(self.below), 1 - up_to(self.above - 1)
        hit = np.maximum(left + right - 1, 0.0) if self.both else np.minimum(left + right, 1.0)
        return min(1.0, max(0.0, float(first @ hit)))


Region = TotalRegion | FirstRegion


def reference_of(question: Question, d1: int, d2: int) -> str:
    """Name the reference distribution by which `FairnessTest` tests equality of two rates."""
    if question.method in ("asymptotic", "bootstrap"):
        return "asymptotic"
    given = question.method == "permutation" or question.disparity == "odds_ratio" or not within_cap(d1, d2)
    return "conditional" if given else "unconditional"


@lru_cache(maxsize=4096)
def equality_region(
    d1: int, d2: int, alpha: float, alternative: str = "two-sided", reference: str = "unconditional"
) -> Region:
    """Region of the test that two groups' rates are equal.

    Parameters
    ----------
    d1, d2 : int
        People of each group who meet the condition, at least 1.
    alpha : float
        Level.
    alternative : {"two-sided", "greater", "less"}
        "greater": group 1's probability is greater.
    reference : {"unconditional", "conditional", "asymptotic"}
        Boschloo's test, Fisher's, or the score test.

    Returns
    -------
    TotalRegion or FirstRegion
        The outcomes that are rejected.

    Examples
    --------
    >>> round(equality_region(93, 93, 0.05).probability(0.3, 0.5), 4)
    0.7906
    >>> round(equality_region(93, 93, 0.05, reference="conditional").probability(0.3, 0.5), 4)
    0.7511
    >>> round(equality_region(93, 93, 0.05, reference="asymptotic").probability(0.3, 0.5), 4)
    0.7991
    """
    m = np.arange(d1 + d2 + 1, dtype=np.int64)
    low = np.maximum(0, m - d2)
    if reference == "asymptotic":
        return _as_region(d1, d2, *score_limits(d1, d2, m, alpha, alternative), alternative)
    if alternative == "less":
        swapped = equality_region(d2, d1, alpha, "greater", reference)
        assert isinstance(swapped, FirstRegion)
        # Rejected where x1 <= below[x2], which rises with x2.
        above = np.searchsorted(swapped.below, np.arange(d1 + 1), side="left")
        return FirstRegion(d1, d2, np.full(d1 + 1, -1), above)
    given = given_totals(d1, d2, m, alpha, alternative)
    level = raised_level(given, alpha, alternative) if reference == "unconditional" else alpha
    lower, upper = given.kept(level)
    return _as_region(d1, d2, low if alternative == "greater" else lower, upper, alternative)


@lru_cache(maxsize=256)
def _level_of_many(d1: int, d2: int, alpha: float, alternative: str) -> float:
    """Boschloo's raised level; where one group is far the larger, of a design with fewer in that group."""
    most = max(EXACT_PEOPLE, int(OUTCOMES / 4 / width_held(d1, d2))) - min(d1, d2)
    d1, d2 = min(d1, most), min(d2, most)
    given = given_totals(d1, d2, np.arange(d1 + d2 + 1), alpha, alternative)
    return raised_level(given, alpha, alternative)


def large_equality_power(
    d1: int, p1: float, d2: int, p2: float, alpha: float, alternative: str, reference: str
) -> float | None:
    """Power of a test of equality by enumeration of the totals that can be seen; None if they are too many.

    Parameters
    ----------
    d1, d2 : int
        People of each group who meet the condition.
    p1, p2 : float
        Event probabilities.
    alpha, alternative, reference
        As in `equality_region`.

    Returns
    -------
    float or None
        Power.
    """
    if alternative == "less":
        d1, p1, d2, p2, alternative = d2, p2, d1, p1, "greater"
    totals = _likely_totals(d1, p1, d2, p2)
    if len(totals) * width_held(d1, d2) > OUTCOMES:
        return None
    m = np.asarray(totals)
    first, second = _binomial(d1, p1), _binomial(d2, p2)
    if reference == "asymptotic":
        lower, upper = score_limits(d1, d2, m, alpha, alternative)
    else:
        level = _level_of_many(d1, d2, alpha, alternative) if reference == "unconditional" else alpha
        lower, upper = given_totals(d1, d2, m, alpha, alternative).kept(level)
        if alternative == "greater":
            lower = np.maximum(0, m - d2)
    return one_minus_kept(first, second, m, lower, upper)


def kept_outcomes(d1: int, d2: int, m: Integers, alpha: float, reference: str) -> tuple[Integers, Integers]:
    """First and last outcome of group 1, given each total in `m`, that a two-sided test of equality does not reject.

    Parameters
    ----------
    d1, d2 : int
        People of each group who meet the condition, at least 1.
    m : ndarray of int, shape (k,)
        Totals of events.
    alpha : float
        Level.
    reference : {"unconditional", "conditional", "asymptotic"}
        As in `equality_region`.

    Returns
    -------
    (ndarray of int, ndarray of int), each of shape (k,)
        Outcomes outside of these are rejected.

    Examples
    --------
    >>> kept_outcomes(10, 10, np.array([0, 10]), 0.05, "conditional")
    (array([0, 3]), array([0, 7]))
    """
    if reference == "asymptotic":
        return score_limits(d1, d2, m, alpha, "two-sided")
    if reference == "conditional":
        return given_totals(d1, d2, m, alpha, "two-sided").kept(alpha)
    region = equality_region(d1, d2, alpha)
    assert isinstance(region, TotalRegion)
    return region.lower[m], region.upper[m]


def score_limits(
    d1: Integers | int, d2: Integers | int, m: Integers, alpha: float, alternative: str
) -> tuple[Integers, Integers]:
    """First and last outcome, per total, that the score test does not reject."""
    low, high = np.maximum(0, m - d2), np.minimum(d1, m)
    z = -float(ndtri(alpha / 2 if alternative == "two-sided" else alpha))
    people = d1 + d2
    centre = m * (d1 / people)
    reach = z * np.sqrt(m * ((people - m) / people) * (d1 / people) * (d2 / people))
    # Outcomes at a limit are rejected; without events, or with nothing else, the statistic is 0.
    lower = np.maximum(low, np.floor(centre - reach + 1e-9).astype(np.int64) + 1)
    upper = np.minimum(high, np.ceil(centre + reach - 1e-9).astype(np.int64) - 1)
    certain = (m == 0) | (m == people)
    lower, upper = np.where(certain, low, lower), np.where(certain, high, upper)
    return (low if alternative == "greater" else lower), (high if alternative == "less" else upper)


def _as_region(d1: int, d2: int, lower: Integers, upper: Integers, alternative: str) -> Region:
    if alternative == "two-sided":
        return TotalRegion(d1, d2, lower, upper)
    x1 = np.arange(d1 + 1)
    if alternative == "greater":
        # Rejected where x1 > upper[m]; upper rises with m, so for each x1 up to a last total.
        last = np.searchsorted(np.maximum.accumulate(upper), x1, side="left") - 1
        return FirstRegion(d1, d2, last - x1, np.full(d1 + 1, d2 + 1))
    first = np.searchsorted(np.maximum.accumulate(lower), x1, side="right")  # rejected where x1 < lower[m]
    return FirstRegion(d1, d2, np.full(d1 + 1, -1), first - x1)
