"""The table of adverse impact as a page: what the rule of four fifths says of each category, and what the test says."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from skfairtest._utils.text import label, pluralize
from skfairtest.audit.record import AuditRecord
from skfairtest.report.cells import records
from skfairtest.report.document import Block, Column, Figure, Heading, Items, Paragraph, Table
from skfairtest.report.plots import Forest, Panel, Rows, Scale, joined
from skfairtest.report.sentences import equals_p, p_text, percent, ratio, span
from skfairtest.report.skeleton import MOST_COMPARISONS, TICKS

UNKNOWN = "unknown"
#: Categories that the verdict names.
NAMED = 5
UNFAVORABLE = (
    "Selected are those who are predicted positive, which is not favorable here: the highest rate is that of the "
    "category that is worst off, and the rule of four fifths is meant for favorable decisions."
)


def impact_reading(row: Mapping[str, Any]) -> str:
    """Say what a row shows: the rule of four fifths, then the test.

    Parameters
    ----------
    row : mapping
        A row of `impact_table`.

    Returns
    -------
    str
        Words; where the rule and the test disagree, both in full, with "but" between them.

    Examples
    --------
    >>> row = {"category": "f", "compared": True, "highest": False, "ratio": 0.33}
    >>> impact_reading({**row, "below_four_fifths": True, "significant": False})
    'below four fifths, but not significant'
    """
    if row["category"] is None:
        return "not compared"
    if not row["compared"]:
        return "too few to compare" if pd.isna(row["shortfall_pool"]) else "in no stratum with the highest"
    if row["highest"]:
        return "highest rate"
    if row["ratio"] > 1:  # within strata
        return f"higher within strata, {'significant' if row['significant'] else 'not significant'}"
    below, significant = bool(row["below_four_fifths"]), bool(row["significant"])
    side = "below" if below else "at" if math.isclose(row["ratio"], 0.8, rel_tol=1e-12) else "above"
    said = "significant" if significant else "not significant"
    return f"{side}, {said}" if below == significant else f"{side} four fifths, but {said}"


def impact_document(
    table: pd.DataFrame,
    *,
    title: str,
    about: str,
    scoring: bool = False,
    smallest_share: float = 0.02,
    confidence_level: float = 0.95,
    not_compared: Sequence[str] = (),
) -> list[Block]:
    """Compose the page.

    Parameters
    ----------
    table : DataFrame
        What `impact_table` returned.
    title, about : str
        The heading, and whom it is about.
    scoring : bool, default=False
        Whether rates are of scores above the median.
    smallest_share, confidence_level : float
        Those with which the table was made.
    not_compared : sequence of str
        Why features or crossings were not compared.

    Returns
    -------
    list of Block
        The document, with a title: a verdict, a table for each feature and crossing, and how to read them.
    """
    return [
        Heading(title, 1),
        *_verdict(table),
        Paragraph(about),
        *_tables(table, scoring, confidence_level),
        Heading("How to read the tables", 3),
        Items((*not_compared, *_explained(table, scoring, smallest_share, confidence_level)), tone="notes"),
    ]


def impact_section(record: AuditRecord) -> list[Block]:
    """Compose what an audit's report says of its impact tables, without a title."""
    impact, level, unfavorable = record.impact, 1 - record.verdict.alpha, record.setup.favorable is False
    assert impact is not None
    explained = _explained(impact.frame, impact.scoring, impact.smallest_share, level)
    return [
        Paragraph(
            "These tables have a level of their own, apart from the comparisons of this audit: the verdict does not "
            "count them."
        ),
        *_verdict(impact.frame),
        *_tables(impact.frame, impact.scoring, level),
        Items((*map(label, impact.not_compared), *([UNFAVORABLE] if unfavorable else []), *explained), tone="notes"),
    ]


def _verdict(table: pd.DataFrame) -> list[Block]:
    """Say how many rates differ from the highest, and of those below four fifths by how many people."""
    compared = table[table["compared"] & ~table["highest"]]
    if not len(compared):
        return [Paragraph("No category can be compared with the highest rate.")]
    found, below = int(compared["significant"].sum()), compared["below_four_fifths"].astype(bool)
    comparisons, other = pluralize(len(compared), "comparison"), int(compared["significant"][~below].sum())
    text = (
        f"No significant disparity was detected in {comparisons} with the highest rate. This does not prove fairness."
    )
    if found:
        differ = f"{found:,} {'differs' if found == 1 else 'differ'}"
        text = f"Significant disparity: of {comparisons} with the highest rate, {differ} by more than chance explains."
    if other:
        text += f" {other:,} {'is' if other == 1 else 'are'} not below four fifths, but significant."
    text += (
        " Below four fifths of the highest rate:" if below.any() else " No rate is below four fifths of the highest."
    )
    return [Paragraph(text, "concern" if found else "fine"), *_below(compared[below])]


