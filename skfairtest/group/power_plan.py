"""What power is asked: the arguments of the power functions, read and checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from numbers import Integral
from typing import Any

import numpy as np
from scipy.optimize import brentq

from skfairtest._utils.checks import is_number
from skfairtest._utils.errors import ParameterError
from skfairtest.comparisons.settings import Settings, check_settings
from skfairtest.metrics import Rate, resolve_metrics

#: Metrics that are the mean of one number per person; their values are given as (mean, standard deviation).
MEANS = (
    "mean_prediction",
    "mean_residual",
    "mean_squared_error",
    "mean_absolute_error",
    "brier_score",
    "log_loss",
    "calibration",
)
AREA = "roc_auc"
#: What is taken of a test's parameters, with their defaults.
ACCEPTED: dict[str, Any] = {
    "compare": "between_groups",
    "reference_group": None,
    "disparity": "difference",
    "alternative": "two-sided",
    "margin": None,
    "method": "auto",
    "adjust": "auto",
    "confidence_level": 0.95,
}
METHODS = ("auto", "exact", "asymptotic")


@dataclass(frozen=True)
class Plan:
    """A checked question: the metric, as rates (none for means and areas), and the test's settings."""

    name: str
    rates: tuple[Rate, ...]
    complement: tuple[bool, ...]
    everyone: bool  # everybody meets the condition
    settings: Settings
    reference: int | None
    only: tuple[tuple[int, int | None], ...] | None = None  # comparisons, where they are not all that `compare` makes

    @property
    def is_mean(self) -> bool:
        """Whether values are pairs of mean and standard deviation."""
        return self.name in MEANS

    @property
    def is_area(self) -> bool:
        """Whether values are areas under the ROC curve."""
        return self.name == AREA


Values = tuple[tuple[Any, ...], ...]  # per rate, one value per group; means: (mean, standard deviation)


def read_plan(metric: Any, test_params: Mapping[str, Any], alpha: float | None) -> Plan:
    """Return the question behind a metric and a test's parameters."""
    unknown = sorted(set(test_params) - set(ACCEPTED))
    if unknown:
        raise ValueError(
            f"{', '.join(unknown)}: not a parameter that power depends on; there are {', '.join(ACCEPTED)}"
        )
    params = {**ACCEPTED, **test_params}
    if alpha is not None:
        if not is_number(alpha) or not 0 < alpha < 1:
            raise ParameterError(f"alpha must be a number between 0 and 1; found {alpha!r}")
        if "confidence_level" in test_params and abs(1 - alpha - params["confidence_level"]) > 1e-12:
            level = params["confidence_level"]
            raise ParameterError(
                f"alpha={alpha!r} is not 1 - confidence_level, which is given as {level!r}: give one of them"
            )
    if params["method"] not in METHODS:
        options = ", ".join(map(repr, METHODS))
        raise ParameterError(
            f"method={params['method']!r} has no power without data: use one of {options}"
            + ("; 'exact' is what permutations of rates come close to" if params["method"] == "permutation" else "")
        )
    if params["adjust"] == "max_t":
        raise ParameterError(
            "adjust='max_t' has no power without data: use adjust='holm', whose power is a little lower"
        )
    reference = params.pop("reference_group")
    to_reference = params["compare"] == "to_reference"
    if reference is not None and (not isinstance(reference, Integral) or isinstance(reference, bool)):
        raise ParameterError(f"reference_group must be a position in n_per_group, counted from 0; found {reference!r}")
    settings = check_settings(
        **params,
        reference_group=(-1 if reference is None else int(reference)) if to_reference else reference,
        variance="auto",
        within="auto",
        n_resamples=9999,
    )
    if alpha is not None:
        settings = replace(settings, alpha=float(alpha))
    if callable(metric) and not isinstance(metric, Rate):
        # fairlearn's and scikit-learn's functions are known by the names of their twins.
        twins = _resolved(metric, settings)
        metric = twins[0].name if len(twins) == 1 and twins[0].name in (*MEANS, AREA) else metric
    if isinstance(metric, str) and metric in (*MEANS, AREA):
        if settings.question.method == "exact":
            raise ParameterError(f"method='exact' is for rates, and metric={metric!r} is none: use method='auto'")
        return Plan(metric, (), (), metric in MEANS, settings, settings.reference_group)
    rates = _rates_of(metric, settings)
    return Plan(_name(metric, rates), *_conditions(metric, rates), settings, settings.reference_group)


def _name(metric: Any, rates: Sequence[Rate]) -> str:
    return metric if isinstance(metric, str) else rates[0].name


def _resolved(metric: Any, settings: Settings) -> list[Any]:
    try:
        return list(resolve_metrics(metric, settings.question.disparity))
    except NotImplementedError:
        return []


