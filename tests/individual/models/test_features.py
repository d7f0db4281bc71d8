"""Tables become floats and the same tables again, with categories; pipelines are taken apart at what encodes."""

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.sparse import csr_array, csr_matrix
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, PolynomialFeatures, StandardScaler, TargetEncoder

from skfairtest.individual.features import read_features
from skfairtest.individual.model import affine, encoded_model

AGES, MEMBERS = [23, 61, 40], [True, False, True]
VALUES = np.array([[23.0, 1.0], [61.0, 0.0], [40.0, 1.0]])
ROWS = [list(row) for row in zip(AGES, MEMBERS, strict=True)]
NAMED = {
    "pandas": pd.DataFrame({"age": AGES, "member": MEMBERS}, index=pd.Index(["p", "q", "r"], name="who")),
    "polars": pl.DataFrame({"age": AGES, "member": MEMBERS}),
    "arrow": pa.table({"age": AGES, "member": MEMBERS}),
    "dict": {"age": AGES, "member": MEMBERS},
    "dict of arrays": {"age": np.array(AGES), "member": pd.Series(MEMBERS)},
}
NAMELESS = {
    "array": VALUES,
    "whole numbers": VALUES.astype(int),
    "booleans and numbers": np.array(ROWS, dtype=object),
    "single precision by columns": np.asfortranarray(VALUES, dtype=np.float32),
    "rows": ROWS,
    "tuple of rows": tuple(map(tuple, ROWS)),
}


@pytest.mark.parametrize("X", [*NAMED.values(), *NAMELESS.values()], ids=[*NAMED, *NAMELESS])
def test_every_container_holds_the_same_numbers(X):
    features = read_features(X)
    assert features.values.dtype == np.float64
    assert features.values.flags.c_contiguous
    assert np.array_equal(features.values, VALUES)
    assert len(features) == 3


def test_what_is_read_shares_no_memory_with_the_table():
    X = VALUES.copy()
    read_features(X).values[:] = 0
    assert np.array_equal(X, VALUES)


def test_a_pandas_frame_is_rebuilt_with_its_columns_and_index():
    X = NAMED["pandas"]
    features = read_features(X)
    assert features.index.equals(X.index)
    pd.testing.assert_frame_equal(features.rebuild(2 * VALUES), 2.0 * X.astype(float))


def test_labels_of_columns_that_are_no_strings_stay_what_they_are():
    X = pd.DataFrame([[1, 2]], columns=pd.Index([7, 3], name="code"))
    features = read_features(X)
    assert features.names == ("7", "3")
    for rebuilt in (features.rebuild(features.values), features.as_input(features.values)):
        pd.testing.assert_index_equal(rebuilt.columns, X.columns)
    both = pd.MultiIndex.from_tuples([("a", 1), ("a", 2)])
    assert read_features(pd.DataFrame([[1, 2]], columns=both)).as_input(VALUES).columns.equals(both)


@pytest.mark.parametrize("kind", NAMED)
def test_a_column_is_found_by_its_name_or_its_position(kind):
    features = read_features(NAMED[kind])
    assert [features.positions([name], "rank")[0] for name in ("member", "age", 1, -1, np.int64(0), -2)] == [
        1,
        0,
        1,
        1,
        0,
        0,
    ]
    assert features.names_in == ("age", "member")


@pytest.mark.parametrize("kind", NAMELESS)
def test_a_column_without_a_name_is_found_by_what_it_is_called_here(kind):
    features = read_features(NAMELESS[kind])
    assert [features.positions([name], "rank")[0] for name in ("x1", 0, -1)] == [1, 0, 1]
    assert features.names_in is None


def test_a_number_that_labels_a_column_is_never_a_position():
    features = read_features(pd.DataFrame([[1, 2, 3]], columns=[1, 0, "age"]))
    assert [features.positions([name], "rank")[0] for name in (1, 0, 2, -1, "1", "age")] == [0, 1, 2, 2, 0, 2]
    assert features.names_in is None
    assert [read_features({1: [0], "0": [0]}).positions([name], "rank")[0] for name in (1, 0)] == [0, 0]
    both = pd.MultiIndex.from_tuples([("a", 1), ("a", 2)])
    assert read_features(pd.DataFrame([[1, 2]], columns=both)).positions([("a", 2)], "sensitive_columns")[0] == 1


