"""The table of counts: what it holds, how it is built from people, and how it is rearranged."""

import copy
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest

from skfairtest.readers import read_column
from skfairtest.tables import CountTable

Y_TRUE = [0, 1, 1, 0, 1, 1]
Y_PRED = [0, 1, 0, 0, 1, 1]
SEX = ["f", "m", "f", "m", "f", "m"]
AGE = ["old", "old", "young", "young", "young", "old"]


@pytest.fixture
def table():
    return CountTable.from_predictions(Y_TRUE, Y_PRED, sensitive_features={"sex": SEX}, control_features={"age": AGE})


def test_counts_are_strata_by_groups_by_cells(table):
    assert table.strata == (("old",), ("young",))
    assert table.groups == (("f",), ("m",))
    assert table.cells == ((0, 0), (1, 0), (1, 1))
    assert table.cell_names == ("y_true", "y_pred")
    assert table.sensitive_names == ("sex",)
    assert table.control_names == ("age",)
    assert table.counts.tolist() == [[[1, 0, 0], [0, 0, 2]], [[0, 1, 1], [1, 0, 0]]]
    assert table.counts.dtype == np.int64
    assert table.n_samples == 6


def test_labels_are_scalars_for_one_feature_and_tuples_for_several(table):
    assert table.group_labels == ["f", "m"]
    assert table.stratum_labels == ["old", "young"]
    both = table.regroup(["sex", "age"], control_features=[])
    assert both.group_labels == [("f", "old"), ("f", "young"), ("m", "old"), ("m", "young")]
    assert both.strata == ((),)
    assert both.stratum_labels == [()]


@pytest.mark.parametrize("given", [("y_true",), ("y_pred",), ("y_score",), ("y_pred", "y_score")])
def test_any_of_the_labels_and_scores_will_do(given):
    values = dict.fromkeys(given, Y_PRED)
    table = CountTable.from_predictions(**values, sensitive_features=SEX)
    assert table.cell_names == given
    assert table.cells == ((0,) * len(given), (1,) * len(given))


def test_scores_may_be_fractions_with_few_values():
    table = CountTable.from_predictions(Y_TRUE, y_score=[0.1, 0.5] * 3, sensitive_features=SEX)
    assert table.cells == ((0, 0.1), (0, 0.5), (1, 0.1), (1, 0.5))


def test_columns_that_were_read_before_are_taken_as_they_are(table):
    again = CountTable.from_predictions(
        read_column(Y_TRUE, "y"),
        read_column(Y_PRED, "X"),
        sensitive_features=read_column(SEX, "s", name="sex"),
        control_features=[read_column(AGE, "c", name="age")],
    )
    assert again == table


@pytest.mark.parametrize("n_features", [5, 40])
def test_many_features_are_counted_without_a_huge_array(n_features):
    rng = np.random.default_rng(0)
    n_levels = 40 if n_features == 5 else 8
    features = rng.integers(0, n_levels, (300, n_features))
    people = np.repeat(features, 2, axis=0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("skfairtest.readers.columns.WARN_GROUPS", 100)
        table = CountTable.from_predictions(y_pred=[0, 1] * 300, sensitive_features=people)
    assert table.counts.tolist() == [[[1, 1]] * 300]
    assert table.groups == tuple(sorted(map(tuple, features.tolist())))


def test_too_many_combinations_are_an_error_that_says_how_many():
    ids = np.arange(10_000)
    towns = (ids % 100).astype(str)
    with (
        pytest.warns(UserWarning, match="100 distinct values"),
        pytest.raises(ValueError, match="10,000 strata x 100 groups x 100 cells are too many"),
    ):
        CountTable.from_predictions(y_score=ids // 100, sensitive_features=towns, control_features=ids)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"y_true": None, "y_pred": None}, "y_true, y_pred and y_score are all missing: pass one"),
        ({"y_pred": [0.2, 0.4] * 3}, r"y_pred looks like scores.*0\.2, 0\.4"),
        ({"y_true": Y_TRUE[:5]}, "y_true and y_pred have different lengths, 5 and 6"),
        ({"sensitive_features": SEX[:5]}, "y_true and sensitive_features .* lengths, 6 and 5"),
        ({"control_features": AGE[:5]}, "y_true and control_features .* lengths, 6 and 5"),
        ({"y_true": [None, *Y_TRUE[1:]]}, "y_true has 1 missing value among 6"),
        ({"sensitive_features": {"sex": [None] * 6}}, r"\(column 'sex'\) has 6 missing values"),
        ({"control_features": pl.Series("a", [None] * 6)}, r"control_features \(column 'a'\)"),
        ({"sensitive_features": None}, "sensitive_features is None"),
        ({"sensitive_features": "sex"}, "sensitive_features is the string 'sex'"),
        ({"control_features": {"sex": AGE}}, "hold several columns named 'sex'"),
        ({"control_features": {"count": AGE}}, "a feature is named 'count'"),
        ({"sensitive_features": {"y_true": SEX}}, "a feature is named 'y_true'"),
        ({"y_score": list("abcdef")}, "y_score must hold numbers, found 'a', 'b', 'c', ..."),
    ],
)
def test_bad_input_is_an_error_that_names_it(changes, message):
    arguments = {"y_true": Y_TRUE, "y_pred": Y_PRED, "sensitive_features": {"sex": SEX}}
    with pytest.raises(ValueError, match=message):
        CountTable.from_predictions(**{**arguments, **changes})


