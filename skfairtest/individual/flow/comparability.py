"""A fair distance from judgements: people are asked whether two others are comparable.

The closer two people are, the likelier they are judged comparable: P = 2 σ(-d²), with d² = v Σ v' and v their
difference. The likelihood is log-concave in Σ, so that there is one positive semi-definite Σ of largest likelihood, and
maximizing over a factor of Σ finds it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from skfairtest._utils.typing import Floats

#: Of the optimizer; gtol is the largest slope left, of a mean over judgements of differences that were made uniform.
_OPTIONS: Any = {"maxiter": 5000, "maxfun": 10_000, "gtol": 1e-9, "ftol": 0.0, "maxcor": 30}
#: How far, relative to the longest, pairs must differ in a direction to tell anything about it.
RANK_TOLERANCE = 1e-10
#: Squared distances of pairs that are not comparable count as this while they are smaller: surprising, not infinitely.
SMALLEST = 1e-30


@dataclass(frozen=True, eq=False)
class Comparability:
    """The fitted matrix.

    Parameters
    ----------
    matrix : ndarray of shape (d, d)
        Sigma, positive semi-definite.
    log_likelihood : float
        Mean log-likelihood of a judgement, without the ridge.
    n_iter : int
        Iterations.
    slope : float
        How much steeper than flat the objective is left, in any direction in which it could be improved; 0 at an
        optimum.
    """

    matrix: Floats = field(repr=False)
    log_likelihood: float
    n_iter: int
    slope: float


def negative_log_likelihood(squares: Floats, comparable: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Return the negative log-likelihood of each judgement, and its derivative.

    Parameters
    ----------
    squares : ndarray of shape (m,)
        Squared distances of pairs.
    comparable : ndarray of bool, shape (m,)
        Whether each was judged comparable.

    Returns
    -------
    values, slopes : ndarray of shape (m,)
        -log P of each judgement and its derivative by the squared distance. A pair at distance 0 that was judged not
        comparable is infinitely surprising.

    Examples
    --------
    >>> values, slopes = negative_log_likelihood(np.zeros(1), np.array([True]))
    >>> print(values, slopes)
    [0.] [0.5]
    """
    values, slopes = np.empty_like(squares), np.empty_like(squares)
    near, far = squares[comparable], squares[~comparable]
    # 2 σ(-s) = 2 / (1 + e^s) and 1 - 2 σ(-s) = (1 - e^-s) / (1 + e^-s)
    small = np.exp(-near)
    values[comparable] = near + np.log1p(small) - np.log(2.0)
    slopes[comparable] = 1.0 / (1.0 + small)
    small = np.exp(-far)
    with np.errstate(divide="ignore", over="ignore"):
        values[~comparable] = np.log1p(small) - np.log(-np.expm1(-far))
        slopes[~comparable] = 2.0 * small / np.expm1(-2.0 * far)  # -1 / sinh(s)
    return values, slopes


