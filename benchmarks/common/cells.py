"""The designs of the validity benchmark: who is in the groups, and in what they are equal or differ.

A population is a tuple with one description per group. Tables: the probabilities of (true negative, false positive,
false negative, true positive). Areas: (base rate, mean of the positives' scores, their standard deviation, shift of all
scores), negatives being standard normal before the shift, or (base rate, area, name of a shape in `SHAPES`). Losses:
the name of a law in `LAWS` and a factor.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import cache, partial
from math import comb

import numpy as np
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.special import digamma, ndtr
from scipy.stats import norm
from sklearn.metrics import (
    cohen_kappa_score,
    f1_score,
    fbeta_score,
    matthews_corrcoef,
    precision_score,
    recall_score,
)

from skfairtest.inference.multiplicity import DISCRETE_FROM
from skfairtest.metrics.rates import CRITERIA

ALPHA, SEED = 0.05, 20201120
#: Metrics that are tested as rates of the people that they are worth.
AS_RATES = (
    "roc_auc", "average_precision", "balanced_accuracy", "matthews_corrcoef", "cohen_kappa", "precision_macro",
    "precision_weighted", "recall_macro", "f1_macro", "f1_weighted",
)  # fmt: skip
#: What is run by default for each kind of cell.
DEFAULTS = {"rate": "exact", "grid": "exact", "family": "shaffer", "highest": "to_highest"}


@dataclass(frozen=True)
class Cell:
    """One design.

    `denominators`: how many pairs of them are drawn for the enumerated tests. What is promised of a method's size
    follows from the design: `BOUNDS`.
    """

    name: str
    kind: str
    metric: str
    people: tuple
    null: tuple
    effect: tuple | None = None
    data_sets: int = 1000
    resamples: int = 199
    competitors: bool = True
    denominators: int | None = None
    quick: bool = False

    @property
    def default(self):
        """What is run by default: areas and the like are tested as rates, without resamples."""
        scored = self.metric in AS_RATES and self.kind in ("area", "table")
        rates = len(CRITERIA.get(self.metric, (self.metric,)))
        if self.kind == "family" and rates * comb(len(self.people), 2) >= DISCRETE_FROM:
            return "discrete_holm"
        return "areas" if scored else DEFAULTS.get(self.kind, "permutation")

    @property
    def section(self):
        return self.name.split("/")[0]

    @property
    def parameters(self):
        """All of it and the default method as JSON has it, rounded beyond what libraries differ in."""
        fields = {key: _plain(value) for key, value in asdict(self).items() if key != "quick"}
        return fields | {"default": self.default}


def _plain(value):
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    return round(float(value), 8) if isinstance(value, float | np.floating) else value


# Tables ----------------------------------------------------------------------------------------------------


def by_truth(base, tpr, fpr):
    return ((1 - base) * (1 - fpr), (1 - base) * fpr, base * (1 - tpr), base * tpr)


def by_prediction(selected, precision, omission):
    """`omission`: share of the truly positive among those predicted negative."""
    return (
        (1 - selected) * (1 - omission),
        selected * (1 - precision),
        (1 - selected) * omission,
        selected * precision,
    )


def by_union(union, jaccard, false_positives):
    """`union`: share of people truly or predicted positive; `false_positives`: which part of the errors they are."""
    wrong = union * (1 - jaccard)
    return (1 - union, wrong * false_positives, wrong * (1 - false_positives), union * jaccard)


def with_mcc(base, fpr, mcc):
    """Choose the true positive rate that gives this Matthews coefficient."""

    def distance(tpr):
        selected = base * tpr + (1 - base) * fpr
        return (tpr - selected) * base / np.sqrt(base * (1 - base) * selected * (1 - selected)) - mcc

    return by_truth(base, float(brentq(distance, fpr + 1e-6, 1.0)), fpr)


#: metric: first group, second group with the same value, second group with another. Everything else differs.
RATES = {
    "selection_rate": (by_truth(0.8, 0.35, 0.1), by_truth(0.2, 0.7, 0.2), by_truth(0.2, 0.9, 0.3)),
    "true_positive_rate": (by_truth(0.8, 0.9, 0.1), by_truth(0.2, 0.9, 0.3), by_truth(0.2, 0.7, 0.3)),
    "false_positive_rate": (by_truth(0.2, 0.8, 0.1), by_truth(0.7, 0.6, 0.1), by_truth(0.7, 0.6, 0.3)),
    "precision": (by_prediction(0.6, 0.8, 0.1), by_prediction(0.2, 0.8, 0.3), by_prediction(0.2, 0.6, 0.3)),
    "negative_predictive_value": (
        by_prediction(0.6, 0.9, 0.1),
        by_prediction(0.2, 0.6, 0.1),
        by_prediction(0.2, 0.6, 0.25),
    ),
    "accuracy": (by_truth(0.8, 0.9, 0.5), by_truth(0.2, 0.5, 0.1), by_truth(0.2, 0.4, 0.25)),
    "f1": (by_union(0.7, 0.6, 0.5), by_union(0.3, 0.6, 0.8), by_union(0.3, 0.4, 0.8)),
}
SIZES = [(20, 200), (50, 1000), (200, 200), (1000, 10000)]
GRID_SIZES = [(30, 1000), (50, 500), (200, 200), (400, 100)]
GRID_BASES = [(0.8, 0.2), (0.2, 0.8), (0.1, 0.1), (0.5, 0.1)]
GRID_RATES = [0.02, 0.1, 0.4]
#: How much higher the second group's rate is where the grid's power is enumerated.
GRID_EFFECT = 0.2


def _sizes(people):
    return "-".join(map(str, people))


def turned(cell, effect, words):
    """The design with power in the other direction."""
    head, sizes = cell.name.rsplit("/", 1)
    # Where a bound of the size is promised it takes more data sets to tell.
    many = cell.data_sets if has_enough_people(cell) else min(500, cell.data_sets)
    return replace(cell, name=f"{head}, {words}/{sizes}", effect=effect, data_sets=many, quick=False)


def rate_cells():
    tpr = RATES["true_positive_rate"]
    paper = (by_truth(0.8, 0.9, 0.1), by_truth(0.2, 0.9, 0.1))
    yield Cell("paper/tpr", "rate", "true_positive_rate", (200, 200), paper, None, 10_000, 499)
    only_null = ("selection_rate", "false_positive_rate", "negative_predictive_value")
    for metric, (first, same, other) in RATES.items():
        for people in SIZES:
            large = people[1] > 1000
            yield Cell(
                f"rates/{metric}/{_sizes(people)}", "rate", metric, people, (first, same),
                None if large or people[0] == 20 or metric in only_null else (first, other), 2000, 199,
                quick=metric in ("selection_rate", "f1") and people == (20, 200),
            )  # fmt: skip
    rare = (by_truth(0.9, 0.95, 0.1), by_truth(0.05, 0.95, 0.1))
    yield Cell("rates/true_positive_rate/2000-200/rare", "rate", "true_positive_rate", (2000, 200), rare, None,
               2000, 199)  # fmt: skip
    yield Cell("rates/true_positive_rate/10000-10000", "rate", "true_positive_rate", (10000, 10000), tpr[:2], None,
               1000, 199)  # fmt: skip


def grid_cells():
    """The false negative rate over a grid on which textbook methods are known to fail."""
    for people in GRID_SIZES:
        for bases in GRID_BASES:
            for rate in GRID_RATES:
                null = tuple(by_truth(base, 1 - rate, 0.1) for base in bases)
                effect = (null[0], by_truth(bases[1], 1 - rate - GRID_EFFECT, 0.1))
                yield Cell(
                    f"grid/{_sizes(people)}/{bases[0]:g}-{bases[1]:g}/{rate:g}", "grid", "false_negative_rate", people,
                    null, effect, 2000, 199, denominators=40,
                    quick=people == (400, 100) and bases == (0.1, 0.1),
                )  # fmt: skip


def table_cells():
    """Balanced accuracy and Matthews' coefficient of two classes."""
    equal = (by_truth(0.7, 0.9, 0.3), by_truth(0.3, 0.8, 0.2), by_truth(0.3, 0.7, 0.2))
    high = (by_truth(0.7, 0.99, 0.03), by_truth(0.3, 0.98, 0.02), by_truth(0.3, 0.93, 0.02))
    lower = by_truth(0.7, 0.8, 0.3), by_truth(0.7, 0.94, 0.03)
    for label, (first, same, other), worse, sizes in (
        (".8", equal, lower[0], [(60, 1000), (200, 200), (1000, 1000), (1000, 10000)]),
        (".98", high, lower[1], [(60, 1000), (200, 200), (1000, 1000)]),
    ):
        for people in sizes:
            many = people[0] >= 1000
            cell = Cell(
                f"balanced_accuracy/{label}/{_sizes(people)}", "table", "balanced_accuracy", people, (first, same),
                None if people[1] > 1000 else (first, other), 2000 if many else 1000, 199,
                quick=label == ".8" and people in ((200, 200), (1000, 1000)),
            )  # fmt: skip
            yield cell
            if people == (60, 1000):
                yield turned(cell, (worse, same), "the smaller group worse")
    first, same, other = with_mcc(0.5, 0.2, 0.5), with_mcc(0.1, 0.05, 0.5), with_mcc(0.1, 0.05, 0.3)
    for people in [(60, 1000), (200, 200), (1000, 1000), (1000, 10000)]:
        cell = Cell(
            f"mcc/.5/{_sizes(people)}", "table", "matthews_corrcoef", people, (first, same),
            None if people[1] > 1000 else (first, other), quick=people == (200, 200),
        )  # fmt: skip
        yield cell
        if people == (60, 1000):
            yield turned(cell, (with_mcc(0.5, 0.2, 0.3), same), "the smaller group worse")


