"""The report of a scan: which subgroups differ, what remains beside them, and what was not looked at."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from skfairtest._utils.text import enumerated, label, pluralize
from skfairtest.report.cells import records
from skfairtest.report.columns import ADJUSTED_P, NAME, P, numbers
from skfairtest.report.document import Block, Column, Items, Paragraph, Table
from skfairtest.report.pictures import forest_figure
from skfairtest.report.sentences import equals_p, number
from skfairtest.report.skeleton import listed, skeleton
from skfairtest.subgroups.record import OF_MEANS, PROMISES, ScanRecord, ScanSetup

#: Subgroups that the table shows, and lines of what was not looked at.
SHOWN, FEW = 20, 5


def scan_document(test: Any) -> list[Block]:
    """Compose the report of a fitted `SubgroupScan`."""
    scan: ScanRecord = test.record_
    left_out = [
        f"{pluralize(int(rows['subgroups'].sum()), 'subgroup')}: {reason}"
        for reason, rows in test.not_searched_.groupby("reason", sort=True)
    ]
    cut = [f"{label(name)}: {', '.join(map(number, edges))}" for name, edges in sorted(test.edges_.items())]
    verdict, *found = _found(scan)
    return skeleton(
        verdict,
        found=found,
        null=[_null(scan)],
        tables=[
            _table(scan.setup, test.subgroups_),
            *listed("Not looked at", left_out, FEW),
            *listed("Where numbers were cut", cut, FEW),
        ],
    )


def scan_section(scan: ScanRecord) -> list[Block]:
    """Compose what an audit's report says of a scan, without a title."""
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
    figures = forest_figure(
        setup.sentences,
        scan.frame.assign(concern=True),
        lambda row: str(row["subgroup"]),
        "Subgroups that differ",
        "subgroup reported, with its disparity and interval",
        "The subgroups reported, the strongest evidence first, each minus those it is compared with. Lines are "
        "intervals that hold for all subgroups tested; arrows mark intervals that extend beyond the plot. The grey "
        "line is equality.",
    )
    return [Paragraph(lead, "concern"), Items(scan.sentences), *figures]


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


def _verdict(row: Mapping[str, Any]) -> str:
    return ("reported" if row["reported"] else "significant") if row["concern"] else ""


def _table(setup: ScanSetup, subgroups: pd.DataFrame) -> Table:
    columns = (
        len(setup.metrics) > 1 and NAME, Column("subgroup", "name", shows="subgroup"),
        bool(setup.contextual) and Column("compared with", "name", shows="compared_with"),
        Column("people", shows="n_group"),
        *numbers(setup.sentences, value="value_group", others="value_other", difference="disparity"),
        P, ADJUSTED_P, Column("verdict", "mark", shows=_verdict),
    )  # fmt: skip
    rows = records(subgroups.head(SHOWN))
    caption = f"Subgroups with the strongest evidence ({len(rows):,} of {len(subgroups):,} tested; subgroups_ has all)"
    return Table.of(columns, rows, caption)
