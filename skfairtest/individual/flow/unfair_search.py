"""Functions known by their values: differences for derivatives, and searches without any.

Derivatives of functions known only by their values: central differences, and whether derivatives exist at all.

Searching near each person for the point where the loss is largest, without derivatives.

Trees and their ensembles are constant almost everywhere: their gradient is 0 and a gradient flow does not move. The
worst case is searched along the directions that cost nothing in the fair distance, as far as a flow would go whose
slopes are differences over a quarter of a unit or more (`reach`): first among candidates that are the same for
everybody, then around each person's best, finally between that best and the start. The result is a function of one
person's (x, y): each person's candidates are evaluated, counted and compared independently of all other people.

Among points with the same loss the nearest is kept, since an unfair example is more convincing the nearer it is; people
for whom no point is strictly worse stay at the start.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri
from scipy.stats import qmc

from skfairtest._utils.typing import Floats
from skfairtest.individual.flow.quadratic import Quadratic, Quadratics

#: (x, people) -> values (m,) of rows x (m, d), which belong to these people; the same may occur often.
Function = Callable[[Floats, NDArray[np.intp]], Floats]

#: Rows that a function is asked about at once, as long as there are not more people.
MOST_ROWS = 20_000
#: Quotients of two widths that differ by more than this share of their size are not of a derivative.
DIFFER = 0.1
#: Values are exact to this many roundings.
ROUNDINGS = 1000
#: People that show derivatives, of those who show anything.
MOSTLY = 0.95


def central_differences(
    function: Function, x: Floats, *, width: float, columns: NDArray[np.intp] | None = None
) -> Floats:
    """Approximate the derivative of every row's value with respect to its own columns.

    Parameters
    ----------
    function : callable
        ``function(x, people)``.
    x : ndarray of shape (n, d)
        Rows.
    width : float
        Half of the distance between the two values that are compared, for columns of size 1 and less; in proportion to
        larger ones.
    columns : ndarray of int, optional
        The columns to differentiate with respect to; 0 for the others.

    Returns
    -------
    ndarray of shape (n, d)
        The quotients.

    Examples
    --------
    >>> found = central_differences(
    ...     lambda x, people: x[:, 0] ** 2, np.array([[3.0, 1.0]]), width=1e-5
    ... )
    >>> found.round(6)
    array([[6., 0.]])
    """
    n, d = x.shape
    gradient, everybody = np.zeros((n, d)), np.arange(n)
    step = width * np.maximum(1.0, np.abs(x))
    wanted = np.arange(d) if columns is None else columns
    at_once = max(1, MOST_ROWS // (2 * n))
    for some in (wanted[start : start + at_once] for start in range(0, len(wanted), at_once)):
        moved = np.broadcast_to(x, (2, len(some), n, d)).copy()
        for place, column in enumerate(some):
            moved[0, place, :, column] += step[:, column]
            moved[1, place, :, column] -= step[:, column]
        people = np.tile(everybody, 2 * len(some))
        up, down = function(moved.reshape(-1, d), people).reshape(2, len(some), n)
        # What was really added, after rounding.
        across = np.stack([moved[0, p, :, c] - moved[1, p, :, c] for p, c in enumerate(some)])
        gradient[:, some] = ((up - down) / across).T
    return gradient


def differentiable(function: Function, x: Floats, *, width: float, columns: NDArray[np.intp] | None = None) -> bool:
    """Whether a function has derivatives where these rows are, by two widths of differences.

    If a function jumps, its difference quotients are 0, or they grow as the width shrinks. A function that is constant
    between many jumps, such as a large forest, has some of both.

    Parameters
    ----------
    function, x, width, columns
        As of `central_differences`; `width` squared is about the precision of values.

    Returns
    -------
    bool
        Whether most rows for which the function changes at all have derivatives.

    Examples
    --------
    >>> x = np.linspace(-1, 1, 8)[:, None]
    >>> differentiable(lambda x, people: x[:, 0] ** 2, x, width=1e-5)
    True
    >>> differentiable(lambda x, people: np.floor(x[:, 0]), x, width=1e-5)
    False
    """
    wide, narrow = (central_differences(function, x, width=half, columns=columns) for half in (width, width / 4))
    size = np.linalg.norm(wide, axis=1) + np.linalg.norm(narrow, axis=1)
    smooth = np.linalg.norm(wide - narrow, axis=1) < DIFFER * size
    rounding = ROUNDINGS * width**2 * float(np.abs(function(x, np.arange(len(x)))).max())
    moves = size > rounding
    return bool((moves & smooth).sum() > MOSTLY * moves.sum())


#: (x, people) -> losses (m,) of rows x (m, d), which belong to these people of the block; the same may occur often.
Objective = Callable[[Floats, NDArray[np.intp]], Floats]

#: Rows that a model is asked about at once, as long as the block is not longer: a call costs as much as many rows.
ROWS = 20_000
#: Slopes of what has no derivative are differences to both sides over so many units, standard deviations by default:
#: the first that are not 0. What is smooth has a slope over the first.
WIDTHS = (0.25, 0.5, 1.0)
#: Of this many candidates one halves the way back to the start; at most so many do.
_SHARE_OF_HALVINGS, _MOST_HALVINGS = 8, 8
#: Radii tried on both sides of every direction: 1, 1/2, ..., of the largest; at most so many.
_MOST_RADII = 6
#: Losses, and lengths, that differ by less than this share are one: sums of many trees differ in their last digits.
_SAME = 1e-10


@dataclass
class _Search:
    """The best point so far for each person (in units of the radius, and as x), and its value."""

    start: Floats
    objective: Objective
    metric: Quadratic | Quadratics
    directions: Floats
    radius: Floats  # of everybody in each direction
    regularization: float
    u: Floats = field(init=False)
    x: Floats = field(init=False)
    value: Floats = field(init=False)
    length: Floats = field(init=False)
    taken: NDArray[np.bool_] = field(init=False)

    def __post_init__(self) -> None:
        n = len(self.start)
        self.u, self.x = np.zeros((n, len(self.directions))), self.start.copy()
        self.value = self._losses(self.start.copy(), np.arange(n))
        self.length, self.taken = np.zeros(n), np.zeros(n, dtype=bool)

    def places(self, u: Floats) -> Floats:
        """Return the points (m, n, d) of candidates (m, n or 1, k)."""
        return self.start + along(self.directions, u * self.radius)

    def values(self, x: Floats) -> Floats:
        """Return the values of points (m, n, d), of shape (m, n), by one call of the objective."""
        m, n, d = x.shape
        people = np.tile(np.arange(n), m)
        penalty = self.metric.squared_distance(x - self.start)
        losses: Floats = self._losses(x.reshape(-1, d), people).reshape(m, n)
        return losses - self.regularization * penalty

    def _losses(self, x: Floats, people: NDArray[np.intp]) -> Floats:
        losses = np.array(self.objective(x, people), dtype=float)
        if unknown := int(np.isnan(losses).sum()):
            raise ValueError(f"objective must be a number everywhere, found NaN at {unknown} of {len(losses)} points")
        return losses

    def take(self, u: Floats, x: Floats, value: Floats) -> None:
        """Keep the candidates (n or 1, k) whose value is larger than the best so far, or equal and nearer."""
        length = np.broadcast_to(np.sqrt((u * u).sum(axis=-1)), self.length.shape)
        nearer = length < self.length * (1 - _SAME)
        self.taken = better(value, self.value) | (nearer & ~better(self.value, value))
        self.u = np.where(self.taken[:, None], u, self.u)
        self.x[self.taken] = x[self.taken]
        self.length = np.where(self.taken, length, self.length)
        self.value = np.where(self.taken, np.maximum(value, self.value), self.value)

    def rounds(self, design: Floats, n_polls: int, n_halvings: int) -> Iterator[Floats]:
        """Yield candidates (m, n or 1, k) that can be evaluated together; the next ones depend on their values."""
        yield design[:, None]
        (n, k) = self.u.shape
        axes = np.concatenate([np.eye(k), -np.eye(k)])[:, None]
        step = np.full((n, 1), float(len(design)) ** (-1 / k))  # about the distance between candidates so far
        while n_polls > 0:
            before = self.value
            around = (self.u + step * axes)[:n_polls]
            yield around / np.maximum(np.sqrt((around * around).sum(axis=-1, keepdims=True)), 1.0)
            n_polls -= len(around)
            step = np.where(better(self.value, before)[:, None], step, step / 2)
        far, low, high = self.u, np.zeros((n, 1)), np.ones((n, 1))
        for _ in range(n_halvings):
            middle = (low + high) / 2
            yield (far * middle)[None]
            low, high = np.where(self.taken[:, None], low, middle), np.where(self.taken[:, None], middle, high)


def along(directions: Floats, u: Floats) -> Floats:
    """Return offsets (..., d) of candidates (..., k), along rows (k, d), or everybody's own (k, n, d).

    Sums are written out: the rounding of a matrix product depends on the number of rows, and a tree sees the last
    digit.
    """
    offset = np.zeros((*np.broadcast_shapes(u.shape[:-1], directions.shape[1:-1]), directions.shape[-1]))
    for direction, row in enumerate(directions):
        offset += u[..., direction, None] * row
    return offset


def reach(
    x0: ArrayLike,
    objective: Objective,
    metric: Quadratic | Quadratics,
    *,
    directions: ArrayLike,
    limits: ArrayLike,
    steps: ArrayLike,
    regularization: float,
) -> Floats:
    """The reach of the flow of the loss, smoothed by differences over `WIDTHS`.

    Parameters
    ----------
    x0, objective, metric, directions, regularization
        As of `search`.
    limits : array-like of shape (k,) or (n, k)
        The largest distance.
    steps : array-like, shape (n_steps,)
        Step sizes, implicit in the distance.

    Returns
    -------
    ndarray of shape (n, k)
        Where everybody's flow ends, along each direction.
    """
    start, rows = np.array(x0, dtype=float), np.asarray(directions, dtype=float)
    u = np.zeros((len(start), len(rows)))
    costs, limits = (np.broadcast_to(each, u.shape) for each in (metric.squared_distance(rows).T, np.asarray(limits)))
    rows = np.broadcast_to(rows if rows.ndim == 3 else rows[:, None], (len(rows), *start.shape))
    moving = np.arange(len(start))
    for size in np.asarray(steps, dtype=float).tolist():
        slopes, flat = np.zeros_like(u), moving
        for width in WIDTHS:
            if not len(flat):
                break
            widths = np.minimum(width, limits[flat])
            slopes[flat] = _slopes(start[flat], u[flat], flat, objective, rows[:, flat], widths)
            flat = flat[(slopes[flat] == 0).all(axis=1)]
        moving = np.setdiff1d(moving, flat, assume_unique=True)  # there is nothing to follow, here and from now on
        shrunk = (u[moving] + size * slopes[moving]) / (1 + 2 * size * regularization * costs[moving])
        u[moving] = np.clip(shrunk, -limits[moving], limits[moving])
    return u


def _slopes(
    start: Floats, u: Floats, people: NDArray[np.intp], objective: Objective, rows: Floats, widths: Floats
) -> Floats:
    """Return the slopes (n, k) of some people's losses along directions; rounding errors are 0."""
    (n, d), k = start.shape, len(rows)
    probes = np.concatenate([np.eye(k), -np.eye(k)])[:, None] * widths
    losses = objective((start + along(rows, u + probes)).reshape(-1, d), np.tile(people, 2 * k)).reshape(2, k, n)
    up, down = losses
    with np.errstate(invalid="ignore"):  # infinite on both sides
        slopes = np.where(better(up, down) | better(down, up), (up - down) / (2 * widths.T), 0.0)
    found: Floats = slopes.T
    return found


