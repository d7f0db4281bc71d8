"""A drawing of matplotlib's as one `<svg>` element inside a page: text is text, colours follow the page.

Names of groups never reach matplotlib. Stand-ins of the same width are drawn in their place, and the names are written
into the finished element, escaped: so no name is read as mathematics or TeX, none needs a glyph of matplotlib's fonts,
and the browser draws it with the fonts that it has.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape
from typing import Any
from xml.etree import ElementTree

from skfairtest._utils.text import display_width, printable, shorten
from skfairtest.report.draw import BLUE, GREY, ORANGE, PALE

__all__ = ["COLOURS", "drawn", "file_of", "stand_ins"]

#: What a colour of a drawing is called in the page's style sheet, and how it looks without one.
COLOURS = {
    BLUE.lower(): "blue",
    ORANGE.lower(): "orange",
    GREY.lower(): "grey",
    PALE.lower(): "pale",
    "#000000": "ink",
    "#ffffff": "paper",
    "#9a9a9a": "bar",
    "#eeeeee": "rule",
}
#: Widest name in a drawing; the tables beside it have all of it.
WIDEST = 48
FAMILY = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, "DejaVu Sans", sans-serif'
DARK = (
    "--paper: #14171b; --ink: #e6e8eb; --grey: #a5adb7; --rule: #2b3138; --pale: #353c45; --blue: #56b4e9; "
    "--orange: #f58a3c"
)

_COLOUR = re.compile(r"#[0-9a-fA-F]{6}\b")
_DECIMAL = re.compile(r"-?\d+\.\d+(?:e-?\d+)?")
_REFERENCE = re.compile(r"url\(#([^)]+)\)")
_GEOMETRY = frozenset({"d", "x", "y", "width", "height", "points", "transform"})
#: The style sheet in there would be one of the whole page, and the metadata point outside of it.
_DROPPED = frozenset({"metadata", "style"})


def stand_ins(names: Sequence[str]) -> dict[str, str]:
    """Return a text of plain letters for each name, as wide as the name, that no other text in a drawing equals.

    Examples
    --------
    >>> stand_ins(["Asian", "Other"])
    {'nnnq0': 'Asian', 'nnnq1': 'Other'}
    """
    found = {}
    for place, name in enumerate(names):
        shown = shorten(name, WIDEST)
        found[f"q{place:x}".rjust(display_width(shown), "n")] = shown
    return found


def drawn(
    paint: Callable[[Any, list[str]], None],
    names: Sequence[str],
    prefix: str,
    *,
    inches: tuple[float, float],
    title: str,
    description: str,
) -> str:
    """Draw on a new figure and return it as an `<svg>` element.

    Parameters
    ----------
    paint : callable
        Takes a matplotlib Figure, in which it puts axes where they belong, and a stand-in for every name.
    names : sequence of str
        Names of groups and metrics, as they shall be read.
    prefix : str
        What every id in it starts with; different for each drawing of a page.
    inches : (float, float)
        Width and height.
    title, description : str
        What it is called, and what there is to see for somebody who does not see it.

    Returns
    -------
    str
        The element; the same bytes for the same arguments.
    """
    import matplotlib as mpl
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    stands = stand_ins(names)
    target = io.StringIO()
    with mpl.rc_context(), warnings.catch_warnings():
        # How a reader set up matplotlib is no part of an audit.
        mpl.rcdefaults()
        mpl.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "skfairtest"})
        # Words of an edited record may be in any script; they are written, too, and not drawn.
        warnings.filterwarnings("ignore", message="Glyph .* missing from", category=UserWarning)
        figure = Figure(figsize=inches)
        canvas = FigureCanvasSVG(figure)
        figure.patch.set_visible(False)
        paint(figure, list(stands))
        for ax in figure.axes:
            ax.patch.set_visible(False)
        # Not savefig, which would draw everything twice to find a layout that is there.
        canvas.print_svg(target, metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))  # type: ignore[no-untyped-call]
    root = ElementTree.fromstring(target.getvalue())
    return _element(root, stands, prefix=prefix, title=title, description=description)


def literal(text: Any) -> Any:
    """Let matplotlib draw a text as it is, and not as mathematics."""
    text.set_parse_math(False)
    return text


def file_of(element: str) -> str:
    """Return a drawn element as a file of its own, which follows a dark page."""
    style = (
        f"<style>svg {{ font-family: {FAMILY}; background: var(--paper, #ffffff) }} "
        f"@media (prefers-color-scheme: dark) {{ svg {{ {DARK} }} }}</style>"
    )
    head, _, rest = element.removeprefix("<svg").partition(">")
    return f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"{head}>{style}{rest}\n'


def _element(root: ElementTree.Element, stands: Mapping[str, str], *, prefix: str, title: str, description: str) -> str:
    """Write the root with what describes it, and then all that is drawn."""
    width, height = (float(number) for number in root.attrib["viewBox"].split()[2:])
    ids = sorted(set(_referenced(root)))
    known = {name: f"{prefix}-{place}" for place, name in enumerate(ids)}
    return (
        f'<svg class="drawing" role="img" aria-labelledby="{prefix}-title {prefix}-desc" '
        f'viewBox="0 0 {width:g} {height:g}" width="{width * 4 / 3:g}" height="{height * 4 / 3:g}" '
        'style="stroke-linejoin: round; stroke-linecap: butt; fill: var(--ink, #000000)">'
        f'<title id="{prefix}-title">{escape(printable(title))}</title>'
        f'<desc id="{prefix}-desc">{escape(printable(description))}</desc>'
        f"{''.join(_written(child, stands, known) for child in root)}</svg>"
    )


def _local(name: str) -> str:
    return name.rpartition("}")[2]


def _referenced(root: ElementTree.Element) -> Iterator[str]:
    for element in root.iter():
        for name, value in element.attrib.items():
            if _local(name) == "href":
                yield value.removeprefix("#")
            else:
                yield from _REFERENCE.findall(value)


def _written(element: ElementTree.Element, stands: Mapping[str, str], ids: Mapping[str, str]) -> str:
    tag = _local(element.tag)
    if tag in _DROPPED:
        return ""
    attributes = "".join(f' {name}="{escape(value)}"' for name, value in _attributes(element, ids) if value)
    text = (element.text or "").strip()
    inside = escape(printable(stands.get(text, text))) + "".join(_written(child, stands, ids) for child in element)
    if tag in ("g", "defs") and (not inside or (tag == "g" and not attributes)):
        return inside
    return f"<{tag}{attributes}>{inside}</{tag}>" if inside else f"<{tag}{attributes}/>"


def _attributes(element: ElementTree.Element, ids: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for key, value in element.attrib.items():
        name = _local(key)
        if name == "id":
            # Only what something points to needs one.
            yield name, ids.get(value, "")
        elif name == "href":
            yield name, f"#{ids[value.removeprefix('#')]}"
        elif name in _GEOMETRY:
            # Hundredths of a point are finer than any screen, and alike on all machines.
            turned = "" if value.startswith(("rotate(-0 ", "rotate(0 ")) else value
            yield name, " ".join(_DECIMAL.sub(lambda found: f"{round(float(found[0]), 2):g}", turned).split())
        elif name == "style":
            yield name, "; ".join(_style(value, ids))
        elif name == "fill":
            # A variable has its meaning in a style only.
            yield "style", "; ".join(_style(f"fill: {value}", ids))
        else:
            yield name, _REFERENCE.sub(lambda found: f"url(#{ids[found[1]]})", value)


def _style(value: str, ids: Mapping[str, str]) -> Iterator[str]:
    """Yield declarations, with the page's colours and fonts."""
    for declaration in value.split("; "):
        name, _, said = declaration.partition(": ")
        if name == "font":
            # Older versions of matplotlib name everything together: "700 10px 'DejaVu Sans', sans-serif".
            size = next(part for part in said.split() if part.endswith("px"))
            weight = said.split()[0]
            if weight.isdigit():
                yield f"font-weight: {weight}"
            name, said = "font-size", size
        if name == "font-family":
            continue
        said = _REFERENCE.sub(lambda found: f"url(#{ids[found[1]]})", said)
        yield f"{name}: {_COLOUR.sub(_variable, said)}"


def _variable(found: re.Match[str]) -> str:
    colour = found[0].lower()
    return f"var(--{COLOURS[colour]}, {colour})" if colour in COLOURS else colour
