"""Individual fairness: does a model treat similar people differently."""

from skfairtest.individual.fair_metrics import Mahalanobis, Projection
from skfairtest.individual.fairness import IndividualFairnessTest
from skfairtest.individual.sensitive_subspace import SensitiveSubspace

__all__ = ["IndividualFairnessTest", "Mahalanobis", "Projection", "SensitiveSubspace"]
