"""Everybody's unfair example: blocks of people, each moved by the same map, on as many processes as wanted.

Blocks have a fixed size, so that the same numbers come from any number of processes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from skfairtest._utils.parallel import in_parallel
from skfairtest._utils.progress import progress
from skfairtest._utils.typing import Floats
from skfairtest.individual._audited import Audited
from skfairtest.individual._losses import Truth
from skfairtest.individual._people import Neighbours
from skfairtest.individual.flow.quadratic import Quadratic, Quadratics, Ranges
from skfairtest.individual.flow.unfair_map import Gradient, Shrink, euler, implicit, integrate
from skfairtest.individual.flow.unfair_search import reach, search
from skfairtest.individual.models.features import Features

#: People who are moved together, whichever folds they are of.
BLOCK = 1024
#: Where the path is looked at on the way.
LOOKS = 25
#: Steps of the flow that says how far a search goes.
REACHING = 25


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
        "implicit", "euler", "search", or a method of scipy.integrate.
    steps : ndarray of shape (n_steps,)
        Step sizes.
    n_candidates : int
        Candidates of a search.
    regularization : float
        Weight of the squared fair distance.
    ranges : Ranges
        Who is possible.
    seed : int
        Of the search's candidates.
    checkpoints : ndarray of int
        Numbers of steps, or of candidates, after which losses are recorded; the last is all of them.
    largest : float
        The largest eigenvalue of the fair metric, among features that may move.
    neighbours : Neighbours or None
        Real people; None if nobody has to be possible.
    least : float
        The smallest plausibility of an unfair example.
    """

    solver: str
    steps: Floats
    n_candidates: int
    regularization: float
    ranges: Ranges
    seed: int
    checkpoints: NDArray[np.intp]
    largest: float
    neighbours: Neighbours | None = None
    least: float = 0.0

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

    def path(self, model: Audited, metric: Quadratics, starts: Starts) -> Iterator[Floats]:
        """Yield where a block of people is at every checkpoint."""
        rest: dict[str, Any] = {"regularization": self.regularization, "checkpoints": self.checkpoints}
        if self.solver == "search":
            return self._search(model, metric, starts, rest)
        gradient, pull = model.gradient(starts.truth), metric.pull
        shrink: Shrink = metric.shrink
        movable = model.movable
        if not movable.all():  # features that stay do not follow the others either
            gradient, pull = _masked(gradient, movable), _masked(pull, movable)
            shrink = _shrink_among(metric, movable) if movable.any() else shrink
        if self.solver == "implicit":
            directions, limits = metric.reachable(movable, self.regularization)
            if model.way == "finite_differences" and np.isinf(limits).all():
                gradient = model.gradient_along(starts.truth, directions)
            return implicit(starts.z, gradient, shrink, steps=self.steps, bounded=self.ranges.bounded, **rest)
        if self.solver == "euler":
            return euler(starts.z, gradient, pull, steps=self.steps, **rest)
        return self._integrated(gradient, metric, movable, starts.z)

    def _integrated(
        self, gradient: Gradient, metric: Quadratics, movable: NDArray[np.bool_], z: Floats
    ) -> Iterator[Floats]:
        """Follow the flow person by person, each pulled by their own metric."""
        people = np.arange(len(z))

        def of(some: slice) -> Gradient:
            return lambda x, rows: gradient(x, people[some][rows])

        solved = [
            integrate(
                z[some], of(some), _masked(part.pull, movable), times=self.times, method=self.solver,
                regularization=self.regularization,
            )
            for part, some in metric.parts
        ]  # fmt: skip
        return (np.concatenate(places) for places in zip(*solved, strict=True))

    def _search(self, model: Audited, metric: Quadratics, starts: Starts, rest: dict[str, Any]) -> Iterator[Floats]:
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
            starts.z, objective, metric, directions=directions, radius=radius, first=first,
            n_candidates=self.n_candidates, seed=self.seed, **rest,
        )  # fmt: skip

    def possible(
        self, model: Audited, starts: Starts, path: Iterator[Floats]
    ) -> tuple[list[Floats], NDArray[np.bool_]]:
        """Return the start and the nearest possible people at every checkpoint, and who is kept back.

        In units of the audit.
        """
        if self.ranges.free:
            return [starts.z, *path], np.zeros(len(starts.z), dtype=bool)
        # What did not move keeps its last digit, whatever it was divided by on the way.

        def nearest(x: Floats, people: Any) -> Floats:
            return model.followed(self.ranges.nearest(x, starts.x[people]))

        places = [starts.x]
        for z in path:
            place = np.where(z == starts.z, starts.x, self.ranges.nearest(model.in_units_of_X(z), starts.x))
            moved = (place != starts.x).any(axis=1)
            place[moved] = model.followed(place[moved])
            places.append(place)
        held = np.zeros(len(starts.x), dtype=bool)
        if self.neighbours is not None:
            places, held = self.neighbours.kept(places, self.least, nearest)
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


