"""Documents as plain text and as Markdown, and tables as comma-separated values.

Documents as plain text.

Documents as a section of a model card, in the Markdown that code hosts and model hubs show.

Names of groups, features and metrics are data: every character that could mean something is written so that it means
itself, whether raw HTML is allowed where the section is shown or not.

An audit as one table of comma-separated values that no spreadsheet executes.
"""

import re
from collections.abc import Iterator, Sequence

import pandas as pd

from skfairtest._utils.text import display_width, escape, printable
from skfairtest.report import document


def plain(blocks: Sequence[document.Block]) -> str:
    """Write a document as text: aligned tables at their natural width, nothing wrapped and nothing cut.

    Parameters
    ----------
    blocks : sequence of Block
        The document.

    Returns
    -------
    str
        Lines, with a line feed after the last one.

    Examples
    --------
    >>> from skfairtest.report.document import Column, Heading, Items, Table
    >>> table = Table((Column("sex", "name"), Column("n")), (("f", "12"),))
    >>> print(plain([Heading("Rates", 1), Items(("one", "two")), table]), end="")
    Rates
    =====
    <BLANKLINE>
    - one
    - two
    <BLANKLINE>
      sex   n
      f    12
    """
    parts: list[str] = []
    previous: document.Block | None = None
    for block in document.textual(blocks):
        if previous is not None and not document.is_attached(block, previous):
            parts.append("")
        match block:
            case document.Heading(text, level):
                parts.append(text)
                if level < 3:
                    parts.append(("=" if level == 1 else "-") * len(text))
            case document.Paragraph(text):
                parts.append(text)
            case document.Items(lines):
                parts += [f"- {line}" for line in lines]
            case document.Code(lines):
                parts += [f"  {line}" for line in lines]
            case document.Table():
                captions = ((f"{table.caption}:\n" if table.caption else "", table) for table in document.spread(block))
                parts.append("\n\n".join(f"{caption}{aligned(table)}" for caption, table in captions))
        previous = block
    return "\n".join(parts) + "\n"


def aligned(table: document.Table, indent: str = "  ") -> str:
    """Lay a table out in columns, text to the left and numbers to the right, without boxes and without truncation."""
    lines = [tuple(column.head for column in table.columns), *table.rows]
    widths = [max(display_width(line[place]) for line in lines) for place in range(len(table.columns))]
    laid = []
    for line in lines:
        cells = []
        for cell, width, column in zip(line, widths, table.columns, strict=True):
            blank = " " * (width - display_width(cell))
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


def markdown(blocks: Sequence[document.Block], *, details: bool = False) -> str:
    r"""Write a document as a section of a model card.

    Parameters
    ----------
    blocks : sequence of Block
        The document.
    details : bool
        Whether tables have every row.

    Returns
    -------
    str
        Markdown; its title is a heading of the second level.

    Examples
    --------
    >>> from skfairtest.report.document import Heading, Items, Paragraph
    >>> print(
    ...     markdown(
    ...         [Heading("Rates", 1), Paragraph("*Nothing* to see."), Items(("one", "two"))]
    ...     ),
    ...     end="",
    ... )
    ## Rates
    <BLANKLINE>
    \*Nothing\* to see.
    <BLANKLINE>
    - one
    - two
    """
    if not details:
        blocks = document.shortened(blocks, "the audit's frame has all")
    return "\n\n".join(said for block in document.textual(blocks) for said in _written(block)) + "\n"


def _written(block: document.Block) -> Iterator[str]:
    match block:
        case document.Heading(said, level):
            yield f"#{'#' * level} {text(said)}"
        case document.Paragraph(said, tone):
            yield _line(said) if tone == "plain" else f"**{_line(said)}**"
        case document.Items(lines):
            yield "\n".join(f"- {_line(line)}" for line in lines)
        case document.Code(lines):
            # Not a block of code, in which nothing can be escaped.
            yield _line(" ".join(line.strip() for line in lines))
        case document.Table():
            if block.caption:
                yield f"{_line(block.caption)}:"
            yield _table(block)


def _table(table: document.Table) -> str:
    """Write a table without details; what stands under a column follows in parentheses."""
    table = table.pick([place for place, column in enumerate(table.columns) if not column.detail])
    stacks = table.stacks()
    tops = [table.columns[top] for top, *_ in stacks]

    def cells(row: Sequence[str]) -> Iterator[str]:
        for top, *under in stacks:
            below = [f"{table.columns[place].under}{row[place]}" for place in under if row[place]]
            yield text(row[top] + (f" ({', '.join(below)})" if below else ""))

    heads, rules = [text(top.head) for top in tops], ["---:" if top.kind == "number" else "---" for top in tops]
    return "\n".join(f"| {' | '.join(line)} |" for line in (heads, rules, *map(cells, table.rows)))


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
