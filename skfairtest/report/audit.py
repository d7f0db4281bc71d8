"""The report of an audit as text: the verdict and plain sentences first, then what was asked, then every table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from skfairtest._utils.text import label, pluralize
from skfairtest.report.document import Block, Grid, Heading, Item, Paragraph
from skfairtest.report.record import AuditPart, AuditRecord, Verdict
from skfairtest.report.sentences import (
    DETECTION_POWER,
    Setup,
    equals_p,
    null_sentence,
    number,
    result_sentence,
)
from skfairtest.report.text import (
    Table,
    by_group_table,
    by_p_value,
    comparison_cells,
    disagreement,
    excluded_table,
    rate_cells,
    records,
)

__all__ = [
    "audit_document",
    "audit_verdict",
    "indexed",
    "leading_sentences",
    "legend",
    "metrics_of",
    "null_hypotheses",
    "summary_frame",
]

#: Sentences per grouping; the tables hold the rest.
TELLING = 3
#: Rows of a table of comparisons on a screen: findings up to MOST, others up to FEW.
FEW, MOST = 5, 20
#: Groupings that the verdict names.
NAMED = 3


def _concerns(comparisons: pd.DataFrame) -> pd.DataFrame:
    """Keep the findings."""
    return comparisons[comparisons["concern"]]


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _level(facts: Setup) -> str:
    return f"{100 * facts.alpha:g} %"


def metrics_of(part: AuditPart) -> list[str]:
    """Name the metrics of a part, in the order they were asked for."""
    return list(dict.fromkeys([*part.by_group["metric"], *part.comparisons["metric"], *part.facts.everybody]))


def audit_verdict(parts: Sequence[AuditPart], verdict: Verdict) -> str:
    """Say in one or two sentences whether there is a concern, where, and what decided.

    Parameters
    ----------
    parts : sequence of AuditPart
        At least one.
    verdict : Verdict
        What decided.

    Returns
    -------
    str
        The verdict.
    """
    facts = parts[0].facts
    several = verdict.n_comparisons > 1
    asked = pluralize(verdict.n_comparisons, "comparison")
    p = f"{'smallest adjusted ' if several else ''}{equals_p(verdict.p_value)}"
    beyond = "" if facts.edges is None else " beyond the margin"
    if not verdict.concern:
        names = _listed([f"by {label(part.feature)}" for part in parts])
        if len(parts) > NAMED:
            single = [f"by {label(part.feature)}" for part in parts if len(part.sensitive) == 1]
            names = _listed([*single[:NAMED], "in " + pluralize(len(parts) - len(single[:NAMED]), "further grouping")])
        return (
            f"No disparity{beyond} was found {names}, in {asked} ({p}, level {_level(facts)}). That is not a proof of "
            "fairness: each comparison says how large a disparity could have gone unseen."
        )
    found = [(int(part.comparisons["concern"].sum()), part) for part in parts]
    places = [(n, part) for n, part in found if n]
    # Where there are many, those with the most findings stand for them.
    shown = sorted(places, key=lambda place: -place[0])[:NAMED] if len(places) > NAMED else places
    told = [
        f"by {label(part.feature)}"
        + (f" ({n:,} of {pluralize(len(part.comparisons), 'comparison')})" if several else "")
        for n, part in shown
    ]
    if len(places) > len(shown):
        told.append(f"in {pluralize(len(places) - len(shown), 'further grouping')}")
    over = f"; over all {asked} the" if several else ":"
    return (
        f"Concern: groups differ{beyond} by more than chance explains, {_listed(told)}{over} {p}, "
        f"level {_level(facts)}."
    )


def leading_sentences(part: AuditPart) -> list[str]:
    """Say in plain words what a part's leading comparisons found.

    Parameters
    ----------
    part : AuditPart
        One grouping.

    Returns
    -------
    list of str
        The three most telling findings; without a finding, the comparison with the smallest p-value.
    """
    ordered = by_p_value(part.facts, part.comparisons)
    found = _concerns(ordered)
    shown = found.head(TELLING) if len(found) else ordered.head(1)
    return [result_sentence(part.facts, row) for row in records(shown)]


def null_hypotheses(parts: Sequence[AuditPart]) -> list[str]:
    """State the null hypothesis of every metric, once for all groupings that are compared alike."""
    alike: dict[str, list[AuditPart]] = {}
    for part in parts:
        alike.setdefault(part.facts.compare, []).append(part)
    found: dict[str, None] = {}
    for same in alike.values():
        facts = replace(same[0].facts, features=" or of ".join(label(part.feature) for part in same))
        metrics = dict.fromkeys(metric for part in same for metric in part.comparisons["metric"])
        found |= dict.fromkeys(null_sentence(facts, metric) + "." for metric in metrics)
    return list(found)


def summary_frame(parts: Sequence[AuditPart]) -> pd.DataFrame:
    """Sum up each metric of each grouping: how many findings, and the comparison with the smallest p-value."""
    shown = ["group", "other", "stratum", "disparity", "p_value_adjusted", "minimum_detectable"]
    rows = []
    for part in parts:
        for metric in dict.fromkeys(part.comparisons["metric"]):
            own = by_p_value(part.facts, part.comparisons[part.comparisons["metric"] == metric])
            counts = {"n_comparisons": len(own), "n_found": int(own["concern"].sum())}
            leading = {name: own.iloc[0][name] for name in shown}
            rows.append({"feature": part.feature, "metric": metric, **counts, **leading})
    return pd.DataFrame(rows, columns=["feature", "metric", "n_comparisons", "n_found", *shown])


def audit_document(record: AuditRecord, *, complete: bool = True, more: str = "") -> list[Block]:
    """Compose the report of an audit.

    Parameters
    ----------
    record : AuditRecord
        What was found.
    complete : bool
        Whether tables hold every comparison, or the most telling ones.
    more : str
        Where the other comparisons are to be found if not `complete`.

    Returns
    -------
    list of Block
        The document; every name in it is safe to print.
    """
    parts = record.parts
    verdict = Paragraph(audit_verdict(parts, record.verdict), "concern" if record.verdict.concern else "fine")
    blocks: list[Block] = [Heading(label(record.title), 1), *map(Paragraph, record.about), Heading("Verdict"), verdict]
    for part in parts:
        blocks += _findings(part)
    blocks += [Heading("What was tested: the null hypotheses"), *map(Item, null_hypotheses(parts))]
    for part in parts:
        blocks += _tables(part, complete, more)
    blocks += _left_out(record)
    blocks += [Heading("How to read this"), *map(Item, legend(record))]
    if record.sources:
        blocks += [Heading("Where the data come from"), *map(Paragraph, record.sources)]
    if not complete:
        # On a screen the end is what is seen first.
        blocks += [Heading("In short"), verdict]
    return blocks


def _findings(part: AuditPart) -> list[Block]:
    found, total = int(part.comparisons["concern"].sum()), len(part.comparisons)
    blocks: list[Block] = [Heading(f"By {label(part.feature)}", 3)]
    sentences = leading_sentences(part)
    if not total:
        blocks.append(Paragraph("No comparison is defined: see what was left out."))
    elif not found:
        smallest = "" if total == 1 else " The one with the smallest p-value:"
        blocks.append(
            Paragraph(f"No concern in {pluralize(total, 'comparison')}, which is no proof of fairness.{smallest}")
        )
    elif total > 1:
        smallest = f" The {len(sentences)} with the smallest p-values:" if found > len(sentences) else ""
        are = "is a concern" if found == 1 else "are concerns"
        blocks.append(Paragraph(f"{found:,} of {pluralize(total, 'comparison')} {are}.{smallest}"))
    return [*blocks, *map(Item, sentences)]


def indexed(part: AuditPart, metric: str) -> pd.DataFrame:
    """Return a metric's values by group with one column of the index for each feature."""
    rows = part.by_group[part.by_group["metric"] == metric]
    names = [*part.control, *part.sensitive]
    keys = [
        (*_parts_of(stratum, len(part.control)), *_parts_of(group, len(part.sensitive)))
        for stratum, group in zip(rows["stratum"], rows["group"], strict=True)
    ]
    index = (
        pd.MultiIndex.from_tuples(keys, names=names)
        if len(names) > 1
        else pd.Index([k[0] for k in keys], name=names[0], tupleize_cols=False)
    )
    return rows.drop(columns=["metric", "stratum", "group"]).set_axis(index)


