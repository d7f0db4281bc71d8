"""Few labels and a judge: two groups of 1,000 people, of whom 20 to 300 in each group have a true label.

Judges are useless (right for half), good (right for 93%), good in one group only, inverted (wrong for 93%), or scores
that are right about who is more probable and wrong about how probable (miscalibrated). Labels are drawn at random, or
by the plan of `label_plan`. The disparity is a difference of rates of the population. In the same data sets: labels
alone (Boschloo's test, Miettinen and Nurminen's limits) and prediction-powered inference with power tuning (PPI++).
Bins, statistics and limits are those of the functions that the estimator calls.
"""

from functools import partial
from itertools import product

import numpy as np
from scipy.stats import norm

from benchmarks.common.design import Design
from skfairtest.inference.intervals import miettinen_nurminen
from skfairtest.inference.score import score_at
from skfairtest.inference.unconditional import unconditional_log_p
from skfairtest.labelled.measure import rate_of_group
from skfairtest.labelled.plan import SUREST, shared_out
from skfairtest.labelled.statistics import LabelledRate, bins_of, disparity_limits, disparity_statistic, log_tails

PEOPLE, LEVEL, Z = 1000, 0.05, norm.isf(0.025)
LABELS, RATES = (20, 40, 100, 300), (0.1, 0.3, 0.5)
JUDGES = ("useless", "good", "good in one group only", "inverted", "miscalibrated")
DRAWN = ("at random", "by plan")
#: Data sets of which widths are computed, and the difference at which power is.
WIDTHS, DIFFERENCE = 200, 0.2
OWN, ALONE, PPI = "labels and a judge", "labels alone", "PPI++"
#: The one pair of roles: the event happens or not, to anybody.
ROLES = np.array([[[1.0, 1.0], [0.0, 1.0]]])
RIGHT = {"useless": (0.5, 0.5), "good": (0.93, 0.93), "good in one group only": (0.93, 0.5), "inverted": (0.07, 0.07)}


def person(judge, group, rate, rng):
    """True labels of the people of a group, and what the judge says of them."""
    if judge == "miscalibrated":  # the probability is spread about the rate, and the score is its third power
        probability = rng.beta(2 * rate, 2 * (1 - rate), PEOPLE).round(1)
        return rng.random(PEOPLE) < probability, probability**3
    y = rng.random(PEOPLE) < rate
    return y, np.where(rng.random(PEOPLE) < RIGHT[judge][group], y, ~y).astype(float)


def drawn(how, score, n, rng):
    """Who is labelled, and the probabilities of a plan."""
    if how == "at random":
        return np.isin(np.arange(PEOPLE), rng.choice(PEOPLE, n, replace=False)), None
    stratum = bins_of(score, np.full(PEOPLE, n / PEOPLE))
    people = np.bincount(stratum)
    believed = np.clip(np.bincount(stratum, score) / people, SUREST, 1 - SUREST)
    number = shared_out(n, people, people * np.sqrt(believed * (1 - believed)))
    labelled = np.zeros(PEOPLE, dtype=bool)
    for one, many in enumerate(number):
        labelled[rng.choice(np.flatnonzero(stratum == one), many, replace=False)] = True
    return labelled, (number / np.bincount(stratum))[stratum]


def data_set(judge, how, group, rate, n, rng):
    """One group: its rate in bins, events among labels, and the sums that PPI++ needs."""
    y, score = person(judge, group, rate, rng)
    labelled, probability = drawn(how, score, n, rng)
    kinds = np.zeros(PEOPLE, dtype=np.intp)
    found = rate_of_group(y.astype(float), score, kinds, ROLES, labelled, probability, known=True)
    weight = np.ones(labelled.sum()) if probability is None else 1 / probability[labelled]
    weight = weight / weight.sum()
    f, e = score[labelled], y[labelled].astype(float)
    mean_f, mean_y = weight @ f, weight @ e
    moments = (weight @ (f - mean_f) ** 2, weight @ ((f - mean_f) * (e - mean_y)), weight @ (e - mean_y) ** 2)
    return found, (e.sum(), mean_y, mean_f, score.mean(), score.var(), *moments)


