"""The power of tests of rates, and searches for what has a given one.

The power of tests of rates: how often they detect a true disparity, computed before any data exist.

The power is that of the test that will run. Its rejection region is found for given denominators, and its probability
is summed at the assumed rates. If the denominators are random, because only some people meet a rate's condition, power
is averaged over them: at their means it is too high.

References
----------
R. D. Boschloo (1970). Raised conditional level of significance for the 2 x 2-table when testing the equality of two
probabilities. Statistica Neerlandica 24, 1-35.

Searches for the smallest size, or the smallest disparity, with a given power.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np
from scipy.special import ndtri

from skfairtest._utils.typing import Booleans, Floats, Integers
from skfairtest.inference import power_designs as designs
from skfairtest.inference.margin_regions import MARGIN_REGION_PEOPLE, margin_region, to_rest
from skfairtest.inference.rates import Question
from skfairtest.inference.regions import EXACT_PEOPLE, Region, equality_region, large_equality_power, reference_of


def region_of(
    d1: int, d2: int, question: Question, alpha: float, share: float = 0.0, means: tuple[int, int] | None = None
) -> Region:
    """Region of one comparison at its level."""
    if question.margin_bounds is None:
        return equality_region(d1, d2, alpha, question.alternative, reference_of(question, d1, d2))
    return margin_region(d1, d2, question, alpha, share=share, means=means)


def comparison_power(
    d1: int,
    d2: int,
    p1: float,
    p2: float,
    question: Question,
    alpha: float,
    share: float = 0.0,
    means: tuple[int, int] | None = None,
) -> tuple[float, str]:
    """Power of one comparison given its denominators, and how it was found; as `region_of`."""
    people = d1 + d2
    if question.margin_bounds is None and people > EXACT_PEOPLE:
        reference = reference_of(question, d1, d2)
        found = large_equality_power(d1, p1, d2, p2, alpha, question.alternative, reference)
        if found is not None:
            return found, "exact"
        return designs.normal_power(p1, d1, p2, d2, question, alpha, corrected=reference != "asymptotic"), "normal"
    if people > MARGIN_REGION_PEOPLE:
        return designs.normal_power(p1, d1, p2, d2, to_rest(question, share), alpha), "normal"
    return region_of(d1, d2, question, alpha, share, means).probability(p1, p2), "exact"


def rate_power(design: designs.Design, *, draws: int = designs.DRAWS) -> designs.Computed:
    """Probability that the global test of a design rejects.

    Two groups: summed over outcomes, and averaged over the denominators where they are random. With more groups,
    comparisons share people, so data sets are simulated from one seed, and each comparison's region is looked up.

    Parameters
    ----------
    design : Design
        The assumptions and the question.
    draws : int
        Data sets drawn where power is simulated.

    Returns
    -------
    Computed
        Power, method and Monte-Carlo standard error.
    """
    several = len(design.people) > 2 or (design.both and len(design.contrasts) > 1)
    if several or (design.overall and design.question.margin_bounds is not None):
        return _simulated(design, draws)
    n1, n2 = design.people
    s1, s2 = design.shares
    expected = n1 * s1 + n2 * s2
    # One search of a margin's critical scores, at the mean denominators, serves all of them.
    fixed = s1 >= 1 and s2 >= 1
    total, methods = 0.0, set()
    spacing = 0.5 if expected <= 600 else 0.7 if expected <= EXACT_PEOPLE else 1.0
    for a, b, weight in designs.pairs_of(n1, n2, s1, s2, spacing):
        places = [((n1 - a, n2 - b) if other else (a, b)) for other in design.complement]
        defined = [i for i, (d1, d2) in enumerate(places) if d1 > 0 and d2 > 0]
        if not defined:
            continue
        level, missed, certified = design.level(len(defined)), 1.0, 1.0
        for i in defined:
            (d1, d2), (p1, p2) = places[i], design.rates[i]
            share1, share2 = (1 - s1, 1 - s2) if design.complement[i] else (s1, s2)
            means = None if fixed else (max(1, round(n1 * share1)), max(1, round(n2 * share2)))
            first, second = design.contrasts[0]
            asked = design.question if (first, second) in ((0, 1), (0, None)) else designs.turned_over(design.question)
            found, method = comparison_power(d1, d2, p1, p2, asked, level, means=means)
            if len(design.contrasts) > 1 and design.question.alternative in ("greater", "less"):
                # Either group above the other: two regions that do not meet.
                other = comparison_power(d1, d2, p1, p2, designs.turned_over(asked), level, means=means)[0]
                found = min(1.0, found + other)
            methods.add(method)
            missed, certified = missed * (1 - found), certified * found
        total += weight * (certified if design.both else 1 - missed)
    return designs.Computed(
        min(1.0, max(0.0, total)), "normal" if "normal" in methods else "exact" if fixed else "averaged"
    )


def _events_drawn(d: Integers, p: float, uniform: Floats) -> Integers:
    out = np.empty_like(d)
    for value in np.unique(d):
        chosen = d == value
        out[chosen] = designs.binomial_draws(int(value), p, uniform[chosen])
    return out


def _simulated(design: designs.Design, draws: int) -> designs.Computed:
    rng = np.random.default_rng(designs.SEED)
    groups = len(design.people)
    met = []
    for n, share in zip(design.people, design.shares, strict=True):
        d = designs.binomial_draws(n, share, rng.random(draws)) if share < 1 else np.full(draws, n)
        step = max(1, round(np.sqrt(n * share * (1 - share)) / 2))
        # Few denominators, so that few regions are searched; their spread grows by two parts in a hundred.
        met.append(np.clip((d + step // 2) // step * step, 0, n) if share < 1 else d)
    uniform = rng.random((len(design.rates), groups, draws))
    hits, undefined = [], []
    for r, (p, other) in enumerate(zip(design.rates, design.complement, strict=True)):
        d = np.stack([n - a if other else a for n, a in zip(design.people, met, strict=True)])
        x = np.stack([_events_drawn(d[g], p[g], uniform[r, g]) for g in range(groups)])
        for first, second in design.contrasts:
            d1, x1 = d[first], x[first]
            d2, x2 = (d.sum(axis=0) - d1, x.sum(axis=0) - x1) if second is None else (d[second], x[second])
            hits.append(_rejections(x1, d1, x2, d2, design))
            undefined.append((d1 == 0) | (d2 == 0))
    hit = np.stack(hits) | (np.stack(undefined) if design.both else False)
    rejected = hit.all(axis=0) & ~np.stack(undefined).all(axis=0) if design.both else hit.any(axis=0)
    return designs.simulated(np.asarray(rejected))


def _rejections(x1: Integers, d1: Integers, x2: Integers, d2: Integers, design: designs.Design) -> Booleans:
    """A mask of the draws of one comparison that are rejected at its level."""
    level = design.level(len(design.rates))
    out = np.zeros(len(x1), dtype=bool)
    pairs, where = np.unique(np.stack([d1, d2]), axis=1, return_inverse=True)
    order = np.argsort(where.ravel(), kind="stable")
    bounds = np.searchsorted(where.ravel()[order], np.arange(pairs.shape[1] + 1))
    means = None if pairs.shape[1] == 1 else (max(1, round(float(d1.mean()))), max(1, round(float(d2.mean()))))
    for i, (a, b) in enumerate(pairs.T.tolist()):
        chosen = order[bounds[i] : bounds[i + 1]]
        if a == 0 or b == 0:
            continue
        # Beyond what is enumerated, the score test's critical values: exact for it, and near the other tests'.
        question = design.question if a + b <= EXACT_PEOPLE else replace(design.question, method="asymptotic")
        share = a / (a + b) if design.overall else 0.0
        out[chosen] = region_of(a, b, question, level, share, means).rejects(x1[chosen], x2[chosen])
    return out


#: Largest group that is searched for.
LARGEST = 100_000_000
#: How near to the power wanted a search ends, on the scale of normal quantiles, and how often it looks at the power.
NEAR, TRIES = 1e-7, 60


def smallest_size(power_at: Callable[[int], designs.Computed], target: float, start: int, least: int = 2) -> int:
    """Return the smallest size from which the power stays at a target.

    Exact power is a saw-tooth in the size: after a size is found, the next 30 and 30 more up to a quarter above it are
    checked, and the search goes on after the last that falls short (beyond 2,000, and where denominators are averaged
    over, the teeth are small: 8 sizes up to a tenth above).

    Parameters
    ----------
    power_at : callable
        Power at a size.
    target : float
        Power wanted.
    start : int
        Where to begin.
    least : int
        Smallest size there can be.

    Returns
    -------
    int
        The size; -1 if none below `LARGEST` has the power.
    """
    power_at = cache(power_at)

    def enough(size: int) -> bool:
        return power_at(size).value >= target

    inside = max(start, least)
    while not enough(inside):
        inside = max(inside + 1, int(inside * 1.1))
        if inside > LARGEST:
            return -1
    outside = inside
    step = max(1, inside // 20)
    while outside > least and enough(outside):
        inside, outside = outside, max(least, outside - step)
        step *= 2
    if enough(outside):
        return outside
    while inside - outside > 1:
        middle = (inside + outside) // 2
        inside, outside = (middle, outside) if enough(middle) else (inside, middle)
    while power_at(inside).method in ("exact", "averaged"):
        if power_at(inside).method == "exact" and inside <= 2000:
            ahead = sorted({*range(inside + 1, inside + 31), *np.linspace(inside + 1, 1.25 * inside, 30).astype(int)})
        else:
            ahead = sorted({*np.linspace(inside + 1, 1.1 * inside + 2, 8).astype(int)})
        short = [int(size) for size in ahead if not enough(int(size))]
        if not short:
            break
        inside = short[-1] + 1
        while not enough(inside):
            inside += 1
    return inside


def smallest_distance(
    power_at: Callable[[float], float], target: float, room: float, *, start: float = np.nan, near: float = NEAR
) -> float:
    """Return the distance from the null hypothesis at which one power reaches its target: see `smallest_distances`."""
    found = smallest_distances(
        lambda _, distances: np.array([power_at(float(distances[0]))]),
        target,
        np.array([room]),
        start=np.array([start]),
        near=near,
    )
    return float(found[0])


def smallest_distances(
    power_at: Callable[[Integers, Floats], Floats],
    target: float,
    room: Floats,
    *,
    start: Floats,
    at_null: Floats | None = None,
    near: float = NEAR,
) -> Floats:
    """Return the distances from the null hypothesis at which powers reach their target, by false position.

    Parameters
    ----------
    power_at : callable
        (which, at which distances) -> powers, all of shape (n,); each rises with its distance.
    target : float
        Power wanted.
    room : ndarray, shape (k,)
        Largest distance there can be.
    start : ndarray, shape (k,)
        Where to begin; NaN: at the largest distance.
    at_null : ndarray, shape (k,), optional
        About the power at a distance of 0, where it is known; NaN where it is not.
    near : float
        How near to the power wanted the search ends, on the scale of normal quantiles.

    Returns
    -------
    ndarray, shape (k,)
        NaN if no distance has the power.
    """

    def excess(power: Floats) -> Floats:
        return np.asarray(ndtri(np.clip(power, 1e-12, 1 - 1e-12)) - ndtri(target))

    out, rows = np.full(len(room), np.nan), np.flatnonzero(room > 0)
    null = np.full(len(room), np.nan) if at_null is None else at_null.copy()
    unknown = rows[np.isnan(null[rows])]
    if len(unknown):
        null[unknown] = power_at(unknown, np.zeros(len(unknown)))
    below = excess(null)
    out[rows[below[rows] >= 0]] = 0.0
    rows = rows[below[rows] < 0]
    rise = -below
    low, high, above = np.zeros(len(room)), room.copy(), np.full(len(room), np.nan)
    distance = np.where(np.isfinite(start), start, room)
    for attempt in range(TRIES):
        if not len(rows):
            return out
        found = excess(power_at(rows, distance[rows]))
        ended = np.abs(found) <= near
        out[rows[ended]] = distance[rows[ended]]
        ended |= (found <= 0) & (distance[rows] >= room[rows])  # no distance has the power
        rows, found = rows[~ended], found[~ended]
        over, under = rows[found > 0], rows[found <= 0]
        high[over], above[over] = distance[over], found[found > 0]
        low[under], below[under] = distance[under], found[found <= 0]
        # On to where a straight line from the null hypothesis has the power, or to the end.
        onwards = np.maximum(distance[rows] * rise[rows] / np.maximum(rise[rows] + found, 1e-9), 1.05 * distance[rows])
        share = 0.5 if attempt > 6 else below[rows] / (below[rows] - above[rows])
        between = low[rows] + (high[rows] - low[rows]) * share
        distance[rows] = np.where(np.isnan(above[rows]), np.minimum(room[rows], onwards), between)
    out[rows] = high[rows]
    return out
