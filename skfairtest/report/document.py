"""A report as a sequence of blocks, which say what there is and not how it looks; the writers decide that.

`audit`, `group`, `correlation` and `individual` compose documents; `text`, `markdown`, `html` and the command line's
``render`` write them. A new section is composed in one place and appears in all of them.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, Self

from skfairtest._utils.text import label
from skfairtest.report.plots import Bars, Forest
from skfairtest.report.record import Recorded


@dataclass(frozen=True)
class Heading(Recorded):
    """A line that names what follows; `level` 1 is the title, 2 a section.

    What follows in an `annex`, up to the next heading of its level, is not printed unless all details are. A section
    that stands behind an annex is not in a short text, unless it is `kept`.
    """

    text: str
    level: int = 2
    annex: bool = False
    kept: bool = False


@dataclass(frozen=True)
class Paragraph(Recorded):
    """A few sentences, which a line feed may separate.

    `tone` says what they are: "plain", "concern", "fine", or "short" if they say on paper what the annex has.
    """

    text: str
    tone: str = "plain"


@dataclass(frozen=True)
class Items(Recorded):
    """The points of a list, of which the first `few` come first, and the others fold up.

    `tone` is as of a paragraph, or "notes" if they explain the rest of the report.
    """

    lines: tuple[str, ...]
    few: int | None = None
    tone: str = "plain"


@dataclass(frozen=True)
class Pairs(Recorded):
    """Names with what is said of each: "figures" and "versions" are short, "definitions" and "traces" are not."""

    pairs: tuple[tuple[str, str], ...]
    kind: str = "definitions"


@dataclass(frozen=True)
class Column(Recorded):
    """A column of a table.

    Parameters
    ----------
    head : str
        Its heading.
    kind : {"name", "number", "word", "mark"}
        Names of the data, numbers or words; a word that is a mark alone where lines are short.
    named : bool
        Whether the heading is a name of the data itself.
    under : str, optional
        If not None, cells stand below those of the column before it, with this text in front of them.
    headed : bool
        Whether its heading then stands below that of the column before it.
    fold : str, optional
        The same, on a narrow screen only.
    detail : bool
        Whether only a page has room for it.
    shows : str or callable
        What it shows of a row: a field of it, or what a function writes of it.
    """

    head: str
    kind: str = "number"
    named: bool = False
    under: str | None = None
    headed: bool = False
    fold: str | None = None
    detail: bool = False
    shows: str | Callable[[Mapping[str, Any]], str] = field(default="", compare=False, repr=False)

    def cell(self, row: Mapping[str, Any]) -> str:
        """Write what it shows of a row: names as labels, words and marks as they are, numbers of people with commas."""
        if not isinstance(self.shows, str):
            return self.shows(row)
        value: Any = row[self.shows]
        return f"{value:,}" if self.kind == "number" else value if self.kind in ("word", "mark") else label(value)


@dataclass(frozen=True)
class Table(Recorded):
    """A table.

    Parameters
    ----------
    columns : tuple of Column
        The columns.
    rows : tuple of tuple of str
        A text for each column.
    caption : str
        What is in it.
    marked : frozenset of int
        Rows of significant disparities.
    few : int, optional
        How many rows, the first ones, a short report shows; None: all.
    keys : int
        If not 0, the number of columns that name a row; where lines are short, each of the others (with what stands
        under it) is a table of its own.
    folded : bool
        Whether a page shows the caption alone until it is unfolded.
    long : bool
        Whether it is one of the tables that a page sorts and filters together.
    """

    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str = ""
    marked: frozenset[int] = frozenset()
    few: int | None = None
    keys: int = 0
    folded: bool = False
    long: bool = False

    @classmethod
    def of(
        cls, columns: Iterable[Any], rows: Iterable[Mapping[str, Any]], caption: str = "",
        marks: str | Callable[[Mapping[str, Any]], Any] | None = "concern", **settings: Any,
    ) -> Self:  # fmt: skip
        """Make a table of the columns that are declared; what is no column is left out.

        Parameters
        ----------
        columns : iterable of Column or bool
            The columns, each with what it shows; False stands for one that this table does not have.
        rows : iterable of mapping
            What they show.
        caption : str
            What is in it.
        marks : str, callable or None
            Which rows are marked: a field of a row, or a function of it; None: none.
        **settings
            `few`, `keys`, `folded` and `long`.
        """
        kept, listed = tuple(column for column in columns if isinstance(column, Column)), list(rows)
        is_marked = marks if callable(marks) else lambda row: marks is not None and row[marks]
        marked = frozenset(place for place, row in enumerate(listed) if is_marked(row))
        return cls(kept, tuple(tuple(one.cell(row) for one in kept) for row in listed), caption, marked, **settings)

    def stacks(self, *, fold: bool = False) -> list[range]:
        """Return the places of each column with those of what stands under it; `fold`: on a narrow screen."""
        starts = [
            place
            for place, column in enumerate(self.columns)
            if column.under is None and not (fold and column.fold is not None)
        ]
        return [range(*ends) for ends in pairwise([*starts, len(self.columns)])]

    def pick(self, places: Sequence[int]) -> Self:
        """Return the table with only these columns."""
        columns = tuple(self.columns[place] for place in places)
        return replace(self, columns=columns, rows=tuple(tuple(row[place] for place in places) for row in self.rows))


@dataclass(frozen=True)
class Figure(Recorded):
    """A drawing.

    Parameters
    ----------
    drawing : Forest or Bars
        What is drawn.
    caption : str
        The sentences below it.
    told : bool
        Whether they are worth reading without the drawing.
    """

    drawing: Forest | Bars
    caption: str
    told: bool = False


@dataclass(frozen=True)
class GridCell(Recorded):
    """A cell of a grid.

    Parameters
    ----------
    text : str
        The disparity with its sign, or why there is none.
    value : str
        The value that it is of; may be empty.
    hue : {"warm", "cool", "high", "low", "even"}
        Which way the disparity points: worse or better, or higher or lower where nobody said which is better.
    level : int
        How large it is, from 0 to 4.
    state : {"", "significant", "few"}
        Whether it is significant, or rests on too few people to tell.
    """

    text: str
    value: str = ""
    hue: str = "even"
    level: int = 0
    state: str = ""

    @property
    def shade(self) -> str:
        """Its colour, and why it may have another one; what rests on few people has none."""
        colour = f"{self.hue}{self.level}" if self.level and self.state != "few" else ""
        return " ".join(filter(None, (self.state, colour))) or "none"


@dataclass(frozen=True)
class GridRow(Recorded):
    """A group, how many people it has, and a cell for each column."""

    name: str
    people: str
    cells: tuple[GridCell, ...]


@dataclass(frozen=True)
class GridPart(Recorded):
    """The groups of one feature; a page shows the caption of a folded part until it is unfolded, a text nothing."""

    name: str
    rows: tuple[GridRow, ...]
    folded: bool = False
    caption: str = ""


@dataclass(frozen=True)
class Grid(Recorded):
    """A picture of groups by metrics, which is a table as well.

    Parameters
    ----------
    columns : tuple of str
        The metrics.
    parts : tuple of GridPart
        The groups, feature by feature.
    caption : str
        What is in it.
    legend : tuple of (str, str)
        The two hues with what they mean.
    notes : tuple of str
        What else a reader has to know.
    """

    columns: tuple[str, ...]
    parts: tuple[GridPart, ...]
    caption: str
    legend: tuple[tuple[str, str], ...] = (("high", "higher"), ("low", "lower"))
    few: str = "too few people to tell"
    notes: tuple[str, ...] = ()

    @property
    def hues(self) -> bool:
        """Whether any cell has one of the two hues."""
        cells = (cell for part in self.parts for row in part.rows for cell in row.cells)
        return any(cell.hue != "even" and cell.level for cell in cells)


#: What stands behind a disparity in a text, where a page has colours and hatching.
MARKS = {"": "", "significant": "*", "few": "?"}


@dataclass(frozen=True)
class Interval(Recorded):
    """A sentence with the interval that it is about.

    Parameters
    ----------
    text : str
        The sentence.
    low, at, high, null : float
        Limits, estimate and equality as shares of the width of the drawing; nan where there are none.
    significant : bool
        Whether the disparity is significant.
    """

    text: str
    low: float
    at: float
    high: float
    null: float
    significant: bool

    @property
    def drawn(self) -> bool:
        """Whether there is an interval to draw."""
        return not any(map(math.isnan, (self.low, self.at, self.high)))


@dataclass(frozen=True)
class Intervals(Recorded):
    """Sentences, each with a small drawing of its interval, and what it shows; a text has the sentences alone."""

    lines: tuple[Interval, ...]
    caption: str


@dataclass(frozen=True)
class Code(Recorded):
    """Lines to be typed."""

    lines: tuple[str, ...]
    caption: str


Block = Heading | Paragraph | Items | Pairs | Table | Figure | Grid | Intervals | Code


@dataclass(frozen=True)
class Report(Recorded):
    """What a test says, as data: its title and its blocks, of which the first paragraph is the verdict."""

    title: str
    blocks: tuple[Block, ...]

    @property
    def verdict(self) -> str:
        """The verdict in sentences."""
        return next(block.text for block in self.blocks if isinstance(block, Paragraph))


def textual(blocks: Iterable[Block], *, grids: bool = False) -> list[Block]:
    """Return a document without drawings and folds, with its annex: headings, paragraphs, items, tables and code.

    `grids` are kept where that is asked.

    Examples
    --------
    >>> textual(
    ...     [
    ...         Heading("Drawings"),
    ...         Figure(Forest("", "", ()), "Lines."),
    ...         Heading("People"),
    ...         Items(("a", "b", "c"), few=1),
    ...     ]
    ... )
    [Heading(text='People', level=2, annex=False, kept=False), Items(lines=('a', 'and 2 more'), few=None, tone='plain')]
    """
    return without_empty(
        [found for block in blocks for found in ([block] if grids and isinstance(block, Grid) else _textual(block))]
    )


def _textual(block: Block) -> Iterator[Block]:
    match block:
        case Figure():
            if block.told:
                yield Paragraph(block.caption)
        case Grid():
            yield as_table(block)
            yield Items(block.notes)
        case Intervals(intervals):
            yield Items(tuple(line.text for line in intervals))
        case Pairs(pairs, "definitions" | "traces"):
            yield Items(tuple(f"{name}: {said}" if said else name for name, said in pairs))
        case Pairs(pairs, _):
            yield Paragraph(f"{', '.join(f'{name}: {said}' for name, said in pairs)}.")
        case Paragraph(_, "short"):
            return
        case Items(lines, few, tone) if few is not None and len(lines) > few:
            yield Items((*lines[:few], f"and {len(lines) - few:,} more"), tone=tone)
        case _:
            yield block


def as_table(grid: Grid) -> Table:
    """Return a grid as a table, with marks for colours and without its folded parts.

    Examples
    --------
    >>> rows = (GridRow("f", "12", (GridCell("+3.1", state="significant"),)),)
    >>> table = as_table(Grid(("selection_rate",), (GridPart("sex", rows),), "Disparities"))
    >>> [column.head for column in table.columns], table.rows
    (['', 'people', 'selection_rate'], (('sex = f', '12', '+3.1*'),))
    """
    columns = (Column("", "name"), Column("people"), *(Column(name, named=True) for name in grid.columns))
    rows = tuple(
        (f"{part.name} = {row.name}", row.people, *(f"{cell.text}{MARKS[cell.state]}" for cell in row.cells))
        for part in grid.parts
        if not part.folded
        for row in part.rows
    )
    return Table(columns, rows, f"{grid.caption} (* significant, ? {grid.few})")


def without_empty(blocks: Sequence[Block]) -> list[Block]:
    """Leave out headings of nothing."""
    kept: list[Block] = []
    for block in reversed(blocks):
        if isinstance(block, Heading):
            below = kept[-1] if kept else Heading("", 0)
            if isinstance(below, Heading) and below.level <= block.level:
                continue
        kept.append(block)
    return kept[::-1]


def shortened(blocks: Iterable[Block], more: str = "") -> list[Block]:
    """Return a document whose tables have their first rows only; `more` says where the others are."""
    return [_short(block, more) if isinstance(block, Table) else block for block in blocks]


def first_part(blocks: Sequence[Block], where: str) -> list[Block]:
    """The part before the first annex, with the sections that are kept; then `where` the rest is, if there is any."""
    kept, shown, behind = [], True, False
    for block in blocks:
        if isinstance(block, Heading) and block.level <= 2:
            behind = behind or block.annex
            shown = block.kept or not behind
        if shown:
            kept.append(block)
    rest = f"The rest (values by group, every comparison, null hypotheses, methods): {where}"
    return [*kept, Paragraph(rest)] if behind else kept


def unfolded(blocks: Iterable[Block]) -> list[Block]:
    """Return a document whose lists show every item."""
    return [replace(block, few=None) if isinstance(block, Items) else block for block in blocks]


def _short(table: Table, more: str) -> Table:
    if table.few is None or table.few >= len(table.rows):
        return table
    hidden = len([place for place in table.marked if place >= table.few])
    caption = f"{table.caption}; the first {table.few}{f', {hidden:,} further significant ones' if hidden else ''}"
    return replace(
        table,
        caption=f"{caption}{f' ({more})' if more else ''}",
        rows=table.rows[: table.few],
        marked=frozenset(place for place in table.marked if place < table.few),
    )


#: The verdict on a comparison for which equivalence was not shown.
NOT_CERTIFIED = "not certified"


def spread(table: Table) -> list[Table]:
    """The tables in place of one where lines are short: no details, marks for words, few columns.

    Examples
    --------
    >>> columns = (
    ...     Column("sex", "name"),
    ...     Column("recall"),
    ...     Column("n", under="n "),
    ...     Column("precision"),
    ... )
    >>> for each in spread(Table(columns, (("f", ".5", "20", ".7"),), keys=1)):
    ...     print([column.head for column in each.columns], each.rows)
    ['sex', 'recall', 'n'] (('f', '.5', '20'),)
    ['sex', 'precision'] (('f', '.7'),)
    """
    table = table.pick([place for place, column in enumerate(table.columns) if not column.detail])
    mark = next((place for place, column in enumerate(table.columns) if column.kind == "mark"), None)
    if mark is not None:
        rows = [
            (*row[:mark], "*" if place in table.marked else "", *row[mark + 1 :])
            for place, row in enumerate(table.rows)
        ]
        columns = (*table.columns[:mark], Column("", "word"), *table.columns[mark + 1 :])
        word = NOT_CERTIFIED if any(row[mark] == NOT_CERTIFIED for row in table.rows) else "significant"
        table = replace(table, columns=columns, rows=tuple(rows), caption=f"{table.caption} (* {word})".strip())
    if not table.keys:
        return [table]
    found = [table.pick([*range(table.keys), *places]) for places in table.stacks()[table.keys :]]
    return [replace(each, caption=table.caption if not place else "", keys=0) for place, each in enumerate(found)]


def is_attached(block: Block, previous: Block) -> bool:
    """Whether no empty line stands between two blocks of a text."""
    if isinstance(previous, Heading):
        return previous.level > 2
    if not isinstance(previous, Paragraph):
        return False
    return isinstance(block, Items) or (isinstance(block, Paragraph) and previous.tone != "plain")
