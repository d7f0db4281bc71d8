"""Fairness as a score for searches and cross-validation; the groups come by routing or from columns of X."""

from __future__ import annotations

from typing import Any, Self

from sklearn.metrics import get_scorer
from sklearn.metrics._scorer import _BaseScorer
from sklearn.utils.metadata_routing import MetadataRequest

from skfairtest._utils.errors import ParameterError, answering_guesses
from skfairtest._utils.text import name_of
from skfairtest.comparisons.engine import check_question
from skfairtest.comparisons.people import Inputs
from skfairtest.group import FairnessTest
from skfairtest.model_selection._out_of_fold import check_people
from skfairtest.model_selection.p_value import (
    check_score,
    check_seed_of_scorer,
    constrained,
    fairness_score,
    least_score,
)
from skfairtest.paired.fairness import PairedFairnessTest
from skfairtest.readers import given_to_fit, one_column
from skfairtest.readers.containers import check_names_of_columns, named_columns

#: What a model is tested for against a baseline.
FAIRER: dict[str, Any] = {"alternative": "fairer"}

#: What holds the groups that a model predicts from.
PREDICTED_FROM = "predict_params['sensitive_features']"

MISSING = (
    "sensitive_features is missing, so there are no groups to compare. By metadata routing: "
    "sklearn.set_config(enable_metadata_routing=True), then search.fit(X, y, sensitive_features=groups) or "
    "cross_validate(..., params={'sensitive_features': groups}). Without routing: make_fairness_scorer(..., "
    "sensitive_features='sex') reads that column of X. Called directly: scorer(model, X, y, "
    "sensitive_features=groups)."
)


def score_of_predictions(
    y_true: Any,
    y_pred: Any,
    *,
    metric: Any,
    output: str,
    columns: tuple[str, ...] | None,
    baseline: Any = None,
    maximize: Any = None,
    least: float = 0.0,
    sensitive_features: Any = None,
    control_features: Any = None,
    clusters: Any = None,
    sample_weight: Any = None,
    predict_params: dict[str, Any] | None = None,
    **params: Any,
) -> float:
    """Score predicted labels, which is all that TunedThresholdClassifierCV passes.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        True labels, and labels predicted with a threshold.
    metric, output, columns, baseline, maximize, predict_params, **params : object
        The scorer's.
    least : float
        The smallest score of a model that is fair enough for what is maximized.
    sensitive_features, control_features, clusters, sample_weight : object
        Passed by metadata routing.

    Returns
    -------
    float
        Larger is fairer; minus infinity where it is undefined, because the tuner treats NaN as the best score.

    Raises
    ------
    ValueError
        If there are no groups, or the metric does not depend on a threshold.
    """
    if columns is not None:
        raise ParameterError(
            f"sensitive_features are the columns {list(columns)} of X, and X is not passed when "
            "thresholds are scored (TunedThresholdClassifierCV): make_fairness_scorer(...) without sensitive_features, "
            "sklearn.set_config(enable_metadata_routing=True), and fit(X, y, sensitive_features=groups)"
        )
    if predict_params:
        raise ParameterError(
            "predict_params are for a model that is asked about X, and X is not passed when thresholds are scored "
            "(TunedThresholdClassifierCV): leave it out"
        )
    if params.get("prediction_threshold") is not None:
        raise ParameterError(
            "prediction_threshold is not for a scorer whose predictions have a threshold already "
            "(TunedThresholdClassifierCV): leave it out"
        )
    if baseline is not None:
        raise ParameterError(
            "baseline is a model that is asked about X, and X is not passed when thresholds are scored "
            "(TunedThresholdClassifierCV): tune without it, and compare the tuned model by PairedFairnessTest"
        )
    passed = {
        "sensitive_features": sensitive_features,
        "control_features": control_features,
        "clusters": clusters,
        "sample_weight": sample_weight,
    }
    _check_passed(y_true, passed)
    scored = [m.name for m in check_question(metric, params)[1] if "y_score" in m.reads]
    if scored:
        raise ParameterError(
            f"metric={scored[0]!r} is a metric of scores, which a threshold does not change: tune with a metric of "
            "labels, such as 'equalized_odds'"
        )
    test = FairnessTest(metric=metric, **params)
    score = fairness_score(test, output, Inputs(one_column(y_pred), one_column(y_true), passed))
    if score == score and maximize is not None:
        gain = get_scorer(maximize)
        if gain._response_method != "predict":
            raise ParameterError(
                f"maximize={maximize!r} is a score that a threshold does not change: maximize a score of labels, such "
                "as 'balanced_accuracy'"
            )
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        value = gain._sign * gain._score_func(y_true, y_pred, **gain._kwargs, **weights)
        score = constrained(score, least, float(value))
    return score if score == score else -float("inf")


