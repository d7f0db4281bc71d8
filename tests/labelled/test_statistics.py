"""Rates with labels in bins: Wilson's and Miettinen and Nurminen's limits, brute force, and enumerated sizes."""

import numpy as np
import pytest
from scipy.optimize import minimize, minimize_scalar
from scipy.stats import binom, norm

from skfairtest.inference.intervals import miettinen_nurminen, wilson
from skfairtest.labelled.statistics import (
    EXPECTED,
    MOST_BINS,
    LabelledRate,
    _most_likely,
    bins_of,
    disparity_limits,
    disparity_statistic,
    log_tails,
)

EVENT, GIVEN, OUTSIDE = (1.0, 1.0), (0.0, 1.0), (0.0, 0.0)
Z = norm.isf(0.025)


def side(first, labels, share, roles=(EVENT, GIVEN), people=np.inf):
    first, labels, share = (np.atleast_1d(np.asarray(each, dtype=float)) for each in (first, labels, share))
    kinds = roles if isinstance(roles, list) else [roles] * first.shape[-1]
    return LabelledRate(first, labels, share, np.array(kinds), np.asarray(people))


def statistic(first, second, edge, disparity="difference"):
    return float(disparity_statistic(LabelledRate.stacked([first], [second]), edge, disparity)[0])


@pytest.mark.parametrize(("x", "n"), [(0, 20), (3, 20), (56, 70), (70, 70)])
def test_one_bin_has_wilsons_limits_and_its_own_labels_are_what_it_is_worth(x, n):
    rate = side(x, n, 1.0)
    # Those of n - 1 people with the same rate, as the variance has the factor n / (n - 1).
    assert rate.limits(Z).tolist() == pytest.approx([float(v) for v in wilson(x * (n - 1) / n, n - 1, Z)], abs=1e-7)
    assert float(rate.worth) == pytest.approx(n)


def test_limits_where_labels_of_bins_are_all_the_same():
    share = [0.605499846, 0.1569571852, 0.0429687926, 0.1749815666, 0.0195926095]
    predicted = [[(1, 1), (0, 0)], [(0, 1), (0, 0)]]
    rate = side([42, 54, 50, 14, 39], [42, 54, 50, 14, 39], share, roles=[predicted[i] for i in (0, 1, 1, 0, 0)])
    inside = [0.75 <= t <= 0.85 and float(rate.at(np.asarray(t))[0]) <= Z**2 for t in (0.7891, 0.7892, 0.8087, 0.8088)]
    assert inside == [False, True, True, False]
    assert rate.limits(Z).tolist() == pytest.approx([0.7891215, 0.8087068], abs=1e-5)
    events = side([32, 0], [55, 3], [0.611739574524, 0.388260425476], predicted, 1000)
    assert events.limits(Z).tolist() == pytest.approx([0.6076434, 1.0], abs=1e-5)
    # Wilson's limit of 3 labels without any, of which the rate is 1 less a known share.
    few = side([32, 0], [32, 3], [0.75, 0.25], roles=[[(1, 1), (1, 1)], [(1, 1), (0, 1)]])
    assert few.limits(Z)[1] == pytest.approx(0.75 + 0.25 * float(wilson(0, 2, Z)[1]), abs=1e-7)


@pytest.mark.parametrize("disparity", ["difference", "ratio"])
@pytest.mark.parametrize("counts", [(56, 70, 48, 80), (30, 400, 90, 500), (0, 60, 9, 60)])
def test_one_bin_on_each_side_is_close_to_miettinen_and_nurminen(counts, disparity):
    sides = LabelledRate.stacked([side(*counts[:2], 1.0)], [side(*counts[2:], 1.0)])
    found = disparity_limits(sides, disparity, np.full((2, 1), Z))[:, 0].tolist()
    assert found == pytest.approx([float(v) for v in miettinen_nurminen(*counts, Z, disparity)], rel=0.02, abs=0.01)


