"""A report as a sequence of headings, paragraphs and tables: written plainly here, with colours by the command line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from skfairtest.report.text import Table, aligned

__all__ = ["Block", "Grid", "Heading", "Item", "Paragraph", "plain"]


@dataclass(frozen=True)
class Heading:
    """A line that names what follows; `level` 1 is the title."""

    text: str
    level: int = 2


@dataclass(frozen=True)
class Paragraph:
    """A few sentences. `tone` says what they are: "plain", "concern", "fine" or "aside"."""

    text: str
    tone: str = "plain"


@dataclass(frozen=True)
class Item:
    """One point of a list; `tone` as for a paragraph."""

    text: str
    tone: str = "plain"


@dataclass(frozen=True)
class Grid:
    """A table, and the same in fewer columns for a narrow screen.

    Parameters
    ----------
    wide : (list of str, list of list of str)
        Headers and rows, one line per row.
    narrow : (list of str, list of list of str), optional
        The same with several lines in a cell; None if the table is never too wide.
    marked : frozenset of int
        Rows to emphasise.
    """

    wide: Table
    narrow: Table | None = None
    marked: frozenset[int] = frozenset()


Block = Heading | Paragraph | Item | Grid


def plain(blocks: Sequence[Block]) -> str:
    """Write a document as text: aligned tables at their natural width, nothing wrapped and nothing cut.

    Parameters
    ----------
    blocks : sequence of Heading, Paragraph, Item and Grid
        The document.

    Returns
    -------
    str
        Lines, with a line feed after the last one.

    Examples
    --------
    >>> print(
    ...     plain(
    ...         [
    ...             Heading("Rates", 1),
    ...             Item("one"),
    ...             Item("two"),
    ...             Grid((["sex", "n"], [["f", "12"]])),
    ...         ]
    ...     ),
    ...     end="",
    ... )
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
    for block in blocks:
        if previous is not None and not (isinstance(block, Item) and isinstance(previous, Item | Paragraph)):
            parts.append("")
        if isinstance(block, Heading):
            parts.append(block.text)
            if block.level < 3:
                parts.append(("=" if block.level == 1 else "-") * len(block.text))
        elif isinstance(block, Paragraph):
            parts.append(block.text)
        elif isinstance(block, Item):
            parts.append(f"- {block.text}")
        else:
            parts.append(aligned(block.wide))
        previous = block
    return "\n".join(parts) + "\n"
