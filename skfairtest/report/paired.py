"""The report of two models: both disparities, their difference with its interval, which of them is smaller."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from skfairtest._utils.text import enumerated, label
from skfairtest.report.cells import SHOWN, excluded_table, records
from skfairtest.report.document import Block, Column, Heading, Items, Paragraph, Table
from skfairtest.report.group import notes, sampling_error
from skfairtest.report.homogeneity import homogeneity_blocks
from skfairtest.report.models import null_of_models
from skfairtest.report.paired_record import PairedRecord
from skfairtest.report.pictures import models_figure
from skfairtest.report.sentences import Setup, equals_p, metric_title, p_text

__all__ = ["models_document", "paired_document", "paired_section"]

#: Comparisons that are told in sentences, and in a report that is short.
TOLD = 3


def _blocks(found: PairedRecord) -> Iterator[Block]:
    """Compose what a report says of two models: the verdict, sentences, the picture and the table.

    Parameters
    ----------
    found : PairedRecord
        What was found.

    Yields
    ------
    Block
        One block after the other, without a title.
    """
    frame = found.frame
    yield Paragraph(found.verdict, "concern" if found.concern else "fine")
    several = frame["feature"].nunique() > 1
    told = frame[frame["concern"]] if frame["concern"].any() else frame.head(TOLD)
    shown = records(told)
    yield Items(tuple(_with_feature(found, row, several) for row in shown), few=TOLD)
    if found.kind != "one group":
        yield models_figure(found.setup, frame, found.names, found.shares, found.kind)
    yield _table(found, frame, several)
    if found.not_compared:
        yield Items(found.not_compared, few=TOLD)


def paired_document(
    found: PairedRecord,
    setup: Setup,
    *,
    by_group: pd.DataFrame,
    by_model: pd.DataFrame,
    comparisons: pd.DataFrame,
    excluded: pd.DataFrame,
    homogeneity: pd.DataFrame,
    p_value_interval: tuple[float, float],
) -> list[Block]:
    """Compose the report of a test of two models.

    Parameters
    ----------
    found : PairedRecord
        What it found.
    setup : Setup
        How the test was set up.
    by_group, by_model : DataFrame
        Changes and values of all groups, flat.
    comparisons, excluded, homogeneity, p_value_interval
        Those of the test.

    Returns
    -------
    list of Block
        The document, without a title.
    """
    error = sampling_error(p_value_interval)
    return [
        *_blocks(found),
        *map(Paragraph, error),
        Heading("Null hypotheses", 3),
        Items(tuple(found.named(null_of_models(setup, metric)) for metric in dict.fromkeys(comparisons["metric"]))),
        *([_values(found, setup, by_group, by_model)] if len(by_model) else []),
        *homogeneity_blocks(setup, homogeneity, comparisons),
        *([excluded_table(excluded, "Left out")] if len(excluded) else []),
        Paragraph("\n".join(notes(setup, comparisons))),
    ]


def paired_section(found: PairedRecord) -> list[Block]:
    """Compose what an audit's report says of the model in production.

    Parameters
    ----------
    found : PairedRecord
        What was found.

    Returns
    -------
    list of Block
        The section, without a title.
    """
    metrics = dict.fromkeys(row["metric"] for row in found.results)
    features = enumerated([*map(label, dict.fromkeys(row["feature"] for row in found.results))])
    notes = [
        f"{metric}: the disparity by {features} is the same under both models; their difference is tested, whatever "
        "each of them is"
        for metric in map(label, metrics)
    ]
    return [
        *_blocks(found),
        Paragraph(
            "Both models judged the same people. This comparison has a level of its own: p-values are adjusted by "
            "Holm's method for its comparisons together, and the verdict of the audit does not count it."
        ),
        Items(tuple(f"Null hypothesis: {said}." for said in notes), tone="notes"),
    ]


def models_document(
    found: Mapping[str, PairedRecord],
    results: pd.DataFrame,
    baseline: str,
    *,
    level: float,
    fairer: bool,
    concern: bool,
    documents: Mapping[str, list[Block]],
) -> list[Block]:
    """Compose the report of several candidates against one baseline.

    Parameters
    ----------
    found : mapping of str to PairedRecord
        What was found about each candidate.
    results : DataFrame
        A row for each candidate: ``difference``, ``p_value_adjusted`` and ``significant``.
    baseline : str
        The model that they are compared with.
    level : float
        Of all intervals together.
    fairer, concern : bool
        Whether each was to be certified, and whether a candidate differs, or was not certified.
    documents : mapping of str to list of Block
        The report of each candidate by itself.

    Returns
    -------
    list of Block
        The document, without a title.
    """
    if len(found) == 1:
        return [Heading("Verdict"), *next(iter(documents.values()))]
    names = [str(name) for name in results.index[results["significant"]]]
    told = enumerated([*map(label, names)]) if names else "none"
    asked, best = f"Of {len(results):,} candidates", "smallest" if not fairer else "largest"
    p = equals_p(float(results["p_value_adjusted"].agg("max" if fairer else "min")))
    if fairer:
        said = f"{asked}, {told} {'is' if len(names) < 2 else 'are'} certified, in comparison with {label(baseline)}"
    else:
        differ = "differs" if len(names) < 2 else "differ"
        said = f"{asked}, {told} {differ} significantly from {label(baseline)} in a disparity"
    rows = []
    for name, row in zip(map(str, results.index), records(results), strict=True):
        gap, unit = found[name].writer(row["metric"])
        level_of, _ = found[name].writer(row["metric"], level=found[name].kind == "one group")
        interval = _span(gap, row["ci_low"], row["ci_high"], sizes=fairer)
        whom = f"{label(row['group'])} and {label(row['other'])}"
        mark = ("certified" if fairer else "significant") if row["significant"] else ""
        numbers = [level_of(row["disparity_a"]), level_of(row["disparity_b"]), gap(row["difference"]), interval]
        metric = f"{metric_title(row['metric'])}{' (points)' if unit else ''}"
        rows.append((label(name), label(metric), whom, *numbers, p_text(row["p_value_adjusted"]), mark))
    columns = (
        Column("candidate", "name"), Column("metric", "name"), Column("groups", "name"),
        Column(label(baseline), named=True), Column("candidate's"), Column("difference"),
        Column("at most" if fairer else "interval"), Column("adjusted p"), Column("verdict", "mark"),
    )  # fmt: skip
    marked = frozenset(np.flatnonzero(results["significant"]).tolist()) if not fairer else frozenset()
    note = (
        f"Candidates are judged by Holm's method over all of them, at a level of {100 * (1 - level):.3g}%. What "
        f"follows about single comparisons of a candidate, and intervals, is at this level divided by {len(found)}, so "
        "that it holds for all candidates together. To choose a candidate by these people, and to test it, takes "
        "other people."
    )
    return [
        Heading("Verdict"),
        Paragraph(f"{said} ({best} adjusted {p}).", "concern" if concern else "fine"),
        Table(columns, tuple(rows), "The strongest evidence about each candidate", marked),
        Paragraph(note),
        *(block for name, blocks in documents.items() for block in (Heading(label(name)), *blocks)),
    ]


def _values(found: PairedRecord, setup: Setup, by_group: pd.DataFrame, by_model: pd.DataFrame) -> Table:
    """Write every group's values under both models, and their change with its interval."""
    a, b = (label(name) for name in found.names)
    strata = bool(setup.controls)
    columns = [
        Column("metric", "name"), Column("group", "name"),
        *([Column(label(setup.controls), "name", named=True)] if strata else []), Column("people"),
        Column(a, named=True), Column(b, named=True), Column("change"), Column("interval"), Column("n"),
    ]  # fmt: skip
    changes = {(row["metric"], row["stratum"], row["group"]): row for row in records(by_group)}
    rows = []
    for row in records(by_model):
        level, _ = found.writer(row["metric"], level=True)
        gap, unit = found.writer(row["metric"])
        change = changes.get((row["metric"], row["stratum"], row["group"]))
        cells = ["", "", ""]
        if change is not None:
            cells = [gap(change["value"]), _span(gap, change["ci_low"], change["ci_high"], sizes=False)]
            cells.append(f"{change['n_effective']:,}{', few' if change['small'] else ''}")
        named = f"{metric_title(row['metric'])}{' (change in points)' if unit else ''}"
        names = [named, row["group"], *([row["stratum"]] if strata else [])]
        rows.append((*map(label, names), f"{row['n']:,}", level(row["value_a"]), level(row["value_b"]), *cells))
    level_of = f"{100 * (1 - setup.alpha):g}%"
    caption = f"Values under both models; changes with {level_of} intervals, and the people they rest on (n)"
    return Table(tuple(columns), tuple(rows), caption, few=SHOWN)


