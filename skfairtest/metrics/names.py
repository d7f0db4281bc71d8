"""Other names of the built-in metrics: names and functions in scikit-learn, fairlearn and the literature."""

import difflib
import functools
import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from numbers import Real
from typing import Any

import numpy as np

from skfairtest._utils.errors import ParameterError, brief
from skfairtest._utils.text import name_of
from skfairtest.metrics.rates import Summary
from skfairtest.metrics.score_metric import ScoreMetric
from skfairtest.metrics.scores import SCORES, BuiltIn, class_score, inequality, kappa
from skfairtest.metrics.sums import MeanOf, RatioOfSums
from skfairtest.readers.levels import plain_scalar

#: Other names, before what they mean here, and the disparity that they say if any.
_OTHERS = {
    "recall": "true_positive_rate",
    # Of all classes together everybody is counted once, and so is everybody weighted by true class.
    "precision_micro recall_micro f1_micro recall_weighted": "accuracy",
    # Barocas, Hardt and Narayanan, Fairness and Machine Learning, chapter 3.
    "independence": "demographic_parity",
    "separation": "equalized_odds",
    "sufficiency": "conditional_use_accuracy",
    # Verma and Rubin (2018); Berk et al. (2018); Zafar et al. (2017); Feldman et al. (2015).
    "statistical_parity": "demographic_parity",
    "disparate_impact adverse_impact_ratio": "demographic_parity ratio",
    "equality_of_opportunity false_negative_error_rate_balance": "equal_opportunity",
    "false_positive_error_rate_balance": "predictive_equality",
    "equality_of_odds conditional_procedure_accuracy": "equalized_odds",
    "conditional_procedure_accuracy_equality disparate_mistreatment": "equalized_odds",
    "conditional_use_accuracy_equality": "conditional_use_accuracy",
    "accuracy_equality": "overall_accuracy_equality",
    # Fawcett (2006), An introduction to ROC analysis, and what these are called in other fields (a Hamming loss is
    # one of a label each).
    "tpr sensitivity hit_rate": "true_positive_rate",
    "fpr fall_out": "false_positive_rate",
    "tnr specificity": "true_negative_rate",
    "fnr miss_rate": "false_negative_rate",
    "ppv positive_predictive_value": "precision",
    "npv": "negative_predictive_value",
    "fdr": "false_discovery_rate",
    "for": "false_omission_rate",
    "acc": "accuracy",
    "bacc": "balanced_accuracy",
    "error_rate hamming_loss": "zero_one_loss",
    "f1_binary dice": "f1",
    "precision_binary": "precision",
    "recall_binary": "true_positive_rate",
    "jaccard_binary iou": "jaccard",
    "mcc": "matthews_corrcoef",
    "kappa": "cohen_kappa",
    "auc auroc": "roc_auc",
    "ap": "average_precision",
    "logloss cross_entropy": "log_loss",
    "brier": "brier_score",
    "mae": "mean_absolute_error",
    "mse": "mean_squared_error",
    "r_squared": "r2",
    "g_mean geometric_mean_score": "geometric_mean",
    # Kleinberg et al. (2017); Chouldechova (2017); Verma and Rubin (2018).
    "well_calibration": "calibration_within_groups",
    "test_fairness": "kuiper_calibration",
    "matching_conditional_frequencies": "kuiper_calibration",
    # AIF360; Speicher et al. (2018).
    "generalized_entropy_error generalized_entropy_index": "generalized_entropy",
    "theil": "theil_index",
}
#: What each other name means, and the disparity that it says.
OTHER_NAMES: dict[str, tuple[str, str | None]] = {
    name: (means.partition(" ")[0], means.partition(" ")[2] or None)
    for names, means in _OTHERS.items()
    for name in names.split()
}

