"""Random tables, memberships and signs: permutations, bootstrap samples and sign flips of clusters.

A permutation of labels is one multivariate hypergeometric draw of a table with the same margins, a bootstrap sample one
multinomial draw. Tables have shape (strata, groups, cells).

If clusters reach over both sides, each cluster's sum of linearized parts at the pooled value has expectation 0 under
equal values, so its sign is flipped at random (Hemerik, Goeman and Finos 2020, section 3), with a cluster-robust
standard error with the correction HC3 (Cameron, Gelbach and Miller 2008, section III).
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import random_table

from skfairtest._utils.batches import batches
from skfairtest._utils.errors import ParameterError
from skfairtest._utils.typing import Floats, Integers, Moments, Positions

#: Counts held at once; draws come in chunks of this size.
CHUNK = 1_000_000
#: The random-number library draws hypergeometric numbers only below this many people.
MOST_PEOPLE = 1_000_000_000


def chunks(shape: tuple[int, ...], n_resamples: int) -> Iterator[int]:
    """Sizes of chunks of resamples, which depend only on the number and shape of tables."""
    for rows in batches(n_resamples, CHUNK // max(1, int(np.prod(shape)))):
        yield rows.stop - rows.start


def permuted(
    counts: Integers, blocks: Sequence[Sequence[int] | Positions], n_resamples: int, rng: np.random.Generator
) -> Iterator[Integers]:
    """Yield chunks (b, strata, groups, cells) of tables with labels permuted within each stratum and block of cells."""
    for size in chunks(counts.shape, n_resamples):
        out = np.broadcast_to(counts, (size, *counts.shape)).copy()
        for stratum, table in enumerate(counts):
            for block in blocks:
                cells = np.asarray(block, dtype=np.intp)
                part = table[:, cells]
                kept_groups = np.flatnonzero(part.sum(axis=1))
                kept_cells = cells[part.sum(axis=0) > 0]
                if len(kept_groups) > 1 and len(kept_cells) > 1:
                    drawn = _tables(table[np.ix_(kept_groups, kept_cells)], size, rng)
                    out[:, stratum, kept_groups[:, None], kept_cells] = drawn
        yield out


def _tables(table: Integers, size: int, rng: np.random.Generator) -> Integers:
    """Draw `size` tables with the margins of this one (groups x cells, no empty row or column)."""
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    if rows.sum() >= MOST_PEOPLE:
        raise ParameterError(
            f"method='permutation' can draw tables of fewer than {MOST_PEOPLE:,} people, found {rows.sum():,}: "
            "use method='exact'"
        )
    if len(rows) > 2:
        return np.asarray(random_table(rows, columns).rvs(size=size, random_state=rng), dtype=np.int64)
    return draw_first_rows(table, size, rng)


def draw_first_rows(table: Integers, size: int, rng: np.random.Generator) -> Integers:
    """Draw tables (size, 2, cells) with the margins of one of two nonempty rows."""
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    if len(columns) == 2:
        first = rng.hypergeometric(columns[0], columns[1], rows[0], size=size)
        top = np.stack([first, rows[0] - first], axis=-1)
    else:
        top = rng.multivariate_hypergeometric(columns, rows[0], size=size, method="marginals")
    return np.stack([top, columns - top], axis=1)


def bootstrapped(counts: Integers, size: int, rng: np.random.Generator) -> Integers:
    """Bootstrap tables (groups, size, cells) within each group, of counts (groups, cells)."""
    out = np.zeros((len(counts), size, counts.shape[1]), dtype=np.int64)
    for drawn, own in zip(out, counts, strict=True):
        if people := int(own.sum()):
            there = np.flatnonzero(own)
            drawn[:, there] = rng.multinomial(people, own[there] / people, size=size)
    return out


#: People (rows times people) drawn at once: what stays in cache.
BLOCK = 1 << 18
#: The same where a row is longer than this, so that there are more than a few rows.
LONG_ROW, LONG_BLOCK = 1 << 13, 1 << 20


def memberships(n: int, n_first: int, size: int, rng: np.random.Generator) -> NDArray[np.uint8]:
    """Uniformly random subsets of exactly `n_first` of `n` people: uint8 rows, shape (size, n).

    People first join independently; rows with too many are drawn anew, and missing members are drawn from the others.

    Examples
    --------
    >>> import numpy as np
    >>> from skfairtest.inference.draws import memberships
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