def _parts_of(key: Any, n: int) -> tuple[Any, ...]:
    return () if not n else (key,) if n == 1 else tuple(key)


def _tables(part: AuditPart, complete: bool, more: str) -> list[Block]:
    blocks: list[Block] = []
    facts = part.facts
    for metric in metrics_of(part):
        happens, among = facts.words.get(metric, ("", ""))
        blocks.append(Heading(f"By {label(part.feature)}: {label(metric)}"))
        if happens:
            share = f"{label(metric)}, a function of the share" if metric in facts.functions else "the share"
            blocks.append(Paragraph(f"Among {among} (n), {share} who {happens}.", "aside"))
        elif described := facts.descriptions.get(metric, ""):
            blocks.append(Paragraph(f"{described[0].upper()}{described[1:]}.", "aside"))
        if (part.by_group["metric"] == metric).any():
            blocks.append(Grid(*_rates_tables(indexed(part, metric))))
        ordered = by_p_value(part.facts, part.comparisons[part.comparisons["metric"] == metric])
        if not len(ordered):
            blocks.append(Paragraph("No comparison is defined: see what was left out."))
            continue
        shown = ordered if complete else ordered.head(_rows_on_screen(ordered))
        blocks += [
            Paragraph(_caption(len(shown), ordered, more)),
            Grid(
                _comparisons_wide(shown, facts),
                _comparisons_narrow(shown, facts),
                frozenset(i for i, concern in enumerate(shown["concern"]) if concern),
            ),
        ]
    return blocks


