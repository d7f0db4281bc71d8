"""Evidence about a difference of two means that grows batch by batch and is valid at every look.

In a block of n_a and n_b samples with values between 0 and 1, a bet takes a stake on each sample: the product over the
samples of group a of ``1 + k / n_a (y - c_a)`` and over those of group b of ``1 - k / n_b (y - c_b)``, with
``c_a - c_b = d``, ``k >= 0`` and all factors at least 0. Its expectation is at most 1 where ``mean_a - mean_b <= d``,
whatever the composition of the block, as the geometric mean of the expected factors is at most their arithmetic mean,
``1 + k / (n_a + n_b) (mean_a - mean_b - d)``. For rates and ``d = 0`` these are all e-variables
``p_theta_g(y) / p_theta_0(y)`` of Turner, Ly and Grunwald (2024, equation 6); nothing but the bounds of the values is
used, so means of bounded losses are tested by the same bets. The product over blocks is a nonnegative supermartingale
if c and k are chosen from the past, and so is a mixture of several k: by Ville's inequality it ever reaches 1 / alpha
with probability at most alpha.

With k fixed and c linear in d, the logarithm of every factor is concave in d. Between two differences the evidence is
therefore at least what a chord between them says: limits of the difference need few of them, and are valid everywhere.

References
----------
R. Turner, A. Ly and P. Grunwald (2024), Generic E-variables for exact sequential k-sample tests that allow for optional
stopping, Journal of Statistical Planning and Inference 230. I. Waudby-Smith and A. Ramdas (2024), Estimating means of
bounded random variables by betting, JRSS B 86, 1-27. B. Chugg et al. (2023), Auditing Fairness by Betting, NeurIPS.
J. Shin, A. Ramdas and A. Rinaldo (2023), E-detectors, New England Journal of Statistics in Data Science 2.
V. Vovk and R. Wang (2021), E-values: calibration, combination and applications, Annals of Statistics 49.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.special import logsumexp

from skfairtest._utils.batches import batches
from skfairtest._utils.typing import Floats

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
#: Values that are looked at together.
COLUMNS = 2048

METHODS = ("blocks", "betting")


def log_payoffs(values: Floats, counts: Floats, centre: Any, differences: Floats, bets: Floats = BETS) -> Floats:
    """Return logarithms of what bets on every sample of a block pay.

    Null hypothesis of each difference d: ``mean_a - mean_b <= d`` in this block. The expectation is then at most 1.

    Parameters
    ----------
    values : ndarray of float, shape (K,)
        Values between 0 and 1.
    counts : ndarray of float, shape (..., 2, K)
        How many samples of both groups have them. Without samples of a group nothing is staked.
    centre : float or ndarray, shape (...)
        The common mean that is expected, from what came before.
    differences : ndarray of float, shape (D,)
        From -1 to 1.
    bets : ndarray of float, shape (J,)
        Stakes on a sample of the smaller group.

    Returns
    -------
    ndarray of float, shape (..., D, J)
        Sums over samples.

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
    for place in batches(len(values), COLUMNS):
        for group, (sign, c, size) in enumerate(((1.0, c_a, n_a), (-1.0, c_b, n_b))):
            each = sign * stake / np.maximum(size, 1.0)[..., None]
            factors = each[..., None] * (values[place] - c[..., None])[..., None, :]
            total += np.einsum("...djk,...k->...dj", np.log1p(factors), counts[..., group, place])
    return total


def log_payoffs_of_means(values: Floats, counts: Floats, differences: Floats, bets: Floats = BETS) -> Floats:
    """Return logarithms of what bets on the difference of a batch's means pay: ``1 + k (mean_a - mean_b - d)``.

    The samples of a batch need not be independent, and all of them together are one observation.

    Parameters
    ----------
    values, counts, differences, bets
        As of `log_payoffs`; k is half the stake.

    Returns
    -------
    ndarray of float, shape (..., D, J)
        As of `log_payoffs`.
    """
    n = counts.sum(axis=-1)
    mean = counts @ values / np.maximum(n, 1.0)
    found = (mean[..., 0] - mean[..., 1])[..., None] - differences
    with np.errstate(divide="ignore"):
        stake = np.minimum(bets / 2, MOST / (1 + differences)[:, None])
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
    mean = logsumexp(paid, axis=0) - np.log(len(paid))
    return np.asarray(np.logaddexp(mean, 0.0) - np.log(2))


