"""The flow that leads to an unfair example, the space in which people are moved, and the search without derivatives.

The gradient flow is that of Maity et al. (2021, ICLR), equations 2.6 and 2.7, ``dX/dt = grad_x { loss(f(X), y) - lambda
d^2(X, x0) }``, followed by steps that are implicit in the distance or by forward Euler. It depends on one person's (x,
y) alone, so that the ratios of different people are independent. Models that are constant almost everywhere, such as
trees, are searched along the directions that cost nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri
from scipy.stats import qmc

from skfairtest._utils.errors import ParameterError
from skfairtest._utils.text import pluralize
from skfairtest._utils.typing import Floats

#: (x, people) -> values (m,) of rows x (m, d), which belong to these people; the same may occur often.
Objective = Callable[[Floats, NDArray[np.intp]], Floats]
#: (x, people) -> gradient of each person's loss, (n, d).
Gradient = Callable[[Any, Any], Any]

EVERYONE = slice(None)
#: Directions of unit length that lie closer together than this are one. Coefficients of solvers are this accurate.
SAME_DIRECTION = 1e-8


def span(rows: ArrayLike) -> Floats:
    """Return an orthonormal basis of what directions span.

    Examples
    --------
    >>> span([[0.0, 2.0, 0.0], [0.0, -3.0, 0.0], [0.0, 0.0, 0.0]])
    array([[0., 1., 0.]])
    """
    given = np.asarray(rows, dtype=float)
    # Scaled twice: squares of the largest and smallest floats overflow and underflow.
    largest = np.abs(given).max(axis=1, initial=0.0)
    scaled = given[largest > 0] / largest[largest > 0, None]
    if not len(scaled):
        return np.empty((0, given.shape[1]))
    units = scaled / np.linalg.norm(scaled, axis=1, keepdims=True)
    _, lengths, vectors = np.linalg.svd(units, full_matrices=False)
    return basis(vectors[lengths > SAME_DIRECTION * lengths[0]])


def basis(rows: ArrayLike) -> Floats:
    """Return an orthonormal basis (k, d) of what k orthonormal rows span, the same for any rows of the same space."""
    rows = np.asarray(rows, dtype=float)
    left = rows.T @ rows
    found = np.empty_like(rows)
    for place in range(len(rows)):
        lengths = np.diagonal(left)  # squared, of a projection's columns
        axis = int(np.argmax(lengths > lengths.max() * (1 - 1e-9)))
        vector = left[axis] - found[:place].T @ (found[:place] @ left[axis])  # once more: rounding is not orthogonal
        found[place] = vector / np.linalg.norm(vector)
        left = left - np.outer(found[place], found[place])
    found[np.abs(found) < 1e-14] = 0.0
    return found


def complement(directions: Floats) -> Floats:
    """Return the projection I - Π, of shape (d, d), which takes away what lies along orthonormal rows (k, d)."""
    matrix: Floats = np.eye(directions.shape[1]) - directions.T @ directions
    # A column that is free altogether is exactly 0, and not what is left of 1 - 1.
    matrix[np.abs(matrix) < 1e-15] = 0.0
    return (matrix + matrix.T) / 2


#: Eigenvalues within this share of the largest are one eigenvalue, and 0 if they are within it of 0.
RELATIVE_TOLERANCE = 1e-10


class Quadratic:
    """The quadratic form of a symmetric positive semi-definite matrix.

    Examples
    --------
    >>> free_first = Quadratic([[0.0, 0.0], [0.0, 4.0]])
    >>> print(free_first.free_directions, free_first.largest)
    [[1. 0.]] 4.0
    >>> print(free_first.squared_distance([[3.0, 0.5]]))
    [1.]
    """

    def __init__(self, matrix: ArrayLike, units: Floats | None = None) -> None:
        sigma = np.asarray(matrix, dtype=float)
        scale, square = float(np.abs(sigma).max(initial=0.0)), sigma.ndim == 2 and sigma.shape == sigma.T.shape
        if not (sigma.size and square and np.isfinite(scale)) or np.abs(sigma - sigma.T).max() > 1e-8 * scale:
            raise ParameterError(f"matrix must be square, finite and symmetric; found {matrix!r}")
        self._sigma = np.ascontiguousarray((sigma + sigma.T) / 2)
        self.units = np.ones(len(sigma)) if units is None else units
        self.matrix: Floats = self._sigma / np.multiply.outer(self.units, self.units)
        self._values, self._vectors = np.linalg.eigh(self._sigma)
        if self._values[0] < -1e-8 * scale:
            raise ParameterError(f"matrix must be positive semi-definite, found the eigenvalue {self._values[0]:.3g}")
        self.largest = max(float(self._values[-1]), 0.0)
        self.free_directions = basis(self._vectors.T[self._values <= RELATIVE_TOLERANCE * self.largest])

    def directions(self) -> Floats:
        """Return eigenvectors by increasing eigenvalue, of shape (d, d)."""
        starts = np.flatnonzero(np.diff(self._values, prepend=-np.inf) > RELATIVE_TOLERANCE * self.largest)
        return np.concatenate([basis(part) for part in np.split(self._vectors.T, starts[1:])])

    def square_root(self) -> Floats:
        """Return the symmetric R of shape (d, d), positive semi-definite, with R R = Sigma.

        Examples
        --------
        >>> Quadratic([[4.0, 0.0], [0.0, 0.0]]).square_root()
        array([[2., 0.],
               [0., 0.]])
        """
        # What is free must not cost the root of a rounding error.
        values = np.where(self._values <= RELATIVE_TOLERANCE * self.largest, 0.0, self._values)
        root: Floats = (self._vectors * np.sqrt(values)) @ self._vectors.T
        return (root + root.T) / 2

    def holding(self, frozen: NDArray[np.bool_]) -> Quadratic:
        """The form for people whose frozen columns are fixed: they do not move, not even with other columns."""
        if not frozen.any():
            return self
        moves = np.where(np.logical_or.outer(frozen, frozen), 0.0, self._sigma)
        return Quadratic(moves + np.diag(np.where(frozen, np.diagonal(moves).max() or 1.0, 0.0)), self.units)

    def reachable(self, frozen: NDArray[np.bool_]) -> tuple[Floats, Floats]:
        """The directions to search, and their costs: those without a cost, or all of them if every one has a cost.

        Examples
        --------
        >>> frozen = np.array([True, False, False])
        >>> print(*Quadratic(np.diag([0.0, 4.0, 1.0])).holding(frozen).reachable(frozen))
        [[0. 0. 1.]
         [0. 1. 0.]] [1. 4.]
        """
        free = self.free_directions
        rows = free if len(free) else self.directions()
        rows = rows[(rows[:, frozen] == 0).all(axis=1)] * self.units
        return rows, np.zeros(len(rows)) if len(free) else self.squared_distance(rows)

    def shrinking(self, t: float) -> Floats:
        """The matrix (I + t Sigma)^-1: what is free stays, the rest shrinks.

        Examples
        --------
        >>> np.array([[3.0, 1.0]]) @ Quadratic([[0.0, 0.0], [0.0, 4.0]]).shrinking(1.0)
        array([[3. , 0.2]])
        """
        inverse: Floats = (self._vectors / (1.0 + t * np.maximum(self._values, 0.0))) @ self._vectors.T
        return inverse / self.units[:, None] * self.units

    def squared_distance(self, v: ArrayLike) -> Floats:
        """Return v Sigma v' of each row of v (..., d), of shape (...); never below 0."""
        v = np.asarray(v, dtype=float)
        rows = v.reshape(-1, v.shape[-1])
        squares: Floats = (rows * (rows @ self.matrix)).sum(axis=1).reshape(v.shape[:-1])
        return np.maximum(squares, 0.0)


