"""What is answered about a plan: its power, whether any size has power, and the smallest disparity that is found."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from skfairtest._utils.errors import ParameterError
from skfairtest.group.power_plan import Plan, Values, contrasts_of
from skfairtest.inference.power import rate_power
from skfairtest.inference.power_designs import Computed, Design, Estimates
from skfairtest.inference.power_estimates import estimates_power
from skfairtest.inference.power_normal import normal_power
from skfairtest.inference.power_search import smallest_disparity
from skfairtest.inference.rates import Question


def computed_power(plan: Plan, values: Values, people: tuple[int, ...], met: tuple[float, ...]) -> Computed:
    """Return the power of a plan, if these are the true values, the people and the shares of those who count."""
    question, contrasts, alpha = plan.settings.question, contrasts_of(plan, len(people)), plan.settings.alpha
    if plan.is_mean:
        means, spreads = zip(*values[0], strict=True)
        return estimates_power(Estimates(people, means, spreads, met, question, contrasts, alpha))
    if plan.is_area:
        return estimates_power(Estimates(people, values[0], None, met, question, contrasts, alpha))
    overall = plan.settings.compare == "to_overall"
    return rate_power(Design(people, met, values, plan.complement, question, contrasts, overall, alpha))


def _parts(plan: Plan, values: Values, people: Sequence[float], met: Sequence[float]) -> list[tuple[float, ...]]:
    """Per rate and comparison: value and people of the group, and of what it is compared with."""
    out: list[tuple[float, ...]] = []
    for row, other in zip(values, plan.complement or (False,), strict=True):
        level = [value[0] if plan.is_mean else value for value in row]
        d = [n * (1 - share if other else share) for n, share in zip(people, met, strict=True)]
        for first, second in contrasts_of(plan, len(people)):
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


def check_truth(plan: Plan, values: Values, people: Sequence[float], met: Sequence[float]) -> None:
    """Refuse true values for which no number of people gives power."""
    question = plan.settings.question
    low, high = question.edges or (question.null, question.null)
    overall = plan.settings.compare == "to_overall"
    found = [
        _shown(question, value, other, d1 / (d1 + d2) if overall else 0.0)
        for value, d1, other, d2 in _parts(plan, values, people, met)
    ]
    if question.alternative == "equivalence":
        if all(low < disparity < high for disparity in found):
            return
        what = f"within the margin, from {low:g} to {high:g}"
    else:
        above, below = any(d > high for d in found), any(d < low for d in found)
        wanted = {"greater": above, "less": below, "two-sided": above or below}[question.alternative]
        if wanted:
            return
        sides = {"greater": f"above {high:g}", "less": f"below {low:g}", "two-sided": f"beyond {low:g} to {high:g}"}
        what = (
            sides[question.alternative] if low != high or question.alternative != "two-sided" else f"other than {low:g}"
        )
    shown = ", ".join(f"{disparity:.4g}" for disparity in found)
    raise ParameterError(
        f"rates give no power at any size: alternative={question.alternative!r} needs "
        f"{'every' if question.alternative == 'equivalence' else 'a'} disparity {what}; found {shown}"
    )


def normal_start(
    plan: Plan, values: Values, people: Callable[[int], tuple[int, ...]], met: tuple[float, ...], target: float
) -> int:
    """Return a size near the one that is looked for."""
    if not plan.rates:
        return 2
    question = plan.settings.question
    both = question.alternative == "equivalence"
    k = len(contrasts_of(plan, len(met))) * len(plan.rates)
    alpha = plan.settings.alpha if both else plan.settings.alpha / k

    def enough(size: int) -> bool:
        found = [
            normal_power(v, d1, w, d2, question, alpha) for v, d1, w, d2 in _parts(plan, values, people(size), met)
        ]
        return (min(found) if both else max(found)) >= target

    outside, inside = 1, 2
    while not enough(inside) and inside < 10**8:
        outside, inside = inside, 2 * inside
    while inside - outside > 1:
        middle = (inside + outside) // 2
        outside, inside = (outside, middle) if enough(middle) else (middle, inside)
    return inside


def detectable(
    plan: Plan, values: Values, people: tuple[int, ...], met: tuple[float, ...], target: float, direction: str
) -> float:
    """Return the disparity of one moving group to all others, which have the baseline."""
    question = plan.settings.question
    moving = contrasts_of(plan, len(people))[0][0]
    base = values[0][moving]
    level = base[0] if plan.is_mean else base
    rate = plan.rates[0] if plan.rates else None
    several = len(people) > 2
    share = people[moving] * met[moving] / sum(n * s for n, s in zip(people, met, strict=True))

    def power_at(value: float) -> float:
        row = list(values[0])
        row[moving] = (value, base[1]) if plan.is_mean else value
        return computed_power(plan, (tuple(row),), people, met).value

    def edge_value(sign: int) -> float:
        low, high = question.edges or (question.null, question.null)
        edge = high if sign > 0 else low
        return float(level * edge if question.disparity == "ratio" else level + edge)

    def end(sign: int) -> float:
        if rate is not None:
            return 1.0 if sign > 0 else 0.0
        if plan.is_area:
            return 1 - 1e-9 if sign > 0 else 1e-9
        # Forty standard errors beyond the edge.
        reach = 40 * base[1] * np.sqrt(sum(1 / n for n in people))
        beyond = edge_value(sign) + sign * reach
        return float(max(beyond, level * 1e-9) if question.disparity == "ratio" else beyond)

    def search(sign: int) -> float | None:
        extreme = end(sign)
        null = min(edge_value(sign), extreme) if sign > 0 else max(edge_value(sign), extreme)
        tolerance = (1e-4 if several else 1e-7) * (1.0 if not plan.is_mean else max(abs(extreme - null), 1e-12))
        if question.alternative == "equivalence":
            # Against everyone the margin reaches further than against the others.
            outer = extreme if plan.settings.compare == "to_overall" else null
            return smallest_disparity(power_at, target, outer, level, tolerance)
        return smallest_disparity(power_at, target, null, extreme, tolerance)

    signs = {"up": (1,), "down": (-1,), "auto": (1, -1)}[direction]
    if question.alternative in ("greater", "less"):
        only = 1 if question.alternative == "greater" else -1
        if only not in signs:
            raise ParameterError(
                f"direction={direction!r} is not the one that alternative={question.alternative!r} looks for: use "
                "direction='auto'"
            )
        signs = (only,)
    for sign in signs:
        found = search(sign)
        if found is not None:
            first, other = (v if rate is None or rate.value is None else float(rate.value(np.asarray(v)))
                            for v in (found, level))  # fmt: skip
            return _shown(question, first, other, share if plan.settings.compare == "to_overall" else 0.0)
    what = {1: "up", -1: "down"}
    raise ParameterError(
        f"power={target:g} is reached by no disparity ({' nor '.join(what[s] for s in signs)}) from a baseline of "
        f"{level:.4g} with {', '.join(f'{n:,}' for n in people)} people: more people or a lower power are needed"
    )
