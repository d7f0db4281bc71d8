"""Everybody's unfair example: blocks of people, each moved by the same map, and what changing a category alone does.

A flow moves a category's shares, and a search tries some candidates: both may end at the level where a person was,
although another level is free and worse. So levels that cost no fair distance are tried before anybody is moved, and
who is worse off at another one is moved from there as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from skfairtest._utils.text import enumerated
from skfairtest._utils.typing import Floats
from skfairtest.individual.fair_metrics import exact_columns, numbers_of, responses_of
from skfairtest.individual.features import Features
from skfairtest.individual.flow import Quadratic, Ranges, euler, implicit, reach, search
from skfairtest.individual.model import Model, Truth
from skfairtest.individual.people import Neighbours
from skfairtest.individual.statistics import SequentialStatistic, UndefinedAuditValueError, audit_value
from skfairtest.readers import WARN_GROUPS, Column

#: People who are moved together; by a torch module so many times more.
BLOCK, TENSORS = 1024, 16
#: Where the path is looked at on the way.
LOOKS = 25
#: Candidates of a search for each person, and steps of the flow that says how far it goes.
CANDIDATES, REACHING = 64, 25


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
        "implicit", "euler" or "search".
    steps : ndarray of shape (n_steps,)
        Step sizes.
    regularization : float
        Weight of the squared fair distance.
    ranges : Ranges
        Who is possible.
    checkpoints : ndarray of int
        Numbers of steps, or of candidates, after which losses are recorded; the last is all of them.
    largest : float
        The largest eigenvalue of the fair metric, among features that may move.
    neighbours : Neighbours or None
        Real people; None if nobody has to be possible.
    """

    solver: str
    steps: Floats
    regularization: float
    ranges: Ranges
    checkpoints: NDArray[np.intp]
    largest: float
    neighbours: Neighbours | None = None

    @property
    def n_unstable(self) -> int:
        """How many steps of forward Euler are unstable: they overshoot the point that the fair distance pulls to."""
        return int((self.steps * self.regularization * self.largest >= 1).sum()) if self.solver == "euler" else 0

    @property
    def time(self) -> float:
        """How long the flow runs: a gradient of length 1 moves people this far."""
        return float(self.steps.sum())

    @property
    def times(self) -> Floats:
        """The time of the flow at every checkpoint; candidates of a search all lie within the last."""
        if self.solver == "search":
            return np.full(len(self.checkpoints), self.time)
        return np.asarray(np.cumsum(self.steps)[self.checkpoints - 1])

    def path(self, model: Model, metric: Quadratic, starts: Starts) -> Iterator[Floats]:
        """Yield where a block of people is at every checkpoint."""
        movable, network = model.movable, model.network
        if self.solver == "search":
            yield from self._search(model, metric, starts)
            return
        array = np.asarray if network is None else network.tensor
        rest: dict[str, Any] = {
            "steps": self.steps,
            "regularization": self.regularization,
            "checkpoints": self.checkpoints,
        }
        gradient = model.gradient(starts.truth)
        moves = array(movable * metric.units**2)  # in other units a gradient of the loss has their squares

        def uphill(x: Any, people: Any) -> Any:
            return gradient(x, people) * moves

        direction: Callable[[Any, Any], Any] = uphill
        if self.solver == "euler":
            pull = array(metric.matrix)
            points = euler(array(starts.z), uphill, lambda v: (v @ pull) * moves, **rest)
        else:
            directions, limits = metric.reachable(movable, self.regularization)
            if model.way == "finite_differences" and np.isinf(limits).all():
                direction = model.gradient_along(starts.truth, directions)

            def shrinking(t: float) -> Any:  # features that stay do not follow the others either
                matrix = array(metric.shrinking(t, movable))
                return lambda v: v @ matrix

            points = implicit(array(starts.z), direction, shrinking, bounded=self.ranges.bounded, **rest)
        yield from points if network is None else (point.cpu().double().numpy() for point in points)

    def _search(self, model: Model, metric: Quadratic, starts: Starts) -> Iterator[Floats]:
        """Search as far as the flow of the smoothed loss goes."""

        def objective(moved: Floats, people: NDArray[np.intp]) -> Floats:
            return model.losses(moved, starts.truth.take(people))

        directions, limits = metric.reachable(model.movable, self.regularization)
        steps = np.full(REACHING, self.time / REACHING)
        ends = reach(
            starts.z, objective, metric, directions=directions, limits=limits, steps=steps,
            regularization=self.regularization,
        )  # fmt: skip
        radius = np.abs(ends)
        if np.isinf(limits).all():  # all directions are alike
            radius = np.broadcast_to(np.linalg.norm(ends, axis=1, keepdims=True), ends.shape)
        first = np.divide(ends, radius, out=np.zeros_like(ends), where=radius > 0)
        return search(
            starts.z, objective, metric, directions=directions, radius=radius, first=first, n_candidates=CANDIDATES,
            regularization=self.regularization, checkpoints=self.checkpoints,
        )  # fmt: skip

    def possible(self, model: Model, starts: Starts, path: Iterator[Floats]) -> tuple[list[Floats], NDArray[np.bool_]]:
        """The start, the nearest possible people at every checkpoint in units of the audit, and who is kept back."""
        held = np.zeros(len(starts.z), dtype=bool)
        if self.ranges.free:
            return [starts.z, *path], held
        # What did not move keeps its last digit, whatever it was divided by on the way.
        places = [starts.x]
        for z in path:
            places.append(np.where(z == starts.z, starts.x, self.ranges.nearest(model.in_units_of_X(z), starts.x)))
        if self.neighbours is not None:
            places, held = self.neighbours.kept(places, lambda x, people: self.ranges.nearest(x, starts.x[people]))
        return [starts.z, *(model.in_units_of_audit(place) for place in places[1:])], held


