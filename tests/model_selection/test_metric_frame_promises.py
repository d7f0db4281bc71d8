"""What MetricFrame's documentation promises, with the same assertions on both classes.

Each test names the part of fairlearn's documentation that it is about: the class docstring, the docstring of a method,
or the user guide's chapter on assessment.
"""

import functools
import operator

import numpy as np
import pandas as pd
import pytest
from fairlearn.metrics import MetricFrame, count, selection_rate
from sklearn.metrics import accuracy_score, confusion_matrix, fbeta_score, precision_score, recall_score

from skfairtest import SignificanceFrame

# The data of the docstring.
Y_TRUE = [1, 1, 1, 1, 1, 0, 0, 1, 1, 0]
Y_PRED = [0, 1, 1, 1, 1, 0, 0, 0, 1, 1]
SEX = ["Female"] * 5 + ["Male"] * 5
# That of the user guide, with a second feature for intersections: nobody is ("c", "y").
GROUP = ["d", "a", "c", "b", "b", "c", "c", "c", "b", "d", "c", "a", "b", "d", "c", "c"]
TRUE = [0, 1, 1, 1, 1, 0, 1, 0, 1, 0, 0, 1, 1, 0, 1, 0]
PRED = [0, 0, 1, 1, 1, 0, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1]
OTHER = ["x" if group == "c" else "xy"[place % 2] for place, group in enumerate(GROUP)]

METHODS = ("between_groups", "to_overall")
AGGREGATES = ("group_min", "group_max", "difference", "ratio")
INTERVALS = ("group_min_ci", "group_max_ci", "difference_ci", "ratio_ci")

pytestmark = [
    pytest.mark.parametrize("frame_class", [MetricFrame, SignificanceFrame]),
    # scikit-learn's about groups without positive people, which both classes hand on.
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning"),
]


def guide(frame_class, metrics, **changes):
    """The user guide's frame."""
    return frame_class(**{"metrics": metrics, "y_true": TRUE, "y_pred": PRED, "sensitive_features": GROUP} | changes)


# The docstring's examples ----------------------------------------------------------------------


def test_the_examples_of_the_docstring(frame_class):
    frame = frame_class(
        metrics={"selection_rate": selection_rate}, y_true=Y_TRUE, y_pred=Y_PRED, sensitive_features=SEX
    )
    assert isinstance(frame.by_group, pd.DataFrame)
    assert frame.by_group.index.name == "sensitive_feature_0"
    assert frame.by_group["selection_rate"].to_dict() == {"Female": 0.8, "Male": 0.4}
    assert frame.difference().iloc[0] == pytest.approx(0.4)
    assert frame.ratio().iloc[0] == pytest.approx(0.5)
    assert frame.group_max().iloc[0] == pytest.approx(0.8)
    frame = frame_class(
        metrics={"accuracy": accuracy_score, "selection_rate": selection_rate},
        y_true=Y_TRUE,
        y_pred=Y_PRED,
        sensitive_features=SEX,
    )
    table = pd.DataFrame(
        {
            "difference": frame.difference(),
            "ratio": frame.ratio(),
            "group_min": frame.group_min(),
            "group_max": frame.group_max(),
        }
    ).T
    expected = pd.DataFrame(
        {"accuracy": [0.2, 0.75, 0.6, 0.8], "selection_rate": [0.4, 0.5, 0.4, 0.8]},
        index=["difference", "ratio", "group_min", "group_max"],
    )
    pd.testing.assert_frame_equal(table, expected)


def test_the_numbers_of_the_user_guide(frame_class):
    """Chapter "Performing a fairness assessment": recall of four groups, here by hand."""
    frame = guide(frame_class, recall_score)
    by_hand = {
        group: np.mean([p for g, t, p in zip(GROUP, TRUE, PRED, strict=True) if g == group and t == 1] or [0])
        for group in "abcd"
    }
    assert frame.by_group.to_dict() == pytest.approx(by_hand)
    assert frame.overall == pytest.approx(np.mean([p for t, p in zip(TRUE, PRED, strict=True) if t == 1]))
    assert frame.difference() == pytest.approx(max(by_hand.values()) - min(by_hand.values()))


# metrics: callable or dict ---------------------------------------------------------------------

