"""Metrics of the confusion matrix of any number of classes, with their standard errors by the delta method.

Precision, recall, F-scores and Jaccard's index of one class are one family: true positives over true positives, a share
of the false positives and a share of the false negatives (Tversky 1977). What is made of several classes is an average
of these, and its linearized error follows from theirs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from skfairtest._utils.typing import Booleans, Floats, Positions
from skfairtest.metrics.functionals import BalancedAccuracy, Functional, correction, per_person, ratio_of


def one_more(true: Positions, predicted: Positions) -> Floats:
    """Return how many people more, of each kind, make one right and one wrong more in every true class.

    The one who is wrong is shared out among the wrong labels that anybody of the class is predicted to have.
    """
    size = int(max(true.max(initial=0), predicted.max(initial=0))) + 1
    pairs, pair, kinds = np.unique(true * size + predicted, return_inverse=True, return_counts=True)
    alike = 2 * (pairs // size) + (pairs // size == pairs % size)
    return np.asarray((1.0 / np.bincount(alike)[alike] / kinds)[pair])


class OfLabels(Functional):
    """A metric of true and predicted labels, with its variance at counts plus one of right and of wrong in every class.

    The plug-in variance of a group without errors is 0: such a group's value then differs from any other however few
    people it has, and a group that makes many errors is compared with resamples that look infinitely far away.
    """

    error = "delta (counts plus one)"

    def __init__(self, true: Positions, predicted: Positions) -> None:
        self.more = one_more(true, predicted)

    def more_of(self, counts: Floats) -> Floats:
        """Return how many people more, of each kind, the variance is taken at."""
        return self.more

    def moments(self, counts: Floats, rng: Generator | None = None) -> tuple[Floats, Floats]:
        """Return the metric and its smoothed variance."""
        counts = np.asarray(counts, dtype=float)
        value, smooth = self.values(counts), counts + self.more_of(counts)
        parts = self.parts(smooth)[1]
        variance = (parts * per_person(parts, smooth)).sum(axis=-1) * correction(counts)
        return value, np.where(np.isnan(value), np.nan, variance)


class ClassScores(OfLabels):
    """Average over classes of ratios of counts, such as macro or weighted F1.

    A class that nobody of a group is in, or is predicted to be in, is left out of the group's average, as in
    scikit-learn. If nobody meets the condition of another class, its ratio is `undefined`.

    Parameters
    ----------
    true, predicted : ndarray of int, shape (K,)
        Labels as codes.
    event, given : ndarray of float, shape (K, C)
        What each kind of people adds to the numerator and to the denominator of each class's ratio.
    member : ndarray of bool, shape (K, C)
        Who is truly in each class.
    called : ndarray of bool, shape (K, C)
        Who is predicted to be in each class.
    weighted : bool
        Whether classes count by their true members, and not alike.
    undefined : float or None
        The ratio of a class of which nobody meets the condition; NaN: it is left out. None: there is no average then.
    absent : bool
        Whether classes that nobody is in are left out.
    """

    bounds = (0.0, 1.0)

    def __init__(
        self,
        true: Positions,
        predicted: Positions,
        event: Floats,
        given: Floats,
        member: Booleans,
        called: Booleans,
        *,
        weighted: bool = False,
        undefined: float | None = None,
        absent: bool = True,
    ) -> None:
        super().__init__(true, predicted)
        self.event, self.given = event.astype(float), given.astype(float)
        self.member, self.present = member.astype(float), (member | called).astype(float)
        self.weighted, self.undefined, self.absent = weighted, undefined, absent
        #: Whether nobody is in the condition of two classes, which are independent then.
        self.disjoint = bool(((self.given > 0).sum(axis=1) <= 1).all())

    def _classes(self, masses: Floats) -> tuple[Floats, Floats, Floats]:
        """Return each class's ratio, what it is divided by (infinite of a constant), and its share of the average."""
        below = masses @ self.given
        ratio = ratio_of(masses @ self.event, below)
        share = masses @ self.member if self.weighted else np.ones_like(below)
        empty = ~(below > 0)
        if self.absent:
            share = np.where(masses @ self.present > 0, share, 0.0)
        if self.undefined is not None:
            ratio = np.where(empty, self.undefined, ratio)
            share = np.where(np.isnan(ratio), 0.0, share)
        ratio = np.where(share > 0, ratio, 0.0)
        return ratio, np.where(empty, np.inf, below), ratio_of(share, share.sum(axis=-1, keepdims=True))

    def more_of(self, counts: Floats) -> Floats:
        """Return one of right and of wrong in every class; of a class that nobody is in nothing, if it is left out."""
        gone = counts @ self.present == 0
        if not (self.absent and gone.any()):
            return self.more
        return np.where(gone.astype(float) @ self.present.T > 0, 0.0, self.more)

    def parts(self, masses: Floats, pooled: Floats | None = None) -> tuple[Floats, Floats]:
        """Return the average and each cell's part of its error."""
        masses = np.asarray(masses, dtype=float)
        ratio, below, share = self._classes(masses)
        value = (share * ratio).sum(axis=-1)
        slope = share / below
        inside = slope @ self.event.T - (slope * ratio) @ self.given.T
        if self.weighted:
            total = (masses @ self.member).sum(axis=-1, keepdims=True)
            inside += ratio_of(np.where(share > 0, ratio - value[..., None], 0.0), total) @ self.member.T
        with np.errstate(invalid="ignore"):
            return value, masses * inside

    def moments(self, counts: Floats, rng: Generator | None = None) -> tuple[Floats, Floats]:
        """Return the average and its variance; that of independent shares at one more event and other in each class."""
        if not self.disjoint or self.weighted:
            return super().moments(counts, rng)
        counts = np.asarray(counts, dtype=float)
        ratio, below, share = self._classes(counts)
        people = np.where(np.isfinite(below), below, 0.0)
        smooth = (ratio * people + 1) / (people + 2)
        variance = np.where(people > 0, share**2 * smooth * (1 - smooth) / (people + 2), 0.0).sum(axis=-1)
        value = (share * ratio).sum(axis=-1)
        return value, np.where(np.isnan(value), np.nan, variance)

    def effective(self, counts: Floats) -> Floats:
        """Return how many people meet the condition of the class of which fewest do; absent classes do not count."""
        return _fewest(np.asarray(counts, dtype=float) @ (self.given > 0))

    def informative(self, counts: Floats) -> Floats:
        """Return how many people are right, are wrong, or meet a class's condition, whichever is fewest.

        Independent shares are counted with one right and one wrong more than there are.
        """
        if self.disjoint and not self.weighted:
            return self.effective(counts)
        counts = np.asarray(counts, dtype=float)
        right = counts @ (self.event > 0).any(axis=1).astype(float)
        wrong = counts @ ((self.given > 0) & ~(self.event > 0)).any(axis=1).astype(float)
        return np.asarray(np.minimum(self.effective(counts), np.minimum(right, wrong)))


