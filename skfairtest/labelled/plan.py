"""Whom to label: labels by stratum of the judge's score, for an interval or a power, and a column for annotators."""

from __future__ import annotations

import numpy as np

from skfairtest._utils.typing import Floats, Integers, Positions
from skfairtest.labelled.statistics import EXPECTED, bins_of

#: The share of events that is believed of a stratum is no nearer to 0 and 1, so that a judge who is too sure does not
#: leave people without labels.
SUREST = 0.1


def allocated(score: Floats, n_labels: int) -> tuple[Positions, Integers]:
    """Strata of people by the judge's score, and how many labels each is given."""
    stratum = bins_of(score, np.full(len(score), n_labels / len(score)))
    people = np.bincount(stratum)
    return stratum, shared_out(n_labels, people, people * believed_deviation(score, stratum))


def believed_deviation(score: Floats, stratum: Positions) -> Floats:
    """The standard deviation of labels in each stratum, if the judge's scores are probabilities; else the largest."""
    share = np.bincount(stratum, score) / np.bincount(stratum)
    share = np.clip(share, SUREST, 1 - SUREST) if score.min() >= 0 and score.max() <= 1 else np.full(len(share), 0.5)
    return np.asarray(np.sqrt(share * (1 - share)))


def shared_out(n_labels: int, people: Integers, importance: Floats) -> Integers:
    """Whole numbers of labels in proportion to their importance (Neyman 1934), at least a few, at most everybody."""
    least, wanted = np.minimum(people, EXPECTED), importance / importance.sum()
    low, high = 0.0, n_labels / wanted.min()
    for _ in range(100):  # the factor at which the numbers add up
        middle = (low + high) / 2
        total = np.clip(middle * wanted, least, people).sum()
        low, high = (middle, high) if total < n_labels else (low, middle)
    exact = np.clip(high * wanted, least, people)
    labels = np.floor(exact + 1e-9).astype(np.int64)
    missing = max(0, min(n_labels, int(people.sum())) - int(labels.sum()))
    labels[np.argsort(labels - exact, kind="stable")[:missing]] += 1
    return np.asarray(np.minimum(labels, people))