def test_the_statistic_is_that_of_the_most_likely_rates_by_brute_force():
    """The constrained likelihood of each side, and then the value that sides share, are searched by SciPy."""

    def square(rate, t):
        slope, labels, first = rate.share, rate.labels, rate.first

        def loss(p):
            return -(first * np.log(p) + (labels - first) * np.log(1 - p)).sum()

        start = np.clip(np.full(len(first), t), 0.01, 0.99)
        bounds, equal = [(1e-9, 1 - 1e-9)] * len(first), {"type": "eq", "fun": lambda p: slope @ p - t}
        p = minimize(loss, start, bounds=bounds, constraints=equal, method="SLSQP", options={"ftol": 1e-14}).x
        n = labels.sum()
        variance = n / (n - 2) * (slope**2 * p * (1 - p) / labels).sum() + (slope * (p - t) ** 2).sum() / rate.people
        return -loss(p), (slope @ (first / labels) - t) ** 2 / variance

    first, second = side([4, 9], [30, 12], [0.8, 0.2], people=500), side([2, 5], [25, 15], [0.7, 0.3], people=300)

    def together(t, edge):
        return np.add(square(first, t + edge), square(second, t))

    for edge in (0.0, -0.1):
        best = minimize_scalar(lambda t, edge=edge: -together(t, edge)[0], bounds=(0.11, 0.4), method="bounded").x
        assert statistic(first, second, edge) ** 2 == pytest.approx(together(best, edge)[1], rel=5e-3)


def test_the_true_positive_rate_is_s1_over_s1_plus_s0():
    rate = side([6, 9, 2], [10, 10, 20], [0.2, 0.2, 0.6], [(EVENT, OUTSIDE)] * 2 + [(GIVEN, OUTSIDE)])
    s1, s0 = 0.2 * 0.6 + 0.2 * 0.9, 0.6 * 0.1
    assert float(rate.value) == pytest.approx(s1 / (s1 + s0))
    low, high = rate.limits(Z)
    assert low < float(rate.value) < high
    # The delta method of a ratio of independent sums, at rates with half a label of either kind.
    p = (np.array([6, 9, 2]) + 0.5) / np.array([11, 11, 21])
    s1, s0 = 0.2 * p[0] + 0.2 * p[1], 0.6 * p[2]
    v1, v0 = (0.04 * (p * (1 - p))[:2] / 10).sum(), 0.36 * p[2] * (1 - p[2]) / 20
    assert float(rate.variances[0]) == pytest.approx(40 / 37 * (s0**2 * v1 + s1**2 * v0) / (s1 + s0) ** 4)


def test_shares_of_a_small_sample_add_their_variance():
    population, sample = (side([3, 18], [40, 20], [0.7, 0.3], people=n) for n in (np.inf, 200))
    p = np.array([3.5 / 41, 18.5 / 21])
    share, mean = np.array([0.7, 0.3]), 0.7 * p[0] + 0.3 * p[1]
    between = (share * (p - mean) ** 2).sum() / 200
    assert float(sample.variances[0] - population.variances[0]) == pytest.approx(between)


def test_comparisons_at_once_are_comparisons_one_by_one():
    """Sides with fewer bins than others get bins without people, and conditions may differ."""
    several = [
        side([1, 4], [10, 10], [0.6, 0.4], people=100),
        side(5, 20, 1.0),
        side([8, 7, 0], [10, 10, 5], [0.5, 0.3, 0.2], [(EVENT, OUTSIDE), (EVENT, OUTSIDE), (GIVEN, OUTSIDE)]),
    ]
    others = several[::-1]
    sides = LabelledRate.stacked(several, others)
    for disparity, edge in (("difference", 0.1), ("ratio", 0.8)):
        found = disparity_statistic(sides, edge, disparity)
        limits = disparity_limits(sides, disparity, np.full((2, 3), Z))
        for place, (first, second) in enumerate(zip(several, others, strict=True)):
            assert statistic(first, second, edge, disparity) == pytest.approx(found[place], abs=1e-8)
            for limit in limits[:, place]:
                assert abs(statistic(first, second, limit, disparity)) == pytest.approx(Z, abs=1e-6)


