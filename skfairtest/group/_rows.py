"""What comparisons are made of: groups that take part, contrasts between them, rows of results, what is left out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import comb
from typing import Any

import numpy as np

from skfairtest.group._errors import GroupsMissing
from skfairtest.group._settings import Settings
from skfairtest.inference._discrete import Floats
from skfairtest.inference.rate_draws import Contrast
from skfairtest.inference.rates import Pair, Question, Scale
from skfairtest.metrics import Metric
from skfairtest.readers import is_label
from skfairtest.tables import Sample

#: A group's value is flagged when it rests on fewer people than this.
SMALL = 10
#: The scale of a rate itself.
RATE = Scale()
#: A group takes part in comparisons from this many people on.
SMALLEST_GROUP = 2
#: Comparisons of one table that are made at the most.
MOST_COMPARISONS = 100_000


@dataclass
class Row:
    """One comparison. What `judge` sets later has no value yet.

    A rate's row has the counts behind it (`pair`), from which its law and its interval follow. Other rows have an
    `estimate` (the disparity, or the logarithm of a ratio) with the standard error `spread`.
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
    estimate: float = np.nan
    spread: float = np.nan
    studentized: bool = True
    log_p: float = np.nan
    method: str = ""
    statistic: float = np.nan
    standard_error: float = np.nan
    drawn: Floats | None = field(default=None, repr=False)
    joint: Floats | None = field(default=None, repr=False)  # draws for the maximum over rows, where they are others
    extreme: tuple[int, int] | None = None  # draws at least as extreme as the statistic, of how many
    undefined: int = 0  # draws among these in which the statistic is undefined
    side: str | None = None
    beyond: float = np.nan  # the statistic, oriented: larger is more evidence
    log_p_adjusted: float = np.nan
    interval: tuple[float, float] = (np.nan, np.nan)
    concern: bool = False

    @property
    def extreme_side(self) -> str:
        """Which draws are extreme: as asked, but for metrics that speak against fairness on one side only."""
        return self.question.alternative if self.side is None else self.side

    @property
    def counted(self) -> Pair:
        """The counts of a rate's row."""
        assert self.pair is not None
        return self.pair


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
    whole: bool = True  # whether clusters lie within groups
    values: dict[str, GroupValues] = field(default_factory=dict)
    conditions: dict[str, np.ndarray] = field(default_factory=dict)  # per rate, which cells meet its condition
    errors: dict[str, str | None] = field(default_factory=dict)  # per metric, what its standard error is
    rows: list[Row] = field(default_factory=list)
    excluded: list[Exclusion] = field(default_factory=list)
    #: Metrics of scores that were given labels.
    labels_as_scores: list[str] = field(default_factory=list)
    #: Metrics of which it was said that they take long.
    announced: set[str] = field(default_factory=set)
    #: Where a studentized law is doubtful: metric, group, and why.
    doubtful: list[tuple[str, Any, str]] = field(default_factory=list)


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
            partners = len(kept) if settings.compare == "between_groups" else 1
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
        raise ValueError(
            f"sensitive_features ({names}) makes {n_groups:,} groups, whose pairs are {found:,} comparisons; at most "
            f"{MOST_COMPARISONS:,} are made: use compare='to_rest' or 'to_reference', or fewer sensitive features"
        )


def contrasts_of(sample: Sample, kept: list[int], settings: Settings) -> Iterable[tuple[Contrast, Any]]:
    """Pair each contrast with the label of what the group is compared with."""
    labels = sample.group_labels
    if settings.compare == "between_groups":
        if len(kept) > 2 and settings.question.alternative in ("greater", "less"):
            raise ValueError(
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
    else:
        overall = settings.compare == "to_overall"
        for first in kept:
            yield Contrast(first, None, overall), "overall" if overall else "rest"


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
