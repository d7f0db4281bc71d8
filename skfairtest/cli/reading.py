"""From CSV and Parquet files to people: the columns that are asked for, read by pyarrow, exactly as they are written.

All columns of a CSV file are read as text, in which only an empty field is missing: a group may be called NA or 007.
"""

import codecs
import csv
import glob
import gzip
import io
import os
import re
import sys
import zlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from difflib import get_close_matches
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute
import pyarrow.csv
import pyarrow.parquet

from skfairtest.cli.errors import BadInput
from skfairtest.readers.levels import plain_scalar, sort_levels, unify_numbers

#: The options that name columns of labels and of numbers; other columns hold names of groups.
LABELS = ("--y-true", "--y-pred", "--y-judge", "--baseline")
NUMBERS = ("--y-score", "--weight", "--label-probability")
SEPARATORS = (",", ";", "\t", "|")
#: How files begin that many people would try, and what they are.
_OTHERS = {b"PK\x03\x04": "a spreadsheet or a zip archive", b"\xd0\xcf\x11\xe0": "an old spreadsheet"}
_OTHERS |= {b"BZh": "compressed by bzip2", b"\xfd7zX": "compressed by xz", b"\x28\xb5\x2f\xfd": "compressed by zstd"}
#: Numbers as they are usually written; "007" and "1_0" are text.
_NUMBER = re.compile(r"[+-]?(0|[1-9]\d*)?(\.\d+)?(?<=\d)([eE][+-]?\d+)?")
_LONGEST_HEADER = 1 << 18
_MISSING = {"nan", "na", "n/a", "#n/a", "null", "none", "."}


class People:
    """The columns of people by the option that names them, each a frame with one row per person."""

    def __init__(self, frames: Mapping[str, pd.DataFrame], files: Sequence[str]) -> None:
        self.frames, self.files = frames, files

    def __len__(self) -> int:
        return len(next(iter(self.frames.values())))

    def column(self, option: str) -> pd.Series | None:
        """The only column of an option, or None."""
        return self.frames[option].iloc[:, 0] if option in self.frames else None

    @property
    def labels(self) -> list[Any]:
        """The true labels and predictions, each once, sorted."""
        columns = [frame[name] for option, frame in self.frames.items() if option in LABELS for name in frame]
        values = [plain_scalar(value) for column in columns for value in column.dropna().unique()]
        return sort_levels(unify_numbers(dict.fromkeys(values), map(type, values)))

    def pos_label(self, text: str | None) -> Any:
        """The positive label, which is typed as text, of the labels' type.

        Raises
        ------
        BadInput
            If the text is not a value of that type.
        """
        labels = self.labels
        exact = [value for value in labels if str(value) == text]
        if text is None or exact or all(isinstance(value, str) for value in labels):
            return exact[0] if exact else text
        if all(isinstance(value, bool) for value in labels):
            if text.casefold() in ("true", "false"):
                return text.casefold() == "true"
        else:
            with suppress(ValueError):
                return int(text) if text.lstrip("+-").isdigit() else float(text)
        raise BadInput(f"--pos-label {text!r} is not of the labels' type: {', '.join(map(repr, labels[:5]))}")


def files_of(patterns: Sequence[str]) -> list[str]:
    """The files that names and patterns stand for, each once, in the order of their names.

    Raises
    ------
    BadInput
        If no file matches a pattern.
    """
    files: dict[str, str] = {}
    for pattern in patterns:
        matching = [pattern]
        if pattern != "-" and not os.path.lexists(pattern) and glob.has_magic(pattern):
            matching = [path for path in glob.glob(pattern, recursive=True) if not os.path.isdir(path)]
            if not matching:
                raise BadInput(f"{pattern}: no file matches this pattern (** matches folders within folders)")
        files.update((os.path.realpath(path), path) for path in matching)
    return sorted(files.values())


