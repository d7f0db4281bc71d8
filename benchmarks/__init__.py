"""Measurements of validity and speed: ``python -m benchmarks.validity``, ``python -m benchmarks.speed``."""
