"""Valid hypothesis tests for the group fairness of machine-learning models."""

from skfairtest._version import __version__
from skfairtest.group import FairnessTest
from skfairtest.group.correlation import CorrelationFairnessTest
from skfairtest.group.power import minimum_detectable_disparity, power, required_sample_size
from skfairtest.metrics import Rate, ScoreMetric
from skfairtest.tables import CountTable

__all__ = [
    "CorrelationFairnessTest",
    "CountTable",
    "FairnessTest",
    "Rate",
    "ScoreMetric",
    "__version__",
    "minimum_detectable_disparity",
    "power",
    "required_sample_size",
]
