"""Metrics of the confusion matrix of any number of classes, with their standard errors by the delta method.

Precision, recall, F-scores and Jaccard's index are one family (Tversky 1977).
"""

from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.sparse import csr_array

from skfairtest._utils.typing import Booleans, Floats, Positions
from skfairtest.metrics.functionals import Functional, correction, per_person, ratio_of


def one_more(true: Positions, predicted: Positions) -> Floats:
    """The further people, of each kind, who make one right and one wrong more in every true class."""
    size = int(max(true.max(initial=0), predicted.max(initial=0))) + 1
    pairs, pair, kinds = np.unique(true * size + predicted, return_inverse=True, return_counts=True)
    alike = 2 * (pairs // size) + (pairs // size == pairs % size)
    return np.asarray((1.0 / np.bincount(alike)[alike] / kinds)[pair])


class Incidence:
    """Sparse weights of kinds of people in each class, (K, C)."""

    def __init__(self, matrix: NDArray[Any]) -> None:
        self.shape = matrix.shape
        self._of_kind = csr_array(matrix.astype(float))
        self._of_class = csr_array(matrix.T.astype(float))

    def sums(self, masses: Floats) -> Floats:
        """Add kinds of people up by class, (..., K) -> (..., C)."""
        return self._times(self._of_class, masses)

    def spread(self, values: Floats) -> Floats:
        """Give each kind of people the values of its classes, (..., C) -> (..., K)."""
        return self._times(self._of_kind, values)

    @staticmethod
    def _times(matrix: Any, values: Floats) -> Floats:
        rows = np.ascontiguousarray(values.reshape(-1, matrix.shape[1]).T)
        return np.asarray((matrix @ rows).T.reshape(*values.shape[:-1], matrix.shape[0]))


class OfLabels(Functional):
    """A metric of true and predicted labels; errors are taken at one right and one wrong more in every class."""

    # The plug-in variance of a group without errors is 0: its value would differ from any other.
    bounds = (0.0, 1.0)
    error = "delta (counts plus one)"
    is_rate_like = True

    def __init__(self, true: Positions, predicted: Positions) -> None:
        #: The further people of each kind, (K,).
        self.more = one_more(true, predicted)
        self._true = Incidence(true[:, None] == np.unique(true))

    def more_of(self, counts: Floats) -> Floats:
        """The further people, of each kind, at whom the variance is taken."""
        return self.more

    def worth(self, counts: Floats, weight: Floats | None = None) -> Floats:
        """Return the effective number of people, with the further people."""
        counts = np.asarray(counts, dtype=float)
        each = np.ones(counts.shape[-1]) if weight is None else weight
        people = counts + self.more_of(counts)
        value, parts = self.parts(people * each)
        variance = (parts * per_person(parts, people)).sum(axis=-1) * correction(counts)
        low, high = self.bounds
        spread = (value - low) * (high - value)
        own, more = (self._each_class(number, each) for number in (counts, counts + self.more))
        seen = (own > 0).reshape(-1, own.shape[-1]).any(axis=0)
        own, more = (np.where(seen, 1 / np.maximum(number, 0.5), 0.0).sum(axis=-1) for number in (own, more))
        with np.errstate(invalid="ignore"):
            some = (spread > 0) & (variance > 0)
        # Without any errors it is the mean of as many rates as there are classes.
        return np.asarray(np.where(some, ratio_of(spread, variance) * more / own, seen.sum() ** 2 / own))

    def _each_class(self, people: Floats, weight: Floats) -> Floats:
        """Return the effective number of people in every class."""
        squares = self._true.sums(people * weight**2)
        return np.where(squares > 0, ratio_of(self._true.sums(people * weight) ** 2, squares), 0.0)

    def moments(self, counts: Floats, rng: Generator | None = None) -> tuple[Floats, Floats]:
        """Return the metric and its smoothed variance."""
        counts = np.asarray(counts, dtype=float)
        value, smooth = self.values(counts), counts + self.more_of(counts)
        slope = self.slopes(smooth)[1]
        variance = np.einsum("...k,...k,...k->...", smooth, slope, slope) * correction(counts)
        return value, np.where(np.isnan(value), np.nan, variance)

    def slopes(self, masses: Floats) -> tuple[Floats, Floats]:
        """Return the metric and its derivative by the mass of each kind of people."""
        raise NotImplementedError

    def parts(self, masses: Floats, pooled: Floats | None = None) -> tuple[Floats, Floats]:
        """Return the metric and each cell's part of its error."""
        masses = np.asarray(masses, dtype=float)
        value, slope = self.slopes(masses)
        with np.errstate(invalid="ignore"):
            return value, np.where(masses > 0, masses * slope, 0.0)


class ClassScores(OfLabels):
    """Average over classes of ratios of counts, such as macro or weighted F1."""

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
        self._event, self._given = Incidence(event), Incidence(given)
        self._member, self._present = Incidence(member), Incidence(member | called)
        self._condition, self._right = Incidence(given > 0), (event > 0).any(axis=1).astype(float)
        self._wrong = ((given > 0) & ~(event > 0)).any(axis=1).astype(float)
        self.weighted, self.undefined, self.absent = weighted, undefined, absent
        #: Whether nobody is in the condition of two classes, which are independent then.
        self.disjoint = bool(((given > 0).sum(axis=1) <= 1).all())

    def _classes(self, masses: Floats) -> tuple[Floats, Floats, Floats]:
        """Return each class's ratio, what it is divided by (infinite of a constant), and its share of the average."""
        below = self._given.sums(masses)
        ratio = ratio_of(self._event.sums(masses), below)
        share = self._member.sums(masses) if self.weighted else np.ones_like(below)
        empty = ~(below > 0)
        if self.absent:
            share = np.where(self._present.sums(masses) > 0, share, 0.0)
        if self.undefined is not None:
            ratio = np.where(empty, self.undefined, ratio)
            share = np.where(np.isnan(ratio), 0.0, share)
        ratio = np.where(share > 0, ratio, 0.0)
        return ratio, np.where(empty, np.inf, below), ratio_of(share, share.sum(axis=-1, keepdims=True))

    def more_of(self, counts: Floats) -> Floats:
        """Return one right and one wrong prediction for every class but those left out."""
        gone = self._present.sums(counts) == 0
        if not (self.absent and gone.any()):
            return self.more
        return np.where(self._present.spread(gone.astype(float)) > 0, 0.0, self.more)

    def values(self, masses: Floats) -> Floats:
        """Return the average."""
        ratio, _, share = self._classes(np.asarray(masses, dtype=float))
        return np.asarray((share * ratio).sum(axis=-1))

    def slopes(self, masses: Floats) -> tuple[Floats, Floats]:
        """Return the average and its derivatives."""
        ratio, below, share = self._classes(masses)
        value = (share * ratio).sum(axis=-1)
        slope = share / below
        inside = self._event.spread(slope) - self._given.spread(slope * ratio)
        if self.weighted:
            total = self._member.sums(masses).sum(axis=-1, keepdims=True)
            inside += self._member.spread(ratio_of(np.where(share > 0, ratio - value[..., None], 0.0), total))
        return value, inside

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
        """The smallest number of people who meet a class's condition; classes left out do not count."""
        people = self._condition.sums(np.asarray(counts, dtype=float))
        return _fewest(people) if self.absent else people.min(axis=-1)

    def informative(self, counts: Floats) -> Floats:
        """The number who are right, are wrong, or meet a class's condition, whichever is smallest."""
        if self.disjoint and not self.weighted:
            return self.effective(counts)
        counts = np.asarray(counts, dtype=float)
        right, wrong = counts @ self._right, counts @ self._wrong
        return np.asarray(np.minimum(self.effective(counts), np.minimum(right, wrong)))


def _fewest(people: Floats) -> Floats:
    """Return the smallest of several numbers of people that is not 0."""
    least = np.where(people > 0, people, np.inf).min(axis=-1, initial=np.inf)
    return np.asarray(np.where(np.isfinite(least), least, 0.0))


def recalls(true: Positions, called: Positions, right: Booleans, n_classes: int) -> dict[str, Any]:
    """Return the arguments of `ClassScores` for the recall of each true class."""
    of_class = true[:, None] == np.arange(n_classes)
    arrays = {"event": (of_class & right[:, None]).astype(float), "given": of_class.astype(float)}
    return {"true": true, "predicted": called, **arrays, "member": of_class, "called": of_class, "absent": False}


class GeometricMean(ClassScores):
    """Geometric mean of the classes' ratios; its variance is taken at counts plus one, as that of their mean."""

    #: A recall of 0 makes it 0: it is no mean of rates.
    is_rate_like = False

    def values(self, masses: Floats) -> Floats:
        """Return the geometric mean."""
        return _geometric(self._classes(np.asarray(masses, dtype=float))[0])

    def slopes(self, masses: Floats) -> tuple[Floats, Floats]:
        """Return the geometric mean and its derivatives; none where a ratio is 0."""
        ratio, below, share = self._classes(masses)
        value = _geometric(ratio)
        slope = np.where(value[..., None] > 0, ratio_of(value[..., None] * share, ratio * below), 0.0)
        return value, self._event.spread(slope) - self._given.spread(slope * np.where(slope > 0, ratio, 0.0))

    def moments(self, counts: Floats, rng: Generator | None = None) -> tuple[Floats, Floats]:
        """Return the geometric mean and its smoothed variance."""
        ratio, below, share = self._classes(np.asarray(counts, dtype=float))
        people = np.where(np.isfinite(below), below, 0.0)
        smooth = (ratio * people + 1) / (people + 2)
        relative = (share**2 * (1 - smooth) / smooth / (people + 2)).sum(axis=-1)
        value = _geometric(ratio)
        return value, np.where(np.isnan(value), np.nan, _geometric(smooth) ** 2 * relative)


def _geometric(shares: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        return np.asarray(np.exp(np.log(shares).mean(axis=-1)))


class Kappa(OfLabels):
    """Cohen's kappa of true and predicted labels: one minus the disagreement over that of independent labels."""

    bounds = (-1.0, 1.0)

    def __init__(self, true: Positions, predicted: Positions, counted: Booleans | None = None) -> None:
        everybody = np.ones(len(true), dtype=bool) if counted is None else counted
        super().__init__(true, predicted)
        self.more[~everybody] = 0.0
        classes = np.union1d(true, predicted)
        self.counted = everybody.astype(float)
        self._true = Incidence((true[:, None] == classes) & everybody[:, None])
        self._predicted = Incidence((predicted[:, None] == classes) & everybody[:, None])
        self.apart = (true != predicted) * self.counted

    def _shares(self, masses: Floats) -> tuple[Floats, ...]:
        """Return disagreement over that of independent labels, those labels' times n, and what their parts are."""
        by_true, by_predicted, n = self._true.sums(masses), self._predicted.sums(masses), masses @ self.counted
        from_true, from_predicted = n[..., None] - by_true, n[..., None] - by_predicted
        expected = (from_true * by_predicted).sum(axis=-1)
        above = n * (masses @ self.apart)
        return np.where(expected > 0, ratio_of(above, expected), np.nan), expected, from_true, from_predicted

    def values(self, masses: Floats) -> Floats:
        """Return kappa."""
        return np.asarray(1 - self._shares(np.asarray(masses, dtype=float))[0])

    def slopes(self, masses: Floats) -> tuple[Floats, Floats]:
        """Return kappa and its derivatives."""
        share, expected, from_true, from_predicted = self._shares(masses)
        n, seen = masses @ self.counted, masses @ self.apart
        with np.errstate(invalid="ignore", divide="ignore"):
            each = ratio_of(share, expected)[..., None]
            slope = self._true.spread(from_predicted * each)
            slope += self._predicted.spread(from_true * each)
            slope -= (seen / expected)[..., None] * self.counted
            slope -= (n / expected)[..., None] * self.apart
        return 1 - share, slope

    def effective(self, counts: Floats) -> Floats:
        """Return the size of the smallest true or predicted class that anybody is in."""
        return np.minimum(_fewest(self._true.sums(counts)), _fewest(self._predicted.sums(counts)))

    def informative(self, counts: Floats) -> Floats:
        """The number who agree, disagree, or are in the smallest class, whichever is smallest."""
        apart = counts @ self.apart
        return np.asarray(np.minimum(self.effective(counts), np.minimum(apart, counts @ self.counted - apart)))


class Matthews(OfLabels):
    """Matthews' correlation coefficient of true and predicted labels (R_K for several classes)."""

    bounds = (-1.0, 1.0)

    def __init__(self, true: Positions, predicted: Positions) -> None:
        super().__init__(true, predicted)
        classes = np.union1d(true, predicted)
        self._true, self._predicted = (Incidence(codes[:, None] == classes) for codes in (true, predicted))
        self.right = (true == predicted).astype(float)

    def _ratio(self, masses: Floats) -> tuple[Floats, ...]:
        """Return the coefficient, what it is divided by and the two factors of that, and both margins."""
        n, t, p = masses.sum(axis=-1), self._true.sums(masses), self._predicted.sums(masses)
        above = n * (masses @ self.right) - (t * p).sum(axis=-1)
        b, d = n**2 - (p**2).sum(axis=-1), n**2 - (t**2).sum(axis=-1)
        root = np.sqrt(np.maximum(b, 0) * np.maximum(d, 0))
        return np.where((b > 0) & (d > 0), ratio_of(above, root), np.nan), root, b, d, t, p

    def values(self, masses: Floats) -> Floats:
        """Return the coefficient."""
        return self._ratio(np.asarray(masses, dtype=float))[0]

    def slopes(self, masses: Floats) -> tuple[Floats, Floats]:
        """Return the coefficient and its derivatives."""
        value, root, b, d, t, p = self._ratio(masses)
        n, right = masses.sum(axis=-1), masses @ self.right
        with np.errstate(invalid="ignore", divide="ignore"):
            of_all = right / root - value * (n / b + n / d)
            by_true = ratio_of(p, root[..., None]) - value[..., None] * ratio_of(t, d[..., None])
            by_predicted = ratio_of(t, root[..., None]) - value[..., None] * ratio_of(p, b[..., None])
            slope = (n / root)[..., None] * self.right + of_all[..., None]
            slope -= self._true.spread(by_true)
            slope -= self._predicted.spread(by_predicted)
        return value, slope

    def effective(self, counts: Floats) -> Floats:
        """Return the size of the smallest true or predicted class that anybody is in."""
        counts = np.asarray(counts, dtype=float)
        margins = np.concatenate([self._true.sums(counts), self._predicted.sums(counts)], axis=-1)
        return np.asarray(margins.min(axis=-1))

    def informative(self, counts: Floats) -> Floats:
        """Return the people who are predicted wrongly, or right, or are in the smallest class, whichever are fewest."""
        right = counts @ self.right
        return np.asarray(np.minimum(self.effective(counts), np.minimum(right, counts.sum(axis=-1) - right)))
