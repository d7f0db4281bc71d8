"""Shared tools of estimators: base class, progress, seeds, checks, errors, array types."""
