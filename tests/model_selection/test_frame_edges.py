"""SignificanceFrame where a test could differ from what is shown, or cannot be made at all."""

import functools
import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from fairlearn.metrics import (
    MetricFrame,
    false_positive_rate,
    mean_prediction,
    selection_rate,
    selection_rate_ratio,
    true_positive_rate,
)
from scipy.stats import fisher_exact
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    brier_score_loss,
    f1_score,
    log_loss,
    matthews_corrcoef,
    mean_squared_error,
    precision_score,
    recall_score,
    roc_auc_score,
)

from skfairtest import FairnessTest, SignificanceFrame

N = 160
RNG = np.random.default_rng(5)
TRUE, PRED = RNG.integers(0, 2, N), RNG.integers(0, 2, N)
SCORE, WEIGHT = RNG.uniform(0.2, 0.8, N), RNG.uniform(0.5, 2.0, N)
SEX = np.where(np.arange(N) % 5 < 2, "f", "m")
FEW = {"test_params": {"n_resamples": 39}, "random_state": 0}


def frame_of(metrics, y_true=TRUE, y_pred=PRED, sensitive_features=SEX, **params):
    return SignificanceFrame(
        metrics=metrics, y_true=y_true, y_pred=y_pred, sensitive_features=sensitive_features, **{**FEW, **params}
    )


def shown_and_tested(frame):
    """Whether the comparison of two groups is of the values that the frame shows; of which methods."""
    rows = frame.difference_test()
    for name, row in rows.iterrows():
        shown = frame.by_group[name]
        assert row["disparity"] == pytest.approx(shown[row["group"]] - shown[row["other"]], rel=1e-5, abs=1e-12), name
        assert abs(row["disparity"]) == pytest.approx(row["value"], rel=1e-5, abs=1e-12), name
    assert (rows["reason"] == "").all()
    return rows["method"].str.split().str[0].tolist()


# What is tested is what is shown ---------------------------------------------------------------


def test_label_1_is_positive_for_the_test_where_it_is_for_the_function():
    """FairnessTest would ask which of 1 and 2 is positive; fairlearn's and scikit-learn's functions take 1."""
    frame = frame_of(
        {
            "selection": selection_rate,
            "recall": recall_score,
            "recall of 2": functools.partial(recall_score, pos_label=2),
            "selection of 2": functools.partial(selection_rate, pos_label=2),
        },
        TRUE + 1,
        PRED + 1,
    )
    assert shown_and_tested(frame) == ["exact"] * 4
    for name, metric, label in [("recall", "recall", 1), ("recall of 2", "recall", 2)]:
        test = FairnessTest.from_predictions(TRUE + 1, PRED + 1, sensitive_features=SEX, metric=metric, pos_label=label)
        assert frame.p_values()[name] == test.p_value_
        assert frame.difference_test().loc[name, "disparity"] == test.disparity_


@pytest.mark.parametrize(
    ("labels", "positive"),
    [(["no", "yes"], "yes"), (["yes", "no"], "no"), ([False, True], None), ([-1, 1], None), ([0.0, 1.0], None)],
    ids=str,
)
def test_labels_of_any_kind_have_exact_tests(labels, positive):
    metrics = {"rate": selection_rate, "fpr": false_positive_rate, "precision": precision_score}
    if positive is not None:
        metrics = {name: functools.partial(function, pos_label=positive) for name, function in metrics.items()}
    labels = np.array(labels)
    frame = frame_of({**metrics, "accuracy": accuracy_score}, labels[TRUE], labels[PRED])
    assert shown_and_tested(frame) == ["exact"] * 4
    expected = frame_of({"rate": selection_rate, "accuracy": accuracy_score}).p_values()
    assert frame.p_values()[["rate", "accuracy"]].tolist() == pytest.approx(expected.tolist())


def test_a_rate_of_a_label_that_nobody_has_is_the_zero_that_is_shown():
    frame = frame_of({"rate": selection_rate}, np.array(["no", "yes"])[TRUE], np.array(["no", "yes"])[PRED])
    assert frame.by_group["rate"].tolist() == [0.0, 0.0]
    assert frame.p_values()["rate"] == 1
    assert shown_and_tested(frame) == ["exact"]


