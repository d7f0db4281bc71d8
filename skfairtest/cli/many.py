"""Many files -> one table of counts: each is counted by itself, its table kept, and what cannot be read is named."""

import glob
import hashlib
import io
import json
import os
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skfairtest._utils.files import replaced, sweep
from skfairtest._utils.progress import progress
from skfairtest._utils.text import pluralize
from skfairtest._version import __version__
from skfairtest.cli.engines import ENGINE_ERRORS, Engine, engine_reason
from skfairtest.cli.errors import BadInput, in_terms_of_options
from skfairtest.cli.files import Columns, check_roles, inferred
from skfairtest.cli.header import UTF_8, undecodable
from skfairtest.readers import MAX_GROUPS, WARN_GROUPS, ScoreBins, read_column
from skfairtest.readers.columns import Column, check_level_count
from skfairtest.readers.levels import listed
from skfairtest.tables import CountTable
from skfairtest.tables.storage import VERSION, is_stored

#: Tables that are held before they are added up.
_TOGETHER = 64
#: How many times as many bins each of several files has, before those of all of them are made.
_FINER = 4


@dataclass(frozen=True)
class Question:
    """What is counted in each file.

    Parameters
    ----------
    columns : Columns
        Which columns are what.
    bins : int, ndarray, ScoreBins or None
        How scores are put into bins.
    threshold : float or None
        From which score on a prediction is 1.
    """

    columns: Columns
    bins: int | NDArray[np.float64] | ScoreBins | None = None
    threshold: float | None = None

    @property
    def key(self) -> list[Any]:
        """Everything that the table of a file depends on besides the file, as JSON."""
        bins: Any = self.bins
        if isinstance(bins, np.ndarray):
            bins = [edge.hex() for edge in bins.tolist()]
        elif isinstance(bins, ScoreBins):
            bins = [bins.edges.tobytes().hex(), bins.values.tobytes().hex(), bins.bits, bins.unit]
        columns = self.columns
        asked = [columns.y_true, columns.y_pred, columns.sensitive, columns.control, columns.y_score, columns.weight]
        return [asked, columns.encoding, bins, self.threshold]

    def count(self, frame: Any) -> CountTable:
        """Let the engine of a frame count."""
        columns = self.columns
        return CountTable.from_frame(
            frame,
            y_true=columns.y_true,
            y_pred=columns.y_pred,
            sensitive_features=columns.sensitive,
            control_features=columns.control or None,
            sample_weight=None if columns.weight is None else columns.number(columns.weight),
            y_score=None if columns.y_score is None else columns.number(columns.y_score),
            score_bins=self.bins,
            prediction_threshold=self.threshold,
        )


@dataclass(frozen=True)
class Counted:
    """The table of everybody in the files that could be read, and why the others could not."""

    table: CountTable
    n_files: int
    failed: dict[str, str]

    @property
    def warnings(self) -> list[str]:
        """What a report says of files that are not part of it."""
        number = len(self.failed)
        if not number:
            return []
        are = "file is" if number == 1 else "files are"
        return [f"{number:,} {are} not part of this, because of errors: {listed(self.failed)}"]


# Which files ----------------------------------------------------------------------------------


def files_of(patterns: Sequence[str]) -> list[str]:
    """Return the files that are named, each once, in the order of their names.

    Raises
    ------
    BadInput
        If no file matches a pattern.
    """
    found: dict[str, str] = {}
    for pattern in patterns:
        named = [pattern]
        if len(patterns) > 1 and not (Path(pattern).suffix or glob.has_magic(pattern) or os.path.lexists(pattern)):
            raise BadInput(
                f"{pattern}: there is no such file; if it is a column, repeat the option for each of several: "
                "--sensitive race --sensitive sex"
            )
        if glob.has_magic(pattern):
            matching = [path for path in glob.glob(pattern, recursive=True) if not os.path.isdir(path)]
            # A file may be called like a pattern that it matches itself, such as "*.csv": it is one of them.
            if not os.path.lexists(pattern) or pattern in matching:
                named = matching
            elif matching:
                raise BadInput(
                    f"{pattern}: is the name of a file, and a pattern that matches others, such as {matching[0]!r}: "
                    "rename the file"
                )
            if not named:
                raise BadInput(f"{pattern}: no file matches this pattern (** matches folders within folders)")
        for path in named:
            found.setdefault(os.path.realpath(path), path)
    return sorted(found.values())


def are_tables(files: Sequence[str]) -> bool:
    """Tell by the first of the files whether they are tables of counts."""
    try:
        return is_stored(files[0])
    except (OSError, ValueError):  # said later, where it is read
        return False


# Counting ----------------------------------------------------------------------------------------