LEVELS = {"control_features": pd.Series(OTHER, name="level")}


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("control", [False, True])
def test_types_of_results_follow_the_table_of_overall(frame_class, several, control):
    """The table in the docstring of ``overall``, which difference, ratio, group_min and group_max refer to."""
    metrics = {"acc": accuracy_score, "sel": selection_rate} if several else accuracy_score
    frame = guide(frame_class, metrics, **(LEVELS if control else {}))
    results = [frame.overall, *(getattr(frame, name)() for name in AGGREGATES)]
    results += [getattr(frame, name)(method="to_overall") for name in ("difference", "ratio")]
    for result in results:
        if several and control:
            assert isinstance(result, pd.DataFrame)
            assert result.columns.tolist() == ["acc", "sel"]
            assert result.index.tolist() == ["x", "y"]
        elif several:
            assert isinstance(result, pd.Series)
            assert result.index.tolist() == ["acc", "sel"]
        elif control:
            assert isinstance(result, pd.Series)
            assert result.index.tolist() == ["x", "y"]
            assert result.index.name == "level"
        else:
            assert isinstance(result, float)
    assert isinstance(frame.by_group, pd.DataFrame if several else pd.Series)


def test_a_dict_of_one_metric_is_still_a_dict(frame_class):
    """Parameter ``metrics``: the distinction remains even if the dictionary only contains a single entry."""
    frame = guide(frame_class, {"acc": accuracy_score})
    assert isinstance(frame.overall, pd.Series)
    assert isinstance(frame.by_group, pd.DataFrame)
    assert isinstance(frame.difference(), pd.Series)


def test_no_metrics_at_all_are_an_empty_frame(frame_class):
    assert guide(frame_class, {}).overall.empty
    assert guide(frame_class, {}).by_group.empty


def test_a_metric_is_named_by_its_function_or_key(frame_class):
    assert guide(frame_class, accuracy_score).by_group.name == "accuracy_score"
    assert guide(frame_class, {"x": accuracy_score}).by_group.columns.tolist() == ["x"]
    with pytest.warns(UserWarning, match="no __name__ attribute"):
        frame = guide(frame_class, functools.partial(fbeta_score, beta=0.5))
    assert frame.by_group.name == "metric"


def test_further_arguments_go_by_partial(frame_class):
    """Parameter ``metrics``: ``functools.partial`` must be used for arguments such as beta."""
    frame = guide(frame_class, {"f": functools.partial(fbeta_score, beta=0.5, zero_division=0.0)})
    expected = fbeta_score(TRUE, PRED, beta=0.5)
    assert frame.overall["f"] == expected


@pytest.mark.parametrize("metrics", [None, {"a": None}, 5, {"a": "accuracy"}])
def test_what_is_no_function_is_a_value_error(frame_class, metrics):
    with pytest.raises(ValueError, match=r"'None' instead of metric function|not callable"):
        guide(frame_class, metrics)


# y_true and y_pred -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "container",
    [
        list,
        np.array,
        pd.Series,
        lambda v: pd.Series(v, index=range(100, 100 + len(v))),
        lambda v: pd.DataFrame({"y": v}),
        lambda v: np.array(v)[:, None],
    ],
    ids=["list", "array", "series", "other index", "frame", "column"],
)
def test_labels_come_in_any_container_and_are_paired_by_position(frame_class, container):
    frame = guide(frame_class, accuracy_score, y_true=container(TRUE), y_pred=pd.Series(PRED)[::-1][::-1])
    pd.testing.assert_series_equal(frame.by_group, guide(MetricFrame, accuracy_score).by_group)


def test_predictions_may_be_probabilities_of_classes(frame_class):
    """The class docstring: it is perfectly possible to pass in lists of class probability tuples."""
    rows = [(0.2, 0.8) if label else (0.7, 0.3) for label in PRED]

    def mean_probability(y_true, y_pred):
        assert y_pred.shape == (len(y_true), 2)
        return float(y_pred[np.arange(len(y_true)), y_true].mean())

    frame = guide(frame_class, mean_probability, y_pred=rows)
    assert frame.overall == pytest.approx(np.mean([row[t] for row, t in zip(rows, TRUE, strict=True)]))


def test_different_lengths_are_a_value_error(frame_class):
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        guide(frame_class, accuracy_score, y_true=TRUE[:-1])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        guide(frame_class, accuracy_score, sensitive_features=GROUP[:-1])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        guide(frame_class, accuracy_score, control_features=GROUP[:-1])


# Features --------------------------------------------------------------------------------------

TWO = {
    "dict": lambda: {"one": GROUP, "two": OTHER},
    "frame": lambda: pd.DataFrame({"one": GROUP, "two": OTHER}),
    "array": lambda: np.array([GROUP, OTHER]).T,
}


