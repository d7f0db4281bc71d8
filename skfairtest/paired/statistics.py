"""Two models on the same samples: is the mean of d = b - a, which is -1, 0 or 1, the same in two groups.

a and b say of which samples an event happens under model A and under model B. In a group of n samples, of which `plus`
have d = 1 and `minus` have d = -1, the mean of d is the change of the rate from A to B. Null hypothesis: the means of
two groups differ by `edge` (0: the disparity between the groups is the same for both models). How often the models
disagree may differ between groups, so labels are not exchangeable: permuting them rejects up to 17% of fair pairs at a
level of 5% (`benchmarks/paired.py`). The statistic is the efficient score statistic, its variance that of the most
likely distributions of d that satisfy the null hypothesis,

    z = (mean_1 - mean_2 - edge) / sqrt(v_1 / n_1 + v_2 / n_2),   v = p_plus + p_minus - delta^2,

and its p-value the larger of the normal one and that of z in samples from these two distributions (the estimated
p-value of Lloyd 2008, or parametric bootstrap), enumerated where few outcomes are possible. The mean of a + b - 1 is of
the same kind, and is tested alike.

Over several strata, distances and variances are summed. Every stratum has a likeliest mean of its own, around which few
samples lie too closely (Neyman and Scott 1948): of matched pairs, the sum of the v is half of what it should be. The
variance is therefore at least the sum of unbiased ones: the variances within both groups, or, where a group has one
sample, the square of the stratum's distance.

References
----------
T. Tango (1998). Equivalence test and confidence interval for the difference in proportions for the paired-sample
design. Statistics in Medicine 17, 891-908: one group, equations 7 to 11. C. J. Lloyd (2008). Exact p-values for
discrete models obtained by estimation and maximization. Australian and New Zealand Journal of Statistics 50, 329-345.
Q. McNemar (1947). Psychometrika 12, 153-157. J. Neyman and E. L. Scott (1948). Consistent estimates based on partially
consistent observations. Econometrica 16, 1-32.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import betaln, log_ndtr, logsumexp, xlogy
from scipy.stats import binom

from skfairtest._utils.batches import batches
from skfairtest._utils.typing import Booleans, Floats, Integers
from skfairtest.inference.resampling import at_least_as_extreme

#: Variance of each group's sum of d under the null hypothesis, from which on the normal distribution suffices. Where
#: models seldom disagree, this is how many disagreements are expected.
MANY = 100
#: Outcomes of both groups together that are enumerated at the most.
MOST_OUTCOMES = 20_000
#: Probability of the outcomes of one group that an enumeration leaves out; it is counted as extreme.
LEFT_OUT = 1e-9
#: Strata whose distances and variances are computed at a time.
STRATA = 4096
#: Halvings of the interval in which the most likely common mean lies.
HALVINGS = 40
#: Points at which a limit is looked for at a time, and how often.
POINTS, ROUNDS = 33, 7


@dataclass(frozen=True)
class Changes:
    """Counts of d = 1, -1 and 0 of two groups in S strata, of shape (2, S, 3)."""

    counts: Integers

    @property
    def n(self) -> Floats:
        """Samples, (2, S)."""
        return np.asarray(self.counts.sum(axis=-1), dtype=float)

    @property
    def weights(self) -> Floats:
        """Mantel and Haenszel's weights of the strata, of sum 1."""
        first, second = self.n
        weights = first * second / (first + second)
        return np.asarray(weights / weights.sum())

    @property
    def means(self) -> Floats:
        """Averages over the strata of the means of d, (2,)."""
        return np.asarray(_means(self.counts) @ self.weights)

    def mean_of(self, group: int) -> Floats:
        """Return a group's mean of d in every stratum."""
        return _means(self.counts[group])

    @property
    def error(self) -> float:
        """Standard error of the difference of the means, each around its own."""
        means, n = _means(self.counts), self.n
        spread = (self.counts[..., 0] + self.counts[..., 1]) / n - means**2
        squares = self.weights**2
        variance = float(((spread / n).sum(axis=0) * squares).sum())
        if len(squares) > 1:
            distance = float(self.means[0] - self.means[1])
            variance = max(variance, float(_unbiased(self.counts, distance) @ squares))
        return float(np.sqrt(variance))


