"""Types of arrays, and of what is known about the values of two sides."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]
#: In as few bytes as they need.
Positions = NDArray[np.integer[Any]]


class Moments(NamedTuple):
    """Values and variances of two sides, and their covariance where they share people; arrays of equal shape."""

    first: Floats
    first_variance: Floats
    second: Floats
    second_variance: Floats
    covariance: Floats
