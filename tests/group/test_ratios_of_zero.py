"""A ratio of 0 or infinity proves nothing: whatever the method, the margin and the metric."""

import warnings

import numpy as np
import pytest

from skfairtest import FairnessTest

ONE_EVENT = {
    "y_true": None,
    "y_pred": [0] * 5 + [1] + [0] * 19,
    "sensitive_features": ["a"] * 5 + ["b"] * 20,
    "sample_weight": [1] * 24 + [2],
    "metric": "selection_rate",
    "disparity": "ratio",
    "random_state": 0,
}
METHODS = ["auto", "asymptotic", "bootstrap"]
METRICS = ["recall", "precision", "accuracy", "f1", "balanced_accuracy", "matthews_corrcoef", "mean_squared_error"]

pytestmark = pytest.mark.filterwarnings(
    "ignore:.*rests on few people", "ignore:.*cannot reject at", "ignore:.*depends on"
)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less", "equivalence"])
@pytest.mark.parametrize("margin", [None, 0.8])
@pytest.mark.parametrize("compare", ["between_groups", "to_overall"])
def test_one_event_among_25_people_is_no_evidence(method, alternative, margin, compare):
    if margin is None and alternative == "equivalence":
        return
    test = FairnessTest.from_predictions(
        **ONE_EVENT, method=method, alternative=alternative, margin=margin, compare=compare, adjust=None,
        n_resamples=199,
    )  # fmt: skip
    rows = test.comparisons_
    assert (rows["p_value"] > 0.05).all()
    assert np.isfinite(rows["statistic"]).all()
    if margin is None:
        assert ((rows["ci_low"] <= 1) & (rows["ci_high"] >= 1)).all()
    assert not np.isinf(rows["standard_error"]).any()


def drawn(kind, rng):
    """Fair people: 20 and 100 with weights, 20 and 30 clusters, or losses that are mostly 0."""
    group = np.repeat(["a", "b"], [20, 100])
    if kind == "clusters":
        cluster = np.repeat(np.arange(50), 4)
        label = (rng.random(200) < rng.beta(0.5, 9.5, 50)[cluster]).astype(int)
        known = {"clusters": cluster, "sensitive_features": np.where(cluster < 20, "a", "b")}
        return {"y_true": None, "y_pred": label, "metric": "selection_rate", **known}
    if kind == "losses":
        loss = (rng.random(120) < 0.05) * rng.choice([1.0, 2.0], 120)
        return {"y_true": loss, "y_pred": np.zeros(120), "metric": "mean_absolute_error", "sensitive_features": group}
    label = (rng.random(120) < 0.05).astype(int)
    known = {"sample_weight": rng.lognormal(0, 0.5, 120), "sensitive_features": group}
    return {"y_true": None, "y_pred": label, "metric": "selection_rate", **known}


@pytest.mark.parametrize("kind", ["weights", "clusters", "losses"])
@pytest.mark.parametrize(
    ("method", "margin"),
    [
        pytest.param(method, margin, marks=[] if (method, margin) == ("asymptotic", None) else pytest.mark.slow)
        for method in METHODS
        for margin in (None, 0.8)
    ],
)
def test_fair_people_with_rare_events_are_seldom_rejected_and_intervals_agree(kind, method, margin, thorough):
    # By logarithms 17 to 22% of such data sets were rejected. 40 data sets: .05 + 3 errors is .153; of 10, .257.
    rng, data_sets, rejected = np.random.default_rng(7), 40 if thorough else 10, 0
    for seed in range(data_sets):
        columns = drawn(kind, rng)
        if not (np.any(columns["y_true"]) if kind == "losses" else np.any(columns["y_pred"])):
            continue
        test = FairnessTest.from_predictions(
            **columns, disparity="ratio", method=method, margin=margin, n_resamples=99, random_state=seed
        )
        rejected += test.rejected_
        low, high = test.confidence_interval_
        if margin is None and not test.rejected_:
            assert low <= 1 <= high
        assert low <= test.disparity_ <= high
    assert rejected / data_sets <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / data_sets)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", ["weights", "clusters", "losses"])
def test_equality_has_one_p_value_whichever_disparity_is_shown(kind, method):
    columns = drawn(kind, np.random.default_rng(8))
    params = {"method": method, "n_resamples": 199, "random_state": 0}
    difference, ratio = (
        FairnessTest.from_predictions(**columns, disparity=d, **params) for d in ("difference", "ratio")
    )
    assert ratio.p_value_ == pytest.approx(difference.p_value_, rel=1e-9)
    if method != "bootstrap":
        assert ratio.statistic_ == pytest.approx(difference.statistic_, rel=1e-9)


def test_a_side_whose_losses_are_all_0_is_as_uncertain_as_the_other():
    # 0 of 20 against 5 of 100: Fisher's p is .59. A normal test with an error of 0 for the 20 has p = .022.
    loss = np.r_[np.zeros(20), np.ones(5) * 1.5, np.zeros(95)]
    columns = {
        "y_true": loss, "y_pred": np.zeros(120), "sensitive_features": np.repeat(["a", "b"], [20, 100]),
        "metric": "mean_absolute_error",
    }  # fmt: skip
    for method in ("asymptotic", "bootstrap"):
        for disparity in ("difference", "ratio"):
            test = FairnessTest.from_predictions(**columns, method=method, disparity=disparity, random_state=0)
            assert test.p_value_ > 0.2
    # The same spread as the other's: 5 of 100 have 1.5.
    spread = np.var(loss[20:], ddof=1)
    test = FairnessTest.from_predictions(**columns, method="asymptotic")
    assert test.statistic_ == pytest.approx(-0.075 / np.sqrt(spread / 20 + spread / 100))


def test_a_group_with_one_qualifying_person_has_a_p_value():
    columns = {
        "y_true": [1, 0, 0, 1, 1, 0, 1, 0], "y_pred": [0, 0, 1, 1, 1, 0, 0, 1], "sensitive_features": list("aaabbbbb"),
        "sample_weight": [1] * 8, "random_state": 0,
    }  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        for compare in ("between_groups", "to_rest", "to_overall"):
            test = FairnessTest.from_predictions(**columns, metric="recall", compare=compare)
            # One of a and three of b: every arrangement with the one who was missed in a is as extreme as the data, and
            # so are those with one who was not, on the other side or the same distance.
            assert 0.2 < test.p_value_ <= 1
            assert test.excluded_.empty
        odds = FairnessTest.from_predictions(**columns, metric="equalized_odds")
    assert list(odds.comparisons_["metric"]) == ["true_positive_rate", "false_positive_rate"]
    assert odds.comparisons_["p_value"].notna().all()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@pytest.mark.parametrize("method", METHODS)
def test_no_warning_of_numpy_leaks_with_weights(method, thorough):
    rng = np.random.default_rng(1)
    for seed in range(6 if thorough else 2):
        n = int(rng.integers(6, 14))
        columns = {
            "y_true": rng.integers(0, 2, n), "y_pred": rng.integers(0, 2, n), "sample_weight": rng.lognormal(0, 1, n),
            "sensitive_features": np.where(np.arange(n) % 3, "a", "b"),
        }  # fmt: skip
        for disparity in ("difference", "ratio"):
            test = FairnessTest.from_predictions(
                **columns, metric=METRICS, method=method, disparity=disparity, n_resamples=19, random_state=seed
            )
            assert test.comparisons_["p_value"].between(0, 1).all()