#: Names that have no test of their own, and what to write.
INSTEAD = {
    "conditional_statistical_parity": "write metric='demographic_parity' and pass the legitimate factors as "
    "control_features",
    "conditional_demographic_disparity": "write metric='demographic_parity' and pass the strata as control_features",
    "conditional_equality_of_opportunity": "write metric='equal_opportunity' (or 'predictive_equality', "
    "for false positives) and pass the condition as control_features",
    "average_odds_error": "write metric='equalized_odds', which tests both rates and in which nothing cancels",
    "coefficient_of_variation": "it is the root of twice a generalized entropy: write metric='generalized_entropy'",
    "fbeta": "write which beta, as in metric='f2', 'f0.5' or 'f2_macro', or functools.partial(fbeta_score, beta=2)",
    "fbeta_score": "write which beta, as in metric='f2' or functools.partial(fbeta_score, beta=2)",
    "f_score": "write which, as in metric='f1', 'f2' or 'f1_macro'",
    "eod": "write metric='equal_opportunity' or metric='equalized_odds', whichever is meant",
    **dict.fromkeys(
        ("ber", "balanced_error_rate", "informedness", "youden", "youden_j"),
        "it is equivalent to balanced accuracy: write metric='balanced_accuracy'",
    ),
    "gini": "of scores it is twice the AUC minus one: write metric='roc_auc'",
    **dict.fromkeys(
        ("auprc", "pr_auc", "auc_pr"), "write metric='average_precision', which is the area under the curve in steps"
    ),
    **dict.fromkeys(
        ("ece", "expected_calibration_error", "calibration_error"),
        "with many people, a binned test rejects even calibrated scores: write metric='calibration', the mean of "
        "y_true minus score, or 'kuiper_calibration', the whole curve",
    ),
    **dict.fromkeys(
        ("rmse", "root_mean_squared_error"),
        "groups with equal mean squared errors have equal roots: write metric='mean_squared_error', or "
        "'neg_root_mean_squared_error', which takes longer",
    ),
    "mape": "write metric='neg_mean_absolute_percentage_error', which is evaluated in each resample and takes longer",
    "four_fifths_rule": "write metric='disparate_impact', disparity='ratio', margin=0.8, if that is meant",
    **dict.fromkeys(
        ("f1_samples", "jaccard_samples", "precision_samples", "recall_samples"),
        "it averages over people who have several labels each; if everybody has one label, use an average over "
        "labels, as in metric='f1_macro'",
    ),
    **dict.fromkeys(
        ("top_k_accuracy", "top_k_accuracy_score"),
        "with two labels, k=1 is metric='accuracy' and k=2 is always right; with more labels, scores are not "
        "supported: pass as y_pred whether the true label is among the k highest, and write metric='selection_rate'",
    ),
    "individual_fairness": "it compares similar people and not groups: use IndividualFairnessTest",
    "consistency": "it compares people with their nearest neighbours in X and not groups: use IndividualFairnessTest",
}

#: What a known function computes: the name of the metric or the metric itself, and the disparity that it says.
Known = tuple[str | BuiltIn, str | None]
#: A known function, what it computes of its further arguments, and the disparity that it says.
Entry = tuple[Callable[..., Any], Callable[..., str | BuiltIn | None], str | None]
_ENTROPY = re.compile(r"generalized_entropy_(-?\d+(?:\.\d+)?)")
_F_BETA = re.compile(r"f(\d+(?:\.\d+)?)(?:_(micro|macro|weighted))?")

#: Parameters of fairlearn's disparity functions that say what they make of groups and rates.
_SUMMARIES = ("method", "agg")
#: Rates that are functions of the same name in fairlearn.
FAIRLEARN_RATES = (
    "selection_rate",
    "true_positive_rate",
    "false_positive_rate",
    "true_negative_rate",
    "false_negative_rate",
)


def with_parameter(name: str) -> str | BuiltIn | None:
    """Return the metric whose name contains a parameter, such as "f2", "f0.5_macro" or "generalized_entropy_0.5".

    Examples
    --------
    >>> with_parameter("f0.5_macro").name, with_parameter("generalized_entropy_0.5").name
    ('f0.5_macro', 'generalized_entropy_0.5')
    """
    entropy = _ENTROPY.fullmatch(name)
    if entropy is not None:
        return inequality(float(entropy[1]))
    found = _F_BETA.fullmatch(name)
    return None if found is None else _of_classes("f1", "f1", beta=float(found[1]), average=found[2] or "binary")