@pytest.mark.parametrize(
    "name", ["shoe", 2, -3, True, False, np.True_, 1.0, None, ["age"], ("age",), np.array(["age"]), np.array([0, 1])]
)
def test_a_column_that_is_not_there_is_named_with_those_that_are(name):
    features = read_features(NAMED["pandas"])
    with pytest.raises(
        ValueError, match=r"^directions: X has no feature .*; its features are 'age', 'member', or their pos"
    ):
        features.positions([name], "directions")


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("polars", pl.DataFrame({"age": [46.0, 122.0, 80.0], "member": [2.0, 0.0, 2.0]})),
        ("arrow", pa.table({"age": [46.0, 122.0, 80.0], "member": [2.0, 0.0, 2.0]})),
    ],
)
def test_frames_of_other_libraries_are_rebuilt(kind, expected):
    features = read_features(NAMED[kind])
    rebuilt = features.rebuild(2 * VALUES)
    assert type(rebuilt) is type(expected)
    assert rebuilt.equals(expected)
    assert features.index is None


def test_arrays_lists_and_dicts_are_rebuilt():
    rebuilt = read_features(VALUES).rebuild(2 * VALUES)
    assert type(rebuilt) is np.ndarray
    assert np.array_equal(rebuilt, 2 * VALUES)
    assert read_features(ROWS).rebuild(2 * VALUES) == (2 * VALUES).tolist()
    columns = read_features(NAMED["dict"]).rebuild(2 * VALUES)
    assert {name: column.tolist() for name, column in columns.items()} == {"age": [46, 122, 80], "member": [2, 0, 2]}


@pytest.mark.parametrize("kind", ["array", "rows", "pandas", "dict"])
def test_a_model_may_write_on_what_it_is_asked_with(kind):
    asked, features = VALUES.copy(), read_features((NAMED | NAMELESS)[kind])
    StandardScaler(copy=False).fit(features.as_input(asked)).transform(features.as_input(asked))
    assert np.array_equal(asked, VALUES)


@pytest.mark.parametrize("kind", ["array", "pandas", "dict"])
def test_a_rebuilt_table_shares_no_memory_with_the_values(kind):
    moved = VALUES.copy()
    rebuilt = read_features((NAMED | NAMELESS)[kind]).rebuild(moved)
    moved[:] = 0
    assert np.array_equal(read_features(rebuilt).values, VALUES)


NAN = float("nan")


@pytest.mark.parametrize(
    "X",
    [
        [[1, None], [2, 3]],
        np.array([[1, NAN], [2, 3]]),
        np.array([[1, pd.NA], [2, 3]], dtype=object),
        np.ma.masked_array([[1, 9], [2, 3]], mask=[[0, 1], [0, 0]]),
        {"a": [1, 2], "b": [None, 3.0]},
        pd.DataFrame({"a": [1, 2], "b": pd.array([None, 3], dtype="Int64")}),
        pd.DataFrame({"a": [True, 2.0], "b": pd.array([None, 3], dtype="Float64")}),
        pd.DataFrame({"a": [1, 2], "b": pd.array([None, 3], dtype="int64[pyarrow]")}),
        pl.DataFrame({"a": [1, 2], "b": [None, 3]}),
        pa.table({"a": [1, 2], "b": [None, 3]}),
    ],
    ids=["None", "nan", "NA", "masked", "dict", "Int64", "Float64", "arrow in pandas", "polars", "arrow"],
)
def test_missing_values_are_nan(X):
    assert np.array_equal(read_features(X).values, [[1, NAN], [2, 3]], equal_nan=True)


