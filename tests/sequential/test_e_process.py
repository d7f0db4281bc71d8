"""Evidence about a stream: valid by enumeration, equal to published e-variables and recursions, safe between them."""

import json
from itertools import chain, combinations, product
from math import comb
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skfairtest.sequential.e_process import (
    ALWAYS,
    BETS,
    DIFFERENCES,
    EProcess,
    both_sides,
    e_holm,
    first_payoffs,
    limits,
    log_payoffs,
    log_payoffs_of_means,
    mixed,
)

ONE = np.array([0])
GOLDEN = json.loads((Path(__file__).parent / "golden" / "betting.json").read_text())
BITS = np.array([0.0, 1.0])


def tables(n_a, n_b):
    """Every outcome of two groups: counts of no event and event."""
    outcomes = [[[n_a - x, x], [n_b - y, y]] for x, y in product(range(n_a + 1), range(n_b + 1))]
    return np.array(outcomes, dtype=float)


def probabilities(counts, p_a, p_b):
    def binomial(n, x, p):
        return comb(int(n), int(x)) * p**x * (1 - p) ** (n - x)

    (a, b) = counts.sum(axis=-1)[0]
    return np.array([binomial(a, t[0, 1], p_a) * binomial(b, t[1, 1], p_b) for t in counts])


@pytest.mark.parametrize("pay", ["first block", "blocks", "betting"])
@pytest.mark.parametrize("sizes", [(1, 1), (1, 9), (6, 2), (5, 5)])
@pytest.mark.parametrize("difference", [-0.3, 0.0, 0.1, 0.8])
def test_no_bet_gains_on_average_where_the_null_hypothesis_is_true(pay, sizes, difference):
    counts = tables(*sizes)
    for centre in (0.02, 0.5, 0.93):
        if pay == "blocks":
            paid = log_payoffs(BITS, counts, centre, np.array([difference]))
        elif pay == "first block":
            paid = first_payoffs(BITS, counts, np.array([difference]))
        else:
            paid = log_payoffs_of_means(BITS, counts, np.array([difference]))
        assert np.isfinite(paid).all()  # no bet can lose everything
        grid = np.linspace(0, 1, 21)
        for p_a, p_b in product(grid, grid):
            if p_a - p_b <= difference + 1e-12:
                mean = (probabilities(counts, p_a, p_b)[:, None] * np.exp(paid[:, 0])).sum(axis=0)
                assert (mean <= 1 + 1e-12).all()


def test_no_bet_on_values_between_0_and_1_gains_on_average_either():
    values, n = np.array([0.0, 0.3, 1.0]), (2, 3)
    ways = [np.bincount(draw, minlength=3) for draw in product(range(3), repeat=n[0])]
    others = [np.bincount(draw, minlength=3) for draw in product(range(3), repeat=n[1])]
    counts = np.array(list(product(ways, others)), dtype=float)
    paid = np.exp(log_payoffs(values, counts, 0.4, np.array([0.0]))[:, 0])
    rng = np.random.default_rng(0)
    for _ in range(50):
        p, q = rng.dirichlet(np.ones(3), 2)
        shift = (p - q) @ values
        if shift > 0:  # the null hypothesis is that a's mean is at most b's
            p, q = q, p
        chance = np.array([np.prod(p**a) * np.prod(q**b) for a, b in counts])
        assert chance.sum() == pytest.approx(1)
        assert (chance @ paid <= 1 + 1e-12).all()


def test_bets_on_rates_are_the_e_variables_of_turner_ly_and_grunwald():
    """Equation 6: the product of p_theta_g(y) / p_theta_0(y), theta_0 the mixture of the block's composition."""
    counts, theta = np.array([[3.0, 4.0], [10.0, 2.0]]), np.array([0.45, 0.25])
    n = counts.sum(axis=1)
    theta_0 = n @ theta / n.sum()
    ratio = np.stack([(1 - theta) / (1 - theta_0), theta / theta_0], axis=1)
    published = (counts * np.log(ratio)).sum()
    stake = (theta[0] - theta_0) / (theta_0 * (1 - theta_0))  # on each sample of a, the smaller group
    ours = log_payoffs(BITS, counts, theta_0, np.array([0.0]), np.array([stake]))
    assert ours[0, 0] == pytest.approx(published, abs=1e-12)


