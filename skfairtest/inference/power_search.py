"""Searches for what has a power wanted: the smallest size, the smallest disparity."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
from scipy.special import ndtri

from skfairtest.inference.power_designs import Computed

#: Largest group that is searched for.
LARGEST = 100_000_000
#: How near to the power wanted a search ends, on the scale of normal quantiles, and how often it looks at the power.
NEAR, TRIES = 1e-7, 60


def smallest_size(power_at: Callable[[int], Computed], target: float, start: int, least: int = 2) -> int:
    """Return the smallest size from which the power stays at a target.

    Exact power is a saw-tooth in the size: after a size is found, the next 30 and 30 more up to a quarter above it are
    looked at, and the search goes on behind the last that falls short (beyond 2,000, and where denominators are
    averaged over, the teeth are small: 8 sizes up to a tenth above).

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
    power_at: Callable[[float], float],
    target: float,
    room: float,
    *,
    start: float = np.nan,
    at_null: float | None = None,
    near: float = NEAR,
) -> float:
    """Return the distance from the null hypothesis at which a power is the one wanted, by false position.

    Parameters
    ----------
    power_at : callable
        Power at a distance; it rises with it.
    target : float
        Power wanted.
    room : float
        Largest distance there can be.
    start : float, optional
        Where to begin; the largest distance by default.
    at_null : float, optional
        About the power at a distance of 0, if it is known.
    near : float
        How near to the power wanted the search ends, on the scale of normal quantiles.

    Returns
    -------
    float
        NaN if no distance has the power.
    """
    wanted = float(ndtri(target))

    def excess(power: float) -> float:
        return float(ndtri(min(1 - 1e-12, max(1e-12, power)))) - wanted

    if room <= 0:
        return np.nan
    low, below = 0.0, excess(power_at(0.0) if at_null is None else at_null)
    if below >= 0:
        return low
    rise = -below
    high, above = room, np.nan
    distance = start if np.isfinite(start) else room
    for attempt in range(TRIES):
        found = excess(power_at(distance))
        if abs(found) <= near:
            return distance
        if found > 0:
            high, above = distance, found
        elif distance >= room:
            return np.nan
        else:
            low, below = distance, found
        if np.isnan(above):
            # On to where a straight line from the null hypothesis has the power, or to the end.
            distance = min(room, max(distance * rise / max(rise + found, 1e-9), 1.05 * distance))
        elif attempt > 6:
            distance = (low + high) / 2
        else:
            distance = low + (high - low) * below / (below - above)
    return high
