"""Adjusted p-values against R's, statsmodels' and their own definitions."""

from itertools import combinations, product
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from skfairtest.inference.multiplicity import (
    ADJUSTMENTS,
    FAMILYWISE,
    Equality,
    are_tied,
    distinct,
    fdr_bh,
    holm,
    shaffer,
    true_numbers,
)
from skfairtest.inference.unconditional import unconditional_log_p

NAMED = {name: function for name, function in ADJUSTMENTS.items() if name}
# R: p <- c(0.01, 0.02, 0.03, 0.04, 0.05); p.adjust(p, "holm") and so on; by hand: 5 x .01, 4 x .02, 3 x .03, ...
P = np.array([0.01, 0.02, 0.03, 0.04, 0.05])
R = {
    "holm": [0.05, 0.08, 0.09, 0.09, 0.09],
    "bonferroni": [0.05, 0.10, 0.15, 0.20, 0.25],
    "fdr_bh": [0.05, 0.05, 0.05, 0.05, 0.05],
}
FAMILIES = st.lists(st.floats(1e-300, 1.0), min_size=1, max_size=12)
REPEATABLE = settings(max_examples=2 * settings.default.max_examples, deadline=None)


@pytest.mark.parametrize("name", NAMED)
def test_adjusted_p_values_are_those_that_r_prints(name):
    np.testing.assert_allclose(np.exp(NAMED[name](np.log(P))), R[name], rtol=1e-12)


@settings(REPEATABLE, max_examples=settings.default.max_examples)
@given(FAMILIES, st.sampled_from(list(NAMED)))
def test_adjusted_p_values_equal_statsmodels(p, name):
    expected = multipletests(p, method=name)[1]
    np.testing.assert_allclose(np.exp(NAMED[name](np.log(p))), expected, rtol=1e-10)


@pytest.mark.parametrize("name", ADJUSTMENTS)
def test_one_question_needs_no_adjustment(name):
    np.testing.assert_allclose(ADJUSTMENTS[name](np.array([-3.0])), [-3.0], atol=1e-14)


@pytest.mark.parametrize("name", ADJUSTMENTS)
def test_no_question_has_no_answer(name):
    assert ADJUSTMENTS[name](np.array([])).shape == (0,)


def test_p_values_below_the_smallest_float_are_adjusted_on_their_logarithms():
    log_p = np.array([-5000.0, -4000.0, -1.0])
    np.testing.assert_allclose(holm(log_p), [-5000 + np.log(3), -4000 + np.log(2), -1], rtol=1e-15)
    np.testing.assert_allclose(fdr_bh(log_p), [-5000 + np.log(3), -4000 + np.log(1.5), -1], rtol=1e-15)


def test_equal_p_values_stay_equal():
    log_p = np.log([0.03, 0.01, 0.03, 0.01])
    for function in NAMED.values():
        adjusted = function(log_p)
        assert adjusted[0] == adjusted[2]
        assert adjusted[1] == adjusted[3]


def test_without_adjustment_nothing_changes_and_the_input_is_not_shared():
    log_p = np.array([-1.0, -2.0])
    out = ADJUSTMENTS[None](log_p)
    out[0] = 5.0
    assert log_p[0] == -1.0


def test_false_discovery_rules_are_not_familywise():
    assert {"holm", "shaffer", "discrete_holm", "bonferroni"} == FAMILYWISE


# Hypotheses that are the same, or follow from others --------------------------------------------------------------


def pairs_of(groups, of="rate"):
    return [Equality(of, frozenset(pair)) for pair in combinations(range(groups), 2)]


def partitions(groups):
    """All ways in which groups can be equal: a number for each group, equal for equal ones."""
    return [
        p
        for p in product(range(groups), repeat=groups)
        if all(p[i] <= max(p[:i], default=-1) + 1 for i in range(groups))
    ]


def factors_of(hypotheses, order):
    """Factors of the p-values in an order in which hypotheses are rejected: what multiplies tiny, nearly equal ones."""
    log_p = np.empty(len(order))
    log_p[list(order)] = -1000 + 1e-9 * np.arange(len(order))
    # One at a time is made so much larger than those before it that its own factor is the largest product.
    found = []
    for place in range(len(order)):
        own = log_p.copy()
        own[list(order[place:])] += 100
        found.append(float(np.exp(shaffer(own, hypotheses)[order[place]] - own[order[place]])))
    return np.round(found).astype(int).tolist()


@pytest.mark.parametrize(
    ("groups", "factors"),
    [
        # Shaffer 1986, table 1; Holland and Copenhaver 1987.
        (2, [1]),
        (3, [3, 1, 1]),
        (4, [6, 3, 3, 3, 2, 1]),
        (5, [10, 6, 6, 6, 6, 4, 4, 3, 2, 1]),
        (6, [15, 10, 10, 10, 10, 10, 7, 7, 7, 6, 4, 4, 3, 2, 1]),
    ],
)
def test_all_pairs_have_the_published_factors_in_whatever_order_they_are_rejected(groups, factors):
    hypotheses = pairs_of(groups)
    rng = np.random.default_rng(groups)
    for _ in range(3):
        assert factors_of(hypotheses, rng.permutation(len(hypotheses)).tolist()) == factors
    assert are_tied(hypotheses) == (groups > 2)


@pytest.mark.parametrize("groups", [*range(1, 7), pytest.param(7, marks=pytest.mark.slow)])
def test_numbers_of_true_hypotheses_are_those_of_all_partitions(groups):
    expected = {sum(a == b for a, b in combinations(p, 2)) for p in partitions(groups)}
    assert true_numbers(groups).tolist() == sorted(expected)


