"""A report on a screen: tables that fit its width, few colours, and names that are never markup."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rich import box
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from skfairtest._utils.text import display_width
from skfairtest.report.document import Block, Grid, Heading, Item, Paragraph
from skfairtest.report.text import Table as Cells
from skfairtest.report.text import numeric_columns

__all__ = ["on_screen"]

#: Lines of text longer than this are hard to read.
_READABLE = 100
#: Names are folded at this width for a line per row, and at this one before numbers are; what lies between columns.
_NAME, _SHORT, _GAP = 24, 8, 3
#: Stands for a space at which no line is broken.
_TIE = "\ue000"
_TONES = {"plain": "", "concern": "bold red", "fine": "bold", "aside": "dim"}


def on_screen(blocks: Sequence[Block], console: Console) -> str:
    """Write a document for the screen of a console.

    Parameters
    ----------
    blocks : sequence of Heading, Paragraph, Item and Grid
        The document.
    console : rich.console.Console
        Knows the width and which colours are wanted.

    Returns
    -------
    str
        Text with control codes for the screen; nothing is cut, what is too long is folded.
    """
    with console.capture() as captured:
        previous: Block | None = None
        for block in blocks:
            if previous is not None and not (isinstance(block, Item) and isinstance(previous, Item | Paragraph)):
                console.print()
            if isinstance(block, Grid):
                console.print(_table(block, console))
            else:
                _print_text(block, console)
            previous = block
    return "".join(f"{line.rstrip()}\n" for line in captured.get().replace(_TIE, " ").splitlines())


def _tied(text: str) -> str:
    """Keep a number and what belongs to it on one line; names have no such character, which does not print."""
    return re.sub(r"(?<=\d) (?=%)|(?<=\bp) (?=[=<] \d)|(?<=\bp [=<]) (?=\d)", _TIE, text)


def _print_text(block: Heading | Paragraph | Item, console: Console) -> None:
    # A Text is shown as it is: no markup, no emoji codes, no links.
    width = min(console.width, _READABLE)
    shown: RenderableType
    if isinstance(block, Heading):
        style = {1: "bold", 2: "bold cyan"}.get(block.level, "bold")
        shown = Text(_tied(block.text), style=style, overflow="fold")
        if block.level < 3:
            shown.append(f"\n{('=' if block.level == 1 else '-') * min(len(block.text), width)}")
    elif isinstance(block, Item):
        grid = Table.grid(padding=(0, 1))
        grid.add_column(width=1)
        grid.add_column(overflow="fold")
        grid.add_row("-", Text(_tied(block.text), style=_TONES[block.tone], overflow="fold"))
        shown = grid
    else:
        shown = Text(_tied(block.text), style=_TONES[block.tone], overflow="fold")
    console.print(shown, width=width)


def _table(grid: Grid, console: Console) -> RenderableType:
    """Lay a table out in one line per row, or in the narrow form where names would have to be folded too often."""
    if grid.narrow is None or _needed(grid.wide, _NAME) <= console.width:
        return _layout(grid.wide, grid.marked, console.width)
    return _layout(grid.narrow, grid.marked, console.width)


def _numeric(cells: Cells) -> list[bool]:
    headers, rows = cells
    first = [[next(filter(None, cell.split("\n")), "") for cell in row] for row in rows]
    return numeric_columns(first, len(headers))


def _needed(cells: Cells, name: int) -> int:
    """Columns of the screen that a table takes with its names folded at `name` and its numbers not at all."""
    headers, rows = cells
    needed = 0
    for place, is_number in enumerate(_numeric(cells)):
        lines = [line for row in [headers, *rows] for line in row[place].split("\n")]
        width = max(map(display_width, lines))
        needed += _GAP + (width if is_number else min(width, name))
    return needed


def _layout(cells: Cells, marked: frozenset[int], width: int) -> Padding:
    headers, rows = cells
    numeric = _numeric(cells)
    # Names are folded before numbers are; on a very narrow screen both are, and nothing is cut.
    keep = _needed(cells, _SHORT) <= width
    shown = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold")
    for header, is_number in zip(headers, numeric, strict=True):
        shown.add_column(
            Text(header), justify="right" if is_number else "left", no_wrap=keep and is_number, overflow="fold"
        )
    for place, row in enumerate(rows):
        style = "bold" if place in marked else ""
        shown.add_row(*(Text(cell, style=style, overflow="fold") for cell in row))
    return Padding(shown, (0, 0, 0, 2), expand=False)
