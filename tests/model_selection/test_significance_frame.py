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
    true_negative_rate,
    true_positive_rate,
)
from sklearn.compose import make_column_transformer
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
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

from skfairtest import FairnessTest, SignificanceFrame

# fairlearn's own metrics, and the functions from which it derives its disparities.
OF_LABELS = {
    "selection_rate": selection_rate,
    "true_positive_rate": true_positive_rate,
    "true_negative_rate": true_negative_rate,
    "false_positive_rate": false_positive_rate,
    "false_negative_rate": false_negative_rate,
    "mean_prediction": mean_prediction,
    "count": count,
    "accuracy_score": accuracy_score,
    "balanced_accuracy_score": balanced_accuracy_score,
    "f1_score": f1_score,
    "precision_score": precision_score,
    "recall_score": recall_score,
    "zero_one_loss": zero_one_loss,
}
OF_SCORES = {
    "log_loss": log_loss,
    "mean_absolute_error": mean_absolute_error,
    "mean_squared_error": mean_squared_error,
    "r2_score": r2_score,
    "roc_auc_score": roc_auc_score,
}
# Functions with a built-in twin, with what FairnessTest calls them.
TWINS = {
    **{name: name for name in list(OF_LABELS)[:5]},
    "mean_prediction": "mean_prediction",
    "accuracy_score": "accuracy",
    "balanced_accuracy_score": "balanced_accuracy",
    "f1_score": "f1",
    "precision_score": "precision",
    "recall_score": "recall",
    "zero_one_loss": "zero_one_loss",
    "jaccard_score": "jaccard",
    "matthews_corrcoef": "matthews_corrcoef",
}
FUNCTIONS = OF_LABELS | OF_SCORES | {"jaccard_score": jaccard_score, "matthews_corrcoef": matthews_corrcoef}
METHODS = ("between_groups", "to_overall")
RESULTS = [
    "value", "ci_low", "ci_high", "group", "other", "disparity", "statistic", "method", "reason", "p_value", "concern",
]  # fmt: skip


def same(one, other):
    """Whether two results of frames are the same object of pandas, or the same number."""
    assert type(one) is type(other)
    if isinstance(one, list):
        assert len(one) == len(other)
        for a, b in zip(one, other, strict=True):
            same(a, b)
    elif isinstance(one, pd.DataFrame):
        pd.testing.assert_frame_equal(one, other, check_exact=True)
    elif isinstance(one, pd.Series):
        pd.testing.assert_series_equal(one, other, check_exact=True)
    else:
        assert one == other or (np.isnan(one) and np.isnan(other))


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


@pytest.fixture
def few():
    """People of two groups and two levels, with labels, probabilities and weights."""
    rng = np.random.default_rng(1)
    n = 240
    return {
        "y_true": rng.integers(0, 2, n),
        "y_pred": rng.integers(0, 2, n),
        "score": rng.random(n),
        "weight": rng.uniform(0.5, 2.0, n),
        "sex": pd.Series(np.where(np.arange(n) % 3 == 0, "f", "m"), name="sex"),
        "site": pd.Series(np.where(np.arange(n) % 2 == 0, "north", "south"), name="site"),
    }


# Number for number -----------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")  # small groups in bootstrap samples
@pytest.mark.parametrize("features", [["race"], ["sex", "age_cat"]])
@pytest.mark.parametrize("metrics", [OF_LABELS, OF_SCORES], ids=["labels", "scores"])
def test_metric_functions_of_fairlearn_are_equal_number_for_number_on_compas(compas, metrics, features):
    given = {
        "metrics": metrics,
        "y_true": compas.y_true[::4],
        "y_pred": compas.y_pred[::4] if metrics is OF_LABELS else compas.decile_score[::4] / 11,
        "sensitive_features": compas.sensitive_features[features][::4],
    }
    for one, other in zip(everything(MetricFrame(**given)), everything(SignificanceFrame(**given)), strict=True):
        same(one, other)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")  # small groups in bootstrap samples
