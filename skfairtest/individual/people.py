"""The people tested, their neighbours, their order and their folds.

Folds depend on people's values alone. People with the same features and label share a fold, so that no fair metric is
learned from a copy of the person it is tested on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from skfairtest._utils.checks import finite_numbers
from skfairtest._utils.errors import ParameterError, warn
from skfairtest._utils.text import pluralize
from skfairtest._utils.typing import Floats
from skfairtest.individual.features import Features, read_features
from skfairtest.individual.flow import Ranges
from skfairtest.readers import Column, Numbers, check_rows, one_column, read_column, read_columns, read_values

#: People to whom distances are measured.
NEIGHBOURS = 2000
#: The way of those who are kept back is tried in this many parts.
PARTS = 16
#: A hypothetical person is too unusual if no more than this share of real people are farther from all others.
UNUSUAL = 0.01
#: A column of so few values, each of this many people on average, has levels.
MOST_LEVELS, PEOPLE_PER_LEVEL = 20, 5


@dataclass(frozen=True)
class People:
    """The people of a test, in an order that depends on their values, so that sums are equal to the last digit."""

    features: Features
    y_true: Column | Numbers
    codes: Floats
    sensitive: tuple[Column, ...]
    names: NDArray[Any]
    excluded: pd.DataFrame
    order: NDArray[np.intp]
    ranks: NDArray[np.intp]

    def folds(self, n_folds: int) -> NDArray[np.intp]:
        """The fold of every person; fewer folds if there are fewer distinct people."""
        distinct = int(self.ranks.max()) + 1
        if distinct < 2:
            raise ParameterError(
                f"X and y are the same for all {len(self.ranks):,} people, so that no fair metric can be learned from "
                "them: pass one that was fitted on other people"
            )
        return self.ranks % min(n_folds, distinct)


def people_of(X: Any, y: Any, sensitive_features: Any, *, numbers: bool, estimator: Any = None) -> People:
    """Read the people, the same number in every argument; leave out, with a warning, those with a missing feature."""
    if y is None:
        raise ParameterError("y is missing: an unfair example is where the model's error for the true label is larger")
    features, y = read_features(X, estimator, categories=True), one_column(y, warned=True)
    y_true: Column | Numbers = read_values(y, "y") if numbers else read_column(y, "y", name="y")
    sensitive: tuple[Column, ...] = ()
    if sensitive_features is not None:
        sensitive = read_columns(sensitive_features, "sensitive_features", default_name="sensitive_feature")
    check_rows(X, y=y_true, sensitive_features=sensitive)
    names = np.asarray(features.index if features.index is not None else np.arange(len(features)))
    missing = np.isnan(features.values)
    incomplete = np.asarray(missing.any(axis=1))
    lacking = [(name, missing[:, columns[0]]) for name, columns in features.groups]
    reasons = [
        f"missing: {', '.join(name for name, where in lacking if where[row])}" for row in np.flatnonzero(incomplete)
    ]
    excluded = pd.DataFrame({"person": names[incomplete], "reason": reasons})
    if incomplete.all():
        raise ParameterError("X has a missing value in every row: no one is left to test. Impute before the test.")
    if incomplete.any():
        warn(
            f"X has missing values: {pluralize(len(excluded), 'person', 'people')} left out, see excluded_: it is not "
            "known which people are similar to them. Impute before the test to keep them."
        )
        kept = ~incomplete
        features, y_true, names = features.take(kept), y_true.take(kept), names[kept]
        sensitive = tuple(column.take(kept) for column in sensitive)
    if len(names) < 2:
        raise ParameterError(f"X has {pluralize(len(names), 'sample')}: a standard error needs at least 2 people")
    codes = np.asarray(y_true.codes if isinstance(y_true, Column) else y_true.values, dtype=float)
    groups = [column.codes for column in sensitive]
    places = ranks(features.values, codes)
    order = np.lexsort((*features.values.T, *groups, codes, places))
    sensitive = tuple(column.take(order) for column in sensitive)
    ordered = features.take(order), y_true.take(order), codes[order], sensitive, names[order]
    return People(*ordered, excluded, order, places[order])


@dataclass(frozen=True)
class Neighbours:
    """People of the data and the distance of each to its nearest neighbour, a scale for unusual feature values.

    Examples
    --------
    >>> values = np.array([[0.0], [1.0], [3.0], [6.0]])
    >>> people = Neighbours.of(values, None)
    >>> people.plausibility(
    ...     people.distances(np.array([[0.5], [1.0], [1.5], [60.0]]), values)
    ... ).tolist()
    [1.0, 0.5, 1.0, 0.0]
    """

    values: Floats
    scale: Floats | None
    tree: Any
    apart: Floats

    @classmethod
    def of(cls, values: Floats, scale: Floats | None) -> Self | None:
        """Return each person's neighbours; None if all people are alike."""
        from sklearn.neighbors import NearestNeighbors  # here, as importing it takes time

        order = np.sort(np.unique(values, axis=0, return_index=True)[1])
        if len(order) < 2:
            return None
        some = values[order[np.unique(np.linspace(0, len(order) - 1, NEIGHBOURS).astype(int))]]
        tree = NearestNeighbors(n_neighbors=2).fit(some if scale is None else some / scale)
        return cls(some, scale, tree, np.sort(tree.kneighbors(n_neighbors=1)[0][:, 0]))

    def distances(self, x: Floats, x0: Floats) -> Floats:
        """Distances to the nearest person other than `x0`, the person each example was made from."""
        if not len(x):
            return np.empty(0)
        distances, who = self.tree.kneighbors(x if self.scale is None else x / self.scale)
        same = (self.values[who[:, 0]] == x0).all(axis=1)
        return np.asarray(np.where(same, distances[:, 1], distances[:, 0]))

    def plausibility(self, distances: Floats) -> Floats:
        """Return the share of real people who are farther from all others."""
        shares: Floats = 1 - np.searchsorted(self.apart, distances, side="right") / len(self.apart)
        return shares

    def unusual(self, distances: Floats, own: Floats) -> NDArray[np.bool_]:
        """Whether people at such distances are too unusual, and more so than at the start."""
        return np.asarray((self.plausibility(distances) <= UNUSUAL) & (distances > own))

    def keep(self, places: list[Floats], nearest: Callable[[Floats, NDArray[np.intp]], Floats]) -> NDArray[np.bool_]:
        """Move people only part of the way, so that few become more unusual than a share `UNUSUAL` of real people."""
        start, last, units = places[0], places[-1], 1.0 if self.scale is None else self.scale
        some, apart, own = np.flatnonzero((last != start).any(axis=1)), np.zeros(len(last)), np.zeros(len(last))
        for known, place in ((apart, last), (own, start)):
            known[some] = self.distances(place[some], start[some])
            some = some[self.unusual(apart[some], own[some])]
        far, kept = some, last.copy()
        for part in np.arange(PARTS - 1, -1, -1) / PARTS:
            kept[far] = nearest(start[far] + part * (last[far] - start[far]), far)
            far = far[self.unusual(self.distances(kept[far], start[far]), own[far])]
        limit = np.linalg.norm((kept[some] - start[some]) / units, axis=1)
        for place in places:
            beyond = some[np.linalg.norm((place[some] - start[some]) / units, axis=1) >= limit]
            place[beyond] = kept[beyond]
        return np.isin(np.arange(len(start)), some)


