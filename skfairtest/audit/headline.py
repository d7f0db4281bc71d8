"""What a reader of an audit should know first.

The few comparisons of an audit that a reader should know of, each in a sentence with its interval.

How strong a comparison is: the disparity that its interval assures, the limit nearer to equality, so that both size and
certainty count. Shares (points) and ratios (logarithms) come before metrics with units of their own, which are ordered
by p-value.

One comparison stands for each metric of each grouping. Those of intersections come after those of single ones, and
are left out where they only repeat one of fewer features: the same metric, the same direction, and a group that is part
of that one's group (where pairs are compared, on both sides).

The first sentences of an audit: who is worst off and by how much, how sure that is, and what could be missed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from skfairtest._utils.text import enumerated, label, pluralize
from skfairtest.audit.grid import FEW_POINTS, FEW_RATIO, Standing, people_of_groups, standings
from skfairtest.audit.impact_report import below_sentence
from skfairtest.audit.provenance import FEW_LABELS
from skfairtest.audit.record import AuditPart, AuditRecord
from skfairtest.report.cells import records
from skfairtest.report.report import Bar, Cell, bars
from skfairtest.report.sentences import CHANCE, POWER, equals_p, gap_sentence, metric_title, p_text, points, size_text
from skfairtest.report.wording import people_of, worse_when

#: So many comparisons are told where there are so many.
FEWEST, MOST = 3, 7

Row = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Highlight:
    """A comparison with the grouping that it belongs to."""

    part: AuditPart
    row: Row

    @property
    def question(self) -> tuple[str, str]:
        """The grouping and the metric."""
        return self.part.feature, self.row["metric"]

    @property
    def is_plain(self) -> bool:
        """Whether its disparity is one of shares, or a ratio."""
        metric = self.row["metric"]
        return self.part.setup.is_share(metric) or self.part.setup.is_ratio(metric)

    @property
    def ends(self) -> tuple[float, float, float]:
        """The lower limit, the disparity and the upper limit, on a scale on which 0 is equality."""
        ends = np.array([self.row["ci_low"], self.row["disparity"], self.row["ci_high"]], dtype=float)
        if self.part.setup.is_ratio(self.row["metric"]):
            with np.errstate(divide="ignore"):
                ends = np.log(ends)
        low, at, high = ends.tolist()
        return low, at, high

    @property
    def assured(self) -> float:
        """The size of the disparity that the interval assures; 0 where it includes equality, or there is none."""
        low, _, high = self.ends
        return max(low, -high, 0.0) if low <= high else 0.0

    @property
    def strength(self) -> tuple[bool, float, float]:
        """The strongest comparison has the smallest of these."""
        assured = self.assured if self.is_plain else 0.0
        return not self.is_plain, -assured, self.row["p_value"]

    def repeats(self, other: Highlight) -> bool:
        """Whether it only repeats another one, of fewer features: see the module."""
        names, fewer = self.part.sensitive, other.part.sensitive
        if not set(fewer) < set(names) or self.row["metric"] != other.row["metric"]:
            return False
        sides = [_part_of(self.row[side], names, fewer) for side in ("group", "other")]
        direction = np.sign(self.ends[1])
        for group, against, sign in _both_ways(other):
            same_other = sides[1] is None or against is None or sides[1] == against
            if sides[0] == group and same_other and sign == direction:
                return True
        return False


def _part_of(group: Any, names: Sequence[str], fewer: Sequence[str]) -> Any:
    """Return a group's values of fewer features, as a group of these; None of several groups together."""
    if not isinstance(group, tuple):
        return None
    values = tuple(group[names.index(name)] for name in fewer)
    return values if len(values) > 1 else values[0]


def _both_ways(found: Highlight) -> Iterator[tuple[Any, Any, float]]:
    """Yield the group, what it is compared with, and the direction; of a pair from both sides."""
    group, other, sign = found.row["group"], found.row["other"], float(np.sign(found.ends[1]))
    if found.part.setup.compare != "between_groups":
        yield group, None, sign
        return
    yield group, other, sign
    yield other, group, -sign


def _compared(record: AuditRecord, *, strata: bool = False) -> list[Highlight]:
    """Return the comparisons between groups, over all strata and perhaps within them."""
    return [
        Highlight(part, row)
        for part in record.parts
        for row in records(part.comparisons)
        if row["group"] is not None and (strata or row["stratum"] is None) and not np.isnan(row["disparity"])
    ]