def _fewest(people: Floats) -> Floats:
    """Return the smallest of several numbers of people that is not 0."""
    least = np.where(people > 0, people, np.inf).min(axis=-1, initial=np.inf)
    return np.asarray(np.where(np.isfinite(least), least, 0.0))


class GeometricMean(BalancedAccuracy):
    """Geometric mean of the classes' recalls; its variance is taken at counts plus one, as that of their mean."""

    def parts(self, masses: Floats, pooled: Floats | None = None) -> tuple[Floats, Floats]:
        """Return the geometric mean and each cell's part of its error; none where a recall is 0."""
        total = masses @ self.of_class
        recall = ratio_of(masses @ self.right, total)
        value = _geometric(recall)
        slope = np.where(value[..., None] > 0, ratio_of(value[..., None], recall * total * total.shape[-1]), 0.0)
        inside = slope @ self.right.T - (slope * np.where(slope > 0, recall, 0.0)) @ self.of_class.T
        with np.errstate(invalid="ignore"):
            return value, np.where(np.isnan(value)[..., None], np.nan, masses * inside)

    def moments(self, counts: Floats, rng: Generator | None = None) -> tuple[Floats, Floats]:
        """Return the geometric mean and its smoothed variance."""
        total, right = counts @ self.of_class, counts @ self.right
        smooth = (right + 1) / (total + 2)
        relative = ((1 - smooth) / smooth / (total + 2)).sum(axis=-1) / total.shape[-1] ** 2
        value = _geometric(ratio_of(right, total))
        return value, np.where(np.isnan(value), np.nan, _geometric(smooth) ** 2 * relative)