# Metrics of classes ----------------------------------------------------------------------------------------

#: Shares of the true classes in both groups.
SHARES = {2: ((0.5, 0.5), (0.8, 0.2)), 3: ((0.4, 0.3, 0.3), (0.6, 0.25, 0.15))}
VALUES = {
    **{
        f"{kind}_{average}": partial(function, average=average, zero_division=0)
        for kind, function in (("precision", precision_score), ("recall", recall_score), ("f1", f1_score))
        for average in ("macro", "weighted")
    },
    "f2": partial(fbeta_score, beta=2),
    "matthews_corrcoef": matthews_corrcoef,
    "cohen_kappa": cohen_kappa_score,
    "geometric_mean": lambda y_true, y_pred, sample_weight: float(
        np.prod(recall_score(y_true, y_pred, average=None, sample_weight=sample_weight)) ** (1 / len(set(y_true)))
    ),
}


def of_classes(shares, metric, value):
    """Probabilities of (true, predicted) classes of which a metric has a value: all are right equally often.

    Who is wrong is predicted another class by its share.
    """
    n, shares = len(shares), np.asarray(shares)
    true, predicted = np.indices((n, n)).reshape(2, -1)

    def table(right):
        wrong = np.where(np.eye(n) > 0, 0.0, shares)
        rows = (1 - right) * wrong / wrong.sum(axis=1, keepdims=True) + right * np.eye(n)
        return (shares[:, None] * rows).ravel()

    found = brentq(lambda right: VALUES[metric](true, predicted, sample_weight=table(right)) - value, 0.05, 0.9999)
    return tuple(table(found))


