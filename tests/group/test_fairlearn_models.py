"""fairlearn's own models are models: those that ask for the groups, vote at random, or are trained with torch.

None of them is a classifier for scikit-learn, and each has a way of predicting of its own.
"""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from fairlearn.adversarial import AdversarialFairnessClassifier, AdversarialFairnessRegressor
from fairlearn.postprocessing import ThresholdOptimizer
from fairlearn.reductions import DemographicParity, ExponentiatedGradient
from fairlearn.reductions import GridSearch as FairGridSearch
from sklearn.base import clone
from sklearn.exceptions import NotFittedError, UnsetMetadataPassedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from skfairtest import CorrelationFairnessTest, FairnessTest

rng = np.random.default_rng(5)
GROUP = np.where(rng.random(400) < 0.5, "f", "m")
X = rng.normal(size=(400, 2)) + (GROUP == "m")[:, None] * 0.7
Y = (X.sum(axis=1) + rng.normal(size=400) > 0.7).astype(int)


def run(model, X=X, y=Y, groups=GROUP, **params):
    """Test a model for selection rates of two groups."""
    return FairnessTest(model, **{"metric": "demographic_parity", "random_state": 0, **params}).fit(
        X, y, sensitive_features=groups
    )


def same(test, y_pred):
    """Compare a test of a model with one of its predictions."""
    expected = FairnessTest.from_predictions(Y, y_pred, sensitive_features=GROUP, metric="demographic_parity")
    pd.testing.assert_frame_equal(test.comparisons_, expected.comparisons_)


def optimizer():
    """A model that post-processes by group; not fitted."""
    return ThresholdOptimizer(
        estimator=LogisticRegression(), constraints="demographic_parity", grid_size=100, predict_method="predict_proba"
    )


@pytest.fixture(scope="module")
def fitted():
    """A fitted ThresholdOptimizer."""
    return optimizer().fit(X, Y, sensitive_features=GROUP)


# ThresholdOptimizer ---------------------------------------------------------------------------------------------------


def test_a_threshold_optimizer_is_given_the_groups_and_the_seed(fitted):
    test = run(fitted)
    same(test, fitted.predict(X, sensitive_features=GROUP, random_state=0))
    pd.testing.assert_frame_equal(run(fitted).comparisons_, test.comparisons_)
    raw = run(fitted.estimator_)
    assert raw.concern_
    assert abs(test.disparity_) < abs(raw.disparity_)


def in_pipeline(make):
    """A fitted pipeline of scaling and a model."""
    return make_pipeline(StandardScaler(), make()).fit(X, Y, thresholdoptimizer__sensitive_features=GROUP)


def searched(make):
    """A fitted search of scikit-learn for a model, which asks for the groups in fitting."""
    with sklearn.config_context(enable_metadata_routing=True):
        search = GridSearchCV(
            make().set_fit_request(sensitive_features=True),
            {"grid_size": [200]},
            scoring=lambda model, X, y: 0.0,  # a scorer of scikit-learn could not predict
            cv=2,
        )
        return search.fit(X, Y, sensitive_features=GROUP)


WRAPPED = {
    "frozen": lambda: FrozenEstimator(optimizer().fit(X, Y, sensitive_features=GROUP)),
    "search": lambda: searched(optimizer),
    "frozen search": lambda: FrozenEstimator(searched(optimizer)),
    "search at the end of a pipeline": lambda: make_pipeline("passthrough", FrozenEstimator(searched(optimizer))),
}
SCALED = {
    "pipeline": lambda: in_pipeline(optimizer),
    "frozen pipeline": lambda: FrozenEstimator(in_pipeline(optimizer)),
    "pipeline of a frozen pipeline": lambda: make_pipeline("passthrough", FrozenEstimator(in_pipeline(optimizer))),
}


@pytest.fixture(params=[False, True], ids=["routing off", "routing on"])
def routing(request):
    """Metadata routing, as scikit-learn has it by default and switched on."""
    return request.param


@pytest.mark.parametrize("wrapper", [*WRAPPED, *SCALED])
def test_the_groups_reach_a_threshold_optimizer_inside(wrapper, routing, fitted):
    model = (WRAPPED | SCALED)[wrapper]()
    expected = fitted.predict(X, sensitive_features=GROUP, random_state=0)
    if wrapper in SCALED:
        scaler = StandardScaler().fit(X)
        inner = optimizer().fit(scaler.transform(X), Y, sensitive_features=GROUP)
        expected = inner.predict(scaler.transform(X), sensitive_features=GROUP, random_state=0)
    elif "search" in wrapper:
        inner = optimizer().set_params(grid_size=200).fit(X, Y, sensitive_features=GROUP)
        expected = inner.predict(X, sensitive_features=GROUP, random_state=0)
    with sklearn.config_context(enable_metadata_routing=routing):
        same(run(model), expected)
        same(run(clone(FairnessTest(model)).estimator), expected)