def _rows_on_screen(ordered: pd.DataFrame) -> int:
    return min(MOST, max(FEW, int(ordered["concern"].sum())))


def _caption(shown: int, ordered: pd.DataFrame, more: str) -> str:
    total = len(ordered)
    order = "" if total == 1 else ", smallest p-value first"
    if shown == total:
        return f"{pluralize(total, 'comparison')}{order} (* concern):"
    concerns = int(ordered["concern"].sum())
    hidden = f", {concerns} of which are a concern" if concerns > shown else ""
    return f"{shown} of {pluralize(total, 'comparison')}{hidden}{order} (* concern{f'; {more}' if more else ''}):"


def _rates_tables(rates: pd.DataFrame) -> tuple[Table, Table]:
    """Write rates by group, wide and narrow."""
    narrow = [
        [*names, f"{people}\n{n}", f"{value}\n{interval}", remark]
        for names, people, n, value, interval, remark in rate_cells(rates)
    ]
    names = [label(name) for name in rates.index.names]
    return by_group_table(rates, "n"), ([*names, "people\nn", "value\ninterval", ""], narrow)


def _cells(row: dict[str, Any], facts: Setup) -> dict[str, str]:
    cells = comparison_cells(row, f"all {label(facts.controls)}")
    out = {}
    for name, text in cells.items():
        if name == "p":
            out["detectable"] = detectable_text(row["minimum_detectable"])
        out[name] = text
    return out


def detectable_text(size: float) -> str:
    """Write the smallest detectable disparity; "none" where none would have been found."""
    return "" if np.isnan(size) else "none" if np.isinf(size) else number(size)


def _comparisons_wide(comparisons: pd.DataFrame, facts: Setup) -> Table:
    rows = []
    for row in records(comparisons):
        cells = _cells(row, facts)
        if not facts.controls:
            del cells["stratum"]
        rows.append(list(cells.values()))
    names = ["group", "other", *([label(facts.controls)] if facts.controls else [])]
    return [*names, "value", "against", facts.disparity, "interval", "detectable", "p", "adjusted p", ""], rows


def _comparisons_narrow(comparisons: pd.DataFrame, facts: Setup) -> Table:
    rows = []
    for row in records(comparisons):
        cell = _cells(row, facts)
        where = f"\n  in {cell['stratum']}" if facts.controls else ""
        rows.append(
            [
                f"{cell['group']}\n  against {cell['other']}{where}",
                f"{cell['value']}\n{cell['against']}",
                f"{cell['disparity']}\n{cell['interval']}",
                f"\n{cell['detectable']}",
                f"{cell['p']}\n{cell['adjusted']}",
                f"\n{cell['mark']}",
            ]
        )
    return ["group\n  against", "value", f"{facts.disparity}\ninterval", "\ndetectable", "p\nadjusted p", ""], rows


