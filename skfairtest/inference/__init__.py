"""How sure we are: null distributions, p-values, intervals, multiplicity. Pure NumPy and SciPy on arrays of counts."""
