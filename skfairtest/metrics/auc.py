"""Area under the ROC curve with DeLong's variance, ties included, for many weightings of the same people at once.

AUC = P(score of a positive > score of a negative) + P(equal) / 2. The placement of a positive, V10, is the share of
negatives below it, ties counting half; the placement of a negative, V01, is the share of positives above it, ties
counting half. AUC is the mean of either, and DeLong's variance is s10^2 / n_pos + s01^2 / n_neg, with the sample
variances (ddof = 1) of the placements. Sun and Xu find placements by sorting once per sample; here people are sorted
once for all samples, and a sample costs one running sum per class.

Where one class is absent, AUC and variance are undefined: NaN. A class of one person has no sample variance: its part
of the variance is 0, and if both classes have one person the variance is 0.

References
----------
E. R. DeLong, D. M. DeLong and D. L. Clarke-Pearson (1988). Comparing the areas under two or more correlated receiver
operating characteristic curves: a nonparametric approach. Biometrics 44, 837-845.
X. Sun and W. Xu (2014). Fast implementation of DeLong's algorithm for comparing the areas under correlated receiver
operating characteristic curves. IEEE Signal Processing Letters 21, 1389-1393.
"""

from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skfairtest._utils.batches import batches
from skfairtest._utils.typing import Floats, Positions

Counts = NDArray[np.integer[Any]]
#: Numbers of no fixed type: exact sums are int64 where they fit, Python's integers (an object array) where not.
Numbers = NDArray[Any]

#: People in a block of columns, and entries (rows times people) in a tile: what stays in cache.
COLUMNS = 1 << 14
TILE = 1 << 18
#: Largest number of pairs (positive, negative) for which every sum fits in int64.
MOST_PAIRS = 1 << 29
#: Largest number of people in a block whose sums, of order people cubed, are exact in float64.
MOST_EXACT = 100_000
#: Entries of a float array held at once where only rows are cut.
CHUNK = 500_000


class _Block(NamedTuple):
    """Consecutive levels of negatives with the positives among them; positions count from the block's start.

    A level is a run of negatives with the same positives below (`low`) and the same below or tied (`high`); `end`
    counts the negatives up to and including the level.
    """

    positives: slice
    negatives: slice
    low: Positions
    high: Positions
    end: Positions
    people: int
    tied: bool


class _Sums:
    """Exact sums over levels with d negatives each, N up to and including the level, and B positives below.

    `below` sums d B, `squares` d B^2, `steps` d (2 N - d) B: summation by parts turns the last into the sum of squares
    of the positives' placements, so that only negatives have to be visited. With ties B is doubled (half ties), and
    `steps` is 2 d (2 N - d) B + d^2 times the positives tied with the level.
    """

    def __init__(self, size: int, factor: int, exact: type) -> None:
        self.factor, self.exact = factor, exact
        zeros: Numbers = np.zeros(size, dtype=exact)
        self.positives, self.negatives, self.below, self.squares, self.steps = (zeros.copy() for _ in range(5))

    def add(self, low: Numbers, high: Numbers, end: Numbers) -> None:
        """Add the levels of a block, (b, levels): positives below, below or tied, and negatives so far in the block."""
        middle = end.copy()
        middle[:, 1:] += end[:, :-1]  # 2 N - d
        negatives = end.copy()
        negatives[:, 1:] -= end[:, :-1]
        positions = low if self.factor == 1 else low + high
        product = negatives * positions
        below, squares, steps = (
            self._exact(_row_dots(*pair)) for pair in ((negatives, positions), (product, positions), (product, middle))
        )
        if self.factor == 2:
            steps = 2 * steps + self._exact(_row_dots(negatives * negatives, high - low))
        # What was counted from the block's start, from the first person on.
        count, twice, offset = self._exact(end[:, -1]), 2 * self.negatives, self.factor * self.positives
        self.squares += squares + offset * (2 * below + offset * count)
        self.steps += steps + self.factor * (twice * below + offset * count * (twice + count))
        self.below += below + offset * count
        self.negatives += count
        self.positives += self._exact(high[:, -1])

    def _exact(self, numbers: Numbers) -> Numbers:
        if numbers.dtype == np.float64:
            numbers = numbers.astype(np.int64)
        return numbers.astype(self.exact, copy=False)

    def add_positives(self, count: Numbers) -> None:
        """Add positives above all negatives."""
        self.positives += self._exact(count)

    def moments(self) -> tuple[Floats, Floats]:
        """AUC and its variance, (b,) each."""
        n_pos, n_neg, factor = self.positives, self.negatives, self.factor
        squares = factor**2 * n_pos * n_neg * n_neg - self.steps  # sum of V10^2 times (factor n_neg)^2
        return moments_of_sums(n_pos, n_neg, self.below, self.squares, squares, factor)


