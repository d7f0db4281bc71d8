"""Statistics of two sides and their limits, written out again."""

import numpy as np
import pytest
from scipy.stats import norm

from skfairtest._utils.typing import Moments
from skfairtest.inference.two_sides import columns, critical_values, distance, limits, only, pooled, statistic


def moments_of(*strata):
    return columns([Moments(*(np.asarray(v, dtype=float) for v in stratum)) for stratum in strata])


ONE = (0.6, 0.01, 0.4, 0.02, 0.0)
TWO = (0.9, 0.03, 0.3, 0.04, 0.005)


def of_strata(disparity, weights, moments):
    """Return the averaged disparity, its error, and both averages."""
    both = pooled(moments, np.asarray(weights, dtype=float))
    return *distance(both, disparity), (both.first, both.second)


def test_a_difference_is_divided_by_its_standard_error():
    weights = np.array([3.0])
    assert statistic(moments_of(ONE), weights) == pytest.approx(0.2 / np.sqrt(0.03))
    assert statistic(moments_of(TWO), weights) == pytest.approx(0.6 / np.sqrt(0.07 - 0.01))
    assert statistic(moments_of(ONE), weights, studentized=False) == pytest.approx(0.2)


def test_a_ratio_is_compared_by_its_logarithm():
    found, error, _ = of_strata("ratio", [1.0], moments_of(TWO))
    assert found == pytest.approx(np.log(3))
    assert error == pytest.approx(np.sqrt(0.03 / 0.81 + 0.04 / 0.09 - 2 * 0.005 / 0.27))


@pytest.mark.parametrize("disparity", ["difference", "ratio"])
def test_strata_are_averaged_with_their_weights(disparity):
    found, error, sides = of_strata(disparity, [1.0, 3.0], moments_of(ONE, TWO))
    first, second = 0.25 * 0.6 + 0.75 * 0.9, 0.25 * 0.4 + 0.75 * 0.3
    a, b = (1 / first, 1 / second) if disparity == "ratio" else (1.0, 1.0)
    variance = 0.25**2 * (a**2 * 0.01 + b**2 * 0.02) + 0.75**2 * (a**2 * 0.03 + b**2 * 0.04 - 2 * a * b * 0.005)
    assert sides == pytest.approx((first, second))
    assert found == pytest.approx(np.log(first / second) if disparity == "ratio" else first - second)
    assert error == pytest.approx(np.sqrt(variance))


@pytest.mark.parametrize("place", range(4))
def test_a_stratum_that_is_undefined_leaves_the_average_to_the_others(place):
    undefined, weights = list(TWO), np.array([1.0, 3.0])
    undefined[place] = np.nan
    alone = float(statistic(moments_of(ONE), np.ones(1)))
    assert statistic(moments_of(ONE, undefined), weights) == pytest.approx(alone)
    assert np.isnan(statistic(moments_of(undefined, undefined), weights))
    assert np.isnan(of_strata("difference", weights, moments_of(undefined, undefined))[:2]).all()


def test_strata_may_be_undefined_in_single_draws():
    weights = np.array([1.0, 3.0])
    rows = [(ONE, TWO), (ONE, [np.nan, *TWO[1:]]), ([np.nan] * 5, TWO)]
    stacked = Moments(*(np.array([[s[i] for s in row] for row in rows], dtype=float) for i in range(5)))
    expected = [float(statistic(moments_of(*row), weights)) for row in rows]
    np.testing.assert_allclose(statistic(stacked, weights), expected)
    assert np.isfinite(expected).all()
    np.testing.assert_array_equal(only(stacked, [1]).first[:, 0], [0.9, np.nan, 0.9])


