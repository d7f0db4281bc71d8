"""ProPublica's published tables and the shipped counts.

The expected counts are ProPublica's ("Machine Bias", 2016; truth tables of the repository
``propublica/compas-analysis`` for all, Black and White defendants); those of the other groups
were counted from the same file, ``compas-scores-two-years.csv``.
"""

import numpy as np
import pandas as pd
import pytest

from benchmarks.make_compas_counts import TARGET, count_people
from skfairtest import CountTable
from skfairtest.datasets import load_compas

# (column, group): TN, FP, FN, TP
PUBLISHED = {
    ("race", "African-American"): (990, 805, 532, 1369),
    ("race", "Asian"): (21, 2, 3, 6),
    ("race", "Caucasian"): (1139, 349, 461, 505),
    ("race", "Hispanic"): (318, 87, 129, 103),
    ("race", "Native American"): (5, 3, 1, 9),
    ("race", "Other"): (208, 36, 90, 43),
    ("sex", "Female"): (609, 288, 195, 303),
    ("sex", "Male"): (2072, 994, 1021, 1732),
}
ALL = (2681, 1282, 1216, 2035)


def confusion(y_true, y_pred):
    return tuple(int(((y_true == truth) & (y_pred == prediction)).sum()) for truth in (0, 1) for prediction in (0, 1))


def test_everyone_together_gives_the_published_truth_table():
    compas = load_compas()
    assert confusion(compas.y_true, compas.y_pred) == ALL


@pytest.mark.parametrize(("column", "group"), PUBLISHED)
def test_each_group_gives_the_published_truth_table(column, group):
    compas = load_compas()
    rows = (compas.sensitive_features[column] == group).to_numpy()
    assert confusion(compas.y_true[rows], compas.y_pred[rows]) == PUBLISHED[column, group]


def test_the_groups_are_all_there_and_no_others():
    features = load_compas().sensitive_features
    assert list(features.columns) == ["race", "sex", "age_cat"]
    named = {(column, group) for column in ("race", "sex") for group in features[column].unique()}
    assert named == set(PUBLISHED)
    assert set(features["age_cat"]) == {"Less than 25", "25 - 45", "Greater than 45"}


def test_the_arrays_have_one_entry_per_person():
    compas = load_compas()
    for name in ("y_true", "y_pred", "decile_score"):
        values = compas[name]
        assert values.shape == (7214,)
        assert values.dtype == np.int64
    assert compas.sensitive_features.shape == (7214, 3)
    assert list(compas.sensitive_features.index) == list(range(7214))


def test_medium_or_high_is_a_decile_of_five_or_more():
    compas = load_compas()
    assert set(compas.decile_score) == set(range(1, 11))
    np.testing.assert_array_equal(compas.y_pred, compas.decile_score >= 5)


def test_loading_twice_gives_equal_but_separate_data():
    first, second = load_compas(), load_compas()
    first.y_true[:] = 7
    assert set(second.y_true) == {0, 1}
    pd.testing.assert_frame_equal(first.sensitive_features, second.sensitive_features)


def test_the_description_names_its_source():
    description = load_compas().DESCR
    assert "propublica/compas-analysis" in description
    assert "bafff5da3f2e45eca6c2d5055faad269defd135a" in description


def test_the_table_counts_everyone():
    table = load_compas(as_table=True)
    assert isinstance(table, CountTable)
    assert table.counts.sum() == 7214


@pytest.mark.parametrize(("column", "group"), PUBLISHED)
def test_the_table_gives_each_group_its_published_truth_table(column, group):
    cells = load_compas(as_table=True).to_frame()
    counts = cells[cells[column] == group].groupby(["y_true", "y_pred"])["count"].sum()
    assert tuple(counts) == PUBLISHED[column, group]


def test_the_table_keeps_the_deciles():
    cells = load_compas(as_table=True).to_frame()
    deciles = np.bincount(load_compas().decile_score)[1:]
    assert list(cells.groupby("y_score")["count"].sum()) == list(deciles)


def test_the_shipped_counts_are_those_of_the_raw_records(raw_data):
    pd.testing.assert_frame_equal(count_people(pd.read_csv(raw_data("compas.csv"))), pd.read_csv(TARGET))
