"""The default metrics of an audit: those that apply to each kind of prediction."""

from __future__ import annotations

from collections.abc import Set

from skfairtest.metrics.rates import RATES
from skfairtest.metrics.resolve import Metric
from skfairtest.metrics.scores import SCORES

#: By what is predicted: one of two labels, one of several, a number; and what scores add to two labels.
STANDARD: dict[str, tuple[str, ...]] = {
    "binary": ("selection_rate", "true_positive_rate", "false_positive_rate", "precision", "accuracy"),
    "scores": ("roc_auc", "calibration"),
    "multiclass": ("accuracy", "balanced_accuracy"),
    "continuous": ("mean_prediction", "mean_residual", "mean_squared_error", "mean_absolute_error"),
}


def standard_metrics(kinds: Set[str], given: Set[str]) -> list[Metric]:
    """List the standard metrics of kinds of predictions, as far as their columns were given.

    Parameters
    ----------
    kinds : set of {"binary", "scores", "multiclass", "continuous"}
        What is predicted.
    given : set of {"y_true", "y_pred", "y_score"}
        The columns there are.

    Returns
    -------
    list of Rate or ScoreMetric
        In the order of `STANDARD`.

    Examples
    --------
    >>> [metric.name for metric in standard_metrics({"binary"}, {"y_pred"})]
    ['selection_rate']
    """
    names = dict.fromkeys(name for kind, names in STANDARD.items() if kind in kinds for name in names)
    declared: list[Metric] = [RATES.get(name) or SCORES[name] for name in names]
    return [metric for metric in declared if metric.reads <= given]