#: Shares that differ by no more than this are equal.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Ranges:
    """The possible values of features, in the units of X.

    Examples
    --------
    >>> low, high = np.array([0.0, -np.inf, -np.inf]), np.full(3, np.inf)
    >>> ranges = Ranges(low, high, np.zeros(3, dtype=bool), ((1, 2),))
    >>> print(ranges.nearest(np.array([[-3.0, 0.9, 0.5]]), np.array([[1.0, 0.0, 1.0]])))
    [[0. 1. 0.]]
    """

    low: Floats
    high: Floats
    frozen: NDArray[np.bool_]
    blocks: tuple[tuple[int, ...], ...] = ()
    levels: dict[int, Floats] = field(default_factory=dict)

    def nearest(self, x: Floats, x0: Floats) -> Floats:
        """Return the nearest possible people, of shape (n, d)."""
        x = np.clip(x, self.low, self.high)
        for column, values in self.levels.items():
            x[:, column] = values[np.searchsorted((values[1:] + values[:-1]) / 2, x[:, column])]
        for block in self.blocks:  # the largest share, in a tie the one of the start
            shares = np.where(x0[:, block] == 1, x[:, block] + _ROUNDING, x[:, block])
            x[:, block] = np.eye(len(block))[shares.argmax(axis=1)]
        return np.where(self.frozen, x0, x)