def _geometric(shares: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        return np.asarray(np.exp(np.log(shares).mean(axis=-1)))


class Kappa(OfLabels):
    """Cohen's kappa of true and predicted labels: one minus the disagreement over that of independent labels.

    Parameters
    ----------
    true, predicted : ndarray of int, shape (K,)
        Labels as codes.
    disagreement : ndarray of float, shape (C, C)
        How much a true and a predicted label disagree: 0 or 1, or a distance.
    counted : ndarray of bool, shape (K,)
        Whose labels count.
    """

    bounds = (-1.0, 1.0)

    def __init__(
        self, true: Positions, predicted: Positions, disagreement: NDArray[Any], counted: Booleans | None = None
    ) -> None:
        everybody = np.ones(len(true), dtype=bool) if counted is None else counted
        super().__init__(true, predicted)
        self.more[~everybody] = 0.0
        classes = np.arange(len(disagreement))
        self.counted = everybody.astype(float)
        self.true = ((true[:, None] == classes) & everybody[:, None]).astype(float)
        self.predicted = ((predicted[:, None] == classes) & everybody[:, None]).astype(float)
        self.disagreement = np.asarray(disagreement, dtype=float)
        self.apart = self.disagreement[true, predicted] * self.counted

    def parts(self, masses: Floats, pooled: Floats | None = None) -> tuple[Floats, Floats]:
        """Return kappa and each cell's part of its error."""
        masses = np.asarray(masses, dtype=float)
        n, seen = masses @ self.counted, masses @ self.apart
        by_true, by_predicted = masses @ self.true, masses @ self.predicted
        from_true, from_predicted = by_true @ self.disagreement, by_predicted @ self.disagreement.T
        expected = (from_true * by_predicted).sum(axis=-1)  # n times that of independent labels
        with np.errstate(invalid="ignore", divide="ignore"):
            share = np.where(expected > 0, n * seen / expected, np.nan)
            d_expected = from_predicted @ self.true.T + from_true @ self.predicted.T
            d_above = seen[..., None] * self.counted + n[..., None] * self.apart
            inside = (share[..., None] * d_expected - d_above) / expected[..., None]
        return 1 - share, np.where(masses > 0, masses * inside, 0.0)

    def effective(self, counts: Floats) -> Floats:
        """Return the size of the smallest true or predicted class that anybody is in."""
        return np.minimum(_fewest(counts @ self.true), _fewest(counts @ self.predicted))

    def informative(self, counts: Floats) -> Floats:
        """Return how many people agree, disagree, or are in the smallest class, whichever is fewest."""
        apart = counts @ (self.apart > 0)
        return np.asarray(np.minimum(self.effective(counts), np.minimum(apart, counts @ self.counted - apart)))


class Matthews(OfLabels):
    """Matthews' correlation coefficient of true and predicted labels (R_K for several classes)."""

    bounds = (-1.0, 1.0)

    def __init__(self, true: Positions, predicted: Positions) -> None:
        super().__init__(true, predicted)
        classes = np.union1d(true, predicted)
        self.true = (true[:, None] == classes).astype(float)
        self.predicted = (predicted[:, None] == classes).astype(float)
        self.right = (true == predicted).astype(float)
        self._true, self._predicted = np.searchsorted(classes, true), np.searchsorted(classes, predicted)

    def parts(self, masses: Floats, pooled: Floats | None = None) -> tuple[Floats, Floats]:
        """Return the coefficient and each cell's part of its error."""
        n = masses.sum(axis=-1)
        t, p, c = masses @ self.true, masses @ self.predicted, masses @ self.right
        above = n * c - (t * p).sum(axis=-1)
        b, d = n**2 - (p**2).sum(axis=-1), n**2 - (t**2).sum(axis=-1)
        with np.errstate(invalid="ignore", divide="ignore"):
            root = np.sqrt(b * d)
            value = np.where((b > 0) & (d > 0), above / root, np.nan)
            n_, c_ = n[..., None], c[..., None]
            d_above = c_ + n_ * self.right - t[..., self._predicted] - p[..., self._true]
            d_b, d_d = 2 * (n_ - p[..., self._predicted]), 2 * (n_ - t[..., self._true])
            slope = d_above / root[..., None] - value[..., None] / 2 * (d_b / b[..., None] + d_d / d[..., None])
        return value, np.where(masses > 0, masses * slope, 0.0)

    def effective(self, counts: Floats) -> Floats:
        """Return the size of the smallest true or predicted class that anybody is in."""
        margins = np.concatenate([counts @ self.true, counts @ self.predicted], axis=-1)
        return np.asarray(margins.min(axis=-1))

    def informative(self, counts: Floats) -> Floats:
        """Return the people who are predicted wrongly, or right, or are in the smallest class, whoever are fewest."""
        right = counts @ self.right
        return np.asarray(np.minimum(self.effective(counts), np.minimum(right, counts.sum(axis=-1) - right)))
