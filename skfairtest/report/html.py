"""Documents as HTML: one page that needs nothing else, or a part of a notebook.

Every text goes through one function on its way into a template, `_written`: what a document says is escaped there, on
one line, without control characters, whatever it is called.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from skfairtest._utils.text import printable
from skfairtest.report.document import Block, Grid, Heading, Paragraph, Table
from skfairtest.report.text import plain

try:
    import matplotlib as _drawn_with  # noqa: F401 - the first drawing would say so in the middle of a page
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup, escape
except ImportError as error:
    raise ImportError(
        f'the HTML report needs {error.name}: python -m pip install "skfairtest[report]"', name=error.name
    ) from error


#: A number with an exponent.
_SMALL = re.compile(r"(?:p [=<] )?\d(?:\.\d+)?e-\d+")


def page(blocks: Sequence[Block], *, details: bool = False, landscape: bool = False) -> str:
    """Write a document as one page: no network, light and dark, for screens and for paper.

    Its only script sorts and filters long tables of comparisons; without it everything is there to be read.

    Parameters
    ----------
    blocks : sequence of Block
        The document, whose first block is its title.
    details : bool
        Whether the annex is printed, too: what a screen folds up, and whole sections of long tables.
    landscape : bool
        Whether paper lies on its side, and each row of a table is one line: for tables of many columns.

    Returns
    -------
    str
        HTML, the same for the same document.
    """
    return _rendered("page.html.j2", blocks, "audit", top=1, details=details, landscape=landscape)


def fragment(blocks: Sequence[Block]) -> str:
    """Write a document for a notebook: one element, whose style sheet reaches nothing outside of it.

    Parts of grids that a page folds up are left out.

    Parameters
    ----------
    blocks : sequence of Block
        The document, with or without a title.

    Returns
    -------
    str
        HTML without a head.
    """
    blocks = [
        replace(block, parts=tuple(part for part in block.parts if not part.folded))
        if isinstance(block, Grid)
        else block
        for block in blocks
    ]
    # A notebook may show several documents; the ids of each are its own.
    digest = hashlib.blake2b(plain(blocks).encode("utf-8", "backslashreplace"), digest_size=4).hexdigest()
    return _rendered("fragment.html.j2", blocks, f"report-{digest}", top=2)


@dataclass(frozen=True)
class Section:
    """What stands between two headings of the second level; the heading is None before the first of them."""

    heading: Heading | None
    blocks: list[Block | Fold]

    @property
    def id(self) -> str:
        """The end of its heading's id."""
        return re.sub(r"[^a-z]+", "-", self.heading.text.lower()) if self.heading is not None else "title"

    @property
    def tone(self) -> str:
        """The tone of a section that begins with the verdict."""
        first = self.blocks[0] if self.blocks else None
        return first.tone if isinstance(first, Paragraph) and first.tone != "short" else "plain"

    @property
    def is_glance(self) -> bool:
        """Whether it begins with the grid, which belongs on the first screen."""
        return bool(self.blocks) and isinstance(self.blocks[0], Grid)

    @property
    def long(self) -> bool:
        """Whether it has tables that are sorted and filtered."""
        return any(isinstance(block, Table) and block.long for block in self.blocks)


@dataclass(frozen=True)
class Script:
    """The lines that sort and filter long tables, and the hash by which the page's policy allows them and no others."""

    source: Markup

    @property
    def hash(self) -> Markup:
        """SHA-256 as a policy writes it."""
        # A plus sign would be escaped, which browsers read all the same; auditors of the page might not.
        return Markup(base64.b64encode(hashlib.sha256(self.source.encode()).digest()).decode())


@dataclass(frozen=True)
class Fold:
    """A part of a section that is an annex: a page shows its heading until it is unfolded."""

    heading: Heading
    blocks: list[Block]


@dataclass(frozen=True)
class Cell:
    """A cell of a table: what it says, and below it, smaller, what belongs to it."""

    text: str
    below: tuple[str, ...]


def _rendered(
    template: str, blocks: Sequence[Block], prefix: str, *, top: int, details: bool = False, landscape: bool = False
) -> str:
    first, *sections = _sections(blocks)
    title = next((block.text for block in blocks if isinstance(block, Heading) and block.level == 1), "")
    context = {
        "first": first, "sections": sections, "title": title, "prefix": prefix, "top": top, "details": details,
        "landscape": landscape,
        "stacked": _stacked, "script": _script() if top == 1 and any(each.long for each in sections) else None,
        # The table of contents stands below the first screen.
        "contents_after": next((place for place, one in enumerate(sections) if one.is_glance), 0),
    }  # fmt: skip
    return _environment().get_template(template).render(context)


def _sections(blocks: Sequence[Block]) -> list[Section]:
    """Divide a document, so that no level of its headings is left out."""
    found, last = [Section(None, [])], 1
    fold: Fold | None = None
    for block in blocks:
        if isinstance(block, Heading):
            last = min(block.level, last + 1)
            block = replace(block, level=last)
        if isinstance(block, Heading) and (fold is None or last <= fold.heading.level):
            fold = Fold(block, []) if block.annex and last > 2 else None
            if fold is not None:
                found[-1].blocks.append(fold)
                continue
        if isinstance(block, Heading) and last == 2:
            found.append(Section(block, []))
        elif fold is not None:
            fold.blocks.append(block)
        else:
            found[-1].blocks.append(block)
    return found


def _stacked(table: Table) -> Iterator[list[Cell]]:
    """Yield the cells of each row, with those below them."""
    stacks = table.stacks()
    for row in table.rows:
        yield [
            Cell(row[top], tuple(f"{table.columns[place].under}{row[place]}" for place in below if row[place]))
            for top, *below in stacks
        ]


def _written(value: Any) -> Any:
    """The value as a template may write it: our own markup as it is, anything else as a text to be escaped."""
    return value if isinstance(value, Markup) else printable(str(value))


def _prose(text: str) -> Any:
    """A text whose small numbers stay on one line: browsers break "3.0e-44" behind the hyphen."""
    return Markup(_SMALL.sub(r'<span class="whole">\g<0></span>', str(escape(printable(text)))))


@cache
def _script() -> Script:
    """Return the script of a page, which holds nothing of the document."""
    loader = _environment().loader
    assert loader is not None
    return Script(Markup(loader.get_source(_environment(), "page.js")[0]))


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("skfairtest.report"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_written,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["prose"] = _prose
    environment.filters["percent"] = "{:.2%}".format
    return environment
