"""Forgetting a step gives a sentence that says what to type.

Each mistake is made with ``error_score="raise"``, where the sentence is the error, and without it, where it is inside
scikit-learn's warning. Where scikit-learn refuses first, what it says is written down here for each version.
"""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.compose import make_column_transformer
from sklearn.exceptions import FitFailedWarning, NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, TunedThresholdClassifierCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.fixes import parse_version

from skfairtest import FairnessTest, SensitiveStratifiedKFold, fairness_p_value, make_fairness_scorer, select_fair

SAYS_WHAT_TO_TYPE = (
    r"sensitive_features is missing, .*sklearn\.set_config\(enable_metadata_routing=True\), then "
    r"search\.fit\(X, y, sensitive_features=groups\) or "
    r"cross_validate\(\.\.\., params=\{'sensitive_features': groups\}\)\. "
    r"Without routing: make_fairness_scorer\(\.\.\., sensitive_features='sex'\)"
)
SET_THE_REQUEST = r"make_scorer\(fairness_p_value, metric=\.\.\.\)\.set_score_request\(sensitive_features=True\)"
USE_THE_SPLITTER = r"cv=SensitiveStratifiedKFold\(\) keeps every group in every fold"

#: What scikit-learn says when metadata is not requested: from which version on, the error, and its words.
NOT_REQUESTED = [
    (
        "1.6",
        TypeError,
        r"{caller} got unexpected argument\(s\) \{{'sensitive_features'\}}, which are not routed to any",
    ),
    (
        "1.9",
        ValueError,  # UnsetMetadataPassedError
        r"\[sensitive_features\] are passed but are not explicitly set as requested or not requested for "
        r"make_scorer\(fairness_p_value, response_method='predict'\)\.score, which is used within {scored}\. Call "
        r"`make_scorer\(fairness_p_value, response_method='predict'\)\.set_score_request\(\{{metadata\}}=True/False\)`",
    ),
]
#: What it says when metadata is handed to a scorer of make_scorer by hand while routing is off.
BY_HAND = [("1.6", "Passing extra keyword arguments to _Scorer is only"), ("1.8", r"make_scorer\(fairness_p_value")]
SCIKIT_LEARN = parse_version(sklearn.__version__)


def of_this_version(table):
    """Return the last line of a table that is not of a later scikit-learn."""
    return [line for line in table if parse_version(line[0]) <= SCIKIT_LEARN][-1][1:]


RNG = np.random.default_rng(2)
SEX = RNG.choice(["female", "male"], 120)
X = pd.DataFrame({"merit": RNG.normal(size=120) + (SEX == "male"), "sex": (SEX == "male").astype(int)})
Y = (X["merit"] + RNG.normal(size=120) > 0.5).astype(int)
GROUPS = {"sensitive_features": SEX}
COLUMNS = {"sex": SEX, "old": np.arange(120) % 2}
SCALED = make_pipeline(StandardScaler(), LogisticRegression())
FAIR = make_fairness_scorer("demographic_parity")
NAMED = make_fairness_scorer("demographic_parity", sensitive_features="sex")


def search(scoring, model=None, **more):
    return GridSearchCV(model or LogisticRegression(), {}, scoring=scoring, cv=3, **more)


def both_ways(message, run):
    """Check that a sentence is the error with ``error_score="raise"``, and else in a warning that leaves NaN."""
    with pytest.raises(ValueError, match=message):
        run("raise")
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        scores = run(np.nan)
    assert np.isnan(scores).all()
    failed = [str(one.message) for one in warned if "Scoring failed" in str(one.message)]
    assert failed
    assert all(re.search(message, text) for text in failed)


# --- routing off -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "error", "message"),
    [
        (LogisticRegression(), TypeError, r"fit\(\) got an unexpected keyword argument 'sensitive_features'"),
        (SCALED, ValueError, "Pipeline.fit does not accept the sensitive_features parameter"),
    ],
)
def test_without_routing_scikit_learn_refuses_groups_first(model, error, message):
    # The same words from 1.6 to 1.9; they do not name routing.
    with pytest.raises(error, match=message):
        search(FAIR, model, error_score="raise").fit(X, Y, **GROUPS)
    with pytest.raises(ValueError, match=r"(?s)All the 3 fits failed.*" + message):
        search(FAIR, model).fit(X, Y, **GROUPS)
    with pytest.raises(error, match=message):
        cross_validate(model, X, Y, scoring=FAIR, params=GROUPS, error_score="raise")


def test_without_routing_other_methods_name_the_switch():
    message = "is only supported if enable_metadata_routing=True"
    with pytest.raises(ValueError, match=f"TunedThresholdClassifierCV {message}"):
        TunedThresholdClassifierCV(LogisticRegression(), scoring=FAIR).fit(X, Y, **GROUPS)
    with pytest.raises(ValueError, match=rf"GridSearchCV\.score {message}"):
        search(NAMED).fit(X, Y).score(X, Y, **GROUPS)
    with pytest.raises(RuntimeError, match="only available when metadata routing is enabled"):
        FAIR.set_score_request(sample_weight=True)


