"""The table of adverse impact as a page: what the rule of four fifths says of each category, and what the test says."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import pandas as pd

from skfairtest._utils.text import enumerated, label, pluralize
from skfairtest.report.cells import records
from skfairtest.report.report import Bar, Cell, Column, Report, Table
from skfairtest.report.sentences import p_text, percent, ratio, span

#: Categories that a sentence names.
NAMED = 5
UNFAVORABLE = (
    "Selected are those who are predicted positive, which is not favorable here: the highest rate is that of the "
    "category that is worst off, and the rule of four fifths is meant for favorable decisions."
)


def impact_reading(row: Mapping[str, Any]) -> str:
    """Say what a row shows: the rule of four fifths, then the test.

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


def impact_report(
    table: pd.DataFrame,
    *,
    title: str,
    about: str,
    scoring: bool = False,
    smallest_share: float = 0.02,
    confidence_level: float = 0.95,
    not_compared: Sequence[str] = (),
) -> Report:
    """Report an impact table."""
    compared = _compared(table)
    n, found = len(compared), int(compared["significant"].sum())
    total = f"{pluralize(n, 'comparison')} with the highest rate compared"
    verdict = f"No significant disparity was detected in {total}."
    if found:
        differ = f"{found:,} {'differs' if found == 1 else 'differ'} by more than chance explains"
        verdict = f"Significant disparity: of {total}, {differ}."
    verdict = f"{verdict} {next(below_sentences(table))}" if n else "No category can be compared with the highest rate."
    return Report(
        title=title,
        headed=True,
        verdict=verdict if found or not n else f"{verdict} This does not prove fairness.",
        concern=found > 0 if n else None,
        remarks=(*_few(table), about),
        tables=tuple(_tables(table, scoring, confidence_level)),
        notes=(*not_compared, *_explained(table, scoring, smallest_share, confidence_level)),
    )


def _compared(table: pd.DataFrame) -> pd.DataFrame:
    return table[table["compared"] & ~table["highest"]]


def below_sentences(table: pd.DataFrame) -> Iterator[str]:
    """Count the impact ratios below .8, and name the lowest and the categories with too few people."""
    compared = _compared(table)
    n, below = len(compared), int(compared["below_four_fifths"].astype(bool).sum())
    if n:
        many = f"{below or 'None'} of {n:,} impact ratios {'is' if below < 2 else 'are'} below .8; the lowest is"
        many = many if n > 1 else f"The impact ratio is{'' if below else ' not'} below .8:"
        (lowest,) = records(compared.nsmallest(1, "ratio"))
        yield f"{many} {lowest['ratio']:.3f}, of {label(lowest['category'])} ({label(lowest['feature'])})."
    yield from _few(table)


def _few(table: pd.DataFrame) -> Iterator[str]:
    top = table[table["highest"]].set_index("feature")["rate"].to_dict()
    few = [
        f"{label(row['category'])} ({pluralize(row['n'], 'person', 'people')}, "
        f"{row['rate'] / top[row['feature']]:.3f} times the highest rate compared)"
        for row in records(table[~table["compared"] & table["category"].notna() & (table["n"] > 0)])
        if row["feature"] in top
    ]
    if few:
        yield f"Too few people to compare: {enumerated(few, most=NAMED)}."


def _tables(table: pd.DataFrame, scoring: bool, confidence_level: float) -> Iterator[Table]:
    """Yield a table for each feature; bars are rates, with a line at four fifths of the highest."""
    for feature, part in table.groupby("feature", sort=False):
        rows = records(part.assign(significant=part["significant"].fillna(False)))
        top = max((row["rate"] for row in rows if row["highest"]), default=math.nan)
        largest = max((row["rate"] for row in rows if not pd.isna(row["rate"])), default=0.0) or 1.0
        columns = (
            Column(
                label(feature), "name", named=True,
                shows=lambda row: "unknown" if row["category"] is None else label(row["category"]),
            ),
            Column("people", shows="n"),
            _number("share", "share", percent, under=True),
            Column("high scores" if scoring else "selected", shows="selected"),
            Column("rate", under="", shows=partial(_rate, top=top, largest=largest)),
            _number("impact ratio", "ratio", "{:.3f}".format),
            Column(
                f"{100 * confidence_level:g}% interval", under="",
                shows=lambda row: span(ratio, row["ci_low"], row["ci_high"], (1.0,) if row["significant"] else ()),
            ),
            Column("reading", "word", shows=impact_reading),
            _number("adjusted p", "p_value_adjusted", p_text),
            _number("SDs", "standard_deviations", "{:.2f}".format, under=True),
            _number("short of pool", "shortfall_pool", "{:,.1f}".format),
            _number("short of 4/5", "to_four_fifths", "{:,}".format, under=True),
        )  # fmt: skip
        note = f"Bars are rates; the line is four fifths of the highest, {percent(0.8 * top)}."
        yield Table.of(columns, rows, f"By {label(feature)}", marks="significant", notes=(note,))


def _rate(row: Mapping[str, Any], top: float, largest: float) -> Cell:
    end, line = (round(100 * rate / largest, 2) for rate in (row["rate"], 0.8 * top))
    kind = "rate few" if not row["compared"] else "rate significant" if row["significant"] else "rate"
    return Cell(percent(row["rate"]), bar=None if math.isnan(end) else Bar(0.0, end, end, line, kind))


def _number(head: str, field: str, write: Callable[[Any], str], *, under: bool = False) -> Column:
    return Column(head, under="" if under else None, shows=lambda row: "" if pd.isna(row[field]) else write(row[field]))


def _explained(table: pd.DataFrame, scoring: bool, smallest_share: float, confidence_level: float) -> list[str]:
    rate = "the share of a category whose score is above the median of all scores" if scoring else "the share selected"
    few = (~table["compared"] & table["category"].notna()).any()
    lines = {
        f"The rate is {rate}; the impact ratio is to the highest rate of the categories compared. Intervals hold for "
        "all pairs of a table together.": True,
        "Null hypothesis of each row: its rate equals the highest rate. p is adjusted for the choice of the highest "
        f"rate and for all rows of the table; significant is at most {1 - confidence_level:.4g}.": True,
        "SDs: the difference of the two rates in standard deviations (pooled). Short of pool: how many more would have "
        "been selected at the rate of all compared. Short of 4/5: how many more for an impact ratio of .8.": True,
        "Four fifths is a rule of thumb about the ratio seen, not a test: it ignores chance.": True,
        f"Categories with one person, or less than {100 * smallest_share:g}% of the known, are not compared.": few,
        "Shares are of the people whose category is known; the others are counted as unknown.": (
            table["category"].isna().any()
        ),
    }
    return [line for line, holds in lines.items() if holds]
