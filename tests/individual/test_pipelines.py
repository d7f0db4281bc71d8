"""Models as people have them: pipelines that encode text, wrapped and mitigated; results in the original columns."""

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

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


def audit(model, **params):
    X, labels, _ = TRAINING
    X_test, y_test, sex = PEOPLE
    model = model if hasattr(model, "classes_") else model.fit(X, labels)
    return IndividualFairnessTest(model, **params).fit(X_test, y_test, sensitive_features=sex)


@pytest.fixture(scope="module")
def line():
    return audit(pipeline(LogisticRegression()))


def test_text_is_taken_as_it_is(line):
    X, y, _ = PEOPLE
    assert line.solver_report_["gradient"] == "analytic"
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
    proba = line.estimator.predict_proba(moved)[np.arange(300), (y == "yes").astype(int)]
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
    assert f"job: nurse -> smith, {there.sum()} people, worse for" in str(line)


@pytest.mark.parametrize(
    "encoder",
    [OneHotEncoder(drop="first"), OneHotEncoder(drop="if_binary", sparse_output=False), OneHotEncoder(min_frequency=2)],
    ids=["first", "binary", "rare"],
)
def test_how_categories_are_encoded_does_not_matter(encoder, line):
    one, other = (audit(pipeline(LogisticRegression(C=1e6, tol=1e-8, max_iter=1000), way)) for way in (None, encoder))
    assert other.statistic_ == pytest.approx(one.statistic_, rel=1e-3)
    assert one.statistic_ > line.statistic_


def test_yes_and_no_as_numbers_or_text_is_the_same(line):
    def numbers(X):
        return X.assign(job=(X["job"] == "smith").astype(float))

    X, labels, _ = TRAINING
    X_test, y_test, sex = PEOPLE
    model = pipeline(LogisticRegression(), OneHotEncoder()).fit(numbers(X), labels)
    test = IndividualFairnessTest(model).fit(numbers(X_test), y_test, sensitive_features=sex)
    assert test.statistic_ == pytest.approx(line.statistic_, rel=1e-6)


WRAPPED = {
    "search": lambda: GridSearchCV(pipeline(LogisticRegression()), {"logisticregression__C": [0.5, 1.0]}, cv=2),
    "frozen": lambda: FrozenEstimator(pipeline(LogisticRegression()).fit(*TRAINING[:2])),
    "calibrated": lambda: CalibratedClassifierCV(pipeline(LogisticRegression()), cv=2),
    "threshold": lambda: FixedThresholdClassifier(pipeline(LogisticRegression()), threshold=0.4, pos_label="yes"),
}


@pytest.mark.parametrize("name", WRAPPED)
def test_wrappers_are_looked_through(name, line):
    test = audit(WRAPPED[name]())
    assert test.solver_report_["gradient"] == "analytic"
    assert test.statistic_ == pytest.approx(line.statistic_, rel=0.15)
    assert test.rejected_


@pytest.mark.parametrize(
    ("model", "way"),
    [
        (pipeline(GaussianNB(), OneHotEncoder(sparse_output=False)), "finite_differences"),
        (pipeline(RandomForestClassifier(20, min_samples_leaf=10, random_state=0)), "search"),
        (pipeline(HistGradientBoostingClassifier(max_iter=20), OrdinalEncoder()), "search"),
    ],
    ids=["bayes", "forest", "boosted"],
)
def test_other_models_behind_an_encoder(model, way):
    test = audit(model)
    assert test.solver_report_["gradient"] == way
    assert test.rejected_
    assert (test.unfair_examples_["job"] != PEOPLE[0]["job"]).any()


@pytest.mark.slow
def test_categories_that_the_model_itself_knows():
    def typed(X):
        return X.astype({name: pd.CategoricalDtype(["smith", "nurse", "own", "rent", "other"]) for name in CATEGORIES})

    X, y, sex = PEOPLE
    model = HistGradientBoostingClassifier(max_iter=5, max_leaf_nodes=8, categorical_features="from_dtype")
    model.fit(typed(TRAINING[0]), TRAINING[1])
    test = IndividualFairnessTest(model).fit(typed(X), y, sensitive_features=sex)
    assert test.solver_report_["gradient"] == "search"
    assert test.unfair_examples_["job"].dtype == typed(X)["job"].dtype
    assert (test.unfair_examples_["job"] != X["job"]).any()
    assert test.statistic_ > 1.05


def test_a_search_and_the_flow_say_the_same(line):
    assert audit(line.estimator, gradient="search").statistic_ == pytest.approx(line.statistic_, rel=0.05)


def test_categories_may_be_frozen_and_sensitive(line):
    frozen = audit(line.estimator, feature_ranges={"job": "frozen"})
    assert (frozen.unfair_examples_["job"] == PEOPLE[0]["job"]).all()
    assert frozen.statistic_ < line.statistic_
    with pytest.raises(ValueError, match=r"feature_ranges\['job'\] is a category, which may be 'frozen'"):
        audit(line.estimator, feature_ranges={"job": (0, 1)})


def test_a_category_may_be_sensitive_itself(line):
    one, two = (
        audit(line.estimator, fair_metric=SensitiveSubspace(sensitive_columns=columns))
        for columns in ("job", ["job=nurse", "job=smith"])
    )
    assert one.statistic_ == two.statistic_
    assert one.solver_report_["n_directions"] == 3


def test_whoever_has_no_category_is_left_out():
    X, y, sex = PEOPLE
    holes = X.assign(job=X["job"].where(np.arange(300) != 7))
    model = pipeline(LogisticRegression()).fit(*TRAINING[:2])
    with pytest.warns(UserWarning, match="1 person left out"):
        test = IndividualFairnessTest(model).fit(holes, y, sensitive_features=sex)
    assert test.excluded_["reason"].tolist() == ["missing: job"]
