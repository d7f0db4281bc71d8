"""Average precision as a function of counts: the mean, over the truly positive, of the precision at their score."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from skfairtest._utils.batches import batches
from skfairtest._utils.typing import Booleans, Floats, Moments
from skfairtest.metrics.functionals import HALF, Members, Misplacing, kish, ratio_of

#: Numbers in one array at a time: they stay in the cache.
BLOCK = 1 << 15


class AveragePrecision(Misplacing):
    """Area under the steps of precision over recall, people of one score being called together; delta method.

    Parameters
    ----------
    positive : ndarray of bool, shape (K,)
        Who is truly positive.
    score : ndarray of float, shape (K,)
        The scores.
    """

    def __init__(self, positive: Booleans, score: Floats) -> None:
        self._positive, self._negative = (
            which[np.argsort(-score[which], kind="stable")] for which in map(np.flatnonzero, (positive, ~positive))
        )
        falling = score[self._positive]
        #: Where the positive people of each distinct score end, from the highest; how many negative ones score as high.
        self._end = np.flatnonzero(np.diff(falling, append=-np.inf))
        self._above = np.searchsorted(-score[self._negative], -falling[self._end], side="right")
        #: Which of these scores each person has, or else the next lower one; after the last of them there is none.
        self._level = np.searchsorted(-falling[self._end], -score, side="left")
        self.positive = positive.astype(float)

    def _by_level(self, counts: NDArray[Any]) -> tuple[Floats, Floats]:
        """The numbers of positive and negative people with each positive person's score or a higher one."""
        right = np.cumsum(counts[..., self._positive], axis=-1, dtype=float)
        wrong = np.zeros((*counts.shape[:-1], len(self._negative) + 1))
        np.cumsum(counts[..., self._negative], axis=-1, out=wrong[..., 1:])
        return right[..., self._end], wrong[..., self._above]

    def parts(self, masses: Floats, pooled: Floats | None = None) -> tuple[Floats, Floats]:
        """Return the average precision and each cell's part of its error."""
        masses = np.asarray(masses, dtype=float)
        right, wrong = self._by_level(masses)
        value, up, down, _ = _slopes(right, wrong)
        up, down = (np.concatenate([each, np.zeros((*each.shape[:-1], 1))], axis=-1) for each in (up, down))
        one = np.where(self.positive > 0, up[..., self._level], down[..., self._level])
        total = (masses @ self.positive)[..., None]
        with np.errstate(invalid="ignore"):
            return value, masses * ratio_of(one, total)

    def moments(self, counts: Floats, rng: Generator | None = None) -> tuple[Floats, Floats]:
        """Return the average precision and its variance."""
        flat = counts.reshape(-1, counts.shape[-1])
        value, variance = np.empty(len(flat)), np.empty(len(flat))
        for rows in batches(len(flat), BLOCK // max(1, flat.shape[1])):
            some = flat[rows]
            value[rows], variance[rows] = _moments(*self._by_level(some), some.sum(axis=1, dtype=float))
        return value.reshape(counts.shape[:-1]), variance.reshape(counts.shape[:-1])

    def split(self, members: Members) -> Moments:
        """Return both sides from one walk along the sorted people."""
        n = members.shape[1]
        v1, q1, v2, q2 = np.empty((4, len(members)))
        all_right, all_wrong = self._by_level(np.ones(n))
        for rows in batches(len(members), BLOCK // max(1, n)):
            right, wrong = self._by_level(members[rows])
            people = members[rows].sum(axis=1, dtype=float)
            v1[rows], q1[rows] = _moments(right, wrong, people)
            v2[rows], q2[rows] = _moments(all_right - right, all_wrong - wrong, n - people)
        return Moments(v1, q1, v2, q2, np.zeros_like(v1))

    def effective(self, counts: Floats) -> Floats:
        """Return the size of the smaller class."""
        positive = counts @ self.positive
        return np.asarray(np.minimum(positive, counts.sum(axis=-1) - positive), dtype=float)

    def informative(self, counts: Floats) -> Floats:
        """Return the size of the smaller class, or of it twice the part that is not precise, where that is less."""
        lacking = np.minimum(1.0, 2 * (1 - self.moments(np.asarray(counts, dtype=float))[0]))
        return np.asarray(self.effective(counts) * lacking)

    def misplaced(self, masses: Floats, counts: Floats) -> tuple[Floats, Floats]:
        """Return the effective number of misplaced people, and the positive people's effective number.

        A positive person is misplaced by what the precision at the score lacks (below one half, by that precision), a
        negative one by what the average precision would gain without this person; the class with fewer counts.
        """
        value, parts = self.parts(masses)
        right, wrong = self._by_level(masses)
        precision = np.nan_to_num(ratio_of(right, right + wrong))[..., np.minimum(self._level, len(self._end) - 1)]
        positive = masses * self.positive
        lacking = np.where(value[..., None] < HALF, precision, 1 - precision)
        cost = np.where(self.positive > 0, 0.0, np.maximum(-parts, 0.0))
        return np.minimum(kish(positive * lacking, counts), kish(cost, counts)), kish(positive, counts)


def _slopes(right: Floats, wrong: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Return the average precision, and by score what one positive or negative person more adds to it.

    What they add is times the number of the truly positive; the last array is how many of these have each score.
    """
    there = np.diff(right, axis=-1, prepend=0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        one = 1 / (right + wrong)
        np.copyto(one, 0.0, where=np.isinf(one))  # nobody scores as high
        precision = right * one
        moved = there * precision
        value = moved.sum(axis=-1) / _total(right)
    # One person more changes the precision at all lower scores: what is called, and if positive what is right.
    moved *= one
    down = -_from_here(moved)
    up = _from_here(there * one)
    up += down
    up += precision
    up -= value[..., None]
    return value, up, down, there


def _moments(right: Floats, wrong: Floats, people: Floats) -> tuple[Floats, Floats]:
    value, up, down, there = _slopes(right, wrong)
    others = np.diff(wrong, axis=-1, prepend=0.0)
    squares = np.einsum("...i,...i,...i->...", there, up, up) + np.einsum("...i,...i,...i->...", others, down, down)
    return value, ratio_of(squares * people, _total(right) ** 2 * np.where(people > 1, people - 1, np.nan))


def _total(right: Floats) -> Floats:
    return np.asarray(right.max(axis=-1, initial=0.0))


def _from_here(values: Floats) -> Floats:
    """Return the sum of each value and all that follow."""
    return np.asarray(np.cumsum(values[..., ::-1], axis=-1)[..., ::-1])
