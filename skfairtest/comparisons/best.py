"""Every group against the group whose value is the highest, or the lowest, in the data.

The data choose that group, so a plain test against it rejects equal groups too often. Every group is therefore compared
with every other one, p-values are adjusted for all pairs, and only then are the pairs with the best group kept: the
adjustment holds for all pairs, so it holds for these, whichever group is chosen. An interval is extended to the limits
of the group's other pairs where these reach further, so that it also covers the disparity to the truly best group.

References
----------
J. C. Hsu (1996). Multiple Comparisons: Theory and Methods. Chapter 4.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from skfairtest.comparisons.core import Finding

#: What `compare` may be, and whether the highest value is the best.
BEST = {"to_highest": True, "to_lowest": False}


def against_best(findings: Mapping[int, Finding], compare: str) -> dict[int, Finding]:
    """Keep the comparisons with the best group of one grouping, for each metric and stratum.

    Parameters
    ----------
    findings : mapping of int to Finding
        All pairs, in both orders, by their place.
    compare : {"to_highest", "to_lowest"}
        Which group is the best.

    Returns
    -------
    dict of int to Finding
        Those whose other side is the best group: of equal ones the one with most people, then the first.
    """
    highest = BEST[compare]
    together: dict[object, dict[int, Finding]] = {}
    for place, one in findings.items():
        together.setdefault((one.estimate.metric, one.estimate.contrast.stratum), {})[place] = one
    return {place: one for pairs in together.values() for place, one in _kept(pairs, highest=highest).items()}


def _kept(pairs: Mapping[int, Finding], *, highest: bool) -> dict[int, Finding]:
    sign = 1 if highest else -1
    groups = {one.estimate.contrast.first: one for one in pairs.values()}
    best = max(
        groups,
        key=lambda g: (sign * groups[g].estimate.value_group, groups[g].null.n_effective(groups[g].estimate), -g),
    )
    kept = {}
    for place, one in pairs.items():
        if one.estimate.contrast.second == best:
            own = [
                pair.interval for pair in pairs.values() if pair.estimate.contrast.first == one.estimate.contrast.first
            ]
            low, high = one.interval
            ends = (min(limits[0] for limits in own), high) if highest else (low, max(limits[1] for limits in own))
            kept[place] = replace(one, interval=(float(np.min(ends)), float(np.max(ends))))
    return kept
