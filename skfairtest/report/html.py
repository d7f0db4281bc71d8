"""An audit as one HTML page that needs nothing else, and as a part of a notebook: both are made of the record alone.

Every text goes through one function on its way into a template, `_written`: what the record says is escaped there, on
one line, without control characters, whatever it is called.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from skfairtest._utils.text import label, pluralize, printable
from skfairtest.report.audit import legend, null_hypotheses
from skfairtest.report.pictures import MOST_GROUPS, Picture, disparities_picture, law_picture, values_picture
from skfairtest.report.record import AuditPart, AuditRecord
from skfairtest.report.references import methods_used
from skfairtest.report.sections import (
    Findings,
    comparison_row,
    definitions,
    figures,
    findings_of,
    parameters_of,
    value_cells,
    values_of,
    verdict_of,
)
from skfairtest.report.sentences import DETECTION_POWER, Setup, result_sentence
from skfairtest.report.text import by_p_value, excluded_table, records

try:
    import matplotlib as _drawn_with  # noqa: F401 - the first drawing would say so in the middle of a page
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup
except ImportError as error:
    raise ImportError(
        f'the HTML report needs {error.name}: python -m pip install "skfairtest[report]"', name=error.name
    ) from error

__all__ = ["audit_fragment", "audit_html"]

#: Findings of a grouping that are not folded; rows of all tables of comparisons that are not.
MOST_FINDINGS, MOST_OPEN = 3, 30


def audit_html(record: AuditRecord) -> str:
    """Write the report of an audit as one page: no network, no script, light and dark, for screens and for paper.

    Parameters
    ----------
    record : AuditRecord
        What was found.

    Returns
    -------
    str
        HTML, the same for the same record.
    """
    return _environment().get_template("page.html.j2").render(_context(record, "audit", top=1))


def audit_fragment(record: AuditRecord) -> str:
    """Write the report of an audit for a notebook: one element, whose style sheet reaches nothing outside of it.

    Parameters
    ----------
    record : AuditRecord
        What was found.

    Returns
    -------
    str
        HTML without a head.
    """
    # A notebook may show several audits; the ids of each are its own.
    digest = hashlib.blake2b(record.to_json(indent=None).encode(), digest_size=4).hexdigest()
    return _environment().get_template("fragment.html.j2").render(_context(record, f"audit-{digest}", top=2))


def _written(value: Any) -> Any:
    """Return what a template may write: our own markup as it is, anything else as a text to be escaped."""
    return value if isinstance(value, Markup) else printable(str(value))


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("skfairtest.report"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_written,
        trim_blocks=True,
        lstrip_blocks=True,
    )


@dataclass(frozen=True)
class Cell:
    """A cell of a table: what it says, and below it, smaller, what belongs to it."""

    text: str
    below: tuple[str, ...] = ()


@dataclass(frozen=True)
class Column:
    """A column: its heading, and whether it holds names of the data, numbers or words."""

    head: str
    kind: str = "number"
    #: Whether the heading is a name of the data itself.
    named: bool = False


@dataclass(frozen=True)
class Sheet:
    """A table."""

    caption: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    marked: frozenset[int] = frozenset()
    #: What stands in its place until it is unfolded; empty if it is not folded.
    folded: str = ""


@dataclass(frozen=True)
class PartView:
    """One grouping, as the template shows it."""

    name: str
    findings: Findings
    forest: Picture | None
    values: Picture | None
    rates: Sheet | None
    comparisons: Sequence[Sheet]
    excluded: Sheet | None


def _context(record: AuditRecord, prefix: str, *, top: int) -> dict[str, Any]:
    folded = sum(len(part.comparisons) for part in record.parts) > MOST_OPEN
    place, row = record.leading
    lead = record.parts[place]
    return {
        "record": record,
        "prefix": prefix,
        "top": top,
        "verdict": verdict_of(record),
        "figures": figures(record),
        "parts": [_part(part, f"{prefix}-{i}", folded) for i, part in enumerate(record.parts)],
        "leading": result_sentence(lead.facts, records(lead.comparisons.iloc[[row]])[0]),
        "law": None if record.law is None else law_picture(record.law, f"{prefix}-law"),
        "definitions": definitions(record),
        "null_hypotheses": null_hypotheses(record.parts),
        "methods": methods_used(record),
        "legend": legend(record, mark=""),
        "parameters": parameters_of(record),
        "most_findings": MOST_FINDINGS,
        "power": f"{100 * DETECTION_POWER:g} %",
    }


def _part(part: AuditPart, prefix: str, folded: bool) -> PartView:
    return PartView(
        label(part.feature),
        findings_of(part),
        disparities_picture(part, f"{prefix}-disparities"),
        values_picture(part, f"{prefix}-values"),
        _rates(part),
        _comparisons(part, folded),
        _excluded(part),
    )


def _rates(part: AuditPart) -> Sheet | None:
    """Write the values of all groups: a row for each group, a column for each metric."""
    facts, controls = part.facts, bool(part.control)
    metrics = list(dict.fromkeys(part.by_group["metric"]))
    if not metrics:
        return None
    rows = []
    for group, stratum, values in values_of(part):
        row = [Cell(label(group)), *([Cell(label(stratum))] if controls else [])]
        row.append(Cell(f"{max(value['n'] for value in values.values()):,}"))
        for metric in metrics:
            row.append(_value(facts, values[metric]) if metric in values else Cell(""))
        rows.append(row)
    columns = [
        Column(label(part.feature), "name", named=True),
        *([Column(label(facts.controls), "name", named=True)] if controls else []),
        Column("people"),
        *(Column(label(metric), named=True) for metric in metrics),
    ]
    level = f"{100 * (1 - facts.alpha):g} %"
    caption = (
        f"Values by {label(part.feature)}, each with its {level} interval and the number of people it rests on (n)"
    )
    folded = f"{pluralize(len(rows), 'group')}, {pluralize(len(metrics), 'metric')}" if len(rows) > MOST_GROUPS else ""
    return Sheet(caption, columns, rows, folded=folded)


def _value(facts: Setup, row: dict[str, Any]) -> Cell:
    value, interval, n = value_cells(facts, row)
    return Cell(value, tuple(line for line in (interval, f"n {n}") if line))


def _comparisons(part: AuditPart, folded: bool) -> list[Sheet]:
    """Write all comparisons, a table for each metric."""
    sheets = []
    for metric in dict.fromkeys(part.comparisons["metric"]):
        ordered = by_p_value(part.facts, part.comparisons[part.comparisons["metric"] == metric])
        rows = records(ordered)
        found = int(ordered["concern"].sum())
        counted = f"{pluralize(len(rows), 'comparison')}, {pluralize(found, 'concern') if found else 'no concern'}"
        sheets.append(
            Sheet(
                f"{label(metric)} by {label(part.feature)}: {counted}",
                _comparison_columns(part, metric),
                [_comparison(part, row) for row in rows],
                frozenset(i for i, row in enumerate(rows) if row["concern"]),
                f"{label(metric)}: {counted}" if folded else "",
            )
        )
    return sheets


def _comparison_columns(part: AuditPart, metric: str) -> list[Column]:
    facts = part.facts
    return [
        Column("group", "name"),
        Column("compared with", "name"),
        *([Column(label(facts.controls), "name", named=True)] if part.control else []),
        Column("value"),
        Column("against"),
        Column(facts.disparity_of(metric)),
        Column("p"),
        Column("adjusted p"),
        Column("detectable"),
        Column("verdict", "verdict-word"),
        Column("method", "word"),
    ]


def _comparison(part: AuditPart, row: dict[str, Any]) -> list[Cell]:
    cells = comparison_row(part.facts, row)

    def below(name: str, what: str = "") -> tuple[str, ...]:
        return (what + cells[name],) if cells[name] else ()

    return [
        Cell(cells["group"]),
        Cell(cells["other"]),
        *([Cell(cells["stratum"])] if part.control else []),
        Cell(cells["value"], below("n_group", "n ")),
        Cell(cells["against"], below("n_other", "n ")),
        Cell(cells["disparity"], below("interval")),
        Cell(cells["p"]),
        Cell(cells["adjusted"]),
        Cell(cells["detectable"]),
        Cell(cells["verdict"]),
        Cell(cells["method"]),
    ]


def _excluded(part: AuditPart) -> Sheet | None:
    if not len(part.excluded):
        return None
    headers, rows = excluded_table(part.excluded)
    kinds = {"metric": "name", "group": "name", "stratum": "name", "reason": "word"}
    columns = [Column("n" if name == "of whom" else name, kinds.get(name, "number")) for name in headers]
    return Sheet(f"Left out by {label(part.feature)}", columns, [[Cell(text) for text in row] for row in rows])
