"""Fairness as a score for searches and cross-validation; the groups come by routing or from columns of X.

A model is scored on all its groups or not at all: otherwise a model could win by making a group disappear.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Self

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics._scorer import _BaseScorer
from sklearn.utils.metadata_routing import MetadataRequest

from skfairtest._utils import errors
from skfairtest._utils.checks import check_choice
from skfairtest._utils.errors import ParameterError, answering_guesses, brief
from skfairtest._utils.text import label, name_of
from skfairtest.comparisons.core import pooled
from skfairtest.comparisons.engine import check_question, extreme_of
from skfairtest.comparisons.family import p_of
from skfairtest.comparisons.omnibus import check_omnibus
from skfairtest.comparisons.people import Inputs
from skfairtest.group import FairnessTest
from skfairtest.group.fairness import measured_of, result_of
from skfairtest.inference.multiplicity import FAMILYWISE
from skfairtest.metrics import Independence, Metric, Omnibus
from skfairtest.model_selection._out_of_fold import check_people, check_test_params
from skfairtest.paired.fairness import PairedFairnessTest
from skfairtest.readers import given_to_fit, one_column
from skfairtest.readers.containers import check_names_of_columns, named_columns
from skfairtest.readers.levels import listed

OUTPUTS = ("disparity", "upper_bound", "p_value")
FOLDS = (
    "If a group is missing from a fold: cv=SensitiveStratifiedKFold() keeps every group in every fold if the group "
    "has enough people; otherwise use fewer folds, or merge small groups."
)
#: What holds the groups that a model predicts from.
PREDICTED_FROM = "predict_params['sensitive_features']"
MISSING = (
    "sensitive_features is missing, so there are no groups to compare. By metadata routing: "
    "sklearn.set_config(enable_metadata_routing=True), then search.fit(X, y, sensitive_features=groups) or "
    "cross_validate(..., params={'sensitive_features': groups}). Without routing: make_fairness_scorer(..., "
    "sensitive_features='sex') reads that column of X. Called directly: scorer(model, X, y, "
    "sensitive_features=groups)."
)
#: What a scorer passes to every test itself.
OF_THE_SCORER = {"estimator": "a search or cross-validation passes the model to the scorer"}


def check_score(metric: Any, output: str, params: dict[str, Any]) -> None:
    """Check everything about a score that can be known without data."""
    check_choice("output", output, OUTPUTS)
    check_test_params(params, FairnessTest, OF_THE_SCORER)
    _check_seed(params["random_state"])
    settings, metrics = check_question(metric, params)
    question = settings.question
    whole = [m for m in metrics if isinstance(m, Omnibus)]
    for one in whole:
        check_omnibus(one, settings)
    sideless = [m.name for m in whole if m.extreme == "two-sided"]
    scales = {m.name: _scale(m, question.disparity) for m in metrics}
    ratios = [name for name, scale in scales.items() if scale != "difference"]
    interval = output == "upper_bound"
    directed = question.alternative in ("greater", "less")
    for why, holds in {
        f"has no meaning for {listed(sideless)}, of which neither large nor small values are fairer: use "
        "output='p_value'": output == "disparity" and sideless,
        f"has no meaning: {', '.join(m.name for m in whole)} is one number for all groups and has no interval; use "
        "output='disparity' or 'p_value', or a metric of each group, such as 'equalized_odds'": interval and whole,
        f"is the upper end of two-sided intervals, and alternative={question.alternative!r} has one-sided ones: use "
        "alternative='two-sided', or output='disparity' or 'p_value'": interval and directed,
        f"needs simultaneous intervals of all comparisons, and adjust={settings.adjust!r} gives pointwise intervals: "
        "use adjust='auto'": interval and settings.adjust not in FAMILYWISE,
        f"is one number, but {listed(ratios)} is compared by ratio and the other metrics by difference: score them "
        "separately, or use output='p_value'": output != "p_value" and 0 < len(ratios) < len(scales),
    }.items():
        if holds:
            raise ParameterError(f"output={output!r} {why}")


def _check_seed(seed: Any) -> None:
    """Refuse seeds with which a score would depend on what was scored before."""
    if not isinstance(seed, int | np.integer) or isinstance(seed, bool):
        raise ParameterError(
            f"random_state of a scorer must be an integer, found {brief(seed)}: the same model and data must get the "
            "same score, whatever the order and the process in which candidates are scored"
        )


def _scale(metric: Metric, disparity: str) -> str:
    """The comparison of a metric: by a difference from 0 or by a ratio to 1."""
    if isinstance(metric, Omnibus):
        return "ratio" if metric.extreme == "less" else "difference"
    return metric.disparity or disparity


def fairness_score(test: Any, output: str, inputs: Inputs) -> float:
    """Run as much of a test as its score needs, and return the score; NaN, with a warning, where one is undefined."""
    try:
        # A score is for choosing among models: of every fold of every candidate, the same would be said.
        with errors.held_back(errors.SmallGroupWarning):
            quick = output == "disparity"
            result = measured_of(test, inputs) if quick else result_of(test, inputs, tested=output != "upper_bound")
    except errors.GroupsMissing as error:
        raise errors.GroupsMissing(f"{str(error).rstrip('.')}. {FOLDS}") from error
    except errors.NothingDefined as error:
        return _undefined(str(error))
    lost = pooled((*result.excluded, *result.undefined))
    if lost:
        first = lost[0]
        of = f"{first.metric} of {label(first.group)}" if first.metric is not None else label(first.group)
        against = f" against {label(first.other)}" if first.other is not None else ""
        more = f" (and {len(lost) - 1} more)" if len(lost) > 1 else ""
        return _undefined(f"{of}{against}: {first.reason}{more}")
    question = result.settings.question
    if output == "p_value":
        # A small p-value of "equivalence" is evidence for fairness, any other is evidence against it.
        p_value = p_of(result.verdict.log_p)
        return -p_value if question.alternative == "equivalence" else p_value
    # Of several labels: the association of all labels is in another unit.
    metrics = {metric.name: metric for metric in result.metrics if not isinstance(metric, Independence)}
    scale = _scale(next(iter(metrics.values())), question.disparity)
    among = result.tested if quick else result.comparisons
    rows = [one for one in among if one.is_pooled and one.metric in metrics]
    extreme = extreme_of(rows, scale, list(metrics.values()))
    # Without a result, the worst end is the disparity itself.
    return extreme.low if scale != "difference" else 0.0 - extreme.high


def _undefined(why: str) -> float:
    errors.warn(
        f"the fairness score is nan: {why}. A model is scored on all its groups or not at all, so that none wins by "
        f"leaving a group undefined. {FOLDS} If predictions are the cause, for instance because no one is predicted "
        "positive, metrics such as 'demographic_parity' and 'equalized_odds' with disparity='difference' are still "
        "defined.",
        UndefinedMetricWarning,
    )
    return float("nan")


def _refuse_thresholds(y_true: Any, y_pred: Any, **kwargs: Any) -> float:
    raise ValueError(
        "a fairness scorer cannot tune thresholds: TunedThresholdClassifierCV takes one score, and the fairest "
        "threshold is one that predicts the same for everyone. Search thresholds and choose the best of the fair: "
        "GridSearchCV(FixedThresholdClassifier(model), {'threshold': [0.3, 0.4, 0.5]}, scoring={'gain': "
        "'balanced_accuracy', 'fair': make_fairness_scorer(...)}, refit=select_fair('gain', 'fair', tolerance=0.1))"
    )


# scikit-learn's scorers are private classes. make_scorer makes one of a function of labels and predictions, and never
# passes X or the model, which fairlearn's mitigators and columns by name need; any other object with
# get_metadata_routing is refused by TunedThresholdClassifierCV.
class FairnessScorer(_BaseScorer):
    """The scorer of `make_fairness_scorer`: ``scorer(estimator, X, y)``."""

    def __init__(self, metric: Any, call: dict[str, Any], params: dict[str, Any]) -> None:
        super().__init__(_refuse_thresholds, 1, {}, "predict")
        self._metric, self._call, self._params = metric, call, params
        self._columns = check_names_of_columns(call["sensitive_features"], "sensitive_features")
        self.__name__ = f"{name_of(metric)}_{call['output']}".replace("'", "")  # which drawings of scores show
        # set_score_request does the same, and is only there while routing is enabled.
        requests = MetadataRequest(owner=repr(self))
        # Weights are requested by the user, as of every scorer.
        for name, alias in {
            "sensitive_features": self._columns is None,
            "control_features": True,
            "clusters": True,
            "sample_weight": None,
        }.items():
            requests.score.add_request(param=name, alias=alias)
        self._metadata_request = requests

    def __call__(self, estimator: Any, X: Any, y_true: Any = None, **passed: Any) -> float:
        """Score a fitted model; with sensitive features passed directly, routing may be on or off."""
        return self._score(None, estimator, X, y_true, **passed)

    def _score(
        self,
        method_caller: Any,  # remembers predictions for all scorers
        estimator: Any,
        X: Any,
        y_true: Any = None,
        *,
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
        usual = self._call["predict_params"] or {}
        asked = {**usual, **(predict_params or {})}
        if asked.get("sensitive_features") is usual.get("sensitive_features") is not None:
            names = check_names_of_columns(asked["sensitive_features"], PREDICTED_FROM) or ()
            asked["sensitive_features"] = named_columns(X, names, PREDICTED_FROM)
        call = method_caller if self._call["baseline"] is None else None  # which knows one model
        inputs = Inputs(X, one_column(y_true), passed, None, asked, call=call)
        if passed.get("sensitive_features") is None:
            raise ParameterError(MISSING)
        check_people(X if inputs.y is None else inputs.y, passed)
        if (baseline := self._call["baseline"]) is None:
            test: Any = FairnessTest(estimator, metric=self._metric, **self._params)
        else:
            test = PairedFairnessTest(baseline, estimator, metric=self._metric, alternative="fairer", **self._params)
        return fairness_score(test, self._call["output"], inputs)

    def set_score_request(self, **kwargs: bool | str | None) -> Self:
        """Change which metadata is requested; requests that are not mentioned stay as they are.

        scikit-learn's own method would reset them, and with them the request for the groups.
        """
        return super().set_score_request(**{**self._metadata_request.score.requests, **kwargs})  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        """Return the call that makes it."""
        given = {name: value for name, value in self._call.items() if value is not None} | self._params
        params = [f"{name}={value!r}" for name, value in given.items()]
        return f"make_fairness_scorer({', '.join([name_of(self._metric), *params])})"


@answering_guesses
def make_fairness_scorer(
    metric: Any,
    *,
    output: str = "upper_bound",
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
    output : {"upper_bound", "disparity", "p_value"}, default="upper_bound"
        "disparity": minus the largest absolute difference or, with ``disparity="ratio"``, the smallest ratio of the
        smaller to the larger value, min(r, 1/r). "upper_bound": the same, computed from the worst end of the intervals,
        so that a model does not win because its groups are small; minus infinity if an interval of differences is
        unbounded. "p_value": the test's p-value, or minus it with ``alternative="equivalence"``. A search ranks by the
        mean over folds, which is not a p-value, and p-values are larger in smaller folds: use them in `select_fair`,
        not for ranking.
    sensitive_features : str or list of str, optional
        Names of columns of the X passed to the model that hold the groups; a ColumnTransformer inside it may drop them.
        None: the groups are passed by metadata routing, and are already requested.
    baseline : fitted estimator, optional
        The model in production. The score then is minus the p-value of `PairedFairnessTest` with
        ``alternative="fairer"``, whose null hypothesis is that a disparity of the scored model is at least as large in
        size as the baseline's, for `significantly_better_than` of `select_fair`; it needs ``output="p_value"``. The
        baseline must not have been fitted on people of this search.
    predict_params : dict, optional
        Further arguments of the scored models' ``predict``. ``{"sensitive_features": "race"}`` names columns of X, for
        models that predict from other groups than those compared.
    **test_params
        Parameters of `FairnessTest`, or of `PairedFairnessTest` with a baseline. `random_state` is 0 by default, and
        must be an integer, so that the same model and data get the same score. Metrics without an exact test, such as
        AUC, are scored several times faster with ``n_resamples="adaptive"``.

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
    ``RFECV`` and ``SequentialFeatureSelector`` do not pass the columns of groups to a scorer: there the groups must
    come by routing. They treat NaN as the best score: use a metric that is always defined, such as
    "demographic_parity" compared by difference.

    A group that is missing from a fold is not in its score; `SensitiveStratifiedKFold` prevents this. Test the chosen
    model on people used neither for training nor for the choice.

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
    check_names_of_columns(sensitive_features, "sensitive_features")
    check_names_of_columns((predict_params or {}).get("sensitive_features"), PREDICTED_FROM)
    params = {"random_state": 0, **test_params}
    if baseline is not None:
        if output != "p_value":
            raise ParameterError(
                f"output={output!r} has no meaning with a baseline, against which models are tested: use "
                "output='p_value', and select_fair(..., significantly_better_than=...)"
            )
        models = dict.fromkeys(("estimator_a", "estimator_b"), "the baseline and the model of a search are compared")
        check_test_params(
            params,
            PairedFairnessTest,
            {**models, "alternative": "a model is tested for being fairer than the baseline"},
        )
        _check_seed(params["random_state"])
        PairedFairnessTest(metric=metric, alternative="fairer", **params)._check()
    else:
        check_score(metric, output, params)
        if output == "disparity" and "method" not in test_params:
            # The estimate is the same with every method, and this one needs no resamples; some metrics do not have it.
            with suppress(ValueError):
                check_score(metric, output, {**params, "method": "asymptotic"})
                params["method"] = "asymptotic"
    call = {
        "output": output,
        "baseline": baseline,
        "sensitive_features": sensitive_features,
        "predict_params": predict_params,
    }
    return FairnessScorer(metric, call, params)
