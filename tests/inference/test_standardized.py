"""Differences of means in standard deviations: published numbers, SciPy's statistics, and measured coverage."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.stats import nct, norm, ttest_ind

from skfairtest.inference.standardized import standardized_difference, standardized_limits, standardized_moments

Z = float(norm.ppf(0.975))


def moments_of(first, second):
    values = np.concatenate([first, second])
    counts = np.stack([np.arange(len(values)) < len(first), np.arange(len(values)) >= len(first)])
    return standardized_moments(values, counts)


def normal_scores(n, mean, deviation):
    """Numbers as normal as so many can be, of exactly this mean and standard deviation."""
    x = norm.ppf((np.arange(n) + 0.5) / n)
    return mean + deviation * (x - x.mean()) / x.std(ddof=1)


def test_published_figures():
    # Borenstein, Hedges, Higgins and Rothstein (2009), Introduction to Meta-Analysis, chapter 4: d and its standard
    # error, which is that of normal numbers; these have tails a little lighter.
    d, error = standardized_difference(moments_of(normal_scores(50, 103, 5.5), normal_scores(50, 100, 4.5)))
    assert d == pytest.approx(0.5970, abs=5e-5)
    assert error == pytest.approx(0.2044, rel=0.01)


def test_limits_of_many_normal_numbers_are_those_of_the_noncentral_t_distribution():
    n1, n2 = 400, 600
    moments = moments_of(normal_scores(n1, 0.4, 1), normal_scores(n2, 0, 1))
    times = np.sqrt(n1 * n2 / (n1 + n2))
    t = standardized_difference(moments)[0] * times
    exact = [brentq(lambda d, q=q: nct.cdf(t, n1 + n2 - 2, d * times) - q, -1, 2) for q in (0.975, 0.025)]
    assert standardized_limits(moments, (Z, Z)) == pytest.approx(exact, abs=2e-3)


@settings(deadline=None)
@given(st.integers(0, 10**6), st.integers(3, 30), st.integers(3, 30), st.floats(0.2, 4))
def test_the_statistic_at_zero_is_welchs_and_at_the_limits_the_critical_value(seed, n1, n2, critical):
    rng = np.random.default_rng(seed)
    first, second = rng.exponential(size=n1), rng.normal(size=n2) * rng.uniform(0.5, 3) + rng.normal()
    moments = moments_of(first, second)
    welch = ttest_ind(first, second, equal_var=False).statistic
    assert moments.first / np.sqrt(moments.first_variance) == pytest.approx(welch)
    spread = np.sqrt(((n1 - 1) * first.var(ddof=1) + (n2 - 1) * second.var(ddof=1)) / (n1 + n2 - 2))
    d, _ = standardized_difference(moments)
    assert d == pytest.approx((first.mean() - second.mean()) / spread)
    low, high = standardized_limits(moments, (critical, critical))
    assert low <= d <= high
    assert (low <= 0 <= high) == (abs(welch) <= critical)
    for edge, sign in ((low, 1), (high, -1)):
        if np.isfinite(edge):
            distance = moments.first - edge * moments.second
            variance = moments.first_variance + edge**2 * moments.second_variance - 2 * edge * moments.covariance
            assert sign * distance / np.sqrt(variance) == pytest.approx(critical, rel=1e-6)


def test_the_error_is_that_of_the_delta_method():
    rng = np.random.default_rng(1)
    first, second = rng.exponential(size=2000), rng.gamma(3.0, size=3000)
    d, error = standardized_difference(moments_of(first, second))
    left_out = [standardized_difference(moments_of(np.delete(first, i), second))[0] for i in range(0, 2000, 10)]
    right_out = [standardized_difference(moments_of(first, np.delete(second, i)))[0] for i in range(0, 3000, 10)]
    jackknife = np.sqrt(10 * sum(((np.array(out) - d) ** 2).sum() for out in (left_out, right_out)))
    assert error == pytest.approx(jackknife, rel=0.1)


def test_swapped_groups_have_the_opposite_limits_and_units_do_not_matter():
    rng = np.random.default_rng(2)
    first, second = rng.exponential(size=30), rng.normal(size=50)
    low, high = standardized_limits(moments_of(first, second), (1.5, 2.5))
    assert standardized_limits(moments_of(second, first), (2.5, 1.5)) == pytest.approx((-high, -low))
    assert standardized_limits(moments_of(7 + 3 * first, 7 + 3 * second), (1.5, 2.5)) == pytest.approx((low, high))


def test_one_sided_limits_and_people_who_are_all_alike():
    moments = moments_of(np.arange(5.0), np.arange(7.0))
    assert standardized_limits(moments, (np.inf, Z))[0] == -np.inf
    assert standardized_limits(moments, (Z, np.inf))[1] == np.inf
    alike = moments_of(np.zeros(5), np.zeros(7))
    assert np.isnan([*standardized_difference(alike), *standardized_limits(alike, (Z, Z))]).all()
    few = moments_of(np.array([0.0, 0, 1]), np.array([0.0, 0, 0, 5]))
    assert standardized_limits(few, (8.0, 8.0)) == (-np.inf, np.inf)


@pytest.mark.parametrize(
    ("law", "n1", "n2", "times", "shift"),
    [
        ("normal", 50, 50, 1.0, 0.5),
        ("normal", 30, 120, 2.0, 0.5),
        ("normal", 200, 400, 1.5, 1.0),
        ("exponential", 200, 200, 1.0, 0.5),
        ("events", 50, 100, 1.0, 0.5),
    ],
)
def test_coverage(law, n1, n2, times, shift, thorough):
    """2,000 or 200 samples of unequal variances, not all normal: at least 93% less three standard errors."""
    n = 2000 if thorough else 200
    draw = {
        "normal": lambda rng, n: rng.normal(size=n),
        "exponential": lambda rng, n: rng.exponential(size=n) - 1,
        "events": lambda rng, n: ((rng.random(n) < 0.3) - 0.3) / np.sqrt(0.21),
    }[law]
    rng, hits = np.random.default_rng(20), 0
    true = shift / np.sqrt(((n1 - 1) + (n2 - 1) * times**2) / (n1 + n2 - 2))
    for _ in range(n):
        low, high = standardized_limits(moments_of(draw(rng, n1) + shift, times * draw(rng, n2)), (Z, Z))
        hits += low <= true <= high
    assert 0.93 - 3 * np.sqrt(0.93 * 0.07 / n) <= hits / n <= 0.95 + 3 * np.sqrt(0.95 * 0.05 / n)
