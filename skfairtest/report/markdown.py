"""Documents as a section of a model card, in the Markdown that code hosts and model hubs show.

Names of groups, features and metrics are data: every character that could mean something is written so that it means
itself, whether raw HTML is allowed where the section is shown or not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from skfairtest._utils.text import printable
from skfairtest.report.document import Block, Code, Heading, Items, Paragraph, Table, shortened, textual

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


def markdown(blocks: Sequence[Block], *, details: bool = False) -> str:
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
        blocks = shortened(blocks, "the audit's frame has all")
    return "\n\n".join(said for block in textual(blocks) for said in _written(block)) + "\n"


def _written(block: Block) -> Iterator[str]:
    match block:
        case Heading(said, level):
            yield f"#{'#' * level} {text(said)}"
        case Paragraph(said, tone):
            yield _line(said) if tone == "plain" else f"**{_line(said)}**"
        case Items(lines):
            yield "\n".join(f"- {_line(line)}" for line in lines)
        case Code(lines):
            # Not a block of code, in which nothing can be escaped.
            yield _line(" ".join(line.strip() for line in lines))
        case Table():
            if block.caption:
                yield f"{_line(block.caption)}:"
            yield _table(block)


def _table(table: Table) -> str:
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
