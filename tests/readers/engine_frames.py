"""The same people on every engine: what tests of frames ask for by the engine's name."""

import functools

import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet
import pytest


def arrow(data):
    """Return a pandas frame as Arrow's, without its index; what is Arrow's already as it is."""
    return data if isinstance(data, pa.Table) else pa.Table.from_pandas(data, preserve_index=False)


def _file(data, folder):
    path = folder / "people.parquet"
    pyarrow.parquet.write_table(arrow(data), path)
    return path


#: Connections, which older versions close as soon as nobody has them any more.
OPEN = []


def _duckdb(data, folder):
    OPEN.append(pytest.importorskip("duckdb").connect())
    return OPEN[-1].from_parquet(str(_file(data, folder)))


def _ibis(data, folder):
    pytest.importorskip("duckdb")
    return pytest.importorskip("ibis").duckdb.connect().read_parquet(str(_file(data, folder)))


def _dask(data, folder):
    pytest.importorskip("dask")
    return pytest.importorskip("dask.dataframe").from_pandas(data, npartitions=3)


@functools.cache
def spark_session():
    """Return a Spark of this process, or skip."""
    sql = pytest.importorskip("pyspark.sql")
    builder = sql.SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    quiet = builder.config("spark.sql.shuffle.partitions", "2").config("spark.ui.showConsoleProgress", "false")
    try:
        return quiet.getOrCreate()
    except Exception as error:
        if "JAVA" in str(error).upper():
            pytest.skip(f"Spark needs Java: {error}")
        raise


FRAMES = {
    "pandas": lambda data, folder: data,
    "polars": lambda data, folder: pl.from_arrow(arrow(data)),
    "polars lazy": lambda data, folder: pl.from_arrow(arrow(data)).lazy(),
    "pyarrow": lambda data, folder: arrow(data),
    "pyarrow dataset": lambda data, folder: pyarrow.dataset.dataset(_file(data, folder)),
    "duckdb": _duckdb,
    "ibis": _ibis,
    "dask": _dask,
    "pyspark": lambda data, folder: spark_session().read.parquet(str(_file(data, folder))),
}
#: Engines that take seconds to start, and those that are in memory or start at once.
SLOW_ENGINES = ["pyspark"]
ENGINES = [name for name in FRAMES if name not in SLOW_ENGINES]
EVERY_ENGINE = [*ENGINES, *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW_ENGINES)]


def frame_of(engine, data, folder):
    """Return people as the frame of an engine; skip where it is not installed."""
    return FRAMES[engine](data, folder)
