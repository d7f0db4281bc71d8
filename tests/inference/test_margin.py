"""Exact tests of a margin: against enumeration of every outcome on a grid of the nuisance rate, and their size."""

from functools import cache
from math import exp, log

import numpy as np
import pytest
from scipy.stats import beta, binom, norm

from skfairtest.inference.margin import (
    BERGER_BOOS,
    TIE,
    last_reaching,
    margin_log_p,
    normal_log_p,
)
from skfairtest.inference.score import score_at

ALTERNATIVES = ("greater", "less")


def score_log_p(x1, d1, x2, d2, edge, alternative, disparity="difference"):
    """Log p-value of the asymptotic score test."""
    return normal_log_p(float(score_at(x1, d1, x2, d2, edge, disparity)[0]), alternative)


def scores(d1, d2, edge, disparity):
    """Miettinen-Nurminen score of every outcome, (d1 + 1, d2 + 1), its rates found by bisecting the likelihood."""
    x1, x2 = np.arange(d1 + 1.0)[:, None], np.arange(d2 + 1.0)
    slope, offset = (1.0, edge) if disparity == "difference" else (edge, 0.0)
    low = np.full((d1 + 1, d2 + 1), max(0.0, -offset / slope))
    high = np.full_like(low, min(1.0, (1 - offset) / slope))
    for _ in range(60):
        p2 = np.clip((low + high) / 2, 1e-18, 1 - 1e-16)
        p1 = np.clip(offset + slope * p2, 1e-18, 1 - 1e-16)
        gradient = slope * (x1 - d1 * p1) / (p1 * (1 - p1)) + (x2 - d2 * p2) / (p2 * (1 - p2))
        low, high = np.where(gradient > 0, p2, low), np.where(gradient > 0, high, p2)
    p2 = (low + high) / 2
    p1 = offset + slope * p2
    variance = (p1 * (1 - p1) / d1 + slope**2 * p2 * (1 - p2) / d2) * (d1 + d2) / (d1 + d2 - 1)
    distance = x1 / d1 - slope * x2 / d2 - offset
    distance = np.where(np.abs(distance) < 1e-12, 0.0, distance)
    return np.where(distance == 0, 0.0, distance / np.sqrt(np.maximum(variance, 1e-300)))


def nuisance(edge, disparity, points=4001):
    """Rates (p1, p2) on the border of the null hypothesis, evenly spaced in arcsin sqrt p2."""
    if disparity == "difference":
        low, high = max(0.0, -edge), min(1.0, 1 - edge)
        p2 = np.sin(np.linspace(np.arcsin(np.sqrt(low)), np.arcsin(np.sqrt(high)), points)) ** 2
        return np.clip(p2 + edge, 0.0, 1.0), p2
    p2 = np.sin(np.linspace(0.0, np.arcsin(np.sqrt(min(1.0, 1 / edge))), points)) ** 2
    return np.clip(p2 * edge, 0.0, 1.0), p2


def tail_probability(extreme, p1, p2):
    """Probability of the outcomes for which `extreme` holds, at every pair of rates."""
    d1, d2 = (n - 1 for n in extreme.shape)
    first = binom.pmf(np.arange(d1 + 1), d1, np.asarray(p1)[:, None])
    second = binom.pmf(np.arange(d2 + 1), d2, np.asarray(p2)[:, None])
    return ((first @ extreme) * second).sum(axis=1)


def clopper_pearson(x, d, error):
    return (
        0.0 if x == 0 else beta.ppf(error / 2, x, d - x + 1),
        1.0 if x == d else beta.ppf(1 - error / 2, x + 1, d - x),
    )


def extremes(table, edge, alternative, disparity, z):
    """Outcomes at least as extreme as the table, for a null that lies below (greater) or above (less) the edge."""
    observed = z[table[0], table[2]]
    slack = 1e-8 * max(1.0, abs(observed))
    return (z >= observed - slack if alternative == "greater" else z <= observed + slack).astype(float)


@cache
def border(d1, d2, edge, disparity):
    """Rates on the border of the null, and both groups' binomial probabilities there, a row for each point."""
    p1, p2 = nuisance(edge, disparity)
    return p1, p2, binom.pmf(np.arange(d1 + 1), d1, p1[:, None]), binom.pmf(np.arange(d2 + 1), d2, p2[:, None])


