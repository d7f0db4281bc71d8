"""Cross-fitted predictions of outcome and group from covariates, and comparisons."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations, product
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
from skfairtest._utils.text import label, name_of, pluralize
from skfairtest._utils.typing import Floats, Positions
from skfairtest.adjusted.statistics import (
    Residuals,
    Strength,
    strength_of,
    strongest,
    studentized_mean,
    variance_of_predictions,
)
from skfairtest.comparisons.core import Comparison, Exclusion, NullDistribution, Result
from skfairtest.comparisons.outcomes import numbers
from skfairtest.comparisons.settings import Settings
from skfairtest.inference.margin import normal_log_p
from skfairtest.inference.rate_draws import Contrast
from skfairtest.inference.unknown import PValueBounds
from skfairtest.readers import Column
from skfairtest.sensitivity.analysis import Sensitivity, analysed
from skfairtest.tables import Sample

#: What of an outcome and of a group is not predicted, as a share of its variance, counts as nothing up to this.
NOTHING = 1e-10
#: Fewest clusters of each fold.
CLUSTERS_OF_A_FOLD = 2
#: From how many standard errors on what neighbours predict goes together with what a model leaves.
MISSED = 1.28
#: Knots of the curves, as shares of people; the most columns whose pairwise products are added.
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
        self.knots_ = []
        for column in X.T:
            inner = np.unique(np.quantile(column, KNOTS))
            self.knots_.append(inner[(inner > column.min()) & (inner < column.max())])
        return self

    def transform(self, X: Any) -> Floats:
        """Return the columns."""
        pairs = combinations(X.T, 2) if X.shape[1] <= MOST_IN_PAIRS else ()
        products = [one * two for one, two in pairs]
        columns = zip(X.T, self.knots_, strict=True)
        parts = [np.maximum(column - knot, 0.0) for column, knots in columns for knot in knots.tolist()]
        return np.stack([*X.T, *parts, *products], axis=1)


def curves(model: Any) -> Any:
    """Return a linear model of bent lines and products."""
    return make_pipeline(StandardScaler(), BentLines(), StandardScaler(), model)


class CurvesThenTrees(RegressorMixin, BaseEstimator):
    """Curves of the columns, then boosted trees of the residuals: a number, or one of two by their probabilities.

    The penalty is light: variance of predictions only costs power, bias costs the level.
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


@dataclass(frozen=True)
class AdjustedNull(NullDistribution):
    """The normal distribution of a studentized product of residuals."""

    residuals: Residuals
    explained: tuple[float, float]
    doubt: tuple[str, float, float] | None = None

    def limits(self, critical: tuple[float, float], bounds: tuple[float, float]) -> tuple[float, float]:
        """Invert the generalised covariance measure."""
        return self.residuals.limits(*critical)


@dataclass(frozen=True, eq=False)
class Covered(Sample):
    """People with covariates."""

    covariates: tuple[Column, ...] = ()


class Target(NamedTuple):
    """A target of the covariates: the outcome, or membership of the `first` group, among some groups or everyone."""

    model: str
    among: frozenset[int] | None
    first: int | None
    beside: bool

    @classmethod
    def both(cls, contrast: Contrast, *, beside: bool = False) -> tuple[Self, Self]:
        """The outcome and the group of a comparison; `beside`: predicted by nearest neighbours."""
        among = None if contrast.second is None else frozenset({contrast.first, contrast.second})
        return cls("outcome_model", among, None, beside), cls("group_model", among, contrast.first, beside)


