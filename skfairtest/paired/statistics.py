"""Two models on the same samples: is the mean of d = b - a, which is -1, 0 or 1, the same in two groups.

a and b are 1 if the event happens under model A or B, so the mean of d is the change of the rate. Null hypothesis: the
means of two groups differ by `edge` (0: both models have the same disparity). The models may disagree more often in one
group, so permuting labels rejects up to 17% of fair pairs at a level of 5% (`benchmarks/designs`). The statistic is the
efficient score statistic, with the variance of the most likely distributions under the null hypothesis,

    z = (mean_1 - mean_2 - edge) / sqrt(v_1 / n_1 + v_2 / n_2),   v = p_plus + p_minus - delta^2,

and its p-value the larger of the normal one and that of z in samples from these two distributions (the estimated
p-value of Lloyd 2008, or parametric bootstrap), enumerated if outcomes are few. The mean of a + b - 1 is tested alike.

Over strata, distances and variances are summed. Small samples lie too close to their stratum's likeliest mean (Neyman
and Scott 1948; for matched pairs v is half of what it should be), so the variance is at least the sum of unbiased ones:
those within both groups, or, if a group has one sample, the squared distance.

References
----------
T. Tango (1998). Statistics in Medicine 17, 891-908: one group, equations 7 to 11. R. L. Berger and D. D.
Boos (1994). Journal of the American Statistical Association 89, 1012-1016. C. J. Lloyd (2008). Australian and
New Zealand Journal of Statistics 50, 329-345. Q. McNemar (1947). Psychometrika 12, 153-157. J. Neyman and E. L. Scott
(1948). Econometrica 16, 1-32.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import binom, binomtest

from skfairtest._utils.batches import batches
from skfairtest._utils.typing import Floats, Integers
from skfairtest.inference.intervals import crossings
from skfairtest.inference.resampling import at_least_as_extreme
from skfairtest.inference.score import of_score

#: Variance of each group's sum of d under the null hypothesis, from which on the normal distribution suffices. Where
#: models seldom disagree, this is how many disagreements are expected.
MANY = 100
#: Outcomes of both groups together that are enumerated at the most.
MOST_OUTCOMES = 20_000
#: Probability of the outcomes of one group that an enumeration leaves out; it is counted as extreme.
LEFT_OUT = 1e-9
#: Probability that the share judged differently lies outside of where it is looked for; it is added to p-values.
UNLIKELY = 1e-6
#: Strata whose distances and variances are computed at a time.
STRATA = 4096
#: Halvings of the interval in which the most likely common mean lies.
HALVINGS = 40
#: Points at which a limit is looked for at first.
POINTS = 33
#: Shares judged differently, among which the largest probability is looked for.
SHARES = 101


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
        return np.asarray(means_of(self.counts) @ self.weights)

    @property
    def error(self) -> float:
        """Standard error of the difference of the means, each around its own."""
        squares = self.weights**2
        variance = float((variances_of(self.counts) / self.n).sum(axis=0) @ squares)
        if len(squares) > 1:
            first, second = self.means
            variance = max(variance, float(_unbiased(self.counts, first - second) @ squares))
        return float(np.sqrt(variance))


class Tested(NamedTuple):
    """A p-value as a logarithm, the statistic, what the p-value is of, the draws, and how many of these are extreme."""

    log_p: float
    statistic: float
    method: str = "asymptotic"
    draws: Floats | None = None
    n_extreme: int | None = None


def means_of(counts: Floats | Integers) -> Floats:
    """Return the means of d, of counts (..., 3)."""
    counts = np.asarray(counts, dtype=float)
    return np.asarray((counts[..., 0] - counts[..., 1]) / counts.sum(axis=-1))


def variances_of(counts: Floats | Integers) -> Floats:
    """Return the variances of d, of counts or probabilities (..., 3)."""
    counts = np.asarray(counts, dtype=float)
    return np.asarray((counts[..., 0] + counts[..., 1]) / counts.sum(axis=-1) - means_of(counts) ** 2)


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

    The likelihood is concave: it is largest where both groups' derivatives n (mean - delta) / v(delta) cancel. Counts
    (2, S, 3) and edges (..., 1) or (..., S) give an array (..., S).
    """
    (one, two), (n1, n2), (first, second) = counts, counts.sum(axis=-1), means_of(counts)
    first = first - edge
    least, most = np.maximum(-1.0, -1.0 - edge), np.minimum(1.0, 1.0 - edge)
    low, high = (np.clip(end(first, second), least, most) for end in (np.minimum, np.maximum))
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        # n1 (first - m) / v1 + n2 (second - m) / v2, times v1 v2.
        rises = n1 * (first - middle) * _variance(two, middle)
        rises = rises + n2 * (second - middle) * _variance(one, middle + edge) > 0
        low, high = np.where(rises, middle, low), np.where(rises, high, middle)
    return np.asarray((low + high) / 2)


