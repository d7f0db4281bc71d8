"""Other names of the built-in metrics: names and functions in scikit-learn, fairlearn and the literature."""

import difflib
import functools
import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from skfairtest._utils.errors import ParameterError, brief
from skfairtest._utils.text import name_of
from skfairtest.metrics.rates import Summary
from skfairtest.metrics.scores import SCORES, BuiltIn, class_score, inequality
from skfairtest.metrics.sums import MeanOf, RatioOfSums
from skfairtest.readers.levels import plain_scalar

#: Other names of our metrics: in scikit-learn; in Barocas, Hardt and Narayanan, Fairness and Machine Learning, chapter
#: 3, Verma and Rubin (2018), Berk et al. (2018), Zafar et al. (2017), Feldman et al. (2015), Kleinberg et al. (2017),
#: Chouldechova (2017), Speicher et al. (2018); in Fawcett (2006), An introduction to ROC analysis, and other fields.
ALIASES: dict[str, tuple[str, ...]] = {
    # Of all classes together everyone is counted once, and so is everyone weighted by true class.
    "accuracy": ("acc", "precision_micro", "recall_micro", "f1_micro", "recall_weighted"),
    "average_precision": ("ap",),
    "balanced_accuracy": ("bacc",),
    "brier_score": ("brier",),
    "calibration_within_groups": ("well_calibration",),
    "cohen_kappa": ("kappa",),
    "conditional_use_accuracy": ("sufficiency", "conditional_use_accuracy_equality"),
    "demographic_parity": ("independence", "statistical_parity", "disparate_impact", "adverse_impact_ratio"),
    "equal_opportunity": ("equality_of_opportunity", "false_negative_error_rate_balance"),
    "equalized_odds": (
        "separation", "equality_of_odds", "conditional_procedure_accuracy", "conditional_procedure_accuracy_equality",
        "disparate_mistreatment",
    ),
    "f1": ("f1_binary", "dice"),
    "false_discovery_rate": ("fdr",),
    "false_negative_rate": ("fnr", "miss_rate"),
    "false_omission_rate": ("for",),
    "false_positive_rate": ("fpr", "fall_out"),
    "generalized_entropy": ("generalized_entropy_error", "generalized_entropy_index"),
    "geometric_mean": ("g_mean", "geometric_mean_score"),
    "jaccard": ("jaccard_binary", "iou"),
    "kuiper_calibration": ("test_fairness", "matching_conditional_frequencies"),
    "log_loss": ("logloss", "cross_entropy"),
    "matthews_corrcoef": ("mcc",),
    "mean_absolute_error": ("mae",),
    "mean_squared_error": ("mse",),
    "negative_predictive_value": ("npv",),
    "overall_accuracy_equality": ("accuracy_equality",),
    "precision": ("ppv", "positive_predictive_value", "precision_binary"),
    "predictive_equality": ("false_positive_error_rate_balance",),
    "r2": ("r_squared",),
    "roc_auc": ("auc", "auroc"),
    "theil_index": ("theil",),
    "true_negative_rate": ("tnr", "specificity"),
    "true_positive_rate": ("recall", "tpr", "sensitivity", "hit_rate", "recall_binary"),
    "zero_one_loss": ("error_rate", "hamming_loss"),  # a Hamming loss of one label each
}  # fmt: skip
#: What each other name means, and the disparity that it says.
OTHER_NAMES: dict[str, tuple[str, str | None]] = {
    name: (ours, "ratio" if name in ("disparate_impact", "adverse_impact_ratio") else None)
    for ours, names in ALIASES.items()
    for name in names
}

