"""The smallest disparity that a comparison could have shown, for tests, audits, drawings and reports alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from skfairtest._utils.typing import Floats
from skfairtest.comparisons.core import Finding, Result
from skfairtest.inference.detectable import TwoRates, detectable_estimates, detectable_rates
from skfairtest.inference.rates import Question
from skfairtest.report.sentences import DETECTION_POWER


@dataclass(frozen=True)
class Supposed:
    """The assumptions behind the power of one comparison: the question, the level, and the people as observed.

    `table` are two rates whose test has a power that is known; of others there is the `error` of the disparity. Where
    draws are too few for a p-value of that level, `enough` is False.
    """

    question: Question
    level: float
    bounds: tuple[float, float]
    table: TwoRates | None
    error: float
    enough: bool = True

    @classmethod
    def of(cls, finding: Finding, result: Result) -> Self:
        """Take it from one comparison of a result, at the level that the adjustment leaves the smallest p-value."""
        null, estimate, level = finding.null, finding.estimate, result.verdict.level
        enough = finding.evidence.draws is None or level * (1 + result.measured.settings.n_resamples) >= 1
        return cls(null.question, level, estimate.bounds, null.table(), null.error(estimate), enough)

    def among(self, times: float) -> Self:
        """Return the same with so many times the people."""
        table = self.table
        if table is not None:
            table = replace(table, d_group=table.d_group * times, d_other=table.d_other * times)
        return replace(self, table=table, error=self.error / float(np.sqrt(times)))

    def disparity(self, power: float, direction: str) -> float:
        """Return the disparity that is found going "up" or "down", exactly; infinite or NaN where there is none."""
        size = float(detectable_sizes([self], power, direction=direction, accuracy="exact")[0])
        if self.question.disparity != "difference":
            return size if direction == "up" or not np.isfinite(size) else 1 / size
        return size if direction == "up" else -size


def detectable_sizes(
    supposed: Sequence[Supposed],
    power: float = DETECTION_POWER,
    *,
    direction: str = "farther",
    accuracy: str = "quick",
) -> Floats:
    """Return sizes of disparities that are found with a power; see `detectable_rates` for direction and accuracy.

    Of two rates it is the power of the test that was run, with the two denominators and the others' rate as they were
    seen; everything else is computed from its standard error. NaN where there is none, infinity where no disparity is
    found with that power.
    """
    sizes = np.full(len(supposed), np.nan)
    kinds = [(one.question, one.level, one.table is None) for one in supposed]
    for kind in dict.fromkeys(kinds):
        places = [place for place, own in enumerate(kinds) if own == kind]
        question, level, _ = kind
        asked = {"alpha": level, "power": power}
        tables = [table for place in places if (table := supposed[place].table) is not None]
        if tables:
            sizes[places] = detectable_rates(tables, question, direction=direction, accuracy=accuracy, **asked)
        else:
            sizes[places] = detectable_estimates([supposed[place].error for place in places], question, **asked)
    # Not even no extreme draw among too few would be significant.
    impossible = [not one.enough or sizes[place] > one.bounds[1] for place, one in enumerate(supposed)]
    return np.where(impossible, np.inf, sizes)


def minimum_detectable(results: Sequence[Result]) -> list[Floats]:
    """Return sizes of disparities that the comparisons of each result would have detected with the usual power."""
    sizes = detectable_sizes([Supposed.of(finding, result) for result in results for finding in result.findings])
    return np.split(sizes, np.cumsum([len(result.findings) for result in results])[:-1])
