"""The comparisons of a test given covariates: who is compared, residuals, evidence."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self, cast

import numpy as np
import pandas as pd

from skfairtest._utils.checks import origin
from skfairtest._utils.errors import ParameterError
from skfairtest._utils.text import label, pluralize
from skfairtest._utils.typing import Booleans, Floats, Positions
from skfairtest.adjusted.omitted import Omitted, Strength, strength_of
from skfairtest.adjusted.residuals import (
    Target,
    covariate_frame,
    cross_fitted,
    folds_of,
    neighbours,
    numbered,
)
from skfairtest.adjusted.statistics import Residuals, normal_log_p, studentized_mean
from skfairtest.comparisons.core import Comparison, Exclusion, NullDistribution, Result
from skfairtest.comparisons.settings import Settings
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
class Missed:
    """Shares of the variance of an outcome or a group that a model and neighbours explain.

    `left_over`: what the model leaves goes together with what neighbours predict, by more than noise.
    """

    what: str
    explained: float
    by_neighbours: float
    left_over: bool

    @property
    def is_doubt(self) -> bool:
        """Whether the model may have missed how it depends on covariates.

        Of a group, models that explain nothing are right where it does not depend on covariates.
        """
        return self.left_over or (self.what == "outcome" and self.explained <= 0)


@dataclass(frozen=True)
class AdjustedNull(NullDistribution):
    """The normal distribution of a studentized product of residuals."""

    residuals: Residuals
    doubts: tuple[Missed, ...] = ()

    def limits(self, critical: tuple[float, float], bounds: tuple[float, float]) -> tuple[float, float]:
        """Invert the generalised covariance measure."""
        return self.residuals.limits(*critical)


@dataclass(frozen=True)
class Learning:
    """How outcomes and groups are predicted from covariates.

    Parameters
    ----------
    outcome_model, group_model : estimator
        The models.
    n_folds : int
        Folds of the people.
    """

    outcome_model: Any
    group_model: Any
    n_folds: int


@dataclass(frozen=True)
class Pair:
    """Rows compared, a mask of the group, and the other side's label."""

    contrast: Contrast
    other: Any
    rows: Positions
    first: Booleans


@dataclass(frozen=True)
class People:
    """People in an order that does not depend on that of the rows; outcomes are less `origin`."""

    origin: float
    outcome: Floats
    group: Positions
    covariates: pd.DataFrame
    units: Positions | None
    kept: list[int]

    @classmethod
    def of(cls, sample: Sample, outcome: Floats, columns: tuple[Column, ...], kept: list[int]) -> Self:
        """People with their outcomes and covariates, these in the order of their names."""
        ordered = sorted(columns, key=lambda column: column.name)
        codes = [column.codes for column in reversed(ordered)]
        units = None if sample.clusters is None else sample.clusters.codes
        keys = [*codes, *([] if units is None else [units]), outcome, sample.group_codes]
        order = np.lexsort(keys)
        order = order[np.isin(sample.group_codes[order], kept)]
        covariates = covariate_frame(ordered).iloc[order].reset_index(drop=True)
        return cls(
            origin(outcome),
            outcome[order] - origin(outcome),
            sample.group_codes[order],
            covariates,
            None if units is None else numbered(units[order]),
            kept,
        )

    @property
    def n_units(self) -> int:
        """How many clusters there are, or people."""
        return len(self.outcome) if self.units is None else int(self.units.max()) + 1

    def pair(self, contrast: Contrast, other: Any = None) -> Pair:
        """Return who takes part in a comparison."""
        first = self.group == contrast.first
        second = ~first if contrast.second is None else self.group == contrast.second
        rows = np.flatnonzero(first | second)
        return Pair(contrast, other, rows, first[rows])

    def explained(self, comparison: Comparison) -> tuple[float, float]:
        """Return the shares of variance that models predict, of the outcome and of the group."""
        null, pair = comparison.null, self.pair(comparison.contrast)
        assert isinstance(null, AdjustedNull)
        outcome, group = self.outcome[pair.rows], pair.first.astype(float)
        return _explained(outcome, null.residuals.outcome), _explained(group, null.residuals.group)


