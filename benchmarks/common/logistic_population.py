"""A population whose audit values are known: two groups of normal features, a logistic truth and a logistic model.

The first feature is what the fair metric leaves free, the others are held back. Along the flow of a logistic model a
person's place depends on the score at the start and on the label alone, so that every audit value is an integral over
the score, a mixture of two normal laws. It is computed by Gauss-Legendre's rule on panels, with the map of the package
itself at the nodes. Labels flip where the final score is 0: panels of error rates end there.
"""

import warnings
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from benchmarks.common.gradients import log_loss_gradient
from skfairtest import IndividualFairnessTest, Projection

#: Where scores end, in standard deviations; panels of the rule, and its nodes; nodes for the truth given the score.
REACH, PANELS, NODES, TRUTHS = 9, 30, 16, 80


@dataclass(frozen=True)
class Population:
    """Two groups, whose first feature is shifted, and labels that depend on the other features.

    Parameters
    ----------
    shift, spread : float
        Means of the first feature are -shift and shift, standard deviations of all features are `spread`.
    minority : float
        Share of the group with the larger mean.
    truth : tuple of float
        Of label 1: intercept, slope along the first feature, and along the second (in more dimensions along the mean
        direction of all but the first).
    n_features : int
        Features.
    """

    shift: float = 1.5
    spread: float = 0.25
    minority: float = 0.1
    truth: tuple[float, float, float] = (0.5, 0.0, 6.0)
    n_features: int = 2

    def along(self, first, second):
        """Return weights on the first feature and along the others."""
        others = np.full(self.n_features - 1, second / np.sqrt(self.n_features - 1))
        return np.concatenate([[first], others])

    def draw(self, n, rng):
        """Return features, labels and groups of n people."""
        group = rng.random(n) < self.minority
        X = rng.normal(0, self.spread, (n, self.n_features))
        X[:, 0] += np.where(group, self.shift, -self.shift)
        positive = expit(self.truth[0] + X @ self.along(*self.truth[1:]))
        return X, (rng.random(n) < positive).astype(int), group.astype(int)

    def laws(self, bias, first, second):
        """Yield share, shift of the first feature, mean and standard deviation of the score in each group."""
        spread = self.spread * np.hypot(first, second)
        for share, shift in ((1 - self.minority, -self.shift), (self.minority, self.shift)):
            yield share, shift, bias + first * shift, spread

    def positive(self, scores, shift, mean, first, second):
        """Return the probability of label 1 given the score, in the group with this shift and this mean score."""
        intercept, *slopes = self.truth
        size = first**2 + second**2
        together = slopes[0] * first + slopes[1] * second
        centre = intercept + slopes[0] * shift + together / size * (scores - mean)
        left = self.spread * np.sqrt(max(slopes[0] ** 2 + slopes[1] ** 2 - together**2 / size, 0.0))
        nodes, weights = np.polynomial.hermite_e.hermegauss(TRUTHS)
        return expit(centre[:, None] + left * nodes) @ weights / weights.sum()


@dataclass(frozen=True)
class Map:
    """An unfair map: weight of the fair distance, number and size of steps."""

    regularization: float = 45.0
    n_steps: int = 25
    step_size: float = 0.02

    def test(self, model, **params):
        """Return a test with this map; the first feature is free unless another metric is given."""
        given = {"regularization": self.regularization, "steps": (self.n_steps, self.step_size)}
        if isinstance(model, LogisticRegression):
            given["gradient"] = log_loss_gradient(model)
        free = {"fair_metric": first_free(model.n_features_in_)}
        return IndividualFairnessTest.as_published(model, **given | free | params)

    def moved(self, model, X, y, **params):
        """Return losses before and after, errors before and after, and the unfair examples."""
        with warnings.catch_warnings():
            # Nodes of an integral may lie as near to each other as floats do, and are moved away together.
            warnings.filterwarnings("ignore", message="unfair examples lie outside")
            test = self.test(model, statistic="ratio_of_means", **params).fit(X, y)
        losses = test.to_frame()[["loss_before", "loss_after"]].to_numpy().T
        wrong = np.array([model.predict(x) != y for x in (X, test.unfair_examples_)], dtype=float)
        return losses, wrong, test.unfair_examples_


@cache
def first_free(n_features):
    return Projection(np.eye(n_features)[:1]).fit(np.eye(n_features))


def logistic(bias, weights):
    """Return a logistic regression with these coefficients."""
    model = LogisticRegression()
    model.classes_, model.n_features_in_ = np.array([0, 1]), len(weights)
    model.coef_, model.intercept_ = np.array([weights], dtype=float), np.array([bias], dtype=float)
    return model


def rule(low, high):
    """Return nodes and weights of the panels between two ends."""
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    ends = np.linspace(low, high, PANELS + 1)
    half = np.diff(ends) / 2
    return np.ravel(ends[:-1, None] + half[:, None] * (nodes + 1)), np.ravel(half[:, None] * weights)


