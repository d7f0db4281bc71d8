"""Every container gives the same columns; everything else is an error that says what to do."""

import re
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.sparse import csr_array

from skfairtest import (
    AdjustedFairnessTest,
    CountTable,
    FairnessAudit,
    FairnessTest,
    SequentialFairnessTest,
    impact_table,
)
from skfairtest._utils.errors import ParameterError
from skfairtest.readers import (
    Numbers,
    check_same_people,
    read_column,
    read_columns,
)
from skfairtest.readers.columns import read_groups

SERIES = {
    "list": list,
    "tuple": tuple,
    "numpy": np.array,
    "numpy object": lambda v: np.array(v, dtype=object),
    "pandas": pd.Series,
    "pandas object": lambda v: pd.Series(v, dtype=object),
    "pandas category": lambda v: pd.Series(v).astype("category"),
    "pandas index": pd.Index,
    "pandas array": lambda v: pd.Series(v).array,
    "pandas arrow": lambda v: pa.array(v).to_pandas(types_mapper=pd.ArrowDtype),
    "polars": pl.Series,
    "pyarrow": pa.array,
    "pyarrow chunked": lambda v: pa.chunked_array([v[:1], v[1:]]),
    "pyarrow dictionary": lambda v: pa.array(v).dictionary_encode(),
}
VALUES = {
    "str": (["m", "f", "日本", "m"], ("f", "m", "日本")),
    "words for missing": (["nan", "None", "NA", ""], ("", "NA", "None", "nan")),
    "int": ([3, 1, 2, 1], (1, 2, 3)),
    "bool": ([True, False, True, True], (False, True)),
    "float": ([0.5, 0.0, 1.0, 0.5], (0.0, 0.5, 1.0)),
}
MISSING = {
    "list None": ["a", None, "b", None],
    "list nan": ["a", float("nan"), "b", np.nan],
    "tuple NA": (1, pd.NA, 2, pd.NaT),
    "decimal": [Decimal(1), Decimal("nan"), 2, Decimal("nan")],
    "numpy float": np.array([1, np.nan, 0, np.nan]),
    "numpy object": np.array(["a", None, np.nan, "b"], dtype=object),
    "numpy date": np.array(["2020-01-01", "NaT", "NaT"], dtype="datetime64[D]"),
    "numpy masked": np.ma.array([1, 2, 3], mask=[0, 1, 1]),
    "pandas str": pd.Series(["a", None, "b", None]),
    "pandas object": pd.Series(["a", None, pd.NA], dtype=object),
    "pandas float": pd.Series([1, np.nan, 0, np.nan]),
    "pandas Int64": pd.Series([1, None, 0, None], dtype="Int64"),
    "pandas boolean": pd.Series([True, None, None], dtype="boolean"),
    "pandas string": pd.Series(["a", None, None], dtype="string"),
    "pandas category": pd.Series(["a", None, None], dtype="category"),
    "pandas arrow": pd.Series([1.0, np.nan, None], dtype=pd.ArrowDtype(pa.float64())),
    "polars str": pl.Series(["a", None, "b", None]),
    "polars null and nan": pl.Series([1.0, None, float("nan")]),
    "polars bool": pl.Series([True, None, None]),
    "pyarrow": pa.array([1, None, 2, None]),
    "pyarrow bool": pa.array([True, None, None]),
    "pyarrow chunked": pa.chunked_array([["a", None], [None]]),
    "pyarrow dictionary": pa.array(["a", None, None]).dictionary_encode(),
}


@pytest.mark.parametrize("kind", VALUES)
@pytest.mark.parametrize("container", SERIES)
def test_every_container_gives_the_same_column(container, kind):
    values, levels = VALUES[kind]
    column = read_column(SERIES[container](values), "y_true")
    assert column.levels == levels
    assert [type(level) for level in column.levels] == [type(level) for level in levels]
    assert [column.levels[code] for code in column.codes] == values
    assert len(column) == len(values)
    assert column.name == "y_true"


@pytest.mark.parametrize("container", MISSING)
def test_missing_values_are_an_error_that_names_the_column_and_how_many(container):
    values = MISSING[container]
    with pytest.raises(ValueError, match=rf"^y_true has 2 missing values among {len(values)}"):
        read_column(values, "y_true")
    with pytest.raises(ValueError, match=r"sensitive_features \(column 'sex'\) has 2 missing"):
        read_columns({"sex": values}, "sensitive_features", default_name="s")


