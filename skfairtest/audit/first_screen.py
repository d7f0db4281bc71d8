"""The first screen of an audit: its first sentences, the comparisons to know, and the grid of groups by metrics.

A comparison is as strong as the interval end nearest to equality. Intersections are left out unless they are stronger
than single features by the same metric. Numbers of the grid are averages of a group's disparities, weighted by the
people on the other sides; a cell is significant if any of the group's comparisons is.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from skfairtest._utils.text import enumerated, label, pluralize
from skfairtest.audit.provenance import FEW_LABELS
from skfairtest.audit.record import AuditPart, AuditRecord
from skfairtest.report.cells import barred, records
from skfairtest.report.mixin import positive_label
from skfairtest.report.report import Cell, Column, Table
from skfairtest.report.sentences import (
    CHANCE,
    Setup,
    capital,
    finding_sentence,
    gap_sentence,
    metric_title,
    number,
    people_of,
    percent,
    points,
    sampling_error,
    turned,
    worse_when,
)

#: A group is too small to tell where no comparison of it would have found a difference, or a ratio, of this size.
FEW_POINTS, FEW_RATIO = 0.2, 2.0
#: Groups of a feature that stand open; a feature with more shows those with the smallest p-values.
MOST_ROWS = 12
#: What the group is that all others are compared with.
BEST = {"to_highest": "highest", "to_lowest": "lowest"}
#: Hues with what they mean: of judgement where it is known what is better, and else of two that carry none.
HUES = {True: (("warm", "worse off"), ("cool", "better off")), False: (("high", "higher"), ("low", "lower"))}
#: Of shares (points), ratios (factors) and other values (parts of the largest gap): where colours grow darker.
STEPS = {"share": (0.01, 0.05, 0.10, 0.20), "ratio": (1.05, 1.25, 1.5, 2.0), "value": (0.05, 0.25, 0.5, 0.75)}
#: The unit of their disparities, and from which size on one must be likely to be detected.
UNITS = {"share": "in points", "ratio": "as a ratio", "value": "in the metric's unit"}
LARGE = {"share": f"a gap of {points(FEW_POINTS, 0)} points", "ratio": "a twofold ratio", "value": "a gap of any size"}
AGAINST = {
    "to_overall": "from the value of all people together", "to_rest": "from everyone else",
    "to_highest": "from the group with the highest value", "to_lowest": "from the group with the lowest value",
}  # fmt: skip

TIMES, MINUS = "\N{MULTIPLICATION SIGN}", "\N{MINUS SIGN}"
Row = Mapping[str, Any]
#: So many comparisons are told where there are so many.
FEWEST, MOST = 3, 7
#: Groups that a sentence names.
NAMED = 4


class Standing(NamedTuple):
    """The result of one group in one metric: its people, those whom the metric counts, disparity and p-value."""

    people: int
    n_effective: int
    value: float
    disparity: float
    p_value: float
    mark: str
    smaller: bool


def _kind(setup: Setup, metric: str) -> str:
    return "ratio" if setup.is_ratio(metric) else "share" if setup.is_share(metric) else "value"


def standings(part: AuditPart) -> dict[Any, dict[str, Standing]]:
    """The standing of each group of a grouping in each metric."""
    setup, pairs = part.setup, part.setup.compare == "between_groups"
    counted: dict[tuple[str, Any], list[Mapping[str, Any]]] = {}
    for row in records(part.by_group):
        counted.setdefault((row["metric"], row["group"]), []).append(row)
    compared: dict[tuple[str, Any], list[Mapping[str, Any]]] = {}
    for row in records(part.comparisons):
        compared.setdefault((row["metric"], row["group"]), []).append(row)
        if pairs and row["group"] is not None:
            compared.setdefault((row["metric"], row["other"]), []).append(turned(setup, row))
    people = {key: sum(row["n_effective"] for row in rows) for key, rows in counted.items()}
    found: dict[Any, dict[str, Standing]] = {}
    for (metric, group), rows in counted.items():
        # Each with the number of people whom the metric counts on the other side.
        own = [
            (row, int(people.get((metric, row["other"]), row["n_other"]))) for row in compared.get((metric, group), [])
        ]
        pooled = [(row["disparity"], others) for row, others in own if row["stratum"] is None]
        n, p = people[metric, group], min((row["p_value"] for row, _ in own), default=np.nan)
        known = [(row["minimum_detectable"], others) for row, others in own if not np.isnan(row["minimum_detectable"])]
        size, others = min(known, key=lambda one: one[0], default=(np.nan, n))
        most = {"share": FEW_POINTS, "ratio": FEW_RATIO, "value": np.finfo(float).max}[_kind(setup, metric)]
        few = n > 0 and (np.isnan(p) or n < 10 or size > most)  # a value of no one is undefined
        mark = "significant" if any(row["concern"] for row, _ in own) else "few" if few else ""
        value = rows[0]["value"] if len(rows) == 1 else np.nan
        average = _average(pooled, is_ratio=setup.is_ratio(metric))
        total = sum(row["n"] for row in rows)
        found.setdefault(group, {})[metric] = Standing(total, n, value, average, p, mark, n <= others)
    return found


def _average(disparities: Sequence[tuple[float, int]], *, is_ratio: bool) -> float:
    """Average disparities; ratios so that the average is the value over the average of the others' values."""
    size, weight = np.array([one for one in disparities if one[1] > 0 and not np.isnan(one[0])]).reshape(-1, 2).T
    if not len(size):
        return np.nan
    with np.errstate(divide="ignore"):
        return float(1 / np.average(1 / size, weights=weight) if is_ratio else np.average(size, weights=weight))


