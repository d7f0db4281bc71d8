"""From a CSV or Parquet file to people: only the columns asked for, exactly as they are written.

A file is read once, piece by piece. What is kept of a column of text is a small number per person and each distinct
value once, of a column of numbers eight bytes per person, and of all other columns nothing.
"""

import csv
import io
import os
from array import array
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache
from itertools import chain
from math import isfinite
from typing import Any, BinaryIO, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from skfairtest._utils.progress import progress
from skfairtest.cli.errors import BadInput
from skfairtest.cli.header import UTF_8, first_record, opened, possible_headers
from skfairtest.readers.levels import plain_scalar, sort_levels, unify_numbers

#: People read at a time, and how often it is shown how far that is.
_BATCH, _SHOWN = 1 << 16, 100
Advance = Callable[[], None]
#: What others write for a missing value; here only an empty field is one, and a group may be called so.
_MISSING = frozenset({"nan", "na", "n/a", "#n/a", "null", "none", "."})


@dataclass(frozen=True)
class Columns:
    """Which columns of a file are what, in which encoding text is, and whether a group may be unknown (missing).

    None: the command has no option that says so. `others` and `other_scores` are the predictions and the scores of
    further models, each an option and a column.
    """

    y_true: str | None
    y_pred: str | None
    sensitive: tuple[str, ...]
    control: tuple[str, ...] = ()
    y_score: str | None = None
    weight: str | None = None
    cluster: str | None = None
    encoding: str = UTF_8
    unknown: bool | None = None
    others: tuple[tuple[str, str], ...] = ()
    other_scores: tuple[tuple[str, str], ...] = ()
    y_judge: str | None = None
    label_probability: str | None = None
    #: Whether true labels may be missing; None: they never may.
    few: bool | None = None

    @property
    def options(self) -> dict[str, str]:
        """Each column, once, and the option that asks for it first."""
        asked = [("--y-true", self.y_true), ("--y-pred", self.y_pred), ("--y-score", self.y_score)]
        asked += [*self.others, *self.other_scores]
        asked += [("--sensitive", name) for name in self.sensitive]
        asked += [("--control", name) for name in self.control]
        asked += [("--weight", self.weight), ("--cluster", self.cluster)]
        asked += [("--y-judge", self.y_judge), ("--label-probability", self.label_probability)]
        options: dict[str, str] = {}
        for option, name in asked:
            if name is not None:
                options.setdefault(name, option)
        return options

    @property
    def numbers(self) -> dict[str, str]:
        """The columns of numbers, and the option that asks for each."""
        asked = [("--y-score", self.y_score), ("--weight", self.weight), *self.other_scores]
        asked.append(("--label-probability", self.label_probability))
        return {name: option for option, name in asked if name is not None}

    def number(self, name: str) -> str:
        """The name of the numbers of a column where it is read as names as well."""
        return f"{name} (number)" if name in {*self.labels, *self.names} else name

    @property
    def labels(self) -> tuple[str, ...]:
        """The columns of true labels and predictions, each once."""
        others = [name for _, name in self.others]
        return tuple(
            dict.fromkeys(name for name in (self.y_true, self.y_pred, self.y_judge, *others) if name is not None)
        )

    @property
    def names(self) -> tuple[str, ...]:
        """The columns whose values are names of something, each once."""
        others = () if self.cluster is None else (self.cluster,)
        return tuple(dict.fromkeys((*self.sensitive, *self.control, *others)))


