"""Unfair examples: blocks of people, each moved by the same function."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from skfairtest._utils.typing import Floats
from skfairtest.individual.features import Features
from skfairtest.individual.flow import SAME, Quadratic, Ranges, along, euler, implicit, search, slopes
from skfairtest.individual.model import Model, Truth
from skfairtest.individual.people import Neighbours

#: People who are moved together; by a torch module this many times more.
BLOCK, TENSORS = 1024, 16
#: About this many places on the way are looked at, evenly spread on a log scale.
LOOKS = 25
#: Candidates of a search for each person, and steps of the flow that says how far it goes.
CANDIDATES, REACHING = 64, 25
#: Slopes of what has no derivative are differences to both sides over so many units, standard deviations by default:
#: the first that are not 0. What is smooth has a slope over the first.
WIDTHS = (0.25, 0.5, 1.0)


@dataclass(frozen=True)
class Flow:
    """The solver that moves people."""

    solver: str
    steps: Floats
    regularization: float
    ranges: Ranges
    checkpoints: NDArray[np.intp]
    neighbours: Neighbours | None = None

    def path(self, model: Model, metric: Quadratic, z: Floats, truth: Truth) -> Iterator[Floats]:
        """Yield where people are at every checkpoint, by the gradient with respect to all features."""
        array, gradient = np.asarray if model.network is None else model.network.tensor, model.gradient(truth)
        rest: dict[str, Any] = {"steps": self.steps, "checkpoints": self.checkpoints}
        moves = array(model.movable * metric.units**2)  # in other units a gradient of the loss has their squares

        def uphill(x: Any, people: Any) -> Any:
            return gradient(x, people) * moves

        def times(matrix: Floats) -> Callable[[Any], Any]:
            held = array(matrix)
            return lambda v: v @ held

        if self.solver == "euler":
            pull = times(metric.matrix)
            points = euler(array(z), uphill, lambda v: pull(v) * moves, regularization=self.regularization, **rest)
        else:
            points = implicit(array(z), uphill, lambda t: times(metric.shrinking(t * self.regularization)), **rest)
        yield from points if model.network is None else (point.cpu().double().numpy() for point in points)

    def path_along(self, model: Model, directions: Floats, costs: Floats, z: Floats, truth: Truth) -> Iterator[Floats]:
        """Yield where people are at every checkpoint, by slopes along directions (n, k, d) of their own, with costs."""
        if not costs.shape[1]:
            yield from (z for _ in self.checkpoints)
            return
        searched = self.solver == "search"
        steps = np.full(REACHING, self.steps.sum() / REACHING) if searched else self.steps
        with np.errstate(divide="ignore"):
            limits = 1 / np.sqrt(costs)

        def objective(moved: Floats, people: NDArray[np.intp]) -> Floats:
            return model.losses(moved, truth.take(people))

        widths = [np.minimum(width, limits) for width in (WIDTHS if searched else (model.step,))]
        ends = implicit(
            np.zeros_like(costs), slopes(z, objective, directions, widths, SAME * searched),
            lambda t: lambda u: np.clip(u / (1 + t * costs), -limits, limits), steps=steps,
            checkpoints=[REACHING] if searched else self.checkpoints,
        )  # fmt: skip
        if not searched:
            yield from (z + along(directions, u) for u in ends)
            return
        (ends,) = ends
        radius = np.abs(ends)
        if not costs.any():  # all directions are alike
            radius = np.broadcast_to(np.linalg.norm(ends, axis=1, keepdims=True), ends.shape)
        yield from search(
            z, objective, directions=directions, radius=radius, costs=costs, n_candidates=CANDIDATES,
            first=np.divide(ends, radius, out=np.zeros_like(ends), where=radius > 0), checkpoints=self.checkpoints,
        )  # fmt: skip

    def possible(
        self, model: Model, x: Floats, z: Floats, path: Iterator[Floats]
    ) -> tuple[list[Floats], NDArray[np.bool_]]:
        """The start, the nearest possible people at every checkpoint in the units of X, and who is kept back."""
        places = [x]
        for moved in path:
            # What moved by rounding only did not move, and keeps its last digit, whatever it was divided by on the way.
            far = np.abs(moved - z)
            stays = far <= _FREE * far.max(axis=1, keepdims=True)
            places.append(np.where(stays, x, self.ranges.nearest(model.in_units_of_X(moved), x)))
        if self.neighbours is None:
            return places, np.zeros(len(x), dtype=bool)
        return places, self.neighbours.keep(places, lambda there, people: self.ranges.nearest(there, x[people]))


@dataclass(frozen=True)
class Moved:
    """The end points of people, and their losses on the way."""

    x: Floats
    losses: Floats
    judged: Floats
    distance: Floats
    held: NDArray[np.bool_]


def move(
    model: Model, metrics: list[Quadratic], folds: NDArray[np.intp], flow: Flow, x: Floats, worst: Floats, truth: Truth,
    *, errors: bool,
) -> Moved:  # fmt: skip
    """Move each person to the largest loss: along the flow, to the worst level, or along the flow from there."""
    n, some = len(folds), np.flatnonzero((worst != x).any(axis=1))
    rows, x = np.concatenate([np.arange(n), some]), np.concatenate([x, worst[some]])
    z, truth, folds = model.in_units_of_audit(x), truth.take(rows), folds[rows]
    parts, size = [], BLOCK if model.network is None else TENSORS * BLOCK
    metrics = [metric.holding(~model.movable) for metric in metrics]
    reached = [metric.reachable(~model.movable) for metric in metrics]
    costs = [flow.regularization * cost for _, cost in reached]
    # People with as many directions are moved by the same calls of the model, others fold by fold.
    smooth = flow.solver == "implicit" and model.way == "finite_differences"
    ways = np.array([
        len(cost) if flow.solver == "search" or (smooth and not cost.any()) or not len(cost) else -1 - fold
        for fold, cost in enumerate(costs)
    ])  # fmt: skip
    order = np.lexsort((folds, ways[folds]))
    for people in np.split(order, range(size, len(order), size)):
        block, fold, paths, distance = truth.take(people), folds[people], [], np.zeros(len(people))
        for way in np.unique(ways[fold]):  # in the order of people
            those = ways[fold] == way
            moving = z[people][those], block.take(those)
            present, which = np.unique(fold[those], return_inverse=True)
            if way < 0:
                paths.append(flow.path(model, metrics[present[0]], *moving))
            else:
                directions = np.stack([reached[one][0] for one in present])[which]
                cost = np.stack([costs[one] for one in present])[which]
                paths.append(flow.path_along(model, directions, cost, *moving))
        places, held = flow.possible(model, x[people], z[people], map(np.concatenate, zip(*paths, strict=True)))
        ways_z = list(map(model.in_units_of_audit, places))
        losses = model.along_path(model.losses, ways_z, block)
        judged = model.along_path(model.wrong, ways_z, block) if errors else losses
        for one in np.unique(fold):
            distance[fold == one] = metrics[one].squared_distance((ways_z[-1] - ways_z[0])[fold == one])
        parts.append((places[-1], losses, judged, np.sqrt(distance), held))
    back = np.argsort(order)
    x, losses, judged, distance, held = (np.concatenate(each)[back] for each in zip(*parts, strict=True))
    if len(some):
        again = np.arange(n, len(x))
        ways_on = [
            [each[some], each[again], np.repeat(each[again, :1], each.shape[1], axis=1)] for each in (losses, judged)
        ]
        which = np.argmax(ways_on[0], axis=0)
        which[:, 0] = 0
        losses[some], judged[some] = (np.choose(which, options) for options in ways_on)
        last = which[:, -1]
        x[some] = np.choose(last[:, None], [x[some], x[again], worst[some]])
        distance[some] = np.choose(last, [distance[some], distance[again], 0.0])
        held[some] = np.choose(last, [held[some], held[again], False])
    return Moved(x[:n], losses[:n], judged[:n], distance[:n], held[:n])


#: All combinations of levels are tried where there are no more; beyond, one category at a time.
MOST_COMBINATIONS = 300
#: Moves whose squared fair distance is below this share of their squared length are free, and rounding below it.
_FREE = 1e-9


def free_choices(
    ranges: Ranges, matrices: Sequence[Quadratic], values: Floats, scale: Floats | None
) -> list[tuple[list[int], Floats]]:
    """Return the categories, and columns of few values, whose levels are at fair distance 0 from each other."""
    choices = [(list(block), np.eye(len(block))[(values[:, block] > 0).any(axis=0)]) for block in ranges.blocks]
    choices += [([column], levels[:, None]) for column, levels in ranges.levels.items()]
    free = []
    for columns, levels in choices:
        moves = np.zeros((len(levels), values.shape[1]))
        moves[:, columns] = levels - levels[0]
        moves /= 1.0 if scale is None else scale
        lengths = (moves**2).sum(axis=1)
        costless = all((matrix.squared_distance(moves) <= _FREE * lengths).all() for matrix in matrices)
        if costless and len(levels) > 1 and not ranges.frozen[columns].any():
            free.append((columns, levels))
    return free


def worst_levels(model: Model, choices: Sequence[tuple[list[int], Floats]], x: Floats, truth: Truth) -> Floats:
    """Return people at the free levels where their losses are largest, in the units of X."""
    worst, largest = x.copy(), model.losses(model.in_units_of_audit(x), truth)
    if choices and np.prod([float(len(levels)) for _, levels in choices]) <= MOST_COMBINATIONS:
        columns = [column for some, _ in choices for column in some]
        choices = [(columns, np.array([np.concatenate(rows) for rows in product(*(each for _, each in choices))]))]
    for columns, levels in choices:
        there = worst.copy()
        for level in levels:
            there[:, columns] = level
            losses = model.losses(model.in_units_of_audit(there), truth)
            larger = losses > largest
            worst[larger], largest[larger] = there[larger], losses[larger]
    return worst


def changes(inputs: Features, starts: Floats, unfair: Floats) -> pd.DataFrame:
    """The features that changed: one row per person and feature."""
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
