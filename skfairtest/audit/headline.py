"""The first sentences of an audit, and the few comparisons that a reader should know.

A comparison is as strong as the interval end nearest to equality. Intersections are left out unless they are stronger
than single features by the same metric.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from skfairtest._utils.text import enumerated, label, pluralize
from skfairtest.audit.grid import FEW_POINTS, FEW_RATIO, Standing, standings
from skfairtest.audit.provenance import FEW_LABELS
from skfairtest.audit.record import AuditPart, AuditRecord
from skfairtest.report.cells import barred, records
from skfairtest.report.mixin import positive_label
from skfairtest.report.report import Cell
from skfairtest.report.sentences import (
    POWER,
    Setup,
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
#: Groups that a sentence names.
NAMED = 4

Row = Mapping[str, Any]


def _compared(record: AuditRecord) -> Iterator[dict[str, Any]]:
    """Yield the comparisons between groups with their grouping, kind and strength."""
    for part in record.parts:
        for row in records(part.comparisons):
            if row["group"] is None or np.isnan(row["disparity"]):
                continue
            is_ratio = part.setup.is_ratio(row["metric"])
            ends = np.array([row["ci_low"], row["disparity"], row["ci_high"]], dtype=float)
            with np.errstate(divide="ignore"):
                low, gap, high = (np.log(ends) if is_ratio else ends).tolist()
            plain = is_ratio or part.setup.is_share(row["metric"])
            assured = max(low, -high, 0.0) if plain and low <= high else 0.0
            yield {**row, "part": part, "plain": plain, "gap": gap, "strength": (not plain, -assured, row["p_value"])}


def _first(rows: Iterable[Row]) -> list[Row]:
    chosen: dict[tuple[str, str], Row] = {}
    for row in rows:
        chosen.setdefault((row["feature"], row["metric"]), row)
    return list(chosen.values())


def highlights(record: AuditRecord) -> list[Row]:
    """Choose the significant comparisons that the first screen tells, the strongest of single features first."""

    def size(row: Row) -> int:
        return len(row["part"].sensitive)

    found = [row for row in _compared(record) if row["concern"] and row["stratum"] is None]
    found.sort(key=lambda row: (size(row), row["strength"]))
    told: list[Row] = []
    for row in _first(found):
        fewer = [each for each in told if size(each) < size(row) and each["metric"] == row["metric"]]
        if all(row["strength"] < each["strength"] for each in fewer):
            told.append(row)
    told = told[:MOST]
    told += [row for row in found if size(row) == 1 and row not in told][: max(FEWEST - len(told), 0)]
    return sorted(told, key=lambda row: (size(row), row["strength"]))


def _by_size(record: AuditRecord) -> list[Row]:
    """Return all observed gaps, within strata too: the largest first, metrics with units of their own last."""
    return sorted(_compared(record), key=lambda row: (not row["plain"], -abs(row["gap"]), row["p_value"]))


def shown_first(record: AuditRecord) -> list[Row]:
    """Return the comparisons that stand on the first screen: the strongest ones, or the largest gaps observed."""
    return highlights(record) if record.n_found else _first(_by_size(record))[:FEWEST]


def _few(row: Row, own: Mapping[Any, Mapping[str, Standing]]) -> str:
    """The sides that have too few people to tell, in parentheses; empty if both have enough."""
    few = []
    for side in ("group", "other")[: 1 + (row["part"].setup.compare == "between_groups")]:
        n, standing = row[f"n_{side}"], own[row[side]][row["metric"]]
        if n < 10 or (standing.smaller and standing.mark == "few"):
            few.append(pluralize(n, "person", "people"))
    return f" ({' and '.join(few)}: too few to tell)" if few else ""


def shown_row(row: Row) -> Row:
    """The comparison with the group first that is worse off, or simply lower."""
    setup = row["part"].setup
    worse = worse_when(row["metric"], setup.favorable) or -1
    return row if row["gap"] * worse > 0 or setup.compare != "between_groups" else turned(setup, row)


def intervals_of(setup: Setup, chosen: Sequence[Row]) -> tuple[Cell, ...]:
    """Write comparisons with their intervals, gaps of one unit on one scale, all to the same side of equality."""
    told = [finding_sentence(row["part"].setup, shown_row(row)) for row in chosen]
    told = [
        said if row["concern"] else f"{said[:-1]}{_few(row, standings(row['part']))}."
        for said, row in zip(told, chosen, strict=True)
    ]
    bars = barred([row if row["gap"] >= 0 else turned(setup, row) for row in chosen], setup)
    return tuple(Cell(said, bar=row["bar"]) for said, row in zip(told, bars, strict=True))


def first_sentences(record: AuditRecord) -> tuple[str, ...]:
    """Say what an audit found: the headline, how many comparisons are significant, and what could be missed."""
    shown, setup, headline = shown_first(record), record.setup, list[str]()
    labels = positive_label(record.pos_label, setup.positive_means, record.negative_labels)
    if record.n_found and shown:
        said, metric = gap_sentence(shown[0]["part"].setup, shown_row(shown[0])), shown[0]["metric"]
        known = setup.favorable is not None and worse_when(metric, setup.favorable)
        headline = [f"Worse off: {said}." if known else f"{capital(said)}."]
    few = "labelled" in record.parameters or set(FEW_LABELS) & set(record.provenance["columns"])
    further = (
        *([] if record.n_found else _observed(record)),
        " ".join(record.impact),
        " ".join(_unknown(record)),
        record.parts[record.leading[0]].setup.people if few else "",
        " ".join(_missed(record)),
    )
    verdict = " ".join([record.sentence, *sampling_error(record.p_value_interval)])
    told = [*headline, verdict, *filter(None, further)]
    # Behind the counts: a label that is a number does not stand before one.
    return told[0], *filter(None, [" ".join([*told[1:2], *labels]), *told[2:]])


def _unknown_groups(part: AuditPart) -> list[dict[str, Any]]:
    return [row for row in records(part.excluded) if row["group"] is None and " is missing: " in row["reason"]]


def _unknown(record: AuditRecord) -> Iterator[str]:
    people = record.n_samples
    for part in record.parts:
        for row in _unknown_groups(part) if len(part.sensitive) == 1 else ():
            what, _, done = row["reason"].partition(": ")
            yield f"{what} for {row['n']:,} of {people:,} people ({100 * row['n'] / people:.0f}%): {done}."


def people_compared(record: AuditRecord) -> str:
    """Say how many people there are and, where others were left out in every grouping alike, how many of how many."""
    total = record.n_samples
    (left_out, *others) = {
        sum(row["n"] for row in _unknown_groups(part) if ": left out" in row["reason"]) for part in record.parts
    }
    return f"{total - left_out:,} of {total:,}" if left_out and not others else f"{total:,}"


def _observed(record: AuditRecord) -> Iterator[str]:
    gaps, own = _by_size(record), {part.feature: standings(part) for part in record.parts}
    several = len({"" if row["plain"] else row["metric"] for row in gaps}) > 1
    enough = [row for row in gaps if not _few(row, own[row["feature"]])][:1]
    enough = [row for row in enough if row is not gaps[0]]
    for among, rows in (("observed", gaps[:1]), ("between groups with enough people", enough)):
        for row in rows if rows and rows[0]["gap"] else ():
            kind = f" in {label(row['metric'])}" if several else ""
            said = f"{gap_sentence(row['part'].setup, shown_row(row))}{_few(row, own[row['feature']])}"
            yield f"The largest gap {among}{kind}: {said}."
    known = [row for row in gaps if not np.isnan(row["minimum_detectable"]) and row["plain"] == gaps[0]["plain"]]
    best = min(known, key=lambda row: row["minimum_detectable"], default=None)
    if best is not None and np.isfinite(best["minimum_detectable"]):
        setup = best["part"].setup
        noun = "" if setup.is_ratio(best["metric"]) else "a gap of "
        gap = f"{noun}{size_text(setup, best, best['minimum_detectable'])}"
        what = f"{label(best['metric'])} by {label(best['feature'])}"
        yield f"The most sensitive comparison ({what}) had {POWER} for {gap}."
    if none := sum(np.isinf(row["minimum_detectable"]) for row in gaps):
        yield f"{pluralize(none, 'comparison')} could not have detected any gap, however large ({POWER})."


def _missed(record: AuditRecord) -> Iterator[str]:
    fewest, few, crossed = min(len(part.sensitive) for part in record.parts), [], list[bool]()
    undefined: dict[tuple[str, str], list[str]] = {}
    for part in record.parts:
        reasons = {(row["metric"], row["group"]): row["reason"] for row in records(part.excluded)}
        for group, own in standings(part).items():
            small = [
                f"{(title := metric_title(name))[0].lower()}{title[1:]}"
                for name, each in own.items()
                if each.mark == "few" and each.smaller
            ]
            if len(part.sensitive) > fewest:
                crossed.append(bool(small))
                continue
            whom = people_of(part.sensitive, group, unique=part.setup.unique)
            if small:
                where = f" in {enumerated(small)}" if len(small) < len(own) else ""
                few.append(f"{whom} ({next(iter(own.values())).people:,}){where}")
            for name in (name for name, each in own.items() if not each.n_effective):
                why = reasons.get((name, group), "no one meets the condition").removeprefix("undefined: ")
                undefined.setdefault((name, why), []).append(whom)
    for (name, why), groups in undefined.items():
        yield f"{metric_title(name)} is undefined for {enumerated(groups, most=NAMED)}: {label(why)}."
    if len(few) > NAMED:
        few[NAMED:] = [pluralize(len(few) - NAMED, "further group")]
    if any(crossed):
        few.append(f"{sum(crossed):,} of the {len(crossed):,} intersectional groups")
    if few:
        much = f"{points(FEW_POINTS, 0)} points" if record.setup.sentences else "much"
        much = much if record.setup.disparity == "difference" else f"a factor of {FEW_RATIO:g}"
        yield f"Too few people to tell: {enumerated(few)}. There, they could differ by {much} unnoticed."
    if left_out := sum(int(part.excluded["comparisons"].sum()) for part in record.parts):
        yield f"{pluralize(left_out, 'comparison')} could not be made: see what was left out."