def _check_passed(people: Any, passed: dict[str, Any]) -> None:
    if passed.get("sensitive_features") is None:
        raise ParameterError(MISSING)
    check_people(people, passed)


# scikit-learn's scorers are private classes. make_scorer makes one of a function of labels and predictions, and never
# passes X or the model, which fairlearn's mitigators and columns by name need; any other object with
# get_metadata_routing is refused by TunedThresholdClassifierCV.
class FairnessScorer(_BaseScorer):
    """What `make_fairness_scorer` returns: called as ``scorer(estimator, X, y)``."""

    _maximize: Any = None
    _tolerance: Any = None

    def __init__(
        self,
        metric: Any,
        output: str,
        columns: tuple[str, ...] | None,
        params: dict[str, Any],
        baseline: Any = None,
        predict_params: dict[str, Any] | None = None,
        maximize: Any = None,
        tolerance: Any = None,
    ) -> None:
        given = {"metric": metric, "output": output, "columns": columns, "baseline": baseline, **params}
        self._least = 0.0 if maximize is None else least_score(metric, params, tolerance)
        given |= {"predict_params": predict_params, "maximize": maximize, "least": self._least}
        super().__init__(score_of_predictions, 1, given, "predict")
        self._metric, self._output, self._columns, self._params = metric, output, columns, params
        self._baseline, self._predict_params = baseline, predict_params or {}
        self._maximize, self._tolerance = maximize, tolerance
        self.__name__ = f"{name_of(metric)}_{output}".replace("'", "")  # which drawings of scores show
        # set_score_request does the same, and is only there while routing is enabled.
        requests = MetadataRequest(owner=repr(self))
        for name, alias in {
            "sensitive_features": columns is None,
            "control_features": True,
            "clusters": True,
            "sample_weight": None,  # as in every scorer, the user says
        }.items():
            requests.score.add_request(param=name, alias=alias)
        self._metadata_request = requests

    def __call__(
        self,
        estimator: Any,
        X: Any,
        y_true: Any = None,
        *,
        sensitive_features: Any = None,
        control_features: Any = None,
        clusters: Any = None,
        sample_weight: Any = None,
        predict_params: dict[str, Any] | None = None,
    ) -> float:
        """Score a fitted model; with sensitive features passed directly, routing may be on or off."""
        return self._score(
            None,  # nothing is remembered
            estimator,
            X,
            y_true,
            sensitive_features=sensitive_features,
            control_features=control_features,
            clusters=clusters,
            sample_weight=sample_weight,
            predict_params=predict_params,
        )

    def _score(
        self,
        method_caller: Any,  # remembers predictions for all scorers
        estimator: Any,
        X: Any,
        y_true: Any = None,
        predict_params: dict[str, Any] | None = None,
        **passed: Any,
    ) -> float:
        X, y_true, passed = given_to_fit(X, y_true, passed)
        if self._columns is not None:
            if passed.get("sensitive_features") is not None:
                raise ParameterError(
                    "sensitive_features was passed, but the scorer reads the groups from the columns "
                    f"{list(self._columns)} of X: leave one of the two out"
                )
            passed["sensitive_features"] = named_columns(X, self._columns, "sensitive_features")
        _check_passed(X if y_true is None else y_true, passed)
        test = self._test(estimator)
        asked = {**self._predict_params, **(predict_params or {})}
        if asked.get("sensitive_features") is self._predict_params.get("sensitive_features") is not None:
            names = check_names_of_columns(asked["sensitive_features"], PREDICTED_FROM) or ()
            asked["sensitive_features"] = named_columns(X, names, PREDICTED_FROM)
        call = method_caller if self._baseline is None else None  # which knows one model
        score = fairness_score(test, self._output, Inputs(X, one_column(y_true), passed, None, asked, call=call))
        if self._maximize is None or score != score:
            return score
        gain = get_scorer(self._maximize)(estimator, X, y_true, sample_weight=passed.get("sample_weight"))
        return constrained(score, self._least, float(gain))

    def _test(self, estimator: Any) -> FairnessTest:
        """Return the test of a fitted model."""
        if self._baseline is None:
            return FairnessTest(estimator, metric=self._metric, **self._params)
        return PairedFairnessTest(self._baseline, estimator, metric=self._metric, **FAIRER, **self._params)

    def set_score_request(self, **kwargs: bool | str | None) -> Self:
        """Change which metadata is requested; requests that are not mentioned stay as they are.

        scikit-learn's own method would reset them, and with them the request for the groups.
        """
        return super().set_score_request(**{**self._metadata_request.score.requests, **kwargs})  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        """Return the call that makes it."""
        given: dict[str, Any] = {"output": self._output}
        if self._baseline is not None:
            given["baseline"] = self._baseline
        if self._columns is not None:
            given["sensitive_features"] = self._columns[0] if len(self._columns) == 1 else list(self._columns)
        if self._predict_params:
            given["predict_params"] = self._predict_params
        if self._maximize is not None:
            given |= {"maximize": self._maximize, "tolerance": self._tolerance}
        given |= self._params
        params = [f"{name}={value!r}" for name, value in given.items()]
        return f"make_fairness_scorer({', '.join([name_of(self._metric), *params])})"


