"""scikit-learn's own checks of every public estimator.

The checks know nothing of groups, and a test fits no model. Each estimator is therefore checked in a subclass that
supplies both; everything else is the public class, and no check is expected to fail. A new public estimator is given
its line in `CHECKED`.
"""

from functools import partial

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

import skfairtest
from skfairtest import (
    AdjustedFairnessTest,
    AuditedClassifier,
    AuditedRegressor,
    CorrelationFairnessTest,
    FairnessAudit,
    FairnessTest,
    IndividualFairnessTest,
    LabelledFairnessTest,
    Mahalanobis,
    PairedFairnessTest,
    Projection,
    SensitiveSubspace,
    SequentialFairnessTest,
    SubgroupScan,
    UncertainGroupsTest,
)


def every_second(X):
    """Divide people into two groups."""
    return np.arange(X.shape[0] if hasattr(X, "shape") else len(np.asarray(X))) % 2


def fit_on(test, fit, X, y, sensitive_features):
    """Fit a test of its model fitted on these people, and leave the parameter as it was."""
    model = test.estimator
    groups = every_second(X) if sensitive_features is None else sensitive_features
    try:
        test.estimator = clone(model).fit(X, y)
        return fit(X, y, sensitive_features=groups)
    finally:
        test.estimator = model


class OfModel:
    """Fits its model, and supplies the groups."""

    def fit(self, X, y=None, *, sensitive_features=None):
        """Test the model on the people it was fitted on."""
        return fit_on(self, super().fit, X, y, sensitive_features)


class FairnessTestOfModel(OfModel, FairnessTest):
    pass


class FairnessAuditOfModel(OfModel, FairnessAudit):
    pass


class SubgroupScanOfModel(OfModel, SubgroupScan):
    pass


class LabelledFairnessTestOfModel(OfModel, LabelledFairnessTest):
    pass


class CorrelationFairnessTestOfModel(OfModel, CorrelationFairnessTest):
    pass


class IndividualFairnessTestOfModel(OfModel, IndividualFairnessTest):
    pass


class UncertainGroupsTestOfModel(UncertainGroupsTest):
    """Fits its model, and supplies probabilities."""

    def fit(self, X, y=None, *, sensitive_features=None):
        """Test the model on the people it was fitted on."""
        if sensitive_features is None:
            groups = np.asarray(every_second(X))
            sensitive_features = np.where((groups == groups[:1])[:, None], [0.8, 0.2], [0.2, 0.8])
        return fit_on(self, super().fit, X, y, sensitive_features)


class SequentialFairnessTestOfModel(SequentialFairnessTest):
    """Takes in what a model predicts of the people it was fitted on, and supplies the groups."""

    def fit(self, X, y=None):
        """Begin anew."""
        y_pred = LogisticRegression().fit(X, y).predict(X)
        super().fit(y_true=y, y_pred=y_pred, sensitive_features=every_second(X))
        self.n_features_in_ = shape(X)[-1]
        return self

    def partial_fit(self, X=None, y=None, **given):
        """Take in one more batch; `fit` passes predictions and groups."""
        if given:
            return super().partial_fit(**given)
        model = LogisticRegression().fit(X, y)
        if getattr(self, "n_features_in_", model.n_features_in_) != model.n_features_in_:
            raise ValueError("X has another number of features than the batches before")
        super().partial_fit(y_true=y, y_pred=model.predict(X), sensitive_features=every_second(X))
        self.n_features_in_ = model.n_features_in_
        return self

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(LogisticRegression()).input_tags
        return tags


class PairedFairnessTestOfModels(PairedFairnessTest):
    """Fits its models, and supplies the groups."""

    def fit(self, X, y=None, *, sensitive_features=None):
        """Test the models on the people they were fitted on."""
        models = self.estimator_a, self.estimator_b
        groups = every_second(X) if sensitive_features is None else sensitive_features
        try:
            self.estimator_a, self.estimator_b = (clone(model).fit(X, y) for model in models)
            return super().fit(X, y, sensitive_features=groups)
        finally:
            self.estimator_a, self.estimator_b = models


class AdjustedFairnessTestOfModel(AdjustedFairnessTest):
    """Fits its model, and supplies the groups and a covariate."""

    def fit(self, X, y=None, *, sensitive_features=None, covariates=None):
        """Test the model on the people it was fitted on."""
        people = every_second(X)
        covariates = np.sin(np.arange(len(people))) if covariates is None else covariates
        return fit_on(self, partial(super().fit, covariates=covariates), X, y, sensitive_features)


class WithGroups:
    """Supplies the groups."""

    def fit(self, X, y, sample_weight=None):
        """Fit with every second person in the other group."""
        return super().fit(X, y, sensitive_features=every_second(X), sample_weight=sample_weight)


class AuditedClassifierWithGroups(WithGroups, AuditedClassifier):
    pass


class AuditedRegressorWithGroups(WithGroups, AuditedRegressor):
    pass


class SensitiveSubspaceWithGroups(SensitiveSubspace):
    """Supplies the groups."""

    def fit(self, X, y=None):
        """Fit with every second person in the other group."""
        return super().fit(X, sensitive_features=every_second(X))


