"""Permuted labels and bootstrap samples against enumerated distributions."""

from collections import Counter
from itertools import combinations, product
from math import comb

import numpy as np
import pytest
from scipy.stats import chisquare

from skfairtest.comparisons.sides import FEW_BLOCKS, Stratum, draw_bootstrap, draw_permutations
from skfairtest.metrics.errors import Robust
from skfairtest.metrics.functionals import Mean


class Recorder:
    """A metric that keeps the counts it is asked about; its value is their weighted sum."""

    error = "own"

    def __init__(self, weights, fast=False):
        self.weights, self.fast, self.seen = np.asarray(weights, dtype=float), fast, []

    def pair(self, first, second, *, shared=False, null=True, rng=None):
        self.seen.append((first.copy(), second.copy(), shared))
        a, b = first @ self.weights, second @ self.weights
        return a, a + 1, b, b + 2, np.full_like(a, float(shared))

    def split(self, members):
        if not self.fast:
            return None
        self.seen.append((members.copy(), 1 - members, "fast"))
        a, b = members @ self.weights, (1 - members) @ self.weights
        return a, a + 1, b, b + 2, np.zeros_like(a)

    @property
    def first(self):
        return np.concatenate([first for first, _, _ in self.seen]).astype(int)

    @property
    def second(self):
        return np.concatenate([second for _, second, _ in self.seen]).astype(int)


def drawn(size=20_000, seed=0, fast=False, **stratum):
    """The counts of both sides in many permutations."""
    counts = np.asarray(stratum.pop("counts"))
    recorder = Recorder(np.arange(counts.shape[1]), fast)
    stratum = {"block": np.zeros(counts.shape[1], dtype=int), **stratum}
    moments = Stratum(recorder, counts, **stratum).permuted(size, np.random.default_rng(seed))
    np.testing.assert_allclose(moments.first, recorder.first @ recorder.weights)
    np.testing.assert_allclose(moments.second, recorder.second @ recorder.weights)
    assert moments.first.shape == (size,)
    assert (recorder.first + recorder.second == counts.sum(axis=0)).all()
    return recorder.first


def enumerated(counts, block):
    """The first side's counts when labels are permuted within blocks of cells: every way to assign them."""
    counts, block = np.asarray(counts), np.asarray(block)
    laws = []
    for number in np.unique(block[block >= 0]):
        cells = np.flatnonzero(block == number)
        people = np.repeat(cells, counts[:, cells].sum(axis=0))
        ways = Counter()
        for chosen in combinations(range(len(people)), int(counts[0, cells].sum())):
            ways[tuple(np.bincount(people[list(chosen)], minlength=counts.shape[1]).tolist())] += 1
        laws.append(ways)
    fixed = np.where(block < 0, counts[0], 0)
    out = Counter()
    for parts in product(*(law.items() for law in laws)):
        table = fixed + sum(np.array(cells) for cells, _ in parts)
        out[tuple(table.tolist())] += int(np.prod([ways for _, ways in parts]))
    return out


def assert_law(found, law):
    """Compare drawn rows with a distribution given as numbers of equally likely ways."""
    seen = Counter(map(tuple, found.tolist()))
    assert set(seen) <= set(law)
    keys = sorted(law)
    total = sum(law.values())
    expected = np.array([law[key] / total * len(found) for key in keys])
    assert expected.min() >= 5
    if len(keys) > 1:
        assert chisquare([seen[key] for key in keys], expected).pvalue > 1e-3


TABLES = [
    ([[2, 1, 1], [1, 2, 1]], [0, 0, 0]),
    ([[1, 2], [3, 1]], [0, 0]),
    ([[2, 1, 1, 2], [1, 2, 1, 1]], [0, 0, 1, 1]),
    ([[2, 1, 1, 2], [1, 2, 1, 1]], [0, 0, -1, -1]),
    ([[2, 1, 3], [1, 2, 0]], [0, 0, 1]),  # a block that is all in one side
    ([[1, 0, 2], [2, 0, 1]], [0, 0, 0]),  # a cell that nobody is in
    ([[1, 2], [2, 1]], [0, 1]),  # each cell its own block: nothing moves
]


@pytest.mark.parametrize(("counts", "block"), TABLES)
def test_permuted_tables_have_the_law_of_permuted_labels(counts, block):
    assert_law(drawn(counts=counts, block=np.array(block)), enumerated(counts, block))


