"""Changes from one model to another: the score test, its estimated null distribution, and its limits."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import xlogy
from scipy.stats import binomtest, multinomial, norm

from skfairtest import FairnessTest
from skfairtest.inference.conditional import mcnemar
from skfairtest.paired import statistics as paired
from skfairtest.paired.statistics import (
    Changes,
    common_mean,
    compare_changes,
    compare_sizes,
    limits,
    limits_of_mean,
    most_likely,
    not_worse,
    score_statistic,
    upper_limits_of_sizes,
)

few = settings(deadline=None)
counts_of_group = st.tuples(*[st.integers(0, 40)] * 3).filter(lambda counts: sum(counts) > 1)
tables = st.tuples(counts_of_group, counts_of_group).map(lambda groups: np.array(groups)[:, None, :])


def log_likelihood(counts, p):
    return float(xlogy(counts, p).sum())


@few
@given(counts_of_group, st.floats(-0.95, 0.95))
def test_no_distribution_with_the_mean_is_more_likely(counts, delta):
    counts = np.array(counts, dtype=float)
    p = most_likely(counts, np.array(delta))
    assert p.sum() == pytest.approx(1)
    assert p[0] - p[1] == pytest.approx(delta)
    assert (p >= -1e-12).all()
    plus = np.linspace(max(delta, 0), (1 + delta) / 2, 501)
    others = np.stack([plus, plus - delta, 1 + delta - 2 * plus], axis=1)
    assert (
        log_likelihood(counts, np.maximum(p, 0)) >= max(log_likelihood(counts, q) for q in np.maximum(others, 0)) - 1e-9
    )


@few
@given(tables, st.sampled_from([-0.3, 0.0, 0.2]))
def test_the_common_mean_has_the_highest_likelihood(counts, edge):
    counts = counts.astype(float)
    found = float(common_mean(counts, np.array([edge]))[0])

    def likelihood(mean):
        p = most_likely(counts[:, 0], np.array([mean + edge, mean]))
        return log_likelihood(counts[:, 0], np.maximum(p, 0.0))

    inside = np.linspace(max(-1, -1 - edge), min(1, 1 - edge), 301)
    assert likelihood(found) >= max(map(likelihood, inside)) - 1e-6


@few
@given(tables)
def test_swapped_groups_or_models_change_the_sign_alone(counts):
    z = score_statistic(counts, np.ones(1))
    assert score_statistic(counts[::-1], np.ones(1)) == pytest.approx(-z)
    assert score_statistic(counts[..., [1, 0, 2]], np.ones(1)) == pytest.approx(-z)


def test_the_statistic_is_a_score_statistic():
    """By its definition: the slope of the likelihood times its inverse information, where H0 is likeliest."""
    counts = np.array([[[9, 1, 40]], [[2, 2, 46]]])
    n, d = counts.sum(axis=2)[:, 0], (counts[:, 0, 0] - counts[:, 0, 1]) / counts.sum(axis=2)[:, 0]

    def minus_likelihood(parameters):
        mean, *plus = parameters
        p = np.stack([plus, np.subtract(plus, mean), 1 + mean - 2 * np.array(plus)], axis=1)
        return -log_likelihood(counts[:, 0], p) if (p > 0).all() else np.inf

    best = minimize(minus_likelihood, [0.05, 0.1, 0.1], method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-12})
    mean, plus = best.x[0], best.x[1:]
    v = 2 * plus - mean - mean**2
    slope = (d - mean) * n / v
    # The slope along a difference of the means, over its standard deviation.
    z = slope[0] * np.sqrt((v / n).sum())
    expected = (d[0] - d[1]) / np.sqrt((v / n).sum())
    assert slope.sum() == pytest.approx(0, abs=1e-4)
    assert z == pytest.approx(expected, rel=1e-4)
    assert float(score_statistic(counts, np.ones(1))) == pytest.approx(expected, rel=1e-5)


@few
@given(tables, st.sampled_from(["two-sided", "greater", "less"]))
def test_the_p_value_is_never_below_the_normal_one(counts, alternative):
    found = compare_changes(Changes(counts), alternative=alternative, n_resamples=99, seed=np.random.SeedSequence(0))
    assert found.log_p >= paired.of_score(np.array(found.statistic), alternative)
    assert found.log_p <= 0


def test_an_enumerated_p_value_is_the_limit_of_the_sampled_one(monkeypatch):
    changes = Changes(np.array([[[6, 1, 9]], [[1, 2, 17]]]))
    exact = compare_changes(changes, alternative="less", edge=0.6)
    monkeypatch.setattr(paired, "MOST_OUTCOMES", 0)
    sampled = compare_changes(changes, alternative="less", edge=0.6, n_resamples=40_000, seed=np.random.SeedSequence(1))
    assert (exact.method, sampled.method) == ("enumerated parametric bootstrap", "parametric bootstrap")
    assert np.exp(sampled.log_p) == pytest.approx(np.exp(exact.log_p), abs=4 * np.sqrt(np.exp(exact.log_p) / 40_000))


def test_where_models_disagree_often_nothing_is_drawn():
    changes = Changes(np.array([[[300, 250, 450]], [[300, 200, 1500]]]))
    found = compare_changes(changes)
    assert found.method == "asymptotic"
    assert found.draws is None
    assert found.log_p == pytest.approx(np.log(2) + norm.logsf(abs(found.statistic)))


@few
@given(tables, st.sampled_from([(1.96, 1.96), (1.645, np.inf), (np.inf, 1.0)]))
def test_limits_are_where_the_statistic_is_critical(counts, critical):
    ((low, high),) = limits([Changes(counts)], np.array([critical]), np.array([[-2.0, 2.0]]))
    for limit, most, sign in ((low, critical[0], 1), (high, critical[1], -1)):
        if np.isinf(most):
            assert abs(limit) == 2
        elif abs(limit) < 2 - 1e-9:
            step = 1e-6
            inside, outside = (
                sign * float(score_statistic(counts, np.ones(1), limit + sign * side)) for side in (step, -step)
            )
            assert inside <= most * (1 + 1e-4)
            assert outside >= most * (1 - 1e-4)


def test_the_same_samples_in_strata_of_their_own_are_averaged_as_in_one():
    one = np.array([[[5, 1, 14]], [[2, 3, 35]]])
    two = np.concatenate([one, one], axis=1)
    both = Changes(two)
    assert both.means == pytest.approx(Changes(one).means)
    assert float(score_statistic(two, both.weights)) == pytest.approx(
        np.sqrt(2) * float(score_statistic(one, np.ones(1)))
    )


def test_limits_of_one_mean_are_those_of_tango():
    """Tango (1998), equations 7 to 11, written out again; and a group in which nobody is judged differently."""
    n, z = 44, norm.isf(0.025)
    low, high = limits_of_mean(np.array([12, 2, 30]), z)

    def score(delta):
        a, b, c = 2 * n, -12 - 2 + (2 * n - 12 + 2) * delta, -2 * delta * (1 - delta)
        q = (np.sqrt(b * b - 4 * a * c) - b) / (2 * a)
        return (12 - 2 - n * delta) / np.sqrt(n * (2 * q + delta * (1 - delta)))

    assert score(low) == pytest.approx(z, rel=1e-6)
    assert score(high) == pytest.approx(-z, rel=1e-6)
    low, high = limits_of_mean(np.array([0, 0, 50]), z)
    assert low == pytest.approx(-(z**2) / (50 + z**2))
    assert high == pytest.approx(z**2 / (50 + z**2))


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@few
@given(st.integers(0, 60), st.integers(0, 60).filter(bool))
def test_mcnemar_is_a_binomial_test(alternative, plus, minus):
    expected = binomtest(plus, plus + minus, 0.5, alternative).pvalue
    assert np.exp(mcnemar(plus, minus, alternative)) == pytest.approx(expected, rel=1e-9)


@few
@given(tables, tables, st.sampled_from([0.0, 0.1]))
def test_sizes_are_compared_by_all_four_signs(counts, sums, margin):
    """By the definition: the largest over t of twice the smallest over s of the p-value of t D_B - s D_A >= m."""

    def p(table, sign):
        z = float(score_statistic(table, np.ones(1), sign * margin))
        return norm.cdf(sign * z)

    expected = max(2 * min(p(counts, 1), p(sums, 1)), 2 * min(p(counts, -1), p(sums, -1)))
    found = compare_sizes(Changes(counts), Changes(sums), margin, n_resamples=0)
    assert np.exp(found.log_p) == pytest.approx(min(1.0, expected), rel=1e-9)


@few
@given(tables, tables)
def test_margins_are_certified_from_the_upper_limit_on(counts, sums):
    z = norm.isf(0.025)
    (limit,) = upper_limits_of_sizes([Changes(counts)], [Changes(sums)], np.array([z]))
    for margin, certified in ((limit + 1e-3, True), (limit - 1e-3, False)):
        if 0 <= margin < 2:
            log_p = compare_sizes(Changes(counts), Changes(sums), margin, n_resamples=0).log_p
            assert (np.exp(log_p) <= 0.05) is np.bool_(certified) or abs(limit) > 1.999


def distribution(mean, disagreement):
    """Probabilities of 1, -1 and 0."""
    return np.array([(disagreement + mean) / 2, (disagreement - mean) / 2, 1 - disagreement])


def test_of_matched_pairs_the_statistic_is_that_of_signs():
    """The sum of the pairs' distances over the root of the sum of their squares."""
    cells = np.random.default_rng(5).integers(0, 3, (2, 40))
    d = np.array([1, -1, 0])[cells]
    found = score_statistic(np.eye(3, dtype=int)[cells], np.full(40, 1 / 40))
    distance = d[0] - d[1]
    assert float(found) == pytest.approx(distance.sum() / np.sqrt((distance**2).sum()))