def suprema(table, edge, alternative, disparity, z):
    """Largest tail probability on the border of the null: anywhere, and where Berger and Boos look for it."""
    x1, d1, x2, d2 = table
    p1, p2, first, second = border(d1, d2, edge, disparity)
    extreme = extremes(table, edge, alternative, disparity, z)
    tail = ((first @ extreme) * second).sum(axis=1)
    (low1, high1), (low2, high2) = (clopper_pearson(x, d, BERGER_BOOS / 2) for x, d in ((x1, d1), (x2, d2)))
    inside = (low1 <= p1) & (p1 <= high1) & (low2 <= p2) & (p2 <= high2)
    return tail.max(), tail[inside].max() if inside.any() else 0.0


SMALL = [
    (4, 9, 0.1, "difference"),
    (10, 6, -0.2, "difference"),
    (12, 12, 0.05, "difference"),
    (5, 15, 0.02, "difference"),
    (6, 14, 0.8, "ratio"),
    (11, 5, 1.25, "ratio"),
]


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize(
    "design", [*SMALL[::3], *(pytest.param(design, marks=pytest.mark.slow) for design in (*SMALL[1::3], *SMALL[2::3]))]
)
def test_the_p_value_lies_between_the_confidence_regions_supremum_and_the_whole_one(design, alternative):
    d1, d2, edge, disparity = design
    z = scores(d1, d2, edge, disparity)
    for x1 in range(d1 + 1):
        for x2 in range(d2 + 1):
            table = (x1, d1, x2, d2)
            ours = exp(margin_log_p(*table, edge, alternative, disparity))
            everywhere, nearby = suprema(table, edge, alternative, disparity, z)
            assert ours >= (nearby + BERGER_BOOS) * (1 - 1e-6), table
            # Not much above what no confidence region would give. Where the search stops at its cap, its bound is wide
            # for small p-values.
            slack = 0.1 if everywhere > 1e-3 else 3.0
            assert ours <= everywhere * (1 + slack) + 2 * BERGER_BOOS, table


def test_an_outcome_whose_score_is_slightly_less_extreme_is_not_counted():
    # 1 of 3 against 25 of 246 lies 2e-7 below the score of 3 of 3 against 189 of 246: less than scores could once tell.
    z = scores(3, 246, 0.5, "ratio")
    assert 1e-7 < z[3, 189] - z[1, 25] < 3e-7
    level = float(score_at(3, 3, 189, 246, 0.5, "ratio")[0]) - TIE
    last = last_reaching(level, 3, 246, 0.5, "ratio")
    np.testing.assert_array_equal(last, (z >= z[3, 189] - 1e-9).sum(axis=1) - 1)


