"""A fair metric from people's judgements of who is comparable.

A fair distance from judgements: people are asked whether two others are comparable.

The closer two people are, the likelier they are judged comparable: P = 2 σ(-d²), with d² = v Σ v' and v their
difference. The likelihood is log-concave in Σ, so that there is one positive semi-definite Σ of largest likelihood, and
maximizing over a factor of Σ finds it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

from skfairtest._utils.checks import is_integer
from skfairtest._utils.errors import ParameterError, warn
from skfairtest._utils.typing import Floats
from skfairtest.individual.fair_metrics import FairMetric
from skfairtest.individual.flow.quadratic import Quadratic
from skfairtest.individual.models.features import Features
from skfairtest.readers import read_column
from skfairtest.readers.levels import listed

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


#: A slope left at the end is no optimum.
_STEEP = 1e-5


class ComparablePairs(FairMetric):
    """A fair metric learned from pairs of people that were judged comparable or not.

    d²(x, x') = (x - x') Σ (x - x')', with the symmetric, positive semi-definite Σ of largest likelihood, if a pair is
    judged comparable with probability 2 / (1 + exp d²): certainly at distance 0, and with lower probability the farther
    apart the two are (EXPLORE).

    Parameters
    ----------
    ridge : float, default=1e-3
        Penalty on large Σ, per judgement. It must be above 0, so that the metric is finite even if a distance separates
        the comparable pairs from the others without error; otherwise its effect on the metric is about as small as
        `ridge`.
    rank : int, optional
        The largest rank of Σ: the number of directions in which differences may count. None: no limit.

    Attributes
    ----------
    matrix_ : ndarray of shape (n_features, n_features)
        Σ.
    directions_ : ndarray of shape (k, n_features)
        Orthonormal rows: a basis of the null space of Σ, along which people may differ.
    log_likelihood_ : float
        Mean logarithm of the probability of a judgement; guessing gives log(1/2).
    n_pairs_ : int
        Judgements.
    n_iter_ : int
        Iterations of the optimization.
    n_features_in_ : int
        Columns of `X`.
    feature_names_in_ : ndarray of str
        Names of the columns, where `X` has names.

    See Also
    --------
    SensitiveSubspace : A metric learned from sensitive features.
    Mahalanobis : A metric that is known.

    Notes
    -----
    Σ minimizes the mean of -log P(judgement) plus ``ridge`` / 2 · tr((M Σ)²), M being the mean of (x - x')'(x - x')
    over pairs. Neither the units of features, nor the order of pairs, nor judging every pair twice changes the metric.
    Without `rank` the problem is convex. With `rank` it is not, and Σ is the optimum near the leading part of the
    unrestricted solution. Directions in which no pair differs do not count, because nothing is known about them.

    References
    ----------
    D. Mukherjee, M. Yurochkin, M. Banerjee and Y. Sun (2020), Two simple ways to learn individual fairness metrics from
    data, ICML, section 2.2.

    Examples
    --------
    >>> import numpy as np
    >>> from skfairtest import ComparablePairs
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 2))
    >>> pairs = rng.integers(200, size=(400, 2))
    >>> gap = X[pairs[:, 0], 1] - X[pairs[:, 1], 1]
    >>> comparable = rng.uniform(size=400) < 2 / (1 + np.exp(gap**2))
    >>> metric = ComparablePairs().fit(X, pairs=pairs, comparable=comparable)
    >>> metric.distance([[0.0, 0.0], [0.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]]).round(1)
    array([0., 1.])
    """

    __metadata_request__fit: ClassVar[dict[str, bool]] = {"pairs": True, "comparable": True}

    def __init__(self, ridge: float = 1e-3, rank: int | None = None) -> None:
        self.ridge = ridge
        self.rank = rank

    def fit(self, X: Any, y: Any = None, *, pairs: Any = None, comparable: Any = None) -> Self:
        """Find the metric of largest likelihood.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            People.
        y : object, optional
            Ignored.
        pairs : array-like of shape (n_pairs, 2)
            Who was compared with whom: positions of rows of `X`, from 0.
        comparable : array-like of bool, shape (n_pairs,)
            Whether they were judged comparable.

        Returns
        -------
        ComparablePairs
            The fitted metric.

        Raises
        ------
        ValueError
            If `pairs` are not positions in `X`, lengths differ, all judgements are the same, or two people who are the
            same in every feature were judged not comparable.

        Warns
        -----
        ConvergenceWarning
            If the optimum was not reached.
        UserWarning
            If the people of every pair agree in some column of `X`.
        """
        ridge, rank = self._check()
        features, values = self._read(X, reset=True)
        if pairs is None or comparable is None:
            missing = "pairs" if pairs is None else "comparable"
            raise ParameterError(
                f"{missing} is missing: pass pairs, an array of shape (n_pairs, 2) of positions of rows of X, and "
                "comparable, whether each pair was judged comparable, as in fit(X, pairs=[[0, 1], [0, 2]], "
                "comparable=[True, False])."
            )
        who = _positions_of_pairs(pairs, len(values))
        judged = _judgements(comparable, len(who))
        differences = values[who[:, 0]] - values[who[:, 1]]
        _check_differences(differences, judged, who, features)
        found = fit_comparability(differences, judged, ridge=ridge, rank=rank)
        if found.slope > _STEEP:
            warn(
                f"ComparablePairs did not converge (n_iter={found.n_iter}, slope {found.slope:.1g}): use a ridge "
                f"larger than {self.ridge!r}.",
                ConvergenceWarning,
            )
        self.log_likelihood_, self.n_iter_, self.n_pairs_ = found.log_likelihood, found.n_iter, len(who)
        return self._set_matrix(Quadratic(found.matrix))

    def _check(self) -> tuple[float, int | None]:
        ridge, rank = self.ridge, self.rank
        if not isinstance(ridge, Real) or isinstance(ridge, bool) or not 0 < ridge < np.inf:
            raise ParameterError(f"ridge must be a number above 0, such as 1e-3; found {ridge!r}.")
        if rank is not None and (not is_integer(rank) or rank < 1):
            raise ParameterError(f"rank must be a whole number, at least 1, or None; found {rank!r}.")
        return float(ridge), None if rank is None else int(rank)


def _positions_of_pairs(pairs: Any, n_people: int) -> NDArray[np.intp]:
    try:
        array = np.asarray(pairs)
    except ValueError:  # rows of different lengths
        array = np.array(0)
    if array.ndim != 2 or array.shape[1] != 2 or not len(array):
        raise ParameterError(
            f"pairs must be of shape (n_pairs, 2), two positions of rows of X in each; found shape {array.shape}."
        )
    if array.dtype.kind not in "iu":
        raise ParameterError(
            f"pairs must be whole numbers, positions of rows of X; found {array.dtype} numbers or labels."
        )
    outside = array[(array < 0) | (array >= n_people)]
    if outside.size:
        raise ParameterError(
            f"pairs must be positions from 0 to {n_people - 1}, as X has n_samples={n_people}; found "
            f"{listed(outside.tolist(), 3)}."
        )
    return array.astype(np.intp)


def _judgements(comparable: Any, n_pairs: int) -> NDArray[np.bool_]:
    column = read_column(comparable, "comparable", name="comparable")
    if not set(column.levels) <= {0, 1}:
        raise ParameterError(f"comparable must be True or False for every pair; found {listed(column.levels, 3)}.")
    if len(column) != n_pairs:
        raise ParameterError(
            f"pairs and comparable have different lengths, {n_pairs:,} and {len(column):,}: pass one judgement per "
            "pair."
        )
    if len(column.levels) == 1:
        verdict = "comparable" if column.levels[0] else "not comparable"
        raise ParameterError(
            f"comparable says that all {n_pairs:,} pairs are {verdict}: judgements of both kinds are needed to learn "
            "how far is too far."
        )
    return np.array([bool(level) for level in column.levels])[column.codes]


def _check_differences(
    differences: Floats, comparable: NDArray[np.bool_], who: NDArray[np.intp], features: Features
) -> None:
    """Check that judgements can be explained by differences, and are about all features."""
    same = np.flatnonzero(~comparable & (differences == 0).all(axis=1))
    if same.size:
        first, second = who[same[0]].tolist()
        raise ParameterError(
            f"comparable: {same.size:,} of {len(comparable):,} pairs were judged not comparable although the two "
            f"people are the same in every feature, such as pair {same[0]}, rows {first} and {second} of X: no "
            "distance explains that. Add the feature that distinguishes them, or leave these pairs out."
        )
    alike = [name for name, differs in zip(features.names, (differences != 0).any(axis=0), strict=True) if not differs]
    if alike:
        warn(
            f"pairs: no two people of a pair differ in {listed(alike, 5)}, so nothing can be learned about it: "
            "differences in it do not count in the fair distance."
        )
