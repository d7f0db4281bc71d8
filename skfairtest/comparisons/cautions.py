"""Warnings beside the result: what was left out, and where a result is doubtful."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from skfairtest._utils.errors import SmallGroupWarning
from skfairtest._utils.stacklevel import find_stack_level
from skfairtest._utils.text import label, pluralize
from skfairtest.comparisons.core import Measured, Result
from skfairtest.comparisons.settings import Settings
from skfairtest.metrics import Rate


def warn_about_people(measured: Measured) -> None:
    """Warn of undefined values, small groups, and doubtful standard errors."""
    for undefined in _undefined(measured):
        warnings.warn(undefined, UndefinedMetricWarning, stacklevel=find_stack_level())
    for caution in cautions(measured) if measured.sample is not None else ():
        warnings.warn(caution, SmallGroupWarning, stacklevel=find_stack_level())


def _undefined(measured: Measured) -> Iterator[str]:
    """Say which values and which disparities are undefined."""
    left_out = [e for e in measured.excluded if e.metric is not None and e.n and e.comparisons]
    so = "these comparisons are left out, see excluded_"
    disparity = measured.settings.question.disparity.replace("_", " ")
    kept = f"their {disparity} is undefined, and each counts as a hypothesis with p = 1"
    for undefined, then in ((left_out, so), (measured.undefined, kept)):
        if not undefined:
            continue
        first = undefined[0]
        where = label(first.group) + (f" ({label(first.stratum)})" if first.stratum is not None else "")
        more = f", and {len(undefined) - 1} more" if len(undefined) > 1 else ""
        says = " is" if first.other is None else f" against {label(first.other)}:"
        yield f"{first.metric} of {where}{says} {first.reason}{more}: {then}"


def cautions(measured: Measured) -> list[str]:
    """Say what makes results doubtful, beside what is listed as excluded."""
    found = []
    assert measured.sample is not None
    levels = getattr(measured.sample.columns.get("y_score"), "levels", ())
    if levels and set(levels) <= {0, 1}:
        scored = ", ".join(metric.name for metric in measured.metrics if "y_score" in metric.reads)
        found.append(
            f"{scored}: y_score holds only 0 and 1, which look like predicted labels; pass probabilities or decision "
            "values, or use a metric of labels"
        )
    doubtful = [(name, *one) for name, of_metric in measured.by_metric.items() for one in of_metric.doubtful]
    if doubtful:
        others = len({(metric, group) for metric, group, _ in doubtful}) - 1
        metric, group, why = doubtful[0]
        more = f" (and {pluralize(others, 'other value')})" if others else ""
        found.append(
            f"{metric} of {label(group)} {why}{more}: p-values and intervals of its comparisons are approximate, "
            f"and may be too small; {_remedy(measured, metric)}"
        )
    small = [e for e in measured.excluded if e.metric is None and e.n and e.comparisons]
    if small:
        groups = dict.fromkeys(e.group if e.other is None else e.other for e in small)
        names = ", ".join(f"({label(group)})" if isinstance(group, tuple) else label(group) for group in groups)
        found.append(f"sensitive_features: {names} left out of comparisons, having fewer than 2 people; see excluded_")
    return found


def _remedy(measured: Measured, name: str) -> str:
    """Say which test would not be approximate, if there is one."""
    sample = measured.sample
    assert sample is not None
    given = {"sample_weight": sample.weight, "clusters": sample.clusters}
    inexact = " and ".join(parameter for parameter, column in given.items() if column is not None)
    if inexact:
        return f"no test with {inexact} is exact; only more people help"
    if any(metric.name == name and isinstance(metric, Rate) for metric in measured.metrics):
        return "with variance='auto' this rate has an exact test for any number of people"
    return "a rate, such as 'true_positive_rate', has an exact test for any number of people"


def warn_about_resamples(results: Sequence[Result], settings: Settings) -> None:
    """Warn if so many adjusted comparisons cannot reach the level with so many resamples."""
    verdict = results[0].verdict
    n_resamples, n_hypotheses = verdict.n_resamples, verdict.n_hypotheses
    smallest = (1 if settings.adjust == "max_t" else n_hypotheses) / (1 + n_resamples)
    if n_resamples and not settings.adaptive and smallest > settings.alpha:
        warnings.warn(
            f"n_resamples={n_resamples} cannot reject at {settings.alpha:.3g}: the smallest adjusted p-value that "
            f"{pluralize(n_hypotheses, 'comparison')} can reach is {min(1.0, smallest):.3g}; "
            f"use more than {int(np.ceil(n_hypotheses / settings.alpha))}",
            UserWarning,
            stacklevel=find_stack_level(),
        )