def powered(sums, n):
    """PPI++ (Angelopoulos, Duchi and Zrnic 2024): the mean with power tuning, and its variance."""
    _, y, f, everybody, spread, v, c, w = sums.T
    with np.errstate(invalid="ignore", divide="ignore"):
        power = np.where(v > 0, np.clip(c / ((1 + n / PEOPLE) * v), 0, 1), 0.0)
    return y + power * (everybody - f), (w - 2 * power * c + power**2 * v) / (n - 1) + power**2 * spread / PEOPLE


def rejected(rates):
    """Whether the test rejects: both the score statistic and labels drawn with the most likely rates."""
    found = np.abs(disparity_statistic(rates, 0.0, "difference")) > Z
    found[found] = log_tails(rates[:, found], 0.0, "difference", "two-sided") <= np.log(LEVEL)
    return found


def boschloo(x1, x2, n):
    """Whether labels alone reject, by the test of `FairnessTest`."""
    pairs, place = np.unique(np.stack([x1, x2], axis=1).astype(np.int64), axis=0, return_inverse=True)
    size = np.full(len(pairs), n)
    return (unconditional_log_p(pairs[:, 0], size, pairs[:, 1], size) <= np.log(LEVEL))[place.reshape(-1)]


def simulated(judge, how, rate, n, rng, data_sets):
    """The figures of one design: everything about equal rates but the power, which is about a difference."""
    out = {OWN: {}, PPI: {}, ALONE: {}}
    for other in (rate, rate + DIFFERENCE):
        sets = [
            [data_set(judge, how, group, value, n, rng) for _ in range(data_sets)]
            for group, value in ((0, rate), (1, other))
        ]
        rates = LabelledRate.stacked(*([one for one, _ in side] for side in sets))
        sums = [np.array([own for _, own in side]) for side in sets]
        truth, reject = np.full(data_sets, rate - other), rejected(rates)
        (m1, v1), (m2, v2) = (powered(own, n) for own in sums)
        error = np.sqrt(v1 + v2)
        with np.errstate(invalid="ignore"):
            missed = np.abs(m1 - m2 - truth) > Z * error
        x1, x2 = (own[:, 0] for own in sums)
        if other == rate:
            some = slice(WIDTHS)
            own = disparity_limits(rates[:, some], "difference", Z)
            own = np.where(reject[some], own, [np.minimum(own[0], 0), np.maximum(own[1], 0)])
            low, high = miettinen_nurminen(x1[some], n, x2[some], n, Z)
            # An interval holds equality where that is not rejected.
            out[OWN] |= {"size": reject, "coverage": ~reject, "width": (own[1] - own[0]).mean()}
            out[PPI] |= {"coverage": ~missed, "width": (2 * Z * error[some]).mean()}
            inside = np.abs(score_at(x1, n, x2, n, 0.0)[0]) <= Z
            out[ALONE] |= {"coverage": inside, "width": (high - low).mean()}
        else:
            inside = np.abs(disparity_statistic(rates, truth, "difference")) <= Z
            out[OWN] |= {"power": reject, "coverage_effect": inside}
            out[PPI]["coverage_effect"] = ~missed
            out[ALONE]["power"] = boschloo(x1, x2, n)
    return out


def worse(judge, how, rate, n, methods):
    """Say where labels drawn at random are of less use with a judge than alone."""
    own, alone = methods[OWN], methods[ALONE]
    if how == "at random" and own["power"] < alone["power"] - 0.02:
        yield f"power {own['power']}, of labels alone {alone['power']}"
    shorter = {(40, 0.1): 0.82, (100, 0.1): 0.75}.get((n, rate))
    if how == "at random" and judge == "good" and shorter and own["width"] > shorter * alone["width"]:
        yield f"width {own['width']}, of labels alone {alone['width']}"


DESIGNS = [
    Design(
        f"few labels/{judge}, {n} labels {how}, rate {rate}", partial(simulated, judge, how, rate, n), 2000, (OWN,),
        200 * (judge == "good" and (rate, n) == (0.3, 20)), also=partial(worse, judge, how, rate, n),
    )
    for how, n, rate, judge in product(DRAWN, LABELS, RATES, JUDGES)
]  # fmt: skip
