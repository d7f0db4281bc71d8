"""How a file begins: what kind of file it is, and its columns. Light, because completion waits for it."""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from skfairtest.cli.errors import BadInput

__all__ = ["column_names", "first_record", "opened", "possible_headers"]

_GZIP, _PARQUET = b"\x1f\x8b", b"PAR1"
#: How files begin that many people would try, and what they are.
_OTHERS = {
    b"PK\x03\x04": "a spreadsheet or a zip archive",
    b"\xd0\xcf\x11\xe0": "an old spreadsheet",
    b"BZh": "compressed by bzip2",
    b"\xfd7zX": "compressed by xz",
    b"\x28\xb5\x2f\xfd": "compressed by zstd",
}
_LONGEST_FIELD = 1 << 24


def column_names(path: str) -> list[str]:
    """Return the names of the columns of a file, as far as they can be read.

    Raises
    ------
    BadInput
        If the file cannot be read.
    """
    with opened(path) as (source, separator):
        if separator is None:
            import pyarrow.parquet

            return list(pyarrow.parquet.read_schema(source).names)
        return max(possible_headers(first_record(source, path), separator).values(), key=len)


@contextmanager
def opened(path: str) -> Iterator[tuple[Any, str | None]]:
    """Open a file; yield text and the separator to try first, or bytes and None of a Parquet file."""
    with _explained(path), open(path, "rb") as raw:
        start = raw.peek(8)
        if start.startswith(_PARQUET) or path.lower().endswith((".parquet", ".pq")):
            yield raw, None
            return
        for sign, what in _OTHERS.items():
            if start.startswith(sign):
                raise BadInput(f"{path}: is {what}: save or unpack it as CSV or Parquet")
        unzipped = path.lower().removesuffix(".gz")
        zipped = start.startswith(_GZIP) or path.lower() != unzipped
        stream = gzip.GzipFile(fileobj=raw) if zipped else raw
        with io.TextIOWrapper(stream, encoding="utf-8-sig", newline="") as text:
            yield text, "\t" if unzipped.endswith((".tsv", ".tab")) else ","


@contextmanager
def _explained(path: str) -> Iterator[None]:
    """Say in one line why a file cannot be read, and let its fields be long."""
    limit = csv.field_size_limit(_LONGEST_FIELD)
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
    finally:
        csv.field_size_limit(limit)


def first_record(stream: io.TextIOWrapper, path: str) -> str:
    """Read the header, which may have line feeds in quotes; empty lines before it are passed over."""
    head = stream.readline(_LONGEST_FIELD)
    while head and not head.strip("\r\n"):
        head = stream.readline(_LONGEST_FIELD)
    while head.count('"') % 2 and len(head) < _LONGEST_FIELD:
        more = stream.readline(_LONGEST_FIELD)
        if not more:
            break
        head += more
    if len(head) >= _LONGEST_FIELD:
        raise BadInput(f"{path}: the first line has no end within {_LONGEST_FIELD:,} characters: this is no table")
    return head


def possible_headers(head: str, first: str) -> dict[str, list[str]]:
    """Split a header by each separator, by `first` before the others."""
    return {
        separator: next(csv.reader(io.StringIO(head, newline=""), delimiter=separator), [])
        for separator in dict.fromkeys([first, ",", ";", "\t", "|"])
    }
