"""Null distributions in few enough bins to be plotted, with the part that is as extreme as the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from skfairtest._utils.typing import Floats, Integers
from skfairtest.inference.conditional import TIE, Strata, stratified_log_p
from skfairtest.inference.resampling import at_least_as_extreme

#: Bins that a distribution has at the most, with the two that hold all that is far out.
MOST = 101
#: Bins that draws, or a normal distribution, are put into at the most, without these two.
BINS = 60
#: Outcomes around the centre that are enumerated at the most.
LARGEST = 100_000
#: Standard deviations around the centre that are drawn bin by bin.
REACH = 5.5
#: Multiplications up to which strata are convolved directly, in wide windows; beyond, tails below `NOISE` are not read
#: from what Fourier transforms gave.
DIRECT_WORK = 200_000
NOISE = 1e-8


@dataclass(frozen=True)
class Bins:
    """Bins, arrays of shape (n_bins,): ends, probabilities, and their extreme parts."""

    low: Floats
    high: Floats
    mass: Floats
    extreme: Floats

    def moved(self, offset: float, scale: float) -> Bins:
        """The bins of another statistic, a linear function of this one."""
        return Bins(offset + scale * self.low, offset + scale * self.high, self.mass, self.extreme)


def given_totals(
    x1: Integers, d1: Integers, x2: Integers, d2: Integers, alternative: str = "two-sided", log_p: float | None = None
) -> Bins | None:
    """The distribution of group 1's events, summed over strata, given the events of every stratum.

    None if more than `LARGEST` outcomes would have to be enumerated.

    Examples
    --------
    >>> bins = given_totals(*(np.array([k]) for k in (3, 3, 0, 3)))
    >>> bins.low.tolist(), bins.mass.round(2).tolist(), bins.extreme.round(2).tolist()
    ([0.0, 1.0, 2.0, 3.0], [0.05, 0.45, 0.45, 0.05], [0.05, 0.0, 0.0, 0.05])
    """
    strata = Strata.of(x1, d1, x2, d2)
    ends = strata.bounds
    mean, variance = strata.moments()
    window = _window(ends, mean, float(np.sqrt(variance)))
    if window is None:
        return None
    start, after = window.start, window.start + window.bins * window.each
    direct = strata.direct_work() <= DIRECT_WORK
    first, probability, _ = strata.distribution(0.0, direct=direct)
    observed = int(x1.sum())
    # Outcomes whose probability is too small to be computed have none.
    probability = np.pad(probability, (max(0, first - start), max(0, after - first - len(probability))))
    first = min(first, start)
    x, place = first + np.arange(len(probability)), observed - first
    if alternative == "two-sided":
        level = probability[place] * (1 + TIE) if 0 <= place < len(probability) else 0.0
        extreme = np.where(probability <= level, probability, 0.0)
    else:
        extreme = np.where(x >= observed if alternative == "greater" else x <= observed, probability, 0.0)
    shown, below, above = slice(start - first, after - first), slice(0, start - first), slice(after - first, None)
    tails = [(float(probability[part].sum()), float(extreme[part].sum())) for part in (below, above)]
    if not direct and extreme.sum() < NOISE:
        # So far out that it was not enumerated there, or not accurately; the p-value is known all the same.
        if log_p is None:
            log_p = stratified_log_p(x1, d1, x2, d2, alternative)
        p = float(np.exp(log_p))
        sides = {"greater": (0.0, p), "less": (p, 0.0)}.get(alternative, (p / 2, p / 2))
        tails = [(max(mass, part), part) for (mass, _), part in zip(tails, sides, strict=True)]
        extreme = np.zeros_like(probability)
    return _binned(probability[shown], extreme[shown], window, ends, tails)


class _Window(NamedTuple):
    """The outcomes shown: the first, the number of bins, and the outcomes in each."""

    start: int
    bins: int
    each: int


def _window(ends: tuple[int, int], mean: float, spread: float) -> _Window | None:
    low, high = ends
    outcomes = high - low + 1
    if outcomes <= MOST:
        return _Window(low, outcomes, 1)
    each = max(1, int(np.ceil(2 * REACH * spread / (MOST - 2))))
    bins = min(MOST - 2, outcomes // each)
    if bins * each > LARGEST:
        return None
    return _Window(min(max(round(mean) - bins * each // 2, low), high + 1 - bins * each), bins, each)


def _binned(
    mass: Floats, extreme: Floats, window: _Window, ends: tuple[int, int], tails: Sequence[tuple[float, float]]
) -> Bins:
    start, bins, each = window
    half = 0.0 if each == 1 else 0.5
    low = start + each * np.arange(bins) - half
    sums = [np.asarray(values.reshape(bins, each).sum(axis=1), dtype=float) for values in (mass, extreme)]
    parts: list[tuple[Floats, ...]] = [(low.astype(float), (low + (each - 1 + 2 * half)).astype(float), *sums)]
    after = start + bins * each
    if start > ends[0]:
        parts.insert(0, tuple(np.array([v]) for v in (ends[0] - half, start - 1 + half, *tails[0])))
    if after <= ends[1]:
        parts.append(tuple(np.array([v]) for v in (after - half, ends[1] + half, *tails[1])))
    return Bins(*(np.concatenate(arrays).astype(float) for arrays in zip(*parts, strict=True)))


@dataclass(frozen=True)
class DrawnBins:
    """A histogram of draws, as shares of the defined ones, and the number not shown."""

    bins: Bins
    n_defined: int
    n_infinite: int
    n_undefined: int


def drawn(draws: Floats, observed: float, alternative: str) -> DrawnBins | None:
    """Histogram of resampled statistics; None if none is finite. Masses add up to the share of the finite ones.

    Examples
    --------
    >>> found = drawn(np.array([-2.0, 0.0, 1.0, 3.0, np.inf, np.nan]), 2.5, "two-sided")
    >>> float(found.bins.mass.sum()), float(found.bins.extreme.sum())
    (0.8, 0.2)
    >>> found.n_defined, found.n_infinite, found.n_undefined
    (5, 1, 1)
    """
    defined = draws[~np.isnan(draws)]
    finite = defined[np.isfinite(defined)]
    if not len(finite):
        return None
    counts = (len(defined), len(defined) - len(finite), len(draws) - len(defined))
    extreme = finite[at_least_as_extreme(finite, observed, alternative)]
    smallest, largest = float(finite.min()), float(finite.max())
    if not largest > smallest:
        one = np.array([smallest])
        bins = Bins(one, one, np.array([len(finite) / len(defined)]), np.array([len(extreme) / len(defined)]))
        return DrawnBins(bins, *counts)
    low, high = np.quantile(finite, [0.0005, 0.9995]).tolist()
    low, high = (low, high) if high > low else (smallest, largest)
    n = int(np.clip(np.sqrt(len(finite)), 5, BINS))
    edges = np.linspace(low, high, n + 1)
    edges = np.concatenate([[smallest] * (smallest < low), edges, [largest] * (largest > high)])
    mass, part = (np.histogram(values, edges)[0] / len(defined) for values in (finite, extreme))
    return DrawnBins(Bins(edges[:-1], edges[1:], mass, part), *counts)


def normal(observed: float, alternative: str) -> Bins:
    """The standard normal distribution in bins.

    Examples
    --------
    >>> bins = normal(-1.959964, "two-sided")
    >>> round(float(bins.mass.sum()), 6), round(float(bins.extreme.sum()), 6)
    (1.0, 0.05)
    """
    edges = np.linspace(-4, 4, BINS + 1)
    far = max(6.0, abs(observed) + 1.0) if np.isfinite(observed) else 6.0
    edges = np.concatenate([[-far], edges, [far]])
    inner = np.concatenate([[-np.inf], edges[1:-1], [np.inf]])
    low, high = inner[:-1], inner[1:]
    ranges = {"greater": [(observed, np.inf)], "less": [(-np.inf, observed)]}.get(
        alternative, [(-np.inf, -abs(observed)), (abs(observed), np.inf)]
    )
    mass = _between(low, high)
    extreme = np.sum([_between(np.maximum(low, a), np.minimum(high, b)) for a, b in ranges], axis=0)
    return Bins(edges[:-1], edges[1:], mass, np.minimum(extreme, mass))


def _between(low: Floats, high: Floats) -> Floats:
    """Probabilities of intervals, from the tail that keeps its digits."""
    mass = np.where(low > 0, ndtr(-low) - ndtr(-high), ndtr(high) - ndtr(low))
    return np.where(high > low, mass, 0.0)
