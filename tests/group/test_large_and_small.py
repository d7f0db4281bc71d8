"""P-values far below the smallest float, and people by the billion."""

import numpy as np
import pytest
from scipy.stats import norm

from skfairtest import CountTable, FairnessTest

BILLION = 1_000_000_000


def test_the_false_positive_rates_of_compas_are_no_0(compas):
    # ProPublica: 805 of 1795 Black and 349 of 1488 white people who did not reoffend.
    races = compas.sensitive_features["race"].isin(["African-American", "Caucasian"])
    test = FairnessTest.from_predictions(
        compas.y_true[races],
        compas.y_pred[races],
        sensitive_features=compas.sensitive_features.loc[races, "race"],
        metric="false_positive_rate",
    )
    assert test.disparity_ == pytest.approx(805 / 1795 - 349 / 1488, rel=1e-12)
    assert 0 < test.p_value_ < 1e-30
    (row,) = test.comparisons_.itertuples()
    assert row.n_group == 3696
    printed = str(test)
    assert f"{test.p_value_:.1e}" in printed
    assert "p = 0.000" not in printed
    assert "p = 0.0 " not in printed


def test_many_people_with_a_strong_disparity_have_a_p_value_that_prints(selected):
    test = FairnessTest.from_table(selected({"a": (10_000, 50_000), "b": (40_000, 50_000)}), metric="selection_rate")
    assert test.p_value_ > 0
    assert test.rejected_
    assert "<1e-300" in str(test).replace("< 1e-300", "<1e-300")
    assert test.comparisons_["p_value_adjusted"].min() > 0


@pytest.mark.parametrize("adjust", ["holm", "bonferroni", "fdr_bh", None])
def test_no_adjustment_makes_it_0(confused, adjust):
    table = confused({"a": (90_000, 10_000, 20_000, 80_000), "b": (10_000, 90_000, 80_000, 20_000)})
    test = FairnessTest.from_table(table, adjust=adjust)
    assert test.p_value_ > 0
    assert (test.comparisons_["p_value_adjusted"] > 0).all()


def test_a_billion_people_are_compared_by_their_counts(confused, selected):
    def counts(rate):
        return (int(rate * BILLION), BILLION)

    near = FairnessTest.from_table(
        selected({"a": counts(0.3), "b": (300_020_000, BILLION), "c": counts(0.30004)}), metric="selection_rate"
    )
    far = FairnessTest.from_table(selected({"a": counts(0.3), "b": counts(0.5)}), metric="selection_rate")
    odds = FairnessTest.from_table(
        confused({"a": (4 * 10**8, 10**8, 10**8, 4 * 10**8), "b": (4 * 10**8, 10**8 + 9000, 10**8, 4 * 10**8)})
    )
    fair = FairnessTest.from_table(
        selected({"a": counts(0.3), "b": counts(0.30002)}),
        metric="selection_rate",
        alternative="equivalence",
        margin=0.001,
    )
    # 20,000 in a billion are z = .976, 40,000 are 1.95: of three; the normal distribution is exact enough here.
    assert near.comparisons_["p_value"].tolist() == pytest.approx([0.3291, 0.0510, 0.3292], abs=2e-3)
    assert 0 < far.p_value_ < 1e-300
    # 9,000 more of 100 million of 500 million: z = .57 for the false positive rate, and nothing for the other one.
    assert odds.comparisons_["p_value"].tolist() == pytest.approx([1.0, 2 * norm.sf(0.56919)], abs=1e-3)
    assert fair.rejected_


@pytest.mark.slow
def test_a_billion_people_in_strata(berkeley_table):
    frame = berkeley_table.to_frame()
    frame["count"] *= 300_000
    table = CountTable.from_counts(
        frame, y_true="y_true", y_pred="y_pred", sensitive_features="sex", control_features="department"
    )
    test = FairnessTest.from_table(table, metric="selection_rate")
    assert test.n_samples_ == 4526 * 300_000
    assert 0 < test.p_value_ < 1e-300
    assert test.disparity_ == pytest.approx(0.018425, abs=1e-6)


def test_a_billion_people_can_be_resampled_in_groups_but_not_permuted(selected):
    table = selected({"a": (3 * 10**8, BILLION), "b": (300_020_000, BILLION)})
    boot = FairnessTest.from_table(table, metric="selection_rate", method="bootstrap", n_resamples=999, random_state=0)
    assert boot.p_value_ == pytest.approx(0.329, abs=0.06)
    with pytest.raises(ValueError, match="fewer than 1,000,000,000 people, found 2,000,000,000"):
        FairnessTest.from_table(table, metric="selection_rate", method="permutation")


def test_few_people_have_p_values_that_can_be_checked_by_hand(selected):
    # 0 of 2 against 2 of 2: the outcomes {0,2} and {2,0}; P = 2 p^2 (1 - p)^2, largest at p = 1/2.
    test = FairnessTest.from_table(selected({"a": (0, 2), "b": (2, 2)}), metric="selection_rate")
    assert test.p_value_ == pytest.approx(1 / 8, rel=1e-5)
    one_sided = FairnessTest.from_table(
        selected({"a": (0, 2), "b": (2, 2)}), metric="selection_rate", alternative="less"
    )
    assert one_sided.p_value_ == pytest.approx(1 / 16, rel=1e-5)


def test_a_group_of_one_person_in_the_condition_can_be_compared(confused):
    table = confused({"a": (5, 5, 0, 1), "b": (5, 5, 9, 0)})
    test = FairnessTest.from_table(table, metric="true_positive_rate")
    assert test.disparity_ == 1.0
    # Boschloo: the outcomes (1, 0) and (0, 9): p (1-p)^9 + (1-p) p^9, and its maximum.
    p = np.linspace(0, 1, 100_001)
    assert test.p_value_ == pytest.approx((p * (1 - p) ** 9 + (1 - p) * p**9).max(), rel=1e-5)
    assert test.by_group_["small"].all()
