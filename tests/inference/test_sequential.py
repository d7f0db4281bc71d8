"""Resamples until the answer is known: p-values that are valid whenever drawing stops."""

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest

from skfairtest.inference import resampling as sequential
from skfairtest.inference.resampling import EXTREME_ENOUGH, looks, sequential_p, stopped_p


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("observed", [0.0, 1.0, -1.5, 2.0])
def test_a_sequential_p_value_counts_until_enough_are_extreme(alternative, observed):
    statistics = np.random.default_rng(5).normal(size=2000).round(1)
    extreme = used = 0
    while extreme < EXTREME_ENOUGH:
        value = statistics[used]
        extreme += {
            "two-sided": abs(value) >= abs(observed),
            "greater": value >= observed,
            "less": value <= observed,
        }[alternative]
        used += 1
    assert sequential_p(statistics, observed, alternative) == (EXTREME_ENOUGH / used, EXTREME_ENOUGH, used)
    assert sequential_p(statistics[: used - 1], observed, alternative) is None


def test_a_sequential_p_value_is_valid():
    # Ranks of the data among exchangeable draws: P(p <= alpha) <= alpha at every alpha.
    rng = np.random.default_rng(6)
    found = []
    for _ in range(3000):
        statistics = rng.normal(size=401)
        result = sequential_p(statistics[1:], statistics[0], "greater")
        found.append(result[0] if result else (1 + (statistics[1:] >= statistics[0]).sum()) / 401)
    for alpha in (0.01, 0.05, 0.2, 0.5):
        assert np.mean(np.array(found) <= alpha) <= alpha + 3.5 * np.sqrt(alpha * (1 - alpha) / 3000)
    assert abs(np.mean(np.array(found) <= 0.2) - 0.2) < 0.03


def test_undefined_draws_are_passed_over():
    statistics = np.random.default_rng(2).normal(0, 3, 999)
    with_gaps = np.insert(statistics, np.arange(0, 900, 3), np.nan)
    for n_decisive in (None, 20):
        found = sequential_p(with_gaps, 2.0, "two-sided", n_decisive)
        assert found == sequential_p(statistics, 2.0, "two-sided", n_decisive)
    gaps_first = np.r_[np.full(50, np.nan), np.zeros(10)]
    assert sequential_p(gaps_first, 1.0, "greater", 10) == (1 / 11, 0, 10)
    assert sequential_p(gaps_first, 1.0, "greater", 11) is None


def outcome(draws, observed, n_decisive):
    """The p-value of all draws, wherever drawing stops."""
    found = sequential_p(draws, observed, "greater", n_decisive)
    if found is not None:
        return found[0], found[2]
    return stopped_p(int((draws >= observed).sum()), len(draws), n_decisive), len(draws)


@pytest.mark.parametrize("enough", [1, 2, 3])
@pytest.mark.parametrize("n_decisive", [None, 1, 2, 3, 5, 6, 7])
def test_p_values_with_both_stops_are_valid_in_every_order(monkeypatch, enough, n_decisive):
    """All 7! orders of the data and six resamples: P(p <= t) <= t, and = t at every p but those that share one."""
    monkeypatch.setattr(sequential, "EXTREME_ENOUGH", enough)
    found = [outcome(np.array(ranks[1:]), ranks[0], n_decisive)[0] for ranks in permutations(range(7))]
    values, counts = np.unique(np.round(found, 12), return_counts=True)
    share = np.cumsum(counts) / len(found)
    assert (share <= values + 1e-12).all()
    np.testing.assert_allclose(share, values, atol=1e-12)


def test_none_extreme_at_the_first_stop_is_the_strongest_evidence():
    nothing = np.zeros(100)
    assert sequential_p(nothing, 1.0, "greater", 50) == (1 / 51, 0, 50)
    assert sequential_p(nothing[:49], 1.0, "greater", 50) is None
    once = np.r_[1.0, np.zeros(99)]
    assert sequential_p(once, 1.0, "greater", 50) is None
    assert stopped_p(1, 100, 50) > 1 / 51


def test_the_price_of_the_first_stop_is_at_most_half_a_resample():
    # In fractions: of j extreme ones among 2 n, all are in the later half with n (n - 1) ... / 2 n (2 n - 1) ...
    n = 500
    for extreme in range(1, 20):
        share, later = Fraction(0), Fraction(1)
        for j in range(extreme + 1):
            share += later / (2 * n + 1)
            later *= Fraction(n - j, 2 * n - j)
        wanted = Fraction(1 + extreme, 2 * n + 1) + Fraction(1, n + 1) - share
        assert stopped_p(extreme, 2 * n, n) == pytest.approx(float(wanted), rel=1e-12)
        assert 0 < stopped_p(extreme, 2 * n, n) - (1 + extreme) / (2 * n + 1) <= 0.5 / (2 * n + 1)


@pytest.mark.parametrize("n", [1, 3, 24, 25, 199, 200, 201, 9999])
@pytest.mark.parametrize("adaptive", [False, True])
@pytest.mark.parametrize("n_decisive", [None, 1, 60, 5000])
def test_looks_add_up_and_come_at_the_first_stop(n, adaptive, n_decisive):
    sizes = looks(n, adaptive=adaptive, n_decisive=n_decisive)
    assert sum(map(sum, sizes)) == n
    assert min(map(min, sizes)) > 0
    if adaptive and n_decisive is not None and n_decisive <= n:
        assert n_decisive in np.cumsum([sum(look) for look in sizes])
    assert adaptive or len(sizes) == 1