def test_several_labels_are_one_against_the_others_where_the_function_says_so():
    three = RNG.integers(0, 3, N)
    frame = frame_of(
        {
            "rate": selection_rate,
            "accuracy": accuracy_score,
            "mcc": matthews_corrcoef,
            "balanced": balanced_accuracy_score,
            "f1": functools.partial(f1_score, average="weighted"),
        },
        RNG.integers(0, 3, N),
        three,
        test_params={"n_resamples": 19},
    )
    assert shown_and_tested(frame) == ["exact", "exact", "score", "score", "score"]


@pytest.mark.slow
def test_options_that_change_a_metric_change_what_is_tested():
    few = slice(100)  # what scikit-learn computes again for every resample takes long
    frame = frame_of(
        {
            "sum": functools.partial(log_loss, normalize=False),
            "default": functools.partial(log_loss, normalize=True),
            "half": functools.partial(roc_auc_score, max_fpr=0.5),
            "of 0": functools.partial(brier_score_loss, pos_label=0),
        },
        TRUE[few],
        SCORE[few],
        SEX[few],
        test_params={"n_resamples": 19},
    )
    assert shown_and_tested(frame) == ["permutation"] * 4
    known = FairnessTest.from_predictions(
        TRUE[few], SCORE[few], sensitive_features=SEX[few], metric="log_loss", n_resamples=19, random_state=0
    )
    assert frame.p_values()["default"] == known.p_value_


def test_scores_of_the_greater_label_are_tested_as_such():
    frame = frame_of({"auc": roc_auc_score, "loss": log_loss}, TRUE + 1, SCORE)
    assert shown_and_tested(frame) == ["score", "permutation"]
    assert (
        frame.p_values().tolist() == frame_of({"auc": roc_auc_score, "loss": log_loss}, TRUE, SCORE).p_values().tolist()
    )


def test_scores_of_single_precision_take_the_path_of_their_name():
    single = frame_of({"loss": log_loss, "mse": mean_squared_error}, TRUE, SCORE.astype(np.float32))
    double = frame_of({"loss": log_loss, "mse": mean_squared_error}, TRUE, SCORE)
    assert shown_and_tested(single) == ["permutation"] * 2
    assert single.p_values().tolist() == double.p_values().tolist()  # the same resamples, to six digits


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@pytest.mark.parametrize(
    ("function", "shown"),
    [
        (true_positive_rate, 0.0),
        (recall_score, 0.0),
        (functools.partial(recall_score, zero_division=1.0), 1.0),
        (functools.partial(recall_score, zero_division=np.nan), np.nan),
    ],
    ids=["fairlearn", "scikit-learn", "one", "nan"],
)
def test_a_group_in_which_a_rate_is_undefined_is_left_out_whatever_is_shown_for_it(function, shown):
    group = np.where(np.arange(N) < 20, "none", SEX)
    y_true = np.where(np.arange(N) < 20, 0, TRUE)
    frame = frame_of({"tpr": function}, y_true, PRED, group)
    assert np.array_equal(frame.by_group.loc["none", "tpr"], shown, equal_nan=True)
    row = frame.difference_test().loc["tpr"]
    assert (
        row["reason"] == "left out: none: undefined: nobody meets the condition (people whose true label is positive)"
    )
    rest = frame_of({"tpr": true_positive_rate}, y_true[20:], PRED[20:], group[20:])
    assert row["p_value"] == rest.p_values()["tpr"]
    assert {row["group"], row["other"]} == {"f", "m"}
    assert row["ci_high"] == rest.difference_interval()[1]["tpr"]


def test_a_rate_of_scores_is_what_the_function_makes_of_them():
    """fairlearn's selection_rate counts scores that equal 1, of which there are none; FairnessTest refuses scores."""
    frame = frame_of({"rate": selection_rate}, TRUE, SCORE)
    assert frame.by_group["rate"].tolist() == [0.0, 0.0]
    assert frame.p_values()["rate"] == 1


def test_an_undefined_rate_is_said_once_by_a_warning():
    y_true = np.where(SEX == "f", TRUE, 0)
    third = np.where(np.arange(N) % 2 == 0, SEX, "x")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        frame = frame_of({"tpr": true_positive_rate}, y_true, PRED, third)
    with pytest.warns(UndefinedMetricWarning, match="tpr of m is undefined"):
        frame.p_values()
    frame.p_values()


