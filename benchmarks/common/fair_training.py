"""The four models of Maity et al. (2021): a network, one after projection, reductions, and SenSR.

All are passed as fitted scikit-learn classifiers, whose losses `benchmarks.common.gradients` differentiates. Networks
have one hidden layer of rectified linear units. The authors give them two softmax outputs, of which only the difference
matters: the one output here is that difference. Under Adam each of the two moves by the same amount in opposite
directions, so the one output learns at twice the rate; nothing else changes.

SenSR (Yurochkin, Bower and Sun, 2020, "Training individually fair ML models with sensitive subspace robustness") trains
on people moved to where the loss is higher: first within the sensitive subspace, which costs nothing, then anywhere at
a price that keeps the mean squared fair distance near a radius.
"""

import warnings
from dataclasses import dataclass

import numpy as np
from fairlearn.reductions import EqualizedOdds, ExponentiatedGradient
from sklearn.base import clone
from sklearn.ensemble import VotingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.utils.class_weight import compute_sample_weight


@dataclass(frozen=True)
class SenSR:
    """Hyper-parameters of SenSR: of the training, of the two attacks, and the price of distance with its radius."""

    steps: int
    rate: float
    subspace_rate: float
    full_steps: int
    full_rate: float
    per_class: int = 500
    units: int = 100
    subspace_steps: int = 10
    price: float = 2.0
    radius: float = 1e-3


#: The authors', but for the attack anywhere: theirs takes 50 steps of 1e-4 on Adult and 8 on COMPAS, and here it is one
#: that goes as far. (Their demonstration on Adult takes 2,000 steps.)
SENSR = {
    "adult": SenSR(steps=20_000, rate=1e-5, subspace_rate=10.0, full_steps=1, full_rate=5e-3),
    "compas": SenSR(steps=16_000, rate=1e-4, subspace_rate=0.1, full_steps=1, full_rate=8e-4),
}
#: The regression that tells who is who, computed well: with scikit-learn's default tolerance its coefficients are not
#: those of the optimum where columns are one-hot, and fair metrics are another 20 to 60 degrees away.
REGRESSION = LogisticRegression(solver="newton-cholesky", tol=1e-10)


class Adam:
    """Adam (Kingma and Ba, 2015) on a list of arrays, which it changes in place."""

    def __init__(self, arrays, epsilon=1e-7):
        self.arrays = arrays
        self.epsilon = epsilon
        self.first = [np.zeros_like(a) for a in arrays]
        self.second = [np.zeros_like(a) for a in arrays]
        self.steps = 0

    def step(self, gradients, rates):
        """Go down the gradients, each at its rate."""
        self.steps += 1
        correction = np.sqrt(1 - 0.999**self.steps) / (1 - 0.9**self.steps)
        for array, first, second, gradient, rate in zip(
            self.arrays, self.first, self.second, gradients, rates, strict=True
        ):
            first += 0.1 * (gradient - first)
            second += 0.001 * (gradient * gradient - second)
            array -= rate * correction * first / (np.sqrt(second) + self.epsilon)


class Network:
    """One hidden layer of rectified linear units, and a logit."""

    def __init__(self, n_features, n_units, rng, bias=0.0):
        def uniform(n_in, n_out):
            return rng.uniform(-1, 1, (n_in, n_out)) * np.sqrt(6 / (n_in + n_out))

        both = uniform(n_units, 2)
        self.first = uniform(n_features, n_units).astype(np.float32)
        self.first_bias = np.full(n_units, bias, dtype=np.float32)
        self.last = (both[:, 1] - both[:, 0]).astype(np.float32)
        self.last_bias = np.zeros(1, dtype=np.float32)
        self.adam = Adam([self.first, self.first_bias, self.last, self.last_bias])

    def hidden(self, X):
        return X @ self.first + self.first_bias

    def residual(self, hidden, y):
        """Return the slope of the loss in the logit."""
        logit = np.maximum(hidden, 0) @ self.last + self.last_bias
        return 1 / (1 + np.exp(-np.clip(logit, -80, 80))) - y

    def losses(self, hidden, y):
        logit = np.maximum(hidden, 0) @ self.last + self.last_bias
        return np.logaddexp(0, np.where(y == 1, -logit, logit))

    def slopes(self, hidden, y, through):
        """Return the slopes of the losses in what moves the hidden units by `through`, of shape (k, n_units)."""
        active = (hidden > 0).astype(through.dtype)
        return self.residual(hidden, y)[:, None] * (active @ (self.last[:, None] * through.T))

    def learn(self, X, y, rate):
        """Take one step of Adam on the mean loss of these people."""
        hidden = self.hidden(X)
        residual = self.residual(hidden, y) / len(y)
        slopes = (hidden > 0) * (residual[:, None] * self.last)
        gradients = [X.T @ slopes, slopes.sum(axis=0), np.maximum(hidden, 0).T @ residual, residual.sum(keepdims=True)]
        self.adam.step(gradients, [rate, rate, 2 * rate, 2 * rate])

    def classifier(self, X, y):
        """Return the network as a fitted scikit-learn classifier."""
        model = MLPClassifier(hidden_layer_sizes=(len(self.last),), random_state=0)
        model.partial_fit(X[:2], y[:2], classes=[0, 1])  # gives it its attributes; what it learns is replaced
        model.coefs_ = [self.first.astype(float), self.last[:, None].astype(float)]
        model.intercepts_ = [self.first_bias.astype(float), self.last_bias.astype(float)]
        return model


