"""Valid hypothesis tests for the group fairness of machine-learning models."""

from skfairtest._version import __version__
from skfairtest.group import FairnessTest
from skfairtest.metrics import Rate
from skfairtest.tables import CountTable

__all__ = ["CountTable", "FairnessTest", "Rate", "__version__"]