@dataclass(frozen=True)
class Found:
    """A p-value as a logarithm, the statistic, and the draws behind it; `n_extreme` is None where none were counted.

    `decided` is what the p-value is of: "normal", "enumerated" or "sampled".
    """

    log_p: float
    statistic: float
    decided: str
    draws: Floats | None = None
    n_extreme: int | None = None


def _means(counts: Floats | Integers) -> Floats:
    counts = np.asarray(counts, dtype=float)
    return np.asarray((counts[..., 0] - counts[..., 1]) / counts.sum(axis=-1))


def most_likely(counts: Floats, delta: Floats) -> Floats:
    """Return the most likely probabilities of 1, -1 and 0, given that their mean is `delta`.

    With p the probability of 1 the likelihood x log p + y log(p - delta) + z log(1 + delta - 2 p) is largest at the
    larger root of 2 n p^2 - (x (1 + 3 delta) + y (1 + delta) + 2 z delta) p + x delta (1 + delta).

    Examples
    --------
    >>> import numpy as np
    >>> most_likely(np.array([6.0, 2.0, 12.0]), np.array(0.0)).tolist()
    [0.2, 0.2, 0.6]
    """
    plus = _plus(counts, delta)
    return np.stack(np.broadcast_arrays(plus, plus - delta, 1 + delta - 2 * plus), axis=-1)


def _plus(counts: Floats, delta: Floats) -> Floats:
    x, y, z = counts[..., 0], counts[..., 1], counts[..., 2]
    n, above = x + y + z, 1 + delta
    linear = (x + y) * above + 2 * (x + z) * delta
    root = np.sqrt(np.maximum(linear * linear - 8 * n * x * delta * above, 0.0))
    return np.asarray(np.minimum(np.maximum((linear + root) / (4 * n), np.maximum(delta, 0.0)), above / 2))


def _variance(counts: Floats, delta: Floats) -> Floats:
    return np.asarray(np.maximum(2 * _plus(counts, delta) - delta - delta * delta, 0.0))


def common_mean(counts: Floats, edge: Floats) -> Floats:
    """Return the most likely mean of the second group, given that the first's is larger by `edge`.

    The likelihood of a mean is concave, with the derivative n (mean - delta) / v(delta): its maximum is where those of
    both groups cancel, between what each group says by itself. Counts (..., 2, S, 3) and edges (..., 1) give an array
    (..., S).
    """
    means, n = _means(counts), np.asarray(counts.sum(axis=-1), dtype=float)
    first, second = means[..., 0, :] - edge, means[..., 1, :]
    least, most = np.maximum(-1.0, -1.0 - edge), np.minimum(1.0, 1.0 - edge)
    low, high = (np.clip(end(first, second), least, most) for end in (np.minimum, np.maximum))
    n1, n2, one, two = n[..., 0, :], n[..., 1, :], counts[..., 0, :, :], counts[..., 1, :, :]
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        # n1 (first - m) / v1 + n2 (second - m) / v2, times v1 v2.
        rises = (
            n1 * (first - middle) * _variance(two, middle) + n2 * (second - middle) * _variance(one, middle + edge) > 0
        )
        low, high = np.where(rises, middle, low), np.where(rises, high, middle)
    return np.asarray((low + high) / 2)


def _unbiased(counts: Floats | Integers, edge: Floats | float) -> Floats:
    """Return unbiased variances of the distances of both groups' means, in strata (2, S, 3): an array (S,)."""
    tables: Floats = np.asarray(counts, dtype=float)
    n, means = tables.sum(axis=-1), _means(tables)
    within = ((tables[..., 0] + tables[..., 1]) / n - means**2) / np.maximum(n - 1, 1)
    return np.asarray(np.where((n > 1).all(axis=0), within.sum(axis=0), (means[0] - means[1] - edge) ** 2))


