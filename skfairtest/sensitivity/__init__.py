"""Sensitivity of verdicts to missing groups and to confounders."""
