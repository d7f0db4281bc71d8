"""Plain data: how they are declared, read, written and compared.

Reading plain data by declaration: what each place of a document must be, and a sentence for what is not.

A reader takes what JSON holds and the place where it stands ("parts[0].leading"), and returns what is to be kept, or
raises a ValueError that names the place, what belongs there and what was found.

Plain data: labels, numbers and frames as JSON has them, and declared objects as their fields.

A record is rebuilt from its facts, and must be the document that was given.

Whatever follows from other fields is computed again and compared with what was read, number for number within rounding.
What cannot be computed from a record, such as a sampled p-value, is compared with what it cannot be.
"""

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from numbers import Integral, Real
from reprlib import Repr
from typing import Annotated, Any, ClassVar, get_origin, get_type_hints

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from skfairtest._utils.base import PlainState
from skfairtest._utils.checks import is_integer
from skfairtest._utils.text import name_of

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
real = between(null=True, infinite=True)


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


#: Columns of frames that hold labels; the others hold numbers, truth values and our own words.
LABELS = frozenset({"metric", "group", "other", "stratum", "reason", "method", "verdict"})
WHOLE = frozenset({"n", "n_group", "n_other", "n_effective", "comparisons"})
TRUTH = frozenset({"concern", "small"})


def plain_label(value: Any) -> Any:
    """Return a label that JSON has, with tuples kept: text, numbers and truth values; anything else as text.

    Examples
    --------
    >>> import numpy as np
    >>> plain_label((np.int64(3), None, np.datetime64("2020-01-01")))
    (3, None, '2020-01-01')
    """
    if value is None or isinstance(value, str | bool):
        # A subclass of str (an enumeration, NumPy's text) is written as its text.
        return str(value) if isinstance(value, str) and type(value) is not str else value
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, tuple | list):
        return tuple(plain_label(part) for part in value)
    if is_integer(value):
        # Larger ones have no place in an index.
        whole = int(value)
        return whole if -(2**63) <= whole < 2**64 else str(whole)
    if isinstance(value, Real) and not isinstance(value, Integral) and math.isfinite(float(value)):
        return float(value)
    return str(value)


def plain_value(value: Any) -> Any:
    """Return a number, or anything made of plain values, as JSON has it: nan is null, infinities "inf" and "-inf"."""
    kind = type(value)
    if value is None or kind is str or kind is bool:
        return value
    if kind is float:
        return value if math.isfinite(value) else None if math.isnan(value) else str(value)
    if kind is int:
        return plain_label(value)
    if isinstance(value, Mapping):
        return {str(key): plain_value(part) for key, part in value.items()}
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, tuple | list | frozenset | set):
        # Sets have no order of their own.
        return [plain_value(part) for part in (sorted(value, key=str) if isinstance(value, frozenset | set) else value)]
    if isinstance(value, pd.DataFrame):
        return plain_rows(value)
    if isinstance(value, Declared):
        fields = {name: plain_value(getattr(value, name)) for name in readers_of(type(value))} | value.also()
        return {name: field for name, field in fields.items() if field or name not in value._left_out}
    if callable(value):
        return name_of(value)
    if isinstance(value, Real) and not isinstance(value, Integral | np.bool_):
        return plain_value(float(value))
    return plain_label(value)


def _label(value: Any) -> Any:
    return tuple(map(_label, value)) if isinstance(value, list) else value


def of_features(value: Any, features: int) -> Any:
    """Return a plain label of so many features: a tuple that is the label of one of them is written as text."""
    if not isinstance(value, list):
        return value
    return [of_features(part, 1) for part in value] if features > 1 else str(_label(value))


def _column(name: str, values: list[Any], index: pd.Index) -> pd.Series | NDArray[Any]:
    if name in LABELS:
        column = np.empty(len(values), dtype=object)
        column[:] = [_label(value) for value in values]
        return pd.Series(column, index=index, dtype=object)
    if name in WHOLE:
        return np.array([int(value) for value in values], dtype=np.int64)
    if name in TRUTH:
        return np.array([bool(value) for value in values], dtype=bool)
    return np.array([math.nan if value is None else float(value) for value in values], dtype=float)