def _of_classes(
    kind: str,
    plain: str,
    *,
    beta: float = 1.0,
    average: str = "binary",
    labels: Any = None,
    zero_division: Any = "warn",
    pos_label: Any = 1,
) -> str | BuiltIn | None:
    """The metric that scikit-learn's precision, recall, F-scores and Jaccard's index compute with these arguments."""
    if not (isinstance(beta, Real) and beta >= 0) or not _says_what_is_undefined(zero_division):
        return None
    chosen = None if labels is None else tuple(plain_scalar(label) for label in labels)
    if average == "binary":
        if chosen is not None:
            return None
        if pos_label != 1:  # 1, which need not be said, is the test's positive label
            return class_score(kind, "positive", beta=beta, labels=(plain_scalar(pos_label),))
        return plain if beta == 1 else class_score(kind, "positive", beta=beta)
    if average not in ("micro", "macro", "weighted") or chosen == ():
        return None
    everybody_once = kind != "jaccard" and (average == "micro" or (kind, average) == ("recall", "weighted"))
    if everybody_once and chosen is None:
        return "accuracy"
    undefined = None if isinstance(zero_division, str) else float(zero_division)
    return class_score(kind, average, beta=beta, labels=chosen, undefined=undefined)


def _says_what_is_undefined(zero_division: Any) -> bool:
    if isinstance(zero_division, str):
        return zero_division == "warn"
    return isinstance(zero_division, Real) and (zero_division in (0, 1) or np.isnan(float(zero_division)))


def _kappa(*, labels: Any = None, weights: str | None = None) -> BuiltIn | None:
    if weights is not None or (labels is not None and len(labels) == 0):
        return None
    return kappa(None if labels is None else tuple(plain_scalar(label) for label in labels))


def _of_two_classes(name: str, *, average: Any = "macro", multi_class: str = "raise") -> str:
    """Return the metric that averages over classes leave as it is where there are two."""
    return name


def _top_k(*, k: int = 2) -> str:
    raise ParameterError(f"metric=top_k_accuracy_score has no test of its own: {INSTEAD['top_k_accuracy']}")


@functools.cache
def known_functions() -> dict[object, Entry]:
    """Functions that compute a built-in metric, by their keys: the function, what it computes, and which disparity."""
    import fairlearn.metrics as fair
    import sklearn.metrics as sk

    def always(name: str) -> Callable[..., str]:
        return lambda: name

    def summarized(name: str) -> Callable[..., str | None]:
        return lambda **given: name if set(given) <= set(_SUMMARIES) else None

    table: list[Entry] = [
        *((getattr(fair, name), always(name), None) for name in (*FAIRLEARN_RATES, "mean_prediction")),
        (sk.recall_score, functools.partial(_of_classes, "recall", "true_positive_rate"), None),
        (sk.precision_score, functools.partial(_of_classes, "precision", "precision"), None),
        (sk.jaccard_score, functools.partial(_of_classes, "jaccard", "jaccard"), None),
        (sk.f1_score, functools.partial(_of_classes, "f1", "f1"), None),
        (sk.fbeta_score, functools.partial(_of_classes, "f1", "f1"), None),
        (sk.cohen_kappa_score, _kappa, None),
        (sk.top_k_accuracy_score, _top_k, None),
        (sk.roc_auc_score, functools.partial(_of_two_classes, "roc_auc"), None),
        (sk.average_precision_score, functools.partial(_of_two_classes, "average_precision"), None),
    ]
    table += [
        (function, always(name), None)
        for function, name in (
            (sk.accuracy_score, "accuracy"),
            (sk.zero_one_loss, "zero_one_loss"),
            (sk.log_loss, "log_loss"),
            (sk.brier_score_loss, "brier_score"),
            (sk.balanced_accuracy_score, "balanced_accuracy"),
            (sk.matthews_corrcoef, "matthews_corrcoef"),
            (sk.mean_squared_error, "mean_squared_error"),
            (sk.mean_absolute_error, "mean_absolute_error"),
            (sk.r2_score, "r2"),
        )
    ]
    criteria = ("demographic_parity", "equalized_odds", "equal_opportunity")
    derived = {name: name for name in (*FAIRLEARN_RATES, "zero_one_loss", *criteria)}
    for theirs, ours in {**derived, "accuracy_score": "accuracy"}.items():
        for disparity in ("difference", "ratio"):
            function = getattr(fair, f"{theirs}_{disparity}", None)
            if function is not None:
                table.append((function, summarized(ours), disparity))
    return {_key(function): (function, name, disparity) for function, name, disparity in table}


