"""`assert_fair`: what must be shown, what must not be found, and how many people that takes."""

import numpy as np
import pytest

from skfairtest import FairnessAssertionError, FairnessRejectedError, FairnessTest, SmallGroupWarning, assert_fair
from skfairtest.model_selection import p_value

GROUPS = np.repeat(["a", "b"], 500)


def decided(rate_a, rate_b):
    """Decisions about 500 people of each group, of whom so many are positive."""
    return np.concatenate([np.arange(500) < 500 * rate for rate in (rate_a, rate_b)]).astype(int)


def asserted(y_pred, groups=GROUPS, **params):
    return assert_fair(None, y_pred, None, sensitive_features=groups, metric="selection_rate", **params)


def test_nothing_is_found_or_the_margin_is_shown():
    alike = decided(0.5, 0.5)
    assert not asserted(alike).concern_
    alike, groups = alike[::4], GROUPS[::4]
    certified = asserted(alike, groups, margin=0.25)
    direct = FairnessTest.from_predictions(
        None, alike, sensitive_features=groups, metric="selection_rate", alternative="equivalence", margin=0.25
    )
    assert certified.p_value_ == direct.p_value_ <= 0.05


def test_a_margin_with_one_end_asks_for_evidence_of_non_inferiority():
    better, reference = decided(0.8, 0.5), {"compare": "to_reference", "reference_group": "b"}
    with pytest.raises(FairnessAssertionError, match=r"within margin=0\.05 was not shown"):
        asserted(better, margin=0.05, **reference)
    assert not asserted(better, margin=(-0.05, None), **reference).concern_
    with pytest.raises(FairnessAssertionError, match=r"disparity in the one comparison is at least -5\.0 points"):
        asserted(decided(0.5, 0.5), margin=(-0.05, None), **reference)
    with pytest.raises(ValueError, match="with alternative='equivalence'"):
        asserted(better, margin=(-0.05, None), require="not_rejected", **reference)


@pytest.mark.parametrize(
    ("rates", "params", "said"),
    [
        ((0.3, 0.6), {}, r"a significant disparity was found; the smallest .* probability of 80%: 0\.\d+"),
        ((0.5, 0.52), {"margin": 0.05}, "within margin=0.05 was not shown"),
        ((0.3, 0.6), {"margin": 0.05, "require": "not_rejected"}, "a significant disparity was found"),
        ((0.5, 0.5), {"detectable": 0.05}, "too few for detectable=0.05"),
        ((0.5, 0.5), {"detectable": 0.95, "disparity": "ratio"}, "too few for detectable=0.95"),
    ],
)
def test_what_is_not_accepted_is_an_assertion_error_with_the_report(rates, params, said):
    with pytest.raises(FairnessAssertionError, match=said) as caught:
        asserted(decided(*rates), **params)
    assert isinstance(caught.value, AssertionError)
    assert isinstance(caught.value, FairnessRejectedError)
    (test,) = caught.value.fairness_tests
    assert str(test) in str(caught.value)


def test_what_is_detectable_is_what_a_plan_says():
    # Half the people of either group: the size that the planner says is enough, and a little less is not.
    assert asserted(decided(0.5, 0.5), detectable=0.1)
    with pytest.raises(FairnessAssertionError, match="too few"):
        asserted(decided(0.5, 0.5)[::10], GROUPS[::10], detectable=0.1)


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
    ],
)
def test_what_cannot_be_required_is_refused(params, message):
    with pytest.raises(ValueError, match=message):
        asserted(decided(0.5, 0.5), **params)


def test_what_is_not_compared_or_not_known_is_not_accepted(monkeypatch):
    alone = np.append(GROUPS, "c")
    with pytest.warns(SmallGroupWarning), pytest.raises(FairnessAssertionError, match="c was not compared"):
        asserted(np.append(decided(0.5, 0.5), 1), alone, margin=0.3)
    monkeypatch.setattr(p_value, "minimum_detectable", lambda results: [np.array([np.nan])])
    with pytest.raises(FairnessAssertionError, match=r"too few for detectable=0\.9: .*unknown"):
        asserted(decided(0.5, 0.5), detectable=0.9)


@pytest.mark.parametrize("container", [list, np.array, tuple])
def test_labels_in_the_place_of_the_model_are_told_from_a_missing_y(container):
    with pytest.raises(ValueError, match=r"^estimator=.* has no predict method: the first argument is a"):
        assert_fair(container(decided(0.5, 0.5)), decided(0.5, 0.4), sensitive_features=GROUPS)
