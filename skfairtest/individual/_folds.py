"""Folds that depend on the people's values, and not on the order of their rows.

The rows are put in an order that depends on their values alone: values are counted from one end, columns sorted by how
often theirs occur, people by their columns. Every k-th person in this order is in the same fold. Another order of rows
or of columns, another container, other units and new names change nothing, and no random number is used. People with
the same features and label share a fold, so that a fair metric is not learned from a copy of the person it is tested
on.
"""

import numpy as np
from numpy.typing import NDArray

from skfairtest._utils.errors import ParameterError


def ranks(values: NDArray[np.float64], truth: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the rank of every person in an order that does not depend on the order of rows; equal people share a rank.

    Examples
    --------
    >>> ranks(
    ...     np.array([[1.0, 5.0], [0.0, 7.0], [1.0, 5.0]]), np.array([0.0, 1.0, 0.0])
    ... ).tolist()
    [0, 1, 0]
    """
    kinds: dict[tuple[int, ...], list[NDArray[np.intp]]] = {}
    truth_codes = np.unique(truth, return_inverse=True)[1].reshape(-1).astype(object)
    for column in values.T:
        _, codes, counts = np.unique(column, return_inverse=True, return_counts=True)
        codes, exact = codes.reshape(-1), codes.reshape(-1).astype(object)  # of any size
        # A unit may be negative: a column is counted from the end at which the truth is small.
        if len(codes) * (exact * truth_codes).sum() < exact.sum() * truth_codes.sum():
            codes, counts = len(counts) - 1 - codes, counts[::-1]
        kinds.setdefault(tuple(counts.tolist()), []).append(codes)
    # Columns whose values occur equally often are told apart by their order only: a person's are sorted instead.
    blocks = [np.sort(np.stack(kinds[kind], axis=1), axis=1) for kind in sorted(kinds)]
    keys = np.column_stack([*blocks, np.unique(truth, return_inverse=True)[1].reshape(-1)])
    _, places = np.unique(keys, axis=0, return_inverse=True)
    return np.asarray(places.reshape(-1), dtype=np.intp)


def content_folds(values: NDArray[np.float64], truth: NDArray[np.float64], n_folds: int) -> NDArray[np.intp]:
    """Return the fold of every person.

    Parameters
    ----------
    values : ndarray of shape (n_samples, n_features)
        Features.
    truth : ndarray of shape (n_samples,)
        Labels or targets, as numbers.
    n_folds : int
        How many folds; fewer if there are fewer distinct people.

    Raises
    ------
    ValueError
        If all people are the same.
    """
    places = ranks(values, truth)
    distinct = int(places.max()) + 1
    if distinct < 2:
        raise ParameterError(
            f"cross_fit={n_folds} folds, and all {len(values):,} people have the same X and y: use "
            "cross_fit=False, or a fair metric that was fitted on other people"
        )
    return places % min(n_folds, distinct)
