"""Products of residuals: against formulas written down again, regression by least squares, and simulation."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skfairtest.adjusted.statistics import Residuals, studentized_mean


def residuals(seed, n=60, **more):
    rng = np.random.default_rng(seed)
    group = rng.normal(size=n)
    return Residuals(0.3 * group + rng.normal(size=n), group, **more)


def test_statistic_is_that_of_shah_and_peters_package():
    """Shah and Peters (2020), equation 3: sqrt(n) * mean(R) / sqrt(mean(R^2) - mean(R)^2)."""
    one = residuals(0)
    R = one.outcome * one.group
    expected = np.sqrt(60) * np.mean(R) / np.sqrt(np.mean(R**2) - np.mean(R) ** 2)
    assert one.statistic() == pytest.approx(expected, rel=1e-12)


def test_of_residuals_of_least_squares_the_coefficient_is_the_regressions_and_its_error_whites():
    """Frisch, Waugh and Lovell; White (1980), HC0."""
    rng = np.random.default_rng(1)
    X = np.column_stack([np.ones(80), rng.normal(size=(80, 3))])
    d = (X[:, 1] + rng.normal(size=80) > 0).astype(float)
    y = X @ [1, 2, -1, 0.5] + 0.7 * d + rng.normal(size=80) * (1 + X[:, 2] ** 2)
    hat = X @ np.linalg.pinv(X)
    one = Residuals(y - hat @ y, d - hat @ d)
    full = np.column_stack([d, X])
    inverse = np.linalg.inv(full.T @ full)
    beta = inverse @ full.T @ y
    meat = (full * ((y - full @ beta) ** 2)[:, None]).T @ full
    assert one.coefficient == pytest.approx(beta[0], rel=1e-9)
    assert one.standard_error == pytest.approx(np.sqrt((inverse @ meat @ inverse)[0, 0]), rel=1e-9)


@given(seed=st.integers(0, 10_000), z=st.floats(0.1, 3))
def test_limits_are_where_the_test_turns(seed, z):
    one = residuals(seed)
    low, high = one.limits(z, z)
    if np.isfinite(low):
        assert low <= one.coefficient <= high
        assert one.statistic(low) == pytest.approx(z, abs=1e-6)
        assert one.statistic(high) == pytest.approx(-z, abs=1e-6)
        assert (low <= 0 <= high) == (abs(one.statistic()) <= z)


def test_one_sided_limits_have_one_end():
    one = residuals(2)
    low, high = one.limits(1.645, np.inf)
    assert np.isfinite(low)
    assert high == np.inf


def test_limits_are_infinite_where_a_group_hardly_varies_given_the_covariates():
    group = np.zeros(50)
    group[0] = 1.0  # a single person of whom the covariates do not say the group
    one = Residuals(np.random.default_rng(3).normal(size=50), group)
    assert one.limits(1.96, 1.96) == (-np.inf, np.inf)


def test_clusters_of_one_are_people_and_twins_in_clusters_count_once():
    alone = residuals(4)
    numbered = Residuals(alone.outcome, alone.group, np.arange(60))
    twice = Residuals(np.tile(alone.outcome, 2), np.tile(alone.group, 2), np.tile(np.arange(60), 2))
    for one in (numbered, twice):
        assert one.coefficient == pytest.approx(alone.coefficient)
        assert one.standard_error == pytest.approx(alone.standard_error)
        assert one.statistic() == pytest.approx(alone.statistic())
        assert one.limits(1.96, 1.96) == pytest.approx(alone.limits(1.96, 1.96))


def test_a_mean_of_nothing_is_undefined_and_one_without_spread_is_infinite():
    assert np.isnan(studentized_mean(np.zeros(5)))
    assert studentized_mean(np.full(5, -2.0)) == -np.inf
