"""Is a disparity the same in every stratum: sentences and a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from skfairtest._utils.text import enumerated, label, pluralize
from skfairtest.report.cells import EVERYBODY, records
from skfairtest.report.columns import ADJUSTED_P, COMPARED_WITH, GROUP, METRIC, P
from skfairtest.report.document import Block, Column, Heading, Items, Paragraph, Table
from skfairtest.report.sentences import Setup, equals_p, metric_title, number

#: Sentences that do not fold up, rows of a short table, and strata of one sign that are named.
FEW, ROWS, NAMED = 3, 10, 6


def homogeneity_blocks(setup: Setup, homogeneity: pd.DataFrame, comparisons: pd.DataFrame) -> list[Block]:
    """Compose the section; nothing where there are no strata.

    Parameters
    ----------
    setup : Setup
        How the test was set up.
    homogeneity, comparisons : DataFrame
        Those of the test.

    Returns
    -------
    list of Block
        A heading, what is not the same everywhere, and the table.
    """
    if not len(homogeneity):
        return []
    rows = records(homogeneity.sort_values("p_value", kind="stable"))
    said = homogeneity_sentences(setup, homogeneity, comparisons)
    return [
        Heading(f"Is the disparity the same in every {label(setup.controls)}?", 3),
        Paragraph(said[0]),
        *([Items(tuple(said[1:]), few=FEW)] if said[1:] else []),
        _table(setup, rows),
    ]


def homogeneity_sentences(setup: Setup, homogeneity: pd.DataFrame, comparisons: pd.DataFrame) -> list[str]:
    """Say how many disparities are not the same in every stratum, then what each of these hides.

    Parameters
    ----------
    setup : Setup
        How the test was set up.
    homogeneity, comparisons : DataFrame
        Those of the test.

    Returns
    -------
    list of str
        None where there are no strata.
    """
    if not len(homogeneity):
        return []
    rows = records(homogeneity.sort_values("p_value", kind="stable"))
    found = [row for row in rows if row["p_value_adjusted"] <= setup.alpha]
    asked = pluralize(len(rows), "disparity", "disparities")
    smallest = equals_p(min(row["p_value_adjusted"] for row in rows))
    if not found:
        which = "the disparity differs" if len(rows) == 1 else f"any of {asked} differs"
        return [
            f"It was not detected that {which} over {label(setup.controls)} ({smallest}). This does not prove that "
            "strata are alike."
        ]
    which = "The disparity differs" if len(rows) == 1 else f"{len(found):,} of {asked} differ"
    which += "s" if len(found) == 1 < len(rows) else ""
    lead = f"{which} over {label(setup.controls)} by more than chance explains ({smallest})."
    return [lead, *(_sentence(setup, row, comparisons) for row in found)]


def _sentence(setup: Setup, row: Mapping[str, Any], comparisons: pd.DataFrame) -> str:
    """Say where a disparity is farthest from what strata share, and whether its sign differs among them."""
    group, other = _who(setup, row)
    far, size = label(row["stratum"]), abs(row["distance"])
    where = (
        f"{metric_title(row['metric'])}, {group} and {other}: {far} is farthest from the disparity that all would "
        f"share, by {size:.1f} standard errors ({equals_p(row['p_value_adjusted'])})."
    )
    above, below = _signs(setup, row, comparisons)
    if not (above and below):
        return where
    pooled = "average" if setup.disparity == "difference" else "pooled number"
    return (
        f"{where} The {pooled} over {label(setup.controls)} hides opposite signs: the observed value of {group} is the "
        f"higher one in {_named(above)}, and the lower one in {_named(below)}."
    )


def _signs(setup: Setup, row: Mapping[str, Any], comparisons: pd.DataFrame) -> tuple[list[str], list[str]]:
    """Return the strata in which the group's value is the higher one, and those in which it is the lower one."""
    same = [
        one
        for one in records(comparisons)
        if one["stratum"] is not None
        and (one["metric"], one["group"], one["other"]) == (row["metric"], row["group"], row["other"])
    ]
    higher, lower = (
        [label(one["stratum"]) for one in same if sign * (one["value_group"] - one["value_other"]) > 0]
        for sign in (1, -1)
    )
    return higher, lower


def _named(strata: Sequence[str]) -> str:
    if len(strata) <= NAMED:
        return enumerated(list(strata))
    return f"{enumerated([*strata[:NAMED], f'{len(strata) - NAMED:,} more'])}"


def _who(setup: Setup, row: Mapping[str, Any]) -> tuple[str, str]:
    return label(row["group"]), EVERYBODY.get(setup.compare, label(row["other"]))


def _table(setup: Setup, rows: list[dict[str, Any]]) -> Table:
    columns = (
        len({row["metric"] for row in rows}) > 1 and METRIC, GROUP,
        replace(COMPARED_WITH, shows=lambda row: _who(setup, row)[1]),
        Column("shared disparity", shows=lambda row: number(row["common"])),
        Column("statistic", shows=lambda row: f"{row['statistic']:.4g}"),
        Column("df", shows=lambda row: f"{row['df']}"), P, ADJUSTED_P, Column("farthest", "name", shows="stratum"),
        Column("standard errors", shows=lambda row: f"{row['distance']:.1f}"),
    )  # fmt: skip
    methods = enumerated(sorted({str(row["method"]) for row in rows}))
    shown = f"; the first {ROWS} (homogeneity_ has all)" if len(rows) > ROWS else ""
    caption = f"Homogeneity over {label(setup.controls)} ({methods}){shown}"
    return Table.of(columns, rows[:ROWS], caption, lambda row: row["p_value_adjusted"] <= setup.alpha)
