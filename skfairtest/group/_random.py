"""Every kind of `random_state` to one seed sequence, whose children do not depend on who draws first."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils import check_random_state


def seed_sequence(random_state: Any) -> np.random.SeedSequence:
    """Return a seed sequence for an integer, a RandomState or Generator (which advances), or None (global state).

    Raises
    ------
    ValueError
        If `random_state` is something else.
    """
    if isinstance(random_state, Integral):
        if random_state < 0:
            raise ValueError(f"random_state must not be negative; found {random_state}")
        return np.random.SeedSequence(int(random_state))
    if isinstance(random_state, np.random.SeedSequence):
        return random_state
    if isinstance(random_state, np.random.Generator):
        return np.random.SeedSequence(int(random_state.integers(2**63)))
    if random_state is None or isinstance(random_state, np.random.RandomState):
        return np.random.SeedSequence(int(check_random_state(random_state).randint(2**31 - 1)))
    raise ValueError(f"random_state must be an int, RandomState, Generator or None; found {random_state!r}")
