"""The data as a table: numbers of people by stratum, group and cell."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from skfairtest._utils.errors import ParameterError
from skfairtest._utils.typing import Floats, Integers, Positions
from skfairtest.readers.columns import (
    Column,
    check_level_count,
    check_same_people,
    check_vocabularies,
    read_column,
    read_groups,
    warn_of_many,
)
from skfairtest.readers.containers import one_column
from skfairtest.readers.engines import Question, count_frame
from skfairtest.readers.levels import listed
from skfairtest.readers.score_bins import ScoreBins, check_edges
from skfairtest.tables import rows as tabular
from skfairtest.tables.rows import Rows, distinct_levels, name_list, read_counted, tally

#: What the sums of weights and of their squares are called in a frame.
SUMS = ("weight", "squared_weight")


@dataclass(frozen=True, init=False, eq=False, repr=False)
class CountTable:
    """Counts of people by stratum, group and cell (true label, prediction, score).

    Fairness metrics depend on a person only through the group and these values, so the table is enough for a test.
    Build it with `from_predictions`, `from_counts` or `from_frame`.

    Parameters
    ----------
    counts : array-like of shape (S, G, K)
        Numbers of people.
    groups : sequence of tuple, length G
        One value per sensitive feature.
    cells : sequence of tuple, length K
        One value per name in `cell_names`.
    sensitive_names : sequence of str
        The sensitive features.
    cell_names : sequence of str
        Which of "y_true", "y_pred" and "y_score" the cells hold, in this order.
    strata : sequence of tuple, length S
        One value per control feature; a single empty tuple if there are none.
    control_names : sequence of str
        The control features.

    Attributes
    ----------
    counts : ndarray of shape (S, G, K), dtype int64
        Numbers of people; read-only.
    strata, groups, cells : tuple of tuple
        The keys of the three axes, sorted; only those that occur.
    control_names, sensitive_names, cell_names : tuple of str
        The names of the positions in these tuples.
    weights : ndarray of shape (S, G, K, 2) or None
        The sums of weights and of their squares, if people have weights.
    score_bins : ScoreBins or None
        The bins of the scores, if there are any.

    Raises
    ------
    ValueError
        If shapes do not match, counts are not whole numbers, or the table is empty.

    Examples
    --------
    >>> table = CountTable.from_predictions(
    ...     y_true=[0, 1, 1, 1], y_pred=[0, 1, 0, 1], sensitive_features={"sex": list("ffmm")}
    ... )
    >>> table
    CountTable(4 people, 2 groups of sex, 3 cells of y_true x y_pred)
    >>> table.groups, table.cells
    ((('f',), ('m',)), ((0, 0), (1, 0), (1, 1)))
    >>> table.counts[0]
    array([[1, 0, 1],
           [0, 1, 1]])
    """

    counts: Integers
    strata: tuple[tabular.Key, ...]
    groups: tuple[tabular.Key, ...]
    cells: tuple[tabular.Key, ...]
    cell_names: tuple[str, ...]
    sensitive_names: tuple[str, ...]
    control_names: tuple[str, ...] = field(default=())
    weights: Floats | None = field(default=None)
    score_bins: ScoreBins | None = field(default=None)

    __hash__: ClassVar[None]  # type: ignore[assignment]  # equality is by value, of an array

    def __init__(
        self,
        counts: ArrayLike,
        *,
        groups: Sequence[tabular.Key],
        cells: Sequence[tabular.Key],
        sensitive_names: Sequence[str],
        cell_names: Sequence[str] = ("y_true", "y_pred"),
        strata: Sequence[tabular.Key] = ((),),
        control_names: Sequence[str] = (),
    ) -> None:
        array = np.asarray(counts)
        axes = {"strata": strata, "groups": groups, "cells": cells}
        names = {"strata": control_names, "groups": sensitive_names, "cells": cell_names}
        expected = tuple(len(keys) for keys in axes.values())
        if array.shape != expected:
            raise ParameterError(
                f"counts has shape {array.shape}, but strata, groups and cells have lengths {expected}."
            )
        numbers = tabular.as_counts(array.ravel().tolist(), "counts")
        columns: list[Column] = []
        for (axis, keys), place in zip(axes.items(), np.indices(array.shape), strict=True):
            for key in keys:
                if not isinstance(key, tuple) or len(key) != len(names[axis]):
                    raise ParameterError(
                        f"{axis} must hold tuples with one value for each of {tuple(names[axis])}; found {key!r}."
                    )
            for position, name in enumerate(names[axis]):
                # An array, because a list of tuples, which may be labels, looks like rows.
                values = np.fromiter((key[position] for key in keys), dtype=object, count=len(keys))
                columns.append(read_column(values, axis, name=name).take(place.ravel()))
        rows = Rows(tuple(columns), numbers)
        self.__dict__.update(vars(self.of_rows(rows, control_names, sensitive_names, cell_names)))

    @classmethod
    def of_rows(
        cls,
        rows: Rows,
        control_names: Sequence[str],
        sensitive_names: Sequence[str],
        cell_names: Sequence[str],
        score_bins: ScoreBins | None = None,
        checked: bool = False,
    ) -> Self:
        """Make a table from rows whose columns are the control features, the sensitive features, then the cells.

        Parameters
        ----------
        rows : Rows
            The rows; equal combinations are added up.
        control_names, sensitive_names, cell_names : sequence of str
            The names of these columns.
        score_bins : ScoreBins, optional
            The bins of the scores.
        checked : bool
            Whether names and labels were checked before.

        Returns
        -------
        CountTable
            The table.

        Raises
        ------
        ValueError
            If the table is empty, a name is used twice, or labels are not labels.
        """
        tabular.check_total(float(rows.counts.sum(dtype=float)))
        if not checked:
            tabular.check_names(control_names, sensitive_names, cell_names, () if rows.weights is None else SUMS)
            tabular.check_cells(rows.columns[len(control_names) + len(sensitive_names) :], score_bins is not None)
        counts, weights, (strata, groups, cells) = tabular.arrange(rows, len(control_names), len(sensitive_names))
        table = cls.__new__(cls)
        table.__dict__.update(
            counts=counts,
            strata=strata,
            groups=groups,
            cells=cells,
            cell_names=tuple(cell_names),
            sensitive_names=tuple(sensitive_names),
            control_names=tuple(control_names),
            weights=weights,
            score_bins=score_bins if "y_score" in cell_names else None,
        )
        table._freeze()
        return table

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._freeze()  # which pickling forgets

    def _freeze(self) -> None:
        for array in (self.counts, self.weights):
            if array is not None:
                array.flags.writeable = False

    # Building -------------------------------------------------------------------------------

    @classmethod
    def from_predictions(
        cls,
        y_true: Any = None,
        y_pred: Any = None,
        *,
        y_score: Any = None,
        sensitive_features: Any,
        control_features: Any = None,
        y_pred_a: Any = None,
        y_pred_b: Any = None,
    ) -> Self:
        """Count people from one row per person.

        Parameters
        ----------
        y_true, y_pred : array-like of shape (n,), optional
            Labels. At least one of `y_true`, `y_pred` and `y_score` is needed.
        y_score : array-like of shape (n,), optional
            Scores with at most 1000 distinct values, such as deciles.
        sensitive_features : array-like, frame or mapping
            The groups: one or several columns of length n.
        control_features : array-like, frame or mapping, optional
            The strata: one or several columns of length n.
        y_pred_a, y_pred_b : array-like of shape (n,), optional
            Labels that two models predict, for a `PairedFairnessTest`.

        Returns
        -------
        CountTable
            The same for any container and any order of the rows.

        Raises
        ------
        ValueError
            If values are missing, lengths or pandas indexes differ, labels are scores, or values are too many.

        Examples
        --------
        >>> CountTable.from_predictions(
        ...     y_pred=["no", "yes", "no"], sensitive_features=["f", "m", "m"]
        ... )
        CountTable(3 people, 2 groups of sensitive_feature_0, 2 cells of y_pred)
        """
        given = {"y_true": y_true, "y_pred": y_pred, "y_score": y_score, "y_pred_a": y_pred_a, "y_pred_b": y_pred_b}
        columns = {name: one_column(values) for name, values in given.items() if values is not None}
        cells = {name: read_column(values, name, name=name) for name, values in columns.items()}
        sensitive, control = read_groups(sensitive_features, control_features)
        check_same_people({**cells, "sensitive_features": sensitive, "control_features": control})
        return cls.of_rows(
            tally([*control, *sensitive, *cells.values()]),
            [column.name for column in control],
            [column.name for column in sensitive],
            list(cells),
        )

    @classmethod
    def from_counts(
        cls,
        data: Any,
        *,
        count: str = "count",
        names: Sequence[str] | None = None,
        y_true: str | None = None,
        y_pred: str | None = None,
        y_score: str | None = None,
        sensitive_features: str | Iterable[str],
        control_features: str | Iterable[str] | None = None,
        y_pred_a: str | None = None,
        y_pred_b: str | None = None,
    ) -> Self:
        """Make a table from counts that already exist.

        Parameters
        ----------
        data : frame, mapping of names to columns, or mapping of key tuples to counts
            One row or key per combination; the counts of equal rows add up.
        count : str
            The column of the counts.
        names : sequence of str, optional
            For a mapping of key tuples to counts: the name of each position of a key.
        y_true, y_pred, y_score : str, optional
            The columns of labels and scores; `y_true` and `y_pred` may be the same.
        sensitive_features, control_features : str or sequence of str
            The columns of groups and strata.
        y_pred_a, y_pred_b : str, optional
            The columns of labels that two models predict, for a `PairedFairnessTest`.

        Returns
        -------
        CountTable
            The table; counts of zero are ignored.

        Raises
        ------
        ValueError
            If a column or a value is missing, or counts are not whole numbers.

        Examples
        --------
        >>> CountTable.from_counts(
        ...     {("f", 0): 8, ("f", 1): 2, ("m", 0): 5, ("m", 1): 5},
        ...     names=("sex", "hired"),
        ...     y_pred="hired",
        ...     sensitive_features="sex",
        ... )
        CountTable(20 people, 2 groups of sex, 2 cells of y_pred)
        """
        given = {"y_true": y_true, "y_pred": y_pred, "y_score": y_score, "y_pred_a": y_pred_a, "y_pred_b": y_pred_b}
        cells = {role: column for role, column in given.items() if column is not None}
        sensitive = name_list(sensitive_features, "sensitive_features")
        control = name_list(control_features, "control_features")
        wanted = [
            *(("control_features", name) for name in control),
            *(("sensitive_features", name) for name in sensitive),
            *cells.items(),
        ]
        columns, counts = read_counted(data, count, names, wanted)
        n_features = len(control) + len(sensitive)
        features, labels = columns[:n_features], columns[n_features:]
        labels = [read_column(column, role, name=role) for role, column in zip(cells, labels, strict=True)]
        for column in features[len(control) :]:
            check_level_count(column, "sensitive_features")
        warn_of_many(features[len(control) :])
        return cls.of_rows(Rows((*features, *labels), counts), control, sensitive, list(cells))

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        y_true: str | None = None,
        y_pred: str | None = None,
        sensitive_features: str | Iterable[str],
        control_features: str | Iterable[str] | None = None,
        sample_weight: str | None = None,
        y_score: str | None = None,
        score_bins: Any = None,
    ) -> Self:
        """Count people with the engine of a frame: only the counts are loaded into Python's memory.

        Parameters
        ----------
        frame : frame
            Of pandas, polars (eager or lazy), pyarrow (a table or a dataset), DuckDB (a relation), PySpark, Dask or
            ibis: one row per person.
        y_true, y_pred : str, optional
            The columns of labels.
        sensitive_features, control_features : str or sequence of str
            The columns of groups and strata.
        sample_weight : str, optional
            The column of weights, whose sums and sums of squares give asymptotic tests.
        y_score : str, optional
            The column of scores; more than 1000 distinct ones need `score_bins`.
        score_bins : int, array-like of edges or ScoreBins, optional
            A number of bins with about equally many people (scores are rounded to a 2,000th of their range or finer),
            the edges between bins, or the `score_bins` of another table: only tables with the same bins can be added.
            Tests report how far bins may have moved a value.

        Returns
        -------
        CountTable
            The same as from the rows in memory, for any engine and any order of the rows.

        Raises
        ------
        ValueError
            If a column or a value is missing, or a column has too many distinct values.

        Examples
        --------
        >>> import polars as pl
        >>> people = pl.LazyFrame({"sex": list("ffmm"), "hired": [0, 1, 1, 1]})
        >>> CountTable.from_frame(people, y_pred="hired", sensitive_features="sex")
        CountTable(4 people, 2 groups of sex, 2 cells of y_pred)
        """
        sensitive = name_list(sensitive_features, "sensitive_features")
        control = name_list(control_features, "control_features")
        labels = {name: column for name, column in (("y_true", y_true), ("y_pred", y_pred)) if column is not None}
        columns, counts, weights, bins = count_frame(
            frame,
            Question(
                (
                    *(("control_features", name) for name in control),
                    *(("sensitive_features", name) for name in sensitive),
                ),
                labels,
                sample_weight,
                y_score,
                None if score_bins is None else check_edges(score_bins),
            ),
        )
        for place, column in enumerate(columns[: len(control) + len(sensitive)]):
            check_level_count(column, "control_features" if place < len(control) else "sensitive_features")
        warn_of_many(columns[len(control) : len(control) + len(sensitive)])
        cells = [column.name for column in columns[len(control) + len(sensitive) :]]
        return cls.of_rows(Rows(tuple(columns), counts, weights), control, sensitive, cells, bins)

    # Looking --------------------------------------------------------------------------------

    @property
    def n_samples(self) -> int:
        """The number of people."""
        return int(self.counts.sum())

    @property
    def labels(self) -> list[Any]:
        """The labels in y_true and y_pred together, sorted."""
        places = [i for i, name in enumerate(self.cell_names) if not name.startswith("y_score")]
        seen = [cell[place] for cell in self.cells for place in places]
        return distinct_levels(seen)

    @property
    def group_labels(self) -> list[Any]:
        """The groups: values of one sensitive feature, tuples for several."""
        return key_labels(self.groups)

    @property
    def stratum_labels(self) -> list[Any]:
        """The strata: values of one control feature, tuples for several or none."""
        return key_labels(self.strata)

    def __repr__(self) -> str:
        """Describe what was counted, in one line."""
        strata = _counted(len(self.strata), "stratum", "strata", self.control_names)
        parts = [
            f"{self.n_samples:,} {'person' if self.n_samples == 1 else 'people'}",
            *([strata] if self.control_names else []),
            _counted(len(self.groups), "group", "groups", self.sensitive_names),
            _counted(len(self.cells), "cell", "cells", self.cell_names),
        ]
        return f"CountTable({', '.join(parts)})"

    def __eq__(self, other: object) -> bool:
        """Compare by value; how the tables were built does not matter."""
        if not isinstance(other, CountTable):
            return NotImplemented
        mine, its = ({**vars(table), "counts": None, "weights": None} for table in (self, other))
        if mine != its or not np.array_equal(self.counts, other.counts):
            return False
        if self.weights is None or other.weights is None:
            return self.weights is other.weights
        return np.array_equal(self.weights, other.weights)

    def to_rows(self) -> Rows:
        """Return the combinations that occur, with their counts.

        Returns
        -------
        Rows
            The control features, the sensitive features and the cells.
        """
        occupied = np.nonzero(self.counts)
        columns = [
            *tabular.key_columns(self.strata, self.control_names, occupied[0]),
            *tabular.key_columns(self.groups, self.sensitive_names, occupied[1]),
            *tabular.key_columns(self.cells, self.cell_names, occupied[2]),
        ]
        return Rows(tuple(columns), self.counts[occupied], None if self.weights is None else self.weights[occupied])

    def to_frame(self) -> pd.DataFrame:
        """Write the table in long form.

        Returns
        -------
        DataFrame
            One row per combination that occurs: the control features, the sensitive features, the cells and
            "count", as `from_counts` reads; with weights also their sums "weight" and "squared_weight".
        """
        rows = self.to_rows()
        columns = {column.name: tabular.column_values(column) for column in rows.columns}
        sums = {} if rows.weights is None else dict(zip(SUMS, rows.weights.T, strict=True))
        return pd.DataFrame({**columns, "count": rows.counts, **sums})

    # Arithmetic -----------------------------------------------------------------------------

    def merge(self, *others: Self) -> Self:
        """Add tables of other people, such as the days or the shards of a large data set.

        Parameters
        ----------
        *others : CountTable
            Tables of the same columns; their values may differ, but not the edges between bins of scores.

        Returns
        -------
        CountTable
            The table of all people.

        Raises
        ------
        ValueError
            If columns or bins of scores differ, or only some tables have weights.
        """
        bins, people = self.score_bins, self._people_of_bins()
        for other in others:
            _check_mergeable(self, other)
            for i, name in enumerate(self.cell_names):
                tables = {name: self.cells, f"{name} of another table": other.cells}
                check_vocabularies(
                    {source: list(dict.fromkeys(cell[i] for cell in cells)) for source, cells in tables.items()}
                )
            if bins is not None and other.score_bins is not None:
                bins = bins.merge(other.score_bins, people, other._people_of_bins())
                people = people + other._people_of_bins()
        rows = tabular.join_rows([table._rows_in(bins) for table in (self, *others)])
        return self.of_rows(rows, self.control_names, self.sensitive_names, self.cell_names, bins, checked=True)

    def _people_of_bins(self) -> Integers:
        """The number of people in each bin of scores."""
        if self.score_bins is None:
            return np.zeros(0, dtype=np.int64)
        rows = self.to_rows()
        place = self._place_of_levels(rows.columns[-1])[rows.columns[-1].codes]
        people = np.zeros(len(self.score_bins), dtype=np.int64)
        np.add.at(people, place, rows.counts)
        return people

    def _place_of_levels(self, scores: Column) -> Positions:
        """Return in which bin each level of the scores is."""
        assert self.score_bins is not None
        return np.searchsorted(self.score_bins.values, np.array(scores.levels, dtype=float))

    def _rows_in(self, bins: ScoreBins | None) -> Rows:
        """Return the rows with the representative values of other bins that have the same edges."""
        rows = self.to_rows()
        if bins is None or self.score_bins is None:
            return rows
        *others, scores = rows.columns  # scores come last
        levels = bins.values[self._place_of_levels(scores)]
        return replace(rows, columns=(*others, replace(scores, levels=tuple(levels.tolist()))))

    def __add__(self, other: object) -> Self:
        """Merge two tables of different people."""
        return self.merge(other) if isinstance(other, type(self)) else NotImplemented

    # Rearranging ----------------------------------------------------------------------------

    def regroup(
        self, sensitive_features: str | Iterable[str] | None = None, control_features: str | Iterable[str] | None = None
    ) -> Self:
        """Group by fewer features, or change their roles.

        Parameters
        ----------
        sensitive_features, control_features : str or sequence of str, optional
            The features by which to group and to stratify, from either role. None keeps those of this role that are
            not named for the other; an empty sequence keeps no control features.

        Returns
        -------
        CountTable
            The same people, summed over features that are not named.

        Raises
        ------
        ValueError
            If there is no such feature, or one would have both roles.

        Examples
        --------
        >>> from skfairtest import CountTable
        >>> table = CountTable.from_predictions(
        ...     y_pred=[0, 1, 1],
        ...     sensitive_features={"sex": ["f", "m", "m"], "age": ["old", "old", "young"]},
        ... )
        >>> table.regroup("sex", control_features="age")
        CountTable(3 people, 2 strata of age, 2 groups of sex, 2 cells of y_pred)
        """
        sensitive = name_list(sensitive_features, "sensitive_features")
        control = name_list(control_features, "control_features")
        features = (*self.sensitive_names, *self.control_names)
        for parameter, names in (("sensitive_features", sensitive), ("control_features", control)):
            for name in names:
                if name not in features:
                    raise ParameterError(
                        f"{parameter}={name!r} is not a feature of the table, which has {listed(features)}."
                    )
        if sensitive_features is None:
            sensitive = tuple(n for n in self.sensitive_names if n not in control)
        if control_features is None:
            control = tuple(n for n in self.control_names if n not in sensitive)
        return self._by(control, sensitive, self.cell_names)

    def marginal(self, cell_names: str | Iterable[str]) -> Self:
        """Sum over some of y_true, y_pred and y_score.

        Parameters
        ----------
        cell_names : str or sequence of str
            Those to keep.

        Returns
        -------
        CountTable
            The same people in fewer cells.

        Raises
        ------
        ValueError
            If the table has no such cells.

        Examples
        --------
        >>> from skfairtest import CountTable
        >>> table = CountTable.from_predictions([0, 1], [1, 1], sensitive_features=["f", "m"])
        >>> table.marginal("y_pred").cells
        ((1,),)
        """
        asked = name_list(cell_names, "cell_names")
        for name in asked:
            if name not in self.cell_names:
                raise ParameterError(
                    f"cell_names={name!r} is not among the cells, which are {listed(self.cell_names)}."
                )
        kept = [name for name in self.cell_names if name in asked]
        return self._by(self.control_names, self.sensitive_names, kept)

    def _by(self, control: Sequence[str], sensitive: Sequence[str], cells: Sequence[str]) -> Self:
        """Return the table of some of its columns."""
        rows = self.to_rows()
        by_name = {column.name: column for column in rows.columns}
        columns = tuple(by_name[name] for name in (*control, *sensitive, *cells))
        return self.of_rows(replace(rows, columns=columns), control, sensitive, cells, self.score_bins)


def key_labels(keys: Sequence[tabular.Key]) -> list[Any]:
    """Keys as users write them: a single value, or a tuple of several."""
    return [key[0] if len(key) == 1 else key for key in keys]


def _counted(number: int, one: str, several: str, names: Sequence[str]) -> str:
    of = " x ".join(names)
    return f"{number:,} {one if number == 1 else several}{f' of {of}' * (of not in (one, several))}"


def _check_mergeable(table: CountTable, other: Any) -> None:
    if not isinstance(other, CountTable):
        raise ValueError(f"merge takes CountTables, found {type(other).__name__}.")
    for what in ("sensitive_names", "control_names", "cell_names"):
        mine, its = getattr(table, what), getattr(other, what)
        if mine != its:
            raise ValueError(f"tables to merge must have the same columns; {what} are {mine} and {its}.")
    for what in ("weights", "score_bins"):
        if (getattr(table, what) is None) != (getattr(other, what) is None):
            raise ValueError(f"tables to merge must be of one kind; only one of them has {what}.")