@pytest.mark.parametrize(
    ("metrics", "control", "seed"),
    [
        (OF_LABELS | {"auc": roc_auc_score}, None, int),
        (selection_rate, "age_cat", np.random.RandomState),
        (f1_score, None, np.random.RandomState),
    ],
    ids=["dict", "callable and levels", "callable"],
)
def test_bootstrapped_limits_are_equal_number_for_number_on_compas(compas, metrics, control, seed):
    given = {
        "metrics": metrics,
        "y_true": compas.y_true[::20],
        "y_pred": compas.y_pred[::20],
        "sensitive_features": compas.sensitive_features["sex"][::20],
        "control_features": None if control is None else compas.sensitive_features[control][::20],
        "n_boot": 3,
        "ci_quantiles": [0.05, 0.5, 0.95],
    }
    frames = [cls(**given, random_state=seed(7)) for cls in (MetricFrame, SignificanceFrame)]
    for one, other in zip(*map(everything, frames), strict=True):
        same(one, other)


def test_the_bootstrap_draws_from_the_users_generator_exactly_as_it_did(few):
    given = {k: few[k] for k in ("y_true", "y_pred")} | {"sensitive_features": few["sex"], "metrics": roc_auc_score}
    after = []
    for cls in (MetricFrame, SignificanceFrame):
        generator = np.random.RandomState(3)
        frame = cls(**given, n_boot=5, ci_quantiles=[0.5], random_state=generator)
        if cls is SignificanceFrame:
            with warnings.catch_warnings():  # labels are no scores, which is said
                warnings.simplefilter("ignore", UserWarning)
                frame.p_values()
        after.append(generator.randint(2**31 - 1))
    assert after[0] == after[1]


# The quickstart of fairlearn's user guide ------------------------------------------------------

QUICKSTART = {
    "accuracy": accuracy_score,
    "precision": precision_score,
    "false positive rate": false_positive_rate,
    "false negative rate": false_negative_rate,
    "selection rate": selection_rate,
    "count": count,
}


def quickstart(frame_class, y_true, y_pred, sex):
    """fairlearn's quickstart from the predictions on, with the frame of one's choice."""
    accuracy_by_sex = frame_class(metrics=accuracy_score, y_true=y_true, y_pred=y_pred, sensitive_features=sex)
    yield accuracy_by_sex.overall
    yield accuracy_by_sex.by_group
    metric_frame = frame_class(metrics=QUICKSTART, y_true=y_true, y_pred=y_pred, sensitive_features=sex)
    yield metric_frame.overall
    yield metric_frame.by_group
    yield metric_frame.difference()
    axes = metric_frame.by_group.plot.bar(
        subplots=True, layout=[3, 3], legend=False, figsize=[12, 8], title="Show all metrics"
    )
    yield [float(bar.get_height()) for ax in axes.ravel() for bar in ax.patches]


def runs_alike(y_true, y_pred, sex):
    plt = pytest.importorskip("matplotlib.pyplot", reason="matplotlib is not installed: the quickstart draws")
    plt.switch_backend("agg")
    for one, other in zip(
        quickstart(MetricFrame, y_true, y_pred, sex), quickstart(SignificanceFrame, y_true, y_pred, sex), strict=True
    ):
        same(one, other)
    plt.close("all")


def test_the_quickstart_of_fairlearn_runs_with_the_import_swapped(compas):
    runs_alike(compas.y_true, compas.y_pred, compas.sensitive_features["sex"])


@pytest.mark.slow
def test_the_quickstart_of_fairlearn_runs_on_adult_and_says_what_is_more_than_chance(raw_data):
    data = pd.read_csv(raw_data("adult.csv.gz"))
    X, y = data.drop(columns=["income", "split"]), (data["income"] == ">50K").astype(int)
    text = [name for name in X.columns if not pd.api.types.is_numeric_dtype(X[name])]
    X[text] = X[text].fillna("unknown")
    model = make_pipeline(
        make_column_transformer((OneHotEncoder(handle_unknown="ignore"), text), remainder="passthrough"),
        DecisionTreeClassifier(min_samples_leaf=10, max_depth=4, random_state=0),
    )
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0, stratify=y)
    y_pred = model.fit(X_train, y_train).predict(X_test)
    runs_alike(y_test, y_pred, X_test["sex"])
    frame = SignificanceFrame(metrics=QUICKSTART, y_true=y_test, y_pred=y_pred, sensitive_features=X_test["sex"])
    assert frame.p_values()["selection rate"] < 1e-30  # 24,000 people, and a selection rate three times the other
    assert np.isnan(frame.p_values()["count"])


