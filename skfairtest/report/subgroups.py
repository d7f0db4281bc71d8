"""The report of a scan: which subgroups differ, what remains beside them, and what was not looked at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from skfairtest._utils.text import enumerated, label, pluralize
from skfairtest.report.cells import number_text, records
from skfairtest.report.document import Block, Column, Heading, Items, Paragraph, Table
from skfairtest.report.pictures import subgroups_figure
from skfairtest.report.sentences import Setup, equals_p, number, p_text

#: What each guarantee promises; {level} is the level of the test.
PROMISES = {
    "familywise": (
        "The probability that any of these hypotheses is rejected although it is true is at most {level}, whichever "
        "are true (Holm's procedure, in which a hypothesis counts only where its p-value could have been so small)."
    ),
    "split": (
        "Subgroups were chosen on a random half of the people and tested on the other half: the probability that any "
        "of those tested is rejected although its hypothesis is true is at most {level} (Holm)."
    ),
    "fdr": (
        "Of the hypotheses that are rejected, the expected share of true ones is at most {level}, whatever their "
        "dependence (Benjamini and Yekutieli). This holds for all that are rejected, not for those that are reported."
    ),
    "fdr_bh": (
        "Of the hypotheses that are rejected, the expected share of true ones is at most {level} under positive "
        "dependence (Benjamini and Hochberg). This holds for all that are rejected, not for those that are reported."
    ),
}
#: Subgroups that the table shows, and lines of what was not looked at.
SHOWN, FEW = 20, 5


@dataclass(frozen=True)
class ScanSetup:
    """What sentences need to know about how a scan was set up.

    Parameters
    ----------
    sentences : Setup
        How the sentence of a subgroup is written.
    metrics, features, contextual : tuple of str
        Names of the metrics, of the features that tell people apart, and of those of contexts.
    max_depth, min_group_size : int
        As in the scan.
    guarantee : str
        As in the scan.
    """

    sentences: Setup
    metrics: tuple[str, ...]
    features: tuple[str, ...]
    contextual: tuple[str, ...]
    max_depth: int
    min_group_size: int
    guarantee: str


def scan_document(
    setup: ScanSetup,
    *,
    results: pd.DataFrame,
    subgroups: pd.DataFrame,
    not_searched: pd.DataFrame,
    p_value: float,
    remaining: float,
    n_searched: int,
    n_tested: int,
    edges: Mapping[str, tuple[float, ...]],
) -> list[Block]:
    """Compose the report of a scan.

    Parameters
    ----------
    setup : ScanSetup
        How the scan was set up.
    results, subgroups, not_searched, p_value, remaining, n_searched, n_tested, edges
        Those of the scan.

    Returns
    -------
    list of Block
        The document, without a title.
    """
    drawing: list[Block] = []
    if len(results):
        drawing = [Items(tuple(results["sentence"])), subgroups_figure(setup.sentences, results)]
    return [
        *_verdict(setup, results, subgroups, p_value, remaining, n_searched),
        *drawing,
        Heading("Null hypothesis", 3),
        Items((_null(setup, n_tested),)),
        _table(setup, subgroups),
        *_left_out(not_searched, edges),
    ]


def _verdict(
    setup: ScanSetup, results: pd.DataFrame, subgroups: pd.DataFrame, p_value: float, remaining: float, n_searched: int
) -> list[Block]:
    asked = f"{pluralize(n_searched, 'subgroup')} of {enumerated([*map(label, setup.features + setup.contextual)])}"
    differ = int(subgroups["concern"].sum())
    if not differ:
        said = f"No significant disparity was detected in {asked} (smallest adjusted {equals_p(p_value)})."
        return [Paragraph(f"{said} This does not prove fairness.", "fine")]
    n = len(results)
    lead = f"Significant disparity: of {asked}, {differ:,} {'differs' if differ == 1 else 'differ'}"
    lead += f" (smallest adjusted {equals_p(p_value)})."
    given, still = ("it", "is") if n == 1 else ("them", "are")
    if remaining <= setup.sentences.alpha:
        lead += f" The {n:,} with the strongest evidence {still} reported; given {given}, others differ as well."
    elif n < differ:
        lead += (
            f" The {pluralize(n, 'description')} below {'explains' if n == 1 else 'explain'} all: given {given}, no "
            f"other subgroup differs (smallest adjusted {equals_p(remaining)})."
        )
    return [Paragraph(lead, "concern")]


def _null(setup: ScanSetup, n_tested: int) -> str:
    whom = "among everyone else"
    if setup.contextual:
        whom = f"among the others with the same {enumerated([*map(label, setup.contextual)])}"
    inside = f", within every {label(setup.sentences.controls)}" if setup.sentences.controls else ""
    how = {"greater": "is not greater than", "less": "is not less than"}.get(
        setup.sentences.alternative, "is the same as"
    )
    metrics = enumerated([*map(label, setup.metrics)])
    promise = PROMISES[setup.guarantee].format(level=f"{100 * setup.sentences.alpha:g} %")
    asked = pluralize(n_tested, "different hypothesis", "different hypotheses")
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
