"""Columns of labels, as codes, and checks of class labels: their vocabulary and the positive one."""

import math
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from skfairtest._utils.errors import ParameterError, brief, warn
from skfairtest._utils.typing import Booleans, Floats, Positions
from skfairtest.readers import containers
from skfairtest.readers.levels import (
    as_floats,
    encode,
    is_label,
    is_unicode,
    listed,
    number_kind,
    plain_scalar,
    small,
    sort_levels,
    unify_numbers,
)

MAX_GROUPS = 200
WARN_GROUPS = 20
#: The parameters that hold labels, the true ones first.
LABELS = ("y_true", "y", "y_pred", "y_pred_a", "y_pred_b", "y_judge")
#: How many labels of each source an error shows.
SHOWN = 5


@dataclass(frozen=True, eq=False)
class Column:
    """One value per person, as codes into the sorted distinct values, which are Python scalars.

    `categorical`: all values are text, or their container declares categories.
    """

    name: str
    levels: tuple[Any, ...]
    codes: Positions = field(repr=False)
    index: "pd.Index[Any] | None" = field(default=None, repr=False)
    categorical: bool = False

    def __len__(self) -> int:
        """The number of people."""
        return int(self.codes.size)

    @cached_property
    def values(self) -> NDArray[Any]:
        """The original value of every person; the array has a specific dtype if all values are of one plain type."""
        kinds = {type(level) for level in self.levels}
        if len(kinds) == 1 and kinds <= {bool, int, float, str}:
            levels: NDArray[Any] = np.array(self.levels)
            # NumPy's text ends before NULs, and its integers have 64 bits.
            if tuple(levels.tolist()) == self.levels:
                return levels[self.codes]
        return np.fromiter(self.levels, dtype=object, count=len(self.levels))[self.codes]

    @cached_property
    def numbers(self) -> Floats | None:
        """One number per person; None if the values are not numbers."""
        numeric = all(isinstance(level, int | float) for level in self.levels)
        return as_floats(self.levels)[self.codes] if numeric else None

    def is_label(self, label: Any) -> Booleans:
        """The mask of people with a label."""
        return np.array([bool(level == label) for level in self.levels], dtype=bool)[self.codes]

    def among(self, levels: Sequence[Any]) -> "Column":
        """The same values as codes into more levels."""
        place = {level: code for code, level in enumerate(levels)}
        codes = np.array([*(place[level] for level in self.levels), -1], dtype=np.intp)
        return replace(self, levels=tuple(levels), codes=codes[self.codes])

    def take(self, rows: NDArray[Any]) -> "Column":
        """The column of some people."""
        index = None if self.index is None else self.index[rows]
        return replace(self, codes=self.codes[rows], index=index)


@dataclass(frozen=True, eq=False)
class Numbers:
    """One finite number per person, with the pandas index if there was one."""

    name: str
    values: Floats = field(repr=False)
    index: "pd.Index[Any] | None" = field(default=None, repr=False)
    levels: ClassVar[tuple[Any, ...]] = ()

    def __len__(self) -> int:
        """The number of people."""
        return int(self.values.size)

    @property
    def numbers(self) -> Floats:
        """The values."""
        return self.values

    def is_label(self, label: Any) -> Booleans:
        """The mask of people with a number."""
        return np.asarray(self.values == label)

    def take(self, rows: NDArray[Any]) -> "Numbers":
        """The numbers of some people."""
        index = None if self.index is None else self.index[rows]
        return replace(self, values=self.values[rows], index=index)


#: What to do about missing values where nothing else is said.
LEAVE_OUT = "leave these people out of every argument, or give missing a name of its own, such as 'unknown'"
#: The name of a group of people whose group is not known.
UNKNOWN = "unknown"


def read_column(
    data: Any, parameter: str, *, name: str | None = None, missing: bool = False, instead: str = LEAVE_OUT
) -> Column:
    """Read one value per person from any container.

    Examples
    --------
    >>> column = read_column(["f", "m", "f"], "sensitive_features", name="sex")
    >>> column.levels, column.codes.tolist()
    (('f', 'm'), [0, 1, 0])
    """
    if isinstance(data, Column):
        return data if name is None else replace(data, name=name)
    if name is None:
        name = containers.series_name(data) or parameter
    where = parameter if name == parameter else f"{parameter} (column {name!r})"
    return column_of(data, containers.one_dimensional(data, where), where, name, missing=missing, instead=instead)


