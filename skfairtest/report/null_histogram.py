"""The distribution of a statistic under the null hypothesis, small enough to be drawn, and to be kept in a record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from skfairtest._utils.typing import Floats
from skfairtest.report.scales import Scale
from skfairtest.report.schema import Declared, array, between, one_of, text
from skfairtest.report.sentences import number, points

#: Bars below this share of the highest are not to be seen.
LOWEST = 1e-3


@dataclass(frozen=True)
class NullHistogram(Declared):
    """What could have been seen by chance, beside what was seen.

    Parameters
    ----------
    kind : {"enumerated", "drawn", "normal"}
        Whether every outcome was counted, resamples were drawn, or the normal distribution stands for both.
    statistic : str
        What is on the axis, such as "difference".
    low, high : tuple of float
        Ends of the bins; they are equal where a bin is a single outcome.
    mass : tuple of float
        Probability of each bin.
    extreme : tuple of float
        The part of it that is at least as extreme as the data.
    observed : float
        What was seen.
    p_value : float
        P-value of the comparison, not adjusted for the number of comparisons.
    note : str
        One sentence: what the distribution is, and how it relates to the p-value.
    """

    kind: Annotated[str, one_of("enumerated", "drawn", "normal")]
    statistic: Annotated[str, text]
    low: Annotated[tuple[float, ...], array(between())]
    high: Annotated[tuple[float, ...], array(between())]
    mass: Annotated[tuple[float, ...], array(between(0, 1 + 1e-9))]
    extreme: Annotated[tuple[float, ...], array(between(0, 1 + 1e-9))]
    observed: Annotated[float, between(infinite=True)]
    p_value: Annotated[float, between(0, 1)]
    note: Annotated[str, text]

    def __post_init__(self) -> None:
        """Refuse bins of unequal numbers."""
        lengths = [len(getattr(self, name)) for name in ("low", "high", "mass", "extreme")]
        if len(set(lengths)) > 1:
            raise ValueError(f"null_distribution.low, high, mass and extreme must be of one length; found {lengths}")

    @property
    def factor(self) -> float:
        """What the numbers on the axis are multiplied by: 100 where differences of shares are written as points."""
        # Only counts of people are enumerated.
        return 100.0 if self.kind == "enumerated" and self.statistic.startswith("difference") else 1.0

    @property
    def axis(self) -> str:
        """What is on the axis, with its unit where that is not the statistic's own."""
        if self.statistic.startswith("studentized "):
            return f"{self.statistic} (in standard errors)"
        return f"{self.statistic}, in percentage points" if self.factor == 100 else self.statistic

    @property
    def observed_text(self) -> str:
        """What was seen, as a text with its unit."""
        return f"{points(self.observed)} points" if self.factor == 100 else number(self.observed)

    @property
    def bars(self) -> tuple[Floats, Floats]:
        """The left ends and the widths of its bars; a single outcome has a bar that does not touch the next one."""
        low, high = np.asarray(self.low, dtype=float), np.asarray(self.high, dtype=float)
        single = low == high
        gaps = np.diff(np.unique(low))
        atom = 0.8 * float(gaps.min()) if single.any() and len(gaps) else 1.0 if not len(gaps) else 0.0
        return np.where(single, low - atom / 2, low), np.where(single, atom, high - low)

    @property
    def scale(self) -> Scale:
        """The scale on which everything that is to be seen has its place."""
        (left, width), mass = self.bars, np.asarray(self.mass)
        likely = mass > LOWEST * mass.max() if len(mass) else np.zeros(0, dtype=bool)
        return Scale.around([left[likely], (left + width)[likely]], (self.observed,), factor=self.factor)
