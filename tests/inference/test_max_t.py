"""Step-down max-T: its definition by enumeration of small joint distributions, and of independent rates."""

from itertools import product
from math import comb, exp, log

import numpy as np
import pytest

from skfairtest.inference.conditional import conditional_score_log_p
from skfairtest.inference.multiplicity import max_t_p, max_t_quantile, product_log_p
from skfairtest.inference.rates import Pair, Scale, statistic


def test_one_comparison_has_its_monte_carlo_p_value():
    drawn = np.array([[-3.0], [1.0], [2.0], [0.5]])
    assert max_t_p(drawn, np.array([2.0]), "two-sided") == pytest.approx([3 / 5])
    assert max_t_p(drawn, np.array([2.0]), "greater") == pytest.approx([2 / 5])
    assert max_t_p(drawn, np.array([-2.0]), "less") == pytest.approx([2 / 5])


def step_down(drawn, observed):
    """Westfall and Young (1993), algorithm 4.1, for two-sided statistics: by hand."""
    order = sorted(range(len(observed)), key=lambda j: -abs(observed[j]))
    adjusted, largest = {}, 0.0
    for place, j in enumerate(order):
        left = order[place:]
        count = sum(max(abs(row[k]) for k in left) >= abs(observed[j]) for row in drawn)
        largest = max(largest, (1 + count) / (1 + len(drawn)))
        adjusted[j] = largest
    return [adjusted[j] for j in range(len(observed))]


def test_the_adjusted_p_values_follow_westfall_and_youngs_steps():
    rng = np.random.default_rng(0)
    for _ in range(20):
        drawn = rng.normal(size=(50, 4)).round(1)
        observed = rng.normal(size=4).round(1)
        assert max_t_p(drawn, observed, "two-sided") == pytest.approx(step_down(drawn, observed))


def test_an_undefined_draw_leaves_only_its_comparison_out_of_the_maximum():
    drawn = np.array([[np.nan, 5.0], [5.0, np.nan], [np.nan, np.nan], [0.0, 0.0]])
    # The third draw says nothing of either comparison, and is none.
    np.testing.assert_allclose(max_t_p(drawn, np.array([4.0, 1.0]), "two-sided"), [3 / 4, 3 / 4])


def test_infinite_statistics_tie_with_infinite_draws():
    drawn = np.array([[np.inf, 0.0], [1.0, 2.0], [0.0, 0.0]])
    np.testing.assert_allclose(max_t_p(drawn, np.array([np.inf, 1.5]), "two-sided"), [2 / 4, 2 / 4])


def test_the_critical_value_is_a_quantile_of_the_largest_statistic():
    drawn = np.array([[1.0, -2.0], [3.0, 0.0], [np.nan, -4.0], [0.5, 0.1]])
    # Largest absolute values: 2, 3, 4, .5.
    assert max_t_quantile(drawn, "two-sided", 0.75) == 3.0
    assert max_t_quantile(drawn, "two-sided", 0.95) == 4.0
    assert max_t_quantile(drawn, "greater", 1.0) == 3.0
    assert max_t_quantile(drawn, "less", 1.0) == 4.0


def score(x1, d1, x2, d2):
    pair = Pair(*(np.array([value]) for value in (x1, d1, x2, d2)))
    return float(statistic(pair, Scale(), "score")[0])


def law(x1, d1, x2, d2):
    """Scores and integer weights of every split of the events."""
    m = x1 + x2
    xs = range(max(0, m - d2), min(d1, m) + 1)
    return [(score(x, d1, m - x, d2), comb(d1, x) * comb(d2, m - x)) for x in xs]


PAIRS = [
    [(8, 10, 3, 12), (2, 9, 4, 7)],
    [(3, 6, 5, 10), (9, 11, 1, 8)],  # the first has equal rates
    [(0, 5, 0, 9), (4, 6, 1, 9)],  # the first has no event
    [(8, 10, 3, 12), (8, 10, 3, 12)],  # the same rate twice: an exact tie
    [(1, 4, 3, 5), (5, 6, 2, 7), (0, 3, 2, 4)],
]


@pytest.mark.parametrize("pairs", PAIRS)
def test_independent_rates_are_enumerated_together(pairs):
    statistics = np.array([score(*pair) for pair in pairs])
    adjusted = np.exp(product_log_p(pairs, statistics))
    order = np.argsort(-np.abs(statistics), kind="stable")
    largest = 0.0
    for place, index in enumerate(order):
        laws = [law(*pairs[j]) for j in order[place:]]
        tail = whole = 0
        for outcome in product(*laws):
            weight = 1
            for _, w in outcome:
                weight *= w
            whole += weight
            if max(abs(s) for s, _ in outcome) >= abs(statistics[index]) - 1e-9:
                tail += weight
        largest = max(largest, tail / whole)
        assert adjusted[index] == pytest.approx(largest, rel=1e-10)


def test_one_rate_has_its_score_p_value():
    pair = (8, 10, 3, 12)
    assert product_log_p([pair], np.array([score(*pair)])) == pytest.approx([conditional_score_log_p(*pair)])


def test_far_tails_keep_their_logarithm():
    pairs = [(1000, 1000, 0, 1000), (1000, 1000, 0, 1000)]
    adjusted = product_log_p(pairs, np.array([score(*pair) for pair in pairs]))
    single = conditional_score_log_p(*pairs[0])
    # 1 - (1 - P)**2 is 2 P; the second step leaves one rate, but never goes below the first.
    np.testing.assert_allclose(adjusted, single + log(2), rtol=1e-12)
    assert exp(single) == 0.0


def test_no_critical_value_is_known_where_no_resample_defines_a_statistic():
    drawn = np.full((3, 2), np.nan)
    assert max_t_quantile(drawn, "two-sided", 0.95) == np.inf
    assert max_t_p(drawn, np.array([3.0, 3.0])).tolist() == [1, 1]