def _with_feature(found: PairedRecord, row: Mapping[str, Any], several: bool) -> str:
    said = found.sentence(row)
    return f"By {label(row['feature'])}: {said[0].lower()}{said[1:]}" if several else said


def _table(found: PairedRecord, frame: pd.DataFrame, several: bool) -> Table:
    one_group, sizes = found.kind == "one group", found.kind == "sizes"
    strata = bool((frame["stratum"] != "").any())
    a, b = (label(name) for name in found.names)
    columns = [
        Column("metric", "name"), *([Column("feature", "name")] if several else []), Column("group", "name"),
        *([] if one_group else [Column("compared with", "name")]), *([Column("within", "name")] if strata else []),
        Column(a, named=True), Column(b, named=True), Column("difference"), Column("at most" if sizes else "interval"),
        Column("p"), Column("adjusted p"), Column("certified" if sizes else "smaller", "mark"),
    ]  # fmt: skip
    rows = []
    for row in records(frame):
        level, _ = found.writer(row["metric"], level=one_group)
        gap, unit = found.writer(row["metric"])
        interval = _span(gap, row["ci_low"], row["ci_high"], sizes=sizes)
        named = f"{metric_title(row['metric'])}{' (points)' if unit and not one_group else ''}"
        cells = [named, *([row["feature"]] if several else []), row["group"]]
        cells += [] if one_group else [row["other"]]
        cells += [row["stratum"]] if strata else []
        mark = ("" if row["concern"] else "certified") if sizes else row["smaller"]
        mark = mark or ("other direction" if row["concern"] and not sizes else "")
        written = [level(row["value_a"]), level(row["value_b"]), gap(row["difference"]), interval]
        ps = [p_text(row[name]) for name in ("p_value", "p_value_adjusted")]
        rows.append(tuple(map(label, [*cells, *written, *ps, mark])))
    marked = frozenset(np.flatnonzero(frame["concern"]).tolist()) if not sizes else frozenset()
    caption = "Sizes of disparities under both models" if sizes else "Disparities under both models"
    caption = f"The rates of both models among {label(frame['group'].iloc[0])}" if one_group else caption
    return Table(tuple(columns), tuple(rows), caption, marked, few=max(SHOWN, int(frame["concern"].sum())))


def _span(write: Any, low: float, high: float, *, sizes: bool) -> str:
    if math.isnan(high):
        return "undefined"
    return str(write(high)) if sizes else f"{write(low)} to {write(high)}"
