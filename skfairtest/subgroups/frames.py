"""What a scan found as frames, and how subgroups are called."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from skfairtest._utils.text import label
from skfairtest._utils.typing import Floats
from skfairtest.comparisons.family import p_of
from skfairtest.report.cells import records
from skfairtest.subgroups.scan import Scanned, Step
from skfairtest.tables.subgroups import NotSearched, Subgroups

#: Columns of a subgroup, and of one that is reported.
COLUMNS = (
    "metric", "subgroup", "disparity", "compared_with", "depth", "n_group", "n_other", "n_effective", "value_group",
    "value_other", "statistic", "reported", "p_value", "p_value_adjusted", "concern",
)  # fmt: skip
REPORTED_COLUMNS = (
    "metric", "subgroup", "disparity", "ci_low", "ci_high", "compared_with", "depth", "n_group", "n_other",
    "n_effective", "value_group", "value_other", "statistic", "sentence", "p_value", "p_value_given_above",
    "p_value_adjusted",
)  # fmt: skip


def terms_of(subgroups: Subgroups, binned: Sequence[bool]) -> list[list[str]]:
    """Return each value of each feature as a term of a description: "sex = Female", "age 25 to 34"."""
    return [
        [f"{label(column.name)}{' ' if cut else ' = '}{label(level)}" for level in column.levels]
        for column, cut in zip(subgroups.cells.features, binned, strict=True)
    ]


def described(subgroups: Subgroups, terms: list[list[str]]) -> tuple[list[str], list[str]]:
    """Return the description of each subgroup, and of whom it is compared with."""
    names, others = np.empty(len(subgroups), dtype=object), np.empty(len(subgroups), dtype=object)
    contextual = subgroups.cells.contextual
    for number, features in enumerate(subgroups.combinations):
        rows = np.flatnonzero(subgroups.combination == number)
        codes = np.unravel_index(subgroups.entry[rows], [subgroups.cells.sizes[f] for f in features])
        parts = [[terms[f][c] for c in code.tolist()] for f, code in zip(features, codes, strict=True)]
        within = [part for f, part in zip(features, parts, strict=True) if contextual[f]]
        names[rows] = [", ".join(one) for one in zip(*parts, strict=True)]
        others[rows] = (
            [f"others with {', '.join(one)}" for one in zip(*within, strict=True)] if within else "everyone else"
        )
    return names.tolist(), others.tolist()


def subgroups_frame(
    tested: Scanned, log_adjusted: Floats, reported: Sequence[Step], terms: list[list[str]], alpha: float
) -> pd.DataFrame:
    """Return a row for each subgroup of one metric, in the order of `tested`."""
    subgroups = tested.subgroups
    names, others = described(subgroups, terms)
    people, rest = np.zeros(len(subgroups)), np.zeros(len(subgroups))
    for rows, first, second in subgroups.sides(tested.people):
        people[rows], rest[rows] = first[:, 0, 0], second[:, 0, 0]
    value, other = tested.measure.sums.values(tested.own, tested.rest)
    chosen = np.zeros(len(subgroups), dtype=bool)
    chosen[[step.row for step in reported]] = True
    columns = (
        tested.measure.metric.name, names, value - other, others, subgroups.depth, people.astype(np.int64),
        rest.astype(np.int64), tested.measure.sums.counted(tested.own).astype(np.int64), value, other, tested.scores,
        chosen, exact(tested.log_p), exact(log_adjusted), log_adjusted <= np.log(alpha) + 1e-12,
    )  # fmt: skip
    return pd.DataFrame(dict(zip(COLUMNS, columns, strict=True)), index=range(len(subgroups)))


def exact(log_p: Floats) -> list[float]:
    """Return p-values of logarithms."""
    return [p_of(one) for one in log_p.tolist()]


def limits_of(tested: Scanned, row: int, error: float) -> tuple[float, float]:
    """Return the interval of one subgroup's disparity that misses with a probability of `error`."""
    return tested.measure.sums.limits(tested.own[row], tested.rest[row], tested.alternative, error)


def results_frame(
    frames: Sequence[pd.DataFrame], tested: Sequence[Scanned], chosen: Sequence[Sequence[Step]],
    errors: Callable[[int], float], sentence: Callable[[dict[str, Any]], str],
) -> pd.DataFrame:  # fmt: skip
    """Return the subgroups that are reported, of each metric in the order in which they were chosen.

    `errors` gives the probability with which each interval may miss, of their number; `sentence` writes a row.
    """
    total = sum(map(len, chosen))
    rows = []
    for frame, one, steps in zip(frames, tested, chosen, strict=True):
        for step in steps:
            low, high = limits_of(one, step.row, errors(total))
            (row,) = records(frame.iloc[[step.row]])
            row |= {"ci_low": low, "ci_high": high, "p_value_given_above": p_of(step.log_p)}
            rows.append({**row, "sentence": sentence(row)})
    return pd.DataFrame(rows, columns=REPORTED_COLUMNS)


def not_searched_frame(left_out: Sequence[NotSearched]) -> pd.DataFrame:
    """The subgroups that were not searched: how many for each combination of features, and why."""
    rows = [(" x ".join(map(label, one.features)), one.subgroups, one.reason) for one in left_out]
    return pd.DataFrame(rows, columns=["features", "subgroups", "reason"])


def by_evidence(frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Put the subgroups of all metrics together, in the order of their p-values; ties: the shorter description."""
    together = pd.concat(frames, ignore_index=True)
    order = np.lexsort((together["depth"], together["p_value"]))
    return together.iloc[order].reset_index(drop=True)