def plain_rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a frame as JSON has them."""
    columns = {str(name): [plain_value(value) for value in column.tolist()] for name, column in frame.items()}
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def frame_of(rows: Sequence[Mapping[str, Any]], columns: Iterable[str]) -> pd.DataFrame:
    """Return rows as a frame with the types of the schema, whatever they came from."""
    # Columns that share one index need not be aligned.
    index = pd.RangeIndex(len(rows))
    return pd.DataFrame({name: _column(name, [row[name] for row in rows], index) for name in columns}, index=index)


#: Relative rounding errors of stored numbers; a p-value so near the level may lie on either side of it.
ROUNDING = 1e-9
#: A p-value is implausible beside a statistic that is so many times, and so much, farther out than its own quantile.
TIMES, BEYOND = 3.0, 3.0
#: However far out a statistic is, few resamples or clusters may leave its p-value at this one, and few people at 1.
LARGEST_P, FEW = 0.7, 10


def at_most(p: float, level: float) -> bool:
    """Whether a p-value is at most a level; rounding does not decide between equal ones."""
    return p <= level * (1 + 1e-12)


def _is_real(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def same(given: Any, due: Any, *, least: float = 1e-12) -> bool:
    """Whether two values are the same but for rounding, to which everything below `least` is due."""
    if _is_real(given) and _is_real(due):
        return math.isclose(given, due, rel_tol=ROUNDING, abs_tol=least) or (math.isnan(given) and math.isnan(due))
    return type(given) is type(due) and bool(given == due)


def _shown(value: Any) -> str:
    """Write a field's value; a number without its rounding errors."""
    return f"{value:.12g}" if isinstance(value, float) else f"{value!r:.60}"


def differences(given: Any, due: Any, place: str = "", *, without: frozenset[str] = frozenset()) -> Iterator[str]:
    """Yield a sentence for each place in which a document is not what was rebuilt from its facts.

    Parameters
    ----------
    given, due : object
        What was read, and what was rebuilt, as JSON has them. What was rebuilt has nothing to say about other keys.
    place : str
        Where both stand.
    without : frozenset of str
        Keys that are not compared.

    Yields
    ------
    str
        Which field says what, and what follows from the others.

    Examples
    --------
    >>> list(differences({"rows": [{"n": 3}]}, {"rows": [{"n": 4}]}))
    ['rows[0].n is 3, and must be 4: that follows from the rest of the record']
    """
    if isinstance(given, dict) and isinstance(due, dict):
        for name in (name for name in due if name not in without):
            yield from differences(given.get(name), due[name], f"{place}.{name}".lstrip("."), without=without)
    elif isinstance(given, list) and isinstance(due, list) and len(given) == len(due):
        for i, (one, other) in enumerate(zip(given, due, strict=True)):
            yield from differences(one, other, f"{place}[{i}]", without=without)
    elif not same(given, due, least=1e-300 if "p_value" in place.rpartition(".")[2] else 1e-12):
        yield f"{place} is {_shown(given)}, and must be {_shown(due)}: that follows from the rest of the record"


def implausible(row: Mapping[str, Any], estimate: str, *, equality: bool = True) -> Iterator[str]:
    """Yield a sentence for each number of a row that cannot be beside the others.

    Parameters
    ----------
    row : mapping
        A row with ``ci_low`` and ``ci_high``; where it is a comparison, with ``p_value``, ``p_value_adjusted`` and
        ``statistic``.
    estimate : str
        The column of which these are limits.
    equality : bool
        Whether the statistic is in standard errors from equality.

    Yields
    ------
    str
        Which number, and beside which.
    """
    low, value, high = (float(row[name]) for name in ("ci_low", estimate, "ci_high"))
    slack = ROUNDING * max(1.0, abs(value)) if math.isfinite(value) else 0.0
    if low > high or math.isnan(low) != math.isnan(high):
        yield f"ci_low is {_shown(low)}, and ci_high {_shown(high)}: the lower limit must come first"
    elif value < low - slack or value > high + slack:
        yield f"{estimate} is {_shown(value)}, and must lie in its interval, {_shown(low)} to {_shown(high)}"
    if "p_value_adjusted" not in row:
        return
    p, adjusted = float(row["p_value"]), float(row["p_value_adjusted"])
    if adjusted < p * (1 - ROUNDING):
        yield f"p_value_adjusted is {_shown(adjusted)}, and must be at least p_value, {_shown(p)}"
    statistic = abs(float(row.get("statistic", math.nan)))
    if equality and not math.isnan(statistic) and not math.isnan(p):
        quantile, few = _quantile(p), min(row.get("n_group", FEW), row.get("n_other", FEW)) < FEW
        if (
            p > LARGEST_P and not few and statistic > TIMES * quantile + BEYOND
        ) or quantile > TIMES * statistic + BEYOND:
            yield f"p_value is {_shown(p)}, which is implausible beside a statistic of {_shown(row['statistic'])}"


def _quantile(p: float) -> float:
    """The standard errors from zero at which a two-sided normal p-value is so large."""
    from statistics import NormalDist

    return -NormalDist().inv_cdf(p / 2) if p > 1e-300 else math.sqrt(-2 * math.log(1e-300))