@dataclass(frozen=True)
class People:
    """People in an order that does not depend on that of the rows; outcomes are less `origin`."""

    origin: float
    outcome: Floats
    group: Positions
    covariates: pd.DataFrame
    clusters: Positions | None
    models: Mapping[str, Any]
    folds: Positions

    @classmethod
    def of(
        cls,
        sample: Covered,
        outcome: Floats,
        kept: list[int],
        models: Mapping[str, Any],
        n_folds: int,
        seed: np.random.SeedSequence,
    ) -> Self:
        """People of some groups, in folds with about the same shares of every group; clusters stay together."""
        ordered = sorted(sample.covariates, key=lambda column: column.name)
        grouping = [] if sample.clusters is None else [sample.clusters.codes]
        order = np.lexsort([*(column.codes for column in reversed(ordered)), *grouping, outcome, sample.group_codes])
        order = order[np.isin(sample.group_codes[order], kept)]
        group, start, state = sample.group_codes[order], origin(outcome), int(seed.generate_state(1)[0])
        clusters, splitter = None, StratifiedKFold
        if grouping:
            clusters, splitter = numbered(grouping[0][order]), StratifiedGroupKFold
            if clusters.max() + 1 < CLUSTERS_OF_A_FOLD * n_folds:
                raise ParameterError(
                    f"clusters has {clusters.max() + 1} different values, too few for n_folds={n_folds}, each of which "
                    f"needs at least {CLUSTERS_OF_A_FOLD}"
                )
        folds = np.zeros(len(group), dtype=np.intp)
        split = splitter(n_folds, shuffle=True, random_state=state).split(np.zeros((len(group), 1)), group, clusters)
        for fold, (_, held_out) in enumerate(split):
            folds[held_out] = fold
        covariates = covariate_frame(ordered).iloc[order].reset_index(drop=True)
        return cls(start, outcome[order] - start, group, covariates, clusters, models, folds)

    def rows(self, target: Target) -> Positions:
        """The people of a target."""
        everyone = np.arange(len(self.group))
        return everyone if target.among is None else np.flatnonzero(np.isin(self.group, [*target.among]))

    def values(self, target: Target) -> Floats:
        """The values of the target."""
        values = self.outcome if target.first is None else (self.group == target.first).astype(float)
        return values[self.rows(target)]

    def residuals(self, contrast: Contrast, left: Mapping[Target, tuple[Floats, float]]) -> Residuals:
        """The residuals of the outcome and of the group of a comparison."""
        targets = Target.both(contrast)
        (outcome, of_outcome), (group, of_group) = (left[target] for target in targets)
        clusters = None if self.clusters is None else numbered(self.clusters[self.rows(targets[0])])
        return Residuals(outcome, group, clusters, of_outcome + of_group)


def numbered(clusters: Positions) -> Positions:
    """Number the clusters that have people, from 0."""
    return np.unique(clusters, return_inverse=True)[1].reshape(-1)


def cross_fitted(
    people: People, targets: Iterable[Target], seed: np.random.SeedSequence, n_jobs: int | None
) -> dict[Target, tuple[Floats, float]]:
    """Residuals of targets, each person's by models that have not seen this person; and what predictions vary.

    That is their variance as a share of that of the errors.
    """
    once, n_folds = list(dict.fromkeys(targets)), int(people.folds.max()) + 1
    pieces = list(product(once, range(n_folds)))
    calls = ((*piece, own) for piece, own in zip(pieces, seed.spawn(len(pieces)), strict=True))
    found = list(in_parallel(partial(_out_of_fold, people), calls, n_jobs))
    left = {}
    for place, target in enumerate(once):
        parts = found[place * n_folds : (place + 1) * n_folds]
        residuals, folds = people.values(target), people.folds[people.rows(target)]
        for fold, (predictions, _) in enumerate(parts):
            residuals[folds == fold] -= predictions
        seen = np.concatenate([of_seen for _, of_seen in parts])
        varying = np.nan if target.beside else variance_of_predictions((residuals**2).mean(), (seen**2).mean())
        left[target] = residuals, varying
    return left


