"""The report of a scan: which subgroups differ, what remains beside them, and what was not looked at."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from skfairtest._utils.text import enumerated, label, pluralize
from skfairtest.report.cells import number_text, records
from skfairtest.report.document import Block, Column, Heading, Items, Paragraph, Table
from skfairtest.report.pictures import subgroups_figure
from skfairtest.report.scan_record import OF_MEANS, PROMISES, ScanRecord, ScanSetup
from skfairtest.report.sentences import equals_p, number, p_text

#: Subgroups that the table shows, and lines of what was not looked at.
SHOWN, FEW = 20, 5


def scan_document(
    scan: ScanRecord, *, subgroups: pd.DataFrame, not_searched: pd.DataFrame, edges: Mapping[str, tuple[float, ...]]
) -> list[Block]:
    """Compose the report of a scan.

    Parameters
    ----------
    scan : ScanRecord
        What it found.
    subgroups, not_searched, edges
        Those of the scan.

    Returns
    -------
    list of Block
        The document, without a title.
    """
    return [
        *_found(scan),
        Heading("Null hypothesis", 3),
        Items((_null(scan),)),
        _table(scan.setup, subgroups),
        *_left_out(not_searched, edges),
    ]


def scan_section(scan: ScanRecord) -> list[Block]:
    """Compose what an audit's report says of a scan.

    Parameters
    ----------
    scan : ScanRecord
        What it found.

    Returns
    -------
    list of Block
        Its section, without a title.
    """
    return [
        *_found(scan),
        Paragraph(
            "This search has a guarantee of its own, apart from the comparisons of this audit: they do not share a "
            "level, and the verdict does not count it."
        ),
        Items((f"Null hypothesis of each subgroup: {_null(scan)}",), tone="notes"),
    ]


def _found(scan: ScanRecord) -> list[Block]:
    """Say which subgroups differ, and draw them."""
    setup, n, differ = scan.setup, len(scan.results), scan.n_significant
    names = enumerated([*map(label, setup.features + setup.contextual)])
    asked = f"{pluralize(scan.n_searched, 'subgroup')} of {names}"
    if not differ:
        said = f"No significant disparity was detected in {asked} (smallest adjusted {equals_p(scan.p_value)})."
        return [Paragraph(f"{said} This does not prove fairness.", "fine")]
    lead = f"Significant disparity: of {asked}, {differ:,} {'differs' if differ == 1 else 'differ'}"
    lead += f" (smallest adjusted {equals_p(scan.p_value)})."
    given, still = ("it", "is") if n == 1 else ("them", "are")
    if scan.remaining_p_value <= setup.sentences.alpha:
        lead += f" The {n:,} with the strongest evidence {still} reported; given {given}, others differ as well."
    elif n < differ:
        lead += (
            f" The {pluralize(n, 'description')} below {'explains' if n == 1 else 'explain'} all: given {given}, no "
            f"other subgroup differs (smallest adjusted {equals_p(scan.remaining_p_value)})."
        )
    return [Paragraph(lead, "concern"), Items(scan.sentences), subgroups_figure(setup.sentences, scan.frame)]


def _null(scan: ScanRecord) -> str:
    setup, whom = scan.setup, "among everyone else"
    if setup.contextual:
        whom = f"among the others with the same {enumerated([*map(label, setup.contextual)])}"
    inside = f", within every {label(setup.sentences.controls)}" if setup.sentences.controls else ""
    how = {"greater": "is not greater than", "less": "is not less than"}.get(
        setup.sentences.alternative, "is the same as"
    )
    metrics = enumerated([*map(label, setup.metrics)])
    promise = PROMISES[setup.guarantee].format(level=f"{100 * setup.sentences.alpha:g}%")
    if setup.sentences.descriptions:
        promise += f" {OF_MEANS}"
    asked = pluralize(scan.n_tested, "different hypothesis", "different hypotheses")
    return f"{metrics} in a subgroup {how} {whom}{inside}: {asked}. {promise}"


def _table(setup: ScanSetup, subgroups: pd.DataFrame) -> Table:
    several = len(setup.metrics) > 1
    names = [Column("metric", "name")] if several else []
    columns = (
        *names, Column("subgroup", "name"), *([Column("compared with", "name")] if setup.contextual else []),
        Column("people"), Column("value"), Column("others"), Column("difference"), Column("p"), Column("adjusted p"),
        Column("verdict", "mark"),
    )  # fmt: skip
    rows = []
    for row in records(subgroups.head(SHOWN)):
        write = number_text if setup.sentences.is_share(row["metric"]) else number
        values = [write(row[name]) for name in ("value_group", "value_other", "disparity")]
        verdict = ("reported" if row["reported"] else "significant") if row["concern"] else ""
        first = [row["metric"]] if several else []
        first += [row["subgroup"], *([row["compared_with"]] if setup.contextual else [])]
        ps = [p_text(row[name]) for name in ("p_value", "p_value_adjusted")]
        rows.append((*map(label, first), f"{row['n_group']:,}", *values, *ps, verdict))
    marked = frozenset(place for place, row in enumerate(rows) if row[-1])
    caption = f"Subgroups with the strongest evidence ({len(rows):,} of {len(subgroups):,} tested; subgroups_ has all)"
    return Table(columns, tuple(rows), caption, marked)


def _left_out(not_searched: pd.DataFrame, edges: Mapping[str, tuple[float, ...]]) -> list[Block]:
    lines = [
        f"{pluralize(int(rows['subgroups'].sum()), 'subgroup')}: {reason}"
        for reason, rows in not_searched.groupby("reason", sort=True)
    ]
    cut = [f"{label(name)}: {', '.join(number(edge) for edge in found)}" for name, found in sorted(edges.items())]
    blocks: list[Block] = []
    for title, several in (("Not looked at", lines), ("Where numbers were cut", cut)):
        if several:
            blocks += [Heading(title, 3), Items(tuple(several), few=FEW)]
    return blocks
