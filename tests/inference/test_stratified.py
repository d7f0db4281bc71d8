"""The exact Mantel-Haenszel test: sums of hypergeometrics, against enumeration in integers and published p-values."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import chain, combinations_with_replacement, product
from math import comb, exp, factorial, log, prod

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from scipy.special import ndtr
from scipy.stats import binom, norm

from skfairtest.comparisons.rates import scale_of
from skfairtest.inference import conditional, linear_form, rates
from skfairtest.inference.conditional import (
    Strata,
    conditional_log_p,
    stratified_log_p,
)
from skfairtest.inference.odds_ratio import score_statistic
from skfairtest.inference.score import studentize
from skfairtest.metrics import resolve_metrics

ALTERNATIVES = ("two-sided", "greater", "less")

# R, datasets::UCBAdmissions; Bickel, Hammel and O'Connell, Science 187 (1975). Departments A to F.
BERKELEY = {
    "x1": (512, 353, 120, 138, 53, 22),  # men admitted
    "d1": (825, 560, 325, 417, 191, 373),
    "x2": (89, 17, 202, 131, 94, 24),  # women admitted
    "d2": (108, 25, 593, 375, 393, 341),
}
# R, ?mantelhaen.test; Agresti (1990), pages 231-237: rabbits cured by penicillin at once and after 1.5 hours, five
# doses.
RABBITS = {
    "x1": (0, 3, 6, 5, 2),
    "d1": (6, 6, 6, 6, 2),
    "x2": (0, 0, 2, 6, 5),
    "d2": (5, 6, 6, 6, 5),
}


def log_of(value):
    """Natural logarithm of a Fraction of any size."""
    shift = value.denominator.bit_length() - value.numerator.bit_length() + 80
    return log((value.numerator << shift) // value.denominator) - shift * log(2)


def log_p(x1, d1, x2, d2, alternative="two-sided"):
    return stratified_log_p(*(np.asarray(a, dtype=np.int64) for a in (x1, d1, x2, d2)), alternative)


def stratum_weights(x1, d1, x2, d2):
    m = x1 + x2
    return {x: comb(d1, x) * comb(d2, m - x) for x in range(max(0, m - d2), min(d1, m) + 1)}


def sum_weights(x1, d1, x2, d2):
    """Integer weights of every sum of the x1, multiplied out stratum by stratum."""
    weights = {0: 1}
    for stratum in zip(x1, d1, x2, d2, strict=True):
        longer = {}
        for x, w in stratum_weights(*stratum).items():
            for total, v in weights.items():
                longer[total + x] = longer.get(total + x, 0) + v * w
        weights = longer
    return weights


def exact_p(weights, observed, alternative):
    chosen = {
        # R's mantelhaen.test(exact = TRUE) has this relative tolerance.
        "two-sided": lambda s, w: w * 10**7 <= weights[observed] * (10**7 + 1),
        "greater": lambda s, w: s >= observed,
        "less": lambda s, w: s <= observed,
    }[alternative]
    return Fraction(sum(w for s, w in weights.items() if chosen(s, w)), sum(weights.values()))


@st.composite
def strata(draw, most=4, largest=8):
    table = {"x1": [], "d1": [], "x2": [], "d2": []}
    for _ in range(draw(st.integers(1, most))):
        d1, d2 = draw(st.integers(0, largest)), draw(st.integers(0, largest))
        assume(d1 + d2 > 0)
        values = (draw(st.integers(0, d1)), d1, draw(st.integers(0, d2)), d2)
        for name, value in zip(table, values, strict=True):
            table[name].append(value)
    return table


@settings(max_examples=2 * settings.default.max_examples, deadline=None)
@given(st.data(), st.sampled_from(ALTERNATIVES))
def test_one_stratum_is_fishers_test(data, alternative):
    d1, d2 = data.draw(st.integers(1, 60)), data.draw(st.integers(1, 60))
    x1, x2 = data.draw(st.integers(0, d1)), data.draw(st.integers(0, d2))
    assert log_p([x1], [d1], [x2], [d2], alternative) == pytest.approx(
        conditional_log_p(x1, d1, x2, d2, alternative), rel=1e-10, abs=1e-12
    )


@settings(max_examples=2 * settings.default.max_examples, deadline=None)
@given(strata(), st.sampled_from(ALTERNATIVES))
@example({"x1": [1, 1], "d1": [1, 1], "x2": [0, 0], "d2": [1, 1]}, "two-sided")  # matched pairs
@example({"x1": [0, 3], "d1": [0, 3], "x2": [2, 0], "d2": [4, 3]}, "greater")  # an empty group
@example({"x1": [0, 0], "d1": [3, 2], "x2": [0, 0], "d2": [4, 3]}, "less")  # no event anywhere
def test_several_strata_are_the_enumeration_of_all_their_outcomes(table, alternative):
    columns = list(zip(*table.values(), strict=True))
    weights = {}
    for outcome in product(*(stratum_weights(*stratum).items() for stratum in columns)):
        total = sum(x for x, _ in outcome)
        weight = 1
        for _, w in outcome:
            weight *= w
        weights[total] = weights.get(total, 0) + weight
    expected = exact_p(weights, sum(table["x1"]), alternative)
    assert exp(log_p(**table, alternative=alternative)) == pytest.approx(float(expected), rel=1e-11)


def test_the_penicillin_rabbits_have_the_p_values_that_r_prints():
    # R: mantelhaen.test(Rabbits, exact = TRUE): 0.0399449; alternative = "greater": 0.020 (?mantelhaen.test).
    assert exp(log_p(**RABBITS)) == pytest.approx(0.0399449, abs=5e-8)
    assert exp(log_p(**RABBITS, alternative="greater")) == pytest.approx(0.020, abs=5e-4)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_berkeley_admissions_equal_the_convolution_in_integers(alternative):
    weights = sum_weights(**BERKELEY)
    expected = exact_p(weights, sum(BERKELEY["x1"]), alternative)
    assert exp(log_p(**BERKELEY, alternative=alternative)) == pytest.approx(float(expected), rel=1e-10)
    # R: mantelhaen.test(UCBAdmissions) prints 0.2323 with a continuity correction, the normal approximation of
    # it.
    if alternative == "two-sided":
        assert float(expected) == pytest.approx(0.2323, abs=0.02)


def test_only_idle_strata_are_no_evidence():
    for alternative in ALTERNATIVES:
        assert log_p([0, 5], [7, 5], [0, 3], [5, 3], alternative) == 0.0


# Complete or nearly complete separation in three strata of about 900 people: more than 30 standard deviations.
FAR = [
    ((390, 395, 198), (400, 400, 200), (10, 7, 3), (300, 500, 100)),
    ((400, 400, 200), (400, 400, 200), (0, 0, 0), (300, 500, 100)),  # the end of the support
    ((399, 400, 200), (400, 400, 200), (0, 1, 0), (300, 500, 100)),  # one step from it
    ((590, 599), (600, 600), (20, 3), (600, 620)),
]


@pytest.mark.parametrize("table", [FAR[0], *(pytest.param(table, marks=pytest.mark.slow) for table in FAR[1:])])
def test_far_tails_equal_exact_integers(table):
    x1, d1, x2, d2 = table
    weights = sum_weights(x1, d1, x2, d2)
    upper = log_of(exact_p(weights, sum(x1), "greater"))
    assert upper / log(10) < -300
    assert log_p(*table, "greater") == pytest.approx(upper, rel=1e-10)
    assert log_p(*table, "less") == pytest.approx(0.0, abs=1e-12)
    # That far out the two-sided p-value is twice the one-sided one: a bound of the exact two-sided p-value.
    both = log_of(exact_p(weights, sum(x1), "two-sided"))
    assert both - 1e-9 <= log_p(*table) <= upper + log(2) + 1e-9


@pytest.mark.parametrize("table", FAR)
def test_far_tails_are_the_same_below(table):
    x1, d1, x2, d2 = table
    assert log_p(x2, d2, x1, d1, "less") == pytest.approx(log_p(*table, "greater"), rel=1e-10)
    assert log_p(x2, d2, x1, d1) == pytest.approx(log_p(*table), rel=1e-10)


@pytest.mark.parametrize("x1", [12, 25, 30, 40, 50, 60])
def test_a_tail_just_too_small_for_a_float_has_a_logarithm(x1):
    # 900 expected, far fewer seen: the tail is about 1e-380 to 1e-300 only 29 to 31 standard deviations out.
    table = (x1, 30_000, 30_000 - x1, 970_000)
    expected = conditional_log_p(*table, "less")
    assert log_p(*([value] for value in table), "less") == pytest.approx(expected, rel=1e-9)


def test_the_two_ways_to_sum_meet_at_thirty_deviations():
    # 750 expected, standard deviation 13.7: 1150 to 1175 are 29.2 to 31 of them away.
    d1 = d2 = 1500
    for x1 in range(1150, 1176, 5):
        x2 = 1500 - x1
        assert log_p([x1], [d1], [x2], [d2], "greater") == pytest.approx(
            conditional_log_p(x1, d1, x2, d2, "greater"), rel=1e-11
        )


def test_large_strata_agree_with_the_normal_law():
    # Ten strata of 20,000 people, the Mantel-Haenszel statistic with continuity correction (Agresti 2002, equation
    # 6.6).
    rng = np.random.default_rng(0)
    d1, d2 = np.full(10, 10_000), np.full(10, 10_000)
    x1, x2 = rng.binomial(d1, 0.31), rng.binomial(d2, 0.305)
    m, people = x1 + x2, d1 + d2
    deviation = np.sqrt((d1 * d2 * m * (people - m) / (people**2.0 * (people - 1))).sum())
    z = (x1.sum() - 0.5 - (m / 2).sum()) / deviation
    assert exp(log_p(x1, d1, x2, d2, "greater")) == pytest.approx(norm.sf(z), rel=1e-3)


def test_both_ways_to_convolve_agree(monkeypatch):
    # Strata too large for a direct convolution are convolved by Fourier transforms over narrower windows.
    tables = [
        tuple(BERKELEY.values()),
        ((190, 70), (400, 300), (120, 60), (300, 400)),
        ((60, 2), (900, 30), (20, 9), (80, 45)),
    ]
    expected = [[log_p(*table, a) for a in ALTERNATIVES] for table in tables]
    monkeypatch.setattr(conditional, "DIRECT_WORK", 0)
    for table, logs in zip(tables, expected, strict=True):
        for alternative, value in zip(ALTERNATIVES, logs, strict=True):
            if value > log(1e-5):  # further out a two-sided p-value is twice the one-sided one
                assert log_p(*table, alternative) == pytest.approx(value, rel=1e-8, abs=1e-6)
            elif alternative != "two-sided":
                assert log_p(*table, alternative) == pytest.approx(value, rel=1e-9)


def test_a_sum_over_strata_of_millions_of_people_is_enumerated():
    # The normal distribution, with continuity correction, is accurate to order 1/sd = 1/1225 here.
    d1 = d2 = (1_500_000, 1_500_000)
    z = (751_500 + 750_100 - 0.5 - 1_500_000) / np.sqrt(2 * 1_500_000 / 8)
    log_upper = log_p((751_500, 750_100), d1, (748_500, 749_900), d2, "greater")
    assert log_upper == pytest.approx(norm.logsf(z), abs=2e-3)


def test_the_work_is_the_number_of_products_of_a_direct_convolution():
    # Supports of 3 and 4 outcomes: 1 x 3 products, then 3 x 4.
    assert Strata(((3, 5, 2), (4, 6, 3))).direct_work() == 15
    # Lengths add up: supports of 2, 2, 2 outcomes are 1 x 2 + 2 x 2 + 3 x 2.
    assert Strata(((1, 1, 1),) * 3).direct_work() == 12


def test_the_work_of_large_strata_grows_with_their_spread_not_their_size():
    small, large = (Strata(((n, n, n),)).direct_work() for n in (10**4, 10**8))
    assert large / small < 200  # spread: sqrt(10**4) = 100 times, size: 10**4 times


def test_the_moments_are_those_of_the_sum_of_hypergeometrics():
    strata = Strata(((6, 5, 4), (6, 9, 7), (1, 1, 1)))
    weights = sum_weights((4, 6, 1), (6, 6, 1), (0, 1, 0), (5, 9, 1))
    whole = sum(weights.values())
    mean = Fraction(sum(s * w for s, w in weights.items()), whole)
    variance = Fraction(sum(s * s * w for s, w in weights.items()), whole) - mean**2
    assert strata.moments() == pytest.approx((float(mean), float(variance)), rel=1e-12)


def test_strata_that_would_not_fit_in_memory_are_beyond_the_cap():
    assert Strata(((10**6,) * 3,) * 20).within_cap()
    assert not Strata(((10**9,) * 3,) * 1000).within_cap()


def sizes(strata, edge, disparity, points, level=0.05, metric="selection_rate"):
    """The largest probability, over rates at the edge of the null hypothesis, that a test of the edge rejects.

    `strata` holds pairs of group sizes with the number of strata like that, which have equal rates. Every table is
    enumerated: of like strata how many of them show which outcome.
    """
    d1, d2 = (np.array([sizes[i] for sizes, copies in strata for _ in range(copies)]) for i in (0, 1))
    scale = scale_of(*resolve_metrics(metric))
    kinds = [list(product(range(a + 1), range(b + 1))) for (a, b), _ in strata]
    chosen = [
        list(combinations_with_replacement(kind, copies)) for kind, (_, copies) in zip(kinds, strata, strict=True)
    ]
    tables = np.array([list(chain(*table)) for table in product(*chosen)])
    if disparity == "odds_ratio":
        z = np.array([score_statistic(x1, d1, x2, d2, edge) for x1, x2 in zip(*np.moveaxis(tables, 2, 0), strict=True)])
    else:
        form = rates.strata_form(rates.Pair(tables[..., 0], d1, tables[..., 1], d2), scale, disparity)
        z = studentize(*form.at(edge))
    orders = [[factorial(c) / np.prod([factorial(n) for n in Counter(some).values()]) for some in many]
              for many, (_, c) in zip(chosen, strata, strict=True)]  # fmt: skip
    orders = np.array([np.prod(each) for each in product(*orders)])
    largest = [0.0, 0.0]
    for others in product(np.linspace(0.0, 1.0, points), repeat=len(strata)):
        p2 = np.repeat(others, [copies for _, copies in strata])
        value = scale.value(p2)
        aim = value + edge if disparity == "difference" else value * edge
        if disparity == "odds_ratio":
            p1 = aim / (1 - p2 + aim)
        elif not 0 <= aim.min() <= aim.max() <= 1:
            continue
        else:
            p1 = aim if scale.is_identity else aim / (2 - aim)  # of F1, as a function of Jaccard's index
        mass = (binom.pmf(tables[..., 0], d1, p1) * binom.pmf(tables[..., 1], d2, p2)).prod(axis=1) * orders
        assert mass.sum() == pytest.approx(1)
        largest = [max(most, mass[ndtr(s * z) <= level].sum()) for most, s in zip(largest, (-1, 1), strict=True)]
    return largest


@pytest.mark.parametrize(
    ("disparity", "edge"), [("difference", 0.1), ("difference", 0.4), ("ratio", 1.25), ("ratio", 0.8)]
)
@pytest.mark.parametrize(
    "strata",
    [
        [((4, 6), 1), ((5, 3), 1)],  # 840 tables
        [((1, 15), 2)],
        pytest.param([((2, 3), 8)], marks=pytest.mark.slow),
        pytest.param([((3, 12), 2), ((8, 2), 1)], marks=pytest.mark.slow),
    ],
)
def test_margins_over_strata_of_few_people_hold_the_level(strata, disparity, edge):
    assert 0.005 < max(sizes(strata, edge, disparity, points=9)) <= 0.05


@pytest.mark.parametrize("edge", [0.5, 1.5, 4])
@pytest.mark.parametrize("strata", [[((4, 6), 1), ((5, 3), 1)], [((1, 15), 2)], [((1, 1), 12)]])
def test_margins_of_odds_ratios_over_strata_of_few_people_hold_the_level(strata, edge):
    """With Cornfield's expected counts for exact ones sizes were up to .12, and of 30 matched pairs up to .49."""
    assert 0.005 < max(sizes(strata, edge, "odds_ratio", points=9)) <= 0.05


