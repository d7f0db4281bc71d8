"""Searches for what has a power wanted: the smallest size, the smallest disparity."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from skfairtest.inference.power_designs import Computed

#: Largest group that is searched for.
LARGEST = 100_000_000


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
    while power_at(inside).law in ("exact", "averaged"):
        if power_at(inside).law == "exact" and inside <= 2000:
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


def smallest_disparity(
    power_at: Callable[[float], float], target: float, null: float, end: float, tolerance: float = 1e-7
) -> float | None:
    """Return the value between `null` and `end` at which power reaches a target; None if it does not at the end.

    Power rises from the null value to the end; for equivalence, whose power falls, hand over the ends the other way.
    """
    if power_at(end) < target:
        return None
    outside, inside = null, end
    while abs(inside - outside) > tolerance:
        middle = (inside + outside) / 2
        if power_at(middle) >= target:
            inside = middle
        else:
            outside = middle
    return inside
