"""From a batch of samples to values between 0 and 1: which metrics have them, and what they are by group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from skfairtest._utils.checks import is_integer, is_number
from skfairtest._utils.errors import ParameterError
from skfairtest._utils.typing import Floats
from skfairtest.comparisons.contrasts import Design
from skfairtest.comparisons.measure import positive_label
from skfairtest.comparisons.outcomes import means, measure_of
from skfairtest.inference.sums import MeanSums
from skfairtest.metrics import RATES, BuiltIn, Metric, Rate
from skfairtest.readers import is_label
from skfairtest.tables import Sample


def check_bounded(metric: Metric) -> None:
    """Refuse what is no rate and no mean, and what is compared by ratios."""
    if isinstance(metric, Rate) and metric.value is not None:
        raise ParameterError(
            f"metric {metric.name!r} is a function of a rate, and bets are made on the rate itself: f1 is equal where "
            "metric='jaccard' is, which has evidence and limits of its own"
        )
    if metric.disparity == "ratio":
        raise ParameterError(f"metric {metric.name!r} is compared by a ratio, and evidence is of differences")
    if not isinstance(metric, Rate) and not (isinstance(metric, BuiltIn) and metric.name in means()):
        raise ParameterError(
            f"metric {metric.name!r} is no rate and no mean of a value of each sample, on which bets could be made: "
            f"use a rate ({', '.join(RATES)}), or one of the means {', '.join(means())}"
        )


def positive_of(sample: Sample, metrics: Sequence[Metric], asked: Any, seen: bool) -> Any:
    """Return the positive label of a batch, which need not have it if it was asked for.

    Raises
    ------
    ValueError
        If the batch has two labels or more, `asked` is none of them, and no batch before had it (`seen`); or as
        `positive_label` does.
    """
    labels = sample.labels
    if asked is None or any(is_label(label, asked) for label in labels):
        return positive_label(sample, metrics, asked, None)
    alike = all(isinstance(label, str) == isinstance(asked, str) for label in labels)
    if alike and len(labels) > 1 and seen:
        return asked
    return positive_label(sample, metrics, asked, (labels[0], asked) if alike and len(labels) == 1 else None)


def bounds_of(metric: Metric) -> tuple[float, float]:
    """Return the least and the greatest value of a sample: of numbers without bounds, those of numbers from 0 to 1."""
    low, high = metric.bounds if isinstance(metric, BuiltIn) else (0.0, 1.0)
    if np.isfinite(low) and np.isfinite(high):
        return low, high
    return (-1.0 if np.isinf(low) and len(metric.reads) > 1 else 0.0), 1.0


def values_of(design: Design, metric: Metric) -> dict[Any, Floats]:
    """Return by group the values of samples, scaled to 0 and 1, in their order.

    Raises
    ------
    ValueError
        If a value is outside the bounds.
    """
    low, high = bounds_of(metric)
    measured, sample = measure_of(design, metric), design.sample
    if isinstance(measured.sums, MeanSums):
        values = np.round(measured.rows[:, 1] + measured.sums.centre, 12)
        if values.min() < low or values.max() > high:
            raise ParameterError(
                f"metric {metric.name!r} has values from {values.min():g} to {values.max():g}, and bets need values "
                f"between known bounds, here {low:g} and {high:g}: scale what is predicted to 0 and 1"
            )
        values = (values - low) / (high - low)
    else:
        event, given = measured.rows.T
        values = np.where(given > 0, event, np.nan)
    return {
        label: own[~np.isnan(own)]
        for place, label in enumerate(sample.group_labels)
        for own in (values[sample.group_codes == place],)
    }


def plain_time(time: Any) -> str | float | int | None:
    """Return a time as JSON has it.

    Examples
    --------
    >>> import datetime
    >>> plain_time(datetime.date(2026, 5, 1)), plain_time(3)
    ('2026-05-01', 3)
    """
    if time is None or isinstance(time, str):
        return time
    if is_integer(time):
        return int(time)
    return float(time) if is_number(time) else str(time)