def _draw(out: NDArray[np.uint8], n_first: int, rng: np.random.Generator) -> None:
    """Write a random subset of `n_first` people (at most half) into each row of zeros."""
    size, n = out.shape
    # Two standard deviations below the target: few rows are drawn anew, and few people are missing.
    threshold = int(256 * (n_first - 2 * (n_first * (n - n_first) / n) ** 0.5) / n)
    missing = np.full(size, n_first, dtype=np.int64)
    if threshold > 0:
        joined = _bernoulli(size, n, threshold, rng)
        out[:] = joined
        missing -= np.count_nonzero(joined, axis=1)
        while (rows := np.flatnonzero(missing < 0)).size:
            joined = _bernoulli(rows.size, n, threshold, rng)
            out[rows] = joined
            missing[rows] = n_first - np.count_nonzero(joined, axis=1)
    people, starts = out.reshape(-1), np.arange(0, size * n + 1, n)
    # Each round draws as many people as are missing. Some are in already and some come twice, so that no one is added
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


def resampled_counts(n: int, size: int, rng: np.random.Generator) -> NDArray[np.uint8]:
    """Bootstrap samples as counts: uint8 rows, shape (size, n), that sum to n.

    Examples
    --------
    >>> import numpy as np
    >>> from skfairtest.inference.draws import resampled_counts
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


#: A variance below this share of the clusters' squared parts is a rounding error of 0.
ROUNDING = 1e-12


class Side(NamedTuple):
    """One side by cluster: the metric, each cluster's part of its linearized error (sum 0), and of the divisor."""

    value: float
    parts: Floats
    base: Floats


def random_signs(size: int, n_clusters: int, rng: np.random.Generator) -> Floats:
    """Draw signs of -1 and 1, an array (size, n_clusters)."""
    return np.where(rng.integers(0, 2, (size, n_clusters), dtype=np.int8), 1.0, -1.0)


def flipped(first: Side, second: Side, signs: Floats) -> Moments:
    """Both values, their variances and covariance, shape (B,), when clusters' parts have `signs`, shape (B, U).

    Examples
    --------
    A cluster's people on both sides differ by 2, 1 and 3; with all signs alike the difference of means is 2.

    >>> mean = np.ones(3)
    >>> first = Side(4.0, np.array([1.0, -1.0, 0.0]) / 3, mean)
    >>> second = Side(2.0, np.array([1.0, 0.0, -1.0]) / 3, mean)
    >>> v1, _, v2, _, _ = flipped(
    ...     first, second, np.array([[1.0, 1, 1], [1, -1, 1], [-1, -1, -1]])
    ... )
    >>> (v1 - v2).round(3).tolist()
    [2.0, 1.333, -2.0]
    """
    totals = [float(side.base.sum()) for side in (first, second)]
    if not all(totals):  # the metric is undefined on a side
        nothing = np.full(len(signs), np.nan)
        return Moments(nothing, nothing, nothing, nothing, nothing)
    pooled = (totals[0] * first.value + totals[1] * second.value) / sum(totals)
    shares = [side.base / total for side, total in zip((first, second), totals, strict=True)]
    # At the pooled value the parts of a side sum to its distance from it, in proportion to what clusters count.
    parts = [side.parts + share * (side.value - pooled) for side, share in zip((first, second), shares, strict=True)]
    # A side that is all in one cluster says nothing about how clusters differ.
    inflated = [np.where(share < 1 - 1e-12, 1 / np.maximum(1 - share, 1e-12), 0.0) for share in shares]
    (p1, p2), (a1, a2), (h1, h2) = parts, shares, inflated
    columns = np.stack([p1, p2, p1 * a1 * h1**2, p2 * a2 * h2**2, p1 * a2 * h1 * h2, p2 * a1 * h1 * h2], axis=1)
    r1, r2, b1, b2, c1, c2 = (signs @ columns).T
    squares = [float((h * p) @ (h * p)) for h, p in zip(inflated, parts, strict=True)]
    q1 = squares[0] - 2 * r1 * b1 + r1**2 * float((a1 * h1) @ (a1 * h1))
    q2 = squares[1] - 2 * r2 * b2 + r2**2 * float((a2 * h2) @ (a2 * h2))
    covariance = float((h1 * p1) @ (h2 * p2)) - r2 * c1 - r1 * c2 + r1 * r2 * float((a1 * h1) @ (a2 * h2))
    # What ought to be 0 is not left as a rounding error.
    q1, q2 = (np.where(q <= ROUNDING * square, 0.0, q) for q, square in zip((q1, q2), squares, strict=True))
    alike = q1 + q2 - 2 * covariance <= ROUNDING * sum(squares)
    return Moments(pooled + r1, q1, pooled + r2, q2, np.where(alike, (q1 + q2) / 2, covariance))
