"""What a reader of an audit should know first.

The few comparisons of an audit that a reader should know of, each in a sentence with its interval.

How strong a comparison is: the disparity that its interval assures, the limit nearer to equality, so that both size and
certainty count. Shares (points) and ratios (logarithms) come before metrics with units of their own, which are ordered
by p-value.

One comparison stands for each metric of each grouping. Those of intersections come after those of single features, and
are left out unless they are stronger than what single features say by the same metric.

The first sentences of an audit: who is worst off and by how much, how sure that is, and what could be missed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from skfairtest._utils.text import enumerated, label, pluralize
from skfairtest.audit.grid import FEW_POINTS, FEW_RATIO, Standing, people_of_groups, standings
from skfairtest.audit.impact_report import below_sentences
from skfairtest.audit.provenance import FEW_LABELS
from skfairtest.audit.record import AuditPart, AuditRecord
from skfairtest.report.cells import barred, records
from skfairtest.report.report import Cell
from skfairtest.report.sentences import (
    POWER,
    capital,
    finding_sentence,
    gap_sentence,
    metric_title,
    points,
    sampling_error,
    size_text,
    turned,
)
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


def _compared(record: AuditRecord, *, strata: bool = False) -> list[Highlight]:
    """Return the comparisons between groups, over all strata and perhaps within them."""
    return [
        Highlight(part, row)
        for part in record.parts
        for row in records(part.comparisons)
        if row["group"] is not None and (strata or row["stratum"] is None) and not np.isnan(row["disparity"])
    ]


def highlights(record: AuditRecord) -> list[Highlight]:
    """Choose the significant comparisons that the first screen tells, the strongest of single features first.

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
    found.sort(key=lambda one: len(one.part.sensitive))
    chosen: dict[tuple[str, str], Highlight] = {}
    for one in found:
        fewer = [each for each in chosen.values() if len(each.part.sensitive) < len(one.part.sensitive)]
        if not any(each.row["metric"] == one.row["metric"] and each.strength <= one.strength for each in fewer):
            chosen.setdefault((one.part.feature, one.row["metric"]), one)
    told = list(chosen.values())[:MOST]
    more = [one for one in found if len(one.part.sensitive) == 1 and one not in told][: max(FEWEST - len(told), 0)]
    return sorted([*told, *more], key=lambda one: (len(one.part.sensitive), one.strength))


def _few(one: Highlight, own: Mapping[Any, Mapping[str, Standing]]) -> str:
    """Say of which sides there are too few people to tell; nothing where there are enough."""
    few, row = [], one.row
    for side in ("group", "other")[: 1 + (one.part.setup.compare == "between_groups")]:
        n, standing = row[f"n_{side}"], own[row[side]][row["metric"]]
        if n < 10 or (standing.smaller and standing.is_few(one.part.setup)):
            few.append(pluralize(n, "person", "people"))
    return f" ({' and '.join(few)}: too few to tell)" if few else ""


def shown_row(one: Highlight) -> Row:
    """The comparison with the group first that is worse off, or simply lower."""
    worse = worse_when(one.row["metric"], one.part.setup.favorable) or -1
    first = one.ends[1] * worse > 0 or one.part.setup.compare != "between_groups"
    return one.row if first else turned(one.part.setup, one.row)


def intervals_of(chosen: Sequence[Highlight]) -> tuple[Cell, ...]:
    """Write comparisons with their intervals, gaps of one unit on one scale, all to the same side of equality."""
    if not chosen:
        return ()
    setup, told = chosen[0].part.setup, []
    for one in chosen:
        said = finding_sentence(one.part.setup, shown_row(one))
        told.append(said if one.row["concern"] else f"{said[:-1]}{_few(one, standings(one.part))}.")
    rows = [one.row if one.ends[1] >= 0 else turned(setup, one.row) for one in chosen]
    return tuple(Cell(said, bar=row["bar"]) for said, row in zip(told, barred(rows, setup), strict=True))


#: Groups that a sentence names.
NAMED = 4


def shown_first(record: AuditRecord) -> list[Highlight]:
    """Return the comparisons that stand on the first screen: the strongest ones, or the largest gaps observed."""
    found = highlights(record)
    if found or record.verdict.concern:
        return found
    largest: dict[tuple[str, str], Highlight] = {}
    for one in _by_size(record):
        largest.setdefault((one.part.feature, one.row["metric"]), one)
    return list(largest.values())[:FEWEST]


