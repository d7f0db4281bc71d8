"""What the sections of an audit's report say, before anything is written as HTML or Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from skfairtest._utils.text import label, pluralize
from skfairtest.report.audit import audit_verdict, metrics_of
from skfairtest.report.record import AuditPart, AuditRecord, plain_value
from skfairtest.report.sentences import (
    Setup,
    number,
    p_text,
    result_sentence,
)
from skfairtest.report.text import by_p_value, number_text, records

__all__ = [
    "Findings",
    "compared_with",
    "comparison_pieces",
    "comparison_row",
    "definitions",
    "disparity_axis",
    "figures",
    "findings_of",
    "parameters_of",
    "shown",
    "value_axis",
    "value_cells",
    "values_of",
    "verdict_of",
]

#: Decimals say something between these sizes; beyond, digits do.
SMALL, LARGE = 1e-3, 1e4
#: Whom each group is compared with, where that is the same for all.
EVERYBODY = {"to_overall": "everyone", "to_rest": "everyone else"}


def shown(facts: Setup, metric: str, value: float) -> str:
    """Write a value of a metric, or a difference of two: shares with four decimals, others with four digits."""
    if facts.is_share(metric) or np.isnan(value) or value == 0 or SMALL <= abs(value) < LARGE:
        return number_text(value)
    return number(value)


def _span(facts: Setup, metric: str, low: float, high: float) -> str:
    return "" if np.isnan(low) or np.isnan(high) else f"{shown(facts, metric, low)} to {shown(facts, metric, high)}"


def compared_with(facts: Setup, row: Mapping[str, Any]) -> str:
    """Name what a group is compared with."""
    return EVERYBODY.get(facts.compare, label(row["other"]))


def comparison_pieces(facts: Setup, row: Mapping[str, Any], *, alone: bool = False) -> tuple[list[str], list[str]]:
    """Return the names that the row of a drawing is called by, and what stands between them.

    What every row is compared with stands on the axis, unless the row is `alone`.
    """
    pieces, joints = [label(row["group"])], []
    if alone or facts.compare not in EVERYBODY:
        pieces.append(compared_with(facts, row))
        joints.append(" against ")
    if facts.controls:
        pooled = row["stratum"] is None
        pieces.append(f"all {label(facts.controls)}" if pooled else label(row["stratum"]))
        joints.append(", " if pooled else " in ")
    return pieces, joints


def disparity_axis(facts: Setup, metric: str, *, alone: bool = False) -> str:
    """Say what is on the axis of disparities, with its unit; see `comparison_pieces`."""
    second = None if alone else EVERYBODY.get(facts.compare)
    if facts.disparity_of(metric) == "ratio":
        return f"ratio, {f'group to {second}' if second else 'first to second'} (log scale)"
    minus = f"group minus {second}" if second else "first minus second"
    if not facts.is_share(metric):
        return f"difference, {minus}, in the metric's unit"
    return f"difference, {minus} (0.1 is 10 points)"


def value_axis(facts: Setup, metric: str) -> str:
    """Say what is on the axis of values, with its unit."""
    if not facts.is_share(metric):
        return "in the metric's unit"
    return "value from 0 to 1" if metric in facts.functions else "share of people"


def comparison_row(facts: Setup, row: Mapping[str, Any]) -> dict[str, str]:
    """Write every cell of one comparison."""
    metric, size = row["metric"], row["minimum_detectable"]
    alone = row["group"] is None  # a metric that looks at all groups at once
    return {
        "group": "all groups" if alone else label(row["group"]),
        "other": "" if alone else compared_with(facts, row),
        "stratum": f"all {label(facts.controls)}" if row["stratum"] is None else label(row["stratum"]),
        "n_group": "" if alone else f"{row['n_group']:,}",
        "n_other": "" if alone else f"{row['n_other']:,}",
        "value": "" if alone else shown(facts, metric, row["value_group"]),
        "against": "" if alone else shown(facts, metric, row["value_other"]),
        "disparity": shown(facts, metric, row["disparity"]),
        "interval": _span(facts, metric, row["ci_low"], row["ci_high"]),
        "p": p_text(row["p_value"]),
        "adjusted": p_text(row["p_value_adjusted"]),
        "detectable": "" if np.isnan(size) else "none" if np.isinf(size) else shown(facts, metric, size),
        "verdict": str(row["verdict"]),
        "method": str(row["method"]),
    }


@dataclass(frozen=True)
class Findings:
    """What a grouping says in sentences.

    Parameters
    ----------
    lead : str
        How many comparisons are a concern.
    concern : bool
        Whether any is.
    sentences : tuple of str
        One for each finding, the most telling first; without a finding, of the comparison with the smallest p-value.
    """

    lead: str
    concern: bool
    sentences: tuple[str, ...]


def findings_of(part: AuditPart) -> Findings:
    """Say what was found in one grouping of the people."""
    ordered = by_p_value(part.facts, part.comparisons)
    found, total = ordered[ordered["concern"]], len(ordered)
    asked = pluralize(total, "comparison")
    sentences = tuple(result_sentence(part.facts, row) for row in records(found if len(found) else ordered.head(1)))
    if not total:
        lead = "No comparison is defined: see what was left out."
    elif len(found):
        are = "is a concern" if len(found) == 1 else "are concerns"
        lead = f"{len(found):,} of {asked} {are}{', the smallest p-value first' if len(found) > 1 else ''}:"
    else:
        smallest = ":" if total == 1 else ". The one with the smallest p-value:"
        lead = f"No concern in {asked}, which is no proof of fairness{smallest}"
    return Findings(lead, bool(len(found)), sentences)


def definitions(record: AuditRecord) -> list[tuple[str, str]]:
    """Say what each metric is."""
    told: dict[str, str] = {}
    for part in record.parts:
        for metric in metrics_of(part):
            told.setdefault(metric, _definition(part.facts, metric))
    return [(label(metric), said) for metric, said in told.items()]


def _definition(facts: Setup, metric: str) -> str:
    happens, among = facts.words.get(metric, ("", ""))
    if happens:
        share = "a function of the share" if metric in facts.functions else "the share"
        return f"among {among}, {share} who {happens}"
    return facts.descriptions.get(metric, "")


def values_of(part: AuditPart) -> Iterator[tuple[Any, Any, dict[str, dict[str, Any]]]]:
    """Yield group, stratum and the values of every metric, in the order of the record."""
    table: dict[tuple[Any, Any], dict[str, dict[str, Any]]] = {}
    for row in records(part.by_group):
        table.setdefault((row["group"], row["stratum"]), {})[row["metric"]] = row
    for (group, stratum), values in table.items():
        yield group, stratum, values


def value_cells(facts: Setup, row: Mapping[str, Any]) -> tuple[str, str, str]:
    """Write a value, its interval, and how many people it rests on, with a remark if these are few."""
    metric = row["metric"]
    remark = "" if not row["small"] else " (small)" if row["n_effective"] else " (nobody)"
    interval = "" if np.isnan(row["value"]) else _span(facts, metric, row["ci_low"], row["ci_high"])
    return shown(facts, metric, row["value"]), interval, f"{row['n_effective']:,}{remark}"


def figures(record: AuditRecord) -> list[tuple[str, str]]:
    """List the numbers that a reader wants first, with what they are."""
    verdict = record.verdict
    several = verdict.n_comparisons > 1
    positive = [] if verdict.pos_label is None else [("positive label", label(plain_value(verdict.pos_label)))]
    return [
        ("people", f"{verdict.n_samples:,}"),
        ("comparisons" if several else "comparison", f"{verdict.n_comparisons:,}"),
        ("concerns" if verdict.n_found != 1 else "concern", f"{verdict.n_found:,}"),
        ("smallest adjusted p" if several else "p", p_text(verdict.p_value)),
        ("level", f"{100 * verdict.alpha:g} %"),
        *positive,
    ]


def verdict_of(record: AuditRecord) -> str:
    """Say what decides, and how sure that is where it was drawn at random."""
    said = audit_verdict(record.parts, record.verdict)
    low, high = record.verdict.p_value_interval
    if low == high:
        return said
    between = f"{p_text(low) if low else '0'} and {p_text(high)}"
    return f"{said} With resamples without end, that p-value would lie between {between} (95 % limits)."


def parameters_of(record: AuditRecord) -> list[tuple[str, str]]:
    """Write the parameters as they would be typed."""
    return [(str(name), repr(value)) for name, value in plain_value(record.parameters).items()]
