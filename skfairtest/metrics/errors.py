"""Standard errors for any metric: jackknife, bootstrap, and linearized ones for people with weights or in clusters."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy import sparse

from skfairtest._utils.typing import Floats, Moments, Positions
from skfairtest.metrics import functionals

#: Share of people that their effective number is, from which on their weights are about alike.
ALIKE = 0.9
#: People as whose weights a side's are thought to vary like those of both sides, beside its own.
BOTH_SIDES = 50


def belonging(codes: Positions) -> Any:
    """Return the matrix that adds up what has the same code."""
    n = len(codes)
    return sparse.csr_array((np.ones(n), (np.arange(n), codes)), shape=(n, int(codes.max(initial=-1)) + 1))


def added(values: NDArray[Any], matrix: Any) -> Floats:
    """Add up values (..., K) by a matrix (K, U) as `belonging` gives it."""
    sums = np.asarray(values.reshape(-1, values.shape[-1]) @ matrix)
    return sums.reshape(*values.shape[:-1], sums.shape[-1])


class Wrapped(functionals.Functional):
    """A metric with another standard error than its own."""

    def __init__(self, functional: functionals.Functional) -> None:
        self.functional, self.bounds, self.is_mean = functional, functional.bounds, functional.is_mean

    def values(self, masses: Floats) -> Floats:
        """Return the metric."""
        return self.functional.values(masses)

    def base(self, masses: Floats) -> Floats:
        """Return the metric's own."""
        return self.functional.base(masses)

    def effective(self, counts: Floats) -> Floats:
        """Return the metric's own."""
        return self.functional.effective(counts)


class Jackknife(Wrapped):
    """Any metric with the variance of leaving out one person, evaluated once for each cell that is not empty."""

    error = "jackknife"

    def __init__(self, functional: functionals.Functional, weight: Floats | None = None) -> None:
        super().__init__(functional)
        self.weight = weight

    def parts(self, masses: Floats, pooled: Floats | None = None) -> tuple[Floats, Floats]:
        """Return the metric and how far leaving out one person of each cell moves it, from the average move."""
        weight = np.ones(masses.shape[-1]) if self.weight is None else self.weight
        counts = np.where(weight > 0, masses / np.where(weight > 0, weight, 1.0), 0.0)
        value = self.functional.values(masses)
        without = np.broadcast_to(value[..., None], masses.shape).copy()
        for cell in range(masses.shape[-1]):
            occupied = counts[..., cell] > 0
            if occupied.any():
                fewer = masses[occupied].copy()
                fewer[:, cell] = np.maximum(fewer[:, cell] - weight[cell], 0.0)
                without[occupied, cell] = self.functional.values(fewer)
        people = counts.sum(axis=-1, keepdims=True)
        # A metric that one person's absence leaves undefined says nothing about that person.
        without = np.where(np.isnan(without), value[..., None], without)
        average = functionals.ratio_of((counts * without).sum(axis=-1, keepdims=True), people)
        return value, counts * np.sqrt(np.maximum(people - 1, 0) / np.maximum(people, 1)) * (average - without)

    def moments(self, counts: Floats, rng: Generator | None = None) -> tuple[Floats, Floats]:
        """Return the metric and the jackknife variance."""
        value, parts = self.parts(counts)
        variance = (parts * functionals.per_person(parts, counts)).sum(axis=-1)
        # Leaving out others moves a value by rounding errors where it does not move at all.
        return value, np.where(variance <= functionals.ROUNDING * np.abs(value), 0.0, variance)


class ByCell(Wrapped):
    """Any function of masses that people with weights or in clusters see through few different cells."""

    #: The step of a derivative: the share of the total mass that is added to a cell.
    STEP = 1e-4

    def __init__(self, functional: functionals.Functional, cell: Positions) -> None:
        super().__init__(functional)
        self.cell = cell
        self._sum = belonging(cell)

    def values(self, masses: Floats) -> Floats:
        """Return the metric."""
        return self.functional.values(added(masses, self._sum))

    def parts(self, masses: Floats, pooled: Floats | None = None) -> tuple[Floats, Floats]:
        """Return the metric, and each kind's mass times the numerical derivative by it."""
        cells = added(masses, self._sum)
        total = cells.sum(axis=-1)
        value = self.functional.values(cells)
        slope = np.zeros_like(cells)
        step = self.STEP * total
        for c in range(cells.shape[-1]):
            more = cells.copy()
            more[..., c] += step
            moved = self.functional.values(more)
            slope[..., c] = np.where(cells[..., c] > 0, functionals.ratio_of(moved - value, step), 0.0)
        slope = np.where(np.isnan(slope), 0.0, slope)
        # Multiplying all weights leaves a metric of shares unchanged.
        slope -= functionals.ratio_of((slope * cells).sum(axis=-1), total)[..., None]
        return value, masses * slope[..., self.cell]

    def base(self, masses: Floats) -> Floats:
        """Return the masses."""
        return np.asarray(masses, dtype=float)

    def effective(self, counts: Floats) -> Floats:
        """Return the metric's own."""
        return self.functional.effective(added(np.asarray(counts, dtype=float), self._sum))