def test_plot_metric_frame_draws_it_with_and_without_error_bars(compas):
    plt = pytest.importorskip("matplotlib.pyplot", reason="matplotlib is not installed")
    plt.switch_backend("agg")
    from fairlearn.experimental.enable_metric_frame_plotting import plot_metric_frame

    given = {
        "metrics": {"selection": selection_rate, "limits": lambda t, p: np.array([p.mean() - 0.1, p.mean() + 0.1])},
        "y_true": compas.y_true,
        "y_pred": compas.y_pred,
        "sensitive_features": compas.sensitive_features["sex"],
    }
    drawn = []
    for cls in (MetricFrame, SignificanceFrame):
        for limits in (None, "limits"):
            axes = plot_metric_frame(cls(**given), metrics="selection", conf_intervals=limits, kind="bar")
            (ax,) = np.ravel(axes)
            drawn.append([bar.get_height() for bar in ax.patches])
    assert drawn[:2] == drawn[2:]
    plt.close("all")


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
    frame = SignificanceFrame(
        metrics={name: FUNCTIONS[name] for name in TWINS},
        y_true=compas.y_true[::15],
        y_pred=compas.y_pred[::15],
        sensitive_features=compas.sensitive_features["sex"][::15],
        random_state=5,
        test_params={"n_resamples": 39},
    )
    shown = frame.p_values(method, disparity)
    for name, ours in TWINS.items():
        test = FairnessTest.from_predictions(
            compas.y_true[::15],
            compas.y_pred[::15],
            sensitive_features=compas.sensitive_features["sex"][::15],
            metric=ours,
            compare=method,
            disparity=disparity,
            n_resamples=39,
            random_state=5,
        )
        assert shown[name] == test.p_value_, name
        row = (frame.difference_test if disparity == "difference" else frame.ratio_test)(method).loc[name]
        assert (row["disparity"], row["statistic"]) == (test.disparity_, test.statistic_)
        assert row["concern"] == test.concern_
        assert (row["group"], row["other"]) in set(
            zip(test.comparisons_["group"], test.comparisons_["other"], strict=True)
        )


@pytest.mark.parametrize("name", [*OF_SCORES, "brier_score_loss"])
def test_p_values_of_scores_are_those_of_a_fairness_test_with_the_same_seed(few, name):
    function = OF_SCORES.get(name, brier_score_loss)
    known = name != "r2_score"
    frame = SignificanceFrame(
        metrics=function,
        y_true=few["y_true"],
        y_pred=few["score"],
        sensitive_features=few["sex"],
        random_state=11,
        test_params={} if known else {"n_resamples": 39},
    )
    if known:
        test = FairnessTest.from_predictions(
            few["y_true"], few["score"], sensitive_features=few["sex"], metric=function, random_state=11
        )
        assert frame.p_values() == test.p_value_
        assert frame.difference_test()["disparity"].item() == test.disparity_
    else:  # of row numbers instead of numbers: the same distribution, drawn otherwise
        assert frame.difference_test()["method"].item() == "permutation"
        assert abs(frame.difference_test()["disparity"].item()) == pytest.approx(frame.difference(), rel=1e-9)


def own_cost(y_true, y_pred):
    """Return the mean cost of decisions; nobody but this file knows it."""
    return float(np.mean(np.where(y_true > y_pred, 5.0, 1.0) * (y_true != y_pred)))


@pytest.mark.parametrize(
    "function",
    [own_cost, pytest.param(functools.partial(f1_score, average="macro"), marks=pytest.mark.slow)],
    ids=["own", "macro"],
)
def test_p_values_of_other_functions_are_those_of_a_fairness_test_with_the_same_seed(few, function):
    given = {"y_true": few["y_true"], "y_pred": few["y_pred"], "sensitive_features": few["sex"]}
    frame = SignificanceFrame(metrics={"own": function}, **given, random_state=2, test_params={"n_resamples": 99})
    test = FairnessTest.from_predictions(**given, metric=function, n_resamples=99, random_state=2)
    assert frame.p_values()["own"] == test.p_value_
    assert frame.comparisons()["metric"].tolist() == ["own"]


