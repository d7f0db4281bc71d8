"""The parts of a report that several kinds of test have.

The skeleton of a report, which every kind of test fills in.

Every kind says the same things in the same order: the verdict, what was found (sentences and the figure), the null
hypothesis, the tables, what was left out, and notes. A kind has a module ``report`` in its own folder, with a function
that takes the fitted test and fills the skeleton in. Its tables are lists of declared columns (`document.Column`: a
heading, what it shows of a row, how it is laid out); those that kinds share stand in `cells`. Its figures are data
(`plots`), which pages and displays draw. How a document looks is none of its business: that is for the writers.

Drawings of estimates with their intervals, from frames: rows on one scale, those of a metric together.

Is a disparity the same in every stratum: sentences and a table.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from skfairtest._utils.text import enumerated, label, pluralize
from skfairtest.report import cells
from skfairtest.report.document import Block, Column, Figure, Heading, Items, Paragraph, Table
from skfairtest.report.plots import Forest, Panel, Rows, Scale, joined
from skfairtest.report.sentences import Setup, equals_p, lost_metrics, metric_title, not_tested, number, p_text


def skeleton(
    verdict: Block,
    *,
    found: Iterable[Block] = (),
    null: Sequence[str],
    heading: str = "Null hypothesis",
    tables: Iterable[Block] = (),
    excluded: pd.DataFrame | None = None,
    notes: Iterable[str] = (),
) -> list[Block]:
    """Compose the report of a test.

    Parameters
    ----------
    verdict : Block
        The first sentence.
    found : iterable of Block
        What was found: further sentences, and the figure.
    null : sequence of str
        The null hypotheses.
    heading : str
        What stands above them.
    tables : iterable of Block
        The tables, with what is said of them.
    excluded : DataFrame, optional
        What was left out, and why.
    notes : iterable of str
        What explains the tables.

    Returns
    -------
    list of Block
        The document, without a title.
    """
    left_out = [cells.excluded_table(excluded, "Left out")] if excluded is not None and len(excluded) else []
    return [verdict, *found, *listed(heading, null), *tables, *left_out, *lines(notes)]


def verdict_of(
    said: str, concern: bool, *, excluded: pd.DataFrame | None = None, tested: Iterable[str] = ()
) -> Paragraph:
    """Return the verdict in its tone, with the metrics that were compared for no two groups."""
    lost: dict[str, list[str]] = {}
    for metric, reason in ({} if excluded is None else lost_metrics(excluded, tested)).items():
        lost.setdefault(reason, []).append(label(metric))
    return Paragraph(f"{said}{not_tested(lost)}", "concern" if concern else "fine")


#: How a p-value is repeated that is sampled.
SEED = "Without a random_state it differs from run to run: random_state=0 repeats it."


def sections(blocks: Sequence[Block], title: str = "Verdict", details: str = "In detail") -> list[Block]:
    """Divide a report: the verdict and what is said of it, then, from the first figure or table on, the details."""
    first = next((place for place, block in enumerate(blocks) if isinstance(block, Figure | Table)), len(blocks))
    return [Heading(title), *blocks[:first], *([Heading(details), *blocks[first:]] if blocks[first:] else [])]


def lines(said: Iterable[str]) -> list[Block]:
    """Return a paragraph of sentences, a line each; none of no sentences."""
    text = "\n".join(said)
    return [Paragraph(text)] if text else []


def listed(title: str, said: Sequence[str], few: int | None = None) -> list[Block]:
    """Return the points of a list below their heading; nothing where there are none."""
    return [Heading(title, 3), Items(tuple(said), few)] if said else []


def sampling_error(limits: tuple[float, float]) -> list[str]:
    """Say between which limits the p-value lies, if it was sampled."""
    if limits[0] == limits[1]:
        return []
    low, high = (p_text(bound) if bound else "0" for bound in limits)
    return [f"With infinitely many resamples, the p-value would lie between {low} and {high} (95% limits). {SEED}"]


#: Rows in a drawing of comparisons; the tables have all. Ticks of an axis.
MOST_COMPARISONS, TICKS = 30, 5


def forest_figure(
    setup: Setup, comparisons: pd.DataFrame, named: Callable[[Mapping[str, Any]], str], title: str,
    each: str, caption: str,
) -> list[Figure]:  # fmt: skip
    """Draw comparisons in the order given.

    Parameters
    ----------
    setup : Setup
        How the test was set up.
    comparisons : DataFrame
        ``metric``, ``disparity``, ``ci_low``, ``ci_high`` and ``concern``.
    named : callable
        What a row is called.
    title, caption : str
        What it is called, and what stands below it.
    each : str
        What has a row, for somebody who does not see it.

    Returns
    -------
    list of Figure
        The forest plot, of the metrics that have the first one's unit; nothing of no comparisons.
    """
    if not len(comparisons):
        return []
    share = setup.is_share(comparisons["metric"].iloc[0])
    alike = comparisons[[setup.is_share(metric) == share for metric in comparisons["metric"]]].head(MOST_COMPARISONS)
    rows = forest_rows(setup, alike, lambda row: joined([named(row)], []), list(dict.fromkeys(alike["metric"])))
    described = f"A forest plot: {pluralize(len(alike), 'row')}, one for each {each}. The table holds the same numbers."
    return [Figure(Forest(title, described, rows), caption)]


def forest_rows(
    setup: Setup, frame: pd.DataFrame, named: Callable[[Mapping[str, Any]], str], metrics: Sequence[str], *,
    shared: bool = True, axis: Callable[[Setup, str], str] = cells.disparity_axis,
    factor: Callable[[Setup, str], float] = cells.axis_factor,
) -> tuple[Rows, ...]:  # fmt: skip
    """Return a panel for each metric; the last one says what is on an axis that all share."""
    drawn, columns = [], ["disparity", "ci_low", "ci_high", *(["start"] if "start" in frame else [])]
    for metric in metrics:
        own, log = frame[frame["metric"] == metric], setup.is_ratio(metric)
        labelled, null = not shared or metric == metrics[-1], 1.0 if log else 0.0
        values = [(frame if shared else own)[name].to_numpy(dtype=float) for name in columns]
        also = (null, *(setup.margin_bounds or ()))
        panel = Panel.of(
            [own[name] for name in columns],
            own["kind"] if "kind" in own else np.where(own["concern"], "significant", "other"),
            scale=Scale.around(values, also, log=log, factor=factor(setup, metric)),
            **titles(metric),
            axis=axis(setup, metric) if labelled else "",
            most=TICKS if labelled else 0,
            equality=null,
            tolerated=setup.margin_bounds,
        )
        drawn.append(Rows(tuple(map(named, cells.records(own))), (panel,)))
    return tuple(drawn)


def titles(metric: str) -> dict[str, Any]:
    """The title of a metric, and its name in code where that is something else."""
    name, title = label(metric), metric_title(metric)
    return {"title": title, "name": "" if title.lower() == name else name}


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
    rows = cells.records(homogeneity.sort_values("p_value", kind="stable"))
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
    rows = cells.records(homogeneity.sort_values("p_value", kind="stable"))
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
        for one in cells.records(comparisons)
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
    return label(row["group"]), cells.EVERYBODY.get(setup.compare, label(row["other"]))


def _table(setup: Setup, rows: list[dict[str, Any]]) -> Table:
    columns = (
        len({row["metric"] for row in rows}) > 1 and cells.METRIC, cells.GROUP,
        replace(cells.COMPARED_WITH, shows=lambda row: _who(setup, row)[1]),
        Column("shared disparity", shows=lambda row: number(row["common"])),
        Column("statistic", shows=lambda row: f"{row['statistic']:.4g}"),
        Column("df", shows=lambda row: f"{row['df']}"), cells.P, cells.ADJUSTED_P,
        Column("farthest", "name", shows="stratum"),
        Column("standard errors", shows=lambda row: f"{row['distance']:.1f}"),
    )  # fmt: skip
    methods = enumerated(sorted({str(row["method"]) for row in rows}))
    shown = f"; the first {ROWS} (homogeneity_ has all)" if len(rows) > ROWS else ""
    caption = f"Homogeneity over {label(setup.controls)} ({methods}){shown}"
    return Table.of(columns, rows[:ROWS], caption, lambda row: row["p_value_adjusted"] <= setup.alpha)