@pytest.mark.parametrize("metric", [selection_rate, accuracy_score])
def test_a_function_of_many_values_is_evaluated_on_people_if_counts_do_not_give_what_is_shown(metric):
    def of_order(y_true, y_pred):
        return float(y_pred[0] + 2 * y_true[-1])

    def of_dtype(y_true, y_pred):
        return metric(y_true, y_pred) if y_pred.dtype == np.int64 else -1.0

    frame = frame_of({"order": of_order, "dtype": of_dtype}, y_true=TRUE.astype(object), y_pred=PRED)
    assert shown_and_tested(frame) == ["permutation"] * 2


def test_a_function_that_wants_all_its_people_gets_them():
    def needs_twenty(y_true, y_pred, sample_weight=None):
        if len(y_true) < 20:
            raise ValueError("too few")
        return float(np.mean(y_pred))

    frame = frame_of({"own": needs_twenty})
    assert shown_and_tested(frame) == ["permutation"]


# Sample parameters and predictions of any kind -------------------------------------------------


def test_any_sample_params_are_tested():
    def cost(y_true, y_pred, *, price, sample_weight):
        return float(np.average((y_true != y_pred) * price, weights=sample_weight))

    price = RNG.uniform(1, 10, N)
    params = {"cost": {"price": price, "sample_weight": WEIGHT}}
    frame = frame_of({"cost": cost}, sample_params=params)
    assert shown_and_tested(frame) == ["permutation"]
    dear = {"cost": {"price": np.where(SEX == "f", 10.0, 1.0), "sample_weight": WEIGHT}}
    assert frame_of({"cost": cost}, y_pred=1 - TRUE, sample_params=dear).p_values()["cost"] == 1 / 40


def test_metrics_of_all_groups_at_once_are_tested_by_a_further_feature():
    def gap(y_true, y_pred, *, sensitive_features):
        return abs(float(y_pred[sensitive_features == "a"].mean() - y_pred[sensitive_features == "b"].mean()))

    race = np.where(np.arange(N) % 3 == 0, "a", "b")
    frame = frame_of({"gap": gap}, sample_params={"gap": {"sensitive_features": race}})
    assert shown_and_tested(frame) == ["permutation"]


def test_probabilities_of_several_classes_are_tested():
    n = 100
    probabilities = RNG.dirichlet([1, 1, 1], n)
    three, sex = RNG.integers(0, 3, n), SEX[:n]

    def of_truth(y_true, y_pred):
        return float(y_pred[np.arange(len(y_true)), y_true].mean())

    params = {"test_params": {"n_resamples": 19, "variance": None}}  # a jackknife of log_loss takes seconds
    frame = frame_of({"own": of_truth, "loss": log_loss}, three, probabilities, sex, **params)
    assert shown_and_tested(frame) == ["permutation"] * 2
    listed = frame_of({"own": of_truth}, three.tolist(), [tuple(row) for row in probabilities], sex, **params)
    assert listed.p_values()["own"] == frame.p_values()["own"]


def test_people_with_missing_predictions_are_the_functions_business():
    y_pred = np.where(np.arange(N) % 7 == 0, np.nan, SCORE)
    frame = frame_of({"own": lambda t, p: float(np.nanmean(p))}, y_pred=y_pred)
    assert shown_and_tested(frame) == ["permutation"]


def test_people_are_paired_by_position_as_in_metric_frame():
    index = np.arange(N)
    frame = frame_of(
        {"rate": selection_rate, "auc": roc_auc_score},
        pd.Series(TRUE, index=index[::-1]),
        pd.Series(PRED, index=index + 7),
        pd.DataFrame({"sex": SEX}, index=RNG.permutation(index)),
    )
    with warnings.catch_warnings():  # labels are no scores
        warnings.simplefilter("ignore", UserWarning)
        assert shown_and_tested(frame) == ["exact", "score"]
        assert frame.p_values()["rate"] == frame_of({"rate": selection_rate}).p_values()["rate"]


# Containers and names of features --------------------------------------------------------------