@pytest.mark.parametrize(("groups", "enough"), [(2, 199), (5, 400)])  # 10 comparisons: 20 of 401 are at most .05
def test_functions_that_are_not_known_have_as_many_resamples_as_rejecting_needs(few, groups, enough):
    given = {"y_true": few["y_true"], "y_pred": few["y_pred"], "sensitive_features": np.arange(240) % groups}
    frame = SignificanceFrame(metrics=own_cost, **given, random_state=2)
    test = FairnessTest.from_predictions(**given, metric=own_cost, n_resamples=enough, random_state=2)
    assert frame.p_values() == test.p_value_


def test_weights_of_a_known_function_reach_its_test(few):
    frame = SignificanceFrame(
        metrics={"rate": selection_rate, "auc": roc_auc_score},
        y_true=few["y_true"],
        y_pred=few["score"] > 0.4,
        sensitive_features=few["sex"],
        sample_params={"rate": {"sample_weight": few["weight"]}, "auc": {"sample_weight": None}},
        random_state=4,
        test_params={"n_resamples": 199},
    )
    test = FairnessTest.from_predictions(
        few["y_true"],
        (few["score"] > 0.4).astype(int),
        sensitive_features=few["sex"],
        sample_weight=few["weight"],
        metric="selection_rate",
        n_resamples=199,
        random_state=4,
    )
    with warnings.catch_warnings():  # the AUC of labels is one of labels, which is said
        warnings.simplefilter("ignore", UserWarning)
        rows = frame.difference_test()
    assert rows.loc["rate", "p_value"] == test.p_value_
    assert rows.loc["rate", "disparity"] == test.disparity_
    assert abs(rows.loc["rate", "disparity"]) == pytest.approx(rows.loc["rate", "value"], rel=1e-9)


def test_control_features_give_one_row_per_level_each_of_the_people_of_that_level(few):
    frame = SignificanceFrame(
        metrics={"tpr": true_positive_rate, "acc": accuracy_score},
        y_true=few["y_true"],
        y_pred=few["y_pred"],
        sensitive_features=few["sex"],
        control_features=few["site"],
    )
    rows = frame.difference_test()
    assert rows.index.names == ["site", "metric"]
    assert rows.index.tolist() == [(site, name) for site in ("north", "south") for name in ("tpr", "acc")]
    for site in ("north", "south"):
        there = (few["site"] == site).to_numpy()
        alone = SignificanceFrame(
            metrics={"tpr": true_positive_rate, "acc": accuracy_score},
            y_true=few["y_true"][there],
            y_pred=few["y_pred"][there],
            sensitive_features=few["sex"][there],
        )
        pd.testing.assert_frame_equal(rows.loc[site], alone.difference_test())
        same(frame.p_values().loc[site].rename(None), alone.p_values())
        mine = frame.comparisons().query("site == @site").drop(columns="site").reset_index(drop=True)
        pd.testing.assert_frame_equal(mine, alone.comparisons())


def test_the_name_of_a_function_means_the_function(few):
    given = {"y_true": few["y_true"], "y_pred": few["y_pred"], "sensitive_features": few["sex"], "random_state": 0}
    names, functions = {"fpr": "fpr", "right": "accuracy"}, {"fpr": false_positive_rate, "right": accuracy_score}
    frame = SignificanceFrame(metrics=names, **given)
    same(frame.difference_test(), SignificanceFrame(metrics=functions, **given).difference_test())
    assert SignificanceFrame(metrics="selection_rate", **given).by_group.name == "selection_rate"
    with pytest.raises(ValueError, match=r"'kuiper_calibration', which is no function of fairlearn\.metrics"):
        SignificanceFrame(metrics="kuiper_calibration", **given)


