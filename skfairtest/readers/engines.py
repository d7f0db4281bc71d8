"""Frames of any engine, through narwhals, as counts: the engine groups and counts, and only the groups come back."""

import math
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
from narwhals.dependencies import is_dask_dataframe, is_pandas_dataframe

from skfairtest._utils.errors import ParameterError
from skfairtest._utils.typing import Floats, Integers
from skfairtest.readers.columns import Column, check_present, read_column
from skfairtest.readers.levels import listed
from skfairtest.readers.score_bins import (
    ALL_BITS,
    MOST_EDGES,
    ScoreBins,
    like_scores,
    quantiles,
    rounded,
)

#: More groups than this do not come back.
MOST_ROWS = 5_000_000
#: Significant bits of the range of scores, which are rounded before they are put into bins: means are as exact.
BITS = 12
#: Beyond these numbers rounding overflows.
LARGEST_SCORE = 1e250
#: Errors of polars, DuckDB and Spark that are about the types of columns, by their names.
ABOUT_TYPES = {
    "PanicException", "InvalidOperationError", "SchemaError", "BinderException", "NotImplementedException",
    "AnalysisException",
}  # fmt: skip


@dataclass(frozen=True)
class Question:
    """The columns to count, each with the parameter that names it."""

    features: tuple[tuple[str, str], ...]
    labels: Mapping[str, str]
    weight: str | None = None
    score: str | None = None
    bins: int | Floats | ScoreBins | None = None

    def __post_init__(self) -> None:
        for parameter, name in self.columns:
            if not isinstance(name, str):
                raise ParameterError(f"{parameter} must be the name of a column of frame, a string; found {name!r}.")
        if self.bins is not None and self.score is None:
            raise ParameterError("score_bins needs scores: pass y_score, the name of their column.")

    @property
    def keys(self) -> list[tuple[str, str]]:
        """Parameter and column of all that people are grouped by as it is."""
        return [*self.features, *self.labels.items()]

    @property
    def columns(self) -> list[tuple[str, str]]:
        """Parameter and column of everything that is read."""
        numbers = {"y_score": self.score, "sample_weight": self.weight}
        return self.keys + [(parameter, name) for parameter, name in numbers.items() if name is not None]


#: Columns, one value per row: the features, then ``y_true``, ``y_pred`` and ``y_score`` as far as asked; how many
#: people each row stands for; the sums of their weights and of the squares of these; and the bins of scores.
Counted = tuple[list[Column], Integers, Floats | None, ScoreBins | None]


def count_frame(frame: Any, question: Question) -> Counted:
    """Count people with the engine of a frame."""
    with _answering(question):
        people = Frame.opened(frame, {name for _, name in question.columns})
        _check_schema(people.schema, question)
        scores = None if question.score is None else _Scores(people.names[question.score])
        if scores is not None:
            scores = _scores_of(people.frame, scores, question)
        found = _collected(_grouped(people, question, scores))
    return _read(found, question, scores)


@contextmanager
def _answering(question: Question) -> Iterator[None]:
    """Name the columns if an engine cannot group values of their types; read errors are passed on."""
    try:
        yield
    except (ParameterError, OSError, MemoryError):
        raise
    except BaseException as error:
        types = (TypeError, ValueError, NotImplementedError, OverflowError)
        if not isinstance(error, types) and type(error).__name__ not in ABOUT_TYPES:
            raise
        raise ParameterError(
            f"frame has columns that its engine cannot count ({type(error).__name__}: {str(error).splitlines()[0]}): "
            f"convert {listed(dict.fromkeys(name for _, name in question.columns))} to text, whole numbers or floats."
        ) from error


