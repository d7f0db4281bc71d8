import json
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom, fisher_exact, hypergeom

from skfairtest.inference._tails import outside_tail
from skfairtest.inference.linear_form import Scale
from skfairtest.inference.power import comparison_power
from skfairtest.inference.power_designs import normal_power
from skfairtest.inference.rates import Pair, Question, answer
from skfairtest.inference.regions import is_rejected
from skfairtest.inference.unconditional import unconditional_log_p

GOLDEN = json.loads((Path(__file__).parent / "golden" / "power.json").read_text())
DESIGNS = [(3, 4), (7, 7), (5, 20), (12, 9)]


def conditional_p_values(d1, d2):
    """Fisher's two-sided p-values of every outcome, (d1 + 1, d2 + 1), by their definition."""
    x1, x2 = np.indices((d1 + 1, d2 + 1))
    probability = hypergeom.pmf(x1, d1 + d2, x1 + x2, d1)
    out = np.empty_like(probability)
    for total in range(d1 + d2 + 1):
        own = x1 + x2 == total
        less_probable = probability[own][:, None] <= probability[own] * (1 + 1e-7)
        out[own] = np.minimum((less_probable * probability[own][:, None]).sum(axis=0), 1.0)
    return out


def p_values_of_all_outcomes(d1, d2):
    """The logarithms of Boschloo's p-values, (d1 + 1, d2 + 1)."""
    x1, x2 = (each.ravel() for each in np.indices((d1 + 1, d2 + 1)))
    found = unconditional_log_p(x1, np.full(x1.size, d1), x2, np.full(x2.size, d2))
    return found.reshape(d1 + 1, d2 + 1)


METHODS = {"unconditional": "auto", "conditional": "permutation", "asymptotic": "asymptotic"}


def rejection_region(d1, d2, question, alpha):
    """Which of all outcomes are rejected, (d1 + 1, d2 + 1)."""
    return is_rejected(np.arange(d1 + 1)[:, None], d1, np.arange(d2 + 1), d2, question, alpha)


def rejected(d1, d2, alpha, reference, alternative="two-sided"):
    return rejection_region(d1, d2, Question(alternative=alternative, method=METHODS[reference]), alpha)


def probabilities_of(outcomes, rates):
    """The probabilities of outcomes where both rates are equal, for each rate."""
    first, second = (binom.pmf(np.arange(n), n - 1, rates[:, None]) for n in outcomes.shape)
    return ((first @ outcomes) * second).sum(axis=1)


def probability_of(outcomes, p1, p2):
    d1, d2 = (n - 1 for n in outcomes.shape)
    return binom.pmf(np.arange(d1 + 1), d1, p1) @ outcomes @ binom.pmf(np.arange(d2 + 1), d2, p2)


@pytest.mark.parametrize(("d1", "d2"), DESIGNS)
def test_conditional_p_values_of_all_outcomes_are_fishers(d1, d2):
    ours = conditional_p_values(d1, d2)
    for x1 in range(d1 + 1):
        for x2 in range(d2 + 1):
            theirs = fisher_exact([[x1, d1 - x1], [x2, d2 - x2]]).pvalue
            assert ours[x1, x2] == pytest.approx(theirs, abs=1e-12)


@pytest.mark.parametrize(("d1", "d2"), DESIGNS)
@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.2])
def test_unconditional_region_holds_the_outcomes_that_the_test_rejects(d1, d2, alpha):
    region = rejected(d1, d2, alpha, "unconditional")
    p = np.exp(p_values_of_all_outcomes(d1, d2))
    clear = abs(p - alpha) > 1e-4 * alpha  # the two certificates differ by less than this
    np.testing.assert_array_equal(region[clear], p[clear] <= alpha)


def test_certain_rates_hit_a_region_always_or_never():
    region = rejected(10, 10, 0.05, "conditional")
    assert probability_of(region, 0.0, 1.0) == 1.0
    assert probability_of(region, 0.0, 0.0) == 0.0