def _unbiased(counts: Floats | Integers, edge: Floats | float) -> Floats:
    """Return unbiased variances of the distances of both groups' means, in strata (2, S, 3): an array (..., S)."""
    n, (first, second) = counts.sum(axis=-1), means_of(counts)
    within = (variances_of(counts) / np.maximum(n - 1, 1)).sum(axis=0)
    return np.asarray(np.where((n > 1).all(axis=0), within, (first - second - edge) ** 2))


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
        key = np.unique(key, return_inverse=True)[1] * (int(column.max()) + 1) + column
    _, first, place = np.unique(key, return_index=True, return_inverse=True)
    kinds = np.moveaxis(flat[first].reshape(-1, 2, 3), 0, 1)
    parts = np.concatenate([_parts(kinds[:, some], np.full(1, edge)) for some in batches(kinds.shape[1], STRATA)], 1)
    return np.asarray(_summed(parts[:, place].reshape(3, *shape), weights)[..., 0])


def _parts(counts: Floats | Integers, edge: Floats) -> Floats:
    """Return the distances of strata (2, S, 3), their most likely variances, and unbiased ones: (3, ..., S)."""
    tables: Floats = np.asarray(counts, dtype=float)
    (n1, n2), (first, second), mean = tables.sum(axis=-1), means_of(tables), common_mean(tables, edge)
    variance = _variance(tables[0], mean + edge) / n1 + _variance(tables[1], mean) / n2
    return np.stack([first - second - edge, variance, _unbiased(tables, edge)])


def _summed(parts: Floats, weights: Floats, starts: Sequence[int] = (0,)) -> Floats:
    """Return the statistics of parts (3, ..., S), of comparisons whose strata begin at `starts`: an array (..., C)."""
    distance, variance, unbiased = (
        np.add.reduceat(part * by, starts, axis=-1)
        for part, by in zip(parts, (weights, weights**2, weights**2), strict=True)
    )
    several = np.diff([*starts, len(weights)]) > 1
    variance = np.where(several, np.maximum(variance, unbiased), variance)
    # What ought to be 0 is not left as a rounding error.
    distance = np.where(np.abs(distance) <= 1e-13, 0.0, distance)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(distance == 0, 0.0, distance / np.sqrt(variance))


def compare_changes(
    changes: Changes,
    *,
    edge: float = 0.0,
    alternative: str = "two-sided",
    n_resamples: int = 9999,
    seed: np.random.SeedSequence | None = None,
) -> Tested:
    """Test that the means of d in two groups differ by `edge`.

    Examples
    --------
    >>> import numpy as np
    >>> changes = Changes(np.array([[[4, 0, 8]], [[0, 1, 11]]]))
    >>> tested = compare_changes(changes)
    >>> round(float(np.exp(tested.log_p)), 4), tested.method
    (0.0253, 'asymptotic')
    """
    counts, weights, n = np.asarray(changes.counts, dtype=float), changes.weights, changes.n.astype(np.int64)
    statistic = float(score_statistic(counts, weights, edge))
    normal = Tested(float(of_score(np.asarray(statistic), alternative)), statistic)
    mean = common_mean(counts, np.array([edge]))
    fitted = most_likely(counts, np.stack([mean + edge, mean]))
    if not n_resamples or statistic == 0 or (n * variances_of(fitted)).sum(axis=1).min() >= MANY:
        return normal
    outcomes = _outcomes(n[:, 0], fitted[:, 0]) if n.shape[1] == 1 else None
    if outcomes is not None:
        tables, probability = outcomes
        extreme = at_least_as_extreme(score_statistic(tables, weights, edge), statistic, alternative)
        p = min(1.0, probability[extreme].sum() + max(0.0, 1.0 - probability.sum()))
        found = Tested(float(np.log(p)), statistic, "enumerated parametric bootstrap")
        return max(normal, found, key=itemgetter(0))
    shape = (*n.shape, n_resamples)
    drawn = np.random.default_rng(seed).multinomial(n[..., None], fitted[:, :, None], shape)
    draws = score_statistic(np.moveaxis(drawn, 2, 0), weights, edge)
    n_extreme = int(at_least_as_extreme(draws, statistic, alternative).sum())
    log_p = float(np.log((1 + n_extreme) / (1 + n_resamples)))
    if normal.log_p >= log_p:
        return normal._replace(draws=draws)
    return Tested(log_p, statistic, "parametric bootstrap", draws, n_extreme)