@dataclass(frozen=True, eq=False)
class Frame:
    """A lazy frame with safe names of columns.

    `names` maps the user's names to those in the frame; `schema` gives types.
    """

    frame: "nw.LazyFrame[Any]"
    names: Mapping[str, str]
    schema: Mapping[str, Any]

    @classmethod
    def opened(cls, frame: Any, wanted: Collection[str] | None = None) -> "Frame":
        """Open a frame of any engine; names that some engines parse, such as "*", "^a$" or "a.b", are replaced."""
        module = type(frame).__module__
        arrow = module.startswith("pyarrow.")
        if arrow or is_pandas_dataframe(frame) or is_dask_dataframe(frame):
            called = pd.Index(frame.schema.names) if arrow else frame.columns
            if called.nlevels > 1:
                raise ParameterError(
                    f"frame has names of columns in {called.nlevels} levels: give each column one name, for instance "
                    "by frame.columns.map('_'.join)."
                )
            if not called.is_unique:
                several = listed(called[called.duplicated()].unique())
                raise ParameterError(f"frame has several columns called {several}: rename or drop all but one.")
        if arrow:
            frame = _by_polars(frame, wanted)
        known = nw.from_native(frame, pass_through=True)
        if not isinstance(known, nw.DataFrame | nw.LazyFrame):
            raise ParameterError(
                f"frame must be a data frame of pandas, polars, pyarrow, DuckDB, PySpark, Dask or ibis; found type "
                f"{module}.{type(frame).__name__}"
            )
        names = known.collect_schema().names()
        places = [f"column {place}" for place in range(len(names))]
        if known.implementation.is_pyspark():
            known = nw.from_native(known.to_native().toDF(*places))
        elif known.implementation.is_duckdb():
            by_number = (f'#{number} AS "{place}"' for number, place in enumerate(places, 1))
            known = nw.from_native(known.to_native().project(", ".join(by_number)))
        else:
            known = known.rename(dict(zip(names, places, strict=True)))
        schema = known.collect_schema()
        types = {name: schema[place] for name, place in zip(names, places, strict=True)}
        return cls(known.lazy(), dict(zip(names, places, strict=True)), types)

    def col(self, name: str) -> "nw.Expr":
        """A column by the name that the user knows."""
        return nw.col(self.names[name])


def _by_polars(frame: Any, wanted: Collection[str] | None) -> Any:
    """Arrow data for polars, which groups floats a hundred times faster, and datasets at all."""
    dataset = hasattr(frame, "scanner")
    if dataset and "" in frame.schema.names:
        raise ParameterError("frame has a column whose name is empty: rename it, or pass frame.to_table().")
    try:
        import polars
    except ModuleNotFoundError:
        if not dataset:
            return frame
        raise ParameterError(
            "frame is a pyarrow dataset, which is read by polars: install it, or pass frame.to_table()."
        ) from None
    if dataset:
        return polars.scan_pyarrow_dataset(frame)
    known = [name for name in frame.schema.names if wanted is None or name in wanted]
    try:
        return polars.from_arrow(frame.select(known or frame.schema.names))
    except (polars.exceptions.PolarsError, polars.exceptions.PanicException):  # of types that polars has not
        return frame


def _check_schema(schema: Mapping[str, Any], question: Question) -> None:
    for parameter, name in question.columns:
        if name not in schema:
            raise ParameterError(f"{parameter}={name!r} is not a column of frame, which has {listed(schema)}.")
        if parameter in ("y_score", "sample_weight") and not schema[name].is_numeric():
            raise ParameterError(f"{parameter}={name!r} must hold numbers; the column is of type {schema[name]}.")


def _keys(people: Frame, question: Question) -> "dict[str, nw.Expr]":
    """Columns without signed zeros, and with one kind of missing value."""
    # The categories of polars are text, which older versions do not compare batch by batch.
    text = people.frame.implementation.is_polars()
    keys = {}
    for place, (_, name) in enumerate(question.keys):
        values, kind = people.col(name), people.schema[name]
        if kind.is_float():
            values = _present(values if kind == nw.Float64 else values.cast(nw.Float64))
        elif text and kind == nw.Categorical:
            values = values.cast(nw.String)
        keys[f"key{place}"] = values
    return keys


def _present(numbers: "nw.Expr") -> "nw.Expr":
    """Floats without signed zeros, and with null in place of NaN, which every engine sorts differently."""
    numbers = numbers + 0.0
    return nw.when(~numbers.is_nan()).then(numbers)