def read_people(
    patterns: Sequence[str],
    roles: Mapping[str, str | Iterable[str] | None],
    *,
    encoding: str = "utf-8",
    optional: Collection[str] = (),
) -> People:
    """Read some columns of files.

    Parameters
    ----------
    patterns : sequence of str
        CSV files (``.tsv``: separated by tabs), perhaps compressed by gzip, Parquet files, or "-" for standard input.
    roles : mapping of str to str, iterable of str or None
        The columns that each option names.
    encoding : str
        Of text.
    optional : collection of str
        The options whose columns may have missing values.

    Returns
    -------
    People
        Labels are numbers or truth values if all of them are written like these, otherwise text; numbers are floats;
        groups are as they are written.

    Raises
    ------
    BadInput
        If a file cannot be read, is malformed or lacks a column, or values are missing or are no numbers.
    """
    wanted = {option: [value] if isinstance(value, str) else list(value or ()) for option, value in roles.items()}
    wanted = {option: list(dict.fromkeys(names)) for option, names in wanted.items() if names}
    options = {name: option for option, names in reversed(wanted.items()) for name in names}
    within = "--strata" if "--strata" in wanted else "--control"
    if shared := {*wanted.get("--sensitive", ())} & {*wanted.get(within, ())}:
        raise BadInput(f"column {min(shared)!r} is named by --sensitive and {within}: give it one role")
    try:
        "".encode(encoding)
    except (LookupError, ValueError) as error:
        raise BadInput(f"--encoding {encoding!r} is unknown: name one such as cp1252 (Windows) or utf-16") from error
    files = files_of(patterns)
    tables = [_table(path, options, encoding) for path in files]
    if len({str(table.schema) for table in tables}) > 1:
        raise BadInput("a column holds values of different types in some of the files: write them alike")
    table = pa.concat_tables(tables).combine_chunks().unify_dictionaries()
    for name, option in options.items():
        missing = table[name].null_count
        if missing and option not in optional:
            hints = {
                "--sensitive": ", or say how to treat them: --missing exclude, group or bounds",
                "--y-true": ", or say how labels were chosen: --labelled at_random or --label-probability",
            }
            raise BadInput(
                f"{files[0]}: {missing:,} of {len(table):,} values are missing in column {name!r} ({option}): "
                f"leave these rows out{hints.get(option, '')}"
            )
    read = {
        name: _categories(table[name]) if pa.types.is_dictionary(table[name].type) else table[name] for name in options
    }
    typed = {name: _typed(read[name], option, name) for name, option in options.items()}
    # Beside labels that are text, such as "unsure", the same labels elsewhere are text, too.
    compared = [name for name, option in options.items() if option in LABELS and option != "--y-judge"]
    texts = {level for name in compared if typed[name] is read[name] for level in typed[name].categories}
    for name in compared:
        if np.asarray(typed[name]).dtype.kind != "f" and not texts.isdisjoint(read[name].categories):
            typed[name] = read[name]
    return People(
        {option: pd.DataFrame({name: typed[name] for name in names}) for option, names in wanted.items()}, files
    )


def _table(path: str, options: Mapping[str, str], encoding: str) -> Any:
    """The columns of one file as a table of arrow; text and names are dictionaries."""
    try:
        data = sys.stdin.buffer.read() if path == "-" else _bytes(path)
        if data[:4] == b"PAR1":
            return _parquet(path, data, options)
        return _csv(path, data, options, encoding)
    except (OSError, EOFError, zlib.error, UnicodeError) as error:
        raise BadInput(f"{path}: {getattr(error, 'strerror', None) or error}") from error
    except pa.ArrowException as error:
        raise BadInput(f"{path}: {error}") from error


def _bytes(path: str) -> bytes:
    with open(path, "rb") as file:
        data = file.read()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    for sign, kind in _OTHERS.items():
        if data.startswith(sign):
            raise BadInput(f"{path}: is {kind}: save or unpack it as CSV or Parquet")
    return data


def _csv(path: str, data: bytes, options: Mapping[str, str], encoding: str) -> Any:
    codec = "utf-8-sig" if codecs.lookup(encoding).name == "utf-8" else encoding
    if b"\0" in data and not codecs.lookup(encoding).name.startswith(("utf-16", "utf-32")):
        raise BadInput(f"{path}: holds NUL bytes: if it is UTF-16 text, give --encoding utf-16")
    head = io.StringIO(data[:_LONGEST_HEADER].decode(codec, "replace"), newline="")
    headers, start = {}, head.getvalue().lstrip("\r\n")
    for separator in SEPARATORS if not path.removesuffix(".gz").endswith((".tsv", ".tab")) else SEPARATORS[::-1]:
        headers[separator] = next(csv.reader(io.StringIO(start, newline=""), delimiter=separator), [])
    separator = max(headers, key=lambda each: (set(options) <= set(headers[each]), len(headers[each])))
    _check_columns(path, headers[separator], options)
    try:
        table = pa.csv.read_csv(
            pa.BufferReader(data),
            read_options=pa.csv.ReadOptions(encoding=encoding),
            parse_options=pa.csv.ParseOptions(delimiter=separator, newlines_in_values=True),
            convert_options=pa.csv.ConvertOptions(
                include_columns=list(options),
                column_types={name: pa.dictionary(pa.int32(), pa.string()) for name in options},
                null_values=[""],
                strings_can_be_null=True,
                quoted_strings_can_be_null=True,
            ),
        )
    except pa.ArrowInvalid as error:
        raise BadInput(f"{path}{_where(data, codec, separator) or f': {error}'}") from error
    # pyarrow takes a quote that is never closed for one that ends with the file.
    unclosed = _where(data, codec, separator) if data.count('"'.encode(encoding)[-1:]) % 2 else None
    if unclosed:
        raise BadInput(f"{path}{unclosed}")
    if not len(table):
        raise BadInput(f"{path}: the file has a header but no rows")
    return table


