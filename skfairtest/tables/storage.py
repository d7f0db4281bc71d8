"""Tables for others: in files, and without small groups and cells.

Tables for sharing: small groups are left out or merged because of their size alone, and small cells are refused.

Tables in files: JSON, or Parquet that other programs read as a frame of counts.

A file holds the version of its format and the type of every label: 1, True, 1.0 and "1" are distinguished, and so are
dates and times.
"""

import hashlib
import json
import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from skfairtest._utils.base import tagged, untagged
from skfairtest._utils.checks import check_choice
from skfairtest._utils.errors import ParameterError, brief
from skfairtest._utils.files import checksum, replaced
from skfairtest._utils.typing import Integers
from skfairtest.readers.columns import Column
from skfairtest.readers.score_bins import ScoreBins
from skfairtest.tables.rows import Key, Rows

#: What a feature's value is in the group that small groups become.
OTHER = "(other)"
#: A group that was left out, in which stratum, and how many people it would have needed.
Suppressed = tuple[Any, Any, int]


def merged_groups(counts: Integers, groups: Sequence[Key], minimum: int, small: str) -> list[list[Key]]:
    """Return the name of each group in each stratum when small ones are merged, (S, G)."""
    check_choice("small", small, ("exclude", "merge"))
    if not isinstance(minimum, int | np.integer) or isinstance(minimum, bool) or minimum < 1:
        raise ParameterError(f"minimum_cell must be a whole number of people, at least 1; found {brief(minimum)}.")
    other = (OTHER,) * len(groups[0])
    too_small = too_few(counts, minimum) & (small == "merge")
    return [[other if merge else group for merge, group in zip(row, groups, strict=True)] for row in too_small]


def too_few(counts: Integers, minimum: int) -> np.ndarray:
    """A mask of the groups with people, but fewer than `minimum`, in each stratum: (S, G)."""
    sizes = counts.sum(axis=2)
    return np.asarray((sizes > 0) & (sizes < minimum))


def check_small_cells(counts: Integers, groups: Sequence[Any], cells: Sequence[Key], minimum: int) -> None:
    """Refuse cells with fewer people than may be published."""
    small = np.argwhere((counts > 0) & (counts < minimum))
    if len(small):
        _, group, cell = small[0]
        raise ParameterError(
            f"minimum_cell={minimum}: {len(small):,} cells of the table have fewer people, such as {cells[cell]!r} of "
            f"group {groups[group]!r}. Leaving out cells because of their counts would make tests invalid: count fewer "
            "cells (table.marginal('y_pred')), fewer groups (table.regroup, small='merge') or fewer bins of scores."
        )


FORMAT, VERSION = "skfairtest.CountTable", 1
#: What a file says beside its rows; the last is not in files of earlier versions.
HEADER = ("format", "version", "control_names", "sensitive_names", "cell_names", "levels", "score_bins", "suppressed",
          "checksum")  # fmt: skip
BINS = ("edges", "values", "low", "high")


@dataclass(frozen=True, eq=False)
class Stored:
    """What a file holds: everything that makes a table."""

    rows: Rows
    control_names: tuple[str, ...]
    sensitive_names: tuple[str, ...]
    cell_names: tuple[str, ...]
    score_bins: ScoreBins | None = None
    suppressed: tuple[Suppressed, ...] = field(default=())


def write_stored(stored: Stored, path: str | os.PathLike[str] | BinaryIO) -> None:
    """Write a file, all at once; Parquet where it is open already."""
    header = {
        "format": FORMAT,
        "version": VERSION,
        "control_names": list(stored.control_names),
        "sensitive_names": list(stored.sensitive_names),
        "cell_names": list(stored.cell_names),
        "levels": [[tagged(level) for level in column.levels] for column in stored.rows.columns],
        "score_bins": None if stored.score_bins is None else _bins_to_json(stored.score_bins),
        "suppressed": [[tagged(group), tagged(stratum), least] for group, stratum, least in stored.suppressed],
    }
    rows = stored.rows
    header["checksum"] = _checksum(header, [column.codes for column in rows.columns], rows.counts, rows.weights)
    if not isinstance(path, str | os.PathLike):
        _write_parquet(header, stored.rows, path)
        return
    writer = {".json": _write_json, ".parquet": _write_parquet}.get(Path(path).suffix)
    if writer is None:
        raise ParameterError(f"path must end in .json or .parquet; found {os.fspath(path)!r}.")
    with replaced(path) as temporary:
        writer(header, stored.rows, temporary)


