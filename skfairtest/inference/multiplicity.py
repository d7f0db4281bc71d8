"""Adjustment for how many questions were asked, on logarithms of p-values.

References
----------
Holm (1979); Benjamini and Hochberg (1995); Benjamini and Yekutieli (2001).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from skfairtest.inference._discrete import Floats


def _step(log_p: Floats, factors: Floats, *, down: bool) -> Floats:
    """Multiply the sorted p-values by `factors`, then make them monotone from the smallest or the largest on."""
    order = np.argsort(log_p, kind="stable")
    adjusted = log_p[order] + np.log(factors)
    if down:
        adjusted = np.maximum.accumulate(adjusted)
    else:
        adjusted = np.minimum.accumulate(adjusted[::-1])[::-1]
    out = np.empty_like(adjusted)
    out[order] = np.minimum(adjusted, 0.0)
    return out


def holm(log_p: Floats) -> Floats:
    """Holm's step-down: controls the familywise error strongly under any dependence."""
    return _step(log_p, np.arange(len(log_p), 0, -1.0), down=True)


def bonferroni(log_p: Floats) -> Floats:
    """Bonferroni: every p-value times their number."""
    return np.asarray(np.minimum(log_p + np.log(max(len(log_p), 1)), 0.0))


def fdr_bh(log_p: Floats) -> Floats:
    """Benjamini and Hochberg: controls the false-discovery rate under independence or positive dependence."""
    k = len(log_p)
    return _step(log_p, k / np.arange(1.0, k + 1), down=False)


def fdr_by(log_p: Floats) -> Floats:
    """Benjamini and Yekutieli: controls the false-discovery rate under any dependence."""
    k = len(log_p)
    ranks = np.arange(1.0, k + 1)
    return _step(log_p, k / ranks * (1 / ranks).sum(), down=False)


def unadjusted(log_p: Floats) -> Floats:
    """Leave the p-values as they are."""
    return np.array(log_p, dtype=float)


#: What each value of `adjust` does to a family's p-values ("max_t" needs the joint law: see `max_t`).
ADJUSTMENTS: dict[str | None, Callable[[Floats], Floats]] = {
    "holm": holm,
    "bonferroni": bonferroni,
    "fdr_bh": fdr_bh,
    "fdr_by": fdr_by,
    None: unadjusted,
}
#: Adjustments whose rejections are familywise: their smallest adjusted p-value tests the global null hypothesis.
FAMILYWISE = frozenset({"holm", "bonferroni", "max_t"})
