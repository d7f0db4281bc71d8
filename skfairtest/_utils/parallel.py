"""Processes among which work is divided, whichever backend joblib has been told to use."""

from __future__ import annotations

from sklearn.utils.parallel import Parallel


def parallel(n_jobs: int | None) -> Parallel:
    """Return what runs delayed calls and gives their results one by one, as they come where the backend can do that."""
    try:
        return Parallel(n_jobs=n_jobs, return_as="generator")
    except ValueError:  # such a backend ("multiprocessing") returns all results together
        return Parallel(n_jobs=n_jobs)