def test_all_comparisons_are_there_to_be_adjusted_further(compas):
    frame = SignificanceFrame(
        metrics={"selection": selection_rate, "count": count, "accuracy": accuracy_score},
        y_true=compas.y_true,
        y_pred=compas.y_pred,
        sensitive_features=compas.sensitive_features["age_cat"],
        control_features=compas.sensitive_features["sex"],
    )
    rows = frame.comparisons()
    assert rows.columns[:4].tolist() == ["sex", "metric", "group", "other"]
    assert "stratum" not in rows
    assert len(rows) == 2 * 2 * 3  # levels, metrics with a test, pairs of three groups
    smallest = rows.groupby(["sex", "metric"])["p_value_adjusted"].min()
    for (sex, metric), p in smallest.items():
        assert frame.p_values().loc[sex, metric] == p
    overall = frame.comparisons("to_overall", "ratio")
    assert (overall["other"] == "overall").all()


# Shapes ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("control", [None, "site", ["site", "half"]])
@pytest.mark.parametrize("several", [True, False])
@pytest.mark.parametrize("method", METHODS)
def test_p_values_and_intervals_have_the_shape_of_the_difference(few, control, several, method):
    controls = pd.DataFrame({"site": few["site"], "half": np.arange(240) < 120})
    frame = SignificanceFrame(
        metrics={"b": selection_rate, "a": accuracy_score} if several else selection_rate,
        y_true=few["y_true"],
        y_pred=few["y_pred"],
        sensitive_features=few["sex"],
        control_features=None if control is None else controls[control],
    )
    difference = frame.difference(method=method)
    found = [frame.p_values(method), *frame.difference_interval(method), *frame.ratio_interval(method)]
    for result in [*found, frame.p_values(method, "ratio")]:
        if isinstance(difference, pd.DataFrame):
            assert isinstance(result, pd.DataFrame)
            pd.testing.assert_index_equal(result.index, difference.index)
            pd.testing.assert_index_equal(result.columns, difference.columns)
        elif isinstance(difference, pd.Series):
            assert isinstance(result, pd.Series)
            pd.testing.assert_index_equal(result.index, difference.index)
            assert result.name == difference.name
        else:
            assert isinstance(result, float)
    flat = np.ravel(frame.p_values(method))
    assert frame.difference_test(method)["p_value"].tolist() == flat.tolist()
    assert frame.difference_test(method)["value"].tolist() == np.ravel(difference).tolist()
    assert frame.ratio_test(method)["value"].tolist() == np.ravel(frame.ratio(method=method)).tolist()
    assert frame.difference_test(method).columns.tolist() == RESULTS


def test_an_unknown_method_or_disparity_is_named(few):
    frame = SignificanceFrame(
        metrics=selection_rate, y_true=few["y_true"], y_pred=few["y_pred"], sensitive_features=few["sex"]
    )
    with pytest.raises(ValueError, match="method must be one of 'between_groups', 'to_overall'; found 'to_rest'"):
        frame.difference_test("to_rest")
    with pytest.raises(ValueError, match="disparity must be one of 'difference', 'ratio'; found 'odds'"):
        frame.p_values(disparity="odds")


# Intervals -------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", [METHODS[0], pytest.param(METHODS[1], marks=pytest.mark.slow)])
def test_the_interval_contains_equality_exactly_where_nothing_is_rejected(compas, method):
    frame = SignificanceFrame(
        metrics={**{name: FUNCTIONS[name] for name in TWINS}, "cost": own_cost},
        y_true=compas.y_true[::5],
        y_pred=compas.y_pred[::5],
        sensitive_features=compas.sensitive_features["age_cat"][::5],
        control_features=compas.sensitive_features["sex"][::5],
        random_state=0,
        test_params={"confidence_level": 0.9, "n_resamples": 99},
    )
    p_values = frame.p_values(method)
    assert 3 < (p_values <= 0.1).to_numpy().sum() < p_values.size - 3  # the claim is about both
    low, high = frame.difference_interval(method)
    assert ((low == 0) == (p_values > 0.1)).all(axis=None)
    value = frame.difference(method=method)
    assert (low <= value + 1e-12).all(axis=None)
    assert (value <= high + 1e-12).all(axis=None)
    low, high = frame.ratio_interval(method)
    assert ((high == 1) == (frame.p_values(method, "ratio") > 0.1)).all(axis=None)
    assert (low <= frame.ratio(method=method) + 1e-12).all(axis=None)
    rows = frame.ratio_test(method)
    assert rows["ci_low"].tolist() == low.to_numpy().ravel().tolist()


