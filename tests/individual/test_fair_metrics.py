"""Fair metrics: what they do not see, what they see, and the evidence that they are learned from."""

import warnings
from itertools import permutations

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from scipy.linalg import LinAlgWarning, orth
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge, SGDClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from skfairtest import Mahalanobis, Projection, SensitiveSubspace
from skfairtest.individual import fair_metrics
from skfairtest.individual.fair_metrics import Design, exact_columns, out_of_fold, support

_rng = np.random.default_rng(0)
N = 200
X = pd.DataFrame(_rng.normal(size=(N, 4)) @ _rng.normal(size=(4, 4)), columns=["age", "skills", "rent", "income"])
SEX = np.where(X["rent"] + X["income"] + 2 * _rng.normal(size=N) > 0, "m", "f")
RACE = np.array(["a", "b", "c"])[np.digitize(X["age"] + _rng.normal(size=N), [-0.5, 0.8])]
HEIGHT = 170 + 10 * X["skills"].to_numpy() + _rng.normal(size=N)
PEOPLE, OTHERS = X.to_numpy()[:50], X.to_numpy()[50:100]
NAMES = ["SensitiveSubspace", "Projection", "Mahalanobis"]


@pytest.fixture(scope="module")
def metrics():
    return {
        "SensitiveSubspace": SensitiveSubspace().fit(X, sensitive_features=SEX),
        "Projection": Projection([[1.0, 2.0, 0.0, 0.0], [0.0, 1.0, 1.0, 0.0]]).fit(X),
        "Mahalanobis": Mahalanobis(np.cov(PEOPLE.T)).fit(X),
    }


@pytest.fixture
def rng():
    return np.random.default_rng(1)


def penalty(classifier=LogisticRegression, n=N, **params):
    """The default's penalty for n people."""
    return classifier(C=10_000 / n, tol=1e-10, max_iter=10_000, **params)


def projection_on(*rows):
    """By scipy: the projection on what rows span, of which some add up to 0 only as exactly as a solver ends."""
    basis = orth(np.vstack(rows).T, rcond=1e-6)
    return basis @ basis.T


def assert_same_metric(metric, other, atol=1e-8):
    np.testing.assert_allclose(metric.matrix_, other.matrix_, atol=atol)


@pytest.mark.parametrize("name", NAMES)
class TestEveryMetric:
    def test_squared_euclidean_distance_after_transform_is_the_formula(self, name, metrics):
        metric = metrics[name]
        differences = PEOPLE - OTHERS
        squares = np.einsum("ij,jk,ik->i", differences, metric.matrix_, differences)
        moved = metric.transform(X)
        np.testing.assert_allclose(np.square(moved[:50] - moved[50:100]).sum(axis=1), squares, rtol=1e-10)

    def test_directions_are_free_and_orthonormal(self, name, metrics, rng):
        metric = metrics[name]
        k = len(metric.directions_)
        np.testing.assert_allclose(metric.directions_ @ metric.directions_.T, np.eye(k), atol=1e-12)
        assert metric.directions_.shape[1] == 4
        moved = PEOPLE + rng.normal(size=(50, k)) @ metric.directions_
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # no names, by intention
            np.testing.assert_allclose(metric.transform(PEOPLE), metric.transform(moved), atol=1e-7)
        assert np.linalg.matrix_rank(metric.matrix_) == 4 - k

    def test_output_as_frames(self, name, metrics):
        frame = clone(metrics[name]).set_output(transform="pandas")
        frame.fit(X, **({"sensitive_features": SEX} if name == "SensitiveSubspace" else {}))
        moved = frame.transform(X.set_index(X.index + 7))
        assert moved.columns.equals(X.columns)
        assert moved.index.equals(X.index + 7)
        assert isinstance(frame.set_output(transform="polars").transform(X), pl.DataFrame)

    def test_columns_that_are_no_numbers_are_named(self, name, metrics):
        with pytest.raises(ValueError, match=r"X has a column that is not numbers, 'skills' .*'high'"):
            metrics[name].transform(X.astype({"skills": object}).assign(skills="high"))


