"""From what a user calls a metric, or from nothing, to the metrics that are tested."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import replace
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


def _function(function: Callable[..., Any], disparity: str) -> list[Metric]:
    """Recognise a function, or declare it: of one group or, if it takes ``sensitive_features``, of all groups."""
    behind = metric_names.of_scorer(function)
    if isinstance(behind, ScoreMetric):
        return [behind]
    function = behind or function
    known, name = metric_names.known_function(function), name_of(function)
    if known is not None:
        computes, says = known
        found: list[Metric] = _named(computes, disparity) if isinstance(computes, str) else [computes]
        return _summarized(metric_names.summary_of(function), _compared(name, found, says, disparity))
    if "sensitive_features" in parameters_of(function) | parameters_of(type(function).__call__):
        return [from_function(name, function)]
    return [ScoreMetric(name, function, response=metric_names.responses_of(function))]


def _compared(name: str, metrics: list[Metric], says: str | None, disparity: str) -> list[Metric]:
    """Give metrics the disparity that a name says, where it is not the test's."""
    if says is None or says == disparity:
        return metrics
    if says == "difference":
        raise ParameterError(
            f"metric={name} is a difference and disparity={disparity!r}: set disparity='difference', or name the "
            f"metric without it, as {metrics[0].name!r}"
        )
    return [replace(metric, disparity=says) for metric in metrics]


def _summarized(summary: Summary | None, metrics: list[Metric]) -> list[Metric]:
    if summary is None:
        return metrics
    return [metric if isinstance(metric, Omnibus) else replace(metric, summary=summary) for metric in metrics]


def summarized_compare(metrics: Sequence[Metric], compare: Any) -> Any:
    """Return whom groups are compared with, which is everyone if a function of fairlearn says so."""
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


def _named(name: str, disparity: str) -> list[Metric]:
    if name in metric_names.OTHER_NAMES:
        ours, says = metric_names.OTHER_NAMES[name]
        return _compared(repr(name), _named(ours, disparity), says, disparity)
    if name in RATES:
        return [RATES[name]]
    if name in CRITERIA:
        return [RATES[rate] for rate in CRITERIA[name]]
    if name in SCORES:
        return [SCORES[name]]
    if name in OMNIBUS:
        return [OMNIBUS[name]]
    if name in SETS:
        return list(SETS[name])
    base, _, says = name.rpartition("_")
    other = metric_names.OTHER_NAMES.get(base, (base, None))
    is_one = other[0] in (*RATES, *CRITERIA, *SCORES) or metric_names.with_parameter(base) is not None
    if says in ("difference", "ratio") and is_one and other[1] in (None, says):
        return _summarized(Summary(name), _compared(repr(name), _named(base, disparity), says, disparity))
    if name in metric_names.INSTEAD:
        raise ParameterError(f"metric={name!r} has no test of its own: {metric_names.INSTEAD[name]}")
    chosen = metric_names.with_parameter(name)
    if chosen is not None:
        return _named(chosen, disparity) if isinstance(chosen, str) else [chosen]
    function = metric_names.function_called(name)
    if function is not None:
        return _function(function, disparity)
    meant = " or ".join(
        map(repr, metric_names.similar(name, (*_known(), *metric_names.OTHER_NAMES, *metric_names.INSTEAD)))
    )
    listed = (
        f"{'There' if meant else 'there'} are {', '.join(_known()[:3])}, ..., and the names of scikit-learn's scorers"
    )
    raise ParameterError(f"metric={name!r} is unknown; {f'did you mean {meant}? ' if meant else ''}{listed}")


def _known() -> list[str]:
    return [*RATES, *CRITERIA, *SCORES, *OMNIBUS, *SETS]
