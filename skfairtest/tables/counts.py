"""Counts of people by stratum, group and cell, and operations on them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.utils import Bunch

from skfairtest._utils.errors import ParameterError
from skfairtest._utils.typing import Floats, Integers, Positions
from skfairtest.readers.columns import Column, read_column
from skfairtest.readers.levels import listed
from skfairtest.readers.score_bins import ScoreBins
from skfairtest.readers.vocabulary import check_vocabularies
from skfairtest.tables import rows as tabular
from skfairtest.tables.storage import Suppressed, check_small_cells, merged_groups, too_few

#: What the sums of weights and of their squares are called in a frame.
SUMS = ("weight", "squared_weight")


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Counts:
    """The numbers of a `CountTable`, whose docstring describes them."""

    counts: Integers
    strata: tuple[tabular.Key, ...]
    groups: tuple[tabular.Key, ...]
    cells: tuple[tabular.Key, ...]
    cell_names: tuple[str, ...]
    sensitive_names: tuple[str, ...]
    control_names: tuple[str, ...] = field(default=())
    weights: Floats | None = field(default=None)
    score_bins: ScoreBins | None = field(default=None)
    suppressed: tuple[Suppressed, ...] = field(default=())

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
            columns += tabular.key_columns(keys, names[axis], axis, place.ravel())
        rows = tabular.Rows(tuple(columns), numbers)
        self.__dict__.update(vars(self.of_rows(rows, control_names, sensitive_names, cell_names)))

    @classmethod
    def of_rows(
        cls,
        rows: tabular.Rows,
        control_names: Sequence[str],
        sensitive_names: Sequence[str],
        cell_names: Sequence[str],
        score_bins: ScoreBins | None = None,
        suppressed: tuple[Suppressed, ...] = (),
    ) -> Self:
        """Make a table from rows that have been read.

        Parameters
        ----------
        rows : Rows
            Their columns are the control features, the sensitive features, then the cells.
        control_names, sensitive_names, cell_names : sequence of str
            The names of these columns.
        score_bins : ScoreBins, optional
            The bins of the scores.
        suppressed : tuple, optional
            Groups that were left out.

        Returns
        -------
        CountTable
            Combinations that occur several times are added up.

        Raises
        ------
        ValueError
            If nobody is counted, a name is used twice, or labels are not labels.
        """
        tabular.check_total(float(rows.counts.sum(dtype=float)))
        tabular.check_names(control_names, sensitive_names, cell_names, () if rows.weights is None else SUMS)
        tabular.check_cells(rows.columns[len(control_names) + len(sensitive_names) :], binned=score_bins is not None)
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
            suppressed=suppressed,
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
        return tabular.distinct_levels(seen)

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
        if not isinstance(other, Counts):
            return NotImplemented
        mine, its = ({**vars(table), "counts": None, "weights": None} for table in (self, other))
        if mine != its or not np.array_equal(self.counts, other.counts):
            return False
        if self.weights is None or other.weights is None:
            return self.weights is other.weights
        return np.array_equal(self.weights, other.weights)

    def to_rows(self) -> tabular.Rows:
        """Return the combinations that occur, with their counts.

        Returns
        -------
        Rows
            The control features, the sensitive features and the cells.
        """
        occupied = np.nonzero(self.counts)
        columns = [
            *tabular.key_columns(self.strata, self.control_names, "strata", occupied[0]),
            *tabular.key_columns(self.groups, self.sensitive_names, "groups", occupied[1]),
            *tabular.key_columns(self.cells, self.cell_names, "cells", occupied[2]),
        ]
        return tabular.Rows(
            tuple(columns), self.counts[occupied], None if self.weights is None else self.weights[occupied]
        )

    def to_frame(self) -> pd.DataFrame:
        """Write the table in long form.

        Returns
        -------
        DataFrame
            One row per combination that occurs: the control features, the sensitive features, the cells and "count",
            which `from_counts` can read; if people have weights, also "weight" and "squared_weight", the sums of
            weights and of their squares.
        """
        rows = self.to_rows()
        columns = {column.name: tabular.column_values(column) for column in rows.columns}
        sums = {} if rows.weights is None else dict(zip(SUMS, rows.weights.T, strict=True))
        return pd.DataFrame({**columns, "count": rows.counts, **sums})

    def expand(self) -> Bunch:
        """Write one row per person.

        Returns
        -------
        Bunch
            `y_true`, `y_pred` and `y_score` (arrays of length `n_samples`, or None),
            `sensitive_features` (DataFrame) and `control_features` (DataFrame or None), which
            `from_predictions` reads back.

        Raises
        ------
        ValueError
            If people have weights.
        """
        if self.weights is not None:
            raise ValueError(
                "the table holds sums of weights and not each person's weight: it cannot be expanded to rows."
            )
        rows = self.to_rows()
        tabular.check_rows_of(self.n_samples)
        people = {column.name: tabular.column_values(column).repeat(rows.counts) for column in rows.columns}
        return Bunch(
            **{name: people[name].to_numpy() if name in people else None for name in tabular.CELL_NAMES},
            sensitive_features=pd.DataFrame({n: people[n] for n in self.sensitive_names}),
            control_features=(pd.DataFrame({n: people[n] for n in self.control_names}) if self.control_names else None),
        )

    # Arithmetic -----------------------------------------------------------------------------

    def merge(self, *others: Self) -> Self:
        """Add tables of other people, such as the days or the shards of a large data set.

        Parameters
        ----------
        *others : CountTable
            Tables of the same columns; their values may differ, the edges between bins of scores may not.

        Returns
        -------
        CountTable
            The table of everybody.

        Raises
        ------
        ValueError
            If the tables have different columns or different bins of scores, or only some have weights.
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
        suppressed = tuple(dict.fromkeys(found for table in (self, *others) for found in table.suppressed))
        return self._with(tabular.join_rows([table._rows_in(bins) for table in (self, *others)]), bins, suppressed)

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

    def _rows_in(self, bins: ScoreBins | None) -> tabular.Rows:
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

    def __sub__(self, other: object) -> Self:
        """Subtract the people of another table, such as a day that was counted twice.

        Raises
        ------
        ValueError
            If they are not all in this table.
        """
        if not isinstance(other, type(self)):
            return NotImplemented
        _check_mergeable(self, other)
        mine, its = self.score_bins, other.score_bins
        if mine is not None and its is not None and not mine.fits(its):
            raise ParameterError("score_bins differ between the tables: it is not clear which people to subtract.")
        rows = tabular.join_rows([self.to_rows(), other._rows_in(mine).negated()])
        left = self._with(rows, self.score_bins, self.suppressed).to_rows()
        if (left.counts < 0).any():
            worst = int(left.counts.argmin())
            kind = {column.name: column.levels[column.codes[worst]] for column in left.columns}
            raise ValueError(
                f"the table to subtract counts {-int(left.counts[worst]):,} too many of {kind}: it is not part of this "
                "table."
            )
        return self._with(left, self.score_bins, self.suppressed)

    def suppress(self, minimum_cell: int, *, small: str = "exclude") -> Self:
        """Prepare the table for sharing: every cell that is not empty counts at least `minimum_cell` people.

        Its `score_bins` no longer hold the smallest and the largest score in each bin, which belong to single people.

        Groups are left out or merged only because of their size, which does not depend on their labels, so tests of the
        remaining groups stay valid. Leaving out small *cells* would not be valid: a group would stay only if it happens
        to have enough events. A table that still has small cells is refused.

        Parameters
        ----------
        minimum_cell : int
            The smallest number of people that may be published.
        small : {"exclude", "merge"}, default="exclude"
            What to do with groups with fewer people. "exclude": they are left out and listed in `suppressed` and in the
            ``excluded_`` of tests. "merge": they become one group, "(other)", if they have enough people together.

        Returns
        -------
        CountTable
            The table that may be shared.

        Raises
        ------
        ValueError
            If cells with fewer people remain; the message says what to do.

        Examples
        --------
        >>> from skfairtest import CountTable
        >>> counts = {("f", 0): 80, ("f", 1): 20, ("m", 0): 50, ("m", 1): 50, ("x", 1): 3}
        >>> table = CountTable.from_counts(
        ...     counts, names=("sex", "hired"), y_pred="hired", sensitive_features="sex"
        ... )
        >>> shared = table.suppress(10)
        >>> shared, shared.suppressed
        (CountTable(200 people, 2 groups of sex, 2 cells of y_pred), (('x', None, 10),))
        """
        names = merged_groups(self.counts, self.groups, minimum_cell, small)
        place = np.nonzero(self.counts)
        kept = [names[stratum][group] for stratum, group in zip(*place[:2], strict=True)]
        rows = self.to_rows()
        n_control = len(self.control_names)
        features = [read_column([key[i] for key in kept], "groups", name=n) for i, n in enumerate(self.sensitive_names)]
        columns = (*rows.columns[:n_control], *features, *rows.columns[n_control + len(features) :])
        table = self._with(replace(rows, columns=columns), self.score_bins, self.suppressed)
        small_groups = too_few(table.counts, minimum_cell)
        left_out = tuple(
            (table.group_labels[group], table.stratum_labels[stratum] if n_control else None, int(minimum_cell))
            for stratum, group in np.argwhere(small_groups).tolist()
        )
        if small_groups[table.counts.any(axis=2)].all():
            raise ParameterError(f"minimum_cell={minimum_cell}: no group has that many people, so nothing remains.")
        rows = table.to_rows().take(~small_groups[np.nonzero(table.counts)[:2]])
        bins = None if self.score_bins is None else self.score_bins.told()
        table = self._with(rows, bins, self.suppressed + left_out)
        check_small_cells(table.counts, table.group_labels, table.cells, minimum_cell)
        return table

    # Rearranging ----------------------------------------------------------------------------

    def regroup(
        self, sensitive_features: str | Iterable[str] | None = None, control_features: str | Iterable[str] | None = None
    ) -> Self:
        """Group by fewer features, or change their roles.

        Parameters
        ----------
        sensitive_features, control_features : str or sequence of str, optional
            The features by which to group and to stratify, from either role. None keeps the features that have this
            role and are not named for the other one; an empty sequence of control features keeps none.

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
        >>> from skfairtest import CountTable
        >>> table = CountTable.from_predictions(
        ...     y_pred=[0, 1, 1],
        ...     sensitive_features={"sex": ["f", "m", "m"], "age": ["old", "old", "young"]},
        ... )
        >>> table.regroup("sex", control_features="age")
        CountTable(3 people, 2 strata of age, 2 groups of sex, 2 cells of y_pred)
        """
        sensitive = tabular.name_list(sensitive_features, "sensitive_features")
        control = tabular.name_list(control_features, "control_features")
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
        return self.of_rows(rows, control, sensitive, self.cell_names, self.score_bins, self.suppressed)

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
        asked = tabular.name_list(cell_names, "cell_names")
        for name in asked:
            if name not in self.cell_names:
                raise ParameterError(
                    f"cell_names={name!r} is not among the cells, which are {listed(self.cell_names)}."
                )
        kept = [name for name in self.cell_names if name in asked]
        rows = self.to_rows().select([*self.control_names, *self.sensitive_names, *kept])
        return self.of_rows(rows, self.control_names, self.sensitive_names, kept, self.score_bins, self.suppressed)

    def _with(self, rows: tabular.Rows, score_bins: ScoreBins | None, suppressed: tuple[Suppressed, ...]) -> Self:
        names = self.control_names, self.sensitive_names, self.cell_names
        return self.of_rows(rows, *names, score_bins, suppressed)


def key_labels(keys: Sequence[tabular.Key]) -> list[Any]:
    """Return keys as users write them: a single value as it is, several as a tuple."""
    return [key[0] if len(key) == 1 else key for key in keys]


def _counted(number: int, one: str, several: str, names: Sequence[str]) -> str:
    return f"{number:,} {one if number == 1 else several} of {' x '.join(names)}"


def _check_mergeable(table: Counts, other: Any) -> None:
    if not isinstance(other, Counts):
        raise ValueError(f"merge takes CountTables, found {type(other).__name__}.")
    for what in ("sensitive_names", "control_names", "cell_names"):
        mine, its = getattr(table, what), getattr(other, what)
        if mine != its:
            raise ValueError(f"tables to merge must have the same columns; {what} are {mine} and {its}.")
    for what in ("weights", "score_bins"):
        if (getattr(table, what) is None) != (getattr(other, what) is None):
            raise ValueError(f"tables to merge must be of one kind; only one of them has {what}.")
