"""Score statistics of two binomial rates: at equality, and at any other difference or ratio.

The standard error is that under the null hypothesis: unlike the plug-in ("Wald") error it does not vanish when a group
has no events.

References
----------
O. Miettinen and M. Nurminen (1985). Statistics in Medicine 4, 213-226. Appendix I.
C. P. Farrington and G. Manning (1990). Statistics in Medicine 9, 1447-1454.
T. J. Dekker (1971). Numerische Mathematik 18, 224-242: products without rounding errors.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import log_ndtr

from skfairtest._utils.typing import Booleans, Floats

#: Continuity correction of tests over strata, in persons.
CONTINUITY = 1 / 3


def studentize(estimate: ArrayLike, standard_error: ArrayLike) -> Floats:
    """Estimate over its standard error: 0 if both are 0, infinite if only the error is."""
    estimate = np.asarray(estimate, dtype=float)
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = estimate / np.asarray(standard_error, dtype=float)
    return np.where((estimate == 0) & (np.asarray(standard_error) == 0), 0.0, ratio)


def of_score(z: Floats, alternative: str) -> Floats:
    """Logarithms of p-values of statistics that are standard normal under the null hypothesis."""
    if alternative == "two-sided":
        return np.asarray(np.minimum(np.log(2) + log_ndtr(-np.abs(z)), 0.0))
    return np.asarray(log_ndtr(-z if alternative == "greater" else z))


def without_rounding(distance: Floats, terms: Floats, variance: Floats) -> Floats:
    """A difference of `terms`, with 0 in place of a rounding error of 0, judged by its standard error too."""
    size = np.abs(distance)
    return np.where((size <= 1e-13 * terms) & ((size <= 1e-4 * np.sqrt(variance)) | (variance <= 0)), 0.0, distance)


#: Steps after which the restricted rates have all digits: each squares the error, which is a twentieth after the first.
_STEPS = 4
#: Roundings, in units of the last place, that a difference of 0 between two products of counts and an edge may show.
_ROUNDINGS = 4 * float(np.finfo(float).eps)


@dataclass(frozen=True)
class _Restricted:
    """Rates at the restricted maximum and their complements, none computed by subtraction from 1."""

    p1: Floats
    q1: Floats
    p2: Floats
    q2: Floats
    exchanged: Booleans
    turned: Booleans

    def rates(self) -> tuple[Floats, Floats]:
        """Rates of the first group and of the second."""
        first, second = np.where(self.turned, self.q1, self.p1), np.where(self.turned, self.q2, self.p2)
        return np.where(self.exchanged, second, first), np.where(self.exchanged, first, second)

    def variance(self, d1: Floats, d2: Floats, weight: Floats | float) -> Floats:
        """Variance of r1 - r2, or of r1 - edge r2 if `weight` is the square of the edge."""
        d1, d2 = np.where(self.exchanged, d2, d1), np.where(self.exchanged, d1, d2)
        return np.asarray(self.p1 * self.q1 / d1 + weight * (self.p2 * self.q2 / d2))


def _at_difference(x1: Floats, y1: Floats, x2: Floats, y2: Floats, edge: Floats) -> _Restricted:
    """Rates of largest likelihood with p1 - p2 = edge, for events x and non-events y.

    After swapping groups, and events for non-events, the edge e is at least 0 and s = p2 at most 1 - p1. All rates
    follow without cancellation from s in [0, (1 - e) / 2], where

            x2 / s + x1 / (s + e) = y1 / (1 - e - s) + y2 / (1 - s).

    The reciprocal of the right-hand side is nearly straight there; with its tangent in its place the equation is
    quadratic, with one positive root, which gives the next tangent.
    """
    e, room = np.abs(edge), 1 - np.abs(edge)
    swapped = edge < 0
    # The likelihood still rises where p2 = 1 - p1.
    turned = (x1 - y2) * (1 - edge) + (x2 - y1) * (1 + edge) > 0
    x1, y1, x2, y2 = np.where(swapped, (x2, y2, x1, y1), (x1, y1, x2, y2))
    x1, y1, x2, y2 = np.where(turned, (y2, x2, y1, x1), (x1, y1, x2, y2))
    events, far, s = x1 + x2, x2 * e, room / 4
    for _ in range(_STEPS):
        q1, q2 = room - s, 1 - s
        first, second = y1 * q2, y2 * q1
        both = first + second
        # The tangent is (level - slope s) / scale.
        scale, slope = both * both, first * q2 + second * q1
        level = q1 * q2 * both + slope * s
        a, b, c = scale + slope * events, scale * e - level * events + slope * far, level * far
        root = np.sqrt(b * b + 4 * a * c) + np.abs(b)
        s = np.minimum(np.where(b > 0, 2 * c / root, root / (2 * a)), room / 2)
    s = np.where(room > 0, s, 0.0)
    return _Restricted(s + e, room - s, s, 1 - s, swapped ^ turned, turned)


def _near_one(edge: Floats) -> Booleans:
    """Whether edge - 1 has no rounding error."""
    return (edge > 0.5) & (edge < 2)


def _at_ratio(x1: Floats, y1: Floats, x2: Floats, y2: Floats, edge: Floats) -> _Restricted:
    """Rates of largest likelihood with p1 / p2 = edge: Miettinen and Nurminen's quadratic."""
    first, second = edge * (x1 + y1 + x2), x2 + y2 + x1
    lead = np.where(_near_one(edge), (edge - 1) * (x1 + y1 + x2) + (y1 - y2), first - second)
    # b**2 - 4 (d1 + d2) edge events, as (d1 + x2) (d2 + x1) - (d1 + d2) (x1 + x2) = y1 y2.
    product = 4 * edge * y1 * y2
    root = np.sqrt(lead * lead + product)
    large = root + np.abs(lead)
    small = np.where(large > 0, product / large, 0.0)
    total = first + second + root
    p2 = np.minimum(2 * (x1 + x2) / total, 1.0)
    q1 = (2 * edge * y1 + np.where(lead > 0, small, large)) / total
    q2 = (2 * y2 + np.where(lead > 0, large, small)) / total
    never = np.zeros(edge.shape, dtype=bool)
    return _Restricted(np.minimum(edge * p2, 1.0), q1, p2, q2, never, never)


