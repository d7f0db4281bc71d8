"""From CSV and Parquet files to people, read by pyarrow exactly as they are written.

All columns of a CSV file are text, in which only an empty field is missing: a group may be called NA or 007.
"""

import codecs
import csv
import gzip
import io
import re
import sys
import zlib
from collections.abc import Collection, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute
import pyarrow.csv
import pyarrow.parquet

from skfairtest.cli.errors import OPTIONS, BadInput
from skfairtest.readers.columns import WARN_GROUPS
from skfairtest.readers.levels import plain_scalar, sort_levels

#: The parameters whose columns hold labels and numbers; other columns hold names of groups.
LABELS = ("y_true", "y_pred", "y_judge")
NUMBERS = ("y_score", "sample_weight", "label_probability")
#: Columns with more different numbers are quantities; those that are scanned are cut into this many intervals.
BINS = {"sensitive_features": WARN_GROUPS, "scan": 5}
HINTS = {
    "sensitive_features": ", or say how to treat them: --missing exclude, group or bounds",
    "y_true": ", or say how labels were chosen: --labelled at_random or --label-probability",
}
SEPARATORS = (",", ";", "\t", "|")
#: How files begin that many people would try, and what they are.
_OTHERS = {b"PK\x03\x04": "a spreadsheet or a zip archive", b"\xd0\xcf\x11\xe0": "an old spreadsheet"}
#: Numbers as they are usually written; "007" and "1_0" are text.
_NUMBER = re.compile(r"[+-]?(0|[1-9]\d*)?(\.\d+)?(?<=\d)([eE][+-]?\d+)?")
_LONGEST_HEADER = 1 << 22
_MISSING = {"nan", "na", "n/a", "#n/a", "null", "none", "."}


def labels_in(columns: Mapping[str, Any]) -> list[Any]:
    """The labels of each column of true labels or predictions."""
    frames = [pd.DataFrame(columns[name]) for name in LABELS if columns.get(name) is not None]
    return [label for frame in frames for name in frame for label in frame[name].dropna().unique()]


def typed_label(text: str | None, columns: Mapping[str, Any]) -> Any:
    """A label that is typed as text: a number or a truth value, unless labels are text."""
    if text is None or any(isinstance(label, str) for label in labels_in(columns)):
        return text
    return np.asarray(_typed(pd.Categorical([text]), "y_pred", "")).tolist()[0]


def read_people(
    files: Sequence[str],
    roles: Mapping[str, str | Collection[str] | None],
    encoding: str = "utf-8",
    optional: Mapping[str, bool] = {},
    bins: Mapping[str, int] = BINS,
) -> dict[str, Any]:
    """Read some columns of files."""
    wanted = {role: dict.fromkeys([names] if isinstance(names, str) else names or ()) for role, names in roles.items()}
    # A column of labels or numbers stays one where it is named for the groups, too.
    ordered = sorted(wanted, key=lambda role: (role in LABELS, role in NUMBERS))
    columns = {name: role for role in ordered for name in wanted[role]}
    for within in ("strata", "control_features"):
        if shared := [name for name in wanted.get(within, ()) if name in wanted["sensitive_features"]]:
            raise BadInput(f"column {shared[0]!r} is named by --sensitive and {OPTIONS[within]}: give it one role")
    try:
        "".encode(encoding)
    except (LookupError, ValueError) as error:
        raise BadInput(f"--encoding {encoding!r} is unknown: name one such as cp1252 (Windows) or utf-16") from error
    tables = [_table(path, columns, encoding) for path in files]
    if len({str(table.schema) for table in tables}) > 1:
        raise BadInput("a column holds values of different types in some of the files: write them alike")
    table = pa.concat_tables(tables).combine_chunks().unify_dictionaries()
    for name, role in columns.items():
        missing = table[name].null_count
        if missing and not optional.get(role):
            raise BadInput(
                f"{files[0]}: {missing:,} of {len(table):,} values are missing in column {name!r} ({OPTIONS[role]}): "
                f"leave these rows out{HINTS[role] if role in optional else ''}"
            )
    read = {name: _categories(table[name]) for name in columns}
    typed = {name: _typed(read[name], role, name, bins.get(role)) for name, role in columns.items()}
    # Beside labels that are text, such as "unsure", the same labels elsewhere are text, too.
    compared = [name for name, role in columns.items() if role in LABELS and role != "y_judge"]
    texts = {level for name in compared if typed[name] is read[name] for level in typed[name].categories}
    for name in compared:
        if np.asarray(typed[name]).dtype.kind != "f" and not texts.isdisjoint(read[name].categories):
            typed[name] = read[name]
    frames = {role: pd.DataFrame({name: typed[name] for name in names}) for role, names in wanted.items()}
    single = {role: frames[role].iloc[:, 0] for role, names in roles.items() if isinstance(names, str)}
    return {role: single.get(role, frames[role] if names else None) for role, names in wanted.items()}


