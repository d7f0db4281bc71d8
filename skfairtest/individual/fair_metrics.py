"""Fair distances: transformers after which the squared Euclidean distance is the fair one.

**Trace** (`out_of_fold`). Null hypothesis: the variable is independent of the features. Least squares predicts it out
of fold; permuting the variable makes the p-value exact.

**Selection** (`support`). Columns whose coefficients differ from 0 when the others are given: Wald tests with HC3
covariances, in a hierarchy of blocks of correlated columns (Meinshausen 2008, which controls the familywise error
rate).

References
----------
N. Meinshausen (2008). Hierarchical testing of variable importance. Biometrika 95.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.linalg import pinvh
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import squareform
from scipy.special import fdtrc
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted, validate_data

from skfairtest._utils.checks import check_number, is_number
from skfairtest._utils.errors import ParameterError, warn
from skfairtest._utils.typing import Floats
from skfairtest.individual.features import Features, read_features
from skfairtest.individual.flow import Quadratic, complement, span
from skfairtest.readers import MAX_GROUPS, WARN_GROUPS, Column, check_rows, read_columns
from skfairtest.readers.levels import listed

#: So many people make the default penalty that of ``LogisticRegression()`` and ``Ridge()``.
_PEOPLE = 10_000
#: So many coefficients of a logistic regression are found by inverting the matrix of second derivatives.
_LARGE_HESSIAN = 500
#: Scores that spread less than this are those of coefficients that are 0.
_NO_SPREAD = 1e-9


MISSING = (
    "sensitive_features is missing: the fair metric is learned from what predicts them, for instance fit(X, "
    "sensitive_features=df['sex']). If columns of X are sensitive themselves, name them in sensitive_columns."
)
#: Permutations of the test for a trace, and how many are predicted at once.
N_PERMUTATIONS, AT_ONCE = 499, 100
#: After so many that are as extreme as what was observed there is no trace, and no more are drawn.
ENOUGH = 30
#: Blocks are joined while their columns correlate at least so much on average.
CORRELATED = 0.8
#: What is below this share of the largest singular value is rounding.
_RANK = 1e-9
#: A variable with so small a share of residual variance is a linear function of the features.
_EXACT = 1e-12


class Design:
    """Centred columns, their pseudoinverse, rank and leaves: columns that are linearly dependent are one leaf."""

    def __init__(self, X: Floats) -> None:
        self.centred = X - X.mean(axis=0)
        length = np.linalg.norm(self.centred, axis=0)
        length[length <= _RANK * np.abs(X).max(axis=0, initial=0.0) * np.sqrt(len(X))] = np.inf
        self.scaled = self.centred / length
        left, values, right = np.linalg.svd(self.scaled, full_matrices=False)
        self.rank = k = int((values > _RANK * values[0]).sum())
        self.inverse: Floats = right[:k].T @ (left[:, :k] / values[:k]).T / length[:, None]
        dependent = np.abs(np.eye(X.shape[1]) - right[:k].T @ right[:k]) > 1e-6
        member = np.where(np.isfinite(length), connected_components(dependent, directed=False)[1], -1)
        self.leaves = [np.flatnonzero(member == one).tolist() for one in np.unique(member[member >= 0])]


def out_of_fold(X: Floats, responses: Floats, folds: NDArray[np.intp], *, labels: bool) -> tuple[float, float]:
    """Test whether features predict a variable better than chance: the area under the ROC curve, and the p-value.

    `responses` has an indicator for each level, or one column of numbers; of numbers, the value is the correlation with
    the prediction. Folds must not depend on the variable.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(100, 1))
    >>> folds = np.arange(100) % 5
    >>> out_of_fold(X, np.hstack([X > 0, X <= 0]) * 1.0, folds, labels=True)[1]
    0.002
    """
    responses = responses[:, : 1 if labels and responses.shape[1] == 2 else None]  # the second mirrors the first
    scaled = (responses - responses.mean(axis=0)) / responses.std(axis=0)
    parts = []
    for fold in range(folds.max() + 1):
        rest, own = folds != fold, folds == fold
        parts.append((rest, own, Design(X[rest]).inverse, X[own] - X[rest].mean(axis=0)))

    def predicted(values: Floats) -> Floats:
        scores = np.empty_like(values)
        for rest, own, inverse, people in parts:
            scores[own] = people @ (inverse @ values[rest])
        return scores

    scores = predicted(scaled)
    observed = float((scores * scaled).sum())
    rng, n_extreme, n_drawn = np.random.default_rng(0), 0, 0
    while n_drawn < N_PERMUTATIONS and n_extreme < ENOUGH:
        orders = [rng.permutation(len(X)) for _ in range(min(AT_ONCE, N_PERMUTATIONS - n_drawn))]
        n_drawn += len(orders)
        permuted = np.concatenate([scaled[order] for order in orders], axis=1)
        drawn = (predicted(permuted) * permuted).sum(axis=0).reshape(len(orders), -1).sum(axis=1)
        n_extreme += int((drawn >= observed - 1e-9 * abs(observed)).sum())
    from sklearn.metrics import roc_auc_score  # here, as importing it takes time

    scores, responses = scores.squeeze(), responses.squeeze()
    value = roc_auc_score(responses, scores) if labels else np.corrcoef(scores, responses)[0, 1]
    return float(value), (1 + n_extreme) / (1 + n_drawn)


def exact_columns(design: Design, responses: Floats) -> NDArray[np.intp]:
    """The columns from which a variable follows by a linear function without error, if there is one.

    Examples
    --------
    >>> X = np.column_stack([np.sin(np.arange(9.0)), np.arange(9.0) % 3 == 0])
    >>> exact_columns(Design(X), 1.0 - X[:, 1:]).tolist()
    [1]
    """
    centred = responses - responses.mean(axis=0)
    coefficients = design.inverse @ centred
    left = centred - design.centred @ coefficients
    if len(centred) < 2 * (design.rank + 1) or (left**2).sum() > _EXACT * (centred**2).sum():
        return np.empty(0, dtype=np.intp)
    effect = np.abs(coefficients * design.centred.std(axis=0)[:, None]).max(axis=1)
    return np.flatnonzero(effect > 1e-6 * effect.max())


def wald(design: Design, responses: Floats) -> Callable[[Floats], float]:
    """Return tests of weights (m, d): whether these combinations of coefficients are all 0 (HC3 covariances)."""
    inverse, people, (n, n_responses) = design.inverse, design.centred, responses.shape
    centred = responses - responses.mean(axis=0)
    coefficients = inverse @ centred
    leverage = (people * inverse.T).sum(axis=1) + 1 / n
    errors = (centred - people @ coefficients) / np.maximum(1 - leverage, 1e-3)[:, None]
    influence = (inverse.T[:, :, None] * errors[:, None, :]).reshape(n, -1)
    covariance, degrees = influence.T @ influence, max(1, n - design.rank - 1)

    def p_value(weights: Floats) -> float:
        wide = np.kron(weights, np.eye(n_responses))
        variance = wide @ covariance @ wide.T
        spread = np.sqrt(np.diagonal(variance))
        spread = np.where(spread > 0, spread, 1.0)
        values = wide @ coefficients.reshape(-1) / spread
        root, rank = pinvh(variance / np.multiply.outer(spread, spread), rtol=_RANK, return_rank=True)
        return float(fdtrc(rank, degrees, max(values @ root @ values / rank, 0.0))) if rank else 1.0

    return p_value


def _blocks(design: Design) -> list[list[list[int]]]:
    """Return blocks of correlated leaves."""
    leaves, order = design.leaves, list(chain(*design.leaves))
    if len(leaves) < 2:
        return [[leaf] for leaf in leaves]
    alike = np.abs(design.scaled[:, order].T @ design.scaled[:, order])
    starts = np.cumsum([0, *map(len, leaves[:-1])])
    alike = np.maximum.reduceat(np.maximum.reduceat(alike, starts, axis=0), starts, axis=1)
    distance = np.clip(1 - alike, 0.0, 1.0)
    np.fill_diagonal(distance, 0.0)
    member = fcluster(linkage(squareform(distance, checks=False), "average"), 1 - CORRELATED, "distance")
    return [[leaves[place] for place in np.flatnonzero(member == one)] for one in np.unique(member)]


def support(design: Design, responses: Floats, level: float) -> Floats:
    """The projection of coefficients on the significant ones: ``coefficients @ support`` is 0 in the other columns.

    `responses` has indicators of all levels but one, or one column of numbers; `level` is the familywise one.

    Examples
    --------
    >>> X, errors = np.random.default_rng(0).normal(size=(2, 300, 3))
    >>> print(support(Design(X), X[:, :1] + X[:, 1:2] + errors[:, :1], 0.05))
    [[1. 0. 0.]
     [0. 1. 0.]
     [0. 0. 0.]]
    """
    tests, blocks, spread = wald(design, responses), _blocks(design), design.centred.std(axis=0)
    n_leaves, everything = len(design.leaves), np.eye(len(spread))

    def p_value(leaves: list[list[int]]) -> float:
        return tests(everything[list(chain(*leaves))]) * n_leaves / max(1, len(leaves))

    kept, p_values = np.zeros_like(everything), list(map(p_value, blocks))
    for block, p in zip(blocks, p_values, strict=True):
        if p > max(level, min(p_values)):
            continue
        columns, number = list(chain(*block)), 1
        projection: Floats = np.eye(len(columns))
        if len(block) > 1:  # as few leading components as leave no other significant
            vectors = np.linalg.eigh(design.scaled[:, columns].T @ design.scaled[:, columns])[1].T[::-1]
            rest = np.zeros((len(columns), len(spread)))
            rest[:, columns] = vectors * spread[columns]
            while number < len(columns) and tests(rest[number:]) <= level:
                number += 1
            projection = vectors[:number].T @ vectors[:number] * np.divide.outer(spread[columns], spread[columns])
        alone = [leaf for leaf in block if p_value([leaf]) <= level] if number > 1 else []
        if alone and p_value([leaf for leaf in block if leaf not in alone]) > level:
            columns = list(chain(*alone))
            projection = np.eye(len(columns))
        kept[np.ix_(columns, columns)] = projection
    return kept


class FairMetric(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """The common base of fair metrics, once their matrix is known."""

    directions_: Floats
    matrix_: Floats
    #: What `transform` multiplies by: a projection is its own root.
    _root: Floats

    def transform(self, X: Any) -> Any:
        """Map people to points whose squared Euclidean distance is the squared fair distance.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            People.

        Returns
        -------
        ndarray or frame of shape (n_samples, n_features)
            One point per person; the container is that of `set_output`.
        """
        check_is_fitted(self)
        return self._read(X)[1] @ self._root

    def _read(self, X: Any, *, reset: bool = False) -> tuple[Features, Floats]:
        features = read_features(X)
        values = validate_data(self, features.as_input(features.values), reset=reset, dtype=np.float64)
        return features, values

    def _set(self, directions: Floats, matrix: Floats, root: Floats | None = None) -> Self:
        """Measure with a matrix, whose null space the directions span."""
        self.directions_, self.matrix_, self._root = directions, matrix, matrix if root is None else root
        if len(directions) == self.n_features_in_:
            warn(
                f"{type(self).__name__} lets people differ in every direction of X (n_features={self.n_features_in_}): "
                "the fair distance between any two people is 0, and a fair model predicts the same for all people."
            )
        return self


class Projection(FairMetric):
    """Let similar people differ along given directions.

    d²(x, x') = ‖(I - Π)(x - x')‖², with Π the orthogonal projection on the span of the directions.

    Parameters
    ----------
    directions : array-like of shape (k, n_features) or (n_features,), mapping, str, or list of the latter two
        Directions of any length, which need not be orthogonal. By name: ``{"income": 1, "rent": -0.3}``, where features
        that are not named weigh 0; ``"age"`` is ``{"age": 1}``. The columns of a DataFrame are names. A number in place
        of a name is a position, unless a column of `X` is labelled by it.

    Attributes
    ----------
    directions_ : ndarray of shape (k, n_features)
        Orthonormal rows that span the same space. Collinear directions count once.
    matrix_ : ndarray of shape (n_features, n_features)
        I - Π, so that d²(x, x') = (x - x') ``matrix_`` (x - x')'.
    n_features_in_ : int
        Columns of `X`.
    feature_names_in_ : ndarray of str
        Names of the columns, where `X` has names.

    See Also
    --------
    SensitiveSubspace : Directions that predict sensitive features.
    Mahalanobis : Any matrix.

    Notes
    -----
    `transform` takes the directions out of `X`: predictions of ``make_pipeline(Projection("age"), LinearSVC())`` are
    the same for people at distance 0.

    References
    ----------
    M. Yurochkin, A. Bower and Y. Sun (2020), Training individually fair ML models with sensitive subspace robustness,
    ICLR, section 4. S. Maity, S. Xue, M. Yurochkin and Y. Sun (2021), Statistical inference for individual fairness,
    ICLR, section 4.1.

    Examples
    --------
    >>> from skfairtest import Projection
    >>> metric = Projection([1.0, 0.0]).fit([[0.0, 0.0], [1.0, 2.0]])
    >>> metric.transform([[5.0, 2.0]])
    array([[0., 2.]])
    """

    def __init__(self, directions: Any = None) -> None:
        self.directions = directions

    def fit(self, X: Any, y: Any = None) -> Self:
        """Check that the directions are of the features of `X`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            People. Only what columns there are matters.
        y : object, optional
            Ignored.

        Returns
        -------
        Projection
            The fitted metric.

        Raises
        ------
        ValueError
            If the directions are not of as many dimensions as `X`, name other columns, or are all 0.

        Warns
        -----
        UserWarning
            If the directions span everything.
        """
        features, _ = self._read(X, reset=True)
        rows = _rows(self.directions, features)
        basis = span(rows)
        if len(rows) and not len(basis):
            raise ParameterError("directions are all 0: a direction says which features change together, and how much.")
        return self._set(basis, complement(basis))


def _rows(directions: Any, features: Features) -> Floats:
    """Return directions as rows of shape (k, n_features)."""
    if isinstance(directions, pd.DataFrame):
        directions = directions.to_dict("records")
    named, n_features = [directions] if isinstance(directions, Mapping | str) else directions, len(features.names)
    try:
        if isinstance(named, Sequence) and any(isinstance(direction, Mapping | str) for direction in named):
            rows: Floats = np.zeros((len(named), n_features))
            for row, direction in zip(rows, named, strict=True):
                weights = {direction: 1.0} if isinstance(direction, str) else dict(direction)
                row[features.positions(weights, "directions")] = list(weights.values())
        else:
            rows = np.array(directions, dtype=float)
            rows = np.atleast_2d(rows) if rows.size else np.empty((0, n_features))
    except (TypeError, ValueError) as error:
        if isinstance(error, ParameterError):
            raise
        rows = np.empty(0)
    if rows.ndim != 2 or rows.shape[1] != n_features or not np.isfinite(rows).all():
        raise ParameterError(
            f"directions must be rows of {n_features} finite numbers, one for each feature of X "
            f"({listed(features.names)}), or all by name, such as {{'income': 1, 'rent': -0.3}}; found {directions!r}."
        )
    return rows


class Mahalanobis(FairMetric):
    """Measure differences between people by a given matrix.

    d²(x, x') = (x - x') Σ (x - x')'. People may differ in the null space of Σ and still be similar.

    Parameters
    ----------
    matrix : array-like of shape (n_features, n_features)
        Σ, symmetric and positive semi-definite. Rows and columns of a DataFrame are names of features.

    Attributes
    ----------
    directions_ : ndarray of shape (k, n_features)
        Orthonormal rows: a basis of the null space; k = 0 where every difference counts.
    matrix_ : ndarray of shape (n_features, n_features)
        Σ.
    n_features_in_ : int
        Columns of `X`.
    feature_names_in_ : ndarray of str
        Names of the columns, where `X` has names.

    See Also
    --------
    Projection : Directions that do not count, and nothing else.

    Notes
    -----
    `transform` multiplies by the symmetric square root of Σ, so that features keep their names.

    References
    ----------
    D. Mukherjee, M. Yurochkin, M. Banerjee and Y. Sun (2020), Two simple ways to learn individual fairness metrics from
    data, ICML, equation 2.1.

    Examples
    --------
    >>> from skfairtest import Mahalanobis
    >>> metric = Mahalanobis([[0.0, 0.0], [0.0, 4.0]]).fit([[0.0, 0.0], [1.0, 2.0]])
    >>> metric.transform([[5.0, 1.0]])
    array([[0., 2.]])
    >>> metric.directions_
    array([[1., 0.]])
    """

    def __init__(self, matrix: Any = None) -> None:
        self.matrix = matrix

    def fit(self, X: Any, y: Any = None) -> Self:
        """Check that the matrix is one of the features of `X`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            People. Only what columns there are matters.
        y : object, optional
            Ignored.

        Returns
        -------
        Mahalanobis
            The fitted metric.

        Raises
        ------
        ValueError
            If the matrix is not symmetric or not positive semi-definite, or not of as many dimensions as `X`.
        """
        features, _ = self._read(X, reset=True)
        quadratic = Quadratic(_square(self.matrix, features))
        return self._set(quadratic.free_directions, quadratic.matrix, quadratic.square_root())


def _square(matrix: Any, features: Features) -> Floats:
    """Return a matrix in the order of the features."""
    names = list(features.names)
    try:
        named = matrix.rename(index=str, columns=str).loc[names, names] if isinstance(matrix, pd.DataFrame) else matrix
        square = np.array(named, dtype=float)
    except (KeyError, TypeError, ValueError):
        square = np.empty(0)
    if square.shape != (len(names), len(names)):
        raise ParameterError(
            f"matrix must be a square of numbers, shape {(len(names), len(names))} for the features of X "
            f"({listed(names)}), which are the names of rows and columns of a DataFrame; found {matrix!r}."
        )
    return square


class SensitiveSubspace(FairMetric):
    """A fair metric that ignores whatever predicts the sensitive features linearly.

    d²(x, x') = ‖(I - Π)(x - x')‖², with Π the orthogonal projection on the span of the coefficients of one regression
    per sensitive feature: logistic, of labels on `X`; ridge, of numbers with more than 20 distinct values, with the
    penalty ``||coef_||² / 10_000`` on the mean squared error (``Ridge()`` for 10,000 people). Two people who differ
    only in what distinguishes women from men are at distance 0.

    Parameters
    ----------
    classifier : linear classifier, optional
        Predicts labels; it is cloned, and has ``coef_`` after fit. None: a logistic regression with the penalty
        ``||coef_||² / 20_000`` on the mean loss, which is ``LogisticRegression()`` for 10,000 people.
    sensitive_columns : str, int or list of these, optional
        Columns of `X` that are sensitive themselves, by name, or by position where no column is labelled with that
        number. Similar people may differ in them, and the regressions do not use them.
    level : {"auto"}, float or None, default="auto"
        Keep only coefficients that are significant at this level, adjusted familywise; correlated columns are tested
        jointly. None: all coefficients, as published. "auto": the same, but in `IndividualFairnessTest` its own level.

    Attributes
    ----------
    directions_ : ndarray of shape (k, n_features)
        Orthonormal rows: a basis of the sensitive subspace, in which similar people may differ. Collinear directions
        count once.
    matrix_ : ndarray of shape (n_features, n_features)
        I - Π, so that d²(x, x') = (x - x') ``matrix_`` (x - x')'.
    n_features_in_ : int
        Columns of `X`.
    feature_names_in_ : ndarray of str
        Names of the columns, where `X` has names.

    See Also
    --------
    Projection : Directions given by an expert.

    Notes
    -----
    Distances are in the units of `X`: scale columns of different units first, as in ``make_pipeline(StandardScaler(),
    SensitiveSubspace())``, which is a fair metric as well.

    With `level`, coefficients are tested by robust Wald tests in a hierarchy of blocks of correlated columns
    (Meinshausen 2008).

    ``make_pipeline(SensitiveSubspace(), MLPClassifier())`` is the model "Project" of both papers.

    A metric that is learned from the people tested depends on them: learn it on other people.

    References
    ----------
    M. Yurochkin, A. Bower and Y. Sun (2020), Training individually fair ML models with sensitive subspace robustness,
    ICLR, section 4. S. Maity, S. Xue, M. Yurochkin and Y. Sun (2021), Statistical inference for individual fairness,
    ICLR, section 4.2 and appendix F.2. N. Meinshausen (2008), Hierarchical testing of variable importance, Biometrika
    95.

    Examples
    --------
    >>> import numpy as np
    >>> from skfairtest import SensitiveSubspace
    >>> sex = np.array(["f", "m"] * 50)
    >>> skills = np.sin(np.arange(100.0))
    >>> height = np.where(sex == "m", 1.0, -1.0) + np.cos(np.arange(100.0) ** 2)
    >>> X = np.column_stack([skills, height])
    >>> metric = SensitiveSubspace().fit(X, sensitive_features=sex)
    >>> metric.directions_.round(2)
    array([[-0.04,  1.  ]])
    >>> taller, more_skilled = [0.0, 2.0], [1.0, 0.0]
    >>> np.linalg.norm(metric.transform([taller, more_skilled]), axis=1).round(2)
    array([0.08, 1.  ])
    """

    __metadata_request__fit: ClassVar[dict[str, bool]] = {"sensitive_features": True}

    #: What is kept for each sensitive feature, if it was selected before `fit`, and what `fit` kept.
    _given_supports: list[Floats | None] | None = None
    _supports: list[Floats | None]

    def __init__(self, classifier: Any = None, sensitive_columns: Any = None, level: Any = "auto") -> None:
        self.classifier = classifier
        self.sensitive_columns = sensitive_columns
        self.level = level

    def fit(self, X: Any, y: Any = None, *, sensitive_features: Any = None) -> Self:
        """Find the directions that predict the sensitive features.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            People.
        y : object, optional
            Ignored.
        sensitive_features : array-like, frame or mapping
            One or several columns of length n_samples: labels, or numbers. Text and pandas categories are labels,
            however many there are. Not needed if `sensitive_columns` is enough.

        Returns
        -------
        SensitiveSubspace
            The fitted metric.

        Raises
        ------
        ValueError
            If there are no sensitive features, one is constant, lengths differ, or nothing in
            `X` predicts any of them.

        Warns
        -----
        ConvergenceWarning, LinAlgWarning
            If the regression does not converge, as when the scales of the columns of `X` differ too much.
        UserWarning
            If the directions span everything.
        """
        features, values = self._read(X, reset=True)
        level = self.level
        if not isinstance(level, str) or level != "auto":
            check_number("level", level, 0, 1, bounds="()", optional=True)
        columns = self._sensitive_positions(features)
        if sensitive_features is None and not columns:
            raise ParameterError(MISSING)
        others = [i for i in range(values.shape[1]) if i not in columns]
        directions = [np.eye(values.shape[1])[columns]]
        if sensitive_features is not None:
            sensitive = read_columns(sensitive_features, "sensitive_features", default_name="sensitive_feature")
            check_rows(X, sensitive_features=sensitive)
            X, self._supports = values[:, others], []
            given = self._given_supports or [None] * len(sensitive)
            tested = is_number(level) and others and any(kept is None for kept in given)
            design = Design(X) if tested else None
            for column, kept in zip(sensitive, given, strict=True):
                coefficients = self._coefficients(X, design, column, kept) if others else X[:0]
                directions.append(np.zeros((len(coefficients), values.shape[1])))
                directions[-1][:, others] = coefficients
        basis = span(np.concatenate(directions))
        if not len(basis):
            raise ParameterError(
                "sensitive_features: nothing in X predicts them, not even by chance: X is the same for all people, or "
                "every coefficient is 0 (a classifier with a strong l1 penalty). There is no direction in which "
                "similar people could differ."
            )
        return self._set(basis, complement(basis))

    def _sensitive_positions(self, features: Features) -> list[int]:
        """Return the positions of `sensitive_columns`, in increasing order."""
        named: Any = [] if self.sensitive_columns is None else self.sensitive_columns
        several = isinstance(named, list | tuple | np.ndarray | pd.Index)
        return sorted(features.positions(named if several else [named], "sensitive_columns"))

    def _coefficients(self, X: Floats, design: Design | None, column: Column, kept: Floats | None) -> Floats:
        """The directions free because of a sensitive feature, of shape (m, n_features); `kept`: those selected."""
        responses = responses_of(column)
        if kept is None and design is not None and design.rank:
            itself = exact_columns(design, responses)
            if len(itself):
                _, lengths, vectors = np.linalg.svd(design.centred[:, itself], full_matrices=False)
                free: Floats = np.zeros((len(vectors), X.shape[1]))
                free[:, itself] = vectors
                self._supports.append(None)
                return np.asarray(free[lengths > _NO_SPREAD * lengths[0]])
            kept = support(design, responses[:, : max(1, responses.shape[1] - 1)], float(self.level))
        self._supports.append(kept)
        coefficients = _with_spread(self._regress(X, column), X)
        return coefficients if kept is None else coefficients @ kept

    def _regress(self, X: Floats, column: Column) -> Floats:
        """Return the coefficients of a regression of a sensitive feature on X, of shape (m, n_features)."""
        from sklearn.linear_model import LogisticRegression, Ridge  # here, as importing it takes time

        numbers = numbers_of(column)
        if numbers is None:
            small = len(column.levels) * X.shape[1] <= _LARGE_HESSIAN  # a matrix of second derivatives is inverted
            solver = "newton-cholesky" if small else "newton-cg"
            default = LogisticRegression(C=_PEOPLE / len(X), solver=solver, tol=1e-10, max_iter=1000)
            # The intercept is not penalized: around the mean the coefficients are the same, and better computed.
            model, rows = (default, X - X.mean(axis=0)) if self.classifier is None else (clone(self.classifier), X)
            coefficients = getattr(model.fit(rows, column.codes), "coef_", np.nan)
            found = np.atleast_2d(coefficients.toarray() if hasattr(coefficients, "toarray") else coefficients)
            if found.shape[1] != X.shape[1] or not np.isfinite(found).all():
                raise ParameterError(
                    f"classifier={model!r} must have a coef_ after fit, finite numbers for each of {X.shape[1]} "
                    "features: the sensitive subspace is made of the coefficients of a linear model of X."
                )
            return found
        # Least squares on centred features through their singular values: scales do not matter.
        ridge = Ridge(len(X) / _PEOPLE, solver="svd")
        return np.atleast_2d(ridge.fit(X - X.mean(axis=0), (numbers - numbers.mean()) / numbers.std()).coef_)


def numbers_of(column: Column) -> Floats | None:
    """Return a sensitive feature as numbers; None if it is one of labels."""
    # Levels are those of all people: a subset may have too few of them for numbers to be recognised.
    return None if column.categorical or len(column.levels) <= WARN_GROUPS else column.numbers


def responses_of(column: Column) -> Floats:
    """Return a sensitive feature as numbers (n, 1), or as the indicators of the labels that occur (n, n_labels)."""
    where, present = f"sensitive_features (column {column.name!r})", np.unique(column.codes)
    numbers = numbers_of(column)
    if len(present) == 1:
        raise ParameterError(
            f"{where} is {column.levels[present[0]]!r} for all people (n_samples={len(column)}): it needs at least two "
            "values before anything can predict it."
        )
    if numbers is not None:
        if not np.isfinite(numbers).all():
            raise ParameterError(f"{where} must hold finite numbers; found inf.")
        return numbers[:, None]
    if len(present) > MAX_GROUPS:
        raise ParameterError(
            f"{where} has {len(present):,} distinct labels, more than {MAX_GROUPS}: group them, or pass numbers."
        )
    return np.asarray(column.codes[:, None] == present, dtype=float)


def _with_spread(coefficients: Floats, X: Floats) -> Floats:
    """Return coefficients, with zeros for those that are only rounding errors."""
    spread = ((X - X.mean(axis=0)) @ coefficients.T).std(axis=0)
    return np.where(spread[:, None] > _NO_SPREAD, coefficients, 0.0)