def _below(table: pd.DataFrame) -> Iterator[Items]:
    """Yield what a lawyer asks of the categories below four fifths: the rate, the ratio, the shortfall, and chance."""
    texts = [
        f"{label(row['category'])} ({label(row['feature'])}): {percent(row['rate'])} selected, "
        f"{row['ratio']:.3f} of the highest rate, {row['to_four_fifths']:,} short of four fifths; "
        + ("statistically significant" if row["significant"] else "not significant, chance may explain it")
        + f" (adjusted {equals_p(row['p_value_adjusted'])})"
        for row in records(table)
    ]
    if texts:
        yield Items((*texts[:NAMED], *([f"and {len(texts) - NAMED:,} more"] if len(texts) > NAMED else [])))


def _tables(table: pd.DataFrame, scoring: bool, confidence_level: float) -> Iterator[Block]:
    """Yield a table for each feature, below its name."""
    for feature, part in table.groupby("feature", sort=False):
        columns = (
            Column(
                label(feature), "name", named=True,
                shows=lambda row: UNKNOWN if row["category"] is None else label(row["category"]),
            ),
            Column("people", shows="n"),
            _number("share", "share", percent, under=True),
            Column("high scores" if scoring else "selected", shows="selected"),
            Column("rate", under="", headed=True, shows=lambda row: percent(row["rate"])),
            _number("impact ratio", "ratio", "{:.3f}".format),
            Column(f"{100 * confidence_level:g}% interval", under="", headed=True, shows=_interval),
            Column("reading", "word", shows=impact_reading),
            _number("adjusted p", "p_value_adjusted", p_text),
            _number("SDs", "standard_deviations", "{:.2f}".format, under=True),
            _number("short of pool", "shortfall_pool", "{:,.1f}".format),
            _number("short of 4/5", "to_four_fifths", "{:,}".format, under=True),
        )  # fmt: skip
        rows = records(part.assign(significant=part["significant"].fillna(False)))
        yield Heading(label(feature), 3)
        yield from _picture(label(feature), rows, scoring)
        yield Table.of(columns, rows, marks="significant")


def _picture(feature: str, rows: Sequence[Mapping[str, Any]], scoring: bool) -> Iterator[Figure]:
    """Yield bars of the rates, with the line of four fifths of the highest."""
    known = [row for row in rows if row["category"] is not None and not pd.isna(row["rate"])]
    top = [row["rate"] for row in known if row["highest"]]
    if not top:
        return
    # The highest rate is the last that is left out.
    kept = sorted(known, key=lambda row: (not row["highest"], row["rate"]))[:MOST_COMPARISONS]
    shown = [row for row in known if row in kept]
    rates, line = [row["rate"] for row in shown], 0.8 * top[0]
    kinds = ["few bar" if not row["compared"] else "significant bar" if row["significant"] else "bar" for row in shown]
    panel = Panel.of(
        [rates, [0.0] * len(rates), rates], kinds, scale=Scale(0.0, 1.04 * max(*rates, line, 1e-9), factor=100.0),
        equality=line, axis=f"{'share of high scores' if scoring else 'selection rate'}, in %", most=TICKS,
    )  # fmt: skip
    names = tuple(joined([label(row["category"]), percent(row["rate"])], [" "]) for row in shown)
    what = f"Rates by {feature}"
    some = "" if len(shown) == len(known) else f" The highest rate and the lowest ones, {len(shown)} of {len(known):,}."
    few = " Grey bars are too few people to compare." if "few bar" in kinds else ""
    yield Figure(
        Forest(what, f"{pluralize(len(shown), 'bar')}. The table holds the same numbers.", (Rows(names, (panel,)),)),
        f"{what}.{some} The line is four fifths of the highest rate, {percent(line)}; orange bars with a point "
        f"differ significantly from the highest.{few}",
    )


def _number(head: str, field: str, write: Callable[[Any], str], *, under: bool = False) -> Column:
    """Return the column of a number that may be undefined."""
    return Column(
        head,
        under="" if under else None,
        headed=under,
        shows=lambda row: "" if pd.isna(row[field]) else write(row[field]),
    )


def _interval(row: Mapping[str, Any]) -> str:
    return span(ratio, row["ci_low"], row["ci_high"], (1.0,) if row["significant"] else ())


def _explained(table: pd.DataFrame, scoring: bool, smallest_share: float, confidence_level: float) -> list[str]:
    rate = "the share of a category whose score is above the median of all scores" if scoring else "the share selected"
    lines = [
        f"The rate is {rate}. The impact ratio is to the highest rate of the categories compared; its interval holds "
        "for all pairs of a table together.",
        "Null hypothesis of each row: its rate equals the highest rate, so that the ratio is 1. p is adjusted for the "
        f"choice of the highest rate and for all rows of the table; significant is at most {1 - confidence_level:.4g}. "
        "Each table is a family of its own.",
        "SDs: the difference of the two rates in standard deviations (pooled). Short of pool: how many more would have "
        "been selected at the rate of all compared. Short of 4/5: how many more for an impact ratio of .8.",
        "Four fifths is a rule of thumb about the ratio seen, not a test: it ignores chance.",
    ]
    few = table[~table["compared"] & table["category"].notna()]
    if len(few):
        lines.append(
            f"Categories with less than {100 * smallest_share:g}% of the people whose category is known, or with one "
            "person, are shown and not compared."
        )
    if table["category"].isna().any():
        lines.append("Shares are of the people whose category is known; the others are counted as unknown.")
    return lines
