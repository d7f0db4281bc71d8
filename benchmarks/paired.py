"""Size and power of tests of two models on the same people: ``python -m benchmarks.paired [--quick]``.

Two groups in which model B changes the predictions of model A. The change of the rate is the same in both groups, and
with it the disparities of both models, while how often the models disagree, and how many errors they make, differ; or
it is larger in one group. Beside the package's test there are the score test by the normal distribution alone, labels
permuted with Welch's error, predictions of the two models swapped within people, the test of two independent samples,
two intervals that do not overlap, and the comparison of two verdicts (one model has a significant disparity, the other
has none), which is no test of the difference. In the designs of `sizes` the disparity of model B is larger in size by
the margin, and `alternative="fairer"` certifies that it is not. Precision, F1 and the area under the ROC curve are
tested by `PairedFairnessTest` as it is. In the designs of `areas` the areas of 100 and 1,000 people fall in neither
group or in one of them, and the package is compared with DeLong's test of the changes, and with the score test of
changes as counts of people: what areas of one model are tested by.

Without ``--quick`` the figures are written to benchmarks/results/paired.json with the seed and versions. What is stored
already is not computed again. Seeds depend on a design's place alone. The exit status is 1 where the package rejects
equal disparities more often than 5% and three Monte-Carlo errors, or is less powerful than tests that ignore pairs.
"""

import argparse
import json
import sys
import time
import warnings
from dataclasses import asdict, dataclass
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
from scipy.optimize import brentq
from scipy.stats import norm

from benchmarks.common.bounds import WARNED, Promise
from benchmarks.common.cells import FAR, LOWER, far_below
from benchmarks.common.drawings import exceeds
from benchmarks.common.results import write
from benchmarks.common.run import threshold_at
from skfairtest import PairedFairnessTest
from skfairtest._utils.errors import SmallGroupWarning
from skfairtest.metrics.functionals import Auc
from skfairtest.paired.measure import Change
from skfairtest.paired.statistics import Changes, compare_changes, compare_sizes, score_statistic

RESULTS = Path(__file__).parents[1] / "benchmarks" / "results" / "paired.json"
SEED, ALPHA, RESAMPLES = 20261122, 0.05, 499
QUICK = 100
#: Data sets of a design of each kind.
DATA_SETS = {"equal": 3000, "different": 600, "sizes": 1000, "metrics": 400, "areas": 400}
LOG_ALPHA = float(np.log(ALPHA)) + 1e-12
#: Tests that are valid in large samples, and ignore who is whose pair.
UNPAIRED = ("independent", "intervals")


@dataclass(frozen=True)
class Design:
    """Two groups: people, the rate under A, how many are judged differently, and the change of the rate."""

    people: tuple[int, int]
    rates: tuple[float, float]
    disagreement: tuple[float, float]
    change: tuple[float, float]

    def cells(self, group):
        """Probabilities of the event under B alone, A alone, both, and neither."""
        plus, minus = ((self.disagreement[group] + sign * self.change[group]) / 2 for sign in (1, -1))
        both = self.rates[group] - minus
        return [plus, minus, both, 1 - plus - minus - both]


EQUAL = [
    Design(people, rates, disagreement, (change, change))
    for people, rates, disagreement, change in [
        ((25, 700), (0.3, 0.5), (0.004, 0.004), 0.0),
        ((25, 700), (0.3, 0.5), (0.02, 0.3), 0.02),
        ((25, 700), (0.4, 0.3), (0.3, 0.02), 0.02),
        ((25, 700), (0.3, 0.4), (0.1, 0.5), 0.1),
        ((25, 700), (0.4, 0.2), (0.5, 0.1), 0.1),
        ((25, 700), (0.5, 0.4), (0.4, 0.05), 0.0),
        ((25, 700), (0.35, 0.3), (0.9, 0.3), 0.3),
        ((10, 200), (0.4, 0.5), (0.4, 0.05), 0.0),
        ((10, 200), (0.4, 0.3), (0.3, 0.02), 0.02),
        ((15, 60), (0.5, 0.3), (0.5, 0.1), 0.05),
        ((30, 30), (0.5, 0.2), (0.5, 0.1), 0.1),
        ((30, 30), (0.2, 0.5), (0.2, 0.4), 0.0),
        ((50, 500), (0.3, 0.4), (0.05, 0.4), 0.0),
        ((50, 500), (0.5, 0.2), (0.3, 0.05), -0.05),
        ((100, 100), (0.2, 0.5), (0.02, 0.3), 0.02),
        ((100, 100), (0.5, 0.2), (0.5, 0.1), 0.1),
        ((100, 100), (0.2, 0.5), (0.02, 0.02), 0.0),
        ((200, 2000), (0.3, 0.6), (0.05, 0.2), 0.05),
        ((1000, 1000), (0.2, 0.5), (0.05, 0.3), 0.05),
        ((1000, 20000), (0.2, 0.4), (0.3, 0.05), 0.0),
    ]
]
DIFFERENT = [
    Design((50, 500), (0.3, 0.5), (0.3, 0.1), (0.2, 0.0)),
    Design((100, 100), (0.4, 0.5), (0.25, 0.1), (0.2, 0.05)),
    Design((200, 200), (0.4, 0.5), (0.15, 0.1), (0.1, 0.0)),
    Design((200, 800), (0.4, 0.5), (0.12, 0.1), (0.08, 0.0)),
    Design((500, 500), (0.3, 0.5), (0.1, 0.1), (0.06, 0.0)),
    Design((1000, 4000), (0.3, 0.5), (0.06, 0.06), (0.03, 0.0)),
]


