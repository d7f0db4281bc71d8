"""Every row of the design's table of bad input: the message names what, how many, and what to do."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.exceptions import DataConversionWarning, UndefinedMetricWarning
from sklearn.linear_model import LinearRegression, LogisticRegression

from skfairtest import CountTable, FairnessAudit, FairnessTest, make_fairness_scorer

GOOD = {
    "y_true": [0, 1, 1, 0, 1, 0, 0, 1],
    "y_pred": [0, 1, 0, 0, 1, 1, 0, 1],
    "sensitive_features": {"sex": list("ffffmmmm")},
    "control_features": {"site": list("xxyyxxyy")},
}


def run(**changes):
    """Test the good people with some arguments changed."""
    arguments = {**GOOD, **changes}
    return FairnessTest.from_predictions(arguments.pop("y_true"), arguments.pop("y_pred"), **arguments)


def test_the_good_people_are_good():
    assert 0 < run().p_value_ <= 1


# Missing values -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, pd.NaT])
@pytest.mark.parametrize(
    ("argument", "named"),
    [
        ("y_true", "y_true"),
        ("y_pred", "y_pred"),
        ("sensitive_features", "'sex'"),
        ("control_features", "'site'"),
    ],
)
def test_a_missing_value_is_an_error_that_names_the_column_and_how_many(argument, named, missing):
    good = GOOD[argument]
    values = next(iter(good.values())) if isinstance(good, dict) else good
    holed = [values[0], missing, missing, *values[3:]]
    changed = {next(iter(good)): holed} if isinstance(good, dict) else holed
    with pytest.raises(ValueError, match=rf"{argument}.* has 2 missing values among 8") as error:
        run(**{argument: changed})
    assert named in str(error.value)


def test_a_missing_label_is_an_error_even_where_the_metric_does_not_read_it():
    with pytest.raises(ValueError, match="y_true has 1 missing value"):
        run(y_true=[*GOOD["y_true"][:-1], None], metric="selection_rate")


def test_missing_values_of_polars_are_missing():
    with pytest.raises(ValueError, match=r"'sex'.*1 missing"):
        run(sensitive_features=pl.DataFrame({"sex": ["f", None, "f", "f", "m", "m", "m", "m"]}))


# Lengths and indexes --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("argument", list(GOOD))
def test_different_lengths_are_an_error_with_both_lengths(argument):
    good = GOOD[argument]
    shorter = {name: values[:-1] for name, values in good.items()} if isinstance(good, dict) else good[:-1]
    with pytest.raises(ValueError, match=r"different lengths, (8 and 7|7 and 8)"):
        run(**{argument: shorter})


def test_a_fold_of_the_labels_with_the_groups_of_everyone_is_an_error_with_both_lengths():
    # What cross-validation does with an array it does not know how to cut.
    fold = [0, 2, 4, 6]
    with pytest.raises(ValueError, match="4 and 8"):
        run(y_true=np.array(GOOD["y_true"])[fold], y_pred=np.array(GOOD["y_pred"])[fold], control_features=None)


def shuffled(values):
    """The same labels of an index in another order."""
    return pd.Series(values).iloc[::-1]


def test_pandas_indexes_in_another_order_are_an_error():
    with pytest.raises(
        ValueError, match=r"y_true and y_pred have pandas indexes that hold the same labels in another order.*align"
    ):
        run(y_true=pd.Series(GOOD["y_true"]), y_pred=shuffled(GOOD["y_pred"]))


def test_pandas_indexes_that_overlap_partly_are_an_error():
    sex = pd.Series(list("ffffmmmm"), index=range(2, 10), name="sex")
    with pytest.raises(
        ValueError, match=r"sensitive_features have pandas indexes that share 6 of 8 labels.*align them.*or pass arrays"
    ):
        run(y_pred=pd.Series(GOOD["y_pred"]), sensitive_features=sex)


def test_pandas_indexes_without_a_common_label_are_paired_by_position():
    sex = pd.Series(list("ffffmmmm"), index=range(100, 108), name="sex")
    assert run(y_pred=pd.Series(GOOD["y_pred"]), sensitive_features=sex).p_value_ == run().p_value_


# Groups ---------------------------------------------------------------------------------------------------------------


def test_one_group_only_is_an_error_that_names_it():
    with pytest.raises(ValueError, match=r"sensitive_features \(sex\) holds one group only, 'f'.*at least two groups"):
        run(sensitive_features={"sex": ["f"] * 8})


def test_two_groups_of_which_one_is_one_person_are_an_error_with_the_sizes():
    with pytest.raises(ValueError, match=r"two groups of 2 or more people; found 'f': 7, 'm': 1"):
        run(sensitive_features={"sex": ["f"] * 7 + ["m"]})


def test_a_third_group_of_one_person_is_left_out_with_a_warning():
    groups = ["f"] * 4 + ["m"] * 3 + ["x"]
    with pytest.warns(UserWarning, match=r"x left out of comparisons, having fewer than 2 people; see excluded_"):
        test = run(sensitive_features={"sex": groups}, metric="selection_rate", control_features=None)
    (row,) = test.excluded_.itertuples()
    assert (row.group, row.n) == ("x", 1)
    assert "fewer than 2 people" in row.reason
    assert {*test.comparisons_["group"], *test.comparisons_["other"]} == {"f", "m"}
    assert list(test.by_group_.index) == ["f", "m", "x"]  # shown all the same
    assert test.groups_ == ["f", "m", "x"]
    assert "fewer than 2 people" in str(test)


@pytest.mark.parametrize(("compare", "comparisons"), [("between_groups", 2), ("to_rest", 1), ("to_overall", 1)])
def test_a_group_of_one_person_is_listed_with_the_comparisons_that_it_would_have_had(selected, compare, comparisons):
    table = selected({"a": (3, 9), "b": (4, 9), "x": (1, 1)})
    with pytest.warns(UserWarning, match="x left out"):
        test = FairnessTest.from_table(table, metric="selection_rate", compare=compare)
    assert test.excluded_["comparisons"].tolist() == [comparisons]


def test_no_groups_at_all_is_an_error_with_the_lines_to_type():
    with pytest.raises(ValueError, match=r"sensitive_features is missing.*fit\(X, y, sensitive_features=df\['sex'\]\)"):
        FairnessTest().fit(GOOD["y_pred"], GOOD["y_true"])


@pytest.mark.parametrize("argument", ["sensitive_features", "control_features"])
def test_the_name_of_a_column_is_not_the_column(argument):
    with pytest.raises(ValueError, match=rf"{argument} is the string 'sex': .*df\['sex'\]"):
        run(**{argument: "sex"})


def test_more_than_20_numbers_are_an_error_that_points_to_the_correlation_test():
    ages = np.arange(202) / 2
    with pytest.raises(ValueError, match=r"'age' has 202 different numbers, more than 20. Use CorrelationFairnessTest"):
        FairnessTest.from_predictions(
            None, [0, 1] * 202, sensitive_features={"age": np.tile(ages, 2)}, metric="selection_rate"
        )


def test_more_than_20_groups_are_a_warning():
    with pytest.warns(UserWarning, match="'town' has 21 distinct values"):
        FairnessTest.from_predictions(
            None, [0, 1] * 42, sensitive_features={"town": [*map(str, range(21))] * 4}, metric="selection_rate",
            method="asymptotic",
        )  # fmt: skip


def test_100_groups_and_20_groups_are_let_through():
    towns = {"town": list(range(20)) * 2}
    FairnessTest.from_predictions(None, [0, 1] * 20, sensitive_features=towns, metric="selection_rate")
    with pytest.warns(UserWarning, match="100 distinct values"):
        FairnessTest.from_predictions(
            None,
            [0, 1] * 100,
            sensitive_features=[*map(str, range(100))] * 2,
            metric="selection_rate",
            compare="to_rest",
        )


# Undefined rates ------------------------------------------------------------------------------------------------------


def test_an_undefined_rate_is_nan_with_a_warning_and_a_row_of_excluded():
    y_pred = [0, 0, 0, 0, 1, 1, 0, 1]  # nobody of f is predicted positive
    groups = {"sex": list("ffffmmmm")}
    with pytest.warns(UndefinedMetricWarning, match=r"precision of f is undefined.*see excluded_"):
        test = run(
            y_pred=y_pred, sensitive_features=groups, control_features=None, metric=["precision", "selection_rate"]
        )
    row = test.by_group_.loc[("precision", "f")]
    assert np.isnan(row["value"])
    assert np.isnan(row["ci_low"])
    assert (row["n"], row["n_effective"], row["small"]) == (4, 0, True)
    assert list(test.comparisons_["metric"]) == ["selection_rate"]
    (excluded,) = test.excluded_.itertuples()
    assert (excluded.metric, excluded.group, excluded.n, excluded.n_effective) == ("precision", "f", 4, 0)
    assert (excluded.stratum, excluded.comparisons) == (None, 1)
    assert "undefined" in str(test)


def test_a_rate_undefined_in_one_stratum_is_excluded_there_only():
    y_pred = [0, 0, 1, 0, 1, 1, 0, 1]  # nobody of f is predicted positive at site x
    with pytest.warns(UndefinedMetricWarning, match=r"precision of f \(x\)"):
        test = run(y_pred=y_pred, metric="precision")
    assert list(test.comparisons_["stratum"]) == [None, "y"]
    (excluded,) = test.excluded_.itertuples()
    assert (excluded.group, excluded.stratum, excluded.n) == ("f", "x", 2)


def test_no_defined_comparison_at_all_is_an_error_with_the_reason():
    with pytest.raises(ValueError, match=r"no comparison is defined.*people predicted positive"):
        run(y_pred=[0] * 8, metric="precision")


def test_a_ratio_of_two_zeros_is_undefined():
    groups = {"sex": list("ffffmmxx")}
    with pytest.warns(UndefinedMetricWarning, match="ratio is undefined"):
        test = run(
            y_pred=[0, 1, 1, 0, 0, 0, 0, 0],
            sensitive_features=groups,
            control_features=None,
            metric="selection_rate",
            disparity="ratio",
        )
    assert test.comparisons_["disparity"].isna().tolist() == [False, False, True]  # f-m, f-x and m-x
    assert test.excluded_.empty


# Labels ---------------------------------------------------------------------------------------------------------------


def test_three_labels_are_an_error_that_lists_them():
    with pytest.raises(ValueError, match=r"not binary, there are 3, 0, 1, 2"):
        run(y_pred=[0, 1, 2, 0, 1, 1, 0, 1])


@pytest.mark.parametrize(
    ("labels", "listed"), [(["granted", "denied"], "'denied', 'granted'"), ([1, 2], "1, 2"), ([0, 2], "0, 2")]
)
def test_nobody_guesses_which_label_is_positive(labels, listed):
    words = [labels[y] for y in GOOD["y_pred"]]
    with pytest.raises(ValueError, match=rf"pos_label is needed.*{listed}"):
        run(y_true=words, y_pred=words)


def test_a_pos_label_that_nobody_has_is_an_error_that_lists_the_labels():
    with pytest.raises(ValueError, match=r"pos_label='yes' is not among the labels: 0, 1"):
        run(pos_label="yes")


@pytest.mark.parametrize("argument", ["y_true", "y_pred"])
def test_fractions_are_scores_and_not_labels(argument):
    with pytest.raises(ValueError, match=rf"{argument} looks like scores"):
        run(**{argument: [0.1, 0.9, 0.2, 0.3, 0.8, 0.7, 0.4, 0.6]})


@pytest.mark.parametrize(
    "metric", ["equalized_odds", "selection_rate", ["f2", "mean_residual"], "accuracy", "balanced_accuracy", "f1_macro"]
)
@pytest.mark.parametrize("truth", [[1.5, 2.5, 0.5, 3.0, 4.5, 1.0, 0.0, 2.0], [3, 1, 4, 1, 5, 9, 2, 6]])
def test_predictions_of_a_regressor_are_told_the_metrics_of_numbers(metric, truth):
    with pytest.raises(ValueError, match=r"^y_pred holds numbers.*'mean_residual', 'mean_squared_error'.*'r2'"):
        run(y_true=truth, y_pred=[1.1, 2.2, 0.4, 3.1, 4.4, 1.2, 0.3, 2.1], metric=metric)
    X = np.arange(8)[:, None]
    with pytest.raises(ValueError, match=r"^y_pred holds numbers"):
        FairnessTest(LinearRegression().fit(X, truth), metric=metric).fit(X, truth, sensitive_features=list("aabb" * 2))


def test_a_metric_of_scores_tells_a_regressor_which_metric_of_its_numbers_there_is():
    X, truth = np.arange(8)[:, None], np.arange(8) % 2
    test = FairnessTest(LinearRegression().fit(X, truth), metric="roc_auc")
    with pytest.raises(ValueError, match=r"has no decision_function.*metric of predicted numbers.*mean_squared_error"):
        test.fit(X, truth, sensitive_features=list("aabb" * 2))


COLUMNS = {
    "array": lambda values: np.reshape(values, (-1, 1)),
    "pandas": lambda values: pd.DataFrame({"y": values}),
    "polars": lambda values: pl.DataFrame({"y": values}),
    "arrow": lambda values: pa.table({"y": values}),
}


@pytest.mark.parametrize("container", COLUMNS)
@pytest.mark.parametrize("cls", [FairnessTest, FairnessAudit])
def test_one_column_of_labels_is_read_as_scikit_learns_metrics_read_it(cls, container):
    truth, label, group = [1, 0, 1, 1, 0, 0, 1, 0] * 5, [1, 0, 0, 1, 0, 1, 1, 1] * 5, list("aaaabbbb") * 5
    column = COLUMNS[container]
    plain = cls.from_predictions(truth, label, sensitive_features={"g": group})
    found = cls.from_predictions(column(truth), column(label), sensitive_features={"g": group})
    pd.testing.assert_frame_equal(found.to_frame(), plain.to_frame())


def test_one_column_of_labels_in_fit_has_the_warning_of_scikit_learns_estimators(compas):
    X = np.asarray(compas.decile_score)[::20, None].astype(float)
    y, race = np.asarray(compas.y_true)[::20], compas.sensitive_features["sex"][::20]
    model = LogisticRegression().fit(X, y)
    plain = FairnessTest(model).fit(X, y, sensitive_features=race)
    with pytest.warns(DataConversionWarning, match="column-vector y"):
        found = FairnessTest(model).fit(X, y[:, None], sensitive_features=race)
    assert found.p_value_ == plain.p_value_
    scorer = make_fairness_scorer("equalized_odds")  # scikit-learn's scorers do not warn
    assert scorer(model, X, y[:, None], sensitive_features=race) == scorer(model, X, y, sensitive_features=race)
    with pytest.raises(ValueError, match="X is a table"):  # a column of ages is no prediction
        FairnessTest().fit(y[:, None], y, sensitive_features=race)


def test_a_pandas_column_keeps_the_index_that_is_compared():
    y = pd.DataFrame({"y": [1, 0] * 4}, index=range(8))
    with pytest.raises(ValueError, match=r"align|order"):
        FairnessTest.from_predictions(
            y, pd.Series([1, 0] * 4, index=range(7, -1, -1)), sensitive_features=list("aaaabbbb")
        )


@pytest.mark.parametrize("metric", ["true_positive_rate", "f1_macro"])
@pytest.mark.parametrize("given", ["sample_weight", "clusters"])
def test_nobody_with_weights_or_clusters_is_advised_to_use_a_test_that_there_is_not(metric, given):
    values = [1.0, 2.0] * 10 if given == "sample_weight" else list(range(20))
    with pytest.warns(UserWarning, match=f"no test with {given} is exact") as warned:
        FairnessTest.from_predictions(
            [1, 1, 0, 1] * 5, [1, 0, 0, 1] * 5, sensitive_features=list("aabbb") * 4, metric=metric, random_state=0,
            n_resamples=99, **{given: values},
        )  # fmt: skip
    assert not any("has an exact test" in str(one.message) for one in warned)


def test_labels_are_needed_where_the_metric_reads_them():
    with pytest.raises(ValueError, match=r"y is missing: .*true_positive_rate.*cannot be computed without it"):
        run(y_true=None)
    assert run(y_true=None, metric="selection_rate").n_samples_ == 8


def test_within_y_true_needs_the_labels_too():
    with pytest.raises(ValueError, match=r"y is missing: within='y_true' cannot be computed without it"):
        run(y_true=None, metric="selection_rate", within="y_true")


# Tables ---------------------------------------------------------------------------------------------------------------


def test_a_table_without_the_cells_that_the_metric_reads_is_an_error(selected):
    with pytest.raises(ValueError, match=r"table has no y_true, which true_positive_rate.* its cells are y_pred"):
        FairnessTest.from_table(selected({"a": (1, 5), "b": (2, 5)}))


@pytest.mark.parametrize("table", [None, "table", {"a": 1}, pd.DataFrame({"a": [1]})])
def test_only_a_count_table_is_a_table(table):
    with pytest.raises(ValueError, match=rf"table must be a CountTable, found {type(table).__name__}"):
        FairnessTest.from_table(table)


def test_a_table_with_scores_is_summed_over_them(compas_table, compas):
    test = FairnessTest.from_table(compas_table.regroup("sex"), metric="accuracy")
    rows = FairnessTest.from_predictions(
        compas.y_true, compas.y_pred, sensitive_features=compas.sensitive_features["sex"], metric="accuracy"
    )
    pd.testing.assert_frame_equal(test.comparisons_, rows.comparisons_)


# Parameters -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["compare", "disparity", "alternative", "method", "variance", "within", "adjust"])
@pytest.mark.parametrize("value", ["nonsense", 3, ["auto"]])
def test_a_value_that_is_not_offered_is_an_error_that_lists_those_that_are(name, value):
    with pytest.raises(ValueError, match=rf"{name} must be one of '.*found ") as error:
        run(**{name: value})
    assert repr(value) in str(error.value)


@pytest.mark.parametrize("value", [0, 1, -0.1, 95, "0.95", None, np.nan])
def test_a_confidence_level_lies_between_0_and_1(value):
    with pytest.raises(ValueError, match="confidence_level must be a number between 0 and 1"):
        run(confidence_level=value)


@pytest.mark.parametrize("value", [0, -5, 10.5, "many", True, None])
def test_n_resamples_is_a_positive_integer(value):
    with pytest.raises(ValueError, match="n_resamples must be an integer of at least 1"):
        run(n_resamples=value)


@pytest.mark.parametrize("value", ["seed", 1.5, -1])
def test_a_random_state_is_a_seed_or_a_generator(value):
    with pytest.raises(ValueError, match=r"random_state must"):
        run(random_state=value)


@pytest.mark.parametrize("value", [-0.1, 1, 1.5, "0.1", True, np.nan])
def test_a_margin_of_a_difference_lies_in_0_to_1(value):
    with pytest.raises(ValueError, match="margin"):
        run(margin=value)


@pytest.mark.parametrize("value", [0, -0.5, 1.25, "0.8", True, np.nan])
def test_a_margin_of_a_ratio_lies_above_0_and_at_most_at_1(value):
    with pytest.raises(ValueError, match="margin"):
        run(margin=value, disparity="ratio")


@pytest.mark.parametrize(
    ("margin", "others"),
    [
        ((-0.1, 0.1, 0.1), {}),
        ((None, None), {}),
        ((0, 0), {}),
        ((0.1, 0.2), {}),
        ((0.1, -0.1), {}),
        ((-1, None), {}),
        ((np.nan, None), {}),
        (("low", None), {}),
        ((-0.1, None), {"alternative": "two-sided"}),
        ((1.1, None), {"disparity": "ratio"}),
        ((0, None), {"disparity": "ratio"}),
    ],
)
def test_a_margin_of_two_ends_has_one_on_either_side_of_equality(margin, others):
    with pytest.raises(ValueError, match="the lowest and the highest disparity that are tolerated"):
        run(**{"margin": margin, "alternative": "equivalence", **others})


def test_equivalence_needs_a_margin():
    with pytest.raises(ValueError, match="margin is missing: alternative='equivalence' needs"):
        run(alternative="equivalence")
    with pytest.raises(ValueError, match="margin=0 leaves no disparity"):
        run(alternative="equivalence", margin=0)
    with pytest.raises(ValueError, match="margin=1 leaves no disparity"):
        run(alternative="equivalence", margin=1, disparity="ratio")


def test_a_reference_group_is_used_with_to_reference_only():
    with pytest.raises(ValueError, match="reference_group='f' is only used with compare='to_reference'"):
        run(reference_group="f", compare="to_rest")
    assert set(run(reference_group="f").comparisons_["other"]) == {"f"}  # it follows
    with pytest.raises(ValueError, match="compare='to_reference' needs reference_group"):
        run(compare="to_reference")
    with pytest.raises(ValueError, match=r"reference_group='x' is not a group; the groups are 'f', 'm'"):
        run(compare="to_reference", reference_group="x")


def test_a_reference_group_of_one_person_is_an_error():
    with pytest.raises(ValueError, match="reference_group='x' has fewer than 2 people"):
        run(sensitive_features={"sex": list("fffmmmmx")}, compare="to_reference", reference_group="x")


@pytest.mark.parametrize("alternative", ["greater", "less"])
def test_a_direction_needs_two_groups_or_something_to_compare_with(alternative):
    groups = {"sex": list("ffmmmxxx")}
    with pytest.raises(ValueError, match=rf"alternative='{alternative}'.*3 groups.*to_reference"):
        run(sensitive_features=groups, alternative=alternative)
    assert run(sensitive_features=groups, alternative=alternative, compare="to_rest", metric="accuracy").p_value_ > 0


@pytest.mark.parametrize("params", [{"variance": "delta"}, {"variance": None}, {"within": None}, {"within": "y_true"}])
@pytest.mark.parametrize("method", ["exact", "asymptotic"])
def test_an_enumerated_law_takes_no_other_statistic(method, params):
    with pytest.raises(ValueError, match=rf"method='{method}'.*method='permutation'"):
        run(method=method, **params)


def test_a_margin_has_no_permutation_law():
    with pytest.raises(ValueError, match="method='permutation' tests equality"):
        run(method="permutation", margin=0.1)
    with pytest.raises(ValueError, match="adjust must be one of 'auto', 'holm', 'bonferroni', 'fdr_bh', None"):
        run(adjust="max_t")


def test_the_bootstrap_permutes_nothing_and_needs_a_plug_in_error():
    with pytest.raises(ValueError, match=r"within='y_true'.*method='bootstrap' permutes none"):
        run(method="bootstrap", within="y_true")
    with pytest.raises(ValueError, match=r"variance='score'.*variance='delta'"):
        run(method="bootstrap", variance="score")


def test_too_few_resamples_are_a_warning_with_the_smallest_p_value_reachable(selected):
    table = selected({"a": (5, 20), "b": (6, 20), "c": (7, 20)})
    params = {"metric": "selection_rate", "method": "permutation", "adjust": "holm", "random_state": 0}
    enough = 20 * 3 - 1
    with pytest.warns(UserWarning, match=rf"n_resamples={enough - 1} cannot reject at 0\.05.*smallest"):
        FairnessTest.from_table(table, n_resamples=enough - 1, **params)
    test = FairnessTest.from_table(table, n_resamples=enough, **params)
    assert test.n_resamples_ == enough


def test_the_smallest_p_value_named_is_the_smallest_reachable(selected):
    table = selected({"a": (0, 50), "b": (50, 50)})
    with pytest.warns(UserWarning, match=r"can reach is 0\.1;"):
        test = FairnessTest.from_table(table, metric="selection_rate", method="permutation", n_resamples=9)
    assert test.p_value_ == pytest.approx(0.1)


def test_features_that_share_a_name_are_an_error():
    with pytest.raises(ValueError, match="'sex'"):
        run(control_features={"sex": list("xxyyxxyy")})


def test_nobody_is_an_error():
    with pytest.raises(ValueError, match="empty"):
        run(y_true=[], y_pred=[], sensitive_features=[], control_features=None)
    with pytest.raises(ValueError, match="no people"):
        CountTable.from_counts({("a", 1): 0}, names=("group", "y"), y_pred="y", sensitive_features="group")
