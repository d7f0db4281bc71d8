"""SignificanceFrame: everything of MetricFrame to the last digit, and tests that are those of FairnessTest."""

import copy
import functools
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from fairlearn.metrics import (
    MetricFrame,
    count,
    false_negative_rate,
    false_positive_rate,
    mean_prediction,
    selection_rate,
    selection_rate_ratio,
    true_negative_rate,
    true_positive_rate,
)
from scipy.stats import fisher_exact
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    brier_score_loss,
    confusion_matrix,
    f1_score,
    jaccard_score,
    log_loss,
    matthews_corrcoef,
    mean_absolute_error,
    mean_squared_error,
    precision_score,
    r2_score,
    recall_score,
    roc_auc_score,
    zero_one_loss,
)

from skfairtest import FairnessTest, SignificanceFrame

# Functions of labels with a built-in twin, with what FairnessTest calls it; fairlearn's own metrics are among them.
TWINS = {
    selection_rate: "selection_rate",
    true_positive_rate: "true_positive_rate",
    true_negative_rate: "true_negative_rate",
    false_positive_rate: "false_positive_rate",
    false_negative_rate: "false_negative_rate",
    mean_prediction: "mean_prediction",
    accuracy_score: "accuracy",
    balanced_accuracy_score: "balanced_accuracy",
    f1_score: "f1",
    precision_score: "precision",
    recall_score: "recall",
    zero_one_loss: "zero_one_loss",
    jaccard_score: "jaccard",
    matthews_corrcoef: "matthews_corrcoef",
}
OF_LABELS = {function.__name__: function for function in [*list(TWINS)[:-2], count]}
SCORED = (log_loss, mean_absolute_error, mean_squared_error, r2_score, roc_auc_score)
OF_SCORES = {function.__name__: function for function in SCORED}
METHODS = ("between_groups", "to_overall")
RESULTS = [
    "value", "ci_low", "ci_high", "group", "other", "disparity", "statistic", "method", "reason", "p_value", "concern",
]  # fmt: skip

N = 160
RNG = np.random.default_rng(5)
TRUE, PRED = RNG.integers(0, 2, N), RNG.integers(0, 2, N)
SCORE, WEIGHT = RNG.uniform(0.2, 0.8, N), RNG.uniform(0.5, 2.0, N)
SEX = np.where(np.arange(N) % 5 < 2, "f", "m")
SITE = pd.Series(np.where(np.arange(N) % 2, "south", "north"), name="site")
FEW = {"n_resamples": 39}
labels_are_no_scores = pytest.mark.filterwarnings("ignore:.*:UserWarning")
small_groups = pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")


def frame_of(metrics, y_true=TRUE, y_pred=PRED, sensitive_features=SEX, **params):
    given = {"y_true": y_true, "y_pred": y_pred, "sensitive_features": sensitive_features}
    return SignificanceFrame(metrics=metrics, **given, **{"test_params": FEW, "random_state": 0, **params})


def fairness_of(metric, y_true=TRUE, y_pred=PRED, sensitive_features=SEX, **params):
    return FairnessTest.from_predictions(
        y_true, y_pred, sensitive_features=sensitive_features, metric=metric, **{**FEW, "random_state": 0, **params}
    )


def same(one, other):
    """Whether two results of frames are the same object of pandas, or the same number."""
    assert type(one) is type(other)
    if isinstance(one, list):
        for a, b in zip(one, other, strict=True):
            same(a, b)
    elif isinstance(one, pd.DataFrame):
        pd.testing.assert_frame_equal(one, other, check_exact=True)
    elif isinstance(one, pd.Series):
        pd.testing.assert_series_equal(one, other, check_exact=True)
    else:
        assert one == other or (np.isnan(one) and np.isnan(other))


def shown_and_tested(frame):
    """Whether the comparison of two groups is of the values that the frame shows; by which methods."""
    rows = frame.difference_test()
    for name, row in rows.iterrows():
        shown = frame.by_group[name]
        assert row["disparity"] == pytest.approx(shown[row["group"]] - shown[row["other"]], rel=1e-5, abs=1e-12), name
        assert abs(row["disparity"]) == pytest.approx(row["value"], rel=1e-5, abs=1e-12), name
    assert (rows["reason"] == "").all()
    return rows["method"].str.split().str[0].tolist()


def mean(y_true, y_pred):
    return float(np.mean(y_pred))


