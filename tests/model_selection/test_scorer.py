"""What a fairness scorer returns, and everything in scikit-learn that takes one."""

import copy
import pickle
import warnings

import fairlearn.metrics as fair
import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import check_scoring, roc_auc_score
from sklearn.model_selection import (
    GridSearchCV,
    StratifiedKFold,
    cross_val_score,
    cross_validate,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skfairtest import FairnessTest, SmallGroupWarning, make_fairness_scorer
from skfairtest.group import fairness

FOLDS = StratifiedKFold(3)


class Says:
    """A model that predicts a column of X."""

    def __init__(self, column="said"):
        self.column = column

    def predict(self, X):
        return np.asarray(X[self.column])


def score(metric, X, y=None, model=None, groups="group", **params):
    """The score of a model whose groups are a column of X, by default of one that says what X says."""
    return make_fairness_scorer(metric, sensitive_features=groups, **params)(model or Says(), X, y)


@pytest.fixture(scope="module")
def people():
    """Who are selected by merit, which differs between the sexes: X (with the sex as a number), y, and the sexes."""
    rng = np.random.default_rng(4)
    sex = rng.choice(["female", "male"], 240)
    X = pd.DataFrame({"merit": rng.normal(size=240) + (sex == "male"), "age": rng.normal(size=240)})
    X["sex"] = (sex == "male").astype(int)
    y = (X["merit"] + rng.normal(size=240) > 0.5).astype(int)
    return X, y, pd.Series(sex, name="sex")


@pytest.fixture(scope="module")
def model(people):
    return LogisticRegression().fit(*people[:2])


@pytest.fixture(scope="module")
def three():
    """Decisions on people of three groups."""
    rng = np.random.default_rng(1)
    group = np.repeat(["a", "b", "c"], [60, 80, 50])
    y = rng.integers(0, 2, 190)
    said = (rng.random(190) < 0.3 + 0.3 * y + 0.15 * (group == "c")).astype(int)
    return pd.DataFrame({"said": said, "group": group, "score": rng.random(190)}), y


#: 56 of 70 against 48 of 80.
PUBLISHED = pd.DataFrame({"said": np.repeat([1, 0, 1, 0], [56, 14, 48, 32]), "group": np.repeat(["1", "2"], [70, 80])})


# --- the numbers -----------------------------------------------------------------------------------------------------


def test_the_upper_bound_is_the_published_end_of_the_interval():
    # Newcombe (1998), Statistics in Medicine 17, 873-890, table II, example (a), Miettinen and Nurminen's method:
    # 0.0528 to 0.3382.
    assert score("selection_rate", PUBLISHED) == pytest.approx(-0.3382, abs=5e-5)


@pytest.mark.parametrize(
    ("metric", "theirs", "disparity"),
    [
        ("demographic_parity", fair.demographic_parity_difference, "difference"),
        ("equalized_odds", fair.equalized_odds_difference, "difference"),
        ("equal_opportunity", fair.equal_opportunity_difference, "difference"),
        ("accuracy", fair.accuracy_score_difference, "difference"),
        ("demographic_parity", fair.demographic_parity_ratio, "ratio"),
        ("equalized_odds", fair.equalized_odds_ratio, "ratio"),
    ],
)
def test_the_disparity_is_fairlearns_of_the_furthest_pair_and_the_furthest_rate(three, metric, theirs, disparity):
    X, y = three
    expected = theirs(y, X["said"], sensitive_features=X["group"]) * (1 if disparity == "ratio" else -1)
    assert score(metric, X, y, output="disparity", disparity=disparity) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("metric", "params"),
    [
        ("equalized_odds", {}),
        ("equalized_odds", {"disparity": "ratio"}),
        ("demographic_parity", {"disparity": "ratio", "compare": "to_rest"}),
        ("f1", {"margin": 0.1}),
        ("roc_auc", {"n_resamples": 99}),
    ],
)
def test_the_upper_bound_is_the_worst_end_of_all_comparisons_and_needs_no_p_value(people, model, metric, params):
    X, y, sex = people
    test = FairnessTest(model, metric=metric, random_state=0, **params).fit(X, y, sensitive_features=sex)
    low, high = test.comparisons_[["ci_low", "ci_high"]].to_numpy().T
    worst = np.minimum(low, 1 / high).min() if "disparity" in params else -np.maximum(-low, high).max()
    assert score(metric, X, y, model, "sex", **params) == pytest.approx(worst, rel=1e-12)
    assert "disparity" not in params or 0 < worst < 1


