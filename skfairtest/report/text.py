"""Reports as plain text and as Markdown, and tables as comma-separated values that no spreadsheet executes.

In Markdown every character of a name that could mean something is escaped.
"""

import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import zip_longest
from textwrap import wrap
from typing import Any

import pandas as pd

from skfairtest._utils.text import display_width, escape, printable
from skfairtest.report.report import MARKS, MEANINGS, Column, Report, Table

#: Items of a list that do not fold up.
MOST_ITEMS = 7
#: Sentences are hard to read in longer lines.
READABLE = 100

Block = tuple[str, Any]


def blocks(report: Report, *, details: bool = True, level: int = 1) -> Iterator[Block]:
    """Yield what is written of a report, in order: headings by their level, lines, items, tables and code."""

    def tables(held: Sequence[Table]) -> list[Block]:
        shown = [table if details else table.shortened() for table in held if details or not table.folded]
        return [("table", table) for table in shown if table.rows]

    top, found, most = report.headed and level == 1, list(map(str, report.findings)), MOST_ITEMS
    if not details and len(found) > most:
        found[most:] = [f"and {len(found) - most:,} more"]
    numbers = ", ".join(f"{name}: {text}" for name, text in report.numbers)
    parts = [part for part in report.parts if details or not part.folded]
    said, code = ([line for line in report.reproduce if line.startswith(" ") is is_code] for is_code in (False, True))
    sections: list[tuple[str, Sequence[Block]]] = [
        ("", [("lines", report.about)]),
        (
            "Verdict" * top,
            [("verdict", report.verdict), ("lines", [*report.remarks, *[f"{numbers}."] * bool(numbers)])],
        ),
        (
            "At a glance" * top,
            [*tables(report.grid), ("items", [note for table in report.grid for note in table.notes])],
        ),
        ("Findings" * top, [("lines", [report.lead] * bool(report.lead)), ("items", found)]),
        (f"Null hypothes{'es' if len(report.hypotheses) > 1 else 'is'}", [("items", report.hypotheses)]),
        ("", tables(report.tables)),
        ("", [block for part in parts for block in blocks(part, details=details, level=2 if top else 3)]),
        ("", tables(report.left_out)),
        ("Methods and references", [("items", report.methods)]),
        ("How to read this" * top, [("items" if top else "lines", report.notes)]),
        ("How to reproduce this", [("lines", said), ("code", code)]),
    ]
    if report.title and (report.headed or level > 1):
        yield f"h{level}", report.title
    for title, content in sections:
        filled = [block for block in content if block[1]]
        if title and filled:
            yield f"h{2 if top else 3}", title
        yield from filled


def text(report: Report, *, details: bool = True, rest: str = "", width: int | None = None) -> str:
    """Write a report as text: aligned tables at their natural width, nothing cut.

    Examples
    --------
    >>> table = Table((Column("sex", "name"), Column("n")), (("f", "12"),))
    >>> made = Report(
    ...     title="Rates",
    ...     headed=True,
    ...     verdict="Fine.",
    ...     findings=("one", "two"),
    ...     tables=(table,),
    ... )
    >>> print(text(made), end="")
    Rates
    =====
    <BLANKLINE>
    Verdict
    -------
    <BLANKLINE>
    Fine.
    <BLANKLINE>
    Findings
    --------
    <BLANKLINE>
    - one
    - two
    <BLANKLINE>
      sex   n
      f    12
    """
    limit = min(width, READABLE) if width else sys.maxsize

    def folded(line: str, indent: int = 0) -> str:
        return "\n".join(wrap(line, limit, subsequent_indent=" " * indent) or [line])

    written: list[str] = []
    before = ""
    for kind, held in blocks(report if details else report.first, details=details):
        if before not in ("", "h3") and not (before in ("verdict", "lines") and kind in ("lines", "items")):
            written.append("")
        if kind in ("h1", "h2"):
            written += [held, ("=" if kind == "h1" else "-") * min(len(held), limit)]
        elif kind in ("h3", "verdict"):
            written.append(folded(held))
        elif kind == "table":
            written.append("\n\n".join(spread(held, width)))
        else:
            lead, indent = ("- ", 2) if kind == "items" else ("", 8 if kind == "code" else 0)
            written += [folded(f"{lead}{line}", indent) for line in held]
        before = kind
    if rest and not details and report.first is not report:
        written += ["", folded(f"The rest (values by group, every comparison, null hypotheses, methods): {rest}")]
    return "\n".join(written) + "\n"


def _bare(table: Table) -> Table:
    """The table where lines are short: marks for words."""
    meanings = {f"{MARKS[mark]} {MEANINGS[mark]}": None for mark in table.marks}
    columns, rows = list(table.columns), [list(row) for row in table.rows]
    for place in (place for place, column in enumerate(table.columns) if column.kind == "mark"):
        columns[place] = Column("", "word")
        meanings |= {f"* {rows[number][place]}": None for number in sorted(table.marked)}
        for number, row in enumerate(rows):
            row[place] = "*" * (number in table.marked)
    caption = f"{table.caption} ({', '.join(meanings)})".strip() if meanings else table.caption
    return Table(tuple(columns), tuple(map(tuple, rows)), caption)


def spread(table: Table, width: int | None = None) -> Iterator[str]:
    """Yield a table in this many columns of the screen, or what it is divided into, below its caption."""
    table = _bare(table)
    names = [*range(next((place for place, column in enumerate(table.columns) if column.kind != "name"), 0))]
    parts = [names]
    for place in range(len(names), len(table.columns)):
        wider = [*parts[-1], place]
        if parts[-1] is names or not width or display_width(aligned(table.pick(wider)).split("\n")[0]) <= width:
            parts[-1] = wider
        else:
            parts.append([*names, place])
    above = wrap(f"{table.caption}:" * bool(table.caption), width or sys.maxsize)
    for place, part in enumerate(parts):
        yield "\n".join([*([] if place else above), aligned(table.pick(part), width)])