def _rates_of(metric: Any, settings: Settings) -> list[Rate]:
    found = [rate for rate in _resolved(metric, settings) if isinstance(rate, Rate)]
    if not found or len(found) < len(_resolved(metric, settings)):
        shown = getattr(metric, "__name__", metric)
        raise ParameterError(
            f"metric={shown!r} has no power computation; there is one for rates, criteria made of rates, "
            f"{', '.join(MEANS)} and {AREA}"
        )
    if settings.question.edges is not None:
        for rate in found:
            if rate.value is not None:
                raise ParameterError(
                    f"metric={rate.name!r} is a function of a rate, whose test of a margin has no power computation: "
                    "use margin=None, or the rate itself ('jaccard' for F1)"
                )
    return found


def _conditions(metric: Any, rates: list[Rate]) -> tuple[tuple[Rate, ...], tuple[bool, ...], bool]:
    """Return the rates, which of them are conditioned on the first one's complement, and if everyone is counted."""
    cells = {"y_true": np.array([True, True, False, False]), "y_pred": np.array([True, False, True, False])}
    given = [rate.masks(cells)[1] for rate in rates]
    if len(rates) > 2 or (len(rates) == 2 and not np.array_equal(given[0], ~given[1])):
        raise ParameterError(
            f"metric={metric!r} is several rates whose conditions are not complementary, so that their joint law is "
            "not known: ask for one of them, with alpha divided by their number"
        )
    return tuple(rates), (False, True)[: len(rates)], bool(given[0].all())


def read_values(plan: Plan, rates: Any, name: str) -> Values:
    """Return the true values; rates that are functions of a probability are turned into it."""
    if isinstance(rates, Mapping):
        expected = [rate.name for rate in plan.rates]
        if set(rates) != set(expected):
            raise ParameterError(
                f"{name} must be a dict with the keys {', '.join(expected) or '(none: give a sequence)'}; found "
                f"{', '.join(map(str, rates))}"
            )
        rows = [rates[key] for key in expected]
    elif len(plan.rates) > 1:
        keys = ", ".join(f"{rate.name!r}: (..., ...)" for rate in plan.rates)
        raise ParameterError(f"{name} must be a dict for metric={plan.name!r}: {{{keys}}}; found {rates!r}")
    else:
        rows = [rates]
    out: list[tuple[Any, ...]] = []
    for row in rows:
        if isinstance(row, str) or not isinstance(row, Sequence | np.ndarray) or len(row) < 2:
            raise ParameterError(f"{name} must hold one value per group, at least two; found {row!r}")
        out.append(tuple(_value(plan, value, name) for value in row))
    if len({len(row) for row in out}) > 1:
        raise ParameterError(f"{name} must hold as many groups for every rate; found {[len(row) for row in out]}")
    if not plan.rates:
        return tuple(out)
    return tuple(tuple(inverse(rate, v) for v in row) for rate, row in zip(plan.rates, out, strict=True))


def _value(plan: Plan, value: Any, name: str) -> Any:
    if plan.is_mean:
        pair = isinstance(value, Sequence | np.ndarray) and not isinstance(value, str) and len(value) == 2
        if not pair or not all(is_number(part) and np.isfinite(part) for part in value) or value[1] <= 0:
            raise ParameterError(
                f"{name} of metric={plan.name!r} must be pairs (mean, standard deviation of one person's value), the "
                f"latter positive; found {value!r}"
            )
        if plan.settings.question.disparity == "ratio" and value[0] <= 0:
            raise ParameterError(f"{name} must be positive means where disparity='ratio'; found {value!r}")
        return float(value[0]), float(value[1])
    if not is_number(value) or not 0 <= value <= 1:
        raise ParameterError(f"{name} must lie between 0 and 1 for metric={plan.name!r}; found {value!r}")
    if plan.is_area and not 0 < value < 1:
        raise ParameterError(f"{name} of metric='roc_auc' must lie strictly between 0 and 1; found {value!r}")
    return float(value)


def inverse(rate: Rate, value: float) -> float:
    """Return the probability at which a function of a rate has this value."""
    if rate.value is None:
        return value
    function = rate.value
    ends = [float(function(np.asarray(p))) for p in (0.0, 1.0)]
    if not ends[0] <= value <= ends[1]:
        raise ValueError(f"{rate.name} lies between {ends[0]:g} and {ends[1]:g}; found {value!r}")
    if value in ends:
        return float(ends.index(value))
    return float(brentq(lambda p: float(function(np.asarray(p))) - value, 0.0, 1.0, xtol=1e-14))