@dataclass(frozen=True)
class Sizes:
    """Two groups whose disparity under B is larger in size than that under A by a margin."""

    people: tuple[int, int]
    rates_a: tuple[float, float]
    rates_b: tuple[float, float]
    margin: float

    def cells(self, group):
        """Probabilities as of `Design`; the models agree as often as if two thirds of B's changes were A's."""
        a, b = self.rates_a[group], self.rates_b[group]
        both = (2 * min(a, b) + a * b) / 3
        return [b - both, a - both, both, 1 - a - b + both]


#: The margin is reached where both disparities have one sign, opposite ones, and where that of A is 0.
LARGER = [
    Sizes(people, rates_a, rates_b, margin)
    for people in ((60, 240), (150, 150), (500, 1000))
    for rates_a, rates_b, margin in [
        ((0.4, 0.3), (0.4, 0.25), 0.05),
        ((0.4, 0.3), (0.25, 0.4), 0.05),
        ((0.4, 0.4), (0.5, 0.4), 0.1),
        ((0.3, 0.2), (0.15, 0.25), 0.0),
    ]
]


def draw(design, size, rng):
    """Return counts of the four cells, (size, 2, 4)."""
    return np.stack([rng.multinomial(n, design.cells(group), size) for group, n in enumerate(design.people)], axis=1)


def of_changes(counts):
    return np.stack([counts[..., 0], counts[..., 1], counts[..., 2] + counts[..., 3]], axis=-1)


def paired(changes, seed):
    """The package's test: whether it rejects, and whether the normal distribution alone does."""
    statistics = score_statistic(changes[:, :, None, :], np.ones(1))
    normal = np.abs(statistics) >= norm.isf(ALPHA / 2) - 1e-12
    rejected = normal.copy()
    for place in np.flatnonzero(normal):  # its p-value is never below the normal one
        own = np.random.SeedSequence([seed, int(place)])
        found = compare_changes(Changes(changes[place][:, None, :]), n_resamples=RESAMPLES, seed=own)
        rejected[place] = found.log_p <= LOG_ALPHA
    return rejected, normal


def welch(plus, minus, n):
    """Welch's statistic of the means of d; arrays (..., 2)."""
    mean = (plus - minus) / n
    variance = ((plus + minus) / n - mean**2) / (n - 1)
    distance = mean[..., 0] - mean[..., 1]
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(np.abs(distance) < 1e-12, 0.0, distance / np.sqrt(variance.sum(axis=-1)))


def resampled(table, rng):
    """P-values by permuted labels and by swapped predictions, both with Welch's error."""
    n = table.sum(axis=1)
    observed = abs(welch(table[:, 0], table[:, 1], n)) * (1 - 1e-9)
    first = rng.multivariate_hypergeometric(table.sum(axis=0), n[0], RESAMPLES)[:, :2]
    both = np.stack([first, table.sum(axis=0)[:2] - first], axis=1)
    changed = table[:, 0] + table[:, 1]
    plus = rng.binomial(changed, 0.5, (RESAMPLES, 2))
    drawn = welch(both[..., 0], both[..., 1], n), welch(plus, changed - plus, n)
    return [(1 + (np.abs(one) >= observed).sum()) / (1 + RESAMPLES) for one in drawn]


