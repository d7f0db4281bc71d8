"""Whether every frame gives the counts of memory: ``python -m benchmarks.frames [--quick] [--render]``.

Twelve forms of frames, 90 hostile names of columns and 60 types of columns. In each combination three kinds of people
are counted whose numbers are known beforehand, under each name others, so that a column that is taken for another is
noticed. A frame must give these numbers with the labels that the same column has in memory, or an error of the package.

Written to benchmarks/results/frames.json; ``--render`` writes the table of the guide (doc/guide/frames.csv).
``--quick``: two forms, six names, nothing is written.
"""

import argparse
import csv
import datetime
import functools
import json
import sys
import tempfile
import warnings
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet

from benchmarks.common.results import write
from skfairtest import CountTable
from skfairtest._utils.errors import ParameterError
from skfairtest.readers import sort_levels

SEED, PEOPLE = 20261124, 48
RESULTS = Path(__file__).parent / "results" / "frames.json"
TABLE = Path(__file__).parents[1] / "doc" / "guide" / "frames.csv"
#: Columns that are asked for at a time.
TOGETHER = 10

NAMES = [
    "a", "A", "b", "sex", "Sex", "SEX", "^a$", "^.*$", ".*", "*", "**", "^", "$", "a|b", "[a]", "[^a]", "(a)", "a+",
    "a?", "a.b", ".", "..", "a.", ".a", "`", "``", "`x`", "a`b", '"', '""', '"q"', 'q"q', "'", "a'b", "''", "\\",
    "\\d", "\\\\", "key0", "key1", "count", "weight", "rounded", "score", "decided", "bin", "column 0", "column 1",
    "level_0", "index", "values", "x y", " ", "  ", " a", "a ", "a,b", "a;b", "a:b", "a=b(c)", "{x}", "{", "}", "%",
    "%s", "#", "--", "/*", "?", "@", "&", "!", "~", "0", "1", "-1", "1e5", "None", "null", "nan", "True", "select",
    "from", "group", "a\nb", "a\tb", "Ünï", "日本", "😀", "x" * 200,
]  # fmt: skip

DAY, NOON = datetime.date(2026, 1, 2), datetime.datetime(2026, 1, 2, 12)
HOUR = datetime.timedelta(hours=1)
ZONED = [pd.Timestamp(NOON + i * HOUR).tz_localize("Europe/Berlin") for i in range(3)]
SUMMER = [pd.Timestamp(2026, 10, 25, hour, 30, tz="UTC").tz_convert("Europe/Berlin") for hour in (0, 1, 2)]
DECIMALS = [Decimal("1.50"), Decimal("2.50"), Decimal("-3.25")]
NAN = float("nan")


def arrow(kind):
    """A column of an Arrow type."""
    return lambda values: pa.array(values, kind)


def pandas(kind=None):
    """A column of a pandas type."""
    return lambda values: pd.Series(values, dtype=kind)


def numpy(kind):
    """A column of a NumPy type."""
    return lambda values: pd.Series(np.array(values).astype(kind))


def polars(kind):
    """A column of a polars type."""
    return lambda values: pl.Series(values, dtype=kind)


