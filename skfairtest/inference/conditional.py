"""Two groups' events given their total: hypergeometric (Fisher 1935), in one stratum or several.

Over strata the sum of group 1's events is a convolution of these, which is the exact form of the Mantel-Haenszel test:
``sum w (r1 - r2) = sum (x1 - d1 m / N)``. Two-sided p-values order outcomes by their conditional probability, as
``scipy.stats.fisher_exact`` does. P-values are natural logarithms, so that 1e-5000 is still a number.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, reduce
from typing import Any, Self, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq
from scipy.stats import binom

from skfairtest._utils.batches import batches
from skfairtest._utils.typing import Booleans, Floats, Integers
from skfairtest.inference._discrete import hypergeometric_log_pmf
from skfairtest.inference.score import of_score, score_at

#: Two outcomes whose probabilities differ by less than this, relatively, are equally probable.
TIE = 1e-7
#: Standard deviations of group 1's events up to which their distribution is enumerated: some 10**11 people.
LARGEST_SPREAD = 1e5
#: Multiplications up to which strata are convolved directly, over windows wide enough for the smallest floats.
DIRECT_WORK = 300_000_000
#: Outcomes up to which the distribution of a sum over strata is enumerated at all.
STRATA_CAP = 1_000_000
#: Outcomes up to which it is enumerated again and again, under one odds ratio after the other.
TILT_CAP = 20_000
#: Largest sum of events over strata, whose product with a tilt keeps its digits.
MOST_EVENTS = 10**12
#: Standard deviations by which a grid may move weighted sums, all strata together, and points of all their grids.
GRID_ERROR, GRID_POINTS = 0.01, 100_000_000
#: Added to p-values that come from Fourier transforms alone.
FOURIER_ERROR = 1e-12
#: Standard deviations around the centre that a window holds, and those beyond which tails are computed by tilting.
_WIDE, _FAR = 45.0, 30.0
NARROW, _FAR_NARROW = 14.0, 5.0
#: Standard deviations up to which Fisher's possible p-values are listed, and how far from the mode they are.
_LISTED, _REACH = 250.0, 10.0
#: Tails smaller than this have lost digits to underflow, or to the rounding of a Fourier transform.
_UNDERFLOW, _NOISE = 1e-280, 1e-9


def support(d1: int, d2: int, m: int) -> tuple[int, int]:
    """Smallest and largest number of the m events that can fall on group 1."""
    return max(0, m - d2), min(d1, m)


def enumerated(d1: ArrayLike, d2: ArrayLike, m: ArrayLike) -> Booleans:
    """Whether the distribution of group 1's events is enumerated, rather than approximated by a normal one."""
    d1, d2, m = (np.asarray(n, dtype=float) for n in (d1, d2, m))
    people = np.maximum(d1 + d2, 1)
    return np.asarray(m / people * (1 - m / people) * (d1 / people) * d2 <= LARGEST_SPREAD**2)


def _factors(*counts: Integers | int) -> list[NDArray[Any]]:
    """Counts whose products are exact: Python's integers if 64 bits are too few."""
    large = max(int(np.max(n, initial=0)) for n in counts) >= 2**31
    return [np.asarray(n, dtype=object if large else np.int64) for n in counts]