def check_present(n_missing: int, n_people: int, where: str, instead: str) -> None:
    """Refuse missing values."""
    if n_missing:
        values = f"{n_missing:,} missing value{'s' if n_missing > 1 else ''} among {n_people:,}"
        raise ParameterError(f"{where} has {values}: {instead}.")


def column_of(
    data: Any, values: Any, where: str, name: str, *, missing: bool = False, instead: str = LEAVE_OUT
) -> Column:
    """A column of `values` that `one_dimensional` read from `data`; errors call it `where`."""
    try:
        levels, codes, n_missing = encode(values)
    except TypeError as error:
        raise ParameterError(
            f"{where} holds values that cannot be compared with each other ({error}): pass one "
            "plain value (a string, a number, a boolean) per person."
        ) from error
    if not missing:
        check_present(n_missing, codes.size, where, instead)
    if not codes.size:
        raise ParameterError(f"{where} is empty: at least one person is needed.")
    broken = [text for text in (name, *levels) if isinstance(text, str | tuple) and not is_unicode(text)]
    if broken:
        raise ParameterError(
            f"{where}: {broken[0]!r} is not valid Unicode and cannot be written to a file; read the data again with "
            "the encoding in which they were saved, or replace the text."
        )
    # An index of people exists only where pandas was handed in.
    index = data.index if isinstance(data, pd.Series) else None
    categorical = containers.is_categorical(data) or all(isinstance(level, str) for level in levels)
    return Column(name, levels, codes, index, categorical)


def read_columns(
    data: Any, parameter: str, *, default_name: str, few: bool = False, **about_missing: Any
) -> tuple[Column, ...]:
    """Read one or several columns from any container; see `read_column` about missing values.

    Examples
    --------
    >>> data = {"sex": ["f", "m"], "age": ["old", "old"]}
    >>> [column.name for column in read_columns(data, "sensitive_features", default_name="s")]
    ['sex', 'age']
    """
    if isinstance(data, Column):
        data = (data,)
    read = isinstance(data, list | tuple) and bool(data) and isinstance(data[0], Column)
    if not read and (data is None or isinstance(data, (str, bytes))):
        containers.one_dimensional(data, parameter)
    if read:
        columns = tuple(data)
    elif not containers.is_table(data):
        name = containers.series_name(data) or f"{default_name}_0"
        columns = (read_column(data, parameter, name=name, **about_missing),)
    else:
        columns = tuple(
            read_column(values, parameter, name=name or f"{default_name}_{position}", **about_missing)
            for position, (name, values) in enumerate(containers.split_table(data, parameter))
        )
    if not columns:
        raise ParameterError(f"{parameter} has no columns: pass at least one.")
    containers.check_names([column.name for column in columns], parameter)
    containers.check_lengths({column.name: len(column) for column in columns}, parameter)
    for column in columns:
        check_level_count(column, parameter, few=few)
    return columns


def read_groups(
    sensitive_features: Any, control_features: Any, *, few: bool = True, **about_missing: Any
) -> tuple[tuple[Column, ...], tuple[Column, ...]]:
    """Read the groups and the strata of people."""
    name = "sensitive_features"
    sensitive = read_columns(sensitive_features, name, default_name="sensitive_feature", few=few, **about_missing)
    if few:
        warn_of_many(sensitive)
    if control_features is None:
        return sensitive, ()
    return sensitive, read_columns(control_features, "control_features", default_name="control_feature")


def named_unknown(column: Column) -> Column:
    """A column in which missing values are a level of their own, with a name that no other one has.

    Examples
    --------
    >>> named_unknown(read_column(["f", None, "m"], "sex", missing=True)).levels
    ('f', 'm', 'unknown')
    >>> named_unknown(read_column(["f", None, "Unknown"], "sex", missing=True)).levels
    ('(unknown)', 'Unknown', 'f')
    """
    if not (column.codes < 0).any():
        return column
    name, taken = UNKNOWN, {level.casefold() for level in column.levels if isinstance(level, str)}
    while name in taken:
        name = f"({name})"
    levels = sort_levels({*column.levels, name})
    codes = np.where(column.codes < 0, levels.index(name), column.among(levels).codes)
    return replace(column, levels=tuple(levels), codes=small(codes, len(levels)))


