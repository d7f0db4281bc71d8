"""The comparisons of a test given covariates, and how far its verdict survives an omitted variable.

A variable Z that was left out moves the coefficient of the group by at most

    S sqrt(R2_Y R2_D / (1 - R2_D)),

where S is the standard deviation of what covariates and group leave of the outcome, divided by that of what covariates
leave of the group; R2_Y is the share that Z explains of the former, and R2_D that of the latter (Cinelli and Hazlett
2020, equation 10; Chernozhukov et al. 2022 of partially linear models, which learn any curves). How large these shares
may be is told by the covariates that were measured: Z is taken to explain k times as much as the strongest of them
(Cinelli and Hazlett 2020, section 4.4), by the loss out of fold of the models that adjust, with and without it.

References
----------
C. Cinelli and C. Hazlett (2020). JRSS B 82, 39-67. V. Chernozhukov, C. Cinelli, W. Newey, A. Sharma and V. Syrgkanis
(2022). arXiv 2112.13398.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import pandas as pd

from skfairtest._utils.checks import origin
from skfairtest._utils.errors import ParameterError
from skfairtest._utils.text import label, pluralize
from skfairtest._utils.typing import Floats, Positions
from skfairtest.adjusted.residuals import Target, covariate_frame, cross_fitted, folds_of, neighbours, numbered
from skfairtest.adjusted.statistics import Residuals, studentized_mean
from skfairtest.comparisons.core import Comparison, Exclusion, NullDistribution, Result
from skfairtest.comparisons.settings import Settings
from skfairtest.inference.margin import normal_log_p
from skfairtest.inference.rate_draws import Contrast
from skfairtest.inference.score import studentize
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


@dataclass(frozen=True)
class People:
    """People in an order that does not depend on that of the rows; outcomes are less `origin`."""

    origin: float
    outcome: Floats
    group: Positions
    covariates: pd.DataFrame
    units: Positions | None
    models: tuple[Any, ...]
    folds: Positions

    @classmethod
    def of(
        cls,
        sample: Covered,
        outcome: Floats,
        kept: list[int],
        models: tuple[Any, ...],
        n_folds: int,
        seed: np.random.SeedSequence,
    ) -> Self:
        """People of some groups with their outcomes and covariates, these in the order of their names."""
        ordered = sorted(sample.covariates, key=lambda column: column.name)
        codes = [column.codes for column in reversed(ordered)]
        units = None if sample.clusters is None else sample.clusters.codes
        keys = [*codes, *([] if units is None else [units]), outcome, sample.group_codes]
        order = np.lexsort(keys)
        order = order[np.isin(sample.group_codes[order], kept)]
        units = None if units is None else numbered(units[order])
        if units is not None and units.max() + 1 < CLUSTERS_OF_A_FOLD * n_folds:
            raise ParameterError(
                f"clusters has {units.max() + 1} different values, too few for n_folds={n_folds}, each of which needs "
                f"at least {CLUSTERS_OF_A_FOLD}"
            )
        group, start = sample.group_codes[order], origin(outcome)
        covariates = covariate_frame(ordered).iloc[order].reset_index(drop=True)
        folds = folds_of(group, units, n_folds, seed)
        return cls(start, outcome[order] - start, group, covariates, units, models, folds)

    def targets(self, contrast: Contrast) -> tuple[Target, Target]:
        """The predictions for the people of a comparison: their outcome and their group."""
        first = self.group == contrast.first
        rows = np.flatnonzero(first | (True if contrast.second is None else self.group == contrast.second))
        values = {"outcome_model": self.outcome[rows], "group_model": first[rows].astype(float)}
        of_outcome, of_group = (
            Target(rows, values[name], m, name) for name, m in zip(values, self.models, strict=True)
        )
        return of_outcome, of_group

    def beside(self, target: Target) -> Target:
        """The same prediction by neighbours, who learn any shape."""
        n_folds = int(self.folds.max()) + 1
        n = len(target.rows) * (n_folds - 1) // n_folds
        return replace(target, model=neighbours(n), where=f"neighbours beside {target.where}", beside=True)


def _explained(values: Floats, left: Floats) -> float:
    """The share of the variance that is predicted; NaN where there is none."""
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
    targets = [people.targets(contrast) for contrast, _ in contrasts]
    second = [tuple(map(people.beside, both)) for both in targets]
    every = [target for both in (*targets, *second) for target in both]
    left = cross_fitted(people.covariates, every, people.folds, seed, settings.n_jobs)
    comparisons: list[Comparison] = []
    for (contrast, other), both, unlike in zip(contrasts, targets, second, strict=True):
        units = None if people.units is None else numbered(people.units[both[0].rows])
        outcome, member = (left[target.key] for target in both)
        residuals = Residuals(outcome.residuals, member.residuals, units, outcome.varying + member.varying)
        first = both[1].values == 1
        group, n = labels[contrast.first], int(first.sum())
        if (residuals.group**2).mean() <= NOTHING * np.var(both[1].values):
            reason = "the covariates determine the group"
            excluded.append(Exclusion("outcome", group, other, None, reason, n, n, 1))
            continue
        values, undefined = both[0].values + people.origin, _undefined(both[0].values + people.origin, residuals)
        explained = [_explained(target.values, left[target.key].residuals) for target in both]
        null = AdjustedNull(settings.question, residuals, (explained[0], explained[1]))
        row = Comparison(
            "outcome", group, other, None, contrast, n, len(values) - n, float(values[first].mean()),
            float(values[~first].mean()), np.nan if undefined else residuals.coefficient, null, undefined=undefined,
        )  # fmt: skip
        if not undefined:
            found = (
                _doubt(target, left[target.key].residuals, left[near.key].residuals, units)
                for target, near in zip(both, unlike, strict=True)
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


def omitted_of(
    people: People,
    comparisons: Sequence[Comparison],
    covariates: Mapping[str, Sequence[Any]],
    n_jobs: int | None,
    seed: np.random.SeedSequence,
) -> list[Omitted | None]:
    """What the bias of each comparison follows from: predictions with each covariate held constant."""
    targets = [people.targets(one.contrast) for one in comparisons]
    full: list[Any] = [one.null for one in comparisons]
    found: list[list[Strength]] = [[] for _ in comparisons]
    for name, columns in covariates.items():
        without = people.covariates.assign(**dict.fromkeys(columns, 0.0))
        left = cross_fitted(without, [target for both in targets for target in both], people.folds, seed, n_jobs)
        for strengths, null, both in zip(found, full, targets, strict=True):
            outcome, group = (left[target.key].residuals for target in both)
            strengths.append(strength_of(name, null.residuals, Residuals(outcome, group)))
    return [
        None if one.undefined else Omitted.of(null.residuals, strengths)
        for one, null, strengths in zip(comparisons, full, found, strict=True)
    ]


def _doubt(target: Target, own: Floats, unlike: Floats, units: Positions | None) -> tuple[str, float, float] | None:
    """Correlate what a model leaves with what neighbours predict: only if the model misses something is this above 0.

    Models of a group that explain nothing are right if the group does not depend on covariates.
    """
    what, near = target.where.removesuffix("_model"), target.values - unlike
    together = own * (near - near.mean())
    by = studentized_mean(together if units is None else np.asarray(np.bincount(units, together), dtype=float))
    explained = _explained(target.values, own)
    if by > MISSED or (what == "outcome" and explained <= 0):
        return what, explained, _explained(target.values, unlike)
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
        return f"the outcome is {outcome[0]:g} for everybody"
    if (residuals.outcome**2).mean() <= NOTHING * np.var(outcome):
        return "the covariates determine the outcome"
    return "" if residuals.sums().any() else "the covariates determine the outcome or the group of everybody"


@dataclass(frozen=True)
class Strength:
    """What a covariate explains of the outcome given the group, and of the group, beyond all other covariates.

    Examples
    --------
    >>> confounder = Strength("grade", 0.1, 0.05).times(1.0)
    >>> round(confounder.outcome, 4), round(confounder.group, 4)
    (0.1235, 0.0526)
    """

    name: str
    outcome: float
    group: float

    def times(self, k: float) -> Strength:
        """A confounder k times as strong, which is unrelated to the covariate given the others.

        Cinelli and Hazlett (2020), equations 54 and 57 of their appendix.
        """
        most = 1 - 1e-12
        shared = self.group / (1 - self.group) if self.group < 1 else np.inf
        group = k * shared
        if group >= most or k * self.group >= most:
            return Strength(self.name, 1.0, 1.0)
        both = k * self.group**2 / ((1 - k * self.group) * (1 - self.group))
        if both >= most or self.outcome >= most:
            return Strength(self.name, 1.0, group)
        times = (np.sqrt(k) + np.sqrt(both)) / np.sqrt(1 - both)
        return Strength(self.name, min(1.0, float(times**2 * self.outcome / (1 - self.outcome))), group)

    @property
    def factor(self) -> float:
        """By how many S it moves the coefficient."""
        return float(np.sqrt(self.outcome * self.group / (1 - self.group))) if self.group < 1 else np.inf


def strength_of(name: str, full: Residuals, short: Residuals) -> Strength:
    """What a covariate explains: by how much the loss out of fold is larger without it.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> x, group, noise = rng.normal(size=(3, 5000))
    >>> found = strength_of("x", Residuals(noise, group), Residuals(x + noise, x + group))
    >>> round(found.outcome, 1), round(found.group, 1)
    (0.3, 0.5)
    """
    parts = [(each.outcome - each.coefficient * each.group, each.group) for each in (full, short)]
    shares = []
    for left, left_without in zip(*parts, strict=True):
        learned, size = left_without - left, float((left_without**2).mean())
        # What was learned, at the scale at which it saves most: flexible models overshoot what is weak.
        square = float((learned**2).mean()) * size
        shares.append(max(0.0, float((learned * left_without).mean())) ** 2 / square if square > 0 else 0.0)
    return Strength(name, *(min(1.0, share) for share in shares))


@dataclass(frozen=True)
class Omitted:
    """What the bias of one comparison follows from: moments of the products of residuals, and measured covariates."""

    coefficient: float
    means: Floats
    covariance: Floats
    n: int
    inflation: float
    spread: float
    covariates: tuple[Strength, ...]

    @classmethod
    def of(cls, residuals: Residuals, covariates: list[Strength]) -> Self:
        """Take the moments of residuals."""
        products, squares = residuals.sums(), residuals.squares
        rest = residuals.outcome - residuals.coefficient * residuals.group
        return cls(
            residuals.coefficient,
            np.array([products.mean(), squares.mean()]),
            np.cov(products, squares, ddof=0),
            len(products),
            residuals.inflation,
            float(np.sqrt((rest**2).mean() / (residuals.group**2).mean())),
            tuple(covariates),
        )

    @property
    def robustness(self) -> float:
        """The share of both outcome and group, of what is left, that has to be explained to leave no disparity.

        Cinelli and Hazlett (2020), equation 19.
        """
        f = abs(self.coefficient) / self.spread
        return float((np.sqrt(f**4 + 4 * f**2) - f**2) / 2)

    def confounder(self, k: float) -> Strength:
        """A confounder k times as strong as the covariate whose omission would move the coefficient most."""
        return max((one.times(k) for one in self.covariates), key=lambda one: one.factor)

    def bias(self, k: float) -> float:
        """By how much that moves the coefficient at most."""
        return self.spread * self.confounder(k).factor if k else 0.0

    def log_p(self, coefficient: float, alternative: str) -> float:
        """P-value of the hypothesis that the group's coefficient is this one."""
        if np.isinf(coefficient):
            return 0.0 if alternative == ("greater" if coefficient > 0 else "less") else -np.inf
        direction = np.array([1.0, -coefficient])
        error = np.sqrt(direction @ self.covariance @ direction / self.n) * self.inflation
        return normal_log_p(float(studentize(direction @ self.means, error)), alternative)

    def bounds(self, k: float, alternative: str) -> tuple[PValueBounds, tuple[float, float]]:
        """P-values and disparities that a confounder up to k times as strong may leave."""
        bias = self.bias(k)
        ends = [self.log_p(end, alternative) for end in (-bias, bias)]
        hidden = abs(self.coefficient) <= bias and alternative == "two-sided"
        found = PValueBounds(min(ends), 0.0 if hidden else max(ends), "gcm", None, attained=True)
        return found, (self.coefficient - bias, self.coefficient + bias)