def test_likely_rates_are_found_where_a_sides_own_value_is_the_most_likely():
    """All labels of a bin say the same, and the likelihood has an edge at the side's own value."""
    first = side([23, 2], [24, 15], [0.999, 0.001], [(EVENT, OUTSIDE), (GIVEN, OUTSIDE)], people=500)
    second = side([1, 16], [15, 16], [0.167, 0.833], [(EVENT, OUTSIDE), (GIVEN, OUTSIDE)])
    edge = 0.5131306
    t = np.linspace(0, 1 - edge, 20001)[1:-1]
    squares = [one.at(places)[0] for one, places in ((first, t + edge), (second, t))]
    slopes = first.at(t + edge)[1] + second.at(t)[1]
    best = np.flatnonzero(slopes > 0)[-1]
    assert statistic(first, second, edge) ** 2 == pytest.approx(squares[0][best] + squares[1][best], rel=2e-2)


def test_sizes_are_right_when_every_outcome_of_few_labels_is_enumerated():
    """Two groups of 12 labels, 8 and 4 in the bins of a judge: right, useless, inverted, good in one group only."""
    n, share = np.array([8.0, 4.0]), np.array([0.7, 0.3])
    x = np.stack(np.meshgrid(np.arange(9), np.arange(5), indexing="ij"), axis=-1).reshape(-1, 2).astype(float)
    first, second = np.repeat(np.arange(45), 45), np.tile(np.arange(45), 45)
    each = [side(one, n, share) for one in x]
    sides = LabelledRate.stacked(*([each[row] for row in rows] for rows in (first, second)))
    rejected = np.abs(disparity_statistic(sides, 0.0, "difference")) >= Z
    for p1, p2 in [
        ((0.05, 0.9), (0.05, 0.9)),
        ((0.3, 0.3), (0.3, 0.3)),
        ((0.4, 0.1), (0.4, 0.1)),
        ((0.3, 0.3), (0.1, 0.767)),
    ]:
        law = [binom.pmf(x, n, p).prod(axis=1) for p in (p1, p2)]
        assert share @ p1 == pytest.approx(share @ p2, abs=1e-3)
        assert (law[0][first] * law[1][second])[rejected].sum() <= 0.055


@pytest.mark.parametrize("roles", [[(EVENT, GIVEN)] * 2, [(EVENT, OUTSIDE), (GIVEN, OUTSIDE)]])
@pytest.mark.parametrize(("disparity", "edge"), [("difference", 0.0), ("difference", 0.1), ("ratio", 0.8)])
def test_tails_are_those_of_enumerated_labels(roles, disparity, edge):
    """Every number of labels in four bins, with SciPy's binomial probabilities at the most likely rates."""
    first, second = side([7, 3], [12, 6], [0.7, 0.3], roles), side([9, 6], [20, 8], [0.6, 0.4], roles)
    sides = LabelledRate.stacked([first], [second])
    grid, half = np.linspace(0, 1, 1001)[1:-1], 1e-3
    for _ in range(2):  # a fine grid about the best of a coarse one
        values = np.stack([edge * grid if disparity == "ratio" else grid + edge, grid])
        values = values[:, (values[0] > 0) & (values[0] < 1)]
        up, down = first.at(values[0])[1], second.at(values[1])[1]
        best = np.abs(up * (edge if disparity == "ratio" else 1) + down).argmin()
        grid = np.linspace(values[1][best] - half, values[1][best] + half, 1001)
    away, law = [], []
    signs = (1, -edge if disparity == "ratio" else -1)
    for one, value, sign in zip((first, second), values[:, best], signs, strict=True):
        slope, _, constant = one._form(value)
        p = _most_likely(slope, constant, one.first, one.labels)[0]
        x = np.stack(np.meshgrid(*[np.arange(n + 1) for n in one.labels], indexing="ij"), axis=-1).reshape(-1, 2)
        weight = sign * slope / one.labels / one._sums(p)[1]
        away.append(((x - one.labels * p) @ weight, (one.first - one.labels * p) @ weight))
        law.append(binom.pmf(x, one.labels, p).prod(axis=1))
    every, data = np.add.outer(away[0][0], away[1][0]), away[0][1] + away[1][1]
    beyond = {"two-sided": np.abs(every) - abs(data), "greater": every - data, "less": data - every}
    for alternative, farther in beyond.items():
        # What is as far away but for a rounding of the grid counts by half.
        least, most = (
            (np.outer(*law)[farther > up].sum() + np.outer(*law)[farther >= down].sum()) / 2
            for up, down in ((2e-3, -1e-9), (1e-9, -2e-3))
        )
        assert least - 1e-4 <= np.exp(log_tails(sides, edge, disparity, alternative)[0]) <= most + 1e-4