def cost(y_true, y_pred):
    """The mean cost of decisions, which only this file knows."""
    return float(np.mean(np.where(y_true > y_pred, 5.0, 1.0) * (y_true != y_pred)))


# Number for number -----------------------------------------------------------------------------


def everything(frame):
    """All that a MetricFrame of numbers says."""
    yield from (frame.overall, frame.by_group, frame.group_min(), frame.group_max())
    yield from (frame.control_levels, frame.sensitive_levels)
    for method in METHODS:
        for errors in ("raise", "coerce"):
            yield frame.difference(method=method, errors=errors)
            yield frame.ratio(method=method, errors=errors)
    if frame.n_boot is not None:
        yield from (frame.overall_ci, frame.by_group_ci, frame.group_min_ci(), frame.group_max_ci())
        for method in METHODS:
            yield from (frame.difference_ci(method=method), frame.ratio_ci(method=method))


BOOTSTRAP = {"n_boot": 3, "ci_quantiles": [0.05, 0.5, 0.95]}


@small_groups
@pytest.mark.parametrize(
    ("metrics", "features", "control", "step"),
    [
        (OF_LABELS, ["race"], None, 4),
        (OF_SCORES, ["race"], None, 4),
        (OF_LABELS, ["sex", "age_cat"], None, 4),
        (OF_SCORES, ["sex", "age_cat"], None, 4),
        (OF_LABELS | {"auc": roc_auc_score}, "sex", None, 20),  # from 20 on with a bootstrap
        (selection_rate, "sex", "age_cat", 20),
        (f1_score, "sex", None, 20),
    ],
)
def test_everything_of_metric_frame_is_equal_number_for_number_on_compas(compas, metrics, features, control, step):
    groups = compas.sensitive_features.iloc[::step]
    given = {
        "metrics": metrics,
        "y_true": compas.y_true[::step],
        "y_pred": compas.decile_score[::step] / 11 if metrics is OF_SCORES else compas.y_pred[::step],
        "sensitive_features": groups[features],
        "control_features": None if control is None else groups[control],
        **(BOOTSTRAP if step == 20 else {}),
    }
    frames = [cls(**given, random_state=np.random.RandomState(7)) for cls in (MetricFrame, SignificanceFrame)]
    for one, other in zip(*map(everything, frames), strict=True):
        same(one, other)


@labels_are_no_scores
def test_the_bootstrap_draws_from_the_users_generator_exactly_as_it_did():
    given = {"y_true": TRUE, "y_pred": PRED, "sensitive_features": SEX, "metrics": roc_auc_score, **BOOTSTRAP}
    after = []
    for cls in (MetricFrame, SignificanceFrame):
        generator = np.random.RandomState(3)
        frame = cls(**given, random_state=generator)
        if cls is SignificanceFrame:
            frame.p_values()
        after.append(generator.randint(2**31 - 1))
    assert after[0] == after[1]


# The quickstart of fairlearn's user guide ------------------------------------------------------


# Tests are those of FairnessTest ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "disparity"),
    [
        (METHODS[0], "difference"),
        (METHODS[1], "ratio"),
        pytest.param(METHODS[0], "ratio", marks=pytest.mark.slow),
        pytest.param(METHODS[1], "difference", marks=pytest.mark.slow),
    ],
)
def test_p_values_of_known_functions_are_those_of_fairness_test(compas, method, disparity):
    people = compas.y_true[::15], compas.y_pred[::15], compas.sensitive_features["sex"][::15]
    frame = frame_of({function.__name__: function for function in TWINS}, *people, random_state=5)
    shown = frame.p_values(method, disparity)
    rows = (frame.difference_test if disparity == "difference" else frame.ratio_test)(method)
    for function, metric in TWINS.items():
        test = fairness_of(metric, *people, compare=method, disparity=disparity, random_state=5)
        row = rows.loc[function.__name__]
        assert shown[function.__name__] == row["p_value"] == test.p_value_, metric
        assert (row["disparity"], row["statistic"]) == (test.disparity_, test.statistic_)
        assert row["concern"] == test.concern_
        assert (row["group"], row["other"]) in set(
            zip(test.comparisons_["group"], test.comparisons_["other"], strict=True)
        )