class ProjectionOfFirstFeature(Projection):
    """Supplies as long a direction as X is wide."""

    def fit(self, X, y=None):
        """Let people differ in the first feature."""
        return with_parameter(self, "directions", np.eye(1, shape(X)[-1]), super().fit, X)


class MahalanobisOfFirstFeature(Mahalanobis):
    """Supplies as large a matrix as X is wide."""

    def fit(self, X, y=None):
        """Count differences in the first feature, and no others."""
        return with_parameter(self, "matrix", np.diag(np.eye(1, shape(X)[-1])[0]), super().fit, X)


def shape(X):
    """Count people and features."""
    return (X if hasattr(X, "shape") else np.asarray(X)).shape


def with_parameter(metric, name, value, fit, X):
    """Fit with another value of a parameter, and leave it as it was."""
    kept = getattr(metric, name)
    try:
        setattr(metric, name, value)
        return fit(X)
    finally:
        setattr(metric, name, kept)


# The data of the checks have labels of all kinds and up to three classes, and numbers: these metrics are defined.
DRAWN = {"n_resamples": 19, "random_state": 0}
CHECKED = {
    FairnessTest: [
        FairnessTestOfModel(LogisticRegression(), metric="accuracy"),
        FairnessTestOfModel(LinearRegression(), metric="mean_squared_error", **DRAWN),
    ],
    PairedFairnessTest: [
        PairedFairnessTestOfModels(LogisticRegression(), LogisticRegression(C=0.1), metric="accuracy", **DRAWN),
        PairedFairnessTestOfModels(LinearRegression(), LinearRegression(), metric="mean_squared_error", **DRAWN),
    ],
    FairnessAudit: [
        FairnessAuditOfModel(LogisticRegression(), metrics="accuracy"),
        FairnessAuditOfModel(LinearRegression(), metrics="mean_squared_error", **DRAWN),
    ],
    UncertainGroupsTest: [UncertainGroupsTestOfModel(LogisticRegression(), metric="accuracy", **DRAWN)],
    LabelledFairnessTest: [LabelledFairnessTestOfModel(LogisticRegression(), metric="accuracy")],
    SubgroupScan: [
        SubgroupScanOfModel(LogisticRegression(), metric="accuracy", min_group_size=2),
        SubgroupScanOfModel(LinearRegression(), metric="mean_squared_error", min_group_size=2),
    ],
    SequentialFairnessTest: [SequentialFairnessTestOfModel(metric="accuracy")],
    CorrelationFairnessTest: [CorrelationFairnessTestOfModel(LinearRegression(), **DRAWN)],
    AdjustedFairnessTest: [
        AdjustedFairnessTestOfModel(
            LinearRegression(), outcome_model=LinearRegression(), group_model=LinearRegression(), n_folds=2
        ),
        AdjustedFairnessTestOfModel(LinearRegression(), n_folds=2),
    ],
    IndividualFairnessTest: [
        IndividualFairnessTestOfModel(LogisticRegression(), steps=(5, 0.2)),
        IndividualFairnessTestOfModel(LinearRegression(), statistic="ratio_of_means", steps=(5, 0.2)),
    ],
    AuditedClassifier: [
        AuditedClassifierWithGroups(
            LogisticRegression(), tests=FairnessTest(metric="accuracy"), cv=2, on_rejection="ignore"
        )
    ],
    AuditedRegressor: [
        AuditedRegressorWithGroups(
            LinearRegression(), tests=FairnessTest(metric="mean_residual", **DRAWN), cv=2, on_rejection="ignore"
        )
    ],
    Mahalanobis: [MahalanobisOfFirstFeature()],
    Projection: [ProjectionOfFirstFeature()],
    SensitiveSubspace: [SensitiveSubspaceWithGroups()],
}


def twin(check):
    """Whether a check is about sparse matrices, which are refused as sparse arrays are by the check beside it."""
    return getattr(check, "func", check).__name__ == "check_estimator_sparse_matrix"


def every_check():
    """Parametrize with all checks of all estimators; of those of one class, the first is checked at every change.

    With a list: up to scikit-learn 1.8 it would be a generator, which pytest 9.1 deprecates.
    """
    made = parametrize_with_checks([estimator for several in CHECKED.values() for estimator in several])
    names, values = made.mark.args
    others = [estimator for several in CHECKED.values() for estimator in several[1:]]
    marked = [
        pytest.param(
            estimator,
            check,
            id=f"{type(estimator).__name__}-{getattr(check, 'func', check).__name__}",
            marks=pytest.mark.slow if any(estimator is other for other in others) or twin(check) else (),
        )
        for estimator, check in values
    ]
    return pytest.mark.parametrize(names, marked)


# Small groups and few resamples are warned of, as they should be; the checks ask for neither to be otherwise.
@pytest.mark.in_turn(3)
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@every_check()
def test_scikit_learn_finds_nothing_wrong(estimator, check):
    check(estimator)


def test_every_public_estimator_is_checked():
    public = {getattr(skfairtest, name) for name in skfairtest.__all__}
    estimators = {item for item in public if isinstance(item, type) and issubclass(item, BaseEstimator)}
    assert estimators == set(CHECKED)
    for cls, instances in CHECKED.items():
        assert all(isinstance(instance, cls) for instance in instances)
