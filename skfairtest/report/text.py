"""Reports as plain text and as Markdown, and tables as comma-separated values that no spreadsheet executes.

In Markdown names of groups, features and metrics are data: every character that could mean something is escaped.
"""

import re
from collections.abc import Iterator, Sequence
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


def blocks(
    report: Report, *, details: bool = True, titled: bool = True, more: str = "", ends: bool = True, level: int = 1
) -> list[Block]:
    """Return what is written of a report, in order: headings by their level, lines, items, tables and code.

    Parameters
    ----------
    report : Report
        The report.
    details : bool
        Whether all of it is written; otherwise no folded parts, and the first rows of tables.
    titled : bool
        Whether it has a title, and headings of its parts.
    more : str
        Where the rows are that a short table leaves out.
    ends : bool
        Whether what is not written in detail ends at the first folded part.
    level : int
        Of the title.
    """

    def section(title: str, content: Sequence[Block]) -> Iterator[Block]:
        filled = [block for block in content if block[1]]
        if title and filled:
            yield f"h{level + 1 if titled and level == 1 else 3}", title
        yield from filled

    def tables(held: Sequence[Table]) -> list[Block]:
        return [
            ("table", table if details else table.shortened(more))
            for table in held
            if table.rows and (details or not table.folded)
        ]

    def items(texts: Sequence[Any]) -> Block:
        held = list(map(str, texts))
        if not details and len(held) > MOST_ITEMS:
            held[MOST_ITEMS:] = [f"and {len(held) - MOST_ITEMS:,} more"]
        return "items", held

    top = titled and level == 1
    heads = ("Verdict", "At a glance", "Findings") if top else ("", "", "")
    verdict: list[Block] = [("verdict", report.verdict), ("lines", report.remarks)]
    numbers = ", ".join(f"{name}: {text}" for name, text in report.numbers)
    notes = [note for table in report.grid for note in table.notes]
    folds = [place for place, part in enumerate(report.parts) if part.folded and not details]
    parts = report.parts[: folds[0]] if folds and ends else report.parts
    found: list[Block] = [
        *([(f"h{level}", report.title)] if titled and report.title else []),
        *section("", [("lines", report.about)]),
        *section(heads[0], [*verdict, ("lines", [f"{numbers}."] if numbers else [])]),
        *section(heads[1], [*tables([table for table in report.grid if not table.folded]), ("items", notes)]),
        *section(heads[2], [("lines", [report.lead] if report.lead else []), items(report.findings)]),
        *section(f"Null hypothes{'es' if len(report.hypotheses) > 1 else 'is'}", [("items", report.hypotheses)]),
        *tables(report.tables),
        *(
            block
            for part in parts
            if details or not part.folded
            for block in blocks(part, details=details, more=more, level=level + 1 if top else 3)
        ),
        *tables(report.left_out),
    ]
    if folds and ends:
        return found
    read = section("How to read this", [("items", report.notes)]) if top else section("", [("lines", report.notes)])
    code = [line for line in report.reproduce if line.startswith(" ")]
    return [
        *found,
        *section("Methods and references", [("items", report.methods)]),
        *read,
        *section(
            "How to reproduce this",
            [("lines", [line for line in report.reproduce if not line.startswith(" ")]), ("code", code)],
        ),
    ]


