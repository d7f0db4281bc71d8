"""The audit value: published figures, hand computations, tails, and samples that do not define it."""

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats

from skfairtest.individual.statistics import (
    AuditValue,
    UndefinedAuditValueError,
    audit_value,
    lower_bound,
    ratios,
)

STATISTICS = ("loss_ratio", "ratio_of_means")

GOLDEN = json.loads((Path(__file__).parent / "golden" / "maity.json").read_text())
BEFORE, AFTER = np.array([1.0, 1.0, 2.0, 2.0]), np.array([2.0, 1.0, 6.0, 4.0])


def of(statistic, before=BEFORE, after=AFTER, tolerance=1.25, confidence_level=0.95):
    return audit_value(statistic, before, after, tolerance=tolerance, confidence_level=confidence_level)


def losses(n=40, seed=0):
    rng = np.random.default_rng(seed)
    before = rng.exponential(size=n)
    return before, before * np.exp(rng.normal(0.3, 0.5, size=n))


# Figures --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", GOLDEN["flows"])
def test_lower_bounds_are_the_published_ones(name):
    flow = GOLDEN["flows"][name]
    found = lower_bound(flow["mean"], flow["standard_deviation"], GOLDEN["n"], GOLDEN["z"])
    assert found == pytest.approx(flow["lower_bound"], abs=2e-10)


@pytest.mark.parametrize("name", GOLDEN["flows"])
def test_ratios_with_the_published_moments_have_the_published_lower_bound(name):
    """400 ratios of this mean and standard deviation, half of them above and half below; z is exact here."""
    flow = GOLDEN["flows"][name]
    signs = np.where(np.arange(400) % 2, 1, -1)
    found = of("loss_ratio", np.ones(400), flow["mean"] + signs * flow["standard_deviation"])
    assert found.estimate == pytest.approx(flow["mean"], abs=1e-12)
    assert found.standard_error == pytest.approx(flow["standard_deviation"] / 20, abs=1e-13)
    assert found.lower_bound == pytest.approx(flow["lower_bound"], abs=2e-6)


def test_the_mean_of_ratios_by_hand():
    """Ratios 2, 1, 3, 2: mean 2, variance (0 + 1 + 1 + 0) / 4, standard error sqrt(1 / 8)."""
    found = of("loss_ratio")
    assert found.estimate == 2
    assert found.standard_error == pytest.approx(np.sqrt(1 / 8), rel=1e-15)
    assert found.lower_bound == pytest.approx(2 - 1.6448536269514722 / np.sqrt(8), rel=1e-14)
    assert found.interval == pytest.approx((2 - 1.959963984540054 / np.sqrt(8), 2 + 1.959963984540054 / np.sqrt(8)))
    assert found.p_value == pytest.approx(stats.norm.sf(0.75 * np.sqrt(8)), rel=1e-13)


def test_the_ratio_of_means_is_the_papers_formula():
    """Equation 3.12: sqrt(A^2 V22 + B^2 V11 - 2 A B V12) / (B^2 sqrt n), V with ddof = 0."""
    before, after = losses()
    v = np.cov(after, before, ddof=0)
    a, b = after.mean(), before.mean()
    error = np.sqrt(a**2 * v[1, 1] + b**2 * v[0, 0] - 2 * a * b * v[0, 1]) / (b**2 * np.sqrt(40))
    found = of("ratio_of_means", before, after)
    assert found.estimate == pytest.approx(a / b, rel=1e-14)
    assert found.standard_error == pytest.approx(error, rel=1e-12)
    assert found.lower_bound == pytest.approx(a / b - 1.6448536269514722 * error, rel=1e-12)
    assert found.p_value == pytest.approx(stats.norm.sf((a / b - 1.25) / error), rel=1e-10)


def test_a_ratio_of_error_rates_in_exact_fractions():
    """20 people: 4 wrong before and after, 1 before only, 6 after only. A = 10/20, B = 5/20, S = 2."""
    before = np.repeat([1, 1, 0, 0], [4, 1, 6, 9])
    after = np.repeat([1, 0, 1, 0], [4, 1, 6, 9])
    a, b, both = Fraction(10, 20), Fraction(5, 20), Fraction(4, 20)
    square = (a**2 * b * (1 - b) + b**2 * a * (1 - a) - 2 * a * b * (both - a * b)) / b**4 / 20
    found = of("ratio_of_means", before, after)
    assert found.estimate == 2
    assert found.standard_error == pytest.approx(float(square) ** 0.5, rel=1e-14)


