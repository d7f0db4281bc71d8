"""Which comparison sets the p-value, what is adjusted for, and when that is significant."""

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests

from skfairtest import CountTable, FairnessAudit, FairnessTest, LabelledFairnessTest, PairedFairnessTest

RATE = {"metric": "selection_rate"}
FOUR = {"a": (5, 50), "b": (24, 60), "c": (45, 90), "d": (16, 40)}
CONTRACT = [
    "metric", "group", "other", "disparity", "ci_low", "ci_high", "stratum", "n_group", "n_other", "value_group",
    "value_other", "standard_error", "statistic", "method", "p_value", "p_value_adjusted", "concern",
]  # fmt: skip


def test_the_frames_have_the_columns_of_the_contract(confused):
    table = confused({"a": (30, 10, 8, 20), "b": (25, 14, 12, 14)})
    test = FairnessTest.from_table(table)
    assert list(test.comparisons_.columns) == list(test.to_frame().columns) == CONTRACT
    assert list(test.by_group_.columns) == [
        "n", "n_effective", "value", "standard_error", "ci_low", "ci_high", "small",
    ]  # fmt: skip
    assert test.by_group_.index.names == ["metric", "group"]
    assert {"metric", "group", "stratum", "reason", "n", "n_effective"} <= set(test.excluded_.columns)
    assert test.excluded_.empty
    assert test.comparisons_["concern"].dtype == bool
    assert test.by_group_["small"].dtype == bool


def test_attributes_are_plain_numbers(confused):
    test = FairnessTest.from_table(confused({"a": (30, 10, 8, 20), "b": (25, 14, 12, 14)}))
    for name in ("p_value_", "statistic_", "disparity_"):
        assert type(getattr(test, name)) is float
    assert type(test.rejected_) is bool
    assert type(test.concern_) is bool
    assert [type(end) for end in (*test.confidence_interval_, *test.p_value_interval_)] == [float] * 4
    assert (type(test.n_samples_), type(test.n_resamples_)) == (int, int)


def test_by_default_holm_decides_with_shaffers_factors_for_all_pairs(selected):
    test = FairnessTest.from_table(selected(FOUR), **RATE)
    rows = test.comparisons_
    assert test.adjust_ == "shaffer"
    # Shaffer 1986, table 1: of six pairs at most three are equal once one is not.
    p = np.sort(rows["p_value"])
    expected = np.minimum(1, np.maximum.accumulate(p * [6, 3, 3, 3, 2, 1]))
    np.testing.assert_allclose(np.sort(rows["p_value_adjusted"]), expected, rtol=1e-12)
    assert test.p_value_ == rows["p_value_adjusted"].min()
    rest = FairnessTest.from_table(selected(FOUR), compare="to_rest", **RATE)
    assert rest.adjust_ == "holm"
    np.testing.assert_allclose(
        rest.comparisons_["p_value_adjusted"],
        multipletests(rest.comparisons_["p_value"], method="holm")[1],
        rtol=1e-12,
    )


@pytest.mark.parametrize("adjust", ["bonferroni", "holm", "fdr_bh"])
def test_adjustments_are_those_of_statsmodels(selected, adjust):
    rows = FairnessTest.from_table(selected(FOUR), adjust=adjust, **RATE).comparisons_
    np.testing.assert_allclose(rows["p_value_adjusted"], multipletests(rows["p_value"], method=adjust)[1], rtol=1e-12)
    np.testing.assert_array_equal(rows["concern"], rows["p_value_adjusted"] <= 0.05)


@pytest.mark.parametrize("adjust", ["fdr_bh", None])
def test_what_is_not_familywise_still_has_holms_global_p_value(selected, adjust):
    test = FairnessTest.from_table(selected(FOUR), adjust=adjust, **RATE)
    holm = FairnessTest.from_table(selected(FOUR), **RATE)
    assert test.p_value_ == holm.p_value_
    assert (test.statistic_, test.disparity_) == (holm.statistic_, holm.disparity_)
    if adjust is None:
        np.testing.assert_array_equal(test.comparisons_["p_value_adjusted"], test.comparisons_["p_value"])