def text(
    report: Report, *, details: bool = True, titled: bool = True, more: str = "", rest: str = "",
    width: int | None = None,
) -> str:  # fmt: skip
    """Write a report as text: aligned tables at their natural width, nothing cut.

    Parameters
    ----------
    report : Report
        The report.
    details, titled, more
        As of `blocks`.
    rest : str
        Where the rest of a short text is.
    width : int, optional
        Columns of the screen, at which sentences are wrapped and tables divided; None: neither.

    Returns
    -------
    str
        Lines, with a line feed after the last one.

    Examples
    --------
    >>> table = Table((Column("sex", "name"), Column("n")), (("f", "12"),))
    >>> print(
    ...     text(
    ...         Report(title="Rates", verdict="Fine.", findings=("one", "two"), tables=(table,))
    ...     ),
    ...     end="",
    ... )
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
    limit = None if width is None else min(width, READABLE)

    def folded(line: str, indent: str = "") -> str:
        return line if limit is None else "\n".join(wrap(line, limit, subsequent_indent=indent) or [line])

    parts: list[str] = []
    before = ""
    for kind, held in blocks(report, details=details, titled=titled, more=more):
        if before and before != "h3" and not (before in ("verdict", "lines") and kind in ("lines", "items")):
            parts.append("")
        if kind in ("h1", "h2", "h3"):
            parts.append(held)
            if kind != "h3":
                parts.append(("=" if kind == "h1" else "-") * min(len(held), limit or len(held)))
        elif kind == "verdict":
            parts.append(folded(held))
        elif kind == "table":
            parts.append("\n\n".join(spread(held, width)))
        else:
            lead = "- " if kind == "items" else ""
            parts += [folded(f"{lead}{line}", " " * (8 if kind == "code" else len(lead))) for line in held]
        before = kind
    if rest and not details and any(part.folded for part in report.parts):
        parts += ["", folded(f"The rest (values by group, every comparison, null hypotheses, methods): {rest}")]
    return "\n".join(parts) + "\n"


def _bare(table: Table) -> Table:
    """The table where lines are short: marks for words."""
    meanings = {f"{MARKS[mark]} {MEANINGS[mark]}": None for mark in table.marks}
    columns, rows = list(table.columns), [list(row) for row in table.rows]
    for place, column in enumerate(columns):
        if column.kind == "mark":
            columns[place] = Column("", "word")
            for number, row in enumerate(rows):
                if number in table.marked:
                    meanings[f"* {row[place]}"] = None
                row[place] = "*" * (number in table.marked)
    caption = f"{table.caption} ({', '.join(meanings)})".strip() if meanings else table.caption
    return Table(tuple(columns), tuple(map(tuple, rows)), caption)


def spread(table: Table, width: int | None = None) -> Iterator[str]:
    """Yield a table in so many columns of the screen, or what it is divided into, below its caption."""
    table = _bare(table)
    names = next((place for place, column in enumerate(table.columns) if column.kind != "name"), 0)
    parts: list[list[int]] = []
    for place in range(names, len(table.columns)):
        wider = [*parts[-1], place] if parts else []
        if wider and (width is None or display_width(aligned(table.pick(wider)).split("\n")[0]) <= width):
            parts[-1] = wider
        else:
            parts.append([*range(names), place])
    caption = f"{table.caption}:" * bool(table.caption)
    above = wrap(caption, width) if width else [caption] * bool(caption)
    for place, part in enumerate(parts):
        yield "\n".join([*([] if place else above), aligned(table.pick(part), width=width)])


def aligned(table: Table, indent: str = "  ", width: int | None = None) -> str:
    """Lay a table out in columns, text to the left and numbers to the right, without boxes and without truncation.

    Names that are too long for the width of the screen go on below.
    """
    lines = [[column.head for column in table.columns], *([*map(str, row)] for row in table.rows)]
    alone = [len(line) > 2 and not any(line[1:]) for line in lines]
    if any(alone):  # what stands below a heading is indented
        lines[1:] = [[f"  {line[0]}", *line[1:]] if any(line[1:]) else line for line in lines[1:]]
    filled = [line for line, heading in zip(lines, alone, strict=True) if not heading]
    widths = [max(map(display_width, cells)) for cells in zip(*filled, strict=True)]
    names = [place for place, column in enumerate(table.columns) if column.kind == "name"]
    if width is not None and names:
        others = sum(size for place, size in enumerate(widths) if place not in names)
        most = max(6, (width - len(indent) - 2 * (len(widths) - 1) - others) // len(names))
        widths = [min(size, most) if place in names else size for place, size in enumerate(widths)]
    laid = []
    for line, heading in zip(lines, alone, strict=True):
        pieces = [
            wrap(cell, size) if size < display_width(cell) else [cell] for cell, size in zip(line, widths, strict=True)
        ]
        for row in [line[:1]] if heading else zip_longest(*pieces, fillvalue=""):
            cells = []
            for cell, size, column in zip(row, widths, table.columns, strict=False):
                blank = " " * (size - display_width(cell))
                cells.append(blank + cell if column.kind == "number" else cell + blank)
            laid.append((indent + "  ".join(cells)).rstrip())
    return "\n".join(laid)


_ACTIVE = re.compile(r"[\\`*\[\]<>|~&{}$#^]|(?<=\{)%|%(?=\})|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
#: Addresses become links by themselves.
_SCHEME, _WWW = re.compile(r":(?=//)"), re.compile(r"(?i)(?<=www)\.")
#: What would make a list, a rule, a title, a directive, a comment or a target of the line that it begins.
_BEGINS = re.compile(r"\d+(?=[.)])|(?=[-+=:%(])")
#: No address and no mention of somebody begins with it, and nobody sees it.
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
    """Write a text that begins a line."""
    shown = escaped(said.strip())
    special = _BEGINS.match(shown)
    return shown if special is None else f"{special[0]}\\{shown[special.end() :]}"


def markdown(report: Report, *, details: bool = False, titled: bool = True, more: str = "") -> str:
    r"""Write a report as a section of a model card.

    Parameters
    ----------
    report : Report
        The report.
    details, titled, more
        As of `blocks`.

    Returns
    -------
    str
        Markdown; its title is a heading of the second level.

    Examples
    --------
    >>> print(markdown(Report(title="Rates", findings=("*Nothing* to see.", "two"))), end="")
    ## Rates
    <BLANKLINE>
    ### Findings
    <BLANKLINE>
    - \*Nothing\* to see.
    - two
    """
    written: list[str] = []
    for kind, held in blocks(report, details=details, titled=titled, more=more, ends=False):
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
                written.append(_line(" ".join(line.strip() for line in held)))
            case _:
                written += [f"{_line(held.caption)}:"] * bool(held.caption)
                written.append(_table(_bare(held)))
    return "\n\n".join(written) + "\n"


def _table(table: Table) -> str:
    """Write a table with pipes."""
    heads = [escaped(column.head) for column in table.columns]
    rules = ["---:" if column.kind == "number" else "---" for column in table.columns]
    rows = [[escaped(str(cell)) for cell in row] for row in table.rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in (heads, rules, *rows))


def to_csv(frame: pd.DataFrame) -> str:
    """Write a table; undefined numbers are empty, and text that would be read as a formula is marked as text.

    Parameters
    ----------
    frame : DataFrame
        One row per comparison, as `FairnessAudit.to_frame` returns.

    Returns
    -------
    str
        Lines, separated by commas, with a header.

    Examples
    --------
    >>> print(to_csv(pd.DataFrame({"group": ["=1+1", "f"], "disparity": [-0.25, 0.5]})), end="")
    group,disparity
    '=1+1,-0.25
    f,0.5
    """
    marked = {name: [escape_formula(value) for value in frame[name]] for name in frame.columns}
    # Text without characters that control a terminal.
    columns = {name: [escape(value) if isinstance(value, str) else value for value in marked[name]] for name in marked}
    text: str = pd.DataFrame(columns, dtype=object).to_csv(index=False, lineterminator="\n")
    return text


def escape_formula(value: object) -> object:
    """Mark text by an apostrophe where spreadsheets would compute it; a number is a number also as text.

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
    if not isinstance(value, str) or not value.startswith(("=", "+", "-", "@", "\t", "\r")):
        return value
    try:
        float(value)
    except ValueError:
        return f"'{value}"
    return value
