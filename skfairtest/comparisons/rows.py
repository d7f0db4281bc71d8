"""What comparisons are made of: groups that take part, contrasts between them, rows of results, what is left out."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import combinations
from math import comb
from operator import xor
from typing import Any

import numpy as np

from skfairtest._utils.errors import GroupsMissing, ParameterError
from skfairtest._utils.text import label
from skfairtest._utils.typing import Floats
from skfairtest.comparisons.settings import Settings
from skfairtest.inference.linear_form import Form, Resampled
from skfairtest.inference.multiplicity import Equality, distinct
from skfairtest.inference.rate_draws import Contrast
from skfairtest.inference.rates import Pair, Question, Scale
from skfairtest.metrics import Metric, Rate
from skfairtest.readers import is_label
from skfairtest.tables import Sample

#: A group's value is flagged when it rests on fewer people than this.
SMALL = 10
#: Methods whose p-values count resamples.
RESAMPLED = frozenset({"permutation", "sign flipping", "bootstrap"})
#: The scale of a rate itself.
RATE = Scale()
#: A group takes part in comparisons from this many people on.
SMALLEST_GROUP = 2
#: Comparisons of one table that are made at the most.
MOST_COMPARISONS = 100_000


@dataclass
class Row:
    """One comparison. What `judge` sets later has no value yet.

    A rate's row has the counts behind it (`pair`), from which its law and its interval follow. Other rows have a
    `form`, from which their tests at a margin and their intervals follow, and `spread`: the standard error of the
    difference, or of the logarithm of the ratio (NaN where that is infinite).
    """

    metric: str
    group: Any
    other: Any
    stratum: Any
    contrast: Contrast
    question: Question
    n_group: int
    n_other: int
    value_group: float
    value_other: float
    disparity: float
    pair: Pair | None = None
    scale: Scale = RATE
    ends: tuple[float, float] = (-1.0, 1.0)
    form: Form | None = None
    spread: float = np.nan
    studentized: bool = True
    log_p: float = np.nan
    method: str = ""
    statistic: float = np.nan
    standard_error: float = np.nan
    drawn: Floats | None = field(default=None, repr=False)
    joint: Floats | None = field(default=None, repr=False)  # draws for the maximum over rows, where they are others
    resampled: Resampled | None = field(default=None, repr=False)  # bootstrap samples, at any margin
    alike: bool = False  # whether the people of a side are all alike, so that bootstrap samples of it are too
    extreme: tuple[int, int] | None = None  # draws at least as extreme as the statistic, of how many
    tails: int = 1  # by how much the p-value of these is multiplied
    undefined: int = 0  # draws among these in which the statistic is undefined
    side: str | None = None
    beyond: float = np.nan  # the statistic, oriented: larger is more evidence
    log_p_adjusted: float = np.nan
    interval: tuple[float, float] = (np.nan, np.nan)
    concern: bool = False
    equality: Equality | None = None  # the hypothesis, where it can be that of other rows too
    sign: int = 1  # of the statistic, beside that of other rows with the same hypothesis

    @property
    def extreme_side(self) -> str:
        """Which draws are extreme: as asked, but for metrics that speak against fairness on one side only."""
        return self.question.alternative if self.side is None else self.side

    @property
    def counted(self) -> Pair:
        """The counts of a rate's row."""
        assert self.pair is not None
        return self.pair

    def take(self, first: Row) -> None:
        """Take the permutation test of the first row with the same hypothesis: the statistic differs in its sign."""
        sign = self.sign * first.sign
        self.statistic = sign * first.statistic + 0.0  # + 0.0: no minus sign before 0
        self.drawn = None if first.drawn is None else sign * first.drawn
        self.log_p, self.method, self.studentized = first.log_p, first.method, first.studentized
        self.extreme, self.undefined, self.beyond = first.extreme, first.undefined, first.beyond


