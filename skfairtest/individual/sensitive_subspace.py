"""The fair metric learned from what predicts the sensitive features."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from scipy.linalg import LinAlgWarning
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning

from skfairtest._utils.checks import is_number
from skfairtest._utils.errors import ParameterError, warn
from skfairtest._utils.typing import Floats
from skfairtest.individual.fair_metrics import FairMetric
from skfairtest.individual.flow.evidence import exact_columns, support
from skfairtest.individual.flow.quadratic import span
from skfairtest.individual.models.features import Features
from skfairtest.readers import MAX_GROUPS, WARN_GROUPS, Column, as_numbers, check_rows, read_columns

#: So many people make the default penalty that of ``LogisticRegression()`` and ``Ridge()``.
_PEOPLE = 10_000
#: So many coefficients of a logistic regression are found by inverting the matrix of second derivatives.
_LARGE_HESSIAN = 500
#: Scores that spread less than this are those of coefficients that are 0.
_NO_SPREAD = 1e-9


class SensitiveSubspace(FairMetric):
    """A fair metric that ignores whatever predicts the sensitive features linearly.

    d²(x, x') = ‖(I - Π)(x - x')‖², with Π the orthogonal projection on the span of the coefficients of one regression
    per sensitive feature: logistic, of labels on `X`; ridge, of numbers with more than 20 distinct values. Two people
    who differ only in what distinguishes women from men are at distance 0.

    Parameters
    ----------
    classifier : linear classifier, optional
        Predicts labels; it is cloned. Any classifier that has ``coef_`` after fit: one row for two labels, otherwise
        one per label. None: a logistic regression with the penalty ``||coef_||² / 20_000`` on the mean loss, which is
        ``LogisticRegression()`` for 10,000 people. The penalty of ``LogisticRegression()`` itself does not grow with
        the number of people, so that counting everybody twice would change the metric; with this penalty it does not.
    regressor : linear regressor, optional
        Predicts numbers; it is cloned. Any regressor that has ``coef_`` after fit. None: a ridge regression with the
        penalty ``||coef_||² / 10_000`` on the mean squared error, which is ``Ridge()`` for 10,000 people.
    sensitive_columns : str, int or list of these, optional
        Columns of `X` that are sensitive themselves, by name, or by position where no column is labelled with that
        number. Similar people may differ in them, and the regressions do not use them.
    level : float, optional
        Keep only what is significant at this level. A coefficient whose familywise-adjusted p-value is larger is 0;
        columns that correlate, and hide each other, are tested jointly. If nothing is significant, what has the
        smallest p-value is kept. A sensitive feature that is itself a linear function of some columns of `X`, such as a
        column of it, frees these columns and nothing else. None: all coefficients, as published.
        `IndividualFairnessTest` sets it, unless ``require_trace=False``.

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
    Distances are in the units of the columns of `X`: bring columns of different units to one scale first, as in
    ``make_pipeline(StandardScaler(), SensitiveSubspace())``, which is a fair metric as well.

    A regression finds a direction whether or not there is one: of a coin flip it finds noise, which is as long as any
    other direction once it is normalized. With `level`, coefficients are tested by Wald tests of a linear regression on
    all columns, robust to unequal errors, in a hierarchy of blocks of correlated columns (Meinshausen 2008).

    `transform` takes the sensitive subspace out of `X`. ``make_pipeline(SensitiveSubspace(), MLPClassifier())`` is
    therefore the model "Project" of both papers: its predictions are the same for people at distance 0.

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
    >>> shorter, taller, more_skilled = [0.0, -1.0], [0.0, 1.0], [1.0, -1.0]
    >>> metric.distance([shorter, shorter], [taller, more_skilled]).round(2)
    array([0.08, 1.  ])
    """

    __metadata_request__fit: ClassVar[dict[str, bool]] = {"sensitive_features": True}

    #: What is kept for each sensitive feature, if it was selected before `fit`, and what `fit` kept.
    _given_supports: list[Floats | None] | None = None
    _supports: list[Floats | None]

    def __init__(
        self, classifier: Any = None, regressor: Any = None, sensitive_columns: Any = None, level: float | None = None
    ) -> None:
        self.classifier = classifier
        self.regressor = regressor
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
        if self.level is not None and (not is_number(self.level) or not 0 < self.level < 1):
            raise ParameterError(f"level must be a number between 0 and 1, such as 0.05, or None; found {self.level!r}")
        columns = self._sensitive_positions(features)
        if sensitive_features is None and not columns:
            raise _without_groups(self)
        others = [i for i in range(values.shape[1]) if i not in columns]
        directions = [np.eye(values.shape[1])[columns]]
        if sensitive_features is not None:
            sensitive = read_columns(sensitive_features, "sensitive_features", default_name="sensitive_feature")
            check_rows(X, sensitive_features=sensitive)
            given, self._supports = self._given_supports, []
            for place, column in enumerate(sensitive):
                coefficients = np.zeros((0, len(others)))
                if others:
                    kept = None if given is None else given[place]
                    coefficients = self._coefficients(values[:, others], column, kept)
                directions.append(np.zeros((len(coefficients), values.shape[1])))
                directions[-1][:, others] = coefficients
        basis = span(np.concatenate(directions))
        if not len(basis):
            raise ParameterError(
                "sensitive_features: nothing in X predicts them, not even by chance: X is the same for everybody, or "
                "every coefficient is 0 (a classifier with a strong l1 penalty). There is no direction in which "
                "similar people could differ."
            )
        return self._set_free(basis)

    def _sensitive_positions(self, features: Features) -> list[int]:
        """Return the positions of `sensitive_columns`, in increasing order."""
        named: Any = [] if self.sensitive_columns is None else self.sensitive_columns
        several = isinstance(named, list | tuple | np.ndarray | pd.Index)
        return sorted(features.positions(named if several else [named], "sensitive_columns"))

    def _coefficients(self, X: Floats, column: Column, kept: Floats | None) -> Floats:
        """The directions free because of a sensitive feature, of shape (m, n_features); `kept`: those selected."""
        if self.level is None or not (X.std(axis=0) > 0).any():
            return _with_spread(self._regress(X, column), X)
        responses = responses_of(column)
        if responses is not None:
            itself = exact_columns(X, responses)
            if len(itself):
                _, lengths, vectors = np.linalg.svd(X[:, itself] - X[:, itself].mean(axis=0), full_matrices=False)
                found = np.zeros((len(vectors), X.shape[1]))
                found[:, itself] = vectors
                self._supports.append(None)
                free: Floats = found[lengths > _NO_SPREAD * lengths[0]]
                return free
        found = _with_spread(self._regress(X, column), X)  # it refuses what has no responses
        assert responses is not None
        if kept is None:
            kept = support(X, responses[:, : max(1, responses.shape[1] - 1)], self.level)
        self._supports.append(kept)
        selected: Floats = found @ kept
        return selected

    def _regress(self, X: Floats, column: Column) -> Floats:
        """Return the coefficients of a regression of a sensitive feature on X, of shape (m, n_features)."""
        where = f"sensitive_features (column {column.name!r})"
        present = np.unique(column.codes)
        if len(present) == 1:
            raise ParameterError(
                f"{where} is {column.levels[present[0]]!r} for everybody (n_samples={len(column)}): it needs at least "
                "two values before anything can predict it."
            )
        numbers = numbers_of(column)
        if numbers is None:
            if len(column.levels) > MAX_GROUPS:
                raise ParameterError(
                    f"{where} has {len(column.levels):,} distinct labels, more than {MAX_GROUPS}: group them, or pass "
                    "numbers."
                )
            if self.classifier is not None:
                return _coefficients(self.classifier, X, column.codes, "classifier", where)
            return _logistic(X, column, where)
        if not np.isfinite(numbers).all():
            raise ParameterError(f"{where} must hold finite numbers; found inf.")
        if self.regressor is not None:
            return _coefficients(self.regressor, X, numbers, "regressor", where)
        from sklearn.linear_model import Ridge  # here, as importing it takes time

        # Least squares on centred features through their singular values: scales do not matter.
        ridge = Ridge(len(X) / _PEOPLE, solver="svd")
        return _coefficients(ridge, X - X.mean(axis=0), (numbers - numbers.mean()) / numbers.std(), "regressor", where)


def numbers_of(column: Column) -> Floats | None:
    """Return a sensitive feature as numbers; None if it is one of labels."""
    # Levels are those of everybody: of some people, who may have few of them, numbers are numbers all the same.
    return None if column.categorical or len(column.levels) <= WARN_GROUPS else as_numbers(column)


def responses_of(column: Column) -> Floats | None:
    """Return a sensitive feature as numbers (n, 1), or as the indicators of the labels that occur (n, n_labels).

    None if it is nothing that can be predicted: one value, infinite numbers, or too many labels.
    """
    present, numbers = np.unique(column.codes), numbers_of(column)
    if numbers is not None:
        return numbers[:, None] if np.isfinite(numbers).all() and len(present) > 1 else None
    if not 1 < len(present) <= MAX_GROUPS:
        return None
    return np.asarray(column.codes[:, None] == present, dtype=float)


class NoGroupsError(ValueError):
    """A fair metric that learns from sensitive features was given none."""


def _without_groups(metric: BaseEstimator) -> NoGroupsError:
    step = type(metric).__name__.lower()
    return NoGroupsError(
        "sensitive_features is missing: the fair metric is learned from what predicts them. Pass one or several "
        "columns, one value per person, for instance fit(X, sensitive_features=df['sex']); as a step of a Pipeline: "
        f"pipeline.fit(X, y, {step}__sensitive_features=df['sex']); or enable metadata routing with "
        "sklearn.set_config(enable_metadata_routing=True) and call pipeline.fit(X, y, sensitive_features=df['sex']): "
        "the request is already set. If columns of X are sensitive themselves, name them in sensitive_columns."
    )


def _logistic(X: Floats, column: Column, where: str) -> Floats:
    """Return the coefficients of a logistic regression whose penalty is per person."""
    from sklearn.linear_model import LogisticRegression  # here, as importing it takes time

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
        warn(
            f"{where}: the logistic regression on X did not converge. The scales of the columns of "
            f"X go from {scales.min():.3g} to {scales.max():.3g}, and fair distances are in their units: put them on "
            "one scale first, as in make_pipeline(StandardScaler(), SensitiveSubspace()).",
            ConvergenceWarning,
        )
    return found


def _coefficients(model: Any, X: Floats, target: Any, parameter: str, where: str) -> Floats:
    """Fit a clone of a linear model, and return its coefficients, of shape (m, n_features)."""
    if not hasattr(model, "fit") or isinstance(model, type):
        raise ParameterError(f"{parameter} must be a linear estimator of scikit-learn, not fitted; found {model!r}.")
    fitted = clone(model).fit(X, target)
    found = getattr(fitted, "coef_", None)
    if found is None:
        raise ParameterError(
            f"{parameter}={model!r} has no coef_ after fit: the sensitive subspace is made of the coefficients of a "
            "linear model of X."
        )
    found = found.toarray() if hasattr(found, "toarray") else np.asarray(found, dtype=float)
    rows: Floats = np.atleast_2d(found)
    if rows.ndim != 2 or rows.shape[1] != X.shape[1] or not np.isfinite(rows).all():
        raise ParameterError(
            f"{parameter}={model!r} has a coef_ of shape {found.shape} for {where}: it must have finite numbers, one "
            f"for each of {X.shape[1]} features."
        )
    return rows


def _with_spread(coefficients: Floats, X: Floats) -> Floats:
    """Return coefficients, with zeros for those that are only rounding errors and separate nobody."""
    spread = ((X - X.mean(axis=0)) @ coefficients.T).std(axis=0)
    return np.where(spread[:, None] > _NO_SPREAD, coefficients, 0.0)
