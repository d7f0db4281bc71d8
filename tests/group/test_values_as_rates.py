"""Metrics of labels, and average precision, as rates of the people that they are worth."""

import numpy as np
import pytest
from scipy.stats import norm

from skfairtest import FairnessTest
from skfairtest.inference.linear_form import EffectiveRates
from skfairtest.metrics import Context, resolve_metrics
from skfairtest.metrics.confusion import ClassScores, recalls
from skfairtest.metrics.errors import Robust
from skfairtest.readers import read_values

pytestmark = pytest.mark.filterwarnings("ignore:.*rests on few people:UserWarning")

METRICS = ["balanced_accuracy", "f1_macro", "f1_weighted", "precision_macro", "matthews_corrcoef", "cohen_kappa"]


def functional_of(metric, true, predicted):
    (declared,) = resolve_metrics(metric)
    kinds = {name: read_values(codes, name) for name, codes in (("y_true", true), ("y_pred", predicted))}
    return declared.functional(Context(kinds, None))


def labels(seed, sizes=(40, 400), wrong=(0.1, 0.1)):
    """Return truth, prediction and group; two in three are of the first class."""
    rng = np.random.default_rng(seed)
    group = np.repeat(["a", "b"], sizes)
    truth = (rng.random(len(group)) < 1 / 3).astype(int)
    return truth, truth ^ (rng.random(len(group)) < np.repeat(wrong, sizes)), group


def test_balanced_accuracy_is_worth_what_its_recalls_are():
    counts = np.array([[30.0, 5.0, 10.0, 2.0]])  # right and wrong of either class
    functional = ClassScores(
        **recalls(np.array([0, 0, 1, 1]), np.array([0, 1, 1, 0]), np.array([True, False, True, False]), 2)
    )
    n = np.array([35, 12])
    recall = np.array([31 / 37, 11 / 14])
    variance = (recall * (1 - recall) / (n + 2)).sum() / 4 * 47 / 46
    fewer = (1 / (n + 2)).sum() / (1 / n).sum()
    assert functional.worth(counts)[0] == pytest.approx(recall.mean() * (1 - recall.mean()) / variance * fewer)


def test_without_errors_a_mean_of_recalls_is_one_of_as_many_rates():
    functional = ClassScores(**recalls(np.array([0, 1]), np.array([0, 1]), np.array([True, True]), 2))
    assert functional.worth(np.array([[30.0, 10.0]]))[0] == pytest.approx(4 / (1 / 30 + 1 / 10))


@pytest.mark.parametrize("metric", METRICS)
def test_weights_of_one_size_change_nothing_and_unlike_ones_make_people_fewer(metric):
    truth, predicted, _ = labels(0, (60, 0), (0.2, 0.2))
    functional, once = functional_of(metric, truth, predicted), np.ones((1, 60))
    own = functional.worth(once)
    np.testing.assert_allclose(Robust(functional, np.full(60, 3.0)).worth(once), own)
    weight = np.random.default_rng(1).lognormal(size=60)
    assert Robust(functional, weight).worth(once) < own
    tables, counts = np.unique(np.stack([truth, predicted]), axis=1, return_counts=True)
    few = functional_of(metric, *tables)
    np.testing.assert_allclose(few.worth(counts[None].astype(float)), own)


@pytest.mark.parametrize("metric", METRICS)
def test_nobody_in_a_class_makes_a_group_worth_less(metric):
    true, predicted = np.indices((3, 3)).reshape(2, -1)
    functional = functional_of(metric, true, predicted)
    counts = np.array([[30, 2, 2, 3, 20, 1, 0, 0, 0], [300, 20, 20, 30, 200, 10, 20, 10, 90]], dtype=float)
    assert functional.worth(counts)[0] < functional.worth(counts[:1])[0]


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("disparity", ["difference", "ratio"])
@pytest.mark.parametrize("compare", ["between_groups", "to_overall"])
def test_an_interval_holds_equality_where_the_test_does_not_reject(metric, disparity, compare):
    rejected = set()
    for seed in (0, 3, 6, 9):
        truth, predicted, group = labels(seed, (60, 300), (0.05 + 0.03 * seed, 0.05))
        scores = {"y_pred": predicted}
        test = FairnessTest.from_predictions(
            truth, **scores, sensitive_features=group, metric=metric, disparity=disparity, compare=compare
        )
        rows = test.comparisons_
        assert set(rows["method"]) == {"score"}
        equal = 0 if disparity == "difference" else 1
        inside = (rows["ci_low"] <= equal) & (equal <= rows["ci_high"])
        assert (inside == (rows["p_value_adjusted"] > 0.05)).all()
        rejected |= set(inside)
    assert rejected == {True, False}


def test_kappa_is_a_rate_between_minus_one_and_one():
    truth, predicted, group = labels(5, (80, 400), (0.2, 0.1))
    test = FairnessTest.from_predictions(truth, predicted, sensitive_features=group, metric="cohen_kappa")
    functional = functional_of("cohen_kappa", truth, predicted)
    counts = np.stack([group == "a", group == "b"]).astype(float)
    rate, n = (functional.values(counts) + 1) / 2, functional.worth(counts)
    one, none = np.ones(1), np.zeros(1)
    form = EffectiveRates(rate[:1], rate[1:], n[:1], n[1:], one, none, none, "difference", skewed=True)
    distance, error = form.at(0.0)
    assert test.p_value_ == pytest.approx(2 * norm.sf(abs(float(distance / error))))
    row = test.comparisons_.iloc[0]
    low = form.at(row["ci_low"] / 2)
    assert float(low[0] / low[1]) == pytest.approx(norm.isf(0.025), rel=1e-4)
    values = test.by_group_
    assert ((values["ci_low"] >= -1) & (values["ci_high"] <= 1)).all()


@pytest.mark.parametrize("metric", ["f1_macro", "matthews_corrcoef"])
def test_few_errors_are_called_different_as_seldom_as_promised_and_found(metric, thorough):
    true, predicted = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    functional, rng = functional_of(metric, true, predicted), np.random.default_rng(0)
    one, none, shares = np.ones(1), np.zeros(1), []
    n_data = 400 if thorough else 100
    for wrong in (0.03, 0.15):
        found = 0
        for _ in range(n_data):
            sides = [
                rng.multinomial(n, [0.5 - w / 2, w / 2, w / 2, 0.5 - w / 2]) for n, w in ((40, wrong), (800, 0.03))
            ]
            counts = np.array(sides, dtype=float)
            low, high = functional.bounds
            rate, n = (functional.values(counts) - low) / (high - low), functional.worth(counts)
            form = EffectiveRates(rate[:1], rate[1:], n[:1], n[1:], one, none, none, "difference", skewed=True)
            distance, error = form.at(0.0)
            found += abs(distance) > norm.isf(0.025) * error
        shares.append(found / n_data)
    assert shares[0] <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / n_data)
    assert shares[1] > 0.7
