"""The comparisons of a test given covariates: who is compared, residuals, evidence."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import pandas as pd

from skfairtest._utils.checks import origin
from skfairtest._utils.errors import ParameterError
from skfairtest._utils.text import label, pluralize
from skfairtest._utils.typing import Floats, Positions
from skfairtest.adjusted.omitted import Omitted, Strength, strength_of
from skfairtest.adjusted.residuals import Target, covariate_frame, cross_fitted, folds_of, neighbours, numbered
from skfairtest.adjusted.statistics import Residuals, studentized_mean
from skfairtest.comparisons.core import Comparison, Exclusion, NullDistribution, Result
from skfairtest.comparisons.settings import Settings
from skfairtest.inference.margin import normal_log_p
from skfairtest.inference.rate_draws import Contrast
from skfairtest.readers import Column
from skfairtest.tables import Sample

#: What of an outcome and of a group is not predicted, as a share of its variance, counts as nothing up to this.
NOTHING = 1e-10
#: Fewest clusters of each fold.
CLUSTERS_OF_A_FOLD = 2
#: From how many standard errors on what neighbours predict goes together with what a model leaves.
MISSED = 1.28


@dataclass(frozen=True)
class AdjustedNull(NullDistribution):
    """The normal distribution of a studentized product of residuals.

    `explained` are the shares of variance that models predict, of the outcome and of the group; `doubt` is what of
    these a model may have missed, its share, and that of neighbours.
    """

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
    """People in an order that does not depend on that of the rows; outcomes are less `origin`.

    `models` are those of the outcome and of the group, `folds` of whom are predicted by models of the others.
    """

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

    A difference that outcomes leave undefined is a hypothesis with p = 1, for outcomes must not decide how many there
    are; whether the covariates determine the group does not depend on them.
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
    """What the bias of each comparison follows from; None where its disparity is undefined.

    The same models predict the same people once more without each covariate, whose columns of `people.covariates` are
    the same for everybody then.
    """
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
    """Compare what a model leaves with what neighbours predict, which go together where the model misses something.

    Otherwise both have only the noise of the same people in common, whose product is not above 0. Of a group, models
    that explain nothing are right where it does not depend on covariates.
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
