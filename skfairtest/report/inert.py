"""Names and sentences inside a document: nothing in them moves the cursor, nor turns the writing around them."""

from __future__ import annotations

import unicodedata

__all__ = ["escaped", "inert", "isolated"]

#: Marks that keep the direction of what stands between them from what stands around them.
FIRST_STRONG_ISOLATE, POP_ISOLATE = "\u2068", "\u2069"
#: Nobody sees them, and without them some words and pictures fall apart.
JOINERS = frozenset("\u200c\u200d")
_RIGHT_TO_LEFT = frozenset({"R", "AL", "AN"})


def escaped(text: str) -> str:
    r"""Write what cannot be printed as escapes, but for joiners inside of words and of pictures.

    A joiner between letters of ASCII, or at an end, would only make two names look alike.

    Examples
    --------
    >>> escaped("a" + chr(27) + "[31m"), escaped("a" + chr(0x200D) + "b")
    ('a\\x1b[31m', 'a\\u200db')
    """
    if text.isprintable():
        return text
    return "".join(
        c if c.isprintable() or _joins(text, place) else c.encode("unicode_escape").decode("ascii")
        for place, c in enumerate(text)
    )


def _joins(text: str, place: int) -> bool:
    """Whether a joiner stands between two letters, or two pictures, that are not of ASCII."""
    if text[place] not in JOINERS or not 0 < place < len(text) - 1:
        return False
    before, after = text[place - 1], text[place + 1]
    # Marks and the colours of a skin (Sk) stand between what they change and the joiner.
    kinds = unicodedata.category(before), unicodedata.category(after)
    begins = kinds[0][0] in "LM" or kinds[0] in ("So", "Sk")
    ends = kinds[1][0] == "L" or kinds[1] == "So"
    return not before.isascii() and not after.isascii() and begins and ends


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
    return isolated(escaped(shown))


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