@pytest.mark.parametrize("container", TWO)
def test_several_sensitive_features_are_crossed_and_empty_intersections_are_nan(frame_class, container):
    """The docstring of ``by_group``: a combination that was not present is NaN."""
    frame = guide(frame_class, {"acc": accuracy_score}, sensitive_features=TWO[container]())
    names = ["sensitive_feature_0", "sensitive_feature_1"] if container == "array" else ["one", "two"]
    assert frame.by_group.index.names == names
    assert frame.sensitive_levels == names
    assert frame.control_levels is None
    assert frame.by_group.index.tolist() == [(one, two) for one in "abcd" for two in "xy"]
    assert np.isnan(frame.by_group.loc[("c", "y"), "acc"])
    assert not frame.by_group.drop([("c", "y"), *frame.by_group.index[frame.by_group["acc"].isna()]]).empty
    assert frame.difference()["acc"] == frame.by_group["acc"].max() - frame.by_group["acc"].min()


def test_control_features_split_the_results_and_are_not_aggregated(frame_class):
    """The class docstring: aggregations produce a result for each subgroup of the control features."""
    frame = guide(frame_class, {"acc": accuracy_score}, control_features={"level": OTHER})
    assert frame.control_levels == ["level"]
    assert frame.by_group.index.names == ["level", "sensitive_feature_0"]
    for level in "xy":
        there = [place for place, other in enumerate(OTHER) if other == level]
        alone = guide(
            frame_class,
            {"acc": accuracy_score},
            y_true=[TRUE[i] for i in there],
            y_pred=[PRED[i] for i in there],
            sensitive_features=[GROUP[i] for i in there],
        )
        assert frame.overall.loc[level, "acc"] == alone.overall["acc"]
        assert frame.difference().loc[level, "acc"] == alone.difference()["acc"]
        assert frame.ratio(method="to_overall").loc[level, "acc"] == alone.ratio(method="to_overall")["acc"]
    assert np.isnan(frame.by_group.loc[("y", "c"), "acc"])


def test_names_of_control_features_without_a_name(frame_class):
    frame = guide(frame_class, accuracy_score, control_features=np.array([OTHER, GROUP]).T)
    assert frame.control_levels == ["control_feature_0", "control_feature_1"]


@pytest.mark.parametrize(
    ("features", "message"),
    [
        ({"sensitive_features": pd.DataFrame({0: GROUP})}, "DataFrame column names must be strings"),
        ({"sensitive_features": pd.Series(GROUP, name=7)}, "Series name must be a string"),
        ({"sensitive_features": [[g] for g in GROUP]}, "Feature lists must be of scalar types"),
        ({"sensitive_features": np.zeros((16, 2, 2))}, "too many dimensions"),
        ({"sensitive_features": {"a": np.zeros((16, 2))}}, "from_dict.. failed on sensitive features"),
        (
            {"sensitive_features": pd.Series(GROUP, name="a"), "control_features": pd.Series(OTHER, name="a")},
            "Detected duplicate feature name: 'a'",
        ),
    ],
    ids=["frame", "series", "list", "dimensions", "dict", "twice"],
)
def test_wrong_features_are_a_value_error(frame_class, features, message):
    with pytest.raises(ValueError, match=message):
        guide(frame_class, accuracy_score, **features)


# sample_params ---------------------------------------------------------------------------------

WEIGHT = [1.0 + place % 3 for place in range(16)]


def test_sample_params_are_split_with_the_people(frame_class):
    frame = guide(frame_class, accuracy_score, sample_params={"sample_weight": WEIGHT})
    assert frame.overall == accuracy_score(TRUE, PRED, sample_weight=WEIGHT)
    for group in "abcd":
        there = [place for place, g in enumerate(GROUP) if g == group]
        true, pred, weight = ([column[i] for i in there] for column in (TRUE, PRED, WEIGHT))
        assert frame.by_group[group] == accuracy_score(true, pred, sample_weight=weight)


def test_sample_params_of_a_dict_are_nested_and_may_be_none(frame_class):
    frame = guide(
        frame_class,
        {"weighted": accuracy_score, "none": accuracy_score, "plain": accuracy_score},
        sample_params={"weighted": {"sample_weight": WEIGHT}, "none": {"sample_weight": None}},
    )
    assert frame.overall["weighted"] == accuracy_score(TRUE, PRED, sample_weight=WEIGHT)
    assert frame.overall["none"] == frame.overall["plain"] == accuracy_score(TRUE, PRED)