@dataclass(frozen=True)
class Moved:
    """Where people ended, and their losses on the way.

    Parameters
    ----------
    z : ndarray of shape (n, n_features)
        Unfair examples, in units of the audit.
    losses : ndarray of shape (n, 1 + n_checkpoints)
        Losses at the start and at every checkpoint.
    wrong : ndarray of shape (n, 1 + n_checkpoints) or None
        Whether predicted labels were wrong there; None if not recorded.
    distance : ndarray of shape (n,)
        Fair distance from the start.
    held : ndarray of bool, shape (n,)
        Who was kept back, because the end of the flow is too unusual.
    """

    z: Floats
    losses: Floats
    wrong: Floats | None
    distance: Floats
    held: NDArray[np.bool_]

    def or_from(self, starts: Starts, people: NDArray[np.intp], others: Moved) -> Moved:
        """Return everybody where their loss is largest: here, at another start of some people, or moved from there.

        Parameters
        ----------
        starts : Starts
            Other starts of some people, at no fair distance from their own.
        people : ndarray of int
            Whose they are.
        others : Moved
            Where they end from there.
        """
        z, losses, distance, held = self.z.copy(), self.losses.copy(), self.distance.copy(), self.held.copy()
        wrong = None if self.wrong is None else self.wrong.copy()
        for place in range(1, losses.shape[1]):
            for at in (0, place):
                larger = others.losses[:, at] > losses[people, place]
                some = people[larger]
                losses[some, place] = others.losses[larger, at]
                if wrong is not None and others.wrong is not None:
                    wrong[some, place] = others.wrong[larger, at]
                if place == losses.shape[1] - 1:
                    z[some] = others.z[larger] if at else starts.z[larger]
                    distance[some] = others.distance[larger] if at else 0.0
                    held[some] = others.held[larger] & bool(at)
        return Moved(z, losses, wrong, distance, held)


def checkpoints(n_steps: int) -> NDArray[np.intp]:
    """Return about `LOOKS` numbers of steps, evenly spread on a log scale, the last of them `n_steps`.

    Examples
    --------
    >>> checkpoints(10).tolist()
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
    """
    return np.unique(np.rint(np.geomspace(1, n_steps, LOOKS)).astype(np.intp))


def move(
    model: Model, metrics: list[Quadratic], folds: NDArray[np.intp], flow: Flow, starts: Starts, *, errors: bool
) -> Moved:
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
    starts : Starts
        Everybody.
    errors : bool
        Whether predicted labels are recorded as well.

    Returns
    -------
    Moved
        Everybody, in the order in which they came.
    """
    parts, size = [], BLOCK if model.network is None else TENSORS * BLOCK
    order = np.argsort(folds, kind="stable")
    for people in np.split(order, range(size, len(order), size)):
        some, present = starts.take(people), np.unique(folds[people])  # people of one fold are neighbours
        paths = [flow.path(model, metrics[fold], some.take(folds[people] == fold)) for fold in present]
        path = (np.concatenate(places) for places in zip(*paths, strict=True))
        places, held = flow.possible(model, some, path)
        losses = model.along_path(model.losses, places, some.truth)
        wrong: Any = model.along_path(model.wrong, places, some.truth) if errors else held
        moves = places[-1] - places[0]
        squares = [metrics[fold].squared_distance(moves[folds[people] == fold]) for fold in present]
        parts.append((places[-1], losses, wrong, np.sqrt(np.concatenate(squares)), held))
    back = np.argsort(order)
    z, losses, wrong, distance, held = (np.concatenate(each)[back] for each in zip(*parts, strict=True))
    return Moved(z, losses, wrong if errors else None, distance, held)


#: All combinations of levels are tried where there are no more; beyond, one category at a time.
MOST_COMBINATIONS = 300
#: Moves whose squared fair distance is below this share of their squared length are free.
_FREE = 1e-9
#: Predicted numbers that differ by less than this share of their size are the same.
_SAME = 1e-9


@dataclass(frozen=True)
class Choice:
    """Columns that take some combinations of values only.

    Parameters
    ----------
    columns : list of int
        Which.
    levels : ndarray of shape (n_levels, n_columns)
        Their values, in the units of X.
    """

    columns: list[int]
    levels: Floats

    def at(self, x: Floats, level: Floats) -> Floats:
        """Return people with a level instead of their own."""
        moved = x.copy()
        moved[:, self.columns] = level
        return moved


def free_choices(ranges: Ranges, matrices: Sequence[Quadratic], values: Floats, scale: Floats | None) -> list[Choice]:
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
    """
    units = np.ones(values.shape[1]) if scale is None else scale
    blocks = [Choice(list(block), np.eye(len(block))[(values[:, block] > 0).any(axis=0)]) for block in ranges.blocks]
    single = [Choice([column], levels[:, None]) for column, levels in ranges.levels.items()]
    return [
        choice for choice in (*blocks, *single)
        if len(choice.levels) > 1 and not ranges.frozen[choice.columns].any() and _is_free(choice, matrices, units)
    ]  # fmt: skip