@pytest.mark.parametrize("function", [*OF_SCORES.values(), brier_score_loss], ids=lambda function: function.__name__)
def test_p_values_of_scores_are_those_of_a_fairness_test_with_the_same_seed(function):
    frame = frame_of(function, TRUE, SCORE, random_state=11)
    if function is r2_score:  # of row numbers instead of numbers: the same distribution, drawn otherwise
        assert frame.difference_test()["method"].item() == "permutation"
        assert abs(frame.difference_test()["disparity"].item()) == pytest.approx(frame.difference(), rel=1e-9)
        return
    test = fairness_of(function, TRUE, SCORE, random_state=11)
    assert frame.p_values() == test.p_value_
    assert frame.difference_test()["disparity"].item() == test.disparity_


@pytest.mark.parametrize(("groups", "enough"), [(2, 199), (5, 400)])  # 10 comparisons: 20 of 401 are at most .05
def test_functions_that_are_not_known_have_as_many_resamples_as_rejecting_needs(groups, enough):
    frame = frame_of(cost, sensitive_features=np.arange(N) % groups, test_params=None)
    assert frame.p_values() == fairness_of(cost, sensitive_features=np.arange(N) % groups, n_resamples=enough).p_value_


@labels_are_no_scores
def test_weights_of_a_known_function_reach_its_test():
    weights = {"rate": {"sample_weight": WEIGHT}, "auc": {"sample_weight": None}}
    frame = frame_of({"rate": selection_rate, "auc": roc_auc_score}, sample_params=weights)
    test, row = fairness_of("selection_rate", sample_weight=WEIGHT), frame.difference_test().loc["rate"]
    assert row["p_value"] == test.p_value_
    assert row["disparity"] == test.disparity_
    assert abs(row["disparity"]) == pytest.approx(row["value"], rel=1e-9)


@pytest.mark.parametrize(
    "seed", [3, np.int64(3), np.random.RandomState(3), np.random.default_rng(3)], ids=lambda seed: type(seed).__name__
)
def test_every_test_has_the_same_seed_in_whatever_order_they_are_asked_for(seed):
    state = pickle.dumps(seed)
    frame = frame_of({"auc": roc_auc_score, "loss": log_loss}, TRUE, SCORE, random_state=seed)
    for name, metric in (("loss", "log_loss"), ("auc", "roc_auc")):
        assert frame.p_values()[name] == fairness_of(metric, TRUE, SCORE, random_state=pickle.loads(state)).p_value_
    assert pickle.dumps(seed) == state  # the tests advance a copy


def test_control_features_give_one_row_per_level_each_of_the_people_of_that_level():
    metrics = {"tpr": true_positive_rate, "acc": accuracy_score}
    frame = frame_of(metrics, control_features=SITE)
    rows = frame.difference_test()
    assert rows.index.names == ["site", "metric"]
    assert rows.index.tolist() == [(site, name) for site in ("north", "south") for name in ("tpr", "acc")]
    for site in ("north", "south"):
        there = (site == SITE).to_numpy()
        alone = frame_of(metrics, TRUE[there], PRED[there], SEX[there])
        same(rows.loc[site], alone.difference_test())
        same(frame.p_values().loc[site].rename(None), alone.p_values())
        mine = frame.comparisons().query("site == @site").drop(columns="site").reset_index(drop=True)
        same(mine, alone.comparisons())


def test_all_comparisons_are_there_to_be_adjusted_further(compas):
    features = compas.sensitive_features
    frame = frame_of(
        {"selection": selection_rate, "count": count, "accuracy": accuracy_score},
        compas.y_true, compas.y_pred, features["age_cat"], control_features=features["sex"],
    )  # fmt: skip
    rows = frame.comparisons()
    assert rows.columns[:4].tolist() == ["sex", "metric", "group", "other"]
    assert "stratum" not in rows
    assert len(rows) == 2 * 2 * 3  # levels, metrics with a test, pairs of three groups
    for (sex, metric), p in rows.groupby(["sex", "metric"])["p_value_adjusted"].min().items():
        assert frame.p_values().loc[sex, metric] == p
    assert (frame.comparisons("to_overall", "ratio")["other"] == "overall").all()


def test_the_name_of_a_function_means_the_function():
    frame = frame_of({"fpr": "fpr", "right": "accuracy"})
    same(frame.difference_test(), frame_of({"fpr": false_positive_rate, "right": accuracy_score}).difference_test())
    assert frame_of("selection_rate").by_group.name == "selection_rate"
    with pytest.raises(ValueError, match=r"'kuiper_calibration', which is not a function of fairlearn\.metrics"):
        frame_of("kuiper_calibration")


