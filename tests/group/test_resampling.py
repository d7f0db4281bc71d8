"""Permutation and bootstrap on the table: what they draw from, what is undefined, and how sure they are."""

import numpy as np
import pytest
from scipy.stats import hypergeom

from skfairtest import CountTable, FairnessTest
from skfairtest.inference import draws

RATE = {"metric": "selection_rate"}


# Permutation ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("counts", [(14, 40, 31, 60), (2, 9, 7, 11), (30, 300, 5, 20), (0, 12, 6, 15), (9, 9, 3, 8)])
def test_the_permutation_p_value_approaches_the_conditional_law(selected, counts):
    x1, d1, x2, d2 = counts
    x = np.arange(max(0, x1 + x2 - d2), min(d1, x1 + x2) + 1)
    farther = np.abs(x * (d1 + d2) - (x1 + x2) * d1) >= abs(x1 * d2 - x2 * d1)
    exact = hypergeom.pmf(x[farther], d1 + d2, x1 + x2, d1).sum()
    test = FairnessTest.from_table(
        selected({"a": (x1, d1), "b": (x2, d2)}), method="permutation", n_resamples=40_000, random_state=1, **RATE
    )
    low, high = test.p_value_interval_
    assert low <= exact <= high
    assert test.p_value_ == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / 40_000) + 1e-4)
    assert test.method_ == "permutation"
    assert test.null_distribution_.shape == (40_000, 1)


def test_within_a_condition_only_the_condition_is_permuted(confused):
    # Given the margins, the draws of the TPR are those of one hypergeometric distribution, whatever the negatives are.
    groups = {"a": (40, 22, 9, 31), "b": (30, 30, 16, 24)}
    test = FairnessTest.from_table(
        confused(groups), metric="true_positive_rate", method="permutation", variance=None, random_state=0
    )
    tp = 31 + 24
    x = np.arange(tp - 40, 41)
    reachable = x / 40 - (tp - x) / 40
    drawn = test.null_distribution_[:, 0]
    assert np.abs(drawn[:, None] - reachable).min(axis=1).max() < 1e-12
    assert abs(drawn.mean()) < 0.01
    assert test.within_ == "y_true"


@pytest.mark.parametrize("method", ["permutation", "auto"])
@pytest.mark.parametrize("within", ["auto", None, "y_true", "y_pred"])
@pytest.mark.parametrize("variance", ["auto", "score", "delta", None])
def test_every_studentizing_and_every_place_runs(confused, method, within, variance):
    table = confused({"a": (30, 10, 8, 20), "b": (25, 14, 12, 14)})
    test = FairnessTest.from_table(
        table, metric=["equalized_odds", "precision", "f1"], method=method, within=within, variance=variance,
        n_resamples=199, random_state=0,
    )  # fmt: skip
    assert ((test.comparisons_["p_value"] > 0) & (test.comparisons_["p_value"] <= 1)).all()
    assert test.variance_ == ("score" if variance == "auto" else variance)
    plain = method == "auto" and within == "auto" and variance in ("auto", "score")
    assert test.method_ == ("exact" if plain else "permutation")
    if within == "auto":
        assert test.within_ == {
            "true_positive_rate": "y_true",
            "false_positive_rate": "y_true",
            "precision": "y_pred",
            "f1": "condition",
        }
    else:
        assert test.within_ == within


def test_a_place_that_changes_the_null_hypothesis_is_stated(confused):
    # Design 4.3: an override changes the null to equality of the conditional distributions, and the result says so.
    table = confused({"a": (30, 10, 8, 20), "b": (25, 14, 12, 14)})
    plain = FairnessTest.from_table(table, method="permutation", random_state=0, **RATE)
    changed = FairnessTest.from_table(table, within="y_true", random_state=0, **RATE)
    assert changed.within_ == "y_true"
    nulls = [str(test).partition("Null hypothes")[2].splitlines()[1] for test in (plain, changed)]
    assert nulls[0] != nulls[1]


def test_pairs_are_permuted_among_themselves(selected):
    # A third group changes nothing in the distribution of the first pair.
    two = {"a": (5, 40), "b": (14, 40)}
    params = {"method": "permutation", "n_resamples": 20_000, "random_state": 0, **RATE}
    alone = FairnessTest.from_table(selected(two), **params).comparisons_.iloc[0]
    third = FairnessTest.from_table(selected({**two, "c": (40, 40)}), **params).comparisons_.iloc[0]
    assert third["p_value"] == pytest.approx(alone["p_value"], abs=0.01)
    assert third["statistic"] == alone["statistic"]


