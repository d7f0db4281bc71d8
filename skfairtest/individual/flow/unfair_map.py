"""Unfair maps: moving each person to a point near in the fair distance where the model's loss is larger.

An unfair map is a function of one person's (x, y) alone. Nothing here depends on who else is in the block, on the order
of its rows or on where a block was cut, so that the ratios of different people are independent, as the central limit
theorem of the audit value requires.

The gradient flow (Maity et al. 2021, equations 2.6 and 2.7)::

    dX/dt = grad_x { loss(f(X), y) - lambda d^2(X, x0) },    X(0) = x0,

is followed all people at once by steps that are implicit in the distance (`implicit`: stable however long they are, as
the distance is quadratic) or by forward Euler, as published; or person by person by SciPy's solvers with error control.
Models without a gradient are searched instead (`search`).

References
----------
S. Maity, S. Xue, M. Yurochkin, Y. Sun (2021). Statistical inference for individual fairness. ICLR.
"""

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.integrate import solve_ivp

from skfairtest._utils.typing import Floats

#: Which people of the block the rows of x are.
People = slice | NDArray[np.intp]
#: (x, people) -> gradient of each person's loss, (n, d).
Gradient = Callable[[Floats, People], Floats]
#: v -> v Sigma.
Pull = Callable[[Floats], Floats]
#: v, t -> v (I + t Sigma)^-1.
Shrink = Callable[[Floats, float], Floats]

EVERYONE = slice(None)
#: Nobody goes this far; single precision, in which many models compute, ends at 3e38.
FARTHEST = 1e30
#: Steps between two looks at whether numbers are still finite.
_LOOK_EVERY = 64
#: Of SciPy's solvers.
_TOLERANCES: dict[str, Any] = {"rtol": 1e-8, "atol": 1e-10}


class FlowDivergedError(ArithmeticError):
    """Points of a flow are no longer finite numbers.

    Parameters
    ----------
    people : int
        How many people are no longer at a finite place.
    step : float
        Number of steps done when it was noticed; of an adaptive solver, the time of the flow.
    """

    def __init__(self, people: int, step: float) -> None:
        super().__init__(people, step)  # both, for the way back from another process
        self.people = people
        self.step = step

    def __str__(self) -> str:
        return f"the flow of {self.people} people diverged by {self.step:g}"


def euler(
    x0: ArrayLike, gradient: Gradient, pull: Pull, *, steps: ArrayLike, regularization: float, checkpoints: ArrayLike
) -> Iterator[Floats]:
    """Follow the gradient flow by forward Euler, all people at once.

    x <- x + step (gradient(x) - 2 regularization pull(x - x0)).

    Parameters
    ----------
    x0 : array-like, shape (n, d)
        Where people start; not modified.
    gradient : callable
        ``gradient(x, people)``, of shape (n, d).
    pull : callable
        ``pull(v) = v Sigma``.
    steps : array-like, shape (n_steps,)
        Step sizes.
    regularization : float
        lambda.
    checkpoints : array-like of int
        Numbers of steps done, increasing, the last of them ``len(steps)``.

    Yields
    ------
    ndarray, shape (n, d)
        Where people are at each checkpoint.

    Raises
    ------
    FlowDivergedError
        If somebody is no longer at a finite place.
    """
    start = np.array(x0, dtype=float)
    away = np.empty_like(start)

    def step(x: Floats, size: float) -> None:
        np.subtract(x, start, out=away)
        np.multiply(pull(away), -2 * regularization, out=away)
        np.add(away, gradient(x, EVERYONE), out=away)
        np.multiply(away, size, out=away)
        np.add(x, away, out=x)

    yield from _followed(start, step, steps, checkpoints)


def implicit(
    x0: ArrayLike,
    gradient: Gradient,
    shrink: Shrink,
    *,
    steps: ArrayLike,
    regularization: float,
    checkpoints: ArrayLike,
    bounded: bool = False,
) -> Iterator[Floats]:
    """Follow the gradient flow by steps that are implicit in the distance, all people at once.

    x <- x0 + (x - x0 + step gradient(x)) (I + 2 step regularization Sigma)^-1: the distance pulls from where a step
    ends, so that no step is too long for it.

    Parameters
    ----------
    x0, gradient, steps, regularization, checkpoints
        As for `euler`.
    shrink : callable
        ``shrink(v, t) = v (I + t Sigma)^-1``.
    bounded : bool
        Whether it is only asked in which direction people leave a bounded set: who would run away (the squared error of
        an exponential grows without limit in a finite time) stays where the last numbers are.

    Yields
    ------
    ndarray, shape (n, d)
        Where people are at each checkpoint.

    Raises
    ------
    FlowDivergedError
        If somebody is no longer at a finite place.
    """
    start = np.array(x0, dtype=float)

    def step(x: Floats, size: float) -> None:
        away = x - start
        away += size * gradient(x, EVERYONE)
        moved = start + shrink(away, 2 * size * regularization)
        lost = _strays(moved, start) if bounded else None
        x[...] = moved if lost is None else np.where(lost[:, None], x, moved)

    yield from _followed(start, step, steps, checkpoints)