def test_the_exact_test_of_a_table_by_hand():
    """8 of 10 against 2 of 10: Boschloo's p-value is at most Fisher's, .0230."""
    frame = frame_of(selection_rate, np.zeros(20, int), np.repeat([1, 0, 1, 0], [8, 2, 2, 8]), ["a"] * 10 + ["b"] * 10)
    assert 0.005 < frame.p_values() <= fisher_exact([[8, 2], [2, 8]]).pvalue
    low, high = frame.difference_interval()
    assert 0 < low < frame.difference() < high < 1


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
    for name, label in [("recall", 1), ("recall of 2", 2)]:
        test = fairness_of("recall", TRUE + 1, PRED + 1, pos_label=label)
        assert frame.p_values()[name] == test.p_value_
        assert frame.difference_test().loc[name, "disparity"] == test.disparity_


THREE = RNG.integers(0, 3, N)
LIKELY = RNG.dirichlet([1, 1, 1], N)
ONE_VALUE = {"n_resamples": 19, "variance": None}  # a jackknife of log_loss takes seconds


def of_truth(y_true, y_pred):
    return float(y_pred[np.arange(len(y_true)), y_true].mean())


def of_order(y_true, y_pred):
    return float(y_pred[0] + 2 * y_true[-1])


def of_dtype(y_true, y_pred):
    return accuracy_score(y_true.astype(int), y_pred) if y_pred.dtype == np.int64 else -1.0


def of_twenty(y_true, y_pred, sample_weight=None):
    if len(y_true) < 20:
        raise ValueError("too few")
    return float(np.mean(y_pred))


def of_price(y_true, y_pred, *, price, sample_weight):
    return float(np.average((y_true != y_pred) * price, weights=sample_weight))


def of_gap(y_true, y_pred, *, sensitive_features):
    return abs(float(y_pred[sensitive_features == "a"].mean() - y_pred[sensitive_features == "b"].mean()))


RACE = np.where(np.arange(N) % 3 == 0, "a", "b")
PRICE = {"price": RNG.uniform(1, 10, N), "sample_weight": WEIGHT}
MACRO = functools.partial(f1_score, average="weighted")
HALF = functools.partial(roc_auc_score, max_fpr=0.5)


@pytest.mark.parametrize(
    ("metrics", "y_true", "y_pred", "params", "methods"),
    [
        ([accuracy_score, matthews_corrcoef, balanced_accuracy_score, MACRO], THREE[::-1], THREE, {}, "exact score"),
        ([selection_rate], THREE[::-1], THREE, {}, "exact"),
        ([selection_rate], np.array(["no", "yes"])[TRUE], np.array(["no", "yes"])[PRED], {}, "exact"),  # no label 1
        ([selection_rate], TRUE, SCORE, {}, "exact"),  # scores that equal 1, of which there are none
        ([roc_auc_score], TRUE + 1, SCORE, {}, "score"),
        ([log_loss, mean_squared_error], TRUE, SCORE.astype(np.float32), {}, "permutation"),
        ([of_order, of_dtype], TRUE.astype(object), PRED, {}, "permutation"),
        ([of_twenty], TRUE, PRED, {}, "permutation"),
        ([lambda t, p: float(np.nanmean(p))], TRUE, np.where(TRUE, SCORE, np.nan), {}, "permutation"),
        ([of_truth, log_loss], THREE, LIKELY, {"test_params": ONE_VALUE}, "permutation"),
        ([of_truth], THREE.tolist(), [tuple(row) for row in LIKELY], {"test_params": ONE_VALUE}, "permutation"),
        ([of_price], TRUE, PRED, {"sample_params": {"0": PRICE}}, "permutation"),
        ([of_gap], TRUE, PRED, {"sample_params": {"0": {"sensitive_features": RACE}}}, "permutation"),
        pytest.param(
            [functools.partial(log_loss, normalize=False), HALF, functools.partial(brier_score_loss, pos_label=0)],
            TRUE, SCORE, {"test_params": {"n_resamples": 19}}, "permutation", marks=pytest.mark.slow,
        ),
    ],
)  # fmt: skip
def test_what_is_tested_is_what_is_shown(metrics, y_true, y_pred, params, methods):
    frame = frame_of({str(number): metric for number, metric in enumerate(metrics)}, y_true, y_pred, **params)
    found = shown_and_tested(frame)
    assert " ".join(dict.fromkeys(found)) == methods
    assert frame.p_values().between(0, 1, inclusive="right").all()