def unpaired(counts, people):
    """Which alternatives reject that look at the models one by one."""
    n = np.array(people)
    rates = np.stack([counts[..., 1] + counts[..., 2], counts[..., 0] + counts[..., 2]], axis=-1) / n[:, None]
    disparity = rates[:, 0] - rates[:, 1]  # (size, model)
    variance = (rates * (1 - rates) / n[:, None]).sum(axis=1)
    z = norm.isf(ALPHA / 2)
    distance = np.abs(disparity[:, 1] - disparity[:, 0])
    significant = np.abs(disparity) > z * np.sqrt(variance)
    return {
        "independent": (distance > z * np.sqrt(variance.sum(axis=1))) & (distance > 0),
        "intervals": (distance > z * np.sqrt(variance).sum(axis=1)) & (distance > 0),
        "verdicts": significant[:, 0] != significant[:, 1],
    }


def rates_of(design, place, size):
    """Return how often each method rejects, in a design of rates."""
    rng = np.random.default_rng([SEED, place])
    counts = draw(design, size, rng)
    changes = of_changes(counts)
    distinct, back = np.unique(changes.reshape(size, -1), axis=0, return_inverse=True)
    tables = distinct.reshape(-1, 2, 3)
    own, normal = paired(tables, SEED + place)
    permuted, swapped = np.array([resampled(table, rng) for table in tables]).T
    by_table = {
        "paired": own, "normal": normal, "permuted": permuted <= ALPHA, "swapped": swapped <= ALPHA,
    }  # fmt: skip
    found = {name: values[back.reshape(-1)] for name, values in by_table.items()} | unpaired(counts, design.people)
    return {name: round(float(values.mean()), 5) for name, values in found.items()}


def certified(design, place, size):
    """Return how often B is certified not to be less fair than A by the margin."""
    rng = np.random.default_rng([SEED, 700 + place])
    counts = draw(design, size, rng)
    sums = np.stack([counts[..., 2], counts[..., 3], counts[..., 0] + counts[..., 1]], axis=-1)
    both = of_changes(counts)[:, :, None, :], sums[:, :, None, :]
    least = norm.isf(ALPHA / 2) - 1e-12
    upper, lower = (
        np.max([sign * score_statistic(table, np.ones(1), -sign * design.margin) for table in both], axis=0) >= least
        for sign in (-1, 1)
    )
    found = 0
    for number in np.flatnonzero(upper & lower):  # its p-value is never below the normal one
        own = np.random.SeedSequence([SEED + 700 + place, int(number)])
        tables = (Changes(table[number]) for table in both)
        found += compare_sizes(*tables, design.margin, n_resamples=RESAMPLES, seed=own).log_p <= LOG_ALPHA
    return {"paired": round(found / size, 5)}


# Other metrics --------------------------------------------------------------------------------------------------------


def labels(base, selected, precision, n, rng):
    """True labels, and predictions of two models with a share of selected people and a precision each."""
    y = rng.random(n) < base
    out = [y]
    for share, right in zip(selected, precision, strict=True):
        out.append(rng.random(n) < np.where(y, right * share / base, (1 - right) * share / (1 - base)))
    return out


def f1_precision(f1, base, selected):
    """The precision that gives an F1."""
    return f1 * (selected + base) / (2 * selected)


def of_precision(group, n, rng):
    return labels(*[(0.5, (0.5, 0.4), (0.7, 0.8)), (0.3, (0.3, 0.3), (0.5, 0.6))][group], n, rng)


def of_f1(group, n, rng):
    base, selected = [(0.5, (0.5, 0.4)), (0.3, (0.35, 0.3))][group]
    scores = [(0.6, 0.65), (0.55, 0.6)][group]
    return labels(base, selected, [f1_precision(f1, base, s) for f1, s in zip(scores, selected, strict=True)], n, rng)


def of_auc(group, n, rng):
    """Areas of .75 and .85 in one group, .65 and .75 in the other, with other spreads and base rates."""
    base, areas, spread, shared = [(0.4, (0.75, 0.85), 1.0, 0.8), (0.2, (0.65, 0.75), 2.0, 0.3)][group]
    y = rng.random(n) < base
    noise = np.sqrt(shared) * rng.normal(size=n)
    out = [y]
    for area in areas:
        shift = brentq(lambda mean: norm.cdf(mean / np.sqrt(1 + spread**2)) - area, 0, 10)  # noqa: B023
        own = noise + np.sqrt(1 - shared) * rng.normal(size=n)
        out.append(np.where(y, shift + spread * own, own))
    return out


