"""From data to a verdict with everything in between, on real people."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from fairlearn.metrics import MetricFrame, selection_rate
from fairlearn.reductions import DemographicParity, ErrorRate, ExponentiatedGradient
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from skfairtest import (
    FairnessTest,
    SensitiveStratifiedKFold,
    SignificanceFrame,
    make_fairness_scorer,
    select_fair,
)

pytestmark = [
    pytest.mark.slow,
    # fairlearn's own, of pandas and of scikit-learn.
    pytest.mark.filterwarnings(
        "ignore:Setting a value on a Series via .at", "ignore:Setting an item of incompatible dtype"
    ),
]

TOLERANCE = 0.1


class Reduction(ExponentiatedGradient):
    """fairlearn's reduction with a signature that metadata routing can read."""

    def fit(self, X, y, *, sensitive_features):
        """Fit to people whose groups are known."""
        return super().fit(X, y, sensitive_features=sensitive_features)


def arrests(raw_data):
    datasets = pytest.importorskip("sklego.datasets", reason="needs scikit-lego, whose wheel has the data")
    people = datasets.load_arrests(as_frame=True)
    return people.drop(columns="released"), (people["released"] == "Yes").astype(int), "colour"


def adult(raw_data):
    people = pd.read_csv(raw_data("adult.csv.gz")).sample(6000, random_state=0)
    columns = ["age", "education_num", "hours_per_week", "marital_status", "sex"]
    return people[columns], people["income"].str.contains(">50K").astype(int), "sex"


@pytest.fixture(scope="module", params=[arrests, adult])
def people(request, raw_data):
    X, y, sensitive = request.param(raw_data)
    both = y.astype(str) + X[sensitive]
    return *train_test_split(X, y, test_size=1 / 3, stratify=both, random_state=0), sensitive


@pytest.fixture(scope="module")
def search(people):
    """Search how much to regularize a model, and how much disparity a reduction may leave."""
    X, _, y, _, sensitive = people
    encode = make_column_transformer(
        (OneHotEncoder(drop="if_binary"), make_column_selector(f"^(?!{sensitive}$)", dtype_exclude=np.number)),
        (StandardScaler(), make_column_selector(dtype_include=np.number)),
    )
    with sklearn.config_context(enable_metadata_routing=True):
        costs = ErrorRate(costs={"fp": y.mean(), "fn": 1 - y.mean()})  # both labels count the same
        reduction = Reduction(LogisticRegression(), DemographicParity(), objective=costs, max_iter=10)
        reduction.set_fit_request(sensitive_features=True).set_predict_request(random_state=True)
        np.random.seed(0)  # scikit-learn's scorers hand no seed to a model that predicts at random
        return GridSearchCV(
            Pipeline([("encode", encode), ("model", reduction)]),
            {"model__estimator__C": [0.001, 1.0], "model__eps": [0.01, 10.0]},
            scoring={
                "accuracy": "balanced_accuracy",
                "parity": make_fairness_scorer("demographic_parity", sensitive_features=sensitive),
                "routed": make_fairness_scorer("demographic_parity"),
            },
            cv=SensitiveStratifiedKFold(3, sensitive_features=sensitive),
            refit=select_fair("accuracy", "parity", tolerance=TOLERANCE),
            error_score="raise",
        ).fit(X, y, sensitive_features=X[sensitive])


def test_the_search_takes_the_most_accurate_model_that_is_fair_enough(search):
    bound, accuracy = -search.cv_results_["mean_test_parity"], search.cv_results_["mean_test_accuracy"]
    fair = bound <= TOLERANCE
    assert fair[search.best_index_]
    assert accuracy[search.best_index_] == accuracy[fair].max()
    assert not fair[np.argmax(accuracy)]  # fairness was not for free
    assert search.best_params_["model__eps"] == 0.01


def test_groups_by_routing_and_by_name_give_the_same_scores(search):
    for fold in range(3):
        by_name, routed = (search.cv_results_[f"split{fold}_test_{name}"] for name in ("parity", "routed"))
        np.testing.assert_array_equal(by_name, routed)


def test_the_verdict_on_people_whom_the_search_has_not_seen(people, search):
    _, X, _, y, sensitive = people
    with sklearn.config_context(enable_metadata_routing=True):
        question = {"metric": "demographic_parity", "margin": TOLERANCE}
        chosen = FairnessTest(search.best_estimator_, **question, random_state=0)
        chosen.fit(X, y, sensitive_features=X[sensitive])
    assert not chosen.concern_
    raw = LogisticRegression(class_weight="balanced").fit(search.best_estimator_[:-1].transform(people[0]), people[2])
    unfair = FairnessTest(raw, **question).fit(
        search.best_estimator_[:-1].transform(X), y, sensitive_features=X[sensitive].to_numpy()
    )
    assert unfair.concern_
    assert abs(chosen.disparity_) < TOLERANCE < abs(unfair.disparity_)


def test_the_frame_shows_what_the_test_says(people, search):
    _, X, _, y, sensitive = people
    with sklearn.config_context(enable_metadata_routing=True):
        y_pred = search.best_estimator_.predict(X, random_state=0)
        test = FairnessTest(search.best_estimator_, metric="demographic_parity", random_state=0)
        test.fit(X, y, sensitive_features=X[sensitive])
    shown = {
        "metrics": {"accuracy": balanced_accuracy_score, "selection": selection_rate},
        "y_true": y,
        "y_pred": y_pred,
        "sensitive_features": X[sensitive],
    }
    frame = SignificanceFrame(**shown, random_state=0, test_params={"n_resamples": 199})
    pd.testing.assert_frame_equal(frame.by_group, MetricFrame(**shown).by_group)
    assert frame.p_values()["selection"] == test.p_value_
    assert frame.difference()["selection"] == pytest.approx(abs(test.disparity_), rel=1e-12)
    low, high = frame.difference_interval()
    assert low["selection"] <= frame.difference()["selection"] <= high["selection"]