def class_cells():
    """Metrics of several classes with ordinary and with few errors; the classes' shares differ."""
    ordinary, few = [(60, 1000), (1000, 60), (200, 200), (1000, 10000)], [(40, 800), (800, 40), (100, 1000), (200, 200)]
    designs = [("f2", 2, 0.7, ordinary)]
    designs += [(metric, 3, 0.7, ordinary) for metric in VALUES if metric not in ("f2", "recall_weighted")]
    designs += [("f1_macro", 2, 0.95, few), ("matthews_corrcoef", 2, 0.95, few)]
    designs += [(metric, 3, 0.95, few) for metric in ("f1_macro", "f1_weighted", "cohen_kappa", "geometric_mean")]
    for metric, classes, value, sizes in designs:
        shares = SHARES[classes]
        null = tuple(of_classes(own, metric, value) for own in shares)
        for people in sizes:
            # The smaller group, or the first of two, is worse.
            worse, less = int(people[1] < people[0]), value - (0.15 if min(people) < 200 else 0.1)
            lower = [of_classes(own, metric, less) for own in shares]
            effects = (lower[0], null[1]), (null[0], lower[1])
            cell = Cell(
                f"classes/{metric}/{classes} classes, {value:g}/{_sizes(people)}", "table", metric, people, null,
                None if max(people) > 1000 else effects[worse], 2000, 199, competitors=False,
                quick=people == (200, 200) and metric in ("f1_macro", "f2"),
            )  # fmt: skip
            yield cell
            if cell.effect is not None and people[0] != people[1]:
                yield turned(cell, effects[1 - worse], "the larger group worse")