def highlights(record: AuditRecord) -> list[Highlight]:
    """Choose the significant comparisons that the first screen tells, the strongest first.

    Parameters
    ----------
    record : AuditRecord
        What was found.

    Returns
    -------
    list of Highlight
        At most seven; empty where nothing is significant between groups over all strata.
    """
    found = sorted((one for one in _compared(record) if one.row["concern"]), key=lambda one: one.strength)
    chosen: dict[tuple[str, str], Highlight] = {}
    for size in sorted({len(one.part.sensitive) for one in found}):
        own = [one for one in found if len(one.part.sensitive) == size]
        earlier = [one for one in found if len(one.part.sensitive) < size]
        for one in own:
            if one.question not in chosen and not any(one.repeats(other) for other in earlier):
                chosen[one.question] = one
    told = list(chosen.values())[:MOST]
    more = [one for one in found if len(one.part.sensitive) == 1 and one not in told][: max(FEWEST - len(told), 0)]
    return sorted([*told, *more], key=lambda one: (len(one.part.sensitive), one.strength))


def by_size(record: AuditRecord) -> list[Highlight]:
    """Return all observed gaps, within strata too: the largest first, metrics with units of their own last."""
    gaps = [one for one in _compared(record, strata=True) if not np.isnan(one.ends[1])]
    return sorted(gaps, key=lambda one: (not one.is_plain, -abs(one.ends[1]), one.row["p_value"]))


def largest_gaps(record: AuditRecord) -> list[Highlight]:
    """Return the largest observed gap of each metric of each grouping; at most three."""
    largest: dict[tuple[str, str], Highlight] = {}
    for one in by_size(record):
        largest.setdefault(one.question, one)
    return list(largest.values())[:FEWEST]


def _few(one: Highlight, own: Mapping[Any, Mapping[str, Standing]]) -> str:
    """Say of which sides there are too few people to tell; nothing where there are enough."""
    few, row = [], one.row
    for side in ("group", "other")[: 1 + (one.part.setup.compare == "between_groups")]:
        n, standing = row[f"n_{side}"], own[row[side]][row["metric"]]
        if n < 10 or (standing.smaller and standing.is_few(one.part.setup)):
            few.append(pluralize(n, "person", "people"))
    return f" ({' and '.join(few)}: too few to tell)" if few else ""


def worse_first(one: Highlight) -> bool:
    """Whether the group that is named first is the one with the lower value: worse off, or simply lower."""
    worse = worse_when(one.row["metric"], one.part.setup.favorable) or -1
    return bool(one.ends[1] * worse > 0) or one.part.setup.compare != "between_groups"


def intervals_of(chosen: Sequence[Highlight]) -> tuple[Cell, ...]:
    """Write comparisons with their intervals, gaps of one unit on one scale, all to the same side of equality."""
    ends = [one.ends if one.ends[1] >= 0 else (-one.ends[2], -one.ends[1], -one.ends[0]) for one in chosen]
    units = [_unit(one) for one in chosen]
    drawn: dict[int, Bar | None] = {}
    for unit in dict.fromkeys(units):
        places = [place for place, other in enumerate(units) if other == unit]
        kinds = ["significant" if chosen[place].row["concern"] else "" for place in places]
        drawn |= dict(zip(places, bars([ends[place] for place in places], 0.0, kinds=kinds), strict=True))
    return tuple(Cell(_told(one), bar=drawn[place]) for place, one in enumerate(chosen))


def _unit(one: Highlight) -> str:
    metric, setup = one.row["metric"], one.part.setup
    return setup.disparity_of(metric) if one.is_plain else f"{setup.disparity_of(metric)} of {metric}"


def _told(one: Highlight) -> str:
    setup, row = one.part.setup, one.row
    said = gap_sentence(setup, row, turn=not worse_first(one))
    size = row["minimum_detectable"]
    said += "" if row["concern"] else _few(one, standings(one.part))
    if row["concern"] or np.isnan(size):
        return f"{said}, adjusted {equals_p(row['p_value_adjusted'])}."
    if np.isinf(size):
        return f"{said}; not significant, and no gap, however large, had an {CHANCE} of being detected."
    return f"{said}; not significant, with an {CHANCE} of detecting {size_text(setup, row['metric'], size)}."


