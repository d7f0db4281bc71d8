"""A report on a screen: tables that fit its width, few colours, and names that are never markup."""

import re
from collections.abc import Sequence

from rich import box
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from skfairtest._utils.text import display_width
from skfairtest.report import document
from skfairtest.report import document as doc

#: Lines of text longer than this are hard to read.
_READABLE = 100
#: Names are folded at this width for a line per row, and at this one before numbers are; what lies between columns.
_NAME, _SHORT, _GAP = 24, 8, 3
#: Stands for a space at which no line is broken.
_TIE = "\ue000"
#: Columns of the screen that a metric takes in a grid at the most, and the colours of its levels.
_GRID = 9
_HUES = {
    "warm": ("", "", "black on color(223)", "black on color(216)", "black on color(209)"),
    "cool": ("", "", "black on color(153)", "black on color(117)", "black on color(75)"),
    "high": ("", "", "black on color(189)", "black on color(183)", "black on color(177)"),
    "low": ("", "", "black on color(158)", "black on color(122)", "black on color(80)"),
    "even": ("", "", "", "", ""),
}
_TONES = {"plain": "", "concern": "bold red", "fine": "bold"}


def on_screen(blocks: Sequence[doc.Block], console: Console) -> str:
    """Write a document for the screen of a console.

    Parameters
    ----------
    blocks : sequence of Block
        The document.
    console : rich.console.Console
        Knows the width and which colours are wanted.

    Returns
    -------
    str
        Text with control codes for the screen; nothing is cut, what is too long is folded.
    """
    with console.capture() as captured:
        previous: doc.Block | None = None
        for block in doc.textual(blocks, grids=True):
            if previous is not None and not doc.is_attached(block, previous):
                console.print()
            _print(block, console)
            previous = block
    return "".join(f"{line.rstrip()}\n" for line in captured.get().replace(_TIE, " ").splitlines())


def _tied(text: str) -> str:
    """Keep a number and what belongs to it on one line; names have no such character, which does not print."""
    return re.sub(r"(?<=\d) (?=%)|(?<=\bp) (?=[=<] \d)|(?<=\bp [=<]) (?=\d)", _TIE, text)


def _print(block: doc.Block, console: Console) -> None:
    width = min(console.width, _READABLE)
    match block:
        case doc.Heading(text, level):
            shown = _text(text, {1: "bold", 2: "bold cyan"}.get(level, "bold"))
            if level < 3:
                shown.append(f"\n{('=' if level == 1 else '-') * min(len(text), width)}")
            console.print(shown, width=width)
        case doc.Paragraph(text, tone):
            console.print(_text(text, _TONES[tone]), width=width)
        case doc.Items(lines):
            grid = Table.grid(padding=(0, 1))
            grid.add_column(width=1)
            grid.add_column(overflow="fold")
            for line in lines:
                grid.add_row("-", _text(line))
            console.print(grid, width=width)
        case doc.Code(lines):
            console.print(Padding(_text("\n".join(lines)), (0, 0, 0, 2)), width=width)
        case doc.Grid():
            console.print(_text(f"{block.caption}:"), width=width)
            console.print(_grid(block, coloured=not console.no_color and console.color_system is not None))
            for note in block.notes:
                console.print(_text(note, "dim"), width=width)
        case document.Table():
            for place, table in enumerate(doc.spread(block)):
                if place:
                    console.print()
                if table.caption:
                    console.print(_text(f"{table.caption}:"), width=width)
                console.print(_table(table, console))


def _grid(grid: doc.Grid, *, coloured: bool) -> RenderableType:
    """Lay a grid out with the colours of the page; without colours its marks say the same but for the size."""
    shown = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 1))
    shown.add_column("", overflow="fold")
    shown.add_column(Text("people"), justify="right", no_wrap=True)
    for name in grid.columns:
        shown.add_column(Text(name, overflow="fold"), justify="right", min_width=7, max_width=_GRID)
    for part in grid.parts:
        if part.folded:
            continue
        shown.add_row(Text(part.name, style="bold"))
        for row in part.rows:
            cells = (
                Text(f"{cell.text}{doc.MARKS[cell.state]}", style=_shade(cell), no_wrap=True) for cell in row.cells
            )
            shown.add_row(Text(f"  {row.name}", overflow="fold"), Text(row.people), *cells)
    key = Text("* significant, ? ").append(grid.few)
    if grid.hues and coloured:
        for hue, means in grid.legend:
            key.append(", ").append(means, style=_HUES[hue][4])
    return Padding(Group(shown, key), (0, 0, 0, 2), expand=False)


def _shade(cell: doc.GridCell) -> str:
    """Return the style of a cell: its colour where it rests on enough people, bold where it is significant."""
    if cell.state == "few":
        return "dim"
    colour = _HUES[cell.hue][cell.level]
    return f"bold {colour}" if cell.state == "significant" else colour


def _text(text: str, style: str = "") -> Text:
    """Return a text that is shown as it is: no markup, no emoji codes, no links."""
    return Text(_tied(text), style=style, overflow="fold")


def _table(table: document.Table, console: Console) -> RenderableType:
    """Lay a table out in one line per row, or in several where names would have to be folded too often."""
    lines = [tuple(column.head for column in table.columns), *table.rows]
    if _needed(table.columns, lines, _NAME) <= console.width:
        return _layout(table.columns, lines, table.marked, console.width)
    stacks = table.stacks(fold=True)
    folds = [column.fold or "" for column in table.columns]
    # Above a folded column stands what leads its cells in, "against", if anything does.
    lines[0] = tuple("" if fold.strip() else head for fold, head in zip(folds, lines[0], strict=True))
    narrow = [
        tuple("\n".join([line[top], *(folds[place] + line[place] for place in below)]) for top, *below in stacks)
        for line in lines
    ]
    return _layout([table.columns[top] for top, *_ in stacks], narrow, table.marked, console.width)


def _needed(columns: Sequence[doc.Column], lines: Sequence[Sequence[str]], name: int) -> int:
    """Columns of the screen that a table takes with its names folded at `name` and its numbers not at all."""
    needed = 0
    for place, column in enumerate(columns):
        width = max(display_width(part) for line in lines for part in line[place].split("\n"))
        needed += _GAP + (width if column.kind == "number" else min(width, name))
    return needed


def _layout(
    columns: Sequence[doc.Column], lines: Sequence[Sequence[str]], marked: frozenset[int], width: int
) -> Padding:
    headers, *rows = lines
    # Names are folded before numbers are; on a very narrow screen both are, and nothing is cut.
    keep = _needed(columns, lines, _SHORT) <= width
    shown = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold")
    for header, column in zip(headers, columns, strict=True):
        is_number = column.kind == "number"
        shown.add_column(
            Text(header), justify="right" if is_number else "left", no_wrap=keep and is_number, overflow="fold"
        )
    for place, row in enumerate(rows):
        style = "bold" if place in marked else ""
        shown.add_row(*(Text(cell, style=style, overflow="fold") for cell in row))
    return Padding(shown, (0, 0, 0, 2), expand=False)