def _restricted(x1: Floats, d1: Floats, x2: Floats, d2: Floats, edge: Floats, disparity: str) -> _Restricted:
    find = _at_ratio if disparity == "ratio" else _at_difference
    return find(x1, d1 - x1, x2, d2 - x2, edge)


def restricted_rates(
    x1: ArrayLike, d1: ArrayLike, x2: ArrayLike, d2: ArrayLike, edge: ArrayLike, disparity: str = "difference"
) -> tuple[Floats, Floats]:
    """Maximum-likelihood rates (p1, p2) under p1 - p2 = edge, or p1 / p2 = edge. Arguments broadcast.

    Examples
    --------
    >>> p1, p2 = restricted_rates(14, 20, 10, 20, 0.2)
    >>> round(float(p1), 6), round(float(p2), 6)
    (0.7, 0.5)
    """
    x1, d1, x2, d2, edge = np.broadcast_arrays(*(np.asarray(a, dtype=float) for a in (x1, d1, x2, d2, edge)))
    with np.errstate(invalid="ignore", divide="ignore", over="ignore", under="ignore"):
        return _restricted(x1, d1, x2, d2, edge, disparity).rates()


def _split(value: Floats) -> tuple[Floats, Floats]:
    """Split into two halves of the digits (Veltkamp), whose products are exact."""
    scaled = 134217729.0 * value  # 2**27 + 1
    high = scaled - (scaled - value)
    return high, value - high


def _product(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """A product and its rounding error (Dekker 1971)."""
    (a1, a2), (b1, b2) = _split(a), _split(b)
    product = a * b
    return product, ((a1 * b1 - product) + a1 * b2 + a2 * b1) + a2 * b2


def difference_of_rates(x1: Floats, d1: Floats, x2: Floats, d2: Floats) -> Floats:
    """r1 - r2 in full precision, from the integer x1 y2 - x2 y1."""
    y1, y2 = d1 - x1, d2 - x2
    if d1.max(initial=0) * d2.max(initial=0) < 2**53:
        return np.asarray((x1 * y2 - x2 * y1) / (d1 * d2))
    (left, left_error), (right, right_error) = _product(x1, y2), _product(x2, y1)
    return np.asarray(((left - right) + (left_error - right_error)) / (d1 * d2))


def _distance(x1: Floats, d1: Floats, x2: Floats, d2: Floats, edge: Floats, disparity: str) -> Floats:
    """r1 - r2 - edge, or r1 - edge r2: 0 if the edge is the observed disparity up to rounding."""
    difference = difference_of_rates(x1, d1, x2, d2)
    if disparity == "ratio":
        tested = edge * (x2 / d2)
        distance = np.where(_near_one(edge), difference - (edge - 1) * (x2 / d2), x1 / d1 - tested)
        return np.where(np.abs(distance) <= _ROUNDINGS * tested, 0.0, distance)
    e = np.abs(edge)
    short1, short2 = np.where(edge < 0, x1, d1 - x1) / d1, np.where(edge < 0, d2 - x2, x2) / d2
    sign = np.where(edge < 0, -1.0, 1.0)
    # Where the edge is large, from what is missing to 1 on both sides, which is small.
    distance = np.where(e > 0.5, (1 - e) - (short1 + short2), sign * difference - e)
    return np.where(np.abs(distance) <= _ROUNDINGS * e, 0.0, sign * distance)


def score_at(
    x1: ArrayLike, d1: ArrayLike, x2: ArrayLike, d2: ArrayLike, edge: ArrayLike, disparity: str = "difference"
) -> tuple[Floats, Floats]:
    """Miettinen-Nurminen score statistic of p1 - p2 = edge (or p1 / p2 = edge), and its standard error."""
    x1, d1, x2, d2, edge = np.broadcast_arrays(*(np.asarray(a, dtype=float) for a in (x1, d1, x2, d2, edge)))
    factor = (d1 + d2) / np.maximum(d1 + d2 - 1, 1)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore", under="ignore"):
        at = _restricted(x1, d1, x2, d2, edge, disparity)
        error = np.sqrt(at.variance(d1, d2, edge**2 if disparity == "ratio" else 1.0) * factor)
        distance = _distance(x1, d1, x2, d2, edge, disparity)
    return studentize(distance, error), error
