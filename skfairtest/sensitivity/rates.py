"""Sensitivity of tests of rates: to wrong labels, labels of selected people, missing groups, unmeasured confounders.

Each comparison is tested over everything that is possible (`skfairtest.inference.relabelling`, and for missing groups
`skfairtest.inference.unknown`). The verdict of the whole test may turn where it turns with the largest p-values of all
comparisons, or with the smallest ones. Of several comparisons these need not be possible at the same time, so that a
verdict may survive more than is said, and never less.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Self

import numpy as np
import pandas as pd

from skfairtest._utils.checks import check_choice
from skfairtest._utils.errors import ParameterError
from skfairtest._utils.typing import Booleans, Floats, Integers
from skfairtest.comparisons.contrasts import BEST
from skfairtest.comparisons.core import Comparison, Measured, Result
from skfairtest.comparisons.family import p_of
from skfairtest.comparisons.measure import by_labels, is_counted
from skfairtest.comparisons.rates import RateNull
from skfairtest.comparisons.unknown import Unassigned, UnknownNull, with_p_values
from skfairtest.inference.relabelling import (
    Side,
    assigned_p_values,
    completed_p_values,
    disparity_ends,
    relabelled,
)
from skfairtest.inference.unknown import PValueBounds
from skfairtest.metrics import Rate
from skfairtest.metrics.rates import CELLS
from skfairtest.sensitivity.result import EVERY, ONE, VIOLATIONS, Sensitivity, largest_surviving

#: P-values and disparities that the comparison at a place may have with an amount of a violation, in one group or
#: (None) in every group.
Bounds = Callable[[int, float, int | None], tuple[PValueBounds, tuple[float, float]]]


@dataclass(frozen=True)
class Counted:
    """What a sensitivity analysis needs of a fitted test: counts, no people.

    Parameters
    ----------
    result : Result or None
        What was found; None where there is no analysis.
    refused : str
        Why there is none.
    cells : ndarray of int, shape (n_groups, 4), or None
        People of each group by truth and prediction; None over strata, and of more than two labels.
    masks : dict of str to (ndarray, ndarray)
        Which of these show each rate's event, and who meets its condition.
    unassigned : Unassigned or None
        People of unknown group.
    """

    result: Result | None
    refused: str = ""
    cells: Integers | None = None
    masks: Mapping[str, tuple[Booleans, Booleans]] = field(default_factory=dict)
    unassigned: Unassigned | None = None

    @classmethod
    def of(cls, result: Result) -> Self:
        """Take the counts of a result."""
        measured = result.measured
        settings, sample = measured.settings, measured.sample
        assert sample is not None
        refused = {f"metric={metric.name!r}": not isinstance(metric, Rate) for metric in measured.metrics} | {
            "people with sample_weight or in clusters, or variance='bootstrap' or 'jackknife'": not is_counted(
                sample, settings
            ),
            f"method={settings.question.method!r}": settings.question.method not in ("auto", "exact", "asymptotic"),
            "adjust='max_t'": settings.adjust == "max_t",
            f"compare={settings.compare!r}": settings.compare in ("to_overall", *BEST),
        }
        reason = next((what for what, bad in refused.items() if bad), "")
        if reason:
            return cls(None, reason)
        cells = None
        if measured.table is not None and "y_true" in measured.table.cell_names and len(sample.labels) <= 2:
            counts, labels, _ = by_labels(measured.table, measured.pos_label)
            if len(counts) == 1:
                predicted = labels.get("y_pred", np.zeros(counts.shape[2], dtype=bool))
                place = 2 * ~labels["y_true"] + ~predicted
                cells = np.stack([counts[0][:, place == one].sum(axis=1) for one in range(4)], axis=1)
        unassigned = None
        if sample.n_unknown and not sample.named and not sample.control_names:
            unassigned = Unassigned.of(measured, sample)
        # Without people.
        light = replace(measured, sample=None, metrics=(), by_metric={}, design=None, table=None)
        masks = {rate.name: rate.masks(CELLS) for rate in measured.metrics if isinstance(rate, Rate)}
        return cls(replace(result, measured=light), "", cells, masks, unassigned)

    @property
    def measured(self) -> Measured:
        """What was measured."""
        assert self.result is not None
        return self.result.measured


@dataclass(frozen=True)
class Analysis:
    """How an assumption is violated: bounds, amounts that may be survived, and groups in which it is violated alone.

    `base` is what was found, where nothing is violated.
    """

    bounds: Bounds
    candidates: Floats
    base: Result
    groups: tuple[int, ...] = ()

    def ends(self, amount: float, group: int | None) -> tuple[list[Any], list[Result]]:
        """The bounds of each comparison, and what would be found with the smallest and with the largest p-values."""
        measured = self.base.measured
        found = [self.bounds(place, amount, group) for place in range(len(measured.comparisons))]
        return found, [with_p_values(measured, [getattr(p, end) for p, _ in found]) for end in ("low", "high")]

    def turns(self, amount: float, group: int | None) -> bool:
        """Whether the verdict may turn."""
        return any(end.verdict.concern is not self.base.verdict.concern for end in self.ends(amount, group)[1])

    def rows(self, amount: float, group: int | None) -> list[dict[str, Any]]:
        """What each comparison may be."""
        found, (low, high) = self.ends(amount, group)
        ends = zip(found, self.base.findings, low.findings, high.findings, strict=True)
        return [
            {
                "metric": one.estimate.metric, "group": one.estimate.group, "other": one.estimate.other,
                "stratum": one.estimate.stratum, "disparity_low": disparity[0], "disparity_high": disparity[1],
                "p_value_low": p_of(p.low), "p_value_high": p_of(p.high),
                "p_value_adjusted_low": p_of(least.log_p_adjusted), "p_value_adjusted_high": p_of(most.log_p_adjusted),
                "turns": one.concern is not least.concern or one.concern is not most.concern,
                "attained": p.attained, "method": p.method,
            }
            for (p, disparity), one, least, most in ends
        ]  # fmt: skip


def sensitivity_of(counted: Counted, to: str, at: Any) -> Sensitivity:
    """Analyse how far a test's verdict depends on an assumption.

    Raises
    ------
    ValueError
        If there is no such analysis of this test.
    """
    check_choice("to", to, KINDS)
    if counted.result is None:
        raise ParameterError(
            f"to={to!r} is for rates of people who count alike, whose p-values are enumerated or asymptotic, and not "
            f"for {counted.refused}"
        )
    violation = VIOLATIONS[to]
    amounts, analysis = violation.amounts(at), KINDS[to](counted, counted.result)
    within: dict[str, Sequence[int | None]] = {ONE: analysis.groups} if analysis.groups else {}
    within[EVERY] = [None]
    rows = [
        {violation.parameter: amount, "within": where, **row}
        for amount in amounts
        for where, each in within.items()
        for row in _together([analysis.rows(amount, group) for group in each])
    ]
    survives = {}
    for where, each in within.items():

        def turns(amount: float, each: Sequence[int | None] = each) -> bool:
            return any(analysis.turns(amount, group) for group in each)

        survives[where] = largest_surviving(turns, analysis.candidates)
    strata = any(row["stratum"] is not None for row in rows)
    unused = {"within": not analysis.groups, "stratum": not strata}
    frame = pd.DataFrame(rows).drop(columns=[name for name, drop in unused.items() if drop])
    question, concern = analysis.base.measured.settings.question, analysis.base.verdict.concern
    if question.alternative == "equivalence":
        verdict = "Not certified" if concern else "Certified"
    else:
        verdict = "Significant disparity" if concern else "No significant disparity"
    return Sensitivity(to, verdict, frame, survives, violation, question.disparity)


def _together(found: Sequence[list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Return the ends over what is possible in one group or another, a row for each comparison."""
    out = []
    for rows in zip(*found, strict=True):
        ends = {
            name: (min if name.endswith("_low") else max)(row[name] for row in rows)
            for name in rows[0]
            if name.endswith(("_low", "_high"))
        }
        widest = max(rows, key=lambda row: row["p_value_high"])
        turns = any(row["turns"] for row in rows)
        out.append({**widest, **ends, "turns": turns, "attained": all(row["attained"] for row in rows)})
    return out