def test_the_leading_comparison_is_the_one_with_the_smallest_p_value(selected):
    test = FairnessTest.from_table(selected(FOUR), **RATE)
    row = test.comparisons_.loc[test.comparisons_["p_value"].idxmin()]
    assert (test.statistic_, test.disparity_) == (row["statistic"], row["disparity"])
    assert test.confidence_interval_ == (row["ci_low"], row["ci_high"])


def test_ties_go_to_the_largest_statistic(selected):
    # Every adjusted p-value and every p-value is 1; the statistics differ.
    test = FairnessTest.from_table(selected({"a": (2, 4), "b": (2, 5), "c": (2, 4), "d": (1, 2)}), **RATE)
    rows = test.comparisons_
    assert (rows["p_value"] == 1).all()
    assert abs(test.statistic_) == rows["statistic"].abs().max() > 0
    # The sign does not decide: the same groups in the other order.
    turned = FairnessTest.from_table(selected({"d": (2, 4), "c": (2, 5), "b": (2, 4), "a": (1, 2)}), **RATE)
    assert abs(turned.statistic_) == abs(test.statistic_)


def test_equal_p_values_of_unequal_groups_go_to_the_largest_statistic(selected):
    # "a" against "b" and "c" against "d" mirror each other, with the same p-value; larger groups have a larger |z|.
    test = FairnessTest.from_table(selected({"a": (0, 10), "b": (10, 10), "c": (10, 10), "d": (0, 10)}), **RATE)
    assert abs(test.statistic_) == test.comparisons_["statistic"].abs().max()


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.999])
def test_rejection_follows_the_p_value_and_concern_follows_rejection(selected, level):
    table = selected({"a": (9, 40), "b": (16, 40)})
    test = FairnessTest.from_table(table, confidence_level=level, **RATE)
    assert test.rejected_ is (test.p_value_ <= 1 - level)
    assert test.concern_ is test.rejected_
    fair = FairnessTest.from_table(table, confidence_level=level, alternative="equivalence", margin=0.25, **RATE)
    assert fair.rejected_ is (fair.p_value_ <= 1 - level)
    assert fair.concern_ is not fair.rejected_


def test_a_p_value_exactly_at_the_level_is_a_rejection(selected):
    # 1/20 by permutation with 19 resamples, none of which is as extreme.
    test = FairnessTest.from_table(
        selected({"a": (0, 50), "b": (50, 50)}), method="permutation", n_resamples=19, random_state=0, **RATE
    )
    assert test.p_value_ == pytest.approx(0.05)
    assert test.rejected_


def test_strata_are_a_family_of_their_own(confused):
    rng = np.random.default_rng(2)
    groups = {(s, g): tuple(int(v) for v in rng.integers(3, 15, 4)) for s in "xyz" for g in "ab"}
    test = FairnessTest.from_table(confused(groups, strata=True), metric=["accuracy", "precision"])
    rows = test.comparisons_
    pooled = rows["stratum"].isna()
    for family in (rows[pooled], rows[~pooled]):
        expected = multipletests(family["p_value"], method="holm")[1]
        np.testing.assert_allclose(family["p_value_adjusted"], expected, rtol=1e-12)
    assert (pooled.sum(), (~pooled).sum()) == (2, 6)
    assert test.p_value_ == rows.loc[pooled, "p_value_adjusted"].min()
    assert test.disparity_ in list(rows.loc[pooled, "disparity"])


def test_a_criterion_is_its_rates_tested_jointly(confused):
    table = confused({"a": (30, 10, 8, 20), "b": (25, 14, 12, 14)})
    test = FairnessTest.from_table(table, metric="equalized_odds")
    alone = [FairnessTest.from_table(table, metric=m).p_value_ for m in ("true_positive_rate", "false_positive_rate")]
    # Tests that are made together are summed in another order.
    assert test.comparisons_["p_value"].tolist() == pytest.approx(alone, rel=1e-12)
    assert test.p_value_ == pytest.approx(min(1, 2 * min(alone)))
    assert test.within_ == "y_true"


