"""Two groups' distributions of a number: Anderson and Darling's statistic, and Kolmogorov's distance with its band.

References
----------
A. N. Pettitt (1976), A two-sample Anderson-Darling rank statistic, Biometrika 63, 161-168.
F. W. Scholz and M. A. Stephens (1987), Journal of the American Statistical Association 82, 918-924, equation 7 (ties).
N. V. Smirnov (1939), Bulletin of Moscow University 2, 3-16.
"""

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
#: Numbers held at once, and values that are drawn faster than people if there are this many people of each.
HELD, PEOPLE = 4_000_000, 20


@dataclass(frozen=True, eq=False)
class Distributions:
    """Two sides' people (2, D) by distinct value in increasing order, or clusters' people (C, D) and who is first."""

    people: Integers
    clusters: csr_array | None = None
    first: Booleans | None = None

    @classmethod
    def of(
        cls, values: Floats, counts: NDArray[np.integer], cluster: NDArray[np.intp] | None = None
    ) -> "Distributions":
        """Count kinds of people (2, K) with these values (K,), who may come in clusters (K,)."""
        _, place = np.unique(values, return_inverse=True)
        everyone = np.bincount(place, counts.sum(axis=0))
        if len(everyone) > POINTS:
            place = (((np.cumsum(everyone) - everyone / 2) * POINTS / everyone.sum()).astype(np.intp))[place]
            place = np.unique(place, return_inverse=True)[1]
        n = int(place.max()) + 1
        people = np.stack([np.bincount(place, side, n) for side in counts]).astype(np.int64)
        if cluster is None:
            return cls(people)
        of_cluster = csr_array((counts.sum(axis=0), (cluster, place)), shape=(int(cluster.max()) + 1, n))
        return cls(people, of_cluster, np.bincount(cluster, counts[0], of_cluster.shape[0]) > 0)

    def statistic(self, first: NDArray[np.integer] | Floats) -> Floats:
        """Anderson and Darling's statistic with midranks, if the first side's people are these (..., D)."""
        everyone = self.people.sum(axis=0)
        n, n_first = everyone.sum(), first.sum(axis=-1)
        below = np.cumsum(everyone) - everyone / 2
        weight = everyone / (below * (n - below) - n * everyone / 4)
        inside = np.cumsum(first, axis=-1) - first / 2
        away = ((n * inside - n_first[..., None] * below) ** 2) @ weight
        with np.errstate(divide="ignore", invalid="ignore"):  # clusters' sizes may leave one side empty
            return np.asarray((n - 1) / n**2 * away * (1 / n_first + 1 / (n - n_first)))

    def draw(self, size: int, rng: Generator) -> Floats:
        """The statistic of permutations of people, or of clusters, between the sides."""
        n, d = int(self.people.sum()), self.people.shape[1]
        out = np.empty(size)
        units = n if self.clusters is None else self.clusters.shape[0]
        for rows in batches(size, max(1, HELD // max(d, units))):
            out[rows] = self.statistic(self._first(rows.stop - rows.start, rng))
        return out

    def _first(self, size: int, rng: Generator) -> NDArray[np.integer] | Floats:
        if self.clusters is not None and self.first is not None:
            drawn = memberships(len(self.first), int(self.first.sum()), size, rng)
            return np.asarray(drawn.astype(float) @ self.clusters)
        everyone = self.people.sum(axis=0)
        if len(everyone) * PEOPLE < everyone.sum():
            return draw_first_rows(self.people, size, rng)[:, 0]
        members = memberships(int(everyone.sum()), int(self.people[0].sum()), size, rng)
        return np.add.reduceat(members, np.cumsum(everyone) - everyone, axis=1, dtype=np.int64)


def farthest(values: Floats, counts: NDArray[np.integer] | Floats) -> tuple[float, tuple[float, float]]:
    """The value at which two sides (2, K) are farthest apart, and the shares of their people that are not above it.

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
    """The half-width of a simultaneous confidence band of the difference of two distributions (Smirnov).

    Examples
    --------
    >>> round(band((100, 100), 0.05), 3)
    0.188
    """
    return float(kstwo.isf(error, max(1, round(n[0] * n[1] / (n[0] + n[1])))))
