"""People one by one: what does not compress into a table of counts (scores, targets, weights, clusters)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skfairtest._utils.errors import ParameterError
from skfairtest._utils.typing import Booleans, Floats, Integers, Positions
from skfairtest.readers.columns import (
    LEAVE_OUT,
    Column,
    Numbers,
    check_same_people,
    named_unknown,
    read_column,
    read_groups,
)
from skfairtest.readers.levels import distinct
from skfairtest.readers.numbers import Probabilities, read_values, read_weights
from skfairtest.readers.score_bins import ScoreBins
from skfairtest.tables import rows as tabular
from skfairtest.tables.count_table import CountTable, key_labels

#: Kinds of people that are still counted, if this many people at least share one on average.
MOST_KINDS, SHARED_BY = 1000, 20
#: So few kinds are counted, however many people share them.
FEW_KINDS = 64
#: Weights that differ by less than this share of their mean are one weight.
SAME = 1e-7
#: What is to be done about people of unknown group where the test has a parameter for it.
_INSTEAD = (
    "missing='exclude' leaves these people out, missing='group' makes them a group of their own, and missing='bounds' "
    "gives bounds over all groups that they may belong to"
)
#: So many people tell already whether there are too many different numbers.
LOOKED_AT = 20_000


@dataclass(frozen=True, eq=False)
class Kinds:
    """Kinds of people with the same values, and the number of each by stratum, group and kind.

    `counts` is None if every kind is one person, with its stratum, group, weight and cluster; `stratum` is None if
    there is only one.
    """

    values: Mapping[str, Column | Numbers]
    counts: Integers | None
    stratum: NDArray[Any] | None = None
    group: NDArray[Any] | None = None
    weight: Floats | None = None
    cluster: Positions | None = None

    @property
    def rows(self) -> bool:
        """Whether every kind is one person."""
        return self.counts is None

    @property
    def size(self) -> int:
        """The number of kinds."""
        return len(next(iter(self.values.values())))

    def blocks(self, name: str | None) -> Positions:
        """Number the kinds by their value of a column; one block without a column."""
        if name is None:
            return np.zeros(self.size, dtype=np.int8)  # of each comparison: small types, that many fit in memory
        column = self.values[name]
        if isinstance(column, Numbers):
            raise ParameterError(
                f"within={name!r} permutes labels among people of one {name}; it holds numbers of many different "
                "values, one per person"
            )
        return column.codes.astype(np.min_scalar_type(-len(column.levels)))

    def within(self, stratum: int, sides: Sequence[Booleans]) -> tuple["Kinds", NDArray[Any]]:
        """The kinds of some groups in one stratum, with their counts by set of groups."""
        if self.counts is not None:
            counted = np.stack([self.counts[stratum][side].sum(axis=0) for side in sides])
            place = np.flatnonzero(counted.sum(axis=0))
            return self._take(place), counted[:, place]
        assert self.group is not None
        chosen = np.logical_or.reduce(list(sides))[self.group]
        if self.stratum is not None:
            chosen &= self.stratum == stratum
        if chosen.all():
            return self, np.stack([side[self.group] for side in sides]).astype(np.uint8)
        place = np.flatnonzero(chosen)
        return self._take(place), np.stack([side[self.group[place]] for side in sides]).astype(np.uint8)

    def without_weights(self, most: int) -> "tuple[Kinds, Positions] | None":
        """The kinds by value alone, and the index of each kind among them; None if more than `most`."""
        place: Positions = np.zeros(self.size, dtype=np.intp)
        for values in self.values.values():
            place, example = _divided(place, values)
            if len(example) > most:
                return None
        return Kinds({name: values.take(example) for name, values in self.values.items()}, None), place

    def _take(self, place: Positions) -> "Kinds":
        def of(array: NDArray[Any] | None) -> Any:
            return None if array is None else array[..., place]

        cluster = None if self.cluster is None else np.unique(of(self.cluster), return_inverse=True)[1].reshape(-1)
        values = {name: values.take(place) for name, values in self.values.items()}
        return Kinds(values, of(self.counts), of(self.stratum), of(self.group), of(self.weight), cluster)


@dataclass(frozen=True, eq=False)
class Sample:
    """The checked data of all people.

    `columns` holds ``y_true``, ``y_pred`` and ``y_score``, or ``y_pred_a``, ``y_pred_b`` and scores. `counts` has the
    people of each row (None: one). `summed`: only sums of weights are known, so that rows stand for people with these
    sums. `everyone` includes people of unknown group, with codes -1. `named`: people of unknown group are here as a
    group.
    """

    columns: Mapping[str, Column | Numbers]
    sensitive: tuple[Column, ...]
    control: tuple[Column, ...] = ()
    counts: Integers | None = None
    weight: Numbers | None = None
    clusters: Column | None = None
    score_bins: ScoreBins | None = None
    summed: bool = False
    everyone: "Sample | None" = None
    named: bool = False

    @classmethod
    def from_predictions(
        cls,
        y_true: Any = None,
        y_pred: Any = None,
        *,
        y_score: Any = None,
        sensitive_features: Any,
        control_features: Any = None,
        sample_weight: Any = None,
        clusters: Any = None,
        few_groups: bool = True,
        missing: str | None = None,
        **of_models: Any,
    ) -> "Sample":
        """Read people from one row per person, `of_models` what each of two models says."""
        given = {"y_true": y_true, "y_pred": y_pred, "y_score": y_score, **of_models}
        columns = {name: read_values(values, name) for name, values in given.items() if values is not None}
        sensitive, control = read_groups(
            sensitive_features,
            control_features,
            few=few_groups,
            missing=missing not in (None, "raise"),
            instead=LEAVE_OUT if missing is None else _INSTEAD,
        )
        weight = None if sample_weight is None else read_weights(sample_weight)
        cluster = None if clusters is None else read_column(clusters, "clusters")
        check_same_people(
            {
                **columns,
                "sensitive_features": sensitive,
                "control_features": control,
                "sample_weight": weight,
                "clusters": cluster,
            }
        )
        tabular.check_names([c.name for c in control], [c.name for c in sensitive], list(columns))
        people = cls(columns, sensitive, control, None, weight, cluster)
        return people.with_unknown() if missing == "group" else people.known()

    @classmethod
    def from_table(cls, table: CountTable) -> "Sample":
        """Read the people of a table."""
        rows, weight = table.to_rows(), None
        if rows.weights is not None:
            rows, weight = _with_these_sums(rows)
        by_name = {column.name: column for column in rows.columns}
        return cls(
            {name: by_name[name] for name in table.cell_names},
            tuple(by_name[name] for name in table.sensitive_names),
            tuple(by_name[name] for name in table.control_names),
            rows.counts,
            None if weight is None else read_weights(weight),
            score_bins=table.score_bins,
            summed=weight is not None,
        )

    def regroup(self, sensitive_features: Sequence[str]) -> "Sample":
        """Group the same people by some of the sensitive features."""
        whole = self.everyone or self
        kept = tuple(column for column in whole.sensitive if column.name in sensitive_features)
        people = replace(whole, sensitive=kept)
        return people.with_unknown() if self.named else people.known()

    def known(self) -> "Sample":
        """The people whose group is known, and keep the others in mind."""
        unknown = self._unknown
        return replace(self._of(np.flatnonzero(~unknown), self.control), everyone=self) if unknown.any() else self

    def with_unknown(self) -> "Sample":
        """Return everyone: missing groups become a level of their own."""
        whole = self.everyone or self
        if not whole._unknown.any():
            return self
        return replace(whole, sensitive=tuple(map(named_unknown, whole.sensitive)), everyone=whole, named=True)

    def unknown(self) -> "tuple[Sample, list[dict[int, Any]]] | None":
        """People of unknown group, grouped by the known features, and the values of these; None if there are none."""
        if self.everyone is None:
            return None
        rows, features = np.flatnonzero(self.everyone._unknown), self.everyone.sensitive
        known, number = np.unique(np.stack([c.codes[rows] for c in features], axis=1), axis=0, return_inverse=True)
        codes = np.zeros(len(self.everyone._unknown), dtype=np.intp)
        codes[rows] = number.reshape(-1)
        one = Column(" x ".join(self.sensitive_names), tuple(range(len(known))), codes)
        people = replace(self.everyone, sensitive=(one,))._of(rows, self.everyone.control)
        return people, [
            {i: features[i].levels[code] for i, code in enumerate(own) if code >= 0} for own in known.tolist()
        ]

    @cached_property
    def n_unknown(self) -> int:
        """The number of people with an unknown feature."""
        return 0 if self.everyone is None else int(self.everyone._unknown.sum())

    @property
    def _unknown(self) -> Booleans:
        return np.asarray(np.logical_or.reduce([column.codes < 0 for column in self.sensitive]))

    def with_scores_as_predictions(self) -> "Sample":
        """The same people, with scores as predictions if there are no predictions."""
        if "y_pred" in self.columns or "y_score" not in self.columns:
            return self
        names = {"y_score": "y_pred"}
        columns = {names.get(name, name): column for name, column in self.columns.items()}
        return replace(self, columns={name: replace(column, name=name) for name, column in columns.items()})

    def _of(self, rows: Positions, control: tuple[Column, ...]) -> "Sample":
        """Some of the people, with the values that any of them has."""

        def of(column: Any) -> Any:
            if isinstance(column, Column):
                return tabular.used(column, rows)
            return None if column is None else column.take(rows)

        return replace(
            self,
            columns={name: of(column) for name, column in self.columns.items()},
            sensitive=tuple(map(of, self.sensitive)),
            control=tuple(map(of, control)),
            counts=None if self.counts is None else self.counts[rows],
            weight=of(self.weight),
            clusters=of(self.clusters),
            everyone=None,
            named=False,
        )

    def table(self, names: Iterable[str]) -> CountTable:
        """Count the people by some of the columns, which must be labels or few scores."""
        wanted = set(names)
        missing = sorted(wanted - set(self.columns))
        if missing:
            raise ParameterError(f"{' and '.join(missing)} is missing: it is needed")
        labels = {name: self.labels_of(name) for name in tabular.ALL_NAMES if name in wanted}
        columns = (*self.control, *self.sensitive, *labels.values())
        rows = tabular.tally(columns) if self.counts is None else tabular.Rows(columns, self.counts)
        return CountTable.of_rows(rows, self.control_names, self.sensitive_names, list(labels), checked=True)

    def labels_of(self, name: str) -> Column:
        """A column as labels, however many there are."""
        column = self.columns[name]
        return read_column(column.values, name) if isinstance(column, Numbers) else column

    # What a table has, too ------------------------------------------------------------------

    @cached_property
    def n_samples(self) -> int:
        """The number of people."""
        return len(self.sensitive[0]) if self.counts is None else int(self.counts.sum())

    @cached_property
    def labels(self) -> list[Any]:
        """All distinct labels of y_true and predictions, sorted; none if any of these is numeric."""
        names = ("y_true", "y_pred", *tabular.PAIRED_NAMES[:2])
        columns = [self.columns[name] for name in names if name in self.columns]
        if any(isinstance(column, Numbers) for column in columns):
            return []
        seen = [level for column in columns if isinstance(column, Column) for level in column.levels]
        return tabular.distinct_levels(seen)

    @cached_property
    def sensitive_names(self) -> tuple[str, ...]:
        """Names of the sensitive features."""
        return tuple(column.name for column in self.sensitive)

    @cached_property
    def control_names(self) -> tuple[str, ...]:
        """Names of the control features."""
        return tuple(column.name for column in self.control)

    @cached_property
    def _groups(self) -> tuple[tuple[tabular.Key, ...], Positions]:
        return tabular.distinct_keys(self.sensitive, len(self.sensitive[0]))

    @cached_property
    def _strata(self) -> tuple[tuple[tabular.Key, ...], Positions]:
        return tabular.distinct_keys(self.control, len(self.sensitive[0]))

    @cached_property
    def groups(self) -> tuple[tabular.Key, ...]:
        """The groups that are not empty, sorted."""
        return self._groups[0]

    @cached_property
    def strata(self) -> tuple[tabular.Key, ...]:
        """The strata that are not empty, sorted."""
        return self._strata[0]

    @cached_property
    def stratum_codes(self) -> Positions:
        """The stratum of each row."""
        return self._strata[1]

    @cached_property
    def group_codes(self) -> Positions:
        """The group of each row."""
        return self._groups[1]

    @cached_property
    def group_labels(self) -> list[Any]:
        """The groups: values of one sensitive feature, tuples for several."""
        return key_labels(self.groups)

    @cached_property
    def stratum_labels(self) -> list[Any]:
        """The strata: values of one control feature, tuples for several or none."""
        return key_labels(self.strata)

    @cached_property
    def sizes(self) -> Integers:
        """People of each stratum and group, (S, G)."""
        n_groups = len(self.groups)
        counts = np.bincount(self._together(), self.counts, minlength=len(self.strata) * n_groups)
        return counts.reshape(len(self.strata), n_groups).astype(np.int64)

    def _together(self) -> Positions:
        """Number each row's stratum and group."""
        return self._strata[1].astype(np.intp) * len(self.groups) + self._groups[1]

    # Kinds ----------------------------------------------------------------------------------

    def kinds(self, names: Sequence[str], *, sort_by: Sequence[str] = ()) -> Kinds:
        """The kinds of people by some columns, weights and clusters."""
        keys = [*sort_by, *(name for name in names if name not in sort_by)]
        columns = {name: self.columns[name] for name in keys}
        kinds = (self._counted(columns) if self.clusters is None else None) or self._one_by_one(columns)
        # People of weight 0 take no part in means, their errors, and permutations.
        taking_part = None if kinds.weight is None else np.flatnonzero(kinds.weight)
        return kinds if taking_part is None or taking_part.size in (0, kinds.size) else kinds._take(taking_part)

    def _counted(self, columns: Mapping[str, Column | Numbers]) -> Kinds | None:
        """Return shared kinds; None where too many people have their own."""
        place: Positions = np.zeros(len(self.sensitive[0]), dtype=np.intp)
        people = self.n_samples
        # What is counted already is kept so: it may be a billion people.
        most = MOST_KINDS if self.counts is None else len(self.counts)
        weights = {} if self.weight is None else {"weight": self.weight}
        for column in (*columns.values(), *weights.values()):
            if isinstance(column, Numbers) and len(np.unique(column.values[:LOOKED_AT])) > MOST_KINDS:
                return None
            place, example = _divided(place, column)
            kinds = len(example)
            if kinds > FEW_KINDS and (kinds > most or kinds * SHARED_BY > people):
                return None
        n_groups = len(self.groups)
        together = self._together() * kinds + place
        shape = (len(self.strata), n_groups, kinds)
        counts = np.bincount(together, self.counts, minlength=int(np.prod(shape))).reshape(shape).astype(np.int64)
        return Kinds(
            {name: column.take(example) for name, column in columns.items()},
            counts,
            weight=None if self.weight is None else self.weight.values[example],
        )

    def _one_by_one(self, columns: Mapping[str, Column | Numbers]) -> Kinds:
        # People who are alike in everything that matters come by group, so that sums do not depend on the rows' order.
        sort_keys: list[NDArray[Any]] = [self._groups[1], self._strata[1]]
        if self.clusters is not None:
            sort_keys.append(self.clusters.codes)
        if self.weight is not None:
            sort_keys.append(self.weight.values)
        for column in reversed(list(columns.values())):
            sort_keys.append(column.values if isinstance(column, Numbers) else column.codes)
        order = np.lexsort(sort_keys)
        if self.counts is not None:
            tabular.check_rows_of(int(self.counts.sum()))
            order = order.repeat(self.counts[order])
        return Kinds(
            {name: column.take(order) for name, column in columns.items()},
            None,
            None if len(self.strata) == 1 else self._strata[1][order],
            self._groups[1][order],
            None if self.weight is None else self.weight.values[order],
            None if self.clusters is None else self.clusters.codes[order].astype(np.intp),
        )


