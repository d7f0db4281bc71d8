"""Subgroups of people that share values of some features, and sums over each of them.

People with the same values of all features form one cell; the subgroups of a combination of features are the entries of
its cross table.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import Any, Self

import numpy as np

from skfairtest._utils.errors import ParameterError
from skfairtest._utils.typing import Booleans, Floats, Positions
from skfairtest.readers.columns import Column
from skfairtest.tables.rows import distinct_keys

#: Entries of one cross table, beyond which it is not made.
LARGEST_TABLE = 20_000_000


@dataclass(frozen=True, eq=False)
class Cells:
    """People who share a value of every feature and a stratum.

    `contextual`: features that only define the context within which subgroups are compared; `counts`: people of each
    row.
    """

    features: tuple[Column, ...]
    contextual: tuple[bool, ...]
    row_stratum: Positions
    counts: Any = None
    codes: Positions = field(init=False, repr=False)
    of_row: Positions = field(init=False, repr=False)
    stratum: Positions = field(init=False, repr=False)
    people: Floats = field(init=False, repr=False)

    def __post_init__(self) -> None:
        strata = Column("", tuple(range(int(self.row_stratum.max(initial=0)) + 1)), self.row_stratum)
        numbered = [replace(column, levels=tuple(range(len(column.levels)))) for column in (*self.features, strata)]
        keys, place = distinct_keys(numbered, len(self.row_stratum))
        table = np.array(keys, dtype=np.intp).reshape(len(keys), len(numbered))
        object.__setattr__(self, "codes", table[:, :-1])
        object.__setattr__(self, "stratum", table[:, -1])
        object.__setattr__(self, "of_row", place.astype(np.intp))
        object.__setattr__(self, "people", self.sums(np.ones(len(place)))[:, 0])

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of values of each feature."""
        return tuple(len(column.levels) for column in self.features)

    def sums(self, *values: Floats) -> Floats:
        """Sums of rows within each cell, (cells, values), independent of the order of rows."""
        out = []
        for value in values:
            order = np.lexsort((value, self.of_row))
            weighted = value if self.counts is None else value * self.counts
            out.append(np.bincount(self.of_row[order], weighted[order], minlength=len(self.codes)))
        return np.stack(out, axis=1)

    def cross(self, features: tuple[int, ...], sums: Floats, stratum: Positions, n_strata: int) -> Floats:
        """Sums (cells, K) by the values of some features and stratum, (*sizes, strata, K)."""
        sizes = [*(self.sizes[f] for f in features), n_strata]
        entries = math.prod(sizes)
        if entries * sums.shape[1] > 4 * LARGEST_TABLE:
            raise _too_many(n_strata)
        code = np.ravel_multi_index((*(self.codes[:, f] for f in features), stratum), sizes)
        found = np.array([np.bincount(code, column, minlength=entries) for column in sums.T], dtype=float)
        return np.moveaxis(found.reshape(-1, *sizes), 0, -1)

    def with_context(self, features: tuple[int, ...], table: Floats) -> Floats:
        """Sums over everyone in the context of each entry of a cross table."""
        across = tuple(axis for axis, f in enumerate(features) if not self.contextual[f])
        return np.broadcast_to(table.sum(axis=across, keepdims=True), table.shape)