def _followed(
    start: Floats, step: Callable[[Floats, float], None], steps: ArrayLike, checkpoints: ArrayLike
) -> Iterator[Floats]:
    """Take steps, which overwrite where people are, and yield at every checkpoint where that is."""
    sizes = np.asarray(steps, dtype=float).tolist()
    x, done = start.copy(), 0
    for checkpoint in np.asarray(checkpoints).tolist():
        while done < checkpoint:
            until = min(checkpoint, done + _LOOK_EVERY)
            try:
                with np.errstate(over="ignore", invalid="ignore"):
                    for size in sizes[done:until]:
                        step(x, size)
            except Exception as error:  # whatever a model raises when it is asked about points that are not numbers
                if people := _lost(x, start):
                    raise FlowDivergedError(people, until) from error
                raise
            if people := _lost(x, start):
                raise FlowDivergedError(people, until)
            done = until
        yield x.copy()


def _lost(x: Floats, x0: Floats) -> int:
    """How many people are not at a finite place, or farther than anybody goes."""
    with np.errstate(over="ignore", invalid="ignore"):
        return int(_strays(x, x0).sum())


def _strays(x: Floats, x0: Floats) -> NDArray[np.bool_]:
    return np.asarray(~(np.abs(x - x0) < FARTHEST).all(axis=1))


def integrate(
    x0: ArrayLike, gradient: Gradient, pull: Pull, *, times: ArrayLike, regularization: float, method: str
) -> Iterator[Floats]:
    """Follow the gradient flow with error control, person by person, as a reference for Euler's method.

    One solver for all people together would choose its steps by the most difficult person.

    Parameters
    ----------
    x0, gradient, pull, regularization
        As for `euler`.
    times : array-like of float
        Times of the flow at the checkpoints, increasing.
    method : str
        A method of `scipy.integrate.solve_ivp`.

    Yields
    ------
    ndarray, shape (n, d)
        Where people are at each time.

    Raises
    ------
    FlowDivergedError
        If the solver fails for somebody.
    """
    start = np.array(x0, dtype=float)
    moments = np.asarray(times, dtype=float)
    found = np.empty((len(moments), *start.shape))
    failed, reached = 0, np.inf
    for person, here in enumerate(start):
        velocity = _velocity(gradient, pull, regularization, here, slice(person, person + 1))
        try:
            found[:, person] = _solved(velocity, here, moments, method)
        except FlowDivergedError as error:
            failed, reached = failed + error.people, min(reached, error.step)
    if failed:
        raise FlowDivergedError(failed, reached)
    yield from found


def _velocity(
    gradient: Gradient, pull: Pull, regularization: float, here: Floats, rows: slice
) -> Callable[[float, Floats], Floats]:
    """Return the right-hand side of one person's flow."""

    def velocity(time: float, x: Floats) -> Floats:
        point = x[None].copy()
        if not _lost(point, here):
            slope: Floats = (gradient(point, rows) - 2 * regularization * pull(point - here))[0]
            if np.isfinite(slope).all():
                return slope
        raise FlowDivergedError(1, time)  # solvers of stiff equations stumble over what is not a number

    return velocity


def _solved(velocity: Callable[[float, Floats], Floats], here: Floats, moments: Floats, method: str) -> Floats:
    """Return where one person is at every moment, (n_moments, d)."""
    solve: Any = solve_ivp  # its types do not know a method that is any string
    with np.errstate(over="ignore", invalid="ignore"), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="lsoda:")  # of a failure, which is an error here
        solution = solve(velocity, (0.0, moments[-1]), here, method=method, t_eval=moments, **_TOLERANCES)
    if not solution.success:
        raise FlowDivergedError(1, float(solution.t[-1]) if len(solution.t) else 0.0)
    return np.asarray(solution.y.T, dtype=float)