def _table(path: str, columns: Mapping[str, str], encoding: str) -> Any:
    """The columns of one file as a table of arrow; text and names are dictionaries."""
    try:
        data = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
        data = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
        for sign, kind in _OTHERS.items():
            if data.startswith(sign):
                raise BadInput(f"{path}: is {kind}: save or unpack it as CSV or Parquet")
        return _parquet(path, data, columns) if data[:4] == b"PAR1" else _csv(path, data, columns, encoding)
    except (OSError, EOFError, zlib.error, UnicodeError, pa.ArrowException) as error:
        hint = "" if Path(path).suffix or Path(path).exists() else ": if it is a column, repeat the option before it"
        raise BadInput(f"{path}: {getattr(error, 'strerror', None) or error}{hint}") from error


def _csv(path: str, data: bytes, columns: Mapping[str, str], encoding: str) -> Any:
    if codecs.lookup(encoding).name != "utf-8":
        data = _text(path, data, encoding).encode()
    if b"\0" in data:
        raise BadInput(f"{path}: holds NUL bytes: if it is UTF-16 text, give --encoding utf-16")
    headers, start = {}, data[:_LONGEST_HEADER].decode("utf-8-sig", "replace").lstrip("\r\n")
    for separator in SEPARATORS if not path.removesuffix(".gz").endswith((".tsv", ".tab")) else SEPARATORS[::-1]:
        headers[separator] = next(csv.reader(io.StringIO(start, newline=""), delimiter=separator), [])
    separator = max(headers, key=lambda each: (set(columns) <= set(headers[each]), len(headers[each])))
    header = headers[separator]
    _check_columns(path, header, columns)
    empty = separator.join(['""'] * len(header)) + "\n"  # a last row, which a quote that is never closed swallows
    quoted = b'"' in data
    options = pa.csv.ConvertOptions(
        include_columns=list({**columns, header[-1]: ""} if quoted else columns),
        column_types={header[-1]: pa.string(), **{name: pa.dictionary(pa.int32(), pa.string()) for name in columns}},
        null_values=[""],
        strings_can_be_null=True,
        quoted_strings_can_be_null=True,
    )
    try:
        table = pa.csv.read_csv(
            pa.BufferReader(data + b"\n" + empty.encode() if quoted else data),
            parse_options=pa.csv.ParseOptions(delimiter=separator, newlines_in_values=quoted),
            convert_options=options,
        )
    except pa.ArrowInvalid as error:
        _check_lines(path, data, separator)
        raise BadInput(f"{path}: {error}") from error
    if quoted and (data.count(b'"') % 2 or any(column[-1].is_valid for column in table.columns)):
        _check_lines(path, data, separator)
    if len(table) == quoted:
        raise BadInput(f"{path}: the file has a header but no rows")
    return table.slice(0, len(table) - quoted).select(list(columns))


def _text(path: str, data: bytes, encoding: str) -> str:
    try:
        return data.decode(encoding)
    except UnicodeError as error:
        raise BadInput(
            f"{path}: is not {encoding.upper()} text ({error}): name its encoding by --encoding, such as cp1252 "
            "(Windows), latin-1 or utf-16"
        ) from error


def _check_lines(path: str, data: bytes, separator: str) -> None:
    """Refuse a CSV file with a malformed line."""
    text, width = io.StringIO(_text(path, data, "utf-8").removeprefix("\ufeff"), newline=""), 0
    reader = csv.reader(text, delimiter=separator, strict=True)
    try:
        for row in reader:
            width = width or len(row)
            if row and len(row) != width:
                raise BadInput(
                    f"{path}, line {reader.line_num}: {len(row)} fields, where the header has {width}: a value that "
                    "holds the separator needs quotes"
                )
    except csv.Error as error:
        said = "a quoted value is never closed" if "unexpected end" in str(error) else error
        raise BadInput(f"{path}, line {reader.line_num}: {said}") from error