def _where(data: bytes, codec: str, separator: str) -> str | None:
    """Which line of a CSV file is malformed, and why; None if none is."""
    try:
        text = data.decode(codec)
    except UnicodeError as error:
        return (
            f": is not {codec.removesuffix('-sig').upper()} text ({error}): name its encoding by --encoding, such as "
            "cp1252 (Windows), latin-1 or utf-16"
        )
    reader, width = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True), 0
    try:
        for row in reader:
            width = width or len(row)
            if row and len(row) != width:
                return (
                    f", line {reader.line_num}: {len(row)} fields, where the header has {width}: a value that holds "
                    "the separator needs quotes"
                )
    except csv.Error as error:
        closed = "unexpected end" not in str(error)
        return f", line {reader.line_num}: {error if closed else 'a quoted value is never closed'}"
    return None


def _parquet(path: str, data: bytes, options: Mapping[str, str]) -> Any:
    source = pa.BufferReader(data)
    _check_columns(path, pa.parquet.read_schema(source).names, options)
    source.seek(0)
    table = pa.parquet.read_table(source, columns=list(options))
    for name, option in options.items():
        column = table[name]
        number = pa.types.is_integer(column.type) or pa.types.is_floating(column.type)
        if option in NUMBERS and not number and not pa.types.is_decimal(column.type):
            raise BadInput(f"{path}: column {name!r} ({option}) holds values of type {column.type}, not numbers")
        if option not in NUMBERS and not pa.types.is_dictionary(column.type):
            table = table.set_column(table.column_names.index(name), name, column.dictionary_encode())
    return table


def _check_columns(path: str, names: Sequence[str], options: Mapping[str, str]) -> None:
    """Check that a file has each column that is asked for, once."""
    if not "".join(names).strip():
        raise BadInput(f"{path}: the file is empty")
    for name, option in options.items():
        if names.count(name) > 1:
            raise BadInput(f"{path}: {names.count(name)} columns are named {name!r} ({option}): rename them")
        if name not in names:
            close = {other.casefold(): other for other in names}
            near = get_close_matches(name.casefold(), close, n=1)
            meant = f"did you mean {close[near[0]]!r}? " if near else ""
            listed = ", ".join(map(repr, names[:20])) + (f", ... ({len(names)} in all)" if len(names) > 20 else "")
            raise BadInput(f"{path}: there is no column {name!r} ({option}); {meant}the columns are {listed}")


def _categories(column: Any) -> pd.Categorical:
    """A dictionary of arrow as categories in the order of the package."""
    values: pd.Categorical = column.to_pandas().array
    levels = sort_levels([plain_scalar(value) for value in values.categories])
    return pd.Categorical(values, categories=levels)


def _typed(values: Any, option: str, name: str) -> Any:
    """The values of a column as its option needs them: numbers, labels or names."""
    if not isinstance(values, pd.Categorical):
        return values.cast(pa.float64()).to_pandas() if option in NUMBERS else values.to_pandas()
    if option not in (*LABELS, *NUMBERS) or not all(isinstance(level, str) for level in values.categories):
        return values
    texts = [text.strip() for text in values.categories]
    others = [text for text in texts if not _NUMBER.fullmatch(text)]
    if option in NUMBERS and others:
        comma = ": write decimals with a point" if "," in others[0] else ""
        raise BadInput(f"{others[0]!r} in column {name!r} ({option}) is not a number{comma}")
    if {text.casefold() for text in texts} <= {"true", "false"}:
        levels = np.array([text.casefold() == "true" for text in texts])
    elif not others and texts:
        whole = all(re.fullmatch(r"[+-]?\d+", text) for text in texts) and option in LABELS
        levels = np.array([int(text) if whole else float(text) for text in texts])
    elif others and len(others) < len(texts) and {text.casefold() for text in others} <= _MISSING:
        raise BadInput(
            f"column {name!r} ({option}) holds numbers and {others[0]!r}: leave these rows out, or name what is missing"
        )
    else:
        return values
    if (values.codes < 0).any():
        levels = np.array([*levels.tolist(), None], dtype=float if option in NUMBERS else object)
    return levels[values.codes]


def cut_where_many(values: Any, n_bins: int) -> Any:
    """A column of text as numbers if it holds more of them than intervals; one value may name what is missing."""
    text = np.array(values.categories, dtype=object)
    numbers = pd.to_numeric(pd.Series(text), errors="coerce").notna().to_numpy()
    if numbers.sum() <= n_bins or (~numbers).sum() > 1:
        return values
    text[numbers] = pd.to_numeric(pd.Series(text[numbers])).tolist()
    return text[values.codes]