@dataclass
class Exclusion:
    """A group, cell or stratum that was left out of `comparisons` comparisons, and why."""

    metric: str | None
    group: Any
    other: Any
    stratum: Any
    reason: str
    n: int
    n_effective: int
    comparisons: int


@dataclass
class GroupValues:
    """A metric in every stratum and group, arrays of shape (S, G); `n_effective` is the denominator."""

    n_effective: np.ndarray
    value: np.ndarray
    error: np.ndarray
    low: np.ndarray
    high: np.ndarray


@dataclass
class Measured:
    """Everything that one sample says about its metrics, before multiplicity."""

    sample: Sample
    metrics: list[Metric]
    pos_label: Any = None
    values: dict[str, GroupValues] = field(default_factory=dict)
    conditions: dict[str, np.ndarray] = field(default_factory=dict)  # per rate, which cells meet its condition
    errors: dict[str, str | None] = field(default_factory=dict)  # per metric, what its standard error is
    rows: list[Row] = field(default_factory=list)
    excluded: list[Exclusion] = field(default_factory=list)
    #: A number for the set of people in each group (see `numbers_of`).
    sets: list[int] = field(default_factory=list)
    #: The first row of every hypothesis.
    first: dict[Equality, Row] = field(default_factory=dict)
    #: Metrics of scores that were given labels.
    labels_as_scores: list[str] = field(default_factory=list)
    #: Metrics of which it was said that they take long.
    announced: set[str] = field(default_factory=set)
    #: Where a studentized law is doubtful: metric, group, and why.
    doubtful: list[tuple[str, Any, str]] = field(default_factory=list)

    def first_of(self, row: Row) -> Row:
        """Return the first row with the hypothesis of a row: itself, if there was none before."""
        return row if row.equality is None else self.first.setdefault(row.equality, row)


def numbers_of(sets: int) -> list[int]:
    """Return numbers for disjoint sets of people, of which the exclusive or stands for several sets together.

    Different unions get the same number with a probability of 2^-128.
    """
    words = np.random.default_rng(0).integers(0, 2**64, size=(sets, 2), dtype=np.uint64, endpoint=False)
    return [high << 64 | low for high, low in words.tolist()]


def what_is_equal(out: Measured, rate: Rate, question: Question, *, scored: bool) -> tuple[Hashable, bool]:
    """Return what is equal where a rate is, and whether that is its complement.

    `scored` statistics are of the rate, whatever the disparity and whichever function of the rate is shown. Others are
    the same for the complement, but for their sign, where differences of the rate itself are compared; otherwise tests
    of one hypothesis differ, and each counts.
    """
    what, complement = rate.equality(several_labels=len(out.sample.labels) > 2)
    disparity = rate.disparity or question.disparity
    if scored or (disparity == "difference" and rate.value is None):
        return what, complement
    return (what, complement, disparity, rate.value), False


def name_hypothesis(
    row: Row, out: Measured, what: Hashable, strata: Sequence[int], *, complement: bool = False
) -> None:
    """Say which hypothesis a row tests, if it is that two sides have one value.

    Tests against margins and one-sided tests stay hypotheses of their own: swapped sides and complements ask something
    else there, and one does not follow from others.

    Parameters
    ----------
    row : Row
        With its contrast and question.
    out : Measured
        Where the row belongs.
    what : hashable
        What is equal: the same for metrics that are equal at the same time.
    strata : sequence of int
        Strata in which both sides are defined. Averages over different strata are not transitive.
    complement : bool
        Whether the row's event is the complement of the one that `what` names.
    """
    if row.question.alternative != "two-sided" or row.question.margin_bounds is not None:
        return
    if row.question.method == "bootstrap" and row.contrast.overall:  # samples of everyone, of whom groups are parts
        return
    first = out.sets[row.contrast.first]
    others = np.flatnonzero(row.contrast.others(len(out.sets))).tolist()
    second = reduce(xor, (out.sets[group] for group in others))
    place = 0 if len(out.sample.strata) == 1 else row.contrast.stratum
    row.equality = Equality((what, place, tuple(strata)), frozenset({first, second}))
    row.sign = (1 if first < second else -1) * (-1 if complement else 1)