class Bootstrap(Wrapped, functionals.Undifferentiated):
    """Any metric with the variance of its bootstrap values (algorithm 1 of DiCiccio et al. 2020)."""

    error = "bootstrap"

    def __init__(self, functional: functionals.Functional, n_inner: int = 50, cluster: Positions | None = None) -> None:
        super().__init__(functional)
        self.n_inner, self.cluster = n_inner, cluster

    def moments(self, counts: Floats, rng: Generator | None = None) -> tuple[Floats, Floats]:
        """Return the metric and the variance over resamples in which it is defined."""
        assert rng is not None
        value = self.functional.values(counts)
        flat = counts.reshape(-1, counts.shape[-1])
        variance = np.empty(len(flat))
        for row, table in enumerate(flat):
            people = int(table.sum())
            if people == 0:
                variance[row] = np.nan
                continue
            found = self.functional.values(self._drawn(table, people, rng))
            found = found[~np.isnan(found)]
            variance[row] = found.var(ddof=1) if len(found) > 1 else np.nan
        spread: Floats = variance.reshape(value.shape)
        return value, np.where(spread <= functionals.ROUNDING * np.abs(value), 0.0, spread)

    def units(self, counts: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the metric, and each cluster's part of its error by leaving the cluster out, with its base."""
        counts = np.asarray(counts, dtype=float)
        assert self.cluster is not None
        units, of = np.unique(self.cluster, return_inverse=True)
        base = np.asarray(np.bincount(of.reshape(-1), self.functional.base(counts), len(units)), dtype=float)
        share = functionals.ratio_of(base, base.sum())
        value = float(self.functional.values(counts))
        parts = np.zeros(len(units))
        for unit in np.flatnonzero(base > 0).tolist():
            # For a mean this is the cluster's part, whatever the clusters' sizes.
            parts[unit] = (1 - share[unit]) * (value - float(self.functional.values(np.where(of == unit, 0.0, counts))))
        # A metric that one cluster's absence leaves undefined says nothing about that cluster.
        parts = np.where(np.isnan(parts), 0.0, parts)
        return np.asarray(value), parts - share * parts.sum(), base

    def _drawn(self, table: Floats, people: int, rng: Generator) -> Floats:
        """Resample the people of a table, or their clusters."""
        occupied = np.flatnonzero(table)
        drawn = np.zeros((self.n_inner, len(table)))
        if self.cluster is None:
            drawn[:, occupied] = rng.multinomial(people, table[occupied] / people, size=self.n_inner)
        else:
            units, of = np.unique(self.cluster[occupied], return_inverse=True)
            times = rng.multinomial(len(units), np.full(len(units), 1 / len(units)), size=self.n_inner)
            drawn[:, occupied] = times[:, of.reshape(-1)] * table[occupied]
        return drawn


@dataclass
class Robust(functionals.Functional):
    """Any metric of people with weights, who may come in clusters: linearized standard errors."""

    functional: functionals.Functional
    weight: Floats | None = None
    cluster: Positions | None = None

    def __post_init__(self) -> None:
        self.bounds, self.is_mean = self.functional.bounds, self.functional.is_mean
        self.error = "linearized" if self.cluster is None else "cluster-robust"
        if isinstance(self.functional, Jackknife):
            self.error = "jackknife"
        self.clustered = self.cluster is not None
        # How far people of one cluster are alike, few clusters do not tell.
        self.is_rate_like = self.functional.is_rate_like and not self.clustered
        self.counts_misplaced = self.functional.counts_misplaced and not self.clustered
        self._sum = None if self.cluster is None else belonging(self.cluster)

    def masses(self, counts: Floats) -> Floats:
        """The weights of the counts of people."""
        return np.asarray(counts if self.weight is None else counts * self.weight, dtype=float)

    def values(self, masses: Floats) -> Floats:
        """Return the metric of counts of people."""
        return self.functional.values(self.masses(masses))

    def parts(self, masses: Floats, pooled: Floats | None = None) -> tuple[Floats, Floats]:
        """Return the metric and its parts for counts of people."""
        return self.functional.parts(self.masses(masses), None if pooled is None else self.masses(pooled))

    def sampled(self, parts: Floats, counts: Floats) -> tuple[Floats, Floats]:
        """Return parts per sampled unit (a person or a cluster), and how often each unit is there."""
        if self._sum is None:
            return functionals.per_person(parts, counts), counts
        present = added(counts > 0, self._sum)
        times = np.where(present > 0, added(counts, self._sum) / np.maximum(present, 1), 0.0)
        return functionals.per_person(added(parts, self._sum), times), times

    def moments(self, counts: Floats, rng: Generator | None = None) -> tuple[Floats, Floats]:
        """Return the metric and its linearized variance."""
        counts = np.asarray(counts, dtype=float)
        value, parts = self.parts(counts)
        each, times = self.sampled(parts, counts)
        # The jackknife's parts are of the size of its variance already.
        factor = 1.0 if isinstance(self.functional, Jackknife) else functionals.correction(times)
        return value, (times * each**2).sum(axis=-1) * factor

    def pair(
        self, first: Floats, second: Floats, *, shared: bool = False, null: bool = True, rng: Generator | None = None
    ) -> Moments:
        """Return both sides; people of one cluster on both sides make these correlated."""
        if isinstance(self.functional, functionals.Share):
            counts = (np.asarray(side, dtype=float) for side in (first, second))
            return functionals.share_pair(self, self.functional, *counts, shared=shared, null=null)
        first, second = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
        together = second if shared else first + second
        (v1, parts1), (v2, parts2) = self.parts(first, together), self.parts(second, together)
        (u1, n1), (u2, n2) = self.sampled(parts1, first), self.sampled(parts2, second)
        q1, q2 = ((n * u**2).sum(axis=-1) * functionals.correction(n) for u, n in ((u1, n1), (u2, n2)))
        correlated = shared or self.clustered
        covariance = functionals.covariance_of(u1, n1, u2, n2) if correlated else np.zeros_like(v1)
        return Moments(v1, q1, v2, q2, covariance)

    def base(self, masses: Floats) -> Floats:
        """Return the metric's own, of counts of people."""
        return self.functional.base(self.masses(masses))

    def effective(self, counts: Floats) -> Floats:
        """Return the effective number of people (Kish 1965) or of clusters."""
        masses = self.masses(np.asarray(counts, dtype=float))
        if isinstance(self.functional, functionals.Share):
            masses = masses * self.functional.given
        if self._sum is None:
            units = functionals.kish(masses, counts)
        else:
            masses = added(masses, self._sum)
            units = functionals.kish(masses, np.ones_like(masses))
        return np.minimum(units, self.functional.effective(np.where(self.masses(counts) > 0, counts, 0.0)))

    def informative(self, counts: Floats) -> Floats:
        """The metric's own number, or half the effective number where that is less."""
        counts = np.asarray(counts, dtype=float)
        found = np.minimum(self.effective(counts) / 2, self.functional.informative(counts))
        if self.weight is None or not isinstance(self.functional, functionals.Share):
            return found
        event, given = self.functional.event > 0, self.functional.given > 0
        few = np.minimum(self._kish(counts * (event & given)), self._kish(counts * (given & ~event)))
        everyone = counts * given
        return np.where(self._kish(everyone) < ALIKE * everyone.sum(axis=-1), np.minimum(found, few), found)

    def most_people(self, counts: Floats) -> Floats:
        """The effective people of the rates of two sides (2, K), were their weights as unlike as those of both sides.

        With n1 events and n0 non-events the variance of p is p^2 (1 - p)^2 (q1 / n1 + q0 / n0), with q the mean squared
        weight over the squared mean weight.
        """
        assert self.weight is not None
        assert isinstance(self.functional, functionals.Share)
        some = (self.functional.given > 0) & (self.weight > 0)
        rate, relative = self.values(counts), np.zeros(len(counts))
        for kind in (self.functional.event > 0, self.functional.event == 0):
            people = counts * (some & kind)
            n = people.sum(axis=-1)
            beyond, freedom = (
                functionals.ratio_of(n**2, self._kish(people)) - 1,
                n - 1,
            )  # sums of squared relative weights, less 1
            known = freedom > 0
            shared = beyond[known].sum() / freedom[known].sum() if known.any() else 1.0
            relative += functionals.ratio_of((beyond + BOTH_SIDES * shared) / (freedom + BOTH_SIDES), n)
        return np.where(
            np.isfinite(relative), functionals.ratio_of(np.ones(len(counts)), rate * (1 - rate) * relative), np.inf
        )

    def worth(self, counts: Floats, weight: Floats | None = None) -> Floats:
        """Return the metric's own, of people with these weights."""
        return self.functional.worth(counts, self.weight)

    def misplaced(self, masses: Floats, counts: Floats) -> tuple[Floats, Floats]:
        """Return the metric's own, of counts of people."""
        return self.functional.misplaced(self.masses(masses), counts)

    def _kish(self, counts: Floats) -> Floats:
        return functionals.kish(self.masses(counts), counts)
