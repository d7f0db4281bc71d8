"""`select_fair(..., significantly_better_than=...)`: candidates that are significantly fairer than a baseline."""

import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import GridSearchCV

from skfairtest import PairedFairnessTest, SensitiveStratifiedKFold, make_fairness_scorer, select_fair
from skfairtest.model_selection.selection import adjusted_p_values


class Threshold(ClassifierMixin, BaseEstimator):
    """Predicts 1 above a threshold that is lower, by `help`, for the first group (the first column)."""

    def __init__(self, help=0.0):
        self.help = help

    def fit(self, X, y):
        self.classes_ = np.array([0, 1])
        return self

    def predict(self, X):
        return (X[:, 1] > 0.5 - self.help * (X[:, 0] == 0)).astype(int)


def people(n, rng):
    """A group whose merit is undervalued by .2."""
    group = rng.integers(0, 2, n)
    merit = rng.random(n)
    X = np.stack([group, merit - 0.2 * (group == 0)], axis=1)
    return X, (merit + rng.normal(0, 0.2, n) > 0.5).astype(int), group


@pytest.fixture(scope="module")
def baseline():
    return Threshold().fit(None, None)


def search(baseline, n=2400, seed=0, **params):
    X, y, group = people(n, np.random.default_rng(seed))
    scoring = {
        "accuracy": "accuracy",
        "production": make_fairness_scorer("selection_rate", output="p_value", baseline=baseline, **params),
        "fair": make_fairness_scorer("selection_rate"),
    }
    folds = list(SensitiveStratifiedKFold(3).split(X, y, sensitive_features=group))
    with sklearn.config_context(enable_metadata_routing=True):
        found = GridSearchCV(
            Threshold(), {"help": [-0.1, 0.0, 0.15, 0.2, 0.6]}, scoring=scoring, cv=folds,
            refit=select_fair("accuracy", significantly_better_than="production"),
        ).fit(X, y, sensitive_features=group)  # fmt: skip
    return found, folds, X, y, group


def test_the_best_of_those_that_are_fairer_is_chosen(baseline):
    found, folds, X, y, group = search(baseline)
    scores = np.stack([found.cv_results_[f"split{k}_test_production"] for k in range(3)], axis=1)
    _, test = folds[0]
    alone = PairedFairnessTest(baseline, Threshold(0.2).fit(None, None), metric="selection_rate", alternative="fairer")
    assert scores[3, 0] == -alone.fit(X[test], y[test], sensitive_features=group[test]).p_value_
    adjusted = adjusted_p_values(-scores)
    assert np.flatnonzero(adjusted <= 0.05).tolist() == [2, 3]
    accuracy = found.cv_results_["mean_test_accuracy"]
    assert found.best_index_ == max((2, 3), key=lambda place: accuracy[place])


def results(*p_values, accuracy=None):
    """Scores of candidates as a search has them."""
    p = np.array(p_values, dtype=float)
    gains = np.arange(len(p)) if accuracy is None else accuracy
    found = {f"split{k}_test_production": -p[:, k] for k in range(p.shape[1])}
    return found | {f"split{k}_test_accuracy": np.asarray(gains, dtype=float) for k in range(p.shape[1])}


def test_twice_the_mean_of_folds_is_adjusted_by_holm_over_candidates():
    choose = select_fair("accuracy", significantly_better_than="production")
    # .012 and .016 by themselves; times 3 and 2 .036 and .036, so that both qualify, and the third does not.
    assert choose(results([0.004, 0.008], [0.008, 0.008], [0.2, 0.3])) == 1
    # .0249 is not enough among three, where .0167 is needed.
    with pytest.warns(UserWarning, match="keep the baseline"):
        assert choose(results([0.01, 0.0149], [0.5, 0.5], [0.2, 0.3])) == 0
    assert adjusted_p_values(np.array([[0.01], [0.03]])).tolist() == pytest.approx([0.02, 0.03])
    # Who has no p-value counts among the candidates, and is not chosen.
    assert adjusted_p_values(np.array([[0.01], [np.nan]])).tolist() == pytest.approx([0.02, 1.0])
    assert choose(results([0.001, 0.001], [np.nan, 0.0])) == 0


