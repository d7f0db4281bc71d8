"""Size and coverage with few labels and a judge: ``python -m benchmarks.labelled``.

Two groups of 1,000 people, of whom 20 to 300 in each group have a true label; a judge guesses everybody's. Judges are
useless (right for half), good (right for 93%), good in one group only, inverted (wrong for 93%), or scores that are
right about who is more probable and wrong about how probable (miscalibrated). Labels are drawn at random, or by the
plan of `label_plan`. The disparity is a difference of rates of the population. In the same data sets: labels alone
(Boschloo's test, Miettinen and Nurminen's limits) and prediction-powered inference with power tuning (PPI++). Bins,
statistics and limits are those of the functions that the estimator calls. Stored in benchmarks/results/labelled.json.
"""

import argparse
import json
import sys
from pathlib import Path

import numpy as np
from scipy.stats import norm

from benchmarks.common.bounds import Promise
from benchmarks.common.results import write
from skfairtest.inference.intervals import miettinen_nurminen
from skfairtest.inference.score import score_at
from skfairtest.inference.unconditional import unconditional_log_p
from skfairtest.labelled.measure import rate_of_group
from skfairtest.labelled.plan import SUREST, shared_out
from skfairtest.labelled.statistics import LabelledRate, bins_of, disparity_limits, disparity_statistic, log_tails

RESULTS = Path(__file__).parents[1] / "benchmarks" / "results" / "labelled.json"
WHAT = "size, coverage, power and width of tests with few labels and a judge; see benchmarks/labelled.py"
SEED, PEOPLE, LEVEL, Z = 39, 1000, 0.05, norm.isf(0.025)
LABELS, RATES = (20, 40, 100, 300), (0.1, 0.3, 0.5)
JUDGES = ("useless", "good", "good in one group only", "inverted", "miscalibrated")
DRAWN = ("at random", "by plan")
#: Data sets of a cell, those of which widths are computed, and the difference at which power is.
DATA_SETS, WIDTHS, DIFFERENCE = 2000, 200, 0.2
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


def simulated(judge, how, rate, n, data_sets):
    """The figures of one cell: everything about equal rates but the power, which is about a difference."""
    rng = np.random.default_rng([SEED, JUDGES.index(judge), DRAWN.index(how), int(10 * rate), n])
    found = {}
    for other in (rate, rate + DIFFERENCE):
        sets = [
            [data_set(judge, how, group, value, n, rng) for _ in range(data_sets)]
            for group, value in ((0, rate), (1, other))
        ]
        rates = LabelledRate.stacked(*([one for one, _ in side] for side in sets))
        sums = [np.array([own for _, own in side]) for side in sets]
        truth = np.full(data_sets, rate - other)
        reject = rejected(rates)
        # An interval holds equality where that is not rejected.
        covers = ~reject if other == rate else np.abs(disparity_statistic(rates, truth, "difference")) <= Z
        (m1, v1), (m2, v2) = (powered(own, n) for own in sums)
        with np.errstate(invalid="ignore", divide="ignore"):
            error = np.sqrt(v1 + v2)
            by_power = [np.abs(m1 - m2 - edge) > Z * error for edge in (0 * truth, truth)]
        x1, x2 = (own[:, 0] for own in sums)
        if other == rate:
            some = slice(WIDTHS)
            own = disparity_limits(rates[:, some], "difference", Z)
            own = np.where(reject[some], own, [np.minimum(own[0], 0), np.maximum(own[1], 0)])
            low, high = miettinen_nurminen(x1[some], n, x2[some], n, Z)
            found = {
                "size": reject.mean(), "coverage": covers.mean(), "width": (own[1] - own[0]).mean(),
                "width_alone": (high - low).mean(), "width_ppi": (2 * Z * error[some]).mean(),
                "coverage_alone": (np.abs(score_at(x1, n, x2, n, 0.0)[0]) <= Z).mean(),
                "coverage_ppi": 1 - by_power[1].mean(),
            }  # fmt: skip
        else:
            found |= {
                "power": reject.mean(), "coverage_of_difference": covers.mean(),
                "power_alone": boschloo(x1, x2, n).mean(), "coverage_ppi_of_difference": 1 - by_power[1].mean(),
            }  # fmt: skip
    cell = {"judge": judge, "labels_drawn": how, "rate": rate, "labels": n, "data_sets": data_sets}
    return cell | {name: round(float(value), 4) for name, value in found.items()}


def broken(cells):
    """Say where a figure is worse than is promised."""
    for cell in cells:
        error = 3 * np.sqrt(LEVEL * (1 - LEVEL) / cell["data_sets"])
        where = f"{cell['judge']}, labels {cell['labels_drawn']}, rate {cell['rate']}, {cell['labels']} labels"
        if cell["size"] > LEVEL + error:
            yield f"{where}: size {cell['size']}"
        for name in ("coverage", "coverage_of_difference"):
            if cell[name] < 1 - LEVEL - error:
                yield f"{where}: {name} {cell[name]}"
        at_random = cell["labels_drawn"] == "at random"
        if at_random and cell["data_sets"] >= DATA_SETS and cell["power"] < cell["power_alone"] - 0.02:
            yield f"{where}: power {cell['power']}, of labels alone {cell['power_alone']}"
        shorter = {(40, 0.1): 0.82, (100, 0.1): 0.75}.get((cell["labels"], cell["rate"]))
        if at_random and cell["judge"] == "good" and shorter and cell["width"] > shorter * cell["width_alone"]:
            yield f"{where}: width {cell['width']}, of labels alone {cell['width_alone']}"


def quick():
    """Check a cell of few labels."""
    cells = [simulated("good", how, 0.3, 20, 200) for how in DRAWN]
    says = "few labels and a judge: size, coverage and width within Monte-Carlo errors, 200 data sets of 20 labels"
    return Promise(says, len(cells), list(broken(cells)))


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.labelled", description=__doc__.splitlines()[0])
    parser.add_argument("--data-sets", type=int, default=DATA_SETS, metavar="N")
    parser.add_argument("--drawn", choices=DRAWN, action="append", help="cells of labels drawn so, all by default")
    parser.add_argument("--labels", type=int, choices=LABELS, action="append", help="cells of so many labels a group")
    parser.add_argument("--results", type=Path, default=RESULTS, metavar="PATH")
    options = parser.parse_args(argv)
    every = [(judge, how, rate, n) for how in DRAWN for n in LABELS for rate in RATES for judge in JUDGES]
    drawn_so, numbers = options.drawn or DRAWN, options.labels or LABELS
    asked = [cell for cell in every if cell[1] in drawn_so and cell[3] in numbers]
    before = json.loads(options.results.read_text())["cells"] if options.results.exists() else []
    cells = {(cell["judge"], cell["labels_drawn"], cell["rate"], cell["labels"]): cell for cell in before}
    for cell in asked:
        cells[cell] = simulated(*cell, options.data_sets)
        print(*cells[cell].values(), sep=", ", flush=True)
        write(options.results, WHAT, SEED, cells=[cells[known] for known in every if known in cells])
    cells = list(cells.values())
    found = list(broken(cells))
    for where in found:
        print(f"FAILED {where}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
