"""Which candidate ``select_fair`` takes, and which results it refuses."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.experimental import enable_halving_search_cv  # noqa: F401  makes HalvingGridSearchCV importable
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, HalvingGridSearchCV, RandomizedSearchCV, cross_val_score

from skfairtest import FairnessTest, SensitiveStratifiedKFold, make_fairness_scorer, select_fair


def results(gain, fair):
    """Make ``cv_results_`` of scores by candidate and fold."""
    out = {"params": [{"C": number} for number in range(len(gain))]}
    for key, scores in {"acc": gain, "fair": fair}.items():
        array = np.asarray(scores, dtype=float)
        out |= {f"split{fold}_test_{key}": array[:, fold] for fold in range(array.shape[1])}
        out |= {f"split{fold}_train_{key}": array[:, fold] + 1 for fold in range(array.shape[1])}
        out |= {f"mean_test_{key}": array.mean(axis=1), f"mean_train_{key}": array.mean(axis=1) + 1}
    return out


GAIN = [[0.9, 0.9], [0.8, 0.8], [0.7, 0.7]]


def test_the_best_of_those_whose_mean_upper_bound_is_tolerated():
    found = results(GAIN, [[-0.3, -0.2], [-0.12, -0.06], [-0.01, -0.01]])
    assert select_fair("acc", "fair", tolerance=0.1)(found) == 1
    assert select_fair("acc", "fair", tolerance=0.09)(found) == 1  # the mean of the two folds, exactly
    assert select_fair("acc", "fair", tolerance=0.089)(found) == 2
    assert select_fair("acc", "fair", tolerance=0.3)(found) == 0
    assert type(select_fair("acc", "fair", tolerance=0.3)(found)) is int


def test_the_best_of_those_whose_mean_worst_ratio_is_tolerated():
    found = results(GAIN, [[0.5, 0.6], [0.85, 0.81], [0.99, 0.95]])
    assert select_fair("acc", "fair", tolerance=0.8)(found) == 1
    assert select_fair("acc", "fair", tolerance=0.9)(found) == 2
    assert select_fair("acc", "fair", tolerance=0.55)(found) == 0


def test_p_values_of_folds_are_doubled_when_they_are_averaged():
    # Means 0.02, 0.03, 0.5; a mean that is compared with alpha as if it were a p-value would take the wrong one.
    found = results(GAIN, [[0.01, 0.03], [0.02, 0.04], [0.3, 0.7]])
    assert select_fair("acc", "fair", alpha=0.05)(found) == 1
    assert select_fair("acc", "fair", alpha=0.039)(found) == 0
    assert select_fair("acc", "fair", alpha=0.04)(found) == 1  # rejected at its own p-value
    assert select_fair("acc", "fair", alpha=0.06)(found) == 2


def test_twice_the_mean_of_p_values_is_one_and_the_mean_is_not():
    # Rueschendorf's distribution: p uniform, and p' = 0.1 - p below 0.1, p elsewhere, which is uniform too.
    p = (np.arange(100_000) + 0.5) / 100_000
    other = np.where(p < 0.1, 0.1 - p, p)
    np.testing.assert_allclose(np.sort(other), p, atol=1e-9)
    mean = (p + other) / 2
    assert (mean <= 0.05 + 1e-12).mean() == pytest.approx(0.1)
    assert (2 * mean <= 0.1 + 1e-12).mean() == pytest.approx(0.1)


def test_ties_go_to_the_fairer_and_then_to_the_first():
    tied = [[0.8, 0.6], [0.7, 0.7], [0.6, 0.8]]
    assert select_fair("acc", "fair", tolerance=0.2)(results(tied, [[-0.1] * 2, [-0.05] * 2, [-0.05] * 2])) == 1
    assert select_fair("acc", "fair", alpha=0.1)(results(tied, [[0.1] * 2, [0.2] * 2, [0.3] * 2])) == 2


@pytest.mark.parametrize(
    ("fair", "given", "chosen", "missed"),
    [
        ([[-0.3] * 2, [-0.2, -0.3], [-0.28] * 2], {"tolerance": 0.1}, 1, "bounds is 0.25, 0.15 above tolerance=0.1"),
        ([[0.3] * 2, [0.2, 0.3], [0.4] * 2], {"tolerance": 0.8}, 2, "worst ratios is 0.4, 0.4 below tolerance=0.8"),
        ([[0.01] * 2, [0.02] * 2, [0.001] * 2], {"alpha": 0.1}, 1, "its p-values is 0.04, 0.06 below alpha=0.1"),
        ([[0.0] * 2, [0.0] * 2, [0.0] * 2], {"tolerance": 0.8}, 0, "worst ratios is 0, 0.8 below tolerance=0.8"),
    ],
)  # fmt: skip
def test_when_none_qualifies_the_fairest_is_taken_and_it_is_said_by_how_much_it_misses(fair, given, chosen, missed):
    choose = select_fair("acc", "fair", **given)
    with pytest.warns(UserWarning, match="no candidate qualifies") as warned:
        assert choose(results(GAIN, fair)) == chosen
    (message,) = [str(one.message) for one in warned]
    assert f"candidate {chosen} ({{'C': {chosen}}})" in message
    assert missed in message
    assert repr(choose) in message


def test_the_fairest_of_equals_is_the_better_one():
    fair = [[-0.3] * 2, [-0.2] * 2, [-0.2] * 2]
    with pytest.warns(UserWarning, match="no candidate qualifies"):
        assert select_fair("acc", "fair", tolerance=0.1)(results([[0.1] * 2, [0.2] * 2, [0.3] * 2], fair)) == 2


@pytest.mark.parametrize("key", ["acc", "fair"])
def test_a_candidate_with_a_nan_in_a_fold_is_out(key):
    scores = {"acc": np.array(GAIN), "fair": np.full((3, 2), -0.05)}
    scores[key][0, 1] = np.nan
    assert select_fair("acc", "fair", tolerance=0.1)(results(scores["acc"], scores["fair"])) == 1
    scores[key][:, 1] = np.nan
    with pytest.raises(ValueError, match=rf"all 3 candidates have a nan .* '{key}', in the splits 1, .*Sensitive"):
        select_fair("acc", "fair", tolerance=0.1)(results(scores["acc"], scores["fair"]))


@pytest.mark.parametrize(
    ("fair", "given", "message"),
    [
        ([[-0.1, 0.1]] * 3, {"tolerance": 0.1}, r"has scores between -0.1 and 0.1: pass make_fairness_scorer"),
        ([[1.5, 0.1]] * 3, {"tolerance": 0.1}, "between 0.1 and 1.5: pass make_fairness_scorer"),
        ([[0.5, 0.1]] * 3, {"tolerance": 1.2}, "tolerance must lie above 0.*are ratios, from 0.1 to 0.5"),
        ([[0.5, 0.1]] * 3, {"tolerance": 0}, "as in tolerance=0.8.*found 0"),
        ([[-0.1, -0.2]] * 3, {"alpha": 0.05}, "between -0.2 and -0.1, but alpha is for p-values: pass .*'p_value'"),
        ([[2.1, 0.5]] * 3, {"alpha": 0.05}, "has scores between 0.5 and 2.1"),
    ],
)  # fmt: skip
def test_scores_that_cannot_be_what_they_are_taken_for_are_an_error(fair, given, message):
    with pytest.raises(ValueError, match=message):
        select_fair("acc", "fair", **given)(results(GAIN, fair))


def test_an_unknown_key_is_answered_with_those_that_there_are():
    found = results(GAIN, GAIN)
    with pytest.raises(
        ValueError, match="maximize='accuracy' is not a key of the search's scoring, whose keys are 'acc', 'fair'"
    ):
        select_fair("accuracy", "fair", tolerance=0.1)(found)
    with pytest.raises(ValueError, match="'fai' is not a key"):
        select_fair("acc", "fai", tolerance=0.1)(found)
    single = {"split0_test_score": [1.0], "mean_test_score": [1.0], "params": [{}]}
    with pytest.raises(ValueError, match=r"the search has only one score: pass scoring={"):
        select_fair("acc", "fair", tolerance=0.1)(single)


@pytest.mark.parametrize(
    ("args", "given", "message"),
    [
        (("acc", "fair"), {}, "tolerance or alpha: give exactly one of them; found None and None"),
        (("acc", "fair"), {"tolerance": 0.1, "alpha": 0.1}, "give exactly one of them; found 0.1 and 0.1"),
        (("acc", "fair"), {"tolerance": -0.1}, "tolerance must be a number of at least 0; found -0.1"),
        (("acc", "fair"), {"tolerance": np.nan}, "tolerance must be a number"),
        (("acc", "fair"), {"tolerance": np.inf}, "tolerance must be a number"),
        (("acc", "fair"), {"tolerance": "0.1"}, "tolerance must be a number"),
        (("acc", "fair"), {"alpha": 0}, "alpha must be a number between 0 and 1; found 0"),
        (("acc", "fair"), {"alpha": 1.0}, "alpha must be a number between 0 and 1"),
        (("acc", "fair"), {"alpha": True}, "alpha must be a number between 0 and 1"),
        (("acc", "acc"), {"alpha": 0.1}, "maximize and fairness are both 'acc'"),
        (("acc", make_fairness_scorer("accuracy")), {"alpha": 0.1}, "fairness must be a key of the search's scoring"),
    ],
)
def test_what_is_asked_is_checked_at_once(args, given, message):
    with pytest.raises(ValueError, match=message):
        select_fair(*args, **given)


def test_it_pickles_and_shows_how_it_was_made():
    choose = select_fair("acc", "fair", tolerance=0.1)
    assert repr(choose) == "select_fair('acc', 'fair', tolerance=0.1)"
    assert repr(select_fair("acc", "fair", alpha=0.05)) == "select_fair('acc', 'fair', alpha=0.05)"
    assert pickle.loads(pickle.dumps(choose)) == choose
    search = clone(GridSearchCV(LogisticRegression(), {"C": [1]}, refit=choose))
    assert search.refit(results(GAIN, [[-0.3] * 2, [-0.05] * 2, [-0.01] * 2])) == 1


# --- in a search -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def hired():
    """People hired by merit and by luck: the model that follows `merit` favours the sex that has more of it."""
    rng = np.random.default_rng(7)
    X = pd.DataFrame({"female": rng.integers(0, 2, 600)})
    X["merit"] = rng.normal(size=600) - X["female"]
    y = (X["merit"] + rng.normal(size=600) > -0.5).astype(int)
    return X, y


@pytest.mark.parametrize("kind", [GridSearchCV, RandomizedSearchCV])
def test_a_search_refits_the_candidate_that_is_chosen(hired, kind):
    X, y = hired
    space = {"C": [1e-6, 1e-3, 1.0]}
    scoring = {
        "acc": "accuracy",
        "fair": make_fairness_scorer("demographic_parity", sensitive_features="female"),
        "p": make_fairness_scorer("demographic_parity", sensitive_features="female", output="p_value"),
    }
    cv = SensitiveStratifiedKFold(3, sensitive_features="female")
    more = {"n_iter": 3, "random_state": 0} if kind is RandomizedSearchCV else {}
    for given in ({"tolerance": 0.2}, {"alpha": 0.05}):
        choose = select_fair("acc", "fair" if "tolerance" in given else "p", **given)
        search = kind(LogisticRegression(), space, scoring=scoring, cv=cv, refit=choose, n_jobs=2, **more).fit(X, y)
        scores = pd.DataFrame(search.cv_results_)
        combined = np.minimum(1, 2 * scores["mean_test_p"])
        fair = scores["mean_test_fair"] >= -0.2 if "tolerance" in given else combined > 0.05
        assert 0 < fair.sum() < 3
        assert search.best_index_ == scores["mean_test_acc"].where(fair).idxmax()
        assert scores["param_C"][search.best_index_] == search.best_estimator_.C
        assert scores["mean_test_acc"].max() > scores["mean_test_acc"][search.best_index_]


def test_a_search_without_a_fair_candidate_warns_and_takes_the_fairest(hired):
    X, y = hired
    scoring = {"acc": "accuracy", "fair": make_fairness_scorer("demographic_parity", sensitive_features="female")}
    search = GridSearchCV(
        LogisticRegression(), {"C": [0.1, 1.0]}, scoring=scoring, cv=3, refit=select_fair("acc", "fair", tolerance=0.01)
    )
    with pytest.warns(UserWarning, match=r"no candidate qualifies. The fairest is chosen, candidate \d \({'C': "):
        search.fit(X, y)
    assert search.best_index_ == int(np.argmax(search.cv_results_["mean_test_fair"]))


def test_a_halving_search_never_asks_as_the_note_says(hired):
    X, y = hired
    choose = select_fair("acc", "no such key", tolerance=0.1)
    fair = make_fairness_scorer("demographic_parity", sensitive_features="female")
    search = HalvingGridSearchCV(
        LogisticRegression(), {"C": [1e-3, 1.0]}, scoring=fair, refit=choose, cv=3, random_state=0
    ).fit(X, y)
    last = np.flatnonzero(search.cv_results_["iter"] == search.cv_results_["iter"].max())
    assert search.best_index_ == last[np.argmax(search.cv_results_["mean_test_score"][last])]
    assert "never call the function passed as ``refit``" in " ".join(select_fair.__doc__.split())


def test_every_fold_without_groups_is_an_error_that_says_where_to_look(hired):
    X, y = hired
    scoring = {"acc": "accuracy", "fair": make_fairness_scorer("demographic_parity")}
    search = GridSearchCV(
        LogisticRegression(), {"C": [1.0]}, scoring=scoring, cv=3, refit=select_fair("acc", "fair", tolerance=0.1)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn's, which hold the reason
        with pytest.raises(ValueError, match=r"all 1 candidates have a nan among their scores of 'fair'.*not passed"):
            search.fit(X, y)


def test_the_chosen_model_is_tested_on_people_that_the_search_has_not_seen(hired):
    X, y = hired
    seen, held_out = X.iloc[:400], X.iloc[400:]
    scoring = {"acc": "accuracy", "fair": make_fairness_scorer("demographic_parity", sensitive_features="female")}
    search = GridSearchCV(
        LogisticRegression(), {"C": [1e-6, 1.0]}, scoring=scoring, cv=3, refit=select_fair("acc", "fair", tolerance=0.3)
    ).fit(seen, y.iloc[:400])
    test = FairnessTest(search.best_estimator_, metric="demographic_parity")
    test.fit(held_out, y.iloc[400:], sensitive_features=held_out["female"])
    assert not test.concern_
    assert search.best_index_ == 0


def test_a_search_scores_by_what_is_maximized():
    people = pd.DataFrame({"merit": np.random.default_rng(0).normal(size=300), "sex": [0, 1] * 150})
    y = (people["merit"] + 0.5 * people["sex"] + np.random.default_rng(1).normal(size=300) > 0).astype(int)
    fair = make_fairness_scorer("demographic_parity", sensitive_features="sex")
    search = GridSearchCV(
        LogisticRegression(), {"C": [0.001, 1.0]}, scoring={"acc": "accuracy", "fair": fair}, cv=3,
        refit=select_fair("acc", "fair", tolerance=0.6),
    ).fit(people, y)  # fmt: skip
    assert search.score(people, y) == search.best_estimator_.score(people, y)
    nested = cross_val_score(search, people, y, cv=2, error_score="raise")
    assert nested.shape == (2,)
    assert (nested > 0.5).all()
    choose = select_fair("acc", "fair", tolerance=0.6)
    assert choose == "acc"
    assert choose == select_fair("acc", "fair", tolerance=0.6)
    assert choose != select_fair("acc", "fair", tolerance=0.5)
    assert hash(choose) == hash("acc")
