"""Several groupings of the same people, judged as one family."""

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.multitest import multipletests

from skfairtest import CountTable, FairnessTest
from skfairtest.audit import audit_table

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")


@pytest.fixture(scope="module")
def table(compas_table):
    """COMPAS by race and sex."""
    return compas_table.regroup(["race", "sex"])


@pytest.fixture(scope="module")
def audit(table):
    """The false positive rate by race, by sex, and by both."""
    return audit_table(table, metric="false_positive_rate")


def test_each_feature_comes_first_then_all_together(audit):
    assert [part.facts.features for part in audit.parts] == ["race", "sex", "race x sex"]
    assert [part.by_group.index.names for part in audit.parts] == [["race"], ["sex"], ["race", "sex"]]
    assert [len(part.comparisons) for part in audit.parts] == [15, 1, 66]
    assert audit.n_comparisons == 15 + 1 + 66
    assert audit.n_samples == 7214


def test_one_holm_family_runs_over_all_groupings(audit):
    rows = pd.concat([part.comparisons for part in audit.parts], ignore_index=True)
    expected = multipletests(rows["p_value"], method="holm")[1]
    np.testing.assert_allclose(rows["p_value_adjusted"], expected, rtol=1e-12)
    assert audit.p_value == rows["p_value_adjusted"].min()
    np.testing.assert_array_equal(rows["concern"], rows["p_value_adjusted"] <= 0.05)
    assert audit.concern is True


def test_values_and_p_values_are_those_of_a_test_of_each_grouping(audit, table):
    for part, names in zip(audit.parts, (["race"], ["sex"], ["race", "sex"]), strict=True):
        test = FairnessTest.from_table(table.regroup(names), metric="false_positive_rate")
        pd.testing.assert_frame_equal(part.by_group, test.by_group_)
        pd.testing.assert_frame_equal(part.excluded, test.excluded_)
        same = ["metric", "group", "other", "disparity", "statistic", "p_value", "method"]
        pd.testing.assert_frame_equal(part.comparisons[same], test.comparisons_[same])


def test_asking_more_questions_costs_power(audit, table):
    alone = FairnessTest.from_table(table.regroup("sex"), metric="false_positive_rate")
    sex = audit.parts[1].comparisons
    assert sex["p_value"].tolist() == [alone.p_value_]
    assert sex["p_value_adjusted"][0] >= alone.p_value_
    # Simultaneous over 82 comparisons, not over one.
    assert sex["ci_high"][0] - sex["ci_low"][0] > np.diff(alone.confidence_interval_)[0]


@pytest.mark.parametrize("adjust", ["bonferroni", "fdr_bh", "fdr_by", None])
def test_other_adjustments_run_over_the_same_family(table, adjust):
    audit = audit_table(table, metric="accuracy", adjust=adjust, intersections=False)
    rows = pd.concat([part.comparisons for part in audit.parts], ignore_index=True)
    expected = rows["p_value"] if adjust is None else multipletests(rows["p_value"], method=adjust)[1]
    np.testing.assert_allclose(rows["p_value_adjusted"], expected, rtol=1e-12)
    assert audit.adjust == adjust
    if adjust != "bonferroni":
        assert audit.p_value == pytest.approx(multipletests(rows["p_value"], method="holm")[1].min(), rel=1e-12)


def test_strata_are_a_second_family_over_all_groupings(compas_table):
    table = compas_table.regroup(["race", "sex"], "age_cat")
    audit = audit_table(table, metric="selection_rate", intersections=False)
    rows = pd.concat([part.comparisons for part in audit.parts], ignore_index=True)
    pooled = rows["stratum"].isna()
    for family in (rows[pooled], rows[~pooled]):
        expected = multipletests(family["p_value"], method="holm")[1]
        np.testing.assert_allclose(family["p_value_adjusted"], expected, rtol=1e-12)
    assert audit.n_comparisons == pooled.sum() == 16
    assert audit.p_value == rows.loc[pooled, "p_value_adjusted"].min()
    assert audit.parts[0].facts.controls == "age_cat"


