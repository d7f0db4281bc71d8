"""Probabilities against exact rational arithmetic: integers have no rounding, whatever their size."""

from fractions import Fraction
from math import comb, log, log10

import numpy as np
import pytest

from skfairtest.inference._discrete import (
    binomial_log_pmf,
    hypergeometric_log_pmf,
    stirling_error,
)


def log_of(value):
    """Natural logarithm of a Fraction of any size."""
    shift = value.denominator.bit_length() - value.numerator.bit_length() + 80
    scaled = (
        (value.numerator << shift) // value.denominator
        if shift >= 0
        else value.numerator // (value.denominator << -shift)
    )
    return log(scaled) - shift * log(2)


def exact_binomial(x, n, p):
    p = Fraction(p)  # the float itself, without rounding
    return comb(n, x) * p**x * (1 - p) ** (n - x)


def exact_hypergeometric(x, d1, d2, m):
    return Fraction(comb(d1, x) * comb(d2, m - x), comb(d1 + d2, m))


@pytest.mark.parametrize("p", [0.5, 0.25, 0.1, 0.001, 0.999])
@pytest.mark.parametrize("n", [1, 2, 7, 15, 16, 40, 300])
def test_binomial_probabilities_equal_exact_fractions(n, p):
    outcomes = np.unique(np.linspace(0, n, 25).astype(int))
    expected = [log_of(exact_binomial(int(x), n, p)) for x in outcomes]
    np.testing.assert_allclose(binomial_log_pmf(outcomes, n, p), expected, rtol=1e-13, atol=1e-13)


def test_binomial_probabilities_of_every_size_sum_to_one():
    for n, p in [(5, 0.3), (1000, 0.01), (200_000, 0.7)]:
        total = np.exp(binomial_log_pmf(np.arange(n + 1), n, p)).sum()
        assert total == pytest.approx(1, rel=1e-11)


def test_a_certain_event_and_an_impossible_one_have_their_own_probabilities():
    np.testing.assert_array_equal(binomial_log_pmf([0, 1, 3], 3, 0.0), [0.0, -np.inf, -np.inf])
    np.testing.assert_array_equal(binomial_log_pmf([0, 1, 3], 3, 1.0), [-np.inf, -np.inf, 0.0])
    assert binomial_log_pmf(0, 0, 0.3) == 0.0


def test_events_that_are_as_rare_as_numbers_can_be_keep_their_logarithm():
    p = 2.0**-1074
    expected = [log(comb(80, x)) - x * 1074 * log(2) for x in range(81)]
    np.testing.assert_allclose(binomial_log_pmf(np.arange(81), 80, p), expected, rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize(
    ("d1", "d2", "m"),
    [(1, 1, 1), (5, 9, 4), (10, 40, 25), (300, 700, 123), (1000, 1000, 1000), (3, 5000, 4999)],
)
def test_hypergeometric_probabilities_equal_exact_fractions(d1, d2, m):
    low, high = max(0, m - d2), min(d1, m)
    outcomes = np.unique(np.linspace(low, high, 30).astype(int))
    expected = [log_of(exact_hypergeometric(int(x), d1, d2, m)) for x in outcomes]
    np.testing.assert_allclose(hypergeometric_log_pmf(outcomes, d1, d2, m), expected, rtol=1e-13, atol=1e-12)


def test_a_probability_below_the_smallest_float_keeps_its_logarithm():
    # C(100000, 60000) C(100000, 40000) / C(200000, 100000) is about 1e-1749.
    value = float(hypergeometric_log_pmf(60_000, 100_000, 100_000, 100_000))
    assert value == pytest.approx(log_of(exact_hypergeometric(60_000, 100_000, 100_000, 100_000)), rel=1e-13)
    assert value / log(10) < -1700


def test_a_billion_people_keep_the_probability_of_the_mode():
    # By Stirling's formula, to relative order 1/N: 1 / sqrt(2 pi V) with V the hypergeometric variance.
    d1, d2, m = 500_000_000, 500_000_000, 500_000_000
    variance = m * 0.5 * 0.5 * (d2 / (d1 + d2 - 1))
    value = float(hypergeometric_log_pmf(m // 2, d1, d2, m))
    assert value == pytest.approx(-0.5 * log(2 * np.pi * variance), abs=1e-8)


def test_without_events_or_without_non_events_there_is_one_outcome():
    np.testing.assert_array_equal(hypergeometric_log_pmf([0, 4], 4, 6, [0, 10]), [0.0, 0.0])
    assert hypergeometric_log_pmf(0, 0, 6, 3) == pytest.approx(0.0, abs=1e-14)


def test_stirling_errors_are_what_the_factorial_leaves():
    n = np.array([0, 1, 2, 10, 15, 16, 17, 50, 170])
    factorials = [log(float(np.prod(np.arange(1.0, k + 1)))) for k in n]
    with np.errstate(divide="ignore", invalid="ignore"):
        formula = np.where(n > 0, (n + 0.5) * np.log(n) - n + 0.5 * np.log(2 * np.pi), 0.0)
    np.testing.assert_allclose(stirling_error(n), factorials - formula, atol=2e-13)
    assert log10(float(stirling_error(10**9))) == pytest.approx(log10(1 / (12e9)), abs=1e-9)