def test_one_error_of_a_few_labels_is_not_beyond_chance_where_errors_are_rare():
    """The normal p-value of 2 errors of 26 labels against 2 of 500 is far smaller than their probability."""
    first, second, common = side(2, 26, 1.0), side(2, 500, 1.0), 4 / 526
    sides = LabelledRate.stacked([first], [second])
    x1, x2 = np.arange(27)[:, None], np.arange(501)
    law, away = binom.pmf(x1, 26, common) * binom.pmf(x2, 500, common), np.abs(x1 / 26 - x2 / 500)
    expected = (law[away > away[2, 2] + 1e-9].sum() + law[away >= away[2, 2] - 1e-9].sum()) / 2
    assert np.exp(log_tails(sides, 0.0, "difference", "two-sided"))[0] == pytest.approx(expected, rel=1e-3)
    assert 2 * norm.sf(statistic(first, second, 0.0)) < expected / 50


def test_bins_depend_on_scores_and_on_how_many_labels_there_are():
    rng = np.random.default_rng(0)
    score = rng.random(1000)
    for n in (20, 100, 400):
        labelled = (rng.permutation(1000) < n).astype(float)
        bins = bins_of(score, labelled)
        sizes, labels = np.bincount(bins), np.bincount(bins, labelled)
        assert len(sizes) == min(max(2, n // 30), MOST_BINS)
        assert (labels > 0).all()
        assert (sizes * n / 1000 >= EXPECTED).all()
        assert (np.diff(score[np.argsort(bins, kind="stable")][np.cumsum(sizes) - 1]) != 0).all()
        starts = [score[bins == number].min() for number in range(len(sizes))]
        assert starts == sorted(starts)


def test_a_bin_without_a_label_is_joined_with_its_neighbour():
    score = np.repeat([0.0, 0.5, 1.0], [50, 30, 20])
    labelled = np.zeros(100)
    labelled[:25] = labelled[50:60] = 1
    assert np.bincount(bins_of(score, labelled, most=3)).tolist() == [50, 50]


def test_where_nobodys_label_matters_rates_are_those_of_the_labels():
    first, labels = np.array([[6.0, 5.0, 0.0]]), np.array([[6.0, 9.0, 1.0]])
    p, multiplier = _most_likely(np.zeros((1, 3)), np.zeros(1), first, labels)
    np.testing.assert_allclose(p, first / labels)
    assert multiplier.tolist() == [0.0]
    known = side([6, 5], [6, 9], [0.5, 0.5], roles=[(GIVEN, GIVEN), (GIVEN, GIVEN)])
    sides = LabelledRate.stacked([known], [side([2, 3], [5, 6], [0.4, 0.6])])
    assert np.isfinite(log_tails(sides, 0.0, "difference", "two-sided")).all()
