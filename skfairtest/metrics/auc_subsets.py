"""AUC and DeLong's variance of random subsets of people and of everybody else, at the cost of the subsets alone.

A group is compared with everyone else again and again, each time with other people in it. What its own people
contribute is found by sorting them; what everyone else contributes is what everybody does less the subset's pairs with
everybody, which are sums over tables that are made once. A small group among many people costs what it costs alone.

With N_i negatives of everybody below positive i, a_i of them in the subset, the others' placements are N_i - a_i, and
the sum of their squares over the positives outside the subset is

    sum N_i^2 - 2 sum N_i a_i + sum a_i^2 over everybody, less sum (N_i - a_i)^2 over the subset.

The second sum is one of a table over the subset's negatives; the third counts, for each pair of these, the positives
above both, and so follows from each negative's place among the subset's. The same holds with classes exchanged. Counts
are doubled, so that ties, which count one half, are whole; all sums are exact.

References
----------
E. R. DeLong, D. M. DeLong and D. L. Clarke-Pearson (1988). Comparing the areas under two or more correlated receiver
operating characteristic curves: a nonparametric approach. Biometrics 44, 837-845.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skfairtest._utils.batches import batches
from skfairtest._utils.typing import Booleans, Floats, Positions
from skfairtest.metrics.auc import Numbers, both_sides, exact_type, moments_of_sums

#: Whole numbers up to here are exact in float64.
MOST_EXACT = 1 << 53
#: People of subsets that are worked through together: what stays in cache.
TILE = 1 << 17


class _Class(NamedTuple):
    """Tables of one class, by place in increasing order of score.

    Parameters
    ----------
    below : ndarray of float
        The other class's people below each person, twice, and those tied with them, once.
    tied : ndarray of float
        The other class's people with the same score.
    linear : ndarray of float
        What a person of the subset adds to the other class's squares outside of it, regardless of who else is in it.
    key : ndarray of int32
        Place among everybody; the same for people of one class with the same score, if somebody of the other has it.
    others : int
        How many people the other class has.
    total, squares : float
        Sums of `below` and of its square.
    """

    below: Floats
    tied: Floats
    linear: Floats
    key: NDArray[np.int32]
    others: int
    total: float
    squares: float


class _Ties(NamedTuple):
    """What ties add to sums of one class over a subset, arrays (b,): to those of `_Drawn`, with counts doubled."""

    pairs: Floats
    squares: Floats
    crossed: Floats
    alike: Floats


class _Drawn(NamedTuple):
    """One class of subsets, with the places of its people.

    Parameters
    ----------
    places : ndarray of int, shape (b, k)
        Who is in each subset, in increasing order.
    where : ndarray of int, shape (b * k,)
        Where they stand among the people of both classes, row after row.
    other : ndarray of float, shape (b, k)
        How many of the subset's other class stand before each of them.
    below : ndarray of float, shape (b, k)
        How many of everybody's other class are below, from the table.
    """

    places: Positions
    where: Positions
    other: Floats
    below: Floats


class SubsetAreas:
    """Sorted scores of positives and negatives, for the AUC of many subsets of these people and of the others.

    Parameters
    ----------
    positives, negatives : ndarray of float
        Scores in increasing order; both have somebody.

    Examples
    --------
    Two positives and a negative of six people, and the other three:

    >>> import numpy as np
    >>> from skfairtest.metrics.auc_subsets import SubsetAreas
    >>> areas = SubsetAreas(np.array([0.4, 0.8, 0.9]), np.array([0.1, 0.3, 0.4]))
    >>> auc, _, others, _ = areas.split(np.array([[0, 2]]), np.array([[2]]))
    >>> auc.tolist(), others.tolist()
    ([0.75], [1.0])
    """

    def __init__(self, positives: NDArray[Any], negatives: NDArray[Any]) -> None:
        self.n_positives, self.n_negatives = len(positives), len(negatives)
        below = both_sides(negatives, positives), both_sides(positives, negatives)
        mixed = [low < high for low, high in below]
        self._tied = bool(mixed[0].any())
        keys = _keys(positives, negatives, np.concatenate(mixed))
        self._positives = _class_of(*below[0], *below[1], keys[: len(positives)])
        self._negatives = _class_of(*below[1], *below[0], keys[len(positives) :])

    @property
    def is_exact(self) -> bool:
        """Whether there are so few people that all sums are exact."""
        n_pos, n_neg = self.n_positives, self.n_negatives
        return 0 < 8 * n_pos * n_neg * max(n_pos, n_neg) < MOST_EXACT

    def split(self, positives: Positions, negatives: Positions) -> tuple[Floats, Floats, Floats, Floats]:
        """AUC and variance of subsets and of everybody else.

        Parameters
        ----------
        positives : ndarray of int, shape (b, k)
            Places of the positives in each subset, in increasing order.
        negatives : ndarray of int, shape (b, l)
            The same for negatives.

        Returns
        -------
        auc1, variance1, auc2, variance2 : ndarray of float, shape (b,)
            Of the subset and of the others, as `RankedScores.split` gives them.
        """
        out = np.empty((4, len(positives)))
        for rows in batches(len(positives), TILE // max(1, positives.shape[1] + negatives.shape[1])):
            out[:, rows] = self._split(positives[rows], negatives[rows])
        return out[0], out[1], out[2], out[3]

    def _split(self, positives: Positions, negatives: Positions) -> tuple[Floats, ...]:
        of_pos, of_neg = self._positives, self._negatives
        keys = np.concatenate([of_pos.key.take(positives), of_neg.key.take(negatives)], axis=1)
        keys.sort(axis=1)
        is_negative = (keys & 1).astype(bool)
        pos, neg = _drawn(of_pos, positives, ~is_negative), _drawn(of_neg, negatives, is_negative)
        ties = self._ties(keys, pos, neg) if self._tied else None
        inside_pos, outside_pos, to_neg, below_pos = _sums(of_pos, pos, None if ties is None else ties[0])
        inside_neg, outside_neg, to_pos, below_neg = _sums(of_neg, neg, None if ties is None else ties[1])
        pairs = 2 * neg.other.sum(axis=1) + (0.0 if ties is None else ties[1].pairs)
        n_pos, n_neg = positives.shape[1], negatives.shape[1]
        exact = exact_type(self.n_positives, self.n_negatives)

        def moments(p: int, n: int, *sums: Floats) -> tuple[Floats, Floats]:
            whole: list[Numbers] = [one.astype(np.int64).astype(exact, copy=False) for one in sums]
            sizes: list[Numbers] = [np.full(len(keys), size, dtype=exact) for size in (p, n)]
            return moments_of_sums(sizes[0], sizes[1], whole[0], whole[1], whole[2], 2)

        others = of_neg.total - (2 * self.n_negatives * n_pos - below_pos) - below_neg + pairs
        first = moments(n_pos, n_neg, pairs, inside_neg, inside_pos)
        rest = moments(
            self.n_positives - n_pos, self.n_negatives - n_neg, others, outside_neg + to_neg, outside_pos + to_pos
        )
        return *first, *rest

    def _ties(self, keys: NDArray[np.int32], pos: _Drawn, neg: _Drawn) -> tuple[_Ties, _Ties]:
        """The contribution of ties for either class, where positives come first among people with one score."""
        rows, width = keys.shape
        flat = keys.reshape(-1)
        step = np.full(keys.shape, -1, dtype=np.int32)
        np.subtract(keys[:, 1:], keys[:, :-1], out=step[:, :-1])
        first, length = _runs(np.flatnonzero(step == 0))
        last = first + length - 1
        # The last positive of a score that a negative has too.
        ends = np.flatnonzero(step == 1)
        ends = ends[(flat[ends] & 1) == 0]
        row = ends // width

        def add(at: Positions, values: Floats) -> Floats:
            return np.asarray(np.bincount(at, values, minlength=rows), dtype=float)

        def times(sought: Positions, known: Positions) -> Floats:
            if not len(known):
                return np.ones(len(sought))
            place = np.minimum(np.searchsorted(known, sought), len(known) - 1)
            return np.where(known[place] == sought, length[place], 1).astype(float)

        n_pos, n_neg = times(ends, last), times(ends + 1, first)
        at_pos, at_neg = np.searchsorted(pos.where, ends), np.searchsorted(neg.where, ends + 1)
        found = []
        # Negatives count all positives of their score as below, positives no negative.
        for own, n_own, n_other, at, sign in ((pos, n_pos, n_neg, at_pos, 1), (neg, n_neg, n_pos, at_neg, -1)):
            other, below = own.other.reshape(-1)[at], own.below.reshape(-1)[at]
            more = sign * n_other
            table = self._positives if own is pos else self._negatives
            here = (flat[first] & 1) == (0 if own is pos else 1)
            whose = own.places.reshape(-1)[np.searchsorted(own.where, first[here])]
            pairs = table.tied[whose] * length[here] * (length[here] - 1)
            found.append(
                _Ties(
                    add(row, n_own * more),
                    add(row, n_own * (more * more + 4 * more * other)),
                    add(row, n_own * more * below),
                    add(first[here] // width, pairs),
                )
            )
        return found[0], found[1]


def _keys(positives: NDArray[Any], negatives: NDArray[Any], mixed: Booleans) -> NDArray[np.int32]:
    """Number everybody by score: even numbers for positives, who come first, and odd ones for negatives."""
    scores = np.concatenate([positives, negatives])
    is_negative = np.arange(len(scores)) >= len(positives)
    order = np.lexsort((is_negative, scores))
    again = np.zeros(len(scores), dtype=bool)
    again[1:] = (scores[order][1:] == scores[order][:-1]) & mixed[order][1:]
    out = np.empty(len(scores), dtype=np.int32)
    out[order] = 2 * np.cumsum(~again) + is_negative[order]
    return out


def _class_of(low: Positions, high: Positions, other_low: Positions, other_high: Positions, key: Any) -> _Class:
    below, of_other = (low + high).astype(float), (other_low + other_high).astype(float)
    sums = np.concatenate([[0.0], np.cumsum(of_other)])
    others = len(of_other)
    # Doubled counts of the other class's people above: those of each person, and what they have below.
    linear = 4.0 * others - 3 * high - low - 2 * (2 * sums[-1] - sums[high] - sums[low])
    return _Class(below, (high - low).astype(float), linear, key, others, float(below.sum()), float(below @ below))


def _drawn(table: _Class, places: Positions, present: Booleans) -> _Drawn:
    rows, size = places.shape
    where = np.flatnonzero(present)
    before = where.reshape(rows, size) - (np.arange(rows) * present.shape[1])[:, None]
    return _Drawn(places, where, (before - np.arange(size)).astype(float), table.below.take(places))


def _sums(table: _Class, drawn: _Drawn, ties: _Ties | None) -> tuple[Floats, Floats, Floats, Floats]:
    """Return squares of the subset's class, of that class outside but for the other's part, that part, and `below`."""
    other, below = drawn.other, drawn.below
    place = np.arange(other.shape[1], dtype=float)
    squares, crossed, own = 4 * _dots(other, other), 2 * _dots(other, below), _dots(below, below)
    ranked, total = below @ place, below.sum(axis=1)
    # Each pair has the other class's people above the higher of the two on the same side.
    to_other = table.linear.take(drawn.places).sum(axis=1) + 4 * (2 * table.others * place.sum() - ranked)
    if ties is not None:
        squares, crossed, to_other = squares + ties.squares, crossed + ties.crossed, to_other - ties.alike
    outside = table.squares - (own - 2 * crossed + squares)
    return squares, outside, to_other, total


def _dots(a: Floats, b: Floats) -> Floats:
    return np.asarray(np.einsum("ij,ij->i", a, b))


def _runs(pairs: Positions) -> tuple[Positions, Positions]:
    """Return where runs of equal neighbours begin and how long they are, from the first of each pair of neighbours."""
    starts = np.flatnonzero(np.diff(pairs, prepend=-2) != 1)
    return pairs[starts], np.diff(starts, append=len(pairs)) + 1
