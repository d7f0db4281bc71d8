"""From what a user calls a metric to the rates that are tested."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from skfairtest._utils.errors import ParameterError
from skfairtest._utils.text import name_of
from skfairtest.metrics.omnibus import NORMALIZED_MUTUAL_INFO, Omnibus, from_function
from skfairtest.metrics.rate import Rate
from skfairtest.metrics.rates import ALIASES, CRITERIA, RATES
from skfairtest.metrics.score_metric import ScoreMetric, parameters_of
from skfairtest.metrics.scores import HINNEFELD_MEANS, SCORES

Metric = Rate | ScoreMetric | Omnibus

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

#: Rates that are functions of the same name in fairlearn.
FAIRLEARN_RATES = (
    "selection_rate",
    "true_positive_rate",
    "false_positive_rate",
    "true_negative_rate",
    "false_negative_rate",
)


@cache
def _known_functions() -> dict[object, tuple[Callable[..., Any], str, str | None]]:
    """Functions that compute a built-in metric, by their keys: (function, name, disparity it computes)."""
    import fairlearn.metrics as fair
    import sklearn.metrics as sk

    table: list[tuple[Callable[..., Any], str, str | None]] = [
        *((getattr(fair, name), name, None) for name in (*FAIRLEARN_RATES, "mean_prediction")),
        (sk.recall_score, "true_positive_rate", None),
        (sk.precision_score, "precision", None),
        (sk.accuracy_score, "accuracy", None),
        (sk.zero_one_loss, "zero_one_loss", None),
        (sk.jaccard_score, "jaccard", None),
        (sk.f1_score, "f1", None),
        (sk.roc_auc_score, "roc_auc", None),
        (sk.log_loss, "log_loss", None),
        (sk.brier_score_loss, "brier_score", None),
        (sk.balanced_accuracy_score, "balanced_accuracy", None),
        (sk.matthews_corrcoef, "matthews_corrcoef", None),
        (sk.mean_squared_error, "mean_squared_error", None),
        (sk.mean_absolute_error, "mean_absolute_error", None),
    ]
    criteria = ("demographic_parity", "equalized_odds", "equal_opportunity")
    derived = {name: name for name in (*FAIRLEARN_RATES, "zero_one_loss", *criteria)}
    for theirs, ours in {**derived, "accuracy_score": "accuracy"}.items():
        for disparity in ("difference", "ratio"):
            function = getattr(fair, f"{theirs}_{disparity}", None)
            if function is not None:
                table.append((function, ours, disparity))
    return {_key(function): (function, name, disparity) for function, name, disparity in table}


def _key(function: Callable[..., Any]) -> object:
    """Say which function it is: by identity, and a derived metric of fairlearn by what it derives from what.

    Those are objects, which a clone copies and another process unpickles: their identity is lost, that of the
    function inside is not.
    """
    derived_from = getattr(function, "_metric_fn", None)
    return id(function) if derived_from is None else (id(derived_from), getattr(function, "_transform", None))


def resolve_metrics(metric: object, disparity: str = "difference") -> list[Metric]:
    """List the metrics that a `metric` parameter names, each once, in the order given.

    Parameters
    ----------
    metric : str, Rate, ScoreMetric, callable, or a list or dict of these
        Names of metrics and criteria; functions of fairlearn and scikit-learn that compute a built-in metric are
        recognised by identity; other functions of (y_true, y_pred) are evaluated in each group, and those that take
        ``sensitive_features`` for all groups at once; a dict's keys rename.
    disparity : {"difference", "ratio"}
        What the test compares, which a function like ``demographic_parity_ratio`` must agree with.

    Returns
    -------
    list of Rate, ScoreMetric or Omnibus
        At least one.

    Raises
    ------
    ValueError
        If a name is unknown, the list is empty or two different metrics share a name.

    Examples
    --------
    >>> [rate.name for rate in resolve_metrics("equalized_odds")]
    ['true_positive_rate', 'false_positive_rate']
    """
    rates: dict[str, Metric] = {}
    for rate in _expand(metric, disparity):
        if rates.setdefault(rate.name, rate) != rate:
            raise ParameterError(f"metric names two different metrics {rate.name!r}: give one of them another name")
    if not rates:
        raise ParameterError("metric is empty: name at least one, for instance 'equalized_odds'")
    return list(rates.values())


def _expand(metric: object, disparity: str) -> list[Metric]:
    if isinstance(metric, Rate | ScoreMetric | Omnibus):
        return [metric]
    if isinstance(metric, str):
        return _named(metric)
    if isinstance(metric, Mapping):
        return [rate for label, value in metric.items() for rate in _renamed(str(label), _expand(value, disparity))]
    if isinstance(metric, list | tuple):
        return [rate for value in metric for rate in _expand(value, disparity)]
    if callable(metric):
        if _key(metric) in _known_functions():
            _, name, computes = _known_functions()[_key(metric)]
            if computes is not None and computes != disparity:
                raise ParameterError(
                    f"metric={getattr(metric, '__name__', metric)} is a {computes} and disparity={disparity!r}: "
                    f"set disparity={computes!r}"
                )
            return _named(name)
        return [_function(metric)]
    raise ParameterError(
        f"metric must be a name, a Rate, a ScoreMetric, a function, or a list or dict of these, "
        f"found {type(metric).__name__}"
    )


def _function(function: Callable[..., Any]) -> Metric:
    """Declare somebody's function: of one group, or of all groups where it takes ``sensitive_features``."""
    name = name_of(function)
    if "sensitive_features" in parameters_of(function) | parameters_of(type(function).__call__):
        return from_function(name, function)
    return ScoreMetric(name, function)


def _renamed(label: str, rates: list[Metric]) -> list[Metric]:
    if len(rates) == 1:
        return [replace(rates[0], name=label)]
    return [replace(rate, name=f"{label}/{rate.name}") for rate in rates]


def _named(name: str) -> list[Metric]:
    name = ALIASES.get(name, name)
    if name in RATES:
        return [RATES[name]]
    if name in CRITERIA:
        return [RATES[rate] for rate in CRITERIA[name]]
    if name in SCORES:
        return [SCORES[name]]
    if name == NORMALIZED_MUTUAL_INFO.name:
        return [NORMALIZED_MUTUAL_INFO]
    if name in SETS:
        return list(SETS[name])
    raise ParameterError(f"metric={name!r} is unknown; there are {_known()}")


def _known() -> str:
    return ", ".join([*RATES, *CRITERIA, *SCORES, NORMALIZED_MUTUAL_INFO.name, *SETS])
