import numpy as np
import pytest
from scipy.stats import binom, norm

from skfairtest._utils.typing import Moments
from skfairtest.inference.intervals import miettinen_nurminen
from skfairtest.inference.linear_form import (
    EffectiveRates,
    Linearized,
    effective_people,
    linear_form,
    resampled,
)
from skfairtest.inference.resampling import monte_carlo_p
from skfairtest.inference.score import score_at, studentize
from skfairtest.metrics.errors import Robust
from skfairtest.metrics.functionals import Share

Z = norm.isf(0.025)


def moments_of(*values):
    return Moments(*(np.asarray(v, dtype=float) for v in values))


def test_a_form_is_the_distance_to_an_edge_with_its_variance():
    moments = moments_of(0.3, 0.01, 0.5, 0.02, 0.004)
    distance, variance = linear_form(moments, "difference", 0.1)
    assert (float(distance), float(variance)) == pytest.approx((-0.3, 0.01 + 0.02 - 2 * 0.004))
    distance, variance = linear_form(moments, "ratio", 0.8)
    assert (float(distance), float(variance)) == pytest.approx((0.3 - 0.4, 0.01 + 0.64 * 0.02 - 1.6 * 0.004))


def test_intervals_of_ratios_are_fiellers():
    # Its roots: (b^2 - z^2 w) e^2 - 2 a b e + a^2 - z^2 v = 0.
    a, v, b, w = 0.4, 0.01, 0.9, 0.02
    expected = np.sort(np.roots([b**2 - Z**2 * w, -2 * a * b, a**2 - Z**2 * v]))
    found = Linearized(moments_of(a, v, b, w, 0.0), "ratio").limits((Z, Z), (0.0, np.inf))
    assert found == pytest.approx(tuple(expected))


@pytest.mark.parametrize("size", [1e-12, 1.0, 1e7, 1e12])
def test_intervals_of_ratios_of_any_size_have_all_digits(size):
    found = Linearized(moments_of(0.4, 0.01, 0.9, 0.02, 0.0), "ratio").limits((Z, Z), (0.0, np.inf))
    larger = Linearized(moments_of(0.4 * size, 0.01 * size**2, 0.9, 0.02, 0.0), "ratio").limits((Z, Z), (0.0, np.inf))
    assert larger == pytest.approx((found[0] * size, found[1] * size), rel=1e-13)


@pytest.mark.parametrize(
    ("values", "low", "high"),
    [
        ((0.0, 0.01, 0.5, 0.001), True, False),
        ((0.5, 0.001, 0.0, 0.01), False, True),
        ((0.2, 0.1, 0.1, 0.1), True, True),
    ],
)
def test_ratios_of_0_and_infinity_have_intervals(values, low, high):
    found = Linearized(moments_of(*values, 0.0), "ratio").limits((Z, Z), (0.0, np.inf))
    assert (found[0] == 0, found[1] == np.inf) == (low, high)
    assert found[0] < found[1]


@pytest.mark.parametrize("disparity", ["difference", "ratio"])
@pytest.mark.parametrize("counts", [(0, 20, 5, 60), (3, 20, 0, 60), (7, 20, 30, 60), (20, 20, 30, 60)])
def test_people_who_all_count_the_same_have_miettinen_and_nurminens_test_and_interval(counts, disparity):
    x1, d1, x2, d2 = counts
    sides = [(x / d, (x + 1) / (d + 2) * (d - x + 1) / (d + 2) / (d + 2), d) for x, d in ((x1, d1), (x2, d2))]
    people = [effective_people(rate, variance) for rate, variance, _ in sides]
    np.testing.assert_allclose(people, [d1, d2], rtol=1e-9)
    one, none = np.ones(1), np.zeros(1)
    form = EffectiveRates(
        *(np.array([rate]) for rate, _, _ in sides), *(n * one for n in people), one, none, none, disparity
    )
    for edge in (0.5, 0.8, 1.0, 1.25) if disparity == "ratio" else (-0.2, 0.0, 0.1):
        expected = float(score_at(*counts, edge, disparity)[0])
        assert float(studentize(*form.at(edge))) == pytest.approx(expected, rel=1e-6, abs=1e-9)
    low, high = form.limits((Z, Z), (0.0, np.inf) if disparity == "ratio" else (-1.0, 1.0))
    assert (low, high) == pytest.approx(tuple(map(float, miettinen_nurminen(*counts, Z, disparity))), abs=1e-7)


def test_the_error_at_equality_can_be_another_and_holds_for_equal_rates_only():
    one, none = np.ones(1), np.zeros(1)
    plain, scaled = (
        EffectiveRates(0.2 * one, 0.5 * one, 50 * one, 40 * one, one, none, none, "difference", scale)
        for scale in (1.0, 0.5)
    )
    errors = [float(scaled.at(edge)[1] / plain.at(edge)[1]) for edge in (0.2, 0.0, -0.15, -0.3, -0.5)]
    assert errors == pytest.approx([0.5, 0.5, np.sqrt(0.5), 1, 1])