def test_strata_do_not_count_where_they_are_pooled(three):
    X, y = three
    given = {"sensitive_features": X["group"], "control_features": np.arange(len(y)) % 2}
    rows = FairnessTest(Says(), metric="selection_rate").fit(X, y, **given).comparisons_
    pooled = rows[rows["stratum"].isna()]
    assert len(pooled) < len(rows)
    scorer = make_fairness_scorer("selection_rate", output="disparity")
    assert scorer(Says(), X, y, **given) == -pooled["disparity"].abs().max()
    # A stratum without a group does not make the pooled disparity undefined.
    given["control_features"] = np.where(X["group"] == "a", 0, np.arange(len(y)) % 2)
    assert -1 < scorer(Says(), X, y, **given) < 0


def test_the_p_value_is_the_tests_and_negative_where_a_small_one_is_good(three):
    X, y = three
    for params in ({}, {"alternative": "equivalence", "margin": 0.3}):
        p = FairnessTest(Says(), **params).fit(X, y, sensitive_features=X["group"]).p_value_
        assert score("equalized_odds", X, y, output="p_value", **params) == (-p if params else p)
    assert 0 < score("hinnefeld", X, y, output="p_value", n_resamples=399) <= 1  # metrics of any kind


def test_a_fair_model_scores_zero_and_not_minus_zero():
    X = pd.DataFrame({"said": [0, 1] * 20, "group": ["a", "a", "b", "b"] * 10})
    found = score("selection_rate", X, output="disparity")
    assert found == 0
    assert not np.signbit(found)


@pytest.mark.parametrize("metric", ["roc_auc", "equalized_odds", "balanced_accuracy", "log_loss"])
def test_an_estimate_draws_nothing_and_is_the_same(people, model, metric, monkeypatch):
    X, y, sex = people
    expected = score(metric, X, y, model, "sex", output="disparity", method="permutation", n_resamples=99)
    draws, measure = [], fairness.measure

    def spied(*args, **kwargs):
        measured = measure(*args, **kwargs)
        draws.extend(one.draws for one in measured.tested)
        return measured

    monkeypatch.setattr(fairness, "measure", spied)
    assert score(metric, X, y, model, "sex", output="disparity") == expected
    assert draws
    assert all(drawn is None for drawn in draws)
    if metric == "roc_auc":
        scores = model.predict_proba(X)[:, 1]
        auc = [roc_auc_score(y[sex == label], scores[sex == label]) for label in ("female", "male")]
        assert expected == pytest.approx(-abs(auc[0] - auc[1]))


def test_a_disparity_function_is_scored_by_its_value():
    def spread(y_true, y_pred, *, sensitive_features):
        return np.ptp(pd.Series(y_pred).groupby(np.asarray(sensitive_features)).mean())

    y, few = np.arange(150) % 2, {"output": "disparity", "n_resamples": 19}
    assert score(spread, PUBLISHED, y, **few) == pytest.approx(-0.2)
    ratio = fair.make_derived_metric(metric=fair.count, transform="ratio")
    assert score(ratio, PUBLISHED, y, **few) == pytest.approx(70 / 80)


# --- undefined is never better ---------------------------------------------------------------------------------------


def test_a_model_does_not_win_by_making_a_group_vanish():
    X = pd.DataFrame(
        {
            "group": ["a"] * 40 + ["b"] * 40 + ["c"] * 40,
            # c is treated worst, unless no one in c is predicted positive, when it has no precision at all
            "honest": [1, 0] * 40 + [1, 0] * 20,
            "evading": [1, 0] * 40 + [0] * 40,
        }
    )
    y = np.concatenate([np.tile([1, 1, 1, 0], 20), np.zeros(40, dtype=int)])
    assert score("precision", X, y, Says("honest"), output="disparity") == -1
    with pytest.warns(UndefinedMetricWarning) as warned:
        assert np.isnan(score("precision", X, y, Says("evading"), output="disparity"))
    (message,) = [str(one.message) for one in warned if "fairness score is nan" in str(one.message)]
    assert "precision of c" in message
    assert "none wins by leaving a group undefined" in message


