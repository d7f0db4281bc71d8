"""Tables for sharing: small groups are left out or merged because of their size alone, and small cells are refused."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from skfairtest._utils.checks import check_choice
from skfairtest._utils.errors import ParameterError
from skfairtest._utils.typing import Integers
from skfairtest.tables.axes import Key

#: What a feature's value is in the group that small groups become.
OTHER = "(other)"
#: A group that was left out, in which stratum, and how many people it would have needed.
Suppressed = tuple[Any, Any, int]


def merged_groups(counts: Integers, groups: Sequence[Key], minimum: int, small: str) -> list[list[Key]]:
    """Return the name of each group in each stratum when small ones are merged, (S, G).

    Parameters
    ----------
    counts : ndarray of shape (S, G, K)
        Numbers of people.
    groups : sequence of tuple, length G
        The keys of the groups.
    minimum : int
        The fewest people of a group.
    small : {"exclude", "merge"}
        What to do with smaller groups.

    Raises
    ------
    ValueError
        If a parameter is not usable.
    """
    check_choice("small", small, ("exclude", "merge"))
    if not isinstance(minimum, int | np.integer) or isinstance(minimum, bool) or minimum < 1:
        raise ParameterError(f"minimum_cell must be a whole number of people, at least 1; found {minimum!r}.")
    other = (OTHER,) * len(groups[0])
    too_small = too_few(counts, minimum) & (small == "merge")
    return [[other if merge else group for merge, group in zip(row, groups, strict=True)] for row in too_small]


def too_few(counts: Integers, minimum: int) -> np.ndarray:
    """A mask of the groups with people, but fewer than `minimum`, in each stratum: (S, G)."""
    sizes = counts.sum(axis=2)
    return np.asarray((sizes > 0) & (sizes < minimum))


def check_small_cells(counts: Integers, groups: Sequence[Any], cells: Sequence[Key], minimum: int) -> None:
    """Refuse cells with fewer people than may be published.

    Raises
    ------
    ValueError
        If there are any; the message says what to do.
    """
    small = np.argwhere((counts > 0) & (counts < minimum))
    if len(small):
        _, group, cell = small[0]
        raise ParameterError(
            f"minimum_cell={minimum}: {len(small):,} cells of the table have fewer people, such as {cells[cell]!r} of "
            f"group {groups[group]!r}. Leaving out cells because of their counts would make tests invalid: count fewer "
            "cells (table.marginal('y_pred')), fewer groups (table.regroup, small='merge') or fewer bins of scores."
        )