@dataclass(frozen=True, eq=False)
class People:
    """One value per person of every column asked for, in the order of the file.

    Parameters
    ----------
    y_true, y_pred : ndarray, Categorical or None
        Labels: numbers and truth values as such, everything else as categories.
    y_score, weight : ndarray of float or None
        Numbers.
    sensitive, control : dict of str to Categorical
        Groups and strata; text stays text.
    cluster : Series or None
        Who belongs together, with the column's name.
    others, other_scores : dict of str to ndarray or Categorical
        Predictions and scores of further models, by their columns.
    y_judge, label_probability : ndarray, Categorical or None
        What a judge says of everybody, and how probable it was that people were labelled; missing labels are None.
    """

    y_true: Any
    y_pred: Any
    sensitive: dict[str, pd.Categorical]
    control: dict[str, pd.Categorical]
    y_score: NDArray[np.float64] | None = None
    weight: NDArray[np.float64] | None = None
    cluster: pd.Series | None = None
    others: dict[str, Any] = field(default_factory=dict)
    other_scores: dict[str, NDArray[np.float64]] = field(default_factory=dict)
    y_judge: Any = None
    label_probability: NDArray[np.float64] | None = None

    @property
    def n_samples(self) -> int:
        """The number of people."""
        return len(next(iter(self.sensitive.values())))

    def pos_label(self, text: str | None) -> Any:
        """The positive label of these people, as it was typed; None where it was not."""
        return None if text is None else cast_pos_label(text, self.labels)

    @property
    def labels(self) -> list[Any]:
        """The labels in y_true and all predictions together, sorted."""
        seen = [
            plain_scalar(value)
            for column in (self.y_true, self.y_pred, *self.others.values())
            if column is not None
            for value in (
                column.categories if isinstance(column, pd.Categorical) else np.unique(column[pd.notna(column)])
            )
        ]
        return sort_levels(unify_numbers(dict.fromkeys(seen), map(type, seen)))


def read_people(path: str, columns: Columns) -> People:
    """Read some columns of a file.

    Parameters
    ----------
    path : str
        A CSV file (``.tsv``: separated by tabs), perhaps compressed by gzip, or a Parquet file.
    columns : Columns
        What to read. In text only an empty field is missing; groups, strata and clusters stay text, labels get the
        type that pandas finds for them.

    Returns
    -------
    People
        One value per person.

    Raises
    ------
    BadInput
        If the file cannot be read, is malformed, has not these columns, or values are missing or are no numbers.
    """
    check_roles(columns)
    return people_of(path, columns, typed=True)[0]


def people_of(path: str, columns: Columns, *, typed: bool = False) -> tuple[People, bool]:
    """Read a file as `read_people` does; return the people, and whether it is text.

    The labels of text are text where they are not `typed`: their type is that of all files together.
    """
    reading = progress(f"reading {os.path.basename(path)}", _SHOWN, show=False)
    with opened(path, columns.encoding) as (source, separator), reading as advance:
        if separator is None:
            return _read_parquet(source, path, columns, advance), False
        return _read_text(source, path, columns, separator, advance, typed=typed), True


def check_roles(columns: Columns) -> None:
    """Refuse a column that is to be two features.

    Raises
    ------
    BadInput
        If there is one.
    """
    features = [*columns.sensitive, *columns.control]
    for name in features:
        if features.count(name) > 1:
            raise BadInput(f"column {name!r} is named twice among --sensitive and --control: give it one role")


def check_columns(path: str, found: Sequence[str], columns: Columns, hint: str = "") -> None:
    """Check that a file has each column that is asked for, once.

    Raises
    ------
    BadInput
        If it has not, with those that it has.
    """
    if not "".join(found).strip():
        raise BadInput(f"{path}: the file is empty")
    for name, option in columns.options.items():
        count = list(found).count(name)
        if count > 1:
            raise BadInput(f"{path}: {count} columns are named {name!r} ({option}): rename them")
        if not count:
            close = get_close_matches(name.casefold(), [other.casefold() for other in found], n=1)
            match = next((other for other in found if close and other.casefold() == close[0]), None)
            meant = f"did you mean {match!r}? " if match is not None else ""
            listed = ", ".join(map(repr, found[:20])) + (f", ... ({len(found)} in all)" if len(found) > 20 else "")
            raise BadInput(f"{path}: there is no column {name!r} ({option}); {meant}the columns are {listed}{hint}")


def _check_complete(path: str, columns: Columns, missing: Mapping[str, int], n: int) -> None:
    if not n:
        raise BadInput(f"{path}: the file has a header but no rows")
    for name, option in columns.options.items():
        allowed = {"--sensitive": bool(columns.unknown), "--y-true": bool(columns.few)}
        if missing.get(name) and not allowed.get(option, False):
            are = "is" if missing[name] == 1 else "are"
            instead = "" if name in columns.numbers else ", or give missing a name of its own, such as 'unknown'"
            if columns.unknown is False and option == "--sensitive":
                instead += ", or say what becomes of them: --missing exclude, group or bounds"
            if columns.few is False and option == "--y-true":
                instead = ", or say how people with a label were chosen: --labelled at_random or --label-probability"
            raise BadInput(
                f"{path}: {missing[name]:,} of {n:,} values {are} missing in column {name!r} ({option}): leave these "
                f"rows out{instead}"
            )