def test_the_same_values_have_the_same_p_values_however_they_are_written():
    metrics = {"auc": roc_auc_score, "loss": log_loss}
    expected = frame_of(metrics, TRUE, SCORE).p_values()
    same(frame_of(metrics, TRUE + 1, SCORE).p_values(), expected)
    same(frame_of(metrics, TRUE, SCORE.astype(np.float32)).p_values(), expected)  # the same resamples, to six digits
    default = functools.partial(log_loss, normalize=True)
    assert frame_of({"loss": default}, TRUE, SCORE).p_values()["loss"] == expected["loss"]
    both = frame_of({"mean": mean_prediction, "rate": selection_rate}).p_values()
    assert both["mean"] == both["rate"]
    dear = {"cost": {"price": np.where(SEX == "f", 10.0, 1.0), "sample_weight": WEIGHT}}
    assert frame_of({"cost": of_price}, y_pred=1 - TRUE, sample_params=dear).p_values()["cost"] == 1 / 40


@small_groups
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
    frame = frame_of({"tpr": function}, np.where(np.arange(N) < 20, 0, TRUE), PRED, group)
    assert np.array_equal(frame.by_group.loc["none", "tpr"], shown, equal_nan=True)
    row = frame.difference_test().loc["tpr"]
    reason = "left out: none: undefined: no one meets the condition (people whose true label is positive)"
    assert row["reason"] == reason
    rest = frame_of({"tpr": true_positive_rate}, TRUE[20:], PRED[20:], group[20:])
    assert row["p_value"] == rest.p_values()["tpr"]
    assert {row["group"], row["other"]} == {"f", "m"}
    assert row["ci_high"] == rest.difference_interval()[1]["tpr"]


def test_an_undefined_rate_is_said_once_by_a_warning():
    third = np.where(np.arange(N) % 2 == 0, SEX, "x")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        frame = frame_of({"tpr": true_positive_rate}, np.where(SEX == "f", TRUE, 0), PRED, third)
    with pytest.warns(UndefinedMetricWarning, match="tpr of m is undefined"):
        frame.p_values()
    frame.p_values()


# Containers and names --------------------------------------------------------------------------


@pytest.mark.parametrize("second", ["control_features", "sensitive_features"])
@pytest.mark.parametrize("labels", [["x", ("a", 1)], [("a", 1), 2]])
def test_tuples_beside_other_labels_are_refused_in_combinations_of_features(labels, second):
    features = {"sensitive_features": {"f": [labels[place % 2] for place in range(N)]}, "control_features": {}}
    features[second] = features[second] | {"second": SITE}
    with pytest.raises(ValueError, match="holds tuples, which MetricFrame treats as several features: pass a Data"):
        frame_of(selection_rate, **features)


# Shapes ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("control", [None, "site", ["site", "half"]])
@pytest.mark.parametrize("several", [True, False])
@pytest.mark.parametrize("method", METHODS)
def test_p_values_and_intervals_have_the_shape_of_the_difference(control, several, method):
    controls = pd.DataFrame({"site": SITE, "half": np.arange(N) < 80})
    frame = frame_of(
        {"b": selection_rate, "a": accuracy_score} if several else selection_rate,
        control_features=None if control is None else controls[control],
    )
    difference = frame.difference(method=method)
    found = [frame.p_values(method), *frame.difference_interval(method), *frame.ratio_interval(method)]
    for result in [*found, frame.p_values(method, "ratio")]:
        assert type(result) is type(difference) or isinstance(result, float)
        for attribute in ("index", "columns"):
            if hasattr(difference, attribute):
                pd.testing.assert_index_equal(getattr(result, attribute), getattr(difference, attribute))
        assert getattr(result, "name", None) == getattr(difference, "name", None)
    assert frame.difference_test(method)["p_value"].tolist() == np.ravel(frame.p_values(method)).tolist()
    assert frame.difference_test(method)["value"].tolist() == np.ravel(difference).tolist()
    assert frame.ratio_test(method)["value"].tolist() == np.ravel(frame.ratio(method=method)).tolist()
    assert frame.ratio_test(method)["ci_low"].tolist() == np.ravel(frame.ratio_interval(method)[0]).tolist()
    assert frame.difference_test(method).columns.tolist() == RESULTS