# Scores -------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Scores:
    """The grouping of scores: rounded to bits, by edges, or both."""

    column: str
    bits: int | None = ALL_BITS
    unit: bool = False
    edges: Floats | None = None

    @property
    def score(self) -> "nw.Expr":
        return _present(nw.col(self.column).cast(nw.Float64))

    @property
    def keys(self) -> "dict[str, nw.Expr]":
        keys = {}
        if self.bits is not None:
            keys["rounded"] = self._rounded(self.bits)
        if self.edges is not None:
            above = [(self.score >= edge).cast(nw.Int64) for edge in self.edges.tolist()]
            keys["bin"] = sum(above, self.score * 0.0)  # null where the score is
        return keys

    def _rounded(self, bits: int) -> "nw.Expr":
        if bits == ALL_BITS:
            return self.score
        near_zero: nw.Expr = rounded(self.score, bits)
        if not self.unit:
            return near_zero
        # The distance from 1 is exact above one half.
        return nw.when(self.score <= 0.5).then(near_zero).otherwise(1.0 - rounded(1.0 - self.score, bits))


def _scores_of(people: "nw.LazyFrame[Any]", plain: _Scores, question: Question) -> _Scores:
    """Find out how scores are to be grouped."""
    column, bins = plain.column, question.bins
    ends = _collected(people.select(plain.score.min().alias("low"), plain.score.max().alias("high")))
    low, high = _numbers(ends, "low")[0], _numbers(ends, "high")[0]
    if max(abs(low), abs(high)) > LARGEST_SCORE:
        raise ParameterError(f"y_score={question.score!r} must hold finite numbers; found {low:g} to {high:g}.")
    if bins is None or np.isnan(low):  # where all are missing, this is said later
        return plain
    unit = bool(low >= 0 and high <= 1)
    if isinstance(bins, ScoreBins):
        if bins.unit and not unit:
            raise ParameterError(
                f"score_bins are bins of probabilities, between 0 and 1; y_score={question.score!r} has {low:g} to "
                f"{high:g}."
            )
        one_by_one = bins.bits == ALL_BITS and len(bins.edges) <= MOST_EDGES
        return _Scores(column, None, edges=bins.edges) if one_by_one else _Scores(column, bins.bits, bins.unit)
    # In a narrow band, the bits in which scores differ are added; probabilities are rounded by the nearer of 0 and 1.
    largest = min(high, 1 - low, 0.5) if unit else max(abs(low), abs(high))
    extra = math.ceil(math.log2(largest) - math.log2(high - low)) if low < high and largest > 0 else 0
    bits = min(BITS + max(extra, 0), ALL_BITS)
    return _Scores(column, bits, unit, bins if isinstance(bins, np.ndarray) else None)


# Counting -----------------------------------------------------------------------------------


def _grouped(people: Frame, question: Question, scores: _Scores | None) -> "nw.LazyFrame[Any]":
    """Query the counts, and everything else that is needed about each group."""
    keys = _keys(people, question)
    read: dict[str, nw.Expr] = {}
    known: dict[str, nw.Expr] = {"count": nw.len()}
    if scores is not None:
        keys |= scores.keys
        read["score"] = scores.score
        known |= {"low": nw.col("score").min(), "high": nw.col("score").max()}
    if question.weight is not None:
        weight = _present(people.col(question.weight).cast(nw.Float64))
        read |= {
            "weight": weight,
            "square": weight * weight,
            "missing": nw.when(weight.is_null()).then(nw.lit(1)).otherwise(nw.lit(0)),
        }
        known |= {name: nw.col(name).sum() for name in ("weight", "square", "missing")}
        known["least"] = nw.col("weight").min()
    counted = people.frame.select(**keys, **read).group_by(*keys)
    return counted.agg(*(each.alias(name) for name, each in known.items())).head(MOST_ROWS + 1)


def _collected(asked: "nw.LazyFrame[Any]") -> "nw.DataFrame[Any]":
    """Run a query, with polars in batches of bounded memory."""
    if not asked.implementation.is_polars():
        return asked.collect()
    from polars.exceptions import PanicException, PolarsError

    native = asked.to_native()
    try:
        found = native.collect(engine="streaming")
    except (TypeError, ValueError, PolarsError, PanicException):  # older versions cannot, or not everything
        found = native.collect()
    return nw.from_native(found, eager_only=True)