@pytest.mark.in_turn(2)
@pytest.mark.parametrize(
    "container",
    {
        "list": SEX.tolist(),
        "tuple": tuple(SEX),
        "array": SEX,
        "objects": SEX.astype(object),
        "series": pd.Series(SEX, name="sex"),
        "categorical": pd.Series(pd.Categorical(SEX, categories=["m", "f", "nobody"]), name="sex"),
        "strings": pd.Series(SEX, name="sex", dtype="string"),
        "frame": pd.DataFrame({"sex": SEX}),
        "dict": {"sex": SEX},
        "column": SEX[:, None],
        "polars": pl.DataFrame({"sex": SEX}),
        "polars series": pl.Series("sex", SEX),
        "arrow": pa.table({"sex": SEX}),
    }.items(),
    ids=lambda item: item[0],
)
def test_groups_are_the_same_in_every_container_and_named_as_metric_frame_names_them(container):
    features = container[1]
    frame = frame_of(true_positive_rate, sensitive_features=features)
    plain = MetricFrame(metrics=true_positive_rate, y_true=TRUE, y_pred=PRED, sensitive_features=features)
    pd.testing.assert_series_equal(frame.by_group, plain.by_group)
    assert frame.p_values() == frame_of(true_positive_rate).p_values()
    assert set(frame.comparisons()[["group", "other"]].iloc[0]) == {"f", "m"}


@pytest.mark.parametrize(
    "values",
    [np.array([True, False]), np.array([3, 1]), np.array([0.5, 2.0]), pd.to_datetime(["2020-01-01", "2021-06-01"])],
    ids=["bool", "int", "float", "date"],
)
def test_groups_may_be_of_any_kind(values):
    frame = frame_of({"rate": selection_rate}, sensitive_features=pd.Series(values[(SEX == "f").astype(int)]))
    assert frame.p_values()["rate"] == pytest.approx(frame_of({"rate": selection_rate}).p_values()["rate"])
    row = frame.comparisons().iloc[0]
    shown = frame.by_group["rate"]
    assert row["disparity"] == pytest.approx(shown[row["group"]] - shown[row["other"]])


def test_a_generator_of_groups_is_read_once():
    read = frame_of(accuracy_score, sensitive_features={"sex": (value for value in SEX)})
    assert read.difference_test().equals(frame_of(accuracy_score, sensitive_features={"sex": SEX}).difference_test())


