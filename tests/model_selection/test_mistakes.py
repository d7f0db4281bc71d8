"""Forgetting a step gives a sentence that says what to type.

Each mistake is made with ``error_score="raise"``, where the sentence is the error, and without it, where it is inside
scikit-learn's warning. Where scikit-learn refuses first, what it says is written down here for each version.
"""

import re
import warnings
from functools import partial

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

from skfairtest import (
    FairnessTest,
    SensitiveStratifiedKFold,
    fairness_p_value,
    make_fairness_scorer,
    select_fair,
)

SAYS_WHAT_TO_TYPE = (
    r"sensitive_features is missing, .*sklearn\.set_config\(enable_metadata_routing=True\), then "
    r"search\.fit\(X, y, sensitive_features=groups\) or "
    r"cross_validate\(\.\.\., params=\{'sensitive_features': groups\}\)\. "
    r"Without routing: make_fairness_scorer\(\.\.\., sensitive_features='sex'\)"
)
USE_THE_SPLITTER = r"cv=SensitiveStratifiedKFold\(\) keeps every group in every fold"

#: What scikit-learn says when nobody has asked for metadata: from which version on, the error, and its words.
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


def of_this_version(table):
    """Return the last line of a table that is not of a later scikit-learn."""
    here = parse_version(sklearn.__version__)
    return [line for line in table if parse_version(line[0]) <= here][-1][1:]


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(2)
    sex = rng.choice(["female", "male"], 120)
    X = pd.DataFrame({"merit": rng.normal(size=120) + (sex == "male"), "sex": (sex == "male").astype(int)})
    y = (X["merit"] + rng.normal(size=120) > 0.5).astype(int)
    return X, y, sex


@pytest.fixture
def fair():
    return make_fairness_scorer("demographic_parity")


def search(scoring, **more):
    return GridSearchCV(LogisticRegression(), {"C": [0.1, 1]}, scoring=scoring, cv=3, **more)


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
        (
            make_pipeline(StandardScaler(), LogisticRegression()),
            ValueError,
            "Pipeline.fit does not accept the sensitive_features parameter",
        ),
    ],
)
def test_without_routing_scikit_learn_refuses_groups_first(people, fair, model, error, message):
    # The same words from 1.6 to 1.9; they do not name routing.
    X, y, sex = people
    with pytest.raises(error, match=message):
        GridSearchCV(model, {}, scoring=fair, cv=3, error_score="raise").fit(X, y, sensitive_features=sex)
    with pytest.raises(ValueError, match=r"(?s)All the 3 fits failed.*" + message):
        GridSearchCV(model, {}, scoring=fair, cv=3).fit(X, y, sensitive_features=sex)
    with pytest.raises(error, match=message):
        cross_validate(model, X, y, scoring=fair, params={"sensitive_features": sex}, error_score="raise")


def test_without_routing_other_methods_name_the_switch(people, fair):
    X, y, sex = people
    tuner = TunedThresholdClassifierCV(LogisticRegression(), scoring=fair)
    message = "is only supported if enable_metadata_routing=True"
    with pytest.raises(ValueError, match=f"TunedThresholdClassifierCV {message}"):
        tuner.fit(X, y, sensitive_features=sex)
    grid = search(make_fairness_scorer("demographic_parity", sensitive_features="sex")).fit(X, y)
    with pytest.raises(ValueError, match=rf"GridSearchCV\.score {message}"):
        grid.score(X, y, sensitive_features=sex)


def test_a_request_cannot_be_changed_without_routing(fair):
    with pytest.raises(RuntimeError, match="only available when metadata routing is enabled"):
        fair.set_score_request(sample_weight=True)


def test_a_search_with_neither_routing_nor_groups(people, fair):
    X, y, _ = people
    both_ways(
        SAYS_WHAT_TO_TYPE,
        lambda error_score: search(fair, error_score=error_score).fit(X, y).cv_results_["mean_test_score"],
    )


# --- groups forgotten, or not requested ------------------------------------------------------------------------------


@pytest.mark.usefixtures("routing")
def test_groups_that_are_forgotten_with_routing_on(people, fair):
    X, y, _ = people
    both_ways(
        SAYS_WHAT_TO_TYPE,
        lambda error_score: (
            search({"acc": "accuracy", "fair": fair}, refit="acc", error_score=error_score)
            .fit(X, y)
            .cv_results_["mean_test_fair"]
        ),
    )
    both_ways(
        SAYS_WHAT_TO_TYPE,
        lambda error_score: cross_validate(LogisticRegression(), X, y, scoring=fair, cv=3, error_score=error_score)[
            "test_score"
        ],
    )


