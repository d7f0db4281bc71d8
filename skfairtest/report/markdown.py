"""An audit as a section of a model card, in the Markdown that code hosts and model hubs show.

Names of groups, features and metrics are data: every character that could mean something is written so that it means
itself, whether raw HTML is allowed where the section is shown or not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from skfairtest._utils.text import label, pluralize, printable
from skfairtest.report.audit import null_hypotheses
from skfairtest.report.record import AuditPart, AuditRecord
from skfairtest.report.references import methods_used
from skfairtest.report.sections import (
    comparison_row,
    definitions,
    figures,
    findings_of,
    parameters_of,
    value_cells,
    values_of,
    verdict_of,
)
from skfairtest.report.sentences import DETECTION_POWER
from skfairtest.report.text import by_p_value, excluded_table, records

__all__ = ["audit_markdown", "text"]

#: Rows of the table of a grouping: findings up to MOST, others up to FEW. The page and the record have all.
FEW, MOST = 5, 20

_ACTIVE = re.compile(r"[\\`*\[\]<>|~&{}$#^]|(?<=\{)%|%(?=\})|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
#: Addresses become links by themselves.
_SCHEME, _WWW = re.compile(r":(?=//)"), re.compile(r"(?i)(?<=www)\.")
#: What would make a list, a rule, a title, a directive, a comment or a target of the line that it begins.
_BEGINS = re.compile(r"\d+(?=[.)])|(?=[-+=:%(])")
#: No address and no mention of somebody begins with it, and nobody sees it.
_WORD_JOINER = "\u2060"


def text(said: str) -> str:
    r"""Write a text so that Markdown shows it as it is, on one line.

    Examples
    --------
    >>> print(text("*a* | <b>"))
    \*a\* \| \<b\>
    """
    escaped = _ACTIVE.sub(r"\\\g<0>", printable(said))
    escaped = _WWW.sub(r"\\.", _SCHEME.sub(r"\\:", escaped))
    return escaped.replace("@", f"@{_WORD_JOINER}")


def _line(said: str) -> str:
    """Write a text that begins a line."""
    escaped = text(said.strip())
    special = _BEGINS.match(escaped)
    return escaped if special is None else f"{special[0]}\\{escaped[special.end() :]}"


def audit_markdown(record: AuditRecord) -> str:
    """Write an audit as a section of a model card.

    Parameters
    ----------
    record : AuditRecord
        What was found.

    Returns
    -------
    str
        Markdown with tables, which begins with a heading of the second level. The same for the same record.
    """
    blocks = [
        f"## {text(record.title)}",
        *map(_line, record.about),
        f"**{_line(verdict_of(record))}**",
        f"{', '.join(f'{name}: {text(number)}' for name, number in figures(record))}.",
        *_findings(record.parts),
        "### Values by group",
        _items(f"{text(name)}: {text(said)}" if said else text(name) for name, said in definitions(record)),
        *(block for part in record.parts for block in _rates(part)),
        "### Comparisons",
        _comparisons_lead(record),
        *(block for part in record.parts for block in _comparisons(part)),
        "### Left out",
        *_left_out(record),
        "### How this was measured",
        "Null hypotheses:",
        _items(map(_line, null_hypotheses(record.parts))),
        "Methods:",
        _items(f"{text(method.says)} {text(method.citation)}" for method in methods_used(record)),
        *_reproducing(record),
        *map(_line, record.sources),
    ]
    return "\n\n".join(blocks) + "\n"


def _items(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]], numbers: frozenset[int] = frozenset()) -> str:
    rules = ["---:" if place in numbers else "---" for place in range(len(columns))]
    lines = [[text(column) for column in columns], rules, *([text(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _findings(parts: Sequence[AuditPart]) -> Iterator[str]:
    yield "### Findings"
    for part in parts:
        found = findings_of(part)
        shown = found.sentences[:FEW]
        lead = found.lead
        if len(shown) < len(found.sentences):
            lead = f"{lead.removesuffix(':')}. The first {len(shown)}:"
        yield f"By {text(label(part.feature))}: {text(lead)}"
        if shown:
            yield _items(map(_line, shown))


def _rates(part: AuditPart) -> Iterator[str]:
    facts = part.facts
    metrics = list(dict.fromkeys(part.by_group["metric"]))
    if not metrics:
        return
    controls = [label(facts.controls)] if part.control else []
    rows = []
    for group, stratum, values in values_of(part):
        cells = [label(group), *([label(stratum)] if part.control else [])]
        cells.append(f"{max(value['n'] for value in values.values()):,}")
        for metric in metrics:
            value, interval, n = value_cells(facts, values[metric]) if metric in values else ("", "", "")
            cells.append(value + (f" ({interval})" if interval else "") + (f", n {n}" if n else ""))
        rows.append(cells)
    columns = [label(part.feature), *controls, "people", *map(label, metrics)]
    yield _table(columns, rows, frozenset(range(1 + len(controls), len(columns))))


def _comparisons_lead(record: AuditRecord) -> str:
    adjusted = (
        "P-values are not corrected for the number of questions."
        if record.verdict.adjust is None
        else "Adjusted p-values are corrected for all questions together."
    )
    return (
        f"{adjusted} Detectable is the smallest disparity that would have been found with a probability of "
        f"{100 * DETECTION_POWER:g} % (for metrics other than rates by normal approximation)."
    )


def _comparisons(part: AuditPart) -> Iterator[str]:
    facts = part.facts
    ordered = by_p_value(part.facts, part.comparisons)
    shown = ordered.head(min(MOST, max(FEW, int(ordered["concern"].sum()))))
    if not len(ordered):
        return
    most = (
        f"; the {len(shown)} with the smallest p-values (the audit's frame has all)"
        if len(shown) < len(ordered)
        else ""
    )
    yield f"By {text(label(part.feature))}, {pluralize(len(ordered), 'comparison')}{most}:"
    kinds = {facts.disparity_of(metric) for metric in ordered["metric"]}
    names = {
        "metric": "metric",
        "group": "group",
        "other": "compared with",
        **({"stratum": label(facts.controls)} if part.control else {}),
        "value": "value",
        "against": "against",
        "disparity": " or ".join(sorted(kinds)),
        "interval": "interval",
        "adjusted": "adjusted p",
        "detectable": "detectable",
        "verdict": "verdict",
    }
    rows = [{"metric": label(row["metric"]), **comparison_row(facts, row)} for row in records(shown)]
    numbers = {"value", "against", "disparity", "interval", "adjusted", "detectable"}
    yield _table(
        list(names.values()),
        [[row[name] for name in names] for row in rows],
        frozenset(place for place, name in enumerate(names) if name in numbers),
    )


def _left_out(record: AuditRecord) -> Iterator[str]:
    if record.not_compared:
        yield _items(f"{_line(names)}: {text(reason)}" for names, reason in record.not_compared)
    excluded = [part for part in record.parts if len(part.excluded)]
    for part in excluded:
        headers, rows = excluded_table(part.excluded)
        yield f"By {text(label(part.feature))}:"
        yield _table(["n" if header == "of whom" else header for header in headers], rows)
    if not excluded and not record.not_compared:
        yield "Nothing: every group took part in every comparison."
    if record.warnings:
        yield "Said while people were tested:"
        yield _items(map(_line, record.warnings))


def _reproducing(record: AuditRecord) -> Iterator[str]:
    given = ", ".join(f"{name}={value}" for name, value in parameters_of(record))
    versions = ", ".join(f"{name} {version}" for name, version in record.versions.items())
    yield f"Tested on {text(record.created)} with {text(f'FairnessAudit({given})')}."
    yield f"Versions: {text(versions)}."