def test_features_may_have_names_that_a_table_of_counts_needs():
    features = {"count": SEX, "y_true": np.arange(N) % 2}
    frame = frame_of({"rate": selection_rate}, sensitive_features={"count": features["count"]})
    assert frame.p_values().tolist() == frame_of({"rate": selection_rate}).p_values().tolist()
    levels = {"metric": features["y_true"], "group": np.arange(N) // 80}
    frame = frame_of({"rate": selection_rate}, control_features=levels)
    assert frame.difference_test().index.names == ["metric", "group", "metric"]
    assert frame.comparisons().columns[:5].tolist() == ["metric", "group", "metric", "group", "other"]
    assert frame.p_values().shape == (4, 1)


def test_several_features_make_groups_with_tuples_for_names():
    frame = frame_of({"rate": selection_rate}, sensitive_features={"sex": SEX, "half": np.arange(N) // 80})
    assert set(frame.comparisons()["group"]) | set(frame.comparisons()["other"]) == set(frame.by_group.index)
    row = frame.difference_test().loc["rate"]
    assert row["disparity"] == pytest.approx(
        frame.by_group.loc[row["group"], "rate"] - frame.by_group.loc[row["other"], "rate"]
    )


def test_metrics_may_be_named_by_anything():
    frame = frame_of({0: selection_rate, ("a", 1): accuracy_score})
    assert frame.p_values().index.tolist() == [0, ("a", 1)]
    assert frame.difference_test().index.tolist() == [0, ("a", 1)]
    assert frame.comparisons()["metric"].tolist() == [0, ("a", 1)]


def test_no_metrics_are_no_tests():
    assert frame_of({}).p_values().empty
    assert frame_of({}).difference_test().empty
    assert frame_of({}, control_features=SEX).p_values().shape == (2, 0)
    assert frame_of({}).comparisons().empty
    assert "p_value" in frame_of({}, control_features=SEX).comparisons().columns


# What cannot be tested -------------------------------------------------------------------------


def undefined(frame):
    """Return why nothing can be tested, after seeing that nothing is."""
    rows = frame.difference_test()
    assert rows["p_value"].isna().all()
    assert rows["concern"].isna().all()
    assert np.isnan(np.ravel(frame.difference_interval())).all()
    assert frame.comparisons().empty
    return rows["reason"].tolist()


@pytest.mark.parametrize("metric", [selection_rate, lambda t, p: float(np.mean(p))], ids=["known", "own"])
def test_groups_that_cannot_be_compared_leave_the_frame_usable(metric):
    one = frame_of({"rate": metric}, sensitive_features=["all"] * N)
    assert one.difference()["rate"] == 0
    (reason,) = undefined(one)
    assert "one group only, 'all'" in reason
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        tiny = frame_of({"rate": metric}, TRUE[:4], PRED[:4], list("abcd"))
    (reason,) = undefined(tiny)
    assert "needs at least two groups of 2 or more people" in reason
    everybody, groups = (np.tile(TRUE, 2), np.tile(PRED, 2)), [f"group {i}" for i in range(2 * N)]
    (reason,) = undefined(frame_of({"rate": metric}, *everybody, groups))
    assert "320 distinct values, more than 200" in reason


def test_a_disparity_of_another_feature_is_no_metric_that_is_known():
    race = np.where(np.arange(N) % 3 == 0, "a", "b")
    metric = functools.partial(selection_rate_ratio, sensitive_features=race)  # of everybody, hence of one group only
    frame = frame_of({"ratio": metric}, sensitive_features=["all"] * N)
    assert "one group only" in undefined(frame)[0]


@pytest.mark.parametrize("name", ["y_true", "y_pred", "sensitive_features"])
def test_masked_values_are_refused(name):
    """MetricFrame would count what is under the mask."""
    given = {"y_true": TRUE, "y_pred": PRED, "sensitive_features": SEX}
    masked = np.ma.masked_array(np.asarray(given[name]), mask=np.arange(N) == 3)
    with pytest.raises(ValueError, match=f"{name} has masked values"):
        SignificanceFrame(metrics=selection_rate, **{**given, name: masked})
    with pytest.raises(ValueError, match="sensitive_features has masked values"):
        SignificanceFrame(metrics=selection_rate, **{**given, "sensitive_features": {"sex": masked}})


def test_a_missing_group_is_refused_or_has_no_test():
    """fairlearn 0.15 refuses it; 0.14 leaves the person out of every group, which no test of ours does."""
    given = {"metrics": selection_rate, "y_true": TRUE, "y_pred": PRED}
    features = pd.Series([None, *SEX[1:]], dtype=object, name="sex")
    try:
        MetricFrame(**given, sensitive_features=features)
    except ValueError:
        with pytest.raises(ValueError, match="Feature 'sex' contains missing values"):
            SignificanceFrame(**given, sensitive_features=features)
    else:
        frame = SignificanceFrame(**given, sensitive_features=features)
        assert undefined(frame)[0].startswith("sensitive_features (column 'sex') has 1 missing value among 160")


def test_levels_without_people_or_with_one_group_have_reasons_of_their_own():
    level = {"site": np.where(np.arange(N) < 100, "both", SEX), "half": (np.arange(N) >= 100).astype(int)}
    frame = frame_of({"rate": selection_rate}, control_features=level)
    reasons = frame.difference_test()["reason"].droplevel("metric")
    assert reasons["both", 0] == ""
    assert reasons["both", 1] == "no people"
    assert "one group only, 'f'" in reasons["f", 1]
    pd.testing.assert_index_equal(frame.p_values().index, frame.difference().index)


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (lambda t, p: None, "own returns None, not one number"),
        (lambda t, p: [0.5], "the metric returns list, not one number"),
        (lambda t, p: np.array(0.5), r"the metric returns an array of shape \(\), not one number"),
        (lambda t, p: "much", "own returns 'much', not one number"),
        (lambda t, p: np.nan, "group 'f': own returns NaN"),
        (lambda t, p: 1.0 if len(t) > N / 2 else np.nan, "group 'f': own returns NaN"),
    ],
)
def test_what_is_no_number_has_no_test(function, reason):
    frame = SignificanceFrame(
        metrics={"own": function, "rate": selection_rate}, y_true=TRUE, y_pred=PRED, sensitive_features=SEX
    )
    rows = frame.difference_test()
    assert rows["p_value"].isna().tolist() == [True, False]
    assert pd.Series(rows.loc["own", "reason"]).str.contains(reason).item()


def test_a_function_that_raises_in_resamples_is_undefined_there():
    most = max(PRED[group == SEX].mean() for group in ("f", "m"))

    def picky(y_true, y_pred):
        if len(y_pred) < N and y_pred.mean() > most + 1e-9:
            raise RuntimeError("not for these people")
        return float(np.mean(y_pred))

    frame = frame_of({"own": picky}, test_params={"n_resamples": 99})
    assert 0 < frame.p_values()["own"] <= 1


def test_weights_that_are_none_have_no_test_and_say_so():
    frame = frame_of({"rate": selection_rate}, sample_params={"rate": {"sample_weight": WEIGHT - 1}})
    (reason,) = undefined(frame)
    assert reason.startswith("sample_weight has")
    assert "negative weights" in reason


def test_a_method_that_a_metric_does_not_have_leaves_the_others_alone():
    frame = frame_of(
        {"rate": selection_rate, "balanced": balanced_accuracy_score, "own": lambda t, p: float(np.mean(p))},
        test_params={"method": "exact"},
    )
    rows = frame.difference_test()
    assert rows["p_value"].notna().tolist() == [True, False, False]
    assert rows["reason"].str.contains("method='exact' has no distribution").tolist() == [False, True, True]


# Parameters ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"estimator": 1}, "test_params cannot set estimator: a frame takes predictions, not a model"),
        ({"metric": "f1"}, "test_params cannot set metric: pass metrics to the frame instead"),
        ({"compare": "to_rest"}, "test_params cannot set compare: use method="),
        ({"reference_group": "f"}, "test_params cannot set reference_group"),
        ({"disparity": "ratio"}, "test_params cannot set disparity: use difference_test"),
        ({"random_state": 1}, "test_params cannot set random_state: the frame's"),
        ({"prediction_threshold": 0.5}, "test_params cannot set prediction_threshold: pass y_pred="),
        ({"pos_label": 1}, r"test_params cannot set pos_label: .* functools.partial\(metric, pos_label=...\)"),
        ({"n_resample": 1}, "test_params: FairnessTest has no 'n_resample'; there are adjust, .*n_resamples"),
        ({"confidence_level": 2}, "test_params: confidence_level must be a number between 0 and 1"),
        ({"method": "magic"}, "test_params: method must be one of"),
        ({"alternative": "equivalence"}, "margin is missing"),
        ({"margin": -1}, "margin of a difference must be at least 0"),
        ([("method", "exact")], "test_params must be a dict of parameters of FairnessTest"),
    ],
)
def test_wrong_test_params_are_refused_at_once(params, message):
    with pytest.raises(ValueError, match=message):
        frame_of(selection_rate, test_params=params)