def _outcomes(n: Integers, fitted: Floats) -> tuple[Integers, Floats] | None:
    """Return the tables (T, 2, 1, 3) of two groups (2,) and their probabilities; None if there are too many."""
    sides = []
    for size, (up, down, _) in zip(n.tolist(), fitted.tolist(), strict=True):
        ends = [(int(binom.ppf(LEFT_OUT, size, q)), int(binom.isf(LEFT_OUT, size, q))) for q in (up, down)]
        if np.prod([high - low + 1.0 for low, high in ends]) > MOST_OUTCOMES:
            return None
        grid = np.meshgrid(*(np.arange(max(low, 0), high + 1) for low, high in ends), indexing="ij")
        table = np.stack([*grid, size - sum(grid)], axis=-1).reshape(-1, 3)
        table = table[table[:, 2] >= 0]
        probability = binom.pmf(table[:, 0], size, up)
        probability *= binom.pmf(table[:, 1], size - table[:, 0], min(1.0, down / (1 - up)) if up < 1 else 0.0)
        sides.append((table[probability > 0], probability[probability > 0]))
    (first, of_first), (second, of_second) = sides
    if len(first) * len(second) > MOST_OUTCOMES:
        return None
    one, two = np.divmod(np.arange(len(first) * len(second)), len(second))
    return np.stack([first[one], second[two]], axis=1)[:, :, None, :], of_first[one] * of_second[two]


def limits(compared: Sequence[Changes], critical: Floats, bounds: Floats) -> Floats:
    """Return the differences of the means that the score test does not reject.

    Examples
    --------
    >>> import numpy as np
    >>> changes = Changes(np.array([[[9, 1, 40]], [[2, 2, 46]]]))
    >>> limits([changes], np.array([[1.96, 1.96]]), np.array([[-2.0, 2.0]])).round(3).tolist()
    [[0.017, 0.317]]
    """
    counts = np.concatenate([changes.counts for changes in compared], axis=1)
    weights = np.concatenate([changes.weights for changes in compared])
    strata = [changes.counts.shape[1] for changes in compared]
    starts = np.cumsum([0, *strata[:-1]]).tolist()
    estimate = np.array([changes.means[0] - changes.means[1] for changes in compared])

    def excess(edges: Floats) -> Floats:
        statistic = _summed(_parts(counts, np.repeat(edges, strata, axis=-1)), weights, starts)
        with np.errstate(invalid="ignore"):  # infinity less infinity, which no critical value of infinity rejects
            return np.asarray(statistic * [[1], [-1]] - critical.T)

    # Of few samples, edges beyond the first that is rejected may not be.
    points = np.linspace(np.stack([estimate, estimate]), bounds.T, POINTS)
    rejected = excess(points[1:]) > 0
    first = np.where(rejected.any(axis=0), rejected.argmax(axis=0), POINTS - 2)[None]
    near, far = (np.take_along_axis(points, first + step, axis=0)[0] for step in (0, 1))
    return crossings(excess, near, far)[0].T


def limits_of_mean(counts: Integers, z: float) -> Floats:
    """Return Tango's score limits of means of d, of counts (..., 3): an array (2, ...), NaN without samples.

    Examples
    --------
    >>> import numpy as np
    >>> limits_of_mean(np.array([86, 150, 1364]), 1.959964).round(4).tolist()
    [-0.059, -0.0214]
    """
    known = counts.sum(axis=-1) > 0
    shares = np.where(known[..., None], counts, [0.0, 0.0, 1.0])
    mean, n = means_of(shares), shares.sum(axis=-1)
    ends = np.stack([np.full(mean.shape, end) for end in (-1.0, 1.0)])
    found, _ = crossings(
        lambda delta: np.abs(mean - delta) - z * np.sqrt(_variance(shares, delta) / n), np.stack([mean, mean]), ends
    )
    return np.where(known, found, np.nan)


