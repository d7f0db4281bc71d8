"""P-values from resampled statistics: never zero, ties counted, undefined draws in neither count."""

import numpy as np
import pytest
from scipy.stats import binom

from skfairtest.inference.resampling import (
    at_least_as_extreme,
    critical_value,
    monte_carlo_p,
    p_value_limits,
    upper_quantile,
)

DRAWN = np.array([-3.0, -1.0, 0.0, 1.0, 2.0, 3.0, 0.5, -0.5, 2.0])


@pytest.mark.parametrize(
    ("alternative", "observed", "extreme"),
    [
        ("two-sided", 2.0, 4),
        ("two-sided", -2.0, 4),
        ("greater", 2.0, 3),
        ("less", -1.0, 2),
        ("greater", -9.0, 9),
        ("two-sided", 100.0, 0),
    ],
)
def test_the_p_value_counts_the_observed_table_among_the_draws(alternative, observed, extreme):
    # Phipson and Smyth (2010): (1 + extreme) / (1 + B).
    assert monte_carlo_p(DRAWN, observed, alternative) == ((1 + extreme) / 10, extreme, 9)


def test_ties_that_rounding_has_split_are_ties():
    observed = 0.1 + 0.2  # 0.30000000000000004
    for alternative, sign in [("two-sided", 1), ("greater", 1), ("less", -1)]:
        assert at_least_as_extreme(np.array([sign * 0.3]), sign * observed, alternative).all()
        assert not at_least_as_extreme(np.array([sign * 0.2999]), sign * observed, alternative).any()


def test_undefined_draws_leave_numerator_and_denominator():
    drawn = np.append(DRAWN, [np.nan] * 91)
    assert monte_carlo_p(drawn, 2.0, "two-sided") == monte_carlo_p(DRAWN, 2.0, "two-sided")
    assert monte_carlo_p(np.full(5, np.nan), 2.0, "two-sided") == (1.0, 0, 0)


def test_an_infinite_statistic_ties_with_infinite_draws_only():
    drawn = np.array([np.inf, -np.inf, 5.0, 1e300])
    assert monte_carlo_p(drawn, np.inf, "greater")[1] == 1
    assert monte_carlo_p(drawn, -np.inf, "two-sided")[1] == 2
    assert monte_carlo_p(drawn, -np.inf, "less")[1] == 1


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize(("n", "error"), [(199, 0.05), (200, 0.05), (999, 0.0123), (1000, 0.1)])
def test_a_statistic_beyond_the_critical_value_is_rejected_and_one_at_it_is_not(alternative, n, error):
    drawn = np.random.default_rng(0).normal(size=n)
    sign = -1 if alternative == "less" else 1
    value = critical_value(drawn, alternative, error)
    assert monte_carlo_p(drawn, sign * value, alternative)[0] > error
    assert monte_carlo_p(drawn, sign * value * (1 + 1e-6), alternative)[0] <= error
    assert monte_carlo_p(drawn, sign * value * (1 - 1e-6), alternative)[0] > error
    assert critical_value(np.r_[drawn, np.nan], alternative, error) == value


def test_too_few_resamples_have_no_critical_value():
    drawn = np.arange(99.0)
    assert critical_value(drawn, "greater", 0.01) == 98
    assert critical_value(drawn, "greater", 0.009) is None
    assert critical_value(drawn, "greater", 0.05, fewest=5) == 94
    assert critical_value(drawn, "greater", 0.05, fewest=6) is None
    assert critical_value(np.empty(0), "greater", 0.05) is None


def test_the_limits_of_a_p_value_are_those_of_clopper_and_pearson():
    # Newcombe (1998), Statistics in Medicine 17, 857-872, Table I, method 5: .0578 to .1617, 0 to .1684.
    assert p_value_limits(15, 148) == pytest.approx((0.0578, 0.1617), abs=5e-5)
    assert p_value_limits(0, 20) == pytest.approx((0.0, 0.1684), abs=5e-5)
    assert p_value_limits(20, 20)[1] == 1.0


@pytest.mark.parametrize("p", [0.00024, 0.0002, 0.001, 0.05])
def test_the_limits_of_a_p_value_cover_it_however_small_it_is(p):
    # Enumerated over the number of extreme resamples of 9,999; Wilson's limits cover .887 at .00024.
    extreme = np.arange(800)
    limits = np.array([p_value_limits(int(k), 9999) for k in extreme])
    inside = (limits[:, 0] <= p) & (p <= limits[:, 1])
    assert binom.pmf(extreme[inside], 9999, p).sum() >= 0.95


def test_an_upper_quantile_is_the_largest_statistic_that_is_not_rejected():
    drawn = np.arange(-49.0, 50.0)  # 99 resamples: the k-th largest has p = (k + 1) / 100
    for alternative, level in (("greater", 0.05), ("less", 0.05), ("two-sided", 0.1)):
        sign = -1 if alternative == "less" else 1
        most = upper_quantile(drawn, alternative, level)
        assert monte_carlo_p(drawn, sign * most, alternative)[0] > level
        assert monte_carlo_p(drawn, sign * (most + 0.5), alternative)[0] <= level
    assert upper_quantile(drawn, "greater", 0.009) == np.inf
    assert upper_quantile(np.full(9, np.nan), "two-sided", 0.05) == np.inf