def moments_of_sums(
    n_pos: Numbers, n_neg: Numbers, below: Numbers, squares_neg: Numbers, squares_pos: Numbers, factor: int
) -> tuple[Floats, Floats]:
    """AUC and its variance from exact sums, (b,) each: nothing is rounded before the last divisions.

    Parameters
    ----------
    n_pos, n_neg : ndarray of int
        How many people.
    below, squares_neg : ndarray of int
        Sum over negatives of the positives below them, and of its square, times `factor` and its square.
    squares_pos : ndarray of int
        Sum over positives of the squared number of negatives below them, times the square of `factor`.
    factor : int
        2 where ties are counted as halves.
    """
    above = factor * n_pos * n_neg - below  # sum of V01 times factor n_pos, of V10 times factor n_neg
    spread_pos = (n_pos * squares_pos - above * above).astype(np.float64)
    spread_neg = (n_neg * squares_neg - below * below).astype(np.float64)
    pos, neg = n_pos.astype(np.float64), n_neg.astype(np.float64)
    pairs = factor * pos * neg
    with np.errstate(divide="ignore", invalid="ignore"):
        part_pos = np.where(pos > 1, spread_pos / (pairs * pairs * (pos - 1)), 0.0)
        part_neg = np.where(neg > 1, spread_neg / (pairs * pairs * (neg - 1)), 0.0)
        return above.astype(np.float64) / pairs, np.where(pairs > 0, part_pos + part_neg, np.nan)


def _row_dots(a: Numbers, b: Numbers) -> Numbers:
    """Sums of products, row by row (matrix products of one row and one column: dot products of BLAS)."""
    if a.dtype == np.float64:
        return np.asarray(np.matmul(a[:, None, :], b[:, :, None])[:, 0, 0])
    return np.asarray((a * b).sum(axis=1))


