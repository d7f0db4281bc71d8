"""Names and sentences inside a document: nothing in them moves the cursor, nor turns the writing around them."""

from __future__ import annotations

import unicodedata

__all__ = ["inert", "isolated"]

#: Marks that keep the direction of what stands between them from what stands around them.
FIRST_STRONG_ISOLATE, POP_ISOLATE = "\u2068", "\u2069"
_RIGHT_TO_LEFT = frozenset({"R", "AL", "AN"})


def inert(text: str) -> str:
    r"""Write a text on one line, control characters as escapes, and writing from right to left isolated.

    Examples
    --------
    >>> inert("two" + chr(10) + "lines, " + chr(27) + "[31m red")
    'two lines, \\x1b[31m red'
    """
    if text.isascii() and text.isprintable():
        return text
    shown = " ".join(text.splitlines())
    escaped = "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in shown)
    return isolated(escaped)


def isolated(text: str) -> str:
    """Isolate every run of writing from right to left, so that the numbers and words around it keep their places.

    Examples
    --------
    >>> isolated("a name: 3 of 5")
    'a name: 3 of 5'
    >>> [unicodedata.name(c) for c in isolated("a " + chr(0x5D0) + " 3")][2:5]
    ['FIRST STRONG ISOLATE', 'HEBREW LETTER ALEF', 'POP DIRECTIONAL ISOLATE']
    """
    if text.isascii():
        return text
    out: list[str] = []
    begin = end = None  # of a run, from its first letter to its last one
    for place, character in enumerate(text):
        kind = unicodedata.bidirectional(character)
        if kind in _RIGHT_TO_LEFT:
            begin = place if begin is None else begin
            end = place + 1
        elif kind == "L" and begin is not None:
            out += [FIRST_STRONG_ISOLATE, text[begin:end], POP_ISOLATE, text[end:place]]
            begin = end = None
        if begin is None:
            out.append(character)
    if begin is not None:
        out += [FIRST_STRONG_ISOLATE, text[begin:end], POP_ISOLATE, text[end:]]
    return "".join(out)
