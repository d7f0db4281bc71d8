"""Areas under the ROC curve as rates of the people that they are worth: the default test of `roc_auc`."""

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.metrics import roc_auc_score

from skfairtest import FairnessTest
from skfairtest.inference.linear_form import EffectiveRates, without_skewness
from skfairtest.metrics.errors import Robust
from skfairtest.metrics.functionals import Auc, worth

pytestmark = pytest.mark.filterwarnings("ignore:.*rests on few people:UserWarning")


def drawn(seed, sizes=(40, 160), areas=(0.93, 0.93), spread=1.0, digits=None):
    """Return truth, score and group; half of each group is positive."""
    rng = np.random.default_rng(seed)
    truth, score = [], []
    for n, area, own in zip(sizes, areas, (spread, 1.0), strict=True):
        y = np.arange(n) % 2
        score.append(rng.normal(size=n) * np.where(y, own, 1.0) + y * norm.ppf(area) * np.hypot(1, own))
        truth.append(y)
    score = np.concatenate(score)
    return np.concatenate(truth), score if digits is None else score.round(digits), np.repeat(["a", "b"], sizes)


def run(truth, score, group, **params):
    return FairnessTest.from_predictions(
        truth, None, y_score=score, sensitive_features=group, metric="roc_auc", **params
    )


def misranked(truth, score, weight):
    """Misranked people of either class, by the definition."""
    out = []
    for own, other, sign in ((truth == 1, truth == 0, 1), (truth == 0, truth == 1, -1)):
        above = sign * np.sign(score[other][None, :] - score[own][:, None])
        wrong = weight[own] * (weight[other] * (1 + above) / 2).sum(axis=1)
        out.append(wrong.sum() ** 2 / (wrong**2).sum() if wrong.any() else 0.0)
    return min(out)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("digits", [None, 0])
@pytest.mark.parametrize("area", [0.9, 0.2])
def test_misranked_people_are_counted_by_their_definition(weighted, digits, area):
    truth, score, _ = drawn(0, areas=(area, area), digits=digits)
    weight = np.random.default_rng(1).uniform(0.5, 2, len(truth)) if weighted else np.ones(len(truth))
    functional = Auc(truth > 0, score)
    functional = Robust(functional, weight) if weighted else functional
    once = np.ones((1, len(truth)))
    found, least = functional.misplaced(once, once)
    # Below one half those on the right side are the few.
    assert found[0] == pytest.approx(misranked(truth, score if area > 0.5 else -score, weight))
    assert least[0] == pytest.approx(
        min(weight[truth == y].sum() ** 2 / (weight[truth == y] ** 2).sum() for y in (0, 1))
    )


def test_people_who_share_a_score_are_counted_one_by_one():
    score, truth = np.array([1.0, 2.0, 1.0, 2.0]), np.array([False, False, True, True])
    counts = np.array([[3.0, 1.0, 2.0, 4.0]])
    rows = np.repeat(np.arange(4), counts[0].astype(int))
    single = Auc(truth[rows], score[rows]).misplaced(*[np.ones((1, 10))] * 2)
    np.testing.assert_allclose(Auc(truth, score).misplaced(counts, counts), single)


def test_an_area_is_worth_its_variance_or_the_smaller_class():
    assert worth(0.8, 0.002, 1e9, 50.0) == pytest.approx(0.16 / 0.002)
    assert worth(1.0, 0.0, 0.0, 50.0) == worth(0.9, 0.01, 0.0, 50.0) == 50


@pytest.mark.parametrize("skewness", [-0.8, -0.1, 0.0, 0.5])
def test_skewness_is_taken_out_where_there_is_evidence(skewness):
    z = np.array([-2.5, -1.5, 1.0, 1.2, 3.0])
    z = z[np.abs(1 + skewness * z / 3) > 0]
    skewed = z + skewness * (z**2 - 1) / 6
    keep = (np.abs(skewed) >= 1) & (1 + skewness * z / 3 > 0)
    np.testing.assert_allclose(without_skewness(skewed, np.array(skewness))[keep], z[keep], rtol=1e-6)
    grid = np.linspace(-6, 6, 400)
    assert (np.diff(without_skewness(grid, np.array(skewness))) >= 0).all()
    assert (without_skewness(grid, np.array(skewness))[np.abs(grid) <= 1] == grid[np.abs(grid) <= 1]).all()


