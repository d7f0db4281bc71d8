"""Answers about a plan: its power, whether any size has power, and the smallest disparity that is detected."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from skfairtest._utils.errors import ParameterError
from skfairtest.inference.power import rate_power
from skfairtest.inference.power_designs import Computed, Design, Estimates
from skfairtest.inference.power_normal import normal_power
from skfairtest.inference.power_search import LARGEST, NEAR, smallest_distance
from skfairtest.inference.rates import Question
from skfairtest.planning.estimates import estimates_power
from skfairtest.planning.plan import Plan


def computed_power(plan: Plan, people: tuple[int, ...]) -> Computed:
    """Return the power of a plan with these numbers of people."""
    question, alpha = plan.settings.question, plan.settings.alpha
    if not plan.rates:
        means, spreads = zip(*plan.values[0], strict=True) if plan.is_mean else (plan.values[0], None)
        return estimates_power(Estimates(people, means, spreads, plan.met, question, plan.contrasts, alpha))
    complement = (False, True)[: len(plan.rates)]
    return rate_power(Design(people, plan.met, plan.values, complement, question, plan.contrasts, plan.overall, alpha))


def _parts(plan: Plan, people: Sequence[float]) -> list[tuple[float, float, float, float]]:
    """Per rate and comparison: value and people of the group, and of what it is compared with."""
    out: list[tuple[float, float, float, float]] = []
    for other, row in enumerate(plan.values):
        level = [value[0] if plan.is_mean else value for value in row]
        d = [n * (1 - share if other else share) for n, share in zip(people, plan.met, strict=True)]
        for first, second in plan.contrasts:
            rest = [g for g in range(len(people)) if g != first] if second is None else [second]
            size = sum(d[g] for g in rest)
            out.append((level[first], d[first], sum(d[g] * level[g] for g in rest) / size, size))
    return out


def _shown(question: Question, value: float, other: float, share: float) -> float:
    """Disparity to the other side, or to everyone if the group has a `share` of them."""
    other = share * value + (1 - share) * other
    if question.disparity == "ratio":
        return value / other if other else np.inf
    return value - other


def check_truth(plan: Plan, people: Sequence[float]) -> None:
    """Refuse true values for which no number of people gives power."""
    question = plan.settings.question
    low, high = question.margin_bounds or (question.null, question.null)
    found = [
        _shown(question, value, other, d1 / (d1 + d2) if plan.overall else 0.0)
        for value, d1, other, d2 in _parts(plan, people)
    ]
    if question.alternative == "equivalence":
        if all(low < disparity < high for disparity in found):
            return
        what = f"within the margin, from {low:g} to {high:g}"
    else:
        beyond = {"greater": max(found) > high, "less": min(found) < low}
        if beyond.get(question.alternative, any(beyond.values())):
            return
        both = f"beyond {low:g} to {high:g}" if low != high else f"other than {low:g}"
        what = {"greater": f"above {high:g}", "less": f"below {low:g}"}.get(question.alternative, both)
    shown = ", ".join(f"{disparity:.4g}" for disparity in found)
    raise ParameterError(
        f"rates give no power at any size: alternative={question.alternative!r} needs "
        f"{'every' if question.alternative == 'equivalence' else 'a'} disparity {what}; found {shown}"
    )


def normal_start(plan: Plan, people: Callable[[int], tuple[int, ...]], target: float) -> int:
    """Return a size near the required one."""
    if not plan.rates:
        return 2
    question = plan.settings.question
    both = question.alternative == "equivalence"
    alpha = plan.settings.alpha / (1 if both else len(plan.contrasts) * len(plan.rates))

    def enough(size: int) -> bool:
        found = [normal_power(*part, question, alpha) for part in _parts(plan, people(size))]
        return (min(found) if both else max(found)) >= target

    inside = 2
    while not enough(inside) and inside < LARGEST:
        inside *= 2
    return bisect_left(range(inside), True, inside // 2 + 1, key=enough)


def directions(question: Question, direction: str) -> tuple[str, ...]:
    """Return the directions in which a disparity is looked for: up first, or only the direction of the alternative."""
    ways = {"up": ("up",), "down": ("down",), "auto": ("up", "down")}[direction]
    only = {"greater": "up", "less": "down"}.get(question.alternative)
    if only is None:
        return ways
    if only not in ways:
        raise ParameterError(
            f"direction={direction!r} is not the direction of alternative={question.alternative!r}: use "
            "direction='auto'"
        )
    return (only,)


def detectable(plan: Plan, people: tuple[int, ...], target: float, direction: str) -> float:
    """Return the disparity of one moving group to all others, which have the baseline."""
    question = plan.settings.question
    moving = plan.contrasts[0][0]
    base = plan.values[0][moving]
    level = base[0] if plan.is_mean else base
    rate = plan.rates[0] if plan.rates else None
    counted = [n * share for n, share in zip(people, plan.met, strict=True)]

    def power_at(value: float) -> float:
        row = list(plan.values[0])
        row[moving] = (value, base[1]) if plan.is_mean else value
        return computed_power(replace(plan, values=(tuple(row),)), people).value

    def search(sign: int) -> float | None:
        low, high = question.margin_bounds or (question.null, question.null)
        edge = high if sign > 0 else low
        null = float(level * edge if question.disparity == "ratio" else level + edge)
        if plan.is_mean:  # forty standard errors beyond the edge
            extreme = null + sign * 40 * base[1] * np.sqrt(sum(1 / n for n in people))
            extreme = float(max(extreme, level * 1e-9) if question.disparity == "ratio" else extreme)
        else:
            least = 1e-9 if plan.is_area else 0.0
            extreme = 1 - least if sign > 0 else least
        null = (min if sign > 0 else max)(null, extreme)
        near = 1e-3 if len(people) > 2 else NEAR  # simulated, or not
        if question.alternative == "equivalence":
            # Against everyone the margin reaches further than against the others.
            null, extreme = (extreme if plan.overall else null), level
        way = 1 if extreme > null else -1
        found = smallest_distance(lambda gap: power_at(null + way * gap), target, abs(extreme - null), near=near)
        return None if np.isnan(found) else null + way * found

    signs = [1 if way == "up" else -1 for way in directions(question, direction)]
    for sign in signs:
        found = search(sign)
        if found is not None:
            if rate is not None and rate.value is not None:
                found, level = (float(rate.value(np.asarray(value))) for value in (found, level))
            return _shown(question, found, level, counted[moving] / sum(counted) if plan.overall else 0.0)
    ways = " or ".join(directions(question, direction))
    raise ParameterError(
        f"power={target:g} is not reached by any disparity ({ways}) from a baseline of {level:.4g} with "
        f"{', '.join(f'{n:,}' for n in people)} people: more people or a lower power are needed"
    )
