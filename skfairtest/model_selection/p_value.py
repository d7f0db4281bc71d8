"""A test's p-value in the shape of a metric, and a test of fairness as an assertion for test suites and scripts."""

from __future__ import annotations

from typing import Any

import numpy as np

from skfairtest._utils.checks import check_choice, is_number
from skfairtest._utils.errors import ParameterError, answering_guesses, brief
from skfairtest._utils.text import label
from skfairtest.comparisons.core import Result, pooled
from skfairtest.comparisons.null_histogram import minimum_detectable
from skfairtest.comparisons.people import Inputs
from skfairtest.group import FairnessTest
from skfairtest.group.fairness import result_of
from skfairtest.model_selection._out_of_fold import check_people
from skfairtest.model_selection.audited import FairnessRejectedError
from skfairtest.report.sentences import DETECTION_POWER

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

    Null hypothesis: `metric` is equal in the compared groups. Use it with ``make_scorer``, or in a fairlearn
    ``MetricFrame`` over strata, whose ``by_group`` then has a p-value for each stratum.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or None
        True labels; None if the metric needs none.
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
        The cluster of each person.
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


REQUIREMENTS = ("not_rejected", "certified")


class FairnessAssertionError(FairnessRejectedError, AssertionError):
    """A model is not accepted by `assert_fair`: an AssertionError, which test suites count as a failure.

    The null hypothesis is that of the fitted test in ``fairness_tests``; the message is its report.

    Parameters
    ----------
    message : str
        The requirement that is not met, and the report.
    fairness_tests : sequence of FairnessTest
        The fitted test.

    Attributes
    ----------
    fairness_tests : list of FairnessTest
        The same.

    See Also
    --------
    assert_fair : Raises it.

    Examples
    --------
    >>> from skfairtest import FairnessAssertionError, FairnessRejectedError
    >>> issubclass(FairnessAssertionError, (AssertionError, FairnessRejectedError))
    True
    """