def mode_of(d1: Integers | int, d2: Integers | int, m: Integers) -> Integers:
    """The mode of the hypergeometric distribution."""
    first, second, events = _factors(d1, d2, m)
    return np.asarray((events + 1) * (first + 1) // (first + second + 2), dtype=np.int64)


def _log_outward(x: Integers, d1: Integers, d2: Integers, m: Integers) -> Floats:
    """Log P(X >= x) for x at or beyond the mode, as pmf(x) times the sum of successive ratios."""
    left = np.minimum(d1, m) - x  # outcomes beyond x
    total, term, start, size = np.ones(len(x)), np.ones(len(x)), x.copy(), 64
    rows = np.flatnonzero(left > 0)
    while len(rows):
        for part in batches(len(rows), max(1, 1_000_000 // size)):
            own = rows[part]
            k = start[own, None] + np.arange(min(size, int(left[own].max())))
            a, b, c = (n[own, None] for n in (m, d1, d2))
            # Beyond the end of the support the first factor is 0, and all terms stay 0.
            terms = term[own, None] * np.cumprod(
                np.maximum(a - k, 0) / (k + 1.0) * (np.maximum(b - k, 0) / (c - a + k + 1.0)), axis=1
            )
            total[own] += terms.sum(axis=1)
            term[own] = terms[:, -1]
        start[rows] += size
        left[rows] -= size
        rows = rows[(left[rows] > 0) & (term[rows] * size >= 1e-18 * total[rows])]
        size = min(2 * size, 1 << 18)
    return hypergeometric_log_pmf(x, d1, d2, m) + np.log(total)


def _log_upper_tail(x: Integers, d1: Integers, d2: Integers, m: Integers) -> Floats:
    """Log P(X >= x), by the complement if the tail holds the mode."""
    low, mode = np.maximum(0, m - d2), mode_of(d1, d2, m)
    out = np.where(x <= low, 0.0, -np.inf)
    inner = (x > low) & (x <= np.minimum(d1, m))
    far, near = inner & (x > mode), inner & (x <= mode)
    out[far] = _log_outward(x[far], d1[far], d2[far], m[far])
    out[near] = np.log1p(-np.exp(_log_outward((m - x + 1)[near], d2[near], d1[near], m[near])))
    return out


def _log_lower_tail(x: Integers, d1: Integers, d2: Integers, m: Integers) -> Floats:
    """Log P(X <= x), as an upper tail with the groups swapped."""
    return _log_upper_tail(m - x, d2, d1, m)


def first_above(
    level: Floats | float, end: Integers, mode: Integers, log_probability: Callable[[Integers], Floats]
) -> Integers:
    """Per table, the outcome nearest to `end` whose log probability exceeds `level` (the mode if none does)."""
    outer, inner = end, np.where(log_probability(end) > level, end, mode)
    while end.size:
        gap = np.abs(inner - outer)
        if gap.max() <= 1:
            break
        middle = np.where(gap > 1, (inner + outer) // 2, inner)
        above = log_probability(middle) > level
        inner = np.where((gap > 1) & above, middle, inner)
        outer = np.where((gap > 1) & ~above, middle, outer)
    return inner


@overload
def conditional_log_p(x1: int, d1: int, x2: int, d2: int, alternative: str = "two-sided") -> float: ...
@overload
def conditional_log_p(
    x1: Integers, d1: Integers, x2: Integers, d2: Integers, alternative: str = "two-sided"
) -> Floats: ...
def conditional_log_p(x1, d1, x2, d2, alternative="two-sided"):  # type: ignore[no-untyped-def]
    """Log p-value of Fisher's exact test that two groups have the same event probability; vectorized.

    Examples
    --------
    >>> from math import exp
    >>> from scipy.stats import fisher_exact
    >>> ours = exp(conditional_log_p(8, 10, 1, 6))
    >>> bool(abs(ours - fisher_exact([[8, 2], [1, 5]]).pvalue) < 1e-12)
    True
    """
    if np.ndim(x1) == 0:
        x1, d1, x2, d2 = np.array([[x1], [d1], [x2], [d2]], dtype=np.int64)
        return float(conditional_log_p(x1, d1, x2, d2, alternative)[0])
    m = x1 + x2
    if not (few := enumerated(d1, d2, m)).all():
        z = score_at(x1, d1, x2, d2, 0.0)[0]
        out = of_score(z, alternative)
        out[few] = conditional_log_p(x1[few], d1[few], x2[few], d2[few], alternative)
        return out
    if alternative == "greater":
        return _log_upper_tail(x1, d1, d2, m)
    if alternative == "less":
        return _log_lower_tail(x1, d1, d2, m)
    first, people1, second, people2 = _factors(x1, d1, x2, d2)
    # Exchange the groups, so that the outcome observed lies in the lower tail.
    swap = np.asarray(first * people2 > second * people1, dtype=bool)
    x1, d1, d2 = np.where(swap, x2, x1), np.where(swap, d2, d1), np.where(swap, d1, d2)
    mode = mode_of(d1, d2, m)
    level = hypergeometric_log_pmf(x1, d1, d2, m) + TIE
    more_probable = first_above(level, np.minimum(d1, m), mode, lambda at: hypergeometric_log_pmf(at, d1, d2, m))
    log_p = log_both_tails(x1, more_probable + 1, d1, d2, m)
    return np.where((x1 >= mode) | (hypergeometric_log_pmf(mode, d1, d2, m) <= level), 0.0, log_p)


@lru_cache(maxsize=4096)
def attainable(d1: int, d2: int, m: int, alternative: str = "two-sided") -> Floats:
    """Log p-values of Fisher's test of every table with these margins, ascending; -inf precedes the smallest.

    Of large tables only those above 1e-12 are listed, or none: any smaller one counts as attainable.

    Examples
    --------
    >>> np.exp(attainable(3, 3, 2)).round(3).tolist()
    [0.0, 0.4, 0.4, 1.0]
    """
    low, high = support(d1, d2, m)
    spread = float(np.sqrt(m * (d1 / (d1 + d2)) * (d2 / (d1 + d2)) * (1 - m / (d1 + d2))))
    if spread > _LISTED:
        return np.zeros(0)
    reach, mode = int(_REACH * spread) + 40, int(mode_of(d1, d2, np.array(m)))
    x = np.arange(max(low, mode - reach), min(high, mode + reach) + 1)
    log_pmf = hypergeometric_log_pmf(x, d1, d2, m)[:: -1 if alternative == "greater" else 1]
    last = x - x[0]
    if alternative == "two-sided":
        log_pmf = np.sort(log_pmf)
        last = np.searchsorted(log_pmf, log_pmf + TIE, side="right") - 1
    with np.errstate(divide="ignore"):
        log_p = np.minimum(np.log(np.cumsum(np.exp(log_pmf)))[last], 0.0)
    if len(x) > high - low and log_p[0] > np.log(_UNDERFLOW):
        return np.append(-np.inf, log_p)
    return np.asarray(log_p[log_p > np.log(FOURIER_ERROR)])


def largest_attainable(values: Floats, log_p: Floats) -> Floats:
    """The largest of the `attainable` values that is not above each log p-value, up to rounding."""
    place = np.searchsorted(values, log_p + 1e-9, side="right") - 1
    return np.where(place < 0, log_p, np.minimum(np.r_[values, 0.0][place], log_p))


def log_both_tails(
    lower: Integers | int, upper: Integers | int, d1: Integers | int, d2: Integers | int, m: Integers | int
) -> Floats:
    """Log P(X <= lower or X >= upper)."""
    tables = np.atleast_1d(d1, d2, m)
    lower_tail, upper_tail = (
        _log_lower_tail(np.atleast_1d(lower), *tables),
        _log_upper_tail(np.atleast_1d(upper), *tables),
    )
    return np.minimum(0.0, np.logaddexp(lower_tail, upper_tail))


def stratum_distribution(d1: int, d2: int, m: int, tilt: float, reach: float) -> tuple[int, Floats, float]:
    """First outcome, probabilities proportional to pmf * exp(tilt x), and the log of their divisor."""
    low, high = support(d1, d2, m)
    # The mode solves (m - x)(d1 - x) w = (x + 1)(d2 - m + x + 1), w = exp(tilt); divided by w where that is large.
    w, r = (1.0, float(np.exp(-tilt))) if tilt > 0 else (float(np.exp(tilt)), 1.0)
    b = (m + d1) * w + (d2 - m + 2) * r
    c = m * d1 * w - (d2 - m + 1) * r
    root = 2 * c / (b + np.sqrt(max(b * b - 4 * (w - r) * c, 0.0)))
    mode = min(max(int(root), low), high)
    spread = 1 / np.sqrt(1 / (mode + 0.5) + 1 / (m - mode + 0.5) + 1 / (d1 - mode + 0.5) + 1 / (d2 - m + mode + 0.5))
    half = int(reach * spread) + 60
    low, high = max(low, mode - half), min(high, mode + half)
    x = np.arange(low, high + 1)
    log_weights = hypergeometric_log_pmf(x, d1, d2, m) + tilt * x
    largest = float(log_weights.max())
    weights = np.exp(log_weights - largest)
    total = float(weights.sum())
    return low, weights / total, largest + float(np.log(total))


def _convolved(masses: list[Floats]) -> Floats:
    """Convolve distributions, neighbours first, by Fourier transforms."""
    from scipy.signal import fftconvolve  # slow to import, and few tables have this many strata

    while len(masses) > 1:
        pairs = zip(masses[::2], masses[1::2], strict=False)
        masses = [np.maximum(fftconvolve(*pair), 0.0) for pair in pairs] + masses[len(masses) // 2 * 2 :]
    return masses[0]


@dataclass(frozen=True)
class Strata:
    """Denominators and totals of events of two groups in several strata; the distribution of group 1's events."""

    each: tuple[tuple[int, int, int], ...]  # d1, d2 and m

    @classmethod
    def of(cls, x1: Integers, d1: Integers, x2: Integers, d2: Integers) -> Self:
        """The strata of arrays of events and denominators."""
        return cls(tuple(zip(d1.tolist(), d2.tolist(), (x1 + x2).tolist(), strict=True)))

    @property
    def bounds(self) -> tuple[int, int]:
        """Smallest and largest possible sum."""
        lows, highs = zip(*(support(*stratum) for stratum in self.each), strict=True)
        return sum(lows), sum(highs)

    def moments(self) -> tuple[float, float]:
        """Mean and variance of the sum."""
        mean = variance = 0.0
        for a, b, c in self.each:
            people = a + b
            mean += c * (a / people)
            variance += c * (people - c) / people * (a / people) * (b / max(people - 1, 1))
        return mean, variance

    def direct_work(self) -> float:
        """Multiplications that a direct convolution of wide windows needs."""
        work, length = 0.0, 1.0
        for a, b, c in self.each:
            people = a + b
            spread = float(np.sqrt(c * (people - c) / people * (a / people) * (b / people)))
            low, high = support(a, b, c)
            size = min(high - low + 1.0, 2 * _WIDE * spread + 121)
            work += length * size
            length += size - 1
        return work

    def is_direct(self) -> bool:
        """Whether strata are convolved directly."""
        return self.direct_work() <= DIRECT_WORK

    def distribution(self, tilt: float, *, direct: bool) -> tuple[int, Floats, float]:
        """First outcome, probabilities of the tilted sum, and the log of their divisor."""
        reach = _WIDE if direct else NARROW
        known = {each: stratum_distribution(*each, tilt, reach) for each in dict.fromkeys(self.each)}
        firsts, parts, log_constants = zip(*(known[each] for each in self.each), strict=True)
        masses = reduce(np.convolve, parts) if direct else _convolved(list(parts))
        return sum(firsts), masses, sum(log_constants)

    def within_cap(self, *, tilted: bool = False) -> bool:
        """Whether the distribution of the sum is enumerated: once, or under many odds ratios."""
        size = 2 * NARROW * np.sqrt(self.moments()[1]) * (1 if tilted else len(self.each))
        return bool(size <= (TILT_CAP if tilted else STRATA_CAP) and self.bounds[1] <= MOST_EVENTS)

    def tilted_moments(self, tilt: float) -> Floats:
        """Mean, variance and third central moment of the tilted sum."""
        total = np.zeros(3)
        for stratum, copies in Counter(self.each).items():
            first, masses, _ = stratum_distribution(*stratum, tilt, NARROW)
            x = np.arange(len(masses))
            away = x - float(masses @ x)
            total += copies * np.array([first + float(masses @ x), masses @ away**2, masses @ away**3])
        return total

    def tilt_of(self, mean: float) -> float:
        """The tilt that gives the sum this mean: the logarithm of a common odds ratio."""
        low, high = -1.0, 1.0
        while self.tilted_moments(low)[0] > mean:
            low *= 2
        while self.tilted_moments(high)[0] < mean:
            high *= 2
        return float(brentq(lambda tilt: self.tilted_moments(tilt)[0] - mean, low, high, xtol=1e-10))

    def log_tail(self, observed: int, at: float = 0.0, *, upper: bool) -> float:
        """Log tail probability of the sum tilted by `at`, however small; the distribution is centred at `observed`."""
        end = 1 if upper else 0
        if observed == self.bounds[end]:
            log_mass = float(sum(float(hypergeometric_log_pmf(support(*s)[end], *s)) for s in self.each))
            return log_mass + at * observed - self._log_constant(at)
        tilt = self.tilt_of(min(max(observed, self.bounds[0] + 0.5), self.bounds[1] - 0.5))
        first, masses, log_constant = self.distribution(tilt, direct=False)
        x = first + np.arange(len(masses))
        chosen = x >= observed if upper else x <= observed
        tail = float(masses[chosen] @ np.exp((at - tilt) * (x[chosen] - observed)))
        return log_constant - self._log_constant(at) + (at - tilt) * observed + float(np.log(tail))

    def _log_constant(self, tilt: float) -> float:
        return self.distribution(tilt, direct=False)[2] if tilt else 0.0


def stratified_log_p(x1: Integers, d1: Integers, x2: Integers, d2: Integers, alternative: str = "two-sided") -> float:
    """Log p-value that two groups have the same event probability in every stratum, given all the strata's totals.

    The distribution of ``sum x1`` is enumerated, and normal beyond the cap; two-sided as R's ``mantelhaen.test(exact =
    TRUE)``, far in the tails twice the one-sided p-value.
    """
    strata = Strata.of(x1, d1, x2, d2)
    mean, variance = strata.moments()
    observed = int(x1.sum())
    if variance == 0:
        return 0.0
    z = (observed - mean) / np.sqrt(variance)
    if not strata.within_cap():
        return float(of_score(z, alternative))
    direct = strata.is_direct()
    if abs(z) > (_FAR if direct else _FAR_NARROW):
        return _far_log_p(strata, observed, alternative, upper=z > 0)
    first, masses, _ = strata.distribution(0.0, direct=direct)
    position = observed - first
    if alternative == "greater":
        tail = masses[position:].sum()
    elif alternative == "less":
        tail = masses[: position + 1].sum()
    else:
        tail = masses[masses <= masses[position] * (1 + TIE)].sum()
    if tail < (_UNDERFLOW if direct else _NOISE):  # a skewed distribution leaves the trusted range nearer to its centre
        return _far_log_p(strata, observed, alternative, upper=z > 0)
    return min(0.0, float(np.log(tail)))


def _far_log_p(strata: Strata, observed: int, alternative: str, *, upper: bool) -> float:
    """Log p-value far in a tail: of its own tail, of all but what lies beyond it, or twice the former."""
    if alternative == "two-sided":
        return min(0.0, strata.log_tail(observed, upper=upper) + float(np.log(2)))
    if (alternative == "greater") == upper:
        return strata.log_tail(observed, upper=upper)
    beyond = observed + 1 if upper else observed - 1
    low, high = strata.bounds
    if not low <= beyond <= high:
        return 0.0
    return float(np.log1p(-np.exp(strata.log_tail(beyond, upper=upper))))


def weighted_log_p(
    x1: Integers, d1: Integers, x2: Integers, d2: Integers, weights: Floats, alternative: str = "two-sided"
) -> float | None:
    """Log p-value of equal event probabilities in every stratum by ``sum w (r1 - r2)``, given all the strata's totals.

    The convolution on a grid rounds towards an upper bound. Two-sided it is twice the smaller tail. None if it would
    take long.
    """
    from scipy.fft import irfft, next_fast_len, rfft  # slow to import

    if not Strata.of(x1, d1, x2, d2).is_direct():
        return None
    steps = weights * (1 / d1 + 1 / d2)  # by which one more event of group 1 moves the sum
    kinds = Counter(zip(d1.tolist(), d2.tolist(), (x1 + x2).tolist(), steps.tolist(), strict=True))
    lowest = span = variance = 0.0
    parts = []
    for (people1, people2, events, step), copies in kinds.items():
        first, masses, _ = stratum_distribution(people1, people2, events, 0.0, NARROW)
        if len(masses) > 1:
            parts.append((step, reduce(np.convolve, [masses] * copies)))
        lowest, span = lowest + copies * first * step, span + copies * (len(masses) - 1) * step
        variance += copies * step**2 * Strata(((people1, people2, events),)).moments()[1]
    if variance == 0:
        return 0.0
    size = int(len(parts) * span / (2 * GRID_ERROR * np.sqrt(variance))) + 2
    if len(parts) * size > GRID_POINTS:
        return None
    spacing, length = span / size, next_fast_len(size + len(parts) + 1, real=True)
    transform = np.ones(length // 2 + 1, dtype=complex)
    for step, masses in parts:
        at = np.rint(step / spacing * np.arange(len(masses))).astype(np.int64)
        transform *= rfft(np.bincount(at, masses, length))
    mass, moved = np.maximum(irfft(transform, length), 0.0), len(parts) / 2 + 1e-6
    place = (float(steps @ x1) - lowest) / spacing
    above = mass[max(0, int(np.ceil(place - moved))) :].sum()
    below = mass[: int(np.floor(place + moved)) + 1].sum()
    tail = {"greater": above, "less": below}.get(alternative, 2 * min(above, below))
    return min(0.0, float(np.log(tail + FOURIER_ERROR)))


def mcnemar(plus: int, minus: int, alternative: str = "two-sided") -> float:
    """Log p-value of McNemar's exact test: changes are binomial with probability 1/2, given their number.

    Examples
    --------
    >>> import numpy as np
    >>> f"{np.exp(mcnemar(86, 150)):.4g}"
    '3.716e-05'
    """
    n = plus + minus
    above, below = float(binom.logsf(plus - 1, n, 0.5)), float(binom.logcdf(plus, n, 0.5))
    if alternative == "two-sided":
        return min(0.0, float(np.log(2)) + min(above, below))
    return above if alternative == "greater" else below
