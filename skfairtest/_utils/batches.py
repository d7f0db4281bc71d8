"""Work cut into pieces that fit into memory, or into the cache."""

import numpy as np

from skfairtest._utils.typing import Integers


def starts(sizes: Integers) -> Integers:
    """Return where each of several rows begins that are laid end to end.

    Examples
    --------
    >>> starts(np.array([2, 1, 3])).tolist()
    [0, 2, 3]
    """
    return np.asarray(np.cumsum(sizes) - sizes)


def places(sizes: Integers) -> Integers:
    """Return the place of each element within its row, of rows that are laid end to end.

    Examples
    --------
    >>> places(np.array([2, 1, 3])).tolist()
    [0, 1, 0, 0, 1, 2]
    """
    return np.asarray(np.arange(int(sizes.sum())) - np.repeat(starts(sizes), sizes))


def batches(n: int, at_most: int) -> list[slice]:
    """Cut n things into slices of at most this many (of one at least); they depend on nothing else.

    Examples
    --------
    >>> batches(5, 2)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    step = max(1, at_most)
    return [slice(start, min(start + step, n)) for start in range(0, n, step)]


def parts(sizes: Integers, at_most: int) -> list[slice]:
    """Cut rows of increasing sizes into slices that have at most `at_most` elements once padded to the longest row.

    Examples
    --------
    >>> parts(np.array([1, 1, 2, 2, 9]), 4)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    found, start = [], 0
    while start < len(sizes):
        stop = start + max(
            1, int(np.searchsorted(sizes[start:] * np.arange(1, len(sizes) - start + 1), at_most, "right"))
        )
        found.append(slice(start, stop))
        start = stop
    return found