def test_more_than_1000_scores_are_too_many_to_count():
    scores = np.linspace(0, 1, 1001)
    with pytest.raises(ValueError, match=r"y_score has 1,001 distinct values.*at most 1000"):
        CountTable.from_predictions(y_score=scores, sensitive_features=scores > 0.5)


def test_the_constructor_takes_a_table_in_any_order(table):
    again = CountTable(
        table.counts[::-1, ::-1, ::-1],
        strata=table.strata[::-1],
        groups=table.groups[::-1],
        cells=table.cells[::-1],
        sensitive_names=["sex"],
        control_names=["age"],
    )
    assert again == table
    assert again.groups == table.groups


def test_the_constructor_adds_up_what_is_listed_twice_and_leaves_out_what_is_empty():
    table = CountTable(
        [[[1, 0], [2, 0], [0, 0]]],
        groups=[("f",), ("f",), ("m",)],
        cells=[(0,), (1,)],
        sensitive_names=["sex"],
        cell_names=["y_pred"],
    )
    assert (table.counts.tolist(), table.groups, table.cells) == ([[[3]]], (("f",),), ((0,),))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"counts": [[1, 2]]}, r"counts has shape \(1, 2\), but .* lengths \(1, 1, 2\)"),
        ({"counts": [[[1, -2]]]}, "counts must hold numbers of people.*found -2"),
        ({"counts": [[[1, 0.5]]]}, r"counts must hold numbers of people.*found 0\.5"),
        ({"counts": [[[0, 0]]]}, "holds no people"),
        ({"groups": ["f"]}, "groups must hold tuples.*found 'f'"),
        ({"groups": [("f", "old")]}, r"groups must hold tuples.*\('sex',\).*'old'"),
        ({"groups": [(None,)]}, r"groups \(column 'sex'\) has 1 missing value"),
        ({"cell_names": ("y_pred", "y_true"), "cells": [(0, 0), (1, 1)]}, "in this order"),
        ({"cell_names": ("y",)}, "cell_names must be of"),
        ({"cell_names": (), "cells": [(), ()]}, "y_score are all missing"),
        ({"sensitive_names": (), "groups": [()]}, "sensitive_features has no columns"),
        ({"cells": [(0.5,), (1,)]}, "y_pred looks like scores"),
    ],
)
def test_an_array_that_is_no_table_is_an_error(changes, message):
    arguments = {
        "counts": [[[1, 2]]],
        "groups": [("f",)],
        "cells": [(0,), (1,)],
        "sensitive_names": ("sex",),
        "cell_names": ("y_pred",),
    }
    CountTable(**arguments)
    with pytest.raises(ValueError, match=message):
        CountTable(**{**arguments, **changes})


def test_a_table_cannot_be_changed(table):
    with pytest.raises(ValueError, match="read-only"):
        table.counts[0, 0, 0] = 5
    with pytest.raises(AttributeError):
        table.groups = ()


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda t: pickle.loads(pickle.dumps(t))])
def test_copies_are_equal_and_cannot_be_changed_either(table, copied):
    assert copied(table) == table
    assert not copied(table).counts.flags.writeable


def test_tables_are_equal_by_value_and_not_hashable(table):
    assert table == table.merge()
    assert table != table + table
    assert table != table.regroup(control_features=[])
    assert table != "table"
    with pytest.raises(TypeError, match="unhashable"):
        hash(table)


def test_repr_says_what_was_counted(table):
    assert repr(table) == ("CountTable(6 people, 2 strata of age, 2 groups of sex, 3 cells of y_true x y_pred)")
    one = CountTable.from_predictions(y_pred=[1], sensitive_features={"sex": ["f"], "age": [3]})
    assert repr(one) == "CountTable(1 person, 1 group of sex x age, 1 cell of y_pred)"


def test_to_frame_has_a_row_for_every_combination_that_somebody_has(table):
    frame = table.to_frame()
    assert frame.columns.tolist() == ["age", "sex", "y_true", "y_pred", "count"]
    assert frame.to_numpy().tolist() == [
        ["old", "f", 0, 0, 1],
        ["old", "m", 1, 1, 2],
        ["young", "f", 1, 0, 1],
        ["young", "f", 1, 1, 1],
        ["young", "m", 0, 0, 1],
    ]
    assert frame["y_true"].dtype == np.int64


