"""Checks of parameters that every test has."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from skfairtest._utils.errors import ParameterError


def is_number(value: object) -> bool:
    """Whether a value is a real number, Python's or NumPy's, and no boolean."""
    return isinstance(value, float | int | np.floating | np.integer) and not isinstance(value, bool)


def check_running(confidence_level: Any, n_jobs: Any, verbose: Any) -> None:
    """Check what every test has: its level, processes, and whether it shows how far it is.

    Raises
    ------
    ValueError
        If a value is not one of those allowed.
    """
    if n_jobs is not None and (not isinstance(n_jobs, Integral) or isinstance(n_jobs, bool) or n_jobs == 0):
        raise ParameterError(f"n_jobs must be an integer other than 0, or None; found {n_jobs!r}")
    if not is_number(confidence_level) or not 0 < confidence_level < 1:
        raise ParameterError(f"confidence_level must be a number between 0 and 1; found {confidence_level!r}")
    if not isinstance(verbose, Integral | bool) or verbose < 0:
        raise ParameterError(f"verbose must be an integer of at least 0; found {verbose!r}")