@pytest.mark.parametrize(("d1", "d2"), [*DESIGNS, (40, 30), (150, 20)])
@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.2])
def test_fishers_region_is_its_p_values_up_to_the_level(d1, d2, alpha):
    assert (rejected(d1, d2, alpha, "conditional") == (conditional_p_values(d1, d2) <= alpha * (1 + 1e-9))).all()


def test_outcomes_outside_a_tail_are_the_same_if_no_total_rejects_on_one_side():
    """The totals of rare events, in which only the largest number of group 1's events is rejected."""
    d1, d2 = 5, 300
    p, m = conditional_p_values(d1, d2), np.arange(2, 9)
    lower, upper, _ = outside_tail(d1, d2, m, np.log(0.05), "two-sided")
    for total, first, last in zip(m.tolist(), lower, upper, strict=True):
        kept = [x1 for x1 in range(min(d1, total) + 1) if p[x1, total - x1] > 0.05]
        assert (first, last) == (kept[0], kept[-1])
    assert (lower == 0).all()


@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.2])
def test_boschloos_region_is_the_largest_of_fishers_that_keeps_the_level(alpha):
    d1, d2 = 24, 15
    p = conditional_p_values(d1, d2)
    region = rejected(d1, d2, alpha, "unconditional")
    last, following = p[region].max(), p[~region].min()
    assert (region == (p <= last * (1 + 1e-9))).all()
    rates = np.linspace(0, 0.5, 2001)
    assert probabilities_of(region, rates).max() <= alpha
    assert probabilities_of(p <= following * (1 + 1e-9), rates).max() > alpha


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize(("d1", "d2", "method"), [(9, 6, "auto"), (4, 12, "auto"), (9, 6, "asymptotic")])
def test_a_region_holds_the_outcomes_that_the_test_rejects(alternative, d1, d2, method):
    alpha = 0.05
    question = Question(alternative=alternative, method=method)
    found = rejection_region(d1, d2, question, alpha)
    for x1, x2 in np.ndindex(found.shape):
        pair = Pair(*(np.array([v]) for v in (x1, d1, x2, d2)))
        p = np.exp(answer(pair, Scale(), question).log_p)
        if abs(p - alpha) > 1e-4 * alpha:
            assert found[x1, x2] == (p <= alpha)


@pytest.mark.parametrize(("alpha", "p1", "p2", "published"), GOLDEN["boschloo"]["rows"])
def test_power_of_the_one_sided_test_is_boschloos(alpha, p1, p2, published):
    for alternative, rates in (("greater", (p1, p2)), ("less", (p2, p1))):
        power, method = comparison_power(15, 15, *rates, Question(alternative=alternative), alpha)
        assert power == pytest.approx(published, abs=5e-5)
        assert method == "exact"


def test_published_figures_of_the_four_tests():
    for reference, published in (("unconditional", 0.7906), ("conditional", 0.7511), ("asymptotic", 0.7991)):
        power, _ = comparison_power(93, 93, 0.3, 0.5, Question(method=METHODS[reference]), 0.05)
        assert power == pytest.approx(published, abs=5e-5)
        assert probability_of(rejected(93, 93, 0.05, reference), 0.3, 0.5) == pytest.approx(power, abs=1e-12)
    assert normal_power(0.3, 93, 0.5, 93, Question(), 0.05) == pytest.approx(0.8000, abs=5e-5)


@pytest.mark.parametrize("method", ["auto", "permutation", "asymptotic"])
def test_the_approximation_of_large_designs_joins_the_enumeration(method):
    question = Question(method=method)
    enumerated, how = comparison_power(15_000, 15_000, 0.3, 0.315, question, 0.05)
    approximated, beyond = comparison_power(18_000, 18_000, 0.3, 0.3137, question, 0.05)
    assert (how, beyond) == ("exact", "normal")
    assert approximated == pytest.approx(enumerated, abs=0.006)


def test_power_of_rare_events_is_enumerated_however_many_people_there_are():
    # Without an event in one group of the same size, the score test needs 4 events in the other, and Fisher's 6.
    for method, least in (("asymptotic", 4), ("permutation", 6)):
        for n in (1_500, 50_000):
            power, how = comparison_power(n, n, 0.0, 3 / n, Question(method=method), 0.05)
            assert how == "exact"
            assert power == pytest.approx(binom.sf(least - 1, n, 3 / n), abs=1e-12)
    # By normal approximation it was .41: Boschloo's test needs 6 events too.
    assert comparison_power(1_500, 1_500, 0.0, 0.002, Question(), 0.05)[0] == pytest.approx(binom.sf(5, 1_500, 0.002))


