"""The designs of the gauntlet: people between whose groups nothing differs that the tests of a design ask about.

A design is declared as data. From a declaration and a random generator come `People`: what a test of any kind may ask
for, in plain columns. `lacks` says of each question that a design cannot put why it cannot.
"""

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit

from benchmarks.common.cells import by_truth, scores
from benchmarks.common.inequality import INDICES, PREDICTED, TRUE
from benchmarks.common.logistic_population import Population

#: What tests ask about, in the words of their null hypotheses.
QUESTIONS = {
    "rates": "selection rates, and rates given the true label, are equal",
    "margins": "selection rates are at the edge of a margin",
    "labels": "true labels and predictions are distributed alike",
    "scored labels": "true labels and scores are distributed alike",
    "means": "mean predictions are equal",
    "losses": "mean losses are equal",
    "areas": "areas under the ROC curve are equal",
    "theil": "Theil's index is equal",
    "odds ratios": "odds ratios are the same in all strata",
    "subgroups, rates": "selection rates are equal in all subgroups",
    "subgroups, means": "mean predictions are equal in all subgroups",
    "changes, rates": "the change of the rate from one model to another is the same",
    "changes, means": "the change of the mean prediction is the same",
    "given covariates": "nothing differs given the covariates",
    "correlation": "predictions and the attribute are uncorrelated",
    "probabilities": "rates are equal, and groups are known by probabilities",
    "streams": "rates are equal, and samples arrive in an order",
    "individuals": "the audit value is the tolerance",
}


@dataclass(frozen=True)
class People:
    """Columns of one data set, a row per person; `group` holds numbers, of which the last is the reference.

    `rates`: the rates of predictions in the population, by group. `arrives`: the order of rows is that of arrival.
    `table`: probabilities of (true negative, false positive, false negative, true positive), where groups are alike.
    `individuals`: who a test of individual fairness is about.
    """

    group: np.ndarray
    y_true: np.ndarray
    y_pred: np.ndarray
    y_pred_b: np.ndarray
    value: np.ndarray
    value_b: np.ndarray
    score: np.ndarray
    probabilities: np.ndarray
    attribute: np.ndarray
    covariates: dict
    features: dict
    rates: np.ndarray
    table: tuple
    weight: np.ndarray | None = None
    clusters: np.ndarray | None = None
    strata: np.ndarray | None = None
    arrives: bool = False
    individuals: Population | None = None

    @cached_property
    def labels(self):
        """Names of the groups, person by person, in the order of their numbers."""
        return np.array(list("abcdefghijklmnopqrstuvwxyz"))[self.group]

    @property
    def names(self):
        return np.unique(self.labels).tolist()


