"""How far bins of scores may have moved a metric: its values with the scores elsewhere in their bins."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from skfairtest.comparisons.evaluation import Evaluation
from skfairtest.readers import Numbers
from skfairtest.tables import Kinds, Sample, Values


def binning_error(made: Evaluation, sample: Sample) -> float:
    """Return the largest amount by which a group's value can differ from its value with the original scores.

    The built-in metrics are monotone in every score, given the true label, or in its distance from the true number:
    their extremes are found at few placements of the scores in their bins.

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
    counts = _counts(kinds, sample)
    shown = _values(made, kinds, counts)
    error = 0.0
    for placed in _placements(made, bins.low[place], bins.high[place]):
        moved = _values(made, _with_scores(kinds, name, placed), counts)
        error = max(error, float(np.nanmax(np.abs(moved - shown), initial=0.0)))
    return error


def _placements(made: Evaluation, low: np.ndarray, high: np.ndarray) -> Iterator[np.ndarray]:
    """Yield the scores of all kinds of people where a metric may be smallest or largest."""
    yield low
    yield high
    truth = made.kinds.values.get("y_true")
    if truth is None:
        return
    if made.pos_label is not None or len(truth.levels) == 2:
        positive = truth.is_label(truth.levels[-1] if made.pos_label is None else made.pos_label)
        yield np.where(positive, high, low)
        yield np.where(positive, low, high)
    if truth.numbers is not None:
        yield np.clip(truth.numbers, low, high)
        yield np.where(truth.numbers - low > high - truth.numbers, low, high)


def _counts(kinds: Kinds, sample: Sample) -> np.ndarray:
    """The numbers of people by stratum (the last: all together), group and kind, of shape (S + 1, G, K)."""
    if kinds.counts is not None:
        counts = kinds.counts.astype(float)
    else:
        counts = np.zeros((len(sample.strata), len(sample.groups), kinds.size))
        counts[0 if kinds.stratum is None else kinds.stratum, kinds.group, np.arange(kinds.size)] = 1.0
    return np.concatenate([counts, counts.sum(axis=0, keepdims=True)])


def _values(made: Evaluation, kinds: Kinds, counts: np.ndarray) -> np.ndarray:
    functional = made.functional(kinds)
    return functional.values(functional.masses(counts))


def _with_scores(kinds: Kinds, name: str, scores: np.ndarray) -> Kinds:
    return replace(kinds, values={**kinds.values, name: Values(Numbers(name, scores))})