@pytest.mark.parametrize(
    ("metrics", "params", "message"),
    [
        (accuracy_score, ["sample_weight"], "Sample parameters must be a dictionary"),
        ({"a": accuracy_score}, {"a": [1]}, "Sample parameters must be a dictionary"),
        ({"a": accuracy_score}, {"b": {}}, "Keys in 'sample_params' do not match those in 'metric'"),
    ],
    ids=["list", "inner list", "key"],
)
def test_wrong_sample_params_are_a_value_error(frame_class, metrics, params, message):
    with pytest.raises(ValueError, match=message):
        guide(frame_class, metrics, sample_params=params)


def test_an_error_of_a_metric_is_the_users_to_see(frame_class):
    def raises(y_true, y_pred):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        guide(frame_class, raises)


# errors= and what is not a number -----------------------------------------------------------------

ARRAYS = {"matrix": functools.partial(confusion_matrix, labels=[0, 1]), "acc": accuracy_score}


def test_metrics_may_return_arrays(frame_class):
    """The class docstring: non-scalar return types are supported; aggregation is not well defined."""
    frame = guide(frame_class, ARRAYS)
    assert frame.overall["matrix"].shape == (2, 2)
    assert frame.by_group["matrix"]["a"].shape == (2, 2)


@pytest.mark.parametrize("name", ["group_min", "group_max", "difference", "ratio"])
def test_errors_raise_or_are_coerced(frame_class, name):
    """Parameter ``errors`` of the aggregates."""
    frame = guide(frame_class, ARRAYS)
    with pytest.raises(ValueError, match="Metric frame contains non-scalar cells"):
        getattr(frame, name)(errors="raise")
    coerced = getattr(frame, name)(errors="coerce")
    assert np.isnan(coerced["matrix"])
    assert coerced["acc"] == getattr(guide(frame_class, {"acc": accuracy_score}), name)()["acc"]
    levels = guide(frame_class, ARRAYS, **LEVELS)
    with pytest.raises(ValueError, match="Metric frame contains non-scalar cells"):
        getattr(levels, name)(errors="raise")
    assert getattr(levels, name)(errors="coerce")["matrix"].isna().all()


def test_group_min_and_max_raise_by_default_and_disparities_coerce(frame_class):
    frame = guide(frame_class, ARRAYS)
    for name in ("group_min", "group_max"):
        with pytest.raises(ValueError, match="Metric frame contains non-scalar cells"):
            getattr(frame, name)()
    for name in ("difference", "ratio"):
        assert np.isnan(getattr(frame, name)()["matrix"])


@pytest.mark.parametrize("name", AGGREGATES)
def test_an_unknown_errors_is_a_value_error(frame_class, name):
    with pytest.raises(ValueError, match=r"Invalid error value specified\. Valid values are"):
        getattr(guide(frame_class, accuracy_score), name)(errors="ignore")


@pytest.mark.parametrize("name", ["difference", "ratio", "difference_ci", "ratio_ci"])
def test_an_unknown_method_is_a_value_error(frame_class, name):
    with pytest.raises(ValueError, match="Unrecognised comparison method: to_nobody"):
        getattr(guide(frame_class, accuracy_score), name)(method="to_nobody")


# Aggregates ------------------------------------------------------------------------------------


def test_aggregates_are_what_their_docstrings_say(frame_class):
    frame = guide(frame_class, {"sel": selection_rate, "prec": functools.partial(precision_score, zero_division=0.0)})
    by_group, overall = frame.by_group, frame.overall
    pd.testing.assert_series_equal(frame.group_min(), by_group.min())
    pd.testing.assert_series_equal(frame.group_max(), by_group.max())
    pd.testing.assert_series_equal(frame.difference(), by_group.max() - by_group.min())
    pd.testing.assert_series_equal(frame.difference(method="to_overall"), (by_group - overall).abs().max())
    pd.testing.assert_series_equal(frame.ratio(), by_group.min() / by_group.max())
    ratios = by_group / overall
    expected = ratios.where(ratios <= 1, 1 / ratios).min()
    pd.testing.assert_series_equal(frame.ratio(method="to_overall"), expected)


def test_count_is_a_metric(frame_class):
    frame = guide(frame_class, {"count": count})
    assert frame.by_group["count"].to_dict() == {g: GROUP.count(g) for g in "abcd"}
    assert frame.overall["count"] == len(GROUP)


# Bootstrap -------------------------------------------------------------------------------------


