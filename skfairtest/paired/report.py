"""The report of two models: both disparities, their difference with its interval, which of them is smaller."""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from skfairtest._utils.text import enumerated, label
from skfairtest.group.report import notes
from skfairtest.paired.record import PairedRecord
from skfairtest.report.cells import (
    ADJUSTED_P,
    COMPARED_WITH,
    GROUP,
    METRIC,
    SHOWN,
    P,
    difference_span,
    excluded_tables,
    homogeneity_part,
    records,
)
from skfairtest.report.report import Cell, Column, Report, Table, bars
from skfairtest.report.sentences import (
    Setup,
    equals_p,
    metric_title,
    null_sentence,
    number,
    sampling_error,
    untested_metrics,
)

#: Comparisons that are told in sentences where none is significant.
TOLD = 3

Row = Mapping[str, Any]


def _found(found: PairedRecord) -> Report:
    """Say how the models differ, and write the table, as a report and an audit do."""
    frame, several = found.frame, len({row["feature"] for row in found.results}) > 1
    told = records(frame[frame["concern"]] if frame["concern"].any() else frame.head(TOLD))
    return Report(
        verdict=found.verdict,
        concern=found.concern,
        findings=tuple(_with_feature(found, row, several) for row in told),
        tables=(_table(found, frame, several),),
    )


def paired_report(test: Any, found: PairedRecord) -> Report:
    """The report of a fitted `PairedFairnessTest`, whose record has the names of the models."""
    setup, metrics, report = test._setup, dict.fromkeys(test.comparisons_["metric"]), _found(found)
    values = [_values(found, setup, test._values, test.by_model_)] if len(test.by_model_) else []
    return replace(
        report,
        verdict=report.verdict + untested_metrics(test.excluded_, metrics),
        remarks=tuple(sampling_error(test.p_value_interval_)),
        hypotheses=tuple(found.named(_null(setup, metric)) for metric in metrics),
        tables=(*report.tables, *values),
        parts=homogeneity_part(setup, test.homogeneity_, test.comparisons_),
        left_out=excluded_tables(test.excluded_),
        notes=tuple(notes(setup, test.comparisons_)),
    )


def paired_section(found: PairedRecord) -> Report:
    """What an audit's report says of the model in production."""
    features = enumerated([*map(label, dict.fromkeys(row["feature"] for row in found.results))])
    hypotheses = [
        f"{label(metric)}: the disparity by {features} is the same under both models; their difference is tested, "
        "whatever each of them is."
        for metric in dict.fromkeys(row["metric"] for row in found.results)
    ]
    level = (
        "Both models judged the same people. This comparison has a level of its own: p-values are adjusted by Holm's "
        "method for its comparisons together, and the verdict of the audit does not count it."
    )
    return replace(_found(found), remarks=(level,), hypotheses=tuple(hypotheses), notes=found.not_compared)


def models_report(compared: Any) -> Report:
    """The report of a `ModelComparison`: several candidates against one baseline, each with a report of its own."""
    found = {name: test._record((compared.baseline, name)) for name, test in compared.tests.items()}
    results, fairer = compared.results, compared.alternative == "fairer"
    reports: dict[str, Report] = {
        name: replace(test._report_of(found[name]), title=label(name)) for name, test in compared.tests.items()
    }
    if len(found) == 1:
        return next(iter(reports.values()))
    names = [str(name) for name in results.index[results["significant"]]]
    told = enumerated([*map(label, names)]) if names else "none"
    of_all, baseline = f"Of {len(results):,} candidates", label(compared.baseline)
    p = equals_p(float(results["p_value_adjusted"].agg("max" if fairer else "min")))
    if fairer:
        said = f"{of_all}, {told} {'is' if len(names) < 2 else 'are'} certified, in comparison with {baseline}"
    else:
        differ = "differs" if len(names) < 2 else "differ"
        said = f"{of_all}, {told} {differ} significantly from {baseline} in a disparity"

    def of(row: Row) -> PairedRecord:
        one: PairedRecord = found[row["candidate"]]
        return one

    def disparity(head: str, name: str) -> Column:
        return Column(head, shows=lambda row: of(row).text(row, name, level=of(row).kind == "one group"))

    columns = (
        Column("candidate", "name", shows="candidate"),
        Column("metric", "name", shows=lambda row: label(_titled(of(row), row))),
        Column("groups", "name", shows=lambda row: f"{label(row['group'])} and {label(row['other'])}"),
        replace(disparity(baseline, "disparity_a"), named=True), disparity("candidate's", "disparity_b"),
        Column("difference", shows=lambda row: of(row).text(row, "difference")),
        Column("at most" if fairer else "interval", shows=lambda row: _span(of(row), row, sizes=fairer)),
        ADJUSTED_P,
        Column(
            "verdict", "mark",
            shows=lambda row: ("certified" if fairer else "significant") if row["significant"] else "",
        ),
    )  # fmt: skip
    note = (
        f"Candidates are judged by Holm's method over all of them, at a level of "
        f"{100 * (1 - compared.confidence_level):.3g}%. What "
        f"follows about single comparisons of a candidate, and intervals, is at this level divided by {len(found)}, so "
        "that it holds for all candidates together. To choose a candidate by these people, and to test it, takes "
        "other people."
    )
    rows = [{**row, "candidate": str(name)} for name, row in zip(results.index, records(results), strict=True)]
    caption = "The strongest evidence about each candidate"
    return Report(
        verdict=f"{said} ({'largest' if fairer else 'smallest'} adjusted {p}).",
        concern=compared.concern_,
        remarks=(note,),
        findings=tuple(one.verdict for name, one in found.items() if one.concern != fairer and name in names),
        tables=(Table.of(columns, rows, caption, None if fairer else "significant"),),
        parts=tuple(reports.values()),
    )


