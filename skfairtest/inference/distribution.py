"""Two groups' distributions of a number: Anderson and Darling's statistic, and Kolmogorov's distance with its band.

References
----------
A. N. Pettitt (1976), A two-sample Anderson-Darling rank statistic, Biometrika 63, 161-168.
F. W. Scholz and M. A. Stephens (1987), Journal of the American Statistical Association 82, 918-924, equation 7 (ties).
N. V. Smirnov (1939), Bulletin of Moscow University 2, 3-16.
P. Massart (1990), Annals of Probability 18, 1269-1283.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.stats import kstwo

from skfairtest._utils.batches import batches
from skfairtest._utils.typing import Booleans, Floats, Integers
from skfairtest.inference.draws import draw_first_rows, memberships

#: Different values of which the statistic is computed: more are put into as many intervals of equally many people.
POINTS = 1000
#: Numbers held at once; people per value from which on tables are drawn and not people.
HELD, PEOPLE = 4_000_000, 20
#: People of the smaller side from which on the band is Smirnov's.
SMALLEST = 10

#: Values (K,) of kinds of people, their counts (2, K) on both sides, and their clusters (K,) or None.
Kinds = tuple[Floats, NDArray[np.integer], NDArray[np.intp] | None]


@dataclass(frozen=True, eq=False)
class Stratum:
    """People of both sides (2, D) by value, or clusters' people (C, D) and which of these are on the first side."""

    people: Integers
    clusters: csr_array | None = None
    first: Booleans | None = None

    @property
    def everyone(self) -> Integers:
        """The people of both sides by value."""
        return np.asarray(self.people.sum(axis=0))

    def excess(self, first: NDArray[np.integer] | Floats) -> Floats:
        """The first side's people (..., D), less those that it would have with everyone's distribution."""
        share = first.sum(axis=-1, keepdims=True) / self.everyone.sum()
        return np.asarray(first - share * self.everyone)

    def variance(self) -> Floats:
        """The variance of the cumulated excess under permutations, by value."""
        everyone, (n_first, n_second) = self.everyone, self.people.sum(axis=1)
        n, below = n_first + n_second, np.cumsum(everyone) - everyone / 2
        return np.asarray(n_first * n_second / (n**2 * (n - 1)) * (below * (n - below) - n * everyone / 4))

    def draw(self, size: int, rng: Generator) -> NDArray[np.integer] | Floats:
        """Draw the first side's people by value, (size, D)."""
        if self.clusters is not None and self.first is not None:
            drawn = memberships(len(self.first), int(self.first.sum()), size, rng)
            return np.asarray(drawn.astype(float) @ self.clusters)
        there = np.flatnonzero(self.everyone)
        known, out = self.people[:, there], np.zeros((size, len(self.everyone)), dtype=np.int64)
        everyone, n = known.sum(axis=0), int(known.sum())
        if len(there) * PEOPLE < n:
            out[:, there] = draw_first_rows(known, size, rng)[:, 0]
        else:
            members = memberships(n, int(known[0].sum()), size, rng)
            out[:, there] = np.add.reduceat(members, np.cumsum(everyone) - everyone, axis=1, dtype=np.int64)
        return out


@dataclass(frozen=True, eq=False)
class Distributions:
    """Both sides' people by value in every stratum; the values of all strata are on one axis."""

    strata: tuple[Stratum, ...]

    @classmethod
    def of(cls, strata: Sequence[Kinds]) -> Distributions:
        """Count kinds of people by value."""
        _, place = np.unique(np.concatenate([values for values, _, _ in strata]), return_inverse=True)
        everyone = np.bincount(place, np.concatenate([counts.sum(axis=0) for _, counts, _ in strata]))
        if len(everyone) > POINTS:
            middle = np.cumsum(everyone) - everyone / 2
            place = np.unique((middle * POINTS / everyone.sum()).astype(np.intp)[place], return_inverse=True)[1]
        d, made, start = int(place.max()) + 1, [], 0
        for values, counts, cluster in strata:
            at = place[start : start + len(values)]
            start += len(values)
            people = np.stack([np.bincount(at, side, d) for side in counts]).astype(np.int64)
            if cluster is None:
                made.append(Stratum(people))
                continue
            clusters = csr_array((counts.sum(axis=0), (cluster, at)), shape=(int(cluster.max()) + 1, d))
            made.append(Stratum(people, clusters, np.bincount(cluster, counts[0], clusters.shape[0]) > 0))
        return cls(tuple(made))

    @property
    def observed(self) -> float:
        """The statistic of the data."""
        return float(self.statistic(np.sum([each.excess(each.people[0]) for each in self.strata], axis=0)))

    def statistic(self, excess: Floats) -> Floats:
        """Anderson and Darling's statistic with midranks, of the first side's excess (..., D) added over strata.

        With one stratum it is that of Scholz and Stephens. With several, deviations are added before they are squared,
        so that matched pairs say in which direction they differ.
        """
        everyone = np.sum([each.everyone for each in self.strata], axis=0)
        variance = np.sum([each.variance() for each in self.strata], axis=0)
        weight = np.where(variance > 0, everyone / everyone.sum() / np.where(variance > 0, variance, 1.0), 0.0)
        return np.asarray((np.cumsum(excess, axis=-1) - excess / 2) ** 2 @ weight)

    def draw(self, size: int, seed: np.random.SeedSequence) -> Floats:
        """The statistic of permutations of people, or of clusters, between the sides within strata."""
        rng, observed = np.random.default_rng(seed), self.observed
        units = max(len(self.strata[0].everyone), *(int(each.people.sum()) for each in self.strata))
        out = np.empty(size)
        for rows in batches(size, max(1, HELD // units)):
            many = rows.stop - rows.start
            out[rows] = self.statistic(np.sum([each.excess(each.draw(many, rng)) for each in self.strata], axis=0))
        # What rounds to the observed statistic is a tie.
        return np.where(np.abs(out - observed) <= 1e-9 * observed, observed, out)


def farthest(values: Floats, counts: NDArray[np.integer] | Floats) -> tuple[float, tuple[float, float]]:
    """The value at which two sides (2, K) are farthest apart, and the shares of their people that are not above it.

    The difference of these shares is Kolmogorov's distance, but for its sign.

    Examples
    --------
    >>> farthest(np.array([1.0, 2.0, 3.0]), np.array([[2, 0, 2], [0, 0, 4]]))
    (1.0, (0.5, 0.0))
    """
    distinct, place = np.unique(values, return_inverse=True)
    shares = np.stack([np.cumsum(np.bincount(place, side, len(distinct))) / side.sum() for side in counts])
    at = int(np.argmax(np.abs(shares[0] - shares[1])))
    first, second = (float(share) for share in shares[:, at])
    return float(distinct[at]), (first, second)


def band(n: tuple[int, int], error: float) -> float:
    """Half the width of the band around the difference of two distributions, simultaneous over all values.

    Smirnov's width, or with few people Massart's of both distributions together.

    Examples
    --------
    >>> round(band((100, 100), 0.05), 3), round(band((5, 100), 0.05), 3)
    (0.188, 0.81)
    """
    if min(n) < SMALLEST:
        return float(min(1.0, sum(np.sqrt(np.log(4 / error) / (2 * np.array(n))))))
    return float(kstwo.isf(error, round(n[0] * n[1] / (n[0] + n[1]))))
