"""The data as a table: numbers of people by stratum, group and cell."""

from collections.abc import Iterable, Sequence
from os import PathLike
from typing import Any, BinaryIO, Self

from skfairtest.readers.columns import (
    MAX_GROUPS,
    WARN_GROUPS,
    check_level_count,
    check_same_people,
    read_column,
    read_groups,
)
from skfairtest.readers.containers import one_column
from skfairtest.readers.engines import Question, count_frame
from skfairtest.readers.score_bins import check_edges
from skfairtest.tables.counts import Counts
from skfairtest.tables.rows import Rows, name_list, read_counted, tally
from skfairtest.tables.storage import Stored, read_stored, write_stored


class CountTable(Counts):
    """How many people there are of each kind: strata x groups x cells.

    A fairness metric depends on a person only through the group and (y_true, y_pred), so this small table holds all the
    data that are needed: tests that start from it cost the same for a thousand and for a million people, and published
    counts serve as well as rows. Build it with `from_predictions` or `from_counts`; the constructor takes an array that
    is already such a table.

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
        The keys of the three axes, sorted; only combinations that occur.
    control_names, sensitive_names, cell_names : tuple of str
        The names of the positions in these tuples.
    weights : ndarray of shape (S, G, K, 2) or None
        The sums of weights and of their squares, if people have weights.
    score_bins : ScoreBins or None
        The bins of the scores, if there are any.
    suppressed : tuple of (label, label or None, int)
        Groups that `suppress` left out, with the stratum and the number of people that they would have needed.

    Raises
    ------
    ValueError
        If shapes do not match, counts are not whole numbers of people, or nobody is counted.

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
            If values are missing, lengths differ, pandas indexes disagree, labels are scores,
            or a column has too many distinct values.

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
            One row or key per kind of people; the counts of equal rows add up.
        count : str
            The column of the counts.
        names : sequence of str, optional
            For a mapping of key tuples to counts: the name of each position of a key.
        y_true, y_pred, y_score : str, optional
            The columns of labels and scores; `y_true` and `y_pred` may name the same one.
        sensitive_features, control_features : str or sequence of str
            The columns of groups and strata.
        y_pred_a, y_pred_b : str, optional
            The columns of labels that two models predict, for a `PairedFairnessTest`.

        Returns
        -------
        CountTable
            The table; rows with a count of zero are ignored.

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
            check_level_count(column, "sensitive_features", MAX_GROUPS, WARN_GROUPS)
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
        prediction_threshold: float | None = None,
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
            The column of weights. The table keeps the sums of weights and of their squares, from which weighted
            metrics have asymptotic tests.
        y_score : str, optional
            The column of scores; if there are more than 1000 distinct ones, `score_bins` is needed too.
        score_bins : int, array-like of edges or ScoreBins, optional
            How scores are put into bins: a number of bins of about equally many people, whose edges are found in the
            data first; the edges between bins; or the `score_bins` of another table: tables can be added only if they
            have the same bins. Tests report how far bins may have moved a value.
        prediction_threshold : float, optional
            With `y_score` and without `y_pred`: predictions are 1 from this score on, otherwise 0. The scores
            themselves are then counted only if there are `score_bins`.

        Returns
        -------
        CountTable
            The same as from the rows in memory, for any engine and any order of the rows.

        Raises
        ------
        ValueError
            If a column is not there, values are missing, or a column has too many distinct values.

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
        found = count_frame(
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
                prediction_threshold,
            ),
        )
        for column in found.columns[len(control) : len(control) + len(sensitive)]:
            check_level_count(column, "sensitive_features", MAX_GROUPS, WARN_GROUPS)
        cells = [column.name for column in found.columns[len(control) + len(sensitive) :]]
        return cls.of_rows(
            Rows(tuple(found.columns), found.counts, found.weights), control, sensitive, cells, found.bins
        )

    # Storing --------------------------------------------------------------------------------

    def save(self, path: str | PathLike[str] | BinaryIO) -> None:
        """Write the table to a file. Writing is atomic: there is never half a file.

        Parameters
        ----------
        path : str, path or file
            ``.json``, which needs nothing else, or ``.parquet``, which needs pyarrow. Parquet where it is a file that
            is open for writing bytes.

        Raises
        ------
        ValueError
            If the path has another ending, or a label is of a type that files cannot hold.
        """
        names = self.control_names, self.sensitive_names, self.cell_names
        write_stored(Stored(self.to_rows(), *names, self.score_bins, self.suppressed), path)

    @classmethod
    def load(cls, path: str | PathLike[str] | BinaryIO) -> Self:
        """Read a table that `save` wrote.

        Parameters
        ----------
        path : str, path or file
            The file.

        Returns
        -------
        CountTable
            Equal to the one that was saved, with the types of its labels.

        Raises
        ------
        ValueError
            If the file is not such a table, is of a later version, is damaged, or contradicts itself.
        """
        stored = read_stored(path)
        names = stored.control_names, stored.sensitive_names, stored.cell_names
        return cls.of_rows(stored.rows, *names, stored.score_bins, stored.suppressed)
