"""Does an outcome differ between two groups among people with the same covariates (generalised covariance measure).

Each person is predicted by models that have not seen this person (`cross_fitted`).

What covariates predict is taken from the outcome Y and from the indicator D of the first group:
e = Y - E(Y | X) and x = D - E(D | X). Where the outcome's mean given the
covariates is the same in both groups, the products e x have the mean 0, and their studentized mean
is normal in large samples, although both predictions have errors: only the product of these has to vanish faster than
1 / sqrt(n) (Shah and Peters 2020, theorem 6).

With few people that product is not all. Predictions vary with the people they are learned from: the product e x of
person i contains w_ij eps_j xi_i and w_ij eps_i xi_j for each person j that i is predicted from. Here eps and xi are
the errors around both expectations, and w_ij is how much j affects the prediction of i. The product of person j
contains the same two numbers with w_ji. Weights are about symmetric, since they say how alike two people are, and so
the numbers come in equal pairs, whose sum has twice the variance that they have one by one. The studentized mean is
therefore divided by the square root of 1 + (v + u) / (1 + v + u), with the variances v and u of both predictions as
shares of those of the errors. For least squares with p columns and n people v is p / n, and so is
(out - in) / (out + in), out of the mean squared residuals of new people and of those the model was fitted to; for
models that shrink this is an upper bound (compare Cattaneo, Jansson and Newey 2018). It vanishes with many people.

References
----------
R. D. Shah and J. Peters (2020). The hardness of conditional independence testing and the generalised covariance
measure. Annals of Statistics 48, 1514-1538.
P. M. Robinson (1988). Root-N-consistent semiparametric regression. Econometrica 56, 931-954.
M. D. Cattaneo, M. Jansson and W. K. Newey (2018). Alternative asymptotics and the partially linear model with many
regressors. Econometric Theory 34, 277-301.
V. Chernozhukov et al. (2018). Double/debiased machine learning for treatment and structural parameters. Econometrics
Journal 21, C1-C68. Section 4.1.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from numbers import Real
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, RegressorMixin, TransformerMixin, clone, is_classifier
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skfairtest._utils.checks import origin
from skfairtest._utils.errors import ParameterError
from skfairtest._utils.parallel import in_parallel, one_thread
from skfairtest._utils.text import label, name_of
from skfairtest._utils.typing import Floats, Positions
from skfairtest.comparisons.outcomes import numbers
from skfairtest.readers import Column


def studentized_mean(products: Floats) -> float:
    """Return the mean of independent numbers divided by its standard error; NaN where all are 0.

    The generalised covariance measure of Shah and Peters (2020), equation 3, if they are products of residuals.

    Examples
    --------
    >>> import numpy as np
    >>> round(studentized_mean(np.array([1.0, 2.0, 3.0, 2.0])), 4)
    5.6569
    """
    mean, spread = float(products.mean()), float(products.std())
    if spread <= 1e-14 * max(abs(mean), np.finfo(float).tiny):
        return float("nan") if not mean else float(np.sign(mean)) * np.inf
    return float(np.sqrt(len(products)) * mean / spread)


def variance_of_predictions(new: float, seen: float) -> float:
    """Return the variance of predictions over the people they are learned from, as a share of that of the errors.

    Examples
    --------
    Least squares with 20 columns of 100 people: errors of 1.2 and 0.8 times the variance.

    >>> round(variance_of_predictions(1.2, 0.8), 9)
    0.2
    """
    return max(0.0, (new - seen) / (new + seen)) if new + seen > 0 else 0.0


@dataclass(frozen=True)
class Residuals:
    """What covariates leave of an outcome and of the indicator of a group, for the people of one comparison.

    Parameters
    ----------
    outcome, group : ndarray of shape (n,)
        Residuals of people whom neither prediction has been fitted to.
    units : ndarray of shape (n,) or None
        The number of the cluster of each person, from 0 on; None: people are independent.
    varying : float
        The variances of both predictions, each as a share of that of the errors, added up.

    Examples
    --------
    >>> import numpy as np
    >>> outcome, group = np.array([1.0, -1.0, 2.0, -1.0]), np.array([0.5, -0.5, 0.4, -0.6])
    >>> of_truth, of_few = Residuals(outcome, group), Residuals(outcome, group, varying=0.25)
    >>> round(of_few.standard_error / of_truth.standard_error, 9) == round(1.2**0.5, 9)
    True
    """

    outcome: Floats
    group: Floats
    units: Positions | None = None
    varying: float = 0.0

    @property
    def inflation(self) -> float:
        """By how much standard errors are larger than those of the products one by one."""
        return float(np.sqrt(1 + self.varying / (1 + self.varying)))

    def sums(self) -> Floats:
        """Return the products of both residuals, summed up in clusters."""
        return self._of_units(self.outcome * self.group)

    def _of_units(self, values: Floats) -> Floats:
        return values if self.units is None else np.asarray(np.bincount(self.units, values), dtype=float)

    @property
    def squares(self) -> Floats:
        """Squared residuals of the group, summed up in clusters."""
        return self._of_units(self.group**2)

    @property
    def coefficient(self) -> float:
        """The effect in the partially linear model, sum(e x) / sum(x^2) (Robinson 1988).

        It is the difference of the groups given the covariates, averaged with the weights
        P(D = 1 | X) P(D = 0 | X): most where both groups are found.
        """
        return float((self.outcome @ self.group) / (self.group @ self.group))

    @property
    def standard_error(self) -> float:
        """Standard error of the coefficient (Chernozhukov et al. 2018, theorem 4.1)."""
        rest = self.sums() - self.coefficient * self.squares
        return float(np.sqrt(len(rest)) * rest.std() / self.squares.sum()) * self.inflation

    def statistic(self, coefficient: float = 0.0) -> float:
        """Return the studentized mean of the products that are left of a coefficient."""
        return studentized_mean(self.sums() - coefficient * self.squares) / self.inflation

    def limits(self, below: float, above: float) -> tuple[float, float]:
        """Return the coefficients whose statistic is no larger than one value, and no smaller than minus another.

        They are infinite where covariates say nearly always which group people are in.

        Examples
        --------
        >>> import numpy as np
        >>> residuals = Residuals(
        ...     np.array([1.0, -1.0, 2.0, -1.0]), np.array([0.5, -0.5, 0.4, -0.6])
        ... )
        >>> low, high = residuals.limits(1.0, 1.0)
        >>> round(residuals.statistic(low), 9), round(residuals.statistic(high), 9)
        (1.0, -1.0)
        """
        products, squares = self.sums(), self.squares
        n, mean, square = len(products), float(products.mean()), float(squares.mean())
        covariance = np.cov(products, squares, ddof=0) / n

        def limit(critical: float, sign: int) -> float:
            if np.isinf(critical):
                return sign * np.inf
            critical *= self.inflation
            # (mean - b square)^2 = critical^2 times the variance of the difference, a quadratic equation in b.
            a = square**2 - critical**2 * covariance[1, 1]
            half = mean * square - critical**2 * covariance[0, 1]
            c = mean**2 - critical**2 * covariance[0, 0]
            root = half**2 - a * c
            if a <= 0 or root < 0:
                return sign * np.inf
            return float((half + sign * np.sqrt(root)) / a)

        return limit(below, -1), limit(above, 1)


#: Where lines may bend, as shares of people; columns of which all pairs have products.
KNOTS = (0.1, 0.3, 0.5, 0.7, 0.9)
MOST_IN_PAIRS = 15
#: Of the trees that are boosted on what curves leave, and how many: more of them learn steps better, and need people.
TREES = {"max_leaf_nodes": 4, "learning_rate": 0.3}
TREES_OF, FEWEST_TREES, MOST_TREES = 400, 60, 300
#: Of whom averages predict, at the least: half the square root of the number of people.
FEWEST_NEIGHBOURS = 5


def n_trees(n: int) -> int:
    """The number of trees boosted with n people, which grows as their square root.

    Examples
    --------
    >>> n_trees(100), n_trees(400), n_trees(4000), n_trees(10**6)
    (60, 60, 189, 300)
    """
    return int(min(max(FEWEST_TREES, FEWEST_TREES * np.sqrt(n / TREES_OF)), MOST_TREES))


class BentLines(TransformerMixin, BaseEstimator):
    """Each column, the parts of it above some of its quantiles, and the products of all pairs of few columns."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the quantiles."""
        columns = np.asarray(X, dtype=float).T
        self.mean_, spread = columns.mean(axis=1), columns.std(axis=1)
        self.scale_ = np.where(spread > 0, spread, 1.0)
        self.knots_ = []
        for column in columns:
            inner = np.unique(np.quantile(column, KNOTS))
            self.knots_.append(inner[(inner > column.min()) & (inner < column.max())])
        return self

    def transform(self, X: Any) -> Floats:
        """Return the columns."""
        X = np.asarray(X, dtype=float)
        out = list(((X - self.mean_) / self.scale_).T)
        pairs = combinations(out, 2) if len(out) <= MOST_IN_PAIRS else ()
        products = [one * two for one, two in pairs]
        for column, knots, scale in zip(X.T, self.knots_, self.scale_, strict=True):
            out += [np.maximum(column - knot, 0.0) / scale for knot in knots.tolist()]
        return np.stack([*out, *products], axis=1)