class TestSensitiveSubspace:
    def test_labels_are_predicted_by_logistic_regression(self):
        two, three = (penalty().fit(X.to_numpy(), labels).coef_ for labels in (SEX, RACE))
        assert two.shape == (1, 4)
        assert three.shape == (3, 4)
        for features, rows in [(SEX, [two]), (RACE, [three]), ({"sex": SEX, "race": RACE}, [two, three])]:
            metric = SensitiveSubspace().fit(X, sensitive_features=features)
            np.testing.assert_allclose(metric.matrix_, np.eye(4) - projection_on(*rows), atol=1e-6)

    def test_of_10_000_people_the_default_is_scikit_learns(self, rng):
        many = rng.normal(size=(10_000, 3))
        sex, height = many @ [1, 2, 0] + rng.normal(size=10_000) > 0, many @ [0, 1, 3] + rng.normal(size=10_000)
        metric = SensitiveSubspace().fit(many, sensitive_features={"sex": sex, "height": height})
        logistic = LogisticRegression(tol=1e-10, max_iter=10_000).fit(many, sex).coef_
        ridge = Ridge().fit(many, height).coef_[None]
        np.testing.assert_allclose(metric.matrix_, np.eye(3) - projection_on(logistic, ridge), atol=1e-7)

    def test_numbers_are_predicted_by_ridge_regression(self):
        coefficients = Ridge(alpha=N / 10_000).fit(X.to_numpy(), HEIGHT).coef_
        metric = SensitiveSubspace().fit(X, sensitive_features=HEIGHT)
        np.testing.assert_allclose(metric.matrix_, np.eye(4) - projection_on(coefficients), atol=1e-6)

    def test_few_numbers_are_labels_many_are_not_and_text_and_categories_are_always_labels(self):
        twenty, more = np.arange(N) % 20, np.arange(N) % 21
        logistic = np.eye(4) - projection_on(penalty().fit(X.to_numpy(), twenty).coef_)
        with pytest.warns(UserWarning, match="differ in every direction"):  # of 20 labels in 4 dimensions
            metric = SensitiveSubspace().fit(X, sensitive_features=twenty)
        np.testing.assert_allclose(metric.matrix_, logistic, atol=1e-6)
        assert len(SensitiveSubspace().fit(X, sensitive_features=more).directions_) == 1
        for labels in (
            more.astype(str),
            pd.Categorical(more),
            pd.Series(more).astype("category"),
            {"a": pd.Categorical(more)},
            pd.DataFrame({"a": pd.Categorical(more)}),
        ):
            with pytest.warns(UserWarning, match="differ in every direction"):
                metric = SensitiveSubspace().fit(X, sensitive_features=labels)
            assert len(metric.directions_) == 4

    def test_units_of_numbers_and_names_of_labels_do_not_matter(self):
        metric = SensitiveSubspace().fit(X, sensitive_features=HEIGHT)
        assert_same_metric(SensitiveSubspace().fit(X, sensitive_features=HEIGHT / 100), metric, atol=1e-12)
        metric = SensitiveSubspace().fit(X, sensitive_features=SEX)
        assert_same_metric(SensitiveSubspace().fit(X, sensitive_features=SEX == "f"), metric, atol=1e-12)

    @pytest.mark.parametrize("features", [SEX, RACE, HEIGHT])
    def test_the_order_of_rows_and_columns_and_doubled_rows_do_not_matter(self, features, rng):
        metric = SensitiveSubspace().fit(X, sensitive_features=features)
        order = rng.permutation(N)
        assert_same_metric(SensitiveSubspace().fit(X.to_numpy()[order], sensitive_features=features[order]), metric)
        twice = SensitiveSubspace().fit(np.vstack([X, X]), sensitive_features=np.tile(features, 2))
        assert_same_metric(twice, metric)
        np.testing.assert_allclose(twice.directions_, metric.directions_, atol=1e-7)
        order = [2, 0, 3, 1]
        other = SensitiveSubspace().fit(X.iloc[:, order], sensitive_features=features)
        np.testing.assert_allclose(other.matrix_, metric.matrix_[np.ix_(order, order)], atol=1e-8)

    def test_collinear_directions_count_once(self):
        # Where the inverse of A A' does not exist: the same feature in two codings, and labels with their contrasts.
        metric = SensitiveSubspace().fit(X, sensitive_features={"sex": SEX})
        again = SensitiveSubspace().fit(X, sensitive_features={"sex": SEX, "woman": SEX == "f", "again": SEX})
        assert len(again.directions_) == 1
        assert_same_metric(again, metric, atol=1e-12)

    def test_own_models_are_cloned_and_asked_for_their_coefficients(self):
        classifier = LinearSVC(C=0.1)
        metric = SensitiveSubspace(classifier).fit(X, sensitive_features=SEX)
        assert not hasattr(classifier, "coef_")
        coefficients = LinearSVC(C=0.1).fit(X, SEX == "m").coef_
        np.testing.assert_allclose(metric.matrix_, np.eye(4) - projection_on(coefficients), atol=1e-8)
        sparse = SGDClassifier(penalty="l1", alpha=1e-3, random_state=0)
        assert len(SensitiveSubspace(sparse).fit(X, sensitive_features=SEX).directions_) == 1

    def test_columns_that_are_sensitive_themselves(self):
        # As in the paper's COMPAS: unit vectors of the columns, and regressions on the others.
        table = X.assign(male=(SEX == "m").astype(float))[["male", *X.columns]]
        expected = np.eye(5) - projection_on(np.eye(5)[:1], [[0.0, *penalty().fit(X.to_numpy(), SEX).coef_[0]]])
        for columns in ("male", 0, -5, ["male"], [0], np.array([0])):
            metric = SensitiveSubspace(sensitive_columns=columns).fit(table, sensitive_features=SEX)
            np.testing.assert_allclose(metric.matrix_, expected, atol=1e-6)
            assert (metric.matrix_[0] == 0).all()
            assert (metric.transform(table)[:, 0] == 0).all()

    def test_directions_that_span_everything_are_warned_of(self):
        with pytest.warns(UserWarning, match=r"differ in every direction of X \(n_features=4\).* is 0"):
            metric = SensitiveSubspace(sensitive_columns=[0, 1, 2, 3]).fit(X, sensitive_features=SEX)
        assert (metric.transform(X) == 0).all()
        with pytest.warns(UserWarning, match="differ in every direction of X"):
            SensitiveSubspace().fit(X[["rent"]], sensitive_features=SEX)

    def test_scales_that_differ_much_are_no_obstacle_and_too_much_is_said(self, rng):
        many = rng.normal(size=(500, 4)) * [1e4, 30, 1, 0.1] + [2e4, 40, 0, 0]
        sex = many @ [1e-4, 1 / 30, 1, 0] + rng.normal(size=500) > 4
        three = sex + (many[:, 3] > 0.1)
        for features in (sex, three):
            metric = SensitiveSubspace().fit(many, sensitive_features=features)
            order = rng.permutation(500)
            assert_same_metric(SensitiveSubspace().fit(many[order], sensitive_features=features[order]), metric)
        with pytest.warns((ConvergenceWarning, LinAlgWarning), match="converge|ill-conditioned"):
            SensitiveSubspace().fit(many * [1e5, 1, 1, 1e-5], sensitive_features=three)

    def test_metadata_routing_brings_the_groups_of_the_fold(self):
        y = (X["skills"] > 0).to_numpy()
        model = make_pipeline(StandardScaler(), SensitiveSubspace(), LogisticRegression())
        with sklearn.config_context(enable_metadata_routing=True):
            model.fit(X, y, sensitive_features=SEX)
            found = cross_val_predict(model, X, y, cv=3, params={"sensitive_features": SEX})
        scaled = StandardScaler().fit_transform(X)
        assert_same_metric(model[1], SensitiveSubspace().fit(scaled, sensitive_features=SEX), atol=1e-12)
        assert (found == y).mean() > 0.8

    @pytest.mark.parametrize(
        ("given", "message"),
        [
            ({"features": None}, r"sensitive_features is missing.*fit\(X, sensitive_features="),
            ({"features": ["f"] * N}, r"column 'sensitive_feature_0'\) is 'f' for all people \(n_samples=200\)"),
            ({"features": {"sex": ["f"] * N}}, r"column 'sex'\) is 'f' for all people"),
            ({"features": {"sex": [None, *SEX[1:]]}}, r"sensitive_features \(column 'sex'\) has 1 missing value"),
            ({"features": {"age": [np.inf, *HEIGHT[1:]]}}, r"column 'age'\) must hold finite numbers"),
            ({"features": {"sex": SEX[1:]}}, "X and sensitive_features have different lengths, 200 and 199"),
            ({"features": pd.Series(SEX, name="sex")[::-1]}, "hold the same labels in another order"),
            ({"X": pd.concat([X, X]), "features": {"name": [f"n{i}" for i in range(2 * N)]}},
             r"column 'name'\) has 400 distinct labels, more than 200"),
            *(({"X": np.full((N, 3), 0.1), "features": features}, "X is the same for all people")
              for features in (SEX, RACE, HEIGHT)),
            ({"classifier": SGDClassifier(penalty="l1", alpha=1e6, random_state=0), "level": None},
             "nothing in X predicts them"),
            ({"sensitive_columns": "sex"}, "sensitive_columns: X has no feature 'sex'; its features are 'age', .*, or"),
            ({"sensitive_columns": ["income", -1]}, "sensitive_columns: 'income' is named twice, as 'income' and -1"),
            ({"sensitive_columns": [0, 0]}, "sensitive_columns: 'age' is named twice, as 0 and 0"),
        ],
    )  # fmt: skip
    def test_what_is_not_usable_is_named(self, given, message):
        params = {"X": X, "features": SEX} | given
        people, features = params.pop("X"), params.pop("features")
        with pytest.raises(ValueError, match=message):
            SensitiveSubspace(**params).fit(people, sensitive_features=features)

    def test_coefficients_of_something_else_than_the_features_are_an_error(self):
        for classifier in (DecisionTreeClassifier(), make_pipeline(PolynomialFeatures(), LogisticRegression())):
            with pytest.raises(ValueError, match=r"coef_ after fit, finite numbers for each of 4 features"):
                SensitiveSubspace(classifier).fit(X, sensitive_features=SEX)


