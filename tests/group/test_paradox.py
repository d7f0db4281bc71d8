"""Berkeley 1973: a disparity against women that reverses within departments."""

import numpy as np
import pytest

from skfairtest import FairnessTest

ADMITTED = {"metric": "selection_rate"}
#: Women admitted, women, men admitted, men, by department (R's UCBAdmissions).
DEPARTMENTS = {
    "A": (89, 108, 512, 825),
    "B": (17, 25, 353, 560),
    "C": (202, 593, 120, 325),
    "D": (131, 375, 138, 417),
    "E": (94, 393, 53, 191),
    "F": (24, 341, 22, 373),
}


@pytest.fixture(scope="module")
def overall(berkeley):
    """By sex alone."""
    return FairnessTest.from_predictions(
        None, berkeley.y_pred, sensitive_features=berkeley.sensitive_features, **ADMITTED
    )


@pytest.fixture(scope="module")
def within(berkeley):
    """By sex, within departments."""
    return FairnessTest.from_predictions(
        None,
        berkeley.y_pred,
        sensitive_features=berkeley.sensitive_features,
        control_features=berkeley.control_features,
        **ADMITTED,
    )


def test_by_sex_alone_women_are_admitted_significantly_less_often(overall):
    # 557 of 1835 women and 1198 of 2691 men (Bickel et al. 1975, the six largest departments).
    assert overall.disparity_ == pytest.approx(557 / 1835 - 1198 / 2691, rel=1e-12)
    assert overall.disparity_ < 0
    assert overall.p_value_ < 1e-20
    assert overall.rejected_
    assert overall.concern_
    (row,) = overall.comparisons_.itertuples()
    assert (row.group, row.other) == ("Female", "Male")


def test_within_departments_the_pooled_disparity_reverses(within):
    # Mantel-Haenszel: the sum of w (r1 - r2) over the sum of w, w = n1 n2 / (n1 + n2).
    a, n, b, m = (np.array(column, dtype=float) for column in zip(*DEPARTMENTS.values(), strict=True))
    weights = n * m / (n + m)
    assert within.disparity_ == pytest.approx(np.average(a / n - b / m, weights=weights), rel=1e-12)
    assert within.disparity_ == pytest.approx(0.018, abs=0.001)
    assert not within.rejected_
    assert not within.concern_
    pooled = within.comparisons_.iloc[0]
    assert pooled["stratum"] is None
    assert pooled["value_group"] - pooled["value_other"] == pytest.approx(pooled["disparity"])
    assert within.confidence_interval_[0] < 0 < within.confidence_interval_[1]


def test_department_a_is_the_only_stratum_significant_after_adjustment(within):
    strata = within.comparisons_.iloc[1:].set_index("stratum")
    assert list(strata.index) == list(DEPARTMENTS)
    assert list(strata.index[strata["concern"]]) == ["A"]
    assert strata.loc["A", "disparity"] == pytest.approx(89 / 108 - 512 / 825)
    # A family of its own: Holm over the six strata.
    assert strata.loc["A", "p_value_adjusted"] == pytest.approx(6 * strata.loc["A", "p_value"])


def test_values_by_group_are_shown_in_every_department(within):
    assert within.by_group_.index.names == ["department", "sex"]
    values = within.by_group_["value"]
    for department, (a, n, b, m) in DEPARTMENTS.items():
        assert values[(department, "Female")] == pytest.approx(a / n)
        assert values[(department, "Male")] == pytest.approx(b / m)


def test_each_printout_states_its_null_hypothesis(overall, within):
    alone, inside = str(overall), str(within)
    for printout in (alone, inside):
        after = printout.partition("Null hypothes")[2].splitlines()[1]
        assert "selection_rate" in after
        assert "are predicted positive is the same" in after
        assert "sex" in after
        assert ("within every department" in after) is (printout is inside)
    assert alone.startswith("Significant disparity: ")
    assert inside.startswith("No significant disparity")


def test_the_table_says_the_same_as_the_rows(berkeley_table, within):
    test = FairnessTest.from_table(berkeley_table, **ADMITTED)
    assert test.p_value_ == within.p_value_
    assert FairnessTest.from_table(berkeley_table.regroup("sex", []), **ADMITTED).disparity_ < 0


def test_the_ratio_is_mantel_and_haenszels(berkeley_table, within):
    a, n, b, m = (np.array(column, dtype=float) for column in zip(*DEPARTMENTS.values(), strict=True))
    test = FairnessTest.from_table(berkeley_table, disparity="ratio", **ADMITTED)
    assert test.disparity_ == pytest.approx((a * m / (n + m)).sum() / (b * n / (n + m)).sum(), rel=1e-12)
    assert test.p_value_ == within.p_value_


def test_stratified_permutation_finds_the_exact_p_value_again(berkeley_table, within):
    # The score statistic is a constant times sum(x1) given the margins; two-sided, the exact test orders by probability
    # and the draws by distance, which differ little here.
    test = FairnessTest.from_table(berkeley_table, method="permutation", random_state=0, **ADMITTED)
    low, high = test.p_value_interval_
    assert low - 0.01 < within.p_value_ < high + 0.01
    assert test.null_distribution_.shape == (9999, 7)
