"""A rate if few people are labelled and all are judged: estimate, score statistics, disparities, allocation.

In each bin of the judge's score the labelled people are a random sample, and the bins' shares W_b are known, so that a
rate is a weighted sum of independent ones (post-stratification): nothing depends on the judge being right.

In a bin, a person has one of two roles with regard to the rate: with p_b the first, otherwise the second. Roles are
(event, condition): (1, 1), (0, 1) or (0, 0). The rate is t exactly if

    F(t) = sum_b W_b (second_b + (first_b - second_b) p_b) = 0, role = event - t condition,

which is linear in the p_b whether the condition is known (precision, accuracy) or needs the label (true positive rate).
Its score statistic is F at the observed rates over its standard error at the most likely rates with F(t) = 0 (Martin
Andres et al. 2011). The variance has two parts: that of the labels, and that of the shares, sum_b W_b role_b^2 / n with
the expected roles of bins.

The statistic of an edge between two rates is that of the most likely pair of rates (t + edge, t): the root of both
squared score statistics, summed. The variance of n labels in B bins has the factor n / (n - B).

References
----------
A. Martin Andres, M. Alvarez Hernandez and I. Herranz Tejedor (2011), Statistical Methods in Medical Research 20,
369-387. A. N. Angelopoulos, S. Bates, C. Fannjiang, M. I. Jordan and T. Zrnic (2023), Science 382, 669-674. D. Holt and
T. M. F. Smith (1979), JRSS A 142, 33-46. J. Neyman (1934), JRSS 97, 558-625.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from scipy.stats import binom

from skfairtest._utils.typing import Booleans, Floats, Positions

#: The fewest labels expected in a bin; labels per bin, beyond two bins; the most bins; and the number of quantiles that
#: scores are first rounded to.
EXPECTED, PER_BIN, MOST_BINS, QUANTILES = 3, 30, 6, 100
#: Places on either side of 0 of the grid on which sums of labels are, and a probability that is left out of these.
GRID, _RARE = 8192, 1e-18
#: Steps towards a root at the most, how near the ends of its range it is sought, and the precision of a share of one.
_STEPS, _NEAR, _FINEST = 100, 1e-9, 2.0**-52
#: What is 0 among numbers near 1, and what is not divided by.
_ROUNDING, _TINY = 1e-14, float(np.finfo(float).tiny)


@dataclass(frozen=True)
class LabelledRate:
    """Rates of people with labels in bins; leading axes are sides, comparisons or data sets.

    `share` (..., B) is that of all people in a bin; `roles` (..., B, 2, 2) are event and condition of both roles;
    `people` is the number behind the shares, infinite for a population.
    """

    first: Floats
    labels: Floats
    share: Floats
    roles: Floats
    people: Floats

    def __getitem__(self, index: Any) -> LabelledRate:
        """Some of the rates."""
        return LabelledRate(*(getattr(self, field.name)[index] for field in fields(self)))

    @staticmethod
    def stacked(*sides: Sequence[LabelledRate]) -> LabelledRate:
        """Single rates as those of shape (sides, rates); where others have more bins, bins without people are added."""
        each = [rate for side in sides for rate in side]
        shape, bins = (len(sides), len(sides[0])), max((rate.share.size for rate in each), default=1)
        counts, roles = np.zeros((3, len(each), bins)), np.zeros((len(each), bins, 2, 2))
        counts[1] = 1.0
        for place, rate in enumerate(each):
            counts[:, place, : rate.share.size] = rate.first, rate.labels, rate.share
            roles[place, : rate.share.size] = rate.roles
        people = np.array([float(rate.people) for rate in each]).reshape(shape)
        first, labels, share = counts.reshape(3, *shape, bins)
        return LabelledRate(first, labels, share, roles.reshape(*shape, bins, 2, 2), people)

    def _sums(self, p: Floats) -> tuple[Floats, Floats]:
        """The shares of people who show the event, and who meet the condition, if bins have rates p."""
        expected = self.roles[..., 1, :] + (self.roles[..., 0, :] - self.roles[..., 1, :]) * p[..., None]
        total = (self.share[..., None] * expected).sum(axis=-2)
        return total[..., 0], total[..., 1]

    def rates(self, p: Floats) -> Floats:
        """The rates if bins have rates p; NaN if no one meets the condition."""
        event, condition = self._sums(p)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(condition > 0, event / condition, np.nan)

    @cached_property
    def value(self) -> Floats:
        """The rate; NaN if no one is estimated to meet the condition."""
        return self.rates(self.first / self.labels)

    def _form(self, t: Floats) -> tuple[Floats, Floats, Floats]:
        """What rates of bins are multiplied by at rates t (...,), roles (..., B, 2) and the constant (...,)."""
        role = self.roles[..., 0] - t[..., None, None] * self.roles[..., 1]
        return self.share * (role[..., 0] - role[..., 1]), role, (self.share * role[..., 1]).sum(axis=-1)

    def at(self, t: Floats) -> tuple[Floats, Floats]:
        """The squared score statistics of rates t (...,), and the slopes of their largest log likelihood."""
        slope, role, constant = self._form(t)
        distance = constant + (slope * (self.first / self.labels)).sum(axis=-1)
        p, multiplier = _most_likely(slope, constant, self.first, self.labels)
        variance = self._variance(slope, role, p)
        distance = np.where(np.abs(distance) < 1e-14, 0.0, distance)
        with np.errstate(invalid="ignore", divide="ignore"):
            square = np.where(distance == 0, 0.0, distance**2 / variance)
        # The form falls by the share of those who meet the condition as t grows.
        return square, multiplier * self._sums(p)[1]

    def _variance(self, slope: Floats, role: Floats, p: Floats) -> Floats:
        expected = role[..., 1] + (role[..., 0] - role[..., 1]) * p
        spread = (self.share * expected**2).sum(axis=-1) - (self.share * expected).sum(axis=-1) ** 2
        least = np.minimum(self.n_labels, 1)
        freedom = np.maximum(self.n_labels - (self.needed & (self.share > 0)).sum(axis=-1), least)
        of_labels = (slope**2 * p * (1 - p) / self.labels).sum(axis=-1)
        # Without labels, on a side on which none matters, there is no error of labels.
        per_label = self.n_labels / np.where(freedom > 0, freedom, 1.0)
        return np.asarray(of_labels * per_label + spread / self.people)

    @cached_property
    def variances(self) -> tuple[Floats, Floats]:
        """The variance of the rate, and the one it would have with the labels and without a judge.

        Rates of bins are those with one half of a label added of either kind.
        """
        p = (self.first + 0.5) / (self.labels + 1)
        event, condition = self._sums(p)
        with np.errstate(invalid="ignore"):  # a rate whose condition no one meets is NaN
            slope, role, _ = self._form(event / condition)
            squares = role[..., 1] ** 2 + (role[..., 0] ** 2 - role[..., 1] ** 2) * p
            alone = (self.share * squares).sum(axis=-1) / np.maximum(self.n_labels - 1, 1)
            return self._variance(slope, role, p) / condition**2, alone / condition**2

    @cached_property
    def needed(self) -> Booleans:
        """In which bins labels matter."""
        return np.asarray((self.roles[..., 0, :] != self.roles[..., 1, :]).any(axis=-1))

    @cached_property
    def n_labels(self) -> Floats:
        """The number of labels in bins in which they matter."""
        return np.asarray((self.labels * self.needed).sum(axis=-1))

    @property
    def worth(self) -> Floats:
        """The number of labels that would be as informative without a judge."""
        own, alone = self.variances
        with np.errstate(invalid="ignore"):  # 0 / 0 if no label matters
            return np.asarray(self.n_labels * alone / own)

    def limits(self, z: float) -> Floats:
        """Limits of the rates, (2, ...): those that the score test does not reject."""
        ends = np.array([0.0, 1.0]).reshape(2, *([1] * self.value.ndim))
        return _root(lambda t: z * z - self.at(t)[0], np.stack([self.value] * 2), ends)


def _most_likely(slope: Floats, constant: Floats, first: Floats, labels: Floats) -> tuple[Floats, Floats]:
    """The most likely rates of bins at which the form is 0, and Lagrange's multiplier.

    With the multiplier c they solve slope c p^2 - (labels + slope c) p + first = 0, and the form falls in c.
    """
    observed = first / labels
    distance = constant + (slope * observed).sum(axis=-1)
    sign = np.where(distance < 0, -1.0, 1.0)
    slope, constant = sign[..., None] * slope, sign * constant
    with np.errstate(all="ignore"):
        unit = np.abs(distance) / (slope**2 * observed * (1 - observed) / labels).sum(axis=-1)
        unit = np.where(np.isfinite(unit), unit, (labels / np.abs(slope)).min(axis=-1))

    def rates(multiplier: Floats) -> Floats:
        by = multiplier[..., None] * slope
        ahead = labels + by
        # Sums of what is not negative, as differences lose the digits of rates near 1.
        root = np.sqrt(np.where(by > 0, (labels - by) ** 2 + 4 * by * (labels - first), ahead**2 - 4 * by * first))
        return np.where(ahead >= 0, 2 * first / np.maximum(ahead + root, _TINY), (ahead - root) / (2 * by))

    def form(share: Floats) -> Floats:
        value = constant + (slope * rates(unit * (share / (1 - share)) ** 3)).sum(axis=-1)
        return np.where(np.abs(value) <= rounding, 0.0, value)

    rounding = _ROUNDING * (np.abs(constant) + np.abs(slope).sum(axis=-1))

    idle = slope == 0
    with np.errstate(all="ignore"):
        share = _root(form, np.zeros_like(distance), np.full_like(distance, 1 - _NEAR), _FINEST)
        multiplier = unit * (share / (1 - share)) ** 3
        # If the form does not depend on a bin its rate is the labels' own, and if it depends on none nothing pulls.
        p = np.where(idle, observed, np.clip(rates(multiplier), 0.0, 1.0))
    return p, np.where(idle.all(axis=-1), 0.0, sign * multiplier)


def disparity_statistic(sides: LabelledRate, edge: Floats | float, disparity: str) -> Floats:
    """The statistics of differences or ratios of two rates (2, ...), standard normal where the edge is the truth."""
    (first, second), squares = sides.value, sides.at(_likely_values(sides, edge, disparity))[0].sum(axis=0)
    distance = first - edge * second if disparity == "ratio" else first - second - edge
    return np.asarray(np.where(np.abs(distance) < 1e-13, 0.0, np.sign(distance) * np.sqrt(squares)))


def _likely_values(sides: LabelledRate, edge: Floats | float, disparity: str) -> Floats:
    """The most likely values of both sides at an edge, (2, ...)."""
    ratio = disparity == "ratio"
    edge = edge + np.zeros(sides.people.shape[1:])
    low, high = (0.0, 1 / np.maximum(edge, 1.0)) if ratio else (np.maximum(0.0, -edge), np.minimum(1.0, 1 - edge))
    first, second = sides.value
    with np.errstate(divide="ignore", invalid="ignore"):
        own = np.clip(np.fmin(first / edge, high) if ratio else first - edge, low, high)
    other = np.clip(second, low, high)

    def both(t: Floats) -> Floats:
        return np.stack([edge * t if ratio else t + edge, t])

    def rises(t: Floats) -> Floats:  # of one bin each, and an edge of 0, a straight line
        up, down = sides.at(both(t))[1]
        return np.asarray((up * (edge if ratio else 1.0) + down) * (t - low) * (high - t))

    # The log likelihood rises up to the most likely t, which is between both sides' own, and then falls.
    return both(_root(rises, np.minimum(own, other), np.maximum(own, other)))


def log_tails(sides: LabelledRate, edge: float, disparity: str, alternative: str) -> Floats:
    """Log mid-p-values (n,) of distances from the edge, at its most likely rates; labels are binomial in each bin."""
    slope, *_, constant = sides._form(_likely_values(sides, edge, disparity))
    p, _ = _most_likely(slope, constant, sides.first, sides.labels)
    weight = slope / sides.labels / sides._sums(p)[1][..., None]
    weight[1] *= -edge if disparity == "ratio" else -1.0
    away = (weight * (sides.first - sides.labels * p)).sum(axis=(0, -1))
    out = np.zeros(len(away))
    for place, distance in enumerate(away.tolist()):
        bins = []
        for w, n, rate in zip(*(each[:, place].ravel() for each in (weight, sides.labels.round(), p)), strict=True):
            mass = binom.pmf(np.arange(n + 1), n, rate)
            seen = np.flatnonzero(mass > _RARE)
            bins.append((w * (seen - n * rate), mass[seen]))
        step = max(sum(np.ptp(each) for each, _ in bins) / (GRID - len(bins)), _RARE)
        spectrum = np.ones(GRID + 1, dtype=complex)
        for each, mass in bins:
            spectrum *= np.fft.rfft(np.bincount(np.rint(each / step).astype(np.int64) % (2 * GRID), mass, 2 * GRID))
        far, near = np.fft.fftfreq(2 * GRID, 1 / (2 * GRID * step)), (len(bins) + 1) / 2 * step
        signed = {"greater": far - distance, "less": distance - far}
        beyond, mass = signed.get(alternative, np.abs(far) - abs(distance)), np.fft.irfft(spectrum)
        tail = mass[beyond > near].sum() + mass[np.abs(beyond) <= near].sum() / 2
        out[place] = np.log(np.clip(tail, np.finfo(float).tiny, 1.0))
    return out


def disparity_limits(sides: LabelledRate, disparity: str, z: Floats) -> Floats:
    """The last disparities (2, n) below and above the estimates of sides (2, n) whose statistics are not beyond z."""
    ratio, (first, second) = disparity == "ratio", sides.value
    start = np.stack([np.arctan2(first, second) if ratio else first - second] * 2)
    ends = np.array([[0.0, np.pi / 2] if ratio else [-1.0, 1.0]]).T

    def within(place: Floats) -> Floats:
        # What is infinite near the end is large for the steps towards the root.
        statistic = disparity_statistic(sides[:, None], np.tan(place) if ratio else place, disparity)
        return np.asarray(np.maximum(z - np.abs(statistic), -50.0))

    found = _root(within, start, ends)
    return np.asarray(np.where(found == np.pi / 2, np.inf, np.tan(found))) if ratio else found


def _root(function: Callable[[Floats], Floats], start: Floats, stop: Floats, precision: float = 1e-11) -> Floats:
    """Where functions that fall from start to stop pass 0 (Chandrupatla 1997), or the end next to which they do not."""
    one, two = start + _NEAR * (stop - start), stop + _NEAR * (start - stop)
    at_one, at_two = function(one), function(two)
    ended = np.where(at_one <= 0, start, stop)
    inside = (at_one > 0) & (at_two < 0)
    part = np.full_like(ended, 0.5)
    with np.errstate(all="ignore"):
        for _ in range(_STEPS):
            new = one + part * (two - one)
            at_new = function(new)
            same = (at_new > 0) == (at_one > 0)
            old, at_old = np.where(same, one, two), np.where(same, at_one, at_two)
            two, at_two = np.where(same, two, one), np.where(same, at_two, at_one)
            one, at_one = new, at_new
            least = precision / np.abs(two - one)
            wide = inside & (least < 0.5) & (at_one != 0)
            if not wide.any():
                break
            x, y = (one - two) / (old - two), (at_one - at_two) / (at_old - at_two)
            part = at_one / (at_two - at_one) * at_old / (at_two - at_old)
            part += (old - one) / (two - one) * at_one / (at_old - at_one) * at_two / (at_old - at_two)
            part = np.where((1 - np.sqrt(1 - x) < y) & (y < np.sqrt(x)), part, 0.5)
            part = np.where(wide, np.clip(part, least, 1 - least), 0.0)
    return np.where(inside, np.where(np.abs(at_two) < np.abs(at_one), two, one), ended)


def bins_of(score: Floats, labelled: Floats, most: int | None = None) -> Positions:
    """Return each person's bin: scores in it are alike, and it expects at least `EXPECTED` labels.

    Neighbouring scores are joined by Ward's rule; the labels' values play no part.
    """
    levels, place = np.unique(score, return_inverse=True)
    if len(levels) > QUANTILES:
        cuts = np.unique(np.quantile(score, np.arange(1, QUANTILES) / QUANTILES))
        levels, place = np.unique(np.searchsorted(cuts, score, side="right"), return_inverse=True)
    place = place.reshape(-1)
    joined, sums = np.arange(len(levels)), np.stack([np.bincount(place, by) for by in (None, score, labelled)])
    n_labels = labelled.sum()
    most = min(max(2, int(n_labels // PER_BIN)), MOST_BINS) if most is None else most
    while sums.shape[1] > 1:
        people, total, labels = sums
        few = (people * n_labels < EXPECTED * len(score)) | (labels == 0)
        if len(people) <= most and not few.any():
            break
        with np.errstate(over="ignore"):  # of scores beyond all others
            costs = people[:-1] * people[1:] / (people[:-1] + people[1:]) * np.diff(total / people) ** 2
        if len(people) <= most:
            costs = np.where(few[:-1] | few[1:], costs, np.inf)
        left = int(costs.argmin())
        sums = np.add.reduceat(sums, np.delete(np.arange(len(people)), left + 1), axis=1)
        joined -= joined > left
    return np.asarray(joined[place])