#: What to write instead of names that have no test of their own.
_ADVICE: dict[str, tuple[str, ...]] = {
    "write metric='demographic_parity' and pass the legitimate factors as control_features": (
        "conditional_statistical_parity",
    ),
    "write metric='demographic_parity' and pass the strata as control_features": (
        "conditional_demographic_disparity",
    ),
    "write metric='equal_opportunity' (or 'predictive_equality', for false positives) and pass the condition as "
    "control_features": ("conditional_equality_of_opportunity",),
    "write metric='equalized_odds', which tests both rates and in which nothing cancels": ("average_odds_error",),
    "it is the root of twice a generalized entropy: write metric='generalized_entropy'": ("coefficient_of_variation",),
    "write which beta, as in metric='f2', 'f0.5' or 'f2_macro', or functools.partial(fbeta_score, beta=2)": (
        "fbeta", "fbeta_score",
    ),
    "write which, as in metric='f1', 'f2' or 'f1_macro'": ("f_score",),
    "write metric='equal_opportunity' or metric='equalized_odds', whichever is meant": ("eod",),
    "it is equivalent to balanced accuracy: write metric='balanced_accuracy'": (
        "ber", "balanced_error_rate", "informedness", "youden", "youden_j",
    ),
    "of scores it is twice the AUC minus one: write metric='roc_auc'": ("gini",),
    "write metric='average_precision', which is the area under the curve in steps": ("auprc", "pr_auc", "auc_pr"),
    "with many people, a binned test rejects even calibrated scores: write metric='calibration', the mean of "
    "y_true minus score, or 'kuiper_calibration', the whole curve": (
        "ece", "expected_calibration_error", "calibration_error",
    ),
    "groups with equal mean squared errors have equal roots: write metric='mean_squared_error', or "
    "'neg_root_mean_squared_error', which takes longer": ("rmse", "root_mean_squared_error"),
    "write metric='neg_mean_absolute_percentage_error', which is evaluated in each resample and takes longer": (
        "mape",
    ),
    "write metric='disparate_impact', disparity='ratio', margin=0.8, if that is meant": ("four_fifths_rule",),
    "it averages over people who have several labels each; if everyone has one label, use an average over labels, as "
    "in metric='f1_macro'": ("f1_samples", "jaccard_samples", "precision_samples", "recall_samples"),
    "with two labels, k=1 is metric='accuracy' and k=2 is always right; with more labels, scores are not "
    "supported: pass as y_pred whether the true label is among the k highest, and write metric='selection_rate'": (
        "top_k_accuracy", "top_k_accuracy_score",
    ),
    "it compares similar people and not groups: use IndividualFairnessTest": ("individual_fairness",),
    "it compares people with their nearest neighbours in X and not groups: use IndividualFairnessTest": (
        "consistency",
    ),
}  # fmt: skip
INSTEAD = {name: advice for advice, names in _ADVICE.items() for name in names}

#: A known function, the name of what it computes, and the disparity that it says.
Entry = tuple[Callable[..., Any], str, str | None]
_ENTROPY = re.compile(r"generalized_entropy_(-?\d+(?:\.\d+)?)")
_F_BETA = re.compile(r"f(\d+(?:\.\d+)?)(?:_(micro|macro|weighted))?")

#: Functions of fairlearn, which has differences and ratios of most of them, and of scikit-learn.
FAIRLEARN = {
    **{name: name for name in (
        "selection_rate", "true_positive_rate", "false_positive_rate", "true_negative_rate", "false_negative_rate",
        "mean_prediction", "demographic_parity", "equalized_odds", "equal_opportunity", "zero_one_loss",
    )},
    "accuracy_score": "accuracy",
}  # fmt: skip
SKLEARN = {
    "accuracy_score": "accuracy",
    "average_precision_score": "average_precision",
    "balanced_accuracy_score": "balanced_accuracy",
    "brier_score_loss": "brier_score",
    "cohen_kappa_score": "cohen_kappa",
    "f1_score": "f1",
    "fbeta_score": "f1",
    "jaccard_score": "jaccard",
    "log_loss": "log_loss",
    "matthews_corrcoef": "matthews_corrcoef",
    "mean_absolute_error": "mean_absolute_error",
    "mean_squared_error": "mean_squared_error",
    "precision_score": "precision",
    "r2_score": "r2",
    "recall_score": "true_positive_rate",
    "roc_auc_score": "roc_auc",
    "top_k_accuracy_score": "top_k_accuracy",
    "zero_one_loss": "zero_one_loss",
}
#: Arguments of scikit-learn's functions that do not change what is computed of two classes.
IMMATERIAL = {"roc_auc": {"average", "multi_class"}, "average_precision": {"average"}, "top_k_accuracy": {"k"}}


def with_parameter(name: str) -> str | BuiltIn | None:
    """Return the metric whose name contains a parameter, such as "f2", "f0.5_macro" or "generalized_entropy_0.5".

    Examples
    --------
    >>> with_parameter("f0.5_macro").name, with_parameter("generalized_entropy_0.5").name
    ('f0.5_macro', 'generalized_entropy_0.5')
    """
    if entropy := _ENTROPY.fullmatch(name):
        return inequality(float(entropy[1]))
    score = _F_BETA.fullmatch(name)
    return None if score is None else _of_classes("f1", beta=float(score[1]), average=score[2] or "binary")


def _of_classes(
    name: str, *, beta: float = 1.0, average: str = "binary", zero_division: Any = "warn", pos_label: Any = 1
) -> str | BuiltIn | None:
    """The metric that scikit-learn's precision, recall, F-scores and Jaccard's index compute with these arguments."""
    numeric = isinstance(zero_division, Real) and (zero_division in (0, 1) or np.isnan(float(zero_division)))
    if not (isinstance(beta, Real) and beta >= 0) or not (numeric or zero_division == "warn"):
        return None
    kind = "recall" if name == "true_positive_rate" else name
    if average == "binary":
        if pos_label == 1:  # which need not be said, and is the test's positive label
            return name if beta == 1 else class_score(kind, beta=float(beta))
        return class_score(kind, beta=float(beta), label=plain_scalar(pos_label))
    # Everyone is counted once.
    if (average == "micro" and kind != "jaccard") or (kind, average) == ("recall", "weighted"):
        return "accuracy"
    if average not in ("micro", "macro", "weighted"):
        return None
    score = class_score(kind, average, beta=float(beta), undefined=float(zero_division) if numeric else None)
    return SCORES.get(score.name, score)


