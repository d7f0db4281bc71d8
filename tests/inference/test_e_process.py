"""Evidence about a stream: valid by enumeration, equal to published e-variables and recursions, safe between them."""

import json
from itertools import chain, combinations, product
from math import comb
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skfairtest.inference.e_process import (
    ALWAYS,
    BETS,
    DIFFERENCES,
    EProcess,
    both_sides,
    e_holm,
    first_payoffs,
    limit,
    log_payoffs,
    log_payoffs_of_means,
    mixed,
    newton_stakes,
)

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


def test_where_the_same_bets_are_made_the_wealth_is_that_of_the_published_recursion():
    differences = (np.array(GOLDEN["first"]) - np.array(GOLDEN["second"]))[1:]  # it leaves out the first pair
    wealth = np.cumprod(1 + newton_stakes(differences) * differences)
    np.testing.assert_allclose(wealth, GOLDEN["wealth"][1:], rtol=1e-12)


@given(st.lists(st.floats(-20, 20), min_size=1, max_size=6))
@settings(deadline=None, max_examples=60)
def test_adjusted_e_values_are_those_of_closed_testing(log_e):
    e, places = np.exp(log_e), range(len(log_e))
    sets = list(chain.from_iterable(combinations(places, size) for size in range(1, len(e) + 1)))
    closed = [min(np.mean(e[list(chosen)]) for chosen in sets if place in chosen) for place in places]
    np.testing.assert_allclose(np.exp(e_holm(np.array(log_e))), closed, rtol=1e-9)


counted = st.lists(st.integers(0, 6), min_size=4, max_size=4).map(lambda n: np.array(n, dtype=float).reshape(2, 2))


@given(st.lists(counted, min_size=1, max_size=5), st.integers(0, len(DIFFERENCES) - 2), st.floats(0, 1))
@settings(deadline=None, max_examples=100)
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
    rng, process = np.random.default_rng(0), EProcess(0.0)
    assert limit(np.zeros((len(DIFFERENCES), ALWAYS)), 3.0) == -1.0
    assert (process.low, process.high) == (-1.0, 1.0)
    for _ in range(40):
        x = rng.binomial(50, [0.5, 0.3])
        process.update(BITS, np.stack([50 - x, x], axis=1).astype(float), np.log(40))
        assert process.low <= process.difference <= process.high
    assert 0 < process.low < 0.2 < process.high < 0.35


def test_what_waits_for_the_other_group_is_compared_with_it_later():
    whole, parts = EProcess(0.0), EProcess(0.0)
    counts = np.array([[30.0, 12.0], [5.0, 9.0]])
    assert whole.update(BITS, counts, 3.0)
    assert not parts.update(BITS, np.array([[10.0, 12.0], [0.0, 0.0]]), 3.0)
    assert not parts.update(BITS, np.array([[20.0, 0.0], [0.0, 0.0]]), 3.0)
    assert parts.n_waiting == (42, 0)
    assert parts.update(BITS, np.array([[0.0, 0.0], [5.0, 9.0]]), 3.0)
    assert parts.log_e == whole.log_e
    assert parts.n_waiting == (0, 0)


@pytest.mark.parametrize("method", ["blocks", "betting"])
def test_groups_that_are_swapped_have_the_same_evidence(method):
    rng = np.random.default_rng(1)
    one, two = EProcess(0.05, method), EProcess(0.05, method)
    for _ in range(10):
        x = rng.binomial(20, [0.6, 0.3])
        counts = np.stack([20 - x, x], axis=1).astype(float)
        one.update(BITS, counts, 3.0)
        two.update(BITS, counts[::-1], 3.0)
    assert one.log_e == two.log_e
    assert one.log_detector == two.log_detector
    assert (one.low, one.high) == (-two.high, -two.low)


def test_a_process_is_read_as_it_was_written():
    process = EProcess(0.1)
    process.update(np.array([0.0, 0.25]), np.array([[3.0, 1.0], [0.0, 0.0]]), 3.0)
    for _ in range(2):
        again = EProcess.from_plain(json.loads(json.dumps(process.to_plain())))
        assert again.to_plain() == process.to_plain()
        process.update(np.array([0.25, 1.0]), np.array([[0.0, 0.0], [2.0, 2.0]]), 3.0)
    with pytest.raises(ValueError, match="shape"):
        EProcess.from_plain({**process.to_plain(), "tested": [[0.0]]})


def test_the_detector_expects_at_most_as_much_as_there_were_batches():
    """Enumerated: two batches of one sample each, equal rates."""
    for p in (0.1, 0.5):
        total, counts = 0.0, tables(1, 1)
        chance = probabilities(counts, p, p)
        for (i, first), (j, second) in product(enumerate(counts), enumerate(counts)):
            process = EProcess(0.0)
            process.update(BITS, first, 3.0)
            process.update(BITS, second, 3.0)
            total += chance[i] * chance[j] * np.exp(process.log_detector)
        assert total <= 2 + 1e-12


def test_a_mixture_begins_with_1_and_keeps_the_share_of_its_best_bet():
    wealth = np.full((2, len(BETS)), -np.inf)
    wealth[1, 7] = 30.0
    assert 30 - np.log(12) < both_sides(wealth) < 30 - np.log(2)
    assert mixed(np.zeros(len(BETS))) == pytest.approx(0)
    assert mixed(np.zeros(ALWAYS)) == pytest.approx(0)