@pytest.mark.parametrize("control", [False, True])
@pytest.mark.parametrize("several", [False, True])
def test_bootstrapped_limits_are_lists_of_what_the_methods_return(frame_class, several, control):
    frame = frame_class(
        metrics={"acc": accuracy_score, "sel": selection_rate} if several else accuracy_score,
        y_true=TRUE * 8,
        y_pred=PRED * 8,
        sensitive_features=SEX_OF_ALL,
        control_features=LEVEL_OF_ALL if control else None,
        n_boot=4,
        ci_quantiles=[0.1, 0.5, 0.9],
        random_state=0,
    )
    assert (frame.n_boot, frame.ci_quantiles) == (4, [0.1, 0.5, 0.9])
    pairs = [(frame.overall, frame.overall_ci), (frame.by_group, frame.by_group_ci)]
    pairs += [(getattr(frame, n)(), getattr(frame, ci)()) for n, ci in zip(AGGREGATES, INTERVALS, strict=True)]
    for method in METHODS:
        pairs += [(frame.difference(method=method), frame.difference_ci(method=method))]
        pairs += [(frame.ratio(method=method), frame.ratio_ci(method=method))]
    for result, limits in pairs:
        assert isinstance(limits, list)
        assert len(limits) == 3
        for limit in limits:
            assert isinstance(limit, float if isinstance(result, float) else type(result))
            assert np.shape(limit) == np.shape(result)
        assert (np.asarray(limits[0]) <= np.asarray(limits[2])).all()


SEX_OF_ALL = ["f", "m"] * 64
LEVEL_OF_ALL = pd.Series((["x", "x", "y"] * 43)[:128], name="level")


@pytest.mark.parametrize("seed", [4, np.random.RandomState])
def test_the_same_seed_bootstraps_the_same(frame_class, seed):
    limits = [
        guide(
            frame_class,
            accuracy_score,
            sensitive_features=["f", "m"] * 8,
            n_boot=5,
            ci_quantiles=[0.5],
            random_state=seed if isinstance(seed, int) else seed(4),
        ).difference_ci()
        for _ in range(2)
    ]
    assert limits[0] == limits[1]


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_boot": 10}, "Must specify both n_boot and ci_quantiles"),
        ({"ci_quantiles": [0.5]}, "Must specify both n_boot and ci_quantiles"),
        ({"n_boot": 0, "ci_quantiles": [0.5]}, "Must have n_boot be a positive integer"),
        ({"n_boot": 2.5, "ci_quantiles": [0.5]}, "Must have n_boot be a positive integer"),
        ({"n_boot": 10, "ci_quantiles": [0.0]}, r"Must have all ci_quantiles be floats in \(0, 1\)"),
        ({"n_boot": 10, "ci_quantiles": [1]}, r"Must have all ci_quantiles be floats in \(0, 1\)"),
        ({"n_boot": 2, "ci_quantiles": [0.5], "random_state": "seed"}, "Unsupported random_state"),
    ],
)
def test_wrong_parameters_of_the_bootstrap_are_a_value_error(frame_class, params, message):
    with pytest.raises(ValueError, match=message):
        guide(frame_class, accuracy_score, **params)


@pytest.mark.parametrize("name", ["overall_ci", "by_group_ci", *INTERVALS])
def test_limits_without_a_bootstrap_are_a_value_error(frame_class, name):
    frame = guide(frame_class, accuracy_score)
    with pytest.raises(ValueError, match="n_boot and ci_quantiles were not specified"):
        operator.methodcaller(name)(frame)  # of a property it is the access that raises


def test_a_bootstrap_of_arrays_is_a_value_error(frame_class):
    """The docstring of ``difference_ci``: a bootstrapped MetricFrame requires all metrics to return scalars."""
    with pytest.raises(ValueError, match="non-scalar"):
        guide(frame_class, ARRAYS, sensitive_features=["f", "m"] * 8, n_boot=2, ci_quantiles=[0.5], random_state=0)


# The rest of the interface ---------------------------------------------------------------------


def test_arguments_are_keywords(frame_class):
    with pytest.raises(TypeError, match=r"positional argument|nothing by position"):
        frame_class(accuracy_score, TRUE, PRED, sensitive_features=GROUP)


def test_it_is_a_metric_frame(frame_class):
    assert isinstance(guide(frame_class, accuracy_score), MetricFrame)


def test_properties_cannot_be_set(frame_class):
    frame = guide(frame_class, accuracy_score)
    for name in ("overall", "by_group", "control_levels", "sensitive_levels", "ci_quantiles", "n_boot"):
        with pytest.raises(AttributeError):
            setattr(frame, name, None)
