"""Plans (the checked arguments of the power functions), their power, and the smallest disparity detected."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from scipy.optimize import brentq

from skfairtest._utils.checks import check_probability, is_integer, is_number, is_sequence
from skfairtest._utils.errors import ParameterError, brief
from skfairtest._utils.text import enumerated
from skfairtest._utils.typing import Floats
from skfairtest.comparisons.contrasts import BEST, GIVEN_TOGETHER
from skfairtest.comparisons.settings import Settings, check_settings
from skfairtest.inference.multiplicity import DISCRETE_FROM
from skfairtest.inference.power import estimates_power, rate_power, smallest_distances
from skfairtest.inference.power_designs import Computed, Design
from skfairtest.inference.rates import Question
from skfairtest.metrics import CELLS, SCORES, OfMean, Rate, disparity_of, resolve_metrics

#: Metrics that are the mean of one number per person; their values are given as (mean, standard deviation).
MEANS = tuple(name for name, metric in SCORES.items() if isinstance(metric.evaluate, OfMean))
AREA = "roc_auc"
#: No group has more people.
MOST_PEOPLE = 10**10
#: People of the largest group up to whom families are planned by discrete Holm; beyond, at Bonferroni's level.
MOST_TABLES = 5_000
#: What is taken of a test's parameters.
ACCEPTED = (
    "compare", "reference_group", "disparity", "alternative", "margin", "method", "adjust", "confidence_level",
)  # fmt: skip
METHODS = ("auto", "exact", "asymptotic")


@dataclass(frozen=True)
class Plan:
    """A checked plan: the metric, as rates (none for means and areas), the test's settings, and the true values.

    Per rate, `values` has one per group (means: mean and standard deviation); `met`: shares who meet the first rate's
    condition.
    """

    name: str
    rates: tuple[Rate, ...]
    settings: Settings
    values: tuple[tuple[Any, ...], ...] = ()
    met: tuple[float, ...] = ()
    contrasts: tuple[tuple[int, int | None], ...] = ()

    @property
    def overall(self) -> bool:
        """Whether a group is compared with everyone, itself included."""
        return self.settings.compare == "to_overall"

    @property
    def is_mean(self) -> bool:
        """Whether values are pairs of mean and standard deviation."""
        return self.name in MEANS

    @property
    def is_area(self) -> bool:
        """Whether values are areas under the ROC curve."""
        return self.name == AREA


def read_plan(metric: Any, test_params: Mapping[str, Any], alpha: float | None) -> Plan:
    """The plan that a metric and a test's parameters define."""
    unknown = sorted(set(test_params) - set(ACCEPTED))
    if unknown:
        raise ParameterError(
            f"{', '.join(unknown)}: not a parameter that power depends on; these are {', '.join(ACCEPTED)}"
        )
    if alpha is not None:
        check_probability("alpha", alpha)
        level = test_params.get("confidence_level", 1 - alpha)
        if abs(1 - alpha - level) > 1e-12:
            raise ParameterError(
                f"alpha={alpha!r} is not 1 - confidence_level, which is given as {brief(level)}: give one of them"
            )
    method = test_params.get("method", "auto")
    if method not in METHODS:
        raise ParameterError(
            f"method={method!r} has no power without data: use one of {', '.join(map(repr, METHODS))}"
            + ("; 'exact' is what permutations of rates come close to" if method == "permutation" else "")
        )
    reference = test_params.get("reference_group")
    if reference is not None and not is_integer(reference):
        raise ParameterError(
            f"reference_group must be a position in n_per_group, counted from 0; found {brief(reference)}"
        )
    last = -1 if test_params.get("compare") == "to_reference" else None
    asked = test_params.get("disparity", "difference")
    if test_params.get("compare") in BEST:
        raise ParameterError(f"compare={brief(test_params['compare'])} has no power without data: use 'between_groups'")
    if asked == "odds_ratio":
        raise ParameterError(
            "disparity='odds_ratio' has no power without data: give rates, and 'difference' or 'ratio'"
        )
    found = resolve_metrics(metric, asked)
    settings = check_settings(
        **{
            **test_params,
            "disparity": disparity_of(found, asked, test_params.get("margin")),
            "reference_group": last if reference is None else int(reference),
        }
    )
    if alpha is not None:
        settings = replace(settings, alpha=float(alpha))
    # Functions, and other names of means and areas, are known by the names of their twins.
    named = isinstance(metric, str)
    name = metric if named and found[0].name not in (*MEANS, AREA) else found[0].name
    if name in (*MEANS, AREA) and (named or callable(metric)):
        if settings.question.method == "exact":
            raise ParameterError(f"method='exact' is for rates, and metric={name!r} is not a rate: use method='auto'")
        return Plan(name, (), settings)
    rates = tuple(one for one in found if isinstance(one, Rate))
    if len(rates) < len(found):
        raise ParameterError(
            f"metric={brief(getattr(metric, '__name__', metric))} has no power computation; it exists for rates, "
            f"criteria made of rates, {', '.join(MEANS)} and {AREA}"
        )
    for rate in rates:
        if rate.value is not None and settings.question.margin_bounds is not None:
            raise ParameterError(
                f"metric={rate.name!r} is a function of a rate, whose test of a margin has no power computation: "
                "use margin=None, or the rate itself ('jaccard' for F1)"
            )
    given = [rate.masks(CELLS)[1] for rate in rates]
    if len(rates) > 2 or (len(rates) == 2 and not np.array_equal(given[0], ~given[1])):
        raise ParameterError(
            f"metric={brief(metric)} is several rates whose conditions are not complementary, so that their joint "
            "distribution is not known: ask for one of them, with alpha divided by their number"
        )
    return Plan(name, rates, settings)


