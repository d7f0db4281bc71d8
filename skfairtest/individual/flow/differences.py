"""Derivatives of functions known only by their values: central differences, and whether derivatives exist at all."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from skfairtest._utils.typing import Floats

#: (x, people) -> values (m,) of rows x (m, d), which belong to these people; the same may occur often.
Function = Callable[[Floats, NDArray[np.intp]], Floats]

#: Rows that a function is asked about at once, as long as there are not more people.
ROWS = 20_000
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
    at_once = max(1, ROWS // (2 * n))
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
    """Return whether a function has derivatives where these rows are, by two widths of differences.

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
