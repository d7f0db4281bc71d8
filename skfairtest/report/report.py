"""A report as data: what a test found, in the order in which it is read; `html` and `text` write it."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from skfairtest._utils.text import label
from skfairtest.report.record import Recorded

#: The verdict on a comparison for which equivalence was not shown.
NOT_CERTIFIED = "not certified"
#: What stands behind a number in a text, where a page has frames and hatching, and what that means.
MARKS = {"significant": "*", "few": "?"}
MEANINGS = {"significant": "significant", "few": "too few to tell"}


@dataclass(frozen=True)
class Bar(Recorded):
    """An interval on a line: its ends, estimate and equality in percent of the width; nan if there is none."""

    low: float
    at: float
    high: float
    null: float = math.nan
    kind: str = ""


def bars(
    ends: Iterable[Sequence[float]], null: float = math.nan, *, log: bool = False, kinds: Iterable[str] = ()
) -> list[Bar | None]:
    """Place intervals on one scale, on which everything finite has room.

    Examples
    --------
    >>> bars([(0.0, 0.5, 1.0)], 0.0)
    [Bar(low=3.7, at=50.0, high=96.3, null=3.7, kind='')]
    """
    places: Any = np.array([*ends, [null] * 3], dtype=float)
    if log:
        with np.errstate(divide="ignore"):
            places = np.log(places)
    finite = places[np.isfinite(places)]
    low, high = (finite.min(), finite.max()) if len(finite) else (0.0, 1.0)
    room = 0.04 * (high - low) or 1.0
    places = 100 * (np.clip(places, low - room, high + room) - low + room) / (high - low + 2 * room)
    *rows, (equality, *_) = np.round(places, 2).tolist()
    kinds = list(kinds) or [""] * len(rows)
    return [
        None if math.isnan(row[1]) else Bar(row[0], row[1], row[2], equality, kind)
        for row, kind in zip(rows, kinds, strict=True)
    ]


@dataclass(frozen=True)
class Cell(Recorded):
    """A text with what a page shows beside it: smaller text below, a shade such as "warm3", a mark, an interval."""

    text: str
    under: str = ""
    shade: str = ""
    mark: str = ""
    bar: Bar | None = None

    def __str__(self) -> str:
        """The text with its mark."""
        return f"{self.text}{MARKS.get(self.mark, '')}"


Text = str | Cell


@dataclass(frozen=True)
class Column(Recorded):
    """A column of a table; if `under` is not None, a page shows it below the column before, with this text in front."""

    head: str
    kind: str = "number"
    named: bool = False
    under: str | None = None
    shows: str | Callable[[Any], Text] = field(default="", compare=False, repr=False)

    def cell(self, row: Mapping[str, Any]) -> Text:
        """Write what it shows of a row: names as labels, words and marks as they are, numbers of people with commas."""
        if not isinstance(self.shows, str):
            return self.shows(row)
        value: Any = row[self.shows]
        return f"{value:,}" if self.kind == "number" else value if self.kind in ("word", "mark") else label(value)


@dataclass(frozen=True)
class Table(Recorded):
    """A table; with three columns or more, a row with one cell is a heading.

    A short report shows the first `few` rows (None: all), and no `folded` table.
    """

    columns: tuple[Column, ...]
    rows: tuple[tuple[Text, ...], ...]
    caption: str = ""
    marked: frozenset[int] = frozenset()
    few: int | None = None
    folded: bool = False
    notes: tuple[str, ...] = ()
    key: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(
        cls, columns: Iterable[Any], rows: Iterable[Mapping[str, Any]], caption: str = "",
        marks: str | None = "concern", **settings: Any,
    ) -> Self:  # fmt: skip
        """Make a table of declared columns; False stands for a column that this table does not have."""
        kept, listed = tuple(column for column in columns if isinstance(column, Column)), list(rows)
        marked = frozenset(place for place, row in enumerate(listed) if marks is not None and row[marks])
        cells = tuple(tuple(each.cell(row) for each in kept) for row in listed)
        return cls(tuple(replace(each, shows="") for each in kept), cells, caption, marked, **settings)  # to be pickled

    @property
    def stacks(self) -> list[range]:
        """The places of each column with those of what stands below it."""
        starts = [place for place, column in enumerate(self.columns) if column.under is None]
        return [range(*ends) for ends in pairwise([*starts, len(self.columns)])]

    @property
    def marks(self) -> list[str]:
        """The marks of its cells."""
        held = {cell.mark for row in self.rows for cell in row if isinstance(cell, Cell)}
        return [mark for mark in MARKS if mark in held]

    def pick(self, places: Sequence[int]) -> Self:
        """Return the table with only these columns."""
        columns = tuple(self.columns[place] for place in places)
        return replace(self, columns=columns, rows=tuple(tuple(row[place] for place in places) for row in self.rows))

    def shortened(self) -> Self:
        """Return the first rows."""
        if self.few is None or self.few >= len(self.rows):
            return self
        hidden = sum(place >= self.few for place in self.marked)
        more = f" of {len(self.rows):,}{f', {hidden:,} further significant' * bool(hidden)}"
        return replace(self, caption=f"{self.caption}; the first {self.few}{more}", rows=self.rows[: self.few])


@dataclass(frozen=True)
class Figure(Recorded):
    """A drawing as data: `shape` is the function of `draw` that draws the columns."""

    shape: str
    title: str
    caption: str
    columns: Mapping[str, Any]
    x: str = ""
    y: str = ""


@dataclass(frozen=True, kw_only=True)
class Report(Recorded):
    """The result of a test as texts, tables and drawings, in the order in which they are shown.

    `concern`: whether the verdict is a significant disparity (None: undecided). A page shows only the title of a
    `folded` report. Indented lines of `reproduce` are code.
    """

    title: str = ""
    about: tuple[str, ...] = ()
    verdict: str = ""
    concern: bool | None = None
    remarks: tuple[str, ...] = ()
    numbers: tuple[tuple[str, str], ...] = ()
    grid: tuple[Table, ...] = ()
    lead: str = ""
    findings: tuple[Text, ...] = ()
    hypotheses: tuple[str, ...] = ()
    figures: tuple[Figure, ...] = ()
    tables: tuple[Table, ...] = ()
    parts: tuple["Report", ...] = ()
    left_out: tuple[Table, ...] = ()
    methods: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    reproduce: tuple[str, ...] = ()
    folded: bool = False
    headed: bool = False

    @property
    def first(self) -> Self:
        """What stands before the first folded part."""
        n = next((place for place, part in enumerate(self.parts) if part.folded), None)
        return self if n is None else replace(self, parts=self.parts[:n], methods=(), notes=(), reproduce=())


def rewritten(held: Any, write: Callable[[str], str]) -> Any:
    """Return a report, or a part of one, with other words in all its texts."""
    if isinstance(held, str):
        return write(held)
    if isinstance(held, tuple):
        return tuple(rewritten(each, write) for each in held)
    if isinstance(held, Report | Table | Column | Cell):
        return replace(held, **{each.name: rewritten(getattr(held, each.name), write) for each in fields(held)})
    return held


def listed(title: str, findings: Iterable[Text], **fields: Any) -> tuple[Report, ...]:
    """Return a part of sentences under a title; none of no sentences."""
    found = tuple(findings)
    return (Report(title=title, findings=found, **fields),) if found else ()


def values_of(columns: Mapping[str, ArrayLike]) -> dict[str, tuple[float, ...]]:
    """Return columns of numbers as a figure holds them."""
    return {name: tuple(np.asarray(values, dtype=float).tolist()) for name, values in columns.items()}