@pytest.mark.parametrize(("disparity", "edge"), [("difference", 0.1), ("difference", 0.3), ("ratio", 0.8)])
@pytest.mark.parametrize("strata", [[((4, 6), 1), ((5, 3), 1)], [((2, 3), 4)], [((12, 12), 1), ((2, 2), 1)]])
def test_margins_of_functions_of_rates_hold_the_level(strata, disparity, edge):
    """With the delta method's errors at counts plus one half sizes were up to .47."""
    assert 0.005 < max(sizes(strata, edge, disparity, points=11, metric="f1")) <= 0.06


def test_no_margin_over_strata_is_exceeded_beyond_what_the_people_can_bear():
    # At rates of .5 and .4 and of .55 and .45 these tables have a probability of about 1e-4 at a difference of .1.
    pair = rates.Pair(*np.array([[4, 4], [4, 5], [0, 0], [6, 3]]))
    for disparity, edge in (("difference", 0.1), ("ratio", 1.25), ("odds_ratio", 1.25)):
        bounds = (0.0, edge) if disparity == "difference" else (1 / edge, edge)
        p = np.exp(rates.answer(pair, linear_form.Scale(), rates.Question(disparity, "greater", bounds)).log_p)
        assert 1e-4 < p < 0.01
        assert rates.limits(pair, linear_form.Scale(), disparity, 2.5, 2.5)[0] > edge