def mixed(log_wealth: Floats) -> Floats:
    """Return the logarithm of the wealth over bets, the last axis: the mean weighted by what each began with."""
    shares = SHARES[: log_wealth.shape[-1]]
    return np.asarray(logsumexp(log_wealth + np.log(shares / shares.sum()), axis=-1))


def both_sides(log_wealth: Floats) -> Floats:
    """Return the logarithm of the mean wealth over both directions, the axis before the last, and bets."""
    return np.asarray(np.logaddexp.reduce(mixed(log_wealth), axis=-1) - np.log(2))


def e_holm(log_e: Floats) -> Floats:
    """Return logarithms of e-values adjusted for testing all hypotheses: closed testing with arithmetic means.

    The adjusted e-value of a hypothesis is the smallest mean over the sets that it is in. Whichever hypotheses are
    true, the adjusted e-process of any of them ever reaches 1 / alpha with probability at most alpha (Vovk and Wang
    2021, algorithm 1).

    Parameters
    ----------
    log_e : ndarray of float, shape (n,)
        Logarithms of e-values, whatever their dependence.

    Examples
    --------
    >>> np.exp(e_holm(np.log([60.0, 1.0, 0.5]))).round(3).tolist()
    [20.5, 0.75, 0.5]
    """
    adjusted = np.array(log_e, dtype=float)
    for place, own in enumerate(log_e):
        others = np.sort(np.delete(log_e, place))
        means = np.logaddexp.accumulate([own, *others]) - np.log(np.arange(1, len(log_e) + 1))
        adjusted[place] = means.min()
    return adjusted


