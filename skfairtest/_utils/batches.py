"""Work cut into pieces that fit into memory, or into the cache."""

import numpy as np

from skfairtest._utils.typing import Integers


def batches(n: int, at_most: int) -> list[slice]:
    """Cut n things into slices of at most so many (of one at least); they depend on nothing else.

    Examples
    --------
    >>> batches(5, 2)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    step = max(1, at_most)
    return [slice(start, min(start + step, n)) for start in range(0, n, step)]


def parts(sizes: Integers, at_most: int) -> list[slice]:
    """Cut rows of increasing sizes into slices whose rows, each as long as the longest, have at most so many elements.

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
