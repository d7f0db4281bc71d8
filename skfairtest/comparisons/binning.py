"""How far bins of scores may have moved a metric: its values with every score at one end of its bin or the other."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np

from skfairtest.comparisons.evaluation import Evaluation
from skfairtest.readers import Numbers, ScoreBins
from skfairtest.tables import Kinds, Values


def binning_error(made: Evaluation, bins: ScoreBins | None) -> float:
    """Return the most by which a group's value can differ from that of the scores themselves.

    Every metric of scores is monotone in the score of each person, given the truth, or convex: its extremes are at the
    ends of bins, the lower or the upper one for all people of one true label.

    Parameters
    ----------
    made : Evaluation
        A metric of the people of a table.
    bins : ScoreBins or None
        The bins of their scores.
    """
    kinds = made.kinds
    if bins is None or bins.exact or "y_score" not in kinds.values or kinds.counts is None:
        return 0.0
    scores = kinds.values["y_score"]
    place = np.searchsorted(bins.values, np.array(scores.levels, dtype=float))[scores.codes]
    truth = kinds.values["y_true"].codes if "y_true" in kinds.values else np.zeros(kinds.size, dtype=np.intp)
    masses = kinds.counts.astype(float)
    shown = made.functional(kinds).values(masses)
    error = 0.0
    for ends in product((bins.low, bins.high), repeat=int(truth.max(initial=0)) + 1):
        moved = _with_scores(kinds, np.stack(ends)[truth, place])
        error = max(error, float(np.nanmax(np.abs(made.functional(moved).values(masses) - shown), initial=0.0)))
    return error


def _with_scores(kinds: Kinds, scores: np.ndarray) -> Kinds:
    return replace(kinds, values={**kinds.values, "y_score": Values(Numbers("y_score", scores))})
