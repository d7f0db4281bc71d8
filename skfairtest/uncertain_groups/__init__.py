"""Groups of which only probabilities are known."""