def check_level_count(column: Column, parameter: str, *, few: bool = True) -> None:
    """Warn of values that look alike; if `few`, more than 200 values, or 20 numbers, are an error."""
    count, numbers = len(column.levels), sum(not isinstance(level, str) for level in column.levels)
    if few and numbers > WARN_GROUPS and not column.categorical:
        raise ParameterError(
            f"{parameter}: column {column.name!r} has {numbers:,} different numbers, more than {WARN_GROUPS}. Use "
            "CorrelationFairnessTest for a quantity such as age, group its values (for example with pandas.cut), or "
            "write numbers that are names as text ('site 7', .astype(str))."
        )
    if few and count > MAX_GROUPS:
        raise ParameterError(
            f"{parameter}: column {column.name!r} has {count:,} distinct values, more than "
            f"{MAX_GROUPS}. Group the values, or compare one group with everyone else: pass column == value."
        )
    if alike := near_duplicates(column.levels):
        warn(
            f"{parameter}: values of column {column.name!r} differ only by case, space or Unicode form ({alike}), and "
            "count as different groups: write each group in one way, unless they are different"
        )


def warn_of_many(columns: Iterable[Column]) -> None:
    """Warn of sensitive features with more than 20 values."""
    for column in columns:
        if len(column.levels) > WARN_GROUPS:
            warn(
                f"sensitive_features: column {column.name!r} has {len(column.levels)} distinct values. Many groups "
                "leave few people in each and many comparisons to correct for. Consider grouping the values."
            )


def check_same_people(named: Mapping[str, Any], *, by_position: bool = False) -> None:
    """Check that arguments are about the same people in the same order.

    Examples
    --------
    >>> y_true, y_pred = read_column([0, 1], "y_true"), read_column([0, 1, 1], "y_pred")
    >>> check_same_people({"y_true": y_true, "y_pred": y_pred})
    Traceback (most recent call last):
    ...
    skfairtest._utils.errors.ParameterError: y_true and y_pred have different lengths, 2 and 3: ...
    """
    people = [
        described
        for parameter, values in named.items()
        if values is not None and not (isinstance(values, tuple) and values == ())
        for described in _describe_people(parameter, values)
    ]
    for parameter, length, _ in people[1:]:
        if length != people[0][1]:
            raise ParameterError(
                f"{people[0][0]} and {parameter} have different lengths, {people[0][1]:,} and "
                f"{length:,}: pass one value per person in each, for the same people."
            )
    labels = {name: named[name] for name in LABELS if isinstance(named.get(name), Column)}
    check_vocabularies({name: column.levels for name, column in labels.items()}, people[0][1])
    checked: list[tuple[str, pd.Index[Any]]] = []
    for parameter, _, index in people:
        if index is None or any(index is other for _, other in checked):
            continue
        for other_parameter, other in checked:
            _check_aligned(other_parameter, other, parameter, index, by_position)
        checked.append((parameter, index))


def _describe_people(parameter: str, values: Any) -> "list[tuple[str, int, pd.Index[Any] | None]]":
    if isinstance(values, Column | Numbers):
        return [(parameter, len(values), values.index)]
    if isinstance(values, (list, tuple)) and values and isinstance(values[0], Column):
        if len(values) == 1:
            return _describe_people(parameter, values[0])
        return [(f"{parameter}[{c.name!r}]", len(c), c.index) for c in values]
    index = values.index if isinstance(values, (pd.Series, pd.DataFrame)) else None
    shape = getattr(values, "shape", None)  # sparse matrices have no length
    return [(parameter, int(shape[0]) if shape else len(values), index)]


def _check_aligned(first: str, index: "pd.Index[Any]", second: str, other: "pd.Index[Any]", by_position: bool) -> None:
    if index.equals(other):
        return
    if type(index) is not type(other) or index.dtype != other.dtype:
        # Labels of different kinds are compared one by one: pandas would convert them, or refuse.
        index, other = (
            labels.to_flat_index() if isinstance(labels, pd.MultiIndex) else labels.astype(object)
            for labels in (index, other)
        )
    shared = index.isin(other)
    if by_position and shared.any():
        return
    if not shared.any():
        if any(labels.equals(pd.RangeIndex(len(labels))) for labels in (index, other)):  # says nothing about people
            return
        found = "share no label"
    elif shared.all() and other.isin(index).all():
        found = "hold the same labels in another order"
    else:
        found = f"share {int(shared.sum()):,} of {len(index):,} labels, but not all"
    raise ParameterError(
        f"{first} and {second} have pandas indexes that {found}: align them (for example with "
        ".loc or .reindex) or pass arrays (.to_numpy()) if the order is right as it is."
    )