def _numbers(found: "nw.DataFrame[Any]", name: str) -> Floats:
    """A column as floats, NaN where it is null."""
    return np.array([np.nan if value is None else value for value in found[name].to_list()], dtype=float)


def _read(found: "nw.DataFrame[Any]", question: Question, scores: _Scores | None) -> Counted:
    """Check the result of the query, and convert it to counts."""
    if len(found) > MOST_ROWS:
        names = listed(name for _, name in question.columns)
        raise ParameterError(
            f"frame has more than {MOST_ROWS:,} combinations of {names}: group the values of the features, or pass "
            "score_bins."
        )
    if not len(found):
        raise ParameterError("frame has no rows.")
    counts = _numbers(found, "count").astype(np.int64)
    columns = []
    for place, (parameter, name) in enumerate(question.keys):
        values = found[f"key{place}"]
        missing = values.is_null() | values.is_nan() if values.dtype.is_float() else values.is_null()
        _check_present(parameter, name, counts, counts[missing.to_numpy()])
        called = parameter if parameter in question.labels else name
        columns.append(read_column(values.to_native(), parameter, name=called))
    weights = None if question.weight is None else _read_weights(found, question.weight, counts)
    if scores is None:
        return columns, counts, weights, None
    low, high = _numbers(found, "low"), _numbers(found, "high")
    _check_present("y_score", str(question.score), counts, counts[np.isnan(low)], high)
    if question.bins is None:
        return [*columns, read_column(low, "y_score")], counts, weights, None
    rounded = low if scores.bits is None else _numbers(found, "rounded")
    given = np.zeros(len(low), dtype=np.intp) if scores.edges is None else _numbers(found, "bin").astype(np.intp)
    groups = like_scores(rounded, counts, low, high, given)
    if isinstance(question.bins, ScoreBins):
        codes = np.searchsorted(question.bins.edges, rounded, side="right") if scores.edges is None else given
        bins = question.bins.seen(codes, low, high)
    elif isinstance(question.bins, np.ndarray):
        codes, bins = given, ScoreBins.made(question.bins, groups, groups["bin"].to_numpy())
    else:
        edges = quantiles(groups, question.bins)
        codes, of = (np.searchsorted(edges, scored, side="right") for scored in (rounded, groups["rounded"]))
        bins = ScoreBins.made(edges, groups, of, bits=scores.bits or ALL_BITS, unit=scores.unit)
    return [*columns, Column("y_score", tuple(bins.values.tolist()), codes)], counts, weights, bins


def _check_present(
    parameter: str, name: str, counts: Integers, missing: Integers | Floats, known: Floats | None = None
) -> None:
    """Refuse missing values, and NaN that an engine did not report as missing."""
    column = f"{parameter} (column {name!r})"
    rename = "" if known is not None else ", or give missing a name of its own, such as 'unknown'"
    check_present(int(missing.sum()), int(counts.sum()), column, f"leave these people out of the frame{rename}")
    if known is not None and np.isnan(known).any():
        raise ParameterError(f"{column} holds NaN: leave these people out of the frame.")


def _read_weights(found: "nw.DataFrame[Any]", name: str, counts: Integers) -> Floats:
    sums = np.stack([_numbers(found, "weight"), _numbers(found, "square")], axis=1)
    _check_present("sample_weight", name, counts, _numbers(found, "missing"), sums)
    least = _numbers(found, "least")
    if (least < 0).any():
        raise ParameterError(
            f"sample_weight (column {name!r}) has negative weights, the smallest {least.min():g}: a weight is the "
            "number of people that a person stands for, at least 0."
        )
    if not np.isfinite(sums).all():
        raise ParameterError(
            f"sample_weight (column {name!r}) holds weights so large that their squares are infinite: rescale them."
        )
    if not sums[:, 0].any():
        raise ParameterError(f"sample_weight (column {name!r}) is 0 in every row: all weights are 0.")
    return sums