def balanced_batches(y, per_class, n_batches, rng):
    """Draw as many people of either class for each batch."""
    classes = [np.flatnonzero(y == label) for label in (0, 1)]
    for _ in range(n_batches):
        yield np.concatenate([rng.choice(people, per_class) for people in classes])


def baseline(X, y, seed, steps=8000, rate=1e-4, per_class=125, units=50):
    """Train the network that knows of no fairness."""
    rng = np.random.default_rng(seed)
    network = Network(X.shape[1], units, rng)
    narrow = X.astype(np.float32)
    labels = y.astype(np.float32)
    for rows in balanced_batches(y, per_class, steps, rng):
        network.learn(narrow[rows], labels[rows], rate)
    return network.classifier(X, y)


def project(X, y, seed, subspace, **options):
    """Train the same network on what a fitted sensitive subspace leaves of the features."""
    return make_pipeline(subspace, baseline(subspace.transform(X), y, seed, **options))


class BalancedLogisticRegression(LogisticRegression):
    """Logistic regression whose classes weigh the same whatever the weights of people.

    So did ``class_weight="balanced"`` when the paper was written; in newer releases of scikit-learn people's weights
    count as well, and with the weights of reductions, which are far from equal, other models result.
    """

    def fit(self, X, y, sample_weight=None):
        """Fit with people's weights times the inverse shares of their classes."""
        balance = compute_sample_weight("balanced", y)
        return super().fit(X, y, balance if sample_weight is None else balance * sample_weight)


#: What reductions train, and the violation of equalized odds that they may leave. On COMPAS the paper says .16 and
#: balanced classes; with .05 and classes as they are, what is trained is what the authors' files of models hold, and
#: groups are about as equal as in their table, which they are not with .16.
REDUCTIONS = {
    "adult": (BalancedLogisticRegression(solver="liblinear"), 0.03),
    "compas": (LogisticRegression(solver="liblinear"), 0.05),
    "compas as printed": (BalancedLogisticRegression(solver="liblinear"), 0.16),
}


def reductions(X, y, crossed, regression, tolerance):
    """Train fairlearn's reductions with equalized odds of four groups; the mixture of its models' probabilities.

    The mixture, rather than the randomised classifier, is what has a gradient and what the authors audit.
    """
    model = ExponentiatedGradient(regression, EqualizedOdds(difference_bound=tolerance), eps=tolerance)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of pandas, about fairlearn's code
        model.fit(X, y, sensitive_features=crossed)
    kept = model.weights_[model.weights_ > 0]
    members = [(f"model_{position}", FrozenEstimator(model.predictors_[position])) for position in kept.index]
    return VotingClassifier(members, voting="soft", weights=kept.to_numpy()).fit(X, y)


def sensitive_directions(X, groups, columns, regression=REGRESSION):
    """Return the coefficients that predict each sensitive feature without the columns that are sensitive, and these."""
    others = [position for position in range(X.shape[1]) if position not in columns]
    directions = np.zeros((groups.shape[1], X.shape[1]))
    for direction, labels in zip(directions, groups.to_numpy().T, strict=True):
        direction[others] = clone(regression).fit(X[:, others], labels).coef_[0]
    return np.concatenate([directions, np.eye(X.shape[1])[columns]])


def sensr(X, y, seed, directions, options):
    """Train SenSR with the sensitive subspace spanned by the rows of `directions`."""
    rng = np.random.default_rng(seed)
    network = Network(X.shape[1], options.units, rng, bias=0.1)
    basis = np.linalg.svd(directions, full_matrices=False)[2]
    fair = (np.eye(X.shape[1]) - basis.T @ basis).astype(np.float32)
    directions = directions.astype(np.float32)
    narrow = X.astype(np.float32)
    labels = y.astype(np.float32)
    full_rate, price = options.full_rate, options.price
    for rows in balanced_batches(y, options.per_class, options.steps, rng):
        start, label = narrow[rows], labels[rows]
        moved = start + attack_subspace(network, start, label, directions, options)
        found, distance = attack(network, moved, label, fair, price, full_rate, options.full_steps)
        if found is None:
            full_rate *= 0.999
            continue
        network.learn(found, label, options.rate)
        worse, better = max(distance, options.radius), min(distance, options.radius)
        price = min(max(price + worse / better * (distance - options.radius), 1e-5), 10.0)
    return network.classifier(X, y)


def attack_subspace(network, X, y, directions, options):
    """Return the moves along the sensitive directions that raise the losses, or none if the mean loss does not rise."""
    start = network.hidden(X)
    before = network.losses(start, y).mean()
    lengths = np.zeros((len(X), len(directions)), dtype=np.float32)
    adam = Adam([lengths], epsilon=1e-8)
    through = directions @ network.first
    for _ in range(options.subspace_steps):
        adam.step([-network.slopes(start + lengths @ through, y, through) / len(y)], [options.subspace_rate])
    if network.losses(start + lengths @ through, y).mean() < before:
        lengths[:] = 0
    return lengths @ directions


def attack(network, start, y, fair, price, rate, steps):
    """Return people moved anywhere at a price and their mean squared fair distance, or None if it does not pay."""

    def gain():
        return network.losses(network.hidden(start + move), y).mean() - price * distance()

    def distance():
        return float(((move @ fair) ** 2).sum(axis=1).mean())

    move = np.zeros_like(start)
    adam = Adam([move], epsilon=1e-8)
    before = gain()
    for _ in range(steps):
        rise = network.slopes(network.hidden(start + move), y, network.first) - 2 * price * move @ fair
        adam.step([-rise / len(y)], [rate])
    return (None, 0.0) if gain() < before else (start + move, distance())