def newton_stakes(differences):
    """The published stakes: online Newton steps, each on the differences before it (Chugg et al. 2023, algorithm 1)."""
    stakes, squares, stake = np.zeros(len(differences)), 1.0, 0.0
    for place, difference in enumerate(differences.tolist()):
        stakes[place] = stake
        slope = -difference / (1 + stake * difference)
        squares += slope**2
        stake = float(np.clip(stake - 2 / (2 - np.log(3)) * slope / squares, -0.5, 0.5))
    return stakes


def test_where_the_same_bets_are_made_the_wealth_is_that_of_the_published_recursion():
    differences = (np.array(GOLDEN["first"]) - np.array(GOLDEN["second"]))[1:]  # it leaves out the first pair
    wealth = np.cumprod(1 + newton_stakes(differences) * differences)
    np.testing.assert_allclose(wealth, GOLDEN["wealth"][1:], rtol=1e-12)


@given(st.lists(st.floats(-20, 20), min_size=1, max_size=6))
@settings(deadline=None)
def test_adjusted_e_values_are_those_of_closed_testing(log_e):
    """Holm's step-down is closed testing with Bonferroni's tests of all sets: the largest e-value over their size."""
    e, places = np.exp(log_e), range(len(log_e))
    sets = list(chain.from_iterable(combinations(places, size) for size in range(1, len(e) + 1)))
    closed = [min(max(e[list(some)]) / len(some) for some in sets if place in some) for place in places]
    np.testing.assert_allclose(np.exp(e_holm(np.array(log_e))), closed, rtol=1e-9)


counted = st.lists(st.integers(0, 6), min_size=4, max_size=4).map(lambda n: np.array(n, dtype=float).reshape(2, 2))


@given(st.lists(counted, min_size=1, max_size=5), st.integers(0, len(DIFFERENCES) - 2), st.floats(0, 1))
@settings(deadline=None)
def test_a_chord_between_two_differences_is_never_above_the_evidence_between_them(blocks, cell, share):
    """Bets between two differences are those whose centres lie between theirs."""
    ends = DIFFERENCES[cell : cell + 2]
    blocks = [counts for counts in blocks if counts.sum(axis=1).all()]
    chord, between = np.zeros(ALWAYS), np.zeros(ALWAYS)
    for counts in blocks:
        low, high = log_payoffs(BITS, counts, 0.37, ends, BETS[:ALWAYS])
        chord += (1 - share) * low + share * high
        n = counts.sum(axis=1)
        stake = BETS[:ALWAYS] * n.min()
        c_b = np.clip(0.37 - ends * n[0] / n.sum(), np.maximum(0, -ends), np.minimum(1, 1 - ends))
        c_b, c_a = (np.dot([1 - share, share], c) for c in (c_b, c_b + ends))
        for value, of_a, of_b in zip(BITS, *counts, strict=True):
            between += of_a * np.log1p(stake / n[0] * (value - c_a)) + of_b * np.log1p(-stake / n[1] * (value - c_b))
    assert (chord <= between + 1e-9).all()


def test_limits_begin_at_the_bounds_and_close_in_on_the_difference():
    rng, process = np.random.default_rng(0), EProcess.begun(1)
    assert limits(np.zeros((len(DIFFERENCES), ALWAYS)), 3.0) == -1.0
    assert (process.low, process.high) == (-1.0, 1.0)
    for _ in range(40):
        x = rng.binomial(50, [0.5, 0.3])
        process.update(ONE, BITS, np.stack([50 - x, x], axis=1).astype(float)[None, None])
        process.settle(ONE, np.log([40.0]))
        assert process.low <= process.difference <= process.high
    assert 0 < process.low < 0.2 < process.high < 0.35