@dataclass(frozen=True)
class Areas:
    """Two groups: people, the area of both models, the shape of the first group's scores, the models' correlations."""

    people: tuple[int, int]
    area: float
    shape: str
    correlations: tuple[float, float]


#: The first group's positives have scores as spread as the negatives', or three times, or some are below all negatives.
AREAS = [Areas((100, 1000), area, shape, (0.5, 0.8)) for shape in ("alike", "spread 3", "bimodal") for area in LOWER]


def two_scores(n, areas, shape, correlation, rng):
    """True labels, half of them positive, and the scores of two models with an area each."""
    y = np.arange(n) < n / 2
    first = rng.normal(size=(2, n))
    places, noise = (np.stack([z, correlation * z + np.sqrt(1 - correlation**2) * rng.normal(size=n)]) for z in first)
    out = [y]
    for area, place, own in zip(areas, places, noise, strict=True):
        if shape == "bimodal":
            out.append(own + y * np.where(norm.cdf(place) < far_below(area), -FAR, FAR))
        else:
            spread = {"alike": 1.0, "spread 3": 3.0}[shape]
            out.append(np.where(y, norm.ppf(area) * np.hypot(1, spread) + spread * own, own))
    return out


def as_counts(change, own, classes):
    """Counts of a group's people whose placement rises, falls and stays, so many that the change has its variance.

    How far placements move is averaged over both classes. One person more, as far off as possible, keeps the variance
    from 0 where few placements move, as it does with the areas of one model.
    """
    (value,), (variance,) = change.moments(own[None])
    parts = change.parts(own[None])[1][0]
    moved = np.abs([(value + of_class.sum() * parts) * of_class for of_class in classes * (own > 0)])
    people = (classes * own).sum(axis=1)
    total = (moved.sum(axis=1) / people).mean()
    informative = (moved.sum(axis=1) ** 2 / np.maximum((moved**2).sum(axis=1), 1e-300)).min()
    spread = total - value**2
    n = (informative + 1) / (informative * (variance / spread if spread > 1e-12 else 0.0) + 1 / people.min())
    return n * np.array([(total + value) / 2, (total - value) / 2, 1 - total])


def area_p(design, areas, data_set, rng):
    """P-values of the package, DeLong's test and the score test, and whether the package says that it is doubtful.

    `areas` are those of both models in each group.
    """
    shapes, groups = (design.shape, "alike"), np.repeat([0, 1], design.people)
    drawn = zip(design.people, areas, shapes, design.correlations, strict=True)
    y, a, b = (np.concatenate(c) for c in zip(*(two_scores(*one, rng) for one in drawn), strict=True))
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        test = PairedFairnessTest.from_predictions(
            y.astype(int), a, b, sensitive_features=groups, metric="roc_auc", n_resamples=199, random_state=data_set
        )
    change, own = Change(Auc(y, b), Auc(y, a)), np.stack([groups == 0, groups == 1]).astype(float)
    values, variances = change.moments(own)
    tables = [np.rint(as_counts(change, of_group, np.stack([y, ~y]))) for of_group in own]
    statistics = [
        np.subtract(*values) / np.sqrt(variances.sum()),
        score_statistic(np.array(tables)[:, None], np.ones(1)),
    ]
    p = [test.p_value_, *(2 * norm.sf(np.abs(z)) for z in statistics)]
    return *p, any(issubclass(one.category, SmallGroupWarning) for one in said)


def area_rates(design, place, size):
    """Size, power at equal size where model B's area is lower in the first or second group, and cautions."""
    rng, area, lower = np.random.default_rng([SEED, 2000 + place]), design.area, design.area - LOWER[design.area]
    same, worse = (area, area), (area, lower)
    null, first, second = (
        np.array([area_p(design, areas, number, rng) for number in range(size)])
        for areas in ((same, same), (worse, same), (same, worse))
    )
    out = {}
    for column, name in enumerate(("paired", "delong", "score")):
        p = null[:, column]
        most = threshold_at(p, size)
        found = {"size": p <= ALPHA, **({} if most is None else {
            "first_worse": first[:, column] <= most, "second_worse": second[:, column] <= most})}  # fmt: skip
        out[name] = {key: round(float(hits.mean()), 5) for key, hits in found.items()}
    rejected, doubted = null[:, 0] <= ALPHA, null[:, -1] > 0
    out["paired"]["warned"] = round(float(doubted[rejected].mean()), 5) if rejected.any() else 1.0
    return out