def score_statistic(counts: Floats | Integers, weights: Floats, edge: float = 0.0) -> Floats:
    """Return the score statistic of counts (..., 2, S, 3): an array (...,).

    Examples
    --------
    >>> import numpy as np
    >>> counts = np.array([[[9, 1, 40]], [[2, 2, 46]]])
    >>> round(float(score_statistic(counts, np.ones(1))), 3)
    2.161
    """
    tables = np.moveaxis(np.asarray(counts, dtype=np.int64), -2, -3)  # strata before groups
    shape, flat = tables.shape[:-2], tables.reshape(-1, 6)
    key = np.zeros(len(flat), dtype=np.int64)
    for column in flat.T:  # most strata of samples are alike, and each kind is computed once
        if (int(key.max()) + 1) * (int(column.max()) + 1) >= 2**62:
            key = np.unique(key, return_inverse=True)[1]
        key = key * (int(column.max()) + 1) + column
    _, first, place = np.unique(key, return_index=True, return_inverse=True)
    kinds = np.moveaxis(flat[first].reshape(-1, 2, 3), 0, 1)
    parts = np.concatenate([_parts(kinds[:, some], edge) for some in batches(kinds.shape[1], STRATA)], axis=1)
    return _summed(parts[:, place].reshape(3, *shape), weights)


def _parts(counts: Floats | Integers, edge: Floats | float) -> Floats:
    """Return the distances of strata (2, S, 3), their most likely variances, and unbiased ones: (3, S)."""
    tables: Floats = np.asarray(counts, dtype=float)
    n, means = tables.sum(axis=-1), _means(tables)
    mean = common_mean(tables, np.asarray(edge))
    variances = _variance(tables, np.stack([mean + edge, mean]))
    return np.stack([means[0] - means[1] - edge, (variances / n).sum(axis=0), _unbiased(counts, edge)])


def _summed(parts: Floats, weights: Floats) -> Floats:
    """Return the statistics of parts (3, ..., S)."""
    distance, variance = parts[0] @ weights, parts[1] @ weights**2
    if len(weights) > 1:
        variance = np.maximum(variance, parts[2] @ weights**2)
    # What ought to be 0 is not left as a rounding error.
    distance = np.where(np.abs(distance) <= 1e-13, 0.0, distance)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(distance == 0, 0.0, distance / np.sqrt(variance))


def normal_log_p(statistic: float, alternative: str) -> float:
    """Return the log p-value of a statistic that is standard normal."""
    if alternative == "two-sided":
        return float(min(0.0, np.log(2) + log_ndtr(-abs(statistic))))
    return float(log_ndtr(-statistic if alternative == "greater" else statistic))


def compare_changes(
    changes: Changes,
    *,
    edge: float = 0.0,
    alternative: str = "two-sided",
    n_resamples: int = 9999,
    seed: np.random.SeedSequence | None = None,
) -> Found:
    """Test that the means of d in two groups differ by `edge`.

    Parameters
    ----------
    changes : Changes
        Counts; every stratum has samples of both groups.
    edge : float
        Mean of the first group less that of the second, in every stratum, under the null hypothesis.
    alternative : {"two-sided", "greater", "less"}
        The alternative hypothesis.
    n_resamples : int
        Samples drawn where there are too many outcomes to be enumerated; 0: the normal distribution alone, which is
        also what there is where the models disagree often.
    seed : SeedSequence, optional
        Of these.

    Returns
    -------
    Found
        The larger of the normal p-value and the one of the estimated null distribution.

    Examples
    --------
    >>> import numpy as np
    >>> changes = Changes(np.array([[[4, 0, 8]], [[0, 1, 11]]]))
    >>> found = compare_changes(changes)
    >>> round(float(np.exp(found.log_p)), 4), found.decided
    (0.0253, 'normal')
    """
    counts, weights = np.asarray(changes.counts, dtype=float), changes.weights
    statistic = float(score_statistic(counts, weights, edge))
    normal = normal_log_p(statistic, alternative)
    mean = common_mean(counts, np.array([edge]))
    fitted = most_likely(counts, np.stack([mean + edge, mean]))
    n = changes.n.astype(np.int64)
    variances = fitted[..., 0] + fitted[..., 1] - (fitted[..., 0] - fitted[..., 1]) ** 2
    if not n_resamples or statistic == 0 or (n * variances).sum(axis=1).min() >= MANY:
        return Found(normal, statistic, "normal")
    outcomes = _outcomes(n, fitted) if n.shape[1] == 1 else None
    if outcomes is not None:
        tables, log_probability = outcomes
        extreme = at_least_as_extreme(score_statistic(tables, weights, edge), statistic, alternative)
        inside = float(np.exp(logsumexp(log_probability[extreme]))) if extreme.any() else 0.0
        left_out = max(0.0, 1.0 - float(np.exp(logsumexp(log_probability))))
        log_p, draws, n_extreme, how = float(np.log(min(1.0, inside + left_out))), None, None, "enumerated"
    else:
        assert seed is not None
        rng = np.random.default_rng(seed)
        drawn = np.stack(
            [
                np.stack([rng.multinomial(size, p, n_resamples) for size, p in zip(sizes, of_group, strict=True)], 1)
                for sizes, of_group in zip(n, fitted, strict=True)
            ],
            axis=1,
        )
        draws = score_statistic(drawn, weights, edge)
        n_extreme = int(at_least_as_extreme(draws, statistic, alternative).sum())
        log_p, how = float(np.log((1 + n_extreme) / (1 + n_resamples))), "sampled"
    if normal >= log_p:
        return Found(normal, statistic, "normal", draws)
    return Found(log_p, statistic, how, draws, n_extreme)