@pytest.mark.parametrize("sizes", [(1, 1), (1, 4), (2, 3), (5, 5)])
def test_variances_of_strata_are_unbiased(sizes):
    """Over all outcomes of both groups, for unequal disagreement; the one that is most likely is too small."""
    mean, groups = 0.1, []
    for n, disagreement in zip(sizes, (0.9, 0.3), strict=True):
        outcomes = [(x, y, n - x - y) for x in range(n + 1) for y in range(n + 1 - x)]
        groups.append((np.array(outcomes), multinomial.pmf(outcomes, n, distribution(mean, disagreement))))
    (first, p), (second, q) = groups
    one, two = np.divmod(np.arange(len(first) * len(second)), len(second))
    probability = p[one] * q[two]
    distance, likeliest, unbiased = paired._parts(np.stack([first[one], second[two]]), 0.0)
    assert probability @ distance == pytest.approx(0, abs=1e-12)
    assert probability @ unbiased == pytest.approx(probability @ distance**2)
    assert probability @ likeliest < 0.95 * (probability @ distance**2)


def test_a_change_of_nearly_everybody_is_as_rare_as_one_of_nearly_nobody():
    """Variances of 110 samples that add up to .2, though nearly all have d = 1: the normal distribution is no use."""
    changes = Changes(np.array([[[109, 0, 1]], [[4992, 0, 8]]]))
    assert compare_changes(changes).method == "enumerated parametric bootstrap"