def test_numbers_of_many_groups_are_found_at_once():
    assert true_numbers(440).max() == 440 * 439 // 2
    assert len(shaffer(np.full(435, -9.0), pairs_of(30))) == 435


def test_before_the_first_true_hypothesis_is_rejected_the_factor_is_at_least_their_number():
    """What makes the step-down valid, for every partition of five groups, any pairs of them, and two rates together."""
    rng = np.random.default_rng(5)
    everything = pairs_of(5, "one") + pairs_of(5, "other") + [None, None]
    states = partitions(5)
    for _ in range(300):
        chosen = [h for h in everything if rng.random() < rng.choice([0.5, 1.0])] or [None]
        state = {of: states[rng.integers(len(states))] for of in ("one", "other")}

        def is_true(hypothesis):
            if hypothesis is None:
                return bool(rng.random() < 0.5)
            a, b = hypothesis.sides
            return state[hypothesis.of][a] == state[hypothesis.of][b]  # noqa: B023  # called at once

        truths = [is_true(h) for h in chosen]
        order = [*rng.permutation(np.flatnonzero(~np.array(truths))), *np.flatnonzero(truths)]
        factors = factors_of(chosen, [int(place) for place in order])
        first_true = len(truths) - sum(truths)
        assert all(factor >= sum(truths) for factor in factors[: first_true + 1])
        assert all(factor <= len(chosen) - place for place, factor in enumerate(factors))


@REPEATABLE
@given(st.lists(st.floats(1e-300, 1.0), min_size=6, max_size=6), st.randoms(use_true_random=False))
def test_tied_hypotheses_are_adjusted_by_no_more_than_holms_factors(p, random):
    log_p, hypotheses = np.log(p), pairs_of(4)
    adjusted = shaffer(log_p, hypotheses)
    assert (adjusted <= holm(log_p) + 1e-12).all()
    assert (adjusted >= log_p - 1e-12).all()
    assert adjusted.min() == pytest.approx(holm(log_p).min())
    order = list(range(6))
    random.shuffle(order)
    np.testing.assert_allclose(adjusted[order], shaffer(log_p[order], [hypotheses[i] for i in order]), atol=1e-12)


@pytest.mark.parametrize(
    "hypotheses",
    [
        [None] * 5,
        [Equality("rate", frozenset({group, f"not {group}"})) for group in "abcde"],  # against the rest
        [Equality("rate", frozenset({group, "reference"})) for group in "abcde"],
        [Equality(of, frozenset({0, 1})) for of in "abcde"],  # two groups, several rates
    ],
)
def test_hypotheses_that_do_not_follow_from_others_are_adjusted_by_holm(hypotheses):
    log_p = np.log([0.01, 0.2, 0.003, 0.04, 0.05])
    assert not are_tied(hypotheses)
    np.testing.assert_array_equal(shaffer(log_p, hypotheses), holm(log_p))


def test_a_hypothesis_is_the_same_whichever_side_comes_first():
    a, b = Equality("rate", frozenset({1, 2})), Equality("rate", frozenset({2, 1}))
    other = Equality("rate", frozenset({1, 3}))
    assert distinct([a, None, other, b, None]) == [[0, 3], [1], [2], [4]]


@pytest.mark.slow
def test_familywise_error_among_four_groups_is_at_most_the_level_whichever_are_equal():
    """Enumerated: every outcome of four groups, every partition of them, several rates."""
    people, pairs = (6, 8, 10, 12), list(combinations(range(4), 2))
    hypotheses, alpha = pairs_of(4), 0.05
    log_p = {
        (a, b): np.array(
            [
                [unconditional_log_p(x, people[a], y, people[b]) for y in range(people[b] + 1)]
                for x in range(people[a] + 1)
            ]
        )
        for a, b in pairs
    }
    outcomes = np.array(list(product(*(range(n + 1) for n in people))))
    family = np.stack([log_p[a, b][outcomes[:, a], outcomes[:, b]] for a, b in pairs], axis=1)
    interesting = family.min(axis=1) <= np.log(alpha / 6) + 1e-12
    found = {"shaffer": np.zeros(family.shape, dtype=bool), "holm": np.zeros(family.shape, dtype=bool)}
    for place in np.flatnonzero(interesting):
        found["shaffer"][place] = shaffer(family[place], hypotheses) <= np.log(alpha) + 1e-12
        found["holm"][place] = holm(family[place]) <= np.log(alpha) + 1e-12
    chances = {(n, p): np.array([comb(n, x) * p**x * (1 - p) ** (n - x) for x in range(n + 1)])
               for n in people for p in (0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.98)}  # fmt: skip
    levels = ((0.1, 0.9, 0.5, 0.3), (0.5, 0.02, 0.98, 0.7), (0.3, 0.9, 0.02, 0.98), (0.9, 0.1, 0.3, 0.5))
    largest, gained = 0.0, 0.0
    for partition, rates in product(partitions(4), levels):
        weight = np.ones(len(outcomes))
        for group, (n, part) in enumerate(zip(people, partition, strict=True)):
            weight *= chances[n, rates[part]][outcomes[:, group]]
        assert weight.sum() == pytest.approx(1)
        true = np.array([partition[a] == partition[b] for a, b in pairs])
        error = {method: float(weight @ hits[:, true].any(axis=1)) for method, hits in found.items()}
        power = {method: float(weight @ hits[:, ~true].sum(axis=1)) for method, hits in found.items()}
        assert error["holm"] <= error["shaffer"] <= alpha, (partition, rates)
        assert power["shaffer"] >= power["holm"]
        largest, gained = max(largest, error["shaffer"]), max(gained, power["shaffer"] - power["holm"])
    assert largest > 0.005  # the tests are not idle
    assert gained > 0.05
