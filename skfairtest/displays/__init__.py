"""Drawings of fitted tests, in scikit-learn's pattern: ``from_test``, ``from_estimator``, ``plot``."""