def test_a_model_for_which_nothing_is_defined_or_a_person_is_left_alone_has_no_score():
    with pytest.warns(UndefinedMetricWarning, match="no one meets the condition"):
        assert np.isnan(score("precision", PUBLISHED.assign(none=0), np.arange(150) % 2, Says("none")))
    X = pd.concat([PUBLISHED, pd.DataFrame({"said": [1], "group": ["third"]})], ignore_index=True)
    with pytest.warns(UserWarning, match="third") as warned:
        assert np.isnan(score("selection_rate", X))
    assert any("cv=SensitiveStratifiedKFold()" in str(one.message) for one in warned)


def test_folds_do_not_warn_one_by_one_that_groups_are_small(people, model):
    X, y = (part[:60] for part in people[:2])
    with pytest.warns(SmallGroupWarning):
        FairnessTest(model, metric="balanced_accuracy").fit(X, y, sensitive_features="sex")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        score("balanced_accuracy", X, y, model, "sex")


# --- a scorer like any other -----------------------------------------------------------------------------------------


class Counting(LogisticRegression):
    """A model that counts how often it predicts."""

    calls = 0

    def predict(self, X):
        Counting.calls += 1
        return super().predict(X)


def test_scorers_of_one_model_share_its_predictions(people):
    X, y, _ = people
    scorer = make_fairness_scorer("demographic_parity", sensitive_features="sex")
    found = cross_validate(Counting(), X, y, cv=FOLDS, scoring={"accuracy": "accuracy", "fair": scorer})
    assert Counting.calls == 3
    alone = cross_validate(Counting(), X, y, cv=FOLDS, scoring=scorer)
    np.testing.assert_array_equal(found["test_fair"], alone["test_score"])


def test_it_is_a_scorer_that_pickles_clones_and_shows_how_it_was_made(people, model, three):
    X, y, sex = people
    scorer = make_fairness_scorer("equalized_odds", sensitive_features=["sex", "race"], margin=0.1)
    assert repr(scorer) == (
        "make_fairness_scorer('equalized_odds', output='upper_bound', sensitive_features=['sex', 'race'], "
        "random_state=0, margin=0.1)"
    )
    assert repr(make_fairness_scorer(fair.selection_rate)).startswith("make_fairness_scorer(selection_rate, output=")
    assert check_scoring(model, scoring=scorer) is scorer
    scorer = make_fairness_scorer("demographic_parity")
    expected = scorer(model, X, y, sensitive_features=sex)
    search = clone(GridSearchCV(model, {"C": [1]}, scoring=scorer))
    for other in (pickle.loads(pickle.dumps(scorer)), copy.deepcopy(scorer), search.scoring):
        assert repr(other) == repr(scorer)
        assert other(model, X, y, sensitive_features=sex) == expected
    # A copy knows fairlearn's functions by their twins too.
    scorer = make_fairness_scorer(fair.false_positive_rate_difference, sensitive_features="group")
    twin = score("false_positive_rate", *three)
    assert scorer(Says(), *three) == pickle.loads(pickle.dumps(scorer))(Says(), *three) == twin
    test = clone(FairnessTest(metric=fair.false_positive_rate_difference))
    assert test.fit(three[0]["said"], three[1], sensitive_features=three[0]["group"]).n_resamples_ == 0


@pytest.mark.parametrize("switch", [True, False])
def test_groups_are_requested_whatever_the_switch_was_when_it_was_made(people, switch):
    X, y, sex = people
    with config_context(enable_metadata_routing=switch):
        scorer = make_fairness_scorer("demographic_parity")
    with config_context(enable_metadata_routing=True):
        requests = scorer.get_metadata_routing().score.requests
        named = ("sensitive_features", "control_features", "clusters")
        assert requests == dict.fromkeys(named, True) | {"sample_weight": None}
        params = {"sensitive_features": sex}
        assert (cross_val_score(LogisticRegression(), X, y, scoring=scorer, cv=FOLDS, params=params) < 0).all()