def _by_size(record: AuditRecord) -> list[Highlight]:
    """Return all observed gaps, within strata too: the largest first, metrics with units of their own last."""
    gaps = _compared(record, strata=True)
    return sorted(gaps, key=lambda one: (not one.is_plain, -abs(one.ends[1]), one.row["p_value"]))


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
    shown, headline, observed = shown_first(record), [], list[str]()
    verdict = " ".join([record.sentence, *sampling_error(record.verdict.p_value_interval)])
    if record.verdict.concern and shown:
        one = shown[0]
        said, favorable = gap_sentence(one.part.setup, shown_row(one)), one.part.setup.favorable
        known = favorable is not None and worse_when(one.row["metric"], favorable)
        headline = [f"Worse off: {said}." if known else f"{capital(said)}."]
    elif not record.verdict.concern:
        observed = list(_observed(record))
    impact = "" if record.impact is None else " ".join(below_sentences(record.impact.frame))
    further = (impact, " ".join(_unknown(record)), *_labels(record), " ".join(_missed(record)))
    return (*headline, verdict, *observed, *filter(None, further))


def _unknown(record: AuditRecord) -> Iterator[str]:
    """Say of how many people a feature is not known, and what became of them."""
    people = record.verdict.n_samples
    for part in record.parts:
        for row in _unknown_groups(part) if len(part.sensitive) == 1 else ():
            what, _, done = row["reason"].partition(": ")
            yield (f"{what} for {row['n']:,} of {people:,} people ({100 * row['n'] / people:.0f}%): {done}.")


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


def _observed(record: AuditRecord) -> Iterator[str]:
    """Say which gaps were observed, and which could have been detected."""
    gaps, own = _by_size(record), {part.feature: standings(part) for part in record.parts}
    enough = (one for one in gaps if not _few(one, own[one.part.feature]))
    several = len({"" if one.is_plain else one.row["metric"] for one in gaps}) > 1
    told: list[Highlight] = []
    for one, among in ((next(iter(gaps), None), "observed"), (next(enough, None), "between groups with enough people")):
        if one is not None and one.ends[1] and one not in told:
            told.append(one)
            kind = f" in {label(one.row['metric'])}" if several else ""
            said = gap_sentence(one.part.setup, shown_row(one))
            yield f"The largest gap {among}{kind}: {said}{_few(one, own[one.part.feature])}."
    sizes = [(one.row["minimum_detectable"], one) for one in gaps if not np.isnan(one.row["minimum_detectable"])]
    none = sum(np.isinf(size) for size, _ in sizes)
    finite = [(size, one) for size, one in sizes if np.isfinite(size) and one.is_plain == gaps[0].is_plain]
    if finite:
        size, one = min(finite, key=lambda each: each[0])
        gap, best = size_text(one.part.setup, one.row["metric"], size), f"{label(one.row['metric'])} by"
        yield f"The most sensitive comparison ({best} {label(one.part.feature)}) had {POWER} for a gap of {gap}."
    if none:
        yield f"{pluralize(none, 'comparison')} could not have detected any gap, however large ({POWER})."


def _missed(record: AuditRecord) -> Iterator[str]:
    """Say which groups have no value, which were too small to tell, and how much was left out."""
    fewest, few, crossed = min(len(part.sensitive) for part in record.parts), [], [0, 0]
    for part in record.parts:
        people, setup = people_of_groups(part), part.setup
        reasons = {(row["metric"], row["group"]): row["reason"] for row in records(part.excluded)}
        for group, own in standings(part).items():
            small = [name for name, one in own.items() if one.is_few(setup) and one.smaller]
            if len(part.sensitive) > fewest:
                crossed = [crossed[0] + bool(small), crossed[1] + 1]
                continue
            whom = people_of(part.sensitive, group, unique=setup.unique)
            where = (
                f" in {enumerated([metric_title(name).lower() for name in small])}" if 0 < len(small) < len(own) else ""
            )
            few += [f"{whom} ({people[group]:,}){where}"] if small else []
            for name, one in own.items():
                if not one.n_effective:
                    why = reasons.get((name, group), "no one meets the condition")
                    yield f"{metric_title(name)} is undefined for {whom}: {label(why)}."
    if len(few) > NAMED:
        few[NAMED:] = [pluralize(len(few) - NAMED, "further group")]
    if crossed[0]:
        few.append(f"{crossed[0]:,} of the {crossed[1]:,} intersectional groups")
    if few:
        setup = record.setup
        much = f"{points(FEW_POINTS, 0)} points" if setup.sentences else "much"
        much = much if setup.disparity == "difference" else f"a factor of {FEW_RATIO:g}"
        yield f"Too few people to tell: {enumerated(few)}. There, they could differ by {much} unnoticed."
    left_out = sum(int(part.excluded["comparisons"].sum()) for part in record.parts)
    if left_out:
        yield f"{pluralize(left_out, 'comparison')} could not be made: see what was left out."