NUMBERS = [1, 2, -3]
#: Three values of each type, and how a column of them is made.
TYPES = {
    **{name: (NUMBERS, arrow(getattr(pa, name)())) for name in ("int8", "int16", "int32", "int64")},
    **{name: ([1, 2, 3], arrow(getattr(pa, name)())) for name in ("uint8", "uint16", "uint32", "uint64")},
    "int128": (NUMBERS, polars(pl.Int128)),
    "bool": ([True, False], arrow(pa.bool_())),
    "float16": ([0.5, 2.0, -3.0], numpy("f2")),
    "float16, Arrow": ([0.5, 2.0, -3.0], lambda values: pa.array(np.array(values, "f2"))),
    "float32": ([0.5, 2.0, -3.0], arrow(pa.float32())),
    "float32, tenths": ([0.1, 0.2, 0.3], arrow(pa.float32())),
    "float64": ([0.1, 2.0, -3.0], arrow(pa.float64())),
    "float64, infinite": ([float("inf"), 2.0, float("-inf")], arrow(pa.float64())),
    "longdouble": ([0.5, 2.0, -3.0], numpy(np.longdouble)),
    "complex": ([1j, 2.0, 3.0], numpy(complex)),
    "decimal32": (DECIMALS, arrow(pa.decimal32(5, 2))),
    "decimal64": (DECIMALS, arrow(pa.decimal64(10, 2))),
    "decimal128": (DECIMALS, arrow(pa.decimal128(20, 2))),
    "decimal256": (DECIMALS, arrow(pa.decimal256(50, 2))),
    "text": (["a", "b", "ü"], arrow(pa.string())),
    "text, large": (["a", "b", "ü"], arrow(pa.large_string())),
    "text, view": (["a", "b", "ü"], arrow(pa.string_view())),
    "text, objects": (["a", "b", "ü"], pandas(object)),
    "text of numbers": (["1", "01", "1.0"], arrow(pa.string())),
    "text of missing": (["NaN", "None", ""], arrow(pa.string())),
    "text with NUL": (["a", "a\0", "\0"], arrow(pa.string())),
    "bytes": ([b"a", b"b", b"\xff"], arrow(pa.binary())),
    "bytes, fixed": ([b"ab", b"bc", b"\xff\0"], arrow(pa.binary(2))),
    "dictionary of text": (["a", "b", "c"], lambda values: pa.array(values).dictionary_encode()),
    "dictionary of numbers": (NUMBERS, lambda values: pa.array(values).dictionary_encode()),
    "category": (["a", "b", "c"], pandas("category")),
    "category of numbers": (NUMBERS, pandas("category")),
    "enum": (["a", "b", "c"], polars(pl.Enum(["c", "b", "a"]))),
    "date32": ([DAY, DAY.replace(day=3), DAY.replace(year=1900)], arrow(pa.date32())),
    "date64": ([DAY, DAY.replace(day=3), DAY.replace(year=1900)], arrow(pa.date64())),
    "time": ([datetime.time(1), datetime.time(2), datetime.time(3, 0, 0, 5)], arrow(pa.time64("us"))),
    "timestamp, s": ([NOON, NOON + HOUR, NOON - HOUR], arrow(pa.timestamp("s"))),
    "timestamp, us": ([NOON, NOON + HOUR, NOON - HOUR], arrow(pa.timestamp("us"))),
    "timestamp, ns": ([NOON, NOON + HOUR, NOON - HOUR], arrow(pa.timestamp("ns"))),
    "timestamp, UTC": (ZONED, arrow(pa.timestamp("us", "UTC"))),
    "timestamp, Berlin": (ZONED, arrow(pa.timestamp("us", "Europe/Berlin"))),
    "timestamp, end of summer": (SUMMER, arrow(pa.timestamp("us", "Europe/Berlin"))),
    "timestamps, objects": ([time.to_pydatetime() for time in ZONED], pandas(object)),
    "duration": ([HOUR, 2 * HOUR, -HOUR], arrow(pa.duration("us"))),
    "period": (list(pd.period_range("2026", periods=3, freq="M")), pandas()),
    "interval": ([pd.Interval(i, i + 1) for i in range(3)], pandas()),
    "list": ([[1], [2, 3], []], arrow(pa.list_(pa.int64()))),
    "array": ([[1, 2], [2, 3], [0, 0]], polars(pl.Array(pl.Int64, 2))),
    "struct": ([{"a": 1}, {"a": 2}, {"a": 3}], arrow(pa.struct([("a", pa.int64())]))),
    "map": ([[("a", 1)], [("b", 2)], [("c", 3)]], arrow(pa.map_(pa.string(), pa.int64()))),
    "objects, 1 and 1.5": ([1, 1.5, 2], pandas(object)),
    "objects, True and text": ([True, "a", "b"], pandas(object)),
    "objects, fractions": ([Fraction(1, 2), Fraction(1, 3), Fraction(2)], pandas(object)),
    "sparse": ([0, 1, 2], lambda values: pd.Series(pd.arrays.SparseArray(values))),
    "Int64 of pandas": (NUMBERS, pandas("Int64")),
    "string of pandas": (["a", "b", "c"], pandas("string")),
    # What is missing must be refused.
    "missing: null": (["a", "b", None], arrow(pa.string())),
    "missing: NaN": ([1.0, 2.0, NAN], lambda values: pa.array(values, from_pandas=False)),
    "missing: NaN, objects": ([1.0, 2.0, NAN], pandas(object)),
}


def as_arrow(column):
    """Return a column as Arrow's, which has no pandas types left in it."""
    if isinstance(column, pl.Series):
        return column.to_arrow()
    return column if isinstance(column, pa.Array) else pa.Array.from_pandas(column)


