"""The fair metric of a test: what cannot be learned or used is said by its name."""

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, QuantileTransformer, StandardScaler

from skfairtest import IndividualFairnessTest, Mahalanobis, Projection, SensitiveSubspace


def test_sensitive_features_that_a_metric_has_to_learn_from(classifier, people):
    for metric in ("sensitive_subspace", SensitiveSubspace(), make_pipeline(StandardScaler(), SensitiveSubspace())):
        with pytest.raises(ValueError, match=r"^sensitive_features is missing") as error:
            IndividualFairnessTest.as_published(classifier, fair_metric=metric).fit(people[0], people[1])
        assert "fit(X, sensitive_features=df['sex'])" in str(error.value)


def test_a_pipeline_is_a_fair_metric_that_can_be_learned(classifier, people):
    metric = make_pipeline(StandardScaler(), SensitiveSubspace())
    test = IndividualFairnessTest.as_published(classifier, fair_metric=metric, steps=(20, 0.002))
    test.fit(people[0], people[1], sensitive_features=people[2])
    assert test.solver_report_["n_folds"] == 5


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        (Projection([[1, 0]]), r"fair_metric=Projection cannot be fitted.*rows of 3 finite numbers"),
        (Mahalanobis(np.eye(2)), r"fair_metric=Mahalanobis cannot be fitted.*shape \(3, 3\)"),
        (Mahalanobis(-np.eye(3)), r"fair_metric=Mahalanobis cannot be fitted.*semi-definite"),
        (PCA(7), r"fair_metric=PCA cannot be fitted"),
        (QuantileTransformer(n_quantiles=5), r"fair_metric=QuantileTransformer is not linear on these people"),
        (FunctionTransformer(np.exp), r"fair_metric=FunctionTransformer is not linear on these people"),
    ],
    ids=["projection", "mahalanobis", "negative", "components", "quantiles", "exponential"],
)
def test_metrics_of_the_wrong_dimension_or_kind(metric, message, fit):
    with pytest.raises(ValueError, match=message):
        fit(fair_metric=metric)


def test_a_fitted_metric_of_the_wrong_dimension(fit, people):
    metric = Projection([[1, 0]]).fit(people[0].iloc[:, :2])
    with pytest.raises(ValueError, match=r"fair_metric=Projection was fitted on 2 features, and X has 3"):
        fit(fair_metric=metric)


def test_a_metric_that_lets_everything_differ_says_so_once(classifier, people):
    test = IndividualFairnessTest.as_published(classifier, fair_metric=Projection(np.eye(3)), steps=(2, 0.01))
    with pytest.warns(UserWarning, match="lets people differ in every direction") as caught:
        test.fit(people[0], people[1])
    assert [warning.filename for warning in caught] == [__file__]


def test_something_that_transforms_and_is_no_transformer(fit):
    class Thing:
        def transform(self, X):
            return X

    with pytest.raises(
        ValueError, match=r"fair_metric must be .* a transformer that is fitted or can be cloned.*Thing"
    ):
        fit(fair_metric=Thing())


def test_a_sensitive_feature_of_one_level_in_some_fold(fit, people):
    alone = np.where(np.arange(80) == 3, "other", "all")
    with pytest.raises(
        ValueError, match=r"fair_metric=SensitiveSubspace cannot be fitted on \d+ of 80 people.*'all' for everybody"
    ):
        fit(fair_metric=SensitiveSubspace(level=None), groups=alone)


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (["f", "m"] * 20, r"different lengths, 80 and 40"),
        ("sex", r"sensitive_features='sex': X has no column of this name"),
        ([None, "m"] * 40, r"sensitive_features .* missing values"),
        (["f"] * 80, r"'f' for everybody"),
    ],
)
def test_sensitive_features_that_are_none(groups, message, fit):
    with pytest.raises(ValueError, match=message):
        fit(fair_metric="sensitive_subspace", groups=groups)