def not_worse(counts: Integers, margin: float) -> float:
    """Log p-value of the hypothesis that the mean of d, of counts (3,), is -margin or less: an exact score test.

    The largest probability of a score statistic at least as large, over shares of d = 1 or -1 within exact limits
    (Berger and Boos 1994).

    Examples
    --------
    >>> import numpy as np
    >>> round(float(np.exp(not_worse(np.array([12, 10, 178]), 0.05))), 4)
    0.0085
    """
    (plus, minus, _), n = counts.tolist(), int(counts.sum())

    def statistic(x: Integers, y: Integers) -> Floats:
        distance: Floats = (x - y) / n + margin
        variance = _variance(np.stack([x, y, n - x - y], axis=-1).astype(float), np.asarray(-margin))
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(np.abs(distance) <= 1e-13, 0.0, distance / np.sqrt(variance / n))

    differ = np.array(binomtest(plus + minus, n).proportion_ci(1 - UNLIKELY))
    low, high = np.sqrt(np.maximum(differ - margin, 0.0) / 2)
    up = np.linspace(low, high, SHARES)[:, None] ** 2
    down = np.minimum(up + margin, 1.0)
    y = np.arange(int(np.min(binom.ppf(LEFT_OUT, n, down))), int(np.max(binom.isf(LEFT_OUT, n, down))) + 1)
    # The smallest x that is as extreme, given y.
    observed, first, past = statistic(np.array(plus), np.array(minus)) - 1e-9, np.zeros_like(y), n - y + 1
    while (first < past).any():
        middle = np.minimum((first + past) // 2, n - y)
        extreme = statistic(middle, y) >= observed
        first, past = np.where(extreme | (first == past), first, middle + 1), np.where(extreme, middle, past)
    share = np.minimum(up / np.maximum(1 - down, 1e-300), 1.0)
    p = np.sum(binom.pmf(y, n, down) * binom.sf(first - 1, n - y, share), axis=1)
    return float(np.log(min(1.0, p.max() + 2 * LEFT_OUT + UNLIKELY)))


def compare_sizes(
    changes: Changes,
    sums: Changes,
    margin: float,
    *,
    n_resamples: int = 9999,
    seed: np.random.SeedSequence | None = None,
) -> Tested:
    """Test whether B's disparity exceeds A's in size by a margin or more: abs(D_B) - abs(D_A) >= m.

    The null hypothesis is the union over signs t of the intersections over signs s of t D_B - s D_A >= m, so with
    Bonferroni p = max over t of 2 min over s of p(t, s). D_B - D_A is a difference of means of d, and D_B + D_A of
    means of a + b - 1, so `compare_changes` gives each p(t, s).

    Examples
    --------
    >>> import numpy as np
    >>> a, b = (
    ...     np.array([[[60, 20, 120]], [[10, 30, 160]]]),
    ...     np.array([[[90, 50, 60]], [[50, 70, 80]]]),
    ... )
    >>> tested = compare_sizes(Changes(a), Changes(b), 0.5, seed=np.random.SeedSequence(0))
    >>> bool(tested.log_p < np.log(0.01))
    True
    """
    seeds = iter([None] * 4 if seed is None else seed.spawn(4))
    parts = []
    for sign, alternative in ((1, "less"), (-1, "greater")):
        how: Any = {"edge": sign * margin, "alternative": alternative, "n_resamples": n_resamples}
        best = min((compare_changes(each, **how, seed=next(seeds)) for each in (changes, sums)), key=itemgetter(0))
        parts.append(Tested(min(0.0, best.log_p + float(np.log(2))), sign * best.statistic, best.method))
    return max(parts, key=itemgetter(0))


def upper_limits_of_sizes(changes: Sequence[Changes], sums: Sequence[Changes], critical: Floats) -> Floats:
    """Return the largest margins that `compare_sizes` does not reject, (C,), by the critical values of both signs."""
    both, z = [*changes, *sums], np.tile(critical, 2)[:, None]
    low, high = np.moveaxis(limits(both, z * [1, 1], np.tile([-2.0, 2.0], (len(both), 1))).reshape(2, -1, 2), 2, 0)
    return np.asarray(np.maximum(high.min(axis=0), (-low).min(axis=0)))
