"""Where paths for any metric meet: functions of everybody, weights, raw statistics, many people, slow functions."""

import numpy as np
import pandas as pd
import pytest
import sklearn.metrics as sk
from fairlearn.metrics import make_derived_metric, mean_prediction

from skfairtest import CountTable, FairnessTest, ScoreMetric, minimum_detectable_disparity

RNG = np.random.default_rng(5)
N = 400
GROUP = RNG.choice(["a", "b"], N)
Y = RNG.integers(0, 2, N)
LABEL = np.where(RNG.random(N) < 0.25, 1 - Y, Y)
SCORE = np.clip(0.2 * Y + 0.8 * RNG.random(N), 0, 1)
NUMBER = RNG.normal(size=N)
WEIGHT = RNG.random(N) + 0.5
STRATUM = RNG.choice(["x", "y"], N)


def run(y_true, y_pred, metric, **params):
    params = {"sensitive_features": GROUP, "random_state": 0, "n_resamples": 99} | params
    return FairnessTest.from_predictions(y_true, y_pred, metric=metric, **params)


def test_labels_where_scores_are_asked_for_are_pointed_out():
    with pytest.warns(UserWarning, match=r"roc_auc: y_score holds only 0 and 1.*labels"):
        run(Y, LABEL, "roc_auc")


def accuracy(y_true, y_pred, sample_weight=None):
    return sk.accuracy_score(y_true, y_pred, sample_weight=sample_weight)