@pytest.mark.parametrize(
    "column",
    [
        np.array([1, 2.5, True], dtype=object),
        pd.Series([Decimal(1), Decimal("2.5"), Decimal(1)]),
        pl.Series([Decimal("1.0"), Decimal("2.5"), Decimal("1.0")]),
        pd.arrays.SparseArray([1.0, 2.5, 1.0]),
        [np.int8(1), np.float32(2.5), np.bool_(True)],
    ],
    ids=["objects", "decimals", "decimals of polars", "sparse column", "scalars of numpy"],
)
def test_a_column_of_whatever_numbers_is_numbers(column):
    assert read_features({"a": column}).values.tolist() == [[1.0], [2.5], [1.0]]


def test_an_empty_polars_column_is_missing():
    assert np.isnan(read_features(pl.DataFrame({"a": [None, None]})).values).all()


@pytest.mark.parametrize(
    ("column", "found"),
    [
        (["x", "y"], r"'a' \((str|object), for example 'x'\)"),
        (["1", "2"], r"'a' \((str|object), for example '1'\)"),
        ([1, "y"], r"'a' \(object, for example 'y'\)"),
        (np.array(["x", "y"]), r"'a' \(<U1, for example 'x'\)"),
        (np.array([b"x", b"y"]), r"'a' \(\|S1, for example b'x'\)"),
        (pd.Categorical([1, 2]), r"'a' \(category, for example 1\)"),
        (pd.to_datetime(["2020-01-01", "2021-01-01"]), r"'a' \(datetime64\[.s\], for example Timestamp\('2020"),
        (pl.Series(["x", "y"], dtype=pl.Categorical), r"'a' \((str|object), for example 'x'\)"),
    ],
    ids=["strings", "digits", "mixed", "array of strings", "bytes", "categories", "dates", "categories of polars"],
)
def test_a_column_that_is_no_numbers_is_named_with_a_way_out(column, found):
    remedy = r"Encode it first \(for example with OneHotEncoder in a ColumnTransformer\)\."
    with pytest.raises(ValueError, match=rf"^X has a column that is not numbers, {found}.*{remedy}$"):
        read_features({"n": [1, 2], "a": column}, "X")
    with pytest.raises(ValueError, match=rf"{remedy}$"):
        read_features({"n": [1, 2], "a": column})


def test_objects_that_are_neither_numbers_nor_strings_are_a_type_error_as_for_scikit_learn():
    X = np.array([[{"foo": "bar"}, 1], [2, 3]], dtype=object)
    with pytest.raises(TypeError, match=r"'x0' \(object, .*argument must be a string or a real number"):
        read_features(X)


@pytest.mark.parametrize(
    "X", [np.ones((2, 2)) * 1j, [[1 + 1j, 2]], pd.DataFrame({"x0": [1j]})], ids=["array", "rows", "frame"]
)
def test_complex_numbers_are_refused(X):
    with pytest.raises(ValueError, match=r"^Complex data not supported: X has complex numbers in column 'x0'"):
        read_features(X)


@pytest.mark.parametrize("X", [csr_matrix(VALUES), csr_array(VALUES)], ids=["matrix", "array"])
def test_a_sparse_matrix_is_refused(X):
    with pytest.raises(ValueError, match=r"^X is a sparse matrix .*pass X\.toarray\(\)"):
        read_features(X)


@pytest.mark.parametrize(
    "X",
    [VALUES[:, 0], [1, 2], pd.Series([1, 2]), pl.Series([1, 2]), [], None, "age", 3, iter([1])],
    ids=["array", "list", "pandas", "polars", "empty list", "None", "string", "number", "iterator"],
)
def test_what_has_no_columns_is_refused(X):
    with pytest.raises(ValueError, match=r"^X must be a table .* which has no columns\. Reshape your data"):
        read_features(X)


