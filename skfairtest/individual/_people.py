"""Who is tested: the same people in every argument, and which of them have to be left out."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from skfairtest._utils.errors import ParameterError, warn
from skfairtest._utils.text import pluralize
from skfairtest._utils.typing import Floats
from skfairtest.individual._parameters import spread_of
from skfairtest.individual.flow.quadratic import Ranges
from skfairtest.individual.models.coded import read_coded
from skfairtest.individual.models.features import Features
from skfairtest.readers import Column, Numbers, check_rows, one_column, read_column, read_columns, read_values

#: People to whom distances are measured.
NEIGHBOURS = 2000
#: The way of those who are kept back is tried in so many parts.
PARTS = 16
#: A hypothetical person is unusual if no more than this share of real people are farther from everybody else.
UNUSUAL = 0.01
#: A column of whose variance others explain this share is nearly a function of them.
DETERMINED, _RIDGE = 0.99, 1e-9
#: Columns whose standard deviations differ by more than this factor have other units.
SPREAD = 100


@dataclass(frozen=True)
class People:
    """The people of a test.

    Parameters
    ----------
    features : Features
        Their features, none of them missing.
    y_true : Column or Numbers
        Their true labels or targets.
    sensitive : tuple of Column
        Their sensitive features; may be none.
    names : ndarray of shape (n_samples,)
        The labels of their rows, or their positions, in what the caller passed.
    excluded : DataFrame
        Who was left out, and why.
    """

    features: Features
    y_true: Column | Numbers
    sensitive: tuple[Column, ...]
    names: NDArray[Any]
    excluded: pd.DataFrame


def people_of(X: Any, y: Any, sensitive_features: Any, *, numbers: bool, estimator: Any = None) -> People:
    """Read the people, the same number in every argument; leave out, with a warning, those with a missing feature.

    Parameters
    ----------
    X, y, sensitive_features : object
        As the caller passed them.
    numbers : bool
        Whether y holds numbers; otherwise labels.
    estimator : object
        The fitted model, whose encoders say what is a category.

    Raises
    ------
    ValueError
        If something is not usable, lengths differ, or fewer than two people are left.
    """
    if y is None:
        raise ParameterError("y is missing: an unfair example is where the model's error for the true label is larger")
    features, y = read_coded(X, estimator), one_column(y, warned=True)
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
        raise ParameterError("X has a missing value in every row: nobody is left to test. Impute before the test.")
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
    return People(features, y_true, sensitive, names, excluded)


def outside_ranges(values: Floats, unfair: Floats) -> tuple[int, NDArray[np.bool_], float]:
    """The number of features that left their observed range, those people, and how far, in lengths of that range.

    Examples
    --------
    >>> outside_ranges(np.array([[0.0, 0.0], [1.0, 2.0]]), np.array([[0.5, 0.0], [1.0, 8.0]]))
    (1, array([False,  True]), 3.0)
    """
    low, high = values.min(axis=0), values.max(axis=0)
    length = np.where(high > low, high - low, 1.0)
    excess = np.maximum(unfair - high, low - unfair) / length
    beyond = excess > 1e-9
    return int(beyond.any(axis=0).sum()), beyond.any(axis=1), float(max(excess.max(), 0.0))


@dataclass(frozen=True)
class Neighbours:
    """Real people, and how far each is from the nearest other one: what is unusual in all features together.

    Parameters
    ----------
    values : ndarray of shape (n_neighbours, d)
        People, in the units of X.
    scale : ndarray of shape (d,) or None
        Units of the distances.
    tree : NearestNeighbors
        The people, in these units.
    apart : ndarray of shape (n_neighbours,)
        Their distances to the nearest other person, in increasing order.

    Examples
    --------
    >>> values = np.array([[0.0], [1.0], [3.0], [6.0]])
    >>> people = Neighbours.of(values, None, np.arange(4))
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
    def of(cls, values: Floats, scale: Floats | None, order: NDArray[np.intp]) -> Self | None:
        """Return the neighbours of everybody; None if all people are alike.

        Parameters
        ----------
        values : ndarray of shape (n, d)
            People, in the units of X.
        scale : ndarray of shape (d,) or None
            Units of the audit.
        order : ndarray of int
            People in an order that does not depend on that of their rows: at most `NEIGHBOURS` of them, evenly spread
            over it, are those whom distances are measured to. People with the same features count once.
        """
        from sklearn.neighbors import NearestNeighbors  # here, as importing it takes time

        order = order[np.sort(np.unique(values[order], axis=0, return_index=True)[1])]
        if len(order) < 2:
            return None
        some = values[order[np.unique(np.linspace(0, len(order) - 1, NEIGHBOURS).astype(int))]]
        tree = NearestNeighbors(n_neighbors=2).fit(some if scale is None else some / scale)
        return cls(some, scale, tree, np.sort(tree.kneighbors(n_neighbors=1)[0][:, 0]))

    def distances(self, x: Floats, x0: Floats) -> Floats:
        """The distance of people from the nearest person who is not the one they were made of, x0."""
        distances, who = self.tree.kneighbors(x if self.scale is None else x / self.scale)
        same = (self.values[who[:, 0]] == x0).all(axis=1)
        found: Floats = np.where(same, distances[:, 1], distances[:, 0])
        return found

    def plausibility(self, distances: Floats) -> Floats:
        """Return the share of real people who are farther from everybody else."""
        shares: Floats = 1 - np.searchsorted(self.apart, distances, side="right") / len(self.apart)
        return shares

    def kept(
        self, places: list[Floats], least: float, possible: Callable[[Floats, NDArray[np.intp]], Floats]
    ) -> tuple[list[Floats], NDArray[np.bool_]]:
        """Return people at every checkpoint of a path that ends where nobody is too unusual.

        Who would end as unusual as less than a share `least` of real people, and more unusual than at the start, goes
        only that part of the straight way from the start, in sixteenths, where this is not so.

        Parameters
        ----------
        places : list of ndarray of shape (n, d)
            Where people are, in the units of X: at the start, and at every checkpoint.
        least : float
            The share; 0 keeps nobody back.
        possible : callable
            ``possible(x, people)``: the possible people nearest to points, each of one of these people.

        Returns
        -------
        places : list of ndarray of shape (n, d)
            Where they are then.
        held : ndarray of bool, shape (n,)
            Who was kept back.
        """
        start, end = places[0], places[-1]
        held = np.zeros(len(start), dtype=bool)
        moved = np.flatnonzero((end != start).any(axis=1))
        if not least or not len(moved):
            return places, held

        def unusual(x: Floats, people: NDArray[np.intp]) -> NDArray[np.bool_]:
            apart, own = self.distances(x, start[people]), self.distances(start[people], start[people])
            return np.asarray((self.plausibility(apart) <= least) & (apart > own))

        some = moved[unusual(end[moved], moved)]
        held[some] = True
        if not len(some):
            return places, held
        people, ends = np.tile(some, len(places)), np.concatenate([place[some] for place in places])
        found, far = ends.copy(), np.arange(len(ends))
        for part in np.arange(PARTS - 1, -1, -1) / PARTS:
            far = far[unusual(found[far], people[far])]
            if not len(far):
                break
            origin = start[people[far]]
            found[far] = possible(origin + part * (ends[far] - origin), people[far])
        kept = [place.copy() for place in places]
        for place, there in zip(kept, np.split(found, len(places)), strict=True):
            place[some] = there
        return kept, held


