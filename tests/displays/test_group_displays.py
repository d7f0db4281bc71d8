"""Drawings of tests and audits of group fairness: forest, values by group, and null distributions."""

import re
import warnings

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

from skfairtest import (
    DisparityDisplay,
    FairnessAudit,
    FairnessTest,
    GroupMetricDisplay,
    IndividualFairnessTest,
    NullDistributionDisplay,
    PairedFairnessTest,
    SubgroupScan,
)

EVERY = [DisparityDisplay, GroupMetricDisplay, NullDistributionDisplay]
every_display = pytest.mark.parametrize("Display", EVERY)


def people(n=240, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"race": rng.choice(["x", "y", "z"], n), "sex": rng.choice(["f", "m"], n)})
    y = rng.integers(0, 2, n)
    pred = (rng.random(n) < 0.4 + 0.3 * (frame["race"] == "x")).astype(int)
    return y, pred, frame


@pytest.fixture(scope="module")
def test():
    y, pred, frame = people()
    return FairnessTest.from_predictions(y, pred, sensitive_features=frame["race"], metric="selection_rate")


@pytest.fixture(scope="module")
def audit():
    y, pred, frame = people()
    return FairnessAudit.from_predictions(y, pred, sensitive_features=frame, metrics=["selection_rate", "accuracy"])


def scanned(**params):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"$a$ <b>": rng.choice(["x_1", "y"], 2000), "sex": rng.choice(["f", "m"], 2000)})
    pred = (rng.random(2000) < 0.3 + 0.4 * (frame["sex"] == "f") * (frame["$a$ <b>"] == "x_1")).astype(int)
    y = rng.integers(0, 2, 2000)
    return SubgroupScan.from_predictions(y, pred, sensitive_features=frame, **params)


