"""The order of pairs in reports and drawings: the smaller value first."""

from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from skfairtest.report.cells import records
from skfairtest.report.draw import NullHistogram
from skfairtest.report.sentences import Setup
from skfairtest.report.sentences import turned as turned_round

#: Columns that say which side of a comparison is which.
TURNED = ("group", "other", "n_group", "n_other", "value_group", "value_other", "disparity", "ci_low", "ci_high")


def oriented(setup: Setup, comparisons: pd.DataFrame) -> pd.DataFrame:
    """Comparisons with the smaller value of each pair first, as reports and drawings show them.

    A pair has the order of its average over strata in all of them. Groups compared with a reference, their parents or
    everyone else come first, and so does the group if the alternative has a direction.

    Examples
    --------
    >>> frame = pd.DataFrame({"metric": ["selection_rate"], "group": ["a"], "other": ["b"], "stratum": [None],
    ...     "n_group": [10], "n_other": [20], "value_group": [0.5], "value_other": [0.25], "disparity": [0.25],
    ...     "ci_low": [-0.125], "ci_high": [0.5]})
    >>> frame = oriented(Setup(), frame)
    >>> frame[["group", "other", "value_group", "disparity", "ci_low", "ci_high"]].to_dict("records")
    [{'group': 'b', 'other': 'a', 'value_group': 0.25, 'disparity': -0.25, 'ci_low': -0.5, 'ci_high': 0.125}]
    """  # fmt: skip
    turned = _turned(setup, comparisons)
    if not turned.any():
        return comparisons
    rows = zip(records(comparisons), turned, strict=True)
    listed = [turned_round(setup, row) if is_turned else row for row, is_turned in rows]
    changed = {name: pd.Series([row[name] for row in listed], comparisons.index, comparisons[name].dtype)
               for name in TURNED if name in comparisons}  # fmt: skip
    return comparisons.assign(**changed)


def oriented_histogram(setup: Setup, comparisons: pd.DataFrame, row: int, histogram: NullHistogram) -> NullHistogram:
    """The null distribution of a row's comparison in the order shown; distances from a margin have no sign."""
    if setup.margin_bounds is not None or not _turned(setup, comparisons)[row]:
        return histogram
    low, high = (tuple(0.0 - end for end in reversed(ends)) for ends in (histogram.high, histogram.low))
    mass, extreme = (values[::-1] for values in (histogram.mass, histogram.extreme))
    return replace(histogram, low=low, high=high, mass=mass, extreme=extreme, observed=0.0 - histogram.observed)


def _turned(setup: Setup, comparisons: pd.DataFrame) -> NDArray[np.bool_]:
    low, high = setup.margin_bounds or (0.0, 0.0)
    two_sided = setup.alternative in ("two-sided", "equivalence") and (low == -high or np.isclose(low * high, 1.0))
    if setup.compare != "between_groups" or setup.models == "sizes" or not two_sided:
        return np.zeros(len(comparisons), dtype=bool)
    null = np.array([1.0 if setup.is_ratio(metric) else 0.0 for metric in comparisons["metric"]])
    # A metric of all groups has no group, and a metric of each group no other side.
    paired = comparisons[["group", "other"]].notna().all(axis=1).to_numpy()
    larger = (comparisons["disparity"].to_numpy(dtype=float) > null) & paired
    pairs = list(zip(*(comparisons[name] for name in ("metric", "group", "other")), strict=True))
    pooled = comparisons["stratum"].isna()
    leads = {pair: bool(is_larger) for pair, is_larger, leads in zip(pairs, larger, pooled, strict=True) if leads}
    return np.array([leads.get(pair, is_larger) for pair, is_larger in zip(pairs, larger, strict=True)], dtype=bool)
