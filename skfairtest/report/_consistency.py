"""What a record says in two places: where they disagree, it is not the record of an audit.

Counts, verdicts and disparities follow from other fields. They are stored because readers of the JSON want them, and
compared with what follows when a record is read, so that a report never repeats a number that the rest contradicts.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

import pandas as pd

from skfairtest._utils.text import label
from skfairtest.report.impact_record import impact_contradictions
from skfairtest.report.paired_record import paired_contradictions
from skfairtest.report.provenance import provenance_contradictions
from skfairtest.report.scan_record import scan_contradictions
from skfairtest.report.sentences import FOUND, NOT_FOUND, Setup

__all__ = ["contradictions"]

#: Relative rounding errors of stored numbers; a p-value so near the level may lie on either side of it.
ROUNDING = 1e-9
#: A value with fewer in its denominator is marked.
SMALL = 10

Row = Mapping[str, Any]
#: Rows of by_group by metric and stratum, then by group.
Cells = dict[tuple[str, Any], dict[Any, list[Row]]]


def contradictions(record: Any) -> Iterator[str]:
    """Yield a sentence for each field of a record that contradicts others.

    Parameters
    ----------
    record : Any
        What was read.

    Yields
    ------
    str
        Which field says what, and what follows from which others.
    """
    for place, part in enumerate(record.parts):
        for said in chain(_setup(record, part), _groups(record, part), _comparisons(record, part)):
            yield f"parts[{place}].{said}"
    yield from _verdict(record)
    yield from _null_distribution(record)
    if record.scan is not None:
        yield from (f"scan.{said}" for said in scan_contradictions(record.scan))
    if record.impact is not None:
        found = impact_contradictions(record.impact, record.verdict.alpha, record.verdict.n_samples)
        yield from (f"impact.{said}" for said in found)
    if record.baseline is not None:
        yield from (f"baseline.{said}" for said in paired_contradictions(record.baseline))
    yield from provenance_contradictions(record)


def _rows(frame: pd.DataFrame) -> list[Row]:
    return frame.to_dict("records")  # type: ignore[return-value]


def _same(found: Any, due: Any) -> bool:
    """Whether two values are the same but for rounding; undefined ones are."""
    if isinstance(found, bool | str | None) or isinstance(due, bool | str | None):
        return type(found) is type(due) and found == due
    if math.isnan(found) or math.isnan(due):
        return math.isnan(found) and math.isnan(due)
    return math.isclose(found, due, rel_tol=ROUNDING, abs_tol=1e-12)


def _shown(value: Any) -> str:
    """Write a field's value; a number without its rounding errors."""
    return f"{value:.12g}" if isinstance(value, float) else f"{value!r:.60}"


def _differs(place: str, found: Any, due: Any, why: str) -> Iterator[str]:
    if not _same(found, due):
        yield f"{place} is {_shown(found)}, and must be {_shown(due)}: {why}"


def _verdict(record: Any) -> Iterator[str]:
    verdict = record.verdict
    every = pd.concat([part.comparisons for part in record.parts], ignore_index=True)
    found, total = int(every["concern"].sum()), len(every)
    yield from _differs("verdict.n_comparisons", verdict.n_comparisons, total, "the parts hold so many")
    yield from _differs("verdict.n_found", verdict.n_found, found, "so many comparisons have concern true")
    why = f"{found:,} of {total:,} comparisons have concern true"
    yield from _differs("verdict.concern", verdict.concern, found > 0, why)
    smallest = float(every["p_value_adjusted"].min())
    yield from _differs("verdict.p_value", verdict.p_value, smallest, "it is the smallest p_value_adjusted")
    place, row = record.leading
    leading = float(record.parts[place].comparisons["p_value_adjusted"].iloc[row])
    why = "the leading comparison has the smallest"
    yield from _differs(f"p_value_adjusted of leading {list(record.leading)}", leading, smallest, why)
    low, high = verdict.p_value_interval
    if not low * (1 - ROUNDING) <= verdict.p_value <= high * (1 + ROUNDING):
        p = _shown(verdict.p_value)
        yield f"verdict.p_value_interval is {_shown(low)} to {_shown(high)}, and must contain verdict.p_value, {p}"
    given = record.parameters.get("pos_label")
    given = str(tuple(given)) if isinstance(given, list) else given
    if given is not None and verdict.pos_label is not None and given != verdict.pos_label:
        yield f"verdict.pos_label is {verdict.pos_label!r:.60}, and must be parameters['pos_label'], {given!r:.60}"


