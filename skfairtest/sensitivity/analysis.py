"""From bounds of single comparisons to adjusted bounds over a grid, and to how far the verdict survives.

The extremes of several comparisons need not be possible together, so a verdict may survive more than is reported.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from skfairtest._utils.checks import finite_numbers, is_number
from skfairtest._utils.errors import ParameterError, brief
from skfairtest._utils.typing import Floats
from skfairtest.comparisons.core import Result
from skfairtest.comparisons.family import p_of
from skfairtest.comparisons.unknown import with_p_values
from skfairtest.inference.unknown import PValueBounds
from skfairtest.report.sentences import points

#: P-values and disparities that a comparison may have.
Possible = tuple[PValueBounds, tuple[float, float]]
#: Those of the comparison at a place with an amount of a violation.
Bounds = Callable[[int, float], Possible]


@dataclass(frozen=True)
class Violation:
    """A way in which data may mislead: its parameter, and amounts from `least` (nothing is violated) to `most`."""

    parameter: str
    least: float
    most: float
    grid: tuple[float, ...]
    survives: str

    def amounts(self, at: Any) -> list[float]:
        """Check the amounts of a frame, and sort them."""
        amounts = finite_numbers(self.grid if at is None else [at] if is_number(at) else at)
        if not len(amounts) or not ((amounts >= self.least) & (amounts <= self.most)).all():
            limits = f"from {self.least:g} on" if np.isinf(self.most) else f"between {self.least:g} and {self.most:g}"
            raise ParameterError(f"at must be one or several numbers {limits}; found {brief(at)}")
        return sorted(set(amounts.tolist()))


VIOLATIONS = {
    "missing_groups": Violation(
        "share", 0.0, 1.0, (0.0, 0.1, 0.2, 0.5, 1.0), "{} of the people of unknown group in any group",
    ),
    "confounding": Violation(
        "gamma", 1.0, np.inf, (1.0, 1.1, 1.25, 1.5, 2.0, 3.0, 5.0),
        "an unmeasured confounder that changes the odds of being in a group by a factor of {}",
    ),
    "omitted_variable": Violation(
        "strength", 0.0, np.inf, (0.0, 0.5, 1.0, 2.0, 3.0),
        "an unmeasured confounder {} times as strong as the strongest covariate",
    ),
}  # fmt: skip


@dataclass(frozen=True)
class Sensitivity:
    """How far a verdict depends on an assumption that the data cannot check.

    Parameters
    ----------
    to : str
        The assumption.
    verdict : str
        The verdict.
    frame : DataFrame
        A row for each amount of the violation and each comparison: the smallest and the largest possible disparity and
        p-value, unadjusted and adjusted; whether the comparison's verdict may change; whether the p-values are
        ``attained`` or only bounds; and the ``method``.
    survives : float
        The largest amount with which the verdict cannot change; NaN if it may with the smallest.
    violation : Violation
        The kind of amount.

    Examples
    --------
    >>> from skfairtest import FairnessTest
    >>> from skfairtest.datasets import load_compas
    >>> compas = load_compas()
    >>> test = FairnessTest.from_predictions(
    ...     compas.y_true,
    ...     compas.y_pred,
    ...     sensitive_features=compas.sensitive_features["sex"],
    ...     metric="selection_rate",
    ... )
    >>> found = test.sensitivity("confounding", at=[1, 1.5])
    >>> found.frame[["gamma", "p_value_low", "p_value_high", "turns"]].round(3)
       gamma  p_value_low  p_value_high  turns
    0    1.0        0.003         0.003  False
    1    1.5        0.000         1.000   True
    """

    to: str
    verdict: str
    frame: pd.DataFrame = field(repr=False)
    survives: float
    violation: Violation = field(repr=False)

    def __str__(self) -> str:
        """A sentence, then the first and the last rows of the frame."""
        shown = self.frame.to_string(float_format="{:.4g}".format, na_rep="-", max_rows=20, show_dimensions=True)
        return f"{self.sentence}\n\n{shown}"

    @property
    def sentence(self) -> str:
        """The largest violation that the verdict survives."""
        what, amount, least = self.violation.survives, self.survives, self.violation.least
        if amount >= self.violation.most:
            return f"{self.verdict}. The verdict survives any amount of this violation."
        if np.isnan(amount) or self._written(amount) == self._written(least):  # so little is none
            return f"{self.verdict}. The verdict does not survive even {what.format(self._written(least + 0.01))}."
        # Rounded down: what is written is survived.
        return f"{self.verdict}. The verdict survives up to {what.format(self._written(amount))}."

    def _written(self, amount: float) -> str:
        if self.violation.parameter != "share":
            return f"{np.floor(amount * 100) / 100:g}"
        digits = 1 if amount >= 0.001 or not amount else 3
        return f"{points(np.floor(amount * 100 * 10**digits + 1e-9) / 10**digits / 100, digits)}%"


def analysed(
    base: Result,
    to: str,
    at: Any,
    bounds: Bounds,
    candidates: Floats,
    *,
    up_to: Bounds | None = None,
    further: Callable[[float], int] = lambda amount: 0,
) -> Sensitivity:
    """Tabulate the results at the amounts `at`, and find the largest candidate that the verdict survives.

    If bounds do not widen with the amount, `up_to` are those of all smaller amounts together.
    """
    violation, concern = VIOLATIONS[to], base.verdict.concern

    def ends(amount: float, bounds: Bounds) -> tuple[list[Possible], list[Result]]:
        """The bounds of each comparison, and the results with the smallest and with the largest p-values."""
        possible = [bounds(place, amount) for place in range(len(base.tested))]
        low = with_p_values(replace(base, further=0), [p.low for p, _ in possible])
        return possible, [low, with_p_values(replace(base, further=further(amount)), [p.high for p, _ in possible])]

    def turns(amount: float) -> bool:
        return any(end.verdict.concern is not concern for end in ends(float(amount), up_to or bounds)[1])

    rows = []
    for amount in violation.amounts(at):
        possible, (low, high) = ends(amount, bounds)
        for (p, disparity), one, least, most in zip(
            possible, base.comparisons, low.comparisons, high.comparisons, strict=True
        ):
            rows.append({
                violation.parameter: amount, "metric": one.metric, "group": one.group, "other": one.other,
                "stratum": one.stratum, "disparity_low": disparity[0], "disparity_high": disparity[1],
                "p_value_low": p_of(p.low), "p_value_high": p_of(p.high),
                "p_value_adjusted_low": p_of(least.log_p_adjusted), "p_value_adjusted_high": p_of(most.log_p_adjusted),
                "turns": one.concern is not least.concern or one.concern is not most.concern,
                "attained": p.attained, "method": p.method,
            })  # fmt: skip
    frame = pd.DataFrame(rows)
    if frame["stratum"].isna().all():
        del frame["stratum"]
    first = bisect_left(candidates, True, key=turns)  # the first amount with which the verdict may turn
    verdict = ("No significant disparity", "Significant disparity")[concern]
    if base.settings.question.alternative == "equivalence":
        verdict = ("Certified", "Not certified")[concern]
    return Sensitivity(to, verdict, frame, float(candidates[first - 1]) if first else np.nan, violation)