@pytest.mark.parametrize("seed", [-1, "seed", 0.5])
def test_a_seed_that_is_none_is_refused_at_once(seed):
    with pytest.raises(ValueError, match="random_state must"):
        frame_of(selection_rate, random_state=seed)


def test_a_margin_is_read_where_it_has_a_meaning():
    frame = frame_of(selection_rate, test_params={"margin": 0})  # of differences, and of no ratio
    assert frame.p_values() == frame_of(selection_rate).p_values()
    with pytest.raises(ValueError, match="test_params: margin of a ratio must lie above 0"):
        frame.ratio_test()
    wide = frame_of(selection_rate, test_params={"margin": 0.1, "alternative": "equivalence"})
    test = FairnessTest.from_predictions(
        TRUE, PRED, sensitive_features=SEX, metric="selection_rate", margin=0.1, alternative="equivalence"
    )
    assert wide.p_values() == test.p_value_
    assert wide.difference_test()["concern"].item() == test.concern_
    assert not pickle.loads(pickle.dumps(frame)).difference_test().empty


@pytest.mark.parametrize(
    "seed", [3, np.int64(3), np.random.RandomState(3), np.random.default_rng(3)], ids=lambda s: type(s).__name__
)
def test_every_test_is_that_of_fairness_test_with_the_same_seed_in_whatever_order_they_are_asked_for(seed):
    state = pickle.dumps(seed)
    frame = frame_of({"auc": roc_auc_score, "loss": log_loss}, TRUE, SCORE, random_state=seed)
    for name, metric in (("loss", "log_loss"), ("auc", "roc_auc")):
        test = FairnessTest.from_predictions(
            TRUE, SCORE, sensitive_features=SEX, metric=metric, n_resamples=39, random_state=pickle.loads(state)
        )
        assert frame.p_values()[name] == test.p_value_
    assert pickle.dumps(seed) == state  # the tests advance a copy