def _setup(record: Any, part: Any) -> Iterator[str]:
    """Compare how a part was set up with the verdict and with the parameters."""
    setup, verdict, given = part.setup, record.verdict, record.parameters
    yield from _differs("setup.features", setup.features, " x ".join(part.sensitive), "that is what sensitive names")
    yield from _differs("setup.controls", setup.controls, " x ".join(part.control), "that is what control names")
    yield from _differs("setup.alpha", setup.alpha, verdict.alpha, "verdict.alpha is that")
    yield from _differs("setup.adjust", setup.adjust, verdict.adjust, "verdict.adjust is that")
    yield from _differs("setup.alternative", setup.alternative, "two-sided", "audits test both directions")
    name = "compare" if len(part.sensitive) == 1 else "compare_intersections"
    for key, found in ((name, setup.compare), ("disparity", setup.disparity)):
        if key in given:
            field = "compare" if key == name else key
            yield from _differs(f"setup.{field}", found, given[key], f"parameters[{key!r}] is that")
    confidence = given.get("confidence_level")
    if isinstance(confidence, float):
        why = f"parameters['confidence_level'] is {_shown(confidence)}"
        yield from _differs("setup.alpha", setup.alpha, round(1 - confidence, 12), why)
    yield from _margin(setup, given)


def _margin(setup: Setup, given: Mapping[str, Any]) -> Iterator[str]:
    margin, bounds = given.get("margin"), setup.margin_bounds
    if "margin" not in given or not (margin is None or isinstance(margin, int | float)):
        return
    why = f"parameters['margin'] is {margin!r}"
    if margin is None or bounds is None:
        if (margin is None) != (bounds is None):
            yield f"setup.margin_bounds is {bounds!r}: {why}"
        return
    due = (margin, 1 / margin if margin else math.inf) if setup.disparity != "difference" else (-margin, margin)
    for i in range(2):
        yield from _differs(f"setup.margin_bounds[{i}]", bounds[i], due[i], why)


def _groups(record: Any, part: Any) -> Iterator[str]:
    """Compare the values by group with each other and with the number of samples."""
    people: dict[Any, int] = {}
    for i, row in enumerate(_rows(part.by_group)):
        place = f"by_group[{i}]"
        cell = (row["stratum"], row["group"])
        yield from _differs(f"{place}.n", row["n"], people.setdefault(cell, row["n"]), "another metric says so")
        if row["n_effective"] > row["n"]:
            yield f"{place}.n_effective is {row['n_effective']}, and must be at most n, {row['n']}"
        few = row["n_effective"] < SMALL
        yield from _differs(f"{place}.small", row["small"], few, f"n_effective is {row['n_effective']}")
        yield from _interval(place, row)
    if people:
        # Of people whose group is not known, no value was computed.
        in_groups = record.verdict.n_samples - sum(
            row["n"]
            for row in _rows(part.excluded)
            if row["comparisons"] == 0 and row["metric"] is None and row["group"] is None
        )
        why = f"verdict.n_samples is {record.verdict.n_samples}"
        yield from _differs("by_group adds up to n and", sum(people.values()), in_groups, why)


def _interval(place: str, row: Row) -> Iterator[str]:
    low, high = row["ci_low"], row["ci_high"]
    if low > high or math.isnan(low) != math.isnan(high):
        yield f"{place}.ci_low is {_shown(low)}, and ci_high {_shown(high)}: the lower limit must come first"


def _comparisons(record: Any, part: Any) -> Iterator[str]:
    cells: Cells = {}
    for row in _rows(part.by_group):
        for stratum in dict.fromkeys((row["stratum"], None)):  # None: over all strata
            cells.setdefault((row["metric"], stratum), {}).setdefault(row["group"], []).append(row)
    for i, row in enumerate(_rows(part.comparisons)):
        found = chain(_decision(record, row), _interval("", row), _disparity(part, row), _sides(part, row, cells))
        for said in found:
            yield f"comparisons[{i}].{said.removeprefix('.')}"
    yield from _adjustment(record, part)


def _decision(record: Any, row: Row) -> Iterator[str]:
    """Compare a comparison's verdict with its p-values."""
    p, adjusted, alpha = row["p_value"], row["p_value_adjusted"], record.verdict.alpha
    if math.isnan(p) or math.isnan(adjusted):
        yield f"p_value is {_shown(p)}, and p_value_adjusted {_shown(adjusted)}: both must be defined"
    if adjusted < p * (1 - ROUNDING):
        yield f"p_value_adjusted is {_shown(adjusted)}, and must be at least p_value, {_shown(p)}"
    if not math.isclose(adjusted, alpha, rel_tol=ROUNDING):
        why = f"p_value_adjusted is {_shown(adjusted)} at verdict.alpha {_shown(alpha)}"
        yield from _differs("concern", row["concern"], adjusted < alpha, why)
    why = f"concern is {row['concern']}"
    yield from _differs("verdict", row["verdict"], FOUND if row["concern"] else NOT_FOUND, why)