@pytest.mark.parametrize("kind", [None, [("sex", int), ("age", int)]], ids=["array", "records"])
def test_masked_values_of_tables_are_missing(kind):
    values = [(1, 2), (3, 4), (5, 6)]
    data = np.ma.array(values, dtype=kind, mask=[(False, True), (False, False), (False, False)])
    with pytest.raises(ValueError, match="has 1 missing value among 3"):
        read_columns(data, "sensitive_features", default_name="s")


def test_arrow_dictionaries_with_unsigned_indices_are_read_by_value():
    indices = pa.array([1, 0, None], pa.uint32())
    values = pa.DictionaryArray.from_arrays(indices, ["b", "a"])
    assert read_column(values[:2], "y_true").levels == ("a", "b")
    with pytest.raises(ValueError, match="1 missing value"):
        read_column(values, "y_true")


def test_whatever_turns_into_an_array_is_read_as_one():
    class Tensor:
        ndim = 2

        def __len__(self):
            return 2

        def __array__(self, dtype=None, copy=None):
            return np.array([[1, 2], [3, 4]])

    first, second = read_columns(Tensor(), "sensitive_features", default_name="s")
    assert (first.levels, second.levels) == ((1, 3), (2, 4))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (None, "y_true is None: pass one value per person"),
        ("sex", r"y_true is the string 'sex': columns cannot be looked up.*df\['sex'\]"),
        ([], "y_true is empty: at least one person"),
        (np.zeros((2, 3)), r"one dimension.*ndarray of shape \(2, 3\)"),
        (np.zeros((2, 1)), r"one dimension.*ndarray of shape \(2, 1\)"),
        (np.array(1), r"one dimension.*shape \(\)"),
        ([[1], [0]], "one dimension.*list of list"),
        (pd.DataFrame({"a": [1]}), r"one dimension.*DataFrame of shape \(1, 1\)"),
        (pl.DataFrame({"a": [1]}), "one dimension.*DataFrame"),
        (pa.table({"a": [1]}), "one dimension.*Table"),
        ({"a": [1]}, "one dimension.*type dict"),
        (pd.MultiIndex.from_tuples([(1, 2)]), "MultiIndex: pass one of its levels"),
        (5, "one value per person; found type int"),
        ({1, 2}, "one value per person; found type set"),
        (iter([1, 2]), "one value per person; found type list_iterator"),
        (csr_array(np.eye(2)), r"one dimension.*csr_array of shape \(2, 2\)"),
        ([{1}, {2}], "y_true holds values that cannot be compared.*unhashable"),
        (pa.array([[1], [2]]), "y_true holds values that cannot be compared.*unhashable"),
    ],
)
def test_what_is_not_one_value_per_person_is_an_error(data, message):
    with pytest.raises(ValueError, match=message):
        read_column(data, "y_true")


def test_the_pandas_index_is_kept_and_others_have_none():
    series = pd.Series([1, 0], index=["x", "y"])
    assert read_column(series, "y_true").index is series.index
    assert read_column(pl.Series([1, 0]), "y_true").index is None
    assert read_column(pa.array([1, 0]), "y_true").index is None


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (pd.Series([1], name="sex"), "sex"),
        (pd.Series([1], name=3), "3"),
        (pd.Index([1], name="sex"), "sex"),
        (pl.Series("sex", [1]), "sex"),
        (pd.Series([1]), "sensitive_feature_0"),
        (pd.Series([1], name=""), "sensitive_feature_0"),
        (pl.Series([1]), "sensitive_feature_0"),
        (pa.chunked_array([[1]]), "sensitive_feature_0"),
        ([1], "sensitive_feature_0"),
        (np.array([1]), "sensitive_feature_0"),
    ],
)
def test_names_survive_or_are_fairlearns(data, name):
    (column,) = read_columns(data, "sensitive_features", default_name="sensitive_feature")
    assert column.name == name


FRAME = {"sex": ["f", "m", "f"], "age": [1, 1, 2]}
ROWS = [["f", 1], ["m", 1], ["f", 2]]


