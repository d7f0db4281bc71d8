"""What every estimator needs and no statistician: base class, progress, seeds, checks, errors, array types."""
