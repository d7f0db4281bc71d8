"""A fair metric from people's judgements of who is comparable."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from skfairtest._utils.checks import is_integer
from skfairtest._utils.errors import ParameterError, warn
from skfairtest._utils.typing import Floats
from skfairtest.individual.fair_metrics import FairMetric
from skfairtest.individual.flow.comparability import fit_comparability
from skfairtest.individual.flow.quadratic import Quadratic
from skfairtest.individual.models.features import Features
from skfairtest.readers import read_column
from skfairtest.readers.levels import listed

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
