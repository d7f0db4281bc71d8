"""A quantile of numbers as a function of counts, by the mid-distribution, with a standard error that ties do not break.

The mid-distribution of a value is the share of people below it and half the share of those who have it. Between the
values that somebody has it is interpolated linearly, and the quantile is its inverse: without ties Hazen's sample
quantile (`numpy.quantile` with ``method="hazen"``), and with ties a number that still moves with every person, so that
it is normal in the limit where values are discrete as well. Its slope is measured over two standard errors of the share
to both sides.

References
----------
Y. Ma, M. G. Genton and E. Parzen (2011). Asymptotic properties of sample quantiles of discrete distributions. Annals of
the Institute of Statistical Mathematics 63, 227-243.
R. S. Woodruff (1952). Confidence intervals for medians and other position measures. Journal of the American Statistical
Association 47, 635-646.
E. Chung and J. P. Romano (2013). Exact and asymptotically robust permutation tests. Annals of Statistics 41, 484-507:
studentized permutation tests of medians.
"""

from __future__ import annotations

import numpy as np

from skfairtest._utils.typing import Floats
from skfairtest.metrics.functionals import Functional, ratio_of

#: Standard errors of the share over which the slope is measured.
WIDTH = 2.0


class Quantile(Functional):
    """The number below which a share of people lies; delta method.

    Parameters
    ----------
    z : ndarray of float, shape (K,)
        A number for each kind of people.
    share : float
        Between 0 and 1; one half is the median.
    """

    def __init__(self, z: Floats, share: float) -> None:
        self.levels, self._level = np.unique(np.asarray(z, dtype=float), return_inverse=True)
        self._order = np.argsort(self._level, kind="stable")
        self._starts = np.searchsorted(self._level[self._order], np.arange(len(self.levels)))
        self.share = share

    def _by_level(self, masses: Floats) -> tuple[Floats, Floats]:
        """The mass of each distinct number, and the mid-distribution there."""
        own = masses[..., self._order]
        if len(self.levels) < own.shape[-1]:
            own = np.add.reduceat(own, self._starts, axis=-1)
        upto = np.cumsum(own, axis=-1)
        return own, ratio_of(upto - own / 2, upto[..., -1:])

    def _at(self, own: Floats, middle: Floats, share: Floats) -> Floats:
        """Return the quantile of each table, where its share is within what the table reaches, and else its end."""
        share = share[..., None]
        above, below = (own > 0) & (middle >= share), (own > 0) & (middle <= share)
        last = own.shape[-1] - 1
        high, low = above.argmax(axis=-1), last - below[..., ::-1].argmax(axis=-1)
        high = np.where(above.any(axis=-1), high, low)
        low = np.where(below.any(axis=-1), low, high)
        ends = [np.take_along_axis(middle, place[..., None], axis=-1) for place in (low, high)]
        way = np.where(high > low, ratio_of(share - ends[0], ends[1] - ends[0])[..., 0], 0.0)
        return np.asarray(self.levels[low] + way * (self.levels[high] - self.levels[low]))

    def values(self, masses: Floats) -> Floats:
        """Return the quantile; NaN of nobody."""
        masses = np.asarray(masses, dtype=float)
        own, middle = self._by_level(masses)
        share = np.full(masses.shape[:-1], self.share)
        return np.where(masses.sum(axis=-1) > 0, self._at(own, middle, share), np.nan)

    def parts(self, masses: Floats, pooled: Floats | None = None) -> tuple[Floats, Floats]:
        """Return the quantile and each cell's part of its error: its distance from the share, times the slope."""
        masses = np.asarray(masses, dtype=float)
        own, middle = self._by_level(masses)
        total = masses.sum(axis=-1)
        value = self._at(own, middle, np.full(total.shape, self.share))
        whole = (masses == np.floor(masses)).all()
        people = total if whole else ratio_of(total**2, (masses**2).sum(axis=-1))
        with np.errstate(divide="ignore", invalid="ignore"):
            reach = WIDTH * np.sqrt(self.share * (1 - self.share) / people)
            ends = (np.maximum(self.share - reach, 0.5 / people), np.minimum(self.share + reach, 1 - 0.5 / people))
            low, high = (self._at(own, middle, np.nan_to_num(end, nan=0.5)) for end in ends)
            slope = np.where(ends[1] > ends[0], (high - low) / (ends[1] - ends[0]), np.nan)
            below = self.levels < value[..., None]
            there = np.where(self.levels == value[..., None], 0.5, 0.0) + below
            each = (self.share - there[..., self._level]) * ratio_of(slope, total)[..., None]
            return np.where(total > 0, value, np.nan), np.where(masses > 0, masses * each, 0.0)
