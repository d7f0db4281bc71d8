"""How a file begins, and what the shell offers of it.

How a file begins: what kind of file it is, and its columns. Light, because completion waits for it.

What the shell offers when the tab key is pressed: metrics, and the columns of the file that was named.

The answer is waited for, so nothing here imports NumPy or anything that does, unless the file is a Parquet file.
"""

import ast
import codecs
import csv
import gzip
import io
import os
import shlex
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from glob import iglob
from itertools import chain
from pathlib import Path
from typing import Any

import typer

from skfairtest.cli.errors import BadInput

#: The encoding of text where none is named.
UTF_8 = "utf-8"

_GZIP, _PARQUET = b"\x1f\x8b", b"PAR1"
#: How files begin that many people would try, and what they are.
_OTHERS = {
    b"PK\x03\x04": "a spreadsheet or a zip archive",
    b"\xd0\xcf\x11\xe0": "an old spreadsheet",
    b"BZh": "compressed by bzip2",
    b"\xfd7zX": "compressed by xz",
    b"\x28\xb5\x2f\xfd": "compressed by zstd",
}
#: How text begins whose encoding says so itself; that of UTF-32 begins like that of UTF-16.
_MARKS = {codecs.BOM_UTF32_LE: "utf-32", codecs.BOM_UTF32_BE: "utf-32"}
_MARKS |= {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
_LONGEST_FIELD = 1 << 24
_PIECE = 1 << 16


def check_encoding(name: str) -> str:
    """Return the name that Python gives an encoding.

    Raises
    ------
    BadInput
        If it has none of that name that is one of text.

    Examples
    --------
    >>> check_encoding("UTF8"), check_encoding("latin1")
    ('utf-8', 'iso8859-1')
    """
    try:
        "".encode(name)  # refuses codecs of something else, such as "hex"
        return codecs.lookup(name).name.removesuffix("-sig")  # a mark of UTF-8 is no part of the text anyway
    except (LookupError, ValueError) as error:
        raise BadInput(
            f"--encoding {name!r} is unknown: name one that Python has, such as utf-8, cp1252 (Windows), latin-1, "
            "utf-16, mac-roman, shift_jis or gb18030"
        ) from error


def column_names(path: str, encoding: str = UTF_8) -> list[str]:
    """Return the names of the columns of a file, as far as they can be read.

    Raises
    ------
    BadInput
        If the file cannot be read.
    """
    with opened(path, encoding) as (source, separator):
        if separator is None:
            import pyarrow.parquet

            return list(pyarrow.parquet.read_schema(source).names)
        return max(possible_headers(first_record(source, path), separator).values(), key=len)


@contextmanager
def opened(path: str, encoding: str = UTF_8) -> Iterator[tuple[Any, str | None]]:
    """Open a file; yield text and the separator to try first, or bytes and None of a Parquet file."""
    with _explained(path, encoding), _unzipped(path) as (stream, kind):
        if kind is None:
            yield stream, None
            return
        with io.TextIOWrapper(stream, encoding=_codec(encoding), newline="") as text:
            yield text, kind


@contextmanager
def _unzipped(path: str) -> Iterator[tuple[Any, str | None]]:
    """Open a file as bytes; yield them unpacked, and the separator to try first; None of a Parquet file."""
    with open(path, "rb") as raw:
        start = raw.peek(8)
        if start.startswith(_PARQUET) or path.lower().endswith((".parquet", ".pq")):
            yield raw, None
            return
        for sign, what in _OTHERS.items():
            if start.startswith(sign):
                raise BadInput(f"{path}: is {what}: save or unpack it as CSV or Parquet")
        unzipped = path.lower().removesuffix(".gz")
        zipped = start.startswith(_GZIP) or path.lower() != unzipped
        yield (gzip.GzipFile(fileobj=raw) if zipped else raw), "\t" if unzipped.endswith((".tsv", ".tab")) else ","


def _codec(encoding: str) -> str:
    """Return the name under which Python also takes a byte order mark of UTF-8 for none of the text."""
    return "utf-8-sig" if encoding == UTF_8 else encoding


@contextmanager
def _explained(path: str, encoding: str) -> Iterator[None]:
    """Say in one line why a file cannot be read, and let its fields be long."""
    limit = csv.field_size_limit(_LONGEST_FIELD)
    try:
        yield
    except UnicodeError as error:  # UTF-16 without a mark of its byte order is not a UnicodeDecodeError
        reason = undecodable(path, encoding) or f"is not {encoding.upper()} text: {error}; {_OTHER_ENCODING}"
        raise BadInput(f"{path}: {reason}") from error
    except (OSError, EOFError, zlib.error, csv.Error) as error:
        raise BadInput(f"{path}: {getattr(error, 'strerror', None) or error}") from error
    except ValueError as error:
        if "null byte" not in str(error):  # a path that no file can have
            raise
        raise BadInput(f"{path}: {error}") from error
    finally:
        csv.field_size_limit(limit)


_OTHER_ENCODING = "name its encoding by --encoding, such as cp1252 (Windows), latin-1 or utf-16, or save it as UTF-8"


def undecodable(path: str, encoding: str = UTF_8) -> str | None:
    """Say where a file of text does not have an encoding, and what to do; None where it has, or is read only once."""
    if not os.path.isfile(path):
        return None
    with suppress(BadInput, OSError, EOFError, zlib.error), _unzipped(path) as (stream, kind):  # that is not about text
        return None if kind is None else _undecodable(stream, encoding)
    return None


def _undecodable(stream: Any, encoding: str) -> str | None:
    decoder, offset, line = codecs.getincrementaldecoder(_codec(encoding))(), 0, 1
    start = stream.peek(4)
    while piece := stream.read(_PIECE):
        state = decoder.getstate()
        try:
            line += decoder.decode(piece).count("\n")
        except UnicodeError:
            decoder.setstate(state)
            break
        offset += len(piece)
    for place in range(len(piece) + 1):  # byte by byte to where it fails, which may be the end
        is_end = place == len(piece)
        try:
            line += decoder.decode(piece[place : place + 1], final=is_end).count("\n")
        except UnicodeDecodeError as error:
            wrong = offset + place + (not is_end) - len(error.object) + error.start
            found = f"byte {error.object[error.start]:#04x} at offset {wrong:,}, in line {line:,}"
            return f"is not {encoding.upper()} text ({found}): {_advice(start)}"
        except UnicodeError:
            return f"has no byte order mark: give --encoding {encoding}-le or {encoding}-be, or save it as UTF-8"
    return None


def _advice(start: bytes) -> str:
    """Say what to do about another encoding, which a file may name itself by how it starts."""
    named = next((name for mark, name in _MARKS.items() if start.startswith(mark)), None)
    return _OTHER_ENCODING if named is None else f"it begins like {named.upper()}: give --encoding {named}"


def first_record(stream: io.TextIOWrapper, path: str) -> str:
    """Read the header, which may have line feeds in quotes; empty lines before it are passed over."""
    head = stream.readline(_LONGEST_FIELD).removeprefix("\ufeff")  # a mark that encodings by name leave in the text
    while head and not head.strip("\r\n"):
        head = stream.readline(_LONGEST_FIELD)
    while head.count('"') % 2 and len(head) < _LONGEST_FIELD:
        more = stream.readline(_LONGEST_FIELD)
        if not more:
            break
        head += more
    if "\0" in head:
        raise BadInput(f"{path}: holds null characters: if it is UTF-16 text, give --encoding utf-16-le or utf-16-be")
    if len(head) >= _LONGEST_FIELD:
        raise BadInput(f"{path}: the first line has no end within {_LONGEST_FIELD:,} characters: this is not a table")
    return head


def possible_headers(head: str, first: str) -> dict[str, list[str]]:
    """Split a header by each separator, by `first` before the others."""
    return {
        separator: next(csv.reader(io.StringIO(head, newline=""), delimiter=separator), [])
        for separator in dict.fromkeys([first, ",", ";", "\t", "|"])
    }


def columns_of_file(context: typer.Context, incomplete: str) -> list[str]:
    """Offer the columns of the first file that begin like this, but none that the shell would read otherwise."""
    # An option that waits for its value ends the reading of arguments: what came before them is left over.
    left_over = [argument for argument in context.args if not argument.startswith("-")]
    files = [*(context.params.get("files") or ()), context.params.get("file")]
    named = next(filter(None, [*files, *left_over]), "")
    try:
        matching = named if os.path.lexists(named) else next(iglob(named, recursive=True), named)
        path = Path(matching).expanduser()
        # Of anything but a file (a pipe) what is read here would be missing afterwards.
        names = column_names(str(path), _encoding(context)) if path.is_file() else []
    except (BadInput, OSError, RuntimeError, ValueError):
        return []
    return [name for name in dict.fromkeys(names) if name.startswith(incomplete) and shlex.quote(name) == name]


def _encoding(context: typer.Context) -> str:
    return check_encoding(context.params.get("encoding") or UTF_8)


def metrics_of_audit(incomplete: str) -> list[str]:
    """Offer the metrics of an audit."""
    tables = (_declared("metrics/rates", "RATES", "CRITERIA"), _declared("metrics/scores", "SCORES"))
    return [name for name in ("standard", *chain(*tables)) if name.startswith(incomplete)]


def metrics_of_power(incomplete: str) -> list[str]:
    """Offer the metrics whose power can be computed."""
    tables = (_declared("metrics/rates", "RATES", "CRITERIA"), _declared("planning/plan", "MEANS", "AREA"))
    return [name for name in chain(*tables) if name.startswith(incomplete)]


def _declared(module: str, *tables: str) -> list[str]:
    """Read the names of metrics where they are declared, without importing the module.

    A table is a name, a tuple of names, a dict by name, or a dict of what some calls make; the first argument of each
    call is the name.
    """
    source = Path(__file__).parents[1].joinpath(f"{module}.py").read_text(encoding="utf-8")
    values: dict[str, ast.expr] = {}
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            values |= {ast.unparse(target): node.value for target in targets}
    return [ast.literal_eval(name) for table in tables for name in _names(values[table])]


def _names(table: ast.expr) -> list[Any]:
    match table:
        case ast.Dict(keys=names) | ast.Tuple(elts=names):
            return names
        case ast.DictComp(generators=[ast.comprehension(iter=ast.Tuple(elts=made))]):
            return [call.args[0] for call in made if isinstance(call, ast.Call)]
    return [table]