# What is kept of a column --------------------------------------------------------------------


class _Coded:
    """A column as each distinct value once, and which of them every person has."""

    def __init__(self) -> None:
        # Numbers distinct values in the order in which they are first looked up.
        self.places: defaultdict[Any, int] = defaultdict()
        self.places.default_factory = self.places.__len__
        self.codes = array("i")

    def missing(self, value: Any) -> int:
        """Count the people who have a value that stands for none."""
        return int(np.count_nonzero(self._array() == self.places[value])) if value in self.places else 0

    def _array(self) -> NDArray[np.int32]:
        return np.frombuffer(self.codes, dtype=np.int32)

    def categories(self, *without: Any) -> pd.Categorical:
        """Return names, whose order is that of the package; those to be left `without` are missing."""
        levels = sort_levels(level for level in self.places if level not in without)
        rank = np.full(len(self.places), -1, dtype=np.int32)
        rank[[self.places[level] for level in levels]] = np.arange(len(levels))
        named: pd.Categorical = pd.Categorical.from_codes(rank[self._array()], categories=levels)  # type: ignore[call-overload]
        return named

    def labels(self, where: str, empty: Any = None) -> Any:
        """Return labels: of the type that pandas infers for text that looks like one, else categories.

        Those that are `empty` are missing.
        """
        values = inferred([level for level in self.places if level != empty], where)
        if values is None:
            return self.categories(empty)
        if empty not in self.places:
            return values[self._array()]
        every = values.tolist()
        every.insert(self.places[empty], None)
        return np.array(every, dtype=object)[self._array()]


def inferred(texts: Sequence[str], where: str) -> NDArray[Any] | None:
    """Return different labels as what pandas takes them for, numbers or truth values; None where that is text.

    Raises
    ------
    BadInput
        If they are numbers but for texts that elsewhere stand for a missing value, such as "nan".
    """
    others = [text for text in texts if text.strip() and not _is_finite(text)]
    if others and len(others) < len(texts) and {text.strip().casefold() for text in others} <= _MISSING:
        raise BadInput(
            f"{where} holds numbers and {others[0]!r}: leave these rows out, or give missing a name of its own, such "
            "as 'unknown'"
        )
    buffer = io.StringIO()
    csv.writer(buffer, quoting=csv.QUOTE_ALL).writerows([text] for text in texts)
    found = pd.read_csv(
        io.StringIO(buffer.getvalue(), newline=""),
        header=None,
        keep_default_na=False,
        na_values=[""],
        skip_blank_lines=False,
    )[0]
    if found.dtype.kind == "f":
        # Older pandas is not exact in the last place.
        return np.array([float(text) for text in texts])
    return found.to_numpy() if found.dtype.kind in "biu" and len(found) == len(texts) else None


def _people(
    path: str,
    columns: Columns,
    n: int,
    coded: Mapping[str, _Coded],
    numbers: Mapping[str, NDArray[Any]],
    *,
    empty: Any,
    labels: Callable[[str], Any],
) -> People:
    """Give columns their roles, if no value is missing; `empty` is what stands for one."""
    missing = {name: int(np.isnan(values).sum()) for name, values in numbers.items() if values.dtype.kind == "f"}
    missing |= {name: column.missing(empty) for name, column in coded.items()}
    _check_complete(path, columns, missing, n)
    named = {name: coded[name].categories(empty) for name in columns.names}
    return People(
        None if columns.y_true is None else labels(columns.y_true),
        None if columns.y_pred is None else labels(columns.y_pred),
        {name: named[name] for name in columns.sensitive},
        {name: named[name] for name in columns.control},
        None if columns.y_score is None else np.asarray(numbers[columns.y_score], dtype=float),
        None if columns.weight is None else np.asarray(numbers[columns.weight], dtype=float),
        None if columns.cluster is None else pd.Series(named[columns.cluster], name=columns.cluster),
        {name: labels(name) for _, name in columns.others},
        {name: np.asarray(numbers[name], dtype=float) for _, name in columns.other_scores},
        None if columns.y_judge is None else labels(columns.y_judge),
        None if columns.label_probability is None else np.asarray(numbers[columns.label_probability], dtype=float),
    )


