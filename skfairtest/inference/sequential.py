"""P-values of resamples that are drawn only until the answer is known, and the sizes of the pieces.

Besag and Clifford stop at the h-th resample that is at least as extreme as the data: a comparison without evidence
needs few. If the only question is whether the p-value is below some level, a comparison with strong evidence can stop
as well: after so many resamples that the p-value is below the level if none was as extreme. Both are valid together,
because the p-value of an outcome is the probability of all outcomes that are at least as much evidence, if the data are
exchangeable with the resamples: none as extreme at the first stop comes first, then as few as possible at the end, then
the latest h-th.

That none of so many resamples is as extreme may be proven without drawing them (see `tail_bound`). The answer is then
the one that drawing would have given, except with a probability of MOST_WRONG.

References
----------
J. Besag and P. Clifford (1991). Sequential Monte Carlo p-values. Biometrika 78, 301-304.
"""

from __future__ import annotations

import numpy as np

from skfairtest._utils.batches import batches
from skfairtest._utils.typing import Floats
from skfairtest.inference.resampling import at_least_as_extreme

#: Resamples that are drawn with one seed: a division of the work that is the same for any number of processes.
CHUNK = 200
#: A sequential p-value stops at this many resamples at least as extreme as the data.
EXTREME_ENOUGH = 20
#: The largest probability with which a resample is as extreme as the data where that is ruled out.
MOST_WRONG = 1e-9
#: A sequential rule looks for the first time after so many resamples, in so many chunks, and then each time that there
#: are half as many more.
FIRST_LOOK, CHUNKS_OF_LOOK = 100, 4


def looks(n_resamples: int, *, adaptive: bool = False, n_decisive: int | None = None) -> list[list[int]]:
    """Return, look by look, how many resamples are drawn before a rule checks whether they are enough.

    They depend on nothing but these numbers. Without a rule there is one look, at the end.

    Examples
    --------
    >>> looks(450)
    [[200, 200, 50]]
    >>> looks(300, adaptive=True, n_decisive=180)
    [[25, 25, 25, 25], [20, 20, 20, 20], [25, 25, 25, 25], [5, 5, 5, 5]]
    """
    if not adaptive:
        return [[rows.stop - rows.start for rows in batches(n_resamples, CHUNK)]]
    found: list[list[int]] = []
    drawn = 0
    while drawn < n_resamples:
        end = min(n_resamples, drawn + max(FIRST_LOOK, drawn // 2))
        if n_decisive is not None and drawn < n_decisive:
            end = min(end, n_decisive)
        cuts = np.linspace(drawn, end, CHUNKS_OF_LOOK + 1).astype(int)
        found.append([size for size in np.diff(cuts).tolist() if size])
        drawn = end
    return found


def sequential_p(
    drawn: Floats, observed: float, alternative: str, n_decisive: int | None = None, *, proven: bool = False
) -> tuple[float, int, int] | None:
    """Return the p-value, the extreme and the defined resamples at which drawing stops; None where it goes on.

    Resamples in which the statistic is undefined are skipped.

    Parameters
    ----------
    drawn : ndarray of float, shape (n,)
        Resampled statistics.
    observed : float
        The data's.
    alternative : {"two-sided", "greater", "less"}
        Which are extreme.
    n_decisive : int, optional
        Resamples after which drawing stops if none of them was extreme.
    proven : bool
        Whether it is proven that none of these will be.
    """
    defined = ~np.isnan(drawn)
    extreme = at_least_as_extreme(drawn[defined], observed, alternative)
    places = np.flatnonzero(extreme)
    if n_decisive is not None and (proven or len(extreme) >= n_decisive) and not (places < n_decisive).any():
        return 1 / (1 + n_decisive), 0, n_decisive
    if len(places) < EXTREME_ENOUGH:
        return None
    used = int(places[EXTREME_ENOUGH - 1]) + 1
    # The h-th extreme resample came no sooner: fewer than h before it.
    return stopped_p(EXTREME_ENOUGH - 1, used - 1, n_decisive), EXTREME_ENOUGH, used


def stopped_p(n_extreme: int, n_defined: int, n_decisive: int | None = None) -> float:
    """Return the probability of at most so many extreme resamples, or of none at the first stop.

    Without a first stop it is (1 + extreme) / (1 + defined).

    Examples
    --------
    >>> stopped_p(1, 99), stopped_p(0, 99, 99)
    (0.02, 0.01)
    >>> round(99 * stopped_p(1, 98, 49), 9)  # 2 + 1 / 2, or a little less
    2.48
    """
    p = (1 + n_extreme) / (1 + n_defined)
    if n_decisive is None or n_defined <= n_decisive:
        return p
    # Of none among the first, and more than that in all: if j are extreme, all of them have to come later.
    later, share = n_defined - n_decisive, 1.0
    counted = 1 / (1 + n_decisive)
    for j in range(n_extreme + 1):
        counted -= share / (1 + n_defined)
        share *= max(0, later - j) / (n_defined - j) if j < n_defined else 0.0
    return p + max(0.0, counted)
