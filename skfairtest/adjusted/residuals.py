"""What covariates predict of an outcome and of a group, by models that have not seen who is predicted."""

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
from skfairtest.adjusted.statistics import variance_of_predictions
from skfairtest.comparisons.outcomes import numbers
from skfairtest.readers import Column

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

    Confounding stays only if both models miss it. Curves and trees are added, not averaged, which would hand a part of
    the steps back to the curves. The penalty is light: variance of predictions only costs power, bias costs the level.
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
    """What is predicted from covariates: of which people (rows), by which model, named in messages as `where`."""

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
