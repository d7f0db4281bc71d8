"""Which response an estimator is asked for."""

from __future__ import annotations

from collections.abc import Sequence

from skfairtest._utils.errors import ParameterError
from skfairtest.metrics import Metric, ScoreMetric


def responses_of(metrics: Sequence[Metric]) -> tuple[tuple[str, ...], str]:
    """Return the responses that every metric of scores can use, in the first one's order, and the metrics' names.

    Raises
    ------
    ValueError
        If there is none.
    """
    asking = [metric for metric in metrics if isinstance(metric, ScoreMetric) and metric.scores == "y_score"]
    names = ", ".join(metric.name for metric in asking)
    shared = [r for r in asking[0].responses if all(r in metric.responses for metric in asking)]
    if not shared:
        asked = "; ".join(f"{metric.name}: {' or '.join(metric.responses)}" for metric in asking)
        raise ParameterError(f"metric names scores of different kinds ({asked}): test them one by one")
    return tuple(shared), names