@pytest.mark.parametrize("fast", [False, True])
@pytest.mark.parametrize(("counts", "block"), TABLES)
def test_permuted_rows_have_the_law_of_permuted_labels(counts, block, fast):
    counts, block = np.array(counts), np.array(block)
    cell = np.concatenate([np.repeat(np.arange(counts.shape[1]), side) for side in counts])
    order = np.argsort(block[cell], kind="stable")
    first = np.repeat([1, 0], counts.sum(axis=1))[order]
    cell = cell[order]
    members = drawn(counts=np.stack([first, 1 - first]), block=block[cell], rows=True, fast=fast)
    found = np.stack([members[:, cell == c].sum(axis=1) for c in range(counts.shape[1])], axis=1)
    assert_law(found, enumerated(counts, block))


def test_every_set_of_rows_is_equally_likely():
    first = np.array([1, 0, 0, 1, 0, 0])
    members = drawn(counts=np.stack([first, 1 - first]), rows=True)
    assert_law(members, Counter(row for row in product([0, 1], repeat=6) if sum(row) == 2))


def test_rows_of_scattered_blocks_stay_in_them():
    block, first = np.array([0, 1, 0, -1, 1, 0, 1, -1]), np.array([1, 1, 0, 1, 0, 0, 0, 0])
    members = drawn(counts=np.stack([first, 1 - first]), block=block, rows=True)
    law = Counter()
    for a, b in product([0, 2, 5], [1, 4, 6]):
        row = np.where(block < 0, first, 0)
        row[[a, b]] = 1
        law[tuple(row.tolist())] += 1
    assert_law(members, law)


def test_many_blocks_are_permuted_as_few_are():
    # Blocks of 3, 4 and 2 people that are looked at, some who stay, and more blocks than are permuted one by one.
    sizes = [3, 4] + [2] * (FEW_BLOCKS + 1)
    block = np.concatenate([np.repeat(np.arange(len(sizes)), sizes), [-1, -1]])
    first = np.zeros(len(block), dtype=int)
    for number in range(len(sizes)):
        first[np.flatnonzero(block == number)[: 2 if number == 1 else 1]] = 1
    first[-1] = 1
    order = np.random.default_rng(3).permutation(len(block))
    block, first = block[order], first[order]
    members = drawn(counts=np.stack([first, 1 - first]), block=block, rows=True)
    for number, size in enumerate(sizes):
        assert (members[:, block == number].sum(axis=1) == first[block == number].sum()).all()
        np.testing.assert_allclose(
            members[:, block == number].mean(axis=0), (2 if number == 1 else 1) / size, atol=0.02
        )
    assert (members[:, block < 0] == first[block < 0]).all()
    looked_at = np.concatenate([np.flatnonzero(block == number) for number in (0, 1, 2)])
    ways = [
        [row for row in product([0, 1], repeat=size) if sum(row) == taken] for size, taken in [(3, 1), (4, 2), (2, 1)]
    ]
    assert_law(members[:, looked_at], Counter(sum(parts, ()) for parts in product(*ways)))


def test_whole_clusters_are_permuted():
    cluster = np.array([3, 0, 0, 1, 2, 2, 2, 3, 4])
    in_first = np.array([1, 0, 0, 0, 1])
    first = in_first[cluster]
    members = drawn(counts=np.stack([first, 1 - first]), rows=True, cluster=cluster)
    by_cluster = np.stack([members[:, np.flatnonzero(cluster == c)[0]] for c in range(5)], axis=1)
    assert (by_cluster[:, cluster] == members).all()
    assert_law(by_cluster, Counter(row for row in product([0, 1], repeat=5) if sum(row) == 2))


def test_clusters_that_reach_over_both_sides_have_random_signs():
    # Three pairs whose differences are 3, 1 and 1: eight ways to give them signs, two of them as far apart as the data.
    cluster, first = np.repeat(np.arange(3), 2), np.tile([1, 0], 3)
    z = np.array([5.0, 2.0, 8.0, 7.0, 1.0, 0.0])
    stratum = Stratum(
        Robust(Mean(z), None, cluster), np.stack([first, 1 - first]), np.zeros(6, dtype=int), True, cluster
    )
    assert not stratum.clusters_nested
    observed = stratum.observed()
    assert (observed.first, observed.second) == pytest.approx((14 / 3, 3))
    moments = draw_permutations([stratum], 4000, np.random.SeedSequence(0))
    differences = (moments.first - moments.second)[:, 0]
    expected = Counter(round(abs(3 * a + b + c) / 3, 6) for a, b, c in product([-1, 1], repeat=3))
    assert_law(np.abs(differences).round(6)[:, None], Counter({(size,): times for size, times in expected.items()}))


