"""Documents as plain text."""

from __future__ import annotations

from collections.abc import Sequence

from skfairtest._utils.text import display_width
from skfairtest.report.document import Block, Code, Heading, Items, Paragraph, Table, is_attached, spread, textual


def plain(blocks: Sequence[Block]) -> str:
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
    >>> from skfairtest.report.document import Column
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
    previous: Block | None = None
    for block in textual(blocks):
        if previous is not None and not is_attached(block, previous):
            parts.append("")
        match block:
            case Heading(text, level):
                parts.append(text)
                if level < 3:
                    parts.append(("=" if level == 1 else "-") * len(text))
            case Paragraph(text):
                parts.append(text)
            case Items(lines):
                parts += [f"- {line}" for line in lines]
            case Code(lines):
                parts += [f"  {line}" for line in lines]
            case Table():
                captions = ((f"{table.caption}:\n" if table.caption else "", table) for table in spread(block))
                parts.append("\n\n".join(f"{caption}{aligned(table)}" for caption, table in captions))
        previous = block
    return "\n".join(parts) + "\n"


def aligned(table: Table, indent: str = "  ") -> str:
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
