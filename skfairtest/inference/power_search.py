"""Searches for the smallest size, or the smallest disparity, with a given power."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
from scipy.special import ndtri

from skfairtest._utils.typing import Floats, Integers
from skfairtest.inference.power_designs import Computed

#: Largest group that is searched for.
LARGEST = 100_000_000
#: How near to the power wanted a search ends, on the scale of normal quantiles, and how often it looks at the power.
NEAR, TRIES = 1e-7, 60


def smallest_size(power_at: Callable[[int], Computed], target: float, start: int, least: int = 2) -> int:
    """Return the smallest size from which the power stays at a target.

    Exact power is a saw-tooth in the size: after a size is found, the next 30 and 30 more up to a quarter above it are
    checked, and the search goes on after the last that falls short (beyond 2,000, and where denominators are averaged
    over, the teeth are small: 8 sizes up to a tenth above).

    Parameters
    ----------
    power_at : callable
        Power at a size.
    target : float
        Power wanted.
    start : int
        Where to begin.
    least : int
        Smallest size there can be.

    Returns
    -------
    int
        The size; -1 if none below `LARGEST` has the power.
    """
    power_at = cache(power_at)

    def enough(size: int) -> bool:
        return power_at(size).value >= target

    inside = max(start, least)
    while not enough(inside):
        inside = max(inside + 1, int(inside * 1.1))
        if inside > LARGEST:
            return -1
    outside = inside
    step = max(1, inside // 20)
    while outside > least and enough(outside):
        inside, outside = outside, max(least, outside - step)
        step *= 2
    if enough(outside):
        return outside
    while inside - outside > 1:
        middle = (inside + outside) // 2
        inside, outside = (middle, outside) if enough(middle) else (inside, middle)
    while power_at(inside).method in ("exact", "averaged"):
        if power_at(inside).method == "exact" and inside <= 2000:
            ahead = sorted({*range(inside + 1, inside + 31), *np.linspace(inside + 1, 1.25 * inside, 30).astype(int)})
        else:
            ahead = sorted({*np.linspace(inside + 1, 1.1 * inside + 2, 8).astype(int)})
        short = [int(size) for size in ahead if not enough(int(size))]
        if not short:
            break
        inside = short[-1] + 1
        while not enough(inside):
            inside += 1
    return inside


def smallest_distance(
    power_at: Callable[[float], float], target: float, room: float, *, start: float = np.nan, near: float = NEAR
) -> float:
    """Return the distance from the null hypothesis at which one power reaches its target: see `smallest_distances`."""
    found = smallest_distances(
        lambda _, distances: np.array([power_at(float(distances[0]))]),
        target,
        np.array([room]),
        start=np.array([start]),
        near=near,
    )
    return float(found[0])


def smallest_distances(
    power_at: Callable[[Integers, Floats], Floats],
    target: float,
    room: Floats,
    *,
    start: Floats,
    at_null: Floats | None = None,
    near: float = NEAR,
) -> Floats:
    """Return the distances from the null hypothesis at which powers reach their target, by false position.

    Parameters
    ----------
    power_at : callable
        (which, at which distances) -> powers, all of shape (n,); each rises with its distance.
    target : float
        Power wanted.
    room : ndarray, shape (k,)
        Largest distance there can be.
    start : ndarray, shape (k,)
        Where to begin; NaN: at the largest distance.
    at_null : ndarray, shape (k,), optional
        About the power at a distance of 0, where it is known; NaN where it is not.
    near : float
        How near to the power wanted the search ends, on the scale of normal quantiles.

    Returns
    -------
    ndarray, shape (k,)
        NaN if no distance has the power.
    """

    def excess(power: Floats) -> Floats:
        return np.asarray(ndtri(np.clip(power, 1e-12, 1 - 1e-12)) - ndtri(target))

    out, rows = np.full(len(room), np.nan), np.flatnonzero(room > 0)
    null = np.full(len(room), np.nan) if at_null is None else at_null.copy()
    unknown = rows[np.isnan(null[rows])]
    if len(unknown):
        null[unknown] = power_at(unknown, np.zeros(len(unknown)))
    below = excess(null)
    out[rows[below[rows] >= 0]] = 0.0
    rows = rows[below[rows] < 0]
    rise = -below
    low, high, above = np.zeros(len(room)), room.copy(), np.full(len(room), np.nan)
    distance = np.where(np.isfinite(start), start, room)
    for attempt in range(TRIES):
        if not len(rows):
            return out
        found = excess(power_at(rows, distance[rows]))
        ended = np.abs(found) <= near
        out[rows[ended]] = distance[rows[ended]]
        ended |= (found <= 0) & (distance[rows] >= room[rows])  # no distance has the power
        rows, found = rows[~ended], found[~ended]
        over, under = rows[found > 0], rows[found <= 0]
        high[over], above[over] = distance[over], found[found > 0]
        low[under], below[under] = distance[under], found[found <= 0]
        # On to where a straight line from the null hypothesis has the power, or to the end.
        onwards = np.maximum(distance[rows] * rise[rows] / np.maximum(rise[rows] + found, 1e-9), 1.05 * distance[rows])
        share = 0.5 if attempt > 6 else below[rows] / (below[rows] - above[rows])
        between = low[rows] + (high[rows] - low[rows]) * share
        distance[rows] = np.where(np.isnan(above[rows]), np.minimum(room[rows], onwards), between)
    out[rows] = high[rows]
    return out