@answering_guesses
def assert_fair(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    sensitive_features: Any = None,
    metric: Any = "equalized_odds",
    margin: float | tuple[float | None, float | None] | None = None,
    require: str | None = None,
    detectable: float | None = None,
    control_features: Any = None,
    sample_weight: Any = None,
    clusters: Any = None,
    predict_params: dict[str, Any] | None = None,
    **test_params: Any,
) -> FairnessTest:
    """Fail if a model is not fair enough: beyond a margin, or by a significant disparity.

    Null hypothesis with ``require="certified"``: some disparity exceeds the margin (an equivalence test, which small
    samples fail); with "not_rejected": `metric` is equal in the groups or, with a margin, no disparity exceeds it
    (small samples pass, unless `detectable` is given).

    Parameters
    ----------
    estimator : fitted estimator or None
        As of `FairnessTest`; None: `X` is the predictions.
    X, y : array-like
        People who were not used to fit the model, and their true labels; `y` may be None where the metric needs none.
    sensitive_features : array-like, frame, mapping, or names of columns of `X`
        The groups.
    metric : str, Rate, ScoreMetric, callable, or list or dict of these, default="equalized_odds"
        As of `FairnessTest`.
    margin : float or tuple, optional
        Tolerated disparity: a difference of at least 0, or a ratio in (0, 1]. With "certified" also a pair of the
        lowest and the highest, either of them possibly None: ``(-0.05, None)``, with a reference, requires evidence
        that no group is more than 5 points below it (non-inferiority).
    require : {"certified", "not_rejected"}, optional
        The requirement; with a margin "certified" by default, without one "not_rejected".
    detectable : float, optional
        With "not_rejected", also fail if some comparison has a power below 80% for a disparity of this size (with
        ``disparity="ratio"`` a ratio in (0, 1]).
    control_features, sample_weight, clusters, predict_params : optional
        As of `FairnessTest.fit`.
    **test_params
        Further parameters of `FairnessTest`.

    Returns
    -------
    FairnessTest
        The fitted test, where nothing fails.

    Raises
    ------
    FairnessAssertionError
        If the requirement is not met, or a group is too small to be compared; the message is the report.
    ValueError
        If a parameter or an input is not usable.

    See Also
    --------
    AuditedClassifier : Does the same when models are trained.

    Examples
    --------
    >>> from skfairtest import assert_fair
    >>> from skfairtest.datasets import load_compas
    >>> compas = load_compas()
    >>> sex = compas.sensitive_features["sex"]
    >>> test = assert_fair(
    ...     None,
    ...     compas.y_pred,
    ...     compas.y_true,
    ...     sensitive_features=sex,
    ...     metric="false_positive_rate",
    ...     margin=0.05,
    ... )
    >>> test.p_value_ <= 0.05
    True
    >>> assert_fair(
    ...     None, compas.y_pred, compas.y_true, sensitive_features=sex, metric="selection_rate"
    ... )
    Traceback (most recent call last):
    ...
    skfairtest.model_selection.p_value.FairnessAssertionError: not accepted: a significant disparity was found...
    """
    __tracebackhide__ = True  # pytest then shows the line that calls it
    if require is None:
        require = "not_rejected" if margin is None else "certified"
    check_choice("require", require, REQUIREMENTS)
    certified = require == "certified"
    if certified and margin is None:
        raise ParameterError("margin is missing: require='certified' needs the disparity that is tolerated")
    if "alternative" in test_params:
        raise ParameterError("alternative follows from require: 'certified' is a test of equivalence; leave it out")
    most = 1.0 if test_params.get("disparity", "difference") != "difference" else np.inf
    if detectable is not None and (
        certified or not is_number(detectable) or not 0 < detectable <= most or np.isinf(detectable)
    ):
        raise ParameterError(
            f"detectable must be a number above 0 (of ratios at most 1), and needs require='not_rejected'; found "
            f"{brief(detectable)}: a test of equivalence fails by itself where people are too few"
        )
    test = FairnessTest(
        estimator, metric=metric, margin=margin, alternative="equivalence" if certified else "two-sided", **test_params
    )
    inputs = Inputs.of_fit(
        X,
        y,
        predict_params,
        sensitive_features=sensitive_features,
        control_features=control_features,
        sample_weight=sample_weight,
        clusters=clusters,
    )
    result = result_of(test, inputs)
    test._store(result)
    lost = pooled(result.excluded)
    why = [f"{lost[0].reason}: {label(lost[0].group)} was not compared, see excluded_"] if lost else []
    if test.concern_:
        shown = f"that disparities lie within margin={margin} was not shown" if certified else ""
        why.append(shown or "a significant disparity was found")
    if not certified:
        why += _too_few(result, detectable, always=bool(why))
    if why:
        raise FairnessAssertionError(f"not accepted: {'; '.join(why)}\n\n{test}", [test])
    return test


def _too_few(result: Result, detectable: float | None, *, always: bool) -> list[str]:
    """Say which disparity would have been found at the least, if it is larger than wanted, or always."""
    (sizes,) = minimum_detectable([result])
    worst = int(np.argmax(np.where(np.isnan(sizes), np.inf, sizes)))
    size, one = float(sizes[worst]), result.comparisons[worst]
    of_ratios = result.settings.question.disparity != "difference"
    if np.isnan(size):
        text = "unknown"
    else:
        text = "none" if np.isinf(size) else f"a ratio of {1 / size:.3g}" if of_ratios else f"{size:.3g}"
    sentence = (
        f"the smallest disparity in {one.metric} of {label(one.group)} against {label(one.other)} that "
        f"would be found with a probability of {DETECTION_POWER:.0%}: {text}"
    )
    if detectable is not None and not size <= (1 / detectable if of_ratios else detectable):
        return [f"people are too few for detectable={detectable}: {sentence}"]
    return [sentence] if always and not np.isnan(size) else []