@pytest.mark.parametrize(
    "data",
    [
        FRAME,
        pd.DataFrame(FRAME),
        pl.DataFrame(FRAME),
        pa.table(FRAME),
        pa.RecordBatch.from_pydict(FRAME),
        {"sex": pl.Series(FRAME["sex"]), "age": np.array(FRAME["age"])},
        np.array(list(map(tuple, ROWS)), dtype=[("sex", "U1"), ("age", int)]),
    ],
    ids=lambda data: type(data).__name__,
)
def test_tables_with_names_are_read_column_by_column(data):
    sex, age = read_columns(data, "sensitive_features", default_name="s")
    assert (sex.name, sex.levels, sex.codes.tolist()) == ("sex", ("f", "m"), [0, 1, 0])
    assert (age.name, age.levels, age.codes.tolist()) == ("age", (1, 2), [0, 0, 1])


@pytest.mark.parametrize(
    "data",
    [ROWS, tuple(map(tuple, ROWS)), np.array(ROWS, dtype=object)],
    ids=["list of rows", "tuple of rows", "array"],
)
def test_tables_without_names_are_numbered(data):
    sex, age = read_columns(data, "sensitive_features", default_name="s")
    assert (sex.name, sex.levels, age.name, age.levels) == ("s_0", ("f", "m"), "s_1", (1, 2))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (None, "^sensitive_features is None"),
        ("sex", "^sensitive_features is the string 'sex'"),
        ({"a": "sex"}, r"^sensitive_features \(column 'a'\) is the string"),
        ({}, "has no columns"),
        (pd.DataFrame(), "has no columns"),
        (np.zeros((3, 0)), "has no columns"),
        ([[1, 2], [1]], r"rows of different lengths \[1, 2\]"),
        ([pd.Series([1]), pd.Series([2])], "list of Series.*DataFrame or a dict"),
        (np.zeros((2, 2, 2)), r"shape \(2, 2, 2\)"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "several columns named 'a'"),
        ({"1": [0], 1: [0]}, "several columns named '1'"),
        ({"a": [1, 2], "b": [1]}, r"different lengths \{'a': 2, 'b': 1\}"),
        (pl.LazyFrame({"a": [1]}), r"lazy frame.*\.collect\(\)"),
    ],
)
def test_what_is_not_a_table_is_an_error(data, message):
    with pytest.raises(ValueError, match=message):
        read_columns(data, "sensitive_features", default_name="s")


def _read_groups(n):
    return read_groups({"town": np.arange(n).astype(str)}, None)[0]


def test_more_than_200_groups_are_an_error():
    with pytest.raises(ValueError, match=r"'town' has 201 distinct.*column == value"):
        _read_groups(201)


def _columns(**named):
    return {name: read_column(values, name) for name, values in named.items()}


def test_different_lengths_are_an_error_with_both_names_and_both_lengths():
    with pytest.raises(ValueError, match="y_true and y_pred have different lengths, 2 and 3"):
        check_same_people(_columns(y_true=[1, 0], y_pred=[1, 0, 1]))


def test_raw_arrays_are_compared_too():
    groups = read_columns(FRAME, "sensitive_features", default_name="s")
    named = {"y": groups[0], "sensitive_features": groups, "sample_weight": np.ones(2)}
    with pytest.raises(ValueError, match="y and sample_weight have different lengths, 3 and 2"):
        check_same_people(named)
    check_same_people({"y": groups[0], "X": csr_array(np.eye(3)), "clusters": None})


def test_misaligned_columns_of_one_parameter_are_named():
    data = {"sex": pd.Series([1, 0]), "age": pd.Series([1, 0], index=[1, 0])}
    columns = read_columns(data, "sensitive_features", default_name="s")
    message = re.escape("sensitive_features['sex'] and sensitive_features['age'] have pandas indexes")
    with pytest.raises(ValueError, match=message):
        check_same_people({"sensitive_features": columns})