# --- groups that are forgotten, not requested, of other lengths, or of columns that are not there --------------------

MISTAKES = {
    "neither routing nor groups": (False, FAIR, X, {}, SAYS_WHAT_TO_TYPE),
    "no request and no groups": (False, make_scorer(fairness_p_value), X, {}, rf"is missing, .*{SET_THE_REQUEST}"),
    "groups forgotten": (True, {"acc": "accuracy", "score": FAIR}, X, {}, SAYS_WHAT_TO_TYPE),
    "wrong length": (
        True,
        FAIR,
        X,
        {"sensitive_features": SEX[:100]},
        r"sensitive_features has 100 values for 40 people\. .*pass all others whole to every fold: check",
    ),
    "a dict": (
        True,
        FAIR,
        X,
        {"sensitive_features": COLUMNS},
        r"sensitive_features has 120 values for 40 people\. .*pass a dict to every fold without slicing it: pass "
        r"a DataFrame, as in sensitive_features=pandas\.DataFrame\(sensitive_features\)",
    ),
    "strata": (True, FAIR, X, GROUPS | {"control_features": np.zeros(7)}, "control_features has 7 values for 40 peop"),
    "clusters": (True, FAIR, X, GROUPS | {"clusters": np.zeros(7)}, "clusters has 7 values for 40 people"),
    "a column that is dropped": (
        False,
        NAMED,
        X[["merit"]],
        {},
        r"sensitive_features='sex': X has no column 'sex' here; its columns are 'merit'\. Keep the column in X",
    ),
    "an array": (
        False,
        NAMED,
        X.to_numpy(),
        {},
        r"sensitive_features='sex' names a column, but X \(ndarray\) has no column names here: pass a DataFrame",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_the_error_of_a_search_says_what_to_type(mistake):
    routed, scoring, data, given, message = MISTAKES[mistake]

    def run(error_score):
        found = search(scoring, refit="acc" if isinstance(scoring, dict) else True, error_score=error_score)
        return found.fit(data, Y, **given).cv_results_["mean_test_score"]

    with sklearn.config_context(enable_metadata_routing=routed):
        both_ways(message, run)


@pytest.mark.usefixtures("routing")
def test_a_frame_of_groups_is_sliced_and_by_hand_a_dict_is_as_good():
    frame = pd.DataFrame(COLUMNS)
    search(FAIR, error_score="raise").fit(X, Y, sensitive_features=frame)
    model = LogisticRegression().fit(X, Y)
    assert FAIR(model, X, Y, sensitive_features=COLUMNS) == FAIR(model, X, Y, sensitive_features=frame)


@pytest.mark.usefixtures("routing")
def test_a_request_that_is_not_set_is_scikit_learns_to_name():
    error, message = of_this_version(NOT_REQUESTED)
    scorer = make_scorer(fairness_p_value)
    with pytest.raises(error, match=message.format(caller="GridSearchCV.fit", scored="GridSearchCV.fit")):
        search(scorer).fit(X, Y, **GROUPS)
    with pytest.raises(error, match=message.format(caller="cross_validate.fit", scored="cross_validate")):
        cross_validate(LogisticRegression(), X, Y, scoring=scorer, params=GROUPS)
    # Until 1.8 a scorer without a request beside one with it is called without groups, and says itself what to type.
    ours = SET_THE_REQUEST if parse_version("1.9") > SCIKIT_LEARN else "not explicitly set as requested"
    with pytest.raises(ValueError, match=ours):
        search({"p": scorer, "fair": FAIR}, refit=False, error_score="raise").fit(X, Y, **GROUPS)
    weighted = LogisticRegression().set_fit_request(sample_weight=True)
    with pytest.raises(ValueError, match=r"\[sample_weight\] are passed but are not explicitly .*set_score_request"):
        search(FAIR, weighted).fit(X, Y, **GROUPS, sample_weight=np.ones(120))
    with pytest.raises(TypeError, match=r"unexpected argument\(s\) \{'sensitive_features'\}, which are not routed"):
        search(NAMED).fit(X, Y, **GROUPS)


# --- by hand ---------------------------------------------------------------------------------------------------------

TWICE = pd.concat([X, pd.Series(SEX, name="sex")], axis=1)
SEVERAL = "sensitive_features='sex': X has several columns named 'sex': give each its own name"
A_NAME = "must be the name of a column of X, or a list of names, as in sensitive_feat"


@pytest.mark.parametrize(
    ("error", "message", "call"),
    [
        (ValueError, SAYS_WHAT_TO_TYPE, lambda model: FAIR(model, X, Y)),
        (ValueError, SAYS_WHAT_TO_TYPE, lambda model: TunedThresholdClassifierCV(model, scoring=FAIR).fit(X, Y)),
        (ValueError, r"the columns \['sex'\] of X: leave one of the two out", lambda m: NAMED(m, X, Y, **GROUPS)),
        (ValueError, of_this_version(BY_HAND)[0], lambda m: make_scorer(fairness_p_value)(m, X, Y, **GROUPS)),
        (NotFittedError, "not fitted yet", lambda model: FAIR(LogisticRegression(), X, Y, **GROUPS)),
        (NotFittedError, "not fitted yet", lambda model: FAIR(SCALED, X, Y, **GROUPS)),
        (ValueError, SEVERAL, lambda model: NAMED(LogisticRegression().fit(np.zeros((120, 3)), Y), TWICE, Y)),
        (ValueError, SEVERAL, lambda model: SensitiveStratifiedKFold(sensitive_features="sex").split(TWICE, Y)),
        (ValueError, A_NAME, lambda model: make_fairness_scorer("f1", sensitive_features=pd.Series(["f", "m"]))),
        (ValueError, A_NAME, lambda model: make_fairness_scorer("f1", sensitive_features=np.array(["f", "m"]))),
        (ValueError, A_NAME, lambda model: make_fairness_scorer("f1", sensitive_features=["f", 1.5])),
        (ValueError, A_NAME, lambda model: make_fairness_scorer("f1", sensitive_features={"sex": [1]})),
    ],
)
def test_a_call_by_hand_says_what_is_wrong(error, message, call):
    model = LogisticRegression().fit(X, Y)
    assert FAIR(model, X, Y, **GROUPS) < 0  # which needs no routing
    with pytest.raises(error, match=message):
        call(model)


# --- folds -----------------------------------------------------------------------------------------------------------


def validated(scorer, cv, data=X, error_score="raise"):
    model = make_pipeline(make_column_transformer((StandardScaler(), ["merit"])), LogisticRegression())
    return cross_validate(model, data, Y, scoring=scorer, cv=cv, error_score=error_score)["test_score"]


def test_a_fold_with_one_group_only():
    women, men = np.flatnonzero(SEX == "female"), np.flatnonzero(SEX == "male")
    folds = [(np.r_[women[20:], men[20:]], np.r_[women[:20], men[:20]]), (np.arange(120), women)]
    message = rf"holds one group only, 0.*: nothing can be compared; .*{USE_THE_SPLITTER}"
    both_ways(message, lambda error_score: validated(NAMED, folds, error_score=error_score)[1:])


def test_a_fold_where_the_reference_group_is_missing_or_a_rate_is_undefined():
    reference = {"sensitive_features": "origin", "compare": "to_reference", "reference_group": "c"}
    data, folds = X.assign(origin=np.repeat(["a", "b", "c"], 40)), [(np.arange(120), np.arange(80))]
    with pytest.raises(ValueError, match=rf"'c' is not a group; the groups are 'a', 'b'\. .*{USE_THE_SPLITTER}"):
        validated(make_fairness_scorer("demographic_parity", **reference), folds, data)
    folds = [(np.arange(120), np.flatnonzero((SEX == "male") | (Y == 0)))]
    with pytest.warns(UserWarning, match=rf"fairness score is nan: .*{USE_THE_SPLITTER}"):
        scores = validated(make_fairness_scorer("equal_opportunity", sensitive_features="sex"), folds)
    assert np.isnan(scores).all()


def test_the_splitter_that_the_messages_name_puts_it_right():
    rng = np.random.default_rng(0)
    sex = np.repeat(["female", "male"], [12, 108])
    data = pd.DataFrame({"merit": rng.normal(size=120), "sex": (sex == "male").astype(int)})
    y = np.arange(120) % 2
    named = make_fairness_scorer("equalized_odds", sensitive_features="sex")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        unstratified = cross_validate(LogisticRegression(), data, y, scoring=named, cv=3)["test_score"]
    assert np.isnan(unstratified).any()
    cv = SensitiveStratifiedKFold(3, sensitive_features="sex")
    found = cross_validate(LogisticRegression(), data, y, scoring=named, cv=cv, error_score="raise")
    assert np.isfinite(found["test_score"]).all()


@pytest.mark.filterwarnings("ignore:Scoring failed:UserWarning")
def test_a_score_that_fails_is_the_error_score_of_the_search():
    found = search({"acc": "accuracy", "fair": FAIR}, refit="acc", error_score=0.25).fit(X, Y)
    np.testing.assert_array_equal(found.cv_results_["mean_test_fair"], [0.25])


def test_a_fit_that_fails_warns_as_scikit_learn_does_and_is_out():
    grid = GridSearchCV(
        LogisticRegression(), {"C": [-1.0, 1e-6]}, scoring={"acc": "accuracy", "fair": NAMED}, cv=3,
        refit=select_fair("acc", "fair", tolerance=0.5),
    )  # fmt: skip
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        grid.fit(X, Y)
    failed = [str(one.message) for one in warned if issubclass(one.category, FitFailedWarning)]
    assert len(failed) == 1
    assert "'C' parameter of LogisticRegression must be" in failed[0]
    assert grid.best_index_ == 1
    test = FairnessTest(grid.best_estimator_, metric="demographic_parity").fit(X, Y, sensitive_features=X["sex"])
    assert not test.concern_
