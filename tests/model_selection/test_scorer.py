"""What a fairness scorer returns, and everything in scikit-learn that takes one."""

import copy
import pickle
import warnings

import fairlearn.metrics as fair
import numpy as np
import pandas as pd
import polars as pl
import pytest
from fairlearn.postprocessing import ThresholdOptimizer
from fairlearn.reductions import DemographicParity, ExponentiatedGradient
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.experimental import enable_halving_search_cv  # noqa: F401  makes HalvingGridSearchCV importable
from sklearn.feature_selection import RFECV
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import balanced_accuracy_score, check_scoring, roc_auc_score
from sklearn.model_selection import (
    GridSearchCV,
    HalvingGridSearchCV,
    RandomizedSearchCV,
    StratifiedKFold,
    TunedThresholdClassifierCV,
    cross_val_score,
    cross_validate,
    learning_curve,
    permutation_test_score,
    validation_curve,
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
def three():
    """Decisions on people of three groups."""
    rng = np.random.default_rng(1)
    group = np.repeat(["a", "b", "c"], [60, 80, 50])
    y = rng.integers(0, 2, 190)
    said = (rng.random(190) < 0.3 + 0.3 * y + 0.15 * (group == "c")).astype(int)
    return pd.DataFrame({"said": said, "group": group, "score": rng.random(190)}), y


class Counting(LogisticRegression):
    """A model that counts how often it predicts."""

    calls = 0

    def predict(self, X):
        Counting.calls += 1
        return super().predict(X)


def test_scorers_of_one_model_share_its_predictions(people):
    X, y, _ = people
    fair = make_fairness_scorer("demographic_parity", sensitive_features="sex")
    model, Counting.calls = Counting(), 0
    found = cross_validate(model, X, y, cv=FOLDS, scoring={"accuracy": "accuracy", "fair": fair})
    assert Counting.calls == 3
    alone = cross_validate(model, X, y, cv=FOLDS, scoring=fair)
    np.testing.assert_array_equal(found["test_fair"], alone["test_score"])


# --- the numbers -----------------------------------------------------------------------------------------------------


def published():
    """56 of 70 against 48 of 80."""
    group = np.repeat(["one", "other"], [70, 80])
    said = np.concatenate([np.repeat([1, 0], [56, 14]), np.repeat([1, 0], [48, 32])])
    return pd.DataFrame({"said": said, "group": group})


def test_the_upper_bound_is_the_published_end_of_the_interval():
    # Newcombe (1998), Statistics in Medicine 17, 873-890, table II, example (a), Miettinen and Nurminen's method:
    # 0.0528 to 0.3382.
    X = published()
    score = make_fairness_scorer("selection_rate", sensitive_features="group")(Says(), X)
    assert score == pytest.approx(-0.3382, abs=5e-5)


def test_the_statistic_is_the_pooled_z_of_a_textbook():
    X = published()
    pooled = 104 / 150
    z = (56 / 70 - 48 / 80) / np.sqrt(pooled * (1 - pooled) * (1 / 70 + 1 / 80))
    score = make_fairness_scorer("selection_rate", output="statistic", sensitive_features="group")(Says(), X)
    assert score == pytest.approx(-z)


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
    scorer = make_fairness_scorer(metric, output="disparity", sensitive_features="group", disparity=disparity)
    expected = theirs(y, X["said"], sensitive_features=X["group"])
    assert scorer(Says(), X, y) == pytest.approx(expected if disparity == "ratio" else -expected)


def test_the_upper_bound_is_of_all_comparisons_and_not_of_the_leading_one(three):
    X, y = three
    rows = FairnessTest(Says()).fit(X, y, sensitive_features=X["group"]).comparisons_
    ends = rows[["ci_low", "ci_high"]].abs().to_numpy()
    assert make_fairness_scorer("equalized_odds", sensitive_features="group")(Says(), X, y) == -ends.max()


def test_the_upper_bound_of_ratios_is_their_worst_end_below_one(three):
    X, y = three
    rows = FairnessTest(Says(), disparity="ratio").fit(X, y, sensitive_features=X["group"]).comparisons_
    worst = min(min(low, 1 / high) for low, high in zip(rows["ci_low"], rows["ci_high"], strict=True))
    scorer = make_fairness_scorer("equalized_odds", sensitive_features="group", disparity="ratio")
    assert scorer(Says(), X, y) == pytest.approx(worst)
    assert 0 < worst < 1


def test_strata_do_not_count_where_they_are_pooled(three):
    X, y = three
    stratum = np.arange(len(y)) % 2
    test = FairnessTest(Says(), metric="selection_rate").fit(
        X, y, sensitive_features=X["group"], control_features=stratum
    )
    pooled = test.comparisons_[test.comparisons_["stratum"].isna()]
    assert len(pooled) < len(test.comparisons_)
    scorer = make_fairness_scorer("selection_rate", output="disparity")
    found = scorer(Says(), X, y, sensitive_features=X["group"], control_features=stratum)
    assert found == -pooled["disparity"].abs().max()


def test_the_p_value_is_the_tests_and_negative_where_a_small_one_is_good(three):
    X, y = three
    for params in ({}, {"alternative": "equivalence", "margin": 0.3}):
        p = FairnessTest(Says(), **params).fit(X, y, sensitive_features=X["group"]).p_value_
        scorer = make_fairness_scorer("equalized_odds", output="p_value", sensitive_features="group", **params)
        assert scorer(Says(), X, y) == (-p if params else p)


def test_a_fair_model_scores_zero_and_not_minus_zero():
    X = pd.DataFrame({"said": [0, 1] * 20, "group": ["a", "a", "b", "b"] * 10})
    score = make_fairness_scorer("selection_rate", output="disparity", sensitive_features="group")(Says(), X)
    assert score == 0
    assert not np.signbit(score)


def test_a_metric_of_scores_asks_for_scores(people):
    X, y, sex = people
    model = LogisticRegression().fit(X, y)
    scores = model.predict_proba(X)[:, 1]
    auc = [roc_auc_score(y[sex == label], scores[sex == label]) for label in ("female", "male")]
    scorer = make_fairness_scorer("roc_auc", output="disparity", n_resamples=99)
    assert scorer(model, X, y, sensitive_features=sex) == pytest.approx(-abs(auc[0] - auc[1]))


@pytest.mark.parametrize("metric", ["roc_auc", "equalized_odds", "balanced_accuracy", "log_loss"])
def test_an_estimate_draws_nothing_and_is_the_same(people, metric, monkeypatch):
    X, y, sex = people
    model = LogisticRegression().fit(X, y)
    drawn = make_fairness_scorer(metric, output="disparity", method="permutation", n_resamples=99)
    expected = drawn(model, X, y, sensitive_features=sex)
    quick, draws = make_fairness_scorer(metric, output="disparity"), []
    measure = fairness.measure

    def spied(*args, **kwargs):
        measured = measure(*args, **kwargs)
        draws.extend(one.draws for one in measured.tested)
        return measured

    monkeypatch.setattr(fairness, "measure", spied)
    assert quick(model, X, y, sensitive_features=sex) == expected
    assert draws
    assert all(drawn is None for drawn in draws)


@pytest.mark.parametrize(
    ("metric", "params"),
    [
        ("equalized_odds", {}),
        ("demographic_parity", {"disparity": "ratio", "compare": "to_rest"}),
        ("f1", {"margin": 0.1}),
        ("roc_auc", {"n_resamples": 99}),
    ],
)
def test_an_upper_bound_needs_no_p_value_and_is_that_of_the_test(people, metric, params):
    X, y, sex = people
    model = LogisticRegression().fit(X, y)
    score = make_fairness_scorer(metric, **params)(model, X, y, sensitive_features=sex)
    low, high = (
        FairnessTest(model, metric=metric, random_state=0, **params)
        .fit(X, y, sensitive_features=sex)
        .comparisons_[["ci_low", "ci_high"]]
        .to_numpy()
        .T
    )
    worst = np.minimum(low, 1 / high).min() if "disparity" in params else -np.maximum(-low, high).max()
    assert score == worst


@pytest.mark.parametrize("adjust", [None, "fdr_bh"])
def test_an_upper_bound_of_intervals_that_hold_one_by_one_is_refused(adjust):
    with pytest.raises(ValueError, match="pointwise intervals"):
        make_fairness_scorer("equalized_odds", adjust=adjust)
    make_fairness_scorer("equalized_odds", adjust="bonferroni")


def test_an_unknown_disparity_function_is_scored_by_its_value():
    X = published()
    y = np.arange(150) % 2

    def spread(y_true, y_pred, *, sensitive_features):
        return np.ptp(pd.Series(y_pred).groupby(np.asarray(sensitive_features)).mean())

    scorer = make_fairness_scorer(spread, output="disparity", sensitive_features="group", n_resamples=19)
    assert scorer(Says(), X, y) == pytest.approx(-0.2)
    ratio = fair.make_derived_metric(metric=fair.count, transform="ratio")
    scorer = make_fairness_scorer(ratio, output="disparity", sensitive_features="group", n_resamples=19)
    assert scorer(Says(), X, y) == pytest.approx(70 / 80)


def test_the_same_model_and_data_have_the_same_score(people):
    X, y, sex = people
    model = LogisticRegression().fit(X, y)
    scorer = make_fairness_scorer("roc_auc", output="p_value", n_resamples=49)
    found = {scorer(model, X, y, sensitive_features=sex) for _ in range(3)}
    assert len(found) == 1
    other = make_fairness_scorer("roc_auc", output="p_value", n_resamples=49, random_state=5)
    test = FairnessTest(model, metric="roc_auc", n_resamples=49, random_state=5).fit(X, y, sensitive_features=sex)
    assert other(model, X, y, sensitive_features=sex) == test.p_value_


def test_string_labels_need_a_positive_one(people):
    X, y, sex = people
    words = np.where(y == 1, "hired", "turned down")
    model = LogisticRegression().fit(X, words)
    scorer = make_fairness_scorer("demographic_parity", output="disparity")
    numbers = scorer(LogisticRegression().fit(X, y), X, y, sensitive_features=sex)
    with pytest.raises(ValueError, match=r"pos_label is needed: .* 'hired', 'turned down'"):
        scorer(model, X, words, sensitive_features=sex)
    selected = make_fairness_scorer("demographic_parity", output="disparity", pos_label="hired")
    assert selected(model, X, words, sensitive_features=sex) == pytest.approx(numbers)
    named = make_fairness_scorer("precision", output="disparity", pos_label="hired")
    expected = FairnessTest(model, metric="precision", pos_label="hired").fit(X, words, sensitive_features=sex)
    assert named(model, X, words, sensitive_features=sex) == -abs(expected.disparity_)


# --- undefined is never better ---------------------------------------------------------------------------------------


def test_a_model_does_not_win_by_making_a_group_vanish():
    X = pd.DataFrame(
        {
            "group": ["a"] * 40 + ["b"] * 40 + ["c"] * 40,
            # c is treated worst, unless nobody of c is predicted positive, when it has no precision at all
            "honest": [1, 0] * 40 + [1, 0] * 20,
            "evading": [1, 0] * 40 + [0] * 40,
        }
    )
    y = np.concatenate([np.tile([1, 1, 1, 0], 20), np.zeros(40, dtype=int)])
    scorer = make_fairness_scorer("precision", output="disparity", sensitive_features="group")
    assert scorer(Says("honest"), X, y) == -1
    with pytest.warns(UndefinedMetricWarning) as warned:
        assert np.isnan(scorer(Says("evading"), X, y))
    said = [str(one.message) for one in warned if "fairness score is nan" in str(one.message)]
    assert len(said) == 1
    assert "precision of c" in said[0]
    assert "none wins by leaving a group undefined" in said[0]


def test_a_model_for_which_nothing_is_defined_has_no_score():
    X = published()
    with pytest.warns(UndefinedMetricWarning, match="nobody meets the condition"):
        score = make_fairness_scorer("precision", sensitive_features="group")(
            Says("none"), X.assign(none=0), np.arange(150) % 2
        )
    assert np.isnan(score)


def test_a_group_of_one_person_is_no_reason_to_score_the_others_alone():
    X = pd.concat([published(), pd.DataFrame({"said": [1], "group": ["third"]})], ignore_index=True)
    with pytest.warns(UserWarning, match="third") as warned:
        assert np.isnan(make_fairness_scorer("selection_rate", sensitive_features="group")(Says(), X))
    assert any("cv=SensitiveStratifiedKFold()" in str(one.message) for one in warned)


def test_a_stratum_without_a_group_does_not_make_the_pooled_disparity_undefined():
    X = published()
    stratum = np.where(X["group"] == "one", 0, np.arange(150) % 2)
    scorer = make_fairness_scorer("selection_rate", output="disparity")
    assert -1 < scorer(Says(), X, sensitive_features=X["group"], control_features=stratum) < 0


def test_a_candidate_without_a_score_is_ranked_last(people):
    X, y, _ = people
    scorer = make_fairness_scorer("precision", sensitive_features="sex")
    with pytest.warns(UserWarning, match="nan|non-finite"):
        search = GridSearchCV(
            LogisticRegression(), {"class_weight": [{0: 1e6, 1: 1}, None]}, scoring=scorer, cv=FOLDS
        ).fit(X, y)
    assert np.isnan(search.cv_results_["mean_test_score"]).tolist() == [True, False]
    assert search.best_index_ == 1


def test_an_elimination_of_features_takes_an_undefined_score_for_the_best_as_the_note_says():
    rng = np.random.default_rng(0)
    sex = rng.integers(0, 2, 300)
    merit = rng.normal(size=300) + sex
    y = (merit + rng.normal(size=300) > 1.5).astype(int)
    X = np.column_stack([rng.normal(size=300), 1000 * merit])  # the second has the smaller coefficient, and goes first
    warned = pytest.warns(UndefinedMetricWarning, match="the fairness score is nan")
    with warned, config_context(enable_metadata_routing=True):
        scorer = make_fairness_scorer("precision", output="disparity")
        search = RFECV(LogisticRegression(), scoring=scorer, cv=FOLDS).fit(X, y, sensitive_features=sex)
    assert np.isnan(search.cv_results_["mean_test_score"]).tolist() == [True, False]
    assert search.n_features_ == 1  # of which nobody is predicted positive
    assert "treat NaN as the best" in " ".join(make_fairness_scorer.__doc__.split())


# --- a scorer like any other -----------------------------------------------------------------------------------------


def test_it_is_a_scorer_that_pickles_clones_and_shows_how_it_was_made(people):
    X, y, sex = people
    scorer = make_fairness_scorer("equalized_odds", sensitive_features=["sex", "race"], margin=0.1)
    assert repr(scorer) == (
        "make_fairness_scorer('equalized_odds', output='upper_bound', sensitive_features=['sex', 'race'], "
        "random_state=0, margin=0.1)"
    )
    assert repr(make_fairness_scorer(fair.selection_rate)).startswith("make_fairness_scorer(selection_rate, output=")
    model = LogisticRegression().fit(X, y)
    assert check_scoring(model, scoring=scorer) is scorer
    scorer = make_fairness_scorer("demographic_parity")
    expected = scorer(model, X, y, sensitive_features=sex)
    search = clone(GridSearchCV(model, {"C": [1]}, scoring=scorer))
    for other in (pickle.loads(pickle.dumps(scorer)), copy.deepcopy(scorer), search.scoring):
        assert repr(other) == repr(scorer)
        assert other(model, X, y, sensitive_features=sex) == expected


def test_a_copy_knows_fairlearns_functions_by_their_twins_too(three):
    X, y = three
    scorer = make_fairness_scorer(fair.false_positive_rate_difference, sensitive_features="group")
    twin = make_fairness_scorer("false_positive_rate", sensitive_features="group")(Says(), X, y)
    assert scorer(Says(), X, y) == pickle.loads(pickle.dumps(scorer))(Says(), X, y) == twin
    test = clone(FairnessTest(metric=fair.false_positive_rate_difference))
    assert test.fit(X["said"], y, sensitive_features=X["group"]).n_resamples_ == 0


@pytest.mark.parametrize("switch", [True, False])
def test_groups_are_requested_whatever_the_switch_was_when_it_was_made(people, switch):
    X, y, sex = people
    with config_context(enable_metadata_routing=switch):
        scorer = make_fairness_scorer("demographic_parity")
    with config_context(enable_metadata_routing=True):
        requests = scorer.get_metadata_routing().score.requests
        assert requests == {
            "sensitive_features": True,
            "control_features": True,
            "clusters": True,
            "sample_weight": None,
        }
        found = cross_val_score(
            LogisticRegression(), X, y, scoring=scorer, cv=FOLDS, params={"sensitive_features": sex}
        )
    assert (found < 0).all()


@pytest.mark.usefixtures("routing")
def test_another_request_does_not_forget_the_groups(people):
    X, y, sex = people
    scorer = make_fairness_scorer("demographic_parity").set_score_request(sample_weight=True, control_features="age")
    requests = scorer.get_metadata_routing().score.requests
    assert requests["sensitive_features"] is True
    assert requests["sample_weight"] is True
    young = (X["age"] < 0).to_numpy()
    weight = np.where(young, 2.0, 1.0)
    params = {"sensitive_features": sex, "sample_weight": weight, "age": young}
    model = LogisticRegression().set_fit_request(sample_weight=False)
    found = cross_validate(
        model, X, y, scoring=scorer, cv=FOLDS, params=params, return_estimator=True, return_indices=True
    )
    for score, fitted, rows in zip(found["test_score"], found["estimator"], found["indices"]["test"], strict=True):
        by_hand = scorer(
            fitted, X.iloc[rows], y.iloc[rows], sensitive_features=sex.iloc[rows], control_features=young[rows],
            sample_weight=weight[rows],
        )  # fmt: skip
        assert score == by_hand


@pytest.mark.usefixtures("routing")
def test_columns_by_name_are_not_disturbed_by_routed_groups(people):
    X, y, sex = people
    scoring = {
        "named": make_fairness_scorer("demographic_parity", sensitive_features="sex"),
        "routed": make_fairness_scorer("demographic_parity"),
    }
    found = cross_validate(LogisticRegression(), X, y, scoring=scoring, cv=FOLDS, params={"sensitive_features": sex})
    np.testing.assert_array_equal(found["test_named"], found["test_routed"])


def test_several_columns_by_name_are_crossed(people):
    X, y, _ = people
    X = X.assign(old=(X["age"] > 0).astype(int))
    model = LogisticRegression().fit(X, y)
    scorer = make_fairness_scorer("demographic_parity", sensitive_features=["sex", "old"])
    assert scorer(model, X, y) == make_fairness_scorer("demographic_parity")(
        model, X, y, sensitive_features=X[["sex", "old"]]
    )


# --- everything that takes a scorer ----------------------------------------------------------------------------------


def grid(model, X, y, scoring, params, **more):
    search = GridSearchCV(model, {"logisticregression__C": [0.01, 1]}, scoring=scoring, cv=FOLDS, **more)
    return search.fit(X, y, **params).cv_results_["mean_test_score"]


def grid_in_two_processes(model, X, y, scoring, params):
    return grid(model, X, y, scoring, params, n_jobs=2)


def randomized(model, X, y, scoring, params):
    space = {"logisticregression__C": [0.01, 1]}
    search = RandomizedSearchCV(model, space, n_iter=2, scoring=scoring, cv=FOLDS, random_state=0)
    return search.fit(X, y, **params).cv_results_["mean_test_score"]


def halving(model, X, y, scoring, params):
    search = HalvingGridSearchCV(
        model, {"logisticregression__C": [0.01, 1]}, scoring=scoring, cv=FOLDS, min_resources=120, random_state=0
    )
    return search.fit(X, y, **params).cv_results_["mean_test_score"]


def score_of_the_search(model, X, y, scoring, params):
    search = GridSearchCV(model, {"logisticregression__C": [1]}, scoring=scoring, cv=FOLDS).fit(X, y, **params)
    return [search.score(X, y, **params), search.best_score_]


def validated(model, X, y, scoring, params):
    return cross_validate(model, X, y, scoring=scoring, cv=FOLDS, params=params, return_train_score=True)["train_score"]


def among_others(model, X, y, scoring, params):
    found = cross_validate(model, X, y, scoring={"fair": scoring, "acc": "accuracy"}, cv=FOLDS, params=params)
    assert (found["test_acc"] > 0.5).all()
    return found["test_fair"]


def nested(model, X, y, scoring, params):
    search = GridSearchCV(model, {"logisticregression__C": [0.01, 1]}, scoring=scoring, cv=FOLDS)
    return cross_val_score(search, X, y, scoring=scoring, cv=FOLDS, params=params)


def learned(model, X, y, scoring, params):
    return learning_curve(model, X, y, scoring=scoring, cv=FOLDS, train_sizes=[0.5, 1.0], params=params)[2]


def curve(model, X, y, scoring, params):
    return validation_curve(
        model, X, y, param_name="logisticregression__C", param_range=[0.01, 1], scoring=scoring, cv=FOLDS, params=params
    )[1]


def permuted(model, X, y, scoring, params):
    # Of a permuted series the index is permuted too, which a test refuses to pair with that of X.
    score, others, _ = permutation_test_score(
        model, X, y.to_numpy(), scoring=scoring, cv=FOLDS, n_permutations=2, random_state=0, params=params
    )
    return [score, *others]


TOOLS = [grid, grid_in_two_processes, score_of_the_search, validated, among_others, permuted]
TOOLS += [pytest.param(tool, marks=pytest.mark.slow) for tool in (randomized, halving, nested, learned, curve)]


@pytest.mark.parametrize("tool", TOOLS)
def test_groups_reach_it_by_routing_and_by_name_with_the_same_scores(people, tool):
    X, y, sex = people
    model = make_pipeline(
        make_column_transformer((StandardScaler(), ["merit", "age"])),  # the model does not see the sex
        LogisticRegression(),
    )
    by_name = tool(model, X, y, make_fairness_scorer("demographic_parity", sensitive_features="sex"), {})
    scorer = make_fairness_scorer("demographic_parity")
    with config_context(enable_metadata_routing=True):
        by_routing = tool(model, X, y, scorer, {"sensitive_features": sex})
    assert np.isfinite(by_name).all()
    assert (np.asarray(by_name) < 0).all()
    np.testing.assert_array_equal(by_routing, by_name)


def test_scores_of_folds_are_those_of_tests_of_the_folds(people):
    X, y, sex = people
    scorer = make_fairness_scorer("equalized_odds", sensitive_features="sex", output="p_value")
    found = cross_validate(
        LogisticRegression(), X, y, scoring=scorer, cv=FOLDS, return_estimator=True, return_indices=True
    )
    for score, model, rows in zip(found["test_score"], found["estimator"], found["indices"]["test"], strict=True):
        test = FairnessTest(model).fit(X.iloc[rows], y.iloc[rows], sensitive_features=sex.iloc[rows])
        assert score == test.p_value_


@pytest.mark.usefixtures("routing")
@pytest.mark.parametrize(
    "container", [np.asarray, list, pl.Series, lambda s: pd.Categorical(s), lambda s: s.to_frame()]
)
def test_groups_may_come_in_any_container_that_scikit_learn_can_slice(people, container):
    X, y, sex = people
    scorer = make_fairness_scorer("demographic_parity")
    expected = cross_val_score(LogisticRegression(), X, y, scoring=scorer, cv=FOLDS, params={"sensitive_features": sex})
    found = cross_val_score(
        LogisticRegression(), X, y, scoring=scorer, cv=FOLDS, params={"sensitive_features": container(sex)}
    )
    np.testing.assert_array_equal(found, expected)


def test_columns_of_polars_are_found_by_their_names(people):
    X, y, _ = people
    scorer = make_fairness_scorer("demographic_parity", sensitive_features="sex")
    expected = cross_val_score(LogisticRegression(), X, y, scoring=scorer, cv=FOLDS)
    found = cross_val_score(LogisticRegression(), pl.DataFrame(X.to_dict("list")), y, scoring=scorer, cv=FOLDS)
    np.testing.assert_allclose(found, expected)


def test_regressors_are_scored_by_their_numbers(people):
    X, y, sex = people
    scorer = make_fairness_scorer("mean_prediction", output="disparity", sensitive_features="sex", method="asymptotic")
    model = LinearRegression().fit(X, y)
    predicted = model.predict(X)
    gap = predicted[sex == "male"].mean() - predicted[sex == "female"].mean()
    assert scorer(model, X, y) == pytest.approx(-abs(gap))


# --- fairlearn's models ----------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("routing")
def test_a_threshold_optimizer_is_handed_the_groups_it_predicts_with(people):
    X, y, sex = people
    model = ThresholdOptimizer(
        estimator=LogisticRegression(), constraints="demographic_parity", predict_method="predict_proba"
    ).set_fit_request(sensitive_features=True)
    scoring = {
        "plain": make_fairness_scorer("demographic_parity", output="disparity"),
        "bound": make_fairness_scorer("demographic_parity"),
    }
    params = {"sensitive_features": sex}
    found = cross_validate(model, X, y, scoring=scoring, cv=FOLDS, params=params)
    again = cross_validate(model, X, y, scoring=scoring, cv=FOLDS, params=params)
    np.testing.assert_array_equal(found["test_bound"], again["test_bound"])
    unfair = cross_val_score(LogisticRegression(), X, y, scoring=scoring["plain"], cv=FOLDS, params=params)
    assert found["test_plain"].mean() > unfair.mean()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # fairlearn's own: it uses what pandas 3 deprecates
def test_a_randomised_model_is_searched_repeatably(people):
    X, y, sex = people
    # Its fit takes the groups among **kwargs, which cannot be requested: without routing a search hands them on to fit.
    search = GridSearchCV(
        ExponentiatedGradient(LogisticRegression(), DemographicParity(), max_iter=3),
        {"eps": [0.01]},
        cv=2,
        scoring=make_fairness_scorer("demographic_parity", output="disparity", sensitive_features="sex"),
        refit=False,
    )
    scores = [search.fit(X, y, sensitive_features=sex).cv_results_["mean_test_score"] for _ in range(2)]
    np.testing.assert_array_equal(*scores)
    unfair = cross_val_score(LogisticRegression(), X, y, scoring=search.scoring, cv=2)
    assert (scores[0] > unfair.mean()).all()


# --- thresholds ------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("routing")
@pytest.mark.parametrize("words", [False, True])
def test_a_threshold_is_tuned_for_fairness_by_routing(people, words):
    X, y, sex = people
    y = np.where(y == 1, "hired", "turned down") if words else y.to_numpy()
    scorer = make_fairness_scorer("equalized_odds", output="disparity", **({"pos_label": "hired"} if words else {}))
    tuned = TunedThresholdClassifierCV(
        LogisticRegression(), scoring=scorer, cv="prefit", refit=False, thresholds=[0.3, 0.5, 0.7],
        store_cv_results=True,
    )  # fmt: skip
    tuned.estimator.fit(X, y)
    tuned.fit(X, y, sensitive_features=sex)
    column = list(tuned.estimator.classes_).index("hired" if words else 1)
    proba = tuned.estimator.predict_proba(X)[:, column]
    truth = y == ("hired" if words else 1)
    expected = [
        -fair.equalized_odds_difference(truth, proba >= threshold, sensitive_features=sex)
        for threshold in (0.3, 0.5, 0.7)
    ]
    np.testing.assert_allclose(tuned.cv_results_["scores"], expected)
    assert tuned.best_score_ == max(tuned.cv_results_["scores"])


@pytest.mark.usefixtures("routing")
def test_a_threshold_that_leaves_a_group_undefined_is_the_worst_and_not_the_best(people):
    X, y, sex = people
    scorer = make_fairness_scorer("precision", output="disparity")
    tuned = TunedThresholdClassifierCV(
        LogisticRegression().fit(X, y), scoring=scorer, cv="prefit", refit=False, thresholds=[0.4, 0.999999],
        store_cv_results=True,
    )  # fmt: skip
    with pytest.warns(UndefinedMetricWarning):
        tuned.fit(X, y, sensitive_features=sex)
    assert tuned.cv_results_["scores"][1] == -np.inf
    assert tuned.best_threshold_ == 0.4


@pytest.mark.usefixtures("routing")
def test_the_tuner_cannot_read_columns_and_no_threshold_changes_scores(people):
    X, y, sex = people
    named = make_fairness_scorer("demographic_parity", sensitive_features="sex")
    with pytest.raises(ValueError, match="X is not passed when thresholds are scored"):
        TunedThresholdClassifierCV(LogisticRegression(), scoring=named).fit(X, y)
    scored = make_fairness_scorer("roc_auc", n_resamples=9)
    with pytest.raises(ValueError, match="metric='roc_auc' is a metric of scores, which a threshold does not change"):
        TunedThresholdClassifierCV(LogisticRegression(), scoring=scored).fit(X, y, sensitive_features=sex)


# --- what has no meaning ---------------------------------------------------------------------------------------------


def two_sided(y_true, y_pred, *, sensitive_features):
    return 0.5


@pytest.mark.parametrize(
    ("metric", "params", "message"),
    [
        ("accuracy", {"output": "bound"}, "output must be one of 'disparity', 'upper_bound', 'statistic', 'p_value'"),
        ("accurcy", {}, r"metric='accurcy' is unknown; did you mean 'accuracy'\? There are selection_rate"),
        ("accuracy", {"estimator": 3}, "test_params cannot set estimator: a search or cross-validation passes"),
        ("accuracy", {"n_permutations": 3}, r"test_params: FairnessTest has no 'n_permutations'; there are adjust, "),
        ("accuracy", {"method": "exakt"}, "method must be one of"),
        ("accuracy", {"random_state": None}, "random_state of a scorer must be an integer, found None"),
        ("accuracy", {"random_state": np.random.RandomState(0)}, "random_state of a scorer must be an integer"),
        ("accuracy", {"alternative": "greater"}, "use alternative='two-sided', or output='disparity' or 'p_value'"),
        ("accuracy", {"output": "statistic", "margin": 0.1}, "'statistic' is the distance from equality"),
        ("accuracy", {"output": "statistic", "alternative": "less"}, "'statistic' is the distance from equality"),
        ("normalized_mutual_info", {}, "normalized_mutual_info is one number for all groups and has no interval"),
        ("normalized_mutual_info", {"output": "statistic"}, "has no standard error"),
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


def test_a_set_of_metrics_of_any_kind_has_a_p_value(three):
    X, y = three
    scorer = make_fairness_scorer("hinnefeld", output="p_value", sensitive_features="group", n_resamples=399)
    assert 0 < scorer(Says(), X, y) <= 1


# --- one score that is constrained -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("disparity", "fair", "unfair"), [("difference", 0.9, 0.05), ("ratio", 0.1, 0.99)])
def test_a_constrained_score_is_the_gain_within_the_tolerance_and_the_distance_beyond_it(
    people, disparity, fair, unfair
):
    X, y, _ = people
    model = LogisticRegression().fit(X, y)
    params = {"sensitive_features": "sex", "output": "disparity", "disparity": disparity}
    plain = make_fairness_scorer("demographic_parity", **params)(model, X, y)
    score = {
        tolerance: make_fairness_scorer(
            "demographic_parity", maximize="balanced_accuracy", tolerance=tolerance, **params
        )(model, X, y)
        for tolerance in (fair, unfair)
    }
    assert score[fair] == balanced_accuracy_score(y, model.predict(X))
    least = unfair if disparity == "ratio" else -unfair
    assert score[unfair] == pytest.approx(plain - least)
    assert score[unfair] < 0


def test_a_constrained_score_does_not_choose_the_model_that_predicts_nothing(people):
    X, y, _ = people
    grid = {"C": [1e-9, 1.0]}
    fair = {"metric": "demographic_parity", "sensitive_features": "sex"}
    alone = GridSearchCV(LogisticRegression(), grid, scoring=make_fairness_scorer(**fair), cv=3).fit(X, y)
    both = make_fairness_scorer(**fair, maximize="balanced_accuracy", tolerance=0.9)
    assert alone.best_params_ == {"C": 1e-9}
    assert GridSearchCV(LogisticRegression(), grid, scoring=both, cv=3).fit(X, y).best_params_ == {"C": 1.0}
    assert both.__name__ == "demographic_parity_upper_bound"


def test_thresholds_are_tuned_by_a_constrained_score(people):
    X, y, sex = people
    scorer = make_fairness_scorer("demographic_parity", maximize="balanced_accuracy", tolerance=0.9)
    with config_context(enable_metadata_routing=True):
        given = {"cv": 2, "thresholds": 8}
        tuned = TunedThresholdClassifierCV(LogisticRegression(), scoring=scorer, **given).fit(
            X, y, sensitive_features=sex
        )
        best = TunedThresholdClassifierCV(LogisticRegression(), scoring="balanced_accuracy", **given).fit(X, y)
    assert tuned.best_threshold_ == pytest.approx(best.best_threshold_)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"maximize": "accuracy"}, "tolerance is missing"),
        ({"tolerance": 0.1}, "maximize is missing"),
        ({"maximize": "accuracy", "tolerance": 0.1, "output": "p_value"}, "maximize needs a disparity"),
        ({"maximize": "accuracy", "tolerance": -0.1}, "tolerance must be a number: at least 0"),
        ({"maximize": "accuracy", "tolerance": 2, "disparity": "ratio"}, "above 0 and at most 1"),
        ({"maximize": "no such score", "tolerance": 0.1}, "no such score"),
    ],
)
def test_constraints_that_have_no_meaning_are_refused(params, message):
    with pytest.raises(ValueError, match=message):
        make_fairness_scorer("demographic_parity", **params)


def test_what_is_maximized_lies_between_0_and_1(people):
    X, y, _ = people
    scorer = make_fairness_scorer("demographic_parity", sensitive_features="sex", maximize="neg_log_loss", tolerance=1)
    with pytest.raises(ValueError, match="maximize must be a score between 0 and 1"):
        scorer(LogisticRegression().fit(X, y), X, y)


def test_folds_do_not_warn_one_by_one_that_groups_are_small(people):
    X, y, _ = people
    model = LogisticRegression().fit(X, y)
    with pytest.warns(SmallGroupWarning):
        FairnessTest(model, metric="balanced_accuracy").fit(X[:60], y[:60], sensitive_features="sex")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        make_fairness_scorer("balanced_accuracy", sensitive_features="sex")(model, X[:60], y[:60])


def test_columns_whose_names_are_numbers_are_found(people):
    X, y, _ = people
    numbered = X.rename(columns={"merit": 0, "age": 1, "sex": 2})
    expected = make_fairness_scorer("demographic_parity", sensitive_features="sex")(Says("sex"), X, y)
    for names in (2, [2]):
        scorer = make_fairness_scorer("demographic_parity", sensitive_features=names)
        assert scorer(Says(2), numbered, y) == expected
