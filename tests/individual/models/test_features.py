"""Tables become floats and the same tables again, with categories; pipelines are taken apart at what encodes."""

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, PolynomialFeatures, StandardScaler, TargetEncoder

from skfairtest.individual.features import read_features
from skfairtest.individual.model import affine, encoded_model

VALUES = np.array([[23.0, 1.0], [61.0, 0.0], [40.0, 1.0]])


@pytest.mark.parametrize("columns", [[7, 3], pd.MultiIndex.from_tuples([("a", 1), ("a", 2)])])
def test_labels_of_columns_that_are_no_strings_stay_what_they_are(columns):
    features = read_features(pd.DataFrame(VALUES, columns=columns))
    for rebuilt in (features.rebuild(features.values), features.as_input(features.values)):
        assert rebuilt.columns.equals(pd.Index(columns))


@pytest.mark.parametrize(
    ("X", "positions"),
    [
        (pd.DataFrame(VALUES, columns=["age", "member"]), {"member": 1, "age": 0, 1: 1, -1: 1, np.int64(0): 0, -2: 0}),
        (VALUES, {"x1": 1, 0: 0, -1: 1}),
        # A number that labels a column is never a position.
        (pd.DataFrame([[1, 2, 3]], columns=[1, 0, "age"]), {1: 0, 0: 1, 2: 2, -1: 2, "1": 0, "age": 2}),
        ({1: [0], "0": [0]}, {1: 0, 0: 0}),
        (pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_tuples([("a", 1), ("a", 2)])), {("a", 2): 1}),
    ],
)
def test_a_column_is_found_by_its_name_or_its_position(X, positions):
    features = read_features(X)
    assert {name: features.positions([name], "rank")[0] for name in positions} == positions
    for name in ("shoe", 3, -4, True, np.True_, 1.5, None, ["age"], ("age",), np.array(["age"]), np.array([0, 1])):
        with pytest.raises(ValueError, match=r"^directions: X has no feature .*; its features are .*, or their pos"):
            features.positions([name], "directions")


@pytest.mark.parametrize("put", [np.array, np.ndarray.tolist, pd.DataFrame, lambda X: {"a": X[:, 0], "b": X[:, 1]}])
def test_a_model_may_write_on_what_it_is_asked_with(put):
    asked, features = VALUES.copy(), read_features(put(VALUES))
    StandardScaler(copy=False).fit(features.as_input(asked)).transform(features.as_input(asked))
    assert np.array_equal(asked, VALUES)


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


@pytest.mark.parametrize(
    "put",
    [
        lambda X: X.to_numpy(),
        lambda X: X.to_dict("list"),
        lambda X: X.to_numpy().tolist(),
        lambda X: pl.DataFrame(X.astype({"owns": str}).to_dict("list")),
        lambda X: pa.table(X.astype({"owns": str}).to_dict("list")),
    ],
)
def test_categories_of_any_container_come_back_in_it(put):
    features = read_features(put(X), categories=True)
    assert len(features.blocks) == 2
    for back in (features.rebuild(features.values), features.as_input(features.values)):
        np.testing.assert_array_equal(read_features(back, categories=True).values, features.values)
    assert type(features.rebuild(features.values)) is type(put(X))


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
