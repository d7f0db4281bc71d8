"""Which ways of grouping people an audit looks at: each sensitive feature, then every crossing of several."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations
from math import comb


def groupings(levels: Mapping[str, int], *, intersections: bool) -> Iterator[tuple[str, ...]]:
    """Yield each feature, then all pairs, all triples and so forth of those that divide people at all.

    Parameters
    ----------
    levels : mapping of str to int
        How many values each feature has.
    intersections : bool
        Whether features are crossed.

    Examples
    --------
    >>> list(groupings({"race": 5, "sex": 2, "planet": 1}, intersections=True))
    [('race',), ('sex',), ('planet',), ('race', 'sex')]
    """
    yield from ((name,) for name in levels)
    # Crossed with a feature of one value, people are grouped as they were without it.
    dividing = [name for name, n in levels.items() if n > 1]
    for size in range(2, (len(dividing) if intersections else 0) + 1):
        yield from combinations(dividing, size)


def how_many(n_groups: int, compare: str) -> int:
    """Count the comparisons of one metric between groups, undefined ones included."""
    return comb(n_groups, 2) if compare == "between_groups" else n_groups
