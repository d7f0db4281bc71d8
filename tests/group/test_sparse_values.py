"""A small group with many values that are not 0, a large one with hardly any: permutations alone reject too often."""

import numpy as np
import pytest
from scipy import stats

from skfairtest import CorrelationFairnessTest, FairnessTest, PairedFairnessTest
from skfairtest.inference.resampling import monte_carlo_p

GROUP = np.repeat(["a", "b"], [30, 3000])
#: 9 of 30 and 12 of 3,000 people have a value of -1 or 1; those of the small group are mostly positive.
VALUES = np.r_[np.ones(7), -np.ones(2), np.zeros(21), np.ones(6), -np.ones(6), np.zeros(2988)]
ASKED = {"sensitive_features": GROUP, "n_resamples": 999, "random_state": 0}


def significant_by_permutation(test):
    """Whether the permutations alone make the first comparison significant."""
    row = test.comparisons_.iloc[0]
    return monte_carlo_p(test.null_distribution_[:, 0], row["statistic"], "two-sided")[0] <= 0.05


@pytest.mark.parametrize("disparity", ["difference", "ratio"])
def test_means_of_sparse_values_have_at_least_welchs_p_value(disparity):
    values = VALUES + 2  # positive, so that ratios have a meaning
    test = FairnessTest.from_predictions(None, values, metric="mean_prediction", disparity=disparity, **ASKED)
    welch = stats.ttest_ind(values[:30], values[30:], equal_var=False)
    assert significant_by_permutation(test)
    assert test.p_value_ == pytest.approx(welch.pvalue, rel=1e-9)
    assert not test.rejected_
    low, high = test.confidence_interval_
    assert low <= (disparity == "ratio") <= high
    if disparity == "difference":
        # The side on which these few are rare is longer by Hall's transformation.
        assert low == pytest.approx(welch.confidence_interval().low, rel=1e-9)
        assert high > welch.confidence_interval().high
    assert test.p_value_interval_ == pytest.approx((welch.pvalue, welch.pvalue), rel=1e-9)


def test_the_published_algorithm_counts_permutations_alone_and_warns():
    asked = {"metric": "mean_prediction", "method": "diciccio", "variance": "delta", **ASKED}
    with pytest.warns(UserWarning, match="significant by permutations in which"):
        test = FairnessTest.from_predictions(None, VALUES, **asked)
    assert test.rejected_
    assert test.p_value_ == monte_carlo_p(test.null_distribution_[:, 0], test.statistic_, "two-sided")[0]


@pytest.mark.filterwarnings("ignore:selection_rate of a rests on few people")  # nine of them changed
def test_two_models_of_weighted_samples_have_at_least_the_p_value_of_t():
    first = np.where(VALUES == 0, np.arange(3030) % 2, VALUES < 0)
    test = PairedFairnessTest.from_predictions(
        None, first, first + VALUES, metric="selection_rate", sample_weight=np.full(3030, 2.0), **ASKED
    )
    assert significant_by_permutation(test)
    assert test.p_value_ == pytest.approx(stats.ttest_ind(VALUES[:30], VALUES[30:], equal_var=False).pvalue, rel=1e-6)


def test_a_correlation_with_a_rare_feature_has_at_least_the_p_value_of_t():
    x = (GROUP == "a").astype(float)
    asked = ASKED | {"sensitive_features": x}
    test = CorrelationFairnessTest.from_predictions(None, VALUES, of="prediction", correlation="pearson", **asked)
    assert significant_by_permutation(test)
    assert test.p_value_ == pytest.approx(2 * stats.t.sf(abs(test.statistic_), 3028), rel=1e-9)
    assert test.confidence_interval_[0] <= 0 <= test.confidence_interval_[1]


def test_strata_clusters_and_three_groups_take_the_larger_p_value_too():
    asked = {"metric": "mean_prediction", "n_resamples": 199, "random_state": 0}
    twice, groups = np.tile(VALUES, 2), np.tile(GROUP, 2)
    strata = FairnessTest.from_predictions(
        None, twice, sensitive_features=groups, control_features=np.repeat([0, 1], 3030), **asked
    )
    clusters = FairnessTest.from_predictions(
        None, np.repeat(VALUES, 2), sensitive_features=np.repeat(GROUP, 2), clusters=np.repeat(np.arange(3030), 2),
        **asked,
    )  # fmt: skip
    assert significant_by_permutation(clusters)
    assert clusters.p_value_ == pytest.approx(
        stats.ttest_ind(VALUES[:30], VALUES[30:], equal_var=False).pvalue, rel=1e-6
    )
    for _, row in strata.comparisons_.iterrows():
        # Twice as many people in two equal strata: the mean of two differences, with twice the degrees of freedom.
        welch = stats.ttest_ind(VALUES[:30], VALUES[30:], equal_var=False)
        twofold = row["stratum"] is None
        p = 2 * stats.t.sf(abs(welch.statistic) * np.sqrt(1 + twofold), welch.df * (1 + twofold))
        assert row["p_value"] >= p * (1 - 1e-9)
    three = FairnessTest.from_predictions(
        None, np.r_[VALUES, VALUES[:30]], sensitive_features=np.r_[GROUP, np.repeat("c", 30)], compare="to_reference",
        reference_group="b", **asked,
    )  # fmt: skip
    welch = stats.ttest_ind(VALUES[:30], VALUES[30:], equal_var=False)
    rows = three.comparisons_
    assert (rows["p_value_adjusted"] >= welch.pvalue * (1 - 1e-9)).all()
    assert ((rows["ci_low"] <= 0) & (rows["ci_high"] >= 0)).all()