@pytest.mark.parametrize("overall", [False, True])
@pytest.mark.parametrize(
    ("disparity", "edges"), [("difference", (-0.2, -0.05, 0.03, 0.15)), ("ratio", (0.7, 0.9, 1.2))]
)
def test_margins_over_strata_are_rejected_where_the_interval_excludes_them(disparity, edges, overall):
    random = np.random.default_rng(3)
    for _ in range(20):
        d1, d2 = random.integers(1, 40, size=(2, 3))
        pair = rates.Pair(random.binomial(d1, 0.4), d1, random.binomial(d2, 0.3), d2, overall)
        low, high = rates.limits(pair, linear_form.Scale(), disparity, 1.96, 1.96)
        form = rates.strata_form(pair, linear_form.Scale(), disparity)
        for edge in edges:
            z = float(studentize(*form.at(edge)))
            assert (z > 1.96, z < -1.96) == (edge < low, edge > high)


@pytest.mark.parametrize("overall", [False, True])
@pytest.mark.parametrize("events", range(1, 9))
def test_a_ratio_beside_no_event_has_an_interval(events, overall):
    x1, d1, d2 = np.array([events, 0, 1]), np.array([9, 20, 12]), np.array([40, 11, 30])
    pair, none = rates.Pair(x1, d1, 0 * x1, d2, overall), rates.Pair(0 * x1, d2, x1, d1, overall)
    low, high = rates.limits(pair, linear_form.Scale(), "ratio", 1.96, 1.96)
    assert 0 < low < high
    assert overall or high == np.inf
    low_of_none, high_of_none = rates.limits(none, linear_form.Scale(), "ratio", 1.96, 1.96)
    assert low_of_none == 0
    if not overall:
        np.testing.assert_allclose(high_of_none, 1 / low, rtol=1e-9)