def audit_grid(record: AuditRecord) -> tuple[Table, ...]:
    """Compose the grid of an audit."""
    found, setup = [(part, standings(part)) for part in record.parts], record.setup
    metrics = list(dict.fromkeys(metric for _, groups in found for own in groups.values() for metric in own))
    if not metrics:
        return ()
    # The largest finite disparity, from which the colours of values that are no shares grow.
    sizes = {
        metric: [abs(own[metric].disparity) for _, groups in found for own in groups.values() if metric in own]
        for metric in metrics
    }
    scales = {metric: max((size for size in held if np.isfinite(size)), default=0.0) for metric, held in sizes.items()}
    # Words break between lines.
    names = [name.replace("_", " ") if name.isidentifier() else name for name in map(label, metrics)]
    columns = (Column("group", "name"), Column("people"), *(Column(name, named=True) for name in names))
    shown: list[tuple[str | Cell, ...]] = []
    folded: list[Table] = []
    for part, groups in found:
        rows: dict[Any, tuple[str | Cell, ...]] = {
            group: (
                label(group), f"{next(iter(own.values())).people:,}",
                *(_cell(part.setup, metric, own.get(metric), scales[metric]) for metric in metrics),
            )
            for group, own in groups.items()
        }  # fmt: skip
        smallest = {
            group: np.nanmin([np.inf, *(each.p_value for each in own.values())]) for group, own in groups.items()
        }
        single = len(part.sensitive) == min(len(each.sensitive) for each in record.parts)
        evident = sorted(groups, key=lambda group: smallest[group])[: MOST_ROWS * single]
        if evident:
            heading = (label(part.feature), *[""] * (len(columns) - 1))
            shown += [heading, *(row for group, row in rows.items() if group in evident)]
        others = [group for group in groups if group not in evident]
        if others:
            n = sum(any(each.mark == "significant" for each in groups[group].values()) for group in others)
            what = pluralize(len(others), "further group" if evident else "group")
            caption = f"{label(part.feature)}: {what}, {n or 'none'} with a significant disparity"
            folded.append(Table(columns, tuple(rows[group] for group in others), caption, folded=True))
    kinds = list(dict.fromkeys(_kind(setup, metric) for metric in metrics))
    unit = UNITS[kinds[0]] if len(kinds) == 1 else "in points where they are shares of people"
    against = AGAINST.get(setup.compare, "from the other groups of the feature together")
    caption, key = f"How far each group is {against}, {unit}", HUES[setup.favorable is not None]
    return Table(columns, tuple(shown), caption, key=key, notes=tuple(_notes(setup, kinds))), *folded


