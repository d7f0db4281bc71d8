"""Null distributions in few enough bins to be plotted, with the part that is as extreme as the data."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

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
#: Tails below this are not read from what Fourier transforms gave.
NOISE = 1e-8


@dataclass(frozen=True)
class Bins:
    """Bins, arrays of shape (n_bins,): ends, probabilities, and their extreme parts."""

    low: Floats
    high: Floats
    mass: Floats
    extreme: Floats


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
    lowest, highest = strata.bounds
    mean, variance = strata.moments()
    start, bins, each = lowest, highest - lowest + 1, 1
    if bins > MOST:
        each = max(1, int(np.ceil(2 * REACH * np.sqrt(variance) / (MOST - 2))))
        bins = min(MOST - 2, bins // each)
        if bins * each > LARGEST:
            return None
        start = min(max(round(mean) - bins * each // 2, lowest), highest + 1 - bins * each)
    direct = strata.is_direct()
    first, probability, _ = strata.distribution(0.0, direct=direct)
    x, observed = first + np.arange(len(probability)), int(x1.sum())
    if alternative == "two-sided":
        level = probability[x == observed].sum() * (1 + TIE)  # too small to be computed: 0
        extreme = np.where(probability <= level, probability, 0.0)
    else:
        extreme = np.where(x >= observed if alternative == "greater" else x <= observed, probability, 0.0)
    ends = np.unique([lowest, *(start + each * np.arange(bins + 1)), highest + 1])
    places = np.clip(ends - first, 0, len(probability)).tolist()
    mass, part = (
        np.array([values[a:b].sum() for a, b in pairwise(places)], dtype=float) for values in (probability, extreme)
    )
    if not direct and extreme.sum() < NOISE:
        # So far out that it was not enumerated there, or not accurately; the p-value is known all the same.
        p = float(np.exp(stratified_log_p(x1, d1, x2, d2, alternative) if log_p is None else log_p))
        part = np.zeros_like(mass)
        part[[0, -1]] = {"greater": (0.0, p), "less": (p, 0.0)}.get(alternative, (p / 2, p / 2))
        mass = np.maximum(mass, part)
    half = 0.0 if each == 1 else 0.5
    return Bins(ends[:-1] - half, ends[1:] - 1 + half, mass, part)


def drawn(draws: Floats, observed: float, alternative: str) -> Bins | None:
    """Histogram of resampled statistics; None if none is finite. Masses add up to the share of the finite ones.

    Examples
    --------
    >>> found = drawn(np.array([-2.0, 0.0, 1.0, 3.0, np.inf, np.nan]), 2.5, "two-sided")
    >>> float(found.mass.sum()), float(found.extreme.sum())
    (0.8, 0.2)
    """
    defined = draws[~np.isnan(draws)]
    finite = defined[np.isfinite(defined)]
    if not len(finite):
        return None
    extreme = finite[at_least_as_extreme(finite, observed, alternative)]
    smallest, largest = float(finite.min()), float(finite.max())
    if not largest > smallest:
        one = np.array([smallest])
        return Bins(one, one, *(np.array([len(values) / len(defined)]) for values in (finite, extreme)))
    low, high = np.quantile(finite, [0.0005, 0.9995]).tolist()
    low, high = (low, high) if high > low else (smallest, largest)
    edges = np.linspace(low, high, int(np.clip(np.sqrt(len(finite)), 5, BINS)) + 1)
    edges = np.concatenate([[smallest] * (smallest < low), edges, [largest] * (largest > high)])
    mass, part = (np.histogram(values, edges)[0] / len(defined) for values in (finite, extreme))
    return Bins(edges[:-1], edges[1:], mass, part)


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