#: No feature is this large; single precision, in which many models compute, ends at 3e38.
FARTHEST = 1e30


def euler(
    start: Any, gradient: Gradient, pull: Callable[[Any], Any], *, steps: Any, regularization: float, checkpoints: Any
) -> Iterator[Any]:
    """Follow the gradient flow by forward Euler: x <- x + step (gradient(x) - 2 regularization pull(x - x0))."""

    def step(x: Any, size: float) -> Any:
        x = x + size * (gradient(x, EVERYONE) - 2 * regularization * pull(x - start))
        if people := int(_strays(x, start).sum()):
            raise ParameterError(
                f"steps of up to {max(steps):g} diverge: {pluralize(people, 'unfair example')} ran away. Use smaller "
                "or fewer steps, solver='implicit', feature_ranges that end, or a fair metric in the units of "
                "feature_scale"
            )
        return x

    return _followed(start, step, steps, checkpoints)


def implicit(
    start: Any, gradient: Gradient, shrinking: Callable[[float], Callable[[Any], Any]], *, steps: Any, checkpoints: Any
) -> Iterator[Any]:
    """Follow the gradient flow by steps that are implicit in the distance."""
    shrink = {size: shrinking(2 * size) for size in np.unique(steps).tolist()}

    def step(x: Any, size: float) -> Any:
        moved = start + shrink[size](x - start + size * gradient(x, EVERYONE))
        if (lost := _strays(moved, start)).any():
            moved[lost] = x[lost]
        return moved

    return _followed(start, step, steps, checkpoints)


def _followed(x: Any, step: Callable[[Any, float], Any], steps: Any, checkpoints: Any) -> Iterator[Any]:
    """Take steps, and yield at every checkpoint where people are."""
    done, sizes = 0, np.asarray(steps, dtype=float).tolist()
    for checkpoint in np.asarray(checkpoints).tolist():
        with np.errstate(over="ignore", invalid="ignore"):
            for size in sizes[done:checkpoint]:
                x = step(x, size)
        done = checkpoint
        yield x


def _strays(x: Any, start: Any) -> Any:
    """Mask of people who have moved too far or to infinity."""
    return ~(abs(x - start) < FARTHEST).all(1)


#: Quotients of two widths that differ by more than this share of their size are not of a derivative.
DIFFER = 0.1
#: Values are exact to this many roundings.
ROUNDINGS = 1000
#: People that show derivatives, of those who show anything.
MOSTLY = 0.95


