"""Who and what in plain words."""

import numpy as np
import pytest

from skfairtest import FairnessTest
from skfairtest.report.sentences import (
    Setup,
    finding_sentence,
    gap_sentence,
    null_sentence,
    people_of,
    sides_of,
    turned,
    worse_when,
)

RATE = {"selection_rate": ("are predicted positive", "all people")}


def row(a=0.15, b=0.383, **more):
    return {
        "metric": "selection_rate", "group": "Female", "other": "Male", "stratum": None, "value_group": a,
        "value_other": b, "disparity": a - b, "ci_low": a - b - 0.03, "ci_high": a - b + 0.03, "p_value": 1e-9,
        "p_value_adjusted": 1e-8, "minimum_detectable": 0.05, "concern": True, "method": "exact unconditional", **more,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("names", "group", "said"),
    [
        (["race"], "African-American", "African-American people"),
        (["race1"], "Native American", "Native American people"),
        (["sensitive_gender"], "nonbinary", "nonbinary people"),
        (["race"], "Other", "people whose race is Other"),
        (["race"], "Two or More", "people whose race is Two or More"),
        (["sex"], "f", "people whose sex is f"),
        (["sex"], 1, "people with sex = 1"),
        (["black"], "yes", "people with black = yes"),
        (["workclass"], "Private", "people with workclass = Private"),
        (["age"], "Less than 25", "people with age = Less than 25"),
        (["race", "sex"], ("Black", "Female"), "people with race = Black and sex = Female"),
        ([], "a", "a"),
    ],
)
def test_people_are_people_and_groups_are_told_with_their_feature(names, group, said):
    assert people_of(names, group) == said


def test_each_side_is_named_as_its_value_allows():
    sides = sides_of(["race"], "between_groups", "White", "Other")
    assert sides == ("White people", "people whose race is Other")
    parents = sides_of(["race", "sex"], "to_parents", ("Black", "Female"), "rest of race = Black")
    assert parents == ("people with race = Black and sex = Female", "others with race = Black")


@pytest.mark.parametrize(
    ("disparity", "told"),
    [
        ("difference", "5.0 points"),
        ("ratio", "a ratio of 1.84 or 0.54"),
        ("odds_ratio", "an odds ratio of 1.84 or 0.54"),
    ],
)
def test_what_could_have_been_detected_is_a_number_of_points_or_a_ratio(disparity, told):
    setup = Setup(sentences=RATE, names=("sex",), disparity=disparity)
    size = 0.05 if disparity == "difference" else 1.84
    said = finding_sentence(setup, row(concern=False, minimum_detectable=size))
    assert said.endswith(f"with an 80% chance of detecting {told}.")


@pytest.mark.parametrize(("feature", "groups"), [("group", "groups"), ("Group", "groups"), ("sex", "groups of sex")])
def test_a_feature_called_group_is_not_named_twice(feature, groups):
    test = FairnessTest.from_predictions(
        None, [1, 0] * 20, sensitive_features={feature: list("ab") * 20}, metric="selection_rate"
    )
    assert str(test).startswith(f"Significant disparity: {groups} differ by more")
    assert f"is the same in any two {groups}" in str(test)


@pytest.mark.parametrize(
    ("params", "name"),
    [
        ({}, "Boschloo's exact test (exact unconditional)"),
        ({"margin": 0.05}, "Chan's exact test (exact unconditional)"),
        ({"disparity": "odds_ratio"}, "Fisher's exact test (exact conditional)"),
        (
            {"control_features": [0, 0, 1, 1] * 10},
            "the exact test given each stratum's totals (exact conditional), "
            "Boschloo's exact test (exact unconditional)",
        ),
        ({"method": "asymptotic"}, "asymptotic"),
    ],
)
def test_a_printed_test_names_the_test(params, name):
    test = FairnessTest.from_predictions(
        None, [1, 0, 0, 0, 1] * 8, sensitive_features=list("ab") * 20, metric="selection_rate", **params
    )
    assert f"\nTest: {name}.\n" in f"{test}\n"


@pytest.mark.parametrize("name", ["to_csv", "to_latex", "to_parquet"])
def test_what_a_frame_can_write_is_answered_with_the_line(name):
    test = FairnessTest.from_predictions(None, [1, 0] * 20, sensitive_features=list("ab") * 20, metric="selection_rate")
    with pytest.raises(AttributeError, match=rf"write to_frame\(\)\.{name}"):
        getattr(test, name)
    assert not hasattr(test, "to_something")


def test_the_sentence_of_the_issue():
    setup = Setup(sentences=RATE, names=("sex",), positive_means="approved")
    said = gap_sentence(setup, row())
    assert said == ("women were approved less often than men: 15.0% versus 38.3%, 23.3 points (20.3 to 26.3)")
    said = gap_sentence(setup, turned(setup, row()))
    assert said.startswith("men were approved more often than women: 38.3% versus 15.0%, 23.3 po")
    assert said.endswith("(20.3 to 26.3)")


@pytest.mark.parametrize(("a", "b"), [(0.2, 0.5), (0.5, 0.2), (0.0, 0.4), (0.3, 0.3)])
@pytest.mark.parametrize("kind", ["difference", "ratio"])
def test_a_comparison_says_the_same_from_both_sides(a, b, kind):
    setup = Setup(sentences=RATE, names=("sex",), disparity=kind)
    ratio = {"disparity": a / b, "ci_low": a / b / 2, "ci_high": a / b * 2} if kind == "ratio" else {}
    one = row(a, b, **ratio)
    back = {"disparity": -one["disparity"], "ci_low": -one["ci_high"], "ci_high": -one["ci_low"]}
    if kind == "ratio":
        with np.errstate(divide="ignore"):
            low, at, high = (float(1 / np.float64(one[name])) for name in ("ci_high", "disparity", "ci_low"))
        back = {"disparity": at, "ci_low": low, "ci_high": high}
    other = row(b, a, group="Male", other="Female", **back)
    assert gap_sentence(setup, turned(setup, one)) == gap_sentence(setup, other)


def test_a_prediction_is_called_what_it_means_everywhere():
    sentences = RATE | {"precision": ("are truly positive", "people predicted positive")}
    sentences |= {"false_negative_rate": ("are predicted negative", "people whose true label is positive")}
    setup = Setup(sentences=sentences, names=("sex",), positive_means="denied")
    for metric in sentences:
        for said in (
            finding_sentence(setup, row(metric=metric)),
            gap_sentence(setup, row(metric=metric)),
            null_sentence(setup, metric),
        ):
            assert "predicted" not in said
            assert "denied" in said


@pytest.mark.parametrize("favorable", [True, False])
def test_complementary_metrics_have_opposite_sides(favorable):
    for one, other in [
        ("true_positive_rate", "false_negative_rate"),
        ("false_positive_rate", "true_negative_rate"),
        ("precision", "false_discovery_rate"),
        ("negative_predictive_value", "false_omission_rate"),
        ("accuracy", "zero_one_loss"),
    ]:
        assert worse_when(one, favorable) == -worse_when(other, favorable)
    assert worse_when("selection_rate", favorable) == (-1 if favorable else 1)
    assert worse_when("something_else", favorable) == 0


def test_nothing_is_worse_where_nobody_said_what_is_good_but_errors():
    assert worse_when("selection_rate", None) == worse_when("precision", None) == 0
    assert worse_when("f1_macro", None) == worse_when("roc_auc", None) == -1
    assert worse_when("log_loss", None) == worse_when("mean_absolute_error", None) == 1