@pytest.mark.parametrize("overall", [False, True])
def test_the_data_are_shown_as_they_are(overall):
    recorder = Recorder([0, 1, 2])
    stratum = Stratum(recorder, np.array([[1, 2, 3], [4, 0, 1]]), np.zeros(3, dtype=int))
    assert stratum.observed(overall=overall) == ((8, 9, 10, 12, 1) if overall else (8, 9, 2, 4, 0))


def test_the_second_side_of_a_permutation_is_two_groups_alone():
    recorder = Recorder([0, 1])
    Stratum(recorder, np.array([[2, 2], [3, 3]]), np.zeros(2, dtype=int)).permuted(50, np.random.default_rng(0))
    assert (recorder.second.sum(axis=1) == 6).all()
    assert not any(shared for _, _, shared in recorder.seen)


def test_strata_are_drawn_from_one_seed():
    def strata():
        return [
            Stratum(Recorder([0.0, 1.0]), np.array(counts), np.zeros(2, dtype=int))
            for counts in ([[5, 5], [3, 9]], [[2, 8], [9, 1]])
        ]

    one, two = (draw_permutations(strata(), 300, np.random.SeedSequence(4)) for _ in range(2))
    assert one.first.shape == (300, 2)
    np.testing.assert_array_equal(one.first, two.first)
    other = draw_permutations(strata(), 300, np.random.SeedSequence(5))
    assert not np.array_equal(one.first, other.first)
    assert abs(np.corrcoef(one.first.T)[0, 1]) < 4 / np.sqrt(300)


