"""Rates of which the true labels were recorded with errors of known probability.

Among people of one group and prediction, a truly negative one is recorded as positive with probability a, and a truly
positive one as negative with probability b, whatever the prediction. The numbers t1 and t0 of truly positive and
negative people follow from the recorded ones r1 and r0, on average, as ((1 - a) r1 - a r0) / (1 - a - b) and
((1 - b) r0 - b r1) / (1 - a - b) (Rogan and Gladen 1978). So a rate is a ratio of two sums over people, x / d, in which
each counts by what was recorded; its limits are the rates r at which x - r d, a sum of independent numbers with mean 0,
is z standard errors from 0 (Fieller 1954).

References
----------
W. J. Rogan and B. Gladen (1978). Estimating prevalence from the results of a screening test. American Journal of
Epidemiology 107, 71-76.
E. C. Fieller (1954). Some problems in interval estimation. Journal of the Royal Statistical Society B 16, 175-185.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skfairtest._utils.typing import Booleans, Floats, Integers


@dataclass(frozen=True)
class Corrected:
    """A rate of one side, corrected for errors of the recorded labels.

    Parameters
    ----------
    value, standard_error, low, high : float
        The rate, its delta-method standard error, and its limits, all between 0 and 1; NaN where errors leave nobody in
        the condition.

    Examples
    --------
    >>> import numpy as np
    >>> event, given = (
    ...     np.array([True, False, False, False]),
    ...     np.array([True, True, False, False]),
    ... )
    >>> cells = np.array([450, 250, 150, 250])
    >>> found = Corrected.of(cells, event, given, (0.1, 0.2), 1.96)
    >>> round(found.value, 3), round(found.low, 3), round(found.high, 3)
    (0.661, 0.623, 0.699)
    """

    value: float
    standard_error: float
    low: float
    high: float

    @classmethod
    def of(cls, cells: Integers, event: Booleans, given: Booleans, errors: tuple[float, float], z: float) -> Corrected:
        """Correct a rate.

        Parameters
        ----------
        cells : ndarray of int, shape (4,)
            People recorded and predicted positive; recorded positive alone; predicted positive alone; neither.
        event, given : ndarray of bool, shape (4,)
            Which of these, of the true labels, show the event and meet the condition.
        errors : (float, float)
            Probabilities that a truly negative person is recorded as positive, and a truly positive one as negative.
        z : float
            Normal quantile of the limits.
        """
        of_event, of_given = (_weights(mask, *errors) for mask in (event, given))
        x, d = float(cells @ of_event), float(cells @ of_given)
        if d <= 0:
            return cls(np.nan, np.nan, np.nan, np.nan)
        value = min(1.0, max(0.0, x / d))
        # At counts plus one half, as without events in the data there is a variance.
        counts = cells + 0.5
        a, b, c = (float(counts @ both) for both in (of_event**2, of_event * of_given, of_given**2))
        error = float(np.sqrt(counts @ (of_event - value * of_given) ** 2)) / d
        k = 1 + z * z / float(cells.sum())
        square, half, rest = k * d * d - z * z * c, k * x * d - z * z * b, k * x * x - z * z * a
        inside = half * half - square * rest
        if square <= 0 or inside < 0:
            return cls(value, error, 0.0, 1.0)
        ends = (half + np.array([-1, 1]) * np.sqrt(inside)) / square
        low, high = np.clip(ends, 0.0, 1.0).tolist()
        return cls(value, error, min(low, value), max(high, value))


def _weights(mask: Booleans, positive: float, negative: float) -> Floats:
    """What a person counts by the recorded cell, so that people with certain true labels are counted on average."""
    true, false = mask[:2].astype(float), mask[2:].astype(float)
    known = 1 - positive - negative
    counted = ((1 - positive) * true - negative * false, (1 - negative) * false - positive * true)
    return np.concatenate(counted) / known