def central_differences(
    function: Objective,
    x: Floats,
    step: Floats,
    *,
    columns: NDArray[np.intp] | None = None,
    same: float | None = None,
) -> Floats:
    """Approximate the derivative of every row's value with respect to its own columns.

    Examples
    --------
    >>> x = np.array([[3.0, 1.0]])
    >>> central_differences(lambda x, people: x[:, 0] ** 2, x, steps_of(x, 1e-5)).round(6)
    array([[6., 0.]])
    """
    n, d = x.shape
    gradient, wanted = np.zeros((n, d)), np.arange(d) if columns is None else columns
    at_once = max(1, ROWS // (2 * n))
    for some in (wanted[start : start + at_once] for start in range(0, len(wanted), at_once)):
        each, moved = np.arange(len(some)), np.broadcast_to(x, (2, len(some), n, d)).copy()
        moved[0, each, :, some] += step[:, some].T
        moved[1, each, :, some] -= step[:, some].T
        up, down = function(moved.reshape(-1, d), np.tile(np.arange(n), 2 * len(some))).reshape(2, len(some), n)
        across = moved[0, each, :, some] - moved[1, each, :, some]  # what was really added, after rounding
        with np.errstate(invalid="ignore"):  # infinite on both sides
            differ = True if same is None else better(up, down, same) | better(down, up, same)
            gradient[:, some] = (np.where(differ, up - down, 0.0) / np.where(across == 0, 1.0, across)).T
    return gradient


def steps_of(x: Floats, width: float) -> Floats:
    """Return steps for differences: `width` for columns of size 1 and less, in proportion to larger ones."""
    return width * np.maximum(1.0, np.abs(x))


def differentiable(function: Objective, x: Floats, *, width: float, columns: NDArray[np.intp] | None = None) -> bool:
    """Whether a function has derivatives where these rows are, by two widths of differences.

    Examples
    --------
    >>> x = np.linspace(-1, 1, 8)[:, None]
    >>> differentiable(lambda x, people: x[:, 0] ** 2, x, width=1e-5)
    True
    >>> differentiable(lambda x, people: np.floor(x[:, 0]), x, width=1e-5)
    False
    """
    steps = steps_of(x, width)
    wide, narrow = (central_differences(function, x, each, columns=columns) for each in (steps, steps / 4))
    size = np.linalg.norm(wide, axis=1) + np.linalg.norm(narrow, axis=1)
    smooth = np.linalg.norm(wide - narrow, axis=1) < DIFFER * size
    rounding = ROUNDINGS * width**2 * float(np.abs(function(x, np.arange(len(x)))).max())
    moves = size > rounding
    return bool((moves & smooth).sum() > MOSTLY * moves.sum())


#: Rows that a model is asked about at once, as long as the block is not longer: a call costs as much as many rows.
ROWS = 20_000
#: Of this many candidates one halves the way back to the start; at most this many do.
_SHARE_OF_HALVINGS, _MOST_HALVINGS = 8, 8
#: Radii tried on both sides of every direction: 1, 1/2, ..., of the largest; at most this many.
_MOST_RADII = 6
#: Losses, and lengths, that differ by less than this share are one: sums of many trees differ in their last digits.
SAME = 1e-10


def along(directions: Floats, u: Floats) -> Floats:
    """Return offsets (..., n, d) of (..., n, k), along each person's directions (n, k, d)."""
    offset = np.zeros((*u.shape[:-1], directions.shape[-1]))
    for place in range(u.shape[-1]):
        offset += u[..., place, None] * directions[:, place]
    return offset


def better(value: Floats, than: Floats, same: float = SAME) -> NDArray[np.bool_]:
    """Whether values are larger by more than rounding."""
    size = np.abs(than)
    return np.asarray(value > than + np.where(np.isfinite(size), same * size, 0.0))


def slopes(start: Floats, objective: Objective, directions: Floats, widths: Sequence[Floats], same: float) -> Gradient:
    """The slopes of each person's loss along their directions, by central differences, of shape (n, k)."""
    (n, k, d), moving = directions.shape, np.arange(len(start))

    def gradient(u: Floats, _: Any) -> Floats:
        nonlocal moving
        found, flat = np.zeros((n, k)), moving

        def there(u: Floats, people: NDArray[np.intp]) -> Floats:
            places = start[flat] + along(directions[flat], u.reshape(-1, len(flat), k))
            return objective(places.reshape(-1, d), flat[people])

        for width in widths:
            if len(flat):
                found[flat] = central_differences(there, u[flat], width[flat], same=same)
                flat = flat[(found[flat] == 0).all(axis=1)]
        moving = np.setdiff1d(moving, flat, assume_unique=True)
        return found

    return gradient


def candidates(k: int, n: int) -> Floats:
    """Return n points (n, k) of the unit ball: on both sides of every axis at halved radii, then of a Sobol sequence.

    Examples
    --------
    >>> print(candidates(1, 8)[:4, 0])
    [ 1.  -1.   0.5 -0.5]
    """
    radii = 0.5 ** np.arange(min(max(n // (4 * k), 1), _MOST_RADII))
    axes = np.concatenate([np.eye(k), -np.eye(k)])
    on_axes = (radii[:, None, None] * axes).reshape(-1, k)[: max(n // 2, 1)]
    drawn = qmc.Sobol(k + 1, seed=0).random_base2(max(n - 1, 1).bit_length())[: n - len(on_axes)]
    towards = ndtri(np.clip(drawn[:, :k], 1e-12, 1 - 1e-12))
    return np.concatenate([on_axes, towards / np.linalg.norm(towards, axis=1, keepdims=True) * drawn[:, k:]])[:n]


def search(
    start: Floats,
    objective: Objective,
    *,
    directions: Floats,
    radius: Floats,
    costs: Floats,
    first: Floats,
    n_candidates: int,
    checkpoints: Any,
) -> Iterator[Floats]:
    """The point near each person where objective - sum of costs u^2 is largest, u along the directions.

    Examples
    --------
    >>> def steps(x, people):
    ...     return (x[:, 0] > 0.3).astype(float)
    >>> (found,) = search(
    ...     np.zeros((1, 2)),
    ...     steps,
    ...     directions=np.array([[[1.0, 0.0]]]),
    ...     radius=np.ones((1, 1)),
    ...     costs=np.zeros((1, 1)),
    ...     first=np.zeros((1, 1)),
    ...     n_candidates=64,
    ...     checkpoints=[64],
    ... )
    >>> bool(0.3 < found[0, 0] < 0.301)
    True
    """
    (n, k, d), people, wanted, done = directions.shape, np.arange(len(start)), set(np.asarray(checkpoints).tolist()), -1
    # The best so far of each person: in units of the radius, as x, its value, and its length.
    u, x, value, length = np.zeros((n, k)), start.copy(), np.array(objective(start.copy(), people)), np.zeros(n)
    taken = np.zeros(n, dtype=bool)

    def tried(points: Floats) -> Iterator[Floats]:
        """Keep what is larger, or equal and nearer, of candidates (m, n or 1, k); yield at checkpoints."""
        nonlocal u, value, length, taken, done
        places = start + along(directions, points * radius)
        losses = objective(places.reshape(-1, d), np.tile(people, len(places))).reshape(len(places), n)
        values = losses - (costs * (points * radius) ** 2).sum(axis=-1)
        for candidate, place, reached in zip(points, places, values, strict=True):
            far = np.broadcast_to(np.sqrt((candidate * candidate).sum(axis=-1)), length.shape)
            taken = better(reached, value) | ((far < length * (1 - SAME)) & ~better(value, reached))
            u, length = np.where(taken[:, None], candidate, u), np.where(taken, far, length)
            x[taken], value = place[taken], np.where(taken, np.maximum(reached, value), value)
            done += 1
            if done in wanted:
                yield x.copy()

    yield from tried(first[None])
    n_halvings, n_design = min(n_candidates // _SHARE_OF_HALVINGS, _MOST_HALVINGS), max(n_candidates // 2, 1)
    yield from tried(candidates(k, n_design)[:, None])
    axes, n_polls = np.concatenate([np.eye(k), -np.eye(k)])[:, None], n_candidates - n_design - n_halvings
    step = np.full((n, 1), float(n_design) ** (-1 / k))  # about the distance between candidates so far
    while n_polls > 0:
        before, around = value, (u + step * axes)[:n_polls]
        yield from tried(around / np.maximum(np.sqrt((around * around).sum(axis=-1, keepdims=True)), 1.0))
        n_polls -= len(around)
        step = np.where(better(value, before)[:, None], step, step / 2)
    farthest, low, high = u, np.zeros((n, 1)), np.ones((n, 1))
    for _ in range(n_halvings):
        middle = (low + high) / 2
        yield from tried((farthest * middle)[None])
        low, high = np.where(taken[:, None], low, middle), np.where(taken[:, None], middle, high)
