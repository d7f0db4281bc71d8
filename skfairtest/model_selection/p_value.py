"""A test's p-value in the shape of a metric."""

from __future__ import annotations

from typing import Any

from skfairtest._utils.errors import ParameterError
from skfairtest._utils.keywords import answering_guesses
from skfairtest.group import FairnessTest
from skfairtest.model_selection._check_lengths import check_people

MISSING = (
    "sensitive_features is missing, so there are no groups to compare: fairness_p_value(y_true, y_pred, "
    "sensitive_features=groups). As a scorer: sklearn.set_config(enable_metadata_routing=True), "
    "make_scorer(fairness_p_value, metric=...).set_score_request(sensitive_features=True), and "
    "search.fit(X, y, sensitive_features=groups) or cross_validate(..., params={'sensitive_features': groups}). In a "
    "MetricFrame: sample_params={'sensitive_features': groups}."
)


@answering_guesses
def fairness_p_value(
    y_true: Any,
    y_pred: Any,
    *,
    y_score: Any = None,
    sensitive_features: Any = None,
    control_features: Any = None,
    sample_weight: Any = None,
    clusters: Any = None,
    metric: Any = "equalized_odds",
    **params: Any,
) -> float:
    """Return the p-value of a fairness test, in the shape of a metric.

    Null hypothesis: `metric` is equal in the groups that are compared. Use it with ``make_scorer``, or in a fairlearn
    ``MetricFrame`` over strata, where it gives a p-value for each stratum. Read only the frame's ``by_group``:
    differences and ratios of p-values mean nothing.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or None
        True labels; None where the metric needs none.
    y_pred : array-like of shape (n_samples,)
        Predictions, or scores if the metric reads only scores.
    y_score : array-like of shape (n_samples,), optional
        Scores of the positive label, for metrics that need them beside predictions.
    sensitive_features : array-like, frame or mapping
        The groups: one or several columns of length n_samples.
    control_features : array-like, frame or mapping, optional
        Strata within which groups are compared.
    sample_weight : array-like of shape (n_samples,), optional
        The weight of each person.
    clusters : array-like of shape (n_samples,), optional
        Who belongs together.
    metric : str, Rate, ScoreMetric, callable, or list or dict of these, default="equalized_odds"
        As in `FairnessTest`.
    **params
        Further parameters of `FairnessTest`; `random_state` is 0 if it is not given, so that the same predictions have
        the same p-value.

    Returns
    -------
    float
        The global p-value, above 0 and at most 1. Its mean over folds or strata is not a p-value; twice the mean is.

    Raises
    ------
    ValueError
        If there are no groups or fewer than two of them, or the test refuses a parameter or an input.

    See Also
    --------
    make_fairness_scorer : A scorer that needs no request and can read the groups from X.
    FairnessTest : The test, with all its other results.

    Examples
    --------
    >>> from fairlearn.metrics import MetricFrame
    >>> from skfairtest import fairness_p_value
    >>> from skfairtest.datasets import load_compas
    >>> compas = load_compas()
    >>> features = compas.sensitive_features
    >>> frame = MetricFrame(
    ...     metrics=fairness_p_value,
    ...     y_true=compas.y_true,
    ...     y_pred=compas.y_pred,
    ...     sensitive_features=features["age_cat"],
    ...     sample_params={"sensitive_features": features["sex"]},
    ... )
    >>> frame.by_group.round(3).to_dict()
    {'25 - 45': 0.067, 'Greater than 45': 0.226, 'Less than 25': 0.041}
    """
    if sensitive_features is None:
        raise ParameterError(MISSING)
    features = {
        "sensitive_features": sensitive_features,
        "control_features": control_features,
        "sample_weight": sample_weight,
        "clusters": clusters,
    }
    check_people(y_pred if y_true is None else y_true, features)
    params = {"random_state": 0, **params}
    return FairnessTest.from_predictions(y_true, y_pred, y_score=y_score, metric=metric, **features, **params).p_value_
