"""People whose group is unknown: left out and counted, or assigned to groups in every possible way.

With bounds, a p-value is the largest over all assignments, and an interval reaches from the smallest lower to the
largest upper limit. Every p-value is therefore valid whatever the groups are, and so are adjustment and verdict.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import comb, prod
from typing import Any, Self

import numpy as np

from skfairtest._utils.errors import ParameterError
from skfairtest._utils.text import pluralize
from skfairtest.comparisons.contrasts import SMALLEST_GROUP
from skfairtest.comparisons.core import Comparison, Exclusion, NullDistribution, Result
from skfairtest.comparisons.evaluation import masks_of
from skfairtest.comparisons.family import decide, p_of
from skfairtest.comparisons.measure import by_labels
from skfairtest.comparisons.rates import RateNull
from skfairtest.inference.detectable import TwoRates
from skfairtest.inference.linear_form import Scale
from skfairtest.inference.multiplicity import distinct
from skfairtest.inference.rate_draws import Contrast
from skfairtest.inference.rates import Pair, pair_disparity, values
from skfairtest.inference.unknown import PValueBounds, Reach, Unknown, corner_pairs, extreme_pairs, p_value_bounds
from skfairtest.metrics import Rate
from skfairtest.tables import Sample

#: Groups at intersections that are looked at one by one; of more, any may be made testable.
MOST_GROUPS = 100_000


@dataclass(frozen=True)
class UnknownNull(RateNull):
    """The null distribution of a rate whose sides may include people of unknown group."""

    unknown: Unknown
    found: PValueBounds

    @classmethod
    def limits_of_all(
        cls, nulls: Sequence[Self], critical: Sequence[tuple[float, float]], bounds: Sequence[tuple[float, float]]
    ) -> list[tuple[float, float]]:
        """The smallest lower and the largest upper limit over all assignments."""
        corners = [
            [RateNull(null.question, pair, null.scale) for pair in corner_pairs(null.pair, null.unknown)]
            for null in nulls
        ]
        repeated = [(null, *asked) for own, *asked in zip(corners, critical, bounds, strict=True) for null in own]
        limits = iter(RateNull.limits_of_all(*zip(*repeated, strict=True)))
        found = [np.array([next(limits) for _ in own]) for own in corners]
        return [(float(np.nanmin(own[:, 0])), float(np.nanmax(own[:, 1]))) for own in found]

    def disparities(self) -> tuple[float, float]:
        """The smallest and the largest disparity over all assignments."""
        return disparity_ends(self.pair, [self.unknown], self.scale, self.question.disparity)

    def table(self) -> TwoRates | None:
        """Return None: the power over all assignments is not known."""
        return None

    def attainable(self) -> None:
        """Return None: margins depend on the assignment."""

    def error(self) -> float:
        """Return NaN: nor is there a standard error."""
        return np.nan

    @property
    def worst(self) -> Pair | None:
        """The counts of the assignment with the largest p-value; None if that is only a bound."""
        return self.found.worst


def disparity_ends(pair: Pair, unknown: Sequence[Unknown], scale: Scale, disparity: str) -> tuple[float, float]:
    """The smallest and the largest disparity over assignments; NaN where none defines it."""
    ends = [end for each in unknown for end in extreme_pairs(pair, each)]
    found = np.array([pair_disparity(end, *values(end, scale), disparity) for end in ends])
    # Where one end is undefined, all assignments that define the disparity have that of the other.
    defined = found[~np.isnan(found)]
    return (float(defined.min()), float(defined.max())) if len(defined) else (np.nan, np.nan)


def with_unknown(result: Result) -> Result:
    """List the people of unknown group; with bounds, extend p-values and intervals to all assignments."""
    sample = result.sample
    assert sample is not None
    if result.settings.missing == "bounds":
        unassigned = Unassigned.of(result, sample)
        bounded = tuple(_bounded(one, unassigned.reach(one)) for one in result.tested)
        result = replace(result, tested=bounded, further=unassigned.further(unassigned.n))
    if not sample.n_unknown or sample.named:
        return result
    n, names = sample.n_unknown, " or ".join(sample.sensitive_names)
    done = {
        "exclude": "left out (missing='exclude')",
        "bounds": "p-values are the largest and intervals the widest over all ways to assign these people to the "
        "groups (missing='bounds')",
    }
    reason = f"{names} is missing: {done[result.settings.missing]}"
    return replace(result, excluded=(*result.excluded, Exclusion(None, None, None, None, reason, n, n, 0)))


@dataclass(frozen=True)
class Unassigned:
    """The people whose group is unknown, by what is known of it: counts, and possible groups.

    `lacking`: by metric, the numbers of these people that groups too small to be compared would need, ascending, with
    the numbers of groups and hypotheses without them.
    """

    n: int
    compare: str
    n_features: int
    lacking: Mapping[str, tuple[list[int], int, int]]
    counted: Mapping[str, tuple[list[int], list[int]]]
    contrasts: tuple[Contrast, ...]
    sides: list[list[tuple[bool, bool, bool]]]

    @classmethod
    def of(cls, result: Result, sample: Sample) -> Self:
        """Count the people of unknown group by each rate's event and by possible sides."""
        _check(result, sample)
        rates = {metric.name: metric for metric in result.metrics if isinstance(metric, Rate)}
        people, known = sample.unknown() or (None, [])
        counted = {name: _counted(people, rate, result.pos_label) for name, rate in rates.items()}
        contrasts = tuple(dict.fromkeys(one.contrast for one in result.tested))
        return cls(
            sample.n_unknown,
            result.settings.compare,
            len(sample.sensitive_names),
            {} if people is None else _lacking(result, sample, people.sizes[0].tolist(), known, counted),
            counted,
            contrasts,
            [[_sides(own, contrast, sample) for own in known] for contrast in contrasts],
        )

    def reach(self, one: Comparison) -> Unknown:
        """Return who may be on which side of a comparison."""
        sides = self.sides[self.contrasts.index(one.contrast)]
        return Unknown(*(_reach(of, sides) for of in self.counted[one.metric]))

    def subsets(self, one: Comparison, size: int, *, exactly: bool) -> list[Unknown]:
        """The possible sides of subsets of at most this many people; the others are left out."""
        events, others = map(sum, self.counted[one.metric])
        rest = self.n - events - others if exactly else size
        return self.reach(one).subsets(events, others, rest, size)

    def further(self, size: int) -> int:
        """The largest number of further hypotheses that this many people can make testable."""
        found = 0
        for needs, n_groups, n_tested in self.lacking.values():
            n = n_groups + int((np.cumsum(needs) <= size).sum())
            if self.compare == "to_parents":
                most = n * self.n_features if size else n_tested
            elif self.compare == "between_groups":
                most = comb(n, 2)
            else:  # two groups' comparisons with the rest are the same
                most = n - (self.compare == "to_reference" or n < 3)
            found += max(0, most - n_tested)
        return found


