"""Means and ratios of sums of amounts: values, errors and tests, against NumPy, statsmodels and slow functions."""

import pickle
import warnings

import numpy as np
import pytest
from fairlearn.metrics import MetricFrame
from sklearn.metrics import make_scorer
from statsmodels.regression.linear_model import WLS

from skfairtest import FairnessTest, MeanOf, PairedFairnessTest, RatioOfSums, ScoreMetric, SignificanceFrame
from skfairtest.metrics import Jackknife, Robust, resolve_metrics
from skfairtest.metrics.sums import Ratio

RNG = np.random.default_rng(53)
N = 400
PREMIUM = RNG.gamma(3, 50, N)
CLAIMS = np.where(RNG.random(N) < 0.4, RNG.gamma(2, 150, N), 0.0)
GROUP = np.where(RNG.random(N) < 0.4, "a", "b")
WEIGHT = RNG.integers(1, 4, N).astype(float)
CLUSTER = RNG.integers(0, 80, N)


def claims(y_true, y_pred):
    return y_true


def premium(y_true, y_pred):
    return y_pred


def missing_words(y_true, y_pred):
    return np.array([len({*a.split()} - {*b.split()}) for a, b in zip(y_true, y_pred, strict=True)])


def words(y_true, y_pred):
    return np.array([len(a.split()) for a in y_true])


def net_benefit(y_true, y_pred):
    return y_pred * (y_true - (1 - y_true) / 3)


LOSS_RATIO = RatioOfSums(claims, premium, name="loss_ratio")
QUICK = {"metric": LOSS_RATIO, "n_resamples": 1999}


def _tested(y_true=CLAIMS, y_pred=PREMIUM, groups=GROUP, **given):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return FairnessTest.from_predictions(
            y_true, y_pred, sensitive_features=groups, random_state=0, **(QUICK | given)
        )


@pytest.mark.parametrize("weight", [None, WEIGHT])
@pytest.mark.parametrize("cluster", [None, CLUSTER])
def test_a_ratio_and_its_error_are_those_of_a_weighted_regression_through_the_origin(weight, cluster):
    w = np.ones(N) if weight is None else weight
    # Regressed with weights w / d on the denominators alone, the slope is the ratio of sums.
    model = WLS(CLAIMS, PREMIUM, weights=w / PREMIUM).fit()
    robust = model.get_robustcov_results(
        **(
            {"cov_type": "HC0"}
            if cluster is None
            else {"cov_type": "cluster", "groups": cluster, "use_correction": False}
        )
    )
    n = N if cluster is None else len(set(cluster))
    functional = Robust(Ratio(CLAIMS, PREMIUM), weight, cluster)
    value, variance = functional.moments(np.ones(N))
    assert value == pytest.approx(robust.params[0], rel=1e-12)
    assert np.sqrt(variance * (n - 1) / n) == pytest.approx(robust.bse[0], rel=1e-9)


def test_a_ratio_has_about_the_error_of_the_jackknife():
    counts = RNG.integers(1, 9, 40)
    ratio = Ratio(CLAIMS[:40], PREMIUM[:40])
    exact, jackknife = ratio.moments(counts), Jackknife(ratio).moments(counts.astype(float))
    assert exact[0] == pytest.approx(jackknife[0])
    assert exact[1] == pytest.approx(jackknife[1], rel=0.03)


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"sample_weight": WEIGHT},
        {"disparity": "ratio"},
        {"method": "bootstrap"},
        {"compare": "to_overall"},
        {"margin": 0.5},
    ],
)
def test_it_is_tested_as_the_same_function_is_slowly(given):
    def slowly(y_true, y_pred, counts):
        return counts @ y_true / (counts @ y_pred)

    def variance(y_true, y_pred, counts):
        ratio, n = slowly(y_true, y_pred, counts), counts.sum(axis=-1)
        squares = (counts * (y_true - ratio[..., None] * y_pred) ** 2).sum(axis=-1)
        return squares / (counts @ y_pred) ** 2 * n / (n - 1)

    fast = _tested(**given)
    assert fast.disparity_ == pytest.approx(_tested(metric=LOSS_RATIO.metric(), **given).disparity_)
    if "sample_weight" not in given:
        slow = _tested(metric=ScoreMetric("slow", slowly, variance), **given)
        assert (fast.disparity_, fast.p_value_) == pytest.approx((slow.disparity_, slow.p_value_), abs=1e-3)