def _following(whole: int, advance: Advance) -> Callable[[int], None]:
    """A function to call with how much of the whole has been read."""
    shown = 0

    def up_to(read: int) -> None:
        nonlocal shown
        while shown < _SHOWN * read // whole:
            shown += 1
            advance()

    return up_to


# Text ---------------------------------------------------------------------------------------


def _read_text(
    stream: io.TextIOWrapper, path: str, columns: Columns, separator: str, advance: Advance, *, typed: bool
) -> People:
    coded = {name: _Coded() for name in (*columns.labels, *columns.names)}
    numbers = {name: array("d") for name in columns.numbers}
    head = first_record(stream, path)
    separator, header, hint = split_header(head, columns, separator)
    check_columns(path, header, columns, hint)
    width, n = len(header), 0
    keep = [(header.index(name), column.places, column.codes.append) for name, column in coded.items()]
    count = [(header.index(name), name, values.append) for name, values in numbers.items()]
    reader = csv.reader(chain(io.StringIO(head, newline=""), stream), delimiter=separator, strict=True)
    size, unzipped = os.path.getsize(path), cast(Any, stream.buffer)  # a pipe, whose end is unknown, has no size
    up_to, file = _following(size, advance), getattr(unzipped, "fileobj", unzipped)
    try:
        next(reader)
        for row in reader:
            if len(row) != width:
                if not row:  # an empty line
                    continue
                raise BadInput(
                    f"{path}, line {reader.line_num}: {len(row)} fields, where the header has {width}: a value that "
                    "holds the separator needs quotes"
                )
            n += 1
            if size and not n % _BATCH:
                up_to(file.tell())
            for place, places, append in keep:
                append(places[row[place]])
            for place, name, append in count:
                try:
                    append(float(row[place]))
                except ValueError:
                    append(_missing_number(row[place], f"{path}, line {reader.line_num}", name, columns))
    except csv.Error as error:
        reason = "a quoted value is never closed" if "unexpected end" in str(error) else str(error)
        raise BadInput(f"{path}, line {reader.line_num}: malformed: {reason}") from error
    whole = {name: np.frombuffer(values) for name, values in numbers.items()}

    @cache
    def read(name: str) -> Any:
        where = f"{path}: column {name!r} ({columns.options[name]})"
        return coded[name].labels(where, "") if typed else coded[name].categories("")

    def labels(name: str) -> Any:
        # Beside labels that are text, such as "unsure", whole numbers are text, too.
        together = [label for label in columns.labels if label != columns.y_judge]
        text = name in together and any(isinstance(read(label), pd.Categorical) for label in together)
        return coded[name].categories("") if text and read(name).dtype.kind != "f" else read(name)

    return _people(path, columns, n, coded, whole, empty="", labels=labels)


def _missing_number(text: str, where: str, name: str, columns: Columns) -> float:
    if not text.strip():
        return float("nan")
    comma = ": write decimals with a point" if "," in text else ""
    raise BadInput(f"{where}: {text!r} in column {name!r} ({columns.numbers[name]}) is not a number{comma}")


def split_header(head: str, columns: Columns, separator: str) -> tuple[str, list[str], str]:
    """Split the header by `separator`, or by another one that yields all the columns asked for."""
    headers = possible_headers(head, separator)
    for candidate, found in headers.items():
        if set(columns.options) <= set(found):
            return candidate, found, ""
    others = [name for name, found in headers.items() if len(found) > len(headers[separator])]
    if len(headers[separator]) == 1 and others:
        return others[0], headers[others[0]], f" (separated by {others[0]!r})"
    return separator, headers[separator], ""


# Parquet ------------------------------------------------------------------------------------