METRICS = {"precision": of_precision, "f1": of_f1, "roc_auc": of_auc}
PEOPLE = ((100, 400), (300, 300))


def metric_rate(metric, people, place, size):
    """Return how often the test rejects equal changes of a metric."""
    rng, rejected = np.random.default_rng([SEED, 1000 + place]), 0
    groups = np.repeat([0, 1], people)
    for data_set in range(size):
        y, a, b = (
            np.concatenate(c) for c in zip(*(METRICS[metric](g, n, rng) for g, n in enumerate(people)), strict=True)
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            test = PairedFairnessTest.from_predictions(
                y.astype(int), a, b, sensitive_features=groups, metric=metric, n_resamples=199, random_state=data_set
            )
        rejected += test.p_value_ <= ALPHA + 1e-12
    return {"paired": round(rejected / size, 5)}


def broken(document):
    """Say where the package rejects too often, or less often than tests that ignore pairs."""
    for kind in ("equal", "sizes", "metrics"):
        for row in document[kind]:
            if exceeds(row["rejected"]["paired"], row["data_sets"]):
                yield f"{kind}, {row['design']}: {row['rejected']['paired']:.3f}"
    for row in document["areas"]:
        found = row["rejected"]["paired"]
        if exceeds(found["size"], row["data_sets"]) and found["warned"] < WARNED:
            yield f"areas, {row['design']}: {found['size']:.3f}, cautions in {found['warned']:.3f} of rejections"
    for row in document["different"]:
        for other in UNPAIRED:
            if row["rejected"]["paired"] < row["rejected"][other]:
                yield f"power, {row['design']}: {row['rejected']['paired']:.3f}, {other} {row['rejected'][other]:.3f}"


def designs():
    """Yield (kind, place, design as plain data, what computes its rates from how many data sets)."""
    for kind, chosen, start in (("equal", EQUAL, 0), ("different", DIFFERENT, 500)):
        for place, design in enumerate(chosen):
            yield kind, place, asdict(design), partial(rates_of, design, start + place)
    for place, design in enumerate(LARGER):
        yield "sizes", place, asdict(design), partial(certified, design, place)
    for place, (metric, people) in enumerate(product(METRICS, PEOPLE)):
        yield "metrics", place, {"metric": metric, "people": people}, partial(metric_rate, metric, people, place)
    for place, design in enumerate(AREAS):
        yield "areas", place, asdict(design), partial(area_rates, design, place)


def quick_designs():
    """A few designs of each kind but the areas, which take longest."""
    return [one for one in designs() if one[1] % 6 == 2 and one[0] != "areas"]


def quick():
    """Check the quick designs."""
    document = {kind: [] for kind in DATA_SETS}
    for kind, _, design, compute in quick_designs():
        document[kind].append({"design": design, "data_sets": QUICK, "rejected": compute(QUICK)})
    says = (
        f"two models: size at most .05 and three Monte-Carlo errors, power not below that of tests that ignore pairs; "
        f"{QUICK} data sets"
    )
    return Promise(says, sum(map(len, document.values())), list(broken(document)))


def load():
    """Return the rows that are stored, by kind."""
    return json.loads(RESULTS.read_text()) if RESULTS.exists() else {}


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.paired", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few designs and data sets, nothing written")
    options = parser.parse_args(argv)
    document = {kind: [] for kind in DATA_SETS}
    before = {} if options.quick else load()
    for kind, _, design, compute in quick_designs() if options.quick else designs():
        size, plain = QUICK if options.quick else DATA_SETS[kind], json.loads(json.dumps(design))
        known = [row for row in before.get(kind, []) if (row["design"], row["data_sets"]) == (plain, size)]
        if known:
            document[kind].append(known[0])
            continue
        started = time.process_time()
        row = {"design": plain, "data_sets": size, "rejected": compute(size)}
        document[kind].append(row | {"seconds": round(time.process_time() - started, 1)})
        print(kind, document[kind][-1], flush=True)
        if not options.quick:
            rest = {name: rows + before.get(name, [])[len(rows) :] for name, rows in document.items()}
            write(RESULTS, "tests of two models; see benchmarks/paired.py", SEED, **rest)
    found = list(broken(document))
    for where in found:
        print(f"FAILED {where}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
