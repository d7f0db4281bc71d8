"""From bounds of single comparisons to adjusted bounds over a grid, and to how far the verdict survives.

The verdict of the whole test may turn where it turns with the largest p-values of all comparisons, or with the smallest
ones. Of several comparisons these need not be possible at the same time, so that a verdict may survive more than is
said, and never less.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from skfairtest._utils.typing import Floats
from skfairtest.comparisons.core import Result
from skfairtest.comparisons.family import p_of
from skfairtest.comparisons.unknown import with_p_values
from skfairtest.inference.unknown import PValueBounds
from skfairtest.sensitivity.result import VIOLATIONS, Sensitivity, largest_surviving

#: P-values and disparities that a comparison may have.
Possible = tuple[PValueBounds, tuple[float, float]]
#: Those of the comparison at a place with an amount of a violation.
Bounds = Callable[[int, float], Possible]


@dataclass(frozen=True)
class Analysis:
    """How an assumption is violated: bounds, and candidate amounts.

    `base` is what was found, where nothing is violated. Where bounds do not widen with the amount, `up_to` are those of
    all smaller amounts together. `further` hypotheses may join the family with an amount.
    """

    bounds: Bounds
    candidates: Floats
    base: Result
    up_to: Bounds | None = None
    further: Callable[[float], int] = lambda amount: 0

    def ends(self, amount: float, bounds: Bounds) -> tuple[list[Possible], list[Result]]:
        """The bounds of each comparison, and what would be found with the smallest and with the largest p-values."""
        found = [bounds(place, amount) for place in range(len(self.base.tested))]
        families = {"low": replace(self.base, further=0), "high": replace(self.base, further=self.further(amount))}
        return found, [with_p_values(family, [getattr(p, end) for p, _ in found]) for end, family in families.items()]

    def turns(self, amount: float) -> bool:
        """Whether the verdict may turn."""
        return any(
            end.verdict.concern is not self.base.verdict.concern
            for end in self.ends(amount, self.up_to or self.bounds)[1]
        )

    def rows(self, amount: float) -> list[dict[str, Any]]:
        """What each comparison may be."""
        found, (low, high) = self.ends(amount, self.bounds)
        ends = zip(found, self.base.comparisons, low.comparisons, high.comparisons, strict=True)
        return [
            {
                "metric": one.metric, "group": one.group, "other": one.other, "stratum": one.stratum,
                "disparity_low": disparity[0], "disparity_high": disparity[1],
                "p_value_low": p_of(p.low), "p_value_high": p_of(p.high),
                "p_value_adjusted_low": p_of(least.log_p_adjusted), "p_value_adjusted_high": p_of(most.log_p_adjusted),
                "turns": one.concern is not least.concern or one.concern is not most.concern,
                "attained": p.attained, "method": p.method,
            }
            for (p, disparity), one, least, most in ends
        ]  # fmt: skip


def analysed(analysis: Analysis, to: str, at: Any) -> Sensitivity:
    """Look at the amounts that are asked for, and for the largest one with which the verdict survives."""
    violation = VIOLATIONS[to]
    rows = [{violation.parameter: amount, **row} for amount in violation.amounts(at) for row in analysis.rows(amount)]
    frame = pd.DataFrame(rows)
    if frame["stratum"].isna().all():
        del frame["stratum"]
    survives = largest_surviving(analysis.turns, analysis.candidates)
    disparity = "odds_ratio" if to == "confounding" else analysis.base.settings.question.disparity
    return Sensitivity(to, verdict_of(analysis.base), frame, survives, violation, disparity)


def verdict_of(base: Result) -> str:
    """Say what was found."""
    concern = base.verdict.concern
    if base.settings.question.alternative == "equivalence":
        return "Not certified" if concern else "Certified"
    return "Significant disparity" if concern else "No significant disparity"
