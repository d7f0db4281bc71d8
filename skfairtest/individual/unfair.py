"""Everybody's unfair example: blocks of people, each moved by the same map.

A flow moves a category's shares, and may end at the level where a person was, although another level is free and worse.
So levels that cost no fair distance are tried before anybody is moved, and everybody is moved from the worst.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from skfairtest._utils.typing import Floats
from skfairtest.individual.features import Features
from skfairtest.individual.flow import Quadratic, Ranges, euler, implicit
from skfairtest.individual.model import Model, Truth
from skfairtest.individual.people import Neighbours

#: People who are moved together; by a torch module so many times more.
BLOCK, TENSORS = 2500, 16
#: Where the path is looked at on the way.
LOOKS = 25
#: Steps of a search. Slopes of what has no derivative are differences to both sides over so many units, standard
#: deviations by default: the first that are not 0.
SEARCHING, WIDTHS = 25, (0.25, 0.5, 1.0)


@dataclass(frozen=True)
class Starts:
    """Where people start, and the truth that the model's outputs are compared with.

    Parameters
    ----------
    x, z : ndarray of shape (n, n_features)
        Their features, in the units of X and in those of the audit.
    truth : Truth
        Their true labels or targets.
    """

    x: Floats
    z: Floats
    truth: Truth

    def take(self, people: Any) -> Starts:
        """Return those of some people."""
        return Starts(self.x[people], self.z[people], self.truth.take(people))


@dataclass(frozen=True)
class Flow:
    """How people are moved.

    Parameters
    ----------
    solver : str
        "implicit", "euler", or "search": implicit, with wide differences.
    steps : ndarray of shape (n_steps,)
        Step sizes.
    regularization : float
        Weight of the squared fair distance.
    ranges : Ranges
        Who is possible.
    checkpoints : ndarray of int
        Numbers of steps after which losses are recorded; the last is all of them.
    neighbours : Neighbours or None
        Real people; None if nobody has to be possible.
    keeps : bool
        Whether the result is the worst point on the way, and not its end.
    """

    solver: str
    steps: Floats
    regularization: float
    ranges: Ranges
    checkpoints: NDArray[np.intp]
    neighbours: Neighbours | None = None
    keeps: bool = False

    def path(self, model: Model, parts: list[tuple[Quadratic, slice]], starts: Starts) -> Iterator[Floats]:
        """Yield where a block of people is at every checkpoint; parts of it have a fair metric each."""
        network, gradient = model.network, model.gradient(starts.truth)
        array = np.asarray if network is None else network.tensor
        rest: dict[str, Any] = {
            "steps": self.steps,
            "regularization": self.regularization,
            "checkpoints": self.checkpoints,
        }
        moves, which = np.empty_like(starts.z), np.empty(len(starts.z), dtype=np.intp)
        for place, (metric, rows) in enumerate(parts):
            moves[rows], which[rows] = model.movable * metric.units**2, place
        moves = array(moves)  # in other units a gradient of the loss has their squares

        def uphill(x: Any, people: Any) -> Any:
            return gradient(x, people) * moves

        def times(matrices: list[Floats]) -> Callable[[Any], Any]:
            arrays = [(array(matrix), rows) for matrix, (_, rows) in zip(matrices, parts, strict=True)]

            def product(v: Any) -> Any:
                out = 1 * v
                for matrix, rows in arrays:
                    out[rows] = v[rows] @ matrix
                return out

            return product

        direction: Callable[[Any, Any], Any] = uphill
        if self.solver == "euler":
            pull = times([metric.matrix for metric, _ in parts])
            points = euler(array(starts.z), uphill, lambda v: pull(v) * moves, **rest)
        else:
            reached = [metric.reachable(~model.movable, self.regularization) for metric, _ in parts]
            most = max(len(limits) for _, limits in reached)
            directions, limits = np.zeros((len(parts), most, starts.z.shape[1])), np.full((len(parts), most), np.inf)
            for place, (reach, far) in enumerate(reached):
                directions[place, : len(far)], limits[place, : len(far)] = reach, far
            tried = WIDTHS if self.solver == "search" else (model.step,)
            if self.solver == "search" or (
                model.way == "finite_differences" and (np.isinf(limits).all() or model.inputs.blocks)
            ):
                widths = [np.minimum(width, limits[which]) for width in tried]
                direction = model.gradient_along(starts.truth, directions, which, widths)
            points = implicit(
                array(starts.z), direction, lambda t: times([metric.shrinking(t) for metric, _ in parts]), **rest
            )
        yield from points if network is None else (point.cpu().double().numpy() for point in points)

    def possible(self, model: Model, starts: Starts, path: Iterator[Floats]) -> tuple[list[Floats], NDArray[np.bool_]]:
        """The start, the nearest possible people at every checkpoint in the units of X, and who is kept back."""
        places = [starts.x]
        for z in path:
            # What moved by rounding only did not move, and keeps its last digit, whatever it was divided by on the way.
            far = np.abs(z - starts.z)
            stays = far <= _FREE * far.max(axis=1, keepdims=True)
            places.append(np.where(stays, starts.x, self.ranges.nearest(model.in_units_of_X(z), starts.x)))
        if self.neighbours is None:
            return places, np.zeros(len(starts.x), dtype=bool)
        return self.neighbours.kept(places)


@dataclass(frozen=True)
class Moved:
    """Where people ended, and their losses on the way.

    Parameters
    ----------
    x : ndarray of shape (n, n_features)
        Unfair examples, in the units of X.
    losses : ndarray of shape (n, 1 + n_checkpoints)
        Losses at the start and at every checkpoint.
    judged : ndarray of shape (n, 1 + n_checkpoints)
        What is tested: whether predicted labels were wrong there, or the losses.
    distance : ndarray of shape (n,)
        Fair distance from the start.
    held : ndarray of bool, shape (n,)
        Who was kept back, because the end of the flow is too unusual.
    """

    x: Floats
    losses: Floats
    judged: Floats
    distance: Floats
    held: NDArray[np.bool_]


def checkpoints(n_steps: int) -> NDArray[np.intp]:
    """Return about `LOOKS` numbers of steps, evenly spread on a log scale, the last of them `n_steps`, which may be 0.

    Examples
    --------
    >>> checkpoints(10).tolist()
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
    """
    return np.unique(np.rint(np.geomspace(1, max(n_steps, 1), LOOKS)).astype(np.intp)) * min(n_steps, 1)


def move(
    model: Model, metrics: list[Quadratic], folds: NDArray[np.intp], flow: Flow, starts: Starts, worst: Starts,
    *, errors: bool,
) -> Moved:  # fmt: skip
    """Move everybody to their unfair example.

    Parameters
    ----------
    model : Model
        The model.
    metrics : list of Quadratic
        The fair metric of every fold.
    folds : ndarray of int, shape (n,)
        The fold of each person.
    flow : Flow
        How people are moved.
    starts, worst : Starts
        Everybody, and everybody at the free levels where their losses are largest, where the flow starts.
    errors : bool
        Whether predicted labels are tested.

    Returns
    -------
    Moved
        Everybody, in the order in which they came.
    """
    parts, size = [], BLOCK if model.network is None else TENSORS * BLOCK
    metrics = [metric.holding(~model.movable) for metric in metrics]
    order = np.argsort(folds, kind="stable")
    for people in np.split(order, range(size, len(order), size)):
        some, edges = worst.take(people), [*np.flatnonzero(np.diff(folds[people], prepend=-1)).tolist(), len(people)]
        of_fold = [(metrics[folds[people[low]]], slice(low, high)) for low, high in pairwise(edges)]
        places, held = flow.possible(model, some, flow.path(model, of_fold, some))
        ways = list(map(model.in_units_of_audit, places))
        losses = model.along_path(model.losses, ways, some.truth)
        wrong: Any = model.along_path(model.wrong, ways, some.truth) if errors else losses

        def distances(place: Floats) -> Floats:  # squared, from where the flow starts
            moves = place - ways[0]  # noqa: B023
            return np.concatenate([metric.squared_distance(moves[rows]) for metric, rows in of_fold])  # noqa: B023

        if flow.keeps:
            values = losses - flow.regularization * np.stack(list(map(distances, ways)), axis=1)
            for place in range(1, len(places)):
                better = values[:, place] > values[:, place - 1] + _SAME * np.abs(values[:, place - 1])
                for way in (places, ways):
                    way[place] = np.where(better[:, None], way[place], way[place - 1])
                for each in (values, losses, wrong):
                    each[:, place] = np.where(better, each[:, place], each[:, place - 1])
        parts.append((places[-1], losses, wrong, np.sqrt(distances(ways[-1])), held))
    back = np.argsort(order)
    x, losses, wrong, distance, held = (np.concatenate(each)[back] for each in zip(*parts, strict=True))
    losses[:, 0] = model.losses(starts.z, starts.truth)
    wrong[:, 0] = model.wrong(starts.z, starts.truth) if errors else losses[:, 0]
    return Moved(x, losses, wrong, distance, held)


#: Moves whose squared fair distance is below this share of their squared length are free, and rounding below it.
_FREE = 1e-9
#: Losses that differ by less than this share are one: sums of many trees differ in their last digits.
_SAME = 1e-10


def free_choices(
    ranges: Ranges, matrices: Sequence[Quadratic], values: Floats, scale: Floats | None
) -> list[tuple[list[int], Floats]]:
    """Return the categories, and columns of few values, whose levels cost no fair distance for anybody.

    Parameters
    ----------
    ranges : Ranges
        Who is possible.
    matrices : sequence of Quadratic
        The fair metric of every fold, in units of the audit.
    values : ndarray of shape (n, d)
        The people, in the units of X.
    scale : ndarray of shape (d,) or None
        Units of the audit.

    Returns
    -------
    list of (list of int, ndarray of shape (n_levels, n_columns))
        Columns, and the values that they take, in the units of X.
    """
    choices = [(list(block), np.eye(len(block))[(values[:, block] > 0).any(axis=0)]) for block in ranges.blocks]
    choices += [([column], levels[:, None]) for column, levels in ranges.levels.items()]
    free = []
    for columns, levels in choices:
        moves = np.zeros((len(levels), values.shape[1]))
        moves[:, columns] = levels - levels[0]
        moves /= 1.0 if scale is None else scale
        costs = max(matrix.squared_distance(moves).max() / max((moves**2).sum(), _FREE) for matrix in matrices)
        if len(levels) > 1 and not ranges.frozen[columns].any() and costs <= _FREE:
            free.append((columns, levels))
    return free


def worst_levels(model: Model, choices: Sequence[tuple[list[int], Floats]], starts: Starts) -> Starts:
    """Return people at the free levels where their losses are largest, one category after the other."""
    if not choices:
        return starts
    worst, largest = starts.x.copy(), model.losses(starts.z, starts.truth)
    for columns, levels in choices:
        there = worst.copy()
        for level in levels:
            there[:, columns] = level
            losses = model.losses(model.in_units_of_audit(there), starts.truth)
            larger = losses > largest
            worst[larger], largest[larger] = there[larger], losses[larger]
    # What did not move keeps its last digit.
    return Starts(worst, np.where(worst == starts.x, starts.z, model.in_units_of_audit(worst)), starts.truth)


def changes(inputs: Features, starts: Floats, unfair: Floats) -> pd.DataFrame:
    """The features that changed: one row per person and feature.

    Parameters
    ----------
    inputs : Features
        Names the columns.
    starts, unfair : ndarray of shape (n, n_features)
        People and their unfair examples, in the units of X.

    Returns
    -------
    DataFrame
        ``place`` (the person's position), ``feature``, ``before``, ``after`` and ``change``, numbers or categories.
    """
    parts = []
    for name, columns in inputs.groups:
        before, after = starts[:, columns], unfair[:, columns]
        change: Any = after[:, 0] - before[:, 0]
        people = np.flatnonzero((before != after).any(axis=1))
        if len(columns) > 1:
            labels = np.array([inputs.names[column].partition("=")[2] for column in columns], dtype=object)
            before, after = labels[before.argmax(axis=1)][:, None], labels[after.argmax(axis=1)][:, None]
            change = before[:, 0] + " -> " + after[:, 0]
        cells = {"before": before[people, 0], "after": after[people, 0], "change": change[people]}
        parts.append(pd.DataFrame({"place": people, "feature": name, **cells}))
    filled = [part for part in parts if len(part)]
    return pd.concat(filled, ignore_index=True) if filled else parts[0]
