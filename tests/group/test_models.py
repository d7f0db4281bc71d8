"""Predictions of fitted models, what a fit takes beside them, and the disparity functions of fairlearn.

scikit-learn's models and its meta-estimators, anything with ``predict``, models that ask for the groups, vote at random
or are trained with torch, names of columns of X, thresholds, and which label is positive.
"""

import re
import warnings
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from fairlearn import metrics as fair
from fairlearn.adversarial import AdversarialFairnessClassifier
from fairlearn.postprocessing import ThresholdOptimizer
from fairlearn.reductions import DemographicParity
from fairlearn.reductions import GridSearch as FairGridSearch
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV, TunedThresholdClassifierCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from skfairtest import (
    AdjustedFairnessTest,
    AuditedClassifier,
    CorrelationFairnessTest,
    CountTable,
    FairnessAudit,
    FairnessTest,
    GroupMetricDisplay,
    IndividualFairnessTest,
    LabelledFairnessTest,
    PairedFairnessTest,
    SubgroupScan,
    ThresholdDisplay,
    UncertainGroupsTest,
    compare_models,
    inequality_decomposition,
    make_fairness_scorer,
)
from skfairtest.readers import predict, unknown_groups

pytestmark = pytest.mark.filterwarnings(
    "ignore:.*are approximate", "ignore:.*n_resamples=19", "ignore:no person's loss"
)

RNG = np.random.default_rng(5)
N = 240
SEX = RNG.choice(["f", "m"], N)
RACE = RNG.choice(["Black", "White, or not"], N)
PEOPLE = pd.DataFrame({"merit": RNG.normal(size=N), "age": RNG.integers(2, 7, N) * 10, "sex": SEX})
X = PEOPLE[["merit", "age"]].to_numpy() * [1.0, 0.1]
Y = (X[:, 0] + 0.9 * (SEX == "m") + 0.6 * (RACE == "Black") + RNG.normal(size=N) > 0.5).astype(int)
WORDS = np.array(["granted", "denied"])[Y]
G, DRAWN = {"sensitive_features": SEX}, {"n_resamples": 19, "random_state": 0}
PLAIN = LogisticRegression().fit(X, Y)
BY_NAME = make_pipeline(make_column_transformer(("passthrough", ["merit", "age"])), PLAIN).fit(PEOPLE, Y)


def same(test, y_pred, y_true=Y, groups=SEX, **params):
    """Compare a test of a model with one of its predictions."""
    expected = FairnessTest.from_predictions(y_true, y_pred, sensitive_features=groups, **params)
    numbers = ["value_group", "value_other", "standard_error", "statistic", "p_value", "ci_low", "ci_high"]
    pd.testing.assert_frame_equal(test.comparisons_[numbers], expected.comparisons_[numbers], rtol=1e-9)


class Probabilities:
    """A model that only gives probabilities, as boosters do."""

    def predict(self, X):
        return BY_NAME.predict_proba(X)[:, 1]


def optimizer(**params):
    """A model that post-processes by group; not fitted."""
    return ThresholdOptimizer(estimator=PLAIN, prefit=True, predict_method="predict_proba", grid_size=100, **params)


def optimized(groups):
    """A model with thresholds for these groups."""
    return optimizer().fit(X, Y, sensitive_features=groups)


@pytest.fixture(scope="module")
def by_race():
    return optimized(RACE)


# Models ---------------------------------------------------------------------------------------------------------------

INNER = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, Y)
MODELS = {
    "pipeline": lambda: INNER,
    "tree": lambda: DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, Y),
    "search": lambda: GridSearchCV(INNER, {"logisticregression__C": [0.1, 1]}, cv=2).fit(X, Y),
    "frozen": lambda: FrozenEstimator(INNER),
    "calibrated": lambda: CalibratedClassifierCV(FrozenEstimator(INNER)).fit(X, Y),
    "tuned threshold": lambda: TunedThresholdClassifierCV(FrozenEstimator(INNER), cv="prefit", refit=False).fit(X, Y),
    "fixed threshold": lambda: FixedThresholdClassifier(INNER, threshold=0.8).fit(X, Y),
}


