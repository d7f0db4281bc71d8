"""Random groups of people, row by row: label permutations of two groups, and bootstrap samples.

Where a metric does not compress to a small table (AUC of continuous scores), a resample is a row over people. These are
the rows, at about a nanosecond per person; of a small group among many people, the list of its members.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from skfairtest._utils.batches import batches
from skfairtest._utils.typing import Booleans, Integers

#: People (rows times people) drawn at once: what stays in cache.
BLOCK = 1 << 18
#: The same where a row is longer than this, so that there are more than a few rows.
LONG_ROW, LONG_BLOCK = 1 << 13, 1 << 20


def memberships(n: int, n_first: int, size: int, rng: np.random.Generator) -> NDArray[np.uint8]:
    """Uniformly random subsets of exactly `n_first` of `n` people: each row is a permutation of two groups' labels.

    Every person first joins independently with a probability a little below n_first / n (one random byte each); rows
    with more than `n_first` members are drawn anew, and the others are filled up with people drawn at random among
    those who are still out. No step looks at who a person is: renaming the people changes no row's distribution. All
    subsets of `n_first` people are therefore equally likely, exactly, whatever the probability of joining was; it only
    sets the cost.

    Parameters
    ----------
    n : int
        How many people.
    n_first : int
        How many of them are in the subset.
    size : int
        How many subsets.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    ndarray of uint8, shape (size, n)
        1 for the people in the subset, 0 for the others.

    Raises
    ------
    ValueError
        If `n_first` is not between 0 and `n`.

    Examples
    --------
    >>> import numpy as np
    >>> from skfairtest.inference.memberships import memberships
    >>> memberships(6, 2, 4, np.random.default_rng(0)).sum(axis=1).tolist()
    [2, 2, 2, 2]
    """
    if not 0 <= n_first <= n:
        raise ValueError(f"n_first must be between 0 and n={n}, found {n_first}")
    if n_first > n - n_first:
        out = memberships(n, n - n_first, size, rng)
        return np.bitwise_xor(out, 1, out=out)
    out = np.zeros((size, n), dtype=np.uint8)
    if n_first == 0:
        return out
    for rows in batches(size, (BLOCK if n <= LONG_ROW else LONG_BLOCK) // n):
        _draw(out[rows], n_first, rng)
    return out


def subsets(n: int, size_of_each: int, size: int, rng: np.random.Generator) -> Integers:
    """Uniformly random subsets of `n` people as lists of their members, at a cost that does not depend on `n`.

    People are drawn with replacement, a few more than are needed; those who come twice count once, and members are
    struck out at random where there are too many. Rows with too few are drawn anew. No step looks at who a person is:
    all subsets of `size_of_each` people are equally likely, exactly.

    Parameters
    ----------
    n : int
        How many people.
    size_of_each : int
        How many of them are in a subset; few of them, or `memberships` is faster.
    size : int
        How many subsets.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    ndarray of int64, shape (size, size_of_each)
        Members between 0 and n - 1, in increasing order.

    Raises
    ------
    ValueError
        If `size_of_each` is not between 0 and half of `n`.

    Examples
    --------
    >>> import numpy as np
    >>> from skfairtest.inference.memberships import subsets
    >>> [len(set(row)) for row in subsets(100, 5, 3, np.random.default_rng(0)).tolist()]
    [5, 5, 5]
    """
    k = size_of_each
    if not 0 <= 2 * k <= n:
        raise ValueError(f"size_of_each must be between 0 and half of n={n}, found {k}")
    out = np.empty((size, k), dtype=np.int64)
    if k:
        # So many different ones are expected two standard deviations above what is needed.
        wanted = min(k + 2 * k / (2 * n) ** 0.5, 0.75 * n)
        drawn = max(k, int(np.ceil(-n * np.log1p(-wanted / n))))
        for rows in batches(size, BLOCK // drawn):
            _draw_lists(out[rows], n, drawn, rng)
    return out


def _draw_lists(out: Integers, n: int, drawn: int, rng: np.random.Generator) -> None:
    """Write a random subset into each row, of at least as many people drawn with replacement."""
    size, k = out.shape
    members, kept = _with_replacement(size, n, drawn, rng)
    surplus = _row_sums(kept.view(np.uint8)) - k
    while (rows := np.flatnonzero(surplus < 0)).size:
        members[rows], kept[rows] = _with_replacement(rows.size, n, drawn, rng)
        surplus[rows] = _row_sums(kept[rows].view(np.uint8)) - k
    flat, starts = kept.reshape(-1), np.arange(0, size * drawn + 1, drawn)
    # Each round strikes out as many as are too many; some places are empty and some come twice, so never more.
    while (too_many := int(surplus.sum())) > 0:
        struck = rng.integers(0, drawn, size=too_many) + np.repeat(starts[:-1], surplus)
        struck = np.unique(struck[flat[struck]])
        flat[struck] = False
        surplus -= np.diff(np.searchsorted(struck, starts))
    out[:] = members[kept].reshape(size, k)


def _with_replacement(size: int, n: int, drawn: int, rng: np.random.Generator) -> tuple[NDArray[np.int32], Booleans]:
    """Return people drawn with replacement, sorted, and where each of them is met first."""
    members = rng.integers(0, n, size=(size, drawn), dtype=np.int32)
    members.sort(axis=1)
    first = np.ones(members.shape, dtype=bool)
    np.not_equal(members[:, 1:], members[:, :-1], out=first[:, 1:])
    return members, first


def _draw(out: NDArray[np.uint8], n_first: int, rng: np.random.Generator) -> None:
    """Write a random subset of `n_first` people (at most half of them) into each row of zeros."""
    size, n = out.shape
    # Two standard deviations below the target: few rows are drawn anew, and few people are missing.
    threshold = int(256 * (n_first - 2 * (n_first * (n - n_first) / n) ** 0.5) / n)
    missing = np.full(size, n_first, dtype=np.int64)
    if threshold > 0:
        joined = _bernoulli(size, n, threshold, rng)
        out[:] = joined
        missing -= _row_sums(joined)
        while (rows := np.flatnonzero(missing < 0)).size:
            joined = _bernoulli(rows.size, n, threshold, rng)
            out[rows] = joined
            missing[rows] = n_first - _row_sums(joined)
    people, starts = out.reshape(-1), np.arange(0, size * n + 1, n)
    # Each round draws as many people as are missing. Some are in already and some come twice, so that nobody is added
    # too many; at least half of everyone is out, so that few rounds do.
    while (wanted := int(missing.sum())) > 0:
        drawn = rng.integers(0, n, size=wanted)
        drawn += np.repeat(starts[:-1], missing)
        drawn = drawn[people[drawn] == 0]
        people[drawn] = 1
        drawn.sort()
        first = np.ones(drawn.size, dtype=bool)
        np.not_equal(drawn[1:], drawn[:-1], out=first[1:])
        missing -= np.diff(np.searchsorted(drawn[first], starts))


def _bernoulli(size: int, n: int, threshold: int, rng: np.random.Generator) -> NDArray[np.uint8]:
    """Zeros and ones, ones with probability threshold / 256."""
    words = rng.integers(0, 2**64 - 1, size=-(-size * n // 8), dtype=np.uint64, endpoint=True)
    return np.less(words.view(np.uint8)[: size * n], threshold).view(np.uint8).reshape(size, n)


def _row_sums(rows: NDArray[np.uint8]) -> Integers:
    """How many ones each row of zeros and ones holds."""
    if rows.shape[1] < 1000:
        return np.asarray(rows.sum(axis=1, dtype=np.uint32), dtype=np.int64)
    return np.array([np.count_nonzero(row) for row in rows.view(np.bool_)], dtype=np.int64)


def resampled_counts(n: int, size: int, rng: np.random.Generator) -> NDArray[np.uint8]:
    """How often each of `n` people is drawn when `n` are drawn with replacement: bootstrap samples as counts.

    Parameters
    ----------
    n : int
        How many people, and how many draws per row.
    size : int
        How many samples.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    ndarray of uint8, shape (size, n)
        Rows that sum to n. A person drawn more than 255 times does not occur: the probability is below 1e-500.

    Examples
    --------
    >>> import numpy as np
    >>> from skfairtest.inference.memberships import resampled_counts
    >>> resampled_counts(5, 3, np.random.default_rng(0)).sum(axis=1).tolist()
    [5, 5, 5]
    """
    out = np.zeros((size, n), dtype=np.uint8)
    if n == 0:
        return out
    for rows in batches(size, BLOCK // n):
        block = out[rows]
        drawn = rng.integers(0, n, size=block.shape)
        drawn += np.arange(0, block.size, n)[:, None]
        block[:] = np.bincount(drawn.reshape(-1), minlength=block.size).reshape(block.shape)
    return out
