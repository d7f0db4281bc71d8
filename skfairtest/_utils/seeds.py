"""Every kind of `random_state` to one seed sequence, whose children do not depend on who draws first."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from skfairtest._utils.errors import ParameterError


def check_seed(random_state: Any) -> None:
    """Refuse what is not a seed, before anything is drawn.

    Raises
    ------
    ValueError
        If `random_state` is not an integer of at least 0, a RandomState, a Generator or None.
    """
    if isinstance(random_state, Integral):
        if random_state < 0:
            raise ParameterError(f"random_state must not be negative; found {random_state}")
    elif not isinstance(random_state, np.random.RandomState | np.random.Generator | None):
        raise ParameterError(f"random_state must be an int, RandomState, Generator or None; found {random_state!r}")


def seed_sequence(random_state: Any) -> np.random.SeedSequence:
    """Return a seed sequence for an integer, a RandomState or Generator (which advances), or None (global state)."""
    if isinstance(random_state, Integral):
        return np.random.SeedSequence(int(random_state))
    if isinstance(random_state, np.random.Generator):
        return np.random.SeedSequence(int(random_state.integers(2**63)))
    return np.random.SeedSequence(int(check_random_state(random_state).randint(2**31 - 1)))