def _explained(values: Floats, left: Floats) -> float:
    """The share of the variance that is predicted; NaN where there is none."""
    return 1 - float((left**2).mean() / np.var(values)) if values.min() < values.max() else np.nan


def measure_adjusted(
    people: People,
    contrasts: list[tuple[Contrast, Any]],
    labels: list[Any],
    learning: Learning,
    settings: Settings,
    seeds: Sequence[np.random.SeedSequence],
    excluded: list[Exclusion],
) -> Result:
    """Compare groups pair by pair; add to the excluded ones what cannot be compared.

    A difference that outcomes leave undefined is a hypothesis with p = 1, for outcomes must not decide how many there
    are; whether the covariates determine the group does not depend on them.
    """
    of_folds, of_models = seeds
    if people.units is not None and people.n_units < CLUSTERS_OF_A_FOLD * learning.n_folds:
        raise ParameterError(
            f"clusters has {people.n_units} different values, too few for n_folds={learning.n_folds}, each of which "
            f"needs at least {CLUSTERS_OF_A_FOLD}"
        )
    folds = folds_of(people.group, people.units, learning.n_folds, of_folds)
    pairs = [people.pair(*contrast) for contrast in contrasts]
    targets = [_targets(people, pair, learning) for pair in pairs]
    second = [tuple(_by_neighbours(target, learning) for target in both) for both in targets]
    # Where everyone is compared, the outcome is predicted once.
    once = {target.key: target for both in (*targets, *second) for target in both}
    left = dict(
        zip(once, cross_fitted(people.covariates, [*once.values()], folds, of_models, settings.n_jobs), strict=True)
    )
    comparisons: list[Comparison] = []
    for pair, both, unlike in zip(pairs, targets, second, strict=True):
        units = None if people.units is None else numbered(people.units[pair.rows])
        outcome, member = (left[target.key] for target in both)
        residuals = Residuals(outcome.residuals, member.residuals, units, outcome.varying + member.varying)
        group, n = labels[pair.contrast.first], int(pair.first.sum())
        if (residuals.group**2).mean() <= NOTHING * np.var(both[1].values):
            reason = "the covariates determine the group"
            excluded.append(Exclusion("outcome", group, pair.other, None, reason, n, n, 1))
            continue
        values, undefined = both[0].values + people.origin, _undefined(both[0].values + people.origin, residuals)
        one = Comparison(
            "outcome", group, pair.other, None, pair.contrast, n, len(values) - n, float(values[pair.first].mean()),
            float(values[~pair.first].mean()), np.nan if undefined else residuals.coefficient,
            AdjustedNull(settings.question, residuals), undefined=undefined,
        )  # fmt: skip
        if undefined:
            comparisons.append(one)
            continue
        statistic = residuals.statistic()
        log_p = normal_log_p(statistic, settings.question.alternative)
        missed = tuple(
            _missed(what, target.values, left[target.key].residuals, left[other.key].residuals, units)
            for what, target, other in zip(("outcome", "group"), both, unlike, strict=True)
        )
        null = AdjustedNull(settings.question, residuals, tuple(doubt for doubt in missed if doubt.is_doubt))
        one = replace(one, null=null, log_p=log_p, method="gcm", statistic=statistic)
        comparisons.append(replace(one, standard_error=residuals.standard_error))
    result = Result(settings, tuple(comparisons), tuple(excluded))
    if all(one.undefined for one in comparisons):  # nothing is tested, which is an error
        return replace(result, tested=(), excluded=(*excluded, *result.undefined))
    return result


