"""Mathematics: fair distances, who is possible, differences, and the audit value by hand and by published figures."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats
from scipy.linalg import orth

from skfairtest._utils.errors import ParameterError
from skfairtest.individual.flow import (
    Quadratic,
    Ranges,
    basis,
    central_differences,
    complement,
    differentiable,
    span,
    steps_of,
)
from skfairtest.individual.statistics import (
    audit_value,
    ratios,
)


def projection(rows):
    """Projection on the orthogonal complement of orthonormal rows."""
    return np.eye(rows.shape[1]) - rows.T @ rows


def random_rows(seed, k, d):
    """Orthonormal rows."""
    return np.linalg.qr(np.random.default_rng(seed).normal(size=(d, k)))[0].T


def test_distances_are_those_of_the_matrix():
    metric = Quadratic([[2.0, 1.0], [1.0, 3.0]])
    v = np.array([[1.0, 0.0], [1.0, -1.0]])
    np.testing.assert_allclose(metric.squared_distance(v), [2.0, 3.0])
    assert metric.largest == pytest.approx((5 + np.sqrt(5)) / 2)
    assert metric.free_directions.shape == (0, 2)


@given(seed=st.integers(0, 10_000), d=st.integers(2, 6), data=st.data())
def test_the_null_space_is_found(seed, d, data):
    k = data.draw(st.integers(1, d - 1))
    rows = random_rows(seed, k, d)
    metric = Quadratic(projection(rows) * data.draw(st.sampled_from([1e-6, 1.0, 1e6])))
    free = metric.free_directions
    np.testing.assert_allclose(free @ free.T, np.eye(k), atol=1e-12)
    np.testing.assert_allclose(free.T @ free, rows.T @ rows, atol=1e-9)
    np.testing.assert_allclose(metric.squared_distance(free), 0, atol=1e-12 * metric.largest)


def test_without_a_null_space_the_cheapest_directions_come_first():
    rows = random_rows(3, 3, 3)
    metric = Quadratic(rows.T @ np.diag([5.0, 0.1, 2.0]) @ rows)
    directions = metric.directions()
    assert metric.free_directions.shape == (0, 3)
    np.testing.assert_allclose(metric.squared_distance(directions), [0.1, 2.0, 5.0], rtol=1e-9)
    assert (np.abs(directions).max(axis=1) == directions.max(axis=1)).all()  # leaning towards an axis, positively
    np.testing.assert_array_equal(Quadratic(np.eye(3)).directions(), np.eye(3))


def test_a_direction_that_costs_a_billionth_is_free_and_one_that_costs_a_millionth_is_not():
    assert len(Quadratic(np.diag([1e-11, 1.0])).free_directions) == 1
    assert len(Quadratic(np.diag([1e-6, 1.0])).free_directions) == 0


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.ones((2, 3)), "must be square, finite and symmetric"),
        ([[1.0, np.nan], [np.nan, 1.0]], "must be square, finite and symmetric"),
        ([[1.0, 0.5], [0.2, 1.0]], "must be square, finite and symmetric"),
        ([[1.0, 2.0], [2.0, 1.0]], "must be positive semi-definite, found the eigenvalue -1"),
    ],
)
def test_what_is_not_a_fair_distance_is_refused(matrix, message):
    with pytest.raises(ValueError, match=message):
        Quadratic(matrix)


def test_where_columns_stay_what_is_left_free_is_searched():
    rows = random_rows(5, 3, 6)
    metric = Quadratic(projection(rows))
    frozen = np.arange(6) == 4
    directions, costs = metric.holding(frozen).reachable(frozen)
    assert directions.shape == (2, 6)  # three directions, of which one equation is left to hold
    np.testing.assert_array_equal(costs, 0.0)
    np.testing.assert_array_equal(directions[:, 4], 0.0)
    np.testing.assert_allclose(directions @ directions.T, np.eye(2), atol=1e-12)
    np.testing.assert_allclose(metric.squared_distance(directions), 0.0, atol=1e-12)


def test_where_nothing_is_left_free_every_direction_has_its_cost():
    metric = Quadratic(np.diag([0.0, 4.0, 1.0, 1e-4]))
    frozen = np.arange(4) == 0
    directions, costs = metric.holding(frozen).reachable(frozen)
    np.testing.assert_array_equal(directions, np.eye(4)[[3, 2, 1]])
    np.testing.assert_allclose(costs, [1e-4, 1.0, 4.0])
    everything = np.ones(4, dtype=bool)
    assert metric.holding(everything).reachable(everything)[0].shape == (0, 4)


def test_a_form_in_other_units_has_directions_and_distances_of_those():
    units, moves = np.array([2.0, 0.5, 3.0]), np.random.default_rng(0).normal(size=(4, 3))
    rows = random_rows(1, 1, 3)
    there, here = Quadratic(projection(rows)), Quadratic(projection(rows), units)
    np.testing.assert_allclose(here.squared_distance(moves * units), there.squared_distance(moves), atol=1e-12)
    np.testing.assert_allclose(moves * units @ here.shrinking(3.0), moves @ there.shrinking(3.0) * units, atol=1e-12)
    for frozen in (np.zeros(3, dtype=bool), np.array([False, False, True])):
        (ours, costs), (theirs, others) = (form.holding(frozen).reachable(frozen) for form in (here, there))
        np.testing.assert_allclose(ours, theirs * units, atol=1e-12)
        np.testing.assert_allclose(costs, others, rtol=1e-9)


@given(seed=st.integers(0, 10_000), d=st.integers(2, 6), data=st.data())
def test_a_basis_does_not_depend_on_which_rows_span_the_space(seed, d, data):
    k = data.draw(st.integers(1, d))
    rows = random_rows(seed, k, d)
    turned = random_rows(seed + 1, k, k) @ rows
    np.testing.assert_allclose(basis(turned), basis(rows), atol=1e-9)


def test_spans_are_those_of_scipy_and_complements_are_the_rest():
    rows = np.random.default_rng(1).normal(size=(3, 6))
    rows = np.vstack([rows, rows[0] - 2 * rows[1], np.zeros(6)])
    found, expected = span(rows), orth(rows.T, rcond=1e-6)
    np.testing.assert_allclose(found.T @ found, expected @ expected.T, atol=1e-13)
    np.testing.assert_allclose(complement(found), np.eye(6) - expected @ expected.T, atol=1e-13)


def test_the_nearest_person_has_one_category_and_a_level():
    levels = {4: np.array([0.0, 1.0, 5.0])}
    possible = Ranges(
        np.array([-0.2, *[-np.inf] * 6]), np.array([0.3, *[np.inf] * 6]), np.arange(7) == 5, ((1, 2, 3),), levels
    )
    x0 = np.array([[0.0, 0.0, 1.0, 0.0, 5.0, 7.0, 0.0]] * 4)
    x = np.array(
        [
            [0.9, 0.3, 0.4, 0.3, 3.1, -3.0, 9.0],  # the last but one is frozen, the last without limits
            [-0.9, 0.5, 0.5, 0.0, 2.9, 7.0, 0.0],  # as near to the category of the start, which stays
            [0.1, -3.0, -2.0, -1.0, 0.4, 9.0, 0.0],
            [0.1, 2.0, 1.0, -2.0, 99.0, 9.0, 0.0],
        ]
    )
    expected = [
        [0.3, 0, 1, 0, 5, 7, 9], [-0.2, 0, 1, 0, 1, 7, 0], [0.1, 0, 0, 1, 0, 7, 0], [0.1, 1, 0, 0, 5, 7, 0]
    ]  # fmt: skip
    np.testing.assert_array_equal(possible.nearest(x, x0), expected)
    np.testing.assert_array_equal(possible.nearest(x0, x0), x0)


WIDTH = np.cbrt(np.finfo(float).eps)


def wave(x, people):
    """Different functions of different people."""
    return np.sin(x).sum(axis=1) * (1 + people) + x[:, 0] * x[:, -1]


@given(st.integers(1, 12), st.integers(1, 5), st.integers(0, 100))
def test_they_are_the_derivative_of_every_person(n, d, seed):
    x = np.random.default_rng(seed).normal(size=(n, d)) * 3
    expected = np.cos(x) * (1 + np.arange(n))[:, None]
    expected[:, 0] += x[:, -1]
    expected[:, -1] += x[:, 0]
    np.testing.assert_allclose(central_differences(wave, x, steps_of(x, WIDTH)), expected, atol=1e-7 * n)


def test_other_columns_are_left_alone():
    x = np.random.default_rng(0).normal(size=(7, 4))
    found = central_differences(wave, x, steps_of(x, WIDTH), columns=np.array([1, 2]))
    assert not found[:, [0, 3]].any()
    np.testing.assert_array_equal(found[:, [1, 2]], central_differences(wave, x, steps_of(x, WIDTH))[:, [1, 2]])


def test_large_columns_have_wide_differences():
    x = np.array([[1e6, 1e-6]])
    asked = []

    def function(x, people):
        asked.append(x.copy())
        return (x[:, 0] / 1e6) ** 2 + x[:, 1]

    found = central_differences(function, x, steps_of(x, WIDTH))
    np.testing.assert_allclose(found, [[2e-6, 1.0]], rtol=1e-8)
    np.testing.assert_allclose(np.abs(asked[0] - x).max(axis=0), [1e6 * WIDTH, WIDTH], rtol=1e-4)


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (wave, True),
        (lambda x, people: np.abs(x).sum(axis=1), True),  # but for a few people at the kink
        (lambda x, people: np.zeros(len(x)), False),
        (lambda x, people: np.floor(x).sum(axis=1), False),
        (lambda x, people: np.floor(1e5 * x).sum(axis=1), False),  # many small jumps
    ],
)
def test_what_jumps_has_no_derivatives(function, expected):
    x = np.random.default_rng(0).normal(size=(200, 3))
    assert differentiable(function, x, width=WIDTH) is expected


STATISTICS = ("loss_ratio", "ratio_of_means")

BEFORE, AFTER = np.array([1.0, 1.0, 2.0, 2.0]), np.array([2.0, 1.0, 6.0, 4.0])


def of(statistic, before=BEFORE, after=AFTER, tolerance=1.25, confidence_level=0.95):
    return audit_value(statistic, before, after, tolerance=tolerance, confidence_level=confidence_level)


def losses(n=40, seed=0):
    rng = np.random.default_rng(seed)
    before = rng.exponential(size=n)
    return before, before * np.exp(rng.normal(0.3, 0.5, size=n))


def test_the_mean_of_ratios_by_hand():
    """Ratios 2, 1, 3, 2: mean 2, variance (0 + 1 + 1 + 0) / 4, standard error sqrt(1 / 8)."""
    found = of("loss_ratio")
    assert found.estimate == 2
    assert found.standard_error == pytest.approx(np.sqrt(1 / 8), rel=1e-15)
    assert found.lower_bound == pytest.approx(2 - 1.6448536269514722 / np.sqrt(8), rel=1e-14)
    assert found.interval == pytest.approx((2 - 1.959963984540054 / np.sqrt(8), 2 + 1.959963984540054 / np.sqrt(8)))
    assert found.p_value == pytest.approx(stats.norm.sf(0.75 * np.sqrt(8)), rel=1e-13)


def test_a_ratio_of_error_rates_in_exact_fractions():
    """20 people: 4 wrong before and after, 1 before only, 6 after only. A = 10/20, B = 5/20, S = 2."""
    before = np.repeat([1, 1, 0, 0], [4, 1, 6, 9])
    after = np.repeat([1, 0, 1, 0], [4, 1, 6, 9])
    a, b, both = Fraction(10, 20), Fraction(5, 20), Fraction(4, 20)
    square = (a**2 * b * (1 - b) + b**2 * a * (1 - a) - 2 * a * b * (both - a * b)) / b**4 / 20
    found = of("ratio_of_means", before, after)
    assert found.estimate == 2
    assert found.standard_error == pytest.approx(float(square) ** 0.5, rel=1e-14)


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
@given(before=POSITIVE, after=POSITIVE, tolerance=st.floats(0.5, 3), level=st.sampled_from([0.8, 0.95, 0.99]))
def test_the_test_rejects_where_its_lower_bound_is_above_the_tolerance(statistic, before, after, tolerance, level):
    found = of(statistic, before, after, tolerance, level)
    low, high = found.interval
    assert low <= found.lower_bound <= found.estimate <= high + 1e-9 * high
    assert 0 <= found.p_value <= 1
    if abs(found.lower_bound - tolerance) > 1e-9 * tolerance:
        assert (found.p_value < 1 - level) == (found.lower_bound > tolerance)


@pytest.mark.parametrize("statistic", STATISTICS)
@given(before=POSITIVE, after=POSITIVE, unit=st.sampled_from([1e-150, 1e-3, 1e3, 1e150]))
def test_units_and_order_do_not_matter_and_twice_the_people_leave_the_estimate(statistic, before, after, unit):
    found = of(statistic, before, after)
    for other in (of(statistic, unit * before, unit * after), of(statistic, before[::-1], after[::-1])):
        for name in ("estimate", "lower_bound", "p_value"):
            assert getattr(other, name) == pytest.approx(getattr(found, name), rel=1e-6, abs=1e-300)
    twice = of(statistic, np.tile(before, 2), np.tile(after, 2))
    assert twice.estimate == pytest.approx(found.estimate, rel=1e-12)
    assert twice.standard_error == pytest.approx(found.standard_error / np.sqrt(2), rel=1e-6)


@pytest.mark.parametrize("statistic", STATISTICS)
@pytest.mark.parametrize("ratio", [0.0, 0.3, 1.0, 1.3, 3.7])
def test_equal_ratios_are_judged_by_markovs_inequality(statistic, ratio):
    """P(all n ratios >= S) <= (tolerance / S)^n, though 1.3 times a loss is rounded differently for everybody."""
    before, _ = losses()
    found = of(statistic, before, ratio * before)
    assert found.standard_error == 0
    assert found.estimate == pytest.approx(ratio, rel=1e-14)
    assert found.p_value == pytest.approx(min(1.0, (1.25 / max(ratio, 1.25)) ** 40), rel=1e-11)
    assert found.lower_bound == pytest.approx(ratio * 0.05 ** (1 / 40), rel=1e-12)
    assert found.interval == pytest.approx((ratio * 0.025 ** (1 / 40), ratio))


def test_an_error_rate_that_stays_counts_only_who_was_wrong():
    """Three of six wrong before and the same after, tolerance .5: at least half of the wrong ones would be right."""
    found = of("ratio_of_means", [1, 1, 1, 0, 0, 0], [1, 1, 1, 0, 0, 0], tolerance=0.5)
    assert (found.estimate, found.p_value) == (1, pytest.approx(1 / 8))


def test_infinite_ratios_are_counted_and_never_dropped():
    np.testing.assert_array_equal(ratios([0, 0, 2, 4], [0, 3, 0, 2]), [1, np.inf, 0, 0.5])
    with pytest.raises(ParameterError, match="2 of 4 people have a loss at their unfair examples and none"):
        of("loss_ratio", [0, 0, 1, 0], [1, 2, 1, 0])
    assert of("ratio_of_means", [0, 0, 1, 0], [1, 2, 1, 0]).estimate == 4


@pytest.mark.parametrize("statistic", STATISTICS)
@pytest.mark.parametrize("wrong", [np.nan, np.inf, -0.5])
@pytest.mark.parametrize("place", ["before", "after"])
def test_a_loss_that_is_no_loss_is_an_error(statistic, wrong, place):
    arguments = {"before": BEFORE.copy(), "after": AFTER.copy()}
    arguments[place][[0, 2]] = wrong
    with pytest.raises(ParameterError, match=r"2 of . people have a loss that is not a finite number of at"):
        of(statistic, **arguments)


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
