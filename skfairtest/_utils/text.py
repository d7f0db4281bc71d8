"""Names as text: on one line, of a known width, with nothing that moves the cursor or turns the writing around it."""

import functools
import math
import re
import unicodedata
from collections.abc import Sequence
from decimal import ROUND_CEILING, Decimal
from itertools import accumulate
from typing import Any

#: Invisible, but some words and pictures fall apart without them.
JOINERS = "\u200c\u200d"
#: A joiner inside a word or a picture; beside ASCII, or at an end, it would only make two names look alike.
_INSIDE = re.compile(rf"((?<=[^\x00-\x7f{JOINERS}])[{JOINERS}](?=[^\x00-\x7f{JOINERS}]))")


def escape(text: str) -> str:
    r"""Write what cannot be printed as escapes, but for joiners inside words and pictures.

    Examples
    --------
    >>> escape("a" + chr(27) + "[31m"), escape("a" + chr(0x200D) + "b")
    ('a\\x1b[31m', 'a\\u200db')
    """
    if text.isprintable():
        return text
    return "".join(
        c if c.isprintable() or piece % 2 else c.encode("unicode_escape").decode("ascii")
        for piece, characters in enumerate(_INSIDE.split(text))  # every second one is a joiner that stays
        for c in characters
    )


def printable(text: str) -> str:
    r"""Write a text on one line, control characters and those that turn the direction of writing as escapes.

    Examples
    --------
    >>> printable("two" + chr(10) + "lines, " + chr(27) + "[31m red")
    'two lines, \\x1b[31m red'
    """
    return escape(" ".join(text.splitlines()))


def label(value: Any) -> str:
    r"""Write a group, stratum or metric on one line; characters that would move the cursor are written as escapes.

    A name that is empty, or has spaces at an end, is quoted.

    Examples
    --------
    >>> label(("Asian", "Female"))
    'Asian, Female'
    >>> label("a" + chr(27) + "[31m")
    'a\\x1b[31m'
    >>> print(label(""))
    ''
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, tuple):
        return ", ".join(label(part) for part in value)
    text = str(value)
    if not text or text != text.strip(" "):
        text = f"'{text}'"
    return escape(text)


def name_of(value: Any) -> str:
    """Name a function, or write a value as it is typed.

    Examples
    --------
    >>> name_of(len), name_of(functools.partial(sorted, reverse=True)), name_of("holm")
    ('len', 'sorted', "'holm'")
    """
    if not callable(value):
        return repr(value)
    if isinstance(value, functools.partial):
        return name_of(value.func)
    name = getattr(value, "__name__", None)
    if name is None and hasattr(value, "_metric_fn"):  # fairlearn's derived metrics have no name of their own
        return f"{name_of(value._metric_fn)}_{getattr(value, '_transform', 'disparity')}"
    return str(name) if name else type(value).__name__


def pluralize(count: int, one: str, several: str | None = None) -> str:
    """Write a count with its noun.

    Examples
    --------
    >>> pluralize(1, "comparison"), pluralize(1200, "comparison")
    ('1 comparison', '1,200 comparisons')
    """
    return f"{count:,} {one if count == 1 else several or one + 's'}"


def rounded_up(number: float) -> str:
    """Write a positive number with one digit that is not too small, as limits have to be.

    Examples
    --------
    >>> rounded_up(0.00034), rounded_up(0.0998), rounded_up(2.0)
    ('0.0004', '0.1', '2')
    """
    digit = Decimal(10) ** Decimal(number).adjusted()
    return f"{float((Decimal(number) / digit).to_integral_value(ROUND_CEILING) * digit):g}"


def enumerated(names: Sequence[str], joint: str = "and", most: int | None = None) -> str:
    """Write names one after another; of more than `most` the first, and how many more there are.

    Examples
    --------
    >>> enumerated(["race"]), enumerated(["race", "sex", "age"])
    ('race', 'race, sex and age')
    >>> enumerated(["race", "sex", "age"], most=1)
    'race and 2 more'
    >>> enumerated(["Asian, Female", "Black, Male"])
    'Asian, Female; Black, Male'
    """
    if most is not None and len(names) > most:
        names = [*names[:most], f"{len(names) - most:,} more"]
    if any(mark in name for name in names for mark in (", ", f" {joint} ")):
        return "; ".join(names)
    return "".join(names) or "none" if len(names) < 2 else f"{', '.join(names[:-1])} {joint} {names[-1]}"


def display_width(text: str) -> int:
    """Count the columns that a text takes in a terminal.

    Examples
    --------
    >>> (
    ...     display_width("abc"),
    ...     display_width(chr(0x6F22) + chr(0x5B57)),
    ...     display_width("e" + chr(0x301)),
    ... )
    (3, 4, 1)
    """
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(c) or c in JOINERS else 2 if unicodedata.east_asian_width(c) in ("W", "F") else 1
        for c in text
    )


def shorten(text: Any, width: int = 40) -> str:
    """Write a label on one line of at most `width` columns, cut in the middle; full names stand in tables.

    Examples
    --------
    >>> shorten("African-American"), shorten("African-American", 10)
    ('African-American', 'Afric…ican')
    """
    name = label(text)
    widths = [display_width(character) for character in name]
    if sum(widths) <= width:
        return name
    head = sum(columns <= width // 2 for columns in accumulate(widths))
    tail = sum(columns <= (width - 1) // 2 for columns in accumulate(reversed(widths)))
    return f"{name[:head]}…{name[len(name) - tail :]}"
