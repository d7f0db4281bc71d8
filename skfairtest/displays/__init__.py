"""Drawings of fitted tests, in scikit-learn's pattern: ``from_test``, ``from_estimator``, ``plot``."""

from skfairtest.displays.individual import LossRatioDisplay, StoppingTimeDisplay

__all__ = ["LossRatioDisplay", "StoppingTimeDisplay"]
