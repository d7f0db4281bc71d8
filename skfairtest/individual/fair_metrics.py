"""Fair distances: transformers after which the squared Euclidean distance is the fair one.

What a fair metric does not see, two similar people may differ in. Everything else about it is linear algebra that any
affine transformer shares, so that a fair metric can be a step of a pipeline, and a pipeline a fair metric.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from scipy.linalg import LinAlgWarning
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.utils.validation import check_is_fitted, validate_data

from skfairtest.inference._discrete import Floats
from skfairtest.inference.quadratic import Quadratic
from skfairtest.inference.subspaces import complement, span, square_root
from skfairtest.readers import (
    MAX_GROUPS,
    WARN_GROUPS,
    Column,
    Features,
    as_numbers,
    check_rows,
    read_columns,
    read_features,
)
from skfairtest.readers.levels import listed

#: So many people make the default penalty that of ``LogisticRegression()`` and ``Ridge()``.
_PEOPLE = 10_000
#: So many coefficients of a logistic regression are found by inverting the matrix of second derivatives.
_LARGE_HESSIAN = 500
#: Scores that spread less than this are those of coefficients that are 0.
_NO_SPREAD = 1e-9


class FairMetric(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """What fair metrics have in common, once their matrix is known."""

    _is_affine = True

    directions_: Floats
    matrix_: Floats

    def transform(self, X: Any) -> Any:
        """Move people to where the squared Euclidean distance is the fair one.

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
        _, values = self._read(X)
        return values @ self._root

    def distance(self, X: Any, X_other: Any) -> Floats:
        """Return how far apart people are.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            People.
        X_other : array-like of shape (n_samples, n_features)
            Whom each is compared with, in the same order; one row is compared with everybody.

        Returns
        -------
        ndarray of shape (n_samples,)
            The fair distance d, not squared.

        Raises
        ------
        ValueError
            If lengths differ, or pandas indexes hold the same labels in another order.
        """
        check_is_fitted(self)
        _, people = self._read(X)
        _, others = self._read(X_other)
        if 1 not in (len(people), len(others)):
            check_rows(X, X_other=X_other)
        distances: Floats = np.linalg.norm((people - others) @ self._root, axis=1)
        return distances

    def _read(self, X: Any, *, reset: bool = False) -> tuple[Features, Floats]:
        features = read_features(X)
        values = validate_data(self, features.as_input(features.values), reset=reset, dtype=np.float64)
        return features, values

    def _set_free(self, directions: Floats) -> Self:
        """Measure everything but what lies along orthonormal directions."""
        self.directions_ = directions
        self.matrix_ = self._root = complement(directions)
        return self._warn_of_nothing()

    def _set_matrix(self, quadratic: Quadratic) -> Self:
        """Measure with a matrix, whose null space is free."""
        none = np.empty((0, len(quadratic.matrix)))
        self.directions_ = quadratic.free_directions if quadratic.has_free_directions else none
        self.matrix_, self._root = quadratic.matrix, square_root(quadratic)
        return self._warn_of_nothing()

    def _warn_of_nothing(self) -> Self:
        if len(self.directions_) == self.n_features_in_:
            what = "every direction" if self.n_features_in_ > 1 else "the only column"
            warnings.warn(
                f"{type(self).__name__} lets people differ in {what} of X (n_features={self.n_features_in_}): the "
                "fair distance between any two people is 0, and a fair model says the same of everybody.",
                UserWarning,
                stacklevel=4,
            )
        return self