def test_under_routing_scikit_learn_itself_would_ask_for_a_request():
    pipeline = in_pipeline(optimizer)
    with sklearn.config_context(enable_metadata_routing=True):
        with pytest.raises(UnsetMetadataPassedError, match="not explicitly set as requested"):
            pipeline.predict(X, sensitive_features=GROUP)
        assert run(pipeline).p_value_ <= 1


CONTAINERS = {
    "list": lambda values: values.tolist(),
    "series": lambda values: pd.Series(values),
    "frame": lambda values: pd.DataFrame({"sex": values}),
    "dict": lambda values: {"sex": values},
    "polars": lambda values: pl.DataFrame({"sex": values}),
    "pyarrow": lambda values: pa.table({"sex": values}),
}


@pytest.mark.parametrize("container", list(CONTAINERS))
def test_the_groups_reach_the_model_in_any_container(container, fitted):
    test = run(fitted, groups=CONTAINERS[container](GROUP))
    assert test.p_value_ == run(fitted).p_value_


def test_several_features_in_a_dict_reach_the_model():
    both = {"sex": GROUP, "old": np.arange(400) % 2}
    model = optimizer().fit(X, Y, sensitive_features=pd.DataFrame(both))
    expected = model.predict(X, sensitive_features=pd.DataFrame(both), random_state=0)
    test = run(model, groups=both)
    direct = FairnessTest.from_predictions(Y, expected, sensitive_features=both, metric="demographic_parity")
    assert test.p_value_ == direct.p_value_


def test_groups_of_other_people_are_found_before_the_model_pairs_them(fitted):
    frame = pd.DataFrame(X, columns=["u", "v"])
    shuffled = pd.Series(GROUP).sample(frac=1, random_state=0)
    with pytest.raises(ValueError, match=r"X and sensitive_features .*indexes that .*another order"):
        run(fitted, X=frame, groups=shuffled)
    with pytest.raises(ValueError, match="X and sensitive_features have different lengths, 400 and 399"):
        run(fitted, groups=GROUP[1:])


class Wrapper:
    """Something that hands nothing on but X."""

    def __init__(self, model):
        self.model = model

    def predict(self, X):
        """Predict with the model inside."""
        return self.model.predict(X)


def test_a_wrapper_that_hides_the_groups_is_named(fitted):
    with pytest.raises(ValueError, match=r"estimator=Wrapper\(\): a model inside needs sensitive_features, but Wr"):
        run(Wrapper(fitted))


def test_predict_params_take_precedence_inside_a_pipeline():
    model = in_pipeline(optimizer)
    others = np.roll(GROUP, 1)
    expected = model[-1].predict(model[0].transform(X), sensitive_features=others, random_state=7)
    params = {"sensitive_features": others, "random_state": 7}
    test = FairnessTest(model, metric="demographic_parity")
    same(test.fit(X, Y, sensitive_features=GROUP, predict_params=params), expected)


def test_a_threshold_optimizer_has_no_scores_and_says_so(fitted):
    with pytest.raises(
        ValueError, match=r"ThresholdOptimizer.* no predict_proba.*roc_auc needs scores.*estimator=None"
    ):
        run(fitted, metric="roc_auc")


def test_an_unfitted_model_of_fairlearn_is_never_fitted():
    with pytest.raises(NotFittedError, match=r"^estimator=ThresholdOptimizer\(\) is not fitted, and a test never fits"):
        run(optimizer())


# Reductions -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def gradient():
    """A fitted ExponentiatedGradient."""
    # fairlearn 0.15 fills a Series in a way that pandas 3.1 deprecates.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ExponentiatedGradient(
            DecisionTreeClassifier(max_depth=2, random_state=0), DemographicParity(), max_iter=3
        ).fit(X, Y, sensitive_features=GROUP)


def test_an_exponentiated_gradient_is_repeatable_with_a_seed(gradient):
    same(run(gradient, random_state=1), gradient.predict(X, random_state=1))
    for make in (np.random.default_rng, np.random.RandomState, int):
        one, two = (run(gradient, random_state=make(2)) for _ in range(2))
        pd.testing.assert_frame_equal(one.by_group_, two.by_group_)
    seeds = {run(gradient, random_state=seed).disparity_ for seed in range(5)}
    assert len(seeds) > 1


@pytest.mark.parametrize("wrap", [FrozenEstimator, lambda model: make_pipeline("passthrough", model)])
def test_the_seed_reaches_an_exponentiated_gradient_inside(wrap, routing, gradient):
    with sklearn.config_context(enable_metadata_routing=routing):
        same(run(wrap(gradient), random_state=1), gradient.predict(X, random_state=1))


def test_votes_at_random_are_no_scores(gradient):
    # The share of votes is private to fairlearn, and its AUC would be of a model that does not vote.
    with pytest.raises(ValueError, match=r"ExponentiatedGradient\(\) has no .*predict_proba.*pass your own scores"):
        run(gradient, metric="roc_auc")
    votes = gradient._pmf_predict(X)[:, 1]
    test = FairnessTest(metric="roc_auc", n_resamples=99, random_state=0).fit(votes, Y, sensitive_features=GROUP)
    assert 0 < test.p_value_ <= 1


