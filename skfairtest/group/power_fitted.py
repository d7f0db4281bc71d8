"""The smallest disparity that a fitted test would have found: denominators, level and law as they were seen."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skfairtest._utils.errors import ParameterError
from skfairtest.comparisons.settings import Settings
from skfairtest.group.fairness import FairnessTest
from skfairtest.group.power_answer import detectable
from skfairtest.group.power_plan import Plan, inverse
from skfairtest.inference.power_normal import estimate_power, values_tested
from skfairtest.inference.power_search import smallest_disparity
from skfairtest.metrics import Rate


@dataclass(frozen=True)
class Leading:
    """The leading comparison of a fitted test, and the settings with the level that it is left.

    `rate` where its counts have a law; both denominators, the other side's value (of a rate, its probability), and the
    standard error of the difference, or of the logarithm of the ratio.
    """

    settings: Settings
    rate: Rate | None
    d_group: int
    d_other: int
    other: float
    error: float


def leading_of(test: Any) -> Leading:
    """Return what power needs to know of the leading comparison of a fitted test.

    Raises
    ------
    ValueError
        If it is no fitted test, or has control features.
    """
    if not isinstance(test, FairnessTest):
        raise ParameterError(
            f"test must be a fitted FairnessTest, found {type(test).__name__}; other parameters are named"
        )
    check_is_fitted(test)
    if test.comparisons_["stratum"].notna().any():
        raise ParameterError(
            "test has control features, whose pooled comparison has no power computation: give numbers"
        )
    row = test.comparisons_.iloc[test._leading]
    settings, rate = test._settings, test._rate
    question = settings.question
    if question.alternative != "equivalence":
        # Holm leaves its smallest p-value the level over the number of hypotheses that were tested.
        settings = replace(settings, alpha=settings.alpha / test._n_hypotheses)
    sides = _sides_of(test, row, settings, rate)
    if sides is None:
        return Leading(settings, None, 0, 0, np.nan, float(row["standard_error"]))
    if test._setup.people:  # weights or clusters: no distribution of counts, but an error that allows for them
        return Leading(settings, None, *sides[:-1], float(row["standard_error"]))
    if rate is not None and rate.value is not None and question.margin_bounds is not None:
        rate = None
    return Leading(settings, rate, *sides)


def disparity_of_test(test: FairnessTest, target: float, direction: str) -> float:
    """Smallest disparity that the leading comparison of a fitted test would have found."""
    leading = leading_of(test)
    settings, rate = leading.settings, leading.rate
    if rate is None:
        return _of_error(leading.error, settings, target, direction)
    if settings.question.method == "bootstrap":
        settings = replace(settings, question=replace(settings.question, method="asymptotic"))
    contrast = (0, None if settings.compare == "to_overall" else 1)
    plan = Plan(rate.name, (rate,), settings, ((leading.other, leading.other),), (1.0, 1.0), (contrast,))
    return detectable(plan, (leading.d_group, leading.d_other), target, direction)


def _sides_of(
    test: FairnessTest, row: Any, settings: Settings, rate: Rate | None
) -> tuple[int, int, float, float] | None:
    """Return both denominators, the other side's value, and the standard error of the disparity.

    None where the other side has a value and no single group of it has.
    """
    table = test._values[test._values["metric"] == row["metric"]]
    if table.empty:
        raise ParameterError(
            f"test of {row['metric']} has no values by group, so that power cannot be computed from it"
        )
    labels, d = list(table["group"]), table["n_effective"].to_numpy()
    values, errors = (table[name].to_numpy(dtype=float) for name in ("value", "standard_error"))
    if rate is not None:
        values = np.array([inverse(rate, value) if np.isfinite(value) else np.nan for value in values])
    own = labels.index(row["group"])
    if settings.compare in ("to_rest", "to_overall"):
        rest = np.array([i for i in range(len(labels)) if i != own and d[i] > 0], dtype=np.intp)
        if not len(rest):
            return None
    else:
        rest = np.array([labels.index(row["other"])])
    weights = d[rest] / d[rest].sum()
    both = np.array([errors[own], np.sqrt(weights**2 @ errors[rest] ** 2)])
    if settings.question.disparity == "ratio":
        with np.errstate(divide="ignore", invalid="ignore"):  # a rate of 0 has no logarithm
            both /= row[["value_group", "value_other"]].to_numpy(dtype=float)
    return int(d[own]), int(d[rest].sum()), float(weights @ values[rest]), float(np.hypot(*both))


def _of_error(error: float, settings: Settings, target: float, direction: str) -> float:
    """Smallest disparity by the normal approximation, with the standard error that was seen."""
    question = settings.question
    ratio = question.disparity == "ratio"
    bounds = question.margin_bounds or (question.null, question.null)
    low, high = np.log(bounds) if ratio else np.asarray(bounds)

    def power_at(disparity: float) -> float:
        distances = [(disparity - value, side) for value, side in values_tested(question)]
        return estimate_power(distances, error, settings.alpha, question.alternative)

    if not np.isfinite(error):
        raise ParameterError("test has no standard errors (variance=None), from which power is computed: use 'auto'")
    up = question.alternative != "less" if direction == "auto" else direction == "up"
    edge = float(high if up else low)
    far = edge + (40 if up else -40) * error
    ends = (edge, 0.0) if question.alternative == "equivalence" else (edge, far)
    found = smallest_disparity(power_at, target, *ends)
    if found is None:
        raise ParameterError(f"power={target:g} is reached by no disparity in this test: more people are needed")
    return float(np.exp(found)) if ratio else found