class TestProjection:
    def test_directions_by_name_as_rows_and_as_a_frame_are_the_same(self):
        rows = np.array([[0.0, 0.0, -0.3, 1.0], [2.0, 0.0, 0.0, 0.0]])
        metric = Projection(rows).fit(X)
        named = [{"income": 1, "rent": -0.3}, "age"]
        frame = pd.DataFrame(rows, columns=X.columns)[["income", "rent", "age", "skills"]]
        for directions in (named, tuple(named), rows.tolist(), frame, rows[::-1] * 7):
            assert_same_metric(Projection(directions).fit(X), metric, atol=1e-14)
        np.testing.assert_array_equal(Projection("age").fit(X).matrix_, np.diag([0.0, 1.0, 1.0, 1.0]))
        assert_same_metric(Projection({"age": 3}).fit(X), Projection([3, 0, 0, 0]).fit(X))

    def test_directions_need_not_be_orthogonal_independent_or_of_any_length(self):
        rows = np.array([[1.0, 0.0, 1.0, 0.0], [1.0, 1.0, 0.0, 0.0], [0.0, 1.0, -1.0, 0.0], [0.0] * 4])
        metric = Projection(rows * [[1e150], [1e-160], [1.0], [1.0]]).fit(X)
        assert metric.directions_.shape == (2, 4)
        np.testing.assert_allclose(metric.matrix_, np.eye(4) - projection_on(rows), atol=1e-14)

    def test_no_directions_leave_the_euclidean_distance(self):
        metric = Projection(np.empty((0, 4))).fit(X)
        assert metric.directions_.shape == (0, 4)
        np.testing.assert_array_equal(metric.transform(X), X)

    @pytest.mark.parametrize(
        ("directions", "message"),
        [
            ([0.0] * 4, "directions are all 0"),
            ({"shoe size": 1}, "directions: X has no feature 'shoe size'; its features are 'age'"),
            ({"income": 1, -1: 2}, "directions: 'income' is named twice, as 'income' and -1"),
            *(
                (directions, "directions must be rows of 4 finite numbers, one for each feature of X .*; found")
                for directions in (
                    None,
                    [1.0, 0.0, 0.0],
                    np.ones((2, 5)),
                    np.ones((1, 2, 4)),
                    [np.nan, 0, 0, 1],
                    [[1, 2], [3]],
                    [object()] * 4,
                    ["age", [0, 1, 0, 0]],
                    {"age": "a lot"},
                    {"age": np.inf},
                )
            ),
        ],
    )
    def test_what_is_not_usable_is_named(self, directions, message):
        with pytest.raises(ValueError, match=message):
            Projection(directions).fit(X)


