"""From a CSV or Parquet file to a table of counts: only the columns asked for, exactly as they are written."""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import chain
from typing import Any, BinaryIO

import pandas as pd

from skfairtest.cli.errors import BadInput
from skfairtest.tables import CountTable

__all__ = ["Columns", "cast_pos_label", "read_table"]

_GZIP, _PARQUET = b"\x1f\x8b", b"PAR1"
_LONGEST_FIELD = 1 << 24


@dataclass(frozen=True)
class Columns:
    """Which columns of a file are what."""

    y_true: str | None
    y_pred: str
    sensitive: tuple[str, ...]
    control: tuple[str, ...] = ()

    @property
    def labels(self) -> tuple[str, ...]:
        """The columns of labels, each once."""
        return tuple(dict.fromkeys(name for name in (self.y_true, self.y_pred) if name is not None))

    @property
    def options(self) -> dict[str, str]:
        """Each column, once, and the option that asks for it first."""
        asked = [("--y-true", self.y_true), ("--y-pred", self.y_pred)]
        asked += [("--sensitive", name) for name in self.sensitive]
        asked += [("--control", name) for name in self.control]
        options: dict[str, str] = {}
        for option, name in asked:
            if name is not None:
                options.setdefault(name, option)
        return options


def read_table(path: str, columns: Columns) -> CountTable:
    """Count the people in a file.

    Parameters
    ----------
    path : str
        A CSV file (``.tsv``: separated by tabs), perhaps compressed by gzip, or a Parquet file.
    columns : Columns
        What to read. In text only an empty field is missing; sensitive and control columns stay text, labels get
        the type that pandas finds for them.

    Returns
    -------
    CountTable
        Counts of everyone.

    Raises
    ------
    BadInput
        If the file cannot be read, is malformed, has not these columns, or values are missing.
    ValueError
        If the package cannot count what is in them.
    """
    _check_roles(columns)
    with _explained(path), open(path, "rb") as raw:
        start = raw.peek(4)
        if start.startswith(_PARQUET) or path.lower().endswith((".parquet", ".pq")):
            return _read_parquet(raw, path, columns)
        unzipped = path.lower().removesuffix(".gz")
        zipped = start.startswith(_GZIP) or path.lower() != unzipped
        stream = gzip.GzipFile(fileobj=raw) if zipped else raw
        separator = "\t" if unzipped.endswith((".tsv", ".tab")) else ","
        with io.TextIOWrapper(stream, encoding="utf-8-sig", newline="") as text:
            return _read_text(text, path, columns, separator)


def _check_roles(columns: Columns) -> None:
    features = [*columns.sensitive, *columns.control]
    for name in features:
        if features.count(name) > 1:
            raise BadInput(f"column {name!r} is named twice among --sensitive and --control: give it one role")