def _sides(counted: Counted, one: Comparison) -> tuple[list[int], list[int]]:
    """The groups on both sides of a comparison."""
    assert counted.cells is not None
    contrast = one.estimate.contrast
    return [contrast.first], contrast.others(len(counted.cells))


def _check_cells(counted: Counted, what: str) -> Integers:
    if not any((mask[:2] != mask[2:]).any() for both in counted.masks.values() for mask in both):
        raise ParameterError(f"to={what!r} is about true labels, which {', '.join(counted.masks)} does not read")
    if counted.cells is None:
        raise ParameterError(
            f"to={what!r} counts completed tables of two labels in one stratum; this test has more labels, or averages "
            "over strata of control_features: use to='confounding', or a test without control_features"
        )
    if counted.measured.settings.question.disparity == "odds_ratio":
        raise ParameterError(
            f"to={what!r} has no bounds of disparity='odds_ratio': use 'difference' or 'ratio', whose tests of "
            "equality have them"
        )
    return counted.cells


def _label_noise(counted: Counted, base: Result) -> Analysis:
    cells = _check_cells(counted, "label_noise")
    n = cells.sum(axis=1)

    def side(one: Comparison, groups: Sequence[int], budgets: Sequence[int]) -> Side:
        limits = np.array(
            [
                [(-min(k, c[0]), min(k, c[2])), (-min(k, c[1]), min(k, c[3]))]
                for k, c in zip(budgets, cells[groups], strict=True)
            ]
        ).sum(axis=0)
        event, given = counted.masks[one.estimate.metric]
        found = relabelled(cells[groups].sum(axis=0), event, given, limits.tolist(), sum(budgets))
        # Where a group has no more labels to change, what is left of its share is not another group's.
        bound = len(groups) > 1 and any(k > c.min() for k, c in zip(budgets, cells[groups], strict=True))
        return replace(found, attained=not bound)

    @cache
    def known(place: int, *budgets: tuple[int, ...]) -> tuple[PValueBounds, tuple[float, float]]:
        one = counted.measured.comparisons[place]
        if not any(map(sum, budgets)):
            return _as_found(one)
        first, second = (side(one, *both) for both in zip(_sides(counted, one), budgets, strict=True))
        return _completed(one, first, second)

    def bounds(place: int, amount: float, group: int | None) -> tuple[PValueBounds, tuple[float, float]]:
        sides = _sides(counted, counted.measured.comparisons[place])
        return known(
            place, *(tuple(int(amount * n[g] + 1e-9) if group in (None, g) else 0 for g in of) for of in sides)
        )

    involved = sorted({g for one in counted.measured.comparisons for groups in _sides(counted, one) for g in groups})
    most = int(n[involved].max())
    return Analysis(bounds, np.arange(most + 1) / most, base, tuple(involved))


