"""fairlearn's mitigators as models with probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.ensemble import VotingClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import LabelEncoder

from skfairtest._utils.errors import ParameterError
from skfairtest.individual.models.affine import derives
from skfairtest.readers.levels import listed, plain_scalar
from skfairtest.readers.predictions import ask, path_of, transformers_of


class Thresholds:
    """The average prediction of a ``ThresholdOptimizer``: each group's mixture of two thresholds on one score.

    Parameters
    ----------
    optimizer : ThresholdOptimizer
        A fitted one.
    """

    #: Its probabilities are 0, 1 and what mixes two thresholds: log losses would be infinite.
    default_loss = "zero_one_loss"

    def __init__(self, optimizer: Any) -> None:
        self.estimator_ = optimizer.estimator_
        self.rules = dict(optimizer.interpolated_thresholder_.interpolation_dict)
        known = ("predict_proba", "decision_function", "predict")
        asked = optimizer.predict_method
        self.response = asked if asked != "auto" else next(name for name in known if hasattr(self.estimator_, name))
        self.classes_ = np.array([0, 1])

    def predict_proba(self, X: Any, *, sensitive_features: Any) -> NDArray[np.float64]:
        """Return the probabilities of both labels, given everybody's group."""
        return self.from_scores(ask(self.estimator_, self.response, X), sensitive_features)

    def from_scores(self, said: NDArray[Any], sensitive_features: Any) -> NDArray[np.float64]:
        """Return the probabilities of both labels, given the scores that the thresholds apply to."""
        scores = np.asarray(said, dtype=float)
        scores = scores[:, 1] if scores.ndim == 2 else scores
        groups = np.asarray(sensitive_features, dtype=object)
        unknown = sorted({str(group) for group in groups} - {str(group) for group in self.rules})
        if unknown:
            raise ParameterError(
                f"sensitive_features holds {listed(unknown)}, and estimator=ThresholdOptimizer() has thresholds for "
                f"{listed(self.rules)}"
            )
        positive = np.zeros(len(scores))
        for group, rule in self.rules.items():
            there = groups.astype(str) == str(group)
            found = rule.p0 * rule.operation0(scores) + rule.p1 * rule.operation1(scores)
            if "p_ignore" in rule:
                found = rule.p_ignore * rule.prediction_constant + (1 - rule.p_ignore) * found
            positive[there] = found[there]
        positive = np.clip(positive, 0.0, 1.0)
        return np.column_stack([1.0 - positive, positive])

    def predict(self, X: Any, *, sensitive_features: Any) -> NDArray[np.intp]:
        """Return the likelier label."""
        return np.asarray(self.predict_proba(X, sensitive_features=sensitive_features).argmax(axis=1), dtype=np.intp)


def stand_in(estimator: Any) -> Any:
    """Return an object with the probabilities of a mitigator, also at the end of a pipeline; other models as they are.

    An ``ExponentiatedGradient`` samples one of its predictors for each prediction: its probability is their weighted
    mean.

    Parameters
    ----------
    estimator : object
        A fitted estimator.

    Raises
    ------
    ValueError
        If the predictors have no probabilities.
    """
    path = path_of(estimator)
    model, steps = path[-1], transformers_of(path)
    if derives(model, "fairlearn", "ThresholdOptimizer") and hasattr(model, "interpolated_thresholder_"):
        thresholds = Thresholds(model)
        thresholds.estimator_ = make_pipeline(*steps, thresholds.estimator_) if steps else thresholds.estimator_
        return thresholds
    if derives(model, "fairlearn", "ExponentiatedGradient") and hasattr(model, "predictors_"):
        return make_pipeline(*steps, _mixture(model)) if steps else _mixture(model)
    return estimator


def _mixture(model: Any) -> VotingClassifier:
    """Return the soft vote that equals an ``ExponentiatedGradient`` on average."""
    weights = np.asarray(model.weights_, dtype=float)
    kept = np.flatnonzero(weights > 0)
    members = [pd.Series(model.predictors_).iloc[place] for place in kept.tolist()]
    lacking = sorted({type(member).__name__ for member in members if not hasattr(member, "predict_proba")})
    if lacking:
        raise ParameterError(
            f"estimator=ExponentiatedGradient() has predictors without predict_proba ({listed(lacking)}): mitigate a "
            "model that has it"
        )
    labels = sorted({plain_scalar(label) for member in members for label in member.classes_})
    full = [member for member in members if len(member.classes_) == len(labels)]
    classes = full[0].classes_ if full else np.array(labels)
    mixture = VotingClassifier([(f"predictor {place}", member) for place, member in zip(kept, members, strict=True)])
    mixture.set_params(voting="soft", weights=weights[kept])
    whole = len(classes)
    mixture.estimators_ = [one if len(one.classes_) == whole else _Sure(one, classes) for one in members]
    mixture.le_, mixture.classes_ = LabelEncoder().fit(classes), np.asarray(classes)
    return mixture


class _Sure:
    """A predictor of one label only, in the columns of all labels."""

    def __init__(self, member: Any, classes: Any) -> None:
        self.member, self.classes_ = member, np.asarray(classes)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return probabilities of all labels."""
        found = np.zeros((len(X), len(self.classes_)))
        found[:, np.isin(self.classes_, self.member.classes_)] = self.member.predict_proba(X)
        return found
