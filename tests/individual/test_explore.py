"""The metric of comparable pairs."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from scipy.special import expit
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skfairtest import ComparablePairs, Mahalanobis
from skfairtest.individual import explore
from skfairtest.individual.models.affine import affine
from skfairtest.individual.models.features import read_features

_rng = np.random.default_rng(0)
N, M = 150, 600
X = pd.DataFrame(_rng.normal(size=(N, 3)) * [1.0, 30.0, 5.0] + [0, 100, 0], columns=["skills", "height", "age"])
SIGMA = np.diag([0.4, 0.0, 0.01])
PAIRS = _rng.integers(N, size=(M, 2))
PAIRS = PAIRS[PAIRS[:, 0] != PAIRS[:, 1]]
DIFFERENCES = X.to_numpy()[PAIRS[:, 0]] - X.to_numpy()[PAIRS[:, 1]]
SQUARES = np.einsum("ij,jk,ik->i", DIFFERENCES, SIGMA, DIFFERENCES)
COMPARABLE = _rng.uniform(size=len(PAIRS)) < 2 * expit(-SQUARES)


@pytest.fixture(scope="module")
def learned():
    return ComparablePairs().fit(X, pairs=PAIRS, comparable=COMPARABLE)


@pytest.fixture
def rng():
    return np.random.default_rng(1)


def test_what_nobody_looked_at_counts_little_and_the_rest_as_it_did_to_the_judges(learned):
    people, others = X.to_numpy()[PAIRS[:, 0]], X.to_numpy()[PAIRS[:, 1]]
    distance = learned.distance(pd.DataFrame(people, columns=X.columns), pd.DataFrame(others, columns=X.columns))
    assert np.corrcoef(distance**2, SQUARES)[0, 1] > 0.97
    assert learned.n_pairs_ == len(PAIRS)
    assert learned.log_likelihood_ > np.log(0.5)
    probability = np.where(COMPARABLE, 2 * expit(-(distance**2)), 1 - 2 * expit(-(distance**2)))
    assert learned.log_likelihood_ == pytest.approx(np.log(probability).mean(), rel=1e-9)


def test_transform_and_distance_are_those_of_the_matrix(learned):
    same = Mahalanobis(learned.matrix_).fit(X)
    np.testing.assert_allclose(learned.transform(X), same.transform(X), atol=1e-12)
    np.testing.assert_allclose(
        learned.distance(X[:75], X[75:].set_index(X.index[:75])),
        same.distance(X[:75], X[75:].set_index(X.index[:75])),
        atol=1e-12,
    )
    matrix, _ = affine(learned, read_features(X))
    np.testing.assert_allclose(matrix @ matrix.T, learned.matrix_, atol=1e-12)


@pytest.mark.parametrize("container", [pl.DataFrame, pa.Table.from_pydict, dict, pd.DataFrame])
def test_containers_do_not_matter(container, learned):
    data = container({column: X[column].to_numpy() for column in X})
    for pairs, comparable in ((PAIRS.tolist(), COMPARABLE.tolist()), (pd.DataFrame(PAIRS), pl.Series(COMPARABLE))):
        again = ComparablePairs().fit(data, pairs=pairs, comparable=comparable)
        np.testing.assert_array_equal(again.matrix_, learned.matrix_)
    again = ComparablePairs().fit(data, pairs=PAIRS, comparable=COMPARABLE.astype(int))
    np.testing.assert_array_equal(again.matrix_, learned.matrix_)
    assert again.get_feature_names_out().tolist() == list(X.columns)


def test_the_order_of_people_and_columns_does_not_matter(learned, rng):
    people, columns = rng.permutation(N), [2, 0, 1]
    pairs = np.argsort(people)[PAIRS]
    again = ComparablePairs().fit(X.iloc[people, columns], pairs=pairs, comparable=COMPARABLE)
    np.testing.assert_allclose(again.matrix_, learned.matrix_[np.ix_(columns, columns)], atol=1e-7)


def test_rank_is_how_many_directions_count(learned):
    metric = ComparablePairs(rank=1).fit(X, pairs=PAIRS, comparable=COMPARABLE)
    assert metric.directions_.shape == (2, 3)
    assert learned.log_likelihood_ > metric.log_likelihood_ > np.log(0.5)


def test_a_ridge_makes_the_metric_smaller():
    sizes = [
        np.trace(ComparablePairs(ridge=ridge).fit(X, pairs=PAIRS, comparable=COMPARABLE).matrix_ * SIGMA)
        for ridge in (1e-4, 1e-1, 10)
    ]
    assert sizes[0] > sizes[1] > sizes[2] > 0


def test_clone_pickle_and_pipelines_with_routing(learned):
    assert not hasattr(clone(learned), "matrix_")
    again = pickle.loads(pickle.dumps(learned))
    np.testing.assert_array_equal(again.transform(X), learned.transform(X))
    model = make_pipeline(StandardScaler(), ComparablePairs(), LogisticRegression())
    with sklearn.config_context(enable_metadata_routing=True):
        model.fit(X, X["skills"] > 0, pairs=PAIRS, comparable=COMPARABLE)
    sd = X.to_numpy().std(axis=0)
    np.testing.assert_allclose(model[1].matrix_ / np.outer(sd, sd), learned.matrix_, atol=1e-7)


def test_a_column_that_no_judgement_is_about_is_warned_of():
    data = X.assign(floor=3.0)
    data.loc[0, "floor"] = 4.0
    asked = (PAIRS != 0).all(axis=1)
    with pytest.warns(UserWarning, match="no two people of a pair differ in 'floor'"):
        metric = ComparablePairs().fit(data, pairs=PAIRS[asked], comparable=COMPARABLE[asked])
    assert (metric.matrix_[3] == 0).all()


def test_a_search_that_ends_early_is_warned_of(monkeypatch):
    monkeypatch.setattr(explore, "_STEEP", -1.0)
    with pytest.warns(ConvergenceWarning, match="did not converge"):
        ComparablePairs().fit(X, pairs=PAIRS, comparable=COMPARABLE)


SAME = pd.concat([X, X[:1]], ignore_index=True)


@pytest.mark.parametrize(
    ("params", "given", "message"),
    [
        ({}, {"pairs": None}, r"pairs is missing: pass pairs, an array of shape \(n_pairs, 2\)"),
        ({}, {"comparable": None}, "comparable is missing"),
        ({}, {"pairs": [[0, 1, 2]]}, r"pairs must be of shape \(n_pairs, 2\).*found shape \(1, 3\)"),
        ({}, {"pairs": [[0, 1], [2]]}, r"pairs must be of shape \(n_pairs, 2\)"),
        ({}, {"pairs": np.empty((0, 2), dtype=int)}, "pairs must be of shape"),
        ({}, {"pairs": PAIRS / 2}, "pairs must be whole numbers, positions of rows of X; found float64"),
        ({}, {"pairs": [["ann", "bob"]]}, "pairs must be whole numbers"),
        ({}, {"pairs": PAIRS + 1}, "positions from 0 to 149, as X has n_samples=150; found 150"),
        ({}, {"pairs": -PAIRS}, "positions from 0 to 149"),
        ({}, {"comparable": COMPARABLE[1:]}, f"different lengths, {len(PAIRS)} and {len(PAIRS) - 1}"),
        ({}, {"comparable": np.full(len(PAIRS), True)}, "pairs are comparable.*judgements of both kinds"),
        ({}, {"comparable": np.full(len(PAIRS), 0)}, "pairs are not comparable"),
        ({}, {"comparable": SQUARES}, "comparable must be True or False for every pair"),
        ({}, {"comparable": [None, *COMPARABLE[1:]]}, "comparable has 1 missing value"),
        ({}, {"X": SAME, "pairs": [[0, 1], [150, 0]], "comparable": [True, False]}, "such as pair 1, rows 150 and 0"),
        ({"ridge": 0}, {}, "ridge must be a number above 0, such as 1e-3; found 0"),
        ({"ridge": "small"}, {}, "ridge must be a number above 0"),
        ({"ridge": np.inf}, {}, "ridge must be a number above 0"),
        ({"rank": 0}, {}, "rank must be a whole number, at least 1, or None; found 0"),
        ({"rank": 1.5}, {}, "rank must be a whole number"),
    ],
)
def test_what_is_not_usable_is_named(params, given, message):
    given = {"X": X, "pairs": PAIRS, "comparable": COMPARABLE} | given
    with pytest.raises(ValueError, match=message):
        ComparablePairs(**params).fit(**given)
