"""For every comparison of an audit, the smallest disparity that its people could have shown."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from skfairtest.comparisons.rows import Row
from skfairtest.comparisons.settings import Settings
from skfairtest.inference.detectable import detectable_estimates, detectable_rates
from skfairtest.inference.rates import linearized
from skfairtest.report.sentences import DETECTION_POWER


def level_of_one(settings: Settings, n_hypotheses: int) -> float:
    """Return the level that the adjustment leaves the smallest p-value of so many hypotheses."""
    if settings.adjust is None:
        return settings.alpha
    if settings.adjust == "fdr_by":
        return settings.alpha / (n_hypotheses * float((1 / np.arange(1, n_hypotheses + 1)).sum()))
    return settings.alpha / n_hypotheses


def minimum_detectable(rows: Sequence[Row], alpha: float, settings: Settings) -> NDArray[np.float64]:
    """Return sizes of disparities found with the usual power at the level `alpha` of one comparison.

    Of a rate in one stratum it is the power of the test that was run, with the two denominators and the others' rate as
    they were seen; everything else is computed from its standard error. NaN where there is none, infinity where no
    disparity is found with that power.
    """
    sizes = np.full(len(rows), np.nan)
    for disparity in ("difference", "ratio"):
        asked = [i for i, row in enumerate(rows) if row.question.disparity == disparity]
        counted = [i for i in asked if _is_single_rate(rows[i])]
        common = {"alpha": alpha, "power": DETECTION_POWER, "disparity": disparity}
        if counted:
            pairs = [rows[i].counted for i in counted]
            x2, d1, d2 = (np.array([float(getattr(pair, n)[0]) for pair in pairs]) for n in ("x2", "d1", "d2"))
            share = np.array([pair.share for pair in pairs])
            method = settings.question.method
            sizes[counted] = detectable_rates(x2 / d2, d1, d2, share=share, method=method, **common)  # type: ignore[arg-type]
        for i in set(asked) - set(counted):
            bounds = rows[i].question.margin_bounds
            edge = 0.0 if bounds is None else float(np.log(bounds[1]) if disparity == "ratio" else bounds[1])
            size = detectable_estimates(_error(rows[i]), edge=edge, **common)[0]  # type: ignore[arg-type]
            sizes[i] = np.inf if size > rows[i].ends[1] else size
    # Not even no extreme draw among so few would be a finding.
    drawn = np.array([row.drawn is not None for row in rows], dtype=bool)
    sizes[drawn & (alpha * (1 + settings.n_resamples) < 1)] = np.inf
    return sizes


def _is_single_rate(row: Row) -> bool:
    return (
        row.pair is not None and len(row.pair.x1) == 1 and row.scale.is_identity and row.question.margin_bounds is None
    )


def _error(row: Row) -> float:
    """Standard error of the difference, or of the logarithm of the ratio."""
    if row.pair is not None:
        if row.question.disparity == "ratio" and not (row.value_group > 0 and row.value_other > 0):
            return np.nan
        return float(linearized(row.pair, row.scale, row.question.disparity, smooth=0.5)[1])
    return row.spread if row.studentized else np.nan