def count_files(files: Sequence[str], question: Question, engine: Engine, cache: str | None = None) -> Counted:
    """Count the people of files, one after the other.

    Parameters
    ----------
    files : sequence of str
        CSV and Parquet files.
    question : Question
        What is counted. Bins are those of all files together: each is read twice then, once to find them.
    engine : Engine
        What reads them.
    cache : str, optional
        A folder for the tables of files that are counted: they are not read again as long as they do not change.

    Raises
    ------
    BadInput
        If no file can be read, or columns hold numbers in one and text in another.
    """
    check_roles(question.columns)
    count = _Counting(engine, cache)
    if isinstance(question.bins, int | np.ndarray) and len(files) > 1:
        columns = replace(question.columns, y_true=None, y_pred=None, control=(), weight=None)
        finer = question.bins if isinstance(question.bins, np.ndarray) else _FINER * question.bins
        scores = Question(columns, finer)
        parts = [_by_bin(table) for table, _ in count.tables(files, scores, "finding bins")]
        _check_any(parts, files, count.failed)
        question = replace(question, bins=ScoreBins.pooled(parts, question.bins))
    readable = [path for path in files if path not in count.failed]
    typed, untyped = _Sum(), _Sum()
    for table, is_text in count.tables(readable, question, "counting"):
        (untyped if is_text else typed).add(table)
    _check_any([*typed.tables, *untyped.tables], files, count.failed)
    total = _Sum([*map(_typed, untyped.total()), *typed.total()]).total()[0]
    _check_levels(total)
    return Counted(total, len(files) - len(count.failed), count.failed)


def added(files: Sequence[str], columns: Columns) -> Counted:
    """Add tables that were stored, and keep the features that are named.

    Raises
    ------
    BadInput
        If none can be read.
    """
    failed: dict[str, str] = {}
    total = _Sum()
    for path in files:
        try:
            total.add(CountTable.load(path))
        except (ValueError, OSError) as error:
            failed[path] = _reason(path, error)
    _check_any(total.tables, files, failed)
    table = total.total()[0]
    if columns.sensitive or columns.control:
        table = table.regroup(columns.sensitive or None, columns.control or None)
    return Counted(table, len(files) - len(failed), failed)


def score_bins(text: str | None) -> int | NDArray[np.float64] | ScoreBins | None:
    """The value of ``--score-bins``: a number of bins, the edges between them, or a table that has bins.

    Raises
    ------
    BadInput
        If it is none of these.
    """
    if text is None:
        return None
    try:
        return int(text) if "," not in text else np.array([float(edge) for edge in text.split(",")])
    except ValueError:
        if not os.path.isfile(text):
            raise BadInput(
                f"--score-bins must be a number of bins, such as 1024, the edges between them, such as 0.25,0.5, or a "
                f"table that was counted with bins; found {text!r}"
            ) from None
    bins = CountTable.load(text).score_bins
    if bins is None:
        raise BadInput(f"--score-bins {text}: the table has no bins of scores")
    return bins


class _CacheFull(BadInput):
    """Nothing can be kept any more, whatever the files are."""


class _Counting:
    """Tables of files, from the cache where they are there; what could not be counted, and why."""

    def __init__(self, engine: Engine, cache: str | None) -> None:
        self.failed: dict[str, str] = {}
        self._engine, self._cache = engine, None if cache is None else Path(cache)
        if cache == "":
            raise BadInput("--cache is empty: name a folder, such as --cache counted")
        if self._cache is not None:
            try:
                self._cache.mkdir(parents=True, exist_ok=True)
            except (OSError, ValueError) as error:
                raise BadInput(f"--cache {cache}: {getattr(error, 'strerror', None) or error}") from error
            sweep(self._cache)

    def tables(self, files: Sequence[str], question: Question, what: str) -> Iterator[tuple[CountTable, bool]]:
        """Yield the table of each file that can be read, and whether its labels are text without types."""
        with progress(what, len(files), show=False) as advance:
            for path in files:
                try:
                    yield self._table(path, question)
                except _CacheFull:
                    raise
                except Exception as error:
                    self.failed[path] = _reason(path, error, question.columns.encoding)
                advance()

    def _table(self, path: str, question: Question) -> tuple[CountTable, bool]:
        before = state_of(path)
        kept = None if self._cache is None else Entry(self._cache, path, before, question, self._engine.name)
        if kept is not None and (found := kept.read()) is not None:
            return found
        if is_stored(path):
            raise BadInput("is a table of counts, among files of people: audit or count the tables by themselves")
        frame, is_text = self._engine.frame(path, question.columns, question.threshold is not None)
        table = question.count(frame)
        if is_text and self._engine.replaces:
            _check_text(table, path, question.columns.encoding)
        if state_of(path) != before:
            raise BadInput("changed while it was read: run the command again")
        if kept is not None:
            kept.write(table, is_text)
        return table, is_text


def _check_text(table: CountTable, path: str, encoding: str) -> None:
    """Refuse a file in which an engine has replaced what it could not decode."""
    levels = [level for column in table.to_rows().columns for level in column.levels]
    if any(isinstance(level, str) and "\N{REPLACEMENT CHARACTER}" in level for level in levels):
        reason = undecodable(path, encoding)
        if reason is not None:
            raise BadInput(reason)


def state_of(path: str) -> tuple[int, int, int]:
    """What changes when a file does: its size and times, of which nobody can set the last one."""
    found = os.stat(path)
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns


