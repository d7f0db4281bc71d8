"""Groups known only by probabilities."""