# Scores ----------------------------------------------------------------------------------------------------


def scores(base, area, spread=1.0, shift=0.0):
    return (base, float(norm.ppf(area) * np.hypot(1.0, spread)), spread, shift)


FAR = 4.0
_ABOVE = float(norm.cdf(FAR / np.sqrt(2)))


def far_below(area):
    """How many of the positives are far below the negatives where scores are bimodal."""
    return (_ABOVE - area) / (2 * _ABOVE - 1)


#: Of the scores of two classes whose area is not .5: (draws of the positives' and of the negatives', their parameter).
#: Bimodal: positives are far above the negatives or, with a probability, as far below. Lehmann: positives' scores have
#: the distribution of the largest of k negatives', k need not be whole.
SHAPES = {
    "bimodal": (
        lambda rng, n, area: np.where(rng.random(n) < far_below(area), -FAR, FAR) + rng.normal(size=n),
        lambda rng, n: rng.normal(size=n),
    ),
    "Lehmann": (lambda rng, n, area: rng.random(n) ** ((1 - area) / area), lambda rng, n: rng.random(n)),
}
#: By how much areas differ where power is looked at.
LOWER = {0.7: 0.15, 0.9: 0.1, 0.98: 0.07}
#: Share of positives, people of the smaller group, people of the larger one.
CLASSES = [(0.5, 100, 1000), (1 / 11, 165, 1100), (0.5, 100, 100)]


def of_shape(base, area, shape):
    if shape in SHAPES:
        return (base, float(area), shape)
    return scores(base, area, {"alike": 1.0, "spread 3": 3.0, "spread 1/3": 1 / 3}[shape])


def shape_cells():
    """Areas near 1 and others where the smaller group's scores have another shape; either group is the worse one."""
    for shape in ("alike", "spread 3", "spread 1/3", *SHAPES):
        other = shape if shape == "Lehmann" else "alike"
        for area, lower in LOWER.items():
            for base, *people in CLASSES:
                null = of_shape(base, area, shape), of_shape(base, area, other)
                for worse in ("smaller", "larger"):
                    effect = (
                        (of_shape(base, area - lower, shape), null[1])
                        if worse == "smaller"
                        else (null[0], of_shape(base, area - lower, other))
                    )
                    yield Cell(
                        f"auc/{shape}, the {worse} group worse/{area:g}/{_sizes(people)}", "area", "roc_auc",
                        tuple(people), null, effect, 400, 199, competitors=False,
                    )  # fmt: skip


AREA_DESIGNS = {"normal": (1.0, 0.0), "sd ratio 3": (3.0, 0.0), "shifted by 3": (1.0, 3.0)}


def area_cells():
    for label, (spread, shift) in AREA_DESIGNS.items():
        for area in (0.7, 0.9, 0.95, 0.98):
            for people in [(100, 1000), (500, 500)]:
                near = people == (500, 500) and area <= 0.95
                # All competitors once for each design and size.
                yield Cell(
                    f"auc/{label}/{area:g}/{_sizes(people)}", "area", "roc_auc", people,
                    (scores(0.5, area), scores(0.5, area, spread, shift)), None, 1500 if near else 1000, 199,
                    competitors=False, quick=people == (500, 500) and area == 0.9,
                )  # fmt: skip
    for area in (0.7, 0.9, 0.95, 0.98):
        yield Cell(f"auc/sd ratio 3 in the smaller group/{area:g}/100-1000", "area", "roc_auc", (100, 1000),
                   (scores(0.5, area, 3.0), scores(0.5, area)), competitors=False)  # fmt: skip
    for people in [(100, 1000), (500, 500)]:
        yield Cell(
            f"auc/competitors/0.9/{_sizes(people)}", "area", "roc_auc", people,
            (scores(0.5, 0.9), scores(0.5, 0.9, 3.0)), (scores(0.5, 0.9), scores(0.5, 0.82, 3.0)), 400, 199,
        )  # fmt: skip
    yield Cell("auc/base .4, .25/0.9/1000-4000", "area", "roc_auc", (1000, 4000),
               (scores(0.4, 0.9), scores(0.25, 0.9, 3.0)), None, 1500, 199, competitors=False)  # fmt: skip
    # A group so small beside the other that its people are listed.
    yield Cell("auc/base .4, .25/0.9/400-6000", "area", "roc_auc", (400, 6000),
               (scores(0.4, 0.9), scores(0.25, 0.9, 3.0)), None, 1500, 199, competitors=False)  # fmt: skip
    yield Cell("auc/base .4, .25/0.9/10000-10000", "area", "roc_auc", (10000, 10000),
               (scores(0.4, 0.9), scores(0.25, 0.9, 3.0)), None, 1500, 199, competitors=False)  # fmt: skip