def test_one_feature_has_no_intersection(table):
    audit = audit_table(table.regroup("sex"), metric="false_positive_rate")
    assert [part.facts.features for part in audit.parts] == ["sex"]
    assert audit.concern is False
    assert audit.p_value == pytest.approx(0.869, abs=0.001)


def test_a_grouping_with_one_group_is_reported_and_the_others_are_judged():
    table = CountTable.from_predictions(
        y_pred=[0, 1] * 20, sensitive_features={"sex": ["f"] * 10 + ["m"] * 30, "planet": ["Earth"] * 40}
    )
    audit = audit_table(table, metric="selection_rate")
    assert [part.facts.features for part in audit.parts] == ["sex", "planet x sex"] or [
        part.facts.features for part in audit.parts
    ] == ["sex", "sex x planet"]
    ((grouping, reason),) = audit.not_compared
    assert grouping == "planet"
    assert "one group only" in reason


def test_nothing_to_compare_anywhere_is_an_error():
    table = CountTable.from_predictions(y_pred=[0, 1] * 4, sensitive_features={"planet": ["Earth"] * 8})
    with pytest.raises(ValueError, match=r"planet.*one group only"):
        audit_table(table, metric="selection_rate")


def test_a_grouping_whose_rate_is_undefined_does_not_stop_the_others():
    # Everybody predicted positive is of sex "f": no precision to compare by sex, but by town there is.
    table = CountTable.from_predictions(
        [0, 1] * 10,
        [1, 1, 1, 1, 1, 1, 1, 1] + [0] * 12,
        sensitive_features={"sex": ["f"] * 8 + ["m"] * 12, "town": ["x", "x", "y", "y"] * 5},
    )
    audit = audit_table(table, metric="precision")
    by_name = {part.facts.features: part for part in audit.parts}
    assert by_name["sex"].comparisons.empty
    assert by_name["sex"].excluded["reason"].str.contains("nobody").all()
    assert len(by_name["town"].comparisons) == 1
    assert 0 < audit.p_value <= 1


def test_a_table_without_what_the_metric_reads_is_an_error(selected):
    with pytest.raises(ValueError, match=r"y_true is missing: .*true_positive_rate.* needs it"):
        audit_table(selected({"a": (1, 5), "b": (2, 5)}))


def test_scores_in_the_table_are_summed_over(compas_table):
    assert "y_score" in compas_table.cell_names
    audit = audit_table(compas_table.regroup("sex"), metric="precision")
    assert audit.n_samples == 7214


def test_the_positive_label_is_asked_for_and_kept(table):
    refused = audit_table(table.regroup("sex"), metric="false_negative_rate", pos_label=0)
    assert refused.pos_label == 0
    plain = audit_table(table.regroup("sex"), metric="false_positive_rate")
    assert refused.parts[0].comparisons["p_value"].tolist() == pytest.approx(plain.parts[0].comparisons["p_value"])


@pytest.mark.parametrize("compare", ["to_rest", "to_overall"])
def test_groups_can_be_compared_with_everyone(table, compare):
    audit = audit_table(table, metric="accuracy", compare=compare, intersections=False)
    assert [len(part.comparisons) for part in audit.parts] == [6, 2]


@pytest.mark.parametrize("alpha", [0, 1, -0.05, 5, "0.05", None, float("nan")])
def test_alpha_lies_between_0_and_1_and_is_called_alpha(table, alpha):
    with pytest.raises(ValueError, match="alpha"):
        audit_table(table.regroup("sex"), alpha=alpha)


def test_alpha_decides(table):
    by_sex = table.regroup("sex")
    assert audit_table(by_sex, metric="false_positive_rate", alpha=0.9).concern
    assert not audit_table(by_sex, metric="false_positive_rate", alpha=0.05).concern


def test_max_t_and_a_reference_have_no_meaning_here(table):
    with pytest.raises(ValueError, match="adjust='max_t' has no joint law across groupings"):
        audit_table(table, adjust="max_t")
    with pytest.raises(ValueError, match="compare='to_reference'") as error:
        audit_table(table, compare="to_reference")
    # There is no such parameter: telling people to set it does not help.
    assert "needs reference_group" not in str(error.value)
