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
from skfairtest.inference.rates import Question
from skfairtest.metrics import Rate


@dataclass(frozen=True)
class Sides:
    """A fitted comparison: denominators, the other side's value (of a rate, its probability), and standard error."""

    d_group: int
    d_other: int
    other: float
    error: float  # of the difference, or of the logarithm of the ratio


@dataclass(frozen=True)
class Leading:
    """The leading comparison of a fitted test, with the level that it is left; `rate` where its counts have a law."""

    sides: Sides
    settings: Settings
    alpha: float
    rate: Rate | None


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
    settings, declared = test._check()
    row = test.comparisons_.iloc[test._leading]
    rate = next((r for r in declared if isinstance(r, Rate) and r.name == row["metric"]), None)
    sides = _sides_of(test, row, settings, rate)
    question = settings.question
    # Holm leaves its smallest p-value the level over the number of hypotheses that were tested.
    alpha = settings.alpha if question.alternative == "equivalence" else settings.alpha / test._n_hypotheses
    if test._setup.people:  # weights or clusters: no law of counts, but an error that allows for them
        return Leading(replace(sides, error=float(row["standard_error"])), settings, alpha, None)
    if rate is not None and rate.value is not None and question.edges is not None:
        rate = None
    return Leading(sides, settings, alpha, rate)


def disparity_of_test(test: FairnessTest, target: float, direction: str) -> float:
    """Smallest disparity that the leading comparison of a fitted test would have found."""
    leading = leading_of(test)
    sides, settings, alpha, rate = leading.sides, leading.settings, leading.alpha, leading.rate
    question = settings.question
    if rate is None:
        return _of_errors(sides, question, alpha, target, direction)
    if question.method == "bootstrap":
        question = replace(question, method="asymptotic")
    overall = settings.compare == "to_overall"
    compare = "to_overall" if overall else "between_groups"
    settings = replace(settings, compare=compare, question=question, alpha=alpha, reference_group=None)
    plan = Plan(rate.name, (rate,), (False,), False, settings, None, ((0, None if overall else 1),))
    return detectable(
        plan, ((sides.other, sides.other),), (sides.d_group, sides.d_other), (1.0, 1.0), target, direction
    )


def _sides_of(test: FairnessTest, row: Any, settings: Settings, rate: Rate | None) -> Sides:
    groups: Any = test.by_group_
    if groups is None:
        raise ParameterError(
            f"test of {row['metric']} has no values by group, so that power cannot be computed from it"
        )
    if "metric" in groups.index.names:
        groups = groups.xs(row["metric"], level="metric")
    values = groups["value"].to_numpy(dtype=float)
    if rate is not None:
        values = np.array([inverse(rate, value) if np.isfinite(value) else np.nan for value in values])
    d, errors = groups["n_effective"].to_numpy(), groups["standard_error"].to_numpy(dtype=float)
    labels = list(groups.index)
    own = labels.index(row["group"])
    if settings.compare in ("to_rest", "to_overall"):
        rest = np.array([i for i in range(len(labels)) if i != own and d[i] > 0])
    else:
        rest = np.array([labels.index(row["other"])])
    weights = d[rest] / d[rest].sum()
    other = float(weights @ values[rest])
    own_error, other_error = float(errors[own]), float(np.sqrt(weights**2 @ errors[rest] ** 2))
    if settings.question.disparity == "ratio":
        with np.errstate(divide="ignore", invalid="ignore"):  # a rate of 0 has no logarithm
            own_error, other_error = (
                own_error / np.float64(row["value_group"]),
                other_error / np.float64(row["value_other"]),
            )
    return Sides(int(d[own]), int(d[rest].sum()), other, float(np.hypot(own_error, other_error)))


def _of_errors(sides: Sides, question: Question, alpha: float, target: float, direction: str) -> float:
    """Smallest disparity by the normal approximation, with the standard error that was seen."""
    ratio = question.disparity == "ratio"
    edges = question.edges or (question.null, question.null)
    low, high = np.log(edges) if ratio else np.asarray(edges)

    def power_at(disparity: float) -> float:
        distances = [(disparity - value, side) for value, side in values_tested(question)]
        return estimate_power(distances, sides.error, alpha, question.alternative)

    if not np.isfinite(sides.error):
        raise ParameterError("test has no standard errors (variance=None), from which power is computed: use 'auto'")
    up = question.alternative != "less" if direction == "auto" else direction == "up"
    edge = float(high if up else low)
    far = edge + (40 if up else -40) * sides.error
    ends = (edge, 0.0) if question.alternative == "equivalence" else (edge, far)
    found = smallest_disparity(power_at, target, *ends)
    if found is None:
        raise ParameterError(f"power={target:g} is reached by no disparity in this test: more people are needed")
    return float(np.exp(found)) if ratio else found
