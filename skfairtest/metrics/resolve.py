"""From what a user calls a metric, or from nothing, to the metrics that are tested."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from functools import partial
from typing import Any

from skfairtest._utils.errors import ParameterError, brief
from skfairtest._utils.text import name_of
from skfairtest.metrics import names as metric_names
from skfairtest.metrics.omnibus import (
    CALIBRATION,
    DISTRIBUTION,
    DISTRIBUTION_OF_SCORES,
    NORMALIZED_MUTUAL_INFO,
    Distribution,
    Omnibus,
    from_function,
)
from skfairtest.metrics.rates import CRITERIA, RATES, Rate, Summary
from skfairtest.metrics.score_metric import ScoreMetric, parameters_of
from skfairtest.metrics.scores import HINNEFELD_MEANS, SCORES

#: By what is predicted: one of two labels, one of several (each of them, if they are few), a number; and what scores
#: add to two labels.
STANDARD: dict[str, tuple[str, ...]] = {
    "binary": ("selection_rate", "true_positive_rate", "false_positive_rate", "precision", "accuracy"),
    "scores": ("roc_auc", "calibration"),
    "labels": ("selection_rate", "true_positive_rate"),
    "multiclass": ("accuracy", "balanced_accuracy"),
    "continuous": ("mean_prediction", "mean_residual", "mean_squared_error", "mean_absolute_error"),
}


def standard_metrics(kinds: Set[str], given: Set[str]) -> list[Metric]:
    """List the standard metrics of kinds of predictions, as far as their columns were given.

    Examples
    --------
    >>> [metric.name for metric in standard_metrics({"binary"}, {"y_pred"})]
    ['selection_rate']
    """
    names = dict.fromkeys(name for kind, names in STANDARD.items() if kind in kinds for name in names)
    declared: list[Metric] = [RATES.get(name) or SCORES[name] for name in names]
    return [metric for metric in declared if metric.reads <= given]


Metric = Rate | ScoreMetric | Omnibus

#: Metrics that have no value of each group whose difference is tested.
OMNIBUS: dict[str, Omnibus] = {
    NORMALIZED_MUTUAL_INFO.name: NORMALIZED_MUTUAL_INFO,
    DISTRIBUTION.name: DISTRIBUTION,
    **CALIBRATION,
}
#: Sets of metrics that are not the rates of one criterion.
SETS: dict[str, tuple[Metric, ...]] = {
    "hinnefeld": (
        *HINNEFELD_MEANS.values(),
        replace(RATES["true_positive_rate"], name="equal_opportunity"),
        replace(RATES["false_positive_rate"], name="equal_mis_opportunity"),
        replace(RATES["selection_rate"], name="disparate_impact", disparity="ratio"),
        NORMALIZED_MUTUAL_INFO,
    )
}


def resolve_metrics(metric: object, disparity: str = "difference") -> list[Metric]:
    """List the metrics that a `metric` parameter names, each once, in the order given.

    Examples
    --------
    >>> [rate.name for rate in resolve_metrics("equalized_odds")]
    ['true_positive_rate', 'false_positive_rate']
    """
    rates: dict[str, Metric] = {}
    for rate in _expand(metric, disparity):
        if rates.setdefault(rate.name, rate) != rate:
            raise ParameterError(f"metric has two different metrics named {rate.name!r}: rename one of them")
    if not rates:
        raise ParameterError("metric is empty: name at least one, for instance 'equalized_odds'")
    return list(rates.values())


def of_numbers(metric: object) -> object:
    """The `metric` parameter for predicted numbers, whose demographic parity is that of distributions.

    Examples
    --------
    >>> of_numbers({"parity": "statistical_parity", "other": "r2"})
    {'parity': 'distribution', 'other': 'r2'}
    """
    if isinstance(metric, Mapping):
        return {name: of_numbers(each) for name, each in metric.items()}
    if isinstance(metric, list | tuple):
        return [of_numbers(each) for each in metric]
    names = (metric, metric_names.OTHER_NAMES.get(metric, ("", None))[0]) if isinstance(metric, str) else ()
    return DISTRIBUTION.name if "demographic_parity" in names else metric


def of_scores(metrics: Sequence[Metric]) -> list[Metric]:
    """Return the metrics; a distribution is that of scores."""
    return [
        replace(DISTRIBUTION_OF_SCORES, name=metric.name)
        if isinstance(metric, Distribution) else metric
        for metric in metrics
    ]  # fmt: skip


def _expand(metric: object, disparity: str) -> list[Metric]:
    if isinstance(metric, Rate | ScoreMetric | Omnibus):
        return [metric]
    if isinstance(metric, str):
        return _named(metric, disparity)
    if isinstance(metric, Mapping):
        return [rate for label, value in metric.items() for rate in _renamed(str(label), _expand(value, disparity))]
    if isinstance(metric, list | tuple):
        return [rate for value in metric for rate in _expand(value, disparity)]
    if callable(metric):
        return _function(metric, disparity)
    raise ParameterError(
        f"metric must be a name, a Rate, a ScoreMetric, a function, or a list or dict of these, "
        f"found {type(metric).__name__}"
    )


def _function(function: Any, disparity: str) -> list[Metric]:
    """Recognise a function, or declare it: of one group or, if it takes ``sensitive_features``, of all groups."""
    responses: Any = None
    if hasattr(function, "_score_func"):  # a scorer of scikit-learn
        responses = function._response_method
        responses = (responses,) if isinstance(responses, str) else tuple(responses)
        function = partial(function._score_func, **function._kwargs) if function._kwargs else function._score_func
    known, name = metric_names.known_function(function), name_of(function)
    meant = None if known is None else known.metric
    if known is not None and meant is not None and set(responses or ()) <= set(metric_names.responses_of(meant)):
        metrics: list[Metric] = _named(meant, disparity) if isinstance(meant, str) else [meant]
        return _compared(name, metrics, known.disparity, disparity, known.summary)
    if responses is None and "sensitive_features" in parameters_of(function) | parameters_of(type(function).__call__):
        return [from_function(name, function)]
    usual = metric_names.responses_of(None if known is None else known.name)
    return [ScoreMetric(name, function, response=responses or usual)]


def _compared(
    name: str, metrics: list[Metric], says: str | None, disparity: str, summary: Summary | None = None
) -> list[Metric]:
    """Give metrics the disparity that a name says, where it is not the test's."""
    if says == "difference" != disparity:
        raise ParameterError(
            f"metric={name} is a difference and disparity={disparity!r}: set disparity='difference', or name the "
            f"metric without it, as {metrics[0].name!r}"
        )
    if says not in (None, disparity):
        metrics = [replace(metric, disparity=says) for metric in metrics]
    if summary is None:
        return metrics
    return [metric if isinstance(metric, Omnibus) else replace(metric, summary=summary) for metric in metrics]