def _masked(function: Callable[..., Floats], movable: NDArray[np.bool_]) -> Callable[..., Floats]:
    """Return a function whose values are 0 for features that stay."""
    return lambda *given: function(*given) * movable


def _shrink_among(metric: Quadratics, movable: NDArray[np.bool_]) -> Shrink:
    """The matrix that shrinks the features that may move, 0 for the others."""
    part = metric.among(movable)

    def shrink(v: Floats, t: float) -> Floats:
        found = np.zeros_like(v)
        found[:, movable] = part.shrink(v[:, movable], t)
        return found

    return shrink


def checkpoints(n_steps: int) -> NDArray[np.intp]:
    """Return about `LOOKS` numbers of steps, evenly spread on a log scale, the last of them `n_steps`.

    Examples
    --------
    >>> checkpoints(10).tolist()
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
    """
    return np.unique(np.rint(np.geomspace(1, n_steps, LOOKS)).astype(np.intp))


def move(
    model: Audited,
    metrics: list[Quadratic],
    folds: NDArray[np.intp],
    flow: Flow,
    starts: Starts,
    *,
    errors: bool,
    n_jobs: int | None,
    show: bool,
) -> Moved:
    """Move everybody to their unfair example.

    Parameters
    ----------
    model : Audited
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
    n_jobs : int or None
        Processes.
    show : bool
        Whether to show how far it is.

    Returns
    -------
    Moved
        Everybody, in the order in which they came.
    """
    blocks = list(_blocks(model, metrics, folds, flow.regularization))
    work = partial(_block, model, flow, errors)
    found: list[Moved] = []
    with progress("unfair examples", len(blocks), show) as advance:
        pieces = ((metric, starts.take(people)) for metric, people in blocks)
        for part in in_parallel(work, pieces, 1 if len(blocks) == 1 else n_jobs):
            found.append(part)
            advance()
    order = np.argsort(np.concatenate([people for _, people in blocks]), kind="stable")
    return Moved(
        np.concatenate([part.z for part in found])[order],
        np.concatenate([part.losses for part in found])[order],
        np.concatenate([part.wrong for part in found if part.wrong is not None])[order] if errors else None,
        np.concatenate([part.distance for part in found])[order],
        np.concatenate([part.held for part in found])[order],
    )


def _blocks(
    model: Audited, metrics: list[Quadratic], folds: NDArray[np.intp], regularization: float
) -> Iterator[tuple[Quadratics, NDArray[np.intp]]]:
    """Yield blocks of people, from all folds with equally many free directions: one call of the model per block.

    Within a block, people of a fold are neighbours.
    """
    sizes = np.array([len(metric.reachable(model.movable, regularization)[0]) for metric in metrics])
    order = np.argsort(folds, kind="stable")
    for size in np.unique(sizes):
        people = order[sizes[folds[order]] == size]
        for some in np.split(people, np.arange(BLOCK, len(people), BLOCK)):
            ends = np.flatnonzero(np.diff(folds[some], append=-1)) + 1
            starts = [0, *ends[:-1].tolist()]
            parts = [(metrics[folds[some[i]]], slice(i, j)) for i, j in zip(starts, ends.tolist(), strict=True)]
            yield Quadratics(parts), some


