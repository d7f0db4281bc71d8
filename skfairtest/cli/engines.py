"""Files -> frames of an engine that counts them: text as it is read in memory, where only an empty field is missing."""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import narwhals as nw
import pandas as pd

from skfairtest.cli.errors import BadInput
from skfairtest.cli.files import Columns, check_columns, people_of, split_header
from skfairtest.cli.header import UTF_8, first_record, opened
from skfairtest.readers.engines import Frame

#: Packages whose errors are about a file; others are ours.
ENGINE_ERRORS = ("duckdb", "_duckdb", "narwhals", "polars", "py4j", "pyspark")


@dataclass(frozen=True)
class Engine:
    """What reads files and counts them.

    Parameters
    ----------
    name : str
        As it is asked for; empty for the reader in memory.
    frame : callable
        Returns the frame of a file, and whether it is text, whose labels have no types yet; but true labels are
        numbers if they are said to be binary.
    replaces : bool
        Whether it goes on where bytes are no UTF-8 text, with replacement characters.
    """

    name: str
    frame: Callable[[str, Columns, bool], tuple[Any, bool]]
    replaces: bool = False


@contextmanager
def started(name: str | None) -> Iterator[Engine]:
    """Start an engine by its name; None: files are read into memory.

    Raises
    ------
    BadInput
        If it is not installed.
    """
    if name is None:
        yield Engine("", _frame_in_memory)
        return
    with ExitStack() as stack:
        try:
            parquet, text = stack.enter_context({"polars": _polars, "duckdb": _duckdb, "spark": _spark}[name]())
        except ModuleNotFoundError as error:
            raise BadInput(
                f'--engine {name}: {error.name} is not installed; run: python -m pip install "skfairtest[{name}]"'
            ) from error
        yield Engine(name, lambda path, columns, binary: _frame(path, columns, parquet, text, binary), name == "spark")


def engine_reason(error: Exception) -> str:
    """Say in a line what an engine says in many: Java's traces end with the cause."""
    causes = re.findall(r"^Caused by: (?:[\w.$]+: )?(.+)", str(error), re.MULTILINE)
    first = next((line for line in str(error).splitlines() if line.strip()), "")
    return f"{type(error).__name__}: {causes[-1] if causes else first}".strip()


# What every engine is told ------------------------------------------------------------------


def _frame_in_memory(path: str, columns: Columns, binary: bool) -> tuple[pd.DataFrame, bool]:
    people, text = people_of(path, columns, typed=binary)
    labels = {columns.y_true: people.y_true, columns.y_pred: people.y_pred}
    numbers = {columns.y_score: people.y_score, columns.weight: people.weight}
    named = {name: values for name, values in labels.items() if name is not None}
    named |= {columns.number(name): values for name, values in numbers.items() if name is not None}
    return pd.DataFrame({**named, **people.sensitive, **people.control}), text


_Parquet = Callable[[str], Any]
_Text = Callable[[str, str, int, str], Any]


def _frame(path: str, columns: Columns, parquet: _Parquet, text: _Text, binary: bool) -> tuple[Any, bool]:
    where = str(Path(path).absolute())
    with opened(path, columns.encoding) as (source, separator):
        if separator is None:
            import pyarrow.parquet

            try:
                check_columns(path, pyarrow.parquet.ParquetFile(source).schema_arrow.names, columns)
            except pyarrow.ArrowException as error:
                raise BadInput(f"{path}: not a readable Parquet file: {error}") from error
            people = Frame.opened(parquet(where))
            asked = {name: people.col(name) for name in columns.options}
            numbers = {columns.number(name): people.col(name) for name in columns.numbers}
            return people.frame.select(**{**asked, **numbers}).to_native(), False
        head = first_record(source, path)
    separator, header, hint = split_header(head, columns, separator)
    check_columns(path, header, columns, hint)
    people = Frame.opened(text(where, separator, len(header), columns.encoding))
    places = list(people.names.values())
    found = {name: nw.col(places[header.index(name)]) for name in columns.options}
    asked = {name: nw.when(values != "").then(values) for name, values in found.items()}
    if binary and columns.y_true is not None:
        asked[columns.y_true] = _truth(found[columns.y_true])
    numbers = {columns.number(name): _number(found[name]) for name in columns.numbers}
    return people.frame.select(**{**asked, **numbers}).to_native(), True


def _number(text: nw.Expr) -> nw.Expr:
    bare = text.str.strip_chars()
    return nw.when(bare != "").then(bare).cast(nw.Float64)