def test_one_stratum_beside_no_event_has_nearly_the_score_limits():
    (x1, d1, d2), nothing = (np.array([n]) for n in (6, 50, 60)), np.array([0])
    form = rates.strata_form(rates.Pair(x1, d1, nothing, d2), linear_form.Scale(), "ratio")
    np.testing.assert_allclose(
        replace(form, skewed=False, continuity=0.0).limits((1.96, 1.96), (0.0, np.inf)),
        rates.limits(rates.Pair(x1, d1, nothing, d2), linear_form.Scale(), "ratio", 1.96, 1.96),
        rtol=1e-9,
    )


# Weights of strata given by the caller --------------------------------------------------------------------------------


def enumerated_weighted(x1, d1, x2, d2, weights, alternative, slack=0.0):
    """The p-value by all tables, in fractions: twice the smaller tail of the weighted difference of rates.

    Differences within `slack` standard deviations of the observed one are as extreme.
    """
    totals = [a + b for a, b in zip(x1, x2, strict=True)]

    def value(events):
        parts = zip(events, d1, totals, d2, weights, strict=True)
        return sum(w * (Fraction(x, a) - Fraction(m - x, b)) for x, a, m, b, w in parts)

    ranges = [range(max(0, m - b), min(a, m) + 1) for a, b, m in zip(d1, d2, totals, strict=True)]
    chances = {}
    for events in product(*ranges):
        parts = zip(events, d1, d2, totals, strict=True)
        ways = [Fraction(comb(a, x) * comb(b, m - x), comb(a + b, m)) for x, a, b, m in parts]
        chances[value(events)] = chances.get(value(events), 0) + prod(ways)
    mean = sum(chance * at for at, chance in chances.items())
    near = Fraction(slack * float(sum(chance * (at - mean) ** 2 for at, chance in chances.items())) ** 0.5)
    above = sum(chance for at, chance in chances.items() if at >= value(x1) - near)
    below = sum(chance for at, chance in chances.items() if at <= value(x1) + near)
    return float({"greater": above, "less": below, "two-sided": min(1, 2 * min(above, below))}[alternative])


