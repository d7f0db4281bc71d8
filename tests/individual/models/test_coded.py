"""Tables with categories as numbers and back, and pipelines taken apart at what encodes."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, PolynomialFeatures, StandardScaler, TargetEncoder

from skfairtest.individual.features import read_features
from skfairtest.individual.model import affine, encoded_model

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
