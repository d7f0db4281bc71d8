"""Which of two groups is named first: reports and drawings show pairs one way, whatever order a test took them in."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from skfairtest._utils.typing import Floats
from skfairtest.report.null_histogram import NullHistogram
from skfairtest.report.sentences import Setup, result_sentence

#: Columns of the two sides of a comparison.
SIDES = (("group", "other"), ("n_group", "n_other"), ("value_group", "value_other"))


def oriented(setup: Setup, comparisons: pd.DataFrame) -> pd.DataFrame:
    """Return comparisons of pairs of groups with the smaller value first, as reports and drawings show them.

    A pair has one order in all strata: that of its average over them. A group that is compared with a reference, with
    its parents or with everyone else comes first whatever its value, as it does where the alternative has a direction.

    Parameters
    ----------
    setup : Setup
        How the test was set up.
    comparisons : DataFrame
        Comparisons, in any order.

    Returns
    -------
    DataFrame
        The same rows in the same order, some of them as ``other`` against ``group``: sides are swapped, and disparities
        with their limits have the opposite sign, or are reciprocals where they are ratios. ``statistic`` is not shown
        in reports and stays.

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
    ratios = np.array([setup.is_ratio(metric) for metric in comparisons["metric"]], dtype=bool)
    changed: dict[str, Any] = {}
    for first, second in SIDES:
        a, b = (comparisons[name].to_numpy() for name in (first, second))
        for name, values in ((first, np.where(turned, b, a)), (second, np.where(turned, a, b))):
            # Of text alone pandas makes a column in which None is no longer None.
            changed[name] = pd.Series(values, index=comparisons.index, dtype=values.dtype)
    for name, source in (("disparity", "disparity"), ("ci_low", "ci_high"), ("ci_high", "ci_low")):
        here, there = (comparisons[column].to_numpy(dtype=float) for column in (name, source))
        changed[name] = np.where(turned, _opposite(there, ratios), here)
    return comparisons.assign(**changed)


def oriented_histogram(setup: Setup, comparisons: pd.DataFrame, row: int, histogram: NullHistogram) -> NullHistogram:
    """Return the null distribution of the comparison in a row, as that comparison is shown.

    A distance from a margin has no sign of the kind, and stays as it is.
    """
    if setup.margin_bounds is not None or not _turned(setup, comparisons)[row]:
        return histogram
    low, high = (tuple(0.0 - end for end in reversed(ends)) for ends in (histogram.high, histogram.low))
    mass, extreme = (values[::-1] for values in (histogram.mass, histogram.extreme))
    return replace(histogram, low=low, high=high, mass=mass, extreme=extreme, observed=0.0 - histogram.observed)


def result_sentences(setup: Setup, comparisons: pd.DataFrame) -> list[str]:
    """Say what each comparison of an audit says, as reports do."""
    rows = oriented(setup, comparisons).to_dict("records")
    return [result_sentence(setup, row) for row in rows]  # type: ignore[arg-type]


def _turned(setup: Setup, comparisons: pd.DataFrame) -> NDArray[np.bool_]:
    """The mask of comparisons that are shown the other way round."""
    if (
        setup.compare != "between_groups"
        or setup.models == "sizes"
        or setup.alternative not in ("two-sided", "equivalence")
    ):
        return np.zeros(len(comparisons), dtype=bool)
    null = np.array([1.0 if setup.is_ratio(metric) else 0.0 for metric in comparisons["metric"]])
    # Only pairs: a metric of everybody has no group, and one of each group nobody whom it is compared with.
    paired = comparisons[["group", "other"]].notna().all(axis=1).to_numpy()
    larger = (comparisons["disparity"].to_numpy(dtype=float) > null) & paired
    pairs = list(zip(*(comparisons[name] for name in ("metric", "group", "other")), strict=True))
    pooled = comparisons["stratum"].isna()
    leads = {pair: bool(is_larger) for pair, is_larger, leads in zip(pairs, larger, pooled, strict=True) if leads}
    return np.array([leads.get(pair, is_larger) for pair, is_larger in zip(pairs, larger, strict=True)], dtype=bool)


def _opposite(disparity: Floats, ratios: NDArray[np.bool_]) -> Floats:
    with np.errstate(divide="ignore"):
        return np.where(ratios, 1 / disparity, 0.0 - disparity)