def test_clusters_are_kept_whole():
    test = _tested(clusters=CLUSTER)
    assert test.variance_ == "cluster-robust"
    everyone_twice = _tested(
        np.tile(CLAIMS, 2), np.tile(PREMIUM, 2), np.tile(GROUP, 2), clusters=np.tile(np.arange(N), 2)
    )
    for column in ("value", "standard_error"):
        assert everyone_twice.by_group_[column].to_list() == pytest.approx(_tested().by_group_[column].to_list())


def test_a_function_is_one_for_all_doors():
    by_group = MetricFrame(
        metrics={"loss_ratio": LOSS_RATIO}, y_true=CLAIMS, y_pred=PREMIUM, sensitive_features=GROUP
    ).by_group["loss_ratio"]
    expected = {name: CLAIMS[name == GROUP].sum() / PREMIUM[name == GROUP].sum() for name in "ab"}
    assert by_group.to_dict() == pytest.approx(expected)
    assert _tested().by_group_["value"].to_dict() == pytest.approx(expected)
    frame = SignificanceFrame(metrics=LOSS_RATIO, y_true=CLAIMS, y_pred=PREMIUM, sensitive_features=GROUP)
    assert frame.by_group.to_dict() == pytest.approx(expected)
    (scored,) = resolve_metrics(make_scorer(LOSS_RATIO))
    assert scored == LOSS_RATIO.metric()
    assert pickle.loads(pickle.dumps(_tested())).p_value_ == _tested().p_value_
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        paired = PairedFairnessTest.from_predictions(
            CLAIMS, PREMIUM, 2 * PREMIUM, sensitive_features=GROUP, metric=LOSS_RATIO, random_state=0
        )
    assert 0 <= paired.p_value_ <= 1


def test_amounts_of_texts_and_of_scores():
    said = np.array(["the cat sat", "a dog", "one two three four"] * 40)
    heard = np.array(["the cat sat", "a log", "one too three for"] * 40)
    test = _tested(said, heard, ["x", "x", "y"] * 40, metric=RatioOfSums(missing_words, words))
    assert test.by_group_["value"].to_dict() == pytest.approx({"x": 0.2, "y": 0.5})
    y = RNG.integers(0, 2, N)
    cost = MeanOf(lambda y_true, y_score: y_true * (1 - y_score), name="cost", response="predict_proba")
    score = np.round(RNG.random(N), 2)
    test = _tested(y, None, metric=cost, y_score=score)
    assert test.by_group_["value"]["a"] == pytest.approx(np.mean((y * (1 - score))[GROUP == "a"]))


def test_a_mean_of_amounts_is_welchs_and_of_zeros_and_ones_a_rate():
    y, predicted = RNG.integers(0, 2, (2, N))
    benefit = _tested(y, predicted, metric=MeanOf(net_benefit))
    assert benefit.variance_ == "welch"
    positives = MeanOf(lambda y_true, y_pred: y_pred, name="positives")
    assert _tested(y, predicted, metric=positives).p_value_ == _tested(y, predicted, metric="selection_rate").p_value_


def test_few_people_who_carry_the_sums_are_told():
    rare = np.where(np.arange(N) % 80 == 0, 1000.0, 0.0)
    with pytest.warns(match="few people"):
        FairnessTest.from_predictions(rare, PREMIUM, sensitive_features=GROUP, metric=LOSS_RATIO, random_state=0)


def test_sums_of_nothing():
    nothing = np.zeros(N)
    assert np.isnan(LOSS_RATIO(CLAIMS, nothing))
    with pytest.raises(ValueError, match="denominators add up to 0"):
        _tested(y_pred=np.where(GROUP == "a", 0.0, PREMIUM))


@pytest.mark.parametrize(
    ("made", "says"),
    [
        (lambda: MeanOf("y_pred"), r"value of MeanOf must be a function .*; found 'y_pred'"),
        (lambda: RatioOfSums(claims, 1), r"denominator of RatioOfSums must be a function"),
        (lambda: _tested(metric=RatioOfSums(claims, lambda y_true, y_pred: y_pred[:3])), r"of the 400 values"),
        (lambda: _tested(metric=RatioOfSums(claims, lambda y_true, y_pred: -y_pred)), r"must be at least 0; found -"),
        (lambda: _tested(metric=MeanOf(lambda y_true, y_pred: y_pred * np.nan)), r"must be finite .*; found nan"),
        (lambda: _tested(metric=MeanOf(lambda y_true, y_pred: list("a" * len(y_pred)))), r"one number for each"),
    ],
)  # fmt: skip
def test_what_is_no_amount_is_refused(made, says):
    with pytest.raises(ValueError, match=says):
        made()