def test_groups_that_are_forgotten_by_hand_or_by_the_tuner(people, fair):
    X, y, _ = people
    with pytest.raises(ValueError, match=SAYS_WHAT_TO_TYPE):
        fair(LogisticRegression().fit(X, y), X, y)
    with pytest.raises(ValueError, match=SAYS_WHAT_TO_TYPE):
        TunedThresholdClassifierCV(LogisticRegression(), scoring=fair).fit(X, y)


@pytest.mark.usefixtures("routing")
def test_a_request_that_nobody_has_set_is_scikit_learns_to_name(people):
    X, y, sex = people
    error, message = of_this_version(NOT_REQUESTED)
    scorer = make_scorer(fairness_p_value)
    with pytest.raises(error, match=message.format(caller="GridSearchCV.fit", scored="GridSearchCV.fit")):
        search(scorer).fit(X, y, sensitive_features=sex)
    with pytest.raises(error, match=message.format(caller="cross_validate.fit", scored="cross_validate")):
        cross_validate(LogisticRegression(), X, y, scoring=scorer, params={"sensitive_features": sex})


@pytest.mark.usefixtures("routing")
def test_a_request_that_nobody_has_set_beside_one_that_is(people, fair):
    X, y, sex = people
    scoring = {"p": make_scorer(fairness_p_value), "fair": fair}
    # Until 1.8 the scorer without a request is called without groups, and says itself what to type.
    ours = r"make_scorer\(fairness_p_value, metric=\.\.\.\)\.set_score_request\(sensitive_features=True\)"
    message = ours if parse_version(sklearn.__version__) < parse_version("1.9") else "not explicitly set as requested"
    with pytest.raises(ValueError, match=message):
        search(scoring, refit=False, error_score="raise").fit(X, y, sensitive_features=sex)


def test_a_made_scorer_without_groups_says_what_to_type(people):
    X, y, _ = people
    message = (
        r"sensitive_features is missing, .*sklearn\.set_config\(enable_metadata_routing=True\), "
        r"make_scorer\(fairness_p_value, metric=\.\.\.\)\.set_score_request\(sensitive_features=True\)"
    )
    both_ways(
        message,
        lambda error_score: (
            search(make_scorer(fairness_p_value), error_score=error_score).fit(X, y).cv_results_["mean_test_score"]
        ),
    )


def test_a_made_scorer_by_hand_needs_routing_and_ours_does_not(people, fair):
    X, y, sex = people
    model = LogisticRegression().fit(X, y)
    (message,) = of_this_version(BY_HAND)
    with pytest.raises(ValueError, match=message):
        make_scorer(fairness_p_value)(model, X, y, sensitive_features=sex)
    assert fair(model, X, y, sensitive_features=sex) < 0


@pytest.mark.usefixtures("routing")
def test_weights_have_to_be_asked_for_as_in_every_scorer(people, fair):
    X, y, sex = people
    with pytest.raises(
        ValueError, match=r"\[sample_weight\] are passed but are not explicitly set .*set_score_request"
    ):
        GridSearchCV(LogisticRegression().set_fit_request(sample_weight=True), {}, scoring=fair).fit(
            X, y, sensitive_features=sex, sample_weight=np.ones(len(y))
        )


@pytest.mark.usefixtures("routing")
def test_groups_for_a_scorer_that_reads_columns_go_nowhere(people):
    X, y, sex = people
    named = make_fairness_scorer("demographic_parity", sensitive_features="sex")
    with pytest.raises(
        TypeError, match=r"unexpected argument\(s\) \{'sensitive_features'\}, which are not routed to any"
    ):
        search(named).fit(X, y, sensitive_features=sex)
    model = LogisticRegression().fit(X, y)
    with pytest.raises(ValueError, match=r"reads the groups from the columns \['sex'\] of X: leave one of the two out"):
        named(model, X, y, sensitive_features=sex)


# --- what scikit-learn passes unsliced ------------------------------------------------------------------------------


@pytest.mark.usefixtures("routing")
def test_an_array_of_the_wrong_length(people, fair):
    X, y, sex = people
    both_ways(
        r"sensitive_features has 100 values for 40 people\. .*pass all others whole to every fold: check",
        lambda error_score: (
            search(fair, error_score=error_score).fit(X, y, sensitive_features=sex[:100]).cv_results_["mean_test_score"]
        ),
    )