@pytest.mark.parametrize("clusters", [None, np.arange(N) // 2])
def test_a_function_of_weighted_people_has_the_error_of_the_rate_that_it_is(clusters):
    group = GROUP if clusters is None else GROUP[clusters * 2]  # whole clusters
    params = {"sample_weight": WEIGHT, "clusters": clusters, "sensitive_features": group, "n_resamples": 19}
    own, rate = run(Y, LABEL, accuracy, **params), run(Y, LABEL, "accuracy", **params)
    np.testing.assert_allclose(own.by_group_["value"], rate.by_group_["value"])
    np.testing.assert_allclose(own.by_group_["standard_error"], rate.by_group_["standard_error"], rtol=1e-3)
    assert own.variance_ == ("linearized" if clusters is None else "cluster-robust")


def median_error(y_true, y_pred):
    return float(np.median(np.abs(y_true - y_pred)))


@pytest.mark.parametrize(
    ("truth", "params", "method"),
    [
        (NUMBER, {}, "bootstrap"),
        (NUMBER, {"disparity": "ratio"}, "bootstrap"),
        (NUMBER, {"method": "permutation"}, "permutation"),
        (NUMBER, {"variance": "bootstrap"}, "permutation"),
        (NUMBER, {"clusters": np.arange(N), "n_resamples": 19}, "permutation"),
        (NUMBER, {"margin": 0.5, "alternative": "equivalence"}, "asymptotic"),
        (Y, {}, "permutation"),  # labels: events of a small group may be rare
    ],
)
@pytest.mark.filterwarnings("ignore:n_resamples=19")
def test_a_function_of_numbers_takes_bootstrap_samples_by_default(truth, params, method):
    test = run(truth, SCORE, median_error, **params)
    assert test.comparisons_["method"].tolist() == [method]
    low, high = test.confidence_interval_
    equal = 1.0 if test.disparity == "ratio" else 0.0
    if method != "asymptotic":
        assert (test.p_value_ > 0.05) == (low < equal < high)
    assert np.isfinite(test.comparisons_["standard_error"]).all()
    assert minimum_detectable_disparity(test, power=0.8) > 0


def test_so_many_bootstrap_samples_as_comparisons_ask_for():
    group = np.arange(N) % 8
    test = run(NUMBER, SCORE, median_error, sensitive_features=group, n_resamples=9999)
    assert test.n_resamples_ == len(test.null_distribution_) == 40 * 28
    assert run(NUMBER, SCORE, median_error, n_resamples="adaptive").n_resamples_ == 999


def test_bootstrap_samples_without_standard_errors_find_what_is_there():
    shifted = NUMBER + np.where(GROUP == "a", 1.5, 0.0)
    for metric in (median_error, "mean_absolute_error"):
        test = run(shifted, 0 * NUMBER, metric, method="bootstrap", variance=None, n_resamples=999)
        assert test.p_value_ <= 0.01
        low, high = test.confidence_interval_
        assert low > 0.1 or high < -0.1


def test_a_group_whose_people_are_all_alike_has_no_samples_that_differ():
    truth = np.where(GROUP == "a", 1.0, NUMBER)
    test = run(truth, np.zeros(N) + 0.25, median_error, n_resamples=999)
    assert test.p_value_ > 0.5  # bootstrap samples of a alone would make the difference look certain


def test_a_function_of_numbers_that_everybody_has_of_their_own_is_bootstrapped():
    def error(y_true, y_pred, sample_weight=None):
        return float(np.average(np.abs(y_true - y_pred), weights=sample_weight))

    test = run(NUMBER, SCORE, error, sample_weight=WEIGHT, n_resamples=19, confidence_level=0.5)
    built_in = run(NUMBER, SCORE, "mean_absolute_error", sample_weight=WEIGHT)
    np.testing.assert_allclose(test.by_group_["value"], built_in.by_group_["value"])
    np.testing.assert_allclose(test.by_group_["standard_error"], built_in.by_group_["standard_error"], rtol=0.5)
    assert test.variance_ == "bootstrap"


@pytest.mark.parametrize(("metric", "scores"), [("roc_auc", SCORE), ("matthews_corrcoef", LABEL)])
def test_raw_statistics_leave_the_values_their_errors(metric, scores):
    raw, usual = run(Y, scores, metric, variance=None), run(Y, scores, metric)
    pd.testing.assert_frame_equal(raw.by_group_, usual.by_group_)
    assert raw.statistic_ == raw.disparity_
    assert raw.comparisons_["standard_error"].isna().all()


def test_raw_statistics_of_own_functions_have_no_errors():
    test = run(Y, LABEL, lambda t, p: float((t == p).mean()), variance=None)
    assert test.by_group_[["standard_error", "ci_low", "ci_high"]].isna().all(axis=None)
    with pytest.raises(ValueError, match=r"variance=None.*'auto'"):
        minimum_detectable_disparity(test)


def test_what_a_clustered_test_could_have_found_follows_from_its_error():
    cluster = np.arange(6000) // 30
    group, label = np.array(["a", "b"])[cluster % 2], RNG.integers(0, 2, 6000)
    test = FairnessTest.from_predictions(
        None, label, metric="selection_rate", sensitive_features=group, clusters=cluster, random_state=0,
        n_resamples=199,
    )  # fmt: skip
    error = test.comparisons_["standard_error"][0]
    assert minimum_detectable_disparity(test) == pytest.approx((1.96 + 0.8416) * error, rel=0.01)


# Functions of everybody -----------------------------------------------------------------------------------------------


def precision(y_true, y_pred):
    return y_true[y_pred == 1].mean()


PRECISION = make_derived_metric(metric=precision, transform="difference")
PRECISION_RATIO = make_derived_metric(metric=precision, transform="ratio")


def test_a_function_of_everybody_stops_early():
    some = slice(0, 150)
    test = run(Y[some], LABEL[some], PRECISION, n_resamples="adaptive", sensitive_features=GROUP[some])
    assert test.p_value_ > 0.05
    assert test.n_resamples_ < 2000
    assert test.p_value_ == pytest.approx(20 / test.n_resamples_)


def test_a_function_of_everybody_may_be_of_numbers():
    worst = make_derived_metric(metric=sk.mean_squared_error, transform="group_max")
    test = run(NUMBER, SCORE, worst, n_resamples=19)
    expected = max(((NUMBER - SCORE)[g == GROUP] ** 2).mean() for g in "ab")
    assert test.disparity_ == pytest.approx(expected)
    assert 0 < test.p_value_ <= 1
    within = run(Y, SCORE, make_derived_metric(metric=mean_prediction, transform="difference"), within="y_true",
                 n_resamples=19)  # fmt: skip
    assert within.within_ == "y_true"
    with pytest.raises(ValueError, match=r"within='y_true'.*numbers"):
        run(NUMBER, SCORE, worst, within="y_true")


def test_a_function_of_everybody_that_fails_is_said_to():
    def broken(y_true, y_pred, sensitive_features):
        raise KeyError("nobody")

    with pytest.raises(ValueError, match="broken raises KeyError"):
        run(Y, LABEL, broken)

    calls = []

    def fragile(y_true, y_pred, sensitive_features):
        calls.append(1)
        if len(calls) % 3 == 2:
            raise KeyError("sometimes")
        return float(np.mean(y_pred))

    test = run(Y, LABEL, fragile, n_resamples=99)
    assert "undefined in" in test.excluded_["reason"][0]


# Very many people, and very slow functions ----------------------------------------------------------------------------


def test_more_people_than_can_be_drawn_are_compared_by_their_areas():
    frame = pd.DataFrame(
        [(g, y, s, 10**8 + (g == "a") * y * s * 10**4) for g in "ab" for y in (0, 1) for s in (1, 2, 3)],
        columns=["g", "y", "s", "count"],
    )
    table = CountTable.from_counts(frame, y_true="y", y_score="s", sensitive_features="g")
    test = FairnessTest.from_table(table, metric="roc_auc")
    assert test.method_ == "score"
    with pytest.raises(ValueError, match=r"fewer than 1,000,000,000 people.*asymptotic"):
        FairnessTest.from_table(table, metric="roc_auc", method="permutation")


def test_scores_of_two_kinds_are_not_asked_at_once():
    from sklearn.linear_model import LogisticRegression

    def first(y_true, y_score, counts):
        return counts @ y_score / counts.sum(axis=-1)

    X = NUMBER[:, None]
    model = LogisticRegression().fit(X, Y)
    metrics = [
        ScoreMetric("one", first, response="predict_proba"),
        ScoreMetric("two", first, response="decision_function"),
    ]
    with pytest.raises(ValueError, match=r"different kinds \(one: predict_proba; two: decision_function\)"):
        FairnessTest(model, metric=metrics).fit(X, Y, sensitive_features=GROUP)