def _block(model: Audited, flow: Flow, errors: bool, metric: Quadratics, starts: Starts) -> Moved:
    """Move one block of people."""
    places, held = flow.possible(model, starts, flow.path(model, metric, starts))
    return Moved(
        places[-1],
        model.along_path(model.losses, places, starts.truth),
        model.along_path(model.wrong, places, starts.truth) if errors else None,
        # Columns that follow others are not moved.
        np.sqrt(metric.squared_distance((places[-1] - starts.z) * model.movable)),
        held,
    )


def changed_features(inputs: Features, starts: Floats, unfair: Floats, ratios: Floats) -> pd.DataFrame:
    """The features that changed, for how many people, and the share of them who are worse off.

    Parameters
    ----------
    inputs : Features
        What columns are called.
    starts, unfair : ndarray of shape (n, n_features)
        People and their unfair examples, in the units of X.
    ratios : ndarray of shape (n,)
        Loss ratios.

    Returns
    -------
    DataFrame
        One row per feature and way in which it changed: from one category to another, up or down.
    """
    rows = []
    for name, columns in inputs.groups:
        before, after = starts[:, columns], unfair[:, columns]
        for change, who in _ways(before, after, [inputs.names[column] for column in columns]):
            mean = float((after - before)[who, 0].mean()) if len(columns) == 1 else np.nan
            rows.append((name, change, int(who.sum()), mean, float((ratios[who] > 1).mean())))
    shown: Any = ["feature", "change", "n_people", "mean_change", "worse"]
    found = pd.DataFrame(rows, columns=shown)
    return found.sort_values("n_people", ascending=False, kind="stable", ignore_index=True)


def _ways(before: Floats, after: Floats, names: list[str]) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    """Yield the ways in which a feature changes for somebody, and for whom."""
    if len(names) == 1:
        rises = after[:, 0] > before[:, 0]
        falls = after[:, 0] < before[:, 0]
        yield from ((change, who) for change, who in (("up", rises), ("down", falls)) if who.any())
        return
    labels = [name.partition("=")[2] for name in names]
    source, target = before.argmax(axis=1), after.argmax(axis=1)
    for pair in sorted({(int(i), int(j)) for i, j in zip(source, target, strict=True) if i != j}):
        yield f"{labels[pair[0]]} -> {labels[pair[1]]}", (source == pair[0]) & (target == pair[1])


def changes(
    model: Audited,
    starts: Floats,
    unfair: Floats,
    truth: Truth,
    people: Mapping[str, NDArray[Any]],
    worst: NDArray[np.intp],
    n_features: int | None,
) -> pd.DataFrame:
    """The features that changed for some people, and the loss that each change adds.

    Parameters
    ----------
    model : Audited
        The model.
    starts, unfair : ndarray of shape (n, n_features)
        People and their unfair examples, in the units of X.
    truth : Truth
        What is true of everybody.
    people : mapping of str to ndarray of shape (n,)
        Their names, "person", and ratios, "loss_ratio".
    worst : ndarray of int
        Which people, in this order.
    n_features : int or None
        How many features of each; None: all that changed.

    Returns
    -------
    DataFrame
        One row per person and feature.
    """
    rows: list[tuple[Any, ...]] = []
    inputs = model.inputs
    for place in worst:
        moved = unfair[place] != starts[place]
        groups = [(name, list(columns)) for name, columns in inputs.groups if moved[list(columns)].any()]
        back = np.tile(unfair[place], (len(groups) + 1, 1))
        for row, (_, columns) in enumerate(groups):
            back[row, columns] = starts[place, columns]
        losses = model.losses(model.in_units_of_audit(back), truth.take(np.full(len(back), place)))
        increase = losses[-1] - losses[:-1]
        person, ratio = people["person"][place], people["loss_ratio"][place]
        for i in np.argsort(-increase, kind="stable")[:n_features].tolist():
            name, columns = groups[i]
            if len(columns) > 1:
                before, after = (
                    inputs.names[columns[x[place, columns].argmax()]].partition("=")[2] for x in (starts, unfair)
                )
                change: Any = f"{before} -> {after}"
            else:
                before, after = starts[place, columns[0]], unfair[place, columns[0]]
                change = after - before
            rows.append((person, ratio, name, before, after, change, increase[i]))
    names = ["person", "loss_ratio", "feature", "before", "after", "change", "loss_increase"]
    return pd.DataFrame(rows, columns=names)
