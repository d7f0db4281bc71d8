"""Whether features hold a trace of another variable, and which of them do: from people, before any direction is learnt.

**Trace** (`out_of_fold`). Null hypothesis: the variable is independent of the features. Least squares predicts it, on
each fold from the others; the statistic is the covariance of prediction and variable. Two folds that predict each other
share a term, so that errors of folds must not be added up as if they were independent: the variable is permuted over
people instead, and the p-value is exact.

**Selection** (`support`). Columns whose coefficients differ from 0 when the others are given: Wald tests with
covariances that hold whatever the spread of the errors is (HC3). Columns that are linearly dependent, such as the
indicators of a category, are one leaf. Correlated columns can hide each other, so leaves are joined into blocks, and
blocks are tested jointly, with p-values times the number of leaves over the leaves of the block (Meinshausen 2008,
which controls the familywise error rate). A significant block is kept as its leading principal component, if the others
are jointly insignificant. Otherwise its significant parts are kept, if the rest of it is jointly insignificant; or else
all of it, with as many leading components as it takes for the others to be insignificant. If nothing is significant,
the block with the smallest adjusted p-value is kept: what has a trace has a direction.

References
----------
N. Meinshausen (2008). Hierarchical testing of variable importance. Biometrika 95.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import linkage
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import squareform
from scipy.stats import f as f_distribution
from scipy.stats import rankdata

from skfairtest._utils.typing import Floats

#: Permutations of the test for a trace, and how many are predicted at once.
N_PERMUTATIONS, AT_ONCE = 499, 100
#: After so many that are as extreme as what was observed there is no trace, and no more are drawn.
ENOUGH = 30
#: Blocks are joined while their columns correlate at least so much on average.
CORRELATED = 0.8
#: What is below this share of the largest singular value is rounding.
_RANK = 1e-9
#: A variable of which so small a share is left by a linear function of the features is that function.
_EXACT = 1e-12


@dataclass(frozen=True)
class Trace:
    """How well features predict a variable.

    Parameters
    ----------
    auc : float
        Area under the ROC curve out of fold, the mean over levels (each against the rest) and folds; of a variable that
        is a number, the correlation of prediction and variable.
    p_value : float
        Of the null hypothesis that the variable is independent of the features.
    """

    auc: float
    p_value: float


def centred_inverse(X: Floats) -> Floats:
    """Return the pseudoinverse of centred columns, of shape (d, n), whatever their units are."""
    centred, length = _centred(X)
    length[length == 0] = np.inf
    inverse: Floats = np.linalg.pinv(centred / length, rcond=_RANK) / length[:, None]
    return inverse


def _centred(X: Floats) -> tuple[Floats, Floats]:
    """Return centred columns and their lengths, of which 0 are those of constant columns."""
    centred = X - X.mean(axis=0)
    length = np.linalg.norm(centred, axis=0)
    constant = length <= _RANK * np.abs(X).max(axis=0, initial=0.0) * np.sqrt(len(X))
    return centred, np.where(constant, 0.0, length)


def out_of_fold(X: Floats, responses: Floats, folds: NDArray[np.intp], *, labels: bool, seed: int = 0) -> Trace:
    """Test whether features predict a variable better than chance.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Features.
    responses : ndarray of shape (n, k)
        The variable: an indicator for each level, or one column of numbers.
    folds : ndarray of shape (n,)
        Folds, which must not depend on the variable.
    labels : bool
        Whether the columns of the variable are indicators.
    seed : int
        Of the permutations.

    Returns
    -------
    Trace
        How well they predict it, and the p-value.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(100, 1))
    >>> folds = np.arange(100) % 5
    >>> out_of_fold(X, (X > 0).astype(float), folds, labels=True).p_value
    0.002
    """
    scaled = (responses - responses.mean(axis=0)) / responses.std(axis=0)
    parts = []
    for fold in range(folds.max() + 1):
        rest, own = folds != fold, folds == fold
        parts.append((rest, own, centred_inverse(X[rest]), X[own] - X[rest].mean(axis=0)))

    def predicted(values: Floats) -> Floats:
        scores = np.empty_like(values)
        for rest, own, inverse, people in parts:
            scores[own] = people @ (inverse @ values[rest])
        return scores

    scores = predicted(scaled)
    observed = float((scores * scaled).sum())
    rng, n_extreme, n_drawn = np.random.default_rng(seed), 0, 0
    while n_drawn < N_PERMUTATIONS and n_extreme < ENOUGH:
        orders = [rng.permutation(len(X)) for _ in range(min(AT_ONCE, N_PERMUTATIONS - n_drawn))]
        n_drawn += len(orders)
        permuted = np.concatenate([scaled[order] for order in orders], axis=1)
        drawn = (predicted(permuted) * permuted).sum(axis=0).reshape(len(orders), -1).sum(axis=1)
        n_extreme += int((drawn >= observed - 1e-9 * abs(observed)).sum())
    found = [_auc(scores[own], responses[own]) if labels else _correlation(scores[own], responses[own])
             for _, own, _, _ in parts]  # fmt: skip
    return Trace(float(np.nanmean(found)), (1 + n_extreme) / (1 + n_drawn))


def _auc(scores: Floats, indicators: Floats) -> float:
    """Return the area under the ROC curve of each level against the rest, the mean over those that are there."""
    n_in = indicators.sum(axis=0)
    n_out = len(scores) - n_in
    sums = (rankdata(scores, axis=0) * indicators).sum(axis=0)
    there = (n_in > 0) & (n_out > 0)
    if not there.any():
        return np.nan
    areas = (sums - n_in * (n_in + 1) / 2)[there] / (n_in * n_out)[there]
    return float(areas.mean())


def _correlation(scores: Floats, numbers: Floats) -> float:
    spread = scores.std() * numbers.std()
    return float(np.mean((scores - scores.mean()) * (numbers - numbers.mean())) / spread) if spread > 0 else np.nan


def exact_columns(X: Floats, responses: Floats) -> NDArray[np.intp]:
    """Return the columns of which a variable is a linear function for everybody; none if it is not.

    Examples
    --------
    >>> X = np.column_stack([np.sin(np.arange(9.0)), np.arange(9.0) % 3 == 0])
    >>> exact_columns(X, 1.0 - X[:, 1:]).tolist()
    [1]
    """
    centred = responses - responses.mean(axis=0)
    inverse = centred_inverse(X)
    coefficients = inverse @ centred
    left = centred - (X - X.mean(axis=0)) @ coefficients
    n_parameters = np.linalg.matrix_rank(inverse) + 1
    if len(X) < 2 * n_parameters or (left**2).sum() > _EXACT * (centred**2).sum():
        return np.empty(0, dtype=np.intp)
    effect = np.abs(coefficients * X.std(axis=0)[:, None]).max(axis=1)
    return np.flatnonzero(effect > 1e-6 * effect.max())


@dataclass(frozen=True)
class _Block:
    """Columns that are tested jointly.

    Parameters
    ----------
    columns : list of int
        Which.
    n_leaves : int
        Leaves of it.
    parts : tuple of _Block
        The two blocks that it was joined from; none of a leaf.
    """

    columns: list[int]
    n_leaves: int = 1
    parts: tuple[_Block, ...] = ()


class _Wald:
    """Joint tests of the coefficients of a regression, with a covariance that is robust to unequal errors."""

    def __init__(self, X: Floats, responses: Floats) -> None:
        centred = responses - responses.mean(axis=0)
        inverse = centred_inverse(X)
        people = X - X.mean(axis=0)
        self.n_columns, self.n_responses = X.shape[1], responses.shape[1]
        self.coefficients = inverse @ centred
        leverage = (people * inverse.T).sum(axis=1) + 1 / len(X)
        errors = (centred - people @ self.coefficients) / np.maximum(1 - leverage, 1e-3)[:, None]
        influence = (inverse.T[:, :, None] * errors[:, None, :]).reshape(len(X), -1)
        self.covariance = influence.T @ influence
        self.degrees = max(1, len(X) - np.linalg.matrix_rank(inverse) - 1)

    def p_value(self, weights: Floats) -> float:
        """Return the p-value of the null hypothesis that linear combinations (m, d) of the coefficients are all 0."""
        wide = np.kron(weights, np.eye(self.n_responses))
        values, covariance = wide @ self.coefficients.reshape(-1), wide @ self.covariance @ wide.T
        spread = np.sqrt(np.diagonal(covariance))
        spread = np.where(spread > 0, spread, 1.0)
        values, covariance = values / spread, covariance / np.multiply.outer(spread, spread)
        lengths, vectors = np.linalg.eigh(covariance)
        kept = lengths > _RANK * max(lengths[-1], _RANK)
        rank = int(kept.sum())
        if not rank:
            return 1.0
        statistic = float(((vectors[:, kept].T @ values) ** 2 / lengths[kept]).sum())
        return float(f_distribution.sf(statistic / rank, rank, self.degrees))


def _leaves(X: Floats) -> list[list[int]]:
    """Return columns, those that are linearly dependent together; constant columns are in none."""
    centred, length = _centred(X)
    varied = np.flatnonzero(length)
    if not len(varied):
        return []
    _, lengths, vectors = np.linalg.svd(centred[:, varied] / length[varied], full_matrices=len(X) < len(varied))
    lengths = np.append(lengths, np.zeros(len(vectors) - len(lengths)))
    null = vectors[lengths <= _RANK * lengths[0]]
    _, member = connected_components(np.abs(null.T @ null) > 1e-6, directed=False)
    return [varied[member == one].tolist() for one in range(member.max() + 1)]


def _blocks(X: Floats) -> list[_Block]:
    """Return the largest blocks of correlated columns, each made of smaller ones."""
    leaves = [_Block(columns) for columns in _leaves(X)]
    if len(leaves) < 2:
        return leaves
    order = [column for leaf in leaves for column in leaf.columns]
    alike = np.abs(np.corrcoef(X[:, order], rowvar=False))
    starts = np.cumsum([0, *(len(leaf.columns) for leaf in leaves[:-1])])
    alike = np.maximum.reduceat(np.maximum.reduceat(alike, starts, axis=0), starts, axis=1)
    distance = np.clip(1 - alike, 0.0, 1.0)
    np.fill_diagonal(distance, 0.0)
    nodes, joined = list(leaves), set()
    for first, second, far, _ in linkage(squareform(distance, checks=False), "average"):
        if far > 1 - CORRELATED:  # distances only grow
            break
        one, other = nodes[int(first)], nodes[int(second)]
        nodes.append(_Block(one.columns + other.columns, one.n_leaves + other.n_leaves, (one, other)))
        joined |= {int(first), int(second)}
    return [node for place, node in enumerate(nodes) if place not in joined]


def support(X: Floats, responses: Floats, level: float) -> Floats:
    """The projection of coefficients on those that are significant, a matrix of shape (d, d).

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Features, of which the variable has a trace.
    responses : ndarray of shape (n, k)
        The variable: indicators of all levels but one, or one column of numbers.
    level : float
        The largest familywise-adjusted p-value that is significant.

    Returns
    -------
    ndarray of shape (d, d)
        ``coefficients @ support`` is 0 in columns that are not selected.

    Examples
    --------
    >>> X, errors = np.random.default_rng(0).normal(size=(2, 300, 3))
    >>> print(support(X, X[:, :1] + X[:, 1:2] + errors[:, :1], 0.05))
    [[1. 0. 0.]
     [0. 1. 0.]
     [0. 0. 0.]]
    """
    wald, blocks = _Wald(X, responses), _blocks(X)
    n_leaves = sum(block.n_leaves for block in blocks)
    tried: list[tuple[float, int, _Block]] = []

    def significant(blocks: Sequence[_Block]) -> bool:
        columns = [column for block in blocks for column in block.columns]
        p = wald.p_value(np.eye(X.shape[1])[columns]) * n_leaves / max(1, sum(block.n_leaves for block in blocks))
        if len(blocks) == 1:
            tried.append((p, len(tried), blocks[0]))
        return p <= level

    def selected(block: _Block) -> list[_Block]:
        """Return the parts of a significant block that are kept."""
        if len(block.parts) and _components(X, wald, block, level)[1] > 1:
            parts = [part for part in block.parts if significant([part])]
            if len(parts) == 2 or (parts and not significant([part for part in block.parts if part not in parts])):
                return [one for part in parts for one in selected(part)]
        return [block]

    found = [one for block in blocks if significant([block]) for one in selected(block)]
    kept = np.zeros((X.shape[1], X.shape[1]))
    for block in found or [min(tried)[2]] if tried else []:
        kept[np.ix_(block.columns, block.columns)] = _components(X, wald, block, level)[0]
    return kept


def _components(X: Floats, wald: _Wald, block: _Block, level: float) -> tuple[Floats, int]:
    """Return the projection on the leading principal components of a block that are needed, and how many these are."""
    columns = block.columns
    if block.n_leaves == 1:
        return np.eye(len(columns)), len(columns)
    spread = X[:, columns].std(axis=0)
    lengths, vectors = np.linalg.eigh(np.corrcoef(X[:, columns], rowvar=False))
    lengths, vectors = lengths[::-1], vectors[:, ::-1]
    number = 1
    while number < len(columns):
        if abs(lengths[number] - lengths[number - 1]) > _RANK * lengths[0]:  # those of one length belong together
            rest = np.zeros((len(columns) - number, X.shape[1]))
            rest[:, columns] = vectors[:, number:].T * spread
            if wald.p_value(rest) > level:
                break
        number += 1
    leading = vectors[:, :number]
    projection: Floats = spread[:, None] * (leading @ leading.T) / spread
    return projection, number
