"""Decomposed disparities of fitted tests: Berkeley, means, and what cannot be decomposed."""

import numpy as np
import pytest

from skfairtest import FairnessTest
from skfairtest.datasets import load_berkeley


@pytest.fixture(scope="module")
def berkeley():
    return FairnessTest.from_table(load_berkeley(as_table=True), metric="selection_rate")


def test_berkeleys_standardized_rates_are_the_published_ones(berkeley):
    """Freedman, Pisani and Purves, Statistics, chapter 2, table 2: men 39%, women 43%, weighted by all applicants."""
    found = berkeley.decompose(standard="pooled")
    rows, table = found.by_stratum, load_berkeley()
    weight = np.unique(table.control_features["department"], return_counts=True)[1] / 4526
    assert (weight @ rows["value_group"]).round(2) == 0.43
    assert (weight @ rows["value_other"]).round(2) == 0.39
    assert found.parts["value"]["treatment"] == pytest.approx(weight @ (rows["value_group"] - rows["value_other"]))
    assert found.parts["value"]["difference"].round(4) == -0.1416


def test_groups_are_turned_by_name(berkeley):
    first, second = berkeley.decompose(), berkeley.decompose(group="Male")
    assert second.other == "Female"
    assert second.parts["value"].to_numpy() == pytest.approx(-first.parts["value"].to_numpy())
    assert second.parts["standard_error"].to_numpy() == pytest.approx(first.parts["standard_error"].to_numpy())


def test_it_prints_sentences_and_tables(berkeley):
    text = str(berkeley.decompose())
    assert text.startswith("selection_rate of Female minus that of Male: -0.1416")
    assert "is composition by department" in text
    assert "no_counterpart" in text


def people(n=900):
    rng = np.random.default_rng(0)
    group, site = rng.choice(list("abc"), n), rng.choice(["x", "y"], n)
    return rng.integers(0, 2, n), rng.random(n), group, site


def test_a_mean_is_decomposed_as_numpy_does_it():
    y_true, score, group, site = people()
    test = FairnessTest.from_predictions(
        y_true, score, sensitive_features=group, control_features=site, metric="mean_prediction", n_resamples=99,
        random_state=0,
    )  # fmt: skip
    found = test.decompose(group="a", other="b", standard="other")
    share = np.array([(site[group == "b"] == s).mean() for s in "xy"])
    values = [[score[(group == g) & (site == s)].mean() for s in "xy"] for g in "ab"]
    assert found.parts["value"]["treatment"] == pytest.approx(share @ np.subtract(*values))
    assert found.parts["value"]["difference"] == pytest.approx(score[group == "a"].mean() - score[group == "b"].mean())


@pytest.mark.parametrize(
    ("metric", "columns", "arguments", "says"),
    [
        ("selection_rate", {}, {"group": "a", "other": "b"}, "control_features were not given"),
        ("selection_rate", {"control_features": "site"}, {}, "group must be one of 'a', 'b', 'c'"),
        ("selection_rate", {"control_features": "site"}, {"group": "z"}, "group='z' is not one of"),
        ("selection_rate", {"control_features": "site"}, {"group": "a", "other": "a"}, "other='a' is not one of"),
        ("selection_rate", {"control_features": "site"}, {"standard": "men"}, "standard"),
        ("equalized_odds", {"control_features": "site"}, {"group": "a", "other": "b"}, "metric must be one of"),
        ("f1", {"control_features": "site"}, {"group": "a", "other": "b"}, "is not a rate or a mean"),
        ("balanced_accuracy", {"control_features": "site"}, {"group": "a", "other": "b"}, "is not a rate or a mean"),
        (
            "selection_rate", {"control_features": "site", "sample_weight": "weight"}, {"group": "a", "other": "b"},
            "sample_weight and clusters cannot be decomposed",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_decomposed_is_refused(metric, columns, arguments, says):
    y_true, score, group, site = people()
    known = {"site": site, "weight": 1 + score}
    test = FairnessTest.from_predictions(
        y_true, (score > 0.5).astype(int), sensitive_features=group, metric=metric, n_resamples=99, random_state=0,
        adjust=None, **{name: known[column] for name, column in columns.items()},
    )  # fmt: skip
    with pytest.raises(ValueError, match=says):
        test.decompose(**arguments)