def average_precision_of(base, mean):
    """Average precision of scores that are normal in both classes, of standard deviation 1."""

    def precision(score):
        right, wrong = base * ndtr(mean - score), (1 - base) * ndtr(-score)
        return np.exp(-((score - mean) ** 2) / 2) / np.sqrt(2 * np.pi) * right / (right + wrong)

    return float(quad(precision, mean - 8, mean + 8, limit=200)[0])


def of_precision(base, value):
    return (base, float(brentq(lambda mean: average_precision_of(base, mean) - value, 0.0, 8.0)), 1.0, 0.0)


def number_cells():
    """Average precision and R squared; base rates, or spreads and distributions of the numbers, differ."""
    sizes = [(60, 600), (600, 60), (200, 200), (300, 3000)]
    for value in (0.7, 0.9):
        first, same, other = of_precision(0.5, value), of_precision(0.2, value), of_precision(0.2, value - 0.15)
        for people in sizes:
            cell = Cell(
                f"average_precision/{value:g}/{_sizes(people)}", "area", "average_precision", people, (first, same),
                None if max(people) > 1000 else (first, other),
                # Where a bound of the size is promised it takes more data sets to tell.
                200 if max(people) > 1000 else 2000 if people == (200, 200) and value == 0.7 else 600, 199,
                competitors=False, quick=people == (200, 200) and value == 0.7,
            )  # fmt: skip
            yield cell
            if cell.effect is not None and people[0] != people[1]:
                yield turned(cell, (of_precision(0.5, value - 0.15), same), "the first group worse")
    for law in ("normal", "exponential"):
        for value in (0.5, 0.9):
            null = (("normal", 1.0, value), (law, 3.0, value))
            for people in sizes:
                cell = Cell(
                    f"r2/normal, {law}, {value:g}/{_sizes(people)}", "explained", "r2", people, null,
                    None if max(people) > 1000 else (null[0], (law, 3.0, value - 0.15)),
                    200 if max(people) > 1000 else 600, 199, competitors=False,
                    quick=people == (200, 200) and value == 0.5 and law == "normal",
                )  # fmt: skip
                yield cell
                if cell.effect is not None and people[0] != people[1]:
                    yield turned(cell, (("normal", 1.0, value - 0.15), null[1]), "the first group worse")


# Losses ----------------------------------------------------------------------------------------------------


def mean_entropy(a, b):
    """Mean log loss of calibrated scores with a Beta(a, b) law."""
    share = a / (a + b)
    return -share * (digamma(a + 1) - digamma(a + b + 1)) - (1 - share) * (digamma(b + 1) - digamma(a + b + 1))


#: Scores are .99 and right 99% of the time.
CERTAIN = 0.99
_TWO_POINT = -CERTAIN * np.log(CERTAIN) - (1 - CERTAIN) * np.log(1 - CERTAIN)
#: Shapes of score laws with the mean loss of Beta(2, 2), and of the certain scores.
SKEWED = float(brentq(lambda a: mean_entropy(a, 1.5 * a) - mean_entropy(2.0, 2.0), 0.5, 20.0))
RARE = float(brentq(lambda a: mean_entropy(a, 19 * a) - _TWO_POINT, 1e-3, 5.0))


def _beta_loss(rng, n, a, b):
    score = rng.beta(a, b, n)
    right = np.where(rng.random(n) < score, score, 1 - score)
    return -np.log(np.maximum(right, np.finfo(float).eps))