class SensitiveSubspace(FairMetric):
    """Let similar people differ in whatever predicts sensitive features linearly.

    d²(x, x') = ‖(I - Π)(x - x')‖², with Π the orthogonal projection on the span of the coefficients of one regression
    per sensitive feature: logistic, of labels on `X`; ridge, of numbers with more than 20 distinct values. Two people
    who differ only by what tells women from men are at distance 0.

    Parameters
    ----------
    classifier : linear classifier, optional
        Predicts labels; cloned. Any with ``coef_`` after fit: one row for two labels, otherwise one per label. None: a
        logistic regression with the penalty ``||coef_||² / 20_000`` on the mean loss, which is ``LogisticRegression()``
        of 10,000 people. Its own penalty does not grow with the number of people, so that everybody counted twice would
        be another metric; this one is the same.
    regressor : linear regressor, optional
        Predicts numbers; cloned. Any with ``coef_`` after fit. None: a ridge regression with the penalty
        ``||coef_||² / 10_000`` on the mean squared error, which is ``Ridge()`` of 10,000 people.
    sensitive_columns : str, int or list of these, optional
        Columns of `X` that are sensitive themselves, by name or position. People may differ in them, and regressions do
        without them.

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
    Projection : Directions that an expert names.
    ComparablePairs : A metric from judgements of who is comparable.

    Notes
    -----
    Distances are in the units of the columns of `X`: put columns of different units on one scale first, as in
    ``make_pipeline(StandardScaler(), SensitiveSubspace())``, which is a fair metric as well.

    `transform` takes the sensitive subspace out of `X`. ``make_pipeline(SensitiveSubspace(), MLPClassifier())`` is
    therefore the model "Project" of both papers: its predictions are the same for people at distance 0.

    Whatever is learned from people and then tested on them depends on them: learn the metric on other people.

    References
    ----------
    M. Yurochkin, A. Bower and Y. Sun (2020), Training individually fair ML models with sensitive subspace robustness,
    ICLR, section 4. S. Maity, S. Xue, M. Yurochkin and Y. Sun (2021), Statistical inference for individual fairness,
    ICLR, section 4.2 and appendix F.2.

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
    >>> shorter, taller, more_skilled = [0.0, -1.0], [0.0, 1.0], [1.0, -1.0]
    >>> metric.distance([shorter, shorter], [taller, more_skilled]).round(2)
    array([0.08, 1.  ])
    """

    __metadata_request__fit: ClassVar[dict[str, bool]] = {"sensitive_features": True}

    def __init__(self, classifier: Any = None, regressor: Any = None, sensitive_columns: Any = None) -> None:
        self.classifier = classifier
        self.regressor = regressor
        self.sensitive_columns = sensitive_columns

    def fit(self, X: Any, y: Any = None, *, sensitive_features: Any = None) -> Self:
        """Find what predicts the sensitive features.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            People.
        y : object, optional
            Ignored.
        sensitive_features : array-like, frame or mapping
            One or several columns of length n_samples: labels, or numbers. Text and pandas categories are labels,
            however many. May be left out where `sensitive_columns` says enough.

        Returns
        -------
        SensitiveSubspace
            The fitted metric.

        Raises
        ------
        ValueError
            If there are no sensitive features, one has the same value for everybody, lengths differ, or nothing in
            `X` predicts any of them.

        Warns
        -----
        ConvergenceWarning
            If the scales of the columns of `X` are too different for a regression.
        UserWarning
            If the directions span everything.
        """
        features, values = self._read(X, reset=True)
        columns = _positions(self.sensitive_columns, features)
        if sensitive_features is None and not columns:
            raise _without_groups(self)
        others = [i for i in range(values.shape[1]) if i not in columns]
        directions = [np.eye(values.shape[1])[columns]]
        if sensitive_features is not None:
            sensitive = read_columns(sensitive_features, "sensitive_features", default_name="sensitive_feature")
            check_rows(X, sensitive_features=sensitive)
            for column in sensitive:
                coefficients = np.zeros((0, len(others)))
                if others:
                    found = self._regress(values[:, others], column, _is_categorical(sensitive_features, column.name))
                    coefficients = _with_spread(found, values[:, others])
                directions.append(np.zeros((len(coefficients), values.shape[1])))
                directions[-1][:, others] = coefficients
        basis = span(np.concatenate(directions))
        if not len(basis):
            raise ValueError(
                "sensitive_features: nothing in X predicts them, not even by chance: X is the same for everybody, or "
                "every coefficient is 0 (a classifier with a strong l1 penalty). There is no direction in which "
                "similar people could differ."
            )
        return self._set_free(basis)

    def _regress(self, X: Floats, column: Column, categorical: bool) -> Floats:
        """Return the coefficients of a regression of a sensitive feature on X, of shape (m, n_features)."""
        where = f"sensitive_features (column {column.name!r})"
        if len(column.levels) == 1:
            raise ValueError(
                f"{where} is {column.levels[0]!r} for everybody (n_samples={len(column)}): it takes at least two "
                "values to find out what predicts them."
            )
        numbers = None if categorical or len(column.levels) <= WARN_GROUPS else as_numbers(column)
        if numbers is None:
            if len(column.levels) > MAX_GROUPS:
                raise ValueError(
                    f"{where} has {len(column.levels):,} distinct labels, more than {MAX_GROUPS}: group them, or pass "
                    "numbers."
                )
            if self.classifier is not None:
                return _coefficients(self.classifier, X, column.codes, "classifier", where)
            return _logistic(X, column, where)
        if not np.isfinite(numbers).all():
            raise ValueError(f"{where} must hold finite numbers; found inf.")
        if self.regressor is not None:
            return _coefficients(self.regressor, X, numbers, "regressor", where)
        # Least squares on centred features through their singular values: scales do not matter.
        ridge = Ridge(len(X) / _PEOPLE, solver="svd")
        return _coefficients(ridge, X - X.mean(axis=0), (numbers - numbers.mean()) / numbers.std(), "regressor", where)