def test_a_bootstrap_of_the_largest_difference_misses_zero_and_the_interval_holds_it():
    rng = np.random.default_rng(0)
    groups = list("abcd") * 100
    frame = SignificanceFrame(
        metrics=selection_rate,
        y_true=rng.integers(0, 2, 400),
        y_pred=rng.integers(0, 2, 400),  # of the same distribution in every group
        sensitive_features=groups,
        n_boot=50,
        ci_quantiles=[0.025, 0.975],
        random_state=0,
    )
    assert frame.difference_ci()[0] > 0
    assert frame.difference_interval()[0] == 0
    assert frame.p_values() > 0.05


# What has no test ------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_arrays_and_counts_have_no_test_and_say_why(few, method):
    frame = SignificanceFrame(
        metrics={"matrix": confusion_matrix, "count": count, "pair": lambda t, p: (0.1, 0.2), "ok": selection_rate},
        y_true=few["y_true"],
        y_pred=few["y_pred"],
        sensitive_features=few["sex"],
    )
    for rows in (frame.difference_test(method), frame.ratio_test(method)):
        assert rows["p_value"].isna().tolist() == [True, True, True, False]
        assert rows["concern"].isna().tolist() == [True, True, True, False]
        assert rows["reason"].tolist() == [
            "the metric returns an array of shape (2, 2), not one number",
            "the size of a group is not an average over its people: there is nothing to test",
            "the metric returns tuple, not one number",
            "",
        ]
        assert rows.loc["ok", "value"] > 0  # also where difference() itself raises, because of the arrays
    assert frame.comparisons(method)["metric"].unique().tolist() == ["ok"]
    assert np.isnan(frame.difference_interval(method)[0]["matrix"])


# Lazy, small, picklable ------------------------------------------------------------------------


def test_nothing_is_tested_before_it_is_asked_for_and_nothing_twice(few):
    calls = []

    def watched(y_true, y_pred):
        calls.append(len(y_true))
        return float(np.mean(y_pred))

    given = {"y_true": few["y_true"], "y_pred": few["y_pred"], "sensitive_features": few["sex"]}
    MetricFrame(metrics=watched, **given)
    as_many = len(calls)
    calls.clear()
    frame = SignificanceFrame(metrics=watched, **given, random_state=0, test_params={"n_resamples": 19})
    assert len(calls) == as_many
    first = frame.p_values()
    assert len(calls) > as_many
    calls.clear()
    assert frame.p_values() == first
    frame.difference_test(), frame.difference_interval(), frame.comparisons()
    assert not calls


def test_a_frame_of_functions_that_cannot_be_pickled_is_pickled_with_all_its_answers(few):
    scale = 0.5
    given = {"y_pred": few["y_pred"], "sensitive_features": few["sex"], "control_features": few["site"]}
    frame = SignificanceFrame(
        metrics={"own": lambda t, p: float(scale * np.mean(t == p)), "rate": selection_rate},
        y_true=few["y_true"],
        **given,
        random_state=0,
        test_params={"n_resamples": 99},
    )
    there = pickle.loads(pickle.dumps(frame))
    assert there.p_values()["rate"].notna().all()
    for method in METHODS:
        pd.testing.assert_frame_equal(there.difference_test(method), frame.difference_test(method))
        pd.testing.assert_frame_equal(there.ratio_test(method), frame.ratio_test(method))
    same(there.by_group, frame.by_group)
    # Pickled once more, with nothing left to be left behind.
    pd.testing.assert_frame_equal(pickle.loads(pickle.dumps(there)).comparisons(), frame.comparisons())


def test_a_pickled_frame_whose_functions_can_be_pickled_tests_when_it_is_asked(few):
    frame = SignificanceFrame(
        metrics={"own": own_cost, "auc": roc_auc_score},
        y_true=few["y_true"],
        y_pred=few["score"],
        sensitive_features=few["sex"],
        random_state=0,
        test_params={"n_resamples": 19},
    )
    there = pickle.loads(pickle.dumps(frame))
    assert not there._cells._made
    same(there.p_values(), frame.p_values())