@pytest.mark.parametrize(
    ("X", "what"),
    [
        (np.empty((0, 3)), r"0 sample\(s\) \(shape=\(0, 3\)\) while a minimum of 1 is required"),
        (np.empty((12, 0)), r"0 feature\(s\) \(shape=\(12, 0\)\) while a minimum of 1 is required"),
        ([[], []], r"0 feature\(s\) \(shape=\(2, 0\)\)"),
        (pd.DataFrame(index=range(4)), r"0 feature\(s\) \(shape=\(4, 0\)\)"),
        (pd.DataFrame({"a": []}), r"0 sample\(s\) \(shape=\(0, 1\)\)"),
        (pl.DataFrame({"a": []}), r"0 sample\(s\) \(shape=\(0, 1\)\)"),
        ({}, r"0 feature\(s\)"),
    ],
    ids=["no rows", "no columns", "empty rows", "pandas without columns", "pandas", "polars", "dict"],
)
def test_nobody_and_nothing_are_refused(X, what):
    with pytest.raises(ValueError, match=f"^X has {what}"):
        read_features(X)


def test_infinite_values_are_refused_with_their_columns():
    X = pd.DataFrame({"a": [1, np.inf], "b": [1, 2], "c": [-np.inf, 0]})
    with pytest.raises(ValueError, match=r"^X has infinite \(inf\) values in columns 'a', 'c'"):
        read_features(X)


def test_a_structured_array_is_refused():
    with pytest.raises(ValueError, match=r"^X must be a table"):
        read_features(np.array([(1, 2)], dtype=[("a", int), ("b", int)]))


X = pd.DataFrame(
    {
        "age": [23.0, 61.0, 40.0, 35.0, 52.0, 29.0],
        "job": ["cook", "clerk", "smith", "cook", "smith", "clerk"],
        "floor": [1, 2, 3, 1, 2, 3],
        "owns": pd.Categorical(["no", "yes", "no", "no", "yes", "yes"], categories=["yes", "no", "maybe"]),
    },
    index=pd.Index(list("abcdef"), name="id"),
)
y = np.array([0, 1, 0, 1, 1, 0])
ENCODERS = {
    "one-hot": OneHotEncoder(),
    "dropped": OneHotEncoder(drop="first", sparse_output=False),
    "ordinal": OrdinalEncoder(),
    "target": TargetEncoder(cv=2),
}


def pipeline(encoder, model, columns=("job", "floor", "owns")):
    first = ColumnTransformer([("n", StandardScaler(), ["age"]), ("c", encoder, list(columns))])
    return make_pipeline(first, model).fit(X, y)


def test_text_and_categories_become_shares():
    features = read_features(X, categories=True)
    assert len(features.blocks) == 2
    assert features.names == ("age", "job=clerk", "job=cook", "job=smith", "floor", "owns=no", "owns=yes")
    assert features.blocks == ((1, 2, 3), (5, 6))
    assert features.groups == [("age", (0,)), ("job", (1, 2, 3)), ("floor", (4,)), ("owns", (5, 6))]
    np.testing.assert_array_equal(features.values[0], [23, 0, 1, 0, 1, 1, 0])
    assert features.names_in == tuple(X.columns)


@pytest.mark.parametrize("rows", [slice(None), [3], [2, 0, 2]])
def test_people_come_back_as_they_were(rows):
    features = read_features(X, categories=True)
    back = features.take(np.arange(6)[rows]).rebuild(features.values[rows])
    pd.testing.assert_frame_equal(back, X.iloc[np.arange(6)[rows]].astype({"floor": float}))
    asked = features.as_input(features.values[rows])
    assert asked["owns"].dtype == X["owns"].dtype


def test_the_largest_share_is_the_category():
    features = read_features(X, categories=True)
    values = features.values.copy()
    values[0, 1:4] = [0.2, 0.39, 0.41]
    assert features.as_input(values)["job"].iloc[0] == "smith"


@pytest.mark.parametrize("put", [lambda X: X.to_numpy(), lambda X: X.to_dict("list"), lambda X: X.to_numpy().tolist()])
def test_containers_without_frames(put):
    features = read_features(put(X), categories=True)
    assert len(features.blocks) == 2
    back = features.as_input(features.values)
    np.testing.assert_array_equal(np.asarray(back)[:, 1], X["job"])