def omitted_variable(base: Result, omitted: Sequence[Omitted | None], at: Any) -> Sensitivity:
    """Analyse how far a verdict survives a confounder."""
    question = base.settings.question

    def bounds(place: int, amount: float) -> tuple[PValueBounds, tuple[float, float]]:
        known, one = omitted[place], base.tested[place].in_family
        if known is None or amount == 0:
            log_p, disparity = one.log_p, one.disparity
            return PValueBounds(log_p, log_p, "gcm", None, attained=True), (disparity, disparity)
        return known.bounds(amount, question.alternative)

    found = analysed(base, "omitted_variable", at, bounds, np.linspace(0, 20, 2001))
    amounts, n = found.frame["strength"], len(omitted)
    each = [(omitted[place % n], amount) for place, amount in enumerate(amounts)]
    confounders = [None if known is None else known.confounder(amount) for known, amount in each]
    columns: dict[str, list[Any]] = {
        "confounder": [one and one.name for one in confounders],
        "outcome_explained": [one.outcome if one else np.nan for one in confounders],
        "group_explained": [one.group if one else np.nan for one in confounders],
        "robustness_value": [known.robustness if known else np.nan for known, _ in each],
    }
    for name, values in columns.items():
        found.frame.insert(list(found.frame).index("disparity_low"), name, values)
    del found.frame["metric"]  # there is one outcome
    return found