def function_of(metric: Any) -> Any:
    """The function of fairlearn or scikit-learn that a name means; what is no name as it is.

    Examples
    --------
    >>> function_of("fpr").__name__, function_of("accuracy").__name__
    ('false_positive_rate', 'accuracy_score')
    """
    if not isinstance(metric, str):
        return metric
    names = {metric, OTHER_NAMES.get(metric, (metric, None))[0]}
    meant = {f"{name}{ending}" for name in names for ending in ("", "_score", "_loss")}
    for function, _, disparity in known_functions().values():
        if disparity is None and function.__name__ in meant:
            return function
    raise ParameterError(
        f"metrics has the name {brief(metric)}, which is no function of fairlearn.metrics or sklearn.metrics that is "
        f"known here: pass a function of (y_true, y_pred), or use FairnessTest(metric={brief(metric)})"
    )


def _key(function: Callable[..., Any]) -> object:
    """Identify a function: by identity, or a derived metric of fairlearn by what it is derived from."""
    derived_from = getattr(function, "_metric_fn", None)
    return id(function) if derived_from is None else (id(derived_from), getattr(function, "_transform", None))


def known_function(function: Callable[..., Any]) -> Known | None:
    """The built-in metric that a function computes, also as a ``functools.partial`` with further arguments.

    Examples
    --------
    >>> from functools import partial
    >>> from sklearn.metrics import f1_score
    >>> known_function(f1_score), known_function(partial(f1_score, average="macro"))[0].name
    (('f1', None), 'f1_macro')
    """
    if isinstance(function, MeanOf | RatioOfSums):
        return function.metric(), None
    if isinstance(function, functools.partial) and function.args:
        return None
    function, given, known = _recognized(function)
    if known is None:
        return None
    _, computes, disparity = known
    own = {name: value for name, value in given.items() if not _is_default(function, name, value)}
    try:
        bound = inspect.signature(computes).bind(**own)
    except TypeError:  # an argument that changes what is computed
        return None
    missing = _missing(function, given)
    if missing:
        name = name_of(function)
        raise ParameterError(f"metric={name} needs {missing}: write functools.partial({name}, {missing}=...)")
    metric = computes(**bound.kwargs)
    return None if metric is None else (metric, disparity)


def _recognized(function: Any) -> tuple[Any, Mapping[str, Any], Entry | None]:
    """Return the function inside of a partial, the arguments that this sets, and its entry in `known_functions`."""
    given: Mapping[str, Any] = {}
    if isinstance(function, functools.partial):
        given, function = function.keywords, function.func
    return function, given, known_functions().get(_key(function)) or _derived(function)


def _derived(function: Any) -> Entry | None:
    """A derived metric of fairlearn as `known_functions` has it, if it is derived from a known function."""
    base = known_functions().get(id(getattr(function, "_metric_fn", None)))
    if base is None or function._transform not in ("difference", "ratio"):
        return None

    def computes(**given: Any) -> str | BuiltIn | None:
        return base[1](**{name: value for name, value in given.items() if name != "method"})

    return function, computes, function._transform