class TestMahalanobis:
    def test_the_root_is_symmetric(self, metrics):
        metric = metrics["Mahalanobis"]
        root = metric.transform(pd.DataFrame(np.eye(4), columns=X.columns))
        np.testing.assert_allclose(root, root.T, atol=1e-12)
        np.testing.assert_allclose(root @ root, np.cov(PEOPLE.T), atol=1e-12)

    def test_the_null_space_is_free(self):
        row = np.array([[1.0, -1.0, 0.0, 0.0]])
        metric = Mahalanobis(row.T @ row).fit(X)
        assert metric.directions_.shape == (3, 4)
        np.testing.assert_allclose(metric.directions_ @ row.T, 0, atol=1e-12)
        np.testing.assert_allclose(metric.transform(X), metric.transform(X + np.array([5, 5, 1, 2])), atol=1e-12)
        assert Mahalanobis(np.eye(4)).fit(X).directions_.shape == (0, 4)

    def test_rounding_errors_are_symmetric_and_not_negative(self):
        near = np.eye(4)
        near[3, 3], near[0, 1] = -1e-12, 1e-12
        metric = Mahalanobis(near).fit(X)
        assert (metric.matrix_ == metric.matrix_.T).all()
        np.testing.assert_allclose(metric.directions_, np.eye(4)[3:], atol=1e-11)
        assert np.isfinite(metric.transform(X)).all()

    def test_a_frame_is_read_by_its_names(self):
        matrix = pd.DataFrame(np.diag([1.0, 2.0, 3.0, 4.0]), index=X.columns, columns=X.columns)
        matrix.loc["age", "rent"] = matrix.loc["rent", "age"] = 0.5
        order = ["rent", "age", "income", "skills"]
        assert_same_metric(Mahalanobis(matrix.loc[order, order[::-1]]).fit(X), Mahalanobis(matrix.to_numpy()).fit(X))
        with pytest.raises(ValueError, match="which are the names of rows and columns of a DataFrame"):
            Mahalanobis(matrix.loc[order[:2], order]).fit(X)

    @pytest.mark.parametrize(
        ("matrix", "message"),
        [
            *(
                (matrix, r"matrix must be a square of numbers, shape \(4, 4\) for the features of X .*; found")
                for matrix in (None, np.eye(3), np.ones((4, 3)), "identity")
            ),
            (np.triu(np.ones((4, 4))), "matrix must be square, finite and symmetric"),
            (np.diag([1.0, 1.0, 1.0, -0.1]), "matrix must be positive semi-definite, found the eigenvalue -0.1"),
            (np.diag([1.0, 1.0, 1.0, np.nan]), "matrix must be square, finite and symmetric"),
        ],
    )
    def test_what_is_not_usable_is_named(self, matrix, message):
        with pytest.raises(ValueError, match=message):
            Mahalanobis(matrix).fit(X)

    def test_a_matrix_that_measures_nothing_is_warned_of(self):
        with pytest.warns(UserWarning, match="Mahalanobis lets people differ in every direction"):
            assert len(Mahalanobis(np.zeros((4, 4))).fit(X).directions_) == 4


