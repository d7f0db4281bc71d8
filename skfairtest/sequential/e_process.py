"""Evidence about a difference of two means that grows block by block and is valid at every look.

In a block of n_a and n_b samples with values between 0 and 1, a bet takes a stake on each sample: the product over the
samples of group a of ``1 + k / n_a (y - c_a)`` and over those of group b of ``1 - k / n_b (y - c_b)``, with ``c_a - c_b
= d``, ``k >= 0`` and all factors at least 0. Its expectation is at most 1 if ``mean_a - mean_b <= d``, whatever the
composition of the block (which must not follow its outcomes), as the geometric mean of the expected factors is at most
their arithmetic mean, ``1 + k / (n_a + n_b) (mean_a - mean_b - d)``. For rates and ``d = 0`` these are all e-variables
``p_theta_g(y) / p_theta_0(y)`` of Turner, Ly and Grunwald (2024, equation 6); only the bounds of the values are used,
so means of bounded losses are tested in the same way. The product over blocks is a nonnegative supermartingale if c and
k are chosen from earlier blocks: by Ville's inequality it ever reaches 1 / alpha with probability at most alpha.

A block is a batch, or the next samples of each group's queue in a fixed proportion. In queues, arrivals may follow all
earlier outcomes. If it is stopped while samples wait, it is not an e-value, but Ville's inequality still bounds its
running maximum.

With k fixed and c linear in d, the logarithm of every factor is concave in d. Between two differences the evidence is
therefore at least the chord, so that limits of the difference need few of them.

References
----------
R. Turner, A. Ly and P. Grunwald (2024), Journal of Statistical Planning and Inference 230. I. Waudby-Smith and A.
Ramdas (2024), JRSS B 86, 1-27. B. Chugg et al. (2023), Auditing Fairness by Betting, NeurIPS.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from scipy.special import logsumexp

from skfairtest._utils.batches import batches
from skfairtest._utils.typing import Floats, Positions

#: Share of the largest admissible stake that is ever staked: no wealth is lost for good.
MOST = 0.95
#: Stakes on a sample of the smaller group, and how many of them (the smallest) are admissible for any difference.
BETS: Floats = MOST * 2.0 ** np.arange(-9.0, 6.0)
ALWAYS = 10
#: What the wealth of each stake begins with: most of it where disparities are found that anyone looks for.
SHARES: Floats = 1 / (1 + ((np.arange(15.0) - 7) / 2) ** 2)
#: Common means that are tried in the first block, when nothing is known of it; half of the wealth sits this block out.
CENTRES = (0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.98)
#: Differences at which limits are followed, and places between two of them at which chords are read.
DIFFERENCES: Floats = np.linspace(-1.0, 1.0, 41)
BETWEEN = 200
#: Values that are looked at together, factors of bets, and pairs whose limits are.
COLUMNS, FACTORS, TOGETHER = 2048, 1 << 21, 256

METHODS = ("blocks", "betting")


def log_payoffs(values: Floats, counts: Floats, centre: Any, differences: Floats, bets: Floats = BETS) -> Floats:
    """Return logarithms of what bets on every sample of a block pay.

    Null hypothesis of each difference d: ``mean_a - mean_b <= d`` in this block. The expectation is then at most 1.

    Examples
    --------
    >>> counts = np.array(
    ...     [[1.0, 1.0], [1.0, 1.0]]
    ... )  # of both groups, one event and one other sample
    >>> pays = log_payoffs(np.array([0.0, 1.0]), counts, 0.5, np.array([0.0]), np.array([1.0]))
    >>> round(float(np.exp(pays[0, 0])), 4)  # (1 - .25) (1 - .25)
    0.5625
    """
    n = counts.sum(axis=-1)[..., None]
    n_a, n_b = n[..., 0, :], n[..., 1, :]
    both = np.maximum(n_a + n_b, 1.0)
    below = np.asarray(centre, dtype=float)[..., None] - differences * n_a / both
    c_b = np.clip(below, np.maximum(0.0, -differences), np.minimum(1.0, 1.0 - differences))
    c_a = np.clip(c_b + differences, 0.0, 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        most = MOST * np.fmin(n_a / c_a, n_b / (1 - c_b))[..., None]
    stake = np.fmin(bets * np.minimum(n_a, n_b)[..., None], most)
    total = np.zeros(np.broadcast_shapes(stake.shape, (*c_a.shape, 1)))
    for place in batches(values.shape[-1], COLUMNS):
        for group, (sign, c, size) in enumerate(((1.0, c_a, n_a), (-1.0, c_b, n_b))):
            each = sign * stake / np.maximum(size, 1.0)[..., None]
            factors = each[..., None] * (values[..., None, place] - c[..., None])[..., None, :]
            total += np.einsum("...djk,...k->...dj", np.log1p(factors), counts[..., group, place])
    return total


def log_payoffs_of_means(values: Floats, counts: Floats, differences: Floats, bets: Floats = BETS) -> Floats:
    """Return logarithms of what bets on the difference of a batch's means pay: ``1 + k (mean_a - mean_b - d)``.

    A batch is one observation, so that its samples need not be independent.
    """
    n = counts.sum(axis=-1)
    mean = (counts * values[..., None, :]).sum(axis=-1) / np.maximum(n, 1.0)
    found = (mean[..., 0] - mean[..., 1])[..., None] - differences
    with np.errstate(divide="ignore"):
        stake = np.minimum(bets / 2, MOST / (1 + differences)[..., None])
    return np.where((n > 0).all(axis=-1)[..., None, None], np.log1p(stake * found[..., None]), 0.0)


def first_payoffs(values: Floats, counts: Floats, differences: Floats, bets: Floats = BETS) -> Floats:
    """Return logarithms of what a first block pays: bets around several common means, and no bet.

    Examples
    --------
    >>> counts = np.array([[1.0, 1.0], [1.0, 1.0]])
    >>> bool(first_payoffs(np.array([0.0, 1.0]), counts, np.array([0.0])).max() > np.log(0.5))
    True
    """
    paid = [log_payoffs(values, counts, centre, differences, bets) for centre in CENTRES]
    return np.asarray(np.logaddexp(np.logaddexp.reduce(paid, axis=0) - np.log(len(paid)), 0.0) - np.log(2))


def mixed(log_wealth: Floats) -> Floats:
    """Return the logarithm of the wealth over bets, the last axis: the mean weighted by what each began with."""
    shares = SHARES[: log_wealth.shape[-1]]
    return np.asarray(logsumexp(log_wealth, axis=-1, b=shares) - np.log(shares.sum()))


def both_sides(log_wealth: Floats) -> Floats:
    """Return the logarithm of the mean wealth over both directions, the axis before the last, and bets."""
    return np.asarray(np.logaddexp.reduce(mixed(log_wealth), axis=-1) - np.log(2))


def e_holm(log_e: Floats) -> Floats:
    """Return logarithms of e-values adjusted for testing all hypotheses, by Holm's step-down.

    The adjusted e-value of any true hypothesis ever reaches 1 / alpha with probability at most alpha.

    Examples
    --------
    >>> np.exp(e_holm(np.log([60.0, 1.0, 0.5]))).round(3).tolist()
    [20.0, 0.5, 0.5]
    """
    order = np.argsort(-log_e, kind="stable")
    adjusted = np.empty(len(log_e))
    adjusted[order] = np.minimum.accumulate(log_e[order] - np.log(np.arange(len(log_e), 0, -1.0)))
    return adjusted


@dataclass(eq=False)
class EProcess:
    """The evidence about the differences of two means of P pairs, from the first block on.

    `tested` (P, 2, J) is the log wealth of every bet against ``difference <= margin`` and, with groups swapped,
    ``difference >= -margin``; `followed` (P, 2, D, ALWAYS) that against ``difference <= d`` for each of `differences`.
    `seen` (P, 2, 2) has samples and sums of both groups; `weight` and `weighted` (P,) are sums over blocks of ``n_a n_b
    / (n_a + n_b)`` and of this times the difference of means.
    """

    margin: float
    method: str
    differences: Floats
    tested: Floats
    followed: Floats
    seen: Floats
    weight: Floats
    weighted: Floats
    low: Floats
    high: Floats
    n_blocks: Floats

    @classmethod
    def begun(cls, n: int, margin: float = 0.0, method: str = "blocks", differences: Floats = DIFFERENCES) -> EProcess:
        """Return the evidence about n pairs before the first block."""
        followed = np.zeros((n, 2, len(differences), ALWAYS))
        nothing = {name: np.zeros(n) for name in ("weight", "weighted", "n_blocks")}
        return cls(
            margin, method, differences, np.zeros((n, 2, len(BETS))), followed, np.zeros((n, 2, 2)),
            low=np.full(n, -1.0), high=np.ones(n), **nothing,
        )  # fmt: skip

    @property
    def log_e(self) -> Floats:
        """Logarithms of the e-values of the null hypotheses that the difference is within the margin, (P,)."""
        return both_sides(self.tested)

    @property
    def difference(self) -> Floats:
        """The mean difference within blocks, weighted by how many samples inform it; nan before the first."""
        return self.weighted / np.where(self.weight > 0, self.weight, np.nan)

    def extended(self, n: int) -> EProcess:
        """Return the evidence with n more pairs without data."""
        more = EProcess.begun(n, self.margin, self.method, self.differences)
        arrays = {name: np.concatenate([getattr(self, name), getattr(more, name)]) for name in ARRAYS}
        return EProcess(self.margin, self.method, self.differences, **arrays)

    def update(self, pairs: Positions, values: Floats, counts: Floats) -> None:
        """Take in B blocks of each of M pairs, one after the other."""
        values = np.broadcast_to(values, (*counts.shape[:2], counts.shape[-1]))
        at_once = max(1, FACTORS // (2 * (self.followed[0, 0].size + len(BETS)) * min(counts.shape[-1], COLUMNS)))
        for blocks in batches(counts.shape[1], at_once):
            for some in batches(len(pairs), at_once // (blocks.stop - blocks.start)):
                self._bet(pairs[some], values[some, blocks], counts[some, blocks])

    def _bet(self, pairs: Positions, values: Floats, counts: Floats) -> None:
        n, sums = counts.sum(axis=-1), (counts * values[..., None, :]).sum(axis=-1)
        added = np.stack([n, sums], axis=-1)
        before = self.seen[pairs, None] + np.cumsum(added, axis=1) - added
        centre = (before[..., 1].sum(axis=-1) + 0.5) / (before[..., 0].sum(axis=-1) + 1.0)
        sides, values = np.stack([counts, counts[..., ::-1, :]], axis=2), values[:, :, None]
        margin = np.array([self.margin])
        if self.method == "betting":
            gained = log_payoffs_of_means(values, sides, margin)
            followed = log_payoffs_of_means(values, sides, self.differences, BETS[:ALWAYS])
        else:
            first = self.n_blocks[pairs] == 0
            # A stake so small in the first block that it does not matter much where the centre is.
            most = np.where(first[:, None] & (np.arange(n.shape[1]) == 0), 2 / np.sqrt(n.min(axis=-1)), np.inf)
            cautious = np.minimum(BETS[:ALWAYS], most[..., None, None, None])
            cautious[np.isfinite(most)] *= MOST
            gained = log_payoffs(values, sides, centre[..., None], margin)
            followed = log_payoffs(values, sides, centre[..., None], self.differences, cautious)
            if first.any():
                gained[first, 0] = first_payoffs(values[first, 0], sides[first, 0], margin)
        self.tested[pairs] += gained[..., 0, :].sum(axis=1)
        self.followed[pairs] += followed.sum(axis=1)
        self.seen[pairs] += added.sum(axis=1)
        weight = n.prod(axis=-1) / n.sum(axis=-1)
        self.weight[pairs] += weight.sum(axis=-1)
        self.weighted[pairs] += (weight * (sums[..., 0] / n[..., 0] - sums[..., 1] / n[..., 1])).sum(axis=-1)
        self.n_blocks[pairs] += n.shape[1]

    def settle(self, pairs: Positions, log_threshold: Floats) -> None:
        """Set limits of differences to those that the wealth now has at thresholds, (M,), on either side."""
        for some in batches(len(pairs), TOGETHER):
            low, other = limits(self.followed[pairs[some]], log_threshold[some, None]).T
            self.low[pairs[some]], self.high[pairs[some]] = low, -other


#: What an `EProcess` knows of every pair.
ARRAYS = tuple(each.name for each in fields(EProcess))[3:]


def limits(log_wealth: Floats, log_threshold: Any) -> Floats:
    """Return the smallest differences whose evidence against them, and against smaller ones, is below thresholds."""
    threshold = np.broadcast_to(log_threshold, log_wealth.shape[:-2])[..., None]
    out = mixed(log_wealth) >= threshold
    first = np.argmin(out, axis=-1)  # the first that is not ruled out
    above = np.maximum(first, 1)
    ends = [np.take_along_axis(log_wealth, place[..., None, None], axis=-2) for place in (above - 1, above)]
    share = np.linspace(0.0, 1.0, BETWEEN + 1)[:, None]
    chords = mixed((1 - share) * ends[0] + share * ends[1])
    passed = np.argmin(chords >= threshold, axis=-1) - 1  # the last place that is ruled out
    found = DIFFERENCES[above - 1] + (DIFFERENCES[above] - DIFFERENCES[above - 1]) * passed / BETWEEN
    return np.where(out.all(axis=-1), 1.0, np.where(first == 0, -1.0, found))
