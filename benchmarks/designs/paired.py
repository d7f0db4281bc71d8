"""Two models on the same people, in two groups.

Model B changes the predictions of model A; the change of the rate is the same in both groups, and with it the
disparities of both models, while how often the models disagree, and how many errors they make, differ; or it is larger
in one group. Beside the package's test there are the score test by the normal distribution alone, labels permuted with
Welch's error, predictions of the two models swapped within people, the test of two independent samples, two intervals
that do not overlap, and the comparison of two verdicts (one model has a significant disparity, the other has none),
which is no test of the difference. In the designs of `Sizes` the disparity of model B is larger in size by the margin,
and `alternative="fairer"` certifies that it is not. Precision, F1 and areas are tested by `PairedFairnessTest` as it
is; the areas of 100 and 1,000 people fall in neither group or in one of them.
"""

import warnings
from dataclasses import dataclass
from functools import partial
from itertools import product

import numpy as np
from scipy.optimize import brentq
from scipy.stats import norm

from benchmarks.common.bounds import WARNED
from benchmarks.common.cells import FAR, LOWER, far_below
from benchmarks.common.design import Design, one_by_one
from benchmarks.common.drawings import exceeds
from benchmarks.common.run import threshold_at
from skfairtest import PairedFairnessTest
from skfairtest._utils.errors import SmallGroupWarning
from skfairtest.paired.statistics import Changes, compare_changes, compare_sizes, score_statistic

ALPHA, RESAMPLES = 0.05, 499
LOG_ALPHA = float(np.log(ALPHA)) + 1e-12


@dataclass(frozen=True)
class Rates:
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
    Rates(people, rates, disagreement, (change, change))
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
    Rates((50, 500), (0.3, 0.5), (0.3, 0.1), (0.2, 0.0)),
    Rates((100, 100), (0.4, 0.5), (0.25, 0.1), (0.2, 0.05)),
    Rates((200, 200), (0.4, 0.5), (0.15, 0.1), (0.1, 0.0)),
    Rates((200, 800), (0.4, 0.5), (0.12, 0.1), (0.08, 0.0)),
    Rates((500, 500), (0.3, 0.5), (0.1, 0.1), (0.06, 0.0)),
    Rates((1000, 4000), (0.3, 0.5), (0.06, 0.06), (0.03, 0.0)),
]


@dataclass(frozen=True)
class Sizes:
    """Two groups whose disparity under B is larger in size than that under A by a margin."""

    people: tuple[int, int]
    rates_a: tuple[float, float]
    rates_b: tuple[float, float]
    margin: float

    def cells(self, group):
        """Probabilities as of `Rates`; the models agree as often as if two thirds of B's changes were A's."""
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


def paired(changes, rng):
    """The package's test: whether it rejects, and whether the normal distribution alone does."""
    statistics = score_statistic(changes[:, :, None, :], np.ones(1))
    normal = np.abs(statistics) >= norm.isf(ALPHA / 2) - 1e-12
    rejected = normal.copy()
    for place in np.flatnonzero(normal):  # its p-value is never below the normal one
        tables = Changes(changes[place][:, None, :])
        found = compare_changes(tables, n_resamples=RESAMPLES, seed=rng.bit_generator.seed_seq.spawn(1)[0])
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
        "two independent tests": (distance > z * np.sqrt(variance.sum(axis=1))) & (distance > 0),
        "two intervals": (distance > z * np.sqrt(variance).sum(axis=1)) & (distance > 0),
        "two verdicts": significant[:, 0] != significant[:, 1],
    }


def rates_of(design, rng, size):
    """Which data sets each method rejects, in a design of rates."""
    counts = draw(design, size, rng)
    changes = of_changes(counts)
    distinct, back = np.unique(changes.reshape(size, -1), axis=0, return_inverse=True)
    tables = distinct.reshape(-1, 2, 3)
    own, normal = paired(tables, rng)
    permuted, swapped = np.array([resampled(table, rng) for table in tables]).T <= ALPHA
    by_table = {"paired": own, "normal alone": normal, "labels permuted": permuted, "predictions swapped": swapped}
    found = {name: values[back.reshape(-1)] for name, values in by_table.items()} | unpaired(counts, design.people)
    figure = "size" if len(set(design.change)) == 1 else "power"
    return {name: {figure: values} for name, values in found.items()}


