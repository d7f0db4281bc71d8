"""Reading plain data by declaration: what each place of a document must be, and a sentence for what is not.

A reader takes what JSON holds and the place where it stands ("parts[0].leading"), and returns what is to be kept, or
raises a ValueError that names the place, what belongs there and what was found.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from reprlib import Repr
from typing import Annotated, Any, ClassVar, get_origin, get_type_hints

from skfairtest._utils.state import PlainState

Reader = Callable[[Any, str], Any]

#: Whole numbers beyond have no place in a column.
MOST = 2**63
#: Lists in lists that nobody needs, and that some reader could not follow.
DEEPEST = 20
_SHORT = Repr()
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 60


def document_of(text: Any) -> Any:
    """The document in a JSON text; anything that is none is a ValueError."""
    if not isinstance(text, str | bytes | bytearray):
        raise ValueError(f"text must be a text that holds JSON; found {type(text).__name__}")

    def refuse(name: str) -> None:
        raise ValueError(f"{name} is no number of JSON")

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            names = [name for name, _ in pairs]
            raise ValueError(f"it has {next(n for n in names if names.count(n) > 1)!r:.60} twice in one object")
        return found

    try:
        return json.loads(text, parse_constant=refuse, object_pairs_hook=once)
    except RecursionError as error:
        raise ValueError("text is not JSON that can be read: its lists are too deep") from error
    except (ValueError, OverflowError) as error:
        raise ValueError(f"text is not JSON: {error}") from error


def refused(place: str, what: str, found: Any) -> ValueError:
    """Say what a place must be."""
    return ValueError(f"{place} must be {what}; found {_SHORT.repr(found)}")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:  # a whole number beyond all floats
        return math.inf


def text(value: Any, place: str) -> str:
    """Read a text."""
    if not isinstance(value, str):
        raise refused(place, "a text", value)
    return value


def matching(pattern: str, what: str) -> Reader:
    """Return a reader of texts that a regular expression matches as a whole; `what` says it in words."""
    compiled = re.compile(pattern)

    def read(value: Any, place: str) -> str:
        if not isinstance(value, str) or not compiled.fullmatch(value):
            raise refused(place, what, value)
        return value

    return read


def truth(value: Any, place: str) -> bool:
    """Read a truth value."""
    if not isinstance(value, bool):
        raise refused(place, "true or false", value)
    return value


def count(value: Any, place: str) -> int:
    """Read how many there are."""
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < MOST:
        raise refused(place, "a whole number from 0 to 2**63 - 1", value)
    return value


def between(
    low: float = -math.inf, high: float = math.inf, *, null: bool = False, infinite: bool = False, inside: bool = False
) -> Reader:
    """Return a reader of numbers in a range.

    Parameters
    ----------
    low, high : float
        Ends of the range.
    null : bool
        Whether it may be undefined, which is null.
    infinite : bool
        Whether it may be infinite, which is "inf" or "-inf".
    inside : bool
        Whether the ends are excluded.

    Returns
    -------
    callable
        A reader; undefined numbers are NaN.
    """
    finite = (low, high) == (-math.inf, math.inf)
    range_ = "a finite number" if finite else f"a number {'between' if inside else 'from'} {low:g} "
    range_ += "" if finite else f"{'and' if inside else 'to'} {high:g}"
    what = f"{range_}{', null' if null else ''}"
    what += ', "inf" or "-inf"' if infinite else ""

    def read(value: Any, place: str) -> float:
        if value is None and null:
            return math.nan
        if (infinite and isinstance(value, str) and value in ("inf", "-inf")) or (
            _is_number(value) and math.isfinite(_float(value))
        ):
            found = float(value)
        else:
            raise refused(place, what, value)
        if not (low < found < high if inside else low <= found <= high):
            raise refused(place, what, value)
        return found

    return read


#: Any number: finite, infinite or undefined.
number = between(null=True, infinite=True)


def one_of(*values: Any) -> Reader:
    """Return a reader of a closed vocabulary of texts, with null where None is one of them."""
    said = ", ".join("null" if value is None else repr(value) for value in values)

    def read(value: Any, place: str) -> Any:
        if not (value is None or isinstance(value, str)) or value not in values:
            raise refused(place, f"one of {said}", value)
        return value

    return read


def scalar(value: Any, place: str) -> Any:
    """Read a label: text, a number, a truth value or null."""
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, int) and -MOST <= value < 2 * MOST:
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    raise refused(place, "a label (a text, a number, true, false or null)", value)


def either(*readers: Reader) -> Reader:
    """A reader of several kinds: the first that can reads, and the last one says what is wrong."""

    def read(value: Any, place: str) -> Any:
        for reader in readers[:-1]:
            try:
                return reader(value, place)
            except ValueError:
                continue
        return readers[-1](value, place)

    return read


def array(reader: Reader, length: int | None = None, *, least: int = 0) -> Reader:
    """Return a reader of lists, as tuples, of a given length or of at least so many."""
    what = f"a list of {length}" if length is not None else f"a list of at least {least}" if least else "a list"

    def read(value: Any, place: str) -> tuple[Any, ...]:
        if not isinstance(value, list) or len(value) < least or length not in (None, len(value)):
            raise refused(place, what, value)
        return tuple(reader(part, f"{place}[{i}]") for i, part in enumerate(value))

    return read


def mapping(reader: Reader) -> Reader:
    """Return a reader of objects with keys of any name."""

    def read(value: Any, place: str) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise refused(place, "an object", value)
        return {key: reader(part, f"{place}[{_SHORT.repr(key)}]") for key, part in value.items()}

    return read


def record(fields: Mapping[str, Reader]) -> Reader:
    """Return a reader of objects that have these keys; others are not read."""

    def read(value: Any, place: str) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise refused(place or "text", "an object", value)
        for name in fields:
            if name not in value:
                raise ValueError(f"{place + ': ' if place else ''}{name!r} is missing")
        return {name: reader(value[name], f"{place}.{name}".lstrip(".")) for name, reader in fields.items()}

    return read


def unordered(reader: Reader) -> Reader:
    """Return a reader of lists whose order says nothing, as frozen sets."""
    listed = array(reader)
    return lambda value, place: frozenset(listed(value, place))


class Declared(PlainState):
    """What a record holds: each field is annotated with what reads it, and written by `plain_value`."""

    #: Fields that are not written where there is nothing in them.
    _left_out: ClassVar[frozenset[str]] = frozenset()

    def also(self) -> dict[str, Any]:
        """What is written beside the fields, for readers of the JSON."""
        return {}


#: Evaluating annotations takes its time.
_READERS: dict[type, Mapping[str, Reader]] = {}


def readers_of(cls: type) -> Mapping[str, Reader]:
    """Return the readers that the fields of a class are annotated with."""
    if cls not in _READERS:
        hints = get_type_hints(cls, include_extras=True)
        _READERS[cls] = {name: hint.__metadata__[0] for name, hint in hints.items() if get_origin(hint) is Annotated}
    return _READERS[cls]


def made_of(cls: type) -> Reader:
    """Return a reader of objects that a class is made of."""
    read = record(readers_of(cls))
    return lambda value, place: cls(**read(value, place))


def optional(cls: type) -> Reader:
    """Return a reader of objects that a class is made of, or null."""
    return either(one_of(None), made_of(cls))


def anything(value: Any, place: str, depth: int = 0) -> Any:
    """Read whatever JSON has, but no infinity (1e999), and nothing deeper than anybody needs."""
    if depth > DEEPEST:
        raise ValueError(f"{place} has lists within lists, more than {DEEPEST} deep")
    if isinstance(value, list):
        return [anything(part, f"{place}[{i}]", depth + 1) for i, part in enumerate(value)]
    if isinstance(value, dict):
        return {key: anything(part, f"{place}[{_SHORT.repr(key)}]", depth + 1) for key, part in value.items()}
    if isinstance(value, float) and not math.isfinite(value):
        raise refused(place, "a finite number", value)
    return value
