"""Tests of a disparity of any size as a linear form, which also exists if one of the values is 0.

A difference of `edge` means first - second - edge = 0, a ratio of `edge` means first - edge * second = 0. The form over
its standard error tests that edge, and the edges not rejected are an interval (Fieller 1954). Rates and areas of people
with weights or in clusters are tested as counts of an effective number of people (Rao and Scott 1992).

References
----------
E. C. Fieller (1954). Journal of the Royal Statistical Society B 16, 175-185.
O. Miettinen and M. Nurminen (1985). Statistics in Medicine 4, 213-226.
J. N. K. Rao and A. J. Scott (1992). Biometrics 48, 577-585: rates and areas of people with weights or in clusters are
tested as counts of an effective number of people.
J. J. Gart and J. Nam (1990). Biometrics 46, 637-643. P. J. Laud (2017). Pharmaceutical Statistics 16, 334-348.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from skfairtest._utils.typing import Floats, Moments
from skfairtest.inference.intervals import crossings
from skfairtest.inference.resampling import TOLERANCE, monte_carlo_p, oriented, upper_quantile
from skfairtest.inference.score import restricted_rates, studentize, without_rounding
from skfairtest.inference.two_sides import limits

#: Angles of ratios closer to 0 and infinity than this are these.
NEAREST = 1e-15
#: Steps towards restricted rates of a function of a rate, and of its second derivative.
_STEPS, _NEAR = 12, 1e-5


def identity(rate: Floats) -> Floats:
    """The rate itself."""
    return rate


def one(rate: Floats) -> Floats:
    """Slope of `identity`."""
    return np.ones_like(rate)


@dataclass(frozen=True)
class Scale:
    """The increasing function from a rate to a value (from Jaccard to F1), and its derivative."""

    value: Callable[[Floats], Floats] = identity
    slope: Callable[[Floats], Floats] = one

    @property
    def is_identity(self) -> bool:
        """Whether the value is the rate."""
        return self.value is identity


def linear_form(moments: Moments, disparity: str, edge: float | Floats) -> tuple[Floats, Floats]:
    """The form first - second - edge, or first - edge * second for a ratio, and its variance."""
    if disparity == "ratio":
        other = edge * moments.second
        distance = moments.first - other
        total = moments.first_variance + edge**2 * moments.second_variance
        variance = total - 2 * edge * moments.covariance
    else:
        other = moments.second + edge
        distance = moments.first - moments.second - edge
        total = moments.first_variance + moments.second_variance
        variance = total - 2 * moments.covariance
    variance = np.where(variance <= 1e-13 * total, 0.0, variance)
    return without_rounding(distance, np.maximum(np.abs(moments.first), np.abs(other)), variance), variance


#: By how much the statistics of edges exceed their critical value.
Excess = Callable[[Floats], Floats]


def last_covered(
    values: tuple[float, float], disparity: str, ends: tuple[float, float], above: Excess, below: Excess
) -> tuple[float, float]:
    """The smallest and the largest edge that are not rejected.

    `above`: the excess of edges below the estimate, rejected by data above them; `below` the opposite. Ratios are
    searched on the scale of atan of their share in the estimate, on which infinity is an ordinary end.
    """
    ratio = disparity == "ratio"
    first, second = values
    unit = min(max(first / second, 1e-100), 1e100) if first > 0 and second > 0 else 1.0

    def edge(place: Floats) -> Floats:
        return unit * np.tan(np.clip(place, NEAREST, np.pi / 2 - NEAREST)) if ratio else place

    start = np.full(1, np.arctan2(first, second * unit) if ratio else first - second)
    places = (0.0, np.pi / 2) if ratio else ends
    low, high = (
        float(crossings(lambda place: excess(edge(place)), start, np.full(1, end))[0][0])  # noqa: B023
        for end, excess in zip(places, (above, below), strict=True)
    )
    if ratio:
        low = 0.0 if low <= NEAREST else unit * float(np.tan(low))
        high = np.inf if high >= np.pi / 2 - NEAREST else unit * float(np.tan(high))
    return max(ends[0], low), min(ends[1], high)


@dataclass(frozen=True)
class Linearized:
    """Two values with their variances: the form's variance is v1 + edge^2 v2 - 2 edge c.

    `scale` multiplies the standard error so that it is, at equality, that of the statistic tested.
    """

    moments: Moments
    disparity: str
    scale: float = 1.0

    def at(self, edge: float | Floats) -> tuple[Floats, Floats]:
        """The form and its standard error."""
        distance, variance = linear_form(self.moments, self.disparity, edge)
        return distance, self.scale * np.sqrt(variance)

    def limits(self, critical: tuple[float, float], ends: tuple[float, float]) -> tuple[float, float]:
        """The edges at which the statistic does not exceed the critical values."""
        if self.disparity == "ratio":
            values = float(self.moments.first), float(self.moments.second)
            return _limits_at(self.at, values, "ratio", critical, ends)
        distance, error = (float(v) for v in self.at(0.0))
        return limits(distance, error, ends, critical)


@dataclass(frozen=True)
class EffectiveRates:
    """Two rates per stratum with effective numbers of people; the variance is restricted (Miettinen and Nurminen).

    Arrays have shape (S,). `share` holds the strata's weights, of sum 1; `part` the group's share of everyone, for a
    disparity to everyone; `copies` the number of strata like each. `scale` multiplies the standard error at equality
    and fades towards the estimate. `skewed` corrects for the skewness of rates (Gart and Nam; Laud). `width` is the
    range of the values. `continuity` is a share of one person's event.
    """

    first: Floats
    second: Floats
    first_people: Floats
    second_people: Floats
    share: Floats
    part: Floats
    correlation: Floats
    disparity: str
    scale: float = 1.0
    skewed: bool = False
    width: float = 1.0
    continuity: float = 0.0
    copies: Floats | float = 1.0
    metric: Scale = Scale()

    def at(self, edge: float | Floats) -> tuple[Floats, Floats]:
        """The form and its standard error."""
        shown = np.asarray(edge, dtype=float)
        edge = shown / self.width if self.disparity == "difference" else shown
        each, n1, n2 = edge[..., None], self.first_people, self.second_people
        # Everyone's rate is part * first + (1 - part) * second.
        if self.disparity == "ratio":
            own, other = 1 - each * self.part, each * (1 - self.part)
            apart = other / np.maximum(own, 1e-9)
            constant = np.zeros_like(edge)
        else:
            own = other = np.broadcast_to(1 - self.part, np.broadcast_shapes(each.shape, self.part.shape))
            apart = np.clip(each / (self.copies * self.share * (1 - self.part)).sum(), -1 + 1e-9, 1 - 1e-9)
            constant = edge
        p1, p2 = restricted_rates(self.first * n1, n1, self.second * n2, n2, apart, self.disparity)
        first, second, bias = own * self.first, other * self.second, np.zeros(())
        if not self.metric.is_identity:
            times = each if self.disparity == "ratio" else 1.0
            p1, p2, mixed = self._restricted(each)
            first, second = (self.metric.value(rate) for rate in (self.first, self._mixed(self.first, self.second)))
            second = times * second
            own = self.metric.slope(p1) - times * self.part * self.metric.slope(mixed)
            other = times * (1 - self.part) * self.metric.slope(mixed)
            # Values of few people are biased by half the curvature times the variance.
            v1, v2 = p1 * (1 - p1) / n1, p2 * (1 - p2) / n2
            bent, bent_mixed = (
                (self.metric.slope(p + _NEAR) - self.metric.slope(p - _NEAR)) / (4 * _NEAR)  # half the curvature
                for p in (p1, mixed)
            )
            bias = bent * v1 - times * bent_mixed * (self.part**2 * v1 + (1 - self.part) ** 2 * v2)
        # A group never has more than everyone's events: past that ratio nothing of its own makes up for theirs.
        e1, e2 = np.maximum(own, 0.0) * np.sqrt(p1 * (1 - p1) / n1), other * np.sqrt(p2 * (1 - p2) / n2)
        people = n1 + n2
        variance = (e1**2 + e2**2 - 2 * self.correlation * e1 * e2) * people / np.maximum(people - 1, 1)
        share, squared = self.copies * self.share, self.copies * self.share**2
        distance = (share * (first - second - bias)).sum(axis=-1) - constant
        error = np.sqrt(np.maximum((squared * variance).sum(axis=-1), 0.0))
        step = self.continuity * (squared * (np.maximum(own, 0.0) / n1 + other / n2)).sum(axis=-1)
        distance = np.where(np.abs(distance) < 1e-14 + step, 0.0, distance - np.sign(distance) * step)
        if self.skewed:
            cubed = self.copies * self.share**3
            third = np.maximum(own, 0.0) ** 3 * (p1 * (1 - p1) * (1 - 2 * p1) / n1**2)
            third = (cubed * (third - other**3 * (p2 * (1 - p2) * (1 - 2 * p2) / n2**2))).sum(axis=-1)
            known = error > 0
            skewness = np.where(known, third, 0.0) / np.where(known, error, 1.0) ** 3
            distance = np.where(known, error * without_skewness(studentize(distance, error), skewness), distance)
        return self.width * distance, self.width * self._scale_at(shown) * error

    def _scale_at(self, edge: Floats) -> Floats:
        """`scale` at equality and beyond; towards the estimate and beyond it fades to 1."""
        first, second = self._values
        if self.disparity == "ratio":
            estimate, place = np.arctan2(first, second) - np.pi / 4, np.arctan(edge) - np.pi / 4
        else:
            estimate, place = first - second, edge
        way = place / estimate if estimate else np.zeros_like(edge)
        return np.asarray(self.scale ** (1 - np.clip(way, 0.0, 1.0)))

    def _mixed(self, first: Floats, second: Floats) -> Floats:
        return self.part * first + (1 - self.part) * second

    def _restricted(self, edge: Floats) -> tuple[Floats, Floats, Floats]:
        """The most likely rates whose values differ by a margin bound, and the rate compared with."""
        apart = np.zeros(np.broadcast_shapes(edge.shape, self.part.shape))
        x1, x2 = self.first * self.first_people, self.second * self.second_people
        for _ in range(_STEPS):
            p1, p2 = restricted_rates(x1, self.first_people, x2, self.second_people, apart)
            mixed = self._mixed(p1, p2)
            aim = (edge - 1) * self.metric.value(mixed) if self.disparity == "ratio" else edge
            secant = studentize(self.metric.value(p1) - self.metric.value(mixed), p1 - mixed)
            steep = np.where(np.abs(p1 - mixed) > _NEAR, secant, self.metric.slope(mixed))
            apart = np.clip(aim / (steep * (1 - self.part)), -1 + 1e-9, 1 - 1e-9)
        return p1, p2, mixed

    @property
    def _values(self) -> tuple[float, float]:
        values = (self.metric.value(rate) for rate in (self.first, self._mixed(self.first, self.second)))
        first, second = ((self.copies * self.share * value).sum() for value in values)
        return self.width * float(first), self.width * float(second)

    def limits(self, critical: tuple[float, float], ends: tuple[float, float]) -> tuple[float, float]:
        """The edges at which the statistic does not exceed the critical values."""
        first, second = self._values
        if not self.metric.is_identity and second > 0:  # from where values are without their bias
            first += float(self.at(first / second if self.disparity == "ratio" else first - second)[0])
        return _limits_at(self.at, (first, second), self.disparity, critical, ends)


Form = Linearized | EffectiveRates


def without_skewness(statistic: Floats, skewness: Floats) -> Floats:
    """The normal equivalent z of a skewed statistic = z + skewness (z^2 - 1) / 6 (Cornish and Fisher), beyond 1.

    Examples
    --------
    >>> without_skewness(np.array([-2.0, 0.5, 2.0]), np.array(-0.4)).round(3).tolist()
    [-1.841, 0.5, 2.28]
    """
    sixth = np.where(np.abs(skewness) < 1e-9, 1e-9, skewness / 6)
    root = np.sqrt(np.maximum(1 + 4 * sixth * (statistic + sixth), 0.0))
    # (root - 1) / (2 sixth), without cancellation.
    corrected = 2 * (statistic + sixth) / (1 + root)
    return np.where(np.abs(statistic) > 1, corrected, statistic)


def _limits_at(
    at: Callable[[Floats], tuple[Floats, Floats]],
    values: tuple[float, float],
    disparity: str,
    critical: tuple[float, float],
    ends: tuple[float, float],
) -> tuple[float, float]:
    def beyond(sign: int, most: float) -> Excess:
        def excess(edge: Floats) -> Floats:
            distance, error = at(edge)
            return np.asarray(sign * distance - most * error)

        return excess

    low, high = last_covered(values, disparity, ends, beyond(1, critical[0]), beyond(-1, critical[1]))
    return (ends[0] if np.isinf(critical[0]) else low), (ends[1] if np.isinf(critical[1]) else high)


def effective_people(rate: Floats, variance: Floats) -> Floats:
    """The number of people n that a rate's variance is worth: p (1 - p) / (n + 2) with p = (n rate + 1) / (n + 2)."""
    rate, variance = np.broadcast_arrays(np.asarray(rate, dtype=float), np.asarray(variance, dtype=float))
    low, high = np.full(rate.shape, -20.0), np.full(rate.shape, 80.0)  # logarithms
    for _ in range(100):
        middle = (low + high) / 2
        n = np.exp(middle)
        more = (n * rate + 1) / (n + 2) * ((n * (1 - rate) + 1) / (n + 2)) / (n + 2) > variance
        low, high = np.where(more, middle, low), np.where(more, high, middle)
    return np.asarray(np.exp((low + high) / 2))


