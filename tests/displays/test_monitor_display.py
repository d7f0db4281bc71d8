"""Evidence and confidence sequence over time."""

from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from skfairtest import FairnessTest, MonitorDisplay, SequentialFairnessTest


@pytest.fixture(scope="module")
def test():
    rng, test = np.random.default_rng(0), SequentialFairnessTest()
    for week in range(40):
        tree = rng.choice(["ash", "birch", "$cedar$"], 200)
        picked = rng.random(200) < 0.3 + 0.3 * ((tree == "ash") & (week > 10))
        test.partial_fit(y_pred=picked, sensitive_features=tree, time=f"week {week}")
    return test


def test_what_is_drawn_is_what_the_test_says(test):
    display = MonitorDisplay.from_test(test)
    strongest = test.comparisons_.sort_values("p_value_adjusted").iloc[0]
    assert display.pair == tuple(strongest[["metric", "group", "other"]])
    upper, lower = display.axes_
    own = test.wealth_[(test.wealth_["group"] == display.pair[1]) & (test.wealth_["other"] == display.pair[2])]
    lines = {line.get_label(): line for line in upper.get_lines()}
    np.testing.assert_allclose(lines["evidence (e-value, adjusted)"].get_ydata(), own["e_value_adjusted"])
    assert lines["significant disparity"].get_xdata() == [strongest["rejected_at"]]
    assert set(lines["significant from 20"].get_ydata()) == {20.0}
    (difference,) = (line for line in lower.get_lines() if line.get_label() == "difference so far")
    np.testing.assert_allclose(difference.get_ydata(), 100 * own["disparity"])
    assert upper.get_yscale() == "log"
    assert upper.get_legend() is None  # which would stand between the panels
    shown = [text.get_text() for text in lower.get_legend().get_texts()]
    assert {"evidence (e-value, adjusted)", "significant from 20", "difference so far"} < set(shown)
    assert lower.get_xticklabels()[0].get_text() == "week 0"
    display.figure_.canvas.draw()
    assert "$" not in "".join(text.get_text() for text in upper.get_yticklabels())


@pytest.mark.parametrize("dates", [5, 24, 60])
def test_dates_do_not_overlap(dates):
    stream = SequentialFairnessTest()
    for date in np.arange(dates) + np.datetime64("2026-01-01"):
        stream.partial_fit(y_pred=[1, 1, 0, 0, 0, 1], sensitive_features=list("aaabbb"), time=str(date))
    display = MonitorDisplay.from_test(stream)
    display.figure_.canvas.draw()
    boxes = [text.get_window_extent() for text in display.axes_[1].get_xticklabels() if text.get_text()]
    assert len(boxes) >= 4
    assert all(left.x1 + 10 < right.x0 for left, right in pairwise(boxes))


def test_any_pair_is_drawn_on_axes_of_ones_own(test):
    figure, two = plt.subplots(2, 1)
    display = MonitorDisplay.from_test(test, pair=("selection_rate", "ash", "birch"), ax=two, name="Trees")
    assert display.figure_ is figure
    assert two[0].get_title(loc="center") == "Trees"
    with pytest.raises(ValueError, match=r"pair=.* is not among those"):
        MonitorDisplay.from_test(test, pair=("selection_rate", "ash", "oak"))
    with pytest.raises(ValueError, match="ax must be two axes"):
        MonitorDisplay.from_test(test, ax=two[0])


def test_what_cannot_be_drawn_is_refused():
    with pytest.raises(NotFittedError):
        MonitorDisplay.from_test(SequentialFairnessTest())
    with pytest.raises(ValueError, match="SequentialFairnessTest"):
        MonitorDisplay.from_test(FairnessTest())
    lonely = SequentialFairnessTest().partial_fit(y_pred=[1, 0], sensitive_features=["a", "a"])
    with pytest.raises(ValueError, match="not compared any groups"):
        MonitorDisplay.from_test(lonely)


def test_means_have_no_points():
    test = SequentialFairnessTest("brier_score", margin=0.01)
    for _ in range(3):
        test.partial_fit(y_pred=[0.2, 0.7, 0.4, 0.9], y_true=[0, 1, 1, 1], sensitive_features=list("aabb"))
    lower = MonitorDisplay.from_test(test).axes_[1]
    assert lower.get_ylabel() == "difference"
    assert lower.get_xlabel() == "look"
    assert len([line for line in lower.get_lines() if line.get_linestyle() == ":"]) == 2