#: Samples of both groups in every stratum, how often models disagree in each, and strata.
STRATA = {
    "pairs, .8": (1, 1, 0.8, 0.8, 300), "pairs, .6 and .9": (1, 1, 0.6, 0.9, 300), "few pairs": (1, 1, 0.3, 0.3, 60),
    "1 + 3": (1, 3, 0.9, 0.6, 100), "2 + 2": (2, 2, 0.6, 0.6, 100), "3 + 3": (3, 3, 0.8, 0.6, 60),
    "10 + 10": (10, 10, 0.6, 0.6, 20), "200 + 2,000": (200, 2000, 0.6, 0.6, 3),
}  # fmt: skip


@pytest.mark.slow  # 600 data sets
@pytest.mark.parametrize("name", STRATA)
def test_size_over_strata(name):
    """Means of -.5 to .5 that differ between strata, and not within: at most 5% and three standard errors."""
    first, second, *disagreement, n_strata = STRATA[name]
    rng = np.random.default_rng(6)
    means = rng.uniform(-1, 1, n_strata) * min(0.5, *disagreement)
    counts = np.stack(
        [
            np.stack([rng.multinomial(n, distribution(mean, often), 600) for mean in means], axis=1)
            for n, often in zip((first, second), disagreement, strict=True)
        ],
        axis=1,
    )
    statistics = score_statistic(counts, np.full(n_strata, 1 / n_strata))
    rejected = 0
    for place in np.flatnonzero(np.abs(statistics) >= norm.isf(0.025) - 1e-12):  # no p-value is below the normal one
        found = compare_changes(Changes(counts[place]), n_resamples=499, seed=np.random.SeedSequence(int(place)))
        rejected += found.log_p <= np.log(0.05) + 1e-12
    assert rejected / 600 <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 600)


