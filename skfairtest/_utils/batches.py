"""Work cut into pieces that fit into memory, or into the cache."""


def batches(n: int, at_most: int) -> list[slice]:
    """Cut n things into slices of at most so many (of one at least); they depend on nothing else.

    Examples
    --------
    >>> batches(5, 2)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    step = max(1, at_most)
    return [slice(start, min(start + step, n)) for start in range(0, n, step)]