@pytest.mark.parametrize("rates", [(0.001, 0.005), (0.45, 0.5), (0.0, 1.0), (0.999, 0.99)])
@pytest.mark.parametrize("alternative", ["two-sided", "less"])
@pytest.mark.parametrize("people", [(700, 900), (1_300, 40)])
def test_unlikely_outcomes_may_be_left_out_of_a_sum(rates, alternative, people):
    question = Question(alternative=alternative)
    whole = probability_of(rejection_region(*people, question, 0.05), *rates)
    assert comparison_power(*people, *rates, question, 0.05)[0] == pytest.approx(whole, abs=1e-12)


QUESTIONS = [
    Question("difference", "two-sided", (-0.05, 0.05)), Question("ratio", "two-sided", (0.8, 1.25)),
    Question("difference", "equivalence", (-0.4, 0.4)), Question("ratio", "greater", (0.7, 1.5)),
    Question("difference", "equivalence", (-np.inf, 0.2)), Question("difference", "less", (-0.1, 0.1), "asymptotic"),
]  # fmt: skip


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize(("d1", "d2"), [(9, 14), pytest.param(30, 25, marks=pytest.mark.slow)])
def test_a_region_with_a_margin_holds_the_outcomes_that_the_test_rejects(question, d1, d2):
    found = {alpha: rejection_region(d1, d2, question, alpha) for alpha in (0.01, 0.05, 0.1)}
    for x1, x2 in np.ndindex(d1 + 1, d2 + 1):
        p = np.exp(answer(Pair(*(np.array([v]) for v in (x1, d1, x2, d2))), Scale(), question).log_p)
        for alpha, region in found.items():
            if abs(p - alpha) > 4e-3 * alpha:  # both certificates together
                assert region[x1, x2] == (p <= alpha)


def test_power_against_a_margin_is_that_of_its_p_values():
    # By enumeration of the borders with the test's own p-values; with interpolated borders it was .86182.
    power, _ = comparison_power(60, 80, 0.7, 0.95, Question("difference", "two-sided", (-0.05, 0.05)), 0.05)
    assert power == pytest.approx(0.84828, abs=5e-4)


@pytest.mark.parametrize(
    ("disparity", "bounds"),
    [
        ("difference", (-0.2, np.inf)),
        ("difference", (-np.inf, 0.2)),
        ("ratio", (0.7, np.inf)),
        ("ratio", (-np.inf, 1.5)),
    ],
)
def test_a_margin_with_one_end_is_certified_at_most_as_often_as_the_level_says(disparity, bounds):
    # Every outcome, at every pair of rates on the edge: beyond it, the probability is smaller.
    d1, d2 = 14, 11
    question = Question(disparity, "equivalence", bounds)
    edge = max(bounds) if np.isinf(min(bounds)) else min(bounds)
    p2 = np.linspace(0, 1, 401)
    p1 = edge * p2 if disparity == "ratio" else p2 + edge
    p1, p2 = (rates[(p1 >= 0) & (p1 <= 1)] for rates in (p1, p2))
    first, second = (binom.pmf(np.arange(d + 1)[:, None], d, rates) for d, rates in ((d1, p1), (d2, p2)))
    for alpha in (0.01, 0.05, 0.1, 0.2):
        region = rejection_region(d1, d2, question, alpha)
        assert np.einsum("ik,ij,jk->k", first, region, second).max() <= alpha
    assert region.any()


@pytest.mark.slow
def test_equivalence_has_no_power_beyond_the_level_at_the_edge():
    question = Question("difference", "equivalence", (-0.15, 0.15))
    for p1, p2 in ((0.3, 0.45), (0.65, 0.5), (0.2, 0.35)):
        assert comparison_power(150, 130, p1, p2, question, 0.05)[0] <= 0.0501
