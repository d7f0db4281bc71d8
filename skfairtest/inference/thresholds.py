"""A rate's disparity between two groups as a function of the threshold at which a score becomes a positive prediction.

At each threshold the test is that of two rates; a band around equality holds what it would not reject, given the
events.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from skfairtest._utils.typing import Booleans, Floats, Integers
from skfairtest.inference import rates, unconditional
from skfairtest.inference.linear_form import Scale
from skfairtest.inference.rates import Pair
from skfairtest.inference.regions import kept_outcomes

#: Outcomes that are enumerated at the most before "auto" takes the score test; about ten seconds.
WORK = 10_000_000


class Curve(NamedTuple):
    """A disparity at each of k thresholds, its limits, and the disparities that would not be rejected there."""

    disparity: Floats
    ci_low: Floats
    ci_high: Floats
    kept_low: Floats
    kept_high: Floats
    rejected: Booleans
    method: str


def cell_counts(scores: Floats, truths: Booleans, thresholds: Floats) -> Integers:
    """Counts, shape (k, 4), by truth and prediction (1, 1), (1, 0), (0, 1), (0, 0); scores at a threshold are positive.

    Examples
    --------
    >>> cell_counts(np.array([0.2, 0.6, 0.6]), np.array([True, True, False]), np.array([0.6]))
    array([[1, 1, 1, 0]])
    """
    columns = []
    for truth in (True, False):
        chosen = np.sort(scores[truths == truth])
        below = np.searchsorted(chosen, thresholds, side="left")
        columns += [len(chosen) - below, below]
    return np.stack(columns, axis=1).astype(np.int64)


def chosen_thresholds(scores: Floats, most: int) -> Floats:
    """The scores used as thresholds: all distinct ones, or quantiles if there are too many.

    Examples
    --------
    >>> chosen_thresholds(np.array([0.1, 0.5, 0.5, 0.9]), 100)
    array([0.1, 0.5, 0.9])
    >>> len(chosen_thresholds(np.arange(5000.0), 100))
    100
    """
    distinct = np.unique(scores)
    if len(distinct) <= most:
        return distinct
    return np.unique(np.quantile(scores, np.linspace(0, 1, most), method="inverted_cdf"))


def curve(pair: Pair, scale: Scale, alpha: float, method: str) -> Curve:
    """Test a rate at each threshold separately; the last axis of `pair` is thresholds."""
    defined = pair.defined()
    used = pair.only(defined)
    used_method = _reference(used, method)
    lower, upper = _kept(used, alpha, used_method)
    outside = (used.x1 < lower) | (used.x1 > upper)
    z = -float(ndtri(alpha / 2))
    each = [used.only(np.arange(len(used.x1)) == i) for i in range(len(used.x1))]
    low, high = np.array(rates.limits_of_all(each, [scale] * len(each), "difference", z, z)).reshape(-1, 2).T
    disparity = _difference(used, scale, used.x1)
    # The interval ends at equality where the test rejects, and contains it where it does not, as everywhere.
    low = np.where(outside, np.where(disparity > 0, np.maximum(low, 0.0), low), np.minimum(low, 0.0))
    high = np.where(outside, np.where(disparity < 0, np.minimum(high, 0.0), high), np.maximum(high, 0.0))
    shown = np.full((5, len(defined)), np.nan)
    kept = (_difference(used, scale, x1) for x1 in (lower, upper))
    shown[:, defined] = disparity, low, high, *kept
    rejected = np.zeros(len(defined), dtype=bool)
    rejected[defined] = outside
    return Curve(shown[0], shown[1], shown[2], shown[3], shown[4], rejected, used_method)


def _designs(pair: Pair) -> dict[tuple[int, int], list[int]]:
    """Thresholds by their denominators, which are all equal for a rate given the truth."""
    out: dict[tuple[int, int], list[int]] = {}
    for i, design in enumerate(zip(pair.d1.tolist(), pair.d2.tolist(), strict=True)):
        out.setdefault(design, []).append(i)
    return out


def _reference(pair: Pair, method: str) -> str:
    if method != "auto":
        return method
    work = 0.0
    for (d1, d2), places in _designs(pair).items():
        totals = d1 + d2 + 1 if unconditional.within_cap(d1, d2) else len(places)
        work += totals * min(d1, d2, 8 * np.sqrt(d1 / (d1 + d2) * d2) + 10)
    return "exact" if work <= WORK else "asymptotic"


def _kept(pair: Pair, alpha: float, method: str) -> tuple[Integers, Integers]:
    m = pair.x1 + pair.x2
    lower, upper = np.zeros_like(m), np.zeros_like(m)
    for (d1, d2), places in _designs(pair).items():
        exact = "unconditional" if unconditional.within_cap(d1, d2) else "conditional"
        found = kept_outcomes(d1, d2, m[places], alpha, exact if method == "exact" else method)
        lower[places], upper[places] = found
    return lower, upper


def _difference(pair: Pair, scale: Scale, x1: Integers) -> Floats:
    """The metric's difference as a function of group 1's events."""
    x2 = pair.x1 + pair.x2 - x1
    return np.asarray(scale.value(x1 / pair.d1) - scale.value(x2 / pair.d2))
