"""How sure we are: laws, draws, p-values, intervals, multiplicity. Pure NumPy and SciPy on arrays of counts."""