def _truth(text: nw.Expr) -> nw.Expr:
    known = text.str.strip_chars().str.to_lowercase()
    false = nw.when(known == "false").then(nw.lit("0")).otherwise(known)
    return _number(nw.when(known == "true").then(nw.lit("1")).otherwise(false))


def _encoding(engine: str, encoding: str, known: Mapping[str, str]) -> str:
    """An encoding by the name that an engine gives it."""
    if encoding not in known:
        raise BadInput(
            f"--encoding {encoding}: --engine {engine} reads {', '.join(known.values())} only: leave out --engine, "
            "name polars, or save the file as UTF-8"
        )
    return known[encoding]


# The engines ---------------------------------------------------------------------------------


@contextmanager
def _polars() -> Iterator[tuple[_Parquet, _Text]]:
    import polars

    def text(path: str, separator: str, _: int, encoding: str) -> Any:
        if encoding != UTF_8:  # polars itself scans no other one
            with opened(path, encoding) as (source, _kind):
                whole = source.read().removeprefix("\ufeff").encode()
            return polars.read_csv(whole, separator=separator, infer_schema_length=0).lazy()
        people = polars.scan_csv(path, glob=False, separator=separator, infer_schema_length=0)
        try:
            people.collect_schema()
        except polars.exceptions.ComputeError:  # older versions scan no compressed text
            people = polars.read_csv(path, separator=separator, infer_schema_length=0).lazy()
        # Of columns that are not read, polars does not see how many there are in a line.
        return people.map_batches(
            lambda batch: batch,
            projection_pushdown=False,
            predicate_pushdown=False,
            slice_pushdown=False,
            streamable=True,
        )

    yield lambda path: polars.scan_parquet(path, glob=False), text


@contextmanager
def _duckdb() -> Iterator[tuple[_Parquet, _Text]]:
    import duckdb

    connection = duckdb.connect()

    def quoted(text: str) -> str:
        return "'" + text.replace("'", "''") + "'"

    def literal(path: str) -> str:
        return quoted(re.sub(r"([*?\[])", r"[\1]", path))

    def text(path: str, separator: str, width: int, encoding: str) -> Any:
        known = _encoding("duckdb", encoding, {UTF_8: "utf-8", "iso8859-1": "latin-1", "utf-16": "utf-16"})
        kinds = ", ".join(f"'c{place}': 'VARCHAR'" for place in range(width))
        with open(path, "rb") as file:
            zipped = file.read(2) == b"\x1f\x8b"
        return connection.sql(
            f"FROM read_csv({literal(path)}, columns={{{kinds}}}, auto_detect=false, header=true, "
            f"encoding='{known}', delim={quoted(separator)}, quote='\"', escape='\"', "
            f"compression='{'gzip' if zipped else 'none'}')"
        )

    try:
        yield lambda path: connection.sql(f"FROM read_parquet({literal(path)}, hive_partitioning=false)"), text
    finally:
        connection.close()


@contextmanager
def _spark() -> Iterator[tuple[_Parquet, _Text]]:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StringType, StructField, StructType

    running = SparkSession.getActiveSession()
    try:
        settings = {"showConsoleProgress": "false", "enabled": "false"}
        builder = SparkSession.builder.appName("skfairtest")
        for name, value in settings.items():
            builder = builder.config(f"spark.ui.{name}", value)
        session = running or builder.getOrCreate()
    except Exception as error:
        if "JAVA" not in str(error):
            raise
        raise BadInput(
            "--engine spark: Spark needs Java, and there is none; on Debian: apt-get install openjdk-17-jre-headless"
        ) from error
    session.sparkContext.setLogLevel("ERROR")
    session.conf.set("spark.sql.caseSensitive", "true")

    def literal(path: str) -> str:
        return "file://" + re.sub(r"([\[\]{}*?\\])", r"\\\1", path)

    def text(path: str, separator: str, width: int, encoding: str) -> Any:
        names_of_java = {UTF_8: "UTF-8", "ascii": "US-ASCII", "iso8859-1": "ISO-8859-1", "utf-16": "UTF-16"}
        return session.read.csv(
            literal(path),
            schema=StructType([StructField(f"c{place}", StringType()) for place in range(width)]),
            header=True,
            sep=separator,
            encoding=_encoding("spark", encoding, names_of_java),
            quote='"',
            escape='"',
            multiLine=True,
            mode="FAILFAST",
        )

    try:
        yield lambda path: session.read.parquet(literal(path)), text
    finally:
        if running is None:
            with suppress(Exception):  # an interrupt may have ended it
                session.stop()