def _n_adjusted(part: Any) -> int:
    """Count the comparisons that p-values are adjusted for: all pairs where those with the best group are shown."""
    if part.setup.compare not in ("to_highest", "to_lowest"):
        return len(part.comparisons)
    shown = part.comparisons.groupby("metric").size()
    return int((shown * (shown + 1) // 2).sum())


def _adjustment(record: Any, part: Any) -> Iterator[str]:
    """Compare adjusted p-values with the most that the adjustment can make of the comparisons' own ones.

    Comparisons with one hypothesis share the adjustment of its p-value, which is one of theirs.
    """
    n = sum(map(_n_adjusted, record.parts))
    factor = {None: 1.0, "fdr_by": n * math.fsum(1 / k for k in range(1, n + 1))}.get(record.verdict.adjust, float(n))
    rows = part.comparisons
    own = rows.groupby("p_value_adjusted")["p_value"].transform("max")
    for i in (rows["p_value_adjusted"] > factor * own * (1 + ROUNDING)).to_numpy().nonzero()[0].tolist():
        yield (
            f"comparisons[{i}].p_value_adjusted is {_shown(rows['p_value_adjusted'].iloc[i])}, and must be at most "
            f"{factor:g} times p_value, {_shown(rows['p_value'].iloc[i])}: verdict.adjust is "
            f"{record.verdict.adjust!r} over {n:,} comparisons"
        )


def _disparity(part: Any, row: Row) -> Iterator[str]:
    """Compare a disparity with the two values that it is made of."""
    first, second = row["value_group"], row["value_other"]
    kind = part.setup.disparity_of(row["metric"])
    if row["metric"] in part.setup.everybody:
        return
    if kind == "odds_ratio":  # a conditional estimate, which lies on the same side of 1 as the ratio of the odds
        if (row["disparity"] > 1) != (first > second) and first != second:
            yield f"disparity is {_shown(row['disparity'])}, on the other side of 1 than value_group to value_other"
        return
    if kind == "difference":
        due, sign = first - second, "-"
    else:
        due, sign = first / second if second else math.copysign(math.inf, first) if first else math.nan, "/"
    why = f"value_group {sign} value_other is that"
    yield from _differs("disparity", row["disparity"], due, why)


def _sides(part: Any, row: Row, cells: Cells) -> Iterator[str]:
    """Compare the two sides of a comparison with the values by group."""
    metric, stratum, compare = row["metric"], row["stratum"], part.setup.compare
    if metric in part.setup.everybody:
        return
    groups = cells.get((metric, stratum), {})
    if row["group"] not in groups:
        yield f"group is {row['group']!r:.60}, and must be a group of by_group with metric {metric!r:.60}"
        return
    others = _others(part, row["group"], groups)
    if row["other"] not in others:
        named = ", ".join(map(repr, others))
        yield f"other is {row['other']!r:.60}, and must be one of {named:.60}: setup.compare is {compare!r}"
        return
    for side, own in (("group", groups[row["group"]]), ("other", others[row["other"]])):
        found, n = row[f"n_{side}"], sum(cell["n"] for cell in own)
        # Strata in which one side is empty are left out of an average over them.
        if found > n or (found < n and (stratum is not None or not part.control)):
            yield f"n_{side} is {found}, and must be {n}: by_group has so many"
        if len(own) == 1:
            why = "by_group has that value"
            yield from _differs(f"value_{side}", row[f"value_{side}"], own[0]["value"], why)


def _others(part: Any, group: Any, groups: Mapping[Any, list[Row]]) -> dict[Any, list[Row]]:
    """Return what a group may be compared with, and whose rows of by_group that is."""
    sides: dict[Any, list[Any]]
    rest = [other for other in groups if other != group]
    match part.setup.compare:
        case "to_overall":
            sides = {"overall": list(groups)}
        case "to_rest":
            sides = {"rest": rest}
        case "to_parents":
            sides = {}
            for open_ in range(len(part.sensitive)):
                shared = [i for i in range(len(part.sensitive)) if i != open_]
                named = ", ".join(f"{label(part.sensitive[i])} = {label(group[i])}" for i in shared)
                sides[f"rest of {named}"] = [other for other in rest if all(other[i] == group[i] for i in shared)]
        case _:
            sides = {other: [other] for other in rest}
    return {other: [cell for member in members for cell in groups[member]] for other, members in sides.items()}


def _null_distribution(record: Any) -> Iterator[str]:
    """Compare the null distribution with the leading comparison."""
    found = record.null_distribution
    if found is None:
        return
    place, number = record.leading
    row = record.parts[place].comparisons.iloc[number]
    yield from _differs(
        "null_distribution.p_value", found.p_value, float(row["p_value"]), "the leading comparison has that p_value"
    )
    if found.kind != "enumerated":
        why = "the leading comparison has that statistic"
        yield from _differs("null_distribution.observed", found.observed, float(row["statistic"]), why)
    for i, (low, high, mass, extreme) in enumerate(zip(found.low, found.high, found.mass, found.extreme, strict=True)):
        if low > high:
            yield f"null_distribution.low[{i}] is {_shown(low)}, and must be at most high[{i}], {_shown(high)}"
        if extreme > mass * (1 + ROUNDING):
            yield f"null_distribution.extreme[{i}] is {_shown(extreme)}, and must be at most mass[{i}], {_shown(mass)}"