@pytest.mark.parametrize("design", SMALL[1:5])
def test_the_tail_is_largest_on_the_border_of_the_null(design):
    # Why only the border is searched: the tail rises with p1 and falls with p2.
    d1, d2, edge, disparity = design
    z = scores(d1, d2, edge, disparity)
    rng = np.random.default_rng(0)
    p1, p2 = rng.uniform(size=(2, 3000))
    null = p1 - p2 <= edge if disparity == "difference" else p1 <= edge * p2
    for table in [(d1, d1, d2 // 2, d2), (d1 // 2, d1, 1, d2), (d1 - 1, d1, d2 - 2, d2)]:
        extreme = extremes(table, edge, "greater", disparity, z)
        everywhere, _ = suprema(table, edge, "greater", disparity, z)
        assert tail_probability(extreme, p1[null], p2[null]).max() <= everywhere * (1 + 1e-6)


def rejected(d1, d2, edge, alternative, disparity, level, window=(0.0, 1.0)):
    """Outcomes rejected at a level. Outside the window of asymptotic p-values the exact test is taken to agree."""
    out = np.zeros((d1 + 1, d2 + 1))
    for x1 in range(d1 + 1):
        for x2 in range(d2 + 1):
            table = (x1, d1, x2, d2)
            asymptotic = exp(score_log_p(*table, edge, alternative, disparity))
            if asymptotic < window[0]:
                out[x1, x2] = 1.0
            elif asymptotic <= window[1]:
                out[x1, x2] = margin_log_p(*table, edge, alternative, disparity) <= log(level)
    return out


@pytest.mark.parametrize(
    ("design", "alternative", "window"),
    [
        ((6, 18, 0.02, "difference"), "greater", (0.0, 1.0)),
        ((8, 7, 0.8, "ratio"), "less", (0.0, 1.0)),
        pytest.param((10, 40, 0.02, "difference"), "greater", (0.0, 1.0), marks=pytest.mark.slow),
        pytest.param((10, 40, 0.02, "difference"), "less", (0.0, 1.0), marks=pytest.mark.slow),
        pytest.param((8, 12, 0.8, "ratio"), "greater", (0.0, 1.0), marks=pytest.mark.slow),
        pytest.param((8, 12, 0.8, "ratio"), "less", (0.0, 1.0), marks=pytest.mark.slow),
        # Larger designs: only outcomes whose verdict can be in doubt are computed; the clear ones count as rejected.
        pytest.param((15, 60, 0.05, "difference"), "greater", (0.002, 0.25), marks=pytest.mark.slow),
        pytest.param((30, 30, 0.1, "difference"), "less", (0.005, 0.25), marks=pytest.mark.slow),
        pytest.param((25, 40, 0.8, "ratio"), "greater", (0.005, 0.25), marks=pytest.mark.slow),
    ],
)
def test_the_size_enumerated_never_exceeds_the_level(design, alternative, window):
    *sizes, edge, disparity = design
    region = rejected(*sizes, edge, alternative, disparity, 0.05, window)
    p1, p2 = nuisance(edge, disparity, points=801)
    size = tail_probability(region, p1, p2)
    assert size.max() <= 0.05
    # The test has a level to exceed: it does reject, and is not far below the level somewhere.
    assert size.max() > 0.01


def test_the_asymptotic_score_test_exceeds_its_level_where_the_exact_one_does_not():
    # statistics.md section 2: 10 v 40, margin .02, one-sided 5%: the Miettinen-Nurminen test has size .187.
    z = scores(10, 40, 0.02, "difference")
    sizes = [
        tail_probability((sign * z >= norm.ppf(0.95)).astype(float), *nuisance(0.02, "difference")).max()
        for sign in (1, -1)
    ]
    assert max(sizes) == pytest.approx(0.187, abs=1e-3)


def test_chans_example_of_a_childrens_kidney_tumour():
    # Chan (1998), first example and figure 4, after Rodary et al. (1989): responses of 83/88 on chemotherapy and 69/76
    # on radiation, margin .10: exact p = .0017, found at a rate of .441. The confidence region around the observed .9
    # excludes it.
    table = (83, 88, 69, 76)
    z = scores(88, 76, -0.1, "difference")
    everywhere, nearby = suprema(table, -0.1, "greater", "difference", z)
    p1, p2 = nuisance(-0.1, "difference")
    tail = tail_probability(extremes(table, -0.1, "greater", "difference", z), p1, p2)
    assert everywhere == pytest.approx(0.0017, abs=5e-5)
    assert p1[tail.argmax()] == pytest.approx(0.441, abs=0.005)
    ours = exp(margin_log_p(*table, -0.1, "greater"))
    assert ours == pytest.approx(nearby + BERGER_BOOS, rel=0.01)
    assert nearby < ours < everywhere


@pytest.mark.parametrize("edge", [-0.1, 0.02, 0.3])
def test_less_is_greater_with_the_groups_swapped(edge):
    for table in [(3, 10, 20, 40), (0, 10, 7, 40), (10, 10, 39, 40), (6, 15, 9, 15)]:
        swapped = (*table[2:], *table[:2])
        assert margin_log_p(*table, edge, "less") == pytest.approx(margin_log_p(*swapped, -edge, "greater"), abs=1e-9)
        assert score_log_p(*table, edge, "less") == pytest.approx(score_log_p(*swapped, -edge, "greater"), abs=1e-7)


@pytest.mark.parametrize("edge", [0.8, 1.25])
def test_less_of_a_ratio_is_greater_of_its_inverse(edge):
    for table in [(3, 10, 20, 40), (0, 10, 7, 40), (10, 10, 39, 40), (6, 15, 9, 15)]:
        swapped = (*table[2:], *table[:2])
        assert margin_log_p(*table, edge, "less", "ratio") == pytest.approx(
            margin_log_p(*swapped, 1 / edge, "greater", "ratio"), abs=1e-9
        )


def test_counting_non_events_mirrors_a_margin_of_a_difference():
    for x1, d1, x2, d2 in [(3, 10, 20, 40), (0, 10, 7, 40), (6, 15, 9, 15)]:
        ours = margin_log_p(x1, d1, x2, d2, 0.1, "less")
        other = margin_log_p(d1 - x1, d1, d2 - x2, d2, -0.1, "greater")
        assert exp(ours) == pytest.approx(exp(other), rel=0.01)


@pytest.mark.parametrize(
    ("table", "edge", "alternative", "disparity"),
    [
        ((100, 100, 0, 100), 0.1, "greater", "difference"),
        ((0, 200, 200, 200), -0.3, "less", "difference"),
        ((300, 300, 10, 300), 1.25, "greater", "ratio"),
        ((10, 300, 300, 300), 0.8, "less", "ratio"),
    ],
)
def test_the_p_value_is_never_below_the_price_of_the_confidence_region(table, edge, alternative, disparity):
    log_p = margin_log_p(*table, edge, alternative, disparity)
    assert log_p >= log(BERGER_BOOS) * (1 + 1e-12)
    assert exp(log_p) == pytest.approx(BERGER_BOOS, rel=0.5)


@pytest.mark.parametrize(
    ("table", "edge", "alternative", "disparity"),
    [
        # All of group 1, and so many of group 2 that every rate in the confidence region is within the margin.
        ((100, 100, 95, 100), 0.3, "greater", "difference"),
        ((100, 100, 100, 100), 0.3, "greater", "difference"),
        ((5, 100, 0, 100), 0.3, "greater", "difference"),
        ((0, 100, 5, 100), -0.3, "less", "difference"),
        ((95, 100, 100, 100), -0.3, "less", "difference"),
        ((100, 100, 95, 100), 1.5, "greater", "ratio"),
        ((95, 100, 100, 100), 0.6, "less", "ratio"),
        ((50, 100, 50, 100), 0.6, "greater", "difference"),
    ],
)
def test_a_disparity_well_within_the_margin_is_no_evidence_of_one_beyond_it(table, edge, alternative, disparity):
    assert exp(margin_log_p(*table, edge, alternative, disparity)) > 0.5


def test_the_p_value_falls_as_the_margin_is_left_behind():
    values = [margin_log_p(25, 30, 9, 30, edge, "greater") for edge in (-0.2, 0.0, 0.1, 0.3, 0.5, 0.7)]
    assert (np.diff(values) > 0).all()
    values = [margin_log_p(25, 30, 9, 30, edge, "greater", "ratio") for edge in (0.5, 0.8, 1.0, 1.5, 3.0)]
    assert (np.diff(values) > 0).all()


def test_one_person_against_one_person_is_no_evidence():
    # At p1 = p2 + .1 the outcome (1, 0) has probability p1 (1 - p2), largest (.55**2) at p2 = .45.
    assert exp(margin_log_p(1, 1, 0, 1, 0.1, "greater")) == pytest.approx(0.55**2 + BERGER_BOOS, rel=2e-3)
    assert exp(margin_log_p(0, 1, 1, 1, 0.1, "greater")) == pytest.approx(1.0, abs=1e-6)


def test_a_log_p_value_is_never_positive():
    for d1, d2 in [(3, 2), (1, 5)]:
        for x1 in range(d1 + 1):
            for x2 in range(d2 + 1):
                for alternative in ALTERNATIVES:
                    assert log(BERGER_BOOS) <= margin_log_p(x1, d1, x2, d2, 0.1, alternative) + 1e-12 <= 1e-12
                    assert margin_log_p(x1, d1, x2, d2, 0.8, alternative, "ratio") <= 0.0


def test_the_score_p_value_is_the_normal_tail_of_the_score():
    # Miettinen and Nurminen's limits for 56/70 v 48/80 (.0528, .3382; Newcombe 1998) are where it is 2.5%.
    assert exp(score_log_p(56, 70, 48, 80, 0.0528, "greater")) == pytest.approx(0.025, abs=1e-4)
    assert exp(score_log_p(56, 70, 48, 80, 0.3382, "less")) == pytest.approx(0.025, abs=1e-4)
    assert exp(score_log_p(56, 70, 48, 80, 0.3382, "two-sided")) == pytest.approx(0.05, abs=2e-4)


def test_normal_tails_keep_their_logarithm():
    assert normal_log_p(1.959963984540054, "two-sided") == pytest.approx(log(0.05), rel=1e-12)
    assert normal_log_p(1.0, "greater") == pytest.approx(normal_log_p(-1.0, "less"), rel=1e-14)
    assert normal_log_p(0.0, "two-sided") == 0.0
    # Abramowitz and Stegun 26.2.12: log Q(z) = -z**2/2 - log(z sqrt(2 pi)) + log(1 - 1/z**2 + 3/z**4 - ...).
    z = 100.0
    expected = -(z**2) / 2 - log(z * np.sqrt(2 * np.pi)) + log(1 - z**-2 + 3 * z**-4)
    assert normal_log_p(z, "greater") == pytest.approx(expected, rel=1e-12)
    assert normal_log_p(-z, "two-sided") == pytest.approx(expected + log(2), rel=1e-12)