def _is_free(choice: Choice, matrices: Sequence[Quadratic], units: Floats) -> bool:
    moves = np.zeros((len(choice.levels) - 1, len(units)))
    moves[:, choice.columns] = choice.levels[1:] - choice.levels[0]
    moves /= units
    lengths = (moves**2).sum(axis=1)
    return all((matrix.squared_distance(moves) <= _FREE * lengths).all() for matrix in matrices)


def worst_levels(model: Model, choices: Sequence[Choice], starts: Starts) -> Floats:
    """Return people at the free levels where their losses are largest, in the units of X."""
    worst, largest = starts.x.copy(), model.losses(starts.z, starts.truth)
    for choice in _rounds(choices):
        origin = worst
        worst = origin.copy()
        for level in choice.levels:
            there = choice.at(origin, level)
            losses = model.losses(model.in_units_of_audit(there), starts.truth)
            larger = losses > largest
            worst[larger], largest[larger] = there[larger], losses[larger]
    return worst


def _rounds(choices: Sequence[Choice]) -> Iterator[Choice]:
    """Yield all combinations as one choice, or every choice after the other if these are too many."""
    if not choices:
        return
    if np.prod([float(len(choice.levels)) for choice in choices]) > MOST_COMBINATIONS:
        yield from choices
        return
    columns = [column for choice in choices for column in choice.columns]
    yield Choice(columns, np.array([np.concatenate(rows) for rows in product(*(one.levels for one in choices))]))


def sensitive_choices(
    features: Features, sensitive: Sequence[Column], named: Sequence[int]
) -> list[tuple[str, Choice]]:
    """Return the sensitive features that are columns of X, with their names.

    Parameters
    ----------
    features : Features
        The people, in the units of X.
    sensitive : sequence of Column
        Sensitive features.
    named : sequence of int
        Columns of X that the fair metric names as sensitive.
    """
    found: dict[str, list[int]] = {}
    for column in sensitive:
        responses = responses_of(column)
        if responses is not None and numbers_of(column) is None:
            columns = exact_columns(features.values, responses).tolist()
            names = [name for name, where in features.groups if set(where) & set(columns)]
            found |= {enumerated(names): columns} if names else {}
    known = {column for columns in found.values() for column in columns}
    found |= {name: list(where) for name, where in features.groups if set(where) <= {*named} - known}
    choices = [(name, Choice(where, np.unique(features.values[:, where], axis=0))) for name, where in found.items()]
    return [(name, choice) for name, choice in choices if 1 < len(choice.levels) <= WARN_GROUPS]


def changed_alone(
    model: Model, statistic: SequentialStatistic, starts: Starts, choices: Sequence[tuple[str, Choice]]
) -> pd.DataFrame:
    """The effect on losses and predictions of changing one sensitive column of X alone.

    Parameters
    ----------
    model : Model
        The model.
    statistic : SequentialStatistic
        Says which statistic, tolerance and level.
    starts : Starts
        Everybody.
    choices : sequence of (name, Choice)
        Sensitive features that are columns of X.

    Returns
    -------
    DataFrame
        One row per feature, as `IndividualFairnessTest.changed_alone_`.
    """
    rows = []
    judge = model.wrong if statistic.statistic == "error_rate_ratio" else model.losses
    for name, choice in choices:
        places = [model.in_units_of_audit(choice.at(starts.x, level)) for level in choice.levels]
        same = np.array([(starts.x[:, choice.columns] == level).all(axis=1) for level in choice.levels]).T
        after = np.where(same, -np.inf, model.along_path(judge, places, starts.truth)).max(axis=1)
        try:
            value = audit_value(
                statistic.name,
                judge(starts.z, starts.truth),
                after,
                tolerance=statistic.tolerance,
                confidence_level=statistic.confidence_level,
            )
            ratio = (value.estimate, *value.interval, value.p_value)
        except UndefinedAuditValueError:
            ratio = (np.nan,) * 4
        predictions = np.stack([model.predicted(place) for place in places], axis=1)
        present = predictions[same][:, None]
        differ = predictions != present
        if predictions.dtype.kind == "f":
            differ &= ~np.isclose(predictions, present, rtol=_SAME, atol=0.0)
        changed = differ.any(axis=1)
        rows.append((name, len(choice.levels), *ratio, int(changed.sum()), float(changed.mean())))
    names: list[str] = ["feature", "n_levels", "statistic", "ci_low", "ci_high", "p_value", "n_changed", "changed"]
    return pd.DataFrame(rows, columns=names)


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