def _with_these_sums(rows: tabular.Rows) -> tuple[tabular.Rows, Floats]:
    """Two rows for each, with two weights that have the row's sums of weights and of squares."""
    assert rows.weights is not None
    n, (total, squares) = rows.counts, rows.weights.T
    mean = total / n
    spread = np.sqrt(np.maximum(squares / n - mean**2, 0.0))
    spread[spread < SAME * mean] = 0.0
    with np.errstate(invalid="ignore", divide="ignore"):
        effective = np.where(squares > 0, total**2 / squares, n)
    # No weight is negative as long as no more people than these have the larger one.
    larger = np.clip(np.floor(np.minimum(n / 2, effective)), 1, n).astype(np.int64)
    rest = n - larger
    with np.errstate(invalid="ignore", divide="ignore"):
        up = np.where(rest > 0, np.sqrt(rest / larger), 0.0)
        down = np.where(rest > 0, np.sqrt(larger / rest), 0.0)
    weights = np.stack([mean + spread * up, np.maximum(mean - spread * down, 0.0)])
    both = np.stack([larger, rest])
    kept = np.flatnonzero(both.ravel() > 0)
    columns = tuple(replace(column, codes=np.tile(column.codes, 2)[kept]) for column in rows.columns)
    return tabular.Rows(columns, both.ravel()[kept]), weights.ravel()[kept]


