"""What a sensitivity analysis found: bounds over a grid of assumptions, and how far the verdict survives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from skfairtest._utils.errors import ParameterError, brief
from skfairtest._utils.typing import Floats
from skfairtest.report.sentences import points


@dataclass(frozen=True)
class Violation:
    """A way in which data may mislead: how its amount is called, its unit, and which amounts are looked at.

    Parameters
    ----------
    parameter : str
        Column of the amounts.
    least, most : float
        The smallest amount, with which nothing is violated, and the largest one.
    grid : tuple of float
        Amounts in the frame where none are asked for.
    survives : str
        What a verdict survives, with a place for the amount.
    """

    parameter: str
    least: float
    most: float
    grid: tuple[float, ...]
    survives: str

    @property
    def is_share(self) -> bool:
        """Whether amounts are shares of people."""
        return self.parameter == "share"

    def amounts(self, at: Any) -> list[float]:
        """Check the amounts that are asked for."""
        if at is None:
            return list(self.grid)
        try:
            found = np.atleast_1d(np.asarray(at, dtype=float))
        except (TypeError, ValueError, OverflowError):
            found = np.zeros(0)
        if found.ndim != 1 or not len(found) or not ((found >= self.least) & (found <= self.most)).all():
            limits = (
                f"between {self.least:g} and {self.most:g}" if np.isfinite(self.most) else f"from {self.least:g} on"
            )
            raise ParameterError(f"at must be one or several numbers {limits}; found {brief(at)}")
        return sorted(set(found.tolist()))


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
#: Rows that are printed.
SHOWN = 20


@dataclass(frozen=True)
class Sensitivity:
    """How far a verdict depends on an assumption that the data cannot check.

    Parameters
    ----------
    to : str
        The assumption.
    verdict : str
        What was found.
    frame : DataFrame
        A row for each amount of the violation, and for each comparison: the smallest and the largest disparity and
        p-value, by itself and adjusted, over all that is possible; whether the comparison's verdict may turn; whether
        the p-values are ``attained`` or lie outside of all; and the ``method`` of the test.
    survives : float
        The largest amount with which the verdict of the whole test cannot turn; NaN where it may with the smallest.
    violation : Violation
        What amounts are.
    disparity : str
        What disparities are: "difference", "ratio" or "odds_ratio".

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
    disparity: str = "difference"

    def __str__(self) -> str:
        """A sentence, then the first and the last rows of the frame."""
        shown = self.frame.to_string(float_format="{:.4g}".format, na_rep="-", max_rows=SHOWN)
        more = f"\n{len(self.frame)} rows; `frame` has all" if len(self.frame) > SHOWN else ""
        return f"{self.sentence}\n\n{shown}{more}"

    @property
    def sentence(self) -> str:
        """How far the verdict survives."""
        what, amount, least = self.violation.survives, self.survives, self.violation.least
        if amount >= self.violation.most:
            return f"{self.verdict}. The verdict survives any amount of what was assumed here."
        if np.isnan(amount) or self._written(amount) == self._written(least):  # so little is none
            return f"{self.verdict}. The verdict survives not even {what.format(self._written(least + 0.01))}."
        # Rounded down: what is written is survived.
        return f"{self.verdict}. The verdict survives up to {what.format(self._written(amount))}."

    def _written(self, amount: float) -> str:
        if not self.violation.is_share:
            return f"{np.floor(amount * 100) / 100:g}"
        digits = 1 if amount >= 0.001 or not amount else 3
        return f"{points(np.floor(amount * 100 * 10**digits + 1e-9) / 10**digits / 100, digits)}%"


def largest_surviving(turns: Callable[[float], bool], amounts: Floats) -> float:
    """Return the last of growing amounts with which a verdict cannot turn; NaN if it can with the first.

    Examples
    --------
    >>> largest_surviving(lambda amount: amount > 0.3, np.arange(10) / 10)
    0.3
    """
    low, high = -1, len(amounts)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if turns(float(amounts[middle])) else (middle, high)
    return float(amounts[low]) if low >= 0 else np.nan