def omitted_of(
    people: People,
    comparisons: Sequence[Comparison],
    covariates: Mapping[str, Sequence[Any]],
    learning: Learning,
    n_jobs: int | None,
    seeds: Sequence[np.random.SeedSequence],
) -> list[Omitted | None]:
    """What the bias of each comparison follows from; None where its disparity is undefined.

    The same models predict the same people once more without each covariate, whose columns of `people.covariates` are
    the same for everybody then.
    """
    folds = folds_of(people.group, people.units, learning.n_folds, seeds[0])
    pairs = [people.pair(one.contrast) for one in comparisons]
    targets = [_targets(people, pair, learning) for pair in pairs]
    once = list({target.key: target for both in targets for target in both}.values())
    found: list[list[Strength]] = [[] for _ in pairs]
    for name, columns in covariates.items():
        without = people.covariates.assign(**dict.fromkeys(columns, 0.0))
        residuals = cross_fitted(without, once, folds, seeds[1], n_jobs)
        left = {target.key: each.residuals for target, each in zip(once, residuals, strict=True)}
        for strengths, comparison, (outcome, group) in zip(found, comparisons, targets, strict=True):
            short = Residuals(left[outcome.key], left[group.key])
            strengths.append(strength_of(name, _residuals(comparison), short))
    return [
        None if one.undefined else Omitted.of(_residuals(one), strengths)
        for one, strengths in zip(comparisons, found, strict=True)
    ]


def _residuals(comparison: Comparison) -> Residuals:
    assert isinstance(comparison.null, AdjustedNull)
    return comparison.null.residuals


def _targets(people: People, pair: Pair, learning: Learning) -> tuple[Target, Target]:
    """The predictions for the people of a comparison: their outcome and their group."""
    of_group = Target(pair.rows, pair.first.astype(float), learning.group_model, "group_model")
    return Target(pair.rows, people.outcome[pair.rows], learning.outcome_model, "outcome_model"), of_group


def _by_neighbours(target: Target, learning: Learning) -> Target:
    n = len(target.rows) * (learning.n_folds - 1) // learning.n_folds
    return replace(target, model=neighbours(n), where=f"neighbours beside {target.where}", beside=True)


def _missed(what: str, values: Floats, own: Floats, unlike: Floats, units: Positions | None) -> Missed:
    """Compare what a model leaves with what neighbours predict, which go together where the model misses something.

    Otherwise both have only the noise of the same people in common, whose product is not above 0.
    """
    near = values - unlike
    together = own * (near - near.mean())
    by = studentized_mean(together if units is None else np.asarray(np.bincount(units, together), dtype=float))
    return Missed(what, _explained(values, own), _explained(values, unlike), by > MISSED)


def caution(comparisons: Sequence[Comparison]) -> str:
    """Say what models may have missed, of the first comparison with such a doubt; nothing where there is none."""
    doubtful = [one for one in comparisons if isinstance(one.null, AdjustedNull) and one.null.doubts]
    if not doubtful:
        return ""
    first, doubt, more = doubtful[0], cast(AdjustedNull, doubtful[0].null).doubts[0], len(doubtful) - 1
    others = f" (and {pluralize(more, 'other comparison')})" if more else ""
    explained, near = (100 * max(share, 0) for share in (doubt.explained, doubt.by_neighbours))
    return (
        "Caution: the models may have missed how covariates affect the outcome or the group. Of "
        f"{label(first.group)} and {label(first.other)}{others}, models explain {explained:.0f}% of the variance "
        f"of the {doubt.what}, and averages of the people with the most similar covariates {near:.0f}%. What is missed "
        "can look like a disparity: compare other models (outcome_model, group_model) and what they explain."
    )


def _undefined(outcome: Floats, residuals: Residuals) -> str:
    """Say why outcomes cannot be compared; nothing where they can be."""
    if outcome.min() == outcome.max():
        return f"the outcome is {outcome[0]:g} for everybody"
    if (residuals.outcome**2).mean() <= NOTHING * np.var(outcome):
        return "the covariates determine the outcome"
    return "" if residuals.sums().any() else "the covariates determine the outcome or the group of everybody"
