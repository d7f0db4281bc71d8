"""Power of a two-sided test that two rates are equal as a curve over one of the rates, to two digits and fast.

The outcomes that the test keeps are found for some totals of events only, and Boschloo's raised level is the one
of `nearly_raised_level`. `power` of the package takes neither short cut.
"""

from __future__ import annotations

import numpy as np

from skfairtest._utils.typing import Floats, Integers
from skfairtest.inference._discrete import binomial_log_pmf
from skfairtest.inference._given_totals import given_totals, nearly_raised_level, width_held
from skfairtest.inference.regions import kept_outcomes, one_minus_kept

#: Totals looked at, where they are many: at least so many, and more the fewer outcomes a total has.
_TOTALS, _CELLS = 24, 8_000
GOLDEN = (1 + 5**0.5) / 2
#: Standard deviations of totals and of events beyond which there is no probability to speak of.
_REACH = 6.0


def _likely(d: int, p: float) -> Floats:
    """Return the probability of every number of events; 0 where it is negligible."""
    out = np.zeros(d + 1)
    reach = 1.5 * _REACH * float(np.sqrt(d * p * (1 - p))) + 20
    x = np.arange(max(0, int(d * p - reach)), min(d, int(d * p + reach)) + 1)
    out[x] = np.exp(binomial_log_pmf(x, d, p))
    return out


class PowerCurve:
    """Power against group 1's rate, for a fixed rate of group 2.

    Parameters
    ----------
    d1, d2 : int
        People of each group who meet the condition.
    p2 : float
        Event probability in group 2.
    alpha : float
        Level of the two-sided test.
    reference : {"unconditional", "conditional", "asymptotic"}
        Boschloo's test, Fisher's, or the score test.

    Examples
    --------
    >>> round(PowerCurve(93, 93, 0.3, 0.05, "unconditional").at(0.5), 2)  # by power(): 0.7906
    0.79
    """

    def __init__(self, d1: int, d2: int, p2: float, alpha: float, reference: str) -> None:
        self.d1, self.d2, self.p2, self.alpha, self.reference = d1, d2, p2, alpha, reference
        self.level = nearly_raised_level(d1, d2, alpha) if reference == "unconditional" else alpha
        self._second = _likely(d2, p2)
        self._lower = np.full(d1 + d2 + 1, -1)  # not found yet
        self._upper = np.empty_like(self._lower)

    def at(self, p1: float) -> float:
        """Return the power at a rate of group 1.

        Parameters
        ----------
        p1 : float
            Event probability in group 1.

        Returns
        -------
        float
            Power, within about .01.
        """
        mean = self.d1 * p1 + self.d2 * self.p2
        reach = _REACH * float(np.sqrt(self.d1 * p1 * (1 - p1) + self.d2 * self.p2 * (1 - self.p2))) + 5
        first, last = max(0, int(mean - reach)), min(self.d1 + self.d2, int(mean + reach) + 1)
        most = max(_TOTALS, int(_CELLS / width_held(self.d1, self.d2)))
        # Multiples of an irrational step: limits go up and down regularly with the total. Other rates look at them too.
        step = float(GOLDEN ** max(0, int(np.log((last - first + 1) / most) / np.log(GOLDEN))))
        m = np.floor(np.arange(-(-first // step), last // step + 1) * step).astype(np.int64)
        self._find(m[self._lower[m] < 0])
        kept = 1 - one_minus_kept(_likely(self.d1, p1), self._second, m, self._lower[m], self._upper[m])
        return float(min(1.0, max(0.0, 1 - step * kept)))

    def _find(self, m: Integers) -> None:
        if not len(m):
            return
        if self.reference == "asymptotic":
            self._lower[m], self._upper[m] = kept_outcomes(self.d1, self.d2, m, self.alpha, "asymptotic")
        else:
            self._lower[m], self._upper[m] = given_totals(self.d1, self.d2, m, self.alpha, "two-sided").kept(self.level)
