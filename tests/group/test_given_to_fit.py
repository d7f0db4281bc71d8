"""What a fit takes: names of columns of X, collections of Dask, models that only give probabilities."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import make_column_transformer
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from skfairtest import (
    AdjustedFairnessTest,
    AuditedClassifier,
    CorrelationFairnessTest,
    CountTable,
    FairnessAudit,
    FairnessTest,
    IndividualFairnessTest,
    PairedFairnessTest,
    SubgroupScan,
)

rng = np.random.default_rng(0)
X = pd.DataFrame(
    {"merit": rng.normal(size=240), "age": rng.integers(2, 7, 240) * 10, "sex": rng.choice(["f", "m"], 240)}
)
Y = (X["merit"] + 0.4 * (X["sex"] == "m") + rng.normal(size=240) > 0).astype(int)
MODEL = make_pipeline(make_column_transformer(("passthrough", ["merit", "age"])), LogisticRegression()).fit(X, Y)
SEEDED = FairnessTest(random_state=0)


class Probabilities:
    """A model that only gives probabilities, as boosters do."""

    def predict(self, X):
        return MODEL.predict_proba(X)[:, 1]


@pytest.mark.parametrize(
    ("test", "named"),
    [
        (FairnessTest(MODEL), {"sensitive_features": "sex"}),
        (FairnessTest(MODEL), {"sensitive_features": ["sex"], "control_features": "age"}),
        (FairnessAudit(MODEL, metrics="selection_rate", scan=True, random_state=0), {"sensitive_features": ["sex"]}),
        (PairedFairnessTest(MODEL, MODEL, metric="selection_rate"), {"sensitive_features": "sex"}),
        (CorrelationFairnessTest(MODEL, n_resamples=99, random_state=0), {"sensitive_features": "age"}),
        (AdjustedFairnessTest(MODEL, random_state=0), {"sensitive_features": "sex", "covariates": ["merit", "age"]}),
        (SubgroupScan(MODEL, features=["age"]), {"sensitive_features": "sex"}),
        (IndividualFairnessTest(MODEL), {"sensitive_features": "sex"}),
        (
            AuditedClassifier(MODEL, tests=SEEDED),
            {"sensitive_features": "sex", "clusters": "age"},
        ),
    ],
    ids=lambda value: type(value).__name__,
)
@pytest.mark.filterwarnings("ignore:.*few people|.*rests on|nobody's loss changed")
def test_names_of_columns_of_x_are_the_columns(test, named):
    columns = {name: X[key] for name, key in named.items()}
    by_name = type(test)(**test.get_params(deep=False)).fit(X, Y, **named)
    directly = type(test)(**test.get_params(deep=False)).fit(X, Y, **columns)
    if hasattr(test, "to_json"):
        # All but the second when each was made, which the checksum is of too.
        one, other = (
            re.sub(r'\d{4}-\d\d-\d\dT[\d:+]+|"checksum": "\w+"', "", each.to_json()) for each in (by_name, directly)
        )
        assert one == other
    else:
        assert by_name.p_values_ == directly.p_values_
    assert by_name.n_features_in_ == 3


def test_a_name_that_x_does_not_have_is_refused_with_those_that_it_has():
    with pytest.raises(ValueError, match=r"sensitive_features='gender': X has no column .* 'merit', 'age', 'sex'"):
        FairnessTest(MODEL).fit(X, Y, sensitive_features="gender")
    with pytest.raises(ValueError, match="columns cannot be looked up here"):
        FairnessTest().fit(Y, Y, sensitive_features="sex")


def test_names_are_found_in_polars_and_in_tables_of_arrow():
    model = make_pipeline(make_column_transformer(("passthrough", ["merit", "age"])), LogisticRegression())
    expected = FairnessTest(MODEL).fit(X, Y, sensitive_features="sex").p_value_
    frame = pl.from_pandas(X)
    assert FairnessTest(model.fit(frame, Y)).fit(frame, Y, sensitive_features="sex").p_value_ == expected


def test_collections_of_dask_are_computed():
    dd = pytest.importorskip("dask.dataframe")
    frame = dd.from_pandas(X.assign(y=Y), npartitions=3)
    columns = list(X.columns)
    test = FairnessTest(MODEL).fit(frame[columns], frame["y"], sensitive_features=frame["sex"])
    expected = FairnessTest(MODEL).fit(X, Y, sensitive_features=X["sex"])
    pd.testing.assert_frame_equal(test.comparisons_, expected.comparisons_)
    direct = FairnessTest.from_predictions(frame["y"], MODEL.predict(X), sensitive_features=X["sex"])
    assert direct.p_value_ == expected.p_value_


def test_a_model_is_unfitted_only_where_it_says_so():
    class Rule(ClassifierMixin, BaseEstimator):
        def fit(self, X, y):
            return self

        def predict(self, X):
            return (np.asarray(X["merit"]) > 0).astype(int)

    test = FairnessTest(Rule(), metric="selection_rate").fit(X, sensitive_features="sex")
    direct = FairnessTest.from_predictions(
        None, (X["merit"] > 0).astype(int), sensitive_features=X["sex"], metric="selection_rate"
    )
    assert test.p_value_ == direct.p_value_
    with pytest.raises(NotFittedError, match="a test never fits its model"):
        FairnessTest(LogisticRegression()).fit(X[["merit"]], Y, sensitive_features=X["sex"])


def test_probabilities_and_a_threshold_are_predictions():
    probabilities = Probabilities().predict(X)
    expected = FairnessTest.from_predictions(Y, (probabilities >= 0.6).astype(int), sensitive_features=X["sex"])
    asked = FairnessTest(Probabilities(), prediction_threshold=0.6).fit(X, Y, sensitive_features="sex")
    alone = FairnessTest.from_predictions(
        Y, y_score=probabilities, sensitive_features=X["sex"], prediction_threshold=0.6
    )
    with_proba = FairnessTest(MODEL, prediction_threshold=0.6).fit(X, Y, sensitive_features="sex")
    for test in (asked, alone, with_proba):
        pd.testing.assert_frame_equal(test.comparisons_, expected.comparisons_)
    two = PairedFairnessTest(Probabilities(), MODEL, metric="selection_rate", prediction_threshold=0.6)
    assert two.fit(X, Y, sensitive_features="sex").p_value_ == 1.0  # one model, twice


def test_a_threshold_decides_between_the_labels_that_there_are():
    words = np.where(Y == 1, "yes", "no")
    test = FairnessTest(Probabilities(), prediction_threshold=0.5, pos_label="yes").fit(
        X, words, sensitive_features="sex"
    )
    expected = FairnessTest(MODEL, prediction_threshold=0.5).fit(X, Y, sensitive_features="sex")
    assert test.p_value_ == expected.p_value_


@pytest.mark.parametrize("metric", ["roc_auc", "brier_score"])
def test_scores_come_from_predict_where_it_is_said(metric):
    params = {"metric": metric, "n_resamples": 99, "random_state": 0}
    asked = FairnessTest(Probabilities(), response="predict", **params).fit(X, Y, sensitive_features="sex")
    assert asked.p_value_ == FairnessTest(MODEL, **params).fit(X, Y, sensitive_features="sex").p_value_


def test_an_audit_of_probabilities_has_metrics_of_scores_beside_those_of_decisions():
    audit = FairnessAudit(Probabilities(), prediction_threshold=0.5, response="predict", random_state=0, n_resamples=99)
    names = set(audit.fit(X, Y, sensitive_features="sex").comparisons_["metric"])
    assert {"selection_rate", "roc_auc", "calibration"} <= names
    scored = FairnessAudit.from_predictions(
        Y, y_score=Probabilities().predict(X), sensitive_features=X["sex"], prediction_threshold=0.5, random_state=0,
        n_resamples=99,
    )  # fmt: skip
    assert set(scored.comparisons_["metric"]) == names


@pytest.mark.parametrize("label", [0, 1])
def test_two_columns_of_probabilities_are_the_scores_of_the_positive_label(label):
    both = MODEL.predict_proba(X)
    params = {"sensitive_features": X["sex"], "metric": "roc_auc", "pos_label": label}
    expected = FairnessTest.from_predictions(Y, both[:, label], **params)
    assert FairnessTest.from_predictions(Y, both, **params).p_value_ == expected.p_value_
    assert FairnessTest.from_predictions(Y, y_score=pd.DataFrame(both), **params).p_value_ == expected.p_value_


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: FairnessTest(Probabilities()).fit(X, Y, sensitive_features="sex"), "or prediction_threshold=0.5"),
        (
            lambda: FairnessTest(Probabilities(), prediction_threshold="half").fit(X, Y, sensitive_features="sex"),
            "prediction_threshold must be a number; found 'half'",
        ),
        (
            lambda: FairnessTest(MODEL, response="proba").fit(X, Y, sensitive_features="sex"),
            "response must be one of 'auto', 'predict_proba'",
        ),
        (
            lambda: FairnessTest.from_predictions(Y, Y, sensitive_features=X["sex"], prediction_threshold=0.5),
            "prediction_threshold makes predictions from y_score: pass y_score",
        ),
        (
            lambda: FairnessTest.from_predictions(
                ["a", "b", "c", "a"], y_score=[0.1, 0.2, 0.3, 0.4], sensitive_features=list("ffmm"),
                prediction_threshold=0.2,
            ),
            "decides between two labels",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_decided_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_the_column_of_the_label_that_counts_is_taken_whatever_is_known_of_the_truth():
    both, params = MODEL.predict_proba(X), {"sensitive_features": X["sex"], "metric": "selection_rate"}
    rates = FairnessTest.from_predictions(None, (both[:, 0] >= 0.5).astype(int), **params).by_group_["value"].tolist()
    asked = {"prediction_threshold": 0.5, "pos_label": 0, **params}
    words = pd.DataFrame(both[:, ::-1], columns=["yes", "no"])
    for y_true, y_score, label in (
        (None, both, 0), (Y, both, 0), (None, both.tolist(), 0), (np.where(Y == 1, "yes", "no"), words, "no"),
    ):  # fmt: skip
        test = FairnessTest.from_predictions(y_true, y_score=y_score, **{**asked, "pos_label": label})
        assert test.by_group_["value"].tolist() == rates
    zeros = (Y == 0).to_numpy()
    some = FairnessTest.from_predictions(
        Y[zeros], y_score=both[zeros], sensitive_features=X["sex"][zeros], metric="selection_rate", pos_label=0,
        prediction_threshold=0.5,
    )  # fmt: skip
    direct = FairnessTest.from_predictions(
        None, both[zeros, 0] >= 0.5, sensitive_features=X["sex"][zeros], metric="selection_rate"
    )
    assert some.by_group_["value"].tolist() == direct.by_group_["value"].tolist()
    flipped = FairnessTest(Probabilities(), **{k: v for k, v in asked.items() if k != "sensitive_features"})
    assert flipped.fit(X, Y, sensitive_features="sex").by_group_["value"].tolist() == rates
    with pytest.raises(ValueError, match="pos_label='no' says which of two columns"):
        FairnessTest.from_predictions(None, y_score=both, **{**asked, "pos_label": "no"})


def test_scores_of_a_fit_are_decided_and_a_threshold_is_never_ignored():
    scores = Probabilities().predict(X)
    test = FairnessTest(prediction_threshold=0.6).fit(scores, Y, sensitive_features=X["sex"])
    assert test.p_value_ == FairnessTest.from_predictions(Y, scores >= 0.6, sensitive_features=X["sex"]).p_value_
    table = CountTable.from_predictions(Y, MODEL.predict(X), sensitive_features=X["sex"])
    with pytest.raises(ValueError, match="prediction_threshold makes predictions from people's scores"):
        FairnessTest.from_table(table, prediction_threshold=0.5)
    with pytest.raises(ValueError, match="prediction_threshold makes predictions of models"):
        PairedFairnessTest.from_predictions(Y, Y, Y, sensitive_features=X["sex"], prediction_threshold=0.5)


def test_a_scan_of_an_audit_has_the_decisions_of_the_audit():
    scores = Probabilities().predict(X)
    params = {"scan": True, "prediction_threshold": 0.5, "random_state": 0, "metrics": "selection_rate"}
    by_model = FairnessAudit(Probabilities(), **params).fit(X, Y, sensitive_features=["sex", "age"])
    alone = FairnessAudit.from_predictions(Y, y_score=scores, sensitive_features=X[["sex", "age"]], **params)
    pd.testing.assert_frame_equal(by_model.scan_.comparisons_, alone.scan_.comparisons_)


def test_an_error_of_a_rule_is_its_own():
    class Rule(ClassifierMixin, BaseEstimator):
        def fit(self, X, y):
            return self

        def predict(self, X):
            return X["nothing of this name"]

    with pytest.raises(KeyError, match="nothing of this name"):
        FairnessTest(Rule(), metric="selection_rate").fit(X, sensitive_features="sex")


def test_a_name_that_is_misspelt_among_others_is_named():
    with pytest.raises(ValueError, match=r"X has no column 'aeg'"):
        FairnessTest(MODEL).fit(X, Y, sensitive_features=["sex", "aeg"])


@pytest.mark.parametrize("kind", [CorrelationFairnessTest, AdjustedFairnessTest])
def test_scores_may_stand_in_place_of_predictions_and_one_of_them_must(kind):
    rng = np.random.default_rng(0)
    truth, score, age = rng.integers(0, 2, 120), rng.random(120), rng.normal(size=120)
    groups = {"sensitive_features": {"age": age}, "n_resamples": 99}
    if kind is AdjustedFairnessTest:
        groups = {"sensitive_features": {"old": age > 0}, "covariates": {"x": rng.normal(size=120)}}
    expected = kind.from_predictions(truth, score, random_state=0, **groups)
    for given in (score, score[:, None], np.column_stack([1 - score, score])):
        test = kind.from_predictions(truth, y_score=given, random_state=0, **groups)
        assert test.p_value_ == pytest.approx(expected.p_value_, rel=1e-9)
    both = {"y_pred": score, "y_score": score}
    for wrong, said in (({}, "y_pred is missing.*or y_score"), (both, "y_pred and y_score are both given")):
        with pytest.raises(ValueError, match=said):
            kind.from_predictions(truth, **wrong, **groups)


def test_two_models_are_compared_by_their_scores_alone():
    rng = np.random.default_rng(0)
    truth, scores, group = rng.integers(0, 2, 160), rng.random((2, 160)), rng.choice(["a", "b"], 160)
    given = {"sensitive_features": group, "metric": "roc_auc", "n_resamples": 99, "random_state": 0}
    test = PairedFairnessTest.from_predictions(truth, y_score_a=scores[0], y_score_b=scores[1], **given)
    beside = PairedFairnessTest.from_predictions(truth, truth, truth, y_score_a=scores[0], y_score_b=scores[1], **given)
    assert (test.disparity_, test.p_value_) == (beside.disparity_, beside.p_value_)
    with pytest.raises(ValueError, match="y_pred_a and y_pred_b is missing"):
        PairedFairnessTest.from_predictions(truth, y_score_a=scores[0], y_score_b=scores[1], sensitive_features=group)