def test_a_frame_shows_values_by_group_and_p_values_and_who_is_left_out():
    calls = []

    def share(y_true, y_pred):
        calls.append(1)
        return float(np.mean(y_pred))

    y, groups = [1, 1, 1, 1, 0, 0, 0, 0], list("aaaabbbb")
    frame = frame_of({"chosen": selection_rate, "own": share, "n": count}, y, y, groups)
    called, (_, _, *lines) = len(calls), repr(frame).splitlines()
    assert [line.split() for line in lines[:-1]] == [
        ["chosen", "own", "n"],
        ["sensitive_feature_0"],
        ["a", "1.0", "1.0", "4.0"],
        ["b", "0.0", "0.0", "4.0"],
        [],
        ["chosen", "own", "n"],
        ["p-value", "0.008", "*", "p_values()"],
    ]
    assert lines[-1] == "n: the size of a group is not an average over its people: there is nothing to test"
    assert len(calls) == called
    assert "<td>0.008 *</td>" in frame._repr_html_()
    levels = frame_of(selection_rate, control_features={"city": np.where(TRUE, "x", "<b>")})
    assert [line.split()[0] for line in repr(levels).splitlines()[-2:]] == ["<b>", "x"]
    assert "<b>" not in levels._repr_html_()
    alone = frame_of({"selected": selection_rate}, sensitive_features=[*SEX[:-1], "z"])
    for each in (alone, pickle.loads(pickle.dumps(alone))):
        assert repr(each).endswith("\nselected: left out: z: fewer than 2 people: not compared")
        assert each.difference_test()["reason"].tolist() == ["left out: z: fewer than 2 people: not compared"]


# Intervals -------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", [METHODS[0], pytest.param(METHODS[1], marks=pytest.mark.slow)])
def test_the_interval_contains_equality_exactly_where_nothing_is_rejected(compas, method):
    features = compas.sensitive_features.iloc[::5]
    frame = frame_of(
        {**{name: function for function, name in TWINS.items()}, "cost": cost},
        compas.y_true[::5],
        compas.y_pred[::5],
        features["age_cat"],
        control_features=features["sex"],
        test_params={"confidence_level": 0.9, "n_resamples": 99},
    )
    p_values = frame.p_values(method)
    assert 3 < (p_values <= 0.1).to_numpy().sum() < p_values.size - 3  # the claim is about both
    low, high = frame.difference_interval(method)
    assert ((low == 0) == (p_values > 0.1)).all(axis=None)
    value = frame.difference(method=method)
    assert ((low <= value + 1e-12) & (value <= high + 1e-12)).all(axis=None)
    low, high = frame.ratio_interval(method)
    assert ((high == 1) == (frame.p_values(method, "ratio") > 0.1)).all(axis=None)
    assert (low <= frame.ratio(method=method) + 1e-12).all(axis=None)


@pytest.mark.parametrize("adjust", [None, "fdr_bh"])
@pytest.mark.parametrize("disparity", ["difference", "ratio"])
def test_limits_of_the_largest_disparity_hold_together_whatever_the_adjustment(adjust, disparity):
    """By pointwise limits the largest of 66 differences is more than 0, where the familywise p-value is 1."""
    rng = np.random.default_rng(14)
    group, y = np.repeat(np.arange(12), 20), rng.integers(0, 2, 240)
    frames = [frame_of(selection_rate, y, y, group, test_params={"adjust": name}) for name in (adjust, "holm")]
    rows = [getattr(frame, f"{disparity}_test")()[["p_value", "ci_low", "ci_high"]].iloc[0] for frame in frames]
    ((p_value, *limits), (_, *expected)) = rows
    assert limits == expected
    assert p_value > 0.05
    assert limits[0] <= (0 if disparity == "difference" else 1) <= limits[1]


# What has no test ------------------------------------------------------------------------------


def undefined(frame, method="between_groups"):
    """Return why nothing can be tested, after seeing that nothing is."""
    rows = frame.difference_test(method)
    untested = rows["p_value"].isna()
    assert rows["concern"].isna().equals(untested)
    assert np.isnan(np.ravel(frame.difference_interval(method)[0]))[untested.to_numpy()].all()
    assert set(frame.comparisons(method)["metric"]) == set(rows.index.get_level_values("metric")[~untested])
    return rows["reason"][untested].tolist()