def is_stored(path: str | os.PathLike[str]) -> bool:
    """Return, from its first bytes, whether `write_stored` wrote a file; nothing is read from a pipe."""
    if not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        start = file.read(100)
        if start.startswith(b"PAR1"):
            _, parquet = _arrow()
            with suppress(ValueError, OSError):  # a damaged file
                return b"skfairtest" in (parquet.read_metadata(file).metadata or {})
    return re.match(rb'\s*\{\s*"format"\s*:\s*"skfairtest\.CountTable"', start) is not None


def read_stored(path: str | os.PathLike[str] | BinaryIO) -> Stored:
    """Read a file; Parquet where it is open already."""
    if isinstance(path, str | os.PathLike):
        name, kind = os.fspath(path), Path(path).suffix
    else:
        name, kind = "an open file", ".parquet"
    reader = {".json": _read_json, ".parquet": _read_parquet}.get(kind)
    if reader is None:
        raise ParameterError(f"path must end in .json or .parquet; found {name!r}.")
    try:
        header, codes, counts, weights = reader(path)
        if not isinstance(header, Mapping) or header.get("format") != FORMAT:
            raise ValueError("it was not written by CountTable.save")
        if header["version"] > VERSION:
            raise ValueError(f"its format is version {header['version']}; this version of skfairtest reads {VERSION}")
        if not {*HEADER, "codes", "counts", "weights"}.issuperset(header):
            raise ValueError("it says what no table says: it was damaged or edited")
        if header.get("checksum") not in (None, _checksum(header, codes, counts, weights)):
            raise ValueError("its checksum is another one: it was damaged or edited")
        names = [tuple(header[name]) for name in ("control_names", "sensitive_names", "cell_names")]
        levels = [tuple(map(untagged, column)) for column in header["levels"]]
        columns = _columns([name for each in names for name in each], levels, codes)
        lengths = {len(counts), *map(len, columns), len(counts if weights is None else weights)}
        if len(counts) == 0 or (counts < 0).any() or len(lengths) > 1:
            raise ValueError("its counts do not fit its rows")
        return Stored(
            Rows(columns, counts, weights),
            names[0],
            names[1],
            names[2],
            None if header["score_bins"] is None else _bins_from_json(header["score_bins"]),
            tuple((untagged(group), untagged(stratum), least) for group, stratum, least in header["suppressed"]),
        )
    except Exception as error:
        if isinstance(error, OSError) and error.errno is not None:  # Arrow's about damaged pages have no number
            raise
        raise ParameterError(f"path={name!r} holds no table of counts: {type(error).__name__}: {error}.") from error


def _checksum(header: Mapping[str, Any], codes: Sequence[Any], counts: Integers, weights: Any) -> str:
    """The checksum of a table, in whichever kind of file it is."""
    rows = hashlib.sha256()
    for column in (*codes, counts):
        rows.update(np.asarray(column, dtype="<i8").tobytes())
    if weights is not None:
        rows.update(np.ascontiguousarray(weights, dtype="<f8").tobytes())
    return checksum({**{name: header[name] for name in HEADER[:-1]}, "rows": rows.hexdigest()})


def _columns(names: Sequence[str], levels: Sequence[tuple[Any, ...]], codes: Sequence[Any]) -> tuple[Column, ...]:
    if not len(names) == len(levels) == len(codes):
        raise ValueError("its columns do not fit their names")
    columns = []
    for name, values, column in zip(names, levels, codes, strict=True):
        place = np.asarray(column, dtype=np.intp)
        if len(place) and not 0 <= place.min() <= place.max() < len(values):
            raise ValueError(f"column {name!r} holds values that are not listed")
        columns.append(Column(name, values, place))
    return tuple(columns)