def _lacking(
    result: Result,
    sample: Sample,
    sizes: Sequence[int],
    known: Sequence[Mapping[int, Any]],
    counted: Mapping[str, tuple[list[int], list[int]]],
) -> dict[str, tuple[list[int], int, int]]:
    """See `Unassigned`: numbers of people of unknown group are `sizes`, of whom values of some features are `known`."""
    assert sample.everyone is not None
    levels = [[c.levels[code] for code in np.unique(c.codes[c.codes >= 0])] for c in sample.everyone.sensitive]
    listed = prod(map(len, levels)) <= MOST_GROUPS
    groups = list(product(*levels)) if listed else sample.groups
    fitting = [[place for place, own in enumerate(known) if all(key[i] == v for i, v in own.items())] for key in groups]
    people = dict(zip(sample.groups, sample.sizes.sum(axis=0).tolist(), strict=True))
    out = {}
    for name, (events, others) in counted.items():
        values = result.by_metric.get(name)
        met = dict(zip(sample.groups, values.n_effective[0].tolist(), strict=True)) if values else {}
        needs, n_groups = [] if listed else [SMALLEST_GROUP] * sample.n_unknown, 0
        for key, fit in zip(groups, fitting, strict=True):
            missing = max(0, SMALLEST_GROUP - people.get(key, 0)), max(0, 1 - met.get(key, 0))
            there = sum(sizes[place] for place in fit), sum(events[place] + others[place] for place in fit)
            n_groups += not any(missing)
            if any(missing) and all(n >= least for n, least in zip(there, missing, strict=True)):
                needs.append(max(missing))
        tested = [one.hypothesis for one in result.tested if one.metric == name]
        out[name] = sorted(needs), n_groups, len(distinct(tested))
    return out