def _outcomes(n: Integers, fitted: Floats) -> tuple[Integers, Floats] | None:
    """Return the tables (T, 2, 1, 3) of two groups and the logarithms of their probabilities; None if too many."""
    sides = []
    for size, p in zip(n[:, 0].tolist(), fitted[:, 0], strict=True):
        ranges = [(int(binom.ppf(LEFT_OUT, size, q)), int(binom.isf(LEFT_OUT, size, q))) for q in p[:2]]
        if np.prod([high - low + 1.0 for low, high in ranges]) > MOST_OUTCOMES:
            return None
        plus, minus = np.meshgrid(*(np.arange(max(low, 0), high + 1) for low, high in ranges), indexing="ij")
        found = np.stack([plus.ravel(), minus.ravel(), size - plus.ravel() - minus.ravel()], axis=1)
        found = found[found[:, 2] >= 0]
        log_p = -np.log1p(size) - betaln(1 + found[:, 2], 1 + size - found[:, 2])
        rest = size - found[:, 2]
        log_p = log_p - np.log1p(rest) - betaln(1 + found[:, 0], 1 + found[:, 1]) + xlogy(found, p).sum(axis=1)
        kept = np.isfinite(log_p)
        sides.append((found[kept], log_p[kept]))
    (first, of_first), (second, of_second) = sides
    if len(first) * len(second) > MOST_OUTCOMES:
        return None
    one, two = np.divmod(np.arange(len(first) * len(second)), len(second))
    return np.stack([first[one], second[two]], axis=1)[:, :, None, :], of_first[one] + of_second[two]


def _farthest(inside: float, outside: float, covered: Callable[[Floats], Booleans]) -> float:
    """Return the last point that is covered on the way from a covered one to the end."""
    near, far = inside, outside
    for _ in range(ROUNDS):
        points = np.linspace(near, far, POINTS)
        is_covered = np.asarray(covered(points[1:]), dtype=bool)
        if is_covered.all():
            return float(far)
        first = int(np.argmin(is_covered))
        near, far = float(points[first]), float(points[first + 1])
    return near