def curves(model: Any) -> Any:
    """Return a linear model of bent lines and products."""
    return make_pipeline(BentLines(), StandardScaler(), model)


class CurvesThenTrees(RegressorMixin, BaseEstimator):
    """Curves of the columns, then boosted trees of what these leave: a number, or one of two by their probabilities.

    A part of the confounding stays in the products of residuals where it is missed by both models. Curves learn what is
    smooth, of two values by logits, from few people; trees learn steps. They are added up and not averaged by how well
    they predict: an average hands a part of the steps back to the curves. The penalty is light because the variance of
    predictions only costs power, and their bias costs the level.
    """

    def __init__(self, random_state: Any = None) -> None:
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Fit both, one after the other."""
        X, y = np.asarray(X, dtype=float), np.asarray(y, dtype=float)
        values: list[float] = np.unique(y).tolist()
        # Two values in any unit are predicted alike.
        self.binary_ = len(values) == 2
        self.low_, self.unit_ = (values[0], values[1] - values[0]) if self.binary_ else (0.0, 1.0)
        y = (y - self.low_) / self.unit_
        model = LogisticRegression(max_iter=1000) if self.binary_ else Ridge()
        # One thread: sums are the same, whatever processes the folds are divided among.
        with one_thread():
            self.curves_ = curves(model).fit(X, y.astype(int) if self.binary_ else y)
            self.trees_ = HistGradientBoostingRegressor(
                **TREES, max_iter=n_trees(len(y)), early_stopping=False, random_state=self.random_state
            )
            self.trees_.fit(X, y - self._curves(X))
        return self

    def predict(self, X: Any) -> Floats:
        """Return the expectation."""
        X = np.asarray(X, dtype=float)
        with one_thread():
            out = self._curves(X) + self.trees_.predict(X)
        return np.asarray(self.low_ + self.unit_ * (np.clip(out, 0.0, 1.0) if self.binary_ else out))

    def _curves(self, X: Any) -> Floats:
        out = self.curves_.predict_proba(X)[:, 1] if self.binary_ else self.curves_.predict(X)
        return np.asarray(out, dtype=float)


def neighbours(n: int) -> Any:
    """Return a learner unlike the others, which learns any shape from enough people: averages of those most alike."""
    return make_pipeline(StandardScaler(), KNeighborsRegressor(max(FEWEST_NEIGHBOURS, round(np.sqrt(n) / 2))))


def covariate_frame(columns: Sequence[Column]) -> pd.DataFrame:
    """Return covariates as numbers: numbers as they are, and a column of zeros and ones for each name."""
    out: dict[str, NDArray[Any]] = {}
    for column in sorted(columns, key=lambda one: one.name):
        quantities = all(isinstance(level, Real) for level in column.levels) and not column.categorical
        if quantities:
            values = numbers(column, f"covariates (column {column.name!r})")
            out[column.name] = values - origin(values)
        else:
            # One name less than there are: the last one follows from the others.
            for code, level in enumerate(column.levels[:-1] or column.levels):
                out[f"{column.name}={label(level)}"] = (column.codes == code).astype(float)
    return pd.DataFrame(out)


def folds_of(group: Positions, units: Positions | None, n_folds: int, seed: np.random.SeedSequence) -> Positions:
    """Divide people into folds with about the same shares of every group; clusters stay together."""
    state = int(seed.generate_state(1)[0])
    folds = np.zeros(len(group), dtype=np.intp)
    nothing = np.zeros((len(group), 1))
    if units is None:
        split = StratifiedKFold(n_folds, shuffle=True, random_state=state).split(nothing, group)
    else:
        split = StratifiedGroupKFold(n_folds, shuffle=True, random_state=state).split(nothing, group, units)
    for fold, (_, held_out) in enumerate(split):
        folds[held_out] = fold
    return folds


def seeded(model: Any, seed: np.random.SeedSequence) -> Any:
    """Return an unfitted copy whose random numbers follow from a seed, where it was given none."""
    model = clone(model)
    unset = [
        name
        for name, value in sorted(model.get_params().items())
        if (name == "random_state" or name.endswith("__random_state")) and value is None
    ]
    return model.set_params(**dict(zip(unset, map(int, seed.generate_state(len(unset))), strict=True)))


def predicted(model: Any, X: Any, where: str) -> Floats:
    """The expectation of a fitted model: a number, or the probability of 1."""
    if is_classifier(model):
        if not hasattr(model, "predict_proba"):
            raise ParameterError(
                f"{where}={name_of(model)} is a classifier without predict_proba, and residuals need probabilities: "
                "use sklearn.calibration.CalibratedClassifierCV, or a regressor"
            )
        out = model.predict_proba(X)[:, list(model.classes_).index(1)]
    else:
        out = model.predict(X)
    out = np.asarray(out, dtype=float).reshape(-1)
    if out.shape != (len(X),) or not np.isfinite(out).all():
        raise ParameterError(f"{where}={name_of(model)} must predict one finite number per person")
    return out


class Left(NamedTuple):
    """What predictions leave, and their variance as a share of that of the errors."""

    residuals: Floats
    varying: float


@dataclass(frozen=True)
class Target:
    """What is predicted from covariates: of which people (rows), by which model, named in messages as `where`.

    Of a model that is `beside` that of the test, only what it predicts of others is wanted.
    """

    rows: Positions
    values: Floats
    model: Any
    where: str
    beside: bool = False

    @property
    def key(self) -> tuple[str, bytes, bytes]:
        """What tells it from others."""
        return self.where, self.rows.tobytes(), self.values.tobytes()

    def left(self, folds: Positions, parts: Sequence[tuple[Floats, Floats]]) -> Left:
        """Put the predictions of all folds together, and return what they leave."""
        out = np.empty(len(self.rows))
        for fold, (predictions, _) in enumerate(parts):
            out[folds[self.rows] == fold] = predictions
        residuals = self.values - out
        if self.beside:
            return Left(residuals, np.nan)
        seen = float(np.mean(np.concatenate([of_seen for _, of_seen in parts]) ** 2))
        return Left(residuals, variance_of_predictions(float(np.mean(residuals**2)), seen))


def cross_fitted(
    X: pd.DataFrame, targets: Iterable[Target], folds: Positions, seed: np.random.SeedSequence, n_jobs: int | None
) -> dict[tuple[str, bytes, bytes], Left]:
    """Return the residuals of several targets by their keys, each person's by models that have not seen this person."""
    n_folds, once = int(folds.max()) + 1, {target.key: target for target in targets}
    pieces = [(target, fold) for target in once.values() for fold in range(n_folds)]
    seeds = seed.spawn(len(pieces))
    call: Callable[..., tuple[Floats, Floats]] = partial(_out_of_fold, X, folds)
    found = list(in_parallel(call, ((*piece, own) for piece, own in zip(pieces, seeds, strict=True)), n_jobs))
    parts = (found[start : start + n_folds] for start in range(0, len(found), n_folds))
    return {key: target.left(folds, of_folds) for (key, target), of_folds in zip(once.items(), parts, strict=True)}