def _bounded(one: Comparison, unknown: Unknown) -> Comparison:
    null = one.null
    assert isinstance(null, RateNull)
    found = p_value_bounds(null.pair, [unknown], null.scale, null.question)
    bounded = UnknownNull(null.question, null.pair, null.scale, unknown, found, studentized=null.studentized)
    # A ratio that is undefined among the others is tested where an assignment defines it.
    undefined = one.undefined if np.isnan(bounded.disparities()).all() else ""
    return replace(one, undefined=undefined, null=bounded, log_p=found.high, method=found.method)


def _check(result: Result, sample: Sample) -> None:
    refused = {
        "people with sample_weight": sample.weight is not None,
        "people in clusters": sample.clusters is not None,
        "averages over strata of control_features": bool(sample.control_names),
    }
    refused |= {f"metric={metric.name!r}": True for metric in result.metrics if not isinstance(metric, Rate)}
    for what, bad in refused.items():
        if bad:
            raise ParameterError(
                f"missing='bounds' is for rates of unweighted people without clusters, and not for {what}: use "
                "missing='exclude' or 'group'"
            )


def _counted(people: Sample | None, rate: Rate, positive: Any) -> tuple[list[int], list[int]]:
    """Counts of people with the same known features: events, and non-events in the condition."""
    if people is None:
        return [], []
    counts, columns = by_labels(people.table(rate.reads), positive)
    event, given = masks_of(rate, columns, positive)
    events = counts[0][:, event].sum(axis=1)
    return events.tolist(), (counts[0][:, given].sum(axis=1) - events).tolist()


def _sides(known: Mapping[int, Any], contrast: Contrast, sample: Sample) -> tuple[bool, bool, bool]:
    """Whether people with these known features may be on the first side, on the second, and on neither.

    Unknown features may have any value in the data, in any combination.
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
    """The numbers of people who may be on the two sides, from counts by possible sides."""
    reaches = (
        Reach.of(n, first=first, second=second, elsewhere=elsewhere)
        for n, (first, second, elsewhere) in zip(numbers, sides, strict=True)
    )
    return sum(reaches, Reach.of(0))


def disparities_of(one: Comparison) -> tuple[float, float]:
    """The smallest and the largest disparity of a comparison that has bounds."""
    assert isinstance(one.null, UnknownNull)
    return one.null.disparities()


def p_value_bounds_of(result: Result) -> tuple[float, float]:
    """The global p-value with the smallest, and with the largest p-values of all comparisons.

    These are bounds: not all comparisons have their smallest p-value in the same assignment.
    """
    least = [one.null.found.low if isinstance(one.null, UnknownNull) else one.log_p for one in result.tested]
    return p_of(with_p_values(replace(result, further=0), least).verdict.log_p), p_of(result.verdict.log_p)


def with_p_values(result: Result, log_p: Sequence[float]) -> Result:
    """The result that comparisons would have with other p-values, without intervals."""
    others = tuple(
        replace(
            one,
            undefined="" if of_one < 0 else one.undefined,
            null=NullDistribution(one.null.question),
            log_p=max(of_one, float(np.finfo(float).min)),  # finite, to be compared
        )
        for one, of_one in zip(result.tested, log_p, strict=True)
    )
    return decide([replace(result, tested=others)], result.settings)[0]


def unknown_sentence(result: Result) -> str:
    """The number of people of unknown group and their treatment, as a sentence; empty if all are known."""
    sample = result.sample
    assert sample is not None
    if not sample.n_unknown:
        return ""
    n, names = sample.n_unknown, " or ".join(sample.sensitive_names)
    people = sample.n_samples + (0 if sample.named else n)
    said = f"{names} is missing for {n:,} of {people:,} people ({100 * n / people:.0f}%)"
    if sample.named:
        return f"{said}: this is treated as one more value."
    if result.settings.missing == "exclude":
        return (
            f"{said}: they were left out. Results are valid if, within each group, being left out has nothing to do "
            "with the outcome."
        )
    nulls = [one.null for one in result.tested]
    attained = all(null.found.attained for null in nulls if isinstance(null, UnknownNull))
    further = pluralize(result.further, "comparison")
    return (
        f"{said}, who may be in any group. Each p-value is the largest, and each interval the widest, over all ways to "
        "assign them to the groups; values are those of the other people."
        + (f" {further} with groups that they may make large enough count as well." if result.further else "")
        + ("" if attained else " If there were too many assignments to try, p-values are upper bounds.")
    )
