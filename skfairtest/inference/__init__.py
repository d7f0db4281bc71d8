"""Null distributions, p-values, intervals and multiplicity, in NumPy and SciPy on arrays of counts."""