def as_pandas(column):
    return column if isinstance(column, pd.Series) else column.to_pandas()


def arrow_frame(columns):
    made = {name: as_arrow(column) for name, column in columns.items()}
    return pa.table(list(made.values()), names=list(made))


def file_of(columns, folder):
    path = Path(folder) / "people.parquet"
    pyarrow.parquet.write_table(arrow_frame(columns), path)
    return path


def polars_frame(columns):
    made = [
        (
            column
            if isinstance(column, pl.Series)
            else pl.from_arrow(column)
            if isinstance(column, pa.Array)
            else pl.from_pandas(column)
        ).alias(name)
        for name, column in columns.items()
    ]
    return pl.DataFrame(made)


def _duckdb(columns, folder):
    import duckdb

    return duckdb.connect().from_arrow(arrow_frame(columns))


def _duckdb_file(columns, folder):
    import duckdb

    return duckdb.connect().from_parquet(str(file_of(columns, folder)))


def _ibis(columns, folder):
    import ibis

    return ibis.duckdb.connect().read_parquet(str(file_of(columns, folder)))


def _dask(columns, folder):
    import dask.dataframe

    frame = pd.DataFrame({name: as_pandas(column) for name, column in columns.items()})
    return dask.dataframe.from_pandas(frame, npartitions=3)


def _spark(columns, folder):
    return spark().read.parquet(str(file_of(columns, folder)))


def spark(made=[]):  # noqa: B006 (one Spark of this process)
    from pyspark.sql import SparkSession

    if not made:
        builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
        made.append(builder.config("spark.sql.shuffle.partitions", "1").getOrCreate())
        made[0].sparkContext.setLogLevel("OFF")
    return made[0]


FORMS = {
    "pandas": lambda columns, folder: pd.DataFrame({name: as_pandas(column) for name, column in columns.items()}),
    "pandas, Arrow": lambda columns, folder: pd.DataFrame(
        {name: pd.arrays.ArrowExtensionArray(as_arrow(column)) for name, column in columns.items()}
    ),
    "polars": lambda columns, folder: polars_frame(columns),
    "polars lazy": lambda columns, folder: polars_frame(columns).lazy(),
    "polars file": lambda columns, folder: pl.scan_parquet(file_of(columns, folder)),
    "pyarrow": lambda columns, folder: arrow_frame(columns),
    "pyarrow dataset": lambda columns, folder: pyarrow.dataset.dataset(file_of(columns, folder)),
    "DuckDB": _duckdb,
    "DuckDB file": _duckdb_file,
    "ibis": _ibis,
    "Dask": _dask,
    "Spark": _spark,
}


def people(kind, names):
    """Return the columns of some names, and how many people of each value were chosen, by their decision."""
    values, make = TYPES[kind]
    decided = np.arange(PEOPLE) % 2
    columns, truth = {"decided?": pa.array(decided)}, {}
    for name in names:
        # Every name has other numbers of people.
        codes = np.random.default_rng([SEED, NAMES.index(name)]).permutation(np.arange(PEOPLE) ** 2 % 7 % len(values))
        columns[name] = make([values[code] for code in codes])
        truth[name] = sorted(Counter(zip(codes.tolist(), decided.tolist(), strict=True)).items())
    return columns, truth


def counted(found, name):
    """Return a table's labels of a feature, and how many people of each were decided about in each way."""
    place, numbers = found.sensitive_names.index(name), {}
    for group, row in zip(found.groups, found.counts[0], strict=True):
        numbers[group[place]] = numbers.get(group[place], 0) + row
    return sort_levels(numbers), sorted(tuple(row.tolist()) for row in numbers.values())


def outcomes_of(form, kind, names, folder):
    """Return what becomes of each name: "", or why its column is not counted as it is in memory."""
    columns, truth = people(kind, names)
    try:
        frame = FORMS[form](columns, folder)
    except BaseException as error:  # a frame that cannot hold such columns, or such names
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        if len(names) == 1:
            return {names[0]: "none"}
        apart = (outcomes_of(form, kind, [name], folder) for name in names)
        return {name: found for outcomes in apart for name, found in outcomes.items()}
    together = counted_as_known(form, kind, names, frame, truth)
    if isinstance(together, dict):
        return together
    return {
        name: together if len(names) == 1 else found if isinstance(found, str) else found[name]
        for name in names
        for found in [counted_as_known(form, kind, [name], frame, truth)]
    }


