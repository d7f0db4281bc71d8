"""People who count more or less than one: values, scale, effective numbers, size."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from skfairtest import FairnessTest
from skfairtest.inference.linear_form import EffectiveRates
from skfairtest.metrics import Robust, Share

pytestmark = pytest.mark.filterwarnings("ignore:.*are approximate:UserWarning")


def people(n=240, seed=0):
    rng = np.random.default_rng(seed)
    group = rng.choice(["a", "b", "c"], n, p=[0.5, 0.3, 0.2])
    y = rng.integers(0, 2, n)
    score = rng.normal(size=n) + 1.2 * y
    return pd.DataFrame(
        {
            "group": group,
            "y": y,
            "score": score,
            "label": (score > 0.6).astype(int),
            "number": score.round(1),
            "stratum": np.where(rng.random(n) < np.where(y == 1, 0.3, 0.6), "x", "z"),
            "weight": rng.integers(1, 5, n),
        }
    )


def fit(data, metric="selection_rate", *, weight="weight", strata=False, **params):
    column = {"roc_auc": "score", "mean_squared_error": "number"}.get(str(metric), "label")
    weights = data[weight] if isinstance(weight, str) else weight
    features = {"control_features": data["stratum"]} if strata else {}
    return FairnessTest.from_predictions(
        data["y"],
        data[column],
        sensitive_features=data["group"],
        sample_weight=weights,
        metric=metric,
        **features,
        **{"random_state": 0, "n_resamples": 99, **params},
    )


@pytest.fixture(scope="module")
def data():
    return people()


def test_the_effective_number_of_people_is_kishs(data):
    test = fit(data, ["selection_rate", "recall"], n_resamples=199)
    for group, part in data.groupby("group"):
        for metric, among in [("selection_rate", part), ("true_positive_rate", part[part["y"] == 1])]:
            kish = among["weight"].sum() ** 2 / (among["weight"] ** 2).sum()
            row = test.by_group_.loc[(metric, group)]
            assert row["n_effective"] == int(kish)
            assert row["n"] == len(part)
    assert test.n_samples_ == len(data)


def test_a_group_that_does_not_count_at_all_is_left_out(data):
    weight = data["weight"].where(data["group"] != "c", 0)
    with pytest.warns(UserWarning, match="c"):
        test = fit(data, weight=weight)
    assert np.isnan(test.by_group_["value"]["c"])
    assert list(zip(test.comparisons_["group"], test.comparisons_["other"], strict=True)) == [("a", "b")]
    assert "c" in set(test.excluded_["group"])


def test_weights_that_repeat_people_have_the_value_but_not_the_certainty_of_as_many(data):
    repeated = data.loc[data.index.repeat(data["weight"])]
    test, more = fit(data, method="asymptotic"), fit(repeated, weight=np.ones(len(repeated)), method="asymptotic")
    np.testing.assert_allclose(test.comparisons_["disparity"], more.comparisons_["disparity"], atol=1e-12)
    assert (test.comparisons_["standard_error"] > 1.2 * more.comparisons_["standard_error"]).all()


@pytest.mark.parametrize("params", [{}, {"disparity": "ratio", "margin": 0.8, "alternative": "less"}])
def test_events_that_weigh_much_are_counted_by_what_they_are_worth(params):
    # 12 events in a, one of which outweighs the others: worth (24 + 11)^2 / (24^2 + 11) = 2.1; 60 in b are worth 60.
    label = np.repeat([1, 0, 1, 0], [12, 88, 60, 340])
    heavy = np.ones(500)
    heavy[0] = 24.0
    asked = {"sensitive_features": np.repeat(["a", "b"], [100, 400]), "metric": "selection_rate", "n_resamples": 99}
    alike = 1 + 0.5 * (np.arange(500) % 3)  # as unlike as is usual, and the same for those with and without the event
    FairnessTest.from_predictions(None, label, sample_weight=alike, random_state=0, **asked, **params)  # no warning
    with pytest.warns(UserWarning, match="selection_rate of a rests on few people"):
        FairnessTest.from_predictions(None, label, sample_weight=heavy, random_state=0, **asked, **params)


def test_at_a_margin_weights_are_as_unlike_as_those_of_both_sides():
    """A rate has the variance p^2 (1 - p)^2 (q1 / n1 + q0 / n0), q being the mean squared weight over its mean squared.

    The group's weights are all alike by chance, those of the others are not: its q is averaged with that of both.
    """
    rng = np.random.default_rng(3)
    group, label = np.repeat([0, 1], [60, 400]), np.concatenate([np.arange(60) < 3, np.arange(400) < 120]) * 1
    weight = np.exp(label * 1.5 + rng.normal(size=460) * group)
    rates = np.array([np.average(label[group == g], weights=weight[group == g]) for g in (0, 1)])
    alike = np.zeros(2)
    for kind in (1, 0):
        own = [weight[(group == g) & (label == kind)] for g in (0, 1)]
        beyond, free = np.array([((w**2).sum() / w.mean() ** 2 - 1, len(w) - 1) for w in own]).T
        alike += (beyond + 50 * beyond.sum() / free.sum()) / (free + 50) / (free + 1)
    most = Robust(Share(label, np.ones(460)), weight).most_people(np.array([group == 0, group == 1]) * 1.0)
    np.testing.assert_allclose(most, 1 / (rates * (1 - rates) * alike))
    asked = {"sensitive_features": group, "sample_weight": weight, "metric": "selection_rate", "disparity": "ratio"}
    test = FairnessTest.from_predictions(None, label, margin=0.8, alternative="less", **asked)
    # Were the others' rate known, the test would still be at least as uncertain as the group's own rate.
    none, one = np.zeros(1), np.ones(1)
    distance, error = EffectiveRates(*rates[:, None], most[:1], one * 1e9, one, none, none, "ratio").at(0.8)
    assert norm.cdf(distance / error) < test.p_value_ < 0.5


@pytest.mark.parametrize("metric", ["mean_prediction", "log_loss", "selection_rate", "balanced_accuracy", "roc_auc"])
@pytest.mark.parametrize("clustered", [False, True])
def test_people_of_weight_0_change_nothing(metric, clustered):
    rng = np.random.default_rng(30)
    n = 300
    group, truth, weight = rng.choice(["a", "b"], n, p=[0.2, 0.8]), rng.integers(0, 2, n), rng.integers(0, 4, n)
    score, house = np.clip(0.3 * truth + 0.6 * rng.random(n), 0, 1), np.arange(n) // 3
    predicted = score if metric in ("mean_prediction", "log_loss", "roc_auc") else (score > 0.5).astype(int)

    def fitted(kept):
        return FairnessTest.from_predictions(
            truth[kept],
            predicted[kept],
            sensitive_features=group[kept],
            sample_weight=weight[kept],
            clusters=house[kept] if clustered else None,
            metric=metric,
            n_resamples=99,
            random_state=0,
        )

    everyone, counted = fitted(weight >= 0), fitted(weight > 0)
    assert everyone.p_value_ == pytest.approx(counted.p_value_, rel=1e-12)
    assert everyone.confidence_interval_ == pytest.approx(counted.confidence_interval_, rel=1e-9)


def error_of(y_true, y_pred, sample_weight=None):
    return np.average(y_true == y_pred, weights=sample_weight)


@pytest.mark.parametrize("clustered", [False, True])
def test_a_function_of_weighted_people_has_the_error_of_the_rate_that_it_is(data, clustered):
    place = np.arange(len(data)) // 2
    data = data.assign(group=data["group"].to_numpy()[2 * place]) if clustered else data
    params = {"clusters": place if clustered else None, "n_resamples": 99}
    own, rate = fit(data, error_of, **params), fit(data, "accuracy", **params)
    np.testing.assert_allclose(own.by_group_["value"], rate.by_group_["value"])
    np.testing.assert_allclose(own.by_group_["standard_error"], rate.by_group_["standard_error"], rtol=1e-3)
    assert own.variance_ == ("cluster-robust" if clustered else "linearized")