def _cell(setup: Setup, metric: str, standing: Standing | None, scale: float) -> Cell:
    if standing is None:
        return Cell("n/a")
    value, disparity = standing.value, standing.disparity
    under = percent(value) if setup.is_event(metric) else f"{value:.3f}" if setup.is_share(metric) else _short(value)
    under = "" if np.isnan(value) else under
    if np.isnan(disparity):
        return (
            Cell(BEST[setup.compare], under)
            if setup.compare in BEST and under
            else Cell("n/a", under, mark=standing.mark)
        )
    text = points(abs(disparity)) if setup.is_share(metric) else _short(abs(disparity))
    if setup.is_ratio(metric):
        text = f"{TIMES}{'∞' if np.isinf(disparity) else f'{disparity:.2f}'}"
    elif text.strip("0."):
        text = f"{MINUS if disparity < 0 else '+'}{text}"
    return Cell(text, under, _shade(setup, metric, disparity, scale), standing.mark)


def _short(value: float) -> str:
    return (number(value) if abs(value) >= 1000 else f"{value + 0.0:.3g}").replace("-", MINUS)


def _shade(setup: Setup, metric: str, disparity: float, scale: float) -> str:
    """The hue and the level of a disparity: worse or better where that is known, or else higher or lower."""
    kind = _kind(setup, metric)
    if kind == "ratio":
        up, size = disparity > 1, max(disparity, np.inf if disparity == 0 else 1 / disparity)
    else:
        up, size = disparity > 0, abs(disparity) / (scale or 1.0 if kind == "value" else 1.0)
    level = int(np.searchsorted(STEPS[kind], size, side="right"))
    worse = 1 if setup.favorable is None else worse_when(metric, setup.favorable)
    (one, _), (other, _) = HUES[setup.favorable is not None]
    hue = "even" if not worse else one if up == (worse > 0) else other
    return f"{hue}{level}" if level else ""


def _notes(setup: Setup, kinds: Sequence[str]) -> Iterator[str]:
    yield "Significant: in at least one comparison, the group differs by more than chance explains."
    yield (
        f"Too few people to tell: fewer than 10 people meet the condition, or no comparison had an {CHANCE} of "
        f"detecting {' or '.join(LARGE[kind] for kind in kinds)}."
    )
    if setup.favorable is None:
        yield (
            "Colours say which value is higher, not which is better: you have not said whether a positive prediction "
            "is favorable (favorable=True or False; --favorable or --unfavorable)."
        )
    if "value" in kinds or len(kinds) > 1:
        yield "Colours of shares and ratios have fixed steps; those of other metrics are relative to their largest gap."


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


def _unknown(record: AuditRecord) -> Iterator[str]:
    people = record.n_samples
    for part in (part for part in record.parts if len(part.sensitive) == 1):
        for row in records(part.excluded[part.excluded["group"].isna()]):
            what, missing, done = row["reason"].partition(" is missing: ")
            if missing:
                yield f"{what} is missing for {row['n']:,} of {people:,} people ({row['n'] / people:.0%}): {done}."


def people_compared(record: AuditRecord) -> str:
    """Say how many people there are and, if others were left out in every grouping alike, how many of how many."""
    total, missing = record.n_samples, " is missing: left out"
    frames = [part.excluded[part.excluded["group"].isna()] for part in record.parts]
    left_out, *others = {
        int(frame.loc[frame["reason"].astype(str).str.contains(missing), "n"].sum()) for frame in frames
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


def _missed(record: AuditRecord) -> Iterator[str]:
    fewest, few, crossed = min(len(part.sensitive) for part in record.parts), [], list[bool]()
    for part in record.parts:
        for group, own in standings(part).items():
            small = [
                title if (title := metric_title(name)).startswith("ROC") else f"{title[0].lower()}{title[1:]}"
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
    if len(few) > NAMED:
        few[NAMED:] = [pluralize(len(few) - NAMED, "further group")]
    if any(crossed):
        few.append(f"{sum(crossed):,} of the {len(crossed):,} intersectional groups")
    if few:
        yield f"Too few people to tell: {enumerated(few)}."
    if left_out := sum(int(part.excluded["comparisons"].sum()) for part in record.parts):
        yield f"{pluralize(left_out, 'comparison')} could not be made: see what was left out."