@pytest.mark.usefixtures("routing")
def test_a_dict_of_arrays_in_a_search(people, fair):
    X, y, sex = people
    columns = {"sex": sex, "old": np.arange(120) % 2}
    both_ways(
        r"sensitive_features has 120 values for 40 people\. .*pass a dict to every fold without slicing it: pass "
        r"a DataFrame, as in sensitive_features=pandas\.DataFrame\(sensitive_features\)",
        lambda error_score: (
            search(fair, error_score=error_score).fit(X, y, sensitive_features=columns).cv_results_["mean_test_score"]
        ),
    )
    search(fair, error_score="raise").fit(X, y, sensitive_features=pd.DataFrame(columns))
    # By hand a dict is as good as a frame.
    model = LogisticRegression().fit(X, y)
    frame = pd.DataFrame(columns)
    assert fair(model, X, y, sensitive_features=columns) == fair(model, X, y, sensitive_features=frame)


@pytest.mark.usefixtures("routing")
@pytest.mark.parametrize("name", ["control_features", "clusters"])
def test_strata_and_clusters_of_the_wrong_length(people, fair, name):
    X, y, sex = people
    with pytest.raises(ValueError, match=f"{name} has 7 values for 40 people"):
        search(fair, error_score="raise").fit(X, y, sensitive_features=sex, **{name: np.zeros(7)})


# --- the model and X -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", [LogisticRegression(), make_pipeline(StandardScaler(), LogisticRegression())])
def test_a_model_that_is_not_fitted(people, fair, model):
    X, y, sex = people
    with pytest.raises(NotFittedError, match="not fitted yet"):
        fair(model, X, y, sensitive_features=sex)


def test_a_sensitive_column_that_is_dropped_before_the_scorer(people):
    X, y, _ = people
    named = make_fairness_scorer("demographic_parity", sensitive_features="sex")
    both_ways(
        r"sensitive_features='sex': X has no column 'sex' here; its columns are 'merit'\. Keep the column in X",
        lambda error_score: search(named, error_score=error_score).fit(X[["merit"]], y).cv_results_["mean_test_score"],
    )
    both_ways(
        r"sensitive_features='sex' names a column, but X \(ndarray\) has no column names here: pass a DataFrame",
        lambda error_score: search(named, error_score=error_score).fit(X.to_numpy(), y).cv_results_["mean_test_score"],
    )
    inside = make_pipeline(make_column_transformer((StandardScaler(), ["merit"])), LogisticRegression())
    assert GridSearchCV(inside, {}, scoring=named, cv=3, error_score="raise").fit(X, y).best_score_ < 0


def test_a_sensitive_column_whose_name_others_have(people):
    X, y, sex = people
    X = pd.concat([X, pd.Series(sex, name="sex")], axis=1)
    message = "sensitive_features='sex': X has several columns named 'sex': give each its own name"
    scorer = make_fairness_scorer("demographic_parity", sensitive_features="sex")
    model = LogisticRegression().fit(np.zeros((120, 3)), y)
    with pytest.raises(ValueError, match=message):
        scorer(model, X, y)
    with pytest.raises(ValueError, match=message):
        SensitiveStratifiedKFold(sensitive_features="sex").split(X, y)


@pytest.mark.parametrize("groups", [pd.Series(["f", "m"], name="sex"), np.array(["f", "m"]), ["f", 1.5], {"sex": [1]}])
def test_the_groups_themselves_where_a_name_belongs(groups):
    with pytest.raises(ValueError, match="must be the name of a column of X, or a list of names, as in sensitive_feat"):
        make_fairness_scorer("demographic_parity", sensitive_features=groups)


# --- folds -----------------------------------------------------------------------------------------------------------


def folds_of_one_group(sex):
    """Folds of which the second holds women only."""
    women, men = np.flatnonzero(sex == "female"), np.flatnonzero(sex == "male")
    return [(np.r_[women[20:], men[20:]], np.r_[women[:20], men[:20]]), (np.arange(120), women)]


def test_a_fold_with_one_group_only(people):
    X, y, sex = people
    named = make_fairness_scorer("demographic_parity", sensitive_features="sex")
    message = rf"holds one group only, 0.*: nothing can be compared; .*{USE_THE_SPLITTER}"

    def run(error_score):
        found = cross_validate(
            LogisticRegression(), X, y, scoring=named, cv=folds_of_one_group(sex), error_score=error_score
        )
        return found["test_score"][1:]

    both_ways(message, run)