def _parquet(path: str, data: bytes, columns: Mapping[str, str]) -> Any:
    source = pa.BufferReader(data)
    _check_columns(path, pa.parquet.read_schema(source).names, columns)
    source.seek(0)
    table = pa.parquet.read_table(source, columns=list(columns))
    for place, name in enumerate(table.column_names):
        column, role = table[name], columns[name]
        number = pa.types.is_integer(column.type) or pa.types.is_floating(column.type)
        if role in NUMBERS and not number and not pa.types.is_decimal(column.type):
            raise BadInput(f"{path}: column {name!r} ({OPTIONS[role]}) holds values of type {column.type}, not numbers")
        if role not in NUMBERS and not pa.types.is_dictionary(column.type):
            table = table.set_column(place, name, column.dictionary_encode())
    return table


def _check_columns(path: str, names: Sequence[str], columns: Mapping[str, str]) -> None:
    """Check that a file has each column that is named, once."""
    if not "".join(names).strip():
        raise BadInput(f"{path}: the file is empty")
    for name, role in columns.items():
        if names.count(name) > 1:
            raise BadInput(f"{path}: {names.count(name)} columns are named {name!r} ({OPTIONS[role]}): rename them")
        if name not in names:
            close = {other.casefold(): other for other in names}
            near = get_close_matches(name.casefold(), close, n=1)
            meant = f"did you mean {close[near[0]]!r}? " if near else ""
            listed = ", ".join(map(repr, names[:20])) + (f", ... ({len(names)} in all)" if len(names) > 20 else "")
            if "," in name:
                meant = f"repeat {OPTIONS[role]} for each column; "
            raise BadInput(f"{path}: there is no column {name!r} ({OPTIONS[role]}); {meant}the columns are {listed}")


def _categories(column: Any) -> Any:
    """A column of arrow; a dictionary as categories in the order of the package."""
    if not pa.types.is_dictionary(column.type):
        return column.cast(pa.float64()).to_pandas()
    values = column.to_pandas().array
    return pd.Categorical(values, categories=sort_levels([plain_scalar(value) for value in values.categories]))


def _typed(values: Any, role: str, name: str, n_bins: int | None = None) -> Any:
    """The values of a column as its parameter needs them: numbers, labels or names."""
    if n_bins is not None and isinstance(values, pd.Categorical):
        levels = np.array([*values.categories, None], dtype=object)
        numbers = pd.to_numeric(pd.Series(levels), errors="coerce").notna().to_numpy()
        if numbers.sum() <= n_bins or numbers.sum() + 2 < len(levels):  # one value may name what is missing
            return values
        levels[numbers] = pd.to_numeric(pd.Series(levels[numbers])).tolist()
        return levels[values.codes]
    written = isinstance(values, pd.Categorical) and all(isinstance(level, str) for level in values.categories)
    if role not in (*LABELS, *NUMBERS) or not written:
        return values
    texts = [text.strip() for text in values.categories]
    others = [text for text in texts if not _NUMBER.fullmatch(text)]
    if role in NUMBERS and others:
        comma = ": write decimals with a point" if "," in others[0] else ""
        raise BadInput(f"{others[0]!r} in column {name!r} ({OPTIONS[role]}) is not a number{comma}")
    if {text.casefold() for text in texts} <= {"true", "false"}:
        levels = np.array([text.casefold() == "true" for text in texts])
    elif not others and texts:
        whole = role in LABELS and all(re.fullmatch(r"[+-]?\d+", text) for text in texts)
        levels = np.array([int(text) if whole else float(text) for text in texts])
    elif others and len(others) < len(texts) and {text.casefold() for text in others} <= _MISSING:
        raise BadInput(f"column {name!r} ({OPTIONS[role]}) holds numbers and {others[0]!r}: leave these rows out")
    else:
        return values
    if (values.codes < 0).any():
        levels = np.array([*levels.tolist(), None], dtype=float if role in NUMBERS else object)
    return levels[values.codes]
