"""The certified maximum on functions whose maximum is known, and whose speed is what the caller says."""

import numpy as np
import pytest
from scipy import stats

from skfairtest.inference._discrete import certified_maxima


def certified_maximum(function, length, start, stop, **options):
    """The bound of a single function."""
    one = certified_maxima(
        lambda which, u: function(u),
        lambda which, u: length(u),
        np.array([start]),
        np.array([stop]),
        **options,
    )
    return one[0]


class Counted:
    """A function that counts the points it was asked for."""

    def __init__(self, function):
        self.function = function
        self.points = 0

    def __call__(self, u):
        self.points += len(u)
        return self.function(u)


def with_speed(speed):
    return lambda u: speed * np.asarray(u, dtype=float)


def test_a_constant_is_its_own_maximum():
    for value in (0.0, 0.3, 1.0):
        bound = certified_maximum(lambda u, v=value: np.full(len(u), v), with_speed(1e-12), 0.0, 1.0)
        assert value <= bound <= value * (1 + 1.1e-6) + 1e-15


def test_the_maximum_of_a_binomial_probability_is_that_of_the_maximum_likelihood_rate():
    # P(X = x) is largest at p = x/n; sqrt(n) is the Fisher length of half the angle arcsin sqrt p.
    for x, n in [(1, 1), (3, 10), (0, 7), (40, 200), (999, 1000)]:
        bound = certified_maximum(
            lambda angle, x=x, n=n: stats.binom.pmf(x, n, np.sin(angle) ** 2),
            with_speed(np.sqrt(n)),
            0.0,
            np.pi / 2,
        )
        largest = stats.binom.pmf(x, n, x / n)
        assert largest * (1 - 1e-12) <= bound <= largest * (1 + 1.1e-6)


@pytest.mark.parametrize("place", [0.0, 1e-4, 0.123456, 0.5, np.pi / 4, 1.0])
@pytest.mark.parametrize("width", [0.3, 1e-2, 1e-4])
def test_a_narrow_peak_between_the_first_points_is_found(place, width):
    # arcsin sqrt f is a triangle of height 1, so that its speed is exactly 1/width and max f = sin(1)**2.
    bound = certified_maximum(
        lambda u: np.sin(np.maximum(0.0, 1 - np.abs(u - place) / width)) ** 2,
        with_speed(1 / width),
        0.0,
        1.0,
    )
    assert np.sin(1) ** 2 * (1 - 1e-9) <= bound <= np.sin(1) ** 2 * (1 + 1.1e-6)


def test_the_higher_of_two_peaks_counts_however_little_it_is_higher():
    def function(u):
        wide = 0.9 * np.maximum(0.0, 1 - np.abs(u - 0.2) / 0.2)
        narrow = 0.9001 * np.maximum(0.0, 1 - np.abs(u - 0.80317) / 0.001)
        return np.sin(np.maximum(wide, narrow)) ** 2

    bound = certified_maximum(function, with_speed(1000.0), 0.0, 1.0)
    assert np.sin(0.9001) ** 2 * (1 - 1e-9) <= bound <= np.sin(0.9001) ** 2 * (1 + 1.1e-6)


@pytest.mark.parametrize("cap", [0, 50, 500])
def test_the_evaluation_cap_still_returns_an_upper_bound(cap):
    # The peak is narrower than anything the capped search can see.
    function = Counted(lambda u: np.sin(np.maximum(0.0, 1 - np.abs(u - 0.31831) * 1e4)) ** 2)
    bound = certified_maximum(function, with_speed(1e4), 0.0, 1.0, max_evaluations=cap)
    assert bound >= np.sin(1) ** 2
    assert function.points <= 2 * cap + 600


def test_the_evaluation_cap_is_not_reached_by_a_smooth_function():
    function = Counted(lambda angle: stats.binom.pmf(3, 10, np.sin(angle) ** 2))
    certified_maximum(function, with_speed(np.sqrt(10)), 0.0, np.pi / 2)
    assert function.points < 60_000


def test_the_bound_never_exceeds_one():
    bound = certified_maximum(lambda u: np.ones(len(u)), with_speed(5.0), 0.0, 1.0)
    assert bound == 1.0
    capped = certified_maximum(lambda u: np.full(len(u), 0.9), with_speed(50.0), 0.0, 1.0, max_evaluations=0)
    assert 0.9 <= capped <= 1.0


def test_an_interval_of_one_point_has_the_value_there():
    bound = certified_maximum(lambda u: u, with_speed(10.0), 0.25, 0.25)
    assert bound == pytest.approx(0.25, rel=1.1e-6)


def test_a_curve_that_is_not_traced_at_even_speed_is_bounded_by_its_length():
    # f(u) = sin(u**2)**2 on [0, 1]: arcsin sqrt f = u**2 = length(u), fastest at the right end.
    bound = certified_maximum(lambda u: np.sin(u**2) ** 2, lambda u: np.asarray(u) ** 2, 0.0, 1.0)
    assert np.sin(1) ** 2 <= bound * (1 + 1e-12)
    assert bound <= np.sin(1) ** 2 * (1 + 1.1e-6)


def test_many_functions_have_the_bounds_that_each_has_alone():
    x, n = np.array([1, 3, 0, 40, 999]), np.array([1, 10, 7, 200, 1000])
    stop = np.array([np.pi / 2, np.pi / 2, 0.4, np.pi / 2, np.pi / 4])
    together = certified_maxima(
        lambda which, angle: stats.binom.pmf(x[which], n[which], np.sin(angle) ** 2),
        lambda which, angle: np.sqrt(n[which]) * angle,
        np.zeros(5),
        stop,
        relative=np.array([1e-6, 1e-9, 1e-6, 1e-4, 1e-6]),
    )
    for i, relative in enumerate([1e-6, 1e-9, 1e-6, 1e-4, 1e-6]):
        alone = certified_maximum(
            lambda angle, i=i: stats.binom.pmf(x[i], n[i], np.sin(angle) ** 2),
            with_speed(np.sqrt(n[i])),
            0.0,
            stop[i],
            relative=relative,
        )
        assert together[i] == alone