def read_people(n_per_group: Any, plan: Plan, values: Values) -> tuple[int, ...]:
    """Return the people per group."""
    if isinstance(n_per_group, str) or not isinstance(n_per_group, Sequence | np.ndarray):
        raise ParameterError(f"n_per_group must be a sequence of integers, one per group; found {n_per_group!r}")
    for n in n_per_group:
        if not isinstance(n, Integral) or isinstance(n, bool) or n < 2:
            raise ParameterError(f"n_per_group must be integers of at least 2, one per group; found {n!r}")
    if len(n_per_group) != len(values[0]):
        raise ParameterError(
            f"rates and n_per_group must have one value per group; found {len(values[0])} and {len(n_per_group)}"
        )
    check_number_of_groups(len(n_per_group), plan)
    return tuple(int(n) for n in n_per_group)


def check_number_of_groups(groups: int, plan: Plan) -> None:
    """Refuse comparisons that so many groups do not have, or that have no power computation."""
    settings = plan.settings
    alternative = settings.question.alternative
    if groups > 2 and settings.compare == "between_groups" and alternative in ("greater", "less"):
        raise ParameterError(
            f"alternative={alternative!r} needs a direction, which all pairs of {groups} groups do not have: use "
            "compare='to_reference', 'to_rest' or 'to_overall'"
        )
    if plan.is_area and settings.compare in ("to_rest", "to_overall"):
        raise ParameterError(
            f"compare={settings.compare!r} has no power computation for metric='roc_auc', whose value for the rest "
            "does not follow from the groups': use 'between_groups' or 'to_reference'"
        )
    if not plan.rates and settings.compare == "to_overall" and settings.question.edges is not None:
        raise ParameterError(
            f"compare='to_overall' with a margin has no power computation for metric={plan.name!r}: use 'to_rest'"
        )
    if plan.reference is not None and not -groups <= plan.reference < groups:
        raise ParameterError(f"reference_group={plan.reference} is not a position in {groups} groups, counted from 0")


def read_shares_met(base_rates: Any, groups: int, plan: Plan) -> tuple[float, ...]:
    """Return the share of every group who meet the condition of the first rate."""
    several = isinstance(base_rates, Sequence | np.ndarray) and not isinstance(base_rates, str)
    shares = list(base_rates) if several else [base_rates] * groups
    if len(shares) != groups:
        raise ParameterError(
            f"base_rates must be one number, or one per group; found {len(shares)} for {groups} groups"
        )
    for share in shares:
        if not is_number(share) or not 0 < share <= 1:
            raise ParameterError(f"base_rates must be numbers above 0 and at most 1; found {share!r}")
    if plan.everyone and any(share != 1 for share in shares):
        raise ParameterError(
            f"base_rates={base_rates!r} has no meaning for metric={plan.name!r}, which counts everyone"
        )
    if (plan.is_area or len(plan.complement) > 1) and any(share == 1 for share in shares):
        who = plan.rates[0].among if plan.rates else "people whose true label is positive"
        raise ParameterError(
            f"base_rates is needed for metric={plan.name!r}: the share of {who or 'those who meet the first condition'}"
            ", below 1"
        )
    return tuple(float(share) for share in shares)


def read_proportions(shares: Any, groups: int) -> tuple[float, ...]:
    """Return the proportions of the groups, the smallest being 1."""
    if shares is None:
        return (1.0,) * groups
    if isinstance(shares, str) or not isinstance(shares, Sequence | np.ndarray) or len(shares) != groups:
        raise ParameterError(f"shares must hold one proportion for each of {groups} groups; found {shares!r}")
    for share in shares:
        if not is_number(share) or not 0 < share < np.inf:
            raise ParameterError(f"shares must be positive numbers; found {share!r}")
    return tuple(float(share) / float(min(shares)) for share in shares)


def check_target(target: Any) -> None:
    """Refuse a power wanted that is no probability."""
    if not is_number(target) or not 0 < target < 1:
        raise ParameterError(f"power must be a number between 0 and 1; found {target!r}")


def contrasts_of(plan: Plan, groups: int) -> tuple[tuple[int, int | None], ...]:
    """Return the groups compared; None: everyone else."""
    compare = plan.settings.compare
    if plan.only is not None:
        return plan.only
    if compare == "between_groups":
        return tuple(combinations(range(groups), 2))
    if compare == "to_reference":
        reference = (plan.reference if plan.reference is not None else -1) % groups
        return tuple((g, reference) for g in range(groups) if g != reference)
    question = plan.settings.question
    if groups == 2 and question.alternative == "two-sided" and question.edges is None:
        return ((0, None),)  # against each other both ask the same
    return tuple((g, None) for g in range(groups))