def _out_of_fold(people: People, target: Target, fold: int, seed: np.random.SeedSequence) -> tuple[Floats, Floats]:
    """Predict the people of a fold by a model of the others, and return what it leaves of these."""
    rows, values = people.rows(target), people.values(target)
    own, model = people.folds[rows] == fold, people.models[target.model]
    if not own.any():
        return np.zeros(0), np.zeros(0)
    y, known, new = values[~own], people.covariates.iloc[rows[~own]], people.covariates.iloc[rows[own]]
    if target.beside:
        n_folds = int(people.folds.max()) + 1
        model = neighbours(len(rows) * (n_folds - 1) // n_folds)
        known, new = known.to_numpy(), new.to_numpy()  # names of columns take longer to check than to predict
    elif is_classifier(model):
        if not set(np.unique(values)) <= {0.0, 1.0}:
            raise ParameterError(
                f"{target.model}={name_of(model)} is a classifier, and the outcome has other values than two labels: "
                "pass a regressor"
            )
        y = y.astype(int)
    if len(np.unique(y)) == 1:  # nothing to learn, and no class for some classifiers
        return np.full(int(own.sum()), float(y[0])), np.zeros(len(y))
    model = seeded(model, seed).fit(known, y)
    seen = np.zeros(0) if target.beside else y - predicted(model, known, target.model)
    return predicted(model, new, target.model), seen


def _explained(values: Floats, left: Floats) -> float:
    """The share of the variance that is predicted; NaN if there is none."""
    return 1 - float((left**2).mean() / np.var(values)) if values.min() < values.max() else np.nan


def measure_adjusted(
    people: People,
    contrasts: list[tuple[Contrast, Any]],
    labels: list[Any],
    settings: Settings,
    seed: np.random.SeedSequence,
    excluded: list[Exclusion],
) -> Result:
    """Compare groups pair by pair; add to the excluded ones what cannot be compared.

    A difference that outcomes leave undefined has p = 1: outcomes must not decide how many hypotheses there are.
    """
    every = [target for beside in (False, True) for one, _ in contrasts for target in Target.both(one, beside=beside)]
    left = cross_fitted(people, every, seed, settings.n_jobs)
    comparisons: list[Comparison] = []
    for contrast, other in contrasts:
        residuals, targets = people.residuals(contrast, left), Target.both(contrast)
        outcome, member = map(people.values, targets)
        first, values = member == 1, outcome + people.origin
        group, n = labels[contrast.first], int(first.sum())
        if (residuals.group**2).mean() <= NOTHING * np.var(member):
            reason = "the covariates determine the group"
            excluded.append(Exclusion("outcome", group, other, None, reason, n, n, 1))
            continue
        undefined = _undefined(values, residuals)
        explained = _explained(outcome, residuals.outcome), _explained(member, residuals.group)
        null = AdjustedNull(settings.question, residuals, explained)
        row = Comparison(
            "outcome", group, other, None, contrast, n, len(values) - n, float(values[first].mean()),
            float(values[~first].mean()), np.nan if undefined else residuals.coefficient, null, undefined=undefined,
        )  # fmt: skip
        if not undefined:
            near = Target.both(contrast, beside=True)
            found = (
                _doubt(what, of_all, left[target][0], left[beside][0], residuals.units)
                for what, of_all, target, beside in zip(
                    ("outcome", "group"), (outcome, member), targets, near, strict=True
                )
            )
            statistic = residuals.statistic()
            row = replace(
                row, null=replace(null, doubt=next(filter(None, found), None)), method="gcm", statistic=statistic,
                log_p=normal_log_p(statistic, settings.question.alternative), standard_error=residuals.standard_error,
            )  # fmt: skip
        comparisons.append(row)
    result = Result(settings, tuple(comparisons), tuple(excluded))
    if all(one.undefined for one in comparisons):  # nothing is tested, which is an error
        return replace(result, tested=(), excluded=(*excluded, *result.undefined))
    return result


def _doubt(
    what: str, values: Floats, own: Floats, unlike: Floats, units: Positions | None
) -> tuple[str, float, float] | None:
    """Correlate a model's residuals with neighbours' predictions of them; above 0, the model misses something."""
    near = values - unlike
    together = own * (near - near.mean())
    by = studentized_mean(together if units is None else np.asarray(np.bincount(units, together), dtype=float))
    explained = _explained(values, own)
    if by > MISSED or (what == "outcome" and explained <= 0):
        return what, explained, _explained(values, unlike)
    return None


def caution(comparisons: Sequence[Comparison]) -> str:
    """Say what models may have missed, of the first comparison with such a doubt; nothing where there is none."""
    pairs: list[tuple[Comparison, Any]] = [(one, one.null) for one in comparisons]
    doubtful = [(one, null.doubt) for one, null in pairs if null.doubt]
    if not doubtful:
        return ""
    (first, (what, *shares)), more = doubtful[0], len(doubtful) - 1
    others = f" (and {pluralize(more, 'other comparison')})" if more else ""
    explained, near = (100 * max(share, 0) for share in shares)
    return (
        "Caution: the models may have missed how covariates affect the outcome or the group. Of "
        f"{label(first.group)} and {label(first.other)}{others}, models explain {explained:.0f}% of the variance "
        f"of the {what}, and averages of the people with the most similar covariates {near:.0f}%. What is missed "
        "can look like a disparity: compare other models (outcome_model, group_model) and what they explain."
    )


def _undefined(outcome: Floats, residuals: Residuals) -> str:
    """Say why outcomes cannot be compared; nothing where they can be."""
    if outcome.min() == outcome.max():
        return f"the outcome is {outcome[0]:g} for every person"
    if (residuals.outcome**2).mean() <= NOTHING * np.var(outcome):
        return "the covariates determine the outcome"
    return "" if residuals.sums().any() else "the covariates determine every person's outcome or group"


#: The basis of a comparison's bias: its residuals, and each covariate's strength.
Omitted = tuple[Residuals, list[Strength]]


def omitted_of(
    people: People,
    comparisons: Sequence[Comparison],
    covariates: Mapping[str, Sequence[Any]],
    n_jobs: int | None,
    seed: np.random.SeedSequence,
) -> list[Omitted | None]:
    """Predict with each covariate held constant; None if a comparison is undefined."""
    targets = [target for one in comparisons for target in Target.both(one.contrast)]
    nulls: list[Any] = [one.null for one in comparisons]
    found: list[list[Strength]] = [[] for _ in comparisons]
    for name, columns in covariates.items():
        without = replace(people, covariates=people.covariates.assign(**dict.fromkeys(columns, 0.0)))
        left = cross_fitted(without, targets, seed, n_jobs)
        for strengths, null, one in zip(found, nulls, comparisons, strict=True):
            strengths.append(strength_of(name, null.residuals, people.residuals(one.contrast, left)))
    rows = zip(comparisons, nulls, found, strict=True)
    return [None if one.undefined else (null.residuals, strengths) for one, null, strengths in rows]


def omitted_variable(base: Result, omitted: Sequence[Omitted | None], at: Any) -> Sensitivity:
    """Analyse how far a verdict survives a confounder."""
    question = base.settings.question

    def bounds(place: int, amount: float) -> tuple[PValueBounds, tuple[float, float]]:
        known, one = omitted[place], base.tested[place].in_family
        if known is None or amount == 0:
            log_p, disparity = one.log_p, one.disparity
            return PValueBounds(log_p, log_p, "gcm", None, attained=True), (disparity, disparity)
        residuals, strengths = known
        return residuals.confounded(strongest(strengths, amount).factor, question.alternative)

    found = analysed(base, "omitted_variable", at, bounds, np.linspace(0, 20, 2001))
    amounts, n = found.frame["strength"], len(omitted)
    each = [(omitted[place % n], amount) for place, amount in enumerate(amounts)]
    confounders = [None if known is None else strongest(known[1], amount) for known, amount in each]
    columns: dict[str, list[Any]] = {
        "confounder": [one and one.name for one in confounders],
        "outcome_explained": [one.outcome if one else np.nan for one in confounders],
        "group_explained": [one.group if one else np.nan for one in confounders],
        "robustness_value": [known[0].robustness if known else np.nan for known, _ in each],
    }
    for name, values in columns.items():
        found.frame.insert(list(found.frame).index("disparity_low"), name, values)
    del found.frame["metric"]  # there is one outcome
    return found
