"""The table that the data is: strata x groups x cells of numbers of people."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.utils import Bunch

from skfairtest._utils.errors import ParameterError
from skfairtest._utils.typing import Integers
from skfairtest.readers.columns import (
    MAX_GROUPS,
    WARN_GROUPS,
    Column,
    check_level_count,
    check_same_people,
    read_column,
    read_groups,
)
from skfairtest.readers.containers import one_column
from skfairtest.readers.levels import listed
from skfairtest.tables.axes import CELL_NAMES, Key, check_cells, check_names, column_values, key_columns
from skfairtest.tables.counting import as_counts, name_list, read_counted
from skfairtest.tables.rows import Rows, arrange, distinct_levels, join_rows, tally


@dataclass(frozen=True, init=False, eq=False, repr=False)
class CountTable:
    """How many people there are of each kind: strata x groups x cells.

    A fairness metric sees a person only through the group and (y_true, y_pred), so this small
    table is the data: tests that start from it cost the same for a thousand and for a million
    people, and published counts serve as well as rows. Build it with `from_predictions` or
    `from_counts`; the constructor takes an array that is a table already.

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
        What the three axes stand for, sorted. Only combinations that somebody has.
    control_names, sensitive_names, cell_names : tuple of str
        What the positions in these tuples are.

    Raises
    ------
    ValueError
        If shapes do not fit, counts are not whole numbers of people, or there is nobody.

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
    strata: tuple[Key, ...]
    groups: tuple[Key, ...]
    cells: tuple[Key, ...]
    cell_names: tuple[str, ...]
    sensitive_names: tuple[str, ...]
    control_names: tuple[str, ...] = field(default=())

    __hash__: ClassVar[None]  # type: ignore[assignment]  # equality is by value, of an array

    def __init__(
        self,
        counts: ArrayLike,
        *,
        groups: Sequence[Key],
        cells: Sequence[Key],
        sensitive_names: Sequence[str],
        cell_names: Sequence[str] = ("y_true", "y_pred"),
        strata: Sequence[Key] = ((),),
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
        numbers = as_counts(array.ravel().tolist(), "counts")
        columns: list[Column] = []
        for (axis, keys), place in zip(axes.items(), np.indices(array.shape), strict=True):
            columns += key_columns(keys, names[axis], axis, place.ravel())
        self._set(Rows(tuple(columns), numbers), control_names, sensitive_names, cell_names)

    def _set(
        self, rows: Rows, control_names: Sequence[str], sensitive_names: Sequence[str], cell_names: Sequence[str]
    ) -> None:
        check_names(control_names, sensitive_names, cell_names)
        check_cells(rows.columns[len(control_names) + len(sensitive_names) :])
        counts, (strata, groups, cells) = arrange(rows, len(control_names), len(sensitive_names))
        counts.flags.writeable = False
        self.__dict__.update(
            counts=counts,
            strata=strata,
            groups=groups,
            cells=cells,
            cell_names=tuple(cell_names),
            sensitive_names=tuple(sensitive_names),
            control_names=tuple(control_names),
        )

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.counts.flags.writeable = False  # pickling forgets it

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
    ) -> "CountTable":
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

        Returns
        -------
        CountTable
            The same for any container and any order of the rows.

        Raises
        ------
        ValueError
            If values are missing, lengths differ, pandas indexes disagree, labels are scores,
            or a column has too many distinct values.

        Examples
        --------
        >>> CountTable.from_predictions(
        ...     y_pred=["no", "yes", "no"], sensitive_features=["f", "m", "m"]
        ... )
        CountTable(3 people, 2 groups of sensitive_feature_0, 2 cells of y_pred)
        """
        given = {"y_true": y_true, "y_pred": y_pred, "y_score": y_score}
        columns = {name: one_column(values) for name, values in given.items() if values is not None}
        cells = {name: read_column(values, name, name=name) for name, values in columns.items()}
        sensitive, control = read_groups(sensitive_features, control_features)
        check_same_people({**cells, "sensitive_features": sensitive, "control_features": control})
        return table_of(
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
    ) -> "CountTable":
        """Take counts that somebody else has made.

        Parameters
        ----------
        data : frame, mapping of names to columns, or mapping of key tuples to counts
            One row or key per kind of people; the counts of equal rows add up.
        count : str
            The column of the counts.
        names : sequence of str, optional
            For a mapping of key tuples to counts: what each position of a key is.
        y_true, y_pred, y_score : str, optional
            The columns of labels and scores; `y_true` and `y_pred` may name the same one.
        sensitive_features, control_features : str or sequence of str
            The columns of groups and strata.

        Returns
        -------
        CountTable
            Rows with a count of zero leave no trace.

        Raises
        ------
        ValueError
            If a column is not there, values are missing, or counts are not whole numbers of
            people.

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
        given = {"y_true": y_true, "y_pred": y_pred, "y_score": y_score}
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
            check_level_count(column, "sensitive_features", MAX_GROUPS, WARN_GROUPS)
        return table_of(Rows((*features, *labels), counts), control, sensitive, list(cells))

    # Looking --------------------------------------------------------------------------------

    @property
    def n_samples(self) -> int:
        """The number of people."""
        return int(self.counts.sum())

    @property
    def labels(self) -> list[Any]:
        """The labels in y_true and y_pred together, sorted."""
        places = [i for i, name in enumerate(self.cell_names) if name != "y_score"]
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
        """Say what was counted, in one line."""
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
        mine, its = ({**vars(table), "counts": None} for table in (self, other))
        return mine == its and np.array_equal(self.counts, other.counts)

    def to_rows(self) -> Rows:
        """Return the combinations that somebody has, with their counts.

        Returns
        -------
        Rows
            The control features, the sensitive features and the cells.
        """
        occupied = np.nonzero(self.counts)
        columns = [
            *key_columns(self.strata, self.control_names, "strata", occupied[0]),
            *key_columns(self.groups, self.sensitive_names, "groups", occupied[1]),
            *key_columns(self.cells, self.cell_names, "cells", occupied[2]),
        ]
        return Rows(tuple(columns), self.counts[occupied])

    def to_frame(self) -> pd.DataFrame:
        """Write the table in long form.

        Returns
        -------
        DataFrame
            One row per combination that somebody has: the control features, the sensitive
            features, the cells and "count", which `from_counts` reads back.
        """
        rows = self.to_rows()
        columns = {column.name: column_values(column) for column in rows.columns}
        return pd.DataFrame({**columns, "count": rows.counts})

    def expand(self) -> Bunch:
        """Write one row per person.

        Returns
        -------
        Bunch
            `y_true`, `y_pred` and `y_score` (arrays of length `n_samples`, or None),
            `sensitive_features` (DataFrame) and `control_features` (DataFrame or None), which
            `from_predictions` reads back.
        """
        rows = self.to_rows()
        people = {column.name: column_values(column).repeat(rows.counts) for column in rows.columns}
        return Bunch(
            **{name: people[name].to_numpy() if name in people else None for name in CELL_NAMES},
            sensitive_features=pd.DataFrame({n: people[n] for n in self.sensitive_names}),
            control_features=(pd.DataFrame({n: people[n] for n in self.control_names}) if self.control_names else None),
        )

    # Rearranging ----------------------------------------------------------------------------

    def merge(self, *others: "CountTable") -> "CountTable":
        """Add tables of other people, such as the shards of a large data set.

        Parameters
        ----------
        *others : CountTable
            Tables of the same columns; their values may differ.

        Returns
        -------
        CountTable
            The table of everybody.

        Raises
        ------
        ValueError
            If the tables have other columns.
        """
        for other in others:
            _check_mergeable(self, other)
        rows = join_rows([table.to_rows() for table in (self, *others)])
        return table_of(rows, self.control_names, self.sensitive_names, self.cell_names)

    def __add__(self, other: object) -> "CountTable":
        """Merge two tables of different people."""
        return self.merge(other) if isinstance(other, CountTable) else NotImplemented

    def regroup(
        self, sensitive_features: str | Iterable[str] | None = None, control_features: str | Iterable[str] | None = None
    ) -> "CountTable":
        """Group by fewer features, or let them change roles.

        Parameters
        ----------
        sensitive_features, control_features : str or sequence of str, optional
            The features by which to group and to stratify, from either role. None keeps those
            that have the role and are not named for the other one; an empty sequence of
            control features keeps none.

        Returns
        -------
        CountTable
            The same people; features that are not named are summed over.

        Raises
        ------
        ValueError
            If there is no such feature, or one would have both roles.

        Examples
        --------
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
        rows = self.to_rows().select([*control, *sensitive, *self.cell_names])
        return table_of(rows, control, sensitive, self.cell_names)

    def marginal(self, cell_names: str | Iterable[str]) -> "CountTable":
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
        rows = self.to_rows().select([*self.control_names, *self.sensitive_names, *kept])
        return table_of(rows, self.control_names, self.sensitive_names, kept)


def table_of(
    rows: Rows, control_names: Sequence[str], sensitive_names: Sequence[str], cell_names: Sequence[str]
) -> CountTable:
    """Return the table of rows, whose columns are the control features, the sensitive features, then the cells."""
    table = CountTable.__new__(CountTable)
    table._set(rows, control_names, sensitive_names, cell_names)
    return table


def key_labels(keys: Sequence[Key]) -> list[Any]:
    """Return keys as people name them: single values bare, several as a tuple."""
    return [key[0] if len(key) == 1 else key for key in keys]


def _counted(number: int, one: str, several: str, names: Sequence[str]) -> str:
    return f"{number:,} {one if number == 1 else several} of {' x '.join(names)}"


def _check_mergeable(table: CountTable, other: Any) -> None:
    if not isinstance(other, CountTable):
        raise ValueError(f"merge takes CountTables, found {type(other).__name__}.")
    for what in ("sensitive_names", "control_names", "cell_names"):
        mine, its = getattr(table, what), getattr(other, what)
        if mine != its:
            raise ValueError(f"tables to merge must have the same columns; {what} are {mine} and {its}.")
