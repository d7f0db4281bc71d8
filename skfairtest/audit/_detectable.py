"""For every comparison of an audit, the smallest disparity that its people could have shown."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from skfairtest.comparisons.core import Finding
from skfairtest.comparisons.settings import Settings
from skfairtest.inference.detectable import detectable_estimates, detectable_rates
from skfairtest.report.sentences import DETECTION_POWER


def level_of_one(alpha: float, adjust: str | None, n_hypotheses: int) -> float:
    """Return the level that the adjustment leaves the smallest p-value of so many hypotheses."""
    if adjust is None:
        return alpha
    if adjust == "fdr_by":
        return alpha / (n_hypotheses * float((1 / np.arange(1, n_hypotheses + 1)).sum()))
    return alpha / n_hypotheses


def minimum_detectable(findings: Sequence[Finding], alpha: float, settings: Settings) -> NDArray[np.float64]:
    """Return sizes of disparities found with the usual power at the level `alpha` of one comparison.

    Of a rate in one stratum it is the power of the test that was run, with the two denominators and the others' rate as
    they were seen; everything else is computed from its standard error. NaN where there is none, infinity where no
    disparity is found with that power.
    """
    sizes = np.full(len(findings), np.nan)
    tables = [finding.null.table() for finding in findings]
    for disparity in ("difference", "ratio"):
        asked = [i for i, finding in enumerate(findings) if finding.null.question.disparity == disparity]
        common = {"alpha": alpha, "power": DETECTION_POWER, "disparity": disparity}
        rates = [i for i in asked if tables[i] is not None]
        if rates:
            *table, share = np.array([tables[i] for i in rates]).T
            sizes[rates] = detectable_rates(*table, share=share, method=settings.question.method, **common)  # type: ignore[arg-type]
        for i in set(asked) - set(rates):
            null, estimate = findings[i].null, findings[i].estimate
            edges = null.question.edges
            edge = 0.0 if edges is None else float(np.log(edges[1]) if disparity == "ratio" else edges[1])
            size = detectable_estimates(null.error(estimate), edge=edge, **common)[0]  # type: ignore[arg-type]
            sizes[i] = np.inf if size > estimate.bounds[1] else size
    # Not even no extreme draw among so few would be a finding.
    drawn = np.array([finding.evidence.draws is not None for finding in findings], dtype=bool)
    sizes[drawn & (alpha * (1 + settings.n_resamples) < 1)] = np.inf
    return sizes
