"""The power of tests before any data exist, and searches for the smallest size or disparity with a given one.

The power is the probability of the test's rejection region (Boschloo 1970) at the assumed rates, averaged over random
denominators if only some people meet the rate's condition.
"""

from bisect import bisect_left
from collections.abc import Callable
from functools import cache

import numpy as np
from scipy.special import ndtri

from skfairtest._utils.typing import Booleans, Floats, Integers
from skfairtest.inference import power_designs as designs
from skfairtest.inference._discrete import binomial_log_pmf
from skfairtest.inference.intervals import STEPS, crossings
from skfairtest.inference.multiplicity import discrete_holm_rejects
from skfairtest.inference.rates import Question, score_log_p
from skfairtest.inference.regions import is_rejected, reference_of, to_rest

#: Outcomes up to which power is enumerated, of tests of equality and of a margin; beyond, a normal approximation.
OUTCOMES, MARGIN_OUTCOMES = 1_000_000, 100_000
#: Up to this many people the power of a test of equality counts likely outcomes; fewer if it is averaged over
#: denominators.
PEOPLE, AVERAGED_OUTCOMES = 200_000, 20_000


def _enumerated(d1: int, d2: int, question: Question, likely: int, most: int) -> bool:
    """Whether power is enumerated, if this many outcomes are likely and at most this many are looked at."""
    if question.margin_bounds is not None:
        return d1 * d2 <= MARGIN_OUTCOMES
    return d1 * d2 <= OUTCOMES or (d1 + d2 <= PEOPLE and likely <= most)


def _likely(d: int, p: float) -> range:
    """Numbers of events; all others together are less probable than 1e-12."""
    reach = 8 * np.sqrt(d * p * (1 - p)) + 20
    return range(max(0, int(d * p - reach)), min(d, int(d * p + reach)) + 1)


def comparison_power(
    d1: int,
    d2: int,
    p1: float,
    p2: float,
    question: Question,
    alpha: float,
    share: float = 0.0,
    most: int = OUTCOMES,
) -> tuple[float, str]:
    """Power of one comparison given its denominators, and how it was found.

    `share` is that of group 1 in everyone, if a margin is one to everyone; `most` likely outcomes are enumerated.
    """
    question = to_rest(question, share)
    likely = _likely(d1, p1), _likely(d2, p2)
    if not _enumerated(d1, d2, question, len(likely[0]) * len(likely[1]), most):
        corrected = question.margin_bounds is None and reference_of(question, d1, d2) == "conditional"
        return float(designs.normal_power(p1, d1, p2, d2, question, alpha, corrected=corrected)), "normal"
    x1, x2 = map(np.array, likely)
    first, second = np.exp(binomial_log_pmf(x1, d1, p1)), np.exp(binomial_log_pmf(x2, d2, p2))
    return float(np.clip(first @ is_rejected(x1[:, None], d1, x2, d2, question, alpha) @ second, 0.0, 1.0)), "exact"


