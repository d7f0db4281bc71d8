"""Two models on the same samples: which is fairer, tested by the change of each metric."""