def _as_found(one: Comparison) -> tuple[PValueBounds, tuple[float, float]]:
    found, disparity = one.in_family.evidence, one.estimate.disparity
    return PValueBounds(found.log_p, found.log_p, found.method, None, attained=True), (disparity, disparity)


def _completed(one: Comparison, first: Side, second: Side) -> tuple[PValueBounds, tuple[float, float]]:
    null = one.null
    assert isinstance(null, RateNull)
    found = completed_p_values(first, second, null.scale, null.question)
    return found, disparity_ends(first, second, null.scale, null.question.disparity)


def _missing_groups(counted: Counted, base: Result) -> Analysis:
    unassigned = counted.unassigned
    if unassigned is None:
        raise ParameterError(
            "to='missing_groups' needs people of whom a sensitive feature is missing: fit the test with "
            "missing='exclude' or 'bounds', without control_features; found none"
        )

    def bounds(place: int, amount: float, group: int | None) -> tuple[PValueBounds, tuple[float, float]]:
        one = counted.measured.comparisons[place]
        null = one.null
        assert isinstance(null, RateNull)
        unknown = unassigned.reach(one.estimate, amount)
        found = assigned_p_values(null.pair, unknown, null.scale, null.question)
        return found, UnknownNull(null.question, null.pair, null.scale, unknown, found).disparities()

    if base.measured.settings.missing == "bounds":  # what would be found without them
        nobody = [bounds(place, 0.0, None)[0].high for place in range(len(base.measured.comparisons))]
        base = with_p_values(base.measured, nobody)
    return Analysis(bounds, np.arange(1001) / 1000, base)


KINDS: dict[str, Callable[[Counted, Result], Analysis]] = {
    "label_noise": _label_noise,
    "missing_groups": _missing_groups,
}