@pytest.mark.parametrize("routing", [False, True], ids=["routing off", "routing on"])
@pytest.mark.parametrize("name", MODELS)
def test_a_model_is_asked_for_its_predictions_and_its_scores(name, routing):
    with sklearn.config_context(enable_metadata_routing=routing):
        model = MODELS[name]()
        test = FairnessTest(model).fit(X, Y, **G)
        same(test, model.predict(X))
        assert test.by_group_.index.names == ["metric", "sensitive_feature_0"]
        same(FairnessTest(model, metric="roc_auc").fit(X, Y, **G), model.predict_proba(X)[:, 1], metric="roc_auc")
        both = FairnessTest(model, metric=["selection_rate", "brier_score"], **DRAWN).fit(X, Y, **G).by_group_
        assert both.at[("selection_rate", "f"), "value"] == pytest.approx(model.predict(X)[SEX == "f"].mean())


@pytest.mark.parametrize("model", [LogisticRegression(), LinearSVC()])
@pytest.mark.parametrize("name", ["roc_auc", "log_loss", "brier_score", "calibration"])
def test_scores_are_those_of_the_positive_label(model, name):
    model = clone(model).fit(X, WORDS)
    if isinstance(model, LinearSVC) and name != "roc_auc":
        with pytest.raises(ValueError, match=rf"LinearSVC.*no predict_proba.*{name}"):
            FairnessTest(model, metric=name, pos_label="denied").fit(X, WORDS, **G)
        return
    for label in ("denied", "granted"):
        sign = 1 if label == "granted" else -1
        score = sign * model.decision_function(X)
        score = score if name == "roc_auc" else 1 / (1 + np.exp(-score))
        params = {"metric": name, "pos_label": label, **DRAWN}
        test = FairnessTest(model, **params).fit(X, WORDS, **G)
        same(test, score, WORDS, **params)
        assert test.pos_label_ == label


def test_anything_that_predicts_is_a_model_and_may_take_arguments():
    class Cutoff:
        def predict(self, X, *, cutoff):
            return (np.asarray(X)[:, 0] > cutoff).astype(int)

    class TwoInputs:
        def predict(self, X):
            return (X[0] > X[1]).astype(int)

    groups = {"sensitive_features": ["a", "a", "b", "b"]}
    test = FairnessTest(Cutoff(), metric="selection_rate")
    test.fit([[1], [2], [3], [4]], **groups, predict_params={"cutoff": 3})
    assert test.by_group_["value"].tolist() == [0.0, 0.5]
    # What a model predicts from need not have rows.
    two = [np.array([1, 2, 3, 4]), np.array([0, 3, 0, 0])]
    assert FairnessTest(TwoInputs(), metric="selection_rate").fit(two, **groups).by_group_["value"].tolist() == [0.5, 1]
    # Without a model X is the predictions.
    for predictions in ([0, 1, 1, 0], np.array([0, 1, 1, 0]), pd.Series([False, True, True, False])):
        test = FairnessTest(metric="accuracy").fit(predictions, [0, 1, 0, 0], **groups)
        assert test.by_group_["value"].tolist() == [1.0, 0.5]


# What is refused ------------------------------------------------------------------------------------------------------


class Absent:
    """A model that loses people."""

    def predict(self, X):
        return np.ones(len(X) - 1, dtype=int)


class Wrapper:
    """Something that hands nothing on but X."""

    def __init__(self, model):
        self.model = model

    def predict(self, X):
        return self.model.predict(X)


class Silent:
    """A model that would be content with any number of people."""

    def predict(self, X, sensitive_features):
        raise AssertionError("asked")


