"""Sensitivity of tests of rates: to wrong labels, labels of selected people, missing groups, unmeasured confounders.

Each comparison is tested over everything that is possible (`skfairtest.inference.relabelling`, and for missing groups
`skfairtest.inference.unknown`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Any, Self

import numpy as np
import pandas as pd

from skfairtest._utils.checks import check_choice, finite_numbers
from skfairtest._utils.errors import ParameterError, brief
from skfairtest._utils.typing import Booleans, Integers
from skfairtest.comparisons.contrasts import BEST
from skfairtest.comparisons.core import Comparison, Measured, Result
from skfairtest.comparisons.family import p_of
from skfairtest.comparisons.measure import by_labels, is_counted, label_table
from skfairtest.comparisons.rates import RateNull
from skfairtest.comparisons.unknown import Unassigned, disparity_ends, with_p_values
from skfairtest.inference.intervals import mover, mover_ratio
from skfairtest.inference.margin import normal_log_p
from skfairtest.inference.misclassified import Corrected
from skfairtest.inference.rates import Scale, answer, disparity_of, pair_disparity, quantiles
from skfairtest.inference.relabelling import (
    Side,
    completed_p_values,
    relabelled,
)
from skfairtest.inference.relabelling import (
    disparity_ends as completed_ends,
)
from skfairtest.inference.score import studentize
from skfairtest.inference.unknown import PValueBounds, p_value_bounds
from skfairtest.metrics import Rate
from skfairtest.metrics.rates import CELLS
from skfairtest.readers import is_label
from skfairtest.sensitivity.analysis import Analysis, Possible, analysed, verdict_of
from skfairtest.sensitivity.result import VIOLATIONS, Sensitivity
from skfairtest.tables import Sample

#: The largest group whose true labels may be wrong.
MOST_LABELS = 10_000_000


@dataclass(frozen=True)
class Counted:
    """What a sensitivity analysis needs of a fitted test: counts, no people.

    Parameters
    ----------
    result : Result or None
        What was found; None where there is no analysis.
    refused : str
        Why there is none.
    cells : ndarray of int, shape (n_groups, 4), or None
        People of each group by truth and prediction; None over strata, and of more than two labels.
    masks : dict of str to (ndarray, ndarray)
        Which of these show each rate's event, and who meets its condition.
    unassigned : Unassigned or None
        People of unknown group.
    groups, labels : tuple
        The names of the groups, and the labels.
    pos_label : object
        The positive one.
    """

    result: Result | None
    refused: str = ""
    cells: Integers | None = None
    masks: Mapping[str, tuple[Booleans, Booleans]] = field(default_factory=dict)
    unassigned: Unassigned | None = None
    groups: tuple[Any, ...] = ()
    labels: tuple[Any, ...] = ()
    pos_label: Any = None

    @classmethod
    def of(cls, result: Result) -> Self:
        """Take the counts of a result."""
        measured = result.measured
        settings, sample = measured.settings, measured.sample
        assert sample is not None
        refused = {f"metric={metric.name!r}": not isinstance(metric, Rate) for metric in measured.metrics} | {
            "people with sample_weight or in clusters, or variance='bootstrap' or 'jackknife'": not is_counted(
                sample, settings
            ),
            f"method={settings.question.method!r}": settings.question.method not in ("auto", "exact", "asymptotic"),
            "adjust='max_t'": settings.adjust == "max_t",
            "people whose labels or groups are not all known": measured.table is None,
            f"compare={settings.compare!r}": settings.compare in ("to_overall", *BEST),
        }
        reason = next((what for what, bad in refused.items() if bad), "")
        if reason:
            return cls(None, reason)
        cells = None
        if measured.table is not None and "y_true" in measured.table.cell_names and len(sample.labels) <= 2:
            counts, labels, _ = by_labels(measured.table, measured.pos_label)
            if len(counts) == 1:
                predicted = labels.get("y_pred", np.zeros(counts.shape[2], dtype=bool))
                place = 2 * ~labels["y_true"] + ~predicted
                cells = np.stack([counts[0][:, place == one].sum(axis=1) for one in range(4)], axis=1)
        unassigned = None
        if sample.n_unknown and not sample.named and not sample.control_names:
            unassigned = Unassigned.of(measured, sample)
        # Without people.
        light = replace(measured, sample=None, metrics=(), by_metric={}, design=None, table=None)
        masks = {rate.name: rate.masks(CELLS) for rate in measured.metrics if isinstance(rate, Rate)}
        names = tuple(sample.group_labels), tuple(sample.labels), measured.pos_label
        return cls(replace(result, measured=light), "", cells, masks, unassigned, *names)

    @property
    def measured(self) -> Measured:
        """What was measured."""
        assert self.result is not None
        return self.result.measured


def sensitivity_of(counted: Counted, to: str, at: Any, known: Mapping[str, Any]) -> Sensitivity:
    """Analyse how far a test's verdict depends on an assumption, given what else is known.

    Raises
    ------
    ValueError
        If there is no such analysis of this test.
    """
    check_choice("to", to, KINDS)
    if counted.result is None:
        raise ParameterError(
            f"to={brief(to)} is for rates of people who count alike, whose p-values are enumerated or asymptotic, and "
            f"not for {counted.refused}"
        )
    for name, value in known.items():
        if value is not None and name not in KNOWN[to]:
            raise ParameterError(
                f"{name} is not for to={brief(to)}, which takes {' and '.join(KNOWN[to]) or 'at alone'}"
            )
    if known["error_rates"] is not None:
        return _corrected(counted, counted.result, at, known["error_rates"])
    return analysed(KINDS[to](counted, counted.result, known), to, at)


def _sides(counted: Counted, one: Comparison) -> tuple[list[int], list[int]]:
    """The groups on both sides of a comparison."""
    assert counted.cells is not None
    contrast = one.estimate.contrast
    return [contrast.first], contrast.others(len(counted.cells))


def _check_cells(counted: Counted, what: str) -> Integers:
    if not any((mask[:2] != mask[2:]).any() for both in counted.masks.values() for mask in both):
        raise ParameterError(f"to={what!r} is about true labels, which {', '.join(counted.masks)} does not read")
    if counted.cells is None:
        raise ParameterError(
            f"to={what!r} counts completed tables of two labels in one stratum; this test has more labels, or averages "
            "over strata of control_features: use to='confounding', or a test without control_features"
        )
    if counted.measured.settings.question.disparity == "odds_ratio":
        raise ParameterError(
            f"to={what!r} has no bounds of disparity='odds_ratio': use 'difference' or 'ratio', whose tests of "
            "equality have them"
        )
    return counted.cells


def _label_noise(counted: Counted, base: Result, known: Mapping[str, Any]) -> Analysis:
    cells = _check_cells(counted, "label_noise")
    n = cells.sum(axis=1)

    def side(one: Comparison, groups: Sequence[int], budgets: Sequence[int]) -> Side:
        limits = np.array(
            [
                [(-min(k, c[0]), min(k, c[2])), (-min(k, c[1]), min(k, c[3]))]
                for k, c in zip(budgets, cells[groups], strict=True)
            ]
        ).sum(axis=0)
        event, given = counted.masks[one.estimate.metric]
        possible = relabelled(cells[groups].sum(axis=0), event, given, limits.tolist(), sum(budgets))
        # Where a group has no more labels to change, what is left of its share is not another group's.
        bound = len(groups) > 1 and any(k > c.min() for k, c in zip(budgets, cells[groups], strict=True))
        return replace(possible, attained=not bound)

    @cache
    def found(place: int, *budgets: tuple[int, ...]) -> tuple[PValueBounds, tuple[float, float]]:
        one = counted.measured.comparisons[place]
        if not any(map(sum, budgets)):
            return _as_found(one)
        first, second = (side(one, *both) for both in zip(_sides(counted, one), budgets, strict=True))
        return _completed(one, first, second)

    def bounds(place: int, amount: float, group: int | None) -> tuple[PValueBounds, tuple[float, float]]:
        sides = _sides(counted, counted.measured.comparisons[place])
        return found(
            place, *(tuple(int(amount * n[g] + 1e-9) if group in (None, g) else 0 for g in of) for of in sides)
        )

    involved = sorted({g for one in counted.measured.comparisons for groups in _sides(counted, one) for g in groups})
    most = int(n[involved].max())
    if most > MOST_LABELS:
        raise ParameterError(
            f"to='label_noise' tries every number of wrong labels in groups of at most {MOST_LABELS:,} people; found "
            f"{most:,}"
        )
    return Analysis(bounds, np.arange(most + 1) / most, base, tuple(involved))


def _as_found(one: Comparison) -> tuple[PValueBounds, tuple[float, float]]:
    found, disparity = one.in_family.evidence, one.estimate.disparity
    return PValueBounds(found.log_p, found.log_p, found.method, None, attained=True), (disparity, disparity)


def _completed(one: Comparison, first: Side, second: Side) -> tuple[PValueBounds, tuple[float, float]]:
    null = one.null
    assert isinstance(null, RateNull)
    found = completed_p_values(first, second, null.scale, null.question)
    return found, completed_ends(first, second, null.scale, null.question.disparity)


def _missing_groups(counted: Counted, base: Result, known: Mapping[str, Any]) -> Analysis:
    unassigned = counted.unassigned
    if unassigned is None:
        raise ParameterError(
            "to='missing_groups' needs people of whom a sensitive feature is missing: fit the test with "
            "missing='exclude' or 'bounds', without control_features; found none"
        )

    @cache
    def bounds(place: int, amount: float, group: int | None, *, exactly: bool = True) -> Possible:
        one = counted.measured.comparisons[place]
        null = one.null
        assert isinstance(null, RateNull)
        unknown = unassigned.subsets(one.estimate, int(amount * unassigned.n + 1e-9), exactly=exactly)
        found = p_value_bounds(null.pair, unknown, null.scale, null.question)
        return found, disparity_ends(null.pair, unknown, null.scale, null.question.disparity)

    if base.measured.settings.missing == "bounds":  # what would be found without them
        nobody = [bounds(place, 0.0, None)[0].high for place in range(len(base.measured.comparisons))]
        base = with_p_values(replace(base.measured, further=0), nobody)
    # With more people fewer assignments may turn a verdict: what survives does so with every smaller number.
    amounts = np.arange(unassigned.n + 1) / unassigned.n
    return Analysis(
        bounds, amounts, base, up_to=partial(bounds, exactly=False),
        further=lambda amount: unassigned.further(int(amount * unassigned.n + 1e-9)),
    )  # fmt: skip


def _selection(counted: Counted, base: Result, known: Mapping[str, Any]) -> Analysis:
    cells = _check_cells(counted, "selection")
    for name in ("y_pred", "sensitive_features"):
        if known[name] is None:
            raise ParameterError(f"{name} is missing: to='selection' needs those of the people without labels")
    low, high = _shares(known["positive_share"])
    people = _without_labels(counted, known["y_pred"], known["sensitive_features"])
    seen = cells[:, :2].sum(axis=1) / cells.sum(axis=1)

    def side(one: Comparison, groups: list[int], factor: float) -> Side:
        least, most = (np.clip(seen[groups] * times, low, high)[:, None] for times in (1 / factor, factor))
        # Rounded outwards: of few people, some share is always within.
        limits = np.stack([np.floor(least * people[groups] + 1e-9), np.ceil(most * people[groups] - 1e-9)]).sum(axis=1)
        base_cells = cells[groups].sum(axis=0) + np.r_[0, 0, people[groups].sum(axis=0)]
        return relabelled(base_cells, *counted.masks[one.estimate.metric], limits.T.astype(int).tolist())

    def bounds(place: int, amount: float, group: int | None) -> tuple[PValueBounds, tuple[float, float]]:
        one = counted.measured.comparisons[place]
        first, second = (side(one, groups, amount) for groups in _sides(counted, one))
        return _completed(one, first, second)

    return Analysis(bounds, np.r_[np.geomspace(1, 100, 1000), np.inf], base)


def _shares(asked: Any) -> tuple[float, float]:
    found = finite_numbers((0.0, 1.0) if asked is None else asked)
    if len(found) != 2 or not 0 <= found[0] <= found[1] <= 1:
        raise ParameterError(f"positive_share must be two numbers, 0 <= low <= high <= 1; found {brief(asked)}")
    return float(found[0]), float(found[1])


def _without_labels(counted: Counted, y_pred: Any, sensitive_features: Any) -> Integers:
    """Count the people without labels by group and prediction, the positive ones first."""
    sample = Sample.from_predictions(None, y_pred, sensitive_features=sensitive_features)
    strange = next((one for one in sample.labels if one not in counted.labels), None)
    if strange is not None:
        raise ParameterError(f"y_pred of people without labels holds {strange!r}; labels are {counted.labels!r}")
    people = np.zeros((len(counted.groups), 2), dtype=np.int64)
    counts, cells, _ = label_table(sample, {"y_pred"}, counted.pos_label)
    for group, of_group in zip(sample.group_labels, counts[0], strict=True):
        place = next((place for place, name in enumerate(counted.groups) if is_label(name, group)), None)
        if place is None:
            raise ParameterError(f"sensitive_features of people without labels hold {group!r}, which is no group")
        people[place] = of_group[cells["y_pred"]].sum(), of_group[~cells["y_pred"]].sum()
    return people


def _confounding(counted: Counted, base: Result, known: Mapping[str, Any]) -> Analysis:
    """Rosenbaum's bounds: the tests that all strata have the odds ratio gamma, and 1 / gamma, at their worst and best.

    Given the totals of a stratum, people of equal covariates whose odds of being in the group differ by up to gamma
    leave the events of the group between two noncentral hypergeometric distributions, with these odds ratios. The bound
    is the exact one whatever `method` the test has: Wald's test of an odds ratio is below it in small samples.
    """
    question = replace(base.measured.settings.question, disparity="odds_ratio", method="auto")
    if question.margin_bounds is not None:
        raise ParameterError("margin: to='confounding' bounds the test of equality: use margin=None")

    def bounds(place: int, amount: float, group: int | None) -> tuple[PValueBounds, tuple[float, float]]:
        one = counted.measured.comparisons[place]
        null = one.null
        assert isinstance(null, RateNull)
        ratio = pair_disparity(null.pair, np.zeros(0), np.zeros(0), "odds_ratio")  # which needs no values
        if amount == 1:
            return _as_found(one)[0], (ratio, ratio)
        # Against the observed direction the bias hides, along it it makes the disparity.
        worst, best = (
            answer(null.pair, Scale(), replace(question, margin_bounds=odds))
            for odds in ((1 / amount, amount), (amount, 1 / amount))
        )
        evidence = one.in_family.evidence.log_p
        found = PValueBounds(min(best.log_p, evidence), max(worst.log_p, evidence), worst.method, None, attained=True)
        return found, (ratio / amount, ratio * amount)

    return Analysis(bounds, np.geomspace(1, 100, 1000), base)


def _corrected(counted: Counted, base: Result, at: Any, error_rates: Any) -> Sensitivity:
    """Test rates that are corrected for labels of which the probabilities of errors are known."""
    cells, question = _check_cells(counted, "label_noise"), base.measured.settings.question
    if at is not None:
        raise ParameterError("at is not for error_rates, which say how many labels are wrong")
    if question.margin_bounds is not None or counted.measured.settings.compare == "to_rest":
        raise ParameterError(
            "error_rates correct differences and ratios of two groups: use margin=None and compare='between_groups' or "
            "'to_reference'"
        )
    errors = [_errors_of(error_rates, name) for name in counted.groups]
    z, _ = quantiles("two-sided", base.findings[0].error)
    rows, p = [], []
    for finding in base.findings:
        one, null = finding.estimate, finding.null
        assert isinstance(null, RateNull)
        scale, masks = null.scale, counted.masks[one.metric]
        groups = [side[0] for side in _sides(counted, finding)]
        first, second = (Corrected.of(cells[group], *masks, errors[group], z) for group in groups)
        distance, spread = first.value - second.value, np.hypot(first.standard_error, second.standard_error)
        p.append(
            normal_log_p(float(studentize(distance, spread)), question.alternative) if distance == distance else 0.0
        )
        value, lower, upper = (
            (scale.value(np.asarray(a)), scale.value(np.asarray(b)))
            for a, b in zip(*((side.value, side.low, side.high) for side in (first, second)), strict=True)
        )
        if question.disparity == "ratio":
            low, high = mover_ratio(value, lower, upper)
        else:
            low, high = mover(np.subtract, value, lower, upper)
        rows.append(
            {
                "metric": one.metric, "group": one.group, "other": one.other, "value_group": float(value[0]),
                "value_other": float(value[1]), "disparity": float(disparity_of(*value, question.disparity)),
                "ci_low": float(low), "ci_high": float(high), "p_value": p_of(p[-1]),
            }
        )  # fmt: skip
    result = with_p_values(base.measured, p)
    frame = pd.DataFrame(rows)
    frame["p_value_adjusted"] = [p_of(finding.log_p_adjusted) for finding in result.findings]
    frame["concern"] = [finding.concern for finding in result.findings]
    return Sensitivity("label_noise", verdict_of(result), frame, {}, VIOLATIONS["label_noise"], question.disparity)


def _errors_of(error_rates: Any, group: Any) -> tuple[float, float]:
    """The probabilities of a group's wrong labels: its own, or those of everybody."""
    found = error_rates
    if isinstance(error_rates, Mapping):
        found = next((errors for name, errors in error_rates.items() if is_label(name, group)), None)
        if found is None:
            raise ParameterError(f"error_rates has none of group {group!r}: give two probabilities for every group")
    errors = finite_numbers(found)
    if len(errors) != 2 or errors.min() < 0 or errors.sum() >= 1:
        raise ParameterError(
            "error_rates must be two probabilities with a sum below 1, that a truly negative person is recorded as "
            f"positive and a truly positive one as negative, or a dict of these by group; found {brief(found)}"
        )
    return float(errors[0]), float(errors[1])


KINDS: dict[str, Callable[[Counted, Result, Mapping[str, Any]], Analysis]] = {
    "label_noise": _label_noise,
    "selection": _selection,
    "missing_groups": _missing_groups,
    "confounding": _confounding,
}
#: What else each of them may be told.
KNOWN = {
    "label_noise": ("error_rates",),
    "selection": ("y_pred", "sensitive_features", "positive_share"),
    "missing_groups": (),
    "confounding": (),
}
