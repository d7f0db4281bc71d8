"""The report of an audit: the verdict and plain sentences first, then what was asked, then every table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import pandas as pd

from skfairtest.report.document import Block, Grid, Heading, Item, Paragraph
from skfairtest.report.text import (
    Table,
    by_group_table,
    comparison_cells,
    disagreement,
    excluded_table,
    label,
    most_telling,
    rate_cells,
    records,
)
from skfairtest.report.words import Facts, equals_p, finding_sentence, many, null_sentence

__all__ = ["Outcome", "Part", "audit_document", "audit_verdict", "leading_sentences", "null_hypotheses"]

#: Sentences per grouping; the tables hold the rest.
TELLING = 3
#: Rows of a table of comparisons on a screen: findings up to MOST, others up to FEW.
FEW, MOST = 5, 20


class Part(Protocol):
    """One grouping of the people: how it was tested, and the frames of a `FairnessTest`."""

    @property
    def facts(self) -> Facts:
        """How sentences are written."""

    @property
    def by_group(self) -> pd.DataFrame:
        """Rates by group."""

    @property
    def comparisons(self) -> pd.DataFrame:
        """One row per comparison."""

    @property
    def excluded(self) -> pd.DataFrame:
        """What was left out."""


@dataclass(frozen=True)
class Outcome:
    """What decides an audit of several parts: one family of comparisons.

    Parameters
    ----------
    concern : bool
        Whether any adjusted p-value is at most the level.
    p_value : float
        The smallest adjusted p-value.
    n_comparisons : int
        How many comparisons were adjusted together.
    """

    concern: bool
    p_value: float
    n_comparisons: int


def _pooled(comparisons: pd.DataFrame) -> pd.DataFrame:
    """Keep the comparisons that decide: with control features, those averaged over the strata."""
    return comparisons[comparisons["stratum"].isna()]


def _concerns(comparisons: pd.DataFrame) -> pd.DataFrame:
    """Keep the findings; a frame without rows has no type of its own in this column."""
    return comparisons[comparisons["concern"].astype(bool)]


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _level(facts: Facts) -> str:
    return f"{100 * facts.alpha:g} %"


def audit_verdict(parts: Sequence[Part], outcome: Outcome) -> str:
    """Say in one or two sentences whether there is a concern, where, and what decided.

    Parameters
    ----------
    parts : sequence of Part
        At least one.
    outcome : Outcome
        What decided.

    Returns
    -------
    str
        The verdict.
    """
    facts = parts[0].facts
    several = outcome.n_comparisons > 1
    asked = many(outcome.n_comparisons, "comparison")
    p = f"{'smallest adjusted ' if several else ''}{equals_p(outcome.p_value)}"
    if not outcome.concern:
        names = _listed([f"by {label(part.facts.features)}" for part in parts])
        return (
            f"No disparity was found {names}, in {asked} ({p}, level {_level(facts)}). That is not a proof of "
            "fairness: the intervals show what could have gone unseen."
        )
    places = []
    for part in parts:
        main = _pooled(part.comparisons)
        found = int(main["concern"].sum())
        if found:
            share = f" ({found:,} of {many(len(main), 'comparison')})" if several else ""
            places.append(f"by {label(part.facts.features)}{share}")
    over = f"; over all {asked} the" if several else ":"
    return f"Concern: groups differ by more than chance explains, {_listed(places)}{over} {p}, level {_level(facts)}."


def leading_sentences(part: Part) -> list[str]:
    """Say in plain words what a part's leading comparisons found.

    Parameters
    ----------
    part : Part
        One grouping.

    Returns
    -------
    list of str
        The three most telling findings; without a finding, the comparison with the smallest p-value.
    """
    main = most_telling(_pooled(part.comparisons))
    found = _concerns(main)
    shown = found.head(TELLING) if len(found) else main.head(1)
    return [finding_sentence(part.facts, row) for row in records(shown)]


def null_hypotheses(parts: Sequence[Part]) -> list[str]:
    """State the null hypothesis of every metric once, for all groupings together."""
    facts = replace(parts[0].facts, features=" or of ".join(label(part.facts.features) for part in parts))
    metrics = dict.fromkeys(metric for part in parts for metric in part.comparisons["metric"])
    return [null_sentence(facts, metric) + "." for metric in metrics]


def audit_document(
    parts: Sequence[Part],
    outcome: Outcome,
    *,
    title: str,
    about: Sequence[str] = (),
    not_compared: Sequence[tuple[str, str]] = (),
    sources: Sequence[str] = (),
    complete: bool = True,
    more: str = "",
) -> list[Block]:
    """Compose the report of an audit.

    Parameters
    ----------
    parts : sequence of Part
        The groupings, in the order to be shown; at least one.
    outcome : Outcome
        What decides over all of them.
    title : str
        The title.
    about : sequence of str
        Paragraphs on what was audited.
    not_compared : sequence of (str, str)
        Groupings in which nothing could be compared, with the reason.
    sources : sequence of str
        Paragraphs on where the data come from.
    complete : bool
        Whether tables hold every comparison, or the most telling ones.
    more : str
        Where the other comparisons are to be found if not `complete`.

    Returns
    -------
    list of Block
        The document; every name in it is safe to print.
    """
    verdict = Paragraph(audit_verdict(parts, outcome), "concern" if outcome.concern else "fine")
    blocks: list[Block] = [Heading(title, 1), *map(Paragraph, about), Heading("Verdict"), verdict]
    for part in parts:
        blocks += _findings(part)
    blocks += [Heading("What was tested: the null hypotheses"), *map(Item, null_hypotheses(parts))]
    for part in parts:
        blocks += _tables(part, complete, more)
    blocks += _left_out(parts, not_compared)
    blocks += [Heading("How to read this"), *map(Item, _legend(parts, outcome))]
    if sources:
        blocks += [Heading("Where the data come from"), *map(Paragraph, sources)]
    if not complete:
        # On a screen the end is what is seen first.
        blocks += [Heading("In short"), verdict]
    return blocks


def _findings(part: Part) -> list[Block]:
    main = _pooled(part.comparisons)
    found, total = int(main["concern"].sum()), len(main)
    blocks: list[Block] = [Heading(f"By {label(part.facts.features)}", 3)]
    sentences = leading_sentences(part)
    if not total:
        blocks.append(Paragraph("No comparison is defined: see what was left out."))
    elif not found:
        smallest = "" if total == 1 else " The one with the smallest p-value:"
        blocks.append(Paragraph(f"No concern in {many(total, 'comparison')}, which is no proof of fairness.{smallest}"))
    elif total > 1:
        smallest = f" The {len(sentences)} with the smallest p-values:" if found > len(sentences) else ""
        are = "is a concern" if found == 1 else "are concerns"
        blocks.append(Paragraph(f"{found:,} of {many(total, 'comparison')} {are}.{smallest}"))
    return [*blocks, *map(Item, sentences), *_stratum_findings(part)]


def _stratum_findings(part: Part) -> list[Block]:
    """Say what was found within strata: disparities of opposite signs cancel in the average that decides."""
    within = part.comparisons[part.comparisons["stratum"].notna()]
    found = most_telling(_concerns(within))
    if not len(found):
        return []
    inside = f"Within one value of {label(part.facts.controls)}, {len(found):,} of {many(len(within), 'comparison')}"
    lead = f"{inside} {'is a concern' if len(found) == 1 else 'are concerns'}, which the verdict does not count:"
    return [Paragraph(lead), *(Item(finding_sentence(part.facts, row)) for row in records(found.head(TELLING)))]


def _tables(part: Part, complete: bool, more: str) -> list[Block]:
    blocks: list[Block] = []
    facts = part.facts
    n_metrics = len(facts.words)
    for metric, (happens, among) in facts.words.items():
        rates = part.by_group
        if n_metrics > 1:
            # By position: a grouping may be called "metric" itself.
            rates = rates[rates.index.get_level_values(0) == metric].droplevel(0)
        blocks.append(Heading(f"By {label(facts.features)}: {label(metric)}"))
        if happens:
            share = f"{label(metric)}, a function of the share" if metric in facts.functions else "the share"
            blocks.append(Paragraph(f"Among {among} (n), {share} who {happens}.", "aside"))
        blocks.append(Grid(*_rates_tables(rates)))
        ordered = most_telling(part.comparisons[part.comparisons["metric"] == metric])
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
        return f"{many(total, 'comparison')}{order} (* concern):"
    concerns = int(ordered["concern"].sum())
    hidden = f", {concerns} of which are a concern" if concerns > shown else ""
    return f"{shown} of {many(total, 'comparison')}{hidden}{order} (* concern{f'; {more}' if more else ''}):"


def _rates_tables(rates: pd.DataFrame) -> tuple[Table, Table]:
    """Write rates by group, wide and narrow."""
    narrow = [
        [*names, f"{people}\n{n}", f"{value}\n{interval}", remark]
        for names, people, n, value, interval, remark in rate_cells(rates)
    ]
    names = [label(name) for name in rates.index.names]
    return by_group_table(rates, "n"), ([*names, "people\nn", "value\ninterval", ""], narrow)


def _cells(row: dict[str, Any], facts: Facts) -> dict[str, str]:
    return comparison_cells(row, f"all {label(facts.controls)}")


def _comparisons_wide(comparisons: pd.DataFrame, facts: Facts) -> Table:
    rows = []
    for row in records(comparisons):
        cells = _cells(row, facts)
        if not facts.controls:
            del cells["stratum"]
        rows.append(list(cells.values()))
    names = ["group", "other", *([label(facts.controls)] if facts.controls else [])]
    return [*names, "value", "against", facts.disparity, "interval", "p", "adjusted p", ""], rows


def _comparisons_narrow(comparisons: pd.DataFrame, facts: Facts) -> Table:
    rows = []
    for row in records(comparisons):
        cell = _cells(row, facts)
        where = f"\n  in {cell['stratum']}" if facts.controls else ""
        rows.append(
            [
                f"{cell['group']}\n  against {cell['other']}{where}",
                f"{cell['value']}\n{cell['against']}",
                f"{cell['disparity']}\n{cell['interval']}",
                f"{cell['p']}\n{cell['adjusted']}",
                f"\n{cell['mark']}",
            ]
        )
    return ["group\n  against", "value", f"{facts.disparity}\ninterval", "p\nadjusted p", ""], rows


def _left_out(parts: Sequence[Part], not_compared: Sequence[tuple[str, str]]) -> list[Block]:
    blocks: list[Block] = [Heading("Left out")]
    blocks += [Item(f"By {label(names)}: {label(reason)}.") for names, reason in not_compared]
    excluded = [part for part in parts if len(part.excluded)]
    for part in excluded:
        headers, rows = excluded_table(part.excluded)
        headers = ["n" if header == "of whom" else header for header in headers]
        blocks += [Paragraph(f"By {label(part.facts.features)}:"), Grid((headers, rows))]
    if not excluded and not not_compared:
        blocks.append(Paragraph("Nothing: every group took part in every comparison."))
    return blocks


def _legend(parts: Sequence[Part], outcome: Outcome) -> list[str]:
    facts = parts[0].facts
    # Frames without rows have columns of no particular type.
    comparisons = pd.concat([part.comparisons for part in parts if len(part.comparisons)], ignore_index=True)
    confidence = f"{100 * (1 - facts.alpha):g} % confidence"
    several = outcome.n_comparisons > 1
    averaged = f" averaged over {label(facts.controls)}" if facts.controls else ""
    together = f" for all {many(outcome.n_comparisons, 'comparison')}{averaged} together" if several else ""
    sign = "minus" if facts.disparity == "difference" else "divided by"
    lines = [
        "people: everyone in the group. n: those over whom the rate is computed. The interval of a value has "
        f"{confidence} for that group alone.",
        f"{facts.disparity}: value {sign} against. Its interval has {confidence}{together}.",
        "p: how often chance alone would show a disparity at least as telling as this one, if the null hypothesis were "
        f"true. Method: {', '.join(sorted(set(comparisons['method'])))}.",
    ]
    concern = f"A comparison is a concern (*) where the adjusted p is at most {facts.alpha:g}."
    if not several:
        lines.append(f"adjusted p: the p itself, because one question was asked. {concern}")
    elif facts.adjust == "holm":
        lines.append(
            f"adjusted p: whoever asks {outcome.n_comparisons:,} questions finds something by luck. This p-value is "
            f"corrected for that, over all groupings together (Holm's method). {concern} At most {_level(facts)} of "
            f"audits done like this raise even one false concern{averaged and f' among those{averaged}'}."
        )
    else:
        lines.append(
            f"adjusted p: p, corrected for asking {outcome.n_comparisons:,} questions ({facts.adjust}). {concern}"
        )
    if facts.controls:
        lines.append(
            f"{label(facts.controls)}: the verdict is that of the comparisons averaged over it. Those "
            "within one of its values are a second family, corrected among themselves, with its own "
            f"{_level(facts)} and its own intervals."
        )
    if any(bool(part.by_group["small"].any()) for part in parts):
        lines.append("small: n is below 10, and the value says little. nobody: n is 0, and there is no value.")
    return lines + disagreement(facts, comparisons)