@pytest.fixture(scope="module")
def grid():
    """A fitted search of fairlearn."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # as above
        return FairGridSearch(LogisticRegression(), DemographicParity(), grid_size=5).fit(
            X, Y, sensitive_features=GROUP
        )


def test_a_search_of_fairlearn_predicts_labels_and_scores(grid):
    same(run(grid), grid.predict(X))
    drawn = {"metric": "roc_auc", "n_resamples": 99, "random_state": 0}
    test = run(grid, **drawn)
    scores = grid.predict_proba(X)[:, 1]
    expected = FairnessTest.from_predictions(Y, scores, sensitive_features=GROUP, **drawn)
    pd.testing.assert_frame_equal(test.comparisons_, expected.comparisons_)
    other = run(grid, pos_label=0, **drawn)
    reverse = FairnessTest.from_predictions(Y, 1 - scores, sensitive_features=GROUP, pos_label=0, **drawn)
    pd.testing.assert_frame_equal(other.comparisons_, reverse.comparisons_)
    assert test.pos_label_ == 1


@pytest.mark.filterwarnings("ignore:brier_score.*holds only 0 and 1:UserWarning")
@pytest.mark.parametrize("always", [0, 1])
def test_a_search_that_settled_on_one_answer_is_sure_of_that_answer(always, grid):
    # fairlearn trains a constant model where a grid point weighs everybody towards one label.
    constant = DecisionTreeClassifier().fit(X, np.full(400, always))
    search = clone(grid).set_params(grid_size=1)
    search.predictors_, search.best_idx_ = [constant], 0
    test = run(search, metric="brier_score", n_resamples=19)
    wrong = [np.mean(Y[group == GROUP] != always) for group in ("f", "m")]
    assert test.by_group_["value"].tolist() == pytest.approx(wrong)


def test_a_correlation_is_of_the_probabilities_of_a_search(grid):
    drawn = {"of": "prediction", "n_resamples": 99, "random_state": 0}
    test = CorrelationFairnessTest(grid, **drawn).fit(X, Y, sensitive_features=X[:, 1])
    assert test.disparity_ == pytest.approx(np.corrcoef(grid.predict_proba(X)[:, 1], X[:, 1])[0, 1])


# Adversarial ----------------------------------------------------------------------------------------------------------


def adversarial(cls):
    """A small network against a smaller one; not fitted."""
    pytest.importorskip("torch")
    return cls(
        backend="torch",
        # fairlearn's step divides by the norm of a gradient, which a dead unit ("relu") makes 0.
        predictor_model=[4, "leaky_relu"],
        adversary_model=[2, "leaky_relu"],
        epochs=3,
        learning_rate=0.05,
        random_state=0,
    )


@pytest.mark.torch
@pytest.mark.parametrize("labels", [(0, 1), ("no", "yes")])
def test_an_adversarial_classifier_is_a_model(labels):
    y = np.array(labels)[Y]
    model = adversarial(AdversarialFairnessClassifier).fit(X, y, sensitive_features=GROUP)
    test = run(model, y=y, pos_label=labels[1])
    same(test, (model.predict(X) == labels[1]).astype(int))
    assert test.pos_label_ == labels[1]
    assert clone(test).estimator is model  # copies of the network fail, which fairlearn makes of a list of layers
    assert "AdversarialFairnessClassifier" in repr(test)
    assert "Test: Boschloo" in test._repr_html_()
    with pytest.raises(ValueError, match=r"has no .*predict_proba"):
        run(model, y=y, metric="roc_auc", pos_label=labels[1])


@pytest.mark.torch
def test_an_adversarial_classifier_is_the_last_step_of_a_pipeline():
    model = make_pipeline(StandardScaler(), adversarial(AdversarialFairnessClassifier))
    model.fit(X, Y, adversarialfairnessclassifier__sensitive_features=GROUP)
    same(run(model), model.predict(X))


@pytest.mark.torch
def test_an_adversarial_regressor_is_a_model():
    y = X[:, 0] + rng.normal(size=400)
    model = adversarial(AdversarialFairnessRegressor).fit(X, y, sensitive_features=GROUP)
    test = run(model, y=y, metric="mean_squared_error", n_resamples=99)
    errors = (y - model.predict(X)) ** 2
    assert test.disparity_ == pytest.approx(errors[GROUP == "f"].mean() - errors[GROUP == "m"].mean(), rel=1e-5)
    # Its `classes_` are the numbers it was trained on, which are no classes.
    test = CorrelationFairnessTest(model, n_resamples=99, random_state=0).fit(X, y, sensitive_features=X[:, 1])
    assert test.disparity_ == pytest.approx(np.corrcoef(np.sqrt(errors), X[:, 1])[0, 1], rel=1e-5)
