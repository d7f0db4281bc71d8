"""Calibration curves: two groups whose scores have different distributions, a third of the people in the first.

The first is calibrated; the second is calibrated too, or has half the slope and the right mean, the wrong shape and the
right mean, or one bad decile. Asked are whether the groups' curves are alike, and whether the second is calibrated.
"""

from itertools import product

import numpy as np
from scipy.stats import beta, chi2, norm

from benchmarks.common.design import Design, one_by_one
from skfairtest.inference.calibration import BetweenGroups, FromScores, Scores, draw_moves, largest_move

ALPHA, RESAMPLES = 0.05, 199
PEOPLE = {100: 1000, 1000: 1000, 10_000: 600, 100_000: 200}  # and data sets of each
#: Distributions of the groups' scores.
FIRST, SECOND = beta(2, 5), beta(4, 2.5)
LOWEST, HIGHEST = SECOND.ppf([0.6, 0.7])
CURVES = {
    "calibrated": lambda score: score,
    "half the slope": lambda score: SECOND.mean() + (score - SECOND.mean()) / 2,
    "wrong shape": lambda score: np.clip(score + 0.15 * np.sin(4 * np.pi * SECOND.cdf(score)), 0, 1),
    "one bad decile": lambda score: np.where((score > LOWEST) & (score < HIGHEST), score - 0.3, score),
}


def draw(people, curve, rng):
    """Return scores, outcomes and groups."""
    n = people // 3, people - people // 3
    score = np.concatenate([FIRST.rvs(n[0], random_state=rng), SECOND.rvs(n[1], random_state=rng)])
    group = np.repeat([0, 1], n)
    return score, rng.random(people) < np.where(group == 0, score, CURVES[curve](score)), group


def counted(score, outcome, sides):
    """Count people and events of each side by distinct score."""
    distinct, place = np.unique(score, return_inverse=True)
    people, positive = (
        np.stack([np.bincount(place, side * by, len(distinct)) for side in sides]).astype(np.int64)
        for by in (np.ones(len(score)), outcome)
    )
    return Scores(distinct, people, positive)


def cumulative(path, rng):
    """P-values of the package's two statistics."""
    seed = np.random.SeedSequence(int(rng.integers(2**63)))
    for kuiper in (True, False):
        observed = abs(largest_move(path.steps(), kuiper=kuiper)[0]) / (path.spread or 1)
        drawn = np.abs(draw_moves(path, kuiper, RESAMPLES, seed))
        yield (1 + (drawn >= observed * (1 - 1e-12)).sum()) / (1 + RESAMPLES)


def sums(bins, *columns):
    return [np.bincount(bins, column, 10) for column in columns]


def between(score, outcome, group, rng):
    """P-values that two groups have one calibration curve."""
    kuiper, smirnov = cumulative(BetweenGroups.of(counted(score, outcome, [group == 0, group == 1])), rng)
    residual = outcome - score
    first, second = residual[group == 0], residual[group == 1]
    z = (first.mean() - second.mean()) / np.sqrt(first.var(ddof=1) / len(first) + second.var(ddof=1) / len(second))
    bins = np.minimum((score.argsort().argsort() * 10) // len(score), 9)
    # Ten bins: the squared differences of the groups' shares, each over its variance.
    (n1, x1), (n2, x2) = (sums(bins[group == g], np.ones((group == g).sum()), outcome[group == g]) for g in (0, 1))
    with np.errstate(invalid="ignore", divide="ignore"):
        share = (x1 + x2) / (n1 + n2)
        squares = (x1 / n1 - x2 / n2) ** 2 / (share * (1 - share) * (1 / n1 + 1 / n2))
    there = np.isfinite(squares)
    return {
        "Kuiper": kuiper,
        "Kolmogorov-Smirnov": smirnov,
        "mean residual": 2 * norm.sf(abs(z)),
        "ten bins": chi2.sf(squares[there].sum(), there.sum()) if there.any() else 1.0,
    }


def within(score, outcome, group, rng):
    """P-values that the second group is calibrated."""
    score, outcome = score[group == 1], outcome[group == 1]
    kuiper, smirnov = cumulative(FromScores(counted(score, outcome, [np.ones(len(score), dtype=bool)])), rng)
    variance = score * (1 - score)
    bins = np.minimum((score.argsort().argsort() * 10) // len(score), 9)
    n, x, expected = sums(bins, np.ones(len(score)), outcome, score)
    width = np.minimum((score * 10).astype(int), 9)

    def binned_error(drawn):
        return np.abs(np.bincount(width, drawn - score, 10)).sum()

    simulated = np.array([binned_error(rng.random(len(score)) < score) for _ in range(RESAMPLES)])
    return {
        "Kuiper": kuiper,
        "Kolmogorov-Smirnov": smirnov,
        "mean residual": 2 * norm.sf(abs((outcome - score).sum()) / np.sqrt(variance.sum())),
        "Hosmer-Lemeshow": chi2.sf((((x - expected) ** 2 / (expected * (1 - expected / n))).sum()), 10),
        "binned error": (1 + (simulated >= binned_error(outcome) - 1e-9).sum()) / (1 + RESAMPLES),
    }


QUESTIONS = {"between": between, "within": within}


def design(people, curve, question):
    figure = "size" if curve == "calibrated" else "power"

    def tested(rng):
        p_values = QUESTIONS[question](*draw(people, curve, rng), rng)
        return {method: {figure: p <= ALPHA} for method, p in p_values.items()}

    promised = ("Kuiper", "Kolmogorov-Smirnov") if curve == "calibrated" else ()
    name = f"calibration/{question} groups, {curve}, {people} people"
    return Design(name, one_by_one(tested), PEOPLE[people], promised, 150 * (people == 1000 and bool(promised)))


#: Of the most people calibrated groups alone are compared: other curves are found there, and outcomes that are
#: simulated from the scores have an exact distribution of any number of people.
DESIGNS = [
    design(*each)
    for each in product(PEOPLE, CURVES, QUESTIONS)
    if each[0] < max(PEOPLE) or each[1:] == ("calibrated", "between")
]