def by_hypothesis(rows: Iterable[Row]) -> list[list[Row]]:
    """Put rows with the same hypothesis together, in the order of the first ones."""
    listed = list(rows)
    return [[listed[place] for place in places] for places in distinct([row.equality for row in listed])]


def ends_of(bounds: tuple[float, float], disparity: str) -> tuple[float, float]:
    """Return the smallest and largest disparity of values within bounds."""
    return (0.0, np.inf) if disparity == "ratio" else (bounds[0] - bounds[1], bounds[1] - bounds[0])


def kept_groups(sample: Sample, excluded: list[Exclusion], settings: Settings, n_metrics: int) -> list[int]:
    """Return the groups that take part, and list the others as excluded.

    Raises
    ------
    ValueError
        If fewer than two take part.
    """
    labels = sample.group_labels
    totals = sample.sizes.sum(axis=0)
    names = " x ".join(sample.sensitive_names)
    if len(labels) < 2:
        raise GroupsMissing(
            f"sensitive_features ({names}) holds one group only, {labels[0]!r} (n_samples={int(totals.sum())}): "
            "nothing can be compared; at least two groups are needed"
        )
    kept = [g for g, n in enumerate(totals.tolist()) if n >= SMALLEST_GROUP]
    if len(kept) < 2:
        found = ", ".join(f"{label!r}: {n}" for label, n in zip(labels, totals.tolist(), strict=True))
        raise GroupsMissing(
            f"sensitive_features ({names}) needs at least two groups of {SMALLEST_GROUP} or more people; found {found}"
        )
    for g, n in enumerate(totals.tolist()):
        if n < SMALLEST_GROUP:
            reason = f"fewer than {SMALLEST_GROUP} people: compared with nobody"
            partners = {"between_groups": len(kept), "to_parents": len(sample.sensitive_names)}.get(settings.compare, 1)
            excluded.append(Exclusion(None, labels[g], None, None, reason, n, n, partners * n_metrics))
    return kept


def check_how_many(sample: Sample, n_groups: int, n_metrics: int, settings: Settings) -> None:
    """Refuse more comparisons than anybody can wait for or read; all pairs of crossed features grow fast."""
    if settings.compare != "between_groups":
        return
    places = 1 + len(sample.strata) * bool(sample.control_names)
    found = comb(n_groups, 2) * n_metrics * places
    if found > MOST_COMPARISONS:
        names = " x ".join(sample.sensitive_names)
        fewer = (
            "compare_intersections='to_rest' or 'to_parents'"
            if settings.crossed
            else ("compare='to_rest' or 'to_reference'")
        )
        raise ParameterError(
            f"sensitive_features ({names}) makes {n_groups:,} groups, whose pairs are {found:,} comparisons; at most "
            f"{MOST_COMPARISONS:,} are made: use {fewer}, or fewer sensitive features"
        )


def contrasts_of(
    sample: Sample, kept: list[int], settings: Settings, excluded: list[Exclusion], n_metrics: int
) -> Iterable[tuple[Contrast, Any]]:
    """Pair each contrast with the label of what the group is compared with; list those that are left out."""
    labels = sample.group_labels
    if settings.compare == "between_groups":
        if len(kept) > 2 and settings.question.alternative in ("greater", "less"):
            raise ParameterError(
                f"alternative={settings.question.alternative!r} needs a direction, which all pairs of {len(kept)} "
                "groups do not have: use compare='to_reference', 'to_rest' or 'to_overall'"
            )
        for first, second in combinations(kept, 2):
            yield Contrast(first, second), labels[second]
    elif settings.compare == "to_reference":
        reference = settings.reference_group
        if isinstance(reference, list):
            reference = tuple(reference)
        found = [place for place, label in enumerate(labels) if is_label(label, reference)]
        if not found:
            raise GroupsMissing(
                f"reference_group={reference!r} is not a group; the groups are {', '.join(map(repr, labels))}"
            )
        second = found[0]
        if second not in kept:
            raise GroupsMissing(f"reference_group={reference!r} has fewer than {SMALLEST_GROUP} people")
        for first in kept:
            if first != second:
                yield Contrast(first, second), labels[second]
    elif settings.compare == "to_parents":
        yield from _to_parents(sample, kept, excluded, n_metrics)
    else:
        overall = settings.compare == "to_overall"
        for first in kept:
            yield Contrast(first, None, overall), "overall" if overall else "rest"