def legend(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


def rows(display):
    return [text.get_text() for text in display.ax_.get_yticklabels()]


def test_the_forest_is_the_comparisons(test):
    display = DisparityDisplay.from_test(test)
    # x has the largest value and y the smallest: pairs are shown with the smaller value first.
    frame = test.comparisons_.sort_values("p_value")
    turned = frame["disparity"] > 0
    assert turned.any()
    np.testing.assert_array_equal(display.disparity, np.where(turned, -frame["disparity"], frame["disparity"]))
    np.testing.assert_array_equal(display.ci_low, np.where(turned, -frame["ci_high"], frame["ci_low"]))
    np.testing.assert_array_equal(display.ci_high, np.where(turned, -frame["ci_low"], frame["ci_high"]))
    np.testing.assert_array_equal(display.concern, frame["concern"])
    np.testing.assert_array_equal(display.p_value, frame["p_value_adjusted"])
    assert display.concern.any()
    assert not display.concern.all()
    assert rows(display) == ["z against x", "y against x", "z against y"]
    assert display.ax_.get_xlabel() == (
        "difference in percentage points: first minus second\nsimultaneous 95% intervals"
    )
    assert display.ax_.get_title() == "Selection rate"
    display.figure_.canvas.draw()
    assert {"\N{MINUS SIGN}40", "0"} <= {text.get_text() for text in display.ax_.get_xticklabels()}
    assert display.figure_ is display.ax_.figure


def test_the_values_are_those_by_group(test):
    display = GroupMetricDisplay.from_test(test)
    frame = test.by_group_
    np.testing.assert_array_equal(display.value, frame["value"])
    assert rows(display) == [f"{group} (n = {n})" for group, n in frame["n_effective"].items()]
    assert display.reference == pytest.approx(people()[1].mean())


def test_the_law_is_that_of_the_leading_comparison(test):
    display = NullDistributionDisplay.from_test(test)
    row, found, tested = test.comparisons_.iloc[test._leading], display.null_distribution, test._null_histogram
    assert row["disparity"] > 0
    assert (found.observed, found.low, found.high) == (
        -tested.observed, tuple(-end for end in tested.high[::-1]), tuple(-end for end in tested.low[::-1])
    )  # fmt: skip
    assert (found.mass, found.extreme) == (tested.mass[::-1], tested.extreme[::-1])
    assert display.comparison == f"Selection rate: {row['other']} against {row['group']}"
    assert display.ax_.get_xlabel().startswith(display.comparison + "\ndifference, in percentage points, p")


def test_an_audit_is_drawn_from_its_record_alone(audit):
    again = FairnessAudit.from_json(audit.to_json())
    for Display in EVERY:
        here, there = Display.from_test(audit), Display.from_test(again)
        assert rows(here) == rows(there)
        assert here.ax_.get_xlabel() == there.ax_.get_xlabel()
    forest = DisparityDisplay.from_test(audit)
    assert len(forest.labels) == len(audit.comparisons_)
    evidence = audit.comparisons_.sort_values("p_value").iloc[0]
    assert forest.labels[0].startswith(f"Selection rate, {evidence['feature']}: ")
    assert "Accuracy, race x sex: x, f against everyone else" in forest.labels
    values = GroupMetricDisplay.from_test(audit)
    assert len(values.labels) == len(audit.by_group_)
    assert values.reference is None


@every_display
def test_a_model_and_its_predictions_are_drawn_alike(Display):
    y, _, frame = people()
    X = np.random.default_rng(1).normal(size=(len(y), 2))
    model = LogisticRegression().fit(X, y)
    given = {"sensitive_features": frame["sex"], "metric": "false_positive_rate"}
    first = Display.from_estimator(model, X, y, **given)
    second = Display.from_predictions(y, model.predict(X), name="mine", **given)
    assert first.ax_.get_title().endswith(", LogisticRegression")
    assert second.ax_.get_title() == first.ax_.get_title().replace("LogisticRegression", "mine")
    assert rows(first) == rows(second)
    assert first.ax_.get_xlabel() == second.ax_.get_xlabel()


@every_display
def test_axes_that_are_given_are_drawn_on(Display, test):
    _, ax = plt.subplots()
    display = Display.from_test(test, ax=ax, name="given", title="other")
    assert display.ax_ is ax
    assert ax.get_title() == "other"
    assert plt.get_fignums() == [ax.figure.number]


@every_display
def test_what_is_no_test_is_refused(Display, test):
    with pytest.raises(ValueError, match=r"must be a fitted FairnessTest(,| or) FairnessAudit.*; found dict"):
        Display.from_test({})
    with pytest.raises(ValueError, match="found IndividualFairnessTest"):
        Display.from_test(IndividualFairnessTest())
    for unfitted in (clone(test), FairnessAudit()):
        with pytest.raises(NotFittedError):
            Display.from_test(unfitted)


def test_controls_and_several_metrics_are_named_in_every_row():
    y, pred, frame = people()
    for controls, pooled, within in (
        (frame["sex"], ", all sex", " in f"),
        (frame[["sex"]].assign(a=1), ", all sex x a", " in f, 1"),
    ):
        test = FairnessTest.from_predictions(
            y, pred, sensitive_features=frame["race"] == "x", control_features=controls, metric="equalized_odds"
        )
        forest = DisparityDisplay.from_test(test)
        # A pair has one order in all strata.
        pair = forest.labels[0].removesuffix(pooled)
        assert re.fullmatch("(False|True) positive rate: (False against True|True against False)", pair)
        assert f"{pair}{within}" in forest.labels
        values = GroupMetricDisplay.from_test(test)
        assert values.labels[0].startswith(f"True positive rate: False{within} (n = ")
        assert values.reference is None


def test_a_sensitive_feature_called_metric_is_no_metric():
    y, pred, frame = people()
    for metric, first in (("selection_rate", "x"), ("equalized_odds", "True positive rate: x")):
        test = FairnessTest.from_predictions(y, pred, sensitive_features={"metric": frame["race"]}, metric=metric)
        assert GroupMetricDisplay.from_test(test).labels[0].startswith(f"{first} (n = ")


def test_ratios_have_a_logarithmic_axis_and_their_margin():
    y, pred, frame = people()
    test = FairnessTest.from_predictions(
        y, pred, sensitive_features=frame["race"], metric="selection_rate", disparity="ratio", margin=0.8
    )
    display = DisparityDisplay.from_test(test)
    assert display.ax_.get_xscale() == "log"
    assert (display.null, display.margin_bounds) == (1.0, (0.8, 1.25))
    assert sorted(display.labels) == ["y against x", "z against x", "z against y"]
    assert (display.disparity < 1).all()


def test_everybodys_value_is_drawn_only_where_it_follows_from_the_groups():
    y, pred, frame = people()
    for metric in ("f1", "mean_squared_error"):
        test = FairnessTest.from_predictions(
            y, pred, sensitive_features=frame["sex"], metric=metric, n_resamples=99, random_state=0
        )
        assert GroupMetricDisplay.from_test(test).reference is None
    recall = FairnessTest.from_predictions(y, pred, sensitive_features=frame["sex"], metric="recall")
    assert GroupMetricDisplay.from_test(recall).reference == pytest.approx(pred[y == 1].mean())


def test_too_many_rows_are_cut_and_that_is_said():
    rng = np.random.default_rng(0)
    group = rng.integers(0, 12, 1200)
    test = FairnessTest.from_predictions(
        None, rng.integers(0, 2, 1200), sensitive_features=group, metric="selection_rate"
    )
    display = DisparityDisplay.from_test(test, max_rows=10)
    assert len(rows(display)) == 10
    assert "the 10 smallest p-values of 66 comparisons" in display.ax_.get_xlabel()
    # Of equal adjusted p-values the smaller p-value comes first.
    assert (test.comparisons_["p_value_adjusted"] == 1).sum() > 10
    smallest = test.comparisons_.nsmallest(10, "p_value")
    named = [set(row.split(" against ")) for row in rows(display)]
    assert named == [{str(row.group), str(row.other)} for row in smallest.itertuples()]
    values = GroupMetricDisplay.from_test(test, max_rows=5)
    assert len(rows(values)) == 5
    assert "the 5 largest of 12 groups" in values.ax_.get_xlabel()
    largest = test.by_group_["n_effective"].idxmax()
    assert any(row.startswith(f"{largest} (n = ") for row in rows(values))


def test_what_has_no_place_on_the_axis_is_counted():
    y, pred, frame = people()
    test = FairnessTest.from_predictions(
        y, pred, sensitive_features=frame["sex"], metric=["selection_rate", "normalized_mutual_info"],
        n_resamples=99, random_state=0,
    )  # fmt: skip
    display = DisparityDisplay.from_test(test)
    assert rows(display) == ["m against f"]
    assert "1 comparison of another kind not shown" in display.ax_.get_xlabel()
    alone = FairnessTest.from_predictions(
        y, pred, sensitive_features=frame["sex"], metric="normalized_mutual_info", n_resamples=99, random_state=0
    )
    assert NullDistributionDisplay.from_test(alone).comparison == "Normalized mutual info"
    for Display in (DisparityDisplay, GroupMetricDisplay):
        with pytest.raises(ValueError, match="looks at all groups at once"):
            Display.from_test(alone)


def test_a_test_without_a_law_is_refused(test):
    bare = clone(test).fit(people()[1], sensitive_features=people()[2]["race"])
    bare._null_histogram = None
    with pytest.raises(ValueError, match="has no null distribution"):
        NullDistributionDisplay.from_test(bare)


def test_groups_that_nobody_is_in_have_no_row():
    frame = pd.DataFrame({"a": list("xxyyyy"), "b": list("uuuuvv")})
    test = FairnessTest.from_predictions(None, [0, 1, 0, 1, 1, 1], sensitive_features=frame, metric="selection_rate")
    assert len(test.by_group_) == 4
    display = GroupMetricDisplay.from_test(test)
    assert display.labels == ["x, u (n = 2)", "y, u (n = 2)", "y, v (n = 2)"]
    assert display.small.all()


HOSTILE = [
    "$x_1$ and $\\alpha", "a_b^c", "<script>", "new\nline", "\x1b[31m", "", "\u4e2d\u6587" * 30, "\u0627\u0644",
    "\u05e2", "\U0001f389", "\u202eevil", "y" * 300, *(f"group {i}" for i in range(28)),
]  # fmt: skip


@pytest.mark.parametrize("suffix", ["svg", *(pytest.param(name, marks=pytest.mark.slow) for name in ("png", "pdf"))])
@pytest.mark.filterwarnings("ignore:Glyph .* missing from font:UserWarning")  # fonts are the user's
def test_hostile_names_are_drawn_without_another_warning(suffix, tmp_path):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, len(HOSTILE), 800)
    names = np.array(HOSTILE, dtype=object)[codes]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*distinct values.*")
        test = FairnessTest.from_predictions(
            None,
            rng.integers(0, 2, 800),
            sensitive_features={"$f$": names},
            metric="selection_rate",
            compare="to_rest",
        )
    for Display in EVERY:
        display = Display.from_test(test, name="$\u4e2d$ " + "z" * 200)
        path = tmp_path / f"{Display.__name__}.{suffix}"
        display.figure_.savefig(path)
        assert path.stat().st_size > 1000
        for text in [*display.ax_.get_yticklabels(), display.ax_.title, display.ax_.xaxis.label]:
            assert not text.get_parse_math() or text.get_text().replace("\u2212", "").replace(".", "").isdigit()
    assert len(set(rows(DisparityDisplay.from_test(test)))) == len(HOSTILE)