def test_the_tolerance_can_be_asked_for_too():
    choose = select_fair("accuracy", "fair", tolerance=0.1, significantly_better_than="production")
    found = results([0.001], [0.001], [0.001]) | {"split0_test_fair": np.array([-0.05, -0.08, -0.3])}
    assert choose(found) == 1
    assert (
        repr(choose)
        == "select_fair('accuracy', 'fair', tolerance=0.1, alpha=0.05, significantly_better_than='production')"
    )


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"fairness": "fair"}, "give both or none"),
        ({"tolerance": 0.1}, "give both or none"),
        ({"significantly_better_than": "accuracy"}, "are both 'accuracy'"),
        ({"significantly_better_than": 3}, "must be a key of the search's scoring"),
        ({"alpha": 2}, "alpha must be a number between 0 and 1"),
    ],
)
def test_what_is_not_usable_is_refused(params, message):
    with pytest.raises(ValueError, match=message):
        select_fair("accuracy", **{"significantly_better_than": "production", **params})


def test_scores_that_are_no_p_values_against_a_baseline_are_refused():
    choose = select_fair("accuracy", significantly_better_than="production")
    wrong = results([0.1], [0.2])
    wrong["split0_test_production"] *= -1
    with pytest.raises(ValueError, match="must be minus p-values"):
        choose(wrong)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({}, "output='upper_bound' has no meaning with a baseline"),
        ({"output": "p_value", "disparity": "ratio"}, "test_params: PairedFairnessTest has no 'disparity'"),
        ({"output": "p_value", "random_state": None}, "random_state of a scorer must be an integer"),
        ({"output": "p_value", "margin": 7}, "margin must be a number of at least 0 and below 1"),
    ],
)
def test_a_scorer_with_a_baseline_checks_its_parameters(baseline, params, message):
    with pytest.raises(ValueError, match=message):
        make_fairness_scorer("selection_rate", baseline=baseline, **params)


def test_a_scorer_says_that_it_has_a_baseline(baseline):
    scorer = make_fairness_scorer("selection_rate", output="p_value", baseline=baseline)
    assert (
        repr(scorer) == "make_fairness_scorer('selection_rate', output='p_value', baseline=Threshold(), random_state=0)"
    )


@pytest.mark.exhaustive
@pytest.mark.parametrize(("n_folds", "runs"), [(1, 60), (3, 20)])
def test_candidates_that_are_not_fairer_qualify_in_at_most_five_percent_of_searches(n_folds, runs):
    """Three candidates have the baseline's disparity, and change other people's predictions: nobody is fairer."""
    rng, wrong = np.random.default_rng([21, n_folds]), 0
    choose = select_fair("accuracy", significantly_better_than="production")
    for _ in range(runs):
        p = np.empty((3, n_folds))
        for fold in range(n_folds):
            group = rng.integers(0, 2, 240)
            a = rng.random(240) < np.where(group == 0, 0.3, 0.5)
            # A share of all predictions is drawn anew at the same rates: disparities stay.
            again = rng.random((3, 240)) < np.where(group == 0, 0.3, 0.5)
            b = np.where(rng.random((3, 240)) < 0.3, again, a)
            for candidate in range(3):
                p[candidate, fold] = PairedFairnessTest.from_predictions(
                    None, a.astype(int), b[candidate].astype(int), sensitive_features=group, metric="selection_rate",
                    alternative="fairer",
                ).p_value_  # fmt: skip
        wrong += bool((adjusted_p_values(p) <= choose.alpha).any())
    assert wrong <= runs * (0.05 + 3 * np.sqrt(0.05 * 0.95 / runs))