@dataclass(frozen=True, eq=False)
class Subgroups:
    """Subgroups, as entries of the cross tables of combinations of features.

    `combinations` holds indices of features; `combination` and `entry` give each subgroup's table, and its entry there.
    """

    cells: Cells
    combinations: tuple[tuple[int, ...], ...]
    combination: Positions
    entry: Positions

    def __len__(self) -> int:
        """Their number."""
        return len(self.entry)

    def take(self, rows: Positions) -> Self:
        """Some of them."""
        return replace(self, combination=self.combination[rows], entry=self.entry[rows])

    @cached_property
    def depth(self) -> Positions:
        """The number of features that describe each."""
        return np.array([len(features) for features in self.combinations], dtype=np.intp)[self.combination]

    @cached_property
    def contexts(self) -> dict[tuple[int, ...], Positions]:
        """Rows of subgroups by the features of their contexts; without any: compared with everyone."""
        of_combination = [tuple(sorted(f for f in own if self.cells.contextual[f])) for own in self.combinations]
        named = [of_combination[number] for number in self.combination.tolist()]
        return {key: np.array([own == key for own in named]).nonzero()[0] for key in sorted(set(named))}

    def terms(self, row: int) -> tuple[tuple[int, int], ...]:
        """The features of one subgroup, and the place of its value in each."""
        features = self.combinations[self.combination[row]]
        place = np.unravel_index(int(self.entry[row]), [self.cells.sizes[f] for f in features])
        return tuple((f, int(code)) for f, code in zip(features, place, strict=True))

    def description(self, row: int) -> tuple[tuple[str, Any], ...]:
        """The names of one subgroup's features with its values."""
        features = self.cells.features
        return tuple((features[f].name, features[f].levels[code]) for f, code in self.terms(row))

    def members(self, row: int) -> tuple[Booleans, Booleans]:
        """Masks of the cells in one subgroup, and in its context."""
        inside = context = np.ones(len(self.cells.codes), dtype=bool)
        for f, code in self.terms(row):
            inside = inside & (self.cells.codes[:, f] == code)
            if self.cells.contextual[f]:
                context = context & (self.cells.codes[:, f] == code)
        return inside, context

    def sides(
        self, sums: Floats, stratum: Positions | None = None, n_strata: int = 1
    ) -> Iterator[tuple[Positions, Floats, Floats]]:
        """Yield rows of subgroups, and sums over each and over the others of its context, arrays (rows, strata, K)."""
        cells = self.cells
        stratum = np.zeros(len(cells.codes), dtype=np.intp) if stratum is None else stratum
        everyone = added(sums, stratum, n_strata)
        for number in np.unique(self.combination).tolist():
            rows = np.flatnonzero(self.combination == number)
            features = self.combinations[number]
            contexts = tuple(f for f in features if cells.contextual[f])
            own = self._own(features, self.entry[rows], sums, stratum, n_strata)
            together = everyone
            if contexts:
                codes = np.unravel_index(self.entry[rows], [cells.sizes[f] for f in features])
                within = tuple(code for f, code in zip(features, codes, strict=True) if f in contexts)
                together = cells.cross(contexts, sums, stratum, n_strata)[within]
            yield rows, own, together - own

    def _own(
        self, features: tuple[int, ...], entries: Positions, sums: Floats, stratum: Positions, n_strata: int
    ) -> Floats:
        """Sums over some entries of a cross table, skipping others, which may be many more."""
        cells = self.cells
        if len(entries) * n_strata * sums.shape[1] > 4 * LARGEST_TABLE:
            raise _too_many(n_strata)
        sizes = [cells.sizes[f] for f in features]
        code = np.ravel_multi_index(tuple(cells.codes[:, f] for f in features), sizes)
        place = np.full(math.prod(sizes), -1, dtype=np.intp)
        place[entries] = np.arange(len(entries))
        row = place[code]
        there = np.flatnonzero(row >= 0)
        of = row[there] * n_strata + stratum[there]
        return added(sums[there], of, len(entries) * n_strata).reshape(len(entries), n_strata, -1)


def added(sums: Floats, place: Positions, n_places: int) -> Floats:
    """Add up sums of cells (cells, K) by place: an array (places, K)."""
    found = [np.bincount(place, column, minlength=n_places) for column in sums.T]
    return np.ascontiguousarray(np.array(found, dtype=float).T)


def _too_many(n_strata: int) -> ParameterError:
    return ParameterError(f"control_features: {n_strata:,} strata are too many for a scan; use fewer values")


@dataclass(frozen=True)
class NotSearched:
    """Subgroups of a combination of features that were not searched: how many, and why."""

    features: tuple[str, ...]
    subgroups: int
    reason: str