class RankedScores:
    """Scores of positives and negatives, sorted once, for the AUC of many weightings of these people.

    The columns of every matrix handed to a method are people in increasing order of score: `positive_order` and
    `negative_order` arrange them so. However many rows there are, they are worked through in blocks.

    Parameters
    ----------
    positive_scores, negative_scores : array-like of float
        One score per person; higher is more positive.

    Attributes
    ----------
    positive_order, negative_order : ndarray of int
        Stable orders of increasing score.
    n_positives, n_negatives : int
        How many people.

    Examples
    --------
    >>> import numpy as np
    >>> from skfairtest.metrics.auc import RankedScores
    >>> scores = RankedScores([0.9, 0.4, 0.8], [0.3, 0.4, 0.1])
    >>> auc, variance = scores.moments(np.ones((1, 3), int), np.ones((1, 3), int))
    >>> round(float(auc[0]), 4), round(float(variance[0]), 4)
    (0.9444, 0.0062)
    """

    def __init__(self, positive_scores: ArrayLike, negative_scores: ArrayLike) -> None:
        positives, negatives = np.asarray(positive_scores), np.asarray(negative_scores)
        self.positive_order: Positions = np.argsort(positives, kind="stable")
        self.negative_order: Positions = np.argsort(negatives, kind="stable")
        self._positives, self._negatives = positives[self.positive_order], negatives[self.negative_order]
        self.n_positives, self.n_negatives = len(positives), len(negatives)
        low, high = both_sides(self._positives, self._negatives)
        self._factor = 2 if bool((low < high).any()) else 1
        self._blocks = list(_blocks(low, high))
        self._n_below = int(high[-1]) if self.n_negatives else 0

    def _tiles(self, n_rows: int) -> list[slice]:
        """Slices of rows that are worked through together."""
        return batches(n_rows, TILE // max(1, min(self.n_positives + self.n_negatives, COLUMNS)))

    def split(
        self, positive_members: NDArray[np.uint8], negative_members: NDArray[np.uint8]
    ) -> tuple[Floats, Floats, Floats, Floats]:
        """AUC and variance on both sides when these people are divided in two.

        Parameters
        ----------
        positive_members : ndarray of uint8, shape (b, n_positives)
            1 for side 1, 0 for side 2.
        negative_members : ndarray of uint8, shape (b, n_negatives)
            The same for negatives.

        Returns
        -------
        auc1, variance1, auc2, variance2 : ndarray of float, shape (b,)
            What `moments` gives of `positive_members`, `negative_members` and of 1 minus them.
        """
        out = np.empty((4, len(positive_members)))
        exact = exact_type(self.n_positives, self.n_negatives)
        for rows in self._tiles(len(positive_members)):
            first, second = (_Sums(rows.stop - rows.start, self._factor, exact) for _ in range(2))
            for block in self._blocks:
                pos, neg = positive_members[rows, block.positives], negative_members[rows, block.negatives]
                low, high, end = _levels(block, pos, neg, np.int32, exact)
                first.add(low, high, end)
                other_low = block.low - low
                second.add(other_low, other_low if high is low else block.high - high, block.end - end)
            top = positive_members[rows, self._n_below :].sum(axis=1, dtype=np.int64)
            first.add_positives(top)
            second.add_positives(self.n_positives - self._n_below - top)
            out[0, rows], out[1, rows] = first.moments()
            out[2, rows], out[3, rows] = second.moments()
        return out[0], out[1], out[2], out[3]

    def moments(self, positive_counts: Counts, negative_counts: Counts) -> tuple[Floats, Floats]:
        """AUC and variance where each person occurs a number of times, as in bootstrap samples.

        Parameters
        ----------
        positive_counts : ndarray of int, shape (b, n_positives)
            How often each positive occurs; a person who occurs twice counts as two people with equal scores.
        negative_counts : ndarray of int, shape (b, n_negatives)
            The same for negatives.

        Returns
        -------
        auc, variance : ndarray of float, shape (b,)
            NaN where no positive or no negative occurs.
        """
        out = np.empty((2, len(positive_counts)))
        for rows in self._tiles(len(positive_counts)):
            totals = (
                int(counts[rows].sum(axis=1, dtype=np.int64).max(initial=0))
                for counts in (positive_counts, negative_counts)
            )
            exact = exact_type(*totals)
            sums = _Sums(rows.stop - rows.start, self._factor, exact)
            for block in self._blocks:
                pos, neg = positive_counts[rows, block.positives], negative_counts[rows, block.negatives]
                low, high, end = _levels(block, pos, neg, np.int64, exact)
                if (high[:, -1] + end[:, -1]).max() > MOST_EXACT:
                    low, high, end = (numbers.astype(np.int64).astype(exact) for numbers in (low, high, end))
                sums.add(low, high, end)
            sums.add_positives(positive_counts[rows, self._n_below :].sum(axis=1, dtype=np.int64))
            out[0, rows], out[1, rows] = sums.moments()
        return out[0], out[1]

    def contributions(self, positive_weights: Floats, negative_weights: Floats) -> tuple[Floats, Floats, Floats]:
        """Weighted AUC, and what each person contributes to it in a first-order expansion.

        Parameters
        ----------
        positive_weights : ndarray of float, shape (b, n_positives)
            Non-negative weights.
        negative_weights : ndarray of float, shape (b, n_negatives)
            The same for negatives.

        Returns
        -------
        auc : ndarray of float, shape (b,)
            NaN where a class has no weight.
        positive_part : ndarray of float, shape (b, n_positives)
            w (V10 - AUC) / W, with W the weight of all positives. Parts sum to 0; the sum of their squares, over both
            classes, is the linearized variance of the AUC.
        negative_part : ndarray of float, shape (b, n_negatives)
            w (V01 - AUC) / W, with W the weight of all negatives.
        """
        auc = np.empty(len(positive_weights))
        positive_part, negative_part = np.empty(positive_weights.shape), np.empty(negative_weights.shape)
        for rows in batches(len(auc), CHUNK // max(1, self.n_positives, self.n_negatives)):
            _shares_below(positive_weights[rows], *self._positives_below, out=negative_part[rows])
            np.subtract(1.0, negative_part[rows], out=negative_part[rows])
            _shares_below(negative_weights[rows], *self._negatives_below, out=positive_part[rows])
            _center(negative_part[rows], negative_weights[rows])
            auc[rows] = _center(positive_part[rows], positive_weights[rows])
        return auc, positive_part, negative_part

    def placements(
        self, positive_members: NDArray[np.uint8], negative_members: NDArray[np.uint8]
    ) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Twice the number of members of the other class on whose right side each person is, ties counted once.

        Parameters
        ----------
        positive_members, negative_members : ndarray of uint8, shape (b, n_positives) and (b, n_negatives)
            Who is a member, 1 or 0, here in the order in which scores were given; so is what is returned.

        Returns
        -------
        of_positives : ndarray of int32, shape (b, n_positives)
            Twice the negative members below, plus those tied.
        of_negatives : ndarray of int32, shape (b, n_negatives)
            Twice the positive members above, plus those tied.
        """
        below = _doubled_below(negative_members, self.negative_order, self._negatives_below, self.positive_order)
        above = _doubled_below(positive_members, self.positive_order, self._positives_below, self.negative_order)
        np.subtract(2 * positive_members.sum(axis=1, dtype=np.int32)[:, None], above, out=above)
        return below, above

    @cached_property
    def _positives_below(self) -> tuple[Positions, Positions]:
        """For each negative: how many positives are below, and how many are below or tied."""
        return both_sides(self._positives, self._negatives)

    @cached_property
    def _negatives_below(self) -> tuple[Positions, Positions]:
        """For each positive: how many negatives are below, and how many are below or tied."""
        return both_sides(self._negatives, self._positives)


def both_sides(others: NDArray[Any], scores: NDArray[Any]) -> tuple[Positions, Positions]:
    """For each score, how many others (sorted) are below, and how many are below or equal."""
    return np.searchsorted(others, scores, side="left"), np.searchsorted(others, scores, side="right")


def exact_type(n_positives: int, n_negatives: int) -> type:
    """A type of integers in which no sum of `_Sums` overflows."""
    return np.int64 if n_positives * n_negatives <= MOST_PAIRS else object


def _blocks(low: Positions, high: Positions) -> Iterator[_Block]:
    """Cut the negatives, sorted, into blocks of whole levels with at most COLUMNS people, or with one level."""
    if len(low) == 0:
        return
    last = np.append(np.flatnonzero(np.diff(low + high)), len(low) - 1)
    low, high, end = low[last], high[last], last + 1
    people = high + end
    first, n_pos, n_neg = 0, 0, 0
    while first < len(last):
        stop = max(first + 1, int(np.searchsorted(people, n_pos + n_neg + COLUMNS, side="right")))
        next_pos, next_neg = int(high[stop - 1]), int(end[stop - 1])
        positions = (low[first:stop] - n_pos, high[first:stop] - n_pos, end[first:stop] - n_neg)
        size, tied = next_pos - n_pos + next_neg - n_neg, bool((positions[0] < positions[1]).any())
        yield _Block(slice(n_pos, next_pos), slice(n_neg, next_neg), *positions, size, tied)
        first, n_pos, n_neg = stop, next_pos, next_neg


def _levels(
    block: _Block, positives: Counts, negatives: Counts, dtype: type, exact: type
) -> tuple[Numbers, Numbers, Numbers]:
    """Positives below, positives below or tied, and negatives so far, (b, levels), of the counts in a block.

    Running sums are of a type of integers; a block of one level with many people needs none, and is exact.
    """
    if block.people > COLUMNS:
        parts = (positives[:, : block.low[0]], positives, negatives)
        low, high, end = (part.sum(axis=1, dtype=np.int64, keepdims=True).astype(exact) for part in parts)
        return low, high, end
    below = np.zeros((len(positives), positives.shape[1] + 1), dtype=dtype)
    np.cumsum(positives, axis=1, dtype=dtype, out=below[:, 1:])
    so_far: Numbers = np.cumsum(negatives, axis=1, dtype=dtype)
    end = so_far.take(block.end - 1, axis=1).astype(np.float64)
    low = below.take(block.low, axis=1).astype(np.float64)
    return low, below.take(block.high, axis=1).astype(np.float64) if block.tied else low, end


def _shares_below(weights: Floats, low: Positions, high: Positions, out: Floats) -> None:
    """Write the share of the weight that is below each position, half of the tied included: (b, positions)."""
    below = np.zeros((len(weights), weights.shape[1] + 1))
    np.cumsum(weights, axis=1, out=below[:, 1:])
    with np.errstate(invalid="ignore"):
        below /= below[:, -1:].copy()  # exactly 1 at the end
    for columns in batches(len(low), CHUNK):
        out[:, columns] = below.take(low[columns], axis=1)
        out[:, columns] += below.take(high[columns], axis=1)
    out *= 0.5


def _doubled_below(
    members: NDArray[np.uint8], order: Positions, ends: tuple[Positions, Positions], people: Positions
) -> NDArray[np.int32]:
    """Twice the members (b, n), in this order, below each of these people, plus those tied; `ends` are theirs."""
    so_far = np.zeros((len(members), members.shape[1] + 1), dtype=np.int32)
    np.cumsum(members.take(order, axis=1), axis=1, dtype=np.int32, out=so_far[:, 1:])
    low, high = (np.empty_like(end) for end in ends)
    low[people], high[people] = ends
    below = so_far.take(low, axis=1)
    return below + (below if np.array_equal(low, high) else so_far.take(high, axis=1))


def split_change(
    ranked: tuple[RankedScores, RankedScores],
    positive_members: NDArray[np.uint8],
    negative_members: NDArray[np.uint8],
) -> Floats:
    """Areas under one order of people less those under another, and variances, when people are divided in two.

    Parameters
    ----------
    ranked : tuple of two RankedScores
        The same people by the scores of two models.
    positive_members, negative_members : ndarray of uint8, shape (b, n_positives) and (b, n_negatives)
        1 for side 1, 0 for side 2, in the order in which scores were given.

    Returns
    -------
    ndarray of float, shape (4, b)
        Value and DeLong's variance of side 1 and of side 2; NaN where a class lacks people.
    """
    out = np.zeros((4, len(positive_members)))
    ones = [np.ones((1, members.shape[1]), np.uint8) for members in (positive_members, negative_members)]
    of_all = [first - second for first, second in zip(*(one.placements(*ones) for one in ranked), strict=True)]
    for rows in batches(len(positive_members), TILE // max(1, sum(one.shape[1] for one in ones))):
        members = [positive_members[rows], negative_members[rows]]
        first, second = (one.placements(*members) for one in ranked)
        within = [placed - other for placed, other in zip(first, second, strict=True)]
        sides = [(members, within)]
        sides.append(([1 - one for one in members], [a - b for a, b in zip(of_all, within, strict=True)]))
        for side, (weights, placed) in enumerate(sides):
            sizes = [one.sum(axis=1, dtype=np.float64) for one in weights]
            for place in (0, 1):
                n, doubled = sizes[place], 2 * sizes[1 - place]
                distance, weight = placed[place].astype(np.float64), weights[place].astype(np.float64)
                with np.errstate(divide="ignore", invalid="ignore"):
                    mean = np.einsum("ij,ij->i", distance, weight) / n
                    distance -= mean[:, None]
                    distance *= weight
                    squares = np.einsum("ij,ij->i", distance, distance)
                    if place == 0:
                        out[2 * side, rows] = mean / doubled
                    out[2 * side + 1, rows] += squares / (n * (n - 1) * doubled**2)
    return out


def _center(placements: Floats, weights: Floats) -> Floats:
    """Weighted means (b,); placements become contributions to it: weight times distance from the mean, over all weight.

    Distances are first taken from the placement of a person with weight: where all are equal they are exactly 0.
    """
    if placements.shape[1] == 0:
        return np.full(len(placements), np.nan)
    start = np.take_along_axis(placements, weights.argmax(axis=1)[:, None], axis=1)
    total = weights.sum(axis=1, keepdims=True)
    placements -= start
    with np.errstate(divide="ignore", invalid="ignore"):
        distance = np.einsum("ij,ij->i", placements, weights)[:, None] / total
        placements -= distance
        placements *= weights
        placements /= total
    return np.asarray((start + distance)[:, 0])


def table_moments(positive_counts: ArrayLike, negative_counts: ArrayLike) -> tuple[Floats, Floats]:
    """AUC and DeLong's variance of tables: people counted by score. The cost does not depend on how many people.

    Parameters
    ----------
    positive_counts, negative_counts : array-like of int, shape (..., K)
        How many positives and negatives have each of K distinct scores, in increasing order.

    Returns
    -------
    auc, variance : ndarray of float, shape (...)
        NaN where a class is absent. A class of one person adds nothing to the variance.

    Examples
    --------
    >>> from skfairtest.metrics.auc import table_moments
    >>> auc, variance = table_moments([1, 2, 7], [6, 3, 1])
    >>> round(float(auc), 3), round(float(variance), 5)
    (0.845, 0.00788)
    """
    positives, negatives = np.broadcast_arrays(
        np.asarray(positive_counts, dtype=np.float64), np.asarray(negative_counts, dtype=np.float64)
    )
    shape, cells = positives.shape[:-1], positives.shape[-1]
    size = int(np.prod(shape))
    positives, negatives = positives.reshape(size, cells), negatives.reshape(size, cells)
    auc, variance = np.empty(size), np.empty(size)
    for rows in batches(size, CHUNK // max(1, cells)):
        auc[rows], variance[rows] = _table_moments(positives[rows], negatives[rows])
    return auc.reshape(shape), variance.reshape(shape)


def _table_moments(positives: Floats, negatives: Floats) -> tuple[Floats, Floats]:
    n_pos, n_neg = positives.sum(axis=1), negatives.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        v10 = (np.cumsum(negatives, axis=1) - negatives / 2) / n_neg[:, None]
        v01 = 1 - (np.cumsum(positives, axis=1) - positives / 2) / n_pos[:, None]
        auc = np.einsum("ij,ij->i", positives, v10) / n_pos
        v10 -= auc[:, None]
        v01 -= auc[:, None]
        part_pos = np.einsum("ij,ij,ij->i", positives, v10, v10) / (n_pos * (n_pos - 1))
        part_neg = np.einsum("ij,ij,ij->i", negatives, v01, v01) / (n_neg * (n_neg - 1))
        variance = np.where(n_pos == 1, 0.0, part_pos) + np.where(n_neg == 1, 0.0, part_neg)
        return auc, np.where((n_pos > 0) & (n_neg > 0), variance, np.nan)