class Rule(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        return self

    def predict(self, X):
        return X["nothing of this name"]


FRAME = pd.DataFrame(X)
GROUPS_SHUFFLED = pd.Series(SEX).sample(frac=1, random_state=0)
BOTH_SCORES = PLAIN.predict_proba(X)


@pytest.mark.parametrize(
    ("work", "match"),
    [
        *((lambda model=model: FairnessTest(model).fit(X, Y, **G), "estimator=.*the first argument is a fitted model")
          for model in (object(), LogisticRegression, "model", len)),
        (lambda: FairnessTest(LogisticRegression()).fit(X, Y, **G), r"^estimator=\w+\(\) is not fitted, and a test"),
        (lambda: FairnessTest(optimizer()).fit(X, Y, **G), r"^estimator=ThresholdOptimizer\(\) is not fitted"),
        (lambda: FairnessTest(Rule(), metric="selection_rate").fit(PEOPLE, **G), "nothing of this name"),
        (lambda: FairnessTest(Absent()).fit(X, Y, **G), "different lengths"),
        (lambda: FairnessTest(Probabilities()).fit(PEOPLE, Y, **G), "looks like scores.*or prediction_threshold=0.5"),
        *((lambda X=X: FairnessTest().fit(X, Y[:4], sensitive_features=list("aabb")), "estimator")
          for X in ([[0]] * 4, np.zeros((4, 3)), PEOPLE[:4], pl.DataFrame({"age": [31, 44, 18, 70]}))),
        *((lambda groups=groups: FairnessTest(PLAIN).fit(FRAME, Y, sensitive_features=groups), r"index.*align")
          for groups in (GROUPS_SHUFFLED, GROUPS_SHUFFLED.to_frame(), {"sex": GROUPS_SHUFFLED})),
        (lambda: FairnessTest(PLAIN).fit(FRAME, pd.Series(Y)[::-1], **G), r"index.*align"),
        *((lambda given=given: FairnessTest(Silent()).fit(X, **{"y": Y, **G, **given}),
           "X and .* have different lengths, 240 and 239")
          for given in ({"sensitive_features": SEX[1:]}, {"sensitive_features": {"sex": SEX[1:]}}, {"y": Y[1:]},
                        {"control_features": RACE[1:]})),
        (lambda: FairnessTest(Wrapper(optimized(SEX))).fit(X, Y, **G),
         r"estimator=Wrapper\(\): a model inside needs sensitive_features, but Wr"),
        (lambda: FairnessTest(optimized(SEX), metric="roc_auc").fit(X, Y, **G),
         r"ThresholdOptimizer.* no predict_proba.*roc_auc needs scores.*estimator=None"),
        (lambda: FairnessTest(BY_NAME).fit(PEOPLE, Y, sensitive_features="gender"),
         "sensitive_features='gender': X has no column .* 'merit', 'age', 'sex'"),
        (lambda: FairnessTest(BY_NAME).fit(PEOPLE, Y, sensitive_features=["sex", "aeg"]), "X has no column 'aeg'"),
        (lambda: FairnessTest().fit(Y, Y, sensitive_features="sex"), "columns cannot be looked up here"),
        (lambda: FairnessTest(Probabilities(), prediction_threshold="half").fit(PEOPLE, Y, **G),
         "prediction_threshold must be a number; found 'half'"),
        (lambda: FairnessTest(PLAIN, response="proba").fit(X, Y, **G), "response must be one of 'auto', 'predict"),
        (lambda: FairnessTest.from_predictions(Y, Y, prediction_threshold=0.5, **G), "makes predictions from y_score"),
        (lambda: FairnessTest.from_predictions(
            list("abca"), y_score=[0.1, 0.2, 0.3, 0.4], sensitive_features=list("ffmm"), prediction_threshold=0.2
         ), "decides between two labels"),
        (lambda: FairnessTest.from_predictions(None, y_score=BOTH_SCORES, metric="selection_rate", pos_label="no",
                                               prediction_threshold=0.5, **G), "pos_label='no' says which of two"),
        (lambda: FairnessTest.from_table(CountTable.from_predictions(Y, Y, **G), prediction_threshold=0.5),
         "prediction_threshold makes predictions from people's scores"),
        (lambda: PairedFairnessTest.from_predictions(Y, Y, Y, prediction_threshold=0.5, **G),
         "prediction_threshold makes predictions of models"),
        (lambda: PairedFairnessTest.from_predictions(Y, y_score_a=X[:, 0], y_score_b=X[:, 1], **G),
         "y_pred_a and y_pred_b is missing"),
        (lambda: predict(optimized(SEX), X, predict_params={"sensitive_features": SEX[1:]}),
         r"X and predict_params\['sensitive_features'\] have different lengths"),
        (lambda: predict(optimized(SEX), FRAME, predict_params={"sensitive_features": pd.Series(SEX)[::-1]}),
         r"predict_params\['sensitive_features'\].* index"),
        (lambda: make_fairness_scorer("selection_rate", predict_params={"sensitive_features": RACE}),
         r"predict_params\['sensitive_features'\] must be the name of a column of X"),
        (lambda: ThresholdDisplay.from_estimator(MODEL, X, WORDS, **G), "pos_label is needed"),
    ],
)  # fmt: skip
def test_what_a_fit_cannot_use_is_named(work, match):
    with pytest.raises((ValueError, NotFittedError, KeyError), match=match):
        work()


# Models of fairlearn, which ask for the groups or vote at random ------------------------------------------------------


def scaled():
    """A pipeline whose last step asks for the groups in fitting."""
    model = ThresholdOptimizer(estimator=LogisticRegression(), predict_method="predict_proba")
    return make_pipeline(StandardScaler(), model).fit(X, Y, thresholdoptimizer__sensitive_features=SEX)


WRAPPED = {
    "itself": lambda: optimized(SEX),
    "frozen": lambda: FrozenEstimator(optimized(SEX)),
    "pipeline": scaled,
    "pipeline of a frozen pipeline": lambda: make_pipeline("passthrough", FrozenEstimator(scaled())),
}


@pytest.mark.parametrize("wrapper", WRAPPED)
def test_the_groups_and_the_seed_reach_a_threshold_optimizer_inside(wrapper):
    inner, given = optimized(SEX), X
    if "pipeline" in wrapper:
        given = StandardScaler().fit(X).transform(X)
        inner = ThresholdOptimizer(estimator=LogisticRegression(), predict_method="predict_proba")
        inner.fit(given, Y, sensitive_features=SEX)
    model, asked = WRAPPED[wrapper](), {"metric": "selection_rate", "random_state": 0}
    for routing in (False, True):
        with sklearn.config_context(enable_metadata_routing=routing):
            for test in (FairnessTest(model, **asked), clone(FairnessTest(model, **asked))):
                same(test.fit(X, Y, **G), inner.predict(given, **G, random_state=0), metric="selection_rate")
    others = {"sensitive_features": np.roll(SEX, 1), "random_state": 7}
    test = FairnessTest(model, **asked).fit(X, Y, **G, predict_params=others)
    same(test, inner.predict(given, **others), metric="selection_rate")


@pytest.mark.filterwarnings("ignore:brier_score.*holds only 0 and 1:UserWarning")
def test_a_search_of_fairlearn_predicts_labels_and_scores():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # as above
        grid = FairGridSearch(LogisticRegression(), DemographicParity(), grid_size=5).fit(X, Y, **G)
    scores = grid.predict_proba(X)[:, 1]
    same(FairnessTest(grid).fit(X, Y, **G), grid.predict(X))
    for label, score in ((1, scores), (0, 1 - scores)):
        asked = {"metric": "roc_auc", "pos_label": label}
        same(FairnessTest(grid, **asked).fit(X, Y, **G), score, **asked)
    test = CorrelationFairnessTest(grid, of="prediction", **DRAWN).fit(X, Y, sensitive_features=X[:, 1])
    assert test.disparity_ == pytest.approx(np.corrcoef(scores, X[:, 1])[0, 1])
    # fairlearn trains a constant model if a grid point weighs everybody towards one label.
    constant = clone(grid).set_params(grid_size=1)
    constant.predictors_, constant.best_idx_ = [DecisionTreeClassifier().fit(X, np.ones(N, dtype=int))], 0
    test = FairnessTest(constant, metric="brier_score", **DRAWN).fit(X, Y, **G)
    assert test.by_group_["value"].tolist() == pytest.approx([np.mean(Y[sex == SEX] != 1) for sex in "fm"])


def adversarial(cls):
    """A small network against a smaller one; not fitted."""
    pytest.importorskip("torch")
    # fairlearn's step divides by the norm of a gradient, which a dead unit ("relu") makes 0.
    layers = {"predictor_model": [4, "leaky_relu"], "adversary_model": [2, "leaky_relu"]}
    return cls(backend="torch", **layers, epochs=3, learning_rate=0.05, random_state=0)


@pytest.mark.torch
@pytest.mark.parametrize("labels", [(0, 1), ("no", "yes")])
def test_an_adversarial_classifier_is_a_model(labels):
    y = np.array(labels)[Y]
    model = adversarial(AdversarialFairnessClassifier).fit(X, y, **G)
    test = FairnessTest(model, pos_label=labels[1]).fit(X, y, **G)
    same(test, (model.predict(X) == labels[1]).astype(int))
    assert clone(test).estimator is model  # copies of the network fail, which fairlearn makes of a list of layers
    assert "AdversarialFairnessClassifier" in repr(test)
    with pytest.raises(ValueError, match=r"has no .*predict_proba"):
        FairnessTest(model, metric="roc_auc", pos_label=labels[1]).fit(X, y, **G)
    inside = make_pipeline(StandardScaler(), adversarial(AdversarialFairnessClassifier))
    inside.fit(X, Y, adversarialfairnessclassifier__sensitive_features=SEX)
    same(FairnessTest(inside).fit(X, Y, **G), inside.predict(X))


# Models of groups: what they are given is compared with what they were fitted on --------------------------------------

RATE = {"metric": "selection_rate", "random_state": 0}
REFUSED = r"sensitive_features holds .*'f.*, none of which the model knows: ThresholdOptimizer .* predict_params="
ASKING = {
    "test": lambda model, who, **k: FairnessTest(model, **RATE).fit(X, Y, sensitive_features=who, **k),
    "audit": lambda model, who, **k: FairnessAudit(model, metrics="selection_rate").fit(
        X, Y, sensitive_features=who, **k
    ),
    "two models": lambda model, who, **k: PairedFairnessTest(PLAIN, model, n_resamples=19, **RATE).fit(
        X, Y, sensitive_features=who, **k
    ),
    "candidates": lambda model, who, **k: compare_models(
        [PLAIN, model], X, Y, sensitive_features=who, n_resamples=19, **RATE, **k
    ),
    "scan": lambda model, who, **k: SubgroupScan(model, **RATE).fit(X, Y, sensitive_features=who, **k),
}


@pytest.mark.parametrize("asking", ASKING)
def test_groups_none_or_some_of_which_a_model_knows(asking, by_race):
    for who in ({"sex": SEX}, {"sex": SEX, "race": RACE}):
        with pytest.raises(ValueError, match=REFUSED):
            ASKING[asking](by_race, who)
    some = np.where(np.arange(N) < 20, "Asian", RACE)
    with pytest.warns(UserWarning, match=r"does not know the groups of 20 of 240 people \('Asian'\)"):
        ASKING[asking](by_race, some)
    test = ASKING[asking](by_race, {"sex": SEX}, predict_params={"sensitive_features": RACE})
    if asking == "test":
        same(test, by_race.predict(X, sensitive_features=RACE, random_state=0), metric="selection_rate")


def test_several_columns_are_compared_as_fairlearn_joins_them(by_race):
    with pytest.raises(ValueError, match=REFUSED):
        GroupMetricDisplay.from_estimator(by_race, X, Y, sensitive_features=SEX, metric="selection_rate")
    both = pd.DataFrame({"race": RACE, "sex": SEX})
    model, numbers = optimized(both), optimized((SEX == "f").astype(int))
    for known in (both, {"race": RACE, "sex": SEX}):
        assert unknown_groups(model, known) is None
    recoded = both.assign(sex=np.where(np.arange(N) < 7, "?", SEX))
    assert "the groups of 7 of 240 people" in unknown_groups(model, recoded)
    with pytest.raises(ValueError, match="none of which the model knows"):
        unknown_groups(model, both[["sex", "race"]])
    assert unknown_groups(numbers, pd.Series((SEX == "f").astype(float))) is None  # 1.0 is 1
    with pytest.raises(ValueError, match=r"^predict_params\['sensitive_features'\] holds '0', '1', none"):
        unknown_groups(numbers, SEX, {"sensitive_features": (SEX == "f").astype(int).astype(str)})


def test_a_scorer_reads_the_models_groups_from_columns_of_X_or_is_given_them(by_race):
    people = PEOPLE.assign(race=RACE, age=PEOPLE["age"] / 10)
    numbers = make_column_transformer(("passthrough", ["merit", "age"])).fit(people)
    pipeline, settings = make_pipeline(numbers, by_race), {"output": "disparity", "sensitive_features": "sex"}
    with pytest.raises(ValueError, match="none of which the model knows"):
        make_fairness_scorer("selection_rate", **settings)(pipeline, people, Y)
    scorer = make_fairness_scorer("selection_rate", predict_params={"sensitive_features": "race"}, **settings)
    expected = FairnessTest(by_race, **RATE).fit(X, **G, predict_params={"sensitive_features": RACE})
    assert scorer(pipeline, people, Y) == -abs(expected.disparity_)
    given = make_fairness_scorer("selection_rate", **settings)
    assert given(pipeline, people, Y, predict_params={"sensitive_features": RACE}) == scorer(pipeline, people, Y)


# What a fit takes: names of columns, collections of Dask, probabilities and thresholds --------------------------------


@pytest.mark.parametrize(
    ("test", "named"),
    [
        (FairnessTest(BY_NAME), {"sensitive_features": ["sex"], "control_features": "age"}),
        (FairnessAudit(BY_NAME, metrics="selection_rate", scan=True, random_state=0), {"sensitive_features": ["sex"]}),
        (PairedFairnessTest(BY_NAME, BY_NAME, metric="selection_rate"), {"sensitive_features": "sex"}),
        (CorrelationFairnessTest(BY_NAME, n_resamples=99, random_state=0), {"sensitive_features": "age"}),
        (
            AdjustedFairnessTest(BY_NAME, outcome_model=Ridge(), group_model=Ridge(), random_state=0),
            {"sensitive_features": "sex", "covariates": ["merit", "age"]},
        ),
        (SubgroupScan(BY_NAME, features=["age"]), {"sensitive_features": "sex"}),
        (IndividualFairnessTest(BY_NAME, steps=(10, 0.02)), {"sensitive_features": "sex"}),
        (
            AuditedClassifier(BY_NAME, tests=FairnessTest(n_resamples=99, random_state=0), cv=2),
            {"sensitive_features": "sex", "clusters": "age"},
        ),
    ],
    ids=lambda value: type(value).__name__,
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_names_of_columns_of_x_are_the_columns(test, named):
    columns = {name: PEOPLE[key] for name, key in named.items()}
    by_name, directly = (type(test)(**test.get_params(deep=False)).fit(PEOPLE, Y, **k) for k in (named, columns))
    if hasattr(test, "to_json"):  # all but when each was made, which the checksum is of too
        texts = (re.sub(r'\d{4}-\d\d-\d\dT[\d:+]+|"checksum": "\w+"', "", t.to_json()) for t in (by_name, directly))
        assert len(set(texts)) == 1
    else:
        assert by_name.p_values_ == directly.p_values_
    assert by_name.n_features_in_ == 3


def test_columns_of_polars_and_collections_of_dask():
    expected = FairnessTest(BY_NAME).fit(PEOPLE, Y, sensitive_features="sex")
    frame = pl.from_pandas(PEOPLE)
    model = clone(BY_NAME).fit(frame, Y)
    assert FairnessTest(model).fit(frame, Y, sensitive_features="sex").p_value_ == expected.p_value_
    dask = pytest.importorskip("dask.dataframe").from_pandas(PEOPLE.assign(y=Y), npartitions=2)
    test = FairnessTest(BY_NAME).fit(dask[list(PEOPLE)], dask["y"], sensitive_features=dask["sex"])
    pd.testing.assert_frame_equal(test.comparisons_, expected.comparisons_)


def test_probabilities_and_a_threshold_are_predictions():
    probabilities, threshold = Probabilities().predict(PEOPLE), {"prediction_threshold": 0.6}
    decided = (probabilities >= 0.6).astype(int)
    for test in (
        FairnessTest(Probabilities(), **threshold).fit(PEOPLE, Y, **G),
        FairnessTest(BY_NAME, **threshold).fit(PEOPLE, Y, **G),
        FairnessTest(**threshold).fit(probabilities, Y, **G),
        FairnessTest.from_predictions(Y, y_score=probabilities, **G, **threshold),
    ):
        same(test, decided)
    words = np.array(["denied", "granted"])[Y]  # what predicts gives the probabilities of the second label
    named = FairnessTest(Probabilities(), pos_label="granted", **threshold).fit(PEOPLE, words, **G)
    same(named, decided)
    two = PairedFairnessTest(Probabilities(), BY_NAME, metric="selection_rate", **threshold)
    assert two.fit(PEOPLE, Y, **G).p_value_ == 1.0  # one model, twice
    for metric in ("roc_auc", "brier_score"):
        asked = {"metric": metric, **DRAWN}
        test = FairnessTest(Probabilities(), response="predict", **asked).fit(PEOPLE, Y, **G)
        same(test, probabilities, **asked)
    audit = FairnessAudit(Probabilities(), response="predict", scan=True, **DRAWN, **threshold).fit(PEOPLE, Y, **G)
    alone = FairnessAudit.from_predictions(Y, y_score=probabilities, scan=True, **G, **DRAWN, **threshold)
    assert {"selection_rate", "roc_auc", "calibration"} <= set(audit.comparisons_["metric"])
    assert set(alone.comparisons_["metric"]) == set(audit.comparisons_["metric"])
    pd.testing.assert_frame_equal(audit.scan_.comparisons_, alone.scan_.comparisons_)


@pytest.mark.parametrize("label", [0, 1])
def test_of_two_columns_of_probabilities_that_of_the_positive_label_is_taken(label):
    both, asked = BOTH_SCORES, {"metric": "roc_auc", "pos_label": label}
    for test in (
        FairnessTest.from_predictions(Y, both, **G, **asked),
        FairnessTest.from_predictions(Y, y_score=pd.DataFrame(both), **G, **asked),
    ):
        same(test, both[:, label], **asked)
    rates = {"metric": "selection_rate", "prediction_threshold": 0.5}
    words = pd.DataFrame(both[:, ::-1], columns=["denied", "granted"])
    named = (WORDS, words, ["granted", "denied"][label])
    for y_true, y_score, name in ((None, both, label), (Y, both.tolist(), label), named):
        test = FairnessTest.from_predictions(y_true, y_score=y_score, pos_label=name, **G, **rates)
        same(test, both[:, label] >= 0.5, None, metric="selection_rate")


@pytest.mark.parametrize("kind", [CorrelationFairnessTest, AdjustedFairnessTest])
def test_scores_may_stand_in_place_of_predictions_and_one_of_them_must(kind):
    score = BOTH_SCORES[:, 1]
    groups = {"sensitive_features": {"age": X[:, 1]}, "n_resamples": 99}
    if kind is AdjustedFairnessTest:
        groups = {**G, "covariates": {"x": X[:, 1]}, "outcome_model": Ridge(), "group_model": Ridge()}
    expected = kind.from_predictions(Y, score, random_state=0, **groups)
    for given in (score, score[:, None], BOTH_SCORES):
        test = kind.from_predictions(Y, y_score=given, random_state=0, **groups)
        assert test.p_value_ == pytest.approx(expected.p_value_, rel=1e-9)
    both = {"y_pred": score, "y_score": score}
    for wrong, said in (({}, "y_pred is missing.*or y_score"), (both, "y_pred and y_score are both given")):
        with pytest.raises(ValueError, match=said):
            kind.from_predictions(Y, **wrong, **groups)


# Which label is positive: one rule for models and for predictions, and every report names it --------------------------

MODEL, OTHER = LogisticRegression().fit(X, WORDS), LogisticRegression(C=0.001).fit(X, WORDS)
PREDICTED = MODEL.predict(X)
SHARES = np.where((SEX == "f")[:, None], [0.8, 0.2], [0.2, 0.8])
#: How each asks a model, and how it is given predictions, with or without a positive label.
LABELLED = {
    "test of a model": lambda **k: FairnessTest(MODEL, **k).fit(X, WORDS, **G),
    "test of scores": lambda **k: FairnessTest(MODEL, metric="roc_auc", n_resamples=19, **k).fit(X, WORDS, **G),
    "test of predictions": lambda **k: FairnessTest.from_predictions(WORDS, PREDICTED, **G, **k),
    "audit of a model": lambda **k: FairnessAudit(MODEL, metrics="equalized_odds", **k).fit(X, WORDS, **G),
    "audit of predictions": lambda **k: FairnessAudit.from_predictions(
        WORDS, PREDICTED, metrics="selection_rate", **G, **k
    ),
    "two models": lambda **k: PairedFairnessTest(MODEL, OTHER, n_resamples=19, **k).fit(X, WORDS, **G),
    "candidates": lambda **k: compare_models([MODEL, OTHER], X, WORDS, n_resamples=19, **G, **k),
    "scan": lambda **k: SubgroupScan(MODEL, **k).fit(X, WORDS, **G),
    "unknown groups": lambda **k: UncertainGroupsTest(MODEL, n_resamples=19, **k).fit(
        X, WORDS, sensitive_features=SHARES
    ),
    "few labels": lambda **k: LabelledFairnessTest(MODEL, **k).fit(X, WORDS, **G),
    "inequality": lambda **k: inequality_decomposition(WORDS, PREDICTED, n_resamples=19, **G, **k),
}


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("door", LABELLED)
def test_labels_that_say_nothing_need_a_positive_one_which_every_report_names(door):
    with pytest.raises(ValueError, match=r"pos_label is needed: .* 'denied', 'granted', and nothing says"):
        LABELLED[door]()
    lines = str(LABELLED[door](pos_label="denied")).splitlines()
    place = next(place for place, line in enumerate(lines) if "The positive label is denied." in line)
    titles = sum(not line or set(line) <= set("=-") for line in lines[:place])
    assert place - 2 * titles <= 2  # below the verdict


# Disparity functions of fairlearn -------------------------------------------------------------------------------------

BORROWED = [
    fair.demographic_parity_ratio,
    fair.demographic_parity_difference,
    fair.equalized_odds_difference,
    fair.equalized_odds_ratio,
    fair.equal_opportunity_difference,
    fair.true_positive_rate_ratio,
    partial(fair.equalized_odds_difference, agg="mean"),
    partial(fair.equalized_odds_ratio, agg="mean"),
    partial(fair.demographic_parity_difference, method="to_overall"),
    fair.make_derived_metric(metric=fair.selection_rate, transform="difference"),
    fair.make_derived_metric(metric=fair.true_positive_rate, transform="ratio"),
]


@pytest.mark.parametrize("function", BORROWED, ids=lambda function: getattr(function, "__name__", None))
def test_a_borrowed_disparity_has_the_number_of_fairlearn_also_with_weights(function, compas):
    groups = compas.sensitive_features["race"]
    test = FairnessTest.from_predictions(compas.y_true, compas.y_pred, metric=function, sensitive_features=groups)
    low, high = test.confidence_interval_
    expected = function(compas.y_true, compas.y_pred, sensitive_features=groups)
    assert test.disparity_ == pytest.approx(expected, rel=1e-9)
    assert low <= test.disparity_ <= high
    weighted = {**G, "sample_weight": 0.5 + X[:, 1]}
    drawn = {"n_resamples": 99, "random_state": 0}
    test = FairnessTest.from_predictions(Y, PLAIN.predict(X), metric=function, **drawn, **weighted)
    assert test.disparity_ == pytest.approx(function(Y, PLAIN.predict(X), **weighted), rel=1e-9)