def better(value: Floats, than: Floats) -> NDArray[np.bool_]:
    """Whether values are larger by more than rounding."""
    size = np.abs(than)
    return np.asarray(value > than + np.where(np.isfinite(size), _SAME * size, 0.0))


def candidates(k: int, n: int, seed: int) -> Floats:
    """Return n points (n, k) of the unit ball: on both sides of every axis at halved radii, then of a Sobol sequence.

    The sequence spreads evenly over directions and over distances, not over the volume, most of which is far from the
    centre.

    Examples
    --------
    >>> print(candidates(1, 8, seed=0)[:4, 0])
    [ 1.  -1.   0.5 -0.5]
    """
    radii = 0.5 ** np.arange(min(max(n // (4 * k), 1), _MOST_RADII))
    axes = np.concatenate([np.eye(k), -np.eye(k)])
    on_axes = (radii[:, None, None] * axes).reshape(-1, k)[: max(n // 2, 1)]
    drawn = qmc.Sobol(k + 1, seed=seed).random_base2(max(n - 1, 1).bit_length())[: n - len(on_axes)]
    towards = ndtri(np.clip(drawn[:, :k], 1e-12, 1 - 1e-12))
    return np.concatenate([on_axes, towards / np.linalg.norm(towards, axis=1, keepdims=True) * drawn[:, k:]])[:n]


def search(
    x0: ArrayLike,
    objective: Objective,
    metric: Quadratic | Quadratics,
    *,
    directions: ArrayLike,
    radius: ArrayLike,
    n_candidates: int,
    regularization: float,
    first: ArrayLike | None = None,
    checkpoints: ArrayLike,
    seed: int = 0,
) -> Iterator[Floats]:
    """Search for the point near each person where objective - regularization d^2 is largest.

    Half of the candidates are the same offsets for everybody (`candidates`). Then a compass search polls both sides of
    every direction around each person's best, with a step that is halved if nothing better is found. The last few
    candidates halve the distance to the start, as long as the value does not fall: the result is the nearest among the
    equally bad points that were tried, not among all points.

    Parameters
    ----------
    x0 : array-like, shape (n, d)
        Where people start; not modified.
    objective : callable
        ``objective(x, people)``: losses of the rows of x, which belong to these people; they may be infinite. It is
        evaluated once at everybody's start and at `n_candidates` points for everybody, several candidates in one call
        as long as these are at most `ROWS` rows.
    metric : Quadratic
        The fair distance d^2.
    directions : array-like, shape (k, d) or (k, n, d)
        Orthonormal rows, of everybody or of each.
    radius : array-like, of one number or shape (k,) or (n, k)
        How far candidates go in all directions, or in each (an ellipsoid, in whose units distances are then compared),
        of everybody or of each.
    n_candidates : int
        How many candidates are evaluated for each person, at least 1.
    regularization : float
        lambda.
    first : array-like of shape (n, k), optional
        Points to evaluate first, in units of the radius.
    checkpoints : array-like of int
        Numbers of candidates evaluated, increasing, the last of them `n_candidates`.
    seed : int
        Seed of the order of the candidates, which are the same for everybody.

    Yields
    ------
    ndarray, shape (n, d)
        The best points at each checkpoint.

    Raises
    ------
    ValueError
        If the objective is NaN.

    Examples
    --------
    >>> from skfairtest.individual.flow.quadratic import Quadratic
    >>> def steps(x, people):
    ...     return (x[:, 0] > 0.3).astype(float)
    >>> free = Quadratic([[0.0, 0.0], [0.0, 1.0]])
    >>> (found,) = search(
    ...     [[0.0, 0.0]],
    ...     steps,
    ...     free,
    ...     directions=free.free_directions,
    ...     radius=1.0,
    ...     n_candidates=64,
    ...     regularization=50.0,
    ...     checkpoints=[64],
    ... )
    >>> bool(0.3 < found[0, 0] < 0.301)
    True
    """
    start = np.array(x0, dtype=float)
    rows = np.asarray(directions, dtype=float)
    if not len(rows):
        yield from (start.copy() for _ in np.asarray(checkpoints))
        return
    radii = np.broadcast_to(np.asarray(radius, dtype=float), (len(start), len(rows)))
    wanted = set(np.asarray(checkpoints).tolist())
    n_halvings = min(n_candidates // _SHARE_OF_HALVINGS, _MOST_HALVINGS)
    n_design = max(n_candidates // 2, 1)
    design = candidates(len(rows), n_design, seed)
    state = _Search(start, objective, metric, rows, radii, regularization)
    if first is not None:
        u = np.asarray(first, dtype=float)[None]
        x = state.places(u)
        state.take(u[0], x[0], state.values(x)[0])
    at_once, done = max(1, ROWS // max(1, len(start))), 0
    for points in state.rounds(design, n_candidates - n_design - n_halvings, n_halvings):
        for some in (points[place : place + at_once] for place in range(0, len(points), at_once)):
            x = state.places(some)
            for u, there, value in zip(some, x, state.values(x), strict=True):
                state.take(u, there, value)
                done += 1
                if done in wanted:
                    yield state.x.copy()
