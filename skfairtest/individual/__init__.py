"""Individual fairness: does a model treat similar people differently."""

from skfairtest.individual.fair_metrics import Mahalanobis, Projection, SensitiveSubspace
from skfairtest.individual.fairness import IndividualFairnessTest

__all__ = ["IndividualFairnessTest", "Mahalanobis", "Projection", "SensitiveSubspace"]