def weighted(x1, d1, x2, d2, weights, alternative="two-sided"):
    counts = (np.array(a) for a in (x1, d1, x2, d2))
    found = conditional.weighted_log_p(*counts, np.array(weights, dtype=float), alternative)
    return None if found is None else exp(found)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_weighted_strata_have_the_enumerated_p_value_or_hardly_more(alternative, data):
    size = data.draw(st.integers(2, 4))
    d1, d2 = (data.draw(st.lists(st.integers(1, 6), min_size=size, max_size=size)) for _ in range(2))
    x1, x2 = ([data.draw(st.integers(0, n)) for n in sizes] for sizes in (d1, d2))
    weights = data.draw(st.lists(st.fractions(Fraction(1, 8), 4, max_denominator=8), min_size=size, max_size=size))
    expected = enumerated_weighted(x1, d1, x2, d2, weights, alternative)
    found = weighted(x1, d1, x2, d2, [float(w) for w in weights], alternative)
    # Outcomes that rounding to a grid cannot tell from the observed one count as extreme.
    most = enumerated_weighted(x1, d1, x2, d2, weights, alternative, slack=0.0201)
    assert expected * (1 - 1e-9) <= found <= most * (1 + 1e-9) + 1e-11


@pytest.mark.parametrize("alternative", ["greater", "less"])
def test_mantel_and_haenszels_weights_give_their_own_tails(alternative):
    x1, d1, x2, d2 = (np.array(BERKELEY[name]) for name in ("x1", "d1", "x2", "d2"))
    expected = exp(stratified_log_p(x1, d1, x2, d2, alternative))
    assert weighted(x1, d1, x2, d2, d1 * d2 / (d1 + d2), alternative) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(
    ("d1", "d2", "weights", "events"),
    [
        ((1, 1, 1, 1, 1, 1), (1, 1, 1, 1, 1, 1), (1, 2, 3, 4, 5, 6), (1, 1, 1, 1, 1, 1)),  # strata of two
        ((1, 1, 1), (100, 100, 100), (1, 1, 5), (30, 50, 70)),  # 1 to 100
        ((20, 30, 40), (40, 30, 20), (1.5, 1, 0.2), (1, 2, 1)),  # rare events
        ((4, 9, 2), (5, 3, 8), (0.1, 1, 10), (4, 6, 5)),
    ],
)
@pytest.mark.parametrize("level", [0.01, 0.05, 0.2])
@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_the_weighted_test_holds_its_level_given_the_totals(d1, d2, weights, events, level, alternative):
    ranges = [range(max(0, m - b), min(a, m) + 1) for a, b, m in zip(d1, d2, events, strict=True)]
    size = 0.0
    for x1 in product(*ranges):
        x2 = [m - x for x, m in zip(x1, events, strict=True)]
        parts = zip(x1, d1, d2, events, strict=True)
        chance = np.prod([comb(a, x) * comb(b, m - x) / comb(a + b, m) for x, a, b, m in parts])
        size += chance * (weighted(x1, d1, x2, d2, weights, alternative) <= level)
    assert size <= level


@pytest.mark.parametrize("people", [np.full(100_000, 1), np.arange(10_000, 1_000_000, 3000)])
def test_a_grid_for_too_many_or_too_large_strata_is_not_made(people):
    rng = np.random.default_rng(0)
    assert weighted(people // 2, people, people, people + 1, rng.random(len(people))) is None
    unlike = np.full(600, 1)
    assert weighted(unlike, unlike, 0 * unlike, unlike, rng.random(600)) is None


def test_totals_that_leave_one_table_are_no_evidence():
    assert weighted([0, 3], [2, 3], [0, 5], [4, 5], [1, 2]) == 1