def test_a_fold_where_the_reference_group_is_missing(people):
    X, y, _ = people
    named = make_fairness_scorer(
        "demographic_parity", sensitive_features="origin", compare="to_reference", reference_group="c"
    )
    origin = np.repeat(["a", "b", "c"], 40)
    with pytest.raises(ValueError, match=rf"'c' is not a group; the groups are 'a', 'b'\. .*{USE_THE_SPLITTER}"):
        cross_validate(
            make_pipeline(make_column_transformer((StandardScaler(), ["merit"])), LogisticRegression()),
            X.assign(origin=origin), y, scoring=named, error_score="raise",
            cv=[(np.arange(120), np.arange(80))],
        )  # fmt: skip


def test_a_fold_where_a_group_has_nobody_who_meets_the_condition(people):
    X, y, sex = people
    named = make_fairness_scorer("equal_opportunity", sensitive_features="sex")
    nobody = np.flatnonzero((sex == "male") | (y == 0))
    with pytest.warns(UserWarning, match=rf"fairness score is nan: .*{USE_THE_SPLITTER}"):
        found = cross_validate(
            LogisticRegression(), X, y, scoring=named, error_score="raise", cv=[(np.arange(120), nobody)]
        )
    assert np.isnan(found["test_score"]).all()


def test_the_splitter_that_the_messages_name_puts_it_right():
    rng = np.random.default_rng(0)
    sex = np.repeat(["female", "male"], [12, 108])
    X = pd.DataFrame({"merit": rng.normal(size=120), "sex": (sex == "male").astype(int)})
    y = np.arange(120) % 2
    named = make_fairness_scorer("equalized_odds", sensitive_features="sex")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        unstratified = cross_validate(LogisticRegression(), X, y, scoring=named, cv=3)["test_score"]
    assert np.isnan(unstratified).any()
    cv = SensitiveStratifiedKFold(3, sensitive_features="sex")
    found = cross_validate(LogisticRegression(), X, y, scoring=named, cv=cv, error_score="raise")
    assert np.isfinite(found["test_score"]).all()


# --- everything at once ----------------------------------------------------------------------------------------------


def test_a_fit_that_fails_warns_as_scikit_learn_does_and_is_out(people):
    X, y, _ = people
    scoring = {"acc": "accuracy", "fair": make_fairness_scorer("demographic_parity", sensitive_features="sex")}
    grid = GridSearchCV(
        LogisticRegression(), {"C": [-1.0, 1e-6]}, scoring=scoring, cv=3,
        refit=select_fair("acc", "fair", tolerance=0.5),
    )  # fmt: skip
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        grid.fit(X, y)
    failed = [str(one.message) for one in warned if issubclass(one.category, FitFailedWarning)]
    assert len(failed) == 1
    assert "'C' parameter of LogisticRegression must be" in failed[0]
    assert grid.best_index_ == 1
    test = FairnessTest(grid.best_estimator_, metric="demographic_parity").fit(X, y, sensitive_features=X["sex"])
    assert not test.concern_


def messages(run):
    """How often a run says that scoring failed, and that a score is undefined."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        found = run()
    said = [str(one.message) for one in warned]
    return found, [sum(text in each for each in said) for text in ("Scoring failed", "the fairness score is nan")]


@pytest.mark.parametrize("error_score", [np.nan, 0.25])
def test_a_search_says_once_for_all_folds_and_candidates_what_is_wrong_with_the_groups(people, fair, error_score):
    X, y, _ = people
    named = make_fairness_scorer("demographic_parity", sensitive_features="sex")
    cases = {
        "forgotten": (fair, X, error_score),
        "one group in each fold": (named, X.assign(sex=1), error_score),
        "one person of a group": (named, X.assign(sex=np.where(np.arange(120) % 40, X["sex"], 2)), np.nan),
    }
    for name, (scorer, features, expected) in cases.items():
        for _ in range(2):  # a second search says it again
            tried = search({"acc": "accuracy", "fair": scorer}, refit="acc", error_score=error_score)
            found, said = messages(partial(tried.fit, features, y))
            assert said == ([0, 1] if name == "one person of a group" else [1, 0]), name
            np.testing.assert_array_equal(found.cv_results_["mean_test_fair"], [expected] * 2)
    model = LogisticRegression().fit(X, y)
    for _ in range(2):  # outside of searches each call says it
        with pytest.raises(ValueError, match="sensitive_features is missing"):
            fair(model, X, y)