def supposed(plan: Plan, rates: Any, base_rates: Any, name: str = "rates") -> Plan:
    """The plan with the true values and the shares who meet the condition; `name` is the values' parameter."""
    values = _values(plan, rates, name)
    groups = len(values[0])
    _check_number_of_groups(plan, groups)
    return replace(plan, values=values, met=_shares_met(plan, base_rates, groups), contrasts=_contrasts(plan, groups))


def _values(plan: Plan, rates: Any, name: str) -> tuple[tuple[Any, ...], ...]:
    """The true values; rates that are functions of a probability are turned into it."""
    if isinstance(rates, Mapping):
        expected = [rate.name for rate in plan.rates]
        if set(rates) != set(expected):
            raise ParameterError(
                f"{name} must be a dict with the keys {', '.join(expected) or '(none: give a sequence)'}; found "
                f"{enumerated([*map(str, rates)], most=5)}"
            )
        rows = [rates[key] for key in expected]
    elif len(plan.rates) > 1:
        keys = ", ".join(f"{rate.name!r}: (..., ...)" for rate in plan.rates)
        raise ParameterError(f"{name} must be a dict for metric={plan.name!r}: {{{keys}}}; found {rates!r}")
    else:
        rows = [rates]
    out: list[tuple[Any, ...]] = []
    for row in rows:
        if not is_sequence(row) or len(row) < 2:
            raise ParameterError(f"{name} must hold one value per group, at least two; found {brief(row)}")
        out.append(tuple(_value(plan, value, name) for value in row))
    if len({len(row) for row in out}) > 1:
        raise ParameterError(
            f"{name} must have the same number of groups for every rate; found {brief([len(row) for row in out])}"
        )
    if not plan.rates:
        return tuple(out)
    return tuple(tuple(inverse(rate, v) for v in row) for rate, row in zip(plan.rates, out, strict=True))


def _value(plan: Plan, value: Any, name: str) -> Any:
    if plan.is_mean:
        numbers = is_sequence(value) and all(is_number(part) and np.isfinite(part) for part in value)
        if not numbers or len(value) != 2 or value[1] <= 0:
            raise ParameterError(
                f"{name} of metric={plan.name!r} must be pairs (mean, standard deviation of one person's value), the "
                f"latter positive; found {brief(value)}"
            )
        if plan.settings.question.disparity == "ratio" and value[0] <= 0:
            raise ParameterError(f"{name} must be positive means where disparity='ratio'; found {brief(value)}")
        return float(value[0]), float(value[1])
    if not is_number(value) or not 0 <= value <= 1:
        raise ParameterError(f"{name} must lie between 0 and 1 for metric={plan.name!r}; found {brief(value)}")
    if plan.is_area and not 0 < value < 1:
        raise ParameterError(f"{name} of metric='roc_auc' must lie strictly between 0 and 1; found {brief(value)}")
    return float(value)


def inverse(rate: Rate, value: float) -> float:
    """The probability at which a function of a rate has this value."""
    if rate.value is None:
        return value
    function = rate.value
    ends = [float(function(np.asarray(p))) for p in (0.0, 1.0)]
    if not ends[0] <= value <= ends[1]:
        raise ValueError(f"{rate.name} lies between {ends[0]:g} and {ends[1]:g}; found {brief(value)}")
    if value in ends:
        return float(ends.index(value))
    return float(brentq(lambda p: float(function(np.asarray(p))) - value, 0.0, 1.0, xtol=1e-14))