@pytest.mark.parametrize("disparity", ["difference", "ratio"])
@pytest.mark.parametrize("compare", ["between_groups", "to_overall"])
@pytest.mark.parametrize("confidence_level", [0.95, 0.5])
def test_an_interval_holds_equality_where_the_test_does_not_reject(disparity, compare, confidence_level):
    rejected = set()
    for seed in range(12):
        people = drawn(seed, areas=(0.93 - 0.015 * seed, 0.93))
        test = run(*people, disparity=disparity, compare=compare, confidence_level=confidence_level)
        rows = test.comparisons_
        equal = 0 if disparity == "difference" else 1
        inside = (rows["ci_low"] <= equal) & (equal <= rows["ci_high"])
        # Two rows of one hypothesis, each with an interval of the family's level.
        assert (inside == (rows["p_value_adjusted"] > 1 - confidence_level)).all()
        rejected |= set(inside)
    assert rejected == {True, False}


def test_the_score_is_that_of_two_rates_of_so_many_people():
    truth, score, group = drawn(3)
    test = run(truth, score, group)
    area = [roc_auc_score(truth[group == g], score[group == g]) for g in "ab"]
    functional = Auc(truth > 0, score)
    n = functional.worth(np.stack([group == "a", group == "b"]).astype(float))
    pooled = (n * area).sum() / n.sum()
    variance = pooled * (1 - pooled) * (1 / n).sum() * n.sum() / (n.sum() - 1)
    third = pooled * (1 - pooled) * (1 - 2 * pooled) * (1 / n[0] ** 2 - 1 / n[1] ** 2)
    z = without_skewness(np.array((area[0] - area[1]) / variance**0.5), np.array(third / variance**1.5))
    assert test.statistic_ == pytest.approx(float(z))
    assert test.p_value_ == pytest.approx(2 * norm.sf(abs(z)))
    assert test.method_ == "score"
    assert test.null_distribution_ is None
    same = run(truth, score, np.where(group == "a", "z", "b"))
    assert same.p_value_ == test.p_value_


@pytest.mark.filterwarnings("error")
def test_few_misranked_people_are_counted_in_a_warning():
    truth, score, group = drawn(0, areas=(0.999, 0.8), sizes=(40, 400))
    with pytest.warns(UserWarning, match=r"roc_auc of a rests on few people who are misranked \(0\.0\)"):
        run(truth, np.where(group == "a", 10.0 * truth, score), group)
    run(*drawn(0, areas=(0.8, 0.8), sizes=(100, 400)))


def test_equal_areas_near_one_are_called_different_as_seldom_as_promised():
    # Positives three times as spread in the small group: DeLong's test calls every fifth pair different.
    counts = np.repeat([[1.0, 0.0], [0.0, 1.0]], (100, 1000), axis=1)
    one, none, found = np.ones(1), np.zeros(1), []
    for seed in range(300):
        truth, score, _ = drawn(seed, (100, 1000), (0.98, 0.98), 3.0)
        functional = Auc(truth > 0, score)
        value, variance = functional.moments(counts)
        n = functional.worth(counts)
        form = EffectiveRates(value[:1], value[1:], n[:1], n[1:], one, none, none, "difference", skewed=True)
        distance, error = form.at(0.0)
        found.append((abs(distance / error), abs(value[0] - value[1]) / np.sqrt(variance.sum())))
    score_test, delong = (np.array(found) > norm.isf(0.025)).mean(axis=0)
    assert score_test <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 300)
    assert delong > 0.15