def certified(design, rng, size):
    """In which data sets B is certified not to be less fair than A by the margin."""
    counts = draw(design, size, rng)
    sums = np.stack([counts[..., 2], counts[..., 3], counts[..., 0] + counts[..., 1]], axis=-1)
    both = of_changes(counts)[:, :, None, :], sums[:, :, None, :]
    least = norm.isf(ALPHA / 2) - 1e-12
    found, lower = (
        np.max([sign * score_statistic(table, np.ones(1), -sign * design.margin) for table in both], axis=0) >= least
        for sign in (-1, 1)
    )
    found &= lower
    for number in np.flatnonzero(found):  # its p-value is never below the normal one
        tables, seed = (Changes(table[number]) for table in both), rng.bit_generator.seed_seq.spawn(1)[0]
        judged = compare_sizes(*tables, design.margin, n_resamples=RESAMPLES, seed=seed)
        found[number] = judged.log_p <= LOG_ALPHA
    return {"paired": {"size": found}}


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


METRICS = {"precision": of_precision, "f1": of_f1, "roc_auc": of_auc}


def tested(metric, columns, people, rng):
    """Test drawn people by the public test."""
    groups, (y, a, b) = np.repeat([0, 1], people), (np.concatenate(c) for c in zip(*columns, strict=True))
    return PairedFairnessTest.from_predictions(
        y.astype(int), a, b, sensitive_features=groups, metric=metric, n_resamples=199,
        random_state=int(rng.integers(2**31)),
    )  # fmt: skip


def metric_of(metric, people):
    def draw(rng):
        columns = (METRICS[metric](g, n, rng) for g, n in enumerate(people))
        return {"paired": {"size": tested(metric, columns, people, rng).p_value_ <= ALPHA + 1e-12}}

    return one_by_one(draw)


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


def area_p(shape, areas, rng):
    """The p-value, and whether there is a caution; `areas` are those of both models in each group."""
    people = (100, 1000)
    drawn = zip(people, areas, (shape, "alike"), (0.5, 0.8), strict=True)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        test = tested("roc_auc", (two_scores(*group, rng) for group in drawn), people, rng)
    return test.p_value_, any(issubclass(one.category, SmallGroupWarning) for one in said)


def areas_of(area, shape, rng, size):
    """Size, power at equal size if model B's area is lower in the first or second group, and cautions."""
    same, worse = (area, area), (area, area - LOWER[area])
    null, first, second = (
        np.array([area_p(shape, areas, rng) for _ in range(size)])
        for areas in ((same, same), (worse, same), (same, worse))
    )
    rejected, most = null[:, 0] <= ALPHA, threshold_at(null[:, 0], size) or 0.0
    warned = null[rejected, 1].mean() if rejected.any() else 1.0
    found = {"size": rejected, "first_worse": first[:, 0] <= most, "second_worse": second[:, 0] <= most}
    return {"paired": found | {"warned": warned}}


def silent(methods, size=400):
    found = methods["paired"]
    if exceeds(found["size"], size) and found["warned"] < WARNED:
        yield f"size {found['size']}, cautions in {found['warned']} of rejections"


def rates_design(d, kind, data_sets, place, **promised):
    words = f"people {d.people}, rates {d.rates}, disagreement {d.disagreement}, changes {d.change}"
    name, quick = f"two models/{kind}, {words}", 100 * (place % 6 == 2)
    return Design(name, partial(rates_of, d), data_sets, ("paired",), quick, **promised)


DESIGNS = [
    *(rates_design(design, "equal changes", 3000, place) for place, design in enumerate(EQUAL)),
    *(
        Design(
            f"two models/fairer by {d.margin:g}, people {d.people}, rates {d.rates_a} and {d.rates_b}",
            partial(certified, d), 1000, ("paired",), 100 * (place % 6 == 2),
        )
        for place, d in enumerate(LARGER)
    ),
    *(
        Design(f"two models/{metric}, people {people}", metric_of(metric, people), 400, ("paired",),
               100 * (metric == "f1" and people == (100, 400)))
        for metric, people in product(METRICS, ((100, 400), (300, 300)))
    ),
    *(
        rates_design(design, "other changes", 600, place, weaker=("two independent tests", "two intervals"))
        for place, design in enumerate(DIFFERENT)
    ),
    *(
        Design(f"areas of two models/{shape}, {area}", partial(areas_of, area, shape), 400, also=silent)
        for shape, area in product(("alike", "spread 3", "bimodal"), LOWER)
    ),
]  # fmt: skip