def rate_power(design: designs.Design, *, draws: int = designs.DRAWS) -> designs.Computed:
    """Probability that the global test of a design rejects, with its method and Monte Carlo standard error.

    With more than two groups, comparisons share people, so `draws` data sets are simulated.
    """
    several = len(design.people) > 2 or (design.both and len(design.contrasts) > 1) or design.discrete
    if several or (design.overall and design.question.margin_bounds is not None):
        return _simulated(design, draws)
    n1, n2 = design.people
    s1, s2 = design.shares
    fixed = s1 >= 1 and s2 >= 1
    most = OUTCOMES if fixed else AVERAGED_OUTCOMES
    total, methods = 0.0, set()
    spacing = 0.5 if n1 * s1 + n2 * s2 <= 600 and design.question.margin_bounds is None else 1.0
    for a, b, weight in designs.pairs_of(n1, n2, s1, s2, spacing):
        places = [(a, b), (n1 - a, n2 - b)][: len(design.values)]
        defined = [i for i, (d1, d2) in enumerate(places) if d1 > 0 and d2 > 0]
        if not defined:
            continue
        level, missed, certified = design.level(len(defined)), 1.0, 1.0
        for i in defined:
            (d1, d2), (p1, p2) = places[i], design.values[i]
            first, second = design.contrasts[0]
            asked = design.question if (first, second) in ((0, 1), (0, None)) else designs.turned_over(design.question)
            found, method = comparison_power(d1, d2, p1, p2, asked, level, most=most)
            if len(design.contrasts) > 1 and design.question.alternative in ("greater", "less"):
                # Either group above the other: two regions that do not meet.
                other = comparison_power(d1, d2, p1, p2, designs.turned_over(asked), level, most=most)[0]
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
    if design.discrete and min(design.shares) < 1:
        draws = draws // 4  # almost every table has margins of its own
    groups = len(design.people)
    met = []
    for n, share in zip(design.people, design.shares, strict=True):
        d = designs.binomial_draws(n, share, rng.random(draws)) if share < 1 else np.full(draws, n)
        step = max(1, round(np.sqrt(n * share * (1 - share)) / 2))
        # Few denominators, so that few regions are searched; their spread grows by two parts in a hundred.
        met.append(np.clip((d + step // 2) // step * step, 0, n) if share < 1 else d)
    uniform = rng.random((len(design.values), groups, draws))
    undefined, tables = [], []
    for r, p in enumerate(design.values):
        d = np.stack([n - a if r else a for n, a in zip(design.people, met, strict=True)])
        x = np.stack([_events_drawn(d[g], p[g], uniform[r, g]) for g in range(groups)])
        for first, second in design.contrasts:
            d1, x1 = d[first], x[first]
            d2, x2 = (d.sum(axis=0) - d1, x.sum(axis=0) - x1) if second is None else (d[second], x[second])
            tables.append((x1, d1, x2, d2))
            undefined.append((d1 == 0) | (d2 == 0))
    if design.discrete:
        counts = [np.stack(column, axis=1) for column in zip(*tables, strict=True)]
        alternative, others = design.question.alternative, np.zeros(0)
        return designs.simulated(discrete_holm_rejects(counts, alternative, design.alpha, others))
    hits = [_rejections(*table, design) for table in tables]
    hit = np.stack(hits) | (np.stack(undefined) if design.both else False)
    rejected = hit.all(axis=0) & ~np.stack(undefined).all(axis=0) if design.both else hit.any(axis=0)
    return designs.simulated(np.asarray(rejected))


def _rejections(x1: Integers, d1: Integers, x2: Integers, d2: Integers, design: designs.Design) -> Booleans:
    level, out = design.level(len(design.values)), np.zeros(len(x1), dtype=bool)
    pairs, which = np.unique(np.stack([d1, d2]), axis=1, return_inverse=True)
    for i, (a, b) in enumerate(pairs.T.tolist()):
        chosen = which.ravel() == i
        question = to_rest(design.question, a / (a + b) if design.overall else 0.0)
        # Of one pair of denominators only; each has a level to be found.
        likely = int(np.ptp(x1[chosen]) + 1) * int(np.ptp(x2[chosen]) + 1) if a and b else 0
        if a and b and _enumerated(a, b, question, likely, OUTCOMES if pairs.shape[1] == 1 else 0):
            out[chosen] = is_rejected(x1[chosen], a, x2[chosen], b, question, level)
        elif a and b:
            out[chosen] = score_log_p(x1[chosen], a, x2[chosen], b, question) <= np.log(level)
    return out


def estimates_power(design: designs.Design) -> designs.Computed:
    """Probability that the test of two groups' means (Welch's), or areas under the ROC curve (score test), rejects.

    If each group is tested against the other, the second comparison mirrors the first.
    """
    question, level, people = design.question, design.level(), np.asarray(design.people)
    asked = [question, designs.turned_over(question)][: len(design.contrasts)]
    widest, narrowest = (max, min) if design.both else (min, max)
    if not isinstance(design.values[0][0], tuple):
        together = sum if question.alternative in ("greater", "less") else narrowest
        total = 0.0
        (n1, n2), (share1, share2) = design.people, design.shares
        for *met, weight in designs.pairs_of(n1, n2, share1, share2, 0.5):
            if all(0 < d < n for d, n in zip(met, design.people, strict=True)):
                # Each area, and the number of people whose rate has its standard error.
                sides = [
                    (area, area * (1 - area) / float(designs.hanley_mcneil(area, d, n - d)) ** 2)
                    for area, d, n in zip(design.values[0], met, design.people, strict=True)
                ][:: -1 if design.contrasts[0][0] == 1 else 1]
                total += weight * together(float(designs.normal_power(*sides[0], *sides[1], q, level)) for q in asked)
        return designs.Computed(min(1.0, max(0.0, total)), "normal")
    values, spreads = np.transpose(design.values[0])
    parts = spreads**2 / people
    if question.disparity == "ratio":
        values, parts = np.log(values), parts / values**2
    distance = float(values[0] - values[1]) * (-1 if design.contrasts[0][0] == 1 else 1)
    tested = [side for each in asked for side in designs.values_tested(each)]
    # Of two edges on one side, one decides.
    above, below = ([value for value, side in tested if side == way] for way in ("greater", "less"))
    distances = [(distance - widest(above), "greater")] if above else []
    distances += [(distance - narrowest(below), "less")] if below else []
    freedom = float(parts.sum() ** 2 / (parts**2 / np.maximum(people - 1, 1)).sum())
    value = designs.estimate_power(distances, float(np.sqrt(parts.sum())), level, question.alternative, freedom)
    return designs.Computed(value, "normal")


#: Largest group that is searched for.
LARGEST = 100_000_000
#: The next sizes whose powers are looked at: a period of the saw; that of averaged powers is small.
TEETH, AVERAGED_TEETH = 30, 8


def smallest_size(power_at: Callable[[int], designs.Computed], target: float) -> int:
    """The smallest size from which the power stays at a target; -1 if none up to `LARGEST` has it.

    Enumerated power is a saw-tooth in the size: after bisection the next sizes are checked.
    """

    @cache
    def enough(size: int) -> bool:
        return power_at(size).value >= target

    outside, inside = 1, 2
    while not enough(inside):
        if inside == LARGEST:
            return -1
        outside, inside = inside, min(2 * inside, LARGEST)
    inside = bisect_left(range(inside), True, outside + 1, key=enough)
    while (method := power_at(inside).method) in ("exact", "averaged"):
        ahead = TEETH if method == "exact" else AVERAGED_TEETH
        short = [size for size in range(inside + 1, inside + ahead + 1) if not enough(size)]
        if not short:
            break
        inside = short[-1] + 1
        while not enough(inside):
            inside += 1
    return inside


def smallest_distances(power_at: Callable[[Floats], Floats], target: float, room: Floats, steps: int = STEPS) -> Floats:
    """Distances from the null hypothesis, up to `room`, at which powers reach their target; NaN if none does."""

    def excess(distance: Floats) -> Floats:
        return np.asarray(ndtri(np.clip(power_at(distance), 1e-12, 1 - 1e-12)) - ndtri(target))

    room = np.asarray(room, dtype=float)
    below, reached = crossings(excess, np.zeros_like(room), room, steps)
    return np.where((below < reached) & (room > 0), reached, np.nan)