def _null(setup: Setup, metric: str) -> str:
    """State the null hypothesis of one metric's comparisons."""
    if setup.models == "one group":
        happens, among = setup.told(metric)
        return f"{metric}: among {among or 'these people'}, the share who {happens} is the same under both models"
    if setup.models != "sizes":
        return null_sentence(setup, metric)
    _, margin = setup.margin_bounds or (0.0, 0.0)
    inside = f", within every {label(setup.controls)}" if setup.controls else ""
    larger = f"larger in size by {number(margin)} or more" if margin else "as large in size or larger"
    return f"{metric}: the disparity by {label(setup.features)} is {larger} under model B than under model A{inside}"


def _values(found: PairedRecord, setup: Setup, by_group: pd.DataFrame, by_model: pd.DataFrame) -> Table:
    """Write every group's values under both models, and their change with its interval."""
    keys = ("metric", "stratum", "group")
    changes = {tuple(row[key] for key in keys): row for row in records(by_group)}
    rows = [{**row, "change": changes.get(tuple(row[key] for key in keys))} for row in records(by_model)]

    def change(write: Callable[[Row], str]) -> Callable[[Row], str]:
        return lambda row: "" if row["change"] is None else write(row["change"])

    columns = (
        Column("metric", "name", shows=lambda row: label(_titled(found, row, "change in points"))), GROUP,
        bool(setup.controls) and Column(label(setup.controls), "name", named=True, shows="stratum"),
        Column("people", shows="n"), *_of_models(found, level=True),
        Column("change", shows=change(lambda row: found.text(row, "value"))),
        Column("interval", shows=change(lambda row: _span(found, row, sizes=False))),
        Column("n", shows=change(lambda row: f"{row['n_effective']:,}{', few' if row['small'] else ''}")),
    )  # fmt: skip
    level = f"{100 * (1 - setup.alpha):g}%"
    caption = f"Values under both models; changes with {level} intervals, and the people they rest on (n)"
    return Table.of(columns, rows, caption, None, few=SHOWN)


def _with_feature(found: PairedRecord, row: Row, several: bool) -> str:
    said = found.sentence(row)
    return f"By {label(row['feature'])}: {said[0].lower()}{said[1:]}" if several else said


def _table(found: PairedRecord, frame: pd.DataFrame, several: bool) -> Table:
    one_group, sizes = found.kind == "one group", found.kind == "sizes"

    def judged(row: Row) -> str:
        if sizes:
            return "" if row["concern"] else "certified"
        return label(row["smaller"]) if row["smaller"] else "other direction" if row["concern"] else ""

    columns = (
        METRIC if one_group else Column("metric", "name", shows=lambda row: _titled(found, row)),
        several and Column("feature", "name", shows="feature"), GROUP, not one_group and COMPARED_WITH,
        (frame["stratum"] != "").any() and Column("within", "name", shows=lambda row: row["stratum"]),
        *_of_models(found, level=one_group),
        Column("difference", shows=lambda row: Cell(found.text(row, "difference"), bar=row["bar"])),
        Column("at most" if sizes else "interval", shows=lambda row: _span(found, row, sizes=sizes)),
        P, ADJUSTED_P, Column("certified" if sizes else "smaller", "mark", shows=judged),
    )  # fmt: skip
    caption = "Sizes of disparities under both models" if sizes else "Disparities under both models"
    caption = f"The rates of both models among {label(frame['group'].iloc[0])}" if one_group else caption
    rows = records(frame)
    ends = [[*sorted((row["value_a"], row["value_b"])), row["value_a"]] for row in rows]
    ends = [[low, row["value_b"], high, start] for row, (low, high, start) in zip(rows, ends, strict=True)]
    kinds = ["significant" if row["concern"] != sizes else "" for row in rows]
    drawn = [None] * len(rows) if one_group else bars(ends, 0.0, kinds=kinds)
    rows = [{**row, "bar": bar} for row, bar in zip(rows, drawn, strict=True)]
    few = max(SHOWN, int(frame["concern"].sum()))
    a, b = map(label, found.names)
    note = f"Each line runs from {a} (hollow circle) to {b}; the vertical line is equality." if not one_group else ""
    return Table.of(columns, rows, caption, None if sizes else "concern", few=few, notes=(note,) if note else ())


def _of_models(found: PairedRecord, *, level: bool) -> tuple[Column, Column]:
    """Return a column for each model."""
    a, b = map(label, found.names)
    first = Column(a, named=True, shows=lambda row: found.text(row, "value_a", level=level))
    return first, Column(b, named=True, shows=lambda row: found.text(row, "value_b", level=level))


def _titled(found: PairedRecord, row: Row, unit: str = "points") -> str:
    return metric_title(row["metric"]) + (f" ({unit})" if found.writer(row["metric"])[1] else "")


def _span(found: PairedRecord, row: Row, *, sizes: bool) -> str:
    write, _ = found.writer(row["metric"])
    if math.isnan(row["ci_high"]):
        return "undefined"
    return str(write(row["ci_high"])) if sizes else difference_span(write, row)