def aligned(table: Table, width: int | None = None) -> str:
    """Lay a table out in columns, text to the left and numbers to the right; long names go on below."""
    lines = [[column.head for column in table.columns], *([*map(str, row)] for row in table.rows)]
    alone = [len(line) > 2 and not any(line[1:]) for line in lines]
    if any(alone):  # what stands below a heading is indented
        lines[1:] = [[f"  {line[0]}", *line[1:]] if any(line[1:]) else line for line in lines[1:]]
    filled = [line for line, heading in zip(lines, alone, strict=True) if not heading]
    widths = [max(map(display_width, cells)) for cells in zip(*filled, strict=True)]
    names = [place for place, column in enumerate(table.columns) if column.kind == "name"]
    if width and names:
        others = sum(size for place, size in enumerate(widths) if place not in names)
        most = max(6, (width - 2 * len(widths) - others) // len(names))
        widths = [min(size, most) if place in names else size for place, size in enumerate(widths)]
    laid = []
    for line, heading in zip(lines, alone, strict=True):
        pieces = [
            wrap(cell, size) if size < display_width(cell) else [cell] for cell, size in zip(line, widths, strict=True)
        ]
        for row in [line[:1]] if heading else zip_longest(*pieces, fillvalue=""):
            cells = [""]
            for cell, size, column in zip(row, widths, table.columns, strict=False):
                blank = " " * (size - display_width(cell))
                cells.append(blank + cell if column.kind == "number" else cell + blank)
            laid.append("  ".join(cells).rstrip())
    return "\n".join(laid)


_ACTIVE = re.compile(r"[\\`*\[\]<>|~&{}$#^]|(?<=\{)%|%(?=\})|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
#: Addresses become links by themselves.
_SCHEME, _WWW = re.compile(r":(?=//)"), re.compile(r"(?i)(?<=www)\.")
#: What would make a list, a rule, a title, a directive, a comment or a target of the line that it begins.
_BEGINS = re.compile(r"\A(?:\d+(?=[.)])|(?=[-+=:%(]))")
#: An invisible character after which no address or mention begins.
_WORD_JOINER = "\u2060"


def escaped(said: str) -> str:
    r"""Write a text so that Markdown shows it as it is, on one line.

    Examples
    --------
    >>> print(escaped("*a* | <b>"))
    \*a\* \| \<b\>
    """
    shown = _ACTIVE.sub(r"\\\g<0>", printable(said))
    shown = _WWW.sub(r"\\.", _SCHEME.sub(r"\\:", shown))
    return shown.replace("@", f"@{_WORD_JOINER}")


def _line(said: str) -> str:
    return _BEGINS.sub(r"\g<0>\\", escaped(said.strip()))


def markdown(report: Report, *, details: bool = False) -> str:
    r"""Write a report as a section of a model card.

    Examples
    --------
    >>> made = Report(title="Rates", headed=True, findings=("*Nothing* to see.", "two"))
    >>> print(markdown(made), end="")
    ## Rates
    <BLANKLINE>
    ### Findings
    <BLANKLINE>
    - \*Nothing\* to see.
    - two
    """
    written: list[str] = []
    for kind, held in blocks(report, details=details):
        match kind:
            case "h1" | "h2" | "h3":
                written.append(f"#{'#' * int(kind[1])} {escaped(held)}")
            case "verdict":
                written.append(f"**{_line(held)}**")
            case "lines":
                written += map(_line, held)
            case "items":
                written.append("\n".join(f"- {_line(line)}" for line in held))
            case "code":  # not a block of code, in which nothing can be escaped
                written.append(_line(" ".join(map(str.strip, held))))
            case _:
                written += [f"{_line(held.caption)}:"] * bool(held.caption)
                written.append(_table(_bare(held)))
    return "\n\n".join(written) + "\n"


def _table(table: Table) -> str:
    heads = [escaped(column.head) for column in table.columns]
    rules = ["---:" if column.kind == "number" else "---" for column in table.columns]
    rows = [[escaped(str(cell)) for cell in row] for row in table.rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in (heads, rules, *rows))


def to_csv(frame: pd.DataFrame) -> str:
    """Write a table; undefined numbers are empty, and text that would be read as a formula is marked as text.

    Examples
    --------
    >>> print(to_csv(pd.DataFrame({"group": ["=1+1", "f"], "disparity": [-0.25, 0.5]})), end="")
    group,disparity
    '=1+1,-0.25
    f,0.5
    """
    text: str = frame.astype(object).map(escape_formula).to_csv(index=False, lineterminator="\n")
    return text


def escape_formula(value: object) -> object:
    """Prefix an apostrophe to text that spreadsheets would compute, and remove control characters.

    Examples
    --------
    >>> (
    ...     escape_formula("=1+1"),
    ...     escape_formula("-1"),
    ...     escape_formula("-1+1"),
    ...     escape_formula("a=1"),
    ...     escape_formula(-1),
    ... )
    ("'=1+1", '-1', "'-1+1", 'a=1', -1)
    """
    if not isinstance(value, str):
        return value
    with suppress(ValueError):
        float(value)
        return value
    return escape(f"'{value}" if value.startswith(("=", "+", "-", "@", "\t", "\r")) else value)