@pytest.mark.parametrize(
    ("metric", "within"),
    [
        ("selection_rate", None),
        ("accuracy", None),
        ("true_positive_rate", "y_true"),
        ("equalized_odds", "y_true"),
        ("precision", "y_pred"),
        ("conditional_use_accuracy", "y_pred"),
    ],
)
def test_where_people_are_exchangeable_is_said(confused, metric, within):
    test = FairnessTest.from_table(confused({"a": (30, 10, 8, 20), "b": (25, 14, 12, 14)}), metric=metric)
    assert test.within_ == within
    assert (test.method_, test.variance_, test.adjust_, test.n_resamples_) == ("exact", "score", "holm", 0)
    assert test.null_distribution_ is None


def test_standard_errors_are_those_of_the_score_statistic(selected):
    (row,) = FairnessTest.from_table(selected({"a": (14, 40), "b": (31, 60)}), **RATE).comparisons_.itertuples()
    pooled = 45 / 100
    assert row.standard_error == pytest.approx(np.sqrt(pooled * (1 - pooled) * (1 / 40 + 1 / 60)))
    assert row.statistic == pytest.approx(row.disparity / row.standard_error)


@pytest.mark.slow
def test_six_equal_groups_without_adjustment_are_globally_rejected_no_more_often_than_the_level(selected):
    # The issue's own check, on groups of twelve. The p-value of a pair is looked up, the global one is Holm's smallest.
    people, repetitions = 12, 20_000
    pairs = np.empty((people + 1, people + 1))
    for x1 in range(people + 1):
        for x2 in range(x1, people + 1):
            table = selected({"a": (x1, people), "b": (x2, people)})
            pairs[x1, x2] = pairs[x2, x1] = FairnessTest.from_table(table, method="exact", **RATE).p_value_
    events = np.random.default_rng(20).binomial(people, 0.5, (repetitions, 6))
    first, second = np.triu_indices(6, 1)
    smallest = pairs[events[:, first], events[:, second]].min(axis=1)
    for row, expected in zip(events[:10], smallest[:10], strict=True):
        table = selected({g: (int(x), people) for g, x in enumerate(row)})
        test = FairnessTest.from_table(table, method="exact", adjust=None, **RATE)
        assert test.p_value_ == pytest.approx(min(1, 15 * expected), rel=1e-9)
        assert test.rejected_ == (15 * expected <= 0.05)
    rejected = (15 * smallest <= 0.05).mean()
    assert rejected <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / repetitions)
    assert (smallest <= 0.05).mean() > 0.2  # what the smallest unadjusted p-value would have done


def test_a_flat_frame_has_groups_of_several_features_as_text_and_is_a_copy():
    people = {"tree": list("ab" * 20), "soil": list("ccdd" * 10)}
    test = FairnessTest.from_predictions([0, 1] * 20, [1, 1, 0, 0] * 10, sensitive_features=people, **RATE)
    frame = test.to_frame()
    assert "a, c" in list(frame["group"])
    frame["group"] = "changed"
    assert ("a", "c") in list(test.comparisons_["group"])


GROUPS = np.repeat(["f", "m"], 60)
TRUTH = np.where(GROUPS == "f", 1, np.tile([0, 1], 60))
DECIDED = np.tile([0, 1, 1], 40)


@pytest.mark.parametrize(
    "test",
    [
        lambda: FairnessTest.from_predictions(TRUTH, DECIDED, sensitive_features=GROUPS),
        lambda: FairnessAudit.from_predictions(TRUTH, DECIDED, sensitive_features=GROUPS),
        lambda: PairedFairnessTest.from_predictions(TRUTH, DECIDED, DECIDED[::-1], sensitive_features=GROUPS),
        lambda: LabelledFairnessTest.from_predictions(
            [None, *TRUTH[1:]], DECIDED, sensitive_features=GROUPS, labelled="at_random"
        ),
        lambda: FairnessTest.from_table(
            CountTable.from_predictions(TRUTH, DECIDED, sensitive_features=GROUPS),
            metric=["true_positive_rate", "false_positive_rate"],
        ),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_a_verdict_names_the_half_that_could_not_be_tested(test):
    fitted = test()
    text = str(fitted).replace("\n", " ")
    assert "Not tested: false_positive_rate (undefined: no" in text
    assert "false_positive_rate" in set(fitted.excluded_["metric"])
    assert "nan true label" not in text


def test_a_verdict_on_everything_names_nothing_untested(confused):
    assert "Not tested" not in str(FairnessTest.from_table(confused({"a": (30, 10, 8, 20), "b": (25, 14, 12, 14)})))
