"""Forgetting a step gives a sentence that says what to type.

Each mistake is made with ``error_score="raise"``, where the sentence is the error, and without it, where it is inside
scikit-learn's warning.
"""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.compose import make_column_transformer
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, TunedThresholdClassifierCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skfairtest import SensitiveStratifiedKFold, fairness_p_value, make_fairness_scorer

SAYS_WHAT_TO_TYPE = (
    r"sensitive_features is missing, .*sklearn\.set_config\(enable_metadata_routing=True\), then "
    r"search\.fit\(X, y, sensitive_features=groups\) or "
    r"cross_validate\(\.\.\., params=\{'sensitive_features': groups\}\)\. "
    r"Without routing: make_fairness_scorer\(\.\.\., sensitive_features='sex'\)"
)
SET_THE_REQUEST = r"make_scorer\(fairness_p_value, metric=\.\.\.\)\.set_score_request\(sensitive_features=True\)"
USE_THE_SPLITTER = r"cv=SensitiveStratifiedKFold\(\) keeps every group in every fold"


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
        r"sensitive_features='sex': X \(ndarray\) has no column names here: pass a DataFrame",
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


# --- by hand ---------------------------------------------------------------------------------------------------------

TWICE = pd.concat([X, pd.Series(SEX, name="sex")], axis=1)
SEVERAL = "sensitive_features='sex': X has several columns named 'sex': give each its own name"
A_NAME = "must be the name of a column of X, or a list of names, as in sensitive_feat"


@pytest.mark.parametrize(
    ("error", "message", "call"),
    [
        (ValueError, SAYS_WHAT_TO_TYPE, lambda model: FAIR(model, X, Y)),
        (ValueError, "FixedThreshold.*select_fair", lambda m: TunedThresholdClassifierCV(m, scoring=FAIR).fit(X, Y)),
        (ValueError, r"the columns \['sex'\] of X: leave one of the two out", lambda m: NAMED(m, X, Y, **GROUPS)),
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


@pytest.mark.filterwarnings("ignore:Scoring failed:UserWarning")
def test_a_score_that_fails_is_the_error_score_of_the_search():
    found = search({"acc": "accuracy", "fair": FAIR}, refit="acc", error_score=0.25).fit(X, Y)
    np.testing.assert_array_equal(found.cv_results_["mean_test_fair"], [0.25])