def test_no_loss_before_and_after_is_a_ratio_of_one():
    np.testing.assert_array_equal(ratios([0, 0, 2, 4], [0, 3, 0, 2]), [1, np.inf, 0, 0.5])
    assert of("loss_ratio", [0, 1], [0, 3]).estimate == 2


def test_p_values_are_accurate_far_out():
    """1 - Phi(z) is z's density / z times (1 - 1/z^2 + 3/z^4 - ...); at z = 35 four terms give 12 digits."""
    n = 400
    ratio = 2 + np.where(np.arange(n) % 2, 1.0, -1.0) * (0.75 * np.sqrt(n) / 35)
    z = 35.0
    series = 1 - z**-2 + 3 * z**-4 - 15 * z**-6 + 105 * z**-8
    expected = np.exp(-z * z / 2) / np.sqrt(2 * np.pi) / z * series
    assert of("loss_ratio", np.ones(n), ratio).p_value == pytest.approx(expected, rel=1e-9)
    assert 0 < expected < 1e-250


# What must hold for any losses ----------------------------------------------------------------------------------------

POSITIVE = hnp.arrays(float, st.shared(st.integers(2, 8), key="n"), elements=st.floats(1e-3, 1e3))


@pytest.mark.parametrize("statistic", STATISTICS)
@settings(deadline=None)
@given(before=POSITIVE, after=POSITIVE, tolerance=st.floats(0.5, 3), level=st.sampled_from([0.8, 0.95, 0.99]))
def test_the_test_rejects_where_its_lower_bound_is_above_the_tolerance(statistic, before, after, tolerance, level):
    found = of(statistic, before, after, tolerance, level)
    low, high = found.interval
    assert low <= found.lower_bound <= found.estimate <= high + 1e-9 * high
    assert 0 <= found.p_value <= 1
    if abs(found.lower_bound - tolerance) > 1e-9 * tolerance:
        assert (found.p_value < 1 - level) == (found.lower_bound > tolerance)


@pytest.mark.parametrize("statistic", STATISTICS)
@settings(deadline=None)
@given(before=POSITIVE, after=POSITIVE, unit=st.sampled_from([1e-150, 1e-3, 1e3, 1e150]))
def test_units_and_order_do_not_matter_and_twice_the_people_leave_the_estimate(statistic, before, after, unit):
    found = of(statistic, before, after)
    for other in (of(statistic, unit * before, unit * after), of(statistic, before[::-1], after[::-1])):
        for name in ("estimate", "lower_bound", "p_value"):
            assert getattr(other, name) == pytest.approx(getattr(found, name), rel=1e-6, abs=1e-300)
    twice = of(statistic, np.tile(before, 2), np.tile(after, 2))
    assert twice.estimate == pytest.approx(found.estimate, rel=1e-12)
    assert twice.standard_error == pytest.approx(found.standard_error / np.sqrt(2), rel=1e-6)


def test_ratios_beyond_the_square_root_of_the_largest_number_keep_their_moments():
    before, after = np.array([1e-200, 1.0, 1.0, 1.0]), np.array([1.0, 1.0, 1.0, 1.0])
    found = of("loss_ratio", before, after)
    assert found.estimate == pytest.approx(1e200 / 4)
    assert found.standard_error == pytest.approx(1e200 * np.sqrt(3) / 8)
    assert 0 < found.p_value < 1


# Nobody different from anybody ----------------------------------------------------------------------------------------


def test_where_no_loss_moves_the_value_is_one_and_nothing_is_rejected():
    before, _ = losses()
    for statistic in STATISTICS:
        found = of(statistic, before, before)
        assert (found.estimate, found.standard_error, found.p_value) == (1, 0, 1)
        assert found.interval == pytest.approx((0.025 ** (1 / 40), 1))


@pytest.mark.parametrize("statistic", STATISTICS)
@pytest.mark.parametrize("ratio", [0.3, 1.3, 3.7])
def test_equal_ratios_are_judged_by_markovs_inequality(statistic, ratio):
    """P(all n ratios >= S) <= (tolerance / S)^n, though 1.3 times a loss is rounded differently for everybody."""
    before, _ = losses()
    found = of(statistic, before, ratio * before)
    assert found.standard_error == 0
    assert found.estimate == pytest.approx(ratio, rel=1e-14)
    assert found.p_value == pytest.approx(min(1.0, (1.25 / ratio) ** 40), rel=1e-11)
    assert found.lower_bound == pytest.approx(ratio * 0.05 ** (1 / 40), rel=1e-12)


