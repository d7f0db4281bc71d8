"""Statistics of every comparison of a rate, in the data and in resampled tables.

A rate has three cells per group: events, people who meet the condition without it, and everyone else; permutations
within the condition exchange the first two.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from skfairtest._utils.batches import starts
from skfairtest._utils.typing import Floats, Integers, Moments
from skfairtest.inference.draws import bootstrapped, chunks, permuted
from skfairtest.inference.linear_form import Resampled, Scale, resampled
from skfairtest.inference.rates import Pair, plug_in_moments, statistic


@dataclass(frozen=True)
class Contrast:
    """One comparison: group `first` against group `second`, or if that is None everyone else in the groups `among`.

    `among` None: in all groups. `stratum` None: all strata pooled. With `overall` the disparity is to everyone.
    """

    first: int
    second: int | None
    overall: bool = False
    stratum: int | None = None
    among: tuple[int, ...] | None = None

    def others(self, n_groups: int) -> list[int]:
        """The groups that `first` is compared with, in order."""
        if self.second is not None:
            return [self.second]
        everyone = range(n_groups) if self.among is None else sorted(self.among)
        return [group for group in everyone if group != self.first]


@dataclass(frozen=True)
class RateTable:
    """Counts of one rate, shape (strata, groups, cells).

    `event` and `given` mark the cells of numerator and denominator, `blocks` those that exchange labels.
    """

    counts: Integers
    event: np.ndarray
    given: np.ndarray
    blocks: tuple[tuple[int, ...], ...]

    def events(self, counts: Integers) -> Integers:
        """Numerators of tables shaped (..., strata, groups, cells)."""
        return np.asarray(counts[..., self.event].sum(axis=-1))

    def denominators(self, counts: Integers) -> Integers:
        """Denominators of tables shaped (..., strata, groups, cells)."""
        return np.asarray(counts[..., self.given].sum(axis=-1))

    def only(self, contrast: Contrast) -> RateTable:
        """The two rows that one contrast compares."""
        first = self.counts[:, contrast.first]
        second = self.counts[:, contrast.others(self.counts.shape[1])].sum(axis=1)
        return RateTable(np.stack([first, second], axis=1), self.event, self.given, self.blocks)


def pair_of(events: Integers, denominators: Integers, contrast: Contrast) -> Pair:
    """Counts that a contrast compares, from arrays (..., strata, groups)."""
    if contrast.stratum is not None:
        keep = slice(contrast.stratum, contrast.stratum + 1)
        events, denominators = events[..., keep, :], denominators[..., keep, :]
    x1, d1 = events[..., contrast.first], denominators[..., contrast.first]
    others = contrast.others(events.shape[-1])
    return Pair(x1, d1, events[..., others].sum(axis=-1), denominators[..., others].sum(axis=-1), contrast.overall)


def pairs_of(events: Integers, denominators: Integers, contrasts: Sequence[Contrast]) -> Pair:
    """Counts that contrasts compare, (contrasts, strata), from arrays (strata, groups)."""
    others = [contrast.others(events.shape[1]) for contrast in contrasts]
    first, second = [contrast.first for contrast in contrasts], np.concatenate(others)
    begins = starts(np.array([len(groups) for groups in others]))
    x1, d1, x2, d2 = (
        np.ascontiguousarray(side.T)
        for side in (
            *(counts[:, first] for counts in (events, denominators)),
            *(np.add.reduceat(counts[:, second], begins, axis=1) for counts in (events, denominators)),
        )
    )
    return Pair(x1, d1, x2, d2, contrasts[0].overall)


def to_rest(contrasts: Sequence[Contrast]) -> list[Contrast]:
    """The contrasts tested: equality to everyone is equality to everyone else."""
    return [replace(contrast, overall=False) for contrast in contrasts]


def observed_statistics(
    table: RateTable, contrasts: Sequence[Contrast], scale: Scale, variance: str | None
) -> tuple[Floats, Floats]:
    """Statistics and standard errors, each of shape (n_contrasts,); (b, ...) of b tables."""
    events, denominators = table.events(table.counts), table.denominators(table.counts)
    found = [statistic(pair_of(events, denominators, c), scale, variance) for c in contrasts]
    return np.stack([s for s, _ in found], axis=-1), np.stack([e for _, e in found], axis=-1)


def pairwise_permutations(
    table: RateTable,
    contrasts: Sequence[Contrast],
    scale: Scale,
    variance: str | None,
    n_resamples: int,
    seeds: Sequence[np.random.SeedSequence],
    advance: Callable[[], None] = lambda: None,
) -> Floats:
    """Statistics (n_resamples, n_contrasts) with labels permuted within each contrast."""
    columns = []
    for contrast, seed in zip(contrasts, seeds, strict=True):
        pair = Contrast(0, 1, stratum=contrast.stratum)
        rng = np.random.default_rng(seed)
        two = table.only(contrast)
        tables = (replace(two, counts=drawn) for drawn in permuted(two.counts, two.blocks, n_resamples, rng))
        columns.append(np.concatenate([observed_statistics(own, [pair], scale, variance)[0][:, 0] for own in tables]))
        advance()
    return np.stack(columns, axis=-1)


def bootstrap_moments(
    table: RateTable,
    contrasts: Sequence[Contrast],
    scale: Scale,
    disparity: str,
    variance: str | None,
    n_resamples: int,
    rng: np.random.Generator,
) -> list[Resampled]:
    """Both values of each contrast when people are resampled within their groups."""

    def moments(counts: Integers) -> list[Moments]:
        events, denominators = table.events(counts), table.denominators(counts)
        return [plug_in_moments(pair_of(events, denominators, contrast), scale) for contrast in contrasts]

    drawn = [
        moments(np.stack([bootstrapped(stratum, size, rng).swapaxes(0, 1) for stratum in table.counts], axis=1))
        for size in chunks(table.counts.shape, n_resamples)
    ]
    found = []
    for observed, parts in zip(moments(table.counts), zip(*drawn, strict=True), strict=True):
        sampled = Moments(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))
        found.append(resampled(observed, sampled, disparity, studentized=variance is not None))
    return found
