"""`compare="to_highest"` and `"to_lowest"`: against the group that is best in the data, which the data chose."""

import numpy as np
import pytest

from skfairtest import FairnessAudit, FairnessTest
from skfairtest.datasets import load_compas

COMPAS = load_compas()


def compas(**params):
    params = {"metric": "selection_rate", "compare": "to_highest"} | params
    return FairnessTest.from_predictions(
        COMPAS.y_true, COMPAS.y_pred, sensitive_features=COMPAS.sensitive_features["race"], **params
    )


def of_counts(events, people, **params):
    groups = np.repeat([f"g{place}" for place in range(len(people))], people)
    y = np.concatenate([np.repeat([1, 0], [x, n - x]) for x, n in zip(events, people, strict=True)])
    return FairnessTest(**({"metric": "selection_rate", "compare": "to_highest"} | params)).fit(
        y, sensitive_features=groups
    )


@pytest.mark.parametrize("disparity", ["difference", "ratio"])
@pytest.mark.parametrize("compare", ["to_highest", "to_lowest"])
def test_rows_are_those_of_all_pairs_with_the_best_group(compare, disparity):
    test, pairs = compas(compare=compare, disparity=disparity), compas(compare="between_groups", disparity=disparity)
    value = test.by_group_["value"]
    best = value.idxmax() if compare == "to_highest" else value.idxmin()
    rows = test.comparisons_.set_index("group")
    assert set(rows["other"]) == {best}
    assert set(rows.index) == set(test.groups_) - {best}
    for pair in pairs.comparisons_.itertuples():
        if best in (pair.group, pair.other):
            row = rows.loc[pair.group if pair.other == best else pair.other]
            assert row["p_value"] == pytest.approx(pair.p_value)
            assert row["p_value_adjusted"] == pytest.approx(pair.p_value_adjusted)
    assert test.p_value_ == rows["p_value_adjusted"].min()
    assert test.disparity_ in set(rows["disparity"])


def test_an_interval_covers_the_disparity_to_whichever_group_is_best():
    test, pairs = compas(), compas(compare="between_groups").comparisons_
    for row in test.comparisons_.itertuples():
        own = [(p.ci_low, p.ci_high) for p in pairs.itertuples() if p.group == row.group]
        own += [(-p.ci_high, -p.ci_low) for p in pairs.itertuples() if p.other == row.group]
        to_best = [(p.ci_low, p.ci_high) for p in pairs.itertuples() if (p.group, p.other) == (row.group, row.other)]
        to_best += [(-p.ci_high, -p.ci_low) for p in pairs.itertuples() if (p.other, p.group) == (row.group, row.other)]
        assert row.ci_low == pytest.approx(min(low for low, _ in own))
        assert row.ci_high == pytest.approx(to_best[0][1])


def test_each_metric_has_a_best_group_of_its_own():
    rows = compas(metric=["selection_rate", "precision"], compare="to_lowest").comparisons_
    by_metric = rows.groupby("metric")["other"].unique()
    assert by_metric.map(len).eq(1).all()
    assert by_metric["selection_rate"][0] != by_metric["precision"][0]


def test_of_equal_groups_the_larger_one_is_the_best():
    assert set(of_counts([5, 10, 2], [10, 20, 20]).comparisons_["other"]) == {"g1"}


def test_two_groups_are_one_pair():
    test, pair = of_counts([9, 20], [30, 30]), of_counts([9, 20], [30, 30], compare="between_groups")
    assert test.p_value_ == pytest.approx(pair.p_value_)
    assert test.disparity_ == pytest.approx(-11 / 30)


@pytest.mark.slow
def test_equal_groups_are_rejected_no_more_often_than_the_level_says():
    """500 samples of five equal groups of 200; the plain test against the group chosen by the data rejects far more."""
    rng = np.random.default_rng(11)
    ours = naive = 0
    for events in rng.binomial(200, 0.3, (500, 5)):
        ours += of_counts(events, [200] * 5, method="asymptotic").rejected_
        best = {"compare": "to_reference", "reference_group": f"g{events.argmax()}"}
        naive += of_counts(events, [200] * 5, method="asymptotic", **best).rejected_
    error = np.sqrt(0.05 * 0.95 / 500)
    assert ours / 500 <= 0.05 + 3 * error
    assert naive / 500 > 0.05 + 3 * error


@pytest.mark.slow
def test_intervals_cover_the_ratio_to_the_truly_best_group():
    rng = np.random.default_rng(3)
    rates = np.array([0.5, 0.5, 0.45, 0.3])
    truth = {f"g{place}": rate / 0.5 for place, rate in enumerate(rates)}
    missed = 0
    for events in rng.binomial(60, rates, (300, 4)):
        rows = of_counts(events, [60] * 4, disparity="ratio").comparisons_
        missed += any(not row.ci_low <= truth[row.group] <= row.ci_high for row in rows.itertuples())
    assert missed / 300 <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 300)


@pytest.mark.parametrize("alternative", ["greater", "less", "equivalence"])
def test_a_direction_that_the_data_choose_is_no_alternative(alternative):
    with pytest.raises(ValueError, match="has no test with compare='to_highest'"):
        compas(alternative=alternative, margin=0.1)


def test_strata_have_no_common_best_group():
    with pytest.raises(ValueError, match="with control_features a group has a different value"):
        FairnessTest.from_predictions(
            COMPAS.y_true,
            COMPAS.y_pred,
            sensitive_features=COMPAS.sensitive_features["race"],
            control_features=COMPAS.sensitive_features["sex"],
            metric="selection_rate",
            compare="to_highest",
        )


def test_an_audit_has_a_best_group_in_each_grouping():
    audit = FairnessAudit.from_predictions(
        COMPAS.y_true,
        COMPAS.y_pred,
        sensitive_features=COMPAS.sensitive_features[["sex", "age_cat"]],
        metrics=["selection_rate"],
        compare="to_highest",
        disparity="ratio",
    )
    best = audit.comparisons_.groupby("feature")["other"].unique()
    assert list(best["sex"]) == ["Male"]
    assert list(best["age_cat"]) == ["Less than 25"]
    crossed = audit.comparisons_["feature"] == "sex x age_cat"
    assert (audit.comparisons_.loc[~crossed, "disparity"] <= 1).all()
    # Intersections are compared as they are asked for.
    assert set(audit.comparisons_.loc[crossed, "other"]) == {"rest"}