@answering_guesses
def make_fairness_scorer(
    metric: Any,
    *,
    output: str = "upper_bound",
    maximize: Any = None,
    tolerance: float | None = None,
    sensitive_features: str | list[str] | tuple[str, ...] | None = None,
    baseline: Any = None,
    predict_params: dict[str, Any] | None = None,
    **test_params: Any,
) -> FairnessScorer:
    """Make a scorer of a fitted model's fairness, for searches and cross-validation.

    On every fold it runs `FairnessTest`, whose null hypothesis is that `metric` is equal in the groups, on the model's
    predictions, and returns one number; larger is fairer. The score covers all comparisons of the test: the disparity
    that is farthest from equality counts. Undefined is never better than defined: a model that leaves the metric
    undefined in a group gets NaN and a warning, and searches rank it last.

    Parameters
    ----------
    metric : str, Rate, ScoreMetric, callable, or list or dict of these
        As in `FairnessTest`.
    output : {"upper_bound", "disparity", "statistic", "p_value"}, default="upper_bound"
        "disparity": minus the largest absolute difference or, with ``disparity="ratio"``, the smallest ratio of the
        smaller to the larger value, min(r, 1/r). "upper_bound": the same, computed from the worst end of the intervals,
        so that a model does not win because its groups are small; minus infinity where an interval of differences is
        unbounded. "statistic": minus the absolute statistic of the comparison that sets the p-value. "p_value": the
        test's p-value, or minus the p-value with ``alternative="equivalence"``, where a small p-value is evidence for
        fairness. A search ranks by the mean over folds, which is not a p-value, and p-values are larger in smaller
        folds: use them in `select_fair`, not for ranking.
    maximize : str or callable, optional
        One of scikit-learn's scores that lie between 0 and 1, such as "balanced_accuracy": this then is the score of
        every model whose disparity (or its upper bound, as `output` says) is within the `tolerance`, and that of any
        other model is how far it is from that, below 0. One score is all that halving searches, ``RFECV``,
        ``TunedThresholdClassifierCV`` and many other optimizers take, and fairness alone is greatest for models that
        predict the same for everybody.
    tolerance : float, optional
        With `maximize`, the largest difference, or the smallest ratio, that is tolerated.
    sensitive_features : str or list of str, optional
        Names of columns of X that hold the groups; this needs no metadata routing. They must be in the X that is passed
        to the whole model; a ColumnTransformer inside it may drop them. None: the groups are passed by metadata
        routing, and are already requested.
    baseline : fitted estimator, optional
        The model in production. The score then is minus the p-value of `PairedFairnessTest` with
        ``alternative="fairer"``, whose null hypothesis is that a disparity of the scored model is as large in size as
        that of the baseline, or larger; it needs ``output="p_value"``, and is what `select_fair` takes as
        `significantly_better_than`. The baseline must not have been fitted on people of this search.
    predict_params : dict, optional
        Further arguments of the scored models' ``predict``. For models that predict from other groups than those that
        are compared: ``{"sensitive_features": "race"}``, the name of a column of X or a list of names.
    **test_params
        Parameters of `FairnessTest`, or of `PairedFairnessTest` with a baseline. `random_state` is 0 if it is not
        given, and must be an integer: the same model and data then get the same score, whatever was scored before.
        Metrics without an exact test, such as AUC, are scored several times faster with ``n_resamples="adaptive"``.

    Returns
    -------
    scorer : callable
        A scorer of scikit-learn, ``scorer(estimator, X, y)``. Called directly, it takes ``sensitive_features=groups``
        of shape (n_samples,) or (n_samples, n_features), ``control_features``, ``clusters``, ``sample_weight`` and
        ``predict_params`` (whose ``sensitive_features`` then are the groups themselves), with routing enabled or not.
        With routing it requests the first three; ``set_score_request(sample_weight=True)`` requests the weights too.

    Raises
    ------
    ValueError
        If a parameter is unknown or not usable, or the output has no meaning for the metric. When it scores: if there
        are no groups, fewer than two of them, or lengths differ.

    Warns
    -----
    UndefinedMetricWarning
        When it scores, if a comparison is undefined and the score therefore NaN.

    See Also
    --------
    select_fair : Choose the best candidate among fair ones.
    FairnessTest : The test behind the score.
    SensitiveStratifiedKFold : Folds with equal shares of every group.

    Notes
    -----
    ``TunedThresholdClassifierCV`` never passes X to a scorer: the groups must come by routing, and a threshold at which
    the score is undefined gets minus infinity. ``RFECV`` and ``SequentialFeatureSelector`` pass columns without names,
    or only some columns, so the groups must come by routing there too. They also treat NaN as the best score: use a
    metric that is always defined, such as "demographic_parity" compared by difference.

    A score is about the people of its fold: if a group is missing from a fold, the score does not show it as long as
    two other groups are there. `SensitiveStratifiedKFold` prevents this. Scores of folds are for choosing a model. To
    find out whether the chosen model is fair, run a `FairnessTest` on people that were used neither for training nor
    for the choice.

    Without routing, weights passed to a search's ``fit`` also weight this score, like every other score that takes
    weights, from scikit-learn 1.7 on.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import GridSearchCV
    >>> from skfairtest import make_fairness_scorer, select_fair
    >>> rng = np.random.default_rng(0)
    >>> X = pd.DataFrame({"female": rng.integers(0, 2, 400), "merit": rng.normal(size=400)})
    >>> y = (X["merit"] + X["female"] + rng.normal(size=400) > 0.5).astype(int)
    >>> fair = make_fairness_scorer("demographic_parity", sensitive_features="female")
    >>> search = GridSearchCV(
    ...     LogisticRegression(),
    ...     {"C": [0.0001, 0.01, 1.0]},
    ...     scoring={"accuracy": "accuracy", "fair": fair},
    ...     refit=select_fair("accuracy", "fair", tolerance=0.35),
    ... ).fit(X, y)
    >>> search.best_params_
    {'C': 0.01}
    """
    columns = check_names_of_columns(sensitive_features, "sensitive_features")
    if (maximize is None) != (tolerance is None):
        missing = "tolerance" if tolerance is None else "maximize"
        raise ParameterError(f"{missing} is missing: a constrained score needs both maximize and tolerance")
    check_names_of_columns((predict_params or {}).get("sensitive_features"), PREDICTED_FROM)
    params = {"random_state": 0, **test_params}
    if maximize is not None:
        if baseline is not None or output not in ("upper_bound", "disparity"):
            raise ParameterError(
                f"maximize needs a disparity: output='upper_bound' or 'disparity', and no baseline; found {output!r}"
            )
        try:
            gain = get_scorer(maximize)
        except ValueError as error:
            raise ParameterError(f"maximize={maximize!r} is no score of scikit-learn: {error}") from error
        if not hasattr(gain, "_score_func"):
            raise ParameterError(f"maximize={maximize!r} must be a name, or what sklearn.metrics.make_scorer returns")
    if baseline is not None:
        _check_baseline(metric, output, params)
        return FairnessScorer(metric, output, columns, params, baseline, predict_params)
    check_score(metric, output, params)
    if output == "disparity" and "method" not in test_params:
        params |= _cheapest(metric, output, params)
    return FairnessScorer(metric, output, columns, params, None, predict_params, maximize, tolerance)


def _check_baseline(metric: Any, output: str, params: dict[str, Any]) -> None:
    """Refuse what has no meaning for a comparison with a baseline."""
    if output != "p_value":
        raise ParameterError(
            f"output={output!r} has no meaning with a baseline, against which models are tested: use output='p_value', "
            "and select_fair(..., significantly_better_than=...)"
        )
    known = {*PairedFairnessTest().get_params()} - {"estimator_a", "estimator_b", "metric", "alternative"}
    unknown = sorted({*params} - known)
    if unknown:
        raise ParameterError(
            f"test_params: with a baseline there is no {unknown[0]}; there are {', '.join(sorted(known))}"
        )
    check_seed_of_scorer(params["random_state"])
    PairedFairnessTest(metric=metric, **FAIRER, **params)._check()


def _cheapest(metric: Any, output: str, params: dict[str, Any]) -> dict[str, Any]:
    """Return the method that needs no resamples, if there is one: the estimate is the same with every method."""
    cheap = {"method": "asymptotic"}
    try:
        check_score(metric, output, {**params, **cheap})
    except ValueError:  # disparities over all groups at once, other variances, and permutation within labels
        return {}
    return cheap