@pytest.mark.parametrize("disparity", ["difference", "ratio"])
@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("studentized", [True, False])
def test_bootstrap_limits_are_the_edges_that_are_not_rejected(disparity, alternative, studentized):
    rng = np.random.default_rng(3)
    drawn = moments_of(
        rng.gamma(4, 0.1, 499),
        rng.gamma(9, 0.002, 499),
        rng.gamma(9, 0.1, 499),
        rng.gamma(9, 0.001, 499),
        np.zeros(499),
    )
    found = resampled(moments_of(0.4, 0.018, 0.9, 0.009, 0.0), drawn, disparity, studentized=studentized)
    sides = [(alternative, 0.1)] * 2
    ends = (0.0, np.inf) if disparity == "ratio" else (-np.inf, np.inf)
    low, high = found.limits(
        (sides[0] if alternative != "less" else None, sides[1] if alternative != "greater" else None), ends
    )
    for end, step in ((low, -1e-4), (high, 1e-4)):
        if end in ends:
            continue
        assert found.test(end - step, alternative)[0] > 0.1
        assert found.test(end + step, alternative)[0] <= 0.1
    assert (low in ends, high in ends) == (alternative == "less", alternative == "greater")


def unstudentized(first, second, drawn_first, drawn_second):
    none, several = np.zeros(()), np.zeros(len(drawn_first))
    return resampled(
        Moments(np.asarray(first), none, np.asarray(second), none, none),
        Moments(drawn_first, several, drawn_second, several, several),
        "difference",
        studentized=False,
    )


def test_without_standard_errors_the_wider_of_percentile_and_basic_interval_decides():
    rng = np.random.default_rng(5)
    drawn = rng.gamma(2, 0.5, 999)  # skewed
    found = unstudentized(1.0, 0.4, drawn, np.zeros(999))
    differences, estimate = np.sort(drawn), 0.6
    for alpha in (0.05, 0.3):
        low, high = np.quantile(differences, [alpha / 2, 1 - alpha / 2])
        union = min(low, 2 * estimate - high), max(high, 2 * estimate - low)
        side = ("two-sided", alpha)
        assert found.limits((side, side), (-np.inf, np.inf)) == pytest.approx(union, abs=0.05)
    for edge in (0.0, 0.2, 1.5):
        below, above = (differences <= edge).sum(), (differences >= edge).sum()
        mirrored = 2 * estimate - differences
        tails = min(below, above), min((mirrored <= edge).sum(), (mirrored >= edge).sum())
        assert found.test(edge, "two-sided")[0] == pytest.approx(min(1.0, 2 * max(tails) / 999), abs=2 / 999)
    assert found.standard_error == pytest.approx(drawn.std(ddof=1))


def exponential(rng, size):
    return rng.exponential(1 / np.log(2), size)


MEDIAN_DESIGNS = {
    "alike": (lambda rng, size: rng.normal(size=size), lambda rng, size: rng.normal(size=size), (15, 450)),
    "shapes": (lambda rng, size: exponential(rng, size) - 1, lambda rng, size: rng.normal(size=size), (20, 300)),
    "spreads": (lambda rng, size: 3 * rng.normal(size=size), lambda rng, size: rng.normal(size=size), (30, 300)),
    "ties": (lambda rng, size: rng.poisson(3, size), lambda rng, size: rng.poisson(3, size), (30, 100)),
    "few": (exponential, exponential, (10, 10)),
}


@pytest.mark.slow
@pytest.mark.parametrize("design", MEDIAN_DESIGNS)
def test_medians_without_standard_errors_reject_seldom_enough(design):
    first, second, (n, m) = MEDIAN_DESIGNS[design]
    rng, rejected = np.random.default_rng(9), 0
    for _ in range(800):
        x, y = first(rng, n), second(rng, m)
        of_x = np.median(x[rng.integers(0, n, (399, n))], axis=1)
        of_y = np.median(y[rng.integers(0, m, (399, m))], axis=1)
        found = unstudentized(np.median(x), np.median(y), of_x, of_y)
        rejected += found.test(0.0, "two-sided")[0] <= 0.05
    assert rejected / 800 <= 0.05 + 1.65 * np.sqrt(0.05 * 0.95 / 800)


def test_bootstrap_statistics_are_centred_at_the_data():
    drawn = moments_of([0.1, 0.4, 0.4], [0.01, 0.02, 0.0], [0.5, 0.5, 0.5], [0.03, 0.03, 0.0], [0.0, 0.0, 0.0])
    found = resampled(moments_of(0.4, 0.01, 0.5, 0.02, 0.0), drawn, "ratio", studentized=True)
    np.testing.assert_allclose(found.centred(0.8), [-0.3 / np.sqrt(0.01 + 0.64 * 0.03), 0, 0], atol=1e-12)
    assert found.statistic(0.8) == 0
    assert found.test(0.8, "two-sided") == monte_carlo_p(found.centred(0.8), 0.0, "two-sided")


@pytest.mark.parametrize(
    ("people", "rate", "factor"), [((100, 100), 0.2, 2.0), ((200, 300), 0.3, 2.0), ((200, 300), 0.3, 0.5)]
)
def test_weights_that_follow_the_outcome_have_the_size_and_coverage_that_are_said(people, rate, factor):
    # Everyone with the event weighs `factor`, as after post-stratification: enumerated over the events of both groups.
    sides, shares = [], []
    for n in people:
        events = np.arange(n + 1.0)
        counts = np.stack([events, n - events], axis=1)
        share = Robust(Share(np.array([True, False]), np.ones(2, dtype=bool)), np.array([factor, 1.0]))
        found = share.pair(counts, counts, null=False)
        sides.append((found.first, effective_people(found.first, found.first_variance)))
        shares.append(binom.pmf(events, n, rate / (factor - rate * (factor - 1))))
    (r1, n1), (r2, n2) = sides
    z = score_at((r1 * n1)[:, None], n1[:, None], r2 * n2, n2, 0.0)[0]
    size = float((np.outer(*shares) * (np.abs(z) > Z)).sum())
    assert 0.04 < size <= 0.053  # and its interval covers as often as equality is not rejected