def symmetrized(errors: Floats) -> Floats:
    """Errors of bootstrap samples, at each rank the larger in size of it and of its counterpart; NaN stays.

    Examples
    --------
    >>> symmetrized(np.array([-1.0, 4.0, 0.5, np.nan, 1.0])).tolist()
    [-4.0, -1.0, 1.0, 4.0, nan]
    """
    defined = np.sort(errors[~np.isnan(errors)])
    half = len(defined) // 2
    upper = np.maximum(defined, -defined[::-1])[len(defined) - half :]
    middle = np.zeros(len(defined) % 2)
    return np.concatenate([-upper[::-1], middle, upper, np.full(len(errors) - len(defined), np.nan)])


@dataclass(frozen=True)
class Resampled:
    """Two values in the data and in bootstrap samples (NaN if undefined), from which the form at any edge follows.

    Unless `studentized`, bootstrap samples are `symmetrized`.
    """

    observed: Moments
    drawn: Moments
    disparity: str
    studentized: bool = True

    @property
    def standard_error(self) -> float:
        """The standard deviation of the samples' differences, or of the logarithms of their ratios."""
        values, _ = linear_form(self.drawn, "difference", 0.0)
        if self.disparity == "ratio":
            with np.errstate(divide="ignore", invalid="ignore"):
                values = np.log(self.drawn.first / self.drawn.second)
        defined = values[np.isfinite(values)]
        return float(np.std(defined, ddof=1)) if len(defined) > 1 else np.nan

    def statistic(self, edge: float) -> float:
        """The form in the data over its standard error."""
        distance, variance = linear_form(self.observed, self.disparity, edge)
        return float(studentize(distance, np.sqrt(variance)) if self.studentized else distance)

    def centred(self, edge: float) -> Floats:
        """Forms in bootstrap samples, less that in the data, over their standard errors; shape (B,)."""
        distance, variance = linear_form(self.drawn, self.disparity, edge)
        middle = distance - linear_form(self.observed, self.disparity, edge)[0]
        # What ought to be 0 is not left as a rounding error.
        middle = np.where(np.abs(middle) < 1e-14, 0.0, middle)
        return studentize(middle, np.sqrt(variance)) if self.studentized else symmetrized(middle)

    def test(self, edge: float, alternative: str) -> tuple[float, int, int]:
        """P-value of one edge, with the numbers of extreme and of defined resamples; two-sided by size."""
        return monte_carlo_p(self.centred(edge), self.statistic(edge), alternative)

    def limits(
        self, sides: tuple[tuple[str, float] | None, tuple[str, float] | None], ends: tuple[float, float]
    ) -> tuple[float, float]:
        """The edges that are not rejected below and above the estimate."""
        if self.disparity == "ratio":

            def beyond(side: tuple[str, float] | None) -> Excess:
                if side is None:
                    return lambda edge: np.full_like(edge, -np.inf)
                return lambda edge: np.array([self._excess(e, *side) for e in edge.tolist()])

            values = float(self.observed.first), float(self.observed.second)
            return last_covered(values, "ratio", ends, beyond(sides[0]), beyond(sides[1]))
        distance, variance = (float(v) for v in linear_form(self.observed, self.disparity, 0.0))
        error, drawn = float(np.sqrt(variance)) if self.studentized else 1.0, self.centred(0.0)

        def reach(side: tuple[str, float] | None) -> float:
            most = np.inf if side is None else upper_quantile(drawn, *side)
            return most * error if np.isfinite(most) and error > 0 else 0.0 if error == 0 else np.inf

        return max(ends[0], distance - reach(sides[0])), min(ends[1], distance + reach(sides[1]))

    def _excess(self, edge: float, alternative: str, level: float) -> float:
        size = float(oriented(np.asarray(self.statistic(edge)), alternative))
        return size - upper_quantile(self.centred(edge), alternative, level) - TOLERANCE * abs(size)


def resampled(observed: Moments, drawn: Moments, disparity: str, *, studentized: bool) -> Resampled:
    """Keep what forms need of bootstrap samples."""
    if disparity == "difference":
        none = np.zeros(())
        observed, drawn = (
            Moments(*linear_form(moments, disparity, 0.0), none, none, none) for moments in (observed, drawn)
        )
    return Resampled(observed, drawn, disparity, studentized)