def summarized_compare(metrics: Sequence[Metric], compare: Any) -> Any:
    """Return the `compare` of a metric, which is everyone if fairlearn's function says so."""
    methods = {metric.summary.method if metric.summary else "" for metric in metrics}
    if "to_overall" not in methods:
        return compare
    if len(methods) > 1 or compare not in ("between_groups", "to_overall"):
        name = next(metric.summary.name for metric in metrics if metric.summary)
        raise ParameterError(
            f"metric={name} with method='to_overall' compares groups with everyone, and compare={compare!r} or another "
            "metric does not: test it by itself, with compare='to_overall'"
        )
    return "to_overall"


def disparity_of(metrics: Sequence[Metric], asked: str, margin: object = None) -> str:
    """Return the disparity that is part of the meaning of all metrics, if there is one; otherwise the one asked for.

    Examples
    --------
    >>> disparity_of(resolve_metrics("disparate_impact"), "difference")
    'ratio'
    """
    other = next((metric for metric in metrics if metric.disparity not in (None, asked)), None)
    if margin is not None and other is not None:
        raise ParameterError(
            f"margin={brief(margin)} is a {asked} and {other.name} is always compared by its {other.disparity}: test "
            f"it by itself, with disparity={other.disparity!r}"
        )
    own = {metric.disparity for metric in metrics}
    return str(own.pop()) if len(own) == 1 and None not in own else asked


def _renamed(label: str, rates: list[Metric]) -> list[Metric]:
    if len(rates) == 1:
        return [replace(rates[0], name=label)]
    return [replace(rate, name=f"{label}/{rate.name}") for rate in rates]


#: The metrics that have a name of their own.
NAMED: dict[str, tuple[Metric, ...]] = {
    **{name: (metric,) for name, metric in RATES.items()},
    **{name: tuple(RATES[rate] for rate in rates) for name, rates in CRITERIA.items()},
    **{name: (metric,) for name, metric in SCORES.items()},
    **{name: (metric,) for name, metric in OMNIBUS.items()},
    **SETS,
}


def _known(name: str) -> tuple[Sequence[Metric], str | None]:
    """The metrics of one of our names, or of another name, and the disparity that it says."""
    ours, says = metric_names.OTHER_NAMES.get(name, (name, None))
    if ours in NAMED:
        return NAMED[ours], says
    chosen = metric_names.with_parameter(name)
    return (() if chosen is None else NAMED[chosen] if isinstance(chosen, str) else (chosen,)), None


def _named(name: str, disparity: str) -> list[Metric]:
    metrics, says = _known(name)
    if metrics:
        return _compared(repr(name), list(metrics), says, disparity)
    base, _, ending = name.rpartition("_")
    metrics, says = _known(base)
    if ending in ("difference", "ratio") and says in (None, ending) and metrics and base not in OMNIBUS | SETS:
        return _compared(repr(name), list(metrics), ending, disparity, Summary(name))
    if name in metric_names.INSTEAD:
        raise ParameterError(f"metric={name!r} has no test of its own: {metric_names.INSTEAD[name]}")
    import sklearn.metrics as sk

    if name in sk.get_scorer_names():
        return _function(sk.get_scorer(name), disparity)
    for function, *_ in metric_names.known_functions().values():
        if name_of(function) == name:
            return _function(function, disparity)
    meant = " or ".join(
        map(repr, metric_names.similar(name, (*NAMED, *metric_names.OTHER_NAMES, *metric_names.INSTEAD)))
    )
    listed = (
        f"{'There' if meant else 'there'} are {', '.join([*NAMED][:3])}, ..., and the names of scikit-learn's scorers"
    )
    raise ParameterError(f"metric={name!r} is unknown; {f'did you mean {meant}? ' if meant else ''}{listed}")