def summary_of(function: Callable[..., Any]) -> Summary | None:
    """The number that a known disparity function of fairlearn makes of groups and rates; None for other functions.

    Examples
    --------
    >>> from functools import partial
    >>> from fairlearn.metrics import equalized_odds_ratio
    >>> summary_of(partial(equalized_odds_ratio, agg="mean"))
    Summary(name='equalized_odds_ratio', method='between_groups', agg='mean')
    """
    _, given, known = _recognized(function)
    if known is None or known[2] is None:
        return None
    return Summary(name_of(function), **{key: value for key, value in given.items() if key in _SUMMARIES})


def responses_of(function: Callable[..., Any]) -> tuple[str, ...]:
    """The outputs of a model that a function is computed from; other arguments of a known function do not matter.

    Examples
    --------
    >>> from functools import partial
    >>> from sklearn.metrics import roc_auc_score
    >>> responses_of(partial(roc_auc_score, max_fpr=0.1))
    ('decision_function', 'predict_proba')
    """
    known = _recognized(function)[2]
    return _responses(None if known is None else known[1]())


def _missing(function: Callable[..., Any], given: Iterable[str]) -> str:
    """Return the name of an argument that a function of scikit-learn requires and that is missing."""
    parameters = list(inspect.signature(function).parameters.values())[2:]
    needed = [p.name for p in parameters if p.default is p.empty and p.kind is p.KEYWORD_ONLY]
    return next((name for name in needed if name not in given and name != "sensitive_features"), "")


def _is_default(function: Callable[..., Any], name: str, value: Any) -> bool:
    try:
        default = inspect.signature(function).parameters[name].default
    except (KeyError, TypeError, ValueError):
        return False
    return value is default or (
        type(value) is type(default) and isinstance(value, str | int | float) and bool(value == default)
    )


def of_scorer(scorer: Any) -> Callable[..., Any] | ScoreMetric | None:
    """Return the function behind a scorer of scikit-learn, or a metric that also knows which output the scorer uses.

    Examples
    --------
    >>> from sklearn.metrics import get_scorer
    >>> of_scorer(get_scorer("neg_brier_score")).__name__
    'brier_score_loss'
    """
    function = getattr(scorer, "_score_func", None)
    if function is None:
        return None
    if scorer._kwargs:
        function = functools.partial(function, **scorer._kwargs)
    response = scorer._response_method
    responses = (response,) if isinstance(response, str) else tuple(response)
    known = known_function(function)
    if known is not None and set(responses) <= set(_responses(known[0])):
        return function
    return ScoreMetric(name_of(function), function, response=responses)


def _responses(metric: str | BuiltIn | None) -> tuple[str, ...]:
    """The outputs of a model that a known metric is computed from."""
    found = SCORES.get(metric) if isinstance(metric, str) else metric
    return ("predict",) if found is None else found.responses


def function_called(name: str) -> Any:
    """Return the scorer of scikit-learn, or the known function of scikit-learn or fairlearn, that has a name.

    Examples
    --------
    >>> function_called("equalized_odds_ratio").__name__
    'equalized_odds_ratio'
    """
    import sklearn.metrics as sk

    if name in sk.get_scorer_names():
        return sk.get_scorer(name)
    found = (function for function, _, _ in known_functions().values() if name_of(function) == name)
    return next(found, None)


def similar(name: str, known: Iterable[str]) -> list[str]:
    """Return the names that the caller may have meant: spelled alike, with these initials, or with all of these words.

    Examples
    --------
    >>> (
    ...     similar("equalised_odds", ["equalized_odds", "accuracy"]),
    ...     similar("FPR", ["false_positive_rate"]),
    ... )
    (['equalized_odds'], ['false_positive_rate'])
    """
    spelled = re.sub(r"[^a-z0-9]+", "_", name.casefold()).strip("_")
    names = list(dict.fromkeys(known))
    initials = [other for other in names if "".join(word[0] for word in other.split("_")) == spelled]
    words = set(spelled.split("_"))
    worded = [other for other in names if words <= set(other.split("_"))]
    alike = difflib.get_close_matches(spelled, names, n=3, cutoff=0.7)
    return list(dict.fromkeys([*initials, *alike, *worded]))[:3]