def counted_as_known(form, kind, names, frame, truth):
    """Return the outcome of each name, or what became of all."""
    try:
        found = CountTable.from_frame(frame, y_pred="decided?", sensitive_features=names)
    except ParameterError:
        return "refused"
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        print(f"FOREIGN {form}, {kind}, {names}: {type(error).__name__}: {str(error)[:200]}", file=sys.stderr)
        return "foreign error"
    outcomes = {}
    for name in names:
        labels, numbers = counted(found, name)
        expected = dict(truth[name])
        known = sorted((expected.get((code, 0), 0), expected.get((code, 1), 0)) for code in {c for c, _ in expected})
        outcomes[name] = "" if numbers == known and not kind.startswith("missing") else "wrong counts"
        if not outcomes[name] and labels != (memory := in_memory(kind)):
            outcomes[name] = "other labels"
            OTHER.setdefault((form, kind), (repr(memory), repr(labels)))
    return outcomes


#: An example of labels in memory and from a frame, where they differ.
OTHER = {}


@functools.cache
def in_memory(kind):
    """Return the labels of a column of a type that is passed as it is; None where it is refused."""
    columns, _ = people(kind, ["a"])
    try:
        found = CountTable.from_predictions(y_pred=np.arange(PEOPLE) % 2, sensitive_features={"a": columns["a"]})
    except ParameterError:
        return None
    return [group for (group,) in found.groups]


def combinations(forms, names):
    """Count the outcomes of each type and of each name; yield both after every form."""
    cells, by_name = {}, {}
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for form in forms:
            for kind in TYPES:
                # A type that a form cannot hold under a plain name it holds under none.
                outcomes = dict.fromkeys(names, "none")
                if outcomes_of(form, kind, ["a"], folder)["a"] != "none":
                    for start in range(0, len(names), TOGETHER):
                        outcomes |= outcomes_of(form, kind, names[start : start + TOGETHER], folder)
                cells.setdefault(kind, {})[form] = dict(Counter(outcomes.values()))
                for name, found in outcomes.items():
                    by_name.setdefault(name, Counter())[found] += 1
            print(form, dict(sum((Counter(cells[kind][form]) for kind in TYPES), Counter())), flush=True)
            yield cells, by_name


MARKS = {
    "": "✓",
    "other labels": "labels",
    "refused": "refused",
    "none": "–",
    "wrong counts": "WRONG",
    "foreign error": "FOREIGN",
}


def mark(found, partly):
    """Say in a word what became of a type in a form; a star: so for few names other than those listed."""
    most = max(found, key=found.get)
    return MARKS[most] + ("" if found[most] >= sum(found.values()) - partly else "*")


def render():
    """Write the table of the guide: what becomes of each type of column in each form of frame."""
    figures = json.loads(RESULTS.read_text())
    with TABLE.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["type of column", *figures["forms"]])
        for kind, found in figures["cells"].items():
            writer.writerow([kind, *(mark(found[form], len(figures["partly"])) for form in figures["forms"])])


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.frames", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="two forms and six names, nothing written")
    parser.add_argument("--form", action="append", choices=FORMS, help="this form only, nothing written")
    parser.add_argument("--render", action="store_true", help="write the table of the guide")
    options = parser.parse_args(argv)
    if options.render:
        return render()
    forms = options.form or (["pandas", "polars"] if options.quick else list(FORMS))
    for cells, by_name in combinations(forms, NAMES[::16] if options.quick else NAMES):
        total = sum(by_name.values(), Counter())
        # What most names give in all forms and types, and the names that give something else.
        usual = Counter(tuple(sorted(found.items())) for found in by_name.values()).most_common(1)[0][0]
        partly = {name: dict(found) for name, found in by_name.items() if tuple(sorted(found.items())) != usual}
        if not options.quick and not options.form:
            other = [(kind, form, *example) for (form, kind), example in OTHER.items()]
            write(
                RESULTS,
                "frames of all forms, with all types and names of columns: counts as in memory",
                SEED,
                ("pandas", "polars", "pyarrow", "duckdb", "ibis-framework", "dask", "pyspark", "narwhals"),
                forms=list(next(iter(cells.values()))),
                names=NAMES,
                outcomes=dict(total),
                cells=cells,
                partly=partly,
                other=other,
            )
    print(dict(total))
    return 1 if total["wrong counts"] or total["foreign error"] else 0


if __name__ == "__main__":
    sys.exit(main())
