"""Findings, null hypothesis and table of the test for disparities given covariates."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from skfairtest._utils.text import enumerated, label, pluralize
from skfairtest.report import cells
from skfairtest.report.record import Recorded
from skfairtest.report.report import Column, Report, Table
from skfairtest.report.sentences import ADJUSTED, decimal, number, points, sampling_error, share_digits, smallest_p

#: What each outcome is called.
OUTCOMES = {
    "prediction": "predictions",
    "score": "scores",
    "residual": "residuals (true minus predicted)",
    "absolute_error": "absolute errors",
}
#: From this share of its variance on, predicted by covariates, a group is hardly found among others.
SEPARATED = 0.9


@dataclass(frozen=True)
class AdjustedSetup(Recorded):
    """What sentences need to know about how a test was set up.

    Parameters
    ----------
    outcome : str
        What is compared ("predictions").
    share : bool
        Whether it is 0 or 1, so that differences are percentage points.
    compare : str
        As in the test.
    covariates : tuple of str
        Names of the covariates.
    alternative : str
        As in the test.
    alpha : float
        Level of the test.
    adjust : str or None
        Adjustment that was run.
    models : tuple of (str or None, str or None)
        Classes of the models of the outcome and of the group; None: the default.
    """

    outcome: str
    share: bool
    compare: str
    covariates: tuple[str, ...]
    alternative: str
    alpha: float
    adjust: str | None
    models: tuple[str | None, ...]

    @property
    def given(self) -> str:
        """The covariates in a sentence."""
        return enumerated([*map(label, self.covariates)])

    def other(self, row: Mapping[str, Any]) -> str:
        """Say whom the group of a comparison is compared with."""
        return cells.EVERYBODY.get(self.compare, label(row["other"]))


def caution(doubts: Sequence[tuple[Any, Any, str, float, float]]) -> str:
    """Say what models may have missed; nothing where there is no doubt.

    Parameters
    ----------
    doubts : sequence of (group, other, what, explained, by_neighbours)
        In which comparisons, of what ("outcome" or "group"), and the shares of its variance that the model explains and
        that averages of the people with the most similar covariates explain.
    """
    if not doubts:
        return ""
    group, other, *_ = doubts[0]
    shares = [
        f"of the {what} models explain {100 * max(explained, 0):.0f}% of the variance, and averages of the people "
        f"with the most similar covariates {100 * max(near, 0):.0f}%"
        for first, second, what, explained, near in doubts
        if (first, second) == (group, other)
    ]
    others = len({doubt[:2] for doubt in doubts}) - 1
    more = f" (and {pluralize(others, 'other comparison')})" if others else ""
    return (
        f"Caution: the models may have missed how covariates affect the outcome or the group. Of {label(group)} and "
        f"{label(other)}{more}, {'; '.join(shares)}. What is missed can look like a disparity: compare other models "
        "(outcome_model, group_model) and what they explain."
    )


def adjusted_report(test: Any) -> Report:
    """The report of a fitted `AdjustedFairnessTest`."""
    setup: AdjustedSetup = test._setup
    comparisons, concern = test.comparisons_, test.concern_
    # The first sentence gives the verdict and its p-value, whatever each row is adjusted by.
    lead = cells.records(comparisons)[test._leading]
    rows = cells.records(comparisons.sort_values(["p_value"], kind="stable"))
    remarks = [*([test.caution_] if test.caution_ else []), _unadjusted(setup, lead)]
    if not concern:
        remarks.append(
            "This does not prove that there is none: the interval shows which disparities the data do not rule out."
        )
    remarks += sampling_error(test.p_value_interval_)
    if len(rows) > 1:
        n = sum(row["concern"] for row in rows)
        remarks.append(f"{n} of {len(rows)} comparisons {'is' if n == 1 else 'are'} significant.")
    return Report(
        verdict=_finding(setup, lead, smallest_p(test.p_value_, len(rows)), concern=concern),
        concern=concern,
        remarks=tuple(remarks),
        hypotheses=(_null(setup),),
        tables=(_table(setup, rows),),
        left_out=cells.excluded_tables(test.excluded_),
        notes=tuple(_notes(setup, rows)),
    )


def _writer(setup: AdjustedSetup, row: Mapping[str, Any]) -> tuple[Callable[[float], str], str]:
    """The format of a row's differences, and their unit."""
    if not setup.share:
        return number, ""
    digits = share_digits(row["disparity"], row["unadjusted"])
    return partial(points, digits=digits), " percentage points"


