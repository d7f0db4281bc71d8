"""Models as people have them: pipelines that encode text, wrapped and mitigated; results in the original columns."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor, RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, PoissonRegressor, Ridge
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, OrdinalEncoder, StandardScaler

from skfairtest import IndividualFairnessTest, SensitiveSubspace

CATEGORIES = ["job", "home"]


def draw(n, seed):
    """Jobs that give sex away, and decisions that follow the job."""
    rng = np.random.default_rng(seed)
    sex = rng.integers(0, 2, n)
    job = np.where(rng.random(n) < 0.1 + 0.8 * sex, "smith", "nurse")
    home = rng.choice(["rent", "own", "other"], n, p=[0.5, 0.4, 0.1])
    X = pd.DataFrame(
        {"income": rng.normal(size=n) + 0.3 * sex, "job": job, "years": rng.integers(0, 5, n), "home": home}
    )
    score = X["income"] + 2.0 * (job == "smith") + (home == "own") + rng.normal(size=n)
    return X, np.where(score > 1.5, "yes", "no"), np.where(sex, "m", "f")


TRAINING, PEOPLE = draw(800, 0), draw(300, 1)


def pipeline(model, encoder=None):
    encoder = OneHotEncoder(handle_unknown="ignore") if encoder is None else encoder
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    return make_pipeline(ColumnTransformer([("n", numbers, ["income", "years"]), ("c", encoder, CATEGORIES)]), model)


#: Some of the people, and a metric that is not learned once more without each tenth of them.
FEW, GIVEN = tuple(part[:60] for part in PEOPLE), SensitiveSubspace(sensitive_columns="job")


def audit(model, *, people=PEOPLE, **params):
    X, labels, _ = TRAINING
    X_test, y_test, sex = people
    model = model if hasattr(model, "classes_") else model.fit(X, labels)
    return IndividualFairnessTest(model, **params).fit(X_test, y_test, sensitive_features=sex)


@pytest.fixture(scope="module")
def line():
    return audit(pipeline(LogisticRegression()))


#: What `GIVEN` finds in 20 steps of some people.
SHORT = {"people": FEW, "fair_metric": GIVEN, "steps": (20, 0.2)}


@pytest.fixture(scope="module")
def short(line):
    return audit(line.estimator, **SHORT)


def test_text_is_taken_as_it_is(line):
    X, y, _ = PEOPLE
    assert line.solver_report_["gradient"] == "finite_differences"
    assert line.n_features_in_ == 4
    assert list(line.feature_names_in_) == list(X.columns)
    moved = line.unfair_examples_
    assert list(moved.columns) == list(X.columns)
    assert set(moved["job"]) == {"smith", "nurse"}
    assert set(moved["years"]) <= set(range(5))
    flipped = moved["job"] != X["job"]
    assert 0.1 < flipped.mean() < 1
    assert line.rejected_
    # What is tested is what the pipeline says of these people.
    proba = line.estimator.predict_proba(moved)[np.arange(len(X)), (y == "yes").astype(int)]
    np.testing.assert_allclose(line.to_frame()["loss_after"], -np.log(proba), rtol=1e-6)


def test_changes_are_told_in_the_original_columns(line):
    worst = line.most_unfair(5)
    assert set(worst["feature"]) <= {"income", "job", "years", "home"}
    jobs = worst[worst["feature"] == "job"]
    assert len(jobs) > 0
    assert set(jobs["change"]) <= {"nurse -> smith", "smith -> nurse"}
    assert " -> " in str(line)
    changed = line.changed_features()
    row = changed[changed["change"] == "nurse -> smith"].iloc[0]
    X, moved = PEOPLE[0], line.unfair_examples_
    there = (X["job"] == "nurse") & (moved["job"] == "smith")
    assert row["n_people"] == there.sum()
    assert row["worse"] == pytest.approx((line.loss_ratios_[there] > 1).mean())
    assert f"nurse -> smith {there.sum()}" in " ".join(str(line).split())


UNPENALISED = {"C": 1e6, "tol": 1e-8, "max_iter": 1000}


@pytest.fixture(scope="module")
def unpenalised():
    return audit(pipeline(LogisticRegression(**UNPENALISED)), **SHORT)


@pytest.mark.parametrize(
    "encoder",
    [OneHotEncoder(drop="first"), OneHotEncoder(drop="if_binary", sparse_output=False), OneHotEncoder(min_frequency=2)],
    ids=["first", "binary", "rare"],
)
def test_how_categories_are_encoded_does_not_matter(encoder, unpenalised, short):
    other = audit(pipeline(LogisticRegression(**UNPENALISED), encoder), **SHORT)
    assert other.statistic_ == pytest.approx(unpenalised.statistic_, rel=1e-3)
    assert unpenalised.statistic_ > short.statistic_


DIFFERENCES = "finite_differences"
WRAPPED = {
    "search": lambda: GridSearchCV(pipeline(LogisticRegression()), {"logisticregression__C": [0.5, 1.0]}, cv=2),
    "frozen": lambda: FrozenEstimator(pipeline(LogisticRegression()).fit(*TRAINING[:2])),
    "calibrated": lambda: CalibratedClassifierCV(pipeline(LogisticRegression()), cv=2),
    "threshold": lambda: FixedThresholdClassifier(pipeline(LogisticRegression()), threshold=0.4, pos_label="yes"),
}


@pytest.mark.parametrize("name", WRAPPED)
def test_wrappers_are_looked_through(name, short):
    test = audit(WRAPPED[name](), **SHORT)
    assert test.solver_report_["gradient"] == {"calibrated": "search", "threshold": "search"}.get(name, DIFFERENCES)
    assert test.statistic_ == pytest.approx(short.statistic_, rel=0.15)
    assert test.rejected_


@pytest.mark.parametrize(
    ("model", "way"),
    [
        (pipeline(GaussianNB(), OneHotEncoder(sparse_output=False)), "finite_differences"),
        (pipeline(RandomForestClassifier(5, min_samples_leaf=10, random_state=0)), "search"),
        (pipeline(HistGradientBoostingClassifier(max_iter=5), OrdinalEncoder()), "search"),
    ],
    ids=["bayes", "forest", "boosted"],
)
def test_other_models_behind_an_encoder(model, way):
    test = audit(model, people=FEW, fair_metric=GIVEN, steps=(5, 0.2))
    assert test.solver_report_["gradient"] == way
    assert test.rejected_
    assert (test.unfair_examples_["job"] != FEW[0]["job"]).any()


def typed(X):
    """Text as pandas categories, of which nobody may have some."""
    return X.astype({name: pd.CategoricalDtype(["smith", "nurse", "own", "rent", "other"]) for name in CATEGORIES})


def test_a_search_and_the_flow_say_the_same(line):
    search, flow = (audit(line.estimator, people=FEW, fair_metric=GIVEN, gradient=way) for way in ("search", "auto"))
    assert search.statistic_ == pytest.approx(flow.statistic_, rel=0.05)


def test_categories_may_be_frozen_and_sensitive(line):
    frozen = audit(line.estimator, feature_ranges={"job": "frozen"})
    assert (frozen.unfair_examples_["job"] == PEOPLE[0]["job"]).all()
    assert frozen.statistic_ < line.statistic_
    with pytest.raises(
        ValueError, match=r"feature_ranges\['job'\] is a category: the only setting it can have is 'frozen'"
    ):
        audit(line.estimator, feature_ranges={"job": (0, 1)})


def test_a_category_may_be_sensitive_itself(line):
    one, two = (
        audit(line.estimator, fair_metric=SensitiveSubspace(sensitive_columns=columns))
        for columns in ("job", ["job=nurse", "job=smith"])
    )
    assert one.statistic_ == two.statistic_
    assert one.solver_report_["n_directions"] == 3


BOOSTED = {
    "lightgbm": ("LGBMClassifier", {"n_estimators": 10, "verbose": -1, "n_jobs": 1}),
    "xgboost": ("XGBClassifier", {"n_estimators": 10, "enable_categorical": True, "tree_method": "hist", "n_jobs": 1}),
    "catboost": (
        "CatBoostClassifier",
        {"iterations": 10, "verbose": 0, "thread_count": 1, "allow_writing_files": False, "cat_features": CATEGORIES},
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("library", BOOSTED)
def test_boosted_models_of_other_libraries_are_searched_over_their_levels(library):
    module = pytest.importorskip(library)
    name, params = BOOSTED[library]
    X, y, sex = PEOPLE
    model = getattr(module, name)(**params).fit(typed(TRAINING[0]), (TRAINING[1] == "yes").astype(int))
    test = IndividualFairnessTest(model).fit(typed(X), (y == "yes").astype(int), sensitive_features=sex)
    assert test.solver_report_["gradient"] == "search"
    moved = test.unfair_examples_
    assert (moved["job"] != X["job"]).any()
    assert test.statistic_ > 1.05
    for column in CATEGORIES:
        assert set(moved[column]) <= set(X[column])
    said = model.predict_proba(moved)[np.arange(len(y)), (y == "yes").astype(int)]
    np.testing.assert_allclose(test.to_frame()["loss_after"], -np.log(said), rtol=1e-5)


def test_text_that_passes_through_transformers_reaches_a_model_that_knows_it():
    people = typed(FEW[0]), *FEW[1:]
    model = HistGradientBoostingClassifier(max_iter=3, categorical_features="from_dtype")
    behind = make_pipeline(FunctionTransformer(), clone(model))
    alone, tested = (
        audit(one.fit(typed(TRAINING[0]), TRAINING[1]), people=people, fair_metric=GIVEN, steps=(2, 0.2))
        for one in (model, behind)
    )
    assert tested.statistic_ == alone.statistic_


REGRESSORS = [
    (Ridge(), "finite_differences"),
    (PoissonRegressor(), "finite_differences"),
    (TransformedTargetRegressor(Ridge(), func=np.log, inverse_func=np.exp), "finite_differences"),
    (HistGradientBoostingRegressor(max_iter=10), "search"),
]


@pytest.mark.parametrize(("model", "way"), REGRESSORS, ids=lambda value: type(value).__name__)
def test_regressors_behind_an_encoder(model, way):
    wages = [np.exp(X["income"] + (X["job"] == "smith")) for X in (TRAINING[0], PEOPLE[0])]
    made = pipeline(model).fit(TRAINING[0], wages[0])
    test = IndividualFairnessTest(made, fair_metric=GIVEN, steps=(10, 0.2)).fit(PEOPLE[0], wages[1])
    assert test.solver_report_["gradient"] == way
    errors = made.predict(test.unfair_examples_) - wages[1]
    np.testing.assert_allclose(test.to_frame()["loss_after"], (errors / wages[1].std(ddof=0)) ** 2, rtol=1e-6)
    for column in ("income", "years"):
        assert test.unfair_examples_[column].between(PEOPLE[0][column].min(), PEOPLE[0][column].max()).all()
