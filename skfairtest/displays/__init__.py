"""Drawings of fitted tests, in scikit-learn's pattern: ``from_test``, ``from_estimator``, ``plot``."""

from skfairtest.displays.disparity import DisparityDisplay
from skfairtest.displays.group_metric import GroupMetricDisplay
from skfairtest.displays.individual import LossRatioDisplay, StoppingTimeDisplay
from skfairtest.displays.null_distribution import NullDistributionDisplay
from skfairtest.displays.power import PowerDisplay
from skfairtest.displays.threshold import ThresholdDisplay

__all__ = [
    "DisparityDisplay",
    "GroupMetricDisplay",
    "LossRatioDisplay",
    "NullDistributionDisplay",
    "PowerDisplay",
    "StoppingTimeDisplay",
    "ThresholdDisplay",
]