@pytest.mark.slow
def test_permuting_everywhere_inflates_a_plug_in_test_and_permuting_within_does_not():
    """The KDD'20 statistic against unequal base rates: the reason for the default (design, section 1)."""
    rng = np.random.default_rng(3)
    rejections = {"kdd": 0, "raw": 0, "within": 0}
    repetitions = 100
    for _ in range(repetitions):
        counts = []
        for n, base in [(30, 0.8), (1000, 0.2)]:
            positives = rng.binomial(n, base)
            missed = rng.binomial(positives, 0.02)
            accused = rng.binomial(n - positives, 0.2)
            counts.append([n - positives - accused, accused, missed, positives - missed])
        table = CountTable(
            np.array([counts]), groups=[("a",), ("b",)], cells=[(0, 0), (0, 1), (1, 0), (1, 1)], sensitive_names=["g"]
        )
        for name, params in {
            "kdd": {"variance": "delta", "within": None},
            "raw": {"variance": None, "within": None},
            "within": {"method": "permutation"},
        }.items():
            test = FairnessTest.from_table(
                table, metric="false_negative_rate", n_resamples=199, random_state=rng, **params
            )
            rejections[name] += test.rejected_
    assert rejections["within"] / repetitions <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / repetitions)
    assert rejections["kdd"] / repetitions > 0.3  # "more than 60% of the time" at 10,000 repetitions


def test_undefined_resamples_leave_numerator_and_denominator(confused):
    # Two negatives in all: permuted everywhere, a group often has none, and no false positive rate.
    table = confused({"a": (1, 0, 3, 3), "b": (0, 1, 4, 3)})
    test = FairnessTest.from_table(
        table, metric="false_positive_rate", within=None, variance=None, n_resamples=4000, random_state=0
    )
    drawn = test.null_distribution_[:, 0]
    undefined = np.isnan(drawn)
    assert 0.3 < undefined.mean() < 0.7
    # Defined draws have a negative in each group, one of them accused: |difference| is 1 in all of them.
    assert (np.abs(drawn[~undefined]) == 1).all()
    assert test.p_value_ == 1.0
    low, high = test.p_value_interval_
    assert low > 0.99
    assert high == 1.0


def test_a_ratio_is_resampled_as_a_difference(selected):
    # 0 / 0 is undefined, 0 - 0 is not: samples without an event count for a ratio as they do for a difference.
    params = {"method": "bootstrap", "n_resamples": 4000, "random_state": 0, **RATE}
    table = selected({"a": (1, 4), "b": (2, 4)})
    difference, ratio = (FairnessTest.from_table(table, disparity=d, **params) for d in ("difference", "ratio"))
    np.testing.assert_array_equal(ratio.null_distribution_, difference.null_distribution_)
    assert not np.isnan(ratio.null_distribution_).any()
    assert ratio.p_value_ == difference.p_value_


@pytest.mark.parametrize("method", ["permutation", "bootstrap"])
@pytest.mark.parametrize("groups", [{"a": (0, 5), "b": (0, 7)}, {"a": (5, 5), "b": (7, 7)}])
def test_no_event_anywhere_is_a_p_value_of_1(selected, method, groups):
    test = FairnessTest.from_table(selected(groups), method=method, n_resamples=199, random_state=0, **RATE)
    assert (test.statistic_, test.disparity_, test.p_value_) == (0, 0, 1)
    assert not test.concern_


@pytest.mark.parametrize("variance", ["score", "delta", None])
def test_complete_separation_is_extreme_in_data_and_draws_alike(selected, variance):
    groups = {"a": (0, 4), "b": (4, 4)}
    test = FairnessTest.from_table(
        selected(groups), method="permutation", variance=variance, n_resamples=20_000, random_state=0, **RATE
    )
    # 2 of the 70 ways to choose 4 of 8.
    low, high = test.p_value_interval_
    assert low <= 2 / 70 <= high


def test_no_p_value_is_0_by_monte_carlo(selected):
    table = selected({"a": (0, 5000), "b": (5000, 5000)})
    for method in ("permutation", "bootstrap"):
        test = FairnessTest.from_table(table, method=method, n_resamples=999, random_state=0, **RATE)
        assert test.p_value_ == pytest.approx(1 / 1000)


def test_the_monte_carlo_interval_is_scaled_with_the_adjustment(selected):
    table = selected({"a": (5, 40), "b": (11, 40), "c": (12, 40)})
    test = FairnessTest.from_table(table, method="permutation", n_resamples=999, random_state=0, **RATE)
    low, high = test.p_value_interval_
    assert low < test.p_value_ < high
    exact = FairnessTest.from_table(table, **RATE)
    assert exact.p_value_interval_ == (exact.p_value_, exact.p_value_)


def test_drawn_tables_keep_the_margins_that_they_must_keep():
    table = np.array([[[5, 15], [8, 12], [3, 17]]])
    rng = np.random.default_rng(0)
    drawn = np.concatenate(list(draws.permuted(table, [[0, 1]], 1000, rng)))
    assert drawn.shape == (1000, *table.shape)
    np.testing.assert_array_equal(drawn.sum(axis=2), np.broadcast_to(table.sum(axis=1), (1000, 1, 2)))
    np.testing.assert_array_equal(drawn.sum(axis=3), np.broadcast_to(table.sum(axis=2), (1000, 1, 3)))
    np.testing.assert_allclose(drawn.mean(axis=0)[0, :, 0], [16 / 3] * 3, atol=0.2)
    resampled = draws.bootstrapped(table[0], 1000, rng)
    np.testing.assert_array_equal(resampled.sum(axis=2).T, np.broadcast_to(table[0].sum(axis=1), (1000, 3)))
    np.testing.assert_allclose(resampled.mean(axis=1), table[0], atol=0.3)