class NoGroupsError(ValueError):
    """A fair metric that learns from sensitive features was given none."""


def _without_groups(metric: BaseEstimator) -> NoGroupsError:
    step = type(metric).__name__.lower()
    return NoGroupsError(
        "sensitive_features is missing: the fair metric is learned from what predicts them. Pass one or several "
        "columns, one value per person, for instance fit(X, sensitive_features=df['sex']); as a step of a Pipeline: "
        f"pipeline.fit(X, y, {step}__sensitive_features=df['sex']); or switch routing on, "
        "sklearn.set_config(enable_metadata_routing=True), and pipeline.fit(X, y, sensitive_features=df['sex']): the "
        "request is made already. Columns of X that are sensitive themselves are named by sensitive_columns."
    )


def _logistic(X: Floats, column: Column, where: str) -> Floats:
    """Return the coefficients of a logistic regression whose penalty is per person."""
    # Newton's method is as exact as floats are in a few steps; the matrix it inverts may only be too large.
    small = len(column.levels) * X.shape[1] <= _LARGE_HESSIAN
    model = LogisticRegression(
        C=_PEOPLE / len(X), solver="newton-cholesky" if small else "newton-cg", tol=1e-10, max_iter=1000
    )
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        # The intercept is not penalized: around the mean the coefficients are the same, and better computed.
        found = _coefficients(model, X - X.mean(axis=0), column.codes, "classifier", where)
    if any(issubclass(warning.category, ConvergenceWarning | LinAlgWarning) for warning in heard):
        scales = X.std(axis=0)
        scales = scales[scales > 0]
        warnings.warn(
            f"{where}: the logistic regression on X found its coefficients only roughly. The scales of the columns of "
            f"X go from {scales.min():.3g} to {scales.max():.3g}, and fair distances are in their units: put them on "
            "one scale first, as in make_pipeline(StandardScaler(), SensitiveSubspace()).",
            ConvergenceWarning,
            stacklevel=4,
        )
    return found


def _coefficients(model: Any, X: Floats, target: Any, parameter: str, where: str) -> Floats:
    """Fit a clone of a linear model, and return its coefficients, of shape (m, n_features)."""
    if not hasattr(model, "fit") or isinstance(model, type):
        raise ValueError(f"{parameter} must be a linear estimator of scikit-learn, not fitted; found {model!r}.")
    fitted = clone(model).fit(X, target)
    found = getattr(fitted, "coef_", None)
    if found is None:
        raise ValueError(
            f"{parameter}={model!r} has no coef_ after fit: the sensitive subspace is made of the coefficients of a "
            "linear model of X."
        )
    found = found.toarray() if hasattr(found, "toarray") else np.asarray(found, dtype=float)
    rows: Floats = np.atleast_2d(found)
    if rows.ndim != 2 or rows.shape[1] != X.shape[1] or not np.isfinite(rows).all():
        raise ValueError(
            f"{parameter}={model!r} has a coef_ of shape {found.shape} for {where}: it takes finite numbers, one for "
            f"each of {X.shape[1]} features."
        )
    return rows


def _with_spread(coefficients: Floats, X: Floats) -> Floats:
    """Return coefficients with zeros for those that tell nobody from anybody, which are rounding errors."""
    spread = ((X - X.mean(axis=0)) @ coefficients.T).std(axis=0)
    return np.where(spread[:, None] > _NO_SPREAD, coefficients, 0.0)


def _is_categorical(data: Any, name: str) -> bool:
    """Tell whether pandas says that a column is of labels, even if they are numbers."""
    if isinstance(data, pd.DataFrame):
        data = next((column for key, column in data.items() if str(key) == name), None)
    elif isinstance(data, Mapping):
        data = data.get(name)
    return isinstance(getattr(data, "dtype", None), pd.CategoricalDtype)


def _positions(columns: Any, features: Features) -> list[int]:
    """Return the positions of columns of X, given by name or position."""
    if columns is None:
        return []
    several = columns if isinstance(columns, list | tuple | np.ndarray | pd.Index) else [columns]
    found = set()
    for column in several:
        if isinstance(column, str) and column in features.names:
            found.add(features.names.index(column))
        elif _is_position(column) and 0 <= column < len(features.names):
            found.add(int(column))
        else:
            raise ValueError(
                f"sensitive_columns must be names of columns of X, {listed(features.names)}, or positions from 0 to "
                f"{len(features.names) - 1}; found {column!r}."
            )
    return sorted(found)