def _left_out(record: AuditRecord) -> list[Block]:
    blocks: list[Block] = [Heading("Left out")]
    blocks += [Item(f"{label(names)}: {label(reason)}.") for names, reason in record.not_compared]
    excluded = [part for part in record.parts if len(part.excluded)]
    for part in excluded:
        headers, rows = excluded_table(part.excluded)
        headers = ["n" if header == "of whom" else header for header in headers]
        blocks += [Paragraph(f"By {label(part.feature)}:"), Grid((headers, rows))]
    if not excluded and not record.not_compared:
        blocks.append(Paragraph("Nothing: every group took part in every comparison."))
    return blocks


def _kept(parts: Sequence[AuditPart], comparisons: pd.DataFrame) -> str:
    """Say how often audits raise a false concern, and what that takes for granted."""
    level = _level(parts[0].facts)
    rough = sorted({method for method in comparisons["method"] if not method.startswith("exact")})
    if not rough:
        said = f"At most {level} of audits done like this raise even one false concern."
    else:
        laws = f"{' and '.join(rough)} p-values"
        said = (
            f"At most about {level} of audits done like this raise even one false concern: about, because {laws} "
            "keep the level approximately, the better the more people there are."
        )
    if not any(part.pools_groups for part in parts):
        return said
    return (
        f"{said} Where a group is compared with several groups together (everyone, everyone else, the rest of a parent "
        "group), this assumes that the people in these are a random sample: if so many of each were chosen in advance, "
        "false concerns can be more frequent."
    )


def legend(record: AuditRecord, mark: str = " (*)") -> list[str]:
    """Say what the columns of the tables are, in which `mark` stands at concerns."""
    parts, verdict, facts = record.parts, record.verdict, record.facts
    comparisons = pd.concat([part.comparisons for part in parts], ignore_index=True)
    confidence = f"{100 * (1 - facts.alpha):g} % confidence"
    several = verdict.n_comparisons > 1
    familywise = facts.adjust in ("holm", "shaffer", "bonferroni")
    together = f" for all {pluralize(verdict.n_comparisons, 'comparison')} together" if several and familywise else ""
    sign = "minus" if facts.disparity == "difference" else "divided by"
    lines = [
        "people: everyone in the group. n: those over whom the value is computed. The interval of a value has "
        f"{confidence} for that group alone.",
        f"{facts.disparity}: value {sign} against. Its interval has {confidence}{together}.",
        f"detectable: the smallest disparity, in either direction, that would have been found with a probability of "
        f"{100 * DETECTION_POWER:g} %. For rates by the power of the test that was run, for other metrics by normal "
        "approximation.",
        "p: how often chance alone would show a disparity at least as telling as this one, if the null hypothesis were "
        f"true. Method: {', '.join(sorted(set(comparisons['method'])))}.",
    ]
    if "asymptotic" in set(comparisons["method"]):
        lines.append(
            "asymptotic: the normal law of the disparity over its standard error, which wants hundreds of people on "
            "both sides."
        )
    concern = f"A comparison is a concern{mark} where the adjusted p is at most {facts.alpha:g}."
    if not several:
        lines.append(f"adjusted p: the p itself, because one question was asked. {concern}")
    elif facts.adjust in ("holm", "shaffer"):
        how = "Holm's method" if facts.adjust == "holm" else "Holm's method, with Shaffer's factors for pairs of groups"
        lines.append(
            f"adjusted p: among {verdict.n_comparisons:,} comparisons, some have a small p by chance alone. This "
            "p-value is corrected for that, over all groupings and metrics together; comparisons that test the same "
            f"hypothesis count once ({how}). {concern} "
            f"{_kept(parts, comparisons)}"
        )
    elif facts.adjust is None:
        lines.append(
            f"adjusted p: the p itself; nothing corrects for asking {verdict.n_comparisons:,} questions. {concern}"
        )
    else:
        lines.append(
            f"adjusted p: p, corrected for asking {verdict.n_comparisons:,} questions ({facts.adjust}). {concern}"
        )
    if facts.people:
        lines.append(facts.people)
    if any(bool(part.by_group["small"].any()) for part in parts):
        lines.append("small: n is below 10, and the value says little. nobody: n is 0, and there is no value.")
    return lines + disagreement(facts, comparisons)