# Bootstrap ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("variance", ["auto", "delta", None])
@pytest.mark.parametrize("disparity", ["difference", "ratio"])
def test_bootstrap_p_values_and_intervals_are_close_to_the_score_test_in_large_samples(selected, disparity, variance):
    table = selected({"a": (480, 2000), "b": (540, 2000)})
    test = FairnessTest.from_table(
        table, method="bootstrap", variance=variance, disparity=disparity, n_resamples=20_000, random_state=0, **RATE
    )
    score = FairnessTest.from_table(table, method="asymptotic", disparity=disparity, **RATE)
    assert test.p_value_ == pytest.approx(score.p_value_, abs=0.015)
    assert test.confidence_interval_ == pytest.approx(score.confidence_interval_, abs=0.01)
    assert test.disparity_ == pytest.approx(score.disparity_)
    assert (test.method_, test.within_) == ("bootstrap", None)
    assert test.null_distribution_.shape == (20_000, 1)


@pytest.mark.slow
def test_bootstrap_intervals_cover():
    rng = np.random.default_rng(8)
    covered, repetitions = {"difference": 0, "ratio": 0}, 200
    truth = {"difference": 0.3 - 0.4, "ratio": 0.3 / 0.4}
    for _ in range(repetitions):
        x = rng.binomial([150, 250], [0.3, 0.4])
        table = CountTable(
            np.array([[[150 - x[0], x[0]], [250 - x[1], x[1]]]]),
            groups=[("a",), ("b",)],
            cells=[(0,), (1,)],
            sensitive_names=["g"],
            cell_names=["y_pred"],
        )
        for disparity in covered:
            test = FairnessTest.from_table(
                table, method="bootstrap", disparity=disparity, n_resamples=499, random_state=rng, **RATE
            )
            low, high = test.confidence_interval_
            covered[disparity] += low <= truth[disparity] <= high
    for count in covered.values():
        assert abs(count / repetitions - 0.95) <= 3 * np.sqrt(0.05 * 0.95 / repetitions) + 0.01


@pytest.mark.parametrize("variance", ["delta", None])
@pytest.mark.parametrize("disparity", ["difference", "ratio"])
@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_a_bootstrap_interval_leaves_equality_out_exactly_where_it_is_rejected(
    selected, alternative, disparity, variance
):
    rng, null, seen = np.random.default_rng(5), float(disparity == "ratio"), set()
    for seed in range(12):
        x = rng.binomial([30, 60], [0.12, 0.35])
        test = FairnessTest.from_table(
            selected({"a": (int(x[0]), 30), "b": (int(x[1]), 60)}), method="bootstrap", alternative=alternative,
            disparity=disparity, variance=variance, n_resamples=399, random_state=seed, **RATE,
        )  # fmt: skip
        low, high = test.confidence_interval_
        assert (not low <= null <= high) == test.rejected_
        seen.add(test.rejected_)
    assert False in seen


@pytest.mark.parametrize("alternative", ["greater", "less"])
def test_one_sided_bootstrap_intervals_are_one_sided(selected, alternative):
    table = selected({"a": (48, 200), "b": (74, 200)})
    test = FairnessTest.from_table(table, method="bootstrap", alternative=alternative, random_state=0, **RATE)
    low, high = test.confidence_interval_
    assert (high == 1.0) is (alternative == "greater")
    assert (low == -1.0) is (alternative == "less")
    assert test.rejected_ is (alternative == "less")


@pytest.mark.parametrize("margin", [None, 0.8])
@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
def test_a_bootstrap_ratio_with_a_zero_claims_no_more_than_the_score_test(selected, alternative, margin):
    # All samples of a group without an event are alike, and say nothing about how uncertain its rate is. Fisher's test
    # of 0 of 20 and 5 of 20 has p = .047; the bootstrap alone would say .001 or less of 0 of 5 and 30 of 60.
    params = {"disparity": "ratio", "alternative": alternative, "margin": margin, "random_state": 0, **RATE}
    for groups in ({"a": (0, 20), "b": (5, 20)}, {"a": (0, 5), "b": (30, 60)}):
        table = selected(groups)
        test = FairnessTest.from_table(table, method="bootstrap", n_resamples=1999, **params)
        score = FairnessTest.from_table(table, method="asymptotic", **params)
        low, high = test.confidence_interval_
        assert low == test.disparity_ == 0
        assert high >= score.confidence_interval_[1] > 0.2
        assert test.p_value_ >= score.p_value_ * (1 - 1e-12)
        assert np.isfinite(test.statistic_)


def test_a_bootstrap_without_variation_claims_no_certainty(selected):
    # All draws are alike: an interval of no width would say that 0 of 4 and 4 of 4 are known for sure.
    test = FairnessTest.from_table(selected({"a": (0, 4), "b": (4, 4)}), method="bootstrap", random_state=0, **RATE)
    low, high = test.confidence_interval_
    assert high - low > 0.1