def _divided(place: Positions, column: Column | Numbers) -> tuple[Positions, Positions]:
    """Divide kinds by one more column: which kind each is, and one of each."""
    codes = np.unique(column.values, return_inverse=True)[1] if isinstance(column, Numbers) else column.codes
    return distinct([place, codes.reshape(-1)], [int(each.max(initial=0)) + 1 for each in (place, codes)])


@dataclass(frozen=True, eq=False)
class UncertainSample(Sample):
    """People with a probability for each group; their labels are the most probable groups, the first of ties."""

    probabilities: Probabilities | None = None

    @classmethod
    def from_probabilities(
        cls, y_true: Any, y_pred: Any, probabilities: Probabilities, name: str = "group"
    ) -> "UncertainSample":
        """Read people from one row per person; the groups are all columns, in order."""
        largest = probabilities.values.argmax(axis=1)
        one = Column(name, probabilities.groups, largest, probabilities.index)
        check_same_people({"y_true": y_true, "y_pred": y_pred, "sensitive_features": one})
        people = Sample.from_predictions(y_true, y_pred, sensitive_features=(one,))
        own: Mapping[str, Any] = {field.name: getattr(people, field.name) for field in fields(Sample)}
        return cls(**own, probabilities=probabilities)

    @cached_property
    def sizes(self) -> Integers:
        """Expected numbers of people of each group, rounded, (1, G)."""
        assert self.probabilities is not None
        return np.asarray(np.rint(self.probabilities.values.sum(axis=0))[None], dtype=np.int64)