def test_without_a_seed_what_was_answered_is_answered_again():
    frame = frame_of({"auc": roc_auc_score}, TRUE, SCORE, random_state=None, test_params={"n_resamples": 99})
    assert frame.p_values()["auc"] == frame.difference_test().loc["auc", "p_value"]


def test_the_exact_test_of_a_table_by_hand():
    """8 of 10 against 2 of 10: Boschloo's p-value is at most Fisher's, .0230."""
    y_pred = np.array([1] * 8 + [0] * 2 + [1] * 2 + [0] * 8)
    frame = frame_of(selection_rate, np.zeros(20, int), y_pred, ["a"] * 10 + ["b"] * 10)
    fisher = fisher_exact([[8, 2], [2, 8]]).pvalue
    assert 0.005 < frame.p_values() <= fisher
    low, high = frame.difference_interval()
    assert 0 < low < frame.difference() < high < 1


def test_mean_predictions_of_labels_are_the_rate_that_they_are():
    frame = frame_of({"mean": mean_prediction, "rate": selection_rate})
    assert frame.p_values()["mean"] == frame.p_values()["rate"]


def test_a_frame_shows_itself_without_a_warning_and_says_who_is_left_out():
    groups = np.array(["a", "b"] * (N // 2 - 1) + ["a", "z"])
    frame = SignificanceFrame(metrics={"selected": selection_rate}, y_true=TRUE, y_pred=PRED, sensitive_features=groups)
    assert repr(frame).endswith("\nselected: left out: z: fewer than 2 people: not compared")
    assert "left out: z" in frame._repr_html_()
    for each in (frame, pickle.loads(pickle.dumps(frame))):
        assert each.difference_test()["reason"].tolist() == ["left out: z: fewer than 2 people: not compared"]


@pytest.mark.parametrize(
    ("coded", "said"),
    [
        (lambda y: y + 1, "these are not the same classes"),
        (lambda y: 2 * y - 1, "these are not the same classes"),
        (lambda y: np.where(y == 1, "yes", "no"), "y_true holds 'no', 'yes' and y_pred holds 0, 1: text never equals"),
        (lambda y: y.astype(str), "y_true holds '0', '1' and y_pred holds 0, 1: text never equals a number"),
    ],
)
def test_truth_and_predictions_of_other_codes_are_refused(coded, said):
    y = np.array([0, 1] * 10)
    with pytest.raises(ValueError, match=said):
        SignificanceFrame(metrics="accuracy", y_true=coded(y), y_pred=y, sensitive_features=[0] * 10 + [1] * 10)


@pytest.mark.parametrize("labels", [[(), ("a", 1), ("a", 1, 2)], [("a", 1), ("b", 2)], ["x", ("a", 1)]])
def test_labels_that_are_tuples_are_tested_as_metric_frame_shows_them(labels):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60)
    places = np.arange(60) % len(labels)
    tests = [
        SignificanceFrame(metrics=selection_rate, y_true=y, y_pred=y, sensitive_features={"f": feature})
        for feature in ([labels[place] for place in places], [f"g{place}" for place in places])
    ]
    values = [test.difference_test()["p_value"].item() for test in tests]
    assert values[0] == pytest.approx(values[1], rel=1e-12)


@pytest.mark.parametrize("other", [{"control_features": ["p", "q"] * 30}, {"second": ["p", "q"] * 30}])
@pytest.mark.parametrize("labels", [["x", ("a", 1)], [("a", 1), 2]])
def test_tuples_beside_other_labels_are_refused_in_combinations_of_features(labels, other):
    y = np.arange(60) % 3 > 0
    features = {"f": [labels[place % 2] for place in range(60)], **{k: v for k, v in other.items() if k == "second"}}
    control = other.get("control_features")
    with pytest.raises(ValueError, match="holds tuples, which MetricFrame treats as several features: pass a Data"):
        SignificanceFrame(
            metrics=selection_rate, y_true=y, y_pred=y, sensitive_features=features, control_features=control
        )