def _check_number_of_groups(plan: Plan, groups: int) -> None:
    """Refuse comparisons that are not possible with this number of groups, or that have no power computation."""
    settings = plan.settings
    alternative = settings.question.alternative
    if groups > 2 and settings.compare == "between_groups" and settings.question.directed:
        raise ParameterError(
            f"alternative={alternative!r} {'with this margin ' if alternative == 'equivalence' else ''}needs a "
            f"direction, which all pairs of {groups} groups do not have: use compare='to_reference', 'to_rest' or "
            "'to_overall'"
        )
    if not plan.rates and groups > 2:
        raise ParameterError(
            f"metric={plan.name!r} of {groups} groups has no power computation: give two groups, with alpha "
            + ("as it is" if settings.question.alternative == "equivalence" else "divided by the number of comparisons")
        )
    margin = settings.question.margin_bounds is not None
    if not plan.rates and settings.compare == "to_overall" and (plan.is_area or margin):
        raise ParameterError(
            f"compare='to_overall'{' with a margin' if margin else ''} has no power computation for "
            f"metric={plan.name!r}: use 'to_rest'"
        )
    reference = settings.reference_group
    if reference is not None and not -groups <= reference < groups:
        raise ParameterError(f"reference_group={reference} is not a position in {groups} groups, counted from 0")


def _shares_met(plan: Plan, base_rates: Any, groups: int) -> tuple[float, ...]:
    """The share of every group who meet the condition of the first rate."""
    shares = list(base_rates) if is_sequence(base_rates) else [base_rates] * groups
    if len(shares) != groups:
        raise ParameterError(
            f"base_rates must be one number, or one per group; found {len(shares)} for {groups} groups"
        )
    for share in shares:
        if not is_number(share) or not 0 < share <= 1:
            raise ParameterError(f"base_rates must be numbers above 0 and at most 1; found {brief(share)}")
    everyone = not plan.is_area and all(rate.masks(CELLS)[1].all() for rate in plan.rates[:1])
    if everyone and any(share != 1 for share in shares):
        raise ParameterError(
            f"base_rates={base_rates!r} has no meaning for metric={plan.name!r}, which counts everyone"
        )
    if (plan.is_area or len(plan.rates) > 1) and any(share == 1 for share in shares):
        who = plan.rates[0].among if plan.rates else "people whose true label is positive"
        raise ParameterError(f"base_rates is needed for metric={plan.name!r}: the share of {who}, below 1")
    return tuple(float(share) for share in shares)


def _contrasts(plan: Plan, groups: int) -> tuple[tuple[int, int | None], ...]:
    compare, question = plan.settings.compare, plan.settings.question
    if compare == "between_groups":
        return tuple(combinations(range(groups), 2))
    if compare == "to_reference":
        reference = plan.settings.reference_group % groups
        return tuple((g, reference) for g in range(groups) if g != reference)
    to_everyone = plan.overall and question.margin_bounds is not None
    if groups == 2 and not question.directed and not to_everyone:
        return ((0, None),)  # against each other both ask the same
    return tuple((g, None) for g in range(groups))


def read_people(n_per_group: Any, plan: Plan) -> tuple[int, ...]:
    """The people per group."""
    if not is_sequence(n_per_group):
        raise ParameterError(f"n_per_group must be a sequence of integers, one per group; found {brief(n_per_group)}")
    for n in n_per_group:
        if not is_integer(n) or not 2 <= n <= MOST_PEOPLE:
            raise ParameterError(f"n_per_group must be integers from 2 to {MOST_PEOPLE:,}, one per group; found {n!r}")
    if len(n_per_group) != len(plan.met):
        raise ParameterError(
            f"rates and n_per_group must have one value per group; found {len(plan.met)} and {len(n_per_group)}"
        )
    return tuple(int(n) for n in n_per_group)


def read_proportions(shares: Any, groups: int) -> tuple[float, ...]:
    """The proportions of the groups, the smallest being 1."""
    if shares is None:
        return (1.0,) * groups
    if not is_sequence(shares) or len(shares) != groups:
        raise ParameterError(f"shares must hold one proportion for each of {groups} groups; found {brief(shares)}")
    for share in shares:
        if not is_number(share) or not 0 < share < np.inf:
            raise ParameterError(f"shares must be positive numbers; found {brief(share)}")
    return tuple(float(share) / float(min(shares)) for share in shares)


def computed_power(plan: Plan, people: tuple[int, ...]) -> Computed:
    """The power of a plan with these numbers of people."""
    settings, hypotheses = plan.settings, len(plan.contrasts) * len(plan.rates)
    alone = len(plan.contrasts) == 1 or settings.compare in GIVEN_TOGETHER
    least = {"shaffer": DISCRETE_FROM if alone else np.inf, "discrete_holm": 1}.get(settings.adjust or "", np.inf)
    discrete = settings.question.is_exact and hypotheses >= least and max(people) <= MOST_TABLES
    design = Design(
        people, plan.met, plan.values, settings.question, plan.contrasts, plan.overall, settings.alpha, discrete
    )
    return rate_power(design) if plan.rates else estimates_power(design)