SIZE = "the size of a group is not an average over its people: there is nothing to test"


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (confusion_matrix, r"the metric returns an array of shape \(2, 2\), not one number"),
        (count, SIZE),
        (lambda t, p: (0.1, 0.2), "the metric returns tuple, not one number"),
        (lambda t, p: None, "own returns None, not one number"),
        (lambda t, p: [0.5], "the metric returns list, not one number"),
        (lambda t, p: np.array(0.5), r"the metric returns an array of shape \(\), not one number"),
        (lambda t, p: "much", "own returns 'much', not one number"),
        (lambda t, p: np.nan, "group 'f': own returns NaN"),
        (lambda t, p: 1.0 if len(t) > N / 2 else np.nan, "group 'f': own returns NaN"),
    ],
)
@pytest.mark.parametrize("method", METHODS)
def test_what_is_no_number_has_no_test_and_says_why(function, reason, method):
    frame = frame_of({"own": function, "rate": selection_rate})
    (found,) = undefined(frame, method)
    assert pd.Series(found).str.contains(reason).item()
    rows = frame.difference_test(method)
    assert rows.loc["rate", "value"] > 0  # also where difference() itself raises, because of the arrays
    assert frame.ratio_test(method)["p_value"].isna().tolist() == [True, False]


MANY = np.tile(TRUE, 2), np.tile(PRED, 2), [f"group {i}" for i in range(2 * N)]
TINY = TRUE[:4], PRED[:4], list("abcd")
OF_RACE = functools.partial(selection_rate_ratio, sensitive_features=RACE)  # of everyone, hence of one group only
NEGATIVE = {"sample_params": {"rate": {"sample_weight": WEIGHT - 1}}}


@pytest.mark.filterwarnings("ignore:.*:sklearn.exceptions.UndefinedMetricWarning")
@pytest.mark.parametrize(
    ("metric", "people", "params", "reason"),
    [
        (selection_rate, (TRUE, PRED, ["all"] * N), {}, "one group only, 'all'"),
        (mean, (TRUE, PRED, ["all"] * N), {}, "one group only, 'all'"),
        (selection_rate, TINY, {}, "needs at least two groups of 2 or more people"),
        (mean, TINY, {}, "needs at least two groups of 2 or more people"),
        (selection_rate, MANY, {}, "320 distinct values, more than 200"),
        (mean, MANY, {}, "320 distinct values, more than 200"),
        (OF_RACE, (TRUE, PRED, ["all"] * N), {}, "one group only"),
        (selection_rate, (TRUE, PRED, SEX), NEGATIVE, "sample_weight has .*negative weights"),
        (mean, (TRUE, PRED, SEX), {"test_params": {"method": "exact"}}, "method='exact' has no distribution"),
    ],
)
def test_people_who_cannot_be_compared_leave_the_frame_usable(metric, people, params, reason):
    frame = frame_of({"rate": metric}, *people, **params)
    assert frame.difference()["rate"] >= 0
    (found,) = undefined(frame)
    assert pd.Series(found).str.contains(reason).item()


def test_levels_without_people_or_with_one_group_have_reasons_of_their_own():
    level = {"site": np.where(np.arange(N) < 100, "both", SEX), "half": (np.arange(N) >= 100).astype(int)}
    frame = frame_of({"rate": selection_rate}, control_features=level)
    reasons = frame.difference_test()["reason"].droplevel("metric")
    assert reasons["both", 0] == ""
    assert reasons["both", 1] == "no people"
    assert "one group only, 'f'" in reasons["f", 1]
    pd.testing.assert_index_equal(frame.p_values().index, frame.difference().index)


# Parameters ------------------------------------------------------------------------------------