@dataclass(frozen=True)
class Design:
    """One design, of which everything that is not said is ordinary.

    Parameters
    ----------
    name, says : str
        What it is called, and described as.
    sizes : tuple of int
        People by group.
    rate : float
        Of positive predictions, in all groups.
    base : tuple of float
        Shares of positive true labels, by group; of the groups after the second as of the second.
    agreement : float
        Where base rates are equal: how far predictions and true labels are of one origin.
    tables : tuple, optional
        Probabilities of (true negative, false positive, false negative, true positive) by group, instead of these.
    shapes : tuple of str
        Distributions of numeric predictions (see `SHAPES`), by group.
    changed : tuple of float
        Shares whom the second model judges differently, by group, as many upwards as downwards.
    raised : float
        Share of the negative predictions that the second model turns positive, in all groups.
    area, spread : float, tuple of float
        Area under the ROC curve, and standard deviations of scores of positives, by group.
    sure : float
        The probability of a person's own group.
    strata : int or tuple of int
        How many people of each group are in a stratum; 0: there are none.
    clusters : tuple of int
        Clusters by group; (): there are none.
    weights : tuple of float
        Means of the logarithms of the weights of positive and negative predictions, and their standard deviation.
    covariates : {"noise", "constant", "smooth", "checkerboard", "product"}
        "noise": independent of everything. The last three: group and prediction depend on them alike.
    attribute : {"group", "noise", "constant", "skewed"}
        The continuous attribute: the group's number and a normal variable, long-tailed noise, always the same, or the
        size of a normal variable, by which skewed numeric predictions are multiplied.
    n_features : int
        Further features of subgroups, which are noise.
    arrival : {"mixed", "turns"}
        "turns": people of the first group come until one of them is selected, then one of the second.
    individuals : Population, optional
        The people of a test of individual fairness.
    friendly : bool
        Whether a caution would be out of place.
    approximate : bool
        Whether sizes up to .07 are allowed.
    lacks : dict
        Questions that it does not put, and why.
    """

    name: str
    says: str
    sizes: tuple = (200, 400)
    rate: float = 0.3
    base: tuple = (0.5, 0.5)
    agreement: float = 0.6
    tables: tuple = ()
    shapes: tuple = ("normal", "normal")
    changed: tuple = (0.1, 0.1)
    raised: float = 0.0
    area: float = 0.8
    spread: tuple = (1.0, 1.0)
    sure: float = 0.9
    strata: int | tuple = 0
    clusters: tuple = ()
    weights: tuple = ()
    covariates: str = "noise"
    attribute: str = "group"
    n_features: int = 2
    arrival: str = "mixed"
    individuals: Population | None = None
    friendly: bool = False
    approximate: bool = False
    lacks: dict = field(default_factory=dict)

    def why_not(self, question):
        """Say why the design does not put a question; None where it does."""
        if question in self.lacks:
            return self.lacks[question]
        if question == "individuals" and self.individuals is None:
            return "says nothing of models of features"
        if question in ("labels", "scored labels", "theil") and len(set(self.base)) > 1:
            return "base rates differ"
        if question == "scored labels" and len(set(self.spread)) > 1:
            return "scores are spread differently"
        if question == "losses" and any(shape.startswith("sparse") for shape in self.shapes):
            return "values that may be negative are no losses"
        if question == "odds ratios" and not self.strata:
            return "has no strata"
        return None

    def drawn(self, rng, factor=1.0):
        """Draw one data set; `factor` multiplies the rate of predictions of the first group."""
        group = np.repeat(np.arange(len(self.sizes)), self.sizes)
        n, second = len(group), np.minimum(group, 1)
        rate, own = self._rates(group, rng)
        rate = np.where(group == 0, self._multiplied(rate, factor), rate)
        base = np.array(self.base)[second]
        covariates, group, rate = self._covariates(group, rate, rng)
        origin = rng.random(n)
        alike = rng.random(n) < (self.agreement if len(set(self.base)) == 1 else 0.0)
        y_true, y_pred = origin < base, np.where(alike, origin, rng.random(n)) < rate
        if self.tables:
            cells = (rng.random(n)[:, None] > np.cumsum(self.tables, axis=1)[second]).sum(axis=1)
            y_true, y_pred = cells >= 2, cells % 2 == 1
        if self.arrival == "turns":
            group, y_pred = in_turn(group, y_pred)
        second = np.minimum(group, 1)
        value = self._values(second, y_pred, rng) + 0.3 * own
        turned = rng.random(n) < np.array(self.changed)[second] / 2 / np.where(y_pred, rate, 1 - rate).clip(1e-9)
        if self.raised:
            turned |= ~y_pred & (rng.random(n) < self.raised)
        moved = rng.choice([-1.0, 1.0], n) * (rng.random(n) < np.array(self.changed)[second])
        weight = None
        if self.weights:
            above, below, sd = self.weights
            weight = np.exp(np.where(y_pred, above, below) + sd * rng.normal(size=n))
        population = np.full(len(self.sizes), self._weighted(self.rate))
        population[0] *= factor
        people = People(
            group=group, y_true=y_true.astype(int), y_pred=y_pred.astype(int),
            y_pred_b=np.where(turned, ~y_pred, y_pred).astype(int), value=value, value_b=value + moved,
            score=self._scores(y_true, second, rng), probabilities=self._probabilities(group),
            attribute=self._attribute(second, rng), covariates=covariates,
            features={f"f{i + 1}": rng.integers(0, 2 + i % 2, n) for i in range(self.n_features)}, rates=population,
            table=self._table(),
            weight=weight, arrives=self.arrival == "turns", individuals=self.individuals,
            clusters=self._clusters() if self.clusters else None, strata=self._strata() if self.strata else None,
        )  # fmt: skip
        if self.attribute == "skewed":
            return replace(people, value=people.attribute * (rng.normal(size=n) ** 2 - 1))
        return people

    def _table(self):
        base, both = self.base[0], self.agreement * min(self.base[0], self.rate)
        both += (1 - self.agreement) * base * self.rate
        return (1 - base - self.rate + both, self.rate - both, base - both, both)

    def _odds(self):
        """How much more the weights of positive predictions are on average."""
        return np.exp(self.weights[0] - self.weights[1]) if self.weights else 1.0

    def _weighted(self, rate):
        """The rate with weights, given that without them."""
        return rate * self._odds() / (rate * self._odds() + 1 - rate)

    def _multiplied(self, rate, factor):
        """The rate without weights at which that with weights is multiplied."""
        weighted = factor * self._weighted(rate)
        return weighted / (weighted + self._odds() * (1 - weighted))

    def _strata(self):
        people = self.strata if isinstance(self.strata, tuple) else (self.strata,) * len(self.sizes)
        return np.concatenate([np.arange(size) // each for size, each in zip(self.sizes, people, strict=True)])

    def _clusters(self):
        first = np.cumsum((0, *self.clusters))
        return np.concatenate([
            start + np.arange(size) * number // size
            for start, size, number in zip(first, self.sizes, self.clusters, strict=False)
        ])  # fmt: skip

    def _rates(self, group, rng):
        """Rates person by person, and what else a stratum or cluster adds to numbers."""
        if self.strata:
            place = self._strata()
            own = rng.uniform(-1, 1, place.max() + 1)[place]
            return self.rate * (1 + 0.7 * own), own
        if self.clusters:
            place = self._clusters()
            share = rng.beta(self.rate * 5, (1 - self.rate) * 5, place.max() + 1)
            return share[place], (share[place] - self.rate) / np.sqrt(self.rate * (1 - self.rate) / 6)
        return np.full(len(group), self.rate), np.zeros(len(group))

    def _covariates(self, group, rate, rng):
        """Draw covariates, and groups and rates where these depend on them."""
        X = rng.normal(size=(3, len(group)))
        x, z, v = X
        if self.covariates == "constant":
            z = np.ones(len(group))
        if self.covariates == "smooth":
            group, rate = (rng.random(len(group)) > expit(x)).astype(int), expit(x + z / 2 - 0.5)
        if self.covariates in ("checkerboard", "product"):
            high = (np.floor(x) + np.floor(z)) % 2 == 0 if self.covariates == "checkerboard" else x * z * v > 0
            group = (rng.random(len(group)) > np.where(high, 0.75, 0.25)).astype(int)
            rate = np.where(high, 0.7, 0.3)
        return {"x": x, "z": z, "v": v}, group, rate

    def _values(self, second, y_pred, rng):
        if "weights" in self.shapes:  # numbers that the weights follow as well
            return 1 + y_pred + 0.2 * rng.normal(size=len(second))
        drawn = [SHAPES[shape](rng, len(second), y_pred) for shape in self.shapes]
        return np.where(second == 0, *drawn)

    def _scores(self, y_true, second, rng):
        """Probabilities with the same area in all groups."""
        places = np.array([scores(0.5, self.area, spread)[1:] for spread in self.spread])
        mean, spread, _ = places[second].T
        z = rng.normal(size=len(second))
        return expit(np.where(y_true, mean + spread * z, z) - mean / 2)

    def _probabilities(self, group):
        many = len(self.sizes)
        return np.where(np.eye(many)[group] > 0, self.sure, (1 - self.sure) / (many - 1))

    def _attribute(self, second, rng):
        if self.attribute == "constant":
            return np.ones(len(second))
        if self.attribute == "skewed":
            return np.abs(rng.normal(size=len(second)))
        return rng.standard_t(2, len(second)) if self.attribute == "noise" else second + rng.normal(size=len(second))


def in_turn(group, y_pred):
    """Order people so that those of the first group come until one is selected, and then one of the second group."""
    first, second = (y_pred[group == number] for number in (0, 1))
    turn = np.append(0, np.cumsum(first)[:-1])  # how many of the first group were selected before
    both = np.repeat([0, 1], [len(first), len(second)])
    order = np.lexsort((both, np.append(turn, np.arange(len(second)))))  # within a turn people stay in their order
    return both[order], np.append(first, second)[order]


#: Distributions of numbers; all but the sparse ones have mean 1, and these mean 0.
SHAPES = {
    "normal": lambda rng, n, y_pred: 1 + 0.2 * rng.normal(size=n),
    "uniform": lambda rng, n, y_pred: 2 * rng.random(n),
    "log-normal": lambda rng, n, y_pred: np.exp(rng.normal(size=n) - 0.5),
    "events": lambda rng, n, y_pred: y_pred * 1.0,
    "sparse .3": lambda rng, n, y_pred: rng.choice([-1.0, 1.0], n) * (rng.random(n) < 0.3),
    "sparse .004": lambda rng, n, y_pred: rng.choice([-1.0, 1.0], n) * (rng.random(n) < 0.004),
}


def errors_of_two_kinds():
    """One group whose errors are misses, and one whose errors are false alarms, with equal Theil indices."""
    missing = by_truth(0.5, 0.94, 0.0)
    theil = INDICES["theil_index"]
    value = theil(TRUE, PREDICTED, np.array(missing))
    fpr = brentq(lambda fpr: theil(TRUE, PREDICTED, np.array(by_truth(0.5, 1.0, fpr))) - value, 0.001, 0.3)
    return missing, by_truth(0.5, 1.0, float(fpr))


NUMBERS = ("means", "subgroups, means", "changes, means", "correlation")


def only(*questions, because="is ordinary in what this test asks about"):
    """What a design lacks that puts these questions alone."""
    return dict.fromkeys([question for question in QUESTIONS if question not in questions], because)


RARE = Population(truth=(-4.0, 1.0, 4.0))
DESIGNS = (
    Design("ordinary", "200 and 400 people, rates of 30%", individuals=Population(minority=0.3, truth=(0.0, 1.0, 4.0)),
           friendly=True),
    Design("three groups", "150, 250 and 400 people", (150, 250, 400), friendly=True),
    Design("weights by chance", "log-normal(.5) weights that follow nothing", (600, 1200), weights=(0.0, 0.0, 0.5),
           shapes=("weights", "weights"), friendly=True),
    Design("smooth confounding", "group and prediction depend on a covariate smoothly", (300, 300),
           covariates="smooth", friendly=True,
           lacks=only("given covariates", because="groups differ before adjustment")),
    Design("rare events", "50 against 1,000 people, rates of 1%", (50, 1000), rate=0.01, base=(0.1, 0.1),
           shapes=("events", "events"), changed=(0.01, 0.01), individuals=RARE),
    Design("1:100 groups", "30 against 3,000 people, rates of 5%, base rates .7 and .3", (30, 3000), rate=0.05,
           base=(0.7, 0.3), shapes=("uniform", "uniform"), changed=(0.05, 0.05),
           individuals=Population(minority=0.01, truth=(0.0, 1.0, 4.0))),
    Design("sparse disagreement", "30 people of whom 30% differ, 3,000 of whom .4% do", (30, 3000),
           shapes=("sparse .3", "sparse .004"), changed=(0.3, 0.004),
           lacks=only(*NUMBERS, "changes, rates")),
    Design("nearly everybody changes", "the second model selects 99.84% of 110 and 5,000 people, the first .1%",
           (110, 5000), rate=0.001, changed=(0.0, 0.0), raised=0.9994, lacks=only("changes, rates")),
    Design("unequal shapes", "uniform and normal numbers of equal mean, 40 and 400 people, base rates .7 and .3",
           (40, 400), base=(0.7, 0.3), shapes=("uniform", "normal"),
           lacks=only(*NUMBERS, "losses")),
    Design("unequal skewed shapes", "log-normal and normal numbers of equal mean, 40 and 400 people", (40, 400),
           shapes=("log-normal", "normal"),
           lacks=only(*NUMBERS, "losses")),
    Design("near-separated scores", "areas of .99, positives' scores three times as wide in the smaller group",
           (100, 1000), area=0.99, spread=(3.0, 1.0), individuals=Population(truth=(0.0, 8.0, 24.0)),
           lacks=only("areas", "scored labels", "individuals")),
    Design("weights that follow the outcome", "events weighted log-normal(1.5, 1), others log-normal(0, 1),"
           " rates of 10%", (100, 400), rate=0.1, weights=(1.5, 0.0, 1.0), shapes=("weights", "weights")),
    Design("weights that follow the outcome, many people", "as above, 400 against 1,600 people", (400, 1600), rate=0.1,
           weights=(1.5, 0.0, 1.0),
           lacks=only("margins", because="is as with fewer people")),
    Design("matched pairs", "100 strata of 1 + 1", (100, 100), strata=1, changed=(0.5, 0.5)),
    Design("strata of two", "60 strata of 2 + 2", (120, 120), strata=2, changed=(0.5, 0.5)),
    Design("strata of 2 and 3", "8 strata of 2 + 3 people, rates of 50%", (16, 24), rate=0.5, strata=(2, 3),
           lacks=only("rates", "margins")),
    Design("few clusters", "6 clusters of 20 people against 60 of 10", (120, 600), clusters=(6, 60)),
    Design("20 and 40 clusters", "of 10 people", (200, 400), clusters=(20, 40), approximate=True),
    Design("many small groups", "1,000 people and 11 groups of 50, rates of .05%, base rates of 1%",
           (50,) * 11 + (1000,), rate=0.0005, base=(0.01, 0.01), shapes=("events", "events"), changed=(0.0005, 0.0005)),
    Design("probabilities near 0 and 1", "of .99 and .01, 15 and 500 people, rates of 5%", (15, 500), rate=0.05,
           changed=(0.05, 0.05), sure=0.99,
           lacks=only("probabilities")),
    Design("hardly any error", "2 errors in 1,000 predictions, 80 and 120 people", (80, 120), base=(0.3, 0.3),
           agreement=0.995,
           lacks=only("rates", "margins", "labels", "scored labels", "theil")),
    Design("errors of two kinds", "misses in one group, false alarms in the other, equal Theil indices", (50, 1000),
           tables=errors_of_two_kinds(), lacks=only("theil", because="rates differ")),
    Design("arrival that follows outcomes", "people of one group until one is selected, then one of the other",
           (450, 150), arrival="turns", lacks=only("streams", because="the order of people is no part of the test")),
    Design("noise", "a long-tailed attribute, and six features on which nothing depends", (200, 400),
           attribute="noise", n_features=6,
           lacks=only("subgroups, rates", "subgroups, means", "correlation")),
    Design("constant", "a covariate and an attribute that are the same for everyone", covariates="constant",
           attribute="constant",
           lacks=only("given covariates", "correlation")),
    Design("skewed errors that grow", "the size of a normal variable, which multiplies skewed predictions", (50, 50),
           attribute="skewed", lacks=only("correlation")),
    Design("checkerboard", "group and prediction depend on the parity of two covariates", (400, 400),
           covariates="checkerboard", lacks=only("given covariates", because="groups differ before adjustment")),
    Design("product of three", "group and prediction depend on the sign of a product of three covariates", (400, 400),
           covariates="product", lacks=only("given covariates", because="groups differ before adjustment")),
)  # fmt: skip
