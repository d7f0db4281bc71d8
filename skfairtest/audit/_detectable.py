"""For every comparison of an audit, the smallest disparity that its people could have shown."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from skfairtest.group._rows import Row
from skfairtest.inference.detectable import detectable_estimates, detectable_rates
from skfairtest.report.words import DETECTION_POWER


def minimum_detectable(rows: Sequence[Row], alpha: float) -> NDArray[np.float64]:
    """Return sizes of disparities found with the usual power at the level `alpha` of one comparison.

    Of a rate in one stratum the two denominators and the others' rate are taken as they were seen; of everything else
    the standard error. NaN where there is none, infinity where no disparity is found with that power.
    """
    sizes = np.full(len(rows), np.nan)
    for disparity in ("difference", "ratio"):
        asked = [i for i, row in enumerate(rows) if row.question.disparity == disparity]
        counted = [i for i in asked if _is_single_rate(rows[i])]
        others = [i for i in asked if i not in set(counted)]
        common = {"alpha": alpha, "power": DETECTION_POWER, "disparity": disparity}
        if counted:
            pairs = [rows[i].counted for i in counted]
            x2, d1, d2 = (np.array([float(getattr(pair, n)[0]) for pair in pairs]) for n in ("x2", "d1", "d2"))
            share = np.array([pair.share for pair in pairs])
            sizes[counted] = detectable_rates(x2 / d2, d1, d2, share=share, **common)  # type: ignore[arg-type]
        for i in others:
            edges = rows[i].question.edges
            edge = 0.0 if edges is None else float(np.log(edges[1]) if disparity == "ratio" else edges[1])
            size = detectable_estimates(_error(rows[i]), edge=edge, **common)[0]  # type: ignore[arg-type]
            sizes[i] = np.inf if size > rows[i].ends[1] else size
    return sizes


def _is_single_rate(row: Row) -> bool:
    return row.pair is not None and len(row.pair.x1) == 1 and row.scale.is_identity and row.question.edges is None


def _error(row: Row) -> float:
    """Standard error of the difference, or of the logarithm of the ratio."""
    if np.isfinite(row.spread):
        return row.spread if row.studentized else np.nan
    return row.standard_error