@pytest.mark.parametrize(
    ("data", "categorical"),
    [
        ([1, 2, 1], False),
        ([True, False, True], False),
        (np.array([0.5, 1.5, 0.5]), False),
        (pd.Series([1, 2, 1]), False),
        (pl.Series([1, 2, 1]), False),
        (pa.array([1, 2, 1]), False),
        (["1", "2", "1"], True),
        (np.array(["1", "2", "1"]), True),
        (pd.Series(["1", "2", "1"], dtype=object), True),
        (pd.Series(["1", "2", "1"], dtype="string"), True),
        (pd.Series([1, 2, 1], dtype="category"), True),
        (pd.Categorical([1, 2, 1]), True),
        (pd.CategoricalIndex([1, 2, 1]), True),
        (pd.Series([1, 2, 1], dtype=pd.ArrowDtype(pa.dictionary(pa.int32(), pa.int64()))), True),
        (pl.Series(["1", "2", "1"], dtype=pl.Categorical), True),
        (pl.Series(["1", "2", "1"], dtype=pl.Enum(["1", "2"])), True),
        (pa.array([1, 2, 1]).dictionary_encode(), True),
        (pa.chunked_array([[1, 2, 1]]).dictionary_encode(), True),
    ],
    ids=lambda value: f"{type(value).__module__.split('.')[0]} {getattr(value, 'dtype', getattr(value, 'type', ''))}",
)
def test_categories_of_numbers_are_told_from_numbers(data, categorical):
    column = read_column(data, "group")
    assert column.categorical is categorical
    assert column.take(np.array([0, 2])).categorical is categorical
    assert read_columns({"group": data}, "groups", default_name="g")[0].categorical is categorical


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        ([3, 1, 2], "i"),
        ([0.5, 2.5, 1.5], "f"),
        ([True, False, True], "b"),
        (["b", "a", "cc"], "U"),
        ([1, "a", True], "O"),
        ([("a", 1), ("b", 2), ("a", 2)], "O"),
        ([b"a", b"b", b"c"], "O"),
        (pd.to_datetime(["2020-01-02", "2020-01-01", "2020-01-03"]), "O"),
    ],
    ids=["int", "float", "bool", "str", "mixed", "tuples", "bytes", "dates"],
)
def test_values_are_what_was_written(data, kind):
    values = read_column(pd.Series(data, dtype=object) if kind == "O" else data, "it").values
    assert values.dtype.kind == kind
    assert values.tolist() == list(data)


@pytest.mark.parametrize("rows", [np.array([True, False, True]), np.array([2, 0]), np.array([0, 0, 1, 2])])
def test_some_people_keep_their_values_and_the_labels_of_their_rows(rows):
    series = pd.Series(["b", "a", "b"], index=["p", "q", "r"], name="sex")
    column = read_column(series, "it").take(rows)
    assert column.name == "sex"
    assert column.levels == ("a", "b")
    pd.testing.assert_series_equal(
        pd.Series(column.values, column.index, name="sex").astype(object),
        series.iloc[np.arange(3)[rows]].astype(object),
    )
    numbers = Numbers("age", np.array([1.0, 2.0, 3.0]), series.index).take(rows)
    assert numbers.values.tolist() == np.array([1.0, 2.0, 3.0])[rows].tolist()
    assert numbers.index.equals(series.index[rows])
    assert Numbers("age", np.array([1.0, 2.0, 3.0])).take(rows).index is None
    assert read_column([1, 2, 1], "it").take(rows).index is None


AGES = np.arange(60) + 18
HALF = np.tile([0, 1], 30)


@pytest.mark.parametrize(
    "door",
    [
        lambda ages: FairnessTest.from_predictions(None, HALF, sensitive_features=ages, metric="selection_rate"),
        lambda ages: CountTable.from_predictions(None, HALF, sensitive_features=ages),
        lambda ages: FairnessAudit.from_predictions(None, HALF, sensitive_features=ages),
        lambda ages: SequentialFairnessTest().partial_fit(y_pred=HALF, sensitive_features=ages),
        lambda ages: impact_table(HALF, sensitive_features=ages),
        lambda ages: AdjustedFairnessTest.from_predictions(None, HALF, covariates=HALF, sensitive_features=ages),
    ],
)
@pytest.mark.parametrize(
    "of", [np.array, lambda ages: ages / 10, lambda ages: ["young" if age == 18 else int(age) for age in ages]]
)
def test_more_than_20_numbers_are_no_groups(door, of):
    with pytest.raises(ParameterError, match=r"'age' has (59|60) different numbers, more than 20.*CorrelationFairness"):
        door({"age": of(AGES)})


@pytest.mark.filterwarnings("ignore:sensitive_features. column 'age' has 60 distinct:UserWarning")
@pytest.mark.parametrize("of", [lambda ages: ages.astype(str), pd.Categorical, lambda ages: ages % 20])
def test_numbers_that_are_names_or_few_are_groups(of):
    columns = read_groups({"age": of(AGES)}, None)[0]
    assert len(columns[0].levels) in (20, 60)
