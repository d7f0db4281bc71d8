"""Inequality of benefits: generalized entropy as a function of counts (Speicher et al. 2018).

A person's benefit is prediction minus truth plus one.
"""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from skfairtest._utils.errors import ParameterError
from skfairtest._utils.typing import Booleans, Floats
from skfairtest.metrics.confusion import OfLabels
from skfairtest.metrics.functionals import correction, ratio_of

#: What people's benefits can be, and how many people more of each the variance is taken at: one right and one wrong in
#: both true classes.
BENEFITS, ONE_MORE = np.array([0.0, 1.0, 2.0]), np.array([1.0, 2.0, 1.0])


def _mean(benefit: Floats, share: Floats) -> Floats:
    """Return the mean benefit; NaN where it is 0, and nothing is distributed."""
    mean = share @ benefit
    return np.where(mean > 0, mean, np.nan)


@dataclass(frozen=True)
class Entropy:
    """Generalized entropy: the mean of ((b / mean)^alpha - 1) / (alpha (alpha - 1)), and Theil's index at alpha 1."""

    alpha: float

    def __post_init__(self) -> None:
        if not 0 < self.alpha < np.inf:
            raise ParameterError(
                f"alpha of generalized_entropy must be positive; found {self.alpha:g}: at 0 and below it is infinite "
                "as soon as one person has no benefit, that is, is truly positive and predicted negative"
            )

    def term(self, benefit: Floats) -> Floats:
        """The values that are averaged: b ln b, or b^alpha."""
        if self.alpha == 1:
            return np.asarray(benefit * np.log(np.where(benefit > 0, benefit, 1.0)))
        return np.asarray(benefit**self.alpha)

    def of_means(self, term: Floats, mean: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the index of the mean term and the mean benefit, and its derivatives by both."""
        a = self.alpha
        if a == 1:
            return term / mean - np.log(mean), 1 / mean, -(term / mean + 1) / mean
        scale = mean**-a / (a * (a - 1))
        return term * scale - 1 / (a * (a - 1)), scale, -a * term * scale / mean

    def __call__(self, benefit: Floats, share: Floats) -> tuple[Floats, Floats]:
        """Return the index and its derivative by each share."""
        term = self.term(benefit)
        value, by_term, by_mean = self.of_means(share @ term, _mean(benefit, share))
        return value, by_term[..., None] * term + by_mean[..., None] * benefit


class Inequality(OfLabels):
    """An index of the benefits of people with true and predicted labels; delta method at counts plus one."""

    bounds = (0.0, np.inf)
    #: It has no largest value.
    is_rate_like = False

    def __init__(self, true: Booleans, predicted: Booleans, index: Entropy) -> None:
        self.of_benefit = ((1.0 + predicted - true.astype(float))[:, None] == BENEFITS).astype(float)
        self.index = index

    def slopes(self, masses: Floats) -> tuple[Floats, Floats]:
        """Return the index and its derivatives."""
        value, slope = self._by_benefit(masses @ self.of_benefit)
        return value, slope @ self.of_benefit.T

    def _by_benefit(self, masses: Floats) -> tuple[Floats, Floats]:
        """Return the index and its derivatives by the masses of each benefit, (..., 3)."""
        total = masses.sum(axis=-1, keepdims=True)
        share = ratio_of(masses, total)
        value, slope = self.index(BENEFITS, share)
        with np.errstate(invalid="ignore"):
            return value, ratio_of(slope - (share * slope).sum(axis=-1, keepdims=True), total)

    def moments(self, counts: Floats, rng: Generator | None = None) -> tuple[Floats, Floats]:
        """Return the index and its variance with one more error of either kind, even if the data have none."""
        by_benefit = np.asarray(counts, dtype=float) @ self.of_benefit
        value, smooth = self._by_benefit(by_benefit)[0], by_benefit + ONE_MORE
        variance = (smooth * self._by_benefit(smooth)[1] ** 2).sum(axis=-1) * correction(by_benefit)
        return value, np.where(np.isnan(value), np.nan, variance)

    def effective(self, counts: Floats) -> Floats:
        """The number of people."""
        return np.asarray(counts.sum(axis=-1), dtype=float)

    def informative(self, counts: Floats) -> Floats:
        """The number of people predicted wrongly, or correctly, whichever is smaller."""
        under, right, over = np.moveaxis(counts @ self.of_benefit, -1, 0)
        return np.asarray(np.minimum(under + over, right))


def between_and_within(alpha: float, benefit: Floats, counts: Floats) -> tuple[Floats, Floats]:
    """Decompose a generalized entropy into inequality between and within groups (Speicher et al. 2018, section 4)."""
    index, n = Entropy(alpha), counts.sum()
    people = counts.sum(axis=1, keepdims=True)
    mean = counts @ benefit[:, None] / people
    each = index.term(benefit) * np.ones_like(counts)
    # What one person more with a benefit adds to the sum, over groups, of people times the term of their mean.
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = alpha * (np.log(mean) + 1 if alpha == 1 else mean ** (alpha - 1))
    joined = index.term(mean) + np.where(mean > 0, slope, 0.0) * (benefit - mean)
    total_mean = np.asarray((counts * benefit).sum() / n)
    values, parts = [], []
    for term in (each, joined):
        value, by_term, by_mean = index.of_means(np.asarray((counts * term).sum() / n), total_mean)
        part = by_term * term + by_mean * benefit
        values.append(float(value))
        parts.append((part - (counts * part).sum() / n).ravel())
    part = np.stack([*parts, parts[0] - parts[1]])
    return np.array([*values, values[0] - values[1]]), (part * counts.ravel()) @ part.T / (n * max(n - 1, 1))
