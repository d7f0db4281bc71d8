"""Unfair maps and the statistics of what they do, in pure NumPy and SciPy."""