def normal(scores, mean, spread):
    return np.exp(-0.5 * ((scores - mean) / spread) ** 2) / (spread * np.sqrt(2 * np.pi))


class Truth:
    """Audit values of a logistic model of two features in a population.

    Parameters
    ----------
    population : Population
        The people; of more than two features only those along the weights count.
    unfair_map : Map
        The map.
    bias, first, second : float
        Of the model: intercept, weight of the free feature, and of what is held back.
    free : float, optional
        Squared length of the weights along what another metric leaves free; None: of the first feature.
    """

    def __init__(self, population, unfair_map, bias, first, second, free=None):
        self.population, self.map = population, unfair_map
        self.bias, self.weights = bias, (first, second)
        size = first**2 + second**2
        free = first**2 if free is None else min(free, size)
        # The map sees what is free of the weights and what is held back, wherever their directions point.
        self.turned = np.sqrt([free, size - free])
        self.model = logistic(bias, self.turned)

    def people(self, scores):
        """Return people who have these scores, in the turned features."""
        return np.outer(scores - self.bias, self.turned / (self.turned @ self.turned))

    def value(self, statistic):
        return self.error_rate_ratio() if statistic == "error_rate_ratio" else self._of_losses(statistic)

    def _of_losses(self, statistic):
        """Integrate over the score, both groups and both labels."""
        masses, scores, labels = [], [], []
        for share, shift, mean, spread in self.population.laws(self.bias, *self.weights):
            nodes, weights = rule(mean - REACH * spread, mean + REACH * spread)
            mass = share * weights * normal(nodes, mean, spread)
            positive = self.population.positive(nodes, shift, mean, *self.weights)
            masses += [mass * (1 - positive), mass * positive]
            scores += [nodes, nodes]
            labels += [np.zeros(len(nodes), dtype=int), np.ones(len(nodes), dtype=int)]
        mass = np.concatenate(masses)
        (before, after), _, _ = self.map.moved(
            self.model, self.people(np.concatenate(scores)), np.concatenate(labels)
        )  # fmt: skip
        if statistic == "loss_ratio":
            return float(mass @ (after / before))
        return float((mass @ after) / (mass @ before))

    def error_rate_ratio(self):
        return self._error_rate(*(self._flips(label) for label in (0, 1))) / self._error_rate(0.0, 0.0)

    def _flips(self, label):
        """Return the score from which on the map ends at a score above 0, by a grid that is refined."""
        laws = list(self.population.laws(self.bias, *self.weights))
        low = min(mean - REACH * spread for *_, mean, spread in laws)
        high = max(mean + REACH * spread for *_, mean, spread in laws)
        while high - low > 1e-12:
            scores = np.linspace(low, high, 2001)
            _, _, ended = self.map.moved(self.model, self.people(scores), np.full(len(scores), label))
            above = self.model.decision_function(ended) > 0
            assert (np.diff(above.astype(int)) >= 0).all()  # once above, always above
            assert above[-1]
            assert not above[0]
            first = int(np.argmax(above))
            low, high = scores[first - 1], scores[first]
        return (low + high) / 2

    def _error_rate(self, false_from, true_from):
        """Label 0 is wrong above one score, label 1 below another."""
        total = 0.0
        for share, shift, mean, spread in self.population.laws(self.bias, *self.weights):
            low, high = mean - REACH * spread, mean + REACH * spread
            from_here, up_to = np.clip([false_from, true_from], low, high)
            for start, end, label in ((from_here, high, 0), (low, up_to, 1)):
                nodes, weights = rule(start, end)
                positive = self.population.positive(nodes, shift, mean, *self.weights)
                mass = weights * normal(nodes, mean, spread)
                total += share * float(mass @ (positive if label else 1 - positive))
        return total


def weight_with(statistic, value, population, unfair_map, bias, second):
    """Return the smallest weight of the free feature with which the audit value is this one."""

    def lacking(first):
        return Truth(population, unfair_map, bias, first, second).value(statistic) - value

    previous = 0.0
    for first in np.arange(0.1, 4, 0.1):
        if lacking(first) > 0:
            assert lacking(previous) <= 0
            return float(brentq(lacking, previous, first, xtol=1e-12, rtol=1e-12))
        previous = first
    raise ValueError(f"no weight up to 4 has the {statistic} {value}")


#: The map, and the largest audit value of a model that is called fair, of nearly all designs.
MAP, TOLERANCE = Map(), 1.25


@dataclass(frozen=True)
class Design:
    """People and models: intercept, and weight of what the metric holds back; the free feature's makes the value."""

    name: str
    population: Population
    bias: float
    held: float

    def weight(self, statistic, value):
        return weight_with(statistic, value, self.population, MAP, self.bias, self.held)

    def model(self, weight):
        return logistic(self.bias, self.population.along(weight, self.held))

    def truth(self, weight, free=None):
        return Truth(self.population, MAP, self.bias, weight, self.held, free)
