"""Null distributions in a few bins: nothing is left out, and what is extreme adds up to the p-value."""

import numpy as np
import pytest
from scipy.stats import fisher_exact, hypergeom, norm

from skfairtest.inference.conditional import conditional_log_p, stratified_log_p
from skfairtest.inference.null_distribution import MOST, drawn, given_totals, normal
from skfairtest.inference.resampling import monte_carlo_p

SIDES = ["two-sided", "greater", "less"]
TABLES = [
    (3, 3, 0, 3),
    (0, 10, 0, 30),
    (5, 1000, 0, 7),
    (40, 90, 31, 110),
    (250, 500, 255, 500),
    (805, 1795, 282, 1281),
    (10, 50, 700, 100_000),
    (40, 50, 700, 100_000),
]


def one(*counts):
    return [np.array([k]) for k in counts]


def check_shape(bins):
    assert len(bins.low) <= MOST
    assert (bins.low <= bins.high).all()
    assert (bins.high[:-1] <= bins.low[1:] + 1e-9).all()
    assert (bins.extreme >= 0).all()
    assert (bins.extreme <= bins.mass).all()


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("counts", TABLES)
def test_the_extreme_part_of_the_law_is_fishers_p(counts, side):
    bins = given_totals(*one(*counts), side)
    check_shape(bins)
    assert bins.mass.sum() == pytest.approx(1, abs=1e-12)
    assert bins.extreme.sum() == pytest.approx(np.exp(conditional_log_p(*counts, side)), rel=1e-9)
    x1, d1, x2, d2 = counts
    theirs = fisher_exact([[x1, d1 - x1], [x2, d2 - x2]], alternative=side).pvalue
    assert bins.extreme.sum() == pytest.approx(theirs, rel=1e-6)


def test_few_outcomes_are_drawn_one_by_one():
    bins = given_totals(*one(4, 20, 9, 30))
    assert bins.low.tolist() == bins.high.tolist() == list(range(14))
    np.testing.assert_allclose(bins.mass, hypergeom(50, 13, 20).pmf(np.arange(14)), rtol=1e-10)


def test_bins_hold_the_outcomes_between_their_ends():
    bins = given_totals(*one(4_000, 10_000, 6_100, 15_000))
    law = hypergeom(25_000, 10_100, 10_000)
    for low, high, mass in zip(bins.low, bins.high, bins.mass, strict=True):
        expected = law.cdf(np.floor(high)) - law.cdf(np.ceil(low) - 1)
        assert mass == pytest.approx(expected, abs=1e-10)
    assert bins.low[0] == -0.5
    assert bins.high[-1] == 10_000.5


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize(
    ("n_strata", "people"), [(3, 20), (6, 500), pytest.param(50, 1000, marks=pytest.mark.slow), (6, 100_000)]
)
@pytest.mark.parametrize("shift", [0.0, 0.02, 0.3])
def test_strata_add_up_to_the_exact_stratified_test(n_strata, people, shift, side):
    rng = np.random.default_rng(n_strata)
    d1, d2 = rng.integers(people // 2, people, (2, n_strata))
    x1, x2 = rng.binomial(d1, 0.3 + shift), rng.binomial(d2, 0.3)
    log_p = stratified_log_p(x1, d1, x2, d2, side)
    bins = given_totals(x1, d1, x2, d2, side, log_p)
    check_shape(bins)
    assert bins.mass.sum() == pytest.approx(1, abs=1e-12)
    assert bins.extreme.sum() == pytest.approx(np.exp(log_p), rel=1e-6)
    unknown = given_totals(x1, d1, x2, d2, side)
    np.testing.assert_allclose(unknown.extreme, bins.extreme, rtol=1e-9)


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("counts", [(249_997_000, 500_000_000, 250_000_000, 500_000_000),
                                    (499_999_950, 500_000_000, 250_000_000, 500_000_000)])  # fmt: skip
def test_a_billion_people_take_few_bins(counts, side):
    bins = given_totals(*one(*counts), side)
    check_shape(bins)
    assert bins.extreme.sum() == pytest.approx(np.exp(conditional_log_p(*counts, side)), rel=1e-6, abs=1e-300)


def test_too_many_outcomes_are_not_enumerated():
    assert given_totals(*one(3 * 10**11, 10**12, 4 * 10**11, 10**12)) is None


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("observed", [-2.1, 0.0, 1.7])
def test_the_histogram_of_draws_counts_what_the_p_value_counts(observed, side):
    draws = np.random.default_rng(0).standard_t(3, 999)
    draws[:7], draws[7:12], draws[12] = np.inf, -np.inf, np.nan
    found = drawn(draws, observed, side)
    check_shape(found)
    assert found.mass.sum() == pytest.approx(986 / 998)
    p, extreme, defined = monte_carlo_p(draws, observed, side)
    infinite = {"greater": 7, "less": 5, "two-sided": 12}[side]
    assert round(found.extreme.sum() * defined) == extreme - infinite
    assert p == (extreme + 1) / (defined + 1)


def test_draws_that_are_all_alike_are_one_bin_and_infinite_ones_none():
    alike = drawn(np.zeros(9), 0.0, "greater")
    assert (alike.low.tolist(), alike.high.tolist(), alike.mass.tolist(), alike.extreme.tolist()) == (
        [0.0], [0.0], [1.0], [1.0],
    )  # fmt: skip
    rare = drawn(np.array([*[0.0] * 9998, 5.0]), 5.0, "greater")
    assert rare.mass.sum() == pytest.approx(1)
    assert rare.extreme.sum() == pytest.approx(1 / 9999)
    assert drawn(np.array([np.inf, np.nan]), 0.0, "greater") is None


@pytest.mark.parametrize("z", [-12.0, -1.3, 0.0, 0.4, 2.5, np.inf])
def test_the_normal_law_has_the_tails_of_the_normal_law(z):
    for side, p in (("greater", norm.sf(z)), ("less", norm.cdf(z)), ("two-sided", 2 * norm.sf(abs(z)))):
        bins = normal(z, side)
        check_shape(bins)
        assert bins.mass.sum() == pytest.approx(1, abs=1e-12)
        assert bins.extreme.sum() == pytest.approx(p, rel=1e-9)
        assert np.isfinite([bins.low, bins.high]).all()