def indicators(codes):
    return (np.asarray(codes)[:, None] == np.unique(codes)).astype(float)


def shifted(n, seed, shift, width=1, correlation=0.95, others=3):
    rng = np.random.default_rng(seed)
    sex = rng.integers(0, 2, n)
    X = rng.normal(size=(n, width + others))
    if width > 1:
        X[:, :width] = np.sqrt(correlation) * rng.normal(size=(n, 1)) + np.sqrt(1 - correlation) * X[:, :width]
    X[:, :width] += shift * sex[:, None]
    return X, sex


def test_out_of_fold_by_hand():
    X, sex = shifted(60, 0, 1.5)
    folds = np.arange(60) % 5
    predicted, actual = [], []
    for fold in range(5):
        line = LinearRegression().fit(X[folds != fold], sex[folds != fold])
        predicted.append(line.predict(X[folds == fold]) - sex[folds != fold].mean())
        actual.append(sex[folds == fold])
    found = out_of_fold(X, indicators(sex), folds, labels=True)
    scores = np.concatenate(predicted)
    assert found == (pytest.approx(roc_auc_score(np.concatenate(actual), scores), abs=1e-12), 1 / 500)


def test_the_p_value_is_that_of_all_permutations(monkeypatch):
    rng = np.random.default_rng(3)
    X, numbers, folds = rng.normal(size=(6, 1)), rng.normal(size=6), np.arange(6) % 2
    numbers = numbers + 0.8 * X[:, 0]

    def covariance(values):
        scaled = (values - values.mean()) / values.std()
        total = 0.0
        for fold in range(2):
            others, own = folds != fold, folds == fold
            line = np.polyfit(X[others, 0], scaled[others], 1)
            # around the mean of the fold's people: the prediction of a mean is not a trace
            total += (np.polyval(line, X[own, 0]) - scaled[others].mean()) @ scaled[own]
        return total

    observed = covariance(numbers)
    exact = np.mean([covariance(numbers[list(order)]) >= observed - 1e-9 for order in permutations(range(6))])
    monkeypatch.setattr(fair_metrics, "N_PERMUTATIONS", 2000)
    monkeypatch.setattr(fair_metrics, "ENOUGH", 2000)
    found = out_of_fold(X, numbers[:, None], folds, labels=False)
    assert found[1] == pytest.approx(exact, abs=4 * np.sqrt(exact / 2000))