#: Groups that a sentence names.
NAMED = 4


def shown_first(record: AuditRecord) -> list[Highlight]:
    """Return the comparisons that stand on the first screen: the strongest ones, or the largest gaps observed."""
    found = highlights(record)
    return found if found or record.verdict.concern else largest_gaps(record)


def first_sentences(record: AuditRecord) -> tuple[str, ...]:
    """Say what an audit found: the headline, how many comparisons are significant, and what could be missed.

    Parameters
    ----------
    record : AuditRecord
        What was found.

    Returns
    -------
    tuple of str
        The headline first; a paragraph each.
    """
    shown = shown_first(record)
    if not record.verdict.concern:
        said = [*_nothing(record), *_paragraph(_detectable(record)), *_impact(record)]
        return (*said, *_unknown(record), *_labels(record), *_paragraph(_missed(record)))
    headline = [_headline(shown[0])] if shown else []
    return (
        *headline,
        f"{record.sentence}{_certainty(record)}",
        *_impact(record),
        *_unknown(record),
        *_labels(record),
        *_paragraph(_missed(record)),
    )


def _impact(record: AuditRecord) -> list[str]:
    return [] if record.impact is None else _paragraph([below_sentence(record.impact.frame)])


def _unknown(record: AuditRecord) -> list[str]:
    """Say of how many people a feature is not known, and what became of them."""
    people, said = record.verdict.n_samples, []
    for part in record.parts:
        for row in _unknown_groups(part) if len(part.sensitive) == 1 else ():
            what, _, done = row["reason"].partition(": ")
            said.append(f"{what} for {row['n']:,} of {people:,} people ({100 * row['n'] / people:.0f}%): {done}.")
    return _paragraph(said)


def people_compared(record: AuditRecord) -> str:
    """Say how many people there are and, where others were left out in every grouping alike, how many of how many."""
    total = record.verdict.n_samples
    (left_out, *others) = {
        sum(row["n"] for row in _unknown_groups(part) if ": left out" in row["reason"]) for part in record.parts
    } or {0}
    return f"{total - left_out:,} of {total:,}" if left_out and not others else f"{total:,}"


def _unknown_groups(part: AuditPart) -> list[dict[str, Any]]:
    return [row for row in records(part.excluded) if row["group"] is None and " is missing: " in row["reason"]]


def _labels(record: AuditRecord) -> list[str]:
    """Say how much rests on labels and how much on a judge, where not everybody has a label."""
    few = "labelled" in record.parameters or set(FEW_LABELS) & set(record.provenance["columns"])
    return [record.parts[record.leading[0]].setup.people] if few else []


def _paragraph(sentences: Iterable[str]) -> list[str]:
    """Return sentences as one paragraph, if there are any."""
    said = " ".join(sentences)
    return [said] if said else []


def _headline(one: Highlight) -> str:
    """Name the strongest disparity."""
    said = gap_sentence(one.part.setup, one.row, turn=not worse_first(one))
    favorable = one.part.setup.favorable
    known = favorable is not None and worse_when(one.row["metric"], favorable)
    return f"Worse off: {_lower(said)}." if known else f"{said}."


def _lower(said: str) -> str:
    """Write a sentence behind a colon; names keep their letters."""
    first = said.split(" ", 1)[0]
    return (
        f"{said[0].lower()}{said[1:]}"
        if first in ("Among", "People", "In", "With", "Averaged", "Others", "Women", "Men")
        else said
    )


def _certainty(record: AuditRecord) -> str:
    """Say between what limits a p-value lies that was sampled."""
    low, high = record.verdict.p_value_interval
    if low == high:
        return ""
    between = f"{p_text(low) if low else '0'} and {p_text(high)}"
    return f" With infinitely many resamples, that p-value would lie between {between} (95% limits)."


def _nothing(record: AuditRecord) -> Iterator[str]:
    yield f"{record.sentence}{_certainty(record)}"
    gaps, own = by_size(record), {part.feature: standings(part) for part in record.parts}
    enough = (one for one in gaps if not _few(one, own[one.part.feature]))
    several = len({_unit(one) for one in gaps}) > 1
    told: list[Highlight] = []
    for one, among in ((next(iter(gaps), None), "observed"), (next(enough, None), "between groups with enough people")):
        if one is not None and one.ends[1] and one not in told:
            told.append(one)
            kind = f" in {label(one.row['metric'])}" if several else ""
            said = _lower(gap_sentence(one.part.setup, one.row, turn=not worse_first(one)))
            yield f"The largest gap {among}{kind}: {said}{_few(one, own[one.part.feature])}."