#: name: (draw of a loss, its mean). Squared errors of normal, uniform and exponential errors have mean 1.
LAWS = {
    "normal": (lambda rng, n: rng.normal(size=n) ** 2, 1.0),
    "uniform": (lambda rng, n: 3 * rng.uniform(-1, 1, n) ** 2, 1.0),
    "exponential": (lambda rng, n: (rng.exponential(size=n) - 1) ** 2, 1.0),
    "Beta(2, 2)": (lambda rng, n: _beta_loss(rng, n, 2.0, 2.0), mean_entropy(2.0, 2.0)),
    "skewed Beta": (lambda rng, n: _beta_loss(rng, n, SKEWED, 1.5 * SKEWED), mean_entropy(2.0, 2.0)),
    "certain": (lambda rng, n: -np.log(np.where(rng.random(n) < CERTAIN, CERTAIN, 1 - CERTAIN)), _TWO_POINT),
    "rare Beta": (lambda rng, n: _beta_loss(rng, n, RARE, 19 * RARE), _TWO_POINT),
}
#: Ratios of the first group's mean loss to the second's, by the number of people in the first.
FACTORS = {20: 3.0, 30: 2.0, 50: 1.5, 200: 1.4}


def loss_cells():
    pairs = {
        "mean_squared_error": [("normal", "uniform"), ("exponential", "uniform"), ("exponential", "normal")],
        "log_loss": [("Beta(2, 2)", "skewed Beta"), ("certain", "rare Beta")],
    }
    for metric, laws in pairs.items():
        for first, second in laws:
            for people in [(50, 500), (200, 200), (200, 2000), (1000, 10000)]:
                near = (first, second) in MILD and people[0] >= 200
                cell = Cell(
                    f"{metric}/{first}, {second}/{_sizes(people)}", "loss", metric, people,
                    ((first, 1.0), (second, 1.0)),
                    ((first, 1.0), (second, 1.4)) if people == (200, 200) else None,
                    1500 if near else 300 if people[1] > 2000 else 1000, 199,
                    competitors=people[1] <= 500, quick=near and people == (200, 200),
                )  # fmt: skip
                yield cell
                if cell.effect is None and people[1] <= 2000:
                    factor, plain = FACTORS[people[0]], replace(cell, competitors=False)
                    yield turned(plain, ((first, factor), (second, 1.0)), "first higher")
                    yield turned(plain, ((first, 1 / factor), (second, 1.0)), "first lower")


# Several groups --------------------------------------------------------------------------------------------


def _rates_only(*rates):
    return tuple(by_truth(0.5, rate, rate) for rate in rates)


def _odds(*odds):
    """Groups with (base rate, TPR, FPR)."""
    return tuple(by_truth(*group) for group in odds)


def _f1(*values):
    return tuple(by_union(0.3 + 0.1 * (i % 4), value, 0.5) for i, value in enumerate(values))


