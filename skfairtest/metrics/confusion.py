"""Metrics of the confusion matrix of any number of classes, with their standard errors by the delta method.

Precision, recall, F-scores and Jaccard's index are one family (Tversky 1977).
"""

import numpy as np
from numpy.random import Generator

from skfairtest._utils.typing import Booleans, Floats, Positions
from skfairtest.metrics.functionals import Functional, correction, per_person, ratio_of


def one_more(true: Positions, predicted: Positions) -> Floats:
    """The further people, of each kind, who make one right and one wrong more in every true class."""
    size = int(max(true.max(initial=0), predicted.max(initial=0))) + 1
    pairs, pair, kinds = np.unique(true * size + predicted, return_inverse=True, return_counts=True)
    alike = 2 * (pairs // size) + (pairs // size == pairs % size)
    return np.asarray((1.0 / np.bincount(alike)[alike] / kinds)[pair])


class OfLabels(Functional):
    """A metric of true and predicted labels; errors are taken at one right and one wrong more in every class."""

    # The plug-in variance of a group without errors is 0: its value would differ from any other.
    bounds = (0.0, 1.0)
    error = "delta (counts plus one)"
    is_rate_like = True

    def __init__(self, true: Positions, predicted: Positions, classes: Positions | None = None) -> None:
        classes = np.union1d(true, predicted) if classes is None else classes
        #: Whether kinds of people truly are in a class, and are predicted to be, (K, C); whether predictions are right.
        self.member, self.called = ((codes[:, None] == classes).astype(float) for codes in (true, predicted))
        self.right = (true == predicted).astype(float)
        #: The further people of each kind, (K,).
        self.more = one_more(true, predicted)

    def slopes(self, masses: Floats) -> tuple[Floats, Floats]:
        """Return the metric and its derivative by the mass of each kind of people."""
        raise NotImplementedError

    def values(self, masses: Floats) -> Floats:
        """Return the metric."""
        return self.slopes(np.asarray(masses, dtype=float))[0]

    def parts(self, masses: Floats, pooled: Floats | None = None) -> tuple[Floats, Floats]:
        """Return the metric and each cell's part of its error."""
        masses = np.asarray(masses, dtype=float)
        value, slope = self.slopes(masses)
        with np.errstate(invalid="ignore"):
            return value, np.where(masses > 0, masses * slope, 0.0)

    def more_of(self, counts: Floats) -> Floats:
        """The further people, of each kind, at whom the variance is taken."""
        return self.more

    def moments(self, counts: Floats, rng: Generator | None = None) -> tuple[Floats, Floats]:
        """Return the metric and its smoothed variance."""
        counts = np.asarray(counts, dtype=float)
        value, smooth = self.values(counts), counts + self.more_of(counts)
        variance = (smooth * self.slopes(smooth)[1] ** 2).sum(axis=-1) * correction(counts)
        return value, np.where(np.isnan(value), np.nan, variance)

    def worth(self, counts: Floats, weight: Floats | None = None) -> Floats:
        """Return the effective number of people, with the further people."""
        counts = np.asarray(counts, dtype=float)
        weight = np.ones(counts.shape[-1]) if weight is None else weight
        people = counts + self.more_of(counts)
        value, parts = self.parts(people * weight)
        variance = (parts * per_person(parts, people)).sum(axis=-1) * correction(counts)
        low, high = self.bounds
        spread = (value - low) * (high - value)
        own, more = (
            ratio_of((each * weight @ self.member) ** 2, each * weight**2 @ self.member)
            for each in (counts, counts + self.more)
        )
        seen = (own > 0).reshape(-1, own.shape[-1]).any(axis=0)
        own, more = (np.where(seen, 1 / np.maximum(np.nan_to_num(each), 0.5), 0.0).sum(-1) for each in (own, more))
        with np.errstate(invalid="ignore"):
            some = (spread > 0) & (variance > 0)
        # Without any errors it is the mean of as many rates as there are classes.
        return np.asarray(np.where(some, ratio_of(spread, variance) * more / own, seen.sum() ** 2 / own))

    def effective(self, counts: Floats) -> Floats:
        """Return the size of the smallest true or predicted class that is not empty."""
        counts = np.asarray(counts, dtype=float)
        return np.asarray(np.minimum(_fewest(counts @ self.member), _fewest(counts @ self.called)))

    def informative(self, counts: Floats) -> Floats:
        """The number who are right, who are wrong, or who are in the smallest class, whichever is smallest."""
        counts = np.asarray(counts, dtype=float)
        return np.asarray(
            np.minimum(self.effective(counts), np.minimum(counts @ self.right, counts @ (1 - self.right)))
        )


class ClassScores(OfLabels):
    """Average over classes of TP / (TP + `wrongly` FP + `missed` FN), such as macro or weighted F1.

    With ``absent=False``, a class that is absent from a group is undefined there, and is not left out.
    """

    def __init__(
        self,
        true: Positions,
        predicted: Positions,
        wrongly: float = 0.0,
        missed: float = 1.0,
        *,
        event: Booleans | None = None,
        classes: Positions | None = None,
        weighted: bool = False,
        undefined: float | None = None,
        absent: bool = True,
    ) -> None:
        super().__init__(true, predicted, classes)
        both = self.member * self.called
        self.event = both if event is None else self.member * event[:, None]
        self.given = both + wrongly * (self.called - both) + missed * (self.member - both)
        self.weighted, self.undefined, self.absent = weighted, undefined, absent
        #: Whether classes share no people in their conditions, so that their rates are independent.
        self.disjoint = bool(((self.given > 0).sum(axis=1) <= 1).all()) and not weighted

    def _classes(self, masses: Floats) -> tuple[Floats, Floats, Floats]:
        """Return each class's ratio, its denominator (infinite for a constant), and its weight in the average."""
        below = masses @ self.given
        ratio = ratio_of(masses @ self.event, below)
        weight = masses @ self.member if self.weighted else np.ones_like(below)
        if self.absent:
            weight = np.where(masses @ (self.member + self.called) > 0, weight, 0.0)
        if self.undefined is not None:
            ratio = np.where(below > 0, ratio, self.undefined)
            weight = np.where(np.isnan(ratio), 0.0, weight)
        return np.where(weight > 0, ratio, 0.0), np.where(below > 0, below, np.inf), weight

    def slopes(self, masses: Floats) -> tuple[Floats, Floats]:
        """Return the average and its derivatives."""
        ratio, below, weight = self._classes(masses)
        total = weight.sum(axis=-1, keepdims=True)
        share = ratio_of(weight, total)
        value = (share * ratio).sum(axis=-1)
        slope = share / below
        out = slope @ self.event.T - (slope * ratio) @ self.given.T
        if self.weighted:
            out += ratio_of(np.where(weight > 0, ratio - value[..., None], 0.0), total) @ self.member.T
        return value, out

    def more_of(self, counts: Floats) -> Floats:
        """Return one right and one wrong prediction for every class but those left out."""
        if not self.absent:
            return self.more
        of_class = self.member + self.called
        return np.where((counts @ of_class == 0).astype(float) @ of_class.T > 0, 0.0, self.more)

    def _independent(self, counts: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Return the classes' ratios, their weights, and the ratios and people with one event and one other more."""
        ratio, below, weight = self._classes(np.asarray(counts, dtype=float))
        people = np.where(np.isfinite(below), below, 0.0)
        share = ratio_of(weight, weight.sum(axis=-1, keepdims=True))
        return ratio, share, (ratio * people + 1) / (people + 2), people + 2

    def moments(self, counts: Floats, rng: Generator | None = None) -> tuple[Floats, Floats]:
        """Return the average and its variance; that of independent ratios at one event and other more in each class."""
        if not self.disjoint:
            return super().moments(counts, rng)
        ratio, share, smooth, people = self._independent(counts)
        value = (share * ratio).sum(axis=-1)
        variance = np.where(people > 2, share**2 * smooth * (1 - smooth) / people, 0.0).sum(axis=-1)
        return value, np.where(np.isnan(value), np.nan, variance)

    def effective(self, counts: Floats) -> Floats:
        """The smallest number of people who meet a class's condition; classes left out do not count."""
        people = np.asarray(counts, dtype=float) @ (self.given > 0)
        return _fewest(people) if self.absent else np.asarray(people.min(axis=-1))

    def informative(self, counts: Floats) -> Floats:
        """The number who are right, are wrong, or meet a class's condition, whichever is smallest."""
        return self.effective(counts) if self.disjoint else super().informative(counts)


def _fewest(people: Floats) -> Floats:
    """Return the smallest of several numbers of people that is not 0."""
    least = np.where(people > 0, people, np.inf).min(axis=-1, initial=np.inf)
    return np.asarray(np.where(np.isfinite(least), least, 0.0))


class GeometricMean(ClassScores):
    """Geometric mean of the classes' ratios; its variance is taken at counts plus one, as that of their mean."""

    #: A recall of 0 makes it 0: it is not a mean of rates.
    is_rate_like = False

    def slopes(self, masses: Floats) -> tuple[Floats, Floats]:
        """Return the geometric mean and its derivatives; none where a ratio is 0."""
        ratio, below, _ = self._classes(masses)
        value = _geometric(ratio)
        slope = np.where(value[..., None] > 0, ratio_of(value[..., None] / ratio.shape[-1], ratio * below), 0.0)
        return value, slope @ self.event.T - (slope * np.where(slope > 0, ratio, 0.0)) @ self.given.T

    def moments(self, counts: Floats, rng: Generator | None = None) -> tuple[Floats, Floats]:
        """Return the geometric mean and its smoothed variance."""
        ratio, share, smooth, people = self._independent(counts)
        value, relative = _geometric(ratio), (share**2 * (1 - smooth) / smooth / people).sum(axis=-1)
        return value, np.where(np.isnan(value), np.nan, _geometric(smooth) ** 2 * relative)


def _geometric(shares: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        return np.asarray(np.exp(np.log(shares).mean(axis=-1)))


class Kappa(OfLabels):
    """Cohen's kappa of true and predicted labels: one minus the disagreement over that of independent labels."""

    bounds = (-1.0, 1.0)

    def slopes(self, masses: Floats) -> tuple[Floats, Floats]:
        """Return kappa and its derivatives."""
        n, wrong = masses.sum(axis=-1, keepdims=True), (masses @ (1 - self.right))[..., None]
        by_true, by_predicted = masses @ self.member, masses @ self.called
        expected = ((n - by_true) * by_predicted).sum(axis=-1, keepdims=True)
        expected = np.where(expected > 0, expected, np.nan)
        share = n * wrong / expected
        slope = ((n - by_predicted) * share / expected) @ self.member.T
        slope += ((n - by_true) * share / expected) @ self.called.T
        return (1 - share)[..., 0], slope - (wrong + n * (1 - self.right)) / expected


class Matthews(OfLabels):
    """Matthews' correlation coefficient of true and predicted labels (R_K for several classes)."""

    bounds = (-1.0, 1.0)

    def slopes(self, masses: Floats) -> tuple[Floats, Floats]:
        """Return the coefficient and its derivatives."""
        n, right = masses.sum(axis=-1, keepdims=True), (masses @ self.right)[..., None]
        t, p = masses @ self.member, masses @ self.called
        b, d = (np.maximum(n**2 - (margin**2).sum(axis=-1, keepdims=True), 0) for margin in (p, t))
        root = np.where((b > 0) & (d > 0), np.sqrt(b * d), np.nan)
        value = (n * right - (t * p).sum(axis=-1, keepdims=True)) / root
        of_all = right / root - value * (ratio_of(n, b) + ratio_of(n, d))
        slope = of_all + n / root * self.right
        slope -= (p / root - ratio_of(value * t, d)) @ self.member.T
        slope -= (t / root - ratio_of(value * p, b)) @ self.called.T
        return value[..., 0], slope

    def effective(self, counts: Floats) -> Floats:
        """Return the size of the smallest true or predicted class."""
        counts = np.asarray(counts, dtype=float)
        return np.asarray((counts @ np.hstack([self.member, self.called])).min(axis=-1))