def _shown(question: Question, value: float, other: float, share: float) -> float:
    """Disparity to the other side, or to everyone if the group has a `share` of them."""
    other = share * value + (1 - share) * other
    if question.disparity == "ratio":
        return value / other if other else np.inf
    return value - other


def check_truth(plan: Plan, people: Sequence[float]) -> None:
    """Refuse true values for which no number of people gives power."""
    question, both, found = plan.settings.question, plan.settings.question.alternative == "equivalence", []
    for number, row in enumerate(plan.values):
        level = np.array([value[0] if plan.is_mean else value for value in row])
        met = np.array(people) * (1 - np.array(plan.met) if number else plan.met)
        for first, second in plan.contrasts:
            others = np.arange(len(row)) != first if second is None else [second]
            other, share = np.average(level[others], weights=met[others]), met[first] / met.sum()
            found.append(_shown(question, level[first], other, share if plan.overall else 0.0))
    beyond = {"greater": np.greater, "less": np.less, "two-sided": np.not_equal}
    hits = [beyond[side](found, edge) for edge, side in question.tests]
    if np.all(hits) if both else np.any(hits):
        return
    ways = {"greater": "above", "less": "below", "two-sided": "other than"}
    wanted = (" and " if both else " or ").join(f"{ways[side]} {edge:g}" for edge, side in question.tests)
    raise ParameterError(
        f"rates give no power at any size: alternative={question.alternative!r} needs {'every' if both else 'a'} "
        f"disparity {wanted}; found {', '.join(f'{disparity:.4g}' for disparity in found)}"
    )


def directions(question: Question, direction: str) -> tuple[str, ...]:
    """The directions in which a disparity is looked for: up first, or only the direction of the alternative."""
    ways = {"up": ("up",), "down": ("down",), "auto": ("up", "down")}[direction]
    only = {"greater": "up", "less": "down"}.get(question.alternative)
    if question.margin_bounds is not None and not np.isfinite(question.margin_bounds).all():
        only = "down" if np.isfinite(question.margin_bounds[0]) else "up"
    if only is None:
        return ways
    if only not in ways:
        raise ParameterError(
            f"direction={direction!r} is not the direction of alternative={question.alternative!r} with this margin: "
            "use direction='auto'"
        )
    return (only,)


def detectable(plan: Plan, people: tuple[int, ...], target: float, direction: str) -> float:
    """The disparity of one moving group to all others, which have the baseline."""
    question, moving = plan.settings.question, plan.contrasts[0][0]
    base = plan.values[0][moving]
    level = base[0] if plan.is_mean else base
    value_of = plan.rates[0].value if plan.rates else None
    low, high = question.margin_bounds or (question.null, question.null)
    ways = directions(question, direction)
    for way in ways:
        sign, edge = (1, high) if way == "up" else (-1, low)
        null = float(level * edge if question.disparity == "ratio" else level + edge)
        if plan.is_mean:  # forty standard errors beyond the edge
            extreme = null + sign * 40 * base[1] * np.sqrt(sum(1 / n for n in people))
            extreme = float(max(extreme, level * 1e-9) if question.disparity == "ratio" else extreme)
        else:
            least = 1e-9 if plan.is_area else 0.0
            extreme = 1 - least if sign > 0 else least
        null = (min if sign > 0 else max)(null, extreme)
        if question.alternative == "equivalence":
            # Against everyone the margin reaches further than against the others.
            null, extreme = (extreme if plan.overall else null), level

        def power_at(gap: Floats, null: float = null, room: float = extreme - null) -> Floats:
            value, row = null + float(np.copysign(gap[0], room)), list(plan.values[0])
            row[moving] = (value, base[1]) if plan.is_mean else value
            return np.array([computed_power(replace(plan, values=(tuple(row),)), people).value])

        room, steps = np.array([abs(extreme - null)]), 15 if len(people) > 2 else 50  # simulated, or not
        found = null + float(np.copysign(smallest_distances(power_at, target, room, steps)[0], extreme - null))
        if not np.isnan(found):
            if value_of is not None:
                found, level = (float(value_of(np.asarray(value))) for value in (found, level))
            counted = np.array(people) * plan.met
            return _shown(question, found, level, counted[moving] / counted.sum() if plan.overall else 0.0)
    raise ParameterError(
        f"power={target:g} is not reached by any disparity ({' or '.join(ways)}) from a baseline of {level:.4g} with "
        f"{', '.join(f'{n:,}' for n in people)} people: more people or a lower power are needed"
    )
