"""The power of studentized tests of means, or of areas under the ROC curve."""

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import t as student

from skfairtest._utils.typing import Booleans, Floats, Integers
from skfairtest.inference import power_designs as designs
from skfairtest.inference.rates import score_log_p

#: Of each draw, a side's mean and squared standard deviation; its people.
Drawn = tuple[Floats, Floats, int]


def estimates_power(design: designs.Design, *, draws: int = designs.DRAWS) -> designs.Computed:
    """Probability that the global studentized test of means, or of areas under the ROC curve, rejects."""
    if len(design.people) > 2 or (design.question.alternative == "equivalence" and len(design.contrasts) > 1):
        return (_simulated_means if _are_means(design) else _simulated_areas)(design, draws)
    question, level = design.question, design.level()
    a, b = design.values[0]
    if not _are_means(design):
        (n1, n2), (share1, share2), total = design.people, design.shares, 0.0
        for d1, d2, weight in designs.pairs_of(n1, n2, share1, share2, 0.5):
            if 0 < d1 < n1 and 0 < d2 < n2:
                rates = [(a, float(_effective(a, d1, n1 - d1))), (b, float(_effective(b, d2, n2 - d2)))]
                one_sided = question.alternative in ("greater", "less")
                for group, _ in design.contrasts if one_sided else design.contrasts[:1]:
                    power = designs.normal_power(*rates[group], *rates[1 - group], question, level)
                    total += weight * float(power)
        return designs.Computed(min(1.0, max(0.0, total)), "normal")
    (a, b), spreads = np.transpose(design.values[0])
    ratio = question.disparity == "ratio"
    distance = float(np.log(a / b)) if ratio else float(a - b)
    first = design.contrasts[0][0]
    sides = designs.values_tested(question)
    if len(design.contrasts) > 1 and question.alternative in ("greater", "less"):
        sides = sides + designs.values_tested(designs.turned_over(question))
    elif first == 1:
        distance = -distance
    distances = [(distance - value, side) for value, side in sides]
    parts = spreads**2 / np.asarray(design.people)
    parts = parts / np.array([a, b]) ** 2 if ratio else parts
    freedom = float(_freedom(parts, np.asarray(design.people)))
    value = designs.estimate_power(distances, float(np.sqrt(parts.sum())), level, question.alternative, freedom)
    return designs.Computed(value, "normal")


def _are_means(design: designs.Design) -> bool:
    return isinstance(design.values[0][0], tuple)


def _effective(area: ArrayLike, positives: ArrayLike, negatives: ArrayLike) -> Floats:
    """The number of people whose rate has the standard error of an area."""
    area = np.asarray(area)
    return np.asarray(area * (1 - area) / designs.hanley_mcneil(area, positives, negatives) ** 2)


def _freedom(parts: Floats, people: Integers | Floats) -> Floats:
    """Welch's degrees of freedom of a sum of squared standard errors; axis 0 runs over the two groups."""
    bottom = (parts**2 / np.maximum(people - 1, 1)).sum(axis=0)
    return np.where(bottom > 0, parts.sum(axis=0) ** 2 / np.where(bottom > 0, bottom, 1.0), np.inf)


def _simulated_areas(design: designs.Design, draws: int) -> designs.Computed:
    rng = np.random.default_rng(designs.SEED)
    normal, uniform = rng.standard_normal((len(design.people), draws)), rng.random((len(design.people), draws))
    people, values = np.asarray(design.people)[:, None], np.asarray(design.values[0])[:, None]
    drawn = [
        designs.binomial_draws(n, share, u) for n, share, u in zip(design.people, design.shares, uniform, strict=True)
    ]
    positives = np.clip(np.stack(drawn), 1, people - 1)
    size = _effective(values, positives, people - positives)
    events = size * np.clip(values + normal * np.sqrt(values * (1 - values) / size), 0.0, 1.0)
    # Equality too is tested with the factor N / (N - 1) of a margin's test.
    null = design.question.null
    question = replace(design.question, margin_bounds=design.question.margin_bounds or (null, null))
    rejected = [
        score_log_p(events[first], size[first], events[second], size[second], question) <= np.log(design.level())
        for first, second in design.contrasts
    ]
    return designs.simulated(np.asarray((np.all if design.both else np.any)(rejected, axis=0)))


def _simulated_means(design: designs.Design, draws: int) -> designs.Computed:
    rng = np.random.default_rng(designs.SEED)
    normal = rng.standard_normal((len(design.people), draws))
    people = np.asarray(design.people)[:, None]
    values, spreads = np.transpose(design.values[0])[:, :, None]
    means = values + normal * spreads / np.sqrt(people)
    squares = spreads**2 * (rng.chisquare(np.maximum(people - 1, 1), (len(people), draws)) / (people - 1))

    def side(group: int) -> Drawn:
        return means[group], squares[group], int(people[group, 0])

    rejected = []
    for first, second in design.contrasts:
        if second is None:
            rest = np.arange(len(people)) != first
            size = int(people[rest].sum())
            mean = (people[rest] * means[rest]).sum(axis=0) / size
            within = ((people[rest] - 1) * squares[rest] + people[rest] * (means[rest] - mean) ** 2).sum(axis=0)
            other = (mean, within / (size - 1), size)
        else:
            other = side(second)
        rejected.append(_rejections(side(first), other, design))
    return designs.simulated(np.asarray((np.all if design.both else np.any)(rejected, axis=0)))


def _rejections(first: Drawn, other: Drawn, design: designs.Design) -> Booleans:
    """A mask of the draws of one comparison of estimates that are rejected."""
    (mean1, square1, n1), (mean2, square2, n2) = first, other
    question = design.question
    parts = np.stack([square1 / n1, square2 / n2])
    if question.disparity == "ratio":
        with np.errstate(invalid="ignore", divide="ignore"):
            parts, estimate = parts / np.stack([mean1, mean2]) ** 2, np.log(mean1 / mean2)
    else:
        estimate = mean1 - mean2
    freedom = _freedom(parts, np.array([[n1], [n2]]))
    critical = student.isf(design.level() / (2 if question.alternative == "two-sided" else 1), freedom)
    error = np.sqrt(parts.sum(axis=0))
    hits = []
    for value, side in designs.values_tested(question):
        beyond = estimate - value if side == "greater" else value - estimate
        hits.append(beyond >= critical * error)
    return np.asarray(np.all(hits, axis=0) if question.alternative == "equivalence" else np.any(hits, axis=0))