def test_limits_of_all_differences_ruled_out_are_at_the_end():
    np.testing.assert_array_equal(limits(np.full((2, len(DIFFERENCES), ALWAYS), 9.0), np.array([3.0, 10.0])), [1, -1])


@pytest.mark.parametrize("method", ["blocks", "betting"])
def test_many_blocks_of_many_pairs_are_those_of_each_taken_alone(method):
    rng = np.random.default_rng(3)
    values, counts = rng.random((3, 7, 5)).round(1), rng.integers(1, 4, (3, 7, 2, 5)).astype(float)
    together = EProcess.begun(3, 0.05, method)
    together.update(np.arange(3), values, counts)
    for pair in range(3):
        alone = EProcess.begun(1, 0.05, method)
        for block in range(7):
            alone.update(ONE, values[pair, block], counts[pair : pair + 1, block : block + 1])
        for name in ("log_e", "difference", "followed", "n_blocks"):
            np.testing.assert_allclose(getattr(together, name)[pair], getattr(alone, name)[0], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("method", ["blocks", "betting"])
def test_groups_that_are_swapped_have_the_same_evidence(method):
    rng = np.random.default_rng(1)
    one, two = EProcess.begun(1, 0.05, method), EProcess.begun(1, 0.05, method)
    for _ in range(10):
        x = rng.binomial(20, [0.6, 0.3])
        counts = np.stack([20 - x, x], axis=1).astype(float)[None, None]
        one.update(ONE, BITS, counts)
        two.update(ONE, BITS, counts[:, :, ::-1])
    for process in (one, two):
        process.settle(ONE, np.array([3.0]))
    assert one.log_e == two.log_e
    assert (one.low, one.high) == (-two.high, -two.low)


def pairs_of_bits(n):
    """Every outcome of n blocks of one sample of each group: values (4^n, n, 2), one of a and one of b."""
    return np.array(list(product([0.0, 1.0], repeat=2 * n))).reshape(-1, n, 2)


def evidence_of(values):
    """Return the evidence about streams of such blocks, (n, 2)."""
    process = EProcess.begun(len(values))
    counts = np.broadcast_to(np.eye(2), (*values.shape[:2], 2, 2))
    process.update(np.arange(len(values)), values, counts)
    return process


@pytest.mark.parametrize("p", [0.3, 0.5, 0.8])
def test_who_sees_waiting_samples_does_not_change_what_is_ever_reached(p):
    """Enumerated: four blocks, and a look at all of a's samples, which wait, before b's come.

    Who looks stops where the process is expected to fall from now on. Its mean there is above 1: it is not an
    e-value at such a stop. Ville's inequality holds of its largest value.
    """
    values = pairs_of_bits(4)
    wealth = np.ones((len(values), 5))
    for n in range(1, 5):
        wealth[:, n] = np.exp(evidence_of(values[:, :n]).log_e)
    ones = values.sum(axis=(1, 2))
    chance = p**ones * (1 - p) ** (8 - ones)
    assert chance.sum() == pytest.approx(1)
    # Of who knows all of a's samples and b's up to now: the best that going on can bring, from the last block back.
    best = wealth[:, 4].copy()
    for n in range(3, -1, -1):
        known = np.unique(np.concatenate([values[:, :, 0], values[:, :n, 1]], axis=1), axis=0, return_inverse=True)[1]
        mean = np.bincount(known, chance * best) / np.bincount(known, chance)
        best = np.maximum(wealth[:, n], mean[known])
    assert chance @ best > 1.01
    most = np.maximum.accumulate(wealth, axis=1)
    for n in range(1, 5):
        for level in np.unique(most[:, n]):
            assert chance @ (most[:, n] >= level - 1e-12) <= 1 / level + 1e-9


def test_a_mixture_begins_with_1_and_keeps_the_share_of_its_best_bet():
    wealth = np.full((2, len(BETS)), -np.inf)
    wealth[1, 7] = 30.0
    assert 30 - np.log(12) < both_sides(wealth) < 30 - np.log(2)
    assert mixed(np.zeros(len(BETS))) == pytest.approx(0)
    assert mixed(np.zeros(ALWAYS)) == pytest.approx(0)