@dataclass(eq=False)
class EProcess:
    """The evidence about the difference of two means, from the first batch on; its size does not depend on how many.

    Parameters
    ----------
    margin : float
        Differences from ``-margin`` to ``margin`` are tolerated.
    method : {"blocks", "betting"}
        Bets on every sample, or on the difference of a batch's means.
    tested, detected : ndarray of float, shape (2, J)
        Log wealth of every bet against ``difference <= margin`` and, with groups swapped, ``difference >= -margin``;
        and the Shiryaev-Roberts sums of what it has been since every batch.
    followed : ndarray of float, shape (2, D, ALWAYS)
        Log wealth against ``difference <= d`` for each of `DIFFERENCES`, and with groups swapped.
    seen : ndarray of float, shape (2, 2)
        Samples and sums of values of both groups, as far as they were compared.
    weight, weighted : float
        Sums over blocks of ``n_a n_b / (n_a + n_b)``, and of this times the difference of means.
    low, high : float
        Limits of the difference now. They hold at all looks together; so would the narrowest ones so far, which say
        nothing sensible once the difference changes.
    n_blocks : int
        How many blocks were compared.
    waiting : mapping of float to list of float
        Values of samples that wait for the other group, and how many of both groups have them.
    """

    margin: float
    method: str = "blocks"
    tested: Floats = field(default_factory=lambda: np.zeros((2, len(BETS))))
    detected: Floats = field(default_factory=lambda: np.full((2, len(BETS)), -np.inf))
    followed: Floats = field(default_factory=lambda: np.zeros((2, len(DIFFERENCES), ALWAYS)))
    seen: Floats = field(default_factory=lambda: np.zeros((2, 2)))
    weight: float = 0.0
    weighted: float = 0.0
    low: float = -1.0
    high: float = 1.0
    n_blocks: int = 0
    waiting: dict[float, list[float]] = field(default_factory=dict)

    @property
    def log_e(self) -> float:
        """Logarithm of the e-value of the null hypothesis that the difference is within the margin."""
        return float(both_sides(self.tested))

    @property
    def log_detector(self) -> float:
        """Logarithm of the e-detector: its first passage above A takes at least A batches on average if nothing ails.

        Its expectation after t batches without a disparity is at most t.
        """
        return float(both_sides(self.detected))

    @property
    def difference(self) -> float:
        """The mean difference within blocks, weighted by how many samples inform it."""
        return self.weighted / self.weight if self.weight else float("nan")

    @property
    def n_waiting(self) -> tuple[int, int]:
        """How many samples of both groups wait for the other one."""
        sums = np.sum([*self.waiting.values()], axis=0) if self.waiting else (0, 0)
        return int(sums[0]), int(sums[1])

    def update(self, values: Floats, counts: Floats, log_threshold: float) -> bool:
        """Take in a batch; return whether there is now a block of both groups, which was compared.

        Parameters
        ----------
        values : ndarray of float, shape (K,)
            Values between 0 and 1.
        counts : ndarray of float, shape (2, K)
            How many samples of both groups have them.
        log_threshold : float
            Log wealth at which a difference is outside the limits, on either side.
        """
        for value, pair in zip(values.tolist(), counts.T.tolist(), strict=True):
            if any(pair):
                before = self.waiting.get(value, [0.0, 0.0])
                self.waiting[value] = [before[0] + pair[0], before[1] + pair[1]]
        if not all(self.n_waiting):
            return False
        block = np.array(sorted(self.waiting))
        both = np.array([self.waiting[value] for value in block.tolist()]).T
        self.waiting = {}
        self._bet(block, both)
        self.settle(log_threshold)
        return True

    def _bet(self, values: Floats, counts: Floats) -> None:
        sides = np.stack([counts, counts[::-1]])
        centre = (self.seen[:, 1].sum() + 0.5) / (self.seen[:, 0].sum() + 1.0)

        margin = np.array([self.margin])
        if self.method == "betting":
            gained = log_payoffs_of_means(values, sides, margin)
            followed = log_payoffs_of_means(values, sides, DIFFERENCES, BETS[:ALWAYS])
        elif not self.n_blocks:
            gained = first_payoffs(values, sides, margin)
            # A stake so small that it does not matter much where the centre is.
            cautious = np.minimum(BETS[:ALWAYS], 2 / np.sqrt(counts.sum(axis=1).min()))
            followed = log_payoffs(values, sides, centre, DIFFERENCES, MOST * cautious)
        else:
            gained = log_payoffs(values, sides, centre, margin)
            followed = log_payoffs(values, sides, centre, DIFFERENCES, BETS[:ALWAYS])
        gained = gained[:, 0]
        self.tested = self.tested + gained
        self.detected = np.logaddexp(self.detected, 0.0) + gained
        self.followed = self.followed + followed
        n, sums = counts.sum(axis=1), counts @ values
        self.seen = self.seen + np.stack([n, sums], axis=1)
        weight = float(n[0] * n[1] / n.sum())
        self.weight += weight
        self.weighted += weight * float(sums[0] / n[0] - sums[1] / n[1])
        self.n_blocks += 1

    def settle(self, log_threshold: float) -> None:
        """Set the limits of the difference to those that the wealth now has at a threshold."""
        self.low, other = (limit(side, log_threshold) for side in self.followed)
        self.high = -other

    def merged(self, other: EProcess) -> EProcess:
        """Return the evidence of two streams of different samples: the product of what each bet has become.

        The sums of detectors are averaged: without a disparity each is at most as many batches as it has seen, on
        average. Limits begin anew, as each stream's own hold at its level, and both together do not.
        """
        waiting = {
            value: np.add(self.waiting.get(value, [0.0, 0.0]), other.waiting.get(value, [0.0, 0.0])).tolist()
            for value in {*self.waiting, *other.waiting}
        }
        return EProcess(
            self.margin,
            self.method,
            self.tested + other.tested,
            np.logaddexp(self.detected, other.detected) - np.log(2),
            self.followed + other.followed,
            self.seen + other.seen,
            self.weight + other.weight,
            self.weighted + other.weighted,
            n_blocks=self.n_blocks + other.n_blocks,
            waiting=waiting,
        )

    def to_plain(self) -> dict[str, Any]:
        """Return everything as lists and numbers; ``from_plain`` reads it to the last digit."""
        arrays = {name: getattr(self, name).tolist() for name in ("tested", "followed", "seen")}
        # Minus infinity is no number of JSON: before the first block no bet was made.
        arrays["detected"] = [[None if np.isinf(sum_) else sum_ for sum_ in side] for side in self.detected.tolist()]
        numbers = {name: getattr(self, name) for name in ("margin", "method", "weight", "weighted", "low", "high")}
        waiting = [[value, *self.waiting[value]] for value in sorted(self.waiting)]
        return {**numbers, **arrays, "n_blocks": self.n_blocks, "waiting": waiting}

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> EProcess:
        """Read what `to_plain` wrote.

        Raises
        ------
        ValueError
            If shapes are not those of this version.
        """
        arrays = {name: np.array(plain[name], dtype=float) for name in ("tested", "followed", "seen", "detected")}
        arrays["detected"] = np.where(np.isnan(arrays["detected"]), -np.inf, arrays["detected"])
        made = cls(plain["margin"], plain["method"])
        for name, array in arrays.items():
            if array.shape != getattr(made, name).shape:
                raise ValueError(f"{name} has shape {array.shape} and not {getattr(made, name).shape}")
            setattr(made, name, array)
        for name in ("weight", "weighted", "low", "high", "n_blocks"):
            setattr(made, name, plain[name])
        made.waiting = {float(value): [float(a), float(b)] for value, a, b in plain["waiting"]}
        return made