def test_merge_treats_equal_labels_of_several_types_as_one():
    first = CountTable.from_predictions(y_pred=[True, False], sensitive_features=["a", "b"])
    second = CountTable.from_predictions(y_pred=[1, 0.0], sensitive_features=["a", "b"])
    both = first + second
    assert list(map(repr, both.labels)) == ["0", "1"]
    assert both == second + first
    assert both.counts.tolist() == [[[0, 2], [2, 0]]]
    assert first == second


def test_merge_of_other_columns_is_an_error(table):
    with pytest.raises(ValueError, match=r"same columns; control_names are \('age',\) and \(\)"):
        table.merge(table.regroup(control_features=[]))
    with pytest.raises(ValueError, match="merge takes CountTables, found DataFrame"):
        table.merge(table.to_frame())
    with pytest.raises(TypeError):
        table + 1


def test_regroup_moves_features_between_roles():
    people = {"sex": SEX, "age": AGE}
    both = CountTable.from_predictions(Y_TRUE, Y_PRED, sensitive_features=people)
    expected = CountTable.from_predictions(
        Y_TRUE, Y_PRED, sensitive_features={"sex": SEX}, control_features={"age": AGE}
    )
    assert both.regroup("sex", "age") == expected
    assert both.regroup(control_features="age") == expected
    assert expected.regroup(["sex", "age"]) == both
    assert expected.regroup(["age"], control_features="sex").control_names == ("sex",)
    assert expected.regroup() == expected


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("race",), "sensitive_features='race' is not a feature of the table, which has 'sex', 'age'"),
        (("sex", "sex"), "named 'sex': give each feature its own name and one role"),
        ((["sex", "sex"],), "sensitive_features lists 'sex' twice"),
        (([1],), r"sensitive_features takes names of columns \(strings\), found 1"),
        (([],), "sensitive_features has no columns"),
        ((None, "sex"), "sensitive_features has no columns"),
    ],
)
def test_regroup_by_what_is_not_there_is_an_error(table, arguments, message):
    with pytest.raises(ValueError, match=message):
        table.regroup(*arguments)


def test_marginal_sums_over_cells(table):
    assert table.marginal("y_pred") == CountTable.from_predictions(
        y_pred=Y_PRED, sensitive_features={"sex": SEX}, control_features={"age": AGE}
    )
    assert table.marginal(["y_pred", "y_true"]) == table
    with pytest.raises(ValueError, match="'y_score' is not among the cells, which are 'y_true'"):
        table.marginal("y_score")


def test_a_feature_of_a_weighted_table_is_not_called_weight():
    frame = pd.DataFrame({"weight": ["light", "heavy"] * 3, "hired": [0, 1, 1] * 2, "w": 1.5})
    with pytest.raises(ValueError, match="sensitive_features: a feature is named 'weight'"):
        CountTable.from_frame(frame, y_pred="hired", sensitive_features="weight", sample_weight="w")
    assert CountTable.from_frame(frame, y_pred="hired", sensitive_features="weight").n_samples == 6


def test_tables_with_and_without_weights_do_not_add():
    frame = pd.DataFrame({"sex": list("fm"), "hired": [0, 1], "w": [1.0, 2.0]})
    asked = {"y_pred": "hired", "sensitive_features": "sex"}
    weighted, plain = (CountTable.from_frame(frame, sample_weight=w, **asked) for w in ("w", None))
    with pytest.raises(ValueError, match="only one of them has weights"):
        weighted + plain
    twice = weighted + weighted
    np.testing.assert_array_equal(twice.weights, 2 * weighted.weights)
    assert list(weighted.to_frame()) == ["sex", "y_pred", "count", "weight", "squared_weight"]


def scored(scores, edges=(0.25, 0.5), groups="ab"):
    frame = pd.DataFrame({"s": scores, "g": (list(groups) * len(scores))[: len(scores)], "y": 0})
    return CountTable.from_frame(frame, y_true="y", y_score="s", score_bins=list(edges), sensitive_features="g")


def test_tables_with_the_same_edges_add_and_bins_have_the_mean_of_all():
    first, second = scored([0.0, 0.125, 0.375, 0.75]), scored([0.125, 0.25, 0.25, 0.5, 1.0])
    both = first + second
    assert both == second + first
    everybody = scored([0.0, 0.125, 0.375, 0.75, 0.125, 0.25, 0.25, 0.5, 1.0], groups="ababababa")
    assert np.array_equal(both.counts, everybody.counts)
    np.testing.assert_allclose(both.score_bins.values, everybody.score_bins.values, rtol=1e-15)
    with pytest.raises(ValueError, match="score_bins differ between the tables to add"):
        first + scored([0.1, 0.9], edges=(0.3,))
