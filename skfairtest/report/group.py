"""The report of the test of one model by groups."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pandas as pd

from skfairtest._utils.text import label, pluralize
from skfairtest.report.cells import (
    SHOWN,
    by_p_value,
    comparisons_table,
    disagreement,
    excluded_table,
    pooled_first,
    records,
    values_table,
)
from skfairtest.report.document import Block, Column, Heading, Items, Paragraph, Table
from skfairtest.report.homogeneity import homogeneity_blocks
from skfairtest.report.models import null_of_models, verdict_on_models
from skfairtest.report.orientation import oriented
from skfairtest.report.sentences import (
    ADJUSTED,
    Setup,
    disparity_writer,
    finding_sentence,
    null_sentence,
    p_text,
    verdict_sentence,
)

__all__ = ["group_document", "notes", "sampling_error"]

GROUPS_ADJUSTED = ADJUSTED | {
    "shaffer": "Holm, with Shaffer's factors for all pairs of groups",
    "max_t": "step-down max-T (rates: exact only if all groups are alike; other metrics: from bootstrap samples)",
    "fdr_bh": "Benjamini-Hochberg (false-discovery rate)",
    "fdr_by": "Benjamini-Yekutieli (false-discovery rate)",
}


def group_document(
    setup: Setup,
    *,
    by_group: pd.DataFrame,
    comparisons: pd.DataFrame,
    excluded: pd.DataFrame,
    homogeneity: pd.DataFrame,
    standardized: pd.DataFrame,
    p_value: float,
    concern: bool,
    p_value_interval: tuple[float, float],
    leading: int,
    equivalence_interval: tuple[float, float] | None = None,
    bounds: tuple[tuple[float, float], tuple[float, float]] | None = None,
) -> list[Block]:
    """Compose the report of a test: the verdict, the leading finding, the null hypotheses, and the tables.

    Parameters
    ----------
    setup : Setup
        How the test was set up.
    by_group : DataFrame
        Values by group, flat, as `values_table` takes them.
    comparisons, excluded, homogeneity, standardized : DataFrame
        Those of the test.
    p_value, concern, p_value_interval, equivalence_interval
        Those of the test.
    leading : int
        The row of the comparison that sets the p-value.
    bounds : pair of (float, float), optional
        Of that comparison's disparity, and of the p-value, over all groups to which people of unknown group may belong.

    Returns
    -------
    list of Block
        The document, without a title.
    """
    tested, comparisons = comparisons, oriented(setup, comparisons)
    ordered = pooled_first(by_p_value(setup, comparisons))
    n_main = int(ordered["stratum"].isna().sum())
    lead: Any = comparisons.iloc[leading]
    if setup.models:
        verdict = verdict_on_models(setup, concern=concern, p_value=p_value, n_comparisons=n_main)
    else:
        verdict = verdict_sentence(
            setup,
            concern=concern,
            p_value=p_value,
            n_comparisons=n_main,
            no_intervals=bool(comparisons["ci_low"].isna().all()),
        )
    hypothesis = null_of_models if setup.models else null_sentence
    said = [finding_sentence(setup, lead)]
    if equivalence_interval is not None:
        write, _ = disparity_writer(setup, lead["metric"])
        ends = dict(zip(("ci_low", "ci_high"), equivalence_interval, strict=True))
        inverted = oriented(setup, tested.iloc[[leading]].assign(**ends)).iloc[0]
        low, high = (write(inverted[end]) for end in ends)
        level = f"{100 * (1 - 2 * setup.alpha):g}%"
        said.append(f"Its {level} interval, which the test of equivalence inverts, is {low} to {high}.")
    if bounds is not None:
        said.append(_bounds_sentence(setup, tested.iloc[[leading]], *bounds))
    said += sampling_error(p_value_interval)
    if len(ordered) > n_main:
        said.append(_strata_sentence(setup, ordered.iloc[n_main:]))
    table = comparisons_table(setup, ordered, "Comparisons", metrics=True)
    return [
        Paragraph(verdict, "concern" if concern else "fine"),
        Paragraph("\n".join(said)),
        Heading("Null hypotheses", 3),
        Items(tuple(hypothesis(setup, metric) for metric in dict.fromkeys(comparisons["metric"]))),
        *([values_table(setup, by_group)] if len(by_group) else []),
        replace(table, few=SHOWN),
        *homogeneity_blocks(setup, homogeneity, tested),
        *_standardized(setup, standardized, tested),
        *([excluded_table(excluded, "Left out")] if len(excluded) else []),
        Paragraph("\n".join(notes(setup, comparisons))),
    ]


def _standardized(setup: Setup, standardized: pd.DataFrame, tested: pd.DataFrame) -> list[Block]:
    """Show differences of means in standard deviations, each group beside the one it is compared with in the tables."""
    if not len(standardized):
        return []
    keys = ["metric", "group", "other", "stratum"]
    place = {key: row for row, key in enumerate(zip(*(tested[name] for name in keys), strict=True))}
    rows = tested.iloc[[place[key] for key in zip(*(standardized[name] for name in keys), strict=True)]]
    names = {"standardized_difference": "disparity", "ci_low": "ci_low", "ci_high": "ci_high"}
    shown = oriented(setup, rows.assign(**{new: standardized[old].to_numpy() for old, new in names.items()}))
    several, strata = shown["metric"].nunique() > 1, shown["stratum"].notna().any()
    columns = (
        *([Column("metric", "name")] if several else []), *([Column("stratum", "name")] if strata else []),
        Column("group", "name"), Column("compared with", "name"), Column("difference in SDs"), Column("interval"),
    )  # fmt: skip
    cells = tuple(
        (
            *([label(row["metric"])] if several else []), *([label(row["stratum"])] if strata else []),
            label(row["group"]), label(row["other"]), f"{row['disparity']:.2f}",
            f"{row['ci_low']:.2f} to {row['ci_high']:.2f}",
        )
        for row in records(shown)
    )  # fmt: skip
    caption = "Differences of means in pooled standard deviations (the tests are those of the means)"
    return [replace(Table(columns, cells, caption), few=SHOWN)]


def sampling_error(limits: tuple[float, float]) -> list[str]:
    """Say between which limits the p-value lies, if it was sampled."""
    if limits[0] == limits[1]:
        return []
    low, high = (p_text(bound) if bound else "0" for bound in limits)
    return [f"With infinitely many resamples, the p-value would lie between {low} and {high} (95% limits)."]


def _bounds_sentence(
    setup: Setup, tested: pd.DataFrame, disparity: tuple[float, float], p_value: tuple[float, float]
) -> str:
    """Say between which ends the disparity of one comparison and the p-value lie, whatever groups people are in."""
    row = oriented(setup, tested.assign(**dict(zip(("ci_low", "ci_high"), disparity, strict=True)))).iloc[0]
    write, _ = disparity_writer(setup, row["metric"])
    low, high = (write(row[end]) for end in ("ci_low", "ci_high"))
    ends = " and ".join(map(p_text, p_value))
    return (
        f"Whatever groups the people of unknown group are in, the disparity is {low} to {high}, and p between {ends}."
    )


def _strata_sentence(setup: Setup, strata: pd.DataFrame) -> str:
    """Say what single strata show, which the verdict on all of them together does not count."""
    concerns = strata[strata["concern"]]
    total = pluralize(len(strata), "comparison")
    if not len(concerns):
        return f"Within single levels of {label(setup.controls)} none of {total} shows a significant disparity."
    verb = "shows" if len(concerns) == 1 else "show"
    first = finding_sentence(setup, records(concerns)[0])
    found = f"{len(concerns)} of {total} {verb} a significant disparity"
    return f"Within single levels of {label(setup.controls)} {found}: {first}"


def notes(setup: Setup, comparisons: pd.DataFrame) -> Iterator[str]:
    """Explain the columns: what intervals are, how p-values were adjusted, and where the two disagree."""
    intervals = ""
    if comparisons["ci_low"].notna().any():
        simultaneous = setup.adjust in ("holm", "shaffer", "bonferroni", "max_t")
        together = "for all comparisons together" if simultaneous else "for one comparison at a time"
        intervals = f" Intervals of disparities are {100 * (1 - setup.alpha):g}%, {together}."
    yield f"p-values are adjusted for the number of comparisons: {GROUPS_ADJUSTED[setup.adjust]}.{intervals}"
    yield from (said for said in (setup.people, setup.unknown) if said)
    if setup.controls:
        yield (
            f"Comparisons averaged over {label(setup.controls)} and those within its single levels are two families, "
            "each adjusted by itself; the former decide."
        )
    yield f"Null distribution of the statistics: {', '.join(sorted(set(comparisons['method'])))}."
    yield from disagreement(setup, comparisons)