def limit(log_wealth: Floats, log_threshold: float) -> float:
    """Return the smallest difference whose evidence against it, and against smaller ones, is below a threshold.

    Parameters
    ----------
    log_wealth : ndarray of float, shape (D, J)
        Of every bet, against ``difference <= d``.
    log_threshold : float
        At which a difference is ruled out.

    Returns
    -------
    float
        From -1 to 1; between two of `DIFFERENCES` by chords, which never lie above.
    """
    out = mixed(log_wealth) >= log_threshold
    if out.all():
        return 1.0
    first = int(np.argmin(out))
    if not first:
        return -1.0
    share = np.linspace(0.0, 1.0, BETWEEN + 1)[:, None]
    chords = mixed((1 - share) * log_wealth[first - 1] + share * log_wealth[first])
    passed = int(np.argmin(chords >= log_threshold)) - 1  # the last place that is ruled out
    step = float(DIFFERENCES[first] - DIFFERENCES[first - 1])
    return float(DIFFERENCES[first - 1]) + step * passed / BETWEEN


def newton_stakes(differences: Floats) -> Floats:
    """Return the stakes of the published betting recursion: online Newton steps on differences of two values.

    Each depends on the differences before it only. The wealth is the product of ``1 + stake * difference``.

    Parameters
    ----------
    differences : ndarray of float, shape (T,)
        Of pairs, from -1 to 1. (The published program leaves the first pair out.)

    References
    ----------
    Chugg et al. (2023), algorithm 1; Cutkosky and Orabona (2018), Black-box reductions for parameter-free online
    learning, COLT.

    Examples
    --------
    >>> newton_stakes(np.array([1.0, 1.0, -1.0])).round(4).tolist()
    [0.0, 0.5, 0.5]
    """
    stakes, squares, stake = np.zeros(len(differences)), 1.0, 0.0
    for place, found in enumerate(differences.tolist()):
        stakes[place] = stake
        slope = -found / (1 + stake * found)
        squares += slope**2
        stake = float(np.clip(stake - 2 / (2 - np.log(3)) * slope / squares, -0.5, 0.5))
    return stakes