MAX_LABELS = 1000
# Where 1 is positive by convention; booleans are equal to 0 and 1.
_STANDARD_PAIRS = (frozenset({0, 1}), frozenset({-1, 1}))


def _scores_message(subject: str, labels: Iterable[Any]) -> str:
    return (
        f"{subject} looks like scores, not labels: it has values such as "
        f"{listed(filter(is_fraction, labels), 3)}. Turn scores into decisions first (for "
        "example scores >= 0.5, or prediction_threshold=0.5), or pass them as y_score to a "
        "metric that takes scores, such as 'roc_auc'."
    )


def check_labels(column: Column, parameter: str) -> None:
    """Check that a column holds labels rather than scores.

    Examples
    --------
    >>> from skfairtest.readers import read_column
    >>> check_labels(read_column([0.2, 0.9], "y_pred"), "y_pred")
    Traceback (most recent call last):
    ...
    skfairtest._utils.errors.ParameterError: y_pred looks like scores, not labels: it has values such as 0.2, 0.9. ...
    """
    if any(map(is_fraction, column.levels)):
        raise ParameterError(_scores_message(parameter, column.levels))
    if len(column.levels) > MAX_LABELS:
        raise ParameterError(
            f"{parameter} has {len(column.levels):,} distinct values, more than {MAX_LABELS}: they cannot be class "
            "labels. Pass scores as y_score, or use a metric of numbers, such as 'mean_squared_error'."
        )


def resolve_pos_label(labels: Iterable[Any], pos_label: Any = None, classes: Sequence[Any] | None = None) -> Any:
    """Decide which label counts as positive, without guessing.

    Examples
    --------
    >>> resolve_pos_label([0, 1])
    1
    >>> resolve_pos_label(["granted", "denied"], "granted")
    'granted'
    """
    labels = [plain_scalar(label) for label in labels]
    seen = sort_levels(unify_numbers(dict.fromkeys(labels), map(type, labels)))
    if not seen:
        raise ParameterError("y_pred holds no label")
    if any(map(is_fraction, seen)):
        raise ParameterError(_scores_message("y_true or y_pred", seen))
    known = list(classes) if classes is not None and len(classes) == 2 else []
    if not set(known).issuperset(seen):
        known = []
    pairs = [pair for pair in _STANDARD_PAIRS if pair.issuperset(seen) and pair.issuperset(known)]
    if pos_label is not None:  # of more than two labels: one against the others
        for label in [*seen, *known, *sort_levels(frozenset().union(*pairs))]:
            if is_label(label, pos_label):
                return label
        raise ParameterError(f"pos_label={brief(pos_label)} is not among the labels, which are {listed(seen)}.")
    if len(seen) > 2:
        raise ParameterError(
            f"pos_label is needed: there are {len(seen)} labels, {listed(seen)}: pass the one to compare with the "
            "others, or use a metric that needs no positive label, such as 'accuracy'."
        )
    if pairs:
        return next((label for label in seen if label == 1), 1)
    either = " or ".join(f"pos_label={label!r}" for label in known or seen) if len(known or seen) > 1 else "pos_label"
    raise ParameterError(
        f"pos_label is needed: the labels are {listed(known or seen)}, and nothing says which of them "
        f"counts as positive: pass {either}."
    )


def is_fraction(label: Any) -> bool:
    """Whether a label is a number that is not whole, as scores are."""
    return isinstance(label, float) and not label.is_integer()


def _type_of(label: Any) -> str:
    if isinstance(label, str):
        return "text"
    return "a number" if number_kind(type(label)) else "bytes" if isinstance(label, bytes) else "another value"


def _spelling(label: Any) -> str:
    """A label without case, surrounding space, invisible characters and Unicode form."""
    text = label if isinstance(label, str) else str(unify_numbers([label], (int, float))[0])
    if not text.isascii():
        text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
        kinds = ((letter, unicodedata.category(letter)) for letter in text)
        text = "".join("-" if kind == "Pd" else letter for letter, kind in kinds if kind != "Cf")
    return " ".join(text.casefold().split())