def all_subgroups(
    cells: Cells, max_depth: int, min_group_size: int, max_subgroups: int
) -> tuple[Subgroups, list[NotSearched]]:
    """List the subgroups of up to `max_depth` features for which both sides of the comparison have enough people."""
    kept: list[tuple[tuple[int, ...], Positions]] = []
    left_out: list[NotSearched] = []
    total = 0
    for features in _combinations(cells, max_depth):
        sizes = [cells.sizes[f] for f in features]
        names = tuple(cells.features[f].name for f in features)
        if total >= max_subgroups or math.prod(sizes) > LARGEST_TABLE:
            left_out.append(NotSearched(names, math.prod(sizes), f"beyond max_subgroups={max_subgroups:,}"))
            continue
        stratum = np.zeros(len(cells.codes), dtype=np.intp)
        table = cells.cross(features, cells.people[:, None], stratum, 1)
        own, together = table.reshape(-1), cells.with_context(features, table).reshape(-1)
        enough = np.flatnonzero((own >= min_group_size) & (together - own >= min_group_size))
        small = int((own > 0).sum()) - len(enough)
        if small:
            left_out.append(NotSearched(names, small, f"fewer than {min_group_size:,} people on one side"))
        if total + len(enough) > max_subgroups:
            left_out.append(NotSearched(names, len(enough), f"beyond max_subgroups={max_subgroups:,}"))
            total = max_subgroups
            continue
        kept.append((features, enough))
        total += len(enough)
    numbers = np.repeat(np.arange(len(kept)), [len(entries) for _, entries in kept])
    entries = np.concatenate([entries for _, entries in kept]) if kept else np.zeros(0, dtype=np.intp)
    return Subgroups(cells, tuple(features for features, _ in kept), numbers, entries), left_out


def _combinations(cells: Cells, max_depth: int) -> list[tuple[int, ...]]:
    """Combinations of features that differ within a context, independent of the columns' order."""
    places = range(len(cells.features))
    found = [c for depth in range(1, max_depth + 1) for c in combinations(places, depth)]
    told_apart = [c for c in found if not all(cells.contextual[f] for f in c)]
    named = [tuple(sorted(c, key=lambda f: cells.features[f].name)) for c in told_apart]

    def order(features: tuple[int, ...]) -> tuple[int, int, Sequence[str]]:
        sizes = math.prod(cells.sizes[f] for f in features)
        return len(features), sizes, [cells.features[f].name for f in features]

    return sorted(named, key=order)


def distinct_subgroups(subgroups: Subgroups, counted: Booleans, *, two_sided: bool) -> tuple[Positions, int]:
    """One subgroup per comparison: duplicates hold the same people, or the complement in the context."""
    n_cells = len(counted)
    largest = 1 << (52 - max(n_cells - 1, 1).bit_length())  # sums of this many are exact floats
    rng = np.random.default_rng(0)  # any different numbers will do
    keys = rng.integers(1, largest, size=(n_cells, 2)) * counted[:, None]
    sums = np.concatenate([keys.astype(float), subgroups.cells.people[:, None]], axis=1)
    own, rest = np.zeros((len(subgroups), 3)), np.zeros((len(subgroups), 3))
    for rows, first, second in subgroups.sides(sums):
        own[rows], rest[rows] = first[:, 0], second[:, 0]
    ends = [own[:, :2], rest[:, :2]]
    if two_sided:
        swapped = (own[:, 0] > rest[:, 0]) | ((own[:, 0] == rest[:, 0]) & (own[:, 1] > rest[:, 1]))
        ends = [np.where(swapped[:, None], *ends[::-1]), np.where(swapped[:, None], *ends)]
    alike = np.unique(np.concatenate(ends, axis=1), axis=0, return_inverse=True)[1].reshape(-1)
    order = np.lexsort((subgroups.entry, subgroups.combination, own[:, 2], subgroups.depth))
    rows = np.sort(order[np.unique(alike[order], return_index=True)[1]])
    return rows, len(subgroups) - len(rows)
