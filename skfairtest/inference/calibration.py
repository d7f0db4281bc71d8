"""Cumulative differences along the scores: of a group from its scores, and of two groups from each other.

People are sorted by score, and observed minus expected outcomes are summed. Kuiper's statistic is the largest rise or
fall over any interval of scores, Kolmogorov and Smirnov's the largest from the start. Nothing is smoothed or binned.

References
----------
I. Arrieta-Ibarra, P. Gujral, J. Tannen, M. Tygert and C. Xu (2022). Journal of Machine Learning Research 23 (351).
M. Tygert (2021). Journal of Big Data 8, 117.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.random import Generator

from skfairtest._utils.batches import batches
from skfairtest._utils.typing import Floats, Integers, Positions

#: Steps of paths that are held at once.
HELD = 2_000_000


def largest_move(steps: Floats, *, kuiper: bool = True) -> tuple[Floats, Positions, Positions]:
    """The largest signed move of paths, and the steps ``first:last`` over which they make it.

    `steps` (..., K) is added at each score; without `kuiper` a move begins at the start.

    Examples
    --------
    >>> move, first, last = largest_move(np.array([-1.0, 2.0, 2.0, -1.0]))
    >>> float(move), int(first), int(last)
    (4.0, 1, 3)
    """
    path = np.concatenate([np.zeros((*steps.shape[:-1], 1)), np.cumsum(steps, axis=-1)], axis=-1)
    low, high = path.argmin(axis=-1), path.argmax(axis=-1)
    bottom, top = path.min(axis=-1), path.max(axis=-1)
    if kuiper:
        return np.where(high >= low, top - bottom, bottom - top), np.minimum(low, high), np.maximum(low, high)
    rises = top >= -bottom
    return np.where(rises, top, bottom), np.zeros_like(low), np.where(rises, high, low)


@dataclass(frozen=True)
class Scores:
    """Truly positive people and all people, shape (1 or 2 sides, D), by distinct score in increasing order."""

    score: Floats
    people: Integers
    positive: Integers


@dataclass(frozen=True)
class FromScores:
    """A group's deviation from its scores; under the null hypothesis a score is the probability of a positive label."""

    of: Scores

    @classmethod
    def joined(cls, parts: list[FromScores]) -> Self:
        """Strata pooled in the order of scores."""
        distinct, place = np.unique(np.concatenate([part.of.score for part in parts]), return_inverse=True)
        people, positive = (
            np.bincount(place.reshape(-1), np.concatenate([getattr(part.of, name)[0] for part in parts]))
            for name in ("people", "positive")
        )
        counts = (np.rint(array)[None].astype(np.int64) for array in (people, positive))
        return cls(Scores(distinct, *counts))

    @property
    def total(self) -> float:
        """The divisor of the sums: the number of people."""
        return float(self.of.people.sum())

    @property
    def spread(self) -> float:
        """Standard deviation of the sum of all steps under the null hypothesis."""
        return float(np.sqrt((self.of.people * self.of.score * (1 - self.of.score)).sum()))

    def steps(self) -> Floats:
        """Truly positive people minus their expectation, by score."""
        return np.asarray((self.of.positive - self.of.people * self.of.score)[0], dtype=float)

    def draw(self, size: int, rng: Generator) -> Floats:
        """Return steps of random outcomes, (size, D)."""
        people, score = self.of.people[0], self.of.score
        if (people == 1).all():
            return np.asarray((rng.random((size, len(score))) < score) - score)
        return np.asarray(rng.binomial(people, score, size=(size, len(score))) - people * score)


@dataclass(frozen=True)
class BetweenGroups:
    """Two groups' deviation from each other among people of about the same score.

    Null hypothesis: at every score both groups are truly positive with the same probability. In blocks of about sqrt(n)
    neighbouring scores the positives are a random sample of the people (hypergeometric): exact if a block is one score,
    otherwise with an error of the order of 1 / n.
    """

    score: Floats
    people: Integers
    positive: Integers
    residual: Floats

    @classmethod
    def of(cls, scores: Scores) -> Self:
        """Put neighbouring scores into blocks; leave out blocks of one side."""
        everyone = scores.people.sum(axis=0)
        n = int(everyone.sum())
        block = (np.cumsum(everyone) - everyone) // max(1, int(np.ceil(np.sqrt(n))))
        block = np.unique(block, return_inverse=True)[1].reshape(-1)

        def add(values: np.ndarray) -> np.ndarray:
            return np.stack([np.bincount(block, side) for side in values])

        people, positive = add(scores.people), add(scores.positive)
        expected = add(scores.people * scores.score)
        both = (people > 0).all(axis=0)
        mean = expected.sum(axis=0) / people.sum(axis=0)
        counts = [np.rint(array[:, both]).astype(np.int64) for array in (people, positive)]
        return cls(mean[both], counts[0], counts[1], (positive - expected)[:, both])

    @classmethod
    def joined(cls, parts: list[BetweenGroups]) -> Self:
        """Strata pooled in the order of scores."""
        order = np.argsort(np.concatenate([part.score for part in parts]), kind="stable")
        columns = ("people", "positive", "residual")
        joined = (np.concatenate([getattr(part, name) for part in parts], axis=-1)[:, order] for name in columns)
        return cls(np.concatenate([part.score for part in parts])[order], *joined)

    @property
    def weight(self) -> Floats:
        """The weight of each block: Mantel and Haenszel's."""
        return np.asarray(self.people.prod(axis=0) / self.people.sum(axis=0))

    @property
    def total(self) -> float:
        """The divisor of the sums."""
        return float(self.weight.sum())

    @property
    def spread(self) -> float:
        """Standard deviation of the sum of all steps under the null hypothesis."""
        n, positive = self.people.sum(axis=0), self.positive.sum(axis=0)
        return float(np.sqrt((self.weight * positive * (n - positive) / (n * np.maximum(n - 1, 1))).sum()))

    def steps(self) -> Floats:
        """The first side's outcome minus score, less that expected from both, by block."""
        share = self.people[0] / self.people.sum(axis=0)
        return np.asarray(self.residual[0] - share * self.residual.sum(axis=0))

    def draw(self, size: int, rng: Generator) -> Floats:
        """Return steps of random samples, (size, B)."""
        n, positive = self.people.sum(axis=0), self.positive.sum(axis=0)
        drawn = rng.hypergeometric(positive, n - positive, self.people[0], size=(size, len(n)))
        return np.asarray(drawn - self.people[0] * (positive / n))


Path = FromScores | BetweenGroups


def draw_moves(path: Path, kuiper: bool, size: int, seed: np.random.SeedSequence) -> Floats:
    """The largest moves, over their standard deviation, of `size` paths under the null hypothesis."""
    rng = np.random.default_rng(seed)
    spread = path.spread or 1.0
    rows = max(1, HELD // max(1, len(path.steps())))
    found = [
        largest_move(path.draw(cut.stop - cut.start, rng), kuiper=kuiper)[0] / spread for cut in batches(size, rows)
    ]
    return np.concatenate(found)
