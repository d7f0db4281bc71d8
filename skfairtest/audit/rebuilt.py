"""What follows from the facts of an audit: how its parts are set up, both sides of each comparison, and the verdict."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from skfairtest._utils.text import label
from skfairtest.report.cells import records
from skfairtest.report.plain import ROUNDING, at_most, between, either, frame_of, implausible, one_of, record, same
from skfairtest.report.sentences import ADJUST, COMPARED, FOUND, KIND, LEVEL, NOT_FOUND, Setup
from skfairtest.subgroups.report import unlikely_scan

#: A value with fewer in its denominator is marked.
SMALL = 10
#: The parameters from which a record follows, and what they are where a record does not say.
_MARGIN = either(one_of(None), between(0, math.inf))
_ASKED = {
    "confidence_level": LEVEL, "margin": _MARGIN, "disparity": KIND, "compare": one_of(*COMPARED),
    "compare_intersections": one_of(*COMPARED), "adjust": either(one_of("auto"), ADJUST),
}  # fmt: skip
_DEFAULTS = {
    "confidence_level": 0.95, "margin": None, "disparity": "difference", "compare": "between_groups",
    "compare_intersections": "to_rest", "adjust": "auto",
}  # fmt: skip

Row = Mapping[str, Any]
#: Rows of by_group by group.
Cells = dict[Any, list[Row]]


def asked_of(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """What an audit was asked, from its parameters; ValueError if that is nothing that can be asked."""
    found: dict[str, Any] = record(_ASKED)({**_DEFAULTS, **parameters}, "parameters")
    return found


def rebuilt_setup(part: Any, asked: Mapping[str, Any], adjust: str | None) -> Setup:
    """How the sentences of a part are written, by what was asked."""
    margin, disparity, bounds = asked["margin"], asked["disparity"], None
    own = set(map(part.setup.disparities.get, {*part.setup.sentences, *part.setup.descriptions}))
    if len(own) == 1 and own != {None}:  # by which all metrics are always compared
        (disparity,) = own
    if margin is not None:
        bounds = (-margin, margin) if disparity == "difference" else (margin, 1 / margin if margin else math.inf)
    setup: Setup = part.setup
    return replace(
        setup,
        compare=asked["compare" if len(part.sensitive) == 1 else "compare_intersections"],
        disparity=disparity,
        alternative="two-sided",
        margin_bounds=bounds,
        alpha=round(1 - asked["confidence_level"], 12),
        features=" x ".join(part.sensitive),
        controls=" x ".join(part.control),
        adjust=adjust,
    )


def n_people(part: Any) -> int | None:
    """The people of a part: those in its groups, and those whose group is not known; None where it has no values."""
    people = {(row["stratum"], row["group"]): row["n"] for row in records(part.by_group)}
    # Of people whose group is not known, no value was computed.
    unknown = (
        row["n"]
        for row in records(part.excluded)
        if row["comparisons"] == 0 and row["metric"] is None and row["group"] is None
    )
    return sum(people.values()) + sum(unknown) if people else None


def rebuilt_frames(part: Any) -> dict[str, Any]:
    """The values by group and the comparisons of a part, with everything that follows from the rest of it."""
    people: dict[Any, int] = {}
    values, comparisons = records(part.by_group), records(part.comparisons)
    for row in values:
        row |= {"n": people.setdefault((row["stratum"], row["group"]), row["n"]), "small": row["n_effective"] < SMALL}
    cells = cells_of(values)
    for i, row in enumerate(comparisons):
        try:
            if math.isnan(row["p_value"]) or math.isnan(row["p_value_adjusted"]):
                raise ValueError("p_value and p_value_adjusted: both must be defined")
            row |= unrounded(row, _sides(part, row, cells))
            row |= unrounded(row, {"disparity": _disparity(part.setup, row)})
        except ValueError as error:
            raise ValueError(f"comparisons[{i}].{error}") from error
        row["concern"] = at_most(row["p_value_adjusted"], part.setup.alpha)
        row["verdict"] = FOUND if row["concern"] else NOT_FOUND
    _check_complete(part, cells, comparisons)
    found = {"by_group": values, "comparisons": comparisons}
    return {name: frame_of(rows, getattr(part, name).columns) for name, rows in found.items()}


def unrounded(given: Row, due: Row) -> dict[str, Any]:
    """What differs by more than rounding, which must not decide how a number is written."""
    return {name: value for name, value in due.items() if not same(given[name], value)}


def cells_of(values: Sequence[Row]) -> dict[tuple[str, Any], Cells]:
    """The rows of by_group by metric and stratum, and over all strata."""
    cells: dict[tuple[str, Any], Cells] = {}
    for row in values:
        for stratum in dict.fromkeys((row["stratum"], None)):
            cells.setdefault((row["metric"], stratum), {}).setdefault(row["group"], []).append(row)
    return cells


def _disparity(setup: Setup, row: Row) -> float:
    """The disparity of two values; of odds ratios, which are conditional estimates, the one that is stored."""
    first, second, found = row["value_group"], row["value_other"], float(row["disparity"])
    kind = setup.disparity_of(row["metric"])
    if row["metric"] in setup.everybody:
        return found
    if kind == "odds_ratio":
        if first != second and (found > 1) != (first > second):
            raise ValueError(f"disparity is {found:.12g}, on the other side of 1 than value_group to value_other")
        return found
    if kind == "difference":
        return float(first - second)
    return float(first / second) if second else math.copysign(math.inf, first) if first else math.nan


def _sides(part: Any, row: Row, cells: Mapping[tuple[str, Any], Cells]) -> dict[str, Any]:
    """What the values by group say of both sides of a comparison."""
    metric, stratum = row["metric"], row["stratum"]
    if metric in part.setup.everybody:
        return {}
    groups = cells.get((metric, stratum), {})
    if row["group"] not in groups:
        raise ValueError(f"group is {row['group']!r:.60}, and must be a group of by_group with metric {metric!r:.60}")
    others = others_of(part, row["group"], groups)
    if row["other"] not in others:
        named = ", ".join(map(repr, others))
        compare = part.setup.compare
        raise ValueError(f"other is {row['other']!r:.60}, and must be one of {named:.60}: setup.compare is {compare!r}")
    due: dict[str, Any] = {}
    for side, own in (("group", groups[row["group"]]), ("other", others[row["other"]])):
        n = sum(cell["n"] for cell in own)
        # Strata in which one side is empty are left out of an average over them.
        averaged = stratum is None and part.control
        due[f"n_{side}"] = min(row[f"n_{side}"], n) if averaged else n
        if len(own) == 1:
            due[f"value_{side}"] = own[0]["value"]
    return due


def others_of(part: Any, group: Any, groups: Cells) -> Cells:
    """What a group may be compared with, and whose rows of by_group that is."""
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


def _check_complete(part: Any, cells: Mapping[tuple[str, Any], Cells], comparisons: Sequence[Row]) -> None:
    """Refuse a part in which a comparison stands twice, or that neither compares two groups nor says why not."""
    seen = Counter(_sides_of(row) for row in comparisons)
    twice = next((key for key, n in seen.items() if n > 1), None)
    if twice is not None:
        raise ValueError(f"comparisons hold that of {twice[0]!r:.60} and {_named(twice[2])} twice")
    if part.setup.compare not in ("between_groups", "to_overall", "to_rest"):
        return
    left_out = [row for row in records(part.excluded) if row["comparisons"]]
    for (metric, stratum), groups in cells.items():
        if stratum is not None or part.control:
            continue  # in which a group may be nobody
        pairs = combinations(groups, 2) if part.setup.compare == "between_groups" else ((group,) for group in groups)
        for pair in pairs:
            if (metric, stratum, frozenset(pair)) in seen or any(
                row["metric"] in (metric, None) and (row["group"] is None or row["group"] in pair) for row in left_out
            ):
                continue
            raise ValueError(
                f"comparisons must hold that of {metric!r:.60} and {_named(pair)}: by_group has their values, and they "
                "are not among those left out"
            )


def _sides_of(row: Row) -> tuple[str, Any, Any]:
    alone = isinstance(row["other"], str) and (row["other"] in ("overall", "rest"))
    paired = frozenset((row["group"],)) if alone else frozenset((row["group"], row["other"]))
    return row["metric"], row["stratum"], paired


def _named(groups: Any) -> str:
    return " and ".join(f"{group!r:.60}" for group in groups)


def leading_of(parts: Sequence[Any], given: tuple[int, int]) -> tuple[int, int]:
    """The comparison that sets the p-value: of the smallest adjusted ones the smallest, then the largest statistic.

    Where several are as good, or too small for a number, it is the one given, if that is one of them.
    """
    place = [(i, row) for i, part in enumerate(parts) for row in range(len(part.comparisons))]
    every = pd.concat([part.comparisons for part in parts], ignore_index=True)
    size = every["statistic"].abs().fillna(-1.0).to_numpy()
    tied = np.ones(len(every), dtype=bool)
    for name in ("p_value_adjusted", "p_value"):
        p = every[name].to_numpy()
        tied &= p <= np.min(p[tied]) * (1 + 1e-8) + 1e-300
    if every["p_value"].to_numpy()[tied].min() > 1e-300:
        tied &= size >= size[tied].max() * (1 - ROUNDING)
    candidates = [place[i] for i in np.flatnonzero(tied)]
    return given if given in candidates else candidates[0]


def unlikely(record: Any) -> Iterator[str]:
    """Yield a sentence for each number of an audit that cannot be beside the others."""
    for place, part in enumerate(record.parts):
        for i, row in enumerate(records(part.by_group)):
            if row["n_effective"] > row["n"]:
                yield (
                    f"parts[{place}].by_group[{i}].n_effective is {row['n_effective']}, and must be at most n, "
                    f"{row['n']}"
                )
            yield from (f"parts[{place}].by_group[{i}].{said}" for said in implausible(row, "value"))
        equality = part.setup.margin_bounds is None
        for i, row in enumerate(records(part.comparisons)):
            found = implausible(row, "disparity", equality=equality)
            yield from (f"parts[{place}].comparisons[{i}].{said}" for said in found)
    low, high = record.verdict.p_value_interval
    if not low * (1 - ROUNDING) <= record.verdict.p_value <= high * (1 + ROUNDING):
        p = record.verdict.p_value
        yield f"verdict.p_value_interval is {low:.12g} to {high:.12g}, and must contain verdict.p_value, {p:.12g}"
    if record.scan is not None:
        yield from (f"scan.{said}" for said in unlikely_scan(record.scan))
    yield from _null_distribution(record.null_distribution)
    yield from _provenance(record)


def _null_distribution(found: Any) -> Iterator[str]:
    if found is None:
        return
    for i, (low, high, mass, extreme) in enumerate(zip(found.low, found.high, found.mass, found.extreme, strict=True)):
        if low > high:
            yield f"null_distribution.low[{i}] is {low:.12g}, and must be at most high[{i}], {high:.12g}"
        if extreme > mass * (1 + ROUNDING):
            yield f"null_distribution.extreme[{i}] is {extreme:.12g}, and must be at most mass[{i}], {mass:.12g}"


def _provenance(record: Any) -> Iterator[str]:
    """Yield a sentence for each part of an audit that its parameters, or where it comes from, do not name."""
    for name in ("scan", "impact", "individual"):
        if bool(record.parameters.get(name)) and not getattr(record, name):
            yield f"{name} is missing: parameters[{name!r}] is {record.parameters[name]!r:.60}"
    found = record.provenance
    if found is None:
        return
    if (found.model is None) == (found.entry == "fit"):
        yield f"provenance.model is {found.model!r:.60}, and provenance.entry {found.entry!r}: a model is fitted"
    if found.model is None and found.model_hash is not None:
        yield "provenance.model_hash is of no model: provenance.model is null"
    compared = record.parameters.get("baseline") is not None or any(name.endswith("baseline") for name in found.columns)
    if compared != (record.baseline is not None):
        yield f"baseline is {'missing' if compared else 'not null'}: provenance.columns is {list(found.columns)!r:.60}"
    for i, table in enumerate(record.impact.tables if record.impact is not None else ()):
        if not set(table.sensitive) <= set(found.sensitive):
            yield f"impact.tables[{i}].sensitive is {list(table.sensitive)!r:.60}, which provenance does not name"
    for place, part in enumerate(record.parts):
        for role, names, known in (
            ("sensitive", part.sensitive, found.sensitive),
            ("control", part.control, found.control),
        ):
            unknown = [name for name in names if name not in known]
            if unknown or (role == "control" and names != known):
                yield f"parts[{place}].{role} is {list(names)!r:.60}, and provenance.{role} {list(known)!r:.60}"
