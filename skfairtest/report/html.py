"""Reports as HTML: one page that needs nothing else, or a part of a notebook.

Every text is escaped by `_written` on its way into the template.
"""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace
from functools import cache, partial
from typing import Any

from skfairtest._utils.text import printable
from skfairtest.report.draw import svg
from skfairtest.report.report import MEANINGS, Report, Table
from skfairtest.report.text import MOST_ITEMS, text

try:
    import matplotlib as _drawn_with  # noqa: F401 - the first drawing would say so in the middle of a page
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup, escape
except ImportError as error:
    raise ImportError(
        f'the HTML report needs {error.name}: python -m pip install "skfairtest[report]"', name=error.name
    ) from error

#: A p-value, or a number with an exponent.
_SMALL = re.compile(r"p (?:=|&lt;) \d[\d.e-]*\d|\d(?:\.\d+)?e-\d+")
#: Rows of a table beyond which those of a page are sorted and filtered.
LONG = 12


def page(report: Report, *, details: bool = False, landscape: bool = False) -> str:
    """Write a report as one page: no network, light and dark, for screens and for paper."""
    return _rendered(report, "audit", top=1, details=details, landscape=landscape)


def fragment(report: Report) -> str:
    """Write what comes first of a report for a notebook: one element, with a style sheet for nothing outside of it."""
    report = report.first
    grid = tuple(table for table in report.grid if not table.folded)
    # A notebook may show several reports; the ids of each are its own.
    digest = hashlib.blake2b(text(report).encode("utf-8", "backslashreplace"), digest_size=4).hexdigest()
    return _rendered(replace(report, grid=grid), f"report-{digest}", top=2, details=False, landscape=False)


def _rendered(report: Report, prefix: str, *, top: int, **context: Any) -> str:
    script = _script() if top == 1 and any(len(table.rows) > LONG for table in _tables(report)) else None
    known = {"report": report, "prefix": prefix, "top": top, "meanings": MEANINGS, "most": MOST_ITEMS, "script": script}
    return _environment().get_template("report.html.j2").render({**known, **context}).lstrip()


def _tables(report: Report) -> list[Table]:
    return [*report.tables, *(table for part in report.parts for table in _tables(part))]


def _written(value: Any) -> Any:
    """The value as a template may write it: our own markup as it is, anything else as a text to be escaped."""
    return value if isinstance(value, Markup) else printable(str(value))


def _prose(said: str) -> Any:
    """A text whose p-values and small numbers stay on one line: browsers break "3.0e-44" behind the hyphen."""
    return Markup(_SMALL.sub(r'<span class="whole">\g<0></span>', str(escape(printable(said)))))


def _name(said: str) -> Any:
    """A name that may be divided behind a slash or an underscore, before any word of it is."""
    return Markup(re.sub(r"(?<=[/_])(?=\w)", "<wbr>", str(escape(printable(said)))))


@cache
def _script() -> tuple[Markup, Markup]:
    """The lines that sort and filter tables, and the hash by which the page's policy allows them and no others."""
    loader: Any = _environment().loader
    source = loader.get_source(_environment(), "page.js")[0]
    # A plus sign would be escaped, which browsers read all the same; auditors of the page might not.
    return Markup(source), Markup(base64.b64encode(hashlib.sha256(source.encode()).digest()).decode())


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
    environment.filters |= {"prose": _prose, "name": _name, "svg": lambda figure: Markup(svg(figure))}
    environment.filters["signed"] = partial(re.compile(r"(?<![\w.])-(?=\d)").sub, "\N{MINUS SIGN}")
    environment.tests["code"] = lambda line: line.startswith(" ")
    return environment