MASKED = np.ma.masked_array(TRUE, mask=np.arange(N) == 3)
OTHER_CODES = "these are not the same classes"


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"test_params": {"estimator": 1}}, "test_params cannot set estimator: a frame takes predictions, not a mod"),
        ({"test_params": {"metric": "f1"}}, "test_params cannot set metric: pass metrics to the frame instead"),
        ({"test_params": {"compare": "to_rest"}}, "test_params cannot set compare: use method="),
        ({"test_params": {"reference_group": "f"}}, "test_params cannot set reference_group"),
        ({"test_params": {"disparity": "ratio"}}, "test_params cannot set disparity: use difference_test"),
        ({"test_params": {"random_state": 1}}, "test_params cannot set random_state: the frame's"),
        ({"test_params": {"prediction_threshold": 0.5}}, "test_params cannot set prediction_threshold: pass y_pred="),
        ({"test_params": {"pos_label": 1}}, r"cannot set pos_label: .* functools.partial\(metric, pos_label=...\)"),
        ({"test_params": {"n_resample": 1}}, "FairnessTest has no 'n_resample'; there are adjust, .*n_resamples"),
        ({"test_params": {"confidence_level": 2}}, "test_params: confidence_level must be a number between 0 and 1"),
        ({"test_params": {"method": "magic"}}, "test_params: method must be one of"),
        ({"test_params": {"alternative": "equivalence"}}, "margin is missing"),
        ({"test_params": {"margin": -1}}, "margin of a difference must be at least 0"),
        ({"test_params": [("method", "exact")]}, "test_params must be a dict of parameters of FairnessTest"),
        *(({"random_state": seed}, "random_state must") for seed in (-1, "seed", 0.5)),
        ({"y_true": MASKED}, "y_true has masked values"),  # MetricFrame would count what is under the mask
        ({"y_pred": MASKED}, "y_pred has masked values"),
        ({"sensitive_features": MASKED}, "sensitive_features has masked values"),
        ({"sensitive_features": {"sex": MASKED}}, "sensitive_features has masked values"),
        ({"y_true": TRUE + 1}, OTHER_CODES),
        ({"y_true": 2 * TRUE - 1}, OTHER_CODES),
        ({"y_true": np.where(TRUE, "yes", "no")}, "y_true holds 'no', 'yes' and y_pred holds 0, 1: text never equals"),
        ({"y_true": TRUE.astype(str)}, "y_true holds '0', '1' and y_pred holds 0, 1: text never equals a number"),
    ],
)
def test_what_is_wrong_is_refused_at_once_and_by_name(params, message):
    with pytest.raises(ValueError, match=message):
        frame_of("accuracy", **params)


def test_an_unknown_method_or_disparity_is_named():
    frame = frame_of(selection_rate)
    with pytest.raises(ValueError, match="method must be one of 'between_groups', 'to_overall'; found 'to_rest'"):
        frame.difference_test("to_rest")
    with pytest.raises(ValueError, match="disparity must be one of 'difference', 'ratio'; found 'odds'"):
        frame.p_values(disparity="odds")


def test_a_margin_is_read_where_it_has_a_meaning():
    frame = frame_of(selection_rate, test_params={"margin": 0})  # of differences, and of no ratio
    assert frame.p_values() == frame_of(selection_rate).p_values()
    with pytest.raises(ValueError, match="test_params: margin of a ratio must be above 0"):
        frame.ratio_test()
    certified = {"margin": 0.1, "alternative": "equivalence"}
    wide, test = frame_of(selection_rate, test_params=certified), fairness_of("selection_rate", **certified)
    assert wide.p_values() == test.p_value_
    assert wide.difference_test()["concern"].item() == test.concern_


# Lazy, small, picklable ------------------------------------------------------------------------


def test_nothing_is_tested_before_it_is_asked_for_and_nothing_twice_nor_in_copies():
    calls = []

    def watched(y_true, y_pred):
        calls.append(len(y_true))
        return float(np.mean(y_pred))

    MetricFrame(metrics=watched, y_true=TRUE, y_pred=PRED, sensitive_features=SEX)
    as_many = len(calls)
    frame = frame_of(watched)
    copies = [copy.copy(frame), copy.deepcopy(frame)]
    assert len(calls) == 2 * as_many
    first = frame.p_values()
    assert len(calls) > 2 * as_many
    assert {frame.p_values(), *(each.p_values() for each in copies)} == {first}
    calls.clear()
    frame.difference_test(), frame.difference_interval(), frame.comparisons()
    assert not calls
    same(copies[1].by_group, frame.by_group)


def test_a_pickled_frame_answers_as_the_frame_does():
    frame = frame_of({"own": cost, "rate": selection_rate}, control_features=SITE, test_params={"n_resamples": 19})
    there = pickle.loads(pickle.dumps(frame))
    same(there.difference_test(), frame.difference_test())
    same(there.by_group, frame.by_group)


def test_what_happens_to_the_users_arrays_afterwards_does_not_matter():
    y_pred = PRED.copy()
    frame = frame_of({"own": cost}, y_pred=y_pred)
    y_pred[:] = TRUE
    same(frame.p_values(), frame_of({"own": cost}).p_values())