def _out_of_fold(
    X: pd.DataFrame, folds: Positions, target: Target, fold: int, seed: np.random.SeedSequence
) -> tuple[Floats, Floats]:
    """Predict the people of a fold by a model of the others, and return what it leaves of these."""
    own = folds[target.rows] == fold
    if not own.any():
        return np.zeros(0), np.zeros(0)
    y = target.values[~own]
    if is_classifier(target.model):
        if not set(np.unique(target.values)) <= {0.0, 1.0}:
            raise ParameterError(
                f"{target.where}={name_of(target.model)} is a classifier, and the outcome has other values than two "
                "labels: pass a regressor"
            )
        y = y.astype(int)
    if len(np.unique(y)) == 1:  # nothing to learn, and no class for some classifiers
        return np.full(int(own.sum()), float(y[0])), np.zeros(len(y))
    known, new = X.iloc[target.rows[~own]], X.iloc[target.rows[own]]
    if target.beside:
        known, new = known.to_numpy(), new.to_numpy()  # names of columns take longer to check than to predict
    model = seeded(target.model, seed).fit(known, y)
    seen = np.zeros(0) if target.beside else y - predicted(model, known, target.where)
    return predicted(model, new, target.where), seen


def numbered(units: Positions) -> Positions:
    """Number the clusters that somebody is in, from 0 on."""
    return np.unique(units, return_inverse=True)[1].reshape(-1)
