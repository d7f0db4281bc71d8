"""Disparities given covariates: residuals of cross-fitted models."""