def limits(
    changes: Changes, critical: tuple[float, float], bounds: tuple[float, float] = (-2.0, 2.0)
) -> tuple[float, float]:
    """Return the differences of the means that the score test does not reject at critical values below and above.

    Examples
    --------
    >>> import numpy as np
    >>> changes = Changes(np.array([[[9, 1, 40]], [[2, 2, 46]]]))
    >>> [round(limit, 3) for limit in limits(changes, (1.96, 1.96))]
    [0.017, 0.317]
    """
    counts, weights = changes.counts, changes.weights
    estimate = float(changes.means[0] - changes.means[1])

    def statistics(edges: Floats) -> Floats:
        parts = _parts(np.tile(counts, (1, len(edges), 1)), np.repeat(edges, len(weights)))
        return _summed(parts.reshape(3, len(edges), -1), weights)

    low, high = critical
    return (
        bounds[0]
        if np.isinf(low)
        else _farthest(estimate, bounds[0], lambda edges: np.asarray(statistics(edges) <= low)),
        bounds[1]
        if np.isinf(high)
        else _farthest(estimate, bounds[1], lambda edges: np.asarray(-statistics(edges) <= high)),
    )


def limits_of_mean(counts: Integers, z: float) -> tuple[float, float]:
    """Return Tango's score limits of the mean of d in one group; NaN without samples.

    Examples
    --------
    >>> import numpy as np
    >>> low, high = limits_of_mean(np.array([86, 150, 1364]), 1.959964)
    >>> round(low, 4), round(high, 4)
    (-0.059, -0.0214)
    """
    shares = np.asarray(counts, dtype=float)
    n = float(shares.sum())
    if not n:
        return np.nan, np.nan
    mean = float(_means(shares))

    def covered(deltas: Floats) -> Booleans:
        return np.asarray(np.abs(mean - deltas) <= z * np.sqrt(_variance(shares, deltas) / n))

    return _farthest(mean, -1.0, covered), _farthest(mean, 1.0, covered)


def compare_sizes(
    changes: Changes,
    sums: Changes,
    margin: float,
    *,
    n_resamples: int = 9999,
    seed: np.random.SeedSequence | None = None,
) -> Found:
    """Test that the disparity of B is larger in size than that of A by at least a margin: abs(D_B) - abs(D_A) >= m.

    The null hypothesis is the union, over the sign t of D_B, of the intersections, over the sign s of D_A, of
    t D_B - s D_A >= m. An intersection is rejected if one of its two hypotheses is at half the level (Bonferroni), a
    union if both of its parts are: p = max over t of 2 min over s of p(t, s). D_B - D_A is the difference of the means
    of d, and D_B + D_A that of the means of a + b - 1, so that each p(t, s) is one of `compare_changes`.

    Parameters
    ----------
    changes, sums : Changes
        Counts of b - a, and of a + b - 1.
    margin : float
        At least 0.
    n_resamples : int
        As of `compare_changes`.
    seed : SeedSequence, optional
        Of these.

    Returns
    -------
    Found
        The p-value, and the statistic of the hypothesis that sets it, negative where it is evidence against it.

    Examples
    --------
    >>> import numpy as np
    >>> a, b = (
    ...     np.array([[[60, 20, 120]], [[10, 30, 160]]]),
    ...     np.array([[[90, 50, 60]], [[50, 70, 80]]]),
    ... )
    >>> found = compare_sizes(Changes(a), Changes(b), 0.5, seed=np.random.SeedSequence(0))
    >>> bool(found.log_p < np.log(0.01))
    True
    """
    seeds = [None] * 4 if seed is None else seed.spawn(4)
    parts: list[Found] = []
    for sign, (alternative, edge) in enumerate([("less", margin), ("greater", -margin)]):
        both = [
            compare_changes(one, edge=edge, alternative=alternative, n_resamples=n_resamples, seed=seeds[2 * sign + k])
            for k, one in enumerate((changes, sums))
        ]
        best = min(both, key=lambda found: found.log_p)
        statistic = best.statistic if alternative == "less" else -best.statistic
        parts.append(replace(best, log_p=min(0.0, best.log_p + float(np.log(2))), statistic=statistic))
    return replace(max(parts, key=lambda found: found.log_p), draws=None, n_extreme=None)


def upper_limit_of_sizes(changes: Changes, sums: Changes, critical: float) -> float:
    """Return the largest margin that `compare_sizes` does not reject, by the critical value of both of its signs."""
    (low_d, high_d), (low_s, high_s) = (limits(one, (critical, critical)) for one in (changes, sums))
    return max(min(high_d, high_s), min(-low_d, -low_s))
