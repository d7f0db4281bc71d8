"""The matrix of a transformer is what the transformer does, or there is none."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from fairlearn.preprocessing import CorrelationRemover
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.cross_decomposition import PLSRegression
from sklearn.decomposition import PCA, FactorAnalysis, FastICA, IncrementalPCA, KernelPCA, SparsePCA, TruncatedSVD
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_selection import SelectFromModel, SelectKBest, VarianceThreshold
from sklearn.frozen import FrozenEstimator
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    PolynomialFeatures,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)
from sklearn.random_projection import GaussianRandomProjection, SparseRandomProjection

from skfairtest.individual.models.affine import affine
from skfairtest.individual.models.features import read_features

rng = np.random.default_rng(0)
# Columns of different units, two of them with a mean far from 0.
X = pd.DataFrame(rng.normal(size=(120, 4)) * [1, 1e3, 1e-2, 2] + [0, 1e6, 5, -3], columns=[*"abcd"])
Y = (X["a"] + X["d"] > -3).astype(int)
FRESH = pd.DataFrame(rng.normal(size=(50, 4)) * [5, 5e3, 5e-2, 10] + [0, 1e6, 5, -3], columns=[*"abcd"])
FEATURES = read_features(X)


def expected(transformer, rows):
    answers = transformer.transform(rows)
    return np.asarray(answers.toarray() if hasattr(answers, "toarray") else answers, dtype=float)


def assert_is_its_matrix(transformer, features=FEATURES, fresh=FRESH):
    matrix, offset = affine(transformer, features)
    said = expected(transformer, fresh)
    assert matrix.shape == (fresh.shape[1], said.shape[1])
    assert offset.shape == (said.shape[1],)
    # The offset of a column with a large mean takes digits of x @ A away, however exact A is.
    np.testing.assert_allclose(fresh.to_numpy() @ matrix + offset, said, rtol=0, atol=1e-9 * np.abs(said).max())


AFFINE = [
    StandardScaler(),
    StandardScaler(with_mean=False),
    MinMaxScaler((-1, 3)),
    MaxAbsScaler(),
    RobustScaler(),
    PCA(),
    PCA(2, whiten=True),
    IncrementalPCA(2),
    TruncatedSVD(2),
    FactorAnalysis(2),
    FastICA(2, random_state=0),
    SparsePCA(2, random_state=0),
    PLSRegression(2),
    LinearDiscriminantAnalysis(),
    GaussianRandomProjection(3, random_state=0),
    SparseRandomProjection(3, random_state=1),
    VarianceThreshold(),
    SelectKBest(k=2),
    SelectFromModel(LogisticRegression(max_iter=1000)),
    SimpleImputer(),
    SimpleImputer(add_indicator=True),
    KNNImputer(),
    FunctionTransformer(),
    CorrelationRemover(sensitive_feature_ids=["a"], alpha=0.7),
    FrozenEstimator(StandardScaler().fit(X)),
    make_pipeline(StandardScaler(), "passthrough", PCA(3), None, SelectKBest(k=2)),
    make_pipeline(SimpleImputer(), make_pipeline(RobustScaler(), PCA())),
    FeatureUnion([("s", StandardScaler()), ("p", PCA(2)), ("x", "drop"), ("y", "passthrough")]),
    FeatureUnion([("s", StandardScaler()), ("p", PCA(2))], transformer_weights={"s": 3}),
    ColumnTransformer([("s", StandardScaler(), ["c", "a"]), ("p", "passthrough", [3]), ("d", "drop", ["b"])]),
    make_column_transformer((PCA(2), ["a", "b", "c"]), remainder=MinMaxScaler()),
    make_pipeline(make_column_transformer((StandardScaler(), ["b", "c"]), remainder="passthrough"), PCA(3)),
]


@pytest.mark.parametrize("transformer", AFFINE, ids=repr)
def test_a_matrix_does_what_the_transformer_does(transformer):
    assert_is_its_matrix(transformer.fit(X, Y))


@pytest.mark.parametrize("output", ["pandas", "polars"])
def test_the_container_that_a_transformer_returns_does_not_matter(output):
    assert_is_its_matrix(make_pipeline(StandardScaler(), PCA(2)).set_output(transform=output).fit(X))


@pytest.mark.parametrize(
    "convert",
    [pl.from_pandas, pd.DataFrame.to_numpy, lambda frame: frame.to_numpy().tolist()],
    ids=["polars", "array", "rows"],
)
def test_a_transformer_is_asked_in_the_container_it_was_trained_with(convert):
    transformer = StandardScaler().fit(convert(X))
    matrix, offset = affine(transformer, read_features(convert(X)))
    np.testing.assert_allclose(X.to_numpy() @ matrix + offset, transformer.transform(convert(X)), atol=1e-9)


def test_names_that_do_not_fit_are_no_warning_of_this():
    assert affine(StandardScaler().fit(X), read_features(X.to_numpy())) is not None
    assert affine(StandardScaler().fit(X.to_numpy()), FEATURES) is not None


def test_large_means_take_no_digits_from_the_matrix():
    far = read_features(rng.normal(size=(50, 3)) * [1, 1e-3, 1e3] + [1e6, 10, -1e8])
    scaler = StandardScaler().fit(far.values)
    matrix, _ = affine(scaler, far)
    np.testing.assert_allclose(np.diag(matrix), 1 / scaler.scale_, rtol=1e-14)
    assert np.count_nonzero(matrix - np.diag(np.diag(matrix))) == 0


@pytest.mark.parametrize(
    "transformer",
    [
        MinMaxScaler(clip=True),
        Binarizer(),
        Normalizer(),
        QuantileTransformer(n_quantiles=10),
        PolynomialFeatures(2),
        KernelPCA(2, kernel="rbf"),
        OneHotEncoder(handle_unknown="ignore"),
        FunctionTransformer(np.square),
        SimpleImputer(missing_values=0),
        FrozenEstimator(Normalizer().fit(X)),
        make_pipeline(StandardScaler(), Normalizer()),
        FeatureUnion([("s", StandardScaler()), ("n", Normalizer())]),
        make_column_transformer((StandardScaler(), ["a"]), (MinMaxScaler(clip=True), ["b"])),
        ColumnTransformer([("s", StandardScaler(), ["a"])], remainder=Normalizer()),
    ],
    ids=repr,
)
def test_what_is_not_affine_has_no_matrix(transformer):
    assert affine(transformer.fit(X, Y), FEATURES) is None


def test_a_scaler_that_clips_has_no_matrix():
    scaler = MaxAbsScaler().fit(X)
    scaler.clip = True  # a parameter of newer versions
    assert affine(scaler, FEATURES) is None


class Inherits(StandardScaler):
    pass


class Overrides(StandardScaler):
    def transform(self, X):
        return np.tanh(super().transform(X))


class Declared(TransformerMixin, BaseEstimator):
    is_affine = True

    def fit(self, X, y=None):
        self.width_ = X.shape[1]
        return self

    def transform(self, X):
        return 3 * np.asarray(X) + np.arange(self.width_)


class InheritsDeclared(Declared):
    pass


class OverridesDeclared(Declared):
    def transform(self, X):
        return np.abs(super().transform(X))


class DeclaresWhatItIsNot(Declared):
    is_affine = True

    def transform(self, X):
        return np.abs(np.asarray(X))


@pytest.mark.parametrize("kind", [Inherits, Declared, InheritsDeclared])
def test_a_class_is_affine_if_it_inherits_what_is_declared(kind):
    assert_is_its_matrix(kind().fit(X))


@pytest.mark.parametrize("kind", [Overrides, OverridesDeclared])
def test_a_class_that_overrides_what_is_declared_has_no_matrix(kind):
    assert affine(kind().fit(X), FEATURES) is None


def test_a_declaration_that_is_wrong_about_the_rows_is_not_believed():
    assert affine(DeclaresWhatItIsNot().fit(X), FEATURES) is None


def test_where_something_is_missing_an_imputer_has_no_matrix():
    holes = X.copy()
    holes.iloc[50, 2] = np.nan
    assert affine(SimpleImputer().fit(holes), read_features(holes)) is None
    assert affine(SimpleImputer().fit(holes), FEATURES) is not None


def test_a_selector_that_keeps_nothing_has_a_matrix_without_columns():
    keeps = Pipeline([("nothing", ColumnTransformer([("drop", "drop", [*"abcd"])]))]).fit(X)
    matrix, offset = affine(keeps, FEATURES)
    assert matrix.shape == (4, 0)
    assert offset.shape == (0,)


def test_features_that_are_all_zero_are_no_obstacle():
    nothing = read_features(np.zeros((5, 2)))
    matrix, offset = affine(FunctionTransformer().fit(nothing.values), nothing)
    assert np.array_equal(matrix, np.eye(2))
    assert np.array_equal(offset, np.zeros(2))


def test_a_transformer_for_other_features_says_so():
    with pytest.raises(ValueError, match="X has 4 features, but StandardScaler is expecting 3"):
        affine(StandardScaler().fit(X.to_numpy()[:, :3]), read_features(X.to_numpy()))