class Entry:
    """The table of a file in the cache: a checksum of it and of the question, whether labels are text, and Parquet."""

    def __init__(self, cache: Path, path: str, state: tuple[int, ...], question: Question, engine: str) -> None:
        key = [VERSION, __version__, engine, os.path.realpath(path), *state, question.key]
        self._key = hashlib.sha256(json.dumps(key).encode())
        self._path = cache / f"{self._key.hexdigest()}.counts"

    def read(self) -> tuple[CountTable, bool] | None:
        """The table, and whether its labels are text; None where it is not there or not as it was written."""
        try:
            content = self._path.read_bytes()
        except OSError:
            return None
        size = self._key.digest_size
        if content[:size] != self._checksum(content[size:]):
            return None
        return CountTable.load(io.BytesIO(content[size + 1 :])), bool(content[size])

    def write(self, table: CountTable, is_text: bool) -> None:
        """Keep a table, all at once."""
        if self._path.is_dir():
            warnings.warn(f"--cache: {self._path} is a folder: remove it, for the table to be kept", stacklevel=2)
            return
        try:
            parquet = io.BytesIO()
            table.save(parquet)
            body = bytes([is_text]) + parquet.getvalue()
            with replaced(self._path) as temporary:
                Path(temporary).write_bytes(self._checksum(body) + body)
        except OSError as error:
            raise _CacheFull(f"--cache {self._path.parent}: {error.strerror or error}") from error

    def _checksum(self, body: bytes) -> bytes:
        whole = self._key.copy()
        whole.update(body)
        return whole.digest()


def _reason(path: str, error: Exception, encoding: str = UTF_8) -> str:
    """Say why a file could not be counted; raise what is no fault of the file."""
    if type(error).__module__.partition(".")[0] in ENGINE_ERRORS:
        return f"{path}: {undecodable(path, encoding) or engine_reason(error)}"
    if isinstance(error, OSError):
        return f"{path}: {error.strerror or error}"
    if not isinstance(error, BadInput | ValueError):
        raise error
    reason = str(error) if isinstance(error, BadInput) else in_terms_of_options(error)
    return reason if reason.startswith(path) else f"{path}: {reason}"


def _check_any(found: Sequence[Any], files: Sequence[str], failed: dict[str, str]) -> None:
    if not found:
        more = f" (and {pluralize(len(failed) - 1, 'other file')} cannot be read either)" if len(failed) > 1 else ""
        raise BadInput(f"{failed[files[0]]}{more}")


# Adding up ---------------------------------------------------------------------------------------


class _Sum:
    """Tables that are added up, some at a time."""

    def __init__(self, tables: Sequence[CountTable] = ()) -> None:
        self.tables = list(tables)

    def add(self, table: CountTable) -> None:
        self.tables.append(table)
        if len(self.tables) >= _TOGETHER:
            self.tables = self.total()

    def total(self) -> list[CountTable]:
        return [self.tables[0].merge(*self.tables[1:])] if self.tables else []


def _by_bin(table: CountTable) -> tuple[ScoreBins, NDArray[np.int64]]:
    """Return the bins of a table, and how many people are in each."""
    bins, rows = table.score_bins, table.to_rows()
    assert bins is not None
    scores = rows.columns[-1]
    place = np.searchsorted(bins.values, np.array(scores.levels, dtype=float))
    return bins, np.bincount(place[scores.codes], weights=rows.counts, minlength=len(bins)).astype(np.int64)


def _typed(table: CountTable) -> CountTable:
    """Give labels that were read as text the types that they have in a single file."""
    rows = table.to_rows()
    typed = {column.name: _typed_labels(column) for column in rows.columns if column.name in ("y_true", "y_pred")}
    text = any(isinstance(level, str) for column in typed.values() for level in column.levels)
    # Beside labels that are text, such as "unsure", whole numbers that were read as text are text, too.
    columns = [
        column if column.name not in typed or (text and _are_whole(column, typed[column.name])) else typed[column.name]
        for column in rows.columns
    ]
    names = table.control_names, table.sensitive_names, table.cell_names
    return table.of_rows(replace(rows, columns=tuple(columns)), *names, table.score_bins, table.suppressed)


def _are_whole(written: Column, typed: Column) -> bool:
    return any(isinstance(a, str) and not isinstance(b, float) for a, b in zip(written.levels, typed.levels, strict=False))


def _typed_labels(column: Column) -> Column:
    if not any(isinstance(level, str) for level in column.levels):  # beside predictions by a threshold
        return replace(column, levels=tuple(map(int, column.levels)))
    values = inferred(column.levels, f"column {column.name!r}")
    return column if values is None else read_column(values[column.codes], column.name)


def _check_levels(table: CountTable) -> None:
    """Refuse what only shows in all files together."""
    columns = table.to_rows().columns
    for column in columns:
        if len({isinstance(level, str) for level in column.levels}) > 1:
            raise BadInput(
                f"column {column.name!r} holds text in some files and numbers in others: {column.levels[0]!r} and "
                f"{column.levels[-1]!r} would be different values; write them alike"
            )
    n_control = len(table.control_names)
    for column in columns[n_control : n_control + len(table.sensitive_names)]:
        check_level_count(column, "sensitive_features", MAX_GROUPS, WARN_GROUPS)