@pytest.mark.parametrize("labels", [2, 4, None], ids=["two levels", "four levels", "numbers"])
def test_what_is_independent_has_a_trace_as_often_as_the_level_says(labels, thorough):
    rng = np.random.default_rng(0)
    rejected, n = [], 1000 if thorough else 60
    for _ in range(n):
        X = rng.normal(size=(60, 4))
        drawn = rng.exponential(size=(60, 1)) if labels is None else indicators(rng.integers(0, labels, 60))
        rejected.append(out_of_fold(X, drawn, np.arange(60) % 5, labels=labels is not None)[1] <= 0.05)
    assert np.mean(rejected) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / n)


def test_neither_units_nor_a_change_of_basis_changes_a_trace():
    X, sex = shifted(300, 1, 0.3)
    folds = np.arange(300) % 5
    found = out_of_fold(X, indicators(sex), folds, labels=True)
    turned = np.linalg.qr(np.random.default_rng(0).normal(size=(4, 4)))[0]
    for other in (X * [1e-6, -3.0, 1e8, 2.0] + 7, X @ turned, np.column_stack([X, X[:, 0] + X[:, 1], np.ones(300)])):
        again = out_of_fold(other, indicators(sex), folds, labels=True)
        assert again == pytest.approx(found, abs=1e-9)


def test_only_what_is_significant_is_kept():
    kept = [tuple(np.flatnonzero(np.diag(_support(*shifted(1000, seed, 0.5))))) for seed in range(25)]
    assert all(0 in columns for columns in kept)
    assert sum(columns != (0,) for columns in kept) <= 5  # at a level of 5%, more have a probability of .002


def _support(X, sex):
    return support(Design(X), indicators(sex)[:, 1:], 0.05)


@pytest.mark.parametrize("n", [1000, 4000])
def test_columns_that_hide_each_other_are_kept_as_what_they_have_in_common(n):
    for seed in range(6):
        found = _support(*shifted(n, seed, 0.5, width=6))
        common = np.ones(6) @ found[:6, :6]
        assert np.trace(found[:6, :6]) == pytest.approx(1, abs=1e-9)  # one component
        assert common / np.linalg.norm(common) == pytest.approx(np.full(6, 6**-0.5), abs=0.05)


def test_a_contrast_of_two_columns_that_correlate_is_kept():
    rng = np.random.default_rng(0)
    sex, common = rng.integers(0, 2, 2000), rng.normal(size=2000)
    X = np.column_stack([common, common, rng.normal(size=2000)]) + 0.3 * rng.normal(size=(2000, 3))
    X[:, 0] += 0.5 * sex
    X[:, 1] -= 0.5 * sex
    assert _support(X, sex) == pytest.approx(np.diag([1.0, 1.0, 0.0]), abs=1e-6)


def test_something_is_kept_where_nothing_is_significant():
    rng = np.random.default_rng(5)
    X, coin = rng.normal(size=(200, 4)), rng.integers(0, 2, 200)
    assert np.trace(_support(X, coin)) == 1


def test_the_indicators_of_a_category_are_kept_together():
    rng = np.random.default_rng(0)
    job = rng.integers(0, 4, 2000)
    sex = (rng.random(2000) < np.array([0.3, 0.5, 0.5, 0.5])[job]).astype(int)
    X = np.column_stack([indicators(job), rng.normal(size=2000)])
    assert np.diag(_support(X, sex)).tolist() == [1, 1, 1, 1, 0]


def test_a_variable_that_is_made_of_columns():
    rng = np.random.default_rng(0)
    job, other = rng.integers(0, 3, 100), rng.normal(size=(100, 2))
    X = np.column_stack([other, indicators(job)])
    assert exact_columns(Design(X), indicators(job)).tolist() == [2, 3, 4]
    assert exact_columns(Design(X[:, :4]), indicators(job)).tolist() == [2, 3]  # a level is dropped
    assert not len(exact_columns(Design(other), indicators(job)))
    assert not len(
        exact_columns(Design(rng.normal(size=(5, 9))), indicators([0, 1, 0, 1, 1]))
    )  # as many columns as people