def ranks(values: NDArray[np.float64], truth: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the rank of every person in an order that does not depend on the order of rows; equal people share a rank.

    Examples
    --------
    >>> ranks(
    ...     np.array([[1.0, 5.0], [0.0, 7.0], [1.0, 5.0]]), np.array([0.0, 1.0, 0.0])
    ... ).tolist()
    [0, 1, 0]
    """
    kinds: dict[tuple[int, ...], list[NDArray[np.intp]]] = {}
    truth_codes = np.unique(truth, return_inverse=True)[1].reshape(-1)
    for column in values.T:
        _, codes, counts = np.unique(column, return_inverse=True, return_counts=True)
        codes = codes.reshape(-1)
        # A unit may be negative: a column is counted from the end at which the truth is small. Products may be long.
        long = len(codes) * int(codes.max()) * int(truth_codes.max()) >= 2**63
        product = int((codes.astype(object) * truth_codes).sum() if long else codes @ truth_codes)
        if len(codes) * product < int(codes.sum()) * int(truth_codes.sum()):
            codes, counts = len(counts) - 1 - codes, counts[::-1]
        kinds.setdefault(tuple(counts.tolist()), []).append(codes)
    # Columns whose values occur equally often are told apart by their order only: a person's are sorted instead.
    blocks = [np.sort(np.stack(kinds[kind], axis=1), axis=1) for kind in sorted(kinds)]
    keys = np.column_stack([*blocks, truth_codes])
    _, places = np.unique(keys, axis=0, return_inverse=True)
    return np.asarray(places.reshape(-1), dtype=np.intp)


def ranges_of(given: Any, features: Features) -> Ranges:
    """Read `feature_ranges`."""
    d = len(features.names)
    low, high, frozen = np.full(d, -np.inf), np.full(d, np.inf), np.zeros(d, dtype=bool)
    if isinstance(given, str) and given == "free":
        return Ranges(low, high, frozen, features.blocks)
    if isinstance(given, str) and given == "observed":
        given = {}
    if not isinstance(given, Mapping):
        raise ParameterError(
            "feature_ranges must be 'observed', 'free', or map features to (low, high), 'free' or 'frozen'; found "
            f"{given!r}"
        )
    named = features.positions(given, "feature_ranges")
    for key, value in given.items():
        where, columns = f"feature_ranges[{key!r}]", list(features.columns_of(key, "feature_ranges"))
        if isinstance(value, str) and value == "frozen":
            frozen[columns] = True
        elif len(columns) > 1:
            raise ParameterError(f"{where} is a category: the only setting it can have is 'frozen'; found {value!r}")
        elif not (isinstance(value, str) and value == "free"):
            try:
                low[columns], high[columns] = (float(limit) for limit in value)
            except (TypeError, ValueError):
                raise ParameterError(f"{where} must be (low, high), 'free' or 'frozen'; found {value!r}") from None
            least, most, column = low[columns[0]], high[columns[0]], features.values[:, columns[0]]
            if not least < most:
                raise ParameterError(f"{where}: the lower limit {least:g} is not below the upper limit {most:g}")
            outside = (column < least) | (column > most)
            if outside.any():
                raise ParameterError(
                    f"{where} is from {least:g} to {most:g}, and {int(outside.sum()):,} of {len(column):,} people "
                    f"start outside, for instance at {column[outside][0]:g}: widen the range, or test the people inside"
                )
    rest = np.setdiff1d(np.arange(d), [*named, *(column for block in features.blocks for column in block)])
    found = [*(block for block in features.blocks if not frozen[block[0]]), *choices(features.values, rest)]
    levels = {}
    for column in np.setdiff1d(rest, [column for block in found for column in block]).tolist():
        values = np.unique(features.values[:, column])
        if len(values) <= min(MOST_LEVELS, len(features) / PEOPLE_PER_LEVEL):
            levels[column] = values
        else:
            low[column], high[column] = values[0], values[-1]
    return Ranges(low, high, frozen, tuple(found), levels)


def choices(values: Floats, columns: NDArray[np.intp]) -> list[tuple[int, ...]]:
    """The blocks of neighbouring columns of zeros and ones that sum to 1 in every row.

    Examples
    --------
    >>> values = np.array([[1.0, 0.0, 0.0, 1.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0]])
    >>> choices(values, np.arange(4))
    [(0, 1, 2)]
    """
    blocks: list[tuple[int, ...]] = []
    run: list[int] = []
    for column in columns[np.isin(values[:, columns], (0.0, 1.0)).all(axis=0)].tolist():
        run = [*run, column] if run and run[-1] == column - 1 else [column]
        total = values[:, run].sum(axis=1)
        if total.max() > 1:
            run = [column]
        elif len(run) > 1 and (total == 1).all():
            blocks.append(tuple(run))
            run = []
    return blocks


def scale_of(given: Any, features: Features, ranges: Ranges) -> Floats | None:
    """Read `feature_scale`: the size of one unit of the audit in each feature."""
    if given is None:
        return None
    if isinstance(given, str) and given == "std":
        varies = np.ptp(features.values, axis=0) > 0
        scale = np.where(varies, features.values.std(axis=0), 1.0)
        for block in ranges.blocks:
            share = features.values[:, block].mean(axis=0)
            scale[list(block)] = np.where(share > 0, np.sqrt(share), 1.0)
        return scale
    scale = finite_numbers(given)
    if len(scale) != len(features.names) or not (scale > 0).all():
        raise ParameterError(
            f"feature_scale must be None, 'std', or one finite number above 0 for each of the {len(features.names)} "
            f"features; found {given!r}"
        )
    return scale