def fit_comparability(
    differences: Floats, comparable: NDArray[np.bool_], *, ridge: float, rank: int | None = None
) -> Comparability:
    """Find the matrix of largest likelihood.

    Minimizes, over Sigma that are positive semi-definite (and of rank at most `rank`), the mean of
    -log P(judgement) + ridge / 2 · tr((M Sigma)²), with M the mean of v' v over pairs: the penalty, and therefore the
    metric, do not depend on the units of features.

    Parameters
    ----------
    differences : ndarray of shape (m, d)
        x1 - x2 of every pair, none of them 0 where it was judged not comparable.
    comparable : ndarray of bool, shape (m,)
        Whether each was judged comparable.
    ridge : float
        At least 0. Above 0 the optimum is unique and finite; with 0 it need not exist, where a distance separates
        the judgements without error.
    rank : int, optional
        The largest rank allowed. If it is below the rank of the unrestricted optimum, the result is the optimum near
        that one's leading part.

    Returns
    -------
    Comparability
        The matrix. In directions in which no two people of a pair differ it is 0.
    """
    uniform = _whitening(differences)
    n_directions = uniform.shape[1]
    whitened = differences @ uniform
    if not n_directions:
        raise ValueError("no two people of a pair differ in anything")
    # Where an average pair is as likely as not to be comparable, neither kind of judgement is extreme.
    start = np.eye(n_directions) / np.sqrt(n_directions)
    factor, n_iter = _descend(start, whitened, comparable, ridge)
    if rank is not None and rank < n_directions:
        values, vectors = np.linalg.eigh(factor @ factor.T)
        leading = (vectors * np.sqrt(np.maximum(values, 0.0)))[:, : -rank - 1 : -1]
        # A pair that the leading part cannot tell apart has no slope to say in which direction it could.
        aside = np.random.default_rng(0).normal(size=leading.shape) * 1e-3 * np.sqrt(values[-1])
        factor, further = _descend(leading + aside, whitened, comparable, ridge)
        n_iter += further
    sigma = factor @ factor.T
    squares = np.square(whitened @ factor).sum(axis=1)
    values, slopes = negative_log_likelihood(squares, comparable)
    slope = _slope(whitened, slopes, factor, ridge)
    matrix = uniform @ sigma @ uniform.T
    if n_directions < len(matrix):
        # Among the matrices that say the same of every pair, the one that sees nothing else.
        seen = np.linalg.qr(differences.T @ whitened)[0]
        matrix = seen @ (seen.T @ matrix @ seen) @ seen.T
    return Comparability((matrix + matrix.T) / 2, -float(values.mean()), n_iter, slope)


def objective(factor: Floats, differences: Floats, comparable: NDArray[np.bool_], ridge: float) -> tuple[float, Floats]:
    """Return the mean surprise plus the ridge's ½ ridge ‖L L'‖², and the gradient by the factor L of shape (d, r)."""
    images = differences @ factor
    squares = np.square(images).sum(axis=1)
    values, slopes = negative_log_likelihood(np.maximum(squares, SMALLEST), comparable)
    sigma = factor @ factor.T
    value = float(values.mean()) + ridge / 2 * float(np.square(sigma).sum())
    gradient: Floats = 2.0 * (differences.T @ (slopes[:, None] * images) / len(differences) + ridge * sigma @ factor)
    return value, gradient


def _slope(differences: Floats, slopes: Floats, factor: Floats, ridge: float) -> float:
    """The distance from flat: within the range of Sigma, and downhill out of it unless the rank forbids."""
    sigma = factor @ factor.T
    gradient = differences.T @ (slopes[:, None] * differences) / len(differences) + ridge * sigma  # by Sigma itself
    within = float(np.abs(2.0 * gradient @ factor).max(initial=0.0))
    full = factor.shape[1] == len(factor)
    return max(within, -float(np.linalg.eigvalsh(gradient)[0])) if full else within


def _descend(start: Floats, differences: Floats, comparable: NDArray[np.bool_], ridge: float) -> tuple[Floats, int]:
    def flat(factor: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        value, gradient = objective(factor.reshape(start.shape), differences, comparable, ridge)
        return value, gradient.ravel()

    found = minimize(flat, start.ravel(), jac=True, method="L-BFGS-B", options=_OPTIONS)
    return found.x.reshape(start.shape), int(found.nit)


def _whitening(differences: Floats) -> Floats:
    """Return W of shape (d, k) such that the mean of (vW)'(vW) is the identity, k the dimension of what differs."""
    scale = np.sqrt(np.square(differences).mean(axis=0))
    scale[scale == 0] = 1.0  # a column in which no pair differs
    _, lengths, vectors = np.linalg.svd(differences / scale, full_matrices=False)
    kept = lengths > RANK_TOLERANCE * lengths.max(initial=0.0)
    whitening: Floats = (vectors[kept] / scale).T / (lengths[kept] / np.sqrt(len(differences)))
    return whitening