def test_fonts_are_the_users(test):
    with mpl.rc_context({"font.family": ["STIXGeneral"]}):
        assert DisparityDisplay.from_test(test).ax_.title.get_fontfamily() == ["STIXGeneral"]


# Scans --------------------------------------------------------------------------------------


def test_the_forest_of_a_scan_is_its_results():
    scan = scanned(metric="selection_rate")
    display = DisparityDisplay.from_test(scan)
    assert rows(display) == list(scan.comparisons_["subgroup"]) == ["$a$ <b> = x_1, sex = f"]
    assert not any(text.get_parse_math() for text in display.ax_.get_yticklabels())
    for name in ("disparity", "ci_low", "ci_high"):
        np.testing.assert_array_equal(getattr(display, name), scan.comparisons_[name])
    assert display.concern.all()
    assert "percentage points: subgroup minus others\nsimultaneous 95% intervals" in display.ax_.get_xlabel()


def test_the_forest_of_several_metrics_of_a_scan_names_them():
    scan = scanned(metric=["selection_rate", "accuracy", "mean_residual"], n_resamples=199)
    display = DisparityDisplay.from_test(scan)
    assert {row.partition(":")[0] for row in rows(display)} == {"Selection rate", "Mean residual"}
    assert display.factor == 1
    assert "in percentage points" not in display.xlabel
    shares = DisparityDisplay.from_test(scanned(metric="equalized_odds"))
    assert shares.factor == 100


