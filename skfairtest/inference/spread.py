"""The spread of several groups' rates beyond sampling noise.

Rates x_k / n_k, weights w_k that add up to 1, and m their weighted mean. Of S^2 = sum w (x/n - m)^2 / (1 - sum w^2),
sampling adds sum w (1 - w) p (1 - p) / n / (1 - sum w^2). The debiased variance subtracts its unbiased estimate; with
equal weights it is S^2 - mean(x/n (1 - x/n) / (n - 1)) (Lum, Zhang and Bower 2022, section 4).
"""

from typing import NamedTuple

import numpy as np

from skfairtest._utils.typing import Floats, Integers
from skfairtest.inference.draws import MOST_PEOPLE, permuted

#: Standard deviations at which data are simulated, at most, and how many standard errors of the variance they reach.
STEPS, MOST_STEPS, REACH = 22, 220, 6.0
#: Differences of variances that are rounding errors.
ROUNDING = 1e-12


class Spread(NamedTuple):
    """The standard deviation of rates without noise, its interval, and the range expected of equal rates."""

    standard_deviation: float
    ci_low: float
    ci_high: float
    observed: float
    p_value: float
    observed_range: float
    expected_range: float
    range_limit: float


def variance(rates: Floats, weight: Floats) -> Floats:
    """The weighted variance (...,) of rates (..., K); with equal weights the one with K - 1."""
    apart = rates - (rates * weight).sum(axis=-1, keepdims=True)
    return np.asarray((weight * apart**2).sum(axis=-1) / (1 - (weight**2).sum()))


def debiased(x: Integers, n: Integers, weight: Floats) -> Floats:
    """The variance of rates less sampling variance; it may be negative."""
    rates = x / n
    noise = (weight * (1 - weight) * rates * (1 - rates) / (n - 1)).sum(axis=-1) / (1 - (weight**2).sum())
    return np.asarray(variance(rates, weight) - noise)


def spread(
    x: Integers, n: Integers, *, by_people: bool, alpha: float, n_resamples: int, rng: np.random.Generator
) -> Spread:
    """Estimate the standard deviation of the rates of groups with at least two people, and test that it is 0.

    The interval holds the standard deviations s at which, with rates of the observed shape, the observed debiased
    variance is in neither tail of size alpha / 2 of simulated data; it starts at 0 unless the permutation test rejects
    at alpha / 2.
    """
    order = np.lexsort((x, n))
    x, n = x[order], n[order]
    weight = n / n.sum() if by_people else np.full(len(n), 1 / len(n))
    value = debiased(x, n, weight)
    beyond = ROUNDING * (1 + abs(value))
    # Of more people than tables can be drawn for, the total is free.
    tables = (
        (table[:, 0, :, 0] for table in permuted(np.stack([x, n - x], axis=-1)[None], [[0, 1]], n_resamples, rng))
        if n.sum() < MOST_PEOPLE
        else [rng.binomial(n, x.sum() / n.sum(), (n_resamples, len(n)))]
    )
    drawn = [(debiased(table, n, weight), np.ptp(table / n, axis=-1)) for table in tables]
    variances, ranges = (np.concatenate(parts) for parts in zip(*drawn, strict=True))
    p_value = float((1 + (variances >= value - beyond).sum()) / (1 + n_resamples))

    pooled = (x.sum() + 1) / (n.sum() + 2)  # of no events, the smallest group may have the most
    shape = (x + 2 * pooled) / (n + 2)
    centre = (shape * weight).sum()  # not the rate of all people, around which rates would leave 0 to 1
    shape = shape - centre
    if not (scale := np.sqrt(variance(shape, weight))) > ROUNDING:  # all rates are equal: any shape will do
        shape = np.resize([1.0, -1.0], len(n))
        shape, scale = shape - (shape * weight).sum(), np.sqrt(variance(shape, weight))
    around = (x + 1) / (n + 2)
    noise, free = around * (1 - around) / n, 1 - (weight**2).sum()
    apart = around - (around * weight).sum()
    error = np.sqrt((4 * weight**2 * apart**2 * noise + 2 * (weight * (1 - weight) * noise) ** 2).sum()) / free
    middle = max(float(value), 0.0)
    at, above, below = list[float](), list[float](), list[float]()
    start = max(middle - REACH * error, 0.0)
    step = (middle + REACH * error - start) / (STEPS - 1)
    for place in range(MOST_STEPS):
        # Of few events the standard error is too small: go on until the upper end is found, or rates are 0 and 1.
        if place >= STEPS and (below[-1] <= alpha / 2 or at[-1] <= at[-2]):
            break
        each = np.sqrt(start + place * step)
        rates = np.clip(centre + each / scale * shape, 0.0, 1.0)
        simulated = debiased(rng.binomial(n, rates, (max(n_resamples // 10, 199), len(n))), n, weight)
        at.append(float(np.sqrt(variance(rates, weight))))
        above.append(float((simulated >= value - beyond).mean()))
        below.append(float((simulated <= middle + beyond).mean()))  # rates more alike than chance makes them: 0
    low = np.interp(alpha / 2, np.maximum.accumulate(above), at) if p_value <= alpha / 2 else 0.0
    high = max(np.interp(-alpha / 2, -np.minimum.accumulate(below), at), np.sqrt(middle))
    return Spread(
        float(np.sqrt(middle)),
        float(low),
        float(high),
        float(np.sqrt(variance(x / n, weight))),
        p_value,
        float(np.ptp(x / n)),
        float(ranges.mean()),
        float(np.quantile(ranges, 1 - alpha, method="higher")),
    )