def test_markovs_bound_is_reached():
    """Ratios of 5 with probability 1/4 and else 0 have the mean 1.25: both of two are 5 with probability 1/16."""
    assert of("loss_ratio", [1, 1], [5, 5]).p_value == pytest.approx(1 / 16)


def test_an_error_rate_that_stays_counts_only_who_was_wrong():
    """Three of six wrong before and the same after, tolerance .5: at least half of the wrong ones would be right."""
    found = of("ratio_of_means", [1, 1, 1, 0, 0, 0], [1, 1, 1, 0, 0, 0], tolerance=0.5)
    assert (found.estimate, found.p_value) == (1, pytest.approx(1 / 8))


def test_losses_that_vanish_for_everybody_are_fair():
    for statistic in ("loss_ratio", "ratio_of_means"):
        found = of(statistic, [1, 2, 3], [0, 0, 0])
        assert found == AuditValue(0.0, 0.0, 0.0, (0.0, 0.0), 1.0)


# Losses that define nothing -------------------------------------------------------------------------------------------


def test_infinite_ratios_are_counted_and_never_dropped():
    with pytest.raises(UndefinedAuditValueError, match="2 of 4 people have a loss at their unfair examples and none"):
        of("loss_ratio", [0, 0, 1, 0], [1, 2, 1, 0])
    assert of("ratio_of_means", [0, 0, 1, 0], [1, 2, 1, 0]).estimate == 4


def test_a_ratio_of_means_needs_somebody_with_a_loss():
    with pytest.raises(UndefinedAuditValueError, match="the model makes no errors on the people tested"):
        of("ratio_of_means", [0, 0, 0], [0, 1, 0])


@pytest.mark.parametrize("statistic", STATISTICS)
@pytest.mark.parametrize("wrong", [np.nan, np.inf, -0.5])
@pytest.mark.parametrize("place", ["before", "after"])
def test_a_loss_that_is_no_loss_is_an_error(statistic, wrong, place):
    arguments = {"before": BEFORE.copy(), "after": AFTER.copy()}
    arguments[place][[0, 2]] = wrong
    with pytest.raises(UndefinedAuditValueError, match=r"2 of . people have a loss that is not a finite number of at"):
        of(statistic, **arguments)


# How often the tests reject -------------------------------------------------------------------------------------------


def rejections(statistic, draw, n, reps=2000):
    rng = np.random.default_rng(n)
    return np.mean([of(statistic, *draw(rng, n)).p_value < 0.05 for _ in range(reps)])


def mean_ratio(rng, n):
    return np.ones(n), np.exp(rng.normal(np.log(1.25) - 0.125, 0.5, size=n))


def error_rates(rng, n):
    """Error rates of .2 before and .25 after, of the same people and more."""
    u = rng.uniform(size=n)
    return (u < 0.2) * 1.0, (u < 0.25) * 1.0


@pytest.mark.parametrize(
    ("statistic", "draw"),
    [("loss_ratio", mean_ratio), ("ratio_of_means", error_rates)],
    ids=["loss_ratio", "ratio_of_means"],
)
def test_at_an_audit_value_of_exactly_the_tolerance_the_level_is_kept(statistic, draw):
    """At most .05, and .015 more is three standard errors of 2,000 simulations."""
    assert rejections(statistic, draw, 400) <= 0.05 + 0.015


def test_the_formulas_p_value_of_zero_would_reject_fair_models():
    """Ratios of 1 (2%) or 1.2551, mean 1.25: 20 of them are all 1.2551 in two samples of three."""

    def mostly(rng, n):
        return np.ones(n), np.where(rng.uniform(size=n) < 0.02, 1.0, 1 + 0.25 / 0.98)

    equal = np.mean([np.ptp(mostly(np.random.default_rng(i), 20)[1]) == 0 for i in range(2000)])
    assert equal == pytest.approx(0.98**20, abs=0.035)
    assert rejections("loss_ratio", mostly, 20) == 0


# How often the test really rejects ------------------------------------------------------------------------------------
