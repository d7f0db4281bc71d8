"""Drawings of a test of individual fairness."""

import sys

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from skfairtest import FairnessTest, IndividualFairnessTest, LossRatioDisplay, Projection

mpl.use("Agg")


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    return X, (X.sum(axis=1) + rng.normal(size=60) > 0).astype(int), np.where(X[:, 0] > 0, "f", "m")


@pytest.fixture(scope="module")
def fitted(people):
    model = LogisticRegression().fit(*people[:2])
    return IndividualFairnessTest(model, fair_metric=Projection([[1, 0]]), steps=(100, 0.01)).fit(*people[:2])


@pytest.fixture(autouse=True)
def close():
    yield
    plt.close("all")


every_display = pytest.mark.parametrize("Display", [LossRatioDisplay])


def labels(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


@every_display
def test_a_test_is_drawn_as_it_was_fitted(Display, people, fitted):
    test = clone(fitted).fit(*people[:2])
    test.set_params(estimator=DecisionTreeClassifier(), statistic="ratio_of_means", tolerance=3.0, gradient="search")
    there, here = Display.from_test(fitted), Display.from_test(test)
    assert labels(here) == labels(there)
    assert "LogisticRegression" in labels(here)
    assert "tolerance 1.25" in labels(here)
    assert here.ax_.get_xlabel() == there.ax_.get_xlabel()
    assert here.ax_.get_ylabel() == there.ax_.get_ylabel()


def test_the_ratios_are_counted_once_each(fitted):
    display = LossRatioDisplay.from_test(fitted)
    counts, edges, _ = display.bars_.get_data()
    assert counts.sum() == fitted.n_samples_
    assert edges[0] <= fitted.loss_ratios_.min()
    assert edges[-1] >= fitted.loss_ratios_.max()
    assert "tolerance 1.25" in labels(display)
    assert f"lower bound {fitted.lower_bound_:.3g}" in labels(display)
    assert f"mean of loss ratios {fitted.statistic_:.3g}" in labels(display)
    positions = [line.get_xdata()[0] for line in display.ax_.get_lines()]
    assert positions == [1.25, fitted.statistic_, fitted.lower_bound_]


def test_ratios_that_have_no_logarithm_are_told(fitted):
    display = LossRatioDisplay(
        loss_ratios=np.array([0.0, 1.0, 2.0, np.inf]), statistic=1.5, lower_bound=0.5, tolerance=1.25
    ).plot(bins=3)
    counts, edges, _ = display.bars_.get_data()
    assert (counts.sum(), len(edges)) == (2, 4)
    assert "2 infinite or 0 not shown" in display.ax_.get_xlabel()
    nobody = LossRatioDisplay(
        loss_ratios=np.array([np.inf, np.inf]), statistic=1.5, lower_bound=0.5, tolerance=1.25
    ).plot()
    assert nobody.bars_.get_data()[0].sum() == 0
    assert "2 infinite or 0 not shown" in nobody.ax_.get_xlabel()


@pytest.mark.parametrize(("bound", "written"), [(-0.31, "-0.31"), (0.0, "0"), (np.nan, "nan")])
def test_a_limit_that_has_no_logarithm_is_told(bound, written):
    display = LossRatioDisplay(loss_ratios=np.array([1.0, 2.0]), statistic=1.5, lower_bound=bound, tolerance=1.25)
    display.plot().figure_.canvas.draw()
    assert f"lower bound {written} (not shown)" in labels(display)
    assert "statistic 1.5" in labels(display)
    assert display.ax_.get_xlim()[0] > 0.5


@every_display
def test_a_drawing_can_be_made_from_the_model(Display, people, fitted):
    X, y, groups = people
    here = Display.from_estimator(
        fitted.estimator,
        X,
        y,
        sensitive_features=groups,
        fair_metric=Projection([[1, 0]]),
        steps=(100, 0.01),
        name="mine",
    )
    there = Display.from_test(fitted, name="mine")
    assert here.ax_ is not there.ax_
    assert here.statistic == pytest.approx(there.statistic)
    assert labels(here) == labels(there)
    learned = Display.from_estimator(fitted.estimator, X, y, sensitive_features=groups, steps=(10, 0.01))
    assert "LogisticRegression" in labels(learned)


@every_display
def test_a_display_draws_on_the_axes_given_and_again(Display, fitted):
    _, ax = plt.subplots()
    display = Display.from_test(fitted, ax=ax)
    assert display.ax_ is ax
    again = display.plot(name="again")
    assert again is display
    assert again.ax_ is not ax
    assert "again" in labels(again)


@every_display
def test_only_fitted_tests_of_individual_fairness_are_drawn(Display, fitted):
    with pytest.raises(ValueError, match="test must be a fitted IndividualFairnessTest; found FairnessTest"):
        Display.from_test(FairnessTest())
    with pytest.raises(ValueError, match="found LogisticRegression"):
        Display.from_test(fitted.estimator)
    with pytest.raises(NotFittedError):
        Display.from_test(IndividualFairnessTest.as_published(fitted.estimator))


@every_display
def test_without_matplotlib_the_error_says_what_to_install(Display, fitted, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=rf'{Display.__name__} draws with matplotlib: .*"skfairtest\[report\]"'):
        Display.from_test(fitted)


@pytest.mark.parametrize(
    ("statistic", "name"),
    [
        ("ratio_of_means", "ratio of mean losses"),
        ("error_rate_ratio", "ratio of error rates"),
    ],
)
def test_every_statistic_is_named(statistic, name, people, fitted):
    other = IndividualFairnessTest.as_published(
        fitted.estimator, fair_metric=Projection([[1, 0]]), steps=(30, 0.01), statistic=statistic
    ).fit(*people[:2])
    assert any(name in label for label in labels(LossRatioDisplay.from_test(other)))