@contextmanager
def _explained(path: str) -> Iterator[None]:
    """Say in one line why a file cannot be read."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise BadInput(f"{path}: not UTF-8 text (byte {error.object[error.start]:#04x}): save it as UTF-8") from error
    except (OSError, EOFError, zlib.error, csv.Error) as error:
        raise BadInput(f"{path}: {getattr(error, 'strerror', None) or error}") from error
    except ValueError as error:
        if "null byte" not in str(error):  # a path that no file can have
            raise
        raise BadInput(f"{path}: {error}") from error


def _check_columns(path: str, found: Sequence[str], columns: Columns, hint: str = "") -> None:
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
        raise BadInput(f"{path}: there are columns but no rows")
    for name, option in columns.options.items():
        if missing[name]:
            are = "is" if missing[name] == 1 else "are"
            raise BadInput(
                f"{path}: {missing[name]:,} of {n:,} values {are} missing in column {name!r} ({option}): leave these "
                "rows out, or give missing a name of its own, such as 'unknown'"
            )


# Text ---------------------------------------------------------------------------------------


def _read_text(stream: io.TextIOWrapper, path: str, columns: Columns, separator: str) -> CountTable:
    limit = csv.field_size_limit(_LONGEST_FIELD)
    try:
        counts = _count_rows(stream, path, columns, separator)
    finally:
        csv.field_size_limit(limit)
    names, people = list(columns.options), list(counts.values())
    values = zip(*counts, strict=True) if counts else iter([()] * len(names))
    texts: dict[str, Sequence[str]] = dict(zip(names, values, strict=True))
    missing = {name: sum(n for text, n in zip(texts[name], people, strict=True) if not text) for name in names}
    _check_complete(path, columns, missing, sum(people))
    # Longer than any column's name, hence none of them: a feature (text) may be a label too (with a type).
    unused = "_" * (1 + max(map(len, names)))
    given = (("y_true", columns.y_true), ("y_pred", columns.y_pred))
    roles = {role: unused + role for role, name in given if name is not None}
    features = {name: texts[name] for name in (*columns.sensitive, *columns.control)}
    labels = {unused + role: _typed(texts[name]) for role, name in given if name is not None}
    return CountTable.from_counts(
        {**features, **labels, unused: people},
        count=unused,
        sensitive_features=columns.sensitive,
        control_features=columns.control or None,
        **roles,
    )


def _count_rows(stream: io.TextIOWrapper, path: str, columns: Columns, separator: str) -> Counter[tuple[str, ...]]:
    """Count the distinct rows of the columns asked for, in one pass that holds nothing else."""
    head = _first_record(stream)
    if not head.strip():
        raise BadInput(f"{path}: the file is empty")
    separator, header, hint = _split_header(head, columns, separator)
    _check_columns(path, header, columns, hint)
    places = [header.index(name) for name in columns.options]
    reader = csv.reader(chain(io.StringIO(head, newline=""), stream), delimiter=separator, strict=True)
    counts: Counter[tuple[str, ...]] = Counter()
    width = len(header)
    try:
        next(reader)
        for row in reader:
            if len(row) == width:
                counts[tuple([row[place] for place in places])] += 1
            elif row:  # not an empty line
                raise BadInput(
                    f"{path}, line {reader.line_num}: {len(row)} fields, where the header has {width}: a value that "
                    "holds the separator needs quotes"
                )
    except csv.Error as error:
        reason = "a quoted value is never closed" if "unexpected end" in str(error) else str(error)
        raise BadInput(f"{path}, line {reader.line_num}: malformed: {reason}") from error
    return counts


def _first_record(stream: io.TextIOWrapper) -> str:
    """Read the header, which may have line feeds in quotes; empty lines before it are passed over."""
    head = stream.readline()
    while head and not head.strip("\r\n"):
        head = stream.readline()
    while head.count('"') % 2:
        more = stream.readline()
        if not more:
            break
        head += more
    return head


def _split_header(head: str, columns: Columns, separator: str) -> tuple[str, list[str], str]:
    """Split the header by `separator`, or by another one that yields all the columns asked for."""
    headers = {}
    for candidate in dict.fromkeys([separator, ",", ";", "\t", "|"]):
        headers[candidate] = next(csv.reader(io.StringIO(head, newline=""), delimiter=candidate))
        if set(columns.options) <= set(headers[candidate]):
            return candidate, headers[candidate], ""
    others = [name for name, found in headers.items() if len(found) > len(headers[separator])]
    if len(headers[separator]) == 1 and others:
        return others[0], headers[others[0]], f" (separated by {others[0]!r})"
    return separator, headers[separator], ""


def _typed(texts: Sequence[str]) -> list[Any]:
    """Give labels the type that pandas infers for such a column; text stays exactly as it is."""
    distinct = list(dict.fromkeys(texts))
    buffer = io.StringIO()
    csv.writer(buffer, quoting=csv.QUOTE_ALL).writerows([text] for text in distinct)
    inferred = pd.read_csv(
        io.StringIO(buffer.getvalue()), header=None, keep_default_na=False, na_values=[""], skip_blank_lines=False
    )[0]
    if inferred.dtype.kind not in "biuf" or len(inferred) != len(distinct):
        return list(texts)
    values = dict(zip(distinct, inferred.tolist(), strict=True))
    return [values[text] for text in texts]


# Parquet ------------------------------------------------------------------------------------


def _read_parquet(raw: BinaryIO, path: str, columns: Columns) -> CountTable:
    import pyarrow
    import pyarrow.parquet

    try:
        file = pyarrow.parquet.ParquetFile(raw)
        _check_columns(path, file.schema_arrow.names, columns)
        found = file.read(columns=list(columns.options))
        frame = {name: found.column(name).to_pandas() for name in columns.options}
    except pyarrow.ArrowException as error:
        raise BadInput(f"{path}: not a readable Parquet file: {error}") from error
    missing = {name: int(values.isna().sum()) for name, values in frame.items()}
    _check_complete(path, columns, missing, found.num_rows)
    return CountTable.from_predictions(
        None if columns.y_true is None else frame[columns.y_true],
        frame[columns.y_pred],
        sensitive_features={name: frame[name] for name in columns.sensitive},
        control_features={name: frame[name] for name in columns.control} or None,
    )


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


def _number(text: str) -> int | float | None:
    for cast in (int, float):
        try:
            return cast(text)
        except ValueError:
            continue
    return None
