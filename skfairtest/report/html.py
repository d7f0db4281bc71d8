"""Documents as HTML: one page that needs nothing else, or a part of a notebook.

Every text goes through one function on its way into a template, `_written`: what a document says is escaped there, on
one line, without control characters, whatever it is called.
"""

from __future__ import annotations

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
    from markupsafe import Markup
except ImportError as error:
    raise ImportError(
        f'the HTML report needs {error.name}: python -m pip install "skfairtest[report]"', name=error.name
    ) from error

__all__ = ["fragment", "page"]

#: The space of "5 %".
_PERCENT = re.compile(r"(?<=\d) (?=%)")


def page(blocks: Sequence[Block]) -> str:
    """Write a document as one page: no network, no script, light and dark, for screens and for paper.

    Parameters
    ----------
    blocks : sequence of Block
        The document, whose first block is its title.

    Returns
    -------
    str
        HTML, the same for the same document.
    """
    return _rendered("page.html.j2", blocks, "audit", top=1)


def fragment(blocks: Sequence[Block]) -> str:
    """Write a document for a notebook: one element, whose style sheet reaches nothing outside of it.

    Parameters
    ----------
    blocks : sequence of Block
        The document, with or without a title.

    Returns
    -------
    str
        HTML without a head.
    """
    # A notebook may show several documents; the ids of each are its own.
    digest = hashlib.blake2b(plain(blocks).encode("utf-8", "backslashreplace"), digest_size=4).hexdigest()
    return _rendered("fragment.html.j2", blocks, f"report-{digest}", top=2)


@dataclass(frozen=True)
class Section:
    """What stands between two headings of the second level; the heading is None before the first of them."""

    heading: Heading | None
    blocks: list[Block]

    @property
    def id(self) -> str:
        """The end of its heading's id."""
        return re.sub(r"[^a-z]+", "-", self.heading.text.lower()) if self.heading is not None else "title"

    @property
    def tone(self) -> str:
        """The tone of a section that begins with the verdict."""
        first = self.blocks[0] if self.blocks else None
        return first.tone if isinstance(first, Paragraph) else "plain"

    @property
    def is_glance(self) -> bool:
        """Whether it begins with the grid, which belongs on the first screen."""
        return bool(self.blocks) and isinstance(self.blocks[0], Grid)


@dataclass(frozen=True)
class Cell:
    """A cell of a table: what it says, and below it, smaller, what belongs to it."""

    text: str
    below: tuple[str, ...]


def _rendered(template: str, blocks: Sequence[Block], prefix: str, *, top: int) -> str:
    first, *sections = _sections(blocks)
    title = next((block.text for block in blocks if isinstance(block, Heading) and block.level == 1), "")
    context = {"first": first, "sections": sections, "title": title, "prefix": prefix, "top": top, "stacked": _stacked}
    # The table of contents stands below the first screen.
    context["contents_after"] = next((place for place, one in enumerate(sections) if one.is_glance), 0)
    return _environment().get_template(template).render(context)


def _sections(blocks: Sequence[Block]) -> list[Section]:
    """Divide a document, so that no level of its headings is left out."""
    found, last = [Section(None, [])], 1
    for block in blocks:
        if isinstance(block, Heading):
            last = min(block.level, last + 1)
            block = replace(block, level=last)
        if isinstance(block, Heading) and block.level == 2:
            found.append(Section(block, []))
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
    """Return what a template may write: our own markup as it is, anything else as a text to be escaped."""
    return value if isinstance(value, Markup) else _PERCENT.sub("\N{NO-BREAK SPACE}", printable(str(value)))


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
    environment.filters["percent"] = "{:.2%}".format
    return environment