def _read_parquet(raw: BinaryIO, path: str, columns: Columns, advance: Advance) -> People:
    import pyarrow
    import pyarrow.parquet

    try:
        file = pyarrow.parquet.ParquetFile(raw)
        schema = file.schema_arrow
        check_columns(path, schema.names, columns)
        for name, option in columns.numbers.items():
            if not _is_number(schema.field(name).type):
                found = schema.field(name).type
                raise BadInput(f"{path}: column {name!r} ({option}) holds values of type {found}, not numbers")
        numeric = {name for name in columns.labels if _is_number(schema.field(name).type)}
        numbers: dict[str, list[NDArray[Any]]] = {name: [] for name in (*columns.numbers, *numeric)}
        coded = {name: _Coded() for name in (*columns.labels, *columns.names) if name not in numeric - {*columns.names}}
        up_to, n = _following(file.metadata.num_rows, advance), 0
        for batch in file.iter_batches(_BATCH, columns=list(columns.options)):
            n += batch.num_rows
            for name, option in columns.options.items():
                values = batch.column(batch.schema.get_field_index(name))
                if name in numbers:
                    numbers[name].append(_numbers(values))
                if name in coded:
                    _code(values, coded[name], f"{path}: column {name!r} ({option})")
            up_to(n)
    except pyarrow.ArrowException as error:
        raise BadInput(f"{path}: not a readable Parquet file: {error}") from error
    whole = {name: np.concatenate(parts or [np.empty(0)]) for name, parts in numbers.items()}
    return _people(
        path,
        columns,
        n,
        coded,
        whole,
        empty=None,
        labels=lambda name: whole[name] if name in numeric else coded[name].categories(None),
    )


def _is_number(kind: Any) -> bool:
    from pyarrow import types

    return any(is_kind(kind) for is_kind in (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal))


def _numbers(values: Any) -> NDArray[Any]:
    import pyarrow

    if values.null_count or pyarrow.types.is_decimal(values.type):
        values = values.cast(pyarrow.float64())
    numbers: NDArray[Any] = values.to_numpy(zero_copy_only=False)
    return numbers


def _code(values: Any, column: _Coded, where: str) -> None:
    """Append the values of a batch, of any type that has distinct values; None stands for what is missing."""
    import pyarrow

    try:
        if not pyarrow.types.is_dictionary(values.type):
            values = values.dictionary_encode()
        levels = [None if level != level else plain_scalar(level) for level in values.dictionary.to_pylist()]
        places = np.array([*(column.places[level] for level in levels), 0], dtype=np.int32)
    except (pyarrow.ArrowException, TypeError) as error:
        raise BadInput(f"{where} holds values of type {values.type}, not one plain value per person") from error
    if values.null_count:
        places[-1] = column.places[None]
    indices = values.indices.cast(pyarrow.int64()).fill_null(len(levels))
    column.codes.frombytes(places[indices.to_numpy(zero_copy_only=False)].tobytes())


# The positive label -------------------------------------------------------------------------


def cast_pos_label(text: str, labels: Sequence[Any]) -> Any:
    """Give ``--pos-label`` the type of the labels.

    Parameters
    ----------
    text : str
        As it was typed.
    labels : sequence
        The labels in the data.

    Returns
    -------
    bool, int, float, str or object
        The label.

    Raises
    ------
    BadInput
        If the text is not a value of that type.

    Examples
    --------
    >>> (
    ...     cast_pos_label("1", [0, 1]),
    ...     cast_pos_label("1", ["0", "1"]),
    ...     cast_pos_label("true", [False, True]),
    ... )
    (1, '1', True)
    """
    exact = [value for value in labels if str(value) == text]
    if exact or all(isinstance(value, str) for value in labels):
        return exact[0] if exact else text
    cast: bool | int | float | None
    if all(isinstance(value, bool) for value in labels):
        kind = "true or false"
        cast = {"true": True, "false": False}.get(text.casefold())
    else:
        kind, cast = "a number", _number(text)
    if cast is None:
        raise BadInput(f"--pos-label {text!r} is not {kind}, as the labels are: {', '.join(map(repr, labels[:10]))}")
    return cast


def _is_finite(text: str) -> bool:
    number = _number(text)
    return number is not None and isfinite(number)


def _number(text: str) -> int | float | None:
    for kind in (int, float):
        with suppress(ValueError):
            return kind(text)
    return None


def cut_where_many(values: Any, n_bins: int) -> Any:
    """Return a column of text as numbers where it holds more different ones than intervals, so that it is cut.

    One value may be no number: the name of what is missing.
    """
    text = np.array(values.categories, dtype=object)
    numbers = pd.to_numeric(pd.Series(text), errors="coerce").notna().to_numpy()
    if numbers.sum() <= n_bins or (~numbers).sum() > 1:
        return values
    text[numbers] = pd.to_numeric(pd.Series(text[numbers])).tolist()
    return text[values.codes]