def test_degenerate_statistics():
    def difference(values):
        return statistic(moments_of(values), np.ones(1))

    # An infinite logarithm has no error, hence no statistic: it is not evidence.
    assert difference((0.3, 0, 0.3, 0, 0)) == 0
    assert difference((0.1 + 0.2, 0, 0.3, 0, 0)) == 0  # a rounding error is not a disparity
    assert difference((0.4, 0, 0.3, 0, 0)) == np.inf
    assert difference((0.2, 0, 0.3, 0, 0)) == -np.inf
    assert np.isnan(difference((np.nan, 0.1, 0.5, 0.1, 0)))
    for values in ((0.5, 0.1, 0.0, 0.1, 0), (0.0, 0.1, 0.5, 0.1, 0)):
        found, error, _ = of_strata("ratio", [1.0], moments_of(values))
        assert np.isinf(found)
        assert np.isnan(error)
    for values in ((0.0, 0.1, 0.0, 0.1, 0), (-0.5, 0.1, 0.5, 0.1, 0)):
        assert np.isnan(of_strata("ratio", [1.0], moments_of(values))[:2]).all()


# Limits and p-values --------------------------------------------------------------------------------------------------


def test_limits_of_a_difference():
    assert limits(0.1, 0.2, (-1, 1), (2.0, 1.0)) == pytest.approx((-0.3, 0.3))
    assert limits(0.9, 0.2, (-1, 1), (2.0, 2.0)) == pytest.approx((0.5, 1.0))
    assert limits(0.1, 0.2, (-1, 1), (np.inf, 2.0)) == pytest.approx((-1.0, 0.5))
    assert limits(0.1, 0.2, (-np.inf, np.inf), (2.0, np.inf)) == pytest.approx((-0.3, np.inf))


@pytest.mark.parametrize(("estimate", "error"), [(0.1, 0.0), (np.inf, 1.0), (-np.inf, 1.0), (0.1, np.nan)])
def test_without_a_standard_error_everything_is_possible(estimate, error):
    assert limits(estimate, error, (-1, 1), (2.0, 2.0)) == (-1, 1)


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_critical_values_are_quantiles_of_the_draws(alternative):
    statistics = np.random.default_rng(1).standard_t(3, 999)
    low, high = critical_values(statistics, alternative, 0.05)
    sizes = sorted({"two-sided": np.abs(statistics), "greater": statistics, "less": -statistics}[alternative])
    one = low if alternative != "less" else high
    # Not more than 5% of all arrangements, the data's own among them, are beyond.
    beyond = sum(size > one for size in sizes)
    assert beyond + 1 <= 0.05 * 1000 < sum(size >= one for size in sizes) + 1
    assert {"two-sided": low == high, "greater": high == np.inf, "less": low == np.inf}[alternative]


def test_critical_values_are_never_below_the_normal_ones():
    narrow = np.random.default_rng(1).normal(0, 0.1, 999)
    z, z1 = norm.isf(0.025), norm.isf(0.05)
    assert critical_values(narrow, "two-sided", 0.05) == pytest.approx((z, z))
    assert critical_values(None, "two-sided", 0.05) == pytest.approx((z, z))
    assert critical_values(None, "greater", 0.05) == (pytest.approx(z1), np.inf)
    assert critical_values(None, "less", 0.05) == (np.inf, pytest.approx(z1))
    wide = np.random.default_rng(1).normal(0, 9, 99)
    assert critical_values(wide, "two-sided", 0.04) == pytest.approx((norm.isf(0.02),) * 2)  # too few to say
    # The fifth largest of 99 has a p-value of 5 / 100.
    assert critical_values(wide, "two-sided", 0.05)[0] == np.sort(np.abs(wide))[-5]


def test_critical_values_of_raw_statistics_are_their_own():
    raw = np.random.default_rng(1).normal(0, 0.1, 999)
    low, high = critical_values(raw, "two-sided", 0.05, studentized=False)
    assert low == high == pytest.approx(0.196, abs=0.02)
    assert critical_values(None, "two-sided", 0.05, studentized=False) == (np.inf, np.inf)


def test_undefined_draws_are_passed_over():
    statistics = np.random.default_rng(2).normal(0, 3, 999)
    with_gaps = np.insert(statistics, np.arange(0, 900, 3), np.nan)
    assert critical_values(with_gaps, "two-sided", 0.05) == critical_values(statistics, "two-sided", 0.05)
