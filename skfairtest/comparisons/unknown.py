"""People whose group is not known: left out and counted, or assigned to groups in every possible way.

With bounds, a comparison's p-value is the largest over all assignments of these people to groups, and its interval
reaches from the smallest lower limit of an assignment to the largest upper one. So every p-value is valid whatever
groups they belong to, and what is made of p-values (adjustment, verdict, reports) is as it always is.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any, Self

import numpy as np

from skfairtest._utils.errors import ParameterError
from skfairtest.comparisons.core import (
    Comparison,
    Enumerated,
    Estimate,
    Exclusion,
    Measured,
    NullDistribution,
    Result,
)
from skfairtest.comparisons.family import decide, p_of
from skfairtest.comparisons.measure import label_table
from skfairtest.comparisons.rates import RateNull
from skfairtest.inference.detectable import TwoRates
from skfairtest.inference.rate_draws import Contrast
from skfairtest.inference.rates import Pair, pair_disparity, values
from skfairtest.inference.unknown import PValueBounds, Reach, Unknown, corner_pairs, extreme_pairs, p_value_bounds
from skfairtest.metrics import Rate
from skfairtest.tables import Sample


@dataclass(frozen=True)
class UnknownNull(RateNull):
    """What chance does to a rate of two sides to which people of unknown group may belong."""

    unknown: Unknown
    found: PValueBounds

    @classmethod
    def limits_of_all(
        cls, nulls: Sequence[Self], critical: Sequence[tuple[float, float]], bounds: Sequence[tuple[float, float]]
    ) -> list[tuple[float, float]]:
        """Return the smallest lower and the largest upper limit over all assignments."""
        corners = [[null._at(pair) for pair in corner_pairs(null.pair, null.unknown)] for null in nulls]
        repeated = [(null, *asked) for own, *asked in zip(corners, critical, bounds, strict=True) for null in own]
        limits = iter(RateNull.limits_of_all(*zip(*repeated, strict=True)))
        found = [np.array([next(limits) for _ in own]) for own in corners]
        return [(float(np.nanmin(own[:, 0])), float(np.nanmax(own[:, 1]))) for own in found]

    def _at(self, pair: Pair) -> RateNull:
        return RateNull(self.question, pair, self.scale)

    def disparities(self) -> tuple[float, float]:
        """Return the smallest and the largest disparity over all assignments."""

        def of(pair: Pair) -> float:
            first, second = values(pair, self.scale)
            return pair_disparity(pair, first, second, self.question.disparity)

        low, high = map(of, extreme_pairs(self.pair, self.unknown))
        # Where one of them is undefined, all assignments that define the disparity have that of the other.
        return (high if np.isnan(low) else low), (low if np.isnan(high) else high)

    def table(self) -> TwoRates | None:
        """Return None: the power over all assignments is not known."""
        return None

    def error(self, estimate: Estimate) -> float:
        """Return NaN: nor is there a standard error."""
        return np.nan

    def enumerated(self, log_p: float, method: str) -> Enumerated | None:
        """Return the distribution in the assignment with the largest p-value; None where that is a bound."""
        return None if self.found.worst is None else self._at(self.found.worst).enumerated(log_p, method)


def with_unknown(measured: Measured) -> Measured:
    """List the people of unknown group, and make p-values and intervals those of all assignments where asked for.

    Raises
    ------
    ParameterError
        If bounds are asked for that do not exist: of other metrics than rates, of people with weights or in clusters,
        over strata.
    """
    sample = measured.sample
    assert sample is not None
    if measured.settings.missing == "bounds":
        measured = replace(measured, comparisons=tuple(_bounded(measured, sample)))
    if not sample.n_unknown or sample.named:
        return measured
    n, names = sample.n_unknown, " or ".join(sample.sensitive_names)
    done = {
        "exclude": "left out (missing='exclude')",
        "bounds": "p-values are the largest and intervals the widest over all ways to assign these people to the "
        "groups (missing='bounds')",
    }
    reason = f"{names} is missing: {done[measured.settings.missing]}"
    return replace(measured, excluded=(*measured.excluded, Exclusion(None, None, None, None, reason, n, n, 0)))


@dataclass(frozen=True)
class Unassigned:
    """The people whose group is not known, by what is known of it: counts, and where they may be."""

    counted: Mapping[str, tuple[list[int], list[int]]]
    contrasts: tuple[Contrast, ...]
    sides: list[list[tuple[bool, bool, bool]]]

    @classmethod
    def of(cls, measured: Measured, sample: Sample) -> Self:
        """Count the people of unknown group who show each rate's event, and who may be on which side.

        Raises
        ------
        ParameterError
            If what is measured has no bounds.
        """
        _check(measured, sample)
        rates = {metric.name: metric for metric in measured.metrics if isinstance(metric, Rate)}
        people, known = sample.unknown() or (None, [])
        contrasts = tuple(dict.fromkeys(one.estimate.contrast for one in measured.comparisons))
        return cls(
            {name: _counted(people, rate, measured.pos_label) for name, rate in rates.items()},
            contrasts,
            [[_sides(own, contrast, sample) for own in known] for contrast in contrasts],
        )

    def reach(self, estimate: Estimate, share: float | None = None) -> Unknown:
        """Return who may be on which side of a comparison: everyone, or up to a share of them, the rest on neither."""
        sides = self.sides[self.contrasts.index(estimate.contrast)]
        if share is not None:
            sides = [(first, second, True) for first, second, _ in sides]
        numbers = self.counted[estimate.metric]
        return Unknown(*(_reach([n if share is None else int(share * n + 1e-9) for n in of], sides) for of in numbers))


def _bounded(measured: Measured, sample: Sample) -> list[Comparison]:
    unassigned = Unassigned.of(measured, sample)
    out = []
    for one in measured.comparisons:
        null = one.null
        assert isinstance(null, RateNull)
        unknown = unassigned.reach(one.estimate)
        found = p_value_bounds(null.pair, unknown, null.scale, null.question)
        bounded = UnknownNull(null.question, null.pair, null.scale, unknown, found, studentized=null.studentized)
        # A ratio that is undefined among the others is tested where an assignment defines it.
        undefined = one.estimate.undefined if np.isnan(bounded.disparities()).all() else ""
        evidence = replace(one.evidence, log_p=found.high, method=found.method)
        out.append(Comparison(replace(one.estimate, undefined=undefined), bounded, evidence))
    return out


def _check(measured: Measured, sample: Sample) -> None:
    refused = {
        "people with sample_weight": sample.weight is not None,
        "people in clusters": sample.clusters is not None,
        "averages over strata of control_features": bool(sample.control_names),
    }
    refused |= {f"metric={metric.name!r}": True for metric in measured.metrics if not isinstance(metric, Rate)}
    for what, bad in refused.items():
        if bad:
            raise ParameterError(
                f"missing='bounds' is for rates of people who count alike, and not for {what}: use missing='exclude' "
                "or 'group'"
            )


def _counted(people: Sample | None, rate: Rate, positive: Any) -> tuple[list[int], list[int]]:
    """The numbers of people of whom the same is known: who show the event, and others who meet its condition."""
    if people is None:
        return [], []
    counts, cells, labels = label_table(people, set(rate.reads), positive)
    event, given = rate.masks(cells, labels)
    events = counts[0][:, event].sum(axis=1)
    return events.tolist(), (counts[0][:, given].sum(axis=1) - events).tolist()


def _sides(known: Mapping[int, Any], contrast: Contrast, sample: Sample) -> tuple[bool, bool, bool]:
    """Whether people with these values of some features may be on the first side, on the second, and on neither.

    Of the other features they may have any value that somebody has, also where nobody is known to have all of these.
    """
    assert sample.everyone is not None
    levels = [len(np.unique(column.codes[column.codes >= 0])) for column in sample.everyone.sensitive]

    def ways(values: Mapping[int, Any]) -> int:
        """Count the groups with certain values to which they may belong."""
        free = prod(n for i, n in enumerate(levels) if i not in known and i not in values)
        return free * all(values[i] == value for i, value in known.items() if i in values)

    first = ways(dict(enumerate(sample.groups[contrast.first])))
    if contrast.second is not None:
        second = ways(dict(enumerate(sample.groups[contrast.second])))
    else:  # everyone else, or those of them who share the values of a parent group
        among = [sample.groups[group] for group in contrast.among or ()]
        shared = {i: values[0] for i, values in enumerate(zip(*among, strict=True)) if len(set(values)) == 1}
        second = ways(shared) - first
    return first > 0, second > 0, ways({}) > first + second


def _reach(numbers: Sequence[int], sides: Sequence[tuple[bool, bool, bool]]) -> Reach:
    """The numbers of people who may be on the two sides, given how many may be on the same."""
    reaches = (
        Reach.of(n, first=first, second=second, elsewhere=elsewhere)
        for n, (first, second, elsewhere) in zip(numbers, sides, strict=True)
    )
    return sum(reaches, Reach.of(0))


def disparities_of(one: Comparison) -> tuple[float, float]:
    """Return the smallest and the largest disparity of a comparison that has bounds."""
    assert isinstance(one.null, UnknownNull)
    return one.null.disparities()


def p_value_bounds_of(result: Result) -> tuple[float, float]:
    """Return the global p-value with the smallest p-value of every comparison, and with the largest ones.

    Of several comparisons these are bounds: not all of them have their smallest p-value in the same assignment.
    """
    least = [
        one.null.found.low if isinstance(one.null, UnknownNull) else one.evidence.log_p
        for one in result.measured.comparisons
    ]
    return p_of(with_p_values(result.measured, least).verdict.log_p), p_of(result.verdict.log_p)


def with_p_values(measured: Measured, log_p: Sequence[float]) -> Result:
    """The result that comparisons would have with other p-values, without intervals."""
    others = [
        replace(
            one,
            estimate=replace(one.estimate, undefined="" if of_one < 0 else one.estimate.undefined),
            null=NullDistribution(one.null.question),
            evidence=replace(one.evidence, log_p=max(of_one, float(np.finfo(float).min))),  # finite, to be compared
        )
        for one, of_one in zip(measured.comparisons, log_p, strict=True)
    ]
    (result,) = decide([replace(measured, comparisons=tuple(others))], measured.settings)
    return result


def unknown_sentence(measured: Measured) -> str:
    """Say how many people are of unknown group, and what became of them; nothing where all groups are known."""
    sample = measured.sample
    assert sample is not None
    if not sample.n_unknown:
        return ""
    n, names = sample.n_unknown, " or ".join(sample.sensitive_names)
    people = sample.n_samples + (0 if sample.named else n)
    said = f"{names} is missing for {n:,} of {people:,} people ({100 * n / people:.0f}%)"
    if sample.named:
        return f"{said}: this is treated as one more value."
    if measured.settings.missing == "exclude":
        return (
            f"{said}: they were left out. Results are valid if, within each group, being left out has nothing to do "
            "with the outcome."
        )
    nulls = [one.null for one in measured.comparisons]
    attained = all(null.found.attained for null in nulls if isinstance(null, UnknownNull))
    return (
        f"{said}, who may be in any group. Each p-value is the largest, and each interval the widest, over all ways to "
        "assign them to the groups; values are those of the other people."
        + ("" if attained else " Where there were too many ways to try, p-values are bounds above all of them.")
    )