@pytest.mark.usefixtures("routing")
def test_another_request_does_not_forget_the_groups(people):
    X, y, sex = people
    scorer = make_fairness_scorer("demographic_parity").set_score_request(sample_weight=True, control_features="age")
    young = (X["age"] < 0).to_numpy()
    weight = np.where(young, 2.0, 1.0)
    params = {"sensitive_features": sex, "sample_weight": weight, "age": young}
    model = LogisticRegression().set_fit_request(sample_weight=False)
    found = cross_validate(
        model, X, y, scoring=scorer, cv=FOLDS, params=params, return_estimator=True, return_indices=True
    )
    for result, fitted, rows in zip(found["test_score"], found["estimator"], found["indices"]["test"], strict=True):
        given = {"sensitive_features": sex.iloc[rows], "control_features": young[rows], "sample_weight": weight[rows]}
        assert result == scorer(fitted, X.iloc[rows], y.iloc[rows], **given)


# --- everything that takes a scorer ----------------------------------------------------------------------------------

SPACE = {"logisticregression__C": [0.01, 1]}


def searched(kind, **more):
    def tool(model, X, y, scoring, params):
        search = kind(model, SPACE, scoring=scoring, cv=FOLDS, **more).fit(X, y, **params)
        return [*search.cv_results_["mean_test_score"], search.score(X, y, **params), search.best_score_]

    return tool


def among_others(model, X, y, scoring, params):
    scoring = {"fair": scoring, "acc": "accuracy", "named": make_fairness_scorer("accuracy", sensitive_features="sex")}
    found = cross_validate(model, X, y, scoring=scoring, cv=FOLDS, params=params)
    assert (found["test_acc"] > 0.5).all()
    return [*found["test_fair"], *found["test_named"]]


TOOLS = {
    "search": searched(GridSearchCV),
    **{tool.__name__: tool for tool in (among_others,)},
}


@pytest.mark.parametrize(
    "tool", [pytest.param(tool, marks=pytest.mark.slow if "processes" in tool else ()) for tool in TOOLS]
)
def test_groups_reach_it_by_routing_and_by_name_with_the_same_scores(people, tool):
    X, y, sex = people
    scaled = make_column_transformer((StandardScaler(), ["merit", "age"]))  # the model does not see the sex
    model = make_pipeline(scaled, LogisticRegression())
    by_name = TOOLS[tool](model, X, y, make_fairness_scorer("demographic_parity", sensitive_features="sex"), {})
    scorer = make_fairness_scorer("demographic_parity")
    with config_context(enable_metadata_routing=True):
        by_routing = TOOLS[tool](model, X, y, scorer, {"sensitive_features": sex})
    assert np.isfinite(by_name).all()
    assert (np.asarray(by_name) < 0).all()
    np.testing.assert_array_equal(by_routing, by_name)


# --- what has no meaning ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("metric", "params", "message"),
    [
        ("accuracy", {"output": "bound"}, "output must be one of 'disparity', 'upper_bound', 'p_value'"),
        ("accurcy", {}, r"metric='accurcy' is unknown; did you mean 'accuracy'\? There are selection_rate"),
        ("accuracy", {"estimator": 3}, "test_params cannot set estimator: a search or cross-validation passes"),
        ("accuracy", {"n_permutations": 3}, r"test_params: FairnessTest has no 'n_permutations'; there are adjust, "),
        ("accuracy", {"method": "exakt"}, "method must be one of"),
        ("accuracy", {"random_state": None}, "random_state of a scorer must be an integer, found None"),
        ("accuracy", {"random_state": np.random.RandomState(0)}, "random_state of a scorer must be an integer"),
        ("accuracy", {"alternative": "greater"}, "use alternative='two-sided', or output='disparity' or 'p_value'"),
        ("accuracy", {"adjust": None}, "pointwise intervals"),
        ("accuracy", {"adjust": "fdr_bh"}, "pointwise intervals"),
        ("normalized_mutual_info", {}, "normalized_mutual_info is one number for all groups and has no interval"),
        ("normalized_mutual_info", {"output": "p_value", "compare": "to_rest"}, "use compare='between_groups'"),
        ("hinnefeld", {"output": "disparity"}, "'disparate_impact' is compared by ratio and the other metrics by"),
        (
            fair.make_derived_metric(metric=fair.mean_prediction, transform="group_min"),
            {"output": "disparity"},
            "neither large nor small values are fairer",
        ),
        (fair.demographic_parity_difference, {"disparity": "ratio"}, "set disparity='difference'"),
    ],
)  # fmt: skip
def test_what_has_no_meaning_is_refused_when_the_scorer_is_made(metric, params, message):
    with pytest.raises(ValueError, match=message):
        make_fairness_scorer(metric, **params)
