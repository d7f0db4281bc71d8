"""Permutation tests of correlation: estimates, standard errors, permutations, and how often they reject."""

from itertools import permutations, product

import numpy as np
import pytest
from scipy import stats

from skfairtest.correlation.statistics import (
    E_CONSTANT,
    KEPT,
    TOO_FEW,
    X_CONSTANT,
    arrange,
    correlation_limits,
    estimate,
    permuted,
)
from skfairtest.inference.resampling import monte_carlo_p

METHODS = ("pearson", "spearman")
SCIPY = {"pearson": stats.pearsonr, "spearman": stats.spearmanr}


def samples():
    """Continuous, tied, binary and mixed samples of 120 people, dependent in variance as well as in mean."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=120)
    e = 0.4 * x + rng.normal(size=120) * (0.5 + np.abs(x))
    return {
        "continuous": (x, e),
        "tied": (np.round(x), np.round(2 * e)),
        "tied x": (np.round(x), e),
        "binary x": ((x > 0.5).astype(float), e),
        "binary": ((x > 0.5).astype(float), (e > 0).astype(float)),
    }


def both(x, e, strata=None):
    """Observed statistics by both methods."""
    return {method: estimate(arrange(x, e, strata), method) for method in METHODS}


# Estimates ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", samples())
@pytest.mark.parametrize("method", METHODS)
def test_the_correlation_is_scipys(method, name):
    x, e = samples()[name]
    found = estimate(arrange(x, e), method)
    assert found.correlation[0, 0] == pytest.approx(SCIPY[method](x, e).statistic, abs=1e-12)


@pytest.mark.parametrize("name", samples())
@pytest.mark.parametrize("method", METHODS)
def test_the_standard_error_is_the_jackknifes(method, name):
    x, e = samples()[name]
    n = len(x)
    left = [estimate(arrange(np.delete(x, i), np.delete(e, i)), method).correlation[0, 0] for i in range(n)]
    jackknife = np.sqrt((n - 1) / n * np.sum((left - np.mean(left)) ** 2))
    # The jackknife is a few hundredths larger, of the order of 1 / n: here the kurtosis is high.
    assert estimate(arrange(x, e), method).standard_error[0, 0] == pytest.approx(jackknife, rel=0.06)


@pytest.mark.parametrize("name", ["continuous", "tied", "binary x"])
def test_spearmans_influence_is_the_derivative_of_a_weight(name):
    """Doubling a person counts them once more: a numerical derivative of rho from the definition of weighted ranks."""
    x, e = samples()[name]
    n, step = len(x), 1e-6

    def rho(weights):
        below = weights / weights.sum()
        ranks = [((v[None] < v[:, None]) + 0.5 * (v[None] == v[:, None])) @ below - 0.5 for v in (x, e)]
        top = below @ (ranks[0] * ranks[1])
        return top / np.sqrt((below @ ranks[0] ** 2) * (below @ ranks[1] ** 2))

    influence = [(rho(1 + step * n * (np.arange(n) == i)) - rho(np.ones(n))) / step for i in range(n)]
    expected = np.sqrt(np.mean(np.square(influence)) / n)
    assert estimate(arrange(x, e), "spearman").standard_error[0, 0] == pytest.approx(expected, rel=1e-3)


def test_pearsons_statistic_is_the_formula_of_the_paper():
    x, e = samples()["continuous"]
    a, b = x - x.mean(), e - e.mean()
    tau = np.sqrt(np.mean(a**2 * b**2) / (np.mean(a**2) * np.mean(b**2)))
    expected = np.sqrt(len(x)) * stats.pearsonr(x, e).statistic / tau
    assert estimate(arrange(x, e), "pearson").statistic[0, 0] == pytest.approx(expected, rel=1e-12)


def test_spearmans_statistic_divides_by_its_standard_error():
    found = estimate(arrange(*samples()["tied"]), "spearman")
    np.testing.assert_allclose(found.statistic, found.correlation / found.standard_error)


@pytest.mark.parametrize("method", METHODS)
def test_the_standard_error_in_strata_is_the_bootstraps(method):
    rng = np.random.default_rng(3)
    n = 900
    strata = np.repeat([0, 1, 2], 300)
    x = np.round(rng.normal(size=n) + strata, 1)
    e = np.round(0.5 * x * (strata == 1) + rng.normal(size=n) * (1 + strata))
    found = estimate(arrange(x, e, strata), method)
    drawn = []
    for _ in range(400):
        people = rng.integers(0, n, n)
        drawn.append(estimate(arrange(x[people], e[people], strata[people]), method).correlation[0])
    np.testing.assert_allclose(found.standard_error[0], np.std(drawn, axis=0), rtol=0.12)


@pytest.mark.parametrize("method", METHODS)
def test_one_stratum_is_no_stratum(method):
    x, e = samples()["tied"]
    whole, one = both(x, e)[method], both(x, e, np.zeros(len(x), dtype=int))[method]
    for name in ("correlation", "standard_error", "statistic"):
        np.testing.assert_allclose(getattr(one, name)[0], np.repeat(getattr(whole, name)[0], 2), rtol=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_a_row_of_a_stratum_is_that_of_its_people_alone(method):
    x, e = samples()["tied"]
    strata = np.arange(len(x)) % 2
    found = both(x, e, strata)[method]
    for code in (0, 1):
        alone = estimate(arrange(x[strata == code], e[strata == code]), method)
        for name in ("correlation", "standard_error", "statistic"):
            np.testing.assert_allclose(getattr(found, name)[0, 1 + code], getattr(alone, name)[0, 0], rtol=1e-12)


def test_pooling_takes_the_strata_s_means_out():
    """Across strata the two grow together, within them they do not."""
    strata = np.repeat([0, 1, 2], 4)
    x = np.tile([0.0, 0.0, 1.0, 1.0], 3) + 10 * strata
    e = np.tile([0.0, 1.0, 0.0, 1.0], 3) + 10 * strata
    for found in both(x, e, strata).values():
        np.testing.assert_array_equal(found.correlation[0], 0)
        np.testing.assert_array_equal(found.statistic[0], 0)
    assert both(x, e)["pearson"].correlation[0, 0] > 0.9


def test_strata_that_say_nothing_are_left_out_and_named():
    strata = np.repeat([0, 1, 2, 3], [2, 4, 4, 5])
    x = np.r_[1, 2, 7, 7, 7, 7, 1, 2, 3, 4, 1, 2, 3, 4, 5]
    e = np.r_[1, 2, 1, 2, 3, 4, 5, 5, 5, 5, 2, 1, 3, 5, 4]
    pairs = arrange(x, e, strata)
    assert pairs.left_out.tolist() == [[TOO_FEW, X_CONSTANT, E_CONSTANT, KEPT]]
    for method in METHODS:
        found, alone = estimate(pairs, method), estimate(arrange(x[10:], e[10:]), method)
        assert np.isnan(found.correlation[0, 1:4]).all()
        for name in ("correlation", "standard_error", "statistic"):
            np.testing.assert_allclose(getattr(found, name)[0, [0, 4]], getattr(alone, name)[0, 0], rtol=1e-12)
        drawn = permuted(pairs, method, 20, 0)
        np.testing.assert_array_equal(np.isnan(drawn), np.broadcast_to(np.isnan(found.statistic), drawn.shape))


# Degenerate data ------------------------------------------------------------------------------------------------------


def test_a_product_that_is_zero_for_everybody_is_a_statistic_of_zero():
    found = estimate(arrange([-1, 0, 0, 1], [0, 1, -1, 0]), "pearson")
    assert (found.correlation[0, 0], found.statistic[0, 0]) == (0, 0)


def test_a_perfect_order_has_no_error_and_an_infinite_statistic():
    found = estimate(arrange([1, 2, 3, 4, 5], [10, 8, 5, 2, 1]), "spearman")
    assert (found.correlation[0, 0], found.standard_error[0, 0], found.statistic[0, 0]) == (-1, 0, -np.inf)


def test_a_perfect_line_has_a_finite_pearson_statistic_and_no_error():
    found = estimate(arrange([1, 2, 3, 4, 5], [3, 5, 7, 9, 11]), "pearson")
    assert (found.correlation[0, 0], found.standard_error[0, 0]) == (1, 0)
    assert np.isfinite(found.statistic[0, 0])


@pytest.mark.parametrize("factor", [1e-200, 1e200])
def test_units_change_nothing(factor):
    x, e = samples()["continuous"]
    for one, two in zip(both(x, e).values(), both(x * factor, 7 + e / 4).values(), strict=True):
        np.testing.assert_allclose(one.statistic, two.statistic)
        np.testing.assert_allclose(one.standard_error, two.standard_error)


# Permutations ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_permutations_stay_within_strata(method):
    x = np.array([1.0, 2, 4, 11, 12, 15])
    e = np.array([1.0, 3, 2, 40, 30, 50])
    strata = np.array([0, 0, 0, 1, 1, 1])
    every = []
    for one, two in product(permutations(range(3)), permutations(range(3, 6))):
        every.append(estimate(arrange(x, e[[*one, *two]], strata), method).statistic[0])
    drawn = permuted(arrange(x, e, strata), method, 5000, 2)[:, 0]
    for place in range(3):
        found, counts = np.unique(np.round(drawn[:, place], 9), return_counts=True)
        expected, times = np.unique(np.round(np.array(every)[:, place], 9), return_counts=True)
        np.testing.assert_allclose(found, expected)
        np.testing.assert_allclose(counts / 5000, times / 36, atol=0.03)


def test_features_share_their_permutations():
    x, e = samples()["continuous"]
    pairs = arrange([x, -x, 3 * x], e)
    for method in METHODS:
        drawn = permuted(pairs, method, 50, 3)[:, :, 0]
        np.testing.assert_allclose(drawn[:, 0], -drawn[:, 1], atol=1e-9)
        np.testing.assert_allclose(drawn[:, 0], drawn[:, 2], atol=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_draws_do_not_depend_on_the_memory_they_are_drawn_in(method, monkeypatch):
    pairs = arrange(*samples()["tied"])
    whole = permuted(pairs, method, 40, 6)
    monkeypatch.setattr("skfairtest.correlation.statistics._BLOCK_BYTES", 8 * 120 * 20)
    np.testing.assert_allclose(permuted(pairs, method, 40, 6), whole, rtol=1e-12)


# Intervals ------------------------------------------------------------------------------------------------------------


def test_limits_stay_inside_and_are_open_on_one_side():
    low, high = correlation_limits(0.95, [0.04, 0, 0], 1.96, 1.96)
    assert low == pytest.approx(0.95 - 1.96 * 0.2)
    assert high == 1
    assert correlation_limits(0.5, [0.01, 0, 0], np.inf, 1.645)[0] == -1
    assert correlation_limits(0.5, [0.01, 0, 0], 1.645, np.inf)[1] == 1
    assert np.isnan(correlation_limits(np.nan, [np.nan] * 3, 1.96, 1.96)).all()


def studentized(x, e, rho):
    """The statistic of a correlation of rho from its definition, with x and e centred."""
    parts = (x / x.std()) * (e / e.std()) - rho / 2 * ((x / x.std()) ** 2 + (e / e.std()) ** 2)
    return parts.sum() / np.sqrt(np.sum(parts**2))


@pytest.mark.parametrize("critical", [0.5, 1.2, 2.0, 3.0])
@pytest.mark.parametrize("name", [*samples(), "one outlier"])
def test_pearsons_limits_are_the_correlations_that_the_statistic_does_not_reject(name, critical):
    x, e = samples()[name] if name in samples() else (np.r_[np.arange(30.0), 300], np.r_[np.arange(30.0) % 4, 90])
    found = estimate(arrange(x, e), "pearson")
    low, high = correlation_limits(found.correlation[0, 0], found.variance[0, 0], critical, critical)
    x, e = x - x.mean(), e - e.mean()
    # The correlations from the estimate outwards until the first that is rejected.
    r = found.correlation[0, 0]
    for limit, end in ((low, -1), (high, 1)):
        inside = [abs(studentized(x, e, rho)) <= critical for rho in np.linspace(r, limit, 50)[:-1]]
        assert all(inside)
        if limit == end:
            assert abs(studentized(x, e, end)) <= critical * (1 + 1e-9)
        else:
            assert abs(studentized(x, e, limit)) == pytest.approx(critical)
            assert abs(studentized(x, e, limit + 1e-4 * end)) > critical


def test_a_perfect_line_is_certain_as_soon_as_zero_is_rejected():
    for sign in (1, -1):
        found = estimate(arrange([1, 2, 3, 4, 5], sign * np.array([3, 5, 7, 9, 11])), "pearson")
        statistic = abs(found.statistic[0, 0])
        r, variance = found.correlation[0, 0], found.variance[0, 0]
        assert correlation_limits(r, variance, 0.999 * statistic, 0.999 * statistic) == (sign, sign)
        assert correlation_limits(r, variance, 1.001 * statistic, 1.001 * statistic) == (-1, 1)
    order = estimate(arrange([1, 2, 3, 4, 5], [1, 2, 4, 8, 16]), "spearman")
    assert correlation_limits(order.correlation[0, 0], order.variance[0, 0], 9.0, 9.0) == (1, 1)
    assert correlation_limits(order.correlation[0, 0], order.variance[0, 0], np.inf, np.inf) == (-1, 1)


# Level ----------------------------------------------------------------------------------------------------------------


DEPENDENT = {
    "pearson": lambda rng, x: rng.normal(size=len(x)) / np.abs(x),
    "spearman": lambda rng, x: (x - 0.5) ** 2 + 0.1 * rng.normal(size=len(x)),
}


@pytest.mark.parametrize("method", METHODS)
def test_uncorrelated_but_dependent_data_are_rejected_no_more_often_than_the_level_says(method, thorough):
    rng = np.random.default_rng(11)
    rejections, n = 0, 300 if thorough else 60
    for repetition in range(n):
        x = rng.uniform(0.01, 1, 300)
        pairs = arrange(x, DEPENDENT[method](rng, x))
        drawn = permuted(pairs, method, 199, repetition)[:, 0, 0]
        rejections += monte_carlo_p(drawn, estimate(pairs, method).statistic[0, 0], "two-sided")[0] <= 0.05
    assert rejections <= n * 0.05 + 3 * np.sqrt(n * 0.05 * 0.95)