def family_cells():
    four = (60, 60, 60, 60)
    selection, odds, f1 = "selection_rate", "equalized_odds", "f1"
    bases = (0.2, 0.5, 0.3)
    designs = [
        ("3 groups, all equal", selection, (50, 200, 1000), _rates_only(0.3, 0.3, 0.3)),
        ("3 groups, two equal", selection, (50, 200, 1000), _rates_only(0.1, 0.1, 0.4)),
        ("3 groups, two equal, rare", selection, (30, 1000, 5000), _rates_only(0.003, 0.003, 0.5)),
        ("3 groups, two equal, rare, large", selection, (30, 10000, 10000), _rates_only(0.005, 0.005, 0.5)),
        # Every pattern in which some of four groups are equal.
        ("4 groups, all equal", selection, four, _rates_only(0.3, 0.3, 0.3, 0.3)),
        ("4 groups, three equal", selection, four, _rates_only(0.3, 0.3, 0.3, 0.55)),
        ("4 groups, two and two equal", selection, four, _rates_only(0.3, 0.3, 0.55, 0.55)),
        ("4 groups, two equal", selection, four, _rates_only(0.3, 0.3, 0.55, 0.8)),
        ("4 groups, three equal", selection, (30, 60, 120, 240), _rates_only(0.1, 0.1, 0.1, 0.4)),
        ("4 groups, two and two equal", selection, (30, 60, 120, 240), _rates_only(0.1, 0.4, 0.1, 0.4)),
        ("2 groups, both equal", odds, (200, 200), _odds((0.8, 0.9, 0.1), (0.2, 0.9, 0.1))),
        ("2 groups, TPR equal", odds, (200, 200), _odds((0.8, 0.9, 0.1), (0.2, 0.9, 0.4))),
        ("2 groups, both equal, unequal sizes", odds, (50, 1000), _odds((0.5, 0.9, 0.1), (0.3, 0.9, 0.1))),
        ("3 groups, all equal", odds, (100, 300, 600), _odds(*((b, 0.8, 0.1) for b in bases))),
        ("3 groups, two equal", odds, (100, 300, 600), _odds((0.2, 0.8, 0.1), (0.5, 0.8, 0.1), (0.3, 0.5, 0.3))),
        ("4 groups, three equal", odds, (100, 200, 300, 400),
         _odds((0.2, 0.8, 0.1), (0.5, 0.8, 0.1), (0.3, 0.8, 0.1), (0.4, 0.5, 0.3))),
        ("4 groups, two and two equal", odds, (100, 200, 300, 400),
         _odds((0.2, 0.8, 0.1), (0.5, 0.8, 0.1), (0.3, 0.5, 0.3), (0.4, 0.5, 0.3))),
        ("3 groups, all equal", f1, (50, 200, 1000), _f1(0.5, 0.5, 0.5)),
        ("3 groups, two equal", f1, (50, 200, 1000), _f1(0.5, 0.5, 0.7)),
    ]  # fmt: skip
    for label, metric, people, null in designs:
        cell = Cell(f"families/{metric}/{label}/{_sizes(people)}", "family", metric, people, null,
                    quick=people == (50, 200, 1000) and metric == selection)  # fmt: skip
        yield cell if cell.default == "shaffer" else replace(cell, data_sets=300)


def highest_cells():
    """Five equal groups, each against the one whose rate is the highest in the data."""
    for rate, people in ((0.3, (100,) * 5), (0.1, (40, 80, 160, 240, 320)), (0.6, (30,) * 5)):
        null = tuple(by_truth(0.5, rate, rate) for _ in people)
        yield Cell(f"highest/rate {rate:g}/{_sizes(people)}", "highest", "selection_rate", people, null, None, 500,
                   quick=people == (100,) * 5)  # fmt: skip


# What is promised of them ----------------------------------------------------------------------------------

#: Losses whose distribution is as skewed in both groups as a squared normal one, or less.
MILD = {("normal", "uniform"), ("Beta(2, 2)", "skewed Beta")}
#: Fewest people of a group for which the size of an approximate test is promised.
ENOUGH = 200


@dataclass(frozen=True)
class Bound:
    """What is promised of the default method's size: where, of the designs that it is about, and why not in all."""

    says: str
    most: float
    errors: int
    about: Callable[[Cell], bool]
    where: Callable[[Cell], bool] = lambda _: True
    why: str = ""


def has_exact_tests(cell):
    return cell.kind in ("rate", "grid", "highest", "family")


def has_approximate_tests(cell):
    return cell.kind in ("area", "table", "loss", "explained")


def has_enough_people(cell):
    mild = cell.kind != "loss" or tuple(law for law, _ in cell.null) in MILD
    return min(cell.people) >= ENOUGH and mild


BOUNDS = {
    "level": Bound(
        "size at most .05 and three Monte-Carlo errors: rates, F1 and equalized odds of two groups; familywise for 3 "
        "and 4 groups of which all or some are equal, and against the highest of five equal groups",
        ALPHA, 3, has_exact_tests,
    ),
    "near": Bound(
        "size at most .065: AUC, average precision, metrics of classes, R squared and losses, of "
        "at least 200 people per group; losses mildly skewed",
        0.065, 0, has_approximate_tests, has_enough_people,
        "The tests are approximate: in smaller groups a statistic rests on few people, errors or positives, and a mean "
        "of strongly skewed losses on the few largest, so that its standard error is often much too small",
    ),
}  # fmt: skip


@cache
def all_cells():
    """Every design, in the order in which they are shown."""
    makers = (
        rate_cells, grid_cells, family_cells, table_cells, class_cells, area_cells, shape_cells, number_cells,
        loss_cells, highest_cells,
    )  # fmt: skip
    return tuple(cell for maker in makers for cell in maker())