def test_copies_answer_as_the_frame_does_and_test_nothing(few):
    calls = []

    def watched(y_true, y_pred):
        calls.append(len(y_true))
        return float(np.mean(y_pred))

    frame = SignificanceFrame(
        metrics=watched,
        y_true=few["y_true"],
        y_pred=few["y_pred"],
        sensitive_features=few["sex"],
        test_params={"n_resamples": 19},
    )
    calls.clear()
    copies = [copy.copy(frame), copy.deepcopy(frame)]
    assert not calls
    assert len({frame.p_values(), *(each.p_values() for each in copies)}) == 1
    same(copies[1].by_group, frame.by_group)


def test_what_happens_to_the_users_arrays_afterwards_is_of_no_concern(few):
    y_true, y_pred = few["y_true"].copy(), few["y_pred"].copy()
    given = {"sensitive_features": few["sex"], "random_state": 0, "test_params": {"n_resamples": 19}}
    frame = SignificanceFrame(metrics={"own": own_cost}, y_true=y_true, y_pred=y_pred, **given)
    y_pred[:] = y_true
    expected = SignificanceFrame(metrics={"own": own_cost}, y_true=few["y_true"], y_pred=few["y_pred"], **given)
    same(frame.p_values(), expected.p_values())


def test_a_frame_shows_values_by_group_and_p_values():
    people = {
        "y_true": [1, 1, 1, 1, 0, 0, 0, 0],
        "y_pred": [1, 1, 1, 1, 0, 0, 0, 0],
        "sensitive_features": list("aaaabbbb"),
    }
    calls = []

    def share(y_true, y_pred):
        calls.append(1)
        return float(np.mean(y_pred))

    frame = SignificanceFrame(metrics={"chosen": selection_rate, "own": share, "n": count}, **people)
    called = len(calls)
    lines = repr(frame).splitlines()
    assert [line.split() for line in lines[3:7]] == [
        ["sensitive_feature_0", "chosen", "own", "n"],
        ["a", "1", "1", "4"],
        ["b", "0", "0", "4"],
        ["p-value", "0.008", "*", "p_values()"],
    ]
    assert lines[-1] == "n: the size of a group is not an average over its people: there is nothing to test"
    assert len(calls) == called
    shown = frame._repr_html_()
    assert shown.startswith('<div class="skfairtest fragment">')
    assert "0.008 *" in shown


def test_a_frame_with_control_features_shows_a_p_value_for_each_level():
    frame = SignificanceFrame(
        metrics=selection_rate, y_true=[0, 1] * 20, y_pred=[0, 1, 1, 1] * 10,
        sensitive_features={"sex": list("fm") * 20}, control_features={"city": ["x"] * 20 + ["<b>"] * 20},
    )  # fmt: skip
    assert "\n  <b>   p-value" in repr(frame)
    assert "\n  x     p-value" in repr(frame)
    assert "<bdi>&lt;b&gt;</bdi>" in frame._repr_html_()


@pytest.mark.parametrize("adjust", [None, "fdr_bh"])
@pytest.mark.parametrize("disparity", ["difference", "ratio"])
def test_limits_of_the_largest_disparity_hold_together_whatever_the_adjustment(adjust, disparity):
    """By pointwise limits the largest of 66 differences is more than 0, where the familywise p-value is 1."""
    rng = np.random.default_rng(14)
    group, y = np.repeat(np.arange(12), 20), rng.integers(0, 2, 240)
    tests = [
        getattr(
            SignificanceFrame(
                metrics=selection_rate, y_true=y, y_pred=y, sensitive_features=group, test_params={"adjust": name}
            ),
            f"{disparity}_test",
        )()
        for name in (adjust, "holm")
    ]
    ((p_value, *limits), (_, *expected)) = (test[["p_value", "ci_low", "ci_high"]].iloc[0] for test in tests)
    assert limits == expected
    assert p_value > 0.05
    assert limits[0] <= (0 if disparity == "difference" else 1) <= limits[1]
