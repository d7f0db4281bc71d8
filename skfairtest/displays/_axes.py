"""Axes to draw on, and text on them: names from the data are drawn literally, in fonts that have their characters."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from skfairtest._utils.text import label

#: Installed fonts that are asked for characters which the default one has not; emoji in colours cannot be drawn.
WIDE_FONTS = re.compile(
    r"CJK|Noto Sans|Arial Unicode|Fallback|Unifont|WenQuanYi|Hiragino|YaHei|Gothic|Meiryo|PingFang|Heiti|SimHei|Ming|"
    r"Song|Malgun|Nanum|Droid|FreeSans|Segoe UI|Tahoma|Symbola",
    re.IGNORECASE,
)
NOT_DRAWN = re.compile("color|emoji", re.IGNORECASE)


def axes(ax: Any, who: str, size: tuple[float, float] | None = None) -> tuple[Any, Any]:
    """Return the figure and the axes; if there are none yet, new ones of a size in inches.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    """
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(f'{who} draws with matplotlib: python -m pip install "skfairtest[report]"') from error
    if ax is None:
        _, ax = plt.subplots(layout="constrained", figsize=size)
    return ax.figure, ax


def drawable(text: Any) -> str:
    """Write a name on one line; characters that no installed font has are written as escapes.

    Matplotlib would draw the same empty box for each, and warn about every one.
    """
    name = label(text)
    if name.isascii():
        return name
    known = (_has(_default(), c) or _font_of(c) for c in name)
    return "".join(c if is_known else ascii(c)[1:-1] for c, is_known in zip(name, known, strict=True))


def find_fonts(texts: Iterable[Any]) -> None:
    """Let matplotlib's texts fall back to fonts that have their characters."""
    for text in texts:
        missing = [c for c in text.get_text() if not c.isspace() and not _has(_default(), c)]
        families = [family for family in dict.fromkeys(map(_font_of, missing)) if family]
        if families:
            text.set_fontfamily([*text.get_fontfamily(), *families])


def _default() -> str:
    from matplotlib.font_manager import FontProperties, findfont

    return str(findfont(FontProperties()))


@lru_cache(maxsize=64)
def _characters(path: str) -> frozenset[int]:
    from matplotlib.font_manager import get_font

    try:
        return frozenset(get_font(path).get_charmap())
    except (OSError, RuntimeError):  # listed, and gone or broken
        return frozenset()


def _has(path: str, character: str) -> bool:
    return ord(character) in _characters(path)


@lru_cache(maxsize=4096)
def _font_of(character: str) -> str:
    """Return the family of an installed font that has a character; empty if there is none."""
    from matplotlib.font_manager import fontManager

    for font in fontManager.ttflist:
        if WIDE_FONTS.search(font.name) and not NOT_DRAWN.search(font.name) and _has(font.fname, character):
            return str(font.name)
    return ""