def _bins_to_json(bins: ScoreBins) -> dict[str, Any]:
    arrays = {
        name: [each.hex() for each in getattr(bins, name).tolist()] for name in ("edges", "values", "low", "high")
    }
    return {**arrays, "bits": bins.bits, "unit": bins.unit}


def _bins_from_json(written: Mapping[str, Any]) -> ScoreBins:
    edges, values, low, high = (np.array([float.fromhex(x) for x in written[name]]) for name in BINS)
    if not len(edges) + 1 == len(values) == len(low) == len(high):
        raise ValueError("its bins of scores do not fit each other")
    return ScoreBins(edges, values, low, high, written["bits"], written["unit"])


# The two kinds of files ---------------------------------------------------------------------

_Read = tuple[Any, list[Any], Integers, Any]


def _write_json(header: Mapping[str, Any], rows: Rows, path: str) -> None:
    body = {
        "codes": [column.codes.tolist() for column in rows.columns],
        "counts": rows.counts.tolist(),
        "weights": None if rows.weights is None else rows.weights.tolist(),
    }
    with open(path, "w", encoding="utf-8") as file:
        json.dump({**header, **body}, file, ensure_ascii=False)


def _read_json(path: Any) -> _Read:
    with open(path, encoding="utf-8") as file:
        found = json.load(file)
    if not isinstance(found, Mapping) or "counts" not in found:
        raise ValueError("it was not written by CountTable.save")
    weights = None if found["weights"] is None else np.array(found["weights"], dtype=float).reshape(-1, 2)
    return found, found["codes"], np.array(found["counts"], dtype=np.int64), weights


def _write_parquet(header: Mapping[str, Any], rows: Rows, path: str | BinaryIO) -> None:
    pyarrow, parquet = _arrow()
    arrays: list[tuple[str, Any]] = []
    for column in rows.columns:
        # What Arrow has no type for is shown as text: only the codes are read again.
        plain = column.values.dtype != object
        values = np.array(column.levels) if plain else [str(level) for level in column.levels]
        codes = pyarrow.array(column.codes.astype(np.int32))
        arrays += [(column.name, pyarrow.array(values).take(codes)), (f"{column.name} (code)", codes)]
    arrays.append(("count", pyarrow.array(rows.counts)))
    if rows.weights is not None:
        arrays += zip(
            ("weight", "squared_weight"), map(pyarrow.array, np.ascontiguousarray(rows.weights.T)), strict=True
        )
    names: list[str] = []
    for name, _ in arrays:  # a feature may be called "sex (code)"; what reads the file goes by places
        while name in names:
            name += "_"
        names.append(name)
    table = pyarrow.table([array for _, array in arrays], names=names)
    table = table.replace_schema_metadata({"skfairtest": json.dumps(header, ensure_ascii=False)})
    parquet.write_table(table, path)


def _read_parquet(path: Any) -> _Read:
    _, parquet = _arrow()
    table = parquet.ParquetFile(path).read()
    written = (table.schema.metadata or {}).get(b"skfairtest")
    if written is None:
        raise ValueError("it was not written by CountTable.save")
    header = json.loads(written)
    end = 2 * sum(len(header[names]) for names in ("control_names", "sensitive_names", "cell_names"))
    codes, sums = ([each.to_numpy() for each in part] for part in (table.columns[1:end:2], table.columns[end + 1 :]))
    return header, codes, table.columns[end].to_numpy(), np.stack(sums, axis=1) if sums else None


def _arrow() -> Any:
    try:
        import pyarrow
        import pyarrow.parquet
    except ModuleNotFoundError:
        raise ParameterError(
            'path ends in .parquet, which needs pyarrow: install "skfairtest[report]", or use .json.'
        ) from None
    return pyarrow, pyarrow.parquet