def near_duplicates(labels: Iterable[Any]) -> str:
    """Name the labels that differ only by case, space or Unicode form; empty if there are none.

    Examples
    --------
    >>> (
    ...     near_duplicates(["Yes", "No", "yes "]),
    ...     near_duplicates(["1", 1]),
    ...     near_duplicates([1, 1.5]),
    ... )
    ("'Yes' and 'yes '", "'1' and 1", '')
    """
    labels = list(labels)
    if not any(isinstance(label, str) for label in labels):
        return ""
    alike: dict[str, list[Any]] = {}
    for label in labels:
        alike.setdefault(_spelling(label), []).append(label)
    pairs = [same for same in alike.values() if len(same) > 1][:SHOWN]
    # Composed and decomposed letters look the same.
    forms = [{unicodedata.normalize("NFC", str(label)) for label in same} for same in pairs]
    return ", ".join(
        " and ".join(map(repr if len(looks) == len(same) else ascii, same[:SHOWN]))
        for same, looks in zip(pairs, forms, strict=True)
    )


def check_vocabularies(
    labels: Mapping[str, Sequence[Any]], n_people: float = math.inf, *, all_classes: bool = False
) -> None:
    """Check that labels which are compared with each other can be equal; of `all_classes`, that two of them are.

    Examples
    --------
    >>> check_vocabularies({"y_true": ["no", "yes"], "y_pred": [0, 1]})
    Traceback (most recent call last):
    ...
    skfairtest._utils.errors.ParameterError: y_true holds 'no', 'yes' and y_pred holds 0, 1: text never equals a ...
    >>> check_vocabularies({"y_true": [0, 1], "y_pred": [-1, 1]}, all_classes=True)
    Traceback (most recent call last):
    ...
    skfairtest._utils.errors.ParameterError: y_true holds 0, 1 and y_pred holds -1, 1: these are not the same ...
    """
    compared = next(iter(labels), None)
    labels = {name: levels for name, levels in labels.items() if levels and not any(map(is_fraction, levels))}
    pairs = [(*mine, *its) for mine, its in combinations(labels.items(), 2) if {*mine[1]} != {*its[1]}]

    def check(condition: bool, first: str, second: str, why: str) -> None:
        if not condition:
            mine, its = (listed(labels[name], SHOWN) for name in (first, second))
            raise ParameterError(
                f"{first} holds {mine} and {second} holds {its}: {why}. Write both with the same labels"
            )

    for first, mine, second, its in pairs:
        types, others = {_type_of(label) for label in mine}, {_type_of(label) for label in its}
        ratings = second == "y_judge" and others == {"a number"} and len(its) > 2
        check(bool(types & others) or ratings, first, second, f"{max(types)} never equals {max(others)}")
    if alike := near_duplicates(dict.fromkeys(label for levels in labels.values() for label in levels)):
        raise ParameterError(
            f"{', '.join(labels)}: the labels {alike} differ only by case, space or Unicode form, and would count "
            "as different: write each label in one way"
        )
    for first, mine, second, its in pairs:
        together, shared = {*mine, *its}, bool({*mine} & {*its})
        texts = all(isinstance(label, str) for label in together)
        if all_classes:
            same = first != compared or (shared and not len(mine) == len(its) == 2)
        else:
            same = shared or not texts or first == "y_pred_a" or n_people < 2 * len(together)
        check(len(together) <= 2 or same, first, second, "these are not the same classes")


def check_classes(labels: Sequence[Any], classes: Sequence[Any] | None, pos_label: Any) -> None:
    """Check that a model's classes are those of the true labels.

    Examples
    --------
    >>> check_classes([1, 2], [0, 1], 1)
    Traceback (most recent call last):
    ...
    skfairtest._utils.errors.ParameterError: y_true holds 1, 2 and classes_ of the estimator holds 0, 1: these are ...
    """
    name = "classes_ of the estimator"
    if classes is None or len(classes) < 2:  # trained on people of one label
        return
    if labels:
        check_vocabularies({"y_true": labels, name: classes}, all_classes=True)
    if pos_label is not None and not any(is_label(label, pos_label) for label in classes):
        raise ParameterError(
            f"pos_label={brief(pos_label)} is not among the {name}, {listed(classes, SHOWN)}: the model never predicts "
            "it"
        )
