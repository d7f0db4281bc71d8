"""Findings, null hypothesis and tables of the test for continuous sensitive features."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from skfairtest._utils.text import label, pluralize
from skfairtest.report import cells
from skfairtest.report.record import Recorded
from skfairtest.report.report import Column, Report, Table
from skfairtest.report.sentences import ADJUSTED, decimal, equals_p, sampling_error

#: What each outcome is called.
OUTCOMES = {
    "prediction": "predictions",
    "residual": "residuals (true minus predicted)",
    "absolute_error": "absolute errors",
}
#: What each correlation is called.
CORRELATIONS = {"pearson": "correlation", "spearman": "rank correlation"}


@dataclass(frozen=True)
class CorrelationSetup(Recorded):
    """What sentences need to know about how a test was set up.

    Parameters
    ----------
    outcome : str
        What is correlated with the features ("absolute errors").
    measure : str
        What the correlation is called.
    alternative : str
        As in the test.
    alpha : float
        Level of the test.
    controls : str
        Names of the control features; may be empty.
    adjust : str or None
        Adjustment that was run.
    """

    outcome: str
    measure: str
    alternative: str
    alpha: float
    controls: str
    adjust: str | None


def correlation_report(test: Any) -> Report:
    """The report of a fitted `CorrelationFairnessTest`."""
    setup: CorrelationSetup = test._setup
    rows = cells.records(cells.by_evidence(test.comparisons_))
    main, strata = ([row for row in rows if (row["stratum"] is None) is pooled] for pooled in (True, False))
    # The first sentence gives the verdict and its p-value, whatever each row is adjusted by.
    lead = {
        **cells.records(test.comparisons_)[test._leading],
        "p_value_adjusted": test.p_value_,
        "concern": test.concern_,
    }
    remarks = []
    if not test.concern_:
        remarks.append(
            "This does not prove that there is none: the interval shows which correlations the data do not rule out."
        )
    if len(main) > 1:
        remarks.append(_how_many("", main, "feature") + ".")
    if strata:
        first = next((f" {_finding(setup, row)}" for row in strata if row["concern"]), "")
        within = f"Within single levels of {label(setup.controls)} "
        remarks.append(f"{_how_many(within, strata, 'comparison')}.{first}")
    left_out = (Column("feature", "name", shows="feature"), cells.STRATUM, Column("people", shows="n"), cells.REASON)
    excluded = cells.records(test.excluded_)
    return Report(
        verdict=_finding(setup, lead),
        concern=test.concern_,
        remarks=(*remarks, *sampling_error(test.p_value_interval_)),
        hypotheses=(_null(setup),),
        tables=(_table(setup, rows),),
        left_out=(Table.of(left_out, excluded, "Left out", None),) if excluded else (),
        notes=tuple(_notes(setup, rows, several=bool(strata))),
    )


def _finding(setup: CorrelationSetup, row: Mapping[str, Any]) -> str:
    """Say what one comparison found."""
    feature, controls = label(row["feature"]), setup.controls
    where = f"In {label(row['stratum'])}, " if row["stratum"] is not None else ""
    within = f" within levels of {label(controls)}" if controls and not where else ""
    interval = cells.difference_span(lambda end: f"{round(end, 2) + 0.0:.2f}", row)
    evidence = (
        f"{setup.measure} {round(row['correlation'], 2) + 0.0:.2f} (interval {interval}), adjusted "
        f"{equals_p(row['p_value_adjusted'])}"
    )
    if row["concern"]:
        verb = "grow with" if row["correlation"] > 0 else "shrink with"
        sentence = f"{setup.outcome} {verb} {feature}{within}: {evidence}."
    else:
        sentence = f"no correlation of {setup.outcome} with {feature} was found{within}: {evidence}."
    return where + sentence if where else sentence[0].upper() + sentence[1:]


def _null(setup: CorrelationSetup) -> str:
    inside = f"within every {label(setup.controls)}, " if setup.controls else ""
    zero = {"two-sided": "zero", "greater": "at most zero", "less": "at least zero"}[setup.alternative]
    return (
        f"{inside}the {setup.measure} of {setup.outcome} with each sensitive feature is {zero}. Permuting is exact if "
        "they are independent, and is valid in large samples if they are only uncorrelated."
    )


def _table(setup: CorrelationSetup, rows: list[dict[str, Any]]) -> Table:
    columns = (
        Column("feature", "name", shows="feature"),
        bool(setup.controls) and Column(
            label(setup.controls), "name", named=True,
            shows=lambda row: f"all {label(setup.controls)}" if row["stratum"] is None else label(row["stratum"]),
        ),
        Column("people", shows="n"), Column("correlation", shows=lambda row: decimal(row["correlation"])),
        cells.interval(decimal), cells.P, cells.ADJUSTED_P, cells.VERDICT,
    )  # fmt: skip
    return Table.of(columns, cells.barred(rows, "correlation"), "Comparisons", few=cells.SHOWN)


def _notes(setup: CorrelationSetup, rows: list[dict[str, Any]], *, several: bool) -> list[str]:
    """Explain the columns; `several` says that there is a second family."""
    out = [f"p-values are adjusted for the number of sensitive features: {ADJUSTED[setup.adjust]}."]
    familywise = setup.adjust in ("holm", "bonferroni")
    together = "all features together" if familywise else "one feature at a time"
    out.append(f"Intervals are {100 * (1 - setup.alpha):g}%, for {together}.")
    if several:
        out.append("Single strata are a second family, adjusted by itself; the verdict is on the pooled comparisons.")
    return out


def _how_many(where: str, rows: list[dict[str, Any]], what: str) -> str:
    found = sum(row["concern"] for row in rows)
    return f"{where}{found} of {pluralize(len(rows), what)} {'is' if found == 1 else 'are'} significant"