def _interval(setup: AdjustedSetup, row: Mapping[str, Any]) -> str:
    write, _ = _writer(setup, row)
    return f"interval {cells.difference_span(write, row)}"


def _finding(setup: AdjustedSetup, row: Mapping[str, Any], p: str, *, concern: bool) -> str:
    """Say what one comparison found."""
    group, other = label(row["group"]), setup.other(row)
    write, unit = _writer(setup, row)
    of = f"{setup.outcome} of {group} and {other}"
    if not concern:
        average = f"adjusted difference {write(row['disparity'])}{unit} ({_interval(setup, row)}), {p}"
        return f"No significant disparity given {setup.given} was detected between {of}: {average}."
    more = "higher" if row["disparity"] > 0 else "lower"
    return (
        f"Significant disparity: given {setup.given}, {setup.outcome} of {group} are "
        f"{write(abs(row['disparity']))}{unit} {more} than those of {other} ({_interval(setup, row)}), {p}."
    )


def _unadjusted(setup: AdjustedSetup, row: Mapping[str, Any]) -> str:
    write, unit = _writer(setup, row)
    return (
        f"Without adjustment the difference between {label(row['group'])} and {setup.other(row)} is "
        f"{write(row['unadjusted'])}{unit}."
    )


def _null(setup: AdjustedSetup) -> str:
    how = {"greater": "not greater in one group than in the other", "less": "not less in one group than in the other"}
    same = how.get(setup.alternative, "the same in both groups")
    return (
        f"given {setup.given}, the mean of {setup.outcome} is {same}. The generalised covariance measure tests "
        "it, which is valid in large samples if models predict the outcome and the group well from the covariates."
    )


def _table(setup: AdjustedSetup, rows: list[dict[str, Any]]) -> Table:
    write = decimal if setup.share else number
    columns = (
        cells.GROUP, replace(cells.COMPARED_WITH, shows=setup.other), Column("people", shows="n_group"),
        Column("others", shows="n_other"), Column("unadjusted", shows=lambda row: write(row["unadjusted"])),
        Column("adjusted", shows=lambda row: write(row["disparity"])), cells.interval(write), cells.P,
        cells.ADJUSTED_P, cells.VERDICT,
    )  # fmt: skip
    return Table.of(columns, cells.barred(rows), f"Differences in {setup.outcome} given {setup.given}", few=cells.SHOWN)


def _notes(setup: AdjustedSetup, rows: list[dict[str, Any]]) -> list[str]:
    """Explain the columns, and say how much depends on the models."""
    names = [name or "the default (curves, then boosted trees)" for name in setup.models]
    tested = [row for row in rows if not np.isnan(row["disparity"])]
    least = {name: 100 * min(row[name] for row in tested) for name in ("outcome_explained", "group_explained")}
    most = {name: 100 * max(row[name] for row in tested) for name in least}

    def span(name: str) -> str:
        low, high = f"{max(least[name], 0):.0f}", f"{max(most[name], 0):.0f}"
        return f"{low}%" if low == high else f"{low}% to {high}%"

    same = names[0] == names[1]
    by = f"{names[0]} for both" if same else f"{names[0]} for the outcome, {names[1]} for the group"
    out = [
        f"Of people whom a model has not seen, covariates explain {span('outcome_explained')} of the variance of the "
        f"outcome and {span('group_explained')} of that of the group (models: {by}).",
        "The adjusted difference is an average in which people count most whose covariates are found in both groups.",
    ]
    if most["group_explained"] >= 100 * SEPARATED:
        out.append(
            "The covariates nearly determine the group: hardly anyone has a counterpart in the other one, and the "
            "comparison rests on few people."
        )
    if len(rows) > 1:
        how = ADJUSTED.get(setup.adjust, str(setup.adjust))
        out.append(f"p-values are adjusted for {pluralize(len(rows), 'comparison')}: {how}.")
    for row in rows:
        if row not in tested:
            of, why = f"{label(row['group'])} and {setup.other(row)}", row["method"].removeprefix("undefined: ")
            out.append(f"Of {of}, {why}: the difference is undefined, and counts as a hypothesis with p = 1.")
    return out