def _to_parents(
    sample: Sample, kept: list[int], excluded: list[Exclusion], n_metrics: int
) -> Iterable[tuple[Contrast, str]]:
    """Pair each crossed group with the other people of each of its parents, who share all its features but one."""
    names, groups, labels = sample.sensitive_names, sample.groups, sample.group_labels
    sizes = sample.sizes.sum(axis=0).tolist()
    parents: dict[tuple[Any, ...], list[int]] = {}
    shared = list(combinations(range(len(names)), len(names) - 1))
    for group, key in enumerate(groups):
        for places in shared:
            parents.setdefault((places, *(key[i] for i in places)), []).append(group)
    for first in kept:
        for places in shared:
            key = tuple(groups[first][i] for i in places)
            among = tuple(parents[places, *key])
            parent = ", ".join(f"{label(names[i])} = {label(value)}" for i, value in zip(places, key, strict=True))
            n, others = sizes[first], sum(sizes[group] for group in among) - sizes[first]
            if others >= SMALLEST_GROUP:
                yield Contrast(first, None, among=among), f"rest of {parent}"
                continue
            reason = f"{'only one other person has' if others else 'nobody else has'} {parent}"
            excluded.append(Exclusion(None, labels[first], f"rest of {parent}", None, reason, n, n, n_metrics))


def places_of(sample: Sample) -> list[int | None]:
    """Return where comparisons are made: over all strata (None), then in each of them where there are several."""
    return [None, *range(len(sample.strata))] if sample.control_names else [None]


class Missing:
    """Groups, and strata of a group, in which a metric is undefined, and how many comparisons that costs."""

    def __init__(self) -> None:
        self.found: dict[tuple[int, int | None], int] = {}

    def add(self, group: int, place: int | None) -> None:
        """Count one comparison that is left out."""
        self.found[(group, place)] = self.found.get((group, place), 0) + 1

    def report(self, out: Measured, metric: str, reason: str) -> None:
        """List what was counted as excluded."""
        labels, strata, sizes = out.sample.group_labels, out.sample.stratum_labels, out.sample.sizes
        for (group, place), comparisons in self.found.items():
            n = int(sizes[:, group].sum() if place is None else sizes[place, group])
            label = None if place is None else strata[place]
            why = reason if n else "no people"
            out.excluded.append(Exclusion(metric, labels[group], None, label, why, n, 0, comparisons))


def report_undefined_draws(row: Row, out: Measured) -> None:
    """List the resamples in which a comparison is undefined, which count in neither part of its p-value."""
    if row.drawn is None or row.extreme is None:
        return
    if row.undefined:
        total = row.extreme[1] + row.undefined
        reason = f"undefined in {row.undefined:,} of {total:,} drawn tables, which are not counted"
        effective = int(row.pair.d1.sum()) if row.pair is not None else row.n_group
        out.excluded.append(Exclusion(row.metric, row.group, row.other, row.stratum, reason, row.n_group, effective, 0))


def many_of(mapping: Mapping[str, Any], names: Sequence[str]) -> Any:
    """Return what all names share, or a dict by name where they differ."""
    found = {name: mapping[name] for name in names}
    kinds = set(found.values())
    return kinds.pop() if len(kinds) == 1 else found
