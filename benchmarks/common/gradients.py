"""The derivative of the log loss of the models that are reproduced: differences take 12 to 50 times as long."""

import numpy as np
from sklearn.ensemble import VotingClassifier
from sklearn.pipeline import Pipeline


def log_loss_gradient(model):
    """Return ``gradient(X, y)`` of a model of two classes, as `IndividualFairnessTest` takes it."""

    def gradient(X, y):
        X = np.asarray(X, dtype=float)
        residual = model.predict_proba(X)[:, 1] - (y == model.classes_[1])
        return residual[:, None] * slopes_of_logit(model, X)

    return gradient


def slopes_of_logit(model, X):
    """Return the derivative of the logit of the second class: linear steps, votes, perceptrons of one hidden layer."""
    if isinstance(model, Pipeline):
        front, d = model[:-1], X.shape[1]
        matrix = front.transform(np.eye(d)) - front.transform(np.zeros((1, d)))
        return slopes_of_logit(model[-1], front.transform(X)) @ matrix.T
    if isinstance(model, VotingClassifier):
        weights = np.asarray(model.weights, dtype=float)
        shares = np.array([member.predict_proba(X)[:, 1] for member in model.estimators_])
        p = model.predict_proba(X)[:, 1]
        parts = weights[:, None] / weights.sum() * shares * (1 - shares) / (p * (1 - p))
        each = [slopes_of_logit(member, X) for member in model.estimators_]
        return sum(part[:, None] * slopes for part, slopes in zip(parts, each, strict=True))
    if hasattr(model, "coef_"):
        return np.broadcast_to(model.coef_, X.shape)
    (first, last), (bias, _) = model.coefs_, model.intercepts_
    return ((X @ first + bias > 0) * last[:, 0]) @ first.T