def _detectable(record: AuditRecord) -> Iterator[str]:
    """Say how large a gap would have been detected: at best, at worst, and in the middle."""
    kinds: dict[tuple[str, str], list[tuple[float, AuditPart, str]]] = {}
    for part in record.parts:
        for metric, size in part.comparisons[["metric", "minimum_detectable"]].itertuples(index=False):
            if not np.isnan(size):
                own = "" if part.setup.is_share(metric) else metric
                kinds.setdefault((part.setup.disparity_of(metric), own), []).append((size, part, metric))
    for sizes in list(kinds.values())[:NAMED]:
        ordered = sorted(sizes, key=lambda one: one[0])
        finite = [one for one in ordered if np.isfinite(one[0])]
        if not finite:
            yield f"No comparison of {label(ordered[0][2])} could have detected any gap, however large ({POWER})."
            continue
        size, part, metric = finite[0]
        most = f"could have detected a gap of {size_text(part.setup, metric, size)} ({POWER})"
        if len(ordered) == 1:
            yield f"The comparison of {label(metric)} by {label(part.feature)} {most}."
            continue
        best = f"{label(metric)} by {label(part.feature)}"
        yield f"The most sensitive comparison ({best}) {most}{_others(ordered)}."


def _others(ordered: Sequence[tuple[float, AuditPart, str]]) -> str:
    """Say what gap half of the comparisons could have detected, and how many of them none."""
    (middle, part, metric), none = ordered[(len(ordered) - 1) // 2], sum(np.isinf(size) for size, *_ in ordered)
    half = (
        "" if np.isinf(middle) else f"; half of the comparisons needed at most {size_text(part.setup, metric, middle)}"
    )
    return half + (f"; {none:,} could not have detected any gap" if none else "")


def _standings(record: AuditRecord) -> Iterator[tuple[AuditPart, Any, list[Standing]]]:
    for part in record.parts:
        for group, own in standings(part).items():
            yield part, group, list(own.values())


def _missed(record: AuditRecord) -> Iterator[str]:
    """Say which groups were too small to tell, and how much was left out."""
    found = list(_standings(record))
    if not found:
        return
    fewest = min(len(part.sensitive) for part, _, _ in found)
    few = [(part, group, _in_metrics(metrics, own)) for part, group, own in found if (metrics := _too_few(part, own))]
    single = [(part, group, where) for part, group, where in few if len(part.sensitive) == fewest]
    crossed = len(few) - len(single)
    n_crossed = sum(len(part.sensitive) > fewest for part, _, _ in found)
    names = [
        f"{people_of(part.sensitive, group, unique=part.setup.unique)} ({people_of_groups(part)[group]:,}){where}"
        for part, group, where in single[:NAMED]
    ]
    if len(single) > NAMED:
        names.append(pluralize(len(single) - NAMED, "further group"))
    if crossed:
        names.append(f"{crossed:,} of the {n_crossed:,} intersectional groups")
    if names:
        yield (
            f"Too few people to tell: {enumerated(names)}. There, they could differ by "
            f"{_size_missed(record)} unnoticed."
        )
    left_out = sum(int(part.excluded["comparisons"].sum()) for part in record.parts)
    if left_out:
        yield f"{pluralize(left_out, 'comparison')} could not be made: see what was left out."


def _too_few(part: AuditPart, own: Sequence[Standing]) -> list[str]:
    """The metrics by which nothing was found of a group because it is small, and not because others are."""
    return [one.metric for one in own if one.is_few(part.setup) and one.smaller]


def _in_metrics(few: Sequence[str], own: Sequence[Standing]) -> str:
    """Name the metrics of which that is so, where others tell something."""
    return "" if len(few) == len(own) else f" in {enumerated([metric_title(metric).lower() for metric in few])}"


def _size_missed(record: AuditRecord) -> str:
    setup = record.setup
    if setup.disparity != "difference":
        return f"a factor of {FEW_RATIO:g}"
    return f"{points(FEW_POINTS, 0)} points" if setup.sentences else "much"