@pytest.mark.parametrize(("n", "margin"), [(12, 0.0), (20, 0.1)])
def test_a_lower_mean_is_refuted_by_mistake_at_most_at_the_level(n, margin):
    outcomes = np.array([(x, y, n - x - y) for x in range(n + 1) for y in range(n + 1 - x)])
    p = np.exp([not_worse(counts, margin) for counts in outcomes])
    for plus in np.linspace(0, (1 - margin) / 2, 101):
        chances = multinomial(n, [plus, plus + margin, max(0.0, 1 - 2 * plus - margin)]).pmf(outcomes)
        for level in (0.01, 0.05):
            assert chances[p <= level].sum() <= level + 1e-4
    few_lower = n * margin + outcomes[:, 0] - outcomes[:, 1] <= 0
    assert (p[few_lower] > 0.3).all()
    assert p.min() < 0.01


@pytest.mark.slow
def test_a_certificate_is_false_at_most_at_the_level():
    # Model B's selection rates are .3 and .5 as model A's, and it is more accurate; or its groups are 30 and 3,000
    # people with rare events; or its disparity is smaller and its accuracy at the margin.
    even = np.array([[0.2, 0.5], [0.5, 0.8]])
    designs = [
        ((300, 700), ((0.3, 0.3, 0.2), (0.5, 0.5, 0.2)), np.array([[0.2, 0.75], [0.25, 0.8]]), 0.02),
        ((30, 3000), ((0.02, 0.03, 0.05), (0.05, 0.06, 0.03)), even, 0.02),
        ((100, 100), ((0.1, 0.6, 0.5), (0.7, 0.7, 0.01)), np.array([[0.01, 0.5], [0.5, 0.99]]), 0.0),
    ]
    rng, n = np.random.default_rng(0), 200
    for people, groups, y_is_1, margin in designs:
        false = 0
        for seed in np.random.SeedSequence(0).spawn(n):
            counts = []
            for size, (rate_a, rate_b, differ) in zip(people, groups, strict=True):
                up, down = (differ + rate_b - rate_a) / 2, (differ - rate_b + rate_a) / 2
                predicted = np.array([[1 - rate_a - up, up], [down, rate_a - down]])
                by_y = np.stack([predicted * (1 - y_is_1), predicted * y_is_1])
                counts.append(rng.multinomial(size, np.abs(by_y.ravel())).reshape(2, 2, 2))
            c = np.array(counts)
            same, a, b, both = c[:, :, 0, 0].sum(1), c[:, :, 1, 0].sum(1), c[:, :, 0, 1].sum(1), c[:, :, 1, 1].sum(1)
            changes, sums = np.stack([b, a, same + both], axis=1), np.stack([both, same, a + b], axis=1)
            gains, losses = c[:, 1, 0, 1].sum() + c[:, 0, 1, 0].sum(), c[:, 1, 1, 0].sum() + c[:, 0, 0, 1].sum()
            log_p = not_worse(np.array([gains, losses, c.sum() - gains - losses]), margin)
            if log_p <= np.log(0.05):
                tables = Changes(changes[:, None]), Changes(sums[:, None])
                false += compare_sizes(*tables, 0.0, n_resamples=199, seed=seed).log_p <= np.log(0.05)
        assert false / n <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / n), people


@pytest.mark.slow
@pytest.mark.parametrize(("people", "rates"), [((300, 700), (0.3, 0.4)), ((30, 3000), (0.02, 0.05))])
def test_the_disparity_of_the_best_of_20_is_covered_if_intervals_allow_for_the_choice(people, rates):
    rng, group, covered = np.random.default_rng(0), np.repeat([0, 1], people), 0
    for _ in range(200):
        hired = (rng.random((20, len(group))) < np.take(rates, group)).astype(int)
        gaps = hired[:, group == 0].mean(axis=1) - hired[:, group == 1].mean(axis=1)
        best = FairnessTest.from_predictions(
            None, hired[np.abs(gaps).argmin()], sensitive_features=group, metric="selection_rate",
            confidence_level=1 - 0.05 / 20,
        ).comparisons_.iloc[0]  # fmt: skip
        covered += best["ci_low"] <= rates[0] - rates[1] <= best["ci_high"]
    assert covered / 200 >= 0.95
