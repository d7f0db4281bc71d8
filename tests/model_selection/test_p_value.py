"""A p-value in the shape of a metric, and `assert_fair`: what must be shown, what must not be found, by how many."""

import functools

import numpy as np
import pytest
from fairlearn.metrics import MetricFrame
from scipy.stats import boschloo_exact

from skfairtest import (
    FairnessAssertionError,
    FairnessRejectedError,
    FairnessTest,
    SmallGroupWarning,
    assert_fair,
    fairness_p_value,
)
from skfairtest.model_selection import p_value

# A metric ---------------------------------------------------------------------------------------


def test_it_is_boschloos_p_value():
    group = np.repeat(["a", "b"], [40, 30])
    decided = np.concatenate([np.repeat([1, 0], [25, 15]), np.repeat([1, 0], [8, 22])])
    expected = boschloo_exact([[25, 8], [15, 22]], alternative="greater", n=128).pvalue
    found = fairness_p_value(None, decided, sensitive_features=group, metric="selection_rate", alternative="greater")
    assert found == pytest.approx(expected, rel=1e-4)
    assert type(found) is float


def test_a_metric_frame_over_strata_has_a_p_value_for_each(compas):
    features = compas.sensitive_features
    metric = functools.partial(fairness_p_value, metric="selection_rate")
    frame = MetricFrame(
        metrics={"p": metric, "n": lambda y_true, y_pred: len(y_true)},
        y_true=compas.y_true,
        y_pred=compas.y_pred,
        sensitive_features=features["age_cat"],
        sample_params={"p": {"sensitive_features": features["sex"]}},
    )
    for stratum, p in frame.by_group["p"].items():
        inside = (features["age_cat"] == stratum).to_numpy()
        predictions, sex = np.asarray(compas.y_pred)[inside], features["sex"][inside]
        test = FairnessTest.from_predictions(None, predictions, sensitive_features=sex, metric="selection_rate")
        assert p == test.p_value_
    everyone = fairness_p_value(None, compas.y_pred, sensitive_features=features["sex"], metric="selection_rate")
    assert frame.overall["p"] == everyone


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (None, r"set_score_request\(sensitive_features=True\).*sample_params=\{'sensitive_f"),
        (["a", "b", "a"], "sensitive_features has 3 values for 4 people"),
        (list("aaaa"), "holds one group only, 'a'"),
    ],
)
def test_groups_that_are_missing_or_of_another_length_are_refused(groups, message):
    with pytest.raises(ValueError, match=message):
        fairness_p_value([0, 1, 0, 1], [0, 1, 1, 1], sensitive_features=groups)


# An assertion -----------------------------------------------------------------------------------

GROUPS = np.repeat(["a", "b"], 500)
NON_INFERIOR = {"margin": (-0.05, None), "compare": "to_reference", "reference_group": "b"}


def decided(rate_a, rate_b):
    """Decisions about 500 people of each group, of whom so many are positive."""
    return np.concatenate([np.arange(500) < 500 * rate for rate in (rate_a, rate_b)]).astype(int)


def asserted(y_pred, groups=GROUPS, **params):
    return assert_fair(None, y_pred, None, sensitive_features=groups, metric="selection_rate", **params)


def test_nothing_is_found_or_the_margin_is_shown():
    alike = decided(0.5, 0.5)
    assert not asserted(alike).concern_
    assert not asserted(decided(0.8, 0.5), **NON_INFERIOR).concern_
    assert asserted(alike, detectable=0.1)  # the size that the planner says is enough
    certified = asserted(alike[::4], GROUPS[::4], margin=0.25)
    direct = FairnessTest.from_predictions(
        None, alike[::4], sensitive_features=GROUPS[::4], metric="selection_rate", alternative="equivalence",
        margin=0.25,
    )  # fmt: skip
    assert certified.p_value_ == direct.p_value_ <= 0.05


@pytest.mark.parametrize(
    ("rates", "params", "message"),
    [
        ((0.3, 0.6), {}, r"a significant disparity was found; the smallest .* probability of 80%: 0\.\d+"),
        ((0.5, 0.52), {"margin": 0.05}, "within margin=0.05 was not shown"),
        ((0.3, 0.6), {"margin": 0.05, "require": "not_rejected"}, "a significant disparity was found"),
        ((0.5, 0.5), {"detectable": 0.05}, "too few for detectable=0.05"),
        ((0.5, 0.5), {"detectable": 0.95, "disparity": "ratio"}, "too few for detectable=0.95"),
        ((0.8, 0.5), NON_INFERIOR | {"margin": 0.05}, r"within margin=0\.05 was not shown"),
        ((0.5, 0.5), NON_INFERIOR, r"disparity in the one comparison is at least -5\.0 points"),
    ],
)
def test_what_is_not_accepted_is_an_assertion_error_with_the_report_at_the_line_of_the_call(rates, params, message):
    with pytest.raises(FairnessAssertionError, match=message) as caught:
        asserted(decided(*rates), **params)
    assert isinstance(caught.value, AssertionError)
    assert isinstance(caught.value, FairnessRejectedError)
    (test,) = caught.value.fairness_tests
    assert str(test) in str(caught.value)
    shown = [entry.name for entry in caught.traceback.filter(caught)]
    assert shown[-1] == "asserted"  # and not the lines inside


def test_too_few_people_what_is_not_compared_and_what_is_not_known_are_not_accepted(monkeypatch):
    with pytest.raises(FairnessAssertionError, match="too few"):
        asserted(decided(0.5, 0.5)[::10], GROUPS[::10], detectable=0.1)
    with pytest.warns(SmallGroupWarning), pytest.raises(FairnessAssertionError, match="c was not compared"):
        asserted(np.append(decided(0.5, 0.5), 1), np.append(GROUPS, "c"), margin=0.3)
    monkeypatch.setattr(p_value, "minimum_detectable", lambda results: [np.array([np.nan])])
    with pytest.raises(FairnessAssertionError, match=r"too few for detectable=0\.9: .*unknown"):
        asserted(decided(0.5, 0.5), detectable=0.9)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"require": "certified"}, "margin is missing"),
        ({"require": "fair"}, "require must be one of 'not_rejected', 'certified'"),
        ({"alternative": "less"}, "alternative follows from require"),
        ({"detectable": 0.1, "margin": 0.1}, "detectable must be a number above 0 .*, and needs"),
        ({"detectable": -1}, "detectable must be a number above 0"),
        ({"detectable": np.nan}, "detectable must be a number above 0"),
        ({"detectable": 2, "disparity": "ratio"}, "of ratios at most 1"),
        (NON_INFERIOR | {"require": "not_rejected"}, "with alternative='equivalence'"),
    ],
)
def test_what_cannot_be_required_is_refused(params, message):
    with pytest.raises(ValueError, match=message):
        asserted(decided(0.5, 0.5), **params)