def test_a_scan_without_results_and_other_displays_of_one_are_refused():
    with pytest.raises(ValueError, match="test reports no subgroup"):
        DisparityDisplay.from_test(scanned(metric="accuracy", min_group_size=900))
    with pytest.raises(NotFittedError):
        DisparityDisplay.from_test(SubgroupScan())
    with pytest.raises(ValueError, match="must be a fitted FairnessTest or FairnessAudit; found SubgroupScan"):
        GroupMetricDisplay.from_test(scanned(metric="selection_rate"))


def test_the_legend_of_a_test_that_certifies_says_so():
    y_pred, groups = [1, 0] * 90 + [1] * 30, ["a"] * 90 + ["b"] * 90 + ["c"] * 30
    params = {"sensitive_features": groups, "metric": "selection_rate", "alternative": "equivalence"}
    display = DisparityDisplay.from_predictions(None, y_pred, margin=0.45, **params)
    assert legend(display) == ["not certified", "certified", "tolerated"]
    fairer = PairedFairnessTest.from_predictions(
        None, [1] * 210, y_pred, sensitive_features=groups, metric="selection_rate", alternative="fairer", margin=0.2
    )
    assert legend(DisparityDisplay.from_test(fairer))[-1] == "not certified"


def test_a_margin_with_a_direction_is_not_turned_round():
    y_pred = [1] * 60 + [0] * 40 + [1] * 40 + [0] * 60
    for margin in ((0.0, None), (-0.1, 0.0), (-0.1, 0.4)):
        test = FairnessTest.from_predictions(
            None, y_pred, sensitive_features=["a"] * 100 + ["b"] * 100, metric="selection_rate",
            alternative="equivalence", margin=margin,
        )  # fmt: skip
        display = DisparityDisplay.from_test(test)
        assert rows(display) == ["a against b"]
    assert display.disparity == pytest.approx([0.2])
    assert "eople of group a were predicted positive more often than people of group b: 60.0% versus 40.0%" in str(test)