# Few people on one side ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("smaller", [0, 1])
@pytest.mark.parametrize("n_blocks", [1, 2])
def test_all_pairs_of_a_side_of_few_people_are_equally_likely(smaller, n_blocks):
    values = np.array([3.0, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8])
    block = np.repeat(np.arange(n_blocks), 12 // n_blocks)
    few = np.zeros(12, dtype=int)
    few[[1, 7]] = 1
    stratum = Stratum(Mean(values), np.stack([few, 1 - few] if smaller == 0 else [1 - few, few]), block, rows=True)
    wanted = Counter()
    for pair in combinations(range(12), 2):
        if n_blocks == 1 or (pair[0] < 6) != (pair[1] < 6):
            inside, outside = values[list(pair)], np.delete(values, pair)
            sides = (inside, outside) if smaller == 0 else (outside, inside)
            wanted[tuple(round(v, 9) for s in sides for v in (s.mean(), s.var(ddof=1) / len(s)))] += 1
    size = 20_000
    moments = draw_permutations([stratum], size, np.random.SeedSequence(3))
    found = Counter(zip(*(array[:, 0].round(9).tolist() for array in moments[:4]), strict=True))
    assert set(found) == set(wanted)
    expected = size / sum(wanted.values())
    assert chisquare([found[key] for key in wanted], [expected * wanted[key] for key in wanted]).pvalue > 1e-3
    seen = stratum.observed()
    direct = [
        v for side in stratum.counts for v in (values[side > 0].mean(), values[side > 0].var(ddof=1) / side.sum())
    ]
    np.testing.assert_allclose(seen[:4], direct, rtol=1e-13)


def test_people_who_stay_are_never_drawn():
    few = np.zeros(30, dtype=int)
    few[:3] = 1
    block = np.where(np.arange(30) < 25, 0, -1)
    stratum = Stratum(Mean(np.arange(30.0)), np.stack([few, 1 - few]), block, rows=True)
    moments = draw_permutations([stratum], 500, np.random.SeedSequence(3))
    assert moments.first.max() <= (22 + 23 + 24) / 3


# Bootstrap ------------------------------------------------------------------------------------------------------------

SIZE = 20_000


def resampled(counts, sides, pairs, **more):
    recorder = Recorder(np.ones(np.shape(counts)[1]))
    sets = np.asarray(sides, dtype=bool)
    found = Stratum(recorder, np.asarray(counts), **more).bootstrapped(sets, pairs, SIZE, np.random.default_rng(0))
    assert [len(moments.first) for moments in found] == [SIZE] * len(pairs)
    return recorder


def test_people_of_a_cell_are_resampled_within_their_group():
    counts = np.array([[3, 5, 0, 2], [7, 1, 4, 0]])
    recorder = resampled(counts, [[1, 0], [0, 1]], [(0, 1, False)])
    for found, expected in [(recorder.first, counts[0]), (recorder.second, counts[1])]:
        n, p = expected.sum(), expected / expected.sum()
        assert (found.sum(axis=1) == n).all()
        assert found.mean(axis=0) == pytest.approx(expected, abs=0.06)
        assert np.cov(found.T) == pytest.approx(n * (np.diag(p) - np.outer(p, p)), abs=0.12)
    across = np.cov(recorder.first.T, recorder.second.T)[:4, 4:]
    assert np.abs(across).max() < 0.1


def test_a_side_is_the_sum_of_its_groups_in_the_same_sample():
    counts = np.array([[3, 5], [7, 1], [2, 2]])
    recorder = resampled(counts, [[1, 0, 0], [1, 1, 1], [0, 1, 1]], [(0, 1, True), (0, 2, False)])
    (own, everyone, shared), (again, rest, apart) = recorder.seen[:2]
    assert (shared, apart) == (True, False)
    np.testing.assert_array_equal(own, again)
    np.testing.assert_array_equal(everyone, own + rest)


def test_single_people_are_resampled_within_their_group():
    group = np.array([0, 1, 0, 0, 1, 0])
    counts = np.stack([group == 0, group == 1]).astype(int)
    recorder = resampled(counts, [[1, 0], [0, 1]], [(0, 1, False)], rows=True)
    assert (recorder.first[:, group == 1] == 0).all()
    assert (recorder.second[:, group == 0] == 0).all()
    drawn_first = recorder.first[:, group == 0]
    assert (drawn_first.sum(axis=1) == 4).all()
    expected = 4 * (np.eye(4) / 4 - np.full((4, 4), 1 / 16))
    assert np.cov(drawn_first.T) == pytest.approx(expected, abs=0.04)


def test_whole_clusters_are_resampled_within_their_group():
    cluster = np.array([0, 0, 1, 2, 2, 2, 3, 4])
    group = np.array([0, 0, 0, 0, 0, 0, 1, 1])
    counts = np.stack([group == 0, group == 1]).astype(int)
    recorder = resampled(counts, [[1, 0], [0, 1]], [(0, 1, False)], rows=True, cluster=cluster)
    by_cluster = recorder.first[:, [0, 2, 3]]
    np.testing.assert_array_equal(recorder.first[:, :6], by_cluster[:, [0, 0, 1, 2, 2, 2]])
    assert (by_cluster.sum(axis=1) == 3).all()
    expected = 3 * (np.eye(3) / 3 - np.full((3, 3), 1 / 9))
    assert np.cov(by_cluster.T) == pytest.approx(expected, abs=0.03)
    assert (recorder.second[:, 6:].sum(axis=1) == 2).all()


def test_clusters_of_several_groups_are_resampled_together():
    cluster, group = np.array([0, 0, 1, 1, 2, 2]), np.array([0, 1, 0, 1, 0, 1])
    counts = np.stack([group == 0, group == 1]).astype(int)
    recorder = resampled(counts, [[1, 0], [0, 1]], [(0, 1, False)], rows=True, cluster=cluster)
    np.testing.assert_array_equal(recorder.first[:, group == 0], recorder.second[:, group == 1])
    expected = 3 * (np.eye(3) / 3 - np.full((3, 3), 1 / 9))
    assert np.cov(recorder.first[:, group == 0].T) == pytest.approx(expected, abs=0.03)
    ways = Counter(tuple(np.bincount(draw, minlength=3).tolist()) for draw in product(range(3), repeat=3))
    assert sum(ways.values()) == 27
    assert ways[(1, 1, 1)] == 6
    assert_law(recorder.first[:, group == 0], ways)


def test_bootstrap_samples_of_several_strata_come_from_one_seed():
    def sides():
        return [Stratum(Recorder([0.0, 1.0]), np.array(counts)) for counts in ([[5, 5], [3, 9]], [[2, 8], [9, 1]])]

    one, two = (
        draw_bootstrap(sides(), np.eye(2, dtype=bool), [(0, 1, False)], 100, np.random.SeedSequence(4))
        for _ in range(2)
    )
    assert one[0].first.shape == (100, 2)
    np.testing.assert_array_equal(one[0].first, two[0].first)
    assert len({tuple(column) for column in one[0].first.T.tolist()}) == 2


def test_there_are_as_many_ways_as_combinations():
    # The enumeration that these tests rest on.
    law = enumerated([[2, 1, 1], [1, 2, 1]], [0, 0, 0])
    assert sum(law.values()) == comb(8, 4)
    assert law[(2, 1, 1)] == comb(3, 2) * comb(3, 1) * comb(2, 1)
