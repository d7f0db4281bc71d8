"""Smallest disparity against the number of people."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

from skfairtest import FairnessTest, PowerDisplay, minimum_detectable_disparity, power


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(0)
    group = rng.choice(["a", "b", "c"], 900)
    return rng.integers(0, 2, 900), (rng.random(900) < 0.3).astype(int), group


def fit(people, metric="selection_rate", **params):
    y, pred, group = people
    return FairnessTest.from_predictions(y, pred, sensitive_features=group, metric=metric, random_state=0, **params)


def test_a_disparity_on_the_line_has_the_power_that_is_said():
    display = PowerDisplay.from_rates(0.3, shares=(1, 3), n_samples=[800, 4000], power=0.8)
    for n, found in zip(display.n_samples, display.detectable, strict=True):
        sizes = (round(n / 4), round(3 * n / 4))
        reached = [
            power(metric="selection_rate", rates=(0.3 + sign * found, 0.3), n_per_group=sizes, method="asymptotic")
            for sign in (1, -1)
        ]
        assert min(reached) == pytest.approx(0.8, abs=0.02)


def test_four_times_the_people_show_half_the_difference():
    display = PowerDisplay.from_rates(0.5, n_samples=[10_000, 40_000])
    assert display.detectable[0] / display.detectable[1] == pytest.approx(2, rel=0.01)


def test_a_share_of_the_people_counts_for_a_conditioned_rate():
    half = PowerDisplay.from_rates(0.3, base_rates=0.5, n_samples=[2000])
    whole = PowerDisplay.from_rates(0.3, n_samples=[1000])
    assert half.detectable[0] == pytest.approx(whole.detectable[0])


@pytest.mark.parametrize("params", [
    {}, {"compare": "to_rest"}, {"compare": "to_reference", "reference_group": "a"}, {"metric": "false_positive_rate"},
    {"alternative": "greater", "compare": "to_rest"}, {"disparity": "ratio", "compare": "to_rest"},
    {"compare": "to_overall"},
])  # fmt: skip
def test_the_fitted_test_lies_on_its_line_near_what_the_function_says(people, params):
    test = fit(people, **params)
    display = PowerDisplay.from_test(test)
    n, found, seen = display.fitted
    assert np.interp(n, display.n_samples, display.detectable) == pytest.approx(found, rel=0.01)
    exact = [minimum_detectable_disparity(test)]
    if "alternative" not in params:
        exact.append(minimum_detectable_disparity(test, direction="down"))
    ratio = params.get("disparity") == "ratio"
    sizes = [max(value, 1 / value) if ratio else abs(value) for value in exact]
    assert (found - ratio) == pytest.approx(max(sizes) - ratio, rel=0.15)
    own = test.disparity_
    assert seen == pytest.approx(max(own, 1 / own) if ratio else abs(own))
    row = test.comparisons_.iloc[test._leading]
    overall = params.get("compare") == "to_overall"
    assert n == (900 if overall else row["n_group"] + row["n_other"])
    assert display.alpha == pytest.approx(0.05 / len(test.comparisons_))


@pytest.mark.parametrize("params", [
    {"metric": "mean_squared_error", "n_resamples": 99, "adjust": "bonferroni"},
    {"metric": "selection_rate", "margin": 0.02, "method": "asymptotic"}, {"metric": "f1"},
    {"metric": "selection_rate", "margin": 0.9, "disparity": "ratio", "method": "asymptotic"},
])  # fmt: skip
def test_other_metrics_and_margins_are_drawn_from_their_errors(people, params):
    display = PowerDisplay.from_test(fit(people, **params), power=0.9)
    assert np.isfinite(display.detectable).all()
    # Where there begin to be enough people to find one the other way, that is the farther one.
    assert (np.diff(display.detectable) >= 0).sum() <= 1
    tolerated = {"margin": params.get("margin", 0.0)}["margin"]
    assert display.detectable[-1] > (1 / tolerated if params.get("disparity") == "ratio" else tolerated)
    assert "found with probability 0.9" in [text.get_text() for text in display.ax_.get_legend().get_texts()]


def test_a_model_and_its_predictions_are_drawn_alike(people):
    y, _, group = people
    X = np.random.default_rng(1).normal(size=(len(y), 2))
    model = LogisticRegression().fit(X, y)
    first = PowerDisplay.from_estimator(model, X, y, sensitive_features=group, metric="accuracy")
    second = PowerDisplay.from_predictions(
        y, model.predict(X), sensitive_features=group, metric="accuracy", name="mine"
    )
    np.testing.assert_array_equal(first.detectable, second.detectable)
    texts = [display.ax_.get_legend().get_texts()[0].get_text() for display in (first, second)]
    assert texts == ["LogisticRegression: found with probability 0.8", "mine: found with probability 0.8"]
    assert first.ax_.get_xscale() == first.ax_.get_yscale() == "log"


def test_line_styles_and_several_lines_on_one_drawing():
    first = PowerDisplay.from_rates(0.3, name="even")
    second = PowerDisplay.from_rates(0.3, shares=(0.1, 0.9), name="uneven", ax=first.ax_, color="black", linestyle="--")
    assert second.ax_ is first.ax_
    assert len(first.ax_.get_legend().get_texts()) == 2
    assert (second.line_.get_color(), second.line_.get_linestyle()) == ("black", "--")
    assert (second.detectable > first.detectable).all()
    first.figure_.canvas.draw()


@pytest.mark.parametrize(("params", "message"), [
    ({"baseline": 1.2}, "baseline must be a rate between 0 and 1; found 1.2"),
    ({"alpha": 0}, "alpha must be a number between 0 and 1; found 0"),
    ({"power": 1}, "power must be a number between 0 and 1; found 1"),
    ({"disparity": "odds"}, "disparity must be one of 'difference', 'ratio'; found 'odds'"),
    ({"shares": (1,)}, "shares must hold one proportion for each of 2 groups"),
    ({"shares": ("a", "b")}, "shares must be positive numbers"),
    ({"base_rates": 0}, "base_rates must be one or two numbers above 0 and at most 1; found 0"),
    ({"base_rates": (0.5, 1.5)}, "base_rates must be one or two numbers above 0"),
    ({"n_samples": [2]}, "n_samples must be numbers of people, each at least 4"),
    ({"n_samples": [8]}, "power=0.8 is not reached by any disparity with any of n_samples"),
    ({"n_samples": "many"}, "n_samples must be numbers of people"),
])  # fmt: skip
def test_bad_arguments_are_named(params, message):
    with pytest.raises(ValueError, match=message):
        PowerDisplay.from_rates(**{"baseline": 0.3, **params})


def test_tests_without_a_power_are_refused(people):
    few = y, pred, group = [column[:240] for column in people]
    with pytest.raises(ValueError, match="largest disparity that can be shown to be tolerable"):
        PowerDisplay.from_test(fit(few, alternative="equivalence", margin=0.2))
    with pytest.raises(ValueError, match="control features"):
        PowerDisplay.from_test(
            FairnessTest.from_predictions(
                y, pred, sensitive_features=group, control_features=y, metric="selection_rate"
            )
        )
    with pytest.raises(ValueError, match="no standard error"):
        PowerDisplay.from_test(fit(few, lambda y, p: np.mean(y == p), variance=None, n_resamples=99))
    with pytest.raises(NotFittedError):
        PowerDisplay.from_test(FairnessTest())
    with pytest.raises(ValueError, match="power must be a number"):
        PowerDisplay.from_test(fit(few), power=2)
