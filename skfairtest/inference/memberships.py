"""Random groups of people, row by row: label permutations of two groups, and bootstrap samples.

Where a metric does not compress to a small table (AUC of continuous scores), a resample is a row over people. These are
the rows, at about a nanosecond per person.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from skfairtest._utils.batches import batches
from skfairtest._utils.typing import Integers

#: People (rows times people) drawn at once: what stays in cache.
BLOCK = 1 << 18


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
    for rows in batches(size, BLOCK // n):
        _draw(out[rows], n_first, rng)
    return out


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
