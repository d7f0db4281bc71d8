"""How far bins of scores may have moved a metric: its values with every score at one end of its bin or the other."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np

from skfairtest.comparisons.evaluation import Evaluation
from skfairtest.readers import Numbers
from skfairtest.tables import Kinds, Sample, Values


def binning_error(made: Evaluation, sample: Sample) -> float:
    """Return the most by which a group's value can differ from that of the scores themselves.

    Every metric of scores is monotone in the score of each person, given the truth, or convex: its extremes are at the
    ends of bins, the lower or the upper one for all people of one true label.

    Parameters
    ----------
    made : Evaluation
        A metric of the people of a table.
    sample : Sample
        The people, whose scores are in bins.
    """
    kinds, bins = made.kinds, sample.score_bins
    name = "y_score" if "y_score" in sample.columns else "y_pred"  # scores are predictions where there are no others
    if bins is None or bins.exact or name not in kinds.values:
        return 0.0
    scores = kinds.values[name]
    place = np.searchsorted(bins.values, np.array(scores.levels, dtype=float))[scores.codes]
    truth = kinds.values["y_true"].codes if "y_true" in kinds.values else np.zeros(kinds.size, dtype=np.intp)
    counts = _counts(kinds, sample)
    shown = _values(made, kinds, counts)
    error = 0.0
    for ends in product((bins.low, bins.high), repeat=int(truth.max(initial=0)) + 1):
        moved = _with_scores(kinds, name, np.stack(ends)[truth, place])
        error = max(error, float(np.nanmax(np.abs(_values(made, moved, counts) - shown), initial=0.0)))
    return error


def _counts(kinds: Kinds, sample: Sample) -> np.ndarray:
    """Return how many people of each stratum and group are of a kind, (S, G, K)."""
    if kinds.counts is not None:
        return kinds.counts.astype(float)
    counts = np.zeros((len(sample.strata), len(sample.groups), kinds.size))
    counts[0 if kinds.stratum is None else kinds.stratum, kinds.group, np.arange(kinds.size)] = 1.0
    return counts


def _values(made: Evaluation, kinds: Kinds, counts: np.ndarray) -> np.ndarray:
    functional = made.functional(kinds)
    return functional.values(functional.masses(counts))


def _with_scores(kinds: Kinds, name: str, scores: np.ndarray) -> Kinds:
    return replace(kinds, values={**kinds.values, name: Values(Numbers(name, scores))})
