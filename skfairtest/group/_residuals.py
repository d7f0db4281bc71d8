"""What covariates predict of an outcome and of a group, by models that have not seen who is predicted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from numbers import Real
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin, clone, is_classifier
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skfairtest._utils.errors import ParameterError
from skfairtest._utils.parallel import in_parallel
from skfairtest._utils.text import label, name_of
from skfairtest._utils.typing import Floats, Positions
from skfairtest.group._outcomes import numbers
from skfairtest.inference.adjusted import Residuals, studentized_mean
from skfairtest.readers import Column

#: Where lines may bend, as shares of people; columns of which all pairs have products; strengths of the penalty.
KNOTS = (0.1, 0.3, 0.5, 0.7, 0.9)
MOST_IN_PAIRS = 15
PENALTIES = tuple(np.logspace(-1, 4, 11).tolist())
#: Folds in which the people of one half are predicted, to guess how a difference depends on covariates.
FOLDS_OF_A_HALF = 2


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


def default_model() -> Any:
    """Return what predicts if nothing else is asked for: penalised least squares on bent lines and products."""
    return make_pipeline(BentLines(), StandardScaler(), RidgeCV(PENALTIES))


def covariate_frame(columns: Sequence[Column]) -> pd.DataFrame:
    """Return covariates as numbers: numbers as they are, and a column of zeros and ones for each name.

    Raises
    ------
    ValueError
        If numbers are infinite.
    """
    out: dict[str, NDArray[Any]] = {}
    for column in sorted(columns, key=lambda one: one.name):
        quantities = all(isinstance(level, Real) for level in column.levels) and not column.categorical
        if quantities:
            out[column.name] = numbers(column, f"covariates (column {column.name!r})")
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
    """Return what a fitted model expects: a number, or the probability of 1.

    Raises
    ------
    ValueError
        If it says anything else.
    """
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


@dataclass(frozen=True)
class Target:
    """What is predicted from covariates: of which people (rows), by which model, named in messages as `where`."""

    rows: Positions
    values: Floats
    model: Any
    where: str

    @property
    def key(self) -> tuple[str, bytes, bytes]:
        """What tells it from others."""
        return self.where, self.rows.tobytes(), self.values.tobytes()

    def out_of_fold(self, X: pd.DataFrame, folds: Positions, fold: int, seed: np.random.SeedSequence) -> Floats:
        """Predict the people of a fold by a model of the others."""
        own = folds[self.rows] == fold
        if not own.any():
            return np.zeros(0)
        y = self.values[~own]
        if is_classifier(self.model):
            if not set(np.unique(self.values)) <= {0.0, 1.0}:
                raise ParameterError(
                    f"{self.where}={name_of(self.model)} is a classifier, and the outcome has other values than two "
                    "labels: pass a regressor"
                )
            y = y.astype(int)
        if len(np.unique(y)) == 1:  # nothing to learn, and no class for some classifiers
            return np.full(int(own.sum()), float(y[0]))
        model = seeded(self.model, seed).fit(X.iloc[self.rows[~own]], y)
        return predicted(model, X.iloc[self.rows[own]], self.where)

    def residuals(self, folds: Positions, parts: Sequence[Floats]) -> Floats:
        """Put the predictions of all folds together, and return what they leave."""
        out = np.empty(len(self.rows))
        for fold, part in enumerate(parts):
            out[folds[self.rows] == fold] = part
        return self.values - out


def cross_fitted(
    X: pd.DataFrame, targets: Sequence[Target], folds: Positions, seed: np.random.SeedSequence, n_jobs: int | None
) -> list[Floats]:
    """Return the residuals of several targets, each person's by models that have not seen this person."""
    n_folds = int(folds.max()) + 1
    pieces = [(target, fold) for target in targets for fold in range(n_folds)]
    seeds = seed.spawn(len(pieces))
    call: Callable[..., Floats] = partial(_fold_of, X, folds)
    found = list(in_parallel(call, ((*piece, own) for piece, own in zip(pieces, seeds, strict=True)), n_jobs))
    return [
        target.residuals(folds, found[n_folds * place : n_folds * (place + 1)]) for place, target in enumerate(targets)
    ]


def _fold_of(X: pd.DataFrame, folds: Positions, target: Target, fold: int, seed: np.random.SeedSequence) -> Floats:
    return target.out_of_fold(X, folds, fold, seed)


def projected(
    X: pd.DataFrame, outcome: Target, group: Target, residuals: Residuals, units: Positions | None,
    seed: np.random.SeedSequence,
) -> float:  # fmt: skip
    """Return the projected covariance measure of one halving of people, averaged over both directions.

    One half says by how much products of residuals exceed 0, depending on covariates; its own residuals come from
    models that know nobody of the other half. With this guess as weights, the other half's products are studentized
    (Lundborg et al. 2024, algorithm 1, whose projection of a binary variable on the covariates is the residual of this
    variable times a function of the covariates).
    """
    rows = group.rows
    own_units = None if units is None else units[rows]
    seeds = seed.spawn(5)
    halves = folds_of(group.values.astype(np.intp), own_units, 2, seeds[0])
    statistics = []
    for half, (of_folds, of_models) in enumerate((seeds[1:3], seeds[3:5])):
        first, second = np.flatnonzero(halves == half), np.flatnonzero(halves != half)
        inside = group.values[first].astype(np.intp)
        folds = np.zeros(len(X), dtype=np.intp)
        clusters = None if own_units is None else own_units[first]
        folds[rows[first]] = folds_of(inside, clusters, FOLDS_OF_A_HALF, of_folds)
        known = [Target(rows[first], one.values[first], one.model, one.where) for one in (outcome, group)]
        left = cross_fitted(X, known, folds, of_models, None)
        guess = default_model().fit(X.iloc[rows[first]], left[0] * left[1])
        weights = guess.predict(X.iloc[rows[second]])
        part = Residuals(
            residuals.outcome[second],
            residuals.group[second],
            None if own_units is None else numbered(own_units[second]),
        )
        statistic = studentized_mean(part.sums(weights))
        statistics.append(0.0 if np.isnan(statistic) else statistic)
    return float(np.mean(statistics))


def numbered(units: Positions) -> Positions:
    """Number the clusters that somebody is in, from 0 on."""
    return np.unique(units, return_inverse=True)[1].reshape(-1)
