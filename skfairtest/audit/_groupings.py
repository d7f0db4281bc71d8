"""The ways of grouping people in an audit, and the resamples that so many comparisons need.

Single sensitive features come first, then every crossing of several.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import combinations
from math import comb

import numpy as np

from skfairtest._utils.errors import ParameterError
from skfairtest.comparisons.best import BEST
from skfairtest.comparisons.contrasts import numbers_of
from skfairtest.comparisons.settings import Settings
from skfairtest.inference.multiplicity import FAMILYWISE
from skfairtest.readers import is_label
from skfairtest.tables import Sample


def groupings(levels: Mapping[str, int], *, intersections: bool) -> Iterator[tuple[str, ...]]:
    """Yield each feature, then all pairs, all triples and so forth of the features that have at least two values.

    Parameters
    ----------
    levels : mapping of str to int
        How many values each feature has.
    intersections : bool
        Whether features are crossed.

    Raises
    ------
    ValueError
        If a crossing has the name of a feature.

    Examples
    --------
    >>> list(groupings({"race": 5, "sex": 2, "planet": 1}, intersections=True))
    [('race',), ('sex',), ('planet',), ('race', 'sex')]
    """
    if not is_label(intersections, True) and not is_label(intersections, False):
        raise ParameterError(f"intersections must be True or False; found {intersections!r}")
    yield from ((name,) for name in levels)
    # Crossed with a feature of one value, people are grouped as they were without it.
    dividing = [name for name, n in levels.items() if n > 1]
    for size in range(2, (len(dividing) if intersections else 0) + 1):
        for names in combinations(dividing, size):
            if " x ".join(names) in levels:
                raise ParameterError(
                    f"sensitive_features: {' x '.join(names)!r} is the name of a feature, and also of "
                    f"{' and '.join(names)} crossed: rename it, or set intersections=False"
                )
            yield names


def sets_of(sample: Sample, people: Sample) -> list[int]:
    """Return a number for the set of people in each group of a grouping: equal for equal sets of all groupings.

    Parameters
    ----------
    sample : Sample
        People grouped by all features together.
    people : Sample
        The same people, grouped by some of them.
    """
    place = [sample.sensitive_names.index(name) for name in people.sensitive_names]
    found = dict.fromkeys(people.groups, 0)
    for key, number in zip(sample.groups, numbers_of(len(sample.groups)), strict=True):
        own = tuple(key[p] for p in place)
        if own in found:  # people of whom one of the features is not known are in none of its groups
            found[own] ^= number
    return list(found.values())


def how_many(n_groups: int, n_features: int, compare: str) -> int:
    """Count the comparisons of one metric between groups of so many features, undefined ones included."""
    if compare in ("between_groups", *BEST):
        return comb(n_groups, 2)
    return n_groups * (n_features if compare == "to_parents" else 1)


def enough_draws(settings: Settings, family: int) -> Settings:
    """Set the number of resamples so high that few extreme ones can be significant, if the caller left it open."""
    needed = int(np.ceil(family / settings.alpha)) if settings.adjust in FAMILYWISE else 0
    if settings.question.method != "auto" or settings.n_resamples > needed:
        return settings
    # None as extreme among these is significant; twice as many, so that few extreme ones can be where some are.
    return replace(settings, n_resamples=2 * needed, adaptive=True, n_decisive=needed)
