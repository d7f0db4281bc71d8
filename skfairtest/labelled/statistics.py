"""A rate of people of whom few are labelled and all are judged: estimate, score statistics, disparities, allocation.

People are in bins of the judge's score. In each bin the labelled people are a random sample, and the bins' shares W_b
are those of everybody, so that a rate is a weighted sum of independent ones (post-stratification): nothing depends on
the judge being right, and a judge that is right makes bins in which labels hardly vary.

In a bin, a person has one of two roles with regard to the rate: with p_b the first, otherwise the second. Roles are
(event, condition): (1, 1), (0, 1) or (0, 0). The rate is t exactly where

    F(t) = sum_b W_b (second_b + (first_b - second_b) p_b) = 0,   role = event - t condition,

which is linear in the p_b whether the condition is known of everybody (precision, accuracy) or only with the label
(true positive rate: bins of those predicted positive and negative are S1 and S0 of S1 / (S1 + S0)). Its score statistic
is F at the observed rates over its standard error at the rates that are most likely where F(t) = 0 (Martin Andres et
al. 2011). The variance has two parts: that of the labels, and, as people are themselves a sample of a population, that
of the shares, sum_b W_b role_b^2 / n with the expected roles of bins.

The statistic of an edge between two rates is that of the most likely pair of rates (t + edge, t): the root of both
squared score statistics, summed. With one bin on each side, it is close to Miettinen and Nurminen's. The variance of n
labels in B bins has the factor n / (n - B).

References
----------
A. Martin Andres, M. Alvarez Hernandez and I. Herranz Tejedor (2011), Inferences about a linear combination of
proportions, Statistical Methods in Medical Research 20, 369-387. A. N. Angelopoulos, S. Bates, C. Fannjiang, M. I.
Jordan and T. Zrnic (2023), Prediction-powered inference, Science 382, 669-674. D. Holt and T. M. F. Smith (1979), Post
stratification, JRSS A 142, 33-46. J. Neyman (1934), JRSS 97, 558-625.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.optimize import brentq

from skfairtest._utils.typing import Booleans, Floats, Positions
from skfairtest.inference.linear_form import NEAREST

#: A bin expects so many labels at least; below so many labels there are two bins, above that one for every so many, and
#: so many at the most. Scores are first rounded to so many quantiles.
EXPECTED, PER_BIN, MOST_BINS, QUANTILES = 3, 30, 6, 100
#: Steps towards the most likely rates, how near 0 the form is then, in shares of its terms, and what rounding adds.
_STEPS, _ENOUGH, _NEAR = 100, 1e-12, 1e-9
#: Places between the smallest and largest rate that are looked at, and how often the best one's surroundings are.
_PLACES, _ROUNDS = 17, 4


@dataclass(frozen=True)
class LabelledRate:
    """The rate of the people of one side, with labels in bins; leading axes are data sets.

    Parameters
    ----------
    first, labels, share : ndarray of shape (..., B)
        Labels that give a person the first role, labels, and the share of everybody who is in the bin.
    roles : ndarray of shape (B, 2, 2)
        Event and condition of the first and of the second role; equal roles where no label is needed.
    people : ndarray of shape (...,)
        How many people shares are of; infinite where these are the population.
    """

    first: Floats
    labels: Floats
    share: Floats
    roles: Floats
    people: Floats

    def _sums(self, p: Floats) -> tuple[Floats, Floats]:
        """The shares of everybody who show the event, and who meet the condition, where bins have rates p."""
        expected = self.roles[:, 1] + (self.roles[:, 0] - self.roles[:, 1]) * p[..., None]
        total = (self.share[..., None] * expected).sum(axis=-2)
        return total[..., 0], total[..., 1]

    @cached_property
    def value(self) -> Floats:
        """The rate; NaN where nobody is estimated to meet the condition."""
        event, condition = self._sums(self.first / self.labels)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(condition > 0, event / condition, np.nan)

    def _form(self, t: Floats) -> tuple[Floats, Floats, Floats]:
        """What rates of bins are multiplied by at rates t (..., T), roles (..., T, B) and the constant (..., T)."""
        role = self.roles[..., 0] - t[..., None, None] * self.roles[..., 1]
        share = self.share[..., None, :]
        return share * (role[..., 0] - role[..., 1]), role, (share * role[..., 1]).sum(axis=-1)

    def at(self, t: Floats) -> tuple[Floats, Floats]:
        """The squared score statistics of rates t (..., T), and the slopes of their largest log likelihood."""
        slope, role, constant = self._form(t)
        first, labels = self.first[..., None, :], self.labels[..., None, :]
        distance = constant + (slope * (first / labels)).sum(axis=-1)
        p, multiplier = _most_likely(slope, constant, first, labels)
        variance = self._variance(slope, role, p)
        distance = np.where(np.abs(distance) < 1e-14, 0.0, distance)
        # The form falls by the share of those who meet the condition as t grows.
        meets = self.roles[..., 1, 1] + (self.roles[..., 0, 1] - self.roles[..., 1, 1]) * p
        with np.errstate(invalid="ignore", divide="ignore"):
            square = np.where(distance == 0, 0.0, distance**2 / variance)
        return square, multiplier * (self.share[..., None, :] * meets).sum(axis=-1)

    def _variance(self, slope: Floats, role: Floats, p: Floats) -> Floats:
        expected = role[..., 1] + (role[..., 0] - role[..., 1]) * p
        share, people = self.share[..., None, :], np.asarray(self.people)[..., None]
        spread = (share * expected**2).sum(axis=-1) - (share * expected).sum(axis=-1) ** 2
        n = self.n_labels[..., None]
        freedom = np.maximum(n - (self._needed * (self.share > 0)).sum(axis=-1)[..., None], 1)
        of_labels = (slope**2 * p * (1 - p) / self.labels[..., None, :]).sum(axis=-1)
        return np.asarray(of_labels * n / freedom + spread / people)

    @cached_property
    def variances(self) -> tuple[Floats, Floats]:
        """The variance of the rate, and the one it would have with the labels and without a judge.

        Rates of bins are those with one half of a label added of either kind.
        """
        p = (self.first + 0.5) / (self.labels + 1)
        event, condition = self._sums(p)
        slope, role, _ = self._form((event / condition)[..., None])
        own = self._variance(slope, role, p[..., None, :])[..., 0]
        squares = role[..., 1] ** 2 + (role[..., 0] ** 2 - role[..., 1] ** 2) * p[..., None, :]
        alone = (self.share[..., None, :] * squares).sum(axis=-1)[..., 0] / np.maximum(self.n_labels - 1, 1)
        return own / condition**2, alone / condition**2

    @property
    def _needed(self) -> Booleans:
        """In which bins labels matter."""
        return np.asarray((self.roles[:, 0] != self.roles[:, 1]).any(axis=-1))

    @property
    def n_labels(self) -> Floats:
        """The number of labels in bins in which they matter."""
        return np.asarray((self.labels * self._needed).sum(axis=-1))

    @property
    def worth(self) -> Floats:
        """How many labels without a judge the labels and the judge are worth."""
        own, alone = self.variances
        return np.asarray(self.n_labels * alone / own)

    def limits(self, z: float) -> tuple[float, float]:
        """Limits of the rate: those that the score test does not reject."""
        value = float(self.value)
        ends = []
        for end in (0.0, 1.0):
            inside, outside = value + 1e-9 * (end - value), end + 1e-9 * (value - end)
            ends.append(_root(lambda t: float(self.at(np.array([t]))[0][0]) - z * z, inside, outside, end))
        return ends[0], ends[1]


def _most_likely(slope: Floats, constant: Floats, first: Floats, labels: Floats) -> tuple[Floats, Floats]:
    """The most likely rates of bins at which the form is 0, and Lagrange's multiplier.

    With the multiplier c they solve slope c p^2 - (labels + slope c) p + first = 0, and the form falls in c, in
    the end as a constant over c. Newton's steps are therefore those of one over its distance from its end, and where
    they lead astray, c is sought between what is too little and too much.
    """
    p = first / labels
    distance = constant + (slope * p).sum(axis=-1)
    sign = np.where(distance < 0, -1.0, 1.0)
    slope, constant = sign[..., None] * slope, sign * constant
    end = -constant - np.minimum(slope, 0.0).sum(axis=-1)
    enough = _ENOUGH * (np.abs(constant) + np.abs(slope).sum(axis=-1))
    low, high = np.zeros_like(distance), np.full_like(distance, np.inf)
    tiny = np.finfo(float).tiny
    with np.errstate(all="ignore"):
        c = np.abs(distance) / (slope**2 * p * (1 - p) / labels).sum(axis=-1)
        c = np.where(np.isfinite(c), c, (labels / np.abs(slope)).min(axis=-1))
        for step in range(_STEPS):
            by = c[..., None] * slope
            ahead = labels + by
            root = np.sqrt(np.maximum(ahead * ahead - 4 * by * first, 0.0))
            p = np.where(ahead >= 0, 2 * first / np.maximum(ahead + root, tiny), (ahead - root) / (2 * by))
            form = constant + (slope * p).sum(axis=-1)
            low, high = np.where(form > 0, c, low), np.where(form > 0, high, c)
            if not ((np.abs(form) > enough) & (high - low > 1e-14 * low)).any():
                break
            steep = np.where(root > 0, slope**2 * p * (1 - p) / root, 0.0).sum(axis=-1)
            between = np.where(low > 0, np.sqrt(low * high), high / 4)
            between = np.where(np.isinf(high), 4 * c, between)
            for far in (1.0, (form + end) / end) if step % 4 < 3 else ():
                new = c + form / steep * far
                between = np.where((new > low * (1 - _NEAR)) & (new < high * (1 + _NEAR)), new, between)
            c = between
    return np.clip(p, 0.0, 1.0), sign * c


def disparity_statistic(
    first: LabelledRate, second: LabelledRate, edge: Floats, disparity: str, rounds: int = _ROUNDS
) -> Floats:
    """The statistic of a difference or ratio of two rates, standard normal where the edge is the truth.

    `edge` has any shape; of rates of several data sets, theirs.
    """
    edge = np.asarray(edge, dtype=float)
    ratio = disparity == "ratio"
    low, high = (np.zeros_like(edge), 1 / np.maximum(edge, 1.0)) if ratio else (
        np.maximum(0.0, -edge), np.minimum(1.0, 1 - edge)
    )  # fmt: skip
    start, stop = np.zeros_like(edge), np.ones_like(edge)

    def at(places: Floats) -> tuple[Floats, Floats]:
        t = low[..., None] + (high - low)[..., None] * np.sin(places * np.pi / 2) ** 2
        (one, up), (two, down) = first.at(edge[..., None] * t if ratio else t + edge[..., None]), second.at(t)
        return one + two, up * (edge[..., None] if ratio else 1.0) + down

    # The log likelihood rises up to the most likely t, and then falls.
    for _ in range(rounds):
        width = (stop - start) / (_PLACES + 1)
        places = start[..., None] + width[..., None] * np.arange(1, _PLACES + 1)
        slopes = at(places)[1]
        below = (slopes > 0).sum(axis=-1)
        start, stop = start + width * below, start + width * (below + 1)
    ends = np.stack([start + 1e-3 * width, stop - 1e-3 * width], axis=-1)
    up, down = np.moveaxis(at(ends)[1], -1, 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        part = np.where((up > 0) & (down < 0), up / (up - down), np.where(up > 0, 1.0, 0.0))
    square = at((ends[..., 0] + part * (ends[..., 1] - ends[..., 0]))[..., None])[0][..., 0]
    distance = first.value - edge * second.value if ratio else first.value - second.value - edge
    return np.sign(np.where(np.abs(distance) < 1e-13, 0.0, distance)) * np.sqrt(square)


def disparity_limit(first: LabelledRate, second: LabelledRate, disparity: str, z: float, *, upper: bool) -> float:
    """The last disparity on one side of the estimate that the statistic does not reject."""
    if disparity == "ratio":
        angle = float(np.arctan2(first.value, second.value))
        end = np.pi / 2 - NEAREST if upper else NEAREST
        found = _root(lambda at: _beyond(first, second, "ratio", np.tan(at), z), angle, end, end)
        return 0.0 if found <= NEAREST else np.inf if found >= np.pi / 2 - NEAREST else float(np.tan(found))
    value, end = float(first.value - second.value), 1.0 if upper else -1.0
    return _root(lambda at: _beyond(first, second, "difference", at, z), value, end + 1e-9 * (value - end), end)


def _beyond(first: LabelledRate, second: LabelledRate, disparity: str, edge: float, z: float) -> float:
    return float(np.abs(disparity_statistic(first, second, np.asarray(edge), disparity)) - z)


def _root(function: Callable[[float], float], inside: float, outside: float, end: float) -> float:
    """Where a function changes its sign; `end` where it does not."""
    if inside == outside or function(outside) <= 0:
        return end
    # What is infinite near the end is large for the secants.
    return float(brentq(lambda at: min(function(at), 50.0), inside, outside, xtol=1e-10, rtol=1e-10))


def bins_of(score: Floats, labelled: Floats, most: int | None = None) -> Positions:
    """Which bin each person is in: scores of a bin are alike, and it expects at least `EXPECTED` labels.

    Neighbouring scores are joined where that adds least to the squared distances from the bins' means (Ward's rule),
    until there are few enough bins; last those in which nobody is labelled. What the labels are plays no part.

    Parameters
    ----------
    score : ndarray of shape (n,)
        The judge's.
    labelled : ndarray of shape (n,)
        1 for people with a label, otherwise 0; or how probably people will have one.
    most : int, optional
        Bins at the most.
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
        costs = people[:-1] * people[1:] / (people[:-1] + people[1:]) * np.diff(total / people) ** 2
        if len(people) <= most:
            costs = np.where(few[:-1] | few[1:], costs, np.inf)
        left = int(costs.argmin())
        sums = np.add.reduceat(sums, np.delete(np.arange(len(people)), left + 1), axis=1)
        joined -= joined > left
    return np.asarray(joined[place])