def functions_of_others(features: Features, ranges: Ranges) -> list[str]:
    """Return the names of columns of numbers that are nearly functions of other columns, and do not follow them.

    Sums are found by a regression of each column on the others, products and ratios by one of logarithms.
    """
    held = [*ranges.levels, *ranges.derived, *(column for block in ranges.blocks for column in block)]
    columns = np.setdiff1d(np.flatnonzero(~ranges.frozen & (spread_of(features.values) > 0)), held)
    values = features.values[:, columns]
    positive = (values > 0).all(axis=0)
    found = set(columns[_determined(values)].tolist())
    found |= set(columns[positive][_determined(np.log(values[:, positive]))].tolist())
    return [features.names[column] for column in sorted(found)]


def _determined(values: Floats) -> NDArray[np.bool_]:
    """Whether the other columns explain nearly all of a column's variance, given how many they are."""
    n, d = values.shape
    if d < 2 or n <= 2 * d:
        return np.zeros(d, dtype=bool)
    scaled = (values - values.mean(axis=0)) / spread_of(values)
    # The reciprocal of a diagonal element is the share of variance that is left.
    inverse = np.linalg.inv(scaled.T @ scaled / n + _RIDGE * np.eye(d))
    left: NDArray[np.bool_] = (n - 1) / (n - d) / np.diag(inverse) <= 1 - DETERMINED
    return left


def warn_of_units(features: Features, frozen: NDArray[np.bool_]) -> None:
    """Warn that distances add up features of different units."""
    spread = spread_of(features.values)
    # Of 0 and 1 the spread says how rare they are, and nothing of their unit.
    marks = np.isin(features.values, (0.0, 1.0)).all(axis=0)
    compared = np.flatnonzero((spread > 0) & ~frozen & ~marks)
    if len(compared) < 2:
        return
    small, large = compared[np.argmin(spread[compared])], compared[np.argmax(spread[compared])]
    if spread[large] > SPREAD * spread[small]:
        warn(
            f"X has features of very different units: the standard deviation of {features.names[large]!r} is "
            f"{spread[large]:.3g}, of {features.names[small]!r} {spread[small]:.3g}, and distances and steps add them "
            "up. Use feature_scale='std'"
        )