def _is_position(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


class Projection(FairMetric):
    """Let similar people differ along given directions.

    d²(x, x') = ‖(I - Π)(x - x')‖², with Π the orthogonal projection on the span of the directions.

    Parameters
    ----------
    directions : array-like of shape (k, n_features) or (n_features,), mapping, str, or list of the latter two
        Directions of any length, which need not be orthogonal. By name: ``{"income": 1, "rent": -0.3}``, where features
        that are not named weigh 0; ``"age"`` is ``{"age": 1}``. The columns of a DataFrame are names.

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
    >>> metric.distance([[0.0, 0.0]], [[5.0, 2.0]])
    array([2.])
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
            raise ValueError("directions are all 0: a direction says which features change together, and how much.")
        return self._set_free(basis)


def _rows(directions: Any, features: Features) -> Floats:
    """Return directions as rows of shape (k, n_features)."""
    if directions is None:
        raise ValueError(
            "directions is missing: pass the directions along which similar people may differ, as rows of numbers, or "
            "by name, such as {'income': 1, 'rent': -0.3}."
        )
    if isinstance(directions, pd.DataFrame):
        directions = [dict(zip(directions.columns, row, strict=True)) for row in directions.to_numpy()]
    named = [directions] if isinstance(directions, Mapping | str) else directions
    if isinstance(named, Sequence) and any(isinstance(direction, Mapping | str) for direction in named):
        return np.stack([_named_row(direction, features) for direction in named])
    try:
        rows = np.array(directions, dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"directions must be rows of numbers, all of one length; found {directions!r}.") from error
    rows = rows[None, :] if rows.ndim == 1 and rows.size else rows
    n_features = len(features.names)
    if not rows.size:
        return np.empty((0, n_features))
    if rows.ndim != 2 or rows.shape[1] != n_features:
        raise ValueError(
            f"directions are of the wrong dimension: shape {np.shape(directions)}, and X has {n_features} features. "
            f"Pass one row of {n_features} numbers per direction: {listed(features.names)}."
        )
    if not np.isfinite(rows).all():
        raise ValueError("directions must be finite numbers; found NaN or inf.")
    return rows


def _named_row(direction: Any, features: Features) -> Floats:
    weights = {direction: 1.0} if isinstance(direction, str) else direction
    if not isinstance(weights, Mapping):
        raise ValueError(f"directions must be all by name, or all rows of numbers; found {direction!r} among names.")
    row = np.zeros(len(features.names))
    for name, weight in weights.items():
        if str(name) not in features.names:
            raise ValueError(f"directions: X has no column {name!r}; its columns are {listed(features.names)}.")
        if not isinstance(weight, Real) or not np.isfinite(float(weight)):
            raise ValueError(f"directions: the weight of {name!r} must be a finite number; found {weight!r}.")
        row[features.names.index(str(name))] = float(weight)
    return row


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
    ComparablePairs : A matrix learned from judgements.

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
    >>> metric.distance([[0.0, 0.0]], [[5.0, 1.0]])
    array([2.])
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
        return self._set_matrix(Quadratic(_square(self.matrix, features)))


def _square(matrix: Any, features: Features) -> Floats:
    """Return a matrix in the order of the features."""
    if matrix is None:
        raise ValueError("matrix is missing: pass the matrix of squared distances, of shape (n_features, n_features).")
    if isinstance(matrix, pd.DataFrame):
        rows, columns = [str(name) for name in matrix.index], [str(name) for name in matrix.columns]
        wanted = sorted(features.names)
        if sorted(rows) != wanted or sorted(columns) != wanted:
            raise ValueError(
                f"matrix has rows {listed(rows)} and columns {listed(columns)}, and X has the columns "
                f"{listed(features.names)}: name them alike, or pass matrix.to_numpy() in the order of X."
            )
        order = [rows.index(name) for name in features.names], [columns.index(name) for name in features.names]
        matrix = matrix.to_numpy()[np.ix_(*order)]
    try:
        square = np.array(matrix, dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"matrix must be a square of numbers; found {matrix!r}.") from error
    n_features = len(features.names)
    if square.ndim == 2 and square.shape[0] == square.shape[1] != n_features:
        raise ValueError(
            f"matrix is of the wrong dimension: shape {square.shape}, and X has {n_features} features: "
            f"{listed(features.names)}."
        )
    return square