@functools.cache
def known_functions() -> dict[object, Entry]:
    """Functions that compute a built-in metric, by their keys."""
    import fairlearn.metrics as fair
    import sklearn.metrics as sk

    table: list[Entry] = [
        (getattr(package, f"{theirs}{ending}"), ours, ending.removeprefix("_") or None)
        for package, names, endings in ((fair, FAIRLEARN, ("", "_difference", "_ratio")), (sk, SKLEARN, ("",)))
        for theirs, ours in names.items()
        for ending in endings
        if f"{theirs}{ending}" in package.__all__
    ]
    return {_key(entry[0]): entry for entry in table}


def _key(function: Callable[..., Any]) -> object:
    """Identify a function: by identity, or a derived metric of fairlearn by what it is derived from."""
    derived_from = getattr(function, "_metric_fn", None)
    return id(function) if derived_from is None else (id(derived_from), getattr(function, "_transform", None))


class Known(NamedTuple):
    """A known function: the name of what it computes, and the metric and the disparity that its arguments make."""

    name: str
    metric: str | BuiltIn | None
    disparity: str | None = None
    summary: Summary | None = None


def known_function(function: Any) -> Known | None:
    """Recognize a function of scikit-learn or fairlearn, also as a ``functools.partial`` with further arguments.

    Examples
    --------
    >>> from functools import partial
    >>> from sklearn.metrics import f1_score
    >>> (
    ...     known_function(f1_score).metric,
    ...     known_function(partial(f1_score, average="macro")).metric.name,
    ... )
    ('f1', 'f1_macro')
    """
    if isinstance(function, MeanOf | RatioOfSums):
        return Known("", function.metric())
    given: Mapping[str, Any] = {}
    positional: tuple[Any, ...] = ()
    if isinstance(function, functools.partial):
        function, positional, given = function.func, function.args, function.keywords
    base = known_functions().get(id(getattr(function, "_metric_fn", None)))
    derived = None if base is None else (function, base[1], function._transform)
    entry = known_functions().get(_key(function)) or derived
    if entry is None or entry[2] not in (None, "difference", "ratio"):
        return None
    name, disparity = entry[1:]
    if positional:
        return Known(name, None)
    if name in INSTEAD:
        raise ParameterError(f"metric={name_of(function)} has no test of its own: {INSTEAD[name]}")
    computes = getattr(function, "_metric_fn", function)
    parameters = inspect.signature(computes).parameters
    for parameter in list(parameters.values())[2:]:
        required = parameter.kind is parameter.KEYWORD_ONLY and parameter.default is parameter.empty
        if required and parameter.name not in {*given, "sensitive_features"}:
            called, missing = name_of(function), parameter.name
            raise ParameterError(f"metric={called} needs {missing}: write functools.partial({called}, {missing}=...)")
    summary = None
    if disparity is not None:
        how = {key: given[key] for key in ("method", "agg") if key in given}
        summary, given = Summary(name_of(function), **how), {key: given[key] for key in given.keys() - how.keys()}
    own = {
        key: value
        for key, value in given.items()
        if key not in parameters or not _equal(value, parameters[key].default)
    }
    metric: str | BuiltIn | None = name
    if name in {"precision", "true_positive_rate", "f1", "jaccard"} and computes.__module__.startswith("sklearn"):
        changing = own.keys() - {"beta", "average", "zero_division", "pos_label"}
        metric = None if changing else _of_classes(name, **own)
    elif own.keys() - IMMATERIAL.get(name, set()):
        metric = None
    return Known(name, metric, disparity, summary)


def _equal(value: Any, default: Any) -> bool:
    same_type = type(value) is type(default) and isinstance(value, str | int | float)
    return value is default or (same_type and bool(value == default))


def responses_of(metric: str | BuiltIn | None) -> tuple[str, ...]:
    """The outputs of a model that a known metric is computed from.

    Examples
    --------
    >>> responses_of("roc_auc"), responses_of("accuracy")
    (('decision_function', 'predict_proba'), ('predict',))
    """
    declared = SCORES.get(metric) if isinstance(metric, str) else metric
    return ("predict",) if declared is None else declared.responses


def function_of(metric: Any) -> Any:
    """The function of fairlearn or scikit-learn that a name means; what is not a name as it is.

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
        f"metrics has the name {brief(metric)}, which is not a function of fairlearn.metrics or sklearn.metrics that "
        f"is known here: pass a function of (y_true, y_pred), or use FairnessTest(metric={brief(metric)})"
    )


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