def test_polars_and_arrow():
    for name, make in (("polars", "DataFrame"), ("pyarrow", "table")):
        module = pytest.importorskip(name)
        features = read_features(getattr(module, make)(X.astype({"owns": str}).to_dict("list")), categories=True)
        assert len(features.blocks) == 2
        back = features.as_input(features.values)
        assert type(back) is type(getattr(module, make)({}))


def test_what_the_model_encodes_is_a_category_though_it_is_a_number():
    features = read_features(X, pipeline(ENCODERS["one-hot"], LogisticRegression()), categories=True)
    assert features.blocks == ((1, 2, 3), (4, 5, 6), (7, 8))
    assert not read_features(X[["age", "floor"]], categories=True).blocks


@pytest.mark.parametrize("spec", [["floor"], "floor", [2], slice(2, 3), [False, False, True, False]])
def test_columns_may_be_named_in_every_way(spec):
    if spec == "floor":
        spec = ["floor"]
    first = ColumnTransformer([("c", OneHotEncoder(), spec), ("n", StandardScaler(), [0])])
    model = make_pipeline(first, LogisticRegression()).fit(X, y)
    assert (4, 5, 6) in read_features(X, model, categories=True).blocks


def test_missing_categories_are_missing_and_names_are_no_category():
    holes = X.assign(job=[None, "clerk", np.nan, "cook", "smith", "clerk"])
    features = read_features(holes, categories=True)
    np.testing.assert_array_equal(np.isnan(features.values[:, 1]), [True, False, True, False, False, False])
    many = pd.DataFrame({"name": [f"n{i}" for i in range(300)], "age": np.arange(300.0)})
    with pytest.raises(ValueError, match=r"X \(column 'name'\) has 300 different values of 300.*Leave it out"):
        read_features(many, categories=True)


@pytest.mark.parametrize("name", ENCODERS)
def test_encoders_are_affine_in_numbers_and_shares(name):
    model = pipeline(ENCODERS[name], LogisticRegression())
    features = read_features(X, model, categories=True)
    matrix, offset = affine(model[0].transform, features)
    encoded = model[0].transform(X)
    encoded = encoded.toarray() if hasattr(encoded, "toarray") else encoded
    np.testing.assert_allclose(features.values @ matrix + offset, encoded, atol=1e-12)
    parts = encoded_model(model, features, "predict_proba")
    np.testing.assert_allclose(parts(features.values), model.predict_proba(X), atol=1e-12)


def test_what_mixes_columns_is_not_taken_apart():
    squares = make_pipeline(StandardScaler(), PolynomialFeatures())
    first = ColumnTransformer([("n", squares, ["age"]), ("c", OneHotEncoder(), ["job", "floor", "owns"])])
    model = make_pipeline(first, LogisticRegression()).fit(X, y)
    features = read_features(X, model, categories=True)
    assert encoded_model(model, features, "predict_proba") is None


@pytest.mark.parametrize("name", ["one-hot", "dropped", "ordinal"])
@pytest.mark.parametrize("output", ["default", "pandas"])
def test_the_model_behind_is_asked_about_shares(name, output):
    encoder = OneHotEncoder(sparse_output=False) if name == "one-hot" and output == "pandas" else ENCODERS[name]
    inner = GaussianNB() if name == "dropped" else RandomForestClassifier(5, random_state=0)
    first = ColumnTransformer(
        [("n", StandardScaler(), ["age"]), ("c", encoder, make_column_selector(pattern="job|owns"))]
    )
    model = make_pipeline(first, inner)
    if output == "pandas":
        first.set_output(transform="pandas")
    model.fit(X, y)
    features = read_features(X, model, categories=True)
    parts = encoded_model(model, features, "predict_proba")
    np.testing.assert_allclose(parts(features.values), model.predict_proba(X), atol=1e-9)
    half = (features.values[:1] + features.values[1:2]) / 2
    assert np.isfinite(parts(half)).all()
