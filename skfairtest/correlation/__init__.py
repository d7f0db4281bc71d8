"""Continuous sensitive features: correlations, tested by permutation."""
